/* images.c FOLDER ARCH FILE…: fatbins that the toolkit made (images/make.sh): a file's PTX for ARCH is taken, wherever
 * it lies; and whatever stands in an image, the driver says so and reads nothing outside of it. */
#include "expect.h"

#include <stdbool.h>
#include <stdlib.h>

typedef struct bytes {
    unsigned char *at;
    size_t size;
} bytes;

static bytes read_file(const char *folder, const char *name, char path[4096]) {
    bytes read = {NULL, 0};
    snprintf(path, 4096, "%s/%s", folder, name);
    FILE *file = fopen(path, "rb");
    EXPECT(file != NULL);
    if (!file) return read;
    read.at = malloc(1 << 16);
    read.size = fread(read.at, 1, 1 << 16, file);
    EXPECT(read.size > 0 && read.size < 1 << 16);
    fclose(file);
    return read;
}

/* The other way to see which text was taken is what the kernel writes. */
static void has(CUmodule module, unsigned wanted) {
    CUfunction function = NULL;
    CUdeviceptr out;
    unsigned got = 0;
    if (!module) return;
    OK(cuMemAlloc_v2(&out, sizeof got));
    OK(cuModuleGetFunction(&function, module, "get"));
    OK(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, (void *[]){&out}, NULL));
    OK(cuMemcpyDtoH_v2(&got, out, sizeof got));
    if (got != wanted) faults++, printf("got %u, not %u\n", got, wanted);
    OK(cuMemFree_v2(out));
    OK(cuModuleUnload(module));
}

/* As a file, in memory, and as a program has it. */
static void takes(const char *folder, const char *name, unsigned wanted) {
    char path[4096];
    bytes image = read_file(folder, name, path);
    struct {
        unsigned magic, version;
        void *data, *more;
    } wrapper = {0x466243b1, 1, image.at, NULL};
    CUmodule module = NULL;
    OK(cuModuleLoad(&module, path));
    has(module, wanted);
    OK(cuModuleLoadData(&module, image.at));
    has(module, wanted);
    OK(cuModuleLoadFatBinary(&module, image.at));
    has(module, wanted);
    if (is_ours()) { /* what registers a program's code; others want the container itself */
        OK(cuModuleLoadData(&module, &wrapper));
        has(module, wanted);
    }
    free(image.at);
}

static char error[2000];

static CUlinkState new_link(void) {
    static CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    static void *values[2];
    CUlinkState state = NULL;
    error[0] = 0;
    values[0] = error;
    values[1] = (void *)sizeof error;
    OK(cuLinkCreate_v2(2, options, values, &state));
    return state;
}

/* Both without the PTX that this device needs; what to do about it is said. */
static void refused(const char *folder, const char *name, const char *word) {
    char path[4096];
    CUlinkState state = new_link();
    snprintf(path, sizeof path, "%s/%s", folder, name);
    if (is_ours()) /* others say so when all is linked */
        GIVES(CUDA_ERROR_NO_BINARY_FOR_GPU, cuLinkAddFile_v2(state, CU_JIT_INPUT_FATBINARY, path, 0, NULL, NULL));
    if (is_ours()) EXPECT(strstr(error, word) && strstr(error, "nvcc -gencode arch=compute_"));
    OK(cuLinkDestroy(state));
}

/* An archive of two host objects, each of which has a text that needs the other's. */
static void archive(const char *folder) {
    char path[4096];
    CUlinkState state = new_link();
    CUmodule module = NULL;
    void *linked;
    snprintf(path, sizeof path, "%s/parts.a", folder);
    OK(cuLinkAddFile_v2(state, CU_JIT_INPUT_LIBRARY, path, 0, NULL, NULL));
    OK(cuLinkComplete(state, &linked, NULL));
    OK(cuModuleLoadData(&module, linked));
    OK(cuLinkDestroy(state));
    has(module, 42);
}

