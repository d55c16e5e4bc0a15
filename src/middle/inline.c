/* inline.c: calls of small functions become what these do, and of other functions that are called by their names alone
 * parameters and results in memory become registers.
 *
 * Callees come before callers, so that a function whose calls have all been inlined is a leaf itself; who is in a cycle
 * of calls stays a call, with registers for its parameters, too. What is inlined must leave everything as it was that a
 * program may rely on: it is a function whose loops wait for nobody and which does not ask who is here, so that lanes
 * which call together do nothing else before all of them are back, unless they wait for others by name; its blocks
 * stand where the call was, and count what they counted; its operations keep their places in the text, by which traps
 * and profiles name the function. Linear in the program, which grows by a bounded part. */
#include "middle/facts.h"
#include "middle/lower.h"

enum {
    LW_INLINE_MOST = 96,    /* operations of a function that is inlined, blocks included */
    LW_INLINE_GROWTH = 2048 /* operations that one function may grow by, or as many as it has */
};

/* A function as direct calls find it. */
typedef struct lw_form {
    const lw_code *code; /* with parameters and results in registers; NULL: calls of it stay as they are */
    lw_pieces pieces;
    const uint64_t *zeros; /* registers that are read before they are written, or may be */
    bool is_inlined;       /* wherever there is room for it */
} lw_form;

/* One call: `callee` is called by the function of `caller`. */
typedef struct lw_edge {
    uint32_t caller, next; /* 1 + another call of the same function */
} lw_edge;

typedef struct lw_inliner {
    lw_lower *l;
    lw_form *forms;    /* per function, as the next ones */
    uint32_t *waits;   /* direct calls in it of functions that are not done */
    uint32_t *callers; /* 1 + the first edge */
    bool *odd;         /* some call does not agree with it */
    lw_edge *edges;
    uint32_t edge_count, *todo, todo_count;
    bool by_address; /* functions may be called by their address, with parameters as the text has them */
} lw_inliner;

/* ---- Copies of a function's code --------------------------------------------------------------------------------- */

/* Where in the code that is built its registers, labels and lists begin. */
typedef struct lw_part {
    const lw_code *from;
    uint32_t registers, labels, slots, targets, constants;
    uint32_t instruction; /* of the text: those of the blocks that are there already lie before it */
    const bool *straight; /* per block, or NULL: lw_find_straight */
} lw_part;

static lw_part begin_part(lw_lower *l, const lw_code *from) {
    const lw_part part = {
        from, l->vregs.count, l->label_blocks.count, l->lists.count, l->targets.count, l->constants.count, 0, NULL};
    for (uint32_t v = 0; v < from->virtual_count; v++) LW_PUSH(l->arena, l->vregs) = from->registers[v];
    for (uint32_t b = 0; b < from->block_count; b++) lw_lower_label(l);
    for (uint32_t i = 0; i < from->slot_count; i++)
        LW_PUSH(l->arena, l->lists) = from->slots[i] == LW_NO_SLOT ? LW_NO_SLOT : part.registers + from->slots[i];
    for (uint32_t i = 0; i < from->target_count; i++) LW_PUSH(l->arena, l->targets) = part.labels + from->targets[i];
    for (uint32_t i = 0; i < from->constant_count; i++) LW_PUSH(l->arena, l->constants) = from->constants[i];
    return part;
}

static void place_label(lw_lower *l, uint32_t label) {
    lw_lower_new_block(l);
    l->label_blocks.at[label] = l->blocks.count - 1;
}

static void count_instructions(lw_lower *l, lw_part *part, uint32_t block) {
    for (uint32_t k = 0; k < part->from->blocks[block].instructions; k++) {
        l->place = part->from->instructions[part->instruction++];
        lw_lower_count(l);
    }
}

/* Whether what is in the block that is open may end the launch: then what it stands for must not be more than that. */
static bool may_trap(const lw_lower *l) {
    enum { MOST = 64 }; /* further is not looked */
    const uint32_t first = l->blocks.at[l->blocks.count - 1].first;
    if (l->ops.count - first > MOST) return true;
    for (uint32_t n = first; n < l->ops.count; n++)
        if (lw_op_does(&l->ops.at[n], LW_DOES_MAY_TRAP)) return true;
    return false;
}

