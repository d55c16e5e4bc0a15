/* parse_operand.c: one instruction: guard, mnemonic, operands (manual sections 4.3.2 and 6). */
#include "front/ptx/parse.h"

/* ---- Operands ------------------------------------------------------------------------------------------ */

static bool parse_operand(lw_parser *p, lw_operand *o, bool lists);

/* .x .y .z .w, their colour names, .b0 … .b3, .h0, .h1. */
static lw_select select_of(const lw_symbol *s) {
    static const char letters[] = "xyzwrgba";
    const char *at = s->size == 1 ? strchr(letters, s->text[0]) : NULL;
    if (at) return (lw_select)(LW_SEL_x + (at - letters) % 4);
    if (s->size != 2) return LW_SEL_none;
    if (s->text[0] == 'b' && s->text[1] >= '0' && s->text[1] <= '3') return (lw_select)(LW_SEL_b0 + (s->text[1] - '0'));
    if (s->text[0] == 'h' && (s->text[1] == '0' || s->text[1] == '1'))
        return (lw_select)(LW_SEL_h0 + (s->text[1] - '0'));
    return LW_SEL_none;
}

/* .h20, .b3210: parts of two words, for the video instructions of several lanes. */
static bool are_lanes(const lw_symbol *s) {
    const char *most = s->text[0] == 'h' ? "3" : "7";
    if ((s->text[0] != 'h' && s->text[0] != 'b') || s->size < 3 || s->size > 5) return false;
    for (uint32_t i = 1; i < s->size; i++)
        if (s->text[i] < '0' || s->text[i] > *most) return false;
    return true;
}

static bool parse_select(lw_parser *p, lw_operand *o) {
    o->select = select_of(p->token.name);
    if (!o->select && are_lanes(p->token.name)) {
        o->select = LW_SEL_lanes;
        memcpy(o->lanes, p->token.name->text, p->token.name->size);
    }
    if (o->select == LW_SEL_none) {
        lw_diag_add(p->module->diags, LW_D_bad_selector, p->token.place, p->token.name->text);
        return false;
    }
    lw_parser_next(p);
    return true;
}

/* a[3]: the element of an array; the resolver, which knows its size, makes it an offset. */
static bool parse_element(lw_parser *p, lw_operand *o) {
    lw_constant index;
    lw_parser_next(p);
    if (p->token.kind == LW_TOKEN_NAME && p->token.name != p->warp_size) {
        lw_diag_add(p->module->diags, LW_D_register_index, p->token.place);
        return false;
    }
    if (!lw_parse_constant(p, &index)) return false;
    if (index.is_float) return lw_diag_add(p->module->diags, LW_D_integer_expected, index.place), false;
    o->indexed = true;
    o->offset = (int64_t)index.value;
    return lw_parser_expect(p, ']');
}

static void set_constant(lw_operand *o, const lw_constant *v) {
    o->kind = v->is_float ? LW_O_FLOAT : LW_O_INT;
    o->value = v->value;
    o->single = v->single;
    o->is_unsigned = v->is_unsigned;
    o->place = v->place;
}

/* A name and what may hang on it. */
static bool parse_named(lw_parser *p, lw_operand *o) {
    o->kind = p->token.name == p->sink ? LW_O_SINK : LW_O_NAME;
    o->name = o->kind == LW_O_NAME ? p->token.name : NULL;
    lw_place start = p->token.place;
    lw_parser_next(p);
    if (LW_LIKELY(lw_parser_at(p, ',') || lw_parser_at(p, ';'))) {
        o->place = start;
        return true;
    }
    bool fine = true;
    if (o->kind == LW_O_NAME) {
        if (p->token.kind == LW_TOKEN_DOT) fine = parse_select(p, o);
        else if (lw_parser_at(p, '[')) fine = parse_element(p, o);
        else if (lw_parser_at(p, '+') || lw_parser_at(p, '-')) fine = lw_parse_offset(p, &o->offset);
    }
    o->place = lw_parser_since(p, start);
    return fine;
}

/* Makes what is on the stack from `from` on the parts of `o`. */
static void take_parts(lw_parser *p, lw_operand *o, uint32_t from) {
    o->part_count = p->operands.count - from;
    o->parts = lw_arena_copy(p->arena, p->operands.at + from, o->part_count * sizeof(lw_operand));
    p->operands.count = from;
}

