/* strand_course.h: between strand_check.c, strand_memory.c, strand_gather.c, strand_local.c, strand_turn.c and
 * strand_atomic.c: where the lanes of an access go, and whether they may. */
#ifndef LW_STRAND_COURSE_H
#define LW_STRAND_COURSE_H

#include "run/jit/strand.h"

/* Where the lanes go. */
typedef struct lw_course {
    lw_memory_form form;
    uint32_t bytes, count; /* of an element; elements of a lane */
    int64_t from, to; /* what is checked, from each lane's address on: its own elements, or those of others, too … */
    int64_t slack;    /* … and so many bytes behind them that are read for nothing */
    lw_shape shape;   /* of the addresses … */
    LLVMValueRef at[LW_STRAND_RUNS]; /* … and those of the bases, 64 bits */
    uint32_t together;               /* each 1 << together lanes are neighbours … */
    uint32_t turned; /* … in the order of their numbers with these bits the other way round, of which none is above */
    LLVMValueRef good; /* a condition for it all; NULL: none */
    LLVMValueRef host; /* to be added to addresses */
} lw_course;

static inline LLVMValueRef lw_course_number(const lw_strand *s, uint64_t value) {
    return lw_build_number(lw_strand_build(s), 64, value);
}
static inline uint32_t lw_course_each(const lw_course *course) { return course->bytes * course->count; }
static inline bool lw_course_is_joined(const lw_course *course) { return course->together == LW_WARP_BITS; }
/* An element each, at known distances: gathers and scatters from one place on, where the level has them. */
static inline bool lw_course_is_spread(const lw_strand *s, const lw_course *course) {
    int64_t least, most;
    lw_shape_span(&course->shape, course->shape.run, &least, &most);
    return s->u->level->mask_registers && course->count == 1 && course->bytes >= 4 && course->together <= 1 &&
           1u << course->shape.run >= lw_strand_build(s)->chunk && most - least <= INT32_MAX;
}
/* An element each, equally far from each other and not far: all that lies from the first to the last is read at once,
 * and what is between them left out. So many bytes from lane to lane; 0: it is not so. */
uint32_t lw_course_comb(const lw_course *course);
/* From lane to lane it is equally far: the first and the last that execute say how far they all go. */
static inline bool lw_course_is_even(const lw_course *course) {
    const int64_t step = course->shape.step[0];
    for (uint32_t k = 0; k < course->shape.run; k++)
        if (!step || course->shape.step[k] != step * (1 << k)) return false;
    return course->shape.run == LW_WARP_BITS;
}
/* Not all levels have masked vectors of small elements. */
static inline bool lw_course_has_masked(const lw_strand *s, const lw_course *course) {
    return course->bytes >= 4 || s->u->level->mask_registers;
}
/* Where lanes that do not execute go is no matter: nothing is read there. */
static inline bool lw_course_goes_by_mask(const lw_strand *s, const lw_course *course) {
    if (!lw_course_is_even(course)) return false;
    return lw_course_is_joined(course) ? lw_course_has_masked(s, course) : lw_course_is_spread(s, course);
}
/* Some of the lanes are stored by masked vectors, of rows that are long enough. */
static inline bool lw_course_stores_by_mask(const lw_strand *s, const lw_course *course) {
    const bool is_long = course->together >= LW_RUN_LEAST && lw_course_has_masked(s, course);
    return is_long || lw_course_is_spread(s, course);
}
static inline LLVMValueRef lw_course_also(const lw_strand *s, const lw_course *course, LLVMValueRef good) {
    return course->good ? LLVMBuildAnd(lw_strand_build(s)->at, course->good, good, "") : good;
}
LLVMValueRef lw_course_is_full(const lw_strand *s);                    /* all lanes of the warp execute */
LLVMValueRef lw_course_shared(const lw_strand *s, LLVMValueRef *host); /* bytes of shared memory, and their place */

/* Of the allocation that operation n met last, its bytes; and whether it may do there what it does. */
LLVMValueRef lw_course_met(const lw_strand *s, uint32_t n, LLVMValueRef *base, LLVMValueRef *host, LLVMValueRef *good);

/* False: the addresses are no row, or it is for the interpreter's step in any case. All but the addresses themselves;
 * and with these. */
bool lw_course_is_row(const lw_strand *s, const lw_op *op, lw_course *course);
bool lw_course_find(lw_strand *s, const lw_op *op, lw_course *course);
/* Of a load that gives all lanes of a run the same. */
lw_course lw_course_of_runs(lw_strand *s, const lw_op *op, uint32_t run);
/* Of lanes that go to neighbouring places all, the first one's address. */
lw_course lw_course_of_neighbours(const lw_op *op, LLVMValueRef first);
/* The condition that all may go there, for operation n. */
void lw_course_check(lw_strand *s, uint32_t n, lw_course *course, bool stores);
/* True where nothing has to be asked any more: on the plain way; and of shared memory where it is known, or where one
 * check for several accesses of a block stands in front of this one, which leaves the strand where it does not hold. */
