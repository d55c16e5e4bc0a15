/* host.c: what compiled code knows of the process that it runs in: functions of the core and of the compiler, steps,
 * and where the interpreter's operations lie. The code has names for all of it, with a dot, as no function of a text
 * has; they get their places when an object is loaded. So one object is good for any process. */
#include "run/jit/object.h"
#include "run/jit/unit.h"

#include <inttypes.h>
#include <llvm-c/Object.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define PREFIX     "lw."
#define CORE(name) PREFIX "pass." #name,
#define WARP(name) PREFIX "warp." #name,
static const char *const hosts[] = {PREFIX "interpret", PREFIX "spread", LW_CORE_CALLS LW_WARP_CALLS};
#undef CORE
#undef WARP
#define CORE(name) +1
#define WARP(name) +1
_Static_assert(LW_COUNT(hosts) == LW_HOSTS && sizeof(lw_core) == (0 LW_CORE_CALLS) * sizeof(void *) &&
                   sizeof(lw_warp_calls) == (0 LW_WARP_CALLS) * sizeof(void *),
               "all that there is has a name");
#undef CORE
#undef WARP
#define STEPS PREFIX "steps"
#define STEP  PREFIX "step."
#define OPS   PREFIX "ops."

/* ---- In the code ------------------------------------------------------------------------------------------------- */

/* Hidden: no table in between is asked for it. */
static LLVMValueRef function_of(const lw_build *b, const char *name, LLVMTypeRef type) {
    LLVMValueRef known = LLVMGetNamedFunction(b->module, name);
    if (known) return known;
    LLVMValueRef made = LLVMAddFunction(b->module, name, type);
    LLVMSetVisibility(made, LLVMHiddenVisibility);
    return made;
}

static LLVMValueRef data_of(const lw_build *b, const char *name, uint64_t bytes) {
    LLVMValueRef data = LLVMGetNamedGlobal(b->module, name);
    if (!data) {
        data = LLVMAddGlobal(b->module, LLVMArrayType(b->i8, (unsigned)bytes), name);
        LLVMSetVisibility(data, LLVMHiddenVisibility);
    }
    return LLVMConstBitCast(data, b->bytes);
}

LLVMValueRef lw_host_call(const lw_build *b, lw_host which, LLVMTypeRef type, LLVMValueRef *arguments) {
    return lw_build_call(b, type, function_of(b, hosts[which], type), arguments);
}

LLVMValueRef lw_host_step(const lw_build *b, uint16_t code) {
    char name[32];
    snprintf(name, sizeof name, STEP "%u", code);
    return function_of(b, name, b->step_type);
}

LLVMValueRef lw_host_steps(const lw_build *b) { return data_of(b, STEPS, LW_OP_count * sizeof(lw_step *)); }

LLVMValueRef lw_host_ops(const lw_build *b, const lw_program *program, uint32_t index) {
    char name[32];
    snprintf(name, sizeof name, OPS "%u", index);
    return data_of(b, name, (uint64_t)program->codes[index]->op_count * sizeof(lw_op));
}

/* ---- In the process ---------------------------------------------------------------------------------------------- */

typedef struct lw_host_places {
    const lw_core *core;
    const lw_program *program;
    const lw_level *level;
    LLVMOrcLLJITRef code;
    LLVMOrcCSymbolMapPairs pairs;
    size_t count;
} lw_host_places;

/* The number behind a name's beginning, below `most`. */
static bool number_of(const char *name, const char *begins, uint32_t most, uint32_t *number) {
    const size_t size = strlen(begins);
    int used = 0;
    return !strncmp(name, begins, size) && sscanf(name + size, "%" SCNu32 "%n", number, &used) == 1 &&
           !name[size + (size_t)used] && *number < most;
}

static uintptr_t host_at(const lw_core *core, const lw_warp_calls *warp, lw_host which) {
#define CORE(name) (uintptr_t) core->name,
#define WARP(name) (uintptr_t) warp->name,
    const uintptr_t places[] = {(uintptr_t)lw_jit_interpret, (uintptr_t)lw_jit_spread, LW_CORE_CALLS LW_WARP_CALLS};
    return places[which];
}

