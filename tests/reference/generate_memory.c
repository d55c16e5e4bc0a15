/* generate_memory.c: loads, stores, atomics, addresses. A thread writes memory of its own only: parts of out, of shared
 * and of local memory. */
#include "generate.h"

#include <stdio.h>

enum {
    OWN_AT = 320,
    OWN_BYTES = 192,
    SLOT_AT = 288,
    ROOM_BYTES = 64,
    ROOM_OWN = 48,
    LOCAL_BYTES = 128,
    TABLE_BYTES = 256
};

void gen_variables(lw_text *text, gen *g) {
    lw_text_printf(text, ".const .align 64 .b32 table[%u] = {", TABLE_BYTES / 4);
    for (uint32_t k = 0; k < 40; k++) lw_text_printf(text, "%s%u", k ? ", " : "", (uint32_t)gen_word(g));
    lw_text_printf(text, "};\n.global .align 64 .u64 words[%u] = {", GEN_IN_WORDS);
    for (uint32_t k = 0; k < 100; k++)
        lw_text_printf(text, "%s0x%llx", k ? ", " : "",
                       (unsigned long long)(gen_chance(g, 30) ? gen_below(g, 100) : gen_word(g)));
    lw_text_printf(text, "};\n.global .f32 reals[4] = {0f3F800000, -2.5, 1e10, 0.0};\n.global .align 8 .v2 .u32 "
                         "pairs[3] = {{1, 2}, {3, 4}, {5, 6}};\n");
    lw_text_printf(text, ".shared .align 64 .b8 room[%u];\n", ROOM_BYTES * g->threads);
}

/* ---- Where ----------------------------------------------------------------------------------------------------- */

/* An offset of `size` bytes within `bytes`, aligned. */
static uint32_t offset(gen *g, uint32_t bytes, uint32_t size) { return gen_below(g, bytes / size) * size; }

/* %w: an element of %t more than the base, in one of the ways that compilers have. */
static void put_address(gen *g, const char *base, uint32_t size) {
    const char *sign = gen_chance(g, 50) ? "s" : "u";
    switch (gen_below(g, 4)) {
    case 0: gen_put(g, "mad.wide.%s32 %%w, %%t, %u, %s;", sign, size, base); break;
    case 1: gen_put(g, "mul.wide.%s32 %%w, %%t, %u; add.%s64 %%w, %s, %%w;", sign, size, sign, base); break;
    case 2:
        gen_put(g, "cvt.%s64.%s32 %%w, %%t; shl.b64 %%w, %%w, %d; add.%s64 %%w, %%w, %s;", sign, sign,
                __builtin_ctz(size), sign, base);
        break;
    default: /* what follows is of another index */
        gen_put(g, "mul.wide.%s32 %%w, %%t, %u; add.s64 %%w, %s, %%w; not.b32 %%t, %%t;", sign, size, base);
    }
}

/* [base + first + some offset], the offset a constant or made from a register or the thread's number. */
static void within(gen *g, char text[64], const char *base, uint32_t first, uint32_t bytes, uint32_t size) {
    uint32_t room = bytes / size, at = offset(g, bytes, size);
    if (room < 2 || gen_chance(g, 70)) {
        snprintf(text, 64, "[%s+%u]", base, first + at);
        return;
    }
    uint32_t mask = room >= 64 && gen_chance(g, 50) ? 63 : room >= 8 ? 7 : room >= 4 ? 3 : 1;
    if (gen_chance(g, 50)) gen_put(g, "and.b32 %%t, %%r%u, %u;", gen_below(g, GEN_R), mask);
    else gen_put(g, "mov.u32 %%t, %%tid.x; mov.u32 %%m, %%ctaid.x; add.u32 %%t, %%t, %%m; and.b32 %%t, %%t, %u;", mask);
    put_address(g, base, size);
    snprintf(text, 64, "[%%w+%u]", first);
}

