/* row.c: what is known of every operation, made of isa/ops.def and isa/lane.def, and walks that follow from it. */
#include "middle/row.h"

/* ---- The table ------------------------------------------------------------------------------------------------ */

#define USE(field, what) .reads.field = 1, .holds.field = LW_HOLDS_##what
#define DEF(field, what) .writes.field = 1, .holds.field = LW_HOLDS_##what
#define OR(field, where) .known.field = LW_KNOWN_##where
#define IS(field, what)  .holds.field = LW_HOLDS_##what
#define LIST(which)      .list = LW_LIST_##which
#define NUMBERS          .numbers = 1
#define MODE(kind)       .mode = LW_MODE_##kind
#define MAY(flags)       .may = flags
#define GOES(where)      .goes = LW_GOES_##where
#define DOES(what)       .does = what
#define PARTS(when, by)  .parts = LW_PARTS_##when, .parts_by = by
#define COMPILED(how)    .compiled = LW_COMPILED_##how

/* Registers of the types of lane functions. */
enum {
#define LANE_TYPE(name, argument, element, slot, bits) LW_HOLDS_##name = LW_HOLDS_##slot,
#include "lane_types.def"
};
/* Comparisons may branch. */
#define MAY_RESULT(D) ((int)LW_HOLDS_##D == (int)LW_HOLDS_p ? LW_OP_BRANCHES : 0)
#define LANE_OF(id, D, ...) \
    [LW_ROW_lane + LW_LANE_##id] = {.name = #id, \
                                    DEF(d, D), \
                                    __VA_ARGS__, \
                                    IS(imm, number), \
                                    MAY(MAY_RESULT(D)), \
                                    DOES(LW_DOES_PURE | LW_DOES_IN_PLACE | LW_DOES_ALIKE), \
                                    COMPILED(body)},

const lw_op_row lw_op_rows[LW_ROW_COUNT] = {
#define OP(id, does, ...) [LW_OP_##id] = {.name = #id, .does_what = does, __VA_ARGS__},
#include "ops.def"
    [LW_OP_lop3] = {.name = "lop3",
                    .does_what = "d = bit a<<2|b<<1|c of the table in its code, bit by bit",
                    DEF(d, 32),
                    USE(a, 32),
                    USE(b, 32),
                    USE(c, 32),
                    DOES(LW_DOES_PURE | LW_DOES_IN_PLACE | LW_DOES_ALIKE),
                    COMPILED(body)},
    [LW_ROW_lane] = {.name = "none"},
#define LANE1(name, D, A)                 LANE_OF(name, D, USE(a, A))
#define LANE2(name, D, A, B, takes)       LANE_OF(name, D, USE(a, A), USE(b, B))
#define LANE3(name, D, A, B, C, takes)    LANE_OF(name, D, USE(a, A), USE(b, B), USE(c, C))
#define LANE4(name, D, A, B, C, E, takes) LANE_OF(name, D, USE(a, A), USE(b, B), USE(c, C), USE(e, E))
#define LW_LANE_INNER
#include "lane.def"
};

