/* fuse.c: several operations become one where the interpreter has a lane function for the whole.
 *
 * Compilers for PTX leave this to ptxas: nvcc emits no lop3, no three-operand add. Within a block, a value that is read
 * once can be computed by its reader instead, if nothing that it was made of has been written in between. */
#include "run/interp/link/link.h"

typedef struct lw_fuser {
    lw_link *l;
    uint32_t *last_write; /* per register: 1 + operation that wrote it last */
    uint32_t *last_read;  /* the same for reads */
    uint32_t block_start;
    uint32_t at; /* the operation at hand */
} lw_fuser;

static lw_lane_id lane_of(const lw_op *op) { return lw_code_lane(op->code); }

/* The operation whose result `v` is, if operation `reader` may compute it instead; NULL otherwise. */
static lw_op *producer(lw_fuser *f, uint32_t v, uint32_t reader) {
    if (v == LW_NO_SLOT) return NULL;
    const lw_vreg *vreg = &f->l->vregs.at[v];
    uint32_t at = f->last_write[v];
    if (vreg->is_const || vreg->uses != 1 || vreg->defs != 1 || at <= f->block_start || at > reader) return NULL;
    lw_op *op = &f->l->code->ops[at - 1];
    if (op->code < LW_OP_lop3 || op->d != v) return NULL; /* others use their fields otherwise */
    const uint32_t sources[] = {op->a, op->b, op->c, op->e};
    for (int k = 0; k < 4; k++)
        if (sources[k] != LW_NO_SLOT && f->last_write[sources[k]] > at) return NULL;
    return op;
}

static bool constant(const lw_fuser *f, uint32_t v, uint64_t *value) {
    if (v == LW_NO_SLOT || !f->l->vregs.at[v].is_const) return false;
    *value = f->l->vregs.at[v].value;
    return true;
}

/* The operation at hand does this one, too. */
static void take(const lw_fuser *f, lw_op *op) { op->code = LW_OP_dead, op->imm = f->at; }

/* Takes the sources of a producer over: the value between goes away. */
static void absorb(lw_fuser *f, lw_op *op) {
    f->l->vregs.at[op->d].uses--;
    f->l->vregs.at[op->d].defs--;
    take(f, op);
}

static void set_lane(lw_op *op, lw_lane_id lane, uint32_t a, uint32_t b, uint32_t c) {
    op->code = LW_LANE_CODE(lane, LW_RRR);
    op->a = a, op->b = b, op->c = c, op->e = LW_NO_SLOT;
}

static uint32_t new_const(lw_fuser *f, uint64_t value) {
    uint32_t v = lw_link_const(f->l, LW_CLASS_32, value);
    f->l->vregs.at[v].uses = 1;
    return v;
}

/* ---- Logic: any tree of and, or, xor, not, lop3 over three values ---------------------------------------- */

typedef struct lw_logic { /* lut over inputs, index bits as lop3 has them: input 0 is a */
    uint32_t inputs[3], count;
    uint8_t lut;
} lw_logic;

static bool as_logic(const lw_op *op, lw_logic *logic) {
    *logic = (lw_logic){.inputs = {op->a, op->b, op->c}};
    if (op->code >= LW_OP_lop3 && op->code < LW_OP_lane) {
        logic->lut = (uint8_t)(op->code - LW_OP_lop3);
        logic->count = 3;
        return true;
    }
    switch (lane_of(op)) {
    case LW_LANE_and_b32: logic->lut = 0xf0 & 0xcc; break;
    case LW_LANE_or_b32: logic->lut = 0xf0 | 0xcc; break;
    case LW_LANE_xor_b32: logic->lut = 0xf0 ^ 0xcc; break;
    case LW_LANE_not_b32: logic->lut = 0x0f, logic->count = 1; return true;
    default: return false;
    }
    logic->count = 2;
    return true;
}

/* Each input as a column of the table of three inputs: bit n is what it is in row n. */
static const uint8_t columns[] = {0xf0, 0xcc, 0xaa};

