/* compare.c: runs random kernels by the reference and by the library, and says where they differ.
 *
 *     reference --seed 1 --count 1000                      kernels 1 to 1000, by the interpreter at every level and by
 * the compiler reference --seed 17 --print                          the text of kernel 17 reference --seed 17 --reduce
 * the smallest text found that still differs reference --file k.ptx --block 64 --seed 17          a text of one's own,
 * with the buffers of kernel 17
 *
 * --record: a line of digests for each kernel on which all agree; --recorded FILE: compares with such lines.
 * --calm: common integer instructions only, besides what the kernel is about.
 * --warps: kernels of exchanges between lanes only; --tiny: of a few instructions on registers.
 * --no-places: without exchanges that lanes come to from different places.
 * --gpu: a GPU, too, through libcuda.so.1; --only-gpu: by it and the reference alone.
 * --coverage: fails where an executable form is executed by none of the kernels.
 * --only-reference: whether each kernel has a defined result. --bare: where shared and local memory begin with
 * anything, as on a GPU.
 * --progress FILE: holds the seed at work.
 * --jit-every N: only each Nth kernel is compiled, since that takes longest; 0: none. --keep FOLDER: texts that differ
 * are written there. */
#include "compare.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct settings {
    uint64_t seed, count, jit_every;
    gen_options generator;
    bool print, reduce, record, gpu, only_gpu, only_reference, coverage, bare;
    const char *file, *keep, *progress, *recorded;
    uint32_t block, grid;
} settings;

static void read_text(lw_text *text, const char *path) {
    FILE *file = fopen(path, "rb");
    char buffer[4096];
    size_t n;
    if (!file) {
        perror(path);
        exit(2);
    }
    while ((n = fread(buffer, 1, sizeof buffer, file)) > 0) lw_text_add(text, buffer, n);
    fclose(file);
}

static void keep(const settings *s, const gen_kernel *kernel, uint64_t seed) {
    char path[512];
    if (!s->keep) return;
    snprintf(path, sizeof path, "%s/%llu.ptx", s->keep, (unsigned long long)seed);
    FILE *file = fopen(path, "wb");
    if (!file) return;
    fwrite(kernel->text.at, 1, kernel->text.size, file);
    fclose(file);
}

static void make(const settings *s, gen_tables *tables, uint64_t seed, gen_kernel *kernel) {
    gen_make(tables, kernel, seed, &s->generator);
    if (!s->file) return;
    lw_text_free(&kernel->text);
    kernel->text = (lw_text){0};
    read_text(&kernel->text, s->file);
    if (s->block) kernel->block[0] = s->block, kernel->block[1] = kernel->block[2] = 1;
    if (s->grid) kernel->grid[0] = s->grid;
}

/* For whoever goes on behind a kernel that took the program with it. */
static void say_progress(const settings *s, uint64_t seed) {
    FILE *file = s->progress ? fopen(s->progress, "w") : NULL;
    if (!file) return;
    fprintf(file, "%llu\n", (unsigned long long)seed);
    fclose(file);
}

/* True where all agree. */
static bool one(const settings *s, gen_tables *tables, comparison *c, uint64_t seed) {
    gen_kernel kernel = {0};
    say_progress(s, seed);
    make(s, tables, seed, &kernel);
    c->seed = seed, c->with_jit = s->jit_every && (seed - s->seed) % s->jit_every == 0;
    bool same = compare_kernel(c, &kernel);
    if (!same) {
        printf("seed %llu, grid %u, block %ux%u: %s\n", (unsigned long long)seed, kernel.grid[0], kernel.block[0],
               kernel.block[1], c->why);
        if (s->reduce) compare_reduce(c, &kernel), fwrite(kernel.text.at, 1, kernel.text.size, stdout);
        keep(s, &kernel, seed);
        fflush(stdout);
    }
    if (same && s->record && c->ran)
        printf("%llu %016llx %016llx\n", (unsigned long long)seed,
               (unsigned long long)compare_digest(kernel.text.at, kernel.text.size), (unsigned long long)c->digest);
    lw_text_free(&kernel.text);
    return same;
}

/* Kernels that a GPU has executed: lines of seed, digest of the text, digest of what it left in memory. Those that
 * differ. */
static uint64_t check_recorded(const settings *s, gen_tables *tables, comparison *c, uint64_t *count) {
    FILE *file = fopen(s->recorded, "r");
    char line[256];
    unsigned long long seed, text, memory, different = 0;
    if (!file) {
        perror(s->recorded);
        exit(2);
    }
    while (fgets(line, sizeof line, file)) {
        if (sscanf(line, "%llu %llx %llx", &seed, &text, &memory) != 3) continue;
        gen_kernel kernel = {0};
        make(s, tables, seed, &kernel);
        bool same_text = compare_digest(kernel.text.at, kernel.text.size) == text;
        lw_text_free(&kernel.text);
        bool same = one(s, tables, c, seed);
        if (!same_text)
            printf("seed %llu: the generator makes another text than the recorded one: record again\n", seed);
        else if (same && c->digest != memory) printf("seed %llu: the reference differs from the record\n", seed);
        different += !same || !same_text || c->digest != memory;
        ++*count;
    }
    fclose(file);
    return different;
}

