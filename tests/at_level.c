/* at_level LEVEL[+ENGINE] COMMAND…: runs the command with LANEWISE_CPU=LEVEL, and LANEWISE_ENGINE=ENGINE, or exits with
 * 77 where the machine lacks the level. "best" is the one that is chosen where nobody says. The engine auto compiles
 * everything, as what a test executes is too little to be worth it.
 *
 * Asks the compiler's own CPU tests, so that it is a second witness to what the library finds. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SKIPPED = 77, WRONG = 2 };

static bool has_level(const char *level) {
    if (strcmp(level, "portable") == 0 || strcmp(level, "best") == 0) return true;
#if defined(__aarch64__)
    if (strcmp(level, "neon") == 0) return true;
#elif defined(__x86_64__)
    __builtin_cpu_init();
    bool v2 = __builtin_cpu_supports("sse3") && __builtin_cpu_supports("ssse3") && __builtin_cpu_supports("sse4.1") &&
              __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("popcnt");
    bool v3 = v2 && __builtin_cpu_supports("avx") && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
              __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("fma");
    bool v4 = v3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
              __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
              __builtin_cpu_supports("avx512vl");
    if (strcmp(level, "v3") == 0) return v3;
    if (strcmp(level, "v4") == 0) return v4;
#endif
    return false;
}

int main(int argc, char **argv) {
    if (argc < 3) return fprintf(stderr, "usage: at_level LEVEL[+ENGINE] COMMAND...\n"), WRONG;
    char *engine = strchr(argv[1], '+');
    if (engine) *engine++ = 0;
    if (!has_level(argv[1])) return printf("skipped: this machine has no CPU level %s\n", argv[1]), SKIPPED;
    if (setenv("LANEWISE_CPU", strcmp(argv[1], "best") == 0 ? "" : argv[1], 1) != 0 ||
        (engine && setenv("LANEWISE_ENGINE", engine, 1) != 0) ||
        (engine && strcmp(engine, "auto") == 0 && setenv("LANEWISE_HOT", "0", 1) != 0))
        return perror("at_level"), WRONG;
    execvp(argv[2], argv + 2);
    return perror(argv[2]), WRONG;
}
