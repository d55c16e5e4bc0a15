/* argument.c: one argument of a kernel, from its spelling to a checked description. docs/cli.md has the grammar. */
#include <ctype.h>
#include <math.h>

#include "tool/tool.h"

/* ---- Reports ------------------------------------------------------------------------------------------ */

/* The argument with a caret. Long arguments are shown as a window around it. */
static void show(lw_text *out, const char *text, size_t at, size_t size) {
    enum { WINDOW = 100 };
    size_t length = strlen(text), from = at > WINDOW / 2 && length > WINDOW ? at - WINDOW / 2 : 0;
    size_t shown = length - from < WINDOW ? length - from : WINDOW;
    lw_text_puts(out, "  ");
    for (size_t i = from; i < from + shown; i++) {
        unsigned char c = (unsigned char)text[i];
        lw_text_add(out, c < 0x20 || c > 0x7e ? "?" : &text[i], 1);
    }
    lw_text_printf(out, "\n  %*s^", (int)(at - from), "");
    for (size_t i = 1; i < size && at + i < from + shown; i++) lw_text_puts(out, "~");
    lw_text_puts(out, "\n");
}

void lw_arg_error(const lw_arg *arg, const char *at, size_t size, const char *below, lw_diag_id id, ...) {
    lw_text more = {0}, message = {0};
    show(&more, arg->text, (size_t)(at - arg->text), size);
    if (below) lw_text_printf(&more, "  %s\n", below);
    va_list args;
    va_start(args, id);
    lw_text_vsay(&message, lw_diag_rows[id].format, args);
    va_end(args);
    lw_tool_report(id, message.at ? message.at : "", more.at);
    lw_text_free(&more);
    lw_text_free(&message);
}

/* A line below an error: what would be right. */
static void hint(const char *text) { fprintf(stderr, "  %s\n", text); }

bool lw_arg_wrong_shape(const lw_arg *arg, const char *at, size_t size, const char *what) {
    lw_arg_error(arg, at, size, NULL, LW_D_arg_shape, arg->number, what);
    return false;
}

/* ---- Values ------------------------------------------------------------------------------------------- */

/* The text of the value at `at`, for messages. */
static size_t value_size(const char *at) { return strcspn(at, ",:"); }

/* `type` is what the value was read as, which is not the argument's own type in range: and random:. */
static bool wrong_value(const lw_arg *arg, const char *at, lw_type type, lw_value_fault fault) {
    size_t size = value_size(at);
    lw_text limits = {0}, word = {0};
    lw_text_printf(&word, "%.*s", (int)(size < 60 ? size : 60), at);
    lw_value_print_limits(&limits, type);
    if (fault == LW_VALUE_RANGE)
        lw_arg_error(arg, at, size, NULL, LW_D_arg_range, arg->number, word.at ? word.at : "",
                     limits.at ? limits.at : "");
    else
        lw_arg_error(arg, at, size, NULL, LW_D_arg_value, arg->number, word.at ? word.at : "",
                     lw_types[arg->type].name);
    lw_text_free(&word);
    lw_text_free(&limits);
    return false;
}

/* One value, behind which `,`, `:` or the end of the source stands. */
static bool parse_value(const lw_arg *arg, lw_type type, const char **at, const char *end, uint64_t *bits) {
    const char *begin = *at;
    lw_value_fault fault = lw_value_parse(type, at, bits);
    if (*at > end || (*at < end && **at != ',' && **at != ':')) fault = LW_VALUE_NO_NUMBER;
    return fault ? wrong_value(arg, begin, type, fault) : true;
}

/* ---- Sources ------------------------------------------------------------------------------------------ */

static bool parse_list(lw_arena *arena, lw_arg *arg, const char *at, const char *end) {
    const char *begin = at;
    bool is_word = isalpha((unsigned char)*at);
    for (;; at++) {
        uint64_t bits;
        if (!parse_value(arg, arg->type, &at, end, &bits)) {
            if (is_word && arg->is_array && !arg->values.count) hint("a buffer takes values, @FILE, range or random");
            return false;
        }
        LW_PUSH(arena, arg->values) = bits;
        if (at == end) break;
        if (*at == ':')
            return lw_arg_wrong_shape(arg, at, (size_t)(end - at), "only :out=FILE and :print may follow a source");
    }
    if (arg->values.count == 1 && (arg->has_count || !arg->is_array)) {
        arg->source = LW_ARG_FILL;
        arg->start = arg->values.at[0];
        return true;
    }
    arg->source = LW_ARG_LIST;
    if (!arg->has_count) arg->count = arg->values.count;
    if (arg->count == arg->values.count) return true;
    lw_arg_error(arg, begin, (size_t)(end - begin), NULL, LW_D_arg_count, arg->number, "the list",
                 (unsigned long long)arg->values.count, (unsigned long long)arg->count);
    return false;
}

