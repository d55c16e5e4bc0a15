/* preload_failing.c: from the LW_TEST_FAIL-th allocation on there is no memory, or with LW_TEST_ONCE only that one
 * fails. At the end the number of allocations is appended to the file LW_TEST_COUNT. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#pragma GCC visibility push(default)

/* The C library's own, by the names that it keeps for those who put others in front. */
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *at, size_t size);
extern void *__libc_memalign(size_t align, size_t size);

static long first = -1, count;
static int once, started;

__attribute__((constructor)) static void begin(void) {
    const char *fail = getenv("LW_TEST_FAIL");
    if (fail) first = atol(fail);
    once = getenv("LW_TEST_ONCE") != NULL;
    started = 1;
}

__attribute__((destructor)) static void end(void) {
    const char *path = getenv("LW_TEST_COUNT");
    char text[32];
    int size = snprintf(text, sizeof text, "%ld\n", count),
        file = path ? open(path, O_WRONLY | O_CREAT | O_APPEND, 0666) : -1;
    if (file < 0) return;
    if (write(file, text, (size_t)size) != size) abort();
    close(file);
}

static int fails(void) {
    if (!started) return 0;
    long now = __atomic_add_fetch(&count, 1, __ATOMIC_SEQ_CST);
    if (first < 0 || (once ? now != first : now < first)) return 0;
    errno = ENOMEM;
    return 1;
}

void *malloc(size_t size) { return fails() ? NULL : __libc_malloc(size); }
void *calloc(size_t members, size_t size) { return fails() ? NULL : __libc_calloc(members, size); }
void *realloc(void *at, size_t size) { return fails() ? NULL : __libc_realloc(at, size); }
void *aligned_alloc(size_t align, size_t size) { return fails() ? NULL : __libc_memalign(align, size); }
