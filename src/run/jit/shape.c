/* shape.c: rows, and what is made of them. */
#include "run/jit/shape.h"

enum { FAR = 1 << 20 }; /* lanes farther apart are no row */

static uint32_t lowest(uint64_t bits) { return bits ? (uint32_t)__builtin_ctzll(bits) : 64; }
static uint64_t size_of(int64_t value) { return value < 0 ? -(uint64_t)value : (uint64_t)value; }

/* ---- Bits that are known ----------------------------------------------------------------------------------------- */

typedef struct lw_known_bits {
    uint64_t zeros, ones;
} lw_known_bits;

static lw_known_bits known_number(uint64_t value) { return (lw_known_bits){~value, value}; }
static lw_known_bits known_of(const lw_shape *a) { return (lw_known_bits){a->zeros, a->ones}; }
static lw_known_bits known_both(lw_known_bits a, lw_known_bits b) {
    return (lw_known_bits){a.zeros & b.zeros, a.ones & b.ones};
}
static lw_known_bits known_not(lw_known_bits a) { return (lw_known_bits){a.ones, a.zeros}; }

/* A carry goes into a bit in all sums, if it does in the least one, and in none, if it does not in the largest. */
static lw_known_bits known_sum(lw_known_bits a, lw_known_bits b, bool carry, uint32_t bits) {
    const uint64_t most = ~a.zeros + ~b.zeros + carry, least = a.ones + b.ones + carry;
    const uint64_t none = ~(most ^ ~a.zeros ^ ~b.zeros), all = least ^ a.ones ^ b.ones;
    const uint64_t known = (a.zeros | a.ones) & (b.zeros | b.ones) & (none | all);
    return (lw_known_bits){(~least & known) | ~lw_ones_of(bits), least & known & lw_ones_of(bits)};
}

static lw_known_bits known_product(lw_known_bits a, lw_known_bits b, uint32_t bits) {
    const uint64_t one = a.ones, other = b.ones;
    if (~a.zeros == one && ~b.zeros == other) {
        const uint64_t value = one * other & lw_ones_of(bits);
        return known_number(value);
    }
    const uint32_t low = lowest(~a.zeros) + lowest(~b.zeros), most = lw_length_of(~a.zeros) + lw_length_of(~b.zeros);
    lw_known_bits known = {low < bits ? lw_ones_of(low) : UINT64_MAX, 0};
    if (low < bits && most < bits) known.zeros |= ~lw_ones_of(most);
    known.zeros |= ~lw_ones_of(bits);
    return known;
}

/* ---- Shapes ------------------------------------------------------------------------------------------------------ */

lw_shape lw_shape_any(uint32_t bits) { return (lw_shape){.kind = LW_SHAPE_any, .bits = bits}; }

lw_shape lw_shape_alike_in(uint32_t bits, uint32_t run) {
    if (run < LW_RUN_LEAST) return lw_shape_any(bits);
    return (lw_shape){.kind = LW_SHAPE_row, .bits = bits, .run = run, .zeros = ~lw_ones_of(bits)};
}

static lw_shape with_known(lw_shape a, lw_known_bits known) {
    a.zeros = known.zeros, a.ones = known.ones;
    return a;
}

lw_shape lw_shape_of_number(uint32_t bits, uint64_t value) {
    return with_known(lw_shape_alike_in(bits, LW_WARP_BITS), known_number(value & lw_ones_of(bits)));
}

bool lw_shape_is_number(const lw_shape *a, uint64_t *value) {
    *value = a->ones;
    return a->kind == LW_SHAPE_row && lw_shape_alike(a) == a->run && !~(a->zeros | a->ones);
}

bool lw_shape_is_signed_number(const lw_shape *a, int64_t *value) {
    uint64_t number;
    const bool is = lw_shape_is_number(a, &number);
    *value = (int64_t)(number << (64 - a->bits)) >> (64 - a->bits);
    return is;
}

lw_shape lw_shape_below(lw_shape a, uint32_t bits) {
    a.zeros |= ~lw_ones_of(bits);
    return a;
}

int64_t lw_shape_above(const lw_shape *shape, uint32_t lane) {
    int64_t above = 0;
    for (uint32_t k = 0; k < shape->run; k++) above += lane >> k & 1 ? shape->step[k] : 0;
    return above;
}

void lw_shape_span(const lw_shape *shape, uint32_t run, int64_t *least, int64_t *most) {
    *least = *most = 0;
    for (uint32_t k = 0; k < run; k++) *(shape->step[k] < 0 ? least : most) += shape->step[k];
}

