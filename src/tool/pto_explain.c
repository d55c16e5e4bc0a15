/* pto_explain.c: explain and isa for PTO: all of it is read from the rows of isa/pto. */
#include "tool/pto.h"

static const struct {
    lw_pto_op_id id;
    const char *type, *values, *result;
} examples[] = {
#define EXAMPLE(id, type, values, result) {LW_PTO_##id, #type, values, result},
#include "pto/examples.def"
};

/* The families are the files that ops.def includes, in its order; behind one that is none. */
static const struct {
    const char *name;
    uint32_t count;
} families[] = {
    {"", 0
#define FAMILY(name) \
    } \
    , { \
#name, 0
#define OP(...) +1
#include "pto/ops.def"
    },
};

static const char *const marks[] = {
    [LW_PTO_PAGE_NONE] = "ours", [LW_PTO_PAGE_ALL] = "page", [LW_PTO_PAGE_NAME] = "name", [LW_PTO_PAGE_MLIR] = "mlir"};

/* ---- The three forms ---------------------------------------------------------------------------------------- */

static const char *type_of(const lw_pto_slot *slot) {
    static const char *const types[] = {
        [LW_PTO_SHAPE_VREG] = "!pto.vreg<NxT>",
        [LW_PTO_SHAPE_MASK] = "!pto.mask<G>",
        [LW_PTO_SHAPE_ELEMENT] = "T",
        [LW_PTO_SHAPE_MEMORY] = "memref<?xT>",
        [LW_PTO_SHAPE_INDEX] = "index",
        [LW_PTO_SHAPE_BOOL] = "i1",
        [LW_PTO_SHAPE_SAME] = "I",
        [LW_PTO_SHAPE_INTEGER] = "I",
        [LW_PTO_SHAPE_ANY] = "A",
    };
    return types[slot->shape];
}

typedef struct forms {
    const lw_pto_row *row;
    lw_pto_signature s;
    uint32_t listed;
} forms;

static void comma(forms *f) {
    if (f->listed++) fputs(", ", stdout);
}

/* Operands that are read, those that are stored to, or both. */
static void print_operands(forms *f, bool read, bool stored) {
    for (uint32_t i = 0; i < f->s.in_count; i++) {
        const lw_pto_slot *slot = &f->s.in[i];
        if (!(slot->written ? stored : read)) continue;
        comma(f);
        printf("%s%%%.*s%s%s", slot->optional ? "{" : "", slot->name_size, slot->name,
               slot->shape == LW_PTO_SHAPE_MEMORY ? "[%index]" : "", slot->optional ? "}" : "");
    }
}

static void print_types(forms *f, bool read, bool stored) {
    for (uint32_t i = 0; i < f->s.in_count; i++) {
        const lw_pto_slot *slot = &f->s.in[i];
        if (!(slot->written ? stored : read)) continue;
        comma(f);
        printf("%s%s%s", slot->optional ? "{" : "", type_of(slot), slot->optional ? "}" : "");
    }
}

static void print_results(forms *f, bool types) {
    for (uint32_t i = 0; i < f->s.out_count; i++) {
        comma(f);
        if (types) fputs(type_of(&f->s.out[i]), stdout);
        else printf("%%%.*s", f->s.out[i].name_size, f->s.out[i].name);
    }
}

static const char *front(const lw_pto_row *row) {
    return row->word ? " WORD" : row->literal == LW_PTO_LITERAL_BITS ? " 0xBITS" : row->literal ? " NUMBER" : "";
}

static void print_assembly(forms *f) {
    const char *type = "!pto.mask<G>";
    for (uint32_t i = 0; i < f->s.in_count; i++)
        if (f->s.in[i].shape == LW_PTO_SHAPE_VREG) type = "!pto.vreg<NxT>";
    if (f->s.out_count && f->s.out[0].shape == LW_PTO_SHAPE_VREG) type = "!pto.vreg<NxT>";
    f->listed = 0;
    printf("  assembly  %s%s%s ", f->row->name + 4, front(f->row), *front(f->row) ? "," : "");
    print_results(f, false);
    print_operands(f, true, true);
    printf(" : %s\n", type);
}

static void print_ssa(forms *f) {
    f->listed = 0;
    fputs("  SSA       ", stdout);
    print_results(f, false);
    printf("%s%s%s%s", f->s.out_count ? " = " : "", f->row->name, front(f->row),
           *front(f->row) && f->s.in_count ? "," : "");
    f->listed = 0;
    if (f->s.in_count) putchar(' ');
    print_operands(f, true, true);
    bool closed = f->s.in_count > 1 && f->s.out_count;
    printf(" : %s", closed ? "(" : "");
    f->listed = 0;
    print_types(f, true, true);
    printf("%s%s", closed ? ")" : "", f->s.in_count && f->s.out_count ? " -> " : "");
    f->listed = 0;
    if (f->s.out_count > 1) putchar('(');
    print_results(f, true);
    puts(f->s.out_count > 1 ? ")" : "");
}

