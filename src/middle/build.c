/* build.c: a function's statements become operations in blocks, over virtual registers. */
#include "middle/lower.h"

#include <stdlib.h>

/* ---- Virtual registers and operations ------------------------------------------------------------------ */

uint32_t lw_lower_vreg(lw_lower *l, lw_class class) {
    LW_PUSH(l->arena, l->vregs) = (lw_vreg){.class = class};
    return l->vregs.count - 1;
}

uint32_t lw_lower_const(lw_lower *l, lw_class class, uint64_t value) {
    static const uint64_t mask[] = {1, 0xffff, 0xffffffff, ~0ull};
    uint32_t v = lw_lower_vreg(l, class);
    l->vregs.at[v].is_const = true;
    l->vregs.at[v].value = value & mask[class];
    return v;
}

lw_op *lw_lower_op(lw_lower *l, uint16_t code) {
    if (!l->open) lw_lower_new_block(l);
    LW_PUSH(l->arena, l->op_places) = l->place;
    lw_op *op = &LW_PUSH(l->arena, l->ops);
    *op = (lw_op){
        .d = LW_NO_SLOT, .a = LW_NO_SLOT, .b = LW_NO_SLOT, .c = LW_NO_SLOT, .e = LW_NO_SLOT, .code = code};
    return op;
}

void lw_lower_lane_into(lw_lower *l, uint32_t d, lw_lane_id lane, uint32_t a, uint32_t b, uint32_t c) {
    lw_op *op = lw_lower_op(l, LW_LANE_CODE(lane, LW_RRR));
    op->d = d, op->a = a, op->b = b, op->c = c;
}

static lw_class class_of_lane(lw_lane_type type) {
    return type == LW_L_p                                             ? LW_CLASS_pred
           : type <= LW_L_s16                                         ? LW_CLASS_16
           : type == LW_L_u32 || type == LW_L_s32 || type == LW_L_f32 ? LW_CLASS_32
                                                                      : LW_CLASS_64;
}

uint32_t lw_lower_lane(lw_lower *l, lw_lane_id lane, uint32_t a, uint32_t b, uint32_t c) {
    uint32_t d = lw_lower_vreg(l, class_of_lane(lw_lanes[lane].result));
    lw_lower_lane_into(l, d, lane, a, b, c);
    return d;
}

void lw_lower_move(lw_lower *l, uint32_t d, uint32_t a) {
    static const lw_lane_id moves[] = {LW_LANE_none, LW_LANE_mov_b16, LW_LANE_mov_b32, LW_LANE_mov_b64};
    lw_class class = l->vregs.at[d].class;
    if (class == LW_CLASS_pred) {
        lw_op *op = lw_lower_op(l, LW_OP_predicate);
        op->d = d, op->a = a, op->imm = 0xf0;
    } else
        lw_lower_lane_into(l, d, moves[class], a, LW_NO_SLOT, LW_NO_SLOT);
}

uint32_t lw_lower_resize(lw_lower *l, uint32_t a, lw_class to, bool is_signed) {
    static const lw_lane_id lanes[2][4][4] = {
        {[LW_CLASS_16] = {0, 0, LW_LANE_zext_b32_b16, LW_LANE_zext_b64_b16},
         [LW_CLASS_32] = {0, LW_LANE_low_b16_b32, 0, LW_LANE_zext_b64_b32},
         [LW_CLASS_64] = {0, LW_LANE_low_b16_b64, LW_LANE_low_b32_b64, 0}},
        {[LW_CLASS_16] = {0, 0, LW_LANE_sext_b32_b16, LW_LANE_sext_b64_b16},
         [LW_CLASS_32] = {0, LW_LANE_low_b16_b32, 0, LW_LANE_sext_b64_b32},
         [LW_CLASS_64] = {0, LW_LANE_low_b16_b64, LW_LANE_low_b32_b64, 0}},
    };
    lw_lane_id lane = lanes[is_signed][l->vregs.at[a].class][to];
    return lane ? lw_lower_lane(l, lane, a, LW_NO_SLOT, LW_NO_SLOT) : a;
}

/* ---- Blocks and labels --------------------------------------------------------------------------------- */

void lw_lower_new_block(lw_lower *l) {
    l->open = true;
    uint32_t number = l->blocks.count;
    LW_PUSH(l->arena, l->blocks) = (lw_block){.first = l->ops.count};
    LW_PUSH(l->arena, l->racy) = 0;
    lw_lower_op(l, LW_OP_block)->a = number;
}

uint32_t lw_lower_label(lw_lower *l) {
    LW_PUSH(l->arena, l->label_blocks) = LW_NO_SLOT;
    return l->label_blocks.count - 1;
}

