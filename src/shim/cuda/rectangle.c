/* rectangle.c: copies and fills of rectangles and boxes, and copies between contexts: what a call says becomes the
 * operation of copy.c. */
#include "shim/cuda/array.h"

#include <limits.h>

/* ---- What a call says ------------------------------------------------------------------------------------------ */

/* One side of a copy as the interface has it. */
typedef struct side {
    unsigned type; /* CU_MEMORYTYPE_… */
    const void *host;
    CUdeviceptr address;
    CUarray array;
    size_t pitch, height; /* bytes from row to row, rows from layer to layer; 0: they lie close together */
    size_t x, y, z;
} side;

/* a * b + c, false where it is too large. */
static bool scale(size_t a, size_t b, size_t c, size_t *out) {
    return !__builtin_mul_overflow(a, b, out) && !__builtin_add_overflow(*out, c, out);
}

/* Where there is one row, or one layer, what keeps it apart from others says nothing. */
static bool complete(side *side, size_t width, size_t rows, size_t layers) {
    size_t row, layer;
    if (__builtin_add_overflow(side->x, width, &row) || __builtin_add_overflow(side->y, rows, &layer)) return false;
    if (!side->pitch) side->pitch = row;
    if (!side->height) side->height = layer;
    if (side->pitch > INT_MAX) return false; /* CU_DEVICE_ATTRIBUTE_MAX_PITCH */
    return (side->pitch >= row || (rows == 1 && layers == 1)) && (side->height >= layer || layers == 1);
}

/* Pitch and height say nothing of an array, whose layers are layers also where they are of one row. */
static CUresult read_array(side side, size_t width, size_t rows, size_t layers, lw_cu_side *out) {
    lw_image_plane plane;
    size_t row, last_row, last_layer;
    if (!lw_cu_find(side.array, LW_CU_ARRAY)) return CUDA_ERROR_INVALID_VALUE;
    const lw_image *image = &side.array->image;
    if (!lw_image_level(image, 0, &plane) || __builtin_add_overflow(side.x, width, &row) ||
        __builtin_add_overflow(side.y, rows, &last_row) || __builtin_add_overflow(side.z, layers, &last_layer) ||
        row > plane.row_pitch || last_row > plane.height || last_layer > plane.depth)
        return CUDA_ERROR_INVALID_VALUE;
    *out = (lw_cu_side){.at = image->address + side.z * plane.layer_pitch + side.y * plane.row_pitch + side.x,
                        .on_device = true,
                        .pitch = plane.row_pitch,
                        .plane = plane.layer_pitch,
                        .array = side.array};
    return CUDA_SUCCESS;
}

