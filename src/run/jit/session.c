/* session.c: from a program to machine code: LLVM's module, its passes, and putting the code in place of steps. */
#include "run/jit/object.h"
#include "run/jit/strand.h"

#include "base/special_id.h"

#include <llvm-c/Analysis.h>
#include <llvm-c/BitReader.h>
#include <llvm-c/Linker.h>
#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <llvm/Config/llvm-config.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static const lw_core *core; /* from when the library is opened */

/* ---- What compiled code calls ---------------------------------------------------------------------------------- */

const lw_op *lw_jit_interpret(lw_gang *gang, const lw_op *op, lw_step *const *steps) {
    gang->trusted = NULL;
    gang->frame->written = LW_FRAME_mixed;
    do op = steps[op->code](gang, op);
    while (op && (op->step == steps[op->code] ||
                  !gang->full)); /* with lanes left out compiled code would come back here at once */
    return op;
}

void lw_jit_spread(char *slot, uint32_t bits, uint64_t value) {
    if (bits == 1) memset(slot, (int)value, LW_SLOT_PRED);
    if (bits == 16) value = (value & 0xffff) * 0x0001000100010001u;
    if (bits == 32) value = (uint32_t)value * 0x0000000100000001u;
    for (uint32_t at = 0; bits > 1 && at < LW_GANG_LANES * bits / 8; at += 8) memcpy(slot + at, &value, 8);
}

/* ---- The lane functions ---------------------------------------------------------------------------------------- */

/* lanes.c as bitcode, at each CPU level. Hidden: else the code asks a table for the places, in which the linker of
 * AArch64 may put the section's for both. */
