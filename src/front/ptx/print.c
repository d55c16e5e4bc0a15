/* print.c: a module as text in one canonical layout, which parses back to the same module. */
#include "front/ptx/ptx.h"

enum { LINE_WIDTH = 100 };

static void put(lw_text *out, const char *text) { lw_text_puts(out, text); }

static void put_symbol(lw_text *out, const lw_symbol *s) { lw_text_add(out, s->text, s->size); }

static void indent(lw_text *out, uint32_t depth) {
    for (uint32_t i = 0; i < depth; i++) put(out, "\t");
}

/* ---- Constants and operands ---------------------------------------------------------------------------- */

static void put_signed(lw_text *out, int64_t value) {
    char digits[24], *at = digits + sizeof digits;
    uint64_t rest = value < 0 ? -(uint64_t)value : (uint64_t)value;
    do *--at = (char)('0' + rest % 10);
    while (rest /= 10);
    if (value < 0) *--at = '-';
    lw_text_add(out, at, (size_t)(digits + sizeof digits - at));
}

/* The least signed value has no literal of its own: its digits alone are unsigned. */
static void put_integer(lw_text *out, uint64_t value, bool is_unsigned) {
    int64_t s = (int64_t)value;
    bool huge = s < 0 && s < INT32_MIN;
    if (!is_unsigned && s != INT64_MIN) put_signed(out, s);
    else if (!is_unsigned) lw_text_printf(out, "(.s64)%llu", (unsigned long long)value);
    else if (huge) lw_text_printf(out, "%lluU", (unsigned long long)value);
    else put_signed(out, s), put(out, "U");
}

static void put_float(lw_text *out, uint64_t bits, bool single) {
    if (single) lw_text_printf(out, "0f%08X", (unsigned)bits);
    else lw_text_printf(out, "0d%016llX", (unsigned long long)bits);
}

/* A number or expression as the text has it, 0xff for one; without blanks where `tight`. False: it has a comment or
 * goes over lines, or signs would come to stand beside each other, and nothing is printed. */
static bool put_spelled(lw_text *out, const lw_source *source, lw_place place, bool tight) {
    if (!source || !place.size) return false;
    const char *text = source->text + place.at;
    for (uint32_t i = 0; i < place.size; i++) {
        if (text[i] == '\n' || (text[i] == '/' && i + 1 < place.size && (text[i + 1] == '/' || text[i + 1] == '*')))
            return false;
        if (tight && text[i] == ' ' && i && i + 1 < place.size && strchr("-<>=&|! ", text[i + 1]) &&
            strchr("-<>=&|! ", text[i - 1]))
            return false;
    }
    for (uint32_t i = 0; i < place.size; i++)
        if (!tight || (text[i] != ' ' && text[i] != '\t')) lw_text_add(out, &text[i], 1);
    return true;
}

static void put_offset(lw_text *out, int64_t offset) {
    if (!offset) return;
    put(out, "+");
    put_signed(out, offset);
}

/* What stands behind a name that nothing stands in front of: the place of an operand has all of it. */
static bool put_spelled_offset(lw_text *out, const lw_source *source, const lw_operand *o, const char *begins) {
    if (!source || o->place.size <= o->name->size ||
        memcmp(source->text + o->place.at, o->name->text, o->name->size) != 0)
        return false;
    const lw_place rest = {o->place.at + o->name->size, o->place.size - o->name->size};
    const char *text = source->text + rest.at;
    return strchr(begins, text[strspn(text, " \t")]) && put_spelled(out, source, rest, true);
}

/* Whether the offset is printed as it was spelled: it begins with one of `begins`. */
static bool put_named(lw_text *out, const lw_source *source, const lw_operand *o, const char *begins) {
    if (o->negated) put(out, o->minus ? "-" : "!");
    put_symbol(out, o->name);
    if (o->select) lw_text_printf(out, ".%s", lw_select_name(o));
    if (put_spelled_offset(out, source, o, begins)) return true;
    if (!o->indexed) {
        put_offset(out, o->offset);
        return false;
    }
    put(out, "[");
    put_signed(out, o->offset);
    put(out, "]");
    return false;
}

static void put_operand(lw_text *out, const lw_source *source, const lw_operand *o);

