/* mma.c: products of the matrices that warps have in their registers (manual section 9.7.14), and moves of matrices
 * between registers and shared memory.
 *
 * What the lanes have is put together to arrays, which one function multiplies (matrix.h), and the result is given out
 * again. Where each element is says the map of its operand, which lowering made of isa/ptx/fragments.def. */
#include "lanewise/lane/how.h"
#include "middle/matrix.h"
#include "run/interp/address.h"
#include "run/interp/sparse.h"

/* Bytes of an array at most: selected elements of B for each row of A; 16 by 16 elements of 64 bits; metadata; scale
 * factors of a warp. */
enum { MOST_SELECTED = 8192, MOST_BYTES = 2048, MOST_NIBBLES = 1024, MOST_SCALES = 128 };

/* ---- A whole warp ----------------------------------------------------------------------------------------------- */

const lw_op *lw_step_whole(lw_gang *gang, const lw_op *op) {
    for (uint32_t warp = gang->begin / LW_WARP_LANES; warp < gang->lanes / LW_WARP_LANES; warp++) {
        const uint32_t lanes = lw_mask_warp(gang->mask, warp);
        if (lanes && lanes != UINT32_MAX)
            return lw_gang_trap(gang, op, LW_TRAP_warp, LW_WARP_LANES * warp + (uint32_t)__builtin_ctz(lanes),
                                (lw_trap_record){.access = "matrix", .detail = lw_bits_count(lanes)});
    }
    return op + 1;
}

/* `whole` has seen that there are no others. */
#define FOR_WARPS(gang, warp) \
    for (uint32_t warp = 0; warp < LW_GANG_LANES / LW_WARP_LANES; warp++) \
        if (lw_mask_warp((gang)->mask, warp) == UINT32_MAX)

/* ---- Registers and arrays --------------------------------------------------------------------------------------- */

/* One operand of one warp: registers, and an array that has its elements. */
typedef struct operand {
    const lw_fragment_map *map;
    uint32_t bits, registers;
    const uint32_t *slots; /* of its registers */
    char *regs; /* of the frame, where the warp's first lane is in slots of 32 bits; of 64 bits as far again */
    char *array;
    uint32_t lane[LW_WARP_LANES]; /* where the lanes' first elements are */
} operand;

static void place_lanes(operand *o) {
    o->lane[0] = 0;
    for (uint32_t b = 0; b < 5; b++)
        for (uint32_t i = 0; i < 1u << b; i++) o->lane[i + (1u << b)] = o->lane[i] + o->map->lane[b];
}

/* Elements of a register are neighbours in the array, too. */
static bool is_together(const operand *o) {
    const uint32_t elements = lw_fragment_elements(o->bits);
    for (uint32_t b = 0; 1u << b < elements; b++)
        if (o->map->element[b] != 1u << b) return false;
    return true;
}

/* … and four registers of neighbouring lanes. */
static bool is_quad(const operand *o) {
    const uint32_t elements = lw_fragment_elements(o->bits);
    return o->map->lane[0] == elements && o->map->lane[1] == 2 * elements;
}

/* … or two registers' numbers of 32 bits take turns in the array, over four lanes and more: accumulators do. */
static bool is_woven(const operand *o) {
    return o->bits == 32 && o->registers > 1 && o->map->reg[0] == 1 && o->map->lane[0] == 2 && o->map->lane[1] == 4;
}

typedef uint32_t quad __attribute__((vector_size(16), aligned(4), may_alias));

static uint32_t *words_of(const operand *o, uint32_t reg) { return (uint32_t *)(void *)(o->regs + o->slots[reg]); }
static uint64_t *doubles_of(const operand *o, uint32_t reg, uint32_t warp) {
    return (uint64_t *)(void *)(o->regs + o->slots[reg]) + (size_t)LW_WARP_LANES / 2 * warp;
}

