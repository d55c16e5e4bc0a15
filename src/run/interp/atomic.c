/* atomic.c: atom and red (manual sections 9.7.13.7 and 9.7.13.8), in lane order.
 *
 * Flow: where the lanes go, by one check of all of them against one allocation or the shared memory of one CTA → a loop
 * for each operation. Lanes in several allocations or windows, and any fault, go one by one through address.c.
 *
 * Other CTAs may be at work on global memory, so there the host's atomic operations are used; shared memory belongs to
 * one cluster, which one thread runs. */
#include "run/interp/address.h"
#include "run/interp/wide.h"

#include <lanewise/lane.h>

/* A statement for each executing lane, in their order, warp by warp. */
#define EACH_LANE(lane, gang, statement) \
    for (uint32_t base_ = (gang)->begin; base_ < (gang)->lanes; base_ += LW_WARP_LANES) \
        for (uint32_t left_ = lw_mask_bits(&(gang)->mask, base_); left_; left_ &= left_ - 1) { \
            const uint32_t lane = base_ + (uint32_t)__builtin_ctz(left_); \
            statement; \
        }

/* ---- Places ------------------------------------------------------------------------------------------------- */

/* Where all executing lanes go; gang->address has the host place of each. */
typedef struct lw_target {
    bool known;     /* all in one allocation, or all in the shared memory of one CTA; then … */
    bool in_global; /* … which of both, … */
    bool one_place; /* … and whether all are at one address */
} lw_target;

/* What an address lies in, as addresses have it. */
typedef struct lw_home {
    uint64_t base, size;
    char *host; /* of base */
    bool in_global;
} lw_home;

static lw_range *hint_of(lw_gang *gang, const lw_op *op) {
    return &gang->hints[(size_t)(op - gang->frame->code->ops) % LW_HINTS];
}

/* False: an address in local memory or in none that may be changed. */
static bool find_home(lw_gang *gang, const lw_op *op, lw_memory_form form, uint64_t address, uint32_t bytes,
                      lw_home *home) {
    const bool generic = form.window == LW_WINDOW_generic;
    if (form.window == LW_WINDOW_global || (generic && address >= LW_GLOBAL_BASE)) {
        lw_range *hint = hint_of(gang, op);
        if (!lw_hint_find(gang, hint, address, bytes) || hint->read_only) return false;
        *home = (lw_home){hint->base, hint->size, hint->host, true};
        return true;
    }
    if (!generic && form.window != LW_WINDOW_shared && form.window != LW_WINDOW_cluster) return false;
    uint64_t offset;
    const lw_cta *owner = lw_shared_owner(gang->cta, generic ? LW_WINDOW_cluster : form.window,
                                          generic ? address - LW_SHARED_WINDOW : address, &offset);
    if (!owner) return false;
    *home = (lw_home){address - offset, owner->shared_bytes, owner->shared, false};
    return home->size >= bytes;
}

/* What was seen of addresses. */
typedef struct lw_sight {
    uint64_t outside; /* negative: one of them is out of the home */
    uint64_t bits;    /* of all */
    uint64_t differs; /* from the first one */
} lw_sight;

/* Without comparisons of 64 bits, which not every level has: a distance is within the room where neither it nor what is
 * left of the room is negative. */
LW_INLINE void see(lw_sight *sight, uint64_t address, uint64_t first, uint64_t base, uint64_t room) {
    const uint64_t distance = address - base;
    sight->outside |= distance | (room - distance);
    sight->bits |= address;
    sight->differs |= address ^ first;
}

