/* cells.c: memory of a function's frame that is always accessed in the same elements, at offsets that are known,
 * becomes registers: parameters that callers and callees hand over in memory, above all. Linear in the function.
 *
 * What nobody has the address of can be reached by the operations alone that name it. An element that all of these
 * access as it is, or not at all, is a cell: a register that is 0 before it is written, as the memory was. */
#include "middle/lower.h"

#include "middle/facts.h"

enum {
    LW_CELL_ROOM_MOST = 256,   /* bytes of a variable; larger ones are arrays */
    LW_CELL_BYTES_MOST = 16384 /* of all of them */
};
enum { LW_CELL_INSIDE = 0x80 }; /* of a byte: within a cell; at its begin there is 1 + its size */

typedef struct lw_cells {
    lw_lower *l;
    uint8_t *bytes;  /* of all rooms that are looked at, one behind the other */
    uint32_t *begin; /* per room: where its bytes are; LW_NO_SLOT: it stays memory */
    uint32_t *regs;  /* per byte that begins a cell: 1 + its register */
    uint32_t count;  /* of bytes */
} lw_cells;

/* ---- Which rooms ------------------------------------------------------------------------------------------------ */

/* The last that begins at the offset, or before it, and has it; LW_NO_SLOT: none has. */
static uint32_t room_of(const lw_cells *c, uint64_t offset) {
    const lw_code *code = c->l->code;
    uint32_t low = 0, high = code->room_count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (code->rooms[middle].offset <= offset) low = middle + 1;
        else high = middle;
    }
    return low && offset - code->rooms[low - 1].offset < code->rooms[low - 1].size ? low - 1 : LW_NO_SLOT;
}

static void spoil(lw_cells *c, uint64_t offset, uint64_t size) {
    const lw_code *code = c->l->code;
    uint32_t room = room_of(c, offset);
    for (uint64_t at = offset; room == LW_NO_SLOT && at < offset + size; at++) room = room_of(c, at);
    for (; room < code->room_count && code->rooms[room].offset < offset + size; room++) c->begin[room] = LW_NO_SLOT;
}

/* An element is accessed. */
static void claim(lw_cells *c, uint64_t offset, uint32_t size) {
    const uint32_t room = room_of(c, offset), bytes = 1u << size;
    if (room == LW_NO_SLOT || offset - c->l->code->rooms[room].offset + bytes > c->l->code->rooms[room].size) {
        spoil(c, offset, bytes);
        return;
    }
    if (c->begin[room] == LW_NO_SLOT) return;
    uint8_t *at = &c->bytes[c->begin[room] + (offset - c->l->code->rooms[room].offset)];
    bool fits = *at == 1 + size;
    if (!*at) {
        fits = true;
        for (uint32_t k = 1; k < bytes; k++) fits &= !at[k];
        for (uint32_t k = 1; fits && k < bytes; k++) at[k] = LW_CELL_INSIDE;
        if (fits) *at = (uint8_t)(1 + size);
    }
    if (!fits) c->begin[room] = LW_NO_SLOT;
}

static bool is_plain(const lw_op *op, lw_memory_form form) {
    return (op->code == LW_OP_ld || op->code == LW_OP_st) && !form.address && !form.is_volatile && !form.is_const;
}

/* Every access to the frame by its operations. False: one that nobody knows the place of. */
static bool look_at_accesses(lw_cells *c) {
    const lw_code *code = c->l->code;
    for (uint32_t n = 0; n < code->op_count; n++) {
        const lw_op *op = &code->ops[n];
        const lw_memory_form form = lw_memory_unpack(op->c);
        if (!lw_op_does(op, LW_DOES_MEMORY) || !form.frame) continue;
        if (!is_plain(op, form)) return false;
        for (uint32_t k = 0; k < 1u << form.vector; k++) claim(c, op->imm + ((uint64_t)k << form.size), form.size);
    }
    return true;
}

/* What calls hand over in memory stays there. */
static void look_at_calls(lw_cells *c) {
    const lw_code *code = c->l->code;
    for (uint32_t i = 0; i < code->call_count; i++) {
        const lw_call *call = &code->calls[i];
        for (uint32_t k = 0; k < call->argument_count; k++)
            if (call->arguments[k].in_memory) spoil(c, call->arguments[k].from, call->arguments[k].size);
        for (uint32_t k = 0; k < call->result_count; k++)
            if (call->results[k].in_memory) spoil(c, call->results[k].to, call->results[k].size);
    }
}

static bool stays(const lw_cells *c, const lw_transfer *t, uint32_t at) {
    if (!t->in_memory) return false;
    const uint32_t room = room_of(c, at);
    return t->is_open || room == LW_NO_SLOT || c->begin[room] == LW_NO_SLOT || c->l->code->rooms[room].offset != at ||
           c->l->code->rooms[room].size != t->size;
}

