/* ptx.h: from PTX text to a checked module.   lex → parse → resolve → verify; print goes back to text.
 *
 * Everything a module points to lives in its arena. Names are symbols; places are offsets into the source. */
#ifndef LW_PTX_H
#define LW_PTX_H

#include "base/base.h"
#include "base/fragment.h"
#include "base/origin.h"
#include "base/special_id.h"

#include <pthread.h>
#include <stdatomic.h>

/* ---- Tokens (manual section 4) ------------------------------------------------------------------------ */

typedef enum lw_token_kind {
    LW_TOKEN_END,
    LW_TOKEN_NAME,   /* identifier, with its % $ _ characters; opcodes are names too */
    LW_TOKEN_DOT,    /* .word, .word::word, .2d: directive, modifier, selector or type; the text includes the dot */
    LW_TOKEN_INT,    /* value; is_unsigned for a U suffix or a value above INT64_MAX */
    LW_TOKEN_FLOAT,  /* value: bits of a double; `single` for 0f…: then the bits of a float */
    LW_TOKEN_STRING, /* text without the quotes, escapes not replaced */
    LW_TOKEN_PUNCT,  /* one operator or bracket; `punct` holds it: one character, or two packed as c0 | c1 << 8 */
} lw_token_kind;

typedef struct lw_token {
    lw_token_kind kind;
    lw_place place;
    uint32_t punct;
    bool is_unsigned, single;
    bool too_large;  /* no number at all; already diagnosed */
    bool cut;        /* integer beyond 64 bits: the low ones, which is what operands and initialisers take */
    lw_symbol *name; /* NAME, DOT (without the dot) */
    uint64_t value;
} lw_token;

/* ---- Types and spaces --------------------------------------------------------------------------------- */

typedef enum lw_type {
    LW_T_none,
#define TYPE(name, bits, kind) LW_T_##name,
#include "ptx/types.def"
    LW_T_count
} lw_type;

typedef struct lw_type_info {
    const char *name;
    uint8_t bits; /* of one element; 1 for pred, 128 at most */
    char kind;    /* B U S F P X as in types.def */
    uint8_t size; /* of the name */
} lw_type_info;

extern const lw_type_info lw_types[LW_T_count];
lw_type lw_type_find(const char *name, size_t size); /* LW_T_none where it is no type */
/* Integers and untyped bits, which registers of a size may hold alike; .pred is none. */
static inline bool lw_type_is_number(const lw_type_info *type) {
    return type->kind == 'B' || type->kind == 'U' || type->kind == 'S';
}
bool lw_type_is_opaque(lw_type type); /* a texture, sampler or surface reference */

typedef enum lw_space {
    LW_SPACE_none,
#define SPACE(name) LW_SPACE_##name,
#include "ptx/spaces.def"
    LW_SPACE_count
} lw_space;

extern const char *const lw_space_names[LW_SPACE_count]; /* "" for none */

/* ---- Modifiers (isa/ptx/modifiers.def explains the notation) -------------------------------------------- */

typedef enum lw_modifier_id {
    LW_MOD_none,
#define MODIFIER(field, id, text, ...) LW_MOD_##id,
#include "ptx/modifiers.def"
    LW_MOD_count
} lw_modifier_id;

typedef enum lw_modifier_field {
#define FIELD(name) LW_FIELD_##name,
#include "ptx/modifiers.def"
    LW_FIELD_count
} lw_modifier_field;

/* What a spelling says: the lw_modifier_id of its word of each field, 0 where it has none. */
typedef union lw_modes {
    struct {
#define FIELD(name) uint8_t name;
#include "ptx/modifiers.def"
    };
    uint8_t at[LW_FIELD_count];
} lw_modes;
_Static_assert(LW_MOD_count <= UINT8_MAX, "a mode has 8 bits");

typedef struct lw_modifier {
    const char *text;
    uint8_t field;      /* lw_modifier_field … */
    uint8_t also;       /* … and 1 + a second one; or 0 */
    uint8_t elements;   /* of a vector; 0: it says nothing of one */
    uint8_t table;      /* function of two bits, as lop3 has it */
    uint8_t level;      /* of the cache that it is for */
    uint8_t as;         /* the lw_modifier_id that says the same; or 0 */
    uint8_t dimensions; /* of a geometry … */
    bool array, cube, samples;
    bool racy;
    uint32_t how;
    const char *operand; /* name of the optional operand that stands there exactly if the word does; or NULL */
} lw_modifier;

