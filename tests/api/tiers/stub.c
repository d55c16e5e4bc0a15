/* A jit.so without LLVM: its code calls the interpreter's step for each operation. So results, and races, are those of
 * the engine auto alone, where LLVM's code has no sanitizer in it; and a test says how long compiling takes. */
#include "stub.h"

#include <stdlib.h>

#include "run/jit/jit.h"

struct lw_compiled {
    const lw_program *program;
};

static stub state = {.lock = PTHREAD_MUTEX_INITIALIZER, .moved = PTHREAD_COND_INITIALIZER};

static const lw_op *step_same(lw_gang *gang, const lw_op *op) {
    atomic_fetch_add_explicit(&state.steps, 1, memory_order_relaxed);
    return gang->cta->program->steps[op->code](gang, op);
}

static unsigned idle_rounds; /* written before any code is there */
static const lw_op *step_slow(lw_gang *gang, const lw_op *op) {
    for (volatile unsigned i = 0; i < idle_rounds;) i = i + 1;
    return step_same(gang, op);
}

static void lay_over(lw_program *program, lw_step *step) {
    for (uint32_t i = 0; i < program->code_count; i++)
        for (uint32_t n = 0; n < program->codes[i]->op_count; n++) program->codes[i]->ops[n].step = step;
}

static lw_compiled *make(lw_program *program) {
    lw_compiled *made = state.refuses ? NULL : calloc(1, sizeof *made);
    idle_rounds = state.slow;
    if (made) {
        made->program = program;
        lay_over(program, idle_rounds ? step_slow : step_same);
    }
    return made;
}

static const char kept[] = "the stub's code";

static const char *build(void) {
    pthread_mutex_lock(&state.lock);
    const bool keeps = state.keeps;
    pthread_mutex_unlock(&state.lock);
    return keeps ? "stub" : NULL;
}

static lw_compiled *compile(lw_program *program, const lw_level *level, lw_layout layout, bool *bound, lw_text *keep,
                            lw_text *why) {
    (void)level, (void)layout, (void)why;
    *bound = true;
    pthread_mutex_lock(&state.lock);
    state.begun++;
    pthread_cond_broadcast(&state.moved);
    while (state.held) pthread_cond_wait(&state.moved, &state.lock);
    lw_compiled *made = make(program);
    if (keep && (keep->at = malloc(sizeof kept)))
        keep->size = keep->room = sizeof kept, memcpy(keep->at, kept, sizeof kept);
    state.ended++;
    pthread_cond_broadcast(&state.moved);
    pthread_mutex_unlock(&state.lock);
    return made;
}

static lw_compiled *load(lw_program *program, const lw_level *level, lw_bytes bytes, bool *bound, lw_text *why) {
    (void)level, (void)why;
    *bound = true;
    if (bytes.size != sizeof kept || memcmp(bytes.at, kept, sizeof kept)) return NULL;
    pthread_mutex_lock(&state.lock);
    lw_compiled *made = make(program);
    state.loaded++;
    pthread_mutex_unlock(&state.lock);
    return made;
}

static void drop(lw_compiled *code) {
    pthread_mutex_lock(&state.lock);
    state.dropped++;
    pthread_mutex_unlock(&state.lock);
    lay_over((lw_program *)code->program, NULL); /* it must still be there, and nobody may run it */
    free(code);
}

static bool print(lw_program *program, const lw_level *level, lw_layout layout, bool machine, lw_text *out,
                  lw_text *why) {
    (void)program, (void)level, (void)layout, (void)machine, (void)out, (void)why;
    return false;
}

__attribute__((visibility("default"))) const lw_jit *lanewise_jit(const lw_core *core);
const lw_jit *lanewise_jit(const lw_core *core) {
    (void)core;
    static const lw_jit jit = {
        sizeof(lw_gang), sizeof(lw_op), sizeof(lw_pass), LW_LANE_count, build, compile, load, drop, print};
    return &jit;
}

__attribute__((visibility("default"))) stub *lanewise_stub(void);
stub *lanewise_stub(void) { return &state; }
