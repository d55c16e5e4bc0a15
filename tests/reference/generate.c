/* generate.c: random kernels: what all of them have in common, and the choice of what they do. */
#include "generate.h"

#include <stdio.h>

/* ---- Chance ------------------------------------------------------------------------------------------------------ */

uint64_t gen_word(gen *g) {
    uint64_t z = g->state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}
uint32_t gen_below(gen *g, uint32_t n) { return (uint32_t)(gen_word(g) >> 16) % n; }
bool gen_chance(gen *g, uint32_t percent) { return gen_below(g, 100) < percent; }

/* ---- Text ---------------------------------------------------------------------------------------------------------- */

void gen_put(gen *g, const char *format, ...) {
    for (uint32_t k = 0; k <= g->depth; k++) lw_text_puts(&g->body, "  ");
    va_list args;
    va_start(args, format);
    lw_text_vprintf(&g->body, format, args);
    va_end(args);
    lw_text_puts(&g->body, "\n");
}

uint32_t gen_label(gen *g) { return ++g->labels; }

void gen_split(gen *g, uint32_t lanes, const char *predicate) {
    gen_put(g, "mov.b32 %%t, 0x%x;", lanes);
    gen_put(g, "shr.u32 %%t, %%t, %%lane;");
    gen_put(g, "and.b32 %%t, %%t, 1;");
    gen_put(g, "setp.ne.u32 %s, %%t, 0;", predicate);
}

/* ---- Work of each thread by itself ------------------------------------------------------------------------------------ */

static void plain(gen *g) {
    static const char *const two[] = {"add.u32", "sub.s32", "mul.lo.s32", "xor.b32", "and.b32", "or.b32", "min.s32", "max.u32", "mul.hi.u32"};
    static const char *const three[] = {"mad.lo.u32", "shf.l.wrap.b32", "prmt.b32", "sad.u32", "bfi.b32 "};
    uint32_t d = gen_below(g, 8), a = gen_below(g, 8), b = gen_below(g, 8), c = gen_below(g, 8);
    if (gen_chance(g, 60)) gen_put(g, "%s %%r%u, %%r%u, %%r%u;", two[gen_below(g, LW_COUNT(two))], d, a, b);
    else if (gen_chance(g, 50)) gen_put(g, "%s %%r%u, %%r%u, %%r%u, %%r%u;", three[gen_below(g, 4)], d, a, b, c);
    else gen_put(g, "mad.lo.u32 %%r%u, %%r%u, %u, %%lane;", d, a, gen_below(g, 1000));
}

/* A loop with as many rounds as the lane has it. */
static void uneven_loop(gen *g) {
    uint32_t top = gen_label(g), n = g->depth, r = gen_below(g, 8);
    gen_put(g, "and.b32 %%n%u, %s, %u;", n, gen_chance(g, 50) ? "%lane" : "%r0", gen_chance(g, 50) ? 3 : 7);
    gen_put(g, "L%u:", top);
    gen_put(g, "mad.lo.u32 %%r%u, %%r%u, 5, %%n%u;", r, r, n);
    gen_put(g, "sub.u32 %%n%u, %%n%u, 1;", n, n);
    gen_put(g, "setp.ge.s32 %%p1, %%n%u, 0;", n);
    gen_put(g, "@%%p1 bra L%u;", top);
}

void gen_noise(gen *g, uint32_t most) {
    for (uint32_t k = gen_below(g, most + 1); k; k--) plain(g);
    if (gen_chance(g, 15)) uneven_loop(g);
}

/* ---- The kernel --------------------------------------------------------------------------------------------------------- */

static void some_exit(gen *g) {
    uint32_t lanes = gen_some_lanes(g, g->live);
    if (lanes == g->live || (g->live & ~lanes) == 0) return;
    gen_split(g, lanes, "%p1");
    gen_put(g, "@%%p1 %s;", gen_chance(g, 50) ? "exit" : "ret");
    g->live &= ~lanes;
}

