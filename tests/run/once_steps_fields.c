/* What the rows of isa/ops.def and isa/lane.def say is so. What a row names as read is all that an operation reads, and
 * what it names as written is all that it writes, each as wide as it says: every operation of every level is run twice,
 * from frames that differ in every bit but those that it may read, the values of executing lanes in the slots that it
 * names, and with anything in fields that it does not name. Both runs must do the same, and nothing that the row does
 * not say the operation may do: store, trap, note, wait, part lanes, go elsewhere. If it says that lanes do not see
 * each other, that a result may replace an operand, or that lanes get the same for the same, further runs look. An
 * operation without a case here fails. */
#include "steps.h"

#include "front/ptx/ptx.h"
#include "middle/matrix.h"
#include "middle/row.h"
#include "middle/wgmma.h"
#include "run/interp/async.h"

enum {
    FIELDS = 12,
    OBJECT = 2048 /* place of an mbarrier */,
    OPERATION = 3 /* block 1 follows it */,
    VARIANTS = 8,
    CALLEE_SLOT = 0,
    MATRICES = 4, /* among the constants */
    PRODUCTS = MATRICES + LW_MATRIX_CONSTANTS
};

typedef struct slot {
    uint32_t at;
    uint8_t bits; /* of an element; 1: a predicate */
} slot;

typedef struct trial {
    steps_cta *s;
    lw_gang *gang;
    const char *regs; /* what slots that are read hold: random but for what cases put there */
    lw_op op;
    slot reads[FIELDS], writes[FIELDS];
    uint32_t read_count, write_count, slots;
    uint32_t lists[16];            /* of operands that have several registers */
    uint32_t variant;              /* which of an operation's kinds */
    lw_mask mask, executing, came; /* came: to the barrier of the cluster */
    lw_code callee;
    lw_op callee_ops[2];
    lw_block callee_block;
    lw_code *codes[2];
    lw_transfer argument, result, parameter, returned;
    lw_call call;
    uint32_t targets[2];
    lw_matrix_form matrices;
    lw_wgmma_form products;
    bool whole; /* it needs whole warps */
} trial;

static char image[STEPS_SLOTS * LW_SLOT_64];

/* ---- What a case says ------------------------------------------------------------------------------------------ */

static uint32_t new_slot(trial *t) {
    assert_true(t->slots < STEPS_SLOTS);
    return SLOT(t->slots++);
}
static uint32_t reads(trial *t, uint8_t bits) {
    uint32_t at = new_slot(t);
    t->reads[t->read_count++] = (slot){at, bits};
    return at;
}
static uint32_t writes(trial *t, uint8_t bits) {
    uint32_t at = new_slot(t);
    t->writes[t->write_count++] = (slot){at, bits};
    return at;
}
/* The same number in all lanes. */
static void put(uint32_t at, uint8_t bits, uint64_t value) {
    for (uint32_t i = 0; i < LW_GANG_LANES; i++) memcpy(image + at + i * bits / 8, &value, bits / 8);
}
static void put_each(uint32_t at, uint8_t bits, uint64_t base, uint64_t step, uint32_t modulus) {
    for (uint32_t i = 0; i < LW_GANG_LANES; i++) {
        uint64_t value = base + i % modulus * step;
        memcpy(image + at + i * bits / 8, &value, bits / 8);
    }
}

typedef void make_case(trial *t);

static void nothing(trial *t) { (void)t; }
static void block_case(trial *t) { t->op.a = 0, t->op.imm = 1; }
static void branch_case(trial *t) { t->op.a = 1; }
static void branch_if_case(trial *t) {
    t->op.a = 0, t->op.b = reads(t, 1);
    t->op.flags = LW_OP_BACKWARD | (t->variant & 1 ? LW_OP_NEGATE : 0);
}
static void index_case(trial *t) {
    t->op.b = reads(t, 32), t->op.c = 2, t->op.imm = 0;
    put_each(t->op.b, 32, 0, 1, 2);
}
static void call_case(trial *t) {
    t->argument.from = reads(t, 32);
    t->op.imm = 0;
}
static void indirect_case(trial *t) {
    t->op.b = reads(t, 64);
    put(t->op.b, 64, LW_CODE_WINDOW + 16);
    call_case(t);
}
static void guard_case(trial *t) {
    t->op.b = reads(t, 1), t->op.imm = 1, t->op.flags = t->variant & 1 ? LW_OP_NEGATE : 0;
}
static void note_case(trial *t) { t->op.b = reads(t, 1), t->op.imm = t->variant % 4; }

/* Half of the variants name all lanes, by a constant or by a register; the others name any. */
static void membermask(trial *t) {
    if (t->variant & 1) t->op.flags |= LW_OP_IMM_A, t->op.imm = t->variant & 2 ? 0xffffffff : 0x5ff0f033;
    else t->op.a = reads(t, 32);
    if (!(t->variant & 3)) put(t->op.a, 32, 0xffffffff);
}
static void meet_case(trial *t) { t->op.b = 0, membermask(t); }
static void barrier_case(trial *t) {
    static const lw_barrier_kind kinds[] = {LW_BARRIER_sync, LW_BARRIER_red_popc, LW_BARRIER_red_and,
                                            LW_BARRIER_red_or};
    t->op.mode = kinds[t->variant % 4];
    t->op.a = reads(t, 32), put(t->op.a, 32, 3);
    if (t->variant & 4) t->op.b = reads(t, 32), put(t->op.b, 32, t->s->cta.threads);
    if (t->op.mode != LW_BARRIER_sync)
        t->op.e = reads(t, 1), t->op.d = writes(t, t->op.mode == LW_BARRIER_red_popc ? 32 : 1);
}

/* Lanes that did not come go on, those that did wait. */
static void cluster_wait_case(trial *t) { t->came = t->variant & 1 ? LW_MASK_ALL / 3 : 0; }

