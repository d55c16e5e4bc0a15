/* virtual.c: addresses without memory, memory without addresses, and the one mapped to the other.
 *
 * Addresses are of a zone of their own, where the host has nothing. A stretch of them has one on the host, which stays
 * readable and writable as all of the device's does; memory that is mapped is put in place there, so that neighbours
 * become one allocation (lw_memory_map), and the same memory can be in several places. What may be given to other
 * processes is a file in memory, whose name says what it is and which device it is of. */
#define _GNU_SOURCE /* mremap, memfd_create */
#include "shim/cuda/virtual.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define GRANULE  LW_CU_GRANULE
#define ZONE     (1ull << 42) /* all device memory lies below */
#define ZONE_END (1ull << 45)

typedef lw_cu_physical physical;
typedef lw_cu_mapping mapping;

typedef struct reservation {
    struct reservation *next;
    uint64_t from, asked, size; /* size: whole granules */
    char *host;
    mapping *maps; /* by address */
} reservation;

pthread_mutex_t lw_cu_virtual_lock = PTHREAD_MUTEX_INITIALIZER;
static reservation *first; /* by address */

bool lw_cu_is_virtual(uint64_t address) { return address >= ZONE && address < ZONE_END; }

static CUresult unsupported(const char *what) {
    lw_cu_report(LW_CU_REPORT_ALL, "virtual memory: %s", what);
    return CUDA_ERROR_NOT_SUPPORTED;
}

/* ---- Addresses ------------------------------------------------------------------------------------------------- */

/* With the lock held. */
static reservation *find_reservation(uint64_t address, uint64_t size) {
    reservation *r = first;
    while (r && (address < r->from || address - r->from >= r->size)) r = r->next;
    return r && size <= r->size - (address - r->from) ? r : NULL;
}

/* The first gap that is large enough, and what it lies behind. With the lock held. */
static reservation **find_gap(uint64_t size, uint64_t align, uint64_t *from) {
    uint64_t at = ZONE;
    reservation **link = &first;
    for (;; link = &(*link)->next) {
        at = (at + align - 1) & ~(align - 1);
        const uint64_t end = *link ? (*link)->from : ZONE_END;
        if (at < end && size <= end - at) break;
        if (!*link) return NULL;
        at = (*link)->from + (*link)->size + GRANULE; /* one stays free: what leaves a stretch is found */
    }
    *from = at;
    return link;
}

static CUresult reserve(CUdeviceptr *address, uint64_t asked, uint64_t align) {
    const uint64_t size = (asked + GRANULE - 1) & ~(GRANULE - 1);
    reservation *made = calloc(1, sizeof *made);
    if (!made) return CUDA_ERROR_OUT_OF_MEMORY;
    made->asked = asked, made->size = size;
    made->host = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    pthread_mutex_lock(&lw_cu_virtual_lock);
    reservation **link = made->host == MAP_FAILED ? NULL
                                                  : find_gap(size, align > GRANULE ? align : GRANULE, &made->from);
    if (link) {
        made->next = *link;
        *link = made;
        *address = made->from;
    }
    pthread_mutex_unlock(&lw_cu_virtual_lock);
    if (link) return CUDA_SUCCESS;
    if (made->host != MAP_FAILED) munmap(made->host, size);
    free(made);
    return CUDA_ERROR_OUT_OF_MEMORY;
}

/* Where it should be is a wish. */
CUresult cuMemAddressReserve(CUdeviceptr *address, size_t size, size_t align, CUdeviceptr wish,
                             unsigned long long flags) {
    LW_CU_CALL;
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    CUresult result = lw_cu_ready();
    if (result) return result;
    if (!address || !size || size % page || wish % page || flags || (align & (align - 1)))
        return CUDA_ERROR_INVALID_VALUE;
    if (size >= ZONE_END - ZONE || align >= ZONE_END - ZONE) return CUDA_ERROR_OUT_OF_MEMORY;
    return reserve(address, size, align);
}

