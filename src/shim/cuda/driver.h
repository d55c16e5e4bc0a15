/* driver.h: what stands behind the handles of libcuda.so.1.   table → library → context → module, stream, event, memory
 *
 * One lw_context is the device. A CUDA context is bookkeeping over it: who owns which object, and the error that sticks
 * after a kernel trapped. So device addresses are unique in the process, as CUDA's are. Launches and copies end before
 * their call returns; streams and events only check what they are given. */
#ifndef LW_SHIM_CUDA_DRIVER_H
#define LW_SHIM_CUDA_DRIVER_H

#include <stdatomic.h>

#include "session/session.h"
#include "shim/cuda/abi.h"

/* ---- What the device says it is ---------------------------------------------------------------------------- */

enum {
    LW_CU_VERSION = 13000,
    LW_CU_SM = 90,
    LW_CU_SM_THREADS = 2048,
    LW_CU_SM_BLOCKS = 32,
    LW_CU_SM_SHARED = 228 << 10,
    LW_CU_SM_CLUSTERED = 8, /* CTAs of clusters on a multiprocessor */
    LW_CU_GPC = 16,         /* multiprocessors that a cluster may be spread over */
    LW_CU_SHARED_RESERVED = 1 << 10,
    LW_CU_SHARED_UNIT = 128,       /* in which a multiprocessor gives it out */
    LW_CU_SHARED_PLAIN = 48 << 10, /* what a CTA gets without asking for more */
};

/* ---- Objects and the table of those that live: table.c --------------------------------------------------------- */

/* Any thread may use any object, so that what can change after an object was made is atomic. An object may end while
 * another thread's call uses it: it is not found any more, and its memory stays until that call has ended (calls.c). */

typedef enum lw_cu_kind {
    LW_CU_CONTEXT,
    LW_CU_MODULE,
    LW_CU_FUNCTION,
    LW_CU_STREAM,
    LW_CU_EVENT,
    LW_CU_LINK,
    LW_CU_MEMORY, /* keyed by its device address */
    LW_CU_KINDS,
} lw_cu_kind;

typedef struct lw_cu_object {
    uint64_t key; /* the handle, or an address */
    lw_cu_kind kind;
    CUcontext owner;                      /* NULL for contexts */
    _Atomic uint32_t holders;             /* calls that use it across a step out of their epoch */
    struct lw_cu_object *next, *previous; /* of the owner, of the same kind */
} lw_cu_object;

typedef struct lw_cu_table {
    lw_cu_object **slots;
    size_t room, count; /* room: a power of two */
} lw_cu_table;

bool lw_cu_table_add(lw_cu_table *table, lw_cu_object *object); /* false: no memory */
void lw_cu_table_remove(lw_cu_table *table, const lw_cu_object *object);
lw_cu_object *lw_cu_table_find(const lw_cu_table *table, uint64_t key);

struct CUctx_st {
    lw_cu_object object;
    lw_cu_object *objects[LW_CU_KINDS]; /* what it owns, of each kind */
    _Atomic unsigned flags;
    _Atomic uint64_t id;
    _Atomic CUresult error;   /* sticks: every later call that needs the context returns it */
    _Atomic size_t limits[3]; /* by CU_LIMIT_… */
    _Atomic CUfunc_cache cache;
    _Atomic CUsharedconfig shared_config;
};

struct CUmod_st {
    lw_cu_object object;
    lw_module *module;
    CUfunction *functions; /* of each kernel that was asked for; NULL: of none yet */
};

/* Where a program wants to read what was said: log.c. */
typedef struct lw_cu_log {
    char *buffer;
    size_t room;
    void **written; /* the option's value is replaced by the number of bytes, as the interface has it */
} lw_cu_log;

typedef struct lw_cu_logs {
    lw_cu_log error, info;
    void **seconds;
} lw_cu_logs;

struct CUlinkState_st {
    lw_cu_object object;
    pthread_mutex_t lock; /* guards what follows */
    lw_cu_logs to;
    lw_text error, info; /* all that was said so far */
    double seconds;
    CUresult failed; /* of the first input that was refused */
    lw_text texts;   /* name and text of each input, as the image has them */
    uint32_t count;  /* of them */
    char *image;     /* once it is complete */
    size_t image_size;
};

struct CUfunc_st {
    lw_cu_object object;
    CUmodule module;
    lw_kernel *kernel;
    lw_kernel_info info;
    lw_cluster_info clusters;
    _Atomic uint32_t dynamic_most; /* dynamic shared memory that a launch may ask for */
    atomic_bool large_clusters;    /* clusters may have more CTAs than are portable */
    _Atomic int carveout;
};

struct CUstream_st {
    lw_cu_object object;
    unsigned flags;
    uint64_t id;
};

struct CUevent_st {
    lw_cu_object object;
    unsigned flags;
    _Atomic double time; /* of the last record, in seconds; 0: none yet */
};

typedef struct lw_cu_memory {
    lw_cu_object object;
    uint64_t address, size, number;
    char *host; /* where the host sees it: only memory that was asked for as host memory; else NULL */
    unsigned flags;
} lw_cu_memory;

/* ---- The library: library.c ------------------------------------------------------------------------------------ */

typedef enum lw_cu_level { LW_CU_REPORT_NONE, LW_CU_REPORT_ERRORS, LW_CU_REPORT_ALL } lw_cu_level;

