/* managed.c: memory that both sides use at one address, and what programs say of how they will use it.
 *
 * There is one memory, so that nothing moves: advice is kept for those who ask for it, and a prefetch is done at once.
 */
#include "shim/cuda/driver.h"

#include <stdlib.h>
#include <unistd.h>

/* ---- Advice ---------------------------------------------------------------------------------------------------- */

typedef struct place {
    unsigned type; /* CU_MEM_LOCATION_TYPE_…; 0: none */
    int id;
} place;

typedef struct advice {
    bool read_mostly, by_host;
    uint32_t by_devices; /* as bits */
    place preferred, prefetched;
} advice;

/* From the end of the one before it on. */
typedef struct stretch {
    uint64_t to; /* from the beginning of the allocation */
    advice advice;
} stretch;

typedef struct advised {
    struct advised *next;
    uint64_t base;
    size_t count;
    stretch *at;
} advised;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards all of it */
static advised *first;

static advised **find(uint64_t base) {
    advised **at = &first;
    while (*at && (*at)->base != base) at = &(*at)->next;
    return at;
}

void lw_cu_forget_advice(uint64_t base) {
    pthread_mutex_lock(&lock);
    advised **at = find(base), *gone = *at;
    if (gone) *at = gone->next;
    pthread_mutex_unlock(&lock);
    if (gone) free(gone->at);
    free(gone);
}

/* NULL: no memory. */
static advised *find_or_make(uint64_t base) {
    advised *found = *find(base);
    if (found) return found;
    found = calloc(1, sizeof *found);
    if (!found) return NULL;
    found->at = calloc(1, sizeof *found->at);
    if (!found->at) {
        free(found);
        return NULL;
    }
    found->base = base;
    found->count = 1;
    found->at[0].to = UINT64_MAX;
    found->next = first;
    return first = found;
}

/* Makes an end at an offset; the caller has made room. */
static void split(advised *advised, uint64_t offset) {
    size_t i = 0;
    while (advised->at[i].to < offset) i++;
    if (advised->at[i].to == offset) return;
    memmove(&advised->at[i + 1], &advised->at[i], (advised->count++ - i) * sizeof advised->at[0]);
    advised->at[i].to = offset;
}

typedef struct span {
    uint64_t base, from, to; /* from, to: offsets in it, whole pages */
} span;

typedef void change(advice *advice, unsigned what, place place);

static CUresult change_all(span span, change *change, unsigned what, place place) {
    CUresult result = CUDA_ERROR_OUT_OF_MEMORY;
    pthread_mutex_lock(&lock);
    advised *advised = find_or_make(span.base);
    stretch *room = advised ? realloc(advised->at, (advised->count + 2) * sizeof *room) : NULL;
    if (room) {
        advised->at = room;
        if (span.from) split(advised, span.from);
        split(advised, span.to);
        for (size_t i = 0; i < advised->count && advised->at[i].to <= span.to; i++)
            if (advised->at[i].to > span.from) change(&advised->at[i].advice, what, place);
        result = CUDA_SUCCESS;
    }
    pthread_mutex_unlock(&lock);
    return result;
}

/* ---- Ranges and places ----------------------------------------------------------------------------------------- */

/* The managed allocation, or variable, that holds all of a range. */
static bool find_managed(uint64_t address, uint64_t size, uint64_t *base, uint64_t *whole) {
    if (!size || address + size < address || !lw_cu_place(address, size)) return false;
    if (!lw_memory_is_common(&lw_cu.device->memory, address)) return false;
    const lw_cu_memory *memory = lw_cu_memory_at(address);
    return (!memory || memory->place == LW_CU_MANAGED) && lw_memory_range(lw_cu.device, address, base, whole) == LW_OK;
}

static CUresult find_span(uint64_t address, uint64_t size, span *out) {
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    uint64_t base, whole;
    CUresult result = lw_cu_enter(NULL);
    if (result) return result;
    if (!find_managed(address, size, &base, &whole)) return CUDA_ERROR_INVALID_VALUE;
    *out = (span){base, (address - base) & ~(page - 1), (address - base + size + page - 1) & ~(page - 1)};
    return CUDA_SUCCESS;
}