/* A block begins. joins: it may as well be the rest of the one before, where lanes come from nowhere else. */
static void begin_block(lw_lower *l, lw_part *part, uint32_t block, bool joins) {
    l->place = part->from->places[part->from->blocks[block].first];
    if (joins && l->open && part->straight[block] && (!part->from->blocks[block].instructions || !may_trap(l)))
        l->label_blocks.at[part->labels + block] = l->blocks.count - 1;
    else place_label(l, part->labels + block);
    count_instructions(l, part, block);
}

/* Other operations may stand behind its last one. */
static bool goes_on(const lw_code *code, uint32_t block) {
    const lw_op_row *row = lw_row_of(lw_block_last(code, block)->code);
    return row->goes == LW_GOES_on && !(row->does & (LW_DOES_WAITS | LW_DOES_EXCHANGES));
}

/* It does not have to be a block. */
static bool may_join(const lw_code *code, uint32_t block) {
    const uint32_t first = code->blocks[block].first + 1;
    return first == lw_block_end(code, block) || !lw_begins_block(code->ops[first].code);
}

static bool has_list(const lw_op *op, const lw_op_row *row) {
    return row->list == LW_LIST_pairs || row->list == LW_LIST_texels || row->list == LW_LIST_matrices ||
           ((row->list == LW_LIST_loaded || row->list == LW_LIST_stored) && lw_memory_unpack(op->c).vector);
}

static void copy_op(lw_lower *l, const lw_part *part, uint32_t n) {
    const lw_op_row *row = lw_row_of(part->from->ops[n].code);
    lw_op op = part->from->ops[n];
    const uint32_t single = row->list == LW_LIST_loaded || row->list == LW_LIST_stored ? LW_FIELD_D : 0,
                   fields = (lw_row_fields(row, LW_READ) | lw_row_fields(row, LW_WRITTEN) | single) &
                            ~(row->numbers ? lw_op_numbers(&op) : 0);
    for (uint32_t k = 0; k < LW_FIELDS; k++)
        if (fields >> k & 1 && (&op.d)[k] != LW_NO_SLOT) (&op.d)[k] += k || !has_list(&op, row) ? part->registers : 0;
    if (has_list(&op, row)) op.d += part->slots;
    if (row->goes == LW_GOES_to_a || row->goes == LW_GOES_either) op.a += part->labels;
    if (row->goes == LW_GOES_to_table) op.imm += part->targets;
    if (row->holds.imm == LW_HOLDS_constants) op.imm += part->constants;
    LW_PUSH(l->arena, l->ops) = op;
    LW_PUSH(l->arena, l->op_places) = part->from->places[n];
}

static lw_transfer *copy_transfers(lw_lower *l, const lw_transfer *from, uint32_t count) {
    return lw_arena_copy(l->arena, from, count * sizeof *from);
}

/* Of the function at hand itself, whose registers and labels keep their numbers. */
static lw_call *copy_call(lw_lower *l, const lw_part *part, uint32_t n) {
    const lw_call *from = &part->from->calls[part->from->ops[n].imm];
    copy_op(l, part, n);
    l->ops.at[l->ops.count - 1].imm = l->calls.count;
    lw_call *call = &LW_PUSH(l->arena, l->calls);
    *call = *from;
    call->arguments = copy_transfers(l, from->arguments, from->argument_count);
    call->results = copy_transfers(l, from->results, from->result_count);
    return call;
}

/* ---- What is handed over ---------------------------------------------------------------------------------------- */

/* What the caller has for this piece. */
static uint32_t argument_of(lw_lower *l, const lw_piece *piece, const lw_transfer *t) {
    if (!piece->in_memory) return t->from;
    const uint32_t v = lw_lower_vreg(l, lw_class_of_size(piece->size));
    lw_lower_frame_access(l, LW_OP_ld, v, t->from + piece->offset, piece->size);
    return v;
}