void lw_lower_place_label(lw_lower *l, uint32_t label) {
    bool fresh = l->open && l->blocks.at[l->blocks.count - 1].first + 1 == l->ops.count;
    if (!fresh) lw_lower_new_block(l);
    l->label_blocks.at[label] = l->blocks.count - 1;
}

/* The current block has one more operation that may wait for what others do. */
void lw_lower_note_racy(lw_lower *l) { l->racy.at[l->blocks.count - 1]++; }

void lw_lower_error(lw_lower *l, const lw_instruction *i) {
    lw_diag_add(l->diags, LW_D_not_executable, i->mnemonic_place, i->mnemonic->text);
    l->failed = true;
}

void lw_lower_may_note(lw_lower *l, lw_diag_id id) {
    LW_PUSH(l->arena, l->program->notes) = (lw_program_note){id, l->place};
}

void lw_lower_note(lw_lower *l, lw_diag_id id, uint32_t predicate) {
    lw_op *op = lw_lower_op(l, LW_OP_note);
    op->b = predicate;
    op->imm = l->program->notes.count;
    lw_lower_may_note(l, id);
}

/* ---- Where variables live ------------------------------------------------------------------------------ */

static uint32_t place_index(const lw_lower *l, const void *key) {
    uint32_t i = (uint32_t)((uintptr_t)key >> 4) * 2654435761u;
    while (l->places.keys[i & l->places.mask] && l->places.keys[i & l->places.mask] != key) i++;
    return i & l->places.mask;
}

static void set_place(lw_lower *l, const void *key, uint64_t value) {
    if (2 * l->places.count >= l->places.mask) {
        const void **keys = l->places.keys;
        uint64_t *values = l->places.values;
        uint32_t mask = l->places.mask;
        l->places.mask = mask ? 2 * mask + 1 : 63;
        l->places.keys = LW_NEW_ARRAY(l->arena, const void *, (size_t)l->places.mask + 1);
        l->places.values = LW_NEW_ARRAY(l->arena, uint64_t, (size_t)l->places.mask + 1);
        l->places.count = 0;
        for (uint32_t i = 0; keys && i <= mask; i++)
            if (keys[i]) set_place(l, keys[i], values[i]);
    }
    uint32_t i = place_index(l, key);
    l->places.count += !l->places.keys[i];
    l->places.keys[i] = key;
    l->places.values[i] = value;
}

static bool has_place(const lw_lower *l, const void *key) {
    return l->places.mask && l->places.keys[place_index(l, key)];
}

/* `align` is a power of two. */
static uint64_t align_up(uint64_t offset, uint64_t align) { return (offset + align - 1) & ~(align - 1); }

/* Frames hold .local variables and call parameters; they get their place when first met. */
uint64_t lw_lower_var(lw_lower *l, const lw_object *object) {
    if (has_place(l, object)) return l->places.values[place_index(l, object)];
    uint64_t offset = align_up(l->local_bytes, object->align);
    if (offset + object->size > LW_WINDOW_BYTES) {
        lw_diag_add(l->diags, LW_D_frame_too_large, object->place, object->name->text);
        l->failed = true;
        return 0;
    }
    l->local_bytes = (uint32_t)(offset + object->size);
    set_place(l, object, offset);
    return offset;
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
    if (object->kind == LW_OBJ_FUNCTION && object->function) reach_function(l, reach, object->function);
    if (object->kind == LW_OBJ_VARIABLE && object->space == LW_SPACE_shared) reach_shared(l, reach, object);
    if (object->kind == LW_OBJ_PROTOTYPE || lw_ptx_table_signature(object)) reach->all = true;
    if (object->kind == LW_OBJ_TARGETS)
        for (uint32_t i = 0; i < object->target_count; i++) reach_object(l, reach, object->targets[i].object);
}

static void collect(lw_lower *l, lw_reach *reach, lw_function *kernel) {
    reach_function(l, reach, kernel);
    for (uint32_t f = 0; f < reach->functions.count; f++) {
        lw_function *function = reach->functions.at[f];
        for (uint32_t i = 0; i < function->reached.count; i++) reach_object(l, reach, function->reached.at[i]);
        if (reach->all) {
            reach->all = false;
            for (uint32_t i = 0; i < l->module->functions.count; i++)
                if (!l->module->functions.at[i]->is_entry)
                    reach_function(l, reach, l->module->functions.at[i]);
        }
    }
    uint32_t align = l->program->shared_align > 16 ? l->program->shared_align : 16;
    l->program->dynamic_shared_offset = (uint32_t)align_up(l->program->shared_bytes, align);
    for (uint32_t i = 0; i < reach->dynamic.count; i++)
        set_place(l, reach->dynamic.at[i], l->program->dynamic_shared_offset);
}

/* ---- One function --------------------------------------------------------------------------------------- */

