/* body.c: one operation of a region, for all lanes at once where its operands are the same in all of them, else for a chunk of lanes. */
#include "run/jit/unit.h"

#include <stdio.h>

/* ---- Values of slots -------------------------------------------------------------------------------------------------- */

LLVMValueRef lw_value_splat(const lw_build *b, LLVMValueRef scalar) {
    LLVMTypeRef vector = LLVMVectorType(LLVMTypeOf(scalar), b->chunk);
    LLVMValueRef one = LLVMBuildInsertElement(b->at, LLVMGetPoison(vector), scalar, lw_build_number(b, 32, 0), "");
    return LLVMBuildShuffleVector(b->at, one, LLVMGetPoison(vector), LLVMConstNull(LLVMVectorType(b->i32, b->chunk)), "");
}

LLVMValueRef lw_value_scalar(lw_unit *u, lw_values *v, uint32_t at) {
    const uint32_t cell = lw_unit_cell(u, at);
    const lw_cell *c = &u->cells[cell];
    if (c->is_constant) return lw_build_number(u->build, c->bits, c->bits == 1 ? c->value != 0 : c->value);
    return v->scalar[cell];
}

static uint32_t alignment(const lw_build *b, const lw_cell *c) {
    const uint32_t bytes = c->bits / 8 * b->chunk;
    return bytes > 64 ? 64 : bytes;
}

/* Where the elements of a chunk are in a slot: a bit each, or a word. */
static LLVMValueRef chunk_of(lw_unit *u, const lw_values *v, const lw_cell *c, uint32_t chunk) {
    const lw_build *b = u->build;
    const uint32_t bytes_8 = c->bits == 1 ? 1 : c->bits; /* of 8 lanes */
    LLVMValueRef offset = LLVMBuildLShr(b->at, LLVMBuildMul(b->at, v->base, lw_build_number(b, 64, bytes_8), ""), lw_build_number(b, 64, 3), "");
    offset = LLVMBuildAdd(b->at, offset, lw_build_number(b, 64, c->at + chunk * b->chunk / 8 * bytes_8), "");
    return lw_build_move(b, v->regs, offset);
}

LLVMValueRef lw_value_vector(lw_unit *u, lw_values *v, uint32_t at, uint32_t chunk) {
    const lw_build *b = u->build;
    const uint32_t cell = lw_unit_cell(u, at);
    const lw_cell *c = &u->cells[cell];
    if (v->vector[chunk][cell]) return v->vector[chunk][cell];
    LLVMValueRef value = lw_value_scalar(u, v, at);
    if (value) return lw_value_splat(b, value);
    LLVMValueRef place = chunk_of(u, v, c, chunk);
    if (c->bits == 1)
        value = LLVMBuildBitCast(b->at, lw_build_load(b, lw_build_int(b, b->chunk), place, 0, 1, LW_ALIAS_slots), lw_build_vector(b, 1), "");
    else
        value = lw_build_load(b, lw_build_vector(b, c->bits), place, 0, alignment(b, c), LW_ALIAS_slots);
    return value;
}

void lw_value_keep(lw_unit *u, const lw_values *v, uint32_t cell, LLVMValueRef value, uint32_t chunk) {
    const lw_build *b = u->build;
    const lw_cell *c = &u->cells[cell];
    LLVMValueRef place = chunk_of(u, v, c, chunk);
    if (c->bits == 1) lw_build_store(b, LLVMBuildBitCast(b->at, value, lw_build_int(b, b->chunk), ""), place, 0, 1, LW_ALIAS_slots);
    else lw_build_store(b, value, place, 0, alignment(b, c), LW_ALIAS_slots);
}

/* ---- Operands of lane functions ---------------------------------------------------------------------------------------- */

typedef struct lw_operand {
    bool is_constant;
    uint64_t value;
    uint32_t at;
} lw_operand;

static lw_operand constant(uint64_t value) { return (lw_operand){.is_constant = true, .value = value}; }

