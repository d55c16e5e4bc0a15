/* stream.c: streams, events and versions, as far as they are more than a call of the driver. */
#include "shim/cudart/runtime.h"

/* ---- Streams and events ---------------------------------------------------------------------------------------- */

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags) {
    const cudaError_t error = lw_rt_enter();
    return error ? lw_rt_end(error) : lw_rt_end_driver(lw_driver.cuStreamCreate(stream, flags));
}

cudaError_t cudaStreamCreate(cudaStream_t *stream) { return cudaStreamCreateWithFlags(stream, 0); }

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags) {
    const cudaError_t error = lw_rt_enter();
    return error ? lw_rt_end(error) : lw_rt_end_driver(lw_driver.cuEventCreate(event, flags));
}

cudaError_t cudaEventCreate(cudaEvent_t *event) { return cudaEventCreateWithFlags(event, 0); }

/* ---- Versions -------------------------------------------------------------------------------------------------- */

#ifdef LW_RT_BEFORE13
enum { VERSION = 12090 };
#else
enum { VERSION = 13000 };
#endif

cudaError_t cudaRuntimeGetVersion(int *version) {
    if (!version) return lw_rt_end(cudaErrorInvalidValue);
    *version = VERSION;
    return cudaSuccess;
}

/* 0 where there is no driver. */
cudaError_t cudaDriverGetVersion(int *version) {
    if (!version) return lw_rt_end(cudaErrorInvalidValue);
    *version = 0;
    return lw_rt_ready() == cudaErrorInsufficientDriver ? cudaSuccess
                                                        : lw_rt_end_driver(lw_driver.cuDriverGetVersion(version));
}

static cudaError_t entry_point(const char *name, void **function, unsigned version, unsigned long long flags,
                               unsigned *why, bool thread) {
    const cudaError_t error = lw_rt_ready();
    unsigned found;
    if (error) return lw_rt_end(error);
    if (thread && !flags) flags = CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
    const CUresult result = lw_driver.cuGetProcAddress_v2(name, function, (int)version, flags, why ? why : &found);
    if (result || why || found == CU_GET_PROC_ADDRESS_SUCCESS) return lw_rt_end_driver(result);
    return lw_rt_end(cudaErrorSymbolNotFound);
}

#define ENTRY_POINT(suffix, thread) \
    cudaError_t cudaGetDriverEntryPoint##suffix(const char *name, void **function, unsigned long long flags, \
                                                unsigned *why) { \
        return entry_point(name, function, VERSION, flags, why, thread); \
    } \
    cudaError_t cudaGetDriverEntryPointByVersion##suffix(const char *name, void **function, unsigned version, \
                                                         unsigned long long flags, unsigned *why) { \
        return entry_point(name, function, version, flags, why, thread); \
    }
ENTRY_POINT(, false)
ENTRY_POINT(_ptsz, true)
