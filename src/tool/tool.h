/* tool.h: what the commands of the tool share: exit codes, reports, files, values, arguments, NumPy files.
 *
 * One file per command. `run` launches by the public library only; the commands that show the inside use the stages'
 * headers. */
#ifndef LW_TOOL_H
#define LW_TOOL_H

#include <argp.h>
#include <stdio.h>

#include "base/cursor.h"
#include "front/ptx/ptx.h"
#include "lanewise/lanewise.h"

typedef struct lw_tool_language lw_tool_language; /* that a text is written in: language.h has what is done with it */

/* ---- Commands ----------------------------------------------------------------------------------------- */

/* docs/cli.md and every --help say what they mean. */
enum {
    LW_EXIT_OK = 0,
    LW_EXIT_SOURCE = 1,
    LW_EXIT_USAGE = 2,
    LW_EXIT_TRAPPED = 3,
    LW_EXIT_STOPPED = 4,
    LW_EXIT_FILE = 5,
    LW_EXIT_MACHINE = 6,
    LW_EXIT_DIFFERENT = 7,    /* equiv: the two programs part */
    LW_EXIT_NO_EXECUTE = 126, /* exec: as shells have it */
    LW_EXIT_NO_PROGRAM = 127,
    LW_EXIT_INTERRUPTED = 130,
};

typedef struct lw_command {
    const char *name, *does;
    int (*run)(int argc, char **argv); /* argv[0] is "lanewise NAME"; returns the exit code */
} lw_command;

int lw_command_check(int argc, char **argv);
int lw_command_format(int argc, char **argv);
int lw_command_dump(int argc, char **argv);
int lw_command_run(int argc, char **argv);
int lw_command_profile(int argc, char **argv);
int lw_command_equiv(int argc, char **argv);
int lw_command_exec(int argc, char **argv);
int lw_command_explain(int argc, char **argv);
int lw_command_eval(int argc, char **argv);
int lw_command_lut(int argc, char **argv);
int lw_command_draw(int argc, char **argv);
int lw_command_isa(int argc, char **argv);
int lw_command_cpu(int argc, char **argv);
int lw_command_cache(int argc, char **argv);
int lw_command_version(int argc, char **argv);

/* ---- Reports ------------------------------------------------------------------------------------------ */

/* Prints "lanewise: error[LW6000]: …" to stderr; the row of isa/diag.def gives the format. */
void lw_tool_error(lw_diag_id id, ...);
/* The same with the message made, and lines below it, printed as they are; NULL is fine. */
void lw_tool_report(lw_diag_id id, const char *message, const char *below);
/* Whether stderr wants colours: a terminal, and NO_COLOR is not set. */
bool lw_tool_colour(void);
/* Prints what `diags` holds to stderr, warnings only where asked for. */
void lw_tool_diagnostics(lw_diags *diags, bool warnings);

/* A note of a launch, on a line of its own. */
void lw_tool_note(const char *file, const lw_launch_note *note);

/* Reports that lw_module_kernel found none, for the reason that the context gives, and lists those that there are,
 * below; `how` is what chooses one. Returns the exit code. */
int lw_tool_wrong_kernel(lw_context *context, const lw_module *module, const char *file,
                         const lw_tool_language *language, const char *how);

/* The same where there is no such module: `why` is what is wrong, `names` those that there are. */
int lw_tool_choose_kernel(const char *file, const char *why, const lw_tool_language *language, const char *how,
                          const char *const *names, size_t count);

/* What a kernel's name from the command line stands for: itself, or the one that it means in C++. NULL: several are
 * meant, which it has reported. */
const char *lw_tool_kernel_meant(const lw_module *module, const char *wanted, const char *file,
                                 const lw_tool_language *language, const char *how);

/* Whether memory was missing, for something that was reported or for a text. */
bool lw_tool_starved(void);
/* Ends the process as returning from main does, but at once: without what waits for threads or frees memory. */
_Noreturn void lw_tool_leave(int code);
/* argp_parse, which without memory ends the process. */
void lw_tool_options(const struct argp *argp, int argc, char **argv, unsigned flags, void *input);

/* ---- Files: file.c ------------------------------------------------------------------------------------ */

/* A file that is read as far as its reader wants; "-" is standard input. */
typedef struct lw_input {
    const char *path;
    FILE *file;
    char *data; /* `size` bytes and a NUL */
    size_t size, room;
    uint64_t whole; /* bytes of the file, where that is known; else UINT64_MAX */
    bool ended;     /* `data` is all */
} lw_input;
/* Both return an exit code; other than 0 they have reported. */
int lw_input_open(lw_input *input, const char *path);
int lw_input_read(lw_input *input, uint64_t upto); /* until there are so many bytes, or no more */
void lw_input_close(lw_input *input);              /* the data stays, and is the caller's to free */

