/* Images, textures, samplers, surfaces and references: what the calls promise about each, and how each refuses. What
 * lookups give is tests/texture. */
#include "api.h"

#include "lanewise/texture.h"

#include <math.h>

/* ---- Images --------------------------------------------------------------------------------------------------- */

static lw_image image_of(lw_image_kind kind, uint32_t width, uint32_t height, uint32_t depth, uint32_t layers) {
    return (lw_image){.kind = kind,
                      .type = LW_TEXEL_u8,
                      .channels = 4,
                      .width = width,
                      .height = height,
                      .depth = depth,
                      .layers = layers};
}

static void levels_lie_one_behind_the_other(void **state) {
    (void)state;
    lw_image image = image_of(LW_IMAGE_2D, 13, 6, 0, 0);
    lw_image_plane plane;
    image.levels = 4; /* 13 x 6, 6 x 3, 3 x 1, 1 x 1 */
    assert_int_equal(lw_image_bytes(&image), 4 * (78 + 18 + 3 + 1));
    assert_true(lw_image_level(&image, 2, &plane));
    assert_int_equal(plane.offset, 4 * (78 + 18));
    assert_int_equal(plane.width, 3);
    assert_int_equal(plane.height, 1);
    assert_int_equal(plane.row_pitch, 12);
    assert_false(lw_image_level(&image, 4, &plane));
    image.levels = 5;
    assert_int_equal(lw_image_bytes(&image), 0);
    image = image_of(LW_IMAGE_2D_ARRAY, 8, 2, 0, 3);
    image.levels = 2;
    assert_true(lw_image_level(&image, 1, &plane));
    assert_int_equal(plane.offset, 4 * 16 * 3);
    assert_int_equal(plane.layer_pitch, 16);
    assert_int_equal(plane.depth, 3);
}

static void images_that_are_none(void **state) {
    (void)state;
    static const lw_image bad[] = {
        {.kind = LW_IMAGE_2D, .type = LW_TEXEL_u8, .channels = 3, .width = 4, .height = 4},
        {.kind = LW_IMAGE_2D, .type = LW_TEXEL_u8, .channels = 4, .width = 4},
        {.kind = LW_IMAGE_1D, .type = LW_TEXEL_u8, .channels = 4, .width = 4, .height = 4},
        {.kind = LW_IMAGE_CUBE, .type = LW_TEXEL_u8, .channels = 4, .width = 4, .height = 5},
        {.kind = LW_IMAGE_CUBE_ARRAY, .type = LW_TEXEL_u8, .channels = 4, .width = 4, .height = 4, .layers = 7},
        {.kind = LW_IMAGE_PITCHED, .type = LW_TEXEL_u8, .channels = 4, .width = 4, .height = 4, .pitch = 15},
        {.kind = LW_IMAGE_3D,
         .type = LW_TEXEL_f32,
         .channels = 4,
         .width = 1u << 30,
         .height = 1u << 30,
         .depth = 1u << 30},
        {.kind = (lw_image_kind)77, .type = LW_TEXEL_f32, .channels = 4, .width = 1},
        {.kind = LW_IMAGE_1D, .type = (lw_texel_type)9, .channels = 4, .width = 1},
        {.kind = LW_IMAGE_1D, .type = LW_TEXEL_u8, .channels = 1},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) assert_int_equal(lw_image_bytes(&bad[i]), 0);
    assert_int_equal(lw_image_bytes(NULL), 0);
}

/* ---- Handles ---------------------------------------------------------------------------------------------------- */

