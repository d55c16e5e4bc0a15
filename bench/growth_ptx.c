/* Texts of PTX that have n of one thing. Each kernel that is launched is called `k` and has no parameters. */
#include "growth.h"

#include <stdlib.h>

#define TEXT(name) static void name(FILE *to, uint32_t n)
#define EACH(i)    for (uint32_t i = 0; i < n; i++)

static void head(FILE *to) { fputs(".version 8.5\n.target sm_80\n.address_size 64\n.global .u32 out;\n", to); }

static void begin(FILE *to) {
    fputs(".visible .entry k()\n{\n.reg .b32 %r<8>;\n.reg .b64 %d<4>;\n.reg .pred %p<4>;\nmov.u32 %r1, "
          "%tid.x;\nmov.u32 %r2, %laneid;\n",
          to);
}

static void end(FILE *to) { fputs("st.global.u32 [out], %r1;\nret;\n}\n", to); }

static void open_kernel(FILE *to) {
    head(to);
    begin(to);
}

/* ---- Modules: kernels, functions, calls ------------------------------------------------------------------------ */

TEXT(kernels) {
    head(to);
    EACH(i)
    fprintf(to,
            ".visible .entry k%u(.param .u64 p)\n{\n.reg .b64 %%d<3>;\nld.param.u64 %%d1, [p];\nst.global.u32 [%%d1], "
            "%u;\nret;\n}\n",
            i, i);
}

/* One function that all kernels call. */
TEXT(kernels_of_one_function) {
    head(to);
    fputs(".func f(.param .u32 a)\n{\nret;\n}\n", to);
    EACH(i)
    fprintf(to, ".visible .entry k%u()\n{\n{\n.param .u32 a;\nst.param.u32 [a], %u;\ncall f, (a);\n}\nret;\n}\n", i, i);
}

static void put_functions(FILE *to, uint32_t n) {
    head(to);
    EACH(i) fprintf(to, ".func (.reg .u32 r) f%u(.reg .u32 a)\n{\nadd.u32 r, a, %u;\nret;\n}\n", i, i);
}

/* Called once each. */
TEXT(functions) {
    put_functions(to, n);
    begin(to);
    EACH(i) fprintf(to, "call (%%r1), f%u, (%%r1);\n", i);
    end(to);
}

TEXT(functions_unused) {
    put_functions(to, n);
    begin(to);
    end(to);
}

/* Any of them may be called by address; each has such a call itself. */
TEXT(functions_by_address) {
    head(to);
    EACH(i) fprintf(to, ".func f%u(.reg .u64 a)\n{\np: .callprototype _ (.reg .u64 a);\ncall a, (a), p;\nret;\n}\n", i);
    begin(to);
    fputs("p: .callprototype _ (.reg .u64 a);\nmov.u64 %d1, f0;\ncall %d1, (%d1), p;\n", to);
    end(to);
}

TEXT(prototypes_of_functions) { /* declared first, defined later */
    head(to);
    EACH(i) fprintf(to, ".func f%u(.reg .u32 a);\n", i);
    EACH(i) fprintf(to, ".func f%u(.reg .u32 a)\n{\nret;\n}\n", i);
    begin(to);
    end(to);
}

/* Each calls the next. */
TEXT(call_depth) {
    head(to);
    fputs(".func f0()\n{\nret;\n}\n", to);
    for (uint32_t i = 1; i < n; i++) fprintf(to, ".func f%u()\n{\ncall f%u;\nret;\n}\n", i, i - 1);
    begin(to);
    fprintf(to, "call f%u;\n", n - 1);
    end(to);
}

TEXT(recursion) {
    head(to);
    fputs(".func f(.reg .u32 a)\n{\n.reg .pred p;\n.reg .u32 b;\nsetp.eq.u32 p, a, 0;\n@p bra DONE;\nsub.u32 b, a, "
          "1;\ncall f, (b);\nDONE:\nret;\n}\n",
          to);
    begin(to);
    fprintf(to, "call f, (%u);\n", n);
    end(to);
}

/* Two functions that go down in turn, so that the frames of one lie behind those of the other when they are used
 * again. */
TEXT(two_recursions) {
    head(to);
    for (int f = 0; f < 2; f++)
        fprintf(to,
                ".func f%d(.reg .u32 a)\n{\n.reg .pred p;\n.reg .u32 b;\nsetp.eq.u32 p, a, 0;\n@p bra DONE;\nsub.u32 "
                "b, a, 1;\ncall f%d, (b);\nDONE:\nret;\n}\n",
                f, f);
    begin(to);
    for (int turn = 0; turn < 2; turn++)
        for (int f = 0; f < 2; f++) fprintf(to, "call f%d, (%u);\n", f, n);
    end(to);
}