extern const lw_modifier lw_modifiers[LW_MOD_count];

/* What a word behind the opcode is: at most one of these, and none of a word that is only spelled. */
typedef struct lw_word_value {
    lw_type type : 8;
    lw_space space : 8; /* "shared", "shared::cta": LW_SPACE_shared */
    lw_modifier_id modifier : 8;
    bool of_cluster; /* a space: "shared::cluster" */
} lw_word_value;
lw_word_value lw_word_value_of(const char *text, size_t size, uint32_t hash); /* lw_hash of the text */

/* The rows of isa/ptx/meanings.def: kinds of modes, and what makes each of them. */
typedef enum lw_meaning_kind {
    LW_MEANS_none,
    LW_MEANS_ATOM,
    LW_MEANS_BARRIER,
    LW_MEANS_MBARRIER,
    LW_MEANS_SHUFFLE,
    LW_MEANS_VOTE,
    LW_MEANS_MATCH,
    LW_MEANS_REDUX
} lw_meaning_kind;
enum {
#define MEANS(kind, word, types, mode) +1
    LW_MEANINGS = 0
#include "ptx/meanings.def"
};

/* ---- Operands ----------------------------------------------------------------------------------------- */

typedef enum lw_operand_kind {
    LW_O_NAME,    /* register, variable, label, function or special register: `name`, later `object`; `offset` for
                     name+imm, with sel */
    LW_O_INT,     /* value (two's complement); is_unsigned */
    LW_O_FLOAT,   /* value: bits of a double, or of a float where `single` */
    LW_O_SINK,    /* _ */
    LW_O_ADDRESS, /* [base], [base+offset]: parts[0] is NAME or INT, `offset`; further parts for [tex, {…}] forms */
    LW_O_VECTOR,  /* {a, b, …}: parts */
    LW_O_PAIR,    /* d|p: parts[0], parts[1] */
    LW_O_LIST,    /* (a, b): call arguments: parts */
} lw_operand_kind;

typedef enum lw_select { /* the part of an operand that a selector names */
                         LW_SEL_none,
                         LW_SEL_x,
                         LW_SEL_y,
                         LW_SEL_z,
                         LW_SEL_w, /* .r .g .b .a are stored as x y z w */
                         LW_SEL_b0,
                         LW_SEL_b1,
                         LW_SEL_b2,
                         LW_SEL_b3,
                         LW_SEL_h0,
                         LW_SEL_h1,
                         LW_SEL_lanes, /* several at once, .h20 or .b3210: the operand's `lanes` */
} lw_select;
#define LW_SELECT_COUNT (LW_SEL_lanes + 1)

typedef struct lw_operand {
    lw_operand_kind kind : 8;
    lw_select select : 8;
    bool negated; /* !p, or with `minus` -r */
    bool minus;
    bool single, is_unsigned;
    bool indexed; /* written a[offset]; the resolver scales the offset, makes it an ADDRESS where one is due, and clears
                     this */
    uint16_t special; /* resolved: 1 + number of the special register, 0 for none */
    char lanes[8];    /* of LW_SEL_lanes: "h20", "b3210"; else empty */
    lw_place place;
    lw_symbol *name;
    uint64_t value;           /* INT, FLOAT */
    int64_t offset;           /* NAME, ADDRESS */
    struct lw_object *object; /* resolved: what the name stands for; NULL for a special register (then `special`) */
    uint32_t index;           /* resolved: number within a register range (%r<10>), else 0 */
    uint32_t part_count;
    struct lw_operand *parts;
} lw_operand;

/* ---- Objects: whatever a name can stand for ------------------------------------------------------------ */

typedef enum lw_object_kind {
    LW_OBJ_VARIABLE, /* in any space: registers too */
    LW_OBJ_FUNCTION, /* .entry or .func */
    LW_OBJ_LABEL,
    LW_OBJ_PROTOTYPE, /* .callprototype */
    LW_OBJ_TARGETS,   /* .calltargets, .branchtargets */
    LW_OBJ_ALIAS,
} lw_object_kind;

