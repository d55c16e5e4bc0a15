/* facts.c: what is known of a function's text before it is compiled: which operations make up regions, which slots are live where, and
 * which hold one value for all lanes. */
#include "run/jit/unit.h"

#include <stdlib.h>

/* ---- Kinds ---------------------------------------------------------------------------------------------------------- */

/* A parameter at a place that is known, of one element. */
static bool is_parameter(const lw_unit *u, const lw_op *op) {
    const lw_memory_form form = lw_memory_unpack(op->c);
    const uint64_t bytes = 1ull << form.size;
    return form.window == LW_WINDOW_param && !form.address && !form.frame && !form.vector && op->imm % bytes == 0 &&
           bytes <= u->program->param_bytes && op->imm <= u->program->param_bytes - bytes;
}

static lw_kind kind_of(const lw_unit *u, const lw_op *op) {
    switch ((lw_compile)lw_row_of(op->code)->compiled) {
    case LW_COMPILED_step: return LW_KIND_step;
    case LW_COMPILED_block: return LW_KIND_block;
    case LW_COMPILED_branch: return LW_KIND_branch;
    case LW_COMPILED_body: case LW_COMPILED_scalar: return LW_KIND_body;
    case LW_COMPILED_parameter: return is_parameter(u, op) ? LW_KIND_body : LW_KIND_step;
    }
    lw_bug("nobody says how operation code %u is compiled", op->code);
}

bool lw_op_can_be_scalar(const lw_unit *u, const lw_op *op) {
    const lw_compile how = (lw_compile)lw_row_of(op->code)->compiled;
    return how == LW_COMPILED_scalar || (how == LW_COMPILED_parameter && is_parameter(u, op));
}

/* Of registers, a region has all lanes at hand at once, and does one operation behind the other. It looks at its rows before it begins, so that
 * the interpreter can do all of it instead; what is found out on the way, that shift counts are too large, must come before it stores anything. */
static void find_segments(lw_unit *u) {
    const lw_code *code = u->code;
    const uint32_t most = u->shapes[0] ? LW_VECTOR_OPS : LW_REGION_OPS;
    uint32_t length = 0;
    bool stored = false;
    for (uint32_t n = 0; n < code->op_count; n++) {
        const lw_op *op = &code->ops[n];
        if (u->kinds[n] != LW_KIND_body) {
            u->starts[n] = u->kinds[n] == LW_KIND_step || (u->kinds[n] == LW_KIND_branch && length == 0);
            length = 0;
            stored = false;
            continue;
        }
        const bool breaks = stored && lw_op_does(op, LW_DOES_CHECKS);
        if (length == 0 || length == most || breaks) {
            u->starts[n] = true;
            length = 0;
            stored = false;
        }
        length++;
        stored |= lw_op_does(op, LW_DOES_STORES);
    }
}

uint32_t lw_unit_region_end(const lw_unit *u, uint32_t op) {
    uint32_t end = op + 1;
    while (end < u->code->op_count && u->kinds[end] == LW_KIND_body && !u->starts[end]) end++;
    return end;
}

/* Behind steps, and at the beginning of blocks: but of a loop only of its first one, and of those that a step leads to. A loop that is entered
 * at one place alone is one that LLVM knows how to improve; the interpreter comes to that place soon. */
static bool find_entries(lw_unit *u) {
    const lw_code *code = u->code;
    uint32_t *back_from = calloc(code->block_count + 1, sizeof *back_from); /* 1 + the last block that goes back to this one */
    if (!back_from) return false;
    for (uint32_t b = 0; b < code->block_count; b++) {
        const lw_op *last = lw_block_last(code, b);
        if (u->kinds[last - code->ops] == LW_KIND_branch && last->flags & LW_OP_BACKWARD) back_from[last->a] = b + 1;
    }
    uint32_t loop_end = 0; /* of all loops around the block at hand */
    for (uint32_t b = 0; b < code->block_count; b++) {
        const uint32_t first = code->blocks[b].first, next = first + 1;
        const bool behind_step = first && u->kinds[first - 1] == LW_KIND_step;
        if (next < code->op_count) u->entered[next] = u->starts[next] && (b >= loop_end || back_from[b] || behind_step);
        if (back_from[b] > loop_end) loop_end = back_from[b];
    }
    for (uint32_t n = 1; n < code->op_count; n++) u->entered[n] |= u->starts[n] && u->kinds[n - 1] == LW_KIND_step;
    free(back_from);
    return true;
}

