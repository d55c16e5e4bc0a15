/* context.c: making and ending contexts: limits, CPU level, threads. */
#define _GNU_SOURCE
#include "base/scan.h"
#include "session/environment.h"
#include "session/session.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* ---- What the machine and the environment say ------------------------------------------------------------------ */

static uint32_t machine_threads(void) {
    cpu_set_t set;
    if (!sched_getaffinity(0, sizeof set, &set)) return (uint32_t)CPU_COUNT(&set);
    long count = sysconf(_SC_NPROCESSORS_ONLN);
    return count > 0 ? (uint32_t)count : 1;
}

static uint64_t machine_memory(void) {
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    return pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page : 1ull << 30;
}

/* ---- Options --------------------------------------------------------------------------------------------------- */

/* One that may come from the environment. */
typedef struct setting {
    const char *member, *text; /* text: NULL where neither says anything */
} setting;

static setting setting_of(const char *member, const char *given, lw_variable variable) {
    if (given) return (setting){member, given};
    return (setting){lw_variable_names[variable], lw_environment(variable)};
}

static bool is_empty(setting s) { return s.text && !*s.text; }

static lw_status wrong(setting s, const char *why) {
    return lw_fail(NULL, LW_BAD_ARGUMENT, LW_D_context_option, s.member, s.text ? s.text : "", why);
}

static lw_status choose_threads(uint32_t wanted, lw_chosen *chosen) {
    char number[16];
    snprintf(number, sizeof number, "%u", wanted);
    const setting s = setting_of("threads", wanted ? number : NULL, LW_ENV_threads);
    uint64_t value = machine_threads();
    if (s.text) {
        const uint32_t end = lw_digits_end(s.text, 0, 10);
        if (!end || s.text[end] || !lw_digits_read(s.text, 0, end, 10, &value) || !value)
            return wrong(s, "this is no number of threads");
    }
    if (value > LW_THREADS_MOST) return wrong(s, "4096 threads are the most");
    chosen->threads = (uint32_t)value;
    return LW_OK;
}

/* "the levels are v3 portable" */
static lw_status wrong_level(setting s) {
    lw_text text = {0};
    lw_text_puts(&text, "the levels are");
    for (const char *const *name = lw_cpu_levels(); *name; name++) lw_text_printf(&text, " %s", *name);
    lw_status status = wrong(s, text.at && !text.failed ? text.at : "there is no such level");
    lw_text_free(&text);
    return status;
}

static lw_status choose_level(const char *wanted, lw_chosen *chosen) {
    const setting s = setting_of("cpu", wanted, LW_ENV_cpu);
    for (const lw_level *const *level = lw_levels; *level; level++) {
        if (s.text ? strcmp((*level)->name, s.text) != 0 : !lw_level_has(*level)) continue;
        if (!lw_level_has(*level)) return lw_fail(NULL, LW_BAD_ARGUMENT, LW_D_level_missing, s.text);
        chosen->level = *level;
        return LW_OK;
    }
    return wrong_level(s);
}

static lw_status choose_hot(lw_chosen *chosen) {
    const setting s = setting_of("hot", NULL, LW_ENV_hot);
    chosen->hot = LW_HOT_AUTO;
    if (!s.text) return LW_OK;
    const uint32_t end = lw_digits_end(s.text, 0, 10);
    const bool good = end && !s.text[end] && lw_digits_read(s.text, 0, end, 10, &chosen->hot);
    return good ? LW_OK : wrong(s, "this is no number of warp instructions");
}

static lw_status choose_cache(lw_chosen *chosen) {
    const setting cache = setting_of("cache", NULL, LW_ENV_cache), size = setting_of("size", NULL, LW_ENV_cache_size);
    chosen->cache = cache.text, chosen->cache_limit = LW_CACHE_LIMIT;
    if (cache.text && *cache.text != '/' && strcmp(cache.text, "off") != 0)
        return wrong(cache, "it must be a folder, from the root on, or off");
    if (size.text && !lw_cache_size(size.text, &chosen->cache_limit))
        return wrong(size, "it must be a number of bytes, or one with K, M or G behind it");
    return LW_OK;
}

