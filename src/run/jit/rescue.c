/* rescue.c: LLVM ends the process where it runs out of memory or finds a fault of its own. Here the thread that is
 * inside of it leaves it instead, by longjmp over all its frames: what they hold is lost, locks perhaps too, and so
 * nobody enters LLVM again in this process. Code that was compiled before goes on. What comes through none of its three
 * doors cannot be caught: a stack that cannot grow, a system that kills. */
#include "run/jit/unit.h"

#include <llvm-c/ErrorHandling.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <stdio.h>

static _Thread_local jmp_buf *way_out; /* of a thread that is inside */
static _Thread_local char reasons[256];
static atomic_bool lost;

static void leave(const char *reason) {
    if (!way_out) return;
    atomic_store(&lost, true);
    snprintf(reasons, sizeof reasons, "%s", reason); /* it may lie in a frame that goes now */
    longjmp(*way_out, 1);
}

/* ---- The doors: of a fault, of memory that LLVM takes by malloc, and of C++'s operator new ----------------------- */

/* Others of the process may use the same LLVM, and find it as it is without us. */
static void on_fault(const char *reason) {
    leave(reason);
    fprintf(stderr, "LLVM ERROR: %s\n", reason);
}

static void on_malloc(void *user, const char *reason, _Bool dump) {
    (void)user, (void)dump;
    on_fault(reason);
}

typedef void lw_new_handler(void);
static lw_new_handler *others;

/* C++ has no C interface for them. Where a library has other names inside, the door stays as it is. */
__attribute__((weak)) extern lw_new_handler *set_new_handler(lw_new_handler *handler) __asm__(
    "_ZSt15set_new_handlerPFvvE");
__attribute__((weak)) extern void throw_bad_alloc(void) __asm__("_ZSt17__throw_bad_allocv");
__attribute__((weak)) extern void install_on_malloc(void (*handler)(void *, const char *, _Bool), void *user) __asm__(
    "_ZN4llvm31install_bad_alloc_error_handlerEPFvPvPKcbES0_");

static void on_new(void) {
    leave("out of memory");
    if (others) others();
    else throw_bad_alloc(); /* as where there is no handler */
}

static pthread_once_t doors_once = PTHREAD_ONCE_INIT;
static void set_doors(void) {
    LLVMInstallFatalErrorHandler(on_fault);
    if (install_on_malloc) install_on_malloc(on_malloc, NULL);
    if (set_new_handler && throw_bad_alloc) others = set_new_handler(on_new);
}

/* ---- Inside ---------------------------------------------------------------------------------------------------- */

bool lw_rescue_lost(void) { return atomic_load(&lost); }

const char *lw_rescue_run(void (*work)(void *argument), void *argument) {
    jmp_buf out;
    pthread_once(&doors_once, set_doors);
    if (lw_rescue_lost()) return "it did so before in this process";
    way_out = &out;
    if (!setjmp(out)) {
        work(argument);
        way_out = NULL;
        return NULL;
    }
    way_out = NULL;
    return reasons;
}
