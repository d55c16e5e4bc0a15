/* profile.c: what of a program is counted, and the sums of all workers. */
#include "middle/row.h"
#include "run/interp/count.h"

#include <stdlib.h>

/* ---- From a program to what is counted -------------------------------------------------------------------------- */

static bool is_access(const lw_op *op) {
    if (op->code == LW_OP_async_copy) return true;
    return lw_op_does(op, LW_DOES_MEMORY) && op->code != LW_OP_fill && op->code != LW_OP_async_arrive; /* later */
}

static lw_profile_kind kind_of(const lw_op *op) {
    const lw_op_row *row = lw_row_of(op->code);
    if (!(row->does & LW_DOES_STORES)) return LW_PROFILE_load;
    return row->mode == LW_MODE_atom || row->mode == LW_MODE_mbarrier || row->writes.d ? LW_PROFILE_atomic
                                                                                       : LW_PROFILE_store;
}

static void add_access(lw_profile *p, const lw_code *code, uint32_t op, lw_profile_kind kind, lw_window window) {
    if (p->accesses)
        p->accesses[p->access_count] = (lw_profile_access){.code = code, .op = op, .kind = kind, .window = window};
    p->access_count++;
}

static void add_accesses(lw_profile *p, const lw_code *code, uint32_t n) {
    static const lw_window generic[] = {LW_WINDOW_global, LW_WINDOW_shared, LW_WINDOW_cluster, LW_WINDOW_local,
                                        LW_WINDOW_param};
    const lw_op *op = &code->ops[n];
    if (op->code == LW_OP_async_copy) {
        add_access(p, code, n, LW_PROFILE_store, LW_WINDOW_shared);
        add_access(p, code, n, LW_PROFILE_load, LW_WINDOW_global);
        return;
    }
    const lw_window window = lw_memory_unpack(op->c).window;
    if (window != LW_WINDOW_generic) add_access(p, code, n, kind_of(op), window);
    else
        for (size_t i = 0; i < LW_COUNT(generic); i++) add_access(p, code, n, kind_of(op), generic[i]);
}

/* Twice: at first only how many there are. */
static void number_all(lw_profile *p) {
    p->op_count = p->block_count = p->access_count = 0;
    for (uint32_t i = 0; i < p->program->code_count; i++) {
        const lw_code *code = p->program->codes[i];
        if (p->firsts) p->firsts[i] = (lw_first){p->op_count, p->block_count};
        for (uint32_t n = 0; n < code->op_count; n++) {
            const bool accesses = is_access(&code->ops[n]);
            if (p->access_of) p->access_of[p->op_count + n] = accesses ? p->access_count : LW_NO_SLOT;
            if (accesses) add_accesses(p, code, n);
        }
        p->op_count += code->op_count;
        p->block_count += code->block_count;
    }
}

static bool make_tables(lw_profile *p) {
    number_all(p);
    const size_t codes = p->program->code_count;
    p->codes = calloc(codes + 1, sizeof *p->codes);
    p->firsts = calloc(codes + 1, sizeof *p->firsts);
    p->access_of = calloc((size_t)p->op_count + 1, sizeof *p->access_of);
    p->seconds = calloc((size_t)p->op_count + 1, sizeof *p->seconds);
    p->blocks = calloc((size_t)p->block_count + 1, sizeof *p->blocks);
    p->accesses = calloc((size_t)p->access_count + 1, sizeof *p->accesses); /* the last one ends those before it */
    if (!p->codes || !p->firsts || !p->access_of || !p->seconds || !p->blocks || !p->accesses) return false;
    number_all(p);
    for (uint32_t i = 0; i < codes; i++)
        p->codes[i] =
            (lw_profile_code){p->program->codes[i], p->blocks + p->firsts[i].block, p->seconds + p->firsts[i].op};
    p->sums = (lw_profile_sums){p->program->code_count, p->access_count, p->codes, p->accesses};
    return true;
}

