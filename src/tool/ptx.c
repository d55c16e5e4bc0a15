/* ptx.c: check, format and dump of PTX text. */
#include "middle/ptx.h"
#include "session/session.h"
#include "tool/language.h"

/* ---- check ------------------------------------------------------------------------------------------ */

static void print_directives(lw_text *out, const lw_function *function) {
    for (uint32_t i = 0; i < function->directives.count; i++) {
        const lw_directive *d = &function->directives.at[i];
        lw_text_printf(out, " .%s", d->name->text);
        for (uint32_t j = 0; j < d->value_count; j++)
            lw_text_printf(out, "%s%llu", j ? "," : " ", (unsigned long long)d->values[j]);
    }
}

/* False: there was no memory, which it has reported. */
static bool list(const lw_tool_source *in, const void *checked, bool with_path) {
    const lw_module_ptx *module = checked;
    lw_text out = {0};
    for (uint32_t i = 0; i < module->functions.count; i++) {
        const lw_function *f = module->functions.at[i];
        if (!f->is_entry || !f->has_body) continue;
        if (with_path) lw_text_printf(&out, "%s: ", in->source.name);
        lw_text_printf(&out, "%s(", f->object->name->text);
        for (uint32_t j = 0; j < f->param_count; j++) {
            const lw_object *p = f->params[j];
            if (j) lw_text_puts(&out, ", ");
            lw_param_print(&out, p->name->text, lw_types[p->type].name, (uint32_t)p->size, p->is_pointer);
        }
        lw_text_puts(&out, ")");
        print_directives(&out, f);
        lw_text_puts(&out, "\n");
    }
    return lw_tool_print(in, &out);
}

static bool check(lw_tool_source *in, lw_pto_profile profile, void **module) {
    lw_module_ptx *ptx = NULL;
    (void)profile;
    const bool good = lw_ptx_check(&in->arena, &in->source, &in->diags, NULL, &ptx);
    *module = ptx;
    return good;
}

static void summarise(lw_text *out, const void *checked) {
    const lw_module_ptx *module = checked;
    uint32_t kernels = 0, functions = 0;
    for (uint32_t i = 0; i < module->functions.count; i++)
        if (module->functions.at[i]->has_body) ++*(module->functions.at[i]->is_entry ? &kernels : &functions);
    lw_put_count(out, kernels, "kernel");
    lw_text_puts(out, ", ");
    lw_put_count(out, functions, "function");
    lw_text_puts(out, ", ");
    lw_put_count(out, module->instruction_count, "instruction");
}

static void format(lw_tool_source *in, lw_text *out) {
    const lw_module_ptx *module = lw_ptx_parse(&in->arena, &in->source, &in->diags);
    if (!in->diags.errors) lw_ptx_print(out, module);
}

/* ---- Tokens ------------------------------------------------------------------------------------------- */

static int tokens(lw_tool_source *in) {
    static const char *const kinds[] = {
        [LW_TOKEN_END] = "end",     [LW_TOKEN_NAME] = "name",     [LW_TOKEN_DOT] = "dot",     [LW_TOKEN_INT] = "int",
        [LW_TOKEN_FLOAT] = "float", [LW_TOKEN_STRING] = "string", [LW_TOKEN_PUNCT] = "punct",
    };
    lw_symbols symbols;
    lw_symbols_init(&symbols, &in->arena);
    lw_lexer lexer = {.source = &in->source, .diags = &in->diags, .symbols = &symbols};
    lw_token token = {0};
    do {
        lw_lex(&lexer, &token);
        if (token.kind == LW_TOKEN_END) token.place.size = 0;
        bool is_number = token.kind == LW_TOKEN_INT || token.kind == LW_TOKEN_FLOAT;
        if (!lw_tool_print_token(in, token.place, kinds[token.kind], is_number ? &token.value : NULL))
            return LW_EXIT_MACHINE;
    } while (token.kind != LW_TOKEN_END);
    return lw_tool_finish(in);
}

/* ---- Module ------------------------------------------------------------------------------------------- */

static void put_variable(lw_text *out, const lw_object *v) {
    static const char *const linkages[] = {[LW_LINK_none] = "",
                                           [LW_LINK_extern] = "extern ",
                                           [LW_LINK_visible] = "visible ",
                                           [LW_LINK_weak] = "weak ",
                                           [LW_LINK_common] = "common "};
    static const char *const spaces[] = {
        [LW_SPACE_none] = "none",
#define SPACE(name) [LW_SPACE_##name] = #name,
#include "ptx/spaces.def"
    };
    lw_text_printf(out, "%s.%s ", linkages[v->linkage], spaces[v->space]);
    if (v->vector > 1) lw_text_printf(out, ".v%u ", v->vector);
    lw_text_printf(out, ".%s %s", lw_types[v->type].name, v->name->text);
    if (v->is_range) lw_text_printf(out, "<%u>", v->range);
    for (uint32_t i = 0; i < v->dimension_count; i++) {
        if (v->unsized && !i) lw_text_puts(out, "[]");
        else lw_text_printf(out, "[%llu]", (unsigned long long)v->dimensions[i]);
    }
    if (v->space != LW_SPACE_reg) lw_text_printf(out, "  size %llu align %u", (unsigned long long)v->size, v->align);
    if (v->init) lw_text_puts(out, " initialised");
    if (v->is_pointer) lw_text_printf(out, " pointer %s align %u", spaces[v->pointer_space], v->pointer_align);
    lw_text_puts(out, "\n");
}

