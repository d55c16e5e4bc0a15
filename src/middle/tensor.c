/* tensor.c: lowering of what is done by tensor maps (manual sections 9.7.9.25.5, 9.7.9.26 and 9.7.13.16). */
#include "middle/ptx.h"
#include "base/tensor.h"

/* The base of an address that has coordinates behind it, too. */
static lw_operand base_of(const lw_operand *operand) {
    lw_operand base = *operand;
    if (base.kind == LW_O_ADDRESS) base.part_count = 1;
    return base;
}

/* A map is in memory of any kind, and so are variables that are one. LW_NO_SLOT: diagnosed. */
static uint32_t map_of(lw_lower *l, const lw_operand *operand) {
    static const lw_match generic = {.space = LW_SPACE_none};
    const lw_operand base = base_of(operand);
    lw_memory_form form = {0};
    lw_op op = {0};
    if (!lw_lower_address(l, &op, &base, &generic, &form)) return LW_NO_SLOT;
    if (form.address) return lw_lower_address_value(l, &base, &generic);
    return lw_lower_const(l, LW_CLASS_64, op.imm + (form.window == LW_WINDOW_param ? LW_PARAM_WINDOW : 0));
}

/* What an operation by a map lists. */
typedef struct listed {
    uint32_t at[LW_TENSOR_VALUES], count;
} listed;

static void add(lw_lower *l, listed *values, uint32_t value) {
    if (values->count == LW_TENSOR_VALUES) lw_bug("a copy by a tensor map lists more than it can");
    if (!l->failed) values->at[values->count++] = value;
}

static void add_elements(lw_lower *l, listed *values, const lw_operand *vector, lw_type type, bool is_signed) {
    const uint32_t count = vector->kind == LW_O_VECTOR ? vector->part_count : lw_lower_elements(vector);
    for (uint32_t k = 0; k < count && !l->failed; k++) {
        const uint32_t value = lw_lower_vector_element(l, vector, k, count, type, false);
        if (!l->failed) add(l, values, lw_lower_resize(l, value, LW_CLASS_64, is_signed));
    }
}

static uint32_t keep(lw_lower *l, const listed *values) {
    const uint32_t first = (uint32_t)l->lists.count;
    for (uint32_t k = 0; k < values->count; k++) LW_PUSH(l->arena, l->lists) = values->at[k];
    return first;
}

/* In shared memory, with brackets. LW_NO_SLOT: diagnosed. */
static uint32_t shared(lw_lower *l, const lw_instruction *i, uint32_t operand) {
    if (operand < i->operand_count && i->operands[operand].kind == LW_O_ADDRESS)
        return lw_lower_address_value(l, &i->operands[operand], i->match);
    lw_diag_add(l->diags, LW_D_no_object, i->mnemonic_place, i->mnemonic->text);
    l->failed = true;
    return LW_NO_SLOT;
}

static lw_tensor_mode mode_of(const lw_instruction *i) {
    switch (i->match->mode.columns) {
    case LW_MOD_im2col:
    case LW_MOD_im2col_no_offs: return LW_TENSOR_im2col;
    case LW_MOD_im2col_w: return LW_TENSOR_wide;
    case LW_MOD_im2col_w128: return LW_TENSOR_wide_128;
    default: return LW_TENSOR_tile;
    }
}

static uint8_t group_of(const lw_instruction *i) {
    return i->match->mode.pair == LW_MOD_cta_group2 ? 2 : i->match->mode.pair == LW_MOD_cta_group1 ? 1 : 0;
}

/* [a, coordinates] of operand `array`, and of others the place in shared memory, the object and the offsets; these are
 * 0 where there are none. NULL: diagnosed. */
