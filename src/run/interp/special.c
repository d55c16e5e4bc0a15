/* special.c: what special registers are (manual section 10; level/special.c has their step), predicates as functions of
 * predicates, windows. */
#include "run/interp/interp.h"

#include "base/special_id.h"

#include <time.h>

/* ---- Special registers: one function for each row of isa/special.def ------------------------------------- */

/* EACH: lanes differ, in 32 bits: fills a whole gang's values. SAME: a whole gang sees one value. */
typedef void lw_special_fill(const lw_gang *gang, uint32_t component, uint32_t to[LW_GANG_LANES]);
typedef uint64_t lw_special_read(const lw_gang *gang, uint32_t component);
typedef struct lw_special_row {
    lw_special_fill *fill; /* NULL: by value */
    lw_special_read *value;
} lw_special_row;
#define EACH(name, expression) \
    static void fill_##name(const lw_gang *gang, uint32_t component, uint32_t to[LW_GANG_LANES]) { \
        (void)gang, (void)component; \
        for (uint32_t lane = 0; lane < LW_GANG_LANES; lane++) to[lane] = (expression); \
    } \
    static const lw_special_row row_##name = {.fill = fill_##name};
#define SAME(name, expression) \
    static uint64_t value_##name(const lw_gang *gang, uint32_t component) { \
        (void)gang, (void)component; \
        return (expression); \
    } \
    static const lw_special_row row_##name = {.value = value_##name};

/* The fourth component of a vector is always zero. */
static uint32_t of_three(const uint32_t values[3], uint32_t component) { return component < 3 ? values[component] : 0; }

