/* operand.c: operands become virtual registers, constants and addresses. */
#include "middle/ptx.h"

lw_class lw_class_of(lw_type type) {
    uint32_t bits = lw_types[type].bits;
    return type == LW_T_pred ? LW_CLASS_pred : bits <= 16 ? LW_CLASS_16 : bits == 32 ? LW_CLASS_32 : LW_CLASS_64;
}

/* ---- Registers ------------------------------------------------------------------------------------------ */

/* The slot of the page with this key, or the empty one where it belongs. */
static uint32_t page_slot(const lw_lower *l, uint64_t key) {
    if (LW_LIKELY(l->ptx->few_registers)) return (uint32_t)key;
    uint32_t at = (uint32_t)lw_hash_number(key) & l->ptx->page_mask;
    while (l->ptx->page_slots[at] && l->ptx->pages.at[l->ptx->page_slots[at] - 1].key != key)
        at = (at + 1) & l->ptx->page_mask;
    return at;
}

static void put_page(lw_lower *l, uint32_t page) {
    uint32_t slot = page_slot(l, l->ptx->pages.at[page].key);
    l->ptx->pages.at[page].slot = slot;
    l->ptx->page_slots[slot] = page + 1;
}

static void make_slots(lw_lower *l, uint32_t mask) {
    l->ptx->page_mask = mask;
    l->ptx->page_slots = LW_NEW_ARRAY(l->arena, uint32_t, (size_t)mask + 1);
}

static lw_register_page *add_page(lw_lower *l, uint64_t key) {
    LW_PUSH(l->arena, l->ptx->pages) = (lw_register_page){.key = key};
    if (!l->ptx->few_registers && 2 * l->ptx->pages.count >= l->ptx->page_mask) {
        make_slots(l, 2 * l->ptx->page_mask + 1);
        for (uint32_t i = 0; i + 1 < l->ptx->pages.count; i++) put_page(l, i);
    }
    put_page(l, l->ptx->pages.count - 1);
    return &l->ptx->pages.at[l->ptx->pages.count - 1];
}

/* Compilers declare about as many registers as they use; who declares a million and uses three shall not pay for the
 * others. */
void lw_lower_begin_registers(lw_lower *l, const lw_function *function) {
    enum { LEAST = 64 };
    const uint64_t keys = 2 * ((uint64_t)function->register_count / LW_PAGE_REGISTERS +
                               2); /* one page more: elements may reach over the end */
    uint32_t mask = l->ptx->page_mask ? l->ptx->page_mask : LEAST - 1;
    for (uint32_t i = 0; i < l->ptx->pages.count; i++) l->ptx->page_slots[l->ptx->pages.at[i].slot] = 0;
    l->ptx->pages.count = 0;
    l->ptx->few_registers = keys <= LEAST + 2 * (uint64_t)function->instruction_count;
    while (l->ptx->few_registers && mask < keys) mask = 2 * mask + 1;
    if (mask != l->ptx->page_mask) make_slots(l, mask);
}

/* The virtual register of one element of a PTX register, or of a half of a .b128 one. The resolver has numbered all
 * elements. */
static uint32_t find_register(lw_lower *l, const lw_object *object, uint64_t number, uint32_t half) {
    if (LW_UNLIKELY(!object->owner) && !l->ptx->alone) return lw_lower_common_register(l, number);
    const uint64_t key = 2 * (number / LW_PAGE_REGISTERS) + half;
    const uint32_t found = l->ptx->page_slots[page_slot(l, key)];
    lw_register_page *page = LW_LIKELY(found) ? &l->ptx->pages.at[found - 1] : add_page(l, key);
    uint32_t *at = &page->at[number % LW_PAGE_REGISTERS];
    if (!*at) {
        l->code->register_count++;
        *at = lw_lower_vreg(l, lw_class_of(object->type)) + 1;
    }
    return *at - 1;
}

static bool is_register(const lw_operand *operand) {
    return operand->kind == LW_O_NAME && operand->object && operand->object->kind == LW_OBJ_VARIABLE &&
           operand->object->space == LW_SPACE_reg;
}

static bool is_list(const lw_operand *operand) {
    return operand->kind == LW_O_VECTOR || (is_register(operand) && operand->object->vector > 1 && !operand->select);
}

