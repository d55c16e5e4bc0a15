/* x86_rounded.h: sums and products in any rounding, by instructions that say which: AVX-512's. For x86_avx512.h. What
 * is done with NaNs, .sat and .ftz stays with the functions of lane/rounding.h. */
#ifndef LW_ISA_X86_ROUNDED_H
#define LW_ISA_X86_ROUNDED_H

#define PS(from) _mm512_loadu_ps(from + i)
#define PD(from) _mm512_loadu_pd(from + i)
/* Those below normal as zeros. */
#define FLUSHED(from) \
    _mm512_mask_and_ps(PS(from), _mm512_fpclass_ps_mask(PS(from), 0x20), PS(from), _mm512_set1_ps(-0.0f))

#define NEAR_add_f32(r)     _mm512_add_round_ps(PS(a), PS(b), r)
#define NEAR_sub_f32(r)     _mm512_sub_round_ps(PS(a), PS(b), r)
#define NEAR_mul_f32(r)     _mm512_mul_round_ps(PS(a), PS(b), r)
#define NEAR_fma_f32(r)     _mm512_fmadd_round_ps(PS(a), PS(b), PS(c), r)
#define NEAR_add_ftz_f32(r) _mm512_add_round_ps(FLUSHED(a), FLUSHED(b), r)
#define NEAR_sub_ftz_f32(r) _mm512_sub_round_ps(FLUSHED(a), FLUSHED(b), r)
#define NEAR_add_f64(r)     _mm512_add_round_pd(PD(a), PD(b), r)
#define NEAR_sub_f64(r)     _mm512_sub_round_pd(PD(a), PD(b), r)
#define NEAR_mul_f64(r)     _mm512_mul_round_pd(PD(a), PD(b), r)
#define NEAR_fma_f64(r)     _mm512_fmadd_round_pd(PD(a), PD(b), PD(c), r)

#define END_add_f32     lw_end_f32_(near[i], how)
#define END_sub_f32     END_add_f32
#define END_mul_f32     END_add_f32
#define END_fma_f32     END_add_f32
#define END_add_ftz_f32 lw_end_f32_(lw_flush_f32_(near[i]), how)
#define END_sub_ftz_f32 END_add_ftz_f32
#define END_add_f64     lw_pin2_f64_(near[i], b[i], a[i])
#define END_sub_f64     END_add_f64
#define END_mul_f64     END_add_f64
#define END_fma_f64     lw_pin3_f64_(near[i], b[i], c[i], a[i])

#define PUT_f32 _mm512_storeu_ps
#define PUT_f64 _mm512_storeu_pd
#define ROUND_ALL(name, T, r, first, end) \
    for (size_t i = first; i < end; i += 64 / sizeof(c_##T)) PUT_##T(near + i, NEAR_##name((r) | _MM_FROUND_NO_EXC))
/* Elements first … end of `near`, rounded and no more; and what element i is in the end. The compiler's lane functions
 * are made of both, too (run/jit/lanes.c). */
#define LW_ROUND(name, T, how, first, end) \
    switch ((how)&LW_FLOAT_ROUNDING) { \
    case LW_FLOAT_RZ: ROUND_ALL(name, T, _MM_FROUND_TO_ZERO, first, end); break; \
    case LW_FLOAT_RM: ROUND_ALL(name, T, _MM_FROUND_TO_NEG_INF, first, end); break; \
    case LW_FLOAT_RP: ROUND_ALL(name, T, _MM_FROUND_TO_POS_INF, first, end); break; \
    default: ROUND_ALL(name, T, _MM_FROUND_TO_NEAREST_INT, first, end); \
    }
#define LW_ROUNDED(name) (END_##name)

/* The rounded ones are made in the half of scratch that nobody else uses, since a result may take an operand's place.
 */
#define ROUNDED(name, T) \
    c_##T *near = (c_##T *)(gang->scratch + LW_SLOT_64); \
    LW_ROUND(name, T, how, gang->begin, gang->lanes) \
    BODY(T, LW_ROUNDED(name))

#define LW_ROUNDED_STEPS3(name, D, A, B, C) \
    STEP_HEAD(name, rri) { \
        OPERANDS3_RRI(D, A, B, C, how); \
        ROUNDED(name, D); \
        END(D); \
    }
#define LW_ROUNDED_STEPS4(name, D, A, B, C, E) \
    STEP_HEAD(name, rri) { \
        OPERANDS4_RRI(D, A, B, C, E, how); \
        ROUNDED(name, D); \
        END(D); \
    }

#endif