static void link_steps(const lw_profile *p) {
    for (uint32_t i = 0; i < p->program->code_count; i++) {
        lw_code *code = p->program->codes[i];
        for (uint32_t n = 0; n < code->op_count; n++)
            code->ops[n].step = p->access_of[p->firsts[i].op + n] == LW_NO_SLOT ? lw_profile_step
                                                                                : lw_profile_access_step;
    }
}

static void free_profile(lw_profile *p) {
    lw_profile_free_shards(p);
    free(p->codes), free(p->firsts), free(p->access_of), free(p->seconds), free(p->blocks), free(p->accesses);
    free(p);
}

static uint64_t idle_ticks(void) {
    uint64_t least = UINT64_MAX;
    for (int i = 0; i < 64; i++) {
        const uint64_t start = lw_profile_ticks(), took = lw_profile_ticks() - start;
        if (took < least) least = took;
    }
    return least;
}

lw_profile *lw_profile_begin(lw_program *program, const lw_level *level) {
    static _Atomic uint64_t made;
    lw_profile *p = calloc(1, sizeof *p);
    if (!p) return NULL;
    p->program = program, p->level = level;
    p->number = atomic_fetch_add(&made, 1) + 1;
    if (!make_tables(p) || pthread_mutex_init(&p->lock, NULL)) {
        free_profile(p);
        return NULL;
    }
    program->profile = p;
    link_steps(p);
    p->idle = idle_ticks();
    p->much = 1000 * (p->idle + 1);
    p->clock = lw_clock(), p->tick = lw_profile_ticks();
    return p;
}

void lw_profile_end(lw_profile *p) {
    if (!p) return;
    p->program->profile = NULL;
    lw_program_link(p->program, p->level);
    pthread_mutex_destroy(&p->lock);
    free_profile(p);
}

/* ---- Sums ------------------------------------------------------------------------------------------------------- */

void lw_profile_add(lw_profile_access *to, const lw_profile_access *from) {
    to->requests += from->requests, to->lanes += from->lanes;
    for (int k = 0; k < LW_REQUEST_PATTERNS; k++)
        if (from->patterns[k]) lw_profile_add_pattern(to, (lw_request_pattern)k, from->patterns[k], from->widths[k]);
    to->sectors += from->sectors, to->bytes += from->bytes;
    to->rounds += from->rounds, to->least_rounds += from->least_rounds;
}

static void clear_counts(lw_profile_access *a) {
    *a = (lw_profile_access){.code = a->code, .op = a->op, .kind = a->kind, .window = a->window};
}

/* Sums of instructions become lanes that came. */
static void divide_blocks(lw_profile *p) {
    for (uint32_t i = 0; i < p->program->code_count; i++) {
        const lw_code *code = p->program->codes[i];
        for (uint32_t b = 0; b < code->block_count; b++) {
            lw_profile_block *block = &p->blocks[p->firsts[i].block + b];
            const uint32_t each = code->blocks[b].instructions;
            if (each) block->warps /= each, block->lanes /= each;
        }
    }
}

const lw_profile_sums *lw_profile_sum(lw_profile *p) {
    const uint64_t went = lw_profile_ticks() - p->tick;
    const double each = went ? (lw_clock() - p->clock) / (double)went : 0;
    if (p->failed) return NULL;
    memset(p->seconds, 0, p->op_count * sizeof *p->seconds);
    memset(p->blocks, 0, p->block_count * sizeof *p->blocks);
    for (uint32_t i = 0; i < p->access_count; i++) clear_counts(&p->accesses[i]);
    for (const lw_shard *shard = p->shards; shard; shard = shard->next) {
        for (uint32_t i = 0; i < p->op_count; i++) p->seconds[i] += each * (double)shard->ticks[i];
        for (uint32_t i = 0; i < p->block_count; i++)
            p->blocks[i].warps += shard->blocks[i].warps, p->blocks[i].lanes += shard->blocks[i].lanes;
        for (uint32_t i = 0; i < p->access_count; i++) lw_profile_add(&p->accesses[i], &shard->accesses[i]);
    }
    divide_blocks(p);
    return &p->sums;
}
