/* run.c: lanewise run and lanewise profile: one launch of one kernel, its arguments from the command line, its buffers
 * to files or to the terminal, what it did to whoever asked for it.
 *
 * options → arguments → module and kernel → buffers → launch → outputs */
#include <signal.h>
#include <stdlib.h>

#include "run/profile.h"
#include "tool/profile.h"
#include "tool/run.h"
#include "tool/stats.h"

/* What a run owns; run_free gives all of it back. */
typedef struct run {
    const lw_run_options *o;
    lw_arena arena;
    lw_arg *args, *textures;
    lw_context *context;
    lw_module *module;
    lw_source_text *texts; /* of the module, kept where they are looked at again */
    const char *name;      /* of the kernel, where the command line says one */
    lw_kernel *kernel;
    double compiling;     /* seconds that it took to make it: they count for --timeout */
    uint32_t param_count; /* of args: with those that the tool adds */
    bool is_vector;       /* a function of PTO: its arrays say how often it runs */
    uint64_t elements;    /* of PTO */
    lw_text signature;
    lw_launch_config config; /* as it was launched */
    lw_launch_stats stats;
    lw_profile *profile; /* or NULL */
    bool launched, ended;
    bool late; /* --timeout was over when the launch ended */
    lw_bar bar;
} run;

/* ---- Module and kernel --------------------------------------------------------------------------------- */

static int show_diagnostics(run *r) {
    fputs(lw_module_diagnostics(r->module, lw_tool_colour()), stderr);
    return LW_EXIT_SOURCE;
}

static void show_warnings(run *r) {
    if (!r->o->quiet && lw_module_diagnostic_count(r->module)) show_diagnostics(r);
}

static const lw_tool_language *language_of(const run *r) { return lw_tool_language_of(r->o->file, r->o->language); }

/* There is too little device memory, for an argument or, where that is NULL, for what the format says. */
LW_PRINTF(3, 4) static int no_memory(const run *r, const lw_arg *arg, const char *format, ...) {
    const uint64_t limit = r->o->context.memory_limit;
    lw_text why = {0}, below = {0};
    va_list args;
    va_start(args, format);
    lw_text_vsay(&why, format, args);
    va_end(args);
    if (limit) lw_text_printf(&below, "the limit is that of --memory, %llu bytes", (unsigned long long)limit);
    else lw_text_puts(&below, "the limit is three quarters of the machine's memory; --memory sets another one");
    const char *text = why.at && !why.failed ? why.at : "", *hint = below.at ? below.at : "";
    if (arg) lw_arg_error(arg, arg->text, strcspn(arg->text, "="), hint, LW_D_no_memory, text);
    else lw_tool_error(LW_D_no_memory, text), fprintf(stderr, "  %s\n", hint);
    lw_text_free(&why);
    lw_text_free(&below);
    return LW_EXIT_MACHINE;
}

/* A file that is not there may be meant as a kernel of the one in front of it. */
static void suggest_kernel(run *r) {
    lw_module *module = NULL;
    uint32_t unread = 0;
    while (unread < r->o->file_count && r->texts[unread].text) unread++;
    if (!unread || unread == r->o->file_count) return;
    const char *name = r->o->files[unread];
    const lw_module_options choices = {.language = language_of(r)->of->name};
    if (lw_module_load(r->context, &choices, r->texts->name, r->texts->text, r->texts->size, &module) == LW_OK)
        for (size_t i = 0; i < lw_module_kernel_count(module); i++)
            if (!strcmp(lw_module_kernel_name(module, i), name) ||
                lw_name_means(name, lw_module_kernel_name(module, i)))
                fprintf(stderr, "  %s '%s' is in '%s': %s %s\n", language_of(r)->of->kernel_word, name, r->o->file,
                        language_of(r)->how, name);
    lw_module_free(module);
}

static int load_module(run *r) {
    const uint32_t count = r->o->file_count;
    r->texts = LW_NEW_ARRAY(&r->arena, lw_source_text, count);
    int code = lw_tool_read_all(r->o->files, count, r->texts);
    if (code) return suggest_kernel(r), code;
    lw_module_text *texts = LW_NEW_ARRAY(&r->arena, lw_module_text, count);
    for (uint32_t i = 0; i < count; i++)
        texts[i] = (lw_module_text){r->texts[i].name, r->texts[i].text, r->texts[i].size};
    lw_module_options choices = r->o->module;
    choices.language = r->o->language || count == 1 ? language_of(r)->of->name : NULL;
    lw_status status = lw_module_link(r->context, &choices, texts, count, &r->module);
    if (!r->o->cost) lw_tool_unread(r->texts, count);
    if (status == LW_OK) return LW_EXIT_OK;
    if (status == LW_BAD_SOURCE) return show_diagnostics(r);
    if (status == LW_BAD_ARGUMENT) {
        lw_tool_report(LW_D_bad_option, lw_tool_why(r->context), NULL);
        return LW_EXIT_USAGE;
    }
    return no_memory(r, NULL, "'%s': %s", r->o->file, lw_tool_why(r->context));
}

