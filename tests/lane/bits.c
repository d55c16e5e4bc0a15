/* bits.h against the manual's pseudo-code, one bit at a time; where an H100 differs from it, against what an
 * H100 gave (64-bit fields, and fns with an offset of -2^31). */
#include "check.h"

static unsigned ones(uint64_t a) {
    unsigned d = 0;
    for (; a != 0; a >>= 1) d += a & 1;
    return d;
}

static unsigned zeros_above(uint64_t a, unsigned width) {
    unsigned d = 0;
    for (uint64_t mask = UINT64_C(1) << (width - 1); d < width && !(a & mask); a <<= 1) d++;
    return d;
}

static uint32_t find(uint64_t a, int msb, bool is_signed, bool shiftamt) {
    if (is_signed && a >> msb & 1) a = ~a;
    for (int i = msb; i >= 0; i--)
        if (a >> i & 1) return (uint32_t)(shiftamt ? msb - i : i);
    return UINT32_MAX;
}

static uint64_t reversed(uint64_t a, int msb) {
    uint64_t d = 0;
    for (int i = 0; i <= msb; i++) d |= (a >> (msb - i) & 1) << i;
    return d;
}

static uint32_t nth(uint32_t mask, uint32_t base, int32_t offset) {
    if (offset == INT32_MIN) return 0;
    if (base > 31) return UINT32_MAX;
    if (offset == 0) return mask >> base & 1 ? base : UINT32_MAX;
    int64_t count = (offset < 0 ? -(int64_t)offset : offset) - 1;
    for (int pos = (int)base; pos >= 0 && pos<32; pos += offset> 0 ? 1 : -1)
        if (mask >> pos & 1 && count-- == 0) return (uint32_t)pos;
    return UINT32_MAX;
}

static void counts_and_places(void **state) {
    (void)state;
    CHECK1(popc_b32, u32, u32, ones(a));
    CHECK1(popc_b64, u32, u64, ones(a));
    CHECK1(clz_b32, u32, u32, zeros_above(a, 32));
    CHECK1(clz_b64, u32, u64, zeros_above(a, 64));
    CHECK1(bfind_u32, u32, u32, find(a, 31, false, false));
    CHECK1(bfind_u64, u32, u64, find(a, 63, false, false));
    CHECK1(bfind_s32, u32, s32, find((u32)a, 31, true, false));
    CHECK1(bfind_s64, u32, s64, find((u64)a, 63, true, false));
    CHECK1(bfind_shiftamt_u32, u32, u32, find(a, 31, false, true));
    CHECK1(bfind_shiftamt_u64, u32, u64, find(a, 63, false, true));
    CHECK1(bfind_shiftamt_s32, u32, s32, find((u32)a, 31, true, true));
    CHECK1(bfind_shiftamt_s64, u32, s64, find((u64)a, 63, true, true));
    CHECK1(brev_b32, u32, u32, reversed(a, 31));
    CHECK1(brev_b64, u64, u64, reversed(a, 63));
    /* The manual's examples. */
    assert_int_equal(lw_fns(0xaaaaaaaa, 3, 1), 3);
    assert_int_equal(lw_fns(0xaaaaaaaa, 3, -1), 3);
    assert_int_equal(lw_fns(0xaaaaaaaa, 2, 1), 3);
    assert_int_equal(lw_fns(0xaaaaaaaa, 2, -1), 1);
    for (unsigned i = 0; i < 3000; i++)
        for (uint32_t base = 0; base < 33; base++) {
            uint32_t mask = (uint32_t)lane_value(i);
            int32_t offset = i % 50 == 0 ? (int32_t)lane_value(i / 50) : (int32_t)(i % 67) - 33;
            uint32_t got = lw_fns(mask, base, offset), want = nth(mask, base, offset);
            if (got != want) lane_fail("fns", mask, base, (uint32_t)offset, 0, got, want);
        }
    lane_tested("fns");
}

static uint64_t extract(uint64_t a, uint32_t b, uint32_t c, int msb, bool is_signed) {
    int64_t pos = msb == 31 ? b & 0xff : b, len = msb == 31 ? c & 0xff : c,
            top = pos + len - 1 < msb ? pos + len - 1 : msb;
    uint64_t sbit = is_signed && len != 0 ? a >> top & 1 : 0, d = 0;
    for (int i = 0; i <= msb; i++) d |= (i < len && pos + i <= msb ? a >> (pos + i) & 1 : sbit) << i;
    return d;
}

