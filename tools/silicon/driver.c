/* driver.c: the plain CUDA driver API, found at run time, so that the program builds without CUDA and runs
 * with any driver. */
#include "silicon.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "shim/cuda/abi.h"

/* clang-format off */
/* clang-format off */
#define CALLS(CALL) \
    CALL(cuInit) CALL(cuDriverGetVersion) CALL(cuGetErrorName) \
    CALL(cuGetErrorString) CALL(cuDeviceGet) CALL(cuDeviceGetName) \
    CALL(cuDeviceGetAttribute) CALL(cuDevicePrimaryCtxRetain) CALL(cuDevicePrimaryCtxRelease_v2) \
    CALL(cuCtxSetCurrent) CALL(cuCtxSynchronize) CALL(cuModuleLoadDataEx) \
    CALL(cuModuleUnload) CALL(cuModuleGetFunction) CALL(cuMemAlloc_v2) \
    CALL(cuMemFree_v2) CALL(cuMemcpyHtoD_v2) CALL(cuMemcpyDtoH_v2) \
    CALL(cuMemsetD32_v2) CALL(cuLaunchKernel)
/* clang-format on */
/* clang-format on */

static struct {
#define CALL(name) __typeof__(name) *name;
    CALLS(CALL)
#undef CALL
} cuda;

enum { BLOCK = 128, LOG_SIZE = 1 << 16 };

struct lw_device {
    void *library;
    CUdevice number;
    CUmodule module;
    CUdeviceptr cases, results;
    size_t room; /* words of results, here and there */
    uint32_t *words;
};

static void check(CUresult result, const char *what, const char *more) {
    const char *name = "?", *text = "?";
    if (!result) return;
    if (cuda.cuGetErrorName) cuda.cuGetErrorName(result, &name);
    if (cuda.cuGetErrorString) cuda.cuGetErrorString(result, &text);
    lw_silicon_leave(LW_EXIT_MACHINE, "%s: %s (%s)%s%s", what, text, name, *more ? "\n" : "", more);
}

#define OK(name, ...) check(cuda.name(__VA_ARGS__), #name, "")

lw_device *lw_device_open(void) {
    lw_device *d = lw_silicon_memory(1, sizeof *d);
    CUcontext context;
    d->library = dlopen("libcuda.so.1", RTLD_NOW);
    if (!d->library) lw_silicon_leave(LW_EXIT_MACHINE, "no driver: %s", dlerror());
#define CALL(name) \
    *(void **)&cuda.name = dlsym(d->library, #name); \
    if (!cuda.name) lw_silicon_leave(LW_EXIT_MACHINE, "the driver has no " #name);
    CALLS(CALL)
#undef CALL
    OK(cuInit, 0);
    OK(cuDeviceGet, &d->number, 0);
    OK(cuDevicePrimaryCtxRetain, &context, d->number);
    OK(cuCtxSetCurrent, context);
    return d;
}

static void unload(lw_device *d) {
    if (!d->module) return;
    OK(cuModuleUnload, d->module);
    OK(cuMemFree_v2, d->cases);
    d->module = NULL;
}

void lw_device_close(lw_device *d) {
    unload(d);
    if (d->room) OK(cuMemFree_v2, d->results);
    OK(cuDevicePrimaryCtxRelease_v2, d->number);
    free(d->words);
    free(d); /* the driver stays: drivers are not made to be closed */
}

/* The driver's own number is not in the API: "580.159.04" from the kernel module's file or from the tool that
 * comes with it. */
static void driver_number(char *number, size_t size) {
    char line[256] = "";
    FILE *file = fopen("/proc/driver/nvidia/version", "r");
    if (file) {
        if (!fgets(line, sizeof line, file)) *line = 0;
        fclose(file);
    } else if ((file = popen("nvidia-smi --query-gpu=driver_version --format=csv,noheader 2>/dev/null", "r"))) {
        if (!fgets(line, sizeof line, file)) *line = 0;
        pclose(file);
    }
    snprintf(number, size, "unknown");
    for (char *word = strtok(line, " \t\n"); word; word = strtok(NULL, " \t\n"))
        if (strspn(word, "0123456789.") == strlen(word) && strchr(word, '.')) {
            snprintf(number, size, "%s", word);
            return;
        }
}

void lw_device_describe(lw_device *d, FILE *out) {
    char name[128] = "", number[64] = "";
    int major, minor, version;
    OK(cuDeviceGetName, name, sizeof name, d->number);
    OK(cuDeviceGetAttribute, &major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, d->number);
    OK(cuDeviceGetAttribute, &minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, d->number);
    OK(cuDriverGetVersion, &version);
    if (strncmp(name, "Lanewise", 8)) driver_number(number, sizeof number);
    fprintf(out, "card: %s, compute capability %d.%d\n", name, major, minor);
    fprintf(out, "driver: %s%sCUDA %d.%d\n", number, *number ? ", " : "", version / 1000, version % 1000 / 10);
}

void lw_device_load(lw_device *d, const lw_batch *batch) {
    static char log[LOG_SIZE];
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {log, (void *)(uintptr_t)sizeof log};
    size_t bytes = batch->family->cases * sizeof *batch->cases;
    unload(d);
    *log = 0;
    check(cuda.cuModuleLoadDataEx(&d->module, batch->ptx, 2, options, values), "cuModuleLoadDataEx", log);
    OK(cuMemAlloc_v2, &d->cases, bytes);
    OK(cuMemcpyHtoD_v2, d->cases, batch->cases, bytes);
}

static void make_room(lw_device *d, size_t words) {
    if (words <= d->room) return;
    if (d->room) OK(cuMemFree_v2, d->results);
    free(d->words);
    d->words = lw_silicon_memory(words, sizeof *d->words);
    OK(cuMemAlloc_v2, &d->results, words * sizeof *d->words);
    d->room = words;
}

const uint32_t *lw_device_run(lw_device *d, const lw_group *group) {
    size_t words = (size_t)group->words * group->cases;
    CUfunction function;
    make_room(d, words);
    void *params[] = {&d->cases, &d->results};
    OK(cuModuleGetFunction, &function, d->module, group->name);
    OK(cuMemsetD32_v2, d->results, LW_UNTOUCHED, words);
    check(cuda.cuLaunchKernel(function, group->cases / BLOCK, 1, 1, BLOCK, 1, 1, 0, NULL, params, NULL),
          "cuLaunchKernel", group->name);
    check(cuda.cuCtxSynchronize(), "cuCtxSynchronize", group->name);
    OK(cuMemcpyDtoH_v2, d->words, d->results, words * sizeof *d->words);
    return d->words;
}
