/* pto.c: a PTO function: its parameters and results, loops and branches. pto_scalar.c and pto_vector.c have the other
 * operations. */
#include "middle/pto.h"

#include "base/special_id.h"

const char *const lw_pto_inactive_words[] = {
#define INACTIVE(name, word) word,
#include "pto/choices.def"
    NULL};
const char *const lw_pto_overflow_words[] = {
#define OVERFLOW(name, word) word,
#include "pto/choices.def"
    NULL};

/* ---- Values ---------------------------------------------------------------------------------------------- */

lw_class lw_pto_class(const lw_pto_type *type) {
    if (type->kind == LW_PTO_MASK) return LW_CLASS_pred;
    if (type->kind == LW_PTO_MEMREF) return LW_CLASS_64;
    uint32_t bits = lw_pto_scalars[type->element].bits;
    return bits == 1 ? LW_CLASS_pred : bits <= 16 ? LW_CLASS_16 : bits == 32 ? LW_CLASS_32 : LW_CLASS_64;
}

uint32_t lw_pto_read(lw_pto_lower *p, const lw_pto_value *value) {
    uint32_t v = p->values[value->number];
    if (v == LW_NO_SLOT) lw_bug("%s is read before it is defined", value->name ? value->name->text : "a value");
    return v;
}

uint32_t lw_pto_write(lw_pto_lower *p, const lw_pto_value *value) {
    uint32_t *v = &p->values[value->number];
    if (*v == LW_NO_SLOT) {
        *v = lw_lower_vreg(p->l, lw_pto_class(value->type));
        p->l->code->register_count++;
    }
    return *v;
}

void lw_pto_set_constant(lw_pto_lower *p, const lw_pto_value *value, uint64_t bits) {
    uint32_t v = lw_lower_const(p->l, lw_pto_class(value->type), bits);
    if (value->kind == LW_PTO_RESULT) p->values[value->number] = v;
    else lw_lower_move(p->l, lw_pto_write(p, value), v);
}

bool lw_pto_is_constant(const lw_pto_lower *p, uint32_t v, uint64_t *bits) {
    const lw_register *vreg = &p->l->vregs.at[v];
    if (vreg->is_const) *bits = vreg->value;
    return vreg->is_const;
}

uint32_t lw_pto_and(lw_pto_lower *p, uint32_t a, uint32_t b) {
    uint64_t bits;
    if (lw_pto_is_constant(p, a, &bits)) return bits ? b : a;
    if (lw_pto_is_constant(p, b, &bits)) return bits ? a : b;
    lw_op *op = lw_lower_op(p->l, LW_OP_predicate);
    op->a = a, op->b = b, op->imm = 0xf0 & 0xcc;
    uint32_t at = p->l->ops.count - 1, d = lw_lower_vreg(p->l, LW_CLASS_pred);
    return p->l->ops.at[at].d = d;
}

uint32_t lw_pto_not(lw_pto_lower *p, uint32_t a) {
    uint64_t bits;
    if (lw_pto_is_constant(p, a, &bits)) return lw_lower_const(p->l, LW_CLASS_pred, !bits);
    lw_op *op = lw_lower_op(p->l, LW_OP_predicate);
    op->a = a, op->imm = 0x0f;
    uint32_t at = p->l->ops.count - 1, d = lw_lower_vreg(p->l, LW_CLASS_pred);
    return p->l->ops.at[at].d = d;
}

/* ---- Widths ------------------------------------------------------------------------------------------------ */

const lw_pto_width *lw_pto_width_of(const lw_pto_lower *p, uint32_t lanes) {
    for (uint32_t i = 0; i < p->widths.count; i++)
        if (p->widths.at[i].lanes == lanes) return &p->widths.at[i];
    lw_bug("no register has %u lanes", lanes);
}

static void add_width(lw_pto_lower *p, const lw_pto_type *type) {
    if (type->kind != LW_PTO_VREG && type->kind != LW_PTO_MASK) return;
    if (type->lanes > p->lanes) p->lanes = type->lanes;
    for (uint32_t i = 0; i < p->widths.count; i++)
        if (p->widths.at[i].lanes == type->lanes) return;
    LW_PUSH(p->l->arena, p->widths) = (lw_pto_width){.lanes = type->lanes};
}