/* All that is handed over to the function, and by it, can be in registers; else what is in memory stays there. */
static bool look_at_formals(lw_cells *c, bool wanted) {
    const lw_code *code = c->l->code;
    bool can = wanted;
    for (uint32_t k = 0; k < code->param_count; k++) can &= !stays(c, &code->params[k], code->params[k].to);
    for (uint32_t k = 0; k < code->return_count; k++) can &= !stays(c, &code->returns[k], code->returns[k].from);
    if (can) return true;
    for (uint32_t k = 0; k < code->param_count; k++)
        if (code->params[k].in_memory) spoil(c, code->params[k].to, code->params[k].size);
    for (uint32_t k = 0; k < code->return_count; k++)
        if (code->returns[k].in_memory) spoil(c, code->returns[k].from, code->returns[k].size);
    return false;
}

static bool find_rooms(lw_cells *c) {
    const lw_code *code = c->l->code;
    c->begin = LW_NEW_ARRAY(c->l->arena, uint32_t, code->room_count);
    for (uint32_t i = 0; i < code->room_count; i++) {
        const lw_room *room = &code->rooms[i];
        c->begin[i] = LW_NO_SLOT;
        if (room->has_address || room->size > LW_CELL_ROOM_MOST || c->count + room->size > LW_CELL_BYTES_MOST) continue;
        c->begin[i] = c->count;
        c->count += room->size;
    }
    c->bytes = LW_NEW_ARRAY(c->l->arena, uint8_t, c->count);
    c->regs = LW_NEW_ARRAY(c->l->arena, uint32_t, c->count);
    return c->count;
}

/* ---- Registers -------------------------------------------------------------------------------------------------- */

static bool make_registers(lw_cells *c) {
    bool any = false;
    for (uint32_t i = 0; i < c->l->code->room_count; i++)
        for (uint32_t k = 0; c->begin[i] != LW_NO_SLOT && k < c->l->code->rooms[i].size; k++) {
            const uint32_t at = c->begin[i] + k;
            if (!c->bytes[at] || c->bytes[at] == LW_CELL_INSIDE) continue;
            c->regs[at] = 1 + lw_lower_vreg(c->l, lw_class_of_size((uint8_t)(c->bytes[at] - 1)));
            any = true;
        }
    return any;
}

/* LW_NO_SLOT: none begins here. */
static uint32_t cell_at(const lw_cells *c, uint64_t offset) {
    const uint32_t room = room_of(c, offset);
    if (room == LW_NO_SLOT || c->begin[room] == LW_NO_SLOT) return LW_NO_SLOT;
    return c->regs[c->begin[room] + (offset - c->l->code->rooms[room].offset)] - 1;
}

/* A cell of a byte has zeros in front of it. */
static void store(lw_lower *l, uint32_t cell, uint32_t value, uint32_t size) {
    const lw_class class = (lw_class)l->vregs.at[cell].class;
    if (l->vregs.at[value].is_const) {
        const uint64_t bits = l->vregs.at[value].value;
        lw_lower_move(l, cell, lw_lower_const(l, class, size ? bits : (uint8_t)bits));
        return;
    }
    const uint32_t narrow = lw_lower_resize(l, value, class, false);
    if (size) lw_lower_move(l, cell, narrow);
    else lw_lower_lane_into(l, cell, LW_LANE_zext8_b16, narrow, LW_NO_SLOT, LW_NO_SLOT);
}

static void load(lw_lower *l, uint32_t d, uint32_t cell, lw_memory_form form) {
    uint32_t value = cell;
    if (!form.size && form.is_signed) value = lw_lower_lane(l, LW_LANE_sext8_b16, cell, LW_NO_SLOT, LW_NO_SLOT);
    lw_lower_move(l, d, lw_lower_resize(l, value, (lw_class)l->vregs.at[d].class, form.is_signed));
}

static void access(lw_cells *c, const lw_op *op) {
    const lw_memory_form form = lw_memory_unpack(op->c);
    for (uint32_t k = 0; k < 1u << form.vector; k++) {
        const uint32_t v = form.vector ? c->l->code->slots[op->d + k] : op->d,
                       cell = cell_at(c, op->imm + ((uint64_t)k << form.size));
        if (v == LW_NO_SLOT) continue;
        if (op->code == LW_OP_st) store(c->l, cell, v, form.size);
        else load(c->l, v, cell, form);
    }
}

