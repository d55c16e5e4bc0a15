/* narrow.c: cvt to and from 8, 6 and 4 bits, powers of two, and with random bits (manual section 9.7.9.21).
 *
 * A number is found among all numbers of its format, which are few, by comparing exact values: integers of a place that
 * is below all of them. e4m3 and e5m2 to nearest are what an H200 does; the others are the manual's text. */
#include "reference.h"

typedef struct small {
    ref_word two, four; /* words of the mnemonic */
    uint32_t bits, mantissa;
    int32_t bias;
    uint32_t most, nan;
} small;

static const small smalls[] = {
    {REF_e4m3x2, REF_e4m3x4, 8, 3, 7, 0x7e, 0x7f}, {REF_e5m2x2, REF_e5m2x4, 8, 2, 15, 0x7b, 0x7f},
    {REF_e2m3x2, REF_e2m3x4, 6, 3, 1, 0x1f, 0x1f}, {REF_e3m2x2, REF_e3m2x4, 6, 2, 3, 0x1f, 0x1f},
    {REF_e2m1x2, REF_e2m1x4, 4, 1, 1, 0x07, 0x07},
};

static ref_real value_of(const small *f, uint32_t code) {
    uint32_t exponent = code >> f->mantissa, mantissa = code & (uint32_t)ref_mask(f->mantissa);
    return (ref_real){.mantissa = exponent ? mantissa | 1u << f->mantissa : mantissa,
                      .exponent = (int32_t)(exponent ? exponent : 1) - f->bias - (int32_t)f->mantissa};
}

/* A magnitude in units of 2^-40, what is less as one place of its own: enough for all middles, and for 16 bits behind
 * the last place of each format. */
static unsigned __int128 units(ref_real a) {
    int32_t shift = a.exponent + 40;
    if (!a.mantissa) return 0;
    if (shift >= 0) return shift < 100 ? a.mantissa << shift : (unsigned __int128)1 << 120;
    return shift > -100 && a.mantissa >> -shift << -shift == a.mantissa ? a.mantissa >> -shift
           : shift > -100                                               ? (a.mantissa >> -shift) | 1
                                                                        : 1;
}

/* The code of a magnitude; random: 16 bits, or -1 for the nearest. Units are doubled so that 1 is less than any middle.
 */
static uint32_t code_of(const small *f, ref_real a, int32_t random) {
    uint32_t code = 0;
    if (a.kind == REF_INFINITE) return f->most;
    const unsigned __int128 size = units(a);
    while (code < f->most && units(value_of(f, code + 1)) <= size) code++;
    if (code == f->most) return code;
    const unsigned __int128 low = units(value_of(f, code)), gap = units(value_of(f, code + 1)) - low, way = size - low;
    if (random >= 0) return code + (uint32_t)((way * 65536 / gap + (uint32_t)random) >> 16);
    return code + (2 * way > gap || (2 * way == gap && code & 1));
}

static uint32_t narrowed(const ref_op *op, const small *f, uint64_t bits, lw_type type, int32_t random) {
    const ref_real a = ref_unpack(bits, type);
    if (a.kind == REF_NAN) return f->nan;
    const uint32_t code = code_of(f, a, random);
    return !a.negative ? code : ref_has(op, REF_relu) ? 0 : code | 1u << (f->bits - 1);
}

static uint32_t widened(const ref_op *op, const small *f, uint32_t code) {
    const uint32_t sign = 1u << (f->bits - 1), size = code & (sign - 1);
    if (f->bits == 8 && size > f->most && (f->mantissa == 3 || size > 0x7c)) return 0x7fff;
    const uint32_t d = f->bits == 8 && size > f->most ? 0x7c00
                                                      : (uint32_t)ref_pack(value_of(f, size), LW_T_f16, REF_NEAREST);
    return !(code & sign) ? d : ref_has(op, REF_relu) ? 0 : d | 0x8000;
}

static uint64_t read(ref_thread *t, const ref_op *op, uint32_t k, lw_type type) {
    return ref_read(t, op, &op->in->operands[k], type);
}

/* Two numbers, from two operands, or from the halves of one; to halves from parts of one. */
static void two(ref_thread *t, const ref_op *op, const small *f) {
    const uint32_t apart = f->bits == 4 ? 4 : 8, mask = (uint32_t)ref_mask(f->bits);
    if (op->types[0] == LW_T_f16x2 && ref_has(op, REF_rn) && !ref_has(op, REF_satfinite)) {
        const uint32_t a = (uint32_t)read(t, op, 1, apart == 4 ? LW_T_b8 : LW_T_b16);
        ref_write(t, &op->in->operands[0], LW_T_b32,
                  (uint64_t)widened(op, f, a >> apart & mask) << 16 | widened(op, f, a & mask));
        return;
    }
    const bool halves = op->type == LW_T_f16x2;
    const lw_type type = halves ? LW_T_f16 : LW_T_f32;
    const uint64_t a = read(t, op, 1, op->type), upper = halves ? a >> 16 : a,
                   lower = halves ? a & 0xffff : read(t, op, 2, LW_T_f32);
    ref_write(t, &op->in->operands[0], apart == 4 ? LW_T_b8 : LW_T_b16,
              narrowed(op, f, upper, type, -1) << apart | narrowed(op, f, lower, type, -1));
}

