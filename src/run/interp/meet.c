/* meet.c: the rendezvous of a warp: lanes before instructions that name each other (manual
 * sections 9.7.9.6, 9.7.13.2, 9.7.13.9 to 9.7.13.14).
 *
 * Lanes meet by what they execute, instruction, qualifiers and membermask, wherever in the text they stand, in whatever
 * call. Those that find everybody whom they name beside them, at the same operation of the same frame, pass: the
 * exchange behind warp_sync works on their slots as they are. All others wait in the gang's lw_meeting, to which they
 * bring their operands. When the last one of a group has come there, the exchange takes place between the slots of the
 * meeting, by the very same step, and each lane gets its results where it stands. */
#include "middle/row.h"
#include "run/interp/interp.h"

#include <stdlib.h>

/* Slots of a meeting: of the membermasks; of values of those that a stranded group may read; of each field of an
 * exchange, one for every size of its elements, since lanes wait there side by side whose exchanges differ. */
enum {
    MEMBERS = 0,
    TABLE = MEMBERS + LW_SLOT_32,
    FIELDS = TABLE + LW_SLOT_32,
    OF_32 = LW_SLOT_64,
    OF_1 = OF_32 + LW_SLOT_32,
    EACH_FIELD = (OF_1 + LW_SLOT_PRED + 63) / 64 * 64, /* lines of the cache */
    VALUE = FIELDS + 2 * EACH_FIELD + OF_32,           /* b of a shuffle */
    MEETING_BYTES = FIELDS + LW_FIELDS * EACH_FIELD,
};

struct lw_meeting {
    lw_mask waiting;
    const lw_op *at[LW_GANG_LANES];  /* the warp_sync where each of them stands, … */
    lw_frame *frames[LW_GANG_LANES]; /* … in which frame, … */
    uint64_t since[LW_GANG_LANES];   /* … and when it came: arrivals are counted */
    uint64_t arrivals;
    /* What lanes brought that came together with waiting ones and passed: by the first of those in the warp, of the
     * lanes of its warp. */
    struct {
        uint64_t since;
        uint32_t lanes, values[LW_WARP_LANES];
    } passed[LW_GANG_LANES];
    lw_op exchange[2]; /* the one between its slots, and what ends it */
    _Alignas(64) char slots[(MEETING_BYTES + 63) / 64 * 64];
};

/* ---- What lanes execute ------------------------------------------------------------------------------------- */

/* What a warp_sync stands in front of; NULL: it is a bar.warp.sync. */
static const lw_op *exchange_behind(const lw_op *sync) { return sync[1].code == LW_OP_block ? NULL : sync + 1; }

/* The block where lanes go on. */
static uint32_t block_behind(const lw_op *sync) { return sync[1].code == LW_OP_block ? sync[1].a : sync[2].a; }

/* Instruction and qualifiers. */
static uint64_t kind_of(const lw_op *sync) {
    const lw_op *exchange = exchange_behind(sync);
    if (!exchange) return LW_OP_warp_sync;
    const lw_op_row *row = lw_row_of(exchange->code);
    if (!(row->does & LW_DOES_EXCHANGES)) lw_bug("operation %u behind a warp_sync is no exchange", exchange->code);
    return exchange->code | (uint64_t)exchange->mode << 16 |
           (uint64_t)(row->holds.c == LW_HOLDS_number ? exchange->c : 0) << 32;
}

/* The slot of one of its fields. */
static uint32_t slot_of(const lw_op *exchange, uint32_t field) {
    const uint32_t bits = lw_op_bits(exchange, field), at = FIELDS + field * EACH_FIELD;
    if ((&lw_row_of(exchange->code)->holds.d)[field] == LW_HOLDS_members) return MEMBERS;
    return bits == 64 ? at : at + (bits == 32 ? OF_32 : OF_1);
}

/* ---- Lanes that stand at one place -------------------------------------------------------------------------- */

/* The executing lanes of a warp that give the same membermask as one of them. */
static uint32_t alike(const uint32_t *members, uint32_t here, uint32_t lane) {
    uint32_t same = 0;
    for (uint32_t i = 0; i < LW_WARP_LANES; i++) same |= (uint32_t)(members[i] == members[lane]) << i;
    return same & here;
}

/* The executing lanes of a warp that find every lane that they name beside them, with the same membermask, or gone for
 * good. */
