/* link.c: cuLink…: a linker (shim/image) as an object of a context, with the logs that programs gave it. */
#include "shim/cuda/driver.h"

#include <stdlib.h>

/* ---- Logs ------------------------------------------------------------------------------------------------------ */

/* What programs can read grows with each call. */
static CUresult finish(CUlinkState state, double start, CUresult result) {
    state->seconds += lw_clock() - start;
    lw_cu_write_seconds(&state->to, state->seconds);
    lw_cu_write_log(&state->to.error, state->linker.error.at ? state->linker.error.at : "");
    lw_cu_write_log(&state->to.info, state->linker.info.at ? state->linker.info.at : "");
    if (result && !state->to.error.buffer && state->linker.error.at)
        lw_cu_report(LW_CU_REPORT_ERRORS, "a link was refused:\n%s", state->linker.error.at);
    if (result && !state->failed) state->failed = result;
    return result;
}

/* ---- The state ------------------------------------------------------------------------------------------------- */

CUresult cuLinkCreate_v2(unsigned count, CUjit_option *options, void **values, CUlinkState *state) {
    LW_CU_CALL;
    CUcontext context;
    CUresult result = lw_cu_enter(&context);
    if (result) return result;
    if (!state || (count && (!options || !values))) return CUDA_ERROR_INVALID_VALUE;
    CUlinkState made = lw_cu_new(sizeof *made, LW_CU_LINK, context);
    if (!made) return lw_cu_not_made(context);
    pthread_mutex_init(&made->lock, NULL); /* of Linux, which never fails */
    made->linker.inputs.arch = lw_cu.arch;
    lw_cu_read_options(&made->to, count, options, values);
    made->linker.inputs.registers = made->to.registers;
    *state = made;
    return CUDA_SUCCESS;
}
LW_CU_SAME(cuLinkCreate, cuLinkCreate_v2);

void lw_cu_end_link(CUlinkState state) {
    lw_linker_free(&state->linker);
    lw_text_free(&state->image);
    pthread_mutex_destroy(&state->lock);
}

CUresult cuLinkDestroy(CUlinkState state) {
    LW_CU_CALL;
    CUresult result = lw_cu_enter_with(state, LW_CU_LINK);
    if (result) return result;
    lw_cu_free(&state->object);
    return CUDA_SUCCESS;
}

/* ---- Inputs ---------------------------------------------------------------------------------------------------- */

static CUresult add(CUlinkState state, CUjitInputType type, const char *name, lw_bytes bytes) {
    const double start = lw_clock();
    CUresult result = CUDA_ERROR_INVALID_VALUE; /* it is complete */
    pthread_mutex_lock(&state->lock);
    if (!state->image.at) {
        LW_OWN_FLOAT_MODE(callers);
        lw_linker *linker = &state->linker;
        result = lw_cu_image_result(type == CU_JIT_INPUT_NVVM
                                        ? lw_linker_refuse(linker, name, "NVVM's intermediate language (LTO-IR)")
                                        : lw_linker_add(linker, name, bytes));
        result = finish(state, start, result);
    }
    pthread_mutex_unlock(&state->lock);
    return result;
}

static CUresult enter(CUlinkState state, CUjitInputType type, unsigned count, const void *options, const void *values) {
    CUresult result = lw_cu_enter_with(state, LW_CU_LINK);
    if (result) return result;
    return type > CU_JIT_INPUT_NVVM || (count && (!options || !values)) ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

/* What an input is, its bytes say better than its type: programs call our own images cubins. */
CUresult cuLinkAddData_v2(CUlinkState state, CUjitInputType type, void *data, size_t size, const char *name,
                          unsigned count, CUjit_option *options, void **values) {
    LW_CU_CALL;
    CUresult result = enter(state, type, count, options, values);
    char numbered[32];
    if (result) return result;
    if (!data || !size) return CUDA_ERROR_INVALID_VALUE;
    if (!name) lw_cu_name_image(numbered);
    return add(state, type, name ? name : numbered, (lw_bytes){data, size});
}
LW_CU_SAME(cuLinkAddData, cuLinkAddData_v2);

CUresult cuLinkAddFile_v2(CUlinkState state, CUjitInputType type, const char *path, unsigned count,
                          CUjit_option *options, void **values) {
    LW_CU_CALL;
    CUresult result = enter(state, type, count, options, values);
    bool no_memory = false;
    size_t size;
    if (result) return result;
    if (!path) return CUDA_ERROR_INVALID_VALUE;
    char *data = lw_image_file(path, &size, &no_memory);
    if (!data) return no_memory ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_ERROR_FILE_NOT_FOUND;
    result = add(state, type, path, (lw_bytes){data, size});
    free(data);
    return result;
}
LW_CU_SAME(cuLinkAddFile, cuLinkAddFile_v2);

/* ---- The image ------------------------------------------------------------------------------------------------- */

/* An input that was refused is not left out: then there is no image. */
static CUresult complete(CUlinkState state) {
    LW_OWN_FLOAT_MODE(callers);
    if (state->image.at) return CUDA_SUCCESS;
    if (state->failed) return state->failed;
    if (!state->linker.inputs.count) return CUDA_ERROR_INVALID_VALUE;
    const double start = lw_clock();
    return finish(state, start, lw_cu_image_result(lw_linker_complete(&state->linker, &state->image)));
}

CUresult cuLinkComplete(CUlinkState state, void **image, size_t *size) {
    LW_CU_CALL;
    CUresult result = lw_cu_enter_with(state, LW_CU_LINK);
    if (result) return result;
    if (!image) return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&state->lock);
    result = complete(state);
    if (!result) {
        *image = state->image.at;
        if (size) *size = state->image.size;
    }
    pthread_mutex_unlock(&state->lock);
    return result;
}