TEXT(calls) {
    head(to);
    fputs(".func (.reg .u32 r) f(.reg .u32 a)\n{\nadd.u32 r, a, 1;\nret;\n}\n", to);
    begin(to);
    EACH(i) fputs("call (%r1), f, (%r1);\n", to);
    end(to);
}

TEXT(calls_by_param) {
    head(to);
    fputs(".func (.param .u32 r) f(.param .u32 a)\n{\n.reg .u32 x;\nld.param.u32 x, [a];\nst.param.u32 [r], "
          "x;\nret;\n}\n",
          to);
    begin(to);
    EACH(i)
    fputs("{\n.param .u32 a;\n.param .u32 b;\nst.param.u32 [a], %r1;\ncall (b), f, (a);\nld.param.u32 %r1, [b];\n}\n",
          to);
    end(to);
}

/* Calls by address, each with the list of all n functions. */
TEXT(call_targets) {
    head(to);
    EACH(i) fprintf(to, ".func f%u(.reg .u64 a)\n{\nret;\n}\n", i);
    begin(to);
    fputs("T: .calltargets f0", to);
    for (uint32_t i = 1; i < n; i++) fprintf(to, ", f%u", i);
    fputs(";\nmov.u64 %d1, f0;\n", to);
    EACH(i) fputs("call %d1, (%d1), T;\n", to);
    end(to);
}

TEXT(parameters) {
    head(to);
    fputs(".func f(", to);
    EACH(i) fprintf(to, "%s.reg .u32 a%u", i ? ", " : "", i);
    fputs(")\n{\nret;\n}\n", to);
    begin(to);
    fputs("call f, (", to);
    EACH(i) fprintf(to, "%s%%r%u", i ? ", " : "", i % 8);
    fputs(");\n", to);
    end(to);
}

TEXT(kernel_parameters) {
    head(to);
    fputs(".visible .entry k(", to);
    EACH(i) fprintf(to, "%s.param .u32 a%u", i ? ", " : "", i);
    fputs(")\n{\n.reg .u32 %r<2>;\n", to);
    EACH(i) fprintf(to, "ld.param.u32 %%r1, [a%u];\nst.global.u32 [out], %%r1;\n", i);
    fputs("ret;\n}\n", to);
}

TEXT(aliases) {
    head(to);
    fputs(".func f()\n{\nret;\n}\n", to);
    EACH(i) fprintf(to, ".visible .func a%u();\n.alias a%u, f;\n", i, i);
    begin(to);
    EACH(i) fprintf(to, "call a%u;\n", i);
    end(to);
}

/* ---- Names ----------------------------------------------------------------------------------------------------- */

/* "Aa" and "BB" are equal for hashes of the kind 31 h + c: n names with one hash. */
TEXT(names_that_collide) {
    open_kernel(to);
    unsigned bits = 1;
    while (1u << bits < n) bits++;
    for (int use = 0; use < 2; use++) EACH(i) {
            fputs(use ? "add.u32 %r1, %r1, " : ".reg .u32 x", to);
            if (use) fputs("x", to);
            for (unsigned b = 0; b < bits; b++) fputs(i >> b & 1 ? "BB" : "Aa", to);
            fputs(";\n", to);
        }
    end(to);
}

TEXT(long_names) { /* of n letters, eight of them */
    open_kernel(to);
    for (int use = 0; use < 2; use++)
        for (char c = 'a'; c < 'i'; c++) {
            fputs(use ? "add.u32 %r1, %r1, " : ".reg .u32 ", to);
            EACH(i) fputc(c, to);
            fputs(";\n", to);
        }
    end(to);
}

TEXT(long_numbered_names) { /* a letter and n digits: ranges are cut off at every digit */
    head(to);
    fputs(".visible .entry k()\n{\n.reg .u32 q1<10>;\n", to);
    for (int use = 0; use < 2; use++)
        for (int c = 1; c < 9; c++) {
            fputs(use ? "add.u32 q11, q12, x" : ".reg .u32 x", to);
            EACH(i) fputc('0' + c, to);
            fputs(";\n", to);
        }
    fputs("ret;\n}\n", to);
}

TEXT(registers) {
    open_kernel(to);
    fprintf(to, ".reg .u32 %%x<%u>;\n", n + 1);
    EACH(i) fprintf(to, "add.u32 %%x%u, %%r1, %u;\nst.volatile.global.u32 [out], %%x%u;\n", i, i, i);
    end(to);
}

TEXT(register_declarations) {
    open_kernel(to);
    EACH(i) fprintf(to, ".reg .u32 x%u;\n", i);
    EACH(i) fprintf(to, "add.u32 x%u, %%r1, %u;\n", i, i);
    end(to);
}

