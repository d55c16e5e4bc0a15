#include "session/environment.h"

#include <stdlib.h>

const char *const lw_variable_names[LW_ENV_COUNT] = {
#define ENVIRONMENT(name, variable, does) [LW_ENV_##name] = variable,
#include "environment.def"
};

const char *lw_environment(lw_variable variable) {
    const char *value = getenv(lw_variable_names[variable]);
    return value && *value ? value : NULL;
}
