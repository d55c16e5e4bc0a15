/* round_trip.c: the print of a module parses back to the same module. */
#include "front.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

/* Files of a folder whose name begins with `prefix`. */
static int check_folder(const char *folder, const char *prefix) {
    DIR *listing = opendir(folder);
    assert_non_null(listing);
    int files = 0;
    for (struct dirent *entry; (entry = readdir(listing));) {
        if (strncmp(entry->d_name, prefix, strlen(prefix))) continue;
        size_t size;
        char path[4096];
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        char *text = load_file(path, &size);
        expect_same_when_printed(entry->d_name, text, size);
        free(text);
        files++;
    }
    closedir(listing);
    return files;
}

void test_round_trip(void **state) {
    (void)state;
    assert_int_equal(check_folder(LW_TEST_PTX "/corpus", "accept_"), 141);
    assert_true(check_folder(LW_TEST_PTX "/syntax", "accept_") > 0);
}

/* The comparison can fail: each pair differs in one thing. */
void test_difference_is_seen(void **state) {
    (void)state;
    static const char head[] = ".version 9.0\n.target sm_90\n";
    static const char *const pairs[][2] = {
        {".global .b32 a;", ".global .b32 b;"},
        {".global .b32 a;", ".global .u32 a;"},
        {".global .b32 a[2] = {1, 2};", ".global .b32 a[2] = {1, 3};"},
        {".global .align 8 .b32 a;", ".global .align 4 .b32 a;"},
        {".entry k() { ret; }", ".entry k() { exit; }"},
        {".entry k() { .reg .b32 a; mov.b32 a, 1; }", ".entry k() { .reg .b32 a; mov.b32 a, 1U; }"},
        {".entry k() { .reg .b64 a; ld.local.u32 a, [a+4]; }", ".entry k() { .reg .b64 a; ld.local.u32 a, [a+8]; }"},
        {".entry k() { .reg .pred p; @p ret; }", ".entry k() { .reg .pred p; @!p ret; }"},
        {".entry k() { .reg .b32 r<9>; mov.b32 r1, r2; }", ".entry k() { .reg .b32 r<9>; mov.b32 r1, r3; }"},
        {".entry k() { .loc 1 2 3 ret; }", ".entry k() { .loc 1 2 4 ret; }"},
        {".entry k() .maxntid 32 { ret; }", ".entry k() .maxntid 64 { ret; }"},
        {".entry k() { a: ret; b: bra a; }", ".entry k() { a: ret; b: bra b; }"},
    };
    for (size_t i = 0; i < LW_COUNT(pairs); i++) {
        reading r[2];
        for (int k = 0; k < 2; k++) {
            char text[256];
            int size = snprintf(text, sizeof text, "%s%s\n", head, pairs[i][k]);
            read_text(&r[k], text, (size_t)size, 0);
            assert_int_equal(r[k].diags.errors, 0);
        }
        assert_true(same_module(r[0].module, r[0].module));
        assert_false(same_module(r[0].module, r[1].module));
        read_end(&r[0]);
        read_end(&r[1]);
    }
}
