/* plan.c: what is settled about a function before it is compiled: which operations make up regions, where the
 * interpreter may come in, and what is live and what is uniform where. */
#include "run/jit/unit.h"

#include <stdlib.h>

/* ---- Kinds ----------------------------------------------------------------------------------------------------- */

static lw_kind kind_of(const lw_unit *u, const lw_op *op) {
    uint64_t at;
    switch ((lw_compile)lw_row_of(op->code)->compiled) {
    case LW_COMPILED_step: return LW_KIND_step;
    case LW_COMPILED_block: return LW_KIND_block;
    case LW_COMPILED_branch: return LW_KIND_branch;
    case LW_COMPILED_body: return LW_KIND_body;
    case LW_COMPILED_parameter: return lw_is_parameter(u->program, u->code, op, &at) ? LW_KIND_body : LW_KIND_step;
    }
    lw_bug("nobody says how operation code %u is compiled", op->code);
}

static void find_kinds(lw_unit *u) {
    for (uint32_t n = 0, guard_end = 0; n < u->count; n++) {
        const lw_op *op = lw_unit_op(u, n);
        u->guarded[n] = u->order[n] < guard_end;
        u->kinds[n] = (uint8_t)kind_of(u, op);
        if (u->guarded[n] && u->kinds[n] == LW_KIND_body) u->kinds[n] = LW_KIND_step;
        if (op->code == LW_OP_guard) guard_end = u->order[n] + (uint32_t)op->imm + 1;
        if (u->kinds[n] != LW_KIND_body && !u->whole[n]) lw_bug("operation code %u is part of another one", op->code);
        if (u->kinds[n] == LW_KIND_step && !u->guarded[n] && lw_op_does(op, LW_DOES_ALIKE))
            lw_bug("operation code %u has no body", op->code);
    }
}

/* Of registers, a region has all lanes at hand at once, and does one operation behind the other. It looks at its rows
 * before it begins, so that the interpreter can do all of it instead; what is found out on the way, that shift counts
 * are too large, must come before it stores anything. */
static void find_segments(lw_unit *u) {
    const uint32_t most = u->shapes[0] ? LW_VECTOR_OPS : LW_REGION_OPS;
    uint32_t length = 0;
    uint64_t weight = 0;
    bool stored = false;
    for (uint32_t n = 0; n < u->count; n++) {
        const lw_op *op = lw_unit_op(u, n);
        if (u->kinds[n] != LW_KIND_body) {
            u->starts[n] = u->kinds[n] == LW_KIND_step || (u->kinds[n] == LW_KIND_branch && length == 0);
            length = 0;
            stored = false;
            continue;
        }
        const bool breaks = stored && lw_op_does(op, LW_DOES_CHECKS);
        if (u->whole[n] && (length == 0 || length >= most || weight >= LW_REGION_WEIGHT || breaks)) {
            u->starts[n] = true;
            length = 0, weight = 0;
            stored = false;
        }
        length++, weight += u->shapes[0] ? 0 : lw_body_length(u, op);
        stored |= lw_op_does(op, LW_DOES_STORES);
    }
}

uint32_t lw_unit_region_end(const lw_unit *u, uint32_t op) {
    uint32_t end = op + 1;
    while (end < u->count && u->kinds[end] == LW_KIND_body && !u->starts[end]) end++;
    return end;
}

/* Behind steps, and at the beginning of blocks: but of a loop only of its first one, and of those that a step leads to.
 * A loop that is entered at one place alone is one that LLVM knows how to improve; the interpreter comes to that place
 * soon. */
static void find_entries(lw_unit *u) {
    for (uint32_t b = 0; b < u->code->block_count; b++) {
        const uint32_t first = u->block_at[b], next = first + 1;
        const lw_loop loop = u->code->facts->loops[b];
        const bool behind_step = first && u->kinds[first - 1] == LW_KIND_step;
        if (next < u->count) u->entered[next] = u->starts[next] && (!loop.end || loop.first == b || behind_step);
    }
    for (uint32_t n = 1; n < u->count; n++) u->entered[n] |= u->starts[n] && u->kinds[n - 1] == LW_KIND_step;
}

/* ---- Sets ------------------------------------------------------------------------------------------------------ */

const uint64_t *lw_unit_live(const lw_unit *u, uint32_t op) { return u->live + (size_t)u->set_of[op] * u->words; }
const uint64_t *lw_unit_uniform(const lw_unit *u, uint32_t op) { return u->uniform + (size_t)u->set_of[op] * u->words; }

/* Blocks and first operations of segments have sets, and so has what follows a region. */
static bool make_sets(lw_unit *u) {
    for (uint32_t n = 0; n < u->count; n++) {
        const bool has = u->starts[n] || u->kinds[n] != LW_KIND_body;
        u->set_of[n] = has ? u->set_count++ : LW_NO_SLOT;
    }
    if ((uint64_t)u->set_count * u->words > LW_UNIT_WORDS) return false;
    u->live = calloc((size_t)u->set_count * u->words + 1, sizeof *u->live);
    u->uniform = calloc((size_t)u->set_count * u->words + 1, sizeof *u->uniform);
    u->homed = calloc(u->words + 1, sizeof *u->homed);
    return u->live && u->uniform && u->homed;
}

