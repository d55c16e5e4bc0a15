/* wgmma.c: products of the matrices of a warpgroup, four warps (manual section 9.7.15).
 *
 * The warps meet first, and each gets its 16 rows of d then, from the frame that it came with. Matrices in shared
 * memory are read when all have come: what a warp does behind the instruction no other one can miss. A gang's lanes are
 * a warpgroup. */
#include "middle/wgmma.h"
#include "run/interp/address.h"
#include "run/interp/sparse.h"

enum {
    ROWS = 16, /* of a warp */
    WARPS = LW_GANG_LANES / LW_WARP_LANES,
    MOST_N = 256,
    UNIT = 16,    /* bytes that stay together in shared memory */
    A_BYTES = 32, /* of a row of a; of one of b twice as many where a is sparse */
    NIBBLES = 16, /* of metadata for a row */
    SELECTORS = 2,
};

/* ---- Descriptors of matrices in shared memory -------------------------------------------------------------------- */

typedef struct place {
    uint32_t start, leading, stride; /* bytes */
    uint32_t row,
        turn; /* of a swizzle: bytes of a row; bits of an address that are turned, by those three above them */
    uint32_t base;
} place;

static place read_descriptor(uint64_t bits) {
    static const uint8_t units[] = {0, 7, 3, 1}; /* by the number of the swizzle */
    const uint32_t swizzle = (uint32_t)(bits >> 62);
    return (place){.start = (bits & 0x3fff) << 4,
                   .leading = (bits >> 16 & 0x3fff) << 4,
                   .stride = (bits >> 32 & 0x3fff) << 4,
                   .row = swizzle ? (units[swizzle] + 1u) * UNIT : 0,
                   .turn = units[swizzle] * (uint32_t)UNIT,
                   .base = bits >> 49 & 7};
}

/* Where unit `unit` of a line is, from the start: of row i along m or n where a line runs along k; and the other way
 * round. */
static uint32_t along_k(const place *p, uint32_t i, uint32_t unit) {
    if (!p->row) return i / 8 * p->stride + unit * p->leading + i % 8 * UNIT;
    return i / 8 * p->stride + i % 8 * p->row + unit * UNIT / p->row * p->leading + unit * UNIT % p->row;
}
static uint32_t across_k(const place *p, uint32_t k, uint32_t unit) {
    if (!p->row) return unit * p->stride + k / 8 * p->leading + k % 8 * UNIT;
    return unit * UNIT / p->row * p->leading + k / 8 * p->stride + k % 8 * p->row + unit * UNIT % p->row;
}

/* The unit on the host. NULL: trapped. */
static const char *unit_at(lw_gang *gang, const lw_op *op, uint32_t lane, const place *p, uint32_t offset) {
    const uint32_t at = p->start + offset, address = at ^ ((at - p->base * 128) >> 3 & p->turn);
    const lw_cta *cta = gang->cta;
    if (LW_LIKELY(address + UNIT <= cta->shared_bytes)) return cta->shared + address;
    return lw_address_place(gang, op, LW_ACCESS_load, LW_WINDOW_shared, lane, address, UNIT, UNIT);
}

/* `count` rows of `bytes` bytes along k. False: trapped. */
LW_RACY static bool load_rows(lw_gang *gang, const lw_op *op, uint32_t lane, const place *p, uint32_t first,
                              uint32_t count, uint32_t bytes, char *to) {
    for (uint32_t i = first; i < first + count; i++)
        for (uint32_t unit = 0; unit < bytes / UNIT; unit++, to += UNIT) {
            const char *from = unit_at(gang, op, lane, p, along_k(p, i, unit));
            if (!from) return false;
            memcpy(to, from, UNIT);
        }
    return true;
}

/* The same of elements of 16 bits that lie side by side along m or n. */
LW_RACY static bool load_columns(lw_gang *gang, const lw_op *op, uint32_t lane, const place *p, uint32_t first,
                                 uint32_t count, uint32_t bytes, char *to) {
    enum { EACH = UNIT / 2 };
    const uint32_t length = bytes / 2;
    uint16_t *rows = (uint16_t *)(void *)to;
    for (uint32_t k = 0; k < length; k++)
        for (uint32_t i = 0; i < count; i += EACH) {
            uint16_t elements[EACH];
            const char *from = unit_at(gang, op, lane, p, across_k(p, k, (first + i) / EACH));
            if (!from) return false;
            memcpy(elements, from, UNIT);
            for (uint32_t e = 0; e < EACH; e++) rows[(i + e) * length + k] = elements[e];
        }
    return true;
}

static bool load_matrix(lw_gang *gang, const lw_op *op, uint32_t lane, uint64_t descriptor, bool transposed,
                        uint32_t first, uint32_t count, uint32_t bytes, char *to) {
    const place p = read_descriptor(descriptor);
    return transposed ? load_columns(gang, op, lane, &p, first, count, bytes, to)
                      : load_rows(gang, op, lane, &p, first, count, bytes, to);
}