/* Bytes of a result that the function never writes are 0. */
static void clear(lw_lower *l, uint32_t from, uint32_t to) {
    while (from < to) {
        uint8_t size = 3;
        while (from % (1u << size) || from + (1u << size) > to) size--;
        lw_lower_frame_access(l, LW_OP_st, lw_lower_const(l, lw_class_of_size(size), 0), from, size);
        from += 1u << size;
    }
}

/* What a call gave, which the block behind it begins with; form NULL: nothing. */
typedef struct lw_given_back {
    const lw_form *form;
    const lw_call *call;  /* what it was */
    const uint32_t *from; /* registers, piece by piece */
} lw_given_back;

/* Results that come in registers go to where the caller wants them. */
static void take_results(lw_lower *l, const lw_given_back *results) {
    const lw_form *form = results->form;
    const lw_call *call = results->call;
    const uint32_t *from = results->from;
    for (uint32_t k = 0, i = 0; form && k < call->result_count; k++) {
        const lw_transfer *t = &call->results[k];
        uint32_t at = 0;
        for (; i < form->pieces.returns.count && form->pieces.returns.at[i].transfer == k; i++) {
            const lw_piece *piece = &form->pieces.returns.at[i];
            if (!t->in_memory) {
                if (from[i] == t->to) continue;
                lw_lower_move(l, t->to, from[i]);
                l->vregs.at[t->to].starts_at_0 = true; /* a call is no move: what was there before may be read */
                continue;
            }
            clear(l, t->to + at, t->to + piece->offset);
            lw_lower_frame_access(l, LW_OP_st, from[i], t->to + piece->offset, piece->size);
            at = piece->offset + (1u << piece->size);
        }
        if (t->in_memory) clear(l, t->to + at, t->to + t->size);
    }
}

/* ---- Calls of functions that stay ------------------------------------------------------------------------------ */

/* Behind the call there is a block which lanes come to from nowhere else. */
static bool is_next(const lw_part *part, uint32_t block, const lw_call *call) {
    return call->return_block == block + 1 && part->straight[block + 1];
}

static void go_on_at(lw_lower *l, uint32_t label) {
    lw_lower_op(l, LW_OP_bra)->a = label;
    l->open = false;
}

/* Room for what stands in front of a call, which begins a block. */
static void begin_in_front(lw_lower *l, const lw_part *part, uint32_t block) {
    l->place = part->from->places[part->from->blocks[block].first];
    if (l->open && part->straight[block]) l->label_blocks.at[part->labels + block] = l->blocks.count - 1;
    else place_label(l, part->labels + block);
}

/* A call with registers for what was in memory. */
static lw_given_back call_in_registers(lw_lower *l, lw_part *part, uint32_t block, const lw_form *form,
                                       const lw_given_back *before) {
    const uint32_t n = lw_block_end(part->from, block) - 1;
    const lw_call *old = &part->from->calls[part->from->ops[n].imm];
    const uint32_t params = form->pieces.params.count, returns = form->pieces.returns.count;
    uint32_t *given = LW_NEW_ARRAY(l->arena, uint32_t, params), *taken = LW_NEW_ARRAY(l->arena, uint32_t, returns);
    begin_in_front(l, part, block);
    take_results(l, before);
    for (uint32_t i = 0; i < params; i++)
        given[i] = argument_of(l, &form->pieces.params.at[i], &old->arguments[form->pieces.params.at[i].transfer]);
    l->place = part->from->places[n];
    lw_lower_new_block(l);
    count_instructions(l, part, block);
    lw_call *call = copy_call(l, part, n);
    call->argument_count = params, call->result_count = returns;
    call->arguments = LW_NEW_ARRAY(l->arena, lw_transfer, params);
    call->results = LW_NEW_ARRAY(l->arena, lw_transfer, returns);
    for (uint32_t i = 0; i < params; i++)
        call->arguments[i] = (lw_transfer){.from = given[i], .size = form->code->params[i].size};
    for (uint32_t i = 0; i < returns; i++) {
        const lw_piece *piece = &form->pieces.returns.at[i];
        const lw_class class = (lw_class)form->code->registers[form->code->returns[i].from].class;
        taken[i] = piece->in_memory ? lw_lower_vreg(l, class) : old->results[piece->transfer].to;
        call->results[i] = (lw_transfer){.to = taken[i], .size = form->code->returns[i].size};
    }
    bool stores = false;
    for (uint32_t k = 0; k < old->result_count; k++) stores |= old->results[k].in_memory;
    l->open = false;
    const lw_given_back results = {stores ? form : NULL, old, taken};
    if (!stores || is_next(part, block, old)) return results;
    call->return_block = lw_lower_label(l);
    place_label(l, call->return_block);
    take_results(l, &results);
    go_on_at(l, part->labels + old->return_block);
    return (lw_given_back){0};
}

