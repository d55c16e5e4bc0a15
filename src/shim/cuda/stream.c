/* stream.c: streams and events. All work ends before its call returns, so that there is never anything to wait for. */
#include "shim/cuda/driver.h"

/* ---- Streams --------------------------------------------------------------------------------------------------- */

static bool is_default(CUstream stream) {
    return !stream || stream == CU_STREAM_LEGACY || stream == CU_STREAM_PER_THREAD;
}

CUresult lw_cu_check_stream(CUstream stream) {
    return is_default(stream) || lw_cu_find(stream, LW_CU_STREAM) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

CUresult lw_cu_enter_stream(CUstream stream) {
    CUresult result = lw_cu_enter(NULL);
    return result ? result : lw_cu_check_stream(stream);
}

CUresult cuStreamCreateWithPriority(CUstream *stream, unsigned flags, int priority) {
    LW_CU_CALL;
    CUcontext context;
    CUresult result = lw_cu_enter(&context);
    if (result) return result;
    if (!stream || flags > CU_STREAM_NON_BLOCKING) return CUDA_ERROR_INVALID_VALUE;
    CUstream made = lw_cu_new(sizeof *made, LW_CU_STREAM, context);
    if (!made) return lw_cu_not_made(context);
    made->flags = flags;
    (void)priority; /* cut to the range, which is 0 to 0 */
    made->id = lw_cu_next_id();
    *stream = made;
    return CUDA_SUCCESS;
}

CUresult cuStreamCreate(CUstream *stream, unsigned flags) { return cuStreamCreateWithPriority(stream, flags, 0); }

CUresult cuStreamDestroy_v2(CUstream stream) {
    LW_CU_CALL;
    CUresult result = lw_cu_enter_with(stream, LW_CU_STREAM);
    if (result) return result;
    lw_cu_free(&stream->object);
    return CUDA_SUCCESS;
}
LW_CU_SAME(cuStreamDestroy, cuStreamDestroy_v2);

CUresult cuStreamSynchronize(CUstream stream) { return lw_cu_enter_stream(stream); }
LW_CU_SAME(cuStreamSynchronize_ptsz, cuStreamSynchronize);
CUresult cuStreamQuery(CUstream stream) { return lw_cu_enter_stream(stream); }
LW_CU_SAME(cuStreamQuery_ptsz, cuStreamQuery);

CUresult cuStreamGetFlags(CUstream stream, unsigned *flags) {
    LW_CU_CALL;
    CUresult result = lw_cu_enter_stream(stream);
    if (result) return result;
    if (!flags) return CUDA_ERROR_INVALID_VALUE;
    *flags = is_default(stream) ? 0 : stream->flags;
    return CUDA_SUCCESS;
}
LW_CU_SAME(cuStreamGetFlags_ptsz, cuStreamGetFlags);

CUresult cuStreamGetPriority(CUstream stream, int *priority) {
    LW_CU_CALL;
    CUresult result = lw_cu_enter_stream(stream);
    if (result) return result;
    if (!priority) return CUDA_ERROR_INVALID_VALUE;
    *priority = 0;
    return CUDA_SUCCESS;
}
LW_CU_SAME(cuStreamGetPriority_ptsz, cuStreamGetPriority);

CUresult cuStreamGetCtx(CUstream stream, CUcontext *context) {
    LW_CU_CALL;
    CUcontext current;
    CUresult result = lw_cu_enter(&current);
    if (!result) result = lw_cu_check_stream(stream);
    if (result) return result;
    if (!context) return CUDA_ERROR_INVALID_VALUE;
    *context = is_default(stream) ? current : stream->object.owner;
    return CUDA_SUCCESS;
}
LW_CU_SAME(cuStreamGetCtx_ptsz, cuStreamGetCtx);

CUresult cuStreamGetId(CUstream stream, unsigned long long *id) {
    LW_CU_CALL;
    CUresult result = lw_cu_enter_stream(stream);
    if (result) return result;
    if (!id) return CUDA_ERROR_INVALID_VALUE;
    if (!stream) stream = CU_STREAM_LEGACY; /* two names of one stream */
    *id = is_default(stream) ? (uintptr_t)stream : stream->id + (uintptr_t)CU_STREAM_PER_THREAD;
    return CUDA_SUCCESS;
}
LW_CU_SAME(cuStreamGetId_ptsz, cuStreamGetId);

CUresult cuStreamGetDevice(CUstream stream, CUdevice *device) {
    LW_CU_CALL;
    CUresult result = lw_cu_enter_stream(stream);
    if (result) return result;
    if (!device) return CUDA_ERROR_INVALID_VALUE;
    *device = 0;
    return CUDA_SUCCESS;
}
LW_CU_SAME(cuStreamGetDevice_ptsz, cuStreamGetDevice);

CUresult cuStreamAddCallback(CUstream stream, CUstreamCallback callback, void *user, unsigned flags) {
    LW_CU_CALL;
    CUresult result = lw_cu_enter_stream(stream);
    if (result) return result;
    if (!callback || flags) return CUDA_ERROR_INVALID_VALUE;
    unsigned depth = lw_cu_step_out();
    callback(stream, CUDA_SUCCESS, user);
    lw_cu_step_in(depth);
    return CUDA_SUCCESS;
}
LW_CU_SAME(cuStreamAddCallback_ptsz, cuStreamAddCallback);

CUresult cuLaunchHostFunc(CUstream stream, CUhostFn function, void *user) {
    LW_CU_CALL;
    CUresult result = lw_cu_enter_stream(stream);
    if (result) return result;
    if (!function) return CUDA_ERROR_INVALID_VALUE;
    unsigned depth = lw_cu_step_out();
    function(user);
    lw_cu_step_in(depth);
    return CUDA_SUCCESS;
}
LW_CU_SAME(cuLaunchHostFunc_ptsz, cuLaunchHostFunc);

/* ---- Events ---------------------------------------------------------------------------------------------------- */

CUresult cuEventCreate(CUevent *event, unsigned flags) {
    LW_CU_CALL;
    CUcontext context;
    CUresult result = lw_cu_enter(&context);
    if (result) return result;
    if (!event || flags > 7 || (flags & (CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING)) == CU_EVENT_INTERPROCESS)
        return CUDA_ERROR_INVALID_VALUE;
    if (flags & CU_EVENT_INTERPROCESS) return CUDA_ERROR_NOT_SUPPORTED;
    CUevent made = lw_cu_new(sizeof *made, LW_CU_EVENT, context);
    if (!made) return lw_cu_not_made(context);
    made->flags = flags;
    *event = made;
    return CUDA_SUCCESS;
}

CUresult cuEventDestroy_v2(CUevent event) {
    LW_CU_CALL;
    CUresult result = lw_cu_enter_with(event, LW_CU_EVENT);
    if (result) return result;
    lw_cu_free(&event->object);
    return CUDA_SUCCESS;
}
LW_CU_SAME(cuEventDestroy, cuEventDestroy_v2);

CUresult cuEventRecord(CUevent event, CUstream stream) {
    LW_CU_CALL;
    CUresult result = lw_cu_enter_with(event, LW_CU_EVENT);
    if (!result) result = lw_cu_check_stream(stream);
    if (result) return result;
    LW_OWN_FLOAT_MODE(callers);
    event->time = lw_clock();
    return CUDA_SUCCESS;
}
LW_CU_SAME(cuEventRecord_ptsz, cuEventRecord);

CUresult cuEventRecordWithFlags(CUevent event, CUstream stream, unsigned flags) {
    LW_CU_CALL;
    return flags > 1 ? CUDA_ERROR_INVALID_VALUE : cuEventRecord(event, stream);
}
LW_CU_SAME(cuEventRecordWithFlags_ptsz, cuEventRecordWithFlags);

CUresult cuEventQuery(CUevent event) { return lw_cu_enter_with(event, LW_CU_EVENT); }
CUresult cuEventSynchronize(CUevent event) { return lw_cu_enter_with(event, LW_CU_EVENT); }

CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags) {
    LW_CU_CALL;
    CUresult result = lw_cu_enter_with(event, LW_CU_EVENT);
    if (!result) result = lw_cu_check_stream(stream);
    return result ? result : flags > 1 ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}
LW_CU_SAME(cuStreamWaitEvent_ptsz, cuStreamWaitEvent);

static bool has_time(CUevent event) { return event->time > 0 && !(event->flags & CU_EVENT_DISABLE_TIMING); }

CUresult cuEventElapsedTime_v2(float *milliseconds, CUevent start, CUevent end) {
    LW_CU_CALL;
    LW_OWN_FLOAT_MODE(callers);
    CUresult result = lw_cu_enter_with(start, LW_CU_EVENT);
    if (!result) result = lw_cu_enter_with(end, LW_CU_EVENT);
    if (result) return result;
    if (!milliseconds) return CUDA_ERROR_INVALID_VALUE;
    if (!has_time(start) || !has_time(end)) return CUDA_ERROR_INVALID_HANDLE;
    *milliseconds = (float)((end->time - start->time) * 1000);
    return CUDA_SUCCESS;
}
LW_CU_SAME(cuEventElapsedTime, cuEventElapsedTime_v2);
