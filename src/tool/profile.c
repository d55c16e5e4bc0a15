/* profile.c: from what operations did to what lines did. */
#include "tool/profile.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

/* ---- Lines of the source ---------------------------------------------------------------------------------------- */

static void name_lines(lw_profiled *seen) {
    const lw_source *source = seen->source;
    seen->lines = LW_NEW_ARRAY(seen->arena, lw_profile_line, source->line_count);
    for (uint32_t p = 0; p < source->part_count; p++) {
        const lw_source_part *part = &source->parts[p];
        const uint32_t end = p + 1 < source->part_count ? part[1].lines_before : source->line_count;
        for (uint32_t i = part->lines_before; i < end; i++) {
            lw_profile_line *line = &seen->lines[i];
            *line = (lw_profile_line){.file = part->name, .number = i - part->lines_before + 1};
            line->text = lw_source_line(source, source->lines[i], &line->size);
        }
    }
}

static lw_profile_line *line_at(const lw_profiled *seen, uint32_t at) {
    uint32_t line;
    lw_source_find(seen->source, at, &line, NULL);
    return &seen->lines[lw_source_part_of(seen->source, at)->lines_before + line - 1];
}

/* ---- Lines that these were made of ------------------------------------------------------------------------------- */

typedef struct made_of { /* where each stretch of the text comes from */
    const lw_locs *from;
    uint32_t *lines; /* per stretch: its line's place in the list, or LW_NO_SLOT */
} made_of;

static int compare_lines(const void *a, const void *b) {
    const lw_profile_line *x = a, *y = b;
    const int files = strcmp(x->file, y->file);
    return files ? files : x->number < y->number ? -1 : x->number > y->number;
}

static made_of find_origins(lw_profiled *seen, const lw_locs *from) {
    made_of made = {from, LW_NEW_ARRAY(seen->arena, uint32_t, from->count)};
    lw_profile_line *all = LW_NEW_ARRAY(seen->arena, lw_profile_line, from->count);
    uint32_t count = 0;
    for (uint32_t i = 0; i < from->count; i++)
        if (from->at[i].from.file)
            all[count++] = (lw_profile_line){.file = from->at[i].from.file, .number = from->at[i].from.line};
    if (count) qsort(all, count, sizeof *all, compare_lines);
    for (uint32_t i = 0; i < count; i++)
        if (!seen->origin_count || compare_lines(&all[i], &all[seen->origin_count - 1]))
            all[seen->origin_count++] = all[i];
    seen->origins = all;
    for (uint32_t i = 0; i < from->count; i++) {
        const lw_profile_line key = {.file = from->at[i].from.file, .number = from->at[i].from.line};
        const lw_profile_line *found = key.file ? bsearch(&key, all, seen->origin_count, sizeof *all, compare_lines)
                                                : NULL;
        made.lines[i] = found ? (uint32_t)(found - all) : LW_NO_SLOT;
    }
    return made;
}

static lw_profile_line *origin_at(const lw_profiled *seen, const made_of *made, uint32_t at) {
    const lw_loc *stretch = lw_loc_at(made->from, at);
    return stretch ? &seen->origins[made->lines[stretch - made->from->at]] : NULL;
}

/* Their texts, where the files are there: of each as far as it fits. */
static void read_origins(lw_profiled *seen) {
    enum { MOST = 16 << 20 };
    for (uint32_t i = 0, end; i < seen->origin_count; i = end) {
        const char *name = seen->origins[i].file;
        for (end = i; end < seen->origin_count && !strcmp(seen->origins[end].file, name);) end++;
        struct stat about;
        FILE *file = stat(name, &about) || !S_ISREG(about.st_mode) || about.st_size > MOST ? NULL : fopen(name, "re");
        if (!file) continue;
        char *data = lw_arena_alloc(seen->arena, (size_t)about.st_size + 1);
        const size_t size = fread(data, 1, (size_t)about.st_size, file);
        fclose(file);
        lw_source source;
        if (!lw_source_init(&source, seen->arena, name, data, size)) continue;
        for (uint32_t k = i; k < end; k++) {
            lw_profile_line *line = &seen->origins[k];
            if (!line->number || line->number > source.line_count) continue;
            line->text = lw_source_line(&source, source.lines[line->number - 1], &line->size);
        }
    }
}

