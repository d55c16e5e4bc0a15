/* generate_form.c: instructions from the rows of isa/ptx: a spelling by the pattern, operands by what the form
 * takes. */
#include "generate.h"

#include <stdio.h>
#include <stdlib.h>

struct gen_tables {
    lw_arena arena;
    lw_module_ptx module; /* knows all targets: spellings are matched in it */
    const lw_form **executable;
    uint32_t count;
};

static const struct {
    const char *name, *words;
} classes[] = {
#define CLASS(name, alternatives) {#name, alternatives},
#include "ptx/types.def"
};

bool gen_is_apart(const lw_form *form) {
    static const char *const begins[] = {
        "cp.",
        "mbarrier.",
        "st.async",
        "st.bulk",
        "red.async",
        "fence.proxy.tensormap::generic.acquire",
        "clusterlaunchcontrol.",
        "tensormap.",
        "multimem.",
        "mma.",
        "wmma.",
        "wgmma.",
        "ldmatrix.",
        "stmatrix.",
        "movmatrix.",
        "tex.",
        "tld4.",
        "txq.",
        "suld.",
        "sust.",
        "sured.",
        "suq.",
    };
    for (size_t k = 0; k < LW_COUNT(begins); k++)
        if (!strncmp(form->pattern, begins[k], strlen(begins[k]))) return true;
    return false;
}

gen_tables *gen_tables_new(void) {
    gen_tables *t = calloc(1, sizeof *t);
    jmp_buf out;
    if (!t) abort();
    lw_arena_init(&t->arena);
    if (!LW_ARENA_TRY(&t->arena, out)) abort();
    lw_symbols_init(&t->module.symbols, &t->arena);
    t->module.arena = &t->arena;
    t->module.version = 90, t->module.target = 999, t->module.target_suffix = 'a';
    t->executable = LW_NEW_ARRAY(&t->arena, const lw_form *, lw_ptx_form_count);
    for (uint32_t k = 0; k < lw_ptx_form_count; k++)
        if ((lw_ptx_forms[k].lane || lw_ptx_forms[k].lower) && !gen_is_apart(&lw_ptx_forms[k]))
            t->executable[t->count++] = &lw_ptx_forms[k];
    return t;
}

void gen_tables_free(gen_tables *t) {
    lw_arena_free(&t->arena);
    free(t);
}

/* ---- Spellings ------------------------------------------------------------------------------------------------- */

static const char *alternatives_of(const char *list, size_t *size) {
    for (size_t k = 0; k < LW_COUNT(classes); k++)
        if (strlen(classes[k].name) == *size && !strncmp(classes[k].name, list, *size)) {
            *size = strlen(classes[k].words);
            return classes[k].words;
        }
    return list;
}

/* One of a|b|c. */
static void pick(gen *g, lw_text *to, const char *list, size_t size) {
    list = alternatives_of(list, &size);
    uint32_t count = 1;
    for (size_t k = 0; k < size; k++) count += list[k] == '|';
    uint32_t n = gen_below(g, count);
    const char *at = list;
    while (n--) at = strchr(at, '|') + 1;
    size_t length = 0;
    while (at + length < list + size && at[length] != '|') length++;
    size_t inner = length;
    const char *word = alternatives_of(at, &inner);
    if (word != at) pick(g, to, word, inner);
    else lw_text_add(to, at, length);
}

static void spell(gen *g, lw_text *to, const char *pattern) {
    uint32_t skipping = 0;
    for (const char *p = pattern; *p; p++) {
        const char *close = *p == '(' ? strchr(p, ')') : NULL;
        if (*p == '{') skipping += skipping || gen_chance(g, 60);
        else if (*p == '}') skipping -= skipping > 0;
        else if (close && !skipping) pick(g, to, p + 1, (size_t)(close - p - 1)), p = close;
        else if (!skipping) lw_text_add(to, p, 1);
    }
}

static bool is_within_gates(const gen *g, const lw_match *m) {
    const lw_form *f = m->form;
    if (g->version < m->isa || g->target < m->sm || m->fault || (f->family && !g->suffix)) return false;
    return !(f->gone_isa && g->version >= f->gone_isa && g->target >= f->gone_sm);
}

