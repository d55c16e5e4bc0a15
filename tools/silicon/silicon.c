/* silicon.c: the command line. */
#include "silicon.h"

#include <argp.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

_Noreturn void lw_silicon_leave(int code, const char *format, ...) {
    va_list args;
    fflush(stdout);
    fputs("silicon: ", stderr);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
    exit(code);
}

void *lw_silicon_memory(size_t count, size_t size) {
    void *memory = calloc(count ? count : 1, size);
    if (!memory) lw_silicon_leave(LW_EXIT_MACHINE, "out of memory");
    return memory;
}

FILE *lw_silicon_text_open(char **text, size_t *length) {
    FILE *out = open_memstream(text, length);
    if (!out) lw_silicon_leave(LW_EXIT_MACHINE, "out of memory");
    return out;
}

void lw_silicon_text_close(FILE *out) {
    if (ferror(out) | fclose(out)) lw_silicon_leave(LW_EXIT_MACHINE, "out of memory");
}

/* ---- The command line ---------------------------------------------------------------------------------- */

enum { KEY_PTX = 256, KEY_INPUTS, KEY_VALUES, KEY_DATE };

typedef enum action { NOTHING, RECORD, COMPARE, WRITE_PTX, PRINT, LIST, INPUTS, VALUES } action;

typedef struct options {
    action action;
    const char *folder, *form, *date;
    unsigned limit;
    char **words;
    int count;
} options;

static const struct argp_option choices[] = {
    {"record", 'r', "DIR", 0, "Run the families and write DIR/FAMILY.txt", 1},
    {"compare", 'c', NULL, 0, "Run what the FILEs are records of, and compare", 1},
    {"ptx", KEY_PTX, "DIR", 0, "Write the modules to DIR/FAMILY.ptx", 2},
    {"print", 'p', NULL, 0, "Print the modules", 2},
    {"list", 'l', NULL, 0, "Print the families and how many forms they have", 2},
    {"inputs", KEY_INPUTS, NULL, 0, "Print the operands, one lane a line", 2},
    {"values", KEY_VALUES, "TEXT", 0, "Run the forms whose text contains TEXT, and print all their results", 2},
    {"limit", 'n', "N", 0, "With --compare: show N differing forms of each file; 0 for all (default 10)", 3},
    {"date", KEY_DATE, "DATE", 0, "With --record: the date that the records carry (default today)", 3},
    {0},
};

static const char doc[] =
    "Run every form of the seed instructions through the CUDA driver, and keep or compare the results."
    "\vThe driver is libcuda.so.1, whichever the machine has. Without a FAMILY all are meant. What each form "
    "leaves is "
    "kept as a digest over all lanes, and as it is for some lanes.\n\n"
    "Exit codes:\n"
    "  0  done; all results are those of the records\n"
    "  1  some differ\n"
    "  2  the command line is wrong\n"
    "  5  a file cannot be read or written, or is no record of what this program runs\n"
    "  6  no driver, no device, or a fault of one of them\n\n"
    "Examples:\n"
    "  silicon --record records\n"
    "  silicon --compare records/*.txt\n"
    "  lanewise exec -- silicon --compare records/*.txt\n"
    "  silicon --print shfl_sync\n"
    "  silicon --values 'vshl.s32.s32.u32.sat.wrap %d.h1' vshl\n";

static void choose(options *o, struct argp_state *state, action action) {
    if (o->action && o->action != action)
        argp_error(state, "one of --record, --compare, --ptx, --print, --list, --inputs and --values, please");
    o->action = action;
}

static unsigned read_limit(const char *text, struct argp_state *state) {
    char *end;
    errno = 0;
    unsigned long number = strtoul(text, &end, 10);
    if (*text < '0' || *text > '9' || *end || errno || number > UINT_MAX)
        argp_error(state, "--limit takes a number, not \"%s\"", text);
    return number ? (unsigned)number : UINT_MAX;
}

