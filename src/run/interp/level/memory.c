/* memory.c: ld and st for a whole gang; compiled once for each CPU level.
 *
 * Flow: which lanes → where they go and in what pattern (reach) → one bounds and alignment check for all of them
 * against the allocation met last time → data by pattern. An access that follows the trail of another one is where that
 * was, but for a constant; one by an index is looked at by that (indexed.h). Whatever does not fit that — lanes in
 * several allocations or windows, any fault — goes lane by lane through address.c. */
#include "run/interp/level/apart.h"
#include "run/interp/wide.h"

/* ---- Which lanes ---------------------------------------------------------------------------------------- */

/* Not by gang->active: a guard narrows the mask alone. */
LW_INLINE void find_lanes(const lw_gang *gang, lw_reach *reach) {
    uint64_t low = (uint64_t)gang->mask, high = (uint64_t)(gang->mask >> 64);
    if (LW_LIKELY((low & high) == UINT64_MAX)) {
        reach->run = true;
        reach->first = 0;
        reach->count = LW_GANG_LANES;
        return;
    }
    reach->first = lw_mask_first(gang->mask);
    uint32_t last = high ? 127 - (uint32_t)__builtin_clzll(high) : 63 - (uint32_t)__builtin_clzll(low);
    reach->count = last - reach->first + 1;
    lw_mask from_first = gang->mask >> reach->first;
    reach->run = (from_first & (from_first + 1)) == 0;
}

/* Active lanes one by one: quicker with two words than with one of 128 bits. */
#define FOR_ACTIVE(lane, gang) \
    for (uint32_t half_ = 0; half_ < 2; half_++) \
        for (uint64_t left_ = (uint64_t)((gang)->mask >> (64 * half_)); left_; left_ &= left_ - 1) \
            for (uint32_t lane = 64 * half_ + (uint32_t)__builtin_ctzll(left_), once_ = 1; once_; once_ = 0)

/* ---- Pattern -------------------------------------------------------------------------------------------- */

/* Whether r[i] == r[0] + i * step for all i. */
#define DEFINE_IS_LINEAR(bits) \
    LW_INLINE bool is_linear_##bits(const uint##bits##_t *r, uint32_t count, uint##bits##_t step) { \
        chunk##bits want = *(const loose##bits *)count_##bits * step + r[0], differs = {0}; \
        uint32_t i = 0; \
        for (; i + IN_##bits <= count; i += IN_##bits) { \
            differs |= *(const loose##bits *)(r + i) ^ want; \
            want += IN_##bits * step; \
        } \
        uint##bits##_t any = 0; \
        for (; i < count; i++) any |= r[i] ^ (r[0] + i * step); \
        return lw_is_zero((lw_vector)differs) && any == 0; \
    }
DEFINE_IS_LINEAR(32)
DEFINE_IS_LINEAR(64)

/* The same where only some lanes count, for all i in the mask: r[i] == r[first] + (i - first) * step. */
#define DEFINE_IS_LINEAR_AMONG(bits) \
    static bool is_linear_among_##bits(const uint##bits##_t *r, const lw_gang *gang, uint32_t first, \
                                       uint##bits##_t step) { \
        chunk##bits want = *(const loose##bits *)count_##bits * step + (r[first] - first * step), differs = {0}; \
        for (uint32_t i = 0; i < gang->lanes; i += IN_##bits) { \
            differs |= (*(const loose##bits *)(r + i) ^ want) & LANES_ON(bits, gang->mask >> i); \
            want += IN_##bits * step; \
        } \
        return lw_is_zero((lw_vector)differs); \
    }
DEFINE_IS_LINEAR_AMONG(32)
DEFINE_IS_LINEAR_AMONG(64)

/* The second active lane tells which pattern is worth a look. */
#define DEFINE_FIND_PATTERN(bits) \
    LW_INLINE lw_pattern find_pattern_##bits(const uint##bits##_t *r, const lw_gang *gang, const lw_reach *reach, \
                                             uint32_t bytes) { \
        if (reach->count == 1) return LW_UNIFORM; \
        uint32_t first = reach->first, second = first + 1; \
        if (LW_UNLIKELY(!reach->run)) second = lw_mask_first(gang->mask & (gang->mask - 1)); \
        uint##bits##_t step = r[second] - r[first]; \
        lw_pattern pattern = step == (second - first) * bytes ? LW_UNIT : LW_UNIFORM; \
        if (pattern == LW_UNIFORM && step != 0) return LW_EACH; \
        step = pattern == LW_UNIT ? bytes : 0; \
        const uint32_t last = reach->count - \
                              1; /* an active lane, too: mostly it tells without a look at the others */ \
        if (r[first + last] - r[first] != last * step) return LW_EACH; \
        bool is = LW_LIKELY(reach->run) ? is_linear_##bits(r + first, reach->count, step) \
                                        : is_linear_among_##bits(r, gang, first, step); \
        return is ? pattern : LW_EACH; \
    }