/* ---- Cells ------------------------------------------------------------------------------------------------------------ */

static void add_cell(lw_unit *u, uint32_t at, uint8_t bits) {
    if (at == LW_NO_SLOT) return;
    uint32_t *cell = &u->cell_at[at / 16];
    if (*cell == LW_NO_CELL) {
        *cell = u->cell_count;
        u->cells[u->cell_count++] = (lw_cell){.at = at, .bits = bits};
    } else if (bits && !u->cells[*cell].bits) {
        u->cells[*cell].bits = bits;
    } else if (bits && u->cells[*cell].bits != bits) {
        lw_bug("slot %u holds %u and %u bits", at, u->cells[*cell].bits, bits);
    }
}

/* The slots of an operation, with their sizes. */
static void add_cells(lw_unit *u, const lw_op *op) {
    const uint32_t *fields = &op->d;
    for (int way = 0; way < 2; way++)
        LW_EACH_(u->code, op, at, way ? LW_WRITTEN : LW_READ) {
            const bool in_list = at < fields || at >= fields + LW_FIELDS;
            add_cell(u, *at, (uint8_t)lw_op_bits(op, in_list ? 0 : (uint32_t)(at - fields)));
        }
}

static void add_transfers(lw_unit *u, const lw_transfer *at, uint32_t count, bool from) {
    for (uint32_t k = 0; k < count; k++)
        if (!at[k].in_memory) add_cell(u, from ? at[k].from : at[k].to, at[k].size ? (uint8_t)(8 * at[k].size) : 1);
}

static bool find_cells(lw_unit *u) {
    lw_code *code = u->code;
    const uint32_t places = code->frame_bytes / 16 + 1;
    u->cell_at = malloc(places * sizeof *u->cell_at);
    u->cells = calloc(places, sizeof *u->cells);
    if (!u->cell_at || !u->cells) return false;
    memset(u->cell_at, 0xff, places * sizeof *u->cell_at);
    for (uint32_t n = 0; n < code->op_count; n++) add_cells(u, &code->ops[n]);
    for (uint32_t n = 0; n < code->call_count; n++) {
        add_transfers(u, code->calls[n].arguments, code->calls[n].argument_count, true);
        add_transfers(u, code->calls[n].results, code->calls[n].result_count, false);
    }
    add_transfers(u, code->params, code->param_count, false);
    add_transfers(u, code->returns, code->return_count, true);
    for (uint32_t n = 0; n < code->fill_count; n++) {
        static const uint8_t bits[] = {1, 0, 16, 0, 32, 0, 0, 0, 64};
        add_cell(u, code->fills[n].at, bits[code->fills[n].size]);
        lw_cell *cell = &u->cells[u->cell_at[code->fills[n].at / 16]];
        cell->is_constant = true;
        cell->value = code->fills[n].value;
    }
    u->words = (u->cell_count + 63) / 64;
    return true;
}

/* ---- Sets ---------------------------------------------------------------------------------------------------------------- */

const uint64_t *lw_unit_live(const lw_unit *u, uint32_t op) { return u->live + (size_t)u->set_of[op] * u->words; }
const uint64_t *lw_unit_uniform(const lw_unit *u, uint32_t op) { return u->uniform + (size_t)u->set_of[op] * u->words; }

/* Blocks and first operations of segments have sets, and so has what follows a region. */
static bool make_sets(lw_unit *u) {
    const uint32_t count = u->code->op_count;
    for (uint32_t n = 0; n < count; n++) {
        const bool has = u->starts[n] || u->kinds[n] != LW_KIND_body;
        u->set_of[n] = has ? u->set_count++ : LW_NO_CELL;
    }
    if ((uint64_t)u->set_count * u->words > LW_UNIT_WORDS) return false;
    u->live = calloc((size_t)u->set_count * u->words + 1, sizeof *u->live);
    u->uniform = calloc((size_t)u->set_count * u->words + 1, sizeof *u->uniform);
    return u->live && u->uniform;
}