/* The loop over a warp has no exit, so that it becomes vector code. */
#define DEFINE_FILL(bits) \
    static lw_sight fill_##bits(lw_gang *gang, const uint##bits##_t *a, uint64_t plus, const lw_home *home, \
                                uint32_t bytes) { \
        const uint##bits##_t add = (uint##bits##_t)plus; \
        const uint64_t first = (uint##bits##_t)(a[lw_mask_first(gang->mask)] + add), base = home->base, \
                       room = home->size - bytes, host = (uintptr_t)home->host - base; \
        lw_sight sight = {0}; \
        for (uint32_t at = gang->begin; at < gang->lanes; at += LW_WARP_LANES) { \
            uint32_t left = lw_mask_bits(&gang->mask, at); \
            const uint##bits##_t *restrict from = a + at; \
            uint64_t *restrict to = gang->address + at; \
            if (LW_LIKELY(left == UINT32_MAX)) { \
                for (uint32_t i = 0; i < LW_WARP_LANES; i++) { \
                    const uint64_t address = (uint##bits##_t)(from[i] + add); \
                    to[i] = host + address; \
                    see(&sight, address, first, base, room); \
                } \
                continue; \
            } \
            for (; left; left &= left - 1) { \
                const uint32_t i = (uint32_t)__builtin_ctz(left); \
                const uint64_t address = (uint##bits##_t)(from[i] + add); \
                to[i] = host + address; \
                see(&sight, address, first, base, room); \
            } \
        } \
        return sight; \
    }
DEFINE_FILL(32)
DEFINE_FILL(64)

static lw_sight fill_same(lw_gang *gang, uint64_t address, const lw_home *home, uint32_t bytes) {
    const uint64_t distance = address - home->base, host = (uintptr_t)home->host + distance;
    for (uint32_t i = gang->begin; i < gang->lanes; i++) gang->address[i] = host;
    return (lw_sight){.outside = distance | (home->size - bytes - distance), .bits = address};
}

/* All at once. False: one by one, please. */
static bool find_together(lw_gang *gang, const lw_op *op, lw_memory_form form, lw_target *target) {
    const uint32_t bytes = lw_memory_bytes(form), first = lw_mask_first(gang->mask);
    lw_home home;
    if (form.is_const || form.frame || form.address == LW_ADDRESS_ROW ||
        !find_home(gang, op, form, lw_address_of(gang, op, first), bytes, &home))
        return false;
    const lw_sight sight = form.address == 1   ? fill_32(gang, LW_SLOT(gang, uint32_t, op->a), op->imm, &home, bytes)
                           : form.address == 2 ? fill_64(gang, LW_SLOT(gang, uint64_t, op->a), op->imm, &home, bytes)
                                               : fill_same(gang, op->imm, &home, bytes);
    *target = (lw_target){.known = true, .in_global = home.in_global, .one_place = !sight.differs};
    return !(sight.outside >> 63) && !(sight.bits & (bytes - 1));
}

/* False: trapped. */
static bool find_apart(lw_gang *gang, const lw_op *op, lw_memory_form form) {
    const uint32_t bytes = lw_memory_bytes(form);
    lw_range *hint = hint_of(gang, op);
    bool by_hint = form.window == LW_WINDOW_global || form.window == LW_WINDOW_generic;
    bool doubtful = form.is_const || form.window == LW_WINDOW_const || form.window == LW_WINDOW_param;
    LW_FOR_LANES(lane, gang->mask) {
        uint64_t address = lw_address_of(gang, op, lane);
        lw_trap_kind fault = LW_TRAP_none;
        if (by_hint && address >= LW_GLOBAL_BASE) {
            if (!lw_hint_find(gang, hint, address, bytes)) fault = LW_TRAP_bounds;
            doubtful |= hint->read_only;
            gang->address[lane] = (uintptr_t)hint->host + (address - hint->base);
        } else {
            gang->address[lane] = (uintptr_t)lw_address_host(gang, form.window, lane, address, bytes, false, &fault);
            doubtful |= form.window == LW_WINDOW_generic;
        }
        doubtful |= fault != LW_TRAP_none || (address & (bytes - 1));
    }
    return !doubtful || lw_address_check(gang, op, LW_ACCESS_atomic);
}

/* gang->address becomes the host place of every executing lane. False: trapped. */
static bool find_places(lw_gang *gang, const lw_op *op, lw_memory_form form, lw_target *target) {
    if (LW_LIKELY(find_together(gang, op, form, target))) return true;
    *target = (lw_target){.known = false};
    return find_apart(gang, op, form);
}

/* ---- Values ------------------------------------------------------------------------------------------------- */

/* In global memory subnormals count as zero, in shared memory and in bulk reductions they do not. Any NaN gives the one
 * NaN of f32. */
LW_INLINE uint32_t add_f32(uint32_t old, uint32_t b, bool flushes) {
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
    bool is_bulk;   /* of an array … */
    bool flushes;   /* … whose type says that subnormals count as zero */
} lw_change;

LW_INLINE uint64_t add_float(lw_change change, uint64_t old, uint64_t b, bool is_64) {
    return is_64 ? add_f64(old, b, change.in_global)
                 : add_f32((uint32_t)old, (uint32_t)b, change.in_global && (!change.is_bulk || change.flushes));
}

/* Of one half or of two: .noftz is what all of them say, and what the functions do that are told nothing else. */
#define DEFINE_OF_HALVES(bits, x2) \
    static uint##bits##_t of_halves_##bits(lw_change change, uint##bits##_t old, uint##bits##_t b) { \
        switch (change.kind) { \
        case LW_ATOM_min_half: return change.is_brain ? lw_min_bf16##x2(old, b, 0) : lw_min_f16##x2(old, b, 0); \
        case LW_ATOM_max_half: return change.is_brain ? lw_max_bf16##x2(old, b, 0) : lw_max_f16##x2(old, b, 0); \
        default: return change.is_brain ? lw_add_bf16##x2(old, b, 0) : lw_add_f16##x2(old, b, 0); \
        } \
    }
DEFINE_OF_HALVES(16, )
DEFINE_OF_HALVES(32, x2)
static uint64_t of_halves_64(lw_change change, uint64_t old, uint64_t b) {
    (void)old, (void)b;
    lw_bug("atomic %d of four halves", (int)change.kind);
}

/* The new value of a place. In a loop the kind is a constant, and no question. */
#define DEFINE_APPLY(bits) \
    LW_INLINE uint##bits##_t apply_##bits(lw_change change, uint##bits##_t old, uint##bits##_t b, uint##bits##_t c) { \
        switch (change.kind) { \
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

/* ---- One lane ----------------------------------------------------------------------------------------------- */

/* Changes one place where others may be at work, and returns what was there. */
#define DEFINE_CHANGE(bits) \
    LW_INLINE uint##bits##_t change_##bits(lw_any##bits *place, lw_change change, uint##bits##_t b, \
                                           uint##bits##_t c) { \
        uint##bits##_t old = b, new; \
        switch (change.kind) { \
        case LW_ATOM_add: return __atomic_fetch_add(place, b, __ATOMIC_SEQ_CST); \
        case LW_ATOM_and: return __atomic_fetch_and(place, b, __ATOMIC_SEQ_CST); \
        case LW_ATOM_or: return __atomic_fetch_or(place, b, __ATOMIC_SEQ_CST); \
        case LW_ATOM_xor: return __atomic_fetch_xor(place, b, __ATOMIC_SEQ_CST); \
        case LW_ATOM_exch: return __atomic_exchange_n(place, b, __ATOMIC_SEQ_CST); \
        case LW_ATOM_cas: \
            __atomic_compare_exchange_n(place, &old, c, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); \
            return old; \
        default: break; \
        } \
        old = __atomic_load_n(place, __ATOMIC_RELAXED); \
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

/* ---- The lanes of a gang ------------------------------------------------------------------------------------ */

/* Operations whose order nobody sees where nobody gets results: two of them are one with both operands. */
static bool joins(lw_atom_op kind) {
    return kind == LW_ATOM_add || kind == LW_ATOM_and || kind == LW_ATOM_or || kind == LW_ATOM_xor ||
           kind == LW_ATOM_min_s || kind == LW_ATOM_min_u || kind == LW_ATOM_max_s || kind == LW_ATOM_max_u;
}

/* The operands of all lanes, and where results go; NULL: nowhere. That may be the slot of an operand: every lane reads
 * its own before it writes. */
#define DEFINE_LANES(bits) \
    typedef struct lw_lanes_##bits { \
        const uint##bits##_t *b, *c; \
        uint##bits##_t *d; \
    } lw_lanes_##bits;
DEFINE_LANES(16)
DEFINE_LANES(32)
DEFINE_LANES(64)

#define PLACE(bits, gang, lane) ((lw_any##bits *)(uintptr_t)(gang)->address[lane])

/* All lanes at one place that others may change too: one exchange for the whole gang, with every lane's result as if
 * the lanes had gone one after the other. */
#define DEFINE_CHANGE_TOGETHER(bits) \
    LW_INLINE void change_together_##bits(lw_gang *gang, lw_lanes_##bits of, lw_change change) { \
        lw_any##bits *results = (lw_any##bits *)gang->scratch, *place = PLACE(bits, gang, lw_mask_first(gang->mask)); \
        uint##bits##_t old = __atomic_load_n(place, __ATOMIC_RELAXED), new; \
        do { \
            new = old; \
            EACH_LANE(lane, gang, results[lane] = new; new = apply_##bits(change, new, of.b[lane], of.c[lane])) \
        } while (!__atomic_compare_exchange_n(place, &old, new, true, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)); \
        if (of.d) EACH_LANE(lane, gang, of.d[lane] = results[lane]) \
    }
DEFINE_CHANGE_TOGETHER(16)
DEFINE_CHANGE_TOGETHER(32)
DEFINE_CHANGE_TOGETHER(64)

/* Lanes without results: those in a row that go to one place count as one. */
#define DEFINE_CHANGE_JOINED(bits) \
    LW_INLINE void change_joined_##bits(lw_gang *gang, lw_lanes_##bits of, lw_change change) { \
        lw_any##bits *place = NULL; \
        uint##bits##_t sum = 0; \
        EACH_LANE( \
            lane, gang, \
            if (PLACE(bits, gang, lane) == place) { sum = apply_##bits(change, sum, of.b[lane], 0); } else { \
                if (place) change_##bits(place, change, sum, 0); \
                place = PLACE(bits, gang, lane); \
                sum = of.b[lane]; \
            }) \
        change_##bits(place, change, sum, 0); \
    }
DEFINE_CHANGE_JOINED(32)
DEFINE_CHANGE_JOINED(64)
#define change_joined_16 change_together_16 /* there is no operation to join */

/* In global memory. */
#define DEFINE_CHANGE_GLOBAL(bits) \
    LW_INLINE void change_global_##bits(lw_gang *gang, lw_lanes_##bits of, lw_change change, bool one_place) { \
        if (!of.d && joins(change.kind)) { \
            change_joined_##bits(gang, of, change); \
        } else if (one_place) { \
            change_together_##bits(gang, of, change); \
        } else if (of.d) { \
            EACH_LANE(lane, gang, of.d[lane] = change_##bits(PLACE(bits, gang, lane), change, of.b[lane], of.c[lane])) \
        } else { \
            EACH_LANE(lane, gang, change_##bits(PLACE(bits, gang, lane), change, of.b[lane], of.c[lane])) \
        } \
    }
DEFINE_CHANGE_GLOBAL(16)
DEFINE_CHANGE_GLOBAL(32)
DEFINE_CHANGE_GLOBAL(64)

/* In shared memory. At one place the value need not go through memory. */
#define DEFINE_CHANGE_SHARED(bits) \
    LW_RACY LW_INLINE void change_shared_##bits(lw_gang *gang, lw_lanes_##bits of, lw_change change, bool one_place) { \
        lw_any##bits *place = PLACE(bits, gang, lw_mask_first(gang->mask)); \
        uint##bits##_t value = *place, old; \
        if (one_place) { \
            EACH_LANE(lane, gang, old = value; value = apply_##bits(change, old, of.b[lane], of.c[lane]); \
                      if (of.d) of.d[lane] = old) \
            *place = value; \
        } else { \
            EACH_LANE(lane, gang, place = PLACE(bits, gang, lane); old = *place; \
                      *place = apply_##bits(change, old, of.b[lane], of.c[lane]); if (of.d) of.d[lane] = old) \
        } \
    }
DEFINE_CHANGE_SHARED(16)
DEFINE_CHANGE_SHARED(32)
DEFINE_CHANGE_SHARED(64)

/* Some here, some there. */
#define DEFINE_CHANGE_APART(bits) \
    LW_RACY static void change_apart_##bits(lw_gang *gang, lw_lanes_##bits of, lw_change change) { \
        LW_FOR_LANES(lane, gang->mask) { \
            lw_any##bits *place = PLACE(bits, gang, lane); \
            uint##bits##_t old; \
            change.in_global = !is_shared(gang, (uintptr_t)place); \
            if (change.in_global) { \
                old = change_##bits(place, change, of.b[lane], of.c[lane]); \
            } else { \
                old = *place; \
                *place = apply_##bits(change, old, of.b[lane], of.c[lane]); \
            } \
            if (of.d) of.d[lane] = old; \
        } \
    }
DEFINE_CHANGE_APART(16)
DEFINE_CHANGE_APART(32)
DEFINE_CHANGE_APART(64)

/* ---- The operation ------------------------------------------------------------------------------------------ */

/* The loops of one kind. */
#define DEFINE_CHANGE_ALL(bits) \
    LW_INLINE void change_all_##bits(lw_gang *gang, lw_lanes_##bits of, lw_change change, const lw_target *target) { \
        change.in_global = target->in_global; \
        if (target->in_global) change_global_##bits(gang, of, change, target->one_place); \
        else change_shared_##bits(gang, of, change, target->one_place); \
    }