static void handles_end(void **state) {
    (void)state;
    lw_context *context = new_context(1);
    lw_image image = image_of(LW_IMAGE_2D, 4, 4, 0, 0), got;
    uint64_t first, second, third;
    assert_int_equal(lw_texture_new(context, &image, NULL, NULL, &first), LW_OK);
    assert_int_equal(lw_surface_new(context, &image, &second), LW_OK);
    assert_true(first && second && first != second);
    assert_int_equal(lw_texture_get(context, first, &got, NULL, NULL), LW_TEXTURE_TEXTURE);
    assert_int_equal(got.height, 4);
    assert_int_equal(lw_texture_get(context, second, NULL, NULL, NULL), LW_TEXTURE_SURFACE);
    assert_int_equal(lw_texture_free(context, first), LW_OK);
    assert_int_equal(lw_texture_get(context, first, NULL, NULL, NULL), LW_TEXTURE_NONE);
    assert_int_equal(lw_texture_free(context, first), LW_BAD_ARGUMENT);
    assert_int_equal(lw_texture_set(context, first, &image, NULL, NULL), LW_BAD_ARGUMENT);
    assert_int_equal(lw_texture_new(context, &image, NULL, NULL, &third), LW_OK);
    for (int round = 0; round < 20000; round++) { /* however many come after it */
        assert_true(third != first && third != second);
        assert_int_equal(lw_texture_free(context, third), LW_OK);
        assert_int_equal(lw_texture_new(context, &image, NULL, NULL, &third), LW_OK);
    }
    assert_int_equal(lw_texture_get(context, first, NULL, NULL, NULL), LW_TEXTURE_NONE);
    assert_int_equal(lw_texture_get(context, second, NULL, NULL, NULL), LW_TEXTURE_SURFACE);
    assert_int_equal(lw_texture_free(context, 0), LW_BAD_ARGUMENT);
    assert_int_equal(lw_texture_free(context, UINT64_MAX), LW_BAD_ARGUMENT);
    assert_int_equal(lw_texture_free(NULL, third), LW_BAD_ARGUMENT);
    lw_context_free(context);
}

static void refuse(lw_context *context, const lw_image *image, const lw_image_view *view, const lw_sampler *sampler,
                   const char *why) {
    uint64_t handle = 1;
    assert_int_equal(lw_texture_new(context, image, view, sampler, &handle), LW_BAD_ARGUMENT);
    assert_int_equal(handle, 0);
    assert_non_null(strstr(lw_context_message(context), why));
}

static void what_does_not_fit_together(void **state) {
    (void)state;
    lw_context *context = new_context(1);
    lw_image image = image_of(LW_IMAGE_2D, 4, 4, 0, 0), line = image_of(LW_IMAGE_LINEAR, 4, 0, 0, 0), none = {0};
    refuse(context, &none, NULL, NULL, "the image is none");
    refuse(context, &image, NULL, &(lw_sampler){.address = {(lw_address_mode)4}}, "address mode");
    refuse(context, &line, NULL, &(lw_sampler){.normalized_coords = true}, "linear memory");
    refuse(context, &image, &(lw_image_view){.last_level = 1}, NULL, "levels");
    refuse(context, &image, &(lw_image_view){.type = LW_TEXEL_f32, .channels = 4}, NULL, "another size");
    image.type = LW_TEXEL_u16;
    refuse(context, &image, NULL, &(lw_sampler){.srgb = true, .normalized_floats = true}, "sRGB");
    uint64_t handle;
    assert_int_equal(lw_texture_new(context, NULL, NULL, NULL, &handle), LW_BAD_ARGUMENT);
    assert_int_equal(lw_texture_new(context, &image, NULL, NULL, NULL), LW_BAD_ARGUMENT);
    assert_int_equal(lw_sampler_new(context, NULL, &handle), LW_BAD_ARGUMENT);
    assert_int_equal(lw_texture_new(context, &(lw_image){.size = 4}, NULL, NULL, &handle), LW_BAD_ARGUMENT);
    lw_context_free(context);
}

/* ---- Kernels ----------------------------------------------------------------------------------------------------- */

