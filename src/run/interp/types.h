/* types.h: what the types of isa/lane_types.def are in C, as arguments (c_) and as elements of register slots
 * (slot_). */
#ifndef LW_TYPES_H
#define LW_TYPES_H

#include <stdint.h>

#define LANE_BIT(name, argument, element) \
    typedef argument c_##name; \
    typedef element slot_##name;
#define LANE_TYPE(name, argument, element, slot, bits) \
    LANE_BIT(name, argument, element) \
    _Static_assert(8 * sizeof(argument) == bits && 8 * sizeof(element) == slot, \
                   "a lane type's row does not agree with itself");
#include "lane_types.def"

#endif