/* Who looks at a clock may give up waiting by itself. */
static uint64_t nanoseconds(const lw_gang *gang, clockid_t clock) {
    struct timespec now;
    gang->cta->cluster->idle = 0;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

EACH(tid, 0) /* the fourth component; lw_special_lanes knows the others */
EACH(laneid, lane % LW_WARP_LANES)
EACH(warpid, (gang->first + lane) / LW_WARP_LANES)
EACH(lanemask_eq, 1u << lane % LW_WARP_LANES)
EACH(lanemask_lt, (1u << lane % LW_WARP_LANES) - 1)
EACH(lanemask_le, (2u << lane % LW_WARP_LANES) - 1)
EACH(lanemask_gt, (uint32_t) ~((2u << lane % LW_WARP_LANES) - 1))
EACH(lanemask_ge, (uint32_t) ~((1u << lane % LW_WARP_LANES) - 1))

SAME(ntid, of_three(gang->cta->grid->block, component))
SAME(ctaid, of_three(gang->cta->index, component))
SAME(nctaid, of_three(gang->cta->grid->shape, component))
SAME(nwarpid, (gang->cta->threads + LW_WARP_LANES - 1) / LW_WARP_LANES)
SAME(gridid, gang->cta->grid->grid_number)
SAME(smid, 0)
SAME(nsmid, 1)

/* Without clusters every CTA is one of its own. */
SAME(is_explicit_cluster, gang->cta->grid->has_clusters)
SAME(clusterid, of_three(gang->cta->cluster->index, component))
SAME(nclusterid, component < 3 ? gang->cta->grid->shape[component] / gang->cta->grid->cluster[component] : 0)
SAME(cluster_ctaid, of_three(gang->cta->place, component))
SAME(cluster_nctaid, of_three(gang->cta->grid->cluster, component))
SAME(cluster_ctarank, gang->cta->rank)
SAME(cluster_nctarank, gang->cta->cluster->count)

SAME(clock, (uint32_t)nanoseconds(gang, CLOCK_MONOTONIC))
SAME(clock_hi, nanoseconds(gang, CLOCK_MONOTONIC) >> 32)
SAME(clock64, nanoseconds(gang, CLOCK_MONOTONIC))
SAME(globaltimer, nanoseconds(gang, CLOCK_REALTIME))
SAME(globaltimer_lo, (uint32_t)nanoseconds(gang, CLOCK_REALTIME))
SAME(globaltimer_hi, nanoseconds(gang, CLOCK_REALTIME) >> 32)

/* Behind what the kernel and the launch want. */
static uint64_t reserved_begin(const lw_gang *gang) {
    return gang->cta->shared_bytes - gang->cta->grid->reserved_shared;
}

/* In the units that shared memory is given out in (manual sections 10.31 and 10.33). */
static uint64_t shared_given(const lw_gang *gang) {
    const uint64_t unit = gang->cta->program->shared_unit;
    const uint64_t bytes = reserved_begin(gang);
    return (bytes + unit - 1) / unit * unit;
}
/* What is static in units of 16 bytes, dynamic as it was asked for, and what is reserved: so an H200. */
static uint64_t shared_in_all(const lw_gang *gang) {
    const uint64_t fixed = (gang->cta->program->shared_bytes + 15) / 16 * 16;
    return fixed + gang->cta->grid->dynamic_shared + LW_SHARED_RESERVED;
}
SAME(total_smem_size, shared_given(gang))
SAME(aggr_smem_size, shared_in_all(gang))
SAME(dynamic_smem_size, gang->cta->grid->dynamic_shared)

/* What is reserved for the system. A GPU has it in front of all shared memory, here it lies behind that of programs
 * that ask where it is: CUDA's headers have groups of several warps meet in its second part. An H200 has both parts at
 * its beginning, 288 bytes. */
SAME(reserved_smem_offset_begin, reserved_begin(gang))
SAME(reserved_smem_offset_end, reserved_begin(gang) + 288)
SAME(reserved_smem_offset_cap, gang->cta->grid->reserved_shared)
SAME(reserved_smem_offset_0, reserved_begin(gang))
SAME(reserved_smem_offset_1, reserved_begin(gang))
SAME(current_graph_exec, 0)

/* Nothing is counted. */
#define COUNTER(n) SAME(pm##n, 0) SAME(pm##n##_64, 0)
COUNTER(0)
COUNTER(1)
COUNTER(2)
COUNTER(3)
COUNTER(4)
COUNTER(5)
COUNTER(6)
COUNTER(7)

/* What the driver hands over: the address of the grid's workspace, the high word first, and nothing else. */
SAME(envreg0, 0)
SAME(envreg1, gang->cta->grid->workspace >> 32)
SAME(envreg2, (uint32_t)gang->cta->grid->workspace)
SAME(envreg3, 0)
/* clang-format off */
#define FOUR(a, b, c, d) SAME(envreg##a, 0) SAME(envreg##b, 0) SAME(envreg##c, 0) SAME(envreg##d, 0)
/* clang-format on */
FOUR(4, 5, 6, 7)
FOUR(8, 9, 10, 11)
FOUR(12, 13, 14, 15)
FOUR(16, 17, 18, 19)
FOUR(20, 21, 22, 23)
FOUR(24, 25, 26, 27)
FOUR(28, 29, 30, 31)

static const lw_special_row *const rows[LW_SPECIAL_count] = {
#define SPECIAL(name, does) [LW_SPECIAL_##name] = &row_##name,
#include "special.def"
};

const uint32_t *lw_special_lanes(const lw_gang *gang, const lw_op *op, uint32_t room[LW_GANG_LANES]) {
    const lw_special_row *row = rows[op->a];
    if (op->a == LW_SPECIAL_tid && op->b < 3) return gang->tid[op->b]; /* where they are */
    if (row->fill) row->fill(gang, op->b, room);
    return row->fill ? room : NULL;
}

uint64_t lw_special_value(const lw_gang *gang, const lw_op *op) { return rows[op->a]->value(gang, op->b); }

/* ---- Predicates --------------------------------------------------------------------------------------------- */

static inline lw_mask choose(lw_mask which, lw_mask one, lw_mask zero) { return (which & one) | (~which & zero); }
static inline lw_mask constant(uint64_t lut, uint32_t index) { return lut >> index & 1 ? LW_MASK_ALL : 0; }

const lw_op *lw_step_predicate(lw_gang *gang, const lw_op *op) {
    lw_mask a = op->flags & LW_OP_IMM_A ? 0 : lw_get_mask(gang, op->a);
    lw_mask b = op->flags & LW_OP_IMM_B ? 0 : lw_get_mask(gang, op->b);
    lw_mask c = op->flags & LW_OP_IMM_C ? 0 : lw_get_mask(gang, op->c);
    switch (op->imm) { /* the usual ones */
    case 0xc0: lw_put_mask(gang, op->d, a & b); return op + 1;
    case 0xfc: lw_put_mask(gang, op->d, a | b); return op + 1;
    case 0x3c: lw_put_mask(gang, op->d, a ^ b); return op + 1;
    case 0x0f: lw_put_mask(gang, op->d, ~a); return op + 1;
    case 0xf0: lw_put_mask(gang, op->d, a); return op + 1;
    default: break;
    }
    lw_mask by_ab[4];
    for (uint32_t i = 0; i < 4; i++) by_ab[i] = choose(c, constant(op->imm, 2 * i + 1), constant(op->imm, 2 * i));
    lw_put_mask(gang, op->d, choose(a, choose(b, by_ab[3], by_ab[2]), choose(b, by_ab[1], by_ab[0])));
    return op + 1;
}

/* Threads behind the last element, all from one on. */
const lw_op *lw_step_beyond(lw_gang *gang, const lw_op *op) {
    uint32_t count;
    memcpy(&count, gang->cta->grid->params + op->imm, sizeof count);
    const uint64_t first = (uint64_t)gang->cta->index[0] * gang->cta->grid->block[0] + gang->first,
                   left = count > first ? count - first : 0;
    lw_put_mask(gang, op->d, left < LW_GANG_LANES ? LW_MASK_ALL << left : 0);
    return op + 1;
}

/* Lane i of the gang is lane (first + i) modulo the width of its register. Each CTA begins with lane 0 unless it holds
 * any part of the repeats. */
const lw_op *lw_step_pattern(lw_gang *gang, const lw_op *op) {
    const uint64_t *words = gang->frame->code->constants + op->imm;
    const uint64_t before = gang->cta->program->vector.flat ? (uint64_t)gang->cta->index[0] * gang->cta->grid->block[0]
                                                            : 0;
    const uint64_t first = before + gang->first;
    uint32_t width = op->c, at = (uint32_t)(first % width);
    lw_mask bits = 0;
    for (uint32_t i = 0; i < gang->lanes; i++) {
        bits |= (lw_mask)(words[at / 64] >> at % 64 & 1) << i;
        if (++at == width) at = 0;
    }
    lw_put_mask(gang, op->d, bits);
    return op + 1;
}

/* ---- Addresses ---------------------------------------------------------------------------------------------- */

/* Constants lie in device memory among global variables. */
static bool is_constant(const lw_gang *gang, uint64_t address) {
    const lw_range *range = lw_ranges_find(gang->cta->grid->ranges, address, 1);
    return range && range->constant;
}

static bool is_in(const lw_gang *gang, lw_where where, uint64_t address) {
    uint64_t window = address & ~(LW_WINDOW_BYTES - 1), offset;
    uint32_t rank = 0; /* of an address outside of shared memory: none reads it */
    const bool shared = address < LW_GLOBAL_BASE &&
                        lw_shared_find(gang->cta, address - LW_SHARED_WINDOW, &rank, &offset);
    switch (where) {
    case LW_WHERE_global: return address >= LW_GLOBAL_BASE && !is_constant(gang, address);
    case LW_WHERE_const: return address >= LW_GLOBAL_BASE && is_constant(gang, address);
    case LW_WHERE_shared: return shared && rank == gang->cta->rank;
    case LW_WHERE_cluster: return shared && (rank == gang->cta->rank || rank < gang->cta->cluster->count);
    case LW_WHERE_local: return window == LW_LOCAL_WINDOW;
    case LW_WHERE_param: return window == LW_PARAM_WINDOW;
    case LW_WHERE_nowhere: break;
    }
    return false;
}

const lw_op *lw_step_isspacep(lw_gang *gang, const lw_op *op) {
    const uint64_t *wide = LW_SLOT(gang, uint64_t, op->a);
    const uint32_t *narrow = LW_SLOT(gang, uint32_t, op->a);
    lw_mask inside = 0;
    LW_FOR_LANES(lane, gang->mask) {
        uint64_t address = op->c == 8 ? wide[lane] : narrow[lane];
        if (is_in(gang, (lw_where)op->b, address)) inside |= LW_MASK_BIT(lane);
    }
    lw_put_mask(gang, op->d, inside);
    return op + 1;
}
