/* function.c: what a module holds: functions and variables; attributes of functions. */
#include "shim/cuda/driver.h"

#include <stdlib.h>

/* ---- Finding --------------------------------------------------------------------------------------------------- */

/* Registers cost nothing here, so never more than a CTA of the largest size could have on the device that this seems to
 * be, or than was asked for. */
static uint32_t registers(const lw_kernel *kernel, uint32_t asked) {
    const lw_directive *most = lw_function_tuning(kernel->function, LW_TUNING_maxnreg);
    const uint32_t threads = kernel->info.max_threads ? kernel->info.max_threads : 1;
    const uint64_t limits[] = {65536 / threads, 255, asked ? asked : UINT32_MAX, most ? most->values[0] : UINT32_MAX};
    uint64_t count = kernel->info.register_count;
    for (size_t i = 0; i < LW_COUNT(limits); i++)
        if (limits[i] < count) count = limits[i];
    return (uint32_t)count;
}

static uint32_t const_bytes(const lw_module *module) {
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < module->variable_count; i++)
        if (module->variables[i]->space == LW_SPACE_const) bytes += module->variables[i]->size;
    return bytes > INT32_MAX ? INT32_MAX : (uint32_t)bytes;
}

void lw_cu_describe(CUfunction made, CUmodule module, lw_kernel *kernel, uint32_t registers_most) {
    made->module = module;
    made->kernel = kernel;
    made->info = lw_kernel_get_info(kernel);
    made->clusters = lw_kernel_get_clusters(kernel);
    uint64_t fixed = made->info.shared_bytes;
    made->dynamic_most = fixed < LW_CU_SHARED_PLAIN ? LW_CU_SHARED_PLAIN - (uint32_t)fixed : 0;
    made->registers = registers(kernel, registers_most);
    made->const_bytes = const_bytes(kernel->module);
    made->carveout = -1;
}

/* Where the function object of a kernel is kept; with the lock held. NULL: no memory, or another thread has unloaded
 * the module. */
static CUfunction *place_of(CUmodule module, const lw_kernel *kernel) {
    if (lw_cu_table_find(&lw_cu.table, module->object.key) != &module->object) return NULL;
    if (!module->functions)
        module->functions = calloc(lw_module_kernel_count(module->module), sizeof *module->functions);
    return module->functions ? &module->functions[kernel - module->module->kernels] : NULL;
}

/* A kernel has one function object, however many threads ask for it: its attributes are set in one place. NULL: no
 * memory. */
static CUfunction function_of(CUmodule module, lw_kernel *kernel) {
    CUfunction made = calloc(1, sizeof *made), found = NULL;
    if (made) lw_cu_describe(made, module, kernel, module->registers);
    lw_cu_lock();
    CUfunction *place = place_of(module, kernel);
    if (place && !*place && made && lw_cu_link(&made->object, (uintptr_t)made, LW_CU_FUNCTION, module->object.owner)) {
        *place = made;
        lw_cu_hold(&module->object);
        lw_cu_hold(&module->object.owner->object);
    }
    if (place) found = *place;
    lw_cu_unlock();
    if (found != made) free(made);
    else if (found && module->library) lw_cu_inherit(found, module, (uint32_t)(kernel - module->module->kernels));
    return found;
}

/* A kernel that uses something which is not executable: the module loads, and only this kernel is refused. */
CUresult lw_cu_not_executable(lw_module *module, const char *name) {
    lw_cu_report(LW_CU_REPORT_ERRORS, "kernel '%s' cannot run:\n%s", name, lw_module_diagnostics(module, false));
    return CUDA_ERROR_NOT_SUPPORTED;
}

static CUresult not_made(CUmodule module) {
    CUresult result = lw_cu_not_made(module->object.owner);
    return result == CUDA_ERROR_OUT_OF_MEMORY && lw_cu_find(module, LW_CU_MODULE) != module ? CUDA_ERROR_INVALID_HANDLE
                                                                                            : result;
}

