/* driver.h: what stands behind the handles of libcuda.so.1.   table → library → context → module, stream, event, memory
 *
 * One lw_context is all devices: they share its memory and its workers. A CUDA context is bookkeeping over it: which
 * device it is of, and who owns which object. So device addresses are unique in the process, as CUDA's are. A launch, a
 * copy, a callback is an operation; streams are queues of them, and threads of the driver's do what is in the queues.
 */
#ifndef LW_SHIM_CUDA_DRIVER_H
#define LW_SHIM_CUDA_DRIVER_H

#include <stdatomic.h>

#include "session/session.h"
#include "shim/cuda/abi.h"
#include "shim/image/image.h"

/* ---- What the device says it is ---------------------------------------------------------------------------- */

enum {
    LW_CU_DEVICES_MOST = 16,
    LW_CU_VERSION = 13000,
    LW_CU_SM_CLUSTERED = 8,        /* CTAs of clusters on a multiprocessor */
    LW_CU_GPC = 16,                /* multiprocessors that a cluster may be spread over */
    LW_CU_SHARED_UNIT = 128,       /* in which a multiprocessor gives it out */
    LW_CU_SHARED_PLAIN = 48 << 10, /* what a CTA gets without asking for more */
};

/* Of the device that LANEWISE_ARCH names. */
#define LW_CU_SM              (lw_cu.arch->number)
#define LW_CU_SM_THREADS      (lw_cu.arch->threads)
#define LW_CU_SM_BLOCKS       (lw_cu.arch->blocks)
#define LW_CU_SM_SHARED       (lw_cu.arch->shared)
#define LW_CU_SHARED_MOST     (lw_cu.arch->block_most)
#define LW_CU_SHARED_RESERVED (lw_cu.arch->shared_reserved)

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
    LW_CU_LIBRARY,
    LW_CU_KERNEL,
    LW_CU_MEMORY, /* keyed by its device address: lw_cu_memory_at */
    LW_CU_ARRAY,
    LW_CU_MIPMAP,
    LW_CU_TEXTURE, /* keyed by its handle: texture.c */
    LW_CU_SURFACE,
    LW_CU_TEXREF, /* of a module, or of nobody */
    LW_CU_SURFREF,
    LW_CU_POOL,     /* of nobody, as what follows */
    LW_CU_PHYSICAL, /* memory without an address */
    LW_CU_GRAPH,    /* no context owns one, or what belongs to it */
    LW_CU_NODE,
    LW_CU_EXEC,
    LW_CU_USER_OBJECT,
    LW_CU_RESOURCES, /* as descriptors have them */
    LW_CU_GREEN,
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
    CUdevice device;
    _Atomic uint32_t peers;    /* the devices, as bits, whose memory its kernels were given access to */
    _Atomic uint32_t attached; /* the detaches that do not end it */
    _Atomic unsigned flags;
    _Atomic uint64_t id;
    _Atomic size_t limits[3]; /* by CU_LIMIT_… */
    _Atomic CUfunc_cache cache;
    _Atomic CUsharedconfig shared_config;
    struct lw_cu_queue *queues, *legacy, *marks; /* all of its streams', the default one's, and that of whoever waits */
    bool is_closed;                              /* takes no work: what it owns ends; under the lock of queues */
};

struct CUmod_st {
    lw_cu_object object;
    lw_module *module;
    CUlibrary library;     /* that it is an instance of, and holds; or NULL */
    bool lent;             /* the library frees `module` */
    uint32_t registers;    /* the most that its kernels say they have; 0: any */
    CUfunction *functions; /* of each kernel that was asked for; NULL: of none yet */
    CUtexref references;   /* to textures and surfaces, those that were asked for; under the lock */
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
    uint32_t registers; /* the most of a thread that is asked for; 0: any */
} lw_cu_logs;

struct CUlinkState_st {
    lw_cu_object object;
    pthread_mutex_t lock; /* guards what follows */
    lw_cu_logs to;
    lw_linker linker;
    double seconds;
    CUresult failed; /* of the first input that was refused */
    lw_text image;   /* once it is complete */
};

