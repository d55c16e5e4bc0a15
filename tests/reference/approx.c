/* approx.c: the approximate functions of an H100, from the formulas as they are written down: whole sums in 64 bits,
 * squares bit by bit, results as exact values that are packed. Of lane/approx.h it has the numbers of the tables alone,
 * which no second witness could know; lane tests and recorded kernels compare both with the hardware. */
#include "lanewise/lane/approx_tables.h"
#include "reference.h"

#include <math.h>

enum { F32_NAN = 0x7fffffff, F32_INFINITY = 0x7f800000, F32_ONE = 0x3f800000 };
#define F32_SIGN    0x80000000u
#define F32_2_24    0x4b800000u /* 2^24 */
#define F32_QUARTER 0x3e800000u
#define F64_HIGH(a) ((uint32_t)((a) >> 32))

/* ---- The datapath ---------------------------------------------------------------------------------------------- */

/* Products of two bits of x, below 2^19 left out, in units of that. */
static int64_t square(uint32_t x) {
    int64_t sum = 0;
    for (int i = 0; i < 17; i++)
        for (int j = 0; j <= i; j++) {
            int column = i == j ? 2 * i : i + j + 1;
            if (column >= 19 && x >> i & 1 && x >> j & 1) sum += INT64_C(1) << (column - 19);
        }
    return sum;
}

static int64_t quadratic(uint32_t c0, uint32_t c12, uint32_t x, int sign1, int times2, int bias) {
    return ((int64_t)c0 << 9) + sign1 * (int64_t)(c12 >> 15) * x + times2 * (int64_t)(c12 & 0x7fff) * square(x) + bias;
}

static uint64_t packed(bool negative, int64_t mantissa, int32_t exponent, lw_type type) {
    ref_real real = {.negative = negative, .mantissa = (unsigned __int128)mantissa, .exponent = exponent};
    return ref_pack(real, type, REF_ZERO);
}

/* Exponent and mantissa of a normal number. */
static int32_t exponent_of(uint32_t a) { return (int32_t)(a >> 23 & 255) - 127; }
static uint32_t mantissa_of(uint32_t a) { return a & 0x7fffff; }

/* In units of 2^-24, of numbers from 1 to 2; with `odd` the root is of twice the number. */
static int64_t rcp_of(uint32_t m) {
    return quadratic(lw_rcp_c0_[m >> 16], lw_rcp_c12_[m >> 16], (m & 0xffff) * 2, -1, 2, 4046) >> 16;
}
static int64_t rsqrt_of(uint32_t m, bool odd) {
    uint32_t row = (odd ? 0 : 64) + (m >> 17);
    if (!odd && !m) return 1 << 24;
    return quadratic(lw_rsqrt_c0_[row], lw_rsqrt_c12_[row], m & 0x1ffff, -1, 4, -1) >> 16;
}

/* ---- f32 with .ftz: not of NaNs, operands that are subnormal are zeros already --------------------------------- */

static uint64_t rcp_f32(uint32_t a) {
    uint32_t sign = a & F32_SIGN;
    if (!(a ^ sign)) return sign | F32_INFINITY;
    if ((a ^ sign) == F32_INFINITY) return sign;
    return ref_flush(packed(sign, rcp_of(mantissa_of(a)), -24 - exponent_of(a), LW_T_f32), LW_T_f32);
}

static uint64_t root_f32(uint32_t a, bool reciprocal) {
    if (!(a & ~F32_SIGN)) return reciprocal ? a | F32_INFINITY : a;
    if (a & F32_SIGN) return F32_NAN;
    if (a == F32_INFINITY) return reciprocal ? 0 : a;
    uint32_t m = mantissa_of(a);
    bool odd = exponent_of(a) & 1;
    int32_t half = (exponent_of(a) - odd) / 2;
    if (reciprocal) return packed(false, rsqrt_of(m, odd), -24 - half, LW_T_f32);
    uint32_t row = (odd ? 0 : 64) + (m >> 17);
    return packed(false, quadratic(lw_sqrt_c0_[row], lw_sqrt_c12_[row], m & 0x1ffff, 1, -2, -1) >> 17, half - 23,
                  LW_T_f32);
}

static uint64_t ex2_f32(uint32_t a) {
    bool negative = a & F32_SIGN;
    if ((a & ~F32_SIGN) >= 0x43800000) return negative ? 0 : F32_INFINITY; /* 256 */
    if (!(a & ~F32_SIGN)) return F32_ONE;
    int32_t e = exponent_of(a);
    int64_t m = mantissa_of(a) | 0x800000, fixed = e >= 0 ? m << e : e > -32 ? m >> -e : 0;
    if (negative) fixed = fixed & 0x7fffff ? ~fixed : -fixed;
    int64_t whole = fixed >> 23;
    uint32_t part = (uint32_t)(fixed & 0x7fffff), row = part >> 17;
    if (whole > 127) return F32_INFINITY;
    if (whole < -126) return 0;
    return packed(false, quadratic(lw_ex2_c0_[row], lw_ex2_c12_[row], part & 0x1ffff, 1, 1, 6114) >> 15,
                  (int32_t)whole - 23, LW_T_f32);
}