static void predicate_case(trial *t) {
    uint32_t *fields[] = {&t->op.a, &t->op.b, &t->op.c};
    for (uint32_t k = 0; k < 3; k++)
        if (t->variant >> k & 1) t->op.flags |= LW_OP_IMM_A << k;
        else *fields[k] = reads(t, 1);
    t->op.imm = steps_below(256), t->op.d = writes(t, 1);
}
static void pattern_case(trial *t) { t->op.c = t->variant & 1 ? 64 : 100, t->op.imm = 1, t->op.d = writes(t, 1); }
static void select_case(trial *t) {
    uint8_t bits = t->op.code == LW_OP_select_16 ? 16 : t->op.code == LW_OP_select_32 ? 32 : 64;
    t->op.a = reads(t, bits), t->op.b = reads(t, bits), t->op.c = reads(t, 1), t->op.d = writes(t, bits);
}
static void add4_case(trial *t) {
    t->op.a = reads(t, 32), t->op.b = reads(t, 32), t->op.c = reads(t, 32), t->op.imm = steps_random();
    if (t->variant & 1) t->op.e = reads(t, 32);
    t->op.d = writes(t, 32);
}
static void add_xor_rotl_case(trial *t) {
    t->op.a = reads(t, 32), t->op.b = reads(t, 32), t->op.c = reads(t, 32), t->op.imm = steps_below(32);
    t->op.d = writes(t, 32), t->op.e = writes(t, 32);
}
static void add_setp_case(trial *t) {
#define LANE(name, type, how) LW_LANE_setp_##name,
    static const lw_lane_id lanes[] = {LW_ADD_SETP(LANE)};
    t->op.a = reads(t, 32), t->op.b = reads(t, 32), t->op.imm = steps_random(),
    t->op.c = lanes[t->variant % LW_COUNT(lanes)];
    t->op.d = writes(t, 32), t->op.e = writes(t, 1);
}
static void special_case(trial *t) {
    static const lw_special some[] = {LW_SPECIAL_tid,    LW_SPECIAL_ntid,  LW_SPECIAL_laneid,
                                      LW_SPECIAL_warpid, LW_SPECIAL_ctaid, LW_SPECIAL_lanemask_le};
    t->op.a = some[t->variant % LW_COUNT(some)], t->op.b = 0, t->op.c = t->variant & 1 ? 8 : 4, t->op.e = 0;
    t->op.d = writes(t, (uint8_t)(8 * t->op.c));
}
static void local_base_case(trial *t) {
    t->op.c = t->variant & 1 ? 8 : 4, t->op.imm = 48, t->op.d = writes(t, (uint8_t)(8 * t->op.c));
}
static void mapa_case(trial *t) {
    const bool generic = t->variant & 2;
    t->op.c = t->variant & 1 ? 8 : 4, t->op.imm = generic ? LW_SHARED_WINDOW : 0;
    t->op.a = reads(t, (uint8_t)(8 * t->op.c)),
    t->op.d = writes(t, t->op.code == LW_OP_mapa ? (uint8_t)(8 * t->op.c) : 32);
    put_each(t->op.a, (uint8_t)(8 * t->op.c), generic ? LW_SHARED_WINDOW : 0, LW_CLUSTER_WINDOW / 8, 11);
    if (t->op.code == LW_OP_mapa) t->op.b = reads(t, 32), put_each(t->op.b, 32, 0, 1, 20);
}
static void isspacep_case(trial *t) {
    t->op.c = t->variant & 1 ? 8 : 4, t->op.b = LW_WHERE_shared, t->op.a = reads(t, (uint8_t)(8 * t->op.c));
    put_each(t->op.a, (uint8_t)(8 * t->op.c), LW_SHARED_WINDOW - 64, 32, 7);
    t->op.d = writes(t, 1);
}
static void beyond_case(trial *t) { t->op.imm = 8, t->op.d = writes(t, 1); }

static void vector_fields(trial *t, lw_memory_form form, bool store) {
    uint8_t bits = (uint8_t)(8 << form.slot);
    t->op.d = 0;
    if (!form.vector) t->op.d = store ? reads(t, bits) : writes(t, bits);
    for (uint32_t k = 0; form.vector && k < 1u << form.vector; k++)
        t->lists[k] = store ? reads(t, bits) : writes(t, bits);
}
static void memory_case(trial *t) {
    bool store = t->op.code == LW_OP_st;
    static const lw_window windows[] = {LW_WINDOW_global, LW_WINDOW_generic, LW_WINDOW_shared, LW_WINDOW_local};
    lw_memory_form form = {.window = windows[steps_below(4)],
                           .size = steps_below(4),
                           .vector = steps_below(4),
                           .is_volatile = t->variant & 1};
    form.slot = form.size ? form.size + steps_below(4 - form.size) : 1 + steps_below(3);
    form.is_signed = !store && steps_below(2);
    form.is_wide = form.size == 3 && form.vector && steps_below(2);
    if (form.size == 3 && form.vector == 3) form.vector = 2;
    form.address = form.window == LW_WINDOW_shared || form.window == LW_WINDOW_local ? 1 + steps_below(2) : 2;
    uint32_t bytes = 1u << (form.size + form.vector);
    t->op.c = lw_memory_pack(form), t->op.imm = 0, t->op.e = steps_below(20);
    t->op.a = reads(t, form.address == 2 ? 64 : 32);
    uint64_t base = form.window == LW_WINDOW_global    ? STEPS_FIRST
                    : form.window == LW_WINDOW_generic ? LW_SHARED_WINDOW
                                                       : 0;
    if (steps_below(2))
        put_each(t->op.a, form.address == 2 ? 64 : 32, base, bytes,
                 form.window == LW_WINDOW_local ? 16 : LW_GANG_LANES);
    else put_each(t->op.a, form.address == 2 ? 64 : 32, base, bytes, 1 + steps_below(7));
    if (store && !form.vector && t->variant & 2) t->op.flags = LW_OP_IMM_B, t->op.b = 1;
    else vector_fields(t, form, store);
}
static void row_case(trial *t) {
    bool store = t->op.code == LW_OP_st_row;
    lw_memory_form form = {.window = LW_WINDOW_global, .address = LW_ADDRESS_ROW, .size = steps_below(4)};
    form.slot = form.size ? form.size : 1;
    t->op.c = lw_memory_pack(form);
    t->op.a = reads(t, 64), t->op.b = reads(t, 64);
    put(t->op.a, 64, STEPS_FIRST), put(t->op.b, 64, steps_below(100));
    if (t->variant & 1) t->op.e = reads(t, 1);
    if (t->variant & 2 && !store) t->op.flags = LW_OP_ZERO;
    t->op.d = store ? reads(t, (uint8_t)(8 << form.slot)) : writes(t, (uint8_t)(8 << form.slot));
}
static void atom_case(trial *t) {
    static const lw_atom_op kinds[] = {LW_ATOM_add, LW_ATOM_min_s, LW_ATOM_cas,       LW_ATOM_exch,
                                       LW_ATOM_inc, LW_ATOM_or,    LW_ATOM_add_float, LW_ATOM_max_u};
    lw_atom_op kind = kinds[t->variant % LW_COUNT(kinds)];
    bool wide = kind == LW_ATOM_add_float || (kind != LW_ATOM_inc && steps_below(2));
    uint8_t bits = wide ? 64 : 32;
    lw_memory_form form = {.window = steps_below(2) ? LW_WINDOW_global : LW_WINDOW_shared,
                           .address = 2,
                           .size = wide ? 3 : 2,
                           .slot = wide ? 3 : 2};
    t->op.c = lw_memory_pack(form), t->op.mode = kind, t->op.imm = 0;
    t->op.a = reads(t, 64), t->op.b = reads(t, bits);
    put_each(t->op.a, 64, form.window == LW_WINDOW_global ? STEPS_FIRST : 0, 8, 1 + steps_below(9));
    if (kind == LW_ATOM_cas) t->op.e = reads(t, bits);
    if (steps_below(3)) t->op.d = writes(t, bits);
}
static void atom_wide_case(trial *t) {
    const bool is_cas = t->variant % 2;
    lw_memory_form form = {.window = steps_below(2) ? LW_WINDOW_global : LW_WINDOW_shared,
                           .address = 2,
                           .size = 3,
                           .vector = 1,
                           .slot = 3,
                           .is_wide = 1};
    t->op.c = lw_memory_pack(form), t->op.mode = is_cas ? LW_ATOM_cas : LW_ATOM_exch, t->op.imm = 0;
    t->op.a = reads(t, 64), t->op.d = 0;
    put_each(t->op.a, 64, form.window == LW_WINDOW_global ? STEPS_FIRST : 0, 16, 1 + steps_below(9));
    for (uint32_t k = 0; k < (is_cas ? 6u : 4u); k++) t->lists[k] = k < 2 ? writes(t, 64) : reads(t, 64);
}
static void shuffle_case(trial *t) {
    t->op.mode = t->variant % 4, t->op.flags = steps_below(2) ? LW_OP_UNSYNC : 0;
    t->op.b = reads(t, 32);
    if (t->variant & 4) t->op.flags |= LW_OP_IMM_A, t->op.imm = 5;
    else t->op.a = reads(t, 32), put_each(t->op.a, 32, 0, 1, 1 + steps_below(40));
    if (steps_below(2)) t->op.flags |= LW_OP_IMM_C, t->op.imm |= (uint64_t)0x181f << 32;
    else t->op.c = reads(t, 32), put(t->op.c, 32, steps_below(2) ? 0x1f : 0);
    t->op.d = writes(t, 32);
    if (steps_below(2)) t->op.e = writes(t, 1);
}
static void vote_case(trial *t) {
    static const lw_vote_kind kinds[] = {LW_VOTE_all, LW_VOTE_any, LW_VOTE_uni, LW_VOTE_ballot};
    t->op.b = reads(t, 1), t->op.mode = kinds[t->variant / 2 % 4];
    if (!(t->variant & 4)) membermask(t);
    t->op.d = writes(t, t->op.mode == LW_VOTE_ballot ? 32 : 1);
}
static void active_case(trial *t) { t->op.d = writes(t, 32); }
static void match_case(trial *t) {
    uint8_t bits = t->variant & 4 ? 64 : 32;
    bool all = t->variant & 2;
    t->op.b = reads(t, bits), t->op.mode = all ? LW_MATCH_all : LW_MATCH_any, t->op.c = bits / 8;
    put_each(t->op.b, bits, 1000, 1, 1 + steps_below(4));
    membermask(t);
    t->op.d = writes(t, 32);
    if (all && steps_below(2)) t->op.e = writes(t, 1);
}
static void redux_case(trial *t) {
    t->op.b = reads(t, 32), t->op.mode = t->variant % (LW_REDUX_max_f32 + 1), t->op.c = 0;
    membermask(t);
    t->op.d = writes(t, 32);
}
/* Of nobody no leader is elected: masks that leave all executing lanes out are undefined. */
static void elect_case(trial *t) {
    if (t->variant & 1) t->op.flags |= LW_OP_IMM_A, t->op.imm = 0xffffffff;
    else t->op.a = reads(t, 32), put(t->op.a, 32, 0xffffffff);
    t->op.d = writes(t, 32), t->op.e = writes(t, 1);
}
static void shift_check_case(trial *t) {
    static const uint8_t bytes[] = {1, 2, 4, 8};
    t->op.c = bytes[t->variant % 4];
    t->op.a = reads(t, t->op.c == 1 ? 16 : (uint8_t)(8 * t->op.c));
    if (t->variant & 4) t->op.b = reads(t, 1);
    if (steps_below(2)) put_each(t->op.a, t->op.c == 1 ? 16 : (uint8_t)(8 * t->op.c), 0, 1, 8 * t->op.c);
    t->op.imm = 8 * t->op.c | (uint64_t)2 << 32, t->op.flags = steps_below(2) ? LW_OP_TRAPS : 0;
}
static void vshift_case(trial *t) {
    static const struct {
        lw_lane_id lane;
        uint8_t bits, width;
    } kinds[] = {
        {LW_LANE_shr_s32, 32, 32},  {LW_LANE_shr_u32, 32, 32},  {LW_LANE_shl_b32, 32, 32},  {LW_LANE_vshr_s8, 16, 8},
        {LW_LANE_vshr_u8, 16, 8},   {LW_LANE_vshl_b8, 16, 8},   {LW_LANE_vshr_s16, 16, 16}, {LW_LANE_vshr_u16, 16, 16},
        {LW_LANE_vshl_b16, 16, 16}, {LW_LANE_vshr_s64, 64, 64}, {LW_LANE_vshr_u64, 64, 64}, {LW_LANE_vshl_b64, 64, 64},
    };
    uint32_t k = steps_below(LW_COUNT(kinds));
    uint8_t bits = kinds[k].bits;
    t->op.a = reads(t, bits), t->op.b = reads(t, bits);
    if (t->variant & 2) put_each(t->op.b, bits, 0, 1, kinds[k].width);
    if (t->variant & 1) t->op.e = reads(t, 1), t->op.c = reads(t, bits);
    t->op.imm = kinds[k].lane | (uint64_t)1 << 32, t->op.flags = t->variant & 4 ? LW_OP_TRAPS : 0;
    t->op.d = writes(t, bits);
}