/* A library is named in case that it is needed: one without PTX is left out, and that is said. */
static void empty_archive(const char *folder) {
    static char log[2000];
    static CUjit_option options[] = {CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {log, (void *)sizeof log}, *linked;
    char path[4096], head[61], *all;
    bytes lto = read_file(folder, "lto.fatbin", path), caller = read_file(folder, "none.fatbin", path);
    CUlinkState state;
    snprintf(head, sizeof head, "%-16s%-12d%-6d%-6d%-8d%-10zu`\n", "lto.o/", 0, 0, 0, 644, lto.size);
    all = malloc(8 + 60 + lto.size);
    memcpy(all, "!<arch>\n", 8);
    memcpy(all + 8, head, 60);
    memcpy(all + 68, lto.at, lto.size);
    OK(cuLinkCreate_v2(2, options, values, &state));
    OK(cuLinkAddData_v2(state, CU_JIT_INPUT_LIBRARY, all, 68 + lto.size, "some.a", 0, NULL, NULL));
    if (is_ours()) EXPECT(strstr(log, "left out") && strstr(log, "some.a(lto.o)"));
    OK(cuLinkAddData_v2(state, CU_JIT_INPUT_FATBINARY, caller.at, caller.size, "caller", 0, NULL, NULL));
    OK(cuLinkComplete(state, &linked, NULL));
    OK(cuLinkDestroy(state));
    free(all);
    free(lto.at);
    free(caller.at);
}

/* Two containers of a program whose parts were not linked, as nvcc -rdc=true leaves them to the driver. */
static void parts(const char *folder) {
    char path[4096];
    bytes all = read_file(folder, "parts.a", path);
    static const unsigned char magic[] = {0x50, 0xed, 0x55, 0xba};
    _Alignas(16) unsigned char empty[16] = {0x50, 0xed, 0x55, 0xba, 1, 0, 16};
    void *found[8] = {0};
    size_t count = 0;
    for (size_t i = 0; i + 16 < all.size && count < 7; i++)
        if (!memcmp(all.at + i, magic, sizeof magic) && memcmp(all.at + i + 8, &(uint64_t){0}, 8))
            found[count++] = all.at + i;
    EXPECT(count == 2);
    struct {
        unsigned magic, version;
        void *data, *more;
    } wrapper = {0x466243b1, 2, empty, found};
    CUmodule module = NULL;
    OK(cuModuleLoadData(&module, &wrapper));
    has(module, 42);
    found[1] = NULL; /* then something is missing, or nothing is called */
    CUresult result = cuModuleLoadData(&module, &wrapper);
    EXPECT(result == CUDA_SUCCESS || result == CUDA_ERROR_INVALID_PTX);
    if (!result) OK(cuModuleUnload(module));
    found[0] = NULL;
    GIVES(CUDA_ERROR_NO_BINARY_FOR_GPU, cuModuleLoadData(&module, &wrapper));
    free(all.at);
}

/* In memory of exactly that size, so that a sanitizer sees what is read behind it. */
static void try_hostile(const unsigned char *bytes, size_t size, bool *said) {
    unsigned char *exact = malloc(size);
    memcpy(exact, bytes, size);
    CUlinkState state = new_link();
    CUresult result = cuLinkAddData_v2(state, CU_JIT_INPUT_LIBRARY, exact, size, "hostile", 0, NULL, NULL);
    free(exact);
    said[result == CUDA_SUCCESS ? 0 : 1] = true;
    const bool defined = result == CUDA_SUCCESS || result == CUDA_ERROR_INVALID_IMAGE ||
                         result == CUDA_ERROR_NO_BINARY_FOR_GPU || result == CUDA_ERROR_INVALID_PTX ||
                         result == CUDA_ERROR_UNSUPPORTED_PTX_VERSION;
    if (!defined || (result && !error[0])) faults++, printf("%s, and it says '%s'\n", result_name(result), error);
    OK(cuLinkDestroy(state));
}

/* Every length, and every bit of the heads that lie at the front; then bits anywhere. */
static void hostile(const char *folder, const char *name) {
    enum { STEP = 37, HEADS = 100, FLIPS = 300 };
    char path[4096];
    bytes image = read_file(folder, name, path);
    bool said[2] = {false, false};
    unsigned random = 1;
    for (size_t size = 1; size < image.size; size += size < HEADS ? 1 : STEP) try_hostile(image.at, size, said);
    for (size_t i = 0; i < HEADS * 8 + FLIPS; i++) {
        random = random * 1664525 + 1013904223;
        const size_t bit = i < HEADS * 8 ? i : random % (image.size * 8);
        image.at[bit / 8] ^= (unsigned char)(1u << bit % 8);
        try_hostile(image.at, image.size, said);
        image.at[bit / 8] ^= (unsigned char)(1u << bit % 8);
    }
    EXPECT(said[0] && said[1]);
    free(image.at);
}

int main(int argc, char **argv) {
    CUcontext context;
    if (argc < 4) return 2;
    OK(cuInit(0));
    OK(cuCtxCreate_v2(&context, 0, 0));
    const unsigned wanted = (unsigned)atoi(argv[2]);
    for (int i = 3; i < argc; i++) takes(argv[1], argv[i], wanted);
    if (wanted == 901) { /* once, on the device that it is by default */
        refused(argv[1], "other.fatbin", "machine code for sm_80, PTX for sm_120");
        refused(argv[1], "lto.fatbin", "LTO-IR for sm_90");
        archive(argv[1]);
        empty_archive(argv[1]);
        parts(argv[1]);
    }
    if (wanted == 901 && is_ours()) {
        for (int i = 3; i < argc; i++) hostile(argv[1], argv[i]);
        hostile(argv[1], "parts.a");
    }
    OK(cuCtxDestroy_v2(context));
    if (faults) printf("%d faults\n", faults);
    return faults != 0;
}
