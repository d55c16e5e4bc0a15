/* parse_directive.c: the head of a module, pragmas and debug data (manual sections 11.1, 11.5 and 11.7). */
#include "front/ptx/parse.h"

#include <stdio.h>

/* ---- Text of directives that are kept as written ------------------------------------------------------- */

static void put(lw_parser *p, lw_chars *text, const char *from, uint32_t size) {
    for (uint32_t i = 0; i < size; i++) LW_PUSH(p->arena, *text) = from[i];
}

static void puts_(lw_parser *p, lw_chars *text, const char *string) { put(p, text, string, (uint32_t)strlen(string)); }

/* The next token as written. */
static void put_token(lw_parser *p, lw_chars *text) {
    put(p, text, p->lexer.source->text + p->token.place.at, p->token.place.size);
    lw_parser_next(p);
}

static const char *finish(lw_parser *p, lw_chars *text) {
    LW_PUSH(p->arena, *text) = 0;
    return text->at;
}

static bool put_kind(lw_parser *p, lw_chars *text, lw_token_kind kind, const char *what) {
    if (p->token.kind != kind) return lw_parser_expected(p, what);
    put_token(p, text);
    return true;
}

bool lw_parse_pragma(lw_parser *p, const char **text) {
    lw_chars out = {0};
    lw_parser_next(p);
    do {
        if (out.count) puts_(p, &out, ", ");
        if (!put_kind(p, &out, LW_TOKEN_STRING, "a string")) return false;
    } while (lw_parser_take(p, ','));
    *text = finish(p, &out);
    return lw_parser_semicolon(p);
}

/* .file number "name" {, time {, size}} */
bool lw_parse_file(lw_parser *p, const char **text) {
    lw_chars out = {0};
    put_token(p, &out);
    puts_(p, &out, " ");
    if (p->token.kind == LW_TOKEN_INT && p->token.value > UINT32_MAX) {
        lw_diag_add(p->module->diags, LW_D_literal_range, p->token.place, "the number of a file",
                    (unsigned long long)UINT32_MAX);
        return false;
    }
    if (!put_kind(p, &out, LW_TOKEN_INT, "the number of the file")) return false;
    puts_(p, &out, " ");
    if (!put_kind(p, &out, LW_TOKEN_STRING, "the name of the file")) return false;
    if (lw_parser_take(p, ',')) {
        puts_(p, &out, ", ");
        if (!put_kind(p, &out, LW_TOKEN_INT, "the time stamp of the file")) return false;
        bool more = lw_parser_take(p, ',');
        if (more) puts_(p, &out, ", ");
        if (more && !put_kind(p, &out, LW_TOKEN_INT, "the size of the file")) return false;
    }
    *text = finish(p, &out);
    return true;
}

/* @@dwarf belonged to PTX before 2.0; it goes to the end of its line. */
bool lw_parse_dwarf(lw_parser *p, const char **text) {
    const char *source = p->lexer.source->text;
    uint32_t from = p->token.place.at, end = from;
    while (end < p->lexer.source->size && source[end] != '\n' && source[end] != '\r') end++;
    lw_place place = {from, end - from};
    bool dwarf = end - from >= 7 && (!memcmp(source + from, "@@DWARF", 7) || !memcmp(source + from, "@@dwarf", 7));
    if (!dwarf) lw_diag_add(p->module->diags, LW_D_bad_debug, place);
    else if (p->module->version >= 20) lw_diag_add(p->module->diags, LW_D_dwarf_gone, place);
    *text = lw_arena_text(p->arena, source + from, end - from);
    p->lexer.at = end;
    lw_parser_next(p);
    return true;
}

/* ---- Sections ------------------------------------------------------------------------------------------ */

static bool is_data_type(const lw_parser *p) {
    const lw_word *word = lw_parser_word(p);
    if (!word || word->kind != LW_WORD_TYPE) return false;
    return word->value == LW_T_b8 || word->value == LW_T_b16 || word->value == LW_T_b32 || word->value == LW_T_b64;
}

static bool at_label(const lw_parser *p) {
    return (p->token.kind == LW_TOKEN_NAME && p->token.name != p->warp_size) ||
           (p->token.kind == LW_TOKEN_DOT && !lw_parser_word(p));
}

/* label   label+number   label-label; a section's name counts as a label */
static bool put_label(lw_parser *p, lw_chars *text) {
    put_token(p, text);
    bool minus = lw_parser_at(p, '-');
    if (!minus && !lw_parser_at(p, '+')) return true;
    put_token(p, text);
    return minus ? put_kind(p, text, LW_TOKEN_NAME, "a label") : put_kind(p, text, LW_TOKEN_INT, "a number");
}

