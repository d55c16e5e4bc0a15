/* strand.h: inside the compiler: the code of a whole function for one warp at a time.   strand_shape (which registers
 * are the same for all lanes, or in rows) → strand_plan (where lanes can be left behind) → strand_room (where registers
 * are) → strand_cut (pieces of what is long) → strand (warps, blocks, branches) → strand_plain, strand_forward (ways
 * without a question) → strand_end (how a warp ends) →
 * strand_ops (one operation) → strand_bits, strand_check, strand_memory, strand_gather, strand_local, strand_turn,
 * strand_atomic, strand_meet, strand_shuffle → strand_values → strand_frame (registers to the interpreter and back)
 *
 * It is code for launches of one layout of threads (lw_layout), which says what the lanes of a warp have in %tid.
 *
 * All warps of a gang that come to an entry go their way one behind the other, each until it must wait, leave the
 * function, or do what only the interpreter does. Registers are values of LLVM's across blocks. Of the blocks in which
 * lanes of the warp are ready the lowest runs, as in the interpreter; who waits for it is known by a mask a block. */
#ifndef LW_STRAND_H
#define LW_STRAND_H

#include "run/jit/shape.h"
#include "run/jit/unit.h"

/* Accesses that one check is for: by the address register of the first of them, and its numbers from … to. Of shared
 * memory nothing is asked of them any more; of other memory the condition is at hand, with what is added to addresses,
 * and where the allocation begins. */
typedef struct lw_sure {
    uint32_t first;
    int64_t from, to;
    LLVMValueRef good, host, base;
} lw_sure;

/* Where indices may go from one number in a register on, for accesses of one size: how far in front of it the
 * allocation begins, in these, the largest index from there on, where that is 0, and whether any of it is good. */
typedef struct lw_indices {
    uint32_t base, shift, window, is_store;
    uint64_t imm;
    LLVMValueRef down, most, host, good;
} lw_indices;

/* What a register has in any lane: known bits, as of a row that is the same in all, and the most it is. */
typedef struct lw_bounds {
    enum { LW_BOUNDS_unseen, LW_BOUNDS_asked, LW_BOUNDS_found } state;
    lw_shape bits;
    uint64_t most;
} lw_bounds;

/* Blocks that lanes go through forwards only: strand_forward.c. */
typedef struct lw_forward {
    uint32_t first, end; /* up to where all that came meet again */
    uint32_t farthest;   /* so far, while it is looked for */
    bool *comes, *full;  /* per block: some lanes may come there; all do */
    bool *inside;        /* per block: it is on such a way, and nowhere else */
    LLVMValueRef *on;    /* per block that is not full: place of the mask of those that come */
} lw_forward;

typedef struct lw_plain { /* strand_plain.c */
    lw_forward way;
    LLVMValueRef *hosts; /* per operation that accesses memory: what is to be added to its addresses */
} lw_plain;

