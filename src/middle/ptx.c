/* ptx.c: a PTX kernel and what it reaches: its statements become operations in blocks, over virtual registers. */
#include "middle/ptx.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- Where variables live ------------------------------------------------------------------------------ */

static uint32_t place_index(const lw_lower *l, const void *key) {
    uint32_t i = (uint32_t)(((uint64_t)(uintptr_t)key >> 4) * 0x9e3779b97f4a7c15ull >> 32);
    while (l->ptx->places.keys[i & l->ptx->places.mask] && l->ptx->places.keys[i & l->ptx->places.mask] != key) i++;
    return i & l->ptx->places.mask;
}

static void set_place(lw_lower *l, const void *key, uint64_t value) {
    if (2 * l->ptx->places.count >= l->ptx->places.mask) {
        const void **keys = l->ptx->places.keys;
        uint64_t *values = l->ptx->places.values;
        uint32_t mask = l->ptx->places.mask;
        l->ptx->places.mask = mask ? 2 * mask + 1 : 63;
        l->ptx->places.keys = LW_NEW_ARRAY(l->arena, const void *, (size_t)l->ptx->places.mask + 1);
        l->ptx->places.values = LW_NEW_ARRAY(l->arena, uint64_t, (size_t)l->ptx->places.mask + 1);
        l->ptx->places.count = 0;
        for (uint32_t i = 0; keys && i <= mask; i++)
            if (keys[i]) set_place(l, keys[i], values[i]);
    }
    uint32_t i = place_index(l, key);
    l->ptx->places.count += !l->ptx->places.keys[i];
    l->ptx->places.keys[i] = key;
    l->ptx->places.values[i] = value;
}

static bool has_place(const lw_lower *l, const void *key) {
    return l->ptx->places.mask && l->ptx->places.keys[place_index(l, key)];
}

/* `align` is a power of two. */
static uint64_t align_up(uint64_t offset, uint64_t align) { return (offset + align - 1) & ~(align - 1); }

/* Frames hold .local variables and call parameters; they get their place when first met. */
uint64_t lw_lower_var(lw_lower *l, const lw_object *object) {
    object = lw_object_linked(object);
    if (has_place(l, object)) return l->ptx->places.values[place_index(l, object)];
    const bool is_open = object->unsized && object->is_param;
    uint32_t offset =
        lw_lower_room(l, is_open ? l->ptx->open_bytes : object->size, object->align, object->place, object->name->text);
    if (!l->failed) set_place(l, object, offset);
    return offset;
}

/* A table belongs to one function; only those of labels come here, those of functions are met before there is code. */
bool lw_lower_table(lw_lower *l, const lw_object *table, uint32_t *first) {
    bool known = has_place(l, &table->targets);
    if (!known) set_place(l, &table->targets, l->targets.count);
    *first = (uint32_t)l->ptx->places.values[place_index(l, &table->targets)];
    return known;
}

/* ---- What cannot be executed ---------------------------------------------------------------------------- */

/* Said once for each instruction, when all is known: a kernel may have thousands of one. */
void lw_lower_error(lw_lower *l, const lw_instruction *i) {
    l->failed = true;
    if (!has_place(l, i->mnemonic)) {
        set_place(l, i->mnemonic, l->ptx->missing.count);
        LW_PUSH(l->arena, l->ptx->missing) = (lw_missing){.mnemonic = i->mnemonic, .first = i->mnemonic_place};
    }
    l->ptx->missing_places++;
    l->ptx->missing.at[l->ptx->places.values[place_index(l, i->mnemonic)]].count++;
}

static void report_missing(lw_lower *l) {
    for (uint32_t k = 0; k < l->ptx->missing.count; k++) {
        const lw_missing *missing = &l->ptx->missing.at[k];
        char others[64] = "";
        if (missing->count > 1)
            snprintf(others, sizeof others, "; it is at %u places, of which this is the first", missing->count);
        const char *name = missing->mnemonic->text, *why = lw_ptx_refusal(name);
        lw_diag_add(l->diags, LW_D_not_executable, missing->first, name, why ? ": " : "", why ? why : "", others);
    }
}

