// examples/xorshift in OpenCL C.

__kernel void xorshift(__global uint *out, __global const uint *seed, uint count, uint rounds) {
    uint i = get_global_id(0);
    if (i >= count) return;

    uint x = seed[i];
    for (uint r = 0; r < rounds; r++) {
        x ^= x << 13;
        x ^= x >> 17;
        x ^= x << 5;
    }
    out[i] = x;
}
