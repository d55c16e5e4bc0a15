/* base.h: what every stage stands on: arenas, growing text, sources, symbols, diagnostics.
 *
 * Sections in flow order: memory → text → source → symbols → diagnostics. */
#ifndef LW_BASE_H
#define LW_BASE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define LW_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#define LW_COUNT(array)      (sizeof(array) / sizeof((array)[0]))
#define LW_LIKELY(x)         __builtin_expect(!!(x), 1)
#define LW_UNLIKELY(x)       __builtin_expect(!!(x), 0)

/* ---- Memory ------------------------------------------------------------------------------------------- */

struct lw_text;

/* A region that is freed as a whole. Allocation never returns NULL: when memory runs out it leaves through `no_memory`,
 * the one non-local exit of the code base, which every public entry point sets (see LW_ARENA_TRY). */
typedef struct lw_arena {
    struct lw_chunk *chunks;
    char *at, *clean, *end; /* of the chunk in use: free from `at` on, known to be zero up to `clean` */
    size_t used;            /* bytes handed out so far */
    size_t limit;           /* 0: none; otherwise more than this many bytes is treated as out of memory */
    jmp_buf *no_memory;
    struct lw_chunk *spare; /* chunks of an earlier arena, used before new ones are asked for where they fit */
} lw_arena;

/* Runs the statement that follows once; if memory runs out inside, `(arena)->no_memory` is cleared and the condition is
 * false on the second return:   jmp_buf out; if (LW_ARENA_TRY(&arena, out)) work(); else return LW_NO_MEMORY; */
#define LW_ARENA_TRY(arena, env) ((arena)->no_memory = &(env), setjmp(env) == 0)

void lw_arena_init(lw_arena *arena);
void lw_arena_free(lw_arena *arena);
struct lw_chunk *lw_arena_retire(
    lw_arena *arena, size_t most); /* frees it but for chunks of up to `most` bytes, the `spare` of another */
void *lw_arena_alloc(lw_arena *arena, size_t size); /* zeroed, 16-byte aligned */
void *lw_arena_copy(lw_arena *arena, const void *data, size_t size);
char *lw_arena_text(lw_arena *arena, const char *text, size_t size); /* a copy with a NUL behind it */
char *lw_arena_printf(lw_arena *arena, const char *format, ...) LW_PRINTF(2, 3);
char *lw_arena_vprintf(lw_arena *arena, const char *format, va_list args);
char *lw_arena_say(lw_arena *arena, const char *format, ...) LW_PRINTF(2, 3); /* as lw_text_say */
char *lw_arena_vsay(lw_arena *arena, const char *format, va_list args);
char *lw_arena_keep(lw_arena *arena, struct lw_text *text); /* a copy; the text is freed, also where memory runs out */
#define LW_NEW(arena, type)          ((type *)lw_arena_alloc((arena), sizeof(type)))
#define LW_NEW_ARRAY(arena, type, n) ((type *)lw_arena_array((arena), sizeof(type), (n)))
void *lw_arena_array(lw_arena *arena, size_t size, size_t count); /* checks size * count */

/* A growing array inside an arena: LW_PUSH(arena, list) yields an lvalue for the new last element, which is zero unless
 * the list was cut and grows again. Old storage stays in the arena, at most as much again as the final array. */
#define LW_LIST(type) \
    struct { \
        type *at; \
        uint32_t count, room; \
    }
#define LW_PUSH(arena, l) \
    (*((l).count < (l).room ? (void)0 \
                            : (void)((l).at = lw_list_grow((arena), (l).at, &(l).room, (l).count, sizeof *(l).at)), \
       &(l).at[(l).count++]))
void *lw_list_grow(lw_arena *arena, const void *at, uint32_t *room, uint32_t count, size_t size);

/* ---- Text --------------------------------------------------------------------------------------------- */

/* A growing string on the heap. `failed` is set when memory ran out; appends are then ignored. */
typedef struct lw_text {
    char *at;
    size_t size, room;
    bool failed;
} lw_text;

void lw_text_free(lw_text *text);
bool lw_text_lost(
    void); /* whether there was no memory for some text of this process: what was made of it may lack something */
