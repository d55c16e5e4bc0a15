/* stats.h: what `run` says of a launch that ended: statistics, and cycles of PTO. */
#ifndef LW_TOOL_STATS_H
#define LW_TOOL_STATS_H

#include "tool/report.h"

typedef struct lw_tool_run {
    const lw_kernel *kernel;
    const lw_launch_config *config;
    const lw_launch_stats *stats;
    bool ended;        /* and neither trapped nor was stopped */
    uint64_t elements; /* of PTO */
    const char
        *cost; /* the profile whose cycles are wanted, or NULL: then the module counted regions, and this is its text */
    const char *path, *text;
    size_t text_size;
    bool linked; /* of several texts: places have the names of theirs */
} lw_tool_run;

/* To standard error. The second one has the cycles, too, where they are wanted and the launch ended. Return an exit
 * code; other than 0 they have reported. */
int lw_stats_text(lw_context *context, const lw_tool_run *run);
int lw_stats_json(lw_context *context, const lw_tool_run *run);

/* The cycles of the last launch, to standard error. Returns an exit code; other than 0 it has reported. */
int lw_pto_ran(lw_context *context, const lw_tool_run *run);
/* As an object; NULL where it has reported. */
int lw_pto_ran_json(lw_context *context, const lw_tool_run *run, json_t **cost, bool *failed);

#endif