static void parse(int argc, char **argv, settings *s) {
    enum {
        SEED,
        COUNT,
        PRINT,
        REDUCE,
        FILE_,
        BLOCK,
        GRID,
        WARPS,
        NO_PLACES,
        JIT_EVERY,
        KEEP,
        TRAPS,
        GPU,
        ONLY_GPU,
        PROGRESS,
        COVERAGE,
        BARE,
        ONLY_REFERENCE,
        TINY,
        CALM,
        RECORD,
        RECORDED
    };
    static const struct option options[] = {{"seed", 1, NULL, SEED},
                                            {"count", 1, NULL, COUNT},
                                            {"print", 0, NULL, PRINT},
                                            {"reduce", 0, NULL, REDUCE},
                                            {"file", 1, NULL, FILE_},
                                            {"block", 1, NULL, BLOCK},
                                            {"grid", 1, NULL, GRID},
                                            {"warps", 0, NULL, WARPS},
                                            {"no-places", 0, NULL, NO_PLACES},
                                            {"jit-every", 1, NULL, JIT_EVERY},
                                            {"keep", 1, NULL, KEEP},
                                            {"traps", 0, NULL, TRAPS},
                                            {"gpu", 0, NULL, GPU},
                                            {"only-gpu", 0, NULL, ONLY_GPU},
                                            {"progress", 1, NULL, PROGRESS},
                                            {"coverage", 0, NULL, COVERAGE},
                                            {"bare", 0, NULL, BARE},
                                            {"calm", 0, NULL, CALM},
                                            {"record", 0, NULL, RECORD},
                                            {"recorded", 1, NULL, RECORDED},
                                            {"tiny", 0, NULL, TINY},
                                            {"only-reference", 0, NULL, ONLY_REFERENCE},
                                            {0}};
    for (int o; (o = getopt_long(argc, argv, "", options, NULL)) != -1;) switch (o) {
        case SEED: s->seed = strtoull(optarg, NULL, 0); break;
        case COUNT: s->count = strtoull(optarg, NULL, 0); break;
        case PRINT: s->print = true; break;
        case REDUCE: s->reduce = true; break;
        case FILE_: s->file = optarg; break;
        case BLOCK: s->block = (uint32_t)strtoul(optarg, NULL, 0); break;
        case GRID: s->grid = (uint32_t)strtoul(optarg, NULL, 0); break;
        case WARPS: s->generator.warps = true; break;
        case NO_PLACES: s->generator.places = false; break;
        case JIT_EVERY: s->jit_every = strtoull(optarg, NULL, 0); break;
        case KEEP: s->keep = optarg; break;
        case TRAPS: s->generator.traps = true; break;
        case ONLY_REFERENCE: s->only_reference = true; break;
        case TINY: s->generator.tiny = true; break;
        case CALM: s->generator.calm = true; break;
        case RECORD: s->record = true; break;
        case RECORDED: s->recorded = optarg; break;
        case COVERAGE: s->coverage = true; break;
        case BARE: s->bare = true; break;
        case PROGRESS: s->progress = optarg; break;
        case GPU: s->gpu = true; break;
        case ONLY_GPU: s->gpu = s->only_gpu = true; break;
        default: exit(2);
        }
}

int main(int argc, char **argv) {
    settings s = {.seed = 1, .count = 1, .jit_every = 1, .generator = {.places = true}};
    parse(argc, argv, &s);
    gen_tables *tables = gen_tables_new();
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (s.print) {
        gen_kernel kernel = {0};
        make(&s, tables, s.seed, &kernel);
        printf("// seed %llu, grid %u, block %u x %u\n", (unsigned long long)s.seed, kernel.grid[0], kernel.block[0],
               kernel.block[1]);
        fwrite(kernel.text.at, 1, kernel.text.size, stdout);
        lw_text_free(&kernel.text);
        gen_tables_free(tables);
        return 0;
    }
    comparison *c = compare_begin(s.gpu, !s.only_gpu && !s.only_reference);
    c->bare = s.bare;
    uint64_t different = 0, lines = 0;
    if (s.recorded) different = check_recorded(&s, tables, c, &lines), s.count = lines;
    for (uint64_t k = 0; k < s.count && !s.recorded; k++) different += !one(&s, tables, c, s.seed + k);
    if (!s.record)
        printf("%llu kernels, %llu differ, %llu too long, %llu with the compiler; %llu instructions of the reference; "
               "engines: %s\n",
               (unsigned long long)s.count, (unsigned long long)different, (unsigned long long)c->skipped,
               (unsigned long long)c->compiled, (unsigned long long)c->steps, c->names);
    if (s.coverage) different += compare_missing(c);
    compare_end(c);
    gen_tables_free(tables);
    return different != 0;
}
