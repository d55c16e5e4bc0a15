/* portable.c: where a function depends on what the page leaves to the target or does not say, so that another target
 * may do something else: counts of shifts, lanes that a mask leaves out, operations and types that are readings of
 * ours. Nothing of that is a fault. */
#include "front/pto/verify.h"

typedef struct use {
    const lw_pto_op *op;
    uint32_t operand;
    const struct use *next; /* of the same value */
} use;

typedef struct said_type {
    const lw_pto_type *type;
    lw_place place;
    const char *what;
} said_type;
typedef LW_LIST(said_type) said_types;

typedef struct walk {
    lw_pto_verifier v;
    const lw_pto_op **all; /* operations of all regions, in the order of the text */
    uint32_t count;
    uint32_t *writes; /* of each value, by its number */
    const use **uses; /* likewise */
    struct readings *readings;
    said_types *said;
} walk;

/* ---- What is known of values ---------------------------------------------------------------------------------- */

/* Whether a value is what its one operation gives, wherever it is read. */
static bool is_single(const walk *w, const lw_pto_value *value) {
    return value->kind == LW_PTO_RESULT || (value->kind == LW_PTO_REGISTER && w->writes[value->number] == 1);
}

static bool is_stable(const walk *w, const lw_pto_value *value) {
    return value->kind == LW_PTO_CARRIED || is_single(w, value) ||
           (value->kind == LW_PTO_ARGUMENT && !w->writes[value->number]);
}

static const lw_pto_op *made_by(const walk *w, const lw_pto_value *value) {
    return is_single(w, value) ? value->op : NULL;
}

/* The operand that says which lanes are active; NULL: all are. */
static const lw_pto_value *governing(const walk *w, const lw_pto_op *op) {
    const lw_pto_signature *s = lw_pto_signature_of(w->v.module, op->id);
    for (uint32_t i = 0, o = 0; i < s->in_count; i++, o++) {
        if (s->in[i].name_size == 4 && !memcmp(s->in[i].name, "mask", 4)) return op->operands[o];
        o += s->in[i].shape == LW_PTO_SHAPE_MEMORY;
    }
    return NULL;
}

static bool has_all_bits(const lw_pto_op *op, uint32_t lanes) {
    for (uint32_t i = 0; i < lanes; i++)
        if (!(op->bits[i / 64] >> i % 64 & 1)) return false;
    return true;
}

/* Whether a mask is known to leave no lane out. */
static bool is_whole(const walk *w, const lw_pto_value *mask) {
    const lw_pto_op *made = made_by(w, mask), *count;
    if (!made) return false;
    if (made->id == LW_PTO_MASK_BITS) return has_all_bits(made, mask->type->lanes);
    if (made->id != LW_PTO_MASK_FIRST) return made->id == LW_PTO_MASK_ALL;
    count = made_by(w, made->operands[0]);
    return count && count->id == LW_PTO_CONSTANT && (int64_t)count->value >= (int64_t)mask->type->lanes;
}

static uint64_t ones(const lw_pto_type *type) {
    const uint32_t bits = lw_pto_scalars[type->element].bits;
    return bits < 64 ? (UINT64_C(1) << bits) - 1 : UINT64_MAX;
}

static uint64_t lesser(uint64_t a, uint64_t b) { return a < b ? a : b; }

enum { LOOKS = 16 }; /* so many operations back */

/* The most that a scalar can be, as an unsigned number. */
static uint64_t most_of_scalar(const walk *w, const lw_pto_value *value, uint32_t looks) {
    const lw_pto_op *op = made_by(w, value);
    const uint64_t all = ones(value->type);
    if (!op || !looks) return all;
    switch (op->id) {
    case LW_PTO_CONSTANT: return op->value & all;
    case LW_PTO_ANDI:
    case LW_PTO_MINUI:
        return lesser(most_of_scalar(w, op->operands[0], looks - 1), most_of_scalar(w, op->operands[1], looks - 1));
    case LW_PTO_EXTUI:
    case LW_PTO_INDEX_CASTUI: return lesser(all, most_of_scalar(w, op->operands[0], looks - 1));
    case LW_PTO_REMUI: {
        const uint64_t by = most_of_scalar(w, op->operands[1], looks - 1);
        return by ? by - 1 : all;
    }
    default: return all;
    }
}

