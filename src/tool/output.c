/* output.c: what a run leaves in a buffer, to files and to the terminal. */
#include <stdlib.h>

#include "tool/tool.h"

static int write_output(const lw_arg *arg, const lw_arg_output *out, const char *data) {
    lw_text file = {0};
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
