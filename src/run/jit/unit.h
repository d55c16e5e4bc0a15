/* unit.h: inside the compiler.   plan (regions, entries, what is live and uniform where) → function (entries, blocks,
 * branches) → region (loops over lanes) → body (one operation) → session (LLVM: passes, machine code);   frame: lanes
 * go to the interpreter and come back
 *
 * A unit is the code of one function of a program: operations over virtual registers. They are cut into segments: a
 * region of operations that are compiled into one loop over the lanes, a chunk of them at a time, with everything in
 * registers; or a single operation whose step is called. */
#ifndef LW_UNIT_H
#define LW_UNIT_H

#include "middle/facts.h"
#include "run/jit/jit.h"

#include <llvm-c/Core.h>
#include <llvm-c/LLJIT.h>

/* ---- plan.c ---------------------------------------------------------------------------------------------------- */

/* What becomes of an operation. */
typedef enum lw_kind {
    LW_KIND_block,  /* counts, and goes on */
    LW_KIND_body,   /* element by element: part of a region */
    LW_KIND_branch, /* bra, bra_if */
    LW_KIND_step,   /* its step is called */
} lw_kind;

/* A region has no more operations (vector registers: LW_VECTOR_OPS), and no more instructions of lane functions for a
 * chunk: what LLVM takes for one block grows faster than the block. */
enum {
    LW_UNIT_OPS = 16384,
    LW_UNIT_BLOCKS = 1024,
    LW_UNIT_WORDS = 8 << 20,
    LW_PROGRAM_OPS = 16384, /* of all functions; of a program that has more those are compiled that … */
    LW_NEAR_OPS = 4096,     /* … are nearest to the entry, with so many: a few seconds */
    LW_REGION_OPS = 128,
    LW_VECTOR_OPS = 32,
    LW_REGION_WEIGHT = 2000
};

typedef struct lw_unit {
    lw_program *program;
    const lw_code *code; /* over virtual registers */
    const lw_level *level;
    lw_layout layout; /* of the blocks that it is for */
    /* Operations in the order in which they are done; numbers of operations are places in it. */
    uint32_t count;
    uint32_t *order;    /* number in the code */
    uint32_t *block_at; /* per block: its first operation */
    bool *whole;        /* in front of it nothing is begun that the interpreter does at once */
    bool *guarded;
    uint8_t *kinds; /* lw_kind of each operation */
    bool *starts;   /* first operation of a segment */
    bool *entered;  /* where the dispatch loop may come in */
    uint32_t words; /* of a set of registers */
    uint64_t
        *live; /* per operation that starts a segment: registers that are read before they are written from there on */
    uint64_t *uniform; /* likewise: registers that have the same value in all lanes */
    uint32_t *set_of;  /* per operation: number of its sets, or LW_NO_SLOT */
    uint32_t set_count;
    uint64_t *homed;    /* registers whose homes are up to date wherever they are live, also while they are uniform */
    uint32_t shapes[2]; /* of vector registers: values of gang->lanes that there is compiled code for; 0: no more */

    /* what LLVM knows, session.c */
    struct lw_build *build;
} lw_unit;

/* False: no memory, or too large to be worth it. Release with lw_unit_free in either case. */
bool lw_unit_study(lw_unit *unit);
void lw_unit_free(lw_unit *unit);
static inline const lw_op *lw_unit_op(const lw_unit *u, uint32_t n) { return &u->code->ops[u->order[n]]; }
static inline bool lw_unit_writes(const lw_unit *u, uint32_t n, uint32_t reg) {
    LW_EACH_WRITTEN(u->code, lw_unit_op(u, n), at) if (*at == reg) return true;
    return false;
}
/* The operations of a block: up to, not including. */
static inline uint32_t lw_unit_block_end(const lw_unit *u, uint32_t block) {
    return block + 1 < u->code->block_count ? u->block_at[block + 1] : u->count;
}
/* Of an element of a register. */
static inline uint32_t lw_unit_bits(const lw_unit *u, uint32_t reg) {
    return lw_class_bits(u->code->registers[reg].class);
}
const uint64_t *lw_unit_live(const lw_unit *u, uint32_t op);
const uint64_t *lw_unit_uniform(const lw_unit *u, uint32_t op);
/* A uniform register that steps read, or that lives where lanes wait, has its value in its home from where it is
 * computed; others only where they are left to the interpreter. */