/* The offset of an address was written behind its base. */
static void put_parts(lw_text *out, const lw_source *source, const lw_operand *o) {
    for (uint32_t i = 0; i < o->part_count; i++) {
        const lw_operand *part = &o->parts[i];
        bool done = false;
        if (i) put(out, o->kind == LW_O_PAIR ? "|" : ", ");
        if (part->kind == LW_O_NAME) done = put_named(out, source, part, o->kind == LW_O_ADDRESS ? "+-" : "+-[");
        else put_operand(out, source, part);
        if (o->kind == LW_O_ADDRESS && i == 0 && !done) put_offset(out, o->offset);
    }
}

static void put_operand(lw_text *out, const lw_source *source, const lw_operand *o) {
    static const char *const open[] = {[LW_O_ADDRESS] = "[", [LW_O_VECTOR] = "{", [LW_O_PAIR] = "", [LW_O_LIST] = "("};
    static const char *const close[] = {[LW_O_ADDRESS] = "]", [LW_O_VECTOR] = "}", [LW_O_PAIR] = "", [LW_O_LIST] = ")"};
    switch (o->kind) {
    case LW_O_NAME: put_named(out, source, o, "+-["); break;
    case LW_O_INT:
        if (!put_spelled(out, source, o->place, false)) put_integer(out, o->value, o->is_unsigned);
        break;
    case LW_O_FLOAT:
        if (!put_spelled(out, source, o->place, false)) put_float(out, o->value, o->single);
        break;
    case LW_O_SINK: put(out, "_"); break;
    default:
        put(out, open[o->kind]);
        put_parts(out, source, o);
        put(out, close[o->kind]);
    }
}

void lw_ptx_print_operand(lw_text *out, const lw_operand *o) { put_operand(out, NULL, o); }

/* Without indentation, with its semicolon. */
static void put_instruction(lw_text *out, const lw_source *source, const lw_instruction *in) {
    if (in->guard) {
        put(out, "@");
        put_operand(out, source, in->guard);
        put(out, " ");
    }
    put_symbol(out, in->mnemonic);
    for (uint32_t i = 0; i < in->operand_count; i++) {
        put(out, i ? ", " : " ");
        put_operand(out, source, &in->operands[i]);
    }
    put(out, ";");
}

void lw_ptx_print_instruction(lw_text *out, const lw_instruction *in) { put_instruction(out, NULL, in); }

/* ---- Declarations -------------------------------------------------------------------------------------- */

static void put_init(lw_text *out, const lw_source *source, const lw_init *init, size_t *line_start);

/* Long lists are broken into lines. */
static void put_init_list(lw_text *out, const lw_source *source, const lw_init *init, size_t *line_start) {
    put(out, "{");
    for (uint32_t i = 0; i < init->part_count; i++) {
        if (i) put(out, ", ");
        if (out->size - *line_start > LINE_WIDTH) {
            put(out, "\n\t");
            *line_start = out->size;
        }
        put_init(out, source, &init->parts[i], line_start);
    }
    put(out, "}");
}

static void put_init_name(lw_text *out, const lw_init *init) {
    if (init->value) lw_text_printf(out, "0x%llx(", (unsigned long long)init->value);
    if (init->generic) put(out, "generic(");
    put_symbol(out, init->name);
    if (init->generic) put(out, ")");
    put_offset(out, init->offset);
    if (init->value) put(out, ")");
}

static void put_init(lw_text *out, const lw_source *source, const lw_init *init, size_t *line_start) {
    if (init->kind == LW_INIT_LIST) put_init_list(out, source, init, line_start);
    else if (init->kind == LW_INIT_NAME) put_init_name(out, init);
    else if (put_spelled(out, source, init->place, false)) return;
    else if (init->is_float) put_float(out, init->value, init->single);
    else put_integer(out, init->value, init->is_unsigned);
}

/* {addr_mode_0 = wrap, …} of an opaque variable. */
static void put_fields(lw_text *out, const lw_source *source, const lw_init *init) {
    size_t line = out->size;
    put(out, "{");
    for (uint32_t i = 0; i < init->part_count; i++) {
        if (i) put(out, ", ");
        put_init(out, source, &init->parts[i].parts[0], &line);
        put(out, " = ");
        put_init(out, source, &init->parts[i].parts[1], &line);
    }
    put(out, "}");
}