/* Of eight rows at once: what the table has where its inputs are so, input by input. */
static uint8_t look_up(uint8_t lut, const uint8_t in[3]) {
    uint32_t rows[8];
    for (uint32_t i = 0; i < 8; i++) rows[i] = 0u - (lut >> i & 1);
    for (uint32_t k = 3, half = 4; k-- > 0; half /= 2) /* the last input tells neighbours apart */
        for (uint32_t i = 0; i < half; i++) rows[i] = (rows[2 * i] & ~in[k]) | (rows[2 * i + 1] & in[k]);
    return (uint8_t)rows[0];
}

/* Puts `inner` in the place of input k of `outer`; false where more than three values come together. */
static bool compose(const lw_logic *outer, uint32_t k, const lw_logic *inner, lw_logic *result) {
    uint32_t inputs[3] = {0}, count = 0, of_outer[3] = {0}, of_inner[3] = {0};
    for (uint32_t pass = 0; pass < 2; pass++) {
        const lw_logic *from = pass ? inner : outer;
        for (uint32_t i = 0; i < from->count; i++) {
            if (!pass && i == k) continue;
            uint32_t at = 0;
            while (at < count && inputs[at] != from->inputs[i]) at++;
            if (at == count) {
                if (count == 3) return false;
                inputs[count++] = from->inputs[i];
            }
            (pass ? of_inner : of_outer)[i] = at;
        }
    }
    *result = (lw_logic){.inputs = {inputs[0], inputs[1], inputs[2]}, .count = count};
    uint8_t in[3], out[3];
    for (uint32_t i = 0; i < 3; i++) in[i] = columns[of_inner[i]];
    const uint8_t value = look_up(inner->lut, in);
    for (uint32_t i = 0; i < 3; i++) out[i] = i == k ? value : columns[of_outer[i]];
    result->lut = look_up(outer->lut, out);
    return true;
}

/* The cheapest operation that computes the function. */
static void put_logic(lw_fuser *f, lw_op *op, const lw_logic *logic) {
    lw_vreg *vregs = f->l->vregs.at;
    for (uint32_t k = 0; k < logic->count; k++) vregs[logic->inputs[k]].uses++;
    uint32_t a = logic->inputs[0], b = logic->count > 1 ? logic->inputs[1] : a;
    if (logic->count == 2 && logic->lut == 0xc0) set_lane(op, LW_LANE_and_b32, a, b, LW_NO_SLOT);
    else if (logic->count == 2 && logic->lut == 0xfc) set_lane(op, LW_LANE_or_b32, a, b, LW_NO_SLOT);
    else if (logic->count == 2 && logic->lut == 0x3c) set_lane(op, LW_LANE_xor_b32, a, b, LW_NO_SLOT);
    else if (logic->count == 1 && logic->lut == 0x0f) set_lane(op, LW_LANE_not_b32, a, LW_NO_SLOT, LW_NO_SLOT);
    else {
        uint32_t c = logic->count > 2 ? logic->inputs[2] : a;
        if (logic->count < 3) vregs[c].uses++;
        if (logic->count < 2) vregs[b].uses++;
        op->code = (uint16_t)(LW_OP_lop3 + logic->lut);
        op->a = a, op->b = b, op->c = c, op->e = LW_NO_SLOT;
    }
}

static void release_sources(lw_fuser *f, const lw_op *op) {
    const uint32_t sources[] = {op->a, op->b, op->c, op->e};
    for (int k = 0; k < 4; k++)
        if (sources[k] != LW_NO_SLOT) f->l->vregs.at[sources[k]].uses--;
}

static bool fuse_logic(lw_fuser *f, lw_op *op, uint32_t at) {
    lw_logic outer;
    if (!as_logic(op, &outer)) return false;
    bool changed = false;
    for (uint32_t k = 0; k < outer.count; k++) {
        lw_op *source = producer(f, outer.inputs[k], at);
        lw_logic inner, both;
        if (!source || !as_logic(source, &inner) || !compose(&outer, k, &inner, &both)) continue;
        release_sources(f, op);
        release_sources(f, source);
        f->l->vregs.at[source->d].defs--;
        take(f, source);
        put_logic(f, op, &both);
        as_logic(op, &outer);
        changed = true;
        k = (uint32_t)-1; /* look at all inputs again */
    }
    return changed;
}

