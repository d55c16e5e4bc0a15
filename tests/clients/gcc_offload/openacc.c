/* openacc.c: OpenACC's constructs, whose three levels GCC maps to CTAs, warps and lanes: what one lane knows goes to
 * the others by shuffles and by shared memory. */
#include "check.h"

#include <math.h>
#include <openacc.h>
#include <stdlib.h>
#include <string.h>

enum { N = 5000 };
static int words[N];

static bool counted(int by) {
    bool right = true;
    for (int i = 0; i < N; i++) right &= words[i] == i * by;
    memset(words, 0, sizeof words);
    return right;
}

static void levels(void) {
    int on_host = -1;
#pragma acc parallel copyout(on_host)
    on_host = acc_on_device(acc_device_host);
    check("a parallel region runs on the device", on_host == 0 && acc_get_num_devices(acc_device_nvidia) == 1);
#pragma acc parallel loop copy(words)
    for (int i = 0; i < N; i++) words[i] += i;
    check("parallel loop", counted(1));
#pragma acc parallel loop gang num_gangs(7) copy(words)
    for (int i = 0; i < N; i++) words[i] += 2 * i;
    check("gang", counted(2));
#pragma acc parallel loop worker num_workers(8) copy(words)
    for (int i = 0; i < N; i++) words[i] += 3 * i;
    check("worker", counted(3));
#pragma acc parallel loop vector vector_length(32) copy(words)
    for (int i = 0; i < N; i++) words[i] += 4 * i;
    check("vector", counted(4));
#pragma acc parallel loop gang num_gangs(3) num_workers(4) vector_length(32) copy(words)
    for (int i = 0; i < 10; i++) {
        const int row = i * 500;
#pragma acc loop worker
        for (int j = 0; j < 10; j++) {
            const int at = row + 50 * j;
#pragma acc loop vector
            for (int k = 0; k < 50; k++) words[at + k] += 5 * (at + k);
        }
    }
    check("gang, worker and vector, one in the other", counted(5));
#pragma acc parallel loop collapse(2) vector_length(128) copy(words)
    for (int i = 0; i < 50; i++)
        for (int j = 0; j < 100; j++) words[100 * i + j] += 6 * (100 * i + j);
    check("collapse, vectors of four warps", counted(6));
#pragma acc parallel loop tile(8, 4) copy(words)
    for (int i = 0; i < 50; i++)
        for (int j = 0; j < 100; j++) words[100 * i + j] += 7 * (100 * i + j);
    check("tile", counted(7));
#pragma acc kernels copy(words)
    for (int i = 0; i < N; i++) words[i] += 8 * i;
    check("kernels", counted(8));
#pragma acc serial copy(words)
    for (int i = 0; i < N; i++) words[i] += 9 * i;
    check("serial", counted(9));
}

static void reductions(void) {
    int sum = 0, most = 0, bits = -1, wanted = 0;
    long product = 1;
    double halves = 0.5, least = 0;
    float quarters = 0;
    for (int i = 0; i < N; i++) wanted += words[i] = (i * 7919) % 1009 - 500;
#pragma acc parallel loop gang worker vector reduction(+ : sum) reduction(max : most) copy(sum, most) copyin(words)
    for (int i = 0; i < N; i++) {
        sum += words[i];
        if (words[i] > most) most = words[i];
    }
    check("reductions of int over all levels", sum == wanted && most == 508);
#pragma acc parallel loop vector reduction(* : product) reduction(& : bits) copy(product, bits)
    for (int i = 0; i < 30; i++) {
        product *= 2 * i + 1;
        bits &= ~(1 << i % 7);
    }
    long right = 1;
    for (int i = 0; i < 30; i++) right *= 2 * i + 1;
    check("products and bits over a vector", product == right && bits == ~127);
#pragma acc parallel loop worker vector reduction(+ : halves, quarters) reduction(min : least) copy(halves, quarters, least) copyin(words)
    for (int i = 0; i < N; i++) {
        halves += words[i] * 0.5;
        quarters += words[i] * 0.25f;
        least = fmin(least, words[i] / 8.0);
    }
    check("reductions of double and float",
          halves == 0.5 + wanted * 0.5 && quarters == wanted * 0.25f && least == -62.5);
    int rows[20];
#pragma acc parallel loop gang copyin(words) copyout(rows)
    for (int i = 0; i < 20; i++) {
        int row = 0;
#pragma acc loop vector reduction(+ : row)
        for (int j = 0; j < 250; j++) row += words[250 * i + j];
        rows[i] = row;
    }
    bool all = true;
    for (int i = 0; i < 20; i++) {
        int row = 0;
        for (int j = 0; j < 250; j++) row += words[250 * i + j];
        all &= rows[i] == row;
    }
    check("a reduction in each gang", all);
    memset(words, 0, sizeof words);
}