static lw_op *by_map(lw_lower *l, const lw_instruction *i, uint16_t code, uint32_t array, uint32_t place,
                     uint32_t object, uint32_t offsets) {
    const lw_memory_form memory = {.window = i->match->of_cluster ? LW_WINDOW_cluster : LW_WINDOW_shared,
                                   .slot = LW_CLASS_64};
    lw_tensor_form form = {.mode = (uint8_t)mode_of(i), .rows = i->match->mode.rows, .group = group_of(i)};
    listed values = {.count = 0};
    if (i->operands[array].part_count < 2) return lw_lower_unsupported(l, &i->operands[array]), NULL;
    add(l, &values, shared(l, i, place));
    if (!l->failed) add(l, &values, map_of(l, &i->operands[array]));
    if (!l->failed) add(l, &values, object ? shared(l, i, object) : lw_lower_const(l, LW_CLASS_64, 0));
    if (!l->failed) add_elements(l, &values, &i->operands[array].parts[1], LW_T_s32, true);
    form.coordinates = (uint8_t)(values.count - LW_TENSOR_FIRST);
    form.rank = form.rows ? 2 : form.coordinates;
    if (!l->failed && offsets) add_elements(l, &values, &i->operands[offsets], LW_T_u16, false);
    if (l->failed) return NULL;
    form.offsets = (uint8_t)(values.count - LW_TENSOR_FIRST - form.coordinates);
    const uint32_t d = keep(l, &values);
    lw_op *op = lw_lower_op(l, code);
    op->d = d, op->a = 0, op->b = values.count, op->c = lw_memory_pack(memory), op->imm = lw_tensor_pack(form);
    return op;
}

/* [place], [map, coordinates], [object] {, offsets} {, CTAs} */
void lw_lower_tensor_load(lw_lower *l, const lw_instruction *i) {
    enum { PLACE, ARRAY, OBJECT, MORE };
    const bool columns = i->match->mode.columns != 0;
    uint32_t ctas = LW_NO_SLOT;
    if (i->match->mode.multicast) ctas = lw_lower_read(l, &i->operands[MORE + columns], LW_T_u16);
    if (l->failed) return;
    lw_op *op = by_map(l, i, LW_OP_tensor_load, ARRAY, PLACE, OBJECT, columns ? MORE : 0);
    if (op) op->e = ctas;
}

/* [map, coordinates], [place] */
void lw_lower_tensor_store(lw_lower *l, const lw_instruction *i) { by_map(l, i, LW_OP_tensor_store, 0, 1, 0, 0); }
void lw_lower_tensor_reduce(lw_lower *l, const lw_instruction *i) {
    lw_op *op = by_map(l, i, LW_OP_tensor_reduce, 0, 1, 0, 0);
    if (op) op->mode = lw_lower_mode(i);
}

/* ---- Maps that kernels make -------------------------------------------------------------------------------------- */

static lw_tensor_field field_of(const lw_instruction *i) {
    switch (i->match->mode.map) {
    case LW_MOD_map_address: return LW_TENSOR_global_address;
    case LW_MOD_map_rank: return LW_TENSOR_rank;
    case LW_MOD_map_box: return LW_TENSOR_box_dim;
    case LW_MOD_map_size: return LW_TENSOR_global_dim;
    case LW_MOD_map_stride: return LW_TENSOR_global_stride;
    case LW_MOD_map_step: return LW_TENSOR_element_stride;
    case LW_MOD_map_type: return LW_TENSOR_elemtype;
    case LW_MOD_map_interleave: return LW_TENSOR_interleave_layout;
    case LW_MOD_map_swizzle: return LW_TENSOR_swizzle_mode;
    case LW_MOD_map_atom: return LW_TENSOR_swizzle_atomicity;
    default: return LW_TENSOR_fill_mode;
    }
}

/* [map] {, dimension}, value */
void lw_lower_tensor_replace(lw_lower *l, const lw_instruction *i) {
    const uint32_t last = i->operand_count - 1;
    const uint32_t number = last > 1 ? (uint32_t)i->operands[1].value : 0;
    uint32_t value = lw_lower_read(l, &i->operands[last], i->match->type);
    lw_memory_form form = {.slot = LW_CLASS_64};
    lw_op at = {.a = LW_NO_SLOT};
    if (l->failed) return;
    value = lw_lower_resize(l, value, LW_CLASS_64, false);
    if (!lw_lower_address(l, &at, &i->operands[0], i->match, &form)) return;
    lw_op *op = lw_lower_op(l, LW_OP_tensor_replace);
    op->a = at.a, op->imm = at.imm, op->c = lw_memory_pack(form), op->b = value;
    op->e = field_of(i) | number << LW_TENSOR_FIELD_BITS;
}

void lw_lower_tensor_publish(lw_lower *l, const lw_instruction *i) {
    const uint32_t d = lw_lower_address_value(l, &i->operands[0], i->match);
    if (l->failed) return;
    const uint32_t a = lw_lower_address_value(l, &i->operands[1], i->match);
    if (l->failed) return;
    lw_op *op = lw_lower_op(l, LW_OP_tensor_publish);
    op->d = d, op->a = a;
}
