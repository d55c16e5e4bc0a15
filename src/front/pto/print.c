/* print.c: a module as text, in one layout. Comments stay in front of what they stand in front of, or behind it on its
 * line; types of one meaning have one spelling, but where the text gives them a name of its own. */
#include "front/pto/pto.h"

static void print_name(lw_text *out, const lw_pto_value *value) {
    lw_text_add(out, value->name->text, value->name->size);
    if (value->parts) lw_text_printf(out, "#%u", value->part);
}

static void print_attributes(lw_text *out, const lw_pto_attributes *attributes, const char *before) {
    if (!attributes->count) return;
    lw_text_printf(out, "%s{", before);
    for (uint32_t i = 0; i < attributes->count; i++) {
        const lw_pto_attribute *a = &attributes->at[i];
        lw_text_printf(out, "%s%s", i ? ", " : "", a->name);
        if (a->value) lw_text_printf(out, " = %s", a->value);
    }
    lw_text_puts(out, "}");
}

static void print_location(lw_text *out, const char *location) {
    if (location) lw_text_printf(out, " %s", location);
}

/* ---- Types ----------------------------------------------------------------------------------------------------- */

/* How the types of a module are spelled, in the order of the text, which is that of the printer; from `next` on. Empty:
 * all in full. */
typedef struct spellings {
    const lw_pto_spelled *next, *end;
} spellings;

/* Types in front of an operation were not printed, or are printed. */
static void seek(spellings *s, uint32_t at) {
    while (s->next < s->end && s->next->at < at) s->next++;
}

static void print_type(lw_text *out, spellings *s, const lw_pto_type *type) {
    const lw_symbol *alias = NULL;
    if (s->next < s->end && s->next->type == type) alias = s->next++->alias;
    lw_text_puts(out, alias ? alias->text : type->text);
}

/* ---- Lists of operands and types ----------------------------------------------------------------------------- */

typedef struct list {
    lw_text *out;
    uint32_t count;
} list;

static void next(list *l) {
    if (l->count++) lw_text_puts(l->out, ", ");
}

typedef enum which { ALL, READ, STORED } which; /* STORED: memory that is stored to; READ: all others */

static bool wanted(const lw_pto_slot *slot, which which) { return which == ALL || slot->written == (which == STORED); }

static void add_operands(list *l, const lw_pto_signature *s, const lw_pto_op *op, which which) {
    for (uint32_t i = 0, o = 0; i < s->in_count; i++, o++) {
        bool memory = s->in[i].shape == LW_PTO_SHAPE_MEMORY, there = op->operands[o] && wanted(&s->in[i], which);
        if (there) next(l), print_name(l->out, op->operands[o]);
        if (!memory) continue;
        o++;
        if (!there) continue;
        lw_text_puts(l->out, "[");
        print_name(l->out, op->operands[o]);
        lw_text_puts(l->out, "]");
    }
}

static void add_types(list *l, spellings *as, const lw_pto_signature *s, const lw_pto_op *op, which which) {
    for (uint32_t i = 0, o = 0; i < s->in_count; i++, o++) {
        if (op->operands[o] && wanted(&s->in[i], which)) next(l), print_type(l->out, as, op->operands[o]->type);
        o += s->in[i].shape == LW_PTO_SHAPE_MEMORY;
    }
}

static void add_results(list *l, const lw_pto_op *op) {
    for (uint32_t i = 0; i < op->result_count; i++) next(l), print_name(l->out, op->results[i]);
}

static void add_result_types(list *l, spellings *as, const lw_pto_op *op) {
    for (uint32_t i = 0; i < op->result_count; i++) next(l), print_type(l->out, as, op->results[i]->type);
}

/* (T, U), or T alone. */
static void print_types(lw_text *out, spellings *as, lw_pto_value **values, uint32_t count) {
    if (count != 1) lw_text_puts(out, "(");
    for (uint32_t i = 0; i < count; i++) lw_text_puts(out, i ? ", " : ""), print_type(out, as, values[i]->type);
    if (count != 1) lw_text_puts(out, ")");
}

/* ---- The forms ------------------------------------------------------------------------------------------------ */

/* The names in front of the =; %r:2 is one name. */
static void print_results(lw_text *out, const lw_pto_op *op) {
    for (uint32_t i = 0; i < op->result_count; i++) {
        const lw_pto_value *value = op->results[i];
        if (value->parts && value->part) continue;
        lw_text_printf(out, "%s%s", i ? ", " : "", value->name->text);
        if (value->parts) lw_text_printf(out, ":%u", value->parts);
    }
    if (op->result_count) lw_text_puts(out, " = ");
}