static bool has_fields(const lw_object *o) {
    return lw_type_is_opaque(o->type) && !o->dimension_count && o->init->kind == LW_INIT_LIST;
}

static void put_linkage(lw_text *out, lw_linkage linkage) {
    static const char *const names[] = {
        [LW_LINK_none] = "",       [LW_LINK_extern] = ".extern ", [LW_LINK_visible] = ".visible ",
        [LW_LINK_weak] = ".weak ", [LW_LINK_common] = ".common ",
    };
    put(out, names[linkage]);
}

static void put_attributes(lw_text *out, const lw_object *o) {
    if (!o->managed && !o->unified) return;
    put(out, " .attribute(");
    if (o->managed) put(out, ".managed");
    if (o->managed && o->unified) put(out, ", ");
    if (o->unified)
        lw_text_printf(out, ".unified(%llu, %llu)", (unsigned long long)o->unified_id[0],
                       (unsigned long long)o->unified_id[1]);
    put(out, ")");
}

static void put_pointer(lw_text *out, const lw_object *o) {
    if (!o->is_pointer) return;
    put(out, " .ptr");
    if (o->pointer_space) lw_text_printf(out, " .%s", lw_space_names[o->pointer_space]);
    if (o->pointer_align_written) lw_text_printf(out, " .align %u", o->pointer_align);
}

/* Everything but the initial value. */
static void put_declaration(lw_text *out, const lw_object *o) {
    lw_text_printf(out, ".%s", lw_space_names[o->space]);
    if (o->bank) lw_text_printf(out, "[%u]", o->bank - 1u);
    put_attributes(out, o);
    if (o->align_written) lw_text_printf(out, " .align %u", o->align);
    if (o->vector > 1) lw_text_printf(out, " .v%u", o->vector);
    lw_text_printf(out, " .%s", lw_types[o->type].name);
    put_pointer(out, o);
    put(out, " ");
    put_symbol(out, o->name);
    if (o->is_range) lw_text_printf(out, "<%u>", o->range);
    for (uint32_t i = 0; i < o->dimension_count; i++) {
        if (i == 0 && o->unsized) put(out, "[]");
        else lw_text_printf(out, "[%llu]", (unsigned long long)o->dimensions[i]);
    }
}

static void put_variable(lw_text *out, const lw_source *source, const lw_object *o) {
    size_t line = out->size;
    put_linkage(out, o->linkage);
    put_declaration(out, o);
    if (o->init) {
        put(out, " = ");
        if (has_fields(o)) put_fields(out, source, o->init);
        else put_init(out, source, o->init, &line);
    }
    put(out, ";\n");
}

/* ---- Functions ----------------------------------------------------------------------------------------- */

static void put_parameters(lw_text *out, lw_object **at, uint32_t count, bool lines) {
    put(out, "(");
    for (uint32_t i = 0; i < count; i++) {
        put(out, i ? "," : "");
        put(out, lines ? "\n\t" : i ? " " : "");
        put_declaration(out, at[i]);
    }
    put(out, lines && count ? "\n)" : ")");
}

static void put_directive(lw_text *out, const lw_directive *d) {
    put(out, ".");
    put_symbol(out, d->name);
    if (d->text) lw_text_printf(out, " %s;", d->text);
    for (uint32_t i = 0; i < d->value_count; i++)
        lw_text_printf(out, "%s%llu", i ? ", " : " ", (unsigned long long)d->values[i]);
}

static void put_prototype(lw_text *out, const lw_object *o) {
    const lw_function *f = o->function;
    put_symbol(out, o->name);
    put(out, ": .callprototype ");
    if (f->return_count) {
        put_parameters(out, f->returns, f->return_count, false);
        put(out, " ");
    }
    put(out, "_");
    put(out, " ");
    put_parameters(out, f->params, f->param_count, false);
    for (uint32_t i = 0; i < f->directives.count; i++) {
        put(out, " ");
        put_directive(out, &f->directives.at[i]);
    }
    put(out, ";\n");
}

