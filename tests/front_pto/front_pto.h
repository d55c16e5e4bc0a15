/* front_pto.h: what the tests of the front end of PTO text share. */
#ifndef LW_TEST_FRONT_PTO_H
#define LW_TEST_FRONT_PTO_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "front/pto/pto.h"

typedef lw_pto_module front_module;
#include "../front/reading.h"

static inline void print_module(lw_text *out, const front_module *module) { lw_pto_print(out, module); }
bool same_module(const lw_pto_module *a, const lw_pto_module *b); /* says on standard error what differs */

void test_round_trip(void **state);
void test_difference_is_seen(void **state);
void test_cut_files(void **state);
void test_repetition(void **state);
void test_many_errors(void **state);
void test_memory_runs_out(void **state);
void test_one_operation(void **state);
void test_registers(void **state);
void test_constants(void **state);
void test_mask_bits(void **state);
void test_cost(void **state);

#endif
