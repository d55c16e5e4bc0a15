/* jit.h: what the core and its compiler know of each other.
 *
 * The compiler is a library of its own, opened on first use, so that nothing pays for LLVM that does not need it. It
 * reads programs and lays compiled code over them: lw_op.step of some operations becomes a compiled function, which
 * executes from there on as far as it can and returns the next operation, like any step. Whatever is not compiled, and
 * every state that compiled code does not know, is left to the interpreter's steps. */
#ifndef LW_JIT_H
#define LW_JIT_H

#include "middle/row.h"
#include "run/run.h"

typedef struct lw_compiled lw_compiled; /* the code of one program */

/* ---- One warp at a time: interp/pass.c ------------------------------------------------------------------------- */

enum { LW_PASS_PLACES = 16, LW_GANG_WARPS = LW_GANG_LANES / LW_WARP_LANES };

/* Warps that compiled code takes over, one behind the other. Masks are of a warp's lanes. */
typedef struct lw_pass {
    uint32_t lanes[LW_GANG_WARPS];                 /* that go on at a block … */
    uint32_t ready[LW_PASS_PLACES][LW_GANG_WARPS]; /* … and that are ready at those behind it */
    uint32_t block, count;
    const uint32_t *behind;
} lw_pass;

/* What compiled code asks of the core. */
typedef struct lw_core {
    /* The gang has entered `block`. Takes the lanes of its warps over, and those that are ready at the `count` blocks
     * `behind`, if that is all there are of each warp in the frame. The block's instructions are no longer counted.
     * Returns a bit for each warp; 0: nothing was done. */
    uint32_t (*begin)(lw_gang *gang, uint32_t block, const uint32_t *behind, uint32_t count, lw_pass *pass);
    /* A step for some lanes of one warp. False: it trapped. */
    bool (*step)(lw_gang *gang, const lw_op *op, lw_step *step, uint32_t warp, uint32_t lanes);
    void (*pend)(lw_gang *gang, uint32_t block, uint32_t warp, uint32_t lanes); /* they are ready there again */
    /* Everybody is ready somewhere. spent: 0, or 2 * block + 1 where a turn's budget was used up on the way back to
     * it, and the highest bit where it was a loop that may wait for others. */
    const lw_op *(*end)(lw_gang *gang, uint32_t spent);
    /* These lanes of a warp go on with op by the interpreter. The warps behind it are as they were, and what is behind
     * the block, too, of this warp: `own`. */
    const lw_op *(*leave)(lw_gang *gang, const lw_op *op, const lw_pass *pass, uint32_t warp, uint32_t lanes, bool own);
} lw_core;
extern const lw_core lw_core_calls;

typedef struct lw_jit {
    uint32_t gang_bytes, op_bytes,
        lane_count; /* of the headers that the compiler was built with: the core's own, or the two do not fit */
    /* Compiles a linked program for blocks of a layout, and installs the code; *bound: it is for no others. NULL: it
     * cannot; `why` says so, and the program must be linked again. The program must outlive the code. Threads: any, one
     * at a time for one program. */
    lw_compiled *(*compile)(lw_program *program, const lw_level *level, lw_layout layout, bool *bound, lw_text *why);
    void (*drop)(lw_compiled *code); /* nothing may run it any more */
    /* What LLVM makes of a program, as text, for `lanewise dump`: in its own language, or in the machine's. False: as
     * above. */
    bool (*print)(lw_program *program, const lw_level *level, lw_layout layout, bool machine, lw_text *out,
                  lw_text *why);
} lw_jit;

#define LW_JIT_SYMBOL "lanewise_jit"
typedef const lw_jit *lw_jit_open(const lw_core *core); /* what the library exports under that name */

#endif
