/* flow.c: lowering of control flow, synchronisation, and exchange between lanes. */
#include "middle/ptx.h"

void lw_lower_nop(lw_lower *l, const lw_instruction *i) { (void)l, (void)i; }

void lw_lower_bra(lw_lower *l, const lw_instruction *i) {
    const lw_operand *target = &i->operands[0];
    if (target->kind != LW_O_NAME || !target->object || target->object->kind != LW_OBJ_LABEL) {
        lw_lower_error(l, i);
        return;
    }
    lw_op *op = lw_lower_op(l, i->guard ? LW_OP_bra_if : LW_OP_bra);
    op->a = target->object->number;
    uint32_t at = l->ops.count - 1;
    if (i->guard) {
        uint32_t p = lw_lower_register(l, i->guard);
        l->ops.at[at].b = p;
        l->ops.at[at].flags = i->guard->negated ? LW_OP_NEGATE : 0;
        l->open = false;
        lw_lower_new_block(l); /* a branch not taken goes on at the next operation */
    }
    l->open = i->guard != NULL;
}

/* The table's labels, once for all branches by it. False: one is not there. */
static bool list_targets(lw_lower *l, const lw_object *table, uint32_t *first) {
    if (lw_lower_table(l, table, first)) return true;
    for (uint32_t k = 0; k < table->target_count; k++) {
        const lw_object *label = table->targets[k].object;
        if (!label || label->kind != LW_OBJ_LABEL) return false;
        LW_PUSH(l->arena, l->targets) = label->number;
    }
    return true;
}

void lw_lower_brx(lw_lower *l, const lw_instruction *i) {
    uint32_t index = lw_lower_read(l, &i->operands[0], LW_T_u32);
    const lw_object *table = i->operands[1].kind == LW_O_NAME ? i->operands[1].object : NULL;
    if (l->failed || !table || table->kind != LW_OBJ_TARGETS) {
        lw_lower_error(l, i);
        return;
    }
    uint32_t first;
    if (!list_targets(l, table, &first)) {
        lw_lower_error(l, i);
        return;
    }
    lw_op *op = lw_lower_op(l, LW_OP_brx);
    op->b = index, op->imm = first, op->c = table->target_count;
    l->open = false;
}

void lw_lower_ret(lw_lower *l, const lw_instruction *i) {
    (void)i;
    lw_lower_op(l, LW_OP_ret);
    l->open = false;
}

void lw_lower_exit(lw_lower *l, const lw_instruction *i) {
    (void)i;
    lw_lower_op(l, LW_OP_exit);
    l->open = false;
}

void lw_lower_trap(lw_lower *l, const lw_instruction *i) {
    (void)i;
    lw_lower_op(l, LW_OP_trap);
    l->open = false;
}

void lw_lower_brkpt(lw_lower *l, const lw_instruction *i) {
    lw_lower_trap(l, i);
    l->ops.at[l->ops.count - 1].mode = LW_REASON_breakpoint;
}

void lw_lower_nanosleep(lw_lower *l, const lw_instruction *i) {
    (void)i;
    lw_lower_op(l, LW_OP_yield);
}
void lw_lower_fence(lw_lower *l, const lw_instruction *i) {
    (void)i;
    lw_lower_op(l, LW_OP_fence);
}

/* ---- Calls ---------------------------------------------------------------------------------------------- */

/* A scratch place in the frame for a parameter that the callee wants in memory but the caller has in a register or
 * nowhere. */
static uint32_t scratch_place(lw_lower *l, const lw_object *formal) {
    return lw_lower_room(l, formal->size, 16, l->place, formal->name->text);
}

static void frame_access(lw_lower *l, uint16_t code, uint32_t value, uint32_t at, uint32_t bytes) {
    lw_lower_frame_access(l, code, value, at, (uint32_t)__builtin_ctz(bytes));
}

static bool is_param_variable(const lw_operand *operand) {
    return operand->kind == LW_O_NAME && operand->object && operand->object->kind == LW_OBJ_VARIABLE &&
           operand->object->space == LW_SPACE_param;
}

uint32_t lw_lower_argument_value(lw_lower *l, const lw_operand *operand, lw_type type) {
    if (!is_param_variable(operand)) return lw_lower_read(l, operand, type);
    uint32_t v = lw_lower_vreg(l, lw_class_of(type));
    frame_access(l, LW_OP_ld, v, (uint32_t)lw_lower_var(l, operand->object), lw_types[type].bits / 8);
    return v;
}

