/* reading.h: what the tests of every front end share: a text and what was made of it, that printing loses nothing, that
 * no text is too much. front.h and front_pto.h say what a module is (front_module) and how it is printed and
 * compared. */
#ifndef LW_TEST_READING_H
#define LW_TEST_READING_H

typedef struct reading {
    lw_arena arena;
    lw_source source;
    lw_diags diags;
    front_module *module; /* NULL where memory ran out */
} reading;

void make_module(reading *r); /* from the source; each test program has its own */

void read_text(reading *r, const char *text, size_t size,
               size_t limit); /* `limit`: bytes of memory, 0 for any number */
void read_end(reading *r);

/* The text of a file, to be freed. */
char *load_file(const char *path, size_t *size);
/* No errors, and the print of the module parses to the same module. */
void expect_same_when_printed(const char *name, const char *text, size_t size);
/* `piece` a hundred thousand times between two ends: no stack overflow, no time that grows with the square. */
void expect_repeated(const char *front, const char *piece, const char *back, bool fine);

#define SAME(condition) \
    do \
        if (!(condition)) return fprintf(stderr, "same.c:%d: differs: %s\n", __LINE__, #condition), false; \
    while (0)
/* Of both either may be NULL. */
bool same_symbol(const lw_symbol *a, const lw_symbol *b);
bool same_text(const char *a, const char *b);

#endif
