/* index.c: accesses by one number for all lanes and an index of 32 bits for each, times what a lane accesses: `p[i]`,
 * as most are. What compilers write for it, the index made wider and multiplied, then added to the number, takes as
 * long as the access itself, and whether lanes are neighbours the index tells as well, in half the bytes. So those
 * operations are passed over, and the access looks at the index (level/indexed.h). Where that does not do it has them
 * done after all, and goes on like any other.
 *
 * They stand in its block, under no guard, are all that writes their registers, and nobody reads these but accesses of
 * this kind; what they are made of is not written again in front of the access. */
#include "run/interp/link/link.h"

typedef struct lw_found {
    lw_indexed_access access; /* parts from the last one on */
    uint32_t block;           /* number of the operation that begins it */
    uint32_t index_written;   /* 1 + the operation that did */
} lw_found;

/* An operation that addresses are made by: not looked at yet; passed over; done where it stands. */
typedef enum lw_part { LW_PART_unknown, LW_PART_passed, LW_PART_done } lw_part;

typedef struct lw_indexer {
    lw_link *l;
    uint32_t *written; /* per register: 1 + the operation that wrote it last */
    uint32_t *uses;    /* per register: how often it is read … */
    uint32_t *taken;   /* … and how many of those need no value, or only where all else fails */
    bool *guarded;     /* per operation */
    uint8_t *parts;    /* likewise: lw_part */
    uint32_t block;    /* the operation that begins the one at hand */
    LW_LIST(lw_found) found;
} lw_indexer;

static const lw_op *op_of(const lw_indexer *x, uint32_t n) { return &x->l->code->ops[n]; }
static const lw_vreg *vreg_of(const lw_indexer *x, uint32_t reg) { return &x->l->vregs.at[reg]; }

/* ---- What is looked for (middle/indexed.c): of the block at hand, so far ----------------------------------------- */

static const lw_op *operation(const void *x, uint32_t n) { return op_of(x, n); }

/* The only one that gives a register. */
static uint32_t maker_of(const void *user, uint32_t n, uint32_t reg) {
    const lw_indexer *x = user;
    const uint32_t at = x->written[reg];
    (void)n; /* nothing else does, so it has not changed since */
    return vreg_of(x, reg)->defs == 1 && at > x->block + 1 && !x->guarded[at - 1] ? at - 1 : LW_NO_SLOT;
}

static bool is_number(const void *x, uint32_t reg, uint64_t value) {
    return vreg_of(x, reg)->is_const && vreg_of(x, reg)->value == value;
}

static bool is_base(const void *x, uint32_t n, uint32_t reg) {
    (void)n; /* it is the same wherever one has it */
    return vreg_of(x, reg)->alike;
}

static bool is_index(const void *user, uint32_t n, uint32_t reg) {
    const lw_indexer *x = user;
    return !vreg_of(x, reg)->is_const && x->written[reg] <= n;
}

/* ---- Accesses ---------------------------------------------------------------------------------------------------- */

static bool can_be_indexed(const lw_op *op, lw_memory_form form) {
    const bool is_moved = op->code == LW_OP_ld || op->code == LW_OP_st;
    const bool is_there = form.window == LW_WINDOW_global || form.window == LW_WINDOW_generic;
    return is_moved && is_there && form.address == 2 && !form.frame && !form.is_volatile && !form.is_wide;
}

static void find_access(lw_indexer *x, uint32_t n) {
    const lw_op *op = op_of(x, n);
    const lw_memory_form form = lw_memory_unpack(op->c);
    lw_found found = {.access = {.op = n}, .block = x->block};
    if (!can_be_indexed(op, form) || vreg_of(x, op->a)->is_const || vreg_of(x, op->a)->steady) return;
    const lw_indexed_search search = {x, operation, maker_of, is_number, is_base, is_index};
    if (!lw_find_indexed(&search, n, form.size + form.vector, &found.access)) return;
    found.access.leads = !x->guarded[n];
    found.index_written = x->written[found.access.index];
    x->taken[op->a]++;
    LW_PUSH(x->l->arena, x->found) = found;
}

static void find_accesses(lw_indexer *x) {
    const lw_code *code = x->l->code;
    for (uint32_t n = 0, guard_end = 0; n < code->op_count; n++) {
        const lw_op *op = &code->ops[n];
        if (op->code == LW_OP_block) x->block = n;
        x->guarded[n] = n < guard_end;
        if (op->code == LW_OP_guard) guard_end = n + (uint32_t)op->imm + 1;
        find_access(x, n);
        LW_EACH_READ(code, op, at) x->uses[*at]++;
        LW_EACH_WRITTEN(code, op, at) x->written[*at] = n + 1;
    }
}