/* ---- Registers --------------------------------------------------------------------------------------------------- */

/* Of one warp. */
typedef struct registers {
    char *regs; /* of the frame */
    const uint32_t *slots;
    uint32_t first; /* lane */
} registers;

static uint32_t *words_of(const registers *r, uint32_t number) {
    return (uint32_t *)(void *)(r->regs + r->slots[number]) + r->first;
}

static uint64_t descriptor_of(const registers *r, uint32_t number) {
    return *words_of(r, number) | (uint64_t)*words_of(r, number + 1) << 32;
}

/* Between registers and an array of elements of so many bits, of which a register's lie side by side there. */
static void copy_registers(const registers *r, uint32_t from, uint32_t count, const lw_fragment_map *map, uint32_t bits,
                           char *array, bool back) {
    for (uint32_t k = 0; k < count; k++) {
        const uint32_t at = lw_fragment_sum(map->reg, k);
        uint32_t *words = words_of(r, from + k);
        for (uint32_t lane = 0; lane < LW_WARP_LANES; lane++) {
            char *there = array + (at + lw_fragment_sum(map->lane, lane)) * bits / 8;
            memcpy(back ? (char *)&words[lane] : there, back ? there : (const char *)&words[lane], sizeof *words);
        }
    }
}

/* ---- Sparse a ---------------------------------------------------------------------------------------------------- */

/* Nibbles of metadata, a byte each, for a warp's rows. */
static void read_metadata(const lw_wgmma_form *form, const uint32_t *words, uint8_t to[SELECTORS * ROWS * NIBBLES]) {
    for (uint32_t lane = 0; lane < LW_WARP_LANES; lane++)
        for (uint32_t e = 0; e < 8; e++)
            to[lw_fragment_sum(form->map_e.lane, lane) + lw_fragment_sum(form->map_e.element, e)] =
                words[lane] >> 4 * e & 15;
}

/* The elements of b that go with those which a row of a has. */
static void select_row(const lw_wgmma_form *form, const uint8_t *nibbles, const char *b, char *to) {
    const uint32_t bytes = lw_elements[form->b].bits / 8, stored = form->k / 2;
    for (uint32_t n = 0; n < form->n; n++, b += form->k * bytes)
        for (uint32_t k = 0; k < stored; k++, to += bytes) lw_sparse_element(nibbles, 8 * bytes, k, b, to);
}

/* ---- The product ------------------------------------------------------------------------------------------------- */

typedef struct arrays {
    _Alignas(64) char a[ROWS * A_BYTES], b[MOST_N * 2 * A_BYTES], selected[MOST_N * A_BYTES], d[ROWS * MOST_N * 4];
    uint8_t nibbles[SELECTORS * ROWS * NIBBLES];
    uint64_t b_of; /* the descriptor that b is of … */
    bool has_b;    /* … if it is */
} arrays;

static lw_matrix_kind kind_of(const lw_wgmma_form *form) {
    lw_matrix_kind kind = {.rule = LW_MATRIX_block,
                           .a_type = lw_matrix_type_of[form->a],
                           .b_type = lw_matrix_type_of[form->b],
                           .c_type = lw_matrix_type_of[form->d],
                           .d_type = lw_matrix_type_of[form->d],
                           .cut = LW_MATRIX_CUT,
                           .m = ROWS,
                           .n = form->n,
                           .k = form->sparse ? form->k / 2 : form->k,
                           .negate_a = form->negate_a,
                           .negate_b = form->negate_b,
                           .saturate = form->saturates};
    if (form->a == LW_ELEMENT_e4m3 || form->a == LW_ELEMENT_e5m2) kind.cut = LW_MATRIX_CUT_WGMMA_FP8;
    if (form->a == LW_ELEMENT_s8 || form->a == LW_ELEMENT_u8) kind.rule = LW_MATRIX_integer;
    if (form->a == LW_ELEMENT_b1) kind.rule = LW_MATRIX_bits;
    return kind;
}

static void multiply(const lw_gang *gang, const lw_wgmma_form *form, const uint8_t *nibbles, arrays *t, bool adds) {
    const lw_program *program = gang->cta->program;
    lw_matrix_kind kind = kind_of(form);
    if (!form->sparse) {
        program->multiply(&kind, t->a, t->b, adds ? t->d : NULL, t->d);
        return;
    }
    kind.m = 1;
    for (uint32_t row = 0; row < ROWS; row++) {
        char *d = t->d + row * form->n * lw_elements[form->d].bits / 8;
        select_row(form, nibbles + row * lw_wgmma_nibbles(form), t->b, t->selected);
        program->multiply(&kind, t->a + row * A_BYTES, t->selected, adds ? d : NULL, d);
    }
}

