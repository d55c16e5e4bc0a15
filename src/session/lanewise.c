/* lanewise.c: the whole flow, from a text to a launch that ended.
 *
 *     lw_module_new      text (or texts, linked) → source → checked module → variables in memory
 *     lw_module_kernel   kernel → program → linked with the CPU level
 *     lw_launch          shape and parameters → grid → workers → status */
#include "session/session.h"

#include <stdlib.h>

const char *lw_version(void) { return LW_VERSION; }

const char *lw_status_name(lw_status status) {
    static const char *const names[] = {
        [LW_OK] = "ok",
        [LW_BAD_SOURCE] = "the source has errors",
        [LW_TRAPPED] = "the kernel trapped",
        [LW_STOPPED] = "the launch was stopped",
        [LW_BAD_ARGUMENT] = "an argument makes no sense",
        [LW_NOT_FOUND] = "not found",
        [LW_NO_MEMORY] = "out of memory",
        [LW_UNSUPPORTED] = "not supported",
    };
    return (unsigned)status < LW_COUNT(names) ? names[status] : "unknown status";
}

/* ---- From text to a module ------------------------------------------------------------------------------------- */

typedef struct lw_text_in { /* what a module is made from */
    const lw_source_text *texts;
    uint32_t count;
    lw_load_options options;
} lw_text_in;

static lw_status load(lw_module *module, const lw_text_in *in) {
    if (!lw_source_join(&module->source, &module->arena, in->texts, in->count)) return LW_NO_MEMORY; /* 4 GiB of text */
    lw_diags_init(&module->diags, &module->arena, &module->source);
    module->options = in->options;
    module->language = in->options.language;
    lw_status status = module->language->check(module);
    if (status != LW_OK) return status;
    module->language->kernels(module);
    for (uint32_t i = 0; i < module->kernel_count; i++) module->language->describe(&module->kernels[i]);
    return LW_OK;
}

static int compare_kernels(const void *a, const void *b) {
    return strcmp((*(lw_kernel *const *)a)->info.name, (*(lw_kernel *const *)b)->info.name);
}

/* Names are asked for one by one, of modules that may have tens of thousands. */
static void sort_names(lw_module *module) {
    module->by_name = LW_NEW_ARRAY(&module->arena, lw_kernel *, module->kernel_count);
    for (uint32_t i = 0; i < module->kernel_count; i++) module->by_name[i] = &module->kernels[i];
    if (module->kernel_count) qsort(module->by_name, module->kernel_count, sizeof *module->by_name, compare_kernels);
}

static lw_status try_load(lw_module *module, const lw_text_in *in) {
    jmp_buf out;
    if (!LW_ARENA_TRY(&module->arena, out)) return LW_NO_MEMORY;
    lw_status status = load(module, in);
    if (status == LW_OK) sort_names(module);
    return status;
}

static void link_module(lw_context *context, lw_module *module) {
    pthread_mutex_lock(&context->lock);
    module->next = context->modules;
    if (module->next) module->next->previous = module;
    context->modules = module;
    pthread_mutex_unlock(&context->lock);
}

static void unlink_module(lw_context *context, lw_module *module) {
    pthread_mutex_lock(&context->lock);
    if (module->previous) module->previous->next = module->next;
    else context->modules = module->next;
    if (module->next) module->next->previous = module->previous;
    pthread_mutex_unlock(&context->lock);
}

enum { SPARE_MOST = 4 << 20 };

/* A process that loads one module after the other would get all memory from the system anew each time. */
static void borrow_memory(lw_module *module) {
    lw_context *context = module->context;
    pthread_mutex_lock(&context->lock);
    module->arena.spare = context->spare;
    context->spare = NULL;
    pthread_mutex_unlock(&context->lock);
}

static void return_memory(lw_module *module) {
    lw_context *context = module->context;
    lw_arena old = {.spare = lw_arena_retire(&module->arena, SPARE_MOST)};
    pthread_mutex_lock(&context->lock);
    if (!context->spare) context->spare = old.spare, old.spare = NULL;
    pthread_mutex_unlock(&context->lock);
    lw_arena_free(&old);
}