/* Whether the k-th part of each can be passed over: whoever reads it can do without. From the last one on, so that it
 * is known of all that read one. */
static void settle_parts(lw_indexer *x, uint32_t k) {
    for (uint32_t i = 0; i < x->found.count; i++) {
        const lw_indexed_access *access = &x->found.at[i].access;
        if (access->part_count <= k || x->parts[access->parts[k]]) continue;
        const uint32_t n = access->parts[k];
        const uint32_t made = op_of(x, n)->d;
        const bool passes = !vreg_of(x, made)->steady && x->taken[made] == x->uses[made];
        x->parts[n] = passes ? LW_PART_passed : LW_PART_done;
        if (passes && k + 1 < access->part_count) x->taken[op_of(x, access->parts[k + 1])->d]++;
    }
}

/* In the order of the text, those that are passed over. */
static void keep_parts(const lw_indexer *x, lw_indexed_access *access) {
    uint32_t kept[LW_INDEXED_PARTS], count = 0;
    for (uint32_t k = access->part_count; k-- > 0;)
        if (x->parts[access->parts[k]] == LW_PART_passed) kept[count++] = access->parts[k];
    memcpy(access->parts, kept, count * sizeof *kept);
    access->part_count = count;
}

static bool look_alike(const lw_indexer *x, const lw_found *one, const lw_found *other) {
    const lw_memory_form a = lw_memory_unpack(op_of(x, one->access.op)->c),
                         b = lw_memory_unpack(op_of(x, other->access.op)->c);
    return one->block == other->block && one->access.index == other->access.index &&
           one->index_written == other->index_written && one->access.is_signed == other->access.is_signed &&
           a.size == b.size && a.vector == b.vector && a.slot == b.slot;
}

/* Who leaves where its lanes are, and who finds that there. */
static void place_rows(lw_indexer *x) {
    const lw_found *places[LW_INDEXED_ROWS] = {NULL};
    uint32_t next = 0;
    for (uint32_t i = 0; i < x->found.count; i++) {
        lw_found *found = &x->found.at[i];
        uint32_t k = 0;
        while (k < LW_INDEXED_ROWS && !(places[k] && look_alike(x, places[k], found))) k++;
        found->access.follows = k < LW_INDEXED_ROWS;
        if (!found->access.follows) k = next, next = (next + 1) % LW_INDEXED_ROWS, places[k] = NULL;
        if (found->access.leads) places[k] = found;
        found->access.row = (uint8_t)k;
    }
}

static void put_accesses(lw_indexer *x) {
    lw_code *code = x->l->code;
    code->indexed = lw_arena_array(x->l->arena, sizeof *code->indexed, x->found.count);
    code->indexed_at = lw_arena_array(x->l->arena, sizeof *code->indexed_at, code->op_count);
    for (uint32_t i = 0; i < x->found.count; i++) {
        const lw_indexed_access *access = &x->found.at[i].access;
        lw_op *op = &code->ops[access->op];
        lw_memory_form form = lw_memory_unpack(op->c);
        form.is_indexed = true;
        op->c = lw_memory_pack(form);
        code->indexed_at[access->op] = code->indexed_count;
        code->indexed[code->indexed_count++] = *access;
    }
}

void lw_link_index(lw_link *l) {
    const uint32_t registers = l->vregs.count, ops = l->code->op_count;
    lw_indexer x = {.l = l};
    uint32_t kept = 0;
    x.written = LW_NEW_ARRAY(l->arena, uint32_t, registers), x.taken = LW_NEW_ARRAY(l->arena, uint32_t, registers);
    x.uses = LW_NEW_ARRAY(l->arena, uint32_t, registers);
    x.guarded = LW_NEW_ARRAY(l->arena, bool, ops), x.parts = LW_NEW_ARRAY(l->arena, uint8_t, ops);
    find_accesses(&x);
    for (uint32_t k = 0; k < LW_INDEXED_PARTS; k++) settle_parts(&x, k);
    for (uint32_t i = 0; i < x.found.count; i++) {
        if (x.parts[x.found.at[i].access.parts[0]] != LW_PART_passed) continue;
        keep_parts(&x, &x.found.at[i].access);
        x.found.at[kept++] = x.found.at[i];
    }
    x.found.count = kept;
    if (!kept) return;
    place_rows(&x);
    put_accesses(&x);
}
