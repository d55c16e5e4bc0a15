/* prove.h: what script/prove is to prove. Each file beside this one transcribes a page of the manual, without a look at
 * the lane functions, and says which function equals which transcription:
 *
 *     PROVE(lw_shl_b32, shl_b32, uint32_t, uint32_t, uint32_t)      function, transcription, result, operands
 *     WHERE(lw_shl_b32, known, uint32_t, uint32_t)                  only for operands for which `known` is true
 *     SPLIT(lw_shl_b32, 0x3f)                                       one proof for each value of these bits of the last
 * operand
 *
 * They make pairs of plain functions, which script/prove reads from the compiler's intermediate code; see
 * docs/proofs.md. */
#ifndef LW_PROVE_H
#define LW_PROVE_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __clang__
#define UNROLL _Pragma("clang loop unroll(full)")
#else
#define UNROLL
#endif
/* From the lowest bit or step to the last. */
#define FOR_EACH(i, count) UNROLL for (unsigned i = 0; i < (count); i++)

#define PROVE1(f, text, R, A) \
    R prove_lane_##f(A a); \
    R prove_text_##f(A a); \
    R prove_lane_##f(A a) { return f(a); } \
    R prove_text_##f(A a) { return text(a); }
#define PROVE2(f, text, R, A, B) \
    R prove_lane_##f(A a, B b); \
    R prove_text_##f(A a, B b); \
    R prove_lane_##f(A a, B b) { return f(a, b); } \
    R prove_text_##f(A a, B b) { return text(a, b); }
#define PROVE3(f, text, R, A, B, C) \
    R prove_lane_##f(A a, B b, C c); \
    R prove_text_##f(A a, B b, C c); \
    R prove_lane_##f(A a, B b, C c) { return f(a, b, c); } \
    R prove_text_##f(A a, B b, C c) { return text(a, b, c); }
#define PROVE4(f, text, R, A, B, C, E) \
    R prove_lane_##f(A a, B b, C c, E e); \
    R prove_text_##f(A a, B b, C c, E e); \
    R prove_lane_##f(A a, B b, C c, E e) { return f(a, b, c, e); } \
    R prove_text_##f(A a, B b, C c, E e) { return text(a, b, c, e); }
#define PROVE_PICK(f, text, R, A, B, C, E, macro, ...) macro
#define PROVE(...)                                     PROVE_PICK(__VA_ARGS__, PROVE4, PROVE3, PROVE2, PROVE1, )(__VA_ARGS__)

#define WHERE2(f, known, A, B) \
    bool prove_where_##f(A a, B b); \
    bool prove_where_##f(A a, B b) { return known(a, b); }
#define WHERE3(f, known, A, B, C) \
    bool prove_where_##f(A a, B b, C c); \
    bool prove_where_##f(A a, B b, C c) { return known(a, b, c); }
#define WHERE4(f, known, A, B, C, E) \
    bool prove_where_##f(A a, B b, C c, E e); \
    bool prove_where_##f(A a, B b, C c, E e) { return known(a, b, c, e); }
#define WHERE_PICK(f, known, A, B, C, E, macro, ...) macro
#define WHERE(...)                                   WHERE_PICK(__VA_ARGS__, WHERE4, WHERE3, WHERE2, )(__VA_ARGS__)

#define SPLIT(f, bits) \
    extern const uint32_t prove_split_##f; \
    const uint32_t prove_split_##f = (bits);

#endif