#define READS \
    HEAD ".global .texref ref;\n.global .u32 number;\n" \
         ".visible .entry by_name(.param .u64 out)\n{ .reg .u64 %o; .reg .b32 %r<4>; .reg .s32 %x;\n ld.param.u64 " \
         "%o, [out]; mov.u32 %x, %tid.x;\n" \
         " tex.2d.v4.u32.s32 {%r0,%r1,%r2,%r3}, [ref, {%x,%x}];\n st.global.u32 [%o], %r0; ret; }\n" \
         ".visible .entry by_handle(.param .u64 t, .param .u64 out)\n{ .reg .u64 %o, %t; .reg .b32 %r<4>; .reg .s32 " \
         "%x;\n ld.param.u64 %t, [t]; ld.param.u64 %o, [out]; mov.u32 %x, %tid.x;\n" \
         " tex.2d.v4.u32.s32 {%r0,%r1,%r2,%r3}, [%t, {%x,%x}];\n st.global.u32 [%o], %r0; ret; }\n" \
         ".visible .entry stores(.param .u64 s)\n{ .reg .u64 %s; .reg .s32 %x;\n ld.param.u64 %s, [s]; mov.u32 %x, " \
         "%tid.x; shl.b32 %x, %x, 2;\n" \
         " sust.b.2d.b32.trap [%s, {%x,0}], %x; ret; }\n" \
         ".visible .entry stores_two(.param .u64 s)\n{ .reg .u64 %s; .reg .s32 %x;\n ld.param.u64 %s, [s]; mov.u32 " \
         "%x, 4;\n sust.b.2d.v2.b32.trap [%s, {%x,0}], {%x,%x}; ret; }\n"

static void expect_number(lw_context *context, lw_kernel *kernel, void *const *params, uint32_t threads,
                          uint32_t number, uint32_t line, const char *says) {
    lw_trap_info trap;
    assert_int_equal(lw_launch(kernel, &(lw_launch_config){.grid = {1, 1, 1}, .block = {threads, 1, 1}}, params, NULL),
                     LW_TRAPPED);
    assert_true(lw_trap(context, &trap));
    assert_int_equal(trap.number, number);
    assert_int_equal(trap.line, line);
    if (!strstr(trap.message, says)) fail_msg("%s", trap.message);
}

static void expect_trap(lw_context *context, lw_kernel *kernel, void *const *params, uint32_t threads, uint32_t line,
                        const char *says) {
    expect_number(context, kernel, params, threads, 5022, line, says);
}

static void references_are_bound(void **state) {
    (void)state;
    lw_context *context = new_context(1);
    lw_module *module = load(context, READS);
    lw_kernel *by_name = get_kernel(module, "by_name"), *by_handle = get_kernel(module, "by_handle");
    lw_image image = image_of(LW_IMAGE_2D, 4, 4, 0, 0);
    uint64_t reference, out = new_buffer(context, 4), garbage = 12345;
    uint32_t texel = 0;
    assert_int_equal(lw_module_reference(module, "ref", &reference), LW_TEXTURE_TEXTURE);
    assert_int_equal(lw_module_reference(module, "number", &reference), LW_TEXTURE_NONE);
    assert_int_equal(lw_module_reference(module, "nothing", &reference), LW_TEXTURE_NONE);
    assert_int_equal(lw_module_global(module, "ref", NULL, NULL), LW_NOT_FOUND);
    expect_trap(context, by_name, (void *[]){&out}, 1, 9, "'ref' is not bound");
    expect_trap(context, by_handle, (void *[]){&garbage, &out}, 1, 14, "0x3039 is no handle");
    image.address = new_buffer(context, lw_image_bytes(&image));
    assert_int_equal(lw_memory_write(context, image.address, "\7\0\0\0", 4), LW_OK);
    assert_int_equal(lw_texture_set(context, reference, &image, NULL, NULL), LW_OK);
    assert_int_equal(
        lw_launch(by_name, &(lw_launch_config){.grid = {1, 1, 1}, .block = {1, 1, 1}}, (void *[]){&out}, NULL), LW_OK);
    assert_int_equal(lw_memory_read(context, out, &texel, 4), LW_OK);
    assert_int_equal(texel, 7);
    assert_int_equal(lw_texture_free(context, reference), LW_BAD_ARGUMENT); /* the module's */
    image.kind = LW_IMAGE_3D, image.depth = 1;
    assert_int_equal(lw_texture_set(context, reference, &image, NULL, NULL), LW_OK);
    expect_trap(context, by_name, (void *[]){&out}, 1, 9, "another geometry");
    image.kind = LW_IMAGE_2D, image.depth = 0;
    assert_int_equal(lw_texture_set(context, reference, &image, NULL, NULL), LW_OK);
    assert_int_equal(lw_memory_free(context, image.address), LW_OK);
    expect_trap(context, by_name, (void *[]){&out}, 1, 9, "memory that is not allocated");
    lw_context_free(context);
}

