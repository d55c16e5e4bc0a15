/* parse_op.c: operations: the names in front of the =, the name of the operation, and regions of operations. */
#include "front/pto/parse.h"

/* ---- Results ---------------------------------------------------------------------------------------------- */

/* How many values stand in front of the =. */
static uint64_t named(const lw_pto_parser *p, lw_pto_range names) {
    uint64_t count = 0;
    for (uint32_t i = 0; i < names.count; i++) {
        uint32_t parts = p->names.at[names.from + i].parts;
        count += parts ? parts : 1;
    }
    return count;
}

static const char *name_of(const lw_pto_op *op) { return lw_pto_rows[op->id].name; }

bool lw_pto_define_results(lw_pto_parser *p, lw_pto_op *op, lw_pto_range names, uint32_t count) {
    uint64_t have = named(p, names);
    if (have && !count) {
        lw_diag_add(p->diags, LW_D_pto_no_results, op->name_place, name_of(op));
        return false;
    }
    if (count && !have) {
        lw_diag_add(p->diags, LW_D_pto_no_result_name, op->name_place, name_of(op));
        return false;
    }
    if (have != count) {
        lw_diag_add(p->diags, LW_D_pto_result_count, op->name_place, name_of(op), count, lw_pto_plural(count),
                    (unsigned)have, have == 1 ? "is" : "are");
        return false;
    }
    op->result_count = count;
    if (count > LW_PTO_RESULTS_MAX) op->results = LW_NEW_ARRAY(p->arena, lw_pto_value *, count);
    for (uint32_t i = 0, at = 0; i < names.count; i++) {
        const lw_pto_result_name *n = &p->names.at[names.from + i];
        lw_pto_value *first = lw_pto_define(p, n->name, n->place, LW_PTO_RESULT, n->parts);
        for (uint32_t k = 0; k < (n->parts ? n->parts : 1); k++) {
            first[k].op = op;
            op->results[at++] = &first[k];
        }
    }
    return true;
}

/* ---- Operations ------------------------------------------------------------------------------------------- */

static bool parse_result_name(lw_pto_parser *p) {
    lw_pto_result_name n = {p->token.name, p->token.place, 0};
    if (p->token.kind != LW_PTO_TOKEN_VALUE || p->token.value) return lw_pto_expected(p, "the name of a result");
    lw_pto_next(p);
    if (lw_pto_take(p, ':')) {
        if (p->token.kind != LW_PTO_TOKEN_INT) return lw_pto_expected(p, "the number of results");
        if (!p->token.value || p->token.value > LW_PTO_PARTS_MAX || p->token.too_large) {
            lw_diag_add(p->diags, LW_D_pto_many_results, p->token.place, n.name->text, LW_PTO_PARTS_MAX);
            return false;
        }
        n.parts = (uint32_t)p->token.value;
        lw_pto_next(p);
    }
    LW_PUSH(p->arena, p->names) = n;
    return true;
}

static bool parse_result_names(lw_pto_parser *p, lw_pto_range *names) {
    *names = (lw_pto_range){p->names.count, 0};
    if (p->token.kind != LW_PTO_TOKEN_VALUE) return true;
    bool good;
    do good = parse_result_name(p);
    while (good && lw_pto_take(p, ','));
    names->count = p->names.count - names->from;
    return good && lw_pto_expect(p, '=');
}

/* Values that stand behind the name of an operation, up to what begins another: those in [ ] belong to the one in front
 * of them. */
static uint32_t values_ahead(const lw_pto_parser *p, bool *dps) {
    lw_pto_lexer ahead = p->lexer;
    lw_diags unheard;
    lw_pto_token token = {0};
    uint32_t count = 0, depth = 0;
    lw_diags_init(&unheard, p->arena, p->lexer.source);
    ahead.diags = &unheard;
    *dps = false;
    for (lw_pto_lex(&ahead, &token); token.kind != LW_PTO_TOKEN_END; lw_pto_lex(&ahead, &token)) {
        const uint32_t punct = token.kind == LW_PTO_TOKEN_PUNCT ? token.punct : 0;
        const bool group = token.kind == LW_PTO_TOKEN_WORD &&
                           (token.name == p->words.ins || token.name == p->words.outs);
        if (punct == '{' || punct == '}' || punct == '=' || (token.first && token.kind == LW_PTO_TOKEN_WORD && !group))
            break;
        *dps |= group;
        if (punct == ':' && !*dps) break;
        if (punct == '[') depth++;
        if (punct == ']' && depth) depth--;
        count += token.kind == LW_PTO_TOKEN_VALUE && !depth;
    }
    return count;
}

static bool takes(lw_pto_op_id id, uint32_t given, bool with_results) {
    lw_pto_signature s;
    lw_pto_signature_read(id, &s);
    const uint32_t results = with_results ? s.out_count : 0;
    return given >= s.least + results && given <= s.in_count + results;
}

/* Of names that look alike one whose operands are as many is more likely to be meant. */
static bool unknown_op(lw_pto_parser *p) {
    const char *names[LW_PTO_OP_COUNT], *fitting[LW_PTO_OP_COUNT];
    uint32_t count = 0, fits = 0;
    const char *word = p->token.name->text;
    bool assembly = !strchr(word, '.') || !strncmp(word, "mask.", 5), dps;
    const uint32_t given = values_ahead(p, &dps);
    for (int i = 1; i < LW_PTO_OP_COUNT; i++) {
        const char *name = lw_pto_rows[i].name + (assembly && !strncmp(lw_pto_rows[i].name, "pto.", 4) ? 4 : 0);
        names[count++] = name;
        if (takes((lw_pto_op_id)i, given, assembly || dps)) fitting[fits++] = name;
    }
    const char *near = lw_nearest(word, fitting, fits);
    if (!near) near = lw_nearest(word, names, count);
    lw_diag *diag = lw_diag_add(p->diags, LW_D_pto_unknown_op, p->token.place, word);
    if (near) diag->fix = lw_arena_say(p->arena, "did you mean '%s'?", near);
    return false;
}

