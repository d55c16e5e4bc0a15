/* record.c: what is kept of a run, as text: a digest of each form's results, and the results of some lanes as
 * they are. */
#include "silicon.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

uint64_t lw_fnv_bytes(uint64_t hash, const void *bytes, size_t count) {
    const unsigned char *at = bytes;
    for (size_t i = 0; i < count; i++) hash = (hash ^ at[i]) * UINT64_C(0x100000001b3);
    return hash;
}

uint64_t lw_fnv_words(uint64_t hash, const uint32_t *words, size_t count) {
    for (size_t i = 0; i < count; i++)
        for (unsigned shift = 0; shift < 32; shift += 8)
            hash = (hash ^ (words[i] >> shift & 0xff)) * UINT64_C(0x100000001b3);
    return hash;
}

static uint64_t fnv_u64(uint64_t hash, uint64_t number) {
    uint32_t words[] = {(uint32_t)number, (uint32_t)(number >> 32)};
    return lw_fnv_words(hash, words, 2);
}

static uint64_t cases_digest(const lw_batch *b) {
    uint64_t hash = LW_FNV_START;
    for (unsigned i = 0; i < b->family->cases; i++) {
        const lw_case *at = &b->cases[i];
        hash = fnv_u64(fnv_u64(fnv_u64(fnv_u64(hash, at->a), at->b), at->c), at->m);
    }
    return hash;
}

/* Spreads over the lanes from form to form, so that a group's samples are of many. */
unsigned lw_form_sampled(const lw_group *group, unsigned form) {
    uint64_t state = form;
    return lw_random_next(&state) % (group->cases / group->samples) * group->samples;
}

static unsigned slices_of(const lw_group *g) { return g->cases / g->slice; }

/* The digest of the results of the lanes of a slice, word by word. */
static uint64_t slice_digest(const lw_group *g, unsigned form, const uint32_t *results, unsigned slice) {
    uint64_t hash = LW_FNV_START;
    for (unsigned word = 0; word < g->forms[form].words; word++)
        hash = lw_fnv_words(hash, results + (size_t)(g->forms[form].first + word) * g->cases + (size_t)slice * g->slice,
                            g->slice);
    return hash;
}

static uint32_t word_of(const lw_group *g, unsigned form, const uint32_t *results, unsigned lane, unsigned word) {
    return results[(size_t)(g->forms[form].first + word) * g->cases + lane];
}

/* ---- Writing ------------------------------------------------------------------------------------------- */

/* The head of the lines that say what was run. All of them must agree when a record is used. */
static void print_identity(const lw_batch *b, FILE *out) {
    fprintf(out, "program: silicon %d, splitmix64 from %#jx\n", LW_SILICON_VERSION, (uintmax_t)LW_SILICON_SEED);
    fprintf(out, "module: %016jx, inputs %016jx\n", (uintmax_t)lw_fnv_bytes(LW_FNV_START, b->ptx, b->length),
            (uintmax_t)cases_digest(b));
    fprintf(out, "forms: %u in %u groups\n", b->forms, b->count);
}

static void print_group(const lw_group *g, FILE *out) {
    fprintf(out, "\n%s: %u forms, %u lanes, %u a digest, %u kept\n", g->name, g->count, g->cases, g->slice, g->samples);
}

static void print_form(const lw_group *g, unsigned form, const uint32_t *results, FILE *out) {
    for (unsigned slice = 0; slice < slices_of(g); slice++)
        fprintf(out, "%016jx ", (uintmax_t)slice_digest(g, form, results, slice));
    unsigned lane = lw_form_sampled(g, form);
    for (unsigned i = 0; i < g->samples; i++)
        for (unsigned word = 0; word < g->forms[form].words; word++)
            fprintf(out, "%s%x", i || word ? " " : "", word_of(g, form, results, lane + i, word));
    fputc('\n', out);
}

void lw_record_write(lw_device *device, const lw_batch *b, const char *date, FILE *out) {
    fprintf(out, "lanewise silicon record: %s\n", b->family->name);
    lw_device_describe(device, out);
    fprintf(out, "date: %s\n", date);
    print_identity(b, out);
    lw_device_load(device, b);
    for (unsigned i = 0; i < b->count; i++) {
        const lw_group *g = &b->groups[i];
        const uint32_t *results = lw_device_run(device, g);
        print_group(g, out);
        for (unsigned form = 0; form < g->count; form++) print_form(g, form, results, out);
    }
    fputs("\nend\n", out);
}

