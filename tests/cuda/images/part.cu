// One part of a program in two parts.
extern "C" __device__ unsigned add(unsigned x) { return x + 2; }
