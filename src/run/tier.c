/* tier.c: when a program is compiled, for which blocks, and which of its codes CTAs run.
 *
 * What is measured decides how fast a launch is, never what it gives: both codes give the same. */
#include "run/tier.h"

#include "base/float_mode.h"
#include "middle/facts.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { INTERP, COMPILED, SWAPPED, CODES }; /* SWAPPED: compiled code, of CTAs that were begun in the other */

struct lw_tier {
    _Atomic(lw_tier *) sibling; /* of the same program */
    lw_tiers *tiers;
    lw_layout layout;              /* of the blocks that it is for, and no others where … */
    bool bound;                    /* … the code depends on it; known once it is compiled */
    bool was_kept;                 /* likewise: the code came from the cache */
    lw_text why;                   /* of a program that the compiler refused */
    lw_program *program, compiled; /* compiled: the same over copies of its operations, which are in … */
    lw_arena arena;                /* … this one */
    uint64_t hot;                  /* warp instructions that it is compiled behind … */
    atomic_flag looked;            /* … or fewer, where its code is in the cache: whether somebody looked there */
    _Atomic uint64_t executed;     /* … of those so far, while it is cold */
    _Atomic lw_tier_state state;   /* changes with the lock held */
    _Atomic(const lw_program *) newest;
    _Atomic bool stays; /* CTAs that were begun in the interpreter are better off there */
    struct lw_trial {   /* with the lock held */
        double seconds[CODES], turn;
        uint64_t work[CODES];
    } trial;
    lw_tier *next; /* that waits */
};

struct lw_tiers {
    pthread_mutex_t lock; /* guards all behind it, states and trials */
    pthread_cond_t work, done;
    lw_tier *first, **last, *now; /* what waits, and what is compiled */
    pthread_t thread;
    pid_t process; /* which has that thread: whom it forks has none */
    bool started, ending;
    const lw_level *level;
    uint64_t hot;
    lw_cache *cache; /* or NULL */
    _Atomic uint64_t *programs;
};

static lw_tier_state state_of(const lw_tier *tier) {
    return atomic_load_explicit(&((lw_tier *)tier)->state, memory_order_acquire);
}

/* ---- What it costs --------------------------------------------------------------------------------------------- */

/* Measured with LLVM 14 at level v3 over 46 kernels (`lanewise_bench --engines`): 35 to 70 ms for short ones, 0.5 to 2
 * ms an operation where functions are compiled a warp at a time, and 0.2 to 0.3 ms where they are not; in long ones, of
 * which nobody has looked yet how they will be, as much for those that go element by element; 40 µs for each pair of a
 * block and a register that lives across blocks where there are many. Without vector registers everything takes four
 * times as long. */
static const double BASE_SECONDS = 0.05, STRAND_SECONDS = 1.2e-3, OPERATION_SECONDS = 0.25e-3, ACROSS_SECONDS = 40e-6,
                    NARROW_TIMES = 4;
enum { STRAND_OPERATIONS = 300 };
enum { NARROW_BYTES = 16 };
/* Code that is kept costs LLVM's loading and linking, whatever its size is. */
static const double KEPT_SECONDS = 0.025;
/* What a program may cost: who frees it while it is compiled waits no longer than about that. */
static const double MOST_SECONDS = 2;
/* A warp instruction takes the interpreter 4 to 16 ns. One that has run for twice as long as compiling takes will most
 * often run for as long again, of which compiled code saves a third to four fifths. */
static const double INSTRUCTION_SECONDS = 8e-9, PATIENCE = 2;

static double cost_of_operations(const lw_code *code) {
    uint32_t simple = 0;
    for (uint32_t n = 0; code->op_count > STRAND_OPERATIONS && n < code->op_count; n++)
        simple += lw_row_of(code->ops[n].code)->compiled == LW_COMPILED_body;
    return simple * OPERATION_SECONDS + (code->op_count - simple) * STRAND_SECONDS;
}

static double cost_of(const lw_program *program, const lw_level *level) {
    double seconds = BASE_SECONDS;
    for (uint32_t i = 0; i < program->code_count; i++) {
        const lw_code *code = program->functions[i];
        seconds += cost_of_operations(code);
        if (code->facts) seconds += (double)code->block_count * code->facts->across_count * ACROSS_SECONDS;
    }
    return level->vector_bytes <= NARROW_BYTES ? seconds * NARROW_TIMES : seconds;
}

/* LLVM's own libraries, and what it needs for each operation, at most: where the process may not have so much, it is
 * not asked, since what it does without memory is less certain than what this asks. */
