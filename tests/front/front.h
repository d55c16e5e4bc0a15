/* front.h: what the tests of the front end share. */
#ifndef LW_TEST_FRONT_H
#define LW_TEST_FRONT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "front/ptx/ptx.h"

typedef lw_module_ptx front_module;
#include "reading.h"

static inline void print_module(lw_text *out, const front_module *module) { lw_ptx_print(out, module); }
bool same_module(const lw_module_ptx *a, const lw_module_ptx *b); /* says on standard error what differs */

void test_tokens(void **state);
void test_token_faults(void **state);
void test_constants(void **state);
void test_constant_faults(void **state);
void test_round_trip(void **state);
void test_difference_is_seen(void **state);
void test_cut_files(void **state);
void test_repetition(void **state);
void test_many_errors(void **state);
void test_memory_runs_out(void **state);

#endif
