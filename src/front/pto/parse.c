/* parse.c: modules and functions, and what every part of the parser uses. */
#include "front/pto/parse.h"

/* ---- Words --------------------------------------------------------------------------------------------- */

static lw_symbol *symbol(lw_pto_parser *p, const char *text) {
    return lw_symbol_get(&p->module->symbols, text, (uint32_t)strlen(text));
}

/* What a word means beside what it meant before. */
static lw_pto_meaning *meaning(lw_pto_parser *p, const char *text) {
    lw_symbol *s = symbol(p, text);
    if (!s->bound) s->bound = LW_NEW(p->arena, lw_pto_meaning);
    return s->bound;
}

static void bind_scalar(lw_pto_parser *p, const char *text, const char *element, lw_pto_scalar scalar) {
    meaning(p, text)->scalar = scalar;
    meaning(p, element)->element = scalar;
}

static void bind_op(lw_pto_parser *p, lw_pto_op_id id) {
    lw_pto_spelling *spellings = LW_NEW_ARRAY(p->arena, lw_pto_spelling, 2);
    spellings[0] = (lw_pto_spelling){id, false};
    spellings[1] = (lw_pto_spelling){id, true};
    const char *name = lw_pto_rows[id].name;
    symbol(p, name)->form = &spellings[0];
    if (!strncmp(name, "pto.", 4)) symbol(p, name + 4)->form = &spellings[1];
    if (id == LW_PTO_RETURN) symbol(p, "return")->form = &spellings[0];
}

static void bind_words(lw_pto_parser *p) {
#define SCALAR(name, bits, kind) bind_scalar(p, #name, "x" #name, LW_PTO_##name);
#define SPELLED(text, name)      bind_scalar(p, #text, "x" #text, LW_PTO_##name);
#include "pto/types.def"
#define VCMP(word) meaning(p, #word)->vcmp = LW_PTO_VCMP_##word;
#define CMPI(word) meaning(p, #word)->cmpi = LW_PTO_CMPI_##word;
#include "pto/words.def"
    meaning(p, "b8")->mask_bits = 8;
    meaning(p, "b16")->mask_bits = 16;
    meaning(p, "b32")->mask_bits = 32;
    meaning(p, "b64")->mask_bits = 64;
    for (int id = 1; id < LW_PTO_OP_COUNT; id++) bind_op(p, (lw_pto_op_id)id);
    p->words = (lw_pto_keywords){
        .module = symbol(p, "module"),
        .builtin_module = symbol(p, "builtin.module"),
        .func = symbol(p, "func.func"),
        .attributes = symbol(p, "attributes"),
        .private_ = symbol(p, "private"),
        .public_ = symbol(p, "public"),
        .nested = symbol(p, "nested"),
        .memref = symbol(p, "memref"),
        .vreg = symbol(p, "!pto.vreg"),
        .mask = symbol(p, "!pto.mask"),
        .loc = symbol(p, "loc"),
        .ins = symbol(p, "ins"),
        .outs = symbol(p, "outs"),
        .to = symbol(p, "to"),
        .step = symbol(p, "step"),
        .iter_args = symbol(p, "iter_args"),
        .else_ = symbol(p, "else"),
        .true_ = symbol(p, "true"),
        .false_ = symbol(p, "false"),
        .overflow = symbol(p, "overflow"),
    };
}

/* ---- Faults and recovery ------------------------------------------------------------------------------- */

const char *lw_pto_found(lw_pto_parser *p) {
    const lw_pto_token *t = &p->token;
    if (t->kind == LW_PTO_TOKEN_END) return "the end of the text";
    uint32_t size = t->place.size > 40 ? 40 : t->place.size;
    return lw_arena_printf(p->arena, "'%.*s%s'", (int)size, p->lexer.source->text + t->place.at,
                           size < t->place.size ? "…" : "");
}

static bool at_fresh_start(const lw_pto_parser *p);

/* Where the next operation has begun, the fault is at the end of the one before it. */
bool lw_pto_expected(lw_pto_parser *p, const char *what) {
    if (p->stopped) return false;
    bool behind = p->function && p->token.first && p->last_end && (at_fresh_start(p) || lw_pto_at(p, '}'));
    if (behind) lw_diag_add(p->diags, LW_D_pto_expected, (lw_place){p->last_end - 1, 1}, what, "the end of the line");
    else lw_diag_add(p->diags, LW_D_pto_expected, p->token.place, what, lw_pto_found(p));
    return false;
}

bool lw_pto_expect(lw_pto_parser *p, uint32_t punct) {
    if (LW_LIKELY(lw_pto_take(p, punct))) return true;
    char what[] = {'\'', (char)punct, '\'', 0, 0};
    return lw_pto_expected(p, punct == LW_PTO_ARROW ? "'->'" : what);
}

