/* convert.c: cvt (manual section 9.7.9.21). From exact value to exact value, then rounded once. */
#include "reference.h"

#define F64_QUIET 0x0008000000000000u

/* An integral value of a real one: mantissa and sign; infinity stays. */
static ref_real integral(ref_real real, ref_rounding rounding) {
    if (real.kind != REF_FINITE || real.exponent >= 0) return real;
    uint32_t places = (uint32_t)-real.exponent;
    ref_real r = {.negative = real.negative};
    bool none = places > 100; /* a fraction far below one half: the same as 2^-100 to all roundings */
    unsigned __int128 m = real.mantissa;
    if (none) m = m != 0, places = 100; /* a zero may have any exponent */
    unsigned __int128 whole = m >> places, rest = m - (whole << places), half = (unsigned __int128)1 << (places - 1);
    bool up = rounding == REF_NEAREST ? rest > half || (rest == half && whole & 1)
              : rounding == REF_MINUS ? real.negative && rest
                                      : rounding == REF_PLUS && !real.negative && rest;
    r.mantissa = whole + up;
    return r;
}

/* A NaN: 0 for 8, 16, 32 bits unless it was a double; else the value with the top bit only. */
static uint64_t to_integer(ref_real real, lw_type from, lw_type to, ref_rounding rounding) {
    uint32_t bits = ref_bits(to);
    bool is_signed = ref_is_signed(to);
    if (real.kind == REF_NAN) return from == LW_T_f64 || bits == 64 ? (uint64_t)1 << (bits - 1) : 0;
    real = integral(real, rounding);
    unsigned __int128 most = is_signed       ? ref_mask(bits - 1) + (real.negative ? 1 : 0)
                             : real.negative ? 0
                                             : ref_mask(bits);
    unsigned __int128 m = real.mantissa;
    bool over = real.kind == REF_INFINITE;
    for (int32_t e = real.exponent; e > 0 && m && !over; e--) {
        m <<= 1;
        over = m > most;
    }
    if (over || m > most) m = most;
    return real.negative ? (uint64_t)0 - (uint64_t)m : (uint64_t)m;
}

static ref_real of_integer(uint64_t value, lw_type type) {
    bool negative = ref_is_signed(type) && value >> (ref_bits(type) - 1) & 1;
    return (ref_real){.negative = negative,
                      .mantissa = negative ? ((uint64_t)0 - value) & ref_mask(ref_bits(type)) : value};
}

static uint64_t clamp_integer(uint64_t value, lw_type from, lw_type to) {
    __int128 v = ref_is_signed(from) ? (__int128)ref_signed(value, ref_bits(from)) : (__int128)value;
    __int128 least = ref_is_signed(to) ? -((__int128)1 << (ref_bits(to) - 1)) : 0;
    __int128 most = ref_is_signed(to) ? (__int128)ref_mask(ref_bits(to) - 1) : (__int128)ref_mask(ref_bits(to));
    return (uint64_t)(v < least ? least : v > most ? most : v);
}

/* Sign and payload go along where one of both is a double: as much of it as there is room for, and the top bit of it is
 * set. Else there is one NaN of each type, but that a float stays what it is if nothing is done to it. */
static uint64_t nan_to_real(const ref_op *op, uint64_t a, lw_type from, lw_type to, bool rounds) {
    const ref_format f = ref_format_of(from), d = ref_format_of(to);
    const uint32_t sign = d.exponent + d.mantissa;
    if (ref_has(op, REF_sat)) return 0;
    if (from == to && to == LW_T_f32) return rounds || ref_has(op, REF_ftz) ? 0x7fffffff : a; /* plain: a move */
    if (from == to && to == LW_T_f64) return rounds ? a | F64_QUIET : a;
    if (from != LW_T_f64 && to != LW_T_f64) return ref_mask(sign);
    if (to == LW_T_f64 && ref_has(op, REF_ftz)) return 0x7fffffffe0000000u;
    const uint64_t payload = a & ref_mask(f.mantissa), moved = d.mantissa > f.mantissa
                                                                   ? payload << (d.mantissa - f.mantissa)
                                                                   : payload >> (f.mantissa - d.mantissa);
    return (a >> (f.exponent + f.mantissa) & 1) << sign | ref_mask(d.exponent) << d.mantissa |
           (uint64_t)1 << (d.mantissa - 1) | moved;
}

static uint64_t real_to_real(const ref_op *op, uint64_t a, lw_type from, lw_type to) {
    bool rounds = ref_has(op, REF_rni) || ref_has(op, REF_rzi) || ref_has(op, REF_rmi) || ref_has(op, REF_rpi),
         flushes = ref_has(op, REF_ftz);
    if (flushes && from == LW_T_f32) a = ref_flush(a, from);
    if (ref_is_nan(a, from)) return nan_to_real(op, a, from, to, rounds);
    ref_real real = ref_unpack(a, from);
    uint64_t d =
        ref_pack(rounds ? integral(real, ref_rounding_of(op)) : real, to, rounds ? REF_NEAREST : ref_rounding_of(op));
    if (flushes && to == LW_T_f32) d = ref_flush(d, to);
    return ref_has(op, REF_sat) ? ref_saturate(d, to) : d;
}