static bool has_memory(const lw_program *program) {
    enum { LIBRARIES = 320 << 20, OPERATION = 128 << 10 };
    size_t bytes = LIBRARIES;
    for (uint32_t i = 0; i < program->code_count; i++) bytes += (size_t)program->functions[i]->op_count * OPERATION;
    void *room = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return room != MAP_FAILED && !munmap(room, bytes);
}

/* ---- The second program ---------------------------------------------------------------------------------------- */

/* Copies of what compiled code changes, and of nothing else. */
static bool copy_program(lw_tier *tier) {
    const lw_program *from = tier->program;
    jmp_buf out;
    lw_arena_init(&tier->arena);
    if (!LW_ARENA_TRY(&tier->arena, out)) return false;
    tier->compiled = *from;
    lw_code **codes = LW_NEW_ARRAY(&tier->arena, lw_code *, from->code_count);
    for (uint32_t i = 0; i < from->code_count; i++) {
        codes[i] = lw_arena_copy(&tier->arena, from->codes[i], sizeof *codes[i]);
        codes[i]->ops = lw_arena_copy(&tier->arena, codes[i]->ops, codes[i]->op_count * sizeof *codes[i]->ops);
        lw_shortcuts_forget(codes[i], from->steps); /* compiled code has them in passing */
    }
    tier->arena.no_memory = NULL;
    tier->compiled.arena = NULL; /* nobody adds to it */
    tier->compiled.codes = codes;
    tier->compiled.entry = codes[from->entry_index];
    tier->compiled.number = atomic_fetch_add(tier->tiers->programs, 1) + 1; /* frames are of one of the two */
    return true;
}

/* Functions that are too large for it the compiler leaves as they are. */
static bool has_compiled_code(const lw_program *program) {
    for (uint32_t i = 0; i < program->code_count; i++)
        for (uint32_t n = 0; n < program->codes[i]->op_count; n++)
            if (program->codes[i]->ops[n].step != program->steps[program->codes[i]->ops[n].code]) return true;
    return false;
}

static bool is_always(const lw_tier *tier) { return tier->tiers->hot == LW_HOT_ALWAYS; }

static lw_tier_state compile(lw_tier *tier) {
    if (!is_always(tier) && !has_memory(tier->program)) return LW_TIER_failed;
    if (!lw_engine_has(LW_ENGINE_jit)) return LW_TIER_missing;
    if (!copy_program(tier)) return LW_TIER_failed;
    if (!lw_program_get_code(&tier->compiled, tier->tiers->level, tier->layout, tier->tiers->cache, &tier->bound,
                             &tier->was_kept, &tier->why))
        return LW_TIER_refused;
    if (is_always(tier)) return LW_TIER_fast;
    return has_compiled_code(&tier->compiled) ? LW_TIER_trial : LW_TIER_refused;
}

/* ---- The thread that compiles ---------------------------------------------------------------------------------- */

/* With the lock held. */
static void set_state(lw_tier *tier, lw_tier_state state) {
    const bool is_compiled = state == LW_TIER_trial || state == LW_TIER_fast;
    atomic_store_explicit(&tier->newest, is_compiled ? &tier->compiled : tier->program, memory_order_release);
    atomic_store_explicit(&tier->state, state, memory_order_release);
}

static lw_tier *take_first(lw_tiers *tiers) {
    lw_tier *tier = tiers->first;
    tiers->first = tier->next;
    if (!tiers->first) tiers->last = &tiers->first;
    return tier;
}

static void *compiler(void *argument) {
    LW_OWN_FLOAT_MODE(starters);
    lw_tiers *tiers = argument;
    pthread_mutex_lock(&tiers->lock);
    while (!tiers->ending) {
        if (!tiers->first) {
            pthread_cond_wait(&tiers->work, &tiers->lock);
            continue;
        }
        lw_tier *tier = tiers->now = take_first(tiers);
        pthread_mutex_unlock(&tiers->lock);
        const lw_tier_state state = compile(tier);
        pthread_mutex_lock(&tiers->lock);
        set_state(tier, state);
        tiers->now = NULL;
        pthread_cond_broadcast(&tiers->done);
    }
    pthread_mutex_unlock(&tiers->lock);
    return NULL;
}

/* With the lock held. In a process that was forked since the thread was started there is none, and nobody who waits.
 * What it was compiling is begun anew. */
static void forget_parent(lw_tiers *tiers) {
    if (!tiers->started || tiers->process == getpid()) return;
    if (tiers->now) set_state(tiers->now, LW_TIER_cold);
    tiers->now = NULL, tiers->started = false;
    pthread_cond_init(&tiers->work, NULL);
    (void)lw_cond_make(&tiers->done);
}

