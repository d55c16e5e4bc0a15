/* check.h: a program is a list of checks; each says on a line of its own whether it passed. What a device computes is
 * compared with what the same source computes on the host, or with what arithmetic says. */
#include <stdbool.h>
#include <stdio.h>

static int failures;

static void check(const char *name, bool right) {
    printf("%s %s\n", right ? "passed" : "FAILED", name);
    fflush(stdout);
    failures += !right;
}
