/* steps.h: gangs built by hand, so that one step can be tried at a time, at every CPU level that is built and that this
 * machine has. */
#ifndef TESTS_RUN_STEPS_H
#define TESTS_RUN_STEPS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "run/interp/interp.h"
#include "run/texture.h"

/* ---- Levels --------------------------------------------------------------------------------------------- */

typedef struct steps_level {
    const char *name;
    lw_step *ld, *st, *ld_row, *st_row, *shuffle;
} steps_level;

static inline uint32_t steps_levels(const steps_level **levels) {
    static steps_level list[8];
    uint32_t count = 0;
    *levels = list;
    for (const lw_level *const *level = lw_levels; *level && count < LW_COUNT(list); level++) {
        lw_step *const *steps = (*level)->steps;
        if (lw_level_has(*level))
            list[count++] = (steps_level){(*level)->name,      steps[LW_OP_ld],     steps[LW_OP_st],
                                          steps[LW_OP_ld_row], steps[LW_OP_st_row], steps[LW_OP_shuffle]};
    }
    return count;
}

/* ---- Random values --------------------------------------------------------------------------------------- */

static uint64_t steps_seed = 0x9e3779b97f4a7c15u;
static inline uint64_t steps_random(void) {
    steps_seed ^= steps_seed << 13;
    steps_seed ^= steps_seed >> 7;
    steps_seed ^= steps_seed << 17;
    return steps_seed * 0x2545f4914f6cdd1du;
}
static inline uint32_t steps_below(uint32_t limit) { return (uint32_t)((steps_random() >> 32) * limit >> 32); }

/* Masks of many kinds, never empty, within `exist`. */
static inline lw_mask steps_mask(lw_mask exist) {
    lw_mask mask = exist;
    switch (steps_below(7)) {
    case 0: mask = LW_MASK_BIT(steps_below(128)); break;
    case 1: mask = ((lw_mask)steps_random() << 64) | steps_random(); break;
    case 2:
        mask = ((lw_mask)(steps_random() & steps_random() & steps_random()) << 64) | (steps_random() & steps_random());
        break;
    case 3: mask = LW_MASK_BIT(steps_below(128)) - 1; break;
    case 4: mask = (LW_MASK_ALL << steps_below(128)) & (LW_MASK_ALL >> steps_below(128)); break;
    case 5: mask = (lw_mask)(uint32_t)steps_random() << 32 * steps_below(4); break;
    default: break;
    }
    return mask & exist ? mask & exist : exist;
}

/* ---- A CTA ------------------------------------------------------------------------------------------------ */

enum {
    STEPS_SLOTS = 24, /* of 64 bits; slot n is at n * LW_SLOT_64 */
    STEPS_GANGS = 8,
    STEPS_OPS = 8, /* block 0: ops 0 to 3; block 1 from op 4 on */
    STEPS_SHARED = 4096,
    STEPS_PARAMS = 256,
    STEPS_LOCAL = 1024,
    STEPS_GLOBAL = 8192, /* bytes of each allocation */
    STEPS_RANGES = 5,
};
#define SLOT(n)            ((uint32_t)(n)*LW_SLOT_64)
#define STEPS_FIRST        0x1000000000ull
#define STEPS_SECOND       (STEPS_FIRST + 4 * STEPS_GLOBAL)
#define STEPS_LOW          0x20000000ull
/* Constant memory. */
#define STEPS_CONSTANT     (STEPS_SECOND + 4 * STEPS_GLOBAL)
#define STEPS_LOW_CONSTANT (STEPS_LOW + 4 * STEPS_GLOBAL)

typedef struct steps_cta {
    lw_grid grid;
    lw_printer printer;   /* keeps nothing */
    lw_heap heap;         /* has nothing */
    lw_textures textures; /* handles 1 to 3: a texture, a sampler and a surface */
    lw_cta cta;
    lw_program program;
    lw_code code;
    lw_op ops[STEPS_OPS];
    lw_place places[STEPS_OPS];
    lw_block blocks[2];
    uint32_t slots[8];
    uint64_t constants[64];
    _Alignas(64) char shared[STEPS_SHARED], params[STEPS_PARAMS], global[STEPS_RANGES][STEPS_GLOBAL];
    lw_ranges *ranges;
    lw_ranges_part part;
    lw_code *codes[1];
    uint32_t note_order[6];
    lw_program_note note_rows[6]; /* all operations stand at place 0 */
    _Atomic uint64_t notes[6];
} steps_cta;

/* Four by four words of the first global memory. */
static inline void steps_add_textures(steps_cta *s) {
    const lw_image image = {
        .kind = LW_IMAGE_2D, .type = LW_TEXEL_u32, .channels = 1, .width = 4, .height = 4, .address = STEPS_FIRST};
    assert_true(lw_textures_init(&s->textures));
    s->grid.textures = &s->textures;
    for (uint32_t kind = LW_TEXTURE_TEXTURE; kind <= LW_TEXTURE_SURFACE; kind++) {
        lw_texture *texture = calloc(1, sizeof *texture);
        assert_non_null(texture);
        *texture = (lw_texture){.kind = (lw_texture_kind)kind, .bound = true, .image = image};
        assert_null(lw_texture_complete(texture));
        assert_int_equal(lw_textures_add(&s->textures, texture, false), kind);
    }
}

static inline const lw_op *steps_stop(lw_gang *gang, const lw_op *op) { return (void)gang, (void)op, NULL; }

