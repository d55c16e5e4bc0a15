/* texture.c: lowering of texture and surface instructions (manual sections 9.7.10 and 9.7.11).
 *
 * What follows the handle of an operation lies in one list, 32 bits each: program.h says in which order. */
#include "middle/ptx.h"

/* What an operation lists, as it is found. */
typedef struct lw_listed {
    lw_texture_form form;
    uint32_t handle, sampler;
    uint32_t results[4], operands[32];
} lw_listed;

/* ---- Parts ------------------------------------------------------------------------------------------------------ */

/* A handle: in a register, in a parameter, or the address that a variable has. */
static uint32_t read_handle(lw_lower *l, const lw_operand *base) {
    const lw_object *object = base->kind == LW_O_NAME ? base->object : NULL;
    if (object && object->is_param && object->owner && object->owner->is_entry && object->space == LW_SPACE_param) {
        const uint32_t d = lw_lower_vreg(l, LW_CLASS_64);
        const lw_memory_form form = {.window = LW_WINDOW_param, .size = 3, .slot = LW_CLASS_64};
        lw_op *op = lw_lower_op(l, LW_OP_ld);
        op->d = d, op->imm = object->address, op->c = lw_memory_pack(form);
        return d;
    }
    const uint32_t a = lw_lower_read(l, base, LW_T_u64);
    return l->failed ? a : lw_lower_resize(l, a, LW_CLASS_64, false);
}

static void add(lw_lower *l, lw_listed *to, uint32_t vreg) {
    if (!l->failed) to->operands[to->form.operands++] = lw_lower_resize(l, vreg, LW_CLASS_32, false);
}

static uint32_t part_count(const lw_operand *operand) {
    return operand->kind == LW_O_VECTOR ? operand->part_count : lw_lower_elements(operand);
}

/* The first `count` elements of a vector that has as many or more. */
static void add_vector(lw_lower *l, lw_listed *to, const lw_operand *operand, uint32_t count, lw_type type) {
    const uint32_t there = part_count(operand);
    if (there < count) lw_lower_too_few(l, operand);
    for (uint32_t k = 0; k < count && !l->failed; k++)
        add(l, to, lw_lower_vector_element(l, operand, k, there, type, false));
}

static void take_geometry(const lw_instruction *i, lw_texture_form *form) {
    const lw_modifier *geometry = &lw_modifiers[i->match->mode.geometry];
    form->dimensions = (geometry->cube ? 3 : geometry->dimensions) & 3;
    form->is_array = geometry->array, form->is_cube = geometry->cube, form->has_sample = geometry->samples;
}

/* [a, c] or [a, b, c], where b is a sampler. Layers stand in front of coordinates, and samples of multisample textures
 * between them. */
static void take_address(lw_lower *l, lw_listed *to, const lw_operand *address, lw_type type) {
    if (address->kind != LW_O_ADDRESS || address->part_count < 2) {
        lw_lower_unsupported(l, address);
        return;
    }
    const bool has_sampler = address->part_count > 2;
    to->handle = read_handle(l, &address->parts[0]);
    to->sampler = has_sampler ? read_handle(l, &address->parts[1]) : LW_NO_SLOT;
    const lw_operand *c = &address->parts[1 + has_sampler];
    const uint32_t in_front = to->form.has_sample + to->form.is_array, count = in_front + to->form.dimensions;
    if (to->form.has_sample) { /* {sample, x, y} or {layer, sample, x, y}: here the sample comes last */
        lw_operand parts[4];
        if (c->kind != LW_O_VECTOR || c->part_count < count) {
            lw_lower_unsupported(l, c);
            return;
        }
        const uint32_t sample = to->form.is_array;
        for (uint32_t k = 0; k < count; k++) parts[k] = c->parts[k < sample ? k : k + 1 < count ? k + 1 : sample];
        const lw_operand order = {.kind = LW_O_VECTOR, .place = c->place, .part_count = count, .parts = parts};
        add_vector(l, to, &order, count, LW_T_b32);
    } else add_vector(l, to, c, count, type);
}

static lw_op *texture_op(lw_lower *l, uint16_t code) {
    l->program->has_textures = true;
    return lw_lower_op(l, code);
}

/* The operation, with all that was found. */
static lw_op *finish(lw_lower *l, const lw_listed *found, uint16_t code) {
    if (l->failed) return NULL;
    const uint32_t first = l->lists.count;
    for (uint32_t k = 0; k < found->form.results; k++) LW_PUSH(l->arena, l->lists) = found->results[k];
    for (uint32_t k = 0; k < found->form.operands; k++) LW_PUSH(l->arena, l->lists) = found->operands[k];
    lw_op *op = texture_op(l, code);
    op->d = first, op->a = found->handle, op->c = lw_texture_pack(found->form);
    return op;
}