static void put_targets(lw_text *out, const lw_object *o) {
    put_symbol(out, o->name);
    put(out, o->is_branch ? ": .branchtargets " : ": .calltargets ");
    for (uint32_t i = 0; i < o->target_count; i++) {
        if (i) put(out, ", ");
        put_symbol(out, o->targets[i].name);
    }
    put(out, ";\n");
}

static void put_loc(lw_text *out, const lw_statement *s) {
    lw_text_printf(out, ".loc %u %u %u%s%s\n", s->loc.file, s->loc.line, s->loc.column, s->loc.rest ? ", " : "",
                   s->loc.rest ? s->loc.rest : "");
}

static void put_statement(lw_text *out, const lw_source *source, const lw_statement *s, uint32_t *depth) {
    if (s->kind == LW_S_CLOSE && *depth > 1) --*depth;
    if (s->kind != LW_S_LABEL) indent(out, *depth);
    switch (s->kind) {
    case LW_S_INSTRUCTION:
        put_instruction(out, source, s->instruction);
        put(out, "\n");
        break;
    case LW_S_LABEL:
        put_symbol(out, s->object->name);
        put(out, ":\n");
        break;
    case LW_S_VARIABLE: put_variable(out, source, s->object); break;
    case LW_S_OPEN:
        ++*depth;
        put(out, "{\n");
        break;
    case LW_S_CLOSE: put(out, "}\n"); break;
    case LW_S_PROTOTYPE: put_prototype(out, s->object); break;
    case LW_S_TARGETS: put_targets(out, s->object); break;
    case LW_S_LOC: put_loc(out, s); break;
    case LW_S_PRAGMA: lw_text_printf(out, ".pragma %s;\n", s->text); break;
    case LW_S_DIRECTIVE: lw_text_printf(out, "%s\n", s->text); break;
    }
}

static void put_function(lw_text *out, const lw_source *source, const lw_function *f) {
    put_linkage(out, f->object->linkage);
    put(out, f->is_entry ? ".entry" : ".func");
    put_attributes(out, f->object);
    put(out, " ");
    if (f->return_count) {
        put_parameters(out, f->returns, f->return_count, false);
        put(out, " ");
    }
    put_symbol(out, f->object->name);
    put_parameters(out, f->params, f->param_count, true);
    for (uint32_t i = 0; i < f->directives.count; i++) {
        put(out, "\n");
        put_directive(out, &f->directives.at[i]);
    }
    if (!f->has_body) {
        put(out, ";\n");
        return;
    }
    put(out, "\n{\n");
    uint32_t depth = 1;
    for (uint32_t i = 0; i < f->body.count; i++) put_statement(out, source, &f->body.at[i], &depth);
    put(out, "}\n");
}

/* ---- The module ---------------------------------------------------------------------------------------- */

static void put_item(lw_text *out, const lw_source *source, const lw_item *item) {
    switch (item->kind) {
    case LW_ITEM_VARIABLE: put_variable(out, source, item->object); break;
    case LW_ITEM_FUNCTION: put_function(out, source, item->function); break;
    case LW_ITEM_ALIAS:
        lw_text_printf(out, ".alias %s, %s;\n", item->object->name->text, item->object->targets[0].name->text);
        break;
    case LW_ITEM_PRAGMA: lw_text_printf(out, ".pragma %s;\n", item->text); break;
    case LW_ITEM_DIRECTIVE:
    case LW_ITEM_SECTION:
    case LW_ITEM_FILE: lw_text_printf(out, "%s\n", item->text); break;
    }
}

void lw_ptx_print(lw_text *out, const lw_module_ptx *m) {
    lw_text_printf(out, ".version %u.%u\n.target ", m->version / 10, m->version % 10);
    for (uint32_t i = 0; i < m->target_count; i++) lw_text_printf(out, "%s%s", i ? ", " : "", m->targets[i]->text);
    put(out, "\n");
    if (m->address_size_written) lw_text_printf(out, ".address_size %u\n", m->address_size);
    lw_item_kind last = LW_ITEM_FUNCTION;
    for (uint32_t i = 0; i < m->items.count; i++) {
        const lw_item *item = &m->items.at[i];
        if (item->kind != last || item->kind == LW_ITEM_FUNCTION) put(out, "\n");
        put_item(out, m->source, item);
        last = item->kind;
    }
}
