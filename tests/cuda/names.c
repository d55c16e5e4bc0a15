/* names.c LIBRARY: every name of the table is there, what is missing says so, and cuGetProcAddress picks versions. */
#include "expect.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <unistd.h>

typedef CUresult function(uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t);

static const struct row {
    const char *name, *thread, *symbol;
    int version;
    bool here;
} rows[] = {
#define HERE(name, version, thread, symbol)    {#name, #thread, #symbol, version, true},
#define MISSING(name, version, thread, symbol) {#name, #thread, #symbol, version, false},
#include "shim/cuda/names.def"
};
enum { ROWS = sizeof rows / sizeof rows[0] };

static void present(void *library) {
    for (int i = 0; i < ROWS; i++) {
        void *symbol = dlsym(library, rows[i].symbol), *found = NULL;
        CUdriverProcAddressQueryResult why = 9;
        uint64_t flags = rows[i].thread[1] ? CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM
                                           : CU_GET_PROC_ADDRESS_DEFAULT;
        if (!symbol) faults++, printf("%s is not exported\n", rows[i].symbol);
        OK(cuGetProcAddress_v2(rows[i].name, &found, rows[i].version, flags, &why));
        if (found != symbol || why)
            faults++, printf("%s for %d is not %s\n", rows[i].name, rows[i].version, rows[i].symbol);
        if (symbol && !rows[i].here && ((function *)symbol)(1, 1, 1, 1, 1, 1, 1, 1) != CUDA_ERROR_NOT_SUPPORTED)
            faults++, printf("%s does not say that it is missing\n", rows[i].symbol);
    }
}

static void *address(const char *name, int version, uint64_t flags) {
    void *found = NULL;
    OK(cuGetProcAddress(name, &found, version, flags));
    return found;
}

static void versions(void *library) {
    CUdriverProcAddressQueryResult why;
    void *found = &why;
    const uint64_t thread = CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
    EXPECT(address("cuMemAlloc", 2000, 0) == dlsym(library, "cuMemAlloc"));
    EXPECT(address("cuMemAlloc", 13000, 0) == dlsym(library, "cuMemAlloc_v2"));
    EXPECT(address("cuCtxCreate", 12040, 0) == dlsym(library, "cuCtxCreate_v3"));
    EXPECT(address("cuCtxCreate", 13000, thread) == dlsym(library, "cuCtxCreate_v4"));
    EXPECT(address("cuMemcpyHtoD", 13000, thread) == dlsym(library, "cuMemcpyHtoD_v2_ptds"));
    EXPECT(address("cuMemcpyHtoD", 13000, CU_GET_PROC_ADDRESS_LEGACY_STREAM) == dlsym(library, "cuMemcpyHtoD_v2"));
    EXPECT(address("cuStreamQuery", 6000, thread) == dlsym(library, "cuStreamQuery")); /* none for threads yet */
    OK(cuGetProcAddress_v2("cuCtxGetId", &found, 11000, 0, &why));
    EXPECT(!found && why == CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT);
    OK(cuGetProcAddress_v2("cuFrobnicate", &found, 13000, 0, &why));
    EXPECT(!found && why == CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
    GIVES(CUDA_ERROR_NOT_FOUND, cuGetProcAddress("cuFrobnicate", &found, 13000, 0));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuGetProcAddress("", &found, 13000, 0));
}

static void tables(void) {
    const void *table = &table;
    CUuuid id = {{1, 2, 3}};
    GIVES(CUDA_ERROR_NOT_FOUND, cuGetExportTable(&table, &id));
    EXPECT(!table);
}

int main(int argc, char **argv) {
    void *library = argc == 2 ? dlopen(argv[1], RTLD_NOW) : NULL;
    if (!library) return printf("usage: names LIBRARY: %s\n", argc == 2 ? dlerror() : ""), 2;
    present(library);
    versions(library);
    tables();
    return faults != 0;
}
