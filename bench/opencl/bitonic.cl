// ptx/bitonic.cu in OpenCL C.

__kernel void bitonic(__global uint *out, __global const uint *keys, uint count, uint rounds) {
    __local uint key[512];
    uint t = get_local_id(0), i = get_group_id(0) * 512 + t;

    key[t] = i < count ? keys[i] : 0xffffffff;
    for (uint r = 0;;) {
        for (uint k = 2; k <= 512; k *= 2)
            for (uint j = k / 2; j > 0; j /= 2) {
                barrier(CLK_LOCAL_MEM_FENCE);
                uint other = t ^ j, mine = key[t], its = key[other];
                bool up = (t & k) == 0;
                if (other > t && (mine > its) == up) key[t] = its, key[other] = mine;
            }
        barrier(CLK_LOCAL_MEM_FENCE);
        if (++r >= rounds) break;
        if (i < count) key[t] = (key[t] ^ r) * 0x9e3779b1u + t;
        else key[t] = 0xffffffff;
    }
    if (i < count) out[i] = key[t];
}