/* ---- Rotates --------------------------------------------------------------------------------------------- */

/* op is x << n or x >> n by a constant within the width. */
static bool is_shift(const lw_fuser *f, const lw_op *op, lw_lane_id lane, uint32_t *x, uint32_t *n) {
    uint64_t value;
    if (!op || lane_of(op) != lane || !constant(f, op->b, &value) || value > 31) return false;
    *x = op->a, *n = (uint32_t)value;
    return true;
}

static bool is_right_shift(const lw_fuser *f, const lw_op *op, uint32_t *x, uint32_t *n) {
    return is_shift(f, op, LW_LANE_shr_u32, x, n);
}

/* shf of a value with itself by a constant is a rotate, which the CPU may have as one operation. */
static bool funnel_to_rotate(lw_fuser *f, lw_op *op) {
    lw_lane_id lane = lane_of(op);
    bool left = lane == LW_LANE_shf_l_wrap || lane == LW_LANE_shf_l_clamp,
         right = lane == LW_LANE_shf_r_wrap || lane == LW_LANE_shf_r_clamp;
    uint64_t n;
    if ((!left && !right) || op->a != op->b || !constant(f, op->c, &n)) return false;
    if ((lane == LW_LANE_shf_l_clamp || lane == LW_LANE_shf_r_clamp) && n > 31) return false;
    f->l->vregs.at[op->a].uses--;
    f->l->vregs.at[op->c].uses--;
    set_lane(op, LW_LANE_rotl_b32, op->a, new_const(f, left ? n & 31 : (32 - n) & 31), LW_NO_SLOT);
    return true;
}

/* (x << n) | (x >> 32 - n), also with + or ^. */
static bool shifts_to_rotate(lw_fuser *f, lw_op *op, uint32_t at) {
    lw_lane_id lane = lane_of(op);
    if (lane != LW_LANE_or_b32 && lane != LW_LANE_xor_b32 && lane != LW_LANE_add_b32) return false;
    lw_op *one = producer(f, op->a, at), *two = producer(f, op->b, at);
    uint32_t x, y, n, m;
    if (is_right_shift(f, one, &x, &n)) {
        lw_op *swap = one;
        one = two, two = swap;
    }
    if (!is_shift(f, one, LW_LANE_shl_b32, &x, &n) || !is_right_shift(f, two, &y, &m) || x != y || n + m != 32)
        return false;
    f->l->vregs.at[x].uses--; /* two reads become one */
    f->l->vregs.at[one->b].uses--, f->l->vregs.at[two->b].uses--;
    absorb(f, one), absorb(f, two);
    set_lane(op, LW_LANE_rotl_b32, x, new_const(f, n), LW_NO_SLOT);
    return true;
}

/* A rotate of a ^ b or a + b. */
static bool fuse_rotate(lw_fuser *f, lw_op *op, uint32_t at) {
    if (lane_of(op) != LW_LANE_rotl_b32) return false;
    lw_op *source = producer(f, op->a, at);
    lw_lane_id inner = source ? lane_of(source) : LW_LANE_none;
    if (inner != LW_LANE_xor_b32 && inner != LW_LANE_add_b32) return false;
    uint64_t value;
    if (constant(f, source->a, &value) || constant(f, source->b, &value)) return false;
    uint32_t a = source->a, b = source->b;
    absorb(f, source);
    set_lane(op, inner == LW_LANE_xor_b32 ? LW_LANE_xor_rotl_b32 : LW_LANE_add_rotl_b32, a, b, op->b);
    return true;
}

