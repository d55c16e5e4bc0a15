/* stats.c: what the kernels of a program did, said at its end: LANEWISE_STATS=1, which `lanewise exec --stats` sets. */
#include "shim/cuda/driver.h"

#include <stdio.h>
#include <stdlib.h>

/* Of all launches of kernels of one name. */
typedef struct row {
    char *name;
    uint64_t launches, lane_instructions, interp_ctas, jit_ctas;
    double seconds;
    const char *why; /* of the last one, what was not compiled: a fixed text */
} row;

static struct {
    pthread_mutex_t lock;
    row *rows;
    size_t count, room;
    uint64_t lost; /* launches that there was no memory to note */
    double begun;
} all = {.lock = PTHREAD_MUTEX_INITIALIZER};

static row *row_of(const char *name) {
    for (size_t i = 0; i < all.count; i++)
        if (!strcmp(all.rows[i].name, name)) return &all.rows[i];
    if (all.count == all.room) {
        const size_t room = all.room ? all.room * 2 : 16;
        row *grown = realloc(all.rows, room * sizeof *grown);
        if (!grown) return NULL;
        all.rows = grown;
        all.room = room;
    }
    char *own = strdup(name); /* the kernel's module may go */
    if (!own) return NULL;
    all.rows[all.count] = (row){.name = own};
    return &all.rows[all.count++];
}

/* Of the calling thread's last launch. */
void lw_cu_count_launch(const char *name, const lw_launch_stats *stats) {
    LW_OWN_FLOAT_MODE(callers);
    const lw_launch_engines by = lw_launch_engine(lw_cu.device);
    pthread_mutex_lock(&all.lock);
    row *to = row_of(name);
    if (to) {
        to->launches++;
        to->lane_instructions += stats->lane_instructions;
        to->interp_ctas += by.interp_ctas;
        to->jit_ctas += by.jit_ctas;
        to->seconds += stats->seconds;
        to->why = by.why;
    } else all.lost++;
    pthread_mutex_unlock(&all.lock);
}

static int compare(const void *a, const void *b) {
    const row *x = a, *y = b;
    if (x->seconds != y->seconds) return x->seconds < y->seconds ? 1 : -1;
    return strcmp(x->name, y->name);
}

static double share(const row *of) {
    const uint64_t ctas = of->interp_ctas + of->jit_ctas;
    return ctas ? (double)of->jit_ctas * 100 / (double)ctas : 0;
}

static void put(const row *of) {
    const bool partly = of->jit_ctas && of->why && *of->why;
    fprintf(stderr, "%10llu %12.6f %12.3f %9.1f  %s%s%s\n", (unsigned long long)of->launches, of->seconds,
            of->seconds > 0 ? (double)of->lane_instructions / of->seconds * 1e-9 : 0, share(of), of->name,
            partly ? ": " : "", partly ? of->why : "");
}

/* Carriers may still run; what they have not counted yet is not said. */
static void print(void) {
    LW_OWN_FLOAT_MODE(callers);
    row total = {.name = "all kernels"};
    pthread_mutex_lock(&all.lock);
    if (all.count) qsort(all.rows, all.count, sizeof *all.rows, compare);
    fprintf(stderr, "lanewise: %s, %u threads, engine %s; %.3f s from cuInit to the end\n",
            lw_context_cpu(lw_cu.device), lw_context_threads(lw_cu.device), lw_context_engine(lw_cu.device),
            lw_clock() - all.begun);
    fprintf(stderr, "%10s %12s %12s %9s  %s\n", "launches", "seconds", "lane-ginstr/s", "% jit", "kernel");
    for (size_t i = 0; i < all.count; i++) {
        const row *of = &all.rows[i];
        put(of);
        total.launches += of->launches;
        total.lane_instructions += of->lane_instructions;
        total.interp_ctas += of->interp_ctas;
        total.jit_ctas += of->jit_ctas;
        total.seconds += of->seconds;
    }
    if (all.count != 1) put(&total);
    if (all.lost) fprintf(stderr, "lanewise: no memory to note %llu launches\n", (unsigned long long)all.lost);
    pthread_mutex_unlock(&all.lock);
}

bool lw_cu_stats_begin(void) {
    LW_OWN_FLOAT_MODE(callers);
    all.begun = lw_clock();
    return !atexit(print);
}
