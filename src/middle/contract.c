/* contract.c: products and sums that the text leaves a rounding open for become one operation with one rounding, those
 * that ptxas makes so (docs/decisions/0003, "Products and their sums"). Linear in the number of operations.
 *
 * A product becomes part of its sums if all who read it are such sums, and can compute it themselves: they are behind
 * it in its block, and its factors were not written meanwhile. Of whatever else nothing is known; it stays. */
#include "middle/lower.h"

/* The lane functions of one type; `how` ones have an operand more, which says that results are limited. */
typedef struct lw_fusing {
    lw_lane_id product, negation, sum, difference, fused;
    lw_lane_id how_sum, how_difference, how_fused;
} lw_fusing;

static const lw_fusing fusings[] = {
    {LW_LANE_mul_rn_f32, LW_LANE_neg_f32, LW_LANE_add_rn_f32, LW_LANE_sub_rn_f32, LW_LANE_fma_rn_f32, LW_LANE_add_f32,
     LW_LANE_sub_f32, LW_LANE_fma_f32},
    {LW_LANE_mul_rn_ftz_f32, LW_LANE_neg_ftz_f32, LW_LANE_add_rn_ftz_f32, LW_LANE_sub_rn_ftz_f32,
     LW_LANE_fma_rn_ftz_f32, LW_LANE_add_ftz_f32, LW_LANE_sub_ftz_f32, LW_LANE_fma_ftz_f32},
    {LW_LANE_mul_rn_f64, LW_LANE_neg_f64, LW_LANE_add_rn_f64, LW_LANE_sub_rn_f64, LW_LANE_fma_rn_f64, LW_LANE_none,
     LW_LANE_none, LW_LANE_none},
};

/* One that may take up a product: which of its operands are some. */
typedef struct lw_sum {
    uint32_t at;
    bool left, right;
    const lw_fusing *fusing;
} lw_sum;

typedef struct lw_contractor {
    lw_lower *l;
    uint32_t *last_write; /* of each register: 1 + operation, in any block */
    uint32_t *product_at; /* of each register: 1 + the product that alone writes it */
    uint32_t *sums;       /* of each register: how many could take it up */
    uint32_t block;       /* where the one at hand begins */
    LW_LIST(lw_sum) list;
} lw_contractor;

static bool is_difference(const lw_fusing *f, lw_lane_id lane) {
    return lane == f->difference || (lane != LW_LANE_none && lane == f->how_difference);
}
static bool is_limited(const lw_fusing *f, lw_lane_id lane) {
    return lane != LW_LANE_none && (lane == f->how_sum || lane == f->how_difference);
}
static bool is_sum(const lw_fusing *f, lw_lane_id lane) {
    return lane == f->sum || lane == f->difference || is_limited(f, lane);
}

/* The product that a register holds here, with factors that have their values still; NULL: none. */
static lw_op *product_in(const lw_contractor *c, const lw_fusing *f, uint32_t v) {
    const uint32_t at = c->product_at[v];
    if (at <= c->block || c->last_write[v] != at) return NULL;
    lw_op *product = &c->l->ops.at[at - 1];
    const bool kept = c->last_write[product->a] < at && c->last_write[product->b] < at;
    return kept && lw_code_lane(product->code) == f->product ? product : NULL;
}

static void note_product(lw_contractor *c, uint32_t n) {
    const uint32_t d = c->l->ops.at[n].d;
    if (c->l->vregs.at[d].defs == 1) c->product_at[d] = n + 1;
}

/* -(a * b) is -a * b to the last bit: the sign goes to the factor, where the product was, and the product to where the
 * sign was. Recorded of f32 that is read once. */
static void note_negation(lw_contractor *c, uint32_t n) {
    const lw_fusing *f = &fusings[0];
    lw_op *op = &c->l->ops.at[n], *product = product_in(c, f, op->a);
    if (!product || c->l->vregs.at[op->a].uses != 1 || c->l->vregs.at[op->d].uses != 1) return;
    op->code = product->code, op->b = product->b;
    product->code = LW_LANE_CODE(f->negation, LW_RRR), product->b = LW_NO_SLOT;
    c->product_at[op->a] = 0;
    note_product(c, n);
}

