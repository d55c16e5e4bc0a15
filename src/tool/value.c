/* value.c: one element of a scalar or a buffer: its type, reading and printing it. */
#include <errno.h>
#include <fenv.h>
#include <math.h>
#include <stdlib.h>

#include "base/scan.h"
#include "tool/tool.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "elements are copied as they lie in memory");

lw_type lw_value_type(const char *name, size_t size) {
    lw_type type = lw_type_find(name, size);
    switch (lw_types[type].kind) {
    case 'B':
    case 'U':
    case 'S':
    case 'F': return lw_types[type].bits <= 64 ? type : LW_T_none;
    default: return type == LW_T_bf16 ? type : LW_T_none;
    }
}

uint32_t lw_value_bytes(lw_type type) { return lw_types[type].bits / 8; }
bool lw_value_is_float(lw_type type) { return lw_types[type].kind == 'F' || type == LW_T_bf16; }

/* ---- Floats -------------------------------------------------------------------------------------------- */

typedef struct layout {
    int exponent, mantissa; /* bits */
} layout;

static layout layout_of(lw_type type) {
    return type == LW_T_f16 ? (layout){5, 10} : type == LW_T_bf16 ? (layout){8, 7} : (layout){8, 23};
}

static uint64_t bits_of(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static double double_of(uint64_t bits) {
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* The magnitude of a finite binary64 in a smaller layout, which may come out as infinity. */
static uint64_t narrow(uint64_t magnitude, layout to, bool toward_zero) {
    int exponent = (int)(magnitude >> 52), shift = 52 - to.mantissa;
    uint64_t full = magnitude & ((UINT64_C(1) << 52) - 1);
    if (exponent) full |= UINT64_C(1) << 52;
    else exponent = 1;
    exponent += (1 << (to.exponent - 1)) - 1 - 1023;
    if (exponent < 1) { /* the target's subnormals */
        shift += 1 - exponent;
        exponent = 1;
    }
    if (shift > 54) return 0; /* below half of the smallest subnormal */
    uint64_t kept = full >> shift, rest = full & ((UINT64_C(1) << shift) - 1), half = UINT64_C(1) << (shift - 1);
    if (!toward_zero && (rest > half || (rest == half && kept & 1))) kept++;
    uint64_t most = ((UINT64_C(1) << to.exponent) - 1) << to.mantissa; /* infinity */
    /* The hidden bit of `kept` adds one to the exponent, and so does a carry out of the rounding. */
    uint64_t result = ((uint64_t)(exponent - 1) << to.mantissa) + kept;
    return result < most ? result : toward_zero ? most - 1 : most;
}

uint64_t lw_value_round(lw_type type, double value, bool toward_zero) {
    if (type == LW_T_f64) return bits_of(value);
    layout to = layout_of(type);
    uint64_t sign = (uint64_t) !!signbit(value) << (to.exponent + to.mantissa);
    uint64_t infinite = ((UINT64_C(1) << to.exponent) - 1) << to.mantissa;
    if (isnan(value)) return sign | infinite | UINT64_C(1) << (to.mantissa - 1);
    if (isinf(value)) return sign | infinite;
    return sign | narrow(bits_of(fabs(value)), to, toward_zero);
}

double lw_value_double(lw_type type, uint64_t bits) {
    if (type == LW_T_f64) return double_of(bits);
    layout from = layout_of(type);
    int exponent = (int)(bits >> from.mantissa) & ((1 << from.exponent) - 1), bias = (1 << (from.exponent - 1)) - 1;
    uint64_t mantissa = bits & ((UINT64_C(1) << from.mantissa) - 1);
    double value = ldexp((double)mantissa, (exponent ? exponent : 1) - bias - from.mantissa);
    if (exponent == (1 << from.exponent) - 1) value = mantissa ? (double)NAN : HUGE_VAL;
    else if (exponent) value += ldexp(1, exponent - bias);
    return bits >> (from.exponent + from.mantissa) & 1 ? -value : value;
}

/* The decimal text as binary64 rounded to odd: rounding that once more to 16 bits is right, where two roundings to
 * nearest could be wrong. */
static double parse_odd(const char *text, char **end) {
    int mode = fegetround();
    fesetround(FE_TOWARDZERO);
    feclearexcept(FE_INEXACT);
    double value = strtod(text, end);
    if (fetestexcept(FE_INEXACT) && isfinite(value)) value = double_of(bits_of(value) | 1);
    fesetround(mode);
    return value;
}

/* 0f and 8 digits, 0d and 16 digits: bits as PTX spells them. */
static bool parse_bits(lw_type type, const char **at, uint64_t *bits) {
    const char *text = *at, letter = type == LW_T_f32 ? 'f' : 'd';
    size_t digits = 2 * lw_value_bytes(type);
    if (digits < 8 || text[0] != '0' || (text[1] | 0x20) != letter) return false;
    if (strspn(text + 2, "0123456789abcdefABCDEF") != digits) return false;
    *bits = strtoull(text + 2, NULL, 16);
    *at = text + 2 + digits;
    return true;
}

static lw_value_fault parse_float(lw_type type, const char **at, uint64_t *bits) {
    if (parse_bits(type, at, bits)) return LW_VALUE_OK;
    const char *text = *at;
    if (!*text || !strchr("+-.0123456789iInN", *text)) return LW_VALUE_NO_NUMBER; /* strtod would skip blanks */
    char *end;
    bool named = strcspn(text, "iInN") < strcspn(text, ",:");
    if (type == LW_T_f32) {
        float value = strtof(text, &end);
        uint32_t word;
        memcpy(&word, &value, sizeof word);
        *bits = word;
    } else {
        *bits = lw_value_round(type, type == LW_T_f64 ? strtod(text, &end) : parse_odd(text, &end), false);
    }
    if (end == text) return LW_VALUE_NO_NUMBER;
    *at = end;
    return !named && isinf(lw_value_double(type, *bits)) ? LW_VALUE_RANGE : LW_VALUE_OK;
}

/* ---- Integers ------------------------------------------------------------------------------------------ */

static lw_value_fault parse_integer(lw_type type, const char **at, uint64_t *bits) {
    const char *p = *at;
    bool negative = *p == '-', fits;
    if (*p == '-' || *p == '+') p++;
    const uint32_t base = p[0] != '0' ? 10 : (p[1] | 0x20) == 'x' ? 16 : (p[1] | 0x20) == 'b' ? 2 : 10;
    if (base != 10) p += 2;
    const char *first = p;
    uint64_t value = 0;
    p += lw_digits_end(p, 0, base);
    fits = lw_digits_read(first, 0, (uint32_t)(p - first), base, &value);
    if (p == first) return LW_VALUE_NO_NUMBER;
    *at = p;

    unsigned width = lw_types[type].bits;
    uint64_t all = UINT64_MAX >> (64 - width), half = UINT64_C(1) << (width - 1);
    char kind = lw_types[type].kind;
    uint64_t most = negative ? (kind == 'U' ? 0 : half) : kind == 'S' ? half - 1 : all;
    *bits = (negative ? -value : value) & all;
    return fits && value <= most ? LW_VALUE_OK : LW_VALUE_RANGE;
}

lw_value_fault lw_value_parse(lw_type type, const char **at, uint64_t *bits) {
    return lw_value_is_float(type) ? parse_float(type, at, bits) : parse_integer(type, at, bits);
}

/* ---- Printing ------------------------------------------------------------------------------------------ */

/* The first precision that reads back as the same value. */
static void print_float(lw_text *out, lw_type type, uint64_t bits) {
    double value = lw_value_double(type, bits);
    if (isnan(value)) return lw_text_puts(out, "nan");
    if (isinf(value)) return lw_text_puts(out, value < 0 ? "-inf" : "inf");
    char text[40];
    int least = type == LW_T_f64 ? 15 : type == LW_T_f32 ? 6 : 1;
    for (int digits = least; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        const char *at = text;
        uint64_t again;
        if (lw_value_parse(type, &at, &again) == LW_VALUE_OK && again == bits) break;
    }
    lw_text_puts(out, text);
}

void lw_value_print_hex(lw_text *out, lw_type type, uint64_t bits) {
    lw_text_printf(out, "0x%0*llx", lw_types[type].bits / 4, (unsigned long long)bits);
}

void lw_value_print(lw_text *out, lw_type type, uint64_t bits) {
    if (lw_value_is_float(type)) return print_float(out, type, bits);
    unsigned shift = 64 - lw_types[type].bits;
    switch (lw_types[type].kind) {
    case 'U': return lw_text_printf(out, "%llu", (unsigned long long)bits);
    case 'S': return lw_text_printf(out, "%lld", (long long)((int64_t)(bits << shift) >> shift));
    default: return lw_value_print_hex(out, type, bits);
    }
}

void lw_value_print_limits(lw_text *out, lw_type type) {
    if (lw_value_is_float(type)) return lw_text_printf(out, "%s", lw_types[type].name);
    unsigned width = lw_types[type].bits;
    uint64_t all = UINT64_MAX >> (64 - width), half = UINT64_C(1) << (width - 1);
    char kind = lw_types[type].kind;
    lw_text_printf(out, "%s (%s%llu to %llu)", lw_types[type].name, kind == 'U' ? "" : "-",
                   (unsigned long long)(kind == 'U' ? 0 : half), (unsigned long long)(kind == 'S' ? half - 1 : all));
}
