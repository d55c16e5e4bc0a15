/* support.c: reports, texts and names, for all commands. */
#include <stdlib.h>
#include <unistd.h>

#include "front/pto/pto.h"
#include "middle/pto.h"
#include "run/run.h"
#include "session/environment.h"
#include "tool/language.h"

/* ---- Reports ------------------------------------------------------------------------------------------ */

bool lw_tool_colour(void) { return !lw_environment(LW_ENV_no_colour) && isatty(STDERR_FILENO); }

/* Names of files may hold anything; a terminal must not see it. Needs no memory: there may be none. */
static void put_clean(const char *text) {
    char piece[256];
    size_t size = 0;
    for (; *text; text++) {
        piece[size++] = (unsigned char)*text < 0x20 || *text == 0x7f ? '?' : *text;
        if (size < sizeof piece && text[1]) continue;
        fwrite(piece, 1, size, stderr);
        size = 0;
    }
}

static bool starved;

bool lw_tool_starved(void) { return starved || lw_text_lost(); }

void lw_tool_report(lw_diag_id id, const char *message, const char *below) {
    bool colour = lw_tool_colour();
    starved = starved || id == LW_D_no_memory;
    fflush(stdout);
    fprintf(stderr, "lanewise: %serror[LW%04u]%s: ", colour ? "\33[1;31m" : "", lw_diag_rows[id].number,
            colour ? "\33[0m" : "");
    put_clean(message);
    fprintf(stderr, "\n%s", below ? below : "");
}

void lw_tool_error(lw_diag_id id, ...) {
    lw_text message = {0};
    va_list args;
    va_start(args, id);
    lw_text_vsay(&message, lw_diag_rows[id].format, args);
    va_end(args);
    lw_tool_report(id, message.at && !message.failed ? message.at : "out of memory", NULL);
    lw_text_free(&message);
}

void lw_tool_options(const struct argp *argp, int argc, char **argv, unsigned flags, void *input) {
    if (!argp_parse(argp, argc, argv, flags, NULL, input)) return;
    lw_tool_error(LW_D_no_memory, "the command line");
    exit(LW_EXIT_MACHINE);
}

void lw_tool_diagnostics(lw_diags *diags, bool warnings) {
    bool colour = lw_tool_colour();
    lw_text out = {0};
    bool left_out = false; /* a note goes where its message goes */
    for (const lw_diag *diag = diags->first; diag; diag = diag->next) {
        if (lw_diag_is_alone(diag)) left_out = !warnings && diag->severity == LW_WARNING;
        if (!left_out) lw_diag_render(&out, diags->source, diag, colour);
    }
    fflush(stdout);
    if (out.size) fwrite(out.at, 1, out.size, stderr);
    lw_text_free(&out);
}

bool lw_tool_ends_with(const char *text, const char *end) {
    size_t size = strlen(text), tail = strlen(end);
    return size >= tail && !strcmp(text + size - tail, end);
}

bool lw_tool_print(const lw_tool_source *in, lw_text *out) {
    bool whole = !out->failed;
    if (!whole) lw_tool_error(LW_D_no_memory, in->source.name);
    else if (out->size) fwrite(out->at, 1, out->size, stdout);
    lw_text_free(out);
    return whole;
}

void lw_tool_put_place(lw_text *out, lw_tool_source *in, lw_place place) {
    uint32_t line, column;
    lw_source_follow(&in->source, &in->cursor, place.at, &line, &column);
    if (in->source.part_count > 1) lw_text_printf(out, "%s:", lw_source_part_of(&in->source, place.at)->name);
    lw_text_printf(out, "%5u:%-3u ", line, column);
}

bool lw_tool_print_token(lw_tool_source *in, lw_place place, const char *kind, const uint64_t *value) {
    lw_text out = {0};
    lw_tool_put_place(&out, in, place);
    lw_text_printf(&out, "%-7s", kind);
    for (uint32_t i = 0; i < place.size; i++) {
        const char *c = &in->source.text[place.at + i];
        lw_text_add(&out, (unsigned char)*c < 0x20 || *c == 0x7f ? "?" : c, 1);
    }
    if (value) lw_text_printf(&out, "  0x%llx", (unsigned long long)*value);
    lw_text_puts(&out, "\n");
    return lw_tool_print(in, &out);
}

