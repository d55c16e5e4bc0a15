/* multicast.c: objects that stand for memory of several devices, which multimem reaches where they are mapped
 * (run/team.h). Each device of the team has memory bound to parts of the object; where all have, it can be used. */
#include "shim/cuda/virtual.h"

#include "run/team.h"

#include <stdlib.h>
#include <sys/mman.h>

typedef struct binding {
    struct binding *next;
    CUdevice device;
    uint64_t offset, size; /* in the object */
    lw_cu_physical *memory;
    uint64_t from; /* in the memory */
} binding;

typedef struct lw_cu_multicast {
    unsigned wanted, count; /* devices, and how many were added */
    CUdevice devices[LW_CU_DEVICES_MOST];
    binding *bindings;
    lw_cu_mapping *maps;
} lw_cu_multicast;

_Static_assert((int)LW_CU_DEVICES_MOST <= (int)LW_TEAM_MOST, "a team of all devices has room");

/* ---- What can be used -------------------------------------------------------------------------------------------- */

static const binding *binding_at(const lw_cu_multicast *shared, CUdevice device, uint64_t offset) {
    const binding *b = shared->bindings;
    while (b && (b->device != device || offset - b->offset >= b->size)) b = b->next;
    return b;
}

/* The longest part from an offset on that all devices have memory of, or none; *end: where it ends, or another one may
 * begin. */
static bool part_at(const lw_cu_multicast *shared, uint64_t offset, uint64_t *end, lw_team *team) {
    bool all = shared->count == shared->wanted;
    team->count = shared->count;
    for (const binding *b = shared->bindings; b; b = b->next) {
        if (b->offset > offset && b->offset < *end) *end = b->offset;
        if (b->offset <= offset && b->offset + b->size > offset && b->offset + b->size < *end)
            *end = b->offset + b->size;
    }
    for (unsigned i = 0; i < shared->count && all; i++) {
        const binding *b = binding_at(shared, shared->devices[i], offset);
        all = b;
        if (b) team->host[i] = b->memory->host + b->from + (offset - b->offset);
    }
    return all;
}

bool lw_cu_multicast_show(lw_cu_mapping *map) {
    const uint64_t last = map->offset + map->size;
    for (uint64_t at = map->offset, end; at < last; at = end) {
        lw_team team = {.base = map->from + (at - map->offset)};
        end = last;
        if (!part_at(map->memory->shared, at, &end, &team)) continue;
        team.size = end - at;
        if (!lw_team_add(&lw_cu.device->memory, &team)) return false;
    }
    return true;
}

void lw_cu_multicast_hide(lw_cu_mapping *map) { lw_team_drop(&lw_cu.device->memory, map->from, map->size); }

void lw_cu_multicast_add(lw_cu_mapping *map) {
    map->next_shared = map->memory->shared->maps;
    map->memory->shared->maps = map;
}

void lw_cu_multicast_take(lw_cu_mapping *map) {
    lw_cu_mapping **link = &map->memory->shared->maps;
    while (*link != map) link = &(*link)->next_shared;
    *link = map->next_shared;
}