void lw_lower_result_value(lw_lower *l, const lw_operand *operand, lw_type type, uint32_t value) {
    if (is_param_variable(operand)) {
        frame_access(l, LW_OP_st, value, (uint32_t)lw_lower_var(l, operand->object), lw_types[type].bits / 8);
    } else if (operand->kind != LW_O_SINK) {
        uint32_t d = lw_lower_write(l, operand, type);
        if (!l->failed) lw_lower_move(l, d, value);
    }
}

static bool is_wide(const lw_object *formal) { return lw_types[formal->type].bits > 64; }

/* The whole of a formal is copied from or to the variable. The verifier lets no smaller one through; that nothing
 * beyond the frame is touched must not hang on it. */
static bool is_short(const lw_operand *operand, const lw_object *formal) {
    return is_param_variable(operand) && formal->space == LW_SPACE_param && operand->object->size < formal->size;
}

/* What an argument hands over: of 128 bits a half. */
static uint32_t value_of(lw_lower *l, const lw_operand *operand, const lw_object *formal, uint32_t half) {
    if (!is_wide(formal)) return lw_lower_argument_value(l, operand, formal->type);
    if (!is_param_variable(operand)) return lw_lower_half(l, operand, half);
    uint32_t v = lw_lower_vreg(l, LW_CLASS_64);
    frame_access(l, LW_OP_ld, v, (uint32_t)lw_lower_var(l, operand->object) + 8 * half, 8);
    return v;
}

/* What takes a result: of 128 bits a half. */
static uint32_t place_of(lw_lower *l, const lw_operand *operand, const lw_object *formal, uint32_t half) {
    return is_wide(formal) ? lw_lower_half(l, operand, half) : lw_lower_write(l, operand, formal->type);
}

/* In memory, half by half. */
static void to_scratch(lw_lower *l, const lw_operand *operand, const lw_object *formal, uint32_t at) {
    const uint32_t bytes = lw_types[formal->type].bits / 8, each = bytes > 8 ? 8 : bytes;
    for (uint32_t half = 0; half * each < bytes && !l->failed; half++) {
        const uint32_t v = value_of(l, operand, formal, half);
        if (!l->failed) frame_access(l, LW_OP_st, v, at + half * each, each);
    }
}

static void lower_argument(lw_lower *l, const lw_operand *operand, const lw_object *formal, uint32_t half,
                           lw_transfer *t) {
    bool in_memory = formal->space == LW_SPACE_param;
    if (in_memory && is_param_variable(operand)) {
        const lw_object *whole = formal->unsized ? operand->object : formal;
        *t = (lw_transfer){
            .in_memory = true, .from = (uint32_t)lw_lower_var(l, operand->object), .size = (uint32_t)whole->size};
        return;
    }
    if (in_memory) {
        uint32_t at = scratch_place(l, formal);
        to_scratch(l, operand, formal, at);
        *t = (lw_transfer){.in_memory = true, .from = at, .size = (uint32_t)formal->size};
    } else {
        uint32_t v = value_of(l, operand, formal, half);
        if (l->failed) return;
        *t = (lw_transfer){.from = v, .size = lw_class_bytes(l->vregs.at[v].class)};
    }
}

/* Results go straight to their place, or through the frame at *load_from and on at the return block. */
static void lower_result(lw_lower *l, const lw_operand *operand, const lw_object *formal, uint32_t half, lw_transfer *t,
                         uint32_t *load_from) {
    bool in_memory = formal->space == LW_SPACE_param;
    *load_from = LW_NO_SLOT;
    if (is_param_variable(operand) && in_memory)
        *t = (lw_transfer){
            .in_memory = true, .to = (uint32_t)lw_lower_var(l, operand->object), .size = (uint32_t)formal->size};
    else if (in_memory) {
        *load_from = scratch_place(l, formal);
        *t = (lw_transfer){.in_memory = true, .to = *load_from, .size = (uint32_t)formal->size};
    } else if (is_param_variable(operand)) {
        uint32_t v = lw_lower_vreg(l, lw_class_of(formal->type));
        *t = (lw_transfer){.to = v, .size = lw_class_bytes(lw_class_of(formal->type))};
    } else {
        uint32_t v = place_of(l, operand, formal, half);
        if (!l->failed) *t = (lw_transfer){.to = v, .size = lw_class_bytes(l->vregs.at[v].class)};
    }
}

