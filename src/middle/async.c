/* async.c: lowering of copies and stores that go on by themselves (manual section 9.7.9.25), and of mbarrier objects
 * (9.7.13.15). */
#include "middle/ptx.h"

/* ---- mbarrier objects ------------------------------------------------------------------------------------------- */

/* Who does not, or without brackets, is told by no manual what becomes of it. False: diagnosed. */
static bool names_object(lw_lower *l, const lw_instruction *i, uint32_t operand) {
    if (operand < i->operand_count && i->operands[operand].kind == LW_O_ADDRESS) return true;
    lw_diag_add(l->diags, LW_D_no_object, i->mnemonic_place, i->mnemonic->text);
    l->failed = true;
    return false;
}

/* An operation at the object that an operand names. NULL: diagnosed. */
static lw_op *at_object(lw_lower *l, const lw_instruction *i, uint16_t code, const lw_operand *address) {
    lw_memory_form form = {.size = 3, .slot = LW_CLASS_64};
    lw_op at = {.a = LW_NO_SLOT};
    if (!lw_lower_address(l, &at, address, i->match, &form)) return NULL;
    lw_op *op = lw_lower_op(l, code);
    op->a = at.a, op->imm = at.imm, op->c = lw_memory_pack(form);
    return op;
}

static lw_mbarrier_deed deed_of(const lw_instruction *i) {
    const lw_mbarrier_deed deed = (lw_mbarrier_deed)lw_lower_mode(i);
    if (!i->match->mode.inside) return deed;
    return deed == LW_MBARRIER_arrive ? LW_MBARRIER_arrive_inside : LW_MBARRIER_arrive_drop_inside;
}

/* [state,] [object] {, count} */
void lw_lower_mbarrier(lw_lower *l, const lw_instruction *i) {
    const lw_mbarrier_deed deed = deed_of(i);
    const bool arrives = deed >= LW_MBARRIER_arrive;
    const bool expects = arrives && i->match->mode.object == LW_MOD_expect_tx;
    const uint32_t at = arrives, number = at + 1;
    uint32_t n = LW_NO_SLOT, d = LW_NO_SLOT;
    if (i->operand_count > number) n = lw_lower_read(l, &i->operands[number], LW_T_u32);
    if (l->failed) return;
    if (n != LW_NO_SLOT) n = lw_lower_resize(l, n, LW_CLASS_32, false);
    if (arrives && i->operands[0].kind != LW_O_SINK) d = lw_lower_write(l, &i->operands[0], LW_T_u64);
    if (l->failed) return;
    lw_op *op = at_object(l, i, LW_OP_mbarrier, &i->operands[at]);
    if (!op) return;
    op->mode = deed, op->d = d;
    *(expects ? &op->e : &op->b) = n;
}

/* d, [object], state or parity {, a time that is a hint} */
static void ask(lw_lower *l, const lw_instruction *i, uint16_t code) {
    uint32_t state = lw_lower_read(l, &i->operands[2], lw_ptx_operand_type(i->match, 2));
    const uint32_t d = lw_lower_write(l, &i->operands[0], LW_T_pred);
    if (l->failed) return;
    state = lw_lower_resize(l, state, LW_CLASS_64, false);
    lw_op *op = at_object(l, i, code, &i->operands[1]);
    if (op) op->d = d, op->b = state;
}

void lw_lower_mbarrier_test(lw_lower *l, const lw_instruction *i) { ask(l, i, LW_OP_mbarrier_test); }

void lw_lower_mbarrier_try(lw_lower *l, const lw_instruction *i) {
    ask(l, i, LW_OP_mbarrier_try);
    l->open = false; /* who waited goes on behind it */
    lw_lower_new_block(l);
}

/* The high half of a state. */
void lw_lower_mbarrier_pending(lw_lower *l, const lw_instruction *i) {
    const uint32_t state = lw_lower_read(l, &i->operands[1], LW_T_u64);
    const uint32_t d = lw_lower_write(l, &i->operands[0], LW_T_u32);
    if (!l->failed) lw_lower_lane_into(l, d, LW_LANE_high_b32_b64, state, LW_NO_SLOT, LW_NO_SLOT);
}