/* The same of the elements of a register, in the lanes that a mask names. What another mask left out is not known. */
static uint64_t most_of(const walk *w, const lw_pto_value *value, const lw_pto_value *mask, uint32_t looks) {
    const lw_pto_op *op = made_by(w, value);
    const uint64_t all = ones(value->type);
    if (!op || !looks) return all;
    if (op->id == LW_PTO_VBROADCAST) return most_of_scalar(w, op->operands[0], LOOKS);
    const lw_pto_value *own = governing(w, op);
    if (own && !is_whole(w, own) && (own != mask || !is_stable(w, mask))) return all;
    const bool is_unsigned = lw_pto_scalars[value->type->element].kind == 'U';
    if (op->id != LW_PTO_VAND && op->id != LW_PTO_VSEL && (op->id != LW_PTO_VMIN || !is_unsigned)) return all;
    const uint64_t a = most_of(w, op->operands[0], mask, looks - 1), b = most_of(w, op->operands[1], mask, looks - 1);
    return op->id == LW_PTO_VSEL && a < b ? b : op->id == LW_PTO_VSEL ? a : lesser(a, b);
}

/* ---- Counts of shifts ------------------------------------------------------------------------------------------ */

static void check_count(walk *w, const lw_pto_op *op) {
    const lw_pto_value *count = op->operands[1];
    const uint32_t bits = lw_pto_scalars[count->type->element].bits;
    const lw_pto_op *made = count->kind == LW_PTO_RESULT ? count->op : NULL;
    if (made && made->id == LW_PTO_VBROADCAST && made->operands[0]->op && made->operands[0]->op->id == LW_PTO_CONSTANT)
        return; /* LW7132 */
    if (most_of(w, count, governing(w, op), LOOKS) < bits) return;
    lw_diag *diag = lw_diag_add(w->v.diags, LW_D_pto_portable_count, op->operand_places[1], count->name->text, bits);
    diag->fix = lw_arena_say(w->v.arena, "pto.vand with a broadcast %u in front of it keeps it below", bits - 1);
}

/* ---- Lanes that a mask leaves out ------------------------------------------------------------------------------ */

/* Whether one use of a value looks at lanes that `mask` leaves out. */
static bool looks_outside(const walk *w, const lw_pto_op *op, uint32_t operand, const lw_pto_value *mask) {
    if (!is_stable(w, mask)) return true;
    if (op->id == LW_PTO_MASK_AND) return op->operands[!operand] != mask;
    if (op->id == LW_PTO_VSEL) return operand != 0 || op->operands[2] != mask;
    return lw_pto_rows[op->id].page == LW_PTO_PAGE_MLIR || governing(w, op) != mask;
}

static bool used_outside(const walk *w, const lw_pto_value *value, const lw_pto_value *mask, lw_place *place) {
    for (const use *u = w->uses[value->number]; u; u = u->next)
        if (looks_outside(w, u->op, u->operand, mask)) return *place = u->op->operand_places[u->operand], true;
    return false;
}

static void check_inactive(walk *w, const lw_pto_op *op) {
    const lw_pto_value *mask = governing(w, op);
    if (!mask || is_whole(w, mask)) return;
    for (uint32_t i = 0; i < op->result_count; i++) {
        lw_place place;
        if (op->merges[i] || !used_outside(w, op->results[i], mask, &place)) continue;
        lw_diag_add(w->v.diags, LW_D_pto_portable_inactive, op->place, op->results[i]->name->text, mask->name->text);
        lw_diag_add(w->v.diags, LW_D_pto_used_here, place);
    }
}

/* ---- Readings -------------------------------------------------------------------------------------------------- */

enum { LINES_SHOWN = 20 };

typedef struct readings { /* of a module */
    lw_place first[LW_PTO_OP_COUNT];
    uint32_t count[LW_PTO_OP_COUNT];
    const char *lines[LW_PTO_OP_COUNT];
} readings;

/* pto.vbroadcast is in an example of the page, whose comment says what it does. */
static bool is_reading(lw_pto_op_id id) {
    const lw_pto_page page = lw_pto_rows[id].page;
    return page == LW_PTO_PAGE_NONE || (page == LW_PTO_PAGE_NAME && id != LW_PTO_VBROADCAST);
}

static void note_reading(walk *w, const lw_pto_op *op) {
    readings *r = w->readings;
    uint32_t line, number = r->count[op->id]++;
    if (!number) r->first[op->id] = op->name_place;
    if (number > LINES_SHOWN) return;
    lw_source_find(w->v.module->source, op->name_place.at, &line, NULL);
    const char **lines = &r->lines[op->id];
    *lines = number == LINES_SHOWN ? lw_arena_printf(w->v.arena, "%s …", *lines)
             : number              ? lw_arena_printf(w->v.arena, "%s, %u", *lines, line)
                                   : lw_arena_printf(w->v.arena, "%u", line);
}

