/* What must be found in a few steps however much there is of it: names that were made to collide, blocks of a function
 * with a hundred thousand, branches by one table, functions that are called once each and in turn. Times are a matter
 * of script/bench --growth; here results are. */
#include "api.h"

#include <stdio.h>

#include "base/base.h"

/* ---- Hashes ------------------------------------------------------------------------------------------------- */

/* "Aa" and "BB" are the same for 31 h + c, and so are all words of as many of them. */
static void colliding_word(char *word, uint32_t number) {
    for (uint32_t bit = 0; bit < 12; bit++) memcpy(word + 2 * bit, number >> bit & 1 ? "BB" : "Aa", 2);
    word[24] = 0;
}

static uint32_t longest_chain(const lw_symbols *symbols) {
    uint32_t longest = 0;
    for (uint32_t i = 0; i <= symbols->mask; i++) {
        uint32_t length = 0;
        for (const lw_symbol *s = symbols->slots[i]; s; s = s->next) length++;
        if (length > longest) longest = length;
    }
    return longest;
}

/* 4096 names in half as many slots: with a good hash a dozen in one of them would be a surprise, 32 will not be
 * seen. */
static void names_that_collide_are_spread(void **state) {
    (void)state;
    enum { NAMES = 4096 };
    static const lw_symbol *at[NAMES];
    jmp_buf out;
    lw_arena arena;
    lw_symbols symbols;
    char word[32];
    lw_arena_init(&arena);
    if (!LW_ARENA_TRY(&arena, out)) fail();
    lw_symbols_init(&symbols, &arena);
    colliding_word(word, 0);
    uint32_t hash = lw_hash(word, 24);
    for (uint32_t i = 0; i < NAMES; i++) {
        colliding_word(word, i);
        assert_int_equal(lw_hash(word, 24), hash);
        at[i] = lw_symbol_get(&symbols, word, 24);
        assert_string_equal(at[i]->text, word);
    }
    assert_int_equal(symbols.count, NAMES);
    assert_true(longest_chain(&symbols) < 32);
    for (uint32_t i = 0; i < NAMES; i++) { /* each is found again, also those from before the table was spread anew */
        colliding_word(word, i);
        assert_ptr_equal(lw_symbol_find(&symbols, word, 24, lw_hash(word, 24)), at[i]);
    }
    lw_arena_free(&arena);
}

/* Ordinary names stay where they were: side by side. */
static void ordinary_names_are_not_hashed_anew(void **state) {
    (void)state;
    jmp_buf out;
    lw_arena arena;
    lw_symbols symbols;
    char word[32];
    lw_arena_init(&arena);
    if (!LW_ARENA_TRY(&arena, out)) fail();
    lw_symbols_init(&symbols, &arena);
    static const char *const formats[] = {"%%r%u", "%%rd%u", "$L__BB%u_1", "_ZN3foo%uE", "func%u_param_0"};
    for (uint32_t i = 0; i < 20000; i++)
        for (uint32_t f = 0; f < LW_COUNT(formats); f++) {
            int size = snprintf(word, sizeof word, formats[f], i); /* NOLINT: each is one above */
            lw_symbol_get(&symbols, word, (uint32_t)size);
        }
    assert_false(symbols.keyed);
    lw_arena_free(&arena);
}

/* Multiples of the golden ratio's inverse fall together where numbers are hashed by a product with it. */
static void numbers_are_spread(void **state) {
    (void)state;
    enum { BUCKETS = 1024, NUMBERS = 16 * BUCKETS };
    static const uint64_t steps[] = {1, 16, 1ull << 32, 0xf1de83e19937733dull, 0x9e3779b97f4a7c15ull};
    for (uint32_t k = 0; k < LW_COUNT(steps); k++) {
        uint32_t buckets[BUCKETS] = {0}, most = 0;
        for (uint64_t i = 0; i < NUMBERS; i++) {
            uint32_t *bucket = &buckets[lw_hash_number(i * steps[k]) % BUCKETS];
            if (++*bucket > most) most = *bucket;
        }
        assert_true(most < 80); /* 16 on average; 80 are sixteen standard deviations more */
    }
}

/* The two hash the same eight bytes alike where the host has the low byte first, and size counts. */
static void keyed_hashes_see_every_byte(void **state) {
    (void)state;
    char text[40] = {0};
    uint64_t seen[sizeof text];
    for (uint32_t size = 0; size < sizeof text; size++) {
        seen[size] = lw_hash_keyed(text, size);
        assert_true(seen[size] == lw_hash_keyed(text, size));
        for (uint32_t other = 0; other < size; other++) assert_true(seen[other] != seen[size]);
        for (uint32_t at = 0; at < size; at++) {
            text[at] = 1;
            assert_true(lw_hash_keyed(text, size) != seen[size]);
            text[at] = 0;
        }
    }
}

