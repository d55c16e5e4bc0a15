/* types.h: structures of the CUDA driver API's binary interface, as far as Lanewise reads or writes them.
 *
 * The names go through LW_CU, so that a test can hold these beside those of a real cuda.h. */
#ifndef LW_CU
#define LW_CU(name) name
#endif

typedef struct LW_CU(CUuuid_st) {
    char bytes[16];
} LW_CU(CUuuid);

typedef struct LW_CU(CUdevprop_st) {
    int maxThreadsPerBlock, maxThreadsDim[3], maxGridSize[3];
    int sharedMemPerBlock, totalConstantMemory;
    int SIMDWidth, memPitch, regsPerBlock, clockRate, textureAlign;
} LW_CU(CUdevprop);

typedef union LW_CU(CUlaunchAttributeValue_union) {
    char pad[64];
    int cooperative;
    struct {
        unsigned int x, y, z;
    } clusterDim;
    int priority;
    void *align; /* some attributes hold handles */
} LW_CU(CUlaunchAttributeValue);

typedef struct LW_CU(CUlaunchAttribute_st) {
    unsigned int id;
    char pad[4];
    LW_CU(CUlaunchAttributeValue) value;
} LW_CU(CUlaunchAttribute);

typedef struct LW_CU(CUlaunchConfig_st) {
    unsigned int gridDimX, gridDimY, gridDimZ;
    unsigned int blockDimX, blockDimY, blockDimZ;
    unsigned int sharedMemBytes;
    CUstream hStream;
    LW_CU(CUlaunchAttribute) * attrs;
    unsigned int numAttrs;
} LW_CU(CUlaunchConfig);

typedef union LW_CU(CUstreamBatchMemOpParams_union) {
    unsigned int operation;
    struct {
        unsigned int operation;
        CUdeviceptr address;
        unsigned long long value; /* of 32 bits: the low ones */
        unsigned int flags;
        CUdeviceptr alias;
    } word; /* that is waited for or written */
    unsigned long long pad[6];
} LW_CU(CUstreamBatchMemOpParams);

typedef struct LW_CU(CUmemLocation_st) {
    unsigned int type;
    int id;
} LW_CU(CUmemLocation);

typedef struct LW_CU(CUDA_MEMCPY2D_st) {
    size_t srcXInBytes, srcY;
    unsigned int srcMemoryType;
    const void *srcHost;
    CUdeviceptr srcDevice;
    CUarray srcArray;
    size_t srcPitch;
    size_t dstXInBytes, dstY;
    unsigned int dstMemoryType;
    void *dstHost;
    CUdeviceptr dstDevice;
    CUarray dstArray;
    size_t dstPitch;
    size_t WidthInBytes, Height;
} LW_CU(CUDA_MEMCPY2D);

typedef struct LW_CU(CUDA_MEMCPY3D_st) {
    size_t srcXInBytes, srcY, srcZ, srcLOD;
    unsigned int srcMemoryType;
    const void *srcHost;
    CUdeviceptr srcDevice;
    CUarray srcArray;
    void *reserved0;
    size_t srcPitch, srcHeight;
    size_t dstXInBytes, dstY, dstZ, dstLOD;
    unsigned int dstMemoryType;
    void *dstHost;
    CUdeviceptr dstDevice;
    CUarray dstArray;
    void *reserved1;
    size_t dstPitch, dstHeight;
    size_t WidthInBytes, Height, Depth;
} LW_CU(CUDA_MEMCPY3D);

typedef struct LW_CU(CUDA_MEMCPY3D_PEER_st) {
    size_t srcXInBytes, srcY, srcZ, srcLOD;
    unsigned int srcMemoryType;
    const void *srcHost;
    CUdeviceptr srcDevice;
    CUarray srcArray;
    CUcontext srcContext;
    size_t srcPitch, srcHeight;
    size_t dstXInBytes, dstY, dstZ, dstLOD;
    unsigned int dstMemoryType;
    void *dstHost;
    CUdeviceptr dstDevice;
    CUarray dstArray;
    CUcontext dstContext;
    size_t dstPitch, dstHeight;
    size_t WidthInBytes, Height, Depth;
} LW_CU(CUDA_MEMCPY3D_PEER);

