/* properties.c: what a device is, in one structure. */
#include "shim/cudart/runtime.h"

#include <string.h>

/* So many attributes from one on; those that the driver does not know stay 0. */
static int ask(int device, unsigned attribute) {
    int value = 0;
    return lw_driver.cuDeviceGetAttribute(&value, attribute, device) ? 0 : value;
}

static void ask_some(int device, int *values, unsigned count, unsigned attribute) {
    for (unsigned i = 0; i < count; i++) values[i] = ask(device, attribute + i);
}

static void fill(struct cudaDeviceProp *to, int device) {
#define FIELD(type, name, size)        /* below */
#define VALUE(type, name, attribute)   to->name = (type)ask(device, attribute);
#define VALUES(name, count, attribute) ask_some(device, to->name, count, attribute);
#ifdef LW_RT_BEFORE13
#define OLD VALUE
#define NEW FIELD
#else
#define OLD FIELD
#define NEW VALUE
#endif
#include "shim/cudart/properties.def"
}

cudaError_t LW_RT_V2(cudaGetDeviceProperties)(struct cudaDeviceProp *properties, int device) {
    struct cudaDeviceProp made;
    const cudaError_t error = lw_rt_ready();
    if (error) return lw_rt_end(error);
    if (!properties) return lw_rt_end(cudaErrorInvalidValue);
    memset(&made, 0, sizeof made); /* the bytes between its fields, too */
    CUresult result = lw_driver.cuDeviceGetName(made.name, sizeof made.name, device);
    if (!result) result = lw_driver.cuDeviceGetUuid_v2(made.uuid, device);
    if (!result) result = lw_driver.cuDeviceTotalMem_v2(&made.totalGlobalMem, device);
    if (result) return lw_rt_end_driver(result);
    fill(&made, device);
    *properties = made;
    return cudaSuccess;
}
