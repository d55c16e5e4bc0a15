/* eval_value.c: values of `lanewise eval`: reading lists and ranges, printing results. */
#include <stdlib.h>

#include "base/scan.h"
#include "tool/eval.h"

/* ---- Reading ------------------------------------------------------------------------------------------ */

static bool at_end(const char *at) { return !*at || *at == ',' || !strncmp(at, "..", 2); }

static bool starts(const char *text, const char *word) {
    size_t size = strlen(word);
    return !strncmp(text, word, size) && at_end(text + size);
}

static bool parse_predicate(const char **at, lw_word *value) {
    static const struct {
        const char *word;
        bool is;
    } words[] = {{"true", true}, {"false", false}, {"1", true}, {"0", false}};
    for (size_t i = 0; i < LW_COUNT(words); i++)
        if (starts(*at, words[i].word)) {
            value->low = words[i].is;
            *at += strlen(words[i].word);
            return true;
        }
    return false;
}

/* Up to 32 digits behind 0x. */
static bool parse_wide(const char **at, lw_word *value) {
    const char *digits = *at + 2;
    size_t size = strspn(digits, "0123456789abcdefABCDEF");
    if ((*at)[0] != '0' || ((*at)[1] | 0x20) != 'x' || !size || size > 32) return false;
    for (size_t i = 0; i < size; i++) {
        value->high = value->high << 4 | value->low >> 60;
        value->low = value->low << 4 | lw_digit_value(digits[i]);
    }
    *at = digits + size;
    return true;
}

/* The text of one number, without the _ that may group its digits. */
static size_t copy_number(const char *at, char *to, size_t room) {
    size_t size = 0, used = 0;
    for (; !at_end(at + size); size++)
        if (at[size] != '_' && used + 1 < room) to[used++] = at[size];
    to[used] = 0;
    return size;
}

static bool is_hex(const char *number) {
    if (*number == '-' || *number == '+') number++;
    return number[0] == '0' && (number[1] | 0x20) == 'x' && !strpbrk(number, ".pP");
}

/* Integers are bits for every type; a float goes to float types and to untyped bits of its size. */
static lw_type read_as(lw_type type, const char *number) {
    static const lw_type bits[] = {[2] = LW_T_b16, [4] = LW_T_b32, [8] = LW_T_b64};
    static const lw_type floats[] = {[2] = LW_T_f16, [4] = LW_T_f32, [8] = LW_T_f64};
    uint32_t bytes = lw_value_bytes(type);
    if (bytes == 1) return LW_T_b8;
    bool binary = number[0] == '0' && (number[1] | 0x20) == 'b',
         zero_f = number[0] == '0' && number[1] && strchr("fFdD", number[1]);
    if (is_hex(number) || binary) return bits[bytes];
    if (lw_value_is_float(type)) return type;
    bool fraction = zero_f || strpbrk(number, ".iInN") || (strpbrk(number, "pPeE") && !is_hex(number));
    return fraction && lw_types[type].kind == 'B' ? floats[bytes] : bits[bytes];
}

static const char *parse_one(lw_type type, const char **at, lw_word *value) {
    *value = (lw_word){0};
    if (type == LW_T_pred) return parse_predicate(at, value) ? NULL : "a predicate is true, false, 1 or 0";
    if (lw_types[type].bits == 128)
        return parse_wide(at, value) && at_end(*at) ? NULL : "a value of 128 bits is 0x and up to 32 digits";
    char number[80];
    size_t size = copy_number(*at, number, sizeof number);
    const char *p = number;
    lw_value_fault fault = lw_value_parse(read_as(type, number), &p, &value->low);
    if (fault == LW_VALUE_NO_NUMBER || *p) return "this is no number of that type";
    if (fault == LW_VALUE_RANGE) return "the number does not fit the type";
    *at += size;
    return NULL;
}