static void look_at_region(lw_pto_lower *p, const lw_pto_region *region, bool *memory) {
    for (uint32_t i = 0; i < region->argument_count; i++) add_width(p, region->arguments[i]->type);
    for (uint32_t i = 0; i < region->count; i++) {
        const lw_pto_op *op = region->ops[i];
        *memory |= op->id == LW_PTO_VLOAD || op->id == LW_PTO_VSTORE;
        p->stores |= op->id == LW_PTO_VSTORE;
        for (uint32_t k = 0; k < op->operand_count; k++)
            if (op->operands[k]) add_width(p, op->operands[k]->type);
        for (uint32_t k = 0; k < op->result_count; k++) add_width(p, op->results[k]->type);
        for (uint32_t k = 0; k < op->region_count; k++) look_at_region(p, &op->regions[k], memory);
    }
}

static bool is_array(const lw_pto_type *type) { return type->kind == LW_PTO_VREG || type->kind == LW_PTO_MASK; }

static void find_shape(lw_pto_lower *p) {
    const lw_pto_function *f = p->function;
    bool memory = false;
    p->lanes = 1;
    for (uint32_t i = 0; i < f->argument_count; i++) {
        add_width(p, f->arguments[i]->type);
        p->repeats |= is_array(f->arguments[i]->type);
    }
    for (uint32_t i = 0; i < f->result_count; i++) {
        add_width(p, f->results[i]);
        p->repeats |= is_array(f->results[i]);
    }
    look_at_region(p, &f->body, &memory);
    p->flat = p->repeats && !memory && p->widths.count == 1;
    p->wide = memory && p->lanes > LW_GANG_LANES;
    p->l->program->vector = (lw_program_vector){
        .lanes = p->lanes, .repeats = p->repeats, .flat = p->flat, .ordered = p->repeats && p->stores};
}

/* ---- Parameters ---------------------------------------------------------------------------------------------- */

static bool has_arrays(const lw_pto_function *f) {
    bool has = false;
    for (uint32_t i = 0; i < f->argument_count; i++) has |= is_array(f->arguments[i]->type);
    for (uint32_t i = 0; i < f->result_count; i++) has |= is_array(f->results[i]);
    return has;
}

static uint32_t param_bytes(const lw_pto_type *type) {
    return type->kind == LW_PTO_SCALAR ? (lw_pto_scalars[type->element].bits + 7u) / 8 : 8;
}

uint32_t lw_pto_params(lw_arena *arena, const lw_pto_function *f, lw_pto_param **params) {
    uint32_t count = f->argument_count + f->result_count + has_arrays(f), at = 0;
    lw_pto_param *made = *params = LW_NEW_ARRAY(arena, lw_pto_param, count);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t size = i < f->argument_count ? param_bytes(f->arguments[i]->type) : 8;
        made[i] = (lw_pto_param){.offset = (at + size - 1) & ~(size - 1), .size = size};
        at = made[i].offset + size;
    }
    return count;
}

static uint32_t load_param(lw_pto_lower *p, uint32_t number, lw_class class, bool is_signed) {
    const lw_pto_param *param = &p->params[number];
    lw_memory_form form = {.window = LW_WINDOW_param, .slot = class, .is_signed = is_signed};
    form.size = (uint32_t)__builtin_ctz(param->size);
    uint32_t d = lw_lower_vreg(p->l, class);
    lw_op *op = lw_lower_op(p->l, LW_OP_ld);
    op->d = d, op->imm = param->offset, op->c = lw_memory_pack(form);
    return d;
}

static uint32_t special(lw_pto_lower *p, lw_special number) {
    uint32_t d = lw_lower_vreg(p->l, LW_CLASS_32);
    lw_op *op = lw_lower_op(p->l, LW_OP_special);
    op->d = d, op->a = number, op->b = 0, op->c = 4, op->e = 0;
    return d;
}

