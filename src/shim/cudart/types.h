/* types.h: structures of the CUDA runtime API's binary interface, as far as Lanewise reads or writes them.
 *
 * The tags go through LW_RT, so that a test can hold these beside those of a real driver_types.h. */
#ifndef LW_RT
#define LW_RT(name) name
#endif

typedef struct LW_RT(dim3) {
    unsigned x, y, z;
} LW_RT(dim3);

struct LW_RT(cudaExtent) {
    size_t width, height, depth;
};

struct LW_RT(cudaPos) {
    size_t x, y, z;
};

struct LW_RT(cudaPitchedPtr) {
    void *ptr;
    size_t pitch, xsize, ysize;
};

struct LW_RT(cudaChannelFormatDesc) {
    int x, y, z, w;
    unsigned f;
};

typedef struct LW_RT(cudaIpcMemHandle_st) {
    char reserved[64];
} LW_RT(cudaIpcMemHandle_t);

typedef struct LW_RT(cudaIpcEventHandle_st) {
    char reserved[64];
} LW_RT(cudaIpcEventHandle_t);

struct LW_RT(cudaMemLocation) {
    unsigned type;
    int id;
};

struct LW_RT(cudaMemcpy3DParms) {
    void *srcArray;
    struct LW_RT(cudaPos) srcPos;
    struct LW_RT(cudaPitchedPtr) srcPtr;
    void *dstArray;
    struct LW_RT(cudaPos) dstPos;
    struct LW_RT(cudaPitchedPtr) dstPtr;
    struct LW_RT(cudaExtent) extent;
    unsigned kind;
};

struct LW_RT(cudaMemcpy3DPeerParms) {
    void *srcArray;
    struct LW_RT(cudaPos) srcPos;
    struct LW_RT(cudaPitchedPtr) srcPtr;
    int srcDevice;
    void *dstArray;
    struct LW_RT(cudaPos) dstPos;
    struct LW_RT(cudaPitchedPtr) dstPtr;
    int dstDevice;
    struct LW_RT(cudaExtent) extent;
};

struct LW_RT(cudaPointerAttributes) {
    unsigned type;
    int device;
    void *devicePointer, *hostPointer;
#ifndef LW_RT_BEFORE13
    long reserved[8];
#endif
};

struct LW_RT(cudaFuncAttributes) {
    size_t sharedSizeBytes, constSizeBytes, localSizeBytes;
    int maxThreadsPerBlock, numRegs, ptxVersion, binaryVersion, cacheModeCA, maxDynamicSharedSizeBytes;
    int preferredShmemCarveout, clusterDimMustBeSet, requiredClusterWidth, requiredClusterHeight;
    int requiredClusterDepth, clusterSchedulingPolicyPreference, nonPortableClusterSizeAllowed;
    int reserved[16];
};

struct LW_RT(cudaKernelNodeParams) {
    void *func;
    LW_RT(dim3) gridDim, blockDim;
    unsigned sharedMemBytes;
    void **kernelParams, **extra;
};

struct LW_RT(cudaMemsetParams) {
    void *dst;
    size_t pitch;
    unsigned value, elementSize;
    size_t width, height;
};

struct LW_RT(cudaHostNodeParams) {
    void (*fn)(void *user);
    void *userData;
};

typedef struct LW_RT(cudaLaunchConfig_st) {
    LW_RT(dim3) gridDim, blockDim;
    size_t dynamicSmemBytes;
    struct CUstream_st *stream;
    void *attrs; /* as the driver has them */
    unsigned numAttrs;
} LW_RT(cudaLaunchConfig_t);

struct LW_RT(cudaResourceDesc) {
    unsigned resType;
    union {
        struct {
            struct cudaArray *array;
        } array;
        struct {
            struct cudaMipmappedArray *mipmap;
        } mipmap;
        struct {
            void *devPtr;
            struct LW_RT(cudaChannelFormatDesc) desc;
            size_t sizeInBytes;
        } linear;
        struct {
            void *devPtr;
            struct LW_RT(cudaChannelFormatDesc) desc;
            size_t width, height, pitchInBytes;
        } pitch2D;
        int reserved[32];
    } res;
    unsigned flags;
};

struct LW_RT(cudaResourceViewDesc) {
    unsigned format;
    size_t width, height, depth;
    unsigned firstMipmapLevel, lastMipmapLevel, firstLayer, lastLayer;
    unsigned reserved[16];
};

struct LW_RT(cudaTextureDesc) {
    unsigned addressMode[3];
    unsigned filterMode, readMode;
    int sRGB;
    float borderColor[4];
    int normalizedCoords;
    unsigned maxAnisotropy, mipmapFilterMode;
    float mipmapLevelBias, minMipmapLevelClamp, maxMipmapLevelClamp;
    int disableTrilinearOptimization, seamlessCubemap;
};

#ifdef LW_RT_BEFORE13
#define OLD(type, name, attribute) type name;
#define NEW(type, name, attribute)
enum { LW_RT_PROPERTIES_RESERVED = 63 };
#else
#define OLD(type, name, attribute)
#define NEW(type, name, attribute) type name;
enum { LW_RT_PROPERTIES_RESERVED = 56 };
#endif
struct LW_RT(cudaDeviceProp) {
#define FIELD(type, name, size)        type name size;
#define VALUE(type, name, attribute)   type name;
#define VALUES(name, count, attribute) int name[count];
#include "shim/cudart/properties.def"
#undef FIELD
#undef VALUE
#undef VALUES
    int reserved[LW_RT_PROPERTIES_RESERVED];
};
#undef OLD
#undef NEW
