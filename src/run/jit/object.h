/* object.h: the machine code of a program: as an object that any process can load, and where it lies in this one. */
#ifndef LW_OBJECT_H
#define LW_OBJECT_H

#include "run/jit/names.h"

#include <llvm-c/TargetMachine.h>

/* A function of a program, compiled, or a piece of one. */
typedef struct lw_made {
    uint32_t code;     /* the function's number in the program */
    uint32_t *entries; /* where the interpreter may come into it, LW_NO_SLOT behind the last */
    char *name;        /* of its symbol */
    bool bound;        /* to the layout that it was compiled for */
} lw_made;

typedef struct lw_object {
    lw_made *made;
    uint32_t count, room;
    LLVMMemoryBufferRef code; /* what LLVM made of the module; NULL: there is none yet, or it is loaded */
} lw_object;

/* One more, with room for so many entries; the name is copied. NULL: no memory. Good until the next one. */
lw_made *lw_object_add(lw_object *object, uint32_t code, uint32_t entries, const char *name);
void lw_object_free(lw_object *object);
bool lw_object_is_bound(const lw_object *object); /* some function is */
/* As bytes, and back: false where they are no such thing, or there is no memory. */
void lw_object_pack(const lw_object *object, lw_text *bytes);
bool lw_object_unpack(lw_object *object, const lw_program *program, lw_bytes bytes);

/* Lays the code over a linked program, and has it. NULL: it cannot; `why`. */
lw_compiled *lw_object_load(lw_object *object, const lw_core *core, lw_program *program, const lw_level *level,
                            lw_text *why);
void lw_object_drop(lw_compiled *code);

bool lw_object_good(LLVMErrorRef error, lw_text *why); /* or what LLVM says of it */
const char *lw_object_build(void);                     /* lw_jit.build: build.c is another matter */
/* session.c: what code is made for. NULL: `why`. */
LLVMTargetMachineRef lw_object_machine(const lw_level *level, lw_text *why);

#endif
