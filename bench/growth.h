/* How time grows with what a text or a launch controls: n, 2n, 4n of one thing, everything else as it is.
 *
 *     growth.c         measures and prints             growth_ptx.c   texts of PTX
 *     growth_calls.c   launches, calls, the driver     growth_pto.c   texts of PTO */
#ifndef LW_BENCH_GROWTH_H
#define LW_BENCH_GROWTH_H

#include "bench.h"

enum {
    LW_GROWTH_FAULTY = 1, /* the text has errors */
    LW_GROWTH_RUNS = 2,   /* its kernel `k` is launched, too */
    LW_GROWTH_PTO = 4,
    LW_GROWTH_ONE = 8,     /* only the kernel `k` is asked for; otherwise each of the module */
    LW_GROWTH_STRAYS = 16, /* the launch ends with a trap or a limit, as it should */
};

typedef struct lw_growth_text {
    const char *name;
    void (*write)(FILE *to, uint32_t n);
    uint32_t start, most; /* n: where the search begins; 4n at most, 0: no bound */
    unsigned flags;
    uint32_t block; /* threads of a launch; 0: 32 */
} lw_growth_text;

/* Something else than a text: makes what it needs, and returns the seconds of what n things took. */
typedef struct lw_growth_call {
    const char *name;
    double (*measure)(lw_context *context, uint32_t n);
    uint32_t start, most;
} lw_growth_call;

extern const lw_growth_text lw_growth_ptx[], lw_growth_pto[]; /* ended by an empty one */
extern const lw_growth_call lw_growth_calls[];

#endif
