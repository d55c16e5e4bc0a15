/* origin.c: what a module says that its texts were made of: .loc, .file, and names in .debug_str (manual section
 * 11.5). */
#include "front/ptx/ptx.h"

#include <stdlib.h>

typedef struct lw_origin_reader {
    lw_arena *arena;
    const lw_module_ptx *text;   /* the function at hand is of */
    LW_LIST(const char *) files; /* its, by number: small ones are asked for again and again */
    lw_symbols labels;           /* of its .debug_str: `bound` is the text behind each */
    bool has_labels;
    lw_locs *to;
} lw_origin_reader;

/* ---- Files --------------------------------------------------------------------------------------------------- */

/* The name of file number `number` of a text, without its quotes; NULL: there is no such .file. */
static const char *find_file(lw_arena *arena, const lw_module_ptx *text, uint32_t number) {
    for (uint32_t i = 0; i < text->items.count; i++) {
        const lw_item *item = &text->items.at[i];
        if (item->kind != LW_ITEM_FILE || strtoul(item->text + strlen(".file "), NULL, 0) != number) continue;
        const char *from = strchr(item->text, '"'), *to = strrchr(item->text, '"');
        if (from && to > from) return lw_arena_text(arena, from + 1, (size_t)(to - from - 1));
    }
    return NULL;
}

static const char *file_name(lw_origin_reader *r, uint32_t number) {
    enum { SMALL = 1024 };
    const char *name = number < r->files.count ? r->files.at[number] : NULL;
    if (name) return name;
    name = find_file(r->arena, r->text, number);
    while (name && number < SMALL && r->files.count <= number) LW_PUSH(r->arena, r->files) = NULL;
    if (name && number < SMALL) r->files.at[number] = name;
    return name;
}

/* ---- Names of functions -------------------------------------------------------------------------------------- */

static const char DATA[] = ".b8 ";

/* Each label of a section stands on a line of its own, a colon behind it; so does each directive (print.c). */
static void read_labels(lw_origin_reader *r, const char *section) {
    for (const char *line = strchr(section, '\n'); line; line = strchr(line, '\n')) {
        line += strspn(line, "\n\t");
        const size_t size = strcspn(line, ":\n");
        if (line[size] == ':') lw_symbol_get(&r->labels, line, (uint32_t)size)->bound = (void *)(line + size + 1);
    }
}

static void find_labels(lw_origin_reader *r) {
    static const char name[] = ".section .debug_str";
    if (r->has_labels) return;
    r->has_labels = true;
    lw_symbols_init(&r->labels, r->arena);
    for (uint32_t i = 0; i < r->text->items.count; i++) {
        const lw_item *item = &r->text->items.at[i];
        if (item->kind == LW_ITEM_SECTION && !strncmp(item->text, name, sizeof name - 1)) read_labels(r, item->text);
    }
}

/* The text of bytes that begins `skip` bytes behind a label; NULL: it does not end in a 0, or is none. */
static const char *read_bytes(lw_arena *arena, const char *at, uint64_t skip) {
    LW_LIST(char) name = {0};
    for (char *end;; at = end) {
        at += strspn(at, "\n\t ,");
        if (!strncmp(at, DATA, sizeof DATA - 1)) at += sizeof DATA - 1;
        const char c = (char)strtol(at, &end, 0);
        if (end == at) return NULL;
        if (skip) {
            skip--;
            continue;
        }
        LW_PUSH(arena, name) = c;
        if (!c) return name.at;
    }
}

/* ---- Stretches ----------------------------------------------------------------------------------------------- */

/* function_name label {+ number}, inlined_at file line column, as parse_directive.c has put it. */
static void read_inlining(lw_origin_reader *r, const char *rest, lw_loc *to) {
    const char *label = rest + strlen("function_name "), *where = strstr(rest, "inlined_at ");
    const size_t size = strcspn(label, "+,");
    char *at = (char *)where + strlen("inlined_at ");
    const uint32_t file = (uint32_t)strtoul(at, &at, 0);
    to->into = (lw_root){.file = file_name(r, file)};
    to->into.line = (uint32_t)strtoul(at, &at, 0);
    to->into.column = (uint32_t)strtoul(at, &at, 0);
    find_labels(r);
    const char *bytes = lw_symbol_get(&r->labels, label, (uint32_t)size)->bound;
    if (bytes)
        to->from.function = read_bytes(r->arena, bytes, label[size] == '+' ? strtoul(label + size + 1, NULL, 0) : 0);
}

static void read_function(lw_origin_reader *r, const lw_function *f) {
    if (f->module != r->text) *r = (lw_origin_reader){.arena = r->arena, .text = f->module, .to = r->to};
    if (f->has_body) LW_PUSH(r->arena, *r->to) = (lw_loc){.at = f->place.at, .begins = true};
    for (uint32_t s = 0; s < f->body.count; s++) {
        const lw_statement *statement = &f->body.at[s];
        if (statement->kind != LW_S_LOC) continue;
        lw_loc stretch = {
            .at = statement->place.at,
            .from = {file_name(r, statement->loc.file), statement->loc.line, statement->loc.column, NULL}};
        if (statement->loc.rest) read_inlining(r, statement->loc.rest, &stretch);
        LW_PUSH(r->arena, *r->to) = stretch;
    }
}

static int compare_locs(const void *a, const void *b) {
    const lw_loc *x = a, *y = b;
    return x->at < y->at ? -1 : x->at > y->at;
}

void lw_ptx_locs(lw_arena *arena, const lw_module_ptx *module, lw_locs *to) {
    lw_origin_reader reader = {.arena = arena, .to = to};
    for (uint32_t i = 0; i < module->functions.count; i++)
        read_function(&reader, module->functions.at[i]->object->function);
    if (to->count) qsort(to->at, to->count, sizeof *to->at, compare_locs);
}
