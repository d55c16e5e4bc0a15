/* machine.c: threads, calls, scheduling, and where threads wait for each other. */
#include "reference.h"

#include <stdlib.h>

enum {
    LOCAL_MOST = 1 << 20, /* of a thread: deeper recursion than any test's */
    FRAME_ALIGN = 256,    /* at least what any variable asks for */
};

void ref_stop(ref_thread *t, const ref_op *op, ref_end end, const char *why) {
    ref_machine *m = t->machine;
    if (m->ended) return;
    m->ended = true;
    m->result.end = end, m->result.why = why;
    m->result.place = op ? op->place : (lw_place){0};
    m->result.cta = m->cta, m->result.thread = t->number;
}

/* ---- Where variables are ---------------------------------------------------------------------------------- */

static void lay_out(lw_object *object, uint64_t *end) {
    uint64_t align = object->align ? object->align : 16;
    if (align < 16) align = 16; /* parameters are copied as a whole; more alignment does no harm */
    *end = (*end + align - 1) / align * align;
    object->address = *end;
    *end += object->size;
}

static uint64_t *space_of(ref_machine *m, const lw_object *object, uint64_t *frame) {
    switch (object->space) {
    case LW_SPACE_shared: return &m->shared_size;
    case LW_SPACE_const: return &m->constant_size;
    case LW_SPACE_global: return &m->global_size;
    default: return frame;
    }
}

static void prepare_function(ref_machine *m, const lw_function *f) {
    ref_code *code = &m->codes[f->object->number];
    code->ops = LW_NEW_ARRAY(&m->arena, ref_op, f->body.count);
    for (uint32_t k = 0; k < f->return_count; k++) lay_out(f->returns[k], &code->frame_bytes);
    for (uint32_t k = 0; k < f->param_count && !f->is_entry; k++) lay_out(f->params[k], &code->frame_bytes);
    for (uint32_t s = 0; s < f->body.count; s++) {
        const lw_statement *statement = &f->body.at[s];
        if (statement->kind == LW_S_INSTRUCTION) ref_decode(&code->ops[s], statement->instruction, statement->place);
        if (statement->kind == LW_S_VARIABLE && statement->object->space != LW_SPACE_reg)
            lay_out(statement->object, space_of(m, statement->object, &code->frame_bytes));
    }
}

/* ---- First values of variables ------------------------------------------------------------------------------ */

static uint64_t base_of(const lw_object *object) {
    return object->kind == LW_OBJ_FUNCTION    ? REF_FUNCTION_BASE + 16 * (uint64_t)object->function->object->number
           : object->space == LW_SPACE_const  ? object->address
           : object->space == LW_SPACE_global ? object->address
                                              : 0;
}

/* Level by level: a list goes on behind what its fellows before it may fill. */
static void put_init(unsigned char *to, const lw_object *object, const lw_init *init, uint32_t level) {
    uint32_t bytes = lw_types[object->type].bits / 8;
    if (init->kind == LW_INIT_LIST) {
        uint64_t step = bytes * (level < object->dimension_count ? object->vector : 1);
        for (uint32_t d = level + 1; d < object->dimension_count; d++) step *= object->dimensions[d];
        for (uint32_t k = 0; k < init->part_count; k++) put_init(to + k * step, object, &init->parts[k], level + 1);
        return;
    }
    uint64_t value = init->is_float ? lw_float_bits(init->value, init->single, bytes * 8) : init->value;
    if (init->kind == LW_INIT_NAME) value = base_of(init->object) + (uint64_t)init->offset;
    memcpy(to, &value, bytes);
}

static void prepare_variables(ref_machine *m) {
    const lw_module_ptx *module = m->launch->module;
    for (uint32_t k = 0; k < module->variables.count; k++) {
        lw_object *object = module->variables.at[k];
        uint64_t none = 0;
        lay_out(object, space_of(m, object, &none));
    }
    for (uint32_t k = 0; k < module->functions.count; k++)
        if (module->functions.at[k]->has_body) prepare_function(m, module->functions.at[k]);
    m->shared = lw_arena_alloc(&m->arena, m->shared_size + 1);
    m->shared_known = lw_arena_alloc(&m->arena, m->shared_size + 1);
    m->constant = lw_arena_alloc(&m->arena, m->constant_size + 1);
    m->global = lw_arena_alloc(&m->arena, m->global_size + 1);
    for (uint32_t pass = 0; pass < 2; pass++) /* addresses first: an initialiser may name a later variable */
        for (uint32_t k = 0; k < module->variables.count; k++) {
            lw_object *object = module->variables.at[k];
            bool constant = object->space == LW_SPACE_const;
            if (!constant && object->space != LW_SPACE_global) continue;
            uint64_t base = constant ? REF_CONST_BASE : REF_GLOBAL_BASE;
            if (!pass) object->address += base;
            else if (object->init)
                put_init((constant ? m->constant : m->global) + (object->address - base), object, object->init, 0);
        }
}

