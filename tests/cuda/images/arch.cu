// What the fatbins of this folder were made of: a variable that says for which architecture the text was compiled.
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
__device__ unsigned arch = 901;
#else
__device__ unsigned arch = __CUDA_ARCH__;
#endif
extern "C" __global__ void get(unsigned *to) { *to = arch; }