/* ---- Copies of a thread ----------------------------------------------------------------------------------------- */

static bool is_predicate(const lw_operand *operand) {
    return operand->negated || (operand->kind == LW_O_NAME && operand->object &&
                                operand->object->kind == LW_OBJ_VARIABLE && operand->object->type == LW_T_pred);
}

/* How many bytes the source has: a number, or none where a predicate says to ignore it. */
static uint32_t source_size(lw_lower *l, const lw_operand *operand, uint32_t bytes) {
    if (!is_predicate(operand)) return lw_lower_read(l, operand, LW_T_u32);
    const uint32_t ignored = lw_lower_read_pred(l, operand), d = lw_lower_vreg(l, LW_CLASS_32);
    const uint32_t none = lw_lower_const(l, LW_CLASS_32, 0), all = lw_lower_const(l, LW_CLASS_32, bytes);
    if (l->failed) return d;
    lw_op *op = lw_lower_op(l, LW_OP_select_32);
    op->d = d, op->a = none, op->b = all, op->c = ignored;
    return d;
}

void lw_lower_async_copy(lw_lower *l, const lw_instruction *i) {
    enum { TO, FROM, BYTES, SIZE };
    const uint32_t bytes = (uint32_t)i->operands[BYTES].value;
    const bool sized = i->operand_count > SIZE + (i->match->mode.policy != 0);
    const uint32_t to = lw_lower_address_value(l, &i->operands[TO], i->match);
    if (l->failed) return;
    const uint32_t from = lw_lower_address_value(l, &i->operands[FROM], i->match);
    if (l->failed) return;
    const uint32_t size = sized ? source_size(l, &i->operands[SIZE], bytes) : LW_NO_SLOT;
    if (l->failed) return;
    lw_op *op = lw_lower_op(l, LW_OP_async_copy);
    op->a = to, op->b = from, op->c = bytes, op->e = size;
    if (sized) lw_lower_may_note(l, LW_D_note_source_size);
}

void lw_lower_async_arrive(lw_lower *l, const lw_instruction *i) {
    lw_op *op = at_object(l, i, LW_OP_async_arrive, &i->operands[0]);
    if (op) op->b = !i->match->mode.counted;
}

static void commit(lw_lower *l, lw_chain chain) { lw_lower_op(l, LW_OP_async_commit)->a = chain; }

static void wait(lw_lower *l, lw_chain chain, uint64_t groups) {
    lw_op *op = lw_lower_op(l, LW_OP_async_wait);
    op->a = chain, op->imm = groups;
}

void lw_lower_async_commit(lw_lower *l, const lw_instruction *i) { (void)i, commit(l, LW_CHAIN_copies); }
void lw_lower_async_wait(lw_lower *l, const lw_instruction *i) { wait(l, LW_CHAIN_copies, i->operands[0].value); }
void lw_lower_async_wait_all(lw_lower *l, const lw_instruction *i) {
    (void)i;
    commit(l, LW_CHAIN_copies);
    wait(l, LW_CHAIN_copies, 0);
}
void lw_lower_bulk_commit(lw_lower *l, const lw_instruction *i) { (void)i, commit(l, LW_CHAIN_bulk); }
void lw_lower_bulk_wait(lw_lower *l, const lw_instruction *i) { wait(l, LW_CHAIN_bulk, i->operands[0].value); }

/* ---- Bulk copies ------------------------------------------------------------------------------------------------ */

/* Of where a copy goes: only that may be in another CTA. */
static lw_window window_of(const lw_instruction *i, uint32_t operand, bool of_cluster) {
    if (i->match->operand_forms[operand].space == LW_SPACE_global) return LW_WINDOW_global;
    return of_cluster ? LW_WINDOW_cluster : LW_WINDOW_shared;
}

