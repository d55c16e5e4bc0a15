/* same.c: are two modules the same, whatever the layout of their texts? And the print of a module parses back to it. */
#include "front_pto.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

static bool same_type(const lw_pto_type *a, const lw_pto_type *b) {
    SAME(!a == !b);
    if (!a) return true;
    SAME(a->kind == b->kind && a->element == b->element && a->lanes == b->lanes && a->width == b->width &&
         a->count == b->count);
    return true;
}

static bool same_value(const lw_pto_value *a, const lw_pto_value *b) {
    SAME(!a == !b);
    if (!a) return true;
    SAME(a->kind == b->kind && a->written == b->written && a->part == b->part && a->parts == b->parts &&
         a->number == b->number);
    SAME(same_symbol(a->name, b->name) && same_type(a->type, b->type));
    return true;
}

static bool same_attributes(const lw_pto_attributes *a, const lw_pto_attributes *b) {
    SAME(a->count == b->count);
    for (uint32_t i = 0; i < a->count; i++)
        SAME(same_text(a->at[i].name, b->at[i].name) && same_text(a->at[i].value, b->at[i].value));
    return true;
}

static bool same_region(const lw_pto_region *a, const lw_pto_region *b);

static bool same_op(const lw_pto_op *a, const lw_pto_op *b) {
    SAME(a->id == b->id && a->form == b->form && a->word == b->word && !memcmp(a->merges, b->merges, sizeof a->merges));
    SAME(a->operand_count == b->operand_count && a->result_count == b->result_count &&
         a->region_count == b->region_count);
    for (uint32_t i = 0; i < a->operand_count; i++) SAME(same_value(a->operands[i], b->operands[i]));
    for (uint32_t i = 0; i < a->result_count; i++) SAME(same_value(a->results[i], b->results[i]));
    SAME(same_type(a->type, b->type) && a->value == b->value && !a->bits == !b->bits);
    if (a->bits) SAME(!memcmp(a->bits, b->bits, (a->type->lanes + 63) / 64 * sizeof *a->bits));
    SAME(same_attributes(&a->attributes, &b->attributes) && same_text(a->location, b->location));
    for (uint32_t i = 0; i < a->region_count; i++) SAME(same_region(&a->regions[i], &b->regions[i]));
    return true;
}

static bool same_region(const lw_pto_region *a, const lw_pto_region *b) {
    SAME(a->argument_count == b->argument_count && a->count == b->count);
    for (uint32_t i = 0; i < a->argument_count; i++) SAME(same_value(a->arguments[i], b->arguments[i]));
    for (uint32_t i = 0; i < a->count; i++) SAME(same_op(a->ops[i], b->ops[i]));
    return true;
}

static bool same_function(const lw_pto_function *a, const lw_pto_function *b) {
    SAME(same_symbol(a->name, b->name) && same_text(a->visibility, b->visibility) && a->has_body == b->has_body);
    SAME(a->argument_count == b->argument_count && a->result_count == b->result_count &&
         a->value_count == b->value_count);
    for (uint32_t i = 0; i < a->argument_count; i++) {
        SAME(same_value(a->arguments[i], b->arguments[i]));
        SAME(same_attributes(&a->argument_attributes[i], &b->argument_attributes[i]));
        SAME(same_text(a->argument_locations[i], b->argument_locations[i]));
    }
    for (uint32_t i = 0; i < a->result_count; i++)
        SAME(same_type(a->results[i], b->results[i]) &&
             same_attributes(&a->result_attributes[i], &b->result_attributes[i]));
    SAME(same_attributes(&a->attributes, &b->attributes) && same_text(a->location, b->location));
    return !a->has_body || same_region(&a->body, &b->body);
}

bool same_module(const lw_pto_module *a, const lw_pto_module *b) {
    SAME(a->groups.count == b->groups.count && a->functions.count == b->functions.count &&
         a->aliases.count == b->aliases.count);
    for (uint32_t i = 0; i < a->aliases.count; i++)
        SAME(same_symbol(a->aliases.at[i].name, b->aliases.at[i].name) &&
             same_text(a->aliases.at[i].text, b->aliases.at[i].text));
    for (uint32_t i = 0; i < a->groups.count; i++) {
        const lw_pto_group *g = a->groups.at[i], *h = b->groups.at[i];
        SAME(g->written == h->written && same_symbol(g->name, h->name) && g->functions.count == h->functions.count);
        SAME(same_attributes(&g->attributes, &h->attributes) && same_text(g->location, h->location));
    }
    for (uint32_t i = 0; i < a->functions.count; i++) SAME(same_function(a->functions.at[i], b->functions.at[i]));
    return true;
}

/* ---- Every accepted file -------------------------------------------------------------------------------------- */

static int check_folder(const char *folder) {
    DIR *listing = opendir(folder);
    assert_non_null(listing);
    int files = 0;
    for (struct dirent *entry; (entry = readdir(listing));) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (entry->d_name[0] == '.') continue;
        if (!strchr(entry->d_name, '.')) files += check_folder(path);
        else if (!strncmp(entry->d_name, "accept_", 7)) {
            size_t size;
            char *text = load_file(path, &size);
            expect_same_when_printed(path, text, size);
            free(text);
            files++;
        }
    }
    closedir(listing);
    return files;
}

void test_round_trip(void **state) {
    (void)state;
    assert_true(check_folder(LW_TEST_PTO) >= 14);
}

/* The comparison above must be able to fail. */
void test_difference_is_seen(void **state) {
    (void)state;
    static const char *const texts[] = {
        "func.func @f(%a: !pto.vreg<64xi32>, %m: !pto.mask<b32>) { vshr %a, %a, %a, %m : !pto.vreg<64xi32> "
        "return }",
        "func.func @f(%a: !pto.vreg<64xi32>, %m: !pto.mask<b32>) { vshl %a, %a, %a, %m : !pto.vreg<64xi32> "
        "return }",
        "func.func @f(%a: !pto.vreg<64xi32>, %m: !pto.mask<b32>) { vshr %b, %a, %a, %m : !pto.vreg<64xi32> "
        "return }",
        "func.func @f(%a: !pto.vreg<64xu32>, %m: !pto.mask<b32>) { vshr %a, %a, %a, %m : !pto.vreg<64xu32> "
        "return }",
        "func.func @f(%a: !pto.vreg<64xi32>, %m: !pto.mask<64>) { vshr %a, %a, %a, %m : !pto.vreg<64xi32> "
        "return }",
        "func.func @f(%a: !pto.vreg<64xi32>, %m: !pto.mask<b32>) { vshr %a, %a, %a, %m {k} : "
        "!pto.vreg<64xi32> return }",
        "func.func @f(%a: !pto.vreg<64xi32>, %m: !pto.mask<b32>) { pto.vshr ins(%a, %a, %m : !pto.vreg<64xi32>, "
        "!pto.vreg<64xi32>, !pto.mask<b32>) outs(%a : !pto.vreg<64xi32>) return }",
        "module { func.func @f(%a: !pto.vreg<64xi32>, %m: !pto.mask<b32>) { vshr %a, %a, %a, %m : "
        "!pto.vreg<64xi32> return } }",
    };
    reading r[LW_COUNT(texts)];
    for (size_t i = 0; i < LW_COUNT(texts); i++) {
        read_text(&r[i], texts[i], strlen(texts[i]), 0);
        assert_int_equal(r[i].diags.errors, 0);
        for (size_t j = 0; j < i; j++) assert_false(same_module(r[i].module, r[j].module));
    }
    for (size_t i = 0; i < LW_COUNT(texts); i++) read_end(&r[i]);
}
