/* virtual.c: addresses and memory apart, and mapped. Like driver.c it can be run with a GPU's driver. */
#include "expect.h"

#include <stdbool.h>
#include <stdlib.h>

static bool ours;
static CUfunction bump;
static const char *ptx = ".version 7.8\n.target sm_70\n.address_size 64\n"
                         ".visible .entry bump(.param .u64 data)\n{\n.reg .b32 %r<5>;\n.reg .b64 %d<3>;\n"
                         "ld.param.u64 %d0, [data];\nmov.u32 %r0, %ctaid.x;\nmov.u32 %r1, %ntid.x;\n"
                         "mov.u32 %r2, %tid.x;\nmad.lo.u32 %r0, %r0, %r1, %r2;\nmul.wide.u32 %d1, %r0, 4;\n"
                         "add.u64 %d0, %d0, %d1;\nld.global.u32 %r3, [%d0];\nadd.u32 %r3, %r3, %r0;\n"
                         "st.global.u32 [%d0], %r3;\nret;\n}\n";

static const CUmemAllocationProp props = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                          .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}};
static const CUmemAccessDesc write_access = {{CU_MEM_LOCATION_TYPE_DEVICE, 0}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE},
                             no_access = {{CU_MEM_LOCATION_TYPE_DEVICE, 0}, CU_MEM_ACCESS_FLAGS_PROT_NONE},
                             read_access = {{CU_MEM_LOCATION_TYPE_DEVICE, 0}, CU_MEM_ACCESS_FLAGS_PROT_READ};
static size_t unit;

static unsigned at(CUdeviceptr address) {
    unsigned value = 0xdead;
    OK(cuMemcpyDtoH_v2(&value, address, sizeof value));
    return value;
}

