// ptx/launches.cu in OpenCL C.

__kernel void nothing(__global uint *data, uint count) {}

__kernel void element(__global uint *data, uint count) {
    uint i = get_global_id(0);
    if (i < count) data[i] = (data[i] * 5 + 3) ^ i;
}

__kernel void turn(__global uint *data, uint count) {
    __local uint s[256];
    uint i = get_global_id(0), t = get_local_id(0);
    s[t] = i < count ? data[i] : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (i < count) data[i] = s[t ^ 255] + 1;
}
