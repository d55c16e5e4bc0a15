/* main.cu, with other.cu: what nvcc makes of two units that are linked. main.ptx and other.ptx were made by
 *
 *     nvcc -rdc=true -ptx -arch=sm_75 main.cu other.cu
 *
 * of CUDA 13.0. Both have a static function and variable of one name, an inline function (.weak) and a variable of it;
 * functions call each other across the units, directly and through a table. */
typedef unsigned (*operation)(unsigned);

extern __device__ unsigned weights[4];
extern __constant__ unsigned offset;
extern __device__ operation operations[2];
__device__ unsigned collatz_odd(unsigned n, unsigned steps);
__device__ void count();

static __device__ unsigned scale = 3;
static __device__ __noinline__ unsigned local(unsigned x) { return x * scale; }

template <typename T> __device__ __noinline__ T shared_inline(T x) {
    static __device__ T calls;
    atomicAdd(&calls, 1);
    return x ^ 0x55;
}

__device__ unsigned collatz_even(unsigned n, unsigned steps) {
    if (n == 1) return steps;
    return n & 1 ? collatz_odd(n, steps) : collatz_even(n / 2, steps + 1);
}

extern "C" __global__ void both(unsigned *out) {
    unsigned i = threadIdx.x;
    out[i] = local(i) + weights[i & 3] + offset + operations[i & 1](i) + shared_inline<unsigned>(i) * 1000 +
             collatz_even(i + 1, 0) * 1000000;
    count();
}