/* ---- Calls that are inlined ------------------------------------------------------------------------------------- */

static void take_arguments(lw_lower *l, const lw_form *form, const lw_part *inner, const lw_call *call) {
    for (uint32_t i = 0; i < form->pieces.params.count; i++) {
        const lw_piece *piece = &form->pieces.params.at[i];
        const uint32_t to = inner->registers + form->code->params[i].to;
        lw_lower_move(l, to, argument_of(l, piece, &call->arguments[piece->transfer]));
    }
    for (uint32_t v = 0; v < form->code->virtual_count; v++)
        if (lw_set_has(form->zeros, v))
            lw_lower_move(l, inner->registers + v, lw_lower_const(l, (lw_class)form->code->registers[v].class, 0));
}

/* Per block: lanes can come to it. */
static const bool *find_reached(lw_arena *arena, const lw_code *code) {
    bool *reached = LW_NEW_ARRAY(arena, bool, code->block_count);
    uint32_t *todo = LW_NEW_ARRAY(arena, uint32_t, code->block_count), count = 1; /* it begins with the first */
    reached[0] = true;
    while (count) {
        const lw_block *block = &code->blocks[todo[--count]];
        for (uint32_t k = 0; k < block->successor_count; k++) {
            const uint32_t to = block->successors[k];
            if (!reached[to]) todo[count++] = to;
            reached[to] = true;
        }
    }
    return reached;
}

/* Per block: it may be the rest of what stands in front of it; the first one, too, unless lanes go back there. */
static const bool *find_joining(lw_arena *arena, const lw_code *code) {
    bool *straight = lw_find_straight(arena, code);
    straight[0] = true;
    for (uint32_t i = 0; i < code->target_count; i++) straight[0] &= code->targets[i] != 0;
    for (uint32_t n = 0; n < code->op_count; n++)
        straight[0] &= !(code->ops[n].flags & LW_OP_BACKWARD && !code->ops[n].a);
    return straight;
}

/* The blocks of the function; who returns goes on behind the last of them. False: nobody returns. */
static bool copy_blocks(lw_lower *l, lw_part *inner, const bool *reached, lw_place call) {
    const lw_code *code = inner->from;
    uint32_t back = LW_NO_SLOT, last = code->block_count - 1;
    while (!reached[last]) last--;
    for (uint32_t b = 0; b <= last; b++) {
        const uint32_t end = lw_block_end(code, b);
        const bool returns = code->ops[end - 1].code == LW_OP_ret;
        if (!reached[b]) {
            inner->instruction += code->blocks[b].instructions;
            l->label_blocks.at[inner->labels + b] = l->blocks.count - 1; /* a table may name it that nobody uses */
            continue;
        }
        begin_block(l, inner, b, may_join(code, b) || (returns && end - code->blocks[b].first == 2));
        for (uint32_t n = code->blocks[b].first + 1; n < end - returns; n++) copy_op(l, inner, n);
        l->open = returns || goes_on(code, b);
        if (!returns || b == last) continue;
        if (back == LW_NO_SLOT) back = lw_lower_label(l);
        l->place = code->places[end - 1];
        go_on_at(l, back);
    }
    l->place = call;
    if (back != LW_NO_SLOT) place_label(l, back);
    return back != LW_NO_SLOT || code->ops[lw_block_end(code, last) - 1].code == LW_OP_ret;
}

