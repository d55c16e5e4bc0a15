/* main.c: lanewise-ptxas: what programs run in the place of NVIDIA's assembler. It checks PTX, says what is wrong with
 * it in ptxas's way, and makes a bundle of it (shim/image), which our driver loads where a cubin would be. */
#include "base/float_mode.h"
#include "shim/image/image.h"

#include <stdio.h>
#include <stdlib.h>

enum { FAILED = 255 };

static const char version[] = "ptxas: Lanewise %s in the place of the PTX assembler\n"
                              "Cuda compilation tools, release 13.0, V13.0.0\n"; /* whose options and PTX it takes */

static const char help[] =
    "Usage: lanewise-ptxas [OPTION...] FILE.ptx\n"
    "Takes the options of ptxas 13.0, checks the file, and writes it as what Lanewise's CUDA driver loads.\n\n"
    "  -arch, --gpu-name NAME    the device: sm_90 (sm_75 by default); compute_90: check only\n"
    "  -o, --output-file FILE    elf.o by default\n"
    "  -c, --compile-only        what is defined nowhere may come from elsewhere\n"
    "  -ias, --input-as-string   the text itself in the place of a file\n"
    "  -w, -Werror, -v, -V       no warnings; warnings are errors; say what was done; the version\n"
    "All others are taken, and change nothing.\n";

typedef struct job {
    const char *arch_name, *output;
    uint32_t registers;
    bool relocatable, quiet, strict, verbose;
    const char **inputs; /* files, and strings where … */
    bool *is_text;
    int count;
} job;

static int fatal(const char *format, const char *what) {
    fprintf(stderr, "ptxas fatal   : ");
    fprintf(stderr, format, what); /* one of ours, below */
    fputc('\n', stderr);
    return FAILED;
}

/* ---- The command line ------------------------------------------------------------------------------------------ */

typedef struct option {
    const char *name, *shorter;
    bool value;
} option;
static const option options[] = {
#define OPTION(name, shorter, value) {name, shorter, value},
#include "shim/ptxas/options.def"
#undef OPTION
};

/* Those of a newer ptxas are passed over where it is clear that no value follows. */
static bool is_newer(const char *argument, const option *found) {
    return !found && argument[1] == '-' && strchr(argument, '=');
}

/* `--name`, `-name` or the short form; a value may follow behind '=', and that of -O and -m right away. */
static const option *find_option(const char *argument, const char **value) {
    const char *name = argument + (argument[1] == '-' ? 2 : 1), *equals = strchr(name, '=');
    const size_t size = equals ? (size_t)(equals - name) : strlen(name);
    *value = equals ? equals + 1 : NULL;
    for (size_t i = 0; i < LW_COUNT(options); i++)
        if ((strlen(options[i].name) == size && !memcmp(options[i].name, name, size)) ||
            (strlen(options[i].shorter) == size && !memcmp(options[i].shorter, name, size)))
            return &options[i];
    for (size_t i = 0; i < LW_COUNT(options); i++)
        if ((*name == 'O' || *name == 'm') && options[i].shorter[0] == *name && !options[i].shorter[1])
            return *value = name + 1, &options[i];
    return NULL;
}

static void take_input(job *j, const char *input, bool is_text) {
    j->inputs[j->count] = input;
    j->is_text[j->count++] = is_text;
}

static void take_option(job *j, const option *o, const char *value) {
    const char *name = o->name;
    if (!strcmp(name, "gpu-name")) j->arch_name = value;
    else if (!strcmp(name, "output-file")) j->output = value;
    else if (!strcmp(name, "input-as-string")) take_input(j, value, true);
    else if (!strcmp(name, "maxrregcount"))
        j->registers = (uint32_t)strtoul(value, NULL, 10); /* else it is a word: 0 */
    else if (!strcmp(name, "compile-only")) j->relocatable = true;
    else if (!strcmp(name, "disable-warnings")) j->quiet = true;
    else if (!strcmp(name, "warning-as-error")) j->strict = true;
    else if (!strcmp(name, "verbose")) j->verbose = true;
}

/* Options that print something and end all. */
static bool prints(const option *o) {
    if (!strcmp(o->name, "version")) printf(version, lw_version());
    else if (!strcmp(o->name, "help")) fputs(help, stdout);
    else if (!strcmp(o->name, "list-version")) printf("%d.%d\n", LW_PTX_NEWEST / 10, LW_PTX_NEWEST % 10);
    else return false;
    return true;
}

