/* generate_flow.c: branches, loops, tables, calls, barriers, exits. */
#include "generate.h"

#include <stdio.h>

/* ---- What is known of who is here ------------------------------------------------------------------------------ */

typedef struct known {
    bool lanes, cta;
    uint32_t live;
} known;

static known remember(const gen *g) { return (known){g->lanes_known, g->cta_whole, g->live}; }
static void restore(gen *g, known k, bool left_before) {
    bool left = g->someone_left && !left_before;
    g->lanes_known = k.lanes && !left;
    g->cta_whole = k.cta && !left;
    g->live = k.live;
}

/* ---- Branches -------------------------------------------------------------------------------------------------- */

/* Puts a predicate into text; says by it what is known behind the branch. */
static void condition(gen *g, char text[16], uint32_t *lanes) {
    uint32_t kind = gen_below(g, 10);
    *lanes = 0;
    snprintf(text, 16, "%%c%u", g->depth);
    if (kind < 3 && g->lanes_known) { /* some lanes of every warp */
        *lanes = gen_some_lanes(g, g->live);
        gen_split(g, *lanes, text);
        g->cta_whole = false;
    } else if (kind == 3) gen_put(g, "setp.ne.u32 %s, %%uniform, %u;", text, gen_below(g, 3)); /* all or none */
    else if (kind == 4) { /* whole warps */ gen_put(g, "mov.u32 %%t, %%warpid;");
        gen_put(g, "setp.lt.u32 %s, %%t, %u;", text, 1 + gen_below(g, 2));
        g->cta_whole = false;
    } else {
        snprintf(text, 16, "%%p%u", gen_below(g, GEN_P));
        g->lanes_known = g->cta_whole = false;
    }
}

void gen_branch(gen *g) {
    known k = remember(g);
    bool left = g->someone_left;
    uint32_t end = gen_label(g), other = gen_chance(g, 50) ? gen_label(g) : end, lanes;
    char p[16];
    if (g->depth >= GEN_DEPTH_MAX) return;
    condition(g, p, &lanes);
    bool cta = g->cta_whole, known_lanes = g->lanes_known;
    gen_put(g, "@!%s bra L%u;", p, other);
    g->depth++;
    if (lanes) g->live = lanes;
    gen_some(g, 7);
    if (other != end) {
        gen_put(g, "bra%s L%u;", gen_chance(g, 30) ? ".uni" : "", end);
        gen_put(g, "L%u:", other);
        g->cta_whole = cta && !g->someone_left, g->lanes_known = known_lanes && !(g->someone_left && !left);
        if (lanes) g->live = k.live & ~lanes;
        if (!lanes || g->live) gen_some(g, 7);
    }
    g->depth--;
    restore(g, k, left);
    gen_put(g, "L%u:", end);
}

void gen_loop(gen *g) {
    known k = remember(g);
    bool left = g->someone_left;
    uint32_t top = gen_label(g), out = 0, n = g->depth, kind = gen_below(g, 3);
    if (g->depth >= GEN_DEPTH_MAX - 2) return;
    if (kind == 0) gen_put(g, "add.u32 %%n%u, %%uniform, 1;", n);
    else if (kind == 1) gen_put(g, "mov.u32 %%n%u, %u;", n, 1 + gen_below(g, 4));
    else {
        uint32_t r = gen_below(g, GEN_R);
        gen_put(g, "and.b32 %%n%u, %%r%u, %u;", n, r, gen_chance(g, 50) ? 3 : 7);
        g->lanes_known = g->cta_whole = false;
    }
    bool breaks = gen_chance(g, 25);
    if (breaks) g->lanes_known = g->cta_whole = false;
    gen_put(g, "L%u:", top);
    g->depth++, g->loops++;
    gen_some(g, 6);
    if (breaks) {
        out = gen_label(g);
        gen_put(g, "@%%p%u bra L%u;", gen_below(g, GEN_P), out);
        gen_some(g, 3);
    }
    gen_put(g, "sub.u32 %%n%u, %%n%u, 1;", n, n);
    gen_put(g, "setp.gt.s32 %%c%u, %%n%u, 0;", n, n);
    g->depth--, g->loops--;
    gen_put(g, "@%%c%u bra L%u;", n, top);
    if (out) gen_put(g, "L%u:", out);
    restore(g, k, left);
}

