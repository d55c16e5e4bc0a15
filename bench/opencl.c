/* opencl.c: PoCL's CPU device, programs and runs. */
#include "bench.h"
#include "opencl.h"
#include <stdlib.h>
#include <string.h>

void lw_cl_must(cl_int status, const char *what) {
    if (status != CL_SUCCESS) lw_bench_fail("OpenCL: %s: error %d", what, (int)status);
}

static bool find_device(lw_cl *cl) {
    enum { MOST = 16 };
    cl_platform_id platforms[MOST];
    cl_uint count = 0;
    if (clGetPlatformIDs(MOST, platforms, &count) != CL_SUCCESS) return false;
    for (cl_uint i = 0; i < count && i < MOST; i++) {
        if (clGetPlatformInfo(platforms[i], CL_PLATFORM_VERSION, sizeof cl->platform, cl->platform, NULL)) continue;
        if (!strstr(cl->platform, "PoCL") && !strstr(cl->platform, "pocl")) continue;
        if (clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_CPU, 1, &cl->device, NULL)) continue;
        return clGetDeviceInfo(cl->device, CL_DEVICE_NAME, sizeof cl->name, cl->name, NULL) == CL_SUCCESS;
    }
    return false;
}

bool lw_cl_begin(lw_cl *cl) {
    /* Its device without threads, where nobody says otherwise: one thread on each side, and none that must be woken. */
    setenv("POCL_DEVICES", "basic", 0);
    setenv("POCL_MAX_PTHREAD_COUNT", "1", 0);
    if (!find_device(cl)) return false;
    cl_int status;
    cl->context = clCreateContext(NULL, 1, &cl->device, NULL, NULL, &status);
    lw_cl_must(status, "a context");
    cl->queue = clCreateCommandQueue(cl->context, cl->device, 0, &status);
    lw_cl_must(status, "a queue");
    char *end = strchr(cl->platform, ',');
    if (end) *end = 0;
    return true;
}

void lw_cl_end(lw_cl *cl) {
    clReleaseCommandQueue(cl->queue);
    clReleaseContext(cl->context);
}

static void show_log(const lw_cl *cl, cl_program program, const char *file) {
    static char log[1 << 14];
    clGetProgramBuildInfo(program, cl->device, CL_PROGRAM_BUILD_LOG, sizeof log, log, NULL);
    lw_bench_fail("opencl/%s.cl: %s", file, log);
}

cl_program lw_cl_program(const lw_cl *cl, const char *file) {
    size_t size;
    cl_int status;
    char path[4096];
    snprintf(path, sizeof path, "%s/%s.cl", LW_BENCH_OPENCL, file);
    char *text = lw_bench_read_path(path, &size);
    cl_program program = clCreateProgramWithSource(cl->context, 1, (const char *[]){text}, &size, &status);
    lw_cl_must(status, file);
    if (clBuildProgram(program, 1, &cl->device, "-cl-std=CL1.2", NULL, NULL)) show_log(cl, program, file);
    free(text);
    return program;
}

cl_mem lw_cl_buffer(const lw_cl *cl, const void *words, size_t bytes) {
    cl_int status;
    cl_mem buffer = clCreateBuffer(cl->context, CL_MEM_READ_WRITE, bytes, NULL, &status);
    lw_cl_must(status, "a buffer");
    lw_cl_must(clEnqueueWriteBuffer(cl->queue, buffer, CL_TRUE, 0, bytes, words, 0, NULL, NULL), "writing a buffer");
    return buffer;
}

void lw_cl_run(const lw_cl *cl, cl_kernel kernel, size_t threads, size_t block) {
    lw_cl_must(clEnqueueNDRangeKernel(cl->queue, kernel, 1, NULL, &threads, &block, 0, NULL, NULL), "a launch");
}