static CUresult check_place(CUmemLocation location) {
    if (location.type < CU_MEM_LOCATION_TYPE_DEVICE || location.type > CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT)
        return CUDA_ERROR_INVALID_VALUE;
    return location.type == CU_MEM_LOCATION_TYPE_DEVICE ? lw_cu_check_device(location.id) : CUDA_SUCCESS;
}

/* As the older calls say it. */
static CUmemLocation place_of(CUdevice device) {
    return device == CU_DEVICE_CPU ? (CUmemLocation){CU_MEM_LOCATION_TYPE_HOST, 0}
                                   : (CUmemLocation){CU_MEM_LOCATION_TYPE_DEVICE, device};
}

/* ---- Allocating ------------------------------------------------------------------------------------------------ */

CUresult cuMemAllocManaged(CUdeviceptr *address, size_t bytes, unsigned flags) {
    LW_CU_CALL;
    CUcontext context;
    lw_cu_memory *made;
    CUresult result = lw_cu_enter(&context);
    if (!result) result = lw_cu_may_act();
    if (result) return result;
    if (!address || !bytes || (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST))
        return CUDA_ERROR_INVALID_VALUE;
    if ((result = lw_cu_allocate(context, bytes, LW_CU_MANAGED, flags, NULL, &made))) return result;
    *address = made->address;
    return CUDA_SUCCESS;
}

/* Any stream may use it at any time. */
CUresult cuStreamAttachMemAsync(CUstream stream, CUdeviceptr address, size_t bytes, unsigned flags) {
    LW_CU_CALL;
    uint64_t base, whole;
    CUresult result = lw_cu_enter_stream(stream);
    if (result) return result;
    if ((flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST && flags != CU_MEM_ATTACH_SINGLE) ||
        (flags == CU_MEM_ATTACH_SINGLE && lw_cu_is_legacy(stream)) || !find_managed(address, 1, &base, &whole) ||
        address != base || (bytes && bytes != whole))
        return CUDA_ERROR_INVALID_VALUE;
    return CUDA_SUCCESS;
}

/* ---- Saying how it will be used -------------------------------------------------------------------------------- */

static void prefetched(advice *advice, unsigned unused, place to) {
    (void)unused;
    advice->prefetched = to;
}

static CUresult prefetch(CUdeviceptr address, size_t bytes, CUmemLocation to, unsigned flags, CUstream stream) {
    span span;
    CUresult result = find_span(address, bytes, &span);
    if (!result) result = lw_cu_check_stream(stream);
    if (!result) result = flags ? CUDA_ERROR_INVALID_VALUE : check_place(to);
    return result ? result : change_all(span, prefetched, 0, (place){to.type, to.id});
}

CUresult cuMemPrefetchAsync_v2(CUdeviceptr address, size_t bytes, CUmemLocation to, unsigned flags, CUstream stream) {
    LW_CU_CALL;
    return prefetch(address, bytes, to, flags, stream);
}
CUresult cuMemPrefetchAsync(CUdeviceptr address, size_t bytes, CUdevice to, CUstream stream) {
    LW_CU_CALL;
    return prefetch(address, bytes, place_of(to), 0, stream);
}

static void advise_one(advice *advice, unsigned what, place place) {
    const bool set = what == CU_MEM_ADVISE_SET_ACCESSED_BY, on_device = place.type == CU_MEM_LOCATION_TYPE_DEVICE;
    const uint32_t bit = on_device && place.id >= 0 && place.id < LW_CU_DEVICES_MOST ? 1u << place.id : 0;
    switch (what) {
    case CU_MEM_ADVISE_SET_READ_MOSTLY: advice->read_mostly = true; break;
    case CU_MEM_ADVISE_UNSET_READ_MOSTLY: advice->read_mostly = false; break;
    case CU_MEM_ADVISE_SET_PREFERRED_LOCATION: advice->preferred = place; break;
    case CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION: advice->preferred.type = CU_MEM_LOCATION_TYPE_INVALID; break;
    default:
        if (!on_device) advice->by_host = set;
        advice->by_devices = set ? advice->by_devices | bit : advice->by_devices & ~bit;
    }
}

