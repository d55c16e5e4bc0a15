/* complete.c: whether a module, or all that are linked, has what its instructions and initial values name. */
#include "middle/ptx.h"

/* ---- Functions ------------------------------------------------------------------------------------------------ */

bool lw_ptx_has_no_body(const lw_object *object) {
    return object && object->kind == LW_OBJ_FUNCTION && !object->function->has_body;
}

/* Those of the device's runtime need none: kernels that call them are lowered with them. They have no address. */
static bool is_runtime(const lw_object *object) { return lw_runtime_has(object->name->text); }

void lw_ptx_report_missing(lw_diags *diags, lw_place place, const lw_object *object, bool is_call) {
    if (!is_runtime(object))
        lw_diag_add(diags, LW_D_undefined_function, place, object->name->text, is_call ? "called" : "named");
    else if (!is_call) lw_diag_add(diags, LW_D_runtime_address, place, object->name->text);
}

static bool reaches_missing(const lw_function *function) {
    for (uint32_t i = 0; i < function->reached.count; i++)
        if (lw_ptx_has_no_body(function->reached.at[i])) return true;
    return false;
}

/* A function whose address is taken may be called as well. */
static void check_instruction(lw_diags *diags, const lw_instruction *instruction) {
    const bool is_call = instruction->match && instruction->match->form->lower == LW_LOWER_call;
    for (uint32_t i = 0; i < instruction->operand_count; i++)
        if (lw_ptx_has_no_body(instruction->operands[i].object))
            lw_ptx_report_missing(diags, instruction->operands[i].place, instruction->operands[i].object, is_call);
}

/* ---- Initial values ------------------------------------------------------------------------------------------- */

/* Where nothing is linked a driver writes 0 for a function that is defined nowhere. */
static void check_value(lw_diags *diags, const lw_init *init, bool is_linked) {
    for (uint32_t i = 0; init->kind == LW_INIT_LIST && i < init->part_count; i++)
        check_value(diags, &init->parts[i], is_linked);
    if (init->kind == LW_INIT_NAME && lw_ptx_has_no_body(init->object) && (is_linked || is_runtime(init->object)))
        lw_ptx_report_missing(diags, init->place, init->object, false);
}

static bool names_missing(const lw_init *init) {
    bool names = init->kind == LW_INIT_NAME && lw_ptx_has_no_body(init->object);
    for (uint32_t i = 0; init->kind == LW_INIT_LIST && i < init->part_count && !names; i++)
        names = names_missing(&init->parts[i]);
    return names;
}

static bool reaches(const lw_function *function, const lw_object *object) {
    for (uint32_t i = 0; i < function->reached.count; i++)
        if (function->reached.at[i] == object) return true;
    return false;
}

/* Of variables of a function those that it reaches, of all others all: linkers drop no other value, not even that of a
 * weak variable in whose place stands another one. */
static void check_values_inside(lw_diags *diags, const lw_function *function, bool is_linked) {
    for (uint32_t s = 0; s < function->body.count; s++) {
        if (function->body.at[s].kind != LW_S_VARIABLE) continue;
        const lw_object *o = function->body.at[s].object;
        if (o->init && names_missing(o->init) && reaches(function, o)) check_value(diags, o->init, is_linked);
    }
}

static void check_values(lw_diags *diags, const lw_module_ptx *module, bool is_linked) {
    for (uint32_t i = 0; i < module->variables.count; i++)
        if (module->variables.at[i]->init) check_value(diags, module->variables.at[i]->init, is_linked);
}

/* ---- References ----------------------------------------------------------------------------------------------- */

/* What a kernel gets of a reference is its handle in the place of an address, which elements of an array cannot have.
 */
static void check_references(lw_diags *diags, const lw_module_ptx *module) {
    for (uint32_t i = 0; i < module->variables.count; i++) {
        const lw_object *o = module->variables.at[i];
        if (o->dimension_count && (lw_type_is_opaque(o->type) || o->space == LW_SPACE_tex))
            lw_diag_add(diags, LW_D_reference_array, o->place, o->name->text);
    }
}

/* ---- All of a module ------------------------------------------------------------------------------------------ */

static void check_function(lw_diags *diags, const lw_function *function, bool is_linked) {
    check_values_inside(diags, function, is_linked);
    if (!reaches_missing(function)) return;
    for (uint32_t s = 0; s < function->body.count; s++)
        if (function->body.at[s].kind == LW_S_INSTRUCTION) check_instruction(diags, function->body.at[s].instruction);
}

void lw_ptx_check_complete(const lw_module_ptx *module, lw_diags *diags, bool is_linked) {
    check_references(diags, module);
    for (uint32_t f = 0; f < module->functions.count; f++) check_function(diags, module->functions.at[f], is_linked);
    if (!module->linked_count) check_values(diags, module, is_linked);
    for (uint32_t m = 0; m < module->linked_count; m++) check_values(diags, module->linked[m], is_linked);
    for (uint32_t i = 0; i < module->variables.count; i++) {
        const lw_object *o = module->variables.at[i];
        bool has_memory = !o->is_range && (o->space == LW_SPACE_global || o->space == LW_SPACE_const);
        if (has_memory && o->linkage == LW_LINK_extern)
            lw_diag_add(diags, LW_D_extern_variable, o->place, o->name->text);
    }
}