const lw_match *gen_spell(gen *g, const lw_form *form, char text[128]) {
    for (uint32_t tries = 0; tries < 20; tries++) {
        lw_text spelling = {0};
        lw_symbol *words[32];
        uint32_t count = 0;
        spell(g, &spelling, form->pattern);
        size_t size = spelling.size < 127 ? spelling.size : 127;
        memcpy(text, spelling.at, size);
        text[size] = 0;
        lw_text_free(&spelling);
        for (const char *p = text; *p && count < 32;) {
            size_t length = strcspn(p, ".");
            words[count++] = lw_symbol_get(&g->tables->module.symbols, p, (uint32_t)length);
            p += length + (p[length] == '.');
        }
        lw_symbol *mnemonic = lw_symbol_get(&g->tables->module.symbols, text, (uint32_t)size);
        lw_symbol **kept = mnemonic->form
                               ? words
                               : lw_arena_copy(&g->tables->arena, words, sizeof words); /* the match may keep them */
        lw_instruction instruction = {.mnemonic = mnemonic, .words = kept, .word_count = count};
        const lw_match *m = lw_ptx_match(&g->tables->module, &instruction, NULL);
        if (m && m->form == form && is_within_gates(g, m)) return m;
    }
    return NULL;
}

const lw_form *gen_form(gen *g, bool (*wanted)(const lw_form *)) {
    for (uint32_t tries = 0; tries < 2000; tries++) {
        const lw_form *form = g->tables->executable[gen_below(g, g->tables->count)];
        if (wanted(form)) return form;
    }
    return NULL;
}

/* ---- Operands -------------------------------------------------------------------------------------------------- */

void gen_register(gen *g, uint32_t bits, char text[16]) {
    char kind = bits == 1 ? 'p' : bits <= 16 ? 'h' : bits == 32 ? 'r' : bits == 64 ? 'd' : 'q';
    uint32_t count = kind == 'p' ? GEN_P : kind == 'h' ? GEN_H : kind == 'r' ? GEN_R : kind == 'd' ? GEN_D : GEN_Q;
    snprintf(text, 16, "%%%c%u", kind, gen_below(g, count));
}

void gen_guard(gen *g, char text[16]) {
    text[0] = 0;
    if (!gen_chance(g, 12)) return;
    bool negated = gen_chance(g, 50);
    snprintf(text, 16, "@%s%%p%u ", negated ? "!" : "", gen_below(g, GEN_P));
}

void gen_constant(gen *g, lw_type type, char text[40]) {
    static const uint64_t interesting[] = {
        0,  1,   2,   3,   7,      8,      15,     16,         31,         32,         33,         63,
        64, 127, 128, 255, 0x7fff, 0x8000, 0xffff, 0x7fffffff, 0x80000000, 0xffffffff, 0x3f800000, 0x7fffffffffffffff};
    static const uint32_t singles[] = {0, 0x80000000, 0x3f800000, 0xbf000000, 0x7f800000, 0xff800000, 0x7fc00000,
                                       1, 0x807fffff, 0x00800000, 0x7f7fffff, 0x4f000000, 0x4b800001};
    uint64_t value = gen_chance(g, 60) ? interesting[gen_below(g, LW_COUNT(interesting))]
                                       : gen_word(g) >> gen_below(g, 64);
    uint32_t bits = lw_types[type].bits;
    if (type == LW_T_f32)
        snprintf(text, 40, "0f%08X",
                 gen_chance(g, 60) ? singles[gen_below(g, LW_COUNT(singles))] : (uint32_t)gen_word(g));
    else if (type == LW_T_f64) {
        uint64_t wide = gen_chance(g, 50) ? (uint64_t)singles[gen_below(g, LW_COUNT(singles))] << 32 : gen_word(g);
        snprintf(text, 40, "0d%016llX", (unsigned long long)wide);
    } else {
        if (bits < 64) value &= ((uint64_t)1 << (bits < 8 ? 1 : bits - (lw_types[type].kind == 'S'))) - 1;
        if (lw_types[type].kind == 'S' && gen_chance(g, 40))
            snprintf(text, 40, "-%llu", (unsigned long long)(value >> 1));
        else snprintf(text, 40, gen_chance(g, 50) ? "%llu" : "0x%llx", (unsigned long long)value);
    }
}

static bool is_integer(lw_type type) { return strchr("BUS", lw_types[type].kind) && type != LW_T_pred; }

/* Registers of 8 bits stand where no wider ones may: one, in a block of its own. */
static bool is_byte(const lw_match *m, const lw_operand_form *o) {
    return lw_types[o->type].bits == 8 && m->form->agree != LW_AGREE_wide;
}
static bool has_byte(const lw_match *m) {
    for (uint32_t k = 0; k < m->operand_form_count; k++)
        if (is_byte(m, &m->operand_forms[k])) return true;
    return false;
}

