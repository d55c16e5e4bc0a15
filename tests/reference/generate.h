/* generate.h: random valid kernels whose results are defined. The same seed gives the same kernel for ever.
 *
 * All kernels take the same parameters, and every thread works on its own:
 *   in    IN_WORDS 64-bit words, random, read only
 *   out   OUT_BYTES for each thread of the grid
 *   sum   SUM_BYTES that all threads add to, in ways whose order does not matter
 *   one parameter of each type that a kernel parameter may have
 *
 * What lanes exchange goes by masks that are known when the text is made, so that every lane of a mask comes to as many
 * instructions of the same kind, in the same order, by whatever way. */
#ifndef LW_GENERATE_H
#define LW_GENERATE_H

#include "front/ptx/ptx.h"

enum { GEN_IN_WORDS = 256, GEN_OUT_BYTES = 512, GEN_SUM_BYTES = 1024, GEN_PARAM_BYTES = 128 };

typedef struct gen_options {
    bool places; /* lanes of a warp come to one exchange from different places of the text */
    bool warps;  /* exchanges only: whatever the rest of the generator makes is left out */
    bool traps;  /* some kernels end in a trap */
    bool calm; /* common integer instructions only, besides what the kernel is about: on others ptxas has faults of its
                  own */
    bool tiny; /* a few instructions on registers only: to find one that a GPU does otherwise */
} gen_options;

typedef struct gen_kernel {
    lw_text text;
    uint32_t grid[3], block[3];
    unsigned char params[GEN_PARAM_BYTES]; /* of all but the three addresses, which are the first 24 bytes */
    uint32_t param_bytes;
    bool traps;
} gen_kernel;

/* What the generator knows of the forms of instructions: all of them, from isa/ptx. */
typedef struct gen_tables gen_tables;
gen_tables *gen_tables_new(void);
void gen_tables_free(gen_tables *tables);
/* Asynchronous copies and mbarrier objects, for which the reference has no meaning: tools/silicon/mbarriers.py and
 * bulk.py have models of their own. So has clusterlaunchcontrol, whose answers are told to such an object and depend on
 * how many workers there are: tests/ptx/cluster/run_cancel.ptx. Matrices have tools/silicon/model_matrix.py and
 * wgmmas.py, tensor maps tensors.py beside it; what textures and surfaces look at is made by the host: tests/texture.
 * So are the objects of multimem: tests/cuda/multicast.c.
 */
bool gen_is_apart(const lw_form *form);

/* `kernel` is empty; its text belongs to the caller. */
void gen_make(gen_tables *tables, gen_kernel *kernel, uint64_t seed, const gen_options *options);

/* ---- For the files of the generator ---------------------------------------------------------------------- */

/* Registers, in every function: %h %r %d %q of 16, 32, 64, 128 bits, %p predicates. */
enum { GEN_H = 5, GEN_R = 8, GEN_D = 6, GEN_Q = 2, GEN_P = 6 };

enum { GEN_FUNCTIONS_MAX = 5, GEN_DEPTH_MAX = 6 };

typedef struct gen_function { /* arguments and results are of these types, in parameters or, where `registers`, in
                                 registers */
    uint32_t param_count, return_count;
    lw_type params[4], returns[2];
    bool registers, recurses, array; /* array: a further parameter of 16 bytes */
} gen_function;

typedef struct gen {
    uint64_t state;
    gen_tables *tables;
    const gen_options *options;
    gen_kernel *kernel;
    lw_text body, functions;
    uint32_t version, target;
    char suffix;
    uint32_t depth, labels, names;
    uint32_t threads;  /* of a CTA */
    uint32_t live;     /* lanes of each warp that are here */
    uint32_t gone;     /* lanes that have exited */
    bool lanes_known;  /* all of them, and no others, execute what is written now */
    bool cta_whole;    /* and all threads of the CTA do */
    bool someone_left; /* threads have exited */
    bool in_function;
    uint32_t loops;          /* around what is written now */
    bool small;              /* each fifth kernel: to compile takes as long as there is text */
    uint32_t function_count; /* functions that may be called here */
    gen_function made[GEN_FUNCTIONS_MAX];
    uint64_t called;  /* exchanges that have a function: bit of the kind */
    uint32_t left;    /* statements still to make */
    uint32_t barrier; /* number of the next one */
} gen;

uint64_t gen_word(gen *g);
uint32_t gen_below(gen *g, uint32_t n);
bool gen_chance(gen *g, uint32_t percent);
void gen_put(gen *g, const char *format, ...) LW_PRINTF(2, 3); /* a line of the body */
uint32_t gen_label(gen *g);
void gen_split(gen *g, uint32_t lanes, const char *predicate); /* predicate: is this lane one of them */
void gen_noise(gen *g, uint32_t most);                         /* some work of each thread by itself */
void gen_some(gen *g, uint32_t most);                          /* statements */

/* generate_form.c */
const lw_match *gen_spell(gen *g, const lw_form *form, char text[128]); /* NULL: nothing that this target has */
const lw_form *gen_form(gen *g, bool (*wanted)(const lw_form *));       /* one at random */
void gen_plain(gen *g);                                                 /* an instruction on registers only */
void gen_guard(gen *g, char text[16]);                                  /* mostly empty */
void gen_register(gen *g, uint32_t bits, char text[16]);
void gen_constant(gen *g, lw_type type, char text[40]);

/* generate_memory.c */
void gen_memory(gen *g); /* a load or store of the thread's own memory, or of what nobody writes */
void gen_atomic(gen *g);
void gen_address(gen *g); /* cvta, isspacep, mov of addresses */
void gen_stack(gen *g);   /* takes local memory and gives it back */
void gen_parameter(gen *g);
void gen_variables(lw_text *text, gen *g); /* of the module */

/* generate_flow.c */
void gen_branch(gen *g);
void gen_loop(gen *g);
void gen_table(gen *g);
void gen_call(gen *g);
void gen_leave(gen *g);
void gen_barrier(gen *g);
void gen_hint(gen *g);      /* fences and other instructions without an effect */
void gen_functions(gen *g); /* makes those that the kernel may call */
void gen_trap(gen *g);

/* generate_warp.c */
void gen_episode(gen *g);                        /* lanes of one mask exchange, by one way or by many */
void gen_old_exchange(gen *g);                   /* without .sync, for old targets, where the warp is together */
uint32_t gen_some_lanes(gen *g, uint32_t among); /* halves, bytes, alternate lanes, single ones; not none of them */

#endif
