/* x86_avx2.h: x86-64 with AVX2: the loops of generic.h, and what compilers do not make of them. */
#ifndef LW_ISA_X86_AVX2_H
#define LW_ISA_X86_AVX2_H

#include <emmintrin.h> /* not all of immintrin.h, which takes half a second to read */

#define lw_bytes_to_mask lw_bytes_to_mask
static inline lw_mask lw_bytes_to_mask(const uint8_t *from) {
    lw_mask mask = 0;
    for (int i = 0; i < LW_GANG_LANES / 16; i++) {
        const __m128i bytes = _mm_loadu_si128((const __m128i *)from + i);
        mask |= (lw_mask)(uint16_t)_mm_movemask_epi8(_mm_slli_epi16(bytes, 7)) << 16 * i;
    }
    return mask;
}

#define lw_is_zero lw_is_zero
LW_INLINE bool lw_is_zero(lw_vector x) {
    typedef long long words __attribute__((vector_size(32)));
    return __builtin_ia32_ptestz256((words)x, (words)x);
}

#ifndef __clang__ /* which makes the instruction of generic.h's, and has no name for it */
#define lw_larger lw_larger
LW_INLINE lw_vector lw_larger(lw_vector a, lw_vector b) {
    typedef int32_t numbers __attribute__((vector_size(32)));
    return (lw_vector)__builtin_ia32_pmaxsd256((numbers)a, (numbers)b);
}
#endif

#define lw_add_dots lw_add_dots
LW_INLINE lw_vector lw_add_dots(lw_vector sum, uint32_t a, lw_vector b) {
    typedef int32_t numbers __attribute__((vector_size(32)));
    typedef short halves __attribute__((vector_size(32)));
    return (lw_vector)((numbers)sum +
                       (numbers)__builtin_ia32_pmaddwd256((halves)((numbers){0} + (int32_t)a), (halves)b));
}

typedef float lw_floats __attribute__((vector_size(32)));
typedef short lw_eight_halves __attribute__((vector_size(16)));
LW_INLINE lw_floats lw_widen_f16(const uint16_t *from) {
    return (lw_floats)__builtin_ia32_vcvtph2ps256((lw_eight_halves)_mm_loadu_si128((const __m128i *)from));
}
LW_INLINE void lw_narrow_f16(uint16_t *to, lw_floats a) {
    _mm_storeu_si128((__m128i *)to, (__m128i)__builtin_ia32_vcvtps2ph256(a, 0)); /* 0: to nearest */
}
#include "run/interp/isa/x86_half.h"
#include "run/interp/isa/x86_shuffle.h"

#include "run/interp/isa/generic.h"

#endif