/* Options of the other instruction set change nothing, so whoever gives them is mistaken. */
static int check_options(const run *r) {
    const lw_run_options *o = r->o;
    const char *ptx = o->has_grid              ? "--grid"
                      : o->has_block           ? "--block"
                      : o->launch.shared_bytes ? "--smem"
                      : o->launch.cluster[0]   ? "--cluster"
                      : o->launch.cooperative  ? "--cooperative"
                      : o->launch.strict       ? "--strict"
                      : o->context.semantics   ? "--semantics"
                      : o->context.stack_limit ? "--stack"
                      : o->launch.heap_bytes   ? "--heap"
                      : o->launch.print_limit  ? "--print-limit"
                      : o->texture_count       ? "--texture"
                                               : NULL;
    const char *pto = o->result_count            ? "--result"
                      : o->cost                  ? "--cost"
                      : o->module.target         ? "--target"
                      : o->module.inactive       ? "--inactive"
                      : o->module.shift_overflow ? "--shift-overflow"
                                                 : NULL;
    const char *name = lw_kernel_get_info(r->kernel).name;
    if (r->is_vector && ptx) lw_tool_error(LW_D_shape_given, ptx, name);
    if (!r->is_vector && pto) lw_tool_error(LW_D_pto_only, pto, name);
    return (r->is_vector ? ptx : pto) ? LW_EXIT_USAGE : LW_EXIT_OK;
}

/* "kernel 'k' was stopped: the time limit of 2 s is over" */
static void put_late(lw_text *out, const run *r) {
    const char *name = r->name ? r->name : lw_module_kernel_name(r->module, 0);
    lw_text why = {0};
    lw_text_say(&why, lw_diag_rows[LW_D_stopped_by_time].format, r->o->launch.time_limit);
    lw_text_say(out, lw_diag_rows[LW_D_stopped].format, language_of(r)->of->kernel_word, name ? name : "",
                why.at ? why.at : "");
    lw_text_free(&why);
}

static lw_status make_kernel(run *r) {
    const double start = lw_clock();
    lw_text late = {0};
    put_late(&late, r);
    lw_guard_begin(r->o->launch.time_limit, late.at ? late.at : "");
    lw_status status = lw_module_kernel(r->module, r->name, &r->kernel);
    lw_guard_end();
    lw_text_free(&late);
    r->compiling = lw_clock() - start;
    return status;
}

static int load_kernel(run *r) {
    r->name = r->o->kernel;
    if (r->name &&
        !(r->name = lw_tool_kernel_meant(r->module, r->name, r->o->file, language_of(r), language_of(r)->how)))
        return LW_EXIT_USAGE;
    switch (make_kernel(r)) {
    case LW_OK: break;
    case LW_NOT_FOUND:
        return lw_tool_wrong_kernel(r->context, r->module, r->o->file, language_of(r), language_of(r)->how);
    case LW_BAD_SOURCE: return show_diagnostics(r);
    case LW_UNSUPPORTED: lw_tool_error(LW_D_machine_lacks, lw_tool_why(r->context)); return LW_EXIT_MACHINE;
    default: lw_tool_error(LW_D_no_memory, lw_tool_why(r->context)); return LW_EXIT_MACHINE;
    }
    show_warnings(r);
    r->is_vector = lw_kernel_get_info(r->kernel).lanes != 0;
    lw_text_printf(&r->signature, "%s: ", language_of(r)->of->kernel_word);
    lw_kernel_print(&r->signature, r->kernel);
    if (r->signature.failed) {
        lw_tool_error(LW_D_no_memory, "the kernel's parameters");
        return LW_EXIT_MACHINE;
    }
    return check_options(r);
}

/* ---- Arguments ---------------------------------------------------------------------------------------- */