TEXT(register_ranges) {
    open_kernel(to);
    EACH(i) fprintf(to, ".reg .u32 x%uy<4>;\nadd.u32 x%uy1, %%r1, %u;\n", i, i, i);
    end(to);
}

TEXT(ranges_that_end_in_digits) {
    open_kernel(to);
    EACH(i) fprintf(to, ".reg .u32 x%u<4>;\nadd.u32 x%u1, %%r1, %u;\n", i + 1000, i + 1000, i);
    end(to);
}

/* Far apart in one large range. */
TEXT(registers_far_apart) {
    open_kernel(to);
    fputs(".reg .u32 %x<2000000000>;\n", to);
    EACH(i) fprintf(to, "add.u32 %%x%u, %%r1, %u;\n", (uint32_t)(i * 1000003ull % 2000000000), i);
    end(to);
}

TEXT(labels) {
    open_kernel(to);
    EACH(i) fprintf(to, "L%u:\nadd.u32 %%r1, %%r1, 1;\n", i);
    end(to);
}

TEXT(scopes) {
    open_kernel(to);
    EACH(i) fprintf(to, "{\n.reg .u32 x;\nadd.u32 x, %%r1, %u;\nmov.u32 %%r1, x;\nL:\n}\n", i);
    end(to);
}

/* ---- Variables ------------------------------------------------------------------------------------------------- */

TEXT(variables) {
    head(to);
    EACH(i) fprintf(to, ".global .u32 v%u = %u;\n", i, i);
    begin(to);
    EACH(i) fprintf(to, "ld.global.u32 %%r2, [v%u];\nadd.u32 %%r1, %%r1, %%r2;\n", i);
    end(to);
}

TEXT(variables_in_functions) {
    open_kernel(to);
    EACH(i) fprintf(to, ".local .u32 l%u;\n", i);
    EACH(i) fprintf(to, "st.local.u32 [l%u], %%r1;\n", i);
    end(to);
}

TEXT(shared_variables) {
    head(to);
    EACH(i) fprintf(to, ".shared .u8 s%u;\n", i);
    begin(to);
    EACH(i) fprintf(to, "st.shared.u8 [s%u], %%r1;\n", i);
    end(to);
}

TEXT(initialisers) {
    head(to);
    fprintf(to, ".global .u32 v[%u] = {0", n);
    for (uint32_t i = 1; i < n; i++) fprintf(to, ", %u", i);
    fputs("};\n", to);
    begin(to);
    end(to);
}

TEXT(initialisers_of_addresses) {
    head(to);
    fprintf(to, ".global .u64 v[%u] = {out", n);
    for (uint32_t i = 1; i < n; i++) fputs(", out+4", to);
    fputs("};\n", to);
    begin(to);
    end(to);
}

TEXT(initialisers_of_functions) {
    head(to);
    EACH(i) fprintf(to, ".func f%u()\n{\nret;\n}\n", i);
    fprintf(to, ".global .u64 v[%u] = {f0", n);
    for (uint32_t i = 1; i < n; i++) fprintf(to, ", f%u", i);
    fputs("};\n", to);
    begin(to);
    end(to);
}

TEXT(initialisers_of_rows) {
    head(to);
    fprintf(to, ".global .u32 v[%u][2] = {{0, 1}", n);
    for (uint32_t i = 1; i < n; i++) fprintf(to, ", {%u, 1}", i);
    fputs("};\n", to);
    begin(to);
    end(to);
}

/* ---- Instructions ---------------------------------------------------------------------------------------------- */

TEXT(instructions) {
    open_kernel(to);
    EACH(i) fprintf(to, "mad.lo.u32 %%r%u, %%r%u, %%r%u, %u;\n", i % 6 + 1, (i + 1) % 6 + 1, (i + 3) % 6 + 1, i);
    end(to);
}

TEXT(guarded_instructions) {
    open_kernel(to);
    fputs("setp.lt.u32 %p1, %r2, 16;\n", to);
    EACH(i)
    fprintf(to, "@%%p%u mad.lo.u32 %%r%u, %%r%u, %%r%u, %u;\n", i / 2 % 2 + 1, i % 6 + 1, (i + 1) % 6 + 1,
            (i + 3) % 6 + 1, i);
    end(to);
}

TEXT(live_registers) { /* all are made first and read last */
    open_kernel(to);
    fprintf(to, ".reg .u32 %%x<%u>;\n", n);
    EACH(i) fprintf(to, "mad.lo.u32 %%x%u, %%r1, %u, %%r2;\n", i, i);
    EACH(i) fprintf(to, "xor.b32 %%r1, %%r1, %%x%u;\n", i);
    end(to);
}