typedef enum lw_linkage { LW_LINK_none, LW_LINK_extern, LW_LINK_visible, LW_LINK_weak, LW_LINK_common } lw_linkage;

/* One item of an initialiser, in source order; nesting is kept for printing. */
typedef struct lw_init {
    enum { LW_INIT_VALUE, LW_INIT_NAME, LW_INIT_LIST } kind;
    lw_place place;
    bool is_float, single, generic, is_unsigned; /* generic: written generic(name) */
    uint64_t value;                              /* VALUE; for NAME the mask of mask() or 0 for none: 0xff(name) */
    lw_symbol *name;                             /* NAME: variable or function whose address it is */
    struct lw_object *object;
    int64_t offset;
    uint32_t part_count;
    struct lw_init *parts;
} lw_init;

enum { LW_DIMENSIONS_MAX = 8 };

typedef struct lw_object {
    lw_object_kind kind : 8;
    lw_linkage linkage : 8;
    lw_symbol *name;
    lw_place place;
    struct lw_object *outer; /* what the name meant outside of this scope */

    /* VARIABLE */
    lw_space space;
    lw_type type;
    uint8_t vector; /* 1, 2, 4 or 8 */
    bool is_range; /* .reg .b32 %r<10>: `range` names %r0 … %r9. In memory each is a variable of its own, and no operand
                      means this one */
    bool is_param, is_return; /* a formal parameter of a function */
    bool is_pointer;          /* .ptr: then pointer_space and pointer_align describe what it points to */
    bool unsized;             /* first dimension left open: extern a[] */
    uint8_t bank;             /* .const[bank] of PTX before 2.2: 1 + bank, 0 where none is written */
    bool managed, unified;    /* .attribute(…) */
    uint64_t unified_id[2];
    lw_space pointer_space;
    uint32_t pointer_align;
    bool pointer_align_written;
    uint32_t range;
    uint32_t align; /* bytes; the type's own where none is written */
    bool align_written;
    uint32_t dimension_count;
    uint64_t dimensions[LW_DIMENSIONS_MAX];
    uint64_t size;               /* bytes in memory, 0 for registers and unsized arrays */
    lw_init *init;               /* or NULL */
    struct lw_object *elsewhere; /* linked: the variable of another module that this one stands for; or NULL */
    struct lw_function *owner;   /* the function it is declared in; NULL at module scope */
    uint32_t
        scope; /* labels: number of the scope in its function, 0 the outermost, counted by OPEN; else the resolver's */
    bool listed;     /* private to the resolver */
    uint32_t number; /* for the stages behind: dense number within its kind */
    uint64_t
        address; /* parameter of a kernel: offset, set by resolve; module variable: set by whoever gives it memory */

    /* LABEL: index of its statement. PROTOTYPE, TARGETS, FUNCTION, ALIAS */
    uint32_t statement;
    struct lw_function *function; /* FUNCTION: itself; PROTOTYPE: its signature; ALIAS: the aliasee once resolved */
    uint32_t target_count;
    bool is_branch;      /* TARGETS: .branchtargets, not .calltargets */
    lw_operand *targets; /* TARGETS: names; ALIAS: one name */
} lw_object;

/* The variable that a name stands for when modules are linked. */
static inline const lw_object *lw_object_linked(const lw_object *object) {
    return object->elsewhere ? object->elsewhere : object;
}

const char *lw_select_name(const lw_operand *operand); /* "x", "h1", "b3210"; "" for none */

/* The bits of a floating-point constant in a type of `bits` bits; `single` and `value` as in its token. */
uint64_t lw_float_bits(uint64_t value, bool single, uint32_t bits);

/* ---- Statements --------------------------------------------------------------------------------------- */

typedef struct lw_instruction {
    lw_symbol *mnemonic; /* the whole spelling: "shf.l.wrap.b32" */
    lw_place mnemonic_place;
    uint32_t word_count; /* mnemonic words: words[0] is the opcode, words[i] a modifier without its dot */
    lw_symbol **words;   /* shared by all instructions of the same spelling */
    lw_operand *guard;   /* NULL, or a NAME operand; negated for @!p */
    uint32_t operand_count;
    lw_operand *operands;
    /* set by verify */
    const struct lw_match *match; /* shared by all instructions of the same spelling */
} lw_instruction;

