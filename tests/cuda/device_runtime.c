/* device_runtime.c: what kernels call of CUDA's device runtime, which toolkits have in libcudadevrt as machine code:
 * grids that wait for all their threads, and memory. Elsewhere than on Lanewise that library is an argument. */
#include "expect.h"

#include <stdlib.h>

enum { CTAS = 6, THREADS = 35, ROUNDS = 9 };

#define HEAD                          ".version 7.0\n.target sm_70\n.address_size 64\n"
#define CALL(result, name, arguments) "call.uni (" result "), " name ", (" arguments ");\n"

/* Macros between strings: as stairs nobody could read them. */
/* clang-format off */

/* meet: each CTA has a word, and makes it of its neighbour's as that was a round before. Behind all words come, of the
 * last thread: the first result that is not 0, the size of the grid, its number, and its place. */
static const char grids[] =
    HEAD
    ".extern .func (.param .b64 r) cudaCGGetIntrinsicHandle(.param .b32 scope);\n"
    ".extern .func (.param .b32 r) cudaCGSynchronize(.param .b64 handle, .param .b32 flags);\n"
    ".extern .func (.param .b32 r) cudaCGGetSize(.param .b64 threads, .param .b64 grids, .param .b64 handle);\n"
    ".extern .func (.param .b32 r) cudaCGGetRank(.param .b64 thread, .param .b64 grid, .param .b64 handle);\n"
    ".visible .entry meet(.param .u64 to, .param .u32 rounds)\n{\n.reg .b64 %d<8>;\n.reg .b32 %r<12>;\n"
    ".reg .pred %p<3>;\n.shared .align 8 .b32 told[2];\n.param .b32 scope;\n.param .b64 h;\n.param .b64 a;\n"
    ".param .b64 b;\n.param .b32 flags;\n.param .b32 e;\nld.param.u64 %d0, [to];\nld.param.u32 %r0, [rounds];\n"
    "mov.u32 %r1, %ctaid.x;\nmov.u32 %r2, %nctaid.x;\nadd.u32 %r3, %r1, 1;\nrem.u32 %r3, %r3, %r2;\n"
    "mul.wide.u32 %d1, %r1, 4;\nadd.u64 %d1, %d0, %d1;\nmul.wide.u32 %d2, %r3, 4;\nadd.u64 %d2, %d0, %d2;\n"
    "mov.u32 %r4, %tid.x;\nsetp.eq.u32 %p0, %r4, 0;\nmov.u32 %r9, 0;\nst.param.b32 [scope], 1;\n"
    CALL("h", "cudaCGGetIntrinsicHandle", "scope")
    "ld.param.b64 %d3, [h];\nLOOP:\nld.volatile.global.u32 %r5, [%d2];\nst.param.b64 [h], %d3;\n"
    "st.param.b32 [flags], 0;\n"
    CALL("e", "cudaCGSynchronize", "h, flags")
    "ld.param.b32 %r6, [e];\nor.b32 %r9, %r9, %r6;\nmad.lo.u32 %r5, %r5, 3, %r1;\n"
    "@%p0 st.volatile.global.u32 [%d1], %r5;\nst.param.b64 [h], %d3;\nst.param.b32 [flags], 0;\n"
    CALL("e", "cudaCGSynchronize", "h, flags")
    "ld.param.b32 %r6, [e];\nor.b32 %r9, %r9, %r6;\nsub.u32 %r0, %r0, 1;\nsetp.ne.u32 %p1, %r0, 0;\n@%p1 bra LOOP;\n"
    "mul.wide.u32 %d4, %r2, 4;\nadd.u64 %d4, %d0, %d4;\nmov.u32 %r7, %ntid.x;\nsub.u32 %r7, %r7, 1;\n"
    "setp.ne.u32 %p2, %r7, %r4;\nsetp.ne.or.u32 %p2, %r3, 0, %p2;\n@%p2 ret;\nst.global.u32 [%d4], %r9;\n"
    "mov.u64 %d5, told;\ncvta.shared.u64 %d6, %d5;\nadd.u64 %d7, %d6, 4;\nst.param.b64 [a], %d6;\n"
    "st.param.b64 [b], %d7;\nst.param.b64 [h], %d3;\n"
    CALL("e", "cudaCGGetSize", "a, b, h")
    "ld.param.b32 %r6, [e];\nld.shared.u32 %r7, [%d5];\nld.shared.u32 %r8, [%d5+4];\nst.global.u32 [%d4+4], %r6;\n"
    "st.global.u32 [%d4+8], %r7;\nst.global.u32 [%d4+12], %r8;\nst.param.b64 [a], %d6;\nst.param.b64 [b], %d7;\n"
    "st.param.b64 [h], %d3;\n"
    CALL("e", "cudaCGGetRank", "a, b, h")
    "ld.param.b32 %r6, [e];\nld.shared.u32 %r7, [%d5];\nld.shared.u32 %r8, [%d5+4];\nst.global.u32 [%d4+16], %r6;\n"
    "st.global.u32 [%d4+20], %r7;\nst.global.u32 [%d4+24], %r8;\nret;\n}\n";

