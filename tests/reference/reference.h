/* reference.h: a second witness for whole programs. A plain executor over the checked module: one thread at a time,
 * until it must wait.
 *
 * It knows the front end (ptx.h) and nothing behind it: no lowering, no slots, no lane function. What an instruction
 * means is written here once more, from the manual, one thread and one value at a time, and where the manual is silent
 * from what hardware was seen to do (docs/decisions). Slow and simple on purpose: whoever doubts a result of the
 * library should be able to read what is right here.
 *
 * machine.c  threads, calls, scheduling, the rendezvous of a warp, barriers     operand.c  registers, constants,
 * addresses, memory decode.c   which function executes an instruction                             control.c integer.c
 * real.c approx.c convert.c narrow.c move.c warp.c video.c */
#ifndef LW_REFERENCE_H
#define LW_REFERENCE_H

#include "front/ptx/ptx.h"

/* Words of mnemonics that an instruction's meaning depends on. */
/* clang-format off */
#define REF_WORDS(WORD) \
    WORD(sat) WORD(ftz) WORD(relu) WORD(NaN) WORD(xorsign) WORD(abs) WORD(hi) WORD(lo) WORD(wide) WORD(cc) \
    WORD(clamp) WORD(wrap) WORD(shiftamt) WORD(rn) WORD(rz) WORD(rm) WORD(rp) WORD(rni) WORD(rzi) WORD(rmi) \
    WORD(rpi) WORD(and) WORD(or) WORD(xor) WORD(add) WORD(min) WORD(max) WORD(inc) WORD(dec) WORD(exch) WORD(cas) \
    WORD(sync) WORD(all) WORD(any) WORD(uni) WORD(ballot) WORD(up) WORD(down) WORD(bfly) WORD(idx) WORD(eq) \
    WORD(ne) WORD(lt) WORD(le) WORD(gt) WORD(ge) WORD(ls) WORD(hs) WORD(equ) WORD(neu) WORD(ltu) WORD(leu) \
    WORD(gtu) WORD(geu) WORD(num) WORD(nan) WORD(v2) WORD(v4) WORD(v8) WORD(arrive) WORD(red) WORD(popc) \
    WORD(warp) WORD(l) WORD(r) WORD(to) WORD(finite) WORD(infinite) WORD(number) WORD(notanumber) WORD(normal) \
    WORD(subnormal) WORD(f4e) WORD(b4e) WORD(rc8) WORD(ecl) WORD(ecr) WORD(rc16) WORD(shared) WORD(pack) WORD(u4) \
    WORD(s4) WORD(u2) WORD(s2) WORD(approx) WORD(full) WORD(po) WORD(shr7) WORD(shr15) WORD(oob) WORD(rna) \
    WORD(satfinite) WORD(rs) WORD(e4m3x2) WORD(e5m2x2) WORD(e2m3x2) WORD(e3m2x2) WORD(e2m1x2) WORD(ue8m0x2) \
    WORD(e4m3x4) WORD(e5m2x4) WORD(e2m3x4) WORD(e3m2x4) WORD(e2m1x4) WORD(cluster)
/* clang-format on */

typedef enum ref_word {
#define WORD(name) REF_##name,
    REF_WORDS(WORD)
#undef WORD
        REF_WORD_COUNT
} ref_word;

typedef struct ref_value { /* of a register: the high half is that of .b128 only */
    uint64_t low, high;
    bool written; /* reading what nobody wrote has no defined result */
} ref_value;

typedef struct ref_machine ref_machine;
typedef struct ref_thread ref_thread;

/* One instruction, its words looked at once. */
typedef struct ref_op {
    const lw_instruction *in;
    void (*execute)(ref_thread *, const struct ref_op *);
    uint64_t words[2]; /* bit n: the mnemonic has word n */
    uint32_t type_count;
    lw_type types[4]; /* those that the mnemonic names, in order */
    lw_type type;     /* the last of them */
    lw_place place;
} ref_op;

static inline bool ref_has(const ref_op *op, ref_word word) { return op->words[word / 64] >> word % 64 & 1; }