/* ptxas takes the declarations, and refuses instructions that name such an array. */
static void references_are_no_arrays(void **state) {
    (void)state;
    static const char *const texts[] = {HEAD ".global .u32 x;\n.global .texref ref[3];\n.entry k() { ret; }\n",
                                        HEAD ".global .u32 x;\n.global .surfref ref[3];\n.entry k() { ret; }\n"};
    lw_context *context = new_context(1);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        lw_module *module;
        assert_int_equal(lw_module_new(context, "refs.ptx", texts[i], strlen(texts[i]), &module), LW_BAD_SOURCE);
        const char *says = lw_module_diagnostics(module, false);
        if (!strstr(says, "'ref' is an array of references") || !strstr(says, "refs.ptx:5:")) fail_msg("%s", says);
    }
    lw_context_free(context);
}

/* A layer, a sample, x and y, as the manual's example of tex.a2dms has them, {idx,sample,r6,r7}; {sample,r6,r7,r8} of
 * tex.2dms. Texels are 1 + 64 * layer + 4 * (4 * y + x) + sample. */
#define SAMPLES \
    HEAD ".visible .entry one(.param .u64 t, .param .u64 out)\n{ .reg .u64 %o, %t, %d; .reg .b32 %r<4>, %s, %x;\n" \
         " ld.param.u64 %t, [t]; ld.param.u64 %o, [out]; mov.u32 %x, %tid.x; mul.wide.u32 %d, %x, 4;\n" \
         " add.u64 %o, %o, %d; and.b32 %s, %x, 7; shr.u32 %x, %x, 3;\n" \
         " tex.2dms.v4.u32.s32 {%r0,%r1,%r2,%r3}, [%t, {%s,%x,1,9}];\n st.global.u32 [%o], %r0; ret; }\n" \
         ".visible .entry layers(.param .u64 t, .param .u64 out)\n{ .reg .u64 %o, %t, %d; .reg .b32 %r<4>, %s, %x;\n" \
         " ld.param.u64 %t, [t]; ld.param.u64 %o, [out]; mov.u32 %x, %tid.x; mul.wide.u32 %d, %x, 4;\n" \
         " add.u64 %o, %o, %d; and.b32 %s, %x, 7; shr.u32 %x, %x, 3;\n" \
         " tex.a2dms.v4.u32.s32 {%r0,%r1,%r2,%r3}, [%t, {1,%s,%x,1}];\n st.global.u32 [%o], %r0; ret; }\n"

static void expect_samples(lw_context *context, lw_module *module, const char *name, lw_image image) {
    enum { LANES = 32 }; /* samples 0 to 7 of texels 0 to 3 */
    uint8_t texels[128];
    uint32_t got[LANES];
    uint64_t texture, out = new_buffer(context, sizeof got);
    image.address = new_buffer(context, sizeof texels);
    assert_int_equal(lw_image_bytes(&image), image.layers ? sizeof texels : sizeof texels / 2);
    for (uint32_t i = 0; i < sizeof texels; i++) texels[i] = (uint8_t)(i + 1);
    assert_int_equal(lw_memory_write(context, image.address, texels, sizeof texels), LW_OK);
    assert_int_equal(lw_texture_new(context, &image, NULL, NULL, &texture), LW_OK);
    assert_int_equal(lw_launch(get_kernel(module, name), &(lw_launch_config){.grid = {1, 1, 1}, .block = {LANES, 1, 1}},
                               (void *[]){&texture, &out}, NULL),
                     LW_OK);
    assert_int_equal(lw_memory_read(context, out, got, sizeof got), LW_OK);
    for (uint32_t i = 0; i < LANES; i++) {
        const uint32_t sample = i % 8, x = i / 8, layer = image.layers ? 1 : 0;
        assert_int_equal(got[i], sample < 4 ? 64 * layer + 4 * (4 + x) + sample + 1 : 0); /* the others are none */
    }
}

static void samples_are_found(void **state) {
    (void)state;
    lw_context *context = new_context(1);
    lw_module *module = load(context, SAMPLES);
    lw_image image = image_of(LW_IMAGE_2D_SAMPLES, 4, 4, 0, 0);
    image.channels = 1, image.samples = 4;
    expect_samples(context, module, "one", image);
    image.kind = LW_IMAGE_2D_ARRAY_SAMPLES, image.layers = 2;
    expect_samples(context, module, "layers", image);
    lw_context_free(context);
}