int lw_tool_finish(lw_tool_source *in) {
    lw_tool_diagnostics(&in->diags, true);
    return in->diags.errors ? LW_EXIT_SOURCE : LW_EXIT_OK;
}

void lw_tool_note(const char *file, const lw_launch_note *note) {
    fprintf(stderr, "%s:%u:%u: note[LW%04u]: %s: %llu %s\n", file, note->line, note->column, note->number,
            note->message, (unsigned long long)note->count, note->count == 1 ? "lane" : "lanes");
}

/* ---- Kernels ------------------------------------------------------------------------------------------ */

/* Behind a name what it is in C++, and the end of the line. */
static void put_demangled(lw_text *out, const char *name) {
    lw_text meant = {0};
    if (lw_demangle(&meant, name) && meant.at) lw_text_printf(out, "  %.200s", meant.at);
    lw_text_puts(out, "\n");
    lw_text_free(&meant);
}

int lw_tool_choose_kernel(const char *file, const char *why, const lw_tool_language *language, const char *how,
                          const char *const *names, size_t count) {
    lw_text message = {0}, below = {0};
    lw_text_say(&message, lw_diag_rows[LW_D_kernel_choice].format, file, why);
    if (count) lw_text_printf(&below, "  choose one with %s\n", how);
    for (size_t i = 0; i < count; i++) {
        lw_text_printf(&below, "  %s: %.100s", language->of->kernel_word, names[i]);
        put_demangled(&below, names[i]);
    }
    lw_tool_report(LW_D_kernel_choice, message.at ? message.at : "", below.at);
    lw_text_free(&message);
    lw_text_free(&below);
    return LW_EXIT_USAGE;
}

const char *lw_tool_kernel_meant(const lw_module *module, const char *wanted, const char *file,
                                 const lw_tool_language *language, const char *how) {
    const size_t all = lw_module_kernel_count(module);
    const char **names = calloc(all ? all : 1, sizeof *names);
    size_t count = 0;
    for (size_t i = 0; names && wanted && i < all; i++) {
        const char *name = lw_module_kernel_name(module, i);
        if (!strcmp(name, wanted)) {
            count = 0;
            break;
        }
        if (lw_name_means(wanted, name)) names[count++] = name;
    }
    if (count == 1) wanted = names[0];
    if (count > 1) {
        lw_text why = {0};
        lw_text_say(&why, lw_diag_rows[LW_D_many_kernels].format, (unsigned)count, language->of->kernel_word, wanted);
        lw_tool_choose_kernel(file, why.at ? why.at : "", language, how, names, count);
        lw_text_free(&why);
        wanted = NULL;
    }
    free(names);
    return wanted;
}

int lw_tool_wrong_kernel(lw_context *context, const lw_module *module, const char *file,
                         const lw_tool_language *language, const char *how) {
    const size_t count = lw_module_kernel_count(module);
    const char **names = calloc(count, sizeof *names);
    for (size_t i = 0; names && i < count; i++) names[i] = lw_module_kernel_name(module, i);
    lw_tool_choose_kernel(file, lw_tool_why(context), language, how, names, names ? count : 0);
    free(names);
    return LW_EXIT_USAGE;
}

/* ---- Texts -------------------------------------------------------------------------------------------- */

/* Everything that may run out of memory happens in here, so that nothing of the caller's frame is lost by the jump. */
static int work_on(lw_tool_source *in, const lw_source_text *texts, uint32_t count, int (*work)(lw_tool_source *in)) {
    jmp_buf out;
    if (!LW_ARENA_TRY(&in->arena, out)) {
        lw_tool_error(LW_D_no_memory, in->path);
        return LW_EXIT_MACHINE;
    }
    if (!lw_source_join(&in->source, &in->arena, texts, count)) {
        lw_tool_error(LW_D_cannot_read, in->path,
                      count > 1 ? "all files together are too large" : "the file is too large");
        return LW_EXIT_FILE;
    }
    lw_diags_init(&in->diags, &in->arena, &in->source);
    return work(in);
}

static const char *shown_path(const char *path) { return strcmp(path, "-") ? path : "<stdin>"; }

