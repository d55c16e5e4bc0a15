/* matrix.c: lowering of matrix instructions: wmma, mma, and the moves that feed it (manual section 9.7.14).
 *
 * All of a warp's lanes execute them together: they meet in front, and begin a block; a warp that is not whole then has
 * no result that a text defines, and is a trap. wmma.load and wmma.store are loads and stores of each lane: where an
 * element lies follows from the lane's number. */
#include "lanewise/lane/how.h"
#include "middle/held.h"
#include "middle/matrix.h"
#include "middle/ptx.h"

/* ---- A whole warp ---------------------------------------------------------------------------------------------- */

/* Lanes of a block are together as long as it lasts. */
void lw_lower_come_together(lw_lower *l) {
    if (l->ptx->whole == l->blocks.count) return;
    const uint32_t everyone = lw_lower_const(l, LW_CLASS_32, UINT32_MAX);
    lw_lower_op(l, LW_OP_warp_sync)->a = everyone;
    lw_lower_may_note(l, LW_D_note_never_arrives);
    lw_lower_go_on_behind(l);
    lw_lower_op(l, LW_OP_whole);
    l->ptx->whole = l->blocks.count;
}

/* ---- Registers of an operand ------------------------------------------------------------------------------------ */

static uint32_t count_of(const lw_instruction *i, uint32_t operand) { return i->match->operand_forms[operand].vector; }

/* A register of `bits` bits; ptxas takes others, too. */
static uint32_t register_of(lw_lower *l, const lw_instruction *i, uint32_t operand, uint32_t k, lw_class class) {
    const lw_operand_form *form = &i->match->operand_forms[operand];
    const lw_operand *is = &i->operands[operand];
    if (is->kind == LW_O_VECTOR && is->part_count != form->vector) return lw_lower_unsupported(l, is);
    const uint32_t v = lw_lower_vector_element(l, is, k, form->vector, form->type, form->written);
    if (!l->failed && l->vregs.at[v].class != class) lw_lower_unsupported(l, is);
    return v;
}

/* ---- mma -------------------------------------------------------------------------------------------------------- */

enum { SELECTOR = 5 }; /* of a sparse a */

/* From row to row, column to column and matrix to matrix of an operand's array. */
static lw_fragment_place strides_of(const lw_held *held) {
    const uint32_t all = (uint32_t)held->rows * held->columns;
    return held->is == LW_MATRIX_B || held->is == LW_MATRIX_SB ? (lw_fragment_place){1, held->rows, all}
                                                               : (lw_fragment_place){held->columns, 1, all};
}

/* Which operand of the operation a matrix is. */
static uint32_t operand_of(const lw_held *held) {
    switch ((lw_matrix_operand)held->is) {
    case LW_MATRIX_E: return LW_MMA_E;
    case LW_MATRIX_SA: return LW_MMA_SA;
    case LW_MATRIX_SB: return LW_MMA_SB;
    default: return held->operand; /* in the order of LW_MMA_D … */
    }
}

/* The factors of .mxf8f6f4 and .mxf4 are for 32 products each. */
static uint8_t scales_of(const lw_matrix_form *form, const lw_matrix_words *words) {
    enum { EACH = 32 };
    const uint32_t products = form->of[LW_MMA_E].registers ? form->k / 2 : form->k;
    return words->scales ? words->scales : (uint8_t)(products / EACH);
}

/* Returns how many groups of lanes have metadata, of which a selector names one. `from` gets the operand of the
 * instruction for each one of the operation. */
static uint32_t make_form(lw_matrix_form *form, const lw_match *match, uint8_t from[LW_MMA_OPERANDS]) {
    const lw_matrix_words *words = &match->matrices;
    lw_held held[LW_HELD_MOST];
    lw_fragment_kind kind;
    const uint32_t count = lw_matrices_held(match, held, &kind);
    uint32_t selectors = 0;
    memset(form, 0, sizeof *form); /* it is compared */
    form->m = words->shape.m, form->n = words->shape.n, form->k = words->shape.k;
    form->how = match->how;
    form->exclusive = match->mode.op == LW_MOD_xor;
    form->of_kind = words->of_kind;
    for (uint32_t h = 0; h < count; h++) {
        const uint32_t k = operand_of(&held[h]);
        from[k] = held[h].operand;
        form->of[k].registers = held[h].registers;
        form->of[k].element = held[h].element;
        form->of[k].bits = held[h].bits;
        form->of[k].map = lw_fragment_map_of(held[h].fragment, held[h].bits, strides_of(&held[h]));
        if (k == LW_MMA_E) selectors = held[h].sets;
    }
    if (form->of[LW_MMA_SA].registers) form->scales = scales_of(form, words);
    const uint8_t d = form->of[LW_MMA_D].element, c = form->of[LW_MMA_C].element;
    if (d != LW_ELEMENT_s32 && !(d == LW_ELEMENT_f16 && c == LW_ELEMENT_f32))
        form->how &= LW_FLOAT_ROUNDING; /* .satfinite changes nothing of these on an H200 */
    form->kind = (uint8_t)kind;
    form->sets = held[LW_MMA_D].sets;
    return selectors;
}