/* What advice does with a place: nothing, or it must be one of some. */
static CUresult check_advice(CUmem_advise what, CUmemLocation place) {
    switch (what) {
    case CU_MEM_ADVISE_SET_READ_MOSTLY:
    case CU_MEM_ADVISE_UNSET_READ_MOSTLY:
    case CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION: return CUDA_SUCCESS;
    case CU_MEM_ADVISE_SET_ACCESSED_BY:
    case CU_MEM_ADVISE_UNSET_ACCESSED_BY:
        if (place.type > CU_MEM_LOCATION_TYPE_HOST) return CUDA_ERROR_INVALID_VALUE;
        return check_place(place);
    case CU_MEM_ADVISE_SET_PREFERRED_LOCATION: return check_place(place);
    default: return CUDA_ERROR_INVALID_VALUE;
    }
}

static CUresult advise(CUdeviceptr address, size_t bytes, CUmem_advise what, CUmemLocation to) {
    span span;
    CUresult result = find_span(address, bytes, &span);
    if (!result) result = check_advice(what, to);
    return result ? result : change_all(span, advise_one, what, (place){to.type, to.id});
}

CUresult cuMemAdvise_v2(CUdeviceptr address, size_t bytes, CUmem_advise what, CUmemLocation place) {
    LW_CU_CALL;
    return advise(address, bytes, what, place);
}
CUresult cuMemAdvise(CUdeviceptr address, size_t bytes, CUmem_advise what, CUdevice device) {
    LW_CU_CALL;
    return advise(address, bytes, what, place_of(device));
}

/* ---- Many at once ---------------------------------------------------------------------------------------------- */

/* Each of the places begins at a range of its own, the first one at the first. */
static bool check_firsts(const size_t *firsts, size_t place_count, size_t count) {
    if (!firsts || !place_count || place_count > count || firsts[0]) return false;
    for (size_t i = 1; i < place_count; i++)
        if (firsts[i] <= firsts[i - 1] || firsts[i] >= count) return false;
    return true;
}

static CUresult check_ranges(const CUdeviceptr *addresses, const size_t *sizes, size_t count, unsigned long long flags,
                             CUstream stream) {
    span unused;
    CUresult result = lw_cu_enter_stream(stream);
    if (result) return result;
    if (!addresses || !sizes || !count || flags || lw_cu_is_legacy(stream)) return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < count && !result; i++) result = find_span(addresses[i], sizes[i], &unused);
    return result;
}

CUresult cuMemPrefetchBatchAsync(CUdeviceptr *addresses, size_t *sizes, size_t count, CUmemLocation *places,
                                 size_t *firsts, size_t place_count, unsigned long long flags, CUstream stream) {
    LW_CU_CALL;
    CUresult result = check_ranges(addresses, sizes, count, flags, stream);
    if (result) return result;
    if (!places || !check_firsts(firsts, place_count, count)) return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < place_count && !result; i++) result = check_place(places[i]);
    for (size_t i = 0, at = 0; i < count && !result; i++) {
        if (at + 1 < place_count && firsts[at + 1] == i) at++;
        result = prefetch(addresses[i], sizes[i], places[at], 0, stream);
    }
    return result;
}

/* What is discarded reads as anything: as what it was, too. */
CUresult cuMemDiscardBatchAsync(CUdeviceptr *addresses, size_t *sizes, size_t count, unsigned long long flags,
                                CUstream stream) {
    LW_CU_CALL;
    return check_ranges(addresses, sizes, count, flags, stream);
}