/* Two pieces of memory side by side are one to copies and kernels; either may be somewhere else as well. */
static void pieces(void) {
    CUmemGenericAllocationHandle one, two;
    CUdeviceptr from = 0, twice = 0;
    unsigned *bytes = malloc(2 * unit);
    unsigned long long flags = 0;
    OK(cuMemCreate(&one, unit, &props, 0));
    OK(cuMemCreate(&two, unit, &props, 0));
    OK(cuMemAddressReserve(&from, 4 * unit, 0, 0, 0));
    EXPECT(from % unit == 0);
    OK(cuMemAddressReserve(&twice, unit, 0, 0, 0));
    OK(cuMemMap(from + unit, unit, 0, one, 0));
    OK(cuMemMap(from + 2 * unit, unit, 0, two, 0));
    if (ours) GIVES(CUDA_ERROR_INVALID_VALUE, cuMemcpyDtoH_v2(bytes, from + unit, 4)); /* not yet */
    OK(cuMemSetAccess(from + unit, 2 * unit, &write_access, 1));
    OK(cuMemGetAccess(&flags, &props.location, from + unit));
    EXPECT(flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    for (unsigned i = 0; i < 2 * unit / 4; i++) bytes[i] = i;
    OK(cuMemcpyHtoD_v2(from + unit, bytes, 2 * unit)); /* across */
    CUdeviceptr middle = from + 2 * unit - 200;
    OK(cuLaunchKernel(bump, 1, 1, 1, 100, 1, 1, 0, NULL, (void *[]){&middle}, NULL));
    OK(cuMemcpyDtoH_v2(bytes, middle, 400));
    const unsigned first = (unsigned)((unit - 200) / 4);
    for (unsigned i = 0; i < 100; i++) EXPECT(bytes[i] == first + 2 * i);
    CUdeviceptr base = 0;
    size_t size = 0;
    OK(cuMemGetAddressRange_v2(&base, &size, middle));
    EXPECT(base == from + unit && size == unit);
    OK(cuMemMap(twice, unit, 0, two, 0));
    OK(cuMemSetAccess(twice, unit, &write_access, 1));
    EXPECT(at(twice) == first + 2 * 50 && at(twice + 400) == unit / 4 + 100);
    OK(cuMemsetD32_v2(twice + 400, 77, 1));
    OK(cuCtxSynchronize());
    EXPECT(at(from + 2 * unit + 400) == 77);
    OK(cuMemUnmap(from + unit, 2 * unit));
    OK(cuMemMap(from, unit, 0, one, 0)); /* it is what it was in another place */
    OK(cuMemSetAccess(from, unit, &write_access, 1));
    EXPECT(at(from + 4) == 1);
    OK(cuMemRelease(one));
    OK(cuMemRelease(two));
    EXPECT(at(twice + 400) == 77); /* held by where it is mapped */
    OK(cuMemUnmap(from, unit));
    OK(cuMemUnmap(twice, unit));
    OK(cuMemAddressFree(from, 4 * unit));
    OK(cuMemAddressFree(twice, unit));
    free(bytes);
}

static void questions(void) {
    CUmemGenericAllocationHandle handle, again = 0;
    CUmemAllocationProp back;
    CUdeviceptr from = 0, base = 0;
    size_t size = 0, before, after, total;
    unsigned mapped = 99;
    unsigned long long flags = 9;
    OK(cuMemGetInfo_v2(&before, &total));
    OK(cuMemCreate(&handle, 3 * unit, &props, 0));
    OK(cuMemGetInfo_v2(&after, &total));
    EXPECT(before - after >= 3 * unit);
    OK(cuMemGetAllocationPropertiesFromHandle(&back, handle));
    EXPECT(back.type == CU_MEM_ALLOCATION_TYPE_PINNED && back.location.type == CU_MEM_LOCATION_TYPE_DEVICE);
    OK(cuMemAddressReserve(&from, 8 * unit, 0, 0, 0));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuPointerGetAttribute(&mapped, CU_POINTER_ATTRIBUTE_MAPPED, from + unit));
    OK(cuMemMap(from + 2 * unit, 3 * unit, 0, handle, 0));
    OK(cuMemSetAccess(from + 2 * unit, 3 * unit, &write_access, 1));
    OK(cuPointerGetAttribute(&mapped, CU_POINTER_ATTRIBUTE_MAPPED, from + 2 * unit));
    EXPECT(mapped == 1);
    OK(cuPointerGetAttribute(&base, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, from + 3 * unit));
    OK(cuPointerGetAttribute(&size, CU_POINTER_ATTRIBUTE_RANGE_SIZE, from + 3 * unit));
    if (ours) EXPECT(base == from && size == 8 * unit);
    OK(cuPointerGetAttribute(&base, CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR, from + 3 * unit));
    OK(cuPointerGetAttribute(&size, CU_POINTER_ATTRIBUTE_MAPPING_SIZE, from + 3 * unit));
    EXPECT(base == from + 2 * unit && size == 3 * unit);
    OK(cuMemGetAddressRange_v2(&base, &size, from + 3 * unit));
    EXPECT(base == from + 2 * unit && size == 3 * unit);
    if (ours) GIVES(CUDA_ERROR_NOT_FOUND, cuMemGetAddressRange_v2(&base, &size, from));
    OK(cuMemRetainAllocationHandle(&again, (void *)(uintptr_t)(from + 3 * unit)));
    EXPECT(again == handle);
    OK(cuMemRelease(again));
    OK(cuMemSetAccess(from + 2 * unit, 3 * unit, &read_access, 1));
    OK(cuMemGetAccess(&flags, &props.location, from + 4 * unit));
    EXPECT(flags == CU_MEM_ACCESS_FLAGS_PROT_READ);
    EXPECT(at(from + 4 * unit) == 0);
    OK(cuMemSetAccess(from + 2 * unit, 3 * unit, &no_access, 1));
    OK(cuMemGetAccess(&flags, &props.location, from + 4 * unit));
    EXPECT(flags == CU_MEM_ACCESS_FLAGS_PROT_NONE);
    if (ours) {
        unsigned word;
        GIVES(CUDA_ERROR_INVALID_VALUE, cuMemcpyDtoH_v2(&word, from + 4 * unit, 4));
        OK(cuMemRelease(handle)); /* its only one; from its address it can be had again */
        GIVES(CUDA_ERROR_INVALID_VALUE, cuMemRelease(handle));
        OK(cuMemRetainAllocationHandle(&again, (void *)(uintptr_t)(from + 3 * unit)));
        handle = again;
    }
    OK(cuMemUnmap(from + 2 * unit, 3 * unit));
    OK(cuMemRelease(handle));
    OK(cuMemAddressFree(from, 8 * unit));
    OK(cuMemGetInfo_v2(&after, &total));
    EXPECT(!ours || after == before);
}

