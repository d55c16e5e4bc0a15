/* build.c: what all of the compiler builds LLVM's code with. */
#include "run/jit/unit.h"

LLVMTypeRef lw_build_int(const lw_build *b, uint32_t bits) { return LLVMIntTypeInContext(b->context, bits); }
LLVMTypeRef lw_build_vector(const lw_build *b, uint32_t bits) {
    return LLVMVectorType(lw_build_int(b, bits), b->chunk);
}
LLVMValueRef lw_build_number(const lw_build *b, uint32_t bits, uint64_t value) {
    return LLVMConstInt(lw_build_int(b, bits), value, false);
}

LLVMValueRef lw_build_words(const lw_build *b, const char *name, LLVMValueRef *words, uint32_t count) {
    LLVMValueRef list = LLVMConstArray(b->i32, words, count);
    LLVMValueRef at = LLVMAddGlobal(b->module, LLVMTypeOf(list), name);
    LLVMSetInitializer(at, list);
    LLVMSetGlobalConstant(at, true);
    LLVMSetUnnamedAddress(at, LLVMGlobalUnnamedAddr);
    LLVMSetLinkage(at, LLVMPrivateLinkage);
    return LLVMConstBitCast(at, b->bytes);
}

LLVMValueRef lw_build_stack(const lw_build *b, LLVMTypeRef type) {
    LLVMBasicBlockRef here = LLVMGetInsertBlock(b->at);
    LLVMValueRef first = LLVMGetFirstInstruction(b->top);
    if (first) LLVMPositionBuilderBefore(b->at, first);
    else LLVMPositionBuilderAtEnd(b->at, b->top);
    LLVMValueRef made = LLVMBuildAlloca(b->at, type, "");
    LLVMPositionBuilderAtEnd(b->at, here);
    return made;
}

LLVMValueRef lw_build_element_at(const lw_build *b, LLVMTypeRef type, LLVMValueRef array, LLVMValueRef k) {
    return LLVMBuildGEP2(b->at, type, LLVMBuildBitCast(b->at, array, LLVMPointerType(type, 0), ""), &k, 1, "");
}
LLVMValueRef lw_build_element(const lw_build *b, LLVMTypeRef type, LLVMValueRef array, uint32_t k) {
    return lw_build_element_at(b, type, array, lw_build_number(b, 64, k));
}

LLVMValueRef lw_build_move(const lw_build *b, LLVMValueRef base, LLVMValueRef bytes) {
    return LLVMBuildGEP2(b->at, b->i8, base, &bytes, 1, "");
}

static LLVMValueRef place(const lw_build *b, LLVMTypeRef type, LLVMValueRef base, uint64_t offset) {
    LLVMValueRef at = offset ? lw_build_move(b, base, lw_build_number(b, 64, offset)) : base;
    return LLVMBuildBitCast(b->at, at, LLVMPointerType(type, 0), "");
}

LLVMValueRef lw_build_load(const lw_build *b, LLVMTypeRef type, LLVMValueRef base, uint64_t offset, uint32_t align,
                           lw_alias alias) {
    LLVMValueRef value = LLVMBuildLoad2(b->at, type, place(b, type, base, offset), "");
    LLVMSetAlignment(value, align);
    LLVMSetMetadata(value, b->alias_kind, b->aliases[alias]);
    return value;
}

static void set_number(const lw_build *b, LLVMValueRef value, const char *name, uint64_t number) {
    LLVMMetadataRef operand = LLVMValueAsMetadata(lw_build_number(b, 64, number));
    LLVMMetadataRef node = LLVMMDNodeInContext2(b->context, &operand, 1);
    LLVMSetMetadata(value, LLVMGetMDKindIDInContext(b->context, name, (unsigned)strlen(name)),
                    LLVMMetadataAsValue(b->context, node));
}

LLVMValueRef lw_build_pointer(const lw_build *b, LLVMValueRef base, uint64_t offset, uint64_t bytes, uint64_t align) {
    LLVMValueRef value = lw_build_load(b, b->bytes, base, offset, 8, LW_ALIAS_gang);
    set_number(b, value, "dereferenceable", bytes);
    set_number(b, value, "align", align);
    return value;
}

void lw_build_store(const lw_build *b, LLVMValueRef value, LLVMValueRef base, uint64_t offset, uint32_t align,
                    lw_alias alias) {
    LLVMValueRef store = LLVMBuildStore(b->at, value, place(b, LLVMTypeOf(value), base, offset));
    LLVMSetAlignment(store, align);
    LLVMSetMetadata(store, b->alias_kind, b->aliases[alias]);
}

LLVMValueRef lw_build_gang_mask(const lw_build *b, size_t offset) {
    return lw_build_load(b, lw_build_int(b, LW_GANG_LANES), b->gang, offset, 16, LW_ALIAS_gang);
}