static CUresult read_side(side side, size_t width, size_t rows, size_t layers, lw_cu_side *out) {
    size_t line, offset, plane, last;
    if (side.type == CU_MEMORYTYPE_ARRAY) return read_array(side, width, rows, layers, out);
    if (side.type < CU_MEMORYTYPE_HOST || side.type > CU_MEMORYTYPE_UNIFIED || !complete(&side, width, rows, layers) ||
        !scale(side.height, side.pitch, 0, &plane) || !scale(side.z, side.height, side.y, &line) ||
        !scale(line, side.pitch, side.x, &offset) || !scale(rows - 1, side.pitch, width, &line) ||
        !scale(layers - 1, plane, line, &last))
        return CUDA_ERROR_INVALID_VALUE;
    const uint64_t base = side.type == CU_MEMORYTYPE_HOST ? (uintptr_t)side.host : side.address;
    *out = side.type == CU_MEMORYTYPE_UNIFIED ? lw_cu_anywhere(base)
                                              : (lw_cu_side){.on_device = side.type == CU_MEMORYTYPE_DEVICE};
    out->pitch = side.pitch, out->plane = plane;
    const bool fits = !__builtin_add_overflow(base, offset, &out->at) && out->at + last >= last;
    return base && fits ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static CUresult read_copy(side to, side from, size_t width, size_t rows, size_t layers, lw_cu_op *op) {
    *op = (lw_cu_op){.kind = LW_CU_OP_COPY, .copy = {.width = width, .height = rows, .depth = layers}};
    if (!width || !rows || !layers) return CUDA_SUCCESS;
    CUresult result = read_side(to, width, rows, layers, &op->copy.to);
    if (!result) result = read_side(from, width, rows, layers, &op->copy.from);
    if (result) return result;
    return lw_cu_can_copy(op) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

#define SIDE(copy, which, layer, rows) \
    (side) { \
        .type = (copy)->which##MemoryType, .host = (copy)->which##Host, .address = (copy)->which##Device, \
        .array = (copy)->which##Array, .pitch = (copy)->which##Pitch, .height = (rows), .x = (copy)->which##XInBytes, \
        .y = (copy)->which##Y, .z = (layer) \
    }
#define BOX(copy, op) \
    read_copy(SIDE(copy, dst, (copy)->dstZ, (copy)->dstHeight), SIDE(copy, src, (copy)->srcZ, (copy)->srcHeight), \
              (copy)->WidthInBytes, (copy)->Height, (copy)->Depth, op)

CUresult lw_cu_read_copy(const CUDA_MEMCPY3D *copy, lw_cu_op *op) {
    if (!copy || copy->srcLOD || copy->dstLOD) return CUDA_ERROR_INVALID_VALUE;
    return BOX(copy, op);
}

/* ---- Copies of rectangles and boxes ---------------------------------------------------------------------------- */

static CUresult rectangle(const CUDA_MEMCPY2D *copy, CUstream stream, bool is_async) {
    lw_cu_op op;
    CUresult result = lw_cu_enter_stream(stream);
    if (result) return result;
    if (!copy) return CUDA_ERROR_INVALID_VALUE;
    result = read_copy(SIDE(copy, dst, 0, 0), SIDE(copy, src, 0, 0), copy->WidthInBytes, copy->Height, 1, &op);
    return result ? result : lw_cu_copy(&op, stream, is_async);
}

CUresult cuMemcpy2D_v2(const CUDA_MEMCPY2D *copy) {
    LW_CU_CALL;
    return rectangle(copy, NULL, false);
}

CUresult cuMemcpy2DUnaligned_v2(const CUDA_MEMCPY2D *copy) {
    LW_CU_CALL;
    return rectangle(copy, NULL, false);
}

CUresult cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D *copy, CUstream stream) {
    LW_CU_CALL;
    return rectangle(copy, stream, true);
}

static CUresult box(const CUDA_MEMCPY3D *copy, CUstream stream, bool is_async) {
    lw_cu_op op;
    CUresult result = lw_cu_enter_stream(stream);
    if (!result) result = lw_cu_read_copy(copy, &op);
    return result ? result : lw_cu_copy(&op, stream, is_async);
}

CUresult cuMemcpy3D_v2(const CUDA_MEMCPY3D *copy) {
    LW_CU_CALL;
    return box(copy, NULL, false);
}

CUresult cuMemcpy3DAsync_v2(const CUDA_MEMCPY3D *copy, CUstream stream) {
    LW_CU_CALL;
    return box(copy, stream, true);
}

/* ---- Copies between contexts ----------------------------------------------------------------------------------- */

/* Addresses are unique in the process, so that whose they are changes nothing; it must be a context, though. */
static CUresult enter_peers(CUcontext to, CUcontext from, CUstream stream) {
    CUresult result = lw_cu_enter_stream(stream);
    if (result) return result;
    if (!to || !from) return CUDA_ERROR_INVALID_VALUE;
    const bool known = lw_cu_find(to, LW_CU_CONTEXT) && lw_cu_find(from, LW_CU_CONTEXT);
    return known ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

static CUresult peer_box(const CUDA_MEMCPY3D_PEER *copy, CUstream stream, bool is_async) {
    lw_cu_op op;
    if (!copy || copy->srcLOD || copy->dstLOD) return CUDA_ERROR_INVALID_VALUE;
    CUresult result = enter_peers(copy->dstContext, copy->srcContext, stream);
    if (!result) result = BOX(copy, &op);
    return result ? result : lw_cu_copy(&op, stream, is_async);
}

CUresult cuMemcpy3DPeer(const CUDA_MEMCPY3D_PEER *copy) {
    LW_CU_CALL;
    return peer_box(copy, NULL, false);
}

CUresult cuMemcpy3DPeerAsync(const CUDA_MEMCPY3D_PEER *copy, CUstream stream) {
    LW_CU_CALL;
    return peer_box(copy, stream, true);
}

lw_cu_op lw_cu_line(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
    return (lw_cu_op){
        .kind = LW_CU_OP_COPY,
        .copy = {.to = lw_cu_anywhere(to), .from = lw_cu_anywhere(from), .width = bytes, .height = 1, .depth = 1}};
}

static CUresult peer_line(CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context, size_t bytes,
                          CUstream stream, bool is_async) {
    CUresult result = enter_peers(to_context, from_context, stream);
    if (result) return result;
    lw_cu_op op = lw_cu_line(to, from, bytes);
    return lw_cu_copy(&op, stream, is_async);
}

CUresult cuMemcpyPeer(CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context, size_t bytes) {
    LW_CU_CALL;
    return peer_line(to, to_context, from, from_context, bytes, NULL, false);
}

CUresult cuMemcpyPeerAsync(CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context, size_t bytes,
                           CUstream stream) {
    LW_CU_CALL;
    return peer_line(to, to_context, from, from_context, bytes, stream, true);
}

/* ---- Fills of rectangles --------------------------------------------------------------------------------------- */

static CUresult fill(CUdeviceptr to, size_t pitch, uint32_t value, uint32_t size, size_t width, size_t rows,
                     CUstream stream, bool is_async) {
    size_t row;
    if (rows > 1 && (!scale(width, size, 0, &row) || pitch < row || pitch > INT_MAX)) return CUDA_ERROR_INVALID_VALUE;
    lw_cu_op op = {
        .fill = {
            .to = to, .pitch = rows > 1 ? pitch : 0, .value = value, .size = size, .width = width, .height = rows}};
    return lw_cu_fill(&op, stream, is_async);
}

CUresult cuMemsetD2D8_v2(CUdeviceptr to, size_t pitch, unsigned char value, size_t width, size_t height) {
    LW_CU_CALL;
    return fill(to, pitch, value, sizeof value, width, height, NULL, false);
}

CUresult cuMemsetD2D16_v2(CUdeviceptr to, size_t pitch, unsigned short value, size_t width, size_t height) {
    LW_CU_CALL;
    return fill(to, pitch, value, sizeof value, width, height, NULL, false);
}

CUresult cuMemsetD2D32_v2(CUdeviceptr to, size_t pitch, unsigned value, size_t width, size_t height) {
    LW_CU_CALL;
    return fill(to, pitch, value, sizeof value, width, height, NULL, false);
}

CUresult cuMemsetD2D8Async(CUdeviceptr to, size_t pitch, unsigned char value, size_t width, size_t height,
                           CUstream stream) {
    LW_CU_CALL;
    return fill(to, pitch, value, sizeof value, width, height, stream, true);
}

CUresult cuMemsetD2D16Async(CUdeviceptr to, size_t pitch, unsigned short value, size_t width, size_t height,
                            CUstream stream) {
    LW_CU_CALL;
    return fill(to, pitch, value, sizeof value, width, height, stream, true);
}

CUresult cuMemsetD2D32Async(CUdeviceptr to, size_t pitch, unsigned value, size_t width, size_t height,
                            CUstream stream) {
    LW_CU_CALL;
    return fill(to, pitch, value, sizeof value, width, height, stream, true);
}