static lw_given_back inline_call(lw_lower *l, lw_part *part, uint32_t block, const lw_form *form,
                                 const lw_given_back *before) {
    const uint32_t n = lw_block_end(part->from, block) - 1;
    const lw_call *call = &part->from->calls[part->from->ops[n].imm];
    lw_part inner = begin_part(l, form->code);
    inner.straight = find_joining(l->arena, form->code);
    uint32_t *from = LW_NEW_ARRAY(l->arena, uint32_t, form->code->return_count);
    begin_block(l, part, block, true);
    take_results(l, before);
    l->place = part->from->places[n];
    take_arguments(l, form, &inner, call);
    const bool comes_back = copy_blocks(l, &inner, find_reached(l->arena, form->code), part->from->places[n]);
    for (uint32_t i = 0; i < form->code->return_count; i++) from[i] = inner.registers + form->code->returns[i].from;
    const lw_given_back results = {form, call, from};
    l->open = comes_back;
    if (!comes_back) return (lw_given_back){0};
    if (is_next(part, block, call)) return results;
    take_results(l, &results);
    if (call->return_block != block + 1) go_on_at(l, part->labels + call->return_block);
    return (lw_given_back){0};
}

/* A block with whatever it ends with. */
static void copy_block(lw_lower *l, lw_part *part, uint32_t block, const lw_given_back *results) {
    const lw_code *code = part->from;
    begin_block(l, part, block, results->form && may_join(code, block));
    take_results(l, results);
    for (uint32_t n = code->blocks[block].first + 1; n < lw_block_end(code, block); n++)
        if (lw_row_of(code->ops[n].code)->list == LW_LIST_call) copy_call(l, part, n);
        else copy_op(l, part, n);
    l->open = goes_on(code, block);
}

/* ---- One function ----------------------------------------------------------------------------------------------- */

static const lw_form *form_of_call(const lw_inliner *in, const lw_code *code, const lw_op *op) {
    if (op->code != LW_OP_call) return NULL;
    const lw_form *form = &in->forms[code->calls[op->imm].function];
    return form->code && (form->is_inlined || !in->by_address) ? form : NULL;
}

/* How much longer it makes who calls it. */
static uint32_t weight_of(const lw_code *code) {
    return code->op_count + (code->virtual_count + code->instruction_count + code->target_count) / 8;
}

/* All of a function, with its calls as they are now. */
static void rebuild(const lw_inliner *in, const lw_code *code) {
    lw_lower *l = in->l;
    uint32_t left = code->op_count > LW_INLINE_GROWTH ? code->op_count : LW_INLINE_GROWTH;
    lw_lower_begin(l, code, code->place, code->instruction_count);
    l->local_bytes = code->local_bytes, l->local_align = code->local_align;
    l->rooms.at = lw_arena_copy(l->arena, code->rooms, code->room_count * sizeof *code->rooms);
    l->rooms.count = l->rooms.room = code->room_count;
    lw_part part = begin_part(l, code);
    part.straight = lw_find_straight(l->arena, code);
    lw_given_back results = {0};
    for (uint32_t b = 0; b < code->block_count; b++) {
        const lw_form *form = form_of_call(in, code, lw_block_last(code, b));
        if (form && form->is_inlined && weight_of(form->code) <= left) {
            left -= weight_of(form->code);
            results = inline_call(l, &part, b, form, &results);
        } else if (form && !in->by_address) results = call_in_registers(l, &part, b, form, &results);
        else copy_block(l, &part, b, &results), results = (lw_given_back){0};
    }
    lw_lower_lay(l);
}

/* Lanes wait for those that they name: these may come from anywhere. */
static bool is_meeting(const lw_op *ops, uint32_t n) {
    const uint16_t code = ops[n].code;
    if (lw_op_does(&ops[n], LW_DOES_EXCHANGES))
        return ops[n - 1].code == LW_OP_warp_sync; /* else it takes who is here */
    return code == LW_OP_warp_sync || code == LW_OP_barrier;
}

/* What a function may have that is inlined. */
static bool is_simple(const lw_op *ops, uint32_t n) {
    const lw_op *op = &ops[n];
    const lw_op_row *row = lw_row_of(op->code);
    if (row->list == LW_LIST_call) return false;
    if (row->does & (LW_DOES_WAITS | LW_DOES_EXCHANGES) && !is_meeting(ops, n)) return false;
    if (row->does & LW_DOES_MEMORY && lw_memory_unpack(op->c).frame) return false;
    return op->code != LW_OP_exit && op->code != LW_OP_alloca && op->code != LW_OP_local_base &&
           op->code != LW_OP_yield && op->code != LW_OP_cluster_arrive;
}