static void say_readings(lw_pto_module *module, readings *r) {
    for (int id = 1; id < LW_PTO_OP_COUNT; id++) {
        if (!r->count[id]) continue;
        const char *what = lw_pto_rows[id].page == LW_PTO_PAGE_NAME
                               ? "is named by the page, which does not say what it does"
                               : "is not on the page";
        lw_diag_add(module->diags, LW_D_pto_portable_reading, r->first[id], lw_pto_rows[id].name, what,
                    lw_pto_plural(r->count[id]), r->lines[id]);
    }
}

/* Once for each type. */
static void check_type(walk *w, const lw_pto_type *type, lw_place place) {
    const uint32_t bits = type->lanes * lw_pto_scalars[type->element].bits;
    lw_arena *arena = w->v.arena;
    const char *what = NULL;
    if (type->kind == LW_PTO_VREG && bits != LW_PTO_REGISTER_BITS)
        what = lw_arena_printf(arena, "has %u bits, and the page shows registers of %u", bits, LW_PTO_REGISTER_BITS);
    else if (type->kind == LW_PTO_MASK && !type->width) what = "has a number as its G, and the page shows b32";
    else if (type->kind == LW_PTO_MEMREF) what = "is not on the page";
    if (!what) return;
    for (uint32_t i = 0; i < w->said->count; i++)
        if (w->said->at[i].type == type) return;
    LW_PUSH(arena, *w->said) = (said_type){type, place, what};
}

/* ---- The walk -------------------------------------------------------------------------------------------------- */

static void add_use(walk *w, const lw_pto_op *op, uint32_t operand) {
    if (!op->operands[operand]) return;
    const use **first = &w->uses[op->operands[operand]->number];
    use *made = LW_NEW(w->v.arena, use);
    *made = (use){op, operand, *first};
    *first = made;
}

static void collect(walk *w, const lw_pto_region *region) {
    for (uint32_t i = 0; i < region->count; i++) {
        const lw_pto_op *op = region->ops[i];
        w->all[w->count++] = op;
        for (uint32_t k = 0; k < op->result_count; k++) w->writes[op->results[k]->number]++;
        for (uint32_t k = 0; k < op->operand_count; k++) add_use(w, op, k);
        for (uint32_t k = 0; k < op->region_count; k++) collect(w, &op->regions[k]);
    }
}

static void check_op(walk *w, const lw_pto_op *op) {
    for (uint32_t k = 0; k < op->result_count; k++) check_type(w, op->results[k]->type, op->place);
    if (lw_pto_rows[op->id].page == LW_PTO_PAGE_MLIR) return;
    check_inactive(w, op);
    if (is_reading(op->id)) note_reading(w, op);
    if (op->id == LW_PTO_VSHR || op->id == LW_PTO_VSHL) check_count(w, op);
}

static uint32_t op_count(const lw_pto_region *region) {
    uint32_t count = region->count;
    for (uint32_t i = 0; i < region->count; i++)
        for (uint32_t k = 0; k < region->ops[i]->region_count; k++) count += op_count(&region->ops[i]->regions[k]);
    return count;
}

static void check_function(lw_pto_module *module, const lw_pto_function *f, readings *readings, said_types *said) {
    walk w = {
        .v = {.module = module, .arena = module->arena, .diags = module->diags}, .readings = readings, .said = said};
    w.all = LW_NEW_ARRAY(module->arena, const lw_pto_op *, op_count(&f->body));
    w.writes = LW_NEW_ARRAY(module->arena, uint32_t, f->value_count);
    w.uses = LW_NEW_ARRAY(module->arena, const use *, f->value_count);
    collect(&w, &f->body);
    for (uint32_t i = 0; i < f->argument_count; i++) check_type(&w, f->arguments[i]->type, f->arguments[i]->place);
    for (uint32_t i = 0; i < w.count; i++) check_op(&w, w.all[i]);
}

/* What depends on the data comes first, in the order of the text; what the text says of itself behind it. */
void lw_pto_check_portable(lw_pto_module *module) {
    readings *all = LW_NEW(module->arena, readings);
    said_types said = {0};
    module->diags->limit = UINT32_MAX; /* every place is wanted */
    for (uint32_t i = 0; i < module->functions.count; i++)
        if (module->functions.at[i]->has_body) check_function(module, module->functions.at[i], all, &said);
    lw_diags_sort(module->diags);
    say_readings(module, all);
    for (uint32_t i = 0; i < said.count; i++)
        lw_diag_add(module->diags, LW_D_pto_portable_type, said.at[i].place, said.at[i].type->text, said.at[i].what);
}
