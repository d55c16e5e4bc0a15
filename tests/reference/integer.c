/* integer.c: integers, logic, shifts, comparisons (manual sections 9.7.1, 9.7.2, 9.7.6, 9.7.8). */
#include "reference.h"

typedef __int128 wide;
typedef unsigned __int128 uwide;

/* Operand n as its type says: sign or zero extended. */
static wide in(ref_thread *t, const ref_op *op, uint32_t n, lw_type type) {
    const lw_operand *operand = &op->in->operands[n];
    return ref_is_signed(type) ? (wide)ref_read_signed(t, op, operand, type) : (wide)ref_read(t, op, operand, type);
}
static uint64_t bits_in(ref_thread *t, const ref_op *op, uint32_t n, lw_type type) {
    return ref_read(t, op, &op->in->operands[n], type);
}
static void out(ref_thread *t, const ref_op *op, wide value) {
    ref_write(t, &op->in->operands[0], op->type, (uint64_t)value);
}

static wide clamp(wide value, wide least, wide most) { return value < least ? least : value > most ? most : value; }
static wide clamp_s32(wide value) { return clamp(value, INT32_MIN, INT32_MAX); }
static bool is_pair(lw_type type) { return type == LW_T_u16x2 || type == LW_T_s16x2; }

void ref_real_do(ref_thread *t, const ref_op *op); /* real.c: the same opcodes on floating point */

/* ---- Sums and products --------------------------------------------------------------------------------------- */

enum half_what { HALF_ADD, HALF_MIN, HALF_MAX };

/* Two 16-bit numbers side by side. */
static void halves(ref_thread *t, const ref_op *op, enum half_what what) {
    uint64_t a = bits_in(t, op, 1, LW_T_b32), b = bits_in(t, op, 2, LW_T_b32), d = 0;
    for (uint32_t at = 0; at < 32; at += 16) {
        wide x = op->type == LW_T_s16x2 ? (wide)(int16_t)(a >> at) : (wide)(uint16_t)(a >> at);
        wide y = op->type == LW_T_s16x2 ? (wide)(int16_t)(b >> at) : (wide)(uint16_t)(b >> at);
        wide r = what == HALF_ADD ? x + y : (what == HALF_MIN) == (x < y) ? x : y;
        if (ref_has(op, REF_relu) && r < 0) r = 0;
        d |= (uint64_t)(uint16_t)r << at;
    }
    ref_write(t, &op->in->operands[0], LW_T_b32, d);
}

/* What CC.CF holds is the carry of an addition and the complement of a subtraction's borrow. */
static void with_carry(ref_thread *t, const ref_op *op, wide a, wide b, bool carry) {
    uint32_t bits = ref_bits(op->type);
    uwide sum = (uwide)((uint64_t)a & ref_mask(bits)) + ((uint64_t)b & ref_mask(bits)) + carry;
    out(t, op, (wide)sum);
    if (ref_has(op, REF_cc)) t->carry = sum >> bits & 1;
}

void ref_do_add(ref_thread *t, const ref_op *op) {
    if (ref_is_real(op->type) || op->type == LW_T_f32x2) ref_real_do(t, op);
    else if (is_pair(op->type)) halves(t, op, HALF_ADD);
    else if (ref_has(op, REF_cc)) with_carry(t, op, in(t, op, 1, op->type), in(t, op, 2, op->type), false);
    else {
        wide sum = in(t, op, 1, op->type) + in(t, op, 2, op->type);
        out(t, op, ref_has(op, REF_sat) ? clamp_s32(sum) : sum);
    }
}

void ref_do_sub(ref_thread *t, const ref_op *op) {
    if (ref_is_real(op->type) || op->type == LW_T_f32x2) ref_real_do(t, op);
    else if (ref_has(op, REF_cc)) with_carry(t, op, in(t, op, 1, op->type), ~in(t, op, 2, op->type), true);
    else {
        wide sum = in(t, op, 1, op->type) - in(t, op, 2, op->type);
        out(t, op, ref_has(op, REF_sat) ? clamp_s32(sum) : sum);
    }
}

