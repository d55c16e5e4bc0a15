/* Texts of PTO that have n of one thing. */
#include "growth.h"

#define TEXT(name) static void name(FILE *to, uint32_t n)
#define EACH(i)    for (uint32_t i = 0; i < n; i++)
#define VREG       "!pto.vreg<64xi32>"
#define MASK       "!pto.mask<b32>"

static void begin(FILE *to, const char *name) {
    fprintf(to, "func.func @%s(%%a: " VREG ", %%b: " VREG ") -> " VREG " {\n  %%m = pto.mask.all : " MASK "\n", name);
}

static void end(FILE *to, const char *result) { fprintf(to, "  return %%%s : " VREG "\n}\n", result); }

static void put_shift(FILE *to, const char *indent, uint32_t to_name, const char *from, uint32_t from_name) {
    fprintf(to, "%s%%v%u = pto.vshr %%%s", indent, to_name, from);
    if (*from == 'v') fprintf(to, "%u", from_name);
    fputs(", %b, %m : (" VREG ", " VREG ", " MASK ") -> " VREG "\n", to);
}

TEXT(functions) {
    EACH(i) {
        char name[24];
        snprintf(name, sizeof name, "f%u", i);
        begin(to, name);
        put_shift(to, "  ", 0, "a", 0);
        end(to, "v0");
    }
}

TEXT(operations) {
    char last[24];
    begin(to, "k");
    EACH(i) put_shift(to, "  ", i, i ? "v" : "a", i - 1);
    snprintf(last, sizeof last, "v%u", n - 1);
    end(to, last);
}

TEXT(assembly) {
    begin(to, "k");
    fputs("  vshr %x, %a, %b, %m : " VREG "\n", to);
    EACH(i) fputs("  vshr %x, %x, %b, %m : " VREG "\n", to);
    end(to, "x");
}

TEXT(registers) {
    begin(to, "k");
    EACH(i) fprintf(to, "  vshr %%x%u, %%a, %%b, %%m : " VREG "\n", i);
    EACH(i) fprintf(to, "  vadd %%a, %%a, %%x%u, %%m : " VREG "\n", i);
    end(to, "a");
}

TEXT(masks) {
    begin(to, "k");
    fputs("  %c = arith.constant 5 : index\n", to);
    EACH(i)
    fprintf(to, "  %%m%u = pto.mask.first %%c : index -> " MASK "\n  vshr %%x, %%a, %%b, %%m%u : " VREG "\n", i, i);
    end(to, "x");
}

TEXT(widths) {
    fputs("func.func @k() {\n", to);
    EACH(i)
    fprintf(to, "  %%c%u = arith.constant %u : i32\n  %%v%u = pto.vbroadcast %%c%u : i32 -> !pto.vreg<%uxi32>\n", i, i,
            i, i, i % 4096 + 1);
    fputs("  return\n}\n", to);
}

TEXT(type_names) {
    EACH(i) fprintf(to, "!t%u = " VREG "\n", i);
    fputs("func.func @k(%a: !t0) -> !t0 {\n  %m = pto.mask.all : " MASK "\n", to);
    EACH(i) fprintf(to, "  vshr %%x%u, %%a, %%a, %%m : !t%u\n", i, i);
    fputs("  return %a : !t0\n}\n", to);
}

TEXT(arguments) {
    fputs("func.func @k(%a0: i32", to);
    for (uint32_t i = 1; i < n; i++) fprintf(to, ", %%a%u: i32", i);
    fputs(") {\n  return\n}\n", to);
}

TEXT(loops) {
    begin(to, "k");
    fputs("  %zero = arith.constant 0 : index\n  %one = arith.constant 1 : index\n", to);
    EACH(i)
    fprintf(to, "  scf.for %%i%u = %%zero to %%one step %%one {\n    vshr %%a, %%a, %%b, %%m : " VREG "\n  }\n", i);
    end(to, "a");
}

TEXT(loops_nested) { /* 50 deep, n times */
    enum { DEEP = 50 };
    begin(to, "k");
    fputs("  %zero = arith.constant 0 : index\n  %one = arith.constant 1 : index\n", to);
    EACH(i) {
        for (uint32_t d = 0; d < DEEP; d++) fprintf(to, "scf.for %%i%u_%u = %%zero to %%one step %%one {\n", i, d);
        fputs("    vshr %a, %a, %b, %m : " VREG "\n", to);
        for (uint32_t d = 0; d < DEEP; d++) fputs("}\n", to);
    }
    end(to, "a");
}

