/* tier.h: which code CTAs run. In the engine auto a program begins in the interpreter; one that has executed enough is
 * compiled on a thread of its context, and CTAs run the compiled code then as long as that is no slower.
 *
 *     cold → waiting → trial → fast
 *                   ↘ refused  ↘ slower      (missing, failed, large: never compiled at all)
 *
 * The compiled code is of a second program: the same, but for copies of the operations that it is laid over. A CTA
 * begins in one of the two, and may go on in the other between turns of its gangs (interp/swap.c). No code that runs is
 * ever changed.
 *
 * Code may be for one layout of threads in their block: a program has a tier for each layout that it is launched with.
 * In the engine jit a launch waits until its tier is compiled. */
#ifndef LW_TIER_H
#define LW_TIER_H

#include "run/cache.h"

typedef enum lw_tier_state {
#define TIER(name, why) LW_TIER_##name,
#include "run/tiers.def"
} lw_tier_state;

/* Of a context: the thread that compiles, and what waits for it. hot: warp instructions that a program is compiled
 * behind; LW_HOT_AUTO: as many as its size asks for; 0: a launch waits until it is; LW_HOT_ALWAYS: it fails where it
 * cannot be, and runs nothing else. cache: of compiled code, or NULL. `programs` numbers programs. NULL: no memory. */
#define LW_HOT_AUTO   UINT64_MAX
#define LW_HOT_ALWAYS (UINT64_MAX - 1)
typedef struct lw_tiers lw_tiers;
lw_tiers *lw_tiers_new(const lw_level *level, uint64_t hot, lw_cache *cache, _Atomic uint64_t *programs);
void lw_tiers_free(lw_tiers *tiers);      /* none of their programs is left */
bool lw_tiers_compiling(lw_tiers *tiers); /* to free what is compiled now waits until that is done */

/* Of a linked program, which must outlive it, and blocks of one layout: found in the program's list, or added. Who may
 * add one holds the list's lock. NULL: there is none; no memory. */
typedef struct lw_tier lw_tier;
lw_tier *lw_tier_find(_Atomic(lw_tier *) *list, lw_layout layout);
lw_tier *lw_tier_for(_Atomic(lw_tier *) *list, lw_tiers *tiers, lw_program *program, lw_layout layout);
/* The list. Nothing may run it any more. Takes it back from who compiles, or waits until that is done. */
void lw_tier_free(lw_tier *list);

/* A launch begins. It cannot without compiled code (LW_HOT_ALWAYS): `why` says why there is none, and is good as long
 * as the tier. It is stopped while that is made, which goes on meanwhile. */
typedef enum lw_tier_start { LW_TIER_BEGINS, LW_TIER_CANNOT, LW_TIER_STOPPED } lw_tier_start;
lw_tier_start lw_tier_begin(lw_tier *tier, const lw_grid *grid, const char **why);
/* What CTAs that begin now run: the program, or the compiled one. */
const lw_program *lw_tier_program(const lw_tier *tier);
/* What a CTA goes on with that runs this one, and was begun in the other one (swapped). */
const lw_program *lw_tier_goes_on(const lw_tier *tier, const lw_program *program, bool swapped);
/* Which one that is is not settled yet: what is executed is to be told now and then. */
bool lw_tier_changes(const lw_tier *tier);
/* The code that it is compiled to came from the cache. */
bool lw_tier_was_kept(const lw_tier *tier);
/* So much more was executed. */
void lw_tier_count(lw_tier *tier, uint64_t warp_instructions);
/* On trial: what each code has done is to be told, with the CPU time that it took, apart for CTAs that were begun in
 * the other (swapped). */
bool lw_tier_measures(const lw_tier *tier);
void lw_tier_measured(lw_tier *tier, const lw_program *program, bool swapped, uint64_t lane_instructions,
                      double seconds);
/* Why CTAs that begin now are not compiled, in one line; "": they are. */
const char *lw_tier_why(const lw_tier *tier);

#endif
