/* object.c: from an object to code in this process, and what tells builds of the compiler apart. */
#define _GNU_SOURCE
#include "run/jit/object.h"

#include <link.h>
#include <llvm-c/Orc.h>
#include <llvm/Config/llvm-config.h>
#include <pthread.h>
#include <stdlib.h>

struct lw_compiled {
    LLVMOrcLLJITRef code;
    lw_names names;
};

/* ---- As bytes ---------------------------------------------------------------------------------------------------- */

lw_made *lw_object_add(lw_object *object, uint32_t code, uint32_t entries, const char *name) {
    if (object->count == object->room) {
        const uint32_t room = 2 * object->room + 8;
        lw_made *all = realloc(object->made, room * sizeof *all);
        if (!all) return NULL;
        object->made = all, object->room = room;
    }
    lw_made *made = &object->made[object->count++];
    *made = (lw_made){code, calloc(entries, sizeof *made->entries), strdup(name), false};
    return made->entries && made->name ? made : NULL;
}

void lw_object_free(lw_object *object) {
    for (uint32_t i = 0; i < object->count; i++) free(object->made[i].entries), free(object->made[i].name);
    free(object->made);
    if (object->code) LLVMDisposeMemoryBuffer(object->code);
    *object = (lw_object){0};
}

bool lw_object_is_bound(const lw_object *object) {
    for (uint32_t i = 0; i < object->count; i++)
        if (object->made[i].bound) return true;
    return false;
}

/* Of each the function's number, the count of its entries with the mark behind them, these, whether it is bound, and
 * its name with the NUL; then LLVM's object. All is in the machine's own order: no other runs this code. */
static void put_word(lw_text *bytes, uint32_t word) { lw_text_add(bytes, (const char *)&word, sizeof word); }

void lw_object_pack(const lw_object *object, lw_text *bytes) {
    put_word(bytes, object->count);
    for (uint32_t i = 0; i < object->count; i++) {
        const lw_made *made = &object->made[i];
        uint32_t count = 0;
        while (made->entries[count++] != LW_NO_SLOT) {}
        put_word(bytes, made->code);
        put_word(bytes, count);
        lw_text_add(bytes, (const char *)made->entries, count * sizeof *made->entries);
        put_word(bytes, made->bound);
        lw_text_add(bytes, made->name, strlen(made->name) + 1);
    }
    lw_text_add(bytes, LLVMGetBufferStart(object->code), LLVMGetBufferSize(object->code));
}

static bool take(lw_bytes *from, void *to, size_t size) {
    if (from->size < size) return false;
    memcpy(to, from->at, size);
    from->at += size, from->size -= size;
    return true;
}

static bool take_made(lw_bytes *from, lw_object *object, const lw_program *program) {
    uint32_t code, count, bound;
    if (!take(from, &code, sizeof code) || !take(from, &count, sizeof count)) return false;
    if (code >= program->code_count || !count || from->size / sizeof count < count) return false;
    lw_bytes entries = *from;
    from->at += count * sizeof count, from->size -= count * sizeof count;
    if (!take(from, &bound, sizeof bound) || strnlen(from->at, from->size) == from->size) return false;
    lw_made *made = lw_object_add(object, code, count, from->at);
    if (!made) return false;
    take(&entries, made->entries, count * sizeof count);
    from->at += strlen(made->name) + 1, from->size -= strlen(made->name) + 1;
    made->bound = bound;
    for (uint32_t k = 0; k + 1 < count; k++)
        if (made->entries[k] >= program->codes[code]->op_count) return false;
    return made->entries[count - 1] == LW_NO_SLOT;
}

bool lw_object_unpack(lw_object *object, const lw_program *program, lw_bytes bytes) {
    uint32_t count;
    if (!take(&bytes, &count, sizeof count)) return false;
    for (uint32_t i = 0; i < count; i++)
        if (!take_made(&bytes, object, program)) return false;
    object->code = LLVMCreateMemoryBufferWithMemoryRangeCopy(bytes.at, bytes.size, "lanewise"); /* aligned */
    return object->code;
}

/* ---- In this process --------------------------------------------------------------------------------------------- */

bool lw_object_good(LLVMErrorRef error, lw_text *why) {
    if (!error) return true;
    char *message = LLVMGetErrorMessage(error);
    lw_text_printf(why, "%s", message);
    LLVMDisposeErrorMessage(message);
    return false;
}

static bool make_linker(lw_compiled *made, const lw_level *level, lw_text *why) {
    LLVMTargetMachineRef machine = lw_object_machine(level, why);
    if (!machine) return false;
    LLVMOrcLLJITBuilderRef builder = LLVMOrcCreateLLJITBuilder();
    LLVMOrcLLJITBuilderSetJITTargetMachineBuilder(
        builder, LLVMOrcJITTargetMachineBuilderCreateFromTargetMachine(machine)); /* takes both */
    lw_names_layer(&made->names, builder);
    if (!lw_object_good(LLVMOrcCreateLLJIT(&made->code, builder), why)) return false;
    lw_names_watch(&made->names, made->code);
    LLVMOrcDefinitionGeneratorRef process = NULL;
    if (!lw_object_good(LLVMOrcCreateDynamicLibrarySearchGeneratorForProcess(
                            &process, LLVMOrcLLJITGetGlobalPrefix(made->code), NULL, NULL),
                        why))
        return false;
    /* memcpy and the like; host.c has the rest */
    LLVMOrcJITDylibAddGenerator(LLVMOrcLLJITGetMainJITDylib(made->code), process);
    return true;
}