static int with_texts(const char *path, const lw_source_text *texts, uint32_t count, int (*work)(lw_tool_source *in),
                      void *user) {
    lw_tool_source in = {.path = path, .user = user};
    lw_arena_init(&in.arena);
    int code = work_on(&in, texts, count, work);
    lw_arena_free(&in.arena);
    return code;
}

int lw_tool_with_text(const char *path, const char *text, size_t size, int (*work)(lw_tool_source *in), void *user) {
    return with_texts(path, &(lw_source_text){shown_path(path), text, size}, 1, work, user);
}

void lw_tool_check_linked(struct argp_state *state, uint32_t count) {
    if (count > LW_LINKED_MOST) argp_error(state, "%u files cannot be linked: %d are the most", count, LW_LINKED_MOST);
}

int lw_tool_read_all(char *const *paths, uint32_t count, lw_source_text *texts) {
    for (uint32_t i = 0; i < count; i++) {
        char *data;
        int code = lw_tool_read(paths[i], UINT32_MAX - 1, &data, &texts[i].size);
        if (code) return code;
        texts[i].name = shown_path(paths[i]);
        texts[i].text = data;
    }
    return LW_EXIT_OK;
}

void lw_tool_unread(lw_source_text *texts, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) free((char *)texts[i].text);
    memset(texts, 0, count * sizeof *texts);
}

/* Those in front of it have texts. */
static const char *first_unread(char *const *paths, uint32_t count, const lw_source_text *texts) {
    for (uint32_t i = 0; i < count; i++)
        if (!texts[i].text) return paths[i];
    return NULL;
}

int lw_tool_with_sources(char *const *paths, uint32_t count, int (*work)(lw_tool_source *in), void *user,
                         const char **unread) {
    lw_source_text *texts = calloc(count, sizeof *texts);
    if (unread) *unread = NULL;
    if (!texts) {
        lw_tool_error(LW_D_no_memory, paths[0]);
        return LW_EXIT_MACHINE;
    }
    int code = lw_tool_read_all(paths, count, texts);
    if (code && unread) *unread = first_unread(paths, count, texts);
    if (!code) code = with_texts(paths[0], texts, count, work, user);
    lw_tool_unread(texts, count);
    free(texts);
    return code;
}

int lw_tool_with_source(const char *path, int (*work)(lw_tool_source *in), void *user) {
    char *one = (char *)path;
    return lw_tool_with_sources(&one, 1, work, user, NULL);
}

/* ---- Kernels ------------------------------------------------------------------------------------------ */

void lw_param_print(lw_text *out, const char *name, const char *type, uint32_t size, bool is_pointer) {
    lw_type element = lw_type_find(type, strlen(type));
    uint32_t bytes = lw_types[element].bits / 8;
    lw_text_printf(out, ".%s", type);
    if (bytes && size != bytes) lw_text_printf(out, "[%u]", size / bytes);
    lw_text_printf(out, "%s %.100s", is_pointer ? " .ptr" : "", name);
}

/* "f(vreg<64xs32> a, mask<64> m, s64 n, memref<?xs32> x, result vreg<64xs32>)" */
static void print_vector(lw_text *out, const lw_param_info *param) {
    unsigned long long count = param->elements;
    if (param->is_result) lw_text_puts(out, "result ");
    if (param->is_mask) lw_text_printf(out, "mask<%llu>", count);
    else if (param->is_register) lw_text_printf(out, "vreg<%llux%s>", count, param->element);
    else if (param->is_result || !param->element) lw_text_puts(out, param->element ? param->element : param->type);
    else if (param->any_length) lw_text_printf(out, "memref<?x%s>", param->element);
    else lw_text_printf(out, "memref<%llux%s>", count, param->element);
    if (!param->is_result) lw_text_printf(out, " %.100s", param->name);
}

static void print_function(lw_text *out, const lw_kernel *kernel) {
    lw_kernel_info info = lw_kernel_get_info(kernel);
    lw_text_printf(out, "%.100s(", info.name);
    for (uint32_t i = 0; i < info.param_count - info.has_arrays; i++) {
        lw_param_info param = lw_kernel_param(kernel, i);
        if (i) lw_text_puts(out, ", ");
        print_vector(out, &param);
    }
    lw_text_puts(out, ")");
}