bool lw_pto_expect_word(lw_pto_parser *p, const lw_symbol *word) {
    return lw_pto_take_word(p, word) || lw_pto_expected(p, lw_arena_printf(p->arena, "'%s'", word->text));
}

bool lw_pto_too_deep(lw_pto_parser *p) {
    if (!p->stopped) lw_diag_add(p->diags, LW_D_pto_too_deep, p->token.place, LW_PTO_DEPTH_MAX);
    p->stopped = true;
    p->token.kind = LW_PTO_TOKEN_END;
    return false;
}

bool lw_pto_enter(lw_pto_parser *p) { return ++p->depth <= LW_PTO_DEPTH_MAX || lw_pto_too_deep(p); }

static bool at_function(const lw_pto_parser *p) { return lw_pto_at_word(p, p->words.func); }
static bool at_module(const lw_pto_parser *p) {
    return lw_pto_at_word(p, p->words.module) || lw_pto_at_word(p, p->words.builtin_module);
}

/* Words that begin a line in the middle of an operation. */
static bool goes_on(const lw_pto_parser *p) {
    const lw_pto_keywords *w = &p->words;
    const lw_symbol *name = p->token.name, *const inside[] = {w->ins,   w->outs, w->to,         w->step,  w->iter_args,
                                                              w->else_, w->loc,  w->attributes, w->memref};
    for (size_t i = 0; i < LW_COUNT(inside); i++)
        if (inside[i] == name) return true;
    return name->bound; /* a type or a comparison */
}

/* Whether the next token looks like the start of an operation: first on its line, and a value's or an operation's
 * name. */
static bool at_fresh_start(const lw_pto_parser *p) {
    if (at_function(p) || at_module(p)) return true;
    if (!p->token.first) return false;
    if (!p->function && (p->token.kind == LW_PTO_TOKEN_TYPE || p->token.kind == LW_PTO_TOKEN_HASH)) return true;
    return p->token.kind == LW_PTO_TOKEN_VALUE || p->token.kind == LW_PTO_TOKEN_CARET ||
           (p->token.kind == LW_PTO_TOKEN_WORD && !goes_on(p));
}

/* Braces that the unfinished operation opens are closed first. */
void lw_pto_recover(lw_pto_parser *p) {
    uint32_t opened = 0;
    while (p->token.kind != LW_PTO_TOKEN_END) {
        if (at_function(p) || at_module(p) || (!opened && at_fresh_start(p))) return;
        if (lw_pto_at(p, '{')) opened++;
        if (lw_pto_at(p, '}')) {
            if (!opened) return;
            opened--;
        }
        lw_pto_next(p);
    }
}

/* ---- Functions ------------------------------------------------------------------------------------------ */

/* %a: T {attributes} loc(…), or T alone where only a declaration is meant. */
static bool parse_argument(lw_pto_parser *p, lw_pto_value **value, lw_pto_attributes *attributes,
                           const char **location) {
    lw_symbol *name = NULL;
    lw_place place = p->token.place;
    const lw_pto_type *type;
    if (p->token.kind == LW_PTO_TOKEN_VALUE) {
        if (p->token.value) return lw_pto_expected(p, "the name of an argument");
        name = p->token.name;
        lw_pto_next(p);
        if (!lw_pto_expect(p, ':')) return false;
    }
    if (!lw_pto_parse_type(p, &type) || !lw_pto_parse_attributes(p, attributes)) return false;
    if (!lw_pto_parse_location(p, location)) return false;
    if (name) *value = lw_pto_define(p, name, place, LW_PTO_ARGUMENT, 0);
    else *value = LW_NEW(p->arena, lw_pto_value), (*value)->place = place;
    (*value)->type = type;
    return true;
}

typedef struct arguments {
    LW_LIST(lw_pto_value *) values;
    LW_LIST(lw_pto_attributes) attributes;
    LW_LIST(const char *) locations;
} arguments;

static bool parse_arguments(lw_pto_parser *p, lw_pto_function *f) {
    arguments a = {0};
    if (!lw_pto_expect(p, '(')) return false;
    if (!lw_pto_take(p, ')')) {
        do {
            lw_pto_attributes *attributes = &LW_PUSH(p->arena, a.attributes);
            const char **location = &LW_PUSH(p->arena, a.locations);
            if (!parse_argument(p, &LW_PUSH(p->arena, a.values), attributes, location)) return false;
        } while (lw_pto_take(p, ','));
        if (!lw_pto_expect(p, ')')) return false;
    }
    f->argument_count = a.values.count;
    f->arguments = a.values.at;
    f->argument_attributes = a.attributes.at;
    f->argument_locations = a.locations.at;
    return true;
}