CUresult lw_cu_get_function(CUfunction *function, CUmodule module, const char *name) {
    lw_kernel *kernel;
    lw_status status = lw_module_kernel(module->module, name, &kernel);
    if (status == LW_BAD_SOURCE) return lw_cu_not_executable(module->module, name);
    if (status != LW_OK) return lw_cu_fail("cuModuleGetFunction", status);
    CUfunction found = function_of(module, kernel);
    if (!found) return not_made(module);
    *function = found;
    return CUDA_SUCCESS;
}

CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name) {
    LW_CU_CALL;
    CUresult result = lw_cu_enter_with(module, LW_CU_MODULE);
    if (result) return result;
    if (!function || !name || !*name) return CUDA_ERROR_INVALID_VALUE;
    return lw_cu_get_function(function, module, name);
}

CUresult cuModuleGetFunctionCount(unsigned *count, CUmodule module) {
    LW_CU_CALL;
    CUresult result = lw_cu_enter_with(module, LW_CU_MODULE);
    if (result) return result;
    if (!count) return CUDA_ERROR_INVALID_VALUE;
    *count = (unsigned)lw_module_kernel_count(module->module);
    return CUDA_SUCCESS;
}

CUresult cuModuleEnumerateFunctions(CUfunction *functions, unsigned count, CUmodule module) {
    LW_CU_CALL;
    unsigned all;
    CUresult result = cuModuleGetFunctionCount(&all, module);
    if (result) return result;
    if (!functions && count) return CUDA_ERROR_INVALID_VALUE;
    for (unsigned i = 0; i < count && i < all && !result; i++)
        result = lw_cu_get_function(&functions[i], module, lw_module_kernel_name(module->module, i));
    return result;
}

CUresult cuModuleGetGlobal_v2(CUdeviceptr *address, size_t *bytes, CUmodule module, const char *name) {
    LW_CU_CALL;
    uint64_t at, size;
    CUresult result = lw_cu_enter_with(module, LW_CU_MODULE);
    if (result) return result;
    if (!name || (!address && !bytes)) return CUDA_ERROR_INVALID_VALUE;
    lw_status status = lw_module_global(module->module, name, &at, &size);
    if (status != LW_OK) return lw_cu_fail("cuModuleGetGlobal", status);
    /* Kernels of hashcat write constants by such an address, which GPUs let them. */
    if (address && !lw_memory_open(&lw_cu.device->memory, at)) return CUDA_ERROR_OUT_OF_MEMORY;
    if (address) *address = at;
    if (bytes) *bytes = size;
    return CUDA_SUCCESS;
}

/* ---- Attributes ------------------------------------------------------------------------------------------------ */

CUresult lw_cu_get_attribute(int *value, CUfunction_attribute attribute, CUfunction function) {
    if (!value) return CUDA_ERROR_INVALID_VALUE;
    const lw_kernel_info *info = &function->info;
    switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK: *value = (int)info->max_threads; break;
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES: *value = (int)info->shared_bytes; break;
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES: *value = (int)info->local_bytes; break;
    case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES: *value = (int)function->const_bytes; break;
    case CU_FUNC_ATTRIBUTE_NUM_REGS: *value = (int)function->registers; break;
    case CU_FUNC_ATTRIBUTE_PTX_VERSION: *value = (int)lw_ptx_target(function->kernel); break; /* as drivers answer */
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION: *value = (int)LW_CU_SM; break;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES: *value = (int)function->dynamic_most; break;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT: *value = function->carveout; break;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET: *value = function->clusters.must_be_given; break;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH:
        *value = (int)function->clusters.required[attribute - CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH];
        break;
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED: *value = function->large_clusters; break;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE: /* the default */
    case CU_FUNC_ATTRIBUTE_CACHE_MODE_CA: *value = 0; break;
    default: return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}

