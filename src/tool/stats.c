/* stats.c: what `run --stats` prints about a launch. */
#include <stdlib.h>

#include "session/session.h"
#include "tool/stats.h"

static double lanes_active(const lw_launch_stats *s) {
    return s->warp_instructions ? (double)s->lane_instructions / (double)s->warp_instructions : 0;
}

static double rate(const lw_launch_stats *s) { return s->seconds > 0 ? (double)s->lane_instructions / s->seconds : 0; }

/* "1 thread", "2,048 threads" */
static void put_number_of(lw_text *out, uint64_t count, const char *what) {
    lw_print_count(out, count);
    lw_text_printf(out, " %s%s", what, count == 1 ? "" : "s");
}

static void put_shape(lw_text *out, const char *what, const uint32_t shape[3]) {
    lw_text_printf(out, "%s %u,%u,%u  ", what, shape[0], shape[1], shape[2]);
}

/* Of a launch that went to its end, CTAs that have not ended have been taken over by others. */
static void put_some_ctas(lw_text *out, const char *what, uint64_t count, uint64_t all) {
    lw_text_printf(out, "\n%-14s ", what);
    lw_print_count(out, count);
    lw_text_puts(out, " of ");
    put_number_of(out, all, "CTA");
}

/* Of PTX: a grid of CTAs of threads. */
static void put_launch(lw_text *out, const lw_tool_run *r) {
    uint32_t grid[3];
    lw_launch_ctas(r->kernel, r->config, grid);
    const uint32_t *cluster = lw_launch_cluster(r->kernel, r->config), *block = r->config->block;
    const uint64_t ctas = lw_volume(grid), ended = r->stats->ctas;
    lw_text_puts(out, "launch         ");
    put_shape(out, "grid", grid);
    if (cluster[0]) put_shape(out, "cluster", cluster);
    put_shape(out, "block", block);
    put_number_of(out, ctas * lw_volume(block), "thread");
    if (ended < ctas && r->ended) put_some_ctas(out, "cancelled", ctas - ended, ctas);
    else if (ended < ctas) put_some_ctas(out, "ended", ended, ctas);
    lw_text_puts(out, "\ninstructions   ");
    lw_print_count(out, r->stats->warp_instructions);
    lw_text_puts(out, " of warps, ");
    lw_print_count(out, r->stats->lane_instructions);
    lw_text_printf(out, " of lanes\nlanes active   %.1f of 32 (%.1f %%)\n", lanes_active(r->stats),
                   lanes_active(r->stats) * 100 / 32);
}

typedef struct repeats { /* of a function of PTO */
    uint64_t count;
    uint32_t lanes, last; /* of a repeat, of the last one */
} repeats;

static repeats repeats_of(const lw_tool_run *r) {
    const uint32_t lanes = lw_kernel_get_info(r->kernel).lanes;
    const uint64_t rest = r->elements % lanes;
    return (repeats){r->elements / lanes + (rest != 0), lanes, rest ? (uint32_t)rest : lanes};
}

/* Of PTO: repeats of a function over lanes, which are executed in groups of 32. */
static void put_function(lw_text *out, const lw_tool_run *r) {
    const repeats n = repeats_of(r);
    lw_text_puts(out, "launch         ");
    put_number_of(out, n.count, "repeat");
    lw_text_puts(out, " of ");
    put_number_of(out, n.lanes, "lane");
    if (n.last != n.lanes)
        lw_text_printf(out, n.count == 1 ? ", of which %u run" : ", of which %u run the last time", n.last);
    lw_text_puts(out, "\noperations     ");
    lw_print_count(out, r->stats->lane_instructions);
    lw_text_puts(out, " of lanes, ");
    lw_print_count(out, r->stats->warp_instructions);
    lw_text_printf(out, " of groups of up to 32\nlanes active   %.1f of 32 (%.1f %%)\n", lanes_active(r->stats),
                   lanes_active(r->stats) * 100 / 32);
}

/* "40 CTAs by interp, 1,000 by jit"; of PTO, which knows no CTAs, "3.8 % by interp, 96.2 % by jit". */
static void put_shares(lw_text *out, const lw_launch_engines *by, bool is_pto) {
    const uint64_t all = by->interp_ctas + by->jit_ctas;
    if (is_pto) {
        const double part = all ? (double)by->jit_ctas * 100 / (double)all : 0;
        lw_text_printf(out, "%.1f %% by interp, %.1f %% by jit", all ? 100 - part : 0, part);
        return;
    }
    put_number_of(out, by->interp_ctas, "CTA");
    lw_text_puts(out, " by interp, ");
    lw_print_count(out, by->jit_ctas);
    lw_text_puts(out, " by jit");
}