/* They are counted behind the arguments. */
static int parse_textures(run *r) {
    r->textures = LW_NEW_ARRAY(&r->arena, lw_arg, r->o->texture_count);
    for (uint32_t i = 0; i < r->o->texture_count; i++) {
        const char *name = r->o->textures[i], *image = strchr(name, '=') + 1;
        lw_arg *texture = &r->textures[i];
        if (!lw_arg_names_image(image)) {
            lw_tool_error(LW_D_bad_option, "--texture", name,
                          "no texture, sampler or surface, as tex2d=@FILE, follows the name");
            return LW_EXIT_USAGE;
        }
        if (!lw_arg_parse(&r->arena, image, r->o->arg_count + i, texture)) return LW_EXIT_USAGE;
        texture->reference = lw_arena_text(&r->arena, name, (size_t)(image - 1 - name));
        texture->limit = r->o->context.memory_limit;
    }
    return LW_EXIT_OK;
}

static int parse_arguments(run *r) {
    r->param_count = r->o->arg_count;
    r->args = LW_NEW_ARRAY(&r->arena, lw_arg, r->o->arg_count);
    for (uint32_t i = 0; i < r->o->arg_count; i++) {
        if (!lw_arg_parse(&r->arena, r->o->args[i], i, &r->args[i])) return LW_EXIT_USAGE;
        r->args[i].limit = r->o->context.memory_limit;
    }
    return parse_textures(r);
}

/* Those from the command line become the first of all parameters. */
static int bind_pto(run *r) {
    uint32_t count = lw_kernel_get_info(r->kernel).param_count;
    lw_arg *all = LW_NEW_ARRAY(&r->arena, lw_arg, count);
    if (r->param_count) memcpy(all, r->args, r->param_count * sizeof *all);
    r->args = all, r->param_count = count;
    return lw_pto_bind(&r->arena, r->kernel, r->signature.at, all, r->o->results, r->o->result_count, &r->elements);
}

/* False: what it shares cannot be, which it has reported. */
static bool share(run *r, lw_arg *arg) {
    for (uint32_t i = 0; i < arg->member_count; i++)
        if (!share(r, &arg->members[i])) return false;
    return arg->source != LW_ARG_SHARED || lw_arg_share(arg, &r->args[arg->start]);
}

static int bind_arguments(run *r) {
    lw_kernel_info info = lw_kernel_get_info(r->kernel);
    uint32_t wanted = r->is_vector ? lw_pto_argument_count(r->kernel) : info.param_count;
    if (wanted != r->o->arg_count) {
        lw_text message = {0}, below = {0};
        lw_text_say(&message, lw_diag_rows[LW_D_args_count].format, language_of(r)->of->kernel_word, info.name, wanted,
                    r->o->arg_count);
        lw_text_printf(&below, "  %s\n", r->signature.at);
        lw_tool_report(LW_D_args_count, message.at ? message.at : "", below.at);
        lw_text_free(&message);
        lw_text_free(&below);
        return LW_EXIT_USAGE;
    }
    if (r->is_vector) return bind_pto(r);
    for (uint32_t i = 0; i < info.param_count; i++) {
        lw_param_info param = lw_kernel_param(r->kernel, i);
        if (!lw_arg_bind(&r->args[i], &param, r->signature.at, true) || !share(r, &r->args[i])) return LW_EXIT_USAGE;
        int code = lw_arg_load(&r->args[i]);
        if (code) return code;
        if (r->args[i].members && !lw_arg_lay_out(&r->args[i], &param, r->signature.at)) return LW_EXIT_USAGE;
        /* A file may have settled the count of an array that goes by value. */
        if (r->args[i].by_value && !lw_arg_bind(&r->args[i], &param, r->signature.at, true)) return LW_EXIT_FILE;
    }
    int code = LW_EXIT_OK;
    for (uint32_t i = 0; i < r->o->texture_count && !code; i++) code = lw_arg_load(&r->textures[i]);
    return code;
}

/* ---- Buffers ------------------------------------------------------------------------------------------- */

enum { PIECE = 1 << 16 }; /* elements that are made or read at once */