/* Reads a whole file of at most `limit` bytes. The data has a NUL behind it and is the caller's to free. Returns an
 * exit code; other than 0 it has reported. */
int lw_tool_read(const char *path, uint64_t limit, char **data, size_t *size);
/* Writes a whole file; "-" is standard output. A file appears as a whole, or not at all: what was there before stays
 * then. */
bool lw_tool_write(const char *path, const char *data, size_t size);
bool lw_tool_write_two(const char *path, const char *head, size_t head_size, const char *data,
                       size_t size); /* one behind the other */
bool lw_tool_ends_with(const char *text, const char *end);

/* The argument of --language; another word is reported by argp. */
const lw_tool_language *lw_tool_language_said(struct argp_state *state, const char *word);
/* By what was said, where that is not NULL, else by the name. */
const lw_tool_language *lw_tool_language_of(const char *path, const lw_tool_language *said);

/* Reads a text and runs `work` on it. The arena, the source and the diagnostics live as long as the call. Returns
 * work's exit code, or that of the failure, which it has reported. */
typedef struct lw_tool_source {
    lw_arena arena;
    lw_source source;
    lw_diags diags;
    const char *path;
    void *user;
    lw_source_cursor cursor; /* of lw_tool_put_place */
} lw_tool_source;
int lw_tool_with_source(const char *path, int (*work)(lw_tool_source *in), void *user);
/* The same with several files, which become one source of as many texts. `unread`, where it is not NULL, gets the one
 * that could not be read, or NULL. */
int lw_tool_with_sources(char *const *paths, uint32_t count, int (*work)(lw_tool_source *in), void *user,
                         const char **unread);
/* The command line is wrong where it names more files than can be linked. */
void lw_tool_check_linked(struct argp_state *state, uint32_t count);
/* Reads all of them. Returns an exit code; other than 0 it has reported. `texts` has room for all, and lw_tool_unread
 * gives back what is in it. */
int lw_tool_read_all(char *const *paths, uint32_t count, lw_source_text *texts);
void lw_tool_unread(lw_source_text *texts, uint32_t count);
/* The same with a text that was read before; `path` is what it is called. */
int lw_tool_with_text(const char *path, const char *text, size_t size, int (*work)(lw_tool_source *in), void *user);

/* What work prints of it. Prints `out` to standard output and frees it; false: there was no memory for all of it, which
 * is reported. */
bool lw_tool_print(const lw_tool_source *in, lw_text *out);
void lw_tool_put_place(lw_text *out, lw_tool_source *in, lw_place place);
/* A token as a line; `value` may be NULL. False as lw_tool_print. */
bool lw_tool_print_token(lw_tool_source *in, lw_place place, const char *kind, const uint64_t *value);
/* Reports the diagnostics; returns the exit code. */
int lw_tool_finish(lw_tool_source *in);

/* ---- Values: one element of a scalar or a buffer ------------------------------------------------------- */

typedef enum lw_value_fault { LW_VALUE_OK, LW_VALUE_NO_NUMBER, LW_VALUE_RANGE } lw_value_fault;

/* The type of an argument, or LW_T_none: integers and bits of 8 to 64 bits, f16 bf16 f32 f64. */
lw_type lw_value_type(const char *name, size_t size);
uint32_t lw_value_bytes(lw_type type);
bool lw_value_is_float(lw_type type);
/* Reads one value at *at and moves *at behind it. What follows the value is the caller's to check. */
lw_value_fault lw_value_parse(lw_type type, const char **at, uint64_t *bits);
void lw_value_print(lw_text *out, lw_type type, uint64_t bits);
void lw_value_print_hex(lw_text *out, lw_type type, uint64_t bits);
/* "0 to 255", for messages. */
void lw_value_print_limits(lw_text *out, lw_type type);
/* A float type's value as binary64, and the other way: to nearest even, or toward zero. */
double lw_value_double(lw_type type, uint64_t bits);
uint64_t lw_value_round(lw_type type, double value, bool toward_zero);

/* ---- NumPy files -------------------------------------------------------------------------------------- */

enum { LW_NPY_DIMENSIONS_MAX = 32, LW_NPY_DTYPE_MAX = 32, LW_NPY_HEADER_MOST = 1 << 20 };

typedef struct lw_npy {
    char dtype[LW_NPY_DTYPE_MAX]; /* "<f4" */
    bool fortran;
    uint32_t dimension_count; /* 0 for a scalar array */
    uint64_t dimensions[LW_NPY_DIMENSIONS_MAX];
    uint64_t count; /* elements */
    size_t data;    /* offset of the first element */
} lw_npy;

/* Reads the header at the begin of a file, of which `size` bytes are there: all, or LW_NPY_HEADER_MOST. False: *why is
 * a fixed text that says what is wrong. */
