/* What each kernel works on: its parameters for both sides, filled from one noise, and the comparison. */
#include "bench.h"

#include <lanewise/texture.h>

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void lw_bench_must(lw_status status, const char *what) {
    if (status != LW_OK) lw_bench_fail("%s: %s", what, lw_status_name(status));
}

void lw_bench_fail(const char *format, ...) {
    fflush(stdout);
    fputs("lanewise_bench: ", stderr);
    va_list arguments;
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    exit(1);
}

void *lw_bench_allocate(size_t bytes) {
    void *memory = malloc(bytes);
    if (!memory) lw_bench_fail("no memory for %zu bytes", bytes);
    return memory;
}

/* ---- The kernels; examples/README.md and the sources in bench/ptx describe the parameters ---- */

static void count_and_rounds(lw_bench_work *w) {
    w->scalars[0] = w->count;
    w->scalars[1] = w->rounds;
}

/* The counter overflows on the way. */
enum { COUNTER = 0xfffffff0 };
static void counter_count_rounds(lw_bench_work *w) {
    w->scalars[0] = COUNTER;
    w->scalars[1] = w->count;
    w->scalars[2] = w->rounds;
}

/* The whole set, with its inside, its outside and all that lies between. */
static const float LEFT = -2.25f, TOP = -1.5f, SIDE = 3.0f;
static void picture(lw_bench_work *w) {
    float step = SIDE / (float)w->count;
    w->scalars[0] = w->scalars[1] = w->count;
    memcpy(&w->scalars[2], &LEFT, sizeof LEFT);
    memcpy(&w->scalars[3], &TOP, sizeof TOP);
    memcpy(&w->scalars[4], &step, sizeof step);
    w->scalars[5] = w->rounds;
}

static void native_sha256(const lw_native *n, const lw_bench_work *w) {
    n->sha256(w->host[0], w->host[1], w->count, w->rounds, 0, w->count);
}
static void native_chacha20(const lw_native *n, const lw_bench_work *w) {
    n->chacha20(w->host[0], w->host[1], w->host[2], COUNTER, w->count, w->rounds, 0, w->count);
}
static void native_xorshift(const lw_native *n, const lw_bench_work *w) {
    n->xorshift(w->host[0], w->host[1], w->count, w->rounds, 0, w->count);
}
static void native_bigshift(const lw_native *n, const lw_bench_work *w) {
    n->bigshift(w->host[0], w->host[1], w->host[2], w->count, w->rounds, 0, w->count);
}
static void native_mandelbrot(const lw_native *n, const lw_bench_work *w) {
    n->mandelbrot(w->host[0], w->count, w->count, LEFT, TOP, SIDE / (float)w->count, w->rounds, 0, w->count);
}
static void native_scan(const lw_native *n, const lw_bench_work *w) {
    n->scan(w->host[0], w->host[1], w->host[2], w->count, w->rounds, w->config.block[0], 0, w->config.grid[0]);
}

static void native_md5(const lw_native *n, const lw_bench_work *w) {
    n->md5(w->host[0], w->host[1], w->count, w->rounds, 0, w->count);
}
static void native_mix64(const lw_native *n, const lw_bench_work *w) {
    n->mix64(w->host[0], w->host[1], w->count, w->rounds, 0, w->count);
}
static void native_crc32(const lw_native *n, const lw_bench_work *w) {
    n->crc32(w->host[0], w->host[1], w->host[2], w->count, w->rounds, 0, w->count);
}
static void native_spmv(const lw_native *n, const lw_bench_work *w) {
    n->spmv(w->host[0], w->host[1], w->host[2], w->host[3], w->host[4], w->count, w->rounds, 0, w->count);
}
static void native_bitonic(const lw_native *n, const lw_bench_work *w) {
    n->bitonic(w->host[0], w->host[1], w->count, w->rounds, 0, w->config.grid[0]);
}
static void native_collatz(const lw_native *n, const lw_bench_work *w) {
    n->collatz(w->host[0], w->host[1], w->count, w->rounds, 0, w->count);
}

static void native_saxpy(const lw_native *n, const lw_bench_work *w) {
    n->saxpy(w->host[0], w->host[1], w->host[2], w->count, w->rounds, 0, w->count);
}
static void native_nbody(const lw_native *n, const lw_bench_work *w) {
    n->nbody(w->host[0], w->host[1], w->host[2], w->count, w->rounds, 0, w->count);
}
static void native_softmax(const lw_native *n, const lw_bench_work *w) {
    n->softmax(w->host[0], w->host[1], w->count, w->rounds, 0, w->count);
}
static void native_halfpoly(const lw_native *n, const lw_bench_work *w) {
    n->halfpoly(w->host[0], w->host[1], w->count, w->rounds, 0, w->count);
}
static void native_sgemm(const lw_native *n, const lw_bench_work *w) {
    n->sgemm(w->host[0], w->host[1], w->host[2], w->count, w->rounds, 0, w->config.grid[0]);
}

