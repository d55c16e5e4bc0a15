/* equiv.h: two programs on the same inputs.   sides → slots → inputs → runs → the first difference */
#ifndef LW_TOOL_EQUIV_H
#define LW_TOOL_EQUIV_H

#include "tool/language.h"
#include "tool/pto.h"

enum { LW_EQUIV_SLOTS = 64 };

/* A parameter of the PTO function, which the kernel takes, too. */
typedef struct lw_equiv_slot {
    lw_param_info param;
    bool is_array;
    lw_type type;   /* of an element, or of the scalar */
    uint64_t count; /* elements of the array */
    bool has_range; /* values from low to high only: two's complement, in the order of the type */
    int64_t low, high;
    bool has_value; /* a scalar that --set gives */
    uint64_t value;
    uint64_t stride;   /* other than 0: all values come, each that many times in a row */
    char *in, *out[2]; /* bytes; what each side left there */
} lw_equiv_slot;

typedef struct lw_equiv_side {
    const char *spelling;
    char *file, *name;
    const char *text; /* of the file */
    size_t text_size;
    const lw_tool_language *language;
    const struct lw_equiv_language *reads;
    lw_module *module;
    lw_kernel *kernel;
    lw_kernel_info info;
} lw_equiv_side;

/* What the launches of a side counted at one place, in all cases together. */
typedef struct lw_equiv_note {
    const lw_equiv_side *side;
    lw_launch_note note;
} lw_equiv_note;

typedef struct lw_equiv {
    lw_arena arena;
    lw_context *context;
    lw_equiv_side sides[2];
    lw_equiv_slot slots[LW_EQUIV_SLOTS];
    uint32_t slot_count, argument_count; /* the others are results */
    uint64_t elements, cases, seed;
    bool has_elements, has_cases, exhaustive;
    uint32_t block;
    const char *block_text; /* where it was given */
    lw_options options;
    lw_module_options choices;
    char **ranges, **sets;
    uint32_t range_count, set_count;
    LW_LIST(uint64_t) constants; /* of both texts */
    LW_LIST(lw_equiv_note) notes;
} lw_equiv;

/* ---- equiv_inputs.c -------------------------------------------------------------------------------------------- */

/* Which arguments take all of their values in turn; settles the number of elements and cases. */
void lw_equiv_plan(lw_equiv *e, uint32_t lanes);  /* of the function's widest register */
void lw_equiv_fill(lw_equiv *e, uint64_t number); /* the inputs of a case */
uint64_t lw_equiv_element(const lw_equiv_slot *slot, const char *bytes, uint64_t index);

/* ---- equiv_texts.c --------------------------------------------------------------------------------------------- */

/* The integers that stand in both texts: what is compared with one of them goes another way there. */
void lw_equiv_constants(lw_equiv *e);
/* Adds what the last launch of a side counted. */
void lw_equiv_note_launch(lw_equiv *e, const lw_equiv_side *side);
/* Where the page leaves results open, to standard error: what was counted, and lanes that no operation gives a
 * value. */
void lw_equiv_say_open(lw_equiv *e);

/* Which line of a side computes what it leaves in a slot; 0: none was found. `text` gets the line. */
uint32_t lw_equiv_line(lw_equiv *e, uint32_t side, uint32_t slot, const char **text);

/* ---- equiv_ptx.c, equiv_pto.c: how the texts of a language are read ---------------------------------------------- */

/* A text that is parsed once more. */
typedef struct lw_equiv_text {
    lw_source source;
    lw_diags diags;
} lw_equiv_text;

typedef struct lw_equiv_language {
    const lw_tool_language *of;
    void (*constants)(lw_equiv *e, const lw_equiv_side *side, lw_equiv_text *text); /* by lw_equiv_constant */
    lw_place (*place)(lw_equiv *e, const lw_equiv_side *side, lw_equiv_text *text,
                      uint32_t slot); /* of size 0: unknown */
    void (*say_open)(lw_equiv *e, const lw_equiv_side *side,
                     lw_equiv_text *text); /* NULL: nothing beside what is counted */
} lw_equiv_language;
extern const lw_equiv_language lw_equiv_ptx, lw_equiv_pto;
const lw_equiv_language *lw_equiv_language_of(const lw_tool_language *language);
void lw_equiv_constant(lw_equiv *e, uint64_t value);

#endif
