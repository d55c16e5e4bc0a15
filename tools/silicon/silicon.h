/* silicon.h: the program that runs every form of the seed instructions on what libcuda.so.1 drives, and keeps
 * the results.
 *
 *     tables ─make─▶ batch (PTX, forms) ─┐
 *     seed ──make──▶ cases ──────────────┴─run─▶ results ─summarize─▶ record: written, or compared with a file
 *
 * families.c and shuffles.c hold the tables, maker.c writes the PTX, cases.c the inputs, driver.c runs,
 * record.c keeps. */
#ifndef LW_SILICON_H
#define LW_SILICON_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* streams into memory, argp, %m */
#endif

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* To be raised when generated modules or inputs change: the records must then be made again. */
enum { LW_SILICON_VERSION = 1 };

/* Exit codes, those of the command line tool where it has such a thing. */
enum { LW_EXIT_OK, LW_EXIT_DIFFERS, LW_EXIT_USAGE, LW_EXIT_FILE = 5, LW_EXIT_MACHINE };

/* Prints "silicon: …" and leaves with a code. */
_Noreturn void lw_silicon_leave(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Memory, zeroed; leaves where there is none. */
void *lw_silicon_memory(size_t count, size_t size);
/* A stream into memory. When it is closed, *text is the caller's to free. Both leave where there is no memory. */
FILE *lw_silicon_text_open(char **text, size_t *length);
void lw_silicon_text_close(FILE *out);

/* ---- What is run --------------------------------------------------------------------------------------- */

/* The operands of one lane. Narrower operands are the low bits. */
typedef struct lw_case {
    uint64_t a, b, c, m;
} lw_case;

/* One instruction in one surrounding. */
typedef struct lw_form {
    char *text;     /* as it stands in the module, without the lines around it */
    unsigned words; /* of 32 bits, that each lane leaves */
    unsigned first; /* words of the forms before it in its group */
} lw_form;

/* Forms that share a kernel. */
typedef struct lw_group {
    char *name;                     /* the kernel's, too */
    unsigned cases, slice, samples; /* lanes; lanes to one digest; lanes whose results are kept as they are */
    unsigned count, words;
    lw_form *forms;
} lw_group;

typedef struct lw_maker lw_maker;

/* A file's worth of forms: one module. */
typedef struct lw_family {
    const char *name, *does;
    const char *version, *target; /* of the module */
    unsigned cases;
    void (*make_groups)(lw_maker *m);
    void (*make_cases)(lw_case *cases, unsigned count);
} lw_family;

typedef struct lw_batch {
    const lw_family *family;
    char *ptx;
    size_t length; /* of ptx */
    lw_case *cases;
    lw_group *groups;
    unsigned count, forms; /* of groups; of forms in all of them */
} lw_batch;

extern const lw_family lw_families[];
extern const unsigned lw_family_count;
const lw_family *lw_family_named(const char *name); /* NULL: none */

lw_batch *lw_batch_new(const lw_family *family);
void lw_batch_free(lw_batch *batch);

/* ---- Making a batch: maker.c --------------------------------------------------------------------------- */

/* What a form leaves, and in which registers: %hd; %d; %wd; %p; %d and %p. */
typedef enum lw_result { LW_RESULT_16, LW_RESULT_32, LW_RESULT_64, LW_RESULT_P, LW_RESULT_32_P } lw_result;

/* Opens a kernel, after closing the one before. Its forms find their operands in
 *     %ha %hb  %a %b %c  %wa %wb %wc    16, 32, 64 bits
 *     %pa %pb %q                        predicates: the top bits of a and b; the lowest of m
 *     %cl                               the high word of c
 *     %m %n %act                        the words of m; whether %m has the lane's bit */
void lw_group_open(lw_maker *m, unsigned cases, unsigned slice, unsigned samples, const char *name, ...)
    __attribute__((format(printf, 5, 6)));
/* Lines that belong to no form. */
void lw_group_line(lw_maker *m, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* One instruction, and the stores of what it leaves. */
void lw_form_add(lw_maker *m, lw_result result, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* The same for a text that stands for several lines, which were added already. */
void lw_form_note(lw_maker *m, lw_result result, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* ---- Inputs: cases.c ----------------------------------------------------------------------------------- */

#define LW_SILICON_SEED UINT64_C(0x6c616e6577697365)

/* splitmix64: the next number of a sequence. */
uint64_t lw_random_next(uint64_t *state);
void lw_cases_logic(lw_case *cases, unsigned count);   /* edge values by edge values, then noise */
void lw_cases_shift(lw_case *cases, unsigned count);   /* b is an amount, or parts of it are */
void lw_cases_shuffle(lw_case *cases, unsigned count); /* a warp is 32 cases in a row */

/* ---- The tables ---------------------------------------------------------------------------------------- */

void lw_make_logic(lw_maker *m);
void lw_make_lop3(lw_maker *m);
void lw_make_lop3_bool(lw_maker *m);
void lw_make_shift(lw_maker *m);
void lw_make_vshl(lw_maker *m);
void lw_make_vshr(lw_maker *m);
void lw_make_shfl(lw_maker *m);
void lw_make_shfl_sync(lw_maker *m);

/* ---- The device: driver.c ------------------------------------------------------------------------------ */

typedef struct lw_device lw_device;

/* Opens libcuda.so.1 and its first device. Every fault of the driver ends the program with LW_EXIT_MACHINE. */
lw_device *lw_device_open(void);
void lw_device_close(lw_device *device);
/* Card and driver, as lines of a record's header. */
void lw_device_describe(lw_device *device, FILE *out);
void lw_device_load(lw_device *device, const lw_batch *batch); /* in place of what was loaded before */
/* Runs a kernel of the loaded batch. Returns words * cases results, word by word; they hold until the next
 * call. Lanes that store nothing leave LW_UNTOUCHED. */
const uint32_t *lw_device_run(lw_device *device, const lw_group *group);
#define LW_UNTOUCHED 0xeeeeeeeeu

/* ---- Records: record.c --------------------------------------------------------------------------------- */

/* FNV-1a, 64 bits; of words the bytes, lowest first. */
#define LW_FNV_START UINT64_C(0xcbf29ce484222325)
uint64_t lw_fnv_bytes(uint64_t hash, const void *bytes, size_t count);
uint64_t lw_fnv_words(uint64_t hash, const uint32_t *words, size_t count);

/* The first of the lanes whose results are kept of a form. */
unsigned lw_form_sampled(const lw_group *group, unsigned form);
/* Runs a batch on a device and writes its record. */
void lw_record_write(lw_device *device, const lw_batch *batch, const char *date, FILE *out);

typedef struct lw_record lw_record;
/* Reads a file; leaves with LW_EXIT_FILE where it is none or no longer fits the batch that it names. */
lw_record *lw_record_read(const char *path);
void lw_record_free(lw_record *record);
const lw_batch *lw_record_batch(const lw_record *record);
/* Runs a record's batch and prints up to `limit` forms that differ. Returns how many do. */
unsigned lw_record_compare(lw_device *device, const lw_record *record, unsigned limit);
/* Prints operands and results of one lane. */
void lw_lane_print(const lw_batch *batch, const lw_group *group, unsigned form, const uint32_t *results, unsigned lane);

#endif
