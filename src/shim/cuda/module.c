/* module.c: from an image to a module. */
#include "shim/cuda/driver.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- Images ---------------------------------------------------------------------------------------------------- */

CUresult lw_cu_image_result(lw_image_result result) {
    switch (result) {
    case LW_IMAGE_OK: return CUDA_SUCCESS;
    case LW_IMAGE_NO_MEMORY: return CUDA_ERROR_OUT_OF_MEMORY;
    case LW_IMAGE_UNKNOWN: return CUDA_ERROR_INVALID_IMAGE;
    case LW_IMAGE_NO_BINARY: return CUDA_ERROR_NO_BINARY_FOR_GPU;
    case LW_IMAGE_BAD_PTX: return CUDA_ERROR_INVALID_PTX;
    case LW_IMAGE_NEWER_PTX: return CUDA_ERROR_UNSUPPORTED_PTX_VERSION;
    case LW_IMAGE_TOO_MANY: return CUDA_ERROR_INVALID_VALUE;
    case LW_IMAGE_UNLINKED: break; /* the driver of an H200 has no name for it */
    }
    return CUDA_ERROR_UNKNOWN;
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

static lw_status check_arch(lw_module *module) {
    jmp_buf out;
    if (!LW_ARENA_TRY(&module->arena, out)) return LW_NO_MEMORY;
    const bool fits = lw_arch_check(lw_cu.arch, module->checked, &module->diags);
    module->arena.no_memory = NULL;
    return fits ? LW_OK : LW_BAD_SOURCE;
}

CUresult lw_cu_make_module(lw_module **out, const lw_code_image *image, const lw_module *like, const lw_cu_logs *to) {
    LW_OWN_FLOAT_MODE(callers);
    lw_module *module = NULL;
    double start = lw_clock();
    lw_status status = like ? lw_module_again(like, image->texts, image->count, &module)
                            : lw_module_link(lw_cu.device, NULL, image->texts, image->count, &module);
    if (status == LW_OK) status = check_arch(module);
    lw_cu_write_seconds(to, lw_clock() - start);
    if (status != LW_OK) {
        CUresult result = status == LW_BAD_SOURCE ? refuse(to, lw_cu_image_result(lw_image_faults(&module->diags)),
                                                           lw_module_diagnostics(module, false))
                                                  : lw_cu_fail("cuModuleLoadData", status);
        lw_module_free(module);
        return result;
    }
    lw_cu_write_log(&to->error, "");
    lw_cu_write_log(&to->info, lw_module_diagnostics(module, false));
    *out = module;
    return CUDA_SUCCESS;
}

CUresult lw_cu_adopt_module(CUcontext context, CUmodule *out, const struct CUmod_st *like) {
    CUmodule made = lw_cu_new(sizeof *made, LW_CU_MODULE, context);
    if (!made) {
        if (!like->lent) lw_module_free(like->module);
        return lw_cu_not_made(context);
    }
    made->module = like->module;
    made->lent = like->lent;
    made->library = like->library;
    made->registers = like->registers;
    if (made->library) lw_cu_hold(&made->library->object);
    *out = made;
    return CUDA_SUCCESS;
}

CUresult lw_cu_read_image(lw_code_image *image, const char *name, lw_bytes bytes, const lw_cu_logs *to) {
    char numbered[32];
    if (!name) lw_cu_name_image(numbered);
    image->arch = lw_cu.arch;
    image->registers = to->registers;
    lw_image_result read = lw_image_read(image, name ? name : numbered, bytes);
    if (!read) read = lw_image_add_runtime(image);
    const CUresult result = lw_cu_image_result(read);
    return result && image->why.at ? refuse(to, result, image->why.at) : result;
}

static CUresult load_into(CUcontext context, CUmodule *module, const char *name, lw_bytes bytes, const lw_cu_logs *to) {
    lw_code_image image = {0};
    struct CUmod_st like = {0};
    CUresult result = lw_cu_read_image(&image, name, bytes, to);
    if (!result) result = lw_cu_make_module(&like.module, &image, NULL, to);
    like.registers = image.registers;
    if (!result) result = lw_cu_adopt_module(context, module, &like);
    lw_image_free(&image);
    return result;
}

static CUresult load(CUmodule *module, const void *image, const lw_cu_logs *to) {
    LW_CU_CALL;
    CUcontext context;
    CUresult result = lw_cu_enter(&context);
    if (result) return result;
    if (!module || !image) return CUDA_ERROR_INVALID_VALUE;
    return load_into(context, module, NULL, (lw_bytes){image, LW_IMAGE_UNBOUNDED}, to);
}

CUresult cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned count, CUjit_option *options, void **values) {
    LW_CU_CALL;
    lw_cu_logs to = {0};
    if (count && (!options || !values)) return CUDA_ERROR_INVALID_VALUE;
    lw_cu_read_options(&to, count, options, values);
    return load(module, image, &to);
}

CUresult cuModuleLoadData(CUmodule *module, const void *image) {
    LW_CU_CALL;
    return load(module, image, &(lw_cu_logs){0});
}

CUresult cuModuleLoadFatBinary(CUmodule *module, const void *image) {
    LW_CU_CALL;
    return load(module, image, &(lw_cu_logs){0});
}

/* ---- Files ----------------------------------------------------------------------------------------------------- */

CUresult cuModuleLoad(CUmodule *module, const char *path) {
    LW_CU_CALL;
    CUcontext context;
    CUresult result = lw_cu_enter(&context);
    bool no_memory = false;
    size_t size;
    if (result) return result;
    if (!module || !path) return CUDA_ERROR_INVALID_VALUE;
    char *data = lw_image_file(path, &size, &no_memory);
    if (!data) return no_memory ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_ERROR_FILE_NOT_FOUND;
    result = load_into(context, module, path, (lw_bytes){data, size}, &(lw_cu_logs){0});
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
    lw_cu_end_references(module);
    lw_cu_bury(&module->object);
    lw_cu_unlock();
}

void lw_cu_unload_module(CUmodule module) {
    lw_cu_hold(&module->object);
    lw_cu_drain(module->object.owner); /* its kernels may run */
    lw_cu_end_module(module);
    lw_cu_let_go(&module->object);
}

/* Instances of a library go with it. */
CUresult cuModuleUnload(CUmodule module) {
    LW_CU_CALL;
    CUresult result = lw_cu_enter_with(module, LW_CU_MODULE);
    if (result) return result;
    if (module->library) return CUDA_ERROR_NOT_PERMITTED;
    lw_cu_unload_module(module);
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
