/* stub.h: what a test tells the compiler that stands in LLVM's place, and what it hears from it. */
#ifndef LW_TESTS_STUB_H
#define LW_TESTS_STUB_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

typedef struct stub {
    pthread_mutex_t lock; /* guards what follows, but `steps` */
    pthread_cond_t moved;
    bool held, refuses;             /* held: what is begun does not end */
    unsigned slow;                  /* rounds that each step of the compiled code idles */
    unsigned begun, ended, dropped; /* compilations; programs that were given back */
    bool keeps;                     /* what is compiled may be kept … */
    unsigned loaded;                /* … and was, so often */
    atomic_uint steps;              /* of compiled code, executed */
} stub;

#define STUB_SYMBOL "lanewise_stub"
typedef stub *stub_get(void);

#endif