static void print_dps(forms *f) {
    printf("  DPS       %s%s", f->row->name, front(f->row));
    if (f->s.in_count) {
        f->listed = 0;
        fputs(" ins(", stdout);
        print_operands(f, true, false);
        fputs(" : ", stdout);
        f->listed = 0;
        print_types(f, true, false);
        putchar(')');
    }
    f->listed = 0;
    fputs(" outs(", stdout);
    print_results(f, false);
    print_operands(f, false, true);
    fputs(" : ", stdout);
    f->listed = 0;
    print_results(f, true);
    print_types(f, false, true);
    puts(")");
}

static void print_mlir(forms *f) {
    f->listed = 0;
    printf("  %%result = %s%s%s ", f->row->name, front(f->row), *front(f->row) && f->s.in_count ? "," : "");
    print_operands(f, true, true);
    bool cast = f->s.in_count && f->s.in[0].shape == LW_PTO_SHAPE_INTEGER;
    printf("%s: I%s        I: an integer type, i1 or index%s\n", f->s.in_count ? " " : "", cast ? " to I" : "",
           f->s.in_count == 3 ? "; or any other type" : "");
}

static void print_control(lw_pto_op_id id) {
    switch (id) {
    case LW_PTO_FOR:
        puts("  {%r, … =} scf.for %i = %lower to %upper step %step {iter_args(%a = %x, …) -> (T, …)} {: iN} "
             "{\n    … scf.yield %next, … : T, …\n  }");
        break;
    case LW_PTO_IF: puts("  {%r, … =} scf.if %condition {-> (T, …)} { … } {else { … }}"); break;
    case LW_PTO_YIELD: puts("  scf.yield {%a, … : T, …}"); break;
    default: puts("  return {%a, … : T, …}"); break;
    }
}

/* ---- The rest of an explanation -------------------------------------------------------------------------------- */

static void print_lines(const char *text) {
    for (const char *line = text; *line;) {
        size_t size = strcspn(line, "\n");
        printf("    %.*s\n", (int)size, line);
        line += size + (line[size] == '\n');
    }
}

static bool has_mask(const lw_pto_signature *s) {
    for (uint32_t i = 0; i < s->in_count; i++)
        if (s->in[i].name_size == 4 && !memcmp(s->in[i].name, "mask", 4)) return true;
    return false;
}

static void print_semantics(const lw_pto_row *row, const lw_pto_signature *s) {
    if (!*row->means) return;
    bool vector = row->page != LW_PTO_PAGE_MLIR;
    puts(!vector       ? "  semantics"
         : has_mask(s) ? "  semantics, for each lane i that is active in the mask"
                       : "  semantics, for each lane i");
    print_lines(row->means);
    if (vector && has_mask(s) && s->out_count)
        puts("    Inactive lanes of a destination that is written again keep their values; of SSA results "
             "and new registers they\n"
             "    are what --inactive says, zero by default (our reading).");
}

static void print_constraints(const lw_pto_row *row, const lw_pto_signature *s) {
    if (row->page == LW_PTO_PAGE_MLIR) return;
    bool vector = strstr(type_of(&s->out[0]), "vreg") || (s->in_count && s->in[0].shape == LW_PTO_SHAPE_VREG);
    if (vector || has_mask(s)) puts("  constraints");
    if (vector)
        puts("    T is i8 i16 i32 i64 or u8 u16 u32 u64 (si32 and ui32 are i32 and u32); registers have one "
             "T and one N");
    if (has_mask(s))
        printf("    G is b8 b16 b32 b64, as wide as T where N x T is %d bits, or the number N (our reading)\n",
               LW_PTO_REGISTER_BITS);
    puts("  profiles");
    for (int i = 0; i < LW_PTO_PROFILE_COUNT; i++) {
        const lw_pto_profile_row *p = &lw_pto_profiles[i];
        printf("    %-5s %s: %s, ", p->name, p->title, p->status);
        if (p->width) printf("registers of %u bits (our reading)\n", p->width);
        else puts("registers of any width");
    }
}

static void print_cost(const lw_pto_row *row) {
    if (row->page == LW_PTO_PAGE_MLIR) return;
    if (!row->cost) {
        puts("  cost\n    no figures");
        return;
    }
    printf("  cost%s\n", row->cost == LW_PTO_COST_LIKE ? ", taken to be that of pto.vshr"
                                                       : "; the page gives the A5 latency for i32");
#define COST(name, value, constant, does) printf("    %-42s %2d  %s\n", does, value, constant);
#include "pto/cost.def"
    printf(
        "    our reading: A5: %d for each %d bits.  A2/A3: %d + %d for each repeat of %d bits + %d; a new one starts "
        "every %d cycles\n",
        LW_PTO_COST_a5_latency, LW_PTO_REGISTER_BITS, LW_PTO_COST_a2a3_startup, LW_PTO_COST_a2a3_repeat,
        LW_PTO_REGISTER_BITS, LW_PTO_COST_a2a3_completion, LW_PTO_COST_a2a3_interval);
}