/* Blocks that go to each other as they like, until what they may go has been used up: no loop has a head. */
static void tangle(gen *g) {
    known k = remember(g);
    bool left = g->someone_left;
    uint32_t count = 2 + gen_below(g, 3), first = g->labels + 1, n = g->depth;
    g->labels += count + 1;
    g->lanes_known = g->cta_whole = false;
    gen_put(g, "mov.u32 %%n%u, %u;", n, 2 + gen_below(g, 6));
    gen_put(g, "@%%p%u bra L%u;", gen_below(g, GEN_P), first + 1);
    g->depth++;
    for (uint32_t b = 0; b < count; b++) {
        gen_put(g, "L%u:", first + b);
        gen_put(g, "sub.u32 %%n%u, %%n%u, 1;", n, n);
        gen_put(g, "setp.le.s32 %%c%u, %%n%u, 0;", n, n);
        gen_put(g, "@%%c%u bra L%u;", n, first + count);
        gen_some(g, 4);
        uint32_t p = gen_below(g, GEN_P), to = gen_below(g, count + 1);
        gen_put(g, "@%%p%u bra L%u;", p, first + to);
        if (gen_chance(g, 30)) gen_put(g, "bra L%u;", first + gen_below(g, count));
    }
    g->depth--;
    gen_put(g, "L%u:", first + count);
    restore(g, k, left);
}

void gen_table(gen *g) {
    known k = remember(g);
    bool left = g->someone_left;
    if (g->depth >= GEN_DEPTH_MAX - 1) return;
    if (gen_chance(g, 40)) {
        tangle(g);
        return;
    }
    uint32_t count = 2 + gen_below(g, 4), first = g->labels + 1, end = first + count, name = ++g->names,
             r = gen_below(g, GEN_R);
    g->labels += count + 1;
    lw_text list = {0};
    for (uint32_t b = 0; b < count; b++) lw_text_printf(&list, "%sL%u", b ? ", " : "", first + b);
    gen_put(g, "T%u: .branchtargets %s;", name, list.at ? list.at : "");
    lw_text_free(&list);
    gen_put(g, "rem.u32 %%t, %%r%u, %u;", r, count);
    gen_put(g, "brx.idx%s %%t, T%u;", "", name);
    g->depth++;
    for (uint32_t b = 0; b < count; b++) {
        gen_put(g, "L%u:", first + b);
        g->lanes_known = g->cta_whole = false;
        gen_some(g, 3);
        if (gen_chance(g, 80)) gen_put(g, "bra L%u;", end);
    }
    g->depth--;
    gen_put(g, "L%u:", end);
    restore(g, k, left);
}

/* ---- Calls ----------------------------------------------------------------------------------------------------- */

static const lw_type types[] = {LW_T_b32, LW_T_b64, LW_T_u16, LW_T_f32, LW_T_s32, LW_T_u64, LW_T_f64, LW_T_b32};

static uint32_t bits_of(lw_type type) { return lw_types[type].bits; }
static const char *name_of(lw_type type) { return lw_types[type].name; }