/* A kernel may still look at what it should not: it does so before the pages go. */
void lw_cu_virtual_drain(void) {
    CUcontext context;
    if (!lw_cu_enter(&context)) lw_cu_drain(context);
}

CUresult cuMemAddressFree(CUdeviceptr address, size_t size) {
    LW_CU_CALL;
    CUresult result = lw_cu_ready();
    if (result) return result;
    lw_cu_virtual_drain();
    pthread_mutex_lock(&lw_cu_virtual_lock);
    reservation **link = &first, *gone = NULL;
    while (*link && (*link)->from != address) link = &(*link)->next;
    if (*link && (*link)->asked == size && !(*link)->maps) {
        gone = *link;
        *link = gone->next;
    }
    pthread_mutex_unlock(&lw_cu_virtual_lock);
    if (!gone) return CUDA_ERROR_INVALID_VALUE;
    munmap(gone->host, gone->size);
    free(gone);
    return CUDA_SUCCESS;
}

/* ---- Memory ---------------------------------------------------------------------------------------------------- */

static CUresult check_props(const CUmemAllocationProp *props) {
    if (!props || !props->location.type || props->location.type > CU_MEM_LOCATION_TYPE_HOST_NUMA)
        return CUDA_ERROR_INVALID_VALUE;
    if (props->location.type != CU_MEM_LOCATION_TYPE_DEVICE) return unsupported("there is none of the host");
    if (props->requestedHandleTypes & ~CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
        return unsupported("other processes are given file descriptors only");
    return lw_cu_check_device(props->location.id);
}

CUresult cuMemGetAllocationGranularity(size_t *granularity, const CUmemAllocationProp *props,
                                       CUmemAllocationGranularity_flags option) {
    LW_CU_CALL;
    CUresult result = lw_cu_ready();
    if (!result) result = check_props(props);
    if (result) return result;
    if (!granularity || option > CU_MEM_ALLOC_GRANULARITY_RECOMMENDED) return CUDA_ERROR_INVALID_VALUE;
    *granularity = GRANULE;
    return CUDA_SUCCESS;
}

#define FILE_NAME "lanewise memory of device "

/* It keeps its size, so that nobody's pages go. -1: there is none. */
static int make_file(uint64_t size, int device) {
    char name[64];
    snprintf(name, sizeof name, FILE_NAME "%d", device);
    const int file = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (file < 0) return -1;
    if (!ftruncate(file, (off_t)size) && !fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL))
        return file;
    close(file);
    return -1;
}

static void end_physical(physical *memory) {
    if (memory->shared) lw_cu_multicast_end(memory->shared);
    if (memory->host != MAP_FAILED) munmap(memory->host, memory->size);
    if (memory->file >= 0) close(memory->file);
    if (!memory->is_foreign) lw_memory_discharge(&lw_cu.device->memory, memory->size);
}

/* The file is its own then, also where there is no memory. */
static physical *make_physical(uint64_t size, const CUmemAllocationProp *props, int file, bool is_foreign) {
    const int flags = file < 0 ? MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE : MAP_SHARED | MAP_NORESERVE;
    physical *made = calloc(1, sizeof *made);
    if (!made || (!is_foreign && !lw_memory_charge(&lw_cu.device->memory, size))) {
        if (file >= 0) close(file);
        free(made);
        return NULL;
    }
    *made = (physical){.size = size, .props = *props, .handles = 1, .file = file, .is_foreign = is_foreign};
    made->host = mmap(NULL, size, PROT_READ | PROT_WRITE, flags, file, 0);
    if (made->host != MAP_FAILED) return made;
    end_physical(made);
    free(made);
    return NULL;
}

