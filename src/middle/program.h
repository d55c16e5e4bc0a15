/* program.h: what lowering makes of a text and engines run: blocks of operations over virtual registers, call sites,
 * source places.
 *
 * A gang of up to 128 lanes executes one operation at a time. In the interpreter's code for a program every register
 * has a slot: an array with one element a lane. Slots are reused once a register is dead; that is sound because writes
 * touch active lanes only. */
#ifndef LW_PROGRAM_H
#define LW_PROGRAM_H

#include "base/base.h"
#include "base/lane_id.h"

enum {
    LW_GANG_LANES = 128, /* four warps: the sweet spot of dispatch cost and first-level cache */
    LW_WARP_LANES = 32,
    LW_SLOT_PRED = 16, /* bytes of a slot: one bit a lane, or 128 elements */
    LW_SLOT_16 = 2 * LW_GANG_LANES,
    LW_SLOT_32 = 4 * LW_GANG_LANES,
    LW_SLOT_64 = 8 * LW_GANG_LANES,
};
#define LW_NO_SLOT UINT32_MAX

/* ---- Operation codes ---------------------------------------------------------------------------------- */

typedef enum lw_opcode {
#define OP(name, ...) LW_OP_##name,
#include "ops.def"
    LW_OP_lop3, /* 256 codes: one for each table */
    LW_OP_lane =
        LW_OP_lop3 +
        256, /* then LW_VARIANTS codes for each lane function, by lw_lane_id; a variant's constants are in imm */
    LW_OP_count = LW_OP_lane + LW_VARIANTS * LW_LANE_count
} lw_opcode;
_Static_assert(LW_OP_count - 1 <= UINT16_MAX, "operation codes have 16 bits: room for some 16,000 lane functions");
#define LW_LANE_CODE(lane, variant) ((uint16_t)(LW_OP_lane + LW_VARIANTS * (lane) + (variant)))
/* The lane function of an operation code; LW_LANE_none of all others. */
static inline lw_lane_id lw_code_lane(uint16_t code) {
    return code >= LW_OP_lane && code < LW_OP_count ? (lw_lane_id)((code - LW_OP_lane) / LW_VARIANTS) : LW_LANE_none;
}

enum lw_op_flag_bit {
#define FLAG(name, word) LW_OP_##name##_BIT,
#include "op_modes.def"
    LW_OP_FLAG_BITS
};
enum lw_op_flag {
#define FLAG(name, word) LW_OP_##name = 1 << LW_OP_##name##_BIT,
#include "op_modes.def"
};

/* What lw_op.mode is, of operations that have one. */
typedef enum lw_trap_reason {
#define REASON(name, words) LW_REASON_##name,
#include "op_modes.def"
} lw_trap_reason;
typedef enum lw_atom_op {
#define ATOM(name) LW_ATOM_##name,
#include "op_modes.def"
} lw_atom_op;
typedef enum lw_barrier_kind {
#define BARRIER(name) LW_BARRIER_##name,
#include "op_modes.def"
} lw_barrier_kind;
typedef enum lw_mbarrier_deed {
#define MBARRIER(name) LW_MBARRIER_##name,
#include "op_modes.def"
} lw_mbarrier_deed;
typedef enum lw_shuffle_mode {
#define SHUFFLE(name) LW_SHUFFLE_##name,
#include "op_modes.def"
} lw_shuffle_mode;
typedef enum lw_vote_kind {
#define VOTE(name) LW_VOTE_##name,
#include "op_modes.def"
} lw_vote_kind;
typedef enum lw_match_kind {
#define MATCH(name) LW_MATCH_##name,
#include "op_modes.def"
} lw_match_kind;
typedef enum lw_redux_kind {
#define REDUX(name) LW_REDUX_##name,
#include "op_modes.def"
} lw_redux_kind;

