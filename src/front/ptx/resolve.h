/* resolve.h: what the files of the resolver share. Private to resolve*.c.
 *
 * A symbol's `bound` leads to its binding, made when the name is first seen. The binding holds the declaration in
 * force; entering and leaving scopes changes only the bindings of the names that the scope declares. A range %r<10> is
 * bound under the key "%r<", which is no identifier, and the binding of %r7 leads there. */
#ifndef LW_RESOLVE_H
#define LW_RESOLVE_H

#include "front/ptx/ptx.h"

typedef struct lw_binding {
    lw_symbol *symbol;
    lw_object *object;        /* in force; NULL: none */
    uint32_t scope;           /* the scope that declares it; a greater number is further in */
    uint32_t index;           /* of the number at the end of the name */
    struct lw_binding *range; /* of the name without its number; NULL where it has none */
    lw_object *whole;         /* at module scope: the definition if there is one, else the first declaration */
    uint16_t special;         /* 1 + row of special.def; 0: none, or not looked for yet */
    uint32_t reported;        /* the function in which it was reported as undeclared */
} lw_binding;

typedef struct lw_undo {
    lw_binding *binding;
    lw_object *object; /* what to restore */
    uint32_t scope;
} lw_undo;

typedef struct lw_scope {
    uint32_t number, undo_count;
    bool has_range;
} lw_scope;

typedef struct lw_resolver {
    lw_module_ptx *module;
    lw_arena *arena;
    lw_diags *diags;
    LW_LIST(lw_undo) undo;
    LW_LIST(lw_scope) scopes;
    lw_binding *last_key;         /* the key of a range that was asked for last */
    LW_LIST(lw_binding *) ranges; /* every range key that was ever declared, for suggestions */
    uint32_t scope_serial;        /* numbers of scopes never come again */
    uint32_t function_serial;
    bool digit_ranges; /* some range's own name ends in a digit: %r1<10> */
    lw_function *function;
    uint64_t registers;        /* numbered so far in the function */
    uint64_t module_registers; /* numbered at module scope, before PTX 3.0 */
    uint32_t variables;        /* numbers given to the function's variables in memory */
    uint64_t const_bytes[32];  /* of .const variables, by the logarithm of their alignment */
    bool const_full;
    const lw_symbol *mov; /* the opcode that also takes addresses */
} lw_resolver;

/* ---- resolve_scope.c ----------------------------------------------------------------------------------- */

lw_binding *lw_binding_of(lw_resolver *r, lw_symbol *symbol);
/* NULL where nothing is declared. `index` is the number within a range of registers, else 0. */
lw_object *lw_binding_find(lw_resolver *r, lw_symbol *symbol, uint32_t *index);
uint16_t lw_binding_special(lw_binding *binding);
lw_binding *lw_binding_for(lw_resolver *r, const lw_object *object); /* that of its name, or of the key of its range */
void lw_binding_put(lw_resolver *r, lw_binding *binding,
                    lw_object *object); /* puts it in force in the innermost scope */
/* Puts the object in force; false, after a diagnostic, where this scope already has the name. */
bool lw_binding_declare(lw_resolver *r, lw_object *object);
void lw_scope_open(lw_resolver *r);
void lw_scope_close(lw_resolver *r);
void lw_report_duplicate(lw_resolver *r, const lw_object *second, const lw_object *first);
void lw_report_undeclared(lw_resolver *r, lw_symbol *symbol, lw_place place);

/* ---- resolve_gate.c ------------------------------------------------------------------------------------------ */

typedef enum lw_gate_id {
#define DIRECTIVE(name, shown, isa, sm) LW_GATE_##name,
#include "ptx/directives.def"
} lw_gate_id;

void lw_gate_check(lw_resolver *r, lw_gate_id id, lw_place place);
void lw_gate_directive(lw_resolver *r, const lw_directive *directive);

/* ---- resolve_variable.c -------------------------------------------------------------------------------- */

/* Size, alignment and every rule of a declaration but those of its name. */
void lw_variable_settle(lw_resolver *r, lw_object *variable);
void lw_parameter_settle(lw_resolver *r, lw_object *parameter, const lw_function *function, bool in_prototype);
void lw_const_count(lw_resolver *r,
                    const lw_object *variable); /* a .const variable takes its part of constant memory */
void lw_linkage_gate(lw_resolver *r, const lw_object *object);
void lw_variable_init(lw_resolver *r, lw_object *variable); /* its initial value */

/* ---- resolve_module.c ---------------------------------------------------------------------------------- */

/* Brings together the declarations of each name of the module. */
void lw_module_merge(lw_resolver *r);
bool lw_signature_same(const lw_function *a, const lw_function *b);
void lw_undefined_check(lw_resolver *r); /* is every function defined that is not .extern? */
void lw_signature_settle(lw_resolver *r, lw_function *function, bool in_prototype);
void lw_alias_settle(lw_resolver *r, lw_object *alias);

#endif