static uint64_t lg2_f32(uint32_t a) {
    if (!(a & ~F32_SIGN)) return F32_SIGN | F32_INFINITY;
    if (a & F32_SIGN) return F32_NAN;
    if (a == F32_INFINITY) return a;
    if (a == F32_ONE) return 0;
    uint32_t m = mantissa_of(a), row = m >> 17;
    int64_t sum = quadratic(lw_lg2_c0_[row], lw_lg2_c12_[row], m & 0x1ffff, 1, -2, 837) +
                  exponent_of(a) * (INT64_C(1) << 38);
    return packed(sum < 0, (sum < 0 ? ~sum : sum) & ~INT64_C(3), -38, LW_T_f32);
}

static uint64_t circle_f32(uint32_t a, bool cosine) {
    if ((a & ~F32_SIGN) == F32_INFINITY) return F32_NAN;
    bool negative = a & F32_SIGN && !cosine;
    uint64_t product = (uint64_t)(mantissa_of(a) | 0x800000) * 0xa2f983; /* of 1 / 2 pi, times 2^26 */
    int high = product >> 47 & 1, shift = high + exponent_of(a) - 1;
    product >>= 23 + high;
    uint64_t turns = !(a & ~F32_SIGN) || shift < -40 || shift >= 25 ? 0
                     : shift >= 0                                   ? product << shift
                                                                    : product >> -shift;
    uint32_t quarter = (uint32_t)(turns >> 23) + cosine, part = turns & 0x7fffff;
    if (quarter & 1) part = 0x7fffff - part;
    int64_t sum = quadratic(0, lw_sin_c12_[part >> 17], part & 0x1ffff, 1, -1, 0) +
                  ((int64_t)lw_sin_c0_[part >> 17] << 7);
    return packed(negative != (quarter >> 1 & 1), sum, -37, LW_T_f32);
}

static uint64_t tanh_f32(uint32_t a) {
    uint32_t sign = a & F32_SIGN, size = a ^ sign;
    if (size >= 0x41000000) return sign | F32_ONE; /* 8 */
    if (size < 0x3b800000) return a;               /* 2^-8 */
    uint32_t row = (size - 0x3b800000) >> 19, c0 = lw_tanh_c0_[row], segments = c0 >> 24 & 31;
    uint32_t x = mantissa_of(size) * segments % 0x800000 / 64;
    int64_t sum = quadratic((c0 & 0xffffff) << 6, lw_tanh_c12_[row], x, 1, -1, 0);
    return packed(sign, sum, exponent_of(size) - 33 - (int32_t)(c0 >> 29), LW_T_f32);
}

static uint64_t core_f32(const char *opcode, uint64_t bits) {
    uint32_t a = (uint32_t)ref_flush(bits, LW_T_f32);
    if (ref_is_nan(a, LW_T_f32)) return F32_NAN;
    if (!strcmp(opcode, "rcp")) return rcp_f32(a);
    if (!strcmp(opcode, "rsqrt")) return root_f32(a, true);
    if (!strcmp(opcode, "sqrt")) return root_f32(a, false);
    if (!strcmp(opcode, "ex2")) return ex2_f32(a);
    if (!strcmp(opcode, "lg2")) return lg2_f32(a);
    return circle_f32(a, !strcmp(opcode, "cos"));
}

/* ---- Around it: what the forms without .ftz do, division, 16 bits ---------------------------------------------- */

static uint64_t times(uint64_t a, uint64_t b) { return ref_real_f32("mul", a, b, false); }

static uint64_t unary_f32(const char *opcode, uint64_t a, bool ftz) {
    if (!strcmp(opcode, "tanh")) return ref_is_nan(a, LW_T_f32) ? F32_NAN : tanh_f32((uint32_t)a);
    uint32_t size = a & F32_NAN;
    bool subnormal = size && size < 0x800000;
    if (ftz || !strcmp(opcode, "sin") || !strcmp(opcode, "cos")) return core_f32(opcode, a);
    if (!strcmp(opcode, "ex2")) {
        if (a <= 0xc2fc0000 || a > 0xff800000) return core_f32(opcode, a); /* not below -126 */
        uint64_t half = core_f32(opcode, times(a, 0x3f000000));
        return times(half, half);
    }
    if (!strcmp(opcode, "rcp") && size >= 0x7e000000 && size < F32_INFINITY) /* 2^125 */
        return times(core_f32(opcode, times(a, F32_QUARTER)), F32_QUARTER);
    if (!subnormal) return core_f32(opcode, a);
    uint64_t d = core_f32(opcode, times(a, F32_2_24));
    if (!strcmp(opcode, "lg2")) return ref_real_f32("sub", d, 0x41c00000, false); /* 24 */
    return times(d, !strcmp(opcode, "rcp")     ? F32_2_24
                    : !strcmp(opcode, "rsqrt") ? 0x45800000
                                               : 0x39800000); /* 2^12, 2^-12 */
}

