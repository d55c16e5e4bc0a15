/* output.c: what a run leaves in a buffer, to files and to the terminal. */
#include <stdlib.h>

#include "tool/picture.h"

const char *lw_arg_picture(const lw_arg *arg, const char *name, lw_picture *picture) {
    const uint64_t *sizes = arg->npy.dimensions;
    const uint32_t count = arg->has_shape ? arg->npy.dimension_count : 1;
    if (arg->type != LW_T_u8 && arg->type != LW_T_u16 && arg->type != LW_T_b8 && arg->type != LW_T_b16)
        return "a picture is made of elements of type u8 or u16";
    if ((count != 2 && count != 3) || !arg->count || (count == 3 && sizes[2] > 4))
        return "a picture has a shape of rows, columns and 1 to 4 channels: u8[480,640,4]";
    if (sizes[0] > LW_PICTURE_SIDE_MOST || sizes[1] > LW_PICTURE_SIDE_MOST)
        return "a picture has at most 1000000 rows and columns";
    *picture = (lw_picture){.height = (uint32_t)sizes[0],
                            .width = (uint32_t)sizes[1],
                            .channels = count == 3 ? (uint32_t)sizes[2] : 1,
                            .bytes = lw_value_bytes(arg->type)};
    picture->size = arg->count * picture->bytes;
    return lw_picture_refuses(name, picture->channels);
}

static int write_picture(const lw_arg *arg, const char *name, const char *data) {
    lw_picture picture = {0};
    lw_text file = {0};
    lw_arg_picture(arg, name, &picture); /* which was looked at before the launch */
    picture.data = (char *)(uintptr_t)data;
    bool good = lw_picture_write(name, &file, &picture);
    if (!good) lw_tool_error(LW_D_no_memory, name);
    int code = !good ? LW_EXIT_MACHINE : lw_tool_write(name, file.at, file.size) ? LW_EXIT_OK : LW_EXIT_FILE;
    lw_text_free(&file);
    return code;
}

static int write_output(const lw_arg *arg, const lw_arg_output *out, const char *data) {
    lw_text file = {0};
    if (lw_picture_is_named(out->file)) return write_picture(arg, out->file, data);
    if (lw_tool_ends_with(out->file, ".npy")) {
        if (arg->has_shape) lw_npy_write(&file, arg->type, arg->npy.dimensions, arg->npy.dimension_count);
        else lw_npy_write(&file, arg->type, &arg->count, 1);
    }
    bool good = lw_tool_write_two(out->file, file.at, file.size, data, arg->count * lw_value_bytes(arg->type));
    lw_text_free(&file);
    return good ? LW_EXIT_OK : LW_EXIT_FILE;
}

static void print_output(const lw_arg *arg, const lw_arg_output *out, const char *data) {
    uint32_t bytes = lw_value_bytes(out->type);
    uint64_t count = arg->count * lw_value_bytes(arg->type) / bytes;
    lw_text line = {0};
    if (arg->label) lw_text_puts(&line, arg->label);
    else lw_text_printf(&line, "arg %u", arg->number);
    if (arg->is_pointer) lw_text_printf(&line, "+%u", arg->offset);
    lw_text_printf(&line, " %s[%llu]:", lw_types[out->type].name, (unsigned long long)count);
    for (uint64_t i = 0; i < count; i++) {
        uint64_t bits = 0;
        memcpy(&bits, data + i * bytes, bytes);
        lw_text_puts(&line, " ");
        if (out->hex) lw_value_print_hex(&line, out->type, bits);
        else lw_value_print(&line, out->type, bits);
        if (line.size < 1 << 16) continue;
        fwrite(line.at, 1, line.size, stdout);
        line.size = 0;
    }
    lw_text_puts(&line, "\n");
    if (line.size) fwrite(line.at, 1, line.size, stdout);
    lw_text_free(&line);
}

int lw_arg_give(lw_context *context, const lw_arg *arg) {
    for (uint32_t i = 0; i < arg->member_count; i++) {
        const int code = lw_arg_give(context, &arg->members[i]);
        if (code) return code;
    }
    if (!arg->outputs.count) return LW_EXIT_OK;
    size_t size = (size_t)arg->count * lw_value_bytes(arg->type);
    char *data = malloc(size + 1);
    if (!data) {
        lw_tool_error(LW_D_no_memory, "a buffer cannot be read back");
        return LW_EXIT_MACHINE;
    }
    lw_status status = size ? lw_memory_read(context, arg->address, data, size) : LW_OK;
    int code = status == LW_OK ? LW_EXIT_OK : lw_tool_device_failed(context, status);
    for (uint32_t i = 0; i < arg->outputs.count && code == LW_EXIT_OK; i++) {
        const lw_arg_output *out = &arg->outputs.at[i];
        if (out->file) code = write_output(arg, out, data);
        else print_output(arg, out, data);
    }
    free(data);
    return code;
}
