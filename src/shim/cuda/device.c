/* device.c: the devices, which are alike: what they are and how much they have. */
#include "shim/cuda/driver.h"

#include <stdio.h>
#include <strings.h>

CUresult cuDriverGetVersion(int *version) {
    LW_CU_CALL;
    if (!version) return CUDA_ERROR_INVALID_VALUE;
    *version = LW_CU_VERSION;
    return CUDA_SUCCESS;
}

CUresult lw_cu_check_device(CUdevice device) {
    CUresult result = lw_cu_ready();
    return result ? result : device < 0 || device >= lw_cu.devices ? CUDA_ERROR_INVALID_DEVICE : CUDA_SUCCESS;
}

CUresult cuDeviceGetCount(int *count) {
    LW_CU_CALL;
    CUresult result = lw_cu_ready();
    if (result) return result;
    if (!count) return CUDA_ERROR_INVALID_VALUE;
    *count = lw_cu.devices;
    return CUDA_SUCCESS;
}

CUresult cuDeviceGet(CUdevice *device, int number) {
    LW_CU_CALL;
    CUresult result = lw_cu_check_device(number);
    if (result) return result;
    if (!device) return CUDA_ERROR_INVALID_VALUE;
    *device = number;
    return CUDA_SUCCESS;
}

/* ---- Names ----------------------------------------------------------------------------------------------------- */

/* The processor as the system names it; an empty string where it does not say. */
static void processor_name(char *name, size_t room) {
    char line[256];
    FILE *file = fopen("/proc/cpuinfo", "r");
    name[0] = 0;
    while (file && !name[0] && fgets(line, sizeof line, file)) {
        char *colon = strchr(line, ':');
        if (!colon || strncmp(line, "model name", 10)) continue;
        colon[strcspn(colon, "\n")] = 0;
        snprintf(name, room, "%s", colon + 1 + strspn(colon + 1, " "));
    }
    if (file) fclose(file);
}

CUresult cuDeviceGetName(char *name, int size, CUdevice device) {
    LW_CU_CALL;
    char processor[128], number[16] = "";
    CUresult result = lw_cu_check_device(device);
    if (result) return result;
    if (!name || size <= 0) return CUDA_ERROR_INVALID_VALUE;
    processor_name(processor, sizeof processor);
    if (lw_cu.devices > 1) snprintf(number, sizeof number, " %d", device);
    snprintf(name, (size_t)size, processor[0] ? "Lanewise%s (%s)" : "Lanewise%s", number, processor);
    return CUDA_SUCCESS;
}

/* The same in every process, so that programs which keep results by device find them again. */
CUresult cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice device) {
    LW_CU_CALL;
    CUresult result = lw_cu_check_device(device);
    if (result) return result;
    if (!uuid) return CUDA_ERROR_INVALID_VALUE;
    char name[sizeof uuid->bytes + 1];
    snprintf(name, sizeof name, "Lanewise sm_%-3u%x", LW_CU_SM % 1000, (unsigned)device & 0xf);
    memcpy(uuid->bytes, name, sizeof uuid->bytes);
    return CUDA_SUCCESS;
}
LW_CU_SAME(cuDeviceGetUuid, cuDeviceGetUuid_v2);

/* A bus for each. */
enum { BUS_SIZE = sizeof "0000:00:00.0" };
static void name_bus(char id[BUS_SIZE], CUdevice device) { snprintf(id, BUS_SIZE, "0000:%02x:00.0", device & 0xff); }

CUresult cuDeviceGetPCIBusId(char *id, int size, CUdevice device) {
    LW_CU_CALL;
    CUresult result = lw_cu_check_device(device);
    if (result) return result;
    if (!id || size < BUS_SIZE) return CUDA_ERROR_INVALID_VALUE;
    name_bus(id, device);
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetByPCIBusId(CUdevice *device, const char *id) {
    LW_CU_CALL;
    CUresult result = lw_cu_ready();
    if (result) return result;
    if (!device || !id) return CUDA_ERROR_INVALID_VALUE;
    for (CUdevice i = 0; i < lw_cu.devices; i++) {
        char bus[BUS_SIZE];
        name_bus(bus, i);
        if (strcasecmp(id, bus) && strcasecmp(id, bus + 5)) continue; /* the domain may be left out */
        *device = i;
        return CUDA_SUCCESS;
    }
    return CUDA_ERROR_INVALID_DEVICE;
}

/* ---- Figures --------------------------------------------------------------------------------------------------- */

CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice device) {
    LW_CU_CALL;
    CUresult result = lw_cu_check_device(device);
    if (result) return result;
    if (!bytes) return CUDA_ERROR_INVALID_VALUE;
    *bytes = lw_cu.device->memory.limit;
    return CUDA_SUCCESS;
}