/* Eight numbers of 4 bits as bytes. */
static uint64_t widen(uint32_t word, bool is_signed) {
    uint64_t x = word;
    x = (x | x << 16) & 0x0000ffff0000ffff;
    x = (x | x << 8) & 0x00ff00ff00ff00ff;
    x = (x | x << 4) & 0x0f0f0f0f0f0f0f0f;
    return is_signed ? x | (x >> 3 & 0x0101010101010101) * 0xf0 : x;
}

static void gather_doubles(const operand *o, uint32_t warp) {
    uint64_t *to = (uint64_t *)(void *)o->array;
    for (uint32_t r = 0; r < o->registers; r++) {
        const uint64_t *from = doubles_of(o, r, warp);
        uint64_t *at = to + lw_fragment_sum(o->map->reg, r);
        for (uint32_t i = 0; i < LW_WARP_LANES; i++) at[o->lane[i]] = from[i];
    }
}

static void gather_nibbles(const operand *o, bool is_signed) {
    for (uint32_t r = 0; r < o->registers; r++) {
        const uint32_t *from = words_of(o, r);
        char *at = o->array + lw_fragment_sum(o->map->reg, r);
        for (uint32_t i = 0; i < LW_WARP_LANES; i++) {
            const uint64_t bytes = widen(from[i], is_signed);
            memcpy(at + o->lane[i], &bytes, sizeof bytes);
        }
    }
}

static void gather_quads(const operand *o) {
    for (uint32_t r = 0; r < o->registers; r++) {
        const uint32_t *from = words_of(o, r);
        char *at = o->array + lw_fragment_sum(o->map->reg, r) * o->bits / 8;
        for (uint32_t i = 0; i < LW_WARP_LANES; i += 4) memcpy(at + o->lane[i] * o->bits / 8, from + i, 16);
    }
}

static void gather_words(const operand *o) {
    for (uint32_t r = 0; r < o->registers; r++) {
        const uint32_t *from = words_of(o, r);
        char *at = o->array + lw_fragment_sum(o->map->reg, r) * o->bits / 8;
        for (uint32_t i = 0; i < LW_WARP_LANES; i++) memcpy(at + o->lane[i] * o->bits / 8, from + i, 4);
    }
}

static void gather_woven(const operand *o) {
    for (uint32_t r = 0; r < o->registers; r += 2) {
        const quad *even = (const quad *)words_of(o, r), *odd = (const quad *)words_of(o, r + 1);
        uint32_t *at = (uint32_t *)(void *)o->array + lw_fragment_sum(o->map->reg, r);
        for (uint32_t i = 0; i < LW_WARP_LANES / 4; i++) {
            quad *to = (quad *)(at + o->lane[4 * i]);
            to[0] = __builtin_shufflevector(even[i], odd[i], 0, 4, 1, 5);
            to[1] = __builtin_shufflevector(even[i], odd[i], 2, 6, 3, 7);
        }
    }
}

/* Of 16 bits, two in a register, each somewhere else. */
static void gather_halves(const operand *o) {
    uint16_t *to = (uint16_t *)(void *)o->array;
    for (uint32_t r = 0; r < o->registers; r++) {
        const uint32_t *from = words_of(o, r), second = o->map->element[0];
        uint16_t *at = to + lw_fragment_sum(o->map->reg, r);
        for (uint32_t i = 0; i < LW_WARP_LANES; i++)
            at[o->lane[i]] = (uint16_t)from[i], at[o->lane[i] + second] = (uint16_t)(from[i] >> 16);
    }
}

/* Elements of 4 bits that have bytes are in the middle of them. */
static void shift_down(const operand *o) {
    for (uint32_t i = 0; i < o->registers * LW_WARP_LANES; i++) {
        uint32_t four;
        memcpy(&four, o->array + 4 * i, sizeof four);
        four = four >> 2 & 0x0f0f0f0f;
        memcpy(o->array + 4 * i, &four, sizeof four);
    }
}

static void gather(const operand *o, uint32_t warp, bool is_signed) {
    if (o->bits == 64) gather_doubles(o, warp);
    else if (o->bits == 4) gather_nibbles(o, is_signed);
    else if (!is_together(o)) gather_halves(o);
    else if (is_quad(o)) gather_quads(o);
    else if (is_woven(o)) gather_woven(o);
    else gather_words(o);
}