/* own: memory of the device's heap, filled and copied by calls that streams may do later; results of calls, and the
 * last two of one direction of copies that kernels have not and of more memory than there is. */
static const char memory[] =
    HEAD
    ".extern .func (.param .b32 r) __cudaCDP2Malloc(.param .b64 at, .param .b64 size);\n"
    ".extern .func (.param .b32 r) __cudaCDP2Free(.param .b64 at);\n"
    ".extern .func (.param .b32 r) __cudaCDP2MemsetAsync(.param .b64 at, .param .b32 value, .param .b64 size, .param .b64 stream);\n"
    ".extern .func (.param .b32 r) __cudaCDP2MemcpyAsync(.param .b64 to, .param .b64 from, .param .b64 size, .param .b32 kind, .param .b64 stream);\n"
    ".visible .entry own(.param .u64 to)\n{\n.reg .b64 %d<8>;\n.reg .b32 %r<8>;\n.shared .align 8 .b64 told;\n"
    ".param .b64 a;\n.param .b64 b;\n.param .b64 c;\n.param .b64 s;\n.param .b32 k;\n.param .b32 v;\n.param .b32 e;\n"
    "ld.param.u64 %d0, [to];\nmov.u64 %d1, told;\ncvta.shared.u64 %d2, %d1;\nst.param.b64 [a], %d2;\n"
    "st.param.b64 [b], 64;\n"
    CALL("e", "__cudaCDP2Malloc", "a, b")
    "ld.param.b32 %r0, [e];\nst.global.u32 [%d0+64], %r0;\nld.shared.u64 %d3, [%d1];\nst.b32 [%d3], 5;\n"
    "ld.b32 %r1, [%d3];\nst.global.u32 [%d0+68], %r1;\nst.param.b64 [a], %d3;\n"
    CALL("e", "__cudaCDP2Free", "a")
    "ld.param.b32 %r0, [e];\nst.global.u32 [%d0+72], %r0;\nst.param.b64 [a], %d0;\nst.param.b32 [v], 0x1a5;\n"
    "st.param.b64 [c], 7;\nst.param.b64 [s], 0;\n"
    CALL("e", "__cudaCDP2MemsetAsync", "a, v, c, s")
    "ld.param.b32 %r0, [e];\nst.global.u32 [%d0+76], %r0;\nadd.u64 %d4, %d0, 33;\nst.param.b64 [a], %d4;\n"
    "st.param.b64 [b], %d0;\nst.param.b64 [c], 5;\nst.param.b32 [k], 3;\nst.param.b64 [s], 0;\n"
    CALL("e", "__cudaCDP2MemcpyAsync", "a, b, c, k, s")
    "ld.param.b32 %r0, [e];\nst.global.u32 [%d0+80], %r0;\nst.param.b64 [a], %d4;\nst.param.b64 [b], %d0;\n"
    "st.param.b64 [c], 5;\nst.param.b32 [k], 1;\nst.param.b64 [s], 0;\n"
    CALL("e", "__cudaCDP2MemcpyAsync", "a, b, c, k, s")
    "ld.param.b32 %r0, [e];\nst.global.u32 [%d0+84], %r0;\nst.param.b64 [a], %d2;\nst.param.b64 [b], 0x10000000000;\n"
    CALL("e", "__cudaCDP2Malloc", "a, b")
    "ld.param.b32 %r0, [e];\nst.global.u32 [%d0+88], %r0;\nld.shared.u64 %d3, [%d1];\ncvt.u32.u64 %r1, %d3;\n"
    "st.global.u32 [%d0+92], %r1;\nret;\n}\n";

/* clang-format on */

static CUdeviceptr words;

static CUfunction function_of(const char *text, const char *name, const char *library) {
    CUlinkState link;
    CUmodule module = NULL;
    CUfunction function = NULL;
    void *image = NULL;
    size_t size;
    OK(cuLinkCreate_v2(0, NULL, NULL, &link));
    OK(cuLinkAddData_v2(link, CU_JIT_INPUT_PTX, (void *)(uintptr_t)text, strlen(text) + 1, name, 0, NULL, NULL));
    if (library) OK(cuLinkAddFile_v2(link, CU_JIT_INPUT_LIBRARY, library, 0, NULL, NULL));
    OK(cuLinkComplete(link, &image, &size));
    OK(cuModuleLoadData(&module, image));
    OK(cuModuleGetFunction(&function, module, name));
    OK(cuLinkDestroy(link));
    return function;
}

