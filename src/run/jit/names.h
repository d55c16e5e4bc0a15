/* names.h: the names of compiled functions, and who is told where they lie: perf by a map, GDB by its interface for
 * code that is made while a process runs. Nobody, unless the program says so. */
#ifndef LW_NAMES_H
#define LW_NAMES_H

#include "run/jit/unit.h"

#include <llvm-c/LLJIT.h>

/* A symbol of the object that LLVM made, before it lies anywhere. */
typedef struct lw_named {
    char *name;
    uint64_t at, size;   /* in its section */
    const void *section; /* which only tells whether two are in the same */
} lw_named;

typedef struct lw_names {
    uint8_t wanted; /* enum lw_symbols_told (run.h) */
    lw_named *all;
    size_t count, room;
    const void *section; /* the one whose place is known … */
    uint64_t base;       /* … and where it begins */
} lw_names;

/* A new function of the module, by the name that the text has for it where nothing else can be meant by that. */
LLVMValueRef lw_names_function(const lw_build *b, const lw_code *code);

/* A name that an object has for a function means nothing else in this process. */
bool lw_names_are_free(const char *name);

/* In this order, around the making of code: the linker is chosen, the object is read, functions are placed, and all is
 * told. Where there is no memory for it nothing is told. */
void lw_names_layer(lw_names *names, LLVMOrcLLJITBuilderRef builder);
void lw_names_watch(lw_names *names, LLVMOrcLLJITRef code);
void lw_names_place(lw_names *names, const char *name, uint64_t address);
void lw_names_tell(const lw_names *names);
void lw_names_free(lw_names *names);

#endif