#define BITCODE(level) \
    extern __attribute__((visibility("hidden"))) const char lw_jit_lanes_##level[], lw_jit_lanes_end_##level[]; \
    __asm__(".section .rodata\n.balign 16\n.globl lw_jit_lanes_" #level ", lw_jit_lanes_end_" #level "\n" \
            "lw_jit_lanes_" #level ":\n.incbin \"" LW_JIT_BITCODE "/lanes_" #level ".bc\"\n" \
            "lw_jit_lanes_end_" #level ":\n.previous");
#define LEVEL(name, ...) LW_WHERE_BUILT(name, BITCODE(name))
#include "run/levels.def"

static const struct {
    const char *level, *from, *to;
} bitcode[] = {
#define LEVEL(name, ...) LW_WHERE_BUILT(name, {#name, lw_jit_lanes_##name, lw_jit_lanes_end_##name}, )
#include "run/levels.def"
};

static LLVMModuleRef read_lanes(LLVMContextRef context, const lw_level *level) {
    for (size_t i = 0; i < sizeof bitcode / sizeof *bitcode; i++) {
        if (strcmp(bitcode[i].level, level->name)) continue;
        const size_t size = (size_t)(bitcode[i].to - bitcode[i].from);
        LLVMMemoryBufferRef buffer = LLVMCreateMemoryBufferWithMemoryRange(bitcode[i].from, size, "lanes", false);
        LLVMModuleRef module = NULL;
        if (!LLVMGetBitcodeModuleInContext2(context, buffer, &module)) return module; /* which has the buffer now */
        LLVMDisposeMemoryBuffer(buffer);
        return NULL;
    }
    return NULL;
}

/* LLVM tells its errors to the context; its own way to take them is to end the process. */
static void take_diagnostic(LLVMDiagnosticInfoRef info, void *why) {
    if (LLVMGetDiagInfoSeverity(info) != LLVMDSError) return;
    char *message = LLVMGetDiagInfoDescription(info);
    lw_text_printf(why, "%s", message);
    LLVMDisposeMessage(message);
}

static LLVMAttributeRef attribute(LLVMContextRef context, const char *name, uint64_t value) {
    return LLVMCreateEnumAttribute(context, LLVMGetEnumAttributeKindForName(name, strlen(name)), value);
}

/* That arguments do not overlap helped to make vectors of it. Stack slots say so by themselves, and noting it once more
 * for each call is costly. */
static void forget_no_alias(LLVMValueRef function) {
    const unsigned kind = LLVMGetEnumAttributeKindForName("noalias", 7);
    for (unsigned k = 1; k <= LLVMCountParams(function); k++) LLVMRemoveEnumAttributeAtIndex(function, k, kind);
}

/* Calls of what is long cost some loads and stores, but not the time to compile it at each place. Until it is much, it
 * is inlined. so_far: instructions, of the program. */
static bool is_called(LLVMValueRef function, uint64_t *so_far) {
    enum { LONG = 96, MUCH = 4096 };
    const uint64_t count = lw_build_length(function);
    uint64_t uses = 0;
    if (count <= LONG) return false;
    for (LLVMUseRef use = LLVMGetFirstUse(function); use; use = LLVMGetNextUse(use)) uses++;
    if (*so_far + uses * count > MUCH) return true;
    *so_far += uses * count;
    return false;
}

static bool has(LLVMValueRef function, const char *name) {
    return LLVMGetEnumAttributeAtIndex(function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                                       LLVMGetEnumAttributeKindForName(name, strlen(name)));
}

/* The program's lane functions, for a chunk and for one lane. */
static void declare_lane(LLVMModuleRef module, LLVMModuleRef lanes, lw_lane_id lane) {
    static const char *const kinds[] = {"lwj", "lws"};
    for (int k = 0; k < 2; k++) {
        char name[128];
        snprintf(name, sizeof name, "%s_%s", kinds[k], lw_lane_name(lane));
        LLVMValueRef known = LLVMGetNamedFunction(lanes, name);
        if (known && !LLVMGetNamedFunction(module, name)) LLVMAddFunction(module, name, LLVMGlobalGetValueType(known));
    }
}
static void declare_lanes(LLVMModuleRef module, LLVMModuleRef lanes, const lw_program *program) {
    for (uint32_t i = 0; i < program->code_count; i++) {
        const lw_code *code = program->functions[i];
        for (uint32_t n = 0; n < code->op_count; n++) {
            const lw_op *op = &code->ops[n];
            if (lw_code_lane(op->code) != LW_LANE_none) declare_lane(module, lanes, lw_code_lane(op->code));
            else if (op->code >= LW_OP_lop3) declare_lane(module, lanes, LW_LANE_lop3);
            else if (op->code == LW_OP_vshift) declare_lane(module, lanes, (lw_lane_id)(uint32_t)op->imm);
            else if (lw_called_lane(op) != LW_LANE_none) declare_lane(module, lanes, lw_called_lane(op));
        }
    }
}

/* Brings in what the program calls for. Of functions that may be left out the linker takes those that are asked for,
 * and only then are their bodies read. */
static bool link_lanes(LLVMModuleRef module, LLVMModuleRef lanes, const lw_program *program) {
    declare_lanes(module, lanes, program);
    for (LLVMValueRef f = LLVMGetFirstFunction(lanes); f; f = LLVMGetNextFunction(f))
        if (!LLVMIsDeclaration(f)) LLVMSetLinkage(f, LLVMLinkOnceODRLinkage);
    return !LLVMLinkModules2(module, lanes);
}

/* What was called is inlined. */
static void inline_lanes(LLVMModuleRef module, LLVMContextRef context) {
    LLVMAttributeRef inlined = attribute(context, "alwaysinline", 0);
    uint64_t so_far = 0;
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f)) {
        if (LLVMIsDeclaration(f) || LLVMGetLinkage(f) != LLVMLinkOnceODRLinkage) continue;
        LLVMSetLinkage(f, LLVMInternalLinkage);
        if (!has(f, "alwaysinline") && is_called(f, &so_far)) continue;
        LLVMRemoveEnumAttributeAtIndex(f, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                                       LLVMGetEnumAttributeKindForName("noinline", 8));
        LLVMAddAttributeAtIndex(f, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, inlined);
        forget_no_alias(f);
    }
}

/* ---- The machine ----------------------------------------------------------------------------------------------- */

/* The parts of LLVM that know this machine. What its headers call native is the machine they are for, in a cross build
 * the one that builds. */
