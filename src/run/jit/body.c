/* body.c: one operation of a region, for all lanes at once where its operands are the same in all of them, else for a
 * chunk of lanes. */
#include "run/jit/unit.h"

#include <stdio.h>

/* ---- Values of registers --------------------------------------------------------------------------------------- */

LLVMValueRef lw_value_splat(const lw_build *b, LLVMValueRef scalar) {
    LLVMTypeRef vector = LLVMVectorType(LLVMTypeOf(scalar), b->chunk);
    LLVMValueRef one = LLVMBuildInsertElement(b->at, LLVMGetPoison(vector), scalar, lw_build_number(b, 32, 0), "");
    return LLVMBuildShuffleVector(b->at, one, LLVMGetPoison(vector), LLVMConstNull(LLVMVectorType(b->i32, b->chunk)),
                                  "");
}

LLVMValueRef lw_value_scalar(lw_unit *u, lw_values *v, uint32_t reg) {
    const lw_register *r = &u->code->registers[reg];
    if (r->is_const)
        return lw_build_number(u->build, lw_unit_bits(u, reg), r->class == LW_CLASS_pred ? r->value != 0 : r->value);
    return v->scalar[reg];
}

LLVMValueRef lw_value_vector(lw_unit *u, lw_values *v, uint32_t reg, uint32_t chunk) {
    if (v->vector[chunk][reg]) return v->vector[chunk][reg];
    LLVMValueRef value = lw_value_scalar(u, v, reg);
    return value ? lw_value_splat(u->build, value) : lw_frame_load(u, v->regs, v->base, reg, chunk);
}

static uint32_t type_bits(lw_lane_type type) { return lw_lane_types[type].slot; } /* of an element in its register */

/* ---- Calls of lane functions ----------------------------------------------------------------------------------- */

static LLVMValueRef find_function(const lw_build *b, const char *kind, lw_lane_id lane) {
    char name[128];
    snprintf(name, sizeof name, "%s_%s", kind, lw_lane_name(lane));
    LLVMValueRef function = LLVMGetNamedFunction(b->module, name);
    if (!function) lw_bug("no function %s in the compiler's bitcode", name);
    return function;
}

uint64_t lw_body_length(const lw_unit *u, const lw_op *op) {
    const lw_lane_id lane = lw_code_lane(op->code);
    return lane == LW_LANE_none ? 1 : lw_build_length(find_function(u->build, "lwj", lane));
}

/* A predicate is a byte to them. */
LLVMValueRef lw_body_call(const lw_build *b, lw_lane_id lane, LLVMValueRef *operands) {
    const lw_lane_row *row = &lw_lanes[lane];
    LLVMValueRef function = find_function(b, "lws", lane);
    LLVMTypeRef type = LLVMGlobalGetValueType(function), types[4];
    LLVMGetParamTypes(type, types);
    for (uint32_t k = 0; k < row->arity; k++)
        operands[k] = row->args[k] == LW_L_p ? LLVMBuildZExt(b->at, operands[k], b->i8, "")
                                             : LLVMBuildBitCast(b->at, operands[k], types[k], "");
    LLVMValueRef result = LLVMBuildCall2(b->at, type, function, operands, row->arity, "");
    if (row->result == LW_L_p) return LLVMBuildICmp(b->at, LLVMIntNE, result, lw_build_number(b, 8, 0), "");
    return LLVMBuildBitCast(b->at, result, lw_build_int(b, type_bits((lw_lane_type)row->result)), "");
}

/* Other places on the stack have no such names. */
#define ROOM "room"
static bool is_room(LLVMValueRef place) {
    size_t size;
    return LLVMIsAAllocaInst(place) && !strncmp(LLVMGetValueName2(place, &size), ROOM, sizeof ROOM - 1);
}

static LLVMValueRef room_for(const lw_build *b, lw_lane_type type) {
    LLVMValueRef room = lw_build_stack(b, lw_build_vector(b, type == LW_L_p ? 8 : type_bits(type)));
    LLVMSetAlignment(room, 64);
    LLVMSetValueName2(room, ROOM, sizeof ROOM - 1);
    return room;
}

/* Where an operand is: where another call left it, or a place of its own. */
static LLVMValueRef room_with(const lw_build *b, lw_lane_type type, LLVMValueRef value) {
    LLVMValueRef from = LLVMIsALoadInst(value) ? LLVMGetOperand(value, 0) : NULL;
    if (from && is_room(from)) return from;
    LLVMValueRef room = room_for(b, type);
    if (type == LW_L_p) value = LLVMBuildZExt(b->at, value, lw_build_vector(b, 8), "");
    LLVMSetAlignment(LLVMBuildStore(b->at, value, room), 64);
    return room;
}

