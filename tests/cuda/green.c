/* green.c: multiprocessors that are split, and green contexts, whose streams are the primary context's. */
#include "order.h"

/* until: waits for a word that is not 0. */
static const char *ptx = HEAD_PTX
    ".visible .entry until(.param .u64 flag)\n{\n.reg .b64 %d<4>;\n.reg .b32 %r;\n.reg .pred %p<2>;\n"
    "ld.param.u64 %d0, [flag];\nmov.u64 %d1, %globaltimer;\nadd.u64 %d1, %d1, 20000000000;\n"
    "again:\nld.volatile.global.u32 %r, [%d0];\nmov.u64 %d3, %globaltimer;\nsetp.ne.u32 %p0, %r, 0;\n"
    "setp.gt.u64 %p1, %d3, %d1;\nor.pred %p0, %p0, %p1;\n@!%p0 bra again;\nret;\n}\n" STEP_PTX;

static CUdevResource all;

static void splits(void) {
    CUdevResource parts[2], rest;
    CUdevResourceDesc desc;
    unsigned count = 0, most = 0;
    const unsigned least = all.sm.minSmPartitionSize;
    OK(cuDevSmResourceSplitByCount(NULL, &most, &all, NULL, 0, least)); /* how many there would be */
    EXPECT(most >= 2 && most * least <= all.sm.smCount);
    count = 2;
    OK(cuDevSmResourceSplitByCount(parts, &count, &all, &rest, 0, least));
    EXPECT(count == 2 && parts[0].sm.smCount >= least && parts[0].sm.smCount == parts[1].sm.smCount);
    EXPECT(parts[0].type == CU_DEV_RESOURCE_TYPE_SM && rest.sm.smCount == all.sm.smCount - 2 * parts[0].sm.smCount);
    OK(cuDevResourceGenerateDesc(&desc, parts, 2));
    GIVES(CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION,
          cuDevSmResourceSplitByCount(parts, &count, &all, &rest, 0, all.sm.smCount + 1));
    EXPECT(count == 2);
    GIVES(CUDA_ERROR_INVALID_VALUE, cuDevSmResourceSplitByCount(parts, NULL, &all, &rest, 0, 1));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuDevSmResourceSplitByCount(parts, &count, NULL, &rest, 0, 1));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuDevResourceGenerateDesc(NULL, parts, 1));
    if (ours) GIVES(CUDA_ERROR_INVALID_VALUE, cuDevResourceGenerateDesc(&desc, parts, 0)); /* an H200's driver dies */
    GIVES(CUDA_ERROR_INVALID_RESOURCE_TYPE, cuDevResourceGenerateDesc(&desc, &(CUdevResource){0}, 1));
}

/* Events of a green context are those of its streams alone; the whole context's are all. */
static void events(CUgreenCtx green, CUcontext primary, CUstream of_green, CUstream apart) {
    CUevent part, whole;
    CUdeviceptr flag = shared, other = shared + 4;
    unsigned by = 1;
    OK(cuEventCreate(&part, 0));
    OK(cuEventCreate(&whole, 0));
    reset();
    OK(cuLaunchKernel(until, 1, 1, 1, 1, 1, 1, 0, of_green, (void *[]){&flag}, NULL));
    OK(cuLaunchKernel(until, 1, 1, 1, 1, 1, 1, 0, apart, (void *[]){&other}, NULL));
    OK(cuGreenCtxRecordEvent(green, part));
    OK(cuCtxRecordEvent(primary, whole));
    GIVES(CUDA_ERROR_NOT_READY, cuEventQuery(part));
    own[0] = 1;
    OK(cuEventSynchronize(part));
    GIVES(CUDA_ERROR_NOT_READY, cuEventQuery(whole));
    own[1] = 1;
    OK(cuEventSynchronize(whole));
    reset();
    OK(cuLaunchKernel(until, 1, 1, 1, 1, 1, 1, 0, apart, (void *[]){&flag}, NULL));
    OK(cuEventRecord(part, apart));
    OK(cuGreenCtxWaitEvent(green, part));
    OK(cuLaunchKernel(step, 1, 1, 1, 1, 1, 1, 0, of_green, (void *[]){&words, &by}, NULL));
    GIVES(CUDA_ERROR_NOT_READY, cuStreamQuery(of_green));
    own[0] = 1;
    OK(cuStreamSynchronize(of_green));
    EXPECT(word_at(words) == 1);
    OK(cuEventDestroy_v2(part));
    OK(cuEventDestroy_v2(whole));
}

static void contexts(void) {
    CUdevResource part, got;
    CUdevResourceDesc desc;
    CUgreenCtx green = NULL, back = NULL;
    CUcontext primary = NULL, of = NULL, of_device = NULL;
    CUstream stream = NULL, apart;
    unsigned count = 1;
    unsigned long long id = 0;
    OK(cuDevSmResourceSplitByCount(&part, &count, &all, NULL, 0, all.sm.minSmPartitionSize));
    OK(cuDevResourceGenerateDesc(&desc, &part, 1));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuGreenCtxCreate(&green, desc, 0, 0));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuGreenCtxCreate(NULL, desc, 0, CU_GREEN_CTX_DEFAULT_STREAM));
    OK(cuGreenCtxCreate(&green, desc, 0, CU_GREEN_CTX_DEFAULT_STREAM));
    OK(cuGreenCtxGetDevResource(green, &got, CU_DEV_RESOURCE_TYPE_SM));
    EXPECT(got.sm.smCount == part.sm.smCount);
    OK(cuGreenCtxGetId(green, &id));
    OK(cuCtxFromGreenCtx(&primary, green));
    OK(cuCtxSetCurrent(primary));
    begin_kernels(ptx);
    GIVES(CUDA_ERROR_INVALID_VALUE, cuGreenCtxStreamCreate(&stream, green, 0, 0));
    OK(cuGreenCtxStreamCreate(&stream, green, CU_STREAM_NON_BLOCKING, 0));
    OK(cuStreamGetGreenCtx(stream, &back));
    EXPECT(back == green);
    OK(cuStreamGetCtx_v2(stream, &of, &back));
    OK(cuDevicePrimaryCtxRetain(&of_device, 0)); /* which a converted context is here, and elsewhere is not */
    EXPECT(of == of_device && back == green && (of == primary || !ours));
    OK(cuDevicePrimaryCtxRelease_v2(0));
    OK(cuStreamCreate(&apart, CU_STREAM_NON_BLOCKING));
    if (ours) events(green, primary, stream, apart); /* where what a converted context makes is not the green one's */
    OK(cuStreamDestroy_v2(stream));
    OK(cuStreamDestroy_v2(apart));
    OK(cuGreenCtxDestroy(green));
    if (ours) GIVES(CUDA_ERROR_INVALID_CONTEXT, cuGreenCtxDestroy(green));
    if (ours) GIVES(CUDA_ERROR_INVALID_CONTEXT, cuGreenCtxGetId(green, &id));
}

int main(void) {
    OK(cuInit(0));
    ours = is_ours();
    OK(cuDeviceGetDevResource(0, &all, CU_DEV_RESOURCE_TYPE_SM));
    EXPECT(all.type == CU_DEV_RESOURCE_TYPE_SM && all.sm.smCount >= 2);
    splits();
    contexts();
    return faults != 0;
}
