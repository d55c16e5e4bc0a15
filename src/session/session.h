/* session.h: what stands behind the public handles.   fault → context → module → kernel → launch */
#ifndef LW_SESSION_H
#define LW_SESSION_H

#include <stddef.h>

#include "base/float_mode.h"
#include "lanewise/lanewise.h"
#include "run/texture.h"
#include "run/tier.h"

enum {
    LW_THREADS_MOST = 4096,
    LW_BLOCK_MOST = 1024,         /* threads of a CTA of PTX; one of PTO has as many as its widest register has lanes */
    LW_BLOCK_DEPTH = 64,          /* its third extent */
    LW_SHARED_MOST = 227 << 10,   /* bytes of shared memory of a CTA */
    LW_STACK_DEFAULT = 512 << 10, /* bytes of local memory of a thread */
    LW_LINKED_MOST = 4096,        /* texts of one module */
    LW_STACK_MOST = 16 << 20,     /* what the address map has room for */
};

/* ---- Faults: what a thread's last failed call and last launch left --------------------------------------------- */

typedef struct lw_origins { /* what an instruction comes from */
    lw_origin *at;
    size_t count;
} lw_origins;

typedef struct lw_note_place { /* of each note */
    const char *file;
    lw_origins origins;
} lw_note_place;

typedef struct lw_fault {
    struct lw_fault *next;
    uint64_t thread;
    lw_text message;
    bool has_trap;
    lw_trap_info trap; /* its texts are in `texts`, and so is … */
    lw_origins origins;
    lw_arena texts;
    lw_text stopped;       /* where warps stood when its last launch was stopped */
    lw_launch_note *notes; /* of its last launch, in `note_texts` */
    lw_note_place *note_places;
    size_t note_count;
    lw_arena note_texts;
    lw_launch_engines engines; /* of its last launch */
    bool was_kept;             /* … whose code came from the cache */
} lw_fault;

/* Records why a call of this thread fails; returns the status. NULL: lw_context_new. */
lw_status lw_fail(lw_context *context, lw_status status, lw_diag_id id, ...);
lw_status lw_fail_memory(lw_context *context);
lw_status lw_fail_null(lw_context *context, const char *argument);
/* Device memory is full: for a variable of a module, or NULL for an allocation. memory.c. */
lw_status lw_fail_full(lw_context *context, const char *variable, uint64_t size);
/* The same for a launch that trapped. */
lw_status lw_fail_trap(lw_kernel *kernel, const lw_grid *grid);
/* Keeps the notes of a launch that this thread made, in place of those before. False: no memory. */
bool lw_keep_notes(lw_module *module, const lw_grid *grid);
/* Likewise, who ran its CTAs, and where warps stood when it was stopped. */
bool lw_keep_end(lw_module *module, const lw_grid *grid);
void lw_faults_end(lw_context *context);

/* ---- Languages: a front end, its lowering and a row of language.c ---------------------------------------------- */

typedef struct lw_language {
    const char *name;        /* as lw_module_options has it */
    const char *kernel_word; /* what messages call a kernel */
    char sigil;              /* may stand in front of the name of one; 0: none */
    uint32_t block_most;     /* threads of a CTA */
    bool (*open)(
        void **shared); /* makes what all its modules of a context share; false: no memory. NULL: nothing is shared */
    void (*close)(void *shared);           /* behind the last module */
    bool links;                            /* several texts can be one module */
    bool (*is_name)(const char *file);     /* whether a file of this name is in it; NULL: the name does not say */
    lw_status (*check)(lw_module *module); /* the text becomes what it is, in `checked`; faults go to the diagnostics */
    void (*kernels)(lw_module *module);    /* lists them, each with its `function` */
    void (*describe)(lw_kernel *kernel);   /* fills info and params, but what the program knows */
    lw_program *(*lower)(lw_kernel *kernel); /* NULL: diagnosed */
    /* What a compiler made the texts of; NULL: they never say. */
    void (*locs)(lw_arena *arena, const void *checked, lw_locs *to);
    /* What a launch must fit beyond what all have in common; NULL: nothing. `buffer` holds the parameters. */
    lw_status (*shape)(lw_kernel *kernel, const lw_launch_config *config);
    lw_status (*parameters)(lw_kernel *kernel, const lw_launch_config *config, const char *buffer);
} lw_language;
extern const lw_language lw_language_ptx, lw_language_pto;
enum { LW_LANGUAGES = 2 };
bool lw_languages_open(lw_context *context); /* false: no memory */
void lw_languages_close(lw_context *context);
void *lw_language_shared(const lw_module *module);
/* By its own name, or by that of a file where `name` is NULL or "". NULL: there is none of this name. */
const lw_language *lw_language_of(const char *name, const char *file);

