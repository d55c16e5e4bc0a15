/* verify_flow.c: calls, and rules of single instructions that the notation of the forms cannot say. */
#include "front/ptx/verify.h"

void lw_verify_call(lw_verifier *v) { (void)v; }

void lw_verify_extra(lw_verifier *v) { (void)v; }