/* ---- tex, tld4 --------------------------------------------------------------------------------------------------- */

static lw_texture_result result_of(lw_type type) {
    switch (type) {
    case LW_T_u32: return LW_RESULT_u32;
    case LW_T_s32: return LW_RESULT_s32;
    case LW_T_f16: return LW_RESULT_f16;
    case LW_T_f16x2: return LW_RESULT_f16x2;
    default: return LW_RESULT_f32;
    }
}

static void take_lookup(const lw_instruction *i, lw_texture_form *form) {
    const lw_modes *mode = &i->match->mode;
    form->result = result_of(i->match->types[0]);
    form->is_integer = i->match->types[1] == LW_T_s32;
    form->results = form->result == LW_RESULT_f16x2 ? 2 : 4;
    form->lookup = mode->texel                 ? LW_LOOKUP_gather
                   : mode->lod == LW_MOD_base  ? LW_LOOKUP_base
                   : mode->lod == LW_MOD_level ? LW_LOOKUP_level
                   : mode->lod == LW_MOD_grad  ? LW_LOOKUP_grad
                                               : LW_LOOKUP_plain;
    if (mode->texel) form->component = (mode->texel - LW_MOD_texel_r) & 3;
}

/* {, offsets}{, what to compare with}, behind the level or the derivatives: in braces, or of one dimension, are
 * offsets; a single value is compared with. */
static void take_rest(lw_lower *l, lw_listed *to, const lw_instruction *i, uint32_t at) {
    for (; at < i->operand_count && !l->failed; at++) {
        const lw_operand *o = &i->operands[at];
        const bool has_vector = part_count(o) > 1 || o->kind == LW_O_VECTOR;
        if (!to->form.has_offsets && !to->form.has_compare && !to->form.is_cube &&
            (has_vector || to->form.dimensions == 1)) {
            to->form.has_offsets = true;
            add_vector(l, to, o, to->form.dimensions, LW_T_s32);
        } else if (!to->form.has_compare && !has_vector && (to->form.is_cube || to->form.dimensions == 2)) {
            to->form.has_compare = true;
            add(l, to, lw_lower_read(l, o, LW_T_f32));
        } else lw_lower_too_few(l, o);
    }
}

/* What is written: words, of .f16 the low half of one. */
static void write_results(lw_lower *l, const lw_listed *found, const lw_operand *d) {
    const bool halves = found->form.result == LW_RESULT_f16;
    const uint32_t there = part_count(d);
    if (there < found->form.results) lw_lower_too_few(l, d);
    for (uint32_t k = 0; k < found->form.results && !l->failed; k++) {
        uint32_t value = found->results[k];
        const uint32_t to = lw_lower_vector_element(l, d, k, there, halves ? LW_T_f16 : LW_T_b32, true);
        if (l->failed) return;
        if (halves) value = lw_lower_lane(l, LW_LANE_low_b16_b32, value, LW_NO_SLOT, LW_NO_SLOT);
        lw_lower_move(l, to, value);
    }
}

static void make_results(lw_lower *l, lw_listed *to) {
    for (uint32_t k = 0; k < to->form.results; k++) to->results[k] = lw_lower_vreg(l, LW_CLASS_32);
}

void lw_lower_tex(lw_lower *l, const lw_instruction *i) {
    const lw_operand *first = &i->operands[0], *d = first->kind == LW_O_PAIR ? &first->parts[0] : first,
                     *p = first->kind == LW_O_PAIR ? &first->parts[1] : NULL;
    lw_listed found = {0};
    uint32_t at = 2;
    take_geometry(i, &found.form);
    take_lookup(i, &found.form);
    take_address(l, &found, &i->operands[1], found.form.is_integer ? LW_T_s32 : LW_T_f32);
    if (found.form.lookup == LW_LOOKUP_level && !l->failed)
        add_vector(l, &found, &i->operands[at++], 1, found.form.is_integer ? LW_T_s32 : LW_T_f32);
    for (uint32_t k = 0; k < 2 && found.form.lookup == LW_LOOKUP_grad && !l->failed; k++)
        add_vector(l, &found, &i->operands[at++], found.form.dimensions, LW_T_f32);
    take_rest(l, &found, i, at);
    make_results(l, &found);
    const uint32_t resident = p && p->kind != LW_O_SINK && !l->failed ? lw_lower_write(l, p, LW_T_pred) : LW_NO_SLOT;
    lw_op *op = finish(l, &found, LW_OP_texture);
    if (!op) return;
    op->b = found.sampler, op->e = resident;
    write_results(l, &found, d);
}

/* ---- txq, suq, istypep ------------------------------------------------------------------------------------------- */

