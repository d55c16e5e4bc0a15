/* pto.h: from PTO text to a checked module.   lex → parse (names and types on the way) → verify; print goes back to
 * text.
 *
 * docs/pto.md has the grammar. Everything a module points to lives in its arena; places are offsets into the source.
 * Sections in flow order: tokens → types → values → operations → functions → module → rows → cost. */
#ifndef LW_PTO_H
#define LW_PTO_H

#include "base/base.h"

/* ---- Tokens ------------------------------------------------------------------------------------------- */

typedef enum lw_pto_token_kind {
    LW_PTO_TOKEN_END,
    LW_PTO_TOKEN_WORD,   /* name without a sigil, with its dots: pto.vshr, i32, func.func; in 64xi32 the word is xi32 */
    LW_PTO_TOKEN_VALUE,  /* %name or %name#2; the name includes the % and not the # part, which is `value` + 1 */
    LW_PTO_TOKEN_AT,     /* @name or @"name"; the name with the @, and without quotes where it needs none */
    LW_PTO_TOKEN_HASH,   /* #name */
    LW_PTO_TOKEN_TYPE,   /* !name: !pto.vreg */
    LW_PTO_TOKEN_CARET,  /* ^name */
    LW_PTO_TOKEN_INT,    /* value, without a sign; `too_large` where it has more than 64 bits */
    LW_PTO_TOKEN_FLOAT,  /* text only */
    LW_PTO_TOKEN_STRING, /* text with its quotes */
    LW_PTO_TOKEN_PUNCT,  /* `punct`: one character, or two packed as c0 | c1 << 8: -> :: */
} lw_pto_token_kind;

typedef struct lw_pto_token {
    lw_pto_token_kind kind;
    lw_place place;
    uint32_t punct;
    bool space_before; /* white space or a comment stands before it */
    bool first;        /* … with the end of a line in it */
    bool too_large;
    lw_symbol *name; /* WORD, VALUE, AT, HASH, TYPE, CARET */
    uint64_t value;  /* INT; VALUE: 1 + number behind #, 0 for none */
} lw_pto_token;

typedef struct lw_pto_lexer {
    lw_source *source;
    lw_diags *diags;
    lw_symbols *symbols;
    uint32_t at;
} lw_pto_lexer;
/* Never fails; faults are diagnosed and skipped. */
void lw_pto_lex(lw_pto_lexer *lexer, lw_pto_token *token);

/* ---- Types -------------------------------------------------------------------------------------------- */

typedef enum lw_pto_scalar {
    LW_PTO_none,
#define SCALAR(name, bits, kind) LW_PTO_##name,
#include "pto/types.def"
    LW_PTO_SCALAR_COUNT
} lw_pto_scalar;

typedef struct lw_pto_scalar_info {
    const char *name;
    uint8_t bits;
    char kind; /* B S U F as in types.def */
} lw_pto_scalar_info;
extern const lw_pto_scalar_info lw_pto_scalars[LW_PTO_SCALAR_COUNT];

typedef enum lw_pto_kind {
    LW_PTO_SCALAR, /* i1 … u64, index, floats */
    LW_PTO_VREG,   /* !pto.vreg<NxT> */
    LW_PTO_MASK,   /* !pto.mask<G> */
    LW_PTO_MEMREF, /* memref<NxT>, memref<?xT> */
} lw_pto_kind;

enum { LW_PTO_LANES_MAX = 4096, LW_PTO_REGISTER_BITS = 2048 };
enum { LW_PTO_PARAMS_MAX = 1 << 20 }; /* arguments and results of a function, up to 8 bytes each */

/* Equal types of one module are one pointer. */
typedef struct lw_pto_type {
    lw_pto_kind kind;
    lw_pto_scalar element; /* SCALAR: itself; VREG, MEMREF: of one element; MASK: none */
    uint32_t lanes;        /* VREG, MASK: lanes; mask<bW> has 2048 / W */
    uint32_t width;        /* MASK: W where it was written bW, 0 where a count was */
    uint64_t count;        /* MEMREF: elements; UINT64_MAX for ? */
    const char *space;     /* MEMREF: its memory space as written; NULL for none, and for 0, which is the same */
    const char *text;      /* as messages and the printer write it */
    struct lw_pto_type *next;
} lw_pto_type;

/* ---- Values ------------------------------------------------------------------------------------------- */

typedef enum lw_pto_value_kind {
    LW_PTO_ARGUMENT, /* of a function; one of a vreg or mask type may be a destination, too */
    LW_PTO_RESULT,   /* defined once by %r = … */
    LW_PTO_REGISTER, /* named as destination by assembly or DPS text; may be written again, also by regions further in
                      */
    LW_PTO_CARRIED,  /* induction variable or iter_arg of a region; never a destination */
} lw_pto_value_kind;

