/* shuffles.c: the forms of shfl and shfl.sync, in all modes, under each way in which lanes can be missing.
 *
 * A warp of the inputs has one clamp and one segment mask, and lanes of its own choice; see lw_cases_shuffle.
 * Where a lane reads one that does not take part, the manual leaves the result open: the groups whose names
 * begin with `open` have that. What they record is what the hardware does. */
#include "silicon.h"

#include <string.h>

#define COUNT(table) (sizeof(table) / sizeof *(table))

/* A digest for each 128 warps tells which clamps and segment masks are wrong. */
enum { CASES = 32 * 1024, SLICE = 4096, SAMPLES = 32, FEW_CASES = 256 };
#define MARKER "0x5eed5eed"

enum { BFLY = 2 };
static const char *const modes[] = {"up", "down", "bfly", "idx"};
static const unsigned lanes[] = {0, 1, 2, 3, 5, 8, 15, 16, 17, 30, 31, 32, 33, 63, 0x80000001, 0xffffffff};
static const unsigned bounds[] = {0,      0x1f,   0x0f,   7,      0x1000, 0x100f, 0x101f, 0x1800,     0x181f,
                                  0x1c00, 0x1c1f, 0x1e1f, 0x1f1f, 0x0803, 0x0a15, 0x00e0, 0xffffe0ff, 0xffffffff};

static const char *sync_of(bool sync) { return sync ? ".sync" : ""; }

/* A shuffle with the predicate, one without. */
static void pair(lw_maker *m, bool sync, const char *mode, const char *operands, const char *mask) {
    const char *comma = sync ? ", " : "";
    if (!sync) mask = "";
    lw_form_add(m, LW_RESULT_32_P, "shfl%s.%s.b32 %%d|%%p, %%a, %s%s%s", sync_of(sync), mode, operands, comma, mask);
    lw_form_add(m, LW_RESULT_32, "shfl%s.%s.b32 %%d, %%a, %s%s%s", sync_of(sync), mode, operands, comma, mask);
}

/* ---- All lanes take part ------------------------------------------------------------------------------- */

static void full(lw_maker *m, bool sync) {
    lw_group_open(m, CASES, SLICE, SAMPLES, "full");
    for (unsigned i = 0; i < COUNT(modes); i++) {
        pair(m, sync, modes[i], "%b, %c", "-1");
        pair(m, sync, modes[i], "%b, %cl", "-1");
        if (sync) {
            lw_group_line(m, "or.b32 %%x, %%m, %%n;");
            pair(m, sync, modes[i], "%b, %c", "%x");
        }
        lw_group_line(m, "mov.b32 %%d, %%a;");
        lw_form_add(m, LW_RESULT_32_P, "shfl%s.%s.b32 %%d|%%p, %%d, %%b, %%c%s", sync_of(sync), modes[i],
                    sync ? ", 0xffffffff" : "");
    }
}

static void constant_b(lw_maker *m, bool sync) {
    char operands[32];
    lw_group_open(m, CASES, SLICE, 8, "constant_b");
    for (unsigned i = 0; i < COUNT(modes); i++)
        for (unsigned k = 0; k < COUNT(lanes); k++) {
            snprintf(operands, sizeof operands, "%u, %%c", lanes[k]);
            lw_form_add(m, LW_RESULT_32_P, "shfl%s.%s.b32 %%d|%%p, %%a, %s%s", sync_of(sync), modes[i], operands,
                        sync ? ", -1" : "");
        }
}

static void constant_c(lw_maker *m, bool sync) {
    char operands[32];
    lw_group_open(m, FEW_CASES, FEW_CASES, 8, "constant_c");
    for (unsigned i = 0; i < COUNT(modes); i++)
        for (unsigned k = 0; k < COUNT(bounds); k++) {
            snprintf(operands, sizeof operands, "%%b, %#x", bounds[k]);
            pair(m, sync, modes[i], operands, "-1");
        }
}

static void constants(lw_maker *m, bool sync) {
    for (unsigned i = 0; i < COUNT(modes); i++) {
        lw_group_open(m, FEW_CASES, FEW_CASES, 1, "constants_%s", modes[i]);
        for (unsigned b = 0; b < COUNT(lanes); b++)
            for (unsigned c = 0; c < COUNT(bounds); c++) {
                /* With the predicate and without in turn. */
                bool with = (b + c) % 2;
                lw_form_add(m, with ? LW_RESULT_32_P : LW_RESULT_32, "shfl%s.%s.b32 %%d%s, %%a, %u, %#x%s",
                            sync_of(sync), modes[i], with ? "|%p" : "", lanes[b], bounds[c], sync ? ", -1" : "");
            }
    }
}

/* Makes c one of segments of a width, with any clamp; and t what of b stays within one. */
static void within(lw_maker *m, unsigned width) {
    lw_group_line(m, "and.b32 %%c, %%c, 0x1f;");
    lw_group_line(m, "or.b32 %%c, %%c, %#x;", (32 - width) << 8);
    lw_group_line(m, "and.b32 %%t, %%b, %#x;", width - 1);
}

/* Parts of a warp under masks of their own, at one instruction. A lane reads within its part only: segments
 * see to that, but for bfly, which may go below its segment. */
static void segments(lw_maker *m) {
    for (unsigned width = 2; width < 32; width *= 2) {
        lw_group_open(m, CASES, SLICE, SAMPLES, "segments_%u", width);
        lw_group_line(m, "mov.u32 %%x, %%laneid;");
        lw_group_line(m, "and.b32 %%x, %%x, %#x;", 32 - width);
        lw_group_line(m, "mov.b32 %%n, %#x;", (1u << width) - 1);
        lw_group_line(m, "shl.b32 %%n, %%n, %%x;");
        within(m, width);
        for (unsigned i = 0; i < COUNT(modes); i++) pair(m, true, modes[i], i == BFLY ? "%t, %c" : "%b, %c", "%n");
    }
}

