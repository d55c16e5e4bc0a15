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

typedef struct lw_bytes {
    const char *at; /* NULL: nothing */
    size_t size;
} lw_bytes;

/* ---- One warp at a time: interp/pass.c, interp/runs.c ---------------------------------------------------------- */

enum { LW_PASS_PLACES = 16, LW_GANG_WARPS = LW_GANG_LANES / LW_WARP_LANES };

/* Warps that compiled code takes over, one behind the other. Masks are of a warp's lanes. */
typedef struct lw_pass {
    uint32_t lanes[LW_GANG_WARPS];                 /* that go on at a block … */
    uint32_t ready[LW_PASS_PLACES][LW_GANG_WARPS]; /* … and that are ready at those behind it */
    uint32_t block, count;
    const uint32_t *behind;
    const uint32_t *entries; /* of the compiled code: for each block where it is entered the place in here from which on
                                there are the count of the blocks behind, and these */
    lw_step *step;           /* the compiled code itself … */
    lw_gang *gang;           /* … and who goes on by it when the pass has ended; NULL: nobody */
    uint32_t warps;          /* of that one; a bit each */
    uint64_t trusted;        /* not 0: what was a row in the frame, is */
    uint64_t folds;          /* not 0: rows may be folded there where a warp stops as a whole */
    /* Of each warp that has gone as far as it can: so many blocks where lanes of it are ready now. */
    uint32_t rest_count[LW_GANG_WARPS];
    struct lw_rest {
        uint32_t block, lanes;
    } rests[LW_GANG_WARPS][LW_PASS_PLACES];
} lw_pass;

/* A register that is a row in each warp: in its width, a base and steps for the bits of the lane's number. Each run of
 * 1 << run lanes has a base of its own; the steps from there on are 0. */
enum { LW_WARP_BITS = 5 };
typedef struct lw_row {
    uint32_t home, bits; /* of its slot; of an element */
    uint32_t run;
    int32_t step[LW_WARP_BITS];
    uint32_t who; /* bits: of the lanes that go on, and of those ready at each of the blocks behind */
} lw_row;
static inline size_t lw_row_place(const lw_row *row, uint32_t warp) { /* of the warp's first lane, in the frame */
    return row->home + (size_t)warp * LW_WARP_LANES * row->bits / 8;
}

/* Rows of a whole warp that has come to a barrier, or to another piece of the text, in a run (interp/runs.c), and of
 * which the first lane of each run of lanes alone has its element in the frame: of all that live there these. One that
 * all lanes have there already may be among them.
 *
 * They are unfolded before rows are put there, and before anybody reads them but compiled code, which reads the first
 * lanes. What is no row goes there without that: it has no slot of theirs. Nor do steps ask that read a row (`lend`) or
 * give one (`take`): it is as it was, or has been written since, and then it is put there once more, behind an
 * unfolding, wherever lanes go on by the interpreter. */
typedef struct lw_fold {
    uint32_t count;
    lw_row rows[];
} lw_fold;

/* A shuffle of one warp, beside the frame: operands as the operation has them, and results. */
typedef struct lw_trade {
    _Alignas(64) uint32_t to[LW_WARP_LANES];
    uint32_t from[LW_WARP_LANES], b[LW_WARP_LANES], c[LW_WARP_LANES];
    uint32_t in_range; /* a bit a lane */
} lw_trade;

/* What is compiled for each CPU level: run/interp/level/pass.c. */
typedef struct lw_warp_calls {
    /* Rows into the slots of some lanes of a warp, where nothing is folded then; bases: of all of them, one behind the
     * other. */
    void (*put)(lw_gang *gang, uint32_t warp, const lw_row *rows, uint32_t count, const uint64_t *bases,
                uint32_t lanes);
    /* The same for a step to read, in all lanes; what is folded stays so. */
    void (*lend)(lw_gang *gang, uint32_t warp, const lw_row *rows, uint32_t count, const uint64_t *bases,
                 uint32_t lanes);
    /* The bases of one that a step has just given, each from the first of the lanes in its run; of none, from any. */
    void (*take)(const char *regs, uint32_t warp, const lw_row *row, uint32_t lanes, uint64_t *bases);
    /* The bases of all of them. False: the lanes that these are of (`who`) do not have such rows. Nothing is folded
     * then. */
    bool (*take_all)(lw_gang *gang, const lw_pass *pass, uint32_t warp, const lw_row *rows, uint32_t count,
                     uint64_t *bases);
    /* ld and st of some lanes of a warp, at least one, which has the slots for itself: lanes that do not execute get
     * anything. False: they trapped. */
    bool (*load)(lw_gang *gang, const lw_op *op, uint32_t warp, uint32_t lanes);
    bool (*store)(lw_gang *gang, const lw_op *op, uint32_t warp, uint32_t lanes);
    /* By addresses in a row, which need not be in their slot. */
    bool (*load_row)(lw_gang *gang, const lw_op *op, uint32_t warp, uint32_t lanes, const lw_row *row,
                     const uint64_t *bases);
    bool (*store_row)(lw_gang *gang, const lw_op *op, uint32_t warp, uint32_t lanes, const lw_row *row,
                      const uint64_t *bases);
    /* mode: lw_shuffle_mode. Lanes that do not execute get anything. Returns those that would read of such lanes; then
     * they got anything, too. interp/level/shuffle.c */
    uint32_t (*shuffle)(lw_trade *trade, uint32_t mode, uint32_t lanes);
    void (*unfold)(lw_gang *gang, uint32_t warp); /* what is folded, which there is */
} lw_warp_calls;
/* All of them, by their names. */
#define LW_WARP_CALLS \
    WARP(put) \
    WARP(lend) \
    WARP(take) WARP(take_all) WARP(load) WARP(store) WARP(load_row) WARP(store_row) WARP(shuffle) WARP(unfold)
