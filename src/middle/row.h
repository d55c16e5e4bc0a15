/* row.h: what is known of every operation, as isa/ops.def and isa/lane.def have it, and what follows from that: which
 * registers an operation reads and writes, where it goes on. Registers are virtual ones before slots are given, and
 * slots after it. */
#ifndef LW_ROW_H
#define LW_ROW_H

#include "middle/program.h"

/* What a field holds. */
typedef enum lw_holds {
    LW_HOLDS_nothing,
    /* registers */
    LW_HOLDS_p,
    LW_HOLDS_16,
    LW_HOLDS_32,
    LW_HOLDS_64,
    LW_HOLDS_bytes,
    LW_HOLDS_count,
    LW_HOLDS_address,
    LW_HOLDS_data,
    LW_HOLDS_row,
    LW_HOLDS_lane,
    LW_HOLDS_ballot,
    LW_HOLDS_members,
    /* numbers */
    LW_HOLDS_number,
    LW_HOLDS_block,
    LW_HOLDS_targets,
    LW_HOLDS_call,
    LW_HOLDS_constant,
    LW_HOLDS_constants,
    LW_HOLDS_form,
} lw_holds;

typedef enum lw_list {
    LW_LIST_none,
    LW_LIST_loaded,
    LW_LIST_stored,
    LW_LIST_pairs,
    LW_LIST_texels,
    LW_LIST_matrices,
    LW_LIST_call,
    LW_LIST_returns
} lw_list;
typedef enum lw_known {
    LW_KNOWN_nowhere,
    LW_KNOWN_low,
    LW_KNOWN_high,
    LW_KNOWN_table,
    LW_KNOWN_address,
    LW_KNOWN_listed
} lw_known;
typedef enum lw_goes {
    LW_GOES_on,
    LW_GOES_to_a,
    LW_GOES_either,
    LW_GOES_to_table,
    LW_GOES_back,
    LW_GOES_nowhere
} lw_goes;
typedef enum lw_parts { LW_PARTS_never, LW_PARTS_differing, LW_PARTS_called, LW_PARTS_always } lw_parts;
typedef enum lw_compile {
    LW_COMPILED_step,
    LW_COMPILED_block,
    LW_COMPILED_branch,
    LW_COMPILED_body,
    LW_COMPILED_parameter
} lw_compile;
typedef enum lw_mode_kind {
    LW_MODE_none,
    LW_MODE_reason,
    LW_MODE_barrier,
    LW_MODE_mbarrier,
    LW_MODE_atom,
    LW_MODE_shuffle,
    LW_MODE_vote,
    LW_MODE_match,
    LW_MODE_redux,
    LW_MODE_trail,
    LW_MODE_KINDS
} lw_mode_kind;
enum lw_does {
    LW_DOES_PURE = 1,
    LW_DOES_IN_PLACE = 2,
    LW_DOES_MERGES = 4,
    LW_DOES_MAY_TRAP = 8,
    LW_DOES_NOTES = 16,
    LW_DOES_EXCHANGES = 32,
    LW_DOES_WAITS = 64,
    LW_DOES_RACES = 128,
    LW_DOES_MEMORY = 256,
    LW_DOES_ROW = 512,
    LW_DOES_STORES = 1024,
    LW_DOES_CHECKS = 2048,
    LW_DOES_VOLATILE = 4096,
    LW_DOES_ALIKE = 8192,
};

enum { LW_READ = 1, LW_WRITTEN = 2 };
enum {
    LW_FIELDS = 5,
    LW_FIELD_D = 1,
    LW_FIELD_A = 2,
    LW_FIELD_B = 4,
    LW_FIELD_C = 8,
    LW_FIELD_E = 16
}; /* their bits, in the order of lw_op */
/* Names and sizes are for people and tables; walks look at the bits. */
typedef struct lw_op_row {
    const char *name, *does_what; /* does_what NULL: a lane function */
    struct lw_field_bits {
        uint8_t d : 1, a : 1, b : 1, c : 1, e : 1;
    } reads, writes;       /* fields that have registers */
    uint8_t list, numbers; /* lw_list; a flag may make a, b or c a number */
    struct {
        uint8_t d, a, b, c, e, imm;
    } holds; /* lw_holds */
    struct {
        uint8_t d, a, b, c, e;
    } known;                                       /* lw_known: where a known value goes instead */
    uint8_t goes, parts, parts_by, compiled, mode; /* lw_goes, lw_parts, lw_compile, lw_mode_kind */
    uint16_t may, does;                            /* flags that it may have; enum lw_does */
} lw_op_row;
_Static_assert(sizeof(struct lw_field_bits) == 1, "walks take them as a byte each");
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "… the first of them lowest");

enum { LW_ROW_lane = LW_OP_lop3 + 1, LW_ROW_COUNT = LW_ROW_lane + LW_LANE_count };
extern const lw_op_row lw_op_rows[LW_ROW_COUNT];

extern const uint16_t lw_row_numbers[LW_OP_count]; /* by operation code */

