/* tensor.c: tensor maps, and copies by them, beside what a GPU gave.
 *
 *     test_cuda_tensor FILE            every line of the file again, and whether it gives what stands behind its '='
 *     test_cuda_tensor FILE record     what it gives here; further arguments: a file for the memory, the first line
 *
 * A line is a map, what is done by it, and behind '=' the result of the call that makes the map, and, where there is
 * one, how many bytes the mbarrier was told of (0: not as many as a box has), and a hash of the memory written to. Like
 * driver.c it knows nothing of Lanewise, and can be run with a GPU's driver; "rows" and "w" are sm_100's. */
#include "expect.h"

#include <stdlib.h>

enum { AREA = 1 << 15, IMAGE = 1 << 14, MAP_AT = IMAGE + 4096, ROOM = IMAGE + 8192, RANK = 5, SETS = 24 };

static CUcontext context;
static CUdeviceptr area, image;
static unsigned char host[AREA];

/* ---- A line ---------------------------------------------------------------------------------------------------- */

typedef struct line {
    const char *text;
    char mode[16], deed[8]; /* tile, im2col, rows (four of a box), w or w128; none, load, store or a reduction */
    unsigned type, rank, interleave, swizzle, fill, promotion;
    unsigned long long sizes[RANK], strides[RANK], shift; /* shift: of the address */
    long long box[RANK], steps[RANK], at[RANK], lower[RANK], upper[RANK], offsets[RANK];
    unsigned channels, pixels, base; /* base: of the box in shared memory */
    unsigned zero, told, becomes; /* the kernel makes the map of nothing; bytes of a box, and the rank, that it makes */
    char sets[SETS][40];          /* what the kernel replaces in it: field:number:value */
    int set_count;
} line;

static const unsigned bytes_of[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};

static void numbers(const char *text, long long *to) {
    for (int i = 0; i < RANK && *text; i++, text += *text == ',') {
        char *end;
        to[i] = strtoll(text, &end, 0);
        text = end;
    }
}