typedef struct results {
    LW_LIST(const lw_pto_type *) types;
    LW_LIST(lw_place) places;
    LW_LIST(lw_pto_attributes) attributes;
} results;

static bool parse_result(lw_pto_parser *p, results *r) {
    LW_PUSH(p->arena, r->attributes) = (lw_pto_attributes){0};
    lw_place start = p->token.place;
    if (!lw_pto_parse_type(p, &LW_PUSH(p->arena, r->types))) return false;
    LW_PUSH(p->arena, r->places) = lw_pto_since(p, start);
    return true;
}

static bool parse_results(lw_pto_parser *p, lw_pto_function *f) {
    results r = {0};
    if (!lw_pto_take(p, LW_PTO_ARROW)) return true;
    if (!lw_pto_take(p, '(')) {
        if (!parse_result(p, &r)) return false;
    } else if (!lw_pto_take(p, ')')) {
        do
            if (!parse_result(p, &r) || !lw_pto_parse_attributes(p, &r.attributes.at[r.attributes.count - 1]))
                return false;
        while (lw_pto_take(p, ','));
        if (!lw_pto_expect(p, ')')) return false;
    }
    f->result_count = r.types.count;
    f->results = r.types.at;
    f->result_places = r.places.at;
    f->result_attributes = r.attributes.at;
    return true;
}

static bool parse_visibility(lw_pto_parser *p, lw_pto_function *f) {
    if (p->token.kind == LW_PTO_TOKEN_WORD) {
        if (!lw_pto_at_word(p, p->words.private_) && !lw_pto_at_word(p, p->words.public_) &&
            !lw_pto_at_word(p, p->words.nested))
            return lw_pto_expected(p, "the name of the function");
        f->visibility = p->token.name->text;
        lw_pto_next(p);
    }
    return true;
}

static void add_function(lw_pto_parser *p, lw_pto_group *group, lw_pto_function *f) {
    if (f->name->bound) {
        const lw_pto_function *before = f->name->bound;
        lw_diag_add(p->diags, LW_D_pto_function_twice, f->name_place, f->name->text);
        lw_diag_add(p->diags, LW_D_pto_defined_here, before->name_place);
        return;
    }
    f->name->bound = f;
    LW_PUSH(p->arena, group->functions) = f;
    LW_PUSH(p->arena, p->module->functions) = f;
}

static bool parse_header(lw_pto_parser *p, lw_pto_function *f, lw_pto_group *group) {
    if (!parse_visibility(p, f)) return false;
    if (p->token.kind != LW_PTO_TOKEN_AT) return lw_pto_expected(p, "the name of the function, such as @f");
    f->name = p->token.name;
    f->name_place = p->token.place;
    lw_pto_next(p);
    add_function(p, group, f);
    if (!parse_arguments(p, f) || !parse_results(p, f)) return false;
    return !lw_pto_take_word(p, p->words.attributes) || lw_pto_parse_attributes(p, &f->attributes);
}

/* Only declarations may leave out names. */
static void check_names(lw_pto_parser *p, const lw_pto_function *f) {
    for (uint32_t i = 0; i < f->argument_count; i++)
        if (!f->arguments[i]->name) {
            lw_diag_add(p->diags, LW_D_pto_expected, f->arguments[i]->place, "the name of the argument",
                        "its type alone");
            return;
        }
}

/* A function whose header is wrong still has its body read over. */
static bool parse_function(lw_pto_parser *p, lw_pto_group *group) {
    lw_pto_function *f = LW_NEW(p->arena, lw_pto_function);
    f->place = p->token.place;
    p->function = f;
    lw_pto_next(p);
    bool good = parse_header(p, f, group);
    f->place = lw_pto_since(p, f->place);
    if (good && lw_pto_at(p, '{')) {
        check_names(p, f);
        f->has_body = true;
        good = lw_pto_parse_region(p, &f->body, LW_PTO_RETURN, f->result_count != 0);
    }
    good = good && lw_pto_parse_location(p, &f->location);
    lw_pto_end_names(p);
    p->module->op_count += f->op_count;
    p->function = NULL;
    return good;
}

/* ---- Modules --------------------------------------------------------------------------------------------- */

static bool misplaced(lw_pto_parser *p) {
    if (p->token.kind == LW_PTO_TOKEN_STRING) lw_diag_add(p->diags, LW_D_pto_generic_form, p->token.place);
    else if (p->token.kind == LW_PTO_TOKEN_WORD && (p->token.name->form || at_module(p)))
        lw_diag_add(p->diags, LW_D_pto_misplaced, p->token.place, p->token.name->text);
    else return lw_pto_expected(p, "func.func");
    return false;
}

