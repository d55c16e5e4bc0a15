// ptx/collatz.cu in OpenCL C.

__kernel void collatz(__global uint *out, __global const uint *seed, uint count, uint rounds) {
    uint i = get_global_id(0);
    if (i >= count) return;

    uint total = seed[i];
    for (uint r = 0; r < rounds; r++) {
        uint n = (total >> 16) + 1, steps = 0;
        for (; n != 1; steps++) n = n & 1 ? 3 * n + 1 : n / 2;
        total = (total + steps) * 0x9e3779b1u;
    }
    out[i] = total;
}
