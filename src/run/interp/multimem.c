/* multimem.c: addresses that stand for memory of several devices (manual section 9.7.9.14): run/team.h.
 *
 * What they have is combined in the order of the devices, in the arithmetic of the type itself, or of the wider one
 * that the instruction asks for. */
#include "run/interp/address.h"
#include "run/team.h"

#include <lanewise/lane.h>

enum { MOST = 16 }; /* bytes of an access */

typedef struct value {
    union {
        unsigned char bytes[MOST];
        uint16_t halves[MOST / 2];
        uint64_t words[MOST / 8];
    };
} value;

/* Elements keep what one store made of them. */
LW_RACY static void copy(char *to, const char *from, uint32_t bytes) {
    if (bytes == 4) *(lw_any32 *)to = *(const lw_any32 *)from;
    else
        for (uint32_t at = 0; at < bytes; at += 8) *(lw_any64 *)(to + at) = *(const lw_any64 *)(from + at);
}

/* ---- Sums in other formats --------------------------------------------------------------------------------------- */

static float wide_half(uint16_t bits, bool is_brain) { return is_brain ? lw_cvt_f32_bf16(bits) : lw_cvt_f32_f16(bits); }

/* Of halves, in f32, rounded once. */
static void sum_halves(value *out, const value *values, uint32_t count, uint32_t bytes, bool is_brain) {
    for (uint32_t at = 0; at < bytes / 2; at++) {
        float sum = wide_half(values[0].halves[at], is_brain);
        for (uint32_t i = 1; i < count; i++) sum = lw_add_rn_f32(sum, wide_half(values[i].halves[at], is_brain));
        out->halves[at] = is_brain ? lw_cvt_rn_bf16_f32(sum) : lw_cvt_rn_f16_f32(sum);
    }
}

static float wide_byte(unsigned char bits, bool is_e5m2) {
    return lw_cvt_f32_f16((uint16_t)(is_e5m2 ? lw_cvt_f16x2_e5m2x2(bits, 0) : lw_cvt_f16x2_e4m3x2(bits, 0)));
}

static unsigned char narrow_byte(float a, bool is_e5m2) {
    return (unsigned char)(is_e5m2 ? lw_cvt_e5m2x2_f32(0, a, 0) : lw_cvt_e4m3x2_f32(0, a, 0));
}

static float of_bytes(float a, float b, lw_atom_op kind) {
    if (kind == LW_ATOM_min_u) return lw_min_f32(a, b);
    if (kind == LW_ATOM_max_u) return lw_max_f32(a, b);
    return lw_add_rn_f32(a, b);
}

/* Of 8 bits; of two such the sum is exact in f32, so that it is rounded once for each device, to what accumulates. */
static void combine_bytes(value *out, const value *values, uint32_t count, uint32_t bytes, lw_atom_op kind,
                          lw_multimem_sum sum) {
    const bool is_e5m2 = sum == LW_MULTIMEM_e5m2 || sum == LW_MULTIMEM_e5m2_f16,
               in_f16 = sum == LW_MULTIMEM_e4m3_f16 || sum == LW_MULTIMEM_e5m2_f16;
    for (uint32_t at = 0; at < bytes; at++) {
        float all = wide_byte(values[0].bytes[at], is_e5m2);
        for (uint32_t i = 1; i < count; i++) {
            all = of_bytes(all, wide_byte(values[i].bytes[at], is_e5m2), kind);
            all = in_f16 ? lw_cvt_f32_f16(lw_cvt_rn_f16_f32(all)) : wide_byte(narrow_byte(all, is_e5m2), is_e5m2);
        }
        out->bytes[at] = narrow_byte(all, is_e5m2);
    }
}

/* ---- A lane ------------------------------------------------------------------------------------------------------ */

/* False: trapped. */
static bool find(lw_gang *gang, const lw_op *op, uint32_t lane, const char *access, lw_team *team) {
    const uint32_t bytes = lw_memory_bytes(lw_memory_unpack(op->c));
    const uint64_t address = LW_SLOT(gang, uint64_t, op->a)[lane];
    const bool is_aligned = !(address & (bytes - 1));
    if (is_aligned && lw_team_find(gang->cta->grid->memory, address, bytes, team)) return true;
    const lw_trap_record details = {.access = access, .window = LW_WINDOW_global, .size = bytes, .address = address};
    lw_gang_trap(gang, op, is_aligned ? LW_TRAP_multimem : LW_TRAP_misaligned, lane, details);
    return false;
}

static value value_of(lw_gang *gang, const lw_op *op, uint32_t lane) {
    return (value){.words = {LW_SLOT(gang, uint64_t, op->b)[lane], LW_SLOT(gang, uint64_t, op->e)[lane]}};
}

static value combine(const lw_op *op, const lw_team *team) {
    const uint32_t bytes = lw_memory_bytes(lw_memory_unpack(op->c));
    lw_memory_form form = lw_memory_unpack(op->c);
    value values[LW_TEAM_MOST], out;
    form.window = LW_WINDOW_shared; /* what is here nobody else changes */
    for (uint32_t i = 0; i < team->count; i++) copy((char *)values[i].bytes, team->host[i], bytes);
    out = values[0];
    if (op->imm == LW_MULTIMEM_half_f32) sum_halves(&out, values, team->count, bytes, form.is_brain);
    else if (op->imm != LW_MULTIMEM_own)
        combine_bytes(&out, values, team->count, bytes, (lw_atom_op)op->mode, (lw_multimem_sum)op->imm);
    else
        for (uint32_t i = 1; i < team->count; i++)
            lw_atom_reduce((char *)out.bytes, (const char *)values[i].bytes, bytes, (lw_atom_op)op->mode, form);
    return out;
}

/* ---- Steps ------------------------------------------------------------------------------------------------------- */

const lw_op *lw_step_multimem_load(lw_gang *gang, const lw_op *op) {
    lw_team team;
    LW_FOR_LANES(lane, gang->mask) {
        if (!find(gang, op, lane, "multimem load", &team)) return NULL;
        const value out = combine(op, &team);
        LW_SLOT(gang, uint64_t, op->d)[lane] = out.words[0];
        LW_SLOT(gang, uint64_t, op->e)[lane] = out.words[1];
    }
    lw_memory_order();
    return op + 1;
}

const lw_op *lw_step_multimem_store(lw_gang *gang, const lw_op *op) {
    const uint32_t bytes = lw_memory_bytes(lw_memory_unpack(op->c));
    lw_team team;
    lw_memory_order();
    gang->cta->cluster->idle = 0;
    LW_FOR_LANES(lane, gang->mask) {
        if (!find(gang, op, lane, "multimem store", &team)) return NULL;
        const value from = value_of(gang, op, lane);
        for (uint32_t i = 0; i < team.count; i++) copy(team.host[i], (const char *)from.bytes, bytes);
    }
    return op + 1;
}

const lw_op *lw_step_multimem_reduce(lw_gang *gang, const lw_op *op) {
    lw_memory_form form = lw_memory_unpack(op->c);
    lw_team team;
    form.window = LW_WINDOW_global;
    lw_memory_order();
    gang->cta->cluster->idle = 0;
    LW_FOR_LANES(lane, gang->mask) {
        if (!find(gang, op, lane, "multimem reduction", &team)) return NULL;
        const value from = value_of(gang, op, lane);
        for (uint32_t i = 0; i < team.count; i++)
            lw_atom_reduce(team.host[i], (const char *)from.bytes, lw_memory_bytes(form), (lw_atom_op)op->mode, form);
    }
    return op + 1;
}
