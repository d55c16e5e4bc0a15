/* parse_function.c: entries, functions and their bodies (manual sections 11.2 to 11.4). */
#include "front/ptx/parse.h"

/* ---- Signatures ---------------------------------------------------------------------------------------- */

typedef LW_LIST(lw_object *) objects;

/* ( a, b, … ), the opening parenthesis being next. */
static bool parse_parameters(lw_parser *p, lw_function *f, bool returns) {
    objects list = {0};
    bool fine = true, late_align = f->is_entry || f->object->kind == LW_OBJ_PROTOTYPE;
    lw_parser_next(p);
    if (!lw_parser_at(p, ')')) {
        do {
            lw_object **slot = &LW_PUSH(p->arena, list);
            fine = lw_parse_parameter(p, slot, late_align);
            (*slot)->owner = f;
            (*slot)->is_return = returns;
            if (!(*slot)->name) list.count--; /* the fault came before the name */
        } while (fine && lw_parser_take(p, ','));
    }
    if (returns) f->returns = list.at, f->return_count = list.count;
    else f->params = list.at, f->param_count = list.count;
    return fine && lw_parser_expect(p, ')');
}

/* A directive of section 11.4 with its values. */
static bool parse_tuning(lw_parser *p, lw_function *f) {
    const lw_tuning_id id = (lw_tuning_id)lw_parser_word(p)->value;
    const lw_tuning *row = &lw_tunings[id];
    lw_directive *d = &LW_PUSH(p->arena, f->directives);
    *d = (lw_directive){.tuning = id, .name = p->token.name, .place = p->token.place};
    if (!(f->is_entry ? row->entry : row->func))
        lw_diag_add(p->module->diags, LW_D_directive_kind, d->place, d->name->text, f->is_entry ? ".entry" : ".func");
    lw_parser_next(p);
    if (!row->most) return true;
    LW_LIST(uint64_t) values = {0};
    do
        if (!lw_parse_literal(p, "the directive's value", UINT32_MAX, &LW_PUSH(p->arena, values))) return false;
    while (values.count < row->most && lw_parser_take(p, ','));
    d->values = values.at;
    d->value_count = values.count;
    d->place = lw_parser_since(p, d->place);
    return true;
}

static bool parse_function_pragma(lw_parser *p, lw_function *f) {
    lw_directive *d = &LW_PUSH(p->arena, f->directives);
    *d = (lw_directive){.name = p->token.name, .place = p->token.place};
    return lw_parse_pragma(p, &d->text);
}

static bool parse_tunings(lw_parser *p, lw_function *f) {
    for (;;) {
        if (lw_parser_at_word(p, LW_WORD_TUNING)) {
            if (!parse_tuning(p, f)) return false;
        } else if (lw_parser_at_word(p, LW_WORD_PRAGMA) &&
                   f->is_entry) { /* behind a .func it is the module's: that may be a prototype */
            if (!parse_function_pragma(p, f)) return false;
        } else return true;
    }
}

/* ---- Labelled declarations ----------------------------------------------------------------------------- */

static lw_object *add_object(lw_parser *p, lw_statement_kind statement, lw_object_kind kind, lw_symbol *name,
                             lw_place place) {
    lw_object *o = LW_NEW(p->arena, lw_object);
    *o = (lw_object){.kind = kind, .name = name, .place = place, .owner = p->function};
    o->statement = p->body.count;
    o->scope = p->scopes[p->depth];
    LW_PUSH(p->arena, p->function->labels) = o;
    LW_PUSH(p->arena, p->body) = (lw_statement){.kind = statement, .place = place, .object = o};
    return o;
}

/* name: .callprototype (…) _ (…) …; */
static bool parse_prototype(lw_parser *p, lw_symbol *name, lw_place place) {
    lw_object *o = add_object(p, LW_S_PROTOTYPE, LW_OBJ_PROTOTYPE, name, place);
    lw_function *f = LW_NEW(p->arena, lw_function);
    *f = (lw_function){.module = p->module, .object = o, .place = place};
    f->first = o->function = f;
    lw_parser_next(p);
    if (lw_parser_at(p, '(') && !parse_parameters(p, f, true)) return false;
    if (p->token.kind != LW_TOKEN_NAME || p->token.name != p->sink)
        return lw_parser_expected(p, "'_' in place of a function's name");
    lw_parser_next(p);
    if (lw_parser_at(p, '(') && !parse_parameters(p, f, false)) return false;
    return parse_tunings(p, f) && lw_parser_semicolon(p);
}

/* name: .calltargets a, b;   name: .branchtargets a, b; */
static bool parse_targets(lw_parser *p, lw_symbol *name, lw_place place) {
    lw_object *o = add_object(p, LW_S_TARGETS, LW_OBJ_TARGETS, name, place);
    o->is_branch = lw_parser_at_word(p, LW_WORD_BRANCH_TARGETS);
    LW_LIST(lw_operand) list = {0};
    lw_parser_next(p);
    do {
        lw_operand *target = &LW_PUSH(p->arena, list);
        target->kind = LW_O_NAME;
        if (!lw_parse_name(p, o->is_branch ? "a label" : "a function", &target->name, &target->place)) return false;
    } while (lw_parser_take(p, ','));
    o->targets = list.at;
    o->target_count = list.count;
    return lw_parser_semicolon(p);
}