TEXT(live_registers_over_blocks) {
    open_kernel(to);
    fprintf(to, ".reg .u32 %%x<%u>;\n", n);
    EACH(i) fprintf(to, "mad.lo.u32 %%x%u, %%r1, %u, %%r2;\nL%u:\n", i, i, i);
    EACH(i) fprintf(to, "M%u:\nxor.b32 %%r1, %%r1, %%x%u;\n", i, i);
    end(to);
}

/* In a loop of many blocks, so that the flow has to go around. */
TEXT(live_registers_in_loop) {
    open_kernel(to);
    fprintf(to, ".reg .u32 %%x<%u>;\nmov.u32 %%r3, 0;\n", n);
    EACH(i) fprintf(to, "mov.u32 %%x%u, %%r1;\n", i);
    fputs("LOOP:\n", to);
    EACH(i) fprintf(to, "mad.lo.u32 %%x%u, %%x%u, %u, %%r2;\nL%u:\n", i, (i + 1) % n, i, i);
    fputs("add.u32 %r3, %r3, 1;\nsetp.lt.u32 %p1, %r3, 2;\n@%p1 bra LOOP;\n", to);
    EACH(i) fprintf(to, "xor.b32 %%r1, %%r1, %%x%u;\n", i);
    end(to);
}

TEXT(blocks) {
    open_kernel(to);
    EACH(i) fprintf(to, "setp.lt.u32 %%p1, %%r1, %u;\n@%%p1 bra L%u;\nadd.u32 %%r1, %%r1, 3;\nL%u:\n", i, i, i);
    end(to);
}

TEXT(blocks_that_part) { /* odd lanes stay behind, even ones go on; they meet at each block */
    open_kernel(to);
    fputs("and.b32 %r3, %r2, 1;\nsetp.eq.u32 %p1, %r3, 0;\n", to);
    EACH(i) fprintf(to, "@%%p1 bra L%u;\nadd.u32 %%r1, %%r1, %u;\nL%u:\n", i, i, i);
    end(to);
}

/* Every lane waits in a far block while one walks all others. */
TEXT(blocks_with_lanes_far_away) {
    open_kernel(to);
    fputs("setp.ne.u32 %p1, %r2, 0;\n@%p1 bra FAR;\n", to);
    EACH(i) fprintf(to, "setp.eq.u32 %%p2, %%r1, %u;\n@%%p2 bra L%u;\nadd.u32 %%r1, %%r1, 0;\nL%u:\n", i + 100, i, i);
    fputs("FAR:\n", to);
    end(to);
}

TEXT(loops) {
    open_kernel(to);
    EACH(i)
    fprintf(to, "mov.u32 %%r3, 0;\nL%u:\nadd.u32 %%r3, %%r3, 1;\nsetp.lt.u32 %%p1, %%r3, 2;\n@%%p1 bra L%u;\n", i, i);
    end(to);
}

TEXT(loops_nested) {
    open_kernel(to);
    fprintf(to, ".reg .u32 %%x<%u>;\n", n);
    EACH(i) fprintf(to, "mov.u32 %%x%u, 0;\nL%u:\n", i, i);
    EACH(i)
    fprintf(to, "add.u32 %%x%u, %%x%u, 1;\nsetp.lt.u32 %%p1, %%x%u, 1;\n@%%p1 bra L%u;\n", n - 1 - i, n - 1 - i,
            n - 1 - i, n - 1 - i);
    end(to);
}

TEXT(branches_from_blocks_to_one) {
    open_kernel(to);
    EACH(i) fprintf(to, "setp.eq.u32 %%p1, %%r1, %u;\n@%%p1 bra END;\nadd.u32 %%r1, %%r1, 1;\n", i + 1000);
    fputs("END:\n", to);
    end(to);
}

static void put_table(FILE *to, uint32_t n) {
    fputs("T: .branchtargets L0", to);
    for (uint32_t i = 1; i < n; i++) fprintf(to, ", L%u", i);
    fputs(";\n", to);
}

TEXT(branch_targets) {
    open_kernel(to);
    put_table(to, n);
    fputs("brx.idx %r2, T;\n", to);
    EACH(i) fprintf(to, "L%u:\nadd.u32 %%r1, %%r1, %u;\n", i, i);
    end(to);
}

TEXT(branches_by_one_table) { /* n times */
    open_kernel(to);
    put_table(to, n);
    fputs("mov.u32 %r3, 0;\n", to);
    EACH(i) fprintf(to, "L%u:\nadd.u32 %%r3, %%r3, 1;\nsetp.eq.u32 %%p1, %%r3, 1000;\n@%%p1 brx.idx %%r2, T;\n", i);
    end(to);
}

TEXT(shuffles) {
    open_kernel(to);
    EACH(i) fprintf(to, "shfl.sync.bfly.b32 %%r1, %%r1, %u, 31, -1;\n", i % 31 + 1);
    end(to);
}