static uint32_t lane_of(lw_lower *l, lw_lane_id id, uint32_t a, uint32_t b) {
    return lw_lower_lane(l, id, a, b, LW_NO_SLOT);
}

/* A byte of a mask is any number but 0. */
static uint32_t from_byte(lw_pto_lower *p, uint32_t byte) {
    return lane_of(p->l, LW_LANE_setp_ne_b16, byte, lw_lower_const(p->l, LW_CLASS_16, 0));
}

static uint32_t to_byte(lw_pto_lower *p, uint32_t predicate) {
    uint32_t one = lw_lower_const(p->l, LW_CLASS_16, 1), zero = lw_lower_const(p->l, LW_CLASS_16, 0),
             d = lw_lower_vreg(p->l, LW_CLASS_16);
    lw_op *op = lw_lower_op(p->l, LW_OP_select_16);
    op->d = d, op->a = one, op->b = zero, op->c = predicate;
    return d;
}

static uint32_t element_bytes(const lw_pto_type *type) {
    return type->kind == LW_PTO_MASK ? 1 : lw_pto_scalars[type->element].bits / 8;
}

/* Of this CTA's registers: those of a parameter that is an array. */
static void move_array(lw_pto_lower *p, uint16_t code, uint32_t v, uint32_t number, const lw_pto_type *type,
                       bool is_signed) {
    lw_op row = {.code = code,
                 .d = v,
                 .a = p->params[number].offset,
                 .b = p->flat ? 0 : type->lanes,
                 .flags = LW_OP_IMM_A | LW_OP_IMM_B};
    lw_pto_move_row(p, row, element_bytes(type), is_signed, lw_pto_width_of(p, type->lanes)->inside);
}

static void load_argument(lw_pto_lower *p, uint32_t number) {
    const lw_pto_value *value = p->function->arguments[number];
    const lw_pto_type *type = value->type;
    lw_class class = lw_pto_class(type);
    bool is_signed = type->kind != LW_PTO_MASK && lw_pto_scalars[type->element].kind == 'S';
    uint32_t *to = &p->values[value->number];
    p->l->place = value->place;
    p->l->code->register_count++;
    if (!is_array(type)) {
        bool is_truth = class == LW_CLASS_pred;
        *to = load_param(p, number, is_truth ? LW_CLASS_16 : class, is_signed);
        if (is_truth) *to = from_byte(p, *to);
        return;
    }
    *to = lw_lower_vreg(p->l, class == LW_CLASS_pred ? LW_CLASS_16 : class);
    move_array(p, LW_OP_ld_row, *to, number, type, is_signed);
    if (class == LW_CLASS_pred) *to = from_byte(p, *to);
}

static void store_result(lw_pto_lower *p, uint32_t number, const lw_pto_value *value) {
    const lw_pto_type *type = value->type;
    uint32_t v = lw_pto_read(p, value), param = p->function->argument_count + number;
    if (lw_pto_class(type) == LW_CLASS_pred) v = to_byte(p, v);
    if (is_array(type)) {
        move_array(p, LW_OP_st_row, v, param, type, false);
        return;
    }
    uint32_t bytes = (lw_pto_scalars[type->element].bits + 7u) / 8;
    lw_memory_form form = {.window = LW_WINDOW_global,
                           .address = 2,
                           .size = (uint32_t)__builtin_ctz(bytes),
                           .slot = p->l->vregs.at[v].class};
    uint32_t hint = p->l->program->hint_count++, address = load_param(p, param, LW_CLASS_64, false);
    lw_op *op = lw_lower_op(p->l, LW_OP_st);
    op->d = v, op->a = address, op->c = lw_memory_pack(form), op->e = hint; /* all lanes store the same */
}