typedef struct LW_CU(CUmemcpyAttributes_st) {
    unsigned int srcAccessOrder;
    LW_CU(CUmemLocation) srcLocHint, dstLocHint;
    unsigned int flags;
} LW_CU(CUmemcpyAttributes);

typedef struct LW_CU(CUmemcpy3DOperand_st) {
    unsigned int type;
    union {
        struct {
            CUdeviceptr ptr;
            size_t rowLength, layerHeight;
            LW_CU(CUmemLocation) locHint;
        } ptr;
        struct {
            CUarray array;
            struct {
                size_t x, y, z;
            } offset;
        } array;
    } op;
} LW_CU(CUmemcpy3DOperand);

typedef struct LW_CU(CUDA_MEMCPY3D_BATCH_OP_st) {
    LW_CU(CUmemcpy3DOperand) src, dst;
    struct {
        size_t width, height, depth;
    } extent;
    unsigned int srcAccessOrder, flags;
} LW_CU(CUDA_MEMCPY3D_BATCH_OP);

typedef struct LW_CU(CUmemAllocationProp_st) {
    unsigned int type, requestedHandleTypes;
    LW_CU(CUmemLocation) location;
    void *win32HandleMetaData;
    struct {
        unsigned char compressionType, gpuDirectRDMACapable;
        unsigned short usage;
        unsigned char reserved[4];
    } allocFlags;
} LW_CU(CUmemAllocationProp);

typedef struct LW_CU(CUmulticastObjectProp_st) {
    unsigned int numDevices;
    size_t size;
    unsigned long long handleTypes, flags;
} LW_CU(CUmulticastObjectProp);

typedef struct LW_CU(CUmemAccessDesc_st) {
    LW_CU(CUmemLocation) location;
    unsigned int flags;
} LW_CU(CUmemAccessDesc);

typedef struct LW_CU(CUmemPoolProps_st) {
    unsigned int allocType, handleTypes;
    LW_CU(CUmemLocation) location;
    void *win32SecurityAttributes;
    size_t maxSize;
    unsigned short usage;
    unsigned char reserved[54];
} LW_CU(CUmemPoolProps);

typedef struct LW_CU(CUmemPoolPtrExportData_st) {
    unsigned char reserved[64];
} LW_CU(CUmemPoolPtrExportData);

typedef struct LW_CU(CUipcEventHandle_st) {
    char reserved[64];
} LW_CU(CUipcEventHandle);

typedef struct LW_CU(CUipcMemHandle_st) {
    char reserved[64];
} LW_CU(CUipcMemHandle);

/* ---- Graphs ---------------------------------------------------------------------------------------------------- */

typedef struct LW_CU(CUgraphEdgeData_st) {
    unsigned char from_port, to_port, type;
    unsigned char reserved[5];
} LW_CU(CUgraphEdgeData);

typedef struct LW_CU(CUDA_KERNEL_NODE_PARAMS_st) {
    CUfunction func;
    unsigned int gridDimX, gridDimY, gridDimZ;
    unsigned int blockDimX, blockDimY, blockDimZ;
    unsigned int sharedMemBytes;
    void **kernelParams, **extra;
} LW_CU(CUDA_KERNEL_NODE_PARAMS_v1);

typedef struct LW_CU(CUDA_KERNEL_NODE_PARAMS_v2_st) {
    CUfunction func;
    unsigned int gridDimX, gridDimY, gridDimZ;
    unsigned int blockDimX, blockDimY, blockDimZ;
    unsigned int sharedMemBytes;
    void **kernelParams, **extra;
    CUkernel kern;
    CUcontext ctx;
} LW_CU(CUDA_KERNEL_NODE_PARAMS);