static uint32_t complete_lanes(const lw_gang *gang, const lw_op *op, uint32_t warp) {
    uint32_t here = lw_mask_warp(gang->mask, warp), live = lw_mask_warp(lw_live_lanes(gang), warp), complete = 0;
    if (op->flags & LW_OP_IMM_A) return (uint32_t)op->imm & live & ~here ? 0 : here;
    const uint32_t *members = LW_SLOT(gang, uint32_t, op->a) + LW_WARP_LANES * warp;
    for (uint32_t left = here; left;) {
        uint32_t lane = (uint32_t)__builtin_ctz(left), group = alike(members, left, lane);
        if (!(members[lane] & live & ~group)) complete |= group;
        left &= ~group;
    }
    return complete;
}

/* Lanes whose own membermask leaves them out. */
static lw_mask find_strangers(const lw_gang *gang, const lw_op *op) {
    lw_mask strangers = 0;
    if (op->flags & LW_OP_IMM_A) {
        for (uint32_t warp = 0; warp < LW_GANG_LANES / LW_WARP_LANES; warp++)
            strangers |= lw_mask_of_warp(~(uint32_t)op->imm, warp);
        return gang->mask & strangers;
    }
    const uint32_t *members = LW_SLOT(gang, uint32_t, op->a);
    LW_FOR_LANES(lane, gang->mask)
    if (!(members[lane] >> lane % LW_WARP_LANES & 1)) strangers |= LW_MASK_BIT(lane);
    return strangers;
}

static const lw_op *pass(lw_gang *gang, const lw_op *op) {
    lw_mask strangers = find_strangers(gang, op);
    return strangers && lw_gang_undefined(gang, op, LW_D_note_not_member, strangers) ? NULL : lw_go_on(gang, op);
}

/* ---- Lanes that wait ---------------------------------------------------------------------------------------- */

static void bring_words(const lw_gang *gang, uint32_t to, uint32_t from, bool constant, uint64_t value, lw_mask lanes) {
    uint32_t *d = (uint32_t *)(gang->meeting->slots + to);
    const uint32_t *a = constant ? NULL : LW_SLOT(gang, uint32_t, from);
    LW_FOR_LANES(lane, lanes) d[lane] = a ? a[lane] : (uint32_t)value;
}

static void bring_wide(const lw_gang *gang, uint32_t to, uint32_t from, lw_mask lanes) {
    uint64_t *d = (uint64_t *)(gang->meeting->slots + to);
    LW_FOR_LANES(lane, lanes) d[lane] = LW_SLOT(gang, uint64_t, from)[lane];
}

static void bring_predicate(const lw_gang *gang, uint32_t to, uint32_t from, bool negated, lw_mask lanes) {
    lw_mask *d = (lw_mask *)(gang->meeting->slots + to), p = lw_get_mask(gang, from);
    *d = (*d & ~lanes) | ((negated ? ~p : p) & lanes);
}

/* What is in a field that the exchange reads, the membermask apart. */
static void bring_operand(const lw_gang *gang, const lw_op *exchange, uint32_t field, lw_mask lanes) {
    static const uint16_t known[LW_FIELDS] = {0, LW_OP_IMM_A, LW_OP_IMM_B, LW_OP_IMM_C, 0};
    const lw_op_row *row = lw_row_of(exchange->code);
    const uint32_t from = (&exchange->d)[field], to = slot_of(exchange, field);
    const uint64_t value = (&row->known.d)[field] == LW_KNOWN_high ? exchange->imm >> 32 : exchange->imm;
    switch (lw_op_bits(exchange, field)) {
    case 1: bring_predicate(gang, to, from, exchange->flags & LW_OP_NEGATE, lanes); break;
    case 32: bring_words(gang, to, from, exchange->flags & known[field], value, lanes); break;
    case 64: bring_wide(gang, to, from, lanes); break;
    default: lw_bug("an exchange of %u bits", lw_op_bits(exchange, field));
    }
}

static void bring_operands(const lw_gang *gang, const lw_op *exchange, lw_mask lanes) {
    const lw_op_row *row = lw_row_of(exchange->code);
    for (uint32_t k = 0; k < LW_FIELDS; k++)
        if (lw_row_has(row, LW_READ, k) && (&row->holds.d)[k] != LW_HOLDS_members)
            bring_operand(gang, exchange, k, lanes);
}

