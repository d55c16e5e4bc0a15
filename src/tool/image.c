/* image.c: arguments that are textures, surfaces and samplers.   spelling → shape and texels → sampler → handle
 *
 * The texels are the argument's buffer, so that everything about its source and its outputs is as for all buffers; what
 * is added here is what its dimensions mean, and how it is looked at. docs/cli.md has the grammar. */
#include <ctype.h>
#include <stdlib.h>

#include "lanewise/texture.h"
#include "tool/tool.h"

typedef struct kind_row {
    const char *name;
    lw_image_kind kind;
    lw_texture_kind makes;
    const char *extents; /* the dimensions of an array, in C order: layers, depth, height, width */
} kind_row;

static const kind_row kinds[] = {
    {"tex1d", LW_IMAGE_1D, LW_TEXTURE_TEXTURE, "w"},
    {"tex2d", LW_IMAGE_2D, LW_TEXTURE_TEXTURE, "hw"},
    {"tex3d", LW_IMAGE_3D, LW_TEXTURE_TEXTURE, "dhw"},
    {"tex1darray", LW_IMAGE_1D_ARRAY, LW_TEXTURE_TEXTURE, "lw"},
    {"tex2darray", LW_IMAGE_2D_ARRAY, LW_TEXTURE_TEXTURE, "lhw"},
    {"texcube", LW_IMAGE_CUBE, LW_TEXTURE_TEXTURE, "lhw"},
    {"texcubearray", LW_IMAGE_CUBE_ARRAY, LW_TEXTURE_TEXTURE, "lhw"},
    {"texlinear", LW_IMAGE_LINEAR, LW_TEXTURE_TEXTURE, "w"},
    {"surf1d", LW_IMAGE_1D, LW_TEXTURE_SURFACE, "w"},
    {"surf2d", LW_IMAGE_2D, LW_TEXTURE_SURFACE, "hw"},
    {"surf3d", LW_IMAGE_3D, LW_TEXTURE_SURFACE, "dhw"},
    {"surf1darray", LW_IMAGE_1D_ARRAY, LW_TEXTURE_SURFACE, "lw"},
    {"surf2darray", LW_IMAGE_2D_ARRAY, LW_TEXTURE_SURFACE, "lhw"},
    {"sampler", 0, LW_TEXTURE_SAMPLER, ""},
};

enum { ALL_LEVELS = UINT32_MAX };

struct lw_arg_image {
    const kind_row *row;
    lw_sampler sampler;
    bool is_picture; /* from a file that has two dimensions and says which are channels */
    unsigned said;   /* options, a bit for each group of them */
    uint32_t levels; /* of the mipmap; ALL_LEVELS: as many as there are */
    lw_image image;  /* set by lw_arg_settle_image */
};

/* ---- Options -------------------------------------------------------------------------------------------------- */

enum {
    SAID_FILTER = 1,
    SAID_X = 2,
    SAID_Y = 4,
    SAID_Z = 8,
    SAID_ADDRESS = SAID_X | SAID_Y | SAID_Z,
    SAID_COORDS = 16,
    SAID_READ = 32,
    SAID_SRGB = 64,
    SAID_SEAMLESS = 128,
    SAID_LEVELS = 256,
    SAID_MIP = 512
};

static const struct {
    const char *name;
    lw_address_mode mode;
} modes[] = {{"wrap", LW_ADDRESS_WRAP},
             {"clamp", LW_ADDRESS_CLAMP},
             {"mirror", LW_ADDRESS_MIRROR},
             {"border", LW_ADDRESS_BORDER}};

static bool find_mode(const char *at, size_t size, lw_address_mode *mode) {
    for (size_t i = 0; i < LW_COUNT(modes); i++)
        if (strlen(modes[i].name) == size && !memcmp(at, modes[i].name, size)) {
            *mode = modes[i].mode;
            return true;
        }
    return false;
}

/* A group of options that is said for the first time. */
static bool say(lw_arg *arg, unsigned groups, const char *at, size_t size) {
    if (arg->image->said & groups) return lw_arg_wrong_shape(arg, at, size, "this was said already");
    arg->image->said |= groups;
    return true;
}