/* A number as the text has it. */
static void print_digits(lw_text *out, const lw_pto_op *op) {
    lw_text_puts(out, op->minus ? " -" : " ");
    lw_text_add(out, op->digits, op->digit_count);
}

/* The word or pattern in front of the operands. */
static void print_front(lw_text *out, const lw_pto_op *op, bool comma) {
    if (op->word) lw_text_printf(out, " %s%s", lw_pto_words[op->word], comma ? "," : "");
    if (!op->bits) return;
    print_digits(out, op);
    if (comma) lw_text_puts(out, ",");
}

static void print_ssa(lw_text *out, spellings *as, const lw_pto_op *op, const lw_pto_signature *s) {
    print_results(out, op);
    lw_text_puts(out, lw_pto_rows[op->id].name);
    print_front(out, op, s->in_count != 0);
    list operands = {out, 0}, types = {out, 0};
    if (s->in_count) lw_text_puts(out, " ");
    add_operands(&operands, s, op, ALL);
    print_attributes(out, &op->attributes, " ");
    lw_text_puts(out, " : ");
    bool closed = operands.count > 1 && s->out_count;
    if (closed) lw_text_puts(out, "(");
    add_types(&types, as, s, op, ALL);
    if (closed) lw_text_puts(out, ")");
    if (types.count && op->result_count) lw_text_puts(out, " -> ");
    if (op->result_count) print_types(out, as, op->results, op->result_count);
}

static void print_assembly(lw_text *out, spellings *as, const lw_pto_op *op, const lw_pto_signature *s) {
    list operands = {out, 0};
    lw_text_puts(out, lw_pto_rows[op->id].name + 4);
    print_front(out, op, true);
    lw_text_puts(out, " ");
    add_results(&operands, op);
    add_operands(&operands, s, op, ALL);
    print_attributes(out, &op->attributes, " ");
    lw_text_puts(out, " : ");
    print_type(out, as, op->type);
}

static void print_dps(lw_text *out, spellings *as, const lw_pto_op *op, const lw_pto_signature *s) {
    list ins = {out, 0}, in_types = {out, 0}, outs = {out, 0}, out_types = {out, 0};
    lw_text_puts(out, lw_pto_rows[op->id].name);
    print_front(out, op, false);
    if (s->in_count) {
        lw_text_puts(out, " ins(");
        add_operands(&ins, s, op, READ);
        lw_text_puts(out, " : ");
        add_types(&in_types, as, s, op, READ);
        lw_text_puts(out, ")");
    }
    lw_text_puts(out, " outs(");
    add_results(&outs, op);
    add_operands(&outs, s, op, STORED);
    lw_text_puts(out, " : ");
    add_result_types(&out_types, as, op);
    add_types(&out_types, as, s, op, STORED);
    lw_text_puts(out, ")");
    print_attributes(out, &op->attributes, " ");
}

static void print_constant(lw_text *out, spellings *as, const lw_pto_op *op) {
    print_results(out, op);
    lw_text_puts(out, "arith.constant");
    print_attributes(out, &op->attributes, " ");
    if (!op->digits) {
        lw_text_puts(out, op->value ? " true" : " false");
        return;
    }
    print_digits(out, op);
    lw_text_puts(out, " : ");
    print_type(out, as, op->results[0]->type);
}

static void print_mlir(lw_text *out, spellings *as, const lw_pto_op *op, const lw_pto_signature *s) {
    list operands = {out, 0};
    print_results(out, op);
    lw_text_puts(out, lw_pto_rows[op->id].name);
    print_front(out, op, true);
    lw_text_puts(out, " ");
    add_operands(&operands, s, op, ALL);
    print_attributes(out, &op->attributes, " ");
    lw_text_puts(out, " : ");
    print_type(out, as, op->operands[op->operand_count - 1]->type);
    if (s->in[0].shape != LW_PTO_SHAPE_INTEGER) return;
    lw_text_puts(out, " to ");
    print_type(out, as, op->results[0]->type);
}

/* ---- Control flow ---------------------------------------------------------------------------------------------- */

static void print_for(lw_text *out, spellings *as, const lw_pto_op *op) {
    const lw_pto_region *region = op->regions;
    print_results(out, op);
    lw_text_puts(out, "scf.for ");
    static const char *const between[] = {" = ", " to ", " step "};
    print_name(out, region->arguments[0]);
    for (uint32_t i = 0; i < 3; i++) lw_text_puts(out, between[i]), print_name(out, op->operands[i]);
    for (uint32_t i = 1; i < region->argument_count; i++) {
        lw_text_puts(out, i == 1 ? " iter_args(" : ", ");
        print_name(out, region->arguments[i]);
        lw_text_puts(out, " = ");
        print_name(out, op->operands[2 + i]);
    }
    if (region->argument_count > 1) {
        lw_text_puts(out, ") -> (");
        for (uint32_t i = 1; i < region->argument_count; i++)
            lw_text_puts(out, i > 1 ? ", " : ""), print_type(out, as, region->arguments[i]->type);
        lw_text_puts(out, ")");
    }
    if (op->type->element == LW_PTO_index) return;
    lw_text_puts(out, " : ");
    print_type(out, as, op->type);
}

