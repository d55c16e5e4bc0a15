/* generate.c: random kernels: what all of them have in common, and the choice of what they do. */
#include "generate.h"

#include <stdio.h>

/* ---- Chance ---------------------------------------------------------------------------------------------------- */

uint64_t gen_word(gen *g) {
    uint64_t z = g->state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}
uint32_t gen_below(gen *g, uint32_t n) { return (uint32_t)(gen_word(g) >> 16) % n; }
bool gen_chance(gen *g, uint32_t percent) { return gen_below(g, 100) < percent; }

/* ---- Text ------------------------------------------------------------------------------------------------------ */

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

/* ---- Work of each thread by itself ----------------------------------------------------------------------------- */

/* A loop with as many rounds as the lane has it. */
static void uneven_loop(gen *g) {
    uint32_t top = gen_label(g), n = g->depth, r = gen_below(g, GEN_R), mask = gen_chance(g, 50) ? 3 : 7;
    gen_put(g, "and.b32 %%n%u, %s, %u;", n, gen_chance(g, 50) ? "%lane" : "%r0", mask);
    gen_put(g, "L%u:", top);
    gen_put(g, "mad.lo.u32 %%r%u, %%r%u, 5, %%n%u;", r, r, n);
    gen_put(g, "sub.u32 %%n%u, %%n%u, 1;", n, n);
    gen_put(g, "setp.ge.s32 %%x1, %%n%u, 0;", n);
    gen_put(g, "@%%x1 bra L%u;", top);
}

void gen_noise(gen *g, uint32_t most) {
    for (uint32_t k = gen_below(g, most + 1); k; k--) gen_plain(g);
    if (gen_chance(g, 15)) uneven_loop(g);
}

/* ---- Statements ------------------------------------------------------------------------------------------------ */

static void exchange(gen *g) {
    if (!g->lanes_known || g->in_function) return;
    bool all = (g->live | g->gone) == UINT32_MAX;
    if (g->version < 64 && g->target < 70 && all && gen_chance(g, 60)) gen_old_exchange(g);
    else gen_episode(g);
}

static void statement(gen *g) {
    static const struct {
        void (*make)(gen *);
        uint32_t weight;
    } choices[] = {{gen_plain, 52}, {gen_memory, 12}, {gen_parameter, 3}, {gen_atomic, 4},  {gen_address, 2},
                   {gen_stack, 1},  {gen_hint, 3},    {exchange, 5},      {gen_barrier, 4}, {gen_branch, 7},
                   {gen_loop, 4},   {gen_table, 2},   {gen_call, 5},      {gen_leave, 1}};
    uint32_t sum = 0, n;
    for (size_t k = 0; k < LW_COUNT(choices); k++) sum += choices[k].weight;
    n = gen_below(g, sum);
    for (size_t k = 0; k < LW_COUNT(choices); k++) {
        if (n < choices[k].weight) {
            choices[k].make(g);
            return;
        }
        n -= choices[k].weight;
    }
}

void gen_some(gen *g, uint32_t most) {
    for (uint32_t n = 1 + gen_below(g, most); n && g->left; n--) {
        g->left--;
        statement(g);
    }
}

/* ---- The kernel ------------------------------------------------------------------------------------------------ */

void gen_begin(gen *g);

static void first_values(gen *g) {
    for (uint32_t k = 0; k < GEN_R; k++) {
        uint32_t how = gen_below(g, 4), times = gen_below(g, 64), plus = gen_below(g, 1000),
                 word = (uint32_t)gen_word(g) | 1;
        if (how == 0) gen_put(g, "mad.lo.u32 %%r%u, %%number, %u, %u;", k, times, plus);
        else if (how == 1) gen_put(g, "mul.lo.u32 %%r%u, %%number, 0x%x;", k, word);
        else if (how == 2 && g->in_function) gen_put(g, "mov.u32 %%r%u, %u;", k, plus); /* a constant, for folding */
        else gen_put(g, "ld.global.u32 %%r%u, [%%in+%u];", k, 8 * gen_below(g, GEN_IN_WORDS));
    }
    for (uint32_t k = 0; k < GEN_D; k++) {
        if (gen_chance(g, 40)) gen_put(g, "mul.wide.u32 %%d%u, %%r%u, 0x%x;", k, k, (uint32_t)gen_word(g));
        else gen_put(g, "ld.global.u64 %%d%u, [%%in+%u];", k, 8 * gen_below(g, GEN_IN_WORDS));
    }
    for (uint32_t k = 0; k < GEN_H; k++) {
        if (gen_chance(g, 50)) gen_put(g, "cvt.u16.u32 %%h%u, %%r%u;", k, k);
        else gen_put(g, "ld.global.u16 %%h%u, [%%in+%u];", k, 8 * gen_below(g, GEN_IN_WORDS));
    }
    for (uint32_t k = 0; k < GEN_P; k++)
        gen_put(g, "setp.%s.u32 %%p%u, %%r%u, 0x%x;", k % 2 ? "lt" : "ge", k, k,
                k % 3 ? (uint32_t)gen_word(g) : gen_below(g, 100));
    for (uint32_t k = 0; k < GEN_Q && g->version >= 83 && g->target >= 70; k++)
        gen_put(g, "mov.b128 %%q%u, {%%d%u, %%d%u};", k, k, k + 1);
    gen_put(g, "mov.b32 %%v.x, 1; mov.b32 %%v.y, %%r0; mov.b32 %%v.z, %%number; mov.b32 %%v.w, 7;");
}

