/* tensor.c: tensor maps, which kernels copy by. What a map says and how it is kept is base/tensor.h's affair. */
#include "shim/cuda/driver.h"

#include "base/tensor.h"

/* Those of the interface are in another order; what is packed in fewer than 8 bits is for later devices than this
 * copies by. */
static const lw_tensor_type types[] = {
    [CU_TENSOR_MAP_DATA_TYPE_UINT8] = LW_TENSOR_u8,
    [CU_TENSOR_MAP_DATA_TYPE_UINT16] = LW_TENSOR_u16,
    [CU_TENSOR_MAP_DATA_TYPE_UINT32] = LW_TENSOR_u32,
    [CU_TENSOR_MAP_DATA_TYPE_INT32] = LW_TENSOR_s32,
    [CU_TENSOR_MAP_DATA_TYPE_UINT64] = LW_TENSOR_u64,
    [CU_TENSOR_MAP_DATA_TYPE_INT64] = LW_TENSOR_s64,
    [CU_TENSOR_MAP_DATA_TYPE_FLOAT16] = LW_TENSOR_f16,
    [CU_TENSOR_MAP_DATA_TYPE_FLOAT32] = LW_TENSOR_f32,
    [CU_TENSOR_MAP_DATA_TYPE_FLOAT64] = LW_TENSOR_f64,
    [CU_TENSOR_MAP_DATA_TYPE_BFLOAT16] = LW_TENSOR_bf16,
    [CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ] = LW_TENSOR_f32_ftz,
    [CU_TENSOR_MAP_DATA_TYPE_TFLOAT32] = LW_TENSOR_tf32,
    [CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ] = LW_TENSOR_tf32_ftz,
};

/* … and how many bytes swizzles of 128 move together is a field of its own. */
static const struct {
    uint8_t swizzle, atom;
} swizzles[] = {
    [CU_TENSOR_MAP_SWIZZLE_NONE] = {0, 0},          [CU_TENSOR_MAP_SWIZZLE_32B] = {1, 0},
    [CU_TENSOR_MAP_SWIZZLE_64B] = {2, 0},           [CU_TENSOR_MAP_SWIZZLE_128B] = {3, 0},
    [CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B] = {3, 1}, [CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B_FLIP_8B] = {3, 2},
    [CU_TENSOR_MAP_SWIZZLE_128B_ATOM_64B] = {3, 3},
};

/* ---- What all of them are given ---------------------------------------------------------------------------------- */

typedef struct array {
    CUtensorMapDataType type;
    uint32_t rank;
    const void *address;
    const uint64_t *sizes, *strides;
    const uint32_t *steps;
    CUtensorMapInterleave interleave;
    CUtensorMapSwizzle swizzle;
    CUtensorMapL2promotion promotion;
    CUtensorMapFloatOOBfill fill;
} array;

static CUresult refuse(const char *why) {
    lw_cu_report(LW_CU_REPORT_ALL, "no tensor map: %s", why);
    return CUDA_ERROR_INVALID_VALUE;
}

/* Devices from sm_100 on have that. */
static CUresult later(const char *what) {
    lw_cu_report(LW_CU_REPORT_ERRORS, "tensor maps with %s are not supported", what);
    return LW_CU_SM < 100 ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_NOT_SUPPORTED;
}

static CUresult enter(const CUtensorMap *map) {
    CUresult result = lw_cu_enter(NULL);
    if (result) return result;
    if (!lw_cu.arch->clusters) {
        lw_cu_report(LW_CU_REPORT_ERRORS, "devices below sm_90 have no tensor maps");
        return CUDA_ERROR_NOT_SUPPORTED;
    }
    if (!map || (uintptr_t)map % LW_TENSOR_ALIGN) return refuse("where it is to be is no multiple of 64");
    return CUDA_SUCCESS;
}

static CUresult read_array(const array *from, lw_tensor *tensor) {
    if (from->type > CU_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B) return refuse("there is no such type");
    if (from->type >= LW_COUNT(types)) return later("packed elements");
    if (!from->rank || from->rank > LW_TENSOR_RANK) return refuse("it does not have 1 to 5 dimensions");
    if (!from->sizes || !from->steps || (from->rank > 1 && !from->strides)) return refuse("an array is NULL");
    if (from->swizzle > CU_TENSOR_MAP_SWIZZLE_128B_ATOM_64B || from->interleave > CU_TENSOR_MAP_INTERLEAVE_32B ||
        from->promotion > CU_TENSOR_MAP_L2_PROMOTION_L2_256B ||
        from->fill > CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA)
        return refuse("there is no such interleave, swizzle, promotion or fill");
    if ((LW_CU_SM < 100 && from->swizzle > CU_TENSOR_MAP_SWIZZLE_128B) ||
        from->swizzle == CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B_FLIP_8B)
        return later("such swizzles of more than 16 bytes");
    *tensor = (lw_tensor){.address = (uintptr_t)from->address,
                          .type = types[from->type],
                          .interleave = (uint8_t)from->interleave,
                          .swizzle = swizzles[from->swizzle].swizzle,
                          .atom = swizzles[from->swizzle].atom,
                          .rank = from->rank,
                          .fills_nan = from->fill};
    tensor->strides[0] = lw_tensor_element((lw_tensor_type)tensor->type);
    for (uint32_t i = 0; i < LW_TENSOR_RANK; i++) {
        const bool is = i < from->rank;
        tensor->sizes[i] = is ? from->sizes[i] : 1, tensor->steps[i] = is ? from->steps[i] : 1;
        tensor->box[i] = 1;
        if (i && is) tensor->strides[i] = from->strides[i - 1];
    }
    return CUDA_SUCCESS;
}

