/* generate_warp.c: exchanges between lanes of a warp, which come there by different ways.
 *
 * A mask S and a plan, a list of instructions by kind, are chosen first. Then text is made in which every lane of S
 * executes the plan: parts of S go different ways (branches, functions, loops of unlike shape), and each way has its
 * own instructions of those kinds. Between them a part may have a plan of its own, with its own mask. */
#include "generate.h"

#include <stdio.h>

typedef enum mode { IDX, UP, DOWN, BFLY } mode;
typedef enum shape { SHUFFLE, VOTE, BALLOT, MATCH, MATCH64, MATCH_ALL, REDUX, WARP_BARRIER, ELECT } shape;

static const struct kind {
    const char *name;
    shape shape;
    mode mode;
} kinds[] = {
    {"shfl.sync.idx.b32", SHUFFLE, IDX},   {"shfl.sync.up.b32", SHUFFLE, UP},
    {"shfl.sync.down.b32", SHUFFLE, DOWN}, {"shfl.sync.bfly.b32", SHUFFLE, BFLY},
    {"vote.sync.all.pred", VOTE, 0},       {"vote.sync.any.pred", VOTE, 0},
    {"vote.sync.uni.pred", VOTE, 0},       {"vote.sync.ballot.b32", BALLOT, 0},
    {"match.any.sync.b32", MATCH, 0},      {"match.any.sync.b64", MATCH64, 0},
    {"match.all.sync.b32", MATCH_ALL, 0},  {"redux.sync.add.u32", REDUX, 0},
    {"redux.sync.add.s32", REDUX, 0},      {"redux.sync.min.u32", REDUX, 0},
    {"redux.sync.max.s32", REDUX, 0},      {"redux.sync.max.u32", REDUX, 0},
    {"redux.sync.min.s32", REDUX, 0},      {"redux.sync.and.b32", REDUX, 0},
    {"redux.sync.or.b32", REDUX, 0},       {"redux.sync.xor.b32", REDUX, 0},
    {"bar.warp.sync", WARP_BARRIER, 0},    {"elect.sync", ELECT, 0},
    {"redux.sync.min.f32", REDUX, 0},      {"redux.sync.max.abs.f32", REDUX, 0},
    {"redux.sync.max.NaN.f32", REDUX, 0},  {"redux.sync.min.abs.NaN.f32", REDUX, 0},
};
enum { NEWEST = 4, OF_SM_90 = LW_COUNT(kinds) - NEWEST }; /* the last ones need sm_100a */

/* ---- Masks ----------------------------------------------------------------------------------------------------- */

uint32_t gen_some_lanes(gen *g, uint32_t among) {
    static const uint32_t masks[] = {0x0000ffff, 0xffff0000, 0x000000ff, 0x00ffff00, 0xff00ff00, 0x55555555, 0xaaaaaaaa,
                                     0x33333333, 0x0f0f0f0f, 0xf0f0f0f0, 0xff000000, 1,          0x80000001};
    for (uint32_t k = 0; k < 8; k++) {
        uint32_t mask = gen_chance(g, 70)   ? masks[gen_below(g, LW_COUNT(masks))]
                        : gen_chance(g, 50) ? (uint32_t)gen_word(g)
                                            : (uint32_t)1 << gen_below(g, 32);
        if (mask & among) return mask & among;
    }
    return among;
}

/* ---- Shuffles that read lanes which execute them --------------------------------------------------------------- */

/* Lanes of the warps that there are: whole ones, and the last. */
static uint32_t last_warp(const gen *g) { return g->threads % 32 ? ((uint32_t)1 << g->threads % 32) - 1 : UINT32_MAX; }

static bool reads_within(mode mode, uint32_t lane, uint32_t b, uint32_t c, uint32_t mask) {
    uint32_t segment = c >> 8 & 31, clamp = c & 31;
    int most = (int)((lane & segment) | (clamp & ~segment)), j;
    b &= 31;
    if (mode == UP) j = (int)lane - (int)b;
    else if (mode == DOWN) j = (int)(lane + b);
    else if (mode == BFLY) j = (int)(lane ^ b);
    else j = (int)((lane & segment) | (b & ~segment));
    bool p = mode == UP ? j >= most : j <= most;
    return !p || (j >= 0 && j < 32 && mask >> j & 1);
}

