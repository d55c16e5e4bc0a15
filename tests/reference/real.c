/* real.c: floating point (manual sections 9.7.3, 9.7.6). Sums, products and roots are the host's own IEEE operations,
 * in the host's rounding; what a NaN becomes, what .ftz and .sat do, is written here.
 *
 * A NaN that comes out: of f32 and f16 always 0x7fffffff and 0x7fff; of f64 an operand's, quieted, b before a (fma: b,
 * c, a; div: a, b), 0xfff8000000000000 where no operand was one. */
#include "reference.h"

#include <fenv.h>
#include <math.h>

enum { F32_NAN = 0x7fffffff };
#define F64_NAN   0xfff8000000000000u
#define F64_QUIET 0x0008000000000000u

ref_format ref_format_of(lw_type type) {
    return type == LW_T_f64    ? (ref_format){11, 52}
           : type == LW_T_f32  ? (ref_format){8, 23}
           : type == LW_T_bf16 ? (ref_format){8, 7}
           : type == LW_T_tf32 ? (ref_format){8, 10}
                               : (ref_format){5, 10};
}

static uint64_t infinity(lw_type type) {
    ref_format f = ref_format_of(type);
    return ref_mask(f.exponent) << f.mantissa;
}
static uint64_t sign_bit(lw_type type) {
    return type == LW_T_tf32 ? 1u << 18 : (uint64_t)1 << (ref_bits(type) - 1);
} /* tf32: of the bits that count */

bool ref_is_nan(uint64_t bits, lw_type type) { return (bits & ~sign_bit(type)) > infinity(type); }

static bool is_subnormal(uint64_t bits, lw_type type) {
    return !(bits & infinity(type)) && bits & ref_mask(ref_format_of(type).mantissa);
}
uint64_t ref_flush(uint64_t bits, lw_type type) { return is_subnormal(bits, type) ? bits & sign_bit(type) : bits; }

/* ---- Exact values ---------------------------------------------------------------------------------------------- */

ref_real ref_unpack(uint64_t bits, lw_type type) {
    ref_format f = ref_format_of(type);
    ref_real real = {.negative = bits >> (f.exponent + f.mantissa) & 1};
    uint32_t exponent = (uint32_t)(bits >> f.mantissa & ref_mask(f.exponent));
    int32_t bias = (1 << (f.exponent - 1)) - 1;
    real.mantissa = bits & ref_mask(f.mantissa);
    if (exponent == ref_mask(f.exponent)) {
        real.kind = real.mantissa ? REF_NAN : REF_INFINITE;
        return real;
    }
    if (exponent) real.mantissa |= (uint64_t)1 << f.mantissa;
    else exponent = 1;
    real.exponent = (int32_t)exponent - bias - (int32_t)f.mantissa;
    return real;
}

/* mantissa / 2^places to an integer. */
static unsigned __int128 round_away(unsigned __int128 mantissa, uint32_t places, bool negative, ref_rounding rounding) {
    if (!places) return mantissa;
    unsigned __int128 whole = places < 128 ? mantissa >> places : 0,
                      rest = places < 128 ? mantissa - (whole << places) : mantissa;
    unsigned __int128 half = places <= 128 ? (unsigned __int128)1 << (places - 1) : 0; /* 0: more than any mantissa */
    bool up = rounding == REF_NEAREST ? half && (rest > half || (rest == half && whole & 1))
              : rounding == REF_MINUS ? negative && rest
                                      : rounding == REF_PLUS && !negative && rest;
    return whole + up;
}

uint64_t ref_pack(ref_real real, lw_type type, ref_rounding rounding) {
    ref_format f = ref_format_of(type);
    uint64_t sign = real.negative ? sign_bit(type) : 0;
    int32_t bias = (1 << (f.exponent - 1)) - 1,
            least = 1 - bias - (int32_t)f.mantissa; /* of the last place of subnormal numbers */
    if (real.kind == REF_INFINITE) return sign | infinity(type);
    if (!real.mantissa) return sign;
    int32_t top = real.exponent;
    for (unsigned __int128 m = real.mantissa; m >>= 1;) top++;
    int32_t last = top - (int32_t)f.mantissa; /* exponent of the last place */
    if (last < least) last = least;
    unsigned __int128 m = last <= real.exponent
                              ? real.mantissa << (real.exponent - last)
                              : round_away(real.mantissa, (uint32_t)(last - real.exponent), real.negative, rounding);
    uint64_t bits = (uint64_t)(last - least)
                    << f.mantissa; /* the leading one of a normal number adds the first step of the exponent */
    bits += (uint64_t)m;
    if (bits < infinity(type)) return sign | bits;
    bool to_infinity = rounding == REF_NEAREST || rounding == (real.negative ? REF_MINUS : REF_PLUS);
    return sign | (to_infinity ? infinity(type) : infinity(type) - 1);
}