typedef enum lw_trail_mode {
#define TRAIL(name, word) LW_TRAIL_##name,
#include "op_modes.def"
    LW_TRAIL_MODES
} lw_trail_mode;
enum { LW_TRAILS = LW_TRAIL_follows_0 - LW_TRAIL_leaves_0 };
_Static_assert(LW_TRAIL_MODES == 1 + 2 * LW_TRAILS, "whoever follows a trail has one to follow");

/* Flags have the lower bits of 16, a mode the others. */
enum { LW_OP_MODE_BITS = 16 - LW_OP_FLAG_BITS, LW_OP_MODES = 1 << LW_OP_MODE_BITS };
#define LW_MODE_FITS(mode)  _Static_assert((uint32_t)(mode) >> LW_OP_MODE_BITS == 0, "a mode must fit in lw_op");
#define REASON(name, words) LW_MODE_FITS(LW_REASON_##name)
#define ATOM(name)          LW_MODE_FITS(LW_ATOM_##name)
#define BARRIER(name)       LW_MODE_FITS(LW_BARRIER_##name)
#define MBARRIER(name)      LW_MODE_FITS(LW_MBARRIER_##name)
#define SHUFFLE(name)       LW_MODE_FITS(LW_SHUFFLE_##name)
#define VOTE(name)          LW_MODE_FITS(LW_VOTE_##name)
#define MATCH(name)         LW_MODE_FITS(LW_MATCH_##name)
#define REDUX(name)         LW_MODE_FITS(LW_REDUX_##name)
#define TRAIL(name, word)   LW_MODE_FITS(LW_TRAIL_##name)
#include "op_modes.def"

typedef struct lw_op lw_op;
typedef struct lw_gang lw_gang;
/* Executes one operation. Returns the next one, or NULL when the gang must stop here (done, waiting, trapped). */
typedef const lw_op *lw_step(lw_gang *gang, const lw_op *op);
struct lw_matrix_kind; /* run/interp/matrix.h */
typedef void lw_matrix_call(const struct lw_matrix_kind *kind, const void *a, const void *b, const void *c, void *d);

struct lw_op {
    lw_step *step;          /* set when the program is linked with a CPU level */
    uint32_t d, a, b, c, e; /* see isa/ops.def */
    uint16_t code;
    uint16_t flags : LW_OP_FLAG_BITS, mode : LW_OP_MODE_BITS;
    uint64_t imm;
};
_Static_assert(sizeof(lw_op) == 40, "an operation has no room to waste");
/* A warp_sync whose membermask is known and names all lanes of the warp. */
static inline bool lw_names_everyone(const lw_op *sync) {
    return sync->flags & LW_OP_IMM_A && (uint32_t)sync->imm == UINT32_MAX;
}

/* The comparisons that add_setp makes: setp lane function, type, kind. */
/* clang-format off */
#define LW_ADD_SETP(X) \
    X(eq_b32, u32, eq) X(ne_b32, u32, ne) \
    X(lt_u32, u32, lt) X(le_u32, u32, le) X(gt_u32, u32, gt) X(ge_u32, u32, ge) \
    X(lt_s32, s32, lt) X(le_s32, s32, le) X(gt_s32, s32, gt) X(ge_s32, s32, ge)
/* clang-format on */

/* ---- Memory operations -------------------------------------------------------------------------------- */

typedef enum lw_window {
    LW_WINDOW_generic,
    LW_WINDOW_global,
    LW_WINDOW_shared,
    LW_WINDOW_local,
    LW_WINDOW_param,
    LW_WINDOW_const,
    LW_WINDOW_cluster, /* shared memory of any CTA of the cluster */
} lw_window;
enum { LW_WINDOWS = LW_WINDOW_cluster + 1 };
extern const char *const lw_window_names[LW_WINDOWS];

enum { LW_ADDRESS_ROW = 3 };
#define LW_ROW_MOST ((uint64_t)1 << 47) /* no array has more elements */
enum { LW_ROW_HINT_SHIFT = 56 };

