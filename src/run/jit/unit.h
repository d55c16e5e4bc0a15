/* unit.h: inside the compiler.   facts (what is live, what is uniform) → function (entries, blocks, branches) → region (loops over lanes)
 * → body (one operation) → session (LLVM: passes, machine code)
 *
 * A unit is the code of one function. Its text is cut into segments: a region of operations that are compiled into one loop over the
 * lanes, a chunk of them at a time, with everything in registers; or a single operation whose step is called. */
#ifndef LW_UNIT_H
#define LW_UNIT_H

#include "middle/facts.h"
#include "run/jit/jit.h"

#include <llvm-c/Core.h>

/* ---- facts.c ------------------------------------------------------------------------------------------------------- */

/* What becomes of an operation. */
typedef enum lw_kind {
    LW_KIND_block,  /* counts, and goes on */
    LW_KIND_body,   /* element by element: part of a region */
    LW_KIND_branch, /* bra, bra_if */
    LW_KIND_step,   /* its step is called */
} lw_kind;

/* A slot, by its place in the frame. Slots of different sizes never overlap, so a place says it all. */
typedef struct lw_cell {
    uint32_t at;
    uint8_t bits;     /* of an element: 1, 16, 32, 64 */
    bool is_constant; /* filled when a frame is made */
    uint64_t value;
} lw_cell;

enum { LW_NO_CELL = UINT32_MAX, LW_UNIT_OPS = 16384, LW_UNIT_BLOCKS = 1024, LW_UNIT_WORDS = 8 << 20, LW_REGION_OPS = 128, LW_VECTOR_OPS = 32 };

typedef struct lw_unit {
    lw_program *program;
    lw_code *code;
    const lw_level *level;
    uint8_t *kinds;         /* lw_kind of each operation */
    bool *starts;           /* first operation of a segment */
    bool *entered;          /* where the dispatch loop may come in */
    uint32_t *cell_at;      /* by place / 16: number of a cell, or LW_NO_CELL */
    lw_cell *cells;
    uint32_t cell_count, words; /* words of a set of cells */
    uint64_t *live;         /* per operation that starts a segment: cells that are read before they are written from there on */
    uint64_t *uniform;      /* likewise: cells that have the same value in all lanes */
    uint32_t *set_of;       /* per operation: number of its sets, or LW_NO_CELL */
    uint32_t set_count;
    uint32_t shapes[2];     /* of vector registers: values of gang->lanes that there is compiled code for; 0: no more */

    /* what LLVM knows, session.c */
    struct lw_build *build;
} lw_unit;

/* False: no memory, or too large to be worth it. Release with lw_unit_free in either case. */
bool lw_unit_study(lw_unit *unit);
void lw_unit_free(lw_unit *unit);
static inline uint32_t lw_unit_cell(const lw_unit *u, uint32_t at) { return at == LW_NO_SLOT ? LW_NO_CELL : u->cell_at[at / 16]; }
static inline uint8_t lw_type_bits(lw_lane_type type) { return lw_lane_types[type].slot; } /* of an element in its slot */
const uint64_t *lw_unit_live(const lw_unit *u, uint32_t op);
const uint64_t *lw_unit_uniform(const lw_unit *u, uint32_t op);
/* The operations of the region that begins at op: up to, not including. */
uint32_t lw_unit_region_end(const lw_unit *u, uint32_t op);
/* One that gives one value for all lanes where its operands are such. */
bool lw_op_can_be_scalar(const lw_unit *u, const lw_op *op);

/* ---- session.c ------------------------------------------------------------------------------------------------------- */

typedef enum lw_alias { LW_ALIAS_gang, LW_ALIAS_slots, LW_ALIAS_memory } lw_alias; /* three kinds of memory, which never overlap */

typedef struct lw_build {
    LLVMContextRef context;
    LLVMModuleRef module, lanes; /* lanes.c; functions are read from it when they are called for */
    LLVMBuilderRef at;
    LLVMValueRef function, gang, op; /* its parameters: pointers to bytes */
    LLVMBasicBlockRef top;           /* where stack slots are made */
    uint32_t chunk; /* lanes that are computed side by side, in vectors */
    LLVMTypeRef i1, i8, i16, i32, i64, bytes; /* bytes: a pointer */
    LLVMTypeRef step_type, interpret_type, spread_type; /* of functions that compiled code calls */
    bool failed;                     /* no memory */
    LLVMValueRef aliases[3];
    uint32_t alias_kind;
    LLVMBasicBlockRef *entries;      /* per operation that starts a segment, and per block: its code. Uniform cells are in `scalars` */
    LLVMValueRef counted;            /* a bit on the stack: the block at hand has been entered by the interpreter */
    LLVMBasicBlockRef *leaves;       /* per operation: where it is left to the interpreter */
    LLVMValueRef *scalars;           /* per cell: the stack slot of its value while it is uniform */
} lw_build;

