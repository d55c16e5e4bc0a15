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

typedef struct lw_jit {
    uint32_t gang_bytes, op_bytes,
        lane_count; /* of the headers that the compiler was built with: the core's own, or the two do not fit */
    /* Compiles a linked program and installs the code. NULL: it cannot; `why` says so, and the program must be linked
     * again. The program must outlive the code. Threads: any, one at a time for one program. */
    lw_compiled *(*compile)(lw_program *program, const lw_level *level, lw_text *why);
    void (*drop)(lw_compiled *code); /* nothing may run it any more */
    /* What LLVM makes of a program, as text, for `lanewise dump --stage llvm`. False: as above. */
    bool (*print)(lw_program *program, const lw_level *level, lw_text *out, lw_text *why);
} lw_jit;

#define LW_JIT_SYMBOL "lanewise_jit"
typedef const lw_jit *lw_jit_open(void); /* what the library exports under that name */

#endif
