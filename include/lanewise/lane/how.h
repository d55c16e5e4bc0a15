/* Constants that say how: what the last operand `how` of lane functions may be. */
#ifndef LANEWISE_LANE_HOW_H
#define LANEWISE_LANE_HOW_H

/* Of floating point: a rounding, and words of the mnemonic; of comparisons when they hold, of
 * testp which kinds it asks for. */
enum {
    LW_FLOAT_RN = 0,
    LW_FLOAT_RZ = 1,
    LW_FLOAT_RM = 2,
    LW_FLOAT_RP = 3,
    LW_FLOAT_ROUNDING = 3, /* the bits of a rounding */
    LW_FLOAT_SAT = 1 << 2,
    LW_FLOAT_FTZ = 1 << 3,
    LW_FLOAT_NAN = 1 << 4, /* of min and max */
    LW_FLOAT_OOB = 1 << 4, /* of fma */
    LW_FLOAT_XORSIGN = 1 << 5,
    LW_FLOAT_ABS = 1 << 6,
    LW_FLOAT_RELU = 1 << 7, /* what is negative is zero */
    LW_FLOAT_LESS = 1 << 8,
    LW_FLOAT_EQUAL = 1 << 9,
    LW_FLOAT_GREATER = 1 << 10,
    LW_FLOAT_UNORDERED = 1 << 11,
    LW_FLOAT_NORMAL = 1 << 12, /* zero among them */
    LW_FLOAT_SUBNORMAL = 1 << 13,
    LW_FLOAT_INFINITE = 1 << 14,
    LW_FLOAT_NOT_A_NUMBER = 1 << 15,
    LW_FLOAT_FINITE = 1 << 16 /* what is infinite is the largest number */
};

#endif /* LANEWISE_LANE_HOW_H */
