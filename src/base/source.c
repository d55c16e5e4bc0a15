#include "base/cursor.h"

enum { BYTES_A_LINE = 24 }; /* compilers write more, so that mostly the list of lines is never copied to grow */

bool lw_source_init(lw_source *source, lw_arena *arena, const char *name, const char *text, size_t size) {
    return lw_source_join(source, arena, &(lw_source_text){name, text, size}, 1);
}

/* Bytes of all texts, with the NUL behind each but the last; UINT32_MAX where they are too many. */
static uint32_t size_of_all(const lw_source_text *texts, uint32_t count) {
    uint64_t all = count - 1;
    for (uint32_t i = 0; i < count; i++)
        if (__builtin_add_overflow(all, (uint64_t)texts[i].size, &all) || all >= UINT32_MAX) return UINT32_MAX;
    return (uint32_t)all;
}

static char *copy_all(lw_source *source, lw_arena *arena, const lw_source_text *texts) {
    if (source->part_count == 1) return lw_arena_text(arena, texts->text, texts->size);
    char *text = lw_arena_alloc(arena, (size_t)source->size + 1);
    uint32_t at = 0;
    for (uint32_t i = 0; i < source->part_count; i++) {
        if (texts[i].size) memcpy(text + at, texts[i].text, texts[i].size);
        at += (uint32_t)texts[i].size + 1;
    }
    return text;
}

bool lw_source_join(lw_source *source, lw_arena *arena, const lw_source_text *texts, uint32_t count) {
    const uint32_t size = size_of_all(texts, count);
    if (size == UINT32_MAX) return false;
    *source = (lw_source){.size = size, .part_count = count};
    source->text = copy_all(source, arena, texts);
    source->parts = LW_NEW_ARRAY(arena, lw_source_part, count);
    LW_LIST(uint32_t) lines = {.room = size / BYTES_A_LINE + 8};
    lines.at = LW_NEW_ARRAY(arena, uint32_t, lines.room);
    uint32_t at = 0;
    for (uint32_t i = 0; i < count; i++) {
        const char *const text = source->text, *const end = text + at + texts[i].size;
        source->parts[i] = (lw_source_part){.name = lw_arena_text(arena, texts[i].name, strlen(texts[i].name)),
                                            .at = at,
                                            .size = (uint32_t)texts[i].size,
                                            .lines_before = lines.count};
        LW_PUSH(arena, lines) = at;
        for (const char *p = text + at; (p = memchr(p, '\n', (size_t)(end - p))); p++)
            LW_PUSH(arena, lines) = (uint32_t)(p + 1 - text);
        at += (uint32_t)texts[i].size + 1;
    }
    source->name = source->parts->name;
    source->lines = lines.at;
    source->line_count = lines.count;
    return true;
}

/* ---- Texts --------------------------------------------------------------------------------------------------- */

const lw_source_part *lw_source_part_of(const lw_source *source, uint32_t at) {
    uint32_t low = 0, high = source->part_count;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (source->parts[middle].at <= at) low = middle;
        else high = middle;
    }
    return &source->parts[low];
}

lw_source lw_source_text_at(const lw_source *source, uint32_t part) {
    const lw_source_part *p = &source->parts[part];
    lw_source one = *source;
    one.name = p->name;
    one.from = p->at;
    one.size = p->at + p->size;
    return one;
}

/* ---- Lines ----------------------------------------------------------------------------------------------------- */

/* Of all texts. */
static uint32_t find_line(const lw_source *source, uint32_t at) {
    uint32_t low = 0, high = source->line_count;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (source->lines[middle] <= at) low = middle;
        else high = middle;
    }
    return low + 1;
}

void lw_source_follow(const lw_source *source, lw_source_cursor *cursor, uint32_t at, uint32_t *line,
                      uint32_t *column) {
    const uint32_t found = find_line(source, at);
    if (found != cursor->line || at < cursor->at) *cursor = (lw_source_cursor){source->lines[found - 1], found, 1};
    for (; cursor->at < at && cursor->at < source->size; cursor->at++)
        cursor->column += ((unsigned char)source->text[cursor->at] & 0xc0) !=
                          0x80; /* continuation bytes do not move the caret */
    *line = found - lw_source_part_of(source, at)->lines_before;
    *column = cursor->column;
}

void lw_source_find(const lw_source *source, uint32_t at, uint32_t *line, uint32_t *column) {
    lw_source_cursor cursor = {0};
    if (column) lw_source_follow(source, &cursor, at, line, column);
    else
        *line = find_line(source, at) -
                lw_source_part_of(source, at)->lines_before; /* counting costs as much as it is long */
}

const char *lw_source_line(const lw_source *source, uint32_t at, uint32_t *size) {
    const uint32_t line = find_line(source, at), from = source->lines[line - 1];
    uint32_t to = line < source->line_count ? source->lines[line] - 1 : source->size;
    if (to > from && source->text[to - 1] == '\r') to--;
    *size = to - from;
    return source->text + from;
}

/* ---- Comments ---------------------------------------------------------------------------------------------------- */

static const char *find_in(const char *at, const char *end, const char *word) {
    const size_t size = strlen(word);
    while ((size_t)(end - at) >= size && memcmp(at, word, size)) at++;
    return (size_t)(end - at) >= size ? at : NULL;
}

const char *lw_comment_end(const char *at, const char *end) {
    if (end - at < 2 || *at != '/' || (at[1] != '/' && at[1] != '*')) return at;
    const char *to = find_in(at + 2, end, at[1] == '/' ? "\n" : "*/");
    return !to ? end : at[1] == '/' ? to : to + 2;
}

/* ---- Statements that are broken over lines ----------------------------------------------------------------------- */

bool lw_source_is_broken(const lw_source *source, lw_place place) {
    return memchr(source->text + place.at, '\n', place.size);
}

/* Space is one between words, and none inside of brackets and before commas. */
void lw_source_put_joined(lw_text *out, const lw_source *source, lw_place place) {
    const char *at = source->text + place.at, *const end = at + place.size;
    char last = '(';
    for (bool space = false; at < end; at++) {
        const char *behind = lw_comment_end(at, end);
        if (behind > at || strchr(" \t\r\n", *at)) {
            space = true;
            if (behind > at) at = behind - 1;
            continue;
        }
        if (space && !strchr("([{", last) && !strchr(")]},;", *at)) lw_text_puts(out, " ");
        lw_text_add(out, at, 1);
        last = *at;
        space = false;
    }
}