typedef struct lw_strand {
    lw_unit *u;
    lw_shape *shapes;
    uint32_t block_words;
    uint32_t first, end;         /* the blocks of the piece at hand, which is left where lanes go on at others … */
    bool *crossed;               /* … and entered where they come from others; per block: some do */
    uint32_t *ends, piece_count; /* of the pieces, in the order of the text */
    uint64_t *behind;            /* per block: those where lanes may be ready while it runs, all of them behind it */
    bool *reached;
    bool *on_short;    /* per block: it is on a short way (strand_forward.c), as long as that is in one piece */
    uint64_t *needed;  /* per block: registers that lanes elsewhere have use for */
    uint64_t *dirty;   /* per block: registers that may not be in the frame as they are now, in front of it … */
    uint64_t *later;   /* … likewise, where the gang has come in elsewhere than at the function's first block … */
    uint64_t *wanted;  /* … and registers that its code, or that behind it, has to do with: of the piece at hand */
    uint64_t *settled; /* per block: registers that have been written wherever lanes come from */
    uint32_t *only;    /* per register: 1 + the operation that is all that ever writes it, outside of guards; or 0 */
    lw_bounds *bounds; /* per register, as far as somebody has asked: strand_bits.c */
    /* Per register: 1 + the operation that is all that ever writes it, where that gives what follows from the launch
     * alone; else 0, or UINT32_MAX. */
    uint32_t *given;
    uint8_t *abreast; /* per operation that begins a stretch (lw_strand_stretch): chunks that are done side by side */
    /* Registers that loops write while lanes that have left have use for them: what the lanes at hand have is kept
     * beside what all have. So no round waits until it is known who goes on, and nothing but the blend of it does. */
    uint64_t *twofold;
    uint64_t *folded; /* rows that may be folded in the frame (lw_fold) */
    uint64_t *listed; /* those of them in `fold`, the list that was made last */
    uint64_t *read;   /* registers that are no rows and made of what other memory, or other lanes, had */
    bool alone;       /* nobody has use for any register who is ready elsewhere */
    bool has_local;   /* it makes addresses of local memory, which generic ones may be made of */
    uint64_t *room;   /* two sets of registers, and one of blocks, for whoever needs one */

    /* what has been built */
    uint32_t chunks;
    LLVMValueRef *places; /* per register, LW_STRAND_RUNS: where its chunks are kept, or the bases of a row */
    LLVMValueRef *own;    /* likewise, of twofold ones: the same for the lanes at hand; others have anything there */
    LLVMValueRef *values; /* likewise: what was there, for the lanes at hand, on the way that … */
    uint32_t *ways; /* … this is the number of; it counts while that is one of `way`, of which the last is at hand */
    uint32_t way[8], way_count, last_way;
    LLVMBasicBlockRef *heads, tail, stops, leaves;
    LLVMValueRef *ready; /* per block: place of the mask of lanes that are ready there */
    LLVMValueRef mask, lanes_done, warps_done, budget, least, spent, warp, left_at, left_lanes, left_own,
        stop;                                   /* places */
    LLVMValueRef pass, regs, base, live, entry; /* entry: the block where the gang has come in */
    LLVMValueRef bases;              /* place of the rows that go to the frame, or come from there, at once */
    LLVMValueRef fold;               /* NULL: there is none */
    LLVMValueRef trade;              /* of what a shuffle reads and gives, lw_trade */
    LLVMBasicBlockRef trapped;       /* a step has: the launch is over */
    LLVMBasicBlockRef passes;        /* a pass has begun, of … */
    LLVMValueRef gangs, warps, turn; /* … this gang's, a bit each; and whom the dispatch loop is at */
    LLVMValueRef apart;              /* place: 0 as long as all warps of the pass have stopped as a whole */
    LLVMValueRef slots[4];           /* by class: where the warp's lanes are in a slot, less its place in the frame */
    LLVMValueRef now, on[LW_CHUNKS]; /* the mask of the operation at hand; by chunks, once asked for on a way */
    uint32_t on_ways[LW_CHUNKS];
    lw_sure sure[8]; /* in this block, so far */
    uint32_t sure_count;
    lw_indices reach[4]; /* likewise, the last ones */
    uint32_t reach_count;
    lw_forward forward; /* the short way at hand */
    lw_plain *plain;    /* NULL: there is none … */
    bool is_plain;      /* … and it is at hand: nothing is asked any more */
    LLVMValueRef guard; /* the mask outside of the guard at hand; NULL: there is none */
    LLVMBasicBlockRef guard_end;
} lw_strand;