static void put_all(lw_cells *c) {
    lw_lower *l = c->l;
    lw_code *code = l->code;
    uint32_t guard = 0;
    l->open = true; /* all blocks are there */
    l->ops.at = NULL, l->ops.count = l->ops.room = 0;
    l->op_places.at = NULL, l->op_places.count = l->op_places.room = 0;
    for (uint32_t n = 0; n < code->op_count; n++) {
        const lw_op *op = &code->ops[n];
        const bool is_access = lw_op_does(op, LW_DOES_MEMORY) && lw_memory_unpack(op->c).frame;
        l->place = code->places[n];
        if (is_access && cell_at(c, op->imm) != LW_NO_SLOT) {
            access(c, op);
            continue;
        }
        if (op->code == LW_OP_guard) guard = l->ops.count;
        if (op->code == LW_OP_unguard) l->ops.at[guard].imm = l->ops.count - guard;
        if (op->code == LW_OP_block) code->blocks[op->a].first = l->ops.count;
        LW_PUSH(l->arena, l->ops) = *op;
        LW_PUSH(l->arena, l->op_places) = l->place;
    }
    code->ops = l->ops.at, code->op_count = l->ops.count;
    code->places = l->op_places.at;
}

/* Those that may be read before they are written are 0 then, whatever is written once. */
static void mark_zeros(lw_cells *c) {
    enum { PASSES = 8 };
    lw_lower *l = c->l;
    uint32_t cells = 0, *numbers = LW_NEW_ARRAY(l->arena, uint32_t, l->vregs.count);
    for (uint32_t at = 0; at < c->count; at++)
        if (c->regs[at]) numbers[c->regs[at] - 1] = ++cells;
    lw_live live = {.code = l->code, .numbers = numbers, .words = (cells + 63) / 64};
    const size_t words = 4 * (size_t)live.words * l->code->block_count;
    const bool known = words <= (size_t)l->code->op_count * 16 &&
                       lw_live_solve(&live, LW_NEW_ARRAY(l->arena, uint64_t, words),
                                     LW_NEW_ARRAY(l->arena, uint32_t, l->code->target_count), PASSES);
    for (uint32_t at = 0; at < c->count; at++)
        if (c->regs[at])
            l->vregs.at[c->regs[at] - 1].starts_at_0 = !known || lw_set_has(live.in, numbers[c->regs[at] - 1] - 1);
}

/* ---- What is handed over ---------------------------------------------------------------------------------------- */

typedef LW_LIST(lw_transfer) lw_transfers;

/* Of transfer number k, at `at` in the frame, or a register. */
static void take_apart(const lw_cells *c, const lw_transfer *t, uint32_t k, uint32_t at, lw_pieces *pieces,
                       bool is_return, lw_transfers *to) {
    lw_arena *arena = c->l->arena;
    for (uint32_t offset = 0; offset < (t->in_memory ? t->size : 1); offset++) {
        const uint32_t reg = t->in_memory ? cell_at(c, (uint64_t)at + offset) : at;
        if (reg == LW_NO_SLOT) continue; /* no cell begins here: nobody looks at it, or it is within one */
        const uint8_t size = t->in_memory ? c->bytes[c->begin[room_of(c, at)] + offset] - 1 : 0;
        const lw_piece piece = {.transfer = k, .offset = offset, .size = size, .in_memory = t->in_memory};
        if (is_return) LW_PUSH(arena, pieces->returns) = piece;
        else LW_PUSH(arena, pieces->params) = piece;
        LW_PUSH(arena, *to) =
            (lw_transfer){.from = reg, .to = reg, .size = lw_class_bytes((lw_class)c->l->vregs.at[reg].class)};
    }
}

static void hand_over_in_registers(const lw_cells *c, lw_pieces *pieces) {
    lw_code *code = c->l->code;
    lw_transfers params = {0}, returns = {0};
    for (uint32_t k = 0; k < code->param_count; k++)
        take_apart(c, &code->params[k], k, code->params[k].to, pieces, false, &params);
    for (uint32_t k = 0; k < code->return_count; k++)
        take_apart(c, &code->returns[k], k, code->returns[k].from, pieces, true, &returns);
    code->params = params.at, code->param_count = params.count;
    code->returns = returns.at, code->return_count = returns.count;
}

bool lw_lower_cells(lw_lower *l, lw_pieces *pieces) {
    lw_cells c = {.l = l};
    const bool any = find_rooms(&c);
    if (any) {
        if (!look_at_accesses(&c))
            for (uint32_t i = 0; i < l->code->room_count; i++) c.begin[i] = LW_NO_SLOT;
        look_at_calls(&c);
    }
    const bool hands_over = look_at_formals(&c, pieces != NULL), has_cells = any && make_registers(&c);
    if (has_cells) put_all(&c);
    if (hands_over) hand_over_in_registers(&c, pieces);
    if (has_cells) mark_zeros(&c);
    return hands_over;
}