/* An activation of a function. */
typedef struct ref_frame {
    const lw_function *function;
    uint32_t next; /* statement to execute next */
    ref_value *registers;
    uint64_t locals;    /* where its variables begin in the thread's local memory */
    const ref_op *call; /* whose results it gives; NULL: the kernel */
    struct ref_frame *caller;
} ref_frame;

typedef enum ref_state { REF_RUNS, REF_MEETS, REF_AT_BARRIER, REF_EXITED } ref_state;

struct ref_thread {
    ref_machine *machine;
    ref_frame *frame;
    uint32_t number, tid[3]; /* within the CTA */
    ref_state state;
    const ref_op *waits;                /* what it waits at */
    uint64_t cluster_turn;              /* in which it came to the barrier of the cluster */
    uint32_t members;                   /* MEETS: its membermask */
    bool carry;                         /* CC.CF */
    bool yields;                        /* has given its turn away */
    unsigned char *local, *local_known; /* known: not 0 where the byte has been written */
    uint64_t local_size, local_room;
};

typedef struct ref_barrier {
    uint32_t arrived, expected; /* expected 0: nobody is here */
    uint32_t count;             /* of true predicates */
} ref_barrier;

/* Device memory as the kernel sees it. */
typedef struct ref_region {
    uint64_t address, size;
    unsigned char *bytes;
    uint64_t own; /* so many bytes are for each thread of the grid, in order, and for no other; 0: for all */
} ref_region;

typedef enum ref_end {
    REF_DONE,
    REF_TRAP,      /* a fault of the kernel, or trap */
    REF_STUCK,     /* nobody can go on */
    REF_LIMIT,     /* too many steps */
    REF_UNDEFINED, /* the program has no defined result: a fault of its generator */
    REF_UNKNOWN,   /* an instruction that the reference lacks */
} ref_end;

typedef struct ref_result {
    ref_end end;
    const char *why;      /* a fixed text */
    lw_place place;       /* of the instruction */
    uint32_t cta, thread; /* flat numbers */
    uint64_t steps;       /* instructions of all threads */
} ref_result;

typedef struct ref_launch {
    lw_module_ptx *module; /* checked; the reference gives its variables addresses */
    const lw_function *kernel;
    uint32_t grid[3], block[3];
    const unsigned char *params; /* kernel->param_bytes */
    ref_region *regions;
    uint32_t region_count;
    uint64_t step_limit;
    uint32_t quantum; /* instructions that a thread executes before the next one's turn */
    bool sm_90;       /* whose results, where the manual and sm_90 differ */
    bool
        bare; /* local and shared memory begin with anything, as on a GPU: reading it unwritten has no defined result */
    uint64_t *executed; /* NULL, or counts by form: adds what threads execute */
} ref_launch;

/* Runs a kernel; CTAs one after the other. Changes the regions' bytes. */
ref_result ref_run(const ref_launch *launch);

/* ---- For the files of the reference ---------------------------------------------------------------------- */

typedef struct ref_code { /* of a function */
    ref_op *ops;          /* one for each statement; execute is NULL where that is no instruction */
    uint64_t frame_bytes;
} ref_code;

enum { REF_CLUSTER_BARRIER = 16 }; /* its number among those of the CTA */

struct ref_machine {
    const ref_launch *launch;
    lw_arena arena;
    ref_code *codes; /* by the number of the function's object */
    unsigned char *shared, *constant,
        *global;                 /* shared: of the CTA at work; constant, global: variables of the module */
    unsigned char *shared_known; /* as local_known of a thread */
    uint64_t shared_size, constant_size, global_size;
    uint32_t cta, ctaid[3], thread_count;
    ref_thread *threads;
    ref_barrier barriers[REF_CLUSTER_BARRIER + 1];
    uint64_t cluster_turn; /* times that the barrier of the cluster, which is the CTA, has opened */
    ref_result result;
    bool ended;
};

/* Where generic addresses of each space begin, and addresses of functions. */
#define REF_SHARED_BASE   0x1000000000000000u
#define REF_LOCAL_BASE    0x2000000000000000u
#define REF_PARAM_BASE    0x3000000000000000u
#define REF_CONST_BASE    0x4000000000000000u
#define REF_GLOBAL_BASE   0x5000000000000000u
#define REF_FUNCTION_BASE 0x6000000000000000u

