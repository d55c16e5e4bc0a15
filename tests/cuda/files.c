/* files.c: what cuModuleLoad does with files that are no modules: it says so, and reads none that does not end. */
#include "expect.h"

#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

int main(void) {
    CUcontext context;
    CUmodule module;
    char path[] = "/tmp/lanewise-module-XXXXXX";
    static const char ptx[] = ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k()\n{\nret;\n}\n";
    OK(cuInit(0));
    OK(cuCtxCreate_v2(&context, 0, 0));
    int file = mkstemp(path);
    EXPECT(file >= 0 && write(file, ptx, sizeof ptx) == sizeof ptx); /* with the NUL, behind which anything may stand */
    EXPECT(write(file, "\1\2\3", 3) == 3);
    OK(cuModuleLoad(&module, path));
    OK(cuModuleUnload(module));
    GIVES(CUDA_ERROR_FILE_NOT_FOUND, cuModuleLoad(&module, "/tmp"));
    GIVES(CUDA_ERROR_FILE_NOT_FOUND, cuModuleLoad(&module, "/tmp/lanewise-no-such-file"));
    struct rusage used;
    EXPECT(cuModuleLoad(&module, "/dev/zero") != CUDA_SUCCESS);
    EXPECT(!getrusage(RUSAGE_SELF, &used) && used.ru_maxrss < 1 << 20); /* a gigabyte */
    close(file);
    unlink(path);
    OK(cuCtxDestroy_v2(context));
    return faults != 0;
}
