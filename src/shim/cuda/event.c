/* event.c: the calls on events: places in streams, with the time at which they were reached. */
#include "shim/cuda/driver.h"

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

CUresult cuEventRecordWithFlags(CUevent event, CUstream stream, unsigned flags) {
    LW_CU_CALL;
    bool is_done;
    if (flags > CU_EVENT_RECORD_EXTERNAL) return CUDA_ERROR_INVALID_VALUE;
    CUresult result = lw_cu_enter_with(event, LW_CU_EVENT);
    if (!result) result = lw_cu_check_stream(stream);
    if (!result) result = lw_cu_capture_record(event, stream, flags == CU_EVENT_RECORD_EXTERNAL, &is_done);
    return result || is_done ? result : lw_cu_record(event, stream);
}

CUresult cuEventRecord(CUevent event, CUstream stream) { return cuEventRecordWithFlags(event, stream, 0); }

/* One that was never recorded is reached. */
CUresult cuEventQuery(CUevent event) {
    LW_CU_CALL;
    double time;
    CUresult result = lw_cu_enter_with(event, LW_CU_EVENT);
    if (!result) result = lw_cu_may_ask(event);
    if (!result) result = lw_cu_event_state(event, &time);
    return result ? result : lw_cu_fault();
}

CUresult cuEventSynchronize(CUevent event) {
    LW_CU_CALL;
    CUresult result = lw_cu_enter_with(event, LW_CU_EVENT);
    if (!result) result = lw_cu_may_ask(event);
    return result ? result : lw_cu_wait_event(event);
}

CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags) {
    LW_CU_CALL;
    bool is_done;
    CUresult result = lw_cu_enter_with(event, LW_CU_EVENT);
    if (!result) result = lw_cu_check_stream(stream);
    if (!result && flags > CU_EVENT_WAIT_EXTERNAL) result = CUDA_ERROR_INVALID_VALUE;
    if (!result) result = lw_cu_capture_wait(stream, event, flags == CU_EVENT_WAIT_EXTERNAL, &is_done);
    return result || is_done ? result : lw_cu_follow_event(stream, event);
}

CUresult cuEventElapsedTime_v2(float *milliseconds, CUevent start, CUevent end) {
    LW_CU_CALL;
    LW_OWN_FLOAT_MODE(callers);
    double from, to;
    CUresult result = lw_cu_enter_with(start, LW_CU_EVENT);
    if (!result) result = lw_cu_enter_with(end, LW_CU_EVENT);
    if (result) return result;
    if (!milliseconds) return CUDA_ERROR_INVALID_VALUE;
    if ((result = lw_cu_may_ask(start)) || (result = lw_cu_may_ask(end))) return result;
    if ((start->flags | end->flags) & CU_EVENT_DISABLE_TIMING) return CUDA_ERROR_INVALID_HANDLE;
    const CUresult first = lw_cu_event_state(start, &from), second = lw_cu_event_state(end, &to);
    if (first || second) return CUDA_ERROR_NOT_READY;
    if (from <= 0 || to <= 0) return CUDA_ERROR_INVALID_HANDLE; /* never recorded */
    *milliseconds = (float)((to - from) * 1000);
    return CUDA_SUCCESS;
}
LW_CU_SAME(cuEventElapsedTime, cuEventElapsedTime_v2);
