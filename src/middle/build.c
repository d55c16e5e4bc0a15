/* build.c: what all instruction sets make their operations with: virtual registers, operations, blocks, notes. */
#define _GNU_SOURCE
#include "middle/lower.h"

#include <stdlib.h>

/* ---- Virtual registers and operations ------------------------------------------------------------------ */

uint32_t lw_lower_vreg(lw_lower *l, lw_class class) {
    LW_PUSH(l->arena, l->vregs) = (lw_register){.class = class};
    return l->vregs.count - 1;
}

uint32_t lw_lower_const(lw_lower *l, lw_class class, uint64_t value) {
    static const uint64_t mask[] = {1, 0xffff, 0xffffffff, ~0ull};
    uint32_t v = lw_lower_vreg(l, class);
    l->vregs.at[v].is_const = true;
    l->vregs.at[v].value = value & mask[class];
    return v;
}

uint32_t lw_lower_constants(lw_lower *l, const void *data, size_t size) {
    const uint32_t first = l->constants.count;
    for (size_t at = 0; at < size; at += sizeof(uint64_t)) {
        uint64_t word = 0;
        memcpy(&word, (const char *)data + at, size - at < sizeof word ? size - at : sizeof word);
        LW_PUSH(l->arena, l->constants) = word;
    }
    return first;
}

static bool is_fresh(const lw_lower *l) {
    return l->open && l->blocks.at[l->blocks.count - 1].first + 1 == l->ops.count;
}

lw_op *lw_lower_op(lw_lower *l, uint16_t code) {
    if (!l->open || (code != LW_OP_block && !is_fresh(l) && lw_begins_block(code))) lw_lower_new_block(l);
    LW_PUSH(l->arena, l->op_places) = l->place;
    lw_op *op = &LW_PUSH(l->arena, l->ops);
    *op = (lw_op){.d = LW_NO_SLOT, .a = LW_NO_SLOT, .b = LW_NO_SLOT, .c = LW_NO_SLOT, .e = LW_NO_SLOT, .code = code};
    return op;
}

/* The hint of an address that it is made of by adding; 0: there is none. */
static uint16_t hint_of_sum(const lw_lower *l, lw_lane_id lane, const lw_op *op) {
    const lw_register *r = l->vregs.at;
    switch (lane) {
    case LW_LANE_mov_b64:
    case LW_LANE_sub_b64: return r[op->a].hint;
    case LW_LANE_add_b64: return r[op->a].hint ? r[op->a].hint : r[op->b].hint;
    case LW_LANE_mad_wide_u32:
    case LW_LANE_mad_wide_s32:
    case LW_LANE_mad_lo_b64: return r[op->c].hint;
    default: return 0;
    }
}

void lw_lower_keep_hint(lw_lower *l, lw_lane_id lane, const lw_op *op) {
    const uint16_t hint = hint_of_sum(l, lane, op);
    if (hint && !l->vregs.at[op->d].hint) l->vregs.at[op->d].hint = hint;
}

void lw_lower_lane_into(lw_lower *l, uint32_t d, lw_lane_id lane, uint32_t a, uint32_t b, uint32_t c) {
    lw_op *op = lw_lower_op(l, LW_LANE_CODE(lane, LW_RRR));
    op->d = d, op->a = a, op->b = b, op->c = c;
    lw_lower_keep_hint(l, lane, op);
}

lw_class lw_class_of_lane(lw_lane_type type) {
    static const uint8_t classes[LW_L_count] = {
        [LW_L_none] = LW_CLASS_16,
#define LANE_BIT(name, argument, element)              [LW_L_##name] = LW_CLASS_pred,
#define LANE_TYPE(name, argument, element, slot, bits) [LW_L_##name] = LW_CLASS_##slot,
#include "lane_types.def"
    };
    return (lw_class)classes[type];
}

