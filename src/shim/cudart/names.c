/* names.c: the names of the runtime that are not implemented. They give back an error, which is the thread's last one.
 */
#include "shim/cudart/runtime.h"

/* Callers pass arguments that nobody reads: on all our platforms it is the caller who cleans them up. */
#define HERE(name)
#define MISSING(name) \
    cudaError_t name(void) __attribute__((visibility("default"))); \
    cudaError_t name(void) { return lw_rt_end(cudaErrorNotSupported); }
#define HERE12 HERE
#ifdef LW_RT_BEFORE13
#define MISSING12 MISSING
#else
#define MISSING12 HERE
#endif
#include "shim/cudart/names.def"
