/* profile_html.c: a profile as one page that needs no other: the texts, and beside each line what it did. */
#include "tool/profile.h"

/* ---- Any bytes as text of a page --------------------------------------------------------------------------------- */

/* The bytes of the character of UTF-8 that begins here; 0: none does. */
static uint32_t character_size(const unsigned char *at, uint32_t left) {
    const uint32_t size = *at < 0x80 ? 1 : *at < 0xc2 ? 0 : *at < 0xe0 ? 2 : *at < 0xf0 ? 3 : *at < 0xf5 ? 4 : 0;
    if (!size || size > left) return 0;
    for (uint32_t i = 1; i < size; i++)
        if ((at[i] & 0xc0) != 0x80) return 0;
    if ((*at == 0xe0 && at[1] < 0xa0) || (*at == 0xf0 && at[1] < 0x90)) return 0;   /* longer than it need be */
    if ((*at == 0xed && at[1] >= 0xa0) || (*at == 0xf4 && at[1] >= 0x90)) return 0; /* no character has that number */
    return size;
}

static void put_escaped(lw_text *out, const char *text, uint32_t size) {
    for (uint32_t i = 0, step; i < size; i += step) {
        const unsigned char c = (unsigned char)text[i];
        step = character_size((const unsigned char *)text + i, size - i);
        if (c == '&') lw_text_puts(out, "&amp;");
        else if (c == '<') lw_text_puts(out, "&lt;");
        else if (c == '>') lw_text_puts(out, "&gt;");
        else if (c == '"') lw_text_puts(out, "&quot;");
        else if (c == '\'') lw_text_puts(out, "&#39;");
        else if (!step || (c < 0x20 && c != '\t') || c == 0x7f) lw_text_puts(out, "\xef\xbf\xbd");
        else lw_text_add(out, text + i, step);
        if (!step) step = 1;
    }
}

static void put_string(lw_text *out, const char *text) { put_escaped(out, text, (uint32_t)strlen(text)); }

/* ---- The page ---------------------------------------------------------------------------------------------------- */

static const char head[] = "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>Profile of ";
static const char style[] = "</title>\n<style>\n"
                            "body { font-family: sans-serif; margin: 1.5em; }\n"
                            "table { border-collapse: collapse; font-size: 90%; }\n"
                            "th { text-align: left; padding: 0 0.6em; border-bottom: 1px solid #888; }\n"
                            "td { padding: 0 0.6em; white-space: pre; vertical-align: top; }\n"
                            "td.n { text-align: right; font-variant-numeric: tabular-nums; }\n"
                            "td.c { font-family: monospace; tab-size: 8; }\n"
                            "td.m { color: #555; }\n"
                            "tr.cold { color: #999; }\n"
                            "</style>\n</head>\n<body>\n<h1>Profile of ";

static void put_summary(lw_text *out, const lw_profiled *seen) {
    const char *name = lw_kernel_get_info(seen->run->kernel).name;
    const lw_launch_stats *s = seen->run->stats;
    lw_text_puts(out, head);
    put_string(out, name);
    lw_text_puts(out, style);
    put_string(out, name);
    lw_text_puts(out, "</h1>\n<p>");
    lw_print_count(out, s->warp_instructions);
    lw_text_puts(out, " instructions of warps, ");
    lw_print_count(out, s->lane_instructions);
    lw_text_printf(out,
                   " of lanes. Time: %.6f s, measured around operations of the interpreter; what counting costs "
                   "is left out. An operation that does several instructions has its time at the last of them.",
                   seen->seconds);
    if (!seen->run->ended)
        lw_text_puts(out, " The launch did not come to its end: this is what was executed until then.");
    lw_text_puts(out, "</p>\n");
}

static void put_numbers(lw_text *out, const lw_profiled *seen, const lw_profile_line *line) {
    lw_text_printf(out, "<td class=\"n\">%.1f %%</td><td class=\"n\">", 100 * lw_profile_share(seen, line));
    lw_print_count(out, line->warps);
    lw_text_puts(out, "</td><td class=\"n\">");
    lw_print_count(out, line->lanes);
    lw_text_printf(out, "</td><td class=\"n\">%.1f %%</td>", lw_profile_active(line) * 100 / LW_WARP_LANES);
}

/* The hotter, the redder. */
static void put_row(lw_text *out, const lw_profiled *seen, const lw_profile_line *line) {
    const bool cold = !line->warps && !(line->seconds > 0);
    if (cold) lw_text_puts(out, "<tr class=\"cold\">");
    else lw_text_printf(out, "<tr style=\"background: rgba(255, 80, 0, %.3f)\">", 0.8 * lw_profile_share(seen, line));
    if (cold) lw_text_puts(out, "<td></td><td></td><td></td><td></td>");
    else put_numbers(out, seen, line);
    lw_text_printf(out, "<td class=\"n\">%u</td><td class=\"c\">", line->number);
    if (line->text) put_escaped(out, line->text, line->size);
    lw_text_puts(out, "</td><td class=\"m\">");
    for (uint32_t i = 0; i < line->accesses.count; i++) {
        if (i) lw_text_puts(out, "<br>");
        lw_profile_describe(out, &line->accesses.at[i]);
    }
    lw_text_puts(out, "</td></tr>\n");
}

static void begin_table(lw_text *out, const char *file) {
    lw_text_puts(out, "<h2>");
    put_string(out, file);
    lw_text_puts(out, "</h2>\n<table>\n<tr><th>time</th><th>of warps</th><th>of lanes</th><th>active</th><th>line</th>"
                      "<th>text</th><th>memory</th></tr>\n");
}

static bool goes_on(const lw_profile_line *last, const lw_profile_line *line) {
    return line->number > last->number && !strcmp(line->file, last->file);
}

/* Lines of several files, which stand one behind the other. */
static void put_tables(lw_text *out, const lw_profiled *seen, const lw_profile_line *lines, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        if (!i || !goes_on(&lines[i - 1], &lines[i])) begin_table(out, lines[i].file);
        put_row(out, seen, &lines[i]);
        if (i + 1 == count || !goes_on(&lines[i], &lines[i + 1])) lw_text_puts(out, "</table>\n");
    }
}

int lw_profile_html(const lw_profiled *seen, const char *path) {
    lw_text out = {0};
    put_summary(&out, seen);
    put_tables(&out, seen, seen->origins, seen->origin_count);
    put_tables(&out, seen, seen->lines, seen->source->line_count);
    lw_text_puts(&out, "</body>\n</html>\n");
    int code = LW_EXIT_OK;
    if (out.failed) lw_tool_error(LW_D_no_memory, "the profile"), code = LW_EXIT_MACHINE;
    else if (!lw_tool_write(path, out.at, out.size)) code = LW_EXIT_FILE;
    lw_text_free(&out);
    return code;
}