/* Shared addresses have 32 bits. */
static void within_shared(gen *g, char text[64], uint32_t size) {
    uint32_t at = offset(g, ROOM_OWN, size);
    if (gen_chance(g, 60)) snprintf(text, 64, "[%%room+%u]", at);
    else {
        uint32_t r = gen_below(g, GEN_R);
        gen_put(g, "and.b32 %%t, %%r%u, %u;", r, ROOM_OWN / size >= 2 ? 1 : 0);
        gen_put(g, "mad.lo.u32 %%t, %%t, %u, %%room;", size);
        snprintf(text, 64, "[%%t]");
    }
}

static void within_local(gen *g, char text[64], uint32_t size) {
    uint32_t at = offset(g, LOCAL_BYTES, size);
    if (gen_chance(g, 50)) snprintf(text, 64, "[mine+%u]", at);
    else {
        gen_put(g, "mov.u64 %%w, mine;");
        snprintf(text, 64, "[%%w+%u]", at);
    }
}

static bool place(gen *g, char text[64], const lw_match *m, uint32_t size, bool writes, bool unchanging) {
    switch (m->space) {
    case LW_SPACE_global:
        writes || (!unchanging && gen_chance(g, 50)) ? within(g, text, "%out", OWN_AT, OWN_BYTES, size)
                                                     : within(g, text, "%in", 0, 8 * GEN_IN_WORDS, size);
        return true;
    case LW_SPACE_shared: within_shared(g, text, size); return true;
    case LW_SPACE_local: within_local(g, text, size); return true;
    case LW_SPACE_const:
        if (gen_chance(g, 50)) snprintf(text, 64, "[table+%u]", offset(g, TABLE_BYTES, size));
        else gen_put(g, "mov.u64 %%w, table;"), snprintf(text, 64, "[%%w+%u]", offset(g, TABLE_BYTES, size));
        return true;
    case LW_SPACE_none:
        switch (gen_below(g, 4)) {
        case 0: within(g, text, "%gshared", 0, ROOM_OWN, size); return true;
        case 1: within(g, text, "%glocal", 0, LOCAL_BYTES, size); return true;
        case 2:
            if (!writes) return within(g, text, "%in", 0, 8 * GEN_IN_WORDS, size), true; /* fall through */
        default: within(g, text, "%out", OWN_AT, OWN_BYTES, size); return true;
        }
    default: return false;
    }
}

/* ---- Loads and stores ------------------------------------------------------------------------------------------ */

static bool is_access(const lw_form *f) { return f->lower == LW_LOWER_ld || f->lower == LW_LOWER_st; }

static bool has(const lw_match *m, const char *spelling, const char *word) {
    (void)m;
    const char *at = strstr(spelling, word);
    return at && at[-1] == '.' && (at[strlen(word)] == '.' || !at[strlen(word)]);
}

static uint32_t elements_of(const lw_match *m, const char *spelling) {
    return has(m, spelling, "v2") ? 2 : has(m, spelling, "v4") ? 4 : has(m, spelling, "v8") ? 8 : 1;
}

/* {…} of different registers, all of one width; or one. */
static void registers(gen *g, lw_text *line, uint32_t count, uint32_t bits, bool may_be_declared) {
    char names[8][16];
    for (uint32_t k = 0; k < count; k++) {
        bool again;
        do {
            gen_register(g, bits, names[k]);
            again = false;
            for (uint32_t j = 0; j < k; j++) again |= !strcmp(names[j], names[k]);
        } while (again);
    }
    if (count == 4 && bits == 32 && may_be_declared && gen_chance(g, 25)) { /* a register declared as a vector */
        lw_text_puts(line, "%v");
        return;
    }
    if (count > 1) lw_text_puts(line, "{");
    for (uint32_t k = 0; k < count; k++) lw_text_printf(line, "%s%s", k ? ", " : "", names[k]);
    if (count > 1) lw_text_puts(line, "}");
}

static uint32_t register_bits(gen *g, lw_type type, uint32_t count) {
    uint32_t bits = lw_types[type].bits < 16 ? 16 : lw_types[type].bits;
    bool may = lw_types[type].kind != 'F' && lw_types[type].bits < 64 && count < 4;
    return may && gen_chance(g, 25) ? (bits < 32 && gen_chance(g, 50) ? 32 : 64) : bits;
}