static lw_lower_step *const steps[LW_STEP_count] = {
#define STEP(name) [LW_STEP_##name] = lw_lower_##name,
#include "ptx/steps.def"
};

static void lower_lane(lw_lower *l, const lw_instruction *i) {
    lw_lane_id lane = (lw_lane_id)i->match->lane;
    const lw_lane_row *row = &lw_lanes[lane];
    uint32_t read[4] = {LW_NO_SLOT, LW_NO_SLOT, LW_NO_SLOT, LW_NO_SLOT};
    uint32_t count = lane == LW_LANE_lop3 ? 3 : row->arity;
    if (i->operand_count != row->arity + 1u) {
        lw_lower_error(l, i);
        return;
    }
    for (uint32_t k = 0; k < count; k++) {
        read[k] = lw_lower_read(l, &i->operands[k + 1], lw_ptx_operand_type(i->match, k + 1));
        if (l->failed) return;
        if (l->vregs.at[read[k]].class != class_of_lane(row->args[k])) {
            lw_lower_error(l, i);
            return;
        }
    }
    uint32_t d = lw_lower_write(l, &i->operands[0], lw_ptx_operand_type(i->match, 0));
    if (l->failed) return;
    if (l->vregs.at[d].class != class_of_lane(row->result)) {
        lw_lower_error(l, i);
        return;
    }
    uint16_t code = lane == LW_LANE_lop3 ? (uint16_t)(LW_OP_lop3 + (i->operands[4].value & 0xff))
                                         : LW_LANE_CODE(lane, LW_RRR);
    lw_op *op = lw_lower_op(l, code);
    op->d = d, op->a = read[0], op->b = read[1], op->c = read[2], op->e = read[3];
}

static void lower_plain(lw_lower *l, const lw_instruction *i) {
    const lw_match *match = i->match;
    if (!match || !match->executable)
        lw_lower_error(l, i);
    else if (match->form->step)
        steps[match->form->step](l, i);
    else
        lower_lane(l, i);
}

/* Instructions that cannot stop the gang run under a narrowed mask; a guard like the last one's continues its region. */
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
    l->blocks.at[l->blocks.count - 1].instructions++;
    if (!i->guard)
        lower_plain(l, i);
    else if (i->match && i->match->form->step == LW_STEP_bra)
        lower_plain(l, i); /* a conditional branch */
    else if (i->match && lw_step_ends_block(i)) {
        uint32_t past = lw_lower_label(l);
        lw_op *op = lw_lower_op(l, LW_OP_bra_if);
        op->b = lw_lower_register(l, i->guard);
        op->flags = i->guard->negated ? 0 : LW_OP_NEGATE;
        op->a = past;
        l->open = false;
        lw_lower_new_block(l);
        lower_plain(l, i);
        lw_lower_place_label(l, past);
    } else
        lower_in_guard(l, i);
}

/* Formal parameters of functions: registers, or memory in the frame. */
static void lower_formals(lw_lower *l, lw_object **formals, uint32_t count, lw_transfer **transfers,
                          bool is_return) {
    *transfers = LW_NEW_ARRAY(l->arena, lw_transfer, count);
    for (uint32_t i = 0; i < count; i++) {
        const lw_object *object = formals[i];
        lw_transfer *t = &(*transfers)[i];
        t->in_memory = object->space == LW_SPACE_param;
        uint32_t at;
        if (t->in_memory) {
            at = (uint32_t)lw_lower_var(l, object);
            t->size = (uint32_t)object->size;
        } else {
            lw_operand operand = {
                .kind = LW_O_NAME, .object = formals[i], .name = object->name, .place = object->place};
            at = lw_lower_register(l, &operand);
            if (l->failed) return;
            t->size = lw_class_bytes(l->vregs.at[at].class);
        }
        if (is_return)
            t->from = at;
        else
            t->to = at;
    }
}

/* Branch targets are label numbers until every label has its block. */
static void resolve_labels(lw_lower *l) {
    uint32_t *racy = l->racy.at; /* becomes a running sum */
    for (uint32_t b = 1; b < l->racy.count; b++) racy[b] += racy[b - 1];
    for (uint32_t b = 0, n = 0; n < l->ops.count; n++) {
        lw_op *op = &l->ops.at[n];
        if (op->code == LW_OP_block) b = op->a;
        if (op->code == LW_OP_bra || op->code == LW_OP_bra_if) {
            op->a = l->label_blocks.at[op->a];
            if (op->a <= b)
                op->flags |= LW_OP_BACKWARD | (racy[b] > (op->a ? racy[op->a - 1] : 0) ? LW_OP_SPIN : 0);
        }
        if (op->code == LW_OP_brx) {
            for (uint32_t i = 0; i < op->c; i++) {
                uint32_t *target = &l->targets.at[op->imm + i];
                *target = l->label_blocks.at[*target];
                if (*target <= b)
                    op->flags |=
                        LW_OP_BACKWARD | (racy[b] > (*target ? racy[*target - 1] : 0) ? LW_OP_SPIN : 0);
            }
        }
    }
    for (uint32_t i = 0; i < l->calls.count; i++)
        l->calls.at[i].return_block = l->label_blocks.at[l->calls.at[i].return_block];
}

