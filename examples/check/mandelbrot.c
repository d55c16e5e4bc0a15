/* The scalar reference of examples/mandelbrot: writes the iteration counts as raw words to the standard
 * output. Compile with -ffp-contract=off, so that only the fmaf written here fuses. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static uint32_t escape_time(float cx, float cy, uint32_t limit) {
    float x = 0, y = 0;
    for (uint32_t n = 0; n < limit; n++) {
        float xx = x * x, yy = y * y;
        if (xx + yy > 4) return n;
        y = fmaf(x + x, y, cy);
        x = xx - yy + cx;
    }
    return limit;
}

int main(int argc, char **argv) {
    if (argc != 7) {
        fprintf(stderr, "usage: %s WIDTH HEIGHT LEFT TOP STEP LIMIT\n", argv[0]);
        return 2;
    }
    uint32_t width = strtoul(argv[1], 0, 10), height = strtoul(argv[2], 0, 10), limit = strtoul(argv[6], 0, 10);
    float left = strtof(argv[3], 0), top = strtof(argv[4], 0), step = strtof(argv[5], 0);
    for (uint32_t row = 0; row < height; row++) {
        for (uint32_t column = 0; column < width; column++) {
            uint32_t n = escape_time(fmaf(column, step, left), fmaf(row, step, top), limit);
            for (int byte = 0; byte < 4; byte++) putchar(n >> 8 * byte & 255);
        }
    }
    return fflush(stdout) || ferror(stdout);
}