static inline bool lw_unit_homed(const lw_unit *u, uint32_t reg) { return u->homed[reg / 64] >> reg % 64 & 1; }
/* What is uniform in front of operation `first` and not written up to `end`: a set to be freed. NULL: no memory, which
 * is noted. */
uint64_t *lw_unit_kept(const lw_unit *u, uint32_t first, uint32_t end);
/* The operations of the region that begins at op: up to, not including. */
uint32_t lw_unit_region_end(const lw_unit *u, uint32_t op);

/* ---- choose.c -------------------------------------------------------------------------------------------------- */

/* Of each function, whether it is compiled: to be freed. NULL: no memory. */
bool *lw_program_choose(const lw_program *program);
/* There are some that are not, these or too large ones. */
bool lw_program_leaves(const lw_program *program);
static inline bool lw_unit_is_large(const lw_code *code) {
    return code->op_count > LW_UNIT_OPS || code->block_count > LW_UNIT_BLOCKS;
}

/* ---- session.c ------------------------------------------------------------------------------------------------- */

typedef enum lw_alias {
    LW_ALIAS_gang,
    LW_ALIAS_slots,
    LW_ALIAS_memory
} lw_alias; /* three kinds of memory, which never overlap */

typedef struct lw_build {
    LLVMContextRef context;
    LLVMModuleRef module; /* with the functions of lanes.c that the program calls for */
    LLVMBuilderRef at;
    LLVMValueRef function, gang, op;          /* its parameters: pointers to bytes */
    LLVMBasicBlockRef top;                    /* where stack slots are made */
    uint32_t chunk;                           /* lanes that are computed side by side, in vectors */
    LLVMTypeRef i1, i8, i16, i32, i64, bytes; /* bytes: a pointer */
    LLVMTypeRef step_type, interpret_type, spread_type, pass_begin_type, pass_step_type, pass_move_type,
        pass_move_row_type, pass_pend_type, pass_end_type, pass_leave_type, pass_hand_type, pass_run_on_type,
        row_put_type, row_take_type, row_take_all_type, trade_type; /* of functions that compiled code calls */
    bool failed;                                                    /* no memory */
    LLVMValueRef aliases[3];
    uint32_t alias_kind;
    LLVMBasicBlockRef
        *entries; /* per operation that starts a segment, and per block: its code. Uniform registers are in `scalars` */
    LLVMValueRef counted;      /* a bit on the stack: the block at hand has been entered by the interpreter */
    LLVMBasicBlockRef *wholes; /* likewise: where a region goes on once it is known that all of the gang executes */
    LLVMBasicBlockRef *leaves; /* per operation: where it is left to the interpreter, */
    LLVMBasicBlockRef left;    /* by way of this block … */
    LLVMValueRef left_at;      /* … and this place on the stack */
    LLVMValueRef *scalars;     /* per register: the stack slot of its value while it is uniform, or NULL */
    LLVMValueRef *values;      /* room for lw_values, all NULL between regions */
    bool communicates;         /* the program orders accesses with those of others, or has atomics */
} lw_build;

LLVMTypeRef lw_build_int(const lw_build *b, uint32_t bits);
LLVMTypeRef lw_build_vector(const lw_build *b, uint32_t bits); /* of a chunk of lanes */
LLVMValueRef lw_build_number(const lw_build *b, uint32_t bits, uint64_t value);
LLVMValueRef lw_build_words(const lw_build *b, const char *name, LLVMValueRef *words, uint32_t count); /* constant */
LLVMValueRef lw_build_stack(const lw_build *b, LLVMTypeRef type);
/* Memory at bytes behind a pointer. */
LLVMValueRef lw_build_load(const lw_build *b, LLVMTypeRef type, LLVMValueRef base, uint64_t offset, uint32_t align,
                           lw_alias alias);
void lw_build_store(const lw_build *b, LLVMValueRef value, LLVMValueRef base, uint64_t offset, uint32_t align,
                    lw_alias alias);