/* The other way. */
static void scatter_doubles(const operand *o, uint32_t warp) {
    for (uint32_t r = 0; r < o->registers; r++) {
        const uint64_t *from = (const uint64_t *)(const void *)o->array + lw_fragment_sum(o->map->reg, r);
        uint64_t *to = doubles_of(o, r, warp);
        for (uint32_t i = 0; i < LW_WARP_LANES; i++) to[i] = from[o->lane[i]];
    }
}

static void scatter_words(const operand *o) {
    for (uint32_t r = 0; r < o->registers; r++) {
        const uint32_t *from = (const uint32_t *)(const void *)o->array + lw_fragment_sum(o->map->reg, r);
        uint32_t *to = words_of(o, r);
        for (uint32_t i = 0; i < LW_WARP_LANES; i++) to[i] = from[o->lane[i]];
    }
}

static void scatter_woven(const operand *o) {
    for (uint32_t r = 0; r < o->registers; r += 2) {
        const uint32_t *at = (const uint32_t *)(const void *)o->array + lw_fragment_sum(o->map->reg, r);
        quad *even = (quad *)words_of(o, r), *odd = (quad *)words_of(o, r + 1);
        for (uint32_t i = 0; i < LW_WARP_LANES / 4; i++) {
            const quad *from = (const quad *)(at + o->lane[4 * i]);
            even[i] = __builtin_shufflevector(from[0], from[1], 0, 2, 4, 6);
            odd[i] = __builtin_shufflevector(from[0], from[1], 1, 3, 5, 7);
        }
    }
}

static void scatter_halves(const operand *o) {
    const uint32_t second = o->map->element[0];
    for (uint32_t r = 0; r < o->registers; r++) {
        const uint16_t *from = (const uint16_t *)(const void *)o->array + lw_fragment_sum(o->map->reg, r);
        uint32_t *to = words_of(o, r);
        for (uint32_t i = 0; i < LW_WARP_LANES; i++)
            to[i] = from[o->lane[i]] | (uint32_t)from[o->lane[i] + second] << 16;
    }
}

static void scatter(const operand *o, uint32_t warp) {
    if (o->bits == 64) scatter_doubles(o, warp);
    else if (is_woven(o)) scatter_woven(o);
    else if (o->bits == 32) scatter_words(o);
    else scatter_halves(o);
}

/* ---- Sparse a --------------------------------------------------------------------------------------------------- */

/* Nibbles of metadata, a byte each: of those lanes that the selector names. */
static void gather_metadata(const operand *o, uint8_t *nibbles) {
    const uint32_t *from = words_of(o, 0);
    for (uint32_t i = 0; i < LW_WARP_LANES; i++)
        for (uint32_t e = 0; e < 8; e++)
            nibbles[o->lane[i] + lw_fragment_sum(o->map->element, e)] = from[i] >> 4 * e & 15;
}

/* For each row of A the columns of B without what it has zeros for: b[m][n][k / 2]. */
static void select(const lw_matrix_form *form, const uint8_t *nibbles, const char *b, char *to) {
    const uint32_t stored = form->k / 2, each = lw_matrix_nibbles(form), bits = form->of[LW_MMA_A].bits;
    const uint32_t bytes = bits == 4 ? 1 : bits / 8;
    for (uint32_t m = 0; m < form->m; m++)
        for (uint32_t n = 0; n < form->n; n++)
            for (uint32_t k = 0; k < stored; k++, to += bytes)
                lw_sparse_element(nibbles + m * each, bits, k, b + n * form->k * bytes, to);
}

/* ---- Scale factors ---------------------------------------------------------------------------------------------- */