static void native_bilinear(const lw_native *n, const lw_bench_work *w) {
    n->bilinear(w->host[0], w->host[1], w->host[2], w->count, w->rounds, 0, w->count);
}

static void native_mma_tile(const lw_native *n, const lw_bench_work *w) {
    n->mma_tile(w->host[0], w->host[1], w->host[2], w->count, w->rounds, 0, w->count / 32);
}

/* Numbers between -1 and 1, in inputs from the first one on. */
static void fill_numbers(lw_bench_work *w, int first) {
    for (int buffer = first; buffer < LW_BENCH_BUFFERS; buffer++)
        for (size_t k = 0; k < w->words[buffer]; k++) {
            float value = (float)(int32_t)w->host[buffer][k] * 0x1p-31f;
            memcpy(&w->host[buffer][k], &value, sizeof value);
        }
}

static void fill_floats(lw_bench_work *w) { fill_numbers(w, 1); }

/* Halves from 1/8 to 1/2, of either sign. */
static void fill_halves(lw_bench_work *w) {
    for (int buffer = 1; buffer < LW_BENCH_BUFFERS; buffer++)
        for (size_t k = 0; k < w->words[buffer]; k++)
            w->host[buffer][k] = (w->host[buffer][k] & 0x87ff87ff) | 0x30003000;
}

/* Places within the picture, which becomes the module's texture. */
static void fill_bilinear(lw_bench_work *w) {
    const lw_image image = {
        .kind = LW_IMAGE_2D, .type = LW_TEXEL_u8, .channels = 4, .width = 256, .height = 256, .address = w->device[1]};
    const lw_sampler sampler = {.address = {LW_ADDRESS_CLAMP, LW_ADDRESS_CLAMP, LW_ADDRESS_CLAMP},
                                .filter = LW_FILTER_LINEAR,
                                .normalized_coords = true,
                                .normalized_floats = true};
    uint64_t texture = 0;
    for (size_t k = 0; k < w->words[2]; k++) {
        const float place = (float)(w->host[2][k] >> 8) * 0x1p-24f;
        memcpy(&w->host[2][k], &place, sizeof place);
    }
    lw_module_reference(w->module, "image", &texture);
    lw_bench_must(lw_texture_set(w->context, texture, &image, NULL, &sampler), "binding the texture");
}

static void fill_crc32(lw_bench_work *w) {
    for (uint32_t k = 0; k < 256; k++) {
        uint32_t crc = k;
        for (int bit = 0; bit < 8; bit++) crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
        w->host[2][k] = crc;
    }
}

/* Rows of 0 to 15 entries, values between -1 and 1. */
static void fill_spmv(lw_bench_work *w) {
    uint32_t *row = w->host[1], at = 0;
    for (uint32_t i = 0; i <= w->count; i++) {
        uint32_t length = row[i] >> 7 & 15;
        row[i] = at, at += length;
    }
    for (size_t k = 0; k < w->words[2]; k++) w->host[2][k] %= w->count;
    fill_numbers(w, 3);
}

