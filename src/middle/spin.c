/* spin.c: which loops may be waiting for what others write: those that read such memory, themselves or in what they
 * call, if it depends on what they read whether they go on. Linear in the program, but for LW_SEARCHES. */
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
    uint32_t *todo, todo_count;  /* racy functions whose callers do not know yet */
    uint32_t *told;              /* per register: number of the last loop in which it depends on what is read */
    uint32_t *under;             /* per operation: likewise whether it is executed */
    uint32_t loop;               /* number of the one at hand */
    uint32_t *backs, back_count; /* of the function at hand: its branches back */
    uint64_t work;               /* operations that may still be looked at */
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

/* ---- What a loop depends on -------------------------------------------------------------------------------------- */

enum { LW_SEARCHES = 64 }; /* times as many operations as a function has are looked at; a loop behind that may wait */

typedef struct lw_loop {
    lw_spins *s;
    const lw_code *code;
    uint32_t branch;      /* back, which may wait */
    uint32_t first, last; /* operations, in text order */
    bool grows;           /* more depends on what is read than was known */
} lw_loop;

static void spend(lw_spins *s, uint64_t work) { s->work -= work < s->work ? work : s->work; }

static bool is_under(const lw_loop *loop, uint32_t n) { return loop->s->under[n] == loop->s->loop; }

static void put_under(lw_loop *loop, uint32_t from, uint32_t end) {
    spend(loop->s, end - from);
    for (uint32_t n = from; n < end; n++) {
        loop->grows |= !is_under(loop, n);
        loop->s->under[n] = loop->s->loop;
    }
}

/* Whether a jump is made depends: and with it what it jumps over, or repeats. False: it leaves the loop. */
static bool spread_jump(lw_loop *loop, uint32_t n, const lw_op *op) {
    const uint32_t to = loop->code->blocks[op->a].first;
    const bool leaves = to < loop->first || to > loop->last || (n == loop->last && op->code == LW_OP_bra_if);
    if (leaves || n == loop->branch) return false;
    if (to > n) put_under(loop, n + 1, to);
    else put_under(loop, to, n);
    return true;
}

/* False: whether the loop goes on depends on it. */
static bool spread_control(lw_loop *loop, uint32_t n) {
    const lw_op *op = &loop->code->ops[n];
    switch (op->code) {
    case LW_OP_bra:
    case LW_OP_bra_if: return spread_jump(loop, n, op);
    case LW_OP_guard: put_under(loop, n + 1, n + 1 + (uint32_t)op->imm); return true;
    default: return lw_row_of(op->code)->goes == LW_GOES_on;
    }
}

static bool depends(const lw_loop *loop, uint32_t n) {
    const lw_op *op = &loop->code->ops[n];
    if (is_under(loop, n)) return true;
    LW_EACH_READ(loop->code, op, at)
    if (loop->s->told[*at] == loop->s->loop) return true;
    return false;
}

static bool reads_memory(const lw_op *op) { return lw_op_does(op, LW_DOES_MEMORY) || lw_op_does(op, LW_DOES_RACES); }

static void tell_written(lw_loop *loop, const lw_op *op) {
    LW_EACH_WRITTEN(loop->code, op, at) {
        loop->grows |= loop->s->told[*at] != loop->s->loop;
        loop->s->told[*at] = loop->s->loop;
    }
}

/* Where other branches back go from its end or behind it into it, or from within it to in front of it, all of these are
 * one loop. */
static void widen(lw_loop *loop) {
    const lw_code *code = loop->code;
    const lw_spins *s = loop->s;
    for (bool wider = true; wider && s->work;) {
        wider = false;
        spend(loop->s, s->back_count);
        for (uint32_t k = 0; k < s->back_count; k++) {
            const uint32_t n = s->backs[k], to = code->blocks[code->ops[n].a].first;
            if (n > loop->last && to > loop->first && to <= loop->last) loop->last = n, wider = true;
            if (n >= loop->first && n < loop->last && to < loop->first) loop->first = to, wider = true;
        }
    }
}

/* Lanes may leave what is called for good, and what that depends on is not looked at. */
static bool ends_search(const lw_op *op) {
    return op->code == LW_OP_yield || lw_row_of(op->code)->goes == LW_GOES_back;
}

/* From block `head` up to a branch back there. */
static bool may_wait(lw_spins *s, const lw_code *code, uint32_t head, uint32_t branch) {
    lw_loop loop = {.s = s, .code = code, .branch = branch, .last = branch, .grows = true};
    loop.first = code->blocks[head].first;
    s->loop++;
    widen(&loop);
    while (loop.grows) {
        loop.grows = false;
        for (uint32_t n = loop.first; n <= loop.last; n++) {
            const lw_op *op = &code->ops[n];
            const bool does = depends(&loop, n);
            if (!s->work || ends_search(op) || (does && !spread_control(&loop, n))) return true;
            spend(s, 1);
            if (does || reads_memory(op)) tell_written(&loop, op);
        }
    }
    return false;
}

/* ---- All loops --------------------------------------------------------------------------------------------------- */

/* `racy`: per block, how many operations up to its end may wait for others. */
static void mark_branches(lw_spins *s, lw_code *code, uint32_t *racy) {
    uint32_t block = 0, count = 0;
    s->work = (uint64_t)LW_SEARCHES * code->op_count;
    s->back_count = 0;
    for (uint32_t n = 0; n < code->op_count; n++)
        if (code->ops[n].flags & LW_OP_BACKWARD) s->backs[s->back_count++] = n;
    for (uint32_t n = 0; n < code->op_count; n++) {
        lw_op *op = &code->ops[n];
        if (op->code == LW_OP_block) block = op->a;
        count += lw_op_races(op) || calls_racy(s, code, op);
        racy[block] = count;
        if (op->flags & LW_OP_BACKWARD && count > (op->a ? racy[op->a - 1] : 0) && may_wait(s, code, op->a, n))
            op->flags |= LW_OP_SPIN, s->program->spins = true; /* from its first target on */
    }
}

void lw_mark_spins(lw_program *program) {
    uint32_t calls = 0, blocks = 0, registers = 0, ops = 0;
    for (uint32_t f = 0; f < program->code_count; f++) {
        calls += program->functions[f]->call_count;
        const lw_code *code = program->functions[f];
        if (code->block_count > blocks) blocks = code->block_count;
        if (code->virtual_count > registers) registers = code->virtual_count;
        if (code->op_count > ops) ops = code->op_count;
    }
    lw_spins s = {.program = program};
    s.racy = LW_NEW_ARRAY(program->arena, bool, program->code_count);
    s.callers = LW_NEW_ARRAY(program->arena, uint32_t, program->code_count);
    s.indirect = LW_NEW_ARRAY(program->arena, uint32_t, program->code_count);
    s.todo = LW_NEW_ARRAY(program->arena, uint32_t, program->code_count);
    s.edges = LW_NEW_ARRAY(program->arena, lw_edge, calls);
    s.told = LW_NEW_ARRAY(program->arena, uint32_t, registers);
    s.under = LW_NEW_ARRAY(program->arena, uint32_t, ops);
    s.backs = LW_NEW_ARRAY(program->arena, uint32_t, ops);
    uint32_t *racy = LW_NEW_ARRAY(program->arena, uint32_t, blocks);
    for (uint32_t f = 0; f < program->code_count; f++) collect(&s, f);
    spread(&s);
    for (uint32_t f = 0; f < program->code_count; f++)
        if (s.racy[f]) mark_branches(&s, program->functions[f], racy);
}