static uint64_t insert(uint64_t a, uint64_t b, uint32_t c, uint32_t d, int msb) {
    int64_t pos = msb == 31 ? c & 0xff : c, len = msb == 31 ? d & 0xff : d;
    uint64_t f = b;
    for (int i = 0; i < len && pos + i <= msb; i++) f = (f & ~(UINT64_C(1) << (pos + i))) | (a >> i & 1) << (pos + i);
    return f;
}

static void field(uint64_t a, uint64_t b, uint32_t first, uint32_t length) {
    uint64_t pairs[][2] = {
        {lw_bfe_u32((u32)a, first, length), extract((u32)a, first, length, 31, false)},
        {lw_bfe_u64(a, first, length), extract(a, first, length, 63, false)},
        {(u32)lw_bfe_s32((s32)a, first, length), extract((u32)a, first, length, 31, true)},
        {(u64)lw_bfe_s64((s64)a, first, length), extract(a, first, length, 63, true)},
        {lw_bfi_b32((u32)a, (u32)b, first, length), insert((u32)a, (u32)b, first, length, 31)},
        {lw_bfi_b64(a, b, first, length), insert(a, b, first, length, 63)},
    };
    static const char *const names[] = {"bfe_u32", "bfe_u64", "bfe_s32", "bfe_s64", "bfi_b32", "bfi_b64"};
    for (int i = 0; i < 6; i++)
        if (pairs[i][0] != pairs[i][1]) lane_fail(names[i], a, b, first, length, pairs[i][0], pairs[i][1]);
}

/* Every first bit and length up to the width and beyond, and noise in the bits that do not count. */
static void fields(void **state) {
    (void)state;
    for (uint32_t first = 0; first < 68; first++)
        for (uint32_t length = 0; length < 68; length++)
            for (unsigned k = 0; k < 8; k++) {
                uint32_t noise = k < 4 ? 0 : (uint32_t)lane_value(LANE_EDGES + length + k) << 8;
                field(lane_value(LANE_EDGES + 70 * k + first), lane_value(999 + length + k), first | noise,
                      length | noise);
            }
    for (unsigned k = 0; k < 60000; k++) /* bytes 68 to 255 too */
        field(lane_value(4 * k), lane_value(4 * k + 1), (uint32_t)lane_value(4 * k + 2),
              (uint32_t)lane_value(4 * k + 3));
    lane_tested("bfe_u32"), lane_tested("bfe_u64"), lane_tested("bfe_s32"), lane_tested("bfe_s64");
    lane_tested("bfi_b32"), lane_tested("bfi_b64");
}

static uint32_t extend(uint32_t a, uint32_t b, bool clamp, bool is_signed) {
    uint32_t b1 = b & 0x1f;
    bool too_large = b >= 32 && clamp;
    uint32_t mask = too_large ? 0 : ~0u << b1, sign_pos = (b1 - 1) & 0x1f;
    bool sign_bit = b1 == 0 || too_large || !is_signed ? false : a >> sign_pos & 1;
    return (a & ~mask) | (sign_bit ? mask : 0);
}

static uint32_t mask_of(uint32_t a, uint32_t b, bool clamp) {
    uint32_t a1 = a & 0x1f, mask0 = ~0u << a1, b1 = b & 0x1f, sum = a1 + b1;
    bool overflow = sum >= 32;
    if (clamp && a >= 32) overflow = true, mask0 = 0;
    if (clamp && b >= 32) overflow = true;
    uint32_t mask1 = overflow ? 0 : b1 == 0 ? ~0u : ~0u << sum;
    return mask0 & ~mask1;
}

static void extensions_and_masks(void **state) {
    (void)state;
    CHECK2(szext_clamp_u32, u32, u32, u32, extend(a, b, true, false));
    CHECK2(szext_wrap_u32, u32, u32, u32, extend(a, b, false, false));
    CHECK2(szext_clamp_s32, s32, s32, u32, (s32)extend((u32)a, b, true, true));
    CHECK2(szext_wrap_s32, s32, s32, u32, (s32)extend((u32)a, b, false, true));
    CHECK2(bmsk_clamp, u32, u32, u32, mask_of(a, b, true));
    /* b & 31 = 0 with a sum below 32 is the manual's special case; both agree that the mask is empty */
    CHECK2(bmsk_wrap, u32, u32, u32, mask_of(a, b, false));
}

/* Element i of a packed word by memory, as the host stores it (little endian). */
static int64_t element(uint32_t word, int i, size_t size, bool is_signed) {
    uint32_t v = 0;
    memcpy(&v, (const char *)&word + size * (size_t)i, size);
    int64_t range = (int64_t)1 << 8 * size;
    return is_signed && v >= range / 2 ? (int64_t)v - range : (int64_t)v;
}
static uint32_t dot(uint32_t a, uint32_t b, uint32_t c, int terms, int first, bool sa, bool sb) {
    int64_t sum = c;
    for (int i = 0; i < terms; i++) sum += element(a, i, terms == 4 ? 1 : 2, sa) * element(b, first + i, 1, sb);
    return (uint32_t)sum;
}