struct CUfunc_st {
    lw_cu_object object;
    struct lw_cu_old_launch *old; /* launch_old.c; under the lock */
    CUmodule module;
    lw_kernel *kernel;
    lw_kernel_info info;
    lw_cluster_info clusters;
    uint32_t registers, const_bytes;
    _Atomic uint32_t dynamic_most; /* dynamic shared memory that a launch may ask for */
    atomic_bool large_clusters;    /* clusters may have more CTAs than are portable */
    _Atomic int carveout;
    _Atomic uint32_t own; /* attributes that were set of it, by number: those of its CUkernel are not for it */
};

/* Code that belongs to no context: each has an instance of its own, a module, as soon as it needs one. */
typedef struct lw_cu_instance {
    CUcontext context;
    CUmodule module; /* may have ended with its context */
    struct lw_cu_instance *next;
} lw_cu_instance;

struct CUlib_st {
    lw_cu_object object;
    lw_code_image image;  /* what it was loaded from */
    lw_module *module;    /* to look things up in; the first context uses it, too */
    pthread_mutex_t lock; /* guards what follows */
    bool lent, is_ended;
    lw_cu_instance *instances;
    CUkernel *kernels; /* each as soon as it is asked for */
};

struct CUkern_st {
    lw_cu_object object;
    CUlibrary library; /* which it holds */
    uint32_t index;
    bool described;       /* guarded by the library's lock */
    struct CUfunc_st all; /* not a function, but what new ones of it begin with */
};

/* A place in a stream: reached when so many operations of it are done. */
typedef struct lw_cu_point {
    struct lw_cu_queue *queue; /* NULL: reached */
    uint64_t number;
} lw_cu_point;

enum { LW_CU_STREAM_ATTRIBUTES = 5 };

struct CUstream_st {
    lw_cu_object object;
    CUlaunchAttributeValue attributes[LW_CU_STREAM_ATTRIBUTES]; /* hints.c; under the lock */
    unsigned flags;
    uint64_t id;
    struct lw_cu_queue *queue;
    CUgreenCtx green; /* that it was made for, which may have ended; NULL: for none */
};

struct CUevent_st {
    lw_cu_object object;
    unsigned flags;
    lw_cu_point point; /* of the last record; under the lock of queues, as are */
    uint64_t records;  /* … how many there were */
    bool is_recorded;
    double time;                             /* when the last record was reached, in seconds; 0: it was not yet */
    struct lw_cu_captured *_Atomic captured; /* the last record was captured; changed under the lock of graphs */
};

/* What an allocation is. All but those of the device are seen by the host, too. */
typedef enum lw_cu_place_kind { LW_CU_ON_DEVICE, LW_CU_PINNED, LW_CU_REGISTERED, LW_CU_MANAGED } lw_cu_place_kind;

typedef struct lw_cu_memory {
    lw_cu_object object;
    uint64_t address, size, number;
    lw_cu_place_kind place;
    char *host; /* where the host sees it; NULL: nowhere */
    unsigned flags;
    CUmemoryPool pool;                   /* that it is from; held */
    atomic_bool leaving;                 /* is freed when a stream comes to it */
    _Atomic unsigned synchronous;        /* CU_POINTER_ATTRIBUTE_SYNC_MEMOPS */
    struct lw_cu_memory *next_far;       /* of those that the host has at another address: host.c */
    struct lw_cu_graph_memory *of_graph; /* NULL: it is none that a graph allocates */
} lw_cu_memory;

struct CUmemPoolHandle_st {
    lw_cu_object object;
    CUdevice device;
    bool is_managed;
    unsigned place;           /* what it is the pool of: pool.c */
    uint32_t seen_by;         /* of a managed one, as bits: the devices, and SEEN_BY_HOST, it was said to be for */
    int reuse[3];             /* of no meaning here: by attribute */
    uint64_t threshold, most; /* most: 0: no limit of its own */
    uint64_t used, used_high, used_peak; /* peak: that of what is reserved, which is what is used */
};