typedef struct lw_pto_value {
    lw_pto_value_kind kind : 8;
    bool unknown;         /* stands for a name that is not defined; only where there are errors */
    bool written;         /* ARGUMENT, REGISTER: an assembly or DPS operation has it as its destination */
    lw_symbol *name;      /* with the % ; several results of one name (%r:2) share it */
    uint32_t part, parts; /* part of %r:parts; parts is 0 where the name stands for one value */
    lw_place place;       /* where it is defined */
    const lw_pto_type *type;
    struct lw_pto_op *op; /* RESULT, REGISTER: that defines it (first) ; CARRIED: the loop; ARGUMENT: NULL */
    uint32_t number;      /* dense in its function, from 0, arguments first */
} lw_pto_value;

/* ---- Operations --------------------------------------------------------------------------------------- */

typedef enum lw_pto_op_id { /* rows of isa/pto/ops.def: LW_PTO_VSHR … */
                            LW_PTO_NO_OP,
#define OP(id, name, operands, results, ...) LW_PTO_##id,
#include "pto/ops.def"
                            LW_PTO_OP_COUNT
} lw_pto_op_id;

typedef enum lw_pto_word { /* comparisons: LW_PTO_VCMP_lt, LW_PTO_CMPI_slt … */
                           LW_PTO_NO_WORD,
#define VCMP(word) LW_PTO_VCMP_##word,
#define CMPI(word) LW_PTO_CMPI_##word,
#include "pto/words.def"
                           LW_PTO_WORD_COUNT
} lw_pto_word;
extern const char *const lw_pto_words[LW_PTO_WORD_COUNT];

typedef enum lw_pto_form { LW_PTO_SSA, LW_PTO_ASSEMBLY, LW_PTO_DPS } lw_pto_form;

/* An attribute as written, in one canonical spacing. */
typedef struct lw_pto_attribute {
    const char *name, *value; /* value is NULL for a name alone */
    lw_place place;
} lw_pto_attribute;
typedef struct lw_pto_attributes {
    uint32_t count;
    lw_pto_attribute *at;
} lw_pto_attributes;

enum { LW_PTO_OPERANDS_MAX = 4, LW_PTO_RESULTS_MAX = 2 }; /* of rows; scf and func operations have any number */

typedef struct lw_pto_op {
    lw_pto_op_id id;
    lw_pto_form form : 8;
    lw_pto_word word : 8;            /* VCMP, CMPI */
    bool faulty;                     /* what is written does not fit together: reported, and not looked at again */
    bool merges[LW_PTO_RESULTS_MAX]; /* result k is a register that had a value before: inactive lanes keep it. Where
                                  not, inactive lanes are as for SSA results */
    lw_place place;                  /* the whole operation, without its regions */
    lw_place name_place;
    lw_place type_place;    /* of the types behind the colon */
    uint32_t operand_count; /* rows: the row's operands in its order, NULL where an optional one is left out. A memory
                               operand is two: the memref and, right behind it, its index. FOR: lower, upper, step, then
                               the initial values; IF: the condition; YIELD, RETURN: the values */
    uint32_t result_count;  /* the row's results in its order; FOR, IF: any number */
    lw_pto_value **operands, **results;
    lw_place *operand_places;
    const lw_pto_type *type; /* the type that the row's operands go by: the !pto.vreg<NxT>; where there is none, the
                                mask type, or the scalar type of :n operands. FOR: that of the induction variable */
    lw_place literal_place;  /* CONSTANT, MASK_BITS */
    const char *digits;      /* … as the text has them; NULL: true or false. Behind a - where `minus` */
    uint32_t digit_count;
    bool minus;
    uint64_t value;        /* CONSTANT: two's complement, sign extended from the type's width; 0 or 1 for i1 */
    uint64_t *bits;        /* MASK_BITS: lanes / 64 words, rounded up, lane 0 in the lowest bit of the first */
    uint32_t region_count; /* FOR: 1; IF: 1, or 2 with an else */
    struct lw_pto_region *regions;
    lw_pto_attributes attributes;
    const char *location; /* "loc(…)" as written, or NULL */
} lw_pto_op;

/* The operations between { and }. Those of scf end in a YIELD (made where none is written), a function's in a
 * RETURN. */
typedef struct lw_pto_region {
    uint32_t argument_count; /* FOR: induction variable, then iter_args; others 0 */
    lw_pto_value **arguments;
    uint32_t count;
    lw_pto_op **ops;
    lw_place end; /* the } */
} lw_pto_region;

/* ---- Functions and modules ------------------------------------------------------------------------------ */