/* (.param .b64 o, .param .u32 n, .param .b32 a0 …): with names, or _ in a prototype. */
static void put_formals(lw_text *text, const gen_function *f, bool named, bool results) {
    const char *space = f->registers ? ".reg" : ".param";
    uint32_t count = results ? f->return_count : f->param_count;
    const lw_type *of = results ? f->returns : f->params;
    if (results && !count) return;
    lw_text_puts(text, "(");
    if (!results)
        lw_text_printf(text, "%s .b64 %s, %s .b32 %s%s", space, named ? "o" : "_", space, named ? "n" : "_",
                       count ? ", " : "");
    for (uint32_t k = 0; k < count; k++) {
        lw_text_printf(text, "%s%s .%s ", k ? ", " : "", space, name_of(of[k]));
        if (named) lw_text_printf(text, "%c%u", results ? 'z' : 'a', k);
        else lw_text_puts(text, "_");
    }
    if (!results && f->array) lw_text_printf(text, ", .param .align 8 .b8 %s[16]", named ? "block" : "_");
    lw_text_puts(text, ") ");
}

static const char *move_of(uint32_t bits) { return bits == 16 ? "mov.b16" : bits == 32 ? "mov.b32" : "mov.b64"; }

/* In a call by registers arguments are registers; else variables of the scope around the call. */
static void put_arguments(gen *g, const gen_function *f, uint32_t depth, lw_text *arguments, lw_text *results) {
    char r[16];
    lw_text_puts(arguments, f->registers ? "(%out, %m" : "(o1, n1");
    if (f->registers) gen_put(g, "mov.b32 %%m, %u;", depth);
    else
        gen_put(g, ".param .b64 o1; .param .b32 n1; st.param.b64 [o1], %%out; mov.b32 %%m, %u; st.param.b32 [n1], %%m;",
                depth);
    for (uint32_t k = 0; k < f->param_count; k++) {
        gen_register(g, bits_of(f->params[k]), r);
        if (f->registers) lw_text_printf(arguments, ", %s", r);
        else {
            gen_put(g, ".param .%s x%u; st.param.%s [x%u], %s;", name_of(f->params[k]), k, name_of(f->params[k]), k, r);
            lw_text_printf(arguments, ", x%u", k);
        }
    }
    if (f->array) {
        uint32_t a = gen_below(g, GEN_D), b = gen_below(g, GEN_R), c = gen_below(g, GEN_R);
        gen_put(
            g,
            ".param .align 8 .b8 block1[16]; st.param.b64 [block1], %%d%u; st.param.v2.b32 [block1+8], {%%r%u, %%r%u};",
            a, b, c);
        lw_text_puts(arguments, ", block1");
    }
    lw_text_puts(arguments, ")");
    for (uint32_t k = 0; k < f->return_count; k++) {
        gen_register(g, bits_of(f->returns[k]), r);
        if (!f->registers) gen_put(g, ".param .%s y%u;", name_of(f->returns[k]), k);
        if (f->registers) lw_text_printf(results, "%s%s", k ? ", " : "(", r);
        else lw_text_printf(results, "%sy%u", k ? ", " : "(", k);
    }
    if (f->return_count) lw_text_puts(results, "), ");
}

static void take_results(gen *g, const gen_function *f) {
    char r[16];
    for (uint32_t k = 0; k < f->return_count && !f->registers; k++) {
        gen_register(g, bits_of(f->returns[k]), r);
        gen_put(g, "ld.param.%s %s, [y%u];", name_of(f->returns[k]), r, k);
    }
    gen_put(g, "add.cc.u32 %%t, %%t, 0;"); /* the carry flag does not outlive a call */
}

