/* context.c: contexts, and which of them is current in a thread. */
#include "shim/cuda/driver.h"

#include <stdlib.h>

/* ---- The stack of a thread ------------------------------------------------------------------------------------- */

enum { DEEP = 64 };
static _Thread_local struct {
    CUcontext at[DEEP];
    uint64_t ids[DEEP]; /* another context may get the address of one that was destroyed */
    unsigned count;
} stack;

static CUcontext top(void) { return stack.count ? stack.at[stack.count - 1] : NULL; }
CUcontext lw_cu_current(void) { return top(); }

static void push(CUcontext context) {
    stack.ids[stack.count] = context->id;
    stack.at[stack.count++] = context;
}

static bool is_primary(CUcontext context) { return context == &lw_cu.primary[context->device].context; }

/* With the lock held. */
static CUresult check_current(CUcontext now) {
    const lw_cu_object *known = lw_cu_table_find(&lw_cu.table, (uintptr_t)now);
    if (!known || known->kind != LW_CU_CONTEXT) return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    if (!is_primary(now) && now->id != stack.ids[stack.count - 1]) return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    return lw_cu_fault();
}

CUresult lw_cu_enter(CUcontext *context) {
    CUresult result = lw_cu_ready();
    if (result) return result;
    CUcontext now = top();
    if (context) *context = now;
    if (!now) return CUDA_ERROR_INVALID_CONTEXT;
    lw_cu_lock();
    result = check_current(now);
    lw_cu_unlock();
    return result;
}

CUresult lw_cu_enter_with(const void *handle, lw_cu_kind kind) {
    CUresult result = lw_cu_ready();
    if (result) return result;
    if (!top()) return CUDA_ERROR_INVALID_CONTEXT;
    lw_cu_lock();
    result = check_current(top());
    const lw_cu_object *object = result || !handle ? NULL : lw_cu_table_find(&lw_cu.table, (uintptr_t)handle);
    if (!result && (!object || object->kind != kind)) result = CUDA_ERROR_INVALID_HANDLE;
    lw_cu_unlock();
    return result;
}