/* ---- What a kernel reaches ------------------------------------------------------------------------------ */

typedef struct lw_reach {
    LW_LIST(lw_function *) functions;
    LW_LIST(const lw_object *) dynamic; /* extern shared arrays: behind all others */
    bool all;                           /* an indirect call may reach every function */
} lw_reach;

static void reach_function(lw_lower *l, lw_reach *reach, lw_function *function) {
    function = function->object->function; /* the definition */
    if (!function->has_body || has_place(l, function)) return;
    set_place(l, function, 1);
    LW_PUSH(l->arena, reach->functions) = function;
}

static void reach_shared(lw_lower *l, lw_reach *reach, const lw_object *object) {
    if (has_place(l, object)) return;
    lw_program *program = l->program;
    if (program->shared_align < object->align) program->shared_align = object->align;
    if (object->unsized) {
        LW_PUSH(l->arena, reach->dynamic) = object;
        set_place(l, object, 0);
        return;
    }
    uint64_t offset = align_up(program->shared_bytes, object->align);
    if (offset + object->size > LW_WINDOW_BYTES) {
        lw_diag_add(l->diags, LW_D_shared_too_large, object->place, object->name->text);
        l->failed = true;
        return;
    }
    set_place(l, object, offset);
    program->shared_bytes = (uint32_t)(offset + object->size);
}

static void reach_object(lw_lower *l, lw_reach *reach, const lw_object *object) {
    object = lw_object_linked(object);
    if (object->kind == LW_OBJ_FUNCTION && object->function) reach_function(l, reach, object->function);
    if (object->kind == LW_OBJ_VARIABLE && object->space == LW_SPACE_shared) reach_shared(l, reach, object);
    if (object->kind == LW_OBJ_PROTOTYPE || lw_ptx_table_signature(object)) reach->all = true;
    if (object->kind != LW_OBJ_TARGETS || has_place(l, object)) return;
    set_place(l, object, 0); /* each call names it */
    for (uint32_t i = 0; i < object->target_count; i++) reach_object(l, reach, object->targets[i].object);
}

static void reach_all(lw_lower *l, lw_reach *reach) {
    const lw_module_ptx *module = l->ptx->module;
    for (uint32_t i = 0; i < module->functions.count; i++)
        if (!module->functions.at[i]->is_entry) reach_function(l, reach, module->functions.at[i]);
}

