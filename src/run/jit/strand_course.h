/* strand_course.h: between strand_check.c and strand_memory.c: where the lanes of an access go, and whether they may.
 */
#ifndef LW_STRAND_COURSE_H
#define LW_STRAND_COURSE_H

#include "run/jit/strand.h"

/* Where the lanes go. */
typedef struct lw_course {
    lw_memory_form form;
    uint32_t bytes, count; /* of an element; elements of a lane */
    int64_t from, to;      /* what is checked, from each lane's address on: its own elements, or those of others, too */
    lw_shape shape;        /* of the addresses … */
    LLVMValueRef at[LW_STRAND_RUNS]; /* … and those of the bases, 64 bits */
    uint32_t together;               /* each 1 << together lanes are neighbours */
    LLVMValueRef good;               /* a condition for it all; NULL: none */
    LLVMValueRef host;               /* to be added to addresses */
} lw_course;

static inline LLVMValueRef lw_course_number(const lw_strand *s, uint64_t value) {
    return lw_build_number(lw_strand_build(s), 64, value);
}
static inline uint32_t lw_course_each(const lw_course *course) { return course->bytes * course->count; }
static inline bool lw_course_is_joined(const lw_course *course) { return course->together == LW_WARP_BITS; }
/* Lanes that do not execute are no matter, if they are neighbours of those that do. */
static inline bool lw_course_goes_by_mask(const lw_course *course) {
    return lw_course_is_joined(course) && course->bytes >= 4 && course->count == 1;
}
static inline LLVMValueRef lw_course_also(const lw_strand *s, const lw_course *course, LLVMValueRef good) {
    return course->good ? LLVMBuildAnd(lw_strand_build(s)->at, course->good, good, "") : good;
}
LLVMValueRef lw_course_is_full(const lw_strand *s);                    /* all lanes of the warp execute */
LLVMValueRef lw_course_shared(const lw_strand *s, LLVMValueRef *host); /* bytes of shared memory, and their place */

/* False: the addresses are no row, or it is for the interpreter's step in any case. */
bool lw_course_find(lw_strand *s, const lw_op *op, lw_course *course);
/* Of a load that gives all lanes of a run the same. */
lw_course lw_course_of_runs(lw_strand *s, const lw_op *op, uint32_t run);
/* The condition that all may go there, for operation n. */
void lw_course_check(lw_strand *s, uint32_t n, lw_course *course, bool stores);
/* The same of shared memory where it is known: true where one check for several accesses of a block stands in front of
 * this one, which leaves the strand where it does not hold. */
bool lw_course_is_sure(lw_strand *s, uint32_t n);
void lw_course_trust(lw_strand *s, const lw_op *op, lw_course *course);

/* ---- strand_atomic.c: shared memory, each lane its own way ------------------------------------------------------- */

typedef struct lw_turn {
    uint32_t bytes;               /* of an element */
    LLVMValueRef host;            /* the place of shared memory … */
    LLVMValueRef ways[LW_CHUNKS]; /* … and how far from it the lanes go: 0 those that do not execute */
    /* in a loop over the lanes that execute, the lowest first */
    LLVMBasicBlockRef before, loop;
    LLVMValueRef left, lane, place; /* lane: its number; place: where it goes */
} lw_turn;
/* The condition that all that execute are within shared memory, and aligned. */
LLVMValueRef lw_turn_find(lw_strand *s, const lw_op *op, lw_turn *turn);
/* All lanes of a register, in memory; and the one of a lane. */
LLVMValueRef lw_turn_list(lw_strand *s, uint32_t reg);
LLVMValueRef lw_turn_element(const lw_build *b, LLVMTypeRef type, LLVMValueRef room, LLVMValueRef lane);
void lw_turn_begin(lw_strand *s, lw_turn *turn);
void lw_turn_end(lw_strand *s, const lw_turn *turn);

#endif