uint32_t lw_lower_lane(lw_lower *l, lw_lane_id lane, uint32_t a, uint32_t b, uint32_t c) {
    uint32_t d = lw_lower_vreg(l, lw_class_of_lane(lw_lanes[lane].result));
    lw_lower_lane_into(l, d, lane, a, b, c);
    return d;
}

void lw_lower_predicate(lw_lower *l, uint32_t d, uint8_t lut, uint32_t a, uint32_t b) {
    lw_op *op = lw_lower_op(l, LW_OP_predicate);
    op->d = d, op->a = a, op->b = b, op->imm = lut;
}

void lw_lower_move(lw_lower *l, uint32_t d, uint32_t a) {
    static const lw_lane_id moves[] = {LW_LANE_none, LW_LANE_mov_b16, LW_LANE_mov_b32, LW_LANE_mov_b64};
    lw_class class = l->vregs.at[d].class;
    if (class == LW_CLASS_pred) lw_lower_predicate(l, d, LW_LUT_A, a, LW_NO_SLOT);
    else lw_lower_lane_into(l, d, moves[class], a, LW_NO_SLOT, LW_NO_SLOT);
}

uint32_t lw_lower_resize(lw_lower *l, uint32_t a, lw_class to, bool is_signed) {
    static const lw_lane_id lanes[2][4][4] = {
        {[LW_CLASS_16] = {0, 0, LW_LANE_zext_b32_b16, LW_LANE_zext_b64_b16},
         [LW_CLASS_32] = {0, LW_LANE_low_b16_b32, 0, LW_LANE_zext_b64_b32},
         [LW_CLASS_64] = {0, LW_LANE_low_b16_b64, LW_LANE_low_b32_b64, 0}},
        {[LW_CLASS_16] = {0, 0, LW_LANE_sext_b32_b16, LW_LANE_sext_b64_b16},
         [LW_CLASS_32] = {0, LW_LANE_low_b16_b32, 0, LW_LANE_sext_b64_b32},
         [LW_CLASS_64] = {0, LW_LANE_low_b16_b64, LW_LANE_low_b32_b64, 0}},
    };
    lw_lane_id lane = lanes[is_signed][l->vregs.at[a].class][to];
    return lane ? lw_lower_lane(l, lane, a, LW_NO_SLOT, LW_NO_SLOT) : a;
}

/* ---- Blocks and labels --------------------------------------------------------------------------------- */

void lw_lower_new_block(lw_lower *l) {
    l->open = true;
    uint32_t number = l->blocks.count;
    LW_PUSH(l->arena, l->blocks) = (lw_block){.first = l->ops.count};
    lw_lower_op(l, LW_OP_block)->a = number;
}

void lw_lower_count(lw_lower *l) {
    l->blocks.at[l->blocks.count - 1].instructions++;
    LW_PUSH(l->arena, l->instructions) = l->place;
}

uint32_t lw_lower_label(lw_lower *l) {
    LW_PUSH(l->arena, l->label_blocks) = LW_NO_SLOT;
    return l->label_blocks.count - 1;
}

void lw_lower_place_label(lw_lower *l, uint32_t label) {
    if (!is_fresh(l)) lw_lower_new_block(l);
    l->label_blocks.at[label] = l->blocks.count - 1;
}

void lw_lower_may_note(lw_lower *l, lw_diag_id id) {
    LW_PUSH(l->arena, l->program->notes) = (lw_program_note){id, l->place};
}

void lw_lower_note(lw_lower *l, lw_diag_id id, uint32_t predicate) {
    lw_op *op = lw_lower_op(l, LW_OP_note);
    op->b = predicate;
    op->imm = l->program->notes.count;
    lw_lower_may_note(l, id);
}

/* By id, then by place, then by number. */
static int compare_notes(const void *a, const void *b, void *of) {
    const lw_program *program = of;
    const uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
    const lw_program_note *x = &program->notes.at[i], *y = &program->notes.at[k];
    if (x->id != y->id) return x->id < y->id ? -1 : 1;
    if (x->place.at != y->place.at) return x->place.at < y->place.at ? -1 : 1;
    return i < k ? -1 : i > k;
}

