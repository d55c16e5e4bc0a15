/* pto.c: check and dump of PTO text. */
#include "tool/language.h"
#include "tool/pto.h"

/* ---- check ---------------------------------------------------------------------------------------------- */

static bool check(lw_tool_source *in, lw_pto_profile profile, void **module) {
    lw_pto_module *pto = NULL;
    const bool good = lw_pto_check(&in->arena, &in->source, &in->diags, profile, &pto);
    *module = pto;
    return good;
}

static bool list(const lw_tool_source *in, const void *checked, bool with_path) {
    const lw_pto_module *module = checked;
    lw_text out = {0};
    for (uint32_t i = 0; i < module->functions.count; i++) {
        const lw_pto_function *f = module->functions.at[i];
        if (!f->has_body) continue;
        if (with_path) lw_text_printf(&out, "%s: ", in->source.name);
        lw_pto_print_function(&out, f);
        lw_text_puts(&out, "\n");
    }
    return lw_tool_print(in, &out);
}

static void summarise(lw_text *out, const void *checked) {
    const lw_pto_module *module = checked;
    uint32_t functions = module->functions.count;
    lw_text_printf(out, "%u function%s, %u operation%s", functions, functions == 1 ? "" : "s", module->op_count,
                   module->op_count == 1 ? "" : "s");
}

/* ---- Tokens ----------------------------------------------------------------------------------------------- */

static void format(lw_tool_source *in, lw_text *out) {
    const lw_pto_module *module = lw_pto_parse(&in->arena, &in->source, &in->diags);
    if (!in->diags.errors) lw_pto_print(out, module);
}

static int tokens(lw_tool_source *in) {
    static const char *const kinds[] = {
        [LW_PTO_TOKEN_END] = "end",       [LW_PTO_TOKEN_WORD] = "word",   [LW_PTO_TOKEN_VALUE] = "value",
        [LW_PTO_TOKEN_AT] = "symbol",     [LW_PTO_TOKEN_HASH] = "hash",   [LW_PTO_TOKEN_TYPE] = "type",
        [LW_PTO_TOKEN_CARET] = "caret",   [LW_PTO_TOKEN_INT] = "int",     [LW_PTO_TOKEN_FLOAT] = "float",
        [LW_PTO_TOKEN_STRING] = "string", [LW_PTO_TOKEN_PUNCT] = "punct",
    };
    lw_symbols symbols;
    lw_symbols_init(&symbols, &in->arena);
    lw_pto_lexer lexer = {.source = &in->source, .diags = &in->diags, .symbols = &symbols};
    lw_pto_token token = {0};
    do {
        lw_pto_lex(&lexer, &token);
        if (!lw_tool_print_token(in, token.place, kinds[token.kind],
                                 token.kind == LW_PTO_TOKEN_INT ? &token.value : NULL))
            return LW_EXIT_MACHINE;
    } while (token.kind != LW_PTO_TOKEN_END);
    return lw_tool_finish(in);
}

/* ---- Module ------------------------------------------------------------------------------------------------ */

static void put_region(lw_text *out, lw_tool_source *in, const lw_pto_region *region, uint32_t depth) {
    static const char *const forms[] = {[LW_PTO_SSA] = "", [LW_PTO_ASSEMBLY] = "assembly", [LW_PTO_DPS] = "DPS"};
    for (uint32_t i = 0; i < region->count; i++) {
        const lw_pto_op *op = region->ops[i];
        lw_tool_put_place(out, in, op->place);
        lw_text_printf(out, "%-16s %-9s%s%*s", lw_pto_rows[op->id].name, forms[op->form],
                       op->merges[0] ? "merges " : "       ", (int)(2 * depth), "");
        lw_pto_print_op(out, op);
        lw_text_puts(out, "\n");
        for (uint32_t k = 0; k < op->region_count; k++) put_region(out, in, &op->regions[k], depth + 1);
    }
}

static void put_function(lw_text *out, lw_tool_source *in, const lw_pto_function *f) {
    lw_tool_put_place(out, in, f->place);
    lw_pto_print_function(out, f);
    lw_text_printf(out, "  %u values, %u operations%s\n", f->value_count, f->op_count,
                   f->has_body ? "" : ", declaration");
    if (f->has_body) put_region(out, in, &f->body, 0);
}

static int dump_module(lw_tool_source *in, const lw_dump *dump) {
    lw_pto_module *module = NULL;
    if (!lw_pto_check(&in->arena, &in->source, &in->diags, dump->profile, &module)) return lw_tool_finish(in);
    lw_dump_names names = {0};
    lw_text out = {0};
    for (uint32_t i = 0; i < module->functions.count; i++) {
        const lw_pto_function *f = module->functions.at[i];
        if (lw_dump_wants(in, dump, &names, f->name->text + 1, f->has_body)) put_function(&out, in, f);
    }
    if (!lw_tool_print(in, &out)) return LW_EXIT_MACHINE;
    return lw_dump_end(in, dump, &lw_tool_pto, &names);
}

/* ---- Programs ---------------------------------------------------------------------------------------------- */

static int programs(lw_tool_source *in, const lw_dump *dump) {
    lw_pto_module *module = NULL;
    if (!lw_pto_check(&in->arena, &in->source, &in->diags, dump->profile, &module)) return lw_tool_finish(in);
    lw_dump_names names = {0};
    for (uint32_t i = 0; i < module->functions.count; i++) {
        const lw_pto_function *f = module->functions.at[i];
        if (!f->has_body || !lw_dump_wants(in, dump, &names, f->name->text + 1, f->has_body)) continue;
        if (!lw_dump_program(in, dump, lw_lower_pto(&in->arena, module, f, dump->choices, &in->diags)))
            return LW_EXIT_MACHINE;
    }
    return lw_dump_end(in, dump, &lw_tool_pto, &names);
}

const lw_tool_language lw_tool_pto = {
    .of = &lw_language_pto,
    .title = "PTO",
    .how = "--func",
    .has_profiles = true,
    .check = check,
    .summarise = summarise,
    .list = list,
    .format = format,
    .tokens = tokens,
    .module = dump_module,
    .programs = programs,
};