/* ---- What they did ----------------------------------------------------------------------------------------------- */

typedef struct places { /* a line and what it comes from */
    lw_profile_line *line, *origin;
} places;

/* Compilers break calls. */
static const char *join(const lw_profiled *seen, lw_place place) {
    lw_text joined = {0};
    lw_source_put_joined(&joined, seen->source, place);
    return joined.size ? lw_arena_keep(seen->arena, &joined) : NULL;
}

static places places_of(const lw_profiled *seen, const made_of *made, lw_place place) {
    const bool is_ptx = !seen->run->kernel->program->vector.lanes;
    places found = {line_at(seen, place.at), origin_at(seen, made, place.at)};
    if (!found.line->origin) found.line->origin = found.origin;
    if (is_ptx && !found.line->whole && lw_source_is_broken(seen->source, place)) found.line->whole = join(seen, place);
    return found;
}

static void add_block(const lw_profiled *seen, const made_of *made, const lw_place *at, uint32_t count,
                      lw_profile_block entered) {
    for (uint32_t i = 0; i < count; i++) {
        const places found = places_of(seen, made, at[i]);
        found.line->warps += entered.warps, found.line->lanes += entered.lanes;
        if (found.origin) found.origin->warps += entered.warps, found.origin->lanes += entered.lanes;
    }
}

static void add_time(lw_profiled *seen, const made_of *made, lw_place place, double seconds) {
    const places found = places_of(seen, made, place);
    found.line->seconds += seconds;
    if (found.origin) found.origin->seconds += seconds;
    seen->seconds += seconds;
}

static int compare_places(const void *a, const void *b) {
    const lw_place *x = a, *y = b;
    return x->at < y->at ? -1 : x->at > y->at;
}

/* Places of instructions, by where they stand; and of the block at hand, in the order of execution. */
typedef struct instructions {
    const lw_place *sorted, *block;
    uint32_t count, block_count;
} instructions;

/* Where an operation is of no instruction, as the entry of a block is, which stands at the label: that of the
 * instruction that comes next in its block, else of the last one before it in the text. */
static lw_place instruction_of(const instructions *all, lw_place place) {
    uint32_t low = 0, high = all->count; /* the first behind the place */
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (all->sorted[middle].at <= place.at) low = middle + 1;
        else high = middle;
    }
    if (low && all->sorted[low - 1].at == place.at) return place;
    return all->block_count ? *all->block : low ? all->sorted[low - 1] : place;
}

static void add_code(lw_profiled *seen, const made_of *made, const lw_profile_code *from) {
    const lw_code *code = from->code;
    instructions all = {.block = code->instructions};
    for (uint32_t b = 0; b < code->block_count; b++) all.count += code->blocks[b].instructions;
    lw_place *sorted = LW_NEW_ARRAY(seen->arena, lw_place, all.count);
    if (all.count) memcpy(sorted, code->instructions, all.count * sizeof *sorted);
    if (all.count) qsort(sorted, all.count, sizeof *sorted, compare_places);
    all.sorted = sorted;
    for (uint32_t b = 0, n = 0; b < code->block_count; b++, all.block += all.block_count) {
        const uint32_t end = b + 1 < code->block_count ? code->blocks[b + 1].first : code->op_count;
        all.block_count = code->blocks[b].instructions;
        add_block(seen, made, all.block, all.block_count, from->blocks[b]);
        for (; n < end; n++) add_time(seen, made, instruction_of(&all, code->places[n]), from->seconds[n]);
    }
}

static void add_access(lw_arena *arena, lw_profile_line *line, const lw_profile_access *access) {
    for (uint32_t i = 0; i < line->accesses.count; i++) {
        lw_profile_access *known = &line->accesses.at[i];
        if (known->kind != access->kind || known->window != access->window) continue;
        lw_profile_add(known, access);
        return;
    }
    LW_PUSH(arena, line->accesses) = *access;
}