/* Operands and result travel in stack slots, each written once, which disappear when the function is inlined. */
static LLVMValueRef call_vector(const lw_build *b, lw_lane_id lane, LLVMValueRef *operands) {
    const lw_lane_row *row = &lw_lanes[lane];
    LLVMValueRef function = find_function(b, "lwj", lane), arguments[5];
    LLVMTypeRef type = LLVMGlobalGetValueType(function), types[5];
    LLVMGetParamTypes(type, types);
    const lw_lane_type result = (lw_lane_type)row->result;
    LLVMValueRef to = room_for(b, result);
    arguments[0] = LLVMBuildBitCast(b->at, to, types[0], "");
    for (uint32_t k = 0; k < row->arity; k++)
        arguments[1 + k] =
            LLVMBuildBitCast(b->at, room_with(b, (lw_lane_type)row->args[k], operands[k]), types[1 + k], "");
    LLVMBuildCall2(b->at, type, function, arguments, 1u + row->arity, "");
    LLVMTypeRef as = lw_build_vector(b, result == LW_L_p ? 8 : type_bits(result));
    LLVMValueRef value = LLVMBuildLoad2(b->at, as, to, "");
    LLVMSetAlignment(value, 64);
    return result == LW_L_p ? LLVMBuildICmp(b->at, LLVMIntNE, value, LLVMConstNull(as), "") : value;
}

/* ---- Predicates ------------------------------------------------------------------------------------------------ */

/* The table's entry for a<<2|b<<1|c, bit by bit; scalars and vectors alike. */
static LLVMValueRef by_table(const lw_build *b, uint64_t table, LLVMValueRef p[3]) {
    LLVMTypeRef type = LLVMTypeOf(p[0]);
    LLVMValueRef level[8];
    for (uint32_t i = 0; i < 8; i++) level[i] = table >> i & 1 ? LLVMConstAllOnes(type) : LLVMConstNull(type);
    for (uint32_t k = 3, count = 4; k-- > 0; count /= 2)
        for (uint32_t i = 0; i < count; i++)
            level[i] = level[2 * i] == level[2 * i + 1]
                           ? level[2 * i]
                           : LLVMBuildSelect(b->at, p[k], level[2 * i + 1], level[2 * i], "");
    return level[0];
}

/* ---- One for all lanes ----------------------------------------------------------------------------------------- */

/* Their registers, in the order of a lane function's operands. */
static uint32_t operand(const lw_op *op, uint32_t k) { return (const uint32_t[]){op->a, op->b, op->c, op->e}[k]; }

static LLVMValueRef scalar_lane(lw_unit *u, const lw_op *op, lw_values *v) {
    const lw_lane_id lane = lw_code_lane(op->code);
    LLVMValueRef values[4];
    for (uint32_t k = 0; k < lw_lanes[lane].arity; k++)
        if (!(values[k] = lw_value_scalar(u, v, operand(op, k)))) return NULL;
    return lw_body_call(u->build, lane, values);
}

static LLVMValueRef scalar_lop3(lw_unit *u, const lw_op *op, lw_values *v) {
    LLVMValueRef values[4] = {[3] = lw_build_number(u->build, 16, op->code - LW_OP_lop3)};
    for (uint32_t k = 0; k < 3; k++)
        if (!(values[k] = lw_value_scalar(u, v, operand(op, k)))) return NULL;
    return lw_body_call(u->build, LW_LANE_lop3, values);
}

static LLVMValueRef scalar_predicate(lw_unit *u, const lw_op *op, lw_values *v) {
    LLVMValueRef p[3];
    for (uint32_t k = 0; k < 3; k++) {
        p[k] = operand(op, k) == LW_NO_SLOT ? lw_build_number(u->build, 1, 0) : lw_value_scalar(u, v, operand(op, k));
        if (!p[k]) return NULL;
    }
    return by_table(u->build, op->imm, p);
}

static LLVMValueRef parameter(lw_unit *u, const lw_op *op) {
    const lw_build *b = u->build;
    const lw_memory_form form = lw_memory_unpack(op->c);
    const uint32_t bits = 8u << form.size, slot = 8u << form.slot;
    uint64_t at = 0;
    if (!lw_is_parameter(u->program, u->code, op, &at)) lw_bug("a load that is no parameter's");
    LLVMValueRef value = lw_build_load(b, lw_build_int(b, bits), lw_build_params(b, u), at, 1, LW_ALIAS_gang);
    if (bits >= slot) return LLVMBuildTrunc(b->at, value, lw_build_int(b, slot), "");
    return form.is_signed ? LLVMBuildSExt(b->at, value, lw_build_int(b, slot), "")
                          : LLVMBuildZExt(b->at, value, lw_build_int(b, slot), "");
}

