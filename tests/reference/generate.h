/* generate.h: random valid kernels whose results are defined. The same seed gives the same kernel for ever.
 *
 * All kernels take the same parameters, and every thread works on its own:
 *   in    IN_WORDS 64-bit words, random, read only
 *   out   OUT_BYTES for each thread of the grid
 *   sum   SUM_BYTES that all threads add to, in ways whose order does not matter
 *   one parameter of each type that a kernel parameter may have
 *
 * What lanes exchange goes by masks that are known when the text is made, so that every lane of a mask comes to as many instructions of the
 * same kind, in the same order, by whatever way. */
#ifndef LW_GENERATE_H
#define LW_GENERATE_H

#include "base/base.h"

enum { GEN_IN_WORDS = 256, GEN_OUT_BYTES = 512, GEN_SUM_BYTES = 1024, GEN_PARAM_BYTES = 128 };

typedef struct gen_options {
    bool places;  /* lanes of a warp come to one exchange from different places of the text */
    bool warps;   /* exchanges only: whatever the rest of the generator makes is left out */
    bool traps;   /* some kernels end in a trap */
} gen_options;

typedef struct gen_kernel {
    lw_text text;
    uint32_t grid[3], block[3];
    unsigned char params[GEN_PARAM_BYTES]; /* of all but the three addresses, which are the first 24 bytes */
    uint32_t param_bytes;
    bool traps;
} gen_kernel;

/* `kernel` is empty; its text belongs to the caller. */
void gen_make(gen_kernel *kernel, uint64_t seed, const gen_options *options);

/* ---- For the files of the generator ---------------------------------------------------------------------- */

enum { GEN_KINDS_MAX = 64 };

typedef struct gen {
    uint64_t state;
    const gen_options *options;
    gen_kernel *kernel;
    lw_text body, functions;
    uint32_t depth, labels, names;
    uint32_t threads;        /* of a CTA */
    uint32_t live;           /* lanes of each warp that have not exited */
    uint64_t called;         /* exchanges that have a function: bit of the kind */
    uint32_t left;           /* statements still to make */
} gen;

uint64_t gen_word(gen *g);
uint32_t gen_below(gen *g, uint32_t n);
bool gen_chance(gen *g, uint32_t percent);
void gen_put(gen *g, const char *format, ...) LW_PRINTF(2, 3); /* a line of the body */
uint32_t gen_label(gen *g);
void gen_split(gen *g, uint32_t lanes, const char *predicate); /* predicate: is this lane one of them */
void gen_noise(gen *g, uint32_t most);                         /* some work of each thread by itself */

/* generate_warp.c */
void gen_episode(gen *g);      /* lanes of one mask exchange, by one way or by many */
uint32_t gen_some_lanes(gen *g, uint32_t among); /* halves, bytes, alternate lanes, single ones; not none of them */

#endif
