/* facts.c: what is known of a function's text before it is compiled: which operations make up regions, which slots are live where, and
 * which hold one value for all lanes. */
#include "run/jit/unit.h"

#include <stdlib.h>

/* ---- Kinds ---------------------------------------------------------------------------------------------------------- */

/* A parameter at a place that is known, of one element. */
static bool is_parameter(const lw_unit *u, const lw_op *op) {
    if (op->code != LW_OP_ld) return false;
    const lw_memory_form form = lw_memory_unpack(op->c);
    const uint64_t bytes = 1ull << form.size;
    return form.window == LW_WINDOW_param && !form.address && !form.frame && !form.vector && op->imm % bytes == 0 &&
           bytes <= u->program->param_bytes && op->imm <= u->program->param_bytes - bytes;
}

static lw_kind kind_of(const lw_unit *u, const lw_op *op) {
    if (op->code >= LW_OP_lop3) return LW_KIND_body;
    switch (op->code) {
    case LW_OP_block: return LW_KIND_block;
    case LW_OP_bra:
    case LW_OP_bra_if: return LW_KIND_branch;
    case LW_OP_predicate:
    case LW_OP_select_16:
    case LW_OP_select_32:
    case LW_OP_select_64:
    case LW_OP_add4:
    case LW_OP_add_xor_rotl:
    case LW_OP_add_setp:
    case LW_OP_vshift:
    case LW_OP_shift_check:
    case LW_OP_ld_row:
    case LW_OP_st_row:
    case LW_OP_beyond: return LW_KIND_body;
    case LW_OP_ld: return is_parameter(u, op) ? LW_KIND_body : LW_KIND_step;
    default: return LW_KIND_step;
    }
}

