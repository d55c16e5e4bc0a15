/* wgmma.c: lowering of matrix instructions of warpgroups (manual section 9.7.15). */
#include "middle/wgmma.h"
#include "middle/ptx.h"

enum { ROWS = 16 }; /* of a and d that a warp has */

static lw_fragment_map map_of(const lw_wgmma_form *form, lw_fragment_kind kind, lw_matrix_operand operand,
                              uint32_t element_bits, uint32_t bits, lw_fragment_place strides) {
    const lw_matrix_shape shape = {kind == LW_FRAGMENT_MMA ? ROWS : 4 * ROWS, form->n, form->k};
    const uint32_t found = lw_fragment_find(kind, shape, operand, element_bits, LW_LAYOUT_row);
    if (found == LW_FRAGMENTS) lw_bug("no layout of a warpgroup's operand %u with %u bits", operand, element_bits);
    return lw_fragment_map_of(&lw_fragments[found], bits, strides);
}

static void set_maps(lw_wgmma_form *form) {
    const uint32_t of_a = form->sparse ? form->k / 2 : form->k, a_bits = lw_elements[form->a].bits,
                   d_bits = lw_elements[form->d].bits, nibbles = lw_wgmma_nibbles(form);
    form->map_d = map_of(form, LW_FRAGMENT_WGMMA, LW_MATRIX_C, d_bits, d_bits, (lw_fragment_place){form->n, 1, 0});
    form->map_a = map_of(form, LW_FRAGMENT_WGMMA, LW_MATRIX_A, a_bits, a_bits, (lw_fragment_place){of_a, 1, 0});
    if (form->sparse)
        form->map_e =
            map_of(form, LW_FRAGMENT_MMA, LW_MATRIX_E, a_bits, 4, (lw_fragment_place){nibbles, 1, ROWS * nibbles});
}

/* What stands behind the registers: of the numbers in the order of the manual. */
enum { D, A, B, BEHIND };

static void read_numbers(const lw_instruction *i, lw_wgmma_form *form, uint32_t at) {
    const uint32_t left = i->operand_count - at;
    if (left < 2) return;
    form->negate_a = (int64_t)i->operands[at].value < 0;
    form->negate_b = (int64_t)i->operands[at + 1].value < 0;
    if (left == 4) form->transposed_a = i->operands[at + 2].value & 1;
    if (left > 2) form->transposed_b = i->operands[i->operand_count - 1].value & 1;
}

static void make_form(const lw_instruction *i, lw_wgmma_form *form) {
    const lw_matrix_words *words = &i->match->matrices;
    memset(form, 0, sizeof *form);
    form->n = words->shape.n, form->k = words->shape.k;
    form->d = words->elements[0], form->a = words->elements[1], form->b = words->elements[2];
    form->in_registers = i->operands[A].kind == LW_O_VECTOR;
    form->sparse = i->match->mode.sparse != 0;
    form->saturates = i->match->mode.satfinite != 0;
    if (form->sparse) form->selector = (uint8_t)i->operands[BEHIND + 1].value;
    read_numbers(i, form, BEHIND + 2 * form->sparse + 1);
    set_maps(form);
}

typedef struct listed {
    uint32_t at[2 * 128 + 16], count;
} listed;

static void add(listed *list, uint32_t v) { list->at[list->count++] = v; }

static void add_registers(lw_lower *l, listed *list, const lw_instruction *i, uint32_t operand, uint32_t count,
                          bool written) {
    const lw_operand *is = &i->operands[operand];
    const lw_type type = operand == A ? LW_T_b32 : i->match->operand_forms[operand].type;
    if (is->kind == LW_O_VECTOR && is->part_count != count) lw_lower_unsupported(l, is);
    for (uint32_t k = 0; k < count && !l->failed; k++) {
        const uint32_t v = lw_lower_vector_element(l, is, k, count, type, written);
        if (!l->failed && l->vregs.at[v].class != LW_CLASS_32) lw_lower_unsupported(l, is);
        add(list, v);
    }
}

static void add_descriptor(lw_lower *l, listed *list, const lw_operand *operand) {
    const uint32_t v = lw_lower_read(l, operand, LW_T_u64);
    if (l->failed) return;
    add(list, lw_lower_lane(l, LW_LANE_low_b32_b64, v, LW_NO_SLOT, LW_NO_SLOT));
    add(list, lw_lower_lane(l, LW_LANE_high_b32_b64, v, LW_NO_SLOT, LW_NO_SLOT));
}

/* d, a, b {, metadata, selector}, scale-d {, imm-scale-a, imm-scale-b {{, imm-trans-a}, imm-trans-b}} */
void lw_lower_wgmma(lw_lower *l, const lw_instruction *i) {
    const uint32_t count = i->match->operand_forms[D].vector;
    lw_wgmma_form form;
    listed list = {.count = 0};
    make_form(i, &form);
    add_registers(l, &list, i, D, count, true);
    if (!l->failed && form.in_registers) add_registers(l, &list, i, A, LW_WGMMA_REGISTERS, false);
    else if (!l->failed) add_descriptor(l, &list, &i->operands[A]);
    if (!l->failed) add_descriptor(l, &list, &i->operands[B]);
    if (!l->failed) add_registers(l, &list, i, D, count, false);
    if (!l->failed && form.sparse) add(&list, lw_lower_read(l, &i->operands[BEHIND], LW_T_b32));
    if (l->failed) return;
    const uint32_t scale = lw_lower_read_pred(l, &i->operands[BEHIND + 2 * form.sparse]);
    if (l->failed) return;
    lw_lower_come_together(l);
    const uint32_t first = l->lists.count, at = lw_lower_constants(l, &form, sizeof form);
    for (uint32_t k = 0; k < list.count; k++) LW_PUSH(l->arena, l->lists) = list.at[k];
    lw_op *op = lw_lower_op(l, LW_OP_wgmma);
    op->d = first, op->a = count, op->b = list.count - count, op->e = scale, op->imm = at;
    op->c = lw_memory_pack((lw_memory_form){.slot = LW_CLASS_32});
    lw_lower_go_on_behind(l);
}

/* Results are there at once (docs/decisions/0028): fences, groups and waits are for warps that are whole. */
void lw_lower_wgmma_order(lw_lower *l, const lw_instruction *i) { (void)i, lw_lower_come_together(l); }