TEXT(shuffles_with_notes) { /* a lane out of the mask is read each time */
    open_kernel(to);
    fputs("setp.lt.u32 %p1, %r2, 16;\n@%p1 bra GO;\nret;\nGO:\n", to);
    EACH(i) fputs("shfl.sync.idx.b32 %r1, %r1, 20, 31, 0xffff;\n", to);
    end(to);
}

TEXT(masks_of_shuffles) { /* another mask each time, that of the lanes which come or not */
    open_kernel(to);
    EACH(i) fprintf(to, "shfl.sync.idx.b32 %%r1, %%r1, 3, 31, 0x%x;\n", i | 0xf0000000u);
    end(to);
}

TEXT(votes) {
    open_kernel(to);
    fputs("setp.lt.u32 %p1, %r2, 16;\n", to);
    EACH(i) fputs("vote.sync.ballot.b32 %r1, %p1, -1;\n", to);
    end(to);
}

TEXT(barriers) {
    open_kernel(to);
    EACH(i) fputs("bar.sync 0;\n", to);
    end(to);
}

TEXT(exits) { /* a lane at a time */
    open_kernel(to);
    EACH(i) fprintf(to, "setp.eq.u32 %%p1, %%r1, %u;\n@%%p1 exit;\n", i);
    end(to);
}

TEXT(vectors) {
    open_kernel(to);
    EACH(i) fputs("st.global.v4.u32 [out], {%r1, %r2, %r1, %r2};\n", to);
    end(to);
}

TEXT(packed_vectors) {
    open_kernel(to);
    EACH(i) fputs("mov.b64 %d1, {%r1, %r2};\nmov.b64 {%r1, %r2}, %d1;\n", to);
    end(to);
}

TEXT(memory_accesses) {
    head(to);
    fputs(".global .u32 buffer[64];\n", to);
    begin(to);
    fputs("mov.u64 %d1, buffer;\n", to);
    EACH(i)
    fprintf(to, "ld.global.u32 %%r3, [%%d1+%u];\nst.global.u32 [%%d1+%u], %%r3;\n", i % 64 * 4, (i + 1) % 64 * 4);
    end(to);
}

TEXT(atomics) {
    open_kernel(to);
    EACH(i) fputs("atom.global.add.u32 %r1, [out], 1;\n", to);
    end(to);
}

TEXT(constants) {
    open_kernel(to);
    EACH(i)
    fprintf(to, "mul.lo.u64 %%d1, %%d2, %llu;\nst.global.u64 [%%d1], %llu;\n", i * 0x10001ull + 7,
            i * 0x100000001ull + 3);
    fputs("ret;\n}\n", to);
}

/* Equal in the upper half of their product with the golden ratio, by which numbers are hashed often. */
TEXT(constants_that_collide) {
    open_kernel(to);
    EACH(i) fprintf(to, "st.global.u64 [%%d1], %llu;\n", i * 0xf1de83e19937733dull);
    fputs("ret;\n}\n", to);
}

TEXT(spellings) { /* one that differs from the rest by what is allowed anywhere */
    static const char *const types[] = {"u16", "s16", "u32", "s32", "u64", "s64"}, *const compares[] = {"eq", "ne",
                                                                                                        "lt", "le",
                                                                                                        "gt", "ge"},
                             *const bools[] = {"and", "or", "xor"};
    head(to);
    fputs(".visible .entry k()\n{\n.reg .pred p, q, r;\n.reg .b16 h;\n.reg .b32 w;\n.reg .b64 d;\n", to);
    EACH(i) {
        const char *type = types[i % 6];
        fprintf(to, "setp.%s.%s.%s p|q, %s, %u, r;\n", compares[i / 6 % 6], bools[i / 36 % 3], type,
                type[1] == '1'   ? "h"
                : type[1] == '3' ? "w"
                                 : "d",
                i % 256);
    }
    fputs("ret;\n}\n", to);
}

/* ---- Expressions ----------------------------------------------------------------------------------------------- */

TEXT(sums_in_addresses) {
    open_kernel(to);
    fputs("ld.global.u32 %r1, [out", to);
    EACH(i) fputs(i % 2 ? "+-4" : "+4", to);
    fputs(n % 2 ? "+-4];\n" : "];\n", to);
    end(to);
}

TEXT(sums_in_initialisers) {
    head(to);
    fputs(".global .u64 v = out", to);
    EACH(i) fputs("+1", to);
    fputs(";\n.global .u32 w = 1", to);
    EACH(i) fputs("+1*2", to);
    fputs(";\n", to);
    begin(to);
    end(to);
}

