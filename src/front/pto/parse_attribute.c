/* parse_attribute.c: attributes, locations and the names that stand for them. They are kept as text: nothing looks into
 * them. */
#include "front/pto/parse.h"

static char closer_of(uint32_t punct) {
    switch (punct) {
    case '(': return ')';
    case '[': return ']';
    case '{': return '}';
    case '<': return '>';
    default: return 0;
    }
}

static void add_token(lw_pto_parser *p, uint32_t from) {
    if (p->chars.count > from && p->token.space_before) LW_PUSH(p->arena, p->chars) = ' ';
    const char *text = p->lexer.source->text + p->token.place.at;
    for (uint32_t i = 0; i < p->token.place.size; i++) LW_PUSH(p->arena, p->chars) = text[i];
}

/* Up to one of `ends` outside of brackets; without any, up to the end of the line that closes all brackets.
 * The brackets that are open are kept by their closers. A > closes only a <: elsewhere it compares. */
static bool read_balanced(lw_pto_parser *p, const char *ends) {
    uint32_t from = p->chars.count;
    char open[LW_PTO_DEPTH_MAX];
    uint32_t depth = 0;
    for (;; lw_pto_next(p)) {
        bool line = !ends && !depth && p->chars.count > from && (p->token.first || p->token.kind == LW_PTO_TOKEN_END);
        if (line) return true;
        if (p->token.kind == LW_PTO_TOKEN_END) return lw_pto_expected(p, "the end of the attribute");
        char punct = p->token.kind == LW_PTO_TOKEN_PUNCT && p->token.punct < 128 ? (char)p->token.punct : 0;
        if (!depth && ends && punct && strchr(ends, punct)) return true;
        if (depth && punct == open[depth - 1]) depth--;
        else if (closer_of((unsigned char)punct)) {
            if (depth == LW_PTO_DEPTH_MAX) return lw_pto_too_deep(p);
            open[depth++] = closer_of((unsigned char)punct);
        } else if (punct && strchr(")]}", punct)) {
            return lw_pto_expected(p, "the end of the attribute");
        }
        add_token(p, from);
    }
}

bool lw_pto_parse_balanced(lw_pto_parser *p, const char *ends, const char **text) {
    uint32_t from = p->chars.count;
    bool good = read_balanced(p, ends);
    if (good && p->chars.count == from) good = lw_pto_expected(p, "an attribute");
    *text = good ? lw_arena_text(p->arena, p->chars.at + from, p->chars.count - from) : "";
    p->chars.count = from;
    return good;
}

static bool parse_one(lw_pto_parser *p) {
    lw_place start = p->token.place;
    const char *name, *value = NULL;
    if (p->token.kind != LW_PTO_TOKEN_WORD && p->token.kind != LW_PTO_TOKEN_STRING)
        return lw_pto_expected(p, "the name of an attribute");
    name = lw_arena_text(p->arena, p->lexer.source->text + start.at, start.size);
    lw_pto_next(p);
    if (lw_pto_take(p, '=') && !lw_pto_parse_balanced(p, ",}", &value)) return false;
    LW_PUSH(p->arena, p->attributes) = (lw_pto_attribute){name, value, lw_pto_since(p, start)};
    return true;
}

void lw_pto_keep_attributes(lw_pto_parser *p, uint32_t mark, lw_pto_attributes *attributes) {
    uint32_t more = p->attributes.count - mark, before = attributes->count;
    lw_pto_attribute *at = LW_NEW_ARRAY(p->arena, lw_pto_attribute, (size_t)before + more);
    if (before) memcpy(at, attributes->at, before * sizeof *at);
    if (more) memcpy(at + before, p->attributes.at + mark, more * sizeof *at);
    *attributes = (lw_pto_attributes){before + more, at};
    p->attributes.count = mark;
}

bool lw_pto_parse_attributes(lw_pto_parser *p, lw_pto_attributes *attributes) {
    uint32_t mark = p->attributes.count;
    if (!lw_pto_take(p, '{')) return true;
    if (lw_pto_take(p, '}')) return true;
    bool good;
    do good = parse_one(p);
    while (good && lw_pto_take(p, ','));
    lw_pto_keep_attributes(p, mark, attributes);
    good = good && lw_pto_expect(p, '}');
    while (!good && p->token.kind != LW_PTO_TOKEN_END && !p->token.first && !lw_pto_at(p, '}')) lw_pto_next(p);
    return good || (lw_pto_take(p, '}') && false);
}

bool lw_pto_parse_location(lw_pto_parser *p, const char **location) {
    if (LW_LIKELY(!lw_pto_at_word(p, p->words.loc))) return true;
    const char *inside;
    lw_pto_next(p);
    if (!lw_pto_expect(p, '(') || !lw_pto_parse_balanced(p, ")", &inside)) return false;
    *location = lw_arena_printf(p->arena, "loc(%s)", inside);
    return lw_pto_expect(p, ')');
}

/* !name = type, #name = attribute. */
bool lw_pto_parse_alias(lw_pto_parser *p) {
    lw_symbol *name = p->token.name;
    lw_place place = p->token.place;
    bool is_type = p->token.kind == LW_PTO_TOKEN_TYPE;
    lw_pto_next(p);
    if (!lw_pto_expect(p, '=')) return false;
    if (name->bound || name == p->words.vreg || name == p->words.mask) {
        lw_diag_add(p->diags, LW_D_pto_alias_twice, place, name->text);
        return false;
    }
    const char *text;
    if (is_type) {
        const lw_symbol *other = p->token.kind == LW_PTO_TOKEN_TYPE && p->token.name->bound ? p->token.name : NULL;
        const lw_pto_type *type;
        if (!lw_pto_parse_type(p, &type)) return false;
        name->bound = (void *)type;
        text = other ? other->text : type->text;
        p->module->has_type_names = true;
    } else {
        if (!lw_pto_parse_balanced(p, NULL, &text)) return false;
        name->bound = (void *)text;
    }
    LW_PUSH(p->arena, p->module->aliases) = (lw_pto_alias){name, place, text};
    return true;
}