static uint32_t count_of(const lw_operand *list) { return list ? list->part_count : 0; }

/* What callee and caller agree on; NULL where that cannot be executed: diagnosed. */
static const lw_function *call_shape(lw_lower *l, const lw_instruction *i, const lw_call_parts *parts) {
    const lw_object *target = parts->target->object;
    bool direct = target->kind == LW_OBJ_FUNCTION;
    const lw_function *shape = direct ? target->function : lw_ptx_call_signature(parts->prototype);
    if (direct && !shape->has_body) {
        lw_ptx_report_missing(l->diags, parts->target->place, target, true);
        l->failed = true;
        return NULL;
    }
    bool wide = false;
    for (uint32_t k = 0; k < count_of(parts->arguments); k++)
        wide |= is_short(&parts->arguments->parts[k], shape->params[k]);
    for (uint32_t k = 0; k < shape->return_count; k++) wide |= is_short(&parts->results->parts[k], shape->returns[k]);
    if (!wide) return shape;
    lw_lower_error(l, i);
    return NULL;
}

/* At the return block: results that came through the frame go on to registers, and the other way round. */
static void pass_result_on(lw_lower *l, const lw_operand *operand, const lw_object *formal, uint32_t half,
                           const lw_transfer *t, uint32_t load_from) {
    const uint32_t bytes = lw_types[formal->type].bits / 8, each = bytes > 8 ? 8 : bytes;
    if (load_from != LW_NO_SLOT && operand->kind != LW_O_SINK) {
        for (uint32_t k = 0; k * each < bytes && !l->failed; k++) {
            uint32_t v = place_of(l, operand, formal, k);
            if (!l->failed) frame_access(l, LW_OP_ld, v, load_from + k * each, each);
        }
    } else if (is_param_variable(operand) && !t->in_memory)
        frame_access(l, LW_OP_st, t->to, (uint32_t)lw_lower_var(l, operand->object) + half * each, each);
}

/* One operand of a call's lists: where it goes, or comes from, element by element. */
typedef struct handing {
    const lw_operand *operands;
    lw_object *const *formals;
    uint32_t count;
} handing;

/* The element of part k; where it has one alone a part is a half of it. */
static lw_operand element_of(const lw_operand *operand, uint32_t k) {
    return lw_lower_elements(operand) > 1 ? lw_lower_element(operand, k) : *operand;
}

/* The last parameter may be one of unknown size that gets nothing. */
static void lower_arguments(lw_lower *l, handing h, uint32_t formal_count, lw_call *call) {
    call->argument_count = l->ptx->common.count + lw_lower_transfers(h.formals, formal_count);
    call->arguments = LW_NEW_ARRAY(l->arena, lw_transfer, call->argument_count);
    uint32_t n = lw_lower_common_transfers(l, call->arguments);
    if (h.count < formal_count) call->arguments[call->argument_count - 1] = (lw_transfer){.in_memory = true};
    for (uint32_t i = 0; i < h.count; i++)
        for (uint32_t k = 0; k < lw_lower_parts(h.formals[i]) && !l->failed; k++) {
            lw_operand element = element_of(&h.operands[i], k);
            lower_argument(l, &element, h.formals[i], k, &call->arguments[n++]);
        }
}

/* Behind registers of the module: a result that goes to one of them comes last. */
static void lower_results(lw_lower *l, handing h, lw_call *call, uint32_t *loads) {
    call->result_count = l->ptx->common.count + lw_lower_transfers(h.formals, h.count);
    call->results = LW_NEW_ARRAY(l->arena, lw_transfer, call->result_count);
    uint32_t n = lw_lower_common_transfers(l, call->results);
    for (uint32_t i = 0; i < h.count; i++)
        for (uint32_t k = 0; k < lw_lower_parts(h.formals[i]) && !l->failed; k++, n++) {
            lw_operand element = element_of(&h.operands[i], k);
            lower_result(l, &element, h.formals[i], k, &call->results[n], &loads[n]);
        }
}

static void pass_results_on(lw_lower *l, handing h, const lw_call *call, const uint32_t *loads) {
    uint32_t n = l->ptx->common.count;
    for (uint32_t i = 0; i < h.count; i++)
        for (uint32_t k = 0; k < lw_lower_parts(h.formals[i]); k++, n++) {
            lw_operand element = element_of(&h.operands[i], k);
            pass_result_on(l, &element, h.formals[i], k, &call->results[n], loads[n]);
        }
}