/* Packed into lw_op.c. */
typedef struct lw_memory_form {
    uint32_t window : 3;
    uint32_t address : 2;     /* 0: no register (imm is the address), 1: 32-bit register, 2: 64-bit register,
                               * 3: LW_ADDRESS_ROW: as ld_row says */
    uint32_t frame : 1;       /* local: add the frame's local base */
    uint32_t size : 3;        /* log2 of bytes of one element in memory: 0 to 3 */
    uint32_t vector : 2;      /* log2 of elements: 0 to 3 */
    uint32_t slot : 2;        /* register: 1: 16, 2: 32, 3: 64 bits an element */
    uint32_t is_signed : 1;   /* ld: sign-extend into a wider register */
    uint32_t is_volatile : 1; /* volatile, relaxed, acquire, release …: element-wise atomic on the host */
    uint32_t is_const : 1;    /* st to it is a fault */
    uint32_t is_wide : 1;     /* elements are halves of 16 bytes that are accessed together */
    uint32_t flushes : 1;     /* sums of f32 of arrays: subnormals count as zero */
    uint32_t is_brain : 1;    /* atomics on halves: bf16, not f16; of size 2 there are two of them */
    uint32_t is_indexed : 1;  /* of the interpreter's ld and st: lw_code.indexed has more to say of them */
} lw_memory_form;

static inline uint32_t lw_memory_pack(lw_memory_form form) {
    uint32_t c;
    memcpy(&c, &form, sizeof c);
    return c;
}
static inline lw_memory_form lw_memory_unpack(uint32_t c) {
    lw_memory_form form;
    memcpy(&form, &c, sizeof form);
    return form;
}
_Static_assert(sizeof(lw_memory_form) == 4, "lw_memory_form must fit lw_op.c");
enum { LW_CANCELED = 1 };    /* a bit of the answer to try_cancel: there is a cluster to take over */
enum { LW_VECTOR_MOST = 8 }; /* elements of a memory operation: what `vector` can say */

/* Of an operation on textures or surfaces, packed into lw_op.c: what it is, and which registers are listed. Results
 * come first, then the layer, coordinates, the sample, the level or the derivatives by x and by y, offsets, what to
 * compare with, and values to be stored; of these what there is. */
typedef enum lw_lookup { LW_LOOKUP_plain, LW_LOOKUP_base, LW_LOOKUP_level, LW_LOOKUP_grad, LW_LOOKUP_gather } lw_lookup;
typedef enum lw_texture_result {
    LW_RESULT_f32,
    LW_RESULT_u32,
    LW_RESULT_s32,
    LW_RESULT_f16,
    LW_RESULT_f16x2
} lw_texture_result;
typedef enum lw_outside { LW_OUTSIDE_trap, LW_OUTSIDE_clamp, LW_OUTSIDE_zero } lw_outside;
typedef struct lw_texture_form {
    uint32_t results : 4, operands : 5; /* how many are listed */
    uint32_t dimensions : 2;
    uint32_t is_array : 1, is_cube : 1, has_sample : 1;
    /* of lookups */
    uint32_t lookup : 3;    /* lw_lookup */
    uint32_t result : 3;    /* lw_texture_result */
    uint32_t component : 2; /* of a gather */
    uint32_t is_integer : 1, has_offsets : 1, has_compare : 1;
    /* of surfaces */
    uint32_t size : 2;         /* log2 of bytes of an element */
    uint32_t is_formatted : 1; /* in the surface's format, at texels; else bytes */
    uint32_t outside : 2;      /* lw_outside */
} lw_texture_form;
_Static_assert(sizeof(lw_texture_form) == 4, "lw_texture_form must fit lw_op.c");
static inline uint32_t lw_texture_pack(lw_texture_form form) {
    uint32_t c;
    memcpy(&c, &form, sizeof c);
    return c;
}
static inline lw_texture_form lw_texture_unpack(uint32_t c) {
    lw_texture_form form;
    memcpy(&form, &c, sizeof form);
    return form;
}
typedef enum lw_texture_attribute { /* in the order of the field `ask` of isa/ptx/modifiers.def */
                                    LW_ASK_width,
                                    LW_ASK_height,
                                    LW_ASK_depth,
                                    LW_ASK_channel_data_type,
                                    LW_ASK_channel_order,
                                    LW_ASK_normalized_coords,
                                    LW_ASK_array_size,
                                    LW_ASK_num_mipmap_levels,
                                    LW_ASK_num_samples,
                                    LW_ASK_force_unnormalized_coords,
                                    LW_ASK_filter_mode,
                                    LW_ASK_addr_mode_0,
                                    LW_ASK_addr_mode_1,
                                    LW_ASK_addr_mode_2,
                                    LW_ASK_memory_layout
} lw_texture_attribute;