/* A pointer to that many bytes, so aligned, which may be read at any time. */
LLVMValueRef lw_build_pointer(const lw_build *b, LLVMValueRef base, uint64_t offset, uint64_t bytes, uint64_t align);
static inline LLVMValueRef lw_build_cta(const lw_build *b) {
    return lw_build_pointer(b, b->gang, offsetof(lw_gang, cta), sizeof(lw_cta), _Alignof(lw_cta));
}
static inline LLVMValueRef lw_build_grid(const lw_build *b) {
    return lw_build_pointer(b, lw_build_cta(b), offsetof(lw_cta, grid), sizeof(lw_grid), _Alignof(lw_grid));
}
static inline LLVMValueRef lw_build_params(const lw_build *b, const lw_unit *u) {
    return lw_build_pointer(b, lw_build_grid(b), offsetof(lw_grid, params), u->program->param_bytes, 1);
}
/* The place of the k-th of some elements. */
LLVMValueRef lw_build_element(const lw_build *b, LLVMTypeRef type, LLVMValueRef array, uint32_t k);
LLVMValueRef lw_build_element_at(const lw_build *b, LLVMTypeRef type, LLVMValueRef array, LLVMValueRef k);
/* `bytes` behind a pointer. */
LLVMValueRef lw_build_move(const lw_build *b, LLVMValueRef base, LLVMValueRef bytes);
#define LW_GANG_LOAD(b, type, field) \
    lw_build_load(b, type, (b)->gang, offsetof(lw_gang, field), sizeof(((lw_gang *)0)->field), LW_ALIAS_gang)
LLVMValueRef lw_build_gang_mask(const lw_build *b, size_t offset);
LLVMValueRef lw_unit_scalar(lw_unit *u, uint32_t reg); /* its stack slot */
LLVMValueRef lw_build_is(const lw_build *b, LLVMIntPredicate how, LLVMValueRef x,
                         LLVMValueRef y); /* a comparison of integers */
LLVMValueRef lw_build_call(const lw_build *b, LLVMTypeRef type, LLVMValueRef function, LLVMValueRef *arguments);
/* llvm.cttz, llvm.ctlz, llvm.ctpop. */
LLVMValueRef lw_build_bits(const lw_build *b, const char *name, LLVMValueRef value);
/* A loop of so many rounds: begins it, and has the number of the round; ends it. */
typedef struct lw_build_rounds {
    LLVMBasicBlockRef before, loop;
    LLVMValueRef round;
} lw_build_rounds;
lw_build_rounds lw_build_begin_rounds(const lw_build *b);
void lw_build_end_rounds(const lw_build *b, const lw_build_rounds *rounds, uint64_t count);
/* llvm.masked.load and llvm.masked.store of guest memory. */
LLVMValueRef lw_build_masked(const lw_build *b, const char *name, LLVMTypeRef type, LLVMValueRef place,
                             LLVMValueRef *arguments, uint32_t count, lw_alias alias);
uint64_t lw_build_length(LLVMValueRef function); /* its instructions */
LLVMBasicBlockRef lw_build_block(const lw_build *b, const char *name);
/* Goes on in a new block where the condition holds, and to `other` where not. Returns the branch. */
LLVMValueRef lw_build_if(const lw_build *b, LLVMValueRef condition, LLVMBasicBlockRef other);
/* A branch goes its first way nearly always: what lives across a call on the other way is kept for it there. */
void lw_build_often(const lw_build *b, LLVMValueRef branch);
void lw_build_unless(const lw_build *b, LLVMValueRef condition, LLVMBasicBlockRef other); /* both */

/* ---- host.c: what compiled code knows of the process, by names, so that any process can run it ------------------ */

/* lw_jit_interpret, lw_jit_spread, and what the core and the level have. */
#define CORE(name) LW_HOST_##name,
#define WARP(name) LW_HOST_warp_##name,
typedef enum lw_host { LW_HOST_interpret, LW_HOST_spread, LW_CORE_CALLS LW_WARP_CALLS LW_HOSTS } lw_host;
#undef CORE
#undef WARP
LLVMValueRef lw_host_call(const lw_build *b, lw_host which, LLVMTypeRef type, LLVMValueRef *arguments);
LLVMValueRef lw_host_step(const lw_build *b, uint16_t code); /* the level's, for an operation code */
LLVMValueRef lw_host_steps(const lw_build *b);               /* the table of all of them */
LLVMValueRef lw_host_ops(const lw_build *b, const lw_program *program,
                         uint32_t index); /* where the interpreter's operations of a function begin */