static CUresult check_context(CUcontext context) {
    CUresult result = lw_cu_ready();
    if (result) return result;
    if (!context) return CUDA_ERROR_INVALID_VALUE;
    return lw_cu_find(context, LW_CU_CONTEXT) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

CUresult cuCtxPushCurrent_v2(CUcontext context) {
    LW_CU_CALL;
    CUresult result = check_context(context);
    if (result) return result;
    if (stack.count == DEEP) return CUDA_ERROR_OUT_OF_MEMORY;
    push(context);
    return CUDA_SUCCESS;
}
LW_CU_SAME(cuCtxPushCurrent, cuCtxPushCurrent_v2);

CUresult cuCtxPopCurrent_v2(CUcontext *context) {
    LW_CU_CALL;
    CUresult result = lw_cu_ready();
    if (result) return result;
    if (!stack.count) return CUDA_ERROR_INVALID_CONTEXT;
    stack.count--;
    if (context) *context = stack.at[stack.count];
    return CUDA_SUCCESS;
}
LW_CU_SAME(cuCtxPopCurrent, cuCtxPopCurrent_v2);

CUresult cuCtxSetCurrent(CUcontext context) {
    LW_CU_CALL;
    CUresult result = context ? check_context(context) : lw_cu_ready();
    if (result) return result;
    if (stack.count) stack.count--;
    if (context) push(context);
    return CUDA_SUCCESS;
}

CUresult cuCtxGetCurrent(CUcontext *context) {
    LW_CU_CALL;
    CUresult result = lw_cu_ready();
    if (result) return result;
    if (!context) return CUDA_ERROR_INVALID_VALUE;
    *context = top();
    return CUDA_SUCCESS;
}

/* ---- Making and ending ----------------------------------------------------------------------------------------- */

static void set_up(CUcontext context, CUdevice device, unsigned flags, uint64_t id) {
    context->device = device;
    context->peers = context->attached = 0;
    context->flags = flags;
    context->id = id;
    context->limits[CU_LIMIT_STACK_SIZE] = 1024;
    context->limits[CU_LIMIT_PRINTF_FIFO_SIZE] = 1 << 20;
    context->limits[CU_LIMIT_MALLOC_HEAP_SIZE] = 8 << 20;
    context->cache = context->shared_config = 0;
}

static CUresult create(CUcontext *context, unsigned flags, CUdevice device) {
    CUresult result = lw_cu_check_device(device);
    if (!result) result = lw_cu_fault();
    if (result) return result;
    if (!context || (flags & ~(unsigned)CU_CTX_FLAGS_MASK)) return CUDA_ERROR_INVALID_VALUE;
    if (stack.count == DEEP) return CUDA_ERROR_OUT_OF_MEMORY;
    CUcontext made = lw_cu_new(sizeof *made, LW_CU_CONTEXT, NULL);
    if (!made) return CUDA_ERROR_OUT_OF_MEMORY;
    set_up(made, device, flags, lw_cu_next_id());
    push(*context = made);
    return CUDA_SUCCESS;
}

CUresult cuCtxCreate_v2(CUcontext *context, unsigned flags, CUdevice device) {
    LW_CU_CALL;
    return create(context, flags, device);
}
LW_CU_SAME(cuCtxCreate, cuCtxCreate_v2);

CUresult cuCtxCreate_v3(CUcontext *context, CUexecAffinityParam *affinity, int count, unsigned flags, CUdevice device) {
    LW_CU_CALL;
    return affinity || count ? CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY : create(context, flags, device);
}

CUresult cuCtxCreate_v4(CUcontext *context, CUctxCreateParams *params, unsigned flags, CUdevice device) {
    LW_CU_CALL;
    return params ? CUDA_ERROR_NOT_SUPPORTED : create(context, flags, device);
}

/* What a context owns of a kind: one of them. NULL: nothing. */
static lw_cu_object *first_object(CUcontext context, lw_cu_kind kind) {
    lw_cu_lock();
    lw_cu_object *object = context->objects[kind];
    lw_cu_unlock();
    return object;
}

/* Modules end first, with their functions. */
void lw_cu_end_objects(CUcontext context) {
    lw_cu_object *object;
    lw_cu_end_captures(context);
    lw_cu_close(context, true); /* a kernel that another thread launched now would run without its memory */
    lw_cu_drain(context);       /* with an error of its own, nothing is left to be told */
    while ((object = first_object(context, LW_CU_MODULE))) lw_cu_end_module((CUmodule)object);
    while ((object = first_object(context, LW_CU_TEXTURE))) lw_cu_end_texture(object);
    while ((object = first_object(context, LW_CU_SURFACE))) lw_cu_end_texture(object);
    while ((object = first_object(context, LW_CU_TEXREF))) lw_cu_free(object);
    while ((object = first_object(context, LW_CU_ARRAY))) lw_cu_end_array((CUarray)object);
    while ((object = first_object(context, LW_CU_MIPMAP))) lw_cu_end_array((CUarray)object);
    while ((object = first_object(context, LW_CU_MEMORY))) lw_cu_end_memory((lw_cu_memory *)object);
    while ((object = first_object(context, LW_CU_STREAM))) lw_cu_free(object);
    while ((object = first_object(context, LW_CU_EVENT))) lw_cu_free(object);
    while ((object = first_object(context, LW_CU_LINK))) lw_cu_free(object);
    lw_cu_end_queues(context);
}

CUresult cuCtxDestroy_v2(CUcontext context) {
    LW_CU_CALL;
    CUresult result = check_context(context);
    if (result) return result;
    if (is_primary(context)) return CUDA_ERROR_INVALID_CONTEXT;
    if (!lw_cu_forget(&context->object)) return CUDA_ERROR_INVALID_CONTEXT; /* another thread was first */
    if (top() == context) stack.count--;
    lw_cu_end_objects(context); /* of which there can be no new ones any more */
    lw_cu_lock();
    lw_cu_bury(&context->object);
    lw_cu_unlock();
    return CUDA_SUCCESS;
}
LW_CU_SAME(cuCtxDestroy, cuCtxDestroy_v2);

CUresult cuCtxAttach(CUcontext *context, unsigned flags) {
    LW_CU_CALL;
    CUcontext current;
    const CUresult result = lw_cu_enter(&current);
    if (result) return result;
    if (!context || flags) return CUDA_ERROR_INVALID_VALUE;
    atomic_fetch_add(&current->attached, 1);
    *context = current;
    return CUDA_SUCCESS;
}

CUresult cuCtxDetach(CUcontext context) {
    LW_CU_CALL;
    const CUresult result = check_context(context);
    if (result) return result;
    if (context != top()) return CUDA_ERROR_INVALID_CONTEXT;
    uint32_t others = atomic_load(&context->attached);
    while (others && !atomic_compare_exchange_weak(&context->attached, &others, others - 1)) {}
    return others ? CUDA_SUCCESS : cuCtxDestroy_v2(context);
}

/* ---- The primary context --------------------------------------------------------------------------------------- */

/* With the lock held. False: no memory. */
static bool start_primary(CUdevice device) {
    struct lw_cu_primary *primary = &lw_cu.primary[device];
    set_up(&primary->context, device, primary->flags, ++lw_cu.last_id);
    return primary->lives = lw_cu_link(&primary->context.object, (uintptr_t)&primary->context, LW_CU_CONTEXT, NULL);
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device) {
    LW_CU_CALL;
    CUresult result = lw_cu_check_device(device);
    if (!result) result = lw_cu_fault();
    if (result) return result;
    if (!context) return CUDA_ERROR_INVALID_VALUE;
    struct lw_cu_primary *primary = &lw_cu.primary[device];
    lw_cu_lock();
    bool lives = primary->lives || start_primary(device);
    if (lives) primary->retained++;
    lw_cu_unlock();
    if (!lives) return CUDA_ERROR_OUT_OF_MEMORY;
    *context = &primary->context;
    return CUDA_SUCCESS;
}

/* What it owns ends without the lock: whoever retains it meanwhile has it empty. */
static void end_primary(CUdevice device, bool reset) {
    struct lw_cu_primary *primary = &lw_cu.primary[device];
    lw_cu_end_objects(&primary->context);
    lw_cu_close(&primary->context, false);
    lw_cu_lock();
    if (primary->lives && (reset || !primary->retained)) {
        lw_cu_unlink(&primary->context.object);
        primary->lives = false;
    }
    lw_cu_unlock();
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) {
    LW_CU_CALL;
    CUresult result = lw_cu_check_device(device);
    if (result) return result;
    struct lw_cu_primary *primary = &lw_cu.primary[device];
    lw_cu_lock();
    bool retained = primary->retained, last = retained && !--primary->retained;
    lw_cu_unlock();
    if (last) end_primary(device, false);
    return retained ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}
LW_CU_SAME(cuDevicePrimaryCtxRelease, cuDevicePrimaryCtxRelease_v2);

CUresult cuDevicePrimaryCtxReset_v2(CUdevice device) {
    LW_CU_CALL;
    CUresult result = lw_cu_check_device(device);
    if (!result) end_primary(device, true);
    return result;
}
LW_CU_SAME(cuDevicePrimaryCtxReset, cuDevicePrimaryCtxReset_v2);

CUresult cuDevicePrimaryCtxSetFlags_v2(CUdevice device, unsigned flags) {
    LW_CU_CALL;
    CUresult result = lw_cu_check_device(device);
    if (result) return result;
    if (flags & ~(unsigned)CU_CTX_FLAGS_MASK) return CUDA_ERROR_INVALID_VALUE;
    lw_cu_lock();
    lw_cu.primary[device].flags = flags;
    lw_cu.primary[device].context.flags = flags;
    lw_cu_unlock();
    return CUDA_SUCCESS;
}
LW_CU_SAME(cuDevicePrimaryCtxSetFlags, cuDevicePrimaryCtxSetFlags_v2);

CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned *flags, int *active) {
    LW_CU_CALL;
    CUresult result = lw_cu_check_device(device);
    if (result) return result;
    if (!flags || !active) return CUDA_ERROR_INVALID_VALUE;
    lw_cu_lock();
    *flags = lw_cu.primary[device].flags;
    *active = lw_cu.primary[device].lives;
    lw_cu_unlock();
    return CUDA_SUCCESS;
}