static void print_examples(lw_pto_op_id id) {
    bool any = false;
    for (size_t i = 0; i < LW_COUNT(examples); i++) {
        if (examples[i].id != id) continue;
        if (!any) puts("  example");
        any = true;
        printf("    %-5s %s: %s\n", examples[i].type, examples[i].values, examples[i].result);
    }
}

static void explain(lw_pto_op_id id) {
    static const char *const sources[] = {
        [LW_PTO_PAGE_NONE] = "ours: the page does not have it",
        [LW_PTO_PAGE_ALL] = "as the page pto.vshr has it",
        [LW_PTO_PAGE_NAME] = "the page names it; the meaning is our reading",
        [LW_PTO_PAGE_MLIR] = "an operation of MLIR",
    };
    forms f = {.row = &lw_pto_rows[id]};
    lw_pto_signature_read(id, &f.s);
    printf("%s  %s\n    PTO, %s\n", f.row->name, f.row->does, sources[f.row->page]);
    bool control = id == LW_PTO_FOR || id == LW_PTO_IF || id == LW_PTO_YIELD || id == LW_PTO_RETURN;
    if (control) print_control(id);
    else if (f.row->page == LW_PTO_PAGE_MLIR) print_mlir(&f);
    else {
        print_assembly(&f);
        print_ssa(&f);
        print_dps(&f);
    }
    print_semantics(f.row, &f.s);
    print_constraints(f.row, &f.s);
    print_cost(f.row);
    print_examples(id);
}

/* ---- explain ------------------------------------------------------------------------------------------------ */

/* vshr is the assembly name of pto.vshr, but a PTX instruction first: only the whole name, or its first words, is
 * meant. */
bool lw_explain_pto(const char *word) {
    size_t size = strlen(word);
    bool found = false;
    for (int id = 1; id < LW_PTO_OP_COUNT; id++) {
        const char *name = lw_pto_rows[id].name;
        if (strncmp(word, name, size) != 0 || (name[size] && name[size] != '.')) continue;
        if (found) putchar('\n');
        if (name[size]) printf("%-18s %s\n", name, lw_pto_rows[id].does);
        else explain((lw_pto_op_id)id);
        found = true;
    }
    return found;
}

/* vand, mask.first, return: as texts spell them. */
static const char *whole_name(lw_arena *arena, const char *word) {
    return lw_arena_printf(arena, strcmp(word, "return") ? "pto.%s" : "func.%s", word);
}

bool lw_explain_pto_short(lw_arena *arena, const char *word) {
    jmp_buf out;
    return LW_ARENA_TRY(arena, out) && lw_explain_pto(whole_name(arena, word));
}

void lw_explain_pto_too(const char *word) {
    for (int id = 1; id < LW_PTO_OP_COUNT; id++)
        if (!strncmp(lw_pto_rows[id].name, "pto.", 4) && !strcmp(lw_pto_rows[id].name + 4, word))
            printf("PTO has an operation of that name: lanewise explain %s\n", lw_pto_rows[id].name);
}

size_t lw_pto_names(const char **names, size_t room) {
    size_t count = 0;
    for (int id = 1; id < LW_PTO_OP_COUNT && count < room; id++) names[count++] = lw_pto_rows[id].name;
    return count;
}

/* ---- isa ------------------------------------------------------------------------------------------------------ */

bool lw_isa_pto_family(const char *family) {
    for (size_t i = 1; i < LW_COUNT(families); i++)
        if (!strcmp(families[i].name, family)) return true;
    return false;
}

void lw_isa_pto(bool tsv, const char *family) {
    uint32_t id = 1, counts[LW_COUNT(marks)] = {0};
    for (size_t i = 1; i < LW_COUNT(families); i++)
        for (uint32_t end = id + families[i].count; id < end; id++) {
            const lw_pto_row *row = &lw_pto_rows[id];
            if (family && strcmp(family, families[i].name) != 0) continue;
            counts[row->page]++;
            if (tsv)
                printf("%s\t%s\t%s\t%s\t%s\t%s\n", families[i].name, marks[row->page], row->name, row->operands,
                       row->results, row->does);
            else
                printf("%-4s %-18s %-28s -> %-18s %s\n", marks[row->page], row->name, row->operands, row->results,
                       row->does);
        }
    if (tsv) return;
    printf("%u from the page, %u that it names, %u of MLIR, %u ours\n", counts[LW_PTO_PAGE_ALL],
           counts[LW_PTO_PAGE_NAME], counts[LW_PTO_PAGE_MLIR], counts[LW_PTO_PAGE_NONE]);
}