bool lw_course_is_sure(lw_strand *s, uint32_t n);
void lw_course_trust(lw_strand *s, uint32_t n, lw_course *course);

/* ---- strand_bits.c: addresses of shared memory, by what is known of them ----------------------------------------- */

/* All that execute an access are aligned; and within what the program has of shared memory in any launch. Of rows all
 * lanes are. */
bool lw_course_is_aligned(const lw_strand *s, const lw_op *op);
bool lw_course_is_inside(const lw_strand *s, const lw_op *op);

/* ---- strand_memory.c: elements ----------------------------------------------------------------------------------- */

/* A value of memory becomes one of a register, or a vector of them does. */
LLVMValueRef lw_course_widen(const lw_strand *s, LLVMValueRef value, lw_memory_form form, bool vector);
uint32_t lw_course_element(const lw_strand *s, const lw_op *op,
                           uint32_t k); /* the register that has one of each lane */
/* All elements of a chunk to be stored, one lane's behind the other's. */
LLVMValueRef lw_course_joined(lw_strand *s, const lw_op *op, const lw_course *course, uint32_t chunk);

/* ---- strand_gather.c: each lane its own way, all of a chunk at once ---------------------------------------------- */

bool lw_strand_gathers(const lw_strand *s,
                       const lw_op *op); /* where the level's processors can, and no more is asked */
void lw_strand_gather(lw_strand *s, uint32_t n);
/* What all accesses have in common that are like operation n is found in front of it, where it can be. */
void lw_strand_reach(lw_strand *s, uint32_t n);
/* Whether lanes may turn out to be neighbours, all of them and in their order, though nobody knows: the condition that
 * they are. NULL: it is not worth to look. */
LLVMValueRef lw_strand_joined(lw_strand *s, uint32_t n, lw_course *course);
void lw_strand_scatter(lw_strand *s, uint32_t n);

/* ---- strand_turn.c: each lane its own way ------------------------------------------------------------------------ */

/* A loop over some lanes, at least one, the lowest first. */
typedef struct lw_each {
    LLVMBasicBlockRef before, loop;
    LLVMValueRef lanes, left, lane; /* lane: its number, 64 bits */
} lw_each;
lw_each lw_each_begin(const lw_strand *s, LLVMValueRef lanes);
void lw_each_end(const lw_strand *s, const lw_each *each);

typedef struct lw_turn {
    uint32_t bytes;               /* of an element */
    LLVMValueRef host;            /* the place of shared memory, or of the warp's local memory … */
    LLVMValueRef ways[LW_CHUNKS]; /* … and how far from it the lanes go: nowhere bad those that do not execute */
    lw_each each;                 /* in a loop over the lanes that execute: … */
    LLVMValueRef place;           /* … where the lane goes */
} lw_turn;
/* The condition that all that execute are within shared memory, their local memory, or the allocation that an atomic
 * operation met last, and aligned; the same of one place for all of them. */
LLVMValueRef lw_turn_find(lw_strand *s, uint32_t n, lw_turn *turn);
LLVMValueRef lw_turn_find_one(lw_strand *s, uint32_t n, uint32_t bytes, LLVMValueRef *place);
LLVMValueRef lw_turn_room(const lw_strand *s, LLVMTypeRef of_chunk); /* for all lanes, in memory */
/* All lanes of a register, in memory; and the one of a lane. Chunks of anything. */
LLVMValueRef lw_turn_list(lw_strand *s, uint32_t reg);
LLVMValueRef lw_turn_chunks(const lw_strand *s, LLVMValueRef *chunks);
LLVMValueRef lw_turn_element(const lw_build *b, LLVMTypeRef type, LLVMValueRef room, LLVMValueRef lane);
void lw_turn_begin(lw_strand *s, lw_turn *turn);
void lw_turn_end(lw_strand *s, const lw_turn *turn);

/* ---- strand_local.c ---------------------------------------------------------------------------------------------- */

/* Bytes of local memory that the frame's lanes reach, and where the warp's first lane has its own; what of an address
 * is the frame's; and how far from there lanes of a chunk go, by their addresses. */
LLVMValueRef lw_local_room(const lw_strand *s, LLVMValueRef *host);
LLVMValueRef lw_local_frame(const lw_strand *s, lw_memory_form form);
LLVMValueRef lw_local_ways(const lw_strand *s, LLVMValueRef addresses, uint32_t chunk);
void lw_local_used(const lw_strand *s, LLVMValueRef end); /* up to there it may hold something from now on */

#endif
