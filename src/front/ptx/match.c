/* match.c: what a spelling means by its row: operand forms, types, lane function, gates. Made once for each distinct spelling
 * of a module, or of all modules that share spellings, and kept in the mnemonic's symbol. */
#include "front/ptx/forms.h"

#include "base/lane_id.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define V(major, minor) ((major) * 10 + (minor))
#define SM(number)      (number)
static const lw_gate gates[] = {
#define GATE(opcode, word, isa, sm) {opcode, word, isa, sm},
#include "ptx/gates.def"
};

/* Gates by the word that they are about: 1 + gate, by hash of the word. */
enum { GATE_SLOTS = 256 };
static uint8_t first_gate[GATE_SLOTS];
static uint8_t next_gate[LW_COUNT(gates)];
_Static_assert(LW_COUNT(gates) < 255, "gates must be countable in a byte");

static void index_gates(void) {
    for (size_t g = LW_COUNT(gates); g-- > 0;) {
        uint32_t slot = lw_hash(gates[g].word, strlen(gates[g].word)) % GATE_SLOTS;
        next_gate[g] = first_gate[slot];
        first_gate[slot] = (uint8_t)(g + 1);
    }
}

/* "shared" and "shared::cta" are the space shared. */
static lw_space space_named(const char *text, size_t length) {
    size_t size = 0;
    while (size < length && text[size] != ':') size++;
    for (int s = 1; s < LW_SPACE_count; s++)
        if (!strncmp(lw_space_names[s], text, size) && !lw_space_names[s][size]) return (lw_space)s;
    return LW_SPACE_none;
}

/* ---- The operand text of a row ------------------------------------------------------------------------ */

/* The type that "$2", "wide" or "u32" stands for. */
static lw_type type_of(const lw_match *m, const char *at, size_t size) {
    if (*at == '$') {
        unsigned n = (unsigned)(at[1] - '0');
        return n <= m->group_count ? lw_type_find(m->group[n], strlen(m->group[n])) : LW_T_none;
    }
    if (size == 4 && !memcmp(at, "wide", 4)) {
        char text[8];
        int n = snprintf(text, sizeof text, "%.1s%u", lw_types[m->type].name, lw_types[m->type].bits * 2u);
        return lw_type_find(text, (size_t)n);
    }
    return lw_type_find(at, size);
}

/* Register types that agree with a type that a form asks for (manual sections 9.3 and 9.4, and what ptxas takes). */
static uint32_t agreeing(lw_type type, lw_agree agree) {
    uint32_t takes = 0;
    if (type == LW_T_none) return ~(1u << LW_T_pred);
    const lw_type_info *want = &lw_types[type];
    for (int t = 1; t < LW_T_count; t++) {
        const lw_type_info *have = &lw_types[t];
        bool same = have->bits == want->bits, enough = have->bits >= want->bits, fits = false;
        bool integer = have->kind == 'U' || have->kind == 'S';
        if (want->kind == 'P' || have->kind == 'P') fits = t == (int)type;
        else if (t == (int)type) fits = true;
        else if (agree == LW_AGREE_size) fits = same;
        else if (want->kind == 'B') fits = agree == LW_AGREE_wide ? enough : same;
        else if (t == LW_T_f16x2 && same && (want->kind == 'U' || want->kind == 'S' || type == LW_T_u16x2 || type == LW_T_s16x2))
            fits = true; /* as ptxas has it */
        else if (want->kind == 'U' || want->kind == 'S')
            fits = (have->kind == 'B' || integer) && (agree == LW_AGREE_wide ? enough : same);
        else fits = have->kind == 'B' && (agree == LW_AGREE_wide ? enough : same);
        if (fits) takes |= 1u << t;
    }
    return takes;
}

/* The same for every type and laxness, made once. */
static uint32_t agreements[LW_T_count][LW_AGREE_wide + 1];
static pthread_once_t tables_once = PTHREAD_ONCE_INIT;

