/* pto_cost.c: cycles of PTO text: what check --cost says of a text, and run --cost of what was executed. */
#include <stdlib.h>

#include "tool/pto.h"
#include "tool/stats.h"

/* ---- The report ------------------------------------------------------------------------------------------- */

static void put_formula(lw_text *out, const lw_pto_cost_line *line, bool a5) {
    if (a5 && line->repeats == 1) lw_text_printf(out, "latency %d", LW_PTO_COST_a5_latency);
    else if (a5) lw_text_printf(out, "latency %d, %u times 2048 bits", LW_PTO_COST_a5_latency, line->repeats);
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

/* What would not be spent if an operation took the registers of all runs of a function as its repeats: all but one
 * startup and completion. */
static uint64_t joined(const lw_pto_cost *cost, uint64_t ran) {
    uint64_t saved = 0;
    for (uint32_t i = 0; ran && i < cost->lines.count; i++) {
        const uint64_t times = cost->lines.at[i].times;
        saved = lw_pto_plus(saved, lw_pto_times(times - times / ran - (times % ran != 0),
                                                LW_PTO_COST_a2a3_startup + LW_PTO_COST_a2a3_completion));
    }
    return saved < cost->serial ? saved : cost->serial; /* both may be as large as they can be */
}

static void put_repeats(lw_text *out, const lw_pto_cost *cost, uint64_t ran) {
    const uint64_t more = joined(cost, ran);
    if (cost->saved)
        lw_text_printf(out, "  repeats save %llu cycles: an operation for each %d bits would take %llu\n",
                       (unsigned long long)cost->saved, LW_PTO_REGISTER_BITS,
                       (unsigned long long)lw_pto_plus(cost->serial, cost->saved));
    if (more)
        lw_text_printf(out,
                       "  repeats would save %llu cycles: %llu where an operation takes the registers of all %llu "
                       "times as its repeats\n",
                       (unsigned long long)more, (unsigned long long)(cost->serial - more), (unsigned long long)ran);
}

static void put_totals(lw_text *out, const lw_pto_cost *cost, bool a5, uint64_t ran) {
    lw_text_printf(out, "  total %llu cycles one after the other%s\n", (unsigned long long)cost->serial,
                   cost->per_round ? ", with one round of each loop whose bounds are not constant" : "");
    if (!a5)
        lw_text_printf(out,
                       "  total %llu cycles where none waits for another: one starts every %d cycles, or "
                       "when the repeats before it are done\n",
                       (unsigned long long)cost->piped, LW_PTO_COST_a2a3_interval);
    if (!a5) put_repeats(out, cost, ran);
    if (cost->uncounted)
        lw_text_printf(out, "  not counted: %llu operation%s without figures\n", (unsigned long long)cost->uncounted,
                       cost->uncounted == 1 ? "" : "s");
}

/* `ran`: how often the function did; 0 where the text alone is looked at. */
static void put_cost(lw_text *out, lw_source *source, const lw_pto_function *f, const lw_pto_cost *cost,
                     lw_pto_profile profile, uint64_t ran) {
    lw_text_printf(out, "%s on %s", f->name->text, lw_pto_profiles[profile].title);
    if (ran) lw_text_printf(out, ", as it ran, %llu time%s", (unsigned long long)ran, ran == 1 ? "" : "s");
    lw_text_puts(out, "\n  line  operation  cycles  x times   formula\n");
    bool a5 = profile == LW_PTO_PROFILE_a5;
    for (uint32_t i = 0; i < cost->lines.count; i++) put_line(out, source, &cost->lines.at[i], a5);
    put_totals(out, cost, a5, ran);
}

/* ---- As JSON ---------------------------------------------------------------------------------------------- */

static json_t *number(uint64_t value) { return json_integer(value > INT64_MAX ? INT64_MAX : (json_int_t)value); }

static json_t *json_line(lw_source *source, const lw_pto_cost_line *line, bool *failed) {
    json_t *object = json_object();
    uint32_t at;
    lw_source_find(source, line->op->place.at, &at, NULL);
    lw_json_set(object, "line", json_integer(at), failed);
    lw_json_set(object, "operation", json_string(lw_pto_rows[line->op->id].name), failed);
    lw_json_set(object, "cycles", number(line->cycles), failed);
    lw_json_set(object, "times", number(line->times), failed);
    lw_json_set(object, "repeats", json_integer(line->repeats), failed);
    lw_json_set(object, "taken_from_vshr", json_boolean(line->is_taken), failed);
    lw_json_set(object, "open_loops", json_integer(line->open_loops), failed);
    return object;
}

static json_t *json_cost(lw_source *source, const lw_pto_function *f, const lw_pto_cost *cost, lw_pto_profile profile,
                         uint64_t ran, bool *failed) {
    json_t *object = json_object(), *lines = json_array();
    const bool a5 = profile == LW_PTO_PROFILE_a5;
    lw_json_set(object, "function", lw_json_text(f->name->text + 1), failed);
    lw_json_set(object, "profile", json_string(lw_pto_profiles[profile].name), failed);
    if (ran) lw_json_set(object, "ran", number(ran), failed);
    for (uint32_t i = 0; i < cost->lines.count; i++)
        if (json_array_append_new(lines, json_line(source, &cost->lines.at[i], failed))) *failed = true;
    lw_json_set(object, "operations", lines, failed);
    lw_json_set(object, "total", number(cost->serial), failed);
    lw_json_set(object, "total_pipelined", a5 ? json_null() : number(cost->piped), failed);
    lw_json_set(object, "saved_by_repeats", number(cost->saved), failed);
    lw_json_set(object, "repeats_would_save", number(a5 ? 0 : joined(cost, ran)), failed);
    lw_json_set(object, "per_round", json_boolean(cost->per_round), failed);
    lw_json_set(object, "uncounted", number(cost->uncounted), failed);
    return object;
}

json_t *lw_tool_pto_cost_json(lw_tool_source *in, const lw_pto_module *module, lw_pto_profile profile, bool *failed) {
    json_t *all = json_array();
    for (uint32_t i = 0; i < module->functions.count; i++) {
        const lw_pto_function *f = module->functions.at[i];
        if (!f->has_body) continue;
        json_t *one = json_cost(&in->source, f, lw_pto_cost_of(&in->arena, f, profile, NULL, NULL), profile, 0, failed);
        if (json_array_append_new(all, one)) *failed = true;
    }
    return all;
}

/* ---- Of texts --------------------------------------------------------------------------------------------- */

bool lw_tool_pto_cost(lw_tool_source *in, const lw_pto_module *module, lw_pto_profile profile) {
    lw_text out = {0};
    for (uint32_t i = 0; i < module->functions.count; i++) {
        const lw_pto_function *f = module->functions.at[i];
        if (f->has_body) put_cost(&out, &in->source, f, lw_pto_cost_of(&in->arena, f, profile, NULL, NULL), profile, 0);
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
    json_t **json; /* where it goes; NULL: to standard error as text */
    bool *failed;
} counted;

bool lw_pto_is_count(const lw_launch_note *note) { return note->number == lw_diag_rows[LW_D_note_region].number; }

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
    const lw_launch_note *note = c->note_count ? bsearch(&key, c->notes, c->note_count, sizeof *c->notes, compare)
                                               : NULL;
    return note ? note->count : 0;
}

static int report_run(lw_tool_source *in) {
    counted *c = in->user;
    lw_pto_module *module;
    if (!lw_pto_check(&in->arena, &in->source, &in->diags, c->profile, &module)) return LW_EXIT_SOURCE;
    const lw_pto_function *f = lw_pto_find(module, c->function);
    c->source = &in->source;
    const lw_pto_cost *cost = lw_pto_cost_of(&in->arena, f, c->profile, runs, c);
    if (c->json) {
        *c->json = json_cost(&in->source, f, cost, c->profile, runs(c, &f->body), c->failed);
        return LW_EXIT_OK;
    }
    lw_text out = {0};
    put_cost(&out, &in->source, f, cost, c->profile, runs(c, &f->body));
    bool whole = !out.failed;
    if (whole) fputs(out.at, stderr);
    else lw_tool_error(LW_D_no_memory, in->path);
    lw_text_free(&out);
    return whole ? LW_EXIT_OK : LW_EXIT_MACHINE;
}

static int report(lw_context *context, const lw_tool_run *run, counted c) {
    c.function = lw_kernel_get_info(run->kernel).name;
    lw_pto_profile_find(run->cost, &c.profile);
    c.note_count = lw_launch_notes(context, &c.notes);
    return lw_tool_with_text(run->path, run->text, run->text_size, report_run, &c);
}

int lw_pto_ran(lw_context *context, const lw_tool_run *run) { return report(context, run, (counted){0}); }

int lw_pto_ran_json(lw_context *context, const lw_tool_run *run, json_t **cost, bool *failed) {
    *cost = NULL;
    return report(context, run, (counted){.json = cost, .failed = failed});
}