void lw_program_order_notes(lw_program *program, uint32_t *order) {
    uint32_t count = program->notes.count;
    for (uint32_t i = 0; i < count; i++) order[i] = i;
    if (count) qsort_r(order, count, sizeof *order, compare_notes, program);
    program->note_order = order;
}

uint32_t lw_program_find_note(const lw_program *program, lw_diag_id id, lw_place place) {
    uint32_t low = 0, high = program->notes.count; /* the first that does not come before the one that is looked for */
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const lw_program_note *note = &program->notes.at[program->note_order[middle]];
        if (note->id < id || (note->id == id && note->place.at < place.at)) low = middle + 1;
        else high = middle;
    }
    const lw_program_note *found = low < program->notes.count ? &program->notes.at[program->note_order[low]] : NULL;
    if (!found || found->id != id || found->place.at != place.at)
        lw_bug("no note of kind %d at this instruction", (int)id);
    return program->note_order[low];
}

bool lw_program_asks(const lw_program *program, uint32_t special) {
    for (uint32_t f = 0; f < program->code_count; f++)
        for (uint32_t n = 0; n < program->functions[f]->op_count; n++) {
            const lw_op *op = &program->functions[f]->ops[n];
            if (op->code == LW_OP_special && op->a == special) return true;
        }
    return false;
}

/* Functions do not lie in each other. */
const lw_code *lw_program_code_at(const lw_program *program, lw_place place) {
    const lw_code *found = NULL;
    for (uint32_t i = 0; i < program->code_count; i++) {
        const lw_code *code = program->codes[i];
        if (code->place.at <= place.at && (!found || found->place.at < code->place.at)) found = code;
    }
    return found;
}

bool lw_transfers_agree(const lw_transfer *given, const lw_transfer *taken, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        if (given[i].in_memory != taken[i].in_memory ||
            (taken[i].is_open ? given[i].size > taken[i].size : given[i].size != taken[i].size))
            return false;
    return true;
}

bool lw_call_agrees(const lw_call *call, const lw_code *code) {
    return call->argument_count == code->param_count && call->result_count == code->return_count &&
           lw_transfers_agree(call->arguments, code->params, code->param_count) &&
           lw_transfers_agree(call->results, code->returns, code->return_count);
}

/* ---- One function --------------------------------------------------------------------------------------- */

/* Mostly enough, so that long lists need not be copied to grow: few instructions become several operations, and most
 * have one new register or constant. They become the code's own. */
static void make_room(lw_lower *l, uint32_t instructions) {
    if (instructions > UINT32_MAX / 4) instructions = UINT32_MAX / 4;
    uint32_t room = instructions + instructions / 8 + 4, registers = instructions + instructions / 2 + 16;
    l->ops.count = l->op_places.count = 0;
    l->ops.room = l->op_places.room = room;
    l->instructions.count = 0;
    l->instructions.room = instructions;
    l->instructions.at = LW_NEW_ARRAY(l->arena, lw_place, instructions);
    l->ops.at = LW_NEW_ARRAY(l->arena, lw_op, room);
    l->op_places.at = LW_NEW_ARRAY(l->arena, lw_place, room);
    l->vregs.count = 0;
    l->vregs.room = registers;
    l->vregs.at = lw_arena_array(l->arena, sizeof *l->vregs.at, registers);
}

/* Work lists are used again; those that become the code's own start anew. */
void lw_lower_begin(lw_lower *l, const lw_code *code, lw_place place, uint32_t instructions) {
    l->code = LW_NEW(l->arena, lw_code);
    *l->code = *code;
    l->code->place = place;
    l->program->functions[code->index] = l->code;
    l->place = place;
    l->blocks.count = l->label_blocks.count = 0;
    make_room(l, instructions);
    l->lists.at = NULL, l->lists.count = l->lists.room = 0;
    l->targets.at = NULL, l->targets.count = l->targets.room = 0;
    l->calls.at = NULL, l->calls.count = l->calls.room = 0;
    l->constants.at = NULL, l->constants.count = l->constants.room = 0;
    l->rooms.at = NULL, l->rooms.count = l->rooms.room = 0;
    l->open_roundings.count = 0;
    l->local_bytes = 0;
    l->local_align = 16;
    l->open = false;
}