static void end_module(lw_module *module) {
    for (uint32_t i = 0; i < module->kernel_count; i++) lw_tier_free(module->kernels[i].tiers);
    lw_variables_free(module);
    return_memory(module);
    pthread_mutex_destroy(&module->lock);
    free(module);
}

lw_status lw_module_new(lw_context *context, const char *name, const char *text, size_t size, lw_module **module) {
    return lw_module_load(context, NULL, name, text, size, module);
}

static lw_status make_module(lw_context *context, const lw_text_in *in, lw_module **module) {
    lw_module *made = calloc(1, sizeof *made);
    if (!made) return lw_fail_memory(context);
    if (pthread_mutex_init(&made->lock, NULL)) {
        free(made);
        return lw_fail_memory(context);
    }
    made->context = context;
    borrow_memory(made);
    lw_status status = try_load(made, in);
    made->arena.no_memory = NULL;
    if (status == LW_NO_MEMORY) {
        const bool full = made->full;
        end_module(made);
        return full ? status : lw_fail_memory(context);
    }
    made->good = status == LW_OK;
    if (!made->good) made->kernel_count = 0;
    link_module(context, made);
    *module = made;
    return made->good ? LW_OK : lw_fail(context, LW_BAD_SOURCE, LW_D_bad_module);
}

lw_status lw_module_load(lw_context *context, const lw_module_options *options, const char *name, const char *text,
                         size_t size, lw_module **module) {
    LW_OWN_FLOAT_MODE(callers);
    if (module) *module = NULL;
    if (!context) return LW_BAD_ARGUMENT;
    if (!module || (!text && size)) return lw_fail_null(context, module ? "text" : "module");
    const lw_source_text one = {.name = name ? name : "<text>", .text = text ? text : "", .size = size};
    lw_text_in in = {.texts = &one, .count = 1};
    lw_status chosen = lw_load_choose(context, options, one.name, &in.options);
    return chosen == LW_OK ? make_module(context, &in, module) : chosen;
}

/* Names those that have none by their numbers. False: there is no memory. */
static bool take_texts(const lw_module_text *texts, uint32_t count, lw_source_text *to, lw_text *names) {
    for (uint32_t i = 0; i < count; i++) {
        lw_text_printf(names, "<text %u>", i + 1);
        lw_text_add(names, "", 1);
    }
    const char *name = names->failed ? NULL : names->at;
    for (uint32_t i = 0; i < count && name; i++, name += strlen(name) + 1)
        to[i] = (lw_source_text){.name = texts[i].name ? texts[i].name : name,
                                 .text = texts[i].text ? texts[i].text : "",
                                 .size = texts[i].size};
    return name;
}

/* All texts are in one language, and of more than one it is one that links. */
static lw_status choose_for_all(lw_context *context, const lw_module_options *options, const lw_source_text *texts,
                                uint32_t count, lw_load_options *chosen) {
    lw_load_options one;
    lw_status status = lw_load_choose(context, options, texts->name, chosen);
    for (uint32_t i = 0; i < count && count > 1 && status == LW_OK; i++) {
        status = lw_load_choose(context, options, texts[i].name, &one);
        if (status == LW_OK && !one.language->links)
            status = lw_fail(context, LW_BAD_ARGUMENT, LW_D_not_linked, texts[i].name);
    }
    return status;
}