typedef enum lw_statement_kind {
    LW_S_INSTRUCTION,
    LW_S_LABEL,    /* object */
    LW_S_VARIABLE, /* object: .reg .local .shared .param … declared here; several of one line are several statements */
    LW_S_OPEN,
    LW_S_CLOSE, /* { and } of a nested scope */
    LW_S_PROTOTYPE,
    LW_S_TARGETS,   /* object */
    LW_S_LOC,       /* .loc file line column {, function_name label {+ offset}, inlined_at file line column} */
    LW_S_PRAGMA,    /* strings */
    LW_S_DIRECTIVE, /* any other directive kept as written: text */
} lw_statement_kind;

typedef struct lw_statement {
    lw_statement_kind kind;
    lw_place place;
    union {
        lw_instruction *instruction;
        lw_object *object;
        struct {
            uint32_t file, line, column;
            const char *rest;
        } loc; /* rest: function_name… as written, or NULL */
        const char *text;
    };
} lw_statement;

typedef enum lw_tuning_id {
    LW_TUNING_none, /* a .pragma */
#define TUNING(name, least, most, ...) LW_TUNING_##name,
#include "ptx/tunings.def"
    LW_TUNING_count
} lw_tuning_id;

typedef struct lw_tuning { /* a row of isa/ptx/tunings.def */
    uint8_t least, most;   /* how many values */
    bool entry, func, once, positive;
    uint8_t limit;
    uint16_t gone;
} lw_tuning;
extern const lw_tuning lw_tunings[LW_TUNING_count];

/* Performance and linking directives of a function (manual section 11.4): name without the dot, and its values. */
typedef struct lw_directive {
    lw_tuning_id tuning;
    lw_symbol *name;
    lw_place place;
    uint32_t value_count;
    uint64_t *values;
    const char *text; /* .pragma and others with strings: as written, or NULL */
} lw_directive;

typedef struct lw_function {
    struct lw_module_ptx *module; /* that it is written in: its version and target hold for it */
    lw_object *object;
    bool is_entry, has_body;
    uint32_t return_count, param_count;
    lw_object **returns, **params;
    lw_place place, body_place;
    LW_LIST(lw_directive) directives;
    LW_LIST(lw_statement) body; /* flat; nesting by OPEN and CLOSE */
    LW_LIST(lw_object *)
    labels;               /* in source order, prototypes and target lists too; `scope` tells where they are seen */
    uint32_t label_count; /* set by resolve: labels are numbered from 0 */
    uint32_t
        register_count; /* set by resolve: each register variable has as many numbers as it names registers times
                           elements, from its `number` on: element e of %r<…> number i is number + i * vector + e */
    LW_LIST(lw_object *)
    reached; /* set by resolve: functions, shared and initialised variables, prototypes and target lists that its
                instructions name, in source order, as often as they are named */
    uint32_t instruction_count;
    uint32_t param_bytes;      /* of an entry's parameters, set by resolve */
    struct lw_function *first; /* the first declaration of the same function, itself otherwise; the one with the body
                                  is object->function once the module is parsed */
} lw_function;

/* The first of them, or NULL. */
const lw_directive *lw_function_tuning(const lw_function *function, lw_tuning_id tuning);

/* The newest version that the tables know, as `version` below has it: 9.0. */
enum { LW_PTX_NEWEST = 90 };

/* ---- Module ------------------------------------------------------------------------------------------- */

typedef enum lw_item_kind {
    LW_ITEM_VARIABLE,
    LW_ITEM_FUNCTION,
    LW_ITEM_DIRECTIVE,
    LW_ITEM_ALIAS,
    LW_ITEM_SECTION,
    LW_ITEM_FILE,
    LW_ITEM_PRAGMA
} lw_item_kind;

typedef struct lw_item { /* module scope, in source order */
    lw_item_kind kind;
    lw_place place;
    lw_object *object;     /* VARIABLE, ALIAS */
    lw_function *function; /* FUNCTION: a definition or a declaration */
    const char *text;      /* DIRECTIVE, SECTION, FILE, PRAGMA: as written, one canonical spacing */
} lw_item;

/* Matches of spellings with their rows, which modules share: compilers use the same few hundred, and to match them is a
 * quarter of the time that a small module takes. Any number of threads may load modules with the same ones. */