LLVMValueRef lw_unit_scalar(lw_unit *u, uint32_t reg) {
    LLVMValueRef *scalar = &u->build->scalars[reg];
    if (!*scalar) *scalar = lw_build_stack(u->build, lw_build_int(u->build, lw_unit_bits(u, reg)));
    return *scalar;
}

LLVMValueRef lw_build_is(const lw_build *b, LLVMIntPredicate how, LLVMValueRef x, LLVMValueRef y) {
    return LLVMBuildICmp(b->at, how, x, y, "");
}

LLVMValueRef lw_build_call(const lw_build *b, LLVMTypeRef type, LLVMValueRef function, LLVMValueRef *arguments) {
    return LLVMBuildCall2(b->at, type, function, arguments, LLVMCountParamTypes(type), "");
}

LLVMValueRef lw_build_bits(const lw_build *b, const char *name, LLVMValueRef value) {
    LLVMTypeRef type = LLVMTypeOf(value);
    LLVMValueRef function = LLVMGetIntrinsicDeclaration(b->module, LLVMLookupIntrinsicID(name, strlen(name)), &type, 1);
    LLVMValueRef arguments[] = {value, lw_build_number(b, 1, 0)};
    LLVMTypeRef of = LLVMGlobalGetValueType(function);
    return LLVMBuildCall2(b->at, of, function, arguments, LLVMCountParamTypes(of), "");
}

lw_build_rounds lw_build_begin_rounds(const lw_build *b) {
    lw_build_rounds rounds = {LLVMGetInsertBlock(b->at), lw_build_block(b, "round"), NULL};
    LLVMBuildBr(b->at, rounds.loop);
    LLVMPositionBuilderAtEnd(b->at, rounds.loop);
    rounds.round = LLVMBuildPhi(b->at, b->i64, "");
    return rounds;
}

void lw_build_end_rounds(const lw_build *b, const lw_build_rounds *rounds, uint64_t count) {
    LLVMBasicBlockRef done = lw_build_block(b, "");
    LLVMValueRef next = LLVMBuildAdd(b->at, rounds->round, lw_build_number(b, 64, 1), "");
    LLVMAddIncoming(rounds->round, (LLVMValueRef[]){lw_build_number(b, 64, 0), next},
                    (LLVMBasicBlockRef[]){rounds->before, LLVMGetInsertBlock(b->at)}, 2);
    LLVMBuildCondBr(b->at, lw_build_is(b, LLVMIntULT, next, lw_build_number(b, 64, count)), rounds->loop, done);
    LLVMPositionBuilderAtEnd(b->at, done);
}

LLVMValueRef lw_build_masked(const lw_build *b, const char *name, LLVMTypeRef type, LLVMValueRef place,
                             LLVMValueRef *arguments, uint32_t count, lw_alias alias) {
    LLVMTypeRef types[] = {type, LLVMTypeOf(place)};
    LLVMValueRef function = LLVMGetIntrinsicDeclaration(b->module, LLVMLookupIntrinsicID(name, strlen(name)), types, 2);
    LLVMValueRef call = LLVMBuildCall2(b->at, LLVMGlobalGetValueType(function), function, arguments, count, "");
    LLVMSetMetadata(call, b->alias_kind, b->aliases[alias]);
    return call;
}

uint64_t lw_build_length(LLVMValueRef function) {
    uint64_t count = 0;
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) count++;
    return count;
}

LLVMBasicBlockRef lw_build_block(const lw_build *b, const char *name) {
    return LLVMAppendBasicBlockInContext(b->context, b->function, name);
}

LLVMValueRef lw_build_if(const lw_build *b, LLVMValueRef condition, LLVMBasicBlockRef other) {
    LLVMBasicBlockRef on = lw_build_block(b, "");
    LLVMValueRef branch = LLVMBuildCondBr(b->at, condition, on, other);
    LLVMPositionBuilderAtEnd(b->at, on);
    return branch;
}

void lw_build_often(const lw_build *b, LLVMValueRef branch) {
    enum { OFTEN = 2000 };
    LLVMMetadataRef weights[] = {LLVMMDStringInContext2(b->context, "branch_weights", 14),
                                 LLVMValueAsMetadata(lw_build_number(b, 32, OFTEN)),
                                 LLVMValueAsMetadata(lw_build_number(b, 32, 1))};
    LLVMSetMetadata(branch, LLVMGetMDKindIDInContext(b->context, "prof", 4),
                    LLVMMetadataAsValue(b->context, LLVMMDNodeInContext2(b->context, weights, 3)));
}

void lw_build_unless(const lw_build *b, LLVMValueRef condition, LLVMBasicBlockRef other) {
    lw_build_often(b, lw_build_if(b, condition, other));
}