void lw_text_add(lw_text *text, const char *data, size_t size);
void lw_text_puts(lw_text *text, const char *string);
void lw_text_clean(lw_text *text, const char *data, uint32_t size); /* control bytes must not reach a terminal */
void lw_text_printf(lw_text *text, const char *format, ...) LW_PRINTF(2, 3);
void lw_text_vprintf(lw_text *text, const char *format, va_list args);
/* For messages, which read the same everywhere: of what a text or a command line names, that is what stands between
 * quotes ('%s'), the first LW_SHOWN_MOST characters are shown, and numbers have a point whatever the locale is. */
enum { LW_SHOWN_MOST = 100 };
void lw_text_say(lw_text *text, const char *format, ...) LW_PRINTF(2, 3);
void lw_text_vsay(lw_text *text, const char *format, va_list args);

/* How many insertions, deletions, changes and swaps of neighbours turn one word into the other; for words of up to 31
 * letters, more than that for longer ones. */
unsigned lw_edits(const char *a, size_t a_size, const char *b, size_t b_size);
/* The name of `count` names that looks most like `word`; NULL where none does. */
const char *lw_nearest(const char *word, const char *const *names, size_t count);
/* Behind a message that there is no such name: "; did you mean 'other'?", or nothing. */
void lw_say_nearest(lw_text *out, const char *word, const char *const *names, size_t count);

/* A function's name as C++ has it: "void fill<float>(float*, float, int)". False: it is none that C++ compilers made,
 * or not understood. */
bool lw_demangle(lw_text *out, const char *name);
/* Whether one means such a name: as lw_demangle has it, or its name alone, without template arguments, without what it
 * is in, or without both. */
bool lw_name_means(const char *wanted, const char *mangled);

/* ---- Source ------------------------------------------------------------------------------------------- */

/* Texts as given, and where their lines begin. Offsets are bytes from 0, and run through all texts, with a NUL behind
 * each; lines and columns count from 1 in each text anew. Most sources have one text; modules that are linked have one
 * each, so that a place says which. */
typedef struct lw_source_text { /* a text that a source is made of */
    const char *name, *text;
    size_t size;
} lw_source_text;

typedef struct lw_source_part { /* a text within its source */
    const char *name;
    uint32_t at, size;
    uint32_t lines_before; /* lines of the texts before it */
} lw_source_part;

typedef struct lw_source {
    const char *name;    /* shown in diagnostics; any bytes. Of several texts that of the first */
    const char *text;    /* all texts, each with a NUL behind it */
    uint32_t from, size; /* where the text begins, and ends: 0 but for what lw_source_text_at gives */
    uint32_t *lines;     /* offset of each line's first byte */
    uint32_t line_count;
    lw_source_part *parts;
    uint32_t part_count;
} lw_source;

/* A stretch of a source. */
typedef struct lw_place {
    uint32_t at, size;
} lw_place;

bool lw_source_init(lw_source *source, lw_arena *arena, const char *name, const char *text, size_t size);
/* Of several texts. False: they are 4 GiB or more. */
bool lw_source_join(lw_source *source, lw_arena *arena, const lw_source_text *texts, uint32_t count);
/* One text of a source, with the offsets that it has there. */
lw_source lw_source_text_at(const lw_source *source, uint32_t part);
const lw_source_part *lw_source_part_of(const lw_source *source, uint32_t at); /* the text that a place is in */
void lw_source_find(const lw_source *source, uint32_t at, uint32_t *line,
                    uint32_t *column); /* column in characters of UTF-8; may be NULL */
/* The line that a place is in. */
const char *lw_source_line(const lw_source *source, uint32_t at, uint32_t *size);
/* Behind the comment that begins there, or its line; the same place where none does. */
const char *lw_comment_end(const char *at, const char *end);
bool lw_source_is_broken(const lw_source *source, lw_place place); /* a place goes over the end of its line */
/* What stands there on one line, without comments. */
void lw_source_put_joined(lw_text *out, const lw_source *source, lw_place place);

/* What a file is that is no text, and what to do with it, or NULL. */
typedef struct lw_content {
    const char *is, *fix; /* "a cubin, machine code of a GPU" */
} lw_content;
const lw_content *lw_content_of(const char *data, size_t size); /* NULL: it is text, as far as can be told */

/* ---- Symbols ------------------------------------------------------------------------------------------ */

/* A name, once. Two equal names in one table are the same pointer. */
typedef struct lw_symbol {
    const char *text; /* NUL behind it */
    uint32_t size;
    uint32_t hash;
    struct lw_symbol *next;
    void *bound;      /* owned by the stage at work: the parser's words, then the resolver's bindings */
    const void *form; /* for a mnemonic: the form it matched, cached by the form table */
} lw_symbol;