/* ---- What is live --------------------------------------------------------------------------------------------------------- */

static uint32_t number_of(const void *of, uint32_t at) {
    const lw_unit *u = of;
    const uint32_t cell = lw_unit_cell(u, at);
    return cell == LW_NO_CELL || u->cells[cell].is_constant ? LW_NO_SLOT : cell;
}

/* In front of every operation of a block that has a set, from its end on. */
static void live_in_block(lw_unit *u, const lw_live *live, const bool *guarded, uint32_t block, uint64_t *set) {
    const lw_code *code = u->code;
    memcpy(set, lw_live_set(live, live->out, block), u->words * sizeof *set);
    const lw_op *last = lw_block_last(code, block);
    for (uint32_t n = (uint32_t)(last - code->ops) + 1; n-- > code->blocks[block].first;) {
        lw_live_over(live, &code->ops[n], guarded[n], set);
        if (u->set_of[n] != LW_NO_CELL) memcpy(u->live + (size_t)u->set_of[n] * u->words, set, u->words * sizeof *set);
    }
}

static void find_guarded(const lw_code *code, bool *guarded) {
    for (uint32_t n = 0, end = 0; n < code->op_count; n++) {
        guarded[n] = n < end;
        if (code->ops[n].code == LW_OP_guard) end = n + (uint32_t)code->ops[n].imm + 1;
    }
}

static bool find_live(lw_unit *u) {
    const lw_code *code = u->code;
    lw_live live = {.code = code, .number = number_of, .of = u, .words = u->words};
    uint64_t *sets = calloc(4 * (size_t)u->words * code->block_count + u->words + 1, sizeof *sets);
    uint32_t *tables = calloc(code->target_count + 1, sizeof *tables);
    bool *guarded = calloc(code->op_count, sizeof *guarded);
    const bool good = sets && tables && guarded && lw_live_solve(&live, sets, tables, UINT32_MAX);
    if (good) {
        find_guarded(code, guarded);
        for (uint32_t b = 0; b < code->block_count; b++) live_in_block(u, &live, guarded, b, sets + 4 * (size_t)u->words * code->block_count);
    }
    free(sets), free(tables), free(guarded);
    return good;
}

/* ---- What is uniform -------------------------------------------------------------------------------------------------------- */

static bool is_uniform(const lw_unit *u, const uint64_t *set, uint32_t at) {
    const uint32_t cell = lw_unit_cell(u, at);
    return cell == LW_NO_CELL || u->cells[cell].is_constant || lw_set_has(set, cell);
}

/* From in front of an operation to behind it. False: lanes may part here. In a called function some of its lanes may go on while others wait for lanes
 * that are elsewhere. */
static bool uniform_over(lw_unit *u, uint32_t n, uint64_t *set) {
    const lw_op *op = &u->code->ops[n];
    const lw_op_row *row = lw_row_of(op->code);
    bool stays = u->kinds[n] == LW_KIND_body && lw_op_can_be_scalar(u, op), same = true;
    LW_EACH_READ(u->code, op, at) {
        const bool is = is_uniform(u, set, *at);
        stays &= is;
        for (uint32_t k = 0; k < LW_FIELDS; k++) same &= is || at != &op->d + k || !(row->parts_by >> k & 1);
    }
    LW_EACH_WRITTEN(u->code, op, at) {
        const uint32_t cell = lw_unit_cell(u, *at);
        if (stays) lw_set_add(set, cell);
        else lw_set_remove(set, cell);
    }
    switch ((lw_parts)row->parts) {
    case LW_PARTS_never: return true;
    case LW_PARTS_differing: return same;
    case LW_PARTS_called: return same && u->code->is_entry;
    case LW_PARTS_always: return false;
    }
    lw_bug("nobody says whether lanes part at operation code %u", op->code);
}

