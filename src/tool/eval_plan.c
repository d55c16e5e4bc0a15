/* eval_plan.c: what a text and its values mean: the instruction's form, and the type and values of each operand. */
#include <stdlib.h>

#include "tool/eval.h"

/* ---- Faults ------------------------------------------------------------------------------------------- */

void lw_eval_report(lw_eval *e, lw_diag_id id, lw_place place, const char *message, const char *fix) {
    lw_diag diag = {.id = id, .severity = lw_diag_rows[id].severity, .place = place, .message = message, .fix = fix};
    lw_text out = {0};
    lw_diag_render(&out, &e->source, &diag, lw_tool_colour());
    fflush(stdout);
    fputs(out.at ? out.at : "", stderr);
    lw_text_free(&out);
}

static int refuse(lw_eval *e, lw_diag_id id, const char *fix, ...) {
    va_list args;
    va_start(args, fix);
    const char *message = lw_arena_vsay(e->arena, lw_diag_rows[id].format, args);
    va_end(args);
    lw_eval_report(e, id, e->instruction ? e->instruction->mnemonic_place : (lw_place){0, e->source.size}, message,
                   fix);
    return id == LW_D_not_executable ? LW_EXIT_SOURCE : LW_EXIT_USAGE;
}

/* ---- The instruction ---------------------------------------------------------------------------------- */

/* Faults of a text that stands in a larger one; those outside of it are shown at the whole of it. */
static void report_inside(lw_eval *e, const lw_diags *diags, uint32_t from) {
    for (const lw_diag *d = diags->first; d; d = d->next) {
        lw_place place = {d->place.at - from, d->place.size};
        if (d->place.at < from || place.at >= e->source.size) place = (lw_place){0, e->source.size};
        lw_eval_report(e, d->id, place, d->message, d->fix);
    }
}

static const char head[] = ".version 9.0\n.target sm_100a\n.address_size 64\n.entry eval()\n{\n";

static lw_instruction *only_instruction(lw_module_ptx *module) {
    if (module->items.count != 1 || module->items.at[0].kind != LW_ITEM_FUNCTION) return NULL;
    lw_function *function = module->items.at[0].function;
    if (function->body.count != 1 || function->body.at[0].kind != LW_S_INSTRUCTION) return NULL;
    return function->body.at[0].instruction;
}

static int parse_text(lw_eval *e) {
    size_t size = strlen(e->text);
    while (size && strchr(" \t\r\n;", e->text[size - 1])) size--;
    if (!lw_source_init(&e->source, e->arena, "<instruction>", e->text, size)) return LW_EXIT_USAGE;
    if (!size) return refuse(e, LW_D_eval_text, NULL, "the text is empty");

    char *whole = lw_arena_printf(e->arena, "%s%s\n;\n}\n", head, e->source.text);
    lw_source *source = LW_NEW(e->arena, lw_source);
    lw_diags *diags = LW_NEW(e->arena, lw_diags);
    lw_source_init(source, e->arena, "<instruction>", whole, strlen(whole));
    lw_diags_init(diags, e->arena, source);
    e->module = lw_ptx_parse(e->arena, source, diags);
    lw_instruction *instruction = only_instruction(e->module);
    if (!diags->errors && !instruction) return refuse(e, LW_D_eval_text, NULL, "it is not one instruction");
    if (!diags->errors) {
        e->instruction = instruction;
        e->match = lw_ptx_match(e->module, instruction, NULL);
        if (!e->match) { /* the verifier's words for it; names of operands are no matter then */
            instruction->operand_count = 0;
            instruction->guard = NULL;
            lw_ptx_resolve(e->module);
            lw_ptx_verify(e->module);
        }
    }
    report_inside(e, diags, sizeof head - 1);
    if (e->instruction) e->instruction->mnemonic_place.at -= sizeof head - 1;
    return diags->errors ? LW_EXIT_SOURCE : LW_EXIT_OK;
}

/* At a place of the text around it. */
static void report_at(lw_eval *e, lw_diag_id id, lw_place place, ...) {
    va_list args;
    va_start(args, place);
    place.at -= sizeof head - 1;
    lw_eval_report(e, id, place, lw_arena_vsay(e->arena, lw_diag_rows[id].format, args), NULL);
    va_end(args);
}