typedef struct lw_pto_function {
    lw_symbol *name; /* with the @ */
    lw_place place, name_place;
    const char *visibility; /* "private", "public" or NULL */
    bool has_body;
    uint32_t argument_count, result_count;
    lw_pto_value **arguments; /* declarations may leave out names: then value->name is NULL */
    const lw_pto_type **results;
    lw_place *result_places;
    lw_pto_attributes *argument_attributes, *result_attributes; /* one each */
    const char **argument_locations;                            /* one each, NULL for none */
    lw_pto_attributes attributes;
    const char *location;
    lw_pto_region body;
    uint32_t value_count; /* numbers of values */
    uint32_t op_count;    /* of all regions */
} lw_pto_function;

/* module @name { … }, or the functions outside of any. */
typedef struct lw_pto_group {
    bool written;        /* there is a `module` */
    lw_symbol *name;     /* or NULL */
    lw_place place, end; /* the word, and the }; of functions without a module the place of the first */
    lw_pto_attributes attributes;
    const char *location;
    LW_LIST(lw_pto_function *) functions;
} lw_pto_group;

typedef struct lw_pto_alias { /* !name = type, #name = … */
    lw_symbol *name;
    lw_place place; /* of the name */
    const char *text;
} lw_pto_alias;

/* A type where it is written, in a module whose types have names. */
typedef struct lw_pto_spelled {
    uint32_t at;
    const lw_pto_type *type;
    const lw_symbol *alias; /* NULL: in full */
} lw_pto_spelled;

typedef enum lw_pto_profile {
#define PROFILE(name, width, title, status) LW_PTO_PROFILE_##name,
#include "pto/profiles.def"
    LW_PTO_PROFILE_COUNT
} lw_pto_profile;

typedef struct lw_pto_profile_row {
    const char *name, *title, *status;
    uint32_t width; /* bits that a vector register must have; 0: any */
} lw_pto_profile_row;
extern const lw_pto_profile_row lw_pto_profiles[LW_PTO_PROFILE_COUNT];
bool lw_pto_profile_find(const char *name, lw_pto_profile *profile);

typedef struct lw_pto_module {
    lw_arena *arena;
    lw_source *source;
    lw_diags *diags;
    lw_symbols symbols;
    lw_pto_profile profile;
    LW_LIST(lw_pto_group *) groups;
    LW_LIST(lw_pto_function *) functions; /* of all groups, one per name */
    LW_LIST(lw_pto_alias) aliases;
    LW_LIST(lw_pto_spelled)
    spelled; /* in the order of the text, from the first name of a type on; so that it can be printed as it was */
    bool has_type_names;
    uint32_t op_count;
    const struct lw_pto_signature *signatures[LW_PTO_OP_COUNT]; /* of the rows that were met */
    lw_pto_type **types;                                        /* a hash table with type_mask + 1 slots */
    uint32_t type_mask, type_count;
} lw_pto_module;

/* Parses the whole text, and gives names their values and operations their rows. Faults go to `diags`; the module is
 * returned in any case, and is usable only if there were no errors. Leaves through the arena when memory runs out. */
lw_pto_module *lw_pto_parse(lw_arena *arena, lw_source *source, lw_diags *diags);

/* Checks the operands and types of every operation, and what the profile asks for. */
void lw_pto_verify(lw_pto_module *module, lw_pto_profile profile);

/* Parse and verify. True where there was no error. */
bool lw_pto_check(lw_arena *arena, lw_source *source, lw_diags *diags, lw_pto_profile profile, lw_pto_module **module);

/* Warns of every place where a checked module depends on what the page leaves to the target or does not say. */
void lw_pto_check_portable(lw_pto_module *module);

/* Whether a file or text of this name is PTO where nothing else says what it is. */
bool lw_pto_is_name(const char *name);

/* The function of a name, with or without its @; NULL where there is none. */
lw_pto_function *lw_pto_find(const lw_pto_module *module, const char *name);

/* The comments of a text from `at` on, in turn. */
typedef struct lw_pto_comments {
    const lw_source *source;
    uint32_t at;                  /* never inside of a comment or a string */
    uint32_t line_from, line_end; /* a part of the line that was looked at last, up to its end */
} lw_pto_comments;
/* The next one that begins in front of `end`, without the spaces behind it. False: there is none, and `at` is at `end`
 * or was behind it. */
bool lw_pto_next_comment(lw_pto_comments *comments, uint32_t end, lw_place *comment);
uint32_t lw_pto_line_end(lw_pto_comments *comments, uint32_t at); /* of the line that has `at` */

/* The module as text in one canonical layout, with its comments; parses back to the same module. */
void lw_pto_print(lw_text *out, const lw_pto_module *module);
void lw_pto_print_op(lw_text *out, const lw_pto_op *op);                   /* one line, without its regions */
void lw_pto_print_function(lw_text *out, const lw_pto_function *function); /* its first line, without the brace */

/* For messages: "s" unless there is one. */
static inline const char *lw_pto_plural(uint32_t count) { return count == 1 ? "" : "s"; }

