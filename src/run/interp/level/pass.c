/* pass.c: what compiled code that takes one warp at a time calls often: registers that are rows in a warp, into its
 * slots and back; loads and stores whose lanes go each their own way (run/jit/jit.h). Compiled once for each CPU
 * level. */
#include "run/interp/level/apart.h"
#include "run/jit/jit.h"

/* ---- Rows ------------------------------------------------------------------------------------------------ */

/* What a lane has above the base of its run. */
LW_INLINE uint64_t above(const lw_row *row, uint32_t lane) {
    uint64_t sum = 0;
    for (uint32_t k = 0; k < LW_WARP_BITS; k++) sum += lane >> k & 1 ? (uint64_t)(int64_t)row->step[k] : 0;
    return sum;
}
static uint32_t runs_of(const lw_row *row) { return 1u << (LW_WARP_BITS - row->run); }

/* Lane by lane. */
#define DEFINE_ROW(bits) \
    static void take_##bits(const lw_any##bits *from, const lw_row *row, uint32_t lanes, uint64_t *bases) { \
        for (uint32_t at = 0; lanes == UINT32_MAX && at < runs_of(row); at++) bases[at] = from[at << row->run]; \
        for (uint32_t at = 0; lanes != UINT32_MAX && at < runs_of(row); at++) { \
            const uint32_t first = at << row->run, in_run = lanes >> first << (32 - (1u << row->run)); \
            const uint32_t lane = in_run ? (uint32_t)__builtin_ctz(in_run >> (32 - (1u << row->run))) : 0; \
            bases[at] = (uint##bits##_t)(from[first + lane] - (uint##bits##_t)above(row, lane)); \
        } \
    } \
    static void put_lanes_##bits(lw_any##bits *to, const lw_row *row, const uint64_t *bases, uint32_t lanes) { \
        for (; lanes; lanes &= lanes - 1) { \
            const uint32_t i = (uint32_t)__builtin_ctz(lanes); \
            to[i] = (uint##bits##_t)(bases[i >> row->run] + above(row, i)); \
        } \
    } \
    static bool has_lanes_##bits(const lw_any##bits *from, const lw_row *row, const uint64_t *bases, uint32_t lanes) { \
        for (; lanes; lanes &= lanes - 1) { \
            const uint32_t i = (uint32_t)__builtin_ctz(lanes); \
            if (from[i] != (uint##bits##_t)(bases[i >> row->run] + above(row, i))) return false; \
        } \
        return true; \
    }
DEFINE_ROW(16)
DEFINE_ROW(32)
DEFINE_ROW(64)

/* A statement for each chunk, from lane i on, with the values that the row has there. GCC makes no vectors of loops
 * this short. */
#define EACH_CHUNK(bits, i, values, statement) \
    { \
        chunk##bits steps_ = {0}; \
        for (uint32_t k_ = 0; 1u << k_ < IN_##bits; k_++) \
            steps_ += -(*(const loose##bits *)count_##bits >> k_ & 1) & (uint##bits##_t)row->step[k_]; \
        for (uint32_t i = 0; i < LW_WARP_LANES; i += IN_##bits) { \
            const chunk##bits values = steps_ + (uint##bits##_t)(bases[i >> row->run] + above(row, i)); \
            statement; \
        } \
    }

static bool is_flat(const lw_row *row) {
    return !(row->step[0] | row->step[1] | row->step[2] | row->step[3] | row->step[4]);
}

/* As a rule all lanes are meant, or have it, and many rows have one number. A chunk of lanes has one base. */
#define DEFINE_WHOLE_ROW(bits) \
    static void put_##bits(lw_any##bits *to, const lw_row *row, const uint64_t *bases, uint32_t lanes) { \
        if (LW_UNLIKELY(lanes != UINT32_MAX || 1u << row->run < IN_##bits)) { \
            put_lanes_##bits(to, row, bases, lanes); \
            return; \
        } \
        if (is_flat(row)) { \
            for (uint32_t i = 0; i < LW_WARP_LANES; i += IN_##bits) \
                *(loose##bits *)(to + i) = (chunk##bits){0} + (uint##bits##_t)bases[i >> row->run]; \
            return; \
        } \
        EACH_CHUNK(bits, i, values, *(loose##bits *)(to + i) = values) \
    } \
    static bool is_##bits(const lw_any##bits *from, const lw_row *row, const uint64_t *bases, uint32_t lanes) { \
        chunk##bits differ = {0}; \
        if (LW_UNLIKELY(1u << row->run < IN_##bits)) return has_lanes_##bits(from, row, bases, lanes); \
        EACH_CHUNK(bits, i, values, differ |= *(const loose##bits *)(from + i) ^ values) \
        return LW_LIKELY(lw_is_zero((lw_vector)differ)) || has_lanes_##bits(from, row, bases, lanes); \
    }
DEFINE_WHOLE_ROW(32)
DEFINE_WHOLE_ROW(64)

/* Predicates: bits of a word. */
static uint32_t word_of(const lw_row *row, const uint64_t *bases) {
    uint32_t word = 0;
    for (uint32_t at = 0; at < runs_of(row); at++)
        if (bases[at] & 1) word |= UINT32_MAX >> (32 - (1u << row->run)) << (at << row->run);
    return word;
}
static void take_bits(uint32_t word, const lw_row *row, uint32_t lanes, uint64_t *bases) {
    for (uint32_t at = 0; at < runs_of(row); at++) {
        const uint32_t run = UINT32_MAX >> (32 - (1u << row->run)) << (at << row->run);
        bases[at] = lanes & run ? (word & lanes & run) != 0 : (word & run) != 0;
    }
}

static void put_rows(char *regs, uint32_t warp, const lw_row *rows, uint32_t count, const uint64_t *bases,
                     uint32_t lanes) {
    for (const lw_row *row = rows; row < rows + count; bases += runs_of(row), row++) {
        char *slot = regs + lw_row_place(row, warp);
        switch (row->bits) {
        case 1: {
            lw_any32 *word = (lw_any32 *)slot;
            *word = (*word & ~lanes) | (word_of(row, bases) & lanes);
            break;
        }
        case 16: put_lanes_16((lw_any16 *)slot, row, bases, lanes); break;
        case 32: put_32((lw_any32 *)slot, row, bases, lanes); break;
        default: put_64((lw_any64 *)slot, row, bases, lanes);
        }
    }
}

static void take(const char *regs, uint32_t warp, const lw_row *row, uint32_t lanes, uint64_t *bases) {
    const char *slot = regs + lw_row_place(row, warp);
    switch (row->bits) {
    case 1: take_bits(*(const lw_any32 *)slot, row, lanes, bases); break;
    case 16: take_16((const lw_any16 *)slot, row, lanes, bases); break;
    case 32: take_32((const lw_any32 *)slot, row, lanes, bases); break;
    default: take_64((const lw_any64 *)slot, row, lanes, bases);
    }
}

static void unfold(lw_gang *gang, uint32_t warp) {
    const lw_fold *fold = gang->folded[warp];
    uint64_t bases[LW_WARP_LANES];
    gang->folded[warp] = NULL;
    for (const lw_row *row = fold->rows; row < fold->rows + fold->count; row++) {
        take(gang->regs, warp, row, UINT32_MAX, bases);
        put_rows(gang->regs, warp, row, 1, bases, UINT32_MAX);
    }
}

static void lend(lw_gang *gang, uint32_t warp, const lw_row *rows, uint32_t count, const uint64_t *bases,
                 uint32_t lanes) {
    put_rows(gang->regs, warp, rows, count, bases, lanes);
}

static void put(lw_gang *gang, uint32_t warp, const lw_row *rows, uint32_t count, const uint64_t *bases,
                uint32_t lanes) {
    if (LW_UNLIKELY(gang->folded[warp])) unfold(gang, warp);
    lend(gang, warp, rows, count, bases, lanes);
}

static bool is_row(const char *regs, uint32_t warp, const lw_row *row, const uint64_t *bases, uint32_t lanes) {
    const char *slot = regs + lw_row_place(row, warp);
    switch (row->bits) {
    case 1: return !((*(const lw_any32 *)slot ^ word_of(row, bases)) & lanes);
    case 16: return has_lanes_16((const lw_any16 *)slot, row, bases, lanes);
    case 32: return is_32((const lw_any32 *)slot, row, bases, lanes);
    default: return is_64((const lw_any64 *)slot, row, bases, lanes);
    }
}

static bool take_all(lw_gang *gang, const lw_pass *pass, uint32_t warp, const lw_row *rows, uint32_t count,
                     uint64_t *bases) {
    const char *regs = gang->regs;
    if (LW_UNLIKELY(gang->folded[warp])) unfold(gang, warp);
    for (const lw_row *row = rows; row < rows + count; bases += runs_of(row), row++) {
        uint32_t lanes = row->who & 1 ? pass->lanes[warp] : 0;
        for (uint32_t left = row->who >> 1, place = 0; left; left >>= 1, place++)
            if (left & 1) lanes |= pass->ready[place][warp];
        take(regs, warp, row, lanes, bases);
        if (!pass->trusted && !is_row(regs, warp, row, bases, lanes)) return false;
    }
    return true;
}

/* ---- Accesses -------------------------------------------------------------------------------------------- */

/* Where the lanes of a warp go: distances from one place, good ones of those that do not execute, too, unless few do.
 */
typedef struct lw_ways {
    uintptr_t host;
    bool few;    /* those that execute are looked at one by one */
    bool joined; /* all go to neighbouring places, in order */
    bool same;   /* those that execute go to one place */
    lw_any32 at[LW_WARP_LANES];
} lw_ways;

/* Their distances, each by itself. False: one is outside, or not aligned. */
#define DEFINE_FIND_FEW(bits) \
    static bool find_few_##bits(lw_ways *ways, const lw_any##bits *r, const lw_field *field, uint32_t lanes) { \
        const uint##bits##_t base = (uint##bits##_t)field->base, room = field->room; \
        uint##bits##_t high = 0, low = 0; \
        for (; lanes; lanes &= lanes - 1) { \
            const uint32_t i = (uint32_t)__builtin_ctz(lanes); \
            const uint##bits##_t distance = r[i] - base; \
            high |= (room - distance) | distance; \
            low |= distance; \
            ways->at[i] = (uint32_t)distance; \
        } \
        return !(high >> (bits - 1)) && !(low & (field->bytes - 1)); \
    }
DEFINE_FIND_FEW(32)
DEFINE_FIND_FEW(64)

static bool are_joined(const lw_ways *ways, uint32_t bytes) {
    chunk32 apart = {0}, next = *(const loose32 *)count_32 * bytes + ways->at[0];
    for (uint32_t i = 0; i < LW_WARP_LANES; i += IN_32, next += IN_32 * bytes)
        apart |= *(const loose32 *)(ways->at + i) ^ next;
    return lw_is_zero((lw_vector)apart);
}

static bool are_same(const lw_ways *ways, uint32_t lanes) {
    const uint32_t first = ways->at[__builtin_ctz(lanes)];
    chunk32 differ = {0};
    if (ways->few) {
        for (; lanes && ways->at[__builtin_ctz(lanes)] == first; lanes &= lanes - 1) {}
        return !lanes;
    }
    for (uint32_t i = 0; i < LW_WARP_LANES; i += IN_32)
        differ |= (*(const loose32 *)(ways->at + i) ^ first) & LANES_ON(32, lanes >> i);
    return lw_is_zero((lw_vector)differ);
}

/* Local memory is interleaved. */
static void find_local(lw_gang *gang, lw_ways *ways, uint32_t warp) {
    const uint32_t from = (uint32_t)ways->host;
    ways->host = (uintptr_t)gang->local;
    lw_local_touch(gang, gang->frame->local_end);
    for (uint32_t i = 0; i < LW_WARP_LANES; i++) {
        const uint32_t at = ways->at[i] + from, lane = warp * LW_WARP_LANES + i;
        ways->at[i] = ((at >> 4) * LW_GANG_LANES + lane) * LW_GRANULE + (at & (LW_GRANULE - 1));
    }
}

/* False: they are not all in one home, and aligned. */
static bool find_ways(lw_gang *gang, const lw_op *op, lw_memory_form form, uint32_t warp, uint32_t lanes, bool stores,
                      const char *addresses, lw_ways *ways) {
    const uint32_t bytes = lw_memory_bytes(form), first = (uint32_t)__builtin_ctz(lanes);
    const uint64_t frame = form.frame ? gang->frame->local_base : 0;
    lw_home home = {0};
    lw_field field;
    if (form.is_volatile || form.is_wide || !form.address || form.address == LW_ADDRESS_ROW) return false;
    if (!addresses) addresses = gang->regs + op->a + ((size_t)warp * LW_WARP_LANES << (form.address + 1));
    const lw_any32 *r32 = (const lw_any32 *)addresses;
    const lw_any64 *r64 = (const lw_any64 *)addresses;
    const uint64_t at = frame + (form.address == 1 ? (uint32_t)(r32[first] + (uint32_t)op->imm) : r64[first] + op->imm);
    if (!find_home(gang, op, form, at, bytes, &home)) return false;
    if (stores && (home.read_only || form.is_const)) return false;
    if (!find_field(&home, form, at, op->imm, frame, &field)) return false;
    ways->host = field.host;
    ways->few = home.host && __builtin_popcount(lanes) <= LW_FEW;
    ways->joined = ways->same = false;
    if (ways->few) {
        if (!(form.address == 1 ? find_few_32(ways, r32, &field, lanes) : find_few_64(ways, r64, &field, lanes)))
            return false;
        ways->same = !stores && are_same(ways, lanes);
        return true;
    }
    if (!(form.address == 1 ? find_apart_32(ways->at, r32, &field, 0, LW_WARP_LANES, lanes)
                            : find_apart_64(ways->at, r64, &field, 0, LW_WARP_LANES, lanes)))
        return false;
    if (!home.host) find_local(gang, ways, warp);
    else if (!(ways->joined = are_joined(ways, bytes))) ways->same = !stores && are_same(ways, lanes);
    return true;
}

/* An element of M bits becomes a register of W; and the low M bits of one. */
#define DEFINE_LOADS(m, w, name, type) \
    LW_RACY static void load_##name##_##m##_##w(char *slot, const lw_ways *ways, uintptr_t host) { \
        lw_any##w *to = (lw_any##w *)slot; \
        for (uint32_t i = 0; i < LW_WARP_LANES; i += IN_##w) { \
            chunk##w values = {0}; \
            LW_GATHER_##m(values, w, type, host, ways->at + i) * (loose##w *)(to + i) = values; \
        } \
    } \
    LW_RACY static void load_joined_##name##_##m##_##w(char *slot, const lw_ways *ways, uintptr_t host) { \
        const lw_any##m *from = (const lw_any##m *)(host + ways->at[0]); \
        lw_any##w *to = (lw_any##w *)slot; \
        LW_NO_OVERLAP for (uint32_t i = 0; i < LW_WARP_LANES; i++) to[i] = (uint##w##_t)(type)(from[i]); \
    } \
    LW_RACY static void load_few_##name##_##m##_##w(char *slot, const lw_ways *ways, uintptr_t host, uint32_t lanes) { \
        lw_any##w *to = (lw_any##w *)slot; \
        for (; lanes; lanes &= lanes - 1) { \
            const uint32_t i = (uint32_t)__builtin_ctz(lanes); \
            to[i] = (uint##w##_t)(type)(*(const lw_any##m *)(host + ways->at[i])); \
        } \
    }
#define DEFINE_BOTH(m, w) \
    DEFINE_LOADS(m, w, zero, uint##m##_t) \
    DEFINE_LOADS(m, w, sign, int##m##_t) \
    LW_RACY static void store_##m##_##w(const char *slot, const lw_ways *ways, uintptr_t host, uint32_t lanes) { \
        const lw_any##w *from = (const lw_any##w *)slot; \
        for (; lanes; lanes &= lanes - 1) { \
            const uint32_t i = (uint32_t)__builtin_ctz(lanes); \
            *(lw_any##m *)(host + ways->at[i]) = (uint##m##_t)from[i]; \
        } \
    }
DEFINE_BOTH(8, 16)
DEFINE_BOTH(8, 32)
DEFINE_BOTH(8, 64)
DEFINE_BOTH(16, 16)
DEFINE_BOTH(16, 32)
DEFINE_BOTH(16, 64)
DEFINE_BOTH(32, 32)
DEFINE_BOTH(32, 64)
DEFINE_BOTH(64, 64)

typedef void lw_loader(char *slot, const lw_ways *ways, uintptr_t host);
typedef void lw_few_loader(char *slot, const lw_ways *ways, uintptr_t host, uint32_t lanes);
typedef void lw_storer(const char *slot, const lw_ways *ways, uintptr_t host, uint32_t lanes);
typedef struct lw_loaders {
    lw_loader *all, *joined;
    lw_few_loader *few;
} lw_loaders;
/* By lw_memory_form.size, slot and is_signed. */
#define LOADERS(name, m, w) \
    { load_##name##_##m##_##w, load_joined_##name##_##m##_##w, load_few_##name##_##m##_##w }
#define PAIR(m, w) \
    { LOADERS(zero, m, w), LOADERS(sign, m, w) }
static const lw_loaders loaders[4][4][2] = {
    {{{0}}, PAIR(8, 16), PAIR(8, 32), PAIR(8, 64)},
    {{{0}}, PAIR(16, 16), PAIR(16, 32), PAIR(16, 64)},
    {{{0}}, {{0}}, PAIR(32, 32), PAIR(32, 64)},
    {{{0}}, {{0}}, {{0}}, PAIR(64, 64)},
};
static lw_storer *const storers[4][4] = {
    {0, store_8_16, store_8_32, store_8_64},
    {0, store_16_16, store_16_32, store_16_64},
    {0, 0, store_32_32, store_32_64},
    {0, 0, 0, store_64_64},
};

/* What the first of some lanes has, the others get. */
#define DEFINE_SPREAD(bits) \
    static void spread_##bits(char *slot, uint32_t lanes) { \
        lw_any##bits *to = (lw_any##bits *)slot; \
        spread_among_##bits(to, LW_WARP_LANES, lanes, to[__builtin_ctz(lanes)]); \
    }
DEFINE_SPREAD(16)
DEFINE_SPREAD(32)
DEFINE_SPREAD(64)

/* What others write meanwhile, CTAs on other workers, all lanes that go there see alike: the first one reads it for
 * all. */
static void load_same(const lw_loaders *loader, char *slot, const lw_ways *ways, uintptr_t host, uint32_t lanes,
                      lw_memory_form form) {
    loader->few(slot, ways, host, lanes & -lanes);
    (form.slot == 1 ? spread_16 : form.slot == 2 ? spread_32 : spread_64)(slot, lanes);
}

/* Of a warp, in its slot: the k-th element of each lane. */
static char *warp_slot(const lw_gang *gang, const lw_op *op, lw_memory_form form, uint32_t k, uint32_t warp) {
    char *slot = gang->regs + (form.vector ? gang->frame->code->slots[op->d + k] : op->d);
    return slot + ((size_t)warp * LW_WARP_LANES << form.slot);
}

/* addresses: of the warp's lanes, as the register has them; NULL: they are in its slot. */
static bool load_from(lw_gang *gang, const lw_op *op, uint32_t warp, uint32_t lanes, const char *addresses) {
    const lw_memory_form form = lw_memory_unpack(op->c);
    lw_ways ways;
    if (!find_ways(gang, op, form, warp, lanes, false, addresses, &ways)) return false;
    const lw_loaders *loader = &loaders[form.size][form.slot][form.is_signed];
    for (uint32_t k = 0; k < 1u << form.vector; k++) {
        char *slot = warp_slot(gang, op, form, k, warp);
        const uintptr_t host = element_host(gang, ways.host, k << form.size);
        if (ways.same) load_same(loader, slot, &ways, host, lanes, form);
        else if (ways.few) loader->few(slot, &ways, host, lanes);
        else (ways.joined && !form.vector ? loader->joined : loader->all)(slot, &ways, host);
    }
    return true;
}

static bool store_to(lw_gang *gang, const lw_op *op, uint32_t warp, uint32_t lanes, const char *addresses) {
    const lw_memory_form form = lw_memory_unpack(op->c);
    lw_ways ways;
    if (op->flags & LW_OP_IMM_B || !find_ways(gang, op, form, warp, lanes, true, addresses, &ways)) return false;
    for (uint32_t k = 0; k < 1u << form.vector; k++)
        storers[form.size][form.slot](warp_slot(gang, op, form, k, warp), &ways,
                                      element_host(gang, ways.host, k << form.size), lanes);
    return true;
}

static bool load(lw_gang *gang, const lw_op *op, uint32_t warp, uint32_t lanes) {
    return load_from(gang, op, warp, lanes, NULL) || lw_pass_move(gang, op, warp, lanes);
}

static bool store(lw_gang *gang, const lw_op *op, uint32_t warp, uint32_t lanes) {
    return store_to(gang, op, warp, lanes, NULL) || lw_pass_move(gang, op, warp, lanes);
}

/* The same where the address register is a row, which goes to its slot only if the step wants it. */
static bool move_row(lw_gang *gang, const lw_op *op, uint32_t warp, uint32_t lanes, const lw_row *row,
                     const uint64_t *bases, bool stores) {
    _Alignas(LW_VECTOR_BYTES) lw_any64 addresses[LW_WARP_LANES];
    if (row->bits == 32) put_32((lw_any32 *)addresses, row, bases, UINT32_MAX);
    else put_64(addresses, row, bases, UINT32_MAX);
    if (stores ? store_to(gang, op, warp, lanes, (const char *)addresses)
               : load_from(gang, op, warp, lanes, (const char *)addresses))
        return true;
    put_rows(gang->regs, warp, row, 1, bases, UINT32_MAX);
    return lw_pass_move(gang, op, warp, lanes);
}
static bool load_row(lw_gang *gang, const lw_op *op, uint32_t warp, uint32_t lanes, const lw_row *row,
                     const uint64_t *bases) {
    return move_row(gang, op, warp, lanes, row, bases, false);
}
static bool store_row(lw_gang *gang, const lw_op *op, uint32_t warp, uint32_t lanes, const lw_row *row,
                      const uint64_t *bases) {
    return move_row(gang, op, warp, lanes, row, bases, true);
}

const lw_warp_calls LW_AT_LEVEL(lw_warp) = {
    put, lend, take, take_all, load, store, load_row, store_row, LW_AT_LEVEL(lw_warp_shuffle), unfold};