static CUresult write_map(CUtensorMap *map, const lw_tensor *tensor) {
    const char *fault = lw_tensor_fault(tensor);
    if (fault) return refuse(fault);
    lw_tensor_put(map, tensor);
    return CUDA_SUCCESS;
}

/* ---- Calls ------------------------------------------------------------------------------------------------------- */

CUresult cuTensorMapEncodeTiled(CUtensorMap *map, CUtensorMapDataType type, uint32_t rank, void *address,
                                const uint64_t *sizes, const uint64_t *strides, const uint32_t *box,
                                const uint32_t *steps, CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                                CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill) {
    LW_CU_CALL;
    const array from = {type, rank, address, sizes, strides, steps, interleave, swizzle, promotion, fill};
    lw_tensor tensor;
    CUresult result = enter(map);
    if (!result) result = read_array(&from, &tensor);
    if (result) return result;
    if (!box) return refuse("there is no box");
    memcpy(tensor.box, box, rank * sizeof *box);
    return write_map(map, &tensor);
}

CUresult cuTensorMapEncodeIm2col(CUtensorMap *map, CUtensorMapDataType type, uint32_t rank, void *address,
                                 const uint64_t *sizes, const uint64_t *strides, const int *lower, const int *upper,
                                 uint32_t channels, uint32_t pixels, const uint32_t *steps,
                                 CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                                 CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill) {
    LW_CU_CALL;
    const array from = {type, rank, address, sizes, strides, steps, interleave, swizzle, promotion, fill};
    lw_tensor tensor;
    CUresult result = enter(map);
    if (!result) result = read_array(&from, &tensor);
    if (result) return result;
    if (!lower || !upper || rank < 3) return refuse("there are no corners, or less than 3 dimensions");
    tensor.mode = LW_TENSOR_im2col;
    tensor.box[0] = channels, tensor.pixels = pixels;
    memcpy(tensor.lower + 1, lower, (rank - 2) * sizeof *lower);
    memcpy(tensor.upper + 1, upper, (rank - 2) * sizeof *upper);
    return write_map(map, &tensor);
}

/* For instructions that sm_100 is the first to have. Of 128 pixels each time their number is not asked for. */
CUresult cuTensorMapEncodeIm2colWide(CUtensorMap *map, CUtensorMapDataType type, uint32_t rank, void *address,
                                     const uint64_t *sizes, const uint64_t *strides, int lower, int upper,
                                     uint32_t channels, uint32_t pixels, const uint32_t *steps,
                                     CUtensorMapInterleave interleave, CUtensorMapIm2ColWideMode mode,
                                     CUtensorMapSwizzle swizzle, CUtensorMapL2promotion promotion,
                                     CUtensorMapFloatOOBfill fill) {
    LW_CU_CALL;
    const array from = {type, rank, address, sizes, strides, steps, interleave, swizzle, promotion, fill};
    const bool whole = mode == CU_TENSOR_MAP_IM2COL_WIDE_MODE_W128;
    lw_tensor tensor;
    CUresult result = enter(map);
    if (result) return result;
    if (LW_CU_SM < 100) return later("pixels along one dimension");
    if (mode > CU_TENSOR_MAP_IM2COL_WIDE_MODE_W128) return refuse("there is no such mode of pixels");
    result = read_array(&from, &tensor);
    if (result) return result;
    tensor.mode = whole ? LW_TENSOR_wide_128 : LW_TENSOR_wide;
    tensor.box[0] = channels, tensor.pixels = whole ? 1 : pixels;
    tensor.lower[1] = lower, tensor.upper[1] = upper;
    return write_map(map, &tensor);
}

CUresult cuTensorMapReplaceAddress(CUtensorMap *map, void *address) {
    LW_CU_CALL;
    lw_tensor tensor;
    CUresult result = enter(map);
    if (result) return result;
    if (!lw_tensor_get(map, &tensor, NULL)) return refuse("these bytes are none");
    tensor.address = (uintptr_t)address;
    return write_map(map, &tensor);
}