/* The operands that copies and reductions have: [to], [from], bytes {, [object]}. NULL: diagnosed. */
static lw_op *bulk(lw_lower *l, const lw_instruction *i, uint16_t code, lw_memory_form to) {
    enum { TO, FROM, BYTES, OBJECT };
    const lw_memory_form from = {.window = window_of(i, FROM, false)};
    const uint32_t d = lw_lower_address_value(l, &i->operands[TO], i->match);
    if (l->failed) return NULL;
    const uint32_t a = lw_lower_address_value(l, &i->operands[FROM], i->match);
    if (l->failed) return NULL;
    const uint32_t b = lw_lower_read(l, &i->operands[BYTES], LW_T_u32);
    uint32_t c = LW_NO_SLOT;
    to.window = window_of(i, TO, i->match->of_cluster);
    if (!l->failed && to.window != LW_WINDOW_global && names_object(l, i, OBJECT))
        c = lw_lower_address_value(l, &i->operands[OBJECT], i->match);
    if (l->failed) return NULL;
    lw_op *op = lw_lower_op(l, code);
    op->d = d, op->a = a, op->b = b, op->c = c;
    op->imm = lw_memory_pack(to) | (uint64_t)lw_memory_pack(from) << 32;
    return op;
}

void lw_lower_bulk_copy(lw_lower *l, const lw_instruction *i) {
    enum { CTAS = 4 };
    uint32_t mask = LW_NO_SLOT;
    if (i->match->mode.multicast) mask = lw_lower_read(l, &i->operands[CTAS], LW_T_u16);
    else if (i->match->mode.chosen) mask = lw_lower_read(l, &i->operands[i->operand_count - 1], LW_T_u16);
    if (l->failed) return;
    lw_op *op = bulk(l, i, LW_OP_bulk_copy, (lw_memory_form){0});
    if (op) op->e = mask;
}

static lw_memory_form element_form(const lw_instruction *i) {
    const lw_type type = i->match->type;
    return (lw_memory_form){.size = (uint32_t)__builtin_ctz(lw_types[type].bits / 8), .is_brain = type == LW_T_bf16};
}

void lw_lower_bulk_reduce(lw_lower *l, const lw_instruction *i) {
    lw_op *op = bulk(l, i, LW_OP_bulk_reduce, element_form(i));
    if (op) op->mode = lw_lower_mode(i);
}

/* ---- Stores ----------------------------------------------------------------------------------------------------- */

/* [to], value, [object]: each element by itself. */
static void store(lw_lower *l, const lw_instruction *i, uint16_t code, uint16_t mode) {
    enum { TO, VALUE, OBJECT };
    lw_memory_form form = element_form(i);
    const uint32_t count = i->match->elements, bytes = 1u << form.size;
    if (!names_object(l, i, OBJECT)) return;
    form.window = i->match->space == LW_SPACE_none ? LW_WINDOW_generic : LW_WINDOW_cluster;
    const uint32_t to = lw_lower_address_value(l, &i->operands[TO], i->match);
    if (l->failed) return;
    const uint32_t object = lw_lower_address_value(l, &i->operands[OBJECT], i->match);
    for (uint32_t k = 0; k < count && !l->failed; k++) {
        uint32_t value = lw_lower_vector_element(l, &i->operands[VALUE], k, count, i->match->type, false), at = to;
        if (l->failed) return;
        value = lw_lower_resize(l, value, LW_CLASS_64, false);
        if (k)
            at = lw_lower_lane(l, LW_LANE_add_b64, to, lw_lower_const(l, LW_CLASS_64, (uint64_t)k * bytes), LW_NO_SLOT);
        lw_op *op = lw_lower_op(l, code);
        op->a = at, op->b = value, op->c = object, op->mode = mode;
        op->e = k ? bytes : count * bytes;
        op->imm = lw_memory_pack(form);
    }
}

void lw_lower_st_async(lw_lower *l, const lw_instruction *i) { store(l, i, LW_OP_async_store, 0); }
void lw_lower_red_async(lw_lower *l, const lw_instruction *i) { store(l, i, LW_OP_async_reduce, lw_lower_mode(i)); }

void lw_lower_st_bulk(lw_lower *l, const lw_instruction *i) {
    const uint32_t bytes = lw_lower_read(l, &i->operands[1], LW_T_u64);
    if (l->failed) return;
    lw_op *op = at_object(l, i, LW_OP_fill, &i->operands[0]);
    if (op) op->b = bytes;
}
