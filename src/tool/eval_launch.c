/* eval_launch.c: the small module around one instruction, and its launch: a thread for each lane, 16 bytes for each
 * operand of each lane. */
#include <stdlib.h>

#include "middle/program.h"
#include "tool/eval.h"

enum { SLOT = 16 };

/* ---- The module --------------------------------------------------------------------------------------- */

static void declare(lw_text *out, const lw_eval_operand *o) {
    if (o->type == LW_T_pred) lw_text_printf(out, ".reg .pred %s;\n", o->name);
    else lw_text_printf(out, ".reg .b%u %s;\n", lw_types[o->type].bits, o->name);
}

static void load(lw_text *out, const lw_eval_operand *o, uint32_t slot) {
    uint32_t bits = lw_types[o->type].bits, at = slot * SLOT;
    if (o->type == LW_T_pred) lw_text_printf(out, "ld.global.u32 $w, [$at+%u];\nsetp.ne.u32 %s, $w, 0;\n", at, o->name);
    else if (bits == 128)
        lw_text_printf(out, "ld.global.v2.b64 {$low, $high}, [$at+%u];\nmov.b128 %s, {$low, $high};\n", at, o->name);
    else lw_text_printf(out, "ld.global.b%u %s, [$at+%u];\n", bits, o->name, at);
}

static void store(lw_text *out, const lw_eval_operand *o, uint32_t slot) {
    uint32_t bits = lw_types[o->type].bits, at = slot * SLOT;
    if (o->type == LW_T_pred) lw_text_printf(out, "selp.u32 $w, 1, 0, %s;\nst.global.u32 [$at+%u], $w;\n", o->name, at);
    else if (bits == 128)
        lw_text_printf(out, "mov.b128 {$low, $high}, %s;\nst.global.v2.b64 [$at+%u], {$low, $high};\n", o->name, at);
    else lw_text_printf(out, "st.global.b%u [$at+%u], %s;\n", bits, at, o->name);
}

/* The text that was given stands on lines of its own; *line is the first of them. */
static void write_module(const lw_eval *e, lw_text *out, uint32_t *line) {
    lw_text_printf(out, ".version %u.%u\n.target sm_%u%s\n.address_size 64\n", e->version / 10, e->version % 10,
                   e->target, e->portable ? "" : "a");
    lw_text_puts(out, ".visible .entry eval(.param .u64 $buffer)\n{\n"
                      ".reg .b64 $base, $at, $low, $high;\n.reg .b32 $lane, $w, $carry;\n");
    for (uint32_t i = 0; i < e->operand_count; i++) declare(out, &e->operands[i]);
    lw_text_printf(out,
                   "ld.param.u64 $base, [$buffer];\nmov.u32 $lane, %%tid.x;\n"
                   "mad.wide.u32 $at, $lane, %u, $base;\n",
                   (e->operand_count + 1) * SLOT);
    for (uint32_t i = 0; i < e->operand_count; i++)
        if (e->operands[i].read) load(out, &e->operands[i], i);
    if (e->takes_carry) lw_text_printf(out, "mov.u32 $w, %u;\nadd.cc.u32 $w, $w, 0xffffffff;\n", e->carry);
    *line = 1;
    for (size_t i = 0; i < out->size; i++) *line += out->at[i] == '\n';
    lw_text_printf(out, "%s\n%s\n;\n", e->source.text, e->tail);
    if (e->gives_carry)
        lw_text_printf(out, "addc.u32 $carry, 0, 0;\nst.global.b32 [$at+%u], $carry;\n", e->operand_count * SLOT);
    for (uint32_t i = 0; i < e->operand_count; i++)
        if (e->operands[i].written) store(out, &e->operands[i], i);
    lw_text_puts(out, "ret;\n}\n");
}

/* ---- Faults ------------------------------------------------------------------------------------------- */

/* A place of the module within the text that was given; all of that where it is outside. */
static lw_place place_inside(const lw_eval *e, uint32_t first, uint32_t line, uint32_t column, uint32_t size) {
    if (line >= first && line - first < e->source.line_count) {
        uint32_t at = e->source.lines[line - first] + column - 1;
        if (at < e->source.size) return (lw_place){at, size};
    }
    return (lw_place){0, e->source.size};
}

static lw_diag_id id_of(uint32_t number) {
    const lw_diag_row *row = lw_diag_find(number);
    return row ? (lw_diag_id)(row - lw_diag_rows) : LW_D_eval_text;
}

static int bad_source(lw_eval *e, lw_module *module, uint32_t first) {
    for (size_t i = 0; i < lw_module_diagnostic_count(module); i++) {
        lw_diagnostic d = lw_module_diagnostic(module, i);
        if (d.severity != LW_WARNING) /* that a form is old is no matter here */
            lw_eval_report(e, id_of(d.number), place_inside(e, first, d.line, d.column, d.size), d.message, d.fix);
    }
    return LW_EXIT_SOURCE;
}