DEFINE_FIND_PATTERN(32)
DEFINE_FIND_PATTERN(64)

/* ---- Addresses and their check -------------------------------------------------------------------------- */

/* Whether every LW_STRIP lanes are `step` apart. The last lane of the first strip tells whether it is worth a look. */
#define DEFINE_ARE_STRIPS(bits) \
    LW_INLINE bool are_strips_##bits(const uint##bits##_t *r, uint32_t first, uint32_t end, uint##bits##_t step) { \
        if (r[first + LW_STRIP - 1] - r[first] != (LW_STRIP - 1) * step) return false; \
        chunk##bits differs = {0}; \
        for (uint32_t strip = first; strip < end; strip += LW_STRIP) { \
            chunk##bits want = *(const loose##bits *)count_##bits * step + r[strip]; \
            for (uint32_t i = 0; i < LW_STRIP; i += IN_##bits, want += IN_##bits * step) \
                differs |= *(const loose##bits *)(r + strip + i) ^ want; \
        } \
        return lw_is_zero((lw_vector)differs); \
    }
DEFINE_ARE_STRIPS(32)
DEFINE_ARE_STRIPS(64)

/* Whether the active lanes are in strips, of neighbours or at one address; then fills reach->strips with the first of
 * each, all accesses being aligned and within the home. */
#define DEFINE_FILL_STRIPS(bits) \
    static bool fill_strips_##bits(lw_reach *reach, const uint##bits##_t *r, uint64_t plus, const lw_home *home, \
                                   uint32_t bytes) { \
        const uint32_t first = reach->first, end = first + reach->count; \
        const uint##bits##_t step = r[first + 1] - r[first], add = (uint##bits##_t)plus; \
        if ((step != 0 && step != bytes) || !are_strips_##bits(r, first, end, step)) return false; \
        const uint64_t span = step ? (uint64_t)LW_STRIP * bytes : bytes; \
        uint64_t align = 0, low = UINT64_MAX, high = 0, *to = reach->strips; \
        for (uint32_t strip = first; strip < end; strip += LW_STRIP) { \
            const uint64_t address = (uint##bits##_t)(r[strip] + add), offset = address - home->base; \
            *to++ = address; \
            align |= address; \
            low = offset < low ? offset : low; \
            high = offset > high ? offset : high; \
        } \
        reach->step = (uint32_t)step; \
        if (align & (bytes - 1) || home->size < span || high > home->size - span) return false; \
        reach->offset = low, reach->room = home->size - span - (high - low); \
        return true; \
    }
DEFINE_FILL_STRIPS(32)
DEFINE_FILL_STRIPS(64)

/* Local memory is interleaved: addresses become distances from gang->local, of which field->host is where the field
 * begins. Lanes at one address are 16 bytes apart there. */
static void spread_local(lw_gang *gang, lw_reach *reach, uint64_t window, const lw_field *field, uint32_t bytes) {
    reach->host = (uintptr_t)gang->local;
    uint32_t *to = gang->distance;
    if (reach->pattern == LW_UNIFORM) {
        const uint64_t at = reach->at - window;
        lw_local_touch(gang, at + bytes);
        reach->at = ((at >> 4) * LW_GANG_LANES + reach->first) * 16 + (at & 15);
        reach->pattern = LW_STEP;
        reach->step = 16;
        return;
    }
    lw_local_touch(gang, gang->frame->local_end);
    for (uint32_t i = gang->begin; i < gang->lanes; i++) {
        const uint32_t at = to[i] + (uint32_t)field->host;
        to[i] = ((at >> 4) * LW_GANG_LANES + i) * 16 + (at & 15);
    }
}

/* One by one where others may watch, and where the lanes have gaps that no masked move can skip. */
LW_INLINE void part_neighbours(lw_reach *reach, lw_memory_form form) {
    const bool by_mask = LW_MASK_REGISTERS && !form.vector && form.size == form.slot && form.size >= 2;
    if (reach->pattern == LW_UNIT && LW_UNLIKELY(form.is_volatile || !(reach->run || by_mask)))
        reach->pattern = LW_STEP;
}

#include "run/interp/level/indexed.h"

/* Where the lanes of the gang go, by their addresses. False: lane by lane, please. */
static bool look(lw_gang *gang, const lw_op *op, lw_memory_form form, lw_reach *reach) {
    uint32_t bytes = lw_memory_bytes(form);
    uint64_t frame = LW_UNLIKELY(form.frame) ? gang->frame->local_base : 0;
    find_lanes(gang, reach);
    const lw_any32 *r32 = LW_SLOT(gang, lw_any32, op->a);
    const lw_any64 *r64 = LW_SLOT(gang, lw_any64, op->a);
    if (form.address == 2) {
        reach->pattern = find_pattern_64(r64, gang, reach, bytes);
        reach->at = r64[reach->first] + op->imm + frame;
    } else if (form.address == 1) {
        reach->pattern = find_pattern_32(r32, gang, reach, bytes);
        reach->at = (uint32_t)(r32[reach->first] + op->imm) + frame;
    } else {
        reach->pattern = LW_UNIFORM;
        reach->at = op->imm + frame;
    }
    lw_home home = {0};
    if (LW_UNLIKELY(!find_home(gang, op, form, reach->at, bytes, &home))) return false;
    reach->read_only = home.read_only;
    reach->is_known = false;
    lw_field field = {0};
    if (reach->pattern == LW_UNIT && LW_UNLIKELY(!home.host)) reach->pattern = LW_EACH;
    if (reach->pattern == LW_EACH && home.host && reach->run && reach->count % LW_STRIP == 0 && !frame &&
        !form.vector && !form.is_volatile &&
        (form.address == 2 ? fill_strips_64(reach, r64, op->imm, &home, bytes)
                           : fill_strips_32(reach, r32, op->imm, &home, bytes))) {
        reach->pattern = LW_STRIPS;
        reach->is_known = true;
        reach->host = (uintptr_t)home.host - home.base;
        return true;
    }
    if (reach->pattern == LW_EACH) {
        if (LW_UNLIKELY(!find_field(&home, form, reach->at, op->imm, frame, &field))) return false;
        const uint32_t begin = gang->begin, count = gang->lanes - begin;
        const lw_mask lanes = gang->mask >> begin;
        lw_any32 *to = gang->distance + begin;
        if (LW_UNLIKELY(!(form.address == 2 ? find_apart_64(to, r64 + begin, &field, 0, count, lanes)
                                            : find_apart_32(to, r32 + begin, &field, 0, count, lanes))))
            return false;
        reach->pattern = LW_APART;
        reach->host = field.host;
    } else {
        uint64_t span = reach->pattern == LW_UNIT ? (uint64_t)reach->count * bytes : bytes;
        reach->offset = reach->at - home.base, reach->room = home.size - span;
        if (LW_UNLIKELY(span > home.size || reach->offset > reach->room)) return false;
        if (LW_UNLIKELY(reach->at & (bytes - 1))) return false;
        reach->is_known = true;
    }
    if (LW_UNLIKELY(!home.host)) {
        spread_local(gang, reach, home.base, &field, bytes);
        reach->is_known = false;
        return true;
    }
    if (reach->pattern == LW_APART) return true;
    reach->host = (uintptr_t)home.host - home.base;
    reach->step = bytes;
    part_neighbours(reach, form);
    return true;
}

/* By the trail that others left, if it is of these lanes: where those went, and what to add to their addresses. */
LW_INLINE const lw_reach *follow(const lw_gang *gang, const lw_op *op, lw_memory_form form, uintptr_t *host) {
    const lw_trail *trail = &gang->trails[op->mode - LW_TRAIL_follows_0];
    const uint64_t differs = op->imm - trail->imm,
                   more = form.address == 2 ? differs : (uint64_t)(int64_t)(int32_t)differs;
    if (LW_UNLIKELY(trail->mask != gang->mask)) return NULL;
    if (LW_UNLIKELY(trail->reach.offset + more > trail->reach.room || more & (lw_memory_bytes(form) - 1))) return NULL;
    *host = trail->reach.host + more;
    return &trail->reach;
}

/* By a trail or by a look, which leaves one where somebody may follow. */
LW_INLINE const lw_reach *find_reach(lw_gang *gang, const lw_op *op, lw_memory_form form, lw_reach *room,
                                     uintptr_t *host) {
    lw_trail *trail = NULL;
    if (op->mode >= LW_TRAIL_follows_0) {
        const lw_reach *reach = follow(gang, op, form, host);
        if (reach) return reach;
        trail = &gang->trails[op->mode - LW_TRAIL_follows_0];
    } else if (op->mode != LW_TRAIL_none) {
        trail = &gang->trails[op->mode - LW_TRAIL_leaves_0];
    }
    if (trail) room = &trail->reach, trail->mask = 0;
    if (LW_UNLIKELY(!look(gang, op, form, room))) return NULL;
    if (trail && room->is_known) trail->mask = gang->mask, trail->imm = op->imm;
    *host = room->host;
    return room;
}

/* ---- Data: one element of every lane -------------------------------------------------------------------- */

/* `host` is what to add to an address, `vector` the elements from one lane's to the next where they are neighbours. */
typedef void lw_mover(lw_gang *gang, const lw_reach *reach, char *slot, uintptr_t host, uint32_t vector);

/* From one place to another, every element in one piece. */
#define DEFINE_MOVE(bits) \
    LW_RACY LW_INLINE void move_##bits(lw_any##bits *to, const lw_any##bits *from, uint32_t count) { \
        uint32_t i = 0; \
        for (; i + IN_##bits <= count; i += IN_##bits) *(loose##bits *)(to + i) = *(const loose##bits *)(from + i); \
        for (; i < count; i++) \
            __atomic_store_n(to + i, __atomic_load_n(from + i, __ATOMIC_RELAXED), __ATOMIC_RELAXED); \
    }
DEFINE_MOVE(16)
DEFINE_MOVE(32)
DEFINE_MOVE(64)

/* The same for lanes with gaps between them; `to` and `from` are where the first lane's element goes and is. */
#define MOVE(bits, to, from) \
    if (LW_LIKELY(reach->run || bits == 16 || !LW_MASK_REGISTERS)) { \
        move_##bits(to, from, count); \
    } else { \
        lw_move_among_##bits(to, from, reach->count, \
                             gang->mask >> reach->first); /* lanes with gaps get LW_STEP elsewhere */ \
    }

/* One value to the active lanes. */
#define DEFINE_SPREAD(bits) \
    LW_INLINE void spread_run_##bits(lw_any##bits *to, uint32_t count, uint##bits##_t value) { \
        loose##bits all = (loose##bits){0} + value; \
        uint32_t i = 0; \
        for (; i + IN_##bits <= count; i += IN_##bits) *(loose##bits *)(to + i) = all; \
        for (; i < count; i++) to[i] = value; \
    }
DEFINE_SPREAD(16)
DEFINE_SPREAD(32)
DEFINE_SPREAD(64)

/* A statement for every active lane i. */
#define EVERY_LANE(i, statement) \
    if (LW_LIKELY(reach->run)) { \
        for (uint32_t i = first; i < first + count; i++) statement; \
    } else { \
        FOR_ACTIVE(i, gang) statement; \
    }

#define READ(bits, place)         __atomic_load_n((lw_any##bits *)(place), __ATOMIC_RELAXED)
#define WRITE(bits, place, value) __atomic_store_n((lw_any##bits *)(place), (uint##bits##_t)(value), __ATOMIC_RELAXED)

/* Chunks of lanes that go each their own way. */
#define LOAD_APART(m, w, type) \
    for (uint32_t i = gang->begin; i < gang->lanes; i += IN_##w) { \
        const uint32_t lanes = lw_mask_bits(&gang->mask, i & ~31u); \
        chunk##w values = {0}; \
        loose##w *place = (loose##w *)(to + i); \
        LW_GATHER_##m(values, w, type, host, gang->distance + i) if (lanes != UINT32_MAX) { \
            const chunk##w on = LANES_ON(w, lanes >> (i & 31)); \
            values = (*place & ~on) | (values & on); \
        } \
        *place = values; \
    }