/* ---- Rows: what may be written (isa/pto/ops.def explains the notation) ----------------------------------- */

typedef enum lw_pto_page { LW_PTO_PAGE_NONE, LW_PTO_PAGE_ALL, LW_PTO_PAGE_NAME, LW_PTO_PAGE_MLIR } lw_pto_page;
typedef enum lw_pto_literal { LW_PTO_LITERAL_none, LW_PTO_LITERAL_INT, LW_PTO_LITERAL_BITS } lw_pto_literal;
typedef enum lw_pto_cost_class { LW_PTO_COST_none, LW_PTO_COST_PAGE, LW_PTO_COST_LIKE } lw_pto_cost_class;
typedef enum lw_pto_word_class { LW_PTO_WORD_none, LW_PTO_WORD_VCMP, LW_PTO_WORD_CMPI } lw_pto_word_class;

typedef struct lw_pto_row {
    const char *name, *operands, *results;
    lw_pto_page page;
    lw_pto_word_class word;
    lw_pto_literal literal;
    lw_pto_cost_class cost;
    const char *does, *means;
} lw_pto_row;
extern const lw_pto_row lw_pto_rows[LW_PTO_OP_COUNT]; /* [LW_PTO_NO_OP] is empty */

typedef enum lw_pto_shape { /* of an operand or result of a row */
                            LW_PTO_SHAPE_VREG,
                            LW_PTO_SHAPE_MASK,
                            LW_PTO_SHAPE_ELEMENT, /* :t */
                            LW_PTO_SHAPE_MEMORY,  /* :mem: two operands, the memref and its index */
                            LW_PTO_SHAPE_INDEX,   /* :i */
                            LW_PTO_SHAPE_BOOL,    /* :b */
                            LW_PTO_SHAPE_SAME,    /* :n */
                            LW_PTO_SHAPE_INTEGER, /* :x */
                            LW_PTO_SHAPE_ANY,
} lw_pto_shape;

typedef struct lw_pto_slot {
    const char *name;
    uint8_t name_size;
    lw_pto_shape shape : 8;
    bool optional, written; /* written: memory that is stored to */
} lw_pto_slot;

/* What a row takes and gives. */
typedef struct lw_pto_signature {
    uint8_t in_count, out_count, least; /* slots as written: memory counts once; `least`: without the optional ones */
    lw_pto_slot in[LW_PTO_OPERANDS_MAX], out[LW_PTO_RESULTS_MAX];
} lw_pto_signature;
void lw_pto_signature_read(lw_pto_op_id id, lw_pto_signature *signature);
const lw_pto_signature *lw_pto_signature_of(lw_pto_module *module,
                                            lw_pto_op_id id); /* read once for each module and row */

/* ---- Cost: cycles by the figures of the page (isa/pto/cost.def) ------------------------------------------- */

enum {
#define COST(name, value, constant, does) LW_PTO_COST_##name = value,
#include "pto/cost.def"
};

/* Counts and cycles that a text controls: as large as they can be at most. */
static inline uint64_t lw_pto_times(uint64_t a, uint64_t b) {
    uint64_t product;
    return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}
static inline uint64_t lw_pto_plus(uint64_t a, uint64_t b) { return a + b < a ? UINT64_MAX : a + b; }

/* How often a region ran: that of a function once for each repeat, a loop's once for each round. */
typedef uint64_t lw_pto_runs(void *user, const lw_pto_region *region);

/* Where runs were not counted, how often a loop runs around an operation is known where its bounds are constants;
 * elsewhere one round is counted. */
typedef struct lw_pto_cost_line {
    const lw_pto_op *op;
    uint32_t repeats; /* of 2048 bits */
    uint64_t cycles, times;
    uint32_t open_loops; /* loops around it whose rounds are not known */
    bool is_taken;       /* figures of vshr, taken for another operation */
} lw_pto_cost_line;

typedef struct lw_pto_cost {
    LW_LIST(lw_pto_cost_line) lines; /* in source order */
    uint64_t serial; /* all operations, each when the one before it has ended; of the ways of an scf.if the dearer one,
                        unless runs were counted */
    uint64_t piped;  /* a2a3: each starts as soon as the interval allows, as if none waited for another */
    uint64_t saved;  /* a2a3: more that `serial` would be if each repeat of 2048 bits were an operation of its own */
    uint64_t uncounted; /* operations on registers and masks that the page has no figures for; where runs were counted,
                           how often they were executed */
    bool per_round;     /* some loop's rounds are not known */
} lw_pto_cost;

/* Of a function of a checked module; a5 or a2a3. `runs` says how often each region ran; NULL: by what the text says. */
lw_pto_cost *lw_pto_cost_of(lw_arena *arena, const lw_pto_function *function, lw_pto_profile profile, lw_pto_runs *runs,
                            void *user);

#endif