void lw_lower_call(lw_lower *l, const lw_instruction *i) {
    lw_call_parts parts;
    lw_ptx_call_parts(i, &parts); /* verified */
    if (lw_lower_runtime_call(l, &parts)) return;
    const lw_function *shape = call_shape(l, i, &parts);
    if (!shape) return;
    bool direct = parts.target->object->kind == LW_OBJ_FUNCTION;
    handing arguments = {parts.arguments ? parts.arguments->parts : NULL, shape->params, count_of(parts.arguments)};
    handing results = {parts.results ? parts.results->parts : NULL, shape->returns, shape->return_count};
    lw_call call = {.function = direct ? lw_lower_code_index(l, shape) : LW_NO_SLOT};
    uint32_t *loads =
        LW_NEW_ARRAY(l->arena, uint32_t, l->ptx->common.count + lw_lower_transfers(results.formals, results.count));
    lower_arguments(l, arguments, shape->param_count, &call);
    lower_results(l, results, &call, loads);
    uint32_t address = LW_NO_SLOT;
    if (!direct && !l->failed) address = lw_lower_resize(l, lw_lower_register(l, parts.target), LW_CLASS_64, false);
    if (l->failed) return;
    call.return_block = lw_lower_label(l);
    LW_PUSH(l->arena, l->calls) = call;
    lw_op *op = lw_lower_op(l, direct ? LW_OP_call : LW_OP_call_indirect);
    op->imm = l->calls.count - 1;
    op->b = address;
    l->open = false;
    lw_lower_place_label(l, call.return_block);
    pass_results_on(l, results, &call, loads);
}

/* ---- Barriers ------------------------------------------------------------------------------------------- */

void lw_lower_go_on_behind(lw_lower *l) {
    l->open = false;
    lw_lower_new_block(l);
}

void lw_lower_bar(lw_lower *l, const lw_instruction *i) {
    bool is_red = i->match->mode.meet == LW_MOD_red;
    uint32_t first = is_red, count = i->operand_count - first - is_red;
    uint16_t kind = lw_lower_mode(i);
    uint32_t a = lw_lower_read(l, &i->operands[first], LW_T_u32);
    uint32_t b = count > 1 ? lw_lower_read(l, &i->operands[first + 1], LW_T_u32) : LW_NO_SLOT;
    uint32_t p = is_red ? lw_lower_read_pred(l, &i->operands[i->operand_count - 1]) : LW_NO_SLOT;
    uint32_t d = is_red ? lw_lower_write(l, &i->operands[0], kind == LW_BARRIER_red_popc ? LW_T_u32 : LW_T_pred)
                        : LW_NO_SLOT;
    if (l->failed) return;
    lw_op *op = lw_lower_op(l, LW_OP_barrier);
    op->a = a, op->b = b, op->mode = kind, op->d = d, op->e = p;
    lw_lower_may_note(l, LW_D_note_barrier_counts);
    if (kind != LW_BARRIER_arrive) lw_lower_go_on_behind(l);
}

/* Lanes meet here, and exchange something by the operation that comes behind, which is made next: its operands are
 * there. */
static void meet(lw_lower *l, uint32_t membermask) {
    lw_lower_op(l, LW_OP_warp_sync)->a = membermask;
    lw_lower_may_note(l, LW_D_note_not_member);
    lw_lower_may_note(l, LW_D_note_never_arrives);
}

void lw_lower_bar_warp(lw_lower *l, const lw_instruction *i) {
    uint32_t mask = lw_lower_read(l, &i->operands[0], LW_T_b32);
    if (l->failed) return;
    meet(l, mask);
    lw_lower_go_on_behind(l);
}

/* ---- Between lanes -------------------------------------------------------------------------------------- */

/* d|p: the two results of an exchange. p LW_NO_SLOT: nobody wants it. */
typedef struct lw_results {
    uint32_t d, p;
} lw_results;

static lw_results write_results(lw_lower *l, const lw_operand *operand) {
    const lw_operand *d = operand->kind == LW_O_PAIR ? &operand->parts[0] : operand,
                     *p = operand->kind == LW_O_PAIR ? &operand->parts[1] : NULL;
    lw_results results = {.d = lw_lower_write(l, d, LW_T_b32), .p = LW_NO_SLOT};
    if (p && p->kind != LW_O_SINK) results.p = lw_lower_write(l, p, LW_T_pred);
    return results;
}