static int compare_heat(const void *a, const void *b) {
    const lw_profile_line *x = *(const lw_profile_line *const *)a, *y = *(const lw_profile_line *const *)b;
    if (x->seconds != y->seconds) return x->seconds > y->seconds ? -1 : 1;
    if (x->lanes != y->lanes) return x->lanes > y->lanes ? -1 : 1;
    return x < y ? -1 : x > y; /* both are of one list, in the order of the text */
}

static const lw_profile_line **sort_hot(const lw_profiled *seen, const lw_profile_line *lines, uint32_t count,
                                        uint32_t *found) {
    const lw_profile_line **hot = LW_NEW_ARRAY(seen->arena, const lw_profile_line *, count);
    for (uint32_t i = 0; i < count; i++)
        if (lines[i].warps || lines[i].seconds > 0) hot[(*found)++] = &lines[i];
    if (*found) qsort(hot, *found, sizeof *hot, compare_heat);
    return hot;
}

void lw_profile_find_lines(lw_profiled *seen, const lw_locs *origins) {
    const lw_profile_sums *sums = seen->sums;
    name_lines(seen);
    const made_of made = find_origins(seen, origins);
    for (uint32_t i = 0; i < sums->code_count; i++) add_code(seen, &made, &sums->codes[i]);
    for (uint32_t i = 0; i < sums->access_count; i++) {
        const lw_profile_access *access = &sums->accesses[i];
        if (!access->requests) continue;
        const places found = places_of(seen, &made, access->code->places[access->op]);
        add_access(seen->arena, found.line, access);
        if (found.origin) add_access(seen->arena, found.origin, access);
    }
    read_origins(seen);
    seen->hot = sort_hot(seen, seen->lines, seen->source->line_count, &seen->hot_count);
    seen->roots = sort_hot(seen, seen->origins, seen->origin_count, &seen->root_count);
}

/* ---- In words ---------------------------------------------------------------------------------------------------- */

const char *const lw_profile_kind_words[] = {
    [LW_PROFILE_load] = "load", [LW_PROFILE_store] = "store", [LW_PROFILE_atomic] = "atomic"};

double lw_profile_active(const lw_profile_line *line) {
    return line->warps ? (double)line->lanes / (double)line->warps : 0;
}

double lw_profile_share(const lw_profiled *seen, const lw_profile_line *line) {
    return seen->seconds > 0 ? line->seconds / seen->seconds : 0;
}

static void put_pattern(lw_text *out, const lw_profile_access *a, lw_request_pattern pattern) {
    const long long width = a->widths[pattern];
    if (pattern == LW_REQUEST_stride && width) lw_text_printf(out, "stride of %lld bytes", width);
    else if (pattern == LW_REQUEST_strips && width) lw_text_printf(out, "strips of %lld lanes", width);
    else lw_text_puts(out, lw_request_pattern_names[pattern]);
    if (a->patterns[pattern] != a->requests)
        lw_text_printf(out, " %.1f %%", 100 * (double)a->patterns[pattern] / (double)a->requests);
}

void lw_profile_describe(lw_text *out, const lw_profile_access *a) {
    const double requests = (double)a->requests;
    lw_text_printf(out, "%s %s: ", lw_window_names[a->window], lw_profile_kind_words[a->kind]);
    for (int k = 0, any = 0; k < LW_REQUEST_PATTERNS; k++) {
        if (!a->patterns[k]) continue;
        if (any++) lw_text_puts(out, ", ");
        put_pattern(out, a, (lw_request_pattern)k);
    }
    if (a->sectors)
        lw_text_printf(out, "; %.1f sectors a request, %.0f %% of their bytes", (double)a->sectors / requests,
                       100 * (double)a->bytes / ((double)a->sectors * LW_SECTOR_BYTES));
    if (a->rounds && a->rounds == a->least_rounds) lw_text_puts(out, "; no bank conflicts");
    else if (a->rounds)
        lw_text_printf(out, "; bank conflicts: %.1f rounds a request instead of %.1f", (double)a->rounds / requests,
                       (double)a->least_rounds / requests);
}