#if defined(__x86_64__)
#define BASE_CPU         "x86-64"
#define START_TARGET(of) LLVMInitializeX86##of()
#elif defined(__aarch64__)
#define BASE_CPU         "generic"
#define START_TARGET(of) LLVMInitializeAArch64##of()
#else
#define BASE_CPU         "generic"
#define START_TARGET(of) LLVMInitializeAll##of##s()
#endif

static const char *cpu_of(const lw_level *level) { return *level->llvm_cpu ? level->llvm_cpu : BASE_CPU; }

static pthread_once_t target_once = PTHREAD_ONCE_INIT;
static void start_target(void) {
    START_TARGET(TargetInfo);
    START_TARGET(Target);
    START_TARGET(TargetMC);
    START_TARGET(AsmPrinter);
}

/* Code and its constants may lie anywhere, device memory of a terabyte between them, so nothing may be reached by a
 * distance of 32 bits: addresses are whole, in jump tables too. */
LLVMTargetMachineRef lw_object_machine(const lw_level *level, lw_text *why) {
    pthread_once(&target_once, start_target);
    char *triple = LLVMGetDefaultTargetTriple(), *message = NULL;
    LLVMTargetRef target;
    LLVMTargetMachineRef machine = NULL;
    if (LLVMGetTargetFromTriple(triple, &target, &message)) lw_text_printf(why, "%s", message);
    else
        machine = LLVMCreateTargetMachine(target, triple, cpu_of(level),
                                          level->vector_bytes == 64 ? "-prefer-256-bit" : "", LLVMCodeGenLevelLess,
                                          LLVMRelocStatic, LLVMCodeModelJITDefault);
    LLVMDisposeMessage(message);
    LLVMDisposeMessage(triple);
    return machine;
}

/* ---- One function ---------------------------------------------------------------------------------------------- */

static LLVMValueRef alias_tag(lw_build *b, const char *name, LLVMMetadataRef root) {
    LLVMMetadataRef zero = LLVMValueAsMetadata(lw_build_number(b, 64, 0));
    LLVMMetadataRef type[] = {LLVMMDStringInContext2(b->context, name, strlen(name)), root, zero};
    LLVMMetadataRef node = LLVMMDNodeInContext2(b->context, type, 3), tag[] = {node, node, zero};
    return LLVMMetadataAsValue(b->context, LLVMMDNodeInContext2(b->context, tag, 3));
}