void gen_memory(gen *g) {
    char spelling[128], guard[16], address[64];
    const lw_form *form = gen_form(g, is_access);
    const lw_match *m = form ? gen_spell(g, form, spelling) : NULL;
    if (!m || has(m, spelling, "param") || strstr(spelling, "param::")) return;
    if (has(m, spelling, "lu")) return; /* the last use: what is there may be gone */
    uint32_t count = elements_of(m, spelling), bits = lw_types[m->type].bits;
    bool writes = form->lower == LW_LOWER_st, unchanging = has(m, spelling, "nc") || !strncmp(spelling, "ldu", 3);
    if (lw_types[m->type].bits == 128 && count > 1) return;
    gen_guard(g, guard);
    if (guard[0] && writes && gen_chance(g, 50)) guard[0] = 0;
    if (unchanging && m->space == LW_SPACE_none) within(g, address, "%in", 0, 8 * GEN_IN_WORDS, bits / 8 * count);
    else if (!place(g, address, m, bits / 8 * count, writes, unchanging)) return;
    lw_text line = {0};
    lw_text_printf(&line, "%s%s ", guard, spelling);
    if (writes) lw_text_printf(&line, "%s, ", address);
    registers(g, &line, count, register_bits(g, m->type, count), true);
    if (!writes) lw_text_printf(&line, ", %s", address);
    if (has(m, spelling, "L2::cache_hint")) lw_text_puts(&line, ", %policy");
    gen_put(g, "%s;", line.at);
    lw_text_free(&line);
}

void gen_parameter(gen *g) {
    static const struct {
        const char *type;
        uint32_t bits;
    } types[] = {{"u8", 16},  {"s8", 32},  {"u16", 16}, {"s16", 64}, {"u32", 32}, {"s32", 64}, {"u64", 64},
                 {"s64", 64}, {"f32", 32}, {"f64", 64}, {"b32", 32}, {"u8", 64},  {"s8", 16}};
    uint32_t k = gen_below(g, LW_COUNT(types));
    char guard[16], d[16];
    if (g->in_function) return;
    gen_guard(g, guard);
    gen_register(g, types[k].bits, d);
    if (gen_chance(g, 20) && g->version >= 77 && g->target >= 70) {
        gen_put(g, "mov.b64 %%w, p_%s; cvta.param.u64 %%w, %%w;", types[k].type);
        gen_put(g, "%sld.%s %s, [%%w];", guard, types[k].type, d);
    } else gen_put(g, "%sld.param.%s %s, [p_%s];", guard, types[k].type, d, types[k].type);
}

/* ---- Atomics --------------------------------------------------------------------------------------------------- */

static bool is_atomic(const lw_form *f) { return f->lower == LW_LOWER_atom || f->lower == LW_LOWER_red; }

static const char *const sums[] = {"add.u32", "add.s32", "add.u64", "and.b32", "and.b64", "or.b32",  "or.b64",
                                   "xor.b32", "xor.b64", "min.u32", "min.s32", "min.u64", "min.s64", "max.u32",
                                   "max.s32", "max.u64", "max.s64", "inc.u32", "dec.u32", "add.f32", "add.f64"};

/* To memory of all threads, where the order does not matter: one slot for each operation. */
static bool common(gen *g, const lw_match *m, const char *spelling, const char *policy) {
    uint32_t n = 0;
    while (n < LW_COUNT(sums) && !(strstr(spelling, sums[n]) && strstr(spelling, sums[n])[-1] == '.')) n++;
    if (n == LW_COUNT(sums) || m->space == LW_SPACE_shared) return false;
    uint32_t bits = lw_types[m->type].bits;
    char guard[16], b[40];
    bool is_red = m->form->lower == LW_LOWER_red;
    gen_guard(g, guard);
    if (lw_types[m->type].kind == 'F') { /* whole numbers: sums of them are exact */
        gen_put(g, "and.b32 %%t, %%r%u, 15;", gen_below(g, GEN_R));
        gen_put(g, bits == 32 ? "cvt.rn.f32.u32 %%t, %%t;" : "cvt.rn.f64.u32 %%w, %%t;");
        snprintf(b, sizeof b, bits == 32 ? "%%t" : "%%w");
    } else if (strstr(sums[n], "inc") || strstr(sums[n], "dec")) snprintf(b, sizeof b, "1000");
    else gen_register(g, bits, b);
    gen_put(g, "%s%s %s[%%sum+%u], %s%s;", guard, spelling, is_red ? "" : "_, ", 16 * n, b, policy);
    return true;
}