static uint64_t divide_f32(uint64_t a, uint64_t b, bool full, bool ftz) {
    uint32_t size = b & F32_NAN;
    uint64_t scale = full && size > 0x7e800000 ? F32_QUARTER : !ftz && size < 0x800000 ? F32_2_24 : F32_ONE; /* 2^126 */
    if (scale != F32_ONE) a = ref_real_f32("mul", a, scale, ftz), b = ref_real_f32("mul", b, scale, ftz);
    return ref_real_f32("mul", a, core_f32("rcp", b), ftz);
}

static uint64_t half(const char *opcode, uint64_t a, bool brain) {
    if (brain) return unary_f32(opcode, a << 16, true) >> 16;
    if (ref_is_nan(a, LW_T_f16)) return 0x7fff;
    uint64_t d = unary_f32(opcode, ref_pack(ref_unpack(a, LW_T_f16), LW_T_f32, REF_ZERO), true);
    return d >= 0x47800000 && d <= F32_INFINITY ? 0x7c00
                                                : ref_pack(ref_unpack(d, LW_T_f32), LW_T_f16, REF_ZERO); /* 2^16 */
}

/* ---- f64: the upper word --------------------------------------------------------------------------------------- */

static double double_of(uint64_t bits) {
    double d;
    memcpy(&d, &bits, sizeof d);
    return d;
}
static uint64_t bits_of(double d) {
    uint64_t bits;
    memcpy(&bits, &d, sizeof bits);
    return bits;
}

static uint64_t high_f64(const char *opcode, uint64_t a) {
    uint32_t high = F64_HIGH(a), sign = high & F32_SIGN, size = high ^ sign, m = (size & 0xfffff) << 3;
    int32_t e = (int32_t)(size >> 20) - 1023;
    bool is_rcp = !strcmp(opcode, "rcp"), odd = e & 1;
    if (size > 0x7ff00000) return (uint64_t)F32_NAN << 32;
    if (size < 0x100000) return (uint64_t)(sign | 0x7ff00000) << 32;
    if (sign && !is_rcp) return (uint64_t)F32_NAN << 32;
    if (size == 0x7ff00000) return (uint64_t)sign << 32;
    if (is_rcp) return ref_flush(packed(sign, rcp_of(m) >> 3, -21 - e, LW_T_f64), LW_T_f64);
    return packed(false, rsqrt_of(m, odd) >> 3, -21 - (e - odd) / 2, LW_T_f64);
}

static uint64_t rsqrt_f64(uint64_t a) {
    uint64_t size = a << 1 >> 1, infinity = UINT64_C(0x7ff) << 52;
    if (size > infinity) return a | UINT64_C(1) << 51;
    if (!size) return a | infinity;
    if (a != size) return UINT64_C(0xfff8) << 48;
    if (a == infinity) return 0;
    bool subnormal = size < UINT64_C(1) << 52;
    double x = subnormal ? ldexp(double_of(a), 54) : double_of(a), r = double_of(high_f64("rsqrt", bits_of(x)));
    double t = fma(x, -(r * r), 1.0), d = fma(fma(t, 0.375, 0.5), r * t, r);
    return bits_of(subnormal ? ldexp(d, 27) : d);
}

/* ---- Instructions ---------------------------------------------------------------------------------------------- */

static uint64_t result_of(const ref_op *op, uint64_t a, uint64_t b) {
    const char *opcode = op->in->words[0]->text;
    bool ftz = ref_has(op, REF_ftz), brain = op->type == LW_T_bf16 || op->type == LW_T_bf16x2;
    if (!strcmp(opcode, "div")) return divide_f32(a, b, ref_has(op, REF_full), ftz);
    if (op->type == LW_T_f64) return ftz ? high_f64(opcode, a) : rsqrt_f64(a);
    if (op->type == LW_T_f32) return unary_f32(opcode, a, ftz);
    if (ref_bits(op->type) == 16) return half(opcode, a, brain);
    return half(opcode, a >> 16 & 0xffff, brain) << 16 | half(opcode, a & 0xffff, brain);
}

void ref_approx_do(ref_thread *t, const ref_op *op) {
    const lw_instruction *in = op->in;
    uint64_t a = ref_read(t, op, &in->operands[1], op->type),
             b = in->operand_count > 2 ? ref_read(t, op, &in->operands[2], op->type) : 0;
    ref_write(t, &in->operands[0], op->type, result_of(op, a, b));
}
void ref_do_rsqrt(ref_thread *t, const ref_op *op) { ref_approx_do(t, op); }
void ref_do_ex2(ref_thread *t, const ref_op *op) { ref_approx_do(t, op); }
void ref_do_lg2(ref_thread *t, const ref_op *op) { ref_approx_do(t, op); }
void ref_do_sin(ref_thread *t, const ref_op *op) { ref_approx_do(t, op); }
void ref_do_cos(ref_thread *t, const ref_op *op) { ref_approx_do(t, op); }
void ref_do_tanh(ref_thread *t, const ref_op *op) { ref_approx_do(t, op); }