/* The names that an object asks for get their places in this process. False: `why`. */
bool lw_host_define(LLVMOrcLLJITRef code, LLVMMemoryBufferRef object, const lw_core *core, const lw_program *program,
                    const lw_level *level, lw_text *why);

/* What compiled code calls: the interpreter's steps from an operation on, until there is compiled code again; and all
 * lanes of a slot, where that is rare enough not to be inlined. */
const lw_op *lw_jit_interpret(lw_gang *gang, const lw_op *op, lw_step *const *steps);
void lw_jit_spread(char *slot, uint32_t bits, uint64_t value);

/* ---- rescue.c: where LLVM gives up, the process goes on -------------------------------------------------------- */

/* Does work that LLVM is needed for. NULL: done; else why LLVM gave up, now or before: then nobody may enter it again.
 * The text is good until the thread's next call. */
const char *lw_rescue_run(void (*work)(void *argument), void *argument);
bool lw_rescue_lost(void);

/* ---- frame.c: lanes go over to the interpreter, and come back -------------------------------------------------- */

bool lw_frame_order(lw_unit *u);                        /* count, order, block_at, whole. False: no memory */
uint32_t lw_frame_number(const lw_unit *u, uint32_t n); /* of the interpreter's operation */
LLVMValueRef lw_frame_op(const lw_unit *u, uint32_t n); /* its address */
LLVMValueRef lw_frame_entered(const lw_unit *u);        /* the number of the one that the dispatch loop came to */
int64_t lw_frame_branch_cost(const lw_unit *u, uint32_t n);
/* The registers of the frame at hand; the elements of a register in a chunk of lanes, and all of a predicate. base:
 * number of the first lane of the first chunk. */
LLVMValueRef lw_frame_regs(const lw_unit *u);
LLVMValueRef lw_frame_load(const lw_unit *u, LLVMValueRef regs, LLVMValueRef base, uint32_t reg, uint32_t chunk);
void lw_frame_store(const lw_unit *u, LLVMValueRef regs, LLVMValueRef base, uint32_t reg, uint32_t chunk,
                    LLVMValueRef value);
/* Elements where a condition holds, of 32 bits or more. */
void lw_frame_store_some(const lw_unit *u, LLVMValueRef regs, LLVMValueRef base, uint32_t reg, uint32_t chunk,
                         LLVMValueRef value, LLVMValueRef on);
uint32_t lw_frame_home(const lw_unit *u, uint32_t reg);          /* of its slot */
LLVMValueRef lw_frame_bits(const lw_unit *u, LLVMValueRef word); /* of a chunk, as conditions */
LLVMValueRef lw_frame_element(const lw_unit *u, LLVMValueRef regs, uint32_t reg, LLVMValueRef lane);
/* Slots as numbers, of so many: registers that do not live at a time may have one. */
uint32_t lw_frame_places(const lw_unit *u);
uint32_t lw_frame_place(const lw_unit *u, uint32_t reg);
bool lw_frame_has(const lw_unit *u, uint32_t reg); /* a place for it */
LLVMValueRef lw_frame_predicate(const lw_unit *u, uint32_t reg);
/* What is uniform in front of operation n, from the frame; and on the way to operation `to`, what is uniform here and
 * not there, into it. */
void lw_frame_take(lw_unit *u, uint32_t n);
void lw_frame_settle(lw_unit *u, const uint64_t *uniform, uint32_t to);
/* Some register is uniform in front of operation n and not in the frame. */
bool lw_frame_gives(const lw_unit *u, uint32_t n);
/* The interpreter goes on with an operation of its own. */
void lw_frame_leave(const lw_unit *u, LLVMValueRef op);
/* It does this one, and says what comes next. */
LLVMValueRef lw_frame_step(lw_unit *u, uint32_t n);
LLVMValueRef lw_frame_step_address(const lw_unit *u, uint32_t n); /* of the step */
/* All lanes of what is uniform and live in front of operation n, into a frame's registers, where that is seldom done.
 */
