/* profile.h: what a profile says of each line of the text, and of what a compiler made the text of.
 *
 *     run/profile.h: blocks, operations, accesses → profile.c: lines → profile_text.c, profile_json.c, profile_html.c
 */
#ifndef LW_TOOL_PROFILE_H
#define LW_TOOL_PROFILE_H

#include "run/profile.h"
#include "tool/language.h"
#include "tool/stats.h"

typedef struct lw_profile_line {
    const char *file; /* NULL: nothing is known of this line */
    uint32_t number;
    uint32_t size;
    const char *text;      /* without its end, not NUL-terminated; NULL: it cannot be read */
    const char *whole;     /* the instruction that begins on that line and goes on behind it, on one; or NULL */
    uint64_t warps, lanes; /* instructions of the line, as launches count them */
    double seconds;
    LW_LIST(lw_profile_access) accesses;  /* one of each kind and window */
    const struct lw_profile_line *origin; /* the first that an instruction of it comes from, or NULL */
} lw_profile_line;

typedef struct lw_profiled {
    lw_arena *arena;
    lw_context *context;
    const lw_source *source;
    const lw_tool_run *run;
    const lw_profile_sums *sums;
    /* found by lw_profile_find_lines */
    lw_profile_line *lines;        /* all of the source */
    lw_profile_line *origins;      /* by file and line */
    const lw_profile_line **hot;   /* lines where something was executed, the hottest first */
    const lw_profile_line **roots; /* origins, likewise */
    uint32_t origin_count, hot_count, root_count;
    double seconds;
} lw_profiled;

/* Leaves through the arena when memory runs out. */
void lw_profile_find_lines(lw_profiled *seen, const lw_locs *origins);

/* "global load: unit; 4.0 sectors a request, 100 % of their bytes" */
void lw_profile_describe(lw_text *out, const lw_profile_access *access);
/* Of 32, of those that executed. */
double lw_profile_active(const lw_profile_line *line);
double lw_profile_share(const lw_profiled *seen, const lw_profile_line *line); /* of all time: 0 to 1 */
extern const char *const lw_profile_kind_words[];

/* All return an exit code; other than 0 they have reported. `top`: lines of each list. */
int lw_profile_text(const lw_profiled *seen, uint32_t top);
int lw_profile_json(const lw_profiled *seen, uint32_t top);
int lw_profile_html(const lw_profiled *seen, const char *path);

#endif
