/* pto_cost.c: cycles of PTO text: what check --cost says of a text, and run --cost of what was executed. */
#include <stdlib.h>

#include "tool/pto.h"

/* ---- The report ------------------------------------------------------------------------------------------- */

static void put_formula(lw_text *out, const lw_pto_cost_line *line, bool a5) {
    if (a5 && line->repeats == 1)
        lw_text_printf(out, "latency %d", LW_PTO_COST_a5_latency);
    else if (a5)
        lw_text_printf(out, "latency %d, %u times 2048 bits", LW_PTO_COST_a5_latency, line->repeats);
    else
        lw_text_printf(out, "startup %d + %d for each repeat, %u, + completion %d", LW_PTO_COST_a2a3_startup,
                       LW_PTO_COST_a2a3_repeat, line->repeats, LW_PTO_COST_a2a3_completion);
    if (line->is_taken) lw_text_puts(out, "; taken from vshr");
}

static void put_line(lw_text *out, lw_source *source, const lw_pto_cost_line *line, bool a5) {
    uint32_t number;
    lw_source_find(source, line->op->place.at, &number, NULL);
    lw_text_printf(out, "%6u  %-10s %6llu  x %-8llu", number, lw_pto_rows[line->op->id].name,
                   (unsigned long long)line->cycles, (unsigned long long)line->times);
    put_formula(out, line, a5);
    lw_text_puts(out, line->open_loops ? "; for each round of its loop\n" : "\n");
}

static void put_totals(lw_text *out, const lw_pto_cost *cost, bool a5) {
    lw_text_printf(out, "  total %llu cycles one after the other%s\n", (unsigned long long)cost->serial,
                   cost->per_round ? ", with one round of each loop whose bounds are not constant" : "");
    if (!a5)
        lw_text_printf(out,
                       "  total %llu cycles where none waits for another: one starts every %d cycles, or "
                       "when the repeats before it are done\n",
                       (unsigned long long)cost->piped, LW_PTO_COST_a2a3_interval);
    if (cost->uncounted)
        lw_text_printf(out, "  not counted: %llu operation%s without figures\n",
                       (unsigned long long)cost->uncounted, cost->uncounted == 1 ? "" : "s");
}

/* `ran`: how often the function did; 0 where the text alone is looked at. */
static void put_cost(lw_text *out, lw_source *source, const lw_pto_function *f, const lw_pto_cost *cost,
                     lw_pto_profile profile, uint64_t ran) {
    lw_text_printf(out, "%s on %s", f->name->text, lw_pto_profiles[profile].title);
    if (ran) lw_text_printf(out, ", as it ran, %llu time%s", (unsigned long long)ran, ran == 1 ? "" : "s");
    lw_text_puts(out, "\n  line  operation  cycles  x times   formula\n");
    bool a5 = profile == LW_PTO_PROFILE_a5;
    for (uint32_t i = 0; i < cost->lines.count; i++) put_line(out, source, &cost->lines.at[i], a5);
    put_totals(out, cost, a5);
}

bool lw_tool_pto_cost(lw_tool_source *in, const lw_pto_module *module, lw_pto_profile profile) {
    lw_text out = {0};
    for (uint32_t i = 0; i < module->functions.count; i++) {
        const lw_pto_function *f = module->functions.at[i];
        if (f->has_body)
            put_cost(&out, &in->source, f, lw_pto_cost_of(&in->arena, f, profile, NULL, NULL), profile, 0);
    }
    return lw_tool_print(in, &out);
}

/* ---- Of a run --------------------------------------------------------------------------------------------- */

typedef struct counted {
    lw_source *source;
    const char *function;
    lw_pto_profile profile;
    const lw_launch_note *notes;
    size_t note_count;
} counted;

bool lw_pto_is_count(const lw_launch_note *note) {
    return note->number == lw_diag_rows[LW_D_note_region].number;
}

/* Notes are in the order of the text. */
static int compare(const void *key, const void *element) {
    const lw_launch_note *a = key, *b = element;
    if (a->line != b->line) return a->line < b->line ? -1 : 1;
    if (a->column != b->column) return a->column < b->column ? -1 : 1;
    return a->number < b->number ? -1 : a->number > b->number;
}

/* Whatever did not run has no note. */
static uint64_t runs(void *user, const lw_pto_region *region) {
    const counted *c = user;
    lw_launch_note key = {.number = lw_diag_rows[LW_D_note_region].number};
    lw_source_find(c->source, region->end.at, &key.line, &key.column);
    const lw_launch_note *note =
        c->note_count ? bsearch(&key, c->notes, c->note_count, sizeof *c->notes, compare) : NULL;
    return note ? note->count : 0;
}

static int report_run(lw_tool_source *in) {
    counted *c = in->user;
    lw_pto_module *module;
    if (!lw_pto_check(&in->arena, &in->source, &in->diags, LW_PTO_PROFILE_cpu, &module))
        return LW_EXIT_SOURCE;
    const lw_pto_function *f = lw_pto_find(module, c->function);
    lw_text out = {0};
    c->source = &in->source;
    put_cost(&out, &in->source, f, lw_pto_cost_of(&in->arena, f, c->profile, runs, c), c->profile,
             runs(c, &f->body));
    bool whole = !out.failed;
    if (whole)
        fputs(out.at, stderr);
    else
        lw_tool_error(LW_D_no_memory, in->path);
    lw_text_free(&out);
    return whole ? LW_EXIT_OK : LW_EXIT_MACHINE;
}

int lw_pto_ran(lw_context *context, const char *path, const char *text, size_t size, const char *function,
               const char *profile) {
    counted c = {.function = function};
    lw_pto_profile_find(profile, &c.profile);
    c.note_count = lw_launch_notes(context, &c.notes);
    return lw_tool_with_text(path, text, size, report_run, &c);
}
