/* green.c: multiprocessors as a resource that is split, and green contexts, which have a part of them: bookkeeping. A
 * green context is streams of the device's primary context; its kernels run as all others do. */
#include "shim/cuda/driver.h"

#include <stdlib.h>

struct CUdevResourceDesc_st {
    lw_cu_object object;
    CUdevResource resource;
};

struct CUgreenCtx_st {
    lw_cu_object object;
    CUcontext primary; /* which it retains */
    CUdevResource resource;
    uint64_t id;
};

/* ---- Resources --------------------------------------------------------------------------------------------------- */

/* What a resource says of itself beside what programs read. */
typedef struct origin {
    CUdevice device;
    uint64_t split; /* the call that it comes from; 0: it is all of a device, or of a green context */
} origin;

static origin origin_of(const CUdevResource *resource) {
    origin from;
    _Static_assert(sizeof from <= sizeof resource->_internal_padding, "");
    memcpy(&from, resource->_internal_padding, sizeof from);
    return from;
}

/* There are as many multiprocessors as the host gives threads, so that a part may be any number of them. */
static CUdevResource resource_of(unsigned count, origin from) {
    CUdevResource made = {.type = count ? CU_DEV_RESOURCE_TYPE_SM : CU_DEV_RESOURCE_TYPE_INVALID};
    memcpy(made._internal_padding, &from, sizeof from);
    made.sm.smCount = count;
    made.sm.minSmPartitionSize = made.sm.smCoscheduledAlignment = 1;
    return made;
}

static CUresult of_device(CUdevice device, CUdevResource *resource, unsigned type) {
    int count = 0;
    if (!resource) return CUDA_ERROR_INVALID_VALUE;
    if (type != CU_DEV_RESOURCE_TYPE_SM) return CUDA_ERROR_INVALID_RESOURCE_TYPE;
    const CUresult result = cuDeviceGetAttribute(&count, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device);
    if (!result) *resource = resource_of((unsigned)count, (origin){.device = device});
    return result;
}

CUresult cuDeviceGetDevResource(CUdevice device, CUdevResource *resource, unsigned type) {
    LW_CU_CALL;
    const CUresult result = lw_cu_check_device(device);
    return result ? result : of_device(device, resource, type);
}

CUresult cuCtxGetDevResource(CUcontext context, CUdevResource *resource, unsigned type) {
    LW_CU_CALL;
    const CUresult result = lw_cu_ready();
    if (result) return result;
    if (!lw_cu_find(context, LW_CU_CONTEXT)) return CUDA_ERROR_INVALID_CONTEXT;
    return of_device(context->device, resource, type);
}

enum {
    SPLIT_FLAGS = CU_DEV_SM_RESOURCE_SPLIT_IGNORE_SM_COSCHEDULING | CU_DEV_SM_RESOURCE_SPLIT_MAX_POTENTIAL_CLUSTER_SIZE
};

/* Parts are alike: each has what is asked for. */
CUresult cuDevSmResourceSplitByCount(CUdevResource *parts, unsigned *count, const CUdevResource *from,
                                     CUdevResource *rest, unsigned flags, unsigned least) {
    LW_CU_CALL;
    const CUresult result = lw_cu_ready();
    if (result) return result;
    if (!count || !from || (flags & ~(unsigned)SPLIT_FLAGS)) return CUDA_ERROR_INVALID_VALUE;
    if (from->type != CU_DEV_RESOURCE_TYPE_SM) return CUDA_ERROR_INVALID_RESOURCE_TYPE;
    if (origin_of(from).split || least > from->sm.smCount) return CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION;
    const unsigned each = least ? least : 1;
    const unsigned most = from->sm.smCount / each;
    const unsigned made = parts && *count < most ? *count : most;
    const origin split = {.device = origin_of(from).device, .split = lw_cu_next_id()};
    const unsigned left = from->sm.smCount - made * each;
    for (unsigned i = 0; parts && i < made; i++) parts[i] = resource_of(each, split);
    if (rest) *rest = resource_of(left, split);
    *count = made;
    return CUDA_SUCCESS;
}

/* Those of one split are of one device, too. */
CUresult cuDevResourceGenerateDesc(CUdevResourceDesc *desc, CUdevResource *resources, unsigned count) {
    LW_CU_CALL;
    unsigned all = 0;
    const CUresult result = lw_cu_ready();
    if (result) return result;
    if (!desc || !resources || !count) return CUDA_ERROR_INVALID_VALUE;
    for (unsigned i = 0; i < count; i++) {
        if (resources[i].type != CU_DEV_RESOURCE_TYPE_SM) return CUDA_ERROR_INVALID_RESOURCE_TYPE;
        const origin one = origin_of(&resources[i]);
        if (i && (!one.split || one.split != origin_of(resources).split))
            return CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION;
        all += resources[i].sm.smCount;
    }
    CUdevResourceDesc made = lw_cu_new(sizeof *made, LW_CU_RESOURCES, NULL);
    if (!made) return CUDA_ERROR_OUT_OF_MEMORY;
    made->resource = resource_of(all, (origin){.device = origin_of(resources).device});
    *desc = made;
    return CUDA_SUCCESS;
}

/* ---- Green contexts ---------------------------------------------------------------------------------------------- */