static lw_class class_of(const lw_matrix_form *form, uint32_t operand) {
    return form->of[operand].bits == 64 ? LW_CLASS_64 : LW_CLASS_32;
}

/* Where the constants have it; as a rule one product is like the last one. */
static uint32_t place_form(lw_lower *l, const lw_matrix_form *form) {
    const uint32_t last = l->ptx->matrix_form;
    if (last != LW_NO_SLOT && !memcmp(l->constants.at + last, form, sizeof *form)) return last;
    return l->ptx->matrix_form = lw_lower_constants(l, form, sizeof *form);
}

static uint32_t word(lw_lower *l, uint32_t value) { return lw_lower_const(l, LW_CLASS_32, value); }
static uint32_t wide(lw_lower *l, uint64_t value) { return lw_lower_const(l, LW_CLASS_64, value); }
static uint32_t both(lw_lower *l, lw_lane_id lane, uint32_t a, uint32_t b) {
    return lw_lower_lane(l, lane, a, b, LW_NO_SLOT);
}

/* The four selectors of scale factors in one word, each behind its factors as two elements; larger ones stay too large.
 */
static uint32_t selectors_of(lw_lower *l, const lw_instruction *i, const uint8_t from[LW_MMA_OPERANDS]) {
    enum { MOST = (1u << LW_SCALE_BITS) - 1 };
    uint32_t all = word(l, 0);
    for (uint32_t k = 0; k < LW_SCALE_SELECTORS && !l->failed; k++) {
        const uint32_t operand = from[k < 2 ? LW_MMA_SA : LW_MMA_SB] + 1u;
        const uint32_t one = lw_lower_resize(l, register_of(l, i, operand, k % 2, LW_CLASS_16), LW_CLASS_32, false);
        const uint32_t part = both(l, LW_LANE_min_u32, one, word(l, MOST));
        all = both(l, LW_LANE_or_b32, all, both(l, LW_LANE_shl_b32, part, word(l, k * LW_SCALE_BITS)));
    }
    return all;
}

/* What is not known until the launch is looked at then. */
static void check_selectors(lw_lower *l, const lw_matrix_form *form, uint32_t selectors) {
    const lw_register *known = &l->vregs.at[selectors];
    if (known->is_const && lw_scale_selectors_fit((uint32_t)known->value, form->scales)) return;
    lw_op *op = lw_lower_op(l, LW_OP_selectors);
    op->a = selectors, op->c = form->scales;
}

static void multiply(lw_lower *l, const lw_instruction *i) {
    enum { MOST = 16 }; /* registers of an operand */
    lw_matrix_form form;
    uint8_t from[LW_MMA_OPERANDS];
    uint32_t listed[LW_MMA_OPERANDS * MOST], count = 0, scales = LW_NO_SLOT;
    const uint32_t selectors = make_form(&form, i->match, from);
    if (selectors) {
        const uint64_t selector = i->operands[SELECTOR].value;
        if (selector >= selectors) {
            lw_lower_unsupported(l, &i->operands[SELECTOR]);
            return;
        }
        form.selector = (uint8_t)selector;
    }
    for (uint32_t k = 0; k < LW_MMA_OPERANDS; k++)
        for (uint32_t r = 0; r < form.of[k].registers && !l->failed; r++)
            listed[count++] = register_of(l, i, from[k], r, class_of(&form, k));
    if (form.scales && !l->failed) listed[count++] = scales = selectors_of(l, i, from);
    if (l->failed) return;
    lw_lower_come_together(l);
    if (form.scales) check_selectors(l, &form, scales);
    const uint32_t first = l->lists.count;
    for (uint32_t k = 0; k < count; k++) LW_PUSH(l->arena, l->lists) = listed[k];
    const uint32_t at = place_form(l, &form);
    lw_op *op = lw_lower_op(l, LW_OP_mma);
    op->d = first, op->a = form.of[LW_MMA_D].registers, op->b = count - op->a, op->imm = at;
    op->c = lw_memory_pack((lw_memory_form){.slot = (uint32_t)class_of(&form, LW_MMA_D)});
}