CUresult cuDeviceTotalMem(unsigned *bytes, CUdevice device) {
    LW_CU_CALL;
    size_t all;
    CUresult result = cuDeviceTotalMem_v2(&all, device);
    if (result) return result;
    if (!bytes) return CUDA_ERROR_INVALID_VALUE;
    *bytes = lw_cu_word(all);
    return CUDA_SUCCESS;
}

static bool attribute_value(CUdevice_attribute attribute, CUdevice device, int *value) {
    int workers = (int)lw_context_threads(lw_cu.device);
    switch (attribute) {
#define ATTRIBUTE(name, number, is) \
    case number: \
        *value = is; \
        return true;
#include "shim/cuda/attributes.def"
#undef ATTRIBUTE
    }
    return false;
}

CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device) {
    LW_CU_CALL;
    CUresult result = lw_cu_check_device(device);
    if (result) return result;
    return value && attribute_value(attribute, device, value) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuDeviceComputeCapability(int *major, int *minor, CUdevice device) {
    LW_CU_CALL;
    CUresult result = lw_cu_check_device(device);
    if (result) return result;
    if (!major || !minor) return CUDA_ERROR_INVALID_VALUE;
    *major = (int)LW_CU_SM / 10;
    *minor = (int)LW_CU_SM % 10;
    return CUDA_SUCCESS;
}

int lw_cu_attribute(CUdevice_attribute attribute) {
    int value = 0;
    attribute_value(attribute, 0, &value);
    return value;
}

CUresult cuDeviceGetProperties(CUdevprop *out, CUdevice device) {
    LW_CU_CALL;
    CUresult result = lw_cu_check_device(device);
    if (result) return result;
    if (!out) return CUDA_ERROR_INVALID_VALUE;
    *out = (CUdevprop){.maxThreadsPerBlock = lw_cu_attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK),
                       .sharedMemPerBlock = lw_cu_attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK),
                       .totalConstantMemory = lw_cu_attribute(CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY),
                       .SIMDWidth = lw_cu_attribute(CU_DEVICE_ATTRIBUTE_WARP_SIZE),
                       .memPitch = lw_cu_attribute(CU_DEVICE_ATTRIBUTE_MAX_PITCH),
                       .regsPerBlock = lw_cu_attribute(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK),
                       .clockRate = lw_cu_attribute(CU_DEVICE_ATTRIBUTE_CLOCK_RATE),
                       .textureAlign = lw_cu_attribute(CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT)};
    for (unsigned i = 0; i < 3; i++) {
        out->maxThreadsDim[i] = lw_cu_attribute(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X + i);
        out->maxGridSize[i] = lw_cu_attribute(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X + i);
    }
    return CUDA_SUCCESS;
}

CUresult cuDeviceCanAccessPeer(int *can, CUdevice device, CUdevice peer) {
    LW_CU_CALL;
    CUresult result = lw_cu_check_device(device);
    if (!result) result = lw_cu_check_device(peer);
    if (result) return result;
    if (!can) return CUDA_ERROR_INVALID_VALUE;
    *can = device != peer;
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetP2PAttribute(int *value, CUdevice_P2PAttribute attribute, CUdevice device, CUdevice peer) {
    LW_CU_CALL;
    CUresult result = lw_cu_check_device(device);
    if (!result) result = lw_cu_check_device(peer);
    if (result) return result;
    if (!value || device == peer) return CUDA_ERROR_INVALID_VALUE;
    switch (attribute) {
    case CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK:
    case CU_DEVICE_P2P_ATTRIBUTE_CUDA_ARRAY_ACCESS_SUPPORTED: *value = 0; return CUDA_SUCCESS;
    case CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED:
    case CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED: *value = 1; return CUDA_SUCCESS;
    default: return CUDA_ERROR_INVALID_VALUE;
    }
}