static bool is_small(const lw_code *code) {
    bool simple = code->op_count <= LW_INLINE_MOST && weight_of(code) <= 2 * LW_INLINE_MOST, loops = false,
         races = false;
    for (uint32_t n = 0; simple && n < code->op_count; n++) {
        simple = is_simple(code->ops, n);
        loops |= (code->ops[n].flags & LW_OP_BACKWARD) != 0;
        races |= lw_op_races(&code->ops[n]);
    }
    return simple && !(loops && races); /* such a loop may wait for others */
}

/* Registers that begin as 0 in each call. */
static const uint64_t *find_zeros(lw_arena *arena, const lw_code *code) {
    uint32_t *numbers = LW_NEW_ARRAY(arena, uint32_t, code->virtual_count);
    const uint32_t words = (code->virtual_count + 63) / 64, passes = code->block_count + 2;
    for (uint32_t v = 0; v < code->virtual_count; v++) numbers[v] = code->registers[v].is_const ? 0 : v + 1;
    for (uint32_t k = 0; k < code->param_count; k++) numbers[code->params[k].to] = 0;
    lw_live live = {.code = code, .numbers = numbers, .words = words};
    uint64_t *sets = LW_NEW_ARRAY(arena, uint64_t, 4 * (size_t)words * code->block_count);
    if (!lw_live_solve(&live, sets, LW_NEW_ARRAY(arena, uint32_t, code->target_count), passes))
        lw_bug("what lives in function '%s' is not found", code->name);
    return live.in;
}

static void finish_form(lw_inliner *in, lw_form *form, const lw_code *code) {
    form->code = code;
    form->is_inlined = is_small(code);
    if (form->is_inlined) form->zeros = find_zeros(in->l->arena, code);
}

/* Something is to be done with it. */
static bool gains(const lw_inliner *in, const lw_code *code, bool wanted) {
    bool calls = false;
    for (uint32_t k = 0; k < code->call_count && !calls; k++)
        calls = code->calls[k].function != LW_NO_SLOT && in->forms[code->calls[k].function].code;
    return calls || code->room_count || (wanted && code->op_count <= LW_INLINE_MOST);
}

static bool is_wanted(const lw_inliner *in, uint32_t number) {
    return !in->l->program->functions[number]->is_entry && !in->odd[number];
}

/* How a function of a cycle is called, before it and those that it calls are done: what it accesses in the same
 * elements now it still does when its calls have become others. What it hands on in memory stays there. */
static void foresee_form(lw_inliner *in, uint32_t number) {
    lw_lower *l = in->l;
    lw_code *code = l->program->functions[number];
    lw_form *form = &in->forms[number];
    if (!is_wanted(in, number)) return;
    rebuild(in, code);
    if (lw_lower_cells(l, &form->pieces)) {
        lw_lower_finish(l);
        form->code = l->code;
    }
    l->program->functions[number] = code;
}

/* One that is called as was foreseen, or calls such. */
static void do_function_in_cycle(lw_inliner *in, uint32_t number) {
    lw_lower *l = in->l;
    const lw_code *code = l->program->functions[number];
    const lw_form *form = &in->forms[number];
    lw_pieces pieces = {0};
    if (!gains(in, code, false)) return;
    rebuild(in, code);
    const bool handed = lw_lower_cells(l, form->code ? &pieces : NULL);
    if (form->code && (!handed || pieces.params.count != form->pieces.params.count ||
                       pieces.returns.count != form->pieces.returns.count))
        lw_bug("function '%s' takes other parameters than was foreseen", code->name);
    lw_lower_finish(l);
}