/* What stands for an operation that the CPU level has no instruction for. A process need not know these: a program that
 * opens this library does not see what it is linked with. */
static uintptr_t math_at(const char *name) {
#define MATH(name) {#name, (uintptr_t)name}, {#name "f", (uintptr_t)name##f},
    static const struct {
        const char *name;
        uintptr_t place;
    } all[] = {MATH(fma) MATH(floor) MATH(ceil) MATH(trunc) MATH(rint)};
#undef MATH
    for (size_t k = 0; k < LW_COUNT(all); k++)
        if (!strcmp(name, all[k].name)) return all[k].place;
    return 0;
}

static bool is_own(const char *name) { return !strncmp(name, PREFIX, sizeof PREFIX - 1); }

/* 0: there is no such thing. */
static uintptr_t place_of(const lw_host_places *p, const char *name) {
    uint32_t number;
    if (!is_own(name)) return math_at(name);
    if (!strcmp(name, STEPS)) return (uintptr_t)p->level->steps;
    if (number_of(name, STEP, LW_OP_count, &number)) return (uintptr_t)p->level->steps[number];
    if (number_of(name, OPS, p->program->code_count, &number)) return (uintptr_t)p->program->codes[number]->ops;
    for (lw_host which = 0; which < LW_HOSTS; which++)
        if (!strcmp(name, hosts[which])) return host_at(p->core, p->level->warp, which);
    return 0;
}

static bool add_name(lw_host_places *p, const char *name, lw_text *why) {
    const uintptr_t at = place_of(p, name);
    if (!at && !is_own(name)) return true; /* its own functions, and memcpy, which every process knows */
    if (!at) {
        lw_text_printf(why, "the code asks for '%s', which is not there", name);
        return false;
    }
    LLVMOrcCSymbolMapPairs pairs = realloc(p->pairs, (p->count + 1) * sizeof *pairs);
    if (!pairs) return false;
    p->pairs = pairs;
    memset(&pairs[p->count], 0, sizeof *pairs);
    pairs[p->count].Name = LLVMOrcLLJITMangleAndIntern(p->code, name);
    pairs[p->count].Sym.Address = at;
    pairs[p->count++].Sym.Flags.GenericFlags = LLVMJITSymbolGenericFlagsExported;
    return true;
}

static bool add_names(lw_host_places *p, LLVMMemoryBufferRef object, lw_text *why) {
    char *message = NULL;
    LLVMBinaryRef binary = LLVMCreateBinary(object, NULL, &message);
    if (!binary) lw_text_printf(why, "%s", message);
    LLVMDisposeMessage(message);
    if (!binary) return false;
    LLVMSymbolIteratorRef symbol = LLVMObjectFileCopySymbolIterator(binary);
    bool good = symbol;
    for (; good && !LLVMObjectFileIsSymbolIteratorAtEnd(binary, symbol); LLVMMoveToNextSymbol(symbol)) {
        const char *name = LLVMGetSymbolName(symbol);
        good = !name || add_name(p, name, why);
    }
    if (symbol) LLVMDisposeSymbolIterator(symbol);
    LLVMDisposeBinary(binary);
    return good;
}

bool lw_host_define(LLVMOrcLLJITRef code, LLVMMemoryBufferRef object, const lw_core *core, const lw_program *program,
                    const lw_level *level, lw_text *why) {
    lw_host_places p = {.core = core, .program = program, .level = level, .code = code};
    bool good = add_names(&p, object, why);
    if (good && p.count) {
        LLVMOrcMaterializationUnitRef unit = LLVMOrcAbsoluteSymbols(p.pairs, p.count); /* has the names now */
        good = lw_object_good(LLVMOrcJITDylibDefine(LLVMOrcLLJITGetMainJITDylib(code), unit), why);
        if (!good) LLVMOrcDisposeMaterializationUnit(unit);
    } else
        for (size_t k = 0; k < p.count; k++) LLVMOrcReleaseSymbolStringPoolEntry(p.pairs[k].Name);
    free(p.pairs);
    return good;
}
