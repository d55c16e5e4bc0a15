/* types.c: types, spaces, selectors and special registers as tables. */
#include "front/ptx/ptx.h"

const lw_type_info lw_types[LW_T_count] = {
    [LW_T_none] = {"", 0, ' ', 0},
#define TYPE(name, bits, kind) [LW_T_##name] = {#name, bits, #kind[0], sizeof #name - 1},
#include "ptx/types.def"
};

bool lw_type_is_opaque(lw_type type) { return type == LW_T_texref || type == LW_T_samplerref || type == LW_T_surfref; }

const char *const lw_space_names[LW_SPACE_count] = {
    [LW_SPACE_none] = "",
#define SPACE(name) [LW_SPACE_##name] = #name,
#include "ptx/spaces.def"
};

static const char *const select_names[LW_SELECT_COUNT] = {
    [LW_SEL_none] = "", [LW_SEL_x] = "x",   [LW_SEL_y] = "y",   [LW_SEL_z] = "z",
    [LW_SEL_w] = "w",   [LW_SEL_b0] = "b0", [LW_SEL_b1] = "b1", [LW_SEL_b2] = "b2",
    [LW_SEL_b3] = "b3", [LW_SEL_h0] = "h0", [LW_SEL_h1] = "h1",
};

const char *lw_select_name(const lw_operand *operand) {
    return operand->select == LW_SEL_lanes ? operand->lanes : select_names[operand->select];
}

uint64_t lw_float_bits(uint64_t value, bool single, uint32_t bits) {
    double wide;
    float narrow;
    uint32_t low = (uint32_t)value;
    if (single && bits == 64) {
        memcpy(&narrow, &low, sizeof narrow);
        wide = narrow;
        memcpy(&value, &wide, sizeof value);
    } else if (!single && bits == 32) {
        memcpy(&wide, &value, sizeof wide);
        narrow = (float)wide;
        memcpy(&low, &narrow, sizeof low);
        value = low;
    }
    return value;
}

#define V(major, minor) (10 * (major) + (minor))

const lw_tuning lw_tunings[LW_TUNING_count] = {
#define TUNING(name, least, most, ...) [LW_TUNING_##name] = {least, most, __VA_ARGS__},
#include "ptx/tunings.def"
};

const lw_directive *lw_function_tuning(const lw_function *f, lw_tuning_id tuning) {
    for (uint32_t i = 0; i < f->directives.count; i++)
        if (f->directives.at[i].tuning == tuning) return &f->directives.at[i];
    return NULL;
}

#define SM(number) (number)

const lw_special_row lw_specials[LW_SPECIAL_count] = {
#define SPECIAL_REGISTER(name, text, type, vector, isa, sm) [LW_SPECIAL_##name] = {text, LW_T_##type, vector, isa, sm},
#include "ptx/special.def"
};