/* rotate ^ rotate ^ (rotate or right shift), all of one value: the sigma functions of hashes. */
static bool fuse_sigma(lw_fuser *f, lw_op *op, uint32_t at) {
    if (op->code != LW_OP_lop3 + 0x96) return false;
    uint32_t inputs[3] = {op->a, op->b, op->c}, amounts[3], x = LW_NO_SLOT, shifts = 0, rotates = 0;
    lw_op *sources[3];
    for (int k = 0; k < 3; k++) {
        uint32_t y, n;
        sources[k] = producer(f, inputs[k], at);
        if (is_shift(f, sources[k], LW_LANE_rotl_b32, &y, &n)) amounts[rotates++] = n;
        else if (is_right_shift(f, sources[k], &y, &n) && !shifts++) amounts[2] = n;
        else return false;
        if (x != LW_NO_SLOT && x != y) return false;
        x = y;
    }
    for (int k = 0; k < 3; k++) {
        f->l->vregs.at[sources[k]->a].uses--, f->l->vregs.at[sources[k]->b].uses--;
        absorb(f, sources[k]);
    }
    f->l->vregs.at[x].uses++;
    set_lane(op, shifts ? LW_LANE_xor_rot2_shr_b32 : LW_LANE_xor_rot3_b32, x,
             new_const(f, amounts[0] | amounts[1] << 8 | amounts[2] << 16), LW_NO_SLOT);
    return true;
}

/* ---- Sums and shifts ------------------------------------------------------------------------------------- */

typedef struct lw_sum {
    uint32_t inputs[4], count, constant;
} lw_sum;

static bool as_sum(const lw_fuser *f, const lw_op *op, lw_sum *sum) {
    lw_lane_id lane = lane_of(op);
    if (op->code != LW_OP_add4 && lane != LW_LANE_add_b32 && lane != LW_LANE_add3_b32) return false;
    const uint32_t sources[] = {op->a, op->b, op->c, op->e};
    *sum = (lw_sum){.constant = op->code == LW_OP_add4 ? (uint32_t)op->imm : 0};
    for (int k = 0; k < 4; k++) {
        uint64_t value;
        if (constant(f, sources[k], &value)) sum->constant += (uint32_t)value;
        else if (sources[k] != LW_NO_SLOT) sum->inputs[sum->count++] = sources[k];
    }
    return true;
}

static void put_sum(lw_fuser *f, lw_op *op, const lw_sum *sum) {
    uint32_t in[4] = {LW_NO_SLOT, LW_NO_SLOT, LW_NO_SLOT, LW_NO_SLOT};
    for (uint32_t k = 0; k < sum->count; k++) {
        in[k] = sum->inputs[k];
        f->l->vregs.at[in[k]].uses++;
    }
    bool has_constant = sum->constant || sum->count < 2;
    if (has_constant && sum->count < 3) in[sum->count] = new_const(f, sum->constant);
    if (sum->count + has_constant == 2) set_lane(op, LW_LANE_add_b32, in[0], in[1], LW_NO_SLOT);
    else if (sum->count + has_constant == 3) set_lane(op, LW_LANE_add3_b32, in[0], in[1], in[2]);
    else {
        op->code = LW_OP_add4;
        op->a = in[0], op->b = in[1], op->c = in[2], op->e = in[3], op->imm = sum->constant;
    }
}

/* Sums of up to four registers and a constant. */
static bool fuse_sum(lw_fuser *f, lw_op *op, uint32_t at) {
    lw_sum sum, inner;
    bool changed = false;
    if (!as_sum(f, op, &sum) || !sum.count) return false;
    for (uint32_t k = 0; k < sum.count; k++) {
        lw_op *source = producer(f, sum.inputs[k], at);
        if (!source || !as_sum(f, source, &inner) || !inner.count || sum.count - 1 + inner.count > 4) continue;
        release_sources(f, op);
        release_sources(f, source);
        f->l->vregs.at[source->d].defs--;
        take(f, source);
        sum.inputs[k] = inner.inputs[0];
        for (uint32_t j = 1; j < inner.count; j++) sum.inputs[sum.count++] = inner.inputs[j];
        sum.constant += inner.constant;
        put_sum(f, op, &sum);
        changed = true;
        k = (uint32_t)-1;
    }
    return changed;
}

