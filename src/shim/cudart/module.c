/* module.c: what is registered becomes a module of a context when something of it is needed there. */
#include "shim/cudart/runtime.h"

#include <stdlib.h>

/* ---- Loading; with the lock held ------------------------------------------------------------------------------- */

static lw_rt_module *module_in(lw_rt_image *image, unsigned long long context_id) {
    for (lw_rt_module *module = image->modules; module; module = module->next)
        if (module->context_id == context_id) return module;
    return NULL;
}

/* An image that cannot be loaded is tried once. */
static cudaError_t load(lw_rt_image *image, unsigned long long context_id, CUmodule *module) {
    lw_rt_module *made = module_in(image, context_id);
    if (!made) {
        made = calloc(1, sizeof *made);
        if (!made) return cudaErrorMemoryAllocation;
        made->context_id = context_id;
        made->failed = lw_driver.cuCtxGetCurrent(&made->context);
        if (!made->failed) made->failed = lw_driver.cuModuleLoadFatBinary(&made->module, image->data);
        made->next = image->modules;
        image->modules = made;
    }
    *module = made->module;
    return lw_rt_result(made->failed);
}

/* A module of a context that has ended has ended with it. */
static void unload(const lw_rt_module *module) {
    unsigned long long id;
    if (module->failed || lw_driver.cuCtxGetId(module->context, &id) || id != module->context_id) return;
    if (lw_driver.cuCtxPushCurrent_v2(module->context)) return;
    lw_driver.cuModuleUnload(module->module);
    lw_driver.cuCtxPopCurrent_v2(NULL);
}

void lw_rt_unload(lw_rt_image *image) {
    for (lw_rt_module *next, *module = image->modules; module; module = next) {
        next = module->next;
        unload(module);
        free(module);
    }
    image->modules = NULL;
}

/* ---- Looking up; with the lock held ---------------------------------------------------------------------------- */

static cudaError_t find_function(lw_rt_entry *entry, CUmodule module) {
    const CUresult result = lw_driver.cuModuleGetFunction(&entry->function, module, entry->name);
    return result == CUDA_ERROR_NOT_FOUND ? cudaErrorInvalidDeviceFunction : lw_rt_result(result);
}

static cudaError_t find_variable(lw_rt_entry *entry, CUmodule module) {
    const CUresult result = lw_driver.cuModuleGetGlobal_v2(&entry->address, &entry->bytes, module, entry->name);
    if (result == CUDA_ERROR_NOT_FOUND) return cudaErrorInvalidSymbol;
    if (result || entry->kind != LW_RT_MANAGED) return lw_rt_result(result);
    *entry->managed = (void *)(uintptr_t)entry->address;
    if (entry->itself.key) lw_rt_remove_key(&entry->itself);
    lw_rt_add_key(&entry->itself, *entry->managed, entry);
    return cudaSuccess;
}

static cudaError_t look_up(lw_rt_entry *entry) {
    CUmodule module;
    unsigned long long id;
    cudaError_t error = lw_rt_result(lw_driver.cuCtxGetId(NULL, &id));
    if (error || entry->found_in == id) return error;
    error = load(entry->image, id, &module);
    if (!error) error = entry->kind == LW_RT_FUNCTION ? find_function(entry, module) : find_variable(entry, module);
    if (!error) entry->found_in = id;
    return error;
}

/* ---- Functions and variables ----------------------------------------------------------------------------------- */

/* What is not registered may be a kernel of a library. */
static cudaError_t function_of_kernel(const void *func, CUfunction *function) {
    const CUresult result = lw_driver.cuKernelGetFunction(function, (cudaKernel_t)(uintptr_t)func);
    return result ? cudaErrorInvalidDeviceFunction : cudaSuccess;
}