/* What multimem_load accumulates in: the type itself, or what the word says. */
typedef enum lw_multimem_sum {
    LW_MULTIMEM_own,
    LW_MULTIMEM_half_f32, /* f16 and bf16, in f32 */
    LW_MULTIMEM_e4m3,
    LW_MULTIMEM_e5m2,
    LW_MULTIMEM_e4m3_f16,
    LW_MULTIMEM_e5m2_f16
} lw_multimem_sum;

/* What an operation by a tensor map lists behind what all have. */
enum { LW_TENSOR_PLACE, LW_TENSOR_MAP, LW_TENSOR_OBJECT, LW_TENSOR_FIRST, LW_TENSOR_VALUES = LW_TENSOR_FIRST + 5 + 3 };
typedef struct lw_tensor_form {
    uint8_t rank, coordinates, offsets; /* dimensions of the map; coordinates, and offsets behind them */
    uint8_t mode;                       /* lw_tensor_mode */
    bool rows;                          /* four rows of a box, whose coordinates follow that of their first element */
    uint8_t group;                      /* of how many CTAs one has the object that is told; 0: nothing is said */
} lw_tensor_form;
static inline uint64_t lw_tensor_pack(lw_tensor_form form) {
    return form.rank | (uint64_t)form.coordinates << 8 | (uint64_t)form.offsets << 16 | (uint64_t)form.mode << 24 |
           (uint64_t)form.rows << 32 | (uint64_t)form.group << 40;
}
static inline lw_tensor_form lw_tensor_unpack(uint64_t imm) {
    return (lw_tensor_form){(uint8_t)imm,         (uint8_t)(imm >> 8), (uint8_t)(imm >> 16),
                            (uint8_t)(imm >> 24), imm >> 32 & 1,       (uint8_t)(imm >> 40)};
}
enum { LW_TENSOR_FIELD_BITS = 8 }; /* of what is replaced; above it the number of the dimension */

/* Which wait an asynchronous operation is done at. */
typedef enum lw_chain {
    LW_CHAIN_copies, /* cp.async.wait_group */
    LW_CHAIN_bulk,   /* cp.async.bulk.wait_group */
    LW_CHAIN_told    /* that for a phase of the object which is told */
} lw_chain;
enum { LW_CHAIN_GROUPS = 2 }; /* chains that have groups */

/* ---- Code of one function ----------------------------------------------------------------------------- */

/* What holds a value: a predicate, or elements of so many bits. */
typedef enum lw_class { LW_CLASS_pred, LW_CLASS_16, LW_CLASS_32, LW_CLASS_64 } lw_class;
uint32_t lw_class_bytes(lw_class class); /* of an element; 0: a predicate, a bit */
static inline uint32_t lw_class_bits(lw_class class) { return class == LW_CLASS_pred ? 1 : 8 * lw_class_bytes(class); }

/* A virtual register: one for each register of the text and each intermediate value, constants included. */
typedef struct lw_register {
    lw_class class : 8;
    bool is_const;    /* known value: never needs an operation */
    bool starts_at_0; /* may be read before it is written, and is 0 then: never a known value */
    uint16_t hint;    /* while it is built: 1 + the number that accesses by it have in common; 0: there are none */
    uint32_t defs, uses;
    uint64_t value;
} lw_register;

