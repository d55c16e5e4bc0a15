/* eval.h: one instruction on values: what `eval` runs, and `explain` and `draw` show.
 *
 * text + values → plan (which operand has which type and values) → a small module → a launch → results. */
#ifndef LW_TOOL_EVAL_H
#define LW_TOOL_EVAL_H

#include "tool/forms.h"

enum { LW_EVAL_LANES = 32, LW_EVAL_OPERANDS = 24 };

typedef struct lw_word {
    uint64_t low, high; /* high: of b128 only */
} lw_word;

typedef struct lw_eval_operand {
    const char *name;
    lw_type type;
    bool read, written;
    bool per_lane; /* given as a list */
    lw_word lanes[LW_EVAL_LANES];
} lw_eval_operand;

typedef struct lw_eval {
    /* given */
    lw_arena *arena; /* its no_memory is set */
    const char *text;
    const char *const *values;
    uint32_t value_count;
    uint32_t lanes; /* 0: as many as the longest list has, or a warp for what works across lanes */
    uint32_t carry; /* CC.CF before the instruction */
    lw_options options;
    /* made */
    lw_source source; /* the text, for diagnostics */
    lw_module_ptx *module;
    lw_instruction *instruction;
    const lw_match *match;
    uint32_t version, target;
    bool portable;    /* target without suffix */
    const char *tail; /* operands that the text leaves out */
    bool takes_carry, gives_carry;
    const char *semantics;      /* whose results these are */
    bool differs;               /* the other semantics has others */
    lw_eval_operand *all_lanes; /* a membermask that was left out, or NULL */
    uint32_t operand_count;
    lw_eval_operand operands[LW_EVAL_OPERANDS];
} lw_eval;

/* Runs it and leaves the results in the operands. Returns an exit code; other than 0 it has reported. */
int lw_eval_run(lw_eval *eval);
/* The same in its steps: what the text and the values mean; then the launch. */
int lw_eval_plan(lw_eval *eval);
int lw_eval_launch(lw_eval *eval);
/* A fault in the text that was given, by its place in it. */
void lw_eval_report(lw_eval *eval, lw_diag_id id, lw_place place, const char *message, const char *fix);

/* Results: several lines for each, or a line for each lane where they differ between lanes. */
void lw_eval_print(lw_text *out, const lw_eval *eval);
/* Runs it and prints the results; where the semantics differ, those of both, each under its name. Returns as
 * lw_eval_run does. */
int lw_eval_show(lw_text *out, lw_eval *eval);

/* Reads `text` as values of a type, at most LW_EVAL_LANES: "7"  "-1"  "0x1f"  "1.5"  "true"  "1,2,3"  "0..31"  "31..0"
 * "0..62..2". Returns how many; 0: *why is a text that says what is wrong. */
uint32_t lw_eval_values(lw_type type, const char *text, lw_word *values, const char **why);

#endif