/* Objects in shared memory, one for all lanes: enough is expected of it that no phase ends, and nothing is wrong. */
static void object_field(trial *t) {
    const lw_memory_form form = {.window = LW_WINDOW_shared, .address = 1 + (t->variant & 1), .size = 3, .slot = 3};
    t->op.c = lw_memory_pack(form), t->op.imm = OBJECT;
    t->op.a = reads(t, form.address == 2 ? 64 : 32);
    put(t->op.a, form.address == 2 ? 64 : 32, 0);
}
static void mbarrier_case(trial *t) {
    object_field(t);
    t->op.mode = t->variant % 8;
    if (t->op.mode != LW_MBARRIER_inval) t->op.b = reads(t, 32), put(t->op.b, 32, 3);
    if (t->op.mode < LW_MBARRIER_arrive) return;
    t->op.d = writes(t, 64);
    if (steps_below(2)) t->op.e = reads(t, 32), put(t->op.e, 32, 5);
}
static void question_case(trial *t) { object_field(t), t->op.b = reads(t, 64), t->op.d = writes(t, 1); }
static void arrive_case(trial *t) { object_field(t), t->op.b = t->variant >> 1 & 1; }
static void copy_case(trial *t) {
    t->op.c = 4u << t->variant % 3;
    t->op.a = reads(t, 64), put_each(t->op.a, 64, 0, t->op.c, 64);
    t->op.b = reads(t, 64), put_each(t->op.b, 64, STEPS_FIRST, t->op.c, 32);
    if (steps_below(2)) t->op.e = reads(t, 32), put_each(t->op.e, 32, 0, 1, t->op.c + 1);
}
static void chain_case(trial *t) {
    t->op.a = t->variant & 1;
    if (t->op.code == LW_OP_async_wait) t->op.imm = t->variant >> 1;
}
static void bulk_case(trial *t) {
    const bool to_global = t->variant & 1;
    const lw_memory_form shared = {.window = LW_WINDOW_shared, .size = 2},
                         global = {.window = LW_WINDOW_global, .size = 2};
    t->op.imm = lw_memory_pack(to_global ? global : shared) | (uint64_t)lw_memory_pack(shared) << 32;
    t->op.d = reads(t, 64), put_each(t->op.d, 64, to_global ? STEPS_FIRST : 1024, 32, 8);
    t->op.a = reads(t, 64), put_each(t->op.a, 64, 0, 16, 8);
    t->op.b = reads(t, 32), put(t->op.b, 32, 32);
    if (!to_global) t->op.c = reads(t, 64), put(t->op.c, 64, OBJECT);
    if (t->op.code == LW_OP_bulk_reduce) t->op.mode = LW_ATOM_add;
    else if (t->variant & 2) t->op.e = reads(t, 16), put(t->op.e, 16, 1);
}
static void cancel_case(trial *t) {
    const lw_memory_form form = {.window = LW_WINDOW_shared};
    t->op.imm = lw_memory_pack(form), t->op.b = t->variant & 1;
    t->op.a = reads(t, 64), put_each(t->op.a, 64, 1024, 16, 8);
    t->op.c = reads(t, 64), put(t->op.c, 64, OBJECT);
}
/* No map is there, and all that it needs to be one is what is being replaced. */
static void tensor_case(trial *t) {
    enum { LISTED = LW_TENSOR_FIRST + 3 };
    const bool loads = t->op.code == LW_OP_tensor_load;
    t->op.imm = lw_tensor_pack((lw_tensor_form){.rank = 3, .coordinates = 3});
    t->op.c = lw_memory_pack((lw_memory_form){.window = LW_WINDOW_shared, .slot = LW_CLASS_64});
    t->op.d = 0, t->op.a = 0, t->op.b = LISTED;
    for (uint32_t k = 0; k < LISTED; k++) t->lists[k] = reads(t, 64);
    put_each(t->lists[LW_TENSOR_MAP], 64, STEPS_FIRST, 128, 1 + t->variant);
    if (loads && t->variant & 1) t->op.e = reads(t, 16);
    if (t->op.code == LW_OP_tensor_reduce) t->op.mode = LW_ATOM_add;
}
/* No address stands for memory of several devices. */
static void multimem_case(trial *t) {
    const bool loads = t->op.code == LW_OP_multimem_load;
    t->op.c = lw_memory_pack((lw_memory_form){.size = 3, .vector = t->variant & 1, .slot = LW_CLASS_64});
    t->op.a = reads(t, 64), put_each(t->op.a, 64, STEPS_FIRST, 16, 1 + t->variant);
    if (loads) t->op.d = writes(t, 64), t->op.e = writes(t, 64);
    else t->op.b = reads(t, 64), t->op.e = reads(t, 64);
    if (t->op.code != LW_OP_multimem_store) t->op.mode = LW_ATOM_add;
}
static void replace_case(trial *t) {
    object_field(t);
    t->op.imm = 0, t->op.b = reads(t, 64), t->op.e = t->variant;
}
static void publish_case(trial *t) {
    t->op.d = reads(t, 64), put_each(t->op.d, 64, STEPS_FIRST, 128, 1 + t->variant);
    t->op.a = reads(t, 64), put_each(t->op.a, 64, 0, 64, 1 + t->variant);
}
static void wgmma_case(trial *t) {
    enum { WRITTEN = 2, DESCRIPTOR = 2 };
    lw_wgmma_form form = {.n = 8, .k = 16, .d = LW_ELEMENT_f16, .a = LW_ELEMENT_f16, .b = LW_ELEMENT_f16};
    form.in_registers = t->variant & 1;
    const uint32_t a = form.in_registers ? LW_WGMMA_REGISTERS : DESCRIPTOR, read = a + DESCRIPTOR + WRITTEN;
    t->op.d = 0, t->op.a = WRITTEN, t->op.b = read, t->op.imm = PRODUCTS, t->op.e = reads(t, 1);
    t->op.c = lw_memory_pack((lw_memory_form){.slot = LW_CLASS_32});
    for (uint32_t k = 0; k < WRITTEN + read; k++) t->lists[k] = k < WRITTEN ? writes(t, 32) : reads(t, 32);
    for (uint32_t k = 0; k < a + DESCRIPTOR; k++)
        if (k >= a || !form.in_registers) put(t->lists[WRITTEN + k], 32, 0);
    t->products = form;
}
static void value_case(trial *t) {
    const lw_memory_form form = {.size = 2 + (t->variant & 1)};
    t->op.imm = lw_memory_pack(form), t->op.e = 1u << form.size;
    t->op.a = reads(t, 64), put_each(t->op.a, 64, 0, 8, 16);
    t->op.b = reads(t, 64), t->op.c = reads(t, 64), put(t->op.c, 64, OBJECT);
    if (t->op.code == LW_OP_async_reduce) t->op.mode = LW_ATOM_add;
}
/* Bytes: m8n8k16. Of each operand as many registers as it has, each element in a place of its own. */
static void mma_case(trial *t) {
    static const uint8_t registers[] = {2, 1, 1, 2};
    static const lw_matrix_operand is[] = {LW_MATRIX_C, LW_MATRIX_A, LW_MATRIX_B, LW_MATRIX_C};
    const lw_matrix_shape shape = {8, 8, 16};
    const lw_fragment_place strides[] = {{8, 1, 0}, {16, 1, 0}, {1, 16, 0}, {8, 1, 0}};
    uint32_t count = 0;
    t->whole = true;
    t->matrices = (lw_matrix_form){.m = 8, .n = 8, .k = 16, .sets = 1, .kind = LW_FRAGMENT_MMA};
    for (uint32_t k = LW_MMA_D; k <= LW_MMA_C; k++) {
        const uint8_t element = is[k] == LW_MATRIX_C ? LW_ELEMENT_s32 : LW_ELEMENT_s8, bits = lw_elements[element].bits;
        const uint32_t row = lw_fragment_find(LW_FRAGMENT_MMA, shape, is[k], bits, LW_LAYOUT_row);
        t->matrices.of[k].element = element, t->matrices.of[k].bits = bits, t->matrices.of[k].registers = registers[k];
        t->matrices.of[k].map = lw_fragment_map_of(&lw_fragments[row], bits, strides[k]);
        for (uint32_t r = 0; r < registers[k]; r++) t->lists[count++] = k ? reads(t, 32) : writes(t, 32);
    }
    t->op.d = 0, t->op.a = registers[0], t->op.b = count - registers[0], t->op.imm = MATRICES;
    t->op.c = lw_memory_pack((lw_memory_form){.slot = LW_CLASS_32});
}
/* Of what there is to select in any: the first ones. */
static void selectors_case(trial *t) {
    t->whole = true;
    t->op.a = reads(t, 32), put(t->op.a, 32, 0), t->op.c = 1u << t->variant % 3;
}
static void matrix_move_case(trial *t) {
    const lw_memory_form form = {.window = t->variant & 1 ? LW_WINDOW_shared : LW_WINDOW_generic,
                                 .address = 2,
                                 .size = 2,
                                 .vector = t->variant / 2 % 3,
                                 .slot = LW_CLASS_32};
    t->whole = true;
    t->op.c = lw_memory_pack(form), t->op.imm = 0, t->op.e = t->variant & 1;
    t->op.a = reads(t, 64);
    put_each(t->op.a, 64, form.window == LW_WINDOW_generic ? LW_SHARED_WINDOW : 0, 16, 64);
    vector_fields(t, form, t->op.code == LW_OP_stmatrix);
}
static void turn_case(trial *t) { t->whole = true, t->op.a = reads(t, 32), t->op.d = writes(t, 32); }
static void fill_case(trial *t) { object_field(t), t->op.b = reads(t, 64), put(t->op.b, 64, 16); }

