/* other.cu: see main.cu. */
typedef unsigned (*operation)(unsigned);

__device__ unsigned weights[4] = {7, 11, 13, 17};
__constant__ unsigned offset = 100;
__device__ unsigned counted;
__device__ unsigned collatz_even(unsigned n, unsigned steps);

static __device__ unsigned scale = 5;
static __device__ __noinline__ unsigned local(unsigned x) { return x * scale; }
static __device__ unsigned twice(unsigned x) { return local(x) * 2; }
static __device__ unsigned square(unsigned x) { return x * x; }
__device__ operation operations[2] = {twice, square};

template <typename T> __device__ __noinline__ T shared_inline(T x) {
    static __device__ T calls;
    atomicAdd(&calls, 1);
    return x ^ 0x55;
}

__device__ unsigned collatz_odd(unsigned n, unsigned steps) { return collatz_even(3 * n + 1, steps + 1); }
__device__ void count() { atomicAdd(&counted, shared_inline<unsigned>(0x54)); }

extern "C" __global__ void counts(unsigned *out) { *out = counted; }