/* A number that fits into the datum, signed or unsigned. */
static bool put_number(lw_parser *p, lw_chars *text, uint32_t bits) {
    bool minus = lw_parser_at(p, '-');
    if (minus) put_token(p, text);
    uint64_t most = bits >= 32 ? UINT64_MAX : (UINT64_C(1) << bits) - 1; /* the wider ones lose what is above */
    if (minus) most = most / 2 + 1;
    if (p->token.kind == LW_TOKEN_INT && p->token.value > most && !p->token.too_large) {
        lw_diag_add(p->module->diags, LW_D_literal_range, p->token.place, "the datum", (unsigned long long)most);
        return false;
    }
    return put_kind(p, text, LW_TOKEN_INT, "a number or a label");
}

static bool put_section_line(lw_parser *p, lw_chars *text) {
    puts_(p, text, "\n\t");
    if (p->token.kind == LW_TOKEN_NAME) {
        put_token(p, text);
        puts_(p, text, ":");
        return lw_parser_expect(p, ':');
    }
    if (!is_data_type(p)) return lw_parser_expected(p, "'.b8', '.b16', '.b32', '.b64' or a label");
    uint32_t bits = lw_types[lw_parser_word(p)->value].bits;
    put_token(p, text);
    puts_(p, text, " ");
    if (at_label(p)) return put_label(p, text);
    if (!put_number(p, text, bits)) return false;
    while (lw_parser_take(p, ',')) {
        puts_(p, text, ", ");
        if (!put_number(p, text, bits)) return false;
    }
    return true;
}

bool lw_parse_section(lw_parser *p, const char **text) {
    lw_chars out = {0};
    put_token(p, &out);
    puts_(p, &out, " ");
    if (lw_parser_word(p)) return lw_parser_expected(p, "the name of the section");
    if (!put_kind(p, &out, LW_TOKEN_DOT, "the name of the section, with its dot")) return false;
    lw_place brace = p->token.place;
    if (!lw_parser_expect(p, '{')) return false;
    p->braces++;
    puts_(p, &out, "\n{");
    bool fine = true;
    while (!lw_parser_at(p, '}')) {
        if (lw_parser_at_end(p)) return lw_diag_add(p->module->diags, LW_D_open_brace, brace), false;
        if (fine && !put_section_line(p, &out)) fine = false; /* one fault a section; then on to its end */
        else if (!fine) lw_parser_next(p);
    }
    p->braces--;
    lw_parser_next(p);
    puts_(p, &out, "\n}");
    *text = finish(p, &out);
    return true;
}

/* ---- .loc ---------------------------------------------------------------------------------------------- */

static bool at_name(const lw_parser *p, const char *name) {
    return p->token.kind == LW_TOKEN_NAME && !strcmp(p->token.name->text, name);
}

static bool put_three(lw_parser *p, lw_chars *text) {
    for (int i = 0; i < 3; i++) {
        puts_(p, text, " ");
        if (!put_kind(p, text, LW_TOKEN_INT, "a number")) return false;
    }
    return true;
}

/* function_name label {+ number} {, inlined_at file line column} */
static bool parse_inlining(lw_parser *p, const char **rest) {
    lw_chars out = {0};
    if (!at_name(p, "function_name")) return lw_parser_expected(p, "'function_name'");
    put_token(p, &out);
    puts_(p, &out, " ");
    if (!put_kind(p, &out, LW_TOKEN_NAME, "a label")) return false;
    if (lw_parser_at(p, '+')) {
        put_token(p, &out);
        if (!put_kind(p, &out, LW_TOKEN_INT, "a number")) return false;
    }
    if (!lw_parser_expect(p, ',')) return false;
    puts_(p, &out, ", ");
    if (!at_name(p, "inlined_at")) return lw_parser_expected(p, "'inlined_at'");
    put_token(p, &out);
    if (!put_three(p, &out)) return false;
    *rest = finish(p, &out);
    return true;
}

bool lw_parse_loc(lw_parser *p, lw_statement *s) {
    uint64_t file, line, column;
    lw_parser_next(p);
    if (!lw_parse_literal(p, "the number of a file", UINT32_MAX, &file)) return false;
    if (!lw_parse_literal(p, "a line number", UINT32_MAX, &line)) return false;
    if (!lw_parse_literal(p, "a column number", UINT32_MAX, &column)) return false;
    s->loc.file = (uint32_t)file;
    s->loc.line = (uint32_t)line;
    s->loc.column = (uint32_t)column;
    s->loc.rest = NULL;
    return !lw_parser_take(p, ',') || parse_inlining(p, &s->loc.rest);
}

/* ---- .version, .target, .address_size ------------------------------------------------------------------ */

enum { NEWEST_TARGET = 121 };

static const struct version {
    uint8_t major, least, most;
} versions[] = {
    {1, 0, 5}, {2, 0, 3}, {3, 0, 2}, {4, 0, 3}, {5, 0, 1}, {6, 0, 5}, {7, 0, 8}, {8, 0, 8}, {9, 0, 0},
};