/* ---- Questions and settings ------------------------------------------------------------------------------------ */

/* The context of an argument, or the current one where the argument is NULL. */
static CUresult given_or_current(CUcontext *context) {
    LW_CU_CALL;
    if (!*context) return lw_cu_enter(context);
    CUresult result = check_context(*context);
    return result ? result : lw_cu_fault();
}

CUresult cuCtxSynchronize_v2(CUcontext context) {
    LW_CU_CALL;
    CUresult result = given_or_current(&context);
    if (!result) result = lw_cu_may_wait_all(context);
    return result ? result : lw_cu_drain(context);
}

CUresult cuCtxSynchronize(void) {
    LW_CU_CALL;
    return cuCtxSynchronize_v2(NULL);
}

CUresult cuCtxGetDevice_v2(CUdevice *device, CUcontext context) {
    LW_CU_CALL;
    CUresult result = given_or_current(&context);
    if (result == CUDA_ERROR_INVALID_CONTEXT || result == CUDA_ERROR_NOT_INITIALIZED) return result;
    if (!device) return CUDA_ERROR_INVALID_VALUE;
    *device = context->device;
    return CUDA_SUCCESS;
}

CUresult cuCtxGetDevice(CUdevice *device) {
    LW_CU_CALL;
    return cuCtxGetDevice_v2(device, NULL);
}

