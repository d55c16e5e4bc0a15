/* processes.c: memory and events of other processes, of which there are none but in files (virtual.c). */
#include "shim/cuda/driver.h"

static CUresult refuse(const char *call) {
    lw_cu_report(LW_CU_REPORT_ALL, "%s: memory and events belong to their process, no other one can be given them",
                 call);
    return CUDA_ERROR_NOT_SUPPORTED;
}

CUresult cuIpcGetEventHandle(CUipcEventHandle *handle, CUevent event) {
    LW_CU_CALL;
    CUresult result = lw_cu_enter_with(event, LW_CU_EVENT);
    return result ? result : handle ? refuse("cuIpcGetEventHandle") : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuIpcOpenEventHandle(CUevent *event, CUipcEventHandle handle) {
    LW_CU_CALL;
    (void)handle;
    CUresult result = lw_cu_enter(NULL);
    return result ? result : event ? refuse("cuIpcOpenEventHandle") : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuIpcGetMemHandle(CUipcMemHandle *handle, CUdeviceptr address) {
    LW_CU_CALL;
    CUresult result = lw_cu_enter(NULL);
    if (result) return result;
    return handle && lw_cu_memory_at(address) ? refuse("cuIpcGetMemHandle") : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuIpcOpenMemHandle_v2(CUdeviceptr *address, CUipcMemHandle handle, unsigned flags) {
    LW_CU_CALL;
    (void)handle, (void)flags;
    CUresult result = lw_cu_enter(NULL);
    return result ? result : address ? refuse("cuIpcOpenMemHandle") : CUDA_ERROR_INVALID_VALUE;
}
CUresult cuIpcOpenMemHandle(CUdeviceptr *address, CUipcMemHandle handle, unsigned flags) {
    LW_CU_CALL;
    return cuIpcOpenMemHandle_v2(address, handle, flags);
}

/* None was opened. */
CUresult cuIpcCloseMemHandle(CUdeviceptr address) {
    LW_CU_CALL;
    (void)address;
    CUresult result = lw_cu_enter(NULL);
    return result ? result : CUDA_ERROR_INVALID_VALUE;
}
