/* special_id.h: a number for everything that a lane can ask about itself and its launch, in the order of
 * isa/special.def. */
#ifndef LW_SPECIAL_ID_H
#define LW_SPECIAL_ID_H

typedef enum lw_special {
#define SPECIAL(name, does) LW_SPECIAL_##name,
#include "special.def"
    LW_SPECIAL_count
} lw_special;

extern const char *const lw_special_does[LW_SPECIAL_count]; /* what each is */

#endif