void lw_frame_give(lw_unit *u, const uint64_t *uniform, uint32_t n, LLVMValueRef regs);
/* The interpreter goes on with the operation that the dispatch loop came to. */
void lw_frame_refuse(const lw_unit *u);
/* entries: the interpreter's operations where it may come in, LW_NO_SLOT behind the last. */
void lw_frame_install(lw_code *interp, const uint32_t *entries, lw_step *step);

/* ---- function.c: entries, blocks, branches --------------------------------------------------------------------- */

void lw_emit_function(lw_unit *u);
/* Where the interpreter goes on with operation n. */
LLVMBasicBlockRef lw_emit_leave(lw_unit *u, uint32_t n);
LLVMValueRef lw_emit_whole(const lw_build *b); /* whether all lanes of the gang execute */
/* Where a region goes on that begins with operation n, once that is known. */
LLVMBasicBlockRef lw_emit_whole_of(lw_unit *u, uint32_t n);
/* Goes on with operation n, at the builder's place. */
void lw_emit_go_on(lw_unit *u, uint32_t n);

/* ---- region.c, body.c ------------------------------------------------------------------------------------------ */

enum { LW_CHUNKS = LW_GANG_LANES / 8 };

/* Values of registers within a region. */
typedef struct lw_values {
    LLVMValueRef *scalar;            /* per register: the same in all lanes, or NULL */
    LLVMValueRef *before;            /* what `scalar` was in front of the region */
    LLVMValueRef *vector[LW_CHUNKS]; /* per register: of each chunk at hand, where it was computed in the region; counts
                                        more than `scalar` */
    uint32_t chunks;                 /* at hand */
    LLVMValueRef regs, base;         /* of the frame; number of the first lane of the first chunk */
    LLVMValueRef large;              /* stack slot of a bit a lane: shift counts that need the interpreter; or NULL */
} lw_values;

/* The region of operations first to end, and what follows it. */
void lw_emit_region(lw_unit *u, uint32_t first, uint32_t end);

/* The value of a register that is the same for all lanes, or NULL. */
LLVMValueRef lw_value_scalar(lw_unit *u, lw_values *v, uint32_t reg);
LLVMValueRef lw_value_vector(lw_unit *u, lw_values *v, uint32_t reg, uint32_t chunk);
LLVMValueRef lw_value_splat(const lw_build *b, LLVMValueRef scalar);

/* An operation whose operands are all scalars and that gives one: its result, or NULL. */
LLVMValueRef lw_body_scalar(lw_unit *u, const lw_op *op, lw_values *v);
/* What an exchange or an atomic operation calls of two numbers of floating point; LW_LANE_none: it does not. In device
 * memory subnormals count as zero, in shared memory they do not. */
static inline lw_lane_id lw_called_lane(const lw_op *op) {
    if (op->code == LW_OP_redux && op->mode == LW_REDUX_min_f32) return LW_LANE_least_f32;
    if (op->code == LW_OP_redux && op->mode == LW_REDUX_max_f32) return LW_LANE_most_f32;
    if (op->code != LW_OP_atom || op->mode != LW_ATOM_add_float) return LW_LANE_none;
    const lw_memory_form form = lw_memory_unpack(op->c);
    if (form.size == 3) return LW_LANE_add_rn_f64;
    return form.window == LW_WINDOW_shared ? LW_LANE_add_rn_f32 : LW_LANE_add_rn_ftz_f32;
}
/* A lane function, of one lane. */
LLVMValueRef lw_body_call(const lw_build *b, lw_lane_id lane, LLVMValueRef *operands);
uint64_t lw_body_length(const lw_unit *u, const lw_op *op); /* instructions of its lane function, as it was read */
/* Any other, for one chunk. row: where lane 0's element of its row, or byte of its pattern, is. */
void lw_body_vector(lw_unit *u, const lw_op *op, lw_values *v, uint32_t chunk, LLVMValueRef row);

#endif