/* The width of the register: wider than the type where the form allows it. */
static uint32_t width(gen *g, const lw_match *m, const lw_operand_form *o) {
    uint32_t bits = lw_types[o->type].bits;
    if (bits == 8) bits = 16;
    if (m->form->agree == LW_AGREE_wide && !o->untyped && is_integer(o->type) && lw_types[o->type].bits < 64 &&
        gen_chance(g, 25))
        bits = bits == 16 && gen_chance(g, 50) ? 32 : 64;
    return bits;
}

static void put_selector(gen *g, lw_text *line) {
    static const char *const names[] = {".b0", ".b1", ".b2", ".b3", ".h0", ".h1"};
    lw_text_puts(line, names[gen_below(g, LW_COUNT(names))]);
}

/* .h31, .b0426: an element of both words for each of the result; ptxas cannot read .b1024, the name of a type. Of a
 * result the mask. */
static void put_lanes(gen *g, lw_text *line, const lw_operand_form *o) {
    static const char *const masks[2][5] = {{".h0", ".h1", ".h10", ".h10", ".h1"},
                                            {".b0", ".b2", ".b31", ".b210", ".b3210"}};
    bool four = o->lanes == 4;
    if (o->written) {
        lw_text_puts(line, masks[four][gen_below(g, 5)]);
        return;
    }
    lw_text_puts(line, four ? ".b" : ".h");
    for (uint32_t k = 0; k < o->lanes; k++)
        lw_text_printf(line, "%u", four && !k ? 4 + gen_below(g, 4) : gen_below(g, o->lanes * 2u));
}

static void put_source(gen *g, lw_text *line, const lw_match *m, const lw_operand_form *o) {
    char text[40];
    static const char *const specials[] = {"%laneid", "%tid.x",       "%ntid.x",      "%ctaid.x", "%nctaid.y",
                                           "%warpid", "%lanemask_lt", "%lanemask_ge", "%tid.y",   "%nwarpid"};
    bool is_small = !strcmp(m->words[0]->text, "bfe") || !strcmp(m->words[0]->text, "bfi");
    if (o->shape == LW_SHAPE_IMM) {
        lw_text_printf(line, "%u", gen_below(g, 256));
        return;
    }
    if (is_byte(m, o)) {
        lw_text_puts(line, "%c");
        return;
    }
    if (m->form->lower == LW_LOWER_four && o->vector == 4) {
        for (uint32_t k = 0; k < 4; k++) gen_register(g, 32, text), lw_text_printf(line, "%s%s", k ? ", " : "{", text);
        lw_text_puts(line, "}");
        return;
    }
    if (is_small && o->typed) { /* positions and lengths that mean something */
        if (gen_chance(g, 60)) lw_text_printf(line, "%u", gen_below(g, 70));
        else gen_register(g, 32, text), lw_text_puts(line, text);
        return;
    }
    if (o->shape == LW_SHAPE_SPECIAL && lw_types[o->type].bits == 32 && gen_chance(g, 30)) {
        lw_text_puts(line, specials[gen_below(g, LW_COUNT(specials))]);
        return;
    }
    if (o->type == LW_T_pred) {
        gen_register(g, 1, text);
        lw_text_printf(line, "%s%s", gen_chance(g, 30) ? "!" : "", text);
        return;
    }
    bool may_be_constant = o->shape == LW_SHAPE_VALUE && !o->variable && m->form->agree != LW_AGREE_wide &&
                           !o->selectable && strchr("BUSF", lw_types[o->type].kind) && lw_types[o->type].bits >= 16;
    if (may_be_constant && lw_types[o->type].bits <= 64 && o->type != LW_T_f16 && gen_chance(g, 20))
        gen_constant(g, o->type, text);
    else gen_register(g, width(g, m, o), text);
    lw_text_puts(line, text);
}

static void put_destination(gen *g, lw_text *line, const lw_match *m, const lw_operand_form *o) {
    char text[16], other[16];
    if (is_byte(m, o)) {
        lw_text_puts(line, "%c");
        return;
    }
    gen_register(g, width(g, m, o), text);
    bool sinks = o->sink && gen_chance(g, 15);
    lw_text_puts(line, sinks ? "_" : text);
    if (!o->pair || (o->pair_optional && gen_chance(g, 60))) return;
    do gen_register(g, 1, other);
    while (!strcmp(other, text));
    lw_text_printf(line, "|%s", !sinks && o->pair_sink && gen_chance(g, 15) ? "_" : other);
}