const lw_op *lw_step_selectors(lw_gang *gang, const lw_op *op) {
    const uint32_t *selectors = LW_SLOT(gang, uint32_t, op->a);
    FOR_WARPS(gang, warp) {
        const uint32_t first = LW_WARP_LANES * warp, value = selectors[first];
        uint32_t unlike = 0;
        while (unlike < LW_WARP_LANES && selectors[first + unlike] == value) unlike++;
        const bool differ = unlike < LW_WARP_LANES;
        if (differ || !lw_scale_selectors_fit(value, op->c))
            return lw_gang_trap(gang, op, LW_TRAP_selectors, first + (differ ? unlike : 0),
                                (lw_trap_record){.access = "selectors", .detail = value, .size = differ});
    }
    return op + 1;
}

/* Of the lanes that the selector names those bytes that it names: factors[line][each]. */
static void choose_scales(const operand *o, lw_scale_selector selector, uint32_t lines, uint32_t each,
                          uint8_t *factors) {
    const char *from = o->array + 4 * lines * selector.thread + selector.byte;
    for (uint32_t i = 0; i < lines; i++) memcpy(factors + each * i, from + 4 * i, each);
}

/* ---- The product ------------------------------------------------------------------------------------------------ */

const uint8_t lw_matrix_type_of[LW_ELEMENT_count] = {
    [LW_ELEMENT_f16] = LW_MATRIX_f16,   [LW_ELEMENT_bf16] = LW_MATRIX_bf16,   [LW_ELEMENT_tf32] = LW_MATRIX_tf32,
    [LW_ELEMENT_f32] = LW_MATRIX_f32,   [LW_ELEMENT_f64] = LW_MATRIX_f64,     [LW_ELEMENT_e4m3] = LW_MATRIX_e4m3,
    [LW_ELEMENT_e5m2] = LW_MATRIX_e5m2, [LW_ELEMENT_e3m2] = LW_MATRIX_e3m2,   [LW_ELEMENT_e2m3] = LW_MATRIX_e2m3,
    [LW_ELEMENT_e2m1] = LW_MATRIX_e2m1, [LW_ELEMENT_s8] = LW_MATRIX_s8,       [LW_ELEMENT_u8] = LW_MATRIX_u8,
    [LW_ELEMENT_s4] = LW_MATRIX_s8,     [LW_ELEMENT_u4] = LW_MATRIX_u8,       [LW_ELEMENT_b1] = LW_MATRIX_b1,
    [LW_ELEMENT_s32] = LW_MATRIX_s32,   [LW_ELEMENT_ue4m3] = LW_MATRIX_ue4m3, [LW_ELEMENT_ue8m0] = LW_MATRIX_ue8m0,
};

static lw_matrix_rule rule_of(const lw_matrix_form *form) {
    if (form->kind == LW_FRAGMENT_QUAD) return LW_MATRIX_sums;
    switch (form->of[LW_MMA_A].element) {
    case LW_ELEMENT_f64: return LW_MATRIX_fma;
    case LW_ELEMENT_e4m3:
    case LW_ELEMENT_e5m2: return form->of_kind ? LW_MATRIX_block : LW_MATRIX_pairs;
    case LW_ELEMENT_s8:
    case LW_ELEMENT_u8:
    case LW_ELEMENT_s4:
    case LW_ELEMENT_u4: return LW_MATRIX_integer;
    case LW_ELEMENT_b1: return LW_MATRIX_bits;
    default: return LW_MATRIX_block;
    }
}

static lw_matrix_kind kind_of(const lw_matrix_form *form) {
    enum { WMMA_TF32_BLOCK = 4 };
    const bool sparse = form->of[LW_MMA_E].registers,
               halves = form->kind == LW_FRAGMENT_WMMA && form->of[LW_MMA_A].element == LW_ELEMENT_tf32;
    return (lw_matrix_kind){.rule = (uint8_t)rule_of(form),
                            .a_type = lw_matrix_type_of[form->of[LW_MMA_A].element],
                            .b_type = lw_matrix_type_of[form->of[LW_MMA_B].element],
                            .c_type = lw_matrix_type_of[form->of[LW_MMA_C].element],
                            .d_type = lw_matrix_type_of[form->of[LW_MMA_D].element],
                            .rounding = form->how & LW_FLOAT_ROUNDING,
                            .cut = LW_MATRIX_CUT,
                            .m = form->m,
                            .n = form->n,
                            .k = sparse ? form->k / 2 : form->k,
                            .block = halves ? WMMA_TF32_BLOCK : 0,
                            .b_per_row = sparse,
                            .saturate = form->how & LW_FLOAT_FINITE,
                            .exclusive = form->exclusive};
}

