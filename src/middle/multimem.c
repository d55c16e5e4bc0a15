/* multimem.c: lowering of multimem (manual section 9.7.9.14). An access is two words of 64 bits at most, whatever their
 * elements are. */
#include "middle/ptx.h"

typedef struct access {
    lw_memory_form form;
    lw_type type; /* of the registers that have its elements */
    uint32_t count, bits;
    uint64_t sum; /* lw_multimem_sum */
} access;

/* ---- What the spelling says -------------------------------------------------------------------------------------- */

static lw_element narrow_of(const lw_instruction *i) {
    switch (i->match->mode.narrow) {
    case LW_MOD_e4m3x2:
    case LW_MOD_e4m3x4: return LW_ELEMENT_e4m3;
    case LW_MOD_e5m2x2:
    case LW_MOD_e5m2x4: return LW_ELEMENT_e5m2;
    }
    const lw_element element = (lw_element)i->match->matrices.elements[0];
    return element == LW_ELEMENT_e4m3 || element == LW_ELEMENT_e5m2 ? element : LW_ELEMENT_none;
}

static lw_type type_of_narrow(const lw_instruction *i) {
    switch (i->match->mode.narrow) {
    case LW_MOD_e4m3x2:
    case LW_MOD_e5m2x2: return LW_T_b16;
    case LW_MOD_e4m3x4:
    case LW_MOD_e5m2x4: return LW_T_b32;
    default: return LW_T_b8;
    }
}

static uint64_t sum_of(const lw_instruction *i, lw_element narrow) {
    const bool wider = i->match->mode.accumulates != 0;
    if (narrow == LW_ELEMENT_e4m3) return wider ? LW_MULTIMEM_e4m3_f16 : LW_MULTIMEM_e4m3;
    if (narrow == LW_ELEMENT_e5m2) return wider ? LW_MULTIMEM_e5m2_f16 : LW_MULTIMEM_e5m2;
    return wider ? LW_MULTIMEM_half_f32 : LW_MULTIMEM_own;
}

static access access_of(const lw_instruction *i) {
    const lw_element narrow = narrow_of(i);
    const lw_type type = narrow ? type_of_narrow(i) : i->match->type;
    const uint32_t bits = lw_types[type].bits;
    return (access){.form = {.size = (uint32_t)__builtin_ctz(bits / 8),
                             .vector = (uint32_t)__builtin_ctz(i->match->elements),
                             .slot = LW_CLASS_64,
                             .is_brain = type == LW_T_bf16 || type == LW_T_bf16x2},
                    .type = type,
                    .count = i->match->elements,
                    .bits = bits,
                    .sum = sum_of(i, narrow)};
}

/* ---- Words ------------------------------------------------------------------------------------------------------- */

/* A byte has no register of its own. */
static uint32_t only_byte(lw_lower *l, const access *a, uint32_t value) {
    return a->bits == 8 ? lw_lower_lane(l, LW_LANE_zext8_b16, value, LW_NO_SLOT, LW_NO_SLOT) : value;
}

static void take_apart(lw_lower *l, const lw_operand *d, const access *a, const uint32_t *words) {
    for (uint32_t k = 0; k < a->count && !l->failed; k++) {
        if (d->kind == LW_O_VECTOR && d->parts[k].kind == LW_O_SINK) continue;
        const uint32_t at = k * a->bits, to = lw_lower_vector_element(l, d, k, a->count, a->type, true);
        if (l->failed) return;
        uint32_t value = words[at / 64];
        if (at % 64)
            value = lw_lower_lane(l, LW_LANE_shr_u64, value, lw_lower_const(l, LW_CLASS_32, at % 64), LW_NO_SLOT);
        if (a->bits == 8) value = only_byte(l, a, lw_lower_resize(l, value, LW_CLASS_16, false));
        lw_lower_move(l, to, lw_lower_resize(l, value, l->vregs.at[to].class, false));
    }
}

/* False: diagnosed. */
static bool put_together(lw_lower *l, const lw_operand *b, const access *a, uint32_t *words) {
    words[0] = words[1] = LW_NO_SLOT;
    for (uint32_t k = 0; k < a->count && !l->failed; k++) {
        const uint32_t at = k * a->bits;
        uint32_t value = lw_lower_vector_element(l, b, k, a->count, a->type, false), *word = &words[at / 64];
        if (l->failed) return false;
        if (a->bits == 8) value = only_byte(l, a, lw_lower_resize(l, value, LW_CLASS_16, false));
        value = lw_lower_resize(l, value, LW_CLASS_64, false);
        if (at % 64)
            value = lw_lower_lane(l, LW_LANE_shl_b64, value, lw_lower_const(l, LW_CLASS_32, at % 64), LW_NO_SLOT);
        *word = *word == LW_NO_SLOT ? value : lw_lower_lane(l, LW_LANE_or_b64, *word, value, LW_NO_SLOT);
    }
    if (words[1] == LW_NO_SLOT) words[1] = lw_lower_const(l, LW_CLASS_64, 0);
    return !l->failed;
}

/* ---- Instructions ------------------------------------------------------------------------------------------------ */

void lw_lower_multimem_load(lw_lower *l, const lw_instruction *i) {
    const access a = access_of(i);
    const uint32_t address = lw_lower_address_value(l, &i->operands[1], i->match);
    if (l->failed) return;
    const uint32_t words[] = {lw_lower_vreg(l, LW_CLASS_64), lw_lower_vreg(l, LW_CLASS_64)};
    lw_op *op = lw_lower_op(l, LW_OP_multimem_load);
    op->d = words[0], op->e = words[1], op->a = address, op->c = lw_memory_pack(a.form), op->imm = a.sum;
    op->mode = lw_lower_mode(i);
    take_apart(l, &i->operands[0], &a, words);
}

static void store(lw_lower *l, const lw_instruction *i, uint16_t code, uint16_t mode) {
    const access a = access_of(i);
    const uint32_t address = lw_lower_address_value(l, &i->operands[0], i->match);
    uint32_t words[2];
    if (l->failed || !put_together(l, &i->operands[1], &a, words)) return;
    lw_op *op = lw_lower_op(l, code);
    op->b = words[0], op->e = words[1], op->a = address, op->c = lw_memory_pack(a.form), op->mode = mode;
}

void lw_lower_multimem_store(lw_lower *l, const lw_instruction *i) { store(l, i, LW_OP_multimem_store, 0); }
void lw_lower_multimem_reduce(lw_lower *l, const lw_instruction *i) {
    store(l, i, LW_OP_multimem_reduce, lw_lower_mode(i));
}