static void shuffle(lw_lower *l, const lw_instruction *i, bool is_sync) {
    uint32_t a = lw_lower_read(l, &i->operands[1], LW_T_b32), b = lw_lower_read(l, &i->operands[2], LW_T_b32);
    uint32_t c = lw_lower_read(l, &i->operands[3], LW_T_b32),
             mask = is_sync ? lw_lower_read(l, &i->operands[4], LW_T_b32) : LW_NO_SLOT;
    lw_results results = write_results(l, &i->operands[0]);
    if (l->failed) return;
    if (is_sync) meet(l, mask);
    lw_op *op = lw_lower_op(l, LW_OP_shuffle);
    op->d = results.d, op->b = a, op->a = b, op->c = c, op->e = results.p;
    op->mode = lw_lower_mode(i), op->flags = is_sync ? 0 : LW_OP_UNSYNC;
    lw_lower_may_note(l, LW_D_note_inactive_lane);
    if (is_sync) lw_lower_go_on_behind(l);
    else lw_lower_may_note(l, LW_D_note_divergent);
}

void lw_lower_shfl(lw_lower *l, const lw_instruction *i) { shuffle(l, i, false); }
void lw_lower_shfl_sync(lw_lower *l, const lw_instruction *i) { shuffle(l, i, true); }

static void vote(lw_lower *l, const lw_instruction *i, bool is_sync) {
    uint16_t kind = lw_lower_mode(i);
    uint32_t p = lw_lower_read_pred(l, &i->operands[1]),
             mask = is_sync ? lw_lower_read(l, &i->operands[2], LW_T_b32) : LW_NO_SLOT;
    uint32_t d = lw_lower_write(l, &i->operands[0], kind == LW_VOTE_ballot ? LW_T_b32 : LW_T_pred);
    if (l->failed) return;
    if (is_sync) meet(l, mask);
    lw_op *op = lw_lower_op(l, LW_OP_vote);
    op->d = d, op->b = p, op->mode = kind, op->a = mask;
    if (is_sync) lw_lower_go_on_behind(l);
}

void lw_lower_vote(lw_lower *l, const lw_instruction *i) { vote(l, i, false); }
void lw_lower_vote_sync(lw_lower *l, const lw_instruction *i) { vote(l, i, true); }

void lw_lower_activemask(lw_lower *l, const lw_instruction *i) {
    uint32_t d = lw_lower_write(l, &i->operands[0], LW_T_b32);
    if (!l->failed) lw_lower_op(l, LW_OP_activemask)->d = d;
}

void lw_lower_match_sync(lw_lower *l, const lw_instruction *i) {
    lw_type type = i->match->type;
    uint32_t a = lw_lower_read(l, &i->operands[1], type), mask = lw_lower_read(l, &i->operands[2], LW_T_b32);
    lw_results results = write_results(l, &i->operands[0]);
    if (l->failed) return;
    meet(l, mask);
    lw_op *op = lw_lower_op(l, LW_OP_match);
    op->d = results.d, op->b = a, op->a = mask, op->e = results.p;
    op->mode = lw_lower_mode(i), op->c = lw_types[type].bits / 8;
    lw_lower_go_on_behind(l);
}

void lw_lower_redux_sync(lw_lower *l, const lw_instruction *i) {
    uint32_t a = lw_lower_read(l, &i->operands[1], LW_T_b32), mask = lw_lower_read(l, &i->operands[2], LW_T_b32);
    uint32_t d = lw_lower_write(l, &i->operands[0], LW_T_b32);
    if (l->failed) return;
    meet(l, mask);
    lw_op *op = lw_lower_op(l, LW_OP_redux);
    op->d = d, op->b = a, op->a = mask, op->c = i->match->how, op->mode = lw_lower_mode(i);
    lw_lower_go_on_behind(l);
}

void lw_lower_elect_sync(lw_lower *l, const lw_instruction *i) {
    uint32_t mask = lw_lower_read(l, &i->operands[1], LW_T_b32);
    if (l->failed) return;
    if (i->operands[0].kind != LW_O_PAIR) {
        lw_lower_error(l, i);
        return;
    }
    lw_results results = write_results(l, &i->operands[0]);
    if (l->failed) return;
    meet(l, mask);
    lw_op *op = lw_lower_op(l, LW_OP_elect);
    op->d = results.d, op->a = mask, op->e = results.p;
    lw_lower_go_on_behind(l);
}