/* As the variants of LOOP1 to LOOP4 in the interpreter take them. */
static void find_operands(const lw_op *op, const lw_lane_row *row, lw_operand operands[4]) {
    const uint32_t places[] = {op->a, op->b, op->c, op->e};
    for (uint32_t k = 0; k < row->arity; k++) operands[k] = (lw_operand){.at = places[k]};
    const uint32_t last = row->arity - 1u;
    switch ((lw_variant)((op->code - LW_OP_lane) % LW_VARIANTS)) {
    case LW_RRI: operands[last] = constant(op->imm); break;
    case LW_RIR: operands[row->arity == 2 ? 0 : 1] = constant(op->imm); break;
    case LW_RII: operands[last - 1] = constant((uint32_t)op->imm), operands[last] = constant(op->imm >> 32); break;
    default: break;
    }
}

static LLVMValueRef number_of(const lw_build *b, lw_lane_type type, uint64_t value) {
    const uint32_t bits = lw_type_bits(type);
    return lw_build_number(b, bits, bits == 1 ? value != 0 : bits == 64 ? value : value & (((uint64_t)1 << bits) - 1));
}

/* ---- Calls of lane functions --------------------------------------------------------------------------------------------- */

static LLVMValueRef find_function(const lw_build *b, const char *kind, lw_lane_id lane) {
    char name[128];
    snprintf(name, sizeof name, "%s_%s", kind, lw_lane_name(lane));
    LLVMValueRef function = LLVMGetNamedFunction(b->module, name);
    if (function) return function;
    LLVMValueRef known = LLVMGetNamedFunction(b->lanes, name);
    if (!known) lw_bug("no function %s in the compiler's bitcode", name);
    return LLVMAddFunction(b->module, name, LLVMGlobalGetValueType(known));
}

/* A predicate is a byte to them. */
static LLVMValueRef call_scalar(const lw_build *b, lw_lane_id lane, LLVMValueRef *operands) {
    const lw_lane_row *row = &lw_lanes[lane];
    LLVMValueRef function = find_function(b, "lws", lane);
    LLVMTypeRef type = LLVMGlobalGetValueType(function), types[4];
    LLVMGetParamTypes(type, types);
    for (uint32_t k = 0; k < row->arity; k++)
        operands[k] = row->args[k] == LW_L_p ? LLVMBuildZExt(b->at, operands[k], b->i8, "") : LLVMBuildBitCast(b->at, operands[k], types[k], "");
    LLVMValueRef result = LLVMBuildCall2(b->at, type, function, operands, row->arity, "");
    if (row->result == LW_L_p) return LLVMBuildICmp(b->at, LLVMIntNE, result, lw_build_number(b, 8, 0), "");
    return LLVMBuildBitCast(b->at, result, lw_build_int(b, lw_type_bits((lw_lane_type)row->result)), "");
}

static LLVMValueRef room_for(const lw_build *b, lw_lane_type type) {
    LLVMValueRef room = lw_build_stack(b, lw_build_vector(b, type == LW_L_p ? 8 : lw_type_bits(type)));
    LLVMSetAlignment(room, 64);
    return room;
}

/* Operands and result travel in stack slots, which disappear when the function is inlined. */
static LLVMValueRef call_vector(const lw_build *b, lw_lane_id lane, LLVMValueRef *operands) {
    const lw_lane_row *row = &lw_lanes[lane];
    LLVMValueRef function = find_function(b, "lwj", lane), arguments[5];
    LLVMTypeRef type = LLVMGlobalGetValueType(function), types[5];
    LLVMGetParamTypes(type, types);
    const lw_lane_type result = (lw_lane_type)row->result;
    LLVMValueRef to = room_for(b, result);
    arguments[0] = LLVMBuildBitCast(b->at, to, types[0], "");
    for (uint32_t k = 0; k < row->arity; k++) {
        LLVMValueRef room = room_for(b, (lw_lane_type)row->args[k]);
        LLVMValueRef value = row->args[k] == LW_L_p ? LLVMBuildZExt(b->at, operands[k], lw_build_vector(b, 8), "") : operands[k];
        LLVMSetAlignment(LLVMBuildStore(b->at, value, room), 64);
        arguments[1 + k] = LLVMBuildBitCast(b->at, room, types[1 + k], "");
    }
    LLVMBuildCall2(b->at, type, function, arguments, 1u + row->arity, "");
    LLVMTypeRef as = lw_build_vector(b, result == LW_L_p ? 8 : lw_type_bits(result));
    LLVMValueRef value = LLVMBuildLoad2(b->at, as, to, "");
    LLVMSetAlignment(value, 64);
    return result == LW_L_p ? LLVMBuildICmp(b->at, LLVMIntNE, value, LLVMConstNull(as), "") : value;
}

