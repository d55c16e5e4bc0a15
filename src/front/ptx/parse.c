/* parse.c: the module level, and what every part of the parser uses. */
#include "front/ptx/parse.h"

#include <stdio.h>

enum { BYTES_A_STATEMENT = 24 }; /* compilers write more */

/* ---- Words --------------------------------------------------------------------------------------------- */

static const lw_word words[] = {
#define WORD(text, kind, value) \
    { text, sizeof text - 1, kind, value }
#define TYPE(name, bits, kind) WORD(#name, LW_WORD_TYPE, LW_T_##name),
#include "ptx/types.def"
#define SPACE(name) WORD(#name, LW_WORD_SPACE, LW_SPACE_##name),
#include "ptx/spaces.def"
    WORD("extern", LW_WORD_LINKAGE, LW_LINK_extern),
    WORD("visible", LW_WORD_LINKAGE, LW_LINK_visible),
    WORD("weak", LW_WORD_LINKAGE, LW_LINK_weak),
    WORD("common", LW_WORD_LINKAGE, LW_LINK_common),
    WORD("v2", LW_WORD_VECTOR, 2),
    WORD("v4", LW_WORD_VECTOR, 4),
    WORD("version", LW_WORD_VERSION, 0),
    WORD("target", LW_WORD_TARGET, 0),
    WORD("address_size", LW_WORD_ADDRESS_SIZE, 0),
    WORD("entry", LW_WORD_ENTRY, 0),
    WORD("func", LW_WORD_FUNC, 0),
    WORD("alias", LW_WORD_ALIAS, 0),
    WORD("file", LW_WORD_FILE, 0),
    WORD("loc", LW_WORD_LOC, 0),
    WORD("section", LW_WORD_SECTION, 0),
    WORD("pragma", LW_WORD_PRAGMA, 0),
    WORD("align", LW_WORD_ALIGN, 0),
    WORD("attribute", LW_WORD_ATTRIBUTE, 0),
    WORD("ptr", LW_WORD_PTR, 0),
    WORD("callprototype", LW_WORD_PROTOTYPE, 0),
    WORD("calltargets", LW_WORD_CALL_TARGETS, 0),
    WORD("branchtargets", LW_WORD_BRANCH_TARGETS, 0),
#define TUNING(name, least, most, ...) WORD(#name, LW_WORD_TUNING, LW_TUNING_##name),
#include "ptx/tunings.def"
};

/* While the parser runs, a symbol's `bound` holds its meaning as a directive word; the resolver finds it empty
 * again. */
static void bind_words(lw_symbols *symbols, lw_symbol *bound[]) {
    for (size_t i = 0; i < LW_COUNT(words); i++) {
        bound[i] = lw_symbol_get(symbols, words[i].text, words[i].size);
        bound[i]->bound = (void *)&words[i];
    }
}

static void unbind_words(lw_symbol *bound[]) {
    for (size_t i = 0; i < LW_COUNT(words); i++) bound[i]->bound = NULL;
}

/* ---- Faults and recovery ------------------------------------------------------------------------------- */

/* The next token as a message shows it. */
static const char *found(lw_parser *p) {
    const lw_token *t = &p->token;
    if (t->kind == LW_TOKEN_END) return "the end of the text";
    uint32_t size = t->place.size > 40 ? 40 : t->place.size;
    return lw_arena_printf(p->arena, "'%.*s%s'", (int)size, p->lexer.source->text + t->place.at,
                           size < t->place.size ? "…" : "");
}

bool lw_parser_expected(lw_parser *p, const char *what) {
    if (!p->stopped) lw_diag_add(p->module->diags, LW_D_expected, p->token.place, what, found(p));
    return false;
}

bool lw_parser_expect(lw_parser *p, char punct) {
    if (lw_parser_take(p, (unsigned char)punct)) return true;
    char what[] = {'\'', punct, '\'', 0};
    return lw_parser_expected(p, what);
}

bool lw_parser_enter(lw_parser *p) {
    if (++p->depth <= LW_DEPTH_MAX) return true;
    if (!p->stopped) lw_diag_add(p->module->diags, LW_D_too_deep, p->token.place, LW_DEPTH_MAX);
    p->stopped = true;
    p->token.kind = LW_TOKEN_END;
    return false;
}

static bool on_new_line(const lw_parser *p) {
    const char *from = p->lexer.source->text + p->last_end;
    return p->token.place.at > p->last_end && memchr(from, '\n', p->token.place.at - p->last_end);
}

/* Whether the next token looks like the start of a statement: first on its line, and a guard, a directive, or a name
 * with a dot or colon behind it that is no register. */