static inline const lw_build *lw_strand_build(const lw_strand *s) { return s->u->build; }
enum { LW_STRAND_LONG = 96 }; /* of a longer lane function one copy, in a loop, is better than one for each chunk */
/* Whether a function can be compiled so. */
bool lw_strand_fits(const lw_unit *u);
/* As one piece. False: no memory. Release with lw_strand_free in either case. */
bool lw_strand_plan(lw_strand *s);
/* What of the plan is a piece's own, for the blocks first … end at hand. False: no memory. */
bool lw_strand_plan_piece(lw_strand *s);
uint64_t lw_strand_size(const lw_strand *s, uint32_t block); /* of its code, once it is planned */
void lw_strand_free(lw_strand *s);
static inline bool lw_strand_is_settled(const lw_strand *s, uint32_t block, uint32_t reg) {
    return lw_set_has(s->settled + (size_t)block * s->u->words, reg);
}
/* A register that one operation writes has been written in front of operation n of a block. */
static inline bool lw_strand_has_come(const lw_strand *s, uint32_t block, uint32_t n, uint32_t reg) {
    const uint32_t by = s->given[reg];
    return by && by <= n && (by > s->u->block_at[block] || lw_strand_is_settled(s, block, reg));
}
static inline bool lw_strand_is_given(const lw_strand *s, uint32_t reg) {
    return s->given[reg] && s->given[reg] != UINT32_MAX;
}
static inline bool lw_strand_is_row(const lw_strand *s, uint32_t reg) {
    return s->u->code->registers[reg].is_const || s->shapes[reg].kind == LW_SHAPE_row;
}
static inline bool lw_strand_is_uniform(const lw_strand *s, uint32_t reg) {
    return s->u->code->registers[reg].is_const ||
           (s->shapes[reg].kind == LW_SHAPE_row && lw_shape_alike(&s->shapes[reg]) == LW_WARP_BITS);
}
/* A branch at which lanes may part: where all go the same way nobody keeps what others would have. */
static inline bool lw_strand_parts(const lw_strand *s, const lw_op *op) {
    return op->code == LW_OP_bra_if && !lw_strand_is_uniform(s, op->b);
}
uint32_t lw_strand_block_of(const lw_unit *u, uint32_t n); /* of an operation */
/* Lanes leave the compiled code at its first operation, whatever the piece is … */
static inline bool lw_strand_waits_at(const lw_unit *u, uint32_t block) {
    const uint32_t n = u->block_at[block] + 1;
    return n >= u->count || lw_begins_block(lw_unit_op(u, n)->code);
}
/* … or at its beginning, as it is of another piece. */
static inline bool lw_strand_is_here(const lw_strand *s, uint32_t block) { return s->first <= block && block < s->end; }
static inline bool lw_strand_stops_at(const lw_strand *s, uint32_t block) {
    return !lw_strand_is_here(s, block) || lw_strand_waits_at(s->u, block);
}
/* The gang may enter the piece there. */
bool lw_strand_enters(const lw_strand *s, uint32_t block);
static inline const uint64_t *lw_strand_behind(const lw_strand *s, uint32_t block) {
    return s->behind + (size_t)block * s->block_words;
}
/* The registers that lanes have in the frame where they are ready at a block only if they are put there. */
static inline uint64_t lw_strand_saved(const lw_strand *s, uint32_t block, uint32_t word) {
    return lw_unit_live(s->u, s->u->block_at[block])[word] & s->dirty[(size_t)block * s->u->words + word];
}

/* ---- strand_cut.c ------------------------------------------------------------------------------------------------ */

/* Finds pieces that are short enough to be compiled. False: it is too long all the same, or no memory (which is
 * noted). */
bool lw_strand_cut(lw_strand *s);

/* ---- strand_room.c ----------------------------------------------------------------------------------------------- */

/* What lives where any of the blocks behind this one begins, to s->room. */
void lw_strand_live_behind(lw_strand *s, uint32_t block);
/* Parts of the plan: `abreast`, `twofold` and `read`, once shapes and what is needed where are settled. */
void lw_strand_find_abreast(lw_strand *s);
void lw_strand_find_twofold(lw_strand *s);
void lw_strand_find_read(lw_strand *s);

/* ---- strand_shape.c ---------------------------------------------------------------------------------------------- */

/* What all registers have, from what is known of them. */
void lw_strand_find_shapes(lw_strand *s);
/* It may have anything; so may what nothing that is known writes. True: that is new. */
bool lw_strand_forget_shape(lw_strand *s, uint32_t reg);
bool lw_strand_forget_unseen(lw_strand *s);
/* What a register is known to have; a known number as a row. */
lw_shape lw_strand_shape(const lw_strand *s, uint32_t reg);
static inline uint32_t lw_strand_runs(uint32_t run) { return 1u << (LW_WARP_BITS - run); }
/* An element of a wider register that is right only where the narrow one does not wrap within the warp. */
bool lw_strand_widens(const lw_op *op, bool *is_signed);
/* Accesses that need no step, as a rule. */
bool lw_strand_moves(lw_memory_form form);
/* A load that gives all lanes of a run the same: the run, LW_RUN_LEAST at least; else 0. */
uint32_t lw_strand_loads_one(const lw_strand *s, uint32_t n);

/* ---- strand_ops.c ------------------------------------------------------------------------------------------------ */

