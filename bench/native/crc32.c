/* bench/ptx/crc32.cu in vector C: the words of a thread in every lane, the table by gathers. */
#include "vector.h"

void NATIVE(crc32)(uint32_t *out, const uint32_t *data, const uint32_t *table, uint32_t count, uint32_t rounds,
                   uint32_t first, uint32_t threads) {
    uint32_t end = part_end(first, threads, count);
    for (uint32_t i = first; i < end; i += least(LANES, end - i)) {
        vec word[16], crc = splat(UINT32_MAX);
        load_rows(word, data + (size_t)i * 8, 8, end - i);
        for (uint32_t r = 0; r < rounds; r++)
            for (int k = 0; k < 8; k++) EACH(4, crc = gather(table, (crc ^ word[k] >> 8 * u) & 255) ^ crc >> 8;)
        crc = ~crc;
        memcpy(out + i, &crc, 4 * least(LANES, end - i));
    }
}
