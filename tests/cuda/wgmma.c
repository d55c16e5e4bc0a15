/* wgmma.c: products of a warpgroup beside what a GPU gave.
 *
 *     test_cuda_wgmma FILE            every line of the file again, and whether it gives what stands behind its '='
 *     test_cuda_wgmma FILE record     what it gives here
 *
 * A line is an instruction and where its matrices are, and behind '=' a hash of the result's registers. Like driver.c
 * it knows nothing of Lanewise, and can be run with a GPU's driver. */
#include "expect.h"

#include <stdlib.h>

enum { SHARED = 1 << 16, THREADS = 128, MOST = 128, VALUES = 1 << 14 };

static CUcontext context;
static CUdeviceptr input, output;
static uint32_t words[VALUES];

/* ---- A line ---------------------------------------------------------------------------------------------------- */

typedef struct matrix {
    unsigned swizzle, leading, stride, at, base; /* of a descriptor: bytes, but for the first and the last */
} matrix;

typedef struct line {
    char d[8], type_a[8], type_b[8];
    unsigned n, k, registers; /* registers: a is in some */
    matrix a, b;
    unsigned scale, transposed_a, transposed_b, sparse, selector, saturates, mask, chain, step_a, step_b;
    int sign_a, sign_b;
} line;

static void read_word(line *l, char *word) {
    char *value = strchr(word, '=');
    if (!value) return;
    *value++ = 0;
    const unsigned n = (unsigned)strtoul(value, NULL, 0);
    matrix *m = !strcmp(word, "a") ? &l->a : &l->b;
    if (!strcmp(word, "a") || !strcmp(word, "b")) {
        if (sscanf(value, "%u,%u,%u,%u,%u", &m->swizzle, &m->leading, &m->stride, &m->at, &m->base) != 5) faults++;
        return;
    }
#define TEXT(name) \
    if (!strcmp(word, #name)) snprintf(l->name, sizeof l->name, "%s", value)
#define ONE(name) \
    if (!strcmp(word, #name)) l->name = n
    TEXT(d);
    TEXT(type_a);
    TEXT(type_b);
    ONE(n);
    ONE(k);
    ONE(registers);
    ONE(scale);
    ONE(transposed_a);
    ONE(transposed_b);
    ONE(sparse);
    ONE(selector);
    ONE(saturates);
    ONE(mask);
    ONE(chain);
    ONE(step_a);
    ONE(step_b);
    if (!strcmp(word, "sign_a")) l->sign_a = atoi(value);
    if (!strcmp(word, "sign_b")) l->sign_b = atoi(value);
}

static line read_line(const char *text) {
    line l = {.scale = 1, .sign_a = 1, .sign_b = 1, .chain = 1, .mask = UINT32_MAX};
    char copy[1000], *rest = copy, *word;
    snprintf(copy, sizeof copy, "%s", text);
    while ((word = strtok_r(rest, " \n", &rest))) read_word(&l, word);
    return l;
}

/* ---- Its kernel -------------------------------------------------------------------------------------------------- */

static char text[1 << 15];
static size_t length;
#define PUT(...) (length += (size_t)snprintf(text + length, sizeof text - length, __VA_ARGS__))

static bool is(const char *a, const char *b) { return !strcmp(a, b); }
static unsigned registers_of(const line *l) { return is(l->d, "f16") ? l->n / 4 : l->n / 2; }

static void put_descriptor(const char *name, const matrix *m) {
    const unsigned long long rest = (unsigned long long)(m->leading >> 4 & 0x3fff) << 16 |
                                    (unsigned long long)(m->stride >> 4 & 0x3fff) << 32 |
                                    (unsigned long long)m->base << 49 | (unsigned long long)m->swizzle << 62;
    PUT("  mov.u32 %%x, data; add.u32 %%x, %%x, %u; and.b32 %%x, %%x, 0x3ffff; shr.u32 %%x, %%x, 4;\n"
        "  cvt.u64.u32 %%%s, %%x; or.b64 %%%s, %%%s, 0x%llx;\n",
        m->at, name, name, name, rest);
}

static void put_product(const line *l) {
    const bool is_float = !is(l->d, "s32"), halves = is(l->type_a, "f16") || is(l->type_a, "bf16");
    PUT("  wgmma.mma_async%s.sync.aligned.m64n%uk%u.%s.%s.%s%s {", l->sparse ? ".sp" : "", l->n, l->k, l->d, l->type_a,
        l->type_b,
        is(l->type_a, "b1") ? ".and.popc"
        : l->saturates      ? ".satfinite"
                            : "");
    for (unsigned i = 0; i < registers_of(l); i++) PUT("%s%%d%u", i ? ", " : "", i);
    PUT("}, %s, %%b", l->registers ? "{%a0, %a1, %a2, %a3}" : "%a");
    if (l->sparse) PUT(", %%e, %u", l->selector);
    PUT(", %%p");
    if (is_float) PUT(", %d, %d", l->sign_a, l->sign_b);
    if (halves && !l->registers) PUT(", %u", l->transposed_a);
    if (halves) PUT(", %u", l->transposed_b);
    PUT(";\n");
}

static void write_kernel(const line *l) {
    length = 0;
    PUT(".version 8.6\n.target sm_90a\n.address_size 64\n.extern .shared .align 1024 .b8 data[];\n"
        ".visible .entry k(.param .u64 in, .param .u64 out, .param .u32 scale) .maxntid 128\n{\n"
        "  .reg .pred %%p<2>; .reg .pred %%p; .reg .b32 %%t, %%n, %%x, %%d<128>, %%a<4>, %%e; .reg .b64 %%in, %%out, "
        "%%o, %%a, %%b;\n"
        "  ld.param.u64 %%in, [in]; ld.param.u64 %%out, [out]; ld.param.u32 %%x, [scale]; setp.ne.u32 %%p, %%x, 0;\n"
        "  mov.u32 %%t, %%tid.x; mov.u32 %%n, %%t;\n"
        "fill: and.b32 %%x, %%n, %u; mul.wide.u32 %%o, %%x, 4; add.u64 %%o, %%in, %%o; ld.global.b32 %%e, [%%o];\n"
        "  mov.u32 %%x, data; shl.b32 %%a0, %%n, 2; add.u32 %%x, %%x, %%a0; st.shared.b32 [%%x], %%e;\n"
        "  add.u32 %%n, %%n, 128; setp.lt.u32 %%p0, %%n, %u; @%%p0 bra fill;\n"
        "  fence.proxy.async; bar.sync 0; mul.wide.u32 %%o, %%t, 4; add.u64 %%in, %%in, %%o; mul.wide.u32 %%o, %%t, "
        "512;\n"
        "  add.u64 %%out, %%out, %%o; add.u64 %%o, %%in, 1000;\n",
        VALUES - 1, SHARED / 4);
    for (unsigned i = 0; i < 4; i++) PUT("  ld.global.b32 %%a%u, [%%in+%u];\n", i, 2048 + 512 * i);
    PUT("  ld.global.b32 %%e, [%%in+8192];\n");
    for (unsigned i = 0; i < registers_of(l); i++) PUT("  ld.global.b32 %%d%u, [%%out+%u];\n", i, 4 * i);
    put_descriptor("a", &l->a);
    put_descriptor("b", &l->b);
    PUT("  wgmma.fence.sync.aligned;\n");
    for (unsigned i = 0; i < l->chain; i++) {
        put_product(l);
        PUT("  add.u64 %%a, %%a, %u; add.u64 %%b, %%b, %u;\n", l->step_a / 16, l->step_b / 16);
    }
    PUT("  wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;\n");
    for (unsigned i = 0; i < registers_of(l); i++) PUT("  st.global.b32 [%%out+%u], %%d%u;\n", 4 * i, i);
    PUT("  exit;\n}\n");
    if (length >= sizeof text) faults++, printf("the kernel is too long\n");
}

static uint32_t random_word(uint32_t i) {
    uint32_t x = i * 0x9e3779b1u;
    x = (x ^ x >> 15) * 0x85ebca77u;
    return x ^ x >> 13;
}

static uint64_t run(const line *l) {
    static uint32_t d[THREADS * MOST];
    static CUmodule module;
    CUfunction kernel;
    unsigned scale = l->scale;
    void *arguments[] = {&input, &output, &scale};
    write_kernel(l);
    if (module) OK(cuModuleUnload(module));
    module = NULL;
    OK(cuModuleLoadData(&module, text));
    OK(cuModuleGetFunction(&kernel, module, "k"));
    if (faults) return 0;
    for (uint32_t i = 0; i < VALUES; i++) words[i] = random_word(i + 1) & l->mask;
    /* What is added: of the size of the products, or what clamps. */
    for (uint32_t i = 0; i < THREADS * MOST; i++)
        d[i] = is(l->d, "s32") ? random_word(i + 99999) >> (i % 3 ? 12 : 0)
                               : random_word(i + 99999) & (is(l->d, "f16") ? 0xbfffbfff : 0xc0ffffff);
    OK(cuMemcpyHtoD_v2(input, words, sizeof words));
    OK(cuMemcpyHtoD_v2(output, d, sizeof d));
    OK(cuFuncSetAttribute(kernel, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, SHARED));
    OK(cuLaunchKernel(kernel, 1, 1, 1, THREADS, 1, 1, SHARED, 0, arguments, NULL));
    CUresult result = cuCtxSynchronize();
    if (result) {
        printf("%s\n", result_name(result));
        exit(3); /* there is no context any more */
    }
    OK(cuMemcpyDtoH_v2(d, output, sizeof d));
    uint64_t hash = 0xcbf29ce484222325;
    for (unsigned t = 0; t < THREADS; t++)
        for (unsigned i = 0; i < registers_of(l); i++) hash = (hash ^ d[t * MOST + i]) * 0x100000001b3;
    return hash;
}

int main(int count, char **arguments) {
    static char now[1000];
    FILE *file = count > 1 ? fopen(arguments[1], "r") : NULL;
    const unsigned first = count > 3 ? (unsigned)atoi(arguments[3]) : 0;
    if (!file) return printf("usage: test_cuda_wgmma FILE [record [FIRST]]\n"), 2;
    OK(cuInit(0));
    OK(cuCtxCreate_v2(&context, 0, 0));
    OK(cuMemAlloc_v2(&input, sizeof words));
    OK(cuMemAlloc_v2(&output, 4 * THREADS * MOST));
    for (unsigned number = 1; fgets(now, sizeof now, file); number++) {
        now[strcspn(now, "\n")] = 0;
        if (*now == '#' || !*now || number < first) continue;
        char *wanted = strstr(now, " = "), got[20];
        if (wanted) *wanted = 0, wanted += 3;
        const line l = read_line(now);
        if (count > 2) printf("%s = ", now), fflush(stdout);
        snprintf(got, sizeof got, "%016llx", (unsigned long long)run(&l));
        if (count > 2) printf("%s\n", got), fflush(stdout);
        else if (!wanted || strcmp(wanted, got)) faults++, printf("%s = %s, not %s\n", now, got, wanted ? wanted : "");
    }
    fclose(file);
    OK(cuCtxDestroy_v2(context));
    if (count <= 2) printf(faults ? "%d faults\n" : "ok\n", faults);
    return faults != 0;
}
