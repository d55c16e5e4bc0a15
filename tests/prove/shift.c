/* shl and shr, PTX ISA 9.7.8.8 and 9.7.8.9: a moves by one place as many times as b says, and b is clamped to the
 * width. */
#include <lanewise/lane/shift.h>
#include "prove.h"

#define SHL(type, T, N) \
    static inline T shl_##type(T a, uint32_t b) { \
        uint32_t amount = b > N ? N : b; \
        FOR_EACH(step, N) { \
            if (step < amount) a = (T)((a & (T)((T)-1 >> 1)) << 1); /* the top bit leaves, a zero enters */ \
        } \
        return a; \
    } \
    PROVE(lw_shl_##type, shl_##type, T, T, uint32_t)
SHL(b16, uint16_t, 16)
SHL(b32, uint32_t, 32)
SHL(b64, uint64_t, 64)

#define SHR(type, T, U, N, fill) \
    static inline T shr_##type(T a, uint32_t b) { \
        uint32_t amount = b > N ? N : b; \
        U bits = (U)a, top = (U)((U)1 << (N - 1)); \
        FOR_EACH(step, N) { \
            if (step < amount) bits = (U)((U)(bits >> 1) | (fill ? bits & top : 0)); \
        } \
        return (T)bits; \
    } \
    PROVE(lw_shr_##type, shr_##type, T, T, uint32_t)
SHR(u16, uint16_t, uint16_t, 16, false)
SHR(u32, uint32_t, uint32_t, 32, false)
SHR(u64, uint64_t, uint64_t, 64, false)
SHR(s16, int16_t, uint16_t, 16, true)
SHR(s32, int32_t, uint32_t, 32, true)
SHR(s64, int64_t, uint64_t, 64, true)