static bool not_an_operation(lw_pto_parser *p) {
    if (p->token.kind == LW_PTO_TOKEN_STRING) lw_diag_add(p->diags, LW_D_pto_generic_form, p->token.place);
    else if (p->token.kind == LW_PTO_TOKEN_CARET) lw_diag_add(p->diags, LW_D_pto_blocks, p->token.place);
    else return lw_pto_expected(p, "an operation");
    return false;
}

static bool parse_named(lw_pto_parser *p, lw_pto_op *op, lw_pto_range names) {
    if (p->token.kind != LW_PTO_TOKEN_WORD) return not_an_operation(p);
    const lw_pto_spelling *spelling = p->token.name->form;
    if (!spelling) return unknown_op(p);
    op->id = spelling->id;
    op->name_place = p->token.place;
    lw_pto_next(p);
    bool control = op->id == LW_PTO_FOR || op->id == LW_PTO_IF || op->id == LW_PTO_YIELD || op->id == LW_PTO_RETURN;
    if (!(control ? lw_pto_parse_control(p, op, names) : lw_pto_parse_row(p, op, names, spelling->assembly)))
        return false;
    if (!op->place.size) op->place = lw_pto_since(p, (lw_place){op->place.at, 1});
    return lw_pto_parse_location(p, &op->location);
}

/* An operation with room for the operands and results of a row: one allocation. */
typedef struct roomy_op {
    lw_pto_op op;
    lw_pto_value *operands[LW_PTO_OPERANDS_MAX], *results[LW_PTO_RESULTS_MAX];
    lw_place places[LW_PTO_OPERANDS_MAX];
} roomy_op;

static lw_pto_op *new_op(lw_pto_parser *p) {
    roomy_op *made = LW_NEW(p->arena, roomy_op);
    made->op.operands = made->operands;
    made->op.results = made->results;
    made->op.operand_places = made->places;
    return &made->op;
}

bool lw_pto_parse_op(lw_pto_parser *p) {
    lw_pto_op *op = new_op(p);
    lw_pto_range names;
    op->place.at = p->token.place.at;
    bool good = parse_result_names(p, &names) && parse_named(p, op, names);
    if (!good) lw_pto_define_unknown(p, names);
    else LW_PUSH(p->arena, p->ops) = op;
    p->names.count = names.from;
    p->function->op_count++;
    return good;
}

/* ---- Regions ---------------------------------------------------------------------------------------------- */

static void parse_ops(lw_pto_parser *p) {
    while (p->token.kind != LW_PTO_TOKEN_END && !lw_pto_at(p, '}') && !lw_pto_at_word(p, p->words.func)) {
        uint32_t at = p->token.place.at, depth = p->depth;
        if (lw_pto_parse_op(p)) continue;
        p->depth = depth;
        if (p->token.place.at == at) lw_pto_next(p); /* always forward */
        lw_pto_recover(p);
    }
}

static void check_terminators(lw_pto_parser *p, uint32_t mark, lw_pto_op_id terminator) {
    for (uint32_t i = mark; i < p->ops.count; i++) {
        const lw_pto_op *op = p->ops.at[i];
        if (op->id != LW_PTO_YIELD && op->id != LW_PTO_RETURN) continue;
        if (op->id != terminator) lw_diag_add(p->diags, LW_D_pto_misplaced, op->name_place, name_of(op));
        else if (i + 1 < p->ops.count) lw_diag_add(p->diags, LW_D_pto_not_last, p->ops.at[i + 1]->place, name_of(op));
    }
}

/* A terminator without values need not be written. */
static void end_region(lw_pto_parser *p, uint32_t mark, lw_pto_region *region, lw_pto_op_id terminator,
                       bool has_results, bool whole) {
    if (p->ops.count > mark && p->ops.at[p->ops.count - 1]->id == terminator) return;
    if (has_results) {
        lw_diag_id id = terminator == LW_PTO_RETURN ? LW_D_pto_return_missing : LW_D_pto_yield_missing;
        if (whole) lw_diag_add(p->diags, id, region->end);
        return;
    }
    lw_pto_op *op = LW_NEW(p->arena, lw_pto_op);
    *op = (lw_pto_op){.id = terminator, .place = region->end, .name_place = region->end, .type_place = region->end};
    LW_PUSH(p->arena, p->ops) = op;
}

bool lw_pto_parse_region(lw_pto_parser *p, lw_pto_region *region, lw_pto_op_id terminator, bool has_results) {
    lw_place open = p->token.place;
    uint32_t scope = p->scope.count, mark = p->ops.count, errors = p->diags->errors;
    if (!lw_pto_expect(p, '{')) return false;
    if (!lw_pto_enter(p)) return false;
    parse_ops(p);
    p->depth--;
    region->end = p->token.place;
    if (lw_pto_at(p, '}')) lw_pto_next(p);
    else if (!p->stopped) lw_diag_add(p->diags, LW_D_pto_open_brace, open);
    check_terminators(p, mark, terminator);
    end_region(p, mark, region, terminator, has_results, errors == p->diags->errors);
    region->count = p->ops.count - mark;
    region->ops = LW_NEW_ARRAY(p->arena, lw_pto_op *, region->count);
    if (region->count) memcpy(region->ops, p->ops.at + mark, region->count * sizeof *region->ops);
    p->ops.count = mark;
    if (terminator != LW_PTO_RETURN) lw_pto_end_scope(p, scope);
    return true;
}
