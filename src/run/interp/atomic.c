/* atomic.c: atom and red (manual sections 9.7.13.7 and 9.7.13.8), lane by lane in lane order.
 *
 * Other CTAs may be at work on global memory, so there the host's atomic operations are used; shared memory belongs to
 * one cluster, which one thread runs. */
#include "run/interp/address.h"
#include "run/interp/wide.h"

#include <lanewise/lane.h>

/* ---- Places ------------------------------------------------------------------------------------------------- */

/* gang->address becomes the host place of every active lane. False: trapped. */
static bool find_places(lw_gang *gang, const lw_op *op, lw_memory_form form) {
    uint32_t bytes = lw_memory_bytes(form);
    lw_range *hint = &gang->hints[(size_t)(op - gang->frame->code->ops) % LW_HINTS];
    bool by_hint = form.window == LW_WINDOW_global || form.window == LW_WINDOW_generic;
    bool doubtful = form.is_const || form.window == LW_WINDOW_const || form.window == LW_WINDOW_param;
    LW_FOR_LANES(lane, gang->mask) {
        uint64_t address = lw_address_of(gang, op, lane);
        lw_trap_kind fault = LW_TRAP_none;
        if (by_hint && address >= LW_GLOBAL_BASE) {
            if (hint->size < bytes || address - hint->base > hint->size - bytes) {
                const lw_range *range = lw_ranges_find(gang->cta->grid->ranges, address, bytes);
                if (range) *hint = *range;
                else fault = LW_TRAP_bounds;
            }
            doubtful |= hint->read_only;
            gang->address[lane] = (uintptr_t)hint->host + (address - hint->base);
        } else {
            gang->address[lane] = (uintptr_t)lw_address_host(gang, form.window, lane, address, bytes, &fault);
            doubtful |= form.window == LW_WINDOW_generic;
        }
        doubtful |= fault != LW_TRAP_none || (address & (bytes - 1));
    }
    return !doubtful || lw_address_check(gang, op, LW_ACCESS_atomic);
}

/* ---- Values ------------------------------------------------------------------------------------------------- */

/* In global memory subnormals count as zero, in shared memory and in bulk reductions they do not. Any NaN gives the one
 * NaN of f32. */
static uint32_t add_f32(uint32_t old, uint32_t b, bool flushes) {
    float x, y;
    memcpy(&x, &old, sizeof x);
    memcpy(&y, &b, sizeof y);
    x = flushes ? lw_add_rn_ftz_f32(x, y) : lw_add_rn_f32(x, y);
    memcpy(&old, &x, sizeof x);
    return old;
}

static bool is_nan_64(uint64_t x) { return (x & INT64_MAX) > 0x7ff0000000000000; }

/* Which NaN comes out, as recorded on an H100: in global memory the operand, else what was there, either as it is; in
 * shared memory what was there, else the operand, made quiet. The addition of registers prefers its second operand. */
static uint64_t add_f64(uint64_t old, uint64_t b, bool in_global) {
    double x, y;
    if (in_global && is_nan_64(b)) return b;
    if (in_global && is_nan_64(old)) return old;
    memcpy(&x, &old, sizeof x);
    memcpy(&y, &b, sizeof y);
    x = lw_add_rn_f64(y, x);
    memcpy(&old, &x, sizeof x);
    return old;
}

/* What an operation does to a place. */
typedef struct lw_change {
    lw_atom_op kind;
    bool is_brain;  /* halves are bf16, not f16 */
    bool in_global; /* not in shared memory */
    bool is_bulk;   /* of an array */
} lw_change;

static uint64_t add_float(const lw_change *change, uint64_t old, uint64_t b, bool is_64) {
    return is_64 ? add_f64(old, b, change->in_global)
                 : add_f32((uint32_t)old, (uint32_t)b, change->in_global && !change->is_bulk);
}

/* Of one half or of two: .noftz is what all of them say, and what the functions do that are told nothing else. */
#define DEFINE_OF_HALVES(bits, x2) \
    static uint##bits##_t of_halves_##bits(const lw_change *change, uint##bits##_t old, uint##bits##_t b) { \
        switch (change->kind) { \
        case LW_ATOM_min_half: return change->is_brain ? lw_min_bf16##x2(old, b, 0) : lw_min_f16##x2(old, b, 0); \
        case LW_ATOM_max_half: return change->is_brain ? lw_max_bf16##x2(old, b, 0) : lw_max_f16##x2(old, b, 0); \
        default: return change->is_brain ? lw_add_bf16##x2(old, b, 0) : lw_add_f16##x2(old, b, 0); \
        } \
    }
