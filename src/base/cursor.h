/* cursor.h: places of a source, asked for one after the other. */
#ifndef LW_CURSOR_H
#define LW_CURSOR_H

#include "base/base.h"

/* Where the last place was that somebody asked for, so that who asks for one after the other does not count a long line
 * from its start each time. Begins as zeros. */
typedef struct lw_source_cursor {
    uint32_t at, line, column;
} lw_source_cursor;
void lw_source_follow(const lw_source *source, lw_source_cursor *cursor, uint32_t at, uint32_t *line, uint32_t *column);

#endif
