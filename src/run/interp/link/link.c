/* link.c: the interpreter's code for a program: a copy of each function, which fusion and slots then change. The
 * program stays as it is. */
#include "run/interp/link/link.h"

#include "run/run.h"

static lw_transfer *copy_transfers(lw_arena *arena, const lw_transfer *transfers, uint32_t count) {
    return lw_arena_copy(arena, transfers, count * sizeof *transfers);
}

static lw_call *copy_calls(lw_arena *arena, const lw_code *from) {
    lw_call *calls = lw_arena_copy(arena, from->calls, from->call_count * sizeof *calls);
    for (uint32_t i = 0; i < from->call_count; i++) {
        calls[i].arguments = copy_transfers(arena, calls[i].arguments, calls[i].argument_count);
        calls[i].results = copy_transfers(arena, calls[i].results, calls[i].result_count);
    }
    return calls;
}

static lw_code *copy_code(lw_arena *arena, const lw_code *from) {
    lw_code *code = LW_NEW(arena, lw_code);
    *code = *from;
    code->registers = NULL;
    code->ops = lw_arena_copy(arena, from->ops, from->op_count * sizeof *code->ops);
    code->places = lw_arena_copy(arena, from->places, from->op_count * sizeof *code->places);
    code->blocks = lw_arena_copy(arena, from->blocks, from->block_count * sizeof *code->blocks);
    code->calls = copy_calls(arena, from);
    code->slots = lw_arena_copy(arena, from->slots, from->slot_count * sizeof *code->slots);
    code->params = copy_transfers(arena, from->params, from->param_count);
    code->returns = copy_transfers(arena, from->returns, from->return_count);
    return code;
}

static void take_registers(lw_link *l, const lw_code *from) {
    l->vregs.room = from->virtual_count + from->virtual_count / 4 + 16; /* fusion adds constants */
    l->vregs.at = lw_arena_array(l->arena, sizeof *l->vregs.at, l->vregs.room);
    l->vregs.count = from->virtual_count;
    for (uint32_t v = 0; v < from->virtual_count; v++) {
        const lw_register *r = &from->registers[v];
        l->vregs.at[v] =
            (lw_vreg){.class = r->class, .is_const = r->is_const, .value = r->value, .defs = r->defs, .uses = r->uses};
    }
    for (uint32_t g = 0; g < from->facts->across_count; g++) {
        const lw_across *across = &from->facts->across[g];
        l->vregs.at[across->reg].across = true, l->vregs.at[across->reg].lone = across->lone;
    }
}

uint32_t lw_link_const(lw_link *l, lw_class class, uint64_t value) {
    LW_PUSH(l->arena, l->vregs) = (lw_vreg){.class = class, .is_const = true, .value = value};
    return l->vregs.count - 1;
}

/* What was taken away leaves. It is done by an operation behind it, which may have been taken by another one then. */
static void compact(lw_link *l) {
    lw_code *code = l->code;
    const uint32_t count = code->op_count;
    uint32_t *moved = lw_arena_array(l->arena, sizeof *moved, count);
    code->became = lw_arena_array(l->arena, sizeof *code->became, count);
    for (uint32_t n = count; n-- > 0;)
        code->became[n] = code->ops[n].code == LW_OP_dead ? code->became[code->ops[n].imm] : n;
    lw_code_compact(code, moved);
    for (uint32_t n = 0; n < count; n++) code->became[n] = moved[code->became[n]];
}

/* NULL: diagnosed. */
static lw_code *link_function(lw_program *program, lw_code *from, lw_diags *diags) {
    lw_facts_find(program->arena, from);
    lw_link l = {.arena = program->arena, .diags = diags, .code = copy_code(program->arena, from)};
    take_registers(&l, from);
    for (uint32_t k = 0; k < from->constant_count; k++) LW_PUSH(l.arena, l.constants) = from->constants[k];
    lw_link_fuse(&l);
    compact(&l);
    lw_link_steady(&l, program);
    lw_link_index(&l);
    lw_link_allocate(&l);
    lw_link_trails(l.code);
    return l.failed ? NULL : l.code;
}

bool lw_interp_link(lw_program *program, lw_diags *diags) {
    bool good = true;
    lw_code **codes = LW_NEW_ARRAY(program->arena, lw_code *, program->code_count);
    for (uint32_t f = 0; f < program->code_count; f++) {
        codes[f] = link_function(program, program->functions[f], diags);
        good &= codes[f] != NULL;
    }
    if (!good) return false;
    program->codes = codes;
    program->entry = codes[program->entry_index];
    return true;
}