ref_rounding ref_rounding_of(const ref_op *op) {
    return ref_has(op, REF_rz) || ref_has(op, REF_rzi)   ? REF_ZERO
           : ref_has(op, REF_rm) || ref_has(op, REF_rmi) ? REF_MINUS
           : ref_has(op, REF_rp) || ref_has(op, REF_rpi) ? REF_PLUS
                                                         : REF_NEAREST;
}

uint64_t ref_saturate(uint64_t bits, lw_type type) {
    uint64_t one = type == LW_T_f64    ? 0x3ff0000000000000u
                   : type == LW_T_f32  ? 0x3f800000
                   : type == LW_T_bf16 ? 0x3f80
                                       : 0x3c00;
    if (ref_is_nan(bits, type) || bits & sign_bit(type)) return 0;
    return bits > one ? one : bits;
}

/* ---- Comparison ------------------------------------------------------------------------------------------------ */

static double number(uint64_t bits, lw_type type) {
    if (type == LW_T_f16 || type == LW_T_bf16)
        bits = ref_pack(ref_unpack(bits, type), LW_T_f32, REF_NEAREST), type = LW_T_f32;
    if (type == LW_T_f32) {
        float f;
        uint32_t word = (uint32_t)bits;
        memcpy(&f, &word, sizeof f);
        return f;
    }
    double d;
    memcpy(&d, &bits, sizeof d);
    return d;
}

bool ref_real_compare(const ref_op *op, uint64_t a, uint64_t b, lw_type type) {
    if (ref_has(op, REF_ftz)) a = ref_flush(a, type), b = ref_flush(b, type);
    bool unordered = ref_is_nan(a, type) || ref_is_nan(b, type);
    if (ref_has(op, REF_num)) return !unordered;
    if (ref_has(op, REF_nan)) return unordered;
    if (unordered)
        return ref_has(op, REF_equ) || ref_has(op, REF_neu) || ref_has(op, REF_ltu) || ref_has(op, REF_leu) ||
               ref_has(op, REF_gtu) || ref_has(op, REF_geu);
    double x = number(a, type), y = number(b, type);
    if (ref_has(op, REF_eq) || ref_has(op, REF_equ)) return x == y;
    if (ref_has(op, REF_ne) || ref_has(op, REF_neu)) return x != y;
    if (ref_has(op, REF_lt) || ref_has(op, REF_ltu)) return x < y;
    if (ref_has(op, REF_le) || ref_has(op, REF_leu)) return x <= y;
    if (ref_has(op, REF_gt) || ref_has(op, REF_gtu)) return x > y;
    return x >= y;
}

/* ---- Arithmetic ------------------------------------------------------------------------------------------------ */

static float single(uint64_t bits) { return (float)number(bits, LW_T_f32); }
static uint64_t bits_of_single(float f) {
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    return bits;
}
static uint64_t bits_of_double(double d) {
    uint64_t bits;
    memcpy(&bits, &d, sizeof bits);
    return bits;
}

/* .ftz looks at the result rounded as if exponents had no end: what is below 2^-126 then is zero, though rounding to a
 * subnormal number would have given 2^-126. The border to nearest is half a place of 24 bits below: 2^-126 - 2^-151,
 * which itself rounds to even, up; away from zero a whole place below, and it is still tiny itself; towards zero
 * 2^-126. */
static bool product_is_tiny(double p, double c, ref_rounding rounding) { /* |p + c|, exactly */
    double s = p + c, part = s - p, lost = (p - (s - part)) + (c - part), size = fabs(s);
    bool away = rounding == (s < 0 ? REF_MINUS : REF_PLUS), beneath = lost != 0 && (s > 0) != (lost > 0);
    if (away) return size < 0x1.fffffep-127 || (size == 0x1.fffffep-127 && (lost == 0 || beneath));
    double border = rounding == REF_NEAREST ? 0x1.ffffffp-127 : 0x1p-126;
    return size < border || (size == border && beneath);
}

