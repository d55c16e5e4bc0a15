/* verify_type.c: which types there may be, and their widths in the profiles. */
#include "front/pto/verify.h"

static bool is_float(lw_pto_scalar scalar) { return lw_pto_scalars[scalar].kind == 'F'; }

/* Elements of registers and memory; index and i1 are scalars only. */
static bool is_element(lw_pto_scalar scalar) {
    char kind = lw_pto_scalars[scalar].kind;
    return (kind == 'S' || kind == 'U') && scalar != LW_PTO_index;
}

bool lw_pto_verify_width(lw_pto_verifier *v, const lw_pto_type *type, lw_place place) {
    const lw_pto_profile_row *profile = &lw_pto_profiles[v->profile];
    if (LW_LIKELY(!profile->width)) return true;
    if (type->kind == LW_PTO_VREG) {
        uint32_t bits = type->lanes * lw_pto_scalars[type->element].bits;
        if (bits == profile->width) return true;
        lw_diag *diag =
            lw_diag_add(v->diags, LW_D_pto_profile_width, place, type->text, bits, profile->name, profile->width);
        diag->fix = lw_arena_printf(v->arena, "!pto.vreg<%ux%s> fits",
                                    profile->width / lw_pto_scalars[type->element].bits,
                                    lw_pto_scalars[type->element].name);
        return false;
    }
    if (type->kind != LW_PTO_MASK || type->width) return true;
    for (uint32_t bits = 8; bits <= 64; bits *= 2)
        if (type->lanes * bits == profile->width) return true;
    lw_diag_add(v->diags, LW_D_pto_profile_mask, place, type->text, type->lanes, profile->name);
    return false;
}

bool lw_pto_verify_type(lw_pto_verifier *v, const lw_pto_type *type, lw_place place) {
    if (!type) return false;
    if (type->kind == LW_PTO_SCALAR) {
        if (!is_float(type->element)) return true;
        lw_diag_add(v->diags, LW_D_pto_float_scalar, place, type->text);
        return false;
    }
    if (type->kind != LW_PTO_MASK && !is_element(type->element)) {
        lw_diag_add(v->diags, LW_D_pto_float_type, place, type->text);
        return false;
    }
    return lw_pto_verify_width(v, type, place);
}