static void surfaces_end(void **state) {
    (void)state;
    lw_context *context = new_context(1);
    lw_module *module = load(context, READS);
    lw_kernel *kernel = get_kernel(module, "stores"), *two = get_kernel(module, "stores_two");
    lw_image image = image_of(LW_IMAGE_2D, 4, 4, 0, 0);
    uint64_t surface, texture;
    image.address = new_buffer(context, lw_image_bytes(&image));
    assert_int_equal(lw_surface_new(context, &image, &surface), LW_OK);
    assert_int_equal(lw_texture_new(context, &image, NULL, NULL, &texture), LW_OK);
    expect_trap(context, kernel, (void *[]){&surface}, 5, 19, "has nothing at (16, 0, 0)");
    expect_trap(context, kernel, (void *[]){&texture}, 1, 19, "is no surface");
    expect_number(context, two, (void *[]){&surface}, 1, 5023, 23,
                  "at (4, 0, 0), layer 0: x is no multiple of the 8 bytes");
    assert_int_equal(
        lw_launch(kernel, &(lw_launch_config){.grid = {1, 1, 1}, .block = {4, 1, 1}}, (void *[]){&surface}, NULL),
        LW_OK);
    uint32_t row[4];
    assert_int_equal(lw_memory_read(context, image.address, row, sizeof row), LW_OK);
    for (uint32_t i = 0; i < 4; i++) assert_int_equal(row[i], 4 * i);
    lw_context_free(context);
}

#define WIDE(mode) \
    ".visible .entry wide_" #mode "(.param .u64 s, .param .s32 x, .param .u64 out)\n{ .reg .u64 %s, %o; .reg .s32 " \
    "%x; .reg .b32 %r<4>;\n ld.param.u64 %s, [s]; ld.param.s32 %x, [x]; ld.param.u64 %o, [out];\n" \
    " suld.b.2d.v4.b32." #mode " {%r0,%r1,%r2,%r3}, [%s, {%x,1}];\n st.global.v4.b32 [%o], {%r0,%r1,%r2,%r3};\n" \
    " sust.b.2d.v4.b32." #mode " [%s, {%x,1}], {-1,-1,-1,-1}; ret; }\n"

enum { ROW = 24, ROWS = 2, BEHIND = 16 };

#define REDUCES(sample, place) \
    ".visible .entry reduces_" #sample "(.param .u64 s)\n{ .reg .u64 %s; ld.param.u64 %s, [s];\n sured." #sample \
    ".add.2d." #place ".clamp [%s, {0,1}], 1; ret; }\n"

/* What the kernel reads at x in the last row, and where it then writes 16 bytes: -1: nowhere. */
static void expect_wide(lw_context *context, lw_kernel *kernel, uint64_t surface, uint64_t memory, int32_t x,
                        int32_t wanted) {
    uint8_t before[ROW * ROWS + BEHIND], after[sizeof before], got[16], zero[16] = {0};
    uint64_t out = new_buffer(context, sizeof got);
    for (size_t i = 0; i < sizeof before; i++) before[i] = (uint8_t)(i + 1);
    assert_int_equal(lw_memory_write(context, memory, before, sizeof before), LW_OK);
    assert_int_equal(lw_launch(kernel, &(lw_launch_config){.grid = {1, 1, 1}, .block = {1, 1, 1}},
                               (void *[]){&surface, &x, &out}, NULL),
                     LW_OK);
    assert_int_equal(lw_memory_read(context, out, got, sizeof got), LW_OK);
    assert_int_equal(lw_memory_read(context, memory, after, sizeof after), LW_OK);
    assert_memory_equal(got, wanted < 0 ? zero : before + ROW + wanted, sizeof got);
    if (wanted >= 0) memset(before + ROW + wanted, 255, sizeof got);
    assert_memory_equal(after, before, sizeof before);
    assert_int_equal(lw_memory_free(context, out), LW_OK);
}