/* Who goes on leaves its value of a shuffle for those that wait: should nobody else come for them, they read it. */
static void leave_values(lw_gang *gang, const lw_op *exchange, lw_mask waiting) {
    lw_meeting *meeting = gang->meeting;
    for (uint32_t warp = 0; exchange && exchange->code == LW_OP_shuffle && warp < LW_GANG_LANES / LW_WARP_LANES;
         warp++) {
        const uint32_t stay = lw_mask_warp(waiting, warp), pass = lw_mask_warp(gang->mask & ~waiting, warp);
        if (!stay || !pass) continue;
        const uint32_t first = LW_WARP_LANES * warp + (uint32_t)__builtin_ctz(stay);
        meeting->passed[first].since = meeting->arrivals;
        meeting->passed[first].lanes = pass;
        memcpy(meeting->passed[first].values, LW_SLOT(gang, uint32_t, exchange->b) + LW_WARP_LANES * warp,
               sizeof meeting->passed[first].values);
    }
}

/* Lanes that execute `op` come to the meeting. False: no memory. */
static bool come(lw_gang *gang, const lw_op *op, lw_mask lanes) {
    if (!gang->meeting) {
        if (!(gang->meeting = aligned_alloc(64, sizeof *gang->meeting))) return false;
        memset(gang->meeting, 0, sizeof *gang->meeting);
    }
    lw_meeting *meeting = gang->meeting;
    meeting->waiting |= lanes;
    meeting->arrivals++;
    LW_FOR_LANES(lane, lanes) {
        meeting->at[lane] = op;
        meeting->frames[lane] = gang->frame;
        meeting->since[lane] = meeting->arrivals;
    }
    bring_words(gang, MEMBERS, op->a, op->flags & LW_OP_IMM_A, op->imm, lanes);
    if (exchange_behind(op)) bring_operands(gang, exchange_behind(op), lanes);
    leave_values(gang, exchange_behind(op), lanes);
    return true;
}

/* Those that wait for the same as `lane`, in its warp. */
static uint32_t find_group(const lw_gang *gang, uint32_t lane) {
    const lw_meeting *meeting = gang->meeting;
    const uint32_t warp = lane / LW_WARP_LANES;
    const uint64_t kind = kind_of(meeting->at[lane]);
    const uint32_t *members = (const uint32_t *)(meeting->slots + MEMBERS);
    uint32_t group = 0;
    for (uint32_t left = lw_mask_warp(meeting->waiting, warp); left; left &= left - 1) {
        uint32_t bit = (uint32_t)__builtin_ctz(left), other = warp * LW_WARP_LANES + bit;
        if (members[other] == members[lane] && kind_of(meeting->at[other]) == kind) group |= 1u << bit;
    }
    return group;
}

/* ---- The exchange ------------------------------------------------------------------------------------------- */

/* Counts for each lane at the operation where it stands. False: the launch is strict and has ended. */
static bool tell(lw_gang *gang, lw_diag_id id, lw_mask lanes) {
    const lw_meeting *meeting = gang->meeting;
    for (lw_mask left = lanes, same; left; left &= ~same) {
        const uint32_t first = lw_mask_first(left);
        same = 0;
        LW_FOR_LANES(lane, left) if (meeting->at[lane] == meeting->at[first]) same |= LW_MASK_BIT(lane);
        gang->frame = meeting->frames[first];
        if (lw_gang_undefined(gang, meeting->at[first], id, same)) return false;
    }
    return true;
}

bool lw_meeting_is_at(const lw_gang *gang, const lw_op *op) { return gang->meeting && op == gang->meeting->exchange; }

bool lw_meeting_undefined(lw_gang *gang, lw_diag_id id, lw_mask lanes) {
    lw_frame *frame = gang->frame;
    if (!tell(gang, id, lanes)) return true;
    gang->frame = frame;
    return false;
}

/* The operation between the slots of the meeting that stands for those of the lanes. It gives all results, whoever
 * wants them. */
static lw_op *make_exchange(lw_meeting *meeting, const lw_op *like) {
    const lw_op_row *row = lw_row_of(like->code);
    lw_op *op = meeting->exchange;
    op[0] = *like;
    op[1] = (lw_op){.code = LW_OP_fence};
    op->flags &= (uint16_t) ~(LW_OP_IMM_A | LW_OP_IMM_B | LW_OP_IMM_C | LW_OP_NEGATE);
    for (uint32_t k = 0; k < LW_FIELDS; k++)
        if (lw_row_has(row, LW_READ, k) || lw_row_has(row, LW_WRITTEN, k)) (&op->d)[k] = slot_of(like, k);
    return op;
}