TEXT(expressions) {
    open_kernel(to);
    EACH(i) fprintf(to, "add.u32 %%r1, %%r1, (%u + 3) * 5 << 2;\n", i);
    end(to);
}

static void put_many(FILE *to, const char *text, uint32_t n) { EACH(i) fputs(text, to); }

TEXT(parentheses_nested) { /* 200 deep, n times; deeper is refused */
    open_kernel(to);
    EACH(i) {
        fputs("add.u32 %r1, %r1, ", to);
        put_many(to, "(", 100);
        fprintf(to, "%u", i);
        put_many(to, ")", 100);
        fputs(";\n", to);
    }
    end(to);
}

TEXT(parentheses_too_deep) { /* an error; the rest is not read */
    open_kernel(to);
    fputs("add.u32 %r1, %r1, ", to);
    put_many(to, "(", n);
    put_many(to, ")", n);
    end(to);
}

TEXT(conditions) { /* 1 ? 1 ? … : 0 : 0 in a row of n */
    open_kernel(to);
    EACH(i) fprintf(to, "add.u32 %%r1, %%r1, (%u > 3 ? 4 : %u);\n", i, i);
    end(to);
}

TEXT(scopes_nested) { /* 200 deep, n times */
    open_kernel(to);
    EACH(i) {
        put_many(to, "{ .reg .u32 x; ", 200);
        put_many(to, "mov.u32 x, 1; } ", 200);
    }
    end(to);
}

TEXT(scopes_too_deep) {
    open_kernel(to);
    put_many(to, "{\n", n);
    put_many(to, "}\n", n);
    end(to);
}

/* ---- What is no code ------------------------------------------------------------------------------------------- */

TEXT(comments) {
    open_kernel(to);
    EACH(i)
    fprintf(to, "// a comment of which there are many, %u\n/* and */ add.u32 %%r1, /* another */ %%r1, 1;\n", i);
    end(to);
}

TEXT(long_comment) {
    open_kernel(to);
    fputs("/*", to);
    EACH(i) fputs(" * / stars", to);
    fputs("*/\n", to);
    end(to);
}

TEXT(white_space) {
    open_kernel(to);
    EACH(i) fputs("   \t  \n", to);
    end(to);
}

TEXT(hashes) { /* where a line marker may stand */
    open_kernel(to);
    EACH(i) fputs("  # 1 \"file\"\n", to);
    end(to);
}

TEXT(long_line) {
    open_kernel(to);
    EACH(i) fputs("add.u32 %r1, %r1, %r2; ", to);
    end(to);
}

TEXT(long_line_of_shuffles) { /* whose places are asked for */
    open_kernel(to);
    fputs("setp.lt.u32 %p1, %r2, 16;\n@%p1 bra GO;\nret;\nGO:\n", to);
    EACH(i) fputs("shfl.sync.idx.b32 %r1, %r1, 20, 31, 0xffff; ", to);
    end(to);
}

TEXT(pragmas) {
    open_kernel(to);
    EACH(i) fputs(".pragma \"nounroll\";\n", to);
    end(to);
}

TEXT(long_string) {
    head(to);
    fputs(".pragma \"", to);
    EACH(i) fputs("nounroll ", to);
    fputs("\";\n", to);
    begin(to);
    end(to);
}

TEXT(files_and_lines) {
    head(to);
    EACH(i) fprintf(to, ".file %u \"file%u.cu\"\n", i + 1, i);
    begin(to);
    EACH(i) fprintf(to, ".loc %u %u 3\nadd.u32 %%r1, %%r1, 1;\n", i + 1, i);
    end(to);
}

TEXT(inlined_lines) {
    head(to);
    fputs(".file 1 \"file.cu\"\n", to);
    begin(to);
    EACH(i)
    fprintf(to, ".loc 1 %u 3, function_name $L__info_string0, inlined_at 1 %u 3\nadd.u32 %%r1, %%r1, 1;\n", i, i);
    end(to);
    fputs(".section .debug_str\n{\n$L__info_string0:\n.b8 102\n.b8 0\n}\n", to);
}

TEXT(sections) {
    open_kernel(to);
    end(to);
    EACH(i) fprintf(to, ".section .debug_info\n{\n.b32 %u\n.b8 1\n}\n", i);
}

TEXT(long_section) {
    open_kernel(to);
    end(to);
    fputs(".section .debug_info\n{\n", to);
    EACH(i) fprintf(to, "$L%u:\n.b32 %u\n.b8 1, 2, 3\n.b64 .debug_info+%u\n", i, i, i);
    fputs("}\n", to);
}

/* ---- Faults ---------------------------------------------------------------------------------------------------- */

TEXT(faults_of_syntax) {
    open_kernel(to);
    EACH(i) fputs("add.u32 %r1, %r1, ;\n", to);
    end(to);
}