typedef struct LW_CU(CUDA_MEMCPY_NODE_PARAMS_st) {
    int flags, reserved;
    CUcontext copyCtx;
    LW_CU(CUDA_MEMCPY3D) copyParams;
} LW_CU(CUDA_MEMCPY_NODE_PARAMS);

typedef struct LW_CU(CUDA_MEMSET_NODE_PARAMS_st) {
    CUdeviceptr dst;
    size_t pitch;
    unsigned int value, elementSize;
    size_t width, height;
} LW_CU(CUDA_MEMSET_NODE_PARAMS);

typedef struct LW_CU(CUDA_MEMSET_NODE_PARAMS_v2_st) {
    CUdeviceptr dst;
    size_t pitch;
    unsigned int value, elementSize;
    size_t width, height;
    CUcontext ctx;
} LW_CU(CUDA_MEMSET_NODE_PARAMS_v2);

typedef struct LW_CU(CUDA_HOST_NODE_PARAMS_st) {
    CUhostFn fn;
    void *userData;
} LW_CU(CUDA_HOST_NODE_PARAMS);

typedef struct LW_CU(CUDA_CHILD_GRAPH_NODE_PARAMS_st) {
    CUgraph graph;
    unsigned int ownership;
} LW_CU(CUDA_CHILD_GRAPH_NODE_PARAMS);

typedef struct LW_CU(CUDA_EVENT_WAIT_NODE_PARAMS_st) {
    CUevent event;
} LW_CU(CUDA_EVENT_WAIT_NODE_PARAMS);

typedef struct LW_CU(CUDA_EVENT_RECORD_NODE_PARAMS_st) {
    CUevent event;
} LW_CU(CUDA_EVENT_RECORD_NODE_PARAMS);

typedef struct LW_CU(CUDA_MEM_ALLOC_NODE_PARAMS_v1_st) {
    LW_CU(CUmemPoolProps) poolProps;
    const LW_CU(CUmemAccessDesc) * accessDescs;
    size_t accessDescCount, bytesize;
    CUdeviceptr dptr;
} LW_CU(CUDA_MEM_ALLOC_NODE_PARAMS);

typedef struct LW_CU(CUDA_MEM_FREE_NODE_PARAMS_st) {
    CUdeviceptr dptr;
} LW_CU(CUDA_MEM_FREE_NODE_PARAMS);

typedef struct LW_CU(CUdevResource_st) {
    unsigned int type;
    unsigned char _internal_padding[92];
    union {
        struct {
            unsigned int smCount, minSmPartitionSize, smCoscheduledAlignment;
        } sm;
        unsigned char _oversize[48];
    };
} LW_CU(CUdevResource);

typedef struct LW_CU(CUDA_BATCH_MEM_OP_NODE_PARAMS_v2_st) {
    CUcontext ctx;
    unsigned int count;
    LW_CU(CUstreamBatchMemOpParams) * paramArray;
    unsigned int flags;
} LW_CU(CUDA_BATCH_MEM_OP_NODE_PARAMS);

typedef struct LW_CU(CUDA_CONDITIONAL_NODE_PARAMS) {
    unsigned long long handle;
    unsigned int type, size;
    CUgraph *phGraph_out;
    CUcontext ctx;
} LW_CU(CUDA_CONDITIONAL_NODE_PARAMS);