/* Numbers of lanes, the end of lanes behind the last element. `end`: where those go. */
static void begin_lanes(lw_pto_lower *p, uint32_t end) {
    lw_lower *l = p->l;
    const lw_pto_function *f = p->function;
    uint32_t tid = special(p, LW_SPECIAL_tid), cta = special(p, LW_SPECIAL_ctaid),
             threads = special(p, LW_SPECIAL_ntid);
    uint32_t element = lw_lower_lane(l, LW_LANE_mad_lo_b32, cta, threads, tid);
    uint32_t width = lw_lower_const(l, LW_CLASS_32, p->lanes);
    p->lane = p->flat ? lane_of(l, LW_LANE_rem_u32, element, width) : tid;
    if (p->flat && !(p->lanes & (p->lanes - 1)))
        p->lane = lane_of(l, LW_LANE_and_b32, element, lw_lower_const(l, LW_CLASS_32, p->lanes - 1));
    p->lane64 = lane_of(l, LW_LANE_zext_b64_b32, p->lane, LW_NO_SLOT);
    if (p->choices.counts_regions)
        p->leader = lane_of(l, LW_LANE_setp_eq_b32, p->lane, lw_lower_const(l, LW_CLASS_32, 0));
    for (uint32_t i = 0; i < p->widths.count; i++) {
        lw_pto_width *w = &p->widths.at[i];
        uint32_t lanes = lw_lower_const(l, LW_CLASS_32, w->lanes);
        w->inside = w->lanes == p->lanes ? lw_lower_const(l, LW_CLASS_pred, 1)
                                         : lane_of(l, LW_LANE_setp_lt_u32, p->lane, lanes);
    }
    if (!p->repeats) return;
    uint32_t outside = lw_lower_vreg(l, LW_CLASS_pred);
    lw_op *op = lw_lower_op(l, LW_OP_beyond);
    op->d = outside, op->imm = p->params[f->argument_count + f->result_count].offset;
    op = lw_lower_op(l, LW_OP_bra_if);
    op->b = outside, op->a = end;
    l->open = false;
}

/* ---- Control flow ---------------------------------------------------------------------------------------------- */

static void lower_region(lw_pto_lower *p, const lw_pto_region *region);

static void branch(lw_pto_lower *p, uint32_t label) {
    lw_lower_op(p->l, LW_OP_bra)->a = label;
    p->l->open = false;
}

static void branch_if(lw_pto_lower *p, uint32_t predicate, bool negate, uint32_t label) {
    uint64_t bits;
    if (lw_pto_is_constant(p, predicate, &bits)) {
        if ((bits != 0) != negate) branch(p, label);
        return;
    }
    lw_op *op = lw_lower_op(p->l, LW_OP_bra_if);
    op->b = predicate, op->a = label, op->flags = negate ? LW_OP_NEGATE : 0;
    p->l->open = false;
}

void lw_pto_trap_if(lw_pto_lower *p, uint32_t predicate, lw_trap_reason reason) {
    uint32_t past = lw_lower_label(p->l);
    uint64_t bits;
    if (lw_pto_is_constant(p, predicate, &bits) && !bits) return;
    branch_if(p, predicate, true, past);
    lw_lower_op(p->l, LW_OP_trap)->mode = reason;
    p->l->open = false;
    lw_lower_place_label(p->l, past);
}

/* All at once: what is given may be what is taken. */
static void move_all(lw_pto_lower *p, uint32_t count, lw_pto_value *const *from, lw_pto_value *const *to) {
    uint32_t *copies = LW_NEW_ARRAY(p->l->arena, uint32_t, count);
    for (uint32_t i = 0; i < count; i++) {
        copies[i] = lw_pto_read(p, from[i]);
        if (p->l->vregs.at[copies[i]].is_const || count == 1) continue;
        uint32_t copy = lw_lower_vreg(p->l, p->l->vregs.at[copies[i]].class);
        lw_lower_move(p->l, copy, copies[i]);
        copies[i] = copy;
    }
    for (uint32_t i = 0; i < count; i++) lw_lower_move(p->l, lw_pto_write(p, to[i]), copies[i]);
}

static const lw_pto_op *last_of(const lw_pto_region *region) { return region->ops[region->count - 1]; }

