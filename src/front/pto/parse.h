/* parse.h: what the files of the parser share. Private to parse*.c.
 *
 * Every parsing function returns false after it has reported a fault; the operation level then looks for the next
 * operation (lw_pto_recover). Nesting of whatever kind is bounded, so that no input exhausts the C stack. */
#ifndef LW_PTO_PARSE_H
#define LW_PTO_PARSE_H

#include "front/pto/pto.h"

enum { LW_PTO_DEPTH_MAX = 128, LW_PTO_PARTS_MAX = 256 };

/* What a word means: kept in its symbol's `bound`. An operation's name has an lw_pto_spelling in its `form`. */
typedef struct lw_pto_meaning {
    lw_pto_scalar scalar;  /* i32 */
    lw_pto_scalar element; /* xi32 */
    uint8_t mask_bits;     /* b32 */
    lw_pto_word vcmp, cmpi;
} lw_pto_meaning;

typedef struct lw_pto_spelling {
    lw_pto_op_id id;
    bool assembly; /* without pto. */
} lw_pto_spelling;

/* Words of the grammar, as symbols. */
typedef struct lw_pto_keywords {
    lw_symbol *module, *builtin_module, *func, *attributes, *private_, *public_, *nested, *memref, *vreg, *mask, *loc;
    lw_symbol *ins, *outs, *to, *step, *iter_args, *else_, *true_, *false_, *overflow;
} lw_pto_keywords;

/* A name as written, with what stands in [ ] behind it. */
typedef struct lw_pto_written {
    lw_symbol *name, *index_name;
    uint32_t part, index_part; /* 1 + number behind #; 0 for none */
    lw_place place, index_place;
    bool indexed;
} lw_pto_written;

typedef struct lw_pto_written_type {
    const lw_pto_type *type;
    lw_place place;
    const lw_symbol *alias; /* !name, or NULL where it is written in full */
} lw_pto_written_type;

/* %a, %b:2 in front of the =. */
typedef struct lw_pto_result_name {
    lw_symbol *name;
    lw_place place;
    uint32_t parts; /* 0: no number is written */
} lw_pto_result_name;

/* A name that was used before anything defined it, and the message that says so. */
typedef struct lw_pto_undefined {
    const lw_pto_value *value;
    lw_diag *diag;
} lw_pto_undefined;

/* A type, or a list of types in parentheses, as it was written a short while ago: most of a text are like that, and
 * need not be read again. Both end in a bracket, so that nothing behind can belong to them. */
enum { LW_PTO_RECENT_TYPES = 4 };
typedef struct lw_pto_recent {
    lw_place text; /* in the source */
    uint32_t count;
    lw_pto_written_type types[LW_PTO_RECENT_TYPES];
} lw_pto_recent;
typedef struct lw_pto_recents {
    lw_pto_recent at[4];
    uint32_t next;
} lw_pto_recents;

typedef struct lw_pto_parser {
    lw_pto_module *module;
    lw_arena *arena;
    lw_diags *diags;
    lw_pto_lexer lexer;
    lw_pto_token token; /* the next one, not yet taken */
    uint32_t last_end;  /* where the token before it ended */
    uint32_t depth;
    uint32_t braces; /* { of regions that are open */
    bool stopped;    /* nesting too deep: the rest is not read */
    lw_pto_keywords words;
    lw_pto_function *function;
    lw_pto_recents recent_types, recent_lists;
    /* Stacks: whoever pushes notes the count first, and cuts back to it. */
    LW_LIST(lw_symbol *) scope;          /* names that are visible */
    LW_LIST(lw_pto_undefined) undefined; /* of this function */
    LW_LIST(lw_symbol *) ended;          /* names of this function whose region has ended */
    LW_LIST(lw_pto_op *) ops;
    LW_LIST(lw_pto_written) written;
    LW_LIST(lw_pto_written_type) types;
    LW_LIST(lw_pto_result_name) names;
    LW_LIST(lw_pto_attribute) attributes;
    LW_LIST(char) chars;
} lw_pto_parser;

/* A stretch of one of the stacks. */
typedef struct lw_pto_range {
    uint32_t from, count;
} lw_pto_range;

/* ---- parse.c: tokens, faults, recovery ------------------------------------------------------------------ */

static inline void lw_pto_next(lw_pto_parser *p) {
    p->last_end = p->token.place.at + p->token.place.size;
    if (LW_LIKELY(!p->stopped)) lw_pto_lex(&p->lexer, &p->token);
    else p->token.kind = LW_PTO_TOKEN_END;
}

static inline bool lw_pto_at(const lw_pto_parser *p, uint32_t punct) {
    return p->token.kind == LW_PTO_TOKEN_PUNCT && p->token.punct == punct;
}

static inline bool lw_pto_take(lw_pto_parser *p, uint32_t punct) {
    if (!lw_pto_at(p, punct)) return false;
    lw_pto_next(p);
    return true;
}

enum { LW_PTO_ARROW = '-' | '>' << 8 };

