/* error.c: what errors are called, and the last one of each thread. */
#include "shim/cudart/runtime.h"

static const struct row {
    cudaError_t error;
    const char *name, *text;
} rows[] = {
#define ERROR(name, value, text) {value, #name, text},
#include "shim/cudart/errors.def"
#undef ERROR
};
enum { ROWS = sizeof rows / sizeof rows[0] };

static const struct row *find(cudaError_t error) {
    for (int i = 0; i < ROWS; i++)
        if (rows[i].error == error) return &rows[i];
    return NULL;
}

static const char *driver_text(cudaError_t error) {
    switch (error) {
#define ERROR(name, value, text) \
    case value: \
        return text;
#include "shim/cuda/errors.def"
#undef ERROR
    }
    return NULL;
}

const char *cudaGetErrorName(cudaError_t error) {
    const struct row *row = find(error);
    return row ? row->name : "unrecognized error code";
}

const char *cudaGetErrorString(cudaError_t error) {
    const struct row *row = find(error);
    return !row ? "unrecognized error code" : row->text ? row->text : driver_text(error);
}

/* ---- The last error -------------------------------------------------------------------------------------------- */

static _Thread_local cudaError_t last;

cudaError_t lw_rt_end(cudaError_t error) {
    if (error) last = error;
    return error;
}

cudaError_t lw_rt_result(CUresult result) { return find(result) ? result : cudaErrorUnknown; }
cudaError_t lw_rt_end_driver(CUresult result) { return lw_rt_end(lw_rt_result(result)); }

/* What only the end of the process ends. */
bool lw_rt_sticks(cudaError_t error) {
    switch (error) {
    case cudaErrorIllegalAddress:
    case cudaErrorLaunchTimeout:
    case cudaErrorAssert:
    case cudaErrorHardwareStackError:
    case cudaErrorIllegalInstruction:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorLaunchFailure: return true;
    default: return false;
    }
}

cudaError_t cudaGetLastError(void) {
    cudaError_t error = last;
    if (!lw_rt_sticks(error)) last = cudaSuccess;
    return error;
}

cudaError_t cudaPeekAtLastError(void) { return last; }
void lw_rt_forget_error(void) { last = cudaSuccess; }