/* After what is bound has changed. */
static CUresult renew(const lw_cu_multicast *shared) {
    bool good = true;
    for (lw_cu_mapping *map = shared->maps; map; map = map->next_shared) {
        if (!map->access) continue;
        lw_cu_multicast_hide(map);
        good &= lw_cu_multicast_show(map);
    }
    return good ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

/* ---- What is bound ----------------------------------------------------------------------------------------------- */

static void unbind(binding **link) {
    binding *gone = *link;
    *link = gone->next;
    gone->memory->maps--;
    lw_cu_physical_let_go(gone->memory);
    free(gone);
}

void lw_cu_multicast_end(lw_cu_multicast *shared) {
    while (shared->bindings) unbind(&shared->bindings);
    free(shared);
}

static bool is_member(const lw_cu_multicast *shared, CUdevice device) {
    for (unsigned i = 0; i < shared->count; i++)
        if (shared->devices[i] == device) return true;
    return false;
}

/* Memory from `from` on, to the object at `offset`. With the lock held. */
static CUresult bind(const lw_cu_physical *object, uint64_t offset, lw_cu_physical *memory, uint64_t from,
                     uint64_t size) {
    lw_cu_multicast *shared = object->shared;
    const CUdevice device = memory->props.location.id;
    if (shared->count < shared->wanted) {
        lw_cu_report(LW_CU_REPORT_ERRORS, "a multicast object has %u of its %u devices: none can be bound yet",
                     shared->count, shared->wanted);
        return CUDA_ERROR_ILLEGAL_STATE;
    }
    if (!is_member(shared, device)) return CUDA_ERROR_INVALID_DEVICE;
    if (size > object->size || offset > object->size - size || size > memory->size || from > memory->size - size)
        return CUDA_ERROR_INVALID_VALUE;
    for (const binding *b = shared->bindings; b; b = b->next)
        if (b->device == device && offset < b->offset + b->size && b->offset < offset + size)
            return CUDA_ERROR_INVALID_VALUE;
    binding *made = malloc(sizeof *made);
    if (!made) return CUDA_ERROR_OUT_OF_MEMORY;
    *made = (binding){shared->bindings, device, offset, size, memory, from};
    shared->bindings = made;
    memory->maps++;
    return renew(shared);
}

/* With the lock held; NULL: it is none. */
static lw_cu_physical *find(CUmemGenericAllocationHandle handle) {
    lw_cu_physical *object = lw_cu_physical_find(handle);
    return object && object->shared ? object : NULL;
}

static bool are_granular(uint64_t size, uint64_t a, uint64_t b) {
    return size && lw_cu_is_granular(size) && lw_cu_is_granular(a) && lw_cu_is_granular(b);
}

/* ---- Calls ------------------------------------------------------------------------------------------------------- */

static CUresult check_props(const CUmulticastObjectProp *props) {
    CUresult result = lw_cu_ready();
    if (result) return result;
    if (!lw_cu.arch->clusters) {
        lw_cu_report(LW_CU_REPORT_ERRORS, "devices below sm_90 have no multicast objects");
        return CUDA_ERROR_NOT_SUPPORTED;
    }
    if (!props || !props->numDevices || props->numDevices > (unsigned)lw_cu.devices || !props->size || props->flags)
        return CUDA_ERROR_INVALID_VALUE;
    return CUDA_SUCCESS;
}

CUresult cuMulticastGetGranularity(size_t *granularity, const CUmulticastObjectProp *props,
                                   CUmulticastGranularity_flags option) {
    LW_CU_CALL;
    CUresult result = check_props(props);
    if (result) return result;
    if (!granularity || option > CU_MULTICAST_GRANULARITY_RECOMMENDED) return CUDA_ERROR_INVALID_VALUE;
    *granularity = LW_CU_GRANULE;
    return CUDA_SUCCESS;
}

/* It stays in this process, whatever handles for others it asks for. */
CUresult cuMulticastCreate(CUmemGenericAllocationHandle *handle, const CUmulticastObjectProp *props) {
    LW_CU_CALL;
    CUresult result = check_props(props);
    if (result) return result;
    if (!handle || !lw_cu_is_granular(props->size)) return CUDA_ERROR_INVALID_VALUE;
    lw_cu_physical *made = calloc(1, sizeof *made);
    lw_cu_multicast *shared = calloc(1, sizeof *shared);
    if (!made || !shared) {
        free(made), free(shared);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    shared->wanted = props->numDevices;
    *made = (lw_cu_physical){
        .size = props->size, .handles = 1, .file = -1, .host = MAP_FAILED, .is_foreign = true, .shared = shared};
    return lw_cu_physical_give(made, handle);
}

CUresult cuMulticastAddDevice(CUmemGenericAllocationHandle handle, CUdevice device) {
    LW_CU_CALL;
    CUresult result = lw_cu_ready();
    if (!result) result = lw_cu_check_device(device);
    if (result) return result;
    pthread_mutex_lock(&lw_cu_virtual_lock);
    const lw_cu_physical *object = find(handle);
    lw_cu_multicast *shared = object ? object->shared : NULL;
    const bool can = shared && shared->count < shared->wanted && !is_member(shared, device);
    if (can) shared->devices[shared->count++] = device;
    pthread_mutex_unlock(&lw_cu_virtual_lock);
    return can ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMulticastBindMem(CUmemGenericAllocationHandle handle, size_t offset, CUmemGenericAllocationHandle of,
                            size_t from, size_t size, unsigned long long flags) {
    LW_CU_CALL;
    CUresult result = lw_cu_ready();
    if (result) return result;
    if (flags || !are_granular(size, offset, from)) return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&lw_cu_virtual_lock);
    const lw_cu_physical *object = find(handle);
    lw_cu_physical *memory = lw_cu_physical_find(of);
    const bool are = object && memory && !memory->shared;
    result = are ? bind(object, offset, memory, from, size) : CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_unlock(&lw_cu_virtual_lock);
    return result;
}

/* Of memory that is mapped somewhere. */
CUresult cuMulticastBindAddr(CUmemGenericAllocationHandle handle, size_t offset, CUdeviceptr address, size_t size,
                             unsigned long long flags) {
    LW_CU_CALL;
    CUresult result = lw_cu_ready();
    if (result) return result;
    if (flags || !are_granular(size, offset, address)) return CUDA_ERROR_INVALID_VALUE;
    if (!lw_cu_is_virtual(address)) {
        lw_cu_report(LW_CU_REPORT_ERRORS, "multicast objects take memory that cuMemCreate made");
        return CUDA_ERROR_NOT_SUPPORTED;
    }
    pthread_mutex_lock(&lw_cu_virtual_lock);
    const lw_cu_physical *object = find(handle);
    const lw_cu_mapping *map = lw_cu_mapping_find(address);
    const bool are = object && map && !map->memory->shared && size <= map->size - (address - map->from);
    result = are ? bind(object, offset, map->memory, address - map->from, size) : CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_unlock(&lw_cu_virtual_lock);
    return result;
}

/* What one call has bound. */
CUresult cuMulticastUnbind(CUmemGenericAllocationHandle handle, CUdevice device, size_t offset, size_t size) {
    LW_CU_CALL;
    CUresult result = lw_cu_ready();
    if (!result) result = lw_cu_check_device(device);
    if (result) return result;
    lw_cu_virtual_drain();
    pthread_mutex_lock(&lw_cu_virtual_lock);
    const lw_cu_physical *object = find(handle);
    binding **link = object ? &object->shared->bindings : NULL;
    while (link && *link && ((*link)->device != device || (*link)->offset != offset || (*link)->size != size))
        link = &(*link)->next;
    const bool is = link && *link;
    for (lw_cu_mapping *map = is ? object->shared->maps : NULL; map; map = map->next_shared) lw_cu_multicast_hide(map);
    if (is) unbind(link);
    result = is ? renew(object->shared) : CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_unlock(&lw_cu_virtual_lock);
    return result;
}