typedef struct arrays {
    _Alignas(64) char a[MOST_BYTES], b[MOST_BYTES], c[MOST_BYTES], d[MOST_BYTES], selected[MOST_SELECTED];
    uint8_t nibbles[MOST_NIBBLES];
    char a_scales[MOST_SCALES], b_scales[MOST_SCALES];
} arrays;

/* Operands of a warp, with the places of lanes, which are the same for all warps. Returns the slot behind them: that of
 * selectors, where there are scale factors. */
static uint32_t find_operands(const lw_gang *gang, const lw_op *op, const lw_matrix_form *form, arrays *arrays,
                              operand operands[LW_MMA_OPERANDS]) {
    char *of[LW_MMA_OPERANDS] = {arrays->d,        arrays->a,       arrays->b, arrays->c, (char *)arrays->nibbles,
                                 arrays->a_scales, arrays->b_scales};
    const uint32_t *slots = gang->frame->code->slots + op->d;
    for (uint32_t k = 0; k < LW_MMA_OPERANDS; k++) {
        operands[k] = (operand){.map = &form->of[k].map,
                                .bits = form->of[k].bits,
                                .registers = form->of[k].registers,
                                .slots = slots,
                                .array = of[k]};
        slots += operands[k].registers;
        if (operands[k].registers) place_lanes(&operands[k]);
    }
    return form->scales ? *slots : 0;
}

/* Elements and scale factors of a warp, as the product takes them. */
typedef struct factors {
    lw_matrix_scales of;
    uint8_t a[MOST_SCALES], b[MOST_SCALES];
} factors;

static void find_scales(const lw_matrix_form *form, const operand *operands, uint32_t selectors, uint32_t products,
                        factors *to) {
    const lw_matrix_type type = (lw_matrix_type)lw_matrix_type_of[form->of[LW_MMA_SA].element];
    choose_scales(&operands[LW_MMA_SA], lw_scale_selector_of(selectors, false), form->m, form->scales, to->a);
    choose_scales(&operands[LW_MMA_SB], lw_scale_selector_of(selectors, true), form->n, form->scales, to->b);
    to->of =
        (lw_matrix_scales){.type = (uint8_t)type, .each = (uint16_t)(products / form->scales), .a = to->a, .b = to->b};
}

static void multiply(const lw_gang *gang, const lw_matrix_form *form, const lw_matrix_kind *kind, arrays *arrays) {
    const char *b = arrays->b;
    const size_t a_bytes = lw_matrix_bytes(kind->a_type, (size_t)kind->m * kind->k),
                 b_bytes = lw_matrix_bytes(kind->b_type, (size_t)kind->n * kind->k),
                 c_bytes = lw_matrix_bytes(kind->c_type, (size_t)kind->m * kind->n),
                 d_bytes = lw_matrix_bytes(kind->d_type, (size_t)kind->m * kind->n);
    if (kind->b_per_row) {
        const uint32_t nibbles = form->m * lw_matrix_nibbles(form);
        select(form, arrays->nibbles + form->selector * nibbles, b, arrays->selected);
        b = arrays->selected;
    }
    for (uint32_t set = 0; set < form->sets; set++)
        gang->cta->program->multiply(kind, arrays->a + set * a_bytes, b + set * b_bytes, arrays->c + set * c_bytes,
                                     arrays->d + set * d_bytes);
}