static void lower_if(lw_pto_lower *p, const lw_pto_op *op) {
    uint32_t otherwise = lw_lower_label(p->l), end = lw_lower_label(p->l), condition = lw_pto_read(p, op->operands[0]);
    uint64_t bits = 0;
    bool known = lw_pto_is_constant(p, condition, &bits), loaded = p->loaded, stored = p->stored;
    if (!known) branch_if(p, condition, true, otherwise);
    for (uint32_t k = 0; k < op->region_count; k++) {
        if (known && (bits != 0) == (k != 0)) continue;
        p->loaded = loaded, p->stored = stored; /* whoever waited in the other region did so there only */
        if (k && !known) lw_lower_place_label(p->l, otherwise);
        lower_region(p, &op->regions[k]);
        if (op->result_count) move_all(p, op->result_count, last_of(&op->regions[k])->operands, op->results);
        if (!k && !known && op->region_count > 1) branch(p, end);
    }
    if (known) return;
    lw_lower_place_label(p->l, op->region_count > 1 ? end : otherwise);
    p->loaded = p->stored = true;
}

/* The largest value from which another round follows, and one more: upper - step, or the least value where that is
 * less. */
static uint32_t last_round(lw_pto_lower *p, uint32_t bits, const lw_pto_type *type, uint32_t upper, uint32_t step) {
    lw_class class = lw_pto_class(type);
    uint64_t u, s;
    uint32_t least = lw_lower_const(p->l, class, UINT64_MAX << (bits - 1));
    if (lw_pto_is_constant(p, upper, &u) && lw_pto_is_constant(p, step, &s)) {
        unsigned shift = 64 - bits;
        int64_t last;
        bool wraps = __builtin_sub_overflow((int64_t)(u << shift), (int64_t)(s << shift), &last);
        return wraps ? least : lw_lower_const(p->l, class, (uint64_t)(last >> shift));
    }
    uint32_t last = lane_of(p->l, lw_pto_lane(LW_PTO_VSUB, bits, true), upper, step),
             wraps = lw_pto_compare(p, LW_PTO_GT, bits, true, last, upper);
    uint32_t d = lw_lower_vreg(p->l, class);
    static const uint16_t selects[] = {
        [LW_CLASS_16] = LW_OP_select_16, [LW_CLASS_32] = LW_OP_select_32, [LW_CLASS_64] = LW_OP_select_64};
    lw_op *op = lw_lower_op(p->l, selects[class]);
    op->d = d, op->a = least, op->b = last, op->c = wraps;
    return d;
}

static void lower_for(lw_pto_lower *p, const lw_pto_op *op) {
    lw_lower *l = p->l;
    const lw_pto_region *body = &op->regions[0];
    uint32_t bits = lw_pto_scalars[op->type->element].bits, rounds = body->argument_count - 1;
    uint32_t lower = lw_pto_read(p, op->operands[0]), upper = lw_pto_read(p, op->operands[1]),
             step = lw_pto_read(p, op->operands[2]);
    uint32_t one = lw_lower_const(l, lw_pto_class(op->type), 1), head = lw_lower_label(l), end = lw_lower_label(l);
    uint64_t known;
    bool known_step = lw_pto_is_constant(p, step, &known) && (int64_t)(known << (64 - bits)) > 0;
    if (!known_step) lw_pto_trap_if(p, lw_pto_compare(p, LW_PTO_LT, bits, true, step, one), LW_REASON_step);
    uint32_t iv = lw_pto_write(p, body->arguments[0]), last = last_round(p, bits, op->type, upper, step);
    move_all(p, rounds, op->operands + 3, body->arguments + 1);
    lw_lower_lane_into(l, iv, lw_pto_lane(LW_PTO_VSUB, bits, true), lower, step,
                       LW_NO_SLOT); /* each round begins with an addition */
    branch_if(p, lw_pto_compare(p, LW_PTO_LT, bits, true, lower, upper), true, end);
    lw_lower_place_label(l, head);
    lw_lower_count(l); /* a round costs, also where there is nothing in it */
    lw_lower_lane_into(l, iv, lw_pto_lane(LW_PTO_VADD, bits, true), iv, step, LW_NO_SLOT);
    p->loaded = p->stored = true; /* by the round before */
    lower_region(p, body);
    move_all(p, rounds, last_of(body)->operands, body->arguments + 1);
    l->place = op->place;
    branch_if(p, lw_pto_compare(p, LW_PTO_LT, bits, true, iv, last), false, head);
    lw_lower_place_label(l, end);
    p->loaded = p->stored = true; /* by no round at all, or by the last */
    move_all(p, op->result_count, body->arguments + 1, op->results);
}