cudaError_t lw_rt_function(const void *func, CUfunction *function) {
    cudaError_t error = lw_rt_enter();
    if (error) return error;
    pthread_mutex_lock(&lw_rt_lock);
    lw_rt_entry *entry = lw_rt_find(func);
    if (entry && entry->kind != LW_RT_FUNCTION) error = cudaErrorInvalidDeviceFunction;
    else if (entry) error = look_up(entry);
    if (entry && !error) *function = entry->function;
    pthread_mutex_unlock(&lw_rt_lock);
    return entry || !func ? error   ? error
                            : entry ? cudaSuccess
                                    : cudaErrorInvalidDeviceFunction
                          : function_of_kernel(func, function);
}

cudaError_t lw_rt_symbol(const void *symbol, CUdeviceptr *address, size_t *bytes) {
    cudaError_t error = lw_rt_enter();
    if (error) return error;
    pthread_mutex_lock(&lw_rt_lock);
    lw_rt_entry *entry = lw_rt_find(symbol);
    error = entry && entry->kind != LW_RT_FUNCTION ? look_up(entry) : cudaErrorInvalidSymbol;
    if (!error) {
        *address = entry->address;
        *bytes = entry->size ? entry->size : entry->bytes;
    }
    pthread_mutex_unlock(&lw_rt_lock);
    return error;
}

cudaError_t lw_rt_symbol_part(const void *symbol, size_t bytes, size_t offset, void **address) {
    CUdeviceptr at;
    size_t size;
    const cudaError_t error = lw_rt_symbol(symbol, &at, &size);
    if (error) return error;
    if (offset > size || bytes > size - offset) return cudaErrorInvalidValue;
    *address = (void *)(uintptr_t)(at + offset);
    return cudaSuccess;
}

cudaError_t cudaGetSymbolAddress(void **address, const void *symbol) {
    CUdeviceptr at;
    size_t size;
    if (!address) return lw_rt_end(cudaErrorInvalidValue);
    const cudaError_t error = lw_rt_symbol(symbol, &at, &size);
    if (!error) *address = (void *)(uintptr_t)at;
    return lw_rt_end(error);
}

cudaError_t cudaGetSymbolSize(size_t *size, const void *symbol) {
    CUdeviceptr at;
    size_t known;
    if (!size) return lw_rt_end(cudaErrorInvalidValue);
    const cudaError_t error = lw_rt_symbol(symbol, &at, &known);
    if (!error) *size = known;
    return lw_rt_end(error);
}

/* ---- What programs ask when they begin ------------------------------------------------------------------------- */

/* Before the host touches the first managed variable of an image: their addresses. */
char __cudaInitModule(void **handle) {
    lw_rt_image *image = (lw_rt_image *)handle;
    cudaError_t error = image ? lw_rt_enter() : cudaErrorInvalidValue;
    if (lw_rt_end(error)) return 0;
    pthread_mutex_lock(&lw_rt_lock);
    for (lw_rt_entry *entry = image->entries; entry && !error; entry = entry->next)
        if (entry->kind == LW_RT_MANAGED) error = look_up(entry);
    pthread_mutex_unlock(&lw_rt_lock);
    return !lw_rt_end(error);
}

/* A kernel's handle is its entry, which no context owns. */
cudaError_t __cudaGetKernel(cudaKernel_t *kernel, const void *host) {
    pthread_mutex_lock(&lw_rt_lock);
    lw_rt_entry *entry = lw_rt_find(host);
    pthread_mutex_unlock(&lw_rt_lock);
    if (!kernel) return lw_rt_end(cudaErrorInvalidValue);
    if (!entry || entry->kind != LW_RT_FUNCTION) return lw_rt_end(cudaErrorInvalidDeviceFunction);
    *kernel = (cudaKernel_t)(void *)entry;
    return cudaSuccess;
}

cudaError_t cudaGetKernel(cudaKernel_t *kernel, const void *host) { return __cudaGetKernel(kernel, host); }

cudaError_t cudaGetFuncBySymbol(cudaFunction_t *function, const void *host) {
    if (!function) return lw_rt_end(cudaErrorInvalidValue);
    return lw_rt_end(lw_rt_function(host, function));
}
