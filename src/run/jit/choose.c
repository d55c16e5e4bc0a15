/* choose.c: which functions of a program are compiled.
 *
 * All of them, in most programs, but for those that are too large by themselves. Where there is more than LLVM takes a
 * while for, as in kernels that have a whole runtime in them, those that are nearest to the entry, by calls and by
 * addresses that they take: what is farther away is most often never called. The interpreter executes the others. */
#include "run/jit/unit.h"

#include <stdlib.h>

typedef struct choice {
    const lw_program *program;
    bool *chosen, *seen;
    uint32_t *queue, count;
    uint64_t operations;
} choice;

static void add(choice *c, uint32_t index) {
    if (c->seen[index]) return;
    c->seen[index] = true;
    c->queue[c->count++] = index;
}

static void add_address(choice *c, uint64_t address) {
    const uint64_t offset = address - LW_CODE_WINDOW;
    const lw_code *code = offset % 16 ? NULL : lw_program_code(c->program, offset / 16);
    if (code) add(c, code->index);
}

static void add_named(choice *c, const lw_code *code) {
    for (uint32_t k = 0; k < code->call_count; k++)
        if (code->calls[k].function != LW_NO_SLOT) add(c, code->calls[k].function);
    for (uint32_t v = 0; v < code->virtual_count; v++)
        if (code->registers[v].is_const) add_address(c, code->registers[v].value);
}

/* The entry, then nearest first. One that does not fit any more leaves room for smaller ones, and so does one that is
 * too large in any case. */
static void choose(choice *c) {
    add(c, c->program->entry_index);
    for (uint32_t next = 0; next < c->count; next++) {
        const lw_code *code = c->program->functions[c->queue[next]];
        if (!lw_unit_is_large(code) && (!next || c->operations + code->op_count <= LW_NEAR_OPS)) {
            c->operations += code->op_count;
            c->chosen[code->index] = true;
        }
        add_named(c, code);
    }
}

/* Of functions that can be compiled. */
static uint64_t all_operations(const lw_program *program) {
    uint64_t operations = 0;
    for (uint32_t i = 0; i < program->code_count; i++)
        if (!lw_unit_is_large(program->functions[i])) operations += program->functions[i]->op_count;
    return operations;
}

bool *lw_program_choose(const lw_program *program) {
    const uint32_t count = program->code_count;
    bool *chosen = calloc(count, sizeof *chosen);
    if (!chosen) return NULL;
    if (all_operations(program) <= LW_PROGRAM_OPS) {
        memset(chosen, true, count);
        return chosen;
    }
    choice c = {.program = program, .chosen = chosen};
    c.seen = calloc(count, sizeof *c.seen);
    c.queue = calloc(count, sizeof *c.queue);
    const bool good = c.seen && c.queue;
    if (good) choose(&c);
    free(c.seen), free(c.queue);
    if (good) return chosen;
    free(chosen);
    return NULL;
}

bool lw_program_leaves(const lw_program *program) {
    bool *chosen = lw_program_choose(program), leaves = false;
    for (uint32_t i = 0; chosen && i < program->code_count; i++)
        leaves |= program->functions[i]->op_count && (!chosen[i] || lw_unit_is_large(program->functions[i]));
    free(chosen);
    return leaves;
}