#pragma acc routine seq
static int of_one(int x) { return x < 2 ? x : of_one(x - 1) + of_one(x - 2); }

#pragma acc routine vector
static int of_vector(const int *from, int count) {
    int sum = 0;
#pragma acc loop vector reduction(+ : sum)
    for (int i = 0; i < count; i++) sum += from[i];
    return sum;
}

static void routines(void) {
    int fib[20], sums[50], count = 0, seen[N];
    double total = 0;
#pragma acc parallel loop copyout(fib)
    for (int i = 0; i < 20; i++) fib[i] = of_one(i);
    for (int i = 0; i < N; i++) words[i] = i % 11, seen[i] = 0;
#pragma acc parallel loop gang vector_length(32) copyin(words) copyout(sums)
    for (int i = 0; i < 50; i++) sums[i] = of_vector(words + 100 * i, 100);
    bool right = fib[19] == 4181 && fib[10] == 55;
    for (int i = 0; i < 50; i++) {
        int sum = 0;
        for (int j = 0; j < 100; j++) sum += words[100 * i + j];
        right &= sums[i] == sum;
    }
    check("routines of one lane and of a vector", right);
#pragma acc parallel loop gang vector copy(count, seen, total)
    for (int i = 0; i < N; i++) {
        int mine;
#pragma acc atomic capture
        mine = count++;
        seen[mine]++;
#pragma acc atomic
        total += 0.5;
    }
    right = count == N && total == N / 2.0;
    for (int i = 0; i < N; i++) right &= seen[i] == 1;
    check("atomic", right);
}

static void queues(void) {
    int *a = malloc(N * sizeof *a), *b = malloc(N * sizeof *b);
    for (int i = 0; i < N; i++) a[i] = i, b[i] = 0;
#pragma acc enter data copyin(a[:N], b[:N])
#pragma acc parallel loop async(1) present(a[:N])
    for (int i = 0; i < N; i++) a[i] *= 2;
#pragma acc parallel loop async(1) present(a[:N], b[:N])
    for (int i = 0; i < N; i++) b[i] = a[i] + 1;
#pragma acc wait(1) async(2)
#pragma acc parallel loop async(2) present(b[:N])
    for (int i = 0; i < N; i++) b[i] += 5;
#pragma acc update self(b[:N]) async(2)
#pragma acc wait
    bool right = acc_async_test_all() && acc_is_present(a, N * sizeof *a);
    for (int i = 0; i < N; i++) right &= b[i] == 2 * i + 6 && a[i] == i;
    acc_memcpy_from_device(a, acc_deviceptr(a), N * sizeof *a);
    for (int i = 0; i < N; i++) right &= a[i] == 2 * i;
#pragma acc exit data delete (a[:N], b[:N])
    check("queues, data of the device and its addresses", right && !acc_is_present(a, N * sizeof *a));
    free(a);
    free(b);
}

int main(void) {
    levels();
    reductions();
    routines();
    queues();
    return !!failures;
}