/* A thread's own place. */
static void own(gen *g, char address[64], const lw_match *m, uint32_t size) {
    const uint32_t step = size < 8 ? 4 * gen_below(g, 4) : 0;
    if (m->space == LW_SPACE_shared) snprintf(address, 64, "[%%room+%u]", ROOM_OWN + step);
    else if (m->space == LW_SPACE_none && size <= 8 && gen_chance(g, 40))
        snprintf(address, 64, "[%%gshared+%u]", ROOM_OWN + 8);
    else snprintf(address, 64, "[%%out+%u]", SLOT_AT + step);
}

void gen_atomic(gen *g) {
    char spelling[128], guard[16], address[64], c[32] = "";
    const lw_form *form = gen_form(g, is_atomic);
    const lw_match *m = form ? gen_spell(g, form, spelling) : NULL;
    if (!m) return;
    const char *policy = has(m, spelling, "L2::cache_hint") ? ", %policy" : "";
    if (!g->in_function && gen_chance(g, 50) && common(g, m, spelling, policy)) return;
    const uint32_t bits = lw_types[m->type].bits, count = elements_of(m, spelling);
    if (bits == 16 && count > GEN_H) return; /* registers of a list differ */
    lw_text line = {0};
    own(g, address, m, bits / 8 * count);
    gen_guard(g, guard);
    if (has(m, spelling, "cas")) gen_register(g, bits, c + 2), c[0] = ',', c[1] = ' ';
    lw_text_printf(&line, "%s%s ", guard, spelling);
    if (form->lower == LW_LOWER_atom) {
        if (count == 1 && gen_chance(g, 10)) lw_text_puts(&line, "_");
        else registers(g, &line, count, bits, false);
        lw_text_puts(&line, ", ");
    }
    lw_text_printf(&line, "%s, ", address);
    registers(g, &line, count, bits, false);
    gen_put(g, "%s%s%s;", line.at, c, policy);
    lw_text_free(&line);
}

/* ---- Addresses ------------------------------------------------------------------------------------------------- */

static bool is_address(const lw_form *f) {
    return f->lower == LW_LOWER_cvta || f->lower == LW_LOWER_isspacep || f->lower == LW_LOWER_mapa ||
           f->lower == LW_LOWER_getctarank;
}

/* The CTA is alone in its cluster: addresses stay what they are, and its rank is 0. */
static void in_cluster(gen *g, const lw_match *m, const char *spelling) {
    const uint32_t bits = lw_types[m->type].bits;
    const char *from = m->space != LW_SPACE_none ? (bits == 32 ? "%room" : "%w") : "%gshared";
    char d[16];
    if (m->space == LW_SPACE_none && bits == 32) return; /* generic addresses have 64 bits */
    gen_put(g, "cvt.u64.u32 %%w, %%room;");
    if (m->form->lower == LW_LOWER_getctarank) {
        gen_register(g, 32, d);
        gen_put(g, "%s %s, %s;", spelling, d, from);
        return;
    }
    gen_register(g, bits, d);
    gen_put(g, "%s %s, %s, 0; sub.u%u %s, %s, %s;", spelling, d, from, bits, d, d, from);
}

