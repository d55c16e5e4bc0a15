/* libraries.c: cuLibrary…: code that is loaded without a context. It is checked when it is loaded, as a module is; each
 * context has an instance of its own, with its own variables, as soon as it asks for something there. */
#include "shim/cuda/driver.h"

#include <stdlib.h>

/* ---- Loading --------------------------------------------------------------------------------------------------- */

/* Of the options of libraries one is a hint, and the other is for tables that no program of ours has. */
static CUresult check_options(unsigned count, const CUlibraryOption *options, bool is_file) {
    if (count && !options) return CUDA_ERROR_INVALID_VALUE;
    for (unsigned i = 0; i < count; i++) {
        if (options[i] > CU_LIBRARY_BINARY_IS_PRESERVED) return CUDA_ERROR_INVALID_VALUE;
        if (options[i] != CU_LIBRARY_BINARY_IS_PRESERVED) return CUDA_ERROR_NOT_SUPPORTED;
        if (is_file) return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}

void lw_cu_end_library(CUlibrary library) {
    for (lw_cu_instance *next, *instance = library->instances; instance; instance = next) {
        next = instance->next;
        free(instance);
    }
    lw_module_free(library->module);
    lw_image_free(&library->image);
    free(library->kernels);
    pthread_mutex_destroy(&library->lock);
}

static CUresult make(CUlibrary *library, lw_code_image *image, lw_module *module) {
    const size_t count = lw_module_kernel_count(module);
    CUlibrary made = lw_cu_new(sizeof *made, LW_CU_LIBRARY, NULL);
    CUkernel *kernels = calloc(count ? count : 1, sizeof *kernels);
    if (!made || !kernels) {
        if (made) lw_cu_forget(&made->object);
        free(made);
        free(kernels);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    made->kernels = kernels;
    made->module = module;
    made->image = *image;
    *image = (lw_code_image){0};
    pthread_mutex_init(&made->lock, NULL);
    *library = made;
    return CUDA_SUCCESS;
}

static CUresult load(CUlibrary *library, const char *name, lw_bytes bytes, const lw_cu_logs *to) {
    lw_code_image image = {0};
    lw_module *module = NULL;
    CUresult result = lw_cu_read_image(&image, name, bytes, to);
    if (!result) result = lw_cu_make_module(&module, &image, NULL, to);
    if (!result) result = make(library, &image, module);
    if (result) lw_module_free(module);
    lw_image_free(&image);
    return result;
}

CUresult cuLibraryLoadData(CUlibrary *library, const void *image, CUjit_option *options, void **values, unsigned count,
                           CUlibraryOption *library_options, void **library_values, unsigned library_count) {
    LW_CU_CALL;
    lw_cu_logs to = {0};
    (void)library_values;
    CUresult result = lw_cu_ready();
    if (!result) result = check_options(library_count, library_options, false);
    if (result) return result;
    if (!library || !image || (count && (!options || !values))) return CUDA_ERROR_INVALID_VALUE;
    lw_cu_read_options(&to, count, options, values);
    return load(library, NULL, (lw_bytes){image, LW_IMAGE_UNBOUNDED}, &to);
}

CUresult cuLibraryLoadFromFile(CUlibrary *library, const char *path, CUjit_option *options, void **values,
                               unsigned count, CUlibraryOption *library_options, void **library_values,
                               unsigned library_count) {
    LW_CU_CALL;
    lw_cu_logs to = {0};
    bool no_memory = false;
    size_t size;
    (void)library_values;
    CUresult result = lw_cu_ready();
    if (result) return result;
    if (!library || !path || (count && (!options || !values))) return CUDA_ERROR_INVALID_VALUE;
    char *data = lw_image_file(path, &size, &no_memory);
    if (!data) return no_memory ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_ERROR_FILE_NOT_FOUND;
    lw_cu_read_options(&to, count, options, values);
    result = check_options(library_count, library_options, true);
    if (!result) result = load(library, path, (lw_bytes){data, size}, &to);
    free(data);
    return result;
}

/* ---- Ending ---------------------------------------------------------------------------------------------------- */

/* The instance of a module that may have ended with its context: no other one can be at its place but a younger one of
 * the same library. */
static bool lives(CUlibrary library, const lw_cu_instance *instance) {
    CUmodule module = lw_cu_find(instance->module, LW_CU_MODULE);
    return module && module->library == library && module->object.owner == instance->context;
}

static CUresult enter_library(CUlibrary library) {
    CUresult result = lw_cu_ready();
    return result ? result : lw_cu_find(library, LW_CU_LIBRARY) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

CUresult cuLibraryUnload(CUlibrary library) {
    LW_CU_CALL;
    CUresult result = enter_library(library);
    if (result) return result;
    if (!lw_cu_forget(&library->object)) return CUDA_ERROR_INVALID_HANDLE; /* another thread was first */
    lw_cu_hold(&library->object);
    pthread_mutex_lock(&library->lock); /* from here on there are no new instances and kernels */
    library->is_ended = true;
    pthread_mutex_unlock(&library->lock);
    for (lw_cu_instance *instance = library->instances; instance; instance = instance->next)
        if (lives(library, instance)) lw_cu_unload_module(instance->module);
    for (size_t i = 0; i < lw_module_kernel_count(library->module); i++)
        if (library->kernels[i]) lw_cu_free(&library->kernels[i]->object);
    lw_cu_lock();
    lw_cu_bury(&library->object);
    lw_cu_let_go(&library->object);
    lw_cu_unlock();
    return CUDA_SUCCESS;
}

/* ---- Instances ------------------------------------------------------------------------------------------------- */

/* That of an instance which ended, or a new one; with the library's lock held. NULL: no memory. */
static lw_cu_instance *free_place(CUlibrary library) {
    for (lw_cu_instance *instance = library->instances; instance; instance = instance->next)
        if (!lives(library, instance)) return instance;
    lw_cu_instance *made = calloc(1, sizeof *made);
    if (!made) return NULL;
    made->next = library->instances;
    return library->instances = made;
}

/* With the library's lock held. The first context has the module that the library was checked with. */
static CUresult make_instance(CUlibrary library, CUcontext context, CUmodule *module) {
    struct CUmod_st like = {
        .library = library, .module = library->module, .lent = !library->lent, .registers = library->image.registers};
    lw_cu_instance *place = free_place(library);
    if (!place) return CUDA_ERROR_OUT_OF_MEMORY;
    CUresult result = CUDA_SUCCESS;
    if (!like.lent) result = lw_cu_make_module(&like.module, &library->image, library->module, &(lw_cu_logs){0});
    if (!result) result = lw_cu_adopt_module(context, module, &like);
    if (result) return result;
    library->lent = true;
    place->context = context;
    place->module = *module;
    return CUDA_SUCCESS;
}

CUresult lw_cu_instance_of(CUlibrary library, CUcontext context, CUmodule *module) {
    CUresult result = CUDA_SUCCESS;
    *module = NULL;
    pthread_mutex_lock(&library->lock);
    for (lw_cu_instance *instance = library->instances; instance && !*module; instance = instance->next)
        if (instance->context == context && lives(library, instance)) *module = instance->module;
    if (library->is_ended) result = CUDA_ERROR_INVALID_HANDLE;
    else if (!*module) result = make_instance(library, context, module);
    pthread_mutex_unlock(&library->lock);
    return result;
}

CUresult cuLibraryGetModule(CUmodule *module, CUlibrary library) {
    LW_CU_CALL;
    CUcontext context;
    CUresult result = lw_cu_enter(&context);
    if (!result) result = enter_library(library);
    if (result) return result;
    return module ? lw_cu_instance_of(library, context, module) : CUDA_ERROR_INVALID_VALUE;
}

/* ---- Variables ------------------------------------------------------------------------------------------------- */

CUresult cuLibraryGetGlobal(CUdeviceptr *address, size_t *bytes, CUlibrary library, const char *name) {
    LW_CU_CALL;
    CUmodule module;
    CUresult result = cuLibraryGetModule(&module, library);
    return result ? result : cuModuleGetGlobal_v2(address, bytes, module, name);
}

/* Managed ones are those of all contexts. */
static bool is_managed(const lw_module *module, const char *name) {
    for (uint32_t i = 0; i < module->variable_count; i++)
        if (!strcmp(module->variables[i]->name->text, name)) return module->variables[i]->managed;
    return false;
}

CUresult cuLibraryGetManaged(CUdeviceptr *address, size_t *bytes, CUlibrary library, const char *name) {
    LW_CU_CALL;
    uint64_t at, size;
    CUresult result = enter_library(library);
    if (result) return result;
    if (!name || (!address && !bytes)) return CUDA_ERROR_INVALID_VALUE;
    if (!is_managed(library->module, name) || lw_module_global(library->module, name, &at, &size) != LW_OK)
        return CUDA_ERROR_NOT_FOUND;
    if (address) *address = at;
    if (bytes) *bytes = size;
    return CUDA_SUCCESS;
}

/* Functions that host and device can call alike are nothing that PTX has. */
CUresult cuLibraryGetUnifiedFunction(void **function, CUlibrary library, const char *name) {
    LW_CU_CALL;
    CUresult result = enter_library(library);
    if (result) return result;
    return function && name ? CUDA_ERROR_NOT_FOUND : CUDA_ERROR_INVALID_VALUE;
}

/* ---- Kernels --------------------------------------------------------------------------------------------------- */

/* With the library's lock held. NULL: no memory. */
static CUkernel make_kernel(CUlibrary library, uint32_t index) {
    CUkernel made = lw_cu_new(sizeof *made, LW_CU_KERNEL, NULL);
    if (!made) return NULL;
    made->library = library;
    made->index = index;
    lw_cu_hold(&library->object);
    return library->kernels[index] = made;
}

static CUresult get_kernel(CUkernel *kernel, CUlibrary library, uint32_t index) {
    pthread_mutex_lock(&library->lock);
    CUkernel found = library->kernels[index];
    const bool is_ended = library->is_ended;
    if (!found && !is_ended) found = make_kernel(library, index);
    pthread_mutex_unlock(&library->lock);
    if (is_ended) return CUDA_ERROR_INVALID_HANDLE;
    if (found) *kernel = found;
    return found ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult cuLibraryGetKernel(CUkernel *kernel, CUlibrary library, const char *name) {
    LW_CU_CALL;
    CUresult result = enter_library(library);
    if (result) return result;
    if (!kernel || !name || !*name) return CUDA_ERROR_INVALID_VALUE;
    const size_t count = lw_module_kernel_count(library->module);
    for (size_t i = 0; i < count; i++)
        if (!strcmp(lw_module_kernel_name(library->module, i), name)) return get_kernel(kernel, library, (uint32_t)i);
    return CUDA_ERROR_NOT_FOUND;
}

CUresult cuLibraryGetKernelCount(unsigned *count, CUlibrary library) {
    LW_CU_CALL;
    CUresult result = enter_library(library);
    if (result) return result;
    if (!count) return CUDA_ERROR_INVALID_VALUE;
    *count = (unsigned)lw_module_kernel_count(library->module);
    return CUDA_SUCCESS;
}

CUresult cuLibraryEnumerateKernels(CUkernel *kernels, unsigned count, CUlibrary library) {
    LW_CU_CALL;
    unsigned all;
    CUresult result = cuLibraryGetKernelCount(&all, library);
    if (result) return result;
    if (!kernels && count) return CUDA_ERROR_INVALID_VALUE;
    for (unsigned i = 0; i < count && i < all && !result; i++) result = get_kernel(&kernels[i], library, i);
    return result;
}