bool lw_npy_read(const char *file, size_t size, lw_npy *npy, const char **why);
/* Whether a dtype holds elements of a type. `big` is set where only the byte order is wrong. */
bool lw_npy_fits(const char *dtype, lw_type type, bool *big);
/* A header, version 1.0. */
void lw_npy_write(lw_text *out, lw_type type, const uint64_t *dimensions, uint32_t count);

/* ---- Arguments of a kernel (docs/cli.md has the grammar) ------------------------------------------------ */

typedef enum lw_arg_source {
    LW_ARG_ZERO,
    LW_ARG_FILL,    /* start.bits; a scalar is one, too */
    LW_ARG_LIST,    /* values */
    LW_ARG_RANGE,   /* start, step */
    LW_ARG_RANDOM,  /* the whole type */
    LW_ARG_BETWEEN, /* random from start to end */
    LW_ARG_FILE,    /* file */
    LW_ARG_SHARED,  /* the buffer of another argument: start.bits is its number */
} lw_arg_source;

typedef struct lw_arg_output {
    const char *file; /* NULL: print */
    lw_type type;     /* printed as this type */
    bool hex;
} lw_arg_output;

struct lw_image;
typedef struct lw_arg_image lw_arg_image; /* of a texture, sampler or surface: image.c */

#define LW_ARG_COUNT_MOST (UINT64_C(1) << 48)

typedef struct lw_arg {
    const char *text;
    const char *label; /* of what is printed; NULL: its number */
    uint32_t number;   /* from 0 */
    lw_type type;
    bool is_array;  /* written with brackets */
    bool has_count; /* … and a number in them */
    uint64_t count; /* elements; where the source decides, known once it is loaded */
    lw_arg_source source;
    uint64_t start, step, end; /* bits of the type; for RANGE and BETWEEN of float types: of binary64 */
    LW_LIST(uint64_t) values;
    const char *file;
    uint64_t limit; /* bytes that a file may have; 0: as many as there is memory for */
    LW_LIST(lw_arg_output) outputs;
    lw_arg_image *image;   /* NULL: a scalar or a buffer */
    const char *reference; /* the variable of the module that gets it; NULL: a parameter does */
    lw_npy npy;            /* dimension_count and dimensions to write back with, where … */
    bool has_shape;        /* more than one number stands in the brackets, or a file has it */
    /* set by lw_arg_load */
    bool loaded;
    char *data;             /* the file, or NULL */
    size_t data_at;         /* where its elements begin */
    struct lw_arg *members; /* of a struct, which has no type, or NULL */
    uint32_t member_count;
    bool is_pointer; /* of a member: it is the address of a buffer */
    uint32_t offset; /* of a member; known once all are loaded */
    uint64_t before; /* elements of the members in front of it */
    /* set by lw_arg_bind */
    bool by_value;    /* the parameter is an array: its bytes are passed, not an address */
    uint32_t room;    /* … which are so many */
    uint64_t address; /* of the buffer */
} lw_arg;

/* Understands one argument. False: it has reported. */
bool lw_arg_parse(lw_arena *arena, const char *text, uint32_t number, lw_arg *arg);
/* Its parts: TYPE[COUNT]=SOURCE up to `end`, where outputs begin; those; where the first of them is. */
bool lw_arg_parse_buffer(lw_arena *arena, lw_arg *arg, const char *text, const char *end);
bool lw_arg_parse_outputs(lw_arena *arena, lw_arg *arg, const char *at);
const char *lw_arg_next_output(const char *at);
/* The buffer of a result, which goes to what stands behind --result. False: it has reported. */
bool lw_arg_result(lw_arena *arena, const lw_param_info *param, uint64_t count, const char *outputs, uint32_t number,
                   lw_arg *arg);
/* Checks it against its parameter. `addresses`: an integer may stand for the address of a buffer, as in PTX. False: it
 * has reported, with `signature` below. */
bool lw_arg_bind(lw_arg *arg, const lw_param_info *param, const char *signature, bool addresses);
/* A struct {TYPE=VALUE,TYPE[COUNT]=SOURCE,*TYPE[COUNT]=SOURCE:OUTPUT}: struct.c. Members that are loaded are laid out
 * as C does; false: it does not fill its parameter, which it has reported. */
bool lw_arg_parse_struct(lw_arena *arena, lw_arg *arg);
bool lw_arg_lay_out(lw_arg *arg, const lw_param_info *param, const char *signature);
/* Settles how much of the buffer of `owner` a shared one has. False: it has reported. */
bool lw_arg_share(lw_arg *arg, const lw_arg *owner);
/* Reads its file and settles its count. Returns an exit code; other than 0 it has reported. */
int lw_arg_load(lw_arg *arg);
void lw_arg_unload(lw_arg *arg);
/* Elements first … first+count-1 as they lie in memory. */
void lw_arg_fill(const lw_arg *arg, uint64_t seed, uint64_t first, size_t count, void *to);
/* Reports a fault of an argument with a caret below the `size` bytes at `at`. */
void lw_arg_error(const lw_arg *arg, const char *at, size_t size, const char *below, lw_diag_id id, ...);
/* … of how it is written, or of one of its outputs. Always false. */
bool lw_arg_wrong_shape(const lw_arg *arg, const char *at, size_t size, const char *what);
bool lw_arg_wrong_output(const lw_arg *arg, const char *at, size_t size, const char *what);

