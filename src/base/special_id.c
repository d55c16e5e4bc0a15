#include "base/special_id.h"

const char *const lw_special_does[LW_SPECIAL_count] = {
#define SPECIAL(name, does) [LW_SPECIAL_##name] = does,
#include "special.def"
};
