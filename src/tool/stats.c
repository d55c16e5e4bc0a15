/* stats.c: what `run --stats` prints about a launch. */
#include "tool/tool.h"

static double lanes_active(const lw_launch_stats *s) {
    return s->warp_instructions ? (double)s->lane_instructions / (double)s->warp_instructions : 0;
}

static double rate(const lw_launch_stats *s) {
    return s->seconds > 0 ? (double)s->lane_instructions / s->seconds : 0;
}

void lw_stats_text(lw_context *context, const lw_kernel *kernel, const lw_launch_config *c,
                   const lw_launch_stats *s) {
    lw_text out = {0};
    lw_text_printf(&out, "kernel         %s\n", lw_kernel_get_info(kernel).name);
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
    lw_text_printf(&out, "semantics      %s\n", lw_context_semantics(context));
    const lw_launch_note *notes;
    size_t count = lw_launch_notes(context, &notes);
    for (size_t i = 0; i < count; i++) {
        lw_text_printf(&out, "note LW%04u    line %u: ", notes[i].number, notes[i].line);
        lw_print_count(&out, notes[i].count);
        lw_text_printf(&out, " of lanes: %s\n", notes[i].message);
    }
    fputs(out.at ? out.at : "", stderr);
    lw_text_free(&out);
}

/* Names of kernels are PTX identifiers: nothing in them needs an escape. */
void lw_stats_json(lw_context *context, const lw_kernel *kernel, const lw_launch_config *c,
                   const lw_launch_stats *s) {
    fprintf(stderr,
            "{\"kernel\": \"%s\", \"grid\": [%u, %u, %u], \"block\": [%u, %u, %u], \"ctas\": %llu, "
            "\"threads\": %llu, "
            "\"warp_instructions\": %llu, \"lane_instructions\": %llu, \"lanes_active\": %.3f, \"seconds\": "
            "%.9f, "
            "\"lane_instructions_per_second\": %.6g, \"cpu\": \"%s\", \"worker_threads\": %u, \"semantics\": \"%s\", "
            "\"notes\": [",
            lw_kernel_get_info(kernel).name, c->grid[0], c->grid[1], c->grid[2], c->block[0], c->block[1],
            c->block[2], (unsigned long long)s->ctas, (unsigned long long)s->threads,
            (unsigned long long)s->warp_instructions, (unsigned long long)s->lane_instructions,
            lanes_active(s), s->seconds, rate(s), lw_context_cpu(context), lw_context_threads(context),
            lw_context_semantics(context));
    const lw_launch_note *notes;
    size_t count = lw_launch_notes(context, &notes);
    for (size_t i = 0; i < count; i++)
        fprintf(stderr, "%s{\"id\": \"LW%04u\", \"line\": %u, \"column\": %u, \"count\": %llu}", i ? ", " : "",
                notes[i].number, notes[i].line, notes[i].column, (unsigned long long)notes[i].count);
    fputs("]}\n", stderr);
}