/* 16 bytes of a surface of single bytes: those that are not all in a row of 24 are outside; "sized appropriately" is
 * what the manual says of the nearest place. */
static void accesses_wider_than_texels(void **state) {
    (void)state;
    lw_context *context = new_context(1);
    lw_module *module = load(context, HEAD WIDE(zero) WIDE(clamp) WIDE(trap) REDUCES(p, b32) REDUCES(b, u32));
    lw_kernel *zero = get_kernel(module, "wide_zero"), *clamp = get_kernel(module, "wide_clamp"),
              *trap = get_kernel(module, "wide_trap");
    lw_image image = image_of(LW_IMAGE_2D, ROW, ROWS, 0, 0);
    uint64_t surface, out = new_buffer(context, 16);
    int32_t x = 16;
    image.channels = 1;
    image.address = new_buffer(context, ROW * ROWS + BEHIND);
    assert_int_equal(lw_surface_new(context, &image, &surface), LW_OK);
    expect_wide(context, zero, surface, image.address, 0, 0);
    expect_wide(context, zero, surface, image.address, 16, -1);
    expect_wide(context, zero, surface, image.address, -16, -1);
    expect_wide(context, clamp, surface, image.address, 16, 0);
    expect_wide(context, clamp, surface, image.address, 1 << 30, 0);
    expect_wide(context, clamp, surface, image.address, INT32_MIN, 0);
    expect_wide(context, trap, surface, image.address, 0, 0);
    expect_trap(context, trap, (void *[]){&surface, &x, &out}, 1, 19, "has nothing at (16, 1, 0)");
    expect_trap(context, get_kernel(module, "reduces_p"), (void *[]){&surface}, 1, 24, "another geometry");
    image.width = 9; /* the second row begins where no word does */
    assert_int_equal(lw_surface_new(context, &image, &surface), LW_OK);
    expect_trap(context, get_kernel(module, "reduces_b"), (void *[]){&surface}, 1, 27, "another geometry");
    image.width = 8;
    assert_int_equal(lw_surface_new(context, &image, &surface), LW_OK);
    expect_trap(context, clamp, (void *[]){&surface, &x, &out}, 1, 13, "has nothing at (16, 1, 0)");
    lw_context_free(context);
}

/* ---- Rows longer than a GPU's ------------------------------------------------------------------------------------ */

#define LONG_ROWS \
    HEAD ".visible .entry flat(.param .u64 t, .param .f32 x, .param .u64 out)\n{ .reg .u64 %o, %t; .reg .f32 %x, " \
         "%y, %r<4>;\n ld.param.u64 %t, [t]; ld.param.f32 %x, [x]; ld.param.u64 %o, [out]; mov.f32 %y, 0f00000000;\n" \
         " tex.2d.v4.f32.f32 {%r0,%r1,%r2,%r3}, [%t, {%x,%y}];\n st.global.f32 [%o], %r0; ret; }\n" \
         ".visible .entry line(.param .u64 t, .param .f32 x, .param .u64 out)\n{ .reg .u64 %o, %t; .reg .f32 %x, " \
         "%r<4>;\n ld.param.u64 %t, [t]; ld.param.f32 %x, [x]; ld.param.u64 %o, [out];\n" \
         " tex.1d.v4.f32.f32 {%r0,%r1,%r2,%r3}, [%t, %x];\n st.global.f32 [%o], %r0; ret; }\n"

#define LEVEL \
    HEAD ".visible .entry level(.param .u64 t, .param .f32 x, .param .u64 out)\n{ .reg .u64 %o, %t; .reg .f32 %x, " \
         "%y, %r<4>;\n ld.param.u64 %t, [t]; ld.param.f32 %x, [x]; ld.param.u64 %o, [out]; mov.f32 %y, 0f00000000;\n" \
         " tex.level.1d.v4.f32.f32 {%r0,%r1,%r2,%r3}, [%t, %y], %x;\n st.global.f32 [%o], %r0; ret; }\n"