static void call_function(gen *g, uint32_t number, uint32_t depth) {
    const gen_function *f = &g->made[number];
    lw_text arguments = {0}, results = {0};
    char guard[16];
    lw_text_puts(&results, "");
    gen_put(g, "{");
    put_arguments(g, f, depth, &arguments, &results);
    gen_guard(g, guard);
    if (f->return_count && !f->registers) guard[0] = 0; /* the results would be nothing's */
    uint32_t how = f->registers ? 3 : gen_below(g, 4);
    if (how == 0) {
        uint32_t name = ++g->names;
        lw_text prototype = {0};
        put_formals(&prototype, f, false, true);
        lw_text_puts(&prototype, "_ ");
        put_formals(&prototype, f, false, false);
        gen_put(g, "P%u: .callprototype %s;", name, prototype.at);
        gen_put(g, "mov.u64 %%w, f%u;", number);
        gen_put(g, "%scall %s%%w, %s, P%u;", guard, results.at ? results.at : "", arguments.at, name);
        lw_text_free(&prototype);
    } else if (how == 1) {
        uint32_t name = ++g->names;
        gen_put(g, "C%u: .calltargets f%u;", name, number);
        gen_put(g, "mov.u64 %%w, f%u;", number);
        gen_put(g, "%scall %s%%w, %s, C%u;", guard, results.at ? results.at : "", arguments.at, name);
    } else
        gen_put(g, "%scall%s %sf%u, %s;", guard, gen_chance(g, 20) && !guard[0] ? ".uni" : "",
                results.at ? results.at : "", number, arguments.at);
    take_results(g, f);
    gen_put(g, "}");
    lw_text_free(&arguments), lw_text_free(&results);
}

void gen_call(gen *g) {
    if (!g->function_count) return;
    uint32_t number = gen_below(g, g->function_count);
    call_function(g, number, g->made[number].recurses ? gen_below(g, 4) : 0);
}

static void take_formals(gen *g, const gen_function *f) {
    char r[16];
    gen_put(g, f->registers ? "mov.b64 %%out, o; mov.b32 %%count, n;"
                            : "ld.param.b64 %%out, [o]; ld.param.b32 %%count, [n];");
    for (uint32_t k = 0; k < f->param_count; k++) {
        gen_register(g, bits_of(f->params[k]), r);
        if (f->registers) gen_put(g, "%s %s, a%u;", move_of(bits_of(f->params[k])), r, k);
        else gen_put(g, "ld.param.%s %s, [a%u];", name_of(f->params[k]), r, k);
    }
    if (f->array) gen_put(g, "ld.param.b64 %%d0, [block+8]; ld.param.u8 %%r1, [block+3];");
}

static void give_results(gen *g, const gen_function *f) {
    char r[16];
    for (uint32_t k = 0; k < f->return_count; k++) {
        gen_register(g, bits_of(f->returns[k]), r);
        if (f->registers) gen_put(g, "%s z%u, %s;", move_of(bits_of(f->returns[k])), k, r);
        else gen_put(g, "st.param.%s [z%u], %s;", name_of(f->returns[k]), k, r);
    }
    gen_put(g, "ret;");
}

static lw_type any_type(gen *g, bool registers) {
    lw_type type = types[gen_below(g, LW_COUNT(types))];
    return registers && lw_types[type].bits < 32 ? LW_T_b32 : type;
}

static gen_function signature(gen *g) {
    gen_function f = {.registers = gen_chance(
                          g, 20)}; /* in registers: of 32 and 64 bits, and no recursion, or ptxas has no code for it */
    f.recurses = !f.registers && gen_chance(g, 40);
    f.param_count = gen_below(g, 4),
    f.return_count = gen_below(g, f.registers ? 3 : 2); /* several results are possible in registers only */
    for (uint32_t k = 0; k < f.param_count; k++) f.params[k] = any_type(g, f.registers);
    for (uint32_t k = 0; k < f.return_count; k++) f.returns[k] = any_type(g, f.registers);
    f.array = !f.registers && gen_chance(g, 30);
    return f;
}

void gen_begin(gen *g); /* generate.c: registers and their first values */