void ref_do_addc(ref_thread *t, const ref_op *op) {
    with_carry(t, op, in(t, op, 1, op->type), in(t, op, 2, op->type), t->carry);
}
void ref_do_subc(ref_thread *t, const ref_op *op) {
    with_carry(t, op, in(t, op, 1, op->type), ~in(t, op, 2, op->type), t->carry);
}

/* The product of 64-bit numbers needs all 128 bits, unsigned ones too. */
static uint64_t product(const ref_op *op, wide a, wide b) {
    uint32_t bits = ref_bits(op->type);
    uwide p = (uwide)a * (uwide)b;
    if (!ref_has(op, REF_hi)) return (uint64_t)p;
    return (uint64_t)(p >> bits);
}

static lw_type twice(lw_type type) {
    return type == LW_T_u16 ? LW_T_u32 : type == LW_T_s16 ? LW_T_s32 : type == LW_T_u32 ? LW_T_u64 : LW_T_s64;
}

static void multiply(ref_thread *t, const ref_op *op, bool adds) {
    wide a = in(t, op, 1, op->type), b = in(t, op, 2, op->type);
    bool is_wide = ref_has(op, REF_wide);
    lw_type type = is_wide ? twice(op->type) : op->type;
    wide c = adds ? in(t, op, 3, type) : 0;
    if (is_wide) ref_write(t, &op->in->operands[0], type, (uint64_t)(a * b + c));
    else if (ref_has(op, REF_sat)) out(t, op, clamp_s32((wide)(int32_t)product(op, a, b) + c));
    else if (ref_has(op, REF_cc)) with_carry(t, op, (wide)product(op, a, b), c, false);
    else out(t, op, (wide)(product(op, a, b) + (uint64_t)c));
}

void ref_do_mul(ref_thread *t, const ref_op *op) {
    if (ref_is_real(op->type) || op->type == LW_T_f32x2) ref_real_do(t, op);
    else multiply(t, op, false);
}
void ref_do_mad(ref_thread *t, const ref_op *op) {
    if (ref_is_real(op->type)) ref_real_do(t, op);
    else multiply(t, op, true);
}
void ref_do_madc(ref_thread *t, const ref_op *op) {
    wide a = in(t, op, 1, op->type), b = in(t, op, 2, op->type), c = in(t, op, 3, op->type);
    with_carry(t, op, (wide)product(op, a, b), c, t->carry);
}

static wide product24(ref_thread *t, const ref_op *op) {
    wide a = in(t, op, 1, op->type), b = in(t, op, 2, op->type);
    a = ref_is_signed(op->type) ? (wide)ref_signed((uint64_t)a, 24) : a & 0xffffff;
    b = ref_is_signed(op->type) ? (wide)ref_signed((uint64_t)b, 24) : b & 0xffffff;
    wide p = a * b; /* 48 bits: the low or the high 32 of them */
    if (ref_has(op, REF_hi)) p >>= 16;
    return ref_is_signed(op->type) ? (wide)(int32_t)p : (wide)(uint32_t)p;
}
void ref_do_mul24(ref_thread *t, const ref_op *op) { out(t, op, product24(t, op)); }
void ref_do_mad24(ref_thread *t, const ref_op *op) {
    wide sum = product24(t, op) + in(t, op, 3, op->type);
    out(t, op, ref_has(op, REF_sat) ? clamp_s32(sum) : sum);
}

void ref_do_sad(ref_thread *t, const ref_op *op) {
    wide a = in(t, op, 1, op->type), b = in(t, op, 2, op->type);
    out(t, op, in(t, op, 3, op->type) + (a < b ? b - a : a - b));
}

/* By zero: the manual leaves it open; all ones, as on sm_90. */
void ref_do_div(ref_thread *t, const ref_op *op) {
    if (ref_is_real(op->type)) {
        ref_real_do(t, op);
        return;
    }
    wide a = in(t, op, 1, op->type), b = in(t, op, 2, op->type);
    out(t, op, b ? a / b : -1);
}
void ref_do_rem(ref_thread *t, const ref_op *op) {
    wide a = in(t, op, 1, op->type), b = in(t, op, 2, op->type);
    out(t, op, b ? a % b : -1);
}