bool lw_lower_fits(lw_lower *l) {
    const struct {
        uint32_t count;
        const char *what;
    } parts[] = {
        {l->ops.count, "operations"},
        {l->vregs.count, "registers and values"},
        {l->blocks.count, "blocks"},
        {l->calls.count, "calls"},
        {l->lists.count, "elements of vectors"},
        {l->targets.count, "targets of branches"},
        {l->constants.count, "constants"},
        {l->label_blocks.count, "labels"},
        {l->program->notes.count, "instructions that are counted"},
    };
    uint32_t most = 0;
    for (size_t i = 0; i < LW_COUNT(parts); i++) most = parts[i].count > parts[most].count ? (uint32_t)i : most;
    if (LW_LIKELY(parts[most].count <= LW_PARTS_MOST)) return true;
    if (!l->failed) lw_diag_add(l->diags, LW_D_many_parts, l->place, l->code->name, LW_PARTS_MOST, parts[most].what);
    l->failed = true;
    return false;
}

uint32_t lw_lower_room(lw_lower *l, uint64_t size, uint64_t align, lw_place place, const char *name) {
    uint64_t offset = (l->local_bytes + align - 1) & ~(align - 1);
    if (offset + size > LW_WINDOW_BYTES) {
        if (!l->failed) lw_diag_add(l->diags, LW_D_frame_too_large, place, name);
        l->failed = true;
        return 0;
    }
    if (align > l->local_align) l->local_align = (uint32_t)align;
    l->local_bytes = (uint32_t)(offset + size);
    LW_PUSH(l->arena, l->rooms) = (lw_room){.offset = (uint32_t)offset, .size = (uint32_t)size};
    return (uint32_t)offset;
}

void lw_lower_take_address(lw_lower *l, uint32_t offset) {
    uint32_t low = 0, high = l->rooms.count; /* the first that begins behind it */
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (l->rooms.at[middle].offset <= offset) low = middle + 1;
        else high = middle;
    }
    while (low-- && l->rooms.at[low].offset == offset) l->rooms.at[low].has_address = true;
}

void lw_lower_frame_access(lw_lower *l, uint16_t code, uint32_t value, uint32_t at, uint32_t size) {
    lw_memory_form form = {.window = LW_WINDOW_local, .frame = 1, .size = size, .slot = l->vregs.at[value].class};
    lw_op *op = lw_lower_op(l, code);
    op->d = value, op->imm = at, op->c = lw_memory_pack(form);
}

/* Of the blocks in a list, looked through for the first branch that has it: 1 + the lowest, by where the list
 * begins. */
static uint32_t lowest_target(const lw_lower *l, const lw_op *op, uint32_t *lowest) {
    uint32_t least = UINT32_MAX;
    if (lowest[op->imm]) return lowest[op->imm] - 1;
    for (uint32_t i = 0; i < op->c; i++)
        if (l->targets.at[op->imm + i] < least) least = l->targets.at[op->imm + i];
    lowest[op->imm] = least + 1;
    return least;
}

/* Branch targets are label numbers until every label has its block. */
static void resolve_labels(lw_lower *l) {
    uint32_t *lowest = LW_NEW_ARRAY(l->arena, uint32_t, l->targets.count);
    for (uint32_t i = 0; i < l->targets.count; i++) l->targets.at[i] = l->label_blocks.at[l->targets.at[i]];
    for (uint32_t b = 0, n = 0; n < l->ops.count; n++) {
        lw_op *op = &l->ops.at[n];
        if (op->code == LW_OP_block) b = op->a;
        const lw_goes goes = (lw_goes)lw_row_of(op->code)->goes;
        if (goes == LW_GOES_to_a || goes == LW_GOES_either) op->a = l->label_blocks.at[op->a];
        else if (goes == LW_GOES_to_table) op->a = lowest_target(l, op, lowest);
        else continue;
        if (op->a <= b) op->flags |= LW_OP_BACKWARD;
    }
    for (uint32_t i = 0; i < l->calls.count; i++)
        l->calls.at[i].return_block = l->label_blocks.at[l->calls.at[i].return_block];
}

