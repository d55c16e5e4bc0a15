/* draw.c: lanewise draw: which lane reads which in a shuffle. The instruction is executed, so that the picture cannot
 * differ from what it does: each lane offers its number plus 1, and 0 comes from lanes that do not take part. Of an
 * instruction of matrices: who holds what, by the table that it is executed by. */
#include <stdlib.h>

#include "lanewise/lane/shuffle.h"
#include "session/environment.h"
#include "tool/draw.h"
#include "tool/eval.h"
#include "tool/held.h"

typedef struct options {
    const char *text, *b, *c, *members, *file;
    bool ascii;
} options;

static const struct argp_option choices[] = {
    {"b", 'b', "LANE", 0,
     "Operand b, the lane or distance: a number for all lanes, or a list of 32 (0..31); a shuffle needs it", 0},
    {"c", 'c', "VALUE", 0, "Operand c, segment mask and clamp; 0x1f by default, 0 for shfl.up", 0},
    {"membermask", 'm', "MASK", 0, "The lanes that take part; 0xffffffff by default", 0},
    {"output", 'o', "FILE", 0, "Write an SVG file; `-' is standard output", 0},
    {"ascii", 'A', NULL, 0, "ASCII only: the default where the locale is not UTF-8", 0},
    {0},
};

static const char doc[] = "Draw which lane of a warp reads which in a shuffle, or holds what of matrices."
                          "\vINSTRUCTION is shfl.MODE.b32 or shfl.sync.MODE.b32 with MODE up, down, bfly or idx; or "
                          "the whole spelling of mma, wmma, ldmatrix, stmatrix or movmatrix, whose operands are drawn "
                          "as rows and columns: in each field stand the lane and its elements. Of a shuffle, "
                          "each line of the picture is a lane: the arrow goes "
                          "from the lane that it reads to itself; a lane that is out of range keeps its own "
                          "value. Lines between columns are borders of segments.\n\n"
                          "Exit codes:\n"
                          "  0  done\n"
                          "  1  the instruction has an error\n"
                          "  2  the command line is wrong, or INSTRUCTION cannot be drawn\n"
                          "  5  the file cannot be written\n"
                          "  6  out of memory\n\n"
                          "Examples:\n"
                          "  lanewise draw shfl.down.b32 --b 2 --c 0x181f\n"
                          "  lanewise draw shfl.sync.bfly.b32 --b 16 -o butterfly.svg\n"
                          "  lanewise draw shfl.sync.idx.b32 --b 31..0\n"
                          "  lanewise draw mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32\n";