/* ---- The library: library.c ------------------------------------------------------------------------------------ */

typedef enum lw_cu_level { LW_CU_REPORT_NONE, LW_CU_REPORT_ERRORS, LW_CU_REPORT_ALL } lw_cu_level;

typedef struct lw_cu_library {
    pthread_mutex_t lock; /* guards table, owners' lists, primary_… and counters */
    lw_context *device;   /* made by cuInit, before it sets `ready` */
    const lw_arch *arch;  /* likewise */
    atomic_bool ready, forked;
    lw_cu_table table;
    struct lw_cu_primary {
        struct CUctx_st context; /* its handle is the same each time that it comes to life again */
        bool lives;
        uint32_t retained; /* survives a reset */
        unsigned flags;
    } primary[LW_CU_DEVICES_MOST];
    int devices;                /* LANEWISE_DEVICES */
    _Atomic lw_cu_level report; /* LANEWISE_REPORT */
    bool blocking;              /* CUDA_LAUNCH_BLOCKING: a launch returns its own trap */
    bool counts, strict, log;   /* LANEWISE_STATS, LANEWISE_STRICT, LANEWISE_LOG */
    uint64_t last_id, last_image;
} lw_cu_library;
extern lw_cu_library lw_cu;

void lw_cu_lock(void);
void lw_cu_unlock(void);

CUresult lw_cu_ready(void); /* cuInit was called, not before a fork, and this is no host function of a stream */
CUresult lw_cu_check_device(CUdevice device);
int lw_cu_attribute(CUdevice_attribute attribute); /* of every device; 0: there is no such attribute */
/* The current context, if the calling thread may use it: otherwise the error that says why not. */
CUresult lw_cu_enter(CUcontext *context);
/* The same, where a call needs an object of that kind, too: CUDA_ERROR_INVALID_HANDLE where the handle is none. */
CUresult lw_cu_enter_with(const void *handle, lw_cu_kind kind);
/* The same with what is to be launched, where a CUkernel may stand for its function in this context. */
CUresult lw_cu_enter_function(CUfunction *function);
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
void lw_cu_read_report(void); /* what that asks for: cuInit does; with the lock held */
/* A failing call of the library: reports its message at level `all`, returns its result. */
CUresult lw_cu_fail(const char *call, lw_status status);

/* ---- Calls: calls.c -------------------------------------------------------------------------------------------- */

/* From here to the end of the function, no object that is found goes out of memory. */
#define LW_CU_CALL \
    __attribute__((cleanup(lw_cu_end))) char this_call; \
    lw_cu_begin(&this_call, __func__)
void lw_cu_begin(char *unused, const char *name);
void lw_cu_end(const char *unused);
/* Around what may take long: objects may go meanwhile unless they are held, and go as soon as nobody holds them. */
unsigned lw_cu_step_out(void);
void lw_cu_step_in(unsigned depth);
void lw_cu_clear(void); /* ends what is buried and can be, as the end of each call does; in no lock */
/* A function holds its module and its context from its making to its burial. */
void lw_cu_hold(lw_cu_object *object);
void lw_cu_let_go(lw_cu_object *object);
/* Frees an object that nobody finds any more, and its module, as soon as no call can use it; with the lock held. */
void lw_cu_bury(lw_cu_object *object);

/* ---- Operations: operation.c ------------------------------------------------------------------------------------- */

/* What a stream does in its order. One that is made owns copies of all that it needs, and holds the objects. */
typedef enum lw_cu_op_kind {
    LW_CU_OP_NOTHING,
    LW_CU_OP_KERNEL,
    LW_CU_OP_COPY,
    LW_CU_OP_FILL,
    LW_CU_OP_HOST,
    LW_CU_OP_CALLBACK,
    LW_CU_OP_RECORD,
    LW_CU_OP_WAIT, /* for an event, by a graph: before it begins */
    LW_CU_OP_GRAPH,
    LW_CU_OP_WORDS, /* by a graph, which knows how many of them are done */
    LW_CU_OP_OTHER,
} lw_cu_op_kind;

