#include "base/origin.h"

const lw_loc *lw_loc_at(const lw_locs *all, uint32_t at) {
    uint32_t low = 0, high = all->count; /* the first one behind the place */
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (all->at[middle].at <= at) low = middle + 1;
        else high = middle;
    }
    return low && all->at[low - 1].from.file ? &all->at[low - 1] : NULL;
}

static bool is_same(const lw_root *a, const lw_root *b) {
    return a->line == b->line && a->column == b->column && b->file && !strcmp(a->file, b->file);
}

/* The last one in front of it, in the same function, that comes from where it was inlined. NULL: there is none. */
static const lw_loc *find_caller(const lw_locs *all, const lw_loc *inlined) {
    for (const lw_loc *s = inlined; s > all->at && !s->begins;)
        if (is_same(&inlined->into, &(--s)->from)) return s;
    return NULL;
}

uint32_t lw_loc_roots(const lw_locs *all, uint32_t at, lw_root roots[LW_ROOTS_MOST]) {
    uint32_t count = 0;
    for (const lw_loc *s = lw_loc_at(all, at), *caller; s && count < LW_ROOTS_MOST; s = caller) {
        roots[count++] = s->from;
        caller = s->into.file ? find_caller(all, s) : NULL;
        if (s->into.file && !caller && count < LW_ROOTS_MOST) roots[count++] = s->into;
    }
    return count;
}

void lw_root_put(lw_text *out, const lw_root *spot) {
    lw_text_clean(out, spot->file, (uint32_t)strlen(spot->file));
    lw_text_printf(out, ":%u", spot->line);
    if (spot->column) lw_text_printf(out, ":%u", spot->column);
}