typedef struct LW_CU(CUgraphNodeParams_st) {
    unsigned int type;
    int reserved0[3];
    union {
        long long reserved1[29];
        LW_CU(CUDA_KERNEL_NODE_PARAMS) kernel;
        LW_CU(CUDA_MEMCPY_NODE_PARAMS) memcpy;
        LW_CU(CUDA_MEMSET_NODE_PARAMS_v2) memset;
        LW_CU(CUDA_HOST_NODE_PARAMS) host;
        LW_CU(CUDA_CHILD_GRAPH_NODE_PARAMS) graph;
        LW_CU(CUDA_EVENT_WAIT_NODE_PARAMS) eventWait;
        LW_CU(CUDA_EVENT_RECORD_NODE_PARAMS) eventRecord;
        LW_CU(CUDA_MEM_ALLOC_NODE_PARAMS) alloc;
        LW_CU(CUDA_MEM_FREE_NODE_PARAMS) free;
        LW_CU(CUDA_BATCH_MEM_OP_NODE_PARAMS) memOp;
        LW_CU(CUDA_CONDITIONAL_NODE_PARAMS) conditional;
    };
    long long reserved2;
} LW_CU(CUgraphNodeParams);

typedef struct LW_CU(CUDA_GRAPH_INSTANTIATE_PARAMS_st) {
    uint64_t flags;
    CUstream hUploadStream;
    CUgraphNode hErrNode_out;
    unsigned int result_out;
} LW_CU(CUDA_GRAPH_INSTANTIATE_PARAMS);

typedef struct LW_CU(CUgraphExecUpdateResultInfo_st) {
    unsigned int result;
    CUgraphNode errorNode, errorFromNode;
} LW_CU(CUgraphExecUpdateResultInfo);

/* ---- Arrays, textures and surfaces ----------------------------------------------------------------------------- */

typedef struct LW_CU(CUDA_ARRAY_DESCRIPTOR_st) {
    size_t Width, Height;
    unsigned int Format, NumChannels;
} LW_CU(CUDA_ARRAY_DESCRIPTOR);

typedef struct LW_CU(CUDA_ARRAY3D_DESCRIPTOR_st) {
    size_t Width, Height, Depth;
    unsigned int Format, NumChannels, Flags;
} LW_CU(CUDA_ARRAY3D_DESCRIPTOR);

typedef struct LW_CU(CUDA_ARRAY_MEMORY_REQUIREMENTS_st) {
    size_t size, alignment;
    unsigned int reserved[4];
} LW_CU(CUDA_ARRAY_MEMORY_REQUIREMENTS);

typedef struct LW_CU(CUDA_ARRAY_SPARSE_PROPERTIES_st) {
    struct {
        unsigned int width, height, depth;
    } tileExtent;
    unsigned int miptailFirstLevel;
    unsigned long long miptailSize;
    unsigned int flags;
    unsigned int reserved[4];
} LW_CU(CUDA_ARRAY_SPARSE_PROPERTIES);

typedef struct LW_CU(CUDA_RESOURCE_DESC_st) {
    unsigned int resType;
    union {
        struct {
            CUarray hArray;
        } array;
        struct {
            CUmipmappedArray hMipmappedArray;
        } mipmap;
        struct {
            CUdeviceptr devPtr;
            unsigned int format, numChannels;
            size_t sizeInBytes;
        } linear;
        struct {
            CUdeviceptr devPtr;
            unsigned int format, numChannels;
            size_t width, height, pitchInBytes;
        } pitch2D;
        int reserved[32];
    } res;
    unsigned int flags;
} LW_CU(CUDA_RESOURCE_DESC);

typedef struct LW_CU(CUDA_TEXTURE_DESC_st) {
    unsigned int addressMode[3];
    unsigned int filterMode, flags, maxAnisotropy, mipmapFilterMode;
    float mipmapLevelBias, minMipmapLevelClamp, maxMipmapLevelClamp;
    float borderColor[4];
    int reserved[12];
} LW_CU(CUDA_TEXTURE_DESC);

typedef struct LW_CU(CUDA_RESOURCE_VIEW_DESC_st) {
    unsigned int format;
    size_t width, height, depth;
    unsigned int firstMipmapLevel, lastMipmapLevel, firstLayer, lastLayer;
    unsigned int reserved[16];
} LW_CU(CUDA_RESOURCE_VIEW_DESC);

typedef struct LW_CU(CUtensorMap_st) {
    _Alignas(128) unsigned long long opaque[16];
} LW_CU(CUtensorMap);
