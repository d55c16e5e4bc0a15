/* bench/ptx/spmv.cu in vector C: a row in every lane, as long as the longest of them. */
#include "vector.h"

void NATIVE(spmv)(uint32_t *y, const uint32_t *row, const uint32_t *column, const uint32_t *value, const uint32_t *x,
                  uint32_t count, uint32_t rounds, uint32_t first, uint32_t threads) {
    uint32_t end = part_end(first, threads, count);
    for (uint32_t i = first; i < end; i += least(LANES, end - i)) {
        uint32_t here = least(LANES, end - i), most = 0;
        vec from = {0}, length = {0};
        for (uint32_t l = 0; l < here; l++) {
            from[l] = row[i + l], length[l] = row[i + l + 1] - row[i + l];
            most = length[l] > most ? length[l] : most;
        }
        fvec sum = {0};
        for (uint32_t r = 0; r < rounds; r++) {
            for (uint32_t k = 0; k < most; k++) {
                vec runs = (vec)(splat(k) < length), at = (from + k) & runs;
                fvec next = fma_of((fvec)gather(value, at), (fvec)gather(x, gather(column, at)), sum);
                sum = (fvec)(((vec)next & runs) | ((vec)sum & ~runs));
            }
            sum *= 0.5f;
        }
        memcpy(y + i, &sum, 4 * here);
    }
}