/* ---- Activations -------------------------------------------------------------------------------------------- */

bool ref_grow(ref_thread *t, uint64_t size) {
    if (size > LOCAL_MOST) return false;
    if (size > t->local_room) {
        t->local = realloc(t->local, 2 * size);
        t->local_known = realloc(t->local_known, 2 * size);
        if (!t->local || !t->local_known) abort();
        t->local_room = 2 * size;
    }
    if (size > t->local_size) { /* else there may be no memory at all */
        memset(t->local + t->local_size, 0, size - t->local_size);
        memset(t->local_known + t->local_size, 0, size - t->local_size);
    }
    t->local_size = size;
    return true;
}

static void push_frame(ref_thread *t, const lw_function *f, const ref_op *call) {
    const ref_code *code = &t->machine->codes[f->object->number];
    ref_frame *frame = calloc(1, sizeof *frame + (f->register_count + 1) * sizeof(ref_value));
    uint64_t locals = (t->local_size + FRAME_ALIGN - 1) / FRAME_ALIGN * FRAME_ALIGN, size = locals + code->frame_bytes;
    if (!frame || !ref_grow(t, size)) {
        free(frame);
        ref_stop(t, call, REF_TRAP, "stack overflow");
        return;
    }
    *frame = (ref_frame){
        .function = f, .registers = (ref_value *)(frame + 1), .locals = locals, .call = call, .caller = t->frame};
    t->frame = frame;
}

static void pop_frame(ref_thread *t) {
    ref_frame *frame = t->frame;
    t->frame = frame->caller;
    t->local_size = frame->locals;
    free(frame);
}

/* A value on its way from one activation to another: what `from` names in `source`, to what `to` names in `target`. */
static void pass(ref_thread *t, const ref_op *op, ref_frame *source, const lw_operand *from, ref_frame *target,
                 const lw_operand *to, const lw_object *formal) {
    ref_frame *now = t->frame;
    unsigned char bytes[1024] = {0};
    bool from_memory = from->kind == LW_O_NAME && from->object && from->object->space == LW_SPACE_param;
    uint64_t size = formal->space == LW_SPACE_param ? formal->size : (ref_bits(formal->type) + 7) / 8;
    if (to->kind == LW_O_SINK) return;
    if (size > sizeof bytes) {
        ref_stop(t, op, REF_UNKNOWN, "an argument of more than 1024 bytes");
        return;
    }
    if (from_memory) {
        ref_touch(t, op, ref_variable(t, source, from->object), size, REF_READS);
        memcpy(bytes, ref_variable(t, source, from->object), size);
    } else {
        t->frame = source;
        uint64_t value = ref_read(t, op, from, formal->type);
        memcpy(bytes, &value, sizeof value);
    }
    if (to->kind == LW_O_NAME && to->object && to->object->space == LW_SPACE_param) {
        ref_touch(t, op, ref_variable(t, target, to->object), size, REF_WRITES);
        memcpy(ref_variable(t, target, to->object), bytes, size);
    } else {
        uint64_t value;
        memcpy(&value, bytes, sizeof value);
        t->frame = target;
        ref_write(t, to, formal->type, value);
    }
    t->frame = now;
}

static lw_operand name_of(lw_object *object) {
    return (lw_operand){.kind = LW_O_NAME, .object = object, .name = object->name};
}

void ref_call(ref_thread *t, const ref_op *op, const lw_function *callee, const lw_call_parts *parts) {
    ref_frame *caller = t->frame;
    push_frame(t, callee, op);
    if (t->machine->ended) return;
    for (uint32_t k = 0; k < callee->param_count; k++) {
        lw_operand formal = name_of(callee->params[k]);
        pass(t, op, caller, &parts->arguments->parts[k], t->frame, &formal, callee->params[k]);
    }
}

void ref_return(ref_thread *t) {
    ref_frame *frame = t->frame;
    if (!frame->caller) {
        ref_exit(t);
        return;
    }
    lw_call_parts parts;
    lw_ptx_call_parts(frame->call->in, &parts);
    for (uint32_t k = 0; k < frame->function->return_count; k++) {
        lw_operand formal = name_of(frame->function->returns[k]);
        pass(t, frame->call, frame, &formal, frame->caller, &parts.results->parts[k], frame->function->returns[k]);
    }
    pop_frame(t);
}

/* ---- Lanes of a warp that meet -------------------------------------------------------------------------------- */

static bool waits_for(const ref_thread *t, const lw_symbol *what, uint32_t members) {
    return t->state == REF_MEETS && t->waits->in->mnemonic == what && t->members == members;
}

/* All that the membermask names and that have not exited wait at the same instruction with the same mask: they exchange
 * and go on. */
