// ptx/sgemm.cu in OpenCL C.

__kernel void sgemm(__global float *out, __global const float *a, __global const float *b, uint count, uint rounds) {
    __local float left[16][16], right[16][16];
    uint t = get_local_id(0), x = t & 15, y = t >> 4, at = get_group_id(0) * 256;

    float sum = 0;
    for (uint r = 0; r < rounds; r++) {
        left[y][x] = a[at + ((y + r) & 15) * 16 + x];
        right[y][x] = b[at + y * 16 + x];
        barrier(CLK_LOCAL_MEM_FENCE);
        sum *= 0.5f;
        for (uint k = 0; k < 16; k++) sum = fma(left[y][k], right[k][x], sum);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    out[at + t] = sum;
}
