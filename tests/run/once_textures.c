/* What handles of textures stood for is freed when the last launch has ended that could have found it, though other
 * ones have begun meanwhile: launches that overlap for ever keep no textures for ever. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "run/texture.h"

static lw_texture *texture_of(uint32_t width) {
    lw_texture *t = calloc(1, sizeof *t);
    assert_non_null(t);
    t->kind = LW_TEXTURE_TEXTURE, t->image.width = width;
    return t;
}

static uint32_t kept(const lw_textures *textures) {
    uint32_t count = 0;
    for (uint32_t turn = 0; turn < 2; turn++)
        for (const lw_texture *t = textures->retired[turn]; t; t = t->retired) count++;
    return count;
}

static void launches_overlap(void **state) {
    (void)state;
    lw_textures *textures = calloc(1, sizeof *textures);
    assert_non_null(textures);
    assert_true(lw_textures_init(textures));
    const uint64_t handle = lw_textures_add(textures, texture_of(0), false);
    uint32_t turn = lw_textures_hold(textures);
    for (uint32_t i = 1; i < 100; i++) {
        const lw_texture *found = lw_textures_find(textures, handle);
        assert_true(lw_textures_replace(textures, handle, texture_of(i)));
        assert_int_equal(found->image.width, i - 1);
        const uint32_t next = lw_textures_hold(textures); /* begins before the other ends */
        assert_true(kept(textures) <= 2);
        lw_textures_drop(textures, turn);
        turn = next;
    }
    const lw_texture *last = lw_textures_find(textures, handle);
    assert_true(lw_textures_remove(textures, handle, false));
    assert_null(lw_textures_find(textures, handle));
    assert_int_equal(last->image.width, 99);
    lw_textures_drop(textures, turn);
    assert_int_equal(kept(textures), 0);
    lw_textures_end(textures);
    free(textures);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(launches_overlap)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