static void fill_tables(void) {
    index_gates();
    for (int type = 0; type < LW_T_count; type++)
        for (int agree = 0; agree <= LW_AGREE_wide; agree++) agreements[type][agree] = agreeing((lw_type)type, (lw_agree)agree);
}

/* Operands with a type of their own, such as shift amounts, do not share the laxness of logic. */
static uint32_t takes_of(const lw_match *m, const lw_operand_form *o) {
    if (o->is_address) {
        const uint32_t bits = 1u << LW_T_b32 | 1u << LW_T_b64, integers = 1u << LW_T_u32 | 1u << LW_T_u64 | 1u << LW_T_s32 | 1u << LW_T_s64;
        return bits | integers;
    }
    if (o->untyped) return 1u << o->type;
    bool lax = m->form->agree != LW_AGREE_size || !o->typed;
    uint32_t takes = agreements[o->type][lax ? m->form->agree : LW_AGREE_type];
    if (o->or_predicate) takes |= 1u << LW_T_pred;
    return lax ? takes : takes & ~(1u << LW_T_f16x2); /* shift amounts are plain numbers */
}

static const char *group_text(const lw_match *m, const char *at) { /* of "$2" */
    unsigned n = (unsigned)(at[1] - '0');
    return n <= m->group_count ? m->group[n] : "";
}

static uint32_t number_in(const char *text) { return (uint32_t)strtoul(text + strcspn(text, "0123456789"), NULL, 10); }

/* How many elements a vector has: "4", or the number in a group's text, "$2" of v4, x4, 4d (1 where it has none); or "mk$1" of m16n8k16,
 * the product of these letters' numbers; and then "/64", "*2" or "-2". */
static uint32_t count_of(const lw_match *m, const char *at) {
    if (*at >= '0' && *at <= '9') return (uint32_t)strtoul(at, NULL, 10);
    size_t letters = strspn(at, "mnk");
    const char *text = group_text(m, at + letters), *then = at + letters + 2;
    uint32_t count = letters || !*text ? 1 : number_in(text);
    for (size_t i = 0; i < letters; i++) {
        const char *found = strchr(text, at[i]);
        count *= found ? number_in(found) : 0;
    }
    uint32_t by = (uint32_t)strtoul(then + 1, NULL, 10);
    return *then == '/' ? count / by : *then == '*' ? count * by : *then == '-' ? count - by : count;
}

/* The coordinates of a texture or surface by its geometry, 1d … acube: one, two or four, with an index in front for arrays; four always
 * fit, as in old programs. Derivatives have no index, and always braces. */
static void coordinates(const lw_match *m, lw_operand_form *o, const char *at, bool derivatives) {
    const char *text = group_text(m, at);
    o->array = *text == 'a' && !derivatives;
    uint32_t dimensions = number_in(text) + o->array;
    bool samples = strchr(text, 'm') != NULL;
    o->vector = samples || dimensions > 2 || strstr(text, "cube") ? 4 : (uint8_t)dimensions;
    o->braces = true;
    o->or_four = o->variable = !derivatives; /* one coordinate without braces is a register */
    o->always_braces = derivatives;
}

static bool is_word(const char *at, size_t size, const char *word) { return size == strlen(word) && !memcmp(at, word, size); }