/* ---- What kind of instruction it is --------------------------------------------------------------------- */

static const char *obstacle(const lw_eval *e) {
    const lw_match *m = e->match;
    bool written = false;
    for (uint32_t i = 0; i < m->operand_form_count; i++) {
        const lw_operand_form *o = &m->operand_forms[i];
        written = written || o->written;
        if (o->shape == LW_SHAPE_ADDRESS) return "it accesses memory";
        if (o->shape == LW_SHAPE_LABEL || o->shape == LW_SHAPE_TARGETS || o->shape == LW_SHAPE_FUNC ||
            o->shape == LW_SHAPE_LIST || o->shape == LW_SHAPE_REST)
            return "it changes the flow of control";
    }
    return written ? NULL : "it has no result";
}

/* Operands that are left out are single registers. */
static bool leaves_out_lists(const lw_eval *e) {
    bool lists = false;
    for (uint32_t i = 0; i < e->match->operand_form_count && !e->instruction->operand_count; i++)
        lists |= e->match->operand_forms[i].vector > 1 || e->match->operand_forms[i].always_braces;
    return lists;
}

static int settle_form(lw_eval *e) {
    const lw_match *m = e->match;
    const char *why = obstacle(e);
    if (!why && leaves_out_lists(e))
        return refuse(e, LW_D_eval_kind, "write its operands, lists in braces: 'mov.v2.b32 {d, e}, {a, b}'",
                      e->instruction->mnemonic->text, "it takes a list in braces");
    if (why)
        return refuse(e, LW_D_eval_kind, "registers and constants only: `lanewise run` executes whole kernels",
                      e->instruction->mnemonic->text, why);
    const char *name = e->instruction->mnemonic->text, *never = lw_ptx_refusal(name);
    if (!m->executable) return refuse(e, LW_D_not_executable, NULL, name, never ? ": " : "", never ? never : "", "");
    const lw_form *form = m->form;
    e->version = 90, e->target = m->sm > 100 ? m->sm : 100;
    if (form->gone_isa && form->gone_isa <= 10) { /* what no version has for others than the first targets */
        e->target = 13, e->portable = true;
    } else if (form->gone_isa) { /* the newest that still has it */
        e->version = form->gone_isa - 1;
        e->target = m->sm > 60 ? m->sm : 60;
        e->portable = true;
    }
    e->takes_carry = form->takes_carry;
    e->gives_carry = m->mode.carry;
    return LW_EXIT_OK;
}

/* ---- Operands ----------------------------------------------------------------------------------------- */

static lw_eval_operand *operand_named(lw_eval *e, const char *name) {
    for (uint32_t i = 0; i < e->operand_count; i++)
        if (!strcmp(e->operands[i].name, name)) return &e->operands[i];
    if (e->operand_count == LW_EVAL_OPERANDS) return NULL;
    lw_eval_operand *o = &e->operands[e->operand_count++];
    o->name = name;
    return o;
}

/* Registers are untyped but for their size, which goes with every type; `type` is what values are read and printed
 * as. */
static bool add_operand(lw_eval *e, const char *name, lw_type type, bool written) {
    lw_eval_operand *o = operand_named(e, name);
    if (!o) return false;
    if (o->type == LW_T_none) o->type = type;
    *(written ? &o->written : &o->read) = true;
    return true;
}

static lw_type type_of(const lw_operand_form *form) {
    if (!form) return LW_T_b32;
    if (form->is_address) return LW_T_b64;
    return form->type == LW_T_none ? LW_T_b32 : form->type;
}

static lw_type element_type(const lw_operand_form *form, uint32_t elements) {
    lw_type type = type_of(form);
    if (form && form->vector) return type;
    switch (lw_types[type].bits / (elements ? elements : 1)) { /* packed: the elements share the bits */
    case 8: return LW_T_b8;
    case 16: return LW_T_b16;
    case 32: return LW_T_b32;
    case 64: return LW_T_b64;
    default: return type;
    }
}

static bool is_special(const char *name) {
    for (size_t i = 0; i < LW_SPECIAL_count; i++)
        if (!strcmp(lw_specials[i].text, name)) return true;
    return false;
}