static void print_if(lw_text *out, spellings *as, const lw_pto_op *op) {
    print_results(out, op);
    lw_text_puts(out, "scf.if ");
    print_name(out, op->operands[0]);
    for (uint32_t i = 0; i < op->result_count; i++)
        lw_text_puts(out, i ? ", " : " -> ("), print_type(out, as, op->results[i]->type);
    if (op->result_count) lw_text_puts(out, ")");
}

static void print_end(lw_text *out, spellings *as, const lw_pto_op *op) {
    lw_text_puts(out, op->id == LW_PTO_RETURN ? "return" : lw_pto_rows[op->id].name);
    print_attributes(out, &op->attributes, " ");
    for (uint32_t i = 0; i < op->operand_count; i++)
        lw_text_puts(out, i ? ", " : " "), print_name(out, op->operands[i]);
    for (uint32_t i = 0; i < op->operand_count; i++)
        lw_text_puts(out, i ? ", " : " : "), print_type(out, as, op->operands[i]->type);
}

static void print_op(lw_text *out, spellings *as, const lw_pto_op *op) {
    const lw_pto_row *row = &lw_pto_rows[op->id];
    lw_pto_signature s;
    switch (op->id) {
    case LW_PTO_FOR: print_for(out, as, op); return;
    case LW_PTO_IF: print_if(out, as, op); return;
    case LW_PTO_YIELD:
    case LW_PTO_RETURN: print_end(out, as, op); return;
    case LW_PTO_CONSTANT: print_constant(out, as, op); return;
    default: break;
    }
    lw_pto_signature_read(op->id, &s);
    if (row->page == LW_PTO_PAGE_MLIR) print_mlir(out, as, op, &s);
    else if (op->form == LW_PTO_SSA) print_ssa(out, as, op, &s);
    else if (op->form == LW_PTO_ASSEMBLY) print_assembly(out, as, op, &s);
    else print_dps(out, as, op, &s);
}

void lw_pto_print_op(lw_text *out, const lw_pto_op *op) { print_op(out, &(spellings){0}, op); }

/* ---- Comments -------------------------------------------------------------------------------------------------- */

typedef struct printer {
    lw_text *out;
    lw_pto_comments comments;
    spellings spellings;
} printer;

static void indent(lw_text *out, uint32_t depth) {
    while (depth--) lw_text_puts(out, "  ");
}

static void put_text(printer *p, lw_place place) {
    lw_text_add(p->out, p->comments.source->text + place.at, place.size);
}

/* Those up to an offset, on lines of their own. */
static void put_comments(printer *p, uint32_t end, uint32_t depth) {
    for (lw_place comment; lw_pto_next_comment(&p->comments, end, &comment);) {
        indent(p->out, depth);
        put_text(p, comment);
        lw_text_puts(p->out, "\n");
    }
}

static uint32_t end_of(lw_place place) { return place.at + place.size; }

/* The end of a line that stands for what ends at an offset, with the comment that stands behind it. */
static void end_line(printer *p, uint32_t at) {
    if (p->comments.at < at) p->comments.at = at;
    lw_place comment;
    if (lw_pto_next_comment(&p->comments, lw_pto_line_end(&p->comments, at), &comment)) {
        lw_text_puts(p->out, " ");
        put_text(p, comment);
    }
    lw_text_puts(p->out, "\n");
}

/* ---- Regions, functions, modules ------------------------------------------------------------------------------- */

static void print_region(printer *p, const lw_pto_region *region, uint32_t depth);

/* From the { to the }. */
static void print_braces(printer *p, const lw_pto_region *region, uint32_t header_end, uint32_t depth) {
    lw_text_puts(p->out, " {");
    end_line(p, header_end);
    print_region(p, region, depth + 1);
    put_comments(p, region->end.at, depth + 1);
    indent(p->out, depth);
    lw_text_puts(p->out, "}");
}