void lw_lower_mma(lw_lower *l, const lw_instruction *i) { multiply(l, i); }
void lw_lower_wmma(lw_lower *l, const lw_instruction *i) { multiply(l, i); }

/* ---- ldmatrix, stmatrix, movmatrix ------------------------------------------------------------------------------- */

static uint32_t move_of(const lw_match *match) {
    const lw_matrix_words *words = &match->matrices;
    const bool columns = match->mode.transposed == LW_MOD_trans, bytes = words->shape.m == 16;
    return (columns ? LW_MOVE_COLUMNS : 0) | (bytes ? LW_MOVE_BYTES : 0) | (words->unpacked == 6 ? LW_MOVE_OF_6 : 0) |
           (words->unpacked == 4 ? LW_MOVE_OF_4 : 0);
}

static void move_matrices(lw_lower *l, const lw_instruction *i, uint16_t code, uint32_t matrices, uint32_t address) {
    const uint32_t count = count_of(i, matrices);
    lw_memory_form form = {.size = 2, .vector = (uint32_t)__builtin_ctz(count), .slot = LW_CLASS_32};
    lw_op at = {.a = LW_NO_SLOT};
    uint32_t listed[LW_VECTOR_MOST];
    for (uint32_t k = 0; k < count && !l->failed; k++) listed[k] = register_of(l, i, matrices, k, LW_CLASS_32);
    if (l->failed || !lw_lower_address(l, &at, &i->operands[address], i->match, &form)) return;
    lw_lower_come_together(l);
    at.d = listed[0];
    if (count > 1) at.d = l->lists.count;
    for (uint32_t k = 0; count > 1 && k < count; k++) LW_PUSH(l->arena, l->lists) = listed[k];
    lw_op *op = lw_lower_op(l, code);
    op->d = at.d, op->a = at.a, op->imm = at.imm;
    op->c = lw_memory_pack(form);
    op->e = move_of(i->match);
}

void lw_lower_ldmatrix(lw_lower *l, const lw_instruction *i) { move_matrices(l, i, LW_OP_ldmatrix, 0, 1); }
void lw_lower_stmatrix(lw_lower *l, const lw_instruction *i) { move_matrices(l, i, LW_OP_stmatrix, 1, 0); }

void lw_lower_movmatrix(lw_lower *l, const lw_instruction *i) {
    const uint32_t a = register_of(l, i, 1, 0, LW_CLASS_32), d = register_of(l, i, 0, 0, LW_CLASS_32);
    if (l->failed) return;
    lw_lower_come_together(l);
    lw_op *op = lw_lower_op(l, LW_OP_movmatrix);
    op->d = d, op->a = a;
}

/* ---- wmma.load, wmma.store --------------------------------------------------------------------------------------- */

/* A matrix in memory, and what a lane has of it. Its lines are rows, or columns where these have their elements side by
 * side. */
typedef struct tile {
    const lw_fragment *fragment;
    uint32_t bits, registers; /* of an element; of a lane */
    bool by_column;
    uint32_t stride; /* from line to line, in elements: 64 bits; LW_NO_SLOT: `apart` says it */
    uint64_t apart;
    lw_memory_form form;
    uint64_t offset;               /* of all of it */
    uint32_t lines[LW_WARP_LANES]; /* 1 + what the lane's first element would have for an address, were it so many lines
                                      on; 0: nobody has asked */
} tile;

static bool is_of_lane(uint8_t bit) { return bit >= LW_BIT_L0 && bit < LW_BIT_R0; }