static void dot_products(void **state) {
    (void)state;
    CHECK3(dp4a_u32_u32, u32, u32, u32, u32, dot(a, b, c, 4, 0, false, false));
    CHECK3(dp4a_u32_s32, u32, u32, u32, u32, dot(a, b, c, 4, 0, false, true));
    CHECK3(dp4a_s32_u32, u32, u32, u32, u32, dot(a, b, c, 4, 0, true, false));
    CHECK3(dp4a_s32_s32, u32, u32, u32, u32, dot(a, b, c, 4, 0, true, true));
    CHECK3(dp2a_lo_u32_u32, u32, u32, u32, u32, dot(a, b, c, 2, 0, false, false));
    CHECK3(dp2a_lo_u32_s32, u32, u32, u32, u32, dot(a, b, c, 2, 0, false, true));
    CHECK3(dp2a_lo_s32_u32, u32, u32, u32, u32, dot(a, b, c, 2, 0, true, false));
    CHECK3(dp2a_lo_s32_s32, u32, u32, u32, u32, dot(a, b, c, 2, 0, true, true));
    CHECK3(dp2a_hi_u32_u32, u32, u32, u32, u32, dot(a, b, c, 2, 2, false, false));
    CHECK3(dp2a_hi_u32_s32, u32, u32, u32, u32, dot(a, b, c, 2, 2, false, true));
    CHECK3(dp2a_hi_s32_u32, u32, u32, u32, u32, dot(a, b, c, 2, 2, true, false));
    CHECK3(dp2a_hi_s32_s32, u32, u32, u32, u32, dot(a, b, c, 2, 2, true, true));
}

static uint32_t permute(uint32_t a, uint32_t b, const int ctl[4]) {
    uint32_t words[2] = {a, b};
    uint8_t bytes[8], d[4];
    memcpy(bytes, words, 8);
    for (int i = 0; i < 4; i++) {
        uint8_t byte = bytes[ctl[i] & 7];
        d[i] = ctl[i] & 8 ? (byte & 0x80 ? 0xff : 0) : byte;
    }
    uint32_t word;
    memcpy(&word, d, 4);
    return word;
}
static uint32_t permute_selected(uint32_t a, uint32_t b, uint32_t c) {
    int ctl[4] = {c & 15, c >> 4 & 15, c >> 8 & 15, c >> 12 & 15};
    return permute(a, b, ctl);
}
/* The manual's table: byte numbers for d.b3 to d.b0, a row for each value of c[1:0]. */
static uint32_t permute_mode(uint32_t a, uint32_t b, uint32_t c, const char *rows) {
    int ctl[4];
    for (int i = 0; i < 4; i++) ctl[i] = rows[(c & 3) * 5 + 3 - (unsigned)i] - '0';
    return permute(a, b, ctl);
}

static void permutations(void **state) {
    (void)state;
    CHECK3(prmt, u32, u32, u32, u32, permute_selected(a, b, c));
    for (uint32_t c = 0; c < 65536; c++) {
        uint32_t got = lw_prmt(0x83420180, 0x7fff00c5, c), want = permute_selected(0x83420180, 0x7fff00c5, c);
        if (got != want) lane_fail("prmt", 0, 0, c, 0, got, want);
    }
    CHECK3(prmt_f4e, u32, u32, u32, u32, permute_mode(a, b, c, "3210 4321 5432 6543"));
    CHECK3(prmt_b4e, u32, u32, u32, u32, permute_mode(a, b, c, "5670 6701 7012 0123"));
    CHECK3(prmt_rc8, u32, u32, u32, u32, permute_mode(a, b, c, "0000 1111 2222 3333"));
    CHECK3(prmt_ecl, u32, u32, u32, u32, permute_mode(a, b, c, "3210 3211 3222 3333"));
    CHECK3(prmt_ecr, u32, u32, u32, u32, permute_mode(a, b, c, "0000 1110 2210 3210"));
    CHECK3(prmt_rc16, u32, u32, u32, u32, permute_mode(a, b, c, "1010 3232 1010 3232"));
}

int lane_bits_group(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_and_places), cmocka_unit_test(fields),       cmocka_unit_test(extensions_and_masks),
        cmocka_unit_test(dot_products),      cmocka_unit_test(permutations),
    };
    return cmocka_run_group_tests_name("lane bits", tests, NULL, NULL);
}
