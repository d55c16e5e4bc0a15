/* error.c: names and texts of results. */
#include "shim/cuda/driver.h"

typedef struct row {
    CUresult number;
    const char *name, *text;
} row;

static const row rows[] = {
#define ERROR(name, value, text) {value, #name, text},
#include "shim/cuda/errors.def"
#undef ERROR
};

static const row *find(CUresult error) {
    for (size_t i = 0; i < LW_COUNT(rows); i++)
        if (rows[i].number == error) return &rows[i];
    return NULL;
}

static CUresult answer(CUresult error, const char **out, bool name) {
    const row *found = find(error);
    if (!out) return CUDA_ERROR_INVALID_VALUE;
    *out = !found ? NULL : name ? found->name : found->text;
    return found ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGetErrorName(CUresult error, const char **name) { return answer(error, name, true); }
CUresult cuGetErrorString(CUresult error, const char **text) { return answer(error, text, false); }
