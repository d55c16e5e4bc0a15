/* copy.c: copies and fills, in rows and planes where they have some. */
#include "shim/cuda/array.h"

#include <stdlib.h>

/* ---- Doing them ------------------------------------------------------------------------------------------------ */

static lw_status copy_row(const lw_cu_side *to, const lw_cu_side *from, uint64_t to_at, uint64_t from_at,
                          uint64_t width) {
    if (to->on_device && from->on_device) return lw_memory_copy(lw_cu.device, to_at, from_at, width);
    if (to->on_device) return lw_memory_write(lw_cu.device, to_at, (const void *)(uintptr_t)from_at, width);
    if (from->on_device) return lw_memory_read(lw_cu.device, from_at, (void *)(uintptr_t)to_at, width);
    memmove((void *)(uintptr_t)to_at, (const void *)(uintptr_t)from_at, width);
    return LW_OK;
}

void lw_cu_straighten(lw_cu_op *op) {
    const lw_cu_side *to = &op->copy.to, *from = &op->copy.from;
    if (op->copy.height > 1 && (to->pitch != op->copy.width || from->pitch != op->copy.width)) return;
    op->copy.width *= op->copy.height;
    op->copy.height = 1;
    if (op->copy.depth > 1 && (to->plane != op->copy.width || from->plane != op->copy.width)) return;
    op->copy.width *= op->copy.depth;
    op->copy.depth = 1;
}

CUresult lw_cu_run_copy(const lw_cu_op *op) {
    LW_OWN_FLOAT_MODE(callers);
    const lw_cu_side *to = &op->copy.to, *from = &op->copy.from;
    for (uint64_t z = 0; z < op->copy.depth; z++)
        for (uint64_t y = 0; y < op->copy.height; y++) {
            const lw_status status = copy_row(to, from, to->at + z * to->plane + y * to->pitch,
                                              from->at + z * from->plane + y * from->pitch, op->copy.width);
            if (status != LW_OK) return lw_cu_fail("cuMemcpy", status);
        }
    return CUDA_SUCCESS;
}

CUresult lw_cu_run_fill(const lw_cu_op *op) {
    for (uint64_t y = 0; y < op->fill.height; y++) {
        const lw_status status = lw_memory_fill(lw_cu.device, op->fill.to + y * op->fill.pitch, op->fill.value,
                                                op->fill.size, op->fill.width);
        if (status != LW_OK) return lw_cu_fail("cuMemset", status);
    }
    return CUDA_SUCCESS;
}

/* ---- When ------------------------------------------------------------------------------------------------------ */

/* Whether device memory is there from the first byte of a stretch of rows to the last. */
static bool is_there(uint64_t at, uint64_t pitch, uint64_t plane, uint64_t width, uint64_t height, uint64_t depth) {
    uint64_t base, size, up, out, bytes;
    if (__builtin_mul_overflow(height - 1, pitch, &up) || __builtin_mul_overflow(depth - 1, plane, &out) ||
        __builtin_add_overflow(up, out, &bytes) || __builtin_add_overflow(bytes, width, &bytes))
        return false;
    return lw_memory_range(lw_cu.device, at, &base, &size) == LW_OK && bytes <= size - (at - base);
}

static bool has_side(const lw_cu_op *op, const lw_cu_side *side) {
    if (!side->on_device) return side->at;
    return is_there(side->at, side->pitch, side->plane, op->copy.width, op->copy.height, op->copy.depth);
}

bool lw_cu_can_copy(const lw_cu_op *op) {
    if (!op->copy.width || !op->copy.height || !op->copy.depth) return true;
    return has_side(op, &op->copy.to) && has_side(op, &op->copy.from);
}

enum { STAGED_MOST = 64 << 10 };

/* The bytes that a copy of one row reads of memory that its program may change as soon as the call returns. */
static bool stage(lw_cu_op *op) {
    if (op->copy.width > STAGED_MOST || op->copy.height * op->copy.depth > 1) return false;
    if (!(op->owned = malloc(op->copy.width))) return false;
    memcpy(op->owned, (const void *)(uintptr_t)op->copy.from.at, op->copy.width);
    op->copy.from.at = (uintptr_t)op->owned;
    return true;
}

static bool is_late(const lw_cu_side *side, uint64_t bytes) {
    return side->on_device || lw_cu_is_pinned((const void *)(uintptr_t)side->at, bytes);
}

static uint64_t extent(const lw_cu_op *op, const lw_cu_side *side) {
    return (op->copy.depth - 1) * side->plane + (op->copy.height - 1) * side->pitch + op->copy.width;
}

/* Now, when what is in the stream is done. */
static CUresult do_now(CUstream stream, bool is_async, const lw_cu_op *op, CUresult (*run)(const lw_cu_op *op)) {
    CUresult result = lw_cu_may_wait(stream);
    if (!result && !is_async) result = lw_cu_may_act();
    if (!result) result = lw_cu_wait_stream(stream);
    return result ? result : run(op);
}

void lw_cu_hold_arrays(const lw_cu_op *op) {
    if (op->copy.to.array) lw_cu_hold(&op->copy.to.array->object);
    if (op->copy.from.array) lw_cu_hold(&op->copy.from.array->object);
}

static CUresult submit(CUstream stream, lw_cu_op *op) {
    lw_cu_hold_arrays(op);
    return lw_cu_submit(stream, op, NULL);
}

