/* Logic, PTX ISA 9.7.8.1 to 9.7.8.6: what the pages say of each bit. */
#include <lanewise/lane/logic.h>
#include "prove.h"

/* One result bit from the bits of the operands. */
#define BIT(word, i) ((word) >> (i)&1)
#define EACH_BIT(T, width, rule) \
    T d = 0; \
    FOR_EACH(i, width) { \
        if (rule) d = (T)(d | (T)1 << i); \
    } \
    return d

#define BITWISE(type, T, width) \
    static inline T and_##type(T a, T b) { EACH_BIT(T, width, BIT(a, i) == 1 && BIT(b, i) == 1); } \
    static inline T or_##type(T a, T b) { EACH_BIT(T, width, BIT(a, i) == 1 || BIT(b, i) == 1); } \
    static inline T xor_##type(T a, T b) { EACH_BIT(T, width, BIT(a, i) != BIT(b, i)); } \
    static inline T not_##type(T a) { EACH_BIT(T, width, BIT(a, i) == 0); } \
    PROVE(lw_and_##type, and_##type, T, T, T) \
    PROVE(lw_or_##type, or_##type, T, T, T) \
    PROVE(lw_xor_##type, xor_##type, T, T, T) \
    PROVE(lw_not_##type, not_##type, T, T)
BITWISE(b16, uint16_t, 16)
BITWISE(b32, uint32_t, 32)
BITWISE(b64, uint64_t, 64)

/* Predicates are words of one bit. */
static inline bool and_pred(bool a, bool b) { return a == true && b == true; }
static inline bool or_pred(bool a, bool b) { return a == true || b == true; }
static inline bool xor_pred(bool a, bool b) { return a != b; }
static inline bool not_pred(bool a) { return a == false; }
PROVE(lw_and_pred, and_pred, bool, bool, bool)
PROVE(lw_or_pred, or_pred, bool, bool, bool)
PROVE(lw_xor_pred, xor_pred, bool, bool, bool)
PROVE(lw_not_pred, not_pred, bool, bool)

static inline uint16_t cnot_b16(uint16_t a) { return (a == 0) ? 1 : 0; }
static inline uint32_t cnot_b32(uint32_t a) { return (a == 0) ? 1 : 0; }
static inline uint64_t cnot_b64(uint64_t a) { return (a == 0) ? 1 : 0; }
PROVE(lw_cnot_b16, cnot_b16, uint16_t, uint16_t)
PROVE(lw_cnot_b32, cnot_b32, uint32_t, uint32_t)
PROVE(lw_cnot_b64, cnot_b64, uint64_t, uint64_t)

/* The table of 9.7.8.6: the row of an input is the number that ta, tb and tc write in binary, and immLut holds a bit
 * for each row. */
static inline uint32_t lop3(uint32_t a, uint32_t b, uint32_t c, uint8_t lut) {
    EACH_BIT(uint32_t, 32, BIT(lut, 4 * BIT(a, i) + 2 * BIT(b, i) + BIT(c, i)) == 1);
}
PROVE(lw_lop3, lop3, uint32_t, uint32_t, uint32_t, uint32_t, uint8_t)