void ref_stop(ref_thread *t, const ref_op *op, ref_end end, const char *why); /* ends the launch */

/* decode.c */
void ref_decode(ref_op *op, const lw_instruction *in, lw_place place);
bool ref_knows(const char *opcode); /* is there a function for it */

/* operand.c */
static inline uint64_t ref_mask(uint32_t bits) { return bits >= 64 ? UINT64_MAX : ((uint64_t)1 << bits) - 1; }
static inline int64_t ref_signed(uint64_t value, uint32_t bits) {
    return bits >= 64 ? (int64_t)value : (int64_t)(value << (64 - bits)) >> (64 - bits);
}
static inline uint32_t ref_bits(lw_type type) { return lw_types[type].bits; }
static inline bool ref_is_signed(lw_type type) { return lw_types[type].kind == 'S'; }
static inline bool ref_is_real(lw_type type) { /* or two halves that are */
    return lw_types[type].kind == 'F' || type == LW_T_bf16 || type == LW_T_f16x2 || type == LW_T_bf16x2;
}
ref_value *ref_register(ref_thread *t, const lw_operand *operand);
bool ref_grow(ref_thread *t, uint64_t size); /* its local memory, by zeros; false: there is not so much */
uint64_t ref_read(ref_thread *t, const ref_op *op, const lw_operand *operand,
                  lw_type type); /* the low bits of that type */
int64_t ref_read_signed(ref_thread *t, const ref_op *op, const lw_operand *operand, lw_type type);
void ref_write(ref_thread *t, const lw_operand *operand, lw_type type,
               uint64_t value); /* extended to the register as the type says */
bool ref_guard(ref_thread *t, const ref_op *op);
/* What an instruction does to memory, and to what it finds there. */
typedef enum ref_access { REF_READS = 1, REF_WRITES = 2, REF_CHANGES = 3 } ref_access;
/* Bytes of shared or local memory are read, written, or both; others may lie anywhere. */
void ref_touch(ref_thread *t, const ref_op *op, const unsigned char *at, uint64_t size, ref_access how);
/* The bytes of an access; NULL: trapped. */
unsigned char *ref_address(ref_thread *t, const ref_op *op, const lw_operand *operand, lw_space space, uint32_t size,
                           ref_access how);
unsigned char *ref_variable(ref_thread *t, const ref_frame *frame,
                            const lw_object *object); /* of the frame: .param and .local */
uint64_t ref_name_address(ref_thread *t, const lw_operand *operand);

/* machine.c */
void ref_call(ref_thread *t, const ref_op *op, const lw_function *callee, const lw_call_parts *parts);
void ref_return(ref_thread *t);
void ref_exit(ref_thread *t);
void ref_meet(ref_thread *t, const ref_op *op, uint32_t members);

/* warp.c: the lanes of `members` (bits of the warp that begins at thread `first`) exchange, each by its own
 * operation. */
void ref_exchange(ref_machine *m, uint32_t first, uint32_t members);

/* real.c */
typedef struct ref_format {
    uint32_t exponent, mantissa;
} ref_format;
typedef struct ref_real { /* (-1)^negative * mantissa * 2^exponent */
    enum { REF_FINITE, REF_INFINITE, REF_NAN } kind;
    bool negative;
    unsigned __int128 mantissa;
    int32_t exponent;
} ref_real;
typedef enum ref_rounding { REF_NEAREST, REF_ZERO, REF_MINUS, REF_PLUS } ref_rounding;
ref_format ref_format_of(lw_type type);
ref_real ref_unpack(uint64_t bits, lw_type type);
uint64_t ref_pack(ref_real real, lw_type type, ref_rounding rounding); /* not of a NaN */
ref_rounding ref_rounding_of(const ref_op *op);
bool ref_is_nan(uint64_t bits, lw_type type);
uint64_t ref_flush(uint64_t bits, lw_type type); /* a subnormal number becomes zero of its sign */
bool ref_real_compare(const ref_op *op, uint64_t a, uint64_t b, lw_type type);
uint64_t ref_saturate(uint64_t bits, lw_type type);                          /* to [0, 1], NaN to 0 */
uint64_t ref_real_add(uint64_t a, uint64_t b, lw_type type, bool in_global); /* as atomics do it: memory, operand */
bool ref_is_half(lw_type type);                                              /* of 16 bits, or two of them */
uint64_t ref_half_change(const ref_op *op, uint64_t a, uint64_t b);

