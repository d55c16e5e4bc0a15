/* main.c: chooses the command. */
#include <fcntl.h>
#include <locale.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/float_mode.h"
#include "tool/tool.h"

static const lw_command commands[] = {
    {"check", "parse and verify PTX or PTO", lw_command_check},
    {"format", "print PTX or PTO in one canonical layout", lw_command_format},
    {"dump", "print what a stage made of the text: tokens … machine code", lw_command_dump},
    {"run", "run a kernel, or a function of PTO", lw_command_run},
    {"profile", "run a kernel and say what each line of its text did", lw_command_profile},
    {"equiv", "compare a PTX kernel with a PTO function on the same inputs", lw_command_equiv},
    {"exec", "run a CUDA program with Lanewise as its driver and runtime", lw_command_exec},
    {"explain", "explain an instruction or a diagnostic", lw_command_explain},
    {"eval", "run one instruction on values", lw_command_eval},
    {"lut", "convert between expressions and tables of lop3", lw_command_lut},
    {"draw", "draw which lane reads which in a shuffle, or holds what of matrices", lw_command_draw},
    {"isa", "list the instruction forms and which of them are executable", lw_command_isa},
    {"cpu", "show the CPU levels, the one in use, and the threads", lw_command_cpu},
    {"cache", "show where compiled code is kept, and how much; remove it", lw_command_cache},
    {"version", "print the version", lw_command_version},
};

static void usage(FILE *out) {
    fprintf(out, "Usage: lanewise COMMAND [OPTION...] ...\n\nLanewise runs PTX and PTO on the CPU, lane by lane.\n\n");
    for (size_t i = 0; i < LW_COUNT(commands); i++) fprintf(out, "  %-9s %s\n", commands[i].name, commands[i].does);
    fprintf(out, "\n`lanewise COMMAND --help` tells more. Examples:\n"
                 "  lanewise check k.ptx\n"
                 "  lanewise run k.ptx --grid 4 --block 256 --arg f32[]=@x.npy --arg f32[1K]:print\n"
                 "  lanewise eval shf.l.wrap.b32 0x12345678 0x9abcdef0 8\n"
                 "  lanewise explain shf\n");
}

static int unknown(const char *word) {
    const char *names[LW_COUNT(commands)];
    for (size_t i = 0; i < LW_COUNT(commands); i++) names[i] = commands[i].name;
    const char *near = lw_nearest(word, names, LW_COUNT(names));
    lw_tool_error(LW_D_unknown_command, word);
    if (near) fprintf(stderr, "  did you mean `lanewise %s`?\n", near);
    fputs("  `lanewise --help` lists the commands\n", stderr);
    return LW_EXIT_USAGE;
}

/* argp shows argv[0] as the name of the program. */
static int run_command(const lw_command *command, int argc, char **argv) {
    static char name[32];
    snprintf(name, sizeof name, "lanewise %s", command->name);
    argv[0] = name;
    return command->run(argc, argv);
}

static int dispatch(int argc, char **argv) {
    if (argc < 2) {
        usage(stderr);
        return LW_EXIT_USAGE;
    }
    const char *word = argv[1];
    if (!strcmp(word, "--help") || !strcmp(word, "-h") || !strcmp(word, "-?") || !strcmp(word, "help")) {
        if (argc == 2 || *word == '-') {
            usage(stdout);
            return LW_EXIT_OK;
        }
        static char help[] = "--help"; /* lanewise help run */
        argv[1] = argv[2];
        argv[2] = help;
        return dispatch(3, argv);
    }
    if (!strcmp(word, "--version") || !strcmp(word, "-V")) return lw_command_version(1, argv);
    for (size_t i = 0; i < LW_COUNT(commands); i++)
        if (!strcmp(word, commands[i].name)) return run_command(&commands[i], argc - 1, argv + 1);
    return unknown(word);
}

/* What was printed must have arrived: a full disk is an error, too. argp ends the process by itself after --help, so
 * that this happens at its end, wherever that is. */
static void close_outputs(int code, void *unused) {
    (void)unused;
    bool failed = ferror(stdout);
    failed |= fflush(stdout) != 0;
    failed |= close(STDOUT_FILENO) !=
              0; /* not fclose: reports, and the end of the process, flush the stream once more */
    if (failed) lw_tool_error(LW_D_cannot_write, "-", "standard output took not everything");
    failed = failed || ferror(stderr);
    /* What was said may lack a part, and what was found may not be so. */
    if (lw_tool_starved() && code != LW_EXIT_MACHINE) {
        if (lw_text_lost()) lw_tool_error(LW_D_no_memory, "a part of the output is missing");
        _exit(LW_EXIT_MACHINE);
    }
    if (!code && failed) _exit(LW_EXIT_FILE);
}

void lw_tool_leave(int code) {
    close_outputs(code, NULL);
    fflush(stderr);
    _exit(code);
}

/* A file that is opened later must not get the number of a standard stream that is closed: what is printed would go
 * there. In its place comes something that refuses what the stream is for; whoever closes standard error wants to see
 * nothing. */
static void open_streams(void) {
    static const int ways[] = {[STDIN_FILENO] = O_WRONLY, [STDOUT_FILENO] = O_RDONLY, [STDERR_FILENO] = O_WRONLY};
    for (int fd = 0; fd < (int)LW_COUNT(ways); fd++)
        if (fcntl(fd, F_GETFD) < 0) open("/dev/null", ways[fd] | O_CLOEXEC);
}

int main(int argc, char **argv) {
    LW_OWN_FLOAT_MODE(starters); /* a library that came with the environment may have set another one, or a locale */
    setlocale(LC_ALL, "C");
    open_streams();
    signal(SIGXFSZ, SIG_IGN); /* a limit of file sizes is an error like a full disk */
    argp_err_exit_status = LW_EXIT_USAGE;
    on_exit(close_outputs, NULL);
    return dispatch(argc, argv);
}