CUresult lw_cu_physical_give(physical *made, CUmemGenericAllocationHandle *handle) {
    if (!made) return CUDA_ERROR_OUT_OF_MEMORY;
    lw_cu_lock();
    const bool known = lw_cu_link(&made->object, (uintptr_t)made, LW_CU_PHYSICAL, NULL);
    made->number = ++lw_cu.last_id;
    lw_cu_unlock();
    if (known) {
        *handle = (uintptr_t)made;
        return CUDA_SUCCESS;
    }
    end_physical(made);
    free(made);
    return CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult cuMemCreate(CUmemGenericAllocationHandle *handle, size_t size, const CUmemAllocationProp *props,
                     unsigned long long flags) {
    LW_CU_CALL;
    CUresult result = lw_cu_ready();
    if (!result) result = check_props(props);
    if (result) return result;
    if (!handle || props->type != CU_MEM_ALLOCATION_TYPE_PINNED || !size || !lw_cu_is_granular(size) || flags)
        return CUDA_ERROR_INVALID_VALUE;
    const int file = props->requestedHandleTypes ? make_file(size, props->location.id) : -1;
    if (props->requestedHandleTypes && file < 0) return CUDA_ERROR_OUT_OF_MEMORY;
    return lw_cu_physical_give(make_physical(size, props, file, false), handle);
}

/* With the lock held. */
physical *lw_cu_physical_find(CUmemGenericAllocationHandle handle) {
    return lw_cu_find((void *)(uintptr_t)handle, LW_CU_PHYSICAL);
}

/* Ends memory that nothing holds any more. With the lock held. */
void lw_cu_physical_let_go(physical *memory) {
    if (memory->handles || memory->maps) return;
    end_physical(memory);
    lw_cu_lock();
    lw_cu_bury(&memory->object);
    lw_cu_unlock();
}

/* A handle that was given back as often as it was given out is none. */
CUresult cuMemRelease(CUmemGenericAllocationHandle handle) {
    LW_CU_CALL;
    CUresult result = lw_cu_ready();
    if (result) return result;
    pthread_mutex_lock(&lw_cu_virtual_lock);
    physical *memory = lw_cu_physical_find(handle);
    if (memory && !--memory->handles) {
        lw_cu_forget(&memory->object);
        lw_cu_physical_let_go(memory);
    }
    pthread_mutex_unlock(&lw_cu_virtual_lock);
    return memory ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp *props, CUmemGenericAllocationHandle handle) {
    LW_CU_CALL;
    CUresult result = lw_cu_ready();
    if (result) return result;
    pthread_mutex_lock(&lw_cu_virtual_lock);
    const physical *memory = lw_cu_physical_find(handle);
    const bool is = memory && !memory->shared && props;
    if (is) *props = memory->props;
    pthread_mutex_unlock(&lw_cu_virtual_lock);
    return is ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* ---- Mapping --------------------------------------------------------------------------------------------------- */

/* Where a mapping is, or would be: behind what lies below. With the lock held. */
static mapping **find_link(reservation *r, uint64_t address) {
    mapping **link = &r->maps;
    while (*link && (*link)->from + (*link)->size <= address) link = &(*link)->next;
    return link;
}

/* With the lock held. */
mapping *lw_cu_mapping_find(uint64_t address) {
    reservation *r = find_reservation(address, 1);
    mapping *found = r ? *find_link(r, address) : NULL;
    return found && found->from <= address ? found : NULL;
}

static char *host_of(const reservation *r, uint64_t address) { return r->host + (address - r->from); }

/* Nothing reaches these pages yet, so that for a moment there may be none. Multicast objects have none. With the lock
 * held. */
static CUresult map(reservation *r, uint64_t address, uint64_t size, uint64_t offset, physical *memory) {
    mapping **link = find_link(r, address), *made;
    if (*link && (*link)->from < address + size) return CUDA_ERROR_INVALID_VALUE;
    made = calloc(1, sizeof *made);
    if (!made) return CUDA_ERROR_OUT_OF_MEMORY;
    if (!memory->shared &&
        mremap(memory->host, 0, size, MREMAP_MAYMOVE | MREMAP_FIXED, host_of(r, address)) == MAP_FAILED) {
        free(made);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *made = (mapping){.next = *link, .from = address, .size = size, .offset = offset, .memory = memory};
    *link = made;
    if (memory->shared) lw_cu_multicast_add(made);
    memory->maps++;
    return CUDA_SUCCESS;
}

CUresult cuMemMap(CUdeviceptr address, size_t size, size_t offset, CUmemGenericAllocationHandle handle,
                  unsigned long long flags) {
    LW_CU_CALL;
    CUresult result = lw_cu_ready();
    if (result) return result;
    if (!size || !lw_cu_is_granular(address) || !lw_cu_is_granular(size) || flags) return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&lw_cu_virtual_lock);
    reservation *r = find_reservation(address, size);
    physical *memory = lw_cu_physical_find(handle);
    const bool is_part = memory && size <= memory->size && offset <= memory->size - size && lw_cu_is_granular(offset);
    if (!r || !memory || (memory->shared && !is_part)) result = CUDA_ERROR_INVALID_VALUE;
    else if (!is_part || (offset && !memory->shared)) result = CUDA_ERROR_NOT_SUPPORTED;
    else result = map(r, address, size, offset, memory);
    pthread_mutex_unlock(&lw_cu_virtual_lock);
    return result;
}

/* Whether mappings fill a range, none of them in part. With the lock held. */
static bool is_mapped(reservation *r, uint64_t address, uint64_t size) {
    const uint64_t end = address + size;
    const mapping *map = *find_link(r, address);
    while (map && map->from == address && address < end) {
        address += map->size;
        map = map->next;
    }
    return address == end;
}

/* Whether all mappings that a range meets lie in it; there may be none. With the lock held. */
static bool holds_whole(reservation *r, uint64_t address, uint64_t size) {
    const uint64_t end = address + size;
    for (const mapping *map = *find_link(r, address); map && map->from < end; map = map->next)
        if (map->from < address || map->from + map->size > end) return false;
    return true;
}

/* What all have: kernels of all devices go the same way. With the lock held. */
static CUresult give_access(reservation *r, mapping *map, unsigned access) {
    lw_memory *memory = &lw_cu.device->memory;
    if (access == map->access) return CUDA_SUCCESS;
    if (map->memory->shared) {
        lw_cu_multicast_hide(map);
        map->access = access;
        return !access || lw_cu_multicast_show(map) ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
    }
    if (map->access && !lw_memory_unmap(memory, map->from, map->size)) return CUDA_ERROR_OUT_OF_MEMORY;
    map->access = CU_MEM_ACCESS_FLAGS_PROT_NONE;
    if (access &&
        !lw_memory_map(memory, map->from, host_of(r, map->from), map->size, access == CU_MEM_ACCESS_FLAGS_PROT_READ))
        return CUDA_ERROR_OUT_OF_MEMORY;
    map->access = access;
    return CUDA_SUCCESS;
}

/* A flag has all bits of those that give less. With the lock held. */
static CUresult set_access(reservation *r, mapping *map, const CUmemAccessDesc *access, size_t count) {
    unsigned all = CU_MEM_ACCESS_FLAGS_PROT_NONE;
    for (size_t i = 0; i < count; i++) map->asked[access[i].location.id] = (unsigned char)access[i].flags;
    for (size_t i = 0; i < LW_CU_DEVICES_MOST; i++) all |= map->asked[i];
    return give_access(r, map, all);
}

/* Puts pages in place of a mapping that nothing reaches. With the lock held. */
static CUresult unmap(reservation *r, mapping **link) {
    mapping *gone = *link;
    CUresult result = give_access(r, gone, CU_MEM_ACCESS_FLAGS_PROT_NONE);
    if (result) return result;
    if (mmap(host_of(r, gone->from), gone->size, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) == MAP_FAILED)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *link = gone->next;
    if (gone->memory->shared) lw_cu_multicast_take(gone);
    gone->memory->maps--;
    lw_cu_physical_let_go(gone->memory);
    free(gone);
    return CUDA_SUCCESS;
}

CUresult cuMemUnmap(CUdeviceptr address, size_t size) {
    LW_CU_CALL;
    CUresult result = lw_cu_ready();
    if (result) return result;
    if (!size || !lw_cu_is_granular(address) || !lw_cu_is_granular(size)) return CUDA_ERROR_INVALID_VALUE;
    lw_cu_virtual_drain();
    pthread_mutex_lock(&lw_cu_virtual_lock);
    reservation *r = find_reservation(address, size);
    if (!r || !holds_whole(r, address, size)) result = CUDA_ERROR_INVALID_VALUE;
    else
        for (mapping **link = find_link(r, address); *link && (*link)->from < address + size && !result;)
            result = unmap(r, link);
    pthread_mutex_unlock(&lw_cu_virtual_lock);
    return result;
}

/* ---- Access ---------------------------------------------------------------------------------------------------- */

static CUresult check_access(const CUmemAccessDesc *access, size_t count) {
    for (size_t i = 0; i < count; i++) {
        const CUmemLocation place = access[i].location;
        const unsigned flags = access[i].flags;
        if (place.type < CU_MEM_LOCATION_TYPE_DEVICE || place.type > CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT ||
            (flags && flags != CU_MEM_ACCESS_FLAGS_PROT_READ && flags != CU_MEM_ACCESS_FLAGS_PROT_READWRITE))
            return CUDA_ERROR_INVALID_VALUE;
        if (place.type != CU_MEM_LOCATION_TYPE_DEVICE) return unsupported("the host has no access to it");
        CUresult result = lw_cu_check_device(place.id);
        if (result) return result;
    }
    return CUDA_SUCCESS;
}

CUresult cuMemSetAccess(CUdeviceptr address, size_t size, const CUmemAccessDesc *access, size_t count) {
    LW_CU_CALL;
    CUresult result = lw_cu_ready();
    if (result) return result;
    if (!size || !access || !count) return CUDA_ERROR_INVALID_VALUE;
    if ((result = check_access(access, count))) return result;
    pthread_mutex_lock(&lw_cu_virtual_lock);
    reservation *r = find_reservation(address, size);
    if (!r || !is_mapped(r, address, size)) result = CUDA_ERROR_INVALID_VALUE;
    else
        for (mapping *map = *find_link(r, address); map && map->from < address + size && !result; map = map->next)
            result = set_access(r, map, access, count);
    pthread_mutex_unlock(&lw_cu_virtual_lock);
    return result;
}

CUresult cuMemGetAccess(unsigned long long *flags, const CUmemLocation *place, CUdeviceptr address) {
    LW_CU_CALL;
    CUresult result = lw_cu_ready();
    if (result) return result;
    if (!flags || !place || place->type < CU_MEM_LOCATION_TYPE_DEVICE ||
        place->type > CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT)
        return CUDA_ERROR_INVALID_VALUE;
    const bool on_device = place->type == CU_MEM_LOCATION_TYPE_DEVICE;
    if (on_device && (result = lw_cu_check_device(place->id))) return result;
    pthread_mutex_lock(&lw_cu_virtual_lock);
    const mapping *found = lw_cu_mapping_find(address);
    if (found) *flags = on_device ? found->asked[place->id] : CU_MEM_ACCESS_FLAGS_PROT_NONE;
    pthread_mutex_unlock(&lw_cu_virtual_lock);
    return found ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* ---- Questions, and other processes ---------------------------------------------------------------------------- */

bool lw_cu_virtual_at(uint64_t address, lw_cu_virtual *out) {
    if (!lw_cu_is_virtual(address)) return false;
    pthread_mutex_lock(&lw_cu_virtual_lock);
    const reservation *r = find_reservation(address, 1);
    const mapping *map = r ? lw_cu_mapping_find(address) : NULL;
    *out = (lw_cu_virtual){.from = r ? r->from : 0, .size = r ? r->asked : 0};
    if (map) out->map_from = map->from, out->map_size = map->size, out->access = map->access;
    if (map) out->block = map->memory->number, out->device = map->memory->props.location.id;
    pthread_mutex_unlock(&lw_cu_virtual_lock);
    return r;
}

/* A handle that was given back lives again. With the lock held. */
static CUresult retain(physical *memory) {
    lw_cu_lock();
    const bool known = memory->handles || lw_cu_link(&memory->object, (uintptr_t)memory, LW_CU_PHYSICAL, NULL);
    lw_cu_unlock();
    if (known) memory->handles++;
    return known ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult cuMemRetainAllocationHandle(CUmemGenericAllocationHandle *handle, void *address) {
    LW_CU_CALL;
    CUresult result = lw_cu_ready();
    if (result) return result;
    if (!handle) return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&lw_cu_virtual_lock);
    const mapping *found = lw_cu_mapping_find((uintptr_t)address);
    result = found ? retain(found->memory) : CUDA_ERROR_INVALID_VALUE;
    if (!result) *handle = (uintptr_t)found->memory;
    pthread_mutex_unlock(&lw_cu_virtual_lock);
    return result;
}

CUresult cuMemExportToShareableHandle(void *out, CUmemGenericAllocationHandle handle, CUmemAllocationHandleType type,
                                      unsigned long long flags) {
    LW_CU_CALL;
    CUresult result = lw_cu_ready();
    if (result) return result;
    if (!out || flags || type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&lw_cu_virtual_lock);
    const physical *memory = lw_cu_physical_find(handle);
    const bool may = memory && !memory->shared && memory->props.requestedHandleTypes;
    const int file = may ? fcntl(memory->file, F_DUPFD_CLOEXEC, 0) : -1;
    pthread_mutex_unlock(&lw_cu_virtual_lock);
    if (file < 0) return may ? CUDA_ERROR_OPERATING_SYSTEM : CUDA_ERROR_INVALID_VALUE;
    memcpy(out, &file, sizeof file);
    return CUDA_SUCCESS;
}

/* The device that a file has memory of; -1: it is none of Lanewise's. */
static int device_of_file(int file) {
    char path[64], name[128];
    int device;
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    const ssize_t size = readlink(path, name, sizeof name - 1);
    name[size > 0 ? size : 0] = 0;
    const int seals = fcntl(file, F_GET_SEALS);
    return sscanf(name, "/memfd:" FILE_NAME "%d", &device) == 1 && seals >= 0 && seals & F_SEAL_SHRINK ? device : -1;
}

/* An H200's driver says the same of whatever it has not given away, or not so. */
static CUresult not_ours(int file, const char *why) {
    lw_cu_report(LW_CU_REPORT_ALL, "cuMemImportFromShareableHandle: file descriptor %d %s", file, why);
    return CUDA_ERROR_UNKNOWN;
}

CUresult cuMemImportFromShareableHandle(CUmemGenericAllocationHandle *handle, void *from,
                                        CUmemAllocationHandleType type) {
    LW_CU_CALL;
    CUresult result = lw_cu_ready();
    struct stat about;
    if (result) return result;
    if (!handle || type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) return CUDA_ERROR_INVALID_VALUE;
    const int given = (int)(intptr_t)from;
    const bool there = !fstat(given, &about);
    const int device = there ? device_of_file(given) : -1;
    if (device < 0 || about.st_size <= 0 || !lw_cu_is_granular((uint64_t)about.st_size))
        return not_ours(given, "has no memory of a device in it");
    if ((fcntl(given, F_GETFL) & O_ACCMODE) != O_RDWR) return not_ours(given, "cannot be written through");
    if ((result = lw_cu_check_device(device))) return result;
    const CUmemAllocationProp props = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                       .location = {CU_MEM_LOCATION_TYPE_DEVICE, device}};
    const int file = fcntl(given, F_DUPFD_CLOEXEC, 0);
    if (file < 0) return CUDA_ERROR_OPERATING_SYSTEM;
    return lw_cu_physical_give(make_physical((uint64_t)about.st_size, &props, file, true), handle);
}

CUresult cuMemGetHandleForAddressRange(void *handle, CUdeviceptr address, size_t size, CUmemRangeHandleType type,
                                       unsigned long long flags) {
    LW_CU_CALL;
    (void)type, (void)flags;
    CUresult result = lw_cu_ready();
    if (result) return result;
    if (!handle || !size || !lw_cu_place(address, size)) return CUDA_ERROR_INVALID_VALUE;
    return unsupported("other devices cannot be given any");
}
