/* dump.c: a program as text, over virtual registers or over slots, for `lanewise dump --stage program` and `interp`. */
#include "middle/lower.h"
#include "middle/matrix.h"

#include <stdio.h>

const char *lw_opcode_name(uint16_t code, char buffer[64]) {
    static const char *const variants[] = {"", ".i", ".ri", ".ii"};
    const char *name = lw_row_of(code)->name;
    if (code < LW_OP_lop3) return name;
    if (code < LW_OP_lane) snprintf(buffer, 64, "%s.0x%02x", name, code - LW_OP_lop3);
    else snprintf(buffer, 64, "%s%s", name, variants[(code - LW_OP_lane) % LW_VARIANTS]);
    return buffer;
}

const char *const lw_window_names[LW_WINDOWS] = {
    [LW_WINDOW_generic] = "generic", [LW_WINDOW_global] = "global", [LW_WINDOW_shared] = "shared",
    [LW_WINDOW_local] = "local",     [LW_WINDOW_param] = "param",   [LW_WINDOW_const] = "const",
    [LW_WINDOW_cluster] = "cluster",
};

static void put_form(lw_text *out, const lw_op *op) {
    lw_memory_form form = lw_memory_unpack(op->c);
    lw_text_printf(out, " %s.%s%u", lw_window_names[form.window], form.is_signed ? "s" : "b", 8u << form.size);
    if (form.vector) lw_text_printf(out, ".v%u", 1u << form.vector);
    if (form.is_volatile) lw_text_puts(out, ".volatile");
    if (form.is_indexed) lw_text_puts(out, ".indexed");
    lw_text_printf(out, " r%u", 8u << form.slot);
}

static void put_constants(lw_text *out, const lw_code *code, uint64_t first, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        lw_text_printf(out, "%s0x%llx", i ? "," : " constant=", (unsigned long long)code->constants[first + i]);
}

/* Behind a word: a slot; or a virtual register, with its type, or the value that it is known to have. */
static void put_register(lw_text *out, const lw_code *code, const char *word, uint32_t at) {
    static const char *const types[] = {
        [LW_CLASS_pred] = "p", [LW_CLASS_16] = "b16", [LW_CLASS_32] = "b32", [LW_CLASS_64] = "b64"};
    if (!code->registers) {
        lw_text_printf(out, "%s%u", word, at);
        return;
    }
    const lw_register *r = &code->registers[at];
    if (r->is_const) lw_text_printf(out, "%s0x%llx:%s", word, (unsigned long long)r->value, types[r->class]);
    else lw_text_printf(out, "%s%%%u:%s", word, at, types[r->class]);
}

/* The registers of a list that are not all in `d`. */
static void put_list(lw_text *out, const lw_code *code, const lw_op *op, uint8_t access, const char *name) {
    const char *before = name;
    const uint32_t *fields = &op->d;
    LW_EACH_(code, op, at, access) {
        if (at >= fields && at < fields + LW_FIELDS) continue;
        put_register(out, code, before, *at);
        before = ",";
    }
}

/* One of d a b c e. A number in the place of a register has a #. */
static void put_field(lw_text *out, const lw_code *code, const lw_op *op, uint32_t k) {
    static const uint16_t numbers[] = {0, LW_OP_IMM_A, LW_OP_IMM_B, LW_OP_IMM_C, 0};
    static const char *const words[] = {" d=", " a=", " b=", " c=", " e="};
    const lw_op_row *row = lw_row_of(op->code);
    const lw_holds holds = (lw_holds)(&row->holds.d)[k];
    const uint32_t value = (&op->d)[k];
    const bool is_number = op->flags & numbers[k];
    if (value == LW_NO_SLOT || holds == LW_HOLDS_nothing || holds == LW_HOLDS_form) return;
    const bool is_register = (lw_row_has(row, LW_READ, k) || lw_row_has(row, LW_WRITTEN, k)) && !is_number;
    if (is_register) put_register(out, code, words[k], value);
    else if (holds == LW_HOLDS_lane) lw_text_printf(out, " lane=%s", lw_lane_name((lw_lane_id)value));
    else if (holds != LW_HOLDS_constant) lw_text_printf(out, "%s%s%u", words[k], is_number ? "#" : "", value);
    else if (is_number) put_constants(out, code, value, 1);
}

static void put_matrices(lw_text *out, const lw_matrix_form *form) {
    lw_text_printf(out, " m%un%uk%u", form->m, form->n, form->k);
    for (uint32_t k = LW_MMA_D; k <= LW_MMA_C; k++)
        lw_text_printf(out, " %s*%u", lw_elements[form->of[k].element].name, form->of[k].registers);
    if (form->of[LW_MMA_E].registers) lw_text_printf(out, " sparse %u", form->selector);
    if (form->scales) lw_text_printf(out, " %s*%u", lw_elements[form->of[LW_MMA_SA].element].name, form->scales);
}

