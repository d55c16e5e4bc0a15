/* The device that kernels in OpenCL C run on: PoCL's CPU device, in the calling thread. opencl.c */
#ifndef LW_BENCH_OPENCL_H
#define LW_BENCH_OPENCL_H

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

typedef struct lw_cl {
    cl_context context;
    cl_command_queue queue;
    cl_device_id device;
    char platform[256], name[256];
} lw_cl;

/* False: no platform is PoCL's, or it has no CPU device. */
bool lw_cl_begin(lw_cl *cl);
void lw_cl_end(lw_cl *cl);

/* Each ends the program with what failed. */
void lw_cl_must(cl_int status, const char *what);
cl_program lw_cl_program(const lw_cl *cl, const char *file); /* bench/opencl/FILE.cl */
cl_mem lw_cl_buffer(const lw_cl *cl, const void *words, size_t bytes);
void lw_cl_run(const lw_cl *cl, cl_kernel kernel, size_t threads, size_t block);

#endif