static void hand_field(const lw_meeting *meeting, const lw_op *exchange, uint32_t field, uint32_t lane) {
    const char *from = meeting->slots + slot_of(exchange, field);
    const uint32_t at = (&exchange->d)[field];
    if (at == LW_NO_SLOT) return;
    char *to = meeting->frames[lane]->regs + at;
    const uint32_t bits = lw_op_bits(exchange, field);
    if (bits == 1) {
        lw_mask *slot = (lw_mask *)to;
        *slot = (*slot & ~LW_MASK_BIT(lane)) | (*(const lw_mask *)from & LW_MASK_BIT(lane));
    } else if (bits == 32) ((uint32_t *)to)[lane] = ((const uint32_t *)from)[lane];
    else lw_bug("an exchange gives %u bits", bits);
}

/* What the exchange gave, to each lane's own slots. */
static void hand_out(const lw_meeting *meeting, lw_mask lanes) {
    LW_FOR_LANES(lane, lanes) {
        const lw_op *exchange = exchange_behind(meeting->at[lane]);
        const lw_op_row *row = lw_row_of(exchange->code);
        for (uint32_t k = 0; k < LW_FIELDS; k++)
            if (lw_row_has(row, LW_WRITTEN, k)) hand_field(meeting, exchange, k, lane);
    }
}

/* The values that lanes of one arrival read if nobody else comes: each other's, and those of the lanes that came with
 * them and passed. Returns whose. */
static uint32_t make_table(lw_meeting *meeting, uint32_t warp, uint32_t group, uint64_t since) {
    const uint32_t first = LW_WARP_LANES * warp, *values = (const uint32_t *)(meeting->slots + VALUE) + first;
    uint32_t *table = (uint32_t *)(meeting->slots + TABLE) + first, passed = 0;
    for (uint32_t i = 0; i < LW_WARP_LANES; i++) {
        const bool left = meeting->passed[first + i].since == since;
        for (uint32_t k = 0; left && k < LW_WARP_LANES; k++) table[k] = meeting->passed[first + i].values[k];
        if (left) passed = meeting->passed[first + i].lanes;
    }
    for (uint32_t left = group; left; left &= left - 1) table[__builtin_ctz(left)] = values[__builtin_ctz(left)];
    return passed;
}

/* A group goes on, each lane behind its own instruction. False: trapped. */
static bool let_go(lw_gang *gang, uint32_t warp, uint32_t group, bool stranded) {
    lw_meeting *meeting = gang->meeting;
    const uint32_t *members = (const uint32_t *)(meeting->slots + MEMBERS),
                   first = LW_WARP_LANES * warp + (uint32_t)__builtin_ctz(group);
    const lw_op *exchange = exchange_behind(meeting->at[first]);
    const lw_mask lanes = lw_mask_of_warp(group, warp);
    lw_mask strangers = 0;
    LW_FOR_LANES(lane, lanes) if (!(members[lane] >> lane % LW_WARP_LANES & 1)) strangers |= LW_MASK_BIT(lane);
    if (strangers && !tell(gang, LW_D_note_not_member, strangers)) return false;
    if (exchange) {
        lw_op *op = make_exchange(meeting, exchange);
        gang->frame = meeting->frames[first];
        gang->regs = meeting->slots;
        lw_gang_set_mask(gang, lanes);
        if (stranded && op->code == LW_OP_shuffle) {
            gang->beside = lw_mask_of_warp(make_table(meeting, warp, group, meeting->since[first]), warp);
            op->b = TABLE;
        }
        const bool goes_on = gang->cta->program->steps[op->code](gang, op) != NULL;
        gang->beside = 0;
        if (!goes_on) return false;
        hand_out(meeting, lanes);
    }
    LW_FOR_LANES(lane, lanes) lw_gang_pend(meeting->frames[lane], block_behind(meeting->at[lane]), LW_MASK_BIT(lane));
    meeting->waiting &= ~lanes;
    if (gang->state == LW_GANG_waiting) gang->state = LW_GANG_ready;
    return true;
}

/* Those of the waiting lanes of whom nobody is missing any more go on. False: trapped. */
static bool look_again(lw_gang *gang, lw_mask lanes) {
    const uint32_t *members = (const uint32_t *)(gang->meeting->slots + MEMBERS);
    for (lw_mask left = lanes & gang->meeting->waiting; left;) {
        const uint32_t lane = lw_mask_first(left), warp = lane / LW_WARP_LANES, group = find_group(gang, lane);
        const bool complete = !(members[lane] & lw_mask_warp(lw_live_lanes(gang), warp) & ~group);
        left &= ~lw_mask_of_warp(group, warp);
        if (complete && !let_go(gang, warp, group, false)) return false;
    }
    return true;
}