static bool collect(lw_eval *e, const lw_operand *o, const lw_operand_form *form, lw_type type, bool written) {
    switch (o->kind) {
    case LW_O_NAME: return is_special(o->name->text) || add_operand(e, o->name->text, type, written);
    case LW_O_PAIR:
        return collect(e, &o->parts[0], form, type, written) && collect(e, &o->parts[1], form, LW_T_pred, written);
    case LW_O_VECTOR:
        for (uint32_t i = 0; i < o->part_count; i++)
            if (!collect(e, &o->parts[i], form, element_type(form, o->part_count), written)) return false;
        return true;
    default: return true;
    }
}

/* Before anybody asks for values of what cannot be: a list has as many elements as the spelling says, or so many that
 * its bits are those of 2 or 4 registers. */
static bool list_fits(lw_eval *e, const lw_operand *o, const lw_operand_form *form, uint32_t number) {
    const uint32_t count = o->part_count, bits = form ? lw_types[form->type].bits : 0;
    if (o->kind != LW_O_VECTOR || !form || !form->braces || count == 1) return true;
    const bool packs = form->vector == 0, power = count == 2 || count == 4;
    if (packs ? power && bits / count >= 8 : count == form->vector || form->vector == 1) return true;
    const char *name = e->instruction->mnemonic->text;
    if (packs) report_at(e, LW_D_eval_list, o->place, number, name, count, bits);
    else report_at(e, LW_D_vector_size, o->place, number, name, form->vector, count, "are");
    return false;
}

/* Operands as they were written. */
static int collect_written(lw_eval *e) {
    const lw_instruction *in = e->instruction;
    for (uint32_t i = 0; i < in->operand_count; i++)
        if (!list_fits(e, &in->operands[i], lw_ptx_operand_form(e->match, in->operand_count, i), i + 1))
            return LW_EXIT_SOURCE;
    bool fits = !in->guard || collect(e, in->guard, NULL, LW_T_pred, false);
    for (uint32_t i = 0; i < in->operand_count && fits; i++) {
        const lw_operand_form *form = lw_ptx_operand_form(e->match, in->operand_count, i);
        fits = collect(e, &in->operands[i], form, type_of(form), form && form->written);
    }
    e->tail = "";
    return fits ? LW_EXIT_OK : refuse(e, LW_D_eval_text, NULL, "it has too many operands");
}

static const char *name_of(lw_eval *e, const lw_operand_form *form) {
    return lw_arena_text(e->arena, form->name, form->name_size);
}

/* "a, b, c" for messages. */
static const char *names_of(lw_eval *e, uint32_t count) {
    lw_text out = {0};
    for (uint32_t i = 1; i < count; i++)
        lw_text_printf(&out, "%s%s", i > 1 ? ", " : "", name_of(e, lw_ptx_operand_form(e->match, count, i)));
    return out.size ? lw_arena_keep(e->arena, &out) : "none";
}

static int wrong_count(lw_eval *e, uint32_t least, uint32_t most, const char *names) {
    const char *range = least == most ? lw_arena_printf(e->arena, "%u value%s", least, least == 1 ? "" : "s")
                                      : lw_arena_printf(e->arena, "%u to %u values", least, most);
    const char *fix = most ? lw_arena_printf(e->arena, "give one for each of: %s", names) : NULL;
    return refuse(e, LW_D_eval_count, fix, e->instruction->mnemonic->text, range, e->value_count,
                  e->value_count == 1 ? "is" : "are");
}

/* An operand that must be a constant goes into the text. */
static int add_constant(lw_eval *e, lw_text *tail, const char *name, const char *value) {
    const char *p = value, *why = "this is no integer constant";
    uint64_t bits;
    while (*p == ' ') p++;
    if (lw_value_parse(LW_T_b64, &p, &bits) == LW_VALUE_OK && !*p) {
        lw_text_printf(tail, ", %lld", (long long)bits);
        return LW_EXIT_OK;
    }
    return refuse(e, LW_D_eval_value, NULL, value, name, "imm", why);
}