/* One attribute behind a colon. */
static void attribute(const lw_match *m, lw_operand_form *o, const char *at, size_t size) {
    static const struct { const char *name; size_t size; lw_shape shape; } shapes[] = {
#define SHAPE(name, shape) {#name, sizeof #name - 1, LW_SHAPE_##shape},
        SHAPE(imm, IMM) SHAPE(reg, REG) SHAPE(label, LABEL) SHAPE(targets, TARGETS) SHAPE(func, FUNC)
        SHAPE(list, LIST) SHAPE(any, ANY) SHAPE(source, SOURCE) SHAPE(special, SPECIAL) SHAPE(sink, SINK)
#undef SHAPE
    };
    for (size_t i = 0; i < LW_COUNT(shapes); i++)
        if (shapes[i].size == size && !memcmp(shapes[i].name, at, size)) {
            o->shape = shapes[i].shape;
            if (o->shape == LW_SHAPE_REG) o->type = LW_T_none;
            return;
        }
    if (is_word(at, size, "in")) return; /* the range says it all */
    if (is_word(at, size, "var") || is_word(at, size, "bits")) {
        o->variable = true;
        o->untyped = size == 4;
        return;
    }
    if (is_word(at, size, "neg")) {
        o->negatable = true;
        return;
    }
    if (is_word(at, size, "address")) { /* an integer register as wide as some address */
        o->type = LW_T_none;
        o->is_address = true;
        return;
    }
    if (is_word(at, size, "or-pred")) {
        o->or_predicate = true;
        return;
    }
    if ((*at == 'v' || *at == 'V' || *at == 'W') && size > 1 && strchr("$0123456789mnk", at[1])) {
        o->vector = (uint8_t)count_of(m, at + 1);
        o->braces = true;
        o->always_braces = *at == 'V' || (*at == 'W' && o->vector == 1);
        return;
    }
    if ((*at == 'g' || *at == 'G') && at[1] == '$') {
        coordinates(m, o, at + 1, *at == 'G');
        return;
    }
    o->type = type_of(m, at, size);
    o->typed = true;
    if (o->type == LW_T_none) o->shape = LW_SHAPE_ANY;
}

/* "[a:global]", "[a:texref]": where an address points, if the spelling does not say it. */
static void address_form(const lw_match *m, lw_operand_form *o, const char *at, const char *end) {
    o->shape = LW_SHAPE_ADDRESS;
    o->name_size = (uint8_t)(end - at);
    size_t name = strcspn(at, ":,]");
    if (at[name] != ':') return;
    const char *word = at + name + 1;
    size_t size = strcspn(word, ",{]");
    o->space = space_named(word, size);
    if (o->space == LW_SPACE_none) o->opaque = type_of(m, word, size);
}

static void operand_form(lw_arena *arena, const lw_match *m, lw_operand_form *o, const char *at, const char *end);
static const char *operand_end(const char *p);
static uint32_t takes_of(const lw_match *m, const lw_operand_form *o);

/* What stands in the brackets behind the base of an address: "[a, c:s32:v$1]". */
static void inner_forms(lw_arena *arena, const lw_match *m, lw_operand_form *o, const char *at, const char *end) {
    enum { INNER_MAX = 2 };
    bool optional = false;
    for (const char *p = at + 1 + strcspn(at + 1, ",{]"); p < end - 1 && o->inner_max < INNER_MAX;) {
        if (*p == ' ' || *p == ',') p++;
        else if (*p == '{' && p[1] == ',') optional = true, p++;
        else if (*p == '}') optional = false, p++;
        else {
            const char *last = operand_end(p);
            if (!o->inner) o->inner = LW_NEW_ARRAY(arena, lw_operand_form, INNER_MAX);
            lw_operand_form *inner = &o->inner[o->inner_max++];
            operand_form(arena, m, inner, p, last);
            inner->takes = agreements[inner->type][LW_AGREE_type];
            inner->optional = optional;
            o->inner_min += !optional;
            p = last;
        }
    }
}

