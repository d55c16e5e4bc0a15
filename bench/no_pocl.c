/* no_pocl.c: in pocl.c's place where CMake found no OpenCL. */
#include "bench.h"

bool lw_bench_pocl(const lw_bench_options *options) {
    (void)options;
    fputs("lanewise_bench: skipped: built without OpenCL (Debian: ocl-icd-opencl-dev, opencl-headers)\n", stderr);
    return false;
}
