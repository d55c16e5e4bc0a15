/* engine.c: who executes programs: the interpreter, or the compiler's code where the compiler is there. */
#define _GNU_SOURCE
#include "base/float_mode.h"
#include "run/cache.h"
#include "run/jit/jit.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

const char *const lw_engine_words[] = {
    [LW_ENGINE_interp] = "interp", [LW_ENGINE_jit] = "jit", [LW_ENGINE_auto] = "auto", NULL};

bool lw_engine_choose(const char *name, lw_engine *engine) {
    *engine = LW_ENGINE_auto;
    if (!name || !*name) return true;
    for (*engine = 0; *engine < LW_ENGINES; ++*engine)
        if (!strcmp(lw_engine_words[*engine], name)) return true;
    return false;
}

bool lw_symbols_choose(const char *name, uint8_t *symbols) {
    static const char *const words[] = {"", "perf", "gdb", "all"}; /* bits of enum lw_symbols_told */
    for (*symbols = 0; *symbols < LW_COUNT(words); ++*symbols)
        if (!strcmp(words[*symbols], name ? name : "")) return true;
    return false;
}

/* ---- The end of the process ------------------------------------------------------------------------------------ */

/* LLVM's own data ends with the process, before anything here does, and a thread that still compiles would fall. So the
 * end waits for it; not for the thread that ends the process from within, nor in the child of a fork, where none is. */
static pthread_mutex_t inside_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t inside_none = PTHREAD_COND_INITIALIZER;
static uint32_t inside; /* threads that compile */
static bool process_ends;
static pid_t process;
static _Thread_local bool is_inside;

static void wait_for_compiler(void) {
    if (getpid() != process || is_inside) return;
    pthread_mutex_lock(&inside_lock);
    process_ends = true;
    while (inside) pthread_cond_wait(&inside_none, &inside_lock);
    pthread_mutex_unlock(&inside_lock);
}

/* False: the process ends. */
static bool enter_compiler(void) {
    pthread_mutex_lock(&inside_lock);
    const bool enters = !process_ends;
    inside += enters;
    pthread_mutex_unlock(&inside_lock);
    return is_inside = enters;
}

static void leave_compiler(void) {
    is_inside = false;
    pthread_mutex_lock(&inside_lock);
    if (!--inside) pthread_cond_broadcast(&inside_none);
    pthread_mutex_unlock(&inside_lock);
}

/* ---- The compiler ---------------------------------------------------------------------------------------------- */

/* Where it lies as seen from the folder of the file that holds this code: a program, liblanewise, or the CUDA driver,
 * installed or in a build tree. */
static const char *const folders[] = {LW_JIT_FOLDER, "lanewise", "../../lanewise", "../lanewise", "../lib/lanewise"};

/* The file that the system mapped this code from, as it is known from the root on. What the loader calls it may be
 * relative to a folder that was current once, and for a program it is whatever its caller made of its name. */
static bool find_own_file(lw_text *path) {
    const uintptr_t here = (uintptr_t)folders;
    FILE *maps = fopen("/proc/self/maps", "re");
    char *line = NULL;
    size_t room = 0;
    bool found = false;
    while (maps && !found && getline(&line, &room, maps) > 0) {
        uintptr_t from, to;
        int name = 0;
        if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %*s %*s %*s %*s %n", &from, &to, &name) < 2 || here < from ||
            here >= to)
            continue;
        found = name && line[name] == '/';
        if (found) lw_text_add(path, line + name, strcspn(line + name, "\n"));
    }
    free(line);
    if (maps) fclose(maps);
    return found;
}

/* Where there is no /proc: what the loader says, if it needs no folder to be understood. */
static bool ask_loader(lw_text *path) {
    Dl_info self;
    if (!dladdr((const void *)folders, &self) || !self.dli_fname || *self.dli_fname != '/') return false;
    char *real = realpath(self.dli_fname, NULL);
    if (real) lw_text_puts(path, real);
    free(real);
    return real;
}

static const lw_jit *jit;
static lw_text jit_missing; /* why */
static pthread_once_t jit_once = PTHREAD_ONCE_INIT;

static void LW_PRINTF(1, 2) say_missing(const char *format, ...) {
    va_list args;
    va_start(args, format);
    if (!jit_missing.size) lw_text_vsay(&jit_missing, format, args); /* the first reason is the nearest */
    va_end(args);
}

static const lw_jit *fitting(void *library, const char *path) {
    lw_jit_open *open;
    *(void **)&open = dlsym(library, LW_JIT_SYMBOL);
    const lw_jit *jit = open ? open(&lw_core_calls) : NULL;
    if (jit && jit->gang_bytes == sizeof(lw_gang) && jit->op_bytes == sizeof(lw_op) &&
        jit->pass_bytes == sizeof(lw_pass) && jit->lane_count == LW_LANE_count)
        return jit;
    say_missing("%s is of another version of Lanewise", path);
    return NULL;
}

static void try_file(const char *path) {
    if (access(path, F_OK)) return;
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) say_missing("%s", dlerror());
    else if (!(jit = fitting(library, path))) dlclose(library);
}

