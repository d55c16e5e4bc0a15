/* launch_old.c: launches as programs of CUDA before 4.0 have them: a function keeps the shape of its blocks and its
 * parameters, which calls set one by one. */
#include "shim/cuda/driver.h"

#include <stdlib.h>

enum { PARAMETERS_MOST = 4096 };

struct lw_cu_old_launch {
    uint32_t block[3], shared;
    size_t size;
    char bytes[PARAMETERS_MOST];
};

/* With the lock held until lw_cu_unlock(), if it succeeds. */
static CUresult enter(CUfunction function, struct lw_cu_old_launch **old) {
    CUresult result = lw_cu_enter_with(function, LW_CU_FUNCTION);
    if (result) return result;
    lw_cu_lock();
    if (!function->old) function->old = calloc(1, sizeof *function->old);
    if ((*old = function->old)) return CUDA_SUCCESS;
    lw_cu_unlock();
    return CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult cuFuncSetBlockShape(CUfunction function, int x, int y, int z) {
    LW_CU_CALL;
    struct lw_cu_old_launch *old;
    CUresult result = enter(function, &old);
    if (result) return result;
    const bool is_good = x > 0 && y > 0 && z > 0;
    if (is_good) memcpy(old->block, (uint32_t[]){(uint32_t)x, (uint32_t)y, (uint32_t)z}, sizeof old->block);
    lw_cu_unlock();
    return is_good ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuFuncSetSharedSize(CUfunction function, unsigned bytes) {
    LW_CU_CALL;
    struct lw_cu_old_launch *old;
    CUresult result = enter(function, &old);
    if (result) return result;
    old->shared = bytes;
    lw_cu_unlock();
    return CUDA_SUCCESS;
}

CUresult cuParamSetSize(CUfunction function, unsigned bytes) {
    LW_CU_CALL;
    struct lw_cu_old_launch *old;
    CUresult result = enter(function, &old);
    if (result) return result;
    if (bytes <= PARAMETERS_MOST) old->size = bytes;
    lw_cu_unlock();
    return bytes <= PARAMETERS_MOST ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static CUresult set(CUfunction function, int offset, const void *from, unsigned bytes) {
    struct lw_cu_old_launch *old;
    CUresult result = enter(function, &old);
    if (result) return result;
    const bool is_good = from && offset >= 0 && offset <= PARAMETERS_MOST &&
                         bytes <= PARAMETERS_MOST - (unsigned)offset;
    if (is_good) memcpy(old->bytes + offset, from, bytes);
    lw_cu_unlock();
    return is_good ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuParamSeti(CUfunction function, int offset, unsigned value) {
    LW_CU_CALL;
    return set(function, offset, &value, sizeof value);
}

CUresult cuParamSetf(CUfunction function, int offset, float value) {
    LW_CU_CALL;
    return set(function, offset, &value, sizeof value);
}

CUresult cuParamSetv(CUfunction function, int offset, void *from, unsigned bytes) {
    LW_CU_CALL;
    return set(function, offset, from, bytes);
}

CUresult cuLaunchGridAsync(CUfunction function, int width, int height, CUstream stream) {
    LW_CU_CALL;
    struct lw_cu_old_launch *old, copy;
    CUresult result = enter(function, &old);
    if (result) return result;
    copy = *old;
    lw_cu_unlock();
    if (width <= 0 || height <= 0) return CUDA_ERROR_INVALID_VALUE;
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, copy.bytes, CU_LAUNCH_PARAM_BUFFER_SIZE, &copy.size,
                     CU_LAUNCH_PARAM_END};
    return cuLaunchKernel(function, (unsigned)width, (unsigned)height, 1, copy.block[0], copy.block[1], copy.block[2],
                          copy.shared, stream, NULL, extra);
}

CUresult cuLaunchGrid(CUfunction function, int width, int height) {
    LW_CU_CALL;
    return cuLaunchGridAsync(function, width, height, NULL);
}

CUresult cuLaunch(CUfunction function) {
    LW_CU_CALL;
    return cuLaunchGridAsync(function, 1, 1, NULL);
}