/* Loops and branches have their attributes behind the last }. Returns where it ends. */
static uint32_t print_nested(printer *p, const lw_pto_op *op, uint32_t depth) {
    uint32_t end = end_of(op->place);
    seek(&p->spellings, op->place.at);
    print_op(p->out, &p->spellings, op);
    for (uint32_t i = 0; i < op->region_count; i++) {
        if (i) lw_text_puts(p->out, " else");
        print_braces(p, &op->regions[i], end, depth);
        end = end_of(op->regions[i].end);
    }
    if (op->region_count) print_attributes(p->out, &op->attributes, " ");
    print_location(p->out, op->location);
    return end;
}

static void print_region(printer *p, const lw_pto_region *region, uint32_t depth) {
    for (uint32_t i = 0; i < region->count; i++) {
        const lw_pto_op *op = region->ops[i];
        if (op->id == LW_PTO_YIELD && !op->operand_count && !op->attributes.count && !op->location) continue;
        bool made = op->place.at == region->end.at; /* a terminator that is not written */
        put_comments(p, made ? op->place.at : end_of(op->place), depth);
        indent(p->out, depth);
        uint32_t end = print_nested(p, op, depth);
        if (made) lw_text_puts(p->out, "\n");
        else end_line(p, end);
    }
}

static void print_header(lw_text *out, spellings *as, const lw_pto_function *f) {
    lw_text_printf(out, "func.func %s%s%s(", f->visibility ? f->visibility : "", f->visibility ? " " : "",
                   f->name->text);
    for (uint32_t i = 0; i < f->argument_count; i++) {
        const lw_pto_value *a = f->arguments[i];
        if (i) lw_text_puts(out, ", ");
        if (a->name) lw_text_printf(out, "%s: ", a->name->text);
        print_type(out, as, a->type);
        print_attributes(out, &f->argument_attributes[i], " ");
        print_location(out, f->argument_locations[i]);
    }
    lw_text_puts(out, ")");
    bool closed = f->result_count > 1 || (f->result_count && f->result_attributes[0].count);
    for (uint32_t i = 0; i < f->result_count; i++) {
        lw_text_puts(out, i ? ", " : closed ? " -> (" : " -> ");
        print_type(out, as, f->results[i]);
        print_attributes(out, &f->result_attributes[i], " ");
    }
    if (closed) lw_text_puts(out, ")");
    print_attributes(out, &f->attributes, " attributes ");
}

void lw_pto_print_function(lw_text *out, const lw_pto_function *f) { print_header(out, &(spellings){0}, f); }

static void print_function(printer *p, const lw_pto_function *f, uint32_t depth) {
    uint32_t end = end_of(f->place);
    put_comments(p, end, depth);
    indent(p->out, depth);
    seek(&p->spellings, f->place.at);
    print_header(p->out, &p->spellings, f);
    if (f->has_body) {
        print_braces(p, &f->body, end, depth);
        end = end_of(f->body.end);
    }
    print_location(p->out, f->location);
    end_line(p, end);
}

static void print_group(printer *p, const lw_pto_group *group) {
    lw_text *out = p->out;
    if (group->written) {
        put_comments(p, group->place.at, 0);
        lw_text_puts(out, "module");
        if (group->name) lw_text_printf(out, " %s", group->name->text);
        print_attributes(out, &group->attributes, " attributes ");
        lw_text_puts(out, " {");
        end_line(p, end_of(group->place));
    }
    for (uint32_t i = 0; i < group->functions.count; i++) {
        if (i) lw_text_puts(out, "\n");
        print_function(p, group->functions.at[i], group->written);
    }
    if (!group->written) return;
    put_comments(p, group->end.at, 1);
    lw_text_puts(out, "}");
    print_location(out, group->location);
    end_line(p, end_of(group->end));
}

/* Those behind the first function or module come first, too. */
static void print_aliases(printer *p, const lw_pto_module *module) {
    uint32_t first = module->groups.count ? module->groups.at[0]->place.at : UINT32_MAX;
    for (uint32_t i = 0; i < module->aliases.count; i++) {
        const lw_pto_alias *alias = &module->aliases.at[i];
        bool leads = alias->place.at < first;
        if (leads) put_comments(p, alias->place.at, 0);
        lw_text_printf(p->out, "%s = %s", alias->name->text, alias->text);
        if (leads) end_line(p, end_of(alias->place));
        else lw_text_puts(p->out, "\n");
    }
}

void lw_pto_print(lw_text *out, const lw_pto_module *module) {
    printer p = {.out = out, .comments = {.source = module->source}};
    if (module->spelled.count)
        p.spellings = (spellings){module->spelled.at, module->spelled.at + module->spelled.count};
    print_aliases(&p, module);
    for (uint32_t i = 0; i < module->groups.count; i++) {
        if (i || module->aliases.count) lw_text_puts(out, "\n");
        print_group(&p, module->groups.at[i]);
    }
    put_comments(&p, module->source->size, 0);
}