static void start_build(lw_build *b, LLVMContextRef context, LLVMModuleRef module, const lw_level *level) {
    b->context = context, b->module = module;
    b->chunk = level->vector_bytes == 64 ? 16 : 8; /* as lanes.c was compiled for */
    b->at = LLVMCreateBuilderInContext(context);
    b->i1 = lw_build_int(b, 1), b->i8 = lw_build_int(b, 8), b->i16 = lw_build_int(b, 16), b->i32 = lw_build_int(b, 32),
    b->i64 = lw_build_int(b, 64);
    b->bytes = LLVMPointerType(b->i8, 0);
    LLVMTypeRef step[] = {b->bytes, b->bytes}, interpret[] = {b->bytes, b->bytes, b->bytes},
                spread[] = {b->bytes, b->i32, b->i64};
    b->step_type = LLVMFunctionType(b->bytes, step, 2, false);
    b->interpret_type = LLVMFunctionType(b->bytes, interpret, 3, false);
    LLVMTypeRef i32 = b->i32, begin[] = {b->bytes, b->bytes, i32, b->bytes},
                some[] = {b->bytes, b->bytes, b->i64, i32, i32}, pend[] = {b->bytes, i32, i32, i32},
                end[] = {b->bytes, i32, b->bytes, b->bytes}, leave[] = {b->bytes, b->bytes, b->bytes, i32, i32, b->i1};
    b->pass_begin_type = LLVMFunctionType(i32, begin, 4, false);
    b->pass_step_type = LLVMFunctionType(b->i1, some, 5, false);
    LLVMTypeRef move[] = {b->bytes, b->bytes, i32, i32, b->bytes, b->bytes};
    b->pass_move_type = LLVMFunctionType(b->i1, move, 4, false);
    b->pass_move_row_type = LLVMFunctionType(b->i1, move, 6, false);
    b->pass_pend_type = LLVMFunctionType(LLVMVoidTypeInContext(context), pend, 4, false);
    b->pass_end_type = LLVMFunctionType(b->bytes, end, 4, false);
    b->pass_leave_type = LLVMFunctionType(b->bytes, leave, 6, false);
    LLVMTypeRef run_on[] = {b->bytes, b->bytes};
    b->pass_run_on_type = LLVMFunctionType(b->bytes, run_on, 2, false);
    b->pass_hand_type = LLVMFunctionType(b->bytes, interpret, 3, false);
    LLVMTypeRef put[] = {b->bytes, i32, b->bytes, i32, b->bytes, i32},
                take[] = {b->bytes, i32, b->bytes, i32, b->bytes},
                take_all[] = {b->bytes, b->bytes, i32, b->bytes, i32, b->bytes};
    b->row_put_type = LLVMFunctionType(LLVMVoidTypeInContext(context), put, 6, false);
    b->row_take_type = LLVMFunctionType(LLVMVoidTypeInContext(context), take, 5, false);
    b->row_take_all_type = LLVMFunctionType(b->i1, take_all, 6, false);
    LLVMTypeRef trade[] = {b->bytes, i32, i32};
    b->trade_type = LLVMFunctionType(i32, trade, 3, false);
    b->spread_type = LLVMFunctionType(LLVMVoidTypeInContext(context), spread, 3, false);
    LLVMMetadataRef root = LLVMMDStringInContext2(context, "lanewise", 8);
    root = LLVMMDNodeInContext2(context, &root, 1);
    static const char *const names[] = {"gang", "slots", "memory"};
    for (int k = 0; k < 3; k++) b->aliases[k] = alias_tag(b, names[k], root);
    b->alias_kind = LLVMGetMDKindIDInContext(context, "tbaa", 4);
}

static void set_text(const lw_build *b, const char *name, const char *value) {
    LLVMAddAttributeAtIndex(
        b->function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
        LLVMCreateStringAttribute(b->context, name, (unsigned)strlen(name), value, (unsigned)strlen(value)));
}

static void set_number(const lw_build *b, const char *name, uint64_t value) {
    LLVMAddAttributeAtIndex(b->function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                            attribute(b->context, name, value));
}

enum { ABI_ALIGNED = 16 }; /* what callers promise of the stack: vectors kept there would cross lines of the cache */

/* A function like a step: what is built from now on. */
static void begin_function(lw_build *b, LLVMValueRef function, const lw_level *level) {
    b->function = function;
    b->gang = LLVMGetParam(b->function, 0), b->op = LLVMGetParam(b->function, 1);
    if (level->vector_bytes == 64)
        set_text(b, "min-legal-vector-width", "512"), set_text(b, "prefer-vector-width", "512");
    set_text(b, "target-cpu", cpu_of(level));
    set_number(b, "nounwind", 0);
    if (level->vector_bytes > ABI_ALIGNED) set_number(b, "alignstack", level->vector_bytes);
    LLVMAddAttributeAtIndex(b->function, 1, attribute(b->context, "dereferenceable", sizeof(lw_gang)));
    LLVMAddAttributeAtIndex(b->function, 1, attribute(b->context, "align", _Alignof(lw_gang)));
    b->top = lw_build_block(b, "top");
}

/* What a strand knows of the layout it knows by these. */
static bool asks_for_layout(const lw_unit *unit) {
    for (uint32_t n = 0; n < unit->count; n++) {
        const lw_op *op = lw_unit_op(unit, n);
        if (op->code == LW_OP_special && (op->a == LW_SPECIAL_tid || op->a == LW_SPECIAL_ntid)) return true;
    }
    return false;
}