/* Mostly enough, so that long lists need not be copied to grow: few instructions become several operations, and most have one
 * new register or constant. The operations become the code's own; virtual registers are only needed until it is finished. */
static void make_room(lw_lower *l, const lw_function *function) {
    uint32_t instructions = function->instruction_count > UINT32_MAX / 4 ? UINT32_MAX / 4 : function->instruction_count;
    uint32_t room = instructions + instructions / 8 + 4, registers = instructions + instructions / 2 + 16;
    l->ops.count = l->op_places.count = 0;
    l->ops.room = l->op_places.room = room;
    l->ops.at = LW_NEW_ARRAY(l->arena, lw_op, room);
    l->op_places.at = LW_NEW_ARRAY(l->arena, lw_place, room);
    if (l->vregs.room >= registers) return;
    l->vregs.room = registers;
    l->vregs.at = LW_NEW_ARRAY(l->arena, lw_vreg, registers);
}

/* Work lists are used again; those that become the code's own start anew. */
static void begin_function(lw_lower *l, lw_function *function) {
    lw_code *code = LW_NEW(l->arena, lw_code);
    *code = (lw_code){.name = function->object->name->text,
                      .number = function->object->number,
                      .is_entry = function->is_entry};
    l->program->codes[code->number] = code;
    l->code = code;
    l->function = function;
    l->place = function->place;
    l->vregs.count = l->blocks.count = l->racy.count = l->label_blocks.count = 0;
    make_room(l, function);
    l->lists.at = NULL, l->lists.count = l->lists.room = 0;
    l->targets.at = NULL, l->targets.count = l->targets.room = 0;
    l->calls.at = NULL, l->calls.count = l->calls.room = 0;
    l->constants.at = NULL, l->constants.count = l->constants.room = 0;
    lw_lower_forget_registers(l);
    l->carry = LW_NO_SLOT;
    l->local_bytes = 0;
    l->open = false;
    for (uint32_t i = 0; i < function->label_count; i++) lw_lower_label(l);
}

static void lower_body(lw_lower *l, const lw_function *function) {
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
    }
    lw_lower_op(l, LW_OP_ret); /* who falls off the end returns */
}

static void lower_function(lw_lower *l, lw_function *function) {
    begin_function(l, function);
    lw_code *code = l->code;
    if (!function->is_entry) {
        code->param_count = function->param_count;
        code->return_count = function->return_count;
        lower_formals(l, function->params, function->param_count, &code->params, false);
        lower_formals(l, function->returns, function->return_count, &code->returns, true);
    }
    if (!l->failed) lower_body(l, function);
    if (l->failed) return;
    resolve_labels(l);
    lw_fold(l);
    lw_forget_nans(l);
    lw_fuse(l);
    lw_allocate(l);
    code->lowered = true;
}

const char *const lw_semantics_names[LW_SEMANTICS_COUNT] = {
    [LW_SEMANTICS_manual] = "manual",
    [LW_SEMANTICS_sm_90] = "sm_90",
};

bool lw_semantics_choose(const char *name, lw_semantics *semantics) {
    if (!name || !*name) name = getenv("LANEWISE_SEMANTICS");
    if (!name || !*name) name = lw_semantics_names[LW_SEMANTICS_manual];
    for (int i = 0; i < LW_SEMANTICS_COUNT; i++)
        if (!strcmp(name, lw_semantics_names[i])) return *semantics = (lw_semantics)i, true;
    return false;
}

lw_program *lw_lower_ptx(lw_arena *arena, lw_module_ptx *module, lw_function *kernel, lw_semantics semantics,
                         lw_diags *diags) {
    lw_lower l = {.arena = arena, .module = module, .diags = diags};
    lw_program *program = LW_NEW(arena, lw_program);
    *program = (lw_program){.arena = arena,
                            .module = module,
                            .semantics = semantics,
                            .code_count = module->functions.count,
                            .param_bytes = kernel->param_bytes};
    program->codes = LW_NEW_ARRAY(arena, lw_code *, program->code_count);
    l.program = program;
    lw_reach reach = {0};
    collect(&l, &reach, kernel);
    for (uint32_t i = 0; i < reach.functions.count && !l.failed; i++)
        lower_function(&l, reach.functions.at[i]);
    if (l.failed) return NULL;
    program->entry = program->codes[kernel->object->number];
    return program;
}