void gen_address(gen *g) {
    static const char *const spaces[] = {"global", "shared", "local", "const"};
    static const char *const made[] = {"mov.b64 %w, %out;", "mov.b64 %w, %gshared;", "mov.b64 %w, %glocal;",
                                       "mov.u64 %w, table; cvta.const.u64 %w, %w;"};
    char spelling[128], d[16];
    const lw_form *form = gen_form(g, is_address);
    const lw_match *m = form ? gen_spell(g, form, spelling) : NULL;
    uint32_t k = gen_below(g, LW_COUNT(spaces));
    if (!m) return;
    if (form->lower == LW_LOWER_mapa || form->lower == LW_LOWER_getctarank) {
        in_cluster(g, m, spelling);
        return;
    }
    if (form->lower == LW_LOWER_isspacep) {
        gen_register(g, 1, d);
        gen_put(g, "%s", made[k]);
        gen_put(g, "%s %s, %%w;", spelling, d);
        return;
    }
    if (m->space == LW_SPACE_param || m->type != LW_T_u64) return;
    /* There and back again is the same address. */
    const char *space = lw_space_names[m->space], *from = m->space == LW_SPACE_shared  ? "room"
                                                          : m->space == LW_SPACE_local ? "mine"
                                                          : m->space == LW_SPACE_const ? "table"
                                                                                       : "words";
    gen_register(g, 64, d);
    gen_put(g, "mov.u64 %%w, %s;", from);
    if (has(m, spelling, "to")) gen_put(g, "cvta.%s.u64 %s, %%w;", space, d), gen_put(g, "%s %s, %s;", spelling, d, d);
    else gen_put(g, "%s %s, %%w;", spelling, d), gen_put(g, "cvta.to.%s.u64 %s, %s;", space, d, d);
    gen_put(g, "sub.u64 %s, %s, %%w;", d, d);
}

/* ---- The stack, and what is opaque ----------------------------------------------------------------------------- */

static bool is_opaque(const lw_form *f) {
    return f->lower == LW_LOWER_istypep || f->lower == LW_LOWER_createpolicy || f->lower == LW_LOWER_alloca ||
           f->lower == LW_LOWER_stacksave || f->lower == LW_LOWER_stackrestore;
}

static void policy(gen *g, const char *spelling) {
    if (has(NULL, spelling, "range")) gen_put(g, "%s %%policy, [%%in], %u, 4096;", spelling, 128 * gen_below(g, 4));
    else if (has(NULL, spelling, "cvt")) gen_put(g, "%s %%policy, %%policy;", spelling);
    else gen_put(g, "%s %%policy%s;", spelling, gen_chance(g, 50) ? ", 0f3F000000" : "");
}

/* Sizes differ between lanes; what is read was written. */
void gen_stack(gen *g) {
    static const char *const aligns[] = {"", ", 4", ", 16", ", 128"};
    char spelling[128], d[16];
    const lw_form *form = gen_form(g, is_opaque);
    const lw_match *m = form ? gen_spell(g, form, spelling) : NULL;
    if (!m) return;
    if (form->lower == LW_LOWER_createpolicy) policy(g, spelling);
    else if (form->lower == LW_LOWER_istypep) {
        gen_register(g, 1, d);
        gen_put(g, "%s %s, %%in;", spelling, d);
    } else {
        const char *type = lw_types[m->type].name;
        const uint32_t bits = lw_types[m->type].bits, base = 8 * gen_below(g, 5), r = gen_below(g, GEN_D);
        gen_put(g, "{ .reg .b%u %%stack%u, %%taken%u;", bits, bits, bits);
        gen_put(g, "stacksave.%s %%stack%u;", type, bits);
        gen_put(g, "and.b32 %%t, %%r%u, 24; add.u32 %%t, %%t, %u;", gen_below(g, GEN_R), base + 8);
        gen_put(g, "cvt.%s.u32 %%taken%u, %%t; alloca.%s %%taken%u, %%taken%u%s;", type, bits, type, bits, bits,
                aligns[gen_below(g, LW_COUNT(aligns))]);
        gen_put(g, "st.local.b64 [%%taken%u+%u], %%d%u;", bits, base, r);
        if (gen_chance(g, 50)) gen_call(g);
        gen_put(g, "ld.local.b64 %%d%u, [%%taken%u+%u];", gen_below(g, GEN_D), bits, base);
        gen_put(g, "stackrestore.%s %%stack%u; }", type, bits);
    }
}