/* Of the engine auto who ran how much; what was not compiled, and why. */
static void put_engines(lw_text *out, lw_context *context, bool is_pto) {
    const lw_launch_engines by = lw_launch_engine(context);
    lw_text_printf(out, "engine         %s", lw_context_engine(context));
    if (context->engine == LW_ENGINE_auto) {
        lw_text_puts(out, ": ");
        put_shares(out, &by, is_pto);
    }
    if (*by.why) lw_text_printf(out, "%s%s", context->engine == LW_ENGINE_auto ? "; " : ": ", by.why);
    lw_text_puts(out, lw_launch_cached(context) ? "; the code came from the cache\n" : "\n");
}

/* " (prog.cu:3, inlined at prog.cu:6)": what the instruction of a note comes from, and where that was inlined. */
static void put_origins(lw_text *out, lw_context *context, size_t note) {
    const lw_origin *origins;
    const size_t count = lw_launch_note_origins(context, note, &origins);
    for (size_t i = 0; i < count; i++) {
        lw_text_puts(out, i ? ", inlined at " : " (");
        lw_text_clean(out, origins[i].file, (uint32_t)strlen(origins[i].file));
        lw_text_printf(out, ":%u", origins[i].line);
    }
    if (count) lw_text_puts(out, ")");
}

int lw_stats_text(lw_context *context, const lw_tool_run *r) {
    lw_text out = {0};
    const lw_launch_stats *s = r->stats;
    lw_kernel_info info = lw_kernel_get_info(r->kernel);
    lw_text_printf(&out, "%-14s %s\n", info.lanes ? "function" : "kernel", info.name);
    (info.lanes ? put_function : put_launch)(&out, r);
    lw_text_printf(&out, "time           %.6f s\nrate           ", s->seconds);
    lw_print_scaled(&out, rate(s));
    lw_text_printf(&out, " lane-%s/s\ncpu            %s, %u thread%s\n", info.lanes ? "operations" : "instructions",
                   lw_context_cpu(context), lw_context_threads(context), lw_context_threads(context) == 1 ? "" : "s");
    put_engines(&out, context, info.lanes != 0);
    if (!info.lanes) lw_text_printf(&out, "semantics      %s\n", lw_context_semantics(context));
    const lw_launch_note *notes;
    size_t count = lw_launch_notes(context, &notes);
    for (size_t i = 0; i < count; i++) {
        if (lw_pto_is_count(&notes[i])) continue;
        lw_text_printf(&out, "note LW%04u    ", notes[i].number);
        if (r->linked) lw_text_printf(&out, "%s ", lw_launch_note_file(context, i));
        lw_text_printf(&out, "line %u", notes[i].line);
        put_origins(&out, context, i);
        lw_text_puts(&out, ": ");
        lw_print_count(&out, notes[i].count);
        lw_text_printf(&out, " of lanes: %s\n", notes[i].message);
    }
    fputs(out.at ? out.at : "", stderr);
    lw_text_free(&out);
    return LW_EXIT_OK;
}

static json_t *triple(const uint32_t values[3]) {
    return json_pack("[I, I, I]", (json_int_t)values[0], (json_int_t)values[1], (json_int_t)values[2]);
}

static json_t *origins_json(lw_context *context, size_t note, bool *failed) {
    const lw_origin *origins;
    const size_t count = lw_launch_note_origins(context, note, &origins);
    json_t *all = json_array();
    for (size_t i = 0; i < count; i++) {
        json_t *origin = json_object();
        lw_json_set(origin, "file", lw_json_text(origins[i].file), failed);
        lw_json_set(origin, "line", json_integer(origins[i].line), failed);
        if (json_array_append_new(all, origin)) *failed = true;
    }
    return all;
}