static void put_imm(lw_text *out, const lw_code *code, const lw_op *op) {
    const lw_holds holds = (lw_holds)lw_row_of(op->code)->holds.imm;
    if (op->code == LW_OP_mma) put_matrices(out, lw_matrix_form_of(code, op));
    else if (holds == LW_HOLDS_constants) put_constants(out, code, op->imm, (op->c + 63) / 64);
    if (holds == LW_HOLDS_lane) lw_text_printf(out, " lane=%s", lw_lane_name((lw_lane_id)(uint32_t)op->imm));
    if (op->imm) lw_text_printf(out, " imm=0x%llx", (unsigned long long)op->imm);
}

static void put_flags(lw_text *out, const lw_op *op) {
    static const char *const words[] = {
#define FLAG(name, word) word,
#include "op_modes.def"
    };
    for (uint32_t k = 0; k < LW_OP_FLAG_BITS; k++)
        if (op->flags >> k & 1 && *words[k]) lw_text_printf(out, " %s", words[k]);
}

static void put_op(lw_text *out, const lw_code *code, const lw_op *op) {
    char name[64];
    const lw_op_row *row = lw_row_of(op->code);
    lw_text_printf(out, "        %s", lw_opcode_name(op->code, name));
    if (row->mode && *lw_op_mode_word(op)) lw_text_printf(out, " %s", lw_op_mode_word(op));
    if (lw_op_does(op, LW_DOES_MEMORY)) put_form(out, op);
    if (row->list == LW_LIST_loaded || row->list == LW_LIST_stored) {
        if (!lw_memory_unpack(op->c).vector && op->d != LW_NO_SLOT) put_register(out, code, " d=", op->d);
        put_list(out, code, op, row->list == LW_LIST_loaded ? LW_WRITTEN : LW_READ, " d=");
    }
    for (uint32_t k = 0; k < LW_FIELDS; k++) put_field(out, code, op, k);
    if (row->list == LW_LIST_call || row->list == LW_LIST_returns || row->list == LW_LIST_pairs ||
        row->list == LW_LIST_texels || row->list == LW_LIST_matrices) {
        put_list(out, code, op, LW_READ, " from=");
        put_list(out, code, op, LW_WRITTEN, " to=");
    }
    put_flags(out, op);
    put_imm(out, code, op);
    lw_text_puts(out, "\n");
}

static void put_block(lw_text *out, const lw_code *code, const lw_op *op) {
    const lw_block *block = &code->blocks[op->a];
    lw_text_printf(out, "  block %u (%llu instructions)", op->a, (unsigned long long)op->imm);
    for (uint32_t k = 0; code->registers && k < block->successor_count; k++)
        lw_text_printf(out, "%s%u", k ? " " : ", then ", block->successors[k]);
    lw_text_puts(out, "\n");
}

static void put_code(lw_text *out, const lw_program *program, const lw_code *code) {
    lw_source *source = program->source;
    lw_text_printf(out, "%s %s: %u operations, %u blocks, %u registers, ", code->is_entry ? "kernel" : "function",
                   code->name, code->op_count, code->block_count, code->register_count);
    if (!code->registers) lw_text_printf(out, "frame %u bytes, ", code->frame_bytes);
    lw_text_printf(out, "local %u bytes\n", code->local_bytes);
    for (uint32_t i = 0; i < code->fill_count; i++)
        lw_text_printf(out, "    constant slot %u = 0x%llx\n", code->fills[i].at,
                       (unsigned long long)code->fills[i].value);
    uint32_t shown = UINT32_MAX;
    for (uint32_t n = 0; n < code->op_count; n++) {
        const lw_op *op = &code->ops[n];
        if (op->code == LW_OP_block) put_block(out, code, op);
        uint32_t line;
        lw_source_find(source, code->places[n].at, &line, NULL);
        if (line != shown && source->part_count > 1) /* a function is of one text */
            lw_text_printf(out, "    %s line %u\n", lw_source_part_of(source, code->places[n].at)->name, line);
        else if (line != shown) lw_text_printf(out, "    line %u\n", line);
        shown = line;
        if (op->code != LW_OP_block) put_op(out, code, op);
    }
}

void lw_program_dump(lw_text *out, const lw_program *program, lw_code *const *codes) {
    lw_text_printf(out, "program: %u bytes of parameters, %u bytes of static shared memory, %llu instructions\n",
                   program->param_bytes, program->shared_bytes, (unsigned long long)program->instruction_count);
    for (uint32_t i = 0; i < program->code_count; i++) put_code(out, program, codes[i]);
}
