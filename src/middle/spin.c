/* spin.c: which loops may be waiting for what others write: those that read such memory, themselves or in what they
 * call. Linear in the program. */
#include "middle/lower.h"

/* One call: `callee` is executed by the function of `caller`. */
typedef struct lw_edge {
    uint32_t caller, next; /* 1 + another call of the same function */
} lw_edge;

typedef struct lw_spins {
    lw_program *program;
    bool *racy;        /* per function */
    uint32_t *callers; /* per function: 1 + the first edge */
    lw_edge *edges;
    uint32_t edge_count;
    uint32_t *indirect; /* functions that call by address */
    uint32_t indirect_count;
    uint32_t *todo, todo_count; /* racy functions whose callers do not know yet */
} lw_spins;

static void mark(lw_spins *s, uint32_t function) {
    if (s->racy[function]) return;
    s->racy[function] = true;
    s->todo[s->todo_count++] = function;
}

static void collect(lw_spins *s, uint32_t function) {
    const lw_code *code = s->program->functions[function];
    for (uint32_t n = 0; n < code->op_count; n++)
        if (lw_op_races(&code->ops[n])) {
            mark(s, function);
            break;
        }
    bool by_address = false;
    for (uint32_t k = 0; k < code->call_count; k++) {
        const uint32_t callee = code->calls[k].function;
        if (callee == LW_NO_SLOT) {
            by_address = true;
            continue;
        }
        s->edges[s->edge_count++] = (lw_edge){function, s->callers[callee]};
        s->callers[callee] = s->edge_count;
    }
    if (by_address) s->indirect[s->indirect_count++] = function;
}

/* Who calls by address may call any of them. */
static void spread(lw_spins *s) {
    for (uint32_t k = 0; s->todo_count && k < s->indirect_count; k++) mark(s, s->indirect[k]);
    while (s->todo_count) {
        const uint32_t function = s->todo[--s->todo_count];
        for (uint32_t e = s->callers[function]; e; e = s->edges[e - 1].next) mark(s, s->edges[e - 1].caller);
    }
}

static bool calls_racy(const lw_spins *s, const lw_code *code, const lw_op *op) {
    if (op->code == LW_OP_call) return s->racy[code->calls[op->imm].function];
    return op->code == LW_OP_call_indirect && s->racy[code->index];
}

/* `racy`: per block, how many operations up to its end may wait for others. */
static void mark_branches(const lw_spins *s, lw_code *code, uint32_t *racy) {
    uint32_t block = 0, count = 0;
    for (uint32_t n = 0; n < code->op_count; n++) {
        lw_op *op = &code->ops[n];
        if (op->code == LW_OP_block) block = op->a;
        count += lw_op_races(op) || calls_racy(s, code, op);
        racy[block] = count;
        if (op->flags & LW_OP_BACKWARD && count > (op->a ? racy[op->a - 1] : 0))
            op->flags |= LW_OP_SPIN, s->program->spins = true; /* from its first target on */
    }
}

void lw_mark_spins(lw_program *program) {
    uint32_t calls = 0, blocks = 0;
    for (uint32_t f = 0; f < program->code_count; f++) {
        calls += program->functions[f]->call_count;
        if (program->functions[f]->block_count > blocks) blocks = program->functions[f]->block_count;
    }
    lw_spins s = {.program = program};
    s.racy = LW_NEW_ARRAY(program->arena, bool, program->code_count);
    s.callers = LW_NEW_ARRAY(program->arena, uint32_t, program->code_count);
    s.indirect = LW_NEW_ARRAY(program->arena, uint32_t, program->code_count);
    s.todo = LW_NEW_ARRAY(program->arena, uint32_t, program->code_count);
    s.edges = LW_NEW_ARRAY(program->arena, lw_edge, calls);
    uint32_t *racy = LW_NEW_ARRAY(program->arena, uint32_t, blocks);
    for (uint32_t f = 0; f < program->code_count; f++) collect(&s, f);
    spread(&s);
    for (uint32_t f = 0; f < program->code_count; f++)
        if (s.racy[f]) mark_branches(&s, program->functions[f], racy);
}