/* The same by the interpreter's step. */
bool lw_pass_move(lw_gang *gang, const lw_op *op, uint32_t warp, uint32_t lanes);

/* What compiled code asks of the core. */
typedef struct lw_core {
    /* The gang has entered `block`, and is at its operation op. Takes the lanes of its warps over, and those that are
     * ready at the blocks behind, if that is all there are of each warp in the frame. The block's instructions are no
     * longer counted. Returns a bit for each warp; 0: nothing was done. The pass has got `entries`. */
    uint32_t (*begin)(lw_gang *gang, const lw_op *op, uint32_t block, lw_pass *pass);
    /* A step for some lanes of one warp. False: it trapped. */
    bool (*step)(lw_gang *gang, const lw_op *op, lw_step *step, uint32_t warp, uint32_t lanes);
    /* They are ready there, which lw_pass has no room for. */
    void (*pend)(lw_gang *gang, uint32_t block, uint32_t warp, uint32_t lanes);
    /* Everybody is ready somewhere. spent: 0, or 2 * block + 1 where a turn's budget was used up on the way back to
     * it, and the highest bit where it was a loop that may wait for others. Sets pass->gang: its pass has begun; where
     * it is NULL the code returns what this does to the dispatch loop, which is at `turn`'s. */
    const lw_op *(*end)(lw_gang *gang, uint32_t spent, lw_pass *pass, const lw_gang *turn);
    /* These lanes of a warp go on with op by the interpreter. The warps behind it are as they were, and what is behind
     * the block, too, of this warp: `own`. */
    const lw_op *(*leave)(lw_gang *gang, const lw_op *op, const lw_pass *pass, uint32_t warp, uint32_t lanes, bool own);
    /* All warps have stopped, each as the whole that it was in the beginning. The next gang of a run, which has begun a
     * pass with the same warps; NULL: `end` must follow. interp/runs.c */
    lw_gang *(*run_on)(lw_gang *gang, lw_pass *pass);
    /* The gang goes on at op: what the code returns to the dispatch loop, which is at `turn`'s. */
    const lw_op *(*hand)(lw_gang *gang, const lw_op *op, const lw_gang *turn);
} lw_core;
/* All of them, by their names. */
#define LW_CORE_CALLS CORE(begin) CORE(step) CORE(pend) CORE(end) CORE(leave) CORE(run_on) CORE(hand)
extern const lw_core lw_core_calls;

typedef struct lw_jit {
    uint32_t gang_bytes, op_bytes, pass_bytes,
        lane_count; /* of the headers that the compiler was built with: the core's own, or the two do not fit */
    /* What its code depends on besides the program and the level: which build of the compiler, and of LLVM. NULL: that
     * cannot be told, and code is good for this process only. */
    const char *(*build)(void);
    /* Compiles a linked program for blocks of a layout, and installs the code; *bound: it is for no others. NULL: it
     * cannot; `why` says so, and the program must be linked again. The program must outlive the code. Threads: any, one
     * at a time for one program.
     * keep: gets bytes that `load` makes the same of, in any process, for an equal program; NULL: nobody wants them. */
    lw_compiled *(*compile)(lw_program *program, const lw_level *level, lw_layout layout, bool *bound, lw_text *keep,
                            lw_text *why);
    lw_compiled *(*load)(lw_program *program, const lw_level *level, lw_bytes kept, bool *bound, lw_text *why);
    void (*drop)(lw_compiled *code); /* nothing may run it any more */
    /* What LLVM makes of a program, as text, for `lanewise dump`: in its own language, or in the machine's. False: as
     * above. */
    bool (*print)(lw_program *program, const lw_level *level, lw_layout layout, bool machine, lw_text *out,
                  lw_text *why);
} lw_jit;

#define LW_JIT_SYMBOL "lanewise_jit"
typedef const lw_jit *lw_jit_open(const lw_core *core); /* what the library exports under that name */

#endif