typedef struct choice { /* b of a lane: (lane * times + plus) & 31 */
    uint32_t times, plus, c;
} choice;

static bool is_good(const gen *g, mode mode, choice x, uint32_t lanes, uint32_t mask) {
    uint32_t warps[2] = {g->threads >= 32 ? UINT32_MAX : 0, last_warp(g)};
    for (uint32_t w = 0; w < 2; w++)
        for (uint32_t lane = 0; lane < 32; lane++) {
            if (!(lanes & warps[w] & g->live) || !((lanes & warps[w] & g->live) >> lane & 1)) continue;
            if (!reads_within(mode, lane, lane * x.times + x.plus, x.c, mask & warps[w] & g->live)) return false;
        }
    return true;
}

/* For the lanes that execute it here, among those of the mask. */
static choice choose(gen *g, mode mode, uint32_t lanes, uint32_t mask) {
    static const uint32_t ends[] = {31, 0x1f, 0x1c1f, 0x181f, 0x101f, 0x1e1f, 0x0f, 0x0807};
    for (uint32_t k = 0; k < 40; k++) {
        uint32_t c = mode == UP          ? gen_below(g, 3) * 0x800
                     : gen_chance(g, 80) ? ends[gen_below(g, LW_COUNT(ends))]
                                         : (uint32_t)gen_word(g) & 0x1f1f;
        uint32_t times = gen_chance(g, 70) ? 0 : gen_below(g, 32),
                 plus = gen_chance(g, 60) ? (uint32_t)1 << gen_below(g, 5) : gen_below(g, 32);
        choice x = {times, plus, c};
        if (is_good(g, mode, x, lanes, mask)) return x;
    }
    return mode == IDX ? (choice){1, 0, 31} : (choice){0, 0, mode == UP ? 0 : 31}; /* its own lane */
}

/* ---- One instruction ------------------------------------------------------------------------------------------- */

static void need_function(gen *g, uint32_t kind) {
    if (g->called >> kind & 1) return;
    g->called |= (uint64_t)1 << kind;
    lw_text *f = &g->functions;
    const char *name = kinds[kind].name;
    lw_text_printf(f, ".func (.param .b32 r) w%u(.param .b32 v, .param .b32 b, .param .b32 c, .param .b32 m)\n{\n",
                   kind);
    lw_text_puts(f, "  .reg .b32 %v, %b, %c, %m, %r, %s; .reg .b64 %w; .reg .pred %p;\n  ld.param.b32 %v, [v]; "
                    "ld.param.b32 %b, [b]; ld.param.b32 "
                    "%c, [c]; ld.param.b32 %m, [m];\n");
    switch (kinds[kind].shape) {
    case SHUFFLE:
        lw_text_printf(f, "  %s %%r|%%p, %%v, %%b, %%c, %%m;\n  selp.b32 %%s, 77, 5, %%p;\n  add.u32 %%r, %%r, %%s;\n",
                       name);
        break;
    case VOTE:
        lw_text_printf(f, "  setp.lt.s32 %%p, %%v, %%b;\n  %s %%p, %%p, %%m;\n  selp.b32 %%r, %%v, %%b, %%p;\n", name);
        break;
    case BALLOT: lw_text_printf(f, "  setp.lt.s32 %%p, %%v, %%b;\n  %s %%r, !%%p, %%m;\n", name); break;
    case MATCH: lw_text_printf(f, "  and.b32 %%v, %%v, 3;\n  %s %%r, %%v, %%m;\n", name); break;
    case MATCH64:
        lw_text_printf(f, "  and.b32 %%v, %%v, 3;\n  mul.wide.u32 %%w, %%v, 0xffffffff;\n  %s %%r, %%w, %%m;\n", name);
        break;
    case MATCH_ALL:
        lw_text_printf(f, "  and.b32 %%v, %%v, 1;\n  %s %%r|%%p, %%v, %%m;\n  @%%p add.u32 %%r, %%r, 9;\n", name);
        break;
    case REDUX: lw_text_printf(f, "  %s %%r, %%v, %%m;\n", name); break;
    case WARP_BARRIER: lw_text_printf(f, "  %s %%m;\n  add.u32 %%r, %%v, 3;\n", name); break;
    case ELECT: lw_text_printf(f, "  %s %%r|%%p, %%m;\n  @%%p xor.b32 %%r, %%r, %%v;\n", name); break;
    }
    lw_text_puts(f, "  st.param.b32 [r], %r;\n  ret;\n}\n");
    lw_text_printf(
        f, ".func (.param .b32 r) z%u(.param .b32 v, .param .b32 b, .param .b32 c, .param .b32 m, .param .b32 n)\n{\n",
        kind); /* n times, by recursion */
    lw_text_puts(f, "  .reg .b32 %v, %b, %c, %m, %n; .reg .pred %p;\n  ld.param.b32 %v, [v]; ld.param.b32 %b, [b]; "
                    "ld.param.b32 %c, [c]; "
                    "ld.param.b32 %m, [m]; ld.param.b32 %n, [n];\n");
    lw_text_puts(f, "  setp.eq.u32 %p, %n, 0;\n  @%p bra OUT;\n  sub.u32 %n, %n, 1;\n");
    lw_text_printf(f,
                   "  { .param .b32 r1; .param .b32 v1; .param .b32 b1; .param .b32 c1; .param .b32 m1;\n  "
                   "st.param.b32 [v1], %%v; st.param.b32 "
                   "[b1], %%b; st.param.b32 [c1], %%c; st.param.b32 [m1], %%m;\n  call (r1), w%u, (v1, b1, c1, m1);\n  "
                   "ld.param.b32 %%v, [r1]; }\n",
                   kind);
    lw_text_printf(f,
                   "  { .param .b32 r1; .param .b32 v1; .param .b32 b1; .param .b32 c1; .param .b32 m1; .param .b32 "
                   "n1;\n  st.param.b32 [v1], %%v; "
                   "st.param.b32 [b1], %%b; st.param.b32 [c1], %%c; st.param.b32 [m1], %%m; st.param.b32 [n1], %%n;\n  "
                   "call (r1), z%u, (v1, b1, c1, "
                   "m1, n1);\n  ld.param.b32 %%v, [r1]; }\nOUT:\n  st.param.b32 [r], %%v;\n  ret;\n}\n",
                   kind);
}