static void make_function(gen *g, uint32_t number) {
    gen_function *f = &g->made[number];
    lw_text head = {0};
    *f = signature(g);
    lw_text_puts(&head, ".func ");
    put_formals(&head, f, true, true);
    lw_text_printf(&head, "f%u", number);
    put_formals(&head, f, true, false);
    gen_put(g, "%s\n{", head.at);
    lw_text_free(&head);
    gen_begin(g);
    take_formals(g, f);
    uint32_t out = gen_label(g);
    g->left = 4 + gen_below(g, 10);
    gen_some(g, 8);
    if (f->recurses) {
        gen_put(g, "setp.eq.u32 %%c0, %%count, 0;");
        gen_put(g, "@%%c0 bra L%u;", out);
        lw_text arguments = {0}, results = {0};
        gen_put(g, "{");
        put_arguments(g, f, 0, &arguments, &results);
        gen_put(g, f->registers ? "sub.u32 %%m, %%count, 1;" : "sub.u32 %%m, %%count, 1; st.param.b32 [n1], %%m;");
        gen_put(g, "call %sf%u, %s;", results.at ? results.at : "", number, arguments.at);
        take_results(g, f);
        gen_put(g, "}");
        lw_text_free(&arguments), lw_text_free(&results);
        gen_some(g, 4);
        gen_put(g, "L%u:", out);
    }
    give_results(g, f);
    gen_put(g, "}");
}

void gen_functions(gen *g) {
    uint32_t count = gen_below(g, g->small ? 2 : GEN_FUNCTIONS_MAX);
    lw_text body = g->body;
    known k = remember(g);
    g->body = (lw_text){0};
    g->in_function = true, g->lanes_known = g->cta_whole = false;
    for (uint32_t n = 0; n < count; n++) {
        make_function(g, n);
        g->function_count = n + 1;
    }
    if (g->body.at) lw_text_add(&g->functions, g->body.at, g->body.size);
    lw_text_free(&g->body);
    g->body = body;
    g->in_function = false;
    restore(g, k, false);
}

/* ---- Exits ----------------------------------------------------------------------------------------------------- */

void gen_leave(gen *g) {
    const char *how = gen_chance(g, 50) ? "exit" : "ret";
    if (g->in_function || g->loops || gen_chance(g, 50))
        return; /* who leaves a loop misses what stands before in the next round */
    if (g->depth == 0 && g->lanes_known) {
        uint32_t lanes = gen_some_lanes(g, g->live);
        if (lanes == g->live) return;
        gen_split(g, lanes, "%c0");
        gen_put(g, "@%%c0 %s;", how);
        g->live &= ~lanes, g->gone |= lanes;
        g->cta_whole = false;
        return; /* the lanes that stay are known */
    }
    uint32_t r = gen_below(g, GEN_R);
    gen_put(g, "and.b32 %%t, %%r%u, %u;", r, gen_chance(g, 50) ? 3 : 15);
    gen_put(g, "setp.eq.u32 %%c%u, %%t, 0;", g->depth);
    gen_put(g, "@%%c%u %s;", g->depth, how);
    g->someone_left = true;
    g->lanes_known = g->cta_whole = false;
}

/* ---- Barriers -------------------------------------------------------------------------------------------------- */

static bool is_barrier(const lw_form *f) { return f->lower == LW_LOWER_bar && !strstr(f->pattern, "arrive"); }
static bool is_free(const lw_form *f) { return is_barrier(f) && !strncmp(f->pattern, "barrier", 7); }

/* One barrier of all threads, by this form. */
static void put_barrier(gen *g, const char *spelling, uint32_t number, bool counted) {
    char d[16], count[16] = "", p[16];
    if (counted) snprintf(count, sizeof count, ", %u", g->threads);
    gen_register(g, 1, p);
    if (!strstr(spelling, ".red")) {
        gen_put(g, "%s %u%s;", spelling, number, count);
        return;
    }
    gen_register(g, strstr(spelling, "popc") ? 32 : 1, d);
    gen_put(g, "%s %s, %u%s, %s%s;", spelling, d, number, count, gen_chance(g, 30) ? "!" : "", p);
}

static uint32_t next_barrier(gen *g) { return g->barrier++ % 16; }

static void simple_barrier(gen *g) {
    char spelling[128];
    const lw_form *form;
    do form = gen_form(g, is_barrier);
    while (!gen_spell(g, form, spelling)); /* others count on it */
    put_barrier(g, spelling, next_barrier(g), g->threads % 32 == 0 && gen_chance(g, 40));
}