/* What is known of all elements that lanes have, the first and those behind a step. */
static lw_known_bits stepped(lw_known_bits known, int64_t step, uint32_t bits) {
    if (!step) return known;
    return known_both(known, known_sum(known, known_number((uint64_t)step & lw_ones_of(bits)), false, bits));
}

lw_shape lw_shape_of_each(const lw_shape *a) {
    lw_known_bits known = {~lw_ones_of(a->bits), 0};
    if (a->kind == LW_SHAPE_row) known = known_of(a);
    for (uint32_t k = 0; a->kind == LW_SHAPE_row && k < a->run; k++) known = stepped(known, a->step[k], a->bits);
    return with_known(lw_shape_alike_in(a->bits, LW_WARP_BITS), known);
}

lw_shape lw_shape_within(const lw_shape *a, uint32_t run) {
    lw_shape shape = *a;
    if (a->kind != LW_SHAPE_row || run >= a->run) return shape;
    if (run < LW_RUN_LEAST) return lw_shape_any(a->bits);
    shape.run = run;
    for (uint32_t k = run; k < a->run; k++) {
        shape = with_known(shape, stepped(known_of(&shape), a->step[k], a->bits));
        shape.step[k] = 0;
    }
    return shape;
}

lw_shape lw_shape_meet(const lw_shape *a, const lw_shape *b) {
    if (a->kind == LW_SHAPE_any || b->kind == LW_SHAPE_any) return lw_shape_any(a->bits);
    const uint32_t most = a->run < b->run ? a->run : b->run;
    uint32_t run = 0;
    while (run < most && a->step[run] == b->step[run]) run++;
    if (run < LW_RUN_LEAST) return lw_shape_any(a->bits);
    const lw_shape as = lw_shape_within(a, run), bs = lw_shape_within(b, run);
    return with_known(as, known_both(known_of(&as), known_of(&bs)));
}

void lw_shape_forget_high_bits(lw_shape *a) {
    const uint64_t below = lw_ones_of(lowest(~(a->zeros | a->ones)));
    a->ones &= below;
    a->zeros &= below | ~lw_ones_of(a->bits);
}

/* Those steps, in all lanes. */
static bool set_steps(lw_shape *a, const int64_t step[LW_WARP_BITS]) {
    for (uint32_t k = 0; k < a->run; k++) {
        if (step[k] > FAR || step[k] < -FAR) return false;
        a->step[k] = (int32_t)step[k];
    }
    return true;
}

/* ---- Which bits of an element the lanes' numbers are in ---------------------------------------------------------- */

typedef struct lw_shape_parts {
    /* Bits that are bit k of the lane's number, or the other one where the base has ones. */
    uint64_t lane[LW_WARP_BITS];
    /* Those where steps and base add up to what is not known, and the steps in them. */
    uint64_t mixed;
    int64_t step[LW_WARP_BITS];
    lw_known_bits known; /* bits of all lanes' elements */
} lw_shape_parts;

/* A step into bits of its own, which no base has if it goes up, and all have if it goes down. */
static bool is_counted(const lw_shape *a, uint32_t k, uint64_t taken) {
    const uint64_t bits = size_of(a->step[k]);
    return !(bits & taken) && !(bits & ~lw_ones_of(a->bits)) && !(bits & ~(a->step[k] < 0 ? a->ones : a->zeros));
}

/* How far up steps change bits from `low` on: below a bit that nobody has, if they only go up. */
static uint32_t end_of_mixed(const lw_shape *a, const lw_shape_parts *parts, uint64_t counted) {
    uint64_t sum = 0;
    for (uint32_t k = 0; k < a->run; k++) {
        if (parts->step[k] < 0) return a->bits;
        sum += (uint64_t)parts->step[k];
    }
    const uint64_t stops = a->zeros & parts->known.zeros & ~counted & ~lw_ones_of(lw_length_of(sum));
    return lowest(stops) < a->bits ? lowest(stops) : a->bits;
}

/* Steps that do not count spoil the bits from theirs on, and with them others that have steps there. */
static void find_mixed(const lw_shape *a, lw_shape_parts *parts) {
    for (bool changed = true; changed;) {
        uint64_t counted = 0, mixed = 0;
        changed = false;
        for (uint32_t k = 0; k < a->run; k++) counted |= parts->lane[k], mixed |= size_of(parts->step[k]);
        const uint32_t low = lowest(mixed), end = mixed ? end_of_mixed(a, parts, counted) : 0;
        parts->mixed = low < end ? lw_ones_of(end) & ~lw_ones_of(low) : 0;
        for (uint32_t k = 0; k < a->run; k++) {
            if (!(parts->lane[k] & parts->mixed)) continue;
            parts->lane[k] = 0, parts->step[k] = a->step[k];
            changed = true;
        }
    }
}