/* The base of fns is below 32: the manual leaves the rest open. */
static void put_operands(gen *g, lw_text *line, const lw_match *m) {
    bool is_video = m->form->lower == LW_LOWER_video_shift || m->form->lower == LW_LOWER_video_scalar,
         merges = is_video && gen_chance(g, 50);
    bool is_fns = !strcmp(m->words[0]->text, "fns"), minus = false; /* vmad: one operand negated */
    for (uint32_t k = 0; k < m->operand_form_count; k++) {
        const lw_operand_form *o = &m->operand_forms[k];
        if (o->optional && !(is_video && merges)) break;
        lw_text_puts(line, k ? ", " : " ");
        if (is_fns && k == 2) lw_text_printf(line, "%u", gen_below(g, 32));
        else if (o->written) put_destination(g, line, m, o);
        else
            lw_text_puts(line, o->negatable && o->selectable && !minus && gen_chance(g, 25) ? (minus = true, "-") : ""),
                put_source(g, line, m, o);
        if (o->selectable && !o->lanes && (o->written ? merges && gen_chance(g, 70) : gen_chance(g, 50)))
            put_selector(g, line);
        if (o->lanes && gen_chance(g, 60)) put_lanes(g, line, o);
    }
}

static bool is_plain(const lw_form *f) {
    switch (f->lower) {
    case LW_LOWER_none: return f->lane != NULL;
    case LW_LOWER_cvt:
    case LW_LOWER_shift:
    case LW_LOWER_logic_pred:
    case LW_LOWER_lop3_bool:
    case LW_LOWER_setp:
    case LW_LOWER_set:
    case LW_LOWER_selp:
    case LW_LOWER_slct:
    case LW_LOWER_chain:
    case LW_LOWER_halves:
    case LW_LOWER_mixed:
    case LW_LOWER_four:
    case LW_LOWER_setp_halves:
    case LW_LOWER_set_halves:
    case LW_LOWER_video_shift:
    case LW_LOWER_video_scalar:
    case LW_LOWER_video_simd: return true;
    default: return false;
    }
}

static bool is_video_form(const lw_form *f) {
    return f->lower == LW_LOWER_video_shift || f->lower == LW_LOWER_video_scalar || f->lower == LW_LOWER_video_simd;
}
static bool is_common(const lw_form *f) {
    return f->lower != LW_LOWER_set && f->lower != LW_LOWER_set_halves && !is_video_form(f) && is_plain(f);
}

static bool is_logic(const lw_form *f) { /* what fusion looks for */
    static const char *const names[] = {"AND",      "OR",  "XOR",  "NOT",   "SHL",   "SHR",
                                        "SHR_BITS", "ADD", "LOP3", "SHF_L", "SHF_R", "SUB"};
    for (size_t k = 0; k < LW_COUNT(names); k++)
        if (!strcmp(f->id, names[k])) return true;
    return false;
}

static bool opens_carry(const lw_form *f) {
    return f->lower == LW_LOWER_carry && strstr(f->pattern, "(cc)") && !strchr(f->pattern, '{');
}
static bool takes_carry(const lw_form *f) { return f->lower == LW_LOWER_carry && strchr(f->pattern, '{'); }

static void put_form(gen *g, const lw_form *form, const char *guard, bool writes_carry) {
    char spelling[128];
    for (uint32_t tries = 0; tries < 20 && form; tries++) {
        const lw_match *m = gen_spell(g, form, spelling);
        if (!m) return;
        if (writes_carry && !strstr(spelling, ".cc")) continue;
        lw_text line = {0};
        lw_text_printf(&line, "%s%s", guard, spelling);
        put_operands(g, &line, m);
        if (has_byte(m)) {
            char from[16], to[16];
            gen_register(g, 16, from), gen_register(g, 16, to);
            gen_put(g, "{ .reg .b8 %%c; cvt.u8.u16 %%c, %s; %s; cvt.u16.u8 %s, %%c; }", from, line.at, to);
        } else gen_put(g, "%s;", line.at);
        lw_text_free(&line);
        return;
    }
}

/* CC.CF is for straight text: who writes it stands just before who reads it. */
static void carries(gen *g) {
    put_form(g, gen_form(g, opens_carry), "", true);
    for (uint32_t more = gen_below(g, 3); more; more--) put_form(g, gen_form(g, takes_carry), "", true);
    put_form(g, gen_form(g, takes_carry), "", false);
}