static bool set_modes(lw_arg *arg, unsigned axes, lw_address_mode mode, const char *at, size_t size) {
    if (!say(arg, axes, at, size)) return false;
    for (unsigned i = 0; i < 3; i++)
        if (axes & (unsigned)SAID_X << i) arg->image->sampler.address[i] = mode;
    return true;
}

/* "border=0.5", "border=1/0/0/1" */
static bool parse_border(lw_arg *arg, const char *at, size_t size) {
    const char *p = at + strlen("border="), *end = at + size;
    float *border = arg->image->sampler.border;
    for (unsigned count = 0; count < 4; p++) {
        uint64_t bits;
        if (lw_value_parse(LW_T_f32, &p, &bits) || p > end || (p < end && *p != '/')) break;
        border[count++] = (float)lw_value_double(LW_T_f32, bits);
        if (p < end) continue;
        if (count != 1 && count != 4) break;
        for (; count < 4; count++) border[count] = border[0];
        return set_modes(arg, SAID_ADDRESS, LW_ADDRESS_BORDER, at, size);
    }
    return lw_arg_wrong_shape(arg, at, size, "a border is one number, or four with / between: border=1/0/0/1");
}

/* "levels=full", "levels=3" */
static bool parse_levels(lw_arg *arg, const char *at, size_t size) {
    const char *p = at + strlen("levels="), *end = at + size;
    uint64_t levels = ALL_LEVELS;
    if (arg->image->row->makes == LW_TEXTURE_SAMPLER)
        return lw_arg_wrong_shape(arg, at, size, "a sampler has no texels, and so no levels");
    if (!say(arg, SAID_LEVELS, at, size)) return false;
    if ((size_t)(end - p) != 4 || memcmp(p, "full", 4) != 0)
        if (*p == '-' || lw_value_parse(LW_T_u16, &p, &levels) || p != end || !levels)
            return lw_arg_wrong_shape(arg, at, size, "levels are full, or a number of them from 1");
    arg->image->levels = (uint32_t)levels;
    return true;
}

static bool starts(const char *at, size_t size, const char *word) {
    return size > strlen(word) && !memcmp(at, word, strlen(word));
}

static bool parse_option(lw_arg *arg, const char *at, size_t size) {
    static const struct {
        const char *name;
        unsigned group;
        bool value;
    } words[] = {
        {"point", SAID_FILTER, false},     {"linear", SAID_FILTER, true},     {"texels", SAID_COORDS, false},
        {"normalized", SAID_COORDS, true}, {"element", SAID_READ, false},     {"float", SAID_READ, true},
        {"srgb", SAID_SRGB, true},         {"seamless", SAID_SEAMLESS, true}, {"mip=point", SAID_MIP, false},
        {"mip=linear", SAID_MIP, true},
    };
    lw_sampler *sampler = &arg->image->sampler;
    lw_address_mode mode;
    if (find_mode(at, size, &mode)) return set_modes(arg, SAID_ADDRESS, mode, at, size);
    if (size > 2 && at[0] >= 'x' && at[0] <= 'z' && at[1] == '=') {
        if (!find_mode(at + 2, size - 2, &mode))
            return lw_arg_wrong_shape(arg, at + 2, size - 2, "address modes are wrap, clamp, mirror and border");
        return set_modes(arg, (unsigned)SAID_X << (at[0] - 'x'), mode, at, size);
    }
    if (starts(at, size, "border=")) return parse_border(arg, at, size);
    if (starts(at, size, "levels=")) return parse_levels(arg, at, size);
    for (size_t i = 0; i < LW_COUNT(words); i++) {
        if (strlen(words[i].name) != size || memcmp(at, words[i].name, size) != 0) continue;
        if (!say(arg, words[i].group, at, size)) return false;
        switch (words[i].group) {
        case SAID_FILTER: sampler->filter = words[i].value ? LW_FILTER_LINEAR : LW_FILTER_POINT; break;
        case SAID_COORDS: sampler->normalized_coords = words[i].value; break;
        case SAID_READ: sampler->normalized_floats = words[i].value; break;
        case SAID_SRGB: sampler->srgb = true; break;
        case SAID_MIP: sampler->mip_filter = words[i].value ? LW_FILTER_LINEAR : LW_FILTER_POINT; break;
        default: sampler->seamless_cube = true; break;
        }
        return true;
    }
    return lw_arg_wrong_shape(arg, at, size ? size : 1,
                              "the options of a texture are point linear wrap clamp mirror border x= y= z= border= "
                              "texels normalized element float srgb seamless levels= mip=point mip=linear");
}

