/* driver.c: the driver's functions, looked up in libcuda.so.1. */
#include "shim/cudart/runtime.h"

#include <dlfcn.h>
#include <string.h>

lw_rt_driver lw_driver;

typedef void function(void);

static const char *const names[] = {
#define CALL(name, params, function, args)   #function,
#define DEVICE                               CALL
#define FUNCTION                             CALL
#define STREAM(name, params, function, args) #function, #function "_ptsz",
#include "shim/cudart/calls.def"
#undef CALL
#undef DEVICE
#undef FUNCTION
#undef STREAM
#define DRIVER(function, ...) #function,
#define THREAD(function, ...) #function, #function "_ptsz",
#define COPIES(function, ...) #function, #function "_ptds",
#include "shim/cudart/driver.def"
};
enum { NAMES = sizeof names / sizeof names[0] };
_Static_assert(sizeof lw_driver == NAMES * sizeof(function *), "a name for each function, in the same order");

/* In place of a function that an older driver does not have. Callers pass arguments that nobody reads. */
static CUresult missing(void) { return CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER; }

static CUresult begun = CUDA_SUCCESS;

static void begin(void) {
    void *library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
    function *functions[NAMES];
    for (int i = 0; i < NAMES; i++) {
        void *found = library ? dlsym(library, names[i]) : NULL;
        functions[i] = (function *)missing;
        if (found) memcpy(&functions[i], &found, sizeof found);
    }
    memcpy(&lw_driver, functions, sizeof lw_driver);
    begun = library ? lw_driver.cuInit(0) : cudaErrorInsufficientDriver;
}

cudaError_t lw_rt_ready(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, begin);
    return lw_rt_result(begun);
}