static inline bool lw_pto_at_word(const lw_pto_parser *p, const lw_symbol *word) {
    return p->token.kind == LW_PTO_TOKEN_WORD && p->token.name == word;
}

static inline bool lw_pto_take_word(lw_pto_parser *p, const lw_symbol *word) {
    if (!lw_pto_at_word(p, word)) return false;
    lw_pto_next(p);
    return true;
}

/* From the start of `at` to the end of the last token taken. */
static inline lw_place lw_pto_since(const lw_pto_parser *p, lw_place at) {
    return (lw_place){at.at, p->last_end > at.at ? p->last_end - at.at : at.size};
}

bool lw_pto_expected(lw_pto_parser *p, const char *what); /* reports; always false */
bool lw_pto_expect(lw_pto_parser *p, uint32_t punct);
bool lw_pto_expect_word(lw_pto_parser *p, const lw_symbol *word);
bool lw_pto_enter(lw_pto_parser *p); /* one level deeper; false where that is too deep */
/* Reports it and reads no further. Always false. */
bool lw_pto_too_deep(lw_pto_parser *p);
/* Behind a fault: to the next operation, to the } of the region, or to the next function. */
void lw_pto_recover(lw_pto_parser *p);
/* The next token as messages show it. */
const char *lw_pto_found(lw_pto_parser *p);

/* ---- parse_type.c ---------------------------------------------------------------------------------------- */

void lw_pto_types_init(lw_pto_module *module);
const lw_pto_type *lw_pto_type_of_scalar(lw_pto_module *module, lw_pto_scalar scalar);
bool lw_pto_parse_type(lw_pto_parser *p, const lw_pto_type **type);
bool lw_pto_at_type(const lw_pto_parser *p);
/* T, T or (T, T), perhaps empty: pushed on p->types. */
bool lw_pto_parse_types(lw_pto_parser *p, lw_pto_range *range);

/* ---- parse_attribute.c ------------------------------------------------------------------------------------ */

/* Tokens up to one of `ends` outside of brackets, as text with canonical spacing; NULL: up to the end of the line. */
bool lw_pto_parse_balanced(lw_pto_parser *p, const char *ends, const char **text);
/* { … } where one stands; empty otherwise. Added to what is there. */
bool lw_pto_parse_attributes(lw_pto_parser *p, lw_pto_attributes *attributes);
/* Those from `mark` on leave the stack and join others. */
void lw_pto_keep_attributes(lw_pto_parser *p, uint32_t mark, lw_pto_attributes *attributes);
/* loc(…) where one stands. */
bool lw_pto_parse_location(lw_pto_parser *p, const char **location);
bool lw_pto_parse_alias(lw_pto_parser *p);

/* ---- names.c ----------------------------------------------------------------------------------------------- */

/* The value of a name where it is used. Never NULL: where it is not defined that is reported, once a name. */
lw_pto_value *lw_pto_use(lw_pto_parser *p, lw_symbol *name, uint32_t part, lw_place place);
/* A new value; parts as many as `parts`, which lie behind each other, where that is not 0. */
lw_pto_value *lw_pto_define(lw_pto_parser *p, lw_symbol *name, lw_place place, lw_pto_value_kind kind, uint32_t parts);
/* The register that an assembly or DPS operation writes; *merges where it had a value before. */
lw_pto_value *lw_pto_destination(lw_pto_parser *p, const lw_pto_written *name, const lw_pto_type *type, lw_pto_op *op,
                                 bool *merges);
/* Ends the visibility of all names behind `mark` of p->scope, within a function. */
void lw_pto_end_scope(lw_pto_parser *p, uint32_t mark);
void lw_pto_end_names(lw_pto_parser *p); /* a function ends, and all names with it */
/* Names whose operation could not be read: no more messages about them. */
void lw_pto_define_unknown(lw_pto_parser *p, lw_pto_range names);

/* ---- parse_op.c, parse_row.c, parse_control.c ------------------------------------------------------------------ */

bool lw_pto_parse_op(lw_pto_parser *p);
/* All of an operation that is a row, behind its name. */
bool lw_pto_parse_row(lw_pto_parser *p, lw_pto_op *op, lw_pto_range names, bool assembly);
/* What scf and func operations are made of; `names` stand in front of the =. */
bool lw_pto_parse_control(lw_pto_parser *p, lw_pto_op *op, lw_pto_range names);
/* %a, %b, %m[%i]: pushed on p->written. */
bool lw_pto_parse_operands(lw_pto_parser *p, lw_pto_range *range);
/* Checks that an operand has the type that is written for it; a value that is not known takes it. */
void lw_pto_check_written(lw_pto_parser *p, lw_pto_op *op, lw_pto_value *value, const lw_pto_written_type *written);
/* Gives %a, %b:2 = their values, as many as the operation has results; their types are the caller's to set. */
bool lw_pto_define_results(lw_pto_parser *p, lw_pto_op *op, lw_pto_range names, uint32_t count);
/* { operations }, until the }. `has_results`: it must end in a yield. */
bool lw_pto_parse_region(lw_pto_parser *p, lw_pto_region *region, lw_pto_op_id terminator, bool has_results);
#endif