void gen_begin(gen *g) {
    gen_put(g, ".reg .b16 %%h<%u>; .reg .b32 %%r<%u>; .reg .b64 %%d<%u>; .reg .pred %%p<%u>;", GEN_H, GEN_R, GEN_D,
            GEN_P);
    if (g->version >= 83 && g->target >= 70) gen_put(g, ".reg .b128 %%q<%u>;", GEN_Q);
    gen_put(g, ".reg .v4 .b32 %%v; .reg .pred %%x1, %%x2, %%c<%u>, %%never;", GEN_DEPTH_MAX + 8);
    gen_put(g, ".reg .b32 %%n<%u>, %%t, %%m, %%b, %%lane, %%thread, %%number, %%room, %%uniform, %%count;",
            GEN_DEPTH_MAX + 8);
    gen_put(g, ".reg .b64 %%in, %%out, %%sum, %%w, %%gshared, %%glocal, %%policy;");
    gen_put(g, ".local .align 64 .b8 mine[128];");
    gen_put(g, "mov.u32 %%lane, %%laneid; mov.u32 %%thread, %%tid.x; mov.u32 %%t, %%tid.y; mov.u32 %%m, %%ntid.x; "
               "mad.lo.u32 %%thread, %%t, %%m, %%thread;");
    gen_put(g, "mov.u32 %%uniform, %%ctaid.x; mad.lo.u32 %%number, %%uniform, %u, %%thread;", g->threads);
    gen_put(g, "setp.eq.u32 %%never, %%number, 0xfffffff; add.cc.u32 %%t, %%number, 0; mov.u32 %%m, room; mad.lo.u32 "
               "%%room, %%thread, 64, %%m;");
    gen_put(g, "cvt.u64.u32 %%w, %%room; cvta.shared.u64 %%gshared, %%w; mov.u64 %%w, mine; cvta.local.u64 %%glocal, "
               "%%w; mov.u64 %%policy, 0; "
               "mov.u32 %%count, 0;");
    if (g->in_function)
        gen_put(g, "mov.u64 %%in, words; cvta.global.u64 %%in, %%in; mov.u64 %%out, 0; mov.u64 %%sum, 0;");
    else {
        gen_put(g, "ld.param.u64 %%in, [in]; ld.param.u64 %%out, [out]; ld.param.u64 %%sum, [sum];");
        gen_put(g, "mad.wide.u32 %%out, %%number, %u, %%out;", GEN_OUT_BYTES);
    }
    first_values(g);
    for (uint32_t k = 0; k < 4; k++)
        gen_put(g, "st.local.v2.b64 [mine+%u], {%%d0, %%d%u};", 32 * k, k); /* the rest is zero */
    if (!g->options->calm || g->options->warps) return;
    for (uint32_t k = 0; k < 4; k++)
        gen_put(g, "st.local.v2.b64 [mine+%u], {%%d1, %%d%u};", 32 * k + 16, k); /* not so on a GPU */
    for (uint32_t k = 0; k < 4 && !g->in_function; k++)
        gen_put(g, "st.shared.v2.b64 [%%room+%u], {%%d1, %%d%u};", 16 * k, k);
}

static void finish(gen *g) {
    uint32_t at = 0;
    for (uint32_t k = 0; k < GEN_R; k++, at += 8) gen_put(g, "st.global.u32 [%%out+%u], %%r%u;", at, k);
    for (uint32_t k = 0; k < GEN_D; k++, at += 8) gen_put(g, "st.global.u64 [%%out+%u], %%d%u;", at, k);
    for (uint32_t k = 0; k < GEN_H; k++, at += 8) gen_put(g, "st.global.u16 [%%out+%u], %%h%u;", at, k);
    for (uint32_t k = 0; k < GEN_P; k++, at += 8)
        gen_put(g, "selp.b32 %%t, 1, 2, %%p%u; st.global.u32 [%%out+%u], %%t;", k, at);
    at = (at + 15) / 16 * 16;
    for (uint32_t k = 0; k < GEN_Q && g->version >= 83 && g->target >= 70; k++, at += 16)
        gen_put(g, "mov.b128 {%%d0, %%d1}, %%q%u; st.global.v2.u64 [%%out+%u], {%%d0, %%d1};", k, at);
    gen_put(g,
            "add.u32 %%t, %%v.x, %%v.y; xor.b32 %%t, %%t, %%v.z; st.global.u32 [%%out+%u], %%t; st.global.u32 "
            "[%%out+%u], %%v.w;",
            at, at + 4);
    gen_put(g,
            "ld.local.u64 %%d0, [mine+72]; ld.shared.u64 %%d1, [%%room+8]; xor.b64 %%d0, %%d0, %%d1; st.global.u64 "
            "[%%out+%u], %%d0;",
            at + 8);
    gen_put(g, "ret;");
}