typedef struct lw_cu_library {
    pthread_mutex_t lock; /* guards table, owners' lists, primary_… and counters */
    lw_context *device;   /* made by cuInit, before it sets `ready` */
    atomic_bool ready, forked;
    lw_cu_table table;
    struct CUctx_st primary; /* its handle is the same each time that it comes to life again */
    bool primary_lives;
    uint32_t primary_retained; /* survives a reset */
    unsigned primary_flags;
    _Atomic lw_cu_level report; /* LANEWISE_REPORT */
    bool blocking;              /* CUDA_LAUNCH_BLOCKING: a launch returns its own trap */
    uint64_t last_id, last_image;
} lw_cu_library;
extern lw_cu_library lw_cu;

void lw_cu_lock(void);
void lw_cu_unlock(void);

CUresult lw_cu_ready(void); /* cuInit was called, and not before a fork */
CUresult lw_cu_check_device(CUdevice device);
/* The current context, if the calling thread may use it: otherwise the error that says why not. */
CUresult lw_cu_enter(CUcontext *context);
/* The same, where a call needs an object of that kind, too: CUDA_ERROR_INVALID_HANDLE where the handle is none. */
CUresult lw_cu_enter_with(const void *handle, lw_cu_kind kind);
/* The same with a stream, which may be one of the default ones. */
CUresult lw_cu_enter_stream(CUstream stream);
/* The object of a handle; NULL where it is none of this kind, or gone. */
void *lw_cu_find(const void *handle, lw_cu_kind kind);
/* Makes an object of `size` bytes, zeroed, known under its own address. NULL: no memory. */
void *lw_cu_new(size_t size, lw_cu_kind kind, CUcontext owner);
/* Why an object of a context could not be made: it was destroyed meanwhile, or there is no memory. */
CUresult lw_cu_not_made(CUcontext owner);
/* Lets nobody find an object any more. False: nobody did. */
bool lw_cu_forget(lw_cu_object *object);
/* The same, and buries it. */
bool lw_cu_free(lw_cu_object *object);
/* Makes a zeroed object known under another key; with the lock held. False: no memory, or its owner is gone. */
bool lw_cu_link(lw_cu_object *object, uint64_t key, lw_cu_kind kind, CUcontext owner);
/* Forgets an object that is known, and leaves its memory alone; with the lock held. */
void lw_cu_unlink(lw_cu_object *object);
uint64_t lw_cu_next_id(void);

CUresult lw_cu_result(lw_status status);
/* Prints "lanewise: …" to stderr where LANEWISE_REPORT asks for it. */
__attribute__((format(printf, 2, 3))) void lw_cu_report(lw_cu_level level, const char *format, ...);
/* A failing call of the library: reports its message at level `all`, returns its result. */
CUresult lw_cu_fail(const char *call, lw_status status);

/* ---- Calls: calls.c -------------------------------------------------------------------------------------------- */

/* From here to the end of the function, no object that is found goes out of memory. */
#define LW_CU_CALL \
    __attribute__((cleanup(lw_cu_end))) char this_call; \
    lw_cu_begin(&this_call)
void lw_cu_begin(char *unused);
void lw_cu_end(const char *unused);
/* Around what may take long: objects may go meanwhile unless they are held, and go as soon as nobody holds them. */
unsigned lw_cu_step_out(void);
void lw_cu_step_in(unsigned depth);
void lw_cu_step_out_for_good(void); /* to the end of the call */
/* A function holds its module and its context from its making to its burial. */
void lw_cu_hold(lw_cu_object *object);
void lw_cu_let_go(lw_cu_object *object);
/* Frees an object that nobody finds any more, and its module, as soon as no call can use it; with the lock held. */
void lw_cu_bury(lw_cu_object *object);

/* ---- Texts and logs: module.c, log.c, link.c ------------------------------------------------------------------- */

void lw_cu_read_options(lw_cu_logs *to, unsigned count, const CUjit_option *options, void **values);
void lw_cu_write_log(const lw_cu_log *to, const char *text);
void lw_cu_write_seconds(const lw_cu_logs *to, double seconds);
/* What an image is that is no text, and why it is refused; CUDA_SUCCESS for a text. */
CUresult lw_cu_look_at(const void *image, const char **why);
/* A text that does not begin as PTX is no image at all; faults in one of a version that is newer than what we know are
 * most likely what that version brought. */
CUresult lw_cu_source_result(const lw_diags *diags);
/* A file with a NUL behind it; NULL where it cannot be read. */
char *lw_cu_read_file(const char *path, size_t *size, bool *no_memory);
void lw_cu_name_image(char name[32]); /* as one that has no name */
/* What cuLinkComplete makes: the texts, which are linked when it is loaded. */
bool lw_cu_is_image(const void *image);
bool lw_cu_is_whole(const char *image, size_t size); /* whether it is one of so many bytes */
uint32_t lw_cu_image_count(const void *image);
void lw_cu_image_texts(const void *image, lw_module_text *texts);
void lw_cu_end_link(CUlinkState state); /* what belongs to it; not the state itself */

/* ---- Parts that others need ------------------------------------------------------------------------------------ */

CUresult lw_cu_check_stream(CUstream stream);
/* Ends what a context owns; without the lock. */
void lw_cu_end_objects(CUcontext context);
void lw_cu_end_module(CUmodule module);
void lw_cu_end_memory(lw_cu_memory *memory);
bool lw_cu_is_device(uint64_t address); /* where device memory lies, whether or not it is allocated */

/* A size for one of the calls that are older than 64 bits. */
static inline unsigned lw_cu_word(size_t size) { return size > UINT32_MAX ? UINT32_MAX : (unsigned)size; }

/* Another name of a function of the same file. */
#define LW_CU_SAME(name, plain) extern __typeof__(plain) name __attribute__((alias(#plain), visibility("default")))

#endif
