/* profile_text.c: a profile as a table. */
#include "tool/profile.h"

enum { TEXT_MOST = 100 }; /* bytes of a line of text that are shown */

static void put_head(lw_text *out, const lw_profiled *seen) {
    const lw_launch_stats *s = seen->run->stats;
    const uint32_t threads = lw_context_threads(seen->context);
    lw_text_printf(out, "%-14s %s\ninstructions   ", lw_kernel_word(seen->run->kernel->module),
                   lw_kernel_get_info(seen->run->kernel).name);
    lw_print_count(out, s->warp_instructions);
    lw_text_puts(out, " of warps, ");
    lw_print_count(out, s->lane_instructions);
    lw_text_puts(out, " of lanes\n");
    if (!seen->run->ended) lw_text_puts(out, "ended          before its end: what was executed until then\n");
    lw_text_printf(out, "time           %.6f s, measured around operations of the interpreter (%u thread%s)\n",
                   seen->seconds, threads, threads == 1 ? "" : "s");
}

/* What a terminal must not see is left out. */
static void put_line_text(lw_text *out, const lw_profile_line *line) {
    const char *text = line->whole ? line->whole : line->text;
    const uint32_t size = line->whole ? (uint32_t)strlen(line->whole) : line->size;
    uint32_t from = 0;
    while (from < size && (text[from] == ' ' || text[from] == '\t')) from++;
    lw_text_clean(out, text + from, size - from > TEXT_MOST ? TEXT_MOST : size - from);
    if (size > from + TEXT_MOST) lw_text_puts(out, "…");
}

static void put_row(lw_text *out, const lw_profiled *seen, const lw_profile_line *line, bool with_file) {
    lw_text warps = {0}, lanes = {0};
    lw_print_count(&warps, line->warps);
    lw_print_count(&lanes, line->lanes);
    lw_text_printf(out, "%5.1f %% %14s %16s %6.1f %%  ", 100 * lw_profile_share(seen, line), warps.at ? warps.at : "",
                   lanes.at ? lanes.at : "", lw_profile_active(line) * 100 / LW_WARP_LANES);
    if (with_file) lw_text_printf(out, "%s:", line->file);
    lw_text_printf(out, "%u  ", line->number);
    if (line->text) put_line_text(out, line);
    lw_text_puts(out, "\n");
    for (uint32_t i = 0; i < line->accesses.count; i++) {
        lw_text_printf(out, "%51s", "");
        lw_profile_describe(out, &line->accesses.at[i]);
        lw_text_puts(out, "\n");
    }
    lw_text_free(&warps);
    lw_text_free(&lanes);
}

static void put_list(lw_text *out, const lw_profiled *seen, const lw_profile_line *const *lines, uint32_t count,
                     uint32_t top, bool with_file) {
    lw_text_printf(out, "\n   time       of warps         of lanes   active  line\n");
    for (uint32_t i = 0; i < count && i < top; i++) put_row(out, seen, lines[i], with_file);
    if (count > top) {
        lw_text_puts(out, "and ");
        lw_put_count(out, count - top, "line");
        lw_text_puts(out, " more\n");
    }
}

int lw_profile_text(const lw_profiled *seen, uint32_t top) {
    lw_text out = {0};
    put_head(&out, seen);
    put_list(&out, seen, seen->hot, seen->hot_count, top, seen->source->part_count > 1);
    if (seen->root_count) put_list(&out, seen, seen->roots, seen->root_count, top, true);
    const bool whole = !out.failed;
    if (whole) fwrite(out.at, 1, out.size, stdout);
    else lw_tool_error(LW_D_no_memory, "the profile");
    lw_text_free(&out);
    return whole ? LW_EXIT_OK : LW_EXIT_MACHINE;
}
