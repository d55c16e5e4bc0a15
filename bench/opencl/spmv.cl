// ptx/spmv.cu in OpenCL C.

__kernel void spmv(__global float *y, __global const uint *row, __global const uint *column, __global const float *value, __global const float *x,
                   uint count, uint rounds) {
    uint i = get_global_id(0);
    if (i >= count) return;

    float sum = 0;
    for (uint r = 0; r < rounds; r++) {
        for (uint k = row[i]; k < row[i + 1]; k++) sum = fma(value[k], x[column[k]], sum);
        sum *= 0.5f;
    }
    y[i] = sum;
}
