// ptx/saxpy.cu in OpenCL C.

__kernel void saxpy(__global float *out, __global const float *x, __global const float *y, uint count, uint rounds) {
    uint i = get_global_id(0);
    if (i >= count) return;

    out[i] = y[i];
    for (uint r = 0; r < rounds; r++) out[i] = fma(0.25f, x[i], out[i]);
}