static uint32_t reg(gen *g) { return gen_below(g, GEN_R); }

/* The mask as an immediate or in a register, made just here or long before. */
static const char *mask_operand(gen *g, uint32_t mask, char text[16]) {
    if (gen_chance(g, 60)) snprintf(text, 16, "0x%x", mask);
    else {
        gen_put(g, "mov.b32 %%m, 0x%x;", mask);
        snprintf(text, 16, "%%m");
    }
    return text;
}

static void put_b(gen *g, choice x) {
    if (x.times) gen_put(g, "mad.lo.u32 %%b, %%lane, %u, %u;", x.times, x.plus);
    else gen_put(g, "mov.u32 %%b, %u;", x.plus);
}

static void put_inline(gen *g, uint32_t kind, choice x, uint32_t mask) {
    char text[16];
    const char *m = mask_operand(g, mask, text), *name = kinds[kind].name;
    uint32_t d = reg(g), a = reg(g), b = reg(g);
    switch (kinds[kind].shape) {
    case SHUFFLE:
        put_b(g, x);
        if (!x.times && gen_chance(g, 50)) gen_put(g, "%s %%r%u, %%r%u, %u, %u, %s;", name, d, a, x.plus, x.c, m);
        else {
            gen_put(g, "%s %%r%u|%%x1, %%r%u, %%b, %u, %s;", name, d, a, x.c, m);
            gen_put(g, "@%%x1 add.u32 %%r%u, %%r%u, 7;", d, d);
        }
        break;
    case VOTE:
        gen_put(g, "setp.lt.s32 %%x1, %%r%u, %%r%u;", a, b);
        gen_put(g, "%s %%x1, %s%%x1, %s;", name, gen_chance(g, 30) ? "!" : "", m);
        gen_put(g, "selp.b32 %%r%u, %%r%u, %%r%u, %%x1;", d, a, b);
        break;
    case BALLOT:
        gen_put(g, "setp.ge.u32 %%x1, %%r%u, %%r%u;", a, b);
        gen_put(g, "%s %%r%u, %%x1, %s;", name, d, m);
        break;
    case MATCH: gen_put(g, "and.b32 %%t, %%r%u, 3;", a), gen_put(g, "%s %%r%u, %%t, %s;", name, d, m); break;
    case MATCH64:
        gen_put(g, "mul.wide.u32 %%d0, %%r%u, 0x40000000;", a), gen_put(g, "shr.u64 %%d0, %%d0, 60;"),
            gen_put(g, "%s %%r%u, %%d0, %s;", name, d, m);
        break;
    case MATCH_ALL:
        gen_put(g, "and.b32 %%t, %%r%u, 1;", a);
        gen_put(g, "%s %%r%u|%%x1, %%t, %s;", name, d, m);
        gen_put(g, "@!%%x1 xor.b32 %%r%u, %%r%u, 0x55;", d, d);
        break;
    case REDUX: gen_put(g, "%s %%r%u, %%r%u, %s;", name, d, a, m); break;
    case WARP_BARRIER: gen_put(g, "%s %s;", name, m); break;
    case ELECT:
        gen_put(g, "%s %s|%%x1, %s;", name, gen_chance(g, 50) ? "_" : "%t", m);
        gen_put(g, "@%%x1 mad.lo.u32 %%r%u, %%r%u, 5, 1;", d, d);
        break;
    }
}