static lw_status link_texts(lw_context *context, const lw_module_options *options, const lw_module *like,
                            const lw_module_text *texts, size_t count, lw_module **module) {
    LW_OWN_FLOAT_MODE(callers);
    if (module) *module = NULL;
    if (!context) return LW_BAD_ARGUMENT;
    if (!module || !texts || !count) return lw_fail_null(context, module ? "texts" : "module");
    if (count > LW_LINKED_MOST) return lw_fail(context, LW_BAD_ARGUMENT, LW_D_many_linked, count, LW_LINKED_MOST);
    for (size_t i = 0; i < count; i++)
        if (!texts[i].text && texts[i].size) return lw_fail_null(context, "texts[].text");
    lw_text names = {0};
    lw_source_text *all = calloc(count, sizeof *all);
    lw_text_in in = {.texts = all, .count = (uint32_t)count};
    lw_status status = all && take_texts(texts, in.count, all, &names) ? LW_OK : lw_fail_memory(context);
    if (status == LW_OK) status = choose_for_all(context, options, all, in.count, &in.options);
    in.options.like = like;
    if (status == LW_OK) status = make_module(context, &in, module);
    lw_text_free(&names);
    free(all);
    return status;
}

lw_status lw_module_link(lw_context *context, const lw_module_options *options, const lw_module_text *texts,
                         size_t count, lw_module **module) {
    return link_texts(context, options, NULL, texts, count, module);
}

lw_status lw_module_again(const lw_module *like, const lw_module_text *texts, size_t count, lw_module **module) {
    return link_texts(like->context, NULL, like, texts, count, module);
}

void lw_module_free(lw_module *module) {
    LW_OWN_FLOAT_MODE(callers);
    if (!module) return;
    unlink_module(module->context, module);
    end_module(module);
}

/* ---- From a kernel to a program -------------------------------------------------------------------------------- */

static int compare_name(const void *name, const void *kernel) {
    return strcmp(name, (*(lw_kernel *const *)kernel)->info.name);
}

static lw_status no_such_kernel(const lw_module *module, const char *name) {
    const char **names = calloc(module->kernel_count, sizeof *names);
    for (uint32_t i = 0; names && i < module->kernel_count; i++) names[i] = lw_module_kernel_name(module, i);
    lw_text hint = {0};
    if (names) lw_say_nearest(&hint, name, names, module->kernel_count);
    lw_status status = lw_fail(module->context, LW_NOT_FOUND, LW_D_no_such_kernel, lw_kernel_word(module), name,
                               hint.at && !hint.failed ? hint.at : "");
    lw_text_free(&hint);
    free(names);
    return status;
}

static lw_status find_kernel(lw_module *module, const char *name, lw_kernel **kernel) {
    lw_context *context = module->context;
    if (!module->good) return lw_fail(context, LW_BAD_SOURCE, LW_D_bad_module);
    if (!name && module->kernel_count > 1)
        return lw_fail(context, LW_NOT_FOUND, LW_D_which_kernel, module->kernel_count, lw_kernel_word(module));
    if (!module->kernel_count) return lw_fail(context, LW_NOT_FOUND, LW_D_no_kernel, lw_kernel_word(module));
    const char *bare = name && module->language->sigil && *name == module->language->sigil ? name + 1 : name;
    lw_kernel **found =
        name ? bsearch(bare, module->by_name, module->kernel_count, sizeof *module->by_name, compare_name)
             : module->by_name;
    if (!found) return no_such_kernel(module, name);
    *kernel = *found;
    return LW_OK;
}

static lw_status make_program(lw_kernel *kernel) {
    lw_module *module = kernel->module;
    jmp_buf out;
    if (!LW_ARENA_TRY(&module->arena, out)) return LW_NO_MEMORY;
    lw_program *program = module->language->lower(kernel);
    if (!program || !lw_interp_link(program, &module->diags)) return LW_BAD_SOURCE;
    lw_program_link(program, module->context->level);
    program->number = atomic_fetch_add(&module->context->programs, 1) + 1;
    program->symbols = module->context->symbols;
    kernel->program = program;
    kernel->info.shared_bytes = program->shared_bytes;
    kernel->info.local_bytes = program->entry->local_bytes;
    kernel->info.instruction_count = (uint32_t)program->instruction_count;
    kernel->info.lanes = program->vector.lanes;
    kernel->info.register_count = program->entry->register_count;
    return LW_OK;
}