enum { LW_SPELLING_SLOTS = 512 };
typedef struct lw_spellings {
    pthread_mutex_t lock; /* for those who add: guards the arena and the count */
    lw_arena arena;
    uint32_t count;
    _Atomic(struct lw_known_spelling *)
        slots[LW_SPELLING_SLOTS]; /* by hash of the spelling; what hangs there never changes */
} lw_spellings;
bool lw_spellings_init(lw_spellings *spellings); /* false: the system refuses a mutex */
void lw_spellings_end(lw_spellings *spellings);  /* after the last module that shares them */

typedef struct lw_module_ptx {
    lw_arena *arena;
    lw_source *source;
    lw_diags *diags;
    lw_spellings *spellings; /* or NULL */
    lw_symbols symbols;
    uint32_t version;   /* 10 * major + minor: 90 for 9.0 */
    uint32_t target;    /* 90 for sm_90 */
    char target_suffix; /* 'a', 'f' or 0 */
    uint32_t target_count;
    lw_symbol **targets;   /* all words of .target, as written */
    uint32_t address_size; /* 32 or 64 */
    bool address_size_written;
    lw_place version_place, target_place, address_place; /* the last one where nothing is written: .target's */
    LW_LIST(lw_item) items;
    LW_LIST(lw_function *) functions; /* definitions and declarations, one per name */
    LW_LIST(lw_object *) variables;   /* module scope, one per name */
    uint32_t instruction_count;
    bool has_common;               /* registers or local memory at module scope, as before PTX 3.0 */
    struct lw_module_ptx **linked; /* the modules that this one was linked of, which have the items; or NULL */
    uint32_t linked_count;
} lw_module_ptx;

/* Samplers are not part of textures: .target names texmode_independent. */
bool lw_ptx_independent_textures(const lw_module_ptx *module);
/* What the text says is to be done as it says: .target names debug. */
bool lw_ptx_is_debugged(const lw_module_ptx *module);

/* Parses the whole text. Faults go to `diags`; the module is returned in any case, and is usable only if there were no
 * errors. Leaves through the arena when memory runs out. */
lw_module_ptx *lw_ptx_parse(lw_arena *arena, lw_source *source, lw_diags *diags);

/* Gives every name its object, opens and closes scopes, lays out variables, resolves initialisers. */
void lw_ptx_resolve(lw_module_ptx *module);

/* Matches every instruction with its form and checks operands, types, gates. Calls nothing else; needs resolve
 * first. */
void lw_ptx_verify(lw_module_ptx *module);

/* The operands of a call; all but the target may be missing. False where they stand in no order that a call has. */
typedef struct lw_call_parts {
    const lw_operand *results, *target, *arguments, *prototype;
} lw_call_parts;
bool lw_ptx_call_parts(const lw_instruction *call, lw_call_parts *parts);
/* The signature that an indirect call goes by: that of a prototype, or of the first function of a list or table. NULL:
 * none. */
const lw_function *lw_ptx_call_signature(const lw_operand *prototype);
/* The first function of a variable that holds addresses of functions; NULL where it holds others or none. */
const lw_function *lw_ptx_table_signature(const lw_object *table);

/* One module of several that were checked, in which names with linkage stand for the same thing in all of them. It has
 * the functions and variables of all; what is declared and defined nowhere stays as it is. Faults go to the
 * diagnostics. */
lw_module_ptx *lw_ptx_link(lw_module_ptx **modules, uint32_t count);

/* Parse, resolve, verify each text of the source, and link them. True where there was no error. `spellings` are those
 * that the module shares with others, or NULL; they must live longer than it. */
bool lw_ptx_check(lw_arena *arena, lw_source *source, lw_diags *diags, lw_spellings *spellings, lw_module_ptx **module);

/* What compilers made its texts of. Leaves through the arena when memory runs out. */
void lw_ptx_locs(lw_arena *arena, const lw_module_ptx *module, lw_locs *to);

/* A parsed module as text in one canonical layout, with numbers as its source spells them; parses back to the same
 * module. */
void lw_ptx_print(lw_text *out, const lw_module_ptx *module);
void lw_ptx_print_instruction(lw_text *out, const lw_instruction *instruction);
void lw_ptx_print_operand(lw_text *out, const lw_operand *operand);

