/* meaning.c: what the front end makes of a text, field by field. */
#include <stdio.h>

#include "front_pto.h"

#define V "!pto.vreg<64xi32>"
#define M "!pto.mask<b32>"

static reading check(const char *text) {
    reading r;
    read_text(&r, text, strlen(text), 0);
    if (r.diags.errors) fail_msg("%s", r.diags.first->message);
    return r;
}

/* The three forms of the page are one operation. */
void test_one_operation(void **state) {
    (void)state;
    reading r = check("func.func @f(%a: " V ", %b: " V ", %m: " M ", %d: " V ") {\n"
                      "vshr %d, %a, %b, %m : " V "\n"
                      "%r = pto.vshr %a, %b, %m : (" V ", " V ", " M ") -> " V "\n"
                      "%s = pto.vshr %a, %b, %m : " V ", " V ", " M " -> " V "\n"
                      "pto.vshr ins(%a, %b, %m : " V ", " V ", " M ") outs(%d : " V ")\n}");
    const lw_pto_function *f = lw_pto_find(r.module, "f");
    assert_ptr_equal(f, lw_pto_find(r.module, "@f"));
    assert_int_equal(f->body.count, 5);
    static const lw_pto_form forms[] = {LW_PTO_ASSEMBLY, LW_PTO_SSA, LW_PTO_SSA, LW_PTO_DPS};
    for (uint32_t i = 0; i < 4; i++) {
        const lw_pto_op *op = f->body.ops[i];
        assert_int_equal(op->id, LW_PTO_VSHR);
        assert_int_equal(op->form, forms[i]);
        assert_int_equal(op->operand_count, 3);
        assert_int_equal(op->result_count, 1);
        for (uint32_t k = 0; k < 3; k++) assert_ptr_equal(op->operands[k], f->arguments[k]);
        assert_ptr_equal(op->type, f->arguments[0]->type);
        assert_int_equal(op->merges[0], op->form != LW_PTO_SSA);
    }
    assert_int_equal(f->body.ops[4]->id, LW_PTO_RETURN);
    read_end(&r);
}

/* Which destinations had a value before. */
void test_registers(void **state) {
    (void)state;
    reading r = check("func.func @f(%a: " V ", %m: " M ", %n: index) {\n"
                      "vadd %r, %a, %a, %m : " V "\n"
                      "vadd %r, %a, %a, %m : " V "\n"
                      "scf.for %i = %n to %n step %n {\nvadd %r, %a, %a, %m : " V "\nvadd %q, %a, %a, %m : " V "\n}\n"
                      "vaddc %r, %carry, %a, %a, %m : " V "\n}");
    const lw_pto_function *f = r.module->functions.at[0];
    lw_pto_op **ops = f->body.ops, **inner = ops[2]->regions->ops;
    assert_false(ops[0]->merges[0]);
    assert_true(ops[1]->merges[0]);
    assert_true(inner[0]->merges[0]);
    assert_false(inner[1]->merges[0]);
    assert_true(ops[3]->merges[0]);
    assert_false(ops[3]->merges[1]);
    assert_int_equal(ops[0]->results[0]->kind, LW_PTO_REGISTER);
    assert_ptr_equal(ops[0]->results[0], inner[0]->results[0]);
    assert_null(ops[3]->operands[2]); /* no carry in */
    assert_ptr_equal(ops[3]->operands[3], f->arguments[1]);
    assert_string_equal(ops[3]->results[1]->type->text, M);
    assert_int_equal(inner[2]->id, LW_PTO_YIELD);
    read_end(&r);
}

void test_constants(void **state) {
    (void)state;
    static const struct {
        const char *text;
        uint64_t value;
    } cases[] = {
        {"-1 : i8", UINT64_MAX},
        {"255 : i8", UINT64_MAX},
        {"127 : i8", 127},
        {"255 : u8", 255},
        {"true", 1},
        {"false", 0},
        {"1 : i1", 1},
        {"0x80000000 : i32", 0xffffffff80000000u},
        {"-1 : index", UINT64_MAX},
        {"0xffffffff : u32", 0xffffffff},
        {"-128 : si8", (uint64_t)-128},
        {"0 : i64", 0},
    };
    for (size_t i = 0; i < LW_COUNT(cases); i++) {
        char text[128];
        snprintf(text, sizeof text, "func.func @f() { %%c = arith.constant %s }", cases[i].text);
        reading r = check(text);
        assert_int_equal(r.module->functions.at[0]->body.ops[0]->value, cases[i].value);
        read_end(&r);
    }
}

void test_mask_bits(void **state) {
    (void)state;
    reading r = check("func.func @f() { %m = pto.mask.bits "
                      "0x8000000000000000000000000000000300000000000000f0 : !pto.mask<192> }");
    const lw_pto_op *op = r.module->functions.at[0]->body.ops[0];
    assert_int_equal(op->bits[0], 0xf0);
    assert_int_equal(op->bits[1], 3);
    assert_int_equal(op->bits[2], UINT64_C(1) << 63);
    assert_int_equal(op->type->lanes, 192);
    read_end(&r);
}

/* By hand from the figures of the page: A5 7; A2/A3 14 + 2 for each 2048 bits + 17, a new one every 18 cycles. */
void test_cost(void **state) {
    (void)state;
    reading r = check("func.func @f(%a: " V ", %m: " M
                      ", %w: !pto.vreg<192xi32>, %k: !pto.mask<192>, %c: i1, %n: index) {\n"
                      "%zero = arith.constant 0 : index\n%ten = arith.constant 10 : index\n%three = "
                      "arith.constant 3 : index\n"
                      "vshr %a, %a, %a, %m : " V "\n"
                      "vshr %w, %w, %w, %k : !pto.vreg<192xi32>\n"
                      "scf.for %i = %zero to %ten step %three {\nvshl %a, %a, %a, %m : " V "\n}\n"
                      "scf.if %c {\nvshr %a, %a, %a, %m : " V "\n} else {\nvshr %a, %a, %a, %m : " V
                      "\nvshr %a, %a, %a, %m : " V "\n}\n"
                      "scf.for %i = %zero to %n step %three {\nvnot %a, %a, %m : " V "\n}\n}");
    const lw_pto_function *f = r.module->functions.at[0];
    const lw_pto_cost *a5 = lw_pto_cost_of(&r.arena, f, LW_PTO_PROFILE_a5, NULL, NULL),
                      *a2a3 = lw_pto_cost_of(&r.arena, f, LW_PTO_PROFILE_a2a3, NULL, NULL);
    assert_int_equal(a5->serial, 7 + 3 * 7 + 4 * 7 + 2 * 7);
    assert_int_equal(a2a3->serial, 33 + (14 + 3 * 2 + 17) + 4 * 33 + 2 * 33);
    assert_int_equal(a2a3->piped, 18 + 18 + 4 * 18 + 18 + 33);
    assert_int_equal(a5->lines.count, 6);
    assert_int_equal(a5->lines.at[2].times, 4);
    assert_true(a5->lines.at[2].is_taken && !a5->lines.at[0].is_taken);
    assert_int_equal(a5->uncounted, 1);
    assert_true(a5->per_round);
    read_end(&r);
}
