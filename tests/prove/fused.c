/* Fused operations of src/run/interp/inner.h: each equals the sequence of instructions that it stands for. Lowering
 * fuses only where the amounts are constants below 32, which `below_32` and `bytes_below_32` state. */
#include "run/interp/inner.h"
#include "prove.h"

typedef uint32_t u32;

/* A rotation is shf.l.wrap of a word with itself; shf.r.wrap and a pair of shifts are proved to be one as well. */
static inline u32 rotl(u32 a, u32 n) { return lw_shf_l_wrap(a, a, n); }
static inline u32 rotr(u32 a, u32 n) { return lw_shf_r_wrap(a, a, n); }
static inline u32 rotl_by_rotr(u32 a, u32 n) { return lw_rotl_b32(a, (32 - n) & 31); }
static inline u32 rotl_of_shifts(u32 a, u32 n) { return lw_or_b32(lw_shl_b32(a, n), lw_shr_u32(a, 32 - n)); }
static inline u32 rotl_again(u32 a, u32 n) { return lw_rotl_b32(a, n); }
static inline bool at_most_32(u32 a, u32 n) { return (void)a, n <= 32; }
PROVE(lw_rotl_b32, rotl, u32, u32, u32)
PROVE(rotl_by_rotr, rotr, u32, u32, u32)
PROVE(rotl_again, rotl_of_shifts, u32, u32, u32)
WHERE(rotl_again, at_most_32, u32, u32)

static inline u32 xor_rotl(u32 a, u32 b, u32 c) { return rotl(lw_xor_b32(a, b), c); }
static inline u32 add_rotl(u32 a, u32 b, u32 c) { return rotl(lw_add_b32(a, b), c); }
PROVE(lw_xor_rotl_b32, xor_rotl, u32, u32, u32, u32)
PROVE(lw_add_rotl_b32, add_rotl, u32, u32, u32, u32)

static inline u32 add3(u32 a, u32 b, u32 c) { return lw_add_b32(lw_add_b32(a, b), c); }
PROVE(lw_add3_b32, add3, u32, u32, u32, u32)

static inline bool below_32(u32 a, u32 b, u32 c) { return (void)a, (void)b, c < 32; }
static inline u32 add_shl(u32 a, u32 b, u32 c) { return lw_add_b32(a, lw_shl_b32(b, c)); }
static inline u32 xor_shl(u32 a, u32 b, u32 c) { return lw_xor_b32(a, lw_shl_b32(b, c)); }
static inline u32 xor_shr(u32 a, u32 b, u32 c) { return lw_xor_b32(a, lw_shr_u32(b, c)); }
PROVE(lw_add_shl_b32, add_shl, u32, u32, u32, u32)
PROVE(lw_xor_shl_b32, xor_shl, u32, u32, u32, u32)
PROVE(lw_xor_shr_b32, xor_shr, u32, u32, u32, u32)
WHERE(lw_add_shl_b32, below_32, u32, u32, u32)
WHERE(lw_xor_shl_b32, below_32, u32, u32, u32)
WHERE(lw_xor_shr_b32, below_32, u32, u32, u32)

/* These take their amounts as bytes of b. */
static inline u32 byte(u32 b, unsigned i) { return b >> 8 * i & 0xff; }
static inline bool bytes_below_32(u32 a, u32 b) {
    return (void)a, byte(b, 0) < 32 && byte(b, 1) < 32 && byte(b, 2) < 32;
}
static inline u32 xor_rot3(u32 a, u32 b) {
    return lw_xor_b32(lw_xor_b32(rotl(a, byte(b, 0)), rotl(a, byte(b, 1))), rotl(a, byte(b, 2)));
}
static inline u32 xor_rot2_shr(u32 a, u32 b) {
    return lw_xor_b32(lw_xor_b32(rotl(a, byte(b, 0)), rotl(a, byte(b, 1))), lw_shr_u32(a, byte(b, 2)));
}
PROVE(lw_xor_rot3_b32, xor_rot3, u32, u32, u32)
PROVE(lw_xor_rot2_shr_b32, xor_rot2_shr, u32, u32, u32)
WHERE(lw_xor_rot3_b32, bytes_below_32, u32, u32)
WHERE(lw_xor_rot2_shr_b32, bytes_below_32, u32, u32)