static void note_sum(lw_contractor *c, const lw_fusing *f, uint32_t n) {
    const lw_op *op = &c->l->ops.at[n];
    if (op->a == op->b) return;
    const lw_sum sum = {n, product_in(c, f, op->a), product_in(c, f, op->b), f};
    c->sums[op->a] += sum.left, c->sums[op->b] += sum.right;
    if (sum.left || sum.right) LW_PUSH(c->l->arena, c->list) = sum;
}

static void note_operation(lw_contractor *c, uint32_t n, bool open) {
    const lw_lane_id lane = lw_code_lane(c->l->ops.at[n].code);
    if (lane == LW_LANE_neg_f32) note_negation(c, n);
    for (size_t k = 0; lane != LW_LANE_none && k < LW_COUNT(fusings); k++) {
        const lw_fusing *f = &fusings[k];
        if (open && lane == f->product) note_product(c, n);
        else if (open && is_sum(f, lane)) note_sum(c, f, n);
    }
}

static void find_sums(lw_contractor *c) {
    lw_lower *l = c->l;
    for (uint32_t n = 0, next = 0, guarded = 0; n < l->ops.count; n++) {
        const lw_op *op = &l->ops.at[n];
        const bool open = next < l->open_roundings.count && l->open_roundings.at[next] == n;
        next += open;
        if (op->code == LW_OP_block) c->block = n;
        if (op->code == LW_OP_guard) guarded = n + (uint32_t)op->imm + 1;
        if (n >= guarded) note_operation(c, n, open);
        LW_EACH_WRITTEN(l->code, op, at) c->last_write[*at] = n + 1;
    }
}

/* In the room that lowering left in front of a difference. */
static uint32_t negate(lw_lower *l, const lw_sum *sum, uint32_t v) {
    const uint32_t d = lw_lower_vreg(l, l->vregs.at[v].class);
    l->vregs.at[d].defs = l->vregs.at[d].uses = 1;
    lw_op *op = &l->ops.at[sum->at - 1];
    if (op->code != LW_OP_dead) lw_bug("no room for a negation at operation %u", sum->at);
    *op = (lw_op){.code = LW_LANE_CODE(sum->fusing->negation, LW_RRR),
                  .d = d,
                  .a = v,
                  .b = LW_NO_SLOT,
                  .c = LW_NO_SLOT,
                  .e = LW_NO_SLOT};
    return d;
}

static void fuse(lw_contractor *c, const lw_sum *sum, bool left) {
    lw_lower *l = c->l;
    lw_op *op = &l->ops.at[sum->at];
    const lw_lane_id lane = lw_code_lane(op->code);
    const uint32_t taken = left ? op->a : op->b, rest = left ? op->b : op->a;
    lw_op *product = &l->ops.at[c->product_at[taken] - 1];
    const bool is_less = is_difference(sum->fusing, lane), limited = is_limited(sum->fusing, lane);
    l->vregs.at[product->a].uses++, l->vregs.at[product->b].uses++;
    op->e = limited ? op->c : LW_NO_SLOT;
    op->a = is_less && !left ? negate(l, sum, product->a) : product->a;
    op->b = product->b;
    op->c = is_less && left ? negate(l, sum, rest) : rest;
    op->code = LW_LANE_CODE(limited ? sum->fusing->how_fused : sum->fusing->fused, LW_RRR);
    if (--l->vregs.at[taken].uses) return;
    l->vregs.at[product->a].uses--, l->vregs.at[product->b].uses--, l->vregs.at[taken].defs--;
    product->code = LW_OP_dead;
}

void lw_contract(lw_lower *l) {
    if (!l->open_roundings.count) return;
    const uint32_t count = l->vregs.count;
    lw_contractor c = {.l = l,
                       .last_write = LW_NEW_ARRAY(l->arena, uint32_t, count),
                       .product_at = LW_NEW_ARRAY(l->arena, uint32_t, count),
                       .sums = LW_NEW_ARRAY(l->arena, uint32_t, count)};
    find_sums(&c);
    for (uint32_t v = 0; v < count; v++)
        if (c.sums[v] != l->vregs.at[v].uses) c.product_at[v] = 0;
    for (uint32_t k = 0; k < c.list.count; k++) {
        const lw_sum *sum = &c.list.at[k];
        const lw_op *op = &l->ops.at[sum->at];
        const bool left = sum->left && c.product_at[op->a], right = sum->right && c.product_at[op->b];
        if (left || right) fuse(&c, sum, left);
    }
}