/* ---- Reading ------------------------------------------------------------------------------------------- */

struct lw_record {
    lw_batch *batch;
    uint64_t *digests; /* group by group, form by form, slice by slice */
    uint32_t *samples; /* the same way, lane by lane, word by word */
};

typedef struct reader {
    const char *path;
    FILE *file;
    char *line;
    size_t room;
    unsigned number;
} reader;

static _Noreturn void __attribute__((format(printf, 2, 3))) bad(const reader *r, const char *format, ...) {
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    lw_silicon_leave(LW_EXIT_FILE, "%s:%u: %s", r->path, r->number, text);
}

static const char *next_line(reader *r) {
    ssize_t length = getline(&r->line, &r->room, r->file);
    r->number++;
    if (length < 0) bad(r, "the record ends here, before its `end`");
    while (length && (r->line[length - 1] == '\n' || r->line[length - 1] == '\r')) r->line[--length] = 0;
    return r->line;
}

/* The rest of a line that must begin with a text. */
static const char *line_after(reader *r, const char *head) {
    const char *line = next_line(r);
    if (strncmp(line, head, strlen(head))) bad(r, "\"%s…\" is missing here", head);
    return line + strlen(head);
}

/* Lines that must be what `print` would write now. */
static void same_lines(reader *r, char *text, const char *why) {
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
        if (strcmp(next_line(r), line)) bad(r, "%s\n  there: %s\n  here:  %s", why, r->line, line);
    free(text);
}

static void read_identity(reader *r, const lw_batch *b) {
    char *text;
    size_t length;
    FILE *out = lw_silicon_text_open(&text, &length);
    print_identity(b, out);
    lw_silicon_text_close(out);
    same_lines(r, text, "the record is of other modules or inputs than this program makes: record again");
}

static void read_group(reader *r, const lw_group *g) {
    char *text;
    size_t length;
    FILE *out = lw_silicon_text_open(&text, &length);
    print_group(g, out);
    lw_silicon_text_close(out);
    if (*next_line(r)) bad(r, "an empty line is missing here");
    same_lines(r, text, "the record has another group here: record again");
}

static uint64_t read_hex(reader *r, char **at, unsigned most) {
    char *end;
    while (**at == ' ') ++*at;
    size_t digits = strspn(*at, "0123456789abcdef");
    uint64_t number = strtoull(*at, &end, 16);
    if (!digits || digits > most || (size_t)(end - *at) != digits || (*end && *end != ' '))
        bad(r, "a number is missing or wrong at \"%.20s\"", *at);
    *at = end;
    return number;
}

static void read_form(reader *r, const lw_group *g, unsigned form, uint64_t **digest, uint32_t **sample) {
    next_line(r);
    char *at = r->line;
    for (unsigned i = 0; i < slices_of(g); i++) *(*digest)++ = read_hex(r, &at, 16);
    for (unsigned i = 0; i < g->samples * g->forms[form].words; i++) *(*sample)++ = (uint32_t)read_hex(r, &at, 8);
    if (*at) bad(r, "the line has more than its form: \"%.20s\"", at);
}

static void make_tables(lw_record *record) {
    size_t digests = 0, samples = 0;
    const lw_batch *b = record->batch;
    for (unsigned i = 0; i < b->count; i++) {
        digests += (size_t)b->groups[i].count * slices_of(&b->groups[i]);
        samples += (size_t)b->groups[i].words * b->groups[i].samples;
    }
    record->digests = lw_silicon_memory(digests, sizeof *record->digests);
    record->samples = lw_silicon_memory(samples, sizeof *record->samples);
}

