/* preload_mode.c: what a library that comes with the environment may do to a process before it begins: LW_TEST_MODE is
 * the number of a mode of host_modes.h, LW_TEST_LOCALE a locale. */
#include "../host_modes.h"

#include <locale.h>
#include <stdlib.h>

__attribute__((constructor)) static void set(void) {
    const char *mode = getenv("LW_TEST_MODE"), *locale = getenv("LW_TEST_LOCALE");
    if (locale && !setlocale(LC_ALL, locale)) abort();
    if (mode && atoi(mode) < HOST_MODES) host_modes[atoi(mode)].set();
}