/* What stands behind an operand's name: |p, ?, .sel, :attributes, in any order; behind ";" what it may be as a vector. */
static void attributes(lw_arena *arena, const lw_match *m, lw_operand_form *o, const char *p, const char *end) {
    while (p < end) {
        char c = *p++;
        if (c == ';') {
            o->if_vector = LW_NEW(arena, lw_operand_form);
            *o->if_vector = (lw_operand_form){.name = o->name, .name_size = o->name_size, .type = m->type, .vector = 1};
            o = o->if_vector;
        }
        if (c == '?') *(o->pair ? &o->pair_sink : &o->sink) = true;
        if (c == '|') o->pair = true, o->pair_optional = p[-2] == '{';
        if (c == '.') {
            o->selectable = true;
            o->lanes = p[3] == '2' || p[3] == '4' ? (uint8_t)(p[3] - '0') : 0; /* .sel2 .sel4 */
        }
        if (c == ':' || c == ';') {
            size_t size = strcspn(p, ":;,?|({})] ");
            attribute(m, o, p, size);
            p += size;
            if (*p != '(') continue;
            o->range = p + 1;
            p = strchr(p, ')') + 1;
        }
    }
    o->takes = takes_of(m, o);
}

/* One operand, from `at` to `end`: name, |p, ?, .sel, :attributes, in any order behind the name. */
static void operand_form(lw_arena *arena, const lw_match *m, lw_operand_form *o, const char *at, const char *end) {
    *o = (lw_operand_form){.name = at, .type = m->type, .vector = 1};
    if (*at == '[') {
        address_form(m, o, at, end);
        inner_forms(arena, m, o, at, end);
        return;
    }
    if (!strncmp(at, "\xe2\x80\xa6", 3) || !strncmp(at, "...", 3)) {
        o->shape = LW_SHAPE_REST;
        return;
    }
    if (!strncmp(at, "vec(", 4)) {
        o->vector = 0;
        o->braces = true;
        o->name = at += 4;
    }
    const char *p = at;
    while (p < end && ((*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') || *p == '_' || *p == '-' || (*p >= '0' && *p <= '9')))
        p++;
    o->name_size = (uint8_t)(p - at);
    attributes(arena, m, o, p, end);
}

/* Where the operand that begins at p ends: a comma outside of brackets, or the } of an optional one. */
static const char *operand_end(const char *p) {
    int depth = 0;
    for (; *p; p++) {
        if (*p == '{' && depth == 0 && p[1 + strspn(p + 1, " ")] == ',') break;
        if (*p == '[' || *p == '{' || *p == '(') depth++;
        if (*p == ']' || *p == ')' || *p == '}')
            if (depth-- == 0) break;
        if (*p == ',' && depth == 0) break;
    }
    return p;
}

/* The manual names what an instruction writes d, f (bfi), p or r. */
static bool is_written(const lw_operand_form *o) {
    return o->pair || (o->name_size == 1 && strchr("dfpr", *o->name) && o->shape != LW_SHAPE_FUNC);
}

enum { LW_OPERANDS_MAX = 32 };

/* Operands that stand there if and only if the spelling has a modifier. */
static const struct { const char *operand, *word; } bound_operands[] = {
    {"cache-policy", "L2::cache_hint"},
    {"cta-mask", "multicast::cluster"},
};

static bool has_word(const lw_walk *w, const char *word) {
    for (uint32_t i = 1; i < w->count; i++)
        if (!strcmp(w->words[i]->text, word)) return true;
    return false;
}

/* +1: the operand must stand there, -1: it cannot, 0: it is no such operand. */
static int is_bound(const lw_walk *w, const lw_operand_form *o) {
    for (size_t i = 0; i < LW_COUNT(bound_operands) && o->optional; i++)
        if (is_word(o->name, o->name_size, bound_operands[i].operand)) return has_word(w, bound_operands[i].word) ? 1 : -1;
    return 0;
}

static void make_operand_forms(lw_arena *arena, lw_match *m, const lw_walk *w) {
    lw_operand_form forms[LW_OPERANDS_MAX];
    uint32_t n = 0, min = 0, max = 0;
    bool optional = false;
    for (const char *p = m->form->operands; *p && n < LW_OPERANDS_MAX;) {
        if (*p == ' ' || *p == ',') p++;
        else if (*p == '{' && p[1 + strspn(p + 1, " ")] == ',') optional = true, p++;
        else if (*p == '}') optional = false, p++;
        else {
            const char *end = operand_end(p), *last = end;
            while (last > p && last[-1] == ' ') last--;
            operand_form(arena, m, &forms[n], p, last);
            forms[n].takes = takes_of(m, &forms[n]);
            forms[n].optional = optional;
            forms[n].written = n == 0 && is_written(&forms[n]);
            max = forms[n].shape == LW_SHAPE_REST || max == 255 ? 255 : max + 1;
            min += !optional && forms[n].shape != LW_SHAPE_REST;
            n++;
            p = end;
        }
    }
    uint32_t kept = 0;
    for (uint32_t i = 0; i < n; i++) {
        int bound = is_bound(w, &forms[i]);
        if (bound < 0) max--;
        if (bound > 0) forms[i].optional = false, min++;
        if (bound >= 0) forms[kept++] = forms[i];
    }
    n = kept;
    m->operand_form_count = (uint8_t)n;
    m->operands_min = (uint8_t)min;
    m->operands_max = (uint8_t)max;
    m->operand_forms = lw_arena_copy(arena, forms, n * sizeof *forms);
}

const lw_operand_form *lw_ptx_operand_form(const lw_match *m, uint32_t count, uint32_t index) {
    /* Optional operands that stand in the middle are there if the count says so, the first ones first. */
    uint32_t spare = count > m->operands_min ? count - m->operands_min : 0;
    for (uint32_t i = 0; i < m->operand_form_count; i++) {
        const lw_operand_form *o = &m->operand_forms[i];
        if (o->shape == LW_SHAPE_REST) return o;
        if (o->optional) {
            if (!spare) continue;
            spare--;
        }
        if (index-- == 0) return o;
    }
    return NULL;
}

bool lw_ptx_operand_is_written(const lw_match *m, uint32_t index) {
    return index < m->operand_form_count && m->operand_forms[index].written;
}

lw_type lw_ptx_operand_type(const lw_match *m, uint32_t operand) {
    return operand < m->operand_form_count ? m->operand_forms[operand].type : LW_T_none;
}

/* ---- A match ------------------------------------------------------------------------------------------ */

/* The lane function's name by the row's template. */
static lw_lane_id lane_of(const lw_match *m) {
    char name[64];
    size_t n = 0;
    for (const char *p = m->form->lane; *p && n + 24 < sizeof name; p++) {
        if (*p != '$' && *p != '%' && *p != '#' && *p != '?') {
            name[n++] = *p;
            continue;
        }
        char how = *p++;
        const char *text = m->group[*p - '0'];
        size_t size = strlen(text);
        if (how == '%' || how == '#') {
            n += (size_t)snprintf(name + n, 16, how == '%' ? "b%u" : "%u", lw_types[lw_type_find(text, size)].bits);
            continue;
        }
        if (how == '?' && size) name[n++] = '_';
        if (size > 20) return LW_LANE_none; /* no lane function has such a part */
        memcpy(name + n, text, size);
        n += size;
    }
    name[n] = 0;
    return lw_lane_find(name);
}

static lw_space space_of(const lw_symbol *word) { return space_named(word->text, word->size); }

static void set_types(const lw_walk *w, lw_match *m) {
    for (uint32_t i = 1; i < w->count; i++) {
        if (w->type[i]) m->type = (lw_type)w->type[i];
        else if (!m->space) m->space = space_of(w->words[i]);
    }
}

/* Is there an address without a space? */
static bool is_generic(const lw_match *m) {
    for (uint32_t i = 0; i < m->operand_form_count && !m->space; i++)
        if (m->operand_forms[i].shape == LW_SHAPE_ADDRESS && !m->operand_forms[i].space && !m->operand_forms[i].opaque) return true;
    return false;
}

/* Of words that ask for the same, the one whose gate is listed first is named. */
static void set_gates(const lw_walk *w, lw_match *m, const lw_module_ptx *module) {
    uint32_t isa_gate = 0, sm_gate = 0;
    const lw_form *f = m->form;
    m->isa = f->isa;
    m->sm = f->sm;
    if (f->or_isa && module->version >= f->or_isa && module->target >= f->or_sm) {
        m->isa = f->or_isa;
        return;
    }
    if (is_generic(m)) {
        if (m->isa < V(2, 0)) m->isa = V(2, 0);
        if (m->sm < SM(20)) m->sm = SM(20);
    }
    for (uint32_t i = 1; i < w->count; i++) {
        for (uint32_t g = first_gate[w->words[i]->hash % GATE_SLOTS]; g; g = next_gate[g - 1]) {
            const lw_gate *gate = &gates[g - 1];
            if (strcmp(gate->word, w->words[i]->text)) continue;
            if (*gate->opcode != '*' && strcmp(gate->opcode, w->words[0]->text)) continue;
            if (gate->isa > m->isa || (gate->isa == m->isa && g < isa_gate)) m->isa = gate->isa, m->isa_word = (uint8_t)i, isa_gate = g;
            if (gate->sm > m->sm || (gate->sm == m->sm && g < sm_gate)) m->sm = gate->sm, m->sm_word = (uint8_t)i, sm_gate = g;
        }
    }
}

/* Does this module stand outside of any gate? Asked once a spelling. */
static void set_gated(const lw_module_ptx *module, lw_match *m) {
    const lw_form *f = m->form;
    bool is_gone = f->gone_isa && module->version >= f->gone_isa && module->target >= f->gone_sm;
    m->gated = module->version < m->isa || module->target < m->sm || (f->family && !module->target_suffix) || is_gone ||
               (f->old_isa && module->version >= f->old_isa) || m->fault || m->late_vector || (f->last && module->target > f->last);
}

/* ---- Rules of combinations that patterns cannot say ----------------------------------------------------- */

static uint32_t find_word(const lw_walk *w, const char *prefix) {
    size_t size = strlen(prefix);
    for (uint32_t i = 1; i < w->count; i++)
        if (!strncmp(w->words[i]->text, prefix, size)) return i;
    return 0;
}

static void set_fault(lw_match *m, uint32_t word, const char *text) {
    if (m->fault || !word) return;
    m->fault = text;
    m->fault_word = (uint8_t)word;
}

/* Vectors have at most 128 bits, or 256 in global memory of the newest targets (manual section 9.7.9.8). */
static bool vector_of_256(const lw_walk *w, lw_match *m) {
    uint32_t word = 0;
    for (uint32_t i = 1; i < w->count; i++)
        if (w->words[i]->size == 2 && w->words[i]->text[0] == 'v') word = i;
    uint32_t bits = lw_types[m->type].bits, total = word ? bits * (uint32_t)(w->words[word]->text[1] - '0') : bits;
    if (total <= 128) {
        if (word && w->words[word]->text[1] == '8') set_fault(m, word, "a vector of 8 needs elements of 32 bits");
        return false;
    }
    if (total != 256 || bits > 64 || m->form->step == LW_STEP_none || !strcmp(w->words[0]->text, "ldu")) {
        set_fault(m, word, "the vector is wider than 128 bits");
        return false;
    }
    if (m->space && m->space != LW_SPACE_global) set_fault(m, word, "a vector of 256 bits must be in the space .global");
    if (m->isa < V(8, 8)) m->isa = V(8, 8), m->isa_word = (uint8_t)word;
    if (m->sm < SM(100)) m->sm = SM(100), m->sm_word = (uint8_t)word;
    return true;
}

static void spelling_fault(const lw_walk *w, lw_match *m) {
    lw_step_id step = m->form->step;
    bool memory = step == LW_STEP_ld || step == LW_STEP_st, wide = false;
    if (memory || !strcmp(w->words[0]->text, "mov")) wide = vector_of_256(w, m);
    if (!memory && step != LW_STEP_atom && step != LW_STEP_red && step != LW_STEP_none) return;
    bool shared = m->space == LW_SPACE_shared && (memory || !strcmp(w->words[0]->text, "atom") || !strcmp(w->words[0]->text, "red"));
    if (shared || (memory && m->space && m->space != LW_SPACE_global)) {
        set_fault(m, find_word(w, "L1::"), "a cache modifier needs the space .global or a generic address");
        set_fault(m, find_word(w, "L2::"), "a cache modifier needs the space .global or a generic address");
    }
    if (memory && !wide)
        set_fault(m, find_word(w, "L2::evict"), "an L2 eviction priority needs a vector of 256 bits: .v8.b32 or .v4.b64");
}

/* Does .v2 or the like stand behind a type? */
static bool is_late(const lw_walk *w) {
    for (uint32_t i = 2; i < w->count; i++)
        if (w->words[i]->size == 2 && w->words[i]->text[0] == 'v' && w->types & ((1u << i) - 1)) return true;
    return false;
}

/* ---- The match itself ----------------------------------------------------------------------------------- */

static void explain(const lw_instruction *i, lw_text *why) {
    const char *opcode = i->words[0]->text;
    lw_text expected = {0};
    if (!lw_ptx_is_opcode(i->words[0])) {
        lw_text_say(why, "'%s' is no instruction", opcode);
        return;
    }
    lw_mismatch found = lw_form_explain(i->words, i->word_count, &expected);
    if (found.edit == LW_EDIT_insert) lw_text_say(why, "'%s' lacks a modifier", i->mnemonic->text);
    else lw_text_say(why, "'.%s' does not fit '%s' here", i->words[found.word]->text, opcode);
    if (expected.size) lw_text_say(why, ":%.*s may stand here", (int)expected.size - 1, expected.at);
    lw_text_free(&expected);
}

static uint32_t group_count(const char *pattern) {
    uint32_t n = 0;
    while ((pattern = strchr(pattern, '('))) n++, pattern++;
    return n < LW_GROUPS_MAX ? n : LW_GROUPS_MAX;
}

lw_match *lw_match_make(lw_arena *arena, const lw_module_ptx *module, const lw_form *form, const lw_walk *w) {
    lw_match *m = LW_NEW(arena, lw_match);
    m->form = form;
    m->group_count = group_count(form->pattern);
    for (uint32_t i = 0; i <= LW_GROUPS_MAX; i++) m->group[i] = w->group[i] ? w->group[i] : "";
    set_types(w, m);
    m->words = w->words;
    if (w->loose) {
        m->words = LW_NEW_ARRAY(arena, lw_symbol *, w->count);
        m->words[0] = w->words[0];
        for (uint32_t i = 1; i < w->count; i++) m->words[i] = w->words[w->order[i]];
    }
    make_operand_forms(arena, m, w);
    if (form->lane) m->lane = (uint16_t)lane_of(m);
    m->executable = m->lane || form->step;
    set_gates(w, m, module);
    m->late_vector = w->loose && is_late(w);
    spelling_fault(w, m);
    set_gated(module, m);
    if (m->lane && m->operands_max > m->operands_min) {
        lw_match *longer = lw_arena_copy(arena, m, sizeof *m);
        longer->lane = 0;
        longer->executable = false;
        m->longer = longer;
    }
    return m;
}

const lw_match *lw_ptx_match(lw_module_ptx *module, const lw_instruction *i, lw_text *why) {
    if (LW_LIKELY(i->mnemonic->form)) return i->mnemonic->form;
    const lw_match *m = lw_spellings_find(module, i->mnemonic);
    if (!m) {
        pthread_once(&tables_once, fill_tables);
        lw_walk w;
        const lw_form *form = lw_form_find(&w, i->words, i->word_count);
        if (!form) {
            if (why) explain(i, why);
            return NULL;
        }
        m = lw_spellings_add(module, i->mnemonic, form, &w);
        if (!m) m = lw_match_make(module->arena, module, form, &w);
    }
    i->mnemonic->form = m;
    return m;
}