lw_record *lw_record_read(const char *path) {
    lw_record *record = lw_silicon_memory(1, sizeof *record);
    reader r = {.path = path, .file = fopen(path, "r")};
    if (!r.file) lw_silicon_leave(LW_EXIT_FILE, "cannot read %s: %m", path);
    const char *name = line_after(&r, "lanewise silicon record: ");
    const lw_family *family = lw_family_named(name);
    if (!family) bad(&r, "there is no family \"%.40s\"", name);
    printf("%s: recorded on", family->name);
    printf(" %s", line_after(&r, "card: "));
    printf(", driver %s", line_after(&r, "driver: "));
    printf(", %s\n", line_after(&r, "date: "));
    record->batch = lw_batch_new(family);
    read_identity(&r, record->batch);
    make_tables(record);
    uint64_t *digest = record->digests;
    uint32_t *sample = record->samples;
    for (unsigned i = 0; i < record->batch->count; i++) {
        const lw_group *g = &record->batch->groups[i];
        read_group(&r, g);
        for (unsigned form = 0; form < g->count; form++) read_form(&r, g, form, &digest, &sample);
    }
    if (*next_line(&r)) bad(&r, "an empty line is missing here");
    if (strcmp(next_line(&r), "end")) bad(&r, "\"end\" is missing here");
    if (fgetc(r.file) != EOF) bad(&r, "there is more behind the end: a file holds one record");
    free(r.line);
    fclose(r.file);
    return record;
}

void lw_record_free(lw_record *record) {
    lw_batch_free(record->batch);
    free(record->digests);
    free(record->samples);
    free(record);
}

const lw_batch *lw_record_batch(const lw_record *record) { return record->batch; }

/* ---- Comparing ----------------------------------------------------------------------------------------- */

void lw_lane_print(const lw_batch *b, const lw_group *g, unsigned form, const uint32_t *results, unsigned lane) {
    const lw_case *at = &b->cases[lane];
    printf("  lane %u: a %#jx b %#jx c %#jx m %#jx gives", lane, (uintmax_t)at->a, (uintmax_t)at->b, (uintmax_t)at->c,
           (uintmax_t)at->m);
    for (unsigned word = 0; word < g->forms[form].words; word++) printf(" %#x", word_of(g, form, results, lane, word));
}

/* The kept lanes of one form that differ; says so where none of them does, and the digests only. */
static void print_difference(const lw_batch *b, const lw_group *g, unsigned form, const uint32_t *results,
                             const uint64_t *digest, const uint32_t *sample) {
    unsigned first = lw_form_sampled(g, form), words = g->forms[form].words, shown = 0;
    printf("differs: %s: %s\n", g->name, g->forms[form].text);
    for (unsigned i = 0; i < g->samples && shown < 4; i++) {
        bool same = true;
        for (unsigned word = 0; word < words; word++)
            same &= word_of(g, form, results, first + i, word) == sample[i * words + word];
        if (same) continue;
        shown++;
        lw_lane_print(b, g, form, results, first + i);
        fputs(", recorded", stdout);
        for (unsigned word = 0; word < words; word++) printf(" %#x", sample[i * words + word]);
        putchar('\n');
    }
    if (shown) return;
    for (unsigned slice = 0; slice < slices_of(g); slice++)
        if (digest[slice] != slice_digest(g, form, results, slice))
            printf("  lanes %u to %u: results %016jx, recorded %016jx; no kept lane differs, --values shows "
                   "all\n",
                   slice * g->slice, (slice + 1) * g->slice - 1, (uintmax_t)slice_digest(g, form, results, slice),
                   (uintmax_t)digest[slice]);
}

static bool form_same(const lw_group *g, unsigned form, const uint32_t *results, const uint64_t *digest,
                      const uint32_t *sample) {
    unsigned lane = lw_form_sampled(g, form), words = g->forms[form].words;
    for (unsigned slice = 0; slice < slices_of(g); slice++)
        if (digest[slice] != slice_digest(g, form, results, slice)) return false;
    for (unsigned i = 0; i < g->samples * words; i++)
        if (sample[i] != word_of(g, form, results, lane + i / words, i % words)) return false;
    return true;
}

unsigned lw_record_compare(lw_device *device, const lw_record *record, unsigned limit) {
    const lw_batch *b = record->batch;
    const uint64_t *digest = record->digests;
    const uint32_t *sample = record->samples;
    unsigned differ = 0;
    lw_device_load(device, b);
    for (unsigned i = 0; i < b->count; i++) {
        const lw_group *g = &b->groups[i];
        const uint32_t *results = lw_device_run(device, g);
        for (unsigned form = 0; form < g->count; form++) {
            if (!form_same(g, form, results, digest, sample) && differ++ < limit)
                print_difference(b, g, form, results, digest, sample);
            digest += slices_of(g);
            sample += g->samples * g->forms[form].words;
        }
    }
    printf("%s: %u forms, %u differ\n", b->family->name, b->forms, differ);
    return differ;
}