/* The row or column of the first element of a lane: neighbouring bits of its number together. 64 bits. */
static uint32_t place_of_lane(lw_lower *l, const tile *t, const uint8_t *bits, uint32_t lane) {
    uint32_t sum = word(l, 0), at = 0;
    for (uint32_t i = 0, run; bits[i] != LW_BIT_end; i += run) {
        for (run = 1; is_of_lane(bits[i]) && bits[i + run] == bits[i] + run && is_of_lane(bits[i + run]);) run++;
        if (is_of_lane(bits[i])) {
            uint32_t part = both(l, LW_LANE_shr_u32, lane, word(l, bits[i] - (uint32_t)LW_BIT_L0));
            part = both(l, LW_LANE_and_b32, part, word(l, (1u << run) - 1));
            sum = both(l, LW_LANE_or_b32, sum, both(l, LW_LANE_shl_b32, part, word(l, at)));
        }
        at += bits[i] == LW_BIT_E ? lw_log2(lw_fragment_elements(t->bits)) : run;
    }
    return lw_lower_resize(l, sum, LW_CLASS_64, false);
}

/* So many elements in bytes. */
static uint32_t in_bytes(lw_lower *l, const tile *t, uint32_t elements) {
    const uint32_t bits = both(l, LW_LANE_shl_b64, elements, word(l, lw_log2(t->bits)));
    return both(l, LW_LANE_shr_u64, bits, word(l, 3));
}

static uint32_t stride_of(lw_lower *l, const tile *t) {
    return t->stride == LW_NO_SLOT ? wide(l, t->apart) : t->stride;
}

/* Where the lane's first element lies. */
static uint32_t place_first(lw_lower *l, const tile *t, uint32_t base) {
    const uint32_t lane = lw_lower_special(l, LW_SPECIAL_laneid);
    const uint32_t row = place_of_lane(l, t, t->fragment->rows, lane),
                   column = place_of_lane(l, t, t->fragment->columns, lane);
    const uint32_t line = both(l, LW_LANE_mul_lo_b64, t->by_column ? column : row, stride_of(l, t));
    return both(l, LW_LANE_add_b64, base, in_bytes(l, t, both(l, LW_LANE_add_b64, line, t->by_column ? row : column)));
}

/* Operand `at` is the address, `at` + 2 or + 1 the stride, unless elements of a line are followed by those of the
 * next. False: diagnosed. */
static bool make_tile(lw_lower *l, const lw_instruction *i, uint32_t address, tile *t) {
    const lw_matrix_words *words = &i->match->matrices;
    lw_held held[LW_HELD_MOST];
    lw_matrices_held(i->match, held, NULL);
    *t = (tile){.fragment = held->fragment, .bits = held->bits, .registers = held->registers, .stride = LW_NO_SLOT};
    t->by_column = words->layouts[0] == LW_LAYOUT_column;
    t->apart = t->by_column ? held->rows : held->columns;
    lw_op at = {.a = LW_NO_SLOT};
    if (i->operand_count > 2) {
        t->stride = lw_lower_read(l, &i->operands[2], LW_T_u32);
        if (l->failed) return false;
        t->stride = lw_lower_resize(l, t->stride, LW_CLASS_64, false);
        const lw_register *stride = &l->vregs.at[t->stride];
        if (stride->is_const) t->apart = stride->value, t->stride = LW_NO_SLOT;
    }
    if (!lw_lower_address(l, &at, &i->operands[address], i->match, &t->form)) return false;
    if (t->form.frame) lw_lower_take_address(l, (uint32_t)lw_lower_var(l, i->operands[address].parts[0].object));
    lw_lower_come_together(l);
    t->offset = at.imm;
    t->lines[0] = 1 + place_first(l, t, t->form.address ? lw_lower_resize(l, at.a, LW_CLASS_64, false) : wide(l, 0));
    t->form.address = 2;
    return true;
}

/* One element, or all of a register. */
typedef struct piece {
    uint32_t address; /* 64 bits */
    uint64_t offset;
} piece;

static piece find_piece(lw_lower *l, tile *t, uint32_t reg, uint32_t element) {
    const lw_fragment_place place = lw_fragment_at(t->fragment, t->bits, 0, reg, element);
    uint32_t line = t->by_column ? place.column : place.row;
    uint64_t offset = t->by_column ? place.row : place.column;
    if (t->stride == LW_NO_SLOT) offset += line * t->apart, line = 0;
    if (!t->lines[line]) {
        const uint32_t lines = both(l, LW_LANE_mul_lo_b64, t->stride, wide(l, line));
        t->lines[line] = 1 + both(l, LW_LANE_add_b64, t->lines[0] - 1, in_bytes(l, t, lines));
    }
    return (piece){t->lines[line] - 1, t->offset + offset * t->bits / 8};
}