/* Tokens of a text, for `lanewise dump --stage tokens`. The lexer never fails; faults are diagnosed and skipped. */
typedef struct lw_lexer {
    lw_source *source;
    lw_diags *diags;
    lw_symbols *symbols;
    uint32_t at;
    uint32_t odd; /* runs of bytes that mean nothing, so far */
} lw_lexer;
void lw_lex(lw_lexer *lexer, lw_token *token);
void lw_lex_space(lw_lexer *lexer); /* skips what stands before the next token */

/* ---- Forms: what may be written (isa/ptx/forms.def explains the notation) ------------------------------- */

typedef enum lw_lowering { /* how a form that is not a lane function is lowered */
                           LW_LOWER_none,
#define LOWERING(name, ...) LW_LOWER_##name,
#include "ptx/lowerings.def"
                           LW_LOWER_count
} lw_lowering;

typedef struct lw_lowering_row {
    const char *name;
    bool ends, across, memory, clusters, unmodified, matrices;
    lw_meaning_kind means;
} lw_lowering_row;
extern const lw_lowering_row lw_lowerings[LW_LOWER_count];

typedef enum lw_narrow { LW_NARROW_no, LW_NARROW_32, LW_NARROW_16 } lw_narrow;

typedef enum lw_agree {                /* how the type of a register must agree with the type that the form asks for */
                        LW_AGREE_type, /* the manual's table 9.1: same size, and same kind unless one is untyped bits */
                        LW_AGREE_size, /* same size, any kind: logic, shifts, mov-like */
                        LW_AGREE_wide, /* ld, st, cvt: the register may be wider (tables 9.3 and 9.4) */
} lw_agree;

typedef struct lw_form {
    const char *id;      /* unique name of the row */
    const char *pattern; /* mnemonic as the manual draws it */
    const char *operands;
    const char *section, *does;
    uint16_t isa;               /* since PTX version, 10 * major + minor; 0 where not given: 1.0 */
    uint16_t sm;                /* since target; 0: all */
    uint16_t last;              /* the last target that has it; 0: all */
    uint16_t or_isa, or_sm;     /* another pair of gates that is enough; 0: none */
    uint16_t gone_isa, gone_sm; /* removed from this PTX version on for targets from gone_sm on; 0: never */
    uint16_t old_isa;           /* deprecated since this version: a warning; 0: never */
    uint16_t more_isa, more_sm; /* gates of the optional operands, where they are younger than the form */
    uint8_t named; /* how many elements, the opcode among them, are the instruction's name; 0: the opcode alone */
    lw_narrow narrow : 8; /* its addresses may be held in 32 bits, whatever the module's addresses have; or even in 16,
                             where it names a space */
    bool family;          /* needs a target with suffix a or f */
    lw_agree agree;
    const char *lane;  /* template of the lane function's name: $1 the text of group 1, %1 "b" and its size; or NULL */
    const char *first; /* the same of a lane function for operands that its own does not take as they are; or NULL */
    lw_lowering lower : 8;                 /* what lowers it where that is not one lane function alone */
    bool takes_carry, subtracts, left, to; /* what the opcode means to its lowering */
    uint8_t table;                         /* of a logic operation: the function of two bits, as lop3 has it */
    bool how;            /* the lane function's last operand is the constant that the modifiers add up to */
    bool hints;          /* an atomic operation: modifiers of caches need global memory */
    uint8_t most;        /* bits of its vectors; 0: 256 where memory is global */
    bool loose;          /* any register of the type may stand in the place of its coordinates */
    const char *instead; /* what to write where it is gone or old; or NULL */
} lw_form;

extern const lw_form lw_ptx_forms[];
extern const uint32_t lw_ptx_form_count;

enum { LW_GROUPS_MAX = 16 };

