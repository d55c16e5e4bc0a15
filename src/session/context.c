/* context.c: making and ending contexts: limits, CPU level, threads. */
#define _GNU_SOURCE
#include "session/session.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* ---- What the machine and the environment say -------------------------------------------------------------------- */

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

static bool choose_threads(uint32_t wanted, uint32_t *threads) {
    const char *text = getenv("LANEWISE_THREADS");
    unsigned long value = wanted;
    if (!wanted && text && *text) {
        char *end;
        if (*text < '0' || *text > '9') return false;
        value = strtoul(text, &end, 10);
        if (*end || !value) return false;
    } else if (!wanted)
        value = machine_threads();
    if (value > LW_THREADS_MOST) return false;
    *threads = (uint32_t)value;
    return true;
}

static const lw_level *find_level(const char *name) {
    for (const lw_level *const *level = lw_levels; *level; level++)
        if (name ? !strcmp((*level)->name, name) : lw_level_has(*level))
            return lw_level_has(*level) ? *level : NULL;
    return NULL;
}

static const lw_level *choose_level(const char *wanted) {
    const char *text = wanted ? wanted : getenv("LANEWISE_CPU");
    return find_level(text && *text ? text : NULL);
}

/* ---- Contexts -------------------------------------------------------------------------------------------------------- */

static lw_status wrong_option(const char *what, const char *given, const char *variable) {
    const char *text = given && *given ? given : getenv(variable);
    return lw_fail(NULL, LW_BAD_ARGUMENT, LW_D_context_option, given && *given ? what : variable, text ? text : "");
}

static lw_status set_limits(lw_context *context, const lw_options *options) {
    uint64_t stack = options->stack_limit ? options->stack_limit : LW_STACK_DEFAULT;
    context->stack_limit =
        (uint32_t)(stack < LW_STACK_MOST ? stack : LW_STACK_MOST) & ~15u; /* whole granules of local memory */
    if (!(context->level = choose_level(options->cpu))) return wrong_option("cpu", options->cpu, "LANEWISE_CPU");
    if (!lw_semantics_choose(options->semantics, &context->semantics)) return wrong_option("semantics", options->semantics, "LANEWISE_SEMANTICS");
    if (!lw_engine_choose(options->engine, &context->engine)) return wrong_option("engine", options->engine, "LANEWISE_ENGINE");
    char number[16];
    snprintf(number, sizeof number, "%u", options->threads);
    if (!choose_threads(options->threads, &context->threads))
        return wrong_option("threads", options->threads ? number : NULL, "LANEWISE_THREADS");
    if (lw_engine_has(context->engine)) return LW_OK;
    return lw_fail(NULL, LW_UNSUPPORTED, LW_D_engine_missing, lw_engine_words[context->engine], lw_engine_missing(context->engine));
}

/* Device memory and what all modules share. */
static bool set_up(lw_context *context, uint64_t memory_limit) {
    if (pthread_mutex_init(&context->lock, NULL)) return false;
    if (!lw_spellings_init(&context->spellings)) goto no_spellings;
    if (!lw_memory_init(&context->memory, memory_limit ? memory_limit : machine_memory() / 4 * 3)) goto no_memory;
    if ((context->pool = lw_pool_new(context->threads))) return true;
    lw_memory_end(&context->memory);
no_memory:
    lw_spellings_end(&context->spellings);
no_spellings:
    pthread_mutex_destroy(&context->lock);
    return false;
}

lw_status lw_context_new(const lw_options *options, lw_context **context) {
    LW_OWN_FLOAT_MODE(callers);
    if (!context) return LW_BAD_ARGUMENT;
    *context = NULL;
    lw_context *made = calloc(1, sizeof *made);
    if (!made) return lw_fail_memory(NULL);
    const lw_options none = {0};
    if (!options) options = &none;
    lw_status status = set_limits(made, options);
    if (status == LW_OK && !set_up(made, options->memory_limit)) status = lw_fail_memory(NULL);
    if (status == LW_OK)
        *context = made;
    else
        free(made);
    return status;
}

void lw_context_free(lw_context *context) {
    LW_OWN_FLOAT_MODE(callers);
    if (!context) return;
    while (context->modules) lw_module_free(context->modules);
    lw_arena spare = {.spare = context->spare};
    lw_arena_free(&spare);
    lw_spellings_end(&context->spellings);
    lw_pool_free(context->pool);
    lw_memory_end(&context->memory);
    lw_faults_end(context);
    pthread_mutex_destroy(&context->lock);
    free(context);
}

const char *lw_context_cpu(lw_context *context) { return context ? context->level->name : ""; }
const char *lw_context_semantics(lw_context *context) {
    return context ? lw_semantics_names[context->semantics] : "";
}
const char *lw_context_engine(lw_context *context) { return context ? lw_engine_words[context->engine] : ""; }
uint32_t lw_context_threads(lw_context *context) { return context ? context->threads : 0; }

/* Safe in a signal handler: one lock-free addition. */
void lw_context_stop(lw_context *context) {
    if (context) atomic_fetch_add(&context->stops, 1);
}