static bool push_operand(lw_parser *p, bool lists) {
    lw_operand part = {0};
    if (!parse_operand(p, &part, lists)) return false;
    LW_PUSH(p->arena, p->operands) = part;
    return true;
}

/* a, b, … up to the closing bracket; at least one, but in ( ) also none. */
static bool parse_parts(lw_parser *p, lw_operand *o, char close, uint32_t from) {
    bool empty = close == ')' && lw_parser_at(p, ')');
    while (!empty) {
        if (!push_operand(p, false)) return false;
        if (!lw_parser_take(p, ',')) break;
    }
    if (!lw_parser_expect(p, close)) return false;
    take_parts(p, o, from);
    return true;
}

static bool parse_brackets(lw_parser *p, lw_operand *o, lw_operand_kind kind, char close) {
    if (!lw_parser_enter(p)) return false;
    lw_place start = p->token.place;
    o->kind = kind;
    p->braces += close == '}';
    p->brackets += close == ']';
    lw_parser_next(p);
    bool fine = parse_parts(p, o, close, p->operands.count);
    p->brackets -= close == ']';
    if (!fine) return false;
    p->braces -= close == '}';
    o->place = lw_parser_since(p, start);
    lw_parser_leave(p);
    return true;
}

/* The offset belongs to the address, not to its base. */
static bool settle_base(lw_parser *p, lw_operand *o) {
    lw_operand *base = o->parts;
    if (base->kind == LW_O_INT) return true;
    if (base->kind != LW_O_NAME || base->negated || base->select || base->indexed) {
        lw_diag_add(p->module->diags, LW_D_bad_address, base->place);
        return false;
    }
    o->offset = base->offset;
    base->offset = 0;
    return true;
}

static bool parse_address(lw_parser *p, lw_operand *o) {
    return parse_brackets(p, o, LW_O_ADDRESS, ']') && settle_base(p, o);
}

