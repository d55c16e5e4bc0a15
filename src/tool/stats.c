/* stats.c: what `run --stats` prints about a launch. */
#include <stdlib.h>

#include "tool/report.h"

static double lanes_active(const lw_launch_stats *s) {
    return s->warp_instructions ? (double)s->lane_instructions / (double)s->warp_instructions : 0;
}

static double rate(const lw_launch_stats *s) {
    return s->seconds > 0 ? (double)s->lane_instructions / s->seconds : 0;
}

void lw_stats_text(lw_context *context, const lw_kernel *kernel, const lw_launch_config *c,
                   const lw_launch_stats *s) {
    lw_text out = {0};
    lw_kernel_info info = lw_kernel_get_info(kernel);
    lw_text_printf(&out, "%-14s %s\n", info.lanes ? "function" : "kernel", info.name);
    lw_text_printf(&out, "launch         grid %u,%u,%u  block %u,%u,%u  ", c->grid[0], c->grid[1], c->grid[2],
                   c->block[0], c->block[1], c->block[2]);
    lw_print_count(&out, s->threads);
    lw_text_puts(&out, s->threads == 1 ? " thread\ninstructions   " : " threads\ninstructions   ");
    lw_print_count(&out, s->warp_instructions);
    lw_text_puts(&out, " of warps, ");
    lw_print_count(&out, s->lane_instructions);
    lw_text_printf(&out, " of lanes\nlanes active   %.1f of 32 (%.1f %%)\n", lanes_active(s),
                   lanes_active(s) * 100 / 32);
    lw_text_printf(&out, "time           %.6f s\nrate           ", s->seconds);
    lw_print_scaled(&out, rate(s));
    lw_text_printf(&out, " lane-instructions/s\ncpu            %s, %u thread%s\n", lw_context_cpu(context),
                   lw_context_threads(context), lw_context_threads(context) == 1 ? "" : "s");
    lw_text_printf(&out, "engine         %s\n", lw_context_engine(context));
    lw_text_printf(&out, "semantics      %s\n", lw_context_semantics(context));
    const lw_launch_note *notes;
    size_t count = lw_launch_notes(context, &notes);
    for (size_t i = 0; i < count; i++) {
        if (lw_pto_is_count(&notes[i])) continue;
        lw_text_printf(&out, "note LW%04u    line %u: ", notes[i].number, notes[i].line);
        lw_print_count(&out, notes[i].count);
        lw_text_printf(&out, " of lanes: %s\n", notes[i].message);
    }
    fputs(out.at ? out.at : "", stderr);
    lw_text_free(&out);
}

static json_t *triple(const uint32_t values[3]) {
    return json_pack("[I, I, I]", (json_int_t)values[0], (json_int_t)values[1], (json_int_t)values[2]);
}

static json_t *notes_json(lw_context *context, bool *failed) {
    json_t *all = json_array();
    const lw_launch_note *notes;
    size_t count = lw_launch_notes(context, &notes);
    for (size_t i = 0; i < count; i++) {
        if (lw_pto_is_count(&notes[i])) continue;
        char id[16];
        snprintf(id, sizeof id, "LW%04u", notes[i].number);
        json_t *note = json_object();
        lw_json_set(note, "id", lw_json_text(id), failed);
        lw_json_set(note, "line", json_integer(notes[i].line), failed);
        lw_json_set(note, "column", json_integer(notes[i].column), failed);
        lw_json_set(note, "count", json_integer((json_int_t)notes[i].count), failed);
        if (json_array_append_new(all, note)) *failed = true;
    }
    return all;
}

void lw_stats_json(lw_context *context, const lw_kernel *kernel, const lw_launch_config *c,
                   const lw_launch_stats *s) {
    bool failed = false;
    json_t *all = json_object();
    lw_json_set(all, "kernel", lw_json_text(lw_kernel_get_info(kernel).name), &failed);
    lw_json_set(all, "grid", triple(c->grid), &failed);
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
    lw_json_set(all, "worker_threads", json_integer(lw_context_threads(context)), &failed);
    lw_json_set(all, "semantics", lw_json_text(lw_context_semantics(context)), &failed);
    lw_json_set(all, "notes", notes_json(context, &failed), &failed);
    lw_text text = {0};
    if (!failed && lw_json_print(&text, all, JSON_REAL_PRECISION(9)))
        fprintf(stderr, "%s\n", text.at);
    else
        lw_tool_error(LW_D_no_memory, "the statistics");
    lw_text_free(&text);
    json_decref(all);
}