/* ---- Some lanes take part ------------------------------------------------------------------------------ */

/* Shuffles among some lanes of a warp, in one of two worlds. With a width whole segments take part or do not,
 * and lanes read within theirs, which the manual defines; with 0 any lanes do and read any. */
typedef struct some {
    bool sync;
    unsigned width;
} some;

static void some_open(lw_maker *m, some s, const char *name) {
    if (!s.width) {
        lw_group_open(m, CASES, SLICE, SAMPLES, "open_%s", name);
        lw_group_line(m, "mov.b32 %%t, %%b;");
        return;
    }
    lw_group_open(m, CASES, SLICE, 8, "%s_%u", name, s.width);
    lw_group_line(m, "mov.u32 %%x, %%laneid;");
    lw_group_line(m, "and.b32 %%x, %%x, %#x;", 32 - s.width);
    lw_group_line(m, "bfe.u32 %%x, %%m, %%x, 1;");
    lw_group_line(m, "setp.ne.u32 %%act, %%x, 0;");
    lw_group_line(m, "vote.sync.ballot.b32 %%m, %%act, -1;");
    lw_group_line(m, "xor.b32 %%n, %%m, -1;");
    within(m, s.width);
}

static void shuffle_text(char text[96], some s, unsigned mode, const char *d, const char *mask) {
    snprintf(text, 96, "shfl%s.%s.b32 %s, %%a, %s, %%c%s", sync_of(s.sync), modes[mode], d, mode == BFLY ? "%t" : "%b",
             s.sync ? mask : "");
}

static void preset(lw_maker *m) {
    lw_group_line(m, "mov.b32 %%d, " MARKER ";");
    lw_group_line(m, "setp.ne.u32 %%p, 0, 0;");
}

static void guarded(lw_maker *m, some s) {
    char text[96];
    some_open(m, s, "guard");
    for (unsigned i = 0; i < COUNT(modes); i++) {
        preset(m);
        shuffle_text(text, s, i, "%d|%p", ", %m");
        lw_form_add(m, LW_RESULT_32_P, "@%%act %s", text);
        preset(m);
        shuffle_text(text, s, i, "%d", ", %m");
        lw_form_add(m, LW_RESULT_32, "@%%act %s", text);
    }
}

/* Both ways of a branch shuffle, in each pair of modes. Where lanes read any, not in the same mode: compilers
 * may make one shuffle of two that are the same, after which both ways take part at once. */
static void branched(lw_maker *m, some s) {
    char one[96], other[96];
    some_open(m, s, "branch");
    for (unsigned i = 0; i < COUNT(modes) * COUNT(modes); i++) {
        if (!s.width && i / 4 == i % 4) continue;
        shuffle_text(one, s, i / 4, "%d|%p", ", %m");
        shuffle_text(other, s, i % 4, "%d|%p", ", %n");
        preset(m);
        lw_group_line(m, "@!%%act bra other_%u;", i);
        lw_group_line(m, "%s;", one);
        lw_group_line(m, "bra.uni join_%u;", i);
        lw_group_line(m, "other_%u: %s;", i, other);
        lw_group_line(m, "join_%u:", i);
        lw_form_note(m, LW_RESULT_32_P, "if %%act: %s else: %s", one, other);
    }
}

static void exited(lw_maker *m, some s) {
    char text[96];
    some_open(m, s, "exited");
    lw_group_line(m, "@!%%act exit;");
    for (unsigned i = 0; i < COUNT(modes); i++) {
        shuffle_text(text, s, i, "%d|%p", ", %m");
        lw_form_add(m, LW_RESULT_32_P, "%s", text);
        shuffle_text(text, s, i, "%d", ", %m");
        lw_form_add(m, LW_RESULT_32, "%s", text);
    }
}

/* Lanes leave a loop in turn, the low ones of c's high word first; those that stay shuffle what the last turn
 * gave. */
static void looped(lw_maker *m) {
    lw_group_open(m, CASES, SLICE, SAMPLES, "open_loop");
    for (unsigned i = 0; i < COUNT(modes); i++) {
        lw_group_line(m, "mov.b32 %%d, %%a;");
        lw_group_line(m, "bfe.u32 %%t, %%cl, 16, 2;");
        lw_group_line(m, "mov.b32 %%n, -1;");
        lw_group_line(m, "again_%u:", i);
        lw_group_line(m, "shfl.sync.%s.b32 %%d|%%p, %%d, %%b, %%c, %%n;", modes[i]);
        lw_group_line(m, "setp.ne.u32 %%q, %%t, 0;");
        lw_group_line(m, "vote.sync.ballot.b32 %%n, %%q, %%n;");
        lw_group_line(m, "sub.u32 %%t, %%t, 1;");
        lw_group_line(m, "@%%q bra again_%u;", i);
        lw_form_note(m, LW_RESULT_32_P, "while lanes stay: shfl.sync.%s.b32 %%d|%%p, %%d, %%b, %%c, %%n", modes[i]);
    }
}

static void shuffles(lw_maker *m, bool sync) {
    full(m, sync);
    constant_b(m, sync);
    constant_c(m, sync);
    constants(m, sync);
    static const unsigned widths[] = {4, 8, 16, 0};
    for (unsigned i = 0; i < COUNT(widths); i++) {
        some s = {sync, widths[i]};
        guarded(m, s);
        branched(m, s);
        exited(m, s);
    }
}

void lw_make_shfl(lw_maker *m) { shuffles(m, false); }

void lw_make_shfl_sync(lw_maker *m) {
    shuffles(m, true);
    segments(m);
    looped(m);
}
