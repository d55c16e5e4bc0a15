/* module.c: what is registered becomes a library of the driver's when something of it is first needed. The driver has
 * an instance of it in each context. */
#include "shim/cudart/runtime.h"

/* ---- Looking up; with the lock held ---------------------------------------------------------------------------- */

/* An image that is refused is tried once. */
static cudaError_t load(lw_rt_image *image) {
    if (!image->was_loaded) {
        lw_rt_watch_end();
        image->refused = lw_driver.cuLibraryLoadData(&image->library, image->data, NULL, NULL, 0, NULL, NULL, 0);
    }
    image->was_loaded = true;
    return lw_rt_result(image->refused);
}

static cudaError_t found(CUresult result, cudaError_t none) {
    return result == CUDA_ERROR_NOT_FOUND ? none : lw_rt_result(result);
}

static cudaError_t find_kernel(lw_rt_entry *entry) {
    cudaError_t error = load(entry->image);
    if (error || entry->kernel) return error;
    return found(lw_driver.cuLibraryGetKernel(&entry->kernel, entry->image->library, entry->name),
                 cudaErrorInvalidDeviceFunction);
}

static cudaError_t find_managed(lw_rt_entry *entry) {
    const cudaError_t error =
        found(lw_driver.cuLibraryGetManaged((void **)entry->managed, &entry->bytes, entry->image->library, entry->name),
              cudaErrorInvalidSymbol);
    if (error) return error;
    entry->address = (uintptr_t)*entry->managed;
    if (entry->other.key) lw_rt_remove_key(&entry->other);
    lw_rt_add_key(&entry->other, *entry->managed, entry);
    return cudaSuccess;
}

static cudaError_t find_variable(lw_rt_entry *entry) {
    void *address;
    const cudaError_t error =
        found(lw_driver.cuLibraryGetGlobal(&address, &entry->bytes, entry->image->library, entry->name),
              cudaErrorInvalidSymbol);
    if (!error) entry->address = (uintptr_t)address;
    return error;
}

/* In the current context. */
static cudaError_t look_up(lw_rt_entry *entry) {
    unsigned long long id;
    cudaError_t error = lw_rt_result(lw_driver.cuCtxGetId(NULL, &id));
    if (error || entry->found_in == id) return error;
    error = entry->kind == LW_RT_FUNCTION ? find_kernel(entry) : load(entry->image);
    if (error) return error;
    switch (entry->kind) {
    case LW_RT_FUNCTION: error = lw_rt_result(lw_driver.cuKernelGetFunction(&entry->function, entry->kernel)); break;
    case LW_RT_VARIABLE: error = find_variable(entry); break;
    case LW_RT_MANAGED: error = find_managed(entry); break;
    }
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
    error = entry && entry->kind == LW_RT_FUNCTION ? look_up(entry) : cudaErrorInvalidDeviceFunction;
    if (!error) *function = entry->function;
    pthread_mutex_unlock(&lw_rt_lock);
    return func && !entry ? function_of_kernel(func, function) : error;
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

/* What a kernel's stub keeps for its launches, and asks for before the first one: the entry, so that nothing begins
 * here, and each launch says what is wrong. */
cudaError_t __cudaGetKernel(cudaKernel_t *kernel, const void *host) {
    pthread_mutex_lock(&lw_rt_lock);
    lw_rt_entry *entry = lw_rt_find(host);
    pthread_mutex_unlock(&lw_rt_lock);
    if (!kernel) return lw_rt_end(cudaErrorInvalidValue);
    if (!entry || entry->kind != LW_RT_FUNCTION) return lw_rt_end(cudaErrorInvalidDeviceFunction);
    *kernel = (cudaKernel_t)(void *)entry;
    return cudaSuccess;
}

/* The driver's. */
cudaError_t cudaGetKernel(cudaKernel_t *kernel, const void *host) {
    cudaError_t error = kernel ? lw_rt_ready() : cudaErrorInvalidValue;
    if (error) return lw_rt_end(error);
    pthread_mutex_lock(&lw_rt_lock);
    lw_rt_entry *entry = lw_rt_find(host);
    error = entry && entry->kind == LW_RT_FUNCTION ? find_kernel(entry) : cudaErrorInvalidDeviceFunction;
    if (!error) *kernel = entry->kernel;
    pthread_mutex_unlock(&lw_rt_lock);
    return lw_rt_end(error);
}

cudaError_t cudaGetFuncBySymbol(cudaFunction_t *function, const void *host) {
    if (!function) return lw_rt_end(cudaErrorInvalidValue);
    return lw_rt_end(lw_rt_function(host, function));
}