/* Memory of the host's that is not pinned is read and written before the call returns. */
CUresult lw_cu_copy(lw_cu_op *op, CUstream stream, bool is_async) {
    CUresult result = lw_cu_enter_stream(stream);
    if (result) return result;
    op->kind = LW_CU_OP_COPY;
    if (!op->copy.width || !op->copy.height || !op->copy.depth) return CUDA_SUCCESS;
    if (!lw_cu_can_copy(op)) return CUDA_ERROR_INVALID_VALUE;
    if (is_async && lw_cu_is_captured(stream)) return submit(stream, op);
    lw_cu_straighten(op);
    if (!is_async || !is_late(&op->copy.to, extent(op, &op->copy.to)))
        return do_now(stream, is_async, op, lw_cu_run_copy);
    if (!is_late(&op->copy.from, extent(op, &op->copy.from)) && !stage(op))
        return do_now(stream, is_async, op, lw_cu_run_copy);
    return submit(stream, op);
}

CUresult lw_cu_check_fill(lw_cu_op *op) {
    uint64_t bytes;
    op->kind = LW_CU_OP_FILL;
    if (op->fill.to % op->fill.size || op->fill.pitch % op->fill.size) return CUDA_ERROR_INVALID_VALUE;
    if (!op->fill.width || !op->fill.height) return CUDA_SUCCESS;
    return !__builtin_mul_overflow(op->fill.width, op->fill.size, &bytes) &&
                   is_there(op->fill.to, op->fill.pitch, 0, bytes, op->fill.height, 1)
               ? CUDA_SUCCESS
               : CUDA_ERROR_INVALID_VALUE;
}

CUresult lw_cu_fill(lw_cu_op *op, CUstream stream, bool is_async) {
    CUresult result = lw_cu_enter_stream(stream);
    if (!result) result = lw_cu_check_fill(op);
    if (result || !op->fill.width || !op->fill.height) return result;
    return is_async ? lw_cu_submit(stream, op, NULL) : do_now(stream, false, op, lw_cu_run_fill);
}

/* ---- Copies ---------------------------------------------------------------------------------------------------- */

static CUresult copy(lw_cu_side to, lw_cu_side from, size_t bytes, CUstream stream, bool is_async) {
    lw_cu_op op = {.copy = {.to = to, .from = from, .width = bytes, .height = 1, .depth = 1}};
    return lw_cu_copy(&op, stream, is_async);
}

static lw_cu_side on_device(CUdeviceptr at) { return (lw_cu_side){.at = at, .on_device = true}; }
static lw_cu_side on_host(const void *at) { return (lw_cu_side){.at = (uintptr_t)at}; }

/* What is the driver's must be allocated; where anything else ends, only the program knows. */
lw_cu_side lw_cu_anywhere(CUdeviceptr at) {
    const bool is_ready = !lw_cu_ready(); /* calls that are going to fail ask, too */
    return (lw_cu_side){.at = at, .on_device = is_ready && lw_cu_is_device(at)};
}

CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void *from, size_t bytes) {
    LW_CU_CALL;
    return copy(on_device(to), on_host(from), bytes, NULL, false);
}

CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t bytes, CUstream stream) {
    LW_CU_CALL;
    return copy(on_device(to), on_host(from), bytes, stream, true);
}

CUresult cuMemcpyDtoH_v2(void *to, CUdeviceptr from, size_t bytes) {
    LW_CU_CALL;
    return copy(on_host(to), on_device(from), bytes, NULL, false);
}

CUresult cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t bytes, CUstream stream) {
    LW_CU_CALL;
    return copy(on_host(to), on_device(from), bytes, stream, true);
}

CUresult cuMemcpyDtoD_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
    LW_CU_CALL;
    return copy(on_device(to), on_device(from), bytes, NULL, false);
}

CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
    LW_CU_CALL;
    return copy(on_device(to), on_device(from), bytes, stream, true);
}

CUresult cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
    LW_CU_CALL;
    return copy(lw_cu_anywhere(to), lw_cu_anywhere(from), bytes, NULL, false);
}

CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
    LW_CU_CALL;
    return copy(lw_cu_anywhere(to), lw_cu_anywhere(from), bytes, stream, true);
}

/* ---- Fills ----------------------------------------------------------------------------------------------------- */

static CUresult fill(CUdeviceptr to, uint64_t value, uint32_t size, size_t count, CUstream stream, bool is_async) {
    lw_cu_op op = {.fill = {.to = to, .value = value, .size = size, .width = count, .height = 1}};
    return lw_cu_fill(&op, stream, is_async);
}

CUresult cuMemsetD8_v2(CUdeviceptr to, unsigned char value, size_t count) {
    LW_CU_CALL;
    return fill(to, value, 1, count, NULL, false);
}

CUresult cuMemsetD16_v2(CUdeviceptr to, unsigned short value, size_t count) {
    LW_CU_CALL;
    return fill(to, value, 2, count, NULL, false);
}

CUresult cuMemsetD32_v2(CUdeviceptr to, unsigned value, size_t count) {
    LW_CU_CALL;
    return fill(to, value, 4, count, NULL, false);
}

CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t count, CUstream stream) {
    LW_CU_CALL;
    return fill(to, value, 1, count, stream, true);
}

CUresult cuMemsetD16Async(CUdeviceptr to, unsigned short value, size_t count, CUstream stream) {
    LW_CU_CALL;
    return fill(to, value, 2, count, stream, true);
}

CUresult cuMemsetD32Async(CUdeviceptr to, unsigned value, size_t count, CUstream stream) {
    LW_CU_CALL;
    return fill(to, value, 4, count, stream, true);
}
