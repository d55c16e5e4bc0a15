/* parse_control.c: scf.for, scf.if, scf.yield and return. */
#include "front/pto/parse.h"

/* %x, %y : T, U   or nothing. The operation has the values as operands. */
static bool parse_values(lw_pto_parser *p, lw_pto_op *op) {
    lw_pto_range written, types;
    uint32_t marks[] = {p->written.count, p->types.count};
    if (!lw_pto_parse_attributes(p, &op->attributes)) return false;
    if (p->token.kind != LW_PTO_TOKEN_VALUE || p->token.first) return true;
    lw_place start;
    bool good = lw_pto_parse_operands(p, &written) && lw_pto_expect(p, ':');
    start = p->token.place;
    good = good && lw_pto_parse_types(p, &types);
    op->type_place = lw_pto_since(p, start);
    if (good && types.count != written.count) {
        lw_diag_add(p->diags, LW_D_pto_type_count, op->type_place, types.count, lw_pto_plural(types.count),
                    written.count, lw_pto_plural(written.count), lw_pto_rows[op->id].name);
        good = false;
    }
    if (good) {
        op->operand_count = written.count;
        op->operands = LW_NEW_ARRAY(p->arena, lw_pto_value *, written.count);
        op->operand_places = LW_NEW_ARRAY(p->arena, lw_place, written.count);
    }
    for (uint32_t i = 0; good && i < written.count; i++) {
        const lw_pto_written *w = &p->written.at[written.from + i];
        if (w->indexed) lw_diag_add(p->diags, LW_D_pto_not_memory, w->place, w->name->text, lw_pto_rows[op->id].name);
        op->operands[i] = lw_pto_use(p, w->name, w->part, w->place);
        op->operand_places[i] = w->place;
        lw_pto_check_written(p, op, op->operands[i], &p->types.at[types.from + i]);
    }
    p->written.count = marks[0];
    p->types.count = marks[1];
    return good;
}

/* ---- scf.for ---------------------------------------------------------------------------------------------- */

typedef struct loop {
    lw_pto_op *op;
    lw_pto_range names, types;
    lw_symbol *variable;
    lw_place variable_place;
    LW_LIST(lw_pto_value *) operands;
    LW_LIST(lw_place) places;
    LW_LIST(lw_pto_result_name) carried;
} loop;

static bool parse_operand(lw_pto_parser *p, loop *l) {
    if (p->token.kind != LW_PTO_TOKEN_VALUE) return lw_pto_expected(p, "a value such as %a");
    LW_PUSH(p->arena, l->places) = p->token.place;
    LW_PUSH(p->arena, l->operands) = lw_pto_use(p, p->token.name, (uint32_t)p->token.value, p->token.place);
    lw_pto_next(p);
    return true;
}

/* What is defined has no # part. */
static bool at_new_name(const lw_pto_parser *p) { return p->token.kind == LW_PTO_TOKEN_VALUE && !p->token.value; }

/* iter_args(%a = %x, …) -> (T, …) */
static bool parse_carried(lw_pto_parser *p, loop *l) {
    l->types = (lw_pto_range){p->types.count, 0};
    if (!lw_pto_take_word(p, p->words.iter_args)) return true;
    if (!lw_pto_expect(p, '(')) return false;
    do {
        if (!at_new_name(p)) return lw_pto_expected(p, "the name of a carried value");
        LW_PUSH(p->arena, l->carried) = (lw_pto_result_name){p->token.name, p->token.place, 0};
        lw_pto_next(p);
        if (!lw_pto_expect(p, '=') || !parse_operand(p, l)) return false;
    } while (lw_pto_take(p, ','));
    lw_place start = p->token.place;
    if (!lw_pto_expect(p, ')') || !lw_pto_expect(p, LW_PTO_ARROW) || !lw_pto_parse_types(p, &l->types)) return false;
    if (l->types.count == l->carried.count) return true;
    lw_diag_add(p->diags, LW_D_pto_carried_count, lw_pto_since(p, start), l->carried.count,
                lw_pto_plural(l->carried.count), l->types.count, lw_pto_plural(l->types.count));
    return false;
}