/* ---- The step ----------------------------------------------------------------------------------------------- */

/* Not everybody passes. The others wait, and may be the last to come. */
__attribute__((noinline)) static const lw_op *meet(lw_gang *gang, const lw_op *op, lw_mask complete) {
    lw_frame *frame = gang->frame;
    const lw_mask rest = gang->mask & ~complete;
    if (!come(gang, op, rest))
        return lw_gang_trap(gang, op, LW_TRAP_memory, lw_mask_first(rest), (lw_trap_record){.access = "warp"});
    if (!look_again(gang, rest)) return NULL;
    gang->frame = frame;
    gang->regs = frame->regs;
    if (!complete) return lw_gang_select(gang);
    lw_gang_set_mask(gang, complete);
    const lw_op *next = pass(gang, op);
    if (!next || next != exchange_behind(op)) return next;
    gang->beside = rest;
    next = gang->cta->program->steps[next->code](gang, next);
    gang->beside = 0;
    return next;
}

const lw_op *lw_step_warp_sync(lw_gang *gang, const lw_op *op) {
    if (LW_LIKELY(lw_names_everyone(op) && gang->mask == lw_live_lanes(gang))) return lw_go_on(gang, op);
    lw_mask complete = 0;
    for (uint32_t warp = gang->begin / LW_WARP_LANES; warp < gang->lanes / LW_WARP_LANES; warp++)
        complete |= lw_mask_of_warp(complete_lanes(gang, op, warp), warp);
    return LW_LIKELY(complete == gang->mask) ? pass(gang, op) : meet(gang, op, complete);
}

/* ---- Who never comes ---------------------------------------------------------------------------------------- */

bool lw_gang_meet_without(lw_gang *gang, lw_mask gone) {
    if (!gang->meeting || !gang->meeting->waiting) return true;
    lw_mask warps = 0;
    for (uint32_t warp = 0; warp < LW_GANG_LANES / LW_WARP_LANES; warp++)
        if (lw_mask_warp(gone, warp)) warps |= lw_mask_of_warp(UINT32_MAX, warp);
    lw_frame *frame = gang->frame;
    if (!look_again(gang, warps)) return false;
    gang->frame = frame;
    gang->regs = frame->regs;
    return true;
}

/* Who goes first where none can come any more: those that wait longest, since others may have come meanwhile to where
 * all will meet; with them all of their warp who came to the same place together, whatever their membermasks. What they
 * do is undefined in the manual; an H200 lets these exchange, too. */
static uint32_t find_stranded(const lw_gang *gang, uint32_t *warp) {
    const lw_meeting *meeting = gang->meeting;
    uint32_t longest = lw_mask_first(meeting->waiting);
    LW_FOR_LANES(lane, meeting->waiting) if (meeting->since[lane] < meeting->since[longest]) longest = lane;
    *warp = longest / LW_WARP_LANES;
    uint32_t group = find_group(gang, longest);
    for (uint32_t left = lw_mask_warp(meeting->waiting, *warp); left; left &= left - 1) {
        const uint32_t bit = (uint32_t)__builtin_ctz(left);
        if (meeting->since[*warp * LW_WARP_LANES + bit] == meeting->since[longest]) group |= 1u << bit;
    }
    return group;
}

bool lw_gang_meet_anyway(lw_gang *gang) {
    if (!gang->meeting || !gang->meeting->waiting) return false;
    lw_frame *frame = gang->frame;
    uint32_t warp, group = find_stranded(gang, &warp);
    if (!tell(gang, LW_D_note_never_arrives, lw_mask_of_warp(group, warp)) || !let_go(gang, warp, group, true))
        return true; /* trapped: it moved, too */
    gang->frame = frame;
    gang->regs = frame->regs;
    return true;
}

void lw_meeting_reset(lw_gang *gang) {
    if (gang->meeting) gang->meeting->waiting = 0;
}

lw_mask lw_meeting_lanes(const lw_gang *gang) { return gang->meeting->waiting; }
lw_place lw_meeting_place(const lw_gang *gang, uint32_t lane) {
    return lw_place_of(gang->meeting->frames[lane]->code, gang->meeting->at[lane]);
}
bool lw_meeting_is_over(const lw_gang *gang) { return !gang->meeting->waiting; }

void lw_meeting_end(lw_gang *gang) {
    free(gang->meeting);
    gang->meeting = NULL;
}