static const struct target {
    uint16_t number;
    char suffix;
    uint16_t since;
} targets[] = {
#define V(major, minor)               (10 * (major) + (minor))
#define TARGET(number, suffix, since) {number, suffix, since},
#include "ptx/targets.def"
};

/* 9.0 arrives as a number; only its digits count. */
static bool split_version(const char *text, uint32_t size, uint32_t *major, uint32_t *minor) {
    uint32_t *part = major;
    *major = *minor = 0;
    bool digits = false;
    for (uint32_t i = 0; i < size; i++) {
        if (text[i] == '.' && part == major && digits) part = minor, digits = false;
        else if (text[i] < '0' || text[i] > '9' || *part > 99) return false;
        else *part = *part * 10 + (uint32_t)(text[i] - '0'), digits = true;
    }
    return digits && part == minor;
}

static bool known_version(uint32_t major, uint32_t minor) {
    for (size_t i = 0; i < LW_COUNT(versions); i++)
        if (versions[i].major == major) return minor >= versions[i].least && minor <= versions[i].most;
    return false;
}

static bool parse_version(lw_parser *p) {
    lw_module_ptx *m = p->module;
    if (!lw_parser_at_word(p, LW_WORD_VERSION)) {
        if (!p->stopped) lw_diag_add(m->diags, LW_D_no_version, p->token.place);
        return false;
    }
    lw_parser_next(p);
    uint32_t major, minor;
    m->version_place = p->token.place;
    const char *text = m->source->text + p->token.place.at;
    if (p->token.kind != LW_TOKEN_FLOAT || !split_version(text, p->token.place.size, &major, &minor)) {
        lw_parser_expected(p, "a version such as '9.0'");
        bool number = p->token.kind == LW_TOKEN_FLOAT || p->token.kind == LW_TOKEN_INT;
        if (number) lw_parser_next(p); /* then the rest of the head is as good as any */
        return number;
    }
    if (major > 9 || (major == 9 && minor > 0)) lw_diag_add(m->diags, LW_D_newer_version, p->token.place, major, minor);
    else if (!known_version(major, minor)) lw_diag_add(m->diags, LW_D_unknown_version, p->token.place, major, minor);
    m->version = 10 * major + (minor < 10 ? minor : 9);
    lw_parser_next(p);
    return true;
}

/* sm_90a or compute_90a. */
static bool split_target(const char *name, struct target *to) {
    unsigned number;
    int read = 0;
    *to = (struct target){0};
    if (sscanf(name, "sm_%3u%n", &number, &read) != 1 && sscanf(name, "compute_%3u%n", &number, &read) != 1)
        return false;
    to->number = (uint16_t)number;
    if (name[read]) to->suffix = name[read++];
    return !name[read];
}

static const struct target *find_target(const struct target *named) {
    for (size_t i = 0; i < LW_COUNT(targets); i++)
        if (targets[i].number == named->number && targets[i].suffix == named->suffix) return &targets[i];
    return NULL;
}

/* A version that is newer than what we know may know targets that we do not; they can do what older ones of their kind
 * could. */
static bool is_newer_target(const lw_module_ptx *m, const struct target *named) {
    bool kind = !named->suffix || named->suffix == 'a' || named->suffix == 'f';
    return m->version > LW_PTX_NEWEST && named->number > 100 && kind;
}

static void set_target(lw_parser *p, const struct target *target) {
    lw_module_ptx *m = p->module;
    m->target = target->number;
    m->target_suffix = target->suffix;
    if (m->version && m->version < target->since)
        lw_diag_add(m->diags, LW_D_version_for_target, p->token.place, m->version / 10, m->version % 10,
                    p->token.name->text, target->since / 10, target->since % 10);
}

static bool is_option(const char *name) {
    static const char *const options[] = {"texmode_unified", "texmode_independent", "debug", "map_f64_to_f32"};
    for (size_t i = 0; i < LW_COUNT(options); i++)
        if (!strcmp(name, options[i])) return true;
    return false;
}

static void check_option(lw_parser *p) {
    lw_module_ptx *m = p->module;
    const char *name = p->token.name->text;
    for (uint32_t i = 0; i + 1 < m->target_count; i++)
        if (!strncmp(name, "texmode_", 8) && !strncmp(m->targets[i]->text, "texmode_", 8) &&
            m->targets[i] != p->token.name)
            lw_diag_add(m->diags, LW_D_target_conflict, p->token.place, name, m->targets[i]->text);
    if (!strcmp(name, "texmode_independent") && m->version < 15)
        lw_diag_add(m->diags, LW_D_needs_version, p->token.place, "texmode_independent", 1, 5, m->version / 10,
                    m->version % 10);
    if (!strcmp(name, "map_f64_to_f32") && m->target >= 13) lw_diag_add(m->diags, LW_D_no_map_f64, p->token.place);
}