static error_t parse(int key, char *arg, struct argp_state *state) {
    options *o = state->input;
    switch (key) {
    case 'r': choose(o, state, RECORD), o->folder = arg; break;
    case 'c': choose(o, state, COMPARE); break;
    case KEY_PTX: choose(o, state, WRITE_PTX), o->folder = arg; break;
    case 'p': choose(o, state, PRINT); break;
    case 'l': choose(o, state, LIST); break;
    case KEY_INPUTS: choose(o, state, INPUTS); break;
    case KEY_VALUES: choose(o, state, VALUES), o->form = arg; break;
    case 'n': o->limit = read_limit(arg, state); break;
    case KEY_DATE: o->date = arg; break;
    case ARGP_KEY_ARGS:
        o->words = state->argv + state->next;
        o->count = state->argc - state->next;
        break;
    case ARGP_KEY_END:
        if (!o->action)
            argp_error(state, "what is to be done? --record, --compare, --ptx, --print, --list, --inputs or --values");
        if (o->action == COMPARE && !o->count) argp_error(state, "--compare needs the FILEs to compare with");
        for (int i = 0; o->action != COMPARE && i < o->count; i++)
            if (!lw_family_named(o->words[i]))
                argp_error(state, "there is no family \"%s\": --list prints them", o->words[i]);
        break;
    default: return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

/* ---- Actions ------------------------------------------------------------------------------------------- */

/* The families that were named, or all. */
static const lw_family *chosen(const options *o, unsigned i) {
    if (!o->count) return i < lw_family_count ? &lw_families[i] : NULL;
    return i < (unsigned)o->count ? lw_family_named(o->words[i]) : NULL;
}

static FILE *file_new(const char *folder, const char *name, const char *ending, char path[PATH_MAX]) {
    if (mkdir(folder, 0777) && errno != EEXIST) lw_silicon_leave(LW_EXIT_FILE, "cannot make the folder %s: %m", folder);
    if (snprintf(path, PATH_MAX, "%s/%s.%s", folder, name, ending) >= PATH_MAX)
        lw_silicon_leave(LW_EXIT_FILE, "%s: the name is too long", folder);
    FILE *file = fopen(path, "w");
    if (!file) lw_silicon_leave(LW_EXIT_FILE, "cannot write %s: %m", path);
    return file;
}

static void file_end(FILE *file, const char *path) {
    if (ferror(file) | fclose(file)) lw_silicon_leave(LW_EXIT_FILE, "cannot write %s", path);
}

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec + now.tv_nsec * 1e-9;
}

static void record(const options *o, lw_device *device, const lw_batch *batch) {
    char path[PATH_MAX];
    double start = seconds();
    FILE *file = file_new(o->folder, batch->family->name, "txt", path);
    lw_record_write(device, batch, o->date, file);
    file_end(file, path);
    printf("%s: %u forms, %.1f s\n", path, batch->forms, seconds() - start);
    fflush(stdout);
}

static void write_ptx(const options *o, const lw_batch *batch) {
    char path[PATH_MAX];
    FILE *file = file_new(o->folder, batch->family->name, "ptx", path);
    fwrite(batch->ptx, 1, batch->length, file);
    file_end(file, path);
}

static void print_inputs(const lw_batch *b) {
    for (unsigned i = 0; i < b->family->cases; i++) {
        const lw_case *at = &b->cases[i];
        printf("%u %#jx %#jx %#jx %#jx\n", i, (uintmax_t)at->a, (uintmax_t)at->b, (uintmax_t)at->c, (uintmax_t)at->m);
    }
}

static void print_values(const options *o, lw_device *device, const lw_batch *b) {
    lw_device_load(device, b);
    for (unsigned i = 0; i < b->count; i++) {
        const lw_group *g = &b->groups[i];
        const uint32_t *results = NULL;
        for (unsigned form = 0; form < g->count; form++) {
            if (!strstr(g->forms[form].text, o->form)) continue;
            if (!results) results = lw_device_run(device, g);
            printf("%s: %s\n", g->name, g->forms[form].text);
            for (unsigned lane = 0; lane < g->cases; lane++) lw_lane_print(b, g, form, results, lane), putchar('\n');
        }
    }
}

static void act_on(const options *o, lw_device *device, const lw_family *family) {
    lw_batch *batch = lw_batch_new(family);
    switch (o->action) {
    case RECORD: record(o, device, batch); break;
    case WRITE_PTX: write_ptx(o, batch); break;
    case PRINT: fwrite(batch->ptx, 1, batch->length, stdout); break;
    case LIST:
        printf("%-10s %5u forms in %3u groups: %s\n", family->name, batch->forms, batch->count, family->does);
        break;
    case INPUTS: print_inputs(batch); break;
    case VALUES: print_values(o, device, batch); break;
    case NOTHING:
    case COMPARE: break;
    }
    lw_batch_free(batch);
}

static bool compare(const options *o, lw_device *device) {
    bool same = true;
    for (int i = 0; i < o->count; i++) {
        lw_record *record = lw_record_read(o->words[i]);
        same &= !lw_record_compare(device, record, o->limit);
        lw_record_free(record);
        fflush(stdout);
    }
    return same;
}

int main(int argc, char **argv) {
    static const struct argp argp = {choices, parse, "[FAMILY… | FILE…]", doc, NULL, NULL, NULL};
    options o = {.limit = 10};
    char today[16];
    time_t now = time(NULL);
    bool same = true;
    strftime(today, sizeof today, "%Y-%m-%d", gmtime(&now));
    o.date = today;
    argp_err_exit_status = LW_EXIT_USAGE;
    argp_parse(&argp, argc, argv, 0, NULL, &o);
    lw_device *device = o.action == RECORD || o.action == COMPARE || o.action == VALUES ? lw_device_open() : NULL;
    if (o.action == COMPARE) same = compare(&o, device);
    else
        for (unsigned i = 0; chosen(&o, i); i++) act_on(&o, device, chosen(&o, i));
    if (device) lw_device_close(device);
    if (ferror(stdout) | fflush(stdout)) lw_silicon_leave(LW_EXIT_FILE, "cannot write the output: %m");
    return same ? LW_EXIT_OK : LW_EXIT_DIFFERS;
}