/* Of the operations whose result can need rounding there; sums are exact when they are that small, and no quotient lies
 * within a place. */
static bool is_tiny(const char *opcode, double a, double b, double c, ref_rounding rounding) {
    if (!strcmp(opcode, "mul")) return product_is_tiny(a * b, 0, rounding);
    if (!strcmp(opcode, "fma") || !strcmp(opcode, "mad")) return product_is_tiny(a * b, c, rounding);
    if (!strcmp(opcode, "div")) return fabs(a) < 0x1p-126 * fabs(b);
    if (!strcmp(opcode, "rcp")) return 1 < 0x1p-126 * fabs(a);
    return false;
}

/* The host rounds like this from here on; volatile operands keep the compiler from doing the arithmetic before or
 * behind. */
static void round_as(ref_rounding rounding) {
    static const int modes[] = {
        [REF_NEAREST] = FE_TONEAREST, [REF_ZERO] = FE_TOWARDZERO, [REF_MINUS] = FE_DOWNWARD, [REF_PLUS] = FE_UPWARD};
    fesetround(modes[rounding]);
}

static float host32(const char *opcode, volatile float a, volatile float b, volatile float c) {
    if (!strcmp(opcode, "add")) return a + b;
    if (!strcmp(opcode, "sub")) return a - b;
    if (!strcmp(opcode, "mul")) return a * b;
    if (!strcmp(opcode, "div")) return a / b;
    if (!strcmp(opcode, "rcp")) return 1 / a;
    if (!strcmp(opcode, "sqrt")) return sqrtf(a);
    return fmaf(a, b, c);
}

static double host64(const char *opcode, volatile double a, volatile double b, volatile double c) {
    if (!strcmp(opcode, "add")) return a + b;
    if (!strcmp(opcode, "sub")) return a - b;
    if (!strcmp(opcode, "mul")) return a * b;
    if (!strcmp(opcode, "div")) return a / b;
    if (!strcmp(opcode, "rcp")) return 1 / a;
    if (!strcmp(opcode, "sqrt")) return sqrt(a);
    return fma(a, b, c);
}

static uint64_t arithmetic32(const char *opcode, ref_rounding rounding, uint64_t a, uint64_t b, uint64_t c,
                             bool flushes) {
    if (flushes) a = ref_flush(a, LW_T_f32), b = ref_flush(b, LW_T_f32), c = ref_flush(c, LW_T_f32);
    round_as(rounding);
    volatile float value = host32(opcode, single(a), single(b), single(c));
    round_as(REF_NEAREST);
    uint64_t d = bits_of_single(value);
    if (ref_is_nan(d, LW_T_f32)) return F32_NAN;
    if (flushes && (d & F32_NAN) == 0x00800000 && is_tiny(opcode, single(a), single(b), single(c), rounding))
        d &= 0x80000000;
    return flushes ? ref_flush(d, LW_T_f32) : d;
}

static uint64_t arithmetic64(const char *opcode, ref_rounding rounding, uint32_t operands, uint64_t a, uint64_t b,
                             uint64_t c) {
    bool is_div = !strcmp(opcode, "div");
    if (is_div && ref_is_nan(a, LW_T_f64)) return a | F64_QUIET;
    if (operands > 1 && ref_is_nan(b, LW_T_f64)) return b | F64_QUIET;
    if (operands > 2 && ref_is_nan(c, LW_T_f64)) return c | F64_QUIET;
    if (ref_is_nan(a, LW_T_f64)) return a | F64_QUIET;
    round_as(rounding);
    volatile double value = host64(opcode, number(a, LW_T_f64), number(b, LW_T_f64), number(c, LW_T_f64));
    round_as(REF_NEAREST);
    uint64_t d = bits_of_double(value);
    return ref_is_nan(d, LW_T_f64) ? F64_NAN : d;
}

static uint64_t sign_operation(const ref_op *op, uint64_t a, lw_type type) {
    if (ref_is_nan(a, type)) return type == LW_T_f64 ? a | F64_QUIET : ref_mask(ref_bits(type) - 1);
    if (ref_has(op, REF_ftz)) a = ref_flush(a, type);
    return !strcmp(op->in->words[0]->text, "abs") ? a & ~sign_bit(type) : a ^ sign_bit(type);
}