/* A new function of the module; strand: of a piece of it, else of the whole unit. NULL: no memory, which is noted. */
static lw_made *begin_made(lw_object *object, const lw_unit *unit, const lw_strand *strand) {
    LLVMValueRef function = lw_names_function(unit->build, unit->code);
    size_t size;
    const char *name = LLVMGetValueName2(function, &size);
    lw_made *made = lw_object_add(object, unit->code->index, unit->count + 1, name);
    unit->build->failed |= !made;
    if (!made) return NULL;
    uint32_t count = 0;
    for (uint32_t n = 0; !strand && n < unit->count; n++)
        if (unit->entered[n]) made->entries[count++] = lw_frame_number(unit, n);
    for (uint32_t block = 0; strand && block < unit->code->block_count; block++)
        if (lw_strand_enters(strand, block)) made->entries[count++] = lw_frame_number(unit, unit->block_at[block] + 1);
    made->entries[count] = LW_NO_SLOT;
    made->bound = strand && asks_for_layout(unit);
    begin_function(unit->build, function, unit->level);
    return made;
}

static bool emit_piece(lw_object *object, const lw_strand *plan, uint32_t first, uint32_t end) {
    lw_strand piece = *plan;
    piece.first = first, piece.end = end;
    return lw_strand_plan_piece(&piece) && begin_made(object, plan->u, &piece) && lw_strand_emit(&piece);
}

/* One warp at a time, where that pays. False: it does not; or no memory, which is noted. */
static bool emit_strand(lw_object *object, lw_unit *unit) {
    if (!lw_strand_fits(unit)) return false;
    lw_strand strand = {.u = unit};
    bool good = lw_strand_plan(&strand);
    unit->build->failed |= !good;
    good = good && lw_strand_cut(&strand);
    for (uint32_t k = 0, first = 0; good && k < strand.piece_count; first = strand.ends[k++])
        unit->build->failed |= !emit_piece(object, &strand, first, strand.ends[k]);
    lw_strand_free(&strand);
    return good;
}

/* As loops over the lanes of the gang, between steps. */
static void emit_regions(lw_object *object, lw_unit *unit) {
    if (begin_made(object, unit, NULL)) lw_emit_function(unit);
}

static void emit_code(lw_build *b, lw_program *program, const lw_code *code, const lw_level *level, lw_layout layout,
                      lw_object *object) {
    lw_unit unit = {.program = program, .code = code, .level = level, .layout = layout, .build = b};
    if (lw_unit_study(&unit)) {
        b->entries = calloc(unit.count, sizeof *b->entries);
        b->leaves = calloc(unit.count, sizeof *b->leaves);
        b->wholes = calloc(unit.count, sizeof *b->wholes);
        b->scalars = calloc(code->virtual_count + 1, sizeof *b->scalars);
        b->values = calloc((size_t)(code->virtual_count + 1) * (2 + LW_CHUNKS), sizeof *b->values);
        b->failed |= !b->entries || !b->leaves || !b->wholes || !b->scalars || !b->values;
        if (!b->failed && !emit_strand(object, &unit) && !b->failed) emit_regions(object, &unit);
        free(b->entries), free(b->leaves), free(b->wholes), free(b->scalars), free(b->values);
    }
    lw_unit_free(&unit);
}

/* ---- A program ------------------------------------------------------------------------------------------------- */

#if LLVM_VERSION_MAJOR >= \
    18 /* one round, and an error where a second one would find more, unless that is said to be none */
#define COMBINE "instcombine<no-verify-fixpoint>"
#else
#define COMBINE "instcombine"
#endif
/* Half of what compiling takes. Loops are what there is to win in, and loads of what is known: once, when loops have
 * given what they can. */
static const char passes[] = "always-inline,globaldce,function(sroa,early-cse," COMBINE ",simplifycfg),"
                             "function(loop-mssa(loop-rotate,licm)),function(early-cse<memssa>,simplifycfg,adce)";

