// ptx/crc32.cu in OpenCL C.

__kernel void crc32(__global uint *out, __global const uint *data, __global const uint *table, uint count, uint rounds) {
    uint i = get_global_id(0);
    if (i >= count) return;

    uint crc = 0xffffffff;
    for (uint r = 0; r < rounds; r++)
        for (int k = 0; k < 8; k++) {
            uint word = data[8 * i + k];
            for (int byte = 0; byte < 4; byte++) crc = table[(crc ^ word >> 8 * byte) & 255] ^ crc >> 8;
        }
    out[i] = ~crc;
}