/* The name has been taken, its colon is next. */
static bool parse_label(lw_parser *p, lw_symbol *name, lw_place place) {
    lw_parser_next(p);
    if (name == p->sink) return lw_diag_add(p->module->diags, LW_D_label_sink, place), false;
    if (lw_parser_at_word(p, LW_WORD_PROTOTYPE)) return parse_prototype(p, name, place);
    if (lw_parser_at_word(p, LW_WORD_CALL_TARGETS) || lw_parser_at_word(p, LW_WORD_BRANCH_TARGETS))
        return parse_targets(p, name, place);
    add_object(p, LW_S_LABEL, LW_OBJ_LABEL, name, place);
    return true;
}

/* ---- Bodies -------------------------------------------------------------------------------------------- */

static lw_statement *add_statement(lw_parser *p, lw_statement_kind kind, lw_place place) {
    lw_statement *s = &LW_PUSH(p->arena, p->body);
    *s = (lw_statement){.kind = kind, .place = place};
    return s;
}

static bool add_instruction(lw_parser *p, lw_operand *guard, lw_place start) {
    lw_instruction *instruction;
    if (!lw_parse_instruction(p, guard, &instruction)) return false;
    add_statement(p, LW_S_INSTRUCTION, lw_parser_since(p, start))->instruction = instruction;
    p->function->instruction_count++;
    return true;
}

/* Whether the name that is the next token has a colon behind it. */
static bool is_label(const lw_parser *p) {
    const char *at = p->lexer.source->text + p->lexer.at;
    while (*at == ' ' || *at == '\t') at++;
    return *at == ':';
}

static bool parse_named_statement(lw_parser *p) {
    lw_symbol *name = p->token.name;
    lw_place place = p->token.place;
    if (!is_label(p)) return add_instruction(p, NULL, place);
    lw_parser_next(p);
    return parse_label(p, name, place);
}

static bool parse_guarded(lw_parser *p) {
    lw_operand *guard;
    lw_place start = p->token.place;
    return lw_parse_guard(p, &guard) && add_instruction(p, guard, start);
}

static bool parse_body_pragma(lw_parser *p) {
    const char *text;
    lw_place start = p->token.place;
    if (!lw_parse_pragma(p, &text)) return false;
    add_statement(p, LW_S_PRAGMA, lw_parser_since(p, start))->text = text;
    return true;
}

static bool parse_body_loc(lw_parser *p) {
    lw_statement s = {.kind = LW_S_LOC, .place = p->token.place};
    if (!lw_parse_loc(p, &s)) return false;
    s.place = lw_parser_since(p, s.place);
    LW_PUSH(p->arena, p->body) = s;
    return true;
}

static bool parse_body_dwarf(lw_parser *p) {
    const char *text;
    lw_place start = p->token.place;
    if (!lw_parse_dwarf(p, &text)) return false;
    add_statement(p, LW_S_DIRECTIVE, lw_parser_since(p, start))->text = text;
    return true;
}

static bool parse_body_directive(lw_parser *p) {
    const lw_word *word = lw_parser_word(p);
    lw_diag_id fault = word ? LW_D_misplaced_directive : LW_D_unknown_directive;
    switch (word ? word->kind : LW_WORD_VERSION) {
    case LW_WORD_SPACE:
    case LW_WORD_ALIGN: return lw_parse_variables(p, LW_LINK_none, LW_IN_BODY);
    case LW_WORD_LOC: return parse_body_loc(p);
    case LW_WORD_PRAGMA: return parse_body_pragma(p);
    case LW_WORD_PROTOTYPE:
    case LW_WORD_CALL_TARGETS:
    case LW_WORD_BRANCH_TARGETS: fault = LW_D_label_missing; break;
    case LW_WORD_LINKAGE: fault = LW_D_linkage_in_body; break;
    default: break;
    }
    lw_diag_add(p->module->diags, fault, p->token.place, p->token.name->text);
    lw_parser_next(p);
    return false;
}

static bool parse_statement(lw_parser *p) {
    if (LW_LIKELY(p->token.kind == LW_TOKEN_NAME)) return parse_named_statement(p);
    if (lw_parser_at(p, '@')) return parse_guarded(p);
    if (lw_parser_at(p, '@' | '@' << 8)) return parse_body_dwarf(p);
    if (p->token.kind == LW_TOKEN_DOT) return parse_body_directive(p);
    return lw_parser_expected(p, "an instruction, a label or a declaration");
}

static bool is_function_word(const lw_parser *p) {
    const lw_word *word = lw_parser_word(p);
    return word && (word->kind == LW_WORD_ENTRY || word->kind == LW_WORD_FUNC);
}

