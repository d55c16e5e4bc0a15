/* abi.h: nvJitLink's binary interface, declared from its public description. tests/cuda/compare_nvjitlink.c holds it
 * against a real nvJitLink.h where one is installed. */
#ifndef LW_SHIM_NVJITLINK_ABI_H
#define LW_SHIM_NVJITLINK_ABI_H

#include <stddef.h>
#include <stdint.h>

#ifndef LW_NVJITLINK_COMPARE
typedef unsigned int nvJitLinkResult, nvJitLinkInputType; /* enumerations travel as plain words */
enum {
#define CONSTANT(name, value) name = value,
#include "shim/nvjitlink/constants.def"
#undef CONSTANT
};
#endif
typedef struct nvJitLink *nvJitLinkHandle;

/* Each is exported under its name, and under that with the version of a header. */
#define ENTRIES(ENTRY, with) \
    ENTRY(Create, with, (nvJitLinkHandle * handle, uint32_t count, const char *const *options)) \
    ENTRY(Destroy, with, (nvJitLinkHandle * handle)) \
    ENTRY(AddData, with, \
          (nvJitLinkHandle handle, nvJitLinkInputType type, const void *data, size_t size, const char *name)) \
    ENTRY(AddFile, with, (nvJitLinkHandle handle, nvJitLinkInputType type, const char *path)) \
    ENTRY(Complete, with, (nvJitLinkHandle handle)) \
    ENTRY(GetLinkedCubinSize, with, (nvJitLinkHandle handle, size_t * size)) \
    ENTRY(GetLinkedCubin, with, (nvJitLinkHandle handle, void *cubin)) \
    ENTRY(GetLinkedPtxSize, with, (nvJitLinkHandle handle, size_t * size)) \
    ENTRY(GetLinkedPtx, with, (nvJitLinkHandle handle, char *ptx)) \
    ENTRY(GetErrorLogSize, with, (nvJitLinkHandle handle, size_t * size)) \
    ENTRY(GetErrorLog, with, (nvJitLinkHandle handle, char *log)) \
    ENTRY(GetInfoLogSize, with, (nvJitLinkHandle handle, size_t * size)) \
    ENTRY(GetInfoLog, with, (nvJitLinkHandle handle, char *log))

#pragma GCC visibility push(default)
nvJitLinkResult nvJitLinkVersion(unsigned int *major, unsigned int *minor);
#ifndef LW_NVJITLINK_COMPARE
#define ENTRY(name, with, parameters) nvJitLinkResult nvJitLink##name parameters;
ENTRIES(ENTRY, )
#undef ENTRY
#endif
#pragma GCC visibility pop

#endif