bool lw_op_can_be_scalar(const lw_unit *u, const lw_op *op) {
    const bool selects = op->code >= LW_OP_select_16 && op->code <= LW_OP_select_64;
    return op->code >= LW_OP_lane || op->code == LW_OP_predicate || op->code == LW_OP_beyond || selects || is_parameter(u, op);
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
        const bool breaks = stored && (op->code == LW_OP_vshift || op->code == LW_OP_shift_check);
        if (length == 0 || length == most || breaks) {
            u->starts[n] = true;
            length = 0;
            stored = false;
        }
        length++;
        stored |= op->code == LW_OP_st_row;
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
        const uint32_t end = b + 1 < code->block_count ? code->blocks[b + 1].first : code->op_count;
        for (uint32_t n = code->blocks[b].first; n < end; n++)
            if (u->kinds[n] == LW_KIND_branch && code->ops[n].flags & LW_OP_BACKWARD) back_from[code->ops[n].a] = b + 1;
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

uint8_t lw_type_bits(lw_lane_type type) {
    switch (type) {
    case LW_L_p: return 1;
    case LW_L_u32: case LW_L_s32: case LW_L_f32: return 32;
    case LW_L_u64: case LW_L_s64: case LW_L_f64: return 64;
    default: return 16;
    }
}

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

static void add_lane_cells(lw_unit *u, const lw_op *op) {
    const lw_lane_row *row = &lw_lanes[lw_code_lane(op->code)];
    const uint32_t places[] = {op->a, op->b, op->c, op->e};
    for (uint32_t k = 0; k < row->arity; k++) add_cell(u, places[k], lw_type_bits((lw_lane_type)row->args[k]));
    add_cell(u, op->d, lw_type_bits((lw_lane_type)row->result));
}

static void add_shift_cells(lw_unit *u, const lw_op *op) {
    const uint8_t bits = lw_type_bits((lw_lane_type)lw_lanes[(uint32_t)op->imm].result);
    add_cell(u, op->a, bits), add_cell(u, op->b, bits), add_cell(u, op->c, bits), add_cell(u, op->e, 1), add_cell(u, op->d, bits);
}

static void add_row_cells(lw_unit *u, const lw_op *op) {
    const lw_memory_form form = lw_memory_unpack(op->c);
    if (!(op->flags & LW_OP_IMM_A)) add_cell(u, op->a, 64);
    if (!(op->flags & LW_OP_IMM_B)) add_cell(u, op->b, 64);
    add_cell(u, op->e, 1), add_cell(u, op->d, form.size < 1 ? 16 : 8u << form.size);
}

/* Of steps no sizes are known. */
static void add_field_cells(lw_unit *u, lw_op *op) {
    lw_fields f;
    lw_op_fields(u->code->slots, op, &f);
    const uint8_t bits = op->code >= LW_OP_lop3 || op->code == LW_OP_add4 || op->code == LW_OP_add_xor_rotl ? 32 : 0;
    for (uint32_t k = 0; k < f.use_count; k++) add_cell(u, *f.uses[k], bits);
    for (uint32_t k = 0; k < f.def_count; k++) add_cell(u, *f.defs[k], bits);
}

/* The slots of a compiled operation, with their sizes; those of other operations need no size. */
static void add_cells(lw_unit *u, lw_op *op) {
    const uint8_t word = op->code == LW_OP_select_16 ? 16 : op->code == LW_OP_select_64 ? 64 : 32;
    if (op->code >= LW_OP_lane) {
        add_lane_cells(u, op);
        return;
    }
    switch (op->code) {
    case LW_OP_predicate: add_cell(u, op->a, 1), add_cell(u, op->b, 1), add_cell(u, op->c, 1), add_cell(u, op->d, 1); return;
    case LW_OP_select_16:
    case LW_OP_select_32:
    case LW_OP_select_64: add_cell(u, op->a, word), add_cell(u, op->b, word), add_cell(u, op->c, 1), add_cell(u, op->d, word); return;
    case LW_OP_add_setp: add_cell(u, op->a, 32), add_cell(u, op->b, 32), add_cell(u, op->d, 32), add_cell(u, op->e, 1); return;
    case LW_OP_beyond: add_cell(u, op->d, 1); return;
    case LW_OP_vshift: add_shift_cells(u, op); return;
    case LW_OP_shift_check: add_cell(u, op->a, op->c < 2 ? 16 : 8 * op->c), add_cell(u, op->b, 1); return;
    case LW_OP_ld_row:
    case LW_OP_st_row: add_row_cells(u, op); return;
    case LW_OP_bra_if: add_cell(u, op->b, 1); return;
    default: break;
    }
    if (is_parameter(u, op)) add_cell(u, op->d, (uint8_t)(8u << lw_memory_unpack(op->c).slot));
    else add_field_cells(u, op);
}

static void add_transfers(lw_unit *u, const lw_transfer *at, uint32_t count, bool from) {
    for (uint32_t k = 0; k < count; k++)
        if (!at[k].in_memory) add_cell(u, from ? at[k].from : at[k].to, 0);
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

typedef struct lw_next { /* operations that may come behind one */
    uint32_t count, at[2];
    const uint32_t *blocks; /* or these blocks */
    uint32_t block_count;
} lw_next;

static lw_next next_of(const lw_unit *u, uint32_t n) {
    const lw_code *code = u->code;
    const lw_op *op = &code->ops[n];
    lw_next next = {.count = 1, .at = {n + 1}};
    switch (op->code) {
    case LW_OP_bra: next.at[0] = code->blocks[op->a].first; break;
    case LW_OP_bra_if: next.count = 2, next.at[1] = code->blocks[op->a].first; break;
    case LW_OP_brx: next.count = 0, next.blocks = code->targets + op->imm, next.block_count = op->c; break;
    case LW_OP_call:
    case LW_OP_call_indirect: next.at[0] = code->blocks[code->calls[op->imm].return_block].first; break;
    case LW_OP_ret:
    case LW_OP_exit:
    case LW_OP_trap: next.count = 0; break;
    default: break;
    }
    if (next.count && next.at[0] >= code->op_count) next.count = 0;
    return next;
}

/* ---- What is live --------------------------------------------------------------------------------------------------------- */

static void use_cell(const lw_unit *u, uint64_t *set, uint32_t at) {
    const uint32_t cell = lw_unit_cell(u, at);
    if (cell != LW_NO_CELL && !u->cells[cell].is_constant) lw_set_add(set, cell);
}

static void use_all(const lw_unit *u, uint64_t *set) {
    for (uint32_t cell = 0; cell < u->cell_count; cell++)
        if (!u->cells[cell].is_constant) lw_set_add(set, cell);
}

/* From behind an operation to in front of it. Steps may leave lanes out, so they end nothing's life. */
static void live_over(lw_unit *u, uint32_t n, uint64_t *set) {
    lw_code *code = u->code;
    lw_op *op = &code->ops[n];
    lw_fields f;
    lw_op_fields(code->slots, op, &f);
    if (u->kinds[n] == LW_KIND_body)
        for (uint32_t k = 0; k < f.def_count; k++) lw_set_remove(set, lw_unit_cell(u, *f.defs[k]));
    for (uint32_t k = 0; k < f.use_count; k++) use_cell(u, set, *f.uses[k]);
    for (uint32_t k = 0; f.keeps && k < f.def_count; k++) use_cell(u, set, *f.defs[k]);
    if (op->code == LW_OP_call || op->code == LW_OP_call_indirect) use_all(u, set);
    if (op->code == LW_OP_ret)
        for (uint32_t k = 0; k < code->return_count; k++)
            if (!code->returns[k].in_memory) use_cell(u, set, code->returns[k].from);
}

static void live_behind(const lw_unit *u, uint32_t n, uint64_t *set) {
    const lw_next next = next_of(u, n);
    memset(set, 0, u->words * sizeof *set);
    for (uint32_t k = 0; k < next.count + next.block_count; k++) {
        const uint32_t to = k < next.count ? next.at[k] : u->code->blocks[next.blocks[k - next.count]].first;
        const uint64_t *live = lw_unit_live(u, to);
        for (uint32_t w = 0; w < u->words; w++) set[w] |= live[w];
    }
}

static bool find_live(lw_unit *u) {
    uint64_t *set = calloc(u->words + 1, sizeof *set);
    if (!set) return false;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t n = u->code->op_count; n-- > 0;) {
            if (n + 1 == u->code->op_count || u->set_of[n + 1] != LW_NO_CELL || u->kinds[n] != LW_KIND_body) live_behind(u, n, set);
            live_over(u, n, set);
            if (u->set_of[n] == LW_NO_CELL) continue;
            uint64_t *live = u->live + (size_t)u->set_of[n] * u->words;
            changed |= memcmp(live, set, u->words * sizeof *set) != 0;
            memcpy(live, set, u->words * sizeof *set);
        }
    }
    free(set);
    return true;
}

