/* parse_type.c: types, each of which is made once a module. */
#include "front/pto/parse.h"

/* ---- The table of types --------------------------------------------------------------------------------- */

static uint32_t hash_of(const lw_pto_type *t) {
    uint64_t mixed = t->count * 0x9e3779b97f4a7c15u ^ (uint64_t)t->lanes << 20 ^ (uint64_t)t->width << 8 ^
                     (uint64_t)t->element << 3 ^ t->kind;
    if (t->space) mixed ^= lw_hash(t->space, strlen(t->space));
    mixed *= 0x9e3779b97f4a7c15u;
    return (uint32_t)(mixed >> 40);
}

static bool same(const lw_pto_type *a, const lw_pto_type *b) {
    return a->kind == b->kind && a->element == b->element && a->lanes == b->lanes && a->width == b->width &&
           a->count == b->count && !a->space == !b->space && (!a->space || !strcmp(a->space, b->space));
}

static const char *text_of(lw_arena *arena, const lw_pto_type *t) {
    const char *element = lw_pto_scalars[t->element].name;
    switch (t->kind) {
    case LW_PTO_SCALAR: return element;
    case LW_PTO_VREG: return lw_arena_printf(arena, "!pto.vreg<%ux%s>", t->lanes, element);
    case LW_PTO_MASK:
        return lw_arena_printf(arena, t->width ? "!pto.mask<b%u>" : "!pto.mask<%u>", t->width ? t->width : t->lanes);
    case LW_PTO_MEMREF: break;
    }
    const char *comma = t->space ? ", " : "", *space = t->space ? t->space : "";
    if (t->count == UINT64_MAX) return lw_arena_printf(arena, "memref<?x%s%s%s>", element, comma, space);
    return lw_arena_printf(arena, "memref<%llux%s%s%s>", (unsigned long long)t->count, element, comma, space);
}

static void grow(lw_pto_module *m) {
    uint32_t mask = m->type_mask * 4 + 3;
    lw_pto_type **slots = LW_NEW_ARRAY(m->arena, lw_pto_type *, (size_t)mask + 1);
    for (uint32_t i = 0; i <= m->type_mask; i++)
        for (lw_pto_type *t = m->types[i], *next; t; t = next) {
            next = t->next;
            lw_pto_type **slot = &slots[hash_of(t) & mask];
            t->next = *slot;
            *slot = t;
        }
    m->types = slots;
    m->type_mask = mask;
}

static const lw_pto_type *intern(lw_pto_module *m, const lw_pto_type *wanted) {
    uint32_t hash = hash_of(wanted);
    for (const lw_pto_type *t = m->types[hash & m->type_mask]; t; t = t->next)
        if (same(t, wanted)) return t;
    if (m->type_count++ > m->type_mask) grow(m);
    lw_pto_type *t = lw_arena_copy(m->arena, wanted, sizeof *wanted), **slot = &m->types[hash & m->type_mask];
    t->text = text_of(m->arena, t);
    t->next = *slot;
    return *slot = t;
}

void lw_pto_types_init(lw_pto_module *module) {
    module->type_mask = 63;
    module->types = LW_NEW_ARRAY(module->arena, lw_pto_type *, module->type_mask + 1);
}

const lw_pto_type *lw_pto_type_of_scalar(lw_pto_module *module, lw_pto_scalar scalar) {
    return intern(module, &(lw_pto_type){.kind = LW_PTO_SCALAR, .element = scalar});
}

/* ---- Parsing --------------------------------------------------------------------------------------------- */

static const lw_pto_meaning *word(const lw_pto_parser *p) {
    return p->token.kind == LW_PTO_TOKEN_WORD ? p->token.name->bound : NULL;
}

/* The x and the element of 64xi32. */
static bool parse_element(lw_pto_parser *p, lw_pto_type *type) {
    const lw_pto_meaning *m = word(p);
    if (m && m->element) {
        type->element = m->element;
        lw_pto_next(p);
        return true;
    }
    if (p->token.kind != LW_PTO_TOKEN_WORD || p->token.name->text[0] != 'x' || !p->token.name->text[1])
        return lw_pto_expected(p, "'x' and an element type such as i32");
    lw_place place = {p->token.place.at + 1, p->token.place.size - 1};
    lw_diag_add(p->diags, LW_D_pto_element_unknown, place, p->token.name->text + 1);
    return false;
}