typedef struct lw_block {
    uint32_t first;             /* number of its `block` operation */
    uint32_t instructions;      /* instructions of the text it stands for */
    const uint32_t *successors; /* the blocks behind it */
    uint32_t successor_count;
} lw_block;

/* One value handed over at a call or return: registers, or parameter space by offset in the local frame. */
typedef struct lw_transfer {
    bool in_memory;
    bool is_open;      /* a parameter of unknown size: takes memory of any size up to its own */
    uint32_t from, to; /* registers, or offsets in the frame's local memory */
    uint32_t size;     /* register: 0 a predicate, else bytes an element; memory: bytes */
} lw_transfer;

typedef struct lw_call {
    uint32_t function; /* index of the callee's code in the program; LW_NO_SLOT: indirect */
    uint32_t return_block;
    uint32_t argument_count, result_count;
    lw_transfer
        *arguments; /* .to is filled for direct calls; for indirect ones they follow the callee's parameters in order */
    lw_transfer *results;
} lw_call;

/* A variable, or a parameter, in the local memory of a function's frame. */
typedef struct lw_room {
    uint32_t offset, size;
    bool has_address; /* the text takes it: who knows what is done to it then */
} lw_room;

/* An access by one number, the same for all lanes, and an index of 32 bits each, times what a lane accesses: the
 * interpreter looks at these instead of the addresses that its parts would make of them (run/interp/link/index.c). */
enum { LW_INDEXED_PARTS = 3, LW_INDEXED_ROWS = 4 };
typedef struct lw_indexed_access {
    uint32_t op;                                  /* the access */
    uint32_t base, index;                         /* registers, then slots, of 64 and of 32 bits */
    uint32_t parts[LW_INDEXED_PARTS], part_count; /* operations that are passed over, in the order of the text */
    bool is_signed;                               /* the index */
    bool leads, follows; /* others behind it have the same index and lanes; so has one in front of it … */
    uint8_t row;         /* … and leaves there where they are, in one of LW_INDEXED_ROWS places of the gang */
} lw_indexed_access;

/* The code of a function: as lowering leaves it, over virtual registers, which belongs to no engine; or as the
 * interpreter runs it, over slots, with what the second half of the fields says of them (run/interp/link). */
typedef struct lw_code {
    const char *name;
    lw_place place;  /* of the function in the text */
    uint32_t number; /* of the function in its module: what its address is made of */
    uint32_t index;  /* in the program */
    bool is_entry, lowered;
    uint32_t op_count, block_count, call_count;
    lw_op *ops;
    lw_place *places; /* of each operation: the instruction it came from */
    lw_block *blocks;
    lw_place *instructions; /* of the text, one block's behind those of the one before; whatever became of them */
    uint32_t instruction_count;
    lw_call *calls;
    uint32_t *slots; /* lists of vector operands: registers */
    uint64_t *constants;
    uint32_t *targets; /* blocks of brx tables */
    uint32_t slot_count, constant_count, target_count;
    uint32_t local_bytes; /* local frame, parameters included; at most LW_WINDOW_BYTES */
    uint32_t local_align; /* of the frame: a power of two, at least 16 */
    lw_room *rooms;       /* in it, by increasing offset; those of no size may begin where the next one does */
    uint32_t room_count;
    uint32_t param_count, return_count;
    lw_transfer *params, *returns; /* where the function expects and leaves them (in `to` and `from`) */
    uint32_t register_count;       /* that the text has */
    lw_register *registers;        /* virtual ones; NULL: the operations have slots */
    uint32_t virtual_count;
    struct lw_facts *facts; /* of its blocks and registers (facts.h), once somebody asked for them */
    /* of slots */
    uint32_t frame_bytes; /* of register slots; a multiple of 64, at most LW_FRAME_MOST. A spare slot of 64 bits lies
                             behind them. */
    uint32_t zero_count;  /* slots read before any write on some path: cleared when a frame starts */
    struct {
        uint32_t at, size;
    } * zeros;
    struct {
        uint32_t at, size;
        uint64_t value;
    } * fills; /* constants that operations want in a slot; bytes an element, 0: a predicate */
    uint32_t fill_count;
    uint32_t *steady; /* operations that give the same in all CTAs of a launch, in the order of the text, whose results
                         have slots of their own */
    uint32_t steady_count;
    uint32_t *once; /* long ones whose operands are the same in all lanes, which are done for one warp */
    uint32_t once_count;
    lw_indexed_access *indexed; /* accesses that are looked at by their index, in the order of the text … */
    uint32_t indexed_count;
    uint32_t *indexed_at; /* … and, per operation, the number of one; NULL: there are none */
    /* and of the code over virtual registers that it was made of */
    uint32_t *became; /* per operation there: the one here that does it, where the last of those was that it does;
                         LW_NO_SLOT: none need do it */
    uint32_t
        *homes; /* per register there: its slot, while it is live here; LW_NO_SLOT: it never is, or is a known value */
} lw_code;