#define LOAD_APART_16(m, type)
#define LOAD_APART_32(m, type) LOAD_APART(m, 32, type)
#define LOAD_APART_64(m, type) LOAD_APART(m, 64, type)

#define TYPE_zero(m) uint##m##_t
#define TYPE_sign(m) int##m##_t
#define TYPE_same    TYPE_zero

/* load_zero_M_W, load_sign_M_W, load_same_M_M: an element of M bits becomes a register of W. */
#define DEFINE_LOAD(extend, m, w, UNIT, STRIP) \
    LW_RACY static void load_##extend##_##m##_##w(lw_gang *gang, const lw_reach *reach, char *slot, uintptr_t host, \
                                                  uint32_t vector) { \
        lw_any##w *to = (lw_any##w *)slot; \
        uint32_t first = reach->first, count = reach->count; \
        if (reach->pattern == LW_UNIT) { \
            const lw_any##m *from = (const lw_any##m *)(host + reach->at); \
            to += first; \
            UNIT(m, w, extend##_##m##_##w) \
        } else if (reach->pattern == LW_UNIFORM) { \
            uint##w##_t value = extend##_##m##_##w(READ(m, host + reach->at)); \
            if (LW_LIKELY(reach->run)) spread_run_##w(to + first, count, value); \
            else spread_among_##w(to, gang->lanes, gang->mask, value); \
        } else if (reach->pattern == LW_STRIPS) { \
            for (uint32_t strip = first, k = 0; strip < first + count; strip += LW_STRIP, k++) { \
                const lw_any##m *from = (const lw_any##m *)(host + reach->strips[k]); \
                if (!reach->step) { \
                    spread_run_##w(to + strip, LW_STRIP, extend##_##m##_##w(READ(m, from))); \
                } else { \
                    STRIP(m, w, extend##_##m##_##w) \
                } \
            } \
        } else if (reach->pattern == LW_STEP) { \
            uintptr_t start = host + reach->at - (uint64_t)first * reach->step, step = reach->step; \
            EVERY_LANE(i, to[i] = extend##_##m##_##w(READ(m, start + i * step))) \
        } else if (reach->pattern == LW_APART && w > 16 && gang->active > LW_FEW) { \
            LOAD_APART_##w(m, TYPE_##extend(m)) \
        } else if (reach->pattern == LW_APART) { \
            EVERY_LANE(i, to[i] = extend##_##m##_##w(READ(m, host + gang->distance[i]))) \
        } else { \
            const uint64_t *address = gang->address; \
            EVERY_LANE(i, to[i] = extend##_##m##_##w(READ(m, host + address[i]))) \
        } \
    }
#define UNIT_EXTEND(m, w, extend) \
    if (vector == 1) { \
        LW_NO_OVERLAP for (uint32_t i = 0; i < count; i++) to[i] = extend(from[i]); \
    } else { \
        LW_NO_OVERLAP for (uint32_t i = 0; i < count; i++) to[i] = extend(from[i * vector]); \
    }
#define UNIT_SAME(m, w, extend) \
    if (vector == 1) { \
        MOVE(w, to, from) \
    } else { \
        LW_NO_OVERLAP for (uint32_t i = 0; i < count; i++) to[i] = from[i * vector]; \
    }
#define STRIP_EXTEND(m, w, extend) \
    LW_NO_OVERLAP for (uint32_t i = 0; i < LW_STRIP; i++) to[strip + i] = extend(from[i]);
#define STRIP_SAME(m, w, extend) move_##w(to + strip, from, LW_STRIP);
#define DEFINE_EXTENDING_LOADS(m, w) \
    LW_INLINE uint##w##_t zero_##m##_##w(uint##m##_t x) { return x; } \
    LW_INLINE uint##w##_t sign_##m##_##w(uint##m##_t x) { return (uint##w##_t)(int##m##_t)x; } \
    DEFINE_LOAD(zero, m, w, UNIT_EXTEND, STRIP_EXTEND) \
    DEFINE_LOAD(sign, m, w, UNIT_EXTEND, STRIP_EXTEND)
#define DEFINE_SAME_LOAD(m) \
    LW_INLINE uint##m##_t same_##m##_##m(uint##m##_t x) { return x; } \
    DEFINE_LOAD(same, m, m, UNIT_SAME, STRIP_SAME)
DEFINE_EXTENDING_LOADS(8, 16)
DEFINE_EXTENDING_LOADS(8, 32)
DEFINE_EXTENDING_LOADS(8, 64)
DEFINE_EXTENDING_LOADS(16, 32)
DEFINE_EXTENDING_LOADS(16, 64)
DEFINE_EXTENDING_LOADS(32, 64)
DEFINE_SAME_LOAD(16)
DEFINE_SAME_LOAD(32)
DEFINE_SAME_LOAD(64)

/* store_M_W: the low M bits of a register of W. Of lanes that hit the same place the highest one wins. */
#define DEFINE_STORE(m, w, UNIT, STRIP) \
    LW_RACY static void store_##m##_##w(lw_gang *gang, const lw_reach *reach, char *slot, uintptr_t host, \
                                        uint32_t vector) { \
        const lw_any##w *from = (const lw_any##w *)slot; \
        uint32_t first = reach->first, count = reach->count; \
        if (reach->pattern == LW_UNIT) { \
            lw_any##m *to = (lw_any##m *)(host + reach->at); \
            from += first; \
            UNIT(m, w) \
        } else if (reach->pattern == LW_UNIFORM) { \
            WRITE(m, host + reach->at, from[first + count - 1]); \
        } else if (reach->pattern == LW_STRIPS) { \
            for (uint32_t strip = first, k = 0; strip < first + count; strip += LW_STRIP, k++) { \
                lw_any##m *to = (lw_any##m *)(host + reach->strips[k]); \
                if (!reach->step) { \
                    WRITE(m, to, from[strip + LW_STRIP - 1]); \
                } else { \
                    STRIP(m, w) \
                } \
            } \
        } else if (reach->pattern == LW_STEP) { \
            uintptr_t start = host + reach->at - (uint64_t)first * reach->step, step = reach->step; \
            EVERY_LANE(i, WRITE(m, start + i * step, from[i])) \
        } else if (reach->pattern == LW_APART) { \
            EVERY_LANE(i, WRITE(m, host + gang->distance[i], from[i])) \
        } else { \
            const uint64_t *address = gang->address; \
            EVERY_LANE(i, WRITE(m, host + address[i], from[i])) \
        } \
    }
#define UNIT_CUT(m, w) \
    if (vector == 1) { \
        LW_NO_OVERLAP for (uint32_t i = 0; i < count; i++) to[i] = (uint##m##_t)from[i]; \
    } else { \
        LW_NO_OVERLAP for (uint32_t i = 0; i < count; i++) to[i * vector] = (uint##m##_t)from[i]; \
    }
#define UNIT_WHOLE(m, w) \
    if (vector == 1) { \
        MOVE(w, to, from) \
    } else { \
        LW_NO_OVERLAP for (uint32_t i = 0; i < count; i++) to[i * vector] = from[i]; \
    }
#define STRIP_CUT(m, w)   LW_NO_OVERLAP for (uint32_t i = 0; i < LW_STRIP; i++) to[i] = (uint##m##_t)from[strip + i];
#define STRIP_WHOLE(m, w) move_##w(to, from + strip, LW_STRIP);
DEFINE_STORE(8, 16, UNIT_CUT, STRIP_CUT)
DEFINE_STORE(8, 32, UNIT_CUT, STRIP_CUT)
DEFINE_STORE(8, 64, UNIT_CUT, STRIP_CUT)
DEFINE_STORE(16, 32, UNIT_CUT, STRIP_CUT)
DEFINE_STORE(16, 64, UNIT_CUT, STRIP_CUT)
DEFINE_STORE(32, 64, UNIT_CUT, STRIP_CUT)
DEFINE_STORE(16, 16, UNIT_WHOLE, STRIP_WHOLE)
DEFINE_STORE(32, 32, UNIT_WHOLE, STRIP_WHOLE)
DEFINE_STORE(64, 64, UNIT_WHOLE, STRIP_WHOLE)

/* By lw_memory_form.size, slot and is_signed. Lowering makes no others: a register is at least as wide as the
 * element. */
static lw_mover *const loads[4][4][2] = {
    {{0}, {load_zero_8_16, load_sign_8_16}, {load_zero_8_32, load_sign_8_32}, {load_zero_8_64, load_sign_8_64}},
    {{0}, {load_same_16_16, load_same_16_16}, {load_zero_16_32, load_sign_16_32}, {load_zero_16_64, load_sign_16_64}},
    {{0}, {0}, {load_same_32_32, load_same_32_32}, {load_zero_32_64, load_sign_32_64}},
    {{0}, {0}, {0}, {load_same_64_64, load_same_64_64}},
};
static lw_mover *const stores[4][4] = {
    {0, store_8_16, store_8_32, store_8_64},
    {0, store_16_16, store_16_32, store_16_64},
    {0, 0, store_32_32, store_32_64},
    {0, 0, 0, store_64_64},
};

/* ---- Vectors of neighbours ------------------------------------------------------------------------------ */

#include "run/interp/level/zip.h"

/* Whether all elements of all lanes are one stretch of memory that can be moved as a whole. */
LW_INLINE bool is_zipped(lw_memory_form form, const lw_reach *reach) {
    return reach->pattern == LW_UNIT && form.size == form.slot && form.size >= 2;
}

static void move_zipped(lw_gang *gang, const lw_op *op, lw_memory_form form, const lw_reach *reach, uintptr_t host,
                        bool is_store) {
    uint32_t vector = 1u << form.vector;
    char *place = (char *)(host + reach->at);
    lw_any32 *slots_32[8];
    lw_any64 *slots_64[8];
    for (uint32_t k = 0; k < vector; k++) {
        char *slot = gang->regs + gang->frame->code->slots[op->d + k];
        slots_32[k] = (lw_any32 *)slot + reach->first;
        slots_64[k] = (lw_any64 *)slot + reach->first;
    }
    if (form.size == 2 && !is_store) load_vectors_32(slots_32, (lw_any32 *)place, reach->count, vector);
    else if (form.size == 2) store_vectors_32(slots_32, (lw_any32 *)place, reach->count, vector);
    else if (!is_store) load_vectors_64(slots_64, (lw_any64 *)place, reach->count, vector);
    else store_vectors_64(slots_64, (lw_any64 *)place, reach->count, vector);
}

/* ---- The steps ------------------------------------------------------------------------------------------ */

LW_INLINE char *data_slot(const lw_gang *gang, const lw_op *op, lw_memory_form form, uint32_t element) {
    return gang->regs + (form.vector ? gang->frame->code->slots[op->d + element] : op->d);
}

/* Lane by lane. Elements of a lane may be far apart on the host, so each gets its own round. */
static const lw_op *move_slowly(lw_gang *gang, const lw_op *op, lw_access access, lw_mover *move, char *constant) {
    lw_memory_form form = lw_memory_unpack(op->c);
    if (!lw_address_check(gang, op, access)) return NULL;
    lw_reach reach = {.pattern = LW_EACH};
    find_lanes(gang, &reach);
    uint64_t addresses[LW_GANG_LANES]; /* a load may write to the register that they come from */
    LW_FOR_LANES(lane, gang->mask) addresses[lane] = lw_address_of(gang, op, lane);
    for (uint32_t k = 0; k < 1u << form.vector; k++) {
        lw_address_hosts(gang, op, addresses, k);
        move(gang, &reach, constant ? constant : data_slot(gang, op, form, k), 0, 1);
    }
    return op + 1;
}

static void load_elements(lw_gang *gang, const lw_op *op, lw_memory_form form, const lw_reach *reach, uintptr_t host,
                          lw_mover *load) {
    if (LW_LIKELY(is_zipped(form, reach))) return move_zipped(gang, op, form, reach, host, false);
    for (uint32_t k = 0; k < 1u << form.vector; k++)
        load(gang, reach, data_slot(gang, op, form, k), element_host(gang, host, k << form.size), 1u << form.vector);
}

__attribute__((noinline)) static const lw_op *load_by_look(lw_gang *gang, const lw_op *op) {
    lw_memory_form form = lw_memory_unpack(op->c);
    lw_mover *load = loads[form.size][form.slot][form.is_signed];
    lw_reach room;
    const lw_reach *reach;
    uintptr_t host = 0; /* GCC does not see that a reach comes with one */
    const lw_op *next = op + 1;
    if (LW_UNLIKELY(form.vector && form.is_volatile)) next = lw_wide_ld(gang, op);
    else if (LW_UNLIKELY(!(reach = find_reach(gang, op, form, &room, &host))))
        next = move_slowly(gang, op, LW_ACCESS_load, load, NULL);
    else if (LW_LIKELY(!form.vector)) load(gang, reach, gang->regs + op->d, host, 1);
    else load_elements(gang, op, form, reach, host, load);
    if (LW_UNLIKELY(form.is_volatile)) lw_memory_order(), gang->cta->cluster->idle = 0;
    return next;
}

static const lw_op *load_by_index(lw_gang *gang, const lw_op *op, lw_memory_form form) {
    lw_mover *load = loads[form.size][form.slot][form.is_signed];
    const lw_indexed_access *at = indexed_of(gang, op);
    uintptr_t host = 0;
    const lw_reach *reach = find_by_index(gang, op, form, at, &host);
    if (LW_UNLIKELY(!reach)) {
        find_addresses(gang, at);
        return load_by_look(gang, op);
    }
    if (LW_LIKELY(!form.vector)) load(gang, reach, gang->regs + op->d, host, 1);
    else load_elements(gang, op, form, reach, host, load);
    return op + 1;
}

/* Who only follows needs none of the room that a look takes. */
const lw_op *LW_AT_LEVEL(lw_step_ld)(lw_gang *gang, const lw_op *op) {
    const lw_memory_form form = lw_memory_unpack(op->c);
    uintptr_t host = 0; /* GCC does not see that a reach comes with one */
    if (form.is_indexed) return load_by_index(gang, op, form);
    const lw_reach *reach = op->mode >= LW_TRAIL_follows_0 && !form.vector ? follow(gang, op, form, &host) : NULL;
    if (!reach) return load_by_look(gang, op);
    loads[form.size][form.slot][form.is_signed](gang, reach, gang->regs + op->d, host, 1);
    return op + 1;
}

/* A constant as if it were in a slot. */
static char *constant_slot(lw_gang *gang, const lw_op *op, lw_memory_form form) {
    uint64_t value = gang->frame->code->constants[op->b];
    lw_any16 *to16 = (lw_any16 *)gang->scratch;
    lw_any32 *to32 = (lw_any32 *)gang->scratch;
    lw_any64 *to64 = (lw_any64 *)gang->scratch;
    if (form.slot == 1)
        for (uint32_t i = 0; i < gang->lanes; i++) to16[i] = (uint16_t)value;
    else if (form.slot == 2)
        for (uint32_t i = 0; i < gang->lanes; i++) to32[i] = (uint32_t)value;
    else
        for (uint32_t i = 0; i < gang->lanes; i++) to64[i] = value;
    return gang->scratch;
}

static void store_elements(lw_gang *gang, const lw_op *op, lw_memory_form form, const lw_reach *reach, uintptr_t host,
                           lw_mover *store) {
    if (LW_LIKELY(is_zipped(form, reach))) return move_zipped(gang, op, form, reach, host, true);
    for (uint32_t k = 0; k < 1u << form.vector; k++)
        store(gang, reach, data_slot(gang, op, form, k), element_host(gang, host, k << form.size), 1u << form.vector);
}

const lw_op *LW_AT_LEVEL(lw_step_st)(lw_gang *gang, const lw_op *op) {
    lw_memory_form form = lw_memory_unpack(op->c);
    lw_mover *store = stores[form.size][form.slot];
    char *constant = LW_UNLIKELY(op->flags & LW_OP_IMM_B) ? constant_slot(gang, op, form) : NULL;
    lw_reach room;
    uintptr_t host = 0; /* GCC does not see that a reach comes with one */
    if (LW_UNLIKELY(form.is_volatile)) lw_memory_order();
    if (LW_UNLIKELY(form.vector && form.is_volatile)) return lw_wide_st(gang, op);
    const lw_indexed_access *at = form.is_indexed ? indexed_of(gang, op) : NULL;
    const lw_reach *reach = at ? find_by_index(gang, op, form, at, &host) : NULL;
    if (at && LW_UNLIKELY(!reach || reach->read_only || form.is_const)) find_addresses(gang, at), reach = NULL;
    if (!reach) reach = find_reach(gang, op, form, &room, &host);
    if (LW_UNLIKELY(!reach || reach->read_only || form.is_const)) /* refused by address.c */
        return move_slowly(gang, op, LW_ACCESS_store, store, constant);
    if (LW_LIKELY(!form.vector)) store(gang, reach, constant ? constant : gang->regs + op->d, host, 1);
    else store_elements(gang, op, form, reach, host, store);
    return op + 1;
}