/* a + (b << n): addresses of table entries. */
static bool fuse_add_shift(lw_fuser *f, lw_op *op, uint32_t at) {
    if (lane_of(op) != LW_LANE_add_b32) return false;
    for (int k = 0; k < 2; k++) {
        uint32_t other = k ? op->a : op->b, x, n;
        lw_op *source = producer(f, k ? op->b : op->a, at);
        if (!is_shift(f, source, LW_LANE_shl_b32, &x, &n)) continue;
        uint32_t amount = source->b;
        absorb(f, source);
        set_lane(op, LW_LANE_add_shl_b32, other, x, amount);
        return true;
    }
    return false;
}

/* a ^ (b << n), a ^ (b >> n): steps of generators and mixers. */
static bool fuse_xor_shift(lw_fuser *f, lw_op *op, uint32_t at) {
    if (lane_of(op) != LW_LANE_xor_b32) return false;
    for (int k = 0; k < 2; k++) {
        lw_op *source = producer(f, k ? op->b : op->a, at);
        uint32_t other = k ? op->a : op->b, x, n;
        bool left = is_shift(f, source, LW_LANE_shl_b32, &x, &n);
        if (!left && !is_right_shift(f, source, &x, &n)) continue;
        uint32_t amount = source->b;
        absorb(f, source);
        set_lane(op, left ? LW_LANE_xor_shl_b32 : LW_LANE_xor_shr_b32, other, x, amount);
        return true;
    }
    return false;
}

/* A sum that an xor and rotate reads, and others read later: both are made by one operation where the rotate stands, if
 * nobody between has looked at the sum or changed its terms. */
static bool fuse_add_xor_rotl(lw_fuser *f, lw_op *op, uint32_t at) {
    if (lane_of(op) != LW_LANE_xor_rotl_b32) return false;
    uint64_t n;
    if (!constant(f, op->c, &n)) return false;
    for (int k = 0; k < 2; k++) {
        uint32_t sum = k ? op->b : op->a, other = k ? op->a : op->b;
        uint32_t made = f->last_write[sum];
        if (f->l->vregs.at[sum].is_const || f->l->vregs.at[other].is_const || sum == other || made <= f->block_start)
            continue;
        lw_op *add = &f->l->code->ops[made - 1];
        if (lane_of(add) != LW_LANE_add_b32 || add->d != sum || f->l->vregs.at[add->a].is_const ||
            f->l->vregs.at[add->b].is_const)
            continue;
        if (f->last_read[sum] > made || f->last_write[add->a] >= made || f->last_write[add->b] >= made || op->d == sum)
            continue;
        f->l->vregs.at[sum].uses--;
        f->l->vregs.at[op->c].uses--;
        uint32_t a = add->a, b = add->b;
        take(f, add);
        *op = (lw_op){.code = LW_OP_add_xor_rotl, .d = sum, .a = a, .b = b, .c = other, .e = op->d, .imm = n};
        (void)at;
        return true;
    }
    return false;
}

/* ---- Loops ------------------------------------------------------------------------------------------------- */

/* A sum with a constant that a comparison reads, as loops end: both at once, where the comparison stands, if nobody
 * between has looked at the sum or changed its term. */
static bool fuse_add_setp(lw_fuser *f, lw_op *op, uint32_t at) {
    (void)at;
    lw_lane_id lane = lane_of(op);
    uint64_t more;
    switch (lane) {
#define COMPARES(name, T, how) case LW_LANE_setp_##name:
        LW_ADD_SETP(COMPARES) break;
#undef COMPARES
    default: return false;
    }
    uint32_t sum = op->a, made = f->last_write[sum];
    if (f->l->vregs.at[sum].is_const || sum == op->b || made <= f->block_start) return false;
    lw_op *add = &f->l->code->ops[made - 1];
    if (lane_of(add) != LW_LANE_add_b32 || add->d != sum || !constant(f, add->b, &more) ||
        f->l->vregs.at[add->a].is_const)
        return false;
    if (f->last_read[sum] > made || f->last_write[add->a] > made) return false;
    f->l->vregs.at[sum].uses--;
    f->l->vregs.at[add->b].uses--;
    uint32_t a = add->a;
    take(f, add);
    *op = (lw_op){.code = LW_OP_add_setp, .d = sum, .e = op->d, .a = a, .b = op->b, .c = lane, .imm = (uint32_t)more};
    return true;
}