static bool parse_loop_head(lw_pto_parser *p, loop *l) {
    if (!at_new_name(p)) return lw_pto_expected(p, "the name of the loop variable");
    l->variable = p->token.name;
    l->variable_place = p->token.place;
    lw_pto_next(p);
    if (!lw_pto_expect(p, '=') || !parse_operand(p, l)) return false;
    if (!lw_pto_expect_word(p, p->words.to) || !parse_operand(p, l)) return false;
    if (!lw_pto_expect_word(p, p->words.step) || !parse_operand(p, l)) return false;
    if (!parse_carried(p, l)) return false;
    l->op->type = lw_pto_type_of_scalar(p->module, LW_PTO_index);
    lw_place start = p->token.place;
    if (lw_pto_take(p, ':')) {
        start = p->token.place;
        if (!lw_pto_parse_type(p, &l->op->type)) return false;
    }
    l->op->type_place = lw_pto_since(p, start);
    return true;
}

static void define_carried(lw_pto_parser *p, loop *l, lw_pto_region *region) {
    region->argument_count = 1 + l->carried.count;
    region->arguments = LW_NEW_ARRAY(p->arena, lw_pto_value *, region->argument_count);
    region->arguments[0] = lw_pto_define(p, l->variable, l->variable_place, LW_PTO_CARRIED, 0);
    region->arguments[0]->type = l->op->type;
    region->arguments[0]->op = l->op;
    for (uint32_t i = 0; i < l->carried.count; i++) {
        const lw_pto_result_name *n = &l->carried.at[i];
        lw_pto_value *value = lw_pto_define(p, n->name, n->place, LW_PTO_CARRIED, 0);
        value->type = p->types.at[l->types.from + i].type;
        value->op = l->op;
        region->arguments[1 + i] = value;
        lw_pto_check_written(p, l->op, l->operands.at[3 + i], &p->types.at[l->types.from + i]);
    }
}

static bool give_types(lw_pto_parser *p, lw_pto_op *op, lw_pto_range names, lw_pto_range types) {
    if (!lw_pto_define_results(p, op, names, types.count)) return false;
    for (uint32_t i = 0; i < types.count; i++) op->results[i]->type = p->types.at[types.from + i].type;
    return true;
}

static bool parse_for(lw_pto_parser *p, lw_pto_op *op, lw_pto_range names) {
    loop l = {.op = op, .names = names};
    uint32_t scope = p->scope.count;
    if (!parse_loop_head(p, &l)) return false;
    op->place = lw_pto_since(p, (lw_place){op->place.at, 1});
    op->operand_count = l.operands.count;
    op->operands = l.operands.at;
    op->operand_places = l.places.at;
    op->region_count = 1;
    op->regions = LW_NEW(p->arena, lw_pto_region);
    define_carried(p, &l, op->regions);
    bool good = lw_pto_parse_region(p, op->regions, LW_PTO_YIELD, l.types.count != 0);
    lw_pto_end_scope(p, scope);
    return good && give_types(p, op, names, l.types) && lw_pto_parse_attributes(p, &op->attributes);
}

/* ---- scf.if ------------------------------------------------------------------------------------------------ */

static bool parse_if(lw_pto_parser *p, lw_pto_op *op, lw_pto_range names) {
    loop l = {.op = op};
    lw_pto_range types = {p->types.count, 0};
    if (!parse_operand(p, &l)) return false;
    if (lw_pto_take(p, LW_PTO_ARROW) && !lw_pto_parse_types(p, &types)) return false;
    op->place = lw_pto_since(p, (lw_place){op->place.at, 1});
    op->operand_count = 1;
    op->operands = l.operands.at;
    op->operand_places = l.places.at;
    if (!op->operands[0]->type) op->operands[0]->type = lw_pto_type_of_scalar(p->module, LW_PTO_i1);
    op->type = op->operands[0]->type;
    op->type_place = op->operand_places[0];
    op->regions = LW_NEW_ARRAY(p->arena, lw_pto_region, 2);
    op->region_count = 1;
    if (!lw_pto_parse_region(p, &op->regions[0], LW_PTO_YIELD, types.count != 0)) return false;
    if (lw_pto_take_word(p, p->words.else_)) {
        op->region_count = 2;
        if (!lw_pto_parse_region(p, &op->regions[1], LW_PTO_YIELD, types.count != 0)) return false;
    } else if (types.count) {
        lw_diag_add(p->diags, LW_D_pto_else_missing, op->name_place);
    }
    return give_types(p, op, names, types) && lw_pto_parse_attributes(p, &op->attributes);
}

bool lw_pto_parse_control(lw_pto_parser *p, lw_pto_op *op, lw_pto_range names) {
    uint32_t types = p->types.count;
    bool good;
    if (op->id == LW_PTO_FOR) good = parse_for(p, op, names);
    else if (op->id == LW_PTO_IF) good = parse_if(p, op, names);
    else good = lw_pto_define_results(p, op, names, 0) && parse_values(p, op);
    p->types.count = types;
    return good;
}