/* Lanes come to one barrier from different places. */
static void parted_barrier(gen *g) {
    char spelling[128], p[16];
    const lw_form *form = gen_form(g, is_free);
    if (!form || !gen_spell(g, form, spelling) || strstr(spelling, "aligned")) return;
    uint32_t number = next_barrier(g), other = gen_label(g), end = gen_label(g);
    bool counted = g->threads % 32 == 0 && gen_chance(g, 40);
    snprintf(p, sizeof p, "%%p%u", gen_below(g, GEN_P));
    gen_put(g, "@%s bra L%u;", p, other);
    gen_noise(g, 3);
    put_barrier(g, spelling, number, counted);
    gen_put(g, "bra L%u;", end);
    gen_put(g, "L%u:", other);
    put_barrier(g, spelling, number, counted);
    gen_noise(g, 3);
    gen_put(g, "L%u:", end);
}

/* The first warp brings what it has and goes on; the others wait for it. */
static void arrive(gen *g) {
    uint32_t number = next_barrier(g), other = gen_label(g), end = gen_label(g);
    gen_put(g, "mov.u32 %%t, %%warpid;");
    gen_put(g, "setp.ne.u32 %%c%u, %%t, 0;", g->depth);
    gen_put(g, "@%%c%u bra L%u;", g->depth, other);
    gen_put(g, "%s %u, %u;", gen_chance(g, 50) ? "bar.arrive" : "barrier.arrive", number, g->threads);
    gen_put(g, "bra L%u;", end);
    gen_put(g, "L%u:", other);
    gen_put(g, "%s %u, %u;", gen_chance(g, 50) ? "bar.sync" : "barrier.sync", number, g->threads);
    gen_put(g, "L%u:", end);
    simple_barrier(g); /* the numbers come round again */
}

static void some_warps(gen *g) {
    uint32_t number = next_barrier(g), end = gen_label(g);
    gen_put(g, "mov.u32 %%t, %%warpid;");
    gen_put(g, "setp.ge.u32 %%c%u, %%t, %u;", g->depth, g->threads / 64);
    gen_put(g, "@%%c%u bra L%u;", g->depth, end);
    gen_put(g, "barrier.sync %u, %u;", number, g->threads / 2);
    gen_put(g, "L%u:", end);
}

/* What a thread puts into shared memory another one reads behind the barrier. */
static void hand_over(gen *g) {
    uint32_t k = 1 + gen_below(g, g->threads), r = gen_below(g, GEN_R), d = gen_below(g, GEN_R);
    gen_put(g, "st.shared.b32 [%%room+60], %%r%u;", r);
    simple_barrier(g);
    gen_put(g, "add.u32 %%t, %%thread, %u; rem.u32 %%t, %%t, %u; mov.u32 %%m, room; mad.lo.u32 %%t, %%t, 64, %%m;", k,
            g->threads);
    gen_put(g, "ld.shared.b32 %%r%u, [%%t+60];", d);
    simple_barrier(g);
}

static bool is_arrival(const lw_form *f) { return f->lower == LW_LOWER_cluster_arrive; }
static bool is_wait(const lw_form *f) { return f->lower == LW_LOWER_cluster_wait; }

/* All threads come to the barrier of their cluster, which is the CTA, and wait after a while. */
static void cluster_barrier(gen *g) {
    char arrive[128], wait[128];
    const lw_form *first = gen_form(g, is_arrival), *second = gen_form(g, is_wait);
    if (!first || !second || !gen_spell(g, first, arrive) || !gen_spell(g, second, wait)) return;
    if (gen_chance(g, 50)) gen_put(g, "st.shared.b32 [%%room+60], %%r0;");
    gen_put(g, "%s;", arrive);
    gen_noise(g, 3);
    gen_put(g, "%s;", wait);
}

