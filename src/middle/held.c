/* held.c: which matrices stand in the operands of wmma, mma, wgmma and the moves that feed them. Lowering makes maps of
 * them, the tool pictures. */
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

/* Small elements have the room that the operand's registers give them: bytes in .kind::f8f6f4. */
static uint32_t room_of(const list *l, uint32_t operand, lw_element element, uint32_t count) {
    enum { WARP_BITS = 32 * 32 };
    const uint32_t bits = lw_elements[element].bits;
    return bits < 8 ? l->match->operand_forms[operand].vector * WARP_BITS / count : bits;
}

static void add_matrix(list *l, uint32_t operand, lw_matrix_operand is, lw_element element, lw_matrix_layout layout,
                       uint32_t k) {
    const lw_matrix_shape s = l->match->matrices.shape;
    const uint32_t rows = is == LW_MATRIX_B ? k : s.m, columns = is == LW_MATRIX_A ? k : s.n,
                   bits = room_of(l, operand, element, rows * columns);
    add(l, operand, is,
        (lw_held){.element = (uint8_t)element,
                  .bits = (uint8_t)bits,
                  .rows = (uint16_t)rows,
                  .columns = (uint16_t)columns,
                  .sets = l->kind == LW_FRAGMENT_QUAD ? 4 : 1},
        layout, bits);
}

/* One register of each lane, of which others than a selector names are there for nothing: its size is what the bits of
 * places number. */
static void add_selected(list *l, uint32_t operand, lw_matrix_operand is, lw_element element, uint32_t bits,
                         uint32_t bits_of_a) {
    add(l, operand, is, (lw_held){.element = (uint8_t)element, .bits = (uint8_t)bits, .registers = 1}, LW_LAYOUT_row,
        bits_of_a);
    lw_held *h = &l->held[l->count - 1];
    const uint32_t all_elements = lw_log2(lw_fragment_elements(bits));
    const struct {
        const uint8_t *of;
        uint16_t *size;
    } parts[] = {{h->fragment->rows, &h->rows}, {h->fragment->columns, &h->columns}, {h->fragment->sets, &h->sets}};
    for (uint32_t i = 0; i < LW_COUNT(parts); i++) {
        uint32_t count = 0;
        for (const uint8_t *bit = parts[i].of; *bit != LW_BIT_end; bit++) count += *bit == LW_BIT_E ? all_elements : 1;
        *parts[i].size = (uint16_t)(1u << count);
    }
}

/* d, a, b, c: the words that stand there, or those of wmma with f16, which has d and c alone. Behind them metadata and
 * its selector; scale factors and theirs, two of both. */
static void add_product(list *l) {
    enum { D, A, B, C, REST, METADATA = 2, SCALES = 4, NIBBLE = 4, BYTE = 8 };
    const lw_matrix_words *words = &l->match->matrices;
    const uint8_t *w = words->elements, f16[] = {w[0], LW_ELEMENT_f16, LW_ELEMENT_f16, w[1]};
    const bool scaled = words->element_count == LW_MATRIX_WORDS,
               sparse = l->match->operands_max > REST + (scaled ? SCALES : 0);
    if (words->element_count == 2) w = f16;
    if (l->match->form->lower == LW_LOWER_mma)
        l->kind = words->shape.m == 8 && w[A] == LW_ELEMENT_f16 ? LW_FRAGMENT_QUAD : LW_FRAGMENT_MMA;
    const uint32_t k = words->shape.k;
    add_matrix(l, D, LW_MATRIX_C, (lw_element)w[D], LW_LAYOUT_row, k);
    add_matrix(l, A, LW_MATRIX_A, (lw_element)w[A], (lw_matrix_layout)words->layouts[0], sparse ? k / 2 : k);
    add_matrix(l, B, LW_MATRIX_B, (lw_element)w[B], (lw_matrix_layout)words->layouts[1], k);
    add_matrix(l, C, LW_MATRIX_C, (lw_element)w[C], LW_LAYOUT_row, k);
    if (sparse) add_selected(l, REST, LW_MATRIX_E, LW_ELEMENT_none, NIBBLE, l->held[A].bits);
    if (!scaled) return;
    const uint32_t scales = sparse ? REST + METADATA : REST;
    add_selected(l, scales, LW_MATRIX_SA, (lw_element)w[REST], BYTE, 0);
    add_selected(l, scales + SCALES / 2, LW_MATRIX_SB, (lw_element)w[REST], BYTE, 0);
}