static void read_word(line *l, char *word) {
    char *value = strchr(word, '=');
    long long n[RANK] = {0};
    if (!value) return;
    *value++ = 0;
    if (!strcmp(word, "set") && l->set_count < SETS) snprintf(l->sets[l->set_count++], sizeof l->sets[0], "%s", value);
    numbers(value, n);
#define ONE(name) \
    if (!strcmp(word, #name)) l->name = (unsigned)n[0]
#define ALL(name) \
    if (!strcmp(word, #name)) memcpy(l->name, n, sizeof n)
    ONE(type);
    ONE(rank);
    ONE(interleave);
    ONE(swizzle);
    ONE(fill);
    ONE(promotion);
    ONE(channels);
    ONE(pixels);
    ONE(base);
    ONE(shift);
    ONE(zero);
    ONE(told);
    ONE(becomes);
    ALL(sizes);
    ALL(strides);
    ALL(box);
    ALL(steps);
    ALL(at);
    ALL(lower);
    ALL(upper);
    ALL(offsets);
}

static line read_line(const char *text) {
    line l = {.text = text, .steps = {1, 1, 1, 1, 1}};
    char copy[1000];
    snprintf(copy, sizeof copy, "%s", text);
    char *rest = copy, *word;
    for (int i = 0; (word = strtok_r(rest, " \n", &rest)); i++) {
        if (i == 0) snprintf(l.mode, sizeof l.mode, "%s", word);
        else if (i == 1) snprintf(l.deed, sizeof l.deed, "%s", word);
        else read_word(&l, word);
    }
    return l;
}

/* ---- Its map ----------------------------------------------------------------------------------------------------- */

static CUresult encode(const line *l, CUtensorMap *map) {
    uint32_t box[RANK], steps[RANK];
    uint64_t sizes[RANK], strides[RANK];
    int lower[RANK], upper[RANK];
    void *address = (void *)(uintptr_t)(area + l->shift);
    for (int i = 0; i < RANK; i++) {
        box[i] = (uint32_t)l->box[i], steps[i] = (uint32_t)l->steps[i];
        sizes[i] = l->sizes[i], strides[i] = l->strides[i];
        lower[i] = (int)l->lower[i], upper[i] = (int)l->upper[i];
    }
    if (!strcmp(l->mode, "tile") || !strcmp(l->mode, "rows"))
        return cuTensorMapEncodeTiled(map, l->type, l->rank, address, sizes, strides, box, steps, l->interleave,
                                      l->swizzle, l->promotion, l->fill);
    if (!strcmp(l->mode, "im2col"))
        return cuTensorMapEncodeIm2col(map, l->type, l->rank, address, sizes, strides, lower, upper, l->channels,
                                       l->pixels, steps, l->interleave, l->swizzle, l->promotion, l->fill);
    return cuTensorMapEncodeIm2colWide(map, l->type, l->rank, address, sizes, strides, lower[0], upper[0], l->channels,
                                       l->pixels, steps, l->interleave, !strcmp(l->mode, "w128"), l->swizzle,
                                       l->promotion, l->fill);
}

/* ---- What is done by it ------------------------------------------------------------------------------------------ */

static const char head[] =
    ".address_size 64\n"
    ".extern .shared .align 1024 .b8 data[];\n"
    ".visible .entry k(.param .align 64 .b8 map[128], .param .u64 io, .param .u32 bytes, .param .u32 base,\n"
    "  .param .align 4 .b8 at[20], .param .align 2 .b8 offsets[10])\n{\n"
    "  .reg .pred %p<4>; .reg .b32 %n, %v, %s, %b, %c<5>, %bytes, %o; .reg .b16 %h<5>; .reg .b64 %m, %io, %a, %t<3>;\n"
    "  .shared .align 8 .b64 bar; .shared .align 128 .b8 own[128];\n"
    "  mov.b64 %m, map; cvta.param.u64 %m, %m; ld.param.u64 %io, [io]; ld.param.u32 %bytes, [bytes];\n"
    "  ld.param.u32 %s, [base]; mov.b32 %v, data; add.u32 %s, %s, %v; mov.b32 %b, bar; mov.b32 %o, 0;\n"
    "  ld.param.b32 %c0, [at]; ld.param.b32 %c1, [at+4]; ld.param.b32 %c2, [at+8]; ld.param.b32 %c3, [at+12];\n"
    "  ld.param.b32 %c4, [at+16]; ld.param.b16 %h0, [offsets]; ld.param.b16 %h1, [offsets+2];\n"
    "  ld.param.b16 %h2, [offsets+4];\n"
    "  mov.u32 %n, %tid.x; shl.b32 %n, %n, 2;\n"
    "fill: cvt.u64.u32 %a, %n; add.u64 %a, %io, %a; ld.global.b32 %v, [%a]; mov.u32 %c0, data; add.u32 %c0, %c0, %n;\n"
    "  st.shared.b32 [%c0], %v; add.u32 %n, %n, 128; setp.lt.u32 %p0, %n, 16384; @%p0 bra fill;\n"
    "  ld.param.b32 %c0, [at];\n"
    "  mov.u32 %n, %tid.x; setp.ne.u32 %p1, %n, 0;\n"
    "  @!%p1 mbarrier.init.shared.b64 [%b], 1; fence.mbarrier_init.release.cluster;\n"
    "  fence.proxy.async; bar.sync 0;\n";
static const char load_tail[] =
    "  mbarrier.arrive.expect_tx.shared.b64 %t0, [%b], %bytes;\n"
    "  mov.u64 %t1, %clock64; add.u64 %t1, %t1, 2000000;\n"
    "wait: mbarrier.test_wait.shared.b64 %p2, [%b], %t0; @%p2 bra good; mov.u64 %t2, %clock64;\n"
    "  setp.lt.s64 %p3, %t2, %t1; @%p3 bra wait; bra done;\n"
    "good: mov.b32 %o, 1;\n"
    "done: bar.sync 0; mov.u32 %n, %tid.x; shl.b32 %n, %n, 2;\n"
    "out: cvt.u64.u32 %a, %n; add.u64 %a, %io, %a; mov.u32 %c0, data; add.u32 %c0, %c0, %n; ld.shared.b32 %v, [%c0];\n"
    "  st.global.b32 [%a], %v; add.u32 %n, %n, 128; setp.lt.u32 %p0, %n, 16384; @%p0 bra out;\n"
    "  @!%p1 st.global.b32 [%io+16384], %o; exit;\n}\n";
static const char store_tail[] = "  cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;\n"
                                 "done: bar.sync 0; exit;\n}\n";

/* The map becomes another one in shared memory, and that goes to global memory. */
static int write_sets(const line *l, char *text, size_t size) {
    static const char *const of_64[] = {"global_address", "global_stride"};
    if (!l->set_count) return 0;
    int n =
        snprintf(text, size,
                 "mov.u32 %%n, %%tid.x; shl.b32 %%n, %%n, 2; cvt.u64.u32 %%a, %%n; add.u64 %%a, %%m, %%a;\n"
                 "  ld.b32 %%v, [%%a]; mov.b32 %%o, own; add.u32 %%o, %%o, %%n; %sst.shared.b32 [%%o], %%v; bar.sync 0;"
                 " mov.b32 %%o, own; mov.u64 %%a, own; cvta.shared.u64 %%a, %%a; setp.eq.u32 %%p3, %%n, 0;\n",
                 l->zero ? "mov.b32 %v, 0; " : "");
    for (int i = 0; i < l->set_count; i++) {
        char set[40], *rest = set;
        snprintf(set, sizeof set, "%s", l->sets[i]);
        const char *field = strtok_r(rest, ":", &rest), *number = strtok_r(rest, ":", &rest),
                   *value = strtok_r(rest, ":", &rest);
        const bool wide = !strcmp(field, of_64[0]) || !strcmp(field, of_64[1]);
        unsigned long long at = strtoull(value, NULL, 0);
        if (!strcmp(field, of_64[0])) at += area;
        n += snprintf(text + n, size - (size_t)n,
                      "  @%%p3 tensormap.replace.tile.%s.shared::cta.b1024.%s [%%o], %s%s%llu;\n", field,
                      wide ? "b64" : "b32", *number == '-' ? "" : number, *number == '-' ? "" : ", ", at);
    }
    return n +
           snprintf(text + n, size - (size_t)n,
                    "  bar.sync 0; add.u64 %%m, %%io, %d;\n"
                    "  tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%%m], "
                    "[%%o], 128;\n"
                    "  fence.proxy.tensormap::generic.acquire.gpu [%%m], 128; mov.b32 %%o, 0;\n",
                    MAP_AT);
}

static void write_kernel(const line *l, char *text, size_t size) {
    static const char *const at[] = {
        "", "%c0", "%c0, %c1", "%c0, %c1, %c2", "%c0, %c1, %c2, %c3", "%c0, %c1, %c2, %c3, %c4"};
    static const char *const offsets[] = {"", "", "", "%h0", "%h0, %h1", "%h0, %h1, %h2"};
    const bool rows = !strcmp(l->mode, "rows"), tile = rows || !strcmp(l->mode, "tile"), wide = *l->mode == 'w';
    const bool loads = !strcmp(l->deed, "load"), stores = !strcmp(l->deed, "store");
    const unsigned rank = l->becomes ? l->becomes : l->rank, coordinates = rows ? RANK : rank;
    const char *mode = rows ? loads ? "tile::gather4" : "tile::scatter4" : l->mode;
    if (wide) mode = strcmp(l->mode, "w") ? "im2col::w::128" : "im2col::w";
    int n = snprintf(text, size, ".version 8.6\n.target sm_%s\n%s  ",
                     rows || wide   ? "100a"
                     : l->set_count ? "90a"
                                    : "90",
                     head);
    n += write_sets(l, text + n, size - (size_t)n);
    n += snprintf(text + n, size - (size_t)n, "  @%%p1 bra done;\n  ");
    if (loads)
        n += snprintf(text + n, size - (size_t)n,
                      "cp.async.bulk.tensor.%ud.shared::cluster.global.%s.mbarrier::complete_tx::bytes [%%s], [%%m, "
                      "{%s}], [%%b]%s%s%s;\n%s",
                      rank, mode, at[coordinates], tile ? "" : ", {",
                      wide   ? offsets[4]
                      : tile ? ""
                             : offsets[rank],
                      tile ? "" : "}", load_tail);
    else
        n += snprintf(text + n, size - (size_t)n,
                      "cp%s.async.bulk.tensor.%ud.global.shared::cta%s%s.%s.bulk_group [%%m, {%s}], [%%s];\n%s",
                      stores ? "" : ".reduce", rank, stores ? "" : ".", stores ? "" : l->deed,
                      tile ? mode : "im2col_no_offs", at[coordinates], store_tail);
    if ((size_t)n >= size) faults++, printf("the kernel is too long\n");
}

static void pattern(unsigned char *to, size_t bytes, uint32_t seed) {
    for (size_t i = 0; i < bytes / 4; i++) {
        uint32_t x = (uint32_t)(i + seed) * 0x9e3779b1u;
        x = (x ^ x >> 15) * 0x85ebca77u;
        x ^= x >> 13;
        if (i % 5 == 1) x &= 0x807fffff;                   /* a small float */
        if (i % 7 == 2) x |= 0x7f800000;                   /* or none */
        if (i % 11 == 3) x = (x & ~0x1fffu) | 0x1000;      /* half way between two of tf32 */
        if (i % 31 == 4) x |= 0x7f7ff000, x &= 0xff7fffff; /* above all of these */
        if (i % 37 == 5) x = (x & 0x80000000) | 0x7f800000;
        memcpy(to + 4 * i, &x, 4);
    }
}

static uint64_t hash_of(const unsigned char *from, size_t bytes) {
    uint64_t hash = 0xcbf29ce484222325;
    for (size_t i = 0; i < bytes; i++) hash = (hash ^ from[i]) * 0x100000001b3;
    return hash;
}

/* Of elements that a box has; wide: where each row takes as much as the swizzle turns. */
static unsigned box_bytes(const line *l, bool wide) {
    static const unsigned turns[] = {0, 32, 64, 128, 128, 128, 128};
    const bool tile = !strcmp(l->mode, "tile");
    const unsigned size = bytes_of[l->type];
    unsigned inner = tile ? (unsigned)l->box[0] : l->channels, rows = tile ? 1 : l->pixels;
    if (l->interleave && l->steps[0] > 1) inner = (inner + (unsigned)l->steps[0] - 1) / (unsigned)l->steps[0];
    inner *= size;
    if (wide && inner < turns[l->swizzle]) inner = turns[l->swizzle];
    if (tile)
        for (unsigned i = 1; i < l->rank; i++) rows *= (unsigned)((l->box[i] + l->steps[i] - 1) / l->steps[i]);
    return inner * rows;
}

static FILE *images;

static void keep(unsigned number, const unsigned char *from, uint32_t bytes) {
    if (!images) return;
    fwrite(&number, 4, 1, images);
    fwrite(&bytes, 4, 1, images);
    fwrite(from, 1, bytes, images);
}

static bool run(const line *l, CUfunction kernel, CUtensorMap *map, unsigned bytes) {
    unsigned base = l->base;
    int at[RANK];
    short offsets[RANK];
    for (int i = 0; i < RANK; i++) at[i] = (int)l->at[i], offsets[i] = (short)l->offsets[i];
    void *arguments[] = {map, &image, &bytes, &base, at, offsets};
    pattern(host, AREA, 1);
    OK(cuMemcpyHtoD_v2(area, host, AREA));
    pattern(host, ROOM, 77777);
    OK(cuMemcpyHtoD_v2(image, host, ROOM));
    OK(cuMemsetD32_v2(image + IMAGE, 0, 1));
    OK(cuLaunchKernel(kernel, 1, 1, 1, 32, 1, 1, IMAGE, 0, arguments, NULL));
    CUresult result = cuCtxSynchronize();
    if (result) {
        printf("%s: %s\n", l->text, result_name(result));
        if (images) fclose(images);
        exit(3); /* there is no context any more */
    }
    OK(cuMemcpyDtoH_v2(host, image, ROOM));
    return *(uint32_t *)(void *)(host + IMAGE);
}

static void deed(const line *l, unsigned number, CUtensorMap *map, char *to, size_t size) {
    static char text[8192], before[8192];
    static CUmodule module;
    CUfunction kernel;
    write_kernel(l, text, sizeof text);
    if (strcmp(text, before)) {
        if (module) OK(cuModuleUnload(module));
        OK(cuModuleLoadData(&module, text));
        memcpy(before, text, sizeof text);
    }
    OK(cuModuleGetFunction(&kernel, module, "k"));
    const unsigned bytes[] = {l->told ? l->told : box_bytes(l, false), box_bytes(l, true)};
    unsigned told = 0;
    if (strcmp(l->deed, "load")) {
        run(l, kernel, map, 0);
        OK(cuMemcpyDtoH_v2(host, area, AREA));
        keep(number, host, AREA / 4);
        snprintf(to, size, " 0 %016llx", (unsigned long long)hash_of(host, AREA));
        return;
    }
    for (unsigned i = 0; i < 2 && !told; i++)
        if (run(l, kernel, map, bytes[i])) told = bytes[i];
    keep(number, host, bytes[1] > 8192 ? 8192 : bytes[1] + l->base);
    snprintf(to, size, " %u %016llx", told, (unsigned long long)hash_of(host, IMAGE));
}

/* ---- All of them ------------------------------------------------------------------------------------------------- */

static void do_line(char *text, unsigned number, bool records) {
    char *wanted = strstr(text, " = "), got[100];
    if (wanted) *wanted = 0, wanted += 3;
    const line l = read_line(text);
    CUtensorMap map;
    memset(&map, 0, sizeof map);
    const CUresult result = encode(&l, &map);
    int n = snprintf(got, sizeof got, "%u", result);
    if (!result && strcmp(l.deed, "none")) deed(&l, number, &map, got + n, sizeof got - (size_t)n);
    if (records) printf("%s = %s\n", text, got), fflush(stdout);
    else if (!wanted || strcmp(wanted, got)) faults++, printf("%s = %s, not %s\n", text, got, wanted ? wanted : "");
}

int main(int count, char **arguments) {
    static char text[1000];
    FILE *file = count > 1 ? fopen(arguments[1], "r") : NULL;
    if (!file) return printf("usage: test_cuda_tensor FILE [record [IMAGES [FIRST]]]\n"), 2;
    const unsigned first = count > 4 ? (unsigned)atoi(arguments[4]) : 0;
    if (count > 3) images = fopen(arguments[3], "ab");
    OK(cuInit(0));
    OK(cuCtxCreate_v2(&context, 0, 0));
    OK(cuMemAlloc_v2(&area, AREA));
    OK(cuMemAlloc_v2(&image, ROOM));
    if (faults) return 1;
    for (unsigned number = 1; fgets(text, sizeof text, file); number++) {
        text[strcspn(text, "\n")] = 0;
        if (*text == '#' || !*text || number < first) continue;
        do_line(text, number, count > 2);
    }
    fclose(file);
    if (images) fclose(images);
    OK(cuCtxDestroy_v2(context));
    if (count <= 2) printf(faults ? "%d faults\n" : "ok\n", faults);
    return faults != 0;
}