lw_status lw_module_kernel(lw_module *module, const char *name, lw_kernel **kernel) {
    LW_OWN_FLOAT_MODE(callers);
    lw_kernel *found = NULL;
    if (kernel) *kernel = NULL;
    if (!module) return LW_BAD_ARGUMENT;
    if (!kernel) return lw_fail_null(module->context, "kernel");
    lw_status status = find_kernel(module, name, &found);
    if (status != LW_OK) return status;
    pthread_mutex_lock(&module->lock);
    if (!found->program && !found->failed) {
        status = make_program(found);
        module->arena.no_memory = NULL;
        found->failed = status == LW_BAD_SOURCE;
    }
    if (found->failed) status = LW_BAD_SOURCE;
    pthread_mutex_unlock(&module->lock);
    if (status == LW_NO_MEMORY) return lw_fail_memory(module->context);
    if (status == LW_BAD_SOURCE)
        return lw_fail(module->context, LW_BAD_SOURCE, LW_D_bad_kernel, lw_kernel_word(module), found->info.name);
    if (status != LW_OK) return status;
    *kernel = found;
    return LW_OK;
}

/* ---- Launches -------------------------------------------------------------------------------------------------- */

typedef struct lw_watch { /* what the progress callback gets */
    const lw_launch_config *config;
    lw_grid *grid;
    lw_float_mode *callers; /* what it runs in, and may change */
    double start;
} lw_watch;

static void show_progress(void *user) {
    lw_watch *watch = user;
    lw_progress now = {.ctas_done = atomic_load(&watch->grid->done_ctas) + atomic_load(&watch->grid->canceled_ctas),
                       .ctas = watch->grid->cta_count,
                       .lane_instructions = atomic_load(&watch->grid->lane_instructions),
                       .seconds = lw_clock() - watch->start};
    lw_float_leave(watch->callers);
    watch->config->progress(watch->config->user, &now);
    lw_float_enter(watch->callers);
}

static lw_status explain_stop(lw_context *context, const lw_launch_config *config, const lw_grid *grid) {
    if (atomic_load(grid->stops) != grid->stops_before) return lw_fail(context, LW_STOPPED, LW_D_stopped_by_call);
    if (grid->deadline > 0 && lw_clock() > grid->deadline)
        return lw_fail(context, LW_STOPPED, LW_D_stopped_by_time, config->time_limit);
    return lw_fail(context, LW_STOPPED, LW_D_stopped_by_steps, (unsigned long long)config->step_limit);
}

static lw_status outcome(lw_kernel *kernel, const lw_launch_config *config, const lw_grid *grid) {
    lw_context *context = kernel->module->context;
    switch (grid->trap.kind) {
    case LW_TRAP_none: return LW_OK;
    case LW_TRAP_stopped: return explain_stop(context, config, grid);
    case LW_TRAP_memory: return lw_fail_memory(context);
    default: return lw_fail_trap(kernel, grid);
    }
}

static void fill_stats(lw_launch_stats *stats, lw_grid *grid, double seconds) {
    uint64_t ctas = atomic_load(&grid->done_ctas);
    *stats = (lw_launch_stats){.warp_instructions = atomic_load(&grid->warp_instructions),
                               .lane_instructions = atomic_load(&grid->lane_instructions),
                               .ctas = ctas,
                               .threads = ctas * grid->block[0] * grid->block[1] * grid->block[2],
                               .seconds = seconds};
}

/* The code that the launch's blocks run, compiled now where it must be. */
static lw_status choose_code(lw_kernel *kernel, const lw_launch_config *config, lw_grid *grid) {
    lw_context *context = kernel->module->context;
    const char *why = "";
    if (!context->tiers) return LW_OK;
    const lw_layout layout = lw_layout_of(kernel->program, grid->block);
    grid->tier = lw_tier_find(&kernel->tiers, layout);
    if (!grid->tier) {
        pthread_mutex_lock(&kernel->module->lock);
        grid->tier = lw_tier_for(&kernel->tiers, context->tiers, kernel->program, layout);
        pthread_mutex_unlock(&kernel->module->lock);
    }
    if (!grid->tier) return lw_fail_memory(context);
    switch (lw_tier_begin(grid->tier, grid, &why)) {
    case LW_TIER_BEGINS: return LW_OK;
    case LW_TIER_STOPPED: return explain_stop(context, config, grid);
    case LW_TIER_CANNOT: break;
    }
    return lw_fail(context, LW_UNSUPPORTED, LW_D_not_compiled, kernel->info.name, why);
}