static void lower_return(lw_pto_lower *p, const lw_pto_op *op) {
    for (uint32_t i = 0; i < op->operand_count; i++) store_result(p, i, op->operands[i]);
}

static void lower_op(lw_pto_lower *p, const lw_pto_op *op) {
    lw_lower *l = p->l;
    l->place = op->place;
    if (!l->open) lw_lower_new_block(l);
    if (op->id != LW_PTO_YIELD) {
        lw_lower_count(l);
        l->program->instruction_count++;
    }
    switch (op->id) {
    case LW_PTO_FOR: lower_for(p, op); break;
    case LW_PTO_IF: lower_if(p, op); break;
    case LW_PTO_YIELD: break; /* whoever owns the region takes the values */
    case LW_PTO_RETURN: lower_return(p, op); break;
    default:
        if (op->id >= LW_PTO_CONSTANT) lw_pto_scalar_op(p, op);
        else lw_pto_vector_op(p, op);
    }
}

/* Each region is lowered once, and its brace is like no other place. */
static void lower_region(lw_pto_lower *p, const lw_pto_region *region) {
    if (p->choices.counts_regions) {
        p->l->place = region->end;
        lw_lower_note(p->l, LW_D_note_region, p->leader);
    }
    for (uint32_t i = 0; i < region->count && lw_lower_fits(p->l); i++) lower_op(p, region->ops[i]);
}

/* ---- The function ---------------------------------------------------------------------------------------------- */

static void lower_function(lw_pto_lower *p) {
    lw_lower *l = p->l;
    const lw_pto_function *f = p->function;
    uint32_t end = lw_lower_label(l);
    begin_lanes(p, end);
    for (uint32_t i = 0; i < f->argument_count; i++) load_argument(p, i);
    lower_region(p, &f->body);
    lw_lower_place_label(l, end);
    lw_lower_op(l, LW_OP_ret);
}

lw_program *lw_lower_pto(lw_arena *arena, const lw_pto_module *module, const lw_pto_function *function,
                         lw_pto_choices choices, lw_diags *diags) {
    lw_lower l = {.arena = arena, .diags = diags};
    lw_pto_lower p = {.l = &l, .function = function, .choices = choices, .loaded = true, .stored = true};
    lw_program *program = LW_NEW(arena, lw_program);
    *program = (lw_program){.arena = arena, .source = module->source, .code_count = 1, .shared_unit = 128};
    program->functions = LW_NEW_ARRAY(arena, lw_code *, 1);
    l.program = program;
    uint32_t params = lw_pto_params(arena, function, &p.params);
    program->param_bytes = params ? p.params[params - 1].offset + p.params[params - 1].size : 0;
    const lw_code code = {.name = function->name->text + 1, .is_entry = true};
    lw_lower_begin(&l, &code, function->place, 2 * function->op_count);
    find_shape(&p);
    for (uint32_t i = 0; i < function->result_count; i++)
        if (function->results[i]->kind == LW_PTO_MEMREF) {
            lw_diag_add(diags, LW_D_result_is_memory, function->result_places[i], function->name->text,
                        function->results[i]->text);
            return NULL;
        }
    p.values = LW_NEW_ARRAY(arena, uint32_t, function->value_count);
    memset(p.values, 0xff, function->value_count * sizeof *p.values);
    lower_function(&p);
    if (!l.failed) lw_lower_end(&l);
    if (l.failed) return NULL;
    lw_program_order_notes(program, LW_NEW_ARRAY(arena, uint32_t, program->notes.count));
    return program;
}