/* The vector register as a whole, from four others or to four that differ. */
static void move_vector(gen *g, const char *guard) {
    const uint32_t a = gen_below(g, GEN_R), b = (a + 1 + gen_below(g, 2)) % GEN_R,
                   c = (b + 1 + gen_below(g, 2)) % GEN_R, d = (c + 1) % GEN_R;
    if (gen_chance(g, 50)) gen_put(g, "%smov.v4.b32 %%v, {%%r%u, %%r%u, %%r%u, %%r%u};", guard, d, b, a, c);
    else gen_put(g, "%smov.v4.b32 {%%r%u, %%r%u, %%r%u, %%r%u}, %%v;", guard, c, a, d, b);
}

/* Packing, unpacking, plain moves. */
static void move(gen *g) {
    static const struct {
        uint32_t whole, count, each;
    } shapes[] = {{32, 2, 16}, {64, 2, 32}, {64, 4, 16}, {128, 2, 64}};
    static const uint32_t widths[] = {16, 32, 64, 1, 32};
    char guard[16], one[16], parts[4][16];
    gen_guard(g, guard);
    if (gen_chance(g, 10)) {
        move_vector(g, guard);
        return;
    }
    if (gen_chance(g, 40)) {
        uint32_t bits = widths[gen_below(g, LW_COUNT(widths))];
        gen_register(g, bits, one), gen_register(g, bits, parts[0]);
        gen_put(g,
                bits == 1    ? "%smov.pred %s, %s;"
                : bits == 16 ? "%smov.b16 %s, %s;"
                : bits == 32 ? "%smov.b32 %s, %s;"
                             : "%smov.b64 %s, %s;",
                guard, one, parts[0]);
        return;
    }
    uint32_t s = gen_below(g, LW_COUNT(shapes));
    if (shapes[s].whole == 128 && (g->version < 83 || g->target < 70)) s = 0;
    lw_text list = {0};
    bool packs = gen_chance(g, 50);
    gen_register(g, shapes[s].whole, one);
    for (uint32_t k = 0; k < shapes[s].count; k++) {
        bool again;
        do { /* the parts of a destination are different registers */
            gen_register(g, shapes[s].each, parts[k]);
            again = false;
            for (uint32_t j = 0; j < k; j++) again |= !packs && !strcmp(parts[j], parts[k]);
        } while (again);
        lw_text_printf(&list, "%s%s", k ? ", " : "", parts[k]);
    }
    if (packs) gen_put(g, "%smov.b%u %s, {%s};", guard, shapes[s].whole, one, list.at);
    else gen_put(g, "%smov.b%u {%s}, %s;", guard, shapes[s].whole, list.at, one);
    lw_text_free(&list);
}

static void calm(gen *g) {
    static const char *const two[] = {"add.u32", "sub.s32", "mul.lo.s32", "xor.b32",   "and.b32",
                                      "or.b32",  "min.s32", "max.u32",    "mul.hi.u32"};
    static const char *const three[] = {"mad.lo.u32", "shf.l.wrap.b32", "prmt.b32", "sad.u32"};
    uint32_t how = gen_below(g, 100), d = gen_below(g, GEN_R), a = gen_below(g, GEN_R), b = gen_below(g, GEN_R),
             c = gen_below(g, GEN_R), p = gen_below(g, GEN_P);
    if (how < 50) gen_put(g, "%s %%r%u, %%r%u, %%r%u;", two[gen_below(g, LW_COUNT(two))], d, a, b);
    else if (how < 75) gen_put(g, "%s %%r%u, %%r%u, %%r%u, %%r%u;", three[gen_below(g, LW_COUNT(three))], d, a, b, c);
    else if (how < 85) gen_put(g, "mad.wide.u32 %%d%u, %%r%u, %%r%u, %%d%u;", d % GEN_D, a, b, c % GEN_D);
    else if (how < 92) gen_put(g, "setp.%s %%p%u, %%r%u, %%r%u;", how % 2 ? "lt.s32" : "gt.u32", p, a, b);
    else gen_put(g, "mad.lo.u32 %%r%u, %%r%u, %u, %%lane;", d, a, 10 * b + c);
}

void gen_plain(gen *g) {
    char guard[16];
    if (g->options->calm) {
        calm(g);
        return;
    }
    uint32_t how = gen_below(g, 100);
    gen_guard(g, guard);
    if (how < 6) move(g);
    else if (how < 10) carries(g);
    else put_form(g, gen_form(g, how < 35 ? is_logic : how < 80 ? is_common : is_plain), guard, false);
}