static void put_statement(lw_text *out, lw_tool_source *in, const lw_statement *s) {
    lw_tool_put_place(out, in, s->place);
    switch (s->kind) {
    case LW_S_INSTRUCTION: {
        const lw_match *match = s->instruction->match;
        lw_text_printf(out, "%-20s ", match ? match->form->id : "?");
        lw_ptx_print_instruction(out, s->instruction);
        lw_text_puts(out, "\n");
        break;
    }
    case LW_S_LABEL: lw_text_printf(out, "label %s\n", s->object->name->text); break;
    case LW_S_VARIABLE: put_variable(out, s->object); break;
    case LW_S_OPEN: lw_text_puts(out, "{\n"); break;
    case LW_S_CLOSE: lw_text_puts(out, "}\n"); break;
    case LW_S_PROTOTYPE: lw_text_printf(out, "prototype %s\n", s->object->name->text); break;
    case LW_S_TARGETS: lw_text_printf(out, "targets %s (%u)\n", s->object->name->text, s->object->target_count); break;
    case LW_S_LOC: lw_text_printf(out, "loc %u %u %u\n", s->loc.file, s->loc.line, s->loc.column); break;
    case LW_S_PRAGMA: lw_text_printf(out, "pragma %s\n", s->text); break;
    case LW_S_DIRECTIVE: lw_text_printf(out, "directive %s\n", s->text); break;
    }
}

static void put_function(lw_text *out, lw_tool_source *in, const lw_function *f) {
    lw_tool_put_place(out, in, f->place);
    lw_text_printf(out, "%s %s: %u instructions, %u labels, %u registers%s\n", f->is_entry ? "entry" : "func",
                   f->object->name->text, f->instruction_count, f->label_count, f->register_count,
                   f->has_body ? "" : ", declaration");
    for (uint32_t i = 0; i < f->return_count; i++) lw_text_puts(out, "    return "), put_variable(out, f->returns[i]);
    for (uint32_t i = 0; i < f->param_count; i++) lw_text_puts(out, "    param  "), put_variable(out, f->params[i]);
    for (uint32_t i = 0; i < f->directives.count; i++) {
        const lw_directive *d = &f->directives.at[i];
        lw_text_printf(out, "    .%s", d->name->text);
        for (uint32_t j = 0; j < d->value_count; j++)
            lw_text_printf(out, "%s%llu", j ? ", " : " ", (unsigned long long)d->values[j]);
        lw_text_puts(out, "\n");
    }
    for (uint32_t i = 0; i < f->body.count; i++) put_statement(out, in, &f->body.at[i]);
}

static int dump_module(lw_tool_source *in, const lw_dump *o) {
    lw_module_ptx *module = NULL;
    lw_ptx_check(&in->arena, &in->source, &in->diags, NULL, &module);
    lw_text out = {0};
    for (uint32_t i = 0; !o->kernel && i < module->linked_count; i++)
        lw_text_printf(&out, "%s: version %u.%u, target sm_%u%.1s\n", module->linked[i]->source->name,
                       module->linked[i]->version / 10, module->linked[i]->version % 10, module->linked[i]->target,
                       &module->linked[i]->target_suffix);
    if (!o->kernel) {
        lw_text_printf(&out, "version %u.%u, target sm_%u%.1s, address size %u, %u instructions\n",
                       module->version / 10, module->version % 10, module->target, &module->target_suffix,
                       module->address_size, module->instruction_count);
        for (uint32_t i = 0; i < module->variables.count; i++) {
            lw_tool_put_place(&out, in, module->variables.at[i]->place);
            put_variable(&out, module->variables.at[i]);
        }
    }
    lw_dump_names names = {0};
    for (uint32_t i = 0; i < module->functions.count; i++) {
        const lw_function *f = module->functions.at[i];
        if (lw_dump_wants(in, o, &names, f->object->name->text, f->is_entry)) put_function(&out, in, f);
    }
    if (!lw_tool_print(in, &out)) return LW_EXIT_MACHINE;
    return lw_dump_end(in, o, &lw_tool_ptx, &names);
}

/* ---- Programs ------------------------------------------------------------------------------------------ */

/* Variables get places one behind the other; a run gives them others. */
static void place_variables(lw_module_ptx *module) {
    uint64_t at = LW_GLOBAL_HIGH;
    for (uint32_t i = 0; i < module->variables.count; i++) {
        lw_object *v = module->variables.at[i];
        if (v->space != LW_SPACE_global && v->space != LW_SPACE_const) continue;
        at = (at + 255) & ~UINT64_C(255);
        v->address = at;
        at += v->size;
    }
}

static int programs(lw_tool_source *in, const lw_dump *dump) {
    lw_module_ptx *module = NULL;
    if (!lw_ptx_check(&in->arena, &in->source, &in->diags, NULL, &module)) return lw_tool_finish(in);
    place_variables(module);
    lw_dump_names names = {0};
    for (uint32_t i = 0; i < module->functions.count; i++) {
        lw_function *f = module->functions.at[i];
        if (!f->is_entry || !f->has_body || !lw_dump_wants(in, dump, &names, f->object->name->text, true)) continue;
        if (!lw_dump_program(in, dump, lw_lower_ptx(&in->arena, module, f, dump->chosen->semantics, &in->diags)))
            return LW_EXIT_MACHINE;
    }
    return lw_dump_end(in, dump, &lw_tool_ptx, &names);
}

const lw_tool_language lw_tool_ptx = {
    .of = &lw_language_ptx,
    .title = "PTX",
    .how = "--kernel",
    .check = check,
    .summarise = summarise,
    .list = list,
    .format = format,
    .tokens = tokens,
    .module = dump_module,
    .programs = programs,
};