static bool at_item(const lw_pto_parser *p) {
    bool alias = p->token.first && (p->token.kind == LW_PTO_TOKEN_TYPE || p->token.kind == LW_PTO_TOKEN_HASH);
    return alias || p->token.kind == LW_PTO_TOKEN_END || at_function(p) || at_module(p) || lw_pto_at(p, '}');
}

/* A function, or what stands where one should: read over to the next function or }. */
static void parse_item(lw_pto_parser *p, lw_pto_group *group) {
    uint32_t at = p->token.place.at;
    p->depth = 0;
    if (at_function(p) ? parse_function(p, group) : misplaced(p)) return;
    if (p->token.place.at == at) lw_pto_next(p); /* always forward */
    for (lw_pto_recover(p); !at_item(p); lw_pto_recover(p)) lw_pto_next(p);
}

static lw_pto_group *add_group(lw_pto_parser *p) {
    lw_pto_group *group = LW_NEW(p->arena, lw_pto_group);
    group->place = p->token.place;
    return LW_PUSH(p->arena, p->module->groups) = group;
}

/* module @name attributes {…} {, of which the last brace is left for the caller. */
static bool parse_module_header(lw_pto_parser *p, lw_pto_group *group) {
    lw_pto_next(p);
    if (p->token.kind == LW_PTO_TOKEN_AT) {
        group->name = p->token.name;
        lw_pto_next(p);
    }
    return !lw_pto_take_word(p, p->words.attributes) || lw_pto_parse_attributes(p, &group->attributes);
}

/* Its functions are read as if it were not there. True: it has a brace to close. */
static bool parse_nested_module(lw_pto_parser *p) {
    lw_pto_group unused = {0};
    misplaced(p);
    return parse_module_header(p, &unused) && lw_pto_take(p, '{');
}

static bool parse_module(lw_pto_parser *p) {
    lw_pto_group *group = add_group(p);
    group->written = true;
    if (!parse_module_header(p, group)) return false;
    lw_place open = p->token.place;
    if (!lw_pto_expect(p, '{')) return false;
    uint32_t nested = 0;
    while (p->token.kind != LW_PTO_TOKEN_END && (nested || !lw_pto_at(p, '}'))) {
        if (lw_pto_take(p, '}')) nested--;
        else if (at_module(p)) nested += parse_nested_module(p);
        else parse_item(p, group);
    }
    group->end = p->token.place;
    if (lw_pto_take(p, '}')) return lw_pto_parse_location(p, &group->location);
    if (!p->stopped) lw_diag_add(p->diags, LW_D_pto_open_brace, open);
    return true;
}

static void stray_brace(lw_pto_parser *p) {
    lw_diag_add(p->diags, LW_D_pto_stray_brace, p->token.place);
    lw_pto_next(p);
}

static void parse_top(lw_pto_parser *p) {
    lw_pto_group *loose = NULL; /* the group of functions outside of modules, while they follow each other */
    while (p->token.kind != LW_PTO_TOKEN_END) {
        uint32_t at = p->token.place.at;
        bool good = true;
        p->depth = 0;
        if (at_module(p)) {
            loose = NULL;
            good = parse_module(p);
        } else if (p->token.kind == LW_PTO_TOKEN_TYPE || p->token.kind == LW_PTO_TOKEN_HASH) {
            good = lw_pto_parse_alias(p);
        } else if (lw_pto_at(p, '}')) {
            stray_brace(p);
        } else {
            if (!loose) loose = add_group(p);
            parse_item(p, loose);
        }
        if (good) continue;
        lw_pto_recover(p);
        if (p->token.place.at == at) lw_pto_next(p);
    }
}

lw_pto_module *lw_pto_parse(lw_arena *arena, lw_source *source, lw_diags *diags) {
    lw_pto_module *module = LW_NEW(arena, lw_pto_module);
    *module = (lw_pto_module){.arena = arena, .source = source, .diags = diags};
    lw_symbols_init_for(&module->symbols, arena, source->size);
    lw_pto_types_init(module);
    lw_pto_parser *p = LW_NEW(arena, lw_pto_parser);
    *p = (lw_pto_parser){.module = module, .arena = arena, .diags = diags};
    p->lexer = (lw_pto_lexer){.source = source, .diags = diags, .symbols = &module->symbols};
    const lw_content *content = lw_content_of(source->text, source->size);
    if (content) {
        lw_diag_add(diags, LW_D_no_text, (lw_place){0, 1}, content->is);
        return module;
    }
    bind_words(p);
    lw_pto_next(p);
    parse_top(p);
    return module;
}

lw_pto_function *lw_pto_find(const lw_pto_module *module, const char *name) {
    for (uint32_t i = 0; i < module->functions.count; i++) {
        const char *own = module->functions.at[i]->name->text;
        if (!strcmp(own, name) || !strcmp(own + 1, name)) return module->functions.at[i];
    }
    return NULL;
}