/* The last element of a range must still fit; those between then do, too. */
static bool check_range(const lw_arg *arg, const char *at, size_t size) {
    if (arg->count == 0) return true;
    uint64_t last = arg->count - 1;
    bool fits;
    lw_text text = {0}, limits = {0};
    if (lw_value_is_float(arg->type)) {
        double start = lw_value_double(LW_T_f64, arg->start), step = lw_value_double(LW_T_f64, arg->step);
        double value = start + (double)last * step;
        fits = isfinite(start) && isfinite(step) &&
               isfinite(lw_value_double(arg->type, lw_value_round(arg->type, value, false)));
        lw_text_printf(&text, "the range's last element %g", value);
    } else {
        bool is_signed = lw_types[arg->type].kind == 'S';
        unsigned width = lw_types[arg->type].bits;
        __int128 start = is_signed ? (int64_t)arg->start : (__int128)arg->start;
        __int128 half = (__int128)1 << (width - 1), value = start + (__int128)(int64_t)arg->step * last;
        fits = is_signed ? value >= -half && value < half : value >= 0 && value < 2 * half;
        lw_text_puts(&text, "the range's last element");
    }
    if (!fits) {
        lw_value_print_limits(&limits, arg->type);
        lw_arg_error(arg, at, size, NULL, LW_D_arg_range, arg->number, text.at ? text.at : "",
                     limits.at ? limits.at : "");
    }
    lw_text_free(&text);
    lw_text_free(&limits);
    return fits;
}

/* A number of range: or random:. Floats are kept as binary64, integers as 64 bits; b types count as unsigned here, and
 * a step may go down for every type. */
static bool parse_number(const lw_arg *arg, const char **at, const char *end, bool is_step, uint64_t *value) {
    if (lw_value_is_float(arg->type)) return parse_value(arg, LW_T_f64, at, end, value);
    lw_type type = arg->type;
    switch (type) {
    case LW_T_b8: type = LW_T_u8; break;
    case LW_T_b16: type = LW_T_u16; break;
    case LW_T_b32: type = LW_T_u32; break;
    case LW_T_b64: type = LW_T_u64; break;
    default: break;
    }
    if (is_step) type = LW_T_s64;
    if (!parse_value(arg, type, at, end, value)) return false;
    unsigned shift = 64 - lw_types[type].bits;
    if (lw_types[type].kind == 'S') *value = (uint64_t)((int64_t)(*value << shift) >> shift);
    return true;
}

static bool parse_range(lw_arg *arg, const char *at, const char *end) {
    const char *begin = at;
    arg->source = LW_ARG_RANGE;
    arg->step = lw_value_is_float(arg->type) ? lw_value_round(LW_T_f64, 1, false) : 1;
    if (!arg->has_count)
        return lw_arg_wrong_shape(arg, arg->text, value_size(arg->text), "a range needs a count: u32[64]=range");
    at += strlen("range");
    if (at < end && (at++, !parse_number(arg, &at, end, false, &arg->start))) return false;
    if (at < end && *at == ':' && (at++, !parse_number(arg, &at, end, true, &arg->step))) return false;
    if (at < end)
        return lw_arg_wrong_shape(arg, at, (size_t)(end - at),
                                  "a range is written range, range:START or range:START:STEP");
    return check_range(arg, begin, (size_t)(end - begin));
}