/* The linker has the object then. */
static bool add_object(lw_compiled *made, lw_object *object, lw_text *why) {
    LLVMMemoryBufferRef code = object->code;
    object->code = NULL;
    return lw_object_good(LLVMOrcLLJITAddObjectFile(made->code, LLVMOrcLLJITGetMainJITDylib(made->code), code), why);
}

static bool install(lw_compiled *made, lw_program *program, const lw_object *object, lw_text *why) {
    for (const lw_made *one = object->made; one < object->made + object->count; one++) {
        LLVMOrcExecutorAddress address = 0;
        if (!lw_object_good(LLVMOrcLLJITLookup(made->code, &address, one->name), why)) return false;
        lw_frame_install(program->codes[one->code], one->entries, (lw_step *)(uintptr_t)address);
        lw_names_place(&made->names, one->name, address);
    }
    lw_names_tell(&made->names);
    return true;
}

static bool names_are_free(const lw_object *object, lw_text *why) {
    for (uint32_t i = 0; i < object->count; i++) {
        const lw_made *made = &object->made[i];
        if (lw_names_are_free(made->name)) continue;
        lw_text_printf(why, "the process has a '%s' of its own", made->name);
        return false;
    }
    return true;
}

lw_compiled *lw_object_load(lw_object *object, const lw_core *core, lw_program *program, const lw_level *level,
                            lw_text *why) {
    lw_compiled *made = calloc(1, sizeof *made);
    if (!made) return NULL;
    made->names.wanted = program->symbols;
    if (names_are_free(object, why) && make_linker(made, level, why) &&
        lw_host_define(made->code, object->code, core, program, level, why) && add_object(made, object, why) &&
        install(made, program, object, why))
        return made;
    lw_object_drop(made);
    return NULL;
}

void lw_object_drop(lw_compiled *made) {
    if (!made || lw_rescue_lost()) return; /* then nobody enters LLVM, to free either */
    if (made->code) LLVMConsumeError(LLVMOrcDisposeLLJIT(made->code));
    lw_names_free(&made->names);
    free(made);
}

/* ---- Which build it is ------------------------------------------------------------------------------------------- */

typedef struct lw_finder {
    uintptr_t inside; /* an address in it */
    lw_text *id;
    bool found;
} lw_finder;

/* What the linker notes of all that a file holds. */
static void read_notes(lw_finder *f, const char *at, size_t size) {
    const ElfW(Nhdr) * note;
    for (; size >= sizeof *note;) {
        note = (const void *)at;
        const size_t name = (note->n_namesz + 3u) & ~3u, all = sizeof *note + name + ((note->n_descsz + 3u) & ~3u);
        if (all > size) return;
        const unsigned char *id = (const unsigned char *)at + sizeof *note + name;
        const bool is_id = note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 && !memcmp(note + 1, "GNU", 4);
        for (size_t k = 0; is_id && k < note->n_descsz; k++) lw_text_printf(f->id, "%02x", id[k]);
        f->found |= is_id && note->n_descsz >= 16;
        at += all, size -= all;
    }
}

static int look_at(struct dl_phdr_info *file, size_t size, void *finder) {
    (void)size;
    lw_finder *f = finder;
    bool is_it = false;
    for (size_t k = 0; k < file->dlpi_phnum; k++) {
        const ElfW(Phdr) *p = &file->dlpi_phdr[k];
        is_it |= p->p_type == PT_LOAD && f->inside - (file->dlpi_addr + p->p_vaddr) < p->p_memsz;
    }
    for (size_t k = 0; is_it && k < file->dlpi_phnum; k++) {
        const ElfW(Phdr) *p = &file->dlpi_phdr[k];
        if (p->p_type == PT_NOTE && p->p_align <= 4)
            read_notes(f, (const char *)(file->dlpi_addr + p->p_vaddr), p->p_memsz);
    }
    return is_it;
}

static bool add_build(lw_text *text, uintptr_t inside) {
    lw_finder f = {.inside = inside, .id = text};
    lw_text_puts(text, " ");
    dl_iterate_phdr(look_at, &f);
    return f.found;
}

/* Sources, bitcode, the layout of structs: whatever the compiler is made of is in its file, which the linker has an id
 * for, and so it is with LLVM's. */
static lw_text build_id;
static bool has_build;
static void find_build(void) {
    lw_text_puts(&build_id, "LLVM " LLVM_VERSION_STRING);
    has_build = add_build(&build_id, (uintptr_t)lw_object_build) && add_build(&build_id, (uintptr_t)LLVMContextCreate);
}

const char *lw_object_build(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, find_build);
    return has_build && !build_id.failed ? build_id.at : NULL;
}