/* Whether a name follows behind the - or ! that is the next token: then it negates that. */
static bool negates_name(const lw_parser *p) {
    const char *at = p->lexer.source->text + p->lexer.at;
    while (*at == ' ' || *at == '\t') at++;
    bool starts = (*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z') || *at == '_' || *at == '%' || *at == '$';
    return starts && strncmp(at, "WARP_SZ", 7);
}

static bool parse_negated(lw_parser *p, lw_operand *o) {
    lw_place start = p->token.place;
    o->minus = lw_parser_at(p, '-');
    lw_parser_next(p);
    if (p->token.kind != LW_TOKEN_NAME) return lw_parser_expected(p, "a name");
    if (!parse_named(p, o)) return false;
    o->negated = true;
    o->place = lw_parser_since(p, start);
    return true;
}

static bool parse_constant_operand(lw_parser *p, lw_operand *o) {
    lw_constant value;
    bool starts = p->token.kind == LW_TOKEN_INT || p->token.kind == LW_TOKEN_FLOAT || lw_parser_at(p, '-') ||
                  lw_parser_at(p, '+') || lw_parser_at(p, '!') || lw_parser_at(p, '~') || lw_parser_at(p, '(') ||
                  p->token.kind == LW_TOKEN_NAME;
    if (!starts) return lw_parser_expected(p, "an operand");
    if (!lw_parse_constant(p, &value)) return false;
    set_constant(o, &value);
    return true;
}

/* d|p */
static bool parse_pair(lw_parser *p, lw_operand *o) {
    lw_operand second = {0};
    lw_parser_next(p);
    if (p->token.kind != LW_TOKEN_NAME) return lw_parser_expected(p, "the second destination");
    if (!parse_named(p, &second)) return false;
    lw_operand *parts = LW_NEW_ARRAY(p->arena, lw_operand, 2);
    parts[0] = *o;
    parts[1] = second;
    *o = (lw_operand){.kind = LW_O_PAIR, .place = lw_parser_since(p, parts[0].place), .part_count = 2, .parts = parts};
    return true;
}

static bool parse_operand(lw_parser *p, lw_operand *o, bool lists) {
    const lw_token *t = &p->token;
    bool nested = (p->braces && (lw_parser_at(p, '{') || lw_parser_at(p, '['))) ||
                  (p->brackets && lw_parser_at(p, '['));
    if (LW_UNLIKELY(nested)) return lw_parser_expected(p, "a name or a constant");
    if (t->kind == LW_TOKEN_NAME && t->name != p->warp_size) {
        if (!parse_named(p, o)) return false;
    } else if (t->kind != LW_TOKEN_PUNCT) return parse_constant_operand(p, o);
    else if (t->punct == '[') return parse_address(p, o);
    else if (t->punct == '{') {
        if (!parse_brackets(p, o, LW_O_VECTOR, '}')) return false;
    } else if (t->punct == '(' && lists) return parse_brackets(p, o, LW_O_LIST, ')');
    else if ((t->punct == '-' || t->punct == '!') && negates_name(p)) return parse_negated(p, o);
    else return parse_constant_operand(p, o);
    return lw_parser_at(p, '|') && !p->braces ? parse_pair(p, o) : true;
}

/* ---- Mnemonics ----------------------------------------------------------------------------------------- */

/* What a dotted spelling stands for; kept in the `bound` of its symbol, which cannot be an identifier. */
struct spelling {
    uint32_t count;
    lw_symbol **words;
};

static bool is_word(char c) {
    static const bool word[256] = {['a' ... 'z'] = true, ['A' ... 'Z'] = true, ['0' ... '9'] = true, ['_'] = true};
    return word[(unsigned char)c];
}

/* The end of the dotted words that follow a name without a gap. */
static uint32_t spelling_end(const lw_parser *p, uint32_t at, uint32_t *hash) {
    const char *text = p->lexer.source->text;
    uint32_t h = *hash;
    while (text[at] == '.' && is_word(text[at + 1])) {
        do {
            h = LW_HASH_STEP(h, text[at]);
            at++;
            if (text[at] == ':' && text[at + 1] == ':' && is_word(text[at + 2])) {
                h = LW_HASH_STEP(LW_HASH_STEP(h, ':'), ':');
                at += 2;
            }
        } while (is_word(text[at]));
    }
    *hash = h;
    return at;
}

static struct spelling *split(lw_parser *p, const lw_symbol *whole) {
    struct spelling *s = LW_NEW(p->arena, struct spelling);
    s->count = 1;
    for (uint32_t i = 0; i < whole->size; i++) s->count += whole->text[i] == '.';
    s->words = LW_NEW_ARRAY(p->arena, lw_symbol *, s->count);
    uint32_t from = 0, word = 0;
    for (uint32_t i = 0; i <= whole->size; i++) {
        if (i < whole->size && whole->text[i] != '.') continue;
        s->words[word++] = lw_symbol_get(&p->module->symbols, whole->text + from, i - from);
        from = i + 1;
    }
    return s;
}

static void set_spelling(lw_parser *p, lw_instruction *in, lw_symbol *whole) {
    if (!whole->bound) whole->bound = split(p, whole);
    struct spelling *s = whole->bound;
    in->mnemonic = whole;
    in->word_count = s->count;
    in->words = s->words;
}

/* Words with gaps between them: put together as if there were none. */
static void join_words(lw_parser *p, lw_instruction *in) {
    LW_LIST(char) text = {0};
    for (uint32_t i = 0; i < in->mnemonic->size; i++) LW_PUSH(p->arena, text) = in->mnemonic->text[i];
    while (p->token.kind == LW_TOKEN_DOT) {
        LW_PUSH(p->arena, text) = '.';
        for (uint32_t i = 0; i < p->token.name->size; i++) LW_PUSH(p->arena, text) = p->token.name->text[i];
        lw_parser_next(p);
    }
    set_spelling(p, in, lw_symbol_get(&p->module->symbols, text.at, text.count));
}

/* The name that is the next token, and the words that follow it without a gap. */
static void parse_spelling(lw_parser *p, lw_instruction *in) {
    lw_symbol *name = p->token.name;
    uint32_t start = p->token.place.at, hash = LW_HASH_START;
    for (uint32_t i = 0; i < name->size; i++) hash = LW_HASH_STEP(hash, name->text[i]);
    uint32_t end = spelling_end(p, p->lexer.at, &hash);
    if (end == p->lexer.at) {
        in->mnemonic = name;
        in->word_count = 1;
        in->words = lw_arena_copy(p->arena, &name, sizeof name);
        return;
    }
    const char *text = p->lexer.source->text;
    set_spelling(p, in, lw_symbol_find(&p->module->symbols, text + start, end - start, LW_HASH_END(hash)));
    p->token.place.size = end - start;
    p->lexer.at = end;
}

static bool parse_mnemonic(lw_parser *p, lw_instruction *in) {
    if (p->token.kind != LW_TOKEN_NAME) return lw_parser_expected(p, "an instruction");
    lw_place start = p->token.place;
    if (LW_LIKELY(p->spelled)) set_spelling(p, in, p->token.name);
    else parse_spelling(p, in);
    p->spelled = false;
    lw_parser_next(p);
    if (LW_UNLIKELY(p->token.kind == LW_TOKEN_DOT)) join_words(p, in);
    in->mnemonic_place = lw_parser_since(p, start);
    return true;
}

/* Most operands are names with a comma or semicolon right behind: these are taken without looking further. False where
 * the next token begins an operand of another kind. */
static bool push_plain_names(lw_parser *p) {
    while (p->token.kind == LW_TOKEN_NAME && p->token.name != p->warp_size && p->token.name != p->sink) {
        char next = p->lexer.source->text[p->lexer.at];
        if (next != ',' && next != ';') return false;
        LW_PUSH(p->arena, p->operands) =
            (lw_operand){.kind = LW_O_NAME, .name = p->token.name, .place = p->token.place};
        p->lexer.at += next == ',';
        lw_parser_next(p);
        p->last_end += next == ',';
        if (next == ';') return true;
    }
    return false;
}

static bool label_follows(const char *at) {
    while (*at == ' ' || *at == '\t') at++;
    return *at == ':';
}

/* The next token, where a statement may begin: a dotted mnemonic is read in one go, its first word not being looked
 * up. */
static void next_statement(lw_parser *p) {
    lw_lex_space(&p->lexer);
    const char *text = p->lexer.source->text;
    uint32_t at = p->lexer.at, start = at, hash = LW_HASH_START;
    for (; text[at] >= 'a' && text[at] <= 'z'; at++) hash = LW_HASH_STEP(hash, text[at]);
    uint32_t end = at > start ? spelling_end(p, at, &hash) : at;
    bool dotted = end > at && (text[end] == ' ' || text[end] == '\t' || text[end] == ';') && !p->stopped;
    if (!dotted || label_follows(text + end)) {
        lw_parser_next(p);
        return;
    }
    p->last_end = p->token.place.at + p->token.place.size;
    p->token = (lw_token){.kind = LW_TOKEN_NAME, .place = {start, end - start}};
    p->token.name = lw_symbol_find(&p->module->symbols, text + start, end - start, LW_HASH_END(hash));
    p->lexer.at = end;
    p->spelled = true;
}

/* ---- Instructions -------------------------------------------------------------------------------------- */

bool lw_parse_guard(lw_parser *p, lw_operand **guard) {
    lw_operand *o = LW_NEW(p->arena, lw_operand);
    lw_place start = p->token.place;
    lw_parser_next(p);
    o->kind = LW_O_NAME;
    o->negated = lw_parser_take(p, '!');
    if (!lw_parse_name(p, "a predicate", &o->name, &o->place)) return false;
    o->place = lw_parser_since(p, start);
    *guard = o;
    return true;
}

bool lw_parse_instruction(lw_parser *p, lw_operand *guard, lw_instruction **instruction) {
    lw_instruction *in = LW_NEW(p->arena, lw_instruction);
    in->guard = guard;
    if (!parse_mnemonic(p, in)) return false;
    bool lists = in->words[0] == p->call;
    uint32_t from = p->operands.count;
    if (!lw_parser_at(p, ';')) {
        do
            if (!push_plain_names(p) && !push_operand(p, lists)) return p->operands.count = from, false;
        while (lw_parser_take(p, ','));
    }
    in->operand_count = p->operands.count - from;
    in->operands = lw_arena_copy(p->arena, p->operands.at + from, in->operand_count * sizeof(lw_operand));
    p->operands.count = from;
    *instruction = in;
    if (LW_UNLIKELY(!lw_parser_at(p, ';'))) return lw_parser_semicolon(p);
    next_statement(p);
    return true;
}