/* ---- Texts --------------------------------------------------------------------------------------------------- */

typedef struct lw_writing {
    char *text;
    size_t size;
    FILE *to;
} lw_writing;

static FILE *begin_text(lw_writing *w) {
    w->to = open_memstream(&w->text, &w->size);
    assert_non_null(w->to);
    fputs(HEAD, w->to);
    return w->to;
}

/* Runs `k` of the text with 32 threads; each leaves a word. */
static void run_text(lw_writing *w, uint32_t words[32]) {
    assert_int_equal(fclose(w->to), 0);
    lw_context *context = new_context(1);
    lw_module *module = load(context, w->text);
    lw_kernel *kernel = get_kernel(module, "k");
    uint64_t out = new_buffer(context, 32 * sizeof *words);
    lw_launch_config config = shape(1, 32);
    lw_status status = lw_launch(kernel, &config, (void *[]){&out}, NULL);
    if (status != LW_OK) fail_msg("%s", lw_context_message(context));
    assert_int_equal(lw_memory_read(context, out, words, 32 * sizeof *words), LW_OK);
    lw_context_free(context);
    free(w->text);
}

static void begin_kernel(FILE *to) {
    fputs(".visible .entry k(.param .u64 out)\n{\n.reg .u32 %lane, %x, %n, %i;\n.reg .u64 %p, %o;\n.reg .pred %q;\n"
          "mov.u32 %lane, %laneid;\nmov.u32 %x, 0;\nmov.u32 %n, 0;\n",
          to);
}

static void end_kernel(FILE *to) {
    fputs(
        "ld.param.u64 %p, [out];\nmul.wide.u32 %o, %lane, 4;\nadd.u64 %p, %p, %o;\nst.global.u32 [%p], %x;\nret;\n}\n",
        to);
}

/* Lanes enter a run of blocks by a table, each far from the others, walk to its end, and once more from elsewhere by
 * the same table. Bits of 70,000 blocks have three levels. */
static void many_blocks_by_one_table(void **state) {
    (void)state;
    enum { BLOCKS = 70000, APART = BLOCKS / 32 };
    lw_writing w;
    FILE *to = begin_text(&w);
    begin_kernel(to);
    fputs("T: .branchtargets L0", to);
    for (uint32_t i = 1; i < 32; i++) fprintf(to, ", L%u", i * APART);
    fputs(";\nbrx.idx %lane, T;\n", to);
    for (uint32_t i = 0; i < BLOCKS; i++) fprintf(to, "L%u:\nmad.lo.u32 %%x, %%x, 3, %u;\n", i, i);
    fputs("add.u32 %n, %n, 1;\nsetp.ne.u32 %q, %n, 1;\n@%q bra DONE;\nsub.u32 %i, 31, %lane;\nbrx.idx %i, T;\nDONE:\n",
          to);
    end_kernel(to);
    uint32_t words[32];
    run_text(&w, words);
    for (uint32_t lane = 0; lane < 32; lane++) {
        uint32_t x = 0;
        for (uint32_t i = lane * APART; i < BLOCKS; i++) x = 3 * x + i;
        for (uint32_t i = (31 - lane) * APART; i < BLOCKS; i++) x = 3 * x + i;
        assert_int_equal(words[lane], x);
    }
}

/* Odd lanes stay behind at a far block while the others walk all of a loop, round after round. */
static void loops_of_many_blocks(void **state) {
    (void)state;
    enum { BLOCKS = 5000, ROUNDS = 3 };
    lw_writing w;
    FILE *to = begin_text(&w);
    begin_kernel(to);
    fputs("and.b32 %i, %lane, 1;\nsetp.eq.u32 %q, %i, 1;\n@%q bra FAR;\nLOOP:\n", to);
    for (uint32_t i = 0; i < BLOCKS; i++)
        fprintf(to,
                "and.b32 %%i, %%x, 1;\nsetp.eq.u32 %%q, %%i, 0;\n@%%q bra L%u;\nadd.u32 %%x, %%x, "
                "%%lane;\nL%u:\nmad.lo.u32 %%x, %%x, 5, %u;\n",
                i, i, i);
    fprintf(to, "add.u32 %%n, %%n, 1;\nsetp.lt.u32 %%q, %%n, %u;\n@%%q bra LOOP;\nFAR:\nadd.u32 %%x, %%x, 7;\n",
            ROUNDS);
    end_kernel(to);
    uint32_t words[32];
    run_text(&w, words);
    for (uint32_t lane = 0; lane < 32; lane++) {
        uint32_t x = 0;
        for (uint32_t round = 0; round < ROUNDS && !(lane & 1); round++)
            for (uint32_t i = 0; i < BLOCKS; i++) x = 5 * (x & 1 ? x + lane : x) + i;
        assert_int_equal(words[lane], x + 7);
    }
}