static void four(ref_thread *t, const ref_op *op, const small *f) {
    const uint32_t apart = f->bits == 4 ? 4 : 8, r = (uint32_t)read(t, op, 2, LW_T_b32);
    const uint32_t upper = apart == 8 ? r >> 16 : (r >> 24) << 8 | (r >> 8 & 255),
                   lower = apart == 8 ? r & 0xffff : (r >> 16 & 255) << 8 | (r & 255);
    uint64_t d = 0;
    for (uint32_t k = 0; k < 4; k++) {
        const uint64_t a = ref_read(t, op, &op->in->operands[1].parts[k], LW_T_f32);
        d = d << apart | narrowed(op, f, a, LW_T_f32, (int32_t)(k < 2 ? upper : lower));
    }
    ref_write(t, &op->in->operands[0], apart == 4 ? LW_T_b16 : LW_T_b32, d);
}

/* An exponent with a bias of 127; the power of two below a magnitude or, with rp, above it. */
static uint32_t power_of(const ref_op *op, uint64_t bits) {
    const ref_real a = ref_unpack(bits, LW_T_f32);
    if (a.kind == REF_NAN) return 255;
    int32_t top = a.exponent - 1;
    for (unsigned __int128 m = a.mantissa; m; m >>= 1) top++;
    const bool whole = a.mantissa && !(a.mantissa & (a.mantissa - 1));
    int32_t d = top + 127 + (ref_has(op, REF_rp) && !whole);
    if (!a.mantissa || d < 0) d = 0;
    if (a.kind == REF_INFINITE || d > 254) return ref_has(op, REF_satfinite) ? 254 : 255;
    return (uint32_t)d;
}

static void powers(ref_thread *t, const ref_op *op) {
    const lw_operand *d = &op->in->operands[0];
    if (op->types[0] == LW_T_f32 || op->types[0] == LW_T_bf16x2) {
        const bool from = ref_has(op, REF_rn); /* to bf16x2 */
        const uint64_t a = read(t, op, 1, from ? LW_T_b16 : op->type);
        if (from) {
            const uint64_t high = a >> 8 & 255, low = a & 255;
            ref_write(t, d, LW_T_b32,
                      (high == 255 ? 0x7fff
                       : high      ? high << 7
                                   : 0x40)
                              << 16 |
                          (low == 255 ? 0x7fff
                           : low      ? low << 7
                                      : 0x40));
            return;
        }
        const bool halves = op->type == LW_T_bf16x2;
        const uint64_t upper = halves ? a & 0xffff0000 : a,
                       lower = halves ? (a & 0xffff) << 16 : read(t, op, 2, LW_T_f32);
        ref_write(t, d, LW_T_b16, power_of(op, upper) << 8 | power_of(op, lower));
    }
}

/* Half precision with random bits: truncated, and one more place where what was cut off carries with them. */
static uint64_t random_half(const ref_op *op, uint64_t bits, uint32_t random, lw_type type) {
    const ref_real a = ref_unpack(bits, LW_T_f32);
    const uint32_t count = type == LW_T_f16 ? 13 : 16, most = type == LW_T_f16 ? 0x7bff : 0x7f7f;
    const int32_t fraction = type == LW_T_f16 ? 10 : 7, least = type == LW_T_f16 ? -24 : -133;
    if (a.kind == REF_NAN) return 0x7fff;
    uint64_t d = most + 1;
    if (a.kind == REF_FINITE) {
        int32_t top = a.exponent - 1;
        for (unsigned __int128 m = a.mantissa; m; m >>= 1) top++;
        const int32_t last = a.mantissa && top - fraction > least ? top - fraction : least,
                      shift = last - (int32_t)count - a.exponent; /* to the last of the random bits */
        const unsigned __int128 m = shift <= 0 ? a.mantissa << -shift : shift < 100 ? a.mantissa >> shift : 0;
        d = ((uint64_t)(last - least) << fraction) + (uint64_t)((m + (random & ref_mask(count))) >> count);
    }
    if (d > most) d = ref_has(op, REF_satfinite) ? most : most + 1;
    return !a.negative ? d : ref_has(op, REF_relu) ? 0 : d | 0x8000;
}

bool ref_narrow(ref_thread *t, const ref_op *op) {
    for (size_t k = 0; k < LW_COUNT(smalls); k++) {
        if (ref_has(op, smalls[k].two)) return two(t, op, &smalls[k]), true;
        if (ref_has(op, smalls[k].four)) return four(t, op, &smalls[k]), true;
    }
    if (ref_has(op, REF_ue8m0x2)) return powers(t, op), true;
    if (!ref_has(op, REF_rs)) return false;
    const lw_type type = op->types[0] == LW_T_f16x2 ? LW_T_f16 : LW_T_bf16;
    const uint32_t random = (uint32_t)read(t, op, 3, LW_T_b32);
    const uint64_t a = read(t, op, 1, LW_T_f32), b = read(t, op, 2, LW_T_f32);
    ref_write(t, &op->in->operands[0], LW_T_b32,
              random_half(op, a, random >> 16, type) << 16 | random_half(op, b, random & 0xffff, type));
    return true;
}
