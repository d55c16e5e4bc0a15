/* guard.c: work that cannot be asked to stop, and that ends the process where it runs out of memory: LLVM's. Both come
 * to a signal handler, in the middle of anything, with what is to be said then. */
#include <signal.h>
#include <stdlib.h>
#include <sys/time.h>
#include <unistd.h>

#include "tool/tool.h"

static char late_text[512], failed_text[256];

static void say_and_exit(const char *text, int code) {
    for (size_t size = strlen(text); size;) {
        ssize_t put = write(STDERR_FILENO, text, size);
        if (put < 0) break;
        text += put;
        size -= (size_t)put;
    }
    _exit(code);
}

static void on_late(int number) {
    (void)number;
    say_and_exit(late_text, LW_EXIT_STOPPED);
}

static void on_failed(int number) {
    (void)number;
    say_and_exit(failed_text, LW_EXIT_MACHINE);
}

static void set_timer(double seconds) {
    const time_t whole = (time_t)seconds;
    struct itimerval timer = {.it_value = {.tv_sec = whole, .tv_usec = (suseconds_t)((seconds - (double)whole) * 1e6)}};
    if (seconds > 0 && !timer.it_value.tv_sec && !timer.it_value.tv_usec) timer.it_value.tv_usec = 1;
    setitimer(ITIMER_REAL, &timer, NULL);
}

static void put_error(char *to, size_t room, lw_diag_id id, const char *message) {
    snprintf(to, room, "lanewise: error[LW%04u]: %s\n", lw_diag_rows[id].number, message);
}

void lw_guard_begin(double seconds, const char *late) {
    put_error(late_text, sizeof late_text, LW_D_stopped, late);
    put_error(failed_text, sizeof failed_text, LW_D_no_memory, "out of memory: the compiler gave up");
    signal(SIGABRT, on_failed);
    if (seconds > 0) signal(SIGALRM, on_late);
    set_timer(seconds);
}

void lw_guard_end(void) {
    set_timer(0);
    signal(SIGALRM, SIG_DFL);
    signal(SIGABRT, SIG_DFL);
}
