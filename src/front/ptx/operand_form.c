/* operand_form.c: what the operand text of a row asks for, for one spelling: shapes, types, vectors, ranges. */
#include "front/ptx/forms.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

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
        else if (t == LW_T_f16x2 && (agree == LW_AGREE_wide ? enough : same) &&
                 (want->kind == 'U' || want->kind == 'S' || type == LW_T_u16x2 || type == LW_T_s16x2))
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

void lw_agreements_fill(void) {
    for (int type = 0; type < LW_T_count; type++)
        for (int agree = 0; agree <= LW_AGREE_wide; agree++)
            agreements[type][agree] = agreeing((lw_type)type, (lw_agree)agree);
}

static uint32_t same_size(const lw_operand_form *o) {
    uint32_t takes = o->raw ? 1u << LW_T_pred : 0;
    for (int t = LW_T_pred + 1; t < LW_T_count; t++)
        if (lw_types[t].bits == lw_types[o->type].bits && !lw_type_is_opaque((lw_type)t)) takes |= 1u << t;
    return takes;
}

/* Operands with a type of their own, such as shift amounts, do not share the laxness of logic. */
static uint32_t takes_of(const lw_match *m, const lw_operand_form *o) {
    if (o->is_address) {
        const uint32_t bits = 1u << LW_T_b32 | 1u << LW_T_b64,
                       integers = 1u << LW_T_u32 | 1u << LW_T_u64 | 1u << LW_T_s32 | 1u << LW_T_s64;
        return bits | integers;
    }
    if (o->untyped) return 1u << o->type;
    if (o->same && (o->raw || o->number || lw_types[o->type].kind != 'U')) return same_size(o);
    bool lax = m->form->agree != LW_AGREE_size || !o->typed;
    uint32_t takes = agreements[o->type][lax ? m->form->agree : LW_AGREE_type];
    if (o->or_predicate) takes |= 1u << LW_T_pred;
    return lax && !o->number ? takes : takes & ~(1u << LW_T_f16x2); /* shift amounts are plain numbers */
}

static const char *group_text(const lw_match *m, const char *at) { /* of "$2" */
    unsigned n = (unsigned)(at[1] - '0');
    return n <= m->group_count ? m->group[n] : "";
}

static uint32_t number_in(const char *text) { return (uint32_t)strtoul(text + strcspn(text, "0123456789"), NULL, 10); }

/* How many elements a vector has: "4", or the number in a group's text, "$2" of v4, x4, 4d (1 where it has none); or
 * "mk$1" of m16n8k16, the product of these letters' numbers; and then "/64", "*2" or "-2". */
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

/* The coordinates of a texture or surface by its geometry, 1d … acube: one, two or four, with an index in front for
 * arrays; four always fit, as in old programs. Derivatives have no index, and always braces. */
static void coordinates(const lw_match *m, lw_operand_form *o, const char *at, bool derivatives) {
    const char *text = group_text(m, at);
    size_t size = strlen(text);
    const lw_modifier *geometry = &lw_modifiers[lw_word_value_of(text, size, lw_hash(text, size)).modifier];
    o->array = geometry->array && !derivatives;
    uint32_t dimensions = geometry->dimensions + o->array;
    o->vector = geometry->samples || dimensions > 2 || geometry->cube ? 4 : (uint8_t)dimensions;
    o->braces = true;
    o->or_four = o->variable = !derivatives; /* one coordinate without braces is a register */
    o->lists = dimensions == 1 && !o->array && !derivatives;
    o->loose = !derivatives &&
               (m->form->loose || (!geometry->samples && !o->array && (dimensions == 2 || geometry->cube)));
    o->list_only = dimensions == 3 && !o->array;
    o->always_braces = derivatives;
}

/* One for each dimension, or four. */
static void offsets(const lw_match *m, lw_operand_form *o, const char *at) {
    coordinates(m, o, at, false);
    const char *text = group_text(m, at);
    const lw_modifier *geometry =
        &lw_modifiers[lw_word_value_of(text, strlen(text), lw_hash(text, strlen(text))).modifier];
    o->vector = geometry->dimensions > 2 ? 4 : geometry->dimensions;
    o->array = o->loose = o->list_only = o->variable = false;
    o->lists = geometry->dimensions == 1;
}