/* ptxas takes more than the manual defines, and so does the verifier. "": nothing that it takes (ptx/loads). */
static const char *reason(const lw_operand *operand) {
    if (is_list(operand)) return ": no text says what several registers are in the place of one";
    if (is_register(operand) && operand->object->type == LW_T_pred) return ": a predicate is no number";
    if (operand->kind == LW_O_INT) return ": no text says what the upper 64 of its 128 bits are";
    return "";
}

static uint32_t refuse(lw_lower *l, const lw_operand *operand, const char *why) {
    const lw_symbol *what = l->ptx->instruction ? l->ptx->instruction->mnemonic : operand->name;
    if (!l->failed) lw_diag_add(l->diags, LW_D_operand_unsupported, operand->place, what ? what->text : "", why);
    l->failed = true;
    return lw_lower_vreg(l, LW_CLASS_32);
}

uint32_t lw_lower_unsupported(lw_lower *l, const lw_operand *operand) { return refuse(l, operand, reason(operand)); }

void lw_lower_too_few(lw_lower *l, const lw_operand *operand) {
    refuse(l, operand, ": no text says what fewer elements are in the place of more");
}

/* Of an operand that is a register. */
static uint32_t read_register(lw_lower *l, const lw_operand *operand) {
    const lw_object *object = operand->object;
    if (lw_types[object->type].bits > 64 || is_list(operand)) return lw_lower_unsupported(l, operand);
    uint32_t component = operand->select >= LW_SEL_x && operand->select <= LW_SEL_w ? operand->select - LW_SEL_x : 0;
    return find_register(l, object, object->number + (uint64_t)operand->index * object->vector + component, 0);
}

uint32_t lw_lower_register(lw_lower *l, const lw_operand *operand) {
    return LW_LIKELY(is_register(operand)) ? read_register(l, operand) : lw_lower_unsupported(l, operand);
}

uint32_t lw_lower_elements(const lw_operand *operand) {
    return is_register(operand) && !operand->select && operand->object->vector > 1 ? operand->object->vector : 1;
}

lw_operand lw_lower_element(const lw_operand *whole, uint32_t element) {
    lw_operand part = *whole;
    part.select = (lw_select)(LW_SEL_x + element);
    return part;
}

bool lw_lower_is_wide(const lw_operand *operand) {
    return is_register(operand) && lw_types[operand->object->type].bits > 64;
}

/* Of a variable or a function, as mov gives it. */
static bool is_address(const lw_operand *operand) {
    const lw_object *object = operand->kind == LW_O_NAME ? operand->object : NULL;
    return object && !is_register(operand) && (object->kind == LW_OBJ_VARIABLE || object->kind == LW_OBJ_FUNCTION);
}

uint32_t lw_lower_half(lw_lower *l, const lw_operand *operand, uint32_t half) {
    if (operand->kind == LW_O_SINK) return lw_lower_vreg(l, LW_CLASS_64);
    const bool is_number = operand->kind == LW_O_INT && !(operand->value >> 63);
    if (is_number || is_address(operand))
        return half ? lw_lower_const(l, LW_CLASS_64, 0) : lw_lower_read(l, operand, LW_T_b64);
    if (!lw_lower_is_wide(operand) || is_list(operand)) return lw_lower_unsupported(l, operand);
    const lw_object *object = operand->object;
    return find_register(l, object, object->number + (uint64_t)operand->index * object->vector, half);
}

/* ---- Sources -------------------------------------------------------------------------------------------- */

uint32_t lw_lower_special(lw_lower *l, lw_special special) {
    const uint32_t d = lw_lower_vreg(l, LW_CLASS_32);
    lw_op *op = lw_lower_op(l, LW_OP_special);
    op->d = d, op->a = special, op->b = 0, op->c = 4;
    return d;
}

static uint32_t read_special(lw_lower *l, const lw_operand *operand, lw_type type) {
    uint32_t d = lw_lower_vreg(l, lw_class_of(type));
    lw_op *op = lw_lower_op(l, LW_OP_special);
    op->d = d;
    op->a = operand->special - 1;
    l->program->reserves_shared |= op->a >= LW_SPECIAL_reserved_smem_offset_begin &&
                                   op->a <= LW_SPECIAL_reserved_smem_offset_1;
    op->b = operand->select ? operand->select - LW_SEL_x : 0;
    op->c = lw_types[type].bits / 8;
    return d;
}

