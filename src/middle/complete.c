/* complete.c: whether a module, or all that are linked, has what its instructions name. */
#include "middle/ptx.h"

/* Not those of the device's runtime, which kernels that call them are lowered with. */
static bool is_missing(const lw_object *object) {
    return object && object->kind == LW_OBJ_FUNCTION && !object->function->has_body &&
           !lw_runtime_has(object->name->text);
}

static bool reaches_missing(const lw_function *function) {
    for (uint32_t i = 0; i < function->reached.count; i++)
        if (is_missing(function->reached.at[i])) return true;
    return false;
}

static void report_missing(lw_diags *diags, const lw_instruction *instruction) {
    for (uint32_t i = 0; i < instruction->operand_count; i++)
        if (is_missing(instruction->operands[i].object))
            lw_diag_add(diags, LW_D_undefined_function, instruction->operands[i].place,
                        instruction->operands[i].name->text);
}

/* A function whose address is taken may be called as well. */
static void check_function(lw_diags *diags, const lw_function *function) {
    if (!reaches_missing(function)) return;
    for (uint32_t s = 0; s < function->body.count; s++)
        if (function->body.at[s].kind == LW_S_INSTRUCTION) report_missing(diags, function->body.at[s].instruction);
}

void lw_ptx_check_complete(const lw_module_ptx *module, lw_diags *diags) {
    for (uint32_t f = 0; f < module->functions.count; f++) check_function(diags, module->functions.at[f]);
    for (uint32_t i = 0; i < module->variables.count; i++) {
        const lw_object *o = module->variables.at[i];
        bool has_memory = !o->is_range && (o->space == LW_SPACE_global || o->space == LW_SPACE_const);
        if (has_memory && o->linkage == LW_LINK_extern)
            lw_diag_add(diags, LW_D_extern_variable, o->place, o->name->text);
    }
}