LLVMValueRef lw_body_scalar(lw_unit *u, const lw_op *op, lw_values *v) {
    if (op->code >= LW_OP_lane) return scalar_lane(u, op, v);
    if (op->code >= LW_OP_lop3) return scalar_lop3(u, op, v);
    switch (op->code) {
    case LW_OP_predicate: return scalar_predicate(u, op, v);
    case LW_OP_beyond: return lw_build_number(u->build, 1, 0); /* nobody is: the region looks */
    case LW_OP_ld: return parameter(u, op);
    case LW_OP_select_16:
    case LW_OP_select_32:
    case LW_OP_select_64: break;
    default: return NULL;
    }
    LLVMValueRef a = lw_value_scalar(u, v, op->a), b = lw_value_scalar(u, v, op->b), p = lw_value_scalar(u, v, op->c);
    return a && b && p ? LLVMBuildSelect(u->build->at, p, a, b, "") : NULL;
}

/* ---- A chunk of lanes ------------------------------------------------------------------------------------------ */

static LLVMValueRef splat_number(const lw_build *b, uint32_t bits, uint64_t value) {
    return lw_value_splat(b, lw_build_number(b, bits, value));
}

static void put(lw_values *v, uint32_t reg, uint32_t chunk, LLVMValueRef value) { v->vector[chunk][reg] = value; }

static LLVMValueRef vector_lane(lw_unit *u, const lw_op *op, lw_values *v, uint32_t chunk) {
    const lw_lane_id lane = lw_code_lane(op->code);
    LLVMValueRef values[4];
    for (uint32_t k = 0; k < lw_lanes[lane].arity; k++) values[k] = lw_value_vector(u, v, operand(op, k), chunk);
    return call_vector(u->build, lane, values);
}

static LLVMValueRef vector_lop3(lw_unit *u, const lw_op *op, lw_values *v, uint32_t chunk) {
    LLVMValueRef values[] = {lw_value_vector(u, v, op->a, chunk), lw_value_vector(u, v, op->b, chunk),
                             lw_value_vector(u, v, op->c, chunk), splat_number(u->build, 16, op->code - LW_OP_lop3)};
    return call_vector(u->build, LW_LANE_lop3, values);
}

static LLVMValueRef vector_predicate(lw_unit *u, const lw_op *op, lw_values *v, uint32_t chunk) {
    LLVMValueRef p[3];
    for (uint32_t k = 0; k < 3; k++)
        p[k] = operand(op, k) == LW_NO_SLOT ? LLVMConstNull(lw_build_vector(u->build, 1))
                                            : lw_value_vector(u, v, operand(op, k), chunk);
    return by_table(u->build, op->imm, p);
}

/* Counts of the width or more, in lanes that shift, are the interpreter's affair. Widths are powers of two. */
static void look_at_counts(lw_unit *u, lw_values *v, LLVMValueRef counts, uint32_t bytes, LLVMValueRef on) {
    const lw_build *b = u->build;
    const uint64_t high = (bytes == 8 ? UINT64_MAX : ((uint64_t)1 << 8 * bytes) - 1) & ~(uint64_t)(8 * bytes - 1);
    LLVMTypeRef type = LLVMTypeOf(counts);
    const uint32_t bits = bytes < 2 ? 16 : 8 * bytes;
    LLVMValueRef is = LLVMBuildICmp(b->at, LLVMIntNE, LLVMBuildAnd(b->at, counts, splat_number(b, bits, high), ""),
                                    LLVMConstNull(type), "");
    if (on) is = LLVMBuildAnd(b->at, is, on, "");
    LLVMTypeRef mask = lw_build_vector(b, 1);
    LLVMBuildStore(b->at, LLVMBuildOr(b->at, LLVMBuildLoad2(b->at, mask, v->large, ""), is, ""), v->large);
}

static LLVMValueRef vshift(lw_unit *u, const lw_op *op, lw_values *v, uint32_t chunk) {
    const lw_lane_id lane = (lw_lane_id)(uint32_t)op->imm;
    const lw_lane_type type = (lw_lane_type)lw_lanes[lane].result;
    const uint32_t bytes = lw_lane_types[type].bits / 8;
    LLVMValueRef on = op->e == LW_NO_SLOT ? NULL : lw_value_vector(u, v, op->e, chunk);
    LLVMValueRef values[] = {lw_value_vector(u, v, op->a, chunk), lw_value_vector(u, v, op->b, chunk)};
    look_at_counts(u, v, values[1], bytes, on);
    LLVMValueRef shifted = call_vector(u->build, lane, values);
    return on ? LLVMBuildSelect(u->build->at, on, shifted, lw_value_vector(u, v, op->c, chunk), "") : shifted;
}