static void refused(void) {
    CUmemGenericAllocationHandle handle;
    CUmemAllocationProp other = props;
    CUdeviceptr from = 0, wrong = 0;
    size_t size;
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemAddressReserve(&from, 0, 0, 0, 0));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemAddressReserve(&from, unit, 3, 0, 0));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemAddressReserve(&from, unit + 1, 0, 0, 0));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemCreate(&handle, unit + 1, &props, 0));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemCreate(&handle, unit, NULL, 0));
    other.type = 0;
    OK(cuMemGetAllocationGranularity(&size, &other, 0)); /* of all memory of the place */
    EXPECT(size == unit);
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemCreate(&handle, unit, &other, 0));
    other = props, other.location.id = 99;
    GIVES(CUDA_ERROR_INVALID_DEVICE, cuMemCreate(&handle, unit, &other, 0));
    OK(cuMemCreate(&handle, unit, &props, 0));
    OK(cuMemAddressReserve(&from, 4 * unit, 4 * unit, 0, 0));
    EXPECT(from % (4 * unit) == 0);
    GIVES(CUDA_ERROR_NOT_SUPPORTED, cuMemMap(from, unit, unit, handle, 0));
    GIVES(CUDA_ERROR_NOT_SUPPORTED, cuMemMap(from, 2 * unit, 0, handle, 0)); /* more than there is */
    OK(cuMemUnmap(from, unit));                                              /* nothing */
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemSetAccess(from, unit, &write_access, 1));
    OK(cuMemMap(from, unit, 0, handle, 0));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemMap(from, unit, 0, handle, 0));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemSetAccess(from, 2 * unit, &write_access, 1)); /* not all of it is there */
    if (ours) {
        GIVES(CUDA_ERROR_INVALID_VALUE, cuMemAddressFree(from, 4 * unit)); /* something is mapped */
        GIVES(CUDA_ERROR_INVALID_VALUE, cuMemUnmap(from, unit / 2));
        GIVES(CUDA_ERROR_INVALID_VALUE, cuMemUnmap(from, 8 * unit));
        GIVES(CUDA_ERROR_INVALID_VALUE, cuMemMap(from + 4 * unit, unit, 0, handle, 0));
        GIVES(CUDA_ERROR_INVALID_VALUE, cuMemMap(from + unit, unit, 0, (uintptr_t)&handle, 0));
        GIVES(CUDA_ERROR_INVALID_VALUE, cuMemRelease((uintptr_t)&handle));
        GIVES(CUDA_ERROR_INVALID_VALUE, cuMemRetainAllocationHandle(&handle, &handle));
        GIVES(CUDA_ERROR_OUT_OF_MEMORY, cuMemAddressReserve(&wrong, (size_t)1 << 60, 0, 0, 0));
        GIVES(CUDA_ERROR_OUT_OF_MEMORY, cuMemCreate(&(CUmemGenericAllocationHandle){0}, (size_t)1 << 50, &props, 0));
        other = props, other.requestedHandleTypes = 8;
        GIVES(CUDA_ERROR_NOT_SUPPORTED, cuMemCreate(&wrong, unit, &other, 0));
        GIVES(CUDA_ERROR_INVALID_VALUE, cuMemFree_v2(from));
    }
    OK(cuMemUnmap(from, unit));
    OK(cuMemRelease(handle));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemAddressFree(from, unit));
    OK(cuMemAddressFree(from, 4 * unit));
}

int main(void) {
    CUcontext context;
    CUmodule module;
    OK(cuInit(0));
    ours = is_ours();
    OK(cuCtxCreate_v2(&context, 0, 0));
    OK(cuModuleLoadData(&module, ptx));
    OK(cuModuleGetFunction(&bump, module, "bump"));
    OK(cuMemGetAllocationGranularity(&unit, &props, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    EXPECT(unit && (unit & (unit - 1)) == 0);
    pieces();
    questions();
    refused();
    OK(cuCtxDestroy_v2(context));
    return faults != 0;
}
