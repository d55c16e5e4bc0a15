/* copy.c: copies and fills. Those with a stream end before they return, too. */
#include "shim/cuda/driver.h"

/* ---- Copies ---------------------------------------------------------------------------------------------------- */

static CUresult to_device(CUdeviceptr to, const void *from, size_t bytes, CUstream stream) {
    CUresult result = lw_cu_enter_stream(stream);
    return result ? result : lw_cu_fail("cuMemcpyHtoD", lw_memory_write(lw_cu.device, to, from, bytes));
}

static CUresult to_host(void *to, CUdeviceptr from, size_t bytes, CUstream stream) {
    CUresult result = lw_cu_enter_stream(stream);
    return result ? result : lw_cu_fail("cuMemcpyDtoH", lw_memory_read(lw_cu.device, from, to, bytes));
}

static CUresult on_device(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
    CUresult result = lw_cu_enter_stream(stream);
    return result ? result : lw_cu_fail("cuMemcpyDtoD", lw_memory_copy(lw_cu.device, to, from, bytes));
}

/* The address tells on which side it is: where device memory lies, no host has memory. */
static CUresult anywhere(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
    CUresult result = lw_cu_enter_stream(stream);
    if (result) return result;
    if (lw_cu_is_device(to) && lw_cu_is_device(from)) return on_device(to, from, bytes, stream);
    if (lw_cu_is_device(to)) return to_device(to, (const void *)(uintptr_t)from, bytes, stream);
    if (lw_cu_is_device(from)) return to_host((void *)(uintptr_t)to, from, bytes, stream);
    if (bytes && (!to || !from)) return CUDA_ERROR_INVALID_VALUE;
    if (bytes) memmove((void *)(uintptr_t)to, (const void *)(uintptr_t)from, bytes);
    return CUDA_SUCCESS;
}

CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void *from, size_t bytes) { return to_device(to, from, bytes, NULL); }
LW_CU_SAME(cuMemcpyHtoD_v2_ptds, cuMemcpyHtoD_v2);
CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t bytes, CUstream stream) {
    LW_CU_CALL;
    return to_device(to, from, bytes, stream);
}
LW_CU_SAME(cuMemcpyHtoDAsync_v2_ptsz, cuMemcpyHtoDAsync_v2);

CUresult cuMemcpyDtoH_v2(void *to, CUdeviceptr from, size_t bytes) { return to_host(to, from, bytes, NULL); }
LW_CU_SAME(cuMemcpyDtoH_v2_ptds, cuMemcpyDtoH_v2);
CUresult cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t bytes, CUstream stream) {
    LW_CU_CALL;
    return to_host(to, from, bytes, stream);
}
LW_CU_SAME(cuMemcpyDtoHAsync_v2_ptsz, cuMemcpyDtoHAsync_v2);

CUresult cuMemcpyDtoD_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes) { return on_device(to, from, bytes, NULL); }
LW_CU_SAME(cuMemcpyDtoD_v2_ptds, cuMemcpyDtoD_v2);
CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
    LW_CU_CALL;
    return on_device(to, from, bytes, stream);
}
LW_CU_SAME(cuMemcpyDtoDAsync_v2_ptsz, cuMemcpyDtoDAsync_v2);

CUresult cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t bytes) { return anywhere(to, from, bytes, NULL); }
LW_CU_SAME(cuMemcpy_ptds, cuMemcpy);
CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
    LW_CU_CALL;
    return anywhere(to, from, bytes, stream);
}
LW_CU_SAME(cuMemcpyAsync_ptsz, cuMemcpyAsync);

/* ---- Fills ----------------------------------------------------------------------------------------------------- */

static CUresult fill(CUdeviceptr to, uint64_t value, uint32_t width, size_t count, CUstream stream) {
    CUresult result = lw_cu_enter_stream(stream);
    if (result) return result;
    if (to % width) return CUDA_ERROR_INVALID_VALUE;
    return lw_cu_fail("cuMemset", lw_memory_fill(lw_cu.device, to, value, width, count));
}

CUresult cuMemsetD8_v2(CUdeviceptr to, unsigned char value, size_t count) { return fill(to, value, 1, count, NULL); }
LW_CU_SAME(cuMemsetD8_v2_ptds, cuMemsetD8_v2);
CUresult cuMemsetD16_v2(CUdeviceptr to, unsigned short value, size_t count) { return fill(to, value, 2, count, NULL); }
LW_CU_SAME(cuMemsetD16_v2_ptds, cuMemsetD16_v2);
CUresult cuMemsetD32_v2(CUdeviceptr to, unsigned value, size_t count) { return fill(to, value, 4, count, NULL); }
LW_CU_SAME(cuMemsetD32_v2_ptds, cuMemsetD32_v2);

CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t count, CUstream stream) {
    LW_CU_CALL;
    return fill(to, value, 1, count, stream);
}
LW_CU_SAME(cuMemsetD8Async_ptsz, cuMemsetD8Async);
CUresult cuMemsetD16Async(CUdeviceptr to, unsigned short value, size_t count, CUstream stream) {
    LW_CU_CALL;
    return fill(to, value, 2, count, stream);
}
LW_CU_SAME(cuMemsetD16Async_ptsz, cuMemsetD16Async);
CUresult cuMemsetD32Async(CUdeviceptr to, unsigned value, size_t count, CUstream stream) {
    LW_CU_CALL;
    return fill(to, value, 4, count, stream);
}
LW_CU_SAME(cuMemsetD32Async_ptsz, cuMemsetD32Async);
