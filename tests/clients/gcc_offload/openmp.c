/* openmp.c: OpenMP's target constructs, as GCC compiles them for nvptx. */
#include "check.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

enum { N = 5000 };
static int words[N];
static double numbers[N];

/* ---- Where code runs and what it sees --------------------------------------------------------------------------- */

static void places(void) {
    int host = -1, device = -1, teams = 0, threads = 0;
#pragma omp target map(from : host, device)
    {
        host = omp_is_initial_device();
        device = omp_get_device_num();
    }
    check("a target region runs on the device", !host && device == 0 && omp_get_num_devices() == 1);
#pragma omp target teams num_teams(5) map(from : teams)
    if (omp_get_team_num() == 4) teams = omp_get_num_teams();
    check("as many teams as asked for", teams == 5);
#pragma omp target parallel num_threads(7) map(from : threads)
    if (omp_get_thread_num() == 6) threads = omp_get_num_threads();
    check("as many threads as asked for", threads == 7);
}

static void maps(void) {
    int to[100], from[100], both[100], *there = malloc(100 * sizeof *there), kept = 5;
    for (int i = 0; i < 100; i++) to[i] = i, from[i] = -1, both[i] = 3 * i, there[i] = 7;
#pragma omp target map(to : to) map(from : from) map(tofrom : both, there[:100]) firstprivate(kept)
    {
        for (int i = 0; i < 100; i++) from[i] = to[i] + kept, both[i] += to[i], there[i] = both[i];
        kept = 9;
    }
    bool right = kept == 5;
    for (int i = 0; i < 100; i++) right &= from[i] == i + 5 && both[i] == 4 * i && there[i] == 4 * i;
    check("map to, from, tofrom, sections and firstprivate", right);
#pragma omp target enter data map(to : there[:100])
#pragma omp target map(there[:100])
    for (int i = 0; i < 100; i++) there[i]++;
    right = there[50] == 200;
#pragma omp target update from(there [50:10])
    right &= there[50] == 201 && there[60] == 240;
    there[0] = -8;
#pragma omp target update to(there[:1])
#pragma omp target map(there[:100])
    there[0]--;
#pragma omp target exit data map(from : there[:100])
    check("enter data, update and exit data", right && there[0] == -9 && there[99] == 397);
    free(there);
}

struct node {
    struct node *next;
    long value;
};

static void memory(void) {
    int device = omp_get_default_device(), host = omp_get_initial_device();
    int *there = omp_target_alloc(sizeof words, device);
    for (int i = 0; i < N; i++) words[i] = i;
    bool right = !omp_target_memcpy(there, words, sizeof words, 0, 0, device, host);
#pragma omp target teams distribute parallel for is_device_ptr(there)
    for (int i = 0; i < N; i++) there[i] *= 3;
    right &= !omp_target_memcpy(words, there, sizeof words, 0, 0, host, device);
    for (int i = 0; i < N; i++) right &= words[i] == 3 * i;
    omp_target_free(there, device);
    check("memory of the device by hand", right);
    long sum = 0;
#pragma omp target map(tofrom : sum)
    {
        struct node *list = NULL;
        for (long i = 1; i <= 100; i++) {
            struct node *made = malloc(sizeof *made);
            made->next = list;
            made->value = i;
            list = made;
        }
        while (list) {
            struct node *next = list->next;
            sum += list->value;
            free(list);
            list = next;
        }
    }
    check("malloc and free on the device", sum == 5050);
}

/* ---- Loops ------------------------------------------------------------------------------------------------------ */

static bool counted(int by) {
    bool right = true;
    for (int i = 0; i < N; i++) right &= words[i] == i * by;
    memset(words, 0, sizeof words);
    return right;
}

