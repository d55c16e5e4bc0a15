/* equiv.c: lanewise equiv: a PTX kernel and a PTO function, or two PTO functions, on the same inputs; the first
 * difference is shown.
 *
 * options → sides → slots → cases: inputs → both runs → comparison */
#include <stdlib.h>

#include "tool/equiv.h"

enum {
    KEY_ELEMENTS = 256,
    KEY_CASES,
    KEY_SEED,
    KEY_RANGE,
    KEY_SET,
    KEY_BLOCK,
    KEY_CPU,
    KEY_ENGINE,
    KEY_TARGET,
    KEY_INACTIVE,
    KEY_OVERFLOW
};

static const struct argp_option choices[] = {
    {"elements", KEY_ELEMENTS, "N", 0,
     "Elements of every array; by default as many as all combinations of values need, where they are few, "
     "else 65536",
     1},
    {"cases", KEY_CASES, "N", 0, "Runs, each with inputs of its own; 1 by default where all combinations come, else 4",
     1},
    {"seed", KEY_SEED, "N", 0, "Seed of the inputs; 0 by default", 1},
    {"range", KEY_RANGE, "K=LOW:HIGH", 0, "Values of argument K, from 0, are in this range only", 1},
    {"set", KEY_SET, "K=VALUE", 0,
     "The value of scalar argument K; one of 64 bits is the number of elements by default, others are noise", 1},
    {"block", KEY_BLOCK, "N", 0, "Threads of a CTA of the PTX kernel, one for each element in all; 128 by default", 1},
    {"target", KEY_TARGET, "NAME", 0, "PTO: cpu, a2a3 or a5, as for `lanewise run`", 2},
    {"inactive", KEY_INACTIVE, "NAME", 0, "PTO: zero or undef-poison", 2},
    {"shift-overflow", KEY_OVERFLOW, "NAME", 0, "PTO: saturate, modulo or trap", 2},
    {"cpu", KEY_CPU, "LEVEL", 0, "v4, v3, neon or portable", 2},
    {"engine", KEY_ENGINE, "NAME", 0, "interp, jit or auto", 2},
    {0},
};

static const char doc[] = "Compare a PTX kernel with a PTO function on the same inputs."
                          "\vOne side is a function of PTO. The other is one, too, or a kernel with the\n"
                          "same parameters: arrays as 64-bit pointers, masks as bytes, scalars by value;\n"
                          "then a pointer for each result of the function; then, if it likes, the number\n"
                          "of elements. Each thread computes one element. Results and memrefs are\n"
                          "compared, byte for byte. A file with one kernel or function needs no :NAME.\n\n"
                          "Arguments with few values (8 and 16 bits, masks, a small --range) take all of\n"
                          "them, in all combinations; others get edges, small numbers and noise.\n\n"
                          "Examples:\n"
                          "  lanewise equiv shift.ptx:shr_s32 shift.pto:shr_i32 --range 1=0:31\n"
                          "  lanewise equiv shift.ptx:shr_s32 shift.pto:shr_i32 --shift-overflow modulo\n\n"
                          "Exit codes:\n"
                          "  0    both gave the same for all inputs\n"
                          "  1    a file has errors, or uses what is not executable\n"
                          "  2    the command line is wrong, or the two cannot be compared\n"
                          "  3    one of them trapped\n"
                          "  5    a file cannot be read\n"
                          "  6    the machine lacks memory or the CPU level\n"
                          "  7    they differ\n";

/* ---- Options --------------------------------------------------------------------------------------------------- */

_Noreturn static void bad(const char *option, const char *text, const char *why) {
    lw_tool_error(LW_D_equiv_option, option, text, why);
    exit(LW_EXIT_USAGE);
}

static bool parse_integer(lw_type type, const char **at, uint64_t *value) {
    return lw_value_parse(type, at, value) == LW_VALUE_OK;
}

static uint64_t parse_number(const char *option, const char *text, uint64_t least, uint64_t most) {
    const char *at = text;
    uint64_t value;
    if (!parse_integer(LW_T_u64, &at, &value) || *at) bad(option, text, "this is no whole number");
    if (value < least || value > most)
        bad(option, text, least ? "this must be above 0 and not as large" : "this is too large");
    return value;
}