void ref_do_abs(ref_thread *t, const ref_op *op) {
    if (ref_is_real(op->type)) {
        ref_real_do(t, op);
        return;
    }
    wide a = in(t, op, 1, op->type);
    out(t, op, a < 0 ? -a : a);
}
void ref_do_neg(ref_thread *t, const ref_op *op) {
    if (ref_is_real(op->type)) ref_real_do(t, op);
    else out(t, op, -in(t, op, 1, op->type));
}

static void extreme(ref_thread *t, const ref_op *op, bool is_min) {
    if (ref_is_real(op->type)) ref_real_do(t, op);
    else if (is_pair(op->type)) halves(t, op, is_min ? HALF_MIN : HALF_MAX);
    else {
        wide a = in(t, op, 1, op->type), b = in(t, op, 2, op->type), d = is_min == (a < b) ? a : b;
        out(t, op, ref_has(op, REF_relu) && d < 0 ? 0 : d);
    }
}
void ref_do_min(ref_thread *t, const ref_op *op) { extreme(t, op, true); }
void ref_do_max(ref_thread *t, const ref_op *op) { extreme(t, op, false); }

/* ---- Bits ---------------------------------------------------------------------------------------------------- */

static void out32(ref_thread *t, const ref_op *op, uint32_t value) {
    ref_write(t, &op->in->operands[0], LW_T_u32, value);
}

void ref_do_popc(ref_thread *t, const ref_op *op) {
    uint32_t count = 0;
    for (uint64_t a = bits_in(t, op, 1, op->type); a; a >>= 1) count += a & 1;
    out32(t, op, count);
}

static uint32_t leading_zeros(uint64_t a, uint32_t bits) {
    uint32_t count = 0;
    while (count < bits && !(a >> (bits - 1 - count) & 1)) count++;
    return count;
}
void ref_do_clz(ref_thread *t, const ref_op *op) {
    out32(t, op, leading_zeros(bits_in(t, op, 1, op->type), ref_bits(op->type)));
}

void ref_do_bfind(ref_thread *t, const ref_op *op) {
    uint32_t bits = ref_bits(op->type), zeros;
    uint64_t a = bits_in(t, op, 1, op->type);
    if (ref_is_signed(op->type) && a >> (bits - 1)) a = ~a & ref_mask(bits);
    zeros = leading_zeros(a, bits);
    out32(t, op, zeros == bits ? UINT32_MAX : ref_has(op, REF_shiftamt) ? zeros : bits - 1 - zeros);
}

void ref_do_fns(ref_thread *t, const ref_op *op) {
    uint32_t mask = (uint32_t)bits_in(t, op, 1, LW_T_b32), d = UINT32_MAX;
    int64_t at = (int64_t)bits_in(t, op, 2, LW_T_b32), offset = ref_signed(bits_in(t, op, 3, LW_T_b32), 32);
    int64_t step = offset > 0 ? 1 : -1, left = offset > 0 ? offset : -offset;
    if (offset == 0) left = 1;
    if (offset == INT32_MIN) { /* as on sm_90 */
        out32(t, op, 0);
        return;
    }
    for (; at >= 0 && at < 32; at += step) {
        if (mask >> at & 1 && !--left) {
            d = (uint32_t)at;
            break;
        }
        if (offset == 0) break;
    }
    out32(t, op, d);
}

void ref_do_brev(ref_thread *t, const ref_op *op) {
    uint32_t bits = ref_bits(op->type);
    uint64_t a = bits_in(t, op, 1, op->type), d = 0;
    for (uint32_t k = 0; k < bits; k++) d |= (a >> k & 1) << (bits - 1 - k);
    out(t, op, (wide)d);
}

/* The manual restricts positions and lengths to 0...255; sm_90 does so for 32 bits only (docs/decisions/0003). */
static uint64_t place_in(ref_thread *t, const ref_op *op, uint32_t n) {
    return bits_in(t, op, n, LW_T_u32) & (ref_bits(op->type) == 32 ? 0xff : UINT32_MAX);
}

void ref_do_bfe(ref_thread *t, const ref_op *op) {
    uint64_t msb = ref_bits(op->type) - 1, from = place_in(t, op, 2), length = place_in(t, op, 3);
    uint64_t a = bits_in(t, op, 1, op->type), d = 0, fill = 0;
    uint64_t top = from + length - 1 < msb ? from + length - 1 : msb;
    if (ref_is_signed(op->type) && length) fill = a >> top & 1;
    for (uint32_t k = 0; k <= msb; k++) d |= (k < length && from + k <= msb ? a >> (from + k) & 1 : fill) << k;
    out(t, op, (wide)d);
}

