/* facts.h: what engines want to know of a function, found out once, beside its code: convergence, what is live where,
 * which registers lanes leave with one by one, which have one value for all lanes.   One solver each; what an operation
 * does, they ask its row. */
#ifndef LW_FACTS_H
#define LW_FACTS_H

#include "middle/row.h"

/* ---- live.c: what is live where ------------------------------------------------------------------------------ */

/* Of some registers, which are numbered from 1; 0: not one of them. */
typedef struct lw_live {
    const lw_code *code;
    const uint32_t *numbers; /* per register */
    uint32_t words;          /* of a set */
    uint64_t *in, *out;      /* per block */
    uint64_t *exposed, *killed;
    uint32_t *tables;
} lw_live;

/* A lane needs what it reads before it writes it. `sets` are 4 * words for each block, all zero; `tables` a word for
 * each of code's targets. False: not done after so many passes. */
bool lw_live_solve(lw_live *live, uint64_t *sets, uint32_t *tables, uint32_t passes);
static inline uint64_t *lw_live_set(const lw_live *live, uint64_t *sets, uint32_t block) {
    return sets + (size_t)block * live->words;
}
/* From behind an operation to in front of it: a set of all registers, of which those that are known are never in it.
 * guarded: not all executing lanes may do it. */
void lw_live_over(const lw_code *code, const lw_op *op, bool guarded, uint64_t *set);

/* ---- facts.c: a function's blocks, and the registers that live across them ------------------------------------- */

typedef struct lw_loop {
    uint32_t first, end;
} lw_loop; /* blocks; both 0: none */

/* A register that lives across regions. */
typedef struct lw_across {
    uint32_t reg;
    uint32_t first_in, last_in;   /* first and last block that it is live into; none where the first is UINT32_MAX */
    uint32_t first_out, last_out; /* and out of */
    bool needs_zero;              /* may be read before it is written */
    bool lone;                    /* lives in a loop that lanes leave one by one: see find_lone */
} lw_across;

/* Of a function over virtual registers; in the arena of its program. */
typedef struct lw_facts {
    uint32_t *regions; /* per block: the stretch of straight text that it is in; numbers rise */
    lw_loop *loops;    /* per block: the innermost stretch of text around it that a branch goes back over */
    bool has_loops;
    uint32_t *numbers; /* per register: 1 + its number in `across`; 0: it lives within one region, or is known */
    lw_across *across;
    uint32_t across_count;
    bool flow_known; /* `live` and what follows from it; else too much work: all in `across` live everywhere */
    lw_live live;    /* of those in `across` */
} lw_facts;

/* Finds them once: code->facts from then on. */
void lw_facts_find(lw_arena *arena, lw_code *code);
/* `set`, a bit for each register, is what is live in front of the block behind this one in the text (nothing where
 * there is none), and becomes what is live behind this block. */
void lw_facts_live_behind(const lw_code *code, uint32_t block, uint64_t *set);
static inline const lw_across *lw_facts_across(const lw_code *code, uint32_t reg) {
    const uint32_t number = code->facts->numbers[reg];
    return number ? &code->facts->across[number - 1] : NULL;
}
/* Lone, and its loop is the one around this block. */
bool lw_facts_lone_at(const lw_code *code, const lw_across *across, uint32_t block);

/* ---- uniform.c: which registers have one value for all lanes --------------------------------------------------- */

/* Of a function whose lanes never part; where they may, nothing is known. */
typedef struct lw_uniform {
    const lw_program *program;
    const lw_code *code;
    bool nobody_beyond; /* for whoever goes on only where no lane is `beyond` */
    bool parts;         /* lanes may go on at different places or times somewhere */
    uint32_t words;     /* of a set of registers */
    uint64_t *in;       /* per block: those that have one value, in front of it */
} lw_uniform;

/* `sets` are `words` for each block and one more. */
void lw_uniform_solve(lw_uniform *uniform, uint64_t *sets);
/* From in front of an operation to behind it. False: lanes may part here. */
bool lw_uniform_over(const lw_uniform *uniform, const lw_op *op, uint64_t *set);
/* A load of that form from there is one whole parameter of the kernel. */
bool lw_is_parameter_at(const lw_program *program, lw_memory_form form, uint64_t at);
/* The operation loads one, and from a place that is known. */
bool lw_is_parameter(const lw_program *program, const lw_code *code, const lw_op *op, uint64_t *at);

/* ---- indexed.c: addresses by an index -------------------------------------------------------------------------- */

/* What is known of a code by whoever looks for them, who numbers its operations. */
typedef struct lw_indexed_search {
    const void *user;
    const lw_op *(*op)(const void *user, uint32_t n);
    /* The operation that gives what operation n reads in a register; LW_NO_SLOT: it is not known. */
    uint32_t (*maker)(const void *user, uint32_t n, uint32_t reg);
    bool (*is_number)(const void *user, uint32_t reg, uint64_t value);
    /* What operation n reads in a register will do for the access, too: as the number; as the index. */
    bool (*is_base)(const void *user, uint32_t n, uint32_t reg);
    bool (*is_index)(const void *user, uint32_t n, uint32_t reg);
} lw_indexed_search;

/* Operation n accesses memory, 1 << shift bytes a lane, by such an address in its register `a`: then fills in its
 * number, its index and the operations that make it, from the last one on. */
bool lw_find_indexed(const lw_indexed_search *search, uint32_t n, uint32_t shift, lw_indexed_access *to);

/* ---- Sets of registers ----------------------------------------------------------------------------------------- */

/* Each that a set has. */
#define LW_EACH_IN(set, words, n) \
    for (uint32_t w_ = 0; w_ < (words); w_++) \
        for (uint64_t left_ = (set)[w_]; left_; left_ &= left_ - 1) \
            for (uint32_t n = 64 * w_ + (uint32_t)__builtin_ctzll(left_), once_ = 1; once_; once_ = 0)
static inline bool lw_set_has(const uint64_t *set, uint32_t n) { return set[n / 64] >> n % 64 & 1; }
static inline void lw_set_add(uint64_t *set, uint32_t n) { set[n / 64] |= 1ull << n % 64; }
static inline void lw_set_remove(uint64_t *set, uint32_t n) { set[n / 64] &= ~(1ull << n % 64); }

#endif