static bool parse_random(lw_arg *arg, const char *at, const char *end) {
    static const char usage[] = "random values are written random or random:LOW:HIGH";
    arg->source = LW_ARG_RANDOM;
    if (!arg->has_count)
        return lw_arg_wrong_shape(arg, arg->text, value_size(arg->text), "random values need a count: u32[64]=random");
    at += strlen("random");
    if (at == end) return true;
    arg->source = LW_ARG_BETWEEN;
    const char *low = ++at;
    if (!parse_number(arg, &at, end, false, &arg->start)) return false;
    if (at == end || *at != ':') return lw_arg_wrong_shape(arg, at, 1, usage);
    at++;
    if (!parse_number(arg, &at, end, false, &arg->end)) return false;
    if (at < end) return lw_arg_wrong_shape(arg, at, (size_t)(end - at), usage);
    bool right;
    if (lw_value_is_float(arg->type)) {
        double from = lw_value_double(LW_T_f64, arg->start), to = lw_value_double(LW_T_f64, arg->end);
        right = from < to && isfinite(to - from) &&
                isfinite(lw_value_double(arg->type, lw_value_round(arg->type, from, true))) &&
                isfinite(lw_value_double(arg->type, lw_value_round(arg->type, to, false)));
    } else {
        right = lw_types[arg->type].kind == 'S' ? (int64_t)arg->start <= (int64_t)arg->end : arg->start <= arg->end;
    }
    return right ? true
                 : lw_arg_wrong_shape(arg, low, (size_t)(end - low),
                                      "LOW must be below HIGH, and both must fit the type");
}

static bool is_word(const char *at, const char *end, const char *word) {
    size_t size = strlen(word);
    return (size_t)(end - at) >= size && !memcmp(at, word, size) && (at + size == end || at[size] == ':');
}

/* &0: the buffer of argument 0, which comes in front. */
static bool parse_shared(lw_arg *arg, const char *at, const char *end) {
    const char *digits = at + 1;
    arg->source = LW_ARG_SHARED;
    if (lw_value_parse(LW_T_u32, &digits, &arg->start) || digits != end || arg->start >= arg->number)
        return lw_arg_wrong_shape(
            arg, at, (size_t)(end - at),
            "& and the number of an argument in front of this one, which count from 0, share its buffer");
    return true;
}

static bool parse_source(lw_arena *arena, lw_arg *arg, const char *at, const char *end) {
    if (at == end) return lw_arg_wrong_shape(arg, at, 1, "a value must follow the =");
    if (!arg->is_array) {
        if (*at == '@' || is_word(at, end, "range") || is_word(at, end, "random"))
            return lw_arg_wrong_shape(arg, at, (size_t)(end - at), "only a buffer takes this: write TYPE[COUNT]=…");
        if (!parse_list(arena, arg, at, end)) return false;
        return arg->values.count == 1 ? true
                                      : lw_arg_wrong_shape(arg, at, (size_t)(end - at),
                                                           "a scalar takes one value; write TYPE[]= for a list");
    }
    if (*at == '&') return parse_shared(arg, at, end);
    if (is_word(at, end, "range")) return parse_range(arg, at, end);
    if (is_word(at, end, "random")) return parse_random(arg, at, end);
    if (*at != '@') return parse_list(arena, arg, at, end);
    arg->source = LW_ARG_FILE;
    arg->file = lw_arena_text(arena, at + 1, (size_t)(end - at - 1));
    return *arg->file ? true : lw_arg_wrong_shape(arg, at, 1, "the name of a file must follow the @");
}

/* ---- Outputs ------------------------------------------------------------------------------------------ */

/* Where the next output begins; a file's name may hold other colons. */
const char *lw_arg_next_output(const char *at) {
    for (; *at; at++) {
        if (!strncmp(at, ":out=", 5)) break;
        if (!strncmp(at, ":print", 6) && (!at[6] || at[6] == ':' || at[6] == '=')) break;
    }
    return at;
}

bool lw_arg_wrong_output(const lw_arg *arg, const char *at, size_t size, const char *what) {
    lw_text whose = {0};
    if (arg->label) lw_text_say(&whose, "--result for '%s'", arg->label);
    else lw_text_printf(&whose, "argument %u", arg->number);
    lw_arg_error(arg, at, size, NULL, LW_D_arg_output, whose.at ? whose.at : "", what);
    lw_text_free(&whose);
    return false;
}

static bool parse_print(lw_arg *arg, lw_arg_output *out, const char *at, const char *end) {
    if (at == end) return true;
    at++;
    size_t size = (size_t)(end - at);
    out->hex = size == 3 && !memcmp(at, "hex", 3);
    if (out->hex) return true;
    out->type = lw_value_type(at, size);
    if (!out->type) return lw_arg_wrong_output(arg, at, size, "print takes hex or a type");
    bool whole = !arg->has_count || arg->count * lw_value_bytes(arg->type) % lw_value_bytes(out->type) == 0;
    return whole ? true : lw_arg_wrong_output(arg, at, size, "the buffer is no whole number of elements of this type");
}