CUresult cuFuncGetAttribute(int *value, CUfunction_attribute attribute, CUfunction function) {
    LW_CU_CALL;
    CUresult result = lw_cu_enter_with(function, LW_CU_FUNCTION);
    return result ? result : lw_cu_get_attribute(value, attribute, function);
}

CUresult lw_cu_set_attribute(CUfunction function, CUfunction_attribute attribute, int value) {
    switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
        if (value < 0 || (uint64_t)value + function->info.shared_bytes > LW_CU_SHARED_MOST)
            return CUDA_ERROR_INVALID_VALUE;
        function->dynamic_most = (uint32_t)value;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
        if (value < -1 || value > 100) return CUDA_ERROR_INVALID_VALUE;
        function->carveout = value;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
        function->large_clusters = value != 0;
        return CUDA_SUCCESS;
    default:
        return attribute >= CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET &&
                       attribute <= CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE
                   ? CUDA_ERROR_NOT_SUPPORTED
                   : CUDA_ERROR_INVALID_VALUE;
    }
}

CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value) {
    LW_CU_CALL;
    CUresult result = lw_cu_enter_with(function, LW_CU_FUNCTION);
    if (!result) result = lw_cu_set_attribute(function, attribute, value);
    if (!result) atomic_fetch_or(&function->own, 1u << attribute);
    return result;
}

/* Hints, of which nothing needs to be kept. */
CUresult cuFuncSetCacheConfig(CUfunction function, CUfunc_cache config) {
    LW_CU_CALL;
    CUresult result = lw_cu_enter_with(function, LW_CU_FUNCTION);
    return result ? result : config > CU_FUNC_CACHE_PREFER_EQUAL ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

CUresult cuFuncSetSharedMemConfig(CUfunction function, CUsharedconfig config) {
    LW_CU_CALL;
    CUresult result = lw_cu_enter_with(function, LW_CU_FUNCTION);
    return result                                               ? result
           : config > CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE ? CUDA_ERROR_INVALID_VALUE
                                                                : CUDA_SUCCESS;
}

CUresult cuFuncGetModule(CUmodule *module, CUfunction function) {
    LW_CU_CALL;
    CUresult result = lw_cu_enter_with(function, LW_CU_FUNCTION);
    if (result) return result;
    if (!module) return CUDA_ERROR_INVALID_VALUE;
    *module = function->module;
    return CUDA_SUCCESS;
}

CUresult cuFuncGetName(const char **name, CUfunction function) {
    LW_CU_CALL;
    CUresult result = lw_cu_enter_with(function, LW_CU_FUNCTION);
    if (result) return result;
    if (!name) return CUDA_ERROR_INVALID_VALUE;
    *name = function->info.name;
    return CUDA_SUCCESS;
}

CUresult cuFuncGetParamInfo(CUfunction function, size_t index, size_t *offset, size_t *size) {
    LW_CU_CALL;
    CUresult result = lw_cu_enter_with(function, LW_CU_FUNCTION);
    if (result) return result;
    if (!offset || index >= function->info.param_count) return CUDA_ERROR_INVALID_VALUE;
    lw_param_info param = lw_kernel_param(function->kernel, (uint32_t)index);
    *offset = param.offset;
    if (size) *size = param.size;
    return CUDA_SUCCESS;
}

/* A function is made a program of when it is asked for. */
CUresult cuFuncIsLoaded(CUfunctionLoadingState *state, CUfunction function) {
    LW_CU_CALL;
    CUresult result = lw_cu_enter_with(function, LW_CU_FUNCTION);
    if (result) return result;
    if (!state) return CUDA_ERROR_INVALID_VALUE;
    *state = CU_FUNCTION_LOADING_STATE_LOADED;
    return CUDA_SUCCESS;
}

CUresult cuFuncLoad(CUfunction function) {
    LW_CU_CALL;
    return lw_cu_enter_with(function, LW_CU_FUNCTION);
}