static bool optimize(LLVMModuleRef module, LLVMTargetMachineRef machine, lw_text *why) {
    char *message = NULL;
    const bool wrong = LLVMVerifyModule(module, LLVMReturnStatusAction, &message);
    if (wrong) lw_text_printf(why, "LLVM finds fault with the code: %s", message);
    LLVMDisposeMessage(message);
    if (wrong) return false;
    LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
    const bool good = lw_object_good(LLVMRunPasses(module, passes, machine, options), why);
    LLVMDisposePassBuilderOptions(options);
    return good;
}

/* Somewhere its threads do what others may wait for or find. */
static bool communicates(const lw_program *program) {
    for (uint32_t i = 0; i < program->code_count; i++) {
        const lw_code *code = program->functions[i];
        for (uint32_t n = 0; n < code->op_count; n++)
            if (lw_op_races(&code->ops[n])) return true;
    }
    return false;
}

/* The module of a program, optimised; NULL: `why`. */
static LLVMModuleRef make_module(LLVMContextRef context, lw_program *program, const lw_level *level, lw_layout layout,
                                 lw_object *object, lw_text *why) {
    LLVMContextSetDiagnosticHandler(context, take_diagnostic, why);
    LLVMTargetMachineRef machine = lw_object_machine(level, why);
    if (!machine) return NULL;
    LLVMModuleRef lanes = read_lanes(context, level), module = NULL;
    bool good = lanes;
    if (lanes) {
        module = LLVMModuleCreateWithNameInContext("lanewise", context);
        LLVMSetTarget(module, LLVMGetTarget(lanes));
        LLVMSetDataLayout(module, LLVMGetDataLayoutStr(lanes));
        lw_build build = {.communicates = communicates(program)};
        good = link_lanes(module, lanes, program);
        start_build(&build, context, module, level);
        bool *chosen = lw_program_choose(program);
        build.failed |= !chosen;
        for (uint32_t i = 0; good && chosen && i < program->code_count; i++)
            if (chosen[i] && program->functions[i]->op_count)
                emit_code(&build, program, program->functions[i], level, layout, object);
        free(chosen);
        LLVMDisposeBuilder(build.at);
        if (build.failed) lw_text_puts(why, "there is no memory");
        good = good && !build.failed;
        if (good) inline_lanes(module, context);
        good = good && optimize(module, machine, why);
    } else lw_text_printf(why, "there is no bitcode of the lane functions for CPU level %s", level->name);
    LLVMDisposeTargetMachine(machine);
    if (module && !good) LLVMDisposeModule(module), module = NULL;
    return module;
}

static bool emit_object(LLVMModuleRef module, const lw_level *level, lw_object *object, lw_text *why) {
    LLVMTargetMachineRef machine = lw_object_machine(level, why);
    if (!machine) return false;
    char *message = NULL;
    const bool good = !LLVMTargetMachineEmitToMemoryBuffer(machine, module, LLVMObjectFile, &message, &object->code);
    if (!good) lw_text_printf(why, "%s", message);
    LLVMDisposeMessage(message);
    LLVMDisposeTargetMachine(machine);
    return good;
}

static bool make_object(lw_program *program, const lw_level *level, lw_layout layout, lw_object *object, lw_text *why) {
    LLVMContextRef context = LLVMContextCreate();
    LLVMModuleRef module = make_module(context, program, level, layout, object, why);
    const bool good = module && emit_object(module, level, object, why);
    if (module) LLVMDisposeModule(module);
    LLVMContextDispose(context);
    return good;
}

static lw_compiled *compile_program(lw_program *program, const lw_level *level, lw_layout layout, bool *bound,
                                    lw_text *keep, lw_text *why) {
    lw_object object = {0};
    lw_compiled *made = NULL;
    if (make_object(program, level, layout, &object, why)) {
        if (keep) lw_object_pack(&object, keep);
        *bound = lw_object_is_bound(&object);
        made = lw_object_load(&object, core, program, level, why);
    }
    lw_object_free(&object);
    return made;
}

static lw_compiled *load_program(lw_program *program, const lw_level *level, lw_bytes kept, bool *bound, lw_text *why) {
    lw_object object = {0};
    lw_compiled *made = NULL;
    const bool good = lw_object_unpack(&object, program, kept);
    *bound = lw_object_is_bound(&object);
    if (good) made = lw_object_load(&object, core, program, level, why);
    lw_object_free(&object);
    return made;
}