bool lw_arg_parse_outputs(lw_arena *arena, lw_arg *arg, const char *at) {
    if (*at && !arg->is_array)
        return lw_arg_wrong_output(arg, at, strlen(at), "a scalar has no output; only buffers do");
    while (*at) {
        const char *end = lw_arg_next_output(at + 1);
        lw_arg_output *out = &LW_PUSH(arena, arg->outputs);
        out->type = arg->type;
        if (at[1] == 'p') {
            if (!parse_print(arg, out, at + 6, end)) return false;
        } else {
            at += 5;
            if (at == end) return lw_arg_wrong_output(arg, at - 5, 5, "the name of a file must follow :out=");
            out->file = lw_arena_text(arena, at, (size_t)(end - at));
        }
        at = end;
    }
    return true;
}

static bool wrong_outputs(const lw_arg *arg, const char *at) {
    return lw_arg_wrong_output(arg, at, strlen(at),
                               "this is no output; :out=FILE, :print, :print=hex and :print=TYPE are");
}

bool lw_arg_result(lw_arena *arena, const lw_param_info *param, uint64_t count, const char *outputs, uint32_t number,
                   lw_arg *arg) {
    *arg = (lw_arg){.text = lw_arena_printf(arena, ":%s", outputs),
                    .label = param->name,
                    .number = number,
                    .type = lw_type_find(param->element, strlen(param->element)),
                    .is_array = true,
                    .has_count = true,
                    .count = count};
    if (lw_arg_next_output(arg->text) != arg->text) return wrong_outputs(arg, arg->text);
    return lw_arg_parse_outputs(arena, arg, arg->text) && !lw_arg_check_outputs(arg);
}

/* ---- The whole ---------------------------------------------------------------------------------------- */

/* One number of "[COUNT]" or "[ROWS,COLUMNS]", with K, M, G, T. */
static bool parse_extent(lw_arg *arg, const char **at, const char *end) {
    const char *p = *at;
    uint64_t value;
    lw_value_fault fault = lw_value_parse(LW_T_u64, &p, &value);
    unsigned shift = *p == 'K' ? 10 : *p == 'M' ? 20 : *p == 'G' ? 30 : *p == 'T' ? 40 : 0;
    if (shift) p++;
    size_t size = (size_t)(end - *at);
    if ((p != end && *p != ',') || fault == LW_VALUE_NO_NUMBER)
        return lw_arg_wrong_shape(arg, *at, size, "the count in [ ] must be a number, which may end in K, M, G or T");
    if (**at == '-') return lw_arg_wrong_shape(arg, *at, size, "the count in [ ] cannot be negative");
    if (fault || value > LW_ARG_COUNT_MOST >> shift ||
        __builtin_mul_overflow(arg->count, value << shift, &arg->count) || arg->count > LW_ARG_COUNT_MOST)
        return lw_arg_wrong_shape(arg, *at, size, "the count in [ ] is too large");
    arg->npy.dimensions[arg->npy.dimension_count++] = value << shift;
    *at = p;
    return true;
}

static bool parse_count(lw_arg *arg, const char **at) {
    const char *p = *at + 1, *end = strchr(p, ']');
    if (!end) return lw_arg_wrong_shape(arg, *at, 1, "the ] is missing");
    *at = end + 1;
    arg->is_array = true;
    if (p == end) return true;
    arg->has_count = true;
    arg->count = 1;
    for (;; p++) {
        if (arg->npy.dimension_count == LW_NPY_DIMENSIONS_MAX)
            return lw_arg_wrong_shape(arg, p, (size_t)(end - p), "the shape in [ ] has too many dimensions");
        if (!parse_extent(arg, &p, end)) return false;
        if (p == end) break;
    }
    arg->has_shape = arg->npy.dimension_count > 1;
    return true;
}

bool lw_arg_parse_buffer(lw_arena *arena, lw_arg *arg, const char *text, const char *end) {
    size_t size = strcspn(text, "[=:");
    arg->type = lw_value_type(text, size);
    if (!arg->type) {
        char *word = lw_arena_text(arena, text, size < 60 ? size : 60);
        lw_arg_error(arg, text, size, NULL, LW_D_arg_type, arg->number, word);
        hint("the types are u8 u16 u32 u64 s8 s16 s32 s64 b8 b16 b32 b64 f16 bf16 f32 f64;");
        hint("u32=7 is a scalar, f32[4]=1.5 a buffer, tex2d=@image.npy a texture");
        return false;
    }
    const char *at = text + size;
    if (*at == '[' && !parse_count(arg, &at)) return false;
    if (!*at || *at == ':') {
        if (!arg->is_array) return lw_arg_wrong_shape(arg, at, 1, "a = and a value must follow the type");
        if (!arg->has_count)
            return lw_arg_wrong_shape(arg, at, 1, "a count must stand in the [ ], or a source must follow");
        return at == end || wrong_outputs(arg, at);
    }
    if (*at != '=') return lw_arg_wrong_shape(arg, at, 1, "a = must stand here");
    return parse_source(arena, arg, at + 1, end);
}

