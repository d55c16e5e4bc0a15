/* module.c: from an image to a module. */
#include "shim/cuda/driver.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- Images ---------------------------------------------------------------------------------------------------- */

static const char *fatbin = "error: the image is a fatbin, a container for machine code; Lanewise runs PTX text "
                            "(nvcc --ptx makes it)\n";
static const char *cubin =
    "error: the image is machine code of a GPU (a cubin); Lanewise runs PTX text (nvcc --ptx makes it)\n";
static const char *garbage = "error: the image is not PTX text\n";

static bool is_text(unsigned char c) { return (c >= 0x20 && c < 0x7f) || (c >= 0x09 && c <= 0x0d) || !c; }

CUresult lw_cu_look_at(const void *image, const char **why) {
    const unsigned char *bytes = image;
    uint32_t magic = 0;
    bool long_enough = bytes[0] && bytes[1] && bytes[2]; /* reads no byte behind a short text */
    if (long_enough) memcpy(&magic, bytes, sizeof magic);
    *why = magic == 0x464c457f ? cubin : magic == 0x466243b1 || magic == 0xba55ed50 ? fatbin : garbage;
    if (*why != garbage) return CUDA_ERROR_NO_BINARY_FOR_GPU;
    return is_text(bytes[0]) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_IMAGE;
}

void lw_cu_name_image(char name[32]) {
    lw_cu_lock();
    snprintf(name, 32, "<module %llu>", (unsigned long long)++lw_cu.last_image);
    lw_cu_unlock();
}

static CUresult refuse(const lw_cu_logs *to, CUresult result, const char *why) {
    lw_cu_write_log(&to->error, why);
    lw_cu_write_log(&to->info, "");
    if (!to->error.buffer) lw_cu_report(LW_CU_REPORT_ERRORS, "a module was refused:\n%s", why);
    return result;
}

CUresult lw_cu_source_result(const lw_diags *diags) {
    for (const lw_diag *diag = diags->first; diag; diag = diag->next) {
        if (diag->id == LW_D_no_version) return CUDA_ERROR_INVALID_IMAGE;
        if (diag->id == LW_D_newer_version) return CUDA_ERROR_UNSUPPORTED_PTX_VERSION;
    }
    return CUDA_ERROR_INVALID_PTX;
}

static CUresult load_texts(CUcontext context, CUmodule *out, const lw_module_text *texts, size_t count,
                           const lw_cu_logs *to) {
    LW_OWN_FLOAT_MODE(callers);
    lw_module *module = NULL;
    double start = lw_clock();
    lw_status status = lw_module_link(lw_cu.device, NULL, texts, count, &module);
    lw_cu_write_seconds(to, lw_clock() - start);
    if (status == LW_BAD_SOURCE) {
        CUresult result = refuse(to, lw_cu_source_result(&module->diags), lw_module_diagnostics(module, false));
        lw_module_free(module);
        return result;
    }
    if (status != LW_OK) return lw_cu_fail("cuModuleLoadData", status);
    lw_cu_write_log(&to->error, "");
    lw_cu_write_log(&to->info, lw_module_diagnostics(module, false));
    CUmodule made = lw_cu_new(sizeof *made, LW_CU_MODULE, context);
    if (!made) {
        lw_module_free(module);
        return lw_cu_not_made(context);
    }
    made->module = module;
    *out = made;
    return CUDA_SUCCESS;
}

/* What cuLinkComplete gave. */
static CUresult load_linked(CUcontext context, CUmodule *module, const void *image, const lw_cu_logs *to) {
    uint32_t count = lw_cu_image_count(image);
    lw_module_text *texts = count ? calloc(count, sizeof *texts) : NULL;
    if (!texts) return count ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_ERROR_INVALID_IMAGE;
    lw_cu_image_texts(image, texts);
    CUresult result = load_texts(context, module, texts, count, to);
    free(texts);
    return result;
}

static CUresult load(CUmodule *module, const char *name, const void *image, const lw_cu_logs *to) {
    LW_CU_CALL;
    CUcontext context;
    const char *why;
    char numbered[32];
    CUresult result = lw_cu_enter(&context);
    if (result) return result;
    if (!module || !image) return CUDA_ERROR_INVALID_VALUE;
    if (lw_cu_is_image(image)) return load_linked(context, module, image, to);
    if ((result = lw_cu_look_at(image, &why))) return refuse(to, result, why);
    if (!name) {
        lw_cu_name_image(numbered);
        name = numbered;
    }
    return load_texts(context, module, &(lw_module_text){name, image, strlen(image)}, 1, to);
}

CUresult cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned count, CUjit_option *options, void **values) {
    LW_CU_CALL;
    lw_cu_logs to = {0};
    if (count && (!options || !values)) return CUDA_ERROR_INVALID_VALUE;
    lw_cu_read_options(&to, count, options, values);
    return load(module, NULL, image, &to);
}

CUresult cuModuleLoadData(CUmodule *module, const void *image) { return load(module, NULL, image, &(lw_cu_logs){0}); }
CUresult cuModuleLoadFatBinary(CUmodule *module, const void *image) {
    LW_CU_CALL;
    return load(module, NULL, image, &(lw_cu_logs){0});
}

/* ---- Files ----------------------------------------------------------------------------------------------------- */

/* A text ends at its first NUL, and so does reading: what follows may be endless. What cuLinkComplete gave has NULs. */
static bool goes_on(const char *data, size_t seen, size_t used) {
    return !used || strlen(data + seen) == used - seen || lw_cu_is_image(data);
}

char *lw_cu_read_file(const char *path, size_t *size, bool *no_memory) {
    FILE *file = fopen(path, "rbe");
    char *data = NULL;
    size_t used = 0, room = 0, seen = 0;
    while (file && !feof(file) && !ferror(file) && used < UINT32_MAX && goes_on(data, seen, used)) {
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
    *size = used;
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
    size_t size;
    if (result) return result;
    if (!module || !path) return CUDA_ERROR_INVALID_VALUE;
    char *data = lw_cu_read_file(path, &size, &no_memory);
    if (!data) return no_memory ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_ERROR_FILE_NOT_FOUND;
    if (lw_cu_is_image(data) && !lw_cu_is_whole(data, size)) result = CUDA_ERROR_INVALID_IMAGE;
    else result = load(module, path, data, &(lw_cu_logs){0});
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
    lw_cu_hold(&module->object);
    lw_cu_drain(module->object.owner); /* its kernels may run */
    lw_cu_end_module(module);
    lw_cu_let_go(&module->object);
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
