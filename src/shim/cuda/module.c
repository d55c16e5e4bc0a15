/* module.c: from an image to a module, with logs. */
#include "shim/cuda/driver.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- Logs ------------------------------------------------------------------------------------------------------ */

typedef struct log {
    char *buffer;
    size_t room;
    void **written; /* the option's value is replaced by the number of bytes, as the interface has it */
} log;

typedef struct logs {
    log error, info;
    void **seconds;
    unsigned seconds_set;
} logs;

static void read_options(logs *to, unsigned count, const CUjit_option *options, void **values) {
    for (unsigned i = 0; i < count; i++) switch (options[i]) {
        case CU_JIT_ERROR_LOG_BUFFER: to->error.buffer = values[i]; break;
        case CU_JIT_INFO_LOG_BUFFER: to->info.buffer = values[i]; break;
        case CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES:
            to->error.room = (unsigned)(uintptr_t)values[i];
            to->error.written = &values[i];
            break;
        case CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES:
            to->info.room = (unsigned)(uintptr_t)values[i];
            to->info.written = &values[i];
            break;
        case CU_JIT_WALL_TIME: to->seconds = &values[i]; break;
        default: break; /* the others steer machine code that is never made */
        }
}

/* As much as fits, with a NUL behind it. */
static void write_log(const log *to, const char *text) {
    size_t size = strlen(text);
    if (!to->buffer || !to->room) {
        if (to->written) *to->written = NULL;
        return;
    }
    if (size >= to->room) size = to->room - 1;
    memcpy(to->buffer, text, size);
    to->buffer[size] = 0;
    if (to->written) *to->written = (void *)(uintptr_t)size;
}

static void write_seconds(const logs *to, double seconds) {
    float value = (float)seconds * 1000;
    if (to->seconds) memcpy(to->seconds, &value, sizeof value);
}

/* ---- Images ---------------------------------------------------------------------------------------------------- */

static const char *fatbin = "error: the image is a fatbin, and Lanewise does not read these yet; pass the PTX text "
                            "(nvcc --ptx makes it)\n";
static const char *cubin =
    "error: the image is machine code of a GPU (a cubin); Lanewise runs PTX text (nvcc --ptx makes it)\n";
static const char *garbage = "error: the image is not PTX text\n";

static bool is_text(unsigned char c) { return (c >= 0x20 && c < 0x7f) || (c >= 0x09 && c <= 0x0d) || !c; }

/* What an image is that is no text; CUDA_SUCCESS for a text. */
static CUresult look_at(const void *image, const char **why) {
    const unsigned char *bytes = image;
    uint32_t magic = 0;
    bool long_enough = bytes[0] && bytes[1] && bytes[2]; /* reads no byte behind a short text */
    if (long_enough) memcpy(&magic, bytes, sizeof magic);
    *why = magic == 0x464c457f ? cubin : magic == 0x466243b1 || magic == 0xba55ed50 ? fatbin : garbage;
    if (*why != garbage) return CUDA_ERROR_NO_BINARY_FOR_GPU;
    return is_text(bytes[0]) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_IMAGE;
}

static CUresult refuse(const logs *to, CUresult result, const char *why) {
    write_log(&to->error, why);
    write_log(&to->info, "");
    if (!to->error.buffer) lw_cu_report(LW_CU_REPORT_ERRORS, "a module was refused:\n%s", why);
    return result;
}

/* A text that does not begin as PTX is no image at all; faults in one of a version that is newer than what we know are
 * most likely what that version brought. */
static CUresult source_result(const lw_module *module) {
    for (size_t i = 0; i < lw_module_diagnostic_count(module); i++) {
        uint32_t number = lw_module_diagnostic(module, i).number;
        if (number == lw_diag_rows[LW_D_no_version].number) return CUDA_ERROR_INVALID_IMAGE;
        if (number == lw_diag_rows[LW_D_newer_version].number) return CUDA_ERROR_UNSUPPORTED_PTX_VERSION;
    }
    return CUDA_ERROR_INVALID_PTX;
}