/* ---- What is uniform -------------------------------------------------------------------------------------------------------- */

static bool is_uniform(const lw_unit *u, const uint64_t *set, uint32_t at) {
    const uint32_t cell = lw_unit_cell(u, at);
    return cell == LW_NO_CELL || u->cells[cell].is_constant || lw_set_has(set, cell);
}

/* From in front of an operation to behind it. False: lanes may part here. */
static bool uniform_over(lw_unit *u, uint32_t n, uint64_t *set) {
    lw_op *op = &u->code->ops[n];
    lw_fields f;
    lw_op_fields(u->code->slots, op, &f);
    bool same = u->kinds[n] == LW_KIND_body && lw_op_can_be_scalar(u, op);
    for (uint32_t k = 0; k < f.use_count; k++) same &= is_uniform(u, set, *f.uses[k]);
    for (uint32_t k = 0; k < f.def_count; k++) {
        const uint32_t cell = lw_unit_cell(u, *f.defs[k]);
        if (same) lw_set_add(set, cell);
        else lw_set_remove(set, cell);
    }
    switch (op->code) {
    case LW_OP_bra_if: return is_uniform(u, set, op->b);
    /* In a called function some of its lanes may go on while others wait for lanes that are elsewhere. */
    case LW_OP_barrier: return u->code->is_entry && is_uniform(u, set, op->a) && is_uniform(u, set, op->b);
    case LW_OP_warp_sync: return u->code->is_entry && is_uniform(u, set, op->a);
    case LW_OP_brx:
    case LW_OP_call:
    case LW_OP_call_indirect:
    case LW_OP_guard: return false;
    default: return true;
    }
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
        for (uint32_t n = 0; n < u->code->op_count && !parts; n++) {
            if (u->set_of[n] != LW_NO_CELL) memcpy(set, lw_unit_uniform(u, n), u->words * sizeof *set);
            parts |= !uniform_over(u, n, set);
            if (u->kinds[n] == LW_KIND_body && n + 1 < u->code->op_count && u->set_of[n + 1] == LW_NO_CELL) continue;
            const lw_next next = next_of(u, n);
            for (uint32_t k = 0; k < next.count; k++) changed |= narrow(u, next.at[k], set);
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