static inline const lw_op_row *lw_row_of(uint16_t code) { return &lw_op_rows[lw_row_numbers[code]]; }
/* Bits of the fields that have registers which are read, or written. */
static inline uint32_t lw_row_fields(const lw_op_row *row, uint8_t access) {
    uint8_t fields;
    memcpy(&fields, access == LW_READ ? &row->reads : &row->writes, sizeof fields);
    return fields;
}
static inline bool lw_row_has(const lw_op_row *row, uint8_t access, uint32_t field) {
    return lw_row_fields(row, access) >> field & 1;
}
static inline bool lw_op_does(const lw_op *op, uint16_t what) { return (lw_row_of(op->code)->does & what) == what; }

/* Executing lanes, too, may keep what they have in its results. */
static inline bool lw_op_keeps(const lw_op *op) {
    return lw_op_does(op, LW_DOES_MERGES) && op->e != LW_NO_SLOT && !(op->flags & LW_OP_ZERO);
}
/* Reads or writes what others may change meanwhile. */
static inline bool lw_op_races(const lw_op *op) {
    const uint16_t does = lw_row_of(op->code)->does;
    return does & (LW_DOES_RACES | LW_DOES_VOLATILE) && (does & LW_DOES_RACES || lw_memory_unpack(op->c).is_volatile);
}
/* Lanes that leave the text here, or wait, begin a block: a place where all of a gang can be gathered however its warps
 * came. Warps that meet are there already. */
static inline bool lw_begins_block(uint16_t code) {
    const lw_op_row *row = lw_row_of(code);
    const lw_goes goes = (lw_goes)row->goes;
    return goes == LW_GOES_nowhere || goes == LW_GOES_back || goes == LW_GOES_to_table ||
           (row->does & LW_DOES_WAITS && code != LW_OP_warp_sync);
}
/* The word of its mode, "" where it has none. */
const char *lw_op_mode_word(const lw_op *op);

/* ---- Registers of an operation ---------------------------------------------------------------------------- */

/* The fields that have a number instead of a register now. */
static inline uint32_t lw_op_numbers(const lw_op *op) {
    return (op->flags & LW_OP_IMM_A ? LW_FIELD_A : 0) | (op->flags & LW_OP_IMM_B ? LW_FIELD_B : 0) |
           (op->flags & LW_OP_IMM_C ? LW_FIELD_C : 0);
}

/* Registers of an operation, up to 32 at a time: first its fields, then what it lists. */
typedef struct lw_walk {
    uint32_t *first, stride; /* the first of them; words from each to the next */
    uint32_t left;           /* bits of those that are to come */
    uint32_t listed;         /* 0: there is no list behind; else 1 + how many of it were met */
} lw_walk;
/* The next part of the list; its `first` is NULL where there is no more. */
lw_walk lw_walk_list(const lw_code *code, const lw_op *op, uint8_t access, uint32_t met);

/* Whether an operation with this list reads what is in it, or writes it. */
static inline bool lw_list_has(uint8_t list, uint8_t access) {
    const uint32_t both = 1u << LW_LIST_pairs | 1u << LW_LIST_texels | 1u << LW_LIST_matrices | 1u << LW_LIST_call,
                   read = both | 1u << LW_LIST_stored | 1u << LW_LIST_returns, written = both | 1u << LW_LIST_loaded;
    return (access == LW_READ ? read : written) >> list & 1;
}

static inline lw_walk lw_walk_begin(const lw_op *op, uint8_t access) {
    const lw_op_row *row = lw_row_of(op->code);
    lw_walk walk = {(uint32_t *)((char *)(uintptr_t)op + offsetof(lw_op, d)), 1, lw_row_fields(row, access),
                    lw_list_has(row->list, access)};
    if (LW_UNLIKELY(row->numbers)) walk.left &= ~lw_op_numbers(op);
    return walk;
}

/* NULL: no more of this part. Registers that are left out are passed over. */
static inline uint32_t *lw_walk_next(lw_walk *walk) {
    while (walk->left) {
        uint32_t *at = walk->first + (uint32_t)__builtin_ctz(walk->left) * walk->stride;
        walk->left &= walk->left - 1;
        if (*at != LW_NO_SLOT) return at;
    }
    return NULL;
}

/* for each `uint32_t *at` that names a register which the operation reads, or writes */
#define LW_EACH_(code, op, at, access) \
    for (lw_walk at##_walk = lw_walk_begin(op, access); at##_walk.first; \
         at##_walk = LW_LIKELY(!at##_walk.listed) ? (lw_walk){0} \
                                                  : lw_walk_list(code, op, access, at##_walk.listed - 1)) \
        for (uint32_t * at; (at = lw_walk_next(&at##_walk));)
#define LW_EACH_READ(code, op, at)    LW_EACH_(code, op, at, LW_READ)
#define LW_EACH_WRITTEN(code, op, at) LW_EACH_(code, op, at, LW_WRITTEN)

/* Bits of an element of a register that an operation has in this field (its place behind d); 1: a predicate, 0: the
 * field has none. */
uint32_t lw_op_bits(const lw_op *op, uint32_t field);

/* ---- Where a block goes on: lw_block.successors --------------------------------------------------------------- */

/* The number of the operation behind its last one. */
static inline uint32_t lw_block_end(const lw_code *code, uint32_t block) {
    return block + 1 < code->block_count ? code->blocks[block + 1].first : code->op_count;
}
static inline const lw_op *lw_block_last(const lw_code *code, uint32_t block) {
    return &code->ops[lw_block_end(code, block) - 1];
}

#endif