static bool parse_lanes(lw_pto_parser *p, uint32_t *lanes) {
    if (p->token.kind != LW_PTO_TOKEN_INT) return lw_pto_expected(p, "the number of lanes");
    uint64_t value = p->token.value;
    if (p->token.too_large || !value || value > LW_PTO_LANES_MAX) {
        const char *shown = lw_pto_found(p);
        lw_diag_add(p->diags, LW_D_pto_lane_range, p->token.place, LW_PTO_LANES_MAX, shown);
        return false;
    }
    *lanes = (uint32_t)value;
    lw_pto_next(p);
    return true;
}

static bool parse_vreg(lw_pto_parser *p, lw_pto_type *type) {
    type->kind = LW_PTO_VREG;
    return parse_lanes(p, &type->lanes) && parse_element(p, type);
}

static bool parse_mask(lw_pto_parser *p, lw_pto_type *type) {
    type->kind = LW_PTO_MASK;
    if (p->token.kind != LW_PTO_TOKEN_WORD) return parse_lanes(p, &type->lanes);
    const lw_pto_meaning *m = word(p);
    type->width = m && m->mask_bits ? m->mask_bits : 0;
    if (!type->width) {
        lw_diag_add(p->diags, LW_D_pto_mask_width, p->token.place, p->token.name->text);
        return false;
    }
    type->lanes = LW_PTO_REGISTER_BITS / type->width;
    lw_pto_next(p);
    return true;
}

static bool bad_shape(lw_pto_parser *p) {
    lw_diag_add(p->diags, LW_D_pto_memref_shape, p->token.place);
    return false;
}

/* A layout moves elements; a memory space only says where they lie. #name may stand for either. */
static bool is_layout(const lw_pto_parser *p) {
    const lw_pto_token *t = &p->token;
    const char *text = t->kind == LW_PTO_TOKEN_WORD                     ? t->name->text
                       : t->kind == LW_PTO_TOKEN_HASH && t->name->bound ? t->name->bound
                                                                        : "";
    return !strncmp(text, "affine_map", 10) || !strncmp(text, "strided", 7);
}

static bool refuse_layout(lw_pto_parser *p, lw_place start, const char *text) {
    lw_diag_add(p->diags, LW_D_pto_memref_layout, lw_pto_since(p, start), text);
    return false;
}

/* What numbers have: no type of registers or memory. */
static bool parse_integer_type(lw_pto_parser *p) {
    const lw_pto_meaning *m = p->token.kind == LW_PTO_TOKEN_WORD ? p->token.name->bound : NULL;
    if (!m || !m->scalar || lw_pto_scalars[m->scalar].kind == 'F') return lw_pto_expected(p, "an integer type");
    lw_pto_next(p);
    return true;
}

/* 1, 1 : i32. Number 0 is the space of a memref that names none. */
static bool parse_space_number(lw_pto_parser *p, lw_pto_type *type) {
    if (p->token.too_large) {
        lw_diag_add(p->diags, LW_D_pto_int_range, p->token.place, lw_pto_found(p), "the number of a memory space");
        return false;
    }
    if (p->token.value) type->space = lw_arena_printf(p->arena, "%llu", (unsigned long long)p->token.value);
    lw_pto_next(p);
    return !lw_pto_take(p, ':') || parse_integer_type(p);
}

/* What stands behind the comma. Only the last of two can be a memory space. */
static bool parse_space(lw_pto_parser *p, lw_pto_type *type) {
    lw_place start = p->token.place;
    const bool layout = is_layout(p), name = p->token.kind == LW_PTO_TOKEN_HASH || p->token.kind == LW_PTO_TOKEN_STRING;
    if (p->token.kind == LW_PTO_TOKEN_INT) return parse_space_number(p, type);
    if (!layout && !name) return lw_pto_expected(p, "a memory space, such as 1, \"name\" or #name");
    if (!lw_pto_parse_balanced(p, ",>", &type->space)) return false;
    return layout || lw_pto_at(p, ',') ? refuse_layout(p, start, type->space) : true;
}