/* One side of a copy: bytes of a row, rows of a plane and planes lie so far apart. */
typedef struct lw_cu_side {
    uint64_t at;
    bool on_device;
    uint64_t pitch, plane; /* bytes from row to row, from plane to plane */
    CUarray array;         /* that it is in; NULL: in none */
} lw_cu_side;

/* A result other than success becomes the process's fault. */
typedef CUresult lw_cu_work(void *data);

typedef struct lw_cu_op {
    lw_cu_op_kind kind;
    void *owned; /* its parameters, or bytes that it writes; freed with it */
    union {
        struct {
            CUfunction function;
            lw_launch_config config;
        } kernel;
        struct {
            lw_cu_side to, from;
            uint64_t width, height, depth; /* bytes, rows, planes */
        } copy;
        struct {
            CUdeviceptr to;
            uint64_t value, pitch, width, height; /* elements a row, rows */
            uint32_t size;                        /* of an element */
        } fill;
        struct {
            CUhostFn function;
            void *user;
        } host;
        struct {
            CUstreamCallback function;
            CUstream stream;
            void *user;
        } callback;
        struct {
            CUevent event;
            uint64_t record;
        } record;       /* or wait */
        uint32_t words; /* `owned` has so many CUstreamBatchMemOpParams */
        struct lw_cu_run *graph;
        lw_cu_work *work; /* of `owned` */
    };
} lw_cu_op;

/* Now or in a stream, as the caller may go on with the memory: copy.c. `op` holds what is to be copied or filled. */
CUresult lw_cu_copy(lw_cu_op *op, CUstream stream, bool is_async);
CUresult lw_cu_fill(lw_cu_op *op, CUstream stream, bool is_async);
bool lw_cu_can_copy(const lw_cu_op *op); /* whether all the memory is there */
/* Rows that follow each other on both sides become one row, and so do layers; their bytes were counted before. */
void lw_cu_straighten(lw_cu_op *op);
void lw_cu_hold_arrays(const lw_cu_op *op); /* as long as there is this copy */

/* What an operation comes back with that is to be tried again later. */
#define LW_CU_LATER ((CUresult)-1)

/* Does it. `error`: the fault of the process, which most operations are not done with. */
CUresult lw_cu_op_run(const lw_cu_op *op, CUresult error);
void lw_cu_op_free(lw_cu_op *op);
/* Whether it calls the program's own functions, which threads of the program's that wait must not be used for. */
bool lw_cu_op_is_host(const lw_cu_op *op);
/* A launch whose configuration was only written down: what CUDA refuses of it is refused. */
CUresult lw_cu_make_launch(lw_cu_op *op, CUfunction function, lw_launch_config *config, void **params, void **extra);
CUresult lw_cu_run_kernel(const lw_cu_op *op);
CUresult lw_cu_run_copy(const lw_cu_op *op);
CUresult lw_cu_run_fill(const lw_cu_op *op);
/* Whether a fill can be done; it becomes an operation. */
CUresult lw_cu_check_fill(lw_cu_op *op);
/* words.c: writes words of memory and waits for some, one after the other. */
CUresult lw_cu_words_make(lw_cu_op *op, const CUDA_BATCH_MEM_OP_NODE_PARAMS *params);
bool lw_cu_words_alike(const lw_cu_op *a, const lw_cu_op *b); /* but for the words and their values */
CUresult lw_cu_word_run(const lw_cu_op *op, uint32_t index);
/* What a kernel that faults leaves: an error that every later call returns, in all contexts of the process, in new ones
 * too, whatever is destroyed (as an H200's driver has it). The first one stays. */
void lw_cu_spoil(CUresult error);
CUresult lw_cu_fault(void);