/* What one operand of a form may be; made from the row's operand text for one spelling. */
typedef enum lw_shape {
    LW_SHAPE_VALUE,   /* register or constant */
    LW_SHAPE_REG,     /* register of any type */
    LW_SHAPE_IMM,     /* integer constant */
    LW_SHAPE_SPECIAL, /* register, constant or special register */
    LW_SHAPE_SOURCE,  /* what mov takes: also a name that stands for its address, or a special register */
    LW_SHAPE_LABEL,
    LW_SHAPE_TARGETS, /* name of a .branchtargets list */
    LW_SHAPE_FUNC,    /* function, or register that holds its address */
    LW_SHAPE_LIST,    /* ( … ) */
    LW_SHAPE_ADDRESS, /* [ … ] */
    LW_SHAPE_SINK,    /* _ and nothing else */
    LW_SHAPE_ANY,     /* unchecked */
    LW_SHAPE_REST,    /* any number of unchecked operands */
} lw_shape;

typedef struct lw_operand_form {
    const char *name; /* the manual's letter, within the row's text */
    uint8_t name_size;
    lw_shape shape : 8;
    lw_type type : 8; /* of one element; LW_T_none: any */
    uint32_t takes;   /* register types that agree, as bits by lw_type */
    uint8_t vector;   /* elements; 1 scalar, 0: a { } list of any count whose sizes add up to the type */
    bool written, optional, sink;
    bool plain; /* a single register may stand there and need not be looked at but for its type */
    bool pair, pair_optional, pair_sink; /* d|p */
    bool selectable;                     /* .b0 … .h1 */
    bool braces;                         /* may stand in { }: a vector, or one element in braces */
    bool typed;                          /* the row gives it a type of its own */
    bool number;                         /* a plain number of 32 bits, as membermasks are: no register of .f16x2 */
    bool is_address;                     /* a register that holds an address: 32 or 64 bits, integer or untyped */
    bool always_braces;                  /* even one element stands in { } */
    bool or_four;                        /* coordinates: always also a vector of four */
    bool array;                          /* coordinates: the first element is an index, .u32 */
    bool variable;                       /* no constant */
    bool untyped;                        /* registers of untyped bits only */
    bool negatable;                      /* -a */
    bool same, raw;                      /* any type of its size agrees; and predicates, too */
    bool constants;                      /* a list may have constants alone */
    bool lists;                          /* also a list or a vector register of any count, unchecked but for the type */
    bool loose;                          /* a vector, or any register of the type in its place */
    bool list_only;                      /* of `if_vector`: no register of untyped bits in its place */
    bool low;                            /* of a constant the low 32 bits count */
    bool all;                            /* what is written has no element _ */
    bool or_address;                     /* a number, or in its place an address in tensor memory, [a] */
    bool or_predicate;                   /* a number, or a predicate in its place */
    uint8_t lanes;                       /* selectors name 2 half words or 4 bytes; 0: one part */
    const char *range;                 /* which constants it may be, the row's text behind "(": "0..255)"; NULL: any */
    lw_space space;                    /* of an address; none: that of the spelling */
    bool anywhere;                     /* an address that nobody looks at: any base at all */
    bool bare;                         /* an address that may stand without brackets */
    struct lw_operand_form *if_vector; /* what else it may be, written in { }; or NULL */
    uint8_t inner_min, inner_max;      /* of an address: how many operands stand behind the base, within the brackets */
    struct lw_operand_form *inner;
    lw_type opaque; /* of an address: the variable's type where the row names it, .texref for one */
} lw_operand_form;

/* What the spelling of a matrix instruction says. */
enum { LW_MATRIX_WORDS = 5 };
typedef struct lw_matrix_words {
    lw_matrix_shape shape;             /* of those that are moved, m and n */
    uint8_t elements[LW_MATRIX_WORDS]; /* lw_element, in the order of the words: d, a, b, c, scale factors … */
    uint8_t element_count;
    bool of_kind;     /* .kind:: */
    uint8_t scales;   /* of .scale_vec::2X 2: scale factors of a row; 0: it is not said */
    uint8_t unpacked; /* of .b6x16_p32 6: bits of elements in memory that have bytes in registers; 0: it is not said */
    uint8_t layouts[2]; /* lw_matrix_layout, likewise */
} lw_matrix_words;

