/* device.c: the one device: what it is and how much it has. */
#include "shim/cuda/driver.h"

#include <stdio.h>

CUresult cuDriverGetVersion(int *version) {
    if (!version) return CUDA_ERROR_INVALID_VALUE;
    *version = LW_CU_VERSION;
    return CUDA_SUCCESS;
}

CUresult lw_cu_check_device(CUdevice device) {
    CUresult result = lw_cu_ready();
    return result ? result : device ? CUDA_ERROR_INVALID_DEVICE : CUDA_SUCCESS;
}

CUresult cuDeviceGetCount(int *count) {
    CUresult result = lw_cu_ready();
    if (result) return result;
    if (!count) return CUDA_ERROR_INVALID_VALUE;
    *count = 1;
    return CUDA_SUCCESS;
}

CUresult cuDeviceGet(CUdevice *device, int number) {
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
    char processor[128];
    CUresult result = lw_cu_check_device(device);
    if (result) return result;
    if (!name || size <= 0) return CUDA_ERROR_INVALID_VALUE;
    processor_name(processor, sizeof processor);
    snprintf(name, (size_t)size, processor[0] ? "Lanewise (%s)" : "Lanewise", processor);
    return CUDA_SUCCESS;
}

/* The same in every process, so that programs which keep results by device find them again. */
CUresult cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice device) {
    CUresult result = lw_cu_check_device(device);
    if (result) return result;
    if (!uuid) return CUDA_ERROR_INVALID_VALUE;
    memcpy(uuid->bytes, "Lanewise sm_90 0", sizeof uuid->bytes);
    return CUDA_SUCCESS;
}
LW_CU_SAME(cuDeviceGetUuid, cuDeviceGetUuid_v2);

static const char bus[] = "0000:00:00.0";

CUresult cuDeviceGetPCIBusId(char *id, int size, CUdevice device) {
    CUresult result = lw_cu_check_device(device);
    if (result) return result;
    if (!id || size < (int)sizeof bus) return CUDA_ERROR_INVALID_VALUE;
    memcpy(id, bus, sizeof bus);
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetByPCIBusId(CUdevice *device, const char *id) {
    CUresult result = lw_cu_ready();
    if (result) return result;
    if (!device || !id) return CUDA_ERROR_INVALID_VALUE;
    if (strcmp(id, bus) && strcmp(id, bus + 5)) return CUDA_ERROR_INVALID_DEVICE; /* the domain may be left out */
    *device = 0;
    return CUDA_SUCCESS;
}

/* ---- Figures --------------------------------------------------------------------------------------------------- */

CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice device) {
    CUresult result = lw_cu_check_device(device);
    if (result) return result;
    if (!bytes) return CUDA_ERROR_INVALID_VALUE;
    *bytes = lw_cu.device->memory.limit;
    return CUDA_SUCCESS;
}

CUresult cuDeviceTotalMem(unsigned *bytes, CUdevice device) {
    size_t all;
    CUresult result = cuDeviceTotalMem_v2(&all, device);
    if (result) return result;
    if (!bytes) return CUDA_ERROR_INVALID_VALUE;
    *bytes = lw_cu_word(all);
    return CUDA_SUCCESS;
}

static bool attribute_value(CUdevice_attribute attribute, int *value) {
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
    CUresult result = lw_cu_check_device(device);
    if (result) return result;
    return value && attribute_value(attribute, value) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuDeviceComputeCapability(int *major, int *minor, CUdevice device) {
    CUresult result = lw_cu_check_device(device);
    if (result) return result;
    if (!major || !minor) return CUDA_ERROR_INVALID_VALUE;
    *major = LW_CU_SM / 10;
    *minor = LW_CU_SM % 10;
    return CUDA_SUCCESS;
}

static int number(CUdevice_attribute attribute) {
    int value = 0;
    attribute_value(attribute, &value);
    return value;
}

CUresult cuDeviceGetProperties(CUdevprop *out, CUdevice device) {
    CUresult result = lw_cu_check_device(device);
    if (result) return result;
    if (!out) return CUDA_ERROR_INVALID_VALUE;
    *out = (CUdevprop){.maxThreadsPerBlock = number(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK),
                       .sharedMemPerBlock = number(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK),
                       .totalConstantMemory = number(CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY),
                       .SIMDWidth = number(CU_DEVICE_ATTRIBUTE_WARP_SIZE),
                       .memPitch = number(CU_DEVICE_ATTRIBUTE_MAX_PITCH),
                       .regsPerBlock = number(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK),
                       .clockRate = number(CU_DEVICE_ATTRIBUTE_CLOCK_RATE),
                       .textureAlign = number(CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT)};
    for (unsigned i = 0; i < 3; i++) {
        out->maxThreadsDim[i] = number(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X + i);
        out->maxGridSize[i] = number(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X + i);
    }
    return CUDA_SUCCESS;
}

CUresult cuDeviceCanAccessPeer(int *can, CUdevice device, CUdevice peer) {
    CUresult result = lw_cu_check_device(device);
    if (!result) result = lw_cu_check_device(peer);
    if (result) return result;
    if (!can) return CUDA_ERROR_INVALID_VALUE;
    *can = 0;
    return CUDA_SUCCESS;
}
