/* profile_json.c: a profile for programs. */
#include "tool/profile.h"

static json_t *number(uint64_t value) { return json_integer((json_int_t)value); }

static json_t *patterns_of(const lw_profile_access *a, bool *failed) {
    json_t *all = json_object();
    for (int k = 0; k < LW_REQUEST_PATTERNS; k++)
        lw_json_set(all, lw_request_pattern_names[k], number(a->patterns[k]), failed);
    return all;
}

static json_t *access_json(const lw_profile_access *a, bool *failed) {
    json_t *all = json_object();
    lw_json_set(all, "space", json_string(lw_window_names[a->window]), failed);
    lw_json_set(all, "access", json_string(lw_profile_kind_words[a->kind]), failed);
    lw_json_set(all, "requests", number(a->requests), failed);
    lw_json_set(all, "lanes", number(a->lanes), failed);
    lw_json_set(all, "patterns", patterns_of(a, failed), failed);
    if (a->widths[LW_REQUEST_stride]) lw_json_set(all, "stride", json_integer(a->widths[LW_REQUEST_stride]), failed);
    if (a->widths[LW_REQUEST_strips]) lw_json_set(all, "strip", json_integer(a->widths[LW_REQUEST_strips]), failed);
    if (a->sectors) {
        lw_json_set(all, "sectors", number(a->sectors), failed);
        lw_json_set(all, "bytes", number(a->bytes), failed);
    }
    if (a->rounds) {
        lw_json_set(all, "rounds", number(a->rounds), failed);
        lw_json_set(all, "least_rounds", number(a->least_rounds), failed);
    }
    return all;
}

static json_t *text_of(const lw_profile_line *line) {
    lw_text text = {0};
    for (uint32_t i = 0; i < line->size; i++) lw_text_add(&text, line->text[i] ? line->text + i : "\x80", 1);
    json_t *string = text.failed ? NULL : lw_json_text(text.at ? text.at : "");
    lw_text_free(&text);
    return string;
}

static json_t *line_json(const lw_profiled *seen, const lw_profile_line *line, bool *failed) {
    json_t *all = json_object(), *memory = json_array();
    lw_json_set(all, "file", lw_json_text(line->file), failed);
    lw_json_set(all, "line", json_integer(line->number), failed);
    if (line->text) lw_json_set(all, "text", line->whole ? lw_json_text(line->whole) : text_of(line), failed);
    lw_json_set(all, "warp_instructions", number(line->warps), failed);
    lw_json_set(all, "lane_instructions", number(line->lanes), failed);
    lw_json_set(all, "lanes_active", json_real(lw_profile_active(line)), failed);
    lw_json_set(all, "seconds", json_real(line->seconds), failed);
    lw_json_set(all, "share", json_real(lw_profile_share(seen, line)), failed);
    for (uint32_t i = 0; i < line->accesses.count; i++)
        if (json_array_append_new(memory, access_json(&line->accesses.at[i], failed))) *failed = true;
    lw_json_set(all, "memory", memory, failed);
    if (!line->origin) return all;
    json_t *origin = json_object();
    lw_json_set(origin, "file", lw_json_text(line->origin->file), failed);
    lw_json_set(origin, "line", json_integer(line->origin->number), failed);
    lw_json_set(all, "origin", origin, failed);
    return all;
}

static json_t *list_json(const lw_profiled *seen, const lw_profile_line *const *lines, uint32_t count, bool *failed) {
    json_t *all = json_array();
    for (uint32_t i = 0; i < count; i++)
        if (json_array_append_new(all, line_json(seen, lines[i], failed))) *failed = true;
    return all;
}

int lw_profile_json(const lw_profiled *seen, uint32_t top) {
    bool failed = false;
    const lw_launch_stats *s = seen->run->stats;
    json_t *all = json_object();
    lw_json_set(all, "kernel", lw_json_text(lw_kernel_get_info(seen->run->kernel).name), &failed);
    lw_json_set(all, "ended", json_boolean(seen->run->ended), &failed);
    lw_json_set(all, "cpu", json_string(lw_context_cpu(seen->context)), &failed);
    lw_json_set(all, "worker_threads", json_integer(lw_context_threads(seen->context)), &failed);
    lw_json_set(all, "warp_instructions", number(s->warp_instructions), &failed);
    lw_json_set(all, "lane_instructions", number(s->lane_instructions), &failed);
    lw_json_set(all, "seconds", json_real(seen->seconds), &failed);
    lw_json_set(all, "lines", list_json(seen, seen->hot, seen->hot_count < top ? seen->hot_count : top, &failed),
                &failed);
    lw_json_set(all, "origins", list_json(seen, seen->roots, seen->root_count < top ? seen->root_count : top, &failed),
                &failed);
    lw_text text = {0};
    const bool whole = !failed && lw_json_print(&text, all, JSON_REAL_PRECISION(9));
    if (whole) printf("%s\n", text.at);
    else lw_tool_error(LW_D_no_memory, "the profile");
    lw_text_free(&text);
    json_decref(all);
    return whole ? LW_EXIT_OK : LW_EXIT_MACHINE;
}
