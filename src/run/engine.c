/* engine.c: who executes programs: the interpreter, or the compiler's code where the compiler is there. */
#define _GNU_SOURCE
#include "run/jit/jit.h"

#include <dlfcn.h>
#include <stdlib.h>

const char *const lw_engine_words[] = {[LW_ENGINE_interp] = "interp", [LW_ENGINE_jit] = "jit", NULL};

bool lw_engine_choose(const char *name, lw_engine *engine) {
    if (!name || !*name) name = getenv("LANEWISE_ENGINE");
    *engine = LW_ENGINE_interp;
    if (!name || !*name) return true;
    for (*engine = 0; *engine < LW_ENGINES; ++*engine)
        if (!strcmp(lw_engine_words[*engine], name)) return true;
    return false;
}

/* ---- The compiler ------------------------------------------------------------------------------------------------------- */

/* Where it lies as seen from whatever holds this code: a program, liblanewise, or the CUDA driver, installed or in a build tree. */
static const char *const folders[] = {LW_JIT_FOLDER, "lanewise", "..", "../lanewise", "../lib/lanewise"};

static const lw_jit *fitting(void *library) {
    lw_jit_open *open;
    *(void **)&open = dlsym(library, LW_JIT_SYMBOL);
    const lw_jit *jit = open ? open() : NULL;
    return jit && jit->gang_bytes == sizeof(lw_gang) && jit->op_bytes == sizeof(lw_op) && jit->lane_count == LW_LANE_count ? jit : NULL;
}

static const lw_jit *jit;
static pthread_once_t jit_once = PTHREAD_ONCE_INIT;

static void open_jit(void) {
    Dl_info self;
    if (!dladdr((void *)folders, &self) || !self.dli_fname) return;
    const char *slash = strrchr(self.dli_fname, '/');
    const int size = slash ? (int)(slash - self.dli_fname) : 1;
    for (size_t i = 0; !jit && i < sizeof folders / sizeof *folders; i++) {
        lw_text path = {0};
        lw_text_printf(&path, "%.*s/%s/jit.so", size, slash ? self.dli_fname : ".", folders[i]);
        void *library = path.failed ? NULL : dlopen(path.at, RTLD_NOW | RTLD_LOCAL);
        if (library && !(jit = fitting(library))) dlclose(library);
        lw_text_free(&path);
    }
}

static const lw_jit *get_jit(void) {
    pthread_once(&jit_once, open_jit);
    return jit;
}

bool lw_engine_has(lw_engine engine) { return engine != LW_ENGINE_jit || get_jit(); }

bool lw_program_compile(lw_program *program, const lw_level *level, lw_text *why) {
    const lw_jit *compiler = get_jit();
    program->compiled = compiler ? compiler->compile(program, level, why) : NULL;
    if (!program->compiled) lw_program_link(program, level); /* some of its code may be in place */
    return program->compiled;
}

void lw_program_drop(lw_program *program) {
    if (program && program->compiled) get_jit()->drop(program->compiled);
}

bool lw_program_print(lw_program *program, const lw_level *level, lw_text *out, lw_text *why) {
    const lw_jit *compiler = get_jit();
    return compiler && compiler->print(program, level, out, why);
}