static int failed(lw_eval *e, lw_context *context, lw_module *module, lw_status status, uint32_t first) {
    lw_trap_info trap;
    switch (status) {
    case LW_BAD_SOURCE: return bad_source(e, module, first);
    case LW_TRAPPED:
        if (lw_trap(context, &trap))
            lw_eval_report(e, id_of(trap.number),
                           place_inside(e, first, trap.line, trap.column, e->instruction->mnemonic_place.size),
                           trap.message, NULL);
        return LW_EXIT_TRAPPED;
    case LW_STOPPED: lw_tool_error(LW_D_stopped, "command", "eval", lw_tool_why(context)); return LW_EXIT_STOPPED;
    case LW_NO_MEMORY: lw_tool_error(LW_D_no_memory, lw_tool_why(context)); return LW_EXIT_MACHINE;
    case LW_UNSUPPORTED: lw_tool_error(LW_D_machine_lacks, lw_tool_why(context)); return LW_EXIT_MACHINE;
    default: lw_tool_error(LW_D_launch_refused, lw_tool_why(context)); return LW_EXIT_USAGE;
    }
}

/* ---- The launch --------------------------------------------------------------------------------------- */

static void fill(const lw_eval *e, char *data) {
    uint32_t stride = (e->operand_count + 1) * SLOT;
    for (uint32_t lane = 0; lane < e->lanes; lane++)
        for (uint32_t i = 0; i < e->operand_count; i++)
            memcpy(data + lane * stride + i * SLOT, &e->operands[i].lanes[lane], sizeof(lw_word));
}

/* Bits beyond the type's are no part of a result: those of narrow types in their registers, old bits in the buffer. */
static lw_word cut(lw_word word, lw_type type) {
    uint32_t bits = lw_types[type].bits;
    if (bits < 128) word.high = 0;
    if (bits < 64) word.low &= (UINT64_C(1) << bits) - 1;
    return word;
}

static void take(lw_eval *e, const char *data) {
    uint32_t stride = (e->operand_count + 1) * SLOT;
    for (uint32_t i = 0; i < e->operand_count; i++)
        for (uint32_t lane = 0; e->operands[i].written && lane < e->lanes; lane++) {
            lw_word word;
            memcpy(&word, data + lane * stride + i * SLOT, sizeof word);
            e->operands[i].lanes[lane] = cut(word, e->operands[i].type);
        }
    if (!e->gives_carry || e->operand_count == LW_EVAL_OPERANDS) return;
    lw_eval_operand *carry = &e->operands[e->operand_count];
    *carry = (lw_eval_operand){.name = "carry", .type = LW_T_pred, .written = true};
    for (uint32_t lane = 0; lane < e->lanes; lane++)
        memcpy(&carry->lanes[lane].low, data + lane * stride + e->operand_count * SLOT, 4);
    e->operand_count++;
}

static lw_status launch(lw_eval *e, lw_context *context, lw_kernel *kernel, char *data) {
    uint64_t size = (uint64_t)e->lanes * (e->operand_count + 1) * SLOT, buffer;
    lw_launch_config config = {.grid = {1, 1, 1}, .block = {e->lanes, 1, 1}, .time_limit = 10};
    lw_status status = lw_memory_new(context, size, &buffer);
    if (!status) status = lw_memory_write(context, buffer, data, size);
    if (!status) status = lw_launch(kernel, &config, (void *[]){&buffer}, NULL);
    if (!status) status = lw_memory_read(context, buffer, data, size);
    return status;
}

static int run_module(lw_eval *e, lw_context *context, const char *text, size_t size, uint32_t line) {
    lw_module *module = NULL;
    lw_kernel *kernel = NULL;
    char *data = lw_arena_alloc(e->arena, (size_t)LW_EVAL_LANES * (LW_EVAL_OPERANDS + 1) * SLOT);
    lw_status status = lw_module_new(context, "<instruction>", text, size, &module);
    if (!status) status = lw_module_kernel(module, "eval", &kernel);
    fill(e, data);
    if (!status) status = launch(e, context, kernel, data);
    if (status) return failed(e, context, module, status, line);
    take(e, data);
    return LW_EXIT_OK;
}

static bool semantics_differ(lw_context *context) {
    const lw_launch_note *notes;
    size_t count = lw_launch_notes(context, &notes);
    for (size_t i = 0; i < count; i++)
        if (notes[i].number == lw_diag_rows[LW_D_note_semantics].number) return true;
    return false;
}

int lw_eval_launch(lw_eval *e) {
    lw_context *context;
    lw_text text = {0};
    uint32_t line = 0;
    write_module(e, &text, &line);
    const char *kept = lw_arena_keep(e->arena, &text);
    e->options.threads = 1;
    int code = lw_tool_context(&e->options, &context);
    if (code) return code;
    code = run_module(e, context, kept, strlen(kept), line);
    e->semantics = lw_context_semantics(context); /* a name that lasts */
    e->differs = !code && semantics_differ(context);
    lw_context_free(context);
    return code;
}

int lw_eval_run(lw_eval *e) {
    int code = lw_eval_plan(e);
    return code ? code : lw_eval_launch(e);
}

int lw_eval_show(lw_text *out, lw_eval *e) {
    lw_eval *other = LW_NEW(e->arena, lw_eval);
    *other = *e; /* as it was given */
    int code = lw_eval_run(e);
    if (code) return code;
    if (e->differs) lw_text_printf(out, "%s\n", e->semantics);
    lw_eval_print(out, e);
    if (!e->differs) return LW_EXIT_OK;
    bool by_manual = !strcmp(e->semantics, lw_semantics_names[LW_SEMANTICS_manual]);
    other->options.semantics = lw_semantics_names[by_manual ? LW_SEMANTICS_sm_90 : LW_SEMANTICS_manual];
    code = lw_eval_run(other);
    if (code) return code;
    lw_text_printf(out, "%s\n", other->semantics);
    lw_eval_print(out, other);
    return LW_EXIT_OK;
}