DEFINE_OF_HALVES(16, )
DEFINE_OF_HALVES(32, x2)
static uint64_t of_halves_64(const lw_change *change, uint64_t old, uint64_t b) {
    (void)old, (void)b;
    lw_bug("atomic %d of four halves", (int)change->kind);
}

/* The new value of a place. */
#define DEFINE_APPLY(bits) \
    static uint##bits##_t apply_##bits(const lw_change *change, uint##bits##_t old, uint##bits##_t b, \
                                       uint##bits##_t c) { \
        switch (change->kind) { \
        case LW_ATOM_add: return (uint##bits##_t)(old + b); \
        case LW_ATOM_min_s: return (int##bits##_t)b < (int##bits##_t)old ? b : old; \
        case LW_ATOM_min_u: return b < old ? b : old; \
        case LW_ATOM_max_s: return (int##bits##_t)b > (int##bits##_t)old ? b : old; \
        case LW_ATOM_max_u: return b > old ? b : old; \
        case LW_ATOM_and: return old & b; \
        case LW_ATOM_or: return old | b; \
        case LW_ATOM_xor: return old ^ b; \
        case LW_ATOM_exch: return b; \
        case LW_ATOM_cas: return old == b ? c : old; \
        case LW_ATOM_inc: return old >= b ? 0 : (uint##bits##_t)(old + 1); \
        case LW_ATOM_dec: return old == 0 || old > b ? b : (uint##bits##_t)(old - 1); \
        case LW_ATOM_add_float: return (uint##bits##_t)add_float(change, old, b, bits == 64); \
        case LW_ATOM_add_half: \
        case LW_ATOM_min_half: \
        case LW_ATOM_max_half: return of_halves_##bits(change, old, b); \
        } \
        return old; \
    }
DEFINE_APPLY(16)
DEFINE_APPLY(32)
DEFINE_APPLY(64)

/* ---- The operation ------------------------------------------------------------------------------------------ */

/* Changes one place where others may be at work, and returns what was there. */
#define DEFINE_CHANGE(bits) \
    static uint##bits##_t change_##bits(lw_any##bits *place, const lw_change *change, uint##bits##_t b, \
                                        uint##bits##_t c) { \
        switch (change->kind) { \
        case LW_ATOM_add: return __atomic_fetch_add(place, b, __ATOMIC_SEQ_CST); \
        case LW_ATOM_and: return __atomic_fetch_and(place, b, __ATOMIC_SEQ_CST); \
        case LW_ATOM_or: return __atomic_fetch_or(place, b, __ATOMIC_SEQ_CST); \
        case LW_ATOM_xor: return __atomic_fetch_xor(place, b, __ATOMIC_SEQ_CST); \
        case LW_ATOM_exch: return __atomic_exchange_n(place, b, __ATOMIC_SEQ_CST); \
        default: break; \
        } \
        uint##bits##_t old = __atomic_load_n(place, __ATOMIC_RELAXED), new; \
        do new = apply_##bits(change, old, b, c); \
        while (!__atomic_compare_exchange_n(place, &old, new, true, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)); \
        return old; \
    }
DEFINE_CHANGE(16)
DEFINE_CHANGE(32)
DEFINE_CHANGE(64)

static bool is_shared(const lw_gang *gang, uintptr_t place) {
    const lw_cluster *cluster = gang->cta->cluster;
    for (uint32_t rank = 0; rank < cluster->count; rank++)
        if (place - (uintptr_t)cluster->ctas[rank]->shared < cluster->ctas[rank]->shared_bytes) return true;
    return false;
}

/* All lanes at one place that others may change too: one exchange for the whole gang, with every lane's result as if
 * the lanes had gone one after the other. */
#define DEFINE_CHANGE_TOGETHER(bits) \
    static void change_together_##bits(lw_gang *gang, lw_any##bits *place, const lw_change *change, \
                                       const uint##bits##_t *b, const uint##bits##_t *c, uint##bits##_t *d) { \
        lw_any##bits *results = (lw_any##bits *)gang->scratch; \
        uint##bits##_t old = __atomic_load_n(place, __ATOMIC_RELAXED), new; \
        do { \
            new = old; \
            LW_FOR_LANES(lane, gang->mask) { \
                results[lane] = new; \
                new = apply_##bits(change, new, b[lane], c[lane]); \
            } \
        } while (!__atomic_compare_exchange_n(place, &old, new, true, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)); \
        if (d) LW_FOR_LANES(lane, gang->mask) d[lane] = results[lane]; \
    }
DEFINE_CHANGE_TOGETHER(16)
DEFINE_CHANGE_TOGETHER(32)
DEFINE_CHANGE_TOGETHER(64)

static bool is_one_place(const lw_gang *gang) {
    uint64_t first = gang->address[lw_mask_first(gang->mask)], differs = 0;
    LW_FOR_LANES(lane, gang->mask) differs |= gang->address[lane] ^ first;
    return differs == 0;
}

/* All lanes. `d` may be the slot of an operand: every lane reads its own before it writes. */
#define DEFINE_CHANGE_ALL(bits) \
    LW_RACY static void change_all_##bits(lw_gang *gang, const lw_op *op, lw_change change, bool never_shared) { \
        const uint##bits##_t *b = LW_SLOT(gang, uint##bits##_t, op->b); \
        const uint##bits##_t *c = change.kind == LW_ATOM_cas ? LW_SLOT(gang, uint##bits##_t, op->e) : b; \
        uint##bits##_t *d = op->d == LW_NO_SLOT ? NULL : LW_SLOT(gang, uint##bits##_t, op->d); \
        uint64_t first = gang->address[lw_mask_first(gang->mask)]; \
        change.in_global = true; \
        if (is_one_place(gang) && (never_shared || !is_shared(gang, first))) { \
            change_together_##bits(gang, (lw_any##bits *)(uintptr_t)first, &change, b, c, d); \
            return; \
        } \
        LW_FOR_LANES(lane, gang->mask) { \
            lw_any##bits *place = (lw_any##bits *)(uintptr_t)gang->address[lane]; \
            uint##bits##_t old; \
            change.in_global = never_shared || !is_shared(gang, (uintptr_t)place); \
            if (change.in_global) { \
                old = change_##bits(place, &change, b[lane], c[lane]); \
            } else { \
                old = *place; \
                *place = apply_##bits(&change, old, b[lane], c[lane]); \
            } \
            if (d) d[lane] = old; \
        } \
    }
DEFINE_CHANGE_ALL(16)
DEFINE_CHANGE_ALL(32)
DEFINE_CHANGE_ALL(64)

const lw_op *lw_step_atom(lw_gang *gang, const lw_op *op) {
    lw_memory_form form = lw_memory_unpack(op->c);
    lw_change change = {.kind = (lw_atom_op)op->mode, .is_brain = form.is_brain};
    bool never_shared = form.window == LW_WINDOW_global;
    if (!find_places(gang, op, form)) return NULL;
    gang->cta->cluster->idle = 0;
    switch (form.size) {
    case 1: change_all_16(gang, op, change, never_shared); break;
    case 2: change_all_32(gang, op, change, never_shared); break;
    case 3: change_all_64(gang, op, change, never_shared); break;
    default: lw_bug("atomic of %u bytes", lw_memory_bytes(form));
    }
    return op + 1;
}

/* ---- Arrays ------------------------------------------------------------------------------------------------- */

#define DEFINE_REDUCE(bits) \
    LW_RACY static void reduce_##bits(char *to, const char *from, const lw_change *change) { \
        lw_any##bits *place = (lw_any##bits *)to; \
        const uint##bits##_t b = *(const lw_any##bits *)from; \
        if (change->in_global) change_##bits(place, change, b, b); \
        else *place = apply_##bits(change, *place, b, b); \
    }
DEFINE_REDUCE(16)
DEFINE_REDUCE(32)
DEFINE_REDUCE(64)

void lw_atom_reduce(char *to, const char *from, uint32_t bytes, lw_atom_op kind, lw_memory_form form) {
    const lw_change change = {
        .kind = kind, .is_brain = form.is_brain, .in_global = form.window == LW_WINDOW_global, .is_bulk = true};
    for (uint32_t at = 0; at < bytes; at += 1u << form.size) {
        if (form.size == 1) reduce_16(to + at, from + at, &change);
        else if (form.size == 2) reduce_32(to + at, from + at, &change);
        else reduce_64(to + at, from + at, &change);
    }
}

/* ---- 16 bytes ----------------------------------------------------------------------------------------------- */

const lw_op *lw_step_atom_wide(lw_gang *gang, const lw_op *op) {
    const uint32_t *slots = gang->frame->code->slots + op->d;
    const bool is_cas = op->mode == LW_ATOM_cas;
    if (!find_places(gang, op, lw_memory_unpack(op->c))) return NULL;
    gang->cta->cluster->idle = 0;
    LW_FOR_LANES(lane, gang->mask) {
        void *place = (void *)(uintptr_t)gang->address[lane];
        const lw_wide b = lw_wide_get(gang, slots + 2, lane), new = is_cas ? lw_wide_get(gang, slots + 4, lane) : b;
        lw_wide old = is_cas ? b : lw_wide_load(place);
        while (!lw_wide_swap(place, &old, new) && !is_cas) continue;
        lw_wide_put(gang, slots, lane, old);
    }
    return op + 1;
}
