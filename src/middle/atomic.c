/* atomic.c: lowering of atom and red. */
#include "middle/ptx.h"

/* exch and cas of 16 bytes. */
static void lower_wide(lw_lower *l, const lw_instruction *i, const lw_op *at, lw_memory_form form) {
    const uint16_t what = lw_lower_mode(i);
    const uint32_t count = what == LW_ATOM_cas ? 6 : 4; /* halves of d, of b, and of what cas puts there */
    uint32_t halves[6];
    for (uint32_t k = 0; k < count && !l->failed; k++)
        halves[k] = lw_lower_half(l, &i->operands[k < 2 ? 0 : 1 + k / 2], k % 2);
    if (l->failed) return;
    const uint32_t first = l->lists.count;
    for (uint32_t k = 0; k < count; k++) LW_PUSH(l->arena, l->lists) = halves[k];
    lw_op *atom = lw_lower_op(l, LW_OP_atom_wide);
    atom->d = first, atom->a = at->a, atom->imm = at->imm;
    atom->c = lw_memory_pack(form);
    atom->mode = what;
}

static lw_op *add_atom(lw_lower *l, const lw_instruction *i, const lw_op *at, lw_memory_form form) {
    lw_op *atom = lw_lower_op(l, LW_OP_atom);
    atom->a = at->a, atom->imm = at->imm;
    atom->c = lw_memory_pack(form);
    atom->mode = lw_lower_mode(i);
    return atom;
}

/* A vector's elements are changed one by one: the manual promises no more. The first one's operation looks whether all
 * of the vector is there; results are written behind the last, since the address or an operand may be in their
 * registers. */
static void lower_vector(lw_lower *l, const lw_instruction *i, const lw_op *at, lw_memory_form form, uint32_t count,
                         bool has_result) {
    const lw_type type = i->match->type;
    uint32_t values[LW_VECTOR_MOST], results[LW_VECTOR_MOST];
    lw_op place = *at;
    for (uint32_t k = 0; k < count && !l->failed; k++)
        values[k] = lw_lower_vector_element(l, &i->operands[has_result + 1], k, count, type, false);
    for (uint32_t k = 0; k < count && !l->failed; k++, form.vector = 0, place.imm += (uint64_t)1 << form.size) {
        if (has_result) results[k] = lw_lower_vreg(l, (lw_class)form.slot);
        lw_op *atom = add_atom(l, i, &place, form);
        atom->b = values[k];
        if (has_result) atom->d = results[k];
    }
    for (uint32_t k = 0; k < count && has_result && !l->failed; k++)
        lw_lower_move(l, lw_lower_vector_element(l, &i->operands[0], k, count, type, true), results[k]);
}

static void lower_one(lw_lower *l, const lw_instruction *i, const lw_op *at, lw_memory_form form, bool has_result) {
    const lw_type type = i->match->type;
    const uint32_t b = lw_lower_read(l, &i->operands[has_result + 1], type);
    const bool has_third = lw_lower_mode(i) == LW_ATOM_cas;
    const uint32_t e = has_third ? lw_lower_read(l, &i->operands[has_result + 2], type) : LW_NO_SLOT;
    if (l->failed) return;
    uint32_t d = LW_NO_SLOT;
    if (has_result && i->operands[0].kind != LW_O_SINK) d = lw_lower_write(l, &i->operands[0], type);
    if (l->failed) return;
    lw_op *atom = add_atom(l, i, at, form);
    atom->d = d, atom->b = b, atom->e = e;
}

static void lower_atomic(lw_lower *l, const lw_instruction *i, bool has_result) {
    const lw_type type = i->match->type;
    lw_memory_form form = {.is_brain = type == LW_T_bf16 || type == LW_T_bf16x2};
    lw_op at = {.a = LW_NO_SLOT};
    uint32_t count;
    if (!lw_lower_memory_form(l, i, &form, &count)) return;
    if (!lw_lower_address(l, &at, &i->operands[has_result], i->match, &form)) return;
    form.slot = lw_class_of(type);
    if (form.is_wide) lower_wide(l, i, &at, form);
    else if (count > 1) lower_vector(l, i, &at, form, count, has_result);
    else lower_one(l, i, &at, form, has_result);
}

void lw_lower_atom(lw_lower *l, const lw_instruction *i) { lower_atomic(l, i, true); }
void lw_lower_red(lw_lower *l, const lw_instruction *i) { lower_atomic(l, i, false); }