static bool parse_memref(lw_pto_parser *p, lw_pto_type *type) {
    type->kind = LW_PTO_MEMREF;
    type->count = UINT64_MAX;
    if (p->token.kind == LW_PTO_TOKEN_INT) {
        if (p->token.too_large || p->token.value > UINT64_MAX / 16) {
            lw_diag_add(p->diags, LW_D_pto_int_range, p->token.place, lw_pto_found(p), "the size of memory");
            return false;
        }
        type->count = p->token.value;
        lw_pto_next(p);
    } else if (!lw_pto_take(p, '?')) {
        return word(p) || lw_pto_at(p, '*') ? bad_shape(p) : lw_pto_expected(p, "the number of elements or '?'");
    }
    /* ?x?xi32: the x stands alone; 4x4xi32: behind the x comes a number */
    if (p->token.kind == LW_PTO_TOKEN_WORD && p->token.name->text[0] == 'x' &&
        (!p->token.name->text[1] || (p->token.name->text[1] >= '0' && p->token.name->text[1] <= '9')))
        return bad_shape(p);
    if (!parse_element(p, type)) return false;
    return !lw_pto_take(p, ',') || parse_space(p, type);
}

/* ---- What was written a short while ago -------------------------------------------------------------------- */

static void remember(lw_pto_recents *kept, lw_place text, const lw_pto_written_type *types, uint32_t count) {
    if (count > LW_PTO_RECENT_TYPES) return;
    lw_pto_recent *r = &kept->at[kept->next++ % LW_COUNT(kept->at)];
    r->text = text;
    r->count = count;
    for (uint32_t i = 0; i < count; i++) r->types[i] = types[i];
}

/* Where the same stands here, its tokens are passed over. */
static const lw_pto_recent *take_recent(lw_pto_parser *p, const lw_pto_recents *kept) {
    const char *text = p->lexer.source->text;
    uint32_t at = p->token.place.at, rest = p->lexer.source->size - at;
    for (uint32_t i = 0; i < LW_COUNT(kept->at); i++) {
        const lw_pto_recent *r = &kept->at[i];
        if (!r->text.size || r->text.size > rest || memcmp(text + at, text + r->text.at, r->text.size) != 0) continue;
        p->token.place.size = r->text.size;
        p->lexer.at = at + r->text.size;
        lw_pto_next(p);
        return r;
    }
    return NULL;
}

/* ---- Types --------------------------------------------------------------------------------------------------- */

typedef bool body_parser(lw_pto_parser *p, lw_pto_type *type);

static bool parse_body(lw_pto_parser *p, body_parser *parse, const lw_pto_type **type) {
    lw_pto_type made = {0};
    const lw_pto_recent *recent = take_recent(p, &p->recent_types);
    if (LW_LIKELY(recent)) return *type = recent->types[0].type, true;
    lw_place start = p->token.place;
    uint32_t errors = p->diags->errors;
    lw_pto_next(p);
    if (!lw_pto_expect(p, '<') || !parse(p, &made) || !lw_pto_expect(p, '>')) return false;
    *type = intern(p->module, &made);
    lw_pto_written_type written = {.type = *type, .place = lw_pto_since(p, start)};
    if (errors == p->diags->errors) remember(&p->recent_types, written.place, &written, 1);
    return true;
}

static bool unknown_type(lw_pto_parser *p) {
    static const char *const names[] = {
        "!pto.vreg",
        "!pto.mask",
        "memref",
#define SCALAR(name, bits, kind) #name,
#define SPELLED(text, name)      #text,
#include "pto/types.def"
    };
    const char *near = lw_nearest(p->token.name->text, names, LW_COUNT(names));
    lw_diag *diag = lw_diag_add(p->diags, LW_D_pto_unknown_type, p->token.place, p->token.name->text);
    if (near) diag->fix = lw_arena_say(p->arena, "did you mean '%s'?", near);
    return false;
}