/* A function's start inside of a body, with or without a linking directive: some } is missing. */
static bool at_next_function(lw_parser *p) {
    if (!lw_parser_at_word(p, LW_WORD_LINKAGE)) return is_function_word(p);
    uint32_t at = p->lexer.at, last = p->last_end;
    lw_token token = p->token;
    lw_parser_next(p);
    bool function = is_function_word(p);
    p->lexer.at = at;
    p->last_end = last;
    p->token = token;
    return function;
}

static void report_open(lw_parser *p, lw_place brace) {
    if (!p->stopped) lw_diag_add(p->module->diags, LW_D_open_brace, brace);
}

static void close_scope(lw_parser *p) {
    add_statement(p, LW_S_CLOSE, p->token.place);
    lw_parser_leave(p);
    lw_parser_next(p);
}

static void open_scope(lw_parser *p) {
    if (!lw_parser_enter(p)) return;
    p->scopes[p->depth] = ++p->scope_count;
    add_statement(p, LW_S_OPEN, p->token.place);
    lw_parser_next(p);
}

/* From the { of the function to its }. Scopes nest in the statement list, not on the C stack. */
static void parse_body(lw_parser *p) {
    lw_place brace = p->token.place;
    lw_parser_next(p);
    p->depth = p->scope_count = p->scopes[0] = 0;
    for (;;) {
        if (lw_parser_at_end(p) || at_next_function(p)) break;
        if (lw_parser_at(p, '}')) {
            if (p->depth == 0) {
                lw_parser_next(p);
                p->function->body_place = lw_parser_since(p, brace);
                return;
            }
            close_scope(p);
        } else if (lw_parser_at(p, '{')) {
            open_scope(p);
        } else {
            uint32_t depth = p->depth;
            if (parse_statement(p)) continue;
            p->depth = depth;
            lw_parser_recover(p);
        }
    }
    report_open(p, brace);
    while (p->depth > 0 && !p->stopped) { /* so that OPEN and CLOSE always balance */
        add_statement(p, LW_S_CLOSE, p->token.place);
        p->depth--;
    }
}

/* ---- Functions ----------------------------------------------------------------------------------------- */

/* Everything in front of the body or the semicolon. */
static bool parse_signature(lw_parser *p, lw_function *f) {
    lw_object *o = f->object;
    while (!f->is_entry && lw_parser_at_word(p, LW_WORD_ATTRIBUTE))
        if (!lw_parse_attribute(p, o)) return false;
    if (o->managed) lw_diag_add(p->module->diags, LW_D_managed_space, o->place, "managed");
    if (!f->is_entry && lw_parser_at(p, '(') && !parse_parameters(p, f, true)) return false;
    if (p->token.kind == LW_TOKEN_NAME && p->token.name == p->sink) return lw_parser_expected(p, "the function's name");
    if (!lw_parse_name(p, "the function's name", &o->name, &o->place)) return false;
    if (lw_parser_at(p, '(') && !parse_parameters(p, f, false)) return false;
    return parse_tunings(p, f);
}

/* A fault in the signature: its body, if one follows, is still read. */
static bool skip_to_body(lw_parser *p) {
    while (!lw_parser_at_end(p) && !lw_parser_at(p, '{') && !lw_parser_at(p, ';') && !at_next_function(p))
        lw_parser_next(p);
    return !lw_parser_at_end(p);
}

bool lw_parse_function(lw_parser *p, lw_linkage linkage, lw_place start) {
    lw_function *f = LW_NEW(p->arena, lw_function);
    lw_object *o = LW_NEW(p->arena, lw_object);
    *o = (lw_object){.kind = LW_OBJ_FUNCTION, .linkage = linkage, .place = start, .function = f};
    *f = (lw_function){.module = p->module, .object = o, .first = f, .is_entry = lw_parser_at_word(p, LW_WORD_ENTRY)};
    p->function = f;
    lw_parser_next(p);
    if (!parse_signature(p, f) && !skip_to_body(p)) return true;
    f->place = lw_parser_since(p, start);
    if (o->name) {
        lw_item *item = &LW_PUSH(p->arena, p->module->items);
        *item = (lw_item){.kind = LW_ITEM_FUNCTION, .place = f->place, .function = f};
    }
    bool directive = p->token.kind == LW_TOKEN_DOT || lw_parser_at(p, '@' | '@' << 8) || lw_parser_at_end(p);
    if (!f->is_entry && directive) return true; /* behind the prototype of a .func the semicolon may be missing */
    bool defined = f->is_entry && f->directives.count; /* performance directives stand in front of a body only */
    if (!lw_parser_at(p, '{')) {
        bool fine = defined ? lw_parser_expected(p, "'{'") : lw_parser_semicolon(p);
        f->has_body = !fine; /* what is skipped may be its body */
        return fine;
    }
    f->has_body = true;
    parse_body(p);
    f->body.at = p->body.at; /* the next body is put behind this one */
    f->body.count = f->body.room = p->body.count;
    p->body.at += p->body.count;
    p->body.room -= p->body.count;
    p->body.count = 0;
    p->module->instruction_count += f->instruction_count;
    return true;
}