/* One spelling matched with its row. */
typedef struct lw_match {
    const lw_form *form;
    uint32_t group_count;
    const char *group[LW_GROUPS_MAX +
                      1]; /* group[1] is the text that group 1 of the pattern took; "" where optional and absent */
    lw_symbol *
        *words; /* in the manual's order, without those that mean nothing; verify gives them to each instruction */
    uint32_t word_count;
    lw_type type;             /* the last type word of the spelling: type of operands that name none */
    lw_type types[2];         /* the first two */
    lw_modes mode;            /* its modifiers */
    bool racy;                /* others may read or write the same memory at the same time */
    uint8_t elements;         /* of its vectors, 1 where it names none */
    uint8_t meaning;          /* 1 + the row of meanings.def that says the mode of its operation; 0: it has none */
    uint32_t how;             /* what the modifiers add up to */
    lw_matrix_words matrices; /* of a lowering that asks for them */
    uint16_t lane;            /* lw_lane_id of the lane function, 0 for none */
    uint16_t first;           /* … and of the one that operands go through before, 0 for none */
    bool executable;          /* has a lane function or a lowering */
    bool selectors;           /* some operand may carry one, .b0 or .h1 */
    uint8_t operand_form_count, operands_min, operands_max; /* operands_max 255: any number */
    lw_operand_form *operand_forms;
    lw_space space;  /* of the address operand, by the space word of the spelling; none: generic */
    bool of_cluster; /* it is that of all CTAs of a cluster */
    /* the strongest gates of the row and of its modifiers, and which word asks for them (0: the instruction itself) */
    uint16_t isa, sm;
    uint8_t isa_word, sm_word;
    const char *fault; /* what is wrong with this combination of modifiers, or NULL; at word fault_word */
    uint8_t fault_word;
    const struct lw_match
        *longer;      /* for instructions with optional operands that the lane function does not know; or NULL */
    bool late_vector; /* .v2 and the like do not stand right in front of a type, where ptxas warns */
    bool gated;       /* this module is outside of a gate, or the form is deprecated: look closer */
} lw_match;

/* The match of a spelling; NULL where no row fits (then *why says what is wrong, for a diagnostic). Results are kept in
 * the mnemonic's symbol, so that each spelling is matched once a module. `why` may be NULL. */
const lw_match *lw_ptx_match(lw_module_ptx *module, const lw_instruction *instruction, lw_text *why);

/* The form of operand `index` of an instruction that has `count` operands; NULL beyond the last. */
const lw_operand_form *lw_ptx_operand_form(const lw_match *match, uint32_t count, uint32_t index);

/* As above, where the count of operands does not matter (it does only for bar.red). */
bool lw_ptx_operand_is_written(const lw_match *match, uint32_t index);
lw_type lw_ptx_operand_type(const lw_match *match, uint32_t operand);

/* Why an instruction of this spelling, or a form of this pattern, is refused for good; NULL where it is not. */
const char *lw_ptx_refusal(const char *spelling);

bool lw_ptx_is_opcode(const lw_symbol *opcode);
/* The opcode that looks most like the word; NULL where none does. Looks at all of them. */
const char *lw_ptx_nearest_opcode(lw_arena *arena, const char *word);

/* Does the row take this spelling, words in the manual's order? For tests: lw_ptx_match asks all rows of the opcode. */
bool lw_ptx_form_fits(const lw_form *form, lw_symbol **words, uint32_t count);

/* A row's operands as the manual writes them, "d{|p}, a, b", and what is to be said of single ones: "c .u32, n a
 * constant of 4|8|16". */
void lw_ptx_print_operands(lw_text *out, const lw_form *form);
void lw_ptx_print_types(lw_text *out, const lw_form *form);

/* Calls `each` with every spelling of a row, at most `cap`; false where there were more. For tests and documents. */
bool lw_ptx_spellings(const lw_form *form, uint32_t cap, void (*each)(void *, const char *spelling), void *with);

/* Modifiers that are newer than the forms they stand in (isa/ptx/gates.def). */
typedef struct lw_gate {
    const char *opcode; /* "*": any */
    const char *word;
    lw_type with; /* a type that the spelling has besides; LW_T_none: any */
    uint16_t isa, sm;
} lw_gate;

/* ---- Special registers (isa/ptx/special.def) ------------------------------------------------------------ */

typedef struct lw_special_row {
    const char *text; /* "%tid" */
    lw_type type;
    bool vector; /* has .x .y .z (.w) */
    uint16_t isa, sm;
} lw_special_row;

extern const lw_special_row lw_specials[LW_SPECIAL_count]; /* by number */

#endif