#define NUMBER_OF(name) \
    [LW_LANE_CODE(LW_LANE_##name, LW_RRR)... LW_LANE_CODE(LW_LANE_##name, LW_RII)] = LW_ROW_lane + LW_LANE_##name,
const uint16_t lw_row_numbers[LW_OP_count] = {
#define OP(name, ...) [LW_OP_##name] = LW_OP_##name,
#include "ops.def"
    [LW_OP_lop3... LW_OP_lane - 1] = LW_OP_lop3, NUMBER_OF(none)
#define LANE1(name, D, A)                 NUMBER_OF(name)
#define LANE2(name, D, A, B, takes)       NUMBER_OF(name)
#define LANE3(name, D, A, B, C, takes)    NUMBER_OF(name)
#define LANE4(name, D, A, B, C, E, takes) NUMBER_OF(name)
#define LW_LANE_INNER
#include "lane.def"
};

/* In the order of lw_mode_kind. */
static const char *const mode_words[LW_MODE_KINDS][LW_OP_MODES] = {
    [LW_MODE_none] = {""},
    [LW_MODE_reason] =
        {
#define REASON(name, words) #name,
#include "op_modes.def"
        },
    [LW_MODE_barrier] =
        {
#define BARRIER(name) #name,
#include "op_modes.def"
        },
    [LW_MODE_mbarrier] =
        {
#define MBARRIER(name) #name,
#include "op_modes.def"
        },
    [LW_MODE_atom] =
        {
#define ATOM(name) #name,
#include "op_modes.def"
        },
    [LW_MODE_shuffle] =
        {
#define SHUFFLE(name) #name,
#include "op_modes.def"
        },
    [LW_MODE_vote] =
        {
#define VOTE(name) #name,
#include "op_modes.def"
        },
    [LW_MODE_match] =
        {
#define MATCH(name) #name,
#include "op_modes.def"
        },
    [LW_MODE_redux] =
        {
#define REDUX(name) #name,
#include "op_modes.def"
        },
    [LW_MODE_trail] =
        {
#define TRAIL(name, word) word,
#include "op_modes.def"
        },
};

const char *lw_op_mode_word(const lw_op *op) {
    const char *word = mode_words[lw_row_of(op->code)->mode][op->mode];
    if (!word) lw_bug("operation code %u has no mode %u", op->code, op->mode);
    return word;
}

/* ---- Registers ------------------------------------------------------------------------------------------------- */

/* Of `count` registers, `stride` words apart, those behind the ones that were met. transfers: what they are part of, or
 * NULL. */
static lw_walk part_of(uint32_t *first, uint32_t stride, uint32_t count, const lw_transfer *transfers, uint32_t met) {
    lw_walk walk = {.first = met < count ? first + (size_t)met * stride : NULL, .stride = stride, .listed = met + 1};
    for (uint32_t k = 0; k < 32 && met + k < count; k++, walk.listed++)
        if (!transfers || !transfers[met + k].in_memory) walk.left |= 1u << k;
    return walk;
}

static lw_walk part_of_transfers(lw_transfer *transfers, uint32_t count, size_t field, uint32_t met) {
    uint32_t *first = transfers ? (uint32_t *)((char *)transfers + field) : NULL; /* none of them: no list */
    return part_of(first, sizeof *transfers / sizeof *first, count, transfers, met);
}

/* Of a vector its elements; anything else is a single register, behind which there is no more. */
static lw_walk part_of_data(const lw_code *code, const lw_op *op, uint32_t met) {
    const uint32_t count = 1u << lw_memory_unpack(op->c).vector;
    if (LW_LIKELY(count == 1)) return (lw_walk){.first = (uint32_t *)(uintptr_t)&op->d, .stride = 1, .left = 1};
    return part_of(code->slots + op->d, 1, count, NULL, met);
}

/* Halves: what becomes of two, then of two or four what they become. */
static lw_walk part_of_pairs(const lw_code *code, const lw_op *op, uint8_t access, uint32_t met) {
    uint32_t *first = code->slots + op->d;
    if (access == LW_WRITTEN) return part_of(first, 1, 2, NULL, met);
    return part_of(first + 2, 1, op->mode == LW_ATOM_cas ? 4 : 2, NULL, met);
}

static lw_walk part_of_texels(const lw_code *code, const lw_op *op, uint8_t access, uint32_t met) {
    const lw_texture_form form = lw_texture_unpack(op->c);
    uint32_t *first = code->slots + op->d;
    if (access == LW_WRITTEN) return part_of(first, 1, form.results, NULL, met);
    return part_of(first + form.results, 1, form.operands, NULL, met);
}

/* Fragments of a matrix that is written, then of those that are read. */
static lw_walk part_of_matrices(const lw_code *code, const lw_op *op, uint8_t access, uint32_t met) {
    uint32_t *first = code->slots + op->d;
    return access == LW_WRITTEN ? part_of(first, 1, op->a, NULL, met) : part_of(first + op->a, 1, op->b, NULL, met);
}

lw_walk lw_walk_list(const lw_code *code, const lw_op *op, uint8_t access, uint32_t met) {
    const lw_call *call = NULL;
    switch ((lw_list)lw_row_of(op->code)->list) {
    case LW_LIST_none: break;
    case LW_LIST_loaded:
    case LW_LIST_stored: return part_of_data(code, op, met);
    case LW_LIST_pairs: return part_of_pairs(code, op, access, met);
    case LW_LIST_texels: return part_of_texels(code, op, access, met);
    case LW_LIST_matrices: return part_of_matrices(code, op, access, met);
    case LW_LIST_call:
        call = &code->calls[op->imm];
        return access == LW_READ
                   ? part_of_transfers(call->arguments, call->argument_count, offsetof(lw_transfer, from), met)
                   : part_of_transfers(call->results, call->result_count, offsetof(lw_transfer, to), met);
    case LW_LIST_returns: return part_of_transfers(code->returns, code->return_count, offsetof(lw_transfer, from), met);
    }
    return (lw_walk){0};
}

uint32_t lw_class_bytes(lw_class class) {
    static const uint32_t bytes[] = {[LW_CLASS_pred] = 0, [LW_CLASS_16] = 2, [LW_CLASS_32] = 4, [LW_CLASS_64] = 8};
    return bytes[class];
}

static uint32_t bits_of_lane(lw_lane_id lane) {
    const uint32_t bits = lw_lane_types[lw_lanes[lane].result].slot;
    if (!bits) lw_bug("lane function %u gives nothing", lane);
    return bits;
}

static bool gives_word(const lw_op *op) {
    return lw_row_of(op->code)->mode == LW_MODE_vote ? op->mode == LW_VOTE_ballot : op->mode == LW_BARRIER_red_popc;
}

uint32_t lw_op_bits(const lw_op *op, uint32_t field) {
    const lw_op_row *row = lw_row_of(op->code);
    const lw_memory_form form = lw_memory_unpack(op->c);
    const bool has_register = lw_row_has(row, LW_READ, field) || lw_row_has(row, LW_WRITTEN, field);
    const bool is_list = field == 0 && (row->list == LW_LIST_loaded || row->list == LW_LIST_stored ||
                                        row->list == LW_LIST_pairs || row->list == LW_LIST_matrices);
    if (field == 0 && row->list == LW_LIST_texels) return 32;
    switch (is_list ? LW_HOLDS_data : (lw_holds)(&row->holds.d)[field]) {
    case LW_HOLDS_p: return 1;
    case LW_HOLDS_16: return 16;
    case LW_HOLDS_32:
    case LW_HOLDS_members: return 32;
    case LW_HOLDS_64: return 64;
    case LW_HOLDS_bytes: return op->c ? 8 * op->c : 1;
    case LW_HOLDS_count: return op->c < 2 ? 16 : 8 * op->c;
    case LW_HOLDS_address: return form.address == 1 ? 32 : 64;
    case LW_HOLDS_data: return 8u << form.slot;
    case LW_HOLDS_row: return form.size < 1 ? 16 : 8u << form.size;
    case LW_HOLDS_lane: return has_register ? bits_of_lane((lw_lane_id)(uint32_t)op->imm) : 0;
    case LW_HOLDS_ballot: return gives_word(op) ? 32 : 1;
    case LW_HOLDS_nothing:
    case LW_HOLDS_number:
    case LW_HOLDS_block:
    case LW_HOLDS_targets:
    case LW_HOLDS_call:
    case LW_HOLDS_constant:
    case LW_HOLDS_constants:
    case LW_HOLDS_form: return 0;
    }
    lw_bug("field %u of operation code %u", field, op->code);
}