/* ---- Streams as queues: queue.c, carrier.c ----------------------------------------------------------------------- */

/* Puts an operation at the end of a stream, where it waits for `after`, too, if that is not NULL. What is in `op` is
 * the stream's from now on, also where this fails. With CUDA_LAUNCH_BLOCKING=1 it is done when this returns. */
CUresult lw_cu_submit(CUstream stream, lw_cu_op *op, const lw_cu_point *after);
/* The same for a launch of a graph, which comes after the one before, whose end `turn` is, and becomes it. */
CUresult lw_cu_submit_graph(CUstream stream, lw_cu_op *op, lw_cu_point *turn);
/* The same for a function of a copy of `size` bytes. */
CUresult lw_cu_enqueue(CUstream stream, lw_cu_work *work, const void *data, size_t size);
/* Until all is done that is in a stream now; the process's fault then. */
CUresult lw_cu_wait_stream(CUstream stream);
/* The same for all streams of a context. */
CUresult lw_cu_drain(CUcontext context);
bool lw_cu_is_idle(CUstream stream);
CUresult lw_cu_record(CUevent event, CUstream stream);
CUresult lw_cu_wait_event(CUevent event);
CUresult lw_cu_follow_event(CUstream stream, CUevent event);
CUresult lw_cu_event_state(CUevent event, double *time); /* CUDA_ERROR_NOT_READY where it is not reached yet */
void lw_cu_note_record(CUevent event, uint64_t record);
void lw_cu_reach_record(CUevent event, uint64_t record); /* in the middle of an operation */
struct lw_cu_branch **lw_cu_branch_of(CUstream stream);  /* where its capture is kept; NULL: it cannot be captured */
struct lw_cu_queue *lw_cu_queue_new(CUcontext context, bool is_blocking, CUgreenCtx green);
/* Events of all streams of a context, or of those of a green one. */
CUresult lw_cu_record_all(CUevent event, CUcontext context, CUgreenCtx green);
CUresult lw_cu_follow_all(CUcontext context, CUgreenCtx green, CUevent event);
void lw_cu_queue_drop(struct lw_cu_queue *queue);
void lw_cu_point_drop(lw_cu_point *point);
void lw_cu_end_queues(CUcontext context); /* its own ones, which no stream object has */
void lw_cu_close(CUcontext context, bool is_closed);
bool lw_cu_in_host_function(void); /* which may make no calls */
bool lw_cu_queues_begin(void);
void lw_cu_queues_after_fork(void);

/* ---- Graphs: graph.h knows what they are ------------------------------------------------------------------------- */

/* A launch: what it waits for, then what it records. */
typedef struct lw_cu_run {
    struct lw_cu_program *program;
    size_t next;             /* step to do */
    uint32_t waits, records; /* of the marks */
    uint32_t recorded;
    uint32_t words;     /* that are done of the step */
    lw_cu_point *after; /* room for the points that it comes after: one more than waits */
    struct lw_cu_mark {
        CUevent event;
        uint64_t record;
    } marks[];
} lw_cu_run;

CUresult lw_cu_run_graph(lw_cu_run *run);
void lw_cu_run_drop(lw_cu_run *run);
bool lw_cu_run_is_host(const lw_cu_run *run);
void lw_cu_end_graph_object(lw_cu_object *object); /* what belongs to it; not itself */
void lw_cu_graphs_after_fork(void);
/* cuMemFree of what a graph allocated. */
CUresult lw_cu_free_graph_memory(lw_cu_memory *memory);
CUdevice lw_cu_graph_device(const lw_cu_memory *memory); /* of such */

/* ---- Capture: capture.c ------------------------------------------------------------------------------------------ */

