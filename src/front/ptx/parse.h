/* parse.h: what the files of the parser share. Private to parse*.c.
 *
 * Every parsing function returns false after it has reported a fault; the statement level then looks for the next
 * statement (lw_parser_recover). Nesting of whatever kind is bounded, so that no input exhausts the C stack. */
#ifndef LW_PARSE_H
#define LW_PARSE_H

#include "front/ptx/ptx.h"

enum { LW_DEPTH_MAX = 256 };

/* What a word behind a dot means where directives stand. */
typedef enum lw_word_kind {
    LW_WORD_TYPE,    /* value: lw_type */
    LW_WORD_SPACE,   /* value: lw_space */
    LW_WORD_LINKAGE, /* value: lw_linkage */
    LW_WORD_VECTOR,  /* value: elements */
    LW_WORD_TUNING,  /* performance and ABI directives of a function: isa/ptx/tunings.def */
    LW_WORD_VERSION,
    LW_WORD_TARGET,
    LW_WORD_ADDRESS_SIZE,
    LW_WORD_ENTRY,
    LW_WORD_FUNC,
    LW_WORD_ALIAS,
    LW_WORD_FILE,
    LW_WORD_LOC,
    LW_WORD_SECTION,
    LW_WORD_PRAGMA,
    LW_WORD_ALIGN,
    LW_WORD_ATTRIBUTE,
    LW_WORD_PTR,
    LW_WORD_PROTOTYPE,
    LW_WORD_CALL_TARGETS,
    LW_WORD_BRANCH_TARGETS,
} lw_word_kind;

typedef struct lw_word {
    const char *text;
    uint32_t size;
    lw_word_kind kind;
    uint8_t value;
} lw_word;

/* A constant expression's value (manual section 4.5). */
typedef struct lw_constant {
    bool is_float, single, is_unsigned;
    uint64_t value;
    lw_place place;
} lw_constant;

typedef LW_LIST(char) lw_chars;

typedef struct lw_parser {
    lw_module_ptx *module;
    lw_arena *arena;
    lw_lexer lexer;
    lw_token token;    /* the next one, not yet taken */
    uint32_t last_end; /* where the token before it ended */
    uint32_t depth;    /* nesting of whatever kind */
    uint32_t braces;   /* { of the current statement that are still open */
    uint32_t brackets; /* [ likewise */
    bool spelled;      /* the next token is a whole dotted mnemonic */
    bool stopped;      /* nesting too deep, or no PTX: the rest is not read */
    lw_function *function;
    uint32_t scopes[LW_DEPTH_MAX + 1], scope_count; /* numbers of the open scopes of the body, and of all so far */
    LW_LIST(lw_operand) operands;                   /* stacks: finished lists are copied out and popped */
    LW_LIST(lw_init) inits;
    LW_LIST(lw_symbol *) words;
    lw_symbol *sink, *warp_size, *generic, *call;
    LW_LIST(lw_statement) body; /* of the function at hand, which keeps this storage */
} lw_parser;

/* ---- parse.c: tokens, faults, recovery ----------------------------------------------------------------- */

static inline void lw_parser_next(lw_parser *p) {
    p->last_end = p->token.place.at + p->token.place.size;
    if (LW_LIKELY(!p->stopped)) lw_lex(&p->lexer, &p->token);
    else p->token.kind = LW_TOKEN_END;
}

static inline bool lw_parser_at(const lw_parser *p, uint32_t punct) {
    return p->token.kind == LW_TOKEN_PUNCT && p->token.punct == punct;
}

static inline bool lw_parser_take(lw_parser *p, uint32_t punct) {
    if (!lw_parser_at(p, punct)) return false;
    lw_parser_next(p);
    return true;
}

/* From the start of `at` to the end of the last token taken. */
static inline lw_place lw_parser_since(const lw_parser *p, lw_place at) {
    return (lw_place){at.at, p->last_end > at.at ? p->last_end - at.at : at.size};
}

static inline bool lw_parser_at_end(const lw_parser *p) { return p->token.kind == LW_TOKEN_END; }

/* The meaning of the next token as a directive word; NULL where it is none. */
static inline const lw_word *lw_parser_word(const lw_parser *p) {
    return p->token.kind == LW_TOKEN_DOT ? p->token.name->bound : NULL;
}

static inline bool lw_parser_at_word(const lw_parser *p, lw_word_kind kind) {
    const lw_word *word = lw_parser_word(p);
    return word && word->kind == kind;
}

bool lw_parser_expected(lw_parser *p, const char *what); /* reports; always false */
bool lw_parser_expect(lw_parser *p, char punct);
bool lw_parser_enter(lw_parser *p); /* one level deeper; false where that is too deep */
static inline void lw_parser_leave(lw_parser *p) { p->depth--; }
/* Behind a fault: to the end of the statement, or to the } that closes the scope. */
void lw_parser_recover(lw_parser *p);
/* The ; of a statement. Where only it is missing, the next line still counts. */
bool lw_parser_semicolon(lw_parser *p);
bool lw_parse_literal(lw_parser *p, const char *what, uint64_t most, uint64_t *value); /* a plain integer literal */
bool lw_parse_name(lw_parser *p, const char *what, lw_symbol **name, lw_place *place);

/* ---- parse_expression.c -------------------------------------------------------------------------------- */

bool lw_parse_constant(lw_parser *p, lw_constant *value);
/* What follows a name as its offset: any number of + term. */
bool lw_parse_offset(lw_parser *p, int64_t *offset);

/* ---- parse_operand.c ----------------------------------------------------------------------------------- */

bool lw_parse_instruction(lw_parser *p, lw_operand *guard, lw_instruction **instruction);
bool lw_parse_guard(lw_parser *p, lw_operand **guard);

/* ---- parse_variable.c ---------------------------------------------------------------------------------- */

/* Where a declaration stands. */
typedef enum lw_scope_kind { LW_IN_MODULE, LW_IN_BODY } lw_scope_kind;

bool lw_parse_variables(lw_parser *p, lw_linkage linkage, lw_scope_kind scope);
bool lw_parse_attribute(lw_parser *p, lw_object *object);
bool lw_parse_parameter(lw_parser *p, lw_object **object,
                        bool late_align); /* late_align: .align may stand behind the type */
bool lw_parse_init(lw_parser *p, lw_init *init);

/* ---- parse_function.c ---------------------------------------------------------------------------------- */

bool lw_parse_function(lw_parser *p, lw_linkage linkage, lw_place start);

/* ---- parse_directive.c --------------------------------------------------------------------------------- */

void lw_parse_header(lw_parser *p);                    /* .version .target .address_size */
bool lw_parse_pragma(lw_parser *p, const char **text); /* the strings behind .pragma, and the ; */
bool lw_parse_file(lw_parser *p, const char **text);
bool lw_parse_section(lw_parser *p, const char **text);
bool lw_parse_dwarf(lw_parser *p, const char **text); /* @@dwarf … to the end of the line */
bool lw_parse_loc(lw_parser *p, lw_statement *statement);

/* ---- foreign.c ----------------------------------------------------------------------------------------- */

/* Whether a text is no PTX but something else, which it reports. */
bool lw_ptx_is_foreign(const lw_source *source, lw_diags *diags);

#endif