/* ":linear,wrap" up to `end`; of a sampler alone "=linear,wrap" */
static bool parse_options(lw_arg *arg, const char *at, const char *end) {
    if (at == end) return true;
    if (arg->image->row->makes == LW_TEXTURE_SURFACE)
        return lw_arg_wrong_shape(arg, at, (size_t)(end - at), "a surface has no options, as it is not sampled");
    do {
        const char *word = ++at;
        while (at < end && *at != ',' && *at != ':') at++;
        if (!parse_option(arg, word, (size_t)(at - word))) return false;
    } while (at < end);
    return true;
}

/* ---- The spelling ------------------------------------------------------------------------------------------------ */

static const kind_row *find_kind(const char *text) {
    size_t size = strcspn(text, "=:[");
    for (size_t i = 0; i < LW_COUNT(kinds); i++)
        if (strlen(kinds[i].name) == size && !memcmp(kinds[i].name, text, size)) return &kinds[i];
    return NULL;
}

bool lw_arg_names_image(const char *text) { return find_kind(text); }

/* Numbers of a source may stand behind colons, options begin with a letter. A file's name ends at the first colon. */
static const char *find_options(const char *at, const char *end) {
    bool is_file = *at == '@';
    const char *source = memchr(at, '=', (size_t)(end - at));
    if (!is_file && source && source + 1 < end) is_file = source[1] == '@';
    for (; at < end; at++)
        if (*at == ':' && (is_file || isalpha((unsigned char)at[1]) || at[1] == ',' || at + 1 == end)) break;
    return at;
}

static bool parse_body(lw_arena *arena, lw_arg *arg, const char *at, const char *end) {
    if (*at != '@') {
        if (!lw_arg_parse_buffer(arena, arg, at, end)) return false;
        if (arg->source == LW_ARG_SHARED)
            return lw_arg_wrong_shape(arg, at, (size_t)(end - at), "an image has texels of its own");
        return arg->has_count ? true
                              : lw_arg_wrong_shape(arg, at, strcspn(at, "=:"),
                                                   "an image needs a shape: u8[480,640,4] has rows, columns, channels");
    }
    arg->is_array = true;
    arg->source = LW_ARG_FILE;
    arg->file = lw_arena_text(arena, at + 1, (size_t)(end - at - 1));
    return *arg->file ? true : lw_arg_wrong_shape(arg, at, 1, "the name of a file must follow the @");
}

static bool parse_sampler(lw_arg *arg, const char *at, const char *end) {
    arg->is_array = arg->has_count = true;
    arg->count = 0;
    return parse_options(arg, at, end);
}

bool lw_arg_parse_image(lw_arena *arena, lw_arg *arg) {
    const kind_row *row = find_kind(arg->text);
    const bool is_sampler = row->makes == LW_TEXTURE_SAMPLER;
    arg->image = LW_NEW(arena, lw_arg_image);
    *arg->image = (lw_arg_image){.row = row, .levels = 1, .sampler.level_max = 1 << 20};
    for (unsigned i = 0; i < 3; i++) arg->image->sampler.address[i] = LW_ADDRESS_CLAMP;
    const char *at = arg->text + strlen(row->name);
    if (*at != '=' || !at[1])
        return lw_arg_wrong_shape(arg, at, 1,
                                  is_sampler ? "a = must stand here, then options as linear,wrap"
                                             : "a = must stand here, then @FILE or TYPE[SHAPE]");
    const char *body = at + 1, *outputs = lw_arg_next_output(body), *options = find_options(body, outputs);
    if (is_sampler ? !parse_sampler(arg, at, outputs)
                   : !parse_body(arena, arg, body, options) || !parse_options(arg, options, outputs))
        return false;
    if (*outputs && row->makes != LW_TEXTURE_SURFACE)
        return lw_arg_wrong_output(arg, outputs, strlen(outputs),
                                   "a texture has no output; only surfaces and buffers do");
    return lw_arg_parse_outputs(arena, arg, outputs);
}

/* ---- The parameter ----------------------------------------------------------------------------------------------- */

