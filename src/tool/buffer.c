/* buffer.c: the contents of an argument: files, lists, ranges and random values, as elements in memory. */
#include <stdlib.h>
#include <unistd.h>

#include "tool/picture.h"

/* ---- Files -------------------------------------------------------------------------------------------- */

/* Half of the machine's memory, as the device memory that the data goes to needs the other half; less where --memory
 * says so. */
static uint64_t byte_limit(const lw_arg *arg) {
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    uint64_t half = pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page / 2 : UINT64_C(1) << 32;
    return arg->limit && arg->limit < half ? arg->limit : half;
}

static int too_large(const lw_arg *arg) {
    lw_text why = {0};
    lw_text_say(&why, "argument %u: '%s' has more than %llu bytes, %s", arg->number, arg->file,
                (unsigned long long)byte_limit(arg),
                byte_limit(arg) == arg->limit ? "the limit that --memory sets" : "half of the machine's memory");
    lw_tool_error(LW_D_no_memory, why.at ? why.at : "");
    lw_text_free(&why);
    return LW_EXIT_MACHINE;
}

/* `cut`: there may be more, which nobody needs to read. */
static int wrong_count(const lw_arg *arg, uint64_t have, bool cut) {
    const char *at = strchr(arg->text, '[') + 1;
    lw_arg_error(arg, at, (size_t)(strchr(at, ']') - at), NULL, LW_D_arg_count, arg->number,
                 cut ? "the beginning of the file" : "the file", (unsigned long long)have,
                 (unsigned long long)arg->count);
    return LW_EXIT_FILE;
}

/* The rest of a file of `size` bytes. */
static int read_rest(lw_input *in, uint64_t size) {
    int code = lw_input_read(in, size);
    if (code || in->size == size) return code;
    lw_tool_error(LW_D_cannot_read, in->path, "it became shorter while it was read");
    return LW_EXIT_FILE;
}

/* A file whose size is not known is read until it is too large for what is wanted of it, and no further. */
static int load_raw(lw_arg *arg, lw_input *in) {
    uint32_t bytes = lw_value_bytes(arg->type);
    uint64_t limit = byte_limit(arg), wanted = arg->has_count  ? arg->count * bytes
                                               : arg->by_value ? arg->room
                                                               : UINT64_MAX;
    if (in->whole == UINT64_MAX) {
        int code = lw_input_read(in, (wanted < limit ? wanted : limit) + bytes);
        if (code) return code;
        if (in->ended) in->whole = in->size;
    }
    bool cut = in->whole == UINT64_MAX;
    uint64_t have = cut ? in->size : in->whole;
    if (!cut && have % bytes) {
        lw_tool_error(LW_D_raw_size, arg->file, (unsigned long long)have, lw_types[arg->type].name);
        return LW_EXIT_FILE;
    }
    if (cut && wanted > limit) return too_large(arg);
    if (arg->has_count && arg->count != have / bytes) return wrong_count(arg, have / bytes, cut);
    arg->count = have / bytes;
    if (arg->by_value && have > wanted) return LW_EXIT_OK; /* binding it says that it does not fit */
    return have > limit ? too_large(arg) : read_rest(in, have);
}

static int wrong_dtype(const lw_arg *arg, bool big) {
    if (big) lw_tool_error(LW_D_npy_endian, arg->file, arg->npy.dtype);
    else
        lw_tool_error(LW_D_npy_type, arg->file, arg->npy.dtype,
                      arg->type ? lw_types[arg->type].name : "a type of texels");
    return LW_EXIT_FILE;
}

static int load_npy_data(lw_arg *arg, lw_input *in) {
    const lw_npy *npy = &arg->npy;
    uint64_t want = npy->count * lw_value_bytes(arg->type);
    if (in->whole == UINT64_MAX && want <= byte_limit(arg)) {
        int code = lw_input_read(in, npy->data + want + 1);
        if (code) return code;
        in->whole = in->size;
    }
    if (in->whole != UINT64_MAX && in->whole - npy->data != want) {
        lw_tool_error(LW_D_npy_size, arg->file, (unsigned long long)want, (unsigned long long)(in->whole - npy->data));
        return LW_EXIT_FILE;
    }
    if (arg->has_count && arg->count != npy->count) return wrong_count(arg, npy->count, false);
    if (want > byte_limit(arg)) return too_large(arg);
    arg->count = npy->count;
    arg->data_at = npy->data;
    arg->has_shape = true;
    return read_rest(in, npy->data + want);
}