/* An address whose base only the frame or the CTA knows. */
static uint32_t made_here(lw_lower *l, uint16_t code, lw_class class, uint64_t at) {
    uint32_t d = lw_lower_vreg(l, class);
    lw_op *op = lw_lower_op(l, code);
    op->d = d, op->imm = at, op->c = lw_class_bytes(class);
    return d;
}

/* In a thread's local memory: what a function declares in its own frame, what a module does at the bottom of all. */
static bool is_local(const lw_lower *l, const lw_object *object) {
    return object->space == LW_SPACE_local ||
           (object->space == LW_SPACE_param && !(l->ptx->function->is_entry && object->is_param));
}

/* The address of a variable or function, as mov gives it: in the variable's own space. */
static uint32_t read_name_address(lw_lower *l, const lw_operand *operand, lw_type type) {
    const lw_object *object = operand->object;
    lw_class class = lw_class_of(type);
    if (lw_ptx_has_no_body(object)) {
        lw_ptx_report_missing(l->diags, operand->place, object, false);
        l->failed = true;
    }
    if (object->kind == LW_OBJ_FUNCTION)
        return lw_lower_const(l, class, LW_CODE_WINDOW + 16 * (uint64_t)object->function->object->number);
    if (object->kind != LW_OBJ_VARIABLE) return lw_lower_unsupported(l, operand);
    uint64_t offset = (uint64_t)operand->offset;
    if (is_local(l, object)) {
        const uint64_t begin = lw_lower_var(l, object), at = begin + offset;
        if (!object->owner) return lw_lower_const(l, class, at);
        lw_lower_take_address(l, (uint32_t)begin);
        return made_here(l, LW_OP_local_base, class, at);
    }
    if (object->space == LW_SPACE_shared) {
        const uint64_t at = lw_lower_var(l, object) + offset;
        return l->program->clusters ? made_here(l, LW_OP_shared_base, class, at) : lw_lower_const(l, class, at);
    }
    return lw_lower_const(l, class, lw_object_linked(object)->address + offset);
}

uint32_t lw_lower_read(lw_lower *l, const lw_operand *operand, lw_type type) {
    if (LW_LIKELY(is_register(operand))) {
        if (type == LW_T_pred) return lw_lower_read_pred(l, operand);
        if (lw_lower_is_wide(operand) && lw_types[type].bits <= 64) return lw_lower_half(l, operand, 0); /* cut */
        uint32_t v = read_register(l, operand);
        return operand->negated ? lw_lower_unsupported(l, operand) : v;
    }
    lw_class class = lw_class_of(type);
    if (operand->kind == LW_O_INT) return lw_lower_const(l, class, operand->value);
    if (operand->kind == LW_O_FLOAT)
        return lw_lower_const(l, class, lw_float_bits(operand->value, operand->single, lw_types[type].bits));
    if (operand->kind == LW_O_VECTOR && operand->part_count == 1) return lw_lower_read(l, &operand->parts[0], type);
    if (operand->kind != LW_O_NAME) return lw_lower_unsupported(l, operand);
    if (operand->special) return read_special(l, operand, type);
    return operand->object ? read_name_address(l, operand, type) : lw_lower_unsupported(l, operand);
}

uint32_t lw_lower_read_pred(lw_lower *l, const lw_operand *operand) {
    if (operand->kind == LW_O_INT) return lw_lower_const(l, LW_CLASS_pred, operand->value != 0);
    uint32_t p = lw_lower_register(l, operand);
    if (!operand->negated) return p;
    uint32_t d = lw_lower_vreg(l, LW_CLASS_pred);
    lw_op *op = lw_lower_op(l, LW_OP_predicate);
    op->d = d, op->a = p, op->imm = 0x0f;
    return d;
}

/* Registers that are wider than the type are extended by it (manual section 9.4.1). */
static uint32_t write_wide(lw_lower *l, const lw_operand *operand, lw_type type) {
    lw_wide_write write = {.is_signed = lw_types[type].kind == 'S'};
    for (uint32_t k = 0; k < 2; k++) write.halves[k] = lw_lower_half(l, operand, k);
    write.value = lw_lower_vreg(l, LW_CLASS_64);
    LW_PUSH(l->arena, l->ptx->wide_writes) = write;
    return write.value;
}