static int write_buffer(run *r, const lw_arg *arg) {
    uint32_t bytes = lw_value_bytes(arg->type);
    lw_status status = LW_OK;
    if (arg->source == LW_ARG_ZERO) return LW_EXIT_OK;
    if (arg->source == LW_ARG_FILE) {
        status = lw_memory_write(r->context, arg->address, arg->data + arg->data_at, arg->count * bytes);
    } else if (arg->source == LW_ARG_FILL) {
        status = lw_memory_fill(r->context, arg->address, arg->start, bytes, arg->count);
    } else {
        void *piece = LW_NEW_ARRAY(&r->arena, uint64_t, PIECE);
        for (uint64_t i = 0; i < arg->count && status == LW_OK; i += PIECE) {
            size_t count = arg->count - i < PIECE ? (size_t)(arg->count - i) : PIECE;
            lw_arg_fill(arg, r->o->seed, i, count, piece);
            status = lw_memory_write(r->context, arg->address + i * bytes, piece, count * bytes);
        }
    }
    return status == LW_OK ? LW_EXIT_OK : lw_tool_device_failed(r->context, status);
}

static int make_buffer(run *r, lw_arg *arg) {
    if (arg->source == LW_ARG_SHARED) return arg->address = r->args[arg->start].address, LW_EXIT_OK;
    if (!arg->count) return LW_EXIT_OK;
    lw_status status = lw_memory_new(r->context, arg->count * lw_value_bytes(arg->type), &arg->address);
    int code = status == LW_OK          ? write_buffer(r, arg)
               : status == LW_NO_MEMORY ? no_memory(r, arg, "argument %u: %s", arg->number, lw_tool_why(r->context))
                                        : lw_tool_device_failed(r->context, status);
    lw_arg_unload(arg);
    return code;
}

static int make_struct(run *r, const lw_arg *arg, char *value) {
    for (uint32_t i = 0; i < arg->member_count; i++) {
        lw_arg *member = &arg->members[i];
        if (member->is_pointer) {
            const int code = make_buffer(r, member);
            if (code) return code;
            memcpy(value + member->offset, &member->address, sizeof member->address);
        } else lw_arg_fill(member, r->o->seed, 0, (size_t)member->count, value + member->offset);
    }
    return LW_EXIT_OK;
}

/* The parameter's value for the launch: a scalar, an address, an array or a struct. */
static int make_parameter(run *r, uint32_t index, void **value) {
    lw_arg *arg = &r->args[index];
    lw_param_info param = lw_kernel_param(r->kernel, index);
    uint64_t *scalar = LW_NEW(&r->arena, uint64_t);
    *value = scalar;
    if (arg->members) return make_struct(r, arg, *value = lw_arena_alloc(&r->arena, param.size));
    if (!arg->is_array) {
        *scalar = arg->start;
    } else if (arg->by_value) {
        *value = lw_arena_alloc(&r->arena, param.size);
        lw_arg_fill(arg, r->o->seed, 0, (size_t)arg->count, *value);
        lw_arg_unload(arg);
    } else {
        int code = make_buffer(r, arg);
        if (code) return code;
        *scalar = arg->address;
        if (arg->image) return lw_arg_make_image(r->context, r->module, arg, scalar);
        if (param.size < 8 && arg->address >> 32) {
            lw_tool_error(LW_D_machine_lacks,
                          "device memory lies above 4 GiB, where a 32-bit parameter cannot point to");
            return LW_EXIT_MACHINE;
        }
    }
    return LW_EXIT_OK;
}

/* ---- Launch -------------------------------------------------------------------------------------------- */

/* What the handler of Ctrl-C needs: it takes no parameters of ours. */
static lw_context *volatile running;
static volatile sig_atomic_t interrupted;

static void on_interrupt(int number) {
    (void)number;
    interrupted = 1;
    if (running) lw_context_stop(running);
}

/* The second Ctrl-C ends the process at once. */
static void catch_interrupt(lw_context *context) {
    struct sigaction action = {.sa_handler = on_interrupt, .sa_flags = (int)(SA_RESETHAND | SA_RESTART)};
    running = context;
    sigaction(SIGINT, &action, NULL);
}

static int stopped(run *r) {
    const char *name = lw_kernel_get_info(r->kernel).name, *word = language_of(r)->of->kernel_word;
    const char *why = lw_tool_why(r->context);
    lw_text late = {0};
    if (r->late && !interrupted) put_late(&late, r);
    if (late.at) lw_tool_report(LW_D_stopped, late.at, NULL);
    else lw_tool_error(LW_D_stopped, word, name, interrupted ? "interrupted" : *why ? why : "it ran into a limit");
    lw_text_free(&late);
    fputs(lw_stopped_at(r->context), stderr);
    return interrupted ? LW_EXIT_INTERRUPTED : LW_EXIT_STOPPED;
}