/* No format and no heap: what is there to be printed or taken is not the row's affair. */
static void runtime_case(trial *t) {
    const bool asserts = t->op.code == LW_OP_assertion;
    t->op.a = reads(t, 64);
    put(t->op.a, 64, t->op.code == LW_OP_heap_give ? t->variant & 1 : 0);
    if (asserts || t->op.code == LW_OP_print) t->op.b = reads(t, 64);
    if (asserts) t->op.c = reads(t, 32), t->op.e = reads(t, 64);
    if (t->op.code == LW_OP_print) t->op.d = writes(t, 32);
    if (t->op.code == LW_OP_heap_take) t->op.d = writes(t, 64);
}

/* Handles as steps.h has them, in some variants one that is none; texels of a row of four. */
static void texture_case(trial *t) {
    const bool looks = t->op.code == LW_OP_texture, stores = t->op.code != LW_OP_surface_load && !looks,
               reduces = t->op.code == LW_OP_surface_reduce;
    const lw_texture_form form = {.results = looks    ? 4
                                             : stores ? 0
                                                      : 1,
                                  .operands = stores ? 3 : 2,
                                  .dimensions = 2,
                                  .is_integer = 1,
                                  .result = LW_RESULT_u32,
                                  .size = 2,
                                  .outside = t->variant & 1 ? LW_OUTSIDE_clamp : LW_OUTSIDE_zero};
    t->op.c = lw_texture_pack(form), t->op.d = 0;
    t->op.mode = reduces ? LW_ATOM_max_u : 0;
    t->op.a = reads(t, 64);
    put(t->op.a, 64, t->variant % 8 == 7 ? 77 : looks ? LW_TEXTURE_TEXTURE : LW_TEXTURE_SURFACE);
    for (uint32_t k = 0; k < form.results; k++) t->lists[k] = writes(t, 32);
    for (uint32_t k = 0; k < form.operands; k++) t->lists[form.results + k] = reads(t, 32);
    put_each(t->lists[form.results], 32, 0, looks ? 1 : 4, 4);
    put_each(t->lists[form.results + 1], 32, 1, 0, 1);
    if (form.operands > 2 && !reduces) put(t->lists[2], 32, 5); /* several lanes store there */
    if (!looks) return;
    if (t->variant & 2) t->op.b = reads(t, 64), put(t->op.b, 64, LW_TEXTURE_SAMPLER);
    if (t->variant & 4) t->op.e = writes(t, 1);
}
static void texture_ask_case(trial *t) {
    t->op.a = reads(t, 64), put(t->op.a, 64, 1 + t->variant % 4);
    if (t->op.code == LW_OP_texture_is) {
        t->op.d = writes(t, 1), t->op.imm = 1 + t->variant / 4 % 3;
        return;
    }
    t->op.d = writes(t, 32), t->op.imm = t->variant / 4 % (LW_ASK_memory_layout + 1);
    if (t->variant & 1) t->op.b = reads(t, 32), put(t->op.b, 32, 0);
}

