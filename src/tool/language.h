/* language.h: what the commands that show the inside of a text do with it, by the language that it is in: a row
 * each. */
#ifndef LW_TOOL_LANGUAGE_H
#define LW_TOOL_LANGUAGE_H

#include "middle/pto.h"
#include "session/session.h"
#include "tool/tool.h"

typedef struct lw_dump {            /* what `lanewise dump` was asked for */
    const char *kernel;             /* NULL: all */
    const char *semantics;          /* NULL: not said */
    const struct lw_chosen *chosen; /* what the library makes of that and the environment */
    lw_pto_profile profile;
    lw_pto_choices choices;
    bool interp, compiled; /* of programs: what the interpreter or the compiler makes of them … */
    bool machine;          /* … in the language of the machine */
} lw_dump;

struct lw_tool_language {
    const lw_language *of; /* its row in the library: its name, what a kernel is called, which files are in it */
    const char *title;     /* "PTO" */
    const char *how;       /* the option that chooses a kernel: "--func" */
    bool has_profiles;     /* --target, --cost and the like are for it */
    bool (*check)(lw_tool_source *in, lw_pto_profile profile, void **module); /* false: the diagnostics say why */
    void (*summarise)(lw_text *out, const void *module);                      /* "2 functions, 7 operations" */
    bool (*list)(const lw_tool_source *in, const void *module,
                 bool with_path);                     /* false: there was no memory, which it has reported */
    void (*format)(lw_tool_source *in, lw_text *out); /* what parses; faults go to the diagnostics */
    int (*tokens)(lw_tool_source *in);                /* these return exit codes, and have printed */
    int (*module)(lw_tool_source *in, const lw_dump *dump);
    int (*programs)(lw_tool_source *in, const lw_dump *dump);
};
extern const lw_tool_language lw_tool_ptx, lw_tool_pto;

/* "1 kernel", "2 kernels" */
static inline void lw_put_count(lw_text *out, uint32_t count, const char *what) {
    lw_text_printf(out, "%u %s%s", count, what, count == 1 ? "" : "s");
}

/* ---- dump.c: what all languages share ---------------------------------------------------------------------- */

/* Prints a program, or what the compiler makes of it; NULL is fine. False: it has reported. */
bool lw_dump_program(lw_tool_source *in, const lw_dump *dump, lw_program *program);
typedef struct lw_dump_names { /* of what could have been asked for, and the kernels among them */
    LW_LIST(const char *) all, kernels;
} lw_dump_names;
/* Whether a kernel or function is dumped: all are, or the one of the name that was asked for. */
bool lw_dump_wants(lw_tool_source *in, const lw_dump *dump, lw_dump_names *names, const char *name, bool is_kernel);
/* The exit code behind the last. */
int lw_dump_end(lw_tool_source *in, const lw_dump *dump, const lw_tool_language *language, const lw_dump_names *names);

#endif