/* Apart from the step, since already what it begins with would wait for the upper halves. */
__attribute__((noinline)) static void multiply_warps(lw_gang *gang, const lw_op *op, const lw_matrix_form *form) {
    lw_matrix_kind kind = kind_of(form);
    arrays arrays;
    factors factors;
    operand operands[LW_MMA_OPERANDS];
    const uint32_t selectors = find_operands(gang, op, form, &arrays, operands);
    if (form->scales) kind.scales = &factors.of;
    FOR_WARPS(gang, warp) {
        for (uint32_t k = 0; k < LW_MMA_OPERANDS; k++) operands[k].regs = gang->regs + 4 * LW_WARP_LANES * warp;
        for (uint32_t k = LW_MMA_A; k <= LW_MMA_C; k++) {
            gather(&operands[k], warp, form->of[k].element == LW_ELEMENT_s4);
            if (form->of[k].element == LW_ELEMENT_e2m1 && operands[k].bits == 8) shift_down(&operands[k]);
        }
        if (kind.b_per_row) gather_metadata(&operands[LW_MMA_E], arrays.nibbles);
        if (form->scales) {
            gather_words(&operands[LW_MMA_SA]);
            gather_words(&operands[LW_MMA_SB]);
            const uint32_t *selector = LW_SLOT(gang, uint32_t, selectors) + LW_WARP_LANES * warp;
            find_scales(form, operands, *selector, kind.k, &factors);
        }
        multiply(gang, form, &kind, &arrays);
        lw_clear_upper_halves(gang);
        scatter(&operands[LW_MMA_D], warp);
    }
}

const lw_op *lw_step_mma(lw_gang *gang, const lw_op *op) {
    lw_clear_upper_halves(gang);
    multiply_warps(gang, op, lw_matrix_form_of(gang->frame->code, op));
    return lw_go_on(gang, op);
}

/* ---- ldmatrix, stmatrix, movmatrix ------------------------------------------------------------------------------ */

enum { ROWS = 8, ROW_BYTES = 16 }; /* a row's four words are in the registers of four neighbouring lanes */

/* Elements of 6 or 4 bits one after the other, as bytes. */
static void unpack(uint8_t to[ROW_BYTES], const char *from, uint32_t move) {
    const uint32_t bits = move & LW_MOVE_OF_6 ? 6 : 4;
    uint64_t low, high;
    memcpy(&low, from, sizeof low);
    memcpy(&high, from + 6, sizeof high);
    for (uint32_t i = 0; i < ROW_BYTES; i++) /* eight of 6 bits are in the first 6 bytes */
        to[i] = (uint8_t)((bits == 4 ? low >> 4 * i : (i < 8 ? low : high) >> 6 * (i % 8)) & ((1u << bits) - 1));
}

static void read_row(uint32_t words[4], const char *from, uint32_t move) {
    if (move & (LW_MOVE_OF_6 | LW_MOVE_OF_4)) unpack((uint8_t *)words, from, move);
    else memcpy(words, from, ROW_BYTES);
}

/* The words of a matrix in the order of lanes that hold its columns. */
static void transpose(uint32_t words[LW_WARP_LANES]) {
    uint16_t rows[ROWS][ROWS], columns[ROWS][ROWS];
    memcpy(rows, words, sizeof rows);
    for (uint32_t i = 0; i < ROWS; i++)
        for (uint32_t k = 0; k < ROWS; k++) columns[k][i] = rows[i][k];
    memcpy(words, columns, sizeof columns);
}

/* The four lines of bytes that a lane with number `quarter` among four has, in the order of columns. */
static uint32_t column_of(const uint8_t (*lines)[ROW_BYTES], uint32_t quarter, uint32_t column) {
    uint8_t four[4];
    for (uint32_t k = 0; k < 4; k++) four[k] = lines[4 * quarter + k][column];
    uint32_t word;
    memcpy(&word, four, sizeof word);
    return word;
}

/* Two registers of each lane, of 16 lines: the first one's columns are 0 to 7. */
static void turn_bytes(uint32_t words[2 * LW_WARP_LANES]) {
    uint8_t lines[2 * ROWS][ROW_BYTES];
    memcpy(lines, words, sizeof lines);
    for (uint32_t r = 0; r < 2; r++)
        for (uint32_t i = 0; i < LW_WARP_LANES; i++)
            words[LW_WARP_LANES * r + i] = column_of(lines, i % 4, i / 4 + 8 * r);
}

