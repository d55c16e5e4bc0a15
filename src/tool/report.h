/* report.h: what `check` found, for programs: JSON of our own, and SARIF 2.1.0. */
#ifndef LW_TOOL_REPORT_H
#define LW_TOOL_REPORT_H

#include <jansson.h>

#include "tool/tool.h"

typedef struct lw_report {
    bool sarif, warnings; /* warnings: they are wanted */
    bool failed;          /* memory ran out: what there is is not all */
    json_t *files, *results, *rules, *artifacts, *unread;
} lw_report;

void lw_report_begin(lw_report *report, bool sarif, bool warnings);
void lw_report_file(lw_report *report, lw_tool_source *in,
                    json_t *cost); /* cost: a member of the file where it is not NULL; taken over */
void lw_report_unread(lw_report *report, const char *path); /* why is on stderr */
/* Prints it to stdout and frees it. Returns an exit code; other than 0 it has reported. */
int lw_report_end(lw_report *report, uint32_t errors, uint32_t warnings, int code);

/* Sets a member that is new; NULL or a failure sets *failed. */
void lw_json_set(json_t *object, const char *key, json_t *value, bool *failed);
/* Appends a value as text. False: no memory. */
bool lw_json_print(lw_text *out, const json_t *value, size_t flags);
/* Any bytes as a string; those that are no UTF-8 become U+FFFD. */
json_t *lw_json_text(const char *text);

#endif
