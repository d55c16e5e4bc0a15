/* lut.c: lanewise lut: tables of lop3. */
#include <ctype.h>
#include <stdlib.h>

#include "tool/lut.h"

typedef struct options {
    bool table;
    char **words;
    int count;
} options;

static const struct argp_option choices[] = {
    {"table", 't', NULL, 0, "Print the truth table, too", 0},
    {0},
};

static const char doc[] = "Convert between expressions over a, b and c and the table number that lop3 takes."
                          "\vAn EXPRESSION has the names a, b, c, the constants 0 and 1, the operators ~ (or "
                          "!) & ^ | with the precedence of C, and parentheses; "
                          "its table is printed. A TABLE is a number from 0 to 255, decimal, 0x or 0b; an "
                          "expression with the fewest operators is printed. 0 and 1 alone are the constants: "
                          "the tables are written 0x0 and 0x1.\n\n"
                          "Bit 4a+2b+c of the table is the result for the bits a, b and c.\n\n"
                          "Exit codes:\n"
                          "  0  done\n"
                          "  2  the expression is wrong, or the number is no table\n\n"
                          "Examples:\n"
                          "  lanewise lut '(a & b | c) ^ a'\n"
                          "  lanewise lut 0x1a\n"
                          "  lanewise lut --table 'a ^ b ^ c'\n";

static error_t parse(int key, char *arg, struct argp_state *state) {
    options *o = state->input;
    (void)arg;
    switch (key) {
    case 't': o->table = true; break;
    case ARGP_KEY_ARGS:
        o->words = state->argv + state->next;
        o->count = state->argc - state->next;
        break;
    case ARGP_KEY_NO_ARGS: argp_error(state, "an EXPRESSION or a TABLE is needed"); break;
    default: return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static void report(const char *text, size_t at, const char *why) {
    lw_text below = {0};
    lw_text_puts(&below, "    ");
    for (const char *p = text; *p; p++) lw_text_add(&below, (unsigned char)*p < 0x20 || *p == 0x7f ? " " : p, 1);
    lw_text_puts(&below, "\n    ");
    for (size_t i = 0; i < at; i++)
        if (((unsigned char)text[i] & 0xc0) != 0x80) lw_text_puts(&below, " ");
    lw_text_puts(&below, "^\n");
    lw_tool_report(LW_D_lut_text, why, below.at);
    lw_text_free(&below);
}

/* Numbers are tables; but 0 and 1 alone are constants. */
static bool is_number(const char *text) {
    return isdigit((unsigned char)*text) && text[strspn(text, "0123456789abcdefABCDEFxX")] == 0 &&
           (text[1] || *text > '1');
}

static void print_table(uint8_t table) {
    puts("  a b c  result");
    for (unsigned i = 0; i < 8; i++) printf("  %u %u %u  %u\n", i >> 2, i >> 1 & 1, i & 1, table >> i & 1);
}

static int convert(const options *o, const char *text) {
    uint8_t table;
    while (isspace((unsigned char)*text)) text++;
    if (is_number(text)) {
        const char *at = text;
        uint64_t number;
        lw_value_fault fault = lw_value_parse(LW_T_b64, &at, &number);
        if (fault || *at || number > 255) {
            report(text, *at && !fault ? (size_t)(at - text) : 0, "a table is a number from 0 to 255");
            return LW_EXIT_USAGE;
        }
        table = (uint8_t)number;
        puts(lw_lut_expression(table));
    } else {
        size_t at;
        const char *why;
        if (!lw_lut_parse(text, &table, &at, &why)) {
            report(text, at, why);
            return LW_EXIT_USAGE;
        }
        printf("0x%02x\n", table);
    }
    if (o->table) print_table(table);
    return LW_EXIT_OK;
}

int lw_command_lut(int argc, char **argv) {
    options o = {0};
    lw_tool_options(&(struct argp){choices, parse, "EXPRESSION|TABLE...", doc, NULL, NULL, NULL}, argc, argv, 0, &o);
    int code = LW_EXIT_OK;
    for (int i = 0; i < o.count; i++) {
        int one = convert(&o, o.words[i]);
        if (one) code = one;
    }
    return code;
}