LLVMTypeRef lw_build_int(const lw_build *b, uint32_t bits);
LLVMTypeRef lw_build_vector(const lw_build *b, uint32_t bits); /* of a chunk of lanes */
LLVMValueRef lw_build_number(const lw_build *b, uint32_t bits, uint64_t value);
LLVMValueRef lw_build_address(const lw_build *b, const void *host);
LLVMValueRef lw_build_stack(const lw_build *b, LLVMTypeRef type);
/* Memory at bytes behind a pointer. */
LLVMValueRef lw_build_load(const lw_build *b, LLVMTypeRef type, LLVMValueRef base, uint64_t offset, uint32_t align, lw_alias alias);
void lw_build_store(const lw_build *b, LLVMValueRef value, LLVMValueRef base, uint64_t offset, uint32_t align, lw_alias alias);
/* A pointer to that many bytes, so aligned, which may be read at any time. */
LLVMValueRef lw_build_pointer(const lw_build *b, LLVMValueRef base, uint64_t offset, uint64_t bytes, uint64_t align);
static inline LLVMValueRef lw_build_regs(const lw_build *b, const lw_unit *u) {
    return lw_build_pointer(b, b->gang, offsetof(lw_gang, regs), u->code->frame_bytes + LW_SLOT_64, 64);
}
static inline LLVMValueRef lw_build_cta(const lw_build *b) {
    return lw_build_pointer(b, b->gang, offsetof(lw_gang, cta), sizeof(lw_cta), _Alignof(lw_cta));
}
static inline LLVMValueRef lw_build_grid(const lw_build *b) {
    return lw_build_pointer(b, lw_build_cta(b), offsetof(lw_cta, grid), sizeof(lw_grid), _Alignof(lw_grid));
}
static inline LLVMValueRef lw_build_params(const lw_build *b, const lw_unit *u) {
    return lw_build_pointer(b, lw_build_grid(b), offsetof(lw_grid, params), u->program->param_bytes, 1);
}
/* `bytes` behind a pointer. */
LLVMValueRef lw_build_move(const lw_build *b, LLVMValueRef base, LLVMValueRef bytes);
#define LW_GANG_LOAD(b, type, field) lw_build_load(b, type, (b)->gang, offsetof(lw_gang, field), sizeof(((lw_gang *)0)->field), LW_ALIAS_gang)
LLVMValueRef lw_build_is(const lw_build *b, LLVMIntPredicate how, LLVMValueRef x, LLVMValueRef y); /* a comparison of integers */
LLVMValueRef lw_build_call(const lw_build *b, LLVMTypeRef type, uintptr_t function, LLVMValueRef *arguments); /* a function of the host */
LLVMBasicBlockRef lw_build_block(const lw_build *b, const char *name);
/* Goes on in a new block where the condition holds, and to `other` where not. */
void lw_build_unless(const lw_build *b, LLVMValueRef condition, LLVMBasicBlockRef other);

/* What compiled code calls: the interpreter's steps from an operation on, until there is compiled code again; and all lanes of a slot. */
const lw_op *lw_jit_interpret(lw_gang *gang, const lw_op *op, lw_step *const *steps);
void lw_jit_spread(char *slot, uint32_t bits, uint64_t value);

/* ---- function.c: entries, blocks, branches ----------------------------------------------------------------------------- */

void lw_emit_function(lw_unit *u);
/* Where the interpreter goes on with operation n. */
LLVMBasicBlockRef lw_emit_leave(lw_unit *u, uint32_t n);
/* On the way to operation `to`: puts into slots what is uniform here and not there. */
void lw_emit_settle(lw_unit *u, const uint64_t *uniform, uint32_t to);
/* Goes on with operation n, at the builder's place. */
void lw_emit_go_on(lw_unit *u, uint32_t n);

/* ---- region.c, body.c --------------------------------------------------------------------------------------------------- */

enum { LW_CHUNKS = LW_GANG_LANES / 8 };

/* Values of cells within a region. */
typedef struct lw_values {
    LLVMValueRef *scalar;    /* per cell: the same in all lanes, or NULL */
    LLVMValueRef *vector[LW_CHUNKS]; /* per cell: of each chunk at hand, where it was computed in the region; counts more than `scalar` */
    uint32_t chunks;         /* at hand */
    LLVMValueRef regs, base; /* of the frame; number of the first lane of the first chunk */
    LLVMValueRef large;      /* stack slot of a bit a lane: shift counts that need the interpreter; or NULL */
} lw_values;

/* The region of operations first to end, and what follows it. */
void lw_emit_region(lw_unit *u, uint32_t first, uint32_t end);

/* The value of a slot that is the same for all lanes, or NULL. */
LLVMValueRef lw_value_scalar(lw_unit *u, lw_values *v, uint32_t at);
LLVMValueRef lw_value_vector(lw_unit *u, lw_values *v, uint32_t at, uint32_t chunk);
void lw_value_keep(lw_unit *u, const lw_values *v, uint32_t cell, LLVMValueRef value, uint32_t chunk); /* in its slot */
LLVMValueRef lw_value_splat(const lw_build *b, LLVMValueRef scalar);

/* An operation whose operands are all scalars and that gives one: its result, or NULL. */
LLVMValueRef lw_body_scalar(lw_unit *u, const lw_op *op, lw_values *v);
/* Any other, for one chunk. row: where lane 0's element of its row is. */
void lw_body_vector(lw_unit *u, const lw_op *op, lw_values *v, uint32_t chunk, LLVMValueRef row);

#endif