/* Operands by the manual's letters, one for each value. */
static int make_operands(lw_eval *e) {
    const lw_match *m = e->match;
    uint32_t count = e->value_count + 1, least = m->operands_min;
    bool whole_warp = m->operand_form_count > 1 && m->operand_forms[m->operand_form_count - 1].name_size == 10 &&
                      !memcmp(m->operand_forms[m->operand_form_count - 1].name, "membermask", 10);
    bool add_mask = whole_warp && count + 1 == least;
    if (add_mask) count++;
    if (count < least || count > m->operands_max)
        return wrong_count(e, least - 1 - whole_warp, m->operands_max - 1u, names_of(e, m->operands_max));
    lw_text tail = {0};
    int code = LW_EXIT_OK;
    for (uint32_t i = 0; i < count && !code; i++) {
        const lw_operand_form *form = lw_ptx_operand_form(m, count, i);
        const char *name = name_of(e, form);
        bool constant = form->shape == LW_SHAPE_IMM;
        if (add_mask && i + 1 == count) {
            lw_text_printf(&tail, ", %s", name);
            e->all_lanes = operand_named(e, name);
            e->all_lanes->type = LW_T_b32;
        } else if (constant) {
            code = add_constant(e, &tail, name, e->values[i - 1]);
        } else {
            lw_text_printf(&tail, "%s%s", i ? ", " : "", name);
            add_operand(e, name, type_of(form), form->written);
        }
        if (form->pair) {
            bool twice = form->name_size == 1 && *form->name == 'p';
            lw_text_puts(&tail, twice ? "|q" : "|p");
            add_operand(e, twice ? "q" : "p", LW_T_pred, true);
        }
    }
    e->tail = tail.size ? lw_arena_keep(e->arena, &tail) : "";
    return code;
}

/* ---- Values ------------------------------------------------------------------------------------------- */

static int set_operand(lw_eval *e, lw_eval_operand *o, const char *value, uint32_t *count) {
    const char *why;
    *count = lw_eval_values(o->type, value, o->lanes, &why);
    if (!*count) return refuse(e, LW_D_eval_value, NULL, value, o->name, lw_types[o->type].name, why);
    o->per_lane = *count > 1;
    return LW_EXIT_OK;
}

static int set_values(lw_eval *e) {
    uint32_t counts[LW_EVAL_OPERANDS] = {0}, next = 0, longest = 1, wanted = 0;
    bool generated = *e->tail;
    for (uint32_t i = 0; i < e->operand_count; i++) wanted += e->operands[i].read;
    if (!generated && wanted != e->value_count) {
        lw_text names = {0};
        for (uint32_t i = 0; i < e->operand_count; i++)
            if (e->operands[i].read) lw_text_printf(&names, "%s%s", names.size ? ", " : "", e->operands[i].name);
        return wrong_count(e, wanted, wanted, names.size ? lw_arena_keep(e->arena, &names) : "");
    }
    for (uint32_t i = 0; i < e->operand_count; i++) {
        lw_eval_operand *o = &e->operands[i];
        if (!o->read) continue;
        if (generated) /* constants stand in the text already: their values are passed over */
            while (lw_ptx_operand_form(e->match, e->value_count + 1, next + 1) &&
                   lw_ptx_operand_form(e->match, e->value_count + 1, next + 1)->shape == LW_SHAPE_IMM)
                next++;
        int code = set_operand(e, o, e->values[next++], &counts[i]);
        if (code) return code;
        if (counts[i] > longest) longest = counts[i];
    }
    if (!e->lanes) e->lanes = longest > 1 ? longest : lw_lowerings[e->match->form->lower].across ? LW_EVAL_LANES : 1;
    if (e->all_lanes) {
        e->all_lanes->read = true;
        counts[e->all_lanes - e->operands] = 1;
        e->all_lanes->lanes[0].low = UINT32_MAX >> (32 - e->lanes);
    }
    for (uint32_t i = 0; i < e->operand_count; i++) {
        lw_eval_operand *o = &e->operands[i];
        if (o->read && counts[i] > 1 && counts[i] != e->lanes)
            return refuse(e, LW_D_eval_lanes, NULL, o->name, counts[i], e->lanes);
        for (uint32_t lane = 1; counts[i] == 1 && lane < e->lanes; lane++) o->lanes[lane] = o->lanes[0];
    }
    return LW_EXIT_OK;
}

int lw_eval_plan(lw_eval *e) {
    int code = parse_text(e);
    if (!code) code = settle_form(e);
    if (!code) code = e->instruction->operand_count || !e->match->operands_max ? collect_written(e) : make_operands(e);
    return code ? code : set_values(e);
}