void ref_do_bfi(ref_thread *t, const ref_op *op) {
    uint64_t msb = ref_bits(op->type) - 1, from = place_in(t, op, 3), length = place_in(t, op, 4);
    uint64_t a = bits_in(t, op, 1, op->type), d = bits_in(t, op, 2, op->type);
    for (uint32_t k = 0; k < length && from + k <= msb; k++)
        d = (d & ~((uint64_t)1 << (from + k))) | (a >> k & 1) << (from + k);
    out(t, op, (wide)d);
}

void ref_do_szext(ref_thread *t, const ref_op *op) {
    uint32_t a = (uint32_t)bits_in(t, op, 1, LW_T_b32), b = (uint32_t)bits_in(t, op, 2, LW_T_u32), d = a;
    if (ref_has(op, REF_wrap)) b &= 31;
    for (uint32_t k = b; k < 32; k++) { /* everything from bit b on is the sign, or zero */
        bool bit = ref_is_signed(op->type) && b ? a >> (b - 1) & 1 : false;
        d = (d & ~((uint32_t)1 << k)) | (uint32_t)bit << k;
    }
    out32(t, op, d);
}

void ref_do_bmsk(ref_thread *t, const ref_op *op) {
    uint64_t a = bits_in(t, op, 1, LW_T_u32), b = bits_in(t, op, 2, LW_T_u32);
    uint32_t d = 0;
    if (ref_has(op, REF_wrap)) a &= 31, b &= 31;
    for (uint64_t k = a; k < 32 && k < a + b; k++) d |= (uint32_t)1 << k;
    out32(t, op, d);
}

static int64_t part(uint64_t value, uint32_t number, uint32_t bits, lw_type type) {
    value = value >> number * bits & ref_mask(bits);
    return ref_is_signed(type) ? ref_signed(value, bits) : (int64_t)value;
}

void ref_do_dp4a(ref_thread *t, const ref_op *op) {
    uint64_t a = bits_in(t, op, 1, LW_T_b32), b = bits_in(t, op, 2, LW_T_b32), sum = bits_in(t, op, 3, LW_T_b32);
    for (uint32_t k = 0; k < 4; k++) sum += (uint64_t)(part(a, k, 8, op->types[0]) * part(b, k, 8, op->types[1]));
    out32(t, op, (uint32_t)sum);
}

void ref_do_dp2a(ref_thread *t, const ref_op *op) {
    uint64_t a = bits_in(t, op, 1, LW_T_b32), b = bits_in(t, op, 2, LW_T_b32), sum = bits_in(t, op, 3, LW_T_b32);
    uint32_t first = ref_has(op, REF_hi) ? 2 : 0;
    for (uint32_t k = 0; k < 2; k++)
        sum += (uint64_t)(part(a, k, 16, op->types[0]) * part(b, first + k, 8, op->types[1]));
    out32(t, op, (uint32_t)sum);
}

/* ---- Logic and shifts ------------------------------------------------------------------------------------------ */

void ref_do_and(ref_thread *t, const ref_op *op) {
    out(t, op, (wide)(bits_in(t, op, 1, op->type) & bits_in(t, op, 2, op->type)));
}
void ref_do_or(ref_thread *t, const ref_op *op) {
    out(t, op, (wide)(bits_in(t, op, 1, op->type) | bits_in(t, op, 2, op->type)));
}
void ref_do_xor(ref_thread *t, const ref_op *op) {
    out(t, op, (wide)(bits_in(t, op, 1, op->type) ^ bits_in(t, op, 2, op->type)));
}
void ref_do_not(ref_thread *t, const ref_op *op) { out(t, op, (wide)~bits_in(t, op, 1, op->type)); }
void ref_do_cnot(ref_thread *t, const ref_op *op) { out(t, op, bits_in(t, op, 1, op->type) == 0); }

static bool combine(const ref_op *op, bool p, bool c) {
    return ref_has(op, REF_or) ? p || c : ref_has(op, REF_xor) ? p != c : p && c;
}

