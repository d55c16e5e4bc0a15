/* same.c: are two modules the same, whatever the layout of their texts? */
#include "front.h"

#include <stdio.h>

static bool same_operand(const lw_operand *a, const lw_operand *b) {
    SAME(a->kind == b->kind && a->select == b->select && a->negated == b->negated && a->indexed == b->indexed);
    SAME(a->single == b->single && a->is_unsigned == b->is_unsigned);
    SAME(same_symbol(a->name, b->name));
    SAME(a->value == b->value && a->offset == b->offset && a->index == b->index && a->special == b->special);
    SAME(!a->object == !b->object);
    if (a->object) SAME(a->object->kind == b->object->kind && a->object->number == b->object->number);
    SAME(a->part_count == b->part_count);
    for (uint32_t i = 0; i < a->part_count; i++)
        if (!same_operand(&a->parts[i], &b->parts[i])) return false;
    return true;
}

static bool same_init(const lw_init *a, const lw_init *b) {
    SAME(a->kind == b->kind && a->is_float == b->is_float && a->single == b->single && a->generic == b->generic);
    SAME(a->is_unsigned == b->is_unsigned && a->value == b->value && a->offset == b->offset);
    SAME(same_symbol(a->name, b->name));
    SAME(a->part_count == b->part_count);
    for (uint32_t i = 0; i < a->part_count; i++)
        if (!same_init(&a->parts[i], &b->parts[i])) return false;
    return true;
}

static bool same_targets(const lw_object *a, const lw_object *b) {
    SAME(a->target_count == b->target_count && a->is_branch == b->is_branch);
    for (uint32_t i = 0; i < a->target_count; i++)
        if (!same_operand(&a->targets[i], &b->targets[i])) return false;
    return true;
}

static bool same_object(const lw_object *a, const lw_object *b) {
    SAME(a->kind == b->kind && a->linkage == b->linkage && same_symbol(a->name, b->name));
    SAME(a->space == b->space && a->type == b->type && a->vector == b->vector);
    SAME(a->is_range == b->is_range && a->range == b->range && a->is_param == b->is_param &&
         a->is_return == b->is_return);
    SAME(a->is_pointer == b->is_pointer && a->pointer_space == b->pointer_space &&
         a->pointer_align == b->pointer_align);
    SAME(a->unsized == b->unsized && a->managed == b->managed && a->unified == b->unified);
    SAME(a->unified_id[0] == b->unified_id[0] && a->unified_id[1] == b->unified_id[1]);
    SAME(a->align == b->align && a->align_written == b->align_written && a->size == b->size);
    SAME(a->dimension_count == b->dimension_count);
    SAME(!memcmp(a->dimensions, b->dimensions, sizeof a->dimensions));
    SAME(a->number == b->number && a->statement == b->statement && a->scope == b->scope);
    SAME(!a->init == !b->init);
    return (!a->init || same_init(a->init, b->init)) && same_targets(a, b);
}

static bool same_objects(lw_object **a, uint32_t a_count, lw_object **b, uint32_t b_count) {
    SAME(a_count == b_count);
    for (uint32_t i = 0; i < a_count; i++)
        if (!same_object(a[i], b[i])) return false;
    return true;
}

static bool same_instruction(const lw_instruction *a, const lw_instruction *b) {
    SAME(same_symbol(a->mnemonic, b->mnemonic) && a->word_count == b->word_count);
    for (uint32_t i = 0; i < a->word_count; i++) SAME(same_symbol(a->words[i], b->words[i]));
    SAME(!a->guard == !b->guard);
    if (a->guard && !same_operand(a->guard, b->guard)) return false;
    SAME(a->operand_count == b->operand_count);
    for (uint32_t i = 0; i < a->operand_count; i++)
        if (!same_operand(&a->operands[i], &b->operands[i])) return false;
    return true;
}

static bool same_function(const lw_function *a, const lw_function *b);

static bool same_statement(const lw_statement *a, const lw_statement *b) {
    SAME(a->kind == b->kind);
    switch (a->kind) {
    case LW_S_INSTRUCTION: return same_instruction(a->instruction, b->instruction);
    case LW_S_LABEL:
    case LW_S_VARIABLE:
    case LW_S_TARGETS: return same_object(a->object, b->object);
    case LW_S_PROTOTYPE:
        return same_object(a->object, b->object) && same_function(a->object->function, b->object->function);
    case LW_S_LOC:
        SAME(a->loc.file == b->loc.file && a->loc.line == b->loc.line && a->loc.column == b->loc.column);
        SAME(same_text(a->loc.rest, b->loc.rest));
        return true;
    case LW_S_PRAGMA:
    case LW_S_DIRECTIVE: SAME(same_text(a->text, b->text)); return true;
    case LW_S_OPEN:
    case LW_S_CLOSE: return true;
    }
    return false;
}

static bool same_directives(const lw_function *a, const lw_function *b) {
    SAME(a->directives.count == b->directives.count);
    for (uint32_t i = 0; i < a->directives.count; i++) {
        const lw_directive *x = &a->directives.at[i], *y = &b->directives.at[i];
        SAME(same_symbol(x->name, y->name) && same_text(x->text, y->text) && x->value_count == y->value_count);
        for (uint32_t k = 0; k < x->value_count; k++) SAME(x->values[k] == y->values[k]);
    }
    return true;
}

static bool same_function(const lw_function *a, const lw_function *b) {
    SAME(a->is_entry == b->is_entry && a->has_body == b->has_body);
    SAME(same_symbol(a->object->name, b->object->name) && a->object->linkage == b->object->linkage);
    SAME(a->label_count == b->label_count && a->register_count == b->register_count);
    SAME(a->instruction_count == b->instruction_count && a->body.count == b->body.count);
    if (!same_objects(a->returns, a->return_count, b->returns, b->return_count)) return false;
    if (!same_objects(a->params, a->param_count, b->params, b->param_count)) return false;
    if (!same_directives(a, b)) return false;
    for (uint32_t i = 0; i < a->body.count; i++)
        if (!same_statement(&a->body.at[i], &b->body.at[i])) return false;
    return true;
}

static bool same_item(const lw_item *a, const lw_item *b) {
    SAME(a->kind == b->kind && same_text(a->text, b->text));
    if (a->kind == LW_ITEM_FUNCTION) return same_function(a->function, b->function);
    return !a->object || same_object(a->object, b->object);
}

bool same_module(const lw_module_ptx *a, const lw_module_ptx *b) {
    SAME(a->version == b->version && a->target == b->target && a->target_suffix == b->target_suffix);
    SAME(a->address_size == b->address_size && a->target_count == b->target_count);
    for (uint32_t i = 0; i < a->target_count; i++) SAME(same_symbol(a->targets[i], b->targets[i]));
    SAME(a->functions.count == b->functions.count && a->variables.count == b->variables.count);
    SAME(a->instruction_count == b->instruction_count && a->items.count == b->items.count);
    for (uint32_t i = 0; i < a->items.count; i++)
        if (!same_item(&a->items.at[i], &b->items.at[i])) return false;
    return true;
}
