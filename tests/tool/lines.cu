/* What cli_trap.py runs: made with `nvcc -lineinfo -ptx -arch=sm_75 lines.cu`, the folder left out of .file. The test looks
 * for the words in comments. */
__device__ __forceinline__ void put(float *p, int i) {
    p[i] = 1.0f; /* stores */
}
__device__ __forceinline__ void next(float *p, int i) {
    put(p, i + 1); /* calls put */
}
__device__ __noinline__ float away(const float *p, int i) {
    return p[i] * 2; /* loads */
}
extern "C" __global__ void inlined(float *p, int n) {
    if ((int)threadIdx.x < n) next(p, threadIdx.x); /* calls next */
}
extern "C" __global__ void called(float *p, int i) {
    p[threadIdx.x] = away(p, i); /* calls away */
}
extern "C" __global__ void parted(float *p) {
    p[threadIdx.x] = __shfl_sync(0xff, p[threadIdx.x], 9); /* shuffles */
}
extern "C" __global__ void apart(float *p) {
    if (threadIdx.x < 32) __syncthreads(); /* waits */
    else asm volatile("bar.sync 1;");      /* waits elsewhere */
}
extern "C" __global__ void endless(volatile float *p) {
    if (threadIdx.x >= 32)
        while (p[0] == 0) p[1] = 1; /* turns */
    __syncthreads(); /* waits for those */
}