/* Lanes have taken between 0 and 28 bytes, and take up to 31 more. */
static void alloca_case(trial *t) {
    const uint8_t bits = t->variant & 1 ? 64 : 32;
    t->op.a = reads(t, bits), put_each(t->op.a, bits, 0, 1, 32);
    t->op.b = reads(t, 32), put_each(t->op.b, 32, 0, 4, 8);
    t->op.c = bits / 8, t->op.imm = 8u << (t->variant & 3);
    t->op.d = writes(t, bits), t->op.e = writes(t, 32);
}

static make_case *const cases[LW_OP_lop3] = {
    [LW_OP_block] = block_case,
    [LW_OP_bra] = branch_case,
    [LW_OP_bra_if] = branch_if_case,
    [LW_OP_brx] = index_case,
    [LW_OP_call] = call_case,
    [LW_OP_call_indirect] = indirect_case,
    [LW_OP_ret] = nothing,
    [LW_OP_exit] = nothing,
    [LW_OP_guard] = guard_case,
    [LW_OP_unguard] = nothing,
    [LW_OP_trap] = nothing,
    [LW_OP_yield] = nothing,
    [LW_OP_warp_sync] = meet_case,
    [LW_OP_barrier] = barrier_case,
    [LW_OP_fence] = nothing,
    [LW_OP_cluster_arrive] = nothing,
    [LW_OP_cluster_wait] = cluster_wait_case,
    [LW_OP_shared_base] = local_base_case,
    [LW_OP_mapa] = mapa_case,
    [LW_OP_ctarank] = mapa_case,
    [LW_OP_predicate] = predicate_case,
    [LW_OP_pattern] = pattern_case,
    [LW_OP_select_16] = select_case,
    [LW_OP_select_32] = select_case,
    [LW_OP_select_64] = select_case,
    [LW_OP_add4] = add4_case,
    [LW_OP_add_xor_rotl] = add_xor_rotl_case,
    [LW_OP_add_setp] = add_setp_case,
    [LW_OP_special] = special_case,
    [LW_OP_local_base] = local_base_case,
    [LW_OP_ld] = memory_case,
    [LW_OP_st] = memory_case,
    [LW_OP_ld_row] = row_case,
    [LW_OP_st_row] = row_case,
    [LW_OP_beyond] = beyond_case,
    [LW_OP_atom] = atom_case,
    [LW_OP_atom_wide] = atom_wide_case,
    [LW_OP_whole] = nothing,
    [LW_OP_mma] = mma_case,
    [LW_OP_selectors] = selectors_case,
    [LW_OP_ldmatrix] = matrix_move_case,
    [LW_OP_stmatrix] = matrix_move_case,
    [LW_OP_movmatrix] = turn_case,
    [LW_OP_isspacep] = isspacep_case,
    [LW_OP_shuffle] = shuffle_case,
    [LW_OP_vote] = vote_case,
    [LW_OP_activemask] = active_case,
    [LW_OP_match] = match_case,
    [LW_OP_redux] = redux_case,
    [LW_OP_elect] = elect_case,
    [LW_OP_shift_check] = shift_check_case,
    [LW_OP_vshift] = vshift_case,
    [LW_OP_note] = note_case,
    [LW_OP_alloca] = alloca_case,
    [LW_OP_mbarrier] = mbarrier_case,
    [LW_OP_mbarrier_test] = question_case,
    [LW_OP_mbarrier_try] = question_case,
    [LW_OP_async_copy] = copy_case,
    [LW_OP_async_commit] = chain_case,
    [LW_OP_async_wait] = chain_case,
    [LW_OP_async_arrive] = arrive_case,
    [LW_OP_bulk_copy] = bulk_case,
    [LW_OP_bulk_reduce] = bulk_case,
    [LW_OP_multimem_load] = multimem_case,
    [LW_OP_multimem_store] = multimem_case,
    [LW_OP_multimem_reduce] = multimem_case,
    [LW_OP_tensor_load] = tensor_case,
    [LW_OP_tensor_store] = tensor_case,
    [LW_OP_tensor_reduce] = tensor_case,
    [LW_OP_tensor_replace] = replace_case,
    [LW_OP_tensor_publish] = publish_case,
    [LW_OP_wgmma] = wgmma_case,
    [LW_OP_async_store] = value_case,
    [LW_OP_async_reduce] = value_case,
    [LW_OP_try_cancel] = cancel_case,
    [LW_OP_fill] = fill_case,
    [LW_OP_texture] = texture_case,
    [LW_OP_surface_load] = texture_case,
    [LW_OP_surface_store] = texture_case,
    [LW_OP_surface_reduce] = texture_case,
    [LW_OP_texture_ask] = texture_ask_case,
    [LW_OP_texture_is] = texture_ask_case,
    [LW_OP_print] = runtime_case,
    [LW_OP_heap_take] = runtime_case,
    [LW_OP_heap_give] = runtime_case,
    [LW_OP_assertion] = runtime_case,
};

static void lop3_case(trial *t) {
    t->op.a = reads(t, 32), t->op.b = reads(t, 32), t->op.c = reads(t, 32), t->op.d = writes(t, 32);
}

static uint8_t bits_of(uint8_t type) { return lw_lane_types[type].slot; }
/* Operands that the variant does not take from `imm`. */
static void lane_case(trial *t) {
    const lw_lane_row *row = &lw_lanes[lw_code_lane(t->op.code)];
    lw_variant variant = (lw_variant)((t->op.code - LW_OP_lane) % LW_VARIANTS);
    uint32_t *fields[] = {&t->op.a, &t->op.b, &t->op.c, &t->op.e}, last = row->arity - 1u;
    for (uint32_t k = 0; k < row->arity; k++) {
        bool constant = (variant == LW_RRI && k == last) || (variant == LW_RIR && k == (row->arity == 2 ? 0u : 1u)) ||
                        (variant == LW_RII && k >= last - 1);
        if (!constant) *fields[k] = reads(t, bits_of(row->args[k]));
    }
    t->op.imm = row->how ? steps_below(2) : steps_random();
    t->op.d = writes(t, bits_of(row->result));
}

/* ---- Two runs -------------------------------------------------------------------------------------------------- */

typedef struct outcome {
    char before[STEPS_SLOTS * LW_SLOT_64], regs[STEPS_SLOTS * LW_SLOT_64];
    char shared[STEPS_SHARED], global[STEPS_RANGES][STEPS_GLOBAL], local[STEPS_LOCAL * LW_GANG_LANES];
    ptrdiff_t next;
    lw_mask mask, guard_mask, exited, pending[2], owned, came, owed;
    uint32_t frames, live, waits, parameter[LW_GANG_LANES];
    lw_gang_state state;
    lw_trap_kind trap;
    lw_mask waiting;
    lw_barrier barrier;
    uint64_t notes[4], counted[4];
} outcome;

