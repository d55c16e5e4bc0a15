/* types.c: the fundamental types and the special registers as tables. */
#include "front/ptx/ptx.h"

const lw_type_info lw_types[LW_T_count] = {
    [LW_T_none] = {"", 0, ' ', 0},
#define TYPE(name, bits, kind) [LW_T_##name] = {#name, bits, #kind[0], sizeof #name - 1},
#include "ptx/types.def"
};

#define V(major, minor) (10 * (major) + (minor))
#define SM(number)      (number)

const lw_special_row lw_specials[LW_SPECIAL_count] = {
#define SPECIAL(name, text, type, vector, isa, sm, does) {text, LW_T_##type, vector, isa, sm, does},
#include "ptx/special.def"
};

lw_type lw_type_find(const char *name, size_t size) {
    for (lw_type type = LW_T_none + 1; type < LW_T_count; type++)
        if (lw_types[type].size == size && !memcmp(lw_types[type].name, name, size)) return type;
    return LW_T_none;
}