/* From now on all of it is there; passes may take operations away and add constants. */
static void complete_code(lw_lower *l) {
    lw_code *code = l->code;
    code->ops = l->ops.at, code->op_count = l->ops.count;
    code->places = l->op_places.at;
    code->blocks = lw_arena_copy(l->arena, l->blocks.at, l->blocks.count * sizeof *l->blocks.at);
    code->block_count = l->blocks.count;
    code->instructions = l->instructions.at, code->instruction_count = l->instructions.count;
    code->calls = l->calls.at, code->call_count = l->calls.count;
    code->slots = l->lists.at, code->slot_count = l->lists.count;
    code->targets = l->targets.at, code->target_count = l->targets.count;
    code->constants = l->constants.at, code->constant_count = l->constants.count;
    code->local_bytes = l->local_bytes, code->local_align = l->local_align;
    code->rooms = l->rooms.at, code->room_count = l->rooms.count;
}

/* Which blocks are behind each. */
static void find_successors(lw_arena *arena, lw_code *code) {
    uint32_t *own = lw_arena_array(arena, sizeof *own, 2 * (size_t)code->block_count);
    for (uint32_t b = 0; b < code->block_count; b++) {
        lw_block *block = &code->blocks[b];
        const lw_op *last = lw_block_last(code, b);
        const bool has_next = b + 1 < code->block_count;
        uint32_t *to = own + 2 * (size_t)b;
        block->successors = to;
        switch ((lw_goes)lw_row_of(last->code)->goes) {
        case LW_GOES_on: to[0] = b + 1, block->successor_count = has_next; break;
        case LW_GOES_to_a: to[0] = last->a, block->successor_count = 1; break;
        case LW_GOES_either: to[0] = last->a, to[1] = b + 1, block->successor_count = 1u + has_next; break;
        case LW_GOES_to_table: block->successors = code->targets + last->imm, block->successor_count = last->c; break;
        case LW_GOES_back: to[0] = code->calls[last->imm].return_block, block->successor_count = 1; break;
        case LW_GOES_nowhere: block->successor_count = 0; break;
        }
    }
}

void lw_lower_lay(lw_lower *l) {
    resolve_labels(l);
    complete_code(l);
    find_successors(l->arena, l->code);
}

void lw_lower_finish(lw_lower *l) {
    lw_fold(l);
    lw_contract(l);
    lw_forget_nans(l);
    lw_code_compact(l->code, NULL);
    for (uint32_t b = 0; b < l->code->block_count; b++)
        l->code->ops[l->code->blocks[b].first].imm = l->code->blocks[b].instructions;
    l->code->registers = l->vregs.at, l->code->virtual_count = l->vregs.count;
    l->code->lowered = !l->failed;
}

void lw_lower_end(lw_lower *l) {
    if (!lw_lower_fits(l)) return;
    lw_lower_lay(l);
    lw_lower_finish(l);
}

/* ---- Semantics ------------------------------------------------------------------------------------------ */

const char *const lw_semantics_names[LW_SEMANTICS_COUNT] = {
    [LW_SEMANTICS_manual] = "manual",
    [LW_SEMANTICS_sm_90] = "sm_90",
};

bool lw_semantics_choose(const char *name, lw_semantics *semantics) {
    if (!name || !*name) name = lw_semantics_names[LW_SEMANTICS_manual];
    for (int i = 0; i < LW_SEMANTICS_COUNT; i++)
        if (!strcmp(name, lw_semantics_names[i])) return *semantics = (lw_semantics)i, true;
    return false;
}