typedef bool lw_fuse_step(lw_fuser *f, lw_op *op, uint32_t at);

static bool fuse_rotates(lw_fuser *f, lw_op *op, uint32_t at) {
    return funnel_to_rotate(f, op) || shifts_to_rotate(f, op, at);
}

/* One walk over all operations outside of guards, trying the steps on each. reads: they ask when a register was read
 * last. */
static void walk(lw_fuser *f, lw_fuse_step *const *steps, uint32_t count, bool reads) {
    lw_link *l = f->l;
    uint32_t guarded = 0;
    f->block_start = 0;
    memset(f->last_write, 0, l->vregs.count * sizeof *f->last_write);
    if (reads) memset(f->last_read, 0, l->vregs.count * sizeof *f->last_read);
    for (uint32_t n = 0; n < l->code->op_count; n++) {
        lw_op *op = &l->code->ops[n];
        if (op->code == LW_OP_dead) continue;
        f->at = n;
        if (op->code == LW_OP_block || op->code == LW_OP_guard)
            f->block_start = n + 1; /* nothing crosses a guard's edge */
        if (op->code == LW_OP_guard) guarded = n + (uint32_t)op->imm + 1;
        if (n == guarded) f->block_start = n;
        for (uint32_t k = 0; k < count && n >= guarded && (op->code >= LW_OP_lop3 || op->code == LW_OP_add4); k++)
            steps[k](f, op, n);
        if (reads) LW_EACH_READ(l->code, op, at) f->last_read[*at] = n + 1;
        LW_EACH_WRITTEN(l->code, op, at) f->last_write[*at] = n + 1;
    }
}

/* ---- The interpreter's 80 tables of lop3 ------------------------------------------------------------------ */

static void exchange(uint32_t *a, uint32_t *b) {
    const uint32_t kept = *a;
    *a = *b, *b = kept;
}

/* Orders the operands of a lop3 so that its table is the smallest of up to six: only these have steps (LW_FOR_LUTS). To
 * exchange the first two and the last two in turns leads through all orders. */
static void sort_operands(lw_op *op) {
    uint32_t a = op->a, b = op->b, c = op->c, lut = op->code - LW_OP_lop3, least = lut;
    for (uint32_t k = 0; k < 5; k++) {
        if (k % 2) exchange(&b, &c), lut = (lut & 0x99) | (lut & 0x22) << 1 | (lut & 0x44) >> 1;
        else exchange(&a, &b), lut = (lut & 0xc3) | (lut & 0x0c) << 2 | (lut & 0x30) >> 2;
        if (lut < least) least = lut, op->a = a, op->b = b, op->c = c;
    }
    op->code = (uint16_t)(LW_OP_lop3 + least);
}

void lw_link_fuse(lw_link *l) {
    /* Whole trees of logic come first, so that a shift taken into an xor does not hide one. */
    static lw_fuse_step *const trees[] = {fuse_rotates, fuse_logic, fuse_sigma},
                               *const pairs[] = {fuse_sum, fuse_add_shift, fuse_xor_shift, fuse_rotate},
                               *const wholes[] = {fuse_add_xor_rotl, fuse_add_setp};
    lw_fuser f = {.l = l};
    uint32_t room = l->vregs.count + 4 * l->code->op_count + 1; /* constants are added on the way */
    f.last_write = LW_NEW_ARRAY(l->arena, uint32_t, room);
    f.last_read = LW_NEW_ARRAY(l->arena, uint32_t, room);
    walk(&f, trees, LW_COUNT(trees), false);
    walk(&f, pairs, LW_COUNT(pairs), false);
    walk(&f, wholes, LW_COUNT(wholes), true);
    for (uint32_t n = 0; n < l->code->op_count; n++)
        if (l->code->ops[n].code >= LW_OP_lop3 && l->code->ops[n].code < LW_OP_lane) sort_operands(&l->code->ops[n]);
}
