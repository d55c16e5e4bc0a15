// ptx/mix64.cu in OpenCL C.

__kernel void mix64(__global ulong *out, __global const ulong *seed, uint count, uint rounds) {
    uint i = get_global_id(0);
    if (i >= count) return;

    ulong s = seed[i];
    for (uint r = 0; r < rounds; r++) {
        ulong z = s + 0x9e3779b97f4a7c15ul;
        z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ul;
        z = (z ^ z >> 27) * 0x94d049bb133111ebul;
        s = (s << 7 | s >> 57) ^ z ^ z >> 31;
    }
    out[i] = s;
}
