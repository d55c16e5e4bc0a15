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