typedef struct lw_load_options { /* lw_module_options, understood: words are their numbers in the tables */
    const lw_language *language;
    int target, inactive, shift_overflow;
    bool count_regions;
    const struct lw_module *like; /* has managed variables for this one; NULL: it has its own */
} lw_load_options;
/* For a text of this name. */
lw_status lw_load_choose(lw_context *context, const lw_module_options *options, const char *name,
                         lw_load_options *chosen);
uint32_t lw_ptx_target(const lw_kernel *kernel); /* of the module of PTX that it is written in */

/* ---- Options: context.c ---------------------------------------------------------------------------------------- */

typedef struct lw_chosen { /* lw_options and the environment, understood */
    const lw_level *level;
    lw_semantics semantics;
    lw_engine engine; /* may be missing */
    uint8_t symbols;  /* enum lw_symbols_told */
    uint32_t threads, stack_limit;
    uint64_t memory_limit;
    uint64_t hot;      /* of lw_tiers_new */
    const char *cache; /* a folder, "off", or NULL: the user's */
    uint64_t cache_limit;
} lw_chosen;
/* `options` may be NULL. Where it fails lw_context_message(NULL) says why. */
lw_status lw_choose(const lw_options *options, lw_chosen *chosen);

/* cache.c: where code is kept. False, NULL: nowhere. in_home: that is the user's own folder, which nobody has chosen.
 */
bool lw_cache_size(const char *text, uint64_t *bytes); /* false: it is none */
bool lw_cache_folder(const lw_chosen *chosen, lw_text *folder, bool *in_home);
lw_cache *lw_cache_open(const lw_chosen *chosen);

/* Bytes of the members that callers know who leave `size` 0: those of the first version that has it. */
enum {
    LW_OPTIONS_FIRST = offsetof(lw_options, engine) + sizeof(char *),
    LW_MODULE_OPTIONS_FIRST = offsetof(lw_module_options, count_regions) + sizeof(bool),
    LW_CONFIG_FIRST = offsetof(lw_launch_config, heap_bytes) + sizeof(uint64_t),
};
/* A struct of a caller that may be older or newer than this library, all of whose members are wanted; NULL: all 0.
 * False: it is too small to be one, or has members that are not known here and not 0. */
bool lw_take(void *all, size_t room, const void *given, size_t first);

/* ---- Handles -------------------------------------------------------------------------------------------- */

struct lw_context {
    pthread_mutex_t lock; /* guards modules, spare and faults */
    const lw_level *level;
    lw_semantics semantics;
    lw_engine engine;
    uint8_t symbols;
    uint32_t threads, stack_limit;
    lw_pool *pool;
    lw_tiers *tiers; /* of the engines that compile */
    lw_cache *cache; /* of compiled code, or NULL */
    lw_memory memory;
    lw_heap heap;
    lw_textures textures;
    void *shared[LW_LANGUAGES]; /* what modules of a language have in common */
    lw_module *modules;
    struct lw_chunk *spare; /* memory of the last module freed, for the next one: the system takes long to give new */
    lw_fault **faults;      /* by the thread's number; no more than there is room for, a power of two */
    uint32_t fault_count, fault_room;
    atomic_bool lost_message; /* there was no memory even for a message */
    atomic_uint stops;        /* calls of lw_context_stop */
    _Atomic uint64_t launches, programs;
};

struct lw_kernel {
    lw_module *module;
    void *function;           /* what its language makes a program of */
    lw_program *program;      /* made on first use */
    _Atomic(lw_tier *) tiers; /* … and what was compiled of it; who adds one holds the module's lock */
    bool failed;              /* it cannot be: the module's diagnostics say why */
    lw_kernel_info info;
    lw_cluster_info clusters;
    lw_param_info *params;
};

