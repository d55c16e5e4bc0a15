/* vshl and vshr as they are executed: what lowering makes of each spelling, against the functions that do all of it,
 * which video.c proves equal to the text for the same spellings. The file that lowers them is compiled in here, with
 * values where it expects the numbers of virtual registers, so that what it would have executed later is computed at
 * once. Flags are constants, so that no operation is chosen by a value; selectors and .wrap are free. */
#include "prove.h"

#pragma push_macro("PROVE")
#pragma push_macro("WHERE")
#pragma push_macro("SPLIT")
#undef PROVE
#undef WHERE
#undef SPLIT
#define PROVE(...)
#define WHERE(...)
#define SPLIT(...)
#include "video.c"
#pragma pop_macro("PROVE")
#pragma pop_macro("WHERE")
#pragma pop_macro("SPLIT")

#include <lanewise/lane.h>
#include "middle/ptx.h"

/* ---- Operations that are executed where they are made ---------------------------------------------------- */

enum { DONE = 0, D = 1, DIFFERS = 2 }; /* a code that no operation has, and the two destinations */

typedef struct machine {
    lw_lower lower; /* first: what lowering has a pointer to. Its list has the operation made last, whose value is imm
                       where it is DONE */
    uint32_t d, differs;
} machine;

static inline uint32_t execute(lw_lane_id lane, uint32_t a, uint32_t b, uint32_t c) {
    switch (lane) {
#define CASE(name, value) \
    case LW_LANE_##name: return (uint32_t)(value);
        CASE(shl_b32, lw_shl_b32(a, b))
        CASE(shr_u32, lw_shr_u32(a, b))
        CASE(shr_s32, lw_shr_s32((int32_t)a, b))
        CASE(add_b32, lw_add_b32(a, b))
        CASE(min_u32, lw_min_u32(a, b))
        CASE(max_u32, lw_max_u32(a, b))
        CASE(min_s32, lw_min_s32((int32_t)a, (int32_t)b))
        CASE(max_s32, lw_max_s32((int32_t)a, (int32_t)b))
        CASE(video_part_u32_, lw_video_part_u32_(a, b))
        CASE(video_part_s32_, lw_video_part_s32_(a, b))
        CASE(video_amount_, lw_video_amount_(a, b))
        CASE(video_shl_sat_u32_u32_, lw_video_shl_sat_u32_u32_(a, b))
        CASE(video_shl_sat_u32_s32_, lw_video_shl_sat_u32_s32_(a, b))
        CASE(video_shl_sat_s32_u32_, lw_video_shl_sat_s32_u32_(a, b))
        CASE(video_shl_sat_s32_s32_, lw_video_shl_sat_s32_s32_(a, b))
        CASE(video_merge_manual_, lw_video_merge_manual_(a, b, c))
        CASE(video_merge_sm_90_, lw_video_merge_sm_90_(a, b, c))
        CASE(video_parts_differ_, lw_video_parts_differ_(a, b, c))
        CASE(video_min_below_, lw_video_min_below_(a, b))
        CASE(video_max_below_, lw_video_max_below_(a, b))
        CASE(video_min_above_, lw_video_min_above_(a, b))
        CASE(video_max_above_, lw_video_max_above_(a, b))
        CASE(video_below_differs_, lw_video_below_differs_(a, b))
        CASE(video_above_differs_, lw_video_above_differs_(a, b))
        CASE(video_over_u32_, lw_video_over_u32_(a, b))
        CASE(video_over_s32_, lw_video_over_s32_(a, b))
    default: __builtin_trap(); /* not a proof */
    }
}

static inline uint32_t value_of(const lw_op *op) {
    switch (op->code) {
    case DONE: return (uint32_t)op->imm;
    case LW_LANE_CODE(LW_LANE_video_pick_manual_, LW_RRR): return lw_video_pick_manual_(op->a, op->b, op->c, op->e);
    case LW_LANE_CODE(LW_LANE_video_pick_sm_90_, LW_RRR): return lw_video_pick_sm_90_(op->a, op->b, op->c, op->e);
    case LW_LANE_CODE(LW_LANE_video_picks_differ_, LW_RRR): return lw_video_picks_differ_(op->a, op->b, op->c, op->e);
    default: __builtin_trap();
    }
}

/* The operation made last has all its fields when the next one is made. */
static inline void retire(machine *m) {
    const lw_op *last = m->lower.ops.at;
    if (last->d == D) m->d = value_of(last);
    if (last->d == DIFFERS) m->differs = value_of(last);
}

static inline lw_op *make_op(lw_lower *l, uint16_t code) {
    machine *m = (machine *)l;
    retire(m);
    *m->lower.ops.at = (lw_op){.d = LW_NO_SLOT, .code = code};
    return m->lower.ops.at;
}
static inline uint32_t make_lane(lw_lower *l, lw_lane_id lane, uint32_t a, uint32_t b, uint32_t c) {
    uint32_t value = execute(lane, a, b, c);
    make_op(l, DONE)->imm = value;
    return value;
}
static inline void make_lane_into(lw_lower *l, uint32_t d, lw_lane_id lane, uint32_t a, uint32_t b, uint32_t c) {
    make_lane(l, lane, a, b, c);
    l->ops.at->d = d;
}