void ref_do_lop3(ref_thread *t, const ref_op *op) {
    uint32_t a = (uint32_t)bits_in(t, op, 1, LW_T_b32), b = (uint32_t)bits_in(t, op, 2, LW_T_b32),
             c = (uint32_t)bits_in(t, op, 3, LW_T_b32);
    uint32_t table = op->in->operands[4].value & 0xff, d = 0;
    for (uint32_t k = 0; k < 32; k++) d |= (table >> ((a >> k & 1) << 2 | (b >> k & 1) << 1 | (c >> k & 1)) & 1) << k;
    const lw_operand *to = &op->in->operands[0];
    if (to->kind != LW_O_PAIR) {
        ref_write(t, to, LW_T_b32, d);
        return;
    }
    bool p = combine(op, d != 0, bits_in(t, op, 5, LW_T_pred));
    ref_write(t, &to->parts[0], LW_T_b32, d);
    ref_write(t, &to->parts[1], LW_T_pred, p);
}

void ref_do_shf(ref_thread *t, const ref_op *op) {
    uint64_t both = bits_in(t, op, 2, LW_T_b32) << 32 | bits_in(t, op, 1, LW_T_b32), n = bits_in(t, op, 3, LW_T_u32);
    n = ref_has(op, REF_wrap) ? n & 31 : n > 32 ? 32 : n;
    out32(t, op, (uint32_t)(ref_has(op, REF_l) ? both << n >> 32 : both >> n));
}

/* By more than the width: zeros, or signs. Of an immediate amount of a 16-bit shift sm_90 takes the low half. */
static uint64_t amount(ref_thread *t, const ref_op *op) {
    uint64_t n = bits_in(t, op, 2, LW_T_u32);
    bool low = t->machine->launch->sm_90 && ref_bits(op->type) == 16 && op->in->operands[2].kind == LW_O_INT;
    return low ? n & 0xffff : n;
}
void ref_do_shl(ref_thread *t, const ref_op *op) {
    uint64_t n = amount(t, op);
    out(t, op, n >= ref_bits(op->type) ? 0 : (wide)(bits_in(t, op, 1, op->type) << n));
}
void ref_do_shr(ref_thread *t, const ref_op *op) {
    uint64_t n = amount(t, op);
    wide a = in(t, op, 1, op->type);
    out(t, op, n >= ref_bits(op->type) ? (a < 0 ? -1 : 0) : a >> n);
}

static uint32_t prmt_selector(const ref_op *op, uint32_t c) {
    static const uint16_t f4e[] = {0x3210, 0x4321, 0x5432, 0x6543}, b4e[] = {0x5670, 0x6701, 0x7012, 0x0123},
                          rc8[] = {0, 0x1111, 0x2222, 0x3333}, ecl[] = {0x3210, 0x3211, 0x3222, 0x3333},
                          ecr[] = {0, 0x1110, 0x2210, 0x3210}, rc16[] = {0x1010, 0x3232, 0x1010, 0x3232};
    c &= ref_has(op, REF_f4e) || ref_has(op, REF_b4e) || ref_has(op, REF_rc8) || ref_has(op, REF_ecl) ||
                 ref_has(op, REF_ecr) || ref_has(op, REF_rc16)
             ? 3
             : 0xffff;
    return ref_has(op, REF_f4e)    ? f4e[c]
           : ref_has(op, REF_b4e)  ? b4e[c]
           : ref_has(op, REF_rc8)  ? rc8[c]
           : ref_has(op, REF_ecl)  ? ecl[c]
           : ref_has(op, REF_ecr)  ? ecr[c]
           : ref_has(op, REF_rc16) ? rc16[c]
                                   : c;
}

void ref_do_prmt(ref_thread *t, const ref_op *op) {
    uint64_t bytes = bits_in(t, op, 2, LW_T_b32) << 32 | bits_in(t, op, 1, LW_T_b32);
    uint32_t selector = prmt_selector(op, (uint32_t)bits_in(t, op, 3, LW_T_b32)), d = 0;
    for (uint32_t k = 0; k < 4; k++) {
        uint32_t s = selector >> 4 * k & 15, byte = bytes >> (s & 7) * 8 & 0xff;
        if (s & 8) byte = byte & 0x80 ? 0xff : 0; /* its sign, eight times */
        d |= byte << 8 * k;
    }
    ref_write(t, &op->in->operands[0], LW_T_b32, d);
}