/* Bits of the frame: those of some lanes in some slots. */
static void add_bits(uint8_t *bits, const slot *slots, uint32_t count, lw_mask lanes) {
    for (uint32_t k = 0; k < count; k++) {
        uint32_t bytes = slots[k].bits / 8;
        if (slots[k].bits == 1)
            for (uint32_t i = 0; i < LW_SLOT_PRED; i++) bits[slots[k].at + i] |= (uint8_t)(lanes >> 8 * i);
        else LW_FOR_LANES(lane, lanes) memset(bits + slots[k].at + lane * bytes, 0xff, bytes);
    }
}

/* The image where executing lanes may read, or anything: the same noise, or all of it turned over. */
static void poison(const trial *t, lw_mask readable, uint64_t noise, bool turned, char *regs) {
    uint8_t keep[sizeof image] = {0};
    add_bits(keep, t->reads, t->read_count, readable);
    if (lw_op_keeps(&t->op)) add_bits(keep, t->writes, t->write_count, readable);
    for (uint32_t at = 0; at < sizeof image; at++) {
        uint8_t value = (uint8_t)(noise * (at + 1) * 0x9e3779b97f4a7c15u >> 56);
        if (turned) value = (uint8_t)~value;
        regs[at] = (char)(((uint8_t)image[at] & keep[at]) | (value & ~keep[at]));
    }
}

static void look(const trial *t, const lw_op *next, outcome *o) {
    const lw_gang *gang = t->gang;
    const lw_frame *entry = gang->frames;
    o->frames = 0;
    for (const lw_frame *f = gang->frames; f; f = f->next) o->frames++, entry = f;
    o->next = !next                                               ? -1
              : next >= t->s->ops && next < t->s->ops + STEPS_OPS ? next - t->s->ops
                                                                  : 1000 + (next - t->callee_ops);
    memcpy(o->shared, t->s->shared, sizeof o->shared), memcpy(o->global, t->s->global, sizeof o->global);
    memcpy(o->local, gang->local, sizeof o->local);
    o->came = gang->cluster_came, o->owed = gang->cluster_owed;
    o->mask = gang->mask, o->guard_mask = gang->guard_mask, o->exited = gang->exited, o->state = gang->state;
    o->live = t->s->cta.live, o->trap = t->s->cta.trap.kind, o->waits = gang->waits.count;
    if (o->waits) o->waiting = gang->waits.at[0].lanes;
    o->barrier = t->s->cta.barriers[3];
    for (uint32_t i = 0; i < 4; i++)
        o->notes[i] = atomic_load(&t->s->notes[i]), o->counted[i] = gang->note_counts[i].lanes;
    if (!entry) return;
    memcpy(o->regs, entry->regs, sizeof o->regs);
    memcpy(o->pending, entry->pending, sizeof o->pending);
    o->owned = entry->owned;
    if (o->frames > 1) LW_FOR_LANES(lane, t->executing)
    o->parameter[lane] = ((const uint32_t *)(gang->frames->regs + CALLEE_SLOT))[lane];
}

/* A CTA in which the operation can be executed, whatever it is. */
static void set_up(trial *t, const uint32_t shape[2]) {
    steps_cta *s = t->s = steps_new(shape[0], shape[1]);
    t->gang = s->cta.gangs;
    memset(t->gang->local, 0x3c, STEPS_LOCAL * LW_GANG_LANES);
    for (uint32_t i = 0; i < sizeof s->global; i++) ((char *)s->global)[i] = (char)(i * 37);
    for (uint32_t i = 0; i < sizeof s->shared; i++) s->shared[i] = (char)(i * 73);
    lw_mbarrier_put(s->shared + OBJECT, &(lw_mbarrier){.pending = 1000, .expected = 1000});
    memset(s->params, 0, sizeof s->params), s->params[8] = 50;
    for (uint32_t i = 0; i < 4; i++) s->constants[i] = 0x0123456789abcdefu * (i + 1);
    t->gang->guard_mask = t->gang->exist;
    s->code.call_count = 1, s->code.calls = &t->call, s->code.targets = t->targets;
    t->targets[0] = 0, t->targets[1] = 1;
    t->argument.size = t->result.size = 4, t->parameter.size = t->returned.size = 4,
    t->parameter.to = t->returned.from = CALLEE_SLOT;
    t->call = (lw_call){.function = 1, .return_block = 1, .argument_count = 1, .arguments = &t->argument};
    t->callee_ops[0] = (lw_op){.step = lw_step_block},
    t->callee_ops[1] = (lw_op){.step = steps_stop, .code = LW_OP_ret};
    t->callee = (lw_code){.name = "f",
                          .index = 1,
                          .op_count = 2,
                          .block_count = 1,
                          .ops = t->callee_ops,
                          .places = s->places,
                          .blocks = &t->callee_block,
                          .frame_bytes = LW_SLOT_64,
                          .param_count = 1,
                          .params = &t->parameter};
    t->codes[0] = &s->code, t->codes[1] = &t->callee;
    s->program.code_count = 2, s->program.codes = t->codes;
}

/* Of `readable` lanes the operation finds the image. `start`: what there is before it. */
static void run_once(trial *t, const lw_level *level, lw_mask readable, uint64_t noise, bool turned, outcome *start,
                     outcome *o) {
    memset(o, 0, sizeof *o), memset(start, 0, sizeof *start);
    memcpy(t->s->slots, t->lists, sizeof t->lists);
    poison(t, readable, noise, turned, o->before);
    memcpy(t->gang->frame->regs, o->before, sizeof o->before);
    t->s->ops[OPERATION] = t->op;
    t->s->program.multiply = level->multiply;
    memcpy(t->s->constants + MATRICES, &t->matrices, sizeof t->matrices);
    memcpy(t->s->constants + PRODUCTS, &t->products, sizeof t->products);
    _Static_assert(PRODUCTS + LW_WGMMA_CONSTANTS <= LW_COUNT(t->s->constants), "there is room for both");
    t->gang->cluster_came = t->gang->cluster_owed = t->came & t->gang->exist;
    t->s->cta.own_cluster.arrived = lw_mask_count(t->gang->cluster_came);
    steps_set_mask(t->gang, t->mask);
    t->gang->mask = t->executing; /* a guard may have narrowed it */
    t->gang->full = t->executing == t->gang->frame->owned;
    t->gang->whole = LW_OP_WHOLE | LW_OP_LONE; /* as its block says */
    look(t, NULL, start);
    look(t, level->steps[t->op.code](t->gang, &t->s->ops[OPERATION]), o);
}

static void fail_at(const trial *t, const char *what) {
    char name[64];
    fail_msg("%s, variant %u, lanes %016llx%016llx: %s", lw_opcode_name(t->op.code, name), t->variant,
             (unsigned long long)(t->executing >> 64), (unsigned long long)t->executing, what);
}

static void compare(const trial *t, const outcome *a, const outcome *b) {
    if (a->next != b->next) fail_at(t, "goes on elsewhere");
    if (memcmp(a->shared, b->shared, sizeof *a - offsetof(outcome, shared))) fail_at(t, "leaves another state");
    uint8_t written[sizeof image] = {0}, results[sizeof image] = {0};
    add_bits(written, t->writes, t->write_count, LW_MASK_ALL);
    const lw_mask behind = a->waits ? t->executing & a->mask : t->executing; /* who waits gets them later */
    if (a->next != -1) add_bits(results, t->writes, t->write_count, behind);
    for (uint32_t at = 0; a->frames && at < sizeof a->regs; at++) {
        uint8_t differs = (uint8_t)(a->regs[at] ^ b->regs[at]),
                changed = (uint8_t)((a->regs[at] ^ a->before[at]) | (b->regs[at] ^ b->before[at]));
        if (differs & results[at]) fail_at(t, "reads what it does not name");
        if (changed & (uint8_t)~written[at]) fail_at(t, "writes what it does not name");
    }
}