typedef struct lw_symbols {
    lw_arena *arena;
    lw_symbol **slots;
    uint32_t mask, count;
    bool keyed; /* names were made to collide: they are told apart by a hash that nobody outside can know */
} lw_symbols;

void lw_symbols_init(lw_symbols *symbols, lw_arena *arena);
void lw_symbols_init_for(lw_symbols *symbols, lw_arena *arena,
                         size_t text_size); /* with room for the names of a text of so many bytes */
lw_symbol *lw_symbol_get(lw_symbols *symbols, const char *text, uint32_t size);
uint32_t lw_hash(const char *text, size_t size);
/* Hashes with a key that each process draws for itself, for tables whose keys a text can choose: slower than lw_hash,
 * but nobody can make keys collide. Nothing that anybody sees may depend on them, as on the order of what is in such a
 * table. */
uint64_t lw_hash_keyed(const void *data, size_t size);
uint64_t lw_hash_number(uint64_t number);
/* For a lexer that hashes while it reads: `state` starts at LW_HASH_START, takes each byte by LW_HASH_STEP, and is
 * finished by LW_HASH_END; lw_symbol_find then skips the second reading. */
#define LW_HASH_START             0u
#define LW_HASH_STEP(state, byte) ((state)*31u + (unsigned char)(byte))
#define LW_HASH_END(state)        ((state) ^ (state) >> 15)
lw_symbol *lw_symbol_find(lw_symbols *symbols, const char *text, uint32_t size, uint32_t hash);

/* ---- Diagnostics -------------------------------------------------------------------------------------- */

typedef enum lw_severity { LW_NOTE, LW_WARNING, LW_ERROR } lw_severity;

/* Every message of the project is a row of isa/diag.def: DIAG(number, name, severity, "format", "what it means and what
 * to do"). */
typedef enum lw_diag_id {
#define DIAG(number, name, severity, format, explanation) LW_D_##name,
#include "diag.def"
    LW_D_COUNT
} lw_diag_id;

typedef struct lw_diag_row {
    uint32_t number;
    lw_severity severity;
    const char *name, *format, *explanation;
} lw_diag_row;

extern const lw_diag_row lw_diag_rows[LW_D_COUNT];
const lw_diag_row *lw_diag_find(uint32_t number); /* NULL where there is none */

typedef struct lw_diag {
    lw_diag_id id;
    lw_severity severity;
    lw_place place;
    const char *message;
    const char *fix; /* what would be right, or NULL */
    bool joined;     /* what stands at several lines is shown on one */
    struct lw_diag *next;
} lw_diag;

/* Whether it says something by itself: most notes explain the message before them. */
static inline bool lw_diag_is_alone(const lw_diag *diag) {
    return diag->severity != LW_NOTE || diag->id == LW_D_too_many_errors || diag->id == LW_D_pto_portable_reading ||
           diag->id == LW_D_pto_portable_type;
}

typedef struct lw_diags {
    lw_arena *arena;
    lw_source *source;
    lw_diag *first, **last;
    uint32_t errors, warnings;
    uint32_t limit; /* of errors, and of warnings: further ones are counted, not kept */
    bool dropping;  /* the latest error or warning was not kept, so its notes are not either */
} lw_diags;

void lw_diags_init(lw_diags *diags, lw_arena *arena, lw_source *source);
/* Adds one; the row gives the format. Returns it so that a caller can set `fix`. Never NULL. */
lw_diag *lw_diag_add(lw_diags *diags, lw_diag_id id, lw_place place, ...);
/* The stages report one after the other; a reader wants the order of the text. Notes stay behind what they belong
 * to. */
void lw_diags_sort(lw_diags *diags);
/* Where errors were counted and not kept, a last note says so. */
void lw_diags_note_rest(lw_diags *diags);
/* file:line:column: error[LW2107]: message / source line / caret / fix */
void lw_diag_render(lw_text *out, lw_source *source, const lw_diag *diag, bool colour);

/* For faults of our own only: says where and stops the process. */
_Noreturn void lw_bug_at(const char *file, int line, const char *format, ...) LW_PRINTF(3, 4);
#define lw_bug(...) lw_bug_at(__FILE__, __LINE__, __VA_ARGS__)

#endif