/* ---- Comparisons and selections -------------------------------------------------------------------------------- */

static bool compare(ref_thread *t, const ref_op *op) {
    if (ref_is_real(op->type))
        return ref_real_compare(op, bits_in(t, op, 1, op->type), bits_in(t, op, 2, op->type), op->type);
    wide a = in(t, op, 1, op->type), b = in(t, op, 2, op->type);
    if (ref_has(op, REF_eq)) return a == b;
    if (ref_has(op, REF_ne)) return a != b;
    if (ref_has(op, REF_lt) || ref_has(op, REF_lo)) return a < b;
    if (ref_has(op, REF_le) || ref_has(op, REF_ls)) return a <= b;
    if (ref_has(op, REF_gt) || ref_has(op, REF_hi)) return a > b;
    return a >= b;
}

static bool has_bool(const ref_op *op) { return ref_has(op, REF_and) || ref_has(op, REF_or) || ref_has(op, REF_xor); }

/* With the third operand, where the instruction has one. */
static bool joined(ref_thread *t, const ref_op *op, bool p) {
    return has_bool(op) ? combine(op, p, bits_in(t, op, 3, LW_T_pred)) : p;
}

/* Two halves: the type of one, LW_T_none where there are none; the comparison of the low one or the high one. */
static lw_type half_of(const ref_op *op) {
    return op->type == LW_T_f16x2 ? LW_T_f16 : op->type == LW_T_bf16x2 ? LW_T_bf16 : LW_T_none;
}
static bool compare_half(ref_thread *t, const ref_op *op, uint32_t high) {
    uint64_t a = bits_in(t, op, 1, op->type) >> 16 * high & 0xffff,
             b = bits_in(t, op, 2, op->type) >> 16 * high & 0xffff;
    return joined(t, op, ref_real_compare(op, a, b, half_of(op)));
}

void ref_do_setp(ref_thread *t, const ref_op *op) {
    bool halves = half_of(op), p = halves ? compare_half(t, op, 0) : compare(t, op),
         q = halves ? compare_half(t, op, 1) : joined(t, op, !p);
    if (!halves) p = joined(t, op, p);
    const lw_operand *d = &op->in->operands[0];
    ref_write(t, d->kind == LW_O_PAIR ? &d->parts[0] : d, LW_T_pred, p);
    if (d->kind == LW_O_PAIR) ref_write(t, &d->parts[1], LW_T_pred, q);
}

void ref_do_set(ref_thread *t, const ref_op *op) {
    const lw_type to = op->types[0];
    const uint64_t yes = to == LW_T_f32                         ? 0x3f800000
                         : to == LW_T_f16 || to == LW_T_f16x2   ? 0x3c00
                         : to == LW_T_bf16 || to == LW_T_bf16x2 ? 0x3f80
                                                                : UINT32_MAX;
    uint64_t d = 0;
    if (half_of(op))
        for (uint32_t high = 0; high < 2; high++) d |= compare_half(t, op, high) ? (yes & 0xffff) << 16 * high : 0;
    else d = joined(t, op, compare(t, op)) ? yes : 0;
    ref_write(t, &op->in->operands[0], to, d);
}

void ref_do_selp(ref_thread *t, const ref_op *op) {
    bool c = bits_in(t, op, 3, LW_T_pred);
    out(t, op, (wide)bits_in(t, op, c ? 1 : 2, op->type));
}

void ref_do_slct(ref_thread *t, const ref_op *op) {
    uint64_t c = bits_in(t, op, 3, op->types[1]);
    bool first;
    if (op->types[1] == LW_T_s32) first = (int32_t)c >= 0;
    else { /* c >= 0: -0 is, a negative subnormal number is where it counts as zero */
        if (ref_has(op, REF_ftz)) c = ref_flush(c, LW_T_f32);
        first = !ref_is_nan(c, LW_T_f32) && (!(c >> 31) || !(c & 0x7fffffff));
    }
    ref_write(t, &op->in->operands[0], op->types[0], bits_in(t, op, first ? 1 : 2, op->types[0]));
}