static bool at_fresh_start(const lw_parser *p) {
    const lw_word *word = lw_parser_word(p);
    if (word && (word->kind == LW_WORD_ENTRY || word->kind == LW_WORD_FUNC)) return true;
    if (!on_new_line(p)) return false;
    if (lw_parser_at(p, '@')) return true;
    if (word) return word->kind != LW_WORD_TYPE && word->kind != LW_WORD_VECTOR && word->kind != LW_WORD_PTR;
    if (p->token.kind != LW_TOKEN_NAME || p->token.name->text[0] == '%') return false;
    char behind = p->lexer.source->text[p->lexer.at];
    return behind == '.' || behind == ':';
}

/* What an unfinished statement has opened is closed first. A block { ; } behind the fault ends the statement, while { }
 * is part of it. */
void lw_parser_recover(lw_parser *p) {
    uint32_t opened = 0;
    bool block = false, more = true;
    for (bool first = true; more && !lw_parser_at_end(p); first = false) {
        if (!first && !opened && at_fresh_start(p)) break;
        if (lw_parser_at(p, '{')) opened++;
        else if (lw_parser_at(p, ';')) {
            more = opened;
            block = opened;
        } else if (lw_parser_at(p, '}')) {
            if (!opened && !p->braces) break;
            if (!opened) p->braces--;
            else more = --opened || !block;
        }
        lw_parser_next(p);
    }
    p->braces = 0;
}

bool lw_parser_semicolon(lw_parser *p) {
    if (LW_LIKELY(lw_parser_take(p, ';'))) return true;
    if (p->stopped) return false;
    bool alone = lw_parser_at_end(p) || lw_parser_at(p, '}') || on_new_line(p);
    if (!alone) return lw_parser_expected(p, "';'");
    lw_place place = {p->last_end > p->lexer.source->from ? p->last_end - 1 : p->last_end, 1};
    lw_diag_add(p->module->diags, LW_D_missing_semicolon, place);
    return true;
}

bool lw_parse_literal(lw_parser *p, const char *what, uint64_t most, uint64_t *value) {
    if (p->token.kind == LW_TOKEN_NAME && p->token.name == p->warp_size) {
        *value = 32;
        lw_parser_next(p);
        return true;
    }
    if (p->token.kind != LW_TOKEN_INT) return lw_parser_expected(p, what);
    *value = p->token.value;
    if (p->token.cut) {
        int shown = p->token.place.size > 40 ? 40 : (int)p->token.place.size;
        lw_diag_add(p->module->diags, LW_D_big_number, p->token.place, shown,
                    p->lexer.source->text + p->token.place.at);
    } else if (*value > most && !p->token.too_large) {
        lw_diag_add(p->module->diags, LW_D_literal_range, p->token.place, what, (unsigned long long)most);
        *value = most;
    }
    lw_parser_next(p);
    return true;
}

bool lw_parse_name(lw_parser *p, const char *what, lw_symbol **name, lw_place *place) {
    if (p->token.kind != LW_TOKEN_NAME || p->token.name == p->warp_size) return lw_parser_expected(p, what);
    *name = p->token.name;
    *place = p->token.place;
    lw_parser_next(p);
    return true;
}

/* ---- The module level ---------------------------------------------------------------------------------- */

static lw_item *add_item(lw_parser *p, lw_item_kind kind, lw_place place) {
    lw_item *item = &LW_PUSH(p->arena, p->module->items);
    *item = (lw_item){.kind = kind, .place = place};
    return item;
}

/* .alias a, b;  (manual section 11.6) */
static bool parse_alias(lw_parser *p, lw_place start) {
    lw_object *alias = LW_NEW(p->arena, lw_object);
    lw_operand *target = LW_NEW(p->arena, lw_operand);
    *alias = (lw_object){.kind = LW_OBJ_ALIAS, .target_count = 1, .targets = target};
    target->kind = LW_O_NAME;
    lw_parser_next(p);
    if (!lw_parse_name(p, "the name of the alias", &alias->name, &alias->place)) return false;
    if (!lw_parser_expect(p, ',')) return false;
    if (!lw_parse_name(p, "the name of the function it stands for", &target->name, &target->place)) return false;
    add_item(p, LW_ITEM_ALIAS, lw_parser_since(p, start))->object = alias;
    return lw_parser_semicolon(p);
}

typedef bool text_parser(lw_parser *p, const char **text);

static bool parse_text_item(lw_parser *p, lw_item_kind kind, text_parser *parse) {
    lw_place start = p->token.place;
    const char *text;
    if (!parse(p, &text)) return false;
    add_item(p, kind, lw_parser_since(p, start))->text = text;
    return true;
}