TEXT(constants) {
    begin(to, "k");
    EACH(i)
    fprintf(to,
            "  %%c%u = arith.constant %u : i32\n  %%v%u = pto.vbroadcast %%c%u : i32 -> " VREG
            "\n  vadd %%a, %%a, %%v%u, %%m : " VREG "\n",
            i, i, i, i, i);
    end(to, "a");
}

TEXT(memory) {
    fputs("func.func @k(%x: memref<?xi32>) {\n  %m = pto.mask.all : " MASK "\n  %zero = arith.constant 0 : index\n",
          to);
    EACH(i) fputs("  vload %v, %x[%zero], %m : " VREG "\n  vstore %v, %x[%zero], %m : " VREG "\n", to);
    fputs("  return\n}\n", to);
}

TEXT(names_that_collide) {
    unsigned bits = 1;
    while (1u << bits < n) bits++;
    begin(to, "k");
    EACH(i) {
        fputs("  vshr %x", to);
        for (unsigned b = 0; b < bits; b++) fputs(i >> b & 1 ? "BB" : "Aa", to);
        fputs(", %a, %b, %m : " VREG "\n", to);
    }
    end(to, "a");
}

TEXT(comments) {
    begin(to, "k");
    EACH(i) fprintf(to, "  // a comment of which there are many, %u\n", i);
    end(to, "a");
}

TEXT(long_line) {
    begin(to, "k");
    EACH(i) fputs("vshr %x, %a, %b, %m : " VREG " ", to);
    end(to, "a");
}

TEXT(attributes) {
    begin(to, "k");
    fputs("  %r = pto.vshr %a, %b, %m {", to);
    EACH(i) fprintf(to, "%sx%u = %u : i32", i ? ", " : "", i, i);
    fputs("} : (" VREG ", " VREG ", " MASK ") -> " VREG "\n", to);
    end(to, "r");
}

TEXT(faults_of_names) {
    begin(to, "k");
    EACH(i) fprintf(to, "  vshr %%value%u, %%a, %%b, %%m : " VREG "\n", i);
    EACH(i) fprintf(to, "  vshr %%x, %%valeu%u, %%b, %%m : " VREG "\n", i);
    end(to, "a");
}

TEXT(names_defined_late) {
    begin(to, "k");
    EACH(i) put_shift(to, "  ", i, "v", i + 1);
    put_shift(to, "  ", n, "a", 0);
    end(to, "a");
}

TEXT(faults_of_types) {
    begin(to, "k");
    EACH(i) fputs("  vshr %x, %m, %b, %m : " VREG "\n", to);
    end(to, "a");
}

TEXT(faults_of_operations) {
    begin(to, "k");
    EACH(i) fprintf(to, "  vsh%u %%x, %%m, %%b, %%m : " VREG "\n", i);
    end(to, "a");
}

#define GOOD LW_GROWTH_PTO
#define BAD  (LW_GROWTH_PTO | LW_GROWTH_FAULTY)
const lw_growth_text lw_growth_pto[] = {
    {"functions", functions, 500, 0, GOOD, 0},
    {"operations", operations, 2000, 0, GOOD, 0},
    {"operations in assembly form", assembly, 2000, 0, GOOD, 0},
    {"registers", registers, 1000, 0, GOOD, 0},
    {"masks", masks, 1000, 0, GOOD, 0},
    {"widths", widths, 1000, 16384, GOOD, 0},
    {"names of types", type_names, 1000, 0, GOOD, 0},
    {"arguments", arguments, 1000, 0, GOOD, 0},
    {"loops", loops, 500, 0, GOOD, 0},
    {"loops nested", loops_nested, 20, 0, GOOD, 0},
    {"constants", constants, 1000, 0, GOOD, 0},
    {"loads and stores", memory, 1000, 0, GOOD, 0},
    {"names made to collide", names_that_collide, 1024, 0, GOOD, 0},
    {"comments", comments, 5000, 0, GOOD, 0},
    {"length of a line", long_line, 2000, 0, GOOD, 0},
    {"attributes", attributes, 5000, 0, GOOD, 0},
    {"faults of names", faults_of_names, 1000, 0, BAD, 0},
    {"names defined late", names_defined_late, 1000, 0, BAD, 0},
    {"faults of types", faults_of_types, 1000, 0, BAD, 0},
    {"faults of operations", faults_of_operations, 1000, 0, BAD, 0},
    {0},
};