#define OUT .out = true
const lw_bench_kernel lw_bench_kernels[LW_BENCH_KERNELS] = {
    {"sha256",
     LW_BENCH_INTEGER,
     {256, 1},
     0,
     {{OUT, .each = 8}, {.each = 13}},
     count_and_rounds,
     native_sha256,
     NULL,
     0},
    {"chacha20",
     LW_BENCH_INTEGER,
     {128, 1},
     0,
     {{OUT, .each = 16}, {.fixed = 8}, {.fixed = 3}},
     counter_count_rounds,
     native_chacha20,
     NULL,
     0},
    {"xorshift",
     LW_BENCH_INTEGER,
     {256, 1},
     0,
     {{OUT, .each = 1}, {.each = 1}},
     count_and_rounds,
     native_xorshift,
     NULL,
     0},
    /* Amounts past the width in the first round, below it in all others. */
    {"bigshift",
     LW_BENCH_INTEGER,
     {128, 1},
     0,
     {{OUT, .each = 32}, {.each = 16}, {.each = 1, .mask = 1023}},
     count_and_rounds,
     native_bigshift,
     NULL,
     0},
    {"mandelbrot", LW_BENCH_FLOAT, {32, 4}, 500, {{OUT, .each = 1}}, picture, native_mandelbrot, NULL, 0},
    {"scan",
     LW_BENCH_APART,
     {256, 1},
     0,
     {{OUT, .each = 1}, {OUT, .per_cta = 1}, {.each = 1}},
     count_and_rounds,
     native_scan,
     NULL,
     0},
    {"md5", LW_BENCH_UNTUNED, {256, 1}, 0, {{OUT, .each = 4}, {.each = 13}}, count_and_rounds, native_md5, NULL, 0},
    {"mix64", LW_BENCH_UNTUNED, {256, 1}, 0, {{OUT, .each = 2}, {.each = 2}}, count_and_rounds, native_mix64, NULL, 0},
    {"crc32",
     LW_BENCH_UNTUNED,
     {128, 1},
     0,
     {{OUT, .each = 1}, {.each = 8}, {.fixed = 256}},
     count_and_rounds,
     native_crc32,
     fill_crc32,
     0},
    {"spmv",
     LW_BENCH_UNTUNED,
     {128, 1},
     0,
     {{OUT, .each = 1}, {.each = 1, .fixed = 1}, {.each = 15}, {.each = 15}, {.each = 1}},
     count_and_rounds,
     native_spmv,
     fill_spmv,
     0},
    {"bitonic",
     LW_BENCH_UNTUNED,
     {512, 1},
     0,
     {{OUT, .each = 1}, {.each = 1}},
     count_and_rounds,
     native_bitonic,
     NULL,
     0},
    {"collatz",
     LW_BENCH_UNTUNED,
     {256, 1},
     0,
     {{OUT, .each = 1}, {.each = 1}},
     count_and_rounds,
     native_collatz,
     NULL,
     0},
    {"saxpy",
     LW_BENCH_REAL,
     {256, 1},
     0,
     {{OUT, .each = 1}, {.each = 1}, {.each = 1}},
     count_and_rounds,
     native_saxpy,
     fill_floats,
     1e-6f},
    {"nbody",
     LW_BENCH_REAL,
     {128, 1},
     0,
     {{OUT, .each = 3}, {.each = 4}, {.fixed = 4 * 128}},
     count_and_rounds,
     native_nbody,
     fill_floats,
     1e-2f},
    {"softmax",
     LW_BENCH_REAL,
     {128, 1},
     0,
     {{OUT, .each = 16}, {.each = 16}},
     count_and_rounds,
     native_softmax,
     fill_floats,
     1e-4f},
    {"halfpoly",
     LW_BENCH_REAL,
     {256, 1},
     0,
     {{OUT, .each = 1}, {.each = 1}},
     count_and_rounds,
     native_halfpoly,
     fill_floats,
     4e-3f},
    {"sgemm",
     LW_BENCH_REAL,
     {256, 1},
     0,
     {{OUT, .per_cta = 256}, {.per_cta = 256}, {.per_cta = 256}},
     count_and_rounds,
     native_sgemm,
     fill_floats,
     1e-5f},
    {"bilinear",
     LW_BENCH_REAL,
     {256, 1},
     0,
     {{OUT, .each = 1}, {.fixed = 256 * 256}, {.each = 2}},
     count_and_rounds,
     native_bilinear,
     fill_bilinear,
     1e-3f},
    {"mma_tile",
     LW_BENCH_REAL,
     {256, 1},
     0,
     {{OUT, .per_cta = 1024}, {.per_cta = 1024}, {.per_cta = 512}},
     count_and_rounds,
     native_mma_tile,
     fill_halves,
     1e-4f},
};

/* ---- Work ---- */

static void check(const lw_bench_work *w, lw_status status, const char *what) {
    if (status == LW_OK) return;
    lw_trap_info trap;
    const char *why = lw_context_message(w->context);
    if (status == LW_BAD_SOURCE && w->module) why = lw_module_diagnostics(w->module, false);
    if (status == LW_TRAPPED && lw_trap(w->context, &trap)) why = trap.report;
    lw_bench_fail("%s: %s: %s: %s", w->kernel->name, what, lw_status_name(status), why);
}

static uint32_t noise(uint32_t *state) {
    *state = *state * 1664525 + 1013904223;
    return *state ^ *state >> 15;
}

static void make_buffer(lw_bench_work *w, int number, uint32_t *state) {
    const lw_bench_buffer *b = &w->kernel->buffers[number];
    size_t items = w->kernel->group == LW_BENCH_FLOAT ? (size_t)w->count * w->count : w->count;
    size_t words = b->each * items + (size_t)b->per_cta * w->config.grid[0] + b->fixed;
    if (!words) return;
    w->words[number] = words;
    w->host[number] = lw_bench_allocate(4 * words);
    for (size_t i = 0; i < words; i++) w->host[number][i] = noise(state) & (b->mask ? b->mask : UINT32_MAX);
    check(w, lw_memory_new(w->context, 4 * words, &w->device[number]), "memory for a buffer");
}

void lw_bench_work_rounds(lw_bench_work *w, uint32_t rounds) {
    w->rounds = rounds;
    w->kernel->scalars(w);
}