void lw_lower_end_writes(lw_lower *l) {
    for (uint32_t i = 0; i < l->ptx->wide_writes.count && !l->failed; i++) {
        const lw_wide_write write = l->ptx->wide_writes.at[i];
        const uint32_t none = lw_lower_const(l, LW_CLASS_64, 0), sign = lw_lower_const(l, LW_CLASS_32, 63);
        if (write.is_signed) lw_lower_lane_into(l, write.halves[1], LW_LANE_shr_s64, write.value, sign, LW_NO_SLOT);
        else lw_lower_move(l, write.halves[1], none);
        lw_lower_move(l, write.halves[0], write.value);
    }
    l->ptx->wide_writes.count = 0;
}

uint32_t lw_lower_write(lw_lower *l, const lw_operand *operand, lw_type type) {
    if (operand->kind == LW_O_SINK) return lw_lower_vreg(l, lw_class_of(type));
    if (operand->kind == LW_O_VECTOR && operand->part_count == 1) return lw_lower_write(l, &operand->parts[0], type);
    if (lw_lower_is_wide(operand) && lw_types[type].bits <= 64) return write_wide(l, operand, type);
    return lw_lower_register(l, operand);
}

/* ---- Addresses ------------------------------------------------------------------------------------------ */

static lw_window window_of(lw_space space, bool of_cluster) {
    switch (space) {
    case LW_SPACE_global: return LW_WINDOW_global;
    case LW_SPACE_shared: return of_cluster ? LW_WINDOW_cluster : LW_WINDOW_shared;
    case LW_SPACE_local: return LW_WINDOW_local;
    case LW_SPACE_param: return LW_WINDOW_param;
    case LW_SPACE_const: return LW_WINDOW_const;
    default: return LW_WINDOW_generic;
    }
}

static bool variable_address(lw_lower *l, lw_op *op, const lw_object *object, uint64_t offset, lw_memory_form *form) {
    form->address = 0;
    form->window = is_local(l, object) ? LW_WINDOW_local : window_of(object->space, false);
    if (form->window == LW_WINDOW_local) {
        form->frame = object->owner != NULL;
        op->imm = lw_lower_var(l, object) + offset;
    } else if (form->window == LW_WINDOW_shared) op->imm = lw_lower_var(l, object) + offset;
    else op->imm = lw_object_linked(object)->address + offset;
    return true;
}

bool lw_lower_address(lw_lower *l, lw_op *op, const lw_operand *operand, const lw_match *match, lw_memory_form *form) {
    const lw_operand *base = operand->kind == LW_O_ADDRESS && operand->part_count == 1 ? &operand->parts[0] : NULL;
    if (!base) return lw_lower_unsupported(l, operand), false;
    uint64_t offset = (uint64_t)operand->offset + (uint64_t)base->offset;
    form->window = window_of(match->space, match->of_cluster);
    if (base->kind == LW_O_INT) {
        form->address = 0;
        op->imm = base->value + offset;
        return true;
    }
    if (is_register(base)) {
        op->a = lw_lower_register(l, base);
        if (l->failed) return false;
        if (l->vregs.at[op->a].class == LW_CLASS_16) op->a = lw_lower_resize(l, op->a, LW_CLASS_32, false);
        lw_class class = l->vregs.at[op->a].class;
        if (class != LW_CLASS_32 && class != LW_CLASS_64) return lw_lower_unsupported(l, base), false;
        form->address = class == LW_CLASS_64 ? 2 : 1;
        op->imm = offset;
        return true;
    }
    if (base->kind == LW_O_NAME && base->object && base->object->kind == LW_OBJ_VARIABLE)
        return variable_address(l, op, base->object, offset, form);
    return lw_lower_unsupported(l, base), false;
}

uint32_t lw_lower_address_value(lw_lower *l, const lw_operand *operand, const lw_match *match) {
    lw_memory_form form = {0};
    lw_op op = {0};
    if (!lw_lower_address(l, &op, operand, match, &form)) return LW_NO_SLOT;
    if (form.address == 0) return lw_lower_const(l, LW_CLASS_64, op.imm);
    const bool wide = form.address == 2;
    const uint32_t offset = lw_lower_const(l, wide ? LW_CLASS_64 : LW_CLASS_32, wide ? op.imm : (uint32_t)op.imm);
    const uint32_t sum = op.imm ? lw_lower_lane(l, wide ? LW_LANE_add_b64 : LW_LANE_add_b32, op.a, offset, LW_NO_SLOT)
                                : op.a;
    return lw_lower_resize(l, sum, LW_CLASS_64, false);
}