/* A CTA of `threads` in gangs of `lanes`, all of them executing block 0. */
static inline steps_cta *steps_new(uint32_t threads, uint32_t lanes) {
    steps_cta *s = aligned_alloc(64, (sizeof *s + 63) / 64 * 64);
    assert_non_null(s);
    memset(s, 0, sizeof *s);
    s->ranges = calloc(1, sizeof(lw_ranges) + sizeof s->ranges->parts[0]);
    assert_non_null(s->ranges);
    static const uint64_t bases[STEPS_RANGES] = {STEPS_LOW, STEPS_LOW_CONSTANT, STEPS_FIRST, STEPS_SECOND,
                                                 STEPS_CONSTANT};
    s->part = (lw_ranges_part){.references = 1, .count = STEPS_RANGES};
    for (uint32_t i = 0; i < STEPS_RANGES; i++) {
        const bool constant = bases[i] == STEPS_CONSTANT || bases[i] == STEPS_LOW_CONSTANT;
        s->part.at[i] = (lw_range){
            .base = bases[i], .size = STEPS_GLOBAL, .host = s->global[i], .constant = constant, .read_only = constant};
    }
    s->ranges->count = STEPS_RANGES;
    s->ranges->part_count = 1;
    s->ranges->parts[0].first = STEPS_LOW;
    s->ranges->parts[0].part = &s->part;
    for (uint32_t i = 0; i < STEPS_OPS; i++) s->ops[i] = (lw_op){.step = steps_stop, .code = LW_OP_ret};
    s->ops[0] = (lw_op){.step = lw_step_block, .a = 0, .imm = 1};
    s->ops[4] = (lw_op){.step = lw_step_block, .a = 1, .imm = 1};
    s->blocks[1].first = 4;
    s->code = (lw_code){.name = "k",
                        .is_entry = true,
                        .op_count = STEPS_OPS,
                        .block_count = 2,
                        .ops = s->ops,
                        .places = s->places,
                        .blocks = s->blocks,
                        .slots = s->slots,
                        .constants = s->constants,
                        .frame_bytes = STEPS_SLOTS * LW_SLOT_64,
                        .local_bytes = STEPS_LOCAL};
    s->codes[0] = &s->code;
    s->program = (lw_program){
        .entry = &s->code, .code_count = 1, .codes = s->codes, .param_bytes = STEPS_PARAMS, .shared_unit = 128};
    static const lw_diag_id notes[] = {LW_D_note_inactive_lane, LW_D_note_not_member,     LW_D_note_never_arrives,
                                       LW_D_note_divergent,     LW_D_note_barrier_counts, LW_D_note_cluster_turns};
    for (uint32_t i = 0; i < 6; i++) s->note_rows[i].id = notes[i];
    s->program.notes.at = s->note_rows, s->program.notes.count = 6;
    lw_program_order_notes(&s->program, s->note_order);
    s->grid.notes = s->notes;
    s->grid.program = &s->program;
    s->grid.shape[0] = 3, s->grid.shape[1] = 2, s->grid.shape[2] = 1;
    for (int i = 0; i < 3; i++) s->grid.cluster[i] = 1;
    s->grid.block[0] = threads, s->grid.block[1] = s->grid.block[2] = 1;
    s->grid.params = s->params;
    s->grid.ranges = s->ranges;
    s->grid.printer = &s->printer, s->grid.heap = &s->heap;
    steps_add_textures(s);
    s->grid.local_limit = STEPS_LOCAL;
    s->grid.gang_lanes = lanes;
    s->grid.dynamic_shared = 256;
    s->cta = (lw_cta){.grid = &s->grid,
                      .program = &s->program,
                      .index = {2, 1, 0},
                      .threads = threads,
                      .live = threads,
                      .shared = s->shared,
                      .shared_bytes = STEPS_SHARED,
                      .gang_count = (threads + lanes - 1) / lanes};
    assert_true(s->cta.gang_count <= STEPS_GANGS);
    s->cta.cluster = &s->cta.own_cluster;
    s->cta.own_cluster = (lw_cluster){.count = 1, .ctas = {&s->cta}, .live = threads};
    s->cta.gangs = aligned_alloc(64, s->cta.gang_count * sizeof(lw_gang));
    assert_non_null(s->cta.gangs);
    memset(s->cta.gangs, 0, s->cta.gang_count * sizeof(lw_gang));
    for (uint32_t g = 0; g < s->cta.gang_count; g++) {
        lw_gang *gang = &s->cta.gangs[g];
        assert_true(lw_gang_begin(gang, &s->cta, g));
        gang->local = aligned_alloc(64, STEPS_LOCAL * LW_GANG_LANES);
        assert_non_null(gang->local);
        for (uint32_t lane = 0; lane < LW_GANG_LANES; lane++) gang->tid[0][lane] = gang->first + lane;
        gang->budget = 1000;
        assert_ptr_equal(gang->resume, &s->ops[0]);
    }
    return s;
}

static inline void steps_free(steps_cta *s) {
    for (uint32_t g = 0; g < s->cta.gang_count; g++) {
        free(s->cta.gangs[g].local);
        lw_gang_end(&s->cta.gangs[g]);
    }
    free(s->cta.gangs);
    lw_textures_end(&s->textures);
    free(s->ranges);
    free(s);
}

/* Only these lanes execute; the others are elsewhere in the same frame. */
static inline void steps_set_mask(lw_gang *gang, lw_mask mask) { lw_gang_set_mask(gang, mask); }

static inline void *steps_slot(const lw_gang *gang, uint32_t n) { return gang->regs + SLOT(n); }
static inline void steps_fill_random(void *at, size_t size) {
    for (size_t i = 0; i < size; i++) ((uint8_t *)at)[i] = (uint8_t)(steps_random() >> 32);
}

#endif