extern _Atomic uint32_t lw_cu_captures; /* going on in the process */
/* Whether something is captured that `stream` would be put into: then it is, or an error is, and `op` is gone. */
bool lw_cu_capture(CUstream stream, lw_cu_op *op, CUresult *result);
bool lw_cu_is_captured(CUstream stream);
/* *is_done: nothing is left to do; with an error nothing is, either. */
CUresult lw_cu_capture_record(CUevent event, CUstream stream, bool is_external, bool *is_done);
CUresult lw_cu_capture_wait(CUstream stream, CUevent event, bool is_external, bool *is_done);
CUresult lw_cu_capture_launch(CUgraphExec exec, CUstream stream);
bool lw_cu_capture_allocate(CUstream stream, CUmemoryPool pool, CUdeviceptr *address, size_t bytes, CUresult *result);
bool lw_cu_capture_free(CUstream stream, CUdeviceptr address, CUresult *result);
/* Questions and waits that a capture forbids, which it then is void by. */
CUresult lw_cu_may_wait(CUstream stream);
CUresult lw_cu_may_wait_all(CUcontext context);
CUresult lw_cu_may_ask(CUevent event);
/* What is no work of a stream, and so would be missing in what is captured. */
CUresult lw_cu_may_act(void);
void lw_cu_leave_capture(CUstream stream);  /* which is destroyed */
void lw_cu_end_captures(CUcontext context); /* which is */
void lw_cu_end_captured(CUevent event);     /* which is */

/* ---- Texts and logs: module.c, log.c, link.c ------------------------------------------------------------------- */

void lw_cu_read_options(lw_cu_logs *to, unsigned count, const CUjit_option *options, void **values);
void lw_cu_write_log(const lw_cu_log *to, const char *text);
void lw_cu_write_seconds(const lw_cu_logs *to, double seconds);
CUresult lw_cu_image_result(lw_image_result result);
void lw_cu_name_image(char name[32]); /* as one that has no name */
/* A module of an image: lw_image_read says of what kinds. *image is what was found in it, and the caller's. */
CUresult lw_cu_read_image(lw_code_image *image, const char *name, lw_bytes bytes, const lw_cu_logs *to);
/* like: NULL, or one of the same image, whose managed variables it has. */
CUresult lw_cu_make_module(lw_module **module, const lw_code_image *image, const lw_module *like, const lw_cu_logs *to);
/* Gives a module to a context. `like` has what is to be in the object; its module is freed where this fails, but for a
 * lent one. */
CUresult lw_cu_adopt_module(CUcontext context, CUmodule *module, const struct CUmod_st *like);
void lw_cu_end_link(CUlinkState state); /* what belongs to it; not the state itself */

/* ---- Counts for the program's end: stats.c ----------------------------------------------------------------------- */

bool lw_cu_stats_begin(void); /* false: the system does not take it */
void lw_cu_count_launch(const char *name, const lw_launch_stats *stats);

/* ---- Copies of rectangles and boxes: rectangle.c ----------------------------------------------------------------- */

/* Makes the operation of a copy as its call says it; where that cannot be, says why. */
CUresult lw_cu_read_copy(const CUDA_MEMCPY3D *copy, lw_cu_op *op);
lw_cu_op lw_cu_line(CUdeviceptr to, CUdeviceptr from, size_t bytes); /* between any two addresses */
/* A side by its address alone. */
lw_cu_side lw_cu_anywhere(CUdeviceptr at);

/* ---- Memory: memory.c, host.c, managed.c, pool.c, virtual.c ------------------------------------------------------ */

/* Makes an allocation that is known; a pool was charged with it, and is held for it. */
CUresult lw_cu_allocate(CUcontext owner, uint64_t bytes, lw_cu_place_kind place, unsigned flags, CUmemoryPool pool,
                        lw_cu_memory **out);
/* Makes what has an address known: an allocation, or memory that was lent. */
bool lw_cu_link_memory(lw_cu_memory *memory, CUcontext owner);
void lw_cu_end_memory(lw_cu_memory *memory);  /* once the work of its context is done */
void lw_cu_free_memory(lw_cu_memory *memory); /* waits for that */
/* The allocation that begins at an address; the one that holds an address of the device, or of the host. */
lw_cu_memory *lw_cu_memory_from(uint64_t address);
lw_cu_memory *lw_cu_memory_at(uint64_t address);
lw_cu_memory *lw_cu_host_memory_at(const void *host);
void lw_cu_end_far(lw_cu_memory *memory);
/* What was said about managed memory goes, by its beginning. */
void lw_cu_forget_advice(uint64_t base);