static void try_meet(ref_machine *m, uint32_t first, const lw_symbol *what, uint32_t members) {
    uint32_t here = 0;
    for (uint32_t lane = 0; lane < 32 && first + lane < m->thread_count; lane++) {
        const ref_thread *t = &m->threads[first + lane];
        if (!(members >> lane & 1) || t->state == REF_EXITED) continue;
        if (!waits_for(t, what, members)) return;
        here |= (uint32_t)1 << lane;
    }
    ref_exchange(m, first, here);
    for (uint32_t lane = 0; lane < 32; lane++)
        if (here >> lane & 1) m->threads[first + lane].state = REF_RUNS;
}

void ref_meet(ref_thread *t, const ref_op *op, uint32_t members) {
    if (!(members >> t->number % 32 & 1))
        ref_stop(t, op, REF_UNDEFINED, "a membermask without the lane that executes it");
    t->state = REF_MEETS, t->waits = op, t->members = members;
    try_meet(t->machine, t->number / 32 * 32, op->in->mnemonic, members);
}

void ref_exit(ref_thread *t) {
    ref_machine *m = t->machine;
    while (t->frame) pop_frame(t);
    t->state = REF_EXITED;
    uint32_t first = t->number / 32 * 32; /* others of its warp may have waited for it only */
    for (uint32_t lane = 0; lane < 32 && first + lane < m->thread_count; lane++) {
        const ref_thread *other = &m->threads[first + lane];
        if (other->state == REF_MEETS) try_meet(m, first, other->waits->in->mnemonic, other->members);
    }
}

/* ---- Running --------------------------------------------------------------------------------------------------- */

static void run_thread(ref_thread *t) {
    ref_machine *m = t->machine;
    t->yields = false;
    for (uint32_t n = 0; n < m->launch->quantum && t->state == REF_RUNS && !t->yields && !m->ended;) {
        ref_frame *frame = t->frame;
        if (frame->next >= frame->function->body.count) {
            ref_return(t);
            continue;
        }
        const ref_op *op = &m->codes[frame->function->object->number].ops[frame->next++];
        if (!op->execute) continue;
        n++, m->result.steps++;
        if (!ref_guard(t, op) || m->ended) continue;
        if (m->launch->executed) m->launch->executed[op->in->match->form - lw_ptx_forms]++;
        op->execute(t, op);
    }
}

static void start_cta(ref_machine *m) {
    const uint32_t *block = m->launch->block, *grid = m->launch->grid;
    uint32_t n = m->cta;
    m->ctaid[0] = n % grid[0], m->ctaid[1] = n / grid[0] % grid[1], m->ctaid[2] = n / grid[0] / grid[1];
    memset(m->shared, 0, m->shared_size);
    memset(m->shared_known, 0, m->shared_size);
    memset(m->barriers, 0, sizeof m->barriers);
    for (uint32_t k = 0; k < m->thread_count; k++) {
        ref_thread *t = &m->threads[k];
        *t = (ref_thread){
            .machine = m, .number = k, .local = t->local, .local_known = t->local_known, .local_room = t->local_room};
        t->tid[0] = k % block[0], t->tid[1] = k / block[0] % block[1], t->tid[2] = k / block[0] / block[1];
        push_frame(t, m->launch->kernel, NULL);
    }
}

static void run_cta(ref_machine *m) {
    start_cta(m);
    for (bool runs = true; runs && !m->ended;) {
        runs = false;
        for (uint32_t k = 0; k < m->thread_count && !m->ended; k++) {
            if (m->threads[k].state != REF_RUNS) continue;
            runs = true;
            run_thread(&m->threads[k]);
        }
        if (m->result.steps > m->launch->step_limit) ref_stop(&m->threads[0], NULL, REF_LIMIT, "too many steps");
    }
    for (uint32_t k = 0; k < m->thread_count; k++) {
        ref_thread *t = &m->threads[k];
        if (t->state != REF_EXITED) ref_stop(t, t->waits, REF_STUCK, "waits for ever");
        while (t->frame) pop_frame(t);
    }
}

ref_result ref_run(const ref_launch *launch) {
    ref_machine m = {.launch = launch, .thread_count = launch->block[0] * launch->block[1] * launch->block[2]};
    jmp_buf out;
    lw_arena_init(&m.arena);
    if (!LW_ARENA_TRY(&m.arena, out)) abort();
    m.codes = LW_NEW_ARRAY(&m.arena, ref_code, launch->module->functions.count);
    prepare_variables(&m);
    m.threads = LW_NEW_ARRAY(&m.arena, ref_thread, m.thread_count);
    uint32_t ctas = launch->grid[0] * launch->grid[1] * launch->grid[2];
    for (; m.cta < ctas && !m.ended; m.cta++) run_cta(&m);
    for (uint32_t k = 0; k < m.thread_count; k++) free(m.threads[k].local), free(m.threads[k].local_known);
    lw_arena_free(&m.arena);
    return m.result;
}
