/* array_copy.c: copies of bytes that follow each other in the first row of an array. */
#include "shim/cuda/array.h"

static lw_cu_side on_host(const void *at) { return (lw_cu_side){.at = (uintptr_t)at}; }
static lw_cu_side on_device(CUdeviceptr at) { return (lw_cu_side){.at = at, .on_device = true}; }

/* `bytes` of its first row, from an offset on. */
static CUresult in_array(CUarray array, size_t offset, size_t bytes, lw_cu_side *side) {
    size_t end;
    lw_image_plane plane;
    if (!lw_cu_find(array, LW_CU_ARRAY)) return bytes ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
    if (!lw_image_level(&array->image, 0, &plane) || __builtin_add_overflow(offset, bytes, &end) ||
        end > plane.row_pitch)
        return CUDA_ERROR_INVALID_VALUE;
    *side = (lw_cu_side){.at = array->image.address + offset, .on_device = true, .array = array};
    return CUDA_SUCCESS;
}

static CUresult copy(lw_cu_side to, lw_cu_side from, size_t bytes, CUstream stream, bool is_async) {
    lw_cu_op op = {.copy = {.to = to, .from = from, .width = bytes, .height = 1, .depth = 1}};
    return lw_cu_copy(&op, stream, is_async);
}

static CUresult write(CUarray to, size_t offset, lw_cu_side from, size_t bytes, CUstream stream, bool is_async) {
    lw_cu_side side = {0};
    CUresult result = lw_cu_enter_stream(stream);
    if (!result) result = in_array(to, offset, bytes, &side);
    return result ? result : copy(side, from, bytes, stream, is_async);
}

static CUresult read(lw_cu_side to, CUarray from, size_t offset, size_t bytes, CUstream stream, bool is_async) {
    lw_cu_side side = {0};
    CUresult result = lw_cu_enter_stream(stream);
    if (!result) result = in_array(from, offset, bytes, &side);
    return result ? result : copy(to, side, bytes, stream, is_async);
}

CUresult cuMemcpyHtoA_v2(CUarray to, size_t offset, const void *from, size_t bytes) {
    LW_CU_CALL;
    return write(to, offset, on_host(from), bytes, NULL, false);
}

CUresult cuMemcpyHtoAAsync_v2(CUarray to, size_t offset, const void *from, size_t bytes, CUstream stream) {
    LW_CU_CALL;
    return write(to, offset, on_host(from), bytes, stream, true);
}

CUresult cuMemcpyAtoH_v2(void *to, CUarray from, size_t offset, size_t bytes) {
    LW_CU_CALL;
    return read(on_host(to), from, offset, bytes, NULL, false);
}

CUresult cuMemcpyAtoHAsync_v2(void *to, CUarray from, size_t offset, size_t bytes, CUstream stream) {
    LW_CU_CALL;
    return read(on_host(to), from, offset, bytes, stream, true);
}

CUresult cuMemcpyDtoA_v2(CUarray to, size_t offset, CUdeviceptr from, size_t bytes) {
    LW_CU_CALL;
    return write(to, offset, on_device(from), bytes, NULL, false);
}

CUresult cuMemcpyAtoD_v2(CUdeviceptr to, CUarray from, size_t offset, size_t bytes) {
    LW_CU_CALL;
    return read(on_device(to), from, offset, bytes, NULL, false);
}

CUresult cuMemcpyAtoA_v2(CUarray to, size_t to_offset, CUarray from, size_t from_offset, size_t bytes) {
    LW_CU_CALL;
    lw_cu_side side = {0};
    CUresult result = lw_cu_enter_stream(NULL);
    if (!result) result = in_array(from, from_offset, bytes, &side);
    return result ? result : write(to, to_offset, side, bytes, NULL, false);
}