/* Where steps are not small beside the width a bit that stays may have gone round. */
static bool goes_round(const lw_shape *a) {
    uint64_t sum = 0;
    for (uint32_t k = 0; k < a->run; k++) sum += size_of(a->step[k]);
    return sum >> (a->bits - 1);
}

static lw_shape_parts parts_of(const lw_shape *a) {
    lw_shape_parts parts = {.known = known_of(a)};
    uint64_t taken = 0;
    for (uint32_t k = 0; k < a->run; k++) {
        parts.known = stepped(parts.known, a->step[k], a->bits);
        if (!a->step[k]) continue;
        if (!is_counted(a, k, taken)) parts.step[k] = a->step[k];
        else taken |= parts.lane[k] = size_of(a->step[k]);
    }
    find_mixed(a, &parts);
    if (!goes_round(a)) parts.mixed &= ~(parts.known.zeros | parts.known.ones);
    return parts;
}

bool lw_shape_is_exact(const lw_shape *a, uint32_t run) {
    if (a->kind != LW_SHAPE_row) return false;
    for (uint32_t longer = a->run; longer >= run && longer >= LW_RUN_LEAST; longer--) {
        const lw_shape shape = lw_shape_within(a, longer);
        const lw_shape_parts parts = parts_of(&shape);
        if (!goes_round(&shape) && !(parts.mixed >> (a->bits - 1))) return true;
    }
    return false;
}

/* ---- Sums and products ------------------------------------------------------------------------------------------- */

static lw_shape added(const lw_shape *a, const lw_shape *b, bool less) {
    const uint32_t most = a->run < b->run ? a->run : b->run;
    for (uint32_t run = most; run >= LW_RUN_LEAST; run--) {
        const lw_shape as = lw_shape_within(a, run), bs = lw_shape_within(b, run);
        int64_t step[LW_WARP_BITS];
        for (uint32_t k = 0; k < run; k++) step[k] = (int64_t)as.step[k] + (less ? -1 : 1) * (int64_t)bs.step[k];
        lw_known_bits other = known_of(&bs);
        if (less) other = known_not(other);
        lw_shape shape = with_known(lw_shape_alike_in(a->bits, run), known_sum(known_of(&as), other, less, a->bits));
        if (set_steps(&shape, step)) return shape;
    }
    return lw_shape_any(a->bits);
}
lw_shape lw_shape_sum(const lw_shape *a, const lw_shape *b) { return added(a, b, false); }
lw_shape lw_shape_difference(const lw_shape *a, const lw_shape *b) { return added(a, b, true); }

/* Within runs of both. */
static lw_shape multiplied(const lw_shape *a, const lw_shape *b) {
    const lw_known_bits known = known_product(known_of(a), known_of(b), a->bits);
    lw_shape shape = with_known(lw_shape_alike_in(a->bits, a->run), known);
    int64_t factor, step[LW_WARP_BITS];
    const bool by_b = lw_shape_is_signed_number(b, &factor);
    if (!by_b && !lw_shape_is_signed_number(a, &factor))
        return lw_shape_alike(a) == a->run && lw_shape_alike(b) == b->run ? shape : lw_shape_any(a->bits);
    const bool is_near = factor <= FAR && factor >= -FAR;
    for (uint32_t k = 0; k < a->run; k++) {
        const int32_t one = (by_b ? a : b)->step[k];
        step[k] = !one || is_near ? one * factor : INT64_MAX;
    }
    return set_steps(&shape, step) ? shape : lw_shape_any(a->bits);
}

lw_shape lw_shape_product(const lw_shape *a, const lw_shape *b) {
    const uint32_t most = a->run < b->run ? a->run : b->run;
    for (uint32_t run = most; run >= LW_RUN_LEAST; run--) {
        const lw_shape as = lw_shape_within(a, run), bs = lw_shape_within(b, run);
        const lw_shape shape = multiplied(&as, &bs);
        if (shape.kind == LW_SHAPE_row) return shape;
    }
    return lw_shape_any(a->bits);
}

lw_shape lw_shape_widened(const lw_shape *a, uint32_t bits, bool is_signed) {
    lw_shape shape = *a;
    const uint64_t above = lw_ones_of(bits) & ~lw_ones_of(a->bits), top = (uint64_t)1 << (a->bits - 1);
    shape.bits = bits;
    if (!is_signed || a->zeros & top) return shape;
    shape.zeros &= ~above;
    if (a->ones & top) shape.ones |= above;
    return shape;
}