lw_status lw_choose(const lw_options *given, lw_chosen *chosen) {
    lw_options all;
    if (!lw_take(&all, sizeof all, given, LW_OPTIONS_FIRST))
        return lw_fail(NULL, LW_BAD_ARGUMENT, LW_D_struct_size, "lw_options", given->size, sizeof all);
    const uint64_t stack = all.stack_limit ? all.stack_limit : LW_STACK_DEFAULT;
    *chosen = (lw_chosen){.stack_limit = (uint32_t)(stack < LW_STACK_MOST ? stack : LW_STACK_MOST) &
                                         ~15u, /* whole granules of local memory */
                          .memory_limit = all.memory_limit ? all.memory_limit : machine_memory() / 4 * 3};
    lw_status status = choose_level(all.cpu, chosen);
    if (status != LW_OK) return status;
    const setting semantics = setting_of("semantics", all.semantics, LW_ENV_semantics),
                  engine = setting_of("engine", all.engine, LW_ENV_engine);
    if (is_empty(semantics) || !lw_semantics_choose(semantics.text, &chosen->semantics))
        return wrong(semantics, "the semantics are manual and sm_90");
    if (is_empty(engine) || !lw_engine_choose(engine.text, &chosen->engine))
        return wrong(engine, "it must be auto, interp or jit");
    if ((status = choose_hot(chosen)) != LW_OK || (status = choose_cache(chosen)) != LW_OK) return status;
    const setting symbols = setting_of("symbols", NULL, LW_ENV_symbols);
    if (!lw_symbols_choose(symbols.text, &chosen->symbols)) return wrong(symbols, "it must be perf, gdb or all");
    return choose_threads(all.threads, chosen);
}

/* ---- Contexts -------------------------------------------------------------------------------------------------- */

/* Those that work on launches, and the one that compiles. None of them starts. */
static bool make_threads(lw_context *context, const lw_chosen *chosen) {
    if (!(context->pool = lw_pool_new(context->threads))) return false;
    if (context->engine == LW_ENGINE_interp) return true;
    const uint64_t hot = context->engine == LW_ENGINE_jit ? LW_HOT_ALWAYS : chosen->hot;
    if ((context->tiers = lw_tiers_new(context->level, hot, context->cache, &context->programs))) return true;
    lw_pool_free(context->pool);
    return false;
}

/* Device memory and what all modules share. */
static bool set_up(lw_context *context, const lw_chosen *chosen) {
    context->level = chosen->level, context->semantics = chosen->semantics, context->engine = chosen->engine;
    context->symbols = chosen->symbols;
    context->threads = chosen->threads, context->stack_limit = chosen->stack_limit;
    if (pthread_mutex_init(&context->lock, NULL)) return false;
    if (!lw_languages_open(context)) goto no_languages;
    if (!lw_memory_init(&context->memory, chosen->memory_limit)) goto no_memory;
    if (!lw_heap_init(&context->heap)) goto no_heap;
    if (!lw_textures_init(&context->textures)) goto no_textures;
    if (context->engine != LW_ENGINE_interp) context->cache = lw_cache_open(chosen); /* it can do without */
    if (!make_threads(context, chosen)) goto no_threads;
    return true;
no_threads:
    lw_cache_free(context->cache);
    lw_textures_end(&context->textures);
no_textures:
    lw_heap_end(&context->heap);
no_heap:
    lw_memory_end(&context->memory);
no_memory:
    lw_languages_close(context);
no_languages:
    pthread_mutex_destroy(&context->lock);
    return false;
}

lw_status lw_context_new(const lw_options *options, lw_context **context) {
    LW_OWN_FLOAT_MODE(callers);
    if (!context) return LW_BAD_ARGUMENT;
    *context = NULL;
    lw_context *made = calloc(1, sizeof *made);
    if (!made) return lw_fail_memory(NULL);
    lw_chosen chosen;
    lw_status status = lw_choose(options, &chosen);
    if (status == LW_OK && !lw_engine_has(chosen.engine))
        status = lw_fail(NULL, LW_UNSUPPORTED, LW_D_engine_missing, lw_engine_words[chosen.engine],
                         lw_engine_missing(chosen.engine));
    if (status == LW_OK && !set_up(made, &chosen)) status = lw_fail_memory(NULL);
    if (status == LW_OK) *context = made;
    else free(made);
    return status;
}

void lw_context_free(lw_context *context) {
    LW_OWN_FLOAT_MODE(callers);
    if (!context) return;
    while (context->modules) lw_module_free(context->modules);
    lw_arena spare = {.spare = context->spare};
    lw_arena_free(&spare);
    lw_languages_close(context);
    lw_pool_free(context->pool);
    lw_tiers_free(context->tiers);
    lw_cache_free(context->cache);
    lw_textures_end(&context->textures);
    lw_heap_end(&context->heap);
    lw_memory_end(&context->memory);
    lw_faults_end(context);
    pthread_mutex_destroy(&context->lock);
    free(context);
}

const char *lw_context_cpu(lw_context *context) { return context ? context->level->name : ""; }
const char *lw_context_semantics(lw_context *context) { return context ? lw_semantics_names[context->semantics] : ""; }
const char *lw_context_engine(lw_context *context) { return context ? lw_engine_words[context->engine] : ""; }
uint32_t lw_context_threads(lw_context *context) { return context ? context->threads : 0; }

/* Safe in a signal handler: one lock-free addition. */
void lw_context_stop(lw_context *context) {
    if (context) atomic_fetch_add(&context->stops, 1);
}