static void access(lw_lower *l, const tile *t, uint16_t code, piece piece, uint32_t bits, uint32_t value) {
    lw_memory_form form = t->form;
    form.size = lw_log2(bits / 8);
    form.slot = l->vregs.at[value].class;
    const uint32_t hint = lw_lower_hint(l, form, piece.address);
    lw_op *op = lw_lower_op(l, code);
    op->d = value, op->a = piece.address, op->imm = piece.offset, op->e = hint;
    op->c = lw_memory_pack(form);
}

/* The elements of a register are neighbours in memory. */
static bool is_together(const tile *t) {
    const uint8_t first = t->by_column ? t->fragment->rows[0] : t->fragment->columns[0];
    return lw_fragment_elements(t->bits) == 1 || first == LW_BIT_E;
}

static uint32_t load(lw_lower *l, tile *t, uint32_t reg) {
    if (is_together(t)) {
        const uint32_t bits = t->bits < 32 ? 32 : t->bits,
                       value = lw_lower_vreg(l, bits == 64 ? LW_CLASS_64 : LW_CLASS_32);
        access(l, t, LW_OP_ld, find_piece(l, t, reg, 0), bits, value);
        return value;
    }
    const uint32_t count = lw_fragment_elements(t->bits);
    uint32_t parts[4];
    for (uint32_t e = 0; e < count; e++) {
        parts[e] = lw_lower_vreg(l, LW_CLASS_16);
        access(l, t, LW_OP_ld, find_piece(l, t, reg, e), t->bits, parts[e]);
    }
    if (count == 2) return both(l, LW_LANE_pack_b32_b16, parts[0], parts[1]);
    return both(l, LW_LANE_pack_b32_b16, both(l, LW_LANE_pack_b16_b8, parts[0], parts[1]),
                both(l, LW_LANE_pack_b16_b8, parts[2], parts[3]));
}

/* The first register that holds the same. */
static uint32_t same_as(const tile *t, uint32_t reg) {
    const lw_fragment_place place = lw_fragment_at(t->fragment, t->bits, 0, reg, 0);
    for (uint32_t r = 0; r < reg; r++) {
        const lw_fragment_place other = lw_fragment_at(t->fragment, t->bits, 0, r, 0);
        if (other.row == place.row && other.column == place.column) return r;
    }
    return reg;
}

/* All is read before any register is written, which may have address or stride. */
void lw_lower_wmma_load(lw_lower *l, const lw_instruction *i) {
    tile t;
    uint32_t values[LW_WARP_LANES];
    if (!make_tile(l, i, 1, &t)) return;
    for (uint32_t r = 0; r < t.registers; r++) {
        const uint32_t same = same_as(&t, r);
        values[r] = same < r ? values[same] : load(l, &t, r);
    }
    for (uint32_t r = 0; r < t.registers && !l->failed; r++) {
        const uint32_t d = register_of(l, i, 0, r, l->vregs.at[values[r]].class);
        if (!l->failed) lw_lower_move(l, d, values[r]);
    }
}

static void store(lw_lower *l, tile *t, uint32_t reg, uint32_t value) {
    if (is_together(t)) {
        access(l, t, LW_OP_st, find_piece(l, t, reg, 0), t->bits < 32 ? 32 : t->bits, value);
        return;
    }
    static const lw_lane_id halves[] = {LW_LANE_low_b16_b32, LW_LANE_high_b16_b32};
    for (uint32_t e = 0; e < 2; e++)
        access(l, t, LW_OP_st, find_piece(l, t, reg, e), t->bits, both(l, halves[e], value, LW_NO_SLOT));
}

void lw_lower_wmma_store(lw_lower *l, const lw_instruction *i) {
    tile t;
    uint32_t values[LW_WARP_LANES];
    const lw_class class = lw_elements[i->match->matrices.elements[0]].bits == 64 ? LW_CLASS_64 : LW_CLASS_32;
    for (uint32_t r = 0; r < count_of(i, 1) && !l->failed; r++) values[r] = register_of(l, i, 1, r, class);
    if (l->failed || !make_tile(l, i, 0, &t)) return;
    for (uint32_t r = 0; r < t.registers; r++) store(l, &t, r, values[r]);
}
