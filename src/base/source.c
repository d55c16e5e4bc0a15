#include "base/cursor.h"

enum { BYTES_A_LINE = 24 }; /* compilers write more, so that mostly the list of lines is never copied to grow */

bool lw_source_init(lw_source *source, lw_arena *arena, const char *name, const char *text, size_t size) {
    if (size >= UINT32_MAX) return false;
    *source = (lw_source){.name = lw_arena_text(arena, name, strlen(name)), .size = (uint32_t)size};
    source->text = lw_arena_text(arena, text, size);
    LW_LIST(uint32_t) lines = {.room = (uint32_t)(size / BYTES_A_LINE) + 8};
    lines.at = LW_NEW_ARRAY(arena, uint32_t, lines.room);
    LW_PUSH(arena, lines) = 0;
    for (const char *p = source->text, *end = p + size; (p = memchr(p, '\n', (size_t)(end - p))); p++)
        LW_PUSH(arena, lines) = (uint32_t)(p + 1 - source->text);
    source->lines = lines.at;
    source->line_count = lines.count;
    return true;
}

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
    *line = find_line(source, at);
    if (*line != cursor->line || at < cursor->at) *cursor = (lw_source_cursor){source->lines[*line - 1], *line, 1};
    for (; cursor->at < at && cursor->at < source->size; cursor->at++)
        cursor->column += ((unsigned char)source->text[cursor->at] & 0xc0) !=
                          0x80; /* continuation bytes do not move the caret */
    *column = cursor->column;
}

void lw_source_find(lw_source *source, uint32_t at, uint32_t *line, uint32_t *column) {
    lw_source_cursor cursor = {0};
    if (column) lw_source_follow(source, &cursor, at, line, column);
    else *line = find_line(source, at); /* counting costs as much as the line is long */
}

const char *lw_source_line(const lw_source *source, uint32_t line, uint32_t *size) {
    uint32_t from = source->lines[line - 1];
    uint32_t to = line < source->line_count ? source->lines[line] - 1 : source->size;
    if (to > from && source->text[to - 1] == '\r') to--;
    *size = to - from;
    return source->text + from;
}