/* One, or a stretch of them, of those up to `end`: the next one. */
uint32_t lw_strand_stretch(const lw_strand *s, uint32_t n, uint32_t end);
uint32_t lw_strand_op(lw_strand *s, uint32_t n, uint32_t end);
LLVMValueRef lw_strand_base(lw_strand *s, uint32_t reg); /* of a row that has one */
/* Of the at-th run of 1 << run lanes, no more than the row's own run is. */
LLVMValueRef lw_strand_base_of(lw_strand *s, uint32_t reg, uint32_t run, uint32_t at);
LLVMValueRef lw_strand_vector(lw_strand *s, uint32_t reg, uint32_t chunk); /* good for the lanes at hand … */
LLVMValueRef lw_strand_whole(lw_strand *s, uint32_t reg, uint32_t chunk);  /* … and for all, of one that is no row */
/* Lanes have come that had been elsewhere: those registers of a set that are twofold are what all have. */
void lw_strand_join(lw_strand *s, const uint64_t *set);
/* Executing lanes get it. */
void lw_strand_put(lw_strand *s, uint32_t n, uint32_t reg, uint32_t chunk, LLVMValueRef value);
void lw_strand_put_row(lw_strand *s, uint32_t reg, uint32_t at, LLVMValueRef base);  /* of the at-th of its runs */
void lw_strand_keep(lw_strand *s, uint32_t reg, uint32_t chunk, LLVMValueRef value); /* all lanes do, of a vector */
/* values: one for each run of 1 << run lanes. */
void lw_strand_put_runs(lw_strand *s, uint32_t n, uint32_t reg, uint32_t run, LLVMValueRef *values);
/* Lanes of the at-th run execute. */
LLVMValueRef lw_strand_has(const lw_strand *s, uint32_t run, uint32_t at);
void lw_strand_begin_way(lw_strand *s, bool anew); /* anew: nothing is known */
void lw_strand_end_way(lw_strand *s);
/* Lanes of a mask, a word, as conditions of a chunk; and the other way round. */
LLVMValueRef lw_strand_conditions(const lw_strand *s, LLVMValueRef mask, uint32_t chunk);
LLVMValueRef lw_strand_on(lw_strand *s, uint32_t chunk);  /* of those that execute */
void lw_strand_execute(lw_strand *s, LLVMValueRef lanes); /* these do, from here on */
LLVMValueRef lw_strand_word(lw_strand *s, uint32_t predicate);
/* Those of some lanes for which the predicate of a branch, a guard or a vote holds. */
LLVMValueRef lw_strand_chosen(lw_strand *s, const lw_op *op, LLVMValueRef lanes);
/* Those registers that an entry need not take from the frame, with what they are made of: they follow from the launch.
 * The set is good until the next call for one. */
const uint64_t *lw_strand_recalled(lw_strand *s, uint32_t block);
/* The registers of a set that follow from the launch, computed anew; to `other` where one is no row. */
void lw_strand_recall(lw_strand *s, const uint64_t *set, LLVMBasicBlockRef other);
/* What is computed of a register, whatever its operands are, has no effect but its result. */
bool lw_strand_is_body(const lw_unit *u, uint32_t n);
/* And it is done at once, whatever the operands are. */
bool lw_strand_is_short(const lw_strand *s, uint32_t n);
/* Two ways that meet again. What is known on one of them is not behind it. */
typedef struct lw_fork {
    LLVMBasicBlockRef other, done;
} lw_fork;
lw_fork lw_strand_fork(lw_strand *s, LLVMValueRef condition); /* goes on where it holds, as it nearly always does … */
lw_fork lw_strand_fork_evenly(lw_strand *s, LLVMValueRef condition); /* … or as often as not */
void lw_strand_otherwise(lw_strand *s, const lw_fork *fork);         /* where it does not */
void lw_strand_rejoin(lw_strand *s, const lw_fork *fork);

/* ---- strand_frame.c ---------------------------------------------------------------------------------------------- */

/* The interpreter's step for the executing lanes of the warp. */
void lw_strand_call(lw_strand *s, uint32_t n);
/* That on the other way of a fork, which ends. */
void lw_strand_or_step(lw_strand *s, uint32_t n, const lw_fork *fork);
/* Registers into the frame, in some lanes. */
void lw_strand_save(lw_strand *s, const uint64_t *set, LLVMValueRef mask);
/* Rows are folded (lw_fold) where the warp stops at a block like this one, a barrier or a block of another piece, if it
 * does as a whole, and in a run; the others of a set go to the frame as they are. What is folded then is noted.
 * Whatever that block does: where the run does not go on, the core unfolds them. */