bool lw_arg_parse(lw_arena *arena, const char *text, uint32_t number, lw_arg *arg) {
    *arg = (lw_arg){.text = text, .number = number, .count = 1};
    if (*text == '{') return lw_arg_parse_struct(arena, arg);
    if (lw_arg_names_image(text)) return lw_arg_parse_image(arena, arg);
    const char *end = lw_arg_next_output(text);
    return lw_arg_parse_buffer(arena, arg, text, end) && lw_arg_parse_outputs(arena, arg, end);
}

/* ---- Against the parameter ----------------------------------------------------------------------------- */

static bool bind_value(lw_arg *arg, const lw_param_info *param, const char *signature, bool addresses) {
    lw_type type = lw_type_find(param->type, strlen(param->type));
    uint32_t bytes = lw_value_bytes(arg->type);
    const char *name = lw_types[arg->type].name;
    size_t size = strcspn(arg->text, "[=:");
    if (bytes != param->size) {
        lw_arg_error(arg, arg->text, size, signature, LW_D_arg_param_size, arg->number, name, (unsigned long long)bytes,
                     param->name, param->size);
        if (addresses && param->size == 8 && bytes < 8 && lw_types[type].kind != 'F')
            hint("if the kernel takes an address here, pass a buffer: TYPE[COUNT]=…");
        return false;
    }
    char have = lw_types[arg->type].kind, want = lw_types[type].kind;
    bool fits = have == 'B' || want == 'B' || want == 'X' || (lw_value_is_float(arg->type) == (want == 'F'));
    if (!fits)
        lw_arg_error(arg, arg->text, size, signature, LW_D_arg_param_kind, arg->number, name, param->name, param->type);
    return fits;
}

static bool bind_array(lw_arg *arg, const lw_param_info *param, const char *signature) {
    size_t size = strcspn(arg->text, "=:");
    if (!arg->is_array && lw_value_bytes(arg->type) == param->size) return true;
    if (!arg->is_array) {
        lw_arg_error(arg, arg->text, size, signature, LW_D_arg_param_array, arg->number, param->name, param->size);
        return false;
    }
    arg->by_value = true;
    arg->room = param->size;
    if (arg->outputs.count) {
        lw_arg_error(arg, arg->text, size, signature, LW_D_arg_value_output, arg->number, param->name);
        return false;
    }
    /* Where a file decides the count, lw_arg_bind is called again once it is known. */
    if (arg->source == LW_ARG_FILE && !arg->has_count && !arg->loaded) return true;
    unsigned long long bytes = arg->count * lw_value_bytes(arg->type);
    if (bytes != param->size)
        lw_arg_error(arg, arg->text, size, signature, LW_D_arg_param_size, arg->number, "the array", bytes, param->name,
                     param->size);
    return bytes == param->size;
}

bool lw_arg_bind(lw_arg *arg, const lw_param_info *param, const char *signature, bool addresses) {
    if (arg->image) return lw_arg_bind_image(arg, param, signature, addresses);
    lw_type type = lw_type_find(param->type, strlen(param->type));
    if (arg->members && param->size == lw_types[type].bits / 8)
        return lw_arg_wrong_shape(arg, arg->text, strlen(arg->text),
                                  "a struct goes to a parameter that is an array of bytes");
    if (arg->members) return true;
    if (param->size != lw_types[type].bits / 8) return bind_array(arg, param, signature);
    if (!arg->is_array) return bind_value(arg, param, signature, addresses);
    /* 32-bit parameters hold addresses in modules of address size 32. */
    if (addresses && (param->size == 8 || param->size == 4) && lw_types[type].kind != 'F') return true;
    lw_arg_error(arg, arg->text, strcspn(arg->text, "=:"), signature, LW_D_arg_param_buffer, arg->number, param->name,
                 param->type);
    return false;
}