TEXT(faults_of_types) {
    open_kernel(to);
    EACH(i) fputs("add.u32 %r1, %d1, 1;\n", to);
    end(to);
}

TEXT(faults_in_line) {
    open_kernel(to);
    EACH(i) fputs("add.u32 %r1, %d1, 1; ", to);
    end(to);
}

TEXT(faults_of_names) { /* unknown ones that look like known ones */
    open_kernel(to);
    EACH(i) fprintf(to, ".reg .u32 value%u;\n", i);
    EACH(i) fprintf(to, "add.u32 valeu%u, %%r1, 1;\n", i);
    end(to);
}

TEXT(faults_of_mnemonics) {
    open_kernel(to);
    EACH(i) fprintf(to, "ad.u%u %%r1, %%r1, 1;\n", i);
    end(to);
}

TEXT(faults_of_bytes) {
    open_kernel(to);
    EACH(i) fputs("` ~ \x01 \n", to);
    end(to);
}

TEXT(faults_of_bytes_in_comments) {
    open_kernel(to);
    EACH(i) fputs("// \xc3\xa4 \xc3\xb6\n", to);
    end(to);
}

TEXT(faults_of_duplicates) {
    open_kernel(to);
    EACH(i) fputs(".reg .u32 x;\n", to);
    end(to);
}

TEXT(faults_of_braces) {
    head(to);
    EACH(i) fprintf(to, ".visible .entry k%u()\n{\n{\nret;\n", i);
}

TEXT(faults_of_functions) { /* calls of functions that are not there */
    open_kernel(to);
    EACH(i) fprintf(to, "call f%u;\n", i);
    end(to);
}

TEXT(not_executable) { /* known, but nothing runs it */
    open_kernel(to);
    EACH(i) fputs("pmevent 3;\n", to);
    end(to);
}