DEFINE_CHANGE_ALL(16)
DEFINE_CHANGE_ALL(32)
DEFINE_CHANGE_ALL(64)

/* What most kernels do has loops of its own. */
#define FOR_COMMON_KINDS(X) X(add) X(min_s) X(min_u) X(max_s) X(max_u) X(and) X(or) X(xor) X(exch) X(cas) X(add_float)
#define CHANGE_32(name) \
    case LW_ATOM_##name: \
        change_all_32(gang, of, (lw_change){.kind = LW_ATOM_##name}, target); \
        return;
#define CHANGE_64(name) \
    case LW_ATOM_##name: change_all_64(gang, of, (lw_change){.kind = LW_ATOM_##name}, target); return;

LW_RACY static void choose_16(lw_gang *gang, lw_lanes_16 of, lw_change change, const lw_target *target) {
    change_all_16(gang, of, change, target);
}
LW_RACY static void choose_32(lw_gang *gang, lw_lanes_32 of, lw_change change, const lw_target *target) {
    switch (change.kind) {
        FOR_COMMON_KINDS(CHANGE_32)
    default: change_all_32(gang, of, change, target);
    }
}
LW_RACY static void choose_64(lw_gang *gang, lw_lanes_64 of, lw_change change, const lw_target *target) {
    switch (change.kind) {
        FOR_COMMON_KINDS(CHANGE_64)
    default: change_all_64(gang, of, change, target);
    }
}

#define DEFINE_RUN(bits) \
    LW_RACY static void run_##bits(lw_gang *gang, const lw_op *op, lw_change change, const lw_target *target) { \
        const uint##bits##_t *b = LW_SLOT(gang, uint##bits##_t, op->b); \
        const lw_lanes_##bits of = {.b = b, \
                                    .c = change.kind == LW_ATOM_cas ? LW_SLOT(gang, uint##bits##_t, op->e) : b, \
                                    .d = op->d == LW_NO_SLOT ? NULL : LW_SLOT(gang, uint##bits##_t, op->d)}; \
        if (LW_LIKELY(target->known)) choose_##bits(gang, of, change, target); \
        else change_apart_##bits(gang, of, change); \
    }
DEFINE_RUN(16)
DEFINE_RUN(32)
DEFINE_RUN(64)

const lw_op *lw_step_atom(lw_gang *gang, const lw_op *op) {
    lw_memory_form form = lw_memory_unpack(op->c);
    const lw_change change = {.kind = (lw_atom_op)op->mode, .is_brain = form.is_brain};
    lw_target target;
    lw_clear_upper_halves(gang);
    if (!find_places(gang, op, form, &target)) return NULL;
    gang->cta->cluster->idle = 0;
    switch (form.size) {
    case 1: run_16(gang, op, change, &target); break;
    case 2: run_32(gang, op, change, &target); break;
    case 3: run_64(gang, op, change, &target); break;
    default: lw_bug("atomic of %u bytes", lw_memory_bytes(form));
    }
    return op + 1;
}

/* ---- Arrays ------------------------------------------------------------------------------------------------- */

#define DEFINE_REDUCE(bits) \
    LW_RACY static void reduce_##bits(char *to, const char *from, lw_change change) { \
        lw_any##bits *place = (lw_any##bits *)to; \
        const uint##bits##_t b = *(const lw_any##bits *)from; \
        if (change.in_global) change_##bits(place, change, b, b); \
        else *place = apply_##bits(change, *place, b, b); \
    }
DEFINE_REDUCE(16)
DEFINE_REDUCE(32)
DEFINE_REDUCE(64)

void lw_atom_reduce(char *to, const char *from, uint32_t bytes, lw_atom_op kind, lw_memory_form form) {
    const lw_change change = {.kind = kind,
                              .is_brain = form.is_brain,
                              .in_global = form.window == LW_WINDOW_global,
                              .is_bulk = true,
                              .flushes = form.flushes};
    for (uint32_t at = 0; at < bytes; at += 1u << form.size) {
        if (form.size == 1) reduce_16(to + at, from + at, change);
        else if (form.size == 2) reduce_32(to + at, from + at, change);
        else reduce_64(to + at, from + at, change);
    }
}

/* ---- 16 bytes ----------------------------------------------------------------------------------------------- */

const lw_op *lw_step_atom_wide(lw_gang *gang, const lw_op *op) {
    const uint32_t *slots = gang->frame->code->slots + op->d;
    const bool is_cas = op->mode == LW_ATOM_cas;
    lw_target target;
    if (!find_places(gang, op, lw_memory_unpack(op->c), &target)) return NULL;
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