bool lw_strand_folds_at(const lw_strand *s, uint32_t block);
LLVMValueRef lw_strand_may_fold(const lw_strand *s);
void lw_strand_fold(lw_strand *s, const uint64_t *set);
void lw_strand_note_fold(lw_strand *s, uint32_t block);
/* And back, where the block is entered. who: per register, of the warp's lanes that have it there (lw_row). Where these
 * have something else than its shape says, to `other`. */
void lw_strand_take(lw_strand *s, uint32_t block, const uint64_t *set, const uint32_t *who, LLVMBasicBlockRef other);
/* The executing lanes of the warp go over to the interpreter in front of operation n, where a condition does not
 * hold. */
void lw_strand_demand(lw_strand *s, uint32_t n, LLVMValueRef condition);

/* ---- strand.c ---------------------------------------------------------------------------------------------------- */

bool lw_strand_emit(lw_strand *s); /* the piece at hand, into the function at hand; false: no memory */
/* A block is entered by the executing lanes, and counts so many instructions. some: there are such lanes. */
void lw_strand_count(const lw_strand *s, uint64_t instructions, bool some);

/* ---- strand_forward.c -------------------------------------------------------------------------------------------- */

bool lw_forward_make(lw_forward *f, uint32_t blocks); /* false: no memory; lw_forward_free in either case */
void lw_forward_free(lw_forward *f);
bool lw_forward_goes_on(const lw_op *op); /* a branch */
/* Marks where a block goes on. False: not forwards alone. */
bool lw_forward_follow(const lw_strand *s, lw_forward *f, uint32_t block);
/* Whether the branch at a block's end is the beginning of a short way, which `f` is then. */
bool lw_forward_find(const lw_strand *s, lw_forward *f, uint32_t head);
void lw_forward_emit(lw_strand *s, lw_forward *f); /* its blocks: the executing lanes come to the first one … */
/* … or branch so, there and elsewhere on it. They are at its end then. */
void lw_forward_emit_from(lw_strand *s, lw_forward *f, const lw_op *op);

/* ---- strand_plain.c ---------------------------------------------------------------------------------------------- */

/* A warp has come in at the kernel's first block, with these lanes: its plain way, if there is one and it may go that.
 * Else it goes on where the builder is. */
void lw_strand_emit_plain(lw_strand *s, LLVMValueRef lanes);
bool lw_plain_has(const lw_strand *s, uint32_t n); /* what it gives, in front of everything */

/* ---- strand_memory.c, strand_local.c, strand_atomic.c, strand_meet.c, strand_shuffle.c --------------------------- */

void lw_strand_load(lw_strand *s, uint32_t n);
void lw_strand_store(lw_strand *s, uint32_t n);
/* An access of local memory that needs no step, as a rule; one where all lanes go to one address of their own. */
bool lw_strand_goes_local(const lw_op *op);
bool lw_strand_is_local_row(const lw_strand *s, const lw_op *op);
void lw_strand_load_local(lw_strand *s, uint32_t n);
void lw_strand_store_local(lw_strand *s, uint32_t n);
void lw_strand_local_base(lw_strand *s, uint32_t n);
/* An atomic operation that needs no step, as a rule. */
bool lw_strand_changes(const lw_unit *u, uint32_t n);
void lw_strand_atomic(lw_strand *s, uint32_t n);
/* A warp_sync and the exchange behind it, if there is one; an exchange that waits for nobody. */
void lw_strand_meet(lw_strand *s, uint32_t n);
bool lw_strand_exchange(lw_strand *s, uint32_t n); /* false: it is for the interpreter's step */
/* Whether what an exchange gives is the same for all lanes that execute it; so far, while shapes are found. */
bool lw_strand_agrees(const lw_strand *s, const lw_op *op);
/* An access by one number and an index, which it does without its address: the registers that have them. */
bool lw_strand_indexed(const lw_strand *s, uint32_t n, uint32_t *base, uint32_t *index);
void lw_strand_shuffle(lw_strand *s, uint32_t n); /* not waiting for anybody any more */
/* What some lanes have in a register of integers together; and what changes nothing of it. */
LLVMValueRef lw_strand_reduce(lw_strand *s, lw_redux_kind kind, uint32_t reg, LLVMValueRef lanes);
uint64_t lw_strand_neutral(lw_redux_kind kind, uint32_t bits);
/* A predicate that these lanes have; where it is a row, all or none of them do. */
void lw_strand_put_word(lw_strand *s, uint32_t n, uint32_t predicate, LLVMValueRef lanes);

#endif