/* How far it is between two numbers of which the negative ones are sign-extended; false: too far for a word. */
static bool distance(uint64_t low, bool low_negative, uint64_t high, bool high_negative, uint64_t *far) {
    *far = high - low;
    return low_negative == high_negative || *far > high;
}

/* first..last or first..last..step, where first is read already. A number is negative where it is written so:
 * 0..4294967295 goes up. */
static const char *parse_range(lw_type type, const char **at, bool negative, lw_word *values, uint32_t *count) {
    lw_word last, step = {.low = 1};
    if (type == LW_T_pred || lw_value_is_float(type) || lw_types[type].bits == 128) return "ranges are of integers";
    *at += 2;
    bool to_negative = **at == '-';
    const char *why = parse_one(type, at, &last);
    if (why) return why;
    uint64_t most = UINT64_MAX >> (64 - lw_types[type].bits), left,
             from = values[*count - 1].low | (negative ? ~most : 0), to = last.low | (to_negative ? ~most : 0);
    bool up = negative == to_negative ? from < to : negative;
    if (!strncmp(*at, "..", 2)) {
        *at += 2;
        why = parse_one(type, at, &step);
        if (why) return why;
        if (!step.low || step.low > INT32_MAX) return "the step of a range is a small positive number";
    }
    if (!(up ? distance(from, negative, to, to_negative, &left) : distance(to, to_negative, from, negative, &left)))
        left = UINT64_MAX;
    for (; left >= step.low; left -= step.low) {
        if (*count == LW_EVAL_LANES) return "a list has 32 values at most";
        uint64_t before = values[*count - 1].low;
        values[(*count)++] = (lw_word){.low = (up ? before + step.low : before - step.low) & most};
    }
    return NULL;
}

uint32_t lw_eval_values(lw_type type, const char *text, lw_word *values, const char **why) {
    uint32_t count = 0;
    while (*text == ' ') text++;
    for (;;) {
        bool negative = *text == '-';
        *why = count == LW_EVAL_LANES ? "a list has 32 values at most" : parse_one(type, &text, &values[count]);
        if (*why) return 0;
        count++;
        if (!strncmp(text, "..", 2)) *why = parse_range(type, &text, negative, values, &count);
        if (*why) return 0;
        if (!*text) return count;
        if (*text++ != ',') {
            *why = "values of a list are separated by commas";
            return 0;
        }
    }
}

/* ---- Printing ----------------------------------------------------------------------------------------- */

static void print_hex(lw_text *out, lw_type type, lw_word word) {
    if (lw_types[type].bits == 128)
        lw_text_printf(out, "0x%016llx%016llx", (unsigned long long)word.high, (unsigned long long)word.low);
    else lw_text_printf(out, "0x%0*llx", lw_types[type].bits / 4, (unsigned long long)word.low);
}

static void print_binary(lw_text *out, lw_type type, lw_word word) {
    lw_text_puts(out, "0b");
    for (unsigned i = lw_types[type].bits; i-- > 0;) {
        lw_text_puts(out, (i < 64 ? word.low >> i : word.high >> (i - 64)) & 1 ? "1" : "0");
        if (i && i % 8 == 0) lw_text_puts(out, "_");
    }
}

static bool has_sign(lw_type type, uint64_t bits) { return bits >> (lw_types[type].bits - 1) & 1; }

static void print_signed(lw_text *out, lw_type type, uint64_t bits) {
    unsigned shift = 64 - lw_types[type].bits;
    lw_text_printf(out, "%lld", (long long)((int64_t)(bits << shift) >> shift));
}