static void put_call(gen *g, uint32_t kind, choice x, uint32_t mask, uint32_t times) {
    need_function(g, kind);
    put_b(g, x);
    gen_put(g, "{ .param .b32 r; .param .b32 v; .param .b32 b; .param .b32 c; .param .b32 m; .param .b32 n;");
    gen_put(g,
            "st.param.b32 [v], %%r%u; st.param.b32 [b], %%b; mov.b32 %%t, %u; st.param.b32 [c], %%t; mov.b32 %%m, "
            "0x%x; st.param.b32 [m], %%m;",
            reg(g), x.c, mask);
    if (times)
        gen_put(g, "mov.b32 %%t, %u; st.param.b32 [n], %%t;", times),
            gen_put(g, "call (r), z%u, (v, b, c, m, n);", kind);
    else gen_put(g, "call (r), w%u, (v, b, c, m);", kind);
    gen_put(g, "ld.param.b32 %%r%u, [r]; }", reg(g));
}

/* ---- Plans ----------------------------------------------------------------------------------------------------- */

typedef struct plan {
    uint32_t mask; /* what the instructions name */
    uint32_t count, kinds[6];
} plan;

static void section(gen *g, const plan *p, uint32_t from, uint32_t to, uint32_t lanes);

static uint32_t any_kind(gen *g) {
    for (;;) {
        uint32_t k = gen_below(g, OF_SM_90);
        if (g->target >= 100 && kinds[k].shape == REDUX && gen_chance(g, 60)) k = OF_SM_90 + gen_below(g, NEWEST);
        if (g->target >= 90 || kinds[k].shape <= BALLOT || kinds[k].shape == WARP_BARRIER)
            return k; /* the others came later */
    }
}

static plan make_plan(gen *g, uint32_t lanes) {
    plan p = {.mask = lanes, .count = 1 + gen_below(g, 4)};
    p.mask |= gen_chance(g, 30) ? (uint32_t)gen_word(g) & g->gone : 0; /* exited lanes are not waited for */
    p.kinds[0] = any_kind(g);
    for (uint32_t k = 1; k < p.count; k++) p.kinds[k] = gen_chance(g, 50) ? p.kinds[k - 1] : any_kind(g);
    return p;
}

static void step(gen *g, uint32_t kind, const plan *p, uint32_t lanes) {
    choice x = kinds[kind].shape == SHUFFLE ? choose(g, kinds[kind].mode, lanes, p->mask)
                                            : (choice){0, gen_below(g, 100), 31};
    if (g->options->places && gen_chance(g, 35)) put_call(g, kind, x, p->mask, 0);
    else put_inline(g, kind, x, p->mask);
}

/* `count` times the same kind: a loop with one or two in each round, or a recursive function. */
static void repeat(gen *g, uint32_t kind, uint32_t count, const plan *p, uint32_t lanes) {
    if (gen_chance(g, 40) && g->options->places) {
        choice x = kinds[kind].shape == SHUFFLE ? choose(g, kinds[kind].mode, lanes, p->mask)
                                                : (choice){0, gen_below(g, 100), 31};
        put_call(g, kind, x, p->mask, count);
        return;
    }
    uint32_t top = gen_label(g), each = count % 2 ? 1 : 2, n = g->depth;
    gen_put(g, "mov.u32 %%n%u, %u;", n, count / each);
    gen_put(g, "L%u:", top);
    g->depth++;
    for (uint32_t k = 0; k < each; k++) step(g, kind, p, lanes), gen_noise(g, 2);
    g->depth--;
    gen_put(g, "sub.u32 %%n%u, %%n%u, 1;", n, n);
    gen_put(g, "setp.ne.u32 %%x2, %%n%u, 0;", n);
    gen_put(g, "@%%x2 bra L%u;", top);
}

