/* verify_fix.c: what would be right, where an operand or a spelling is wrong. Only asked after an error. */
#include "front/ptx/verify.h"

#include <stdio.h>

const char *lw_fix_operands(lw_verifier *v) {
    if (!*v->match->form->operands) return NULL;
    lw_text text = {0};
    lw_text_puts(&text, "operands: ");
    lw_ptx_print_operands(&text, v->match->form);
    return lw_arena_keep(v->diags->arena, &text);
}

/* The words of a spelling in the order that some form has them. */
const char *lw_fix_order(lw_verifier *v) {
    const lw_instruction *i = v->instruction;
    lw_walk w;
    if (!lw_form_reordered(&w, i->words, i->word_count)) return NULL;
    char text[200];
    size_t n = (size_t)snprintf(text, sizeof text, "in this order: %s", i->words[0]->text);
    for (uint32_t k = 1; k < w.count && n < sizeof text; k++)
        n += (size_t)snprintf(text + n, sizeof text - n, ".%s", i->words[w.order[k]]->text);
    return n < sizeof text ? lw_verify_text(v, "%s", text) : NULL;
}

/* A register of another type than the form asks for. */
const char *lw_fix_type(lw_verifier *v, const lw_operand_form *form, lw_type type) {
    if (!form->type) return NULL;
    const lw_type_info *want = &lw_types[form->type], *have = &lw_types[type];
    if (want->kind == 'P') return form->written ? "declare it .pred" : "setp makes a predicate of a number";
    if (form->written) return want->bits == have->bits ? NULL : lw_verify_text(v, "the result has %u bits", want->bits);
    if (have->kind == 'P') return "selp makes a number of a predicate";
    if (!lw_type_is_number(want) || !lw_type_is_number(have) || want->bits == have->bits) return NULL;
    char sign = have->kind == 'S' || (have->kind == 'B' && want->kind == 'S') ? 's' : 'u';
    return lw_verify_text(v, "cvt.%c%u.%c%u makes %u bits of it", sign, want->bits, sign, have->bits, want->bits);
}

/* A floating-point constant where its bits are due. */
const char *lw_fix_constant(lw_verifier *v, const lw_operand *o, const lw_type_info *want) {
    if (o->kind == LW_O_INT) return want->kind == 'F' ? "write it with a decimal point" : NULL;
    if (want->kind == 'P') return "0 is false, any other integer true";
    if (want->kind != 'B' && want->kind != 'U' && want->kind != 'S') return NULL;
    if (want->bits != 32 && want->bits != 64) return "write its bits as an integer";
    unsigned long long bits = lw_float_bits(o->value, o->single, want->bits);
    return lw_verify_text(v, "its bits as .f%u are 0x%0*llx", want->bits, (int)want->bits / 4, bits);
}

/* Something else than the register or constant that is due. */
const char *lw_fix_kind(const lw_operand *o, const lw_operand_form *form) {
    if (form->shape != LW_SHAPE_VALUE || form->written) return NULL;
    if (o->kind == LW_O_ADDRESS) return "load it with ld first";
    if (o->kind != LW_O_NAME || !o->object) return NULL;
    if (lw_is_register(o)) return o->offset ? "add first" : NULL;
    bool addressable = o->object->kind == LW_OBJ_VARIABLE ||
                       (o->object->kind == LW_OBJ_FUNCTION && !o->object->function->is_entry);
    return addressable ? "take its address with mov first, or load it with ld" : NULL;
}

/* A selector that the operand cannot have. */
const char *lw_fix_selector(lw_verifier *v, const lw_operand *o, const lw_operand_form *form) {
    const lw_match *m = v->match;
    if (o->select >= LW_SEL_x && o->select <= LW_SEL_w) {
        if (m->selectors || form->or_four) return "an element must be moved to a register of its own first";
        uint8_t size = o->object ? o->object->vector : 1;
        if (size < 2) return "only vectors have elements";
        return size == 2 ? "its elements are .x and .y" : NULL;
    }
    bool is_video = m->operand_form_count > 1 && m->operand_forms[1].selectable;
    if (!is_video) return form->written ? "bfi writes a part of a register" : "bfe or prmt take a part of a register";
    return form->written ? "a merge and a second operation exclude each other" : "this operand is a whole register";
}