static CUresult load_text(CUcontext context, CUmodule *out, const char *name, const char *text, const logs *to) {
    LW_OWN_FLOAT_MODE(callers);
    lw_module *module = NULL;
    double start = lw_clock();
    lw_status status = lw_module_new(lw_cu.device, name, text, strlen(text), &module);
    write_seconds(to, lw_clock() - start);
    if (status == LW_BAD_SOURCE) {
        CUresult result = refuse(to, source_result(module), lw_module_diagnostics(module, false));
        lw_module_free(module);
        return result;
    }
    if (status != LW_OK) return lw_cu_fail("cuModuleLoadData", status);
    write_log(&to->error, "");
    write_log(&to->info, lw_module_diagnostics(module, false));
    CUmodule made = lw_cu_new(sizeof *made, LW_CU_MODULE, context);
    if (!made) {
        lw_module_free(module);
        return lw_cu_not_made(context);
    }
    made->module = module;
    *out = made;
    return CUDA_SUCCESS;
}

static CUresult load(CUmodule *module, const char *name, const void *image, const logs *to) {
    LW_CU_CALL;
    CUcontext context;
    const char *why;
    char numbered[32];
    CUresult result = lw_cu_enter(&context);
    if (result) return result;
    if (!module || !image) return CUDA_ERROR_INVALID_VALUE;
    if ((result = look_at(image, &why))) return refuse(to, result, why);
    if (!name) {
        lw_cu_lock();
        snprintf(numbered, sizeof numbered, "<module %llu>", (unsigned long long)++lw_cu.last_image);
        lw_cu_unlock();
        name = numbered;
    }
    return load_text(context, module, name, image, to);
}

CUresult cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned count, CUjit_option *options, void **values) {
    LW_CU_CALL;
    logs to = {0};
    if (count && (!options || !values)) return CUDA_ERROR_INVALID_VALUE;
    read_options(&to, count, options, values);
    return load(module, NULL, image, &to);
}

CUresult cuModuleLoadData(CUmodule *module, const void *image) { return load(module, NULL, image, &(logs){0}); }
CUresult cuModuleLoadFatBinary(CUmodule *module, const void *image) { return load(module, NULL, image, &(logs){0}); }

/* ---- Files ----------------------------------------------------------------------------------------------------- */

/* With a NUL behind it; NULL where it cannot be read. A text ends at its first NUL, and so does reading: what follows
 * may be endless. */
static char *read_file(const char *path, bool *no_memory) {
    FILE *file = fopen(path, "rbe");
    char *data = NULL;
    size_t used = 0, room = 0, seen = 0;
    while (file && !feof(file) && !ferror(file) && used < UINT32_MAX && (!used || strlen(data + seen) == used - seen)) {
        seen = used;
        if (used + 1 >= room) {
            char *grown = realloc(data, room = room ? room * 2 : 1 << 16);
            if (!grown) {
                *no_memory = true;
                break;
            }
            data = grown;
        }
        used += fread(data + used, 1, room - used - 1, file);
        data[used] = 0;
    }
    bool failed = !file || ferror(file) || *no_memory;
    if (file) fclose(file);
    if (!failed) return data;
    free(data);
    return NULL;
}

CUresult cuModuleLoad(CUmodule *module, const char *path) {
    LW_CU_CALL;
    CUresult result = lw_cu_enter(NULL);
    bool no_memory = false;
    if (result) return result;
    if (!module || !path) return CUDA_ERROR_INVALID_VALUE;
    char *data = read_file(path, &no_memory);
    if (!data) return no_memory ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_ERROR_FILE_NOT_FOUND;
    result = load(module, path, data, &(logs){0});
    free(data);
    return result;
}

/* ---- Ending ---------------------------------------------------------------------------------------------------- */

/* With its functions, of which there are no new ones once nobody finds the module. */
void lw_cu_end_module(CUmodule module) {
    if (!lw_cu_forget(&module->object)) return; /* another thread was first */
    lw_cu_lock();
    for (size_t i = 0; module->functions && i < lw_module_kernel_count(module->module); i++) {
        if (!module->functions[i]) continue;
        lw_cu_unlink(&module->functions[i]->object);
        lw_cu_bury(&module->functions[i]->object);
    }
    lw_cu_bury(&module->object);
    lw_cu_unlock();
}

CUresult cuModuleUnload(CUmodule module) {
    LW_CU_CALL;
    CUresult result = lw_cu_enter_with(module, LW_CU_MODULE);
    if (result) return result;
    lw_cu_end_module(module);
    return CUDA_SUCCESS;
}

/* A kernel becomes a program when it is asked for. */
CUresult cuModuleGetLoadingMode(CUmoduleLoadingMode *mode) {
    LW_CU_CALL;
    CUresult result = lw_cu_ready();
    if (result) return result;
    if (!mode) return CUDA_ERROR_INVALID_VALUE;
    *mode = CU_MODULE_LAZY_LOADING;
    return CUDA_SUCCESS;
}