/* A part of the lanes goes one way, the rest another; all of them execute the plan's instructions from..to-1. */
static void part_ways(gen *g, const plan *p, uint32_t from, uint32_t to, uint32_t lanes) {
    uint32_t some = gen_some_lanes(g, lanes), other = gen_label(g), end = gen_label(g);
    char predicate[16];
    snprintf(predicate, sizeof predicate, "%%c%u", g->depth);
    gen_split(g, some, predicate);
    gen_put(g, "@!%s bra L%u;", predicate, other);
    g->depth++;
    section(g, p, from, to, some);
    gen_put(g, "bra%s L%u;", gen_chance(g, 20) ? ".uni" : "", end);
    gen_put(g, "L%u:", other);
    section(g, p, from, to, lanes & ~some);
    g->depth--;
    gen_put(g, "L%u:", end);
}

static void own_business(gen *g, uint32_t lanes) {
    plan own = make_plan(g, lanes);
    section(g, &own, 0, own.count, lanes);
}

static void section(gen *g, const plan *p, uint32_t from, uint32_t to, uint32_t lanes) {
    if (!lanes) return; /* no lane comes here */
    while (from < to) {
        uint32_t alike = 1, upto = from + 1 + gen_below(g, to - from);
        while (from + alike < to && p->kinds[from + alike] == p->kinds[from]) alike++;
        if (gen_chance(g, 50)) gen_noise(g, 3);
        bool whole = lanes == (p->mask & g->live);
        if (!whole && g->depth < GEN_DEPTH_MAX && gen_chance(g, 15)) own_business(g, lanes);
        if (g->options->places && g->depth < GEN_DEPTH_MAX - 1 && gen_chance(g, whole ? 60 : 35))
            part_ways(g, p, from, upto, lanes), from = upto;
        else if (alike > 1 && g->depth < GEN_DEPTH_MAX && (g->options->places || whole) && gen_chance(g, 60))
            repeat(g, p->kinds[from], alike, p, lanes), from += alike;
        else step(g, p->kinds[from], p, lanes), from++;
    }
}

void gen_episode(gen *g) {
    if (g->depth >= GEN_DEPTH_MAX) return;
    uint32_t lanes = gen_chance(g, 55) ? g->live : gen_some_lanes(g, g->live), end = gen_label(g);
    plan p = make_plan(g, lanes);
    char predicate[16];
    snprintf(predicate, sizeof predicate, "%%c%u", g->depth);
    if (lanes != g->live) {
        gen_split(g, lanes, predicate);
        gen_put(g, "@!%s bra L%u;", predicate, end);
    }
    g->depth++;
    section(g, &p, 0, p.count, lanes);
    g->depth--;
    if (lanes != g->live) gen_put(g, "L%u:", end);
}

void gen_old_exchange(gen *g) {
    uint32_t kind = gen_below(g, 8), d = reg(g), a = reg(g), b = reg(g);
    const char *name = kinds[kind].name;
    char old[32];
    snprintf(old, sizeof old, "%.4s%s", name, name + strlen("shfl.sync")); /* shfl and vote: words of four letters */
    gen_put(g, "bar.warp.sync 0x%x;", g->live | g->gone); /* lanes need not be together behind what parted them */
    if (kinds[kind].shape == SHUFFLE) {
        choice x = choose(g, kinds[kind].mode, g->live, g->live);
        put_b(g, x);
        gen_put(g, "%s %%r%u|%%x1, %%r%u, %%b, %u;", old, d, a, x.c);
        return;
    }
    gen_put(g, "setp.ge.u32 %%x1, %%r%u, %%r%u;", a, b);
    if (kinds[kind].shape == BALLOT) gen_put(g, "%s %%r%u, %%x1;", old, d);
    else gen_put(g, "%s %%x1, !%%x1;", old), gen_put(g, "selp.b32 %%r%u, %%r%u, %%r%u, %%x1;", d, a, b);
}