static bool parse_linked(lw_parser *p) {
    lw_place start = p->token.place;
    lw_linkage linkage = lw_parser_word(p)->value;
    lw_parser_next(p);
    const lw_word *word = lw_parser_word(p);
    if (word && (word->kind == LW_WORD_ENTRY || word->kind == LW_WORD_FUNC) && linkage != LW_LINK_common)
        return lw_parse_function(p, linkage, start);
    if (word && (word->kind == LW_WORD_SPACE || word->kind == LW_WORD_ALIGN || word->kind == LW_WORD_ATTRIBUTE))
        return lw_parse_variables(p, linkage, LW_IN_MODULE);
    if (word && word->kind == LW_WORD_LINKAGE) {
        lw_diag_add(p->module->diags, LW_D_two_linkages, p->token.place);
        return false;
    }
    return lw_parser_expected(p, linkage == LW_LINK_common ? "a state space" : "'.entry', '.func' or a state space");
}

static bool misplaced(lw_parser *p) {
    lw_diag_add(p->module->diags, LW_D_misplaced_directive, p->token.place, p->token.name->text);
    lw_parser_next(p);
    return false;
}

static bool parse_item(lw_parser *p) {
    if (lw_parser_at(p, '@' | '@' << 8)) return parse_text_item(p, LW_ITEM_DIRECTIVE, lw_parse_dwarf);
    const lw_word *word = lw_parser_word(p);
    if (!word) {
        if (p->token.kind != LW_TOKEN_DOT) return lw_parser_expected(p, "a directive such as '.entry' or '.global'");
        lw_diag_add(p->module->diags, LW_D_unknown_directive, p->token.place, p->token.name->text);
        lw_parser_next(p);
        return false;
    }
    switch (word->kind) {
    case LW_WORD_LINKAGE: return parse_linked(p);
    case LW_WORD_ENTRY:
    case LW_WORD_FUNC: return lw_parse_function(p, LW_LINK_none, p->token.place);
    case LW_WORD_SPACE:
    case LW_WORD_ALIGN:
    case LW_WORD_ATTRIBUTE: return lw_parse_variables(p, LW_LINK_none, LW_IN_MODULE);
    case LW_WORD_ALIAS: return parse_alias(p, p->token.place);
    case LW_WORD_FILE: return parse_text_item(p, LW_ITEM_FILE, lw_parse_file);
    case LW_WORD_SECTION: return parse_text_item(p, LW_ITEM_SECTION, lw_parse_section);
    case LW_WORD_PRAGMA: return parse_text_item(p, LW_ITEM_PRAGMA, lw_parse_pragma);
    default: return misplaced(p);
    }
}

/* A } at module level closes nothing. It is taken so that the parser moves on. */
static void stray_brace(lw_parser *p) {
    if (!lw_parser_at(p, '}')) return;
    lw_diag_add(p->module->diags, LW_D_stray_brace, p->token.place);
    lw_parser_next(p);
}

static void parse_items(lw_parser *p) {
    while (!lw_parser_at_end(p)) {
        stray_brace(p);
        if (lw_parser_at_end(p)) return;
        uint32_t at = p->token.place.at;
        p->depth = 0;
        if (parse_item(p)) continue;
        lw_parser_recover(p);
        if (p->token.place.at == at) lw_parser_next(p); /* always forward */
    }
}

lw_module_ptx *lw_ptx_parse(lw_arena *arena, lw_source *source, lw_diags *diags) {
    lw_module_ptx *module = LW_NEW(arena, lw_module_ptx);
    *module = (lw_module_ptx){.arena = arena, .source = source, .diags = diags, .address_size = 64};
    const uint32_t size = source->size - source->from;
    lw_symbols_init_for(&module->symbols, arena, size);
    lw_symbol *bound[LW_COUNT(words)];
    bind_words(&module->symbols, bound);
    lw_parser *p = LW_NEW(arena, lw_parser);
    *p = (lw_parser){.module = module, .arena = arena};
    p->lexer = (lw_lexer){.source = source, .diags = diags, .symbols = &module->symbols, .at = source->from};
    p->last_end = source->from;
    p->sink = lw_symbol_get(&module->symbols, "_", 1);
    p->warp_size = lw_symbol_get(&module->symbols, "WARP_SZ", 7);
    p->call = lw_symbol_get(&module->symbols, "call", 4);
    p->generic = lw_symbol_get(&module->symbols, "generic", 7);
    LW_PUSH(arena, p->operands) = (lw_operand){0}; /* so that the stacks have storage: NULL + 0 is undefined */
    LW_PUSH(arena, p->inits) = (lw_init){0};
    p->operands.count = p->inits.count = 0;
    p->body.room = size / BYTES_A_STATEMENT + 8; /* mostly enough: then it is never copied to grow */
    p->body.at = LW_NEW_ARRAY(arena, lw_statement, p->body.room);
    p->stopped = lw_ptx_is_foreign(source, diags);
    lw_parser_next(p);
    lw_parse_header(p);
    parse_items(p);
    unbind_words(bound);
    return module;
}