uint64_t ref_real_extreme(const ref_op *op, uint64_t a, uint64_t b, lw_type type, bool is_min) {
    bool nan_a = ref_is_nan(a, type), nan_b = ref_is_nan(b, type);
    uint64_t sign = 0, canonical = type == LW_T_f64 ? b | F64_QUIET : ref_mask(ref_bits(type) - 1);
    if (ref_has(op, REF_ftz)) a = ref_flush(a, type), b = ref_flush(b, type);
    if (ref_has(op, REF_xorsign)) sign = (a ^ b) & sign_bit(type); /* the signs multiply */
    if (ref_has(op, REF_abs)) a &= ~sign_bit(type), b &= ~sign_bit(type);
    if ((nan_a && nan_b) || (ref_has(op, REF_NaN) && (nan_a || nan_b))) return canonical;
    if (nan_a) return b | sign;
    if (nan_b) return a | sign;
    double x = number(a, type), y = number(b, type);
    bool less = x < y || (x == y && a & sign_bit(type)); /* -0 is below +0 */
    return (less == is_min ? a : b) | sign;
}

static uint64_t real_extreme(const ref_op *op, uint64_t a, uint64_t b, lw_type type) {
    return ref_real_extreme(op, a, b, type, !strcmp(op->in->words[0]->text, "min") || ref_has(op, REF_min));
}

/* Memory, then the operand. An f64 NaN leaves global memory as it is, the operand's before memory's; shared memory
 * makes it quiet, memory's before the operand's. */
uint64_t ref_real_add(uint64_t a, uint64_t b, lw_type type, bool in_global) {
    if (type == LW_T_f32)
        return arithmetic32("add", REF_NEAREST, a, b, 0, in_global); /* global memory flushes subnormal numbers */
    if (!in_global) return arithmetic64("add", REF_NEAREST, 2, b, a, 0);
    return ref_is_nan(b, type) ? b : ref_is_nan(a, type) ? a : arithmetic64("add", REF_NEAREST, 2, a, b, 0);
}

uint64_t ref_real_f32(const char *opcode, uint64_t a, uint64_t b, bool flushes) {
    return arithmetic32(opcode, REF_NEAREST, a, b, 0, flushes);
}

/* ---- Half precision: exact values, packed once ----------------------------------------------------------------- */

bool ref_is_half(lw_type type) {
    return type == LW_T_f16 || type == LW_T_bf16 || type == LW_T_f16x2 || type == LW_T_bf16x2;
}

/* The exact sum of two finite numbers; one that is too small to be held beside the other is a last place of its own. */
static ref_real exact_sum(ref_real a, ref_real b) {
    if (!a.mantissa || !b.mantissa) {
        ref_real d = a.mantissa ? a : b;
        d.negative = d.mantissa ? d.negative : a.negative && b.negative;
        return d;
    }
    if (a.exponent < b.exponent) return exact_sum(b, a);
    int32_t shift = a.exponent - b.exponent, most = 100 - 24;
    if (shift > most) { /* a is larger by far: any sign of b will do */
        b.mantissa = 1, b.exponent = a.exponent - most, shift = most;
    }
    __int128 x = (__int128)(a.mantissa << shift), y = (__int128)b.mantissa,
             sum = (a.negative ? -x : x) + (b.negative ? -y : y);
    return (ref_real){REF_FINITE, sum < 0, (unsigned __int128)(sum < 0 ? -sum : sum), b.exponent};
}

static ref_real real_sum(ref_real a, ref_real b) {
    if (a.kind == REF_NAN || b.kind == REF_NAN ||
        (a.kind == REF_INFINITE && b.kind == REF_INFINITE && a.negative != b.negative))
        return (ref_real){.kind = REF_NAN};
    return a.kind == REF_INFINITE ? a : b.kind == REF_INFINITE ? b : exact_sum(a, b);
}

