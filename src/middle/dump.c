/* dump.c: a program as text, for `lanewise dump --stage program`. */
#include "middle/lower.h"

#include <stdio.h>

static const char *const names[] = {
#define OP(name, fields) #name,
#include "middle/ops.def"
};

const char *lw_opcode_name(uint16_t code, char buffer[64]) {
    static const char *const variants[] = {"", ".i", ".ri", ".ii"};
    if (code < LW_OP_lop3) return names[code];
    if (code < LW_OP_lane)
        snprintf(buffer, 64, "lop3.0x%02x", code - LW_OP_lop3);
    else
        snprintf(buffer, 64, "%s%s", lw_lane_name(lw_code_lane(code)),
                 variants[(code - LW_OP_lane) % LW_VARIANTS]);
    return buffer;
}

static void put_slot(lw_text *out, const char *field, uint32_t at) {
    if (at != LW_NO_SLOT) lw_text_printf(out, " %s=%u", field, at);
}

/* A field that may have another number instead of a slot. */
static void put_slot_or(lw_text *out, const char *field, uint32_t at, bool is_number) {
    if (is_number && at != LW_NO_SLOT)
        lw_text_printf(out, " %s=#%u", field, at);
    else
        put_slot(out, field, at);
}

static void put_memory(lw_text *out, const lw_op *op) {
    static const char *const windows[] = {"generic", "global", "shared", "local", "param", "const"};
    lw_memory_form form = lw_memory_unpack(op->c);
    lw_text_printf(out, " %s.%s%u", windows[form.window], form.is_signed ? "s" : "b", 8u << form.size);
    if (form.vector) lw_text_printf(out, ".v%u", 1u << form.vector);
    if (form.is_volatile) lw_text_puts(out, ".volatile");
    lw_text_printf(out, " r%u", 8u << form.slot);
    if (op->code == LW_OP_atom) lw_text_printf(out, " op=%u", op->flags >> 8);
}

/* What an operation has in the list of constants. */
static void put_constants(lw_text *out, const lw_code *code, const lw_op *op) {
    uint64_t first = op->code == LW_OP_pattern ? op->imm : op->b;
    uint32_t count = op->code == LW_OP_pattern ? (op->c + 63) / 64 : op->code == LW_OP_st && op->flags & LW_OP_IMM_B;
    for (uint32_t i = 0; i < count; i++)
        lw_text_printf(out, "%s0x%llx", i ? "," : " constant=", (unsigned long long)code->constants[first + i]);
}

static void put_op(lw_text *out, const lw_code *code, const lw_op *op) {
    char name[64];
    lw_text_printf(out, "        %s", lw_opcode_name(op->code, name));
    bool memory = op->code == LW_OP_ld || op->code == LW_OP_st || op->code == LW_OP_atom || op->code == LW_OP_ld_row || op->code == LW_OP_st_row;
    if (memory) put_memory(out, op);
    put_slot(out, "d", op->d);
    put_slot_or(out, "a", op->a, op->flags & LW_OP_IMM_A);
    put_slot_or(out, "b", op->b, op->flags & LW_OP_IMM_B);
    if (!memory) put_slot(out, "c", op->c);
    put_slot(out, "e", op->e);
    if (op->flags & LW_OP_NEGATE) lw_text_puts(out, " not");
    if (op->flags & LW_OP_BACKWARD)
        lw_text_puts(out, op->flags & LW_OP_SPIN ? " backward spin" : " backward");
    if (op->code == LW_OP_ld_row && op->flags & LW_OP_ZERO) lw_text_puts(out, " zero");
    if ((op->code == LW_OP_vshift || op->code == LW_OP_shift_check) && op->flags & LW_OP_TRAPS)
        lw_text_puts(out, " traps");
    put_constants(out, code, op);
    if (op->code == LW_OP_vshift) lw_text_printf(out, " lane=%s", lw_lane_name((lw_lane_id)(uint32_t)op->imm));
    if (op->code == LW_OP_add_setp) lw_text_printf(out, " lane=%s", lw_lane_name((lw_lane_id)op->c));
    if (op->imm) lw_text_printf(out, " imm=0x%llx", (unsigned long long)op->imm);
    lw_text_puts(out, "\n");
}

static void put_code(lw_text *out, const lw_program *program, const lw_code *code) {
    lw_source *source = program->source;
    lw_text_printf(out, "%s %s: %u operations, %u blocks, %u registers, frame %u bytes, local %u bytes\n",
                   code->is_entry ? "kernel" : "function", code->name, code->op_count, code->block_count,
                   code->register_count, code->frame_bytes, code->local_bytes);
    for (uint32_t i = 0; i < code->fill_count; i++)
        lw_text_printf(out, "    constant slot %u = 0x%llx\n", code->fills[i].at,
                       (unsigned long long)code->fills[i].value);
    uint32_t shown = UINT32_MAX;
    for (uint32_t n = 0; n < code->op_count; n++) {
        const lw_op *op = &code->ops[n];
        if (op->code == LW_OP_block)
            lw_text_printf(out, "  block %u (%llu instructions)\n", op->a, (unsigned long long)op->imm);
        uint32_t line;
        lw_source_find(source, code->places[n].at, &line, NULL);
        if (line != shown) lw_text_printf(out, "    line %u\n", line);
        shown = line;
        if (op->code != LW_OP_block) put_op(out, code, op);
    }
}

void lw_program_dump(lw_text *out, const lw_program *program) {
    lw_text_printf(
        out, "program: %u bytes of parameters, %u bytes of static shared memory, %llu instructions\n",
        program->param_bytes, program->shared_bytes, (unsigned long long)program->instruction_count);
    for (uint32_t i = 0; i < program->code_count; i++)
        put_code(out, program, program->codes[i]);
}