static error_t parse(int key, char *arg, struct argp_state *state) {
    options *o = state->input;
    switch (key) {
    case 'b': o->b = arg; break;
    case 'c': o->c = arg; break;
    case 'm': o->members = arg; break;
    case 'o': o->file = arg; break;
    case 'A': o->ascii = true; break;
    case ARGP_KEY_ARG:
        if (o->text) argp_error(state, "only one INSTRUCTION can be drawn");
        o->text = arg;
        break;
    case ARGP_KEY_END:
        if (!o->text) argp_error(state, "an INSTRUCTION is needed");
        if (!o->b && !strncmp(o->text, "shfl", 4)) argp_error(state, "--b is needed");
        break;
    default: return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

/* ---- Running the shuffle ---------------------------------------------------------------------------------- */

static const lw_eval_operand *find(const lw_eval *e, const char *name) {
    for (uint32_t i = 0; i < e->operand_count; i++)
        if (!strcmp(e->operands[i].name, name)) return &e->operands[i];
    lw_bug("a shuffle has no operand %s", name);
}

/* The text as it was given, so that its faults are shown in it; finds out whether it is a shuffle. */
static int check_text(lw_arena *arena, const options *o, const char **c, bool *sync) {
    const char *values[] = {"0..31", o->b, *c ? *c : "0", o->members};
    lw_eval *e = LW_NEW(arena, lw_eval);
    *e = (lw_eval){.arena = arena, .text = o->text, .values = values, .value_count = 3, .lanes = LW_EVAL_LANES};
    lw_module_ptx *module = lw_form_module(arena);
    const lw_match *match = lw_form_match(module, o->text, NULL);
    if (!match || (match->form->lower != LW_LOWER_shfl && match->form->lower != LW_LOWER_shfl_sync)) {
        int code = match ? LW_EXIT_OK : lw_eval_plan(e);
        if (code == LW_EXIT_SOURCE) return code; /* it has shown what is wrong */
        lw_tool_error(
            LW_D_draw_text,
            lw_arena_say(
                arena,
                "'%s' is no shuffle, as shfl.MODE.b32 and shfl.sync.MODE.b32 are with MODE up, down, bfly or idx, and "
                "has no matrices that are known",
                o->text));
        return LW_EXIT_USAGE;
    }
    *sync = match->form->lower == LW_LOWER_shfl_sync;
    if (!*c) *c = match->mode.exchange == LW_MOD_up ? "0" : "0x1f";
    if (*sync && o->members) e->value_count = 4;
    if (o->members && !*sync) {
        lw_tool_error(LW_D_bad_option, "--membermask", o->members, "only shfl.sync has a membermask");
        return LW_EXIT_USAGE;
    }
    return lw_eval_plan(e);
}

static int run_shuffle(lw_eval *e, const options *o, const char *c, bool sync, uint32_t members) {
    static const char *const bits[] = {"0", "1"};
    lw_text part = {0};
    for (uint32_t lane = 0; lane < LW_DRAW_LANES; lane++)
        lw_text_printf(&part, "%s%s", lane ? "," : "", bits[members >> lane & 1]);
    const char **values = (const char **)LW_NEW_ARRAY(e->arena, char *, 4);
    values[0] = lw_arena_keep(e->arena, &part);
    values[1] = "1..32";
    values[2] = o->b;
    values[3] = c;
    e->values = values;
    e->value_count = 4;
    e->lanes = LW_EVAL_LANES;
    e->text = sync ? lw_arena_printf(e->arena, "@part %s d|p, a, b, c, 0x%x", o->text, members)
                   : lw_arena_printf(e->arena, "@part %s d|p, a, b, c", o->text);
    return lw_eval_run(e);
}

/* Where a lane does not take part, its number never arrives; the lane function says then where it would have come
 * from. */
static uint32_t idle_source(lw_modifier_id mode, uint32_t lane, uint32_t b, uint32_t c) {
    switch (mode) {
    case LW_MOD_up: return lw_shfl_up_source(lane, b, c);
    case LW_MOD_down: return lw_shfl_down_source(lane, b, c);
    case LW_MOD_bfly: return lw_shfl_bfly_source(lane, b, c);
    default: return lw_shfl_idx_source(lane, b, c);
    }
}

static void fill(lw_drawing *d, const lw_eval *e, uint32_t members) {
    const lw_eval_operand *value = find(e, "d"), *in_range = find(e, "p"), *b = find(e, "b"), *c = find(e, "c");
    for (uint32_t lane = 0; lane < LW_DRAW_LANES; lane++) {
        lw_draw_lane *l = &d->lanes[lane];
        uint32_t got = (uint32_t)value->lanes[lane].low, bits = (uint32_t)c->lanes[lane].low;
        l->takes_part = members >> lane & 1;
        l->in_range = in_range->lanes[lane].low;
        l->reads_idle = l->takes_part && !got;
        l->source = got ? got - 1 : idle_source(e->match->mode.exchange, lane, (uint32_t)b->lanes[lane].low, bits);
        l->segment = lane & bits >> 8 & 31;
    }
}

/* ---- The command -------------------------------------------------------------------------------------------- */

static bool is_utf8(void) {
    const char *names[] = {lw_environment(LW_ENV_locale_all), lw_environment(LW_ENV_locale_characters),
                           lw_environment(LW_ENV_language)};
    for (size_t i = 0; i < LW_COUNT(names); i++)
        if (names[i])
            return strstr(names[i], "UTF-8") || strstr(names[i], "utf8") || strstr(names[i], "UTF8") ||
                   strstr(names[i], "utf-8");
    return false;
}

/* The picture goes where it is wanted, and is freed. */
static int give_out(const options *o, lw_text *picture) {
    int code = LW_EXIT_OK;
    if (picture->failed) {
        lw_tool_error(LW_D_no_memory, "the picture");
        code = LW_EXIT_MACHINE;
    } else if (!o->file) {
        fwrite(picture->at, 1, picture->size, stdout);
    } else if (!lw_tool_write(o->file, picture->at, picture->size)) {
        code = LW_EXIT_FILE;
    }
    lw_text_free(picture);
    return code;
}

static int draw_matrices(const options *o, const lw_match *match) {
    const char *const unused[][2] = {{"--b", o->b}, {"--c", o->c}, {"--membermask", o->members}};
    for (size_t i = 0; i < LW_COUNT(unused); i++) {
        if (!unused[i][1]) continue;
        lw_tool_error(LW_D_bad_option, unused[i][0], unused[i][1], "only a shuffle has it");
        return LW_EXIT_USAGE;
    }
    lw_text picture = {0};
    if (o->file) lw_draw_matrices_svg(&picture, match, o->text);
    else lw_draw_matrices(&picture, match, o->text);
    return give_out(o, &picture);
}

static int draw_shuffle(lw_arena *arena, const options *o) {
    const char *c = o->c, *why;
    bool sync = false;
    lw_word members[LW_EVAL_LANES] = {{.low = UINT32_MAX}};
    if (o->members && lw_eval_values(LW_T_b32, o->members, members, &why) != 1) {
        lw_tool_error(LW_D_bad_option, "--membermask", o->members, "this is not one number of 32 bits");
        return LW_EXIT_USAGE;
    }
    int code = check_text(arena, o, &c, &sync);
    lw_eval *e = LW_NEW(arena, lw_eval);
    *e = (lw_eval){.arena = arena};
    if (!code) code = run_shuffle(e, o, c, sync, (uint32_t)members[0].low);
    if (code) return code;
    lw_drawing *drawing = LW_NEW(arena, lw_drawing);
    drawing->title = o->members
                         ? lw_arena_printf(arena, "%s  b = %s  c = %s  membermask = %s", o->text, o->b, c, o->members)
                         : lw_arena_printf(arena, "%s  b = %s  c = %s", o->text, o->b, c);
    fill(drawing, e, (uint32_t)members[0].low);
    lw_text picture = {0};
    if (o->file) lw_draw_svg(&picture, drawing);
    else lw_draw_terminal(&picture, drawing, !o->ascii && is_utf8());
    return give_out(o, &picture);
}

static int draw(lw_arena *arena, const options *o) {
    jmp_buf out;
    if (!LW_ARENA_TRY(arena, out)) {
        lw_tool_error(LW_D_no_memory, o->text);
        return LW_EXIT_MACHINE;
    }
    lw_held held[LW_HELD_MOST];
    const lw_match *match = lw_form_match(lw_form_module(arena), o->text, NULL);
    return match && lw_matrices_held(match, held, NULL) ? draw_matrices(o, match) : draw_shuffle(arena, o);
}

int lw_command_draw(int argc, char **argv) {
    options o = {0};
    lw_tool_options(&(struct argp){choices, parse, "INSTRUCTION", doc, NULL, NULL, NULL}, argc, argv, 0, &o);
    lw_arena arena;
    lw_arena_init(&arena);
    int code = draw(&arena, &o);
    lw_arena_free(&arena);
    return code;
}