/* ---- Program: a kernel and all it can call ------------------------------------------------------------ */

/* Where the manual and the hardware differ: whose results are computed. */
typedef enum lw_semantics { LW_SEMANTICS_manual, LW_SEMANTICS_sm_90, LW_SEMANTICS_COUNT } lw_semantics;
extern const char *const lw_semantics_names[LW_SEMANTICS_COUNT];
/* By name; NULL or "": the manual's. False: no such name. */
bool lw_semantics_choose(const char *name, lw_semantics *semantics);

/* Something that launches count at one instruction; its number is the one that `note` operations have. */
typedef struct lw_program_note {
    lw_diag_id id;
    lw_place place;
} lw_program_note;

/* How a program of vector registers is launched: a thread for each element. */
typedef struct lw_program_vector {
    uint32_t lanes; /* of its widest register; 0: a program of threads */
    bool repeats;   /* register arguments or results come from arrays: CTA n has the n-th register of each, the last
                       parameter counts elements */
    bool flat;      /* threads are independent and all registers equally wide: CTAs may have any number of threads */
    bool ordered;   /* repeats store to memory, which later ones may load: CTAs run one behind the other */
} lw_program_vector;

typedef struct lw_program {
    lw_arena *arena;
    uint64_t number;          /* which nothing else that is launched in its context has or had; 0: of none */
    struct lw_source *source; /* the text that places are of */
    uint32_t code_count, entry_index;
    lw_code **functions;     /* all that is called from here, by increasing number: over virtual registers … */
    lw_code **codes, *entry; /* … and what the interpreter made of them; NULL before that */
    uint32_t shared_bytes;   /* static shared memory of the kernel and what it calls */
    uint32_t shared_align;
    uint32_t shared_unit;           /* bytes in which a CTA is given shared memory */
    uint32_t dynamic_shared_offset; /* where extern shared arrays begin */
    uint32_t param_bytes;
    uint32_t hint_count;
    uint32_t vector_bytes;            /* of the CPU level it was linked with … */
    lw_step *const *steps;            /* … and its steps, by operation code … */
    const struct lw_warp_calls *warp; /* … its functions for rows (run/jit/jit.h) … */
    lw_matrix_call *multiply;         /* … and what it multiplies matrices by (run/interp/matrix.h) */
    struct lw_compiled *compiled;     /* the compiler's code for it, or NULL */
    bool is_partly_compiled;          /* which leaves functions to the interpreter */
    uint8_t symbols;                  /* enum lw_symbols_told (run/run.h): who is told where that lies */
    struct lw_profile *profile;       /* who counts what its steps do (run/profile.h), or NULL */
    uint64_t instruction_count;
    lw_semantics semantics;
    bool prints, has_heap; /* what of the device's runtime it uses */
    bool has_textures;     /* it asks for textures, samplers or surfaces */
    bool clusters; /* it has to do with other CTAs of its cluster: addresses of shared variables say whose they are */
    bool spins;    /* it has loops that may wait for others: LW_OP_SPIN */
    bool takes_stack;     /* functions take local memory while they run */
    bool reserves_shared; /* it asks where the shared memory is that the system reserves (manual 10.32) */
    lw_program_vector vector;
    LW_LIST(lw_program_note) notes;
    uint32_t *note_order; /* numbers of the notes by id and place, for steps that find theirs */
} lw_program;