/* What was executed interests where the run ended early, too. */
static lw_tool_run what_ran(const run *r) {
    return (lw_tool_run){.kernel = r->kernel,
                         .config = &r->config,
                         .stats = &r->stats,
                         .ended = r->ended,
                         .elements = r->elements,
                         .cost = r->o->cost,
                         .path = r->o->file,
                         .text = r->texts->text,
                         .text_size = r->texts->size,
                         .linked = r->o->file_count > 1};
}

/* What is missing from the output is said whether or not anybody asks for statistics. */
static void warn_of_print(const run *r) {
    const lw_launch_note *notes;
    const size_t count = lw_launch_notes(r->context, &notes);
    bool any = false;
    for (size_t i = 0; i < count; i++) {
        if (notes[i].number != lw_diag_rows[LW_D_note_print_lost].number) continue;
        lw_tool_note(lw_launch_note_file(r->context, i), &notes[i]);
        any = true;
    }
    if (any) fputs("  --print-limit BYTES lets it print more\n", stderr);
}

/* Whoever gives arrays and no shape has mostly forgotten it. */
static void note_one_thread(const run *r) {
    const lw_launch_config *c = &r->config;
    bool arrays = false;
    for (uint32_t i = 0; i < r->param_count; i++)
        arrays = arrays || (r->args[i].is_array && !r->args[i].by_value && !r->args[i].image && r->args[i].count > 1);
    if (!arrays || r->o->has_grid || r->o->has_block || lw_volume(c->grid) * lw_volume(c->block) != 1) return;
    const lw_program *program = r->kernel->program;
    if (!lw_program_asks(program, LW_SPECIAL_tid) && !lw_program_asks(program, LW_SPECIAL_ctaid)) return;
    lw_text text = {0};
    lw_text_say(&text, lw_diag_rows[LW_D_one_thread].format, lw_kernel_get_info(r->kernel).name);
    fprintf(stderr, "lanewise: note[LW%04u]: %s\n", lw_diag_rows[LW_D_one_thread].number, text.at ? text.at : "");
    lw_text_free(&text);
}

static int report(const run *r) {
    const lw_tool_run done = what_ran(r);
    int status = LW_EXIT_OK;
    if (!r->is_vector && !r->o->quiet && r->ended) note_one_thread(r);
    if (r->o->stats) status = (r->o->stats == LW_STATS_json ? lw_stats_json : lw_stats_text)(r->context, &done);
    else if (r->is_vector) lw_pto_notes(r->context, r->o->file);
    else if (!r->o->quiet) warn_of_print(r);
    return !status && r->o->cost && r->ended && r->o->stats != LW_STATS_json ? lw_pto_ran(r->context, &done) : status;
}

static int launch(run *r, void *const *params) {
    lw_kernel_info info = lw_kernel_get_info(r->kernel);
    lw_launch_config config = r->o->launch;
    config.size = sizeof config;
    for (int i = 0; i < 3; i++) {
        if (!config.grid[i]) config.grid[i] = 1;
        if (!r->o->has_block) config.block[i] = info.required_block[i] ? info.required_block[i] : 1;
    }
    if (r->is_vector && lw_launch_shape(r->kernel, r->elements, &config) != LW_OK)
        return lw_tool_device_failed(r->context, LW_BAD_ARGUMENT);
    if (!r->o->quiet && lw_bar_wanted()) {
        config.progress = lw_bar_show;
        config.user = &r->bar;
    }
    if (config.time_limit > 0)
        config.time_limit = config.time_limit > r->compiling ? config.time_limit - r->compiling : 1e-9;
    const double end = lw_clock() + config.time_limit;
    if (r->o->profile.wanted && !(r->profile = lw_profile_begin(r->kernel->program, r->context->level))) {
        lw_tool_error(LW_D_no_memory, "the profile");
        return LW_EXIT_MACHINE;
    }
    catch_interrupt(r->context);
    lw_status status = lw_launch(r->kernel, &config, params, &r->stats);
    running = NULL;
    r->late = config.time_limit > 0 && lw_clock() > end;
    lw_bar_clear(&r->bar);
    if (status != LW_OK && status != LW_STOPPED && status != LW_TRAPPED)
        return lw_tool_device_failed(r->context, status);
    r->config = config;
    r->launched = true;
    r->ended = status == LW_OK;
    int code = report(r);
    lw_trap_info trap;
    if (status == LW_OK) return code;
    if (status == LW_STOPPED) return stopped(r);
    if (lw_trap(r->context, &trap)) fputs(trap.report, stderr);
    return LW_EXIT_TRAPPED;
}