static void expect_at(lw_context *context, lw_kernel *kernel, const lw_image *image, const lw_sampler *sampler, float x,
                      float wanted) {
    uint64_t texture, out = new_buffer(context, 4);
    float got;
    assert_int_equal(lw_texture_new(context, image, NULL, sampler, &texture), LW_OK);
    assert_int_equal(lw_launch(kernel, &(lw_launch_config){.grid = {1, 1, 1}, .block = {1, 1, 1}},
                               (void *[]){&texture, &x, &out}, NULL),
                     LW_OK);
    assert_int_equal(lw_memory_read(context, out, &got, sizeof got), LW_OK);
    if (got != wanted) fail_msg("%g at %g, not %g", got, x, wanted);
    assert_int_equal(lw_texture_free(context, texture), LW_OK);
    assert_int_equal(lw_memory_free(context, out), LW_OK);
}

/* Two texels beyond 2^23 are 1, all others 0; half of either is taken, and the last one elsewhere. */
static void long_rows(void **state) {
    (void)state;
    lw_context *context = new_context(1);
    lw_module *module = load(context, LONG_ROWS);
    lw_kernel *flat = get_kernel(module, "flat"), *line = get_kernel(module, "line");
    lw_image image = image_of(LW_IMAGE_2D, 1 << 24, 1, 0, 0);
    lw_sampler sampler = {
        .filter = LW_FILTER_LINEAR, .normalized_floats = true, .address = {LW_ADDRESS_CLAMP, LW_ADDRESS_CLAMP}};
    image.address = new_buffer(context, lw_image_bytes(&image));
    assert_int_equal(lw_memory_write(context, image.address + 4 * 9999999, "\377\0\0\0\377\0\0\0", 8), LW_OK);
    expect_at(context, flat, &image, &sampler, 1e7f, 1);
    expect_at(context, flat, &image, &sampler, 1e7f + 2, 0);
    sampler.normalized_coords = true;
    expect_at(context, flat, &image, &sampler, 1e7f / (1 << 24), 1);
    assert_int_equal(lw_memory_free(context, image.address), LW_OK);
    image = image_of(LW_IMAGE_LINEAR, 1 << 26, 0, 0, 0);
    image.channels = 1;
    image.address = new_buffer(context, 1 << 26);
    assert_int_equal(lw_memory_write(context, image.address + (1 << 25) + 4, "\377", 1), LW_OK);
    sampler = (lw_sampler){.normalized_floats = true};
    expect_at(context, line, &image, &sampler, (1 << 25) + 4, 1);
    expect_at(context, line, &image, &sampler, 1 << 24, 0);
    image.width = (1u << 30) + 1;
    assert_int_equal(lw_image_bytes(&image), 0);
    lw_context_free(context);
}

/* As coordinates that are no numbers, limits and biases of levels count as 0. */
static void levels_that_are_no_numbers(void **state) {
    (void)state;
    lw_context *context = new_context(1);
    lw_kernel *kernel = get_kernel(load(context, LEVEL), "level");
    lw_image image = image_of(LW_IMAGE_1D, 4, 0, 0, 0);
    image.levels = 3, image.channels = 1;
    image.address = new_buffer(context, lw_image_bytes(&image));
    assert_int_equal(lw_memory_write(context, image.address, "\0\0\0\0\377\377\0", 7), LW_OK);
    lw_sampler sampler = {.normalized_floats = true, .normalized_coords = true, .level_max = 3};
    expect_at(context, kernel, &image, &sampler, 1, 1);
    sampler.level_bias = NAN;
    expect_at(context, kernel, &image, &sampler, 1, 1);
    sampler.level_min = -NAN;
    expect_at(context, kernel, &image, &sampler, 1, 1);
    expect_at(context, kernel, &image, &sampler, NAN, 0);
    sampler.level_max = NAN;
    expect_at(context, kernel, &image, &sampler, 1, 0);
    lw_context_free(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(levels_lie_one_behind_the_other),
        cmocka_unit_test(images_that_are_none),
        cmocka_unit_test(handles_end),
        cmocka_unit_test(what_does_not_fit_together),
        cmocka_unit_test(references_are_bound),
        cmocka_unit_test(references_are_no_arrays),
        cmocka_unit_test(samples_are_found),
        cmocka_unit_test(surfaces_end),
        cmocka_unit_test(accesses_wider_than_texels),
        cmocka_unit_test(long_rows),
        cmocka_unit_test(levels_that_are_no_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