/* With the lock held. LLVM goes down deep where a program does, whatever the process gives its threads. */
static bool start(lw_tiers *tiers) {
    enum { STACK = 8 << 20 };
    forget_parent(tiers);
    tiers->process = getpid();
    if (!tiers->started) tiers->started = lw_thread_start(&tiers->thread, compiler, tiers, STACK);
    return tiers->started;
}

/* Has a program compiled that is cold. False: there is no thread for it. */
static bool ask_for(lw_tier *tier) {
    lw_tiers *tiers = tier->tiers;
    bool asked = true;
    pthread_mutex_lock(&tiers->lock);
    forget_parent(tiers);
    if (state_of(tier) == LW_TIER_waiting) asked = start(tiers);
    if (state_of(tier) == LW_TIER_cold && (asked = start(tiers))) {
        set_state(tier, LW_TIER_waiting);
        tier->next = NULL;
        *tiers->last = tier;
        tiers->last = &tier->next;
        pthread_cond_signal(&tiers->work);
    }
    pthread_mutex_unlock(&tiers->lock);
    return asked;
}

static void give_up(lw_tier *tier) {
    pthread_mutex_lock(&tier->tiers->lock);
    if (state_of(tier) == LW_TIER_cold) set_state(tier, LW_TIER_failed);
    pthread_mutex_unlock(&tier->tiers->lock);
}

/* When somebody waits for it, its end is looked for so often. Who stops a launch may be a signal handler, which can
 * wake nobody. */
enum { LOOK_NANOSECONDS = 10000000 };

static bool is_waiting(lw_tier *tier) {
    lw_tiers *tiers = tier->tiers;
    pthread_mutex_lock(&tiers->lock);
    if (state_of(tier) == LW_TIER_waiting) (void)lw_cond_wait(&tiers->done, &tiers->lock, LOOK_NANOSECONDS);
    const bool waiting = state_of(tier) == LW_TIER_waiting;
    pthread_mutex_unlock(&tiers->lock);
    return waiting;
}

lw_tiers *lw_tiers_new(const lw_level *level, uint64_t hot, lw_cache *cache, _Atomic uint64_t *programs) {
    lw_tiers *tiers = calloc(1, sizeof *tiers);
    if (!tiers) return NULL;
    tiers->level = level, tiers->hot = hot, tiers->cache = cache, tiers->programs = programs;
    tiers->last = &tiers->first;
    if (pthread_mutex_init(&tiers->lock, NULL)) goto no_lock;
    if (pthread_cond_init(&tiers->work, NULL)) goto no_work;
    if (lw_cond_make(&tiers->done)) return tiers;
    pthread_cond_destroy(&tiers->work);
no_work:
    pthread_mutex_destroy(&tiers->lock);
no_lock:
    free(tiers);
    return NULL;
}

void lw_tiers_free(lw_tiers *tiers) {
    if (!tiers) return;
    pthread_mutex_lock(&tiers->lock);
    forget_parent(tiers);
    tiers->ending = true;
    pthread_cond_signal(&tiers->work);
    pthread_mutex_unlock(&tiers->lock);
    if (tiers->started) pthread_join(tiers->thread, NULL);
    pthread_cond_destroy(&tiers->done);
    pthread_cond_destroy(&tiers->work);
    pthread_mutex_destroy(&tiers->lock);
    free(tiers);
}

bool lw_tiers_compiling(lw_tiers *tiers) {
    if (!tiers) return false;
    pthread_mutex_lock(&tiers->lock);
    const bool compiling = tiers->now;
    pthread_mutex_unlock(&tiers->lock);
    return compiling;
}

/* ---- A program ------------------------------------------------------------------------------------------------- */

static uint64_t instructions_of(double seconds) { return (uint64_t)(seconds * PATIENCE / INSTRUCTION_SECONDS); }

static uint64_t hot_behind(const lw_tiers *tiers, double seconds) {
    if (tiers->hot == LW_HOT_ALWAYS) return 0;
    return tiers->hot != LW_HOT_AUTO ? tiers->hot : instructions_of(seconds);
}

static lw_tier *new_tier(lw_tiers *tiers, lw_program *program, lw_layout layout) {
    lw_tier *tier = calloc(1, sizeof *tier);
    if (!tier) return NULL;
    const double seconds = cost_of(program, tiers->level);
    tier->tiers = tiers, tier->program = program, tier->layout = layout, tier->bound = true;
    tier->hot = hot_behind(tiers, seconds);
    atomic_flag_clear(&tier->looked);
    atomic_init(&tier->state, seconds > MOST_SECONDS && !is_always(tier) ? LW_TIER_large : LW_TIER_cold);
    atomic_init(&tier->newest, program);
    return tier;
}