/* One register of each lane, the words of four lanes being two columns of 16 rows: lines of these. */
static void turn_pairs(uint32_t words[LW_WARP_LANES]) {
    uint8_t lines[ROWS][ROW_BYTES];
    for (uint32_t i = 0; i < LW_WARP_LANES; i++)
        for (uint32_t k = 0; k < 4; k++) lines[2 * (i % 4) + k % 2][i / 4 + 8 * (k / 2)] = words[i] >> 8 * k & 0xff;
    memcpy(words, lines, sizeof lines);
}

static uint32_t *register_of(const lw_gang *gang, const lw_op *op, uint32_t number, uint32_t warp) {
    const uint32_t slot = lw_memory_unpack(op->c).vector ? gang->frame->code->slots[op->d + number] : op->d;
    return LW_SLOT(gang, uint32_t, slot) + LW_WARP_LANES * warp;
}

/* The places of all rows, of which a register each of the lanes has the address. False: trapped. */
static bool find_rows(lw_gang *gang, const lw_op *op, lw_access access, uint32_t warp, char *rows[LW_WARP_LANES]) {
    const lw_memory_form form = lw_memory_unpack(op->c);
    const uint32_t first = LW_WARP_LANES * warp;
    for (uint32_t i = 0; i < (uint32_t)ROWS << form.vector; i++) {
        const uint64_t address = lw_address_of(gang, op, first + i);
        rows[i] = lw_address_place(gang, op, access, (lw_window)form.window, first + i, address, ROW_BYTES, ROW_BYTES);
        if (!rows[i]) return false;
    }
    return true;
}

LW_RACY const lw_op *lw_step_ldmatrix(lw_gang *gang, const lw_op *op) {
    const uint32_t count = 1u << lw_memory_unpack(op->c).vector, each = op->e & LW_MOVE_BYTES ? 2 : 1;
    FOR_WARPS(gang, warp) {
        char *rows[LW_WARP_LANES];
        uint32_t words[2 * LW_WARP_LANES];
        if (!find_rows(gang, op, LW_ACCESS_load, warp, rows)) return NULL;
        for (uint32_t r = 0; r < count; r += each) { /* registers of a matrix */
            for (uint32_t i = 0; i < ROWS * each; i++) read_row(words + 4 * i, rows[ROWS * r + i], op->e);
            if (each == 2) turn_bytes(words);
            else if (op->e & LW_MOVE_COLUMNS) transpose(words);
            for (uint32_t k = 0; k < each; k++)
                memcpy(register_of(gang, op, r + k, warp), words + LW_WARP_LANES * k, 4 * LW_WARP_LANES);
        }
    }
    return lw_go_on(gang, op);
}

LW_RACY const lw_op *lw_step_stmatrix(lw_gang *gang, const lw_op *op) {
    const uint32_t count = 1u << lw_memory_unpack(op->c).vector;
    FOR_WARPS(gang, warp) {
        char *rows[LW_WARP_LANES];
        uint32_t words[LW_WARP_LANES];
        if (!find_rows(gang, op, LW_ACCESS_store, warp, rows)) return NULL;
        for (uint32_t matrix = 0; matrix < count; matrix++) {
            memcpy(words, register_of(gang, op, matrix, warp), sizeof words);
            if (op->e & LW_MOVE_BYTES) turn_pairs(words);
            else if (op->e & LW_MOVE_COLUMNS) transpose(words);
            for (uint32_t i = 0; i < ROWS; i++) memcpy(rows[ROWS * matrix + i], words + 4 * i, ROW_BYTES);
        }
    }
    return lw_go_on(gang, op);
}

const lw_op *lw_step_movmatrix(lw_gang *gang, const lw_op *op) {
    FOR_WARPS(gang, warp) {
        uint32_t words[LW_WARP_LANES];
        memcpy(words, LW_SLOT(gang, uint32_t, op->a) + LW_WARP_LANES * warp, sizeof words);
        transpose(words);
        memcpy(LW_SLOT(gang, uint32_t, op->d) + LW_WARP_LANES * warp, words, sizeof words);
    }
    return lw_go_on(gang, op);
}
