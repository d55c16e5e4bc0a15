/* pto.vshr of i32 in vector C: masked right shifts on registers of 64 lanes that lie in memory, and over arrays. A mask
 * has one bit for each lane. */
#include "vector.h"

#if LANES == 16 && defined __AVX512F__
static inline void shift_vector(int32_t *to, const int32_t *from, const uint32_t *counts, const uint8_t *mask) {
    __mmask16 on;
    memcpy(&on, mask, sizeof on);
    __m512i old = _mm512_loadu_si512(to), a = _mm512_loadu_si512(from), n = _mm512_loadu_si512(counts);
    _mm512_storeu_si512(to, _mm512_mask_srav_epi32(old, on, a, n));
}
#else
static inline void shift_vector(int32_t *to, const int32_t *from, const uint32_t *counts, const uint8_t *mask) {
    svec old, a;
    vec n, bit = iota();
    memcpy(&old, to, sizeof old), memcpy(&a, from, sizeof a), memcpy(&n, counts, sizeof n);
#if LANES == 8
    const uint32_t bits = *mask;
#else
    const uint32_t bits = (uint32_t)*mask >> ((uintptr_t)to / 16 % 2 * 4); /* registers lie at multiples of 32 bytes */
#endif
    svec on = (svec)(splat(bits) >> bit & 1) == 1, large = (svec)(n > splat(31));
    n = (n & ~(vec)large) | (splat(31) & (vec)large);
    old = ((a >> (svec)n) & on) | (old & ~on);
    memcpy(to, &old, sizeof old);
}
#endif

static inline void shift(int32_t *to, const int32_t *from, const uint32_t *counts, const uint8_t *mask,
                         uint32_t lanes) {
    for (uint32_t i = 0; i < lanes; i += LANES) shift_vector(to + i, from + i, counts + i, mask + i / 8);
}

enum { REGISTERS = 8, STEPS = 48, REGISTER_LANES = 64 };

/* Step s of each turn: register s % 8 from register (s + 3) % 8. */
void NATIVE(vshr_registers)(int32_t *registers, const uint32_t *counts, const uint8_t *mask, uint32_t turns) {
    for (uint32_t t = 0; t < turns; t++)
        for (uint32_t s = 0; s < STEPS; s++)
            shift(registers + s % REGISTERS * REGISTER_LANES, registers + (s + 3) % REGISTERS * REGISTER_LANES, counts,
                  mask, REGISTER_LANES);
}

/* `count` is a multiple of 16. */
void NATIVE(vshr_array)(int32_t *to, const int32_t *from, const uint32_t *counts, const uint8_t *mask, uint32_t count) {
    shift(to, from, counts, mask, count);
}