void lw_kernel_print(lw_text *out, const lw_kernel *kernel) {
    lw_kernel_info info = lw_kernel_get_info(kernel);
    if (info.lanes) {
        print_function(out, kernel);
        return;
    }
    lw_text_printf(out, "%.100s(", info.name);
    for (uint32_t i = 0; i < info.param_count; i++) {
        lw_param_info param = lw_kernel_param(kernel, i);
        if (i) lw_text_puts(out, ", ");
        lw_param_print(out, param.name, param.type, param.size, param.is_pointer);
    }
    lw_text_puts(out, ")");
}

/* ---- Choices by name ------------------------------------------------------------------------------------ */

static const char *one_of(const char *option, const char *text, const char *const *names) {
    lw_text why = {0};
    lw_text_puts(&why, "it must be ");
    for (uint32_t i = 0; names[i]; i++) {
        if (!strcmp(text, names[i])) return lw_text_free(&why), text;
        lw_text_printf(&why, "%s%s", !i ? "" : names[i + 1] ? ", " : " or ", names[i]);
    }
    lw_tool_error(LW_D_bad_option, option, text, why.at ? why.at : "");
    lw_text_free(&why);
    exit(LW_EXIT_USAGE);
}

const char *lw_tool_target(const char *text) {
    const char *names[LW_PTO_PROFILE_COUNT + 1] = {0};
    for (int i = 0; i < LW_PTO_PROFILE_COUNT; i++) names[i] = lw_pto_profiles[i].name;
    return one_of("--target", text, names);
}
const char *lw_tool_cost(const char *text) { /* the page has no figures for a simulator */
    const char *names[LW_PTO_PROFILE_COUNT] = {0};
    for (int i = 0, count = 0; i < LW_PTO_PROFILE_COUNT; i++)
        if (i != LW_PTO_PROFILE_cpu) names[count++] = lw_pto_profiles[i].name;
    return one_of("--cost", text, names);
}
const char *lw_tool_inactive(const char *text) { return one_of("--inactive", text, lw_pto_inactive_words); }
const char *lw_tool_overflow(const char *text) { return one_of("--shift-overflow", text, lw_pto_overflow_words); }

/* ---- Context ------------------------------------------------------------------------------------------ */

const char *lw_tool_why(lw_context *context) {
    static char text[512];
    snprintf(text, sizeof text, "%s", lw_context_message(context));
    char *id = strstr(text, " [LW");
    starved |= !id; /* every message has a number, unless there was no memory for it */
    if (id && strlen(id) == strlen(" [LW0000]")) *id = 0;
    return text;
}

int lw_tool_device_failed(lw_context *context, lw_status status) {
    bool memory = status == LW_NO_MEMORY;
    if (status == LW_UNSUPPORTED) {
        lw_tool_error(LW_D_machine_lacks, lw_tool_why(context));
        return LW_EXIT_MACHINE;
    }
    lw_tool_error(memory ? LW_D_no_memory : LW_D_launch_refused, lw_tool_why(context));
    return memory ? LW_EXIT_MACHINE : LW_EXIT_USAGE;
}

/* Whether the last failure of a context that could not be made is this one. */
static bool is_about(lw_diag_id id) {
    char end[16];
    snprintf(end, sizeof end, "[LW%04u]", lw_diag_rows[id].number);
    return lw_tool_ends_with(lw_context_message(NULL), end);
}

int lw_tool_refused(lw_status status) {
    const char *why = lw_tool_why(NULL);
    if (status == LW_NO_MEMORY) {
        lw_tool_error(LW_D_no_memory, "device memory cannot be set up");
        return LW_EXIT_MACHINE;
    }
    if (status == LW_UNSUPPORTED || is_about(LW_D_level_missing)) {
        lw_tool_error(LW_D_machine_lacks, why);
        return LW_EXIT_MACHINE;
    }
    lw_text text = {0}; /* a member of lw_options is an option of the same name */
    lw_text_printf(&text, "%s%s", strncmp(why, "LANEWISE_", 9) ? "--" : "", why);
    lw_tool_report(LW_D_bad_option, text.at ? text.at : "", NULL);
    lw_text_free(&text);
    return LW_EXIT_USAGE;
}

int lw_tool_context(const lw_options *options, lw_context **context) {
    lw_guard_begin(0, "");
    lw_status status = lw_context_new(options, context);
    lw_guard_end();
    return status == LW_OK ? LW_EXIT_OK : lw_tool_refused(status);
}