bool lw_arg_bind_image(const lw_arg *arg, const lw_param_info *param, const char *signature, bool is_ptx) {
    const kind_row *row = arg->image->row;
    lw_type type = lw_type_find(param->type, strlen(param->type));
    static const lw_texture_kind takes[] = {[LW_T_texref] = LW_TEXTURE_TEXTURE,
                                            [LW_T_samplerref] = LW_TEXTURE_SAMPLER,
                                            [LW_T_surfref] = LW_TEXTURE_SURFACE};
    const lw_texture_kind taken = type < LW_COUNT(takes) ? takes[type] : LW_TEXTURE_NONE;
    const char *why = !is_ptx ? "a function of PTO takes no image"
                      : param->size != lw_types[type].bits / 8 || param->size < 4 || lw_types[type].kind == 'F'
                          ? "its parameter cannot hold a handle, which has 64 bits"
                      : taken && row->makes != taken
                          ? "its parameter takes textures, samplers or surfaces, and this is another"
                          : NULL;
    if (why) lw_arg_error(arg, arg->text, strlen(row->name), signature, LW_D_arg_shape, arg->number, why);
    return !why;
}

/* ---- Texels ------------------------------------------------------------------------------------------------------ */

static const struct {
    lw_type type;
    lw_texel_type texel;
} texels[] = {{LW_T_u8, LW_TEXEL_u8},   {LW_T_s8, LW_TEXEL_s8},   {LW_T_u16, LW_TEXEL_u16}, {LW_T_s16, LW_TEXEL_s16},
              {LW_T_u32, LW_TEXEL_u32}, {LW_T_s32, LW_TEXEL_s32}, {LW_T_f16, LW_TEXEL_f16}, {LW_T_f32, LW_TEXEL_f32}};

/* A file's fault has another exit code than the command line's. */
static int wrong_image(const lw_arg *arg, const char *why) {
    const char *at = strchr(arg->text, '=') + 1;
    lw_arg_error(arg, at, strcspn(at, ":"), NULL, LW_D_arg_shape, arg->number, why);
    return arg->source == LW_ARG_FILE ? LW_EXIT_FILE : LW_EXIT_USAGE;
}

static void set_extent(lw_image *image, char what, uint32_t size) {
    switch (what) {
    case 'w': image->width = size; break;
    case 'h': image->height = size; break;
    case 'd': image->depth = size; break;
    default: image->layers = size; break;
    }
}

static int wrong_dimensions(const lw_arg *arg) {
    const char *names[] = {['l'] = "layers", ['d'] = "slices", ['h'] = "rows", ['w'] = "columns"};
    const kind_row *row = arg->image->row;
    lw_text why = {0};
    lw_text_printf(&why, "%s has the dimensions (", row->name);
    for (const char *p = row->extents; *p; p++) lw_text_printf(&why, "%s, ", names[(unsigned char)*p]);
    lw_text_printf(&why, "channels), the last of which may be missing, and this has %u", arg->npy.dimension_count);
    int code = wrong_image(arg, why.at ? why.at : "");
    lw_text_free(&why);
    return code;
}

void lw_arg_is_picture(lw_arg *arg) { arg->image->is_picture = true; }

/* Texels have no three channels: a file's get a fourth, of the largest value, of floats 1. */
static bool widen(lw_arg *arg) {
    uint64_t *channels = &arg->npy.dimensions[arg->npy.dimension_count - 1];
    const size_t bytes = lw_value_bytes(arg->type);
    const uint64_t texels_count = arg->count / 3, all = UINT64_MAX >> (64 - 8 * bytes);
    const uint64_t most = lw_value_is_float(arg->type)      ? lw_value_round(arg->type, 1, false)
                          : lw_types[arg->type].kind == 'S' ? all >> 1
                                                            : all;
    char *wide = malloc(texels_count * 4 * bytes), *to = wide;
    const char *from = arg->data + arg->data_at;
    if (!wide) return false;
    for (uint64_t i = 0; i < texels_count; i++, from += 3 * bytes, to += 4 * bytes) {
        memcpy(to, from, 3 * bytes);
        memcpy(to + 3 * bytes, &most, bytes);
    }
    free(arg->data);
    arg->data = wide;
    arg->data_at = 0;
    arg->count = texels_count * 4;
    *channels = 4;
    return true;
}