/* ---- What the row says ----------------------------------------------------------------------------------------- */

/* The fields that the row names are those of the case, and so are their sizes. */
static void expect_registers(const trial *t, const lw_code *code, uint8_t access, const slot *slots, uint32_t count) {
    uint32_t named = 0;
    LW_EACH_(code, &t->op, at, access) {
        const bool in_field = at >= &t->op.d && at < &t->op.d + LW_FIELDS,
                   in_vector = at >= t->lists && at < t->lists + LW_COUNT(t->lists);
        const uint32_t bits = lw_op_bits(&t->op, in_field ? (uint32_t)(at - &t->op.d) : 0);
        bool found = false;
        for (uint32_t i = 0; i < count; i++)
            found |= slots[i].at == *at && (slots[i].bits == bits || !(in_field || in_vector));
        if (!found)
            fail_at(t, access == LW_READ ? "reads other fields than its case, or of other sizes"
                                         : "writes other fields than its case, or of other sizes");
        named++;
    }
    if (named != count) fail_at(t, "has other fields than its case");
}

/* Flags that the row lets an operation have; those of known values are where it says how these are kept. */
static uint16_t flags_of(const lw_op_row *row) {
    const uint8_t known[] = {row->known.a, row->known.b, row->known.c};
    uint16_t flags = row->may;
    if (row->does & LW_DOES_PURE) flags |= LW_OP_WHOLE | LW_OP_LONE;
    for (uint32_t k = 0; k < 3; k++)
        if (known[k] != LW_KNOWN_nowhere) flags |= (uint16_t)(LW_OP_IMM_A << k);
    if (row->known.d == LW_KNOWN_listed) flags |= LW_OP_IMM_B;
    return flags;
}

static void expect_row(const trial *t) {
    const lw_code code = {.slots = (uint32_t *)t->lists, .calls = (lw_call *)&t->call};
    const lw_op_row *row = lw_row_of(t->op.code);
    expect_registers(t, &code, LW_READ, t->reads, t->read_count);
    expect_registers(t, &code, LW_WRITTEN, t->writes, t->write_count);
    if (t->op.flags & ~flags_of(row)) fail_at(t, "has flags that its row does not name");
    if (t->op.mode && row->mode == LW_MODE_none) fail_at(t, "has a mode");
    const bool says = row->mode == LW_MODE_trail ? t->op.mode != LW_TRAIL_none : row->mode != LW_MODE_none;
    if (!*lw_op_mode_word(&t->op) == says) fail_at(t, "has a mode without a word, or a word without a mode");
}

/* Anything where the row names nothing. */
static void fill_unnamed(trial *t) {
    const lw_op_row *row = lw_row_of(t->op.code);
    const bool listed = row->list == LW_LIST_loaded || row->list == LW_LIST_stored || row->list == LW_LIST_pairs ||
                        row->list == LW_LIST_texels || row->list == LW_LIST_matrices;
    for (uint32_t k = 0; k < LW_FIELDS; k++)
        if (!lw_row_has(row, LW_READ, k) && !lw_row_has(row, LW_WRITTEN, k) && !(&row->holds.d)[k] &&
            !(k == 0 && listed))
            (&t->op.d)[k] = SLOT(steps_below(STEPS_SLOTS));
    if (!row->holds.imm && !row->known.a && !row->known.b && !row->known.c) t->op.imm = steps_random();
}

static bool is_at(ptrdiff_t next, uint32_t block) {
    return next == (block ? OPERATION + 1 : 0) || next == (block ? OPERATION + 2 : 1);
}

static bool goes_where_it_may(const trial *t, const outcome *o) {
    const lw_op_row *row = lw_row_of(t->op.code);
    if (o->next < 0) return row->goes >= LW_GOES_to_table || o->state == LW_GANG_trapped || o->state == LW_GANG_waiting;
    switch ((lw_goes)row->goes) {
    case LW_GOES_on:
        return is_at(o->next, 1) || (t->op.code == LW_OP_guard && o->next == OPERATION + 1 + (ptrdiff_t)t->op.imm);
    case LW_GOES_to_a: return is_at(o->next, t->op.a);
    case LW_GOES_either: return is_at(o->next, t->op.a) || is_at(o->next, 1);
    case LW_GOES_to_table: return is_at(o->next, 0) || is_at(o->next, 1);
    case LW_GOES_back: return o->next >= 1000;
    case LW_GOES_nowhere: return false;
    }
    return false;
}

/* It did nothing that the row does not say. */
static void expect_deeds(const trial *t, const outcome *start, const outcome *o) {
    const lw_op_row *row = lw_row_of(t->op.code);
    const bool counted = memcmp(start->notes, o->notes, sizeof o->notes) ||
                         memcmp(start->counted, o->counted, sizeof o->counted);
    const bool stored = memcmp(start->shared, o->shared, sizeof o->shared) ||
                        memcmp(start->global, o->global, sizeof o->global) ||
                        memcmp(start->local, o->local, sizeof o->local);
    if (!goes_where_it_may(t, o)) fail_at(t, "goes where its row does not say");
    if (stored && !(row->does & LW_DOES_STORES)) fail_at(t, "stores");
    if (counted && !(row->does & LW_DOES_NOTES)) fail_at(t, "counts");
    if (o->state == LW_GANG_trapped && !(row->does & LW_DOES_MAY_TRAP)) fail_at(t, "traps");
    if (o->waits && !(row->does & LW_DOES_WAITS)) fail_at(t, "waits");
    if (o->next >= 0 && o->mask != start->mask && row->parts == LW_PARTS_never) fail_at(t, "parts lanes");
    if (!(row->does & LW_DOES_PURE)) return;
    const size_t behind = sizeof *o - offsetof(outcome, mask);
    if (memcmp((const char *)start + offsetof(outcome, mask), (const char *)o + offsetof(outcome, mask), behind))
        fail_at(t, "is not pure");
}

/* The results of some lanes are the same in both. */
static void expect_results(const trial *t, const outcome *a, const outcome *b, lw_mask lanes, const char *what) {
    uint8_t results[sizeof image] = {0};
    add_bits(results, t->writes, t->write_count, lanes);
    for (uint32_t at = 0; at < sizeof a->regs; at++)
        if ((a->regs[at] ^ b->regs[at]) & results[at]) fail_at(t, what);
}

/* What ends a block is branched around. */
static bool may_be_guarded(uint16_t code) {
    switch (code) {
    case LW_OP_whole:
    case LW_OP_selectors:
    case LW_OP_mma:
    case LW_OP_ldmatrix:
    case LW_OP_stmatrix:
    case LW_OP_movmatrix:
    case LW_OP_shuffle:
    case LW_OP_vote:
    case LW_OP_match:
    case LW_OP_redux:
    case LW_OP_elect:
    case LW_OP_mbarrier_try: return false;
    default: return code >= LW_OP_predicate;
    }
}

/* The same operation again, in a CTA of its own. */
static void run_again(const trial *t, const lw_level *level, const uint32_t shape[2], lw_mask readable, uint64_t noise,
                      outcome *start, outcome *o) {
    trial again = *t;
    set_up(&again, shape);
    if (readable == t->executing) fill_unnamed(&again);
    run_once(&again, level, readable, noise, true, start, o);
    steps_free(again.s);
}