static void try_grids(const char *library) {
    CUfunction meet = function_of(grids, "meet", library);
    unsigned model[2][CTAS], found[CTAS + 7], rounds = ROUNDS;
    void *params[] = {&words, &rounds};
    for (int twice = 0; twice < 2; twice++) { /* one launch leaves nothing behind for the next */
        for (unsigned i = 0; i < CTAS; i++) model[0][i] = i * i + 1;
        OK(cuMemcpyHtoD_v2(words, model[0], sizeof model[0]));
        OK(cuLaunchCooperativeKernel(meet, CTAS, 1, 1, THREADS, 1, 1, 0, NULL, params));
        for (unsigned r = 0; r < ROUNDS; r++)
            for (unsigned i = 0; i < CTAS; i++) model[~r & 1][i] = model[r & 1][(i + 1) % CTAS] * 3 + i;
        OK(cuMemcpyDtoH_v2(found, words, sizeof found));
        EXPECT(!memcmp(found, model[ROUNDS & 1], sizeof model[0]));
        EXPECT(!memcmp(found + CTAS, (unsigned[]){0, 0, CTAS * THREADS, 1, 0, CTAS * THREADS - 1, 1}, 28));
    }
    /* There is no grid group where the launch is none of those: cudaErrorUnknown, and the neighbours may be early. */
    rounds = 1;
    OK(cuLaunchKernel(meet, CTAS, 1, 1, THREADS, 1, 1, 0, NULL, params, NULL));
    OK(cuMemcpyDtoH_v2(found, words, sizeof found));
    EXPECT(!memcmp(found + CTAS, (unsigned[]){999, 999, 0, 0, 999, 0, 0}, 28));
}

static void try_memory(void) {
    CUfunction own = function_of(memory, "own", NULL);
    unsigned char found[96];
    static const unsigned results[] = {0, 5, 0, 0, 0, 21, 2, 0};
    OK(cuMemsetD8_v2(words, 0x11, sizeof found));
    OK(cuLaunchKernel(own, 1, 1, 1, 1, 1, 1, 0, NULL, (void *[]){&words}, NULL));
    OK(cuMemcpyDtoH_v2(found, words, sizeof found));
    EXPECT(!memcmp(found + 64, results, sizeof results));
    for (int i = 0; i < 64; i++) EXPECT(found[i] == (i < 7 || (i >= 33 && i < 38) ? 0xa5 : 0x11));
}

/* A program's own function and variable may have such names, whatever they are; nothing else is declared. */
static void try_own_names(void) {
    /* clang-format off */
    static const char text[] =
        HEAD
        ".visible .global .b32 cudaMalloc = 4000;\n.visible .func (.param .b32 r) cudaFree(.param .b32 a)\n{\n"
        ".reg .b32 %r;\nld.param.b32 %r, [a];\nadd.u32 %r, %r, 711;\nst.param.b32 [r], %r;\nret;\n}\n"
        ".visible .entry own(.param .u64 to)\n{\n.reg .b64 %d;\n.reg .b32 %r;\n.param .b32 a;\n.param .b32 e;\n"
        "ld.param.u64 %d, [to];\nld.global.b32 %r, [cudaMalloc];\nst.param.b32 [a], %r;\n"
        CALL("e", "cudaFree", "a")
        "ld.param.b32 %r, [e];\nst.global.b32 [%d], %r;\nret;\n}\n";
    /* clang-format on */
    unsigned found = 0;
    CUfunction own = function_of(text, "own", NULL);
    OK(cuLaunchKernel(own, 1, 1, 1, 1, 1, 1, 0, NULL, (void *[]){&words}, NULL));
    OK(cuMemcpyDtoH_v2(&found, words, sizeof found));
    EXPECT(found == 4711);
}

int main(int count, char **arguments) {
    CUcontext context;
    OK(cuInit(0));
    OK(cuCtxCreate_v2(&context, 0, 0));
    OK(cuMemAlloc_v2(&words, 4096));
    const char *library = count > 1 ? arguments[1] : NULL;
    EXPECT(library || is_ours());
    try_grids(library);
    try_own_names();
    if (!library) try_memory(); /* elsewhere that needs what nvcc's runtime sets up */
    OK(cuCtxDestroy_v2(context));
    return faults != 0;
}
