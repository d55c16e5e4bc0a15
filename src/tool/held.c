/* held.c: who holds which element of a matrix, in formulas: rows and columns are made of bits of the lane's number and
 * of the element's among those that the lane has. */
#include "tool/held.h"

void lw_held_print_name(lw_text *out, const lw_match *match, const lw_held *held) {
    const lw_operand_form *form = &match->operand_forms[held->operand];
    lw_text_add(out, form->name, form->name_size);
}

void lw_held_print_size(lw_text *out, const lw_held *held) {
    if (held->sets > 1) lw_text_printf(out, "%u times ", held->sets);
    lw_text_printf(out, "%u x %u of ", held->rows, held->columns);
    if (held->is == LW_MATRIX_E) lw_text_puts(out, "nibbles of metadata");
    else if (held->element) lw_text_puts(out, lw_elements[held->element].name);
    else lw_text_printf(out, "b%u", held->bits);
    /* .kind::f8f6f4 */
    if (held->element == LW_ELEMENT_e2m1 && held->bits == 8) lw_text_puts(out, " in bits 2 to 5 of bytes");
    else if (held->element && lw_elements[held->element].bits < held->bits && held->bits == 8)
        lw_text_puts(out, " in bytes");
}

const char *lw_held_set_name(const lw_held *held) {
    switch ((lw_matrix_operand)held->is) {
    case LW_MATRIX_E: return "selector";
    case LW_MATRIX_SA:
    case LW_MATRIX_SB: return "thread-id";
    default: return "matrix";
    }
}

/* ---- Formulas ---------------------------------------------------------------------------------------------------- */

/* Bits of one number that stand side by side. */
typedef struct run {
    char of; /* l lane, i element of the lane */
    uint32_t first, size;
} run;

static run run_of(lw_bit bit, uint32_t element_bits) {
    if (bit == LW_BIT_E) return (run){'i', 0, element_bits};
    if (bit >= LW_BIT_W0) return (run){'l', 5 + bit - LW_BIT_W0, 1};
    if (bit >= LW_BIT_E0) return (run){'i', bit - LW_BIT_E0, 1};
    if (bit >= LW_BIT_R0) return (run){'i', bit - LW_BIT_R0 + element_bits, 1};
    return (run){'l', bit - LW_BIT_L0, 1};
}

static void put_run(lw_text *out, run r, uint32_t at) {
    if (at) lw_text_puts(out, " + ");
    if (at) lw_text_printf(out, "%u*", 1u << at);
    lw_text_printf(out, "%c[%u", r.of, r.first + r.size - 1);
    if (r.size > 1) lw_text_printf(out, ":%u", r.first);
    lw_text_puts(out, "]");
}

static void put_formula(lw_text *out, const char *name, const uint8_t *bits, const lw_held *held) {
    const uint32_t element_bits = (uint32_t)__builtin_ctz(lw_fragment_elements(held->bits)),
                   all = held->registers * lw_fragment_elements(held->bits);
    uint32_t at = 0;
    run last = {0};
    lw_text_printf(out, "%s = ", name);
    for (; *bits != LW_BIT_end; bits++) {
        const run r = run_of((lw_bit)*bits, element_bits);
        if (!r.size || (r.of == 'i' && all >> r.first <= 1)) continue; /* the shape has no such bit */
        if (last.size && last.of == r.of && last.first + last.size == r.first) {
            last.size += r.size;
            continue;
        }
        if (last.size) put_run(out, last, at), at += last.size;
        last = r;
    }
    if (last.size) put_run(out, last, at);
    else lw_text_puts(out, "0");
}

void lw_held_explain(lw_text *out, const lw_match *match) {
    lw_held held[LW_HELD_MOST];
    lw_fragment_kind kind;
    const uint32_t count = lw_matrices_held(match, held, &kind);
    if (count && kind == LW_FRAGMENT_WGMMA)
        lw_text_puts(out, "  matrices of a warpgroup: element i of lane l, of 128, by bits of i and l\n");
    else if (count) lw_text_puts(out, "  matrices of a warp: element i of lane l, by bits of i and l\n");
    for (uint32_t k = 0; k < count; k++) {
        const lw_held *h = &held[k];
        lw_text_puts(out, "    ");
        lw_held_print_name(out, match, h);
        lw_text_puts(out, "  ");
        lw_held_print_size(out, h);
        lw_text_printf(out, ", i to %u: ", h->registers * lw_fragment_elements(h->bits) - 1);
        put_formula(out, "row", h->fragment->rows, h);
        put_formula(out, ", column", h->fragment->columns, h);
        if (h->sets > 1) {
            lw_text_puts(out, ", ");
            put_formula(out, lw_held_set_name(h), h->fragment->sets, h);
        }
        lw_text_puts(out, "\n");
    }
}