CUresult cuMemDiscardAndPrefetchBatchAsync(CUdeviceptr *addresses, size_t *sizes, size_t count, CUmemLocation *places,
                                           size_t *firsts, size_t place_count, unsigned long long flags,
                                           CUstream stream) {
    LW_CU_CALL;
    return cuMemPrefetchBatchAsync(addresses, sizes, count, places, firsts, place_count, flags, stream);
}

/* ---- Questions ------------------------------------------------------------------------------------------------- */

static bool same_place(place a, place b) {
    return a.type == b.type && (a.type != CU_MEM_LOCATION_TYPE_DEVICE || a.id == b.id);
}

/* What is so of all of a range. */
static advice common_advice(span span) {
    advice all = {0};
    bool begun = false;
    pthread_mutex_lock(&lock);
    const advised *advised = *find(span.base);
    for (size_t i = 0; advised && i < advised->count; i++) {
        const advice *one = &advised->at[i].advice;
        if (advised->at[i].to <= span.from) continue;
        if (!begun) all = *one;
        begun = true;
        all.read_mostly &= one->read_mostly, all.by_devices &= one->by_devices, all.by_host &= one->by_host;
        if (!same_place(all.preferred, one->preferred)) all.preferred = (place){0};
        if (!same_place(all.prefetched, one->prefetched)) all.prefetched = (place){0};
        if (advised->at[i].to >= span.to) break;
    }
    pthread_mutex_unlock(&lock);
    return all;
}

static int device_of(place place) {
    return place.type == CU_MEM_LOCATION_TYPE_DEVICE ? place.id : place.type ? CU_DEVICE_CPU : CU_DEVICE_INVALID;
}

static CUresult list_users(int *data, size_t size, const advice *advice) {
    size_t count = 0;
    if (!size || size % sizeof *data) return CUDA_ERROR_INVALID_VALUE;
    const size_t room = size / sizeof *data;
    for (CUdevice i = 0; i < lw_cu.devices && count < room; i++)
        if (advice->by_devices >> i & 1) data[count++] = i;
    if (advice->by_host && count < room) data[count++] = CU_DEVICE_CPU;
    while (count < room) data[count++] = CU_DEVICE_INVALID;
    return CUDA_SUCCESS;
}

static CUresult answer(void *data, size_t size, CUmem_range_attribute attribute, const advice *advice) {
    int value;
    if (attribute == CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY) return list_users(data, size, advice);
    switch (attribute) {
    case CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY: value = advice->read_mostly; break;
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION: value = device_of(advice->preferred); break;
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION: value = device_of(advice->prefetched); break;
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE: value = (int)advice->preferred.type; break;
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID: value = advice->preferred.id; break;
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE: value = (int)advice->prefetched.type; break;
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID: value = advice->prefetched.id; break;
    default: return CUDA_ERROR_INVALID_VALUE;
    }
    if (size != sizeof value) return CUDA_ERROR_INVALID_VALUE;
    memcpy(data, &value, sizeof value);
    return CUDA_SUCCESS;
}

CUresult cuMemRangeGetAttributes(void **data, size_t *sizes, CUmem_range_attribute *attributes, size_t count,
                                 CUdeviceptr address, size_t bytes) {
    LW_CU_CALL;
    span span;
    CUresult result = find_span(address, bytes, &span);
    if (result) return result;
    if (!data || !sizes || !attributes || !count) return CUDA_ERROR_INVALID_VALUE;
    const advice advice = common_advice(span);
    for (size_t i = 0; i < count && !result; i++)
        result = data[i] ? answer(data[i], sizes[i], attributes[i], &advice) : CUDA_ERROR_INVALID_VALUE;
    return result;
}

CUresult cuMemRangeGetAttribute(void *data, size_t size, CUmem_range_attribute attribute, CUdeviceptr address,
                                size_t bytes) {
    LW_CU_CALL;
    return cuMemRangeGetAttributes(&data, &size, &attribute, 1, address, bytes);
}