void lw_cu_leave_pool(lw_cu_memory *memory); /* that it is from, if any */
/* Once the work of their context is done; array.h knows what they are. */
void lw_cu_end_array(CUarray array);
void lw_cu_end_texture(lw_cu_object *texture); /* or surface */
void lw_cu_end_references(CUmodule module);    /* with the lock held */

/* A stretch of addresses that cuMemAddressReserve gave, and what is mapped around one of them. */
typedef struct lw_cu_virtual {
    uint64_t from, size;         /* the reservation */
    uint64_t map_from, map_size; /* size 0: nothing is mapped there */
    uint64_t block;              /* number of the memory */
    unsigned access;
    CUdevice device; /* that the memory is of */
} lw_cu_virtual;
bool lw_cu_is_virtual(uint64_t address); /* where such stretches lie, reserved or not */
bool lw_cu_virtual_at(uint64_t address, lw_cu_virtual *out);

/* ---- Parts that others need ------------------------------------------------------------------------------------ */

CUresult lw_cu_stream_new(CUstream *stream, CUcontext context, unsigned flags, CUgreenCtx green);
bool lw_cu_is_default(CUstream stream);
extern _Thread_local bool lw_cu_per_thread; /* the default stream of this call is the thread's */
/* Whether it is the default stream of the whole program. */
static inline bool lw_cu_is_legacy(CUstream stream) { return stream ? stream == CU_STREAM_LEGACY : !lw_cu_per_thread; }
CUresult lw_cu_check_stream(CUstream stream);
CUcontext lw_cu_current(void);
bool lw_cu_is_pinned(const void *host, size_t bytes); /* memory that copies may use after their call */
bool lw_cu_host_allows(uintptr_t from, uint64_t size,
                       bool write); /* whether the program can read, or write, all of it */
/* Ends what a context owns; without the lock. */
void lw_cu_end_objects(CUcontext context);
void lw_cu_unload_module(CUmodule module); /* once its kernels do not run any more */
void lw_cu_end_module(CUmodule module);
/* function.c, for kernels: with the name of a kernel of the module; for a module or, with NULL, for all. */
CUresult lw_cu_get_function(CUfunction *function, CUmodule module, const char *name);
void lw_cu_describe(CUfunction function, CUmodule module, lw_kernel *kernel, uint32_t registers_most);
CUresult lw_cu_not_executable(lw_module *module, const char *name);
CUresult lw_cu_get_attribute(int *value, CUfunction_attribute attribute, CUfunction function);
CUresult lw_cu_set_attribute(CUfunction function, CUfunction_attribute attribute, int value);
/* kernel.c: what was set of the kernel that a new function of a library's module is of. */
void lw_cu_inherit(CUfunction function, CUmodule module, uint32_t index);
/* libraries.c */
void lw_cu_end_library(CUlibrary library); /* what belongs to it; not itself */
CUresult lw_cu_instance_of(CUlibrary library, CUcontext context, CUmodule *module);
/* Where the host sees a stretch that lies in one allocation; NULL where none holds it. */
char *lw_cu_place(uint64_t address, uint64_t size);
/* Where nothing but memory of the driver's can be, whether or not it is allocated. */
bool lw_cu_is_device(uint64_t address);

/* A size for one of the calls that are older than 64 bits. */
static inline unsigned lw_cu_word(size_t size) { return size > UINT32_MAX ? UINT32_MAX : (unsigned)size; }

/* Another name of a function of the same file. */
#define LW_CU_SAME(name, plain) extern __typeof__(plain) name __attribute__((alias(#plain), visibility("default")))

#endif
