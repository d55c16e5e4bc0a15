/* run.h: what `lanewise run` and `lanewise profile` are told. */
#ifndef LW_TOOL_RUN_H
#define LW_TOOL_RUN_H

#include "tool/language.h"

typedef struct lw_run_options {
    const char *file, *kernel; /* the first of … */
    char **files;              /* … those that are linked */
    uint32_t file_count;
    lw_launch_config launch;
    bool has_block;
    bool has_grid;
    lw_options context;
    const lw_tool_language *language;
    lw_module_options module;
    uint64_t seed;
    enum { LW_STATS_none, LW_STATS_text, LW_STATS_json } stats;
    const char *cost; /* of PTO: the profile whose figures are asked for, or NULL */
    bool quiet;
    char **args; /* the spellings of the arguments; as many as argv has room for */
    uint32_t arg_count;
    char **textures; /* … of --texture */
    uint32_t texture_count;
    char **results; /* … of --result */
    uint32_t result_count;
    struct {
        bool wanted, json;
        uint32_t top;     /* lines that are shown at most; 0: not said */
        const char *html; /* the file, or NULL */
    } profile;
} lw_run_options;

/* Understands the command line; a fault of it ends the process. The lists have room for as many as argv has. */
void lw_run_parse(int argc, char **argv, lw_run_options *o);

#endif
