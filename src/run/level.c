/* level.c: which CPU levels are built in, and linking a program with one. */
#include "run/run.h"

#define LEVEL(name, isa, machine, bytes, masks, llvm, options) \
    LW_WHERE_BUILT(name, bool lw_cpu_has_##isa(void); extern lw_step *const lw_steps_##name[LW_OP_count]; \
                   lw_step lw_step_once_##name; extern const struct lw_warp_calls lw_warp_##name; \
                   lw_matrix_call lw_matrix_multiply_##name; \
                   static const lw_level level_##name = {#name, bytes, masks, llvm, lw_cpu_has_##isa, lw_steps_##name, \
                                                         lw_step_once_##name, &lw_warp_##name, \
                                                         lw_matrix_multiply_##name};)
#include "run/levels.def"

const lw_level *const lw_levels[] = {
#define LEVEL(name, ...) LW_WHERE_BUILT(name, &level_##name, )
#include "run/levels.def"
    NULL,
};

bool lw_level_has(const lw_level *level) { return level->has(); }

/* ---- Linking --------------------------------------------------------------------------------------------- */

static void link_code(lw_code *code, const lw_level *level) {
    for (uint32_t i = 0; i < code->op_count; i++) {
        lw_step *step = level->steps[code->ops[i].code];
        if (!step) lw_bug("no step for operation code %u in '%s'", code->ops[i].code, code->name);
        code->ops[i].step = step;
    }
    lw_shortcuts_take(code, level->once);
}

void lw_program_link(lw_program *program, const lw_level *level) {
    program->vector_bytes = level->vector_bytes;
    program->steps = level->steps;
    program->warp = level->warp;
    program->multiply = level->multiply;
    for (uint32_t i = 0; i < program->code_count; i++) link_code(program->codes[i], level);
}