/* cvt.pack (9.7.9.22): c, a and b one behind the other; a and b limited, and as many bits of c as there is room for. */
static void pack(ref_thread *t, const ref_op *op) {
    bool nibble = ref_has(op, REF_u4) || ref_has(op, REF_s4), crumb = ref_has(op, REF_u2) || ref_has(op, REF_s2);
    uint32_t bits = nibble ? 4 : crumb ? 2 : ref_bits(op->types[0]);
    bool is_signed = nibble || crumb ? ref_has(op, REF_s4) || ref_has(op, REF_s2) : ref_is_signed(op->types[0]);
    int64_t least = is_signed ? -((int64_t)1 << (bits - 1)) : 0, most = least + (int64_t)ref_mask(bits);
    uint64_t d = op->in->operand_count > 3 ? ref_read(t, op, &op->in->operands[3], LW_T_b32) : 0;
    for (uint32_t k = 1; k <= 2; k++) {
        int64_t v = ref_signed(ref_read(t, op, &op->in->operands[k], LW_T_s32) & ref_mask(32), 32);
        d = d << bits | ((uint64_t)(v < least ? least : v > most ? most : v) & ref_mask(bits));
    }
    ref_write(t, &op->in->operands[0], LW_T_b32, d & ref_mask(32));
}

static bool is_short(lw_type type) { return type == LW_T_f16 || type == LW_T_bf16 || type == LW_T_tf32; }

/* To f16, bf16, or tf32 as 19 bits. */
static uint64_t shortened(const ref_op *op, uint64_t a, lw_type to) {
    const uint64_t sign = to == LW_T_tf32 ? 1u << 18 : 1u << 15, one = to == LW_T_f16 ? 0x3c00 : 0x3f80;
    if (to == LW_T_tf32 &&
        ref_has(op, REF_rna)) { /* hardware adds half a place, without a look at what it is, but for the top exponent */
        const uint64_t d = ((a >> 23 & 255) == 255 ? a : a + 0x1000) >> 13;
        return d - (ref_has(op, REF_satfinite) && (d >> 10 & 255) == 255);
    }
    if (to != LW_T_f16 && ref_has(op, REF_ftz)) a = ref_flush(a, LW_T_f32);
    if (ref_is_nan(a, LW_T_f32)) return ref_has(op, REF_sat) ? 0 : sign - 1;
    uint64_t d = ref_pack(ref_unpack(a, LW_T_f32), to, ref_rounding_of(op));
    if (ref_has(op, REF_satfinite) && ref_unpack(d, to).kind == REF_INFINITE) d--;
    if (d & sign) return ref_has(op, REF_relu) || ref_has(op, REF_sat) ? 0 : d;
    return ref_has(op, REF_sat) && d > one ? one : d;
}

/* What ends in one or two short numbers, or comes from one; false: nothing of it. */
static bool of_halves(ref_thread *t, const ref_op *op) {
    const lw_type to = op->types[0], from = op->types[1];
    const bool pair = to == LW_T_f16x2 || to == LW_T_bf16x2;
    if (from == LW_T_bf16 && to == LW_T_f32) { /* the upper half, a NaN too but with .ftz, as an H200 does it */
        const uint64_t a = (ref_read(t, op, &op->in->operands[1], from) & 0xffff) << 16;
        ref_write(t, &op->in->operands[0], to,
                  !ref_has(op, REF_ftz) ? a
                  : ref_is_nan(a, to)   ? 0x7fffffff
                                        : ref_flush(a, to));
        return true;
    }
    if (from != LW_T_f32 || (!pair && !is_short(to))) return false;
    uint64_t d = 0;
    for (uint32_t k = 1; k <= (pair ? 2 : 1); k++)
        d = d << 16 | shortened(op, ref_read(t, op, &op->in->operands[k], from),
                                to == LW_T_f16x2    ? LW_T_f16
                                : to == LW_T_bf16x2 ? LW_T_bf16
                                                    : to);
    ref_write(t, &op->in->operands[0], to, to == LW_T_tf32 ? d << 13 : d);
    return true;
}

void ref_do_cvt(ref_thread *t, const ref_op *op) {
    if (ref_has(op, REF_pack)) {
        pack(t, op);
        return;
    }
    if (ref_narrow(t, op) || of_halves(t, op)) return;
    lw_type to = op->types[0], from = op->types[1];
    uint64_t a = ref_read(t, op, &op->in->operands[1], from), d;
    if (ref_is_real(from) && ref_is_real(to)) d = real_to_real(op, a, from, to);
    else if (ref_is_real(from)) {
        if (ref_has(op, REF_ftz)) a = ref_flush(a, from);
        d = to_integer(ref_unpack(a, from), from, to, ref_rounding_of(op));
    } else if (ref_is_real(to)) {
        d = ref_pack(of_integer(a, from), to, ref_rounding_of(op));
        if (ref_has(op, REF_sat)) d = ref_saturate(d, to);
    } else if (ref_has(op, REF_sat)) d = clamp_integer(a, from, to);
    else d = ref_is_signed(from) ? (uint64_t)ref_signed(a, ref_bits(from)) : a;
    ref_write(t, &op->in->operands[0], to, d);
}