#define BOTH LW_GROWTH_RUNS
const lw_growth_text lw_growth_ptx[] = {
    {"kernels", kernels, 1000, 0, 0, 0},
    {"kernels that call a function", kernels_of_one_function, 1000, 0, 0, 0},
    {"functions called once each", functions, 1000, 0, BOTH, 0},
    {"functions not called", functions_unused, 1000, 0, BOTH, 0},
    {"functions called by address", functions_by_address, 500, 0, 0, 0},
    {"functions declared first", prototypes_of_functions, 1000, 0, BOTH, 0},
    {"depth of calls", call_depth, 500, 8000, BOTH, 0},
    {"depth of a recursion", recursion, 500, 8000, BOTH, 0},
    {"two recursions in turn", two_recursions, 500, 8000, BOTH, 0},
    {"calls", calls, 2000, 0, BOTH, 0},
    {"calls with .param", calls_by_param, 1000, 0, BOTH, 0},
    {"calls by a list of targets", call_targets, 500, 0, BOTH, 0},
    {"parameters of a function", parameters, 1000, 0, BOTH, 0},
    {"parameters of a kernel", kernel_parameters, 250, 1000, 0, 0},
    {"aliases", aliases, 1000, 0, BOTH, 0},
    {"names made to collide", names_that_collide, 1024, 0, BOTH, 0},
    {"length of names", long_names, 10000, 0, BOTH, 0},
    {"length of numbered names", long_numbered_names, 10000, 0, BOTH, 0},
    {"registers", registers, 2000, 0, BOTH, 0},
    {"declarations of registers", register_declarations, 2000, 0, BOTH, 0},
    {"ranges of registers", register_ranges, 2000, 0, BOTH, 0},
    {"ranges with digits at the end", ranges_that_end_in_digits, 1000, 0, BOTH, 0},
    {"registers far apart", registers_far_apart, 2000, 0, BOTH, 0},
    {"labels", labels, 2000, 0, BOTH, 0},
    {"scopes", scopes, 2000, 0, BOTH, 0},
    {"variables", variables, 2000, 0, BOTH, 0},
    {"variables of a function", variables_in_functions, 2000, 100000, BOTH, 0},
    {"variables in shared memory", shared_variables, 2000, 200000, BOTH, 0},
    {"initialisers", initialisers, 5000, 0, BOTH, 0},
    {"initialisers that are addresses", initialisers_of_addresses, 5000, 0, BOTH, 0},
    {"initialisers that are functions", initialisers_of_functions, 1000, 0, BOTH, 0},
    {"initialisers in rows", initialisers_of_rows, 5000, 0, BOTH, 0},
    {"instructions of one block", instructions, 5000, 0, BOTH, 0},
    {"instructions under guards", guarded_instructions, 5000, 0, BOTH, 0},
    {"live registers", live_registers, 2000, 0, BOTH, 0},
    {"live registers over blocks", live_registers_over_blocks, 1000, 0, BOTH, 0},
    {"live registers around a loop", live_registers_in_loop, 1000, 0, BOTH, 0},
    {"blocks", blocks, 2000, 0, BOTH, 0},
    {"blocks whose lanes part", blocks_that_part, 2000, 0, BOTH, 0},
    {"blocks, other lanes far away", blocks_with_lanes_far_away, 2000, 0, BOTH, 0},
    {"loops", loops, 2000, 0, BOTH, 0},
    {"loops nested", loops_nested, 500, 0, BOTH, 0},
    {"branches to one label", branches_from_blocks_to_one, 2000, 0, BOTH, 0},
    {"targets of a branch", branch_targets, 2000, 0, BOTH, 0},
    {"branches by one table", branches_by_one_table, 500, 0, BOTH, 0},
    {"shuffles", shuffles, 5000, 0, BOTH, 0},
    {"shuffles with notes", shuffles_with_notes, 2000, 0, BOTH, 0},
    {"shuffles of part of the warp", masks_of_shuffles, 2000, 0, BOTH, 0},
    {"votes", votes, 5000, 0, BOTH, 0},
    {"barriers in the text", barriers, 5000, 0, BOTH, 256},
    {"exits", exits, 2000, 0, BOTH, 1024},
    {"vectors", vectors, 2000, 0, LW_GROWTH_RUNS | LW_GROWTH_STRAYS, 0},
    {"vectors packed", packed_vectors, 2000, 0, BOTH, 0},
    {"accesses to memory", memory_accesses, 2000, 0, BOTH, 0},
    {"atomics", atomics, 2000, 0, BOTH, 0},
    {"constants", constants, 2000, 0, 0, 0},
    {"constants made to collide", constants_that_collide, 2000, 0, 0, 0},
    {"spellings", spellings, 2000, 0, 0, 0},
    {"sums in addresses", sums_in_addresses, 10000, 0, BOTH, 0},
    {"sums in initialisers", sums_in_initialisers, 10000, 0, BOTH, 0},
    {"expressions", expressions, 5000, 0, BOTH, 0},
    {"parentheses nested", parentheses_nested, 100, 0, BOTH, 0},
    {"parentheses too deep", parentheses_too_deep, 100000, 0, LW_GROWTH_FAULTY, 0},
    {"conditions", conditions, 2000, 0, BOTH, 0},
    {"scopes nested", scopes_nested, 20, 0, BOTH, 0},
    {"scopes too deep", scopes_too_deep, 100000, 0, LW_GROWTH_FAULTY, 0},
    {"comments", comments, 5000, 0, BOTH, 0},
    {"length of a comment", long_comment, 100000, 0, BOTH, 0},
    {"white space", white_space, 100000, 0, BOTH, 0},
    {"line markers", hashes, 20000, 0, BOTH, 0},
    {"length of a line", long_line, 5000, 0, BOTH, 0},
    {"a line of shuffles with notes", long_line_of_shuffles, 2000, 0, BOTH, 0},
    {"pragmas", pragmas, 10000, 0, BOTH, 0},
    {"length of a string", long_string, 20000, 0, BOTH, 0},
    {"files and lines", files_and_lines, 5000, 0, BOTH, 0},
    {"inlined lines", inlined_lines, 5000, 0, BOTH, 0},
    {"sections", sections, 5000, 0, BOTH, 0},
    {"length of a section", long_section, 5000, 0, BOTH, 0},
    {"faults of syntax", faults_of_syntax, 5000, 0, LW_GROWTH_FAULTY, 0},
    {"faults of types", faults_of_types, 5000, 0, LW_GROWTH_FAULTY, 0},
    {"faults in one line", faults_in_line, 5000, 0, LW_GROWTH_FAULTY, 0},
    {"faults of names", faults_of_names, 2000, 0, LW_GROWTH_FAULTY, 0},
    {"faults of mnemonics", faults_of_mnemonics, 5000, 0, LW_GROWTH_FAULTY, 0},
    {"faults of bytes", faults_of_bytes, 10000, 0, LW_GROWTH_FAULTY, 0},
    {"faults of bytes in comments", faults_of_bytes_in_comments, 10000, 0, LW_GROWTH_FAULTY, 0},
    {"names declared twice", faults_of_duplicates, 5000, 0, LW_GROWTH_FAULTY, 0},
    {"braces left open", faults_of_braces, 2000, 0, LW_GROWTH_FAULTY, 0},
    {"calls of what is not there", faults_of_functions, 5000, 0, LW_GROWTH_FAULTY, 0},
    {"instructions not executable", not_executable, 5000, 0, LW_GROWTH_FAULTY, 0},
    {0},
};
