// The other one, which calls the first.
extern "C" __device__ unsigned add(unsigned x);
extern "C" __global__ void get(unsigned *to) { *to = add(40); }
