/* equiv_inputs.c: what two programs are compared on: all values where they are few, else edges, small numbers and noise
 * from a seed. */
#include "tool/equiv.h"

enum { FEW_BITS = 20 }; /* so many elements at most come of all combinations */

static uint64_t mix(uint64_t x) {
    x += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

/* How many values an argument can have; 0: too many to count. */
static uint64_t values_of(const lw_equiv_slot *slot) {
    if (slot->has_range) return (uint64_t)slot->high - (uint64_t)slot->low + 1;
    if (slot->param.is_mask) return 2;
    return lw_types[slot->type].bits < 32 ? UINT64_C(1) << lw_types[slot->type].bits : 0;
}

/* Arguments with few values take them in turn, the others get noise; where all are few enough, one case has all
 * combinations. Scalars that are noise leave some out. */
void lw_equiv_plan(lw_equiv *e, uint32_t lanes) {
    uint64_t product = 1;
    bool all = true, arrays = false, any_length = false;
    uint64_t longest = 1; /* of arrays that have a length of their own */
    for (uint32_t i = 0; i < e->argument_count; i++) {
        lw_equiv_slot *slot = &e->slots[i];
        uint64_t values = slot->is_array ? values_of(slot) : 0;
        arrays |= slot->is_array;
        bool few = values && values <= (UINT64_C(1) << FEW_BITS) / product;
        if (few) slot->stride = product, product *= values;
        /* an array of its own length, or of fewer elements for each repeat */
        bool shorter = slot->param.is_register ? slot->param.elements != lanes : !slot->param.any_length;
        if (slot->is_array ? !few || shorter : !slot->has_value && slot->param.size != 8) all = false;
    }
    for (uint32_t i = 0; i < e->slot_count; i++) {
        const lw_param_info *param = &e->slots[i].param;
        any_length |= param->is_register || param->any_length;
        if (!param->is_register && param->elements > longest) longest = param->elements;
    }
    e->exhaustive = all && arrays && !e->has_elements && !e->has_cases;
    if (!e->has_elements) e->elements = !any_length ? longest : e->exhaustive ? product : 1 << 16;
    if (!e->has_cases) e->cases = e->exhaustive ? 1 : 4;
}

/* A constant of the texts, or a neighbour of it. */
static uint64_t constant(const lw_equiv *e, uint64_t word) {
    return e->constants.at[mix(word) % e->constants.count] + (mix(word) >> 32) % 3 - 1;
}

/* Whether a value is in the range of an argument once it is cut to its type. */
static bool in_range(const lw_equiv_slot *slot, uint64_t value) {
    const unsigned shift = 64 - lw_types[slot->type].bits;
    if (lw_types[slot->type].kind != 'S')
        return value << shift >> shift >= (uint64_t)slot->low && value << shift >> shift <= (uint64_t)slot->high;
    const int64_t number = (int64_t)(value << shift) >> shift;
    return number >= slot->low && number <= slot->high;
}

static uint64_t noise(const lw_equiv *e, const lw_equiv_slot *slot, uint64_t word) {
    const unsigned bits = lw_types[slot->type].bits;
    const bool of_texts = e->constants.count && (word & 3) == 3;
    if (slot->param.is_mask) return word >> 7 & 1;
    if (of_texts && (!slot->has_range || in_range(slot, constant(e, word)))) return constant(e, word);
    if (slot->has_range) return (uint64_t)slot->low + mix(word) % values_of(slot);
    switch (word & 3) {
    case 0: return mix(word) % (2 * bits + 1);                                      /* what counts are */
    case 1: return (UINT64_C(1) << (mix(word) % bits)) - 1 + (mix(word) >> 32) % 3; /* around powers of two */
    default: return mix(word);
    }
}

void lw_equiv_fill(lw_equiv *e, uint64_t number) {
    for (uint32_t s = 0; s < e->argument_count; s++) {
        lw_equiv_slot *slot = &e->slots[s];
        uint32_t bytes = lw_value_bytes(slot->type);
        uint64_t start = mix(e->seed ^ mix(number ^ mix(s)));
        if (!slot->is_array) {
            if (!slot->has_value) slot->value = noise(e, slot, start);
            continue;
        }
        for (uint64_t i = 0; i < slot->count; i++) {
            uint64_t at = i + number * slot->count, value;
            if (slot->stride) value = (uint64_t)(slot->has_range ? slot->low : 0) + at / slot->stride % values_of(slot);
            else value = noise(e, slot, mix(start + i));
            memcpy(slot->in + i * bytes, &value, bytes);
        }
    }
}

uint64_t lw_equiv_element(const lw_equiv_slot *slot, const char *bytes, uint64_t index) {
    uint32_t size = lw_value_bytes(slot->type);
    uint64_t value = 0;
    memcpy(&value, bytes + index * size, size);
    return value;
}