/* ---- Predicates ------------------------------------------------------------------------------------------------------------- */

/* The table's entry for a<<2|b<<1|c, bit by bit; scalars and vectors alike. */
static LLVMValueRef by_table(const lw_build *b, uint64_t table, LLVMValueRef p[3]) {
    LLVMTypeRef type = LLVMTypeOf(p[0]);
    LLVMValueRef level[8];
    for (uint32_t i = 0; i < 8; i++) level[i] = table >> i & 1 ? LLVMConstAllOnes(type) : LLVMConstNull(type);
    for (uint32_t k = 3, count = 4; k-- > 0; count /= 2)
        for (uint32_t i = 0; i < count; i++)
            level[i] = level[2 * i] == level[2 * i + 1] ? level[2 * i] : LLVMBuildSelect(b->at, p[k], level[2 * i + 1], level[2 * i], "");
    return level[0];
}

/* ---- One for all lanes -------------------------------------------------------------------------------------------------------- */

static LLVMValueRef scalar_lane(lw_unit *u, const lw_op *op, lw_values *v) {
    const lw_lane_id lane = lw_code_lane(op->code);
    const lw_lane_row *row = &lw_lanes[lane];
    lw_operand operands[4];
    LLVMValueRef values[4];
    find_operands(op, row, operands);
    for (uint32_t k = 0; k < row->arity; k++) {
        values[k] = operands[k].is_constant ? number_of(u->build, (lw_lane_type)row->args[k], operands[k].value)
                                            : lw_value_scalar(u, v, operands[k].at);
        if (!values[k]) return NULL;
    }
    return call_scalar(u->build, lane, values);
}

static LLVMValueRef scalar_predicate(lw_unit *u, const lw_op *op, lw_values *v) {
    const uint32_t places[] = {op->a, op->b, op->c};
    LLVMValueRef p[3];
    for (uint32_t k = 0; k < 3; k++) {
        p[k] = op->flags & (LW_OP_IMM_A << k) ? lw_build_number(u->build, 1, 0) : lw_value_scalar(u, v, places[k]);
        if (!p[k]) return NULL;
    }
    return by_table(u->build, op->imm, p);
}

static LLVMValueRef parameter(lw_unit *u, const lw_op *op) {
    const lw_build *b = u->build;
    const lw_memory_form form = lw_memory_unpack(op->c);
    const uint32_t bits = 8u << form.size, slot = 8u << form.slot;
    LLVMValueRef value = lw_build_load(b, lw_build_int(b, bits), lw_build_params(b, u), op->imm, 1, LW_ALIAS_gang);
    if (bits >= slot) return LLVMBuildTrunc(b->at, value, lw_build_int(b, slot), "");
    return form.is_signed ? LLVMBuildSExt(b->at, value, lw_build_int(b, slot), "") : LLVMBuildZExt(b->at, value, lw_build_int(b, slot), "");
}

LLVMValueRef lw_body_scalar(lw_unit *u, const lw_op *op, lw_values *v) {
    if (!lw_op_can_be_scalar(u, op)) return NULL;
    if (op->code >= LW_OP_lane) return scalar_lane(u, op, v);
    switch (op->code) {
    case LW_OP_predicate: return scalar_predicate(u, op, v);
    case LW_OP_beyond: return lw_build_number(u->build, 1, 0); /* nobody is: the region looks */
    case LW_OP_ld: return parameter(u, op);
    case LW_OP_select_16: case LW_OP_select_32: case LW_OP_select_64: break;
    default: lw_bug("operation code %u cannot be done once for all lanes", op->code);
    }
    LLVMValueRef a = lw_value_scalar(u, v, op->a), b = lw_value_scalar(u, v, op->b), p = lw_value_scalar(u, v, op->c);
    return a && b && p ? LLVMBuildSelect(u->build->at, p, a, b, "") : NULL;
}