static json_t *notes_json(lw_context *context, bool linked, bool *failed) {
    json_t *all = json_array();
    const lw_launch_note *notes;
    size_t count = lw_launch_notes(context, &notes);
    for (size_t i = 0; i < count; i++) {
        if (lw_pto_is_count(&notes[i])) continue;
        char id[16];
        snprintf(id, sizeof id, "LW%04u", notes[i].number);
        json_t *note = json_object();
        lw_json_set(note, "id", lw_json_text(id), failed);
        if (linked) lw_json_set(note, "file", lw_json_text(lw_launch_note_file(context, i)), failed);
        lw_json_set(note, "line", json_integer(notes[i].line), failed);
        lw_json_set(note, "column", json_integer(notes[i].column), failed);
        lw_json_set(note, "count", json_integer((json_int_t)notes[i].count), failed);
        if (lw_launch_note_origins(context, i, NULL))
            lw_json_set(note, "origins", origins_json(context, i, failed), failed);
        if (json_array_append_new(all, note)) *failed = true;
    }
    return all;
}

static json_t *engines_json(lw_context *context, bool *failed) {
    const lw_launch_engines by = lw_launch_engine(context);
    json_t *all = json_object();
    lw_json_set(all, "interp_ctas", json_integer((json_int_t)by.interp_ctas), failed);
    lw_json_set(all, "jit_ctas", json_integer((json_int_t)by.jit_ctas), failed);
    lw_json_set(all, "why", lw_json_text(by.why), failed);
    lw_json_set(all, "cached", json_boolean(lw_launch_cached(context)), failed);
    return all;
}

static void set_repeats(json_t *all, const lw_tool_run *r, bool *failed) {
    const repeats n = repeats_of(r);
    lw_json_set(all, "elements", json_integer((json_int_t)r->elements), failed);
    lw_json_set(all, "repeats", json_integer((json_int_t)n.count), failed);
    lw_json_set(all, "lanes", json_integer(n.lanes), failed);
    lw_json_set(all, "last_lanes", json_integer(n.last), failed);
}

int lw_stats_json(lw_context *context, const lw_tool_run *r) {
    bool failed = false;
    const lw_launch_config *c = r->config;
    const lw_launch_stats *s = r->stats;
    const bool is_pto = lw_kernel_get_info(r->kernel).lanes != 0;
    const uint32_t *cluster = lw_launch_cluster(r->kernel, c);
    uint32_t grid[3];
    json_t *all = json_object();
    lw_json_set(all, "kernel", lw_json_text(lw_kernel_get_info(r->kernel).name), &failed);
    if (is_pto) set_repeats(all, r, &failed);
    lw_launch_ctas(r->kernel, c, grid);
    lw_json_set(all, "grid", triple(grid), &failed);
    if (cluster[0]) lw_json_set(all, "cluster", triple(cluster), &failed);
    lw_json_set(all, "block", triple(c->block), &failed);
    lw_json_set(all, "ctas", json_integer((json_int_t)s->ctas), &failed);
    lw_json_set(all, "threads", json_integer((json_int_t)s->threads), &failed);
    lw_json_set(all, "warp_instructions", json_integer((json_int_t)s->warp_instructions), &failed);
    lw_json_set(all, "lane_instructions", json_integer((json_int_t)s->lane_instructions), &failed);
    lw_json_set(all, "lanes_active", json_real(lanes_active(s)), &failed);
    lw_json_set(all, "seconds", json_real(s->seconds), &failed);
    lw_json_set(all, "lane_instructions_per_second", json_real(rate(s)), &failed);
    lw_json_set(all, "cpu", lw_json_text(lw_context_cpu(context)), &failed);
    lw_json_set(all, "engine", lw_json_text(lw_context_engine(context)), &failed);
    lw_json_set(all, "engines", engines_json(context, &failed), &failed);
    lw_json_set(all, "worker_threads", json_integer(lw_context_threads(context)), &failed);
    lw_json_set(all, "semantics", lw_json_text(lw_context_semantics(context)), &failed);
    lw_json_set(all, "notes", notes_json(context, r->linked, &failed), &failed);
    json_t *cost = NULL;
    int status = r->cost && r->ended ? lw_pto_ran_json(context, r, &cost, &failed) : LW_EXIT_OK;
    if (cost) lw_json_set(all, "cost", cost, &failed);
    lw_text text = {0};
    if (!failed && lw_json_print(&text, all, JSON_REAL_PRECISION(9))) fprintf(stderr, "%s\n", text.at);
    else lw_tool_error(LW_D_no_memory, "the statistics"), status = LW_EXIT_MACHINE;
    lw_text_free(&text);
    json_decref(all);
    return status;
}