static int settle_levels(const lw_arg *arg, lw_image *image) {
    const uint32_t wanted = arg->image->levels;
    for (image->levels = 1; image->levels < wanted; image->levels++) {
        lw_image next = *image;
        next.levels++;
        if (!lw_image_bytes(&next)) break;
    }
    return wanted == image->levels || wanted == ALL_LEVELS
               ? LW_EXIT_OK
               : wrong_image(arg, "it has fewer levels than that: each halves the extents, down to one texel");
}

int lw_arg_settle_image(lw_arg *arg) {
    const kind_row *row = arg->image->row;
    if (row->makes == LW_TEXTURE_SAMPLER) return LW_EXIT_OK;
    const uint32_t rank = (uint32_t)strlen(row->extents), count = arg->npy.dimension_count;
    lw_image *image = &arg->image->image;
    *image = (lw_image){.size = sizeof *image, .kind = row->kind, .channels = 1};
    for (size_t i = 0; i < LW_COUNT(texels); i++)
        if (texels[i].type == arg->type) image->type = texels[i].texel;
    if (!image->type) return wrong_image(arg, "texels are of type u8 s8 u16 s16 u32 s32 f16 or f32");
    if (count < rank || count > rank + 1 || (arg->image->is_picture && rank != 2)) return wrong_dimensions(arg);
    if (arg->source == LW_ARG_FILE && count > rank && arg->npy.dimensions[rank] == 3 && !widen(arg)) {
        lw_tool_error(LW_D_no_memory, arg->file);
        return LW_EXIT_MACHINE;
    }
    for (uint32_t i = 0; i < count; i++) {
        uint64_t size = arg->npy.dimensions[i];
        if (size > INT32_MAX) return wrong_image(arg, "an image has at most 2147483647 texels in each dimension");
        if (i < rank) set_extent(image, row->extents[i], (uint32_t)size);
        else image->channels = (uint32_t)size;
    }
    arg->has_shape = true;
    for (uint32_t i = 0; i < arg->outputs.count; i++) /* that were read before the file */
        if (!arg->outputs.at[i].type) arg->outputs.at[i].type = arg->type;
    if (!arg->count) return wrong_image(arg, "an image has at least one texel");
    if (!lw_image_texel_bytes(image)) return wrong_image(arg, "texels have 1, 2 or 4 channels");
    if (!lw_image_bytes(image))
        return wrong_image(arg, "there is no image of this shape; a cube is square and has 6 layers");
    return settle_levels(arg, image);
}

lw_type lw_arg_texel_type(const char *dtype, bool *big) {
    *big = false;
    for (size_t i = 0; i < LW_COUNT(texels) && !*big; i++)
        if (lw_npy_fits(dtype, texels[i].type, big)) return texels[i].type;
    return LW_T_none;
}

/* ---- The handle -------------------------------------------------------------------------------------------------- */

static lw_status make_new(lw_context *context, const lw_arg_image *made, const lw_image *image, uint64_t *handle) {
    switch (made->row->makes) {
    case LW_TEXTURE_SAMPLER: return lw_sampler_new(context, &made->sampler, handle);
    case LW_TEXTURE_SURFACE: return lw_surface_new(context, image, handle);
    default: return lw_texture_new(context, image, NULL, &made->sampler, handle);
    }
}

int lw_arg_make_image(lw_context *context, lw_module *module, const lw_arg *arg, uint64_t *handle) {
    const lw_arg_image *made = arg->image;
    const lw_texture_kind makes = made->row->makes;
    lw_image image = made->image;
    lw_status status;
    image.address = arg->address;
    if (image.levels > 1) {
        const int code = lw_arg_make_levels(context, arg, &image);
        if (code) return code;
    }
    if (arg->reference) {
        const lw_texture_kind kind = lw_module_reference(module, arg->reference, handle);
        if (kind != makes)
            return wrong_image(arg, kind ? "the variable is of another kind" : "the module has no such variable");
        status = lw_texture_set(context, *handle, makes == LW_TEXTURE_SAMPLER ? NULL : &image, NULL,
                                makes == LW_TEXTURE_SURFACE ? NULL : &made->sampler);
    } else {
        status = make_new(context, made, &image, handle);
    }
    if (status != LW_BAD_ARGUMENT) return status == LW_OK ? LW_EXIT_OK : lw_tool_device_failed(context, status);
    return wrong_image(arg, lw_tool_why(context)), LW_EXIT_USAGE;
}