struct lw_module {
    lw_context *context;
    lw_module *next, *previous;
    pthread_mutex_t lock; /* guards arena, diagnostics and programs that are still to be made */
    lw_arena arena;
    lw_source source;
    lw_diags diags;
    const lw_language *language;
    lw_load_options options;
    void *checked; /* what its language made of the text */
    bool has_locs;
    lw_locs locs; /* what a compiler made the text of, once somebody asked */
    bool good;    /* no errors: has kernels and variables */
    bool full;    /* its variables need more device memory than there is, which the context's message says */
    uint32_t kernel_count;
    lw_kernel *kernels;
    lw_kernel **by_name;          /* the same, sorted */
    struct lw_object **variables; /* those with memory, at module scope, sorted by name */
    uint32_t variable_count;
    LW_LIST(uint64_t) references; /* handles of its .texref, .samplerref and .surfref */
    LW_LIST(uint64_t) memory;     /* allocations of its variables, in the order of the text; 0: that of `like` */
    struct {
        const char *text;
        uint32_t errors, warnings;
    } rendered[2];
};

/* Another module of the same texts, which one was made from: with variables of its own but for managed ones, which are
 * those of `like`. It must end before that. */
lw_status lw_module_again(const lw_module *like, const lw_module_text *texts, size_t count, lw_module **module);

/* What a compiler made its texts of. NULL: no memory. */
const lw_locs *lw_module_locs(lw_module *module);

/* What messages call a kernel of a module. */
static inline const char *lw_kernel_word(const lw_module *module) { return module->language->kernel_word; }

/* ---- variables.c: memory of module-scope variables ------------------------------------------------------- */

/* Gives every .global and .const variable memory with its initial value. Faults go to the diagnostics. */
lw_status lw_variables_place(lw_module *module); /* fails where functions or variables of other modules are missing */
void lw_variables_free(lw_module *module);
void lw_variables_sort(lw_module *module); /* so that they are found by name */
bool lw_variables_find(const lw_module *module, const char *name, uint64_t *address, uint64_t *size);
const char *lw_variables_at(const lw_module *module, const lw_range *range); /* the one that lies there, or NULL */
lw_texture_kind lw_variables_reference(const lw_module *module, const char *name, uint64_t *handle);
/* texture.c: a handle for a variable of this name, unbound but for a sampler's value. False: no memory. */
bool lw_reference_add(lw_context *context, lw_texture_kind kind, const char *name, const lw_sampler *sampler,
                      uint64_t *handle);

/* ---- launch.c: checks and the parameter buffer ------------------------------------------------------------ */

static inline uint64_t lw_volume(const uint32_t extents[3]) {
    uint64_t area = (uint64_t)extents[0] * extents[1], all;
    return __builtin_mul_overflow(area, extents[2], &all) ? UINT64_MAX : all;
}

/* The shape of its clusters: what the launch says, or the kernel; all 0: neither does. */
const uint32_t *lw_launch_cluster(const lw_kernel *kernel, const lw_launch_config *config);
/* CTAs of the grid, which kernels may have counted in clusters. */
void lw_launch_ctas(const lw_kernel *kernel, const lw_launch_config *config, uint32_t shape[3]);
lw_status lw_launch_check(lw_kernel *kernel, const lw_launch_config *config);
/* A copy of the parameters, laid out: in `few` where they have room there, else allocated, and the caller frees it;
 * *buffer is NULL where there are none. */
typedef struct lw_params_room {
    _Alignas(64) char bytes[512];
} lw_params_room;
lw_status lw_launch_params(lw_kernel *kernel, const lw_launch_config *config, void *const *params, lw_params_room *few,
                           char **buffer);
void lw_launch_grid(lw_kernel *kernel, const lw_launch_config *config, lw_grid *grid);

/* ---- runtime.c: what a launch needs of the device's runtime ------------------------------------------------ */

/* Gives the grid the printer and the context's heap, if its program uses them, and a workspace if it is cooperative;
 * where that works, all of it ends, and what the kernel printed comes out, with lw_runtime_end. */
lw_status lw_runtime_begin(lw_context *context, const lw_launch_config *config, lw_grid *grid, lw_printer *printer);
void lw_runtime_end(lw_context *context, const lw_launch_config *config, lw_grid *grid, lw_float_mode *callers);

#endif
