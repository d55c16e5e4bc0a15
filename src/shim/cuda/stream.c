/* stream.c: the calls on streams. What is in them, and who does it, is queue.c's and carrier.c's business. */
#include "shim/cuda/driver.h"

bool lw_cu_is_default(CUstream stream) {
    return !stream || stream == CU_STREAM_LEGACY || stream == CU_STREAM_PER_THREAD;
}

CUresult lw_cu_check_stream(CUstream stream) {
    return lw_cu_is_default(stream) || lw_cu_find(stream, LW_CU_STREAM) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

CUresult lw_cu_enter_stream(CUstream stream) {
    CUresult result = lw_cu_enter(NULL);
    return result ? result : lw_cu_check_stream(stream);
}

/* ---- Making and ending ----------------------------------------------------------------------------------------- */

CUresult lw_cu_stream_new(CUstream *stream, CUcontext context, unsigned flags, CUgreenCtx green) {
    struct lw_cu_queue *queue = lw_cu_queue_new(context, flags != CU_STREAM_NON_BLOCKING, green);
    if (!queue) return CUDA_ERROR_OUT_OF_MEMORY;
    CUstream made = lw_cu_new(sizeof *made, LW_CU_STREAM, context);
    if (!made) {
        lw_cu_queue_drop(queue);
        return lw_cu_not_made(context);
    }
    made->queue = queue;
    made->flags = flags;
    made->green = green;
    made->id = lw_cu_next_id();
    *stream = made;
    return CUDA_SUCCESS;
}

CUresult cuStreamCreateWithPriority(CUstream *stream, unsigned flags, int priority) {
    LW_CU_CALL;
    CUcontext context;
    CUresult result = lw_cu_enter(&context);
    (void)priority; /* cut to the range, which is 0 to 0 */
    if (result) return result;
    if (!stream || flags > CU_STREAM_NON_BLOCKING) return CUDA_ERROR_INVALID_VALUE;
    return lw_cu_stream_new(stream, context, flags, NULL);
}

CUresult cuStreamCreate(CUstream *stream, unsigned flags) {
    LW_CU_CALL;
    return cuStreamCreateWithPriority(stream, flags, 0);
}

/* What is in it is done all the same. */
CUresult cuStreamDestroy_v2(CUstream stream) {
    LW_CU_CALL;
    CUresult result = lw_cu_enter_with(stream, LW_CU_STREAM);
    if (result) return result;
    lw_cu_leave_capture(stream);
    lw_cu_free(&stream->object);
    return CUDA_SUCCESS;
}
LW_CU_SAME(cuStreamDestroy, cuStreamDestroy_v2);

/* ---- Waiting --------------------------------------------------------------------------------------------------- */

CUresult cuStreamSynchronize(CUstream stream) {
    LW_CU_CALL;
    CUresult result = lw_cu_enter_stream(stream);
    if (!result) result = lw_cu_may_wait(stream);
    return result ? result : lw_cu_wait_stream(stream);
}

CUresult cuStreamQuery(CUstream stream) {
    LW_CU_CALL;
    CUresult result = lw_cu_enter_stream(stream);
    if (!result) result = lw_cu_may_wait(stream);
    if (result) return result;
    return lw_cu_is_idle(stream) ? lw_cu_fault() : CUDA_ERROR_NOT_READY;
}

/* ---- Questions ------------------------------------------------------------------------------------------------- */

CUresult cuStreamGetFlags(CUstream stream, unsigned *flags) {
    LW_CU_CALL;
    CUresult result = lw_cu_enter_stream(stream);
    if (result) return result;
    if (!flags) return CUDA_ERROR_INVALID_VALUE;
    *flags = lw_cu_is_default(stream) ? 0 : stream->flags;
    return CUDA_SUCCESS;
}

CUresult cuStreamGetPriority(CUstream stream, int *priority) {
    LW_CU_CALL;
    CUresult result = lw_cu_enter_stream(stream);
    if (result) return result;
    if (!priority) return CUDA_ERROR_INVALID_VALUE;
    *priority = 0;
    return CUDA_SUCCESS;
}

CUresult cuStreamGetCtx(CUstream stream, CUcontext *context) {
    LW_CU_CALL;
    CUcontext current;
    CUresult result = lw_cu_enter(&current);
    if (!result) result = lw_cu_check_stream(stream);
    if (result) return result;
    if (!context) return CUDA_ERROR_INVALID_VALUE;
    *context = lw_cu_is_default(stream) ? current : stream->object.owner;
    return CUDA_SUCCESS;
}

CUresult cuStreamGetCtx_v2(CUstream stream, CUcontext *context, CUgreenCtx *green) {
    LW_CU_CALL;
    const CUresult result = cuStreamGetCtx(stream, context);
    return result || !green ? result : cuStreamGetGreenCtx(stream, green);
}

CUresult cuStreamGetId(CUstream stream, unsigned long long *id) {
    LW_CU_CALL;
    CUresult result = lw_cu_enter_stream(stream);
    if (result) return result;
    if (!id) return CUDA_ERROR_INVALID_VALUE;
    if (!stream) stream = lw_cu_per_thread ? CU_STREAM_PER_THREAD : CU_STREAM_LEGACY; /* two names of one stream */
    *id = lw_cu_is_default(stream) ? (uintptr_t)stream : stream->id + (uintptr_t)CU_STREAM_PER_THREAD;
    return CUDA_SUCCESS;
}

CUresult cuStreamGetDevice(CUstream stream, CUdevice *device) {
    LW_CU_CALL;
    CUresult result = lw_cu_enter_stream(stream);
    if (result) return result;
    if (!device) return CUDA_ERROR_INVALID_VALUE;
    *device = (lw_cu_is_default(stream) ? lw_cu_current() : stream->object.owner)->device;
    return CUDA_SUCCESS;
}

/* ---- The program's functions ----------------------------------------------------------------------------------- */

CUresult cuStreamAddCallback(CUstream stream, CUstreamCallback callback, void *user, unsigned flags) {
    LW_CU_CALL;
    CUresult result = lw_cu_enter_stream(stream);
    if (result) return result;
    if (!callback || flags) return CUDA_ERROR_INVALID_VALUE;
    return lw_cu_submit(
        stream,
        &(lw_cu_op){.kind = LW_CU_OP_CALLBACK, .callback = {.function = callback, .stream = stream, .user = user}},
        NULL);
}

CUresult cuLaunchHostFunc(CUstream stream, CUhostFn function, void *user) {
    LW_CU_CALL;
    CUresult result = lw_cu_enter_stream(stream);
    if (result) return result;
    if (!function) return CUDA_ERROR_INVALID_VALUE;
    return lw_cu_submit(stream, &(lw_cu_op){.kind = LW_CU_OP_HOST, .host = {.function = function, .user = user}}, NULL);
}