/* What flows into an operation: less and less, from everything. */
static bool narrow(lw_unit *u, uint32_t to, const uint64_t *set) {
    uint64_t *at = u->uniform + (size_t)u->set_of[to] * u->words;
    bool changed = false;
    for (uint32_t w = 0; w < u->words; w++) {
        changed |= (at[w] & ~set[w]) != 0;
        at[w] &= set[w];
    }
    return changed;
}

/* Where lanes may part anywhere, nothing is. */
static bool find_uniform(lw_unit *u) {
    uint64_t *set = malloc((u->words + 1) * sizeof *set);
    if (!set) return false;
    memset(u->uniform, 0xff, (size_t)u->set_count * u->words * sizeof *u->uniform);
    memset(u->uniform, 0, u->words * sizeof *u->uniform); /* the first operation */
    bool parts = false;
    for (bool changed = true; changed && !parts;) {
        changed = false;
        for (uint32_t n = 0, block = 0; n < u->code->op_count && !parts; n++) {
            if (u->code->ops[n].code == LW_OP_block) block = u->code->ops[n].a;
            if (u->set_of[n] != LW_NO_CELL) memcpy(set, lw_unit_uniform(u, n), u->words * sizeof *set);
            parts |= !uniform_over(u, n, set);
            if (n + 1 < u->code->op_count && u->code->ops[n + 1].code != LW_OP_block) {
                if (u->set_of[n + 1] != LW_NO_CELL) changed |= narrow(u, n + 1, set);
                continue;
            }
            const lw_block *from = &u->code->blocks[block];
            for (uint32_t k = 0; k < from->successor_count; k++) changed |= narrow(u, u->code->blocks[from->successors[k]].first, set);
        }
    }
    free(set);
    if (parts) memset(u->uniform, 0, (size_t)u->set_count * u->words * sizeof *u->uniform);
    return true;
}

/* ------------------------------------------------------------------------------------------------------------------------------ */

static void find_kinds(lw_unit *u) {
    uint32_t guard_end = 0;
    for (uint32_t n = 0; n < u->code->op_count; n++) {
        const lw_op *op = &u->code->ops[n];
        u->kinds[n] = (uint8_t)kind_of(u, op);
        if (n < guard_end && u->kinds[n] == LW_KIND_body) u->kinds[n] = LW_KIND_step;
        if (op->code == LW_OP_guard) guard_end = n + (uint32_t)op->imm + 1;
    }
}

static bool loops(const lw_unit *u) {
    for (uint32_t n = 0; n < u->code->op_count; n++)
        if (u->kinds[n] == LW_KIND_branch && u->code->ops[n].flags & LW_OP_BACKWARD) return true;
    return false;
}

bool lw_unit_study(lw_unit *u) {
    const uint32_t count = u->code->op_count;
    if (count > LW_UNIT_OPS || u->code->block_count > LW_UNIT_BLOCKS) return false; /* what LLVM does with many blocks grows faster than they */
    u->kinds = calloc(count, sizeof *u->kinds);
    u->starts = calloc(count, sizeof *u->starts);
    u->set_of = calloc(count, sizeof *u->set_of);
    u->entered = calloc(count, sizeof *u->entered);
    if (!u->kinds || !u->starts || !u->entered || !u->set_of) return false;
    find_kinds(u);
    const lw_program_vector *vector = &u->program->vector;
    if (vector->lanes) u->shapes[0] = vector->flat || vector->lanes > LW_GANG_LANES ? LW_GANG_LANES : (vector->lanes + 31) & ~31u;
    if (vector->flat && loops(u)) u->shapes[1] = LW_GANG_LANES / 2; /* a short array; without a loop there is little to win */
    find_segments(u);
    return find_entries(u) && find_cells(u) && make_sets(u) && find_live(u) && find_uniform(u);
}

void lw_unit_free(lw_unit *u) {
    free(u->kinds), free(u->starts), free(u->entered), free(u->set_of);
    free(u->cell_at), free(u->cells);
    free(u->live), free(u->uniform);
}