/* ---- Operations on bits ------------------------------------------------------------------------------------------ */

lw_bit_map lw_bit_map_zero(uint32_t bits) {
    lw_bit_map map = {.bits = bits};
    for (uint32_t p = 0; p < bits; p++) map.rule[p] = (struct lw_bit_rule){0, {LW_NO_BIT, LW_NO_BIT, LW_NO_BIT}};
    return map;
}
lw_bit_map lw_bit_map_each(uint32_t bits, uint8_t table) {
    lw_bit_map map = {.bits = bits};
    for (uint32_t p = 0; p < bits; p++) map.rule[p] = (struct lw_bit_rule){table, {(uint8_t)p, (uint8_t)p, (uint8_t)p}};
    return map;
}

static void copy_bit(lw_bit_map *map, uint32_t to, uint32_t operand, uint32_t from) {
    static const uint8_t tables[] = {LW_TABLE_A, LW_TABLE_B, LW_TABLE_C};
    map->rule[to].table = tables[operand];
    map->rule[to].at[operand] = (uint8_t)from;
}
void lw_bit_map_copy(lw_bit_map *map, uint32_t to, uint32_t count, uint32_t operand, uint32_t from) {
    for (uint32_t k = 0; k < count; k++) copy_bit(map, to + k, operand, from + k);
}
void lw_bit_map_spread(lw_bit_map *map, uint32_t to, uint32_t count, uint32_t operand, uint32_t from) {
    for (uint32_t k = 0; k < count; k++) copy_bit(map, to + k, operand, from);
}

/* What a bit is in the lanes: a number; the same in all, which is not known; a bit of the lane's number, or the other
 * one; mixed. */
typedef struct lw_bit {
    enum { BIT_number, BIT_same, BIT_lane, BIT_mixed } kind;
    uint32_t operand, at; /* whose, and its place there; of a lane's bit: its number. A number: at is 0 or 1 */
    bool flipped;
} lw_bit;

static lw_bit bit_of(const lw_shape *a, const lw_shape_parts *parts, uint32_t operand, uint32_t at) {
    if (at == LW_NO_BIT) return (lw_bit){0};
    if (parts->mixed >> at & 1) return (lw_bit){BIT_mixed, operand, at, false};
    for (uint32_t k = 0; k < a->run; k++)
        if (parts->lane[k] >> at & 1) return (lw_bit){BIT_lane, 0, k, a->ones >> at & 1};
    if (parts->known.zeros >> at & 1) return (lw_bit){.at = 0};
    if (parts->known.ones >> at & 1) return (lw_bit){.at = 1};
    return (lw_bit){BIT_same, operand, at, false};
}

static bool is_same_bit(const lw_bit *a, const lw_bit *b) {
    return a->kind == b->kind && a->operand == b->operand && a->at == b->at;
}

/* Of up to three different bits that are no numbers: the results for all that they can be, as a table. */
typedef struct lw_result {
    lw_bit bit[3];
    uint32_t count;
    bool value[8];
} lw_result;

static lw_result result_of(uint8_t table, const lw_bit bits[3]) {
    lw_result result = {.count = 0};
    uint32_t which[3] = {0};
    for (uint32_t i = 0; i < 3; i++) {
        if (bits[i].kind == BIT_number) continue;
        uint32_t k = 0;
        while (k < result.count && !is_same_bit(&bits[i], &result.bit[k])) k++;
        if (k == result.count) result.bit[result.count++] = bits[i];
        which[i] = k;
    }
    for (uint32_t way = 0; way < 8; way++) {
        uint32_t place = 0;
        for (uint32_t i = 0; i < 3; i++) {
            const bool is = bits[i].kind == BIT_number ? bits[i].at : (way >> which[i] & 1) != bits[i].flipped;
            place = place << 1 | is;
        }
        result.value[way] = table >> place & 1;
    }
    return result;
}

static bool depends_on(const lw_result *result, uint32_t k) {
    for (uint32_t way = 0; way < 8; way++)
        if (result->value[way] != result->value[way ^ 1u << k]) return true;
    return false;
}

/* What has been found of a result. */
typedef struct lw_mapping {
    lw_shape shape;
    int64_t step[LW_WARP_BITS];
    /* per operand: its mixed bits that are in the result, as they are or flipped, and how far they have moved */
    uint64_t taken[3];
    bool flipped[3];
    int32_t moved[3];
} lw_mapping;

static void set_known(lw_shape *shape, uint32_t p, bool one) {
    *(one ? &shape->ones : &shape->zeros) |= (uint64_t)1 << p;
}