uint64_t ref_real_f32(const char *opcode, uint64_t a, uint64_t b,
                      bool flushes); /* an operation of two operands, to nearest */

uint64_t ref_real_extreme(const ref_op *op, uint64_t a, uint64_t b, lw_type type, bool is_min);

/* narrow.c: cvt to and from 8, 6 and 4 bits, and with random bits; false: it is none of these. */
bool ref_narrow(ref_thread *t, const ref_op *op);

/* approx.c */
void ref_approx_do(ref_thread *t, const ref_op *op);

/* One function for each opcode. */
/* clang-format off */
#define REF_OPCODES(OPCODE) \
    OPCODE(rsqrt) OPCODE(ex2) OPCODE(lg2) OPCODE(sin) OPCODE(cos) OPCODE(tanh) OPCODE(add) OPCODE(sub) OPCODE(mul) \
    OPCODE(mad) OPCODE(fma) OPCODE(mul24) OPCODE(mad24) OPCODE(sad) OPCODE(div) OPCODE(rem) OPCODE(abs) \
    OPCODE(neg) OPCODE(min) OPCODE(max) OPCODE(popc) OPCODE(clz) OPCODE(bfind) OPCODE(fns) OPCODE(brev) \
    OPCODE(bfe) OPCODE(bfi) OPCODE(szext) OPCODE(bmsk) OPCODE(dp4a) OPCODE(dp2a) OPCODE(addc) OPCODE(subc) \
    OPCODE(madc) OPCODE(testp) OPCODE(copysign) OPCODE(rcp) OPCODE(sqrt) OPCODE(set) OPCODE(setp) OPCODE(selp) \
    OPCODE(slct) OPCODE(and) OPCODE(or) OPCODE(xor) OPCODE(not) OPCODE(cnot) OPCODE(lop3) OPCODE(shf) OPCODE(shl) \
    OPCODE(shr) OPCODE(mov) OPCODE(prmt) OPCODE(ld) OPCODE(ldu) OPCODE(st) OPCODE(prefetch) OPCODE(prefetchu) \
    OPCODE(applypriority) OPCODE(discard) OPCODE(isspacep) OPCODE(istypep) OPCODE(createpolicy) OPCODE(alloca) \
    OPCODE(stacksave) OPCODE(stackrestore) OPCODE(cvta) OPCODE(cvt) OPCODE(vshl) OPCODE(vshr) \
    OPCODE(vadd) OPCODE(vsub) OPCODE(vabsdiff) OPCODE(vmin) OPCODE(vmax) OPCODE(vset) OPCODE(vmad) OPCODE(vadd2) \
    OPCODE(vsub2) OPCODE(vavrg2) OPCODE(vabsdiff2) OPCODE(vmin2) OPCODE(vmax2) OPCODE(vset2) OPCODE(vadd4) \
    OPCODE(vsub4) OPCODE(vavrg4) OPCODE(vabsdiff4) OPCODE(vmin4) OPCODE(vmax4) OPCODE(vset4) OPCODE(shfl) \
    OPCODE(vote) OPCODE(match) OPCODE(activemask) OPCODE(redux) OPCODE(elect) OPCODE(bar) OPCODE(barrier) \
    OPCODE(membar) OPCODE(fence) OPCODE(atom) OPCODE(red) OPCODE(bra) OPCODE(brx) OPCODE(call) OPCODE(ret) \
    OPCODE(exit) OPCODE(mapa) OPCODE(getctarank) OPCODE(griddepcontrol) OPCODE(brkpt) OPCODE(nanosleep) OPCODE(pmevent) OPCODE(trap) OPCODE(setmaxnreg)
/* clang-format on */
#define OPCODE(name) void ref_do_##name(ref_thread *t, const ref_op *op);
REF_OPCODES(OPCODE)
#undef OPCODE

#endif