/* What is known of it once it is compiled: that its code is for all blocks. */
static bool is_for(const lw_tier *tier, lw_layout layout) {
    const lw_tier_state state = state_of(tier);
    return lw_layout_is(tier->layout, layout) || (state != LW_TIER_cold && state != LW_TIER_waiting && !tier->bound);
}

/* One that is in a list stays there. */
static lw_tier *find_tier(_Atomic(lw_tier *) **list, lw_layout layout) {
    lw_tier *tier;
    for (; (tier = atomic_load_explicit(*list, memory_order_acquire)); *list = &tier->sibling)
        if (is_for(tier, layout)) break;
    return tier;
}

lw_tier *lw_tier_find(_Atomic(lw_tier *) *list, lw_layout layout) { return find_tier(&list, layout); }

lw_tier *lw_tier_for(_Atomic(lw_tier *) *list, lw_tiers *tiers, lw_program *program, lw_layout layout) {
    lw_tier *tier = find_tier(&list, layout);
    if (tier) return tier;
    tier = new_tier(tiers, program, layout);
    atomic_store_explicit(list, tier, memory_order_release);
    return tier;
}

static void take_back(lw_tiers *tiers, lw_tier *tier) {
    for (lw_tier **link = &tiers->first; *link; link = &(*link)->next) {
        if (*link != tier) continue;
        *link = tier->next;
        if (!*link) tiers->last = link;
        return;
    }
}

static void free_tier(lw_tier *tier) {
    lw_tiers *tiers = tier->tiers;
    pthread_mutex_lock(&tiers->lock);
    forget_parent(tiers);
    take_back(tiers, tier);
    while (tiers->now == tier) pthread_cond_wait(&tiers->done, &tiers->lock);
    pthread_mutex_unlock(&tiers->lock);
    lw_program_drop(&tier->compiled);
    lw_arena_free(&tier->arena);
    lw_text_free(&tier->why);
    free(tier);
}

void lw_tier_free(lw_tier *list) {
    for (lw_tier *next; list; list = next) {
        next = list->sibling;
        free_tier(list);
    }
}

/* By the thread that asks for it, where the system has no other, unless another one has. */
static void compile_here(lw_tier *tier) {
    lw_tiers *tiers = tier->tiers;
    pthread_mutex_lock(&tiers->lock);
    const bool asked = state_of(tier) != LW_TIER_cold;
    if (!asked) set_state(tier, LW_TIER_waiting);
    pthread_mutex_unlock(&tiers->lock);
    if (asked) return;
    const lw_tier_state state = compile(tier);
    pthread_mutex_lock(&tiers->lock);
    set_state(tier, state);
    pthread_cond_broadcast(&tiers->done);
    pthread_mutex_unlock(&tiers->lock);
}

static bool is_settled(const lw_tier *tier) {
    const lw_tier_state state = state_of(tier);
    return state != LW_TIER_cold && state != LW_TIER_waiting;
}

lw_tier_start lw_tier_begin(lw_tier *tier, const lw_grid *grid, const char **why) {
    if (!tier || tier->hot) return LW_TIER_BEGINS;
    if (LW_UNLIKELY(!is_settled(tier))) { /* most launches find their code there, and ask no lock and no clock */
        if (!ask_for(tier)) (is_always(tier) ? compile_here : give_up)(tier);
        while (is_waiting(tier))
            if (lw_grid_is_late(grid)) return LW_TIER_STOPPED;
    }
    *why = tier->why.at && !tier->why.failed ? tier->why.at : "out of memory";
    return !is_always(tier) || state_of(tier) == LW_TIER_fast ? LW_TIER_BEGINS : LW_TIER_CANNOT;
}

const lw_program *lw_tier_program(const lw_tier *tier) {
    return atomic_load_explicit(&((lw_tier *)tier)->newest, memory_order_acquire);
}

bool lw_tier_changes(const lw_tier *tier) { return !is_settled(tier) || state_of(tier) == LW_TIER_trial; }

const lw_program *lw_tier_goes_on(const lw_tier *tier, const lw_program *program, bool swapped) {
    const lw_program *newest = lw_tier_program(tier);
    const bool all = !atomic_load_explicit(&((lw_tier *)tier)->stays, memory_order_relaxed);
    if (all || newest == tier->program) return newest;
    return swapped ? tier->program : program;
}