static void loops(void) {
    memset(words, 0, sizeof words);
#pragma omp target teams distribute parallel for map(words)
    for (int i = 0; i < N; i++) words[i] += i;
    check("teams distribute parallel for", counted(1));
#pragma omp target teams distribute parallel for simd map(words)
    for (int i = 0; i < N; i++) words[i] += 2 * i;
    check("teams distribute parallel for simd", counted(2));
#pragma omp target parallel for schedule(dynamic, 7) map(words)
    for (int i = 0; i < N; i++) words[i] += 3 * i;
    check("schedule(dynamic)", counted(3));
#pragma omp target parallel for schedule(guided) map(words)
    for (int i = 0; i < N; i++) words[i] += 4 * i;
    check("schedule(guided)", counted(4));
#pragma omp target teams distribute parallel for collapse(2) map(words)
    for (int i = 0; i < 50; i++)
        for (int j = 0; j < N / 50; j++) words[i * (N / 50) + j] += 5 * (i * (N / 50) + j);
    check("collapse(2)", counted(5));
#pragma omp target simd map(words)
    for (int i = 0; i < N; i++) words[i] += 6 * i;
    check("target simd", counted(6));
#pragma omp target teams loop map(words)
    for (int i = 0; i < N; i++) words[i] += 7 * i;
    check("teams loop", counted(7));
    int last = 0;
#pragma omp target parallel for ordered map(last, words)
    for (int i = 0; i < N; i++) {
#pragma omp ordered
        {
            words[i] = last;
            last += 8;
        }
    }
    check("ordered", counted(8));
}

/* ---- Reductions ------------------------------------------------------------------------------------------------- */