/* ---- A chunk of lanes --------------------------------------------------------------------------------------------------------------------- */

static LLVMValueRef splat_number(const lw_build *b, uint32_t bits, uint64_t value) { return lw_value_splat(b, lw_build_number(b, bits, value)); }

static void put(lw_unit *u, lw_values *v, uint32_t at, uint32_t chunk, LLVMValueRef value) {
    v->vector[chunk][lw_unit_cell(u, at)] = value;
}

static LLVMValueRef vector_lane(lw_unit *u, const lw_op *op, lw_values *v, uint32_t chunk) {
    const lw_lane_id lane = lw_code_lane(op->code);
    const lw_lane_row *row = &lw_lanes[lane];
    lw_operand operands[4];
    LLVMValueRef values[4];
    find_operands(op, row, operands);
    for (uint32_t k = 0; k < row->arity; k++)
        values[k] = operands[k].is_constant ? lw_value_splat(u->build, number_of(u->build, (lw_lane_type)row->args[k], operands[k].value))
                                            : lw_value_vector(u, v, operands[k].at, chunk);
    return call_vector(u->build, lane, values);
}

static LLVMValueRef vector_lop3(lw_unit *u, const lw_op *op, lw_values *v, uint32_t chunk) {
    LLVMValueRef values[] = {lw_value_vector(u, v, op->a, chunk), lw_value_vector(u, v, op->b, chunk), lw_value_vector(u, v, op->c, chunk),
                             splat_number(u->build, 16, op->code - LW_OP_lop3)};
    return call_vector(u->build, LW_LANE_lop3, values);
}

static LLVMValueRef vector_predicate(lw_unit *u, const lw_op *op, lw_values *v, uint32_t chunk) {
    const uint32_t places[] = {op->a, op->b, op->c};
    LLVMValueRef p[3];
    for (uint32_t k = 0; k < 3; k++)
        p[k] = op->flags & (LW_OP_IMM_A << k) ? LLVMConstNull(lw_build_vector(u->build, 1)) : lw_value_vector(u, v, places[k], chunk);
    return by_table(u->build, op->imm, p);
}

static LLVMValueRef add4(lw_unit *u, const lw_op *op, lw_values *v, uint32_t chunk) {
    LLVMBuilderRef at = u->build->at;
    LLVMValueRef sum = LLVMBuildAdd(at, lw_value_vector(u, v, op->a, chunk), lw_value_vector(u, v, op->b, chunk), "");
    sum = LLVMBuildAdd(at, sum, lw_value_vector(u, v, op->c, chunk), "");
    if (op->e != LW_NO_SLOT) sum = LLVMBuildAdd(at, sum, lw_value_vector(u, v, op->e, chunk), "");
    return LLVMBuildAdd(at, sum, splat_number(u->build, 32, (uint32_t)op->imm), "");
}

static void add_xor_rotl(lw_unit *u, const lw_op *op, lw_values *v, uint32_t chunk) {
    LLVMBuilderRef at = u->build->at;
    LLVMValueRef other = lw_value_vector(u, v, op->c, chunk);
    LLVMValueRef sum = LLVMBuildAdd(at, lw_value_vector(u, v, op->a, chunk), lw_value_vector(u, v, op->b, chunk), "");
    LLVMValueRef values[] = {other, sum, splat_number(u->build, 32, (uint32_t)op->imm)};
    LLVMValueRef turned = call_vector(u->build, LW_LANE_xor_rotl_b32, values);
    put(u, v, op->d, chunk, sum);
    put(u, v, op->e, chunk, turned);
}

static void add_setp(lw_unit *u, const lw_op *op, lw_values *v, uint32_t chunk) {
    LLVMValueRef sum = LLVMBuildAdd(u->build->at, lw_value_vector(u, v, op->a, chunk), splat_number(u->build, 32, (uint32_t)op->imm), "");
    LLVMValueRef values[] = {sum, lw_value_vector(u, v, op->b, chunk)};
    LLVMValueRef is = call_vector(u->build, (lw_lane_id)op->c, values);
    put(u, v, op->d, chunk, sum);
    put(u, v, op->e, chunk, is);
}

