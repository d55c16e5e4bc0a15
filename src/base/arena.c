#include "base/base.h"

#include <stdio.h>
#include <stdlib.h>

struct lw_chunk {
    struct lw_chunk *next;
    size_t size;
    _Alignas(16) char data[];
};

enum { LW_CHUNK_MIN = 16 << 10, LW_CHUNK_MAX = 4 << 20, LW_CLEAR_AHEAD = 1 << 10 };

void lw_arena_init(lw_arena *arena) { *arena = (lw_arena){0}; }

void lw_arena_free(lw_arena *arena) { lw_arena_retire(arena, 0); }

/* Chunks that were in use are kept before those that lay spare. */
struct lw_chunk *lw_arena_retire(lw_arena *arena, size_t most) {
    struct lw_chunk *lists[] = {arena->chunks, arena->spare}, *kept = NULL;
    size_t size = 0;
    for (size_t i = 0; i < LW_COUNT(lists); i++)
        for (struct lw_chunk *chunk = lists[i], *next; chunk; chunk = next) {
            next = chunk->next;
            if (chunk->size > most - size) {
                free(chunk);
                continue;
            }
            size += chunk->size;
            chunk->next = kept;
            kept = chunk;
        }
    lw_arena_init(arena);
    return kept;
}

static _Noreturn void no_memory(lw_arena *arena) {
    jmp_buf *env = arena->no_memory;
    if (!env) lw_bug("out of memory outside of any LW_ARENA_TRY");
    arena->no_memory = NULL;
    longjmp(*env, 1);
}

/* A spare chunk that is large enough, but not so large that clearing it costs more than it saves. */
static struct lw_chunk *take_spare(lw_arena *arena, size_t least, size_t most) {
    for (struct lw_chunk **at = &arena->spare, *chunk; (chunk = *at); at = &chunk->next) {
        if (chunk->size < least || chunk->size > most) continue;
        *at = chunk->next;
        return chunk;
    }
    return NULL;
}

/* Chunks double so that small modules stay small and large ones cost few calls. */
static void add_chunk(lw_arena *arena, size_t need) {
    size_t size = arena->used < LW_CHUNK_MIN ? LW_CHUNK_MIN : arena->used > LW_CHUNK_MAX ? LW_CHUNK_MAX : arena->used;
    if (size < need) size = need;
    struct lw_chunk *chunk = take_spare(arena, need, 2 * size);
    bool is_new = !chunk;
    if (is_new) {
        chunk = calloc(1, sizeof *chunk + size);
        if (!chunk) no_memory(arena);
        chunk->size = size;
    }
    chunk->next = arena->chunks;
    arena->chunks = chunk;
    arena->at = chunk->data;
    arena->end = chunk->data + chunk->size;
    arena->clean = is_new ? arena->end : arena->at;
}

/* Used memory is cleared a little ahead of its next use, so that it is in the first-level cache then. */
static void clear_ahead(lw_arena *arena, size_t size) {
    size_t left = (size_t)(arena->end - arena->at), ahead = size + LW_CLEAR_AHEAD;
    char *to = arena->at + (ahead < left ? ahead : left);
    memset(arena->clean, 0, (size_t)(to - arena->clean));
    arena->clean = to;
}

/* Room for so many bytes, rounded up, from `at` on. */
static inline size_t make_room(lw_arena *arena, size_t size) {
    if (LW_UNLIKELY(size > SIZE_MAX / 2)) no_memory(arena);
    size = (size + 15) & ~(size_t)15;
    if (LW_UNLIKELY(arena->limit && arena->used + size > arena->limit)) no_memory(arena);
    if (LW_UNLIKELY(size > (size_t)(arena->end - arena->at))) add_chunk(arena, size);
    return size;
}

static inline void *take(lw_arena *arena, size_t size) {
    void *at = arena->at;
    arena->at += size;
    arena->used += size;
    return at;
}

void *lw_arena_alloc(lw_arena *arena, size_t size) {
    size = make_room(arena, size);
    if (size > (size_t)(arena->clean - arena->at)) clear_ahead(arena, size);
    return take(arena, size);
}

/* Memory that need not be cleared: whoever asks writes `filled` bytes of it at once, and finds the others zero. */
static void *alloc_filled(lw_arena *arena, size_t size, size_t filled) {
    size = make_room(arena, size);
    char *dirty = arena->at + filled, *end = arena->at + size;
    if (dirty < arena->clean) dirty = arena->clean;
    if (dirty < end) memset(dirty, 0, (size_t)(end - dirty));
    if (arena->clean < end) arena->clean = end;
    return take(arena, size);
}

void *lw_arena_array(lw_arena *arena, size_t size, size_t count) {
    size_t total;
    if (__builtin_mul_overflow(size, count, &total)) no_memory(arena);
    return lw_arena_alloc(arena, total);
}

void *lw_arena_copy(lw_arena *arena, const void *data, size_t size) {
    void *copy = alloc_filled(arena, size, size);
    if (size) memcpy(copy, data, size);
    return copy;
}

char *lw_arena_text(lw_arena *arena, const char *text, size_t size) {
    if (size == SIZE_MAX) no_memory(arena);
    char *copy = alloc_filled(arena, size + 1, size);
    if (size) memcpy(copy, text, size);
    return copy;
}

/* The copy may leave by longjmp; the heap string must not be lost then. */
char *lw_arena_keep(lw_arena *arena, lw_text *text) {
    jmp_buf here, *outer = arena->no_memory;
    char *volatile copy = NULL;
    if (!text->failed && LW_ARENA_TRY(arena, here)) copy = lw_arena_text(arena, text->at, text->size);
    arena->no_memory = outer;
    lw_text_free(text);
    if (!copy) no_memory(arena);
    return copy;
}

char *lw_arena_vprintf(lw_arena *arena, const char *format, va_list args) {
    lw_text text = {0};
    lw_text_vprintf(&text, format, args);
    return lw_arena_keep(arena, &text);
}

char *lw_arena_printf(lw_arena *arena, const char *format, ...) {
    va_list args;
    va_start(args, format);
    char *text = lw_arena_vprintf(arena, format, args);
    va_end(args);
    return text;
}

char *lw_arena_vsay(lw_arena *arena, const char *format, va_list args) {
    lw_text text = {0};
    lw_text_vsay(&text, format, args);
    if (!text.size) lw_text_puts(&text, "");
    return lw_arena_keep(arena, &text);
}

char *lw_arena_say(lw_arena *arena, const char *format, ...) {
    va_list args;
    va_start(args, format);
    char *text = lw_arena_vsay(arena, format, args);
    va_end(args);
    return text;
}

void *lw_list_grow(lw_arena *arena, const void *at, uint32_t *room, uint32_t count, size_t size) {
    if (*room > UINT32_MAX / 2) no_memory(arena);
    uint32_t more = *room ? *room * 2 : 8;
    size_t total;
    if (__builtin_mul_overflow(size, (size_t)more, &total)) no_memory(arena);
    void *grown = alloc_filled(arena, total, count * size);
    if (count) memcpy(grown, at, count * size);
    *room = more;
    return grown;
}

_Noreturn void lw_bug_at(const char *file, int line, const char *format, ...) {
    va_list args;
    va_start(args, format);
    fprintf(stderr, "lanewise: internal error at %s:%d: ", file, line);
    vfprintf(stderr, format, args);
    fprintf(stderr, "\nThis is a fault of Lanewise; please report it with the input that caused it.\n");
    va_end(args);
    abort();
}