/* The one that looks most like it, or all numbers. */
static const char *known_targets(lw_arena *arena, const char *name) {
    const char *names[LW_COUNT(targets)];
    lw_text all = {0};
    lw_text_puts(&all, "known are");
    for (size_t i = 0; i < LW_COUNT(targets); i++) {
        names[i] = targets[i].suffix ? lw_arena_printf(arena, "sm_%u%c", targets[i].number, targets[i].suffix)
                                     : lw_arena_printf(arena, "sm_%u", targets[i].number);
        if (!targets[i].suffix) lw_text_printf(&all, " %s", names[i]);
    }
    const bool is_number = !strncmp(name, "sm_", 3) &&
                           !name[3 + strspn(name + 3, "0123456789")]; /* means no other one */
    const char *near = is_number ? NULL : lw_nearest(name, names, LW_COUNT(targets));
    if (!near) return lw_arena_keep(arena, &all);
    lw_text_free(&all);
    return lw_arena_printf(arena, "did you mean '%s'?", near);
}

static bool parse_target_word(lw_parser *p) {
    lw_module_ptx *m = p->module;
    if (p->token.kind != LW_TOKEN_NAME) return lw_parser_expected(p, "a target such as 'sm_90'");
    const char *name = p->token.name->text;
    struct target named;
    const struct target *target = split_target(name, &named) ? find_target(&named) : NULL;
    if (!target && is_newer_target(m, &named)) {
        lw_diag_add(m->diags, LW_D_newer_target, p->token.place, name);
        target = &named;
    }
    bool more = target &&
                (target->number > m->target || (target->number == m->target && target->suffix && !m->target_suffix));
    if (more) set_target(p, target);
    else if (!target && is_option(name) && m->target) check_option(p);
    else if (!target && is_option(name)) lw_diag_add(m->diags, LW_D_no_architecture, p->token.place);
    else if (!target)
        lw_diag_add(m->diags, LW_D_unknown_target, p->token.place, name)->fix = known_targets(m->arena, name);
    lw_parser_next(p);
    return true;
}

static bool parse_target(lw_parser *p) {
    lw_module_ptx *m = p->module;
    if (!lw_parser_at_word(p, LW_WORD_TARGET)) {
        lw_diag_add(m->diags, LW_D_no_target, p->token.place);
        return false;
    }
    lw_place start = p->token.place;
    LW_LIST(lw_symbol *) list = {0};
    for (uint32_t i = 0; i < m->target_count; i++)
        LW_PUSH(p->arena, list) = m->targets[i]; /* a further directive adds to the first */
    uint32_t faults = m->diags->errors;
    lw_parser_next(p);
    m->target_place = p->token.place;
    do {
        LW_PUSH(p->arena, list) = p->token.name;
        m->targets = list.at;
        m->target_count = list.count;
        if (!parse_target_word(p)) return m->target_count--, false;
    } while (lw_parser_take(p, ',') && list.count < 64);
    if (!m->target && m->diags->errors == faults)
        lw_diag_add(m->diags, LW_D_no_architecture, lw_parser_since(p, start));
    return true;
}

static void parse_address_size(lw_parser *p) {
    lw_module_ptx *m = p->module;
    lw_parser_next(p);
    lw_place place = p->token.place;
    uint64_t bits;
    if (!lw_parse_literal(p, "32 or 64", UINT64_MAX, &bits)) return;
    m->address_size_written = true;
    m->address_place = place;
    if (bits != 32 && bits != 64) lw_diag_add(m->diags, LW_D_bad_address_size, place);
    else m->address_size = (uint32_t)bits;
    if (bits == 32 && m->target >= 90) lw_diag_add(m->diags, LW_D_no_32_bit, place, m->target);
}

/* Each directive is taken where it stands, so that a wrong order is one fault. Where the size of addresses is not given
 * it is 64, as on every host that is left. */
void lw_parse_header(lw_parser *p) {
    lw_module_ptx *m = p->module;
    bool version = parse_version(p);
    bool target = (version || lw_parser_at_word(p, LW_WORD_TARGET)) && parse_target(p);
    while (target && lw_parser_at_word(p, LW_WORD_TARGET)) target = parse_target(p);
    if (target && !version && lw_parser_at_word(p, LW_WORD_VERSION)) parse_version(p);
    m->address_place = m->target_place;
    if (lw_parser_at_word(p, LW_WORD_ADDRESS_SIZE)) parse_address_size(p);
    /* where the head is faulty the rest is read as if the newest had been asked for */
    if (!m->version) m->version = LW_PTX_NEWEST;
    if (!m->target) m->target = NEWEST_TARGET, m->target_suffix = 'a';
}