static int compare_numbers(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

/* Codes stand in the program by their numbers, in whatever order they are reached. Only what is reached has an entry: a
 * module may have many kernels. */
static void number_codes(lw_lower *l, const lw_reach *reach) {
    lw_program *program = l->program;
    uint32_t count = reach->functions.count, *numbers = LW_NEW_ARRAY(l->arena, uint32_t, count);
    for (uint32_t i = 0; i < count; i++) numbers[i] = reach->functions.at[i]->object->number;
    qsort(numbers, count, sizeof *numbers, compare_numbers);
    for (uint32_t i = 0; i < count; i++) set_place(l, l->ptx->module->functions.at[numbers[i]]->object->function, i);
    program->code_count = count;
    program->functions = LW_NEW_ARRAY(l->arena, lw_code *, count);
}

uint32_t lw_lower_code_index(const lw_lower *l, const lw_function *function) {
    return (uint32_t)l->ptx->places.values[place_index(l, function->object->function)];
}

/* Whether one of the functions has an instruction for which other CTAs of its cluster matter. */
static bool knows_clusters(const lw_reach *reach) {
    for (uint32_t f = 0; f < reach->functions.count; f++) {
        const lw_function *function = reach->functions.at[f];
        for (uint32_t s = 0; s < function->body.count; s++) {
            const lw_statement *statement = &function->body.at[s];
            if (statement->kind != LW_S_INSTRUCTION) continue;
            const lw_match *match = statement->instruction->match;
            if (match && lw_lowerings[match->form->lower].clusters) return true;
        }
    }
    return false;
}

static void collect(lw_lower *l, lw_reach *reach, lw_function *kernel) {
    bool all = false;
    reach_function(l, reach, kernel);
    for (uint32_t f = 0; f < reach->functions.count; f++) {
        lw_function *function = reach->functions.at[f];
        for (uint32_t i = 0; i < function->reached.count; i++) reach_object(l, reach, function->reached.at[i]);
        if (reach->all && !all) reach_all(l, reach);
        all |= reach->all;
    }
    number_codes(l, reach);
    l->program->clusters = knows_clusters(reach);
    l->ptx->alone = reach->functions.count == 1;
    if (!l->ptx->alone) lw_lower_find_common(l, reach->functions.at, reach->functions.count);
    uint32_t align = l->program->shared_align > 16 ? l->program->shared_align : 16;
    l->program->dynamic_shared_offset = (uint32_t)align_up(l->program->shared_bytes, align);
    for (uint32_t i = 0; i < reach->dynamic.count; i++)
        set_place(l, reach->dynamic.at[i], l->program->dynamic_shared_offset);
}

/* ---- One function --------------------------------------------------------------------------------------- */

static lw_lower_form *const lowerings[LW_LOWER_count] = {
#define LOWERING(name, ...) [LW_LOWER_##name] = lw_lower_##name,
#include "ptx/lowerings.def"
};

uint16_t lw_lower_mode(const lw_instruction *i) {
    static const uint8_t modes[LW_MEANINGS] = {
#define MEANS(kind, word, types, mode) LW_##kind##_##mode,
#include "ptx/meanings.def"
    };
    return modes[i->match->meaning - 1];
}

/* Whoever compiles the text may round the result together with that of others. */
static bool leaves_rounding_open(const lw_lower *l, const lw_match *match) {
    const bool computes = match->form->how && (match->type == LW_T_f32 || match->type == LW_T_f64);
    return l->ptx->contracts && computes && !match->mode.round;
}

static void lower_lane(lw_lower *l, const lw_instruction *i) {
    lw_lane_id lane = (lw_lane_id)i->match->lane;
    const lw_lane_row *row = &lw_lanes[lane];
    uint32_t read[4] = {LW_NO_SLOT, LW_NO_SLOT, LW_NO_SLOT, LW_NO_SLOT};
    uint32_t how = i->match->form->how && row->how, count = lane == LW_LANE_lop3 ? 3 : row->arity - how;
    /* Registers may be wider: then their low bits count, and results get zeros in front. */
    bool wide = i->match->form->agree == LW_AGREE_wide;
    if (i->operand_count + how != row->arity + 1u) {
        lw_lower_error(l, i);
        return;
    }
    for (uint32_t k = 0; k < count; k++) {
        read[k] = lw_lower_read(l, &i->operands[k + 1], lw_ptx_operand_type(i->match, k + 1));
        if (l->failed) return;
        if (wide) read[k] = lw_lower_resize(l, read[k], lw_class_of_lane(row->args[k]), false);
        if (l->vregs.at[read[k]].class != lw_class_of_lane(row->args[k])) {
            lw_lower_unsupported(l, &i->operands[k + 1]);
            return;
        }
    }
    if (how) read[count] = lw_lower_const(l, lw_class_of_lane(row->args[count]), i->match->how);
    uint32_t d = lw_lower_write(l, &i->operands[0], lw_ptx_operand_type(i->match, 0));
    if (l->failed) return;
    lw_class class = lw_class_of_lane(row->result);
    if (l->vregs.at[d].class != class && !wide) {
        lw_lower_unsupported(l, &i->operands[0]);
        return;
    }
    uint32_t to = l->vregs.at[d].class == class ? d : lw_lower_vreg(l, class);
    uint16_t code = lane == LW_LANE_lop3 ? (uint16_t)(LW_OP_lop3 + (i->operands[4].value & 0xff))
                                         : LW_LANE_CODE(lane, LW_RRR);
    const bool open = leaves_rounding_open(l, i->match);
    if (open) lw_lower_op(l, LW_OP_dead); /* room for a negation */
    lw_op *op = lw_lower_op(l, code);
    if (open) LW_PUSH(l->arena, l->open_roundings) = l->ops.count - 1;
    op->d = to, op->a = read[0], op->b = read[1], op->c = read[2], op->e = read[3];
    lw_lower_keep_hint(l, lane, op);
    if (to != d) lw_lower_move(l, d, lw_lower_resize(l, to, l->vregs.at[d].class, false));
}

static void lower_plain(lw_lower *l, const lw_instruction *i) {
    const lw_match *match = i->match;
    if (!match || !match->executable) lw_lower_error(l, i);
    else if (match->form->lower) lowerings[match->form->lower](l, i);
    else lower_lane(l, i);
    lw_lower_end_writes(l);
}

/* Instructions that cannot stop the gang run under a narrowed mask; a guard like the last one's continues its
 * region. */
static void lower_in_guard(lw_lower *l, const lw_instruction *i) {
    uint32_t p = lw_lower_register(l, i->guard);
    uint16_t negate = i->guard->negated ? LW_OP_NEGATE : 0;
    if (!l->open) lw_lower_new_block(l);
    lw_op *guard = lw_lower_op(l, LW_OP_guard);
    guard->b = p;
    guard->flags = negate;
    uint32_t at = l->ops.count - 1;
    lower_plain(l, i);
    lw_lower_op(l, LW_OP_unguard);
    l->ops.at[at].imm = l->ops.count - 1 - at;
}

static void lower_instruction(lw_lower *l, const lw_instruction *i) {
    if (!l->open) lw_lower_new_block(l);
    l->ptx->instruction = i;
    lw_lower_count(l);
    if (!i->guard) lower_plain(l, i);
    else if (i->match && i->match->form->lower == LW_LOWER_bra) lower_plain(l, i); /* a conditional branch */
    else if (i->match && lw_lowerings[i->match->form->lower].ends) {
        uint32_t past = lw_lower_label(l);
        lw_op *op = lw_lower_op(l, LW_OP_bra_if);
        op->b = lw_lower_register(l, i->guard);
        op->flags = i->guard->negated ? 0 : LW_OP_NEGATE;
        op->a = past;
        l->open = false;
        lw_lower_new_block(l);
        lower_plain(l, i);
        lw_lower_place_label(l, past);
    } else lower_in_guard(l, i);
}

/* One formal parameter of a function, or an element of one: a register, or memory in the frame. */
static void lower_formal(lw_lower *l, lw_object *object, uint32_t element, lw_transfer *t, bool is_return) {
    t->in_memory = object->space == LW_SPACE_param;
    uint32_t at;
    if (t->in_memory) {
        at = (uint32_t)lw_lower_var(l, object);
        t->size = (uint32_t)(object->unsized ? l->ptx->open_bytes : object->size);
        t->is_open = object->unsized;
    } else {
        lw_operand operand = {.kind = LW_O_NAME, .object = object, .name = object->name, .place = object->place};
        if (object->vector > 1) operand = lw_lower_element(&operand, element);
        at = lw_lower_is_wide(&operand) ? lw_lower_half(l, &operand, element) : lw_lower_register(l, &operand);
        if (l->failed) return;
        t->size = lw_class_bytes(l->vregs.at[at].class);
    }
    if (is_return) t->from = at;
    else t->to = at;
}

uint32_t lw_lower_parts(const lw_object *formal) {
    const bool halves = formal->space == LW_SPACE_reg && lw_types[formal->type].bits > 64;
    return halves ? 2 : formal->vector;
}

uint32_t lw_lower_transfers(lw_object *const *formals, uint32_t count) {
    uint32_t transfers = 0;
    for (uint32_t i = 0; i < count; i++) transfers += lw_lower_parts(formals[i]);
    return transfers;
}

/* Elements of vectors are handed over one by one. */
static uint32_t lower_formals(lw_lower *l, lw_object **formals, uint32_t count, lw_transfer **transfers,
                              bool is_return) {
    *transfers = LW_NEW_ARRAY(l->arena, lw_transfer, l->ptx->common.count + lw_lower_transfers(formals, count));
    uint32_t n = lw_lower_common_transfers(l, *transfers);
    for (uint32_t i = 0; i < count && !l->failed; i++)
        for (uint32_t k = 0; k < lw_lower_parts(formals[i]); k++)
            lower_formal(l, formals[i], k, &(*transfers)[n++], is_return);
    return n;
}

static void lower_body(lw_lower *l, const lw_function *function) {
    enum { STRIDE = 64 }; /* statements between two looks at the limits, which leave room for them */
    for (uint32_t s = 0; s < function->body.count; s++) {
        const lw_statement *statement = &function->body.at[s];
        if (statement->kind != LW_S_LABEL && statement->kind != LW_S_INSTRUCTION) continue;
        l->place = statement->place;
        if (statement->kind == LW_S_LABEL) {
            lw_lower_place_label(l, statement->object->number);
            continue;
        }
        lower_instruction(l, statement->instruction);
        l->program->instruction_count++;
        if (s % STRIDE == 0 && !lw_lower_fits(l)) return;
    }
    lw_lower_op(l, LW_OP_ret); /* who falls off the end returns */
}

static void begin_function(lw_lower *l, lw_function *function) {
    const lw_code code = {.name = function->object->name->text,
                          .number = function->object->number,
                          .index = lw_lower_code_index(l, function),
                          .is_entry = function->is_entry};
    /* Blocks begin with an operation of their own, and may end with one. */
    lw_lower_begin(l, &code, function->place, function->instruction_count + 2 * function->label_count);
    l->ptx->function = function;
    /* Of modules for targets before sm_20 nothing is known. */
    l->ptx->contracts = l->program->semantics == LW_SEMANTICS_sm_90 && function->module->target >= 20 &&
                        !lw_ptx_is_debugged(function->module);
    l->ptx->instruction = NULL;
    l->ptx->wide_writes.count = 0;
    lw_lower_begin_registers(l, function);
    lw_lower_begin_common(l, function->is_entry);
    l->ptx->carry = l->ptx->stack = LW_NO_SLOT;
    l->ptx->whole = 0, l->ptx->matrix_form = LW_NO_SLOT;
    for (uint32_t i = 0; i < function->label_count; i++) lw_lower_label(l);
}

static void lower_function(lw_lower *l, lw_function *function) {
    begin_function(l, function);
    lw_code *code = l->code;
    if (!function->is_entry) {
        code->param_count = lower_formals(l, function->params, function->param_count, &code->params, false);
        code->return_count = lower_formals(l, function->returns, function->return_count, &code->returns, true);
    }
    if (!l->failed) lower_body(l, function);
    if (!l->failed) lw_lower_end(l);
}

/* All of them, even where some have what cannot be executed: then that is known of the whole kernel. */
static void lower_functions(lw_lower *l, const lw_reach *reach) {
    bool failed = false;
    for (uint32_t i = 0; i < reach->functions.count; i++) {
        const uint32_t missing = l->ptx->missing_places;
        l->failed = false;
        lower_function(l, reach->functions.at[i]);
        failed |= l->failed;
        if (l->failed && l->ptx->missing_places == missing) break; /* for another reason: too large, above all */
    }
    l->failed = failed;
    report_missing(l);
}

lw_program *lw_lower_ptx(lw_arena *arena, lw_module_ptx *module, lw_function *kernel, lw_semantics semantics,
                         lw_diags *diags) {
    lw_lower_ptx_state ptx = {.module = module};
    lw_lower l = {.arena = arena, .ptx = &ptx, .diags = diags};
    lw_program *program = LW_NEW(arena, lw_program);
    *program = (lw_program){.arena = arena,
                            .source = module->source,
                            .shared_unit = kernel->module->target >= 30 && kernel->module->target < 80 ? 256 : 128,
                            .semantics = semantics,
                            .param_bytes = kernel->param_bytes};
    l.program = program;
    lw_reach reach = {0};
    collect(&l, &reach, kernel);
    if (!l.failed) lower_functions(&l, &reach);
    if (l.failed) return NULL;
    program->entry_index = lw_lower_code_index(&l, kernel);
    lw_inline_calls(&l);
    lw_program_order_notes(program, LW_NEW_ARRAY(arena, uint32_t, program->notes.count));
    lw_mark_spins(program);
    return program;
}
