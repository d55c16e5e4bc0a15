/* batch.c: many copies in one call. All are checked before the first is begun. */
#include "shim/cuda/array.h"

#include <stdlib.h>

/* The whole program's default stream is not for them; a thread's own is. */
static CUresult enter(CUstream stream) {
    CUresult result = lw_cu_enter_stream(stream);
    return result ? result : lw_cu_is_legacy(stream) ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

static bool is_late(unsigned order) { return order != CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL; }

static bool is_order(unsigned order) {
    return order >= CU_MEMCPY_SRC_ACCESS_ORDER_STREAM && order <= CU_MEMCPY_SRC_ACCESS_ORDER_ANY;
}

/* A copy, and whether it may read its source later. */
typedef struct one {
    lw_cu_op op;
    bool later;
} one;

/* Copies of a checked list, in turn. */
static CUresult submit(one *all, size_t count, CUstream stream) {
    CUresult result = CUDA_SUCCESS;
    for (size_t i = 0; i < count && !result; i++) result = lw_cu_copy(&all[i].op, stream, all[i].later);
    return result;
}

/* ---- Lines ----------------------------------------------------------------------------------------------------- */

/* Each of the attributes begins at a copy of its own, the first one at the first. */
static bool check_attributes(const CUmemcpyAttributes *attributes, const size_t *firsts, size_t attribute_count,
                             size_t count) {
    if (!attributes || !firsts || !attribute_count || attribute_count > count || firsts[0]) return false;
    for (size_t i = 0; i < attribute_count; i++) {
        if (firsts[i] >= count || (i && firsts[i] <= firsts[i - 1])) return false;
        if (!is_order(attributes[i].srcAccessOrder) || attributes[i].flags > 1) return false;
    }
    return true;
}

static CUresult lines(const CUdeviceptr *to, const CUdeviceptr *from, const size_t *sizes, size_t count,
                      const CUmemcpyAttributes *attributes, const size_t *firsts, size_t attribute_count,
                      size_t *failed, CUstream stream) {
    *failed = SIZE_MAX; /* none in particular */
    CUresult result = enter(stream);
    if (result) return result;
    if (!to || !from || !sizes || !check_attributes(attributes, firsts, attribute_count, count))
        return CUDA_ERROR_INVALID_VALUE;
    one *all = calloc(count, sizeof *all);
    if (!all) return CUDA_ERROR_OUT_OF_MEMORY;
    for (size_t i = 0, at = 0; i < count && !result; i++) {
        if (at + 1 < attribute_count && firsts[at + 1] == i) at++;
        all[i] = (one){lw_cu_line(to[i], from[i], sizes[i]), is_late(attributes[at].srcAccessOrder)};
        if (lw_cu_can_copy(&all[i].op)) continue;
        result = CUDA_ERROR_INVALID_VALUE;
        *failed = i;
    }
    if (!result) result = submit(all, count, stream);
    free(all);
    return result;
}

CUresult cuMemcpyBatchAsync_v2(CUdeviceptr *to, CUdeviceptr *from, size_t *sizes, size_t count,
                               CUmemcpyAttributes *attributes, size_t *firsts, size_t attribute_count,
                               CUstream stream) {
    LW_CU_CALL;
    size_t failed;
    return lines(to, from, sizes, count, attributes, firsts, attribute_count, &failed, stream);
}

CUresult cuMemcpyBatchAsync(CUdeviceptr *to, CUdeviceptr *from, size_t *sizes, size_t count,
                            CUmemcpyAttributes *attributes, size_t *firsts, size_t attribute_count, size_t *failed,
                            CUstream stream) {
    LW_CU_CALL;
    size_t unused;
    return lines(to, from, sizes, count, attributes, firsts, attribute_count, failed ? failed : &unused, stream);
}

/* ---- Boxes ----------------------------------------------------------------------------------------------------- */

/* Bytes of what lengths count: texels of the arrays that are named, else bytes. */
static size_t element_of(const CUmemcpy3DOperand *operand) {
    if (operand->type != CU_MEMCPY_OPERAND_TYPE_ARRAY || !lw_cu_find(operand->op.array.array, LW_CU_ARRAY)) return 1;
    return lw_image_texel_bytes(&operand->op.array.array->image);
}

/* One side, which has fields of its own names. */
#define READ_ADDRESS(which, operand, element, box) \
    do { \
        (box)->which##MemoryType = CU_MEMORYTYPE_UNIFIED; \
        (box)->which##Device = (operand)->op.ptr.ptr; \
        (box)->which##Height = (operand)->op.ptr.layerHeight; \
        if (__builtin_mul_overflow((operand)->op.ptr.rowLength, element, &(box)->which##Pitch)) \
            return CUDA_ERROR_INVALID_VALUE; \
    } while (0)
#define READ_ARRAY(which, operand, element, box) \
    do { \
        (box)->which##MemoryType = CU_MEMORYTYPE_ARRAY; \
        (box)->which##Array = (operand)->op.array.array; \
        (box)->which##Y = (operand)->op.array.offset.y; \
        (box)->which##Z = (operand)->op.array.offset.z; \
        if (__builtin_mul_overflow((operand)->op.array.offset.x, element, &(box)->which##XInBytes)) \
            return CUDA_ERROR_INVALID_VALUE; \
    } while (0)

static CUresult read_copy(const CUDA_MEMCPY3D_BATCH_OP *copy, one *out) {
    const CUmemcpy3DOperand *to = &copy->dst, *from = &copy->src;
    const size_t to_element = element_of(to), element = to_element > 1 ? to_element : element_of(from);
    CUDA_MEMCPY3D box = {.Height = copy->extent.height, .Depth = copy->extent.depth};
    if (!copy->extent.width || !box.Height || !box.Depth || !is_order(copy->srcAccessOrder) || copy->flags > 1 ||
        __builtin_mul_overflow(copy->extent.width, element, &box.WidthInBytes))
        return CUDA_ERROR_INVALID_VALUE;
    if (to->type == CU_MEMCPY_OPERAND_TYPE_ARRAY) READ_ARRAY(dst, to, element, &box);
    else if (to->type == CU_MEMCPY_OPERAND_TYPE_POINTER) READ_ADDRESS(dst, to, element, &box);
    if (from->type == CU_MEMCPY_OPERAND_TYPE_ARRAY) READ_ARRAY(src, from, element, &box);
    else if (from->type == CU_MEMCPY_OPERAND_TYPE_POINTER) READ_ADDRESS(src, from, element, &box);
    out->later = is_late(copy->srcAccessOrder);
    return lw_cu_read_copy(&box, &out->op);
}

static CUresult boxes(size_t count, const CUDA_MEMCPY3D_BATCH_OP *copies, size_t *failed, unsigned long long flags,
                      CUstream stream) {
    *failed = SIZE_MAX;
    CUresult result = enter(stream);
    if (result) return result;
    if (!count || !copies || flags) return CUDA_ERROR_INVALID_VALUE;
    one *all = calloc(count, sizeof *all);
    if (!all) return CUDA_ERROR_OUT_OF_MEMORY;
    for (size_t i = 0; i < count && !result; i++)
        if ((result = read_copy(&copies[i], &all[i]))) *failed = i;
    if (!result) result = submit(all, count, stream);
    free(all);
    return result;
}

CUresult cuMemcpy3DBatchAsync_v2(size_t count, CUDA_MEMCPY3D_BATCH_OP *copies, unsigned long long flags,
                                 CUstream stream) {
    LW_CU_CALL;
    size_t failed;
    return boxes(count, copies, &failed, flags, stream);
}

CUresult cuMemcpy3DBatchAsync(size_t count, CUDA_MEMCPY3D_BATCH_OP *copies, size_t *failed, unsigned long long flags,
                              CUstream stream) {
    LW_CU_CALL;
    size_t unused;
    return boxes(count, copies, failed ? failed : &unused, flags, stream);
}