static LLVMValueRef load_row(lw_unit *u, const lw_op *op, lw_values *v, uint32_t chunk, LLVMValueRef row) {
    const lw_build *b = u->build;
    const lw_memory_form form = lw_memory_unpack(op->c);
    const uint32_t bits = 8u << form.size;
    LLVMValueRef value = lw_build_load(b, lw_build_vector(b, bits), row, (uint64_t)chunk * b->chunk << form.size,
                                       1u << form.size, LW_ALIAS_memory);
    if (bits == 8 && form.is_signed) value = LLVMBuildSExt(b->at, value, lw_build_vector(b, 16), "");
    else if (bits == 8) value = LLVMBuildZExt(b->at, value, lw_build_vector(b, 16), "");
    if (op->e == LW_NO_SLOT) return value;
    LLVMValueRef rest = op->flags & LW_OP_ZERO ? LLVMConstNull(LLVMTypeOf(value)) : lw_value_vector(u, v, op->d, chunk);
    return LLVMBuildSelect(b->at, lw_value_vector(u, v, op->e, chunk), value, rest, "");
}

static void store_row(lw_unit *u, const lw_op *op, lw_values *v, uint32_t chunk, LLVMValueRef row) {
    const lw_build *b = u->build;
    const lw_memory_form form = lw_memory_unpack(op->c);
    LLVMTypeRef type = lw_build_vector(b, 8u << form.size);
    const uint64_t offset = (uint64_t)chunk * b->chunk << form.size;
    LLVMValueRef value = lw_value_vector(u, v, op->d, chunk);
    if (form.size == 0) value = LLVMBuildTrunc(b->at, value, type, "");
    if (op->e == LW_NO_SLOT) {
        lw_build_store(b, value, row, offset, 1u << form.size, LW_ALIAS_memory);
        return;
    }
    LLVMValueRef place =
        LLVMBuildBitCast(b->at, lw_build_move(b, row, lw_build_number(b, 64, offset)), LLVMPointerType(type, 0), "");
    LLVMValueRef arguments[] = {value, place, lw_build_number(b, 32, 1u << form.size),
                                lw_value_vector(u, v, op->e, chunk)};
    lw_build_masked(b, "llvm.masked.store", type, place, arguments, 4, LW_ALIAS_memory);
}

static LLVMValueRef load_pattern(const lw_build *b, uint32_t chunk, LLVMValueRef row) {
    LLVMTypeRef type = lw_build_vector(b, 8);
    LLVMValueRef bytes = lw_build_load(b, type, row, (uint64_t)chunk * b->chunk, 1, LW_ALIAS_memory);
    return LLVMBuildICmp(b->at, LLVMIntNE, bytes, LLVMConstNull(type), "");
}

static LLVMValueRef vector_select(lw_unit *u, const lw_op *op, lw_values *v, uint32_t chunk) {
    return LLVMBuildSelect(u->build->at, lw_value_vector(u, v, op->c, chunk), lw_value_vector(u, v, op->a, chunk),
                           lw_value_vector(u, v, op->b, chunk), "");
}

void lw_body_vector(lw_unit *u, const lw_op *op, lw_values *v, uint32_t chunk, LLVMValueRef row) {
    if (op->code >= LW_OP_lane) {
        put(v, op->d, chunk, vector_lane(u, op, v, chunk));
        return;
    }
    if (op->code >= LW_OP_lop3) {
        put(v, op->d, chunk, vector_lop3(u, op, v, chunk));
        return;
    }
    switch (op->code) {
    case LW_OP_predicate: put(v, op->d, chunk, vector_predicate(u, op, v, chunk)); return;
    case LW_OP_select_16:
    case LW_OP_select_32:
    case LW_OP_select_64: put(v, op->d, chunk, vector_select(u, op, v, chunk)); return;
    case LW_OP_vshift: put(v, op->d, chunk, vshift(u, op, v, chunk)); return;
    case LW_OP_shift_check:
        look_at_counts(u, v, lw_value_vector(u, v, op->a, chunk), op->c,
                       op->b == LW_NO_SLOT ? NULL : lw_value_vector(u, v, op->b, chunk));
        return;
    case LW_OP_pattern: put(v, op->d, chunk, load_pattern(u->build, chunk, row)); return;
    case LW_OP_ld_row: put(v, op->d, chunk, load_row(u, op, v, chunk, row)); return;
    case LW_OP_st_row: store_row(u, op, v, chunk, row); return;
    default: lw_bug("operation code %u is no element-wise one", op->code);
    }
}
