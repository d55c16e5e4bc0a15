/* common.c: what the functions of a program have in common by the way they call each other: registers and local memory
 * at module scope, which texts before PTX 3.0 may have (manual sections 5.1.1 and 5.1.5), and arrays of any size that
 * are handed over to a last parameter of unknown size (manual section 7.2).
 *
 * A register of the module is one for a thread, whatever function names it. Each function has a virtual register for
 * it, and every call hands over all that the program names, back and forth: so lanes that are in different functions
 * have their own, and no engine needs to know. Local memory lies at the bottom of the kernel's frame, where a thread's
 * local memory begins. */
#include "middle/ptx.h"

#include <stdlib.h>

/* ---- Looking at the text --------------------------------------------------------------------------------------- */

static void add_register(lw_lower *l, const lw_module_ptx *module, const lw_operand *o) {
    const lw_object *object = o->object;
    const bool one = o->select || object->vector == 1;
    const uint64_t first = object->number + (uint64_t)o->index * object->vector +
                           (o->select >= LW_SEL_x && o->select <= LW_SEL_w ? o->select - LW_SEL_x : 0);
    for (uint32_t k = 0; k < (one ? 1 : object->vector); k++)
        LW_PUSH(l->arena, l->ptx->common) =
            (lw_common_register){.module = module, .number = first + k, .class = lw_class_of(object->type)};
}

static void look_at_operand(lw_lower *l, const lw_module_ptx *module, const lw_operand *o) {
    const lw_object *object = o->kind == LW_O_NAME ? o->object : NULL;
    for (uint32_t i = 0; i < o->part_count; i++) look_at_operand(l, module, &o->parts[i]);
    if (!object || object->kind != LW_OBJ_VARIABLE || object->owner) return;
    if (object->space == LW_SPACE_reg) add_register(l, module, o);
    else if (object->space == LW_SPACE_local) lw_lower_var(l, object);
}

/* The largest array that a call hands over to a parameter of unknown size. */
static void look_at_call(lw_lower *l, const lw_instruction *i) {
    lw_call_parts parts;
    if (!i->match || i->match->form->lower != LW_LOWER_call || !lw_ptx_call_parts(i, &parts)) return;
    const lw_object *target = parts.target->object, *last;
    const lw_function *shape = target->kind == LW_OBJ_FUNCTION ? target->function
                                                               : lw_ptx_call_signature(parts.prototype);
    const lw_operand *open = lw_lower_open_argument(shape, parts.arguments);
    last = open ? open->object : NULL;
    if (last && last->size > l->ptx->open_bytes) l->ptx->open_bytes = last->size;
}

static void look_at_function(lw_lower *l, const lw_function *function, bool calls) {
    const bool names = function->module->has_common;
    for (uint32_t s = 0; (names || calls) && s < function->body.count; s++) {
        if (function->body.at[s].kind != LW_S_INSTRUCTION) continue;
        const lw_instruction *i = function->body.at[s].instruction;
        if (calls) look_at_call(l, i);
        if (names && i->guard) look_at_operand(l, function->module, i->guard);
        for (uint32_t k = 0; names && k < i->operand_count; k++) look_at_operand(l, function->module, &i->operands[k]);
    }
}

static int compare(const void *a, const void *b) {
    const lw_common_register *x = a, *y = b;
    if (x->module != y->module) return (uintptr_t)x->module < (uintptr_t)y->module ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

/* Each once. In what order they are handed over makes no difference, as long as all calls have the same. */
static void sort_registers(lw_lower *l) {
    lw_common_register *at = l->ptx->common.at;
    uint32_t count = 0;
    if (l->ptx->common.count) qsort(at, l->ptx->common.count, sizeof *at, compare);
    for (uint32_t i = 0; i < l->ptx->common.count; i++)
        if (!count || compare(&at[count - 1], &at[i])) at[count++] = at[i];
    l->ptx->common.count = count;
}

static bool takes_open(const lw_function *function) {
    return function->param_count && function->params[function->param_count - 1]->unsized;
}

void lw_lower_find_common(lw_lower *l, lw_function *const *functions, uint32_t count) {
    bool calls = false;
    for (uint32_t f = 0; f < count; f++) calls |= takes_open(functions[f]);
    for (uint32_t f = 0; f < count && !l->failed; f++) look_at_function(l, functions[f], calls);
    sort_registers(l);
    l->ptx->common_bytes = l->local_bytes;
    l->ptx->common_align = l->local_align;
}

/* ---- Registers of the module in a function ---------------------------------------------------------------------- */

void lw_lower_begin_common(lw_lower *l, bool is_entry) {
    for (uint32_t i = 0; i < l->ptx->common.count; i++)
        l->ptx->common.at[i].vreg = lw_lower_vreg(l, l->ptx->common.at[i].class);
    if (!is_entry) return;
    l->local_bytes = l->ptx->common_bytes;
    if (l->ptx->common_align > l->local_align) l->local_align = l->ptx->common_align;
}

uint32_t lw_lower_common_register(const lw_lower *l, uint64_t number) {
    const lw_common_register key = {.module = l->ptx->function->module, .number = number};
    const lw_common_register *found = bsearch(&key, l->ptx->common.at, l->ptx->common.count, sizeof key, compare);
    return found->vreg; /* all that functions name are there */
}

uint32_t lw_lower_common_transfers(const lw_lower *l, lw_transfer *transfers) {
    for (uint32_t i = 0; i < l->ptx->common.count; i++) {
        const lw_common_register *r = &l->ptx->common.at[i];
        transfers[i] = (lw_transfer){.from = r->vreg, .to = r->vreg, .size = lw_class_bytes(r->class)};
    }
    return l->ptx->common.count;
}

/* ---- Arrays of unknown size -------------------------------------------------------------------------------------- */

/* The last argument, where it is an array for such a parameter; NULL: there is none, or it was left away. */
const lw_operand *lw_lower_open_argument(const lw_function *shape, const lw_operand *arguments) {
    if (!shape || !takes_open(shape) || !arguments || arguments->part_count < shape->param_count) return NULL;
    return &arguments->parts[shape->param_count - 1];
}
