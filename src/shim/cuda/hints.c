/* hints.c: calls that steer what a CPU does not have, and so succeed without effect; attributes of streams. */
#include "shim/cuda/driver.h"

/* ---- Profilers, caches, affinity ------------------------------------------------------------------------------- */

CUresult cuProfilerInitialize(const char *config, const char *output, CUoutput_mode mode) {
    LW_CU_CALL;
    CUresult result = lw_cu_ready();
    if (result) return result;
    return config && output && mode <= 1 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuProfilerStart(void) {
    LW_CU_CALL;
    return lw_cu_enter(NULL);
}

CUresult cuProfilerStop(void) {
    LW_CU_CALL;
    return lw_cu_enter(NULL);
}

CUresult cuCtxResetPersistingL2Cache(void) {
    LW_CU_CALL;
    return lw_cu_enter(NULL);
}

/* There are no writes of other devices' to wait for. */
CUresult cuFlushGPUDirectRDMAWrites(CUflushGPUDirectRDMAWritesTarget target, CUflushGPUDirectRDMAWritesScope scope) {
    LW_CU_CALL;
    enum { TO_OWNER = 100, TO_ALL_DEVICES = 200 };
    CUresult result = lw_cu_enter(NULL);
    if (result) return result;
    return !target && (scope == TO_OWNER || scope == TO_ALL_DEVICES) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuDeviceGetExecAffinitySupport(int *supported, CUexecAffinityType type, CUdevice device) {
    LW_CU_CALL;
    CUresult result = lw_cu_check_device(device);
    if (result) return result;
    if (!supported || type) return CUDA_ERROR_INVALID_VALUE;
    *supported = 0;
    return CUDA_SUCCESS;
}

CUresult cuCtxGetExecAffinity(CUexecAffinityParam *affinity, CUexecAffinityType type) {
    LW_CU_CALL;
    CUresult result = lw_cu_enter(NULL);
    if (result) return result;
    return affinity && !type ? CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY : CUDA_ERROR_INVALID_VALUE;
}

/* ---- Attributes of streams ------------------------------------------------------------------------------------- */

/* Where a stream keeps one; negative: streams have none of that name. */
static int place_of(CUstreamAttrID id) {
    static const CUstreamAttrID kept[LW_CU_STREAM_ATTRIBUTES] = {
        CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW, CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY,
        CU_LAUNCH_ATTRIBUTE_PRIORITY, CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP, CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN};
    for (int i = 0; i < LW_CU_STREAM_ATTRIBUTES; i++)
        if (kept[i] == id) return i;
    return -1;
}

/* The default ones keep none. */
static CUresult check_attribute(CUstream stream, CUstreamAttrID id, const CUlaunchAttributeValue *value) {
    CUresult result = lw_cu_enter_stream(stream);
    if (result) return result;
    return value && place_of(id) >= 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuStreamGetAttribute(CUstream stream, CUstreamAttrID id, CUlaunchAttributeValue *value) {
    LW_CU_CALL;
    CUresult result = check_attribute(stream, id, value);
    if (result) return result;
    lw_cu_lock();
    if (lw_cu_is_default(stream)) memset(value, 0, sizeof *value);
    else *value = stream->attributes[place_of(id)];
    lw_cu_unlock();
    return CUDA_SUCCESS;
}

CUresult cuStreamSetAttribute(CUstream stream, CUstreamAttrID id, const CUlaunchAttributeValue *value) {
    LW_CU_CALL;
    CUresult result = check_attribute(stream, id, value);
    if (result) return result;
    lw_cu_lock();
    if (!lw_cu_is_default(stream)) stream->attributes[place_of(id)] = *value;
    lw_cu_unlock();
    return CUDA_SUCCESS;
}

CUresult cuStreamCopyAttributes(CUstream to, CUstream from) {
    LW_CU_CALL;
    CUresult result = lw_cu_enter_stream(to);
    if (!result) result = lw_cu_check_stream(from);
    if (result || lw_cu_is_default(to)) return result;
    lw_cu_lock();
    if (lw_cu_is_default(from)) memset(to->attributes, 0, sizeof to->attributes);
    else memcpy(to->attributes, from->attributes, sizeof to->attributes);
    lw_cu_unlock();
    return CUDA_SUCCESS;
}