/* ---- The whole ----------------------------------------------------------------------------------------- */

static int launch_with_arguments(run *r) {
    uint32_t count = r->param_count;
    void **params = LW_NEW_ARRAY(&r->arena, void *, count);
    for (uint32_t i = 0; i < count; i++) {
        int code = make_parameter(r, i, &params[i]);
        if (code) return code;
    }
    for (uint32_t i = 0; i < r->o->texture_count; i++) {
        uint64_t handle;
        int code = make_buffer(r, &r->textures[i]);
        if (!code) code = lw_arg_make_image(r->context, r->module, &r->textures[i], &handle);
        if (code) return code;
    }
    int code = launch(r, params);
    for (uint32_t i = 0; i < count && code == LW_EXIT_OK; i++) code = lw_arg_give(r->context, &r->args[i]);
    for (uint32_t i = 0; i < r->o->texture_count && code == LW_EXIT_OK; i++)
        code = lw_arg_give(r->context, &r->textures[i]);
    return code;
}

/* Behind everything else, so that whoever reads standard output finds it there; of what ended early, too. */
static int show_profile(run *r) {
    const lw_tool_run done = what_ran(r);
    lw_profiled seen = {.arena = &r->arena,
                        .context = r->context,
                        .source = &r->module->source,
                        .run = &done,
                        .sums = lw_profile_sum(r->profile)};
    if (!seen.sums) {
        lw_tool_error(LW_D_no_memory, "the profile");
        return LW_EXIT_MACHINE;
    }
    const lw_locs *locs = lw_module_locs(r->module);
    if (!locs) {
        lw_tool_error(LW_D_no_memory, "the profile");
        return LW_EXIT_MACHINE;
    }
    lw_profile_find_lines(&seen, locs);
    const uint32_t top = r->o->profile.top;
    const int wrote = r->o->profile.html ? lw_profile_html(&seen, r->o->profile.html) : LW_EXIT_OK;
    const int printed = r->o->profile.json ? lw_profile_json(&seen, top ? top : UINT32_MAX)
                                           : lw_profile_text(&seen, top ? top : 20);
    return wrote ? wrote : printed;
}

static int run_kernel(run *r) {
    jmp_buf out;
    if (!LW_ARENA_TRY(&r->arena, out)) {
        lw_tool_error(LW_D_no_memory, "the arguments are too large");
        return LW_EXIT_MACHINE;
    }
    int code = parse_arguments(r);
    if (!code) code = lw_tool_context(&r->o->context, &r->context);
    if (!code) code = load_module(r);
    if (!code) code = load_kernel(r);
    if (!code) code = bind_arguments(r);
    if (!code) code = launch_with_arguments(r);
    const int shown = r->launched && r->profile ? show_profile(r) : LW_EXIT_OK;
    return code ? code : shown;
}

static void run_free(run *r) {
    lw_profile_end(r->profile);
    for (uint32_t i = 0; r->args && i < r->param_count; i++) lw_arg_unload(&r->args[i]);
    for (uint32_t i = 0; r->textures && i < r->o->texture_count; i++) lw_arg_unload(&r->textures[i]);
    lw_module_free(r->module);
    lw_context_free(r->context);
    if (r->texts) lw_tool_unread(r->texts, r->o->file_count);
    lw_text_free(&r->signature);
    lw_arena_free(&r->arena);
}

static int run_command(int argc, char **argv, bool profiles) {
    lw_run_options o = {.args = calloc((size_t)argc, sizeof *o.args),
                        .textures = calloc((size_t)argc, sizeof *o.textures),
                        .results = calloc((size_t)argc, sizeof *o.results),
                        .files = calloc((size_t)argc, sizeof *o.files),
                        .profile = {.wanted = profiles}};
    if (!o.args || !o.textures || !o.results || !o.files) {
        lw_tool_error(LW_D_no_memory, "the arguments are too large");
        return LW_EXIT_MACHINE;
    }
    lw_run_parse(argc, argv, &o);
    run r = {.o = &o};
    lw_arena_init(&r.arena);
    int code = run_kernel(&r);
    if (r.context && lw_tiers_compiling(r.context->tiers)) lw_tool_leave(code); /* nobody waits for what nobody runs */
    run_free(&r);
    free(o.args);
    free(o.textures);
    free(o.results);
    free(o.files);
    return code;
}

int lw_command_run(int argc, char **argv) { return run_command(argc, argv, false); }
int lw_command_profile(int argc, char **argv) { return run_command(argc, argv, true); }
