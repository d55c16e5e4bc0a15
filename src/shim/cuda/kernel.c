/* kernel.c: cuKernel…: kernels of libraries, each with a function in every context that launches it.
 *
 * What is set of a kernel holds in all contexts, but for functions of which the same was set. */
#include "shim/cuda/driver.h"

/* ---- Finding --------------------------------------------------------------------------------------------------- */

static CUresult enter_kernel(CUkernel kernel) {
    CUresult result = lw_cu_ready();
    return result ? result : lw_cu_find(kernel, LW_CU_KERNEL) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

static const char *name_of(CUkernel kernel) { return lw_module_kernel_name(kernel->library->module, kernel->index); }

static CUresult function_here(CUfunction *function, CUkernel kernel, CUcontext context) {
    CUmodule module;
    CUresult result = lw_cu_instance_of(kernel->library, context, &module);
    return result ? result : lw_cu_get_function(function, module, name_of(kernel));
}

CUresult lw_cu_enter_function(CUfunction *function) {
    CUcontext context;
    CUresult result = lw_cu_enter_with(*function, LW_CU_FUNCTION);
    CUkernel kernel = result == CUDA_ERROR_INVALID_HANDLE ? lw_cu_find(*function, LW_CU_KERNEL) : NULL;
    if (!kernel) return result;
    result = lw_cu_enter(&context);
    return result ? result : function_here(function, kernel, context);
}

CUresult cuKernelGetFunction(CUfunction *function, CUkernel kernel) {
    LW_CU_CALL;
    CUcontext context;
    CUresult result = lw_cu_enter(&context);
    if (!result) result = enter_kernel(kernel);
    if (result) return result;
    return function ? function_here(function, kernel, context) : CUDA_ERROR_INVALID_VALUE;
}

/* ---- Questions ------------------------------------------------------------------------------------------------- */

CUresult cuKernelGetLibrary(CUlibrary *library, CUkernel kernel) {
    LW_CU_CALL;
    CUresult result = enter_kernel(kernel);
    if (result) return result;
    if (!library) return CUDA_ERROR_INVALID_VALUE;
    *library = kernel->library;
    return CUDA_SUCCESS;
}

CUresult cuKernelGetName(const char **name, CUkernel kernel) {
    LW_CU_CALL;
    if (!name || !kernel) return CUDA_ERROR_INVALID_VALUE;
    CUresult result = enter_kernel(kernel);
    if (result) return result;
    *name = name_of(kernel);
    return CUDA_SUCCESS;
}

CUresult cuKernelGetParamInfo(CUkernel kernel, size_t index, size_t *offset, size_t *size) {
    LW_CU_CALL;
    CUresult result = lw_cu_enter(NULL); /* an H200's driver wants a context */
    if (!result) result = enter_kernel(kernel);
    if (result) return result;
    const lw_kernel *known = &kernel->library->module->kernels[kernel->index];
    if (!offset || index >= known->info.param_count) return CUDA_ERROR_INVALID_VALUE;
    const lw_param_info param = lw_kernel_param(known, (uint32_t)index);
    *offset = param.offset;
    if (size) *size = param.size;
    return CUDA_SUCCESS;
}

/* ---- Attributes ------------------------------------------------------------------------------------------------ */

/* Most is known only of a kernel that was made a program of. With the library's lock held. */
static CUresult describe(CUkernel kernel) {
    lw_kernel *known;
    if (kernel->described) return CUDA_SUCCESS;
    lw_status status = lw_module_kernel(kernel->library->module, name_of(kernel), &known);
    if (status == LW_BAD_SOURCE) return lw_cu_not_executable(kernel->library->module, name_of(kernel));
    if (status != LW_OK) return lw_cu_fail("cuKernelGetAttribute", status);
    lw_cu_describe(&kernel->all, NULL, known, kernel->library->image.registers);
    kernel->described = true;
    return CUDA_SUCCESS;
}

static void copy_attributes(CUfunction to, const struct CUfunc_st *from) {
    const uint32_t own = to->own;
    if (!(own & 1u << CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES)) to->dynamic_most = from->dynamic_most;
    if (!(own & 1u << CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT)) to->carveout = from->carveout;
    if (!(own & 1u << CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED)) to->large_clusters = from->large_clusters;
}

void lw_cu_inherit(CUfunction function, CUmodule module, uint32_t index) {
    CUlibrary library = module->library;
    pthread_mutex_lock(&library->lock);
    const CUkernel kernel = library->kernels[index];
    if (kernel && kernel->described) copy_attributes(function, &kernel->all);
    pthread_mutex_unlock(&library->lock);
}

/* With the library's lock held, under which functions are made, too. */
static void tell_functions(CUkernel kernel) {
    lw_cu_lock();
    for (lw_cu_instance *instance = kernel->library->instances; instance; instance = instance->next) {
        const lw_cu_object *object = lw_cu_table_find(&lw_cu.table, (uintptr_t)instance->module);
        if (!object || object->kind != LW_CU_MODULE || instance->module->library != kernel->library) continue;
        CUfunction *functions = instance->module->functions;
        if (functions && functions[kernel->index]) copy_attributes(functions[kernel->index], &kernel->all);
    }
    lw_cu_unlock();
}

static CUresult enter_both(CUkernel kernel, CUdevice device) {
    CUresult result = enter_kernel(kernel);
    return result ? result : lw_cu_check_device(device);
}

CUresult cuKernelGetAttribute(int *value, CUfunction_attribute attribute, CUkernel kernel, CUdevice device) {
    LW_CU_CALL;
    CUresult result = enter_both(kernel, device);
    if (result) return result;
    pthread_mutex_lock(&kernel->library->lock);
    result = describe(kernel);
    if (!result) result = lw_cu_get_attribute(value, attribute, &kernel->all);
    pthread_mutex_unlock(&kernel->library->lock);
    return result;
}

CUresult cuKernelSetAttribute(CUfunction_attribute attribute, int value, CUkernel kernel, CUdevice device) {
    LW_CU_CALL;
    CUresult result = enter_both(kernel, device);
    if (result) return result;
    pthread_mutex_lock(&kernel->library->lock);
    result = describe(kernel);
    if (!result) result = lw_cu_set_attribute(&kernel->all, attribute, value);
    if (!result) tell_functions(kernel);
    pthread_mutex_unlock(&kernel->library->lock);
    return result;
}

CUresult cuKernelSetCacheConfig(CUkernel kernel, CUfunc_cache config, CUdevice device) {
    LW_CU_CALL;
    CUresult result = enter_both(kernel, device);
    return result ? result : config > CU_FUNC_CACHE_PREFER_EQUAL ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}
