/* verify.c: walks over a module and has every operation checked. Whatever could not be read has no type and is passed
 * over. */
#include "front/pto/verify.h"

static void verify_region(lw_pto_verifier *v, const lw_pto_region *region);

static void verify_op(lw_pto_verifier *v, const lw_pto_op *op) {
    switch (op->id) {
    case LW_PTO_FOR: lw_pto_verify_for(v, op); break;
    case LW_PTO_IF: lw_pto_verify_if(v, op); break;
    case LW_PTO_YIELD: break; /* checked with its scf.for or scf.if */
    case LW_PTO_RETURN: lw_pto_verify_return(v, op); break;
    default: lw_pto_verify_row(v, op);
    }
    for (uint32_t i = 0; i < op->region_count; i++) verify_region(v, &op->regions[i]);
}

static void verify_region(lw_pto_verifier *v, const lw_pto_region *region) {
    for (uint32_t i = 0; i < region->count; i++) verify_op(v, region->ops[i]);
}

static void verify_function(lw_pto_verifier *v, lw_pto_function *f) {
    v->function = f;
    for (uint32_t i = 0; i < f->argument_count; i++)
        lw_pto_verify_type(v, f->arguments[i]->type, f->arguments[i]->place);
    for (uint32_t i = 0; i < f->result_count; i++) lw_pto_verify_type(v, f->results[i], f->result_places[i]);
    if ((uint64_t)f->argument_count + f->result_count > LW_PTO_PARAMS_MAX) {
        bool arguments = f->argument_count > LW_PTO_PARAMS_MAX;
        lw_place place = arguments ? f->arguments[LW_PTO_PARAMS_MAX]->place
                                   : f->result_places[LW_PTO_PARAMS_MAX - f->argument_count];
        lw_diag_add(v->diags, LW_D_pto_many_parameters, place, f->name->text, LW_PTO_PARAMS_MAX);
    }
    if (f->has_body) verify_region(v, &f->body);
}

void lw_pto_verify(lw_pto_module *module, lw_pto_profile profile) {
    lw_pto_verifier v = {.module = module, .arena = module->arena, .diags = module->diags, .profile = profile};
    module->profile = profile;
    for (uint32_t i = 0; i < module->functions.count; i++) verify_function(&v, module->functions.at[i]);
}

bool lw_pto_check(lw_arena *arena, lw_source *source, lw_diags *diags, lw_pto_profile profile, lw_pto_module **module) {
    lw_pto_module *m = lw_pto_parse(arena, source, diags);
    lw_pto_verify(m, profile);
    lw_diags_sort(diags);
    lw_diags_note_rest(diags);
    if (module) *module = m;
    return diags->errors == 0;
}

bool lw_pto_is_name(const char *name) {
    const char *dot = strrchr(name, '.');
    return dot && (!strcmp(dot, ".pto") || !strcmp(dot, ".mlir"));
}