static int parse(job *j, int argc, char **argv, bool *done) {
    if ((*done = argc < 2)) return fputs(help, stdout), 0;
    for (int i = 1; i < argc; i++) {
        const char *value = NULL;
        if (argv[i][0] != '-' || !argv[i][1]) {
            take_input(j, argv[i], false);
            continue;
        }
        const option *o = find_option(argv[i], &value);
        if (is_newer(argv[i], o)) {
            if (!j->quiet) fprintf(stderr, "ptxas warning : Unknown option '%s' is ignored\n", argv[i]);
            continue;
        }
        if (!o) return fatal("Unknown option '%s'", argv[i]);
        if ((*done = prints(o))) return 0;
        if (o->value && !value && ++i == argc) return fatal("argument expected after '%s'", argv[i - 1]);
        take_option(j, o, value ? value : argv[i]);
    }
    return j->count ? 0 : fatal("%s", "No input files specified");
}

/* ---- Checking -------------------------------------------------------------------------------------------------- */

static void render(lw_text *out, lw_source *source, const lw_diag *diag) {
    static const char *const severities[] = {
        [LW_ERROR] = "error   ", [LW_WARNING] = "warning ", [LW_NOTE] = "info    "};
    uint32_t line, column;
    lw_source_find(source, diag->place.at, &line, &column);
    lw_text_say(out, "ptxas %.1000s, line %u; %s: %.1000s [LW%04u]\n", lw_source_part_of(source, diag->place.at)->name,
                line, severities[diag->severity], diag->message, lw_diag_rows[diag->id].number);
}

static lw_image_result add(lw_linker *linker, const job *j, int index) {
    const char *input = j->inputs[index];
    bool no_memory = false;
    size_t size;
    if (j->is_text[index]) return lw_linker_add(linker, "application ptx input", (lw_bytes){input, strlen(input)});
    char *data = lw_image_file(input, &size, &no_memory);
    if (!data && no_memory) return LW_IMAGE_NO_MEMORY;
    if (!data) {
        fatal("Input file '%s' could not be opened", input);
        return LW_IMAGE_UNKNOWN;
    }
    lw_image_result result = lw_linker_add(linker, input, (lw_bytes){data, size});
    free(data);
    return result;
}

/* Where parts are to be linked later it is not yet a fault that something is missing. */
static lw_image_result check(lw_linker *linker, const job *j, lw_text *bundle) {
    LW_OWN_FLOAT_MODE(callers);
    lw_image_result result = LW_IMAGE_OK;
    for (int i = 0; i < j->count && !result; i++) result = add(linker, j, i);
    if (!result) result = j->relocatable ? lw_linker_bundle(linker, bundle) : lw_linker_complete(linker, bundle);
    return !result && j->strict && linker->info.size ? LW_IMAGE_BAD_PTX : result;
}

static int write_file(const char *path, const lw_text *bundle) {
    FILE *file = fopen(path, "wb");
    bool good = file && fwrite(bundle->at, 1, bundle->size, file) == bundle->size;
    if (file) good &= !fclose(file);
    return good ? 0 : fatal("Output file '%s' could not be opened", path);
}

static int assemble(const job *j) {
    const bool is_virtual = !strncmp(j->arch_name, "compute_", 8);
    lw_linker linker = {.inputs.arch = lw_arch_find(j->arch_name), .inputs.registers = j->registers, .render = render};
    lw_text bundle = {0};
    if (!linker.inputs.arch) return fatal("Value '%s' is not defined for option 'gpu-name'", j->arch_name);
    lw_image_result result = check(&linker, j, &bundle);
    if (linker.info.at && !j->quiet) fputs(linker.info.at, stderr);
    if (linker.error.at) fputs(linker.error.at, stderr);
    int code = 0;
    if (result == LW_IMAGE_NO_MEMORY) code = fatal("%s", "Memory allocation failure");
    else if (result) code = fatal("%s", "Ptx assembly aborted due to errors");
    else if (!is_virtual) code = write_file(j->output, &bundle);
    if (!code && j->verbose)
        fprintf(stderr, "ptxas info    : %d checked for %s; registers are given out when it is loaded\n", j->count,
                j->arch_name);
    lw_linker_free(&linker);
    lw_text_free(&bundle);
    return code;
}

int main(int argc, char **argv) {
    job j = {.arch_name = "sm_75", .output = "elf.o"};
    bool done = false;
    j.inputs = calloc((size_t)argc + 1, sizeof *j.inputs);
    j.is_text = calloc((size_t)argc + 1, sizeof *j.is_text);
    int code = j.inputs && j.is_text ? parse(&j, argc, argv, &done) : fatal("%s", "Memory allocation failure");
    if (!code && !done) code = assemble(&j);
    free(j.inputs);
    free(j.is_text);
    return code;
}