/* What threads that leave early had is seen, too. */
static void save(gen *g, uint32_t at) {
    uint32_t a = gen_below(g, GEN_R), b = gen_below(g, GEN_R);
    gen_put(g, "xor.b32 %%t, %%r%u, %%r%u;", a, b);
    gen_put(g, "st.global.u32 [%%out+%u], %%t;", 272 + 4 * at);
}

static void choose_shape(gen *g) {
    static const uint32_t blocks[] = {32, 32, 64, 64, 96, 128, 160, 1, 7, 31, 33, 48, 100, 192, 256};
    uint32_t n = blocks[gen_below(g, LW_COUNT(blocks))];
    for (uint32_t k = 0; k < 3; k++) g->kernel->grid[k] = g->kernel->block[k] = 1;
    g->kernel->grid[0] = gen_chance(g, 60) ? 1 : 1 + gen_below(g, 4);
    g->kernel->block[0] = n;
    if (n % 2 == 0 && gen_chance(g, 25)) g->kernel->block[0] = n / 2, g->kernel->block[1] = 2;
    g->threads = n;
}

static void choose_target(gen *g) {
    static const struct {
        uint32_t version, target;
        char suffix;
    } targets[] = {{90, 90, 0}, {90, 90, 0}, {80, 90, 0}, {90, 90, 'a'}, {90, 100, 'a'}, {63, 60, 0}, {78, 80, 0}};
    uint32_t k = g->options->warps || g->options->tiny ? 0 : gen_below(g, LW_COUNT(targets));
    g->version = targets[k].version, g->target = targets[k].target, g->suffix = targets[k].suffix;
}

/* The parameters behind the addresses, one of each type, laid out as the manual says: each at a multiple of its
 * size. */
static void put_parameters(gen *g, lw_text *text) {
    static const struct {
        const char *type;
        uint32_t bytes;
    } types[] = {{"u8", 1},  {"s8", 1},  {"u16", 2}, {"s16", 2}, {"u32", 4}, {"s32", 4},
                 {"u64", 8}, {"s64", 8}, {"f32", 4}, {"f64", 8}, {"b32", 4}};
    uint32_t at = 24;
    for (size_t k = 0; k < LW_COUNT(types); k++) {
        at = (at + types[k].bytes - 1) / types[k].bytes * types[k].bytes;
        lw_text_printf(text, ", .param .%s p_%s", types[k].type, types[k].type);
        uint64_t value = gen_word(g);
        memcpy(g->kernel->params + at, &value, types[k].bytes);
        at += types[k].bytes;
    }
    g->kernel->param_bytes = at;
}

static void body(gen *g) {
    gen_begin(g);
    for (uint32_t k = 0; k < 4 && g->options->tiny; k++) gen_plain(g);
    if (g->options->tiny) {
        finish(g);
        return;
    }
    uint32_t parts = 1 + gen_below(g, g->small ? 2 : 4),
             trap = g->options->traps && gen_chance(g, 25) ? 1 + gen_below(g, parts) : 0;
    for (uint32_t k = 0; k < parts; k++) {
        if (g->options->warps) gen_noise(g, 4), gen_episode(g);
        else {
            g->left = g->small ? 3 + gen_below(g, 6) : 4 + gen_below(g, 25);
            while (g->left) gen_some(g, 8);
        }
        save(g, k);
        if (gen_chance(g, 10)) gen_leave(g);
        if (trap == k + 1) gen_trap(g);
    }
    finish(g);
}

void gen_make(gen_tables *tables, gen_kernel *kernel, uint64_t seed, const gen_options *options) {
    gen g = {.state = seed * 0x2545f4914f6cdd1du + 99,
             .tables = tables,
             .options = options,
             .kernel = kernel,
             .live = UINT32_MAX,
             .lanes_known = true,
             .cta_whole = true,
             .small = seed % 5 == 0};
    gen_word(&g);
    choose_shape(&g);
    choose_target(&g);
    lw_text_printf(&kernel->text, ".version %u.%u\n.target sm_%u", g.version / 10, g.version % 10, g.target);
    if (g.suffix) lw_text_add(&kernel->text, &g.suffix, 1);
    lw_text_puts(&kernel->text, "\n.address_size 64\n");
    gen_variables(&kernel->text, &g);
    if (!options->warps && !options->tiny) gen_functions(&g);
    body(&g);
    lw_text_add(&kernel->text, g.functions.at ? g.functions.at : "", g.functions.size);
    lw_text_puts(&kernel->text, ".visible .entry k(.param .u64 in, .param .u64 out, .param .u64 sum");
    put_parameters(&g, &kernel->text);
    lw_text_printf(&kernel->text, ")\n.maxntid %u\n{\n", g.threads);
    lw_text_add(&kernel->text, g.body.at, g.body.size);
    lw_text_puts(&kernel->text, "}\n");
    lw_text_free(&g.body);
    lw_text_free(&g.functions);
}