static int load_npy(lw_arg *arg, lw_input *in) {
    const char *why;
    bool big;
    const lw_npy written = arg->npy;
    int code = lw_input_read(in, LW_NPY_HEADER_MOST);
    if (code) return code;
    if (!lw_npy_read(in->data, in->size, &arg->npy, &why)) {
        lw_tool_error(LW_D_npy_bad, arg->file, why);
        return LW_EXIT_FILE;
    }
    if (!arg->type) arg->type = lw_arg_texel_type(arg->npy.dtype, &big);
    if (!arg->type || !lw_npy_fits(arg->npy.dtype, arg->type, &big)) return wrong_dtype(arg, big);
    if (arg->npy.fortran && arg->npy.dimension_count > 1) {
        lw_tool_error(LW_D_npy_order, arg->file);
        return LW_EXIT_FILE;
    }
    if (arg->has_shape) { /* as it stands in the brackets */
        memcpy(arg->npy.dimensions, written.dimensions, sizeof written.dimensions);
        arg->npy.dimension_count = written.dimension_count;
    }
    return load_npy_data(arg, in);
}

/* The channels are its last dimension; three get a fourth in lw_arg_settle_image. */
static int load_picture(lw_arg *arg, lw_input *in) {
    lw_picture picture;
    const char *why;
    int code = lw_input_read(in, byte_limit(arg));
    if (code) return code;
    if (!in->ended && in->size < in->whole) return too_large(arg);
    if (!lw_picture_read(arg->file, in->data, in->size, &picture, &why)) {
        lw_tool_error(why ? LW_D_picture_bad : LW_D_no_memory, arg->file, why);
        return why ? LW_EXIT_FILE : LW_EXIT_MACHINE;
    }
    free(in->data);
    in->data = picture.data;
    arg->type = picture.bytes == 1 ? LW_T_u8 : LW_T_u16;
    arg->npy.dimension_count = 3;
    arg->npy.dimensions[0] = picture.height;
    arg->npy.dimensions[1] = picture.width;
    arg->npy.dimensions[2] = picture.channels;
    arg->count = picture.size / picture.bytes;
    lw_arg_is_picture(arg);
    return LW_EXIT_OK;
}

static int load_opened(lw_arg *arg, lw_input *in) {
    if (lw_tool_ends_with(arg->file, ".npy")) return load_npy(arg, in);
    if (arg->type) return load_raw(arg, in);
    if (lw_picture_is_named(arg->file)) return load_picture(arg, in);
    lw_tool_error(LW_D_picture_bad, arg->file,
                  "its name ends in none of .npy .png .ppm .pgm, and raw texels need TYPE[SHAPE]=@FILE");
    return LW_EXIT_FILE;
}

static int load_file(lw_arg *arg) {
    lw_input in;
    int code = lw_input_open(&in, arg->file);
    if (!code) code = load_opened(arg, &in);
    lw_input_close(&in);
    arg->data = in.data;
    arg->loaded = true;
    return code;
}

int lw_arg_load(lw_arg *arg) {
    for (uint32_t i = 0; i < arg->member_count; i++) {
        const int code = lw_arg_load(&arg->members[i]);
        if (code) return code;
    }
    int code = arg->source == LW_ARG_FILE ? load_file(arg) : LW_EXIT_OK;
    if (!code && arg->image) code = lw_arg_settle_image(arg);
    return code ? code : lw_arg_check_outputs(arg);
}