static CUresult check(CUgreenCtx green) {
    const CUresult result = lw_cu_ready();
    return result ? result : lw_cu_find(green, LW_CU_GREEN) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

CUresult cuGreenCtxCreate(CUgreenCtx *green, CUdevResourceDesc desc, CUdevice device, unsigned flags) {
    LW_CU_CALL;
    CUcontext primary;
    CUresult result = lw_cu_check_device(device);
    if (result) return result;
    if (!green || flags != CU_GREEN_CTX_DEFAULT_STREAM || !lw_cu_find(desc, LW_CU_RESOURCES))
        return CUDA_ERROR_INVALID_VALUE;
    if (origin_of(&desc->resource).device != device) return CUDA_ERROR_INVALID_VALUE;
    if ((result = cuDevicePrimaryCtxRetain(&primary, device))) return result;
    CUgreenCtx made = lw_cu_new(sizeof *made, LW_CU_GREEN, NULL);
    if (!made) {
        cuDevicePrimaryCtxRelease_v2(device);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    made->primary = primary;
    made->resource = desc->resource;
    made->id = lw_cu_next_id();
    *green = made;
    return CUDA_SUCCESS;
}

CUresult cuGreenCtxDestroy(CUgreenCtx green) {
    LW_CU_CALL;
    const CUresult result = check(green);
    if (result) return result;
    const CUdevice device = green->primary->device;
    if (!lw_cu_free(&green->object)) return CUDA_ERROR_INVALID_CONTEXT; /* another thread was first */
    return cuDevicePrimaryCtxRelease_v2(device);
}

CUresult cuCtxFromGreenCtx(CUcontext *context, CUgreenCtx green) {
    LW_CU_CALL;
    const CUresult result = check(green);
    if (result) return result;
    if (!context) return CUDA_ERROR_INVALID_VALUE;
    *context = green->primary;
    return CUDA_SUCCESS;
}

CUresult cuGreenCtxGetDevResource(CUgreenCtx green, CUdevResource *resource, unsigned type) {
    LW_CU_CALL;
    const CUresult result = check(green);
    if (result) return result;
    if (!resource) return CUDA_ERROR_INVALID_VALUE;
    if (type != CU_DEV_RESOURCE_TYPE_SM) return CUDA_ERROR_INVALID_RESOURCE_TYPE;
    *resource = green->resource;
    return CUDA_SUCCESS;
}

CUresult cuGreenCtxGetId(CUgreenCtx green, unsigned long long *id) {
    LW_CU_CALL;
    const CUresult result = check(green);
    if (result) return result;
    if (!id) return CUDA_ERROR_INVALID_VALUE;
    *id = green->id;
    return CUDA_SUCCESS;
}

/* ---- Their streams ----------------------------------------------------------------------------------------------- */

CUresult cuGreenCtxStreamCreate(CUstream *stream, CUgreenCtx green, unsigned flags, int priority) {
    LW_CU_CALL;
    const CUresult result = check(green);
    (void)priority;
    if (result) return result;
    if (!stream || flags != CU_STREAM_NON_BLOCKING) return CUDA_ERROR_INVALID_VALUE;
    return lw_cu_stream_new(stream, green->primary, flags, green);
}

/* A stream that was made for none is of all multiprocessors. */
CUresult cuStreamGetGreenCtx(CUstream stream, CUgreenCtx *green) {
    LW_CU_CALL;
    const CUresult result = lw_cu_enter_stream(stream);
    if (result) return result;
    if (!green) return CUDA_ERROR_INVALID_VALUE;
    *green = lw_cu_is_default(stream) ? NULL : lw_cu_find(stream->green, LW_CU_GREEN);
    return CUDA_SUCCESS;
}

/* Of all streams of a context, or those of a part of it. */
static CUresult events(CUcontext context, CUgreenCtx green, CUevent event, bool is_record) {
    if (!lw_cu_find(event, LW_CU_EVENT) || event->object.owner != context) return CUDA_ERROR_INVALID_HANDLE;
    if (atomic_load(&lw_cu_captures)) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    return is_record ? lw_cu_record_all(event, context, green) : lw_cu_follow_all(context, green, event);
}

CUresult cuGreenCtxRecordEvent(CUgreenCtx green, CUevent event) {
    LW_CU_CALL;
    const CUresult result = check(green);
    return result ? result : events(green->primary, green, event, true);
}

CUresult cuGreenCtxWaitEvent(CUgreenCtx green, CUevent event) {
    LW_CU_CALL;
    const CUresult result = check(green);
    return result ? result : events(green->primary, green, event, false);
}

static CUresult context_events(CUcontext context, CUevent event, bool is_record) {
    const CUresult result = lw_cu_ready();
    if (result) return result;
    if (!lw_cu_find(context, LW_CU_CONTEXT)) return CUDA_ERROR_INVALID_CONTEXT;
    return events(context, NULL, event, is_record);
}

CUresult cuCtxRecordEvent(CUcontext context, CUevent event) {
    LW_CU_CALL;
    return context_events(context, event, true);
}

CUresult cuCtxWaitEvent(CUcontext context, CUevent event) {
    LW_CU_CALL;
    return context_events(context, event, false);
}
