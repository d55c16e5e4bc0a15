/* runtime.c: calls of functions that a driver adds to every module (isa/ptx/runtime.def): operations of their own, no
 * frames. */
#include "middle/ptx.h"

enum { LW_RUNTIME_ARGUMENTS = 5 };

/* A function of the runtime: its operation, and the types of the result and the arguments that its declaration has. */
typedef struct lw_runtime_row {
    const char *name;
    uint16_t code; /* LW_OP_dead: refused */
    lw_type result, arguments[LW_RUNTIME_ARGUMENTS];
} lw_runtime_row;

static const lw_runtime_row rows[] = {
#define TYPES(a, b, c, d, e, ...) \
    { LW_T_##a, LW_T_##b, LW_T_##c, LW_T_##d, LW_T_##e }
#define RUNTIME(op, function, result, ...) \
    {function, LW_OP_##op, LW_T_##result, TYPES(__VA_ARGS__, none, none, none, none, none)},
#define RUNTIME_NONE(function) {.name = function, .code = LW_OP_dead},
#include "ptx/runtime.def"
};

static const lw_runtime_row *find(const char *name) {
    static const lw_runtime_row refused = {.code = LW_OP_dead};
    for (size_t i = 0; i < LW_COUNT(rows); i++)
        if (!strcmp(name, rows[i].name)) return &rows[i];
    return strncmp(name, "__cuda_syscall", strlen("__cuda_syscall")) ? NULL : &refused;
}

bool lw_runtime_has(const char *name) { return find(name) != NULL; }

static uint32_t argument_count(const lw_runtime_row *row) {
    uint32_t count = 0;
    while (count < LW_RUNTIME_ARGUMENTS && row->arguments[count] != LW_T_none) count++;
    return count;
}

/* Signed, unsigned or neither: the runtime looks at the bits. */
static bool fits(const lw_object *formal, lw_type type) {
    return !formal->dimension_count && formal->vector <= 1 && lw_types[formal->type].bits == lw_types[type].bits;
}

static bool has_shape(const lw_function *declared, const lw_runtime_row *row) {
    const uint32_t results = row->result != LW_T_none;
    bool good = declared->param_count == argument_count(row) && declared->return_count <= results;
    for (uint32_t i = 0; good && i < declared->param_count; i++) good = fits(declared->params[i], row->arguments[i]);
    return good && (!declared->return_count || fits(declared->returns[0], row->result));
}

static void call(lw_lower *l, const lw_call_parts *parts, const lw_runtime_row *row) {
    const lw_function *declared = parts->target->object->function;
    uint32_t values[LW_RUNTIME_ARGUMENTS] = {LW_NO_SLOT, LW_NO_SLOT, LW_NO_SLOT, LW_NO_SLOT};
    for (uint32_t i = 0; i < declared->param_count && !l->failed; i++)
        values[i] = lw_lower_argument_value(l, &parts->arguments->parts[i], declared->params[i]->type);
    if (l->failed) return;
    uint32_t result = row->result == LW_T_none ? LW_NO_SLOT : lw_lower_vreg(l, lw_class_of(row->result));
    lw_op *op = lw_lower_op(l, row->code);
    op->d = result;
    op->a = values[0], op->b = values[1], op->c = values[2], op->e = values[3]; /* a fifth one nobody needs */
    if (declared->return_count) lw_lower_result_value(l, &parts->results->parts[0], declared->returns[0]->type, result);
}

bool lw_lower_runtime_call(lw_lower *l, const lw_call_parts *parts) {
    const lw_object *target = parts->target->object;
    if (target->kind != LW_OBJ_FUNCTION || target->function->has_body) return false;
    const lw_runtime_row *row = find(target->name->text);
    if (!row) return false;
    const bool known = row->code != LW_OP_dead;
    if (!known || !has_shape(target->function, row)) {
        lw_diag_add(l->diags, known ? LW_D_runtime_shape : LW_D_runtime_missing, parts->target->place,
                    target->name->text);
        l->failed = true;
        return true;
    }
    l->program->prints |= row->code == LW_OP_print;
    l->program->has_heap |= row->code == LW_OP_heap_take || row->code == LW_OP_heap_give;
    if (row->code == LW_OP_print) lw_lower_may_note(l, LW_D_note_print_lost);
    call(l, parts, row);
    return true;
}