static inline lw_place lw_place_of(const lw_code *code, const lw_op *op) { return code->places[op - code->ops]; }
/* Some function of it reads this special register. */
bool lw_program_asks(const lw_program *program, uint32_t special);
/* The code of the function with this number; NULL where nothing calls it from here. */
static inline const lw_code *lw_program_code(const lw_program *program, uint64_t number) {
    uint32_t low = 0, high = program->code_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (program->codes[middle]->number < number) low = middle + 1;
        else high = middle;
    }
    return low < program->code_count && program->codes[low]->number == number ? program->codes[low] : NULL;
}
/* The notes are all there; `order` has room for a number each, and becomes the program's. */
void lw_program_order_notes(lw_program *program, uint32_t *order);
/* The function that this place of the text is in; NULL: none of the program's. What was inlined is in the code of
 * others. */
const lw_code *lw_program_code_at(const lw_program *program, lw_place place);
/* The note of this id at this place; there is one. */
uint32_t lw_program_find_note(const lw_program *program, lw_diag_id id, lw_place place);

/* A program over virtual registers, or the interpreter's code for it. */
void lw_program_dump(lw_text *out, const lw_program *program, lw_code *const *codes);
/* What is handed over is what it is handed over to, one by one. */
bool lw_transfers_agree(const lw_transfer *given, const lw_transfer *taken, uint32_t count);
/* The same of a call, and of the function that it calls. */
bool lw_call_agrees(const lw_call *call, const lw_code *code);
/* Operations that were taken away leave; guards that do the same are joined. moved, or NULL: per operation its number
 * then, or LW_NO_SLOT. */
void lw_code_compact(lw_code *code, uint32_t *moved);
const char *lw_opcode_name(uint16_t code, char buffer[64]);

/* ---- Address map (generic addressing, manual section 5.1) --------------------------------------------- */

#define LW_SHARED_WINDOW  0x01000000ull /* + offset; 16 MiB */
#define LW_LOCAL_WINDOW   0x02000000ull /* + per-thread local address; 16 MiB */
#define LW_PARAM_WINDOW   0x03000000ull /* + offset in the kernel's parameters; 1 MiB */
#define LW_CODE_WINDOW    0x04000000ull /* + 16 * function number; 16 MiB */
/* Shared memory of the CTAs of a cluster, by rank, this one's too; a cluster of one CTA has none. An address of theirs
 * in the shared space is as far from LW_SHARED_WINDOW. */
#define LW_CLUSTER_WINDOW 0x05000000ull
#define LW_WINDOW_BYTES   0x01000000ull
#define LW_CLUSTER_STEP   0x00100000ull   /* from rank to rank */
#define LW_GLOBAL_BASE    0x10000000ull   /* device memory: below 4 GiB for modules with 32-bit addresses … */
#define LW_GLOBAL_HIGH    0x1000000000ull /* … and from here on for all others */

/* Where an address can be: what an operation `isspacep` asks. */
typedef enum lw_where {
    LW_WHERE_nowhere,
    LW_WHERE_global,
    LW_WHERE_const,
    LW_WHERE_shared,
    LW_WHERE_cluster,
    LW_WHERE_local,
    LW_WHERE_param
} lw_where;

#endif