static void do_function(lw_inliner *in, uint32_t number) {
    lw_lower *l = in->l;
    lw_code *code = l->program->functions[number], *with_memory;
    lw_form *form = &in->forms[number];
    const bool wanted = is_wanted(in, number);
    if (!gains(in, code, wanted)) return;
    rebuild(in, code);
    const bool handed = lw_lower_cells(l, wanted && !in->by_address ? &form->pieces : NULL);
    lw_lower_finish(l);
    if (handed) finish_form(in, form, l->code);
    if (!wanted || !in->by_address || l->code->op_count > 2 * LW_INLINE_MOST) return;
    with_memory = l->code; /* for calls by its address */
    rebuild(in, code);
    if (lw_lower_cells(l, &form->pieces)) {
        lw_lower_finish(l);
        finish_form(in, form, l->code);
    }
    l->program->functions[number] = with_memory;
}

/* ---- The program ------------------------------------------------------------------------------------------------ */

static void look_at_calls(lw_inliner *in, uint32_t number) {
    const lw_program *program = in->l->program;
    const lw_code *code = program->functions[number];
    for (uint32_t k = 0; k < code->call_count; k++) {
        const uint32_t callee = code->calls[k].function;
        in->by_address |= callee == LW_NO_SLOT;
        if (callee == LW_NO_SLOT) continue;
        in->edges[in->edge_count] = (lw_edge){number, in->callers[callee]};
        in->callers[callee] = ++in->edge_count;
        in->waits[number]++;
        in->odd[callee] |= !lw_call_agrees(&code->calls[k], program->functions[callee]);
    }
}

static void done(lw_inliner *in, uint32_t number) {
    for (uint32_t e = in->callers[number]; e; e = in->edges[e - 1].next)
        if (!--in->waits[in->edges[e - 1].caller]) in->todo[in->todo_count++] = in->edges[e - 1].caller;
}

/* Functions that nobody calls any more, by name or by address, need no code. */
static void forget_unreached(lw_inliner *in) {
    lw_program *program = in->l->program;
    bool *reached = LW_NEW_ARRAY(in->l->arena, bool, program->code_count);
    in->todo_count = 0;
    in->todo[in->todo_count++] = program->entry_index;
    reached[program->entry_index] = true;
    while (in->todo_count) {
        const lw_code *code = program->functions[in->todo[--in->todo_count]];
        for (uint32_t k = 0; k < code->call_count; k++) {
            const uint32_t callee = code->calls[k].function;
            if (reached[callee]) continue;
            reached[callee] = true;
            in->todo[in->todo_count++] = callee;
        }
    }
    for (uint32_t i = 0; i < program->code_count; i++) {
        lw_code *code = program->functions[i];
        if (!reached[i])
            *code = (lw_code){.name = code->name,
                              .place = code->place,
                              .number = code->number,
                              .index = code->index,
                              .lowered = true,
                              .local_align = code->local_align,
                              .registers = code->registers};
    }
}

void lw_inline_calls(lw_lower *l) {
    lw_program *program = l->program;
    const uint32_t count = program->code_count;
    lw_inliner in = {.l = l};
    uint32_t calls = 0;
    for (uint32_t i = 0; i < count; i++) calls += program->functions[i]->call_count;
    if (!calls) return;
    in.forms = LW_NEW_ARRAY(l->arena, lw_form, count);
    in.waits = LW_NEW_ARRAY(l->arena, uint32_t, count);
    in.callers = LW_NEW_ARRAY(l->arena, uint32_t, count);
    in.todo = LW_NEW_ARRAY(l->arena, uint32_t, count);
    in.odd = LW_NEW_ARRAY(l->arena, bool, count);
    in.edges = LW_NEW_ARRAY(l->arena, lw_edge, calls);
    for (uint32_t i = 0; i < count; i++) look_at_calls(&in, i);
    for (uint32_t i = 0; i < count; i++)
        if (!in.waits[i]) in.todo[in.todo_count++] = i;
    for (uint32_t next = 0; next < in.todo_count; next++) {
        do_function(&in, in.todo[next]);
        done(&in, in.todo[next]);
    }
    for (uint32_t i = 0; i < count && !in.by_address; i++)
        if (in.waits[i]) foresee_form(&in, i);
    for (uint32_t i = 0; i < count; i++)
        if (in.waits[i]) do_function_in_cycle(&in, i);
    if (!in.by_address) forget_unreached(&in);
}
