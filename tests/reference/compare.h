/* compare.h: one kernel by the reference and by every engine of the library. */
#ifndef LW_COMPARE_H
#define LW_COMPARE_H

#include "generate.h"
#include "reference.h"

#include "lanewise/lanewise.h"

enum { ENGINES_MAX = 16 };

typedef struct engine {
    char name[48];
    lw_context *context;
    bool jit, gpu, sm_90;  /* sm_90: its results where the manual's differ */
    uint64_t in, out, sum; /* device addresses */
} engine;

typedef struct comparison {
    engine engines[ENGINES_MAX];
    uint32_t engine_count;
    char names[512];
    uint64_t seed;
    bool with_jit, sm_90; /* what kernels are compared by now */
    bool bare;            /* kernels must not read memory that they have not written */
    bool has_gpu;
    char why[1024];  /* what differed last */
    bool ran;        /* the last kernel ended, everywhere that it was to run */
    uint64_t digest; /* of what it left in memory, by the reference */
    uint64_t steps, compiled,
        skipped;        /* instructions of the reference; kernels that were compiled; that were too long */
    uint64_t *executed; /* by form: instructions of the reference */
    unsigned char *in, *out, *sum, *got; /* of the reference; of an engine */
} comparison;

comparison *compare_begin(bool gpu, bool engines); /* gpu: a GPU, too; engines: those of the library */
void compare_end(comparison *c);
bool compare_kernel(comparison *c, gen_kernel *kernel); /* false: they differ, or the text has faults; `why` tells */
void compare_reduce(comparison *c, gen_kernel *kernel); /* drops lines as long as the kernel differs */

uint64_t compare_digest(const void *bytes, size_t size); /* FNV-1a */
uint32_t compare_missing(const comparison *c); /* says which executable forms no kernel has executed; their number */

/* gpu.c */
void gpu_open(engine *e, uint64_t out_bytes);
bool gpu_run(engine *e, const gen_kernel *kernel, const unsigned char *in, unsigned char *params, uint64_t out_bytes,
             char *why, size_t size);
void gpu_read(uint64_t address, void *to, uint64_t size);

#endif
