/* thread.c: the calls of programs whose default stream is one per thread. */
#include "shim/cuda/driver.h"

_Thread_local bool lw_cu_per_thread;

static void end(const bool *before) { lw_cu_per_thread = *before; }

#define THREAD(name, plain, parameters, arguments) \
    CUresult name parameters { \
        __attribute__((cleanup(end))) const bool was_per_thread = lw_cu_per_thread; \
        (void)was_per_thread; /* but by its end, which clang does not count */ \
        lw_cu_per_thread = true; \
        return plain arguments; \
    }
#include "shim/cuda/thread.def"
#undef THREAD
