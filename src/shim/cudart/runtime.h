/* runtime.h: what stands behind the CUDA runtime API.   driver → device → register → module → the calls
 *
 * The runtime knows the driver by its public functions only, which it looks up in libcuda.so.1: whichever that is. What
 * it adds: each thread has a device, whose primary context becomes current when the thread first needs it; a last error
 * for each thread; and what compilers register when a program begins, which is loaded when it is first used. */
#ifndef LW_SHIM_CUDART_RUNTIME_H
#define LW_SHIM_CUDART_RUNTIME_H

#include <pthread.h>
#include <stdbool.h>

#include "shim/cuda/abi.h"
#include "shim/cudart/abi.h"

/* ---- The driver: driver.c -------------------------------------------------------------------------------------- */

/* A copy between boxes, as CUDA_MEMCPY3D and CUDA_MEMCPY3D_PEER have it. */
typedef struct lw_rt_place {
    size_t x, y, z, level;
    unsigned type;
    const void *host;
    CUdeviceptr device;
    void *array;
    CUcontext context;
    size_t pitch, height;
} lw_rt_place;

typedef struct lw_rt_copy {
    lw_rt_place from, to;
    size_t width, height, depth;
} lw_rt_copy;

/* CUDA_KERNEL_NODE_PARAMS */
typedef struct lw_rt_kernel_node {
    struct cudaKernelNodeParams plain;
    cudaKernel_t kernel;
    CUcontext context;
} lw_rt_kernel_node;

typedef struct lw_rt_driver {
#define CALL(name, params, function, args) CUresult(*function) params;
#define DEVICE                             CALL
#define FUNCTION                           CALL
#define STREAM(name, params, function, args) \
    CUresult(*function) params; \
    CUresult(*function##_ptsz) params;
#include "shim/cudart/calls.def"
#undef CALL
#undef DEVICE
#undef FUNCTION
#undef STREAM
#define NODE                  cudaGraphNode_t *, cudaGraph_t, const cudaGraphNode_t *, size_t
#define DRIVER(function, ...) CUresult (*function)(__VA_ARGS__);
#define THREAD(function, ...) \
    CUresult (*function)(__VA_ARGS__); \
    CUresult (*function##_ptsz)(__VA_ARGS__);
#define COPIES(function, ...) \
    CUresult (*function)(__VA_ARGS__); \
    CUresult (*function##_ptds)(__VA_ARGS__);
#include "shim/cudart/driver.def"
#undef NODE
#undef DRIVER
#undef THREAD
#undef COPIES
} lw_rt_driver;
extern lw_rt_driver lw_driver; /* usable as soon as lw_rt_ready said so */

cudaError_t lw_rt_ready(void); /* looks it up and initializes it, once */

/* ---- Errors: error.c ------------------------------------------------------------------------------------------- */

/* What a call gives back: also kept as the thread's last error, where it is one. */
cudaError_t lw_rt_end(cudaError_t error);
/* A result of the driver's is the error of the same number; those that have none are unknown errors. */
cudaError_t lw_rt_result(CUresult result);
bool lw_rt_sticks(cudaError_t error); /* for the rest of the process */
cudaError_t lw_rt_end_driver(CUresult result);
void lw_rt_forget_error(void);

/* ---- Devices: device.c ----------------------------------------------------------------------------------------- */

enum { LW_RT_DEVICES = 64 };

/* The thread has a current context: one that the program has set by the driver, or its device's primary one. */
cudaError_t lw_rt_enter(void);
/* The primary context of a device, alive. */
cudaError_t lw_rt_primary(int device, CUcontext *context);
cudaError_t lw_rt_context(CUcontext *context); /* the current one; behind lw_rt_enter */

/* ---- What is registered: register.c, module.c ------------------------------------------------------------------ */

typedef enum lw_rt_kind { LW_RT_FUNCTION, LW_RT_VARIABLE, LW_RT_MANAGED } lw_rt_kind;

typedef struct lw_rt_key {
    const void *key;
    struct lw_rt_entry *entry;
    struct lw_rt_key *next; /* in the same bucket */
} lw_rt_key;

typedef struct lw_rt_entry {
    struct lw_rt_entry *next; /* of the same image */
    struct lw_rt_image *image;
    lw_rt_kind kind;
    const char *name;
    size_t size;                 /* of a variable, as the program has it */
    void **managed;              /* where the program wants to have its address */
    lw_rt_key host, other;       /* `other`: what stubs launch a function by; a managed variable's address */
    cudaKernel_t kernel;         /* of a function, once it was looked up */
    unsigned long long found_in; /* the id of the context that has the following ones; 0: none was asked */
    CUfunction function;
    CUdeviceptr address;
    size_t bytes;
} lw_rt_entry;

typedef struct lw_rt_image {
    const void *data;
    lw_rt_entry *entries;
    bool was_loaded; /* or refused */
    cudaLibrary_t library;
    CUresult refused;
} lw_rt_image;

extern pthread_mutex_t lw_rt_lock; /* guards all of the above */

void lw_rt_watch_end(void); /* images that are loaded so far are not unloaded when the process ends */
/* The entry of a function's or variable's place in the program, or of a kernel's handle; with the lock held. */
lw_rt_entry *lw_rt_find(const void *key);
void lw_rt_add_key(lw_rt_key *key, const void *at, lw_rt_entry *entry);
void lw_rt_remove_key(lw_rt_key *key);
/* What stands for a function of the program in the current context. */
cudaError_t lw_rt_function(const void *func, CUfunction *function);
/* Where the program has a function of the driver's; the function itself, which stands for no place in it. */
void *lw_rt_place_of(CUfunction function);
cudaError_t lw_rt_symbol(const void *symbol, CUdeviceptr *address, size_t *bytes);
/* Where `bytes` from `offset` on of a variable lie. */
cudaError_t lw_rt_symbol_part(const void *symbol, size_t bytes, size_t offset, void **address);

/* ---- Arrays: array.c ------------------------------------------------------------------------------------------- */

/* How texels are stored, as the driver has it. False: nothing is stored so. */
typedef struct lw_rt_texel {
    CUarray_format format;
    unsigned channels, bytes;
} lw_rt_texel;
bool lw_rt_read_channels(const struct cudaChannelFormatDesc *desc, lw_rt_texel *texel);
struct cudaChannelFormatDesc lw_rt_channels(CUarray_format format, unsigned channels);

/* Bytes of a texel and of a row of an array; rows of one of its layers. */
typedef struct lw_rt_shape {
    size_t texel, row, rows;
} lw_rt_shape;
cudaError_t lw_rt_array_shape(const void *array, lw_rt_shape *shape);

/* ---- Copies: copy.c -------------------------------------------------------------------------------------------- */

/* As the driver has it. */
cudaError_t lw_rt_read_copy(const struct cudaMemcpy3DParms *params, lw_rt_copy *copy);
void lw_rt_write_copy(const lw_rt_copy *copy, struct cudaMemcpy3DParms *params); /* the other way */
/* Of one row of bytes. */
struct cudaMemcpy3DParms lw_rt_line(void *to, const void *from, size_t bytes, unsigned kind);

#endif
