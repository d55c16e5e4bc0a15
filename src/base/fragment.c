#include "base/fragment.h"

#include "base/base.h"

const lw_element_row lw_elements[LW_ELEMENT_count] = {
    {"", 0},
#define ELEMENT(name, bits) {#name, bits},
#include "ptx/elements.def"
};

/* What the table calls bits. */
enum {
    L0 = LW_BIT_L0,
    L1,
    L2,
    L3,
    L4,
    R0 = LW_BIT_R0,
    R1,
    R2,
    R3,
    R4,
    R5,
    R6,
    E0 = LW_BIT_E0,
    E1,
    E2,
    W0 = LW_BIT_W0,
    W1,
    E = LW_BIT_E
};
#define ROWS(...) \
    { __VA_ARGS__ }
#define COLUMNS(...) \
    { __VA_ARGS__ }
#define COLUMN LW_LAYOUT_column
const lw_fragment lw_fragments[LW_FRAGMENTS] = {
#define FRAGMENT(kind_, operand_, rows_, ...) \
    {.kind = LW_FRAGMENT_##kind_, .operand = LW_MATRIX_##operand_, .rows = rows_, .columns = __VA_ARGS__},
#include "ptx/fragments.def"
};

static bool fits(uint32_t asked, uint32_t have) { return !asked || asked == have; }

uint32_t lw_fragment_find(lw_fragment_kind kind, lw_matrix_shape shape, lw_matrix_operand operand, uint32_t bits,
                          lw_matrix_layout layout) {
    for (uint32_t i = 0; i < LW_FRAGMENTS; i++) {
        const lw_fragment *f = &lw_fragments[i];
        if (f->kind == kind && f->operand == operand && fits(f->bits, bits) && fits(f->layout, layout) &&
            fits(f->m, shape.m) && fits(f->n, shape.n) && fits(f->k, shape.k))
            return i;
    }
    return LW_FRAGMENTS;
}

/* The bits of an element's place, the lowest first, as they are found in its numbers. */
typedef struct numbers {
    uint32_t lane, reg, element;
    uint32_t element_bits; /* that number an element within its register */
} numbers;

static uint32_t bit_of(const numbers *of, lw_bit bit) {
    if (bit >= LW_BIT_W0) return of->lane >> (5 + bit - LW_BIT_W0) & 1;
    if (bit >= LW_BIT_E0) return of->element >> (bit - LW_BIT_E0) & 1;
    if (bit >= LW_BIT_R0) return of->reg >> (bit - LW_BIT_R0) & 1;
    return of->lane >> (bit - LW_BIT_L0) & 1;
}

static uint32_t number_of(const numbers *of, const uint8_t *bits, uint32_t most) {
    uint32_t value = 0, at = 0;
    for (uint32_t i = 0; i < most && bits[i] != LW_BIT_end; i++) {
        if (bits[i] == LW_BIT_E) value |= of->element << at, at += of->element_bits;
        else value |= bit_of(of, (lw_bit)bits[i]) << at++;
    }
    return value;
}

lw_fragment_place lw_fragment_at(const lw_fragment *f, uint32_t bits, uint32_t lane, uint32_t reg, uint32_t element) {
    const numbers of = {lane, reg, element, lw_log2(lw_fragment_elements(bits))};
    return (lw_fragment_place){number_of(&of, f->rows, sizeof f->rows), number_of(&of, f->columns, sizeof f->columns),
                               number_of(&of, f->sets, sizeof f->sets)};
}

lw_fragment_map lw_fragment_map_of(const lw_fragment *f, uint32_t bits, lw_fragment_place strides) {
    lw_fragment_map map;
    const struct {
        uint16_t *to;
        uint32_t count;
    } parts[] = {{map.lane, LW_COUNT(map.lane)}, {map.reg, LW_COUNT(map.reg)}, {map.element, LW_COUNT(map.element)}};
    for (uint32_t p = 0; p < LW_COUNT(parts); p++)
        for (uint32_t i = 0; i < parts[p].count; i++) {
            const uint32_t bit = 1u << i, is_there = p < 2 || bit < lw_fragment_elements(bits);
            const lw_fragment_place at =
                lw_fragment_at(f, bits, p == 0 ? bit : 0, p == 1 ? bit : 0, p == 2 && is_there ? bit : 0);
            parts[p].to[i] = (uint16_t)(at.row * strides.row + at.column * strides.column + at.set * strides.set);
        }
    return map;
}
