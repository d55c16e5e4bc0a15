/* thread.c: threads, and waiting by a clock that never jumps. */
#include "run/run.h"

#include <signal.h>
#include <time.h>

double lw_clock(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

bool lw_thread_start(pthread_t *id, void *(*body)(void *argument), void *argument, size_t stack) {
    sigset_t all, before;
    pthread_attr_t attributes;
    if (pthread_attr_init(&attributes)) return false;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const bool started = (!stack || !pthread_attr_setstacksize(&attributes, stack)) &&
                         !pthread_create(id, &attributes, body, argument);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return started;
}

bool lw_cond_make(pthread_cond_t *cond) {
    pthread_condattr_t attributes;
    if (pthread_condattr_init(&attributes)) return false;
    const bool made = !pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC) && !pthread_cond_init(cond, &attributes);
    pthread_condattr_destroy(&attributes);
    return made;
}

bool lw_cond_wait(pthread_cond_t *cond, pthread_mutex_t *lock, long nanoseconds) {
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += nanoseconds;
    if (until.tv_nsec >= 1000000000) until.tv_sec++, until.tv_nsec -= 1000000000;
    return !pthread_cond_timedwait(cond, lock, &until);
}
