/* names.c: names for profilers and debuggers. */
#define _GNU_SOURCE
#include "run/jit/names.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <llvm-c/ExecutionEngine.h>
#include <llvm-c/Object.h>
#include <llvm-c/OrcEE.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* ---- Names ------------------------------------------------------------------------------------------------------ */

/* Compiled code calls functions of the process and of the compiler's own library by their names: fma, memcpy, what
 * begins with two underscores. A kernel that is called so must not come in between. */
bool lw_names_are_free(const char *name) { return strncmp(name, "__", 2) && !dlsym(RTLD_DEFAULT, name); }

static bool is_free(const lw_build *b, const char *name) {
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_$";
    LLVMValueRef known = LLVMGetNamedFunction(b->module, name); /* another of the program's is none that it calls so */
    return *name && !name[strspn(name, letters)] && (!known || LLVMGlobalGetValueType(known) == b->step_type) &&
           !LLVMGetNamedGlobal(b->module, name) && lw_names_are_free(name);
}

LLVMValueRef lw_names_function(const lw_build *b, const lw_code *code) {
    char number[32];
    snprintf(number, sizeof number, "lw_code_%u", code->number);
    return LLVMAddFunction(b->module, is_free(b, code->name) ? code->name : number, b->step_type); /* made unique */
}

/* ---- The object -------------------------------------------------------------------------------------------------- */

static bool make_room(lw_names *s) {
    if (s->count < s->room) return true;
    const size_t room = 2 * s->room + 16;
    lw_named *all = realloc(s->all, room * sizeof *all);
    if (all) s->all = all, s->room = room;
    return all;
}

static void add_symbol(lw_names *s, LLVMSectionIteratorRef section, LLVMSymbolIteratorRef symbol) {
    const char *name = LLVMGetSymbolName(symbol);
    const uint64_t size = LLVMGetSymbolSize(symbol);
    if (!size || !name || !*name || !make_room(s)) return;
    LLVMMoveToContainingSection(section, symbol);
    char *copy = strdup(name);
    if (copy)
        s->all[s->count++] = (lw_named){copy, LLVMGetSymbolAddress(symbol), size, LLVMGetSectionContents(section)};
}

static LLVMErrorRef read_object(void *symbols, LLVMMemoryBufferRef *object) {
    char *message = NULL;
    LLVMBinaryRef binary = LLVMCreateBinary(*object, NULL, &message);
    LLVMDisposeMessage(message);
    if (!binary) return LLVMErrorSuccess; /* whoever links it finds the fault */
    LLVMSectionIteratorRef section = LLVMObjectFileCopySectionIterator(binary);
    LLVMSymbolIteratorRef symbol = LLVMObjectFileCopySymbolIterator(binary);
    for (; symbol && section && !LLVMObjectFileIsSymbolIteratorAtEnd(binary, symbol); LLVMMoveToNextSymbol(symbol))
        add_symbol(symbols, section, symbol);
    if (symbol) LLVMDisposeSymbolIterator(symbol);
    if (section) LLVMDisposeSectionIterator(section);
    LLVMDisposeBinary(binary);
    return LLVMErrorSuccess;
}

/* ---- GDB --------------------------------------------------------------------------------------------------------- */

static LLVMOrcObjectLayerRef make_layer(void *names, LLVMOrcExecutionSessionRef session, const char *triple) {
    (void)triple;
    const lw_names *s = names;
    LLVMOrcObjectLayerRef layer = LLVMOrcCreateRTDyldObjectLinkingLayerWithSectionMemoryManager(session);
    if (s->wanted & LW_SYMBOLS_gdb)
        LLVMOrcRTDyldObjectLinkingLayerRegisterJITEventListener(layer, LLVMCreateGDBRegistrationListener());
    return layer;
}

/* The linker of LLVM 14 in later versions, too: where nobody names one, these change the code to what lies near. */
void lw_names_layer(lw_names *s, LLVMOrcLLJITBuilderRef builder) {
    LLVMOrcLLJITBuilderSetObjectLinkingLayerCreator(builder, make_layer, s);
}

void lw_names_watch(lw_names *s, LLVMOrcLLJITRef code) {
    if (s->wanted & LW_SYMBOLS_perf)
        LLVMOrcObjectTransformLayerSetTransform(LLVMOrcLLJITGetObjTransformLayer(code), read_object, s);
}

/* ---- perf -------------------------------------------------------------------------------------------------------- */

void lw_names_place(lw_names *s, const char *name, uint64_t address) {
    for (size_t i = 0; i < s->count && !s->section; i++)
        if (!strcmp(s->all[i].name, name)) s->section = s->all[i].section, s->base = address - s->all[i].at;
}

/* One of an earlier process of this number goes away; what is not ours and cannot go is left alone. */
static int open_map(void) {
    static pid_t begun; /* for this process */
    char path[64];
    snprintf(path, sizeof path, "/tmp/perf-%ld.map", (long)getpid());
    const int how = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW;
    const bool first = begun != getpid();
    if (first) unlink(path);
    begun = getpid();
    return open(path, first ? how | O_EXCL : how, 0600);
}

void lw_names_tell(const lw_names *s) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    lw_text lines = {0};
    for (size_t i = 0; i < s->count && s->section; i++)
        if (s->all[i].section == s->section)
            lw_text_printf(&lines, "%llx %llx %s\n", (unsigned long long)(s->base + s->all[i].at),
                           (unsigned long long)s->all[i].size, s->all[i].name);
    if (lines.size && !lines.failed) {
        pthread_mutex_lock(&lock);
        const int map = open_map();
        for (size_t at = 0; map >= 0 && at < lines.size;) {
            const ssize_t wrote = write(map, lines.at + at, lines.size - at);
            if (wrote <= 0) break; /* what perf does not know it calls unknown */
            at += (size_t)wrote;
        }
        if (map >= 0) close(map);
        pthread_mutex_unlock(&lock);
    }
    lw_text_free(&lines);
}

void lw_names_free(lw_names *s) {
    for (size_t i = 0; i < s->count; i++) free(s->all[i].name);
    free(s->all);
    *s = (lw_names){0};
}