/* Of a warpgroup: d, and a where it is no matrix in shared memory. Metadata of a sparse one is each warp's own. */
static void add_warpgroup(list *l) {
    enum { D, A, E = 3, NIBBLE = 4, A_REGISTERS = 4 };
    const lw_matrix_words *words = &l->match->matrices;
    const lw_element d = (lw_element)words->elements[0], a = (lw_element)words->elements[1];
    const bool sparse = l->match->mode.sparse;
    add_matrix(l, D, LW_MATRIX_C, d, LW_LAYOUT_row, words->shape.k);
    add(l, A, LW_MATRIX_A,
        (lw_held){.element = (uint8_t)a,
                  .bits = lw_elements[a].bits,
                  .registers = A_REGISTERS,
                  .rows = words->shape.m,
                  .columns = sparse ? words->shape.k / 2 : words->shape.k,
                  .sets = 1},
        LW_LAYOUT_row, lw_elements[a].bits);
    l->kind = LW_FRAGMENT_MMA;
    if (sparse) add_selected(l, E, LW_MATRIX_E, LW_ELEMENT_none, NIBBLE, lw_elements[a].bits);
    l->kind = LW_FRAGMENT_WGMMA;
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

/* Matrices of 8 rows of 16 bytes, or of 16: as they lie in memory, where no .trans turns them. */
static void add_lines(list *l, uint32_t operand, bool transposed) {
    const lw_matrix_shape shape = l->match->matrices.shape;
    const uint32_t registers = l->match->operand_forms[operand].vector, bits = shape.m == 8 && shape.n == 8 ? 16 : 8,
                   each = shape.m == 16 && shape.n == 16 ? 2 : 1;
    add(l, operand, LW_MATRIX_C,
        (lw_held){.bits = (uint8_t)bits,
                  .registers = (uint8_t)registers,
                  .rows = (uint16_t)(8 * each),
                  .columns = (uint16_t)(128 / bits),
                  .sets = (uint16_t)(registers / each)},
        transposed ? LW_LAYOUT_column : LW_LAYOUT_row, bits);
}

uint32_t lw_matrices_held(const lw_match *match, lw_held held[LW_HELD_MOST], lw_fragment_kind *kind) {
    list l = {.match = match, .kind = LW_FRAGMENT_LDMATRIX, .held = held};
    const lw_lowering lower = (lw_lowering)match->form->lower;
    const bool is_store = lower == LW_LOWER_stmatrix || lower == LW_LOWER_wmma_store;
    switch (lower) {
    case LW_LOWER_mma: add_product(&l); break;
    case LW_LOWER_wgmma: l.kind = LW_FRAGMENT_WGMMA, add_warpgroup(&l); break;
    case LW_LOWER_wmma: l.kind = LW_FRAGMENT_WMMA, add_product(&l); break;
    case LW_LOWER_wmma_load:
    case LW_LOWER_wmma_store: l.kind = LW_FRAGMENT_WMMA, add_in_memory(&l, is_store); break;
    case LW_LOWER_ldmatrix:
    case LW_LOWER_stmatrix: add_lines(&l, is_store, match->mode.transposed == LW_MOD_trans); break;
    case LW_LOWER_movmatrix: add_lines(&l, 0, true), add_lines(&l, 1, false); break;
    default: break;
    }
    if (kind) *kind = l.kind;
    return l.count;
}