void gen_barrier(gen *g) {
    if (!g->cta_whole || g->someone_left || g->live != UINT32_MAX || g->in_function) return;
    switch (gen_below(g, 7)) {
    case 6: cluster_barrier(g); break;
    case 0:
        if (g->threads % 32 == 0 && g->threads >= 64) arrive(g);
        break;
    case 1:
        if (g->threads % 64 == 0) some_warps(g);
        break;
    case 2:
        if (g->options->places) parted_barrier(g);
        break;
    case 3: hand_over(g); break;
    default: simple_barrier(g);
    }
}

/* ---- Without an effect ----------------------------------------------------------------------------------------- */

static bool is_hint(const lw_form *f) {
    return f->lower == LW_LOWER_nop || f->lower == LW_LOWER_fence || f->lower == LW_LOWER_nanosleep ||
           f->lower == LW_LOWER_trap || f->lower == LW_LOWER_brkpt || f->lower == LW_LOWER_exit ||
           f->lower == LW_LOWER_ret || f->lower == LW_LOWER_activemask;
}

void gen_hint(gen *g) {
    char spelling[128];
    const lw_form *form = gen_form(g, is_hint);
    if (!form || !gen_spell(g, form, spelling)) return;
    if (form->lower == LW_LOWER_activemask) { /* its own lane is all that a lane can be sure of */
        gen_put(g, "activemask.b32 %%t; mov.u32 %%m, %%lanemask_eq; and.b32 %%r%u, %%t, %%m;", gen_below(g, GEN_R));
        return;
    }
    if (form->lower == LW_LOWER_exit || form->lower == LW_LOWER_ret || form->lower == LW_LOWER_trap ||
        form->lower == LW_LOWER_brkpt)
        gen_put(g, "@%%never %s;", spelling);
    else if (form->lower == LW_LOWER_fence || !strncmp(spelling, "griddepcontrol", 14)) gen_put(g, "%s;", spelling);
    else if (form->lower == LW_LOWER_nanosleep) gen_put(g, "%s %u;", spelling, gen_below(g, 20));
    else if (!strncmp(spelling, "setmaxnreg", 10)) {
        if (g->cta_whole) gen_put(g, "%s %u;", spelling, 24 + 8 * gen_below(g, 20));
    } else if (!strncmp(spelling, "pmevent", 7)) gen_put(g, "%s %u;", spelling, gen_below(g, 16));
    else if (!strncmp(spelling, "applypriority", 13) || !strncmp(spelling, "discard", 7))
        gen_put(g, "%s [%%in], 128;", spelling);
    else if (strstr(spelling, "local")) gen_put(g, "%s [mine];", spelling);
    else gen_put(g, "%s [%%in+%u];", spelling, 8 * gen_below(g, 10));
}

/* ---- Traps ----------------------------------------------------------------------------------------------------- */

/* One thread of the grid does what ends a launch. */
void gen_trap(gen *g) {
    static const char *const ways[] = {"trap;",
                                       "brkpt;",
                                       "ld.global.u32 %t, [%w];",
                                       "st.global.u32 [%w], %t;",
                                       "ld.global.u32 %t, [%in+2];",
                                       "st.shared.u64 [%room+4], %d0;",
                                       "ld.shared.u32 %t, [%w];",
                                       "ld.local.u32 %t, [%w];",
                                       "ld.u32 %t, [%w];",
                                       "atom.global.add.u32 %t, [%w], 1;",
                                       "ld.const.u32 %t, [%w];",
                                       "st.local.v2.b32 [mine+4], {%r0, %r1};"};
    uint32_t past = gen_label(g);
    gen_put(g, "setp.ne.u32 %%c0, %%number, %u;", gen_below(g, g->threads * g->kernel->grid[0]));
    gen_put(g, "@%%c0 bra L%u;", past);
    gen_put(g, "mov.b64 %%w, 0x0123456789abcdc0;");
    gen_put(g, "%s", ways[gen_below(g, LW_COUNT(ways))]);
    gen_put(g, "L%u:", past);
    g->kernel->traps = true;
}