static void begin(gen *g) {
    gen_put(g, ".reg .b32 %%r<8>, %%n<12>, %%t, %%m, %%b, %%lane, %%thread, %%number;");
    gen_put(g, ".reg .b64 %%d<8>, %%in, %%out, %%sum, %%w;");
    gen_put(g, ".reg .pred %%p<8>, %%c<12>;");
    gen_put(g, "mov.u32 %%lane, %%laneid; mov.u32 %%thread, %%tid.x; mov.u32 %%t, %%tid.y; mov.u32 %%m, %%ntid.x; mad.lo.u32 %%thread, %%t, %%m, %%thread;");
    gen_put(g, "mov.u32 %%t, %%ctaid.x; mad.lo.u32 %%number, %%t, %u, %%thread;", g->threads);
    gen_put(g, "ld.param.u64 %%in, [in]; ld.param.u64 %%out, [out]; ld.param.u64 %%sum, [sum];");
    gen_put(g, "mad.wide.u32 %%out, %%number, %u, %%out;", GEN_OUT_BYTES);
    for (uint32_t k = 0; k < 8; k++) {
        uint32_t times = gen_below(g, 64), plus = gen_below(g, 1000);
        if (gen_chance(g, 40)) gen_put(g, "mad.lo.u32 %%r%u, %%number, %u, %u;", k, times, plus);
        else if (gen_chance(g, 50)) gen_put(g, "mul.lo.u32 %%r%u, %%number, 0x%x;", k, (uint32_t)gen_word(g) | 1);
        else gen_put(g, "ld.global.u32 %%r%u, [%%in+%u];", k, 8 * gen_below(g, GEN_IN_WORDS));
    }
}

static void finish(gen *g) {
    for (uint32_t k = 0; k < 8; k++) gen_put(g, "st.global.u32 [%%out+%u], %%r%u;", 4 * k, k);
    gen_put(g, "ret;");
}

/* What the threads that leave early had is seen, too. */
static void save(gen *g, uint32_t at) {
    uint32_t a = gen_below(g, 8), b = gen_below(g, 8);
    gen_put(g, "xor.b32 %%t, %%r%u, %%r%u;", a, b);
    gen_put(g, "st.global.u32 [%%out+%u], %%t;", 64 + 4 * at);
}

static void choose_shape(gen *g) {
    static const uint32_t blocks[] = {32, 32, 64, 64, 96, 128, 160, 1, 7, 31, 33, 48, 100};
    uint32_t n = blocks[gen_below(g, LW_COUNT(blocks))];
    for (uint32_t k = 0; k < 3; k++) g->kernel->grid[k] = g->kernel->block[k] = 1;
    g->kernel->grid[0] = gen_chance(g, 60) ? 1 : 1 + gen_below(g, 4);
    g->kernel->block[0] = n;
    if (n % 2 == 0 && gen_chance(g, 25)) g->kernel->block[0] = n / 2, g->kernel->block[1] = 2;
    g->threads = n;
}

void gen_make(gen_kernel *kernel, uint64_t seed, const gen_options *options) {
    gen g = {.state = seed * 0x2545f4914f6cdd1du + 99, .options = options, .kernel = kernel, .live = UINT32_MAX};
    gen_word(&g);
    choose_shape(&g);
    begin(&g);
    uint32_t episodes = 1 + gen_below(&g, 4);
    for (uint32_t k = 0; k < episodes; k++) {
        gen_noise(&g, 4);
        gen_episode(&g);
        save(&g, k);
        if (gen_chance(&g, 15)) some_exit(&g);
    }
    finish(&g);
    lw_text_puts(&kernel->text, ".version 8.0\n.target sm_90\n.address_size 64\n");
    lw_text_add(&kernel->text, g.functions.at ? g.functions.at : "", g.functions.size);
    lw_text_puts(&kernel->text, ".visible .entry k(.param .u64 in, .param .u64 out, .param .u64 sum)\n{\n");
    lw_text_add(&kernel->text, g.body.at, g.body.size);
    lw_text_puts(&kernel->text, "}\n");
    kernel->param_bytes = 24;
    lw_text_free(&g.body);
    lw_text_free(&g.functions);
}