static bool is_word(const char *at, size_t size, const char *word) {
    return size == strlen(word) && !memcmp(at, word, size);
}

/* One attribute behind a colon. */
static void attribute(const lw_match *m, lw_operand_form *o, const char *at, size_t size) {
    static const struct {
        const char *name;
        size_t size;
        lw_shape shape;
    } shapes[] = {
#define SHAPE(name, shape) {#name, sizeof #name - 1, LW_SHAPE_##shape},
        SHAPE(imm, IMM) SHAPE(reg, REG) SHAPE(label, LABEL) SHAPE(targets, TARGETS) SHAPE(func, FUNC) SHAPE(list, LIST)
            SHAPE(any, ANY) SHAPE(source, SOURCE) SHAPE(special, SPECIAL) SHAPE(sink, SINK)
#undef SHAPE
    };
    static const struct {
        const char *name;
        size_t at;
    } flags[] = {
#define FLAG(name, field) {name, offsetof(lw_operand_form, field)},
        FLAG("lists", lists) FLAG("low", low) FLAG("all", all) FLAG("consts", constants) FLAG("same", same)
            FLAG("neg", negatable) FLAG("or-address", or_address) FLAG("or-pred", or_predicate)
#undef FLAG
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
    for (size_t i = 0; i < LW_COUNT(flags); i++)
        if (is_word(at, size, flags[i].name)) {
            *(bool *)((char *)o + flags[i].at) = true;
            return;
        }
    if (is_word(at, size, "raw")) {
        o->same = o->raw = o->or_predicate = true;
        return;
    }
    if (is_word(at, size, "address")) { /* an integer register as wide as some address */
        o->type = LW_T_none;
        o->is_address = true;
        return;
    }
    if (is_word(at, size, "shared")) { /* of a variable whose address is taken */
        o->space = LW_SPACE_shared;
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
    if (*at == 'O' && size > 1 && at[1] == '$') {
        offsets(m, o, at + 1);
        return;
    }
    o->type = type_of(m, at, size);
    o->typed = true;
    o->number = is_word(at, size, "u32") || is_word(at, size, "s32");
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
    o->anywhere = is_word(word, size, "any");
    o->bare = !strncmp(word, "bare-", 5);
    if (o->bare) word += 5, size -= 5;
    o->space = lw_space_named(word, size);
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
            inner->takes = agreements[inner->type][LW_AGREE_type] & (inner->number ? ~(1u << LW_T_f16x2) : ~0u);
            inner->optional = optional;
            o->inner_min += !optional;
            p = last;
        }
    }
}

/* What stands behind an operand's name: |p, ?, .sel, :attributes, in any order; behind ";" what it may be as a
 * vector. */
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
    if (o->type == LW_T_bf16x2 && !o->braces && !m->form->hints) o->lists = true; /* but in memory */
    if (o->vector > 1 && !o->or_four) o->lists = false;
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
    while (p < end &&
           ((*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') || *p == '_' || *p == '-' || (*p >= '0' && *p <= '9')))
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

/* +1: the operand must stand there, by a modifier; -1: it cannot; 0: no modifier says so. */
static int is_bound(const lw_match *m, const lw_operand_form *o) {
    for (uint32_t word = 1; word < LW_MOD_count && o->optional; word++) {
        const lw_modifier *modifier = &lw_modifiers[word];
        if (modifier->operand && is_word(o->name, o->name_size, modifier->operand))
            return m->mode.at[modifier->field] == word ? 1 : -1;
    }
    return 0;
}

static bool takes_register(const lw_operand_form *o) {
    bool value = o->shape == LW_SHAPE_VALUE || o->shape == LW_SHAPE_REG || o->shape == LW_SHAPE_SPECIAL ||
                 o->shape == LW_SHAPE_SOURCE;
    return value && o->vector == 1 && !o->lists && !o->always_braces && !o->if_vector && (!o->pair || o->pair_optional);
}

void lw_operand_forms_make(lw_arena *arena, lw_match *m) {
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
            forms[n].plain = takes_register(&forms[n]);
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
        m->selectors |= forms[i].selectable;
        int bound = is_bound(m, &forms[i]);
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