/* Several lines: the same bits in every notation that makes sense for the type. */
static void print_result(lw_text *out, const lw_eval_operand *o, int width) {
    lw_word word = o->lanes[0];
    if (o->type == LW_T_pred) {
        lw_text_printf(out, "%-*s  %s\n", width, o->name, word.low ? "true" : "false");
        return;
    }
    lw_text_printf(out, "%-*s  hex       ", width, o->name);
    print_hex(out, o->type, word);
    if (lw_value_is_float(o->type)) {
        lw_text_printf(out, "\n%*s  float     ", width, "");
        lw_value_print(out, o->type, word.low);
    } else if (lw_types[o->type].bits <= 64) {
        bool negative = has_sign(o->type, word.low);
        lw_text_printf(out, "\n%*s  %s%llu", width, "", negative ? "unsigned  " : "decimal   ",
                       (unsigned long long)word.low);
        if (negative) lw_text_printf(out, "\n%*s  signed    ", width, "");
        if (negative) print_signed(out, o->type, word.low);
    }
    lw_text_printf(out, "\n%*s  binary    ", width, "");
    print_binary(out, o->type, word);
    lw_text_puts(out, "\n");
}

static void print_cell(lw_text *out, const lw_eval_operand *o, uint32_t lane) {
    lw_word word = o->lanes[lane];
    if (o->type == LW_T_pred) return lw_text_puts(out, word.low ? "true" : "false");
    print_hex(out, o->type, word);
    lw_text_puts(out, "  ");
    if (lw_types[o->type].bits == 128) return;
    if (lw_value_is_float(o->type)) lw_value_print(out, o->type, word.low);
    else if (lw_types[o->type].kind == 'S') print_signed(out, o->type, word.low);
    else lw_text_printf(out, "%llu", (unsigned long long)word.low);
}

/* A table: texts of all cells first, then columns as wide as their widest cell. */
static void print_lanes(lw_text *out, const lw_eval *e) {
    lw_text cells = {0};
    const lw_eval_operand *columns[LW_EVAL_OPERANDS];
    uint32_t count = 0, starts_at[LW_EVAL_OPERANDS][LW_EVAL_LANES], widths[LW_EVAL_OPERANDS];
    for (uint32_t i = 0; i < e->operand_count; i++) {
        if (!e->operands[i].written) continue;
        columns[count] = &e->operands[i];
        widths[count] = (uint32_t)strlen(e->operands[i].name);
        for (uint32_t lane = 0; lane < e->lanes; lane++) {
            starts_at[count][lane] = (uint32_t)cells.size;
            print_cell(&cells, columns[count], lane);
            uint32_t size = (uint32_t)cells.size - starts_at[count][lane];
            if (size > widths[count]) widths[count] = size;
            lw_text_add(&cells, "", 1);
        }
        count++;
    }
    if (cells.failed || !cells.at) return lw_text_free(&cells);
    for (uint32_t lane = 0; lane <= e->lanes; lane++) {
        lw_text line = {0};
        lw_text_printf(&line, lane ? "%4u" : "lane", lane - 1);
        for (uint32_t i = 0; i < count; i++)
            lw_text_printf(&line, "  %-*s", (int)widths[i],
                           lane ? cells.at + starts_at[i][lane - 1] : columns[i]->name);
        while (line.size && line.at[line.size - 1] == ' ') line.size--;
        if (line.at) lw_text_add(out, line.at, line.size);
        lw_text_puts(out, "\n");
        lw_text_free(&line);
    }
    lw_text_free(&cells);
}

static bool same_in_all(const lw_eval *e, const lw_eval_operand *o) {
    for (uint32_t lane = 1; lane < e->lanes; lane++)
        if (memcmp(&o->lanes[lane], &o->lanes[0], sizeof o->lanes[0]) != 0) return false;
    return true;
}

void lw_eval_print(lw_text *out, const lw_eval *e) {
    bool table = false;
    int width = 1;
    for (uint32_t i = 0; i < e->operand_count; i++) {
        const lw_eval_operand *o = &e->operands[i];
        table = table || o->per_lane || (o->written && !same_in_all(e, o));
        if (o->written && (int)strlen(o->name) > width) width = (int)strlen(o->name);
    }
    if (table) return print_lanes(out, e);
    for (uint32_t i = 0; i < e->operand_count; i++)
        if (e->operands[i].written) print_result(out, &e->operands[i], width);
}