#define lw_lower_const(l, class, value) ((void)(l), (uint32_t)(value))
#define lw_lower_vreg(l, class)         ((void)(l), (uint32_t)DIFFERS) /* the predicate of two words; all others are values */
#define lw_lower_op                     make_op
#define lw_lower_lane                   make_lane
#define lw_lower_lane_into              make_lane_into
#define lw_lower_video_shift            static __attribute__((unused)) read_operands
#include "middle/video.c"

/* ---- What is compared ------------------------------------------------------------------------------------- */

/* The result and, above it, whether the other semantics has another one, which a launch counts. */
static inline uint64_t results(uint32_t mine, bool differs) { return (uint64_t)differs << 32 | mine; }

static inline uint64_t executed(bool left, lw_semantics semantics, uint32_t a, uint32_t b, uint32_t c, uint32_t how) {
    /* Local structures, of which only that is set which lower_into uses: the optimiser dissolves such, and what it
     * would leave in memory the translator refuses. */
    lw_op last = {.d = LW_NO_SLOT};
    lw_program program;
    machine m;
    program.semantics = semantics;
    m.lower.program = &program;
    m.lower.ops.at = &last, m.lower.ops.count = 1;
    lw_video_shift s = {.a = a, .b = b, .c = c, .how = how, .left = left};
    m.differs = 0;
    uint32_t differs = lower_into(&m.lower, D, &s);
    retire(&m);
    return results(m.d, differs == DIFFERS ? m.differs != 0 : differs != LW_NO_SLOT && differs);
}

enum { FREE = LW_VIDEO_A(15) | LW_VIDEO_B(15) | LW_VIDEO_D(15) | LW_VIDEO_WRAP };

#define FORM(op, is_left, flags, name) \
    static inline uint64_t op##_##name(uint32_t a, uint32_t b, uint32_t c, uint32_t how) { \
        return executed(is_left, LW_SEMANTICS_manual, a, b, c, (how & FREE) | (flags)); \
    } \
    static inline uint64_t op##_##name##_by_sm_90(uint32_t a, uint32_t b, uint32_t c, uint32_t how) { \
        return executed(is_left, LW_SEMANTICS_sm_90, a, b, c, (how & FREE) | (flags)); \
    } \
    static inline uint64_t op##_##name##_whole(uint32_t a, uint32_t b, uint32_t c, uint32_t how) { \
        how = (how & FREE) | (flags); \
        uint32_t manual = lw_##op##_manual(a, b, c, how); \
        return results(manual, manual != lw_##op##_sm_90(a, b, c, how)); \
    } \
    static inline uint64_t op##_##name##_whole_by_sm_90(uint32_t a, uint32_t b, uint32_t c, uint32_t how) { \
        how = (how & FREE) | (flags); \
        uint32_t sm_90 = lw_##op##_sm_90(a, b, c, how); \
        return results(sm_90, sm_90 != lw_##op##_manual(a, b, c, how)); \
    } \
    static inline bool op##_##name##_spelled(uint32_t a, uint32_t b, uint32_t c, uint32_t how) { \
        return (how & ~FREE) == 0 && spelling(a, b, c, how | (flags)); \
    } \
    PROVE(op##_##name, op##_##name##_whole, uint64_t, uint32_t, uint32_t, uint32_t, uint32_t) \
    WHERE(op##_##name, op##_##name##_spelled, uint32_t, uint32_t, uint32_t, uint32_t) \
    PROVE(op##_##name##_by_sm_90, op##_##name##_whole_by_sm_90, uint64_t, uint32_t, uint32_t, uint32_t, uint32_t) \
    WHERE(op##_##name##_by_sm_90, op##_##name##_spelled, uint32_t, uint32_t, uint32_t, uint32_t)

/* Without a second operation d may have a selector. */
/* clang-format off */
#define OPERATIONS(op, is_left, flags, name) \
    FORM(op, is_left, flags, name) \
    FORM(op, is_left, (flags) | LW_VIDEO_ADD, name##_add) \
    FORM(op, is_left, (flags) | LW_VIDEO_MIN, name##_min) \
    FORM(op, is_left, (flags) | LW_VIDEO_MAX, name##_max)
/* clang-format on */
/* clang-format off */
#define TYPES(op, is_left, flags, name) \
    OPERATIONS(op, is_left, flags, u32_u32##name) \
    OPERATIONS(op, is_left, (flags) | LW_VIDEO_A_SIGNED, u32_s32##name) \
    OPERATIONS(op, is_left, (flags) | LW_VIDEO_D_SIGNED, s32_u32##name) \
    OPERATIONS(op, is_left, (flags) | LW_VIDEO_A_SIGNED | LW_VIDEO_D_SIGNED, s32_s32##name)
/* clang-format on */
#define SHIFT(op, is_left) \
    TYPES(op, is_left, 0, ) \
    TYPES(op, is_left, LW_VIDEO_SAT, _sat)
SHIFT(vshl, true)
SHIFT(vshr, false)