static ref_real real_product(ref_real a, ref_real b) {
    ref_real d = {.kind = REF_FINITE,
                  .negative = a.negative != b.negative,
                  .mantissa = a.mantissa * b.mantissa,
                  .exponent = a.exponent + b.exponent};
    bool infinite = a.kind == REF_INFINITE || b.kind == REF_INFINITE,
         zero = (!a.kind && !a.mantissa) || (!b.kind && !b.mantissa);
    if (infinite) d.kind = REF_INFINITE;
    if (a.kind == REF_NAN || b.kind == REF_NAN || (infinite && zero)) d.kind = REF_NAN;
    return d;
}

/* Whether a number that is packed as the least normal f16 is below it with 11 bits and any exponent. */
static bool half_is_tiny(ref_real d) {
    return d.mantissa && (ref_pack(d, LW_T_f32, REF_ZERO) & F32_NAN) <
                             0x387ff000; /* 2^-14 less half a place of 2^-25, a tie, which goes up */
}

static uint64_t half_arithmetic(const ref_op *op, const uint64_t v[3], lw_type type) {
    const char *opcode = op->in->words[0]->text;
    ref_real a = ref_unpack(v[0], type), b = ref_unpack(v[1], type), c = ref_unpack(v[2], type);
    if (!strcmp(opcode, "sub")) b.negative = !b.negative;
    ref_real d = !strcmp(opcode, "add") || !strcmp(opcode, "sub") ? real_sum(a, b) : real_product(a, b);
    if (!strcmp(opcode, "fma")) d = real_sum(d, c);
    if (d.kind == REF_NAN) return 0x7fff;
    if (ref_has(op, REF_ftz) && d.kind == REF_FINITE && half_is_tiny(d)) d.mantissa = 0;
    return ref_pack(d, type, REF_NEAREST);
}

static uint64_t half_result(const ref_op *op, const uint64_t words[3], lw_type type) {
    const char *opcode = op->in->words[0]->text;
    uint64_t v[3];
    bool outside = false;
    for (int k = 0; k < 3; k++) {
        v[k] = words[k] & 0xffff;
        outside |= k < 2 && ref_has(op, REF_oob) && (v[k] & 0x7fff) == 0x7ff7;
        if (ref_has(op, REF_ftz)) v[k] = ref_flush(v[k], type);
    }
    if (outside) return 0;
    if (!strcmp(opcode, "abs") || !strcmp(opcode, "neg")) return sign_operation(op, v[0], type);
    if (!strcmp(opcode, "min") || !strcmp(opcode, "max")) return real_extreme(op, v[0], v[1], type);
    uint64_t d = half_arithmetic(op, v, type);
    if (ref_has(op, REF_relu) && d & 0x8000) d = 0;
    return ref_has(op, REF_sat) ? ref_saturate(d, type) : d;
}

static uint64_t changed_half(const ref_op *op, uint64_t a, uint64_t b, lw_type type) {
    if (!ref_has(op, REF_add)) return real_extreme(op, a, b, type);
    ref_real d = real_sum(ref_unpack(a, type), ref_unpack(b, type));
    return d.kind == REF_NAN ? 0x7fff : ref_pack(d, type, REF_NEAREST);
}
uint64_t ref_half_change(const ref_op *op, uint64_t a, uint64_t b) {
    const lw_type type = op->type == LW_T_f16 || op->type == LW_T_f16x2 ? LW_T_f16 : LW_T_bf16;
    uint64_t d = changed_half(op, a & 0xffff, b & 0xffff, type);
    return ref_bits(op->type) == 16 ? d : d | changed_half(op, a >> 16 & 0xffff, b >> 16 & 0xffff, type) << 16;
}

static void half_do(ref_thread *t, const ref_op *op) {
    const lw_instruction *in = op->in;
    const lw_type type = op->type == LW_T_f16 || op->type == LW_T_f16x2 ? LW_T_f16 : LW_T_bf16;
    uint64_t v[3] = {0}, high[3];
    for (uint32_t k = 1; k < in->operand_count && k < 4; k++) v[k - 1] = ref_read(t, op, &in->operands[k], op->type);
    for (int k = 0; k < 3; k++) high[k] = v[k] >> 16;
    uint64_t d = half_result(op, v, type);
    if (ref_bits(op->type) == 32) d |= half_result(op, high, type) << 16;
    ref_write(t, &in->operands[0], op->type, d);
}