bool lw_tier_was_kept(const lw_tier *tier) {
    const lw_tier_state state = state_of(tier);
    return (state == LW_TIER_trial || state == LW_TIER_fast) && tier->was_kept;
}

/* Only where a program has executed long enough that to look costs nothing beside it, and once. */
static bool is_kept(lw_tier *tier, uint64_t executed) {
    const lw_tiers *tiers = tier->tiers;
    return tiers->cache && executed >= instructions_of(KEPT_SECONDS) && !atomic_flag_test_and_set(&tier->looked) &&
           lw_cache_has(tiers->cache, tier->program, tiers->level, tier->layout);
}

void lw_tier_count(lw_tier *tier, uint64_t warp_instructions) {
    if (state_of(tier) != LW_TIER_cold) return;
    const uint64_t before = atomic_fetch_add_explicit(&tier->executed, warp_instructions, memory_order_relaxed);
    const uint64_t executed = before + warp_instructions;
    if ((executed >= tier->hot || is_kept(tier, executed)) && !ask_for(tier)) give_up(tier);
}

const char *lw_tier_why(const lw_tier *tier) {
    static const char *const whys[] = {
#define TIER(name, why) why,
#include "run/tiers.def"
    };
    const lw_tier_state state = state_of(tier);
    if (state == LW_TIER_fast && tier->compiled.is_partly_compiled)
        return "functions that would take too long to compile are left to the interpreter";
    return whys[state];
}

/* ---- The trial ------------------------------------------------------------------------------------------------- */

/* CTAs run either code by turns of so long, until each was measured for long enough: so both meet the same memory, the
 * same caches and the same neighbours. Turns are long beside what it takes to look at the clock. */
static const double TURN_SECONDS = 1e-3, ENOUGH_SECONDS = 20e-3;
/* Of the interpreter's speed, or the compiled code is given up. None that is slower by a tenth may stay, and on a busy
 * machine what is measured is off by some hundredths. */
static const double LEAST = 0.97;

bool lw_tier_measures(const lw_tier *tier) { return tier && state_of(tier) == LW_TIER_trial; }

static double rate(const struct lw_trial *trial, int code) { return (double)trial->work[code] / trial->seconds[code]; }

/* Whose turn is next: that of the one that had less time. */
static void take_turns(lw_tier *tier) {
    const struct lw_trial *trial = &tier->trial;
    const double seconds = trial->seconds[COMPILED] + trial->seconds[SWAPPED];
    const bool waits = trial->seconds[INTERP] >= ENOUGH_SECONDS && seconds >= 2 * ENOUGH_SECONDS; /* for COMPILED */
    const bool compiled = seconds < trial->seconds[INTERP] || waits;
    tier->trial.turn = 0;
    atomic_store_explicit(&tier->newest, compiled ? &tier->compiled : tier->program, memory_order_release);
}

/* CTAs that were begun by the interpreter have not all that compiled code is fast by (interp/swap.c): what they take
 * says whether such go over to it, and nothing of the others. */
static bool stays(const struct lw_trial *trial) {
    if (trial->seconds[INTERP] < ENOUGH_SECONDS || trial->seconds[SWAPPED] < ENOUGH_SECONDS) return false;
    return rate(trial, SWAPPED) < LEAST * rate(trial, INTERP);
}

/* It was long enough on trial: what is to be said of it. */
static lw_tier_state verdict(const struct lw_trial *trial) {
    if (trial->seconds[INTERP] < ENOUGH_SECONDS || trial->seconds[COMPILED] < ENOUGH_SECONDS) return LW_TIER_trial;
    return rate(trial, COMPILED) < LEAST * rate(trial, INTERP) ? LW_TIER_slower : LW_TIER_fast;
}

void lw_tier_measured(lw_tier *tier, const lw_program *program, bool swapped, uint64_t lane_instructions,
                      double seconds) {
    struct lw_trial *trial = &tier->trial;
    const int code = program != &tier->compiled ? INTERP : swapped ? SWAPPED : COMPILED;
    pthread_mutex_lock(&tier->tiers->lock);
    if (state_of(tier) == LW_TIER_trial) {
        trial->seconds[code] += seconds, trial->turn += seconds;
        trial->work[code] += lane_instructions;
        if (stays(trial)) atomic_store_explicit(&tier->stays, true, memory_order_relaxed);
        const lw_tier_state state = verdict(trial);
        if (state != LW_TIER_trial) set_state(tier, state);
        else if (trial->turn >= TURN_SECONDS) take_turns(tier);
    }
    pthread_mutex_unlock(&tier->tiers->lock);
}