int lw_arg_check_outputs(const lw_arg *arg) {
    for (uint32_t i = 0; i < arg->outputs.count; i++)
        if (arg->outputs.at[i].file && lw_picture_is_named(arg->outputs.at[i].file)) {
            lw_picture picture;
            const char *why = lw_arg_picture(arg, arg->outputs.at[i].file, &picture);
            if (!why) continue;
            const char *at = strstr(lw_arg_next_output(arg->text), arg->outputs.at[i].file);
            lw_arg_wrong_output(arg, at, strlen(arg->outputs.at[i].file), why);
            return LW_EXIT_USAGE;
        }
    for (uint32_t i = 0; i < arg->outputs.count; i++) {
        lw_type as = arg->outputs.at[i].type;
        if (arg->count * lw_value_bytes(arg->type) % lw_value_bytes(as) == 0) continue;
        lw_arg_wrong_output(arg, strstr(arg->text, ":print="), 7,
                            "the buffer is no whole number of elements of this type");
        return LW_EXIT_FILE;
    }
    return LW_EXIT_OK;
}

void lw_arg_unload(lw_arg *arg) {
    for (uint32_t i = 0; i < arg->member_count; i++) lw_arg_unload(&arg->members[i]);
    free(arg->data);
    arg->data = NULL;
}

/* ---- Elements ----------------------------------------------------------------------------------------- */

/* docs/cli.md, "Random values": part of the interface. */
static uint64_t random_word(uint64_t seed, uint32_t number, uint64_t index) {
    uint64_t z = seed * UINT64_C(0x9E3779B97F4A7C15) + (number + UINT64_C(1)) * UINT64_C(0xD1342543DE82EF95) +
                 (index + 1) * UINT64_C(0xA0761D6478BD642F);
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return z ^ z >> 31;
}

static uint64_t random_float(const lw_arg *arg, uint64_t word) {
    bool whole = arg->source == LW_ARG_RANDOM;
    double low = whole ? 0 : lw_value_double(LW_T_f64, arg->start),
           high = whole ? 1 : lw_value_double(LW_T_f64, arg->end);
    uint64_t bits = lw_value_round(arg->type, low + (double)(word >> 11) * 0x1p-53 * (high - low), true);
    return lw_value_double(arg->type, bits) < high ? bits : lw_value_round(arg->type, low, true);
}

static uint64_t random_element(const lw_arg *arg, uint64_t word) {
    if (lw_value_is_float(arg->type)) return random_float(arg, word);
    if (arg->source == LW_ARG_RANDOM) return word;
    unsigned __int128 span = (unsigned __int128)(arg->end - arg->start) + 1;
    /* z * 2^64 / 2^64 needs no product, and the product of all others fits. */
    return arg->start + (span >> 64 ? word : (uint64_t)(word * span >> 64));
}

static uint64_t range_element(const lw_arg *arg, uint64_t index) {
    if (!lw_value_is_float(arg->type)) return arg->start + arg->step * index;
    double start = lw_value_double(LW_T_f64, arg->start), step = lw_value_double(LW_T_f64, arg->step);
    return lw_value_round(arg->type, start + (double)index * step, false);
}

static uint64_t element(const lw_arg *arg, uint64_t seed, uint64_t index) {
    switch (arg->source) {
    case LW_ARG_FILL: return arg->start;
    case LW_ARG_LIST: return arg->values.at[index];
    case LW_ARG_RANGE: return range_element(arg, index);
    case LW_ARG_RANDOM:
    case LW_ARG_BETWEEN: return random_element(arg, random_word(seed, arg->number, arg->before + index));
    case LW_ARG_ZERO:
    case LW_ARG_SHARED:
    case LW_ARG_FILE: break;
    }
    return 0;
}

void lw_arg_fill(const lw_arg *arg, uint64_t seed, uint64_t first, size_t count, void *to) {
    size_t bytes = lw_value_bytes(arg->type);
    if (!count) return;
    if (arg->source == LW_ARG_FILE) {
        memcpy(to, arg->data + arg->data_at + first * bytes, count * bytes);
        return;
    }
    char *at = to;
    for (size_t i = 0; i < count; i++, at += bytes) {
        uint64_t bits = element(arg, seed, first + i);
        memcpy(at, &bits, bytes); /* little-endian: the low bytes are first */
    }
}