/* add, sub, fma of f32 whose operands but the last are halves. */
static void mixed_do(ref_thread *t, const ref_op *op) {
    const lw_instruction *in = op->in;
    const uint32_t last = in->operand_count - 1;
    uint64_t v[3] = {0};
    for (uint32_t k = 1; k < last; k++) {
        const uint64_t a = ref_read(t, op, &in->operands[k], op->type);
        v[k - 1] = ref_is_nan(a, op->type) ? F32_NAN : ref_pack(ref_unpack(a, op->type), LW_T_f32, REF_NEAREST);
    }
    v[last - 1] = ref_read(t, op, &in->operands[last], LW_T_f32);
    uint64_t d = arithmetic32(in->words[0]->text, ref_rounding_of(op), v[0], v[1], v[2], false);
    ref_write(t, &in->operands[0], LW_T_f32, ref_has(op, REF_sat) ? ref_saturate(d, LW_T_f32) : d);
}

void ref_real_do(ref_thread *t, const ref_op *op);
void ref_real_do(ref_thread *t, const ref_op *op) {
    if (op->type_count == 2 && op->types[0] == LW_T_f32 && ref_is_half(op->type)) {
        mixed_do(t, op);
        return;
    }
    if (ref_has(op, REF_approx) || ref_has(op, REF_full)) {
        ref_approx_do(t, op);
        return;
    }
    if (ref_is_half(op->type)) {
        half_do(t, op);
        return;
    }
    const lw_instruction *in = op->in;
    const char *opcode = in->words[0]->text;
    uint64_t v[3] = {0}, d;
    const ref_rounding rounding = ref_rounding_of(op);
    for (uint32_t k = 1; k < in->operand_count && k < 4; k++) v[k - 1] = ref_read(t, op, &in->operands[k], op->type);
    if (op->type == LW_T_f32x2) { /* each half by itself */
        d = arithmetic32(opcode, rounding, v[0] & UINT32_MAX, v[1] & UINT32_MAX, v[2] & UINT32_MAX,
                         ref_has(op, REF_ftz));
        d |= arithmetic32(opcode, rounding, v[0] >> 32, v[1] >> 32, v[2] >> 32, ref_has(op, REF_ftz)) << 32;
        ref_write(t, &in->operands[0], op->type, d);
        return;
    }
    if (!strcmp(opcode, "abs") || !strcmp(opcode, "neg")) d = sign_operation(op, v[0], op->type);
    else if (!strcmp(opcode, "min") || !strcmp(opcode, "max")) {
        d = real_extreme(op, v[0], v[1], op->type);
        if (in->operand_count > 3) d = real_extreme(op, d, v[2], op->type);
    } else if (op->type == LW_T_f64) d = arithmetic64(opcode, rounding, in->operand_count - 1, v[0], v[1], v[2]);
    else d = arithmetic32(opcode, rounding, v[0], v[1], v[2], ref_has(op, REF_ftz));
    if (ref_has(op, REF_sat)) d = ref_saturate(d, op->type);
    ref_write(t, &in->operands[0], op->type, d);
}

void ref_do_fma(ref_thread *t, const ref_op *op) { ref_real_do(t, op); }
void ref_do_rcp(ref_thread *t, const ref_op *op) { ref_real_do(t, op); }
void ref_do_sqrt(ref_thread *t, const ref_op *op) { ref_real_do(t, op); }

void ref_do_copysign(ref_thread *t, const ref_op *op) {
    uint64_t a = ref_read(t, op, &op->in->operands[1], op->type), b = ref_read(t, op, &op->in->operands[2], op->type),
             sign = sign_bit(op->type);
    ref_write(t, &op->in->operands[0], op->type, (a & sign) | (b & ~sign));
}

void ref_do_testp(ref_thread *t, const ref_op *op) {
    uint64_t a = ref_read(t, op, &op->in->operands[1], op->type), size = a & ~sign_bit(op->type),
             inf = infinity(op->type);
    bool p = ref_has(op, REF_finite)       ? size < inf
             : ref_has(op, REF_infinite)   ? size == inf
             : ref_has(op, REF_number)     ? size <= inf
             : ref_has(op, REF_notanumber) ? size > inf
             : ref_has(op, REF_normal)     ? size < inf && !is_subnormal(a, op->type)
                                           : is_subnormal(a, op->type);
    ref_write(t, &op->in->operands[0], LW_T_pred, p);
}