bool lw_pto_at_type(const lw_pto_parser *p) {
    return p->token.kind == LW_PTO_TOKEN_TYPE || p->token.kind == LW_PTO_TOKEN_WORD;
}

static bool parse_type(lw_pto_parser *p, const lw_pto_type **type) {
    const lw_pto_token *t = &p->token;
    if (t->kind == LW_PTO_TOKEN_TYPE) {
        if (t->name == p->words.vreg) return parse_body(p, parse_vreg, type);
        if (t->name == p->words.mask) return parse_body(p, parse_mask, type);
        if (!t->name->bound) return unknown_type(p);
        *type = t->name->bound;
        lw_pto_next(p);
        return true;
    }
    if (t->kind != LW_PTO_TOKEN_WORD) return lw_pto_expected(p, "a type");
    if (t->name == p->words.memref) return parse_body(p, parse_memref, type);
    const lw_pto_meaning *m = t->name->bound;
    if (!m || !m->scalar) return unknown_type(p);
    *type = lw_pto_type_of_scalar(p->module, m->scalar);
    lw_pto_next(p);
    return true;
}

/* The name that the next token gives a type, if it does. */
static const lw_symbol *alias_here(const lw_pto_parser *p) {
    return p->token.kind == LW_PTO_TOKEN_TYPE && p->token.name->bound ? p->token.name : NULL;
}

static void note_spelling(lw_pto_parser *p, const lw_pto_written_type *written) {
    if (!p->module->has_type_names) return;
    LW_PUSH(p->arena, p->module->spelled) = (lw_pto_spelled){written->place.at, written->type, written->alias};
}

static bool parse_written(lw_pto_parser *p, lw_pto_written_type *written) {
    *written = (lw_pto_written_type){.place = p->token.place, .alias = alias_here(p)};
    if (!parse_type(p, &written->type)) return false;
    written->place = lw_pto_since(p, written->place);
    note_spelling(p, written);
    return true;
}

bool lw_pto_parse_type(lw_pto_parser *p, const lw_pto_type **type) {
    lw_pto_written_type written;
    if (!parse_written(p, &written)) return false;
    *type = written.type;
    return true;
}

static bool push_type(lw_pto_parser *p, lw_pto_range *range) {
    lw_pto_written_type written;
    if (!parse_written(p, &written)) return false;
    LW_PUSH(p->arena, p->types) = written;
    range->count++;
    return true;
}

/* (T, T) as it was written before, with its own places. */
static bool take_list(lw_pto_parser *p, lw_pto_range *range) {
    uint32_t at = p->token.place.at;
    const lw_pto_recent *recent = take_recent(p, &p->recent_lists);
    if (!recent) return false;
    for (uint32_t i = 0; i < recent->count; i++) {
        lw_pto_written_type written = recent->types[i];
        written.place.at += at - recent->text.at;
        note_spelling(p, &written);
        LW_PUSH(p->arena, p->types) = written;
    }
    range->count = recent->count;
    return true;
}

static bool parse_list(lw_pto_parser *p, lw_pto_range *range) {
    do
        if (!push_type(p, range)) return false;
    while (lw_pto_take(p, ','));
    return true;
}

bool lw_pto_parse_types(lw_pto_parser *p, lw_pto_range *range) {
    *range = (lw_pto_range){p->types.count, 0};
    if (!lw_pto_at(p, '(')) return parse_list(p, range);
    if (LW_LIKELY(take_list(p, range))) return true;
    lw_place start = p->token.place;
    uint32_t errors = p->diags->errors;
    lw_pto_next(p);
    if (lw_pto_take(p, ')')) return true;
    if (!parse_list(p, range) || !lw_pto_expect(p, ')')) return false;
    if (errors == p->diags->errors)
        remember(&p->recent_lists, lw_pto_since(p, start), &p->types.at[range->from], range->count);
    return true;
}