static bool take_mixed(lw_mapping *m, const lw_shape *a, const lw_bit *bit, uint32_t p, bool flipped) {
    const uint32_t i = bit->operand;
    const int32_t moved = (int32_t)p - (int32_t)bit->at;
    if (m->taken[i] && (m->moved[i] != moved || m->flipped[i] != flipped)) return false;
    m->taken[i] |= (uint64_t)1 << bit->at, m->moved[i] = moved, m->flipped[i] = flipped;
    if ((a->zeros | a->ones) >> bit->at & 1) set_known(&m->shape, p, (a->ones >> bit->at & 1) != flipped);
    return true;
}

/* Bit p of the result. False: the lanes have what is no row there. */
static bool map_bit(lw_mapping *m, const lw_result *result, const lw_shape *const operands[3], uint32_t p) {
    uint32_t count = 0, only = 0;
    bool is_same = true;
    for (uint32_t k = 0; k < result->count; k++) {
        if (!depends_on(result, k)) continue;
        count++, only = k;
        is_same &= result->bit[k].kind == BIT_same;
    }
    if (!count) set_known(&m->shape, p, result->value[0]);
    if (is_same) return true;
    if (count > 1) return false;
    const lw_bit *bit = &result->bit[only];
    const bool flipped = result->value[0];
    if (bit->kind == BIT_mixed) return take_mixed(m, operands[bit->operand], bit, p, flipped);
    set_known(&m->shape, p, flipped);
    if (p > 30) return false;
    m->step[bit->at] += flipped ? -((int64_t)1 << p) : (int64_t)1 << p;
    return true;
}

/* Mixed bits are in the result all together, but those that it has no room for above its highest bit; it has all of
 * what they count to only if that is exact, or as much of it as the operand has. */
static bool add_mixed(lw_mapping *m, const lw_shape *a, const lw_shape_parts *parts, uint32_t i) {
    if (!m->taken[i]) return true;
    const int32_t moved = m->moved[i];
    uint64_t room = UINT64_MAX;
    if ((int32_t)m->shape.bits - moved < 64) room = lw_ones_of((uint32_t)((int32_t)m->shape.bits - moved));
    if (m->taken[i] != (parts->mixed & room)) return false;
    if (parts->mixed >> (a->bits - 1) && (int32_t)a->bits + moved < (int32_t)m->shape.bits) return false;
    for (uint32_t k = 0; k < a->run; k++) {
        int64_t step = parts->step[k];
        if (moved < 0 && step & ((1ll << -moved) - 1)) return false;
        if (moved > 31 && step) return false;
        step = moved < 0 ? step >> -moved : step * (1ll << moved);
        m->step[k] += m->flipped[i] ? -step : step;
    }
    return true;
}

static lw_shape mapped(const lw_bit_map *map, const lw_shape *const operands[3]) {
    lw_mapping m = {.shape = lw_shape_alike_in(map->bits, operands[0]->run)};
    lw_shape_parts parts[3];
    for (uint32_t i = 0; i < 3; i++) parts[i] = parts_of(operands[i]);
    for (uint32_t p = 0; p < map->bits; p++) {
        lw_bit bits[3];
        for (uint32_t i = 0; i < 3; i++) bits[i] = bit_of(operands[i], &parts[i], i, map->rule[p].at[i]);
        const lw_result result = result_of(map->rule[p].table, bits);
        if (!map_bit(&m, &result, operands, p)) return lw_shape_any(map->bits);
    }
    for (uint32_t i = 0; i < 3; i++)
        if (!add_mixed(&m, operands[i], &parts[i], i)) return lw_shape_any(map->bits);
    return set_steps(&m.shape, m.step) ? m.shape : lw_shape_any(map->bits);
}

lw_shape lw_shape_mapped(const lw_bit_map *map, const lw_shape *const operands[3]) {
    uint32_t run = LW_WARP_BITS;
    for (uint32_t i = 0; i < 3; i++) {
        if (operands[i]->kind != LW_SHAPE_row) return lw_shape_any(map->bits);
        if (operands[i]->run < run) run = operands[i]->run;
    }
    for (; run >= LW_RUN_LEAST; run--) {
        lw_shape in_run[3];
        for (uint32_t i = 0; i < 3; i++) in_run[i] = lw_shape_within(operands[i], run);
        const lw_shape shape = mapped(map, (const lw_shape *[3]){&in_run[0], &in_run[1], &in_run[2]});
        if (shape.kind == LW_SHAPE_row) return shape;
    }
    return lw_shape_any(map->bits);
}
