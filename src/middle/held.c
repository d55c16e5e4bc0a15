/* held.c: which matrices stand in the operands of wmma, mma and the moves that feed it. Lowering makes maps of them,
 * the tool pictures. */
#include "middle/held.h"

typedef struct list {
    const lw_match *match;
    lw_fragment_kind kind;
    lw_held *held;
    uint32_t count;
} list;

static void add(list *l, uint32_t operand, lw_matrix_operand is, lw_held held, lw_matrix_layout layout, uint32_t bits) {
    const uint32_t found = lw_fragment_find(l->kind, l->match->matrices.shape, is, bits, layout);
    if (found == LW_FRAGMENTS) lw_bug("no layout of matrix %d with elements of %u bits", is, bits);
    held.fragment = &lw_fragments[found];
    held.operand = (uint8_t)operand, held.is = (uint8_t)is;
    if (!held.registers) held.registers = l->match->operand_forms[operand].vector;
    l->held[l->count++] = held;
}

static void add_matrix(list *l, uint32_t operand, lw_matrix_operand is, lw_element element, lw_matrix_layout layout,
                       uint32_t k) {
    const lw_matrix_shape s = l->match->matrices.shape;
    const uint32_t bits = lw_elements[element].bits, rows = is == LW_MATRIX_B ? k : s.m,
                   columns = is == LW_MATRIX_A ? k : s.n;
    add(l, operand, is,
        (lw_held){.element = (uint8_t)element,
                  .bits = (uint8_t)bits,
                  .rows = (uint16_t)rows,
                  .columns = (uint16_t)columns,
                  .sets = l->kind == LW_FRAGMENT_QUAD ? 4 : 1},
        layout, bits);
}

/* Nibbles that serve elements of a: as many as the bits of their places number. */
static void add_metadata(list *l, lw_element of_a) {
    enum { E = 4, BITS = 4 };
    add(l, E, LW_MATRIX_E, (lw_held){.bits = BITS, .registers = 1}, LW_LAYOUT_row, lw_elements[of_a].bits);
    lw_held *e = &l->held[l->count - 1];
    e->rows = (uint16_t)(1u << strlen((const char *)e->fragment->rows));
    e->columns = (uint16_t)(1u << strlen((const char *)e->fragment->columns));
    e->sets = (uint16_t)(1u << strlen((const char *)e->fragment->sets));
}

/* d, a, b, c: the words that stand there, or those of wmma with f16, which has d and c alone. */
static void add_product(list *l) {
    enum { D, A, B, C };
    const lw_matrix_words *words = &l->match->matrices;
    const uint8_t *w = words->elements, f16[] = {w[0], LW_ELEMENT_f16, LW_ELEMENT_f16, w[1]};
    const bool sparse = l->match->operands_max > C + 1;
    if (words->element_count == 2) w = f16;
    if (l->match->form->lower == LW_LOWER_mma)
        l->kind = words->shape.m == 8 && w[A] == LW_ELEMENT_f16 ? LW_FRAGMENT_QUAD : LW_FRAGMENT_MMA;
    const uint32_t k = words->shape.k;
    add_matrix(l, D, LW_MATRIX_C, (lw_element)w[D], LW_LAYOUT_row, k);
    add_matrix(l, A, LW_MATRIX_A, (lw_element)w[A], (lw_matrix_layout)words->layouts[0], sparse ? k / 2 : k);
    add_matrix(l, B, LW_MATRIX_B, (lw_element)w[B], (lw_matrix_layout)words->layouts[1], k);
    add_matrix(l, C, LW_MATRIX_C, (lw_element)w[C], LW_LAYOUT_row, k);
    if (sparse) add_metadata(l, (lw_element)w[A]);
}

/* .layout says how the matrix lies in memory, and nothing of who holds it. */
static void add_in_memory(list *l, uint32_t operand) {
    const lw_matrix_words *words = &l->match->matrices;
    const uint8_t letter = l->match->mode.matrix;
    const lw_matrix_operand is = letter == LW_MOD_texel_a   ? LW_MATRIX_A
                                 : letter == LW_MOD_texel_b ? LW_MATRIX_B
                                                            : LW_MATRIX_C;
    add_matrix(l, operand, is, (lw_element)words->elements[0], LW_LAYOUT_row, words->shape.k);
}

/* Matrices of 8 rows of 16 bytes: of two-byte elements, as they are numbered where no .trans turns them. */
static void add_eights(list *l, uint32_t operand, uint32_t matrices, bool transposed) {
    add(l, operand, LW_MATRIX_C,
        (lw_held){.bits = 16, .registers = (uint8_t)matrices, .rows = 8, .columns = 8, .sets = (uint16_t)matrices},
        transposed ? LW_LAYOUT_column : LW_LAYOUT_row, 16);
}

uint32_t lw_matrices_held(const lw_match *match, lw_held held[LW_HELD_MOST], lw_fragment_kind *kind) {
    list l = {.match = match, .kind = LW_FRAGMENT_LDMATRIX, .held = held};
    const lw_lowering lower = (lw_lowering)match->form->lower;
    const bool is_store = lower == LW_LOWER_stmatrix || lower == LW_LOWER_wmma_store;
    switch (lower) {
    case LW_LOWER_mma: add_product(&l); break;
    case LW_LOWER_wmma: l.kind = LW_FRAGMENT_WMMA, add_product(&l); break;
    case LW_LOWER_wmma_load:
    case LW_LOWER_wmma_store: l.kind = LW_FRAGMENT_WMMA, add_in_memory(&l, is_store); break;
    case LW_LOWER_ldmatrix:
    case LW_LOWER_stmatrix:
        add_eights(&l, is_store, match->operand_forms[is_store].vector, match->mode.transposed == LW_MOD_trans);
        break;
    case LW_LOWER_movmatrix: add_eights(&l, 0, 1, true), add_eights(&l, 1, 1, false); break;
    default: break;
    }
    if (kind) *kind = l.kind;
    return l.count;
}