CUresult cuCtxGetFlags(unsigned *flags) {
    LW_CU_CALL;
    CUcontext context;
    CUresult result = lw_cu_enter(&context);
    if (result) return result;
    if (!flags) return CUDA_ERROR_INVALID_VALUE;
    *flags = context->flags;
    return CUDA_SUCCESS;
}

CUresult cuCtxSetFlags(unsigned flags) {
    LW_CU_CALL;
    CUcontext context;
    CUresult result = lw_cu_enter(&context);
    if (result) return result;
    if (flags & ~(unsigned)CU_CTX_FLAGS_MASK) return CUDA_ERROR_INVALID_VALUE;
    context->flags = flags;
    return CUDA_SUCCESS;
}

CUresult cuCtxGetId(CUcontext context, unsigned long long *id) {
    LW_CU_CALL;
    CUresult result = given_or_current(&context);
    if (result) return result;
    if (!id) return CUDA_ERROR_INVALID_VALUE;
    *id = context->id;
    return CUDA_SUCCESS;
}

CUresult cuCtxGetApiVersion(CUcontext context, unsigned *version) {
    LW_CU_CALL;
    CUresult result = given_or_current(&context);
    if (result) return result;
    if (!version) return CUDA_ERROR_INVALID_VALUE;
    *version = 3020; /* of the calls on contexts, not of the driver */
    return CUDA_SUCCESS;
}

CUresult cuCtxGetLimit(size_t *value, CUlimit limit) {
    LW_CU_CALL;
    CUcontext context;
    CUresult result = lw_cu_enter(&context);
    if (result) return result;
    if (!value) return CUDA_ERROR_INVALID_VALUE;
    if (limit >= LW_COUNT(context->limits)) return CUDA_ERROR_UNSUPPORTED_LIMIT;
    *value = context->limits[limit];
    return CUDA_SUCCESS;
}