/* Where lanes do not see each other, what others have does not matter, and whether they execute. */
static void try_alone(const trial *t, const lw_level *level, const uint32_t shape[2], uint64_t noise,
                      const outcome *first) {
    static outcome start, o;
    const lw_mask some = steps_mask(t->executing);
    run_again(t, level, shape, some, noise, &start, &o);
    expect_results(t, first, &o, some, "lets lanes see each other");
    trial fewer = *t;
    fewer.mask = fewer.executing = some;
    run_again(&fewer, level, shape, some, noise, &start, &o);
    expect_results(t, first, &o, some, "does something else where fewer lanes execute");
}

/* With its result in the place of an operand of its size. */
static void try_in_place(const trial *t, const lw_level *level, const uint32_t shape[2], uint64_t noise,
                         const outcome *first) {
    static outcome start, o;
    for (uint32_t k = 1; k < LW_FIELDS; k++) {
        trial moved = *t;
        if (!lw_row_has(lw_row_of(t->op.code), LW_READ, k) || (&t->op.d)[k] == LW_NO_SLOT ||
            lw_op_bits(&t->op, k) != lw_op_bits(&t->op, 0))
            continue;
        const uint32_t to = moved.op.d = (&t->op.d)[k], from = t->op.d;
        run_again(&moved, level, shape, t->executing, noise, &start, &o);
        memcpy(o.regs + from, o.regs + to, LW_SLOT_64); /* to where the other one is */
        expect_results(t, first, &o, t->executing, "does not work in place");
    }
}

static uint64_t element(const char *regs, const slot *slot, uint32_t lane) {
    const uint32_t bytes = slot->bits / 8;
    uint64_t value = 0;
    if (slot->bits == 1) return (uint8_t)regs[slot->at + lane / 8] >> lane % 8 & 1;
    memcpy(&value, regs + slot->at + lane * bytes, bytes);
    return value;
}

/* Where all lanes have what one of them has, they get the same. The image stays so. */
static void try_alike(const trial *t, const lw_level *level, const uint32_t shape[2], uint64_t noise) {
    static outcome start, o;
    const uint32_t one = lw_mask_first(t->executing);
    for (uint32_t k = 0; k < t->read_count; k++) {
        const slot *read = &t->reads[k];
        const uint64_t value = element(image, read, one);
        if (read->bits == 1) memset(image + read->at, value ? 0xff : 0, LW_SLOT_PRED);
        else put(read->at, read->bits, value);
    }
    run_again(t, level, shape, t->executing, noise, &start, &o);
    for (uint32_t k = 0; k < t->write_count; k++) LW_FOR_LANES(lane, t->executing)
    if (element(o.regs, &t->writes[k], lane) != element(o.regs, &t->writes[k], one))
        fail_at(t, "gives lanes different results for the same operands");
}

/* Those of its warps that are all there; there is one. */
static lw_mask whole_warps(lw_mask lanes, lw_mask exist) {
    lw_mask whole = 0;
    for (uint32_t warp = 0; warp < LW_GANG_LANES / LW_WARP_LANES; warp++)
        if (lw_mask_warp(lanes, warp) == UINT32_MAX) whole |= lw_mask_of_warp(UINT32_MAX, warp);
    return whole ? whole : whole_warps(exist, exist);
}

static void try_operation(const lw_level *level, uint16_t code, make_case *make, uint32_t variant) {
    static const uint32_t shapes[][2] = {{128, 128}, {96, 96}, {45, 64}, {32, 32}};
    static outcome start, first, second;
    trial t = {
        .op = {.d = LW_NO_SLOT, .a = LW_NO_SLOT, .b = LW_NO_SLOT, .c = LW_NO_SLOT, .e = LW_NO_SLOT, .code = code},
        .variant = variant};
    const uint32_t *shape = shapes[steps_below(LW_COUNT(shapes))];
    steps_fill_random(image, sizeof image);
    set_up(&t, shape);
    make(&t);
    expect_row(&t);
    lw_mask exist = t.gang->exist, inside;
    t.mask = variant % 3 ? steps_mask(exist) : exist;
    if (t.whole) t.mask = whole_warps(t.mask, exist);
    inside = t.mask & steps_mask(exist);
    t.executing = inside && may_be_guarded(code) && steps_below(3) == 0 ? inside : t.mask;
    uint64_t noise = steps_random() | 1;
    run_once(&t, level, t.executing, noise, false, &start, &first);
    expect_deeds(&t, &start, &first);
    steps_free(t.s);
    run_again(&t, level, shape, t.executing, noise, &start, &second);
    compare(&t, &first, &second);
    if (lw_op_does(&t.op, LW_DOES_PURE)) try_alone(&t, level, shape, noise, &first);
    if (lw_op_does(&t.op, LW_DOES_IN_PLACE)) try_in_place(&t, level, shape, noise, &first);
    if (lw_op_does(&t.op, LW_DOES_ALIKE)) try_alike(&t, level, shape, noise);
}

/* ---- All of them ----------------------------------------------------------------------------------------------- */

/* Whether no other order of a, b and c has a smaller table: then linking leaves it as it is, and it has a step. */
static bool is_least(unsigned lut) {
    static const unsigned char masks[] = {0xf0, 0xcc, 0xaa};
    for (int a = 0; a < 3; a++)
        for (int b = 0; b < 3; b++) {
            if (a == b) continue;
            unsigned other = 0;
            for (unsigned bit = 0; bit < 8; bit++) {
                const unsigned index = (masks[a] >> bit & 1) << 2 | (masks[b] >> bit & 1) << 1 |
                                       (masks[3 - a - b] >> bit & 1);
                other |= (lut >> index & 1) << bit;
            }
            if (other < lut) return false;
        }
    return true;
}

static void test_every_operation(void **state) {
    (void)state;
    for (const lw_level *const *level = lw_levels; *level; level++) {
        if (!lw_level_has(*level)) continue;
        for (uint16_t code = 0; code < LW_OP_lop3; code++) {
            char name[64];
            if (!(*level)->steps[code] != (code == LW_OP_dead))
                fail_msg("'%s': a step or none?", lw_opcode_name(code, name));
            if (code == LW_OP_dead) continue;
            if (!cases[code]) fail_msg("'%s' has no case in this test", lw_opcode_name(code, name));
            for (uint32_t round = 0; round < 4 * VARIANTS; round++)
                try_operation(*level, code, cases[code], round % VARIANTS);
        }
        for (uint32_t code = LW_OP_lop3; code < LW_OP_lane; code++) {
            if (!(*level)->steps[code] != !is_least(code - LW_OP_lop3))
                fail_msg("lop3 0x%02x: a step or none?", code - LW_OP_lop3);
            if ((*level)->steps[code]) try_operation(*level, (uint16_t)code, lop3_case, code);
        }
    }
}

static void test_every_lane_function(void **state) {
    (void)state;
    for (const lw_level *const *level = lw_levels; *level; level++) {
        if (!lw_level_has(*level)) continue;
        for (uint32_t lane = 1; lane < LW_LANE_count; lane++) {
            uint32_t variants = 0;
            char name[64];
            for (uint32_t v = 0; v < LW_VARIANTS; v++) {
                uint16_t code = LW_LANE_CODE(lane, v);
                if (!(lw_lanes[lane].variants >> v & 1) != !(*level)->steps[code])
                    fail_msg("'%s': row and table differ", lw_opcode_name(code, name));
                if (!(*level)->steps[code]) continue;
                variants++;
                for (uint32_t round = 0; round < 2; round++) try_operation(*level, code, lane_case, round);
            }
            if (!variants) fail_msg("no step for '%s'", lw_lane_name((lw_lane_id)lane));
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_operation),
                                       cmocka_unit_test(test_every_lane_function)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