static bool print_machine(LLVMModuleRef module, const lw_level *level, lw_text *out, lw_text *why) {
    LLVMTargetMachineRef target = lw_object_machine(level, why);
    if (!target) return false;
    char *message = NULL;
    LLVMMemoryBufferRef text = NULL;
    const bool good = !LLVMTargetMachineEmitToMemoryBuffer(target, module, LLVMAssemblyFile, &message, &text);
    if (good) lw_text_add(out, LLVMGetBufferStart(text), LLVMGetBufferSize(text));
    else lw_text_printf(why, "%s", message);
    if (good) LLVMDisposeMemoryBuffer(text);
    LLVMDisposeMessage(message);
    LLVMDisposeTargetMachine(target);
    return good;
}

static void print_text(LLVMModuleRef module, lw_text *out) {
    char *text = LLVMPrintModuleToString(module);
    lw_text_puts(out, text);
    LLVMDisposeMessage(text);
}

static bool print_program(lw_program *program, const lw_level *level, lw_layout layout, bool machine, lw_text *out,
                          lw_text *why) {
    lw_object object = {0};
    LLVMContextRef context = LLVMContextCreate();
    LLVMModuleRef module = make_module(context, program, level, layout, &object, why);
    bool good = module;
    if (module && machine) good = print_machine(module, level, out, why);
    else if (module) print_text(module, out);
    if (module) LLVMDisposeModule(module);
    LLVMContextDispose(context);
    lw_object_free(&object);
    return good;
}

/* ---- Doing either where LLVM may give up ----------------------------------------------------------------------- */

typedef struct lw_errand {
    lw_program *program;
    const lw_level *level;
    lw_layout layout;
    lw_text *out, *why; /* out: NULL where code is made */
    bool machine;       /* what is printed: machine code */
    lw_text *keep;      /* what is compiled, or NULL … */
    lw_bytes kept;      /* … and what was, or nothing */
    lw_compiled *made;
    bool good, bound;
} lw_errand;

static void run_errand(void *argument) {
    lw_errand *e = argument;
    e->program->is_partly_compiled = lw_program_leaves(e->program);
    if (e->out) e->good = print_program(e->program, e->level, e->layout, e->machine, e->out, e->why);
    else if (e->kept.at) e->made = load_program(e->program, e->level, e->kept, &e->bound, e->why);
    else e->made = compile_program(e->program, e->level, e->layout, &e->bound, e->keep, e->why);
}

static void try(lw_errand *e) {
    const char *why = lw_rescue_run(run_errand, e);
    if (!why) return;
    e->made = NULL, e->good = false;
    lw_text_printf(e->why, "LLVM gave up: %s", why);
}

static lw_compiled *compile(lw_program *program, const lw_level *level, lw_layout layout, bool *bound, lw_text *keep,
                            lw_text *why) {
    lw_errand e = {.program = program, .level = level, .layout = layout, .keep = keep, .why = why};
    try(&e);
    *bound = e.bound;
    return e.made;
}

static lw_compiled *load(lw_program *program, const lw_level *level, lw_bytes kept, bool *bound, lw_text *why) {
    lw_errand e = {.program = program, .level = level, .kept = kept, .why = why};
    try(&e);
    *bound = e.bound;
    return e.made;
}

static bool print(lw_program *program, const lw_level *level, lw_layout layout, bool machine, lw_text *out,
                  lw_text *why) {
    lw_errand e = {.program = program, .level = level, .layout = layout, .machine = machine, .out = out, .why = why};
    try(&e);
    return e.good;
}

static const lw_jit jit = {sizeof(lw_gang), sizeof(lw_op), sizeof(lw_pass), LW_LANE_count, lw_object_build,
                           compile,         load,          lw_object_drop,  print};

__attribute__((visibility("default"))) const lw_jit *lanewise_jit(const lw_core *);
const lw_jit *lanewise_jit(const lw_core *calls) {
    core = calls;
    return &jit;
}
