/* environment.h: what the environment of the process says. Nobody else asks it. */
#ifndef LW_ENVIRONMENT_H
#define LW_ENVIRONMENT_H

typedef enum lw_variable {
#define ENVIRONMENT(name, variable, does) LW_ENV_##name,
#include "environment.def"
    LW_ENV_COUNT
} lw_variable;
extern const char *const lw_variable_names[LW_ENV_COUNT]; /* "LANEWISE_CPU" */

/* Its value; NULL where it is not set, or empty. */
const char *lw_environment(lw_variable variable);

#endif