/* Whether the outputs of an argument that is loaded can hold it. Returns an exit code; other than 0 it has reported. */
int lw_arg_check_outputs(const lw_arg *arg);
/* Writes and prints what lies in its buffer. Returns an exit code; other than 0 it has reported. */
int lw_arg_give(lw_context *context, const lw_arg *arg);

/* Textures, samplers and surfaces: image.c. Whether an argument is one, by its first word; its spelling; its parameter.
 */
bool lw_arg_names_image(const char *text);
bool lw_arg_parse_image(lw_arena *arena, lw_arg *arg);
bool lw_arg_bind_image(const lw_arg *arg, const lw_param_info *param, const char *signature, bool is_ptx);
lw_type lw_arg_texel_type(const char *dtype, bool *big); /* of a NumPy file; LW_T_none: none, `big` as above */
void lw_arg_is_picture(lw_arg *arg);                     /* its file has rows, columns and channels, and nothing else */
/* What the shape of an image means, once it is loaded. Returns an exit code; other than 0 it has reported. */
int lw_arg_settle_image(lw_arg *arg);
/* Makes what it is over the memory of the argument; binds it to the module's reference where it has one. */
int lw_arg_make_image(lw_context *context, lw_module *module, const lw_arg *arg, uint64_t *handle);
/* Gives a mipmap memory of its own, with the argument's texels as its first level and means of them in the others:
 * levels.c. Returns an exit code; other than 0 it has reported. */
int lw_arg_make_levels(lw_context *context, const lw_arg *arg, struct lw_image *image);

/* Binds the arguments of a PTO function and adds its other parameters to `args`, which has room for all: a buffer for
 * each result, which goes to outputs[k] ("print", "out=FILE" …) or is printed, and the number of elements. Returns an
 * exit code; other than 0 it has reported. */
int lw_pto_bind(lw_arena *arena, const lw_kernel *kernel, const char *signature, lw_arg *args, char *const *outputs,
                uint32_t output_count, uint64_t *elements);
uint32_t lw_pto_argument_count(
    const lw_kernel *kernel); /* what the command line gives: parameters but results and the count */
void lw_pto_notes(lw_context *context, const char *file); /* those of the last launch, to stderr */
/* Whether a note is only there for that. */
bool lw_pto_is_count(const lw_launch_note *note);

/* "name(.u64 a, .b8[16] b)": a kernel as messages show it. */
void lw_kernel_print(lw_text *out, const lw_kernel *kernel);
void lw_param_print(lw_text *out, const char *name, const char *type, uint32_t size, bool is_pointer);

/* Checks that the text of an option is one of the names, else reports and exits; returns it. */
const char *lw_tool_target(const char *text);
const char *lw_tool_inactive(const char *text);
const char *lw_tool_overflow(const char *text);
const char *lw_tool_cost(const char *text);
/* Why the last call of the library failed, for an error of the tool: without the id that the library's text ends in. */
const char *lw_tool_why(lw_context *context);
/* Reports why a call about device memory or a launch failed; returns the exit code. */
int lw_tool_device_failed(lw_context *context, lw_status status);
/* Reports why the library refuses options; returns the exit code: a CPU level or engine that is missing is a fault of
 * the machine. */
int lw_tool_refused(lw_status status);
/* Makes a context. Returns an exit code; other than 0 it has reported. */
int lw_tool_context(const lw_options *options, lw_context **context);

/* ---- Work that cannot be stopped: guard.c ----------------------------------------------------------------- */

/* Until the end of the guard the process ends with LW_EXIT_STOPPED and the message after so many seconds (0: never),
 * and with LW_EXIT_MACHINE where a library calls abort. */
void lw_guard_begin(double seconds, const char *late);
void lw_guard_end(void);

/* ---- Progress and statistics -------------------------------------------------------------------------- */

typedef struct lw_bar {
    bool shown;
} lw_bar;
/* Whether a bar may be shown at all. */
bool lw_bar_wanted(void);
void lw_bar_show(void *bar, const lw_progress *now); /* a progress callback */
void lw_bar_clear(lw_bar *bar);
/* 1234567 as "1,234,567"; 1.5e9 as "1.50 G". */
void lw_print_count(lw_text *out, uint64_t count);
void lw_print_scaled(lw_text *out, double value);

#endif