void lw_lower_txq(lw_lower *l, const lw_instruction *i) {
    const lw_operand *address = &i->operands[1];
    const bool has_level = i->operand_count > 2;
    if (address->kind != LW_O_ADDRESS || !address->part_count) {
        lw_lower_unsupported(l, address);
        return;
    }
    const uint32_t a = read_handle(l, &address->parts[0]);
    const uint32_t level = has_level && !l->failed ? lw_lower_read(l, &i->operands[2], LW_T_s32) : LW_NO_SLOT;
    const uint32_t d = l->failed ? LW_NO_SLOT : lw_lower_write(l, &i->operands[0], LW_T_b32);
    if (l->failed) return;
    lw_op *op = texture_op(l, LW_OP_texture_ask);
    op->d = d, op->a = a, op->b = level, op->imm = (uint64_t)i->match->mode.ask - LW_MOD_width;
}

void lw_lower_istypep(lw_lower *l, const lw_instruction *i) {
    static const uint8_t kinds[] = {[LW_T_texref] = 1, [LW_T_samplerref] = 2, [LW_T_surfref] = 3}; /* lw_texture_kind */
    const uint32_t a = lw_lower_read(l, &i->operands[1], LW_T_u64), d = lw_lower_write(l, &i->operands[0], LW_T_pred);
    if (l->failed) return;
    lw_op *op = texture_op(l, LW_OP_texture_is);
    op->d = d, op->a = a, op->imm = kinds[i->match->type];
}

/* ---- suld, sust, sured ------------------------------------------------------------------------------------------- */

static void take_surface(lw_lower *l, lw_listed *to, const lw_instruction *i, const lw_operand *address) {
    const lw_modes *mode = &i->match->mode;
    const uint32_t bits = lw_types[i->match->type].bits;
    take_geometry(i, &to->form);
    to->form.size = (bits == 8 ? 0 : bits == 16 ? 1 : bits == 32 ? 2 : 3) & 3;
    to->form.is_formatted = mode->texel == LW_MOD_texel_p;
    to->form.outside = mode->outside == LW_MOD_zero   ? LW_OUTSIDE_zero
                       : mode->outside == LW_MOD_trap ? LW_OUTSIDE_trap
                                                      : LW_OUTSIDE_clamp;
    take_address(l, to, address, LW_T_s32);
}

void lw_lower_suld(lw_lower *l, const lw_instruction *i) {
    const lw_operand *d = &i->operands[0];
    const lw_type type = i->match->type;
    const uint32_t count = i->match->elements, there = part_count(d);
    lw_listed found = {0};
    take_surface(l, &found, i, &i->operands[1]);
    if (there < count) lw_lower_too_few(l, d);
    found.form.results = (found.form.size == 3 ? 2 * count : count) & 15;
    make_results(l, &found);
    if (!finish(l, &found, LW_OP_surface_load)) return;
    for (uint32_t k = 0; k < count && !l->failed; k++) {
        uint32_t value = found.results[found.form.size == 3 ? 2 * k : k];
        if (found.form.size == 3)
            value = lw_lower_lane(l, LW_LANE_pack_b64_b32, value, found.results[2 * k + 1], LW_NO_SLOT);
        const uint32_t to = lw_lower_vector_element(l, d, k, there, type, true);
        if (!l->failed) lw_lower_move(l, to, lw_lower_resize(l, value, l->vregs.at[to].class, false));
    }
}

static void add_values(lw_lower *l, lw_listed *to, const lw_operand *value, uint32_t count, lw_type type) {
    const uint32_t there = part_count(value);
    if (there < count) lw_lower_too_few(l, value);
    for (uint32_t k = 0; k < count && !l->failed; k++) {
        const uint32_t v = lw_lower_vector_element(l, value, k, there, type, false);
        if (l->failed) return;
        add(l, to, v);
        if (lw_types[type].bits == 64) add(l, to, lw_lower_lane(l, LW_LANE_high_b32_b64, v, LW_NO_SLOT, LW_NO_SLOT));
    }
}

static lw_op *store(lw_lower *l, const lw_instruction *i, uint16_t code) {
    lw_listed found = {0};
    take_surface(l, &found, i, &i->operands[0]);
    add_values(l, &found, &i->operands[1], i->match->elements, i->match->type);
    return finish(l, &found, code);
}

void lw_lower_sust(lw_lower *l, const lw_instruction *i) { store(l, i, LW_OP_surface_store); }

void lw_lower_sured(lw_lower *l, const lw_instruction *i) {
    const uint16_t mode = lw_lower_mode(i);
    lw_op *op = store(l, i, LW_OP_surface_reduce);
    if (op) op->mode = mode;
}