static error_t parse(int key, char *arg, struct argp_state *state) {
    lw_equiv *e = state->input;
    switch (key) {
    case KEY_ELEMENTS: e->elements = parse_number("--elements", arg, 1, 1 << 28), e->has_elements = true; break;
    case KEY_CASES: e->cases = parse_number("--cases", arg, 1, 1 << 20), e->has_cases = true; break;
    case KEY_SEED: e->seed = parse_number("--seed", arg, 0, UINT64_MAX); break;
    case KEY_RANGE: e->ranges[e->range_count++] = arg; break;
    case KEY_SET: e->sets[e->set_count++] = arg; break;
    case KEY_BLOCK:
        e->block = (uint32_t)parse_number("--block", arg, 1, 1024);
        e->block_text = arg;
        break;
    case KEY_CPU: e->options.cpu = arg; break;
    case KEY_ENGINE: e->options.engine = arg; break;
    case KEY_TARGET: e->choices.target = lw_tool_target(arg); break;
    case KEY_INACTIVE: e->choices.inactive = lw_tool_inactive(arg); break;
    case KEY_OVERFLOW: e->choices.shift_overflow = lw_tool_overflow(arg); break;
    case ARGP_KEY_ARG:
        if (state->arg_num > 1) argp_error(state, "two programs are compared, not three");
        e->sides[state->arg_num].spelling = arg;
        break;
    case ARGP_KEY_END:
        if (state->arg_num < 2) argp_error(state, "two programs are needed: FILE:NAME FILE:NAME");
        break;
    default: return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

/* ---- Sides ----------------------------------------------------------------------------------------------------- */

/* Of vector registers, which say how many elements their arrays have; else a kernel of threads. */
static bool is_function(const lw_equiv_side *side) { return side->info.lanes != 0; }

static int load_side(lw_equiv *e, lw_equiv_side *side) {
    const char *colon = strrchr(side->spelling, ':');
    size_t size = colon ? (size_t)(colon - side->spelling) : strlen(side->spelling);
    side->file = lw_arena_text(&e->arena, side->spelling, size);
    side->name = colon && colon[1] ? lw_arena_text(&e->arena, colon + 1, strlen(colon + 1)) : NULL;
    side->language = lw_tool_language_of(side->file, NULL);
    side->reads = lw_equiv_language_of(side->language);
    char *text;
    size_t length;
    int code = lw_tool_read(side->file, UINT32_MAX - 1, &text, &length);
    if (code) return code;
    lw_module_options options = e->choices;
    options.language = side->language->of->name;
    lw_status status = lw_module_load(e->context, &options, side->file, text, length, &side->module);
    side->text = lw_arena_text(&e->arena, text, length);
    side->text_size = length;
    free(text);
    const char *name = side->name;
    if (status == LW_OK && name &&
        !(name = lw_tool_kernel_meant(side->module, name, side->file, side->language, "FILE:NAME")))
        return LW_EXIT_USAGE;
    lw_guard_begin(0, "");
    if (status == LW_OK) status = lw_module_kernel(side->module, name, &side->kernel);
    lw_guard_end();
    switch (status) {
    case LW_OK: side->info = lw_kernel_get_info(side->kernel); return LW_EXIT_OK;
    case LW_BAD_SOURCE: fputs(lw_module_diagnostics(side->module, lw_tool_colour()), stderr); return LW_EXIT_SOURCE;
    case LW_NOT_FOUND: return lw_tool_wrong_kernel(e->context, side->module, side->file, side->language, "FILE:NAME");
    case LW_UNSUPPORTED: lw_tool_error(LW_D_machine_lacks, lw_tool_why(e->context)); return LW_EXIT_MACHINE;
    default: lw_tool_error(LW_D_no_memory, side->file); return LW_EXIT_MACHINE;
    }
}

/* ---- Slots ----------------------------------------------------------------------------------------------------- */

static int not_alike(const lw_equiv *e, const char *why) {
    const lw_equiv_side *a = &e->sides[0], *b = &e->sides[1];
    lw_tool_error(LW_D_equiv_shape, a->info.name, a->file, b->info.name, b->file, why);
    return LW_EXIT_USAGE;
}

static int make_slots(lw_equiv *e, const lw_equiv_side *side) {
    uint32_t count = side->info.param_count - side->info.has_arrays;
    if (count > LW_EQUIV_SLOTS) return not_alike(e, "there are more than 64 parameters");
    e->slot_count = count;
    for (uint32_t i = 0; i < count; i++) {
        lw_equiv_slot *slot = &e->slots[i];
        slot->param = lw_kernel_param(side->kernel, i);
        slot->is_array = slot->param.element != NULL;
        const char *type = slot->is_array ? slot->param.element : slot->param.type;
        slot->type = lw_type_find(type, strlen(type));
        if (!slot->param.is_result) e->argument_count = i + 1;
    }
    return LW_EXIT_OK;
}

/* Whether a kernel takes what the function does. */
static int check_kernel(lw_equiv *e, const lw_equiv_side *side) {
    uint32_t more = side->info.param_count - e->slot_count;
    if (side->info.param_count < e->slot_count || more > 1)
        return not_alike(e, "the kernel must have a parameter for each argument and result of the function, "
                            "and may have one more for the number of elements");
    for (uint32_t i = 0; i < e->slot_count; i++)
        if (lw_kernel_param(side->kernel, i).size != e->slots[i].param.size)
            return not_alike(
                e,
                lw_arena_say(
                    &e->arena,
                    e->slots[i].is_array
                        ? "parameter '%s' of the kernel is to be a pointer of 64 bits: the array '%s' of the function"
                        : "parameter '%s' of the kernel is not as wide as the scalar '%s' of the function",
                    lw_kernel_param(side->kernel, i).name, e->slots[i].param.name));
    if (more && lw_kernel_param(side->kernel, e->slot_count).size > 8)
        return not_alike(e, "the last parameter of the kernel is no number of elements");
    return LW_EXIT_OK;
}

static int check_function(const lw_equiv *e, const lw_equiv_side *side) {
    if (side->info.param_count - side->info.has_arrays != e->slot_count)
        return not_alike(e, "the functions have different numbers of arguments and results");
    for (uint32_t i = 0; i < e->slot_count; i++) {
        lw_param_info param = lw_kernel_param(side->kernel, i), *other = &((lw_equiv *)e)->slots[i].param;
        if (!param.element != !other->element ||
            strcmp(param.element ? param.element : param.type, other->element ? other->element : other->type) ||
            param.is_register != other->is_register || param.elements != other->elements ||
            param.any_length != other->any_length)
            return not_alike(e, "the functions have arguments or results of different types");
    }
    return LW_EXIT_OK;
}

static lw_equiv_slot *slot_of(lw_equiv *e, const char *option, const char *text, bool is_array, const char **rest) {
    const char *at = text;
    uint64_t number;
    if (!parse_integer(LW_T_u32, &at, &number) || *at != '=')
        bad(option, text, "this begins with the number of an argument and a =");
    if (number >= e->argument_count) bad(option, text, "there is no such argument");
    *rest = at + 1;
    lw_equiv_slot *slot = &e->slots[number];
    if (slot->is_array != is_array)
        bad(option, text,
            is_array ? "a scalar gets its value by --set" : "the values of an array are limited by --range");
    return slot;
}

static void read_limits(lw_equiv *e) {
    for (uint32_t i = 0; i < e->range_count; i++) {
        const char *at, *text = e->ranges[i];
        lw_equiv_slot *slot = slot_of(e, "--range", text, true, &at);
        uint64_t low, high;
        if (!parse_integer(slot->type, &at, &low) || *at++ != ':' || !parse_integer(slot->type, &at, &high) || *at)
            bad("--range", text, "this is written K=LOW:HIGH, with values that fit the type of the argument");
        unsigned shift = 64 - lw_types[slot->type].bits;
        bool is_signed = lw_types[slot->type].kind == 'S';
        slot->low = is_signed ? (int64_t)(low << shift) >> shift : (int64_t)low;
        slot->high = is_signed ? (int64_t)(high << shift) >> shift : (int64_t)high;
        if (is_signed ? slot->low > slot->high : low > high) bad("--range", text, "LOW must not be above HIGH");
        slot->has_range = slot->high - (uint64_t)slot->low != UINT64_MAX;
    }
    for (uint32_t i = 0; i < e->set_count; i++) {
        const char *at, *text = e->sets[i];
        lw_equiv_slot *slot = slot_of(e, "--set", text, false, &at);
        if (!parse_integer(slot->type, &at, &slot->value) || *at)
            bad("--set", text, "this is no value of the argument's type");
        slot->has_value = true;
    }
}

/* Room for what comes and what goes, once the number of elements is known. */
static void make_room(lw_equiv *e, uint32_t lanes) {
    bool several = false;
    for (uint32_t i = 0; i < e->slot_count; i++)
        several |= e->slots[i].param.is_register && e->slots[i].param.elements != lanes;
    if (several) e->elements = (e->elements + lanes - 1) / lanes * lanes;
    for (uint32_t i = 0; i < e->slot_count; i++) {
        lw_equiv_slot *slot = &e->slots[i];
        if (!slot->is_array && !slot->has_value && slot->param.size == 8)
            slot->value = e->elements, slot->has_value = true;
        if (!slot->is_array) continue;
        slot->count = slot->param.is_register  ? (several ? e->elements / lanes * slot->param.elements : e->elements)
                      : slot->param.any_length ? e->elements
                                               : slot->param.elements;
        size_t size = (size_t)slot->count * lw_value_bytes(slot->type);
        slot->in = lw_arena_alloc(&e->arena, size);
        for (int k = 0; k < 2; k++) slot->out[k] = lw_arena_alloc(&e->arena, size);
        memset(slot->in, 0, size);
    }
}

/* ---- Runs ------------------------------------------------------------------------------------------------------ */

static int failed(lw_equiv *e, lw_status status) {
    lw_trap_info trap;
    if (status == LW_TRAPPED && lw_trap(e->context, &trap)) {
        fputs(trap.report, stderr);
        return LW_EXIT_TRAPPED;
    }
    const bool lacks = status == LW_UNSUPPORTED, memory = status == LW_NO_MEMORY;
    lw_tool_error(lacks ? LW_D_machine_lacks : memory ? LW_D_no_memory : LW_D_launch_refused, lw_tool_why(e->context));
    return lacks || memory ? LW_EXIT_MACHINE : LW_EXIT_USAGE;
}

static lw_status shape(lw_equiv *e, lw_equiv_side *side, lw_launch_config *config) {
    if (is_function(side)) return lw_launch_shape(side->kernel, e->elements, config);
    uint32_t block = side->info.required_block[0] ? side->info.required_block[0] : e->block;
    *config = (lw_launch_config){.grid = {(uint32_t)((e->elements + block - 1) / block), 1, 1}, .block = {block, 1, 1}};
    return LW_OK;
}

static lw_status run_side(lw_equiv *e, uint32_t number) {
    lw_equiv_side *side = &e->sides[number];
    uint64_t values[LW_EQUIV_SLOTS + 1] = {0};
    void *params[LW_EQUIV_SLOTS + 1];
    lw_launch_config config = {0};
    lw_status status = shape(e, side, &config);
    for (uint32_t i = 0; i < e->slot_count && status == LW_OK; i++) {
        const lw_equiv_slot *slot = &e->slots[i];
        size_t size = (size_t)slot->count * lw_value_bytes(slot->type);
        values[i] = slot->value;
        if (!slot->is_array || !size) continue;
        status = lw_memory_new(e->context, size, &values[i]);
        if (status == LW_OK) status = lw_memory_write(e->context, values[i], slot->in, size);
    }
    values[e->slot_count] = e->elements;
    for (uint32_t i = 0; i <= e->slot_count; i++) params[i] = &values[i];
    if (status == LW_OK) status = lw_launch(side->kernel, &config, params, NULL);
    for (uint32_t i = 0; i < e->slot_count; i++) {
        lw_equiv_slot *slot = &e->slots[i];
        size_t size = (size_t)slot->count * lw_value_bytes(slot->type);
        if (!slot->is_array || !values[i]) continue;
        if (status == LW_OK) status = lw_memory_read(e->context, values[i], slot->out[number], size);
        if (lw_memory_free(e->context, values[i]) != LW_OK && status == LW_OK) status = LW_NO_MEMORY;
    }
    return status;
}

/* ---- Comparison ------------------------------------------------------------------------------------------------ */

static void put_value(lw_text *out, const char *name, const lw_equiv_slot *slot, uint64_t bits) {
    lw_text_printf(out, "  %-12s ", name);
    lw_value_print(out, slot->type, bits);
    lw_text_puts(out, "  ");
    lw_value_print_hex(out, slot->type, bits);
    lw_text_puts(out, "\n");
}

static void show(lw_equiv *e, uint32_t number, uint64_t at, uint64_t run) {
    const lw_equiv_slot *slot = &e->slots[number];
    lw_text out = {0};
    lw_text_printf(&out, "%s differs at element %llu, in case %llu of %llu with seed %llu\n", slot->param.name,
                   (unsigned long long)at, (unsigned long long)run + 1, (unsigned long long)e->cases,
                   (unsigned long long)e->seed);
    for (uint32_t i = 0; i < e->argument_count; i++) {
        const lw_equiv_slot *in = &e->slots[i];
        if (in->is_array && at < in->count) put_value(&out, in->param.name, in, lw_equiv_element(in, in->in, at));
        if (!in->is_array) put_value(&out, in->param.name, in, in->value);
    }
    for (uint32_t k = 0; k < 2; k++) {
        const char *text;
        uint32_t line = lw_equiv_line(e, k, number, &text);
        put_value(&out, k ? "second" : "first", slot, lw_equiv_element(slot, slot->out[k], at));
        lw_text_printf(&out, "    %s", e->sides[k].file);
        if (line) lw_text_printf(&out, ":%u: %s", line, text);
        lw_text_puts(&out, "\n");
    }
    fputs(out.at ? out.at : "", stdout);
    lw_text_free(&out);
}

/* Shows the first difference of a case; how many elements differ goes to *count. */
static void compare(lw_equiv *e, uint64_t run, uint64_t *count) {
    for (uint32_t s = 0; s < e->slot_count; s++) {
        const lw_equiv_slot *slot = &e->slots[s];
        size_t bytes = lw_value_bytes(slot->type);
        if (!slot->is_array || (!slot->param.is_result && slot->param.is_register)) continue;
        for (uint64_t i = 0; i < slot->count; i++) {
            if (!memcmp(slot->out[0] + i * bytes, slot->out[1] + i * bytes, bytes)) continue;
            if (!(*count)++) show(e, s, i, run);
        }
    }
}

static int run_cases(lw_equiv *e) {
    uint64_t differ = 0, run = 0;
    for (; run < e->cases && !differ; run++) {
        lw_equiv_fill(e, run);
        for (uint32_t k = 0; k < 2; k++) {
            lw_status status = run_side(e, k);
            lw_equiv_note_launch(e, &e->sides[k]);
            if (status != LW_OK) return failed(e, status);
        }
        compare(e, run, &differ);
    }
    if (differ) printf("%llu elements differ in this case\n", (unsigned long long)differ);
    else
        printf("equal: %llu case%s of %llu element%s%s\n", (unsigned long long)e->cases, e->cases == 1 ? "" : "s",
               (unsigned long long)e->elements, e->elements == 1 ? "" : "s",
               e->exhaustive ? ", all combinations of values" : "");
    lw_equiv_say_open(e);
    return differ ? LW_EXIT_DIFFERENT : LW_EXIT_OK;
}

/* ---- The whole ------------------------------------------------------------------------------------------------- */

static int compare_sides(lw_equiv *e) {
    jmp_buf out;
    if (!LW_ARENA_TRY(&e->arena, out)) {
        lw_tool_error(LW_D_no_memory, "the inputs are too large");
        return LW_EXIT_MACHINE;
    }
    int code = lw_tool_context(&e->options, &e->context);
    for (uint32_t k = 0; k < 2 && !code; k++) code = load_side(e, &e->sides[k]);
    if (code) return code;
    const lw_equiv_side *reference = is_function(&e->sides[0]) ? &e->sides[0] : &e->sides[1],
                        *other = reference == &e->sides[0] ? &e->sides[1] : &e->sides[0];
    if (!is_function(reference))
        return not_alike(e, "one of the two must be a function of PTO: kernels do not say what their arrays hold");
    if (e->block_text && is_function(other))
        bad("--block", e->block_text,
            "both are functions of PTO, and a kernel of PTX alone has CTAs of a size that can be chosen");
    code = make_slots(e, reference);
    if (!code) code = is_function(other) ? check_function(e, other) : check_kernel(e, other);
    if (code) return code;
    read_limits(e);
    lw_equiv_plan(e, reference->info.lanes);
    make_room(e, reference->info.lanes);
    lw_equiv_constants(e);
    return run_cases(e);
}

int lw_command_equiv(int argc, char **argv) {
    lw_equiv e = {
        .block = 128, .ranges = calloc((size_t)argc, sizeof *e.ranges), .sets = calloc((size_t)argc, sizeof *e.sets)};
    if (!e.ranges || !e.sets) {
        lw_tool_error(LW_D_no_memory, "the arguments are too large");
        return LW_EXIT_MACHINE;
    }
    lw_tool_options(&(struct argp){choices, parse, "FILE:NAME FILE:NAME", doc, NULL, NULL, NULL}, argc, argv, 0, &e);
    lw_arena_init(&e.arena);
    int code = compare_sides(&e);
    lw_context_free(e.context);
    lw_arena_free(&e.arena);
    free(e.ranges);
    free(e.sets);
    return code;
}