void lw_bench_work_new(lw_bench_work *w, const lw_bench_kernel *kernel, const lw_native *native, lw_context *context,
                       const char *text, size_t size, uint32_t count) {
    const uint32_t *block = kernel->block;
    bool plane = kernel->group == LW_BENCH_FLOAT;
    *w = (lw_bench_work){.kernel = kernel, .native = native, .context = context, .count = count};
    w->config = (lw_launch_config){
        .grid = {(count + block[0] - 1) / block[0], plane ? (count + block[1] - 1) / block[1] : 1, 1},
        .block = {block[0], block[1], 1},
    };
    check(w, lw_module_new(context, kernel->name, text, size, &w->module), "checking the PTX");
    check(w, lw_module_kernel(w->module, kernel->name, &w->program), "lowering the kernel");
    uint32_t state = 1, params = 0;
    for (int i = 0; i < LW_BENCH_BUFFERS; i++) {
        make_buffer(w, i, &state);
        if (w->words[i]) w->params[params++] = &w->device[i];
    }
    if (kernel->fill) kernel->fill(w);
    for (int i = 0; i < LW_BENCH_BUFFERS; i++)
        if (w->words[i])
            check(w, lw_memory_write(context, w->device[i], w->host[i], 4 * w->words[i]), "writing a buffer");
    for (int i = 0; i < LW_BENCH_SCALARS; i++) w->params[params++] = &w->scalars[i];
    lw_bench_work_rounds(w, kernel->rounds ? kernel->rounds : 1);
}

void lw_bench_work_free(lw_bench_work *w) {
    for (int i = 0; i < LW_BENCH_BUFFERS; i++) {
        free(w->host[i]);
        if (w->words[i]) check(w, lw_memory_free(w->context, w->device[i]), "freeing a buffer");
    }
    lw_module_free(w->module);
}

void lw_bench_run_native(const lw_bench_work *w) { w->kernel->native(w->native, w); }

lw_launch_stats lw_bench_run_engine(const lw_bench_work *w) {
    lw_launch_stats stats;
    check(w, lw_launch(w->program, &w->config, w->params, &stats), "running the kernel");
    return stats;
}

/* ---- Comparison ---- */

void lw_bench_spoil(const lw_bench_work *w) {
    for (int i = 0; i < LW_BENCH_BUFFERS; i++) {
        if (!w->kernel->buffers[i].out) continue;
        memset(w->host[i], 0x5a, 4 * w->words[i]);
        check(w, lw_memory_fill(w->context, w->device[i], 0xa5, 1, 4 * w->words[i]), "spoiling an output");
    }
}

/* Numbers, of which none is a NaN. */
static bool is_near(uint32_t a, uint32_t b, float apart) {
    float x, y;
    memcpy(&x, &a, sizeof x);
    memcpy(&y, &b, sizeof y);
    return fabsf(x - y) <= apart * (1 + fabsf(y));
}

void lw_bench_compare(const lw_bench_work *w) {
    for (int i = 0; i < LW_BENCH_BUFFERS; i++) {
        if (!w->kernel->buffers[i].out) continue;
        uint32_t *got = lw_bench_allocate(4 * w->words[i]);
        check(w, lw_memory_read(w->context, w->device[i], got, 4 * w->words[i]), "reading an output");
        for (size_t k = 0; k < w->words[i]; k++)
            if (got[k] != w->host[i][k] && !is_near(got[k], w->host[i][k], w->kernel->apart))
                lw_bench_fail("%s: the results differ: word %zu of output %d is %08x, natively %08x", w->kernel->name,
                              k, i, got[k], w->host[i][k]);
        free(got);
    }
}

char *lw_bench_read(const char *examples, const lw_bench_kernel *kernel, size_t *size) {
    char path[4096];
    bool own = kernel->group == LW_BENCH_UNTUNED || kernel->group == LW_BENCH_REAL;
    int length = own ? snprintf(path, sizeof path, "%s/%s.ptx", LW_BENCH_PTX, kernel->name)
                     : snprintf(path, sizeof path, "%s/%s/%s.ptx", examples, kernel->name, kernel->name);
    if (length < 0 || (size_t)length >= sizeof path) lw_bench_fail("the name of the folder is too long: %s", examples);
    return lw_bench_read_path(path, size);
}

char *lw_bench_read_path(const char *path, size_t *size) {
    FILE *file = fopen(path, "rb");
    if (!file) lw_bench_fail("%s: %s", path, strerror(errno));
    enum { MOST = 1 << 22 };
    char *text = lw_bench_allocate(MOST);
    *size = fread(text, 1, MOST, file);
    if (ferror(file) || *size == MOST) lw_bench_fail("%s: %s", path, *size == MOST ? "too large" : strerror(errno));
    fclose(file);
    return text;
}
