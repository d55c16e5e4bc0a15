/* maker.c: the PTX of a family, one kernel for each group of forms. */
#include "silicon.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

struct lw_maker {
    lw_batch *batch;
    lw_group *group; /* the open one */
    FILE *out;
};

/* Operands come from memory, so that no compiler knows them. No instruction under test is used. */
static const char prologue[] =
    ".visible .entry %s(.param .u64 cases, .param .u64 results)\n{\n"
    "    .reg .pred %%pa, %%pb, %%q, %%act, %%p;\n"
    "    .reg .b16 %%ha, %%hb, %%hd;\n"
    "    .reg .b32 %%a, %%b, %%c, %%cl, %%d, %%m, %%n, %%t, %%x;\n"
    "    .reg .b64 %%wa, %%wb, %%wc, %%wm, %%wd, %%in, %%out;\n"
    "    mov.u32 %%t, %%ctaid.x;\n    mov.u32 %%x, %%ntid.x;\n    mov.u32 %%a, %%tid.x;\n"
    "    mad.lo.u32 %%t, %%t, %%x, %%a;\n"
    "    ld.param.u64 %%in, [cases];\n    mad.wide.u32 %%in, %%t, 32, %%in;\n"
    "    ld.param.u64 %%out, [results];\n    mad.wide.u32 %%out, %%t, 4, %%out;\n"
    "    ld.global.u64 %%wa, [%%in];\n    ld.global.u64 %%wb, [%%in + 8];\n"
    "    ld.global.u64 %%wc, [%%in + 16];\n    ld.global.u64 %%wm, [%%in + 24];\n"
    "    cvt.u16.u64 %%ha, %%wa;\n    cvt.u16.u64 %%hb, %%wb;\n"
    "    cvt.u32.u64 %%a, %%wa;\n    cvt.u32.u64 %%b, %%wb;\n"
    "    mov.b64 {%%c, %%cl}, %%wc;\n    mov.b64 {%%m, %%n}, %%wm;\n"
    "    setp.lt.s64 %%pa, %%wa, 0;\n    setp.lt.s64 %%pb, %%wb, 0;\n"
    "    bfe.u32 %%x, %%m, 0, 1;\n    setp.ne.u32 %%q, %%x, 0;\n"
    "    mov.u32 %%x, %%laneid;\n    bfe.u32 %%x, %%m, %%x, 1;\n    setp.ne.u32 %%act, %%x, 0;\n";

static char *print_text(const char *format, va_list args) {
    char *text;
    if (vasprintf(&text, format, args) < 0) lw_silicon_leave(LW_EXIT_MACHINE, "out of memory");
    return text;
}

/* A table that grows by doubling: it is full when the count is a power of two. */
static void *grown(void *table, unsigned count, size_t size) {
    if (count & (count - 1)) return table;
    table = realloc(table, (count ? 2 * (size_t)count : 1) * size);
    if (!table) lw_silicon_leave(LW_EXIT_MACHINE, "out of memory");
    return table;
}

static void group_close(lw_maker *m) {
    if (m->group) fputs("    ret;\n}\n\n", m->out);
    m->group = NULL;
}

void lw_group_open(lw_maker *m, unsigned cases, unsigned slice, unsigned samples, const char *name, ...) {
    lw_batch *b = m->batch;
    va_list args;
    group_close(m);
    b->groups = grown(b->groups, b->count, sizeof *b->groups);
    m->group = &b->groups[b->count++];
    *m->group = (lw_group){.cases = cases, .slice = slice, .samples = samples};
    va_start(args, name);
    m->group->name = print_text(name, args);
    va_end(args);
    fprintf(m->out, prologue, m->group->name);
}

void lw_group_line(lw_maker *m, const char *format, ...) {
    va_list args;
    va_start(args, format);
    fputs("    ", m->out);
    vfprintf(m->out, format, args);
    fputc('\n', m->out);
    va_end(args);
}

static void store(lw_maker *m, const char *reg) {
    lw_group_line(m, "st.global.b32 [%%out + %zu], %s;", (size_t)m->group->words++ * m->group->cases * 4, reg);
}

static void store_predicate(lw_maker *m) {
    lw_group_line(m, "selp.u32 %%x, 1, 0, %%p;");
    store(m, "%x");
}

static void store_result(lw_maker *m, lw_result result) {
    switch (result) {
    case LW_RESULT_16:
        lw_group_line(m, "cvt.u32.u16 %%x, %%hd;");
        store(m, "%x");
        break;
    case LW_RESULT_32: store(m, "%d"); break;
    case LW_RESULT_64:
        lw_group_line(m, "mov.b64 {%%d, %%x}, %%wd;");
        store(m, "%d");
        store(m, "%x");
        break;
    case LW_RESULT_P: store_predicate(m); break;
    case LW_RESULT_32_P:
        store(m, "%d");
        store_predicate(m);
        break;
    }
}

static lw_form *form_new(lw_maker *m, const char *format, va_list args) {
    lw_group *g = m->group;
    g->forms = grown(g->forms, g->count, sizeof *g->forms);
    lw_form *form = &g->forms[g->count++];
    *form = (lw_form){.text = print_text(format, args), .first = g->words};
    m->batch->forms++;
    return form;
}

static void form_store(lw_maker *m, lw_form *form, lw_result result) {
    store_result(m, result);
    form->words = m->group->words - form->first;
}

void lw_form_add(lw_maker *m, lw_result result, const char *format, ...) {
    va_list args;
    va_start(args, format);
    lw_form *form = form_new(m, format, args);
    va_end(args);
    lw_group_line(m, "%s;", form->text);
    form_store(m, form, result);
}

void lw_form_note(lw_maker *m, lw_result result, const char *format, ...) {
    va_list args;
    va_start(args, format);
    lw_form *form = form_new(m, format, args);
    va_end(args);
    form_store(m, form, result);
}

lw_batch *lw_batch_new(const lw_family *family) {
    lw_batch *batch = lw_silicon_memory(1, sizeof *batch);
    lw_maker m = {.batch = batch};
    batch->family = family;
    m.out = lw_silicon_text_open(&batch->ptx, &batch->length);
    fprintf(m.out, "// %s: %s\n.version %s\n.target %s\n.address_size 64\n\n", family->name, family->does,
            family->version, family->target);
    family->make_groups(&m);
    group_close(&m);
    lw_silicon_text_close(m.out);
    batch->cases = lw_silicon_memory(family->cases, sizeof *batch->cases);
    family->make_cases(batch->cases, family->cases);
    return batch;
}

void lw_batch_free(lw_batch *batch) {
    for (unsigned i = 0; i < batch->count; i++) {
        lw_group *g = &batch->groups[i];
        for (unsigned k = 0; k < g->count; k++) free(g->forms[k].text);
        free(g->forms);
        free(g->name);
    }
    free(batch->groups);
    free(batch->cases);
    free(batch->ptx);
    free(batch);
}
