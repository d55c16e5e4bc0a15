/* eval.c: lanewise eval: one instruction on values. */
#include <ctype.h>
#include <stdlib.h>

#include "tool/eval.h"

typedef struct options {
    const char *text;
    const char *const *values;
    uint32_t value_count, lanes, carry;
    lw_options library;
} options;

static const struct argp_option choices[] = {
    {"lanes", 'n', "N", 0,
     "Threads, 1 to 32: by default as many as the longest list has values; 32 for what works across lanes", 0},
    {"carry", 'c', "BIT", 0, "The carry flag CC.CF before addc, subc and madc; 0 by default", 0},
    {"semantics", 's', "NAME", 0,
     "manual or sm_90: whose results, where the manual and the hardware differ; by default LANEWISE_SEMANTICS, else "
     "manual",
     0},
    {"engine", 'E', "NAME", 0, "interp, jit or auto; by default LANEWISE_ENGINE, else auto", 0},
    {"cpu", 'C', "LEVEL", 0, "The CPU level; by default LANEWISE_CPU, else the best that the machine has", 0},
    {0},
};

static const char doc[] = "Run one instruction on values and print its results in hex, decimal, binary, and "
                          "as float where they are."
                          "\vINSTRUCTION is a spelling, with a VALUE for each operand that is read, or the "
                          "whole instruction as PTX has it, with a VALUE "
                          "for each name in the order of their first appearance.\n\n"
                          "Values: 305419896  -1  0x12345678  0b1010_1010  1.5  inf  0f3F800000  true; with "
                          "float types, 0x… are the bits. Lists have one value "
                          "for each lane: 1,2,3 or 0..31 or 31..0 or 0..62..2. One value alone is that of all "
                          "lanes. A membermask that is left out names all lanes.\n\n"
                          "Where the manual and the hardware give different results for these values, both are shown, "
                          "the chosen one first.\n\n"
                          "Exit codes:\n"
                          "  0  done\n"
                          "  1  the instruction has an error, or is not executable\n"
                          "  2  the command line is wrong, or the values do not fit\n"
                          "  3  the instruction trapped\n"
                          "  4  it did not end\n"
                          "  6  out of memory, or the machine lacks the CPU level\n\n"
                          "Examples:\n"
                          "  lanewise eval shf.l.wrap.b32 0x12345678 0x9abcdef0 8\n"
                          "  lanewise eval add.f32 1.5 0f3F800000\n"
                          "  lanewise eval lop3.or.b32 0xff00ff00 0x0f0f0f0f 0x33333333 0x96 false\n"
                          "  lanewise eval shfl.sync.down.b32 0..31 2 0x181f\n"
                          "  lanewise eval --semantics sm_90 \\\n"
                          "      'vshl.u32.u32.u32.clamp d.h1, a, b, c' 0x12345678 4 0\n"
                          "  lanewise eval 'mov.b32 d, {low, high}' 0x1234 0xabcd\n";

static uint32_t number(struct argp_state *state, const char *name, const char *arg, unsigned long least,
                       unsigned long most) {
    char *end;
    unsigned long n = strtoul(arg, &end, 10);
    if (!isdigit((unsigned char)*arg) || *end || n < least || n > most)
        argp_error(state, "%s takes a number from %lu to %lu, not '%.100s'", name, least, most, arg);
    return (uint32_t)n;
}

static error_t parse(int key, char *arg, struct argp_state *state) {
    options *o = state->input;
    switch (key) {
    case 'n': o->lanes = number(state, "--lanes", arg, 1, LW_EVAL_LANES); break;
    case 'c': o->carry = number(state, "--carry", arg, 0, 1); break;
    case 's': o->library.semantics = arg; break;
    case 'C': o->library.cpu = arg; break;
    case 'E': o->library.engine = arg; break;
    case ARGP_KEY_ARGS:
        o->text = state->argv[state->next];
        o->values = (const char *const *)state->argv + state->next + 1;
        o->value_count = (uint32_t)(state->argc - state->next - 1);
        break;
    case ARGP_KEY_NO_ARGS: argp_error(state, "an INSTRUCTION is needed"); break;
    default: return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

/* Negative numbers are no options: they get a blank in front, which the reader of values skips. */
static bool protect_numbers(lw_arena *arena, int argc, char **argv) {
    jmp_buf out;
    if (!LW_ARENA_TRY(arena, out)) return false;
    for (int i = 1; i < argc; i++) {
        const char *word = argv[i];
        bool number = word[0] == '-' && (isdigit((unsigned char)word[1]) || word[1] == '.' ||
                                         !strncmp(word + 1, "inf", 3) || !strncmp(word + 1, "nan", 3));
        if (number) argv[i] = lw_arena_printf(arena, " %s", word);
    }
    return true;
}

static int evaluate(lw_arena *arena, const options *o) {
    jmp_buf out;
    if (!LW_ARENA_TRY(arena, out)) {
        lw_tool_error(LW_D_no_memory, o->text);
        return LW_EXIT_MACHINE;
    }
    lw_eval *e = LW_NEW(arena, lw_eval);
    *e = (lw_eval){.arena = arena,
                   .text = o->text,
                   .values = o->values,
                   .value_count = o->value_count,
                   .lanes = o->lanes,
                   .carry = o->carry,
                   .options = o->library};
    lw_text text = {0};
    int code = lw_eval_show(&text, e);
    fputs(text.at ? text.at : "", stdout);
    lw_text_free(&text);
    return code;
}

int lw_command_eval(int argc, char **argv) {
    options o = {0};
    lw_arena arena;
    lw_arena_init(&arena);
    int code = LW_EXIT_MACHINE;
    if (protect_numbers(&arena, argc, argv)) {
        lw_tool_options(&(struct argp){choices, parse, "INSTRUCTION [VALUE...]", doc, NULL, NULL, NULL}, argc, argv, 0,
                        &o);
        code = evaluate(&arena, &o);
    } else {
        lw_tool_error(LW_D_no_memory, "the arguments");
    }
    lw_arena_free(&arena);
    return code;
}
