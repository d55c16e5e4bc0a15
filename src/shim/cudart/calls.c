/* calls.c: the calls that are one call of the driver. */
#include "shim/cudart/runtime.h"

#define BODY(begin, function, args) \
    { \
        const cudaError_t error = begin; \
        return error ? lw_rt_end(error) : lw_rt_end_driver(lw_driver.function args); \
    }
#define CALL(name, params, function, args)     cudaError_t name params BODY(lw_rt_enter(), function, args)
#define DEVICE(name, params, function, args)   cudaError_t name params BODY(lw_rt_ready(), function, args)
#define FUNCTION(name, params, function, args) cudaError_t name params BODY(replace(&func), function, args)
#define STREAM(name, params, function, args) \
    CALL(name, params, function, args) \
    STREAM_THREAD(name, params, function, args)
#define STREAM_THREAD(name, params, function, args) CALL(name##_ptsz, params, function##_ptsz, args)

static cudaError_t replace(const void **func) {
    CUfunction function = NULL;
    const cudaError_t error = lw_rt_function(*func, &function);
    *func = function;
    return error;
}

#include "shim/cudart/calls.def"