/* Counts of the width or more, in lanes that shift, are the interpreter's affair. Widths are powers of two. */
static void look_at_counts(lw_unit *u, lw_values *v, LLVMValueRef counts, uint32_t bytes, LLVMValueRef on) {
    const lw_build *b = u->build;
    const uint64_t high = (bytes == 8 ? UINT64_MAX : ((uint64_t)1 << 8 * bytes) - 1) & ~(uint64_t)(8 * bytes - 1);
    LLVMTypeRef type = LLVMTypeOf(counts);
    const uint32_t bits = bytes < 2 ? 16 : 8 * bytes;
    LLVMValueRef is = LLVMBuildICmp(b->at, LLVMIntNE, LLVMBuildAnd(b->at, counts, splat_number(b, bits, high), ""), LLVMConstNull(type), "");
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
    LLVMValueRef value = lw_build_load(b, lw_build_vector(b, bits), row, (uint64_t)chunk * b->chunk << form.size, 1u << form.size, LW_ALIAS_memory);
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
    LLVMValueRef place = LLVMBuildBitCast(b->at, lw_build_move(b, row, lw_build_number(b, 64, offset)), LLVMPointerType(type, 0), "");
    LLVMTypeRef types[] = {type, LLVMTypeOf(place)};
    LLVMValueRef function = LLVMGetIntrinsicDeclaration(b->module, LLVMLookupIntrinsicID("llvm.masked.store", 17), types, 2);
    LLVMValueRef arguments[] = {value, place, lw_build_number(b, 32, 1u << form.size), lw_value_vector(u, v, op->e, chunk)};
    LLVMValueRef store = LLVMBuildCall2(b->at, LLVMGlobalGetValueType(function), function, arguments, 4, "");
    LLVMSetMetadata(store, b->alias_kind, b->aliases[LW_ALIAS_memory]);
}

static LLVMValueRef vector_select(lw_unit *u, const lw_op *op, lw_values *v, uint32_t chunk) {
    return LLVMBuildSelect(u->build->at, lw_value_vector(u, v, op->c, chunk), lw_value_vector(u, v, op->a, chunk),
                           lw_value_vector(u, v, op->b, chunk), "");
}

void lw_body_vector(lw_unit *u, const lw_op *op, lw_values *v, uint32_t chunk, LLVMValueRef row) {
    if (op->code >= LW_OP_lane) {
        put(u, v, op->d, chunk, vector_lane(u, op, v, chunk));
        return;
    }
    if (op->code >= LW_OP_lop3) {
        put(u, v, op->d, chunk, vector_lop3(u, op, v, chunk));
        return;
    }
    switch (op->code) {
    case LW_OP_predicate: put(u, v, op->d, chunk, vector_predicate(u, op, v, chunk)); return;
    case LW_OP_select_16:
    case LW_OP_select_32:
    case LW_OP_select_64: put(u, v, op->d, chunk, vector_select(u, op, v, chunk)); return;
    case LW_OP_add4: put(u, v, op->d, chunk, add4(u, op, v, chunk)); return;
    case LW_OP_add_xor_rotl: add_xor_rotl(u, op, v, chunk); return;
    case LW_OP_add_setp: add_setp(u, op, v, chunk); return;
    case LW_OP_vshift: put(u, v, op->d, chunk, vshift(u, op, v, chunk)); return;
    case LW_OP_shift_check:
        look_at_counts(u, v, lw_value_vector(u, v, op->a, chunk), op->c, op->b == LW_NO_SLOT ? NULL : lw_value_vector(u, v, op->b, chunk));
        return;
    case LW_OP_ld_row: put(u, v, op->d, chunk, load_row(u, op, v, chunk, row)); return;
    case LW_OP_st_row: store_row(u, op, v, chunk, row); return;
    default: lw_bug("operation code %u is no element-wise one", op->code);
    }
}
