/* Counting, finding, extracting and permuting bits and bytes, PTX ISA 9.7.1.14 to 9.7.1.24 and 9.7.9.7: what the pages
 * say, bit by bit. */
#include <lanewise/lane/bits.h>
#include "places.h"

/* ---- Counting and finding ------------------------------------------------------------------------------------- */

/* By induction: nothing has none, and of the lowest place and the rest both count. */
static inline uint32_t popc_b32(uint32_t a) { return a ? lw_popc_b32(a >> 1) + (uint32_t)PLACE(a, 0) : 0; }

#define COUNTING(U, N) \
    static inline uint32_t clz_b##N(U a) { \
        uint32_t d = 0; \
        bool found = false; \
        FOR_EACH(i, N) { \
            found |= PLACE(a, N - 1 - i); \
            if (!found) d++; \
        } \
        return d; \
    } \
    /* Of a negative signed number the zeros count. */ \
    static inline uint32_t found_b##N(U a, bool is_signed) { \
        uint32_t d = UINT32_MAX; \
        bool one = !(is_signed && PLACE(a, N - 1)); \
        FOR_EACH(i, N) { \
            if (PLACE(a, i) == one) d = i; \
        } \
        return d; \
    } \
    static inline uint32_t shift_b##N(U a, bool is_signed) { \
        uint32_t d = found_b##N(a, is_signed); \
        return d == UINT32_MAX ? d : N - 1 - d; \
    } \
    static inline uint32_t bfind_u##N(uint##N##_t a) { return found_b##N(a, false); } \
    static inline uint32_t bfind_s##N(int##N##_t a) { return found_b##N((U)a, true); } \
    static inline uint32_t bfind_shiftamt_u##N(uint##N##_t a) { return shift_b##N(a, false); } \
    static inline uint32_t bfind_shiftamt_s##N(int##N##_t a) { return shift_b##N((U)a, true); } \
    static inline U brev_b##N(U a) { \
        U d = 0; \
        FOR_EACH(i, N) d |= (U)((U)PLACE(a, i) << (N - 1 - i)); \
        return d; \
    } \
    PROVE(lw_clz_b##N, clz_b##N, uint32_t, U) \
    PROVE(lw_bfind_u##N, bfind_u##N, uint32_t, uint##N##_t) \
    PROVE(lw_bfind_s##N, bfind_s##N, uint32_t, int##N##_t) \
    PROVE(lw_bfind_shiftamt_u##N, bfind_shiftamt_u##N, uint32_t, uint##N##_t) \
    PROVE(lw_bfind_shiftamt_s##N, bfind_shiftamt_s##N, uint32_t, int##N##_t) \
    PROVE(lw_brev_b##N, brev_b##N, U, U)
COUNTING(uint32_t, 32)
COUNTING(uint64_t, 64)
PROVE(lw_popc_b32, popc_b32, uint32_t, uint32_t)

/* ---- Fields ----------------------------------------------------------------------------------------------------- */

/* Places pos to pos + len - 1 of a; above them zeros, or the highest place of the field or of the word. */
#define FIELDS(U, N, restrict_to) \
    static inline U field_b##N(U a, uint32_t pos, uint32_t len, bool is_signed) { \
        U d = 0; \
        bool sign = false; \
        pos &= restrict_to, len &= restrict_to; \
        uint64_t last = (uint64_t)pos + len - 1; \
        if (is_signed && len) sign = PLACE(a, last < N - 1 ? last : N - 1); \
        FOR_EACH(i, N) { \
            uint64_t from = (uint64_t)pos + i; \
            bool bit = i < len && from < N ? PLACE(a, from) : sign; \
            if (bit) d |= (U)1 << i; \
        } \
        return d; \
    } \
    static inline uint##N##_t bfe_u##N(uint##N##_t a, uint32_t b, uint32_t c) { return field_b##N(a, b, c, false); } \
    static inline int##N##_t bfe_s##N(int##N##_t a, uint32_t b, uint32_t c) { \
        return (int##N##_t)field_b##N((U)a, b, c, true); \
    } \
    static inline U bfi_b##N(U a, U b, uint32_t pos, uint32_t len) { \
        U f = b; \
        pos &= restrict_to, len &= restrict_to; \
        FOR_EACH(i, N) { \
            uint64_t to = (uint64_t)pos + i; \
            if (i < len && to < N) f = (U)((f & ~((U)1 << to)) | (U)PLACE(a, i) << to); \
        } \
        return f; \
    } \
    PROVE(lw_bfe_u##N, bfe_u##N, uint##N##_t, uint##N##_t, uint32_t, uint32_t)
FIELDS(uint32_t, 32, 255u)
FIELDS(uint64_t, 64, UINT32_MAX) /* as on sm_90, where numbers of 64 bits are not restricted */
PROVE(lw_bfe_s32, bfe_s32, int32_t, int32_t, uint32_t, uint32_t)
PROVE(lw_bfi_b32, bfi_b32, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t)

/* The low n bits of a, n at most 32. */
static inline uint32_t extended(uint32_t a, uint32_t n, bool is_signed) {
    uint32_t d = 0;
    bool sign = is_signed && n && PLACE(a, n - 1);
    FOR_EACH(i, 32) {
        if (i < n ? PLACE(a, i) : sign) d |= 1u << i;
    }
    return d;
}
static inline uint32_t clamped(uint32_t b) { return b < 32 ? b : 32; }
static inline uint32_t szext_clamp_u32(uint32_t a, uint32_t b) { return extended(a, clamped(b), false); }
static inline uint32_t szext_wrap_u32(uint32_t a, uint32_t b) { return extended(a, b & 31, false); }
static inline int32_t szext_clamp_s32(int32_t a, uint32_t b) {
    return (int32_t)extended((uint32_t)a, clamped(b), true);
}
static inline int32_t szext_wrap_s32(int32_t a, uint32_t b) { return (int32_t)extended((uint32_t)a, b & 31, true); }
PROVE(lw_szext_clamp_u32, szext_clamp_u32, uint32_t, uint32_t, uint32_t)
PROVE(lw_szext_wrap_u32, szext_wrap_u32, uint32_t, uint32_t, uint32_t)
PROVE(lw_szext_clamp_s32, szext_clamp_s32, int32_t, int32_t, uint32_t)
PROVE(lw_szext_wrap_s32, szext_wrap_s32, int32_t, int32_t, uint32_t)

static inline uint32_t masked(uint32_t first, uint32_t length) {
    uint32_t d = 0;
    FOR_EACH(i, 32) {
        if (i >= first && i - first < length) d |= 1u << i;
    }
    return d;
}
static inline uint32_t bmsk_clamp(uint32_t a, uint32_t b) { return masked(clamped(a), clamped(b)); }
static inline uint32_t bmsk_wrap(uint32_t a, uint32_t b) { return masked(a & 31, b & 31); }
PROVE(lw_bmsk_clamp, bmsk_clamp, uint32_t, uint32_t, uint32_t)
PROVE(lw_bmsk_wrap, bmsk_wrap, uint32_t, uint32_t, uint32_t)

/* ---- Dot products ------------------------------------------------------------------------------------------------ */

/* Element i of `bits` bits, as a number. */
static inline uint32_t part(uint32_t word, unsigned i, unsigned bits) { return word >> i * bits & ((1u << bits) - 1); }
/* Signed elements make products that are too much for a solver. */
#define DOT(name, count, bits_a, first_b) \
    static inline uint32_t name(uint32_t a, uint32_t b, uint32_t c) { \
        uint32_t d = c; \
        FOR_EACH(i, count) d += part(a, i, bits_a) * part(b, (first_b) + i, 8); \
        return d; \
    } \
    PROVE(lw_##name, name, uint32_t, uint32_t, uint32_t, uint32_t)
DOT(dp4a_u32_u32, 4, 8, 0)
DOT(dp2a_lo_u32_u32, 2, 16, 0)
DOT(dp2a_hi_u32_u32, 2, 16, 2)

/* ---- Bytes ------------------------------------------------------------------------------------------------------- */

/* ReadByte( control, {b, a} ), and with its msb the sign in all places. */
static inline uint32_t read_byte(uint32_t control, uint32_t a, uint32_t b) {
    uint64_t value = (uint64_t)b << 32 | a;
    uint32_t byte = (uint32_t)(value >> (control & 7) * 8) & 0xff;
    return control & 8 ? (byte & 0x80 ? 0xff : 0) : byte;
}
static inline uint32_t bytes(uint32_t a, uint32_t b, uint32_t d3, uint32_t d2, uint32_t d1, uint32_t d0) {
    return read_byte(d3, a, b) << 24 | read_byte(d2, a, b) << 16 | read_byte(d1, a, b) << 8 | read_byte(d0, a, b);
}
static inline uint32_t prmt(uint32_t a, uint32_t b, uint32_t c) {
    return bytes(a, b, c >> 12 & 15, c >> 8 & 15, c >> 4 & 15, c & 15);
}
/* The table of the page: the bytes for each value of c[1:0]. */
#define MODE(name, ...) \
    static inline uint32_t name(uint32_t a, uint32_t b, uint32_t c) { \
        const uint16_t table[4] = {__VA_ARGS__}; \
        uint32_t picked = (c & 3) == 0 ? table[0] : (c & 3) == 1 ? table[1] : (c & 3) == 2 ? table[2] : table[3]; \
        return bytes(a, b, picked >> 12 & 15, picked >> 8 & 15, picked >> 4 & 15, picked & 15); \
    } \
    PROVE(lw_##name, name, uint32_t, uint32_t, uint32_t, uint32_t)
PROVE(lw_prmt, prmt, uint32_t, uint32_t, uint32_t, uint32_t)
MODE(prmt_f4e, 0x3210, 0x4321, 0x5432, 0x6543)
MODE(prmt_b4e, 0x5670, 0x6701, 0x7012, 0x0123)
MODE(prmt_rc8, 0x0000, 0x1111, 0x2222, 0x3333)
MODE(prmt_ecl, 0x3210, 0x3211, 0x3222, 0x3333)
MODE(prmt_ecr, 0x0000, 0x1110, 0x2210, 0x3210)
MODE(prmt_rc16, 0x1010, 0x3232, 0x1010, 0x3232)