static void keep_set(const lw_unit *u, uint64_t *sets, uint32_t n, const uint64_t *set) {
    if (u->set_of[n] != LW_NO_SLOT) memcpy(sets + (size_t)u->set_of[n] * u->words, set, u->words * sizeof *set);
}

uint64_t *lw_unit_kept(const lw_unit *u, uint32_t first, uint32_t end) {
    uint64_t *set = malloc((u->words + 1) * sizeof *set);
    u->build->failed |= !set;
    if (set) memcpy(set, lw_unit_uniform(u, first), u->words * sizeof *set);
    for (uint32_t n = first; set && n < end; n++)
        LW_EACH_WRITTEN(u->code, lw_unit_op(u, n), at) lw_set_remove(set, *at);
    return set;
}

/* In the order in which operations are done: so what is live between them is what the interpreter has in its frame
 * there. */
static bool find_live(lw_unit *u) {
    uint64_t *set = calloc(u->words + 1, sizeof *set);
    if (!set) return false;
    for (uint32_t b = u->code->block_count; b-- > 0;) {
        lw_facts_live_behind(u->code, b, set);
        for (uint32_t n = lw_unit_block_end(u, b); n-- > u->block_at[b];) {
            lw_live_over(u->code, lw_unit_op(u, n), u->guarded[n], set);
            keep_set(u, u->live, n, set);
        }
    }
    free(set);
    return true;
}

/* A region goes on only where no lane is beyond the last element. */
static bool find_uniform(lw_unit *u) {
    lw_uniform uniform = {.program = u->program, .code = u->code, .nobody_beyond = true, .words = u->words};
    uint64_t *sets = malloc(((size_t)u->words * (u->code->block_count + 1) + 1) * sizeof *sets);
    if (!sets) return false;
    lw_uniform_solve(&uniform, sets);
    for (uint32_t b = 0; b < u->code->block_count && !uniform.parts; b++) {
        uint64_t *set = sets + (size_t)b * u->words;
        for (uint32_t n = u->block_at[b]; n < lw_unit_block_end(u, b); n++) {
            keep_set(u, u->uniform, n, set);
            lw_uniform_over(&uniform, lw_unit_op(u, n), set);
        }
    }
    free(sets);
    return true;
}

/* Lanes of a warp are together, as a rule. */
static bool waits_long(const lw_op *op) { return lw_op_does(op, LW_DOES_WAITS) && op->code != LW_OP_warp_sync; }

/* Where lanes wait the interpreter has them, and comes back as often as they wait. */
static void find_homed(lw_unit *u) {
    for (uint32_t n = 0; n < u->count; n++) {
        if (u->kinds[n] != LW_KIND_step) continue;
        const lw_op *op = lw_unit_op(u, n);
        LW_EACH_READ(u->code, op, at) lw_set_add(u->homed, *at);
        for (uint32_t w = 0; w < u->words && waits_long(op); w++) u->homed[w] |= lw_unit_live(u, n)[w];
    }
}

static bool loops(const lw_unit *u) {
    for (uint32_t n = 0; n < u->count; n++)
        if (u->kinds[n] == LW_KIND_branch && lw_unit_op(u, n)->flags & LW_OP_BACKWARD) return true;
    return false;
}

static bool make_room(lw_unit *u) {
    const size_t count = u->code->op_count;
    u->order = calloc(count, sizeof *u->order);
    u->block_at = calloc(u->code->block_count, sizeof *u->block_at);
    u->whole = calloc(count, sizeof *u->whole);
    u->guarded = calloc(count, sizeof *u->guarded);
    u->kinds = calloc(count, sizeof *u->kinds);
    u->starts = calloc(count, sizeof *u->starts);
    u->set_of = calloc(count, sizeof *u->set_of);
    u->entered = calloc(count, sizeof *u->entered);
    u->words = (u->code->virtual_count + 63) / 64;
    return u->order && u->block_at && u->whole && u->guarded && u->kinds && u->starts && u->entered && u->set_of;
}

bool lw_unit_study(lw_unit *u) {
    if (lw_unit_is_large(u->code)) return false; /* what LLVM does with blocks grows faster */
    if (!make_room(u) || !lw_frame_order(u)) return false;
    find_kinds(u);
    const lw_program_vector *vector = &u->program->vector;
    if (vector->lanes)
        u->shapes[0] = vector->flat || vector->lanes > LW_GANG_LANES ? LW_GANG_LANES : (vector->lanes + 31) & ~31u;
    if (vector->flat && loops(u))
        u->shapes[1] = LW_GANG_LANES / 2; /* a short array; without a loop there is little to win */
    find_segments(u);
    find_entries(u);
    if (!make_sets(u) || !find_live(u) || !find_uniform(u)) return false;
    find_homed(u);
    return true;
}

void lw_unit_free(lw_unit *u) {
    free(u->order), free(u->block_at), free(u->whole), free(u->guarded);
    free(u->kinds), free(u->starts), free(u->entered), free(u->set_of);
    free(u->live), free(u->uniform), free(u->homed);
}
