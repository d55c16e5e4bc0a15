/* device.c: each thread's device, and the primary contexts, which begin when somebody needs them. */
#include "shim/cudart/runtime.h"

#include <stdatomic.h>

/* ---- Primary contexts ------------------------------------------------------------------------------------------ */

static struct {
    pthread_mutex_t lock;
    CUcontext primary[LW_RT_DEVICES]; /* those that this library retains */
    _Atomic uint64_t resets;
} devices = {.lock = PTHREAD_MUTEX_INITIALIZER};

static _Thread_local struct {
    int device;
    CUcontext bound; /* what was made current here */
    uint64_t resets; /* before that */
} thread;

cudaError_t lw_rt_primary(int device, CUcontext *context) {
    if (device < 0 || device >= LW_RT_DEVICES) return cudaErrorInvalidDevice;
    CUresult result = CUDA_SUCCESS;
    pthread_mutex_lock(&devices.lock);
    if (!devices.primary[device]) result = lw_driver.cuDevicePrimaryCtxRetain(&devices.primary[device], device);
    if (result) devices.primary[device] = NULL;
    *context = devices.primary[device];
    pthread_mutex_unlock(&devices.lock);
    /* A process that had a fault gets no new one, as 13.0 says on an H200. */
    return lw_rt_sticks(lw_rt_result(result)) ? cudaErrorDevicesUnavailable : lw_rt_result(result);
}

static cudaError_t bind(int device) {
    CUcontext context;
    thread.resets = devices.resets;
    cudaError_t error = lw_rt_primary(device, &context);
    if (!error) error = lw_rt_result(lw_driver.cuCtxSetCurrent(context));
    if (!error) thread.bound = context;
    return error;
}

cudaError_t lw_rt_enter(void) {
    CUcontext now = NULL;
    cudaError_t error = lw_rt_ready();
    if (!error) error = lw_rt_result(lw_driver.cuCtxGetCurrent(&now));
    if (error) return error;
    /* A context that this thread has from before a reset may have ended. */
    return now && (now != thread.bound || thread.resets == devices.resets) ? cudaSuccess : bind(thread.device);
}

cudaError_t lw_rt_context(CUcontext *context) { return lw_rt_result(lw_driver.cuCtxGetCurrent(context)); }

/* ---- Choosing -------------------------------------------------------------------------------------------------- */

static cudaError_t count_devices(int *count) {
    const cudaError_t error = lw_rt_ready();
    *count = 0;
    return error ? error : lw_rt_result(lw_driver.cuDeviceGetCount(count));
}

static cudaError_t check(int device) {
    int count;
    const cudaError_t error = count_devices(&count);
    return error ? error : device < 0 || device >= count ? cudaErrorInvalidDevice : cudaSuccess;
}

cudaError_t cudaGetDeviceCount(int *count) {
    int known;
    const cudaError_t error = count_devices(&known);
    if (!count) return lw_rt_end(cudaErrorInvalidValue);
    *count = known;
    return lw_rt_end(error);
}

cudaError_t cudaSetDevice(int device) {
    cudaError_t error = check(device);
    if (!error) error = bind(device);
    if (!error) thread.device = device;
    return lw_rt_end(error);
}

/* Of the context that is current, which the program may have set by the driver. */
static cudaError_t current_device(int *device) {
    CUcontext now = NULL;
    cudaError_t error = check(thread.device);
    if (!error) error = lw_rt_context(&now);
    *device = thread.device;
    return error || !now || now == thread.bound ? error : lw_rt_result(lw_driver.cuCtxGetDevice(device));
}

cudaError_t cudaGetDevice(int *device) { return lw_rt_end(device ? current_device(device) : cudaErrorInvalidValue); }

cudaError_t cudaInitDevice(int device, unsigned device_flags, unsigned flags) {
    enum { FLAGS_ARE_GIVEN = 1 };
    CUcontext context;
    cudaError_t error = flags > FLAGS_ARE_GIVEN ? cudaErrorInvalidValue : check(device);
    if (!error && flags) error = lw_rt_result(lw_driver.cuDevicePrimaryCtxSetFlags_v2(device, device_flags));
    return lw_rt_end(error ? error : lw_rt_primary(device, &context));
}

/* The first device that has not less of anything; devices do not differ. */
cudaError_t cudaChooseDevice(int *device, const struct cudaDeviceProp *properties) {
    if (!device || !properties) return lw_rt_end(cudaErrorInvalidValue);
    const cudaError_t error = check(0);
    if (!error) *device = 0;
    return lw_rt_end(error);
}

/* The first of them is what a thread begins with. */
cudaError_t cudaSetValidDevices(int *list, int count) {
    cudaError_t error = (count && !list) || count < 0 ? cudaErrorInvalidValue : cudaSuccess;
    for (int i = 0; i < count && !error; i++) error = check(list[i]);
    if (!error) thread.device = count ? list[0] : 0;
    return lw_rt_end(error);
}

cudaError_t cudaSetDeviceFlags(unsigned flags) {
    cudaError_t error = check(thread.device);
    if (!error) error = lw_rt_result(lw_driver.cuDevicePrimaryCtxSetFlags_v2(thread.device, flags));
    return lw_rt_end(error);
}

cudaError_t cudaGetDeviceFlags(unsigned *flags) {
    CUcontext now = NULL;
    int alive;
    cudaError_t error = flags ? check(thread.device) : cudaErrorInvalidValue;
    if (!error) error = lw_rt_context(&now);
    if (error) return lw_rt_end(error);
    return lw_rt_end_driver(now ? lw_driver.cuCtxGetFlags(flags)
                                : lw_driver.cuDevicePrimaryCtxGetState(thread.device, flags, &alive));
}

/* ---- Ending ---------------------------------------------------------------------------------------------------- */

cudaError_t cudaDeviceReset(void) {
    int device;
    cudaError_t error = current_device(&device);
    if (error) return lw_rt_end(error);
    pthread_mutex_lock(&devices.lock);
    bool retained = device < LW_RT_DEVICES && devices.primary[device];
    if (retained) devices.primary[device] = NULL;
    devices.resets++;
    pthread_mutex_unlock(&devices.lock);
    if (retained) lw_driver.cuDevicePrimaryCtxRelease_v2(device);
    error = lw_rt_result(lw_driver.cuDevicePrimaryCtxReset_v2(device));
    lw_driver.cuCtxSetCurrent(NULL);
    thread.bound = NULL;
    lw_rt_forget_error();
    return lw_rt_end(error);
}

/* ---- Peers ----------------------------------------------------------------------------------------------------- */

static cudaError_t peer_context(int peer, CUcontext *context) {
    cudaError_t error = lw_rt_enter();
    if (!error) error = check(peer);
    return error ? error : lw_rt_primary(peer, context);
}

cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags) {
    CUcontext context;
    const cudaError_t error = peer_context(peer, &context);
    return error ? lw_rt_end(error) : lw_rt_end_driver(lw_driver.cuCtxEnablePeerAccess(context, flags));
}

cudaError_t cudaDeviceDisablePeerAccess(int peer) {
    CUcontext context;
    const cudaError_t error = peer_context(peer, &context);
    return error ? lw_rt_end(error) : lw_rt_end_driver(lw_driver.cuCtxDisablePeerAccess(context));
}