/* Launches go by those of printf and malloc; a thread's stack has the room that it needs. */
CUresult cuCtxSetLimit(CUlimit limit, size_t value) {
    LW_CU_CALL;
    CUcontext context;
    CUresult result = lw_cu_enter(&context);
    if (result) return result;
    if (limit >= LW_COUNT(context->limits)) return CUDA_ERROR_UNSUPPORTED_LIMIT;
    context->limits[limit] = value;
    return CUDA_SUCCESS;
}

/* There is no choice between cache and shared memory; these are hints in CUDA, too. */
CUresult cuCtxGetCacheConfig(CUfunc_cache *config) {
    LW_CU_CALL;
    CUcontext context;
    CUresult result = lw_cu_enter(&context);
    if (result) return result;
    if (!config) return CUDA_ERROR_INVALID_VALUE;
    *config = context->cache;
    return CUDA_SUCCESS;
}

CUresult cuCtxSetCacheConfig(CUfunc_cache config) {
    LW_CU_CALL;
    CUcontext context;
    CUresult result = lw_cu_enter(&context);
    if (result) return result;
    if (config > CU_FUNC_CACHE_PREFER_EQUAL) return CUDA_ERROR_INVALID_VALUE;
    context->cache = config;
    return CUDA_SUCCESS;
}

CUresult cuCtxGetSharedMemConfig(CUsharedconfig *config) {
    LW_CU_CALL;
    CUcontext context;
    CUresult result = lw_cu_enter(&context);
    if (result) return result;
    if (!config) return CUDA_ERROR_INVALID_VALUE;
    *config = context->shared_config;
    return CUDA_SUCCESS;
}

CUresult cuCtxSetSharedMemConfig(CUsharedconfig config) {
    LW_CU_CALL;
    CUcontext context;
    CUresult result = lw_cu_enter(&context);
    if (result) return result;
    if (config > CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE) return CUDA_ERROR_INVALID_VALUE;
    context->shared_config = config;
    return CUDA_SUCCESS;
}

CUresult cuCtxGetStreamPriorityRange(int *least, int *greatest) {
    LW_CU_CALL;
    CUresult result = lw_cu_enter(NULL);
    if (result) return result;
    if (least) *least = 0;
    if (greatest) *greatest = 0;
    return CUDA_SUCCESS;
}

/* ---- Peers ----------------------------------------------------------------------------------------------------- */

/* All devices have one memory, so that access needs nothing but the books that programs expect. */
static CUresult check_peer(CUcontext *current, CUcontext peer, unsigned flags) {
    CUresult result = lw_cu_enter(current);
    if (result) return result;
    if (flags) return CUDA_ERROR_INVALID_VALUE;
    if (!peer || !lw_cu_find(peer, LW_CU_CONTEXT)) return CUDA_ERROR_INVALID_CONTEXT;
    return peer->device == (*current)->device ? CUDA_ERROR_INVALID_CONTEXT : CUDA_SUCCESS;
}

CUresult cuCtxEnablePeerAccess(CUcontext peer, unsigned flags) {
    LW_CU_CALL;
    CUcontext current;
    CUresult result = check_peer(&current, peer, flags);
    if (result) return result;
    const uint32_t bit = 1u << peer->device;
    return atomic_fetch_or(&current->peers, bit) & bit ? CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED : CUDA_SUCCESS;
}

CUresult cuCtxDisablePeerAccess(CUcontext peer) {
    LW_CU_CALL;
    CUcontext current;
    CUresult result = check_peer(&current, peer, 0);
    if (result) return result;
    const uint32_t bit = 1u << peer->device;
    return atomic_fetch_and(&current->peers, ~bit) & bit ? CUDA_SUCCESS : CUDA_ERROR_PEER_ACCESS_NOT_ENABLED;
}