/* Of one warp, whose registers are in this frame. False: trapped. */
static bool multiply_warp(lw_gang *gang, const lw_frame *frame, const lw_op *op, uint32_t warp, arrays *t) {
    const lw_wgmma_form *form = lw_wgmma_form_of(frame->code, op);
    const registers r = {frame->regs, frame->code->slots + op->d, LW_WARP_LANES * warp};
    const uint32_t of_a = op->a, of_b = of_a + (form->in_registers ? LW_WGMMA_REGISTERS : 2), of_d = of_b + 2,
                   d_bits = lw_elements[form->d].bits;
    const uint64_t b = descriptor_of(&r, of_b);
    if (!t->has_b || t->b_of != b)
        t->has_b = load_matrix(gang, op, r.first, t->b_of = b, form->transposed_b, 0, form->n,
                               form->sparse ? 2 * A_BYTES : A_BYTES, t->b);
    if (!t->has_b) return false;
    if (form->in_registers)
        copy_registers(&r, of_a, LW_WGMMA_REGISTERS, &form->map_a, lw_elements[form->a].bits, t->a, false);
    else if (!load_matrix(gang, op, r.first, descriptor_of(&r, of_a), form->transposed_a, ROWS * warp, ROWS, A_BYTES,
                          t->a))
        return false;
    if (form->sparse) read_metadata(form, words_of(&r, of_d + op->a), t->nibbles);
    const bool adds = lw_mask_warp(*(const lw_mask *)(const void *)(frame->regs + op->e), warp) & 1;
    if (adds) copy_registers(&r, of_d, op->a, &form->map_d, d_bits, t->d, false);
    multiply(gang, form, t->nibbles + form->selector * ROWS * lw_wgmma_nibbles(form), t, adds);
    lw_clear_upper_halves(gang);
    copy_registers(&r, 0, op->a, &form->map_d, d_bits, t->d, true);
    return true;
}

static bool multiply_warps(lw_gang *gang, const lw_frame *frame, const lw_op *op, lw_mask lanes, arrays *t) {
    for (uint32_t warp = 0; warp < WARPS; warp++)
        if (lw_mask_warp(lanes, warp) && !multiply_warp(gang, frame, op, warp, t)) return false;
    return true;
}

/* ---- Four warps -------------------------------------------------------------------------------------------------- */

/* Lanes that came before; *same: to this product, from wherever (docs/decisions/0009). */
static lw_mask who_waits(const lw_gang *gang, const lw_op *op, bool *same) {
    const lw_wgmma_form *form = lw_wgmma_form_of(gang->frame->code, op);
    lw_mask lanes = 0;
    for (uint32_t i = 0; i < gang->waits.count; i++) {
        const lw_wait *wait = &gang->waits.at[i];
        if (wait->barrier != LW_GROUP_WAIT) continue;
        lanes |= wait->lanes;
        *same &= !memcmp(lw_wgmma_form_of(wait->frame->code, wait->op), form, sizeof *form);
    }
    return lanes;
}

static const lw_op *trap(lw_gang *gang, const lw_op *op, uint32_t count) {
    return lw_gang_trap(gang, op, LW_TRAP_warpgroup, lw_mask_first(gang->mask), (lw_trap_record){.detail = count});
}

const lw_op *lw_step_wgmma(lw_gang *gang, const lw_op *op) {
    arrays t;
    bool same = true;
    t.has_b = false;
    if (LW_LIKELY(gang->mask == LW_MASK_ALL)) {
        lw_clear_upper_halves(gang);
        return multiply_warps(gang, gang->frame, op, gang->mask, &t) ? lw_go_on(gang, op) : NULL;
    }
    const lw_mask came = who_waits(gang, op, &same) | gang->mask;
    if (lw_live_lanes(gang) != LW_MASK_ALL) return trap(gang, op, lw_mask_count(lw_live_lanes(gang)));
    if (!same) return trap(gang, op, lw_mask_count(gang->mask));
    if (!lw_gang_add_wait(gang, op, LW_GROUP_WAIT, gang->mask))
        return lw_gang_trap(gang, op, LW_TRAP_memory, lw_mask_first(gang->mask), (lw_trap_record){0});
    if (came != LW_MASK_ALL) return lw_gang_select(gang);
    lw_clear_upper_halves(gang);
    for (uint32_t i = 0; i < gang->waits.count; i++) {
        const lw_wait *wait = &gang->waits.at[i];
        if (wait->barrier == LW_GROUP_WAIT && !multiply_warps(gang, wait->frame, wait->op, wait->lanes, &t))
            return NULL;
    }
    lw_gang_release(gang, LW_GROUP_WAIT, NULL);
    return lw_gang_select(gang);
}