#define PRAGMA(text) _Pragma(#text)
#define REDUCE(type, operator, first, expression, merge) \
    do { \
        type wanted = first, teams = first, threads = first; \
        for (int i = 0; i < N; i++) { \
            type x = expression; \
            type r = wanted; \
            merge(wanted, r, x); \
        } \
        PRAGMA(omp target teams distribute parallel for reduction(operator : teams) map(tofrom : teams)) \
        for (int i = 0; i < N; i++) { \
            type x = expression; \
            type r = teams; \
            merge(teams, r, x); \
        } \
        PRAGMA(omp target parallel for simd reduction(operator : threads) map(tofrom : threads)) \
        for (int i = 0; i < N; i++) { \
            type x = expression; \
            type r = threads; \
            merge(threads, r, x); \
        } \
        check("reduction(" #operator") of " #type, wanted == teams && wanted == threads); \
    } while (0)
#define ADD(to, r, x)      (to) = (r) + (x)
#define MULTIPLY(to, r, x) (to) = (r) * (x)
#define LEAST(to, r, x)    (to) = (x) < (r) ? (x) : (r)
#define MOST(to, r, x)     (to) = (x) > (r) ? (x) : (r)
#define AND(to, r, x)      (to) = (r) & (x)
#define OR(to, r, x)       (to) = (r) | (x)
#define EITHER(to, r, x)   (to) = (r) ^ (x)
#define BOTH(to, r, x)     (to) = (r) && (x)
#define ANY(to, r, x)      (to) = (r) || (x)
#define MIXED(i)           ((int)((i)*2654435761u >> 7) % 10007 - 5000)

/* Sums and products of floats are exact here, so that their order does not count. */
static void reductions(void) {
    REDUCE(int, +, 3, MIXED(i), ADD);
    REDUCE(int, *, 1, 2 * i + 1, MULTIPLY);
    REDUCE(int, min, 99, MIXED(i), LEAST);
    REDUCE(int, max, -99, MIXED(i), MOST);
    REDUCE(int, &, -1, ~(1 << i % 13), AND);
    REDUCE(int, |, 0, 1 << i % 29, OR);
    REDUCE(int, ^, 5, MIXED(i), EITHER);
    REDUCE(int, &&, 1, i != 4321, BOTH);
    REDUCE(int, ||, 0, i == 1234, ANY);
    REDUCE(long, +, 1L << 40, (long)MIXED(i) << 20, ADD);
    REDUCE(long, *, 1, 2 * (long)i + 1, MULTIPLY);
    REDUCE(long, max, -1L << 60, (long)MIXED(i) << 30, MOST);
    REDUCE(short, +, 0, (short)i, ADD);
    REDUCE(float, +, 0, (float)MIXED(i), ADD);
    REDUCE(float, min, 0, (float)MIXED(i) / 8, LEAST);
    REDUCE(double, +, 0.5, MIXED(i) * 0.25, ADD);
    REDUCE(double, *, 1, i % 2 ? 2.0 : 0.5, MULTIPLY);
    REDUCE(double, min, 0, MIXED(i) / 3.0, LEAST);
    REDUCE(double, max, 0, MIXED(i) / 3.0, MOST);
}

/* ---- Atomics, critical sections, nesting ------------------------------------------------------------------------ */

static void atomics(void) {
    int count = 0, seen[N], most = 0, mask = 0;
    unsigned char small[4] = {0};
    double sum = 0;
    float quarter = 0;
    long long guarded = 0;
    memset(seen, 0, sizeof seen);
#pragma omp target teams distribute parallel for map(count, seen, sum, quarter, mask, small)
    for (int i = 0; i < N; i++) {
        int mine;
#pragma omp atomic capture
        mine = count++;
        seen[mine]++;
#pragma omp atomic
        sum += i * 0.5;
#pragma omp atomic
        quarter += 0.25f;
#pragma omp atomic
        mask |= 1 << i % 20;
#pragma omp atomic
        small[i % 4]++;
    }
    bool right = count == N && sum == N * (N - 1.0) / 4 && quarter == N / 4.0f && mask == (1 << 20) - 1;
    for (int i = 0; i < N; i++) right &= seen[i] == 1;
    for (int i = 0; i < 4; i++) right &= small[i] == (unsigned char)(N / 4);
    check("atomic update and capture of int, float, double and char", right);
#pragma omp target parallel for map(guarded, most)
    for (int i = 0; i < 500; i++) {
#pragma omp critical
        {
            guarded = guarded * 3 % 1000003 + 1;
            if (i > most) most = i;
        }
    }
    long long wanted = 0;
    for (int i = 0; i < 500; i++) wanted = wanted * 3 % 1000003 + 1;
    check("critical", guarded == wanted && most == 499);
}

static void nested(void) {
    int inner = 0, outer = 0, singles = 0, sections = 0, levels = 0;
#pragma omp target teams num_teams(3) map(inner, outer, levels)
#pragma omp parallel num_threads(4)
    {
#pragma omp atomic
        outer++;
#pragma omp parallel num_threads(4)
        {
#pragma omp atomic
            inner++;
#pragma omp atomic
            levels += omp_get_level();
        }
    }
    check("nested parallel", outer == 12 && inner >= 12 && levels == 2 * inner);
    int before[64], after[64];
#pragma omp target parallel num_threads(8) map(singles, sections, before, after)
    {
#pragma omp single
        singles++;
#pragma omp sections
        {
#pragma omp section
            {
#pragma omp atomic
                sections += 1;
            }
#pragma omp section
            {
#pragma omp atomic
                sections += 10;
            }
#pragma omp section
            {
#pragma omp atomic
                sections += 100;
            }
        }
#pragma omp for
        for (int i = 0; i < 64; i++) before[i] = i * i;
#pragma omp barrier
#pragma omp for
        for (int i = 0; i < 64; i++) after[i] = before[63 - i];
    }
    bool right = singles == 1 && sections == 111;
    for (int i = 0; i < 64; i++) right &= after[i] == (63 - i) * (63 - i);
    check("single, sections and barrier", right);
}

/* No taskloop: where a thread makes several tasks at once while fewer wait for them, libgomp 12.2 takes more from the
 * count of waiting threads than there are (gomp_team_barrier_wake), and then waits at a barrier for none. */
static void tasks(void) {
    int values[200], sum = 0;
#pragma omp target map(from : values) map(tofrom : sum)
#pragma omp parallel num_threads(8)
#pragma omp single
    {
        for (int i = 0; i < 200; i++) {
#pragma omp task firstprivate(i)
            values[i] = i + 1;
        }
#pragma omp taskwait
        for (int i = 0; i < 200; i++) sum += values[i];
    }
    check("tasks on the device", sum == 20100);
    int first = 1, second = 0;
#pragma omp target data map(first, second)
    {
#pragma omp target nowait depend(out : first) map(first)
        first = 20;
#pragma omp target nowait depend(in : first) depend(out : second) map(first, second)
        second = first + 1;
#pragma omp taskwait
    }
    check("regions that depend on one another, without waiting", first == 20 && second == 21);
}

/* ---- Code ------------------------------------------------------------------------------------------------------- */

#pragma omp declare target
static int table[4] = {1, 10, 100, 1000};
int counter = 42;
static long fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
static int twice(int x) { return 2 * x; }
static int square(int x) { return x * x; }
static int (*const calls[2])(int) = {twice, square};
static int ascending(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
static double of_variable_size(int n) {
    double space[n];
    for (int i = 0; i < n; i++) space[i] = i;
    double sum = 0;
    for (int i = n; i--;) sum += space[i];
    return sum;
}
#pragma omp end declare target

static void code(void) {
    long fib = 0;
    int through[2], sorted[50], sum = 0;
    double size = 0;
#pragma omp target map(from : fib, through, sorted, size) map(sum)
    {
        fib = fibonacci(15);
        for (int i = 0; i < 2; i++) through[i] = calls[i](9);
        for (int i = 0; i < 50; i++) sorted[i] = i * 37 % 50;
        qsort(sorted, 50, sizeof *sorted, ascending);
        size = of_variable_size(40);
        for (int i = 0; i < 4; i++) sum += table[i];
        counter++;
    }
#pragma omp target update from(counter)
    bool right = sum == 1111 && counter == 43;
    for (int i = 0; i < 50; i++) right &= sorted[i] == i;
    check("recursion", fib == 610);
    check("calls through pointers", through[0] == 18 && through[1] == 81);
    check("arrays of variable size", size == 780);
    check("variables of the device, and qsort", right);
}

static void arithmetic(void) {
    unsigned long long quotient[8], rest[8], a = 0xfedcba9876543210,
                                             b[8] = {1, 3, 10, 255, 65537, 1ull << 33, ~0ull, 0x123456789abcdef};
    __int128 product = 0;
    int bits[3] = {0};
#pragma omp target map(to : a, b) map(from : quotient, rest) map(product, bits)
    {
        for (int i = 0; i < 8; i++) quotient[i] = a / b[i], rest[i] = a % b[i];
        product = (__int128)(long long)a * (long long)b[7];
        bits[0] = __builtin_popcountll(a), bits[1] = __builtin_clzll(b[7]), bits[2] = __builtin_ctz(b[5] >> 30);
    }
    bool right = product == (__int128)(long long)a * (long long)b[7] && bits[0] == 32 && bits[1] == 7 && bits[2] == 3;
    for (int i = 0; i < 8; i++) right &= quotient[i] == a / b[i] && rest[i] == a % b[i];
    check("long division, 128 bits, counts of bits", right);
}

/* newlib's functions, which promise no last bit. */
static void mathematics(void) {
    double got[200], worst = 0;
#pragma omp target teams distribute parallel for map(from : got)
    for (int i = 0; i < 200; i++) {
        double x = 0.05 * (i + 1);
        got[i] = sin(x) + cos(x) * exp(-x) + log(x) + pow(x, 1.5) + atan2(x, 2) + sqrt(x) + cbrt(x) + floor(x) +
                 fmod(x, 0.3);
    }
    for (int i = 0; i < 200; i++) {
        double x = 0.05 * (i + 1);
        double wanted = sin(x) + cos(x) * exp(-x) + log(x) + pow(x, 1.5) + atan2(x, 2) + sqrt(x) + cbrt(x) + floor(x) +
                        fmod(x, 0.3);
        worst = fmax(worst, fabs(got[i] - wanted));
    }
    check("functions of libm", worst < 1e-12);
#pragma omp target teams distribute parallel for map(numbers)
    for (int i = 0; i < N; i++) numbers[i] = sqrt((double)i) / 3 + 1.0 / (i + 1);
    bool right = true;
    for (int i = 0; i < N; i++) right &= numbers[i] == sqrt((double)i) / 3 + 1.0 / (i + 1);
    check("division and square root of double, exactly", right);
}

static void strings(void) {
    char text[80] = "", copy[80] = "";
    int length = 0;
#pragma omp target map(text, copy, length)
    {
        length = snprintf(text, sizeof text, "%d %s %5.2f %lx", -12, "words", 3.14159, 0xabcdef0123456789ul);
        strcpy(copy, text);
        strcat(copy, "!");
        memmove(copy + 1, copy, 10);
    }
    check("snprintf and strings",
          length == 32 && !strcmp(text, "-12 words  3.14 abcdef0123456789") && !strncmp(copy, "--12 words", 10));
#pragma omp target
    printf("passed printf %d %s %.3f %c %llu\n", 42, "from the device", 2.5, 'x', 1ull << 63);
}

int main(void) {
    places();
    maps();
    memory();
    loops();
    reductions();
    atomics();
    nested();
    tasks();
    code();
    arithmetic();
    mathematics();
    strings();
    return !!failures;
}