/* Functions called once each, each from half of the lanes, then two that go down in turn: frames of one serve only it
 * again. */
static void many_functions(void **state) {
    (void)state;
    enum { FUNCTIONS = 2000, DEEP = 200 };
    lw_writing w;
    FILE *to = begin_text(&w);
    for (uint32_t i = 0; i < FUNCTIONS; i++)
        fprintf(to, ".func (.reg .u32 r) f%u(.reg .u32 a)\n{\nmad.lo.u32 r, a, 3, %u;\nret;\n}\n", i, i);
    for (uint32_t g = 0; g < 2; g++)
        fprintf(to,
                ".func (.reg .u32 r) g%u(.reg .u32 a, .reg .u32 n)\n{\n.reg .u32 b, m;\n.reg .pred q;\nmov.u32 r, "
                "a;\nsetp.eq.u32 q, n, 0;\n@q bra DONE;\n"
                "sub.u32 m, n, 1;\nmad.lo.u32 b, a, %u, n;\ncall (r), g%u, (b, m);\nadd.u32 r, r, n;\nDONE:\nret;\n}\n",
                g, 2 * g + 3, g);
    begin_kernel(to);
    fputs("mov.u32 %x, %lane;\nand.b32 %i, %lane, 1;\nsetp.eq.u32 %q, %i, 1;\n", to);
    for (uint32_t i = 0; i < FUNCTIONS; i++) fprintf(to, "@%s%%q call (%%x), f%u, (%%x);\n", i % 2 ? "" : "!", i);
    for (uint32_t turn = 0; turn < 4; turn++)
        fprintf(to, "mov.u32 %%n, %u;\ncall (%%x), g%u, (%%x, %%n);\n", DEEP, turn % 2);
    end_kernel(to);
    uint32_t words[32];
    run_text(&w, words);
    for (uint32_t lane = 0; lane < 32; lane++) {
        uint32_t x = lane;
        for (uint32_t i = 0; i < FUNCTIONS; i++)
            if (i % 2 == lane % 2) x = 3 * x + i;
        for (uint32_t turn = 0; turn < 4; turn++) {
            for (uint32_t n = DEEP; n; n--) x = x * (turn % 2 ? 5 : 3) + n;
            x += DEEP * (DEEP + 1) / 2;
        }
        assert_int_equal(words[lane], x);
    }
}

/* Of many kernels, each with functions of its own and one reached by its address, every one calls the right one. */
static void many_kernels(void **state) {
    (void)state;
    enum { KERNELS = 300 };
    lw_writing w;
    FILE *to = begin_text(&w);
    for (uint32_t i = 0; i < KERNELS; i++)
        fprintf(to,
                ".func (.reg .u32 r) f%u(.reg .u32 a)\n{\nadd.u32 r, a, %u;\nret;\n}\n"
                ".visible .entry k%u(.param .u64 out)\n{\n.reg .u32 x;\n.reg .u64 p, f;\nT: .calltargets f%u, "
                "f%u;\nmov.u32 x, 1;\ncall (x), f%u, (x);\n"
                "mov.u64 f, f%u;\ncall (x), f, (x), T;\nld.param.u64 p, [out];\nst.global.u32 [p], x;\nret;\n}\n",
                i, i * 1000, i, i / 2, i, i, i / 2);
    assert_int_equal(fclose(w.to), 0);
    lw_context *context = new_context(1);
    lw_module *module = load(context, w.text);
    uint64_t out = new_buffer(context, 4);
    lw_launch_config config = shape(1, 1);
    for (uint32_t i = KERNELS; i-- > 0;) {
        char name[16];
        uint32_t word;
        snprintf(name, sizeof name, "k%u", i);
        lw_kernel *kernel = get_kernel(module, name);
        assert_string_equal(lw_kernel_get_info(kernel).name, name);
        assert_int_equal(lw_launch(kernel, &config, (void *[]){&out}, NULL), LW_OK);
        assert_int_equal(lw_memory_read(context, out, &word, sizeof word), LW_OK);
        assert_int_equal(word, 1 + i * 1000 + i / 2 * 1000);
    }
    lw_kernel *kernel;
    assert_int_equal(lw_module_kernel(module, "k", &kernel), LW_NOT_FOUND);
    assert_int_equal(lw_module_kernel(module, "k9999", &kernel), LW_NOT_FOUND);
    lw_context_free(context);
    free(w.text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_that_collide_are_spread),
        cmocka_unit_test(ordinary_names_are_not_hashed_anew),
        cmocka_unit_test(numbers_are_spread),
        cmocka_unit_test(keyed_hashes_see_every_byte),
        cmocka_unit_test(many_blocks_by_one_table),
        cmocka_unit_test(loops_of_many_blocks),
        cmocka_unit_test(many_functions),
        cmocka_unit_test(many_kernels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