static lw_status run_grid(lw_kernel *kernel, const lw_launch_config *config, lw_grid *grid, lw_float_mode *callers,
                          lw_launch_stats *stats) {
    lw_context *context = kernel->module->context;
    const double asked = stats || config->progress || config->time_limit > 0 ? lw_clock() : 0;
    if (config->time_limit > 0) grid->deadline = asked + config->time_limit;
    lw_status status = choose_code(kernel, config, grid);
    if (status != LW_OK) return status;
    if (pthread_mutex_init(&grid->lock, NULL)) return lw_fail_memory(context);
    grid->memory = &context->memory;
    grid->ranges = lw_memory_hold(grid->memory);
    lw_textures *textures = grid->program->has_textures ? &context->textures : NULL;
    const uint32_t turn = textures ? lw_textures_hold(textures) : 0;
    grid->textures = textures;
    lw_watch watch = {.config = config, .grid = grid, .callers = callers, .start = asked ? lw_clock() : 0};
    lw_pool_run(context->pool, grid, config->progress ? show_progress : NULL, &watch);
    status = outcome(kernel, config, grid);
    if (stats) fill_stats(stats, grid, lw_clock() - watch.start);
    const bool kept = lw_keep_end(kernel->module, grid) && lw_keep_notes(kernel->module, grid);
    free(grid->stood);
    if (!kept && status == LW_OK) status = lw_fail_memory(context);
    if (textures) lw_textures_drop(textures, turn);
    lw_ranges_drop(grid->ranges);
    pthread_mutex_destroy(&grid->lock);
    return status;
}

static lw_status run(lw_kernel *kernel, const lw_launch_config *config, const char *params, lw_float_mode *callers,
                     lw_launch_stats *stats) {
    lw_grid grid = {.params = params};
    lw_printer printer;
    lw_launch_grid(kernel, config, &grid);
    const uint32_t notes = grid.program->notes.count;
    _Atomic uint64_t few[16];
    if (!(grid.notes = notes <= LW_COUNT(few) ? few : malloc(notes * sizeof *grid.notes)))
        return lw_fail_memory(kernel->module->context);
    for (uint32_t i = 0; i < notes; i++) atomic_init(&grid.notes[i], 0);
    lw_status status = lw_runtime_begin(kernel->module->context, config, &grid, &printer);
    if (status == LW_OK) {
        status = run_grid(kernel, config, &grid, callers, stats);
        lw_runtime_end(kernel->module->context, config, &grid, callers);
    }
    if (grid.notes != few) free(grid.notes);
    return status;
}

lw_status lw_launch(lw_kernel *kernel, const lw_launch_config *config, void *const *params, lw_launch_stats *stats) {
    LW_OWN_FLOAT_MODE(callers);
    if (stats) *stats = (lw_launch_stats){0};
    if (!kernel) return LW_BAD_ARGUMENT;
    if (!config) return lw_fail_null(kernel->module->context, "config");
    lw_launch_config all;
    if (!lw_take(&all, sizeof all, config, LW_CONFIG_FIRST))
        return lw_fail(kernel->module->context, LW_BAD_ARGUMENT, LW_D_struct_size, "lw_launch_config", config->size,
                       sizeof all);
    lw_params_room room;
    char *buffer;
    lw_status status = lw_launch_check(kernel, &all);
    if (status == LW_OK) status = lw_launch_params(kernel, &all, params, &room, &buffer);
    if (status != LW_OK) return status;
    status = run(kernel, &all, buffer, &callers, stats);
    if (buffer != room.bytes) free(buffer);
    return status;
}