/* A library that is loaded may set a mode, which does not stay. */
static void open_jit(void) {
    LW_OWN_FLOAT_MODE(callers);
    LW_KEEP_X87_FLAGS(before);
    lw_text own = {0};
    const bool known = find_own_file(&own) || ask_loader(&own);
    const char *slash = known && !own.failed ? strrchr(own.at, '/') : NULL;
    const int size = slash ? (int)(slash - own.at) : 0;
    for (size_t i = 0; slash && !jit && i < sizeof folders / sizeof *folders; i++) {
        lw_text path = {0};
        lw_text_printf(&path, "%.*s/%s/jit.so", size, own.at, folders[i]);
        if (!path.failed) try_file(path.at);
        lw_text_free(&path);
    }
    if (!jit && slash)
        say_missing("Lanewise was built without LLVM, or its file lanewise/jit.so is missing beside '%.*s'", size,
                    own.at);
    if (!jit)
        say_missing("the folder that Lanewise lies in cannot be found, and lanewise/jit.so is looked for nowhere else");
    lw_text_free(&own);
    process = getpid();
    if (jit) (void)!atexit(wait_for_compiler); /* behind all that LLVM has told to end: in front of it, then */
}

static const lw_jit *get_jit(void) {
    pthread_once(&jit_once, open_jit);
    return jit;
}

bool lw_engine_has(lw_engine engine) { return engine != LW_ENGINE_jit || get_jit(); }

const char *lw_engine_missing(lw_engine engine) {
    return lw_engine_has(engine)                   ? ""
           : jit_missing.at && !jit_missing.failed ? jit_missing.at
                                                   : "the host is out of memory";
}

/* ---- Programs -------------------------------------------------------------------------------------------------- */

static uint8_t log2_of(uint32_t n) { return (uint8_t)__builtin_ctz(n); }

static lw_layout layout_as(uint8_t x, uint8_t y, uint8_t run) {
    lw_layout layout = lw_layout_rows;
    layout.x = x, layout.y = y, layout.run = run, layout.even = 0;
    return layout;
}

static lw_layout layout_in_warp(uint32_t x, uint32_t y, uint32_t z) {
    if (x % LW_WARP_LANES == 0) return lw_layout_rows;
    if (y * z == 1) return layout_as(5, 0, 5);
    if (x & (x - 1) || x > LW_WARP_LANES)
        return x % 16 == 0 ? layout_as(4, 0, 4) : x % 8 == 0 ? layout_as(3, 0, 3) : layout_as(0, 0, 0);
    const uint8_t in_x = log2_of(x), rest = (uint8_t)(5 - in_x);
    if (y % (1u << rest) == 0 || z == 1) return layout_as(in_x, rest, 5);
    if (!(y & (y - 1))) return layout_as(in_x, log2_of(y), 5);
    return in_x >= 3 ? layout_as(in_x, 0, in_x) : layout_as(0, 0, 0);
}

static uint8_t bits_below(uint32_t n) { return n > 1 ? (uint8_t)(32 - __builtin_clz(n - 1)) : 0; }

lw_layout lw_layout_of(const lw_program *program, const uint32_t block[3]) {
    lw_layout layout = layout_in_warp(block[0], block[1], block[2]);
    for (int k = 0; program->shared_bytes && k < 3; k++) layout.bits[k] = bits_below(block[k]);
    return layout;
}

/* What the cache has for the key, in place. */
static bool load_kept(lw_program *program, const lw_level *level, lw_cache *cache, const lw_cache_key *key,
                      bool *bound) {
    lw_cache_entry entry;
    lw_text why = {0};
    if (!lw_cache_fetch(cache, key, jit->build(), &entry)) return false;
    program->compiled = jit->load(program, level, (lw_bytes){entry.at, entry.size}, bound, &why);
    if (!program->compiled) lw_program_link(program, level); /* some of it may be in place */
    lw_text_free(&why);                                      /* it is compiled then */
    lw_cache_release(&entry);
    return program->compiled;
}

/* True: it was kept. */
static bool make_code(lw_program *program, const lw_level *level, lw_layout layout, lw_cache *cache, bool *bound,
                      lw_text *why) {
    lw_cache_key key = {0};
    lw_text keep = {0};
    const bool keeps = cache && jit->build() && lw_cache_key_make(&key, program, level, layout);
    const bool was_kept = keeps && load_kept(program, level, cache, &key, bound);
    if (!was_kept) {
        program->compiled = jit->compile(program, level, layout, bound, keeps ? &keep : NULL, why);
        if (keeps && program->compiled && keep.size && !keep.failed)
            lw_cache_store(cache, &key, jit->build(), keep.at, keep.size);
    }
    lw_text_free(&keep);
    lw_cache_key_free(&key);
    return was_kept;
}

bool lw_program_get_code(lw_program *program, const lw_level *level, lw_layout layout, lw_cache *cache, bool *bound,
                         bool *was_kept, lw_text *why) {
    LW_KEEP_X87_FLAGS(before);
    program->compiled = NULL, *was_kept = false;
    if (get_jit() && enter_compiler()) {
        *was_kept = make_code(program, level, layout, cache, bound, why);
        leave_compiler();
    }
    if (!program->compiled) lw_program_link(program, level); /* some of its code may be in place */
    return program->compiled;
}

void lw_program_drop(lw_program *program) {
    LW_KEEP_X87_FLAGS(before);
    if (program && program->compiled) get_jit()->drop(program->compiled);
}

bool lw_program_print(lw_program *program, const lw_level *level, lw_layout layout, bool machine, lw_text *out,
                      lw_text *why) {
    const lw_jit *compiler = get_jit();
    return compiler && compiler->print(program, level, layout, machine, out, why);
}
