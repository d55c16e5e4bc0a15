/* struct.c: arguments that are structs, by their members; and buffers that several parameters share. */
#include "tool/tool.h"

enum { POINTER = 8 };

/* ---- From the spelling ------------------------------------------------------------------------------------- */

/* Whether a member may begin here: TYPE= or TYPE[, or with * in front the same for a buffer. */
static bool begins_member(const char *at) {
    if (*at == '*') at++;
    const size_t size = strcspn(at, "[=,}");
    return (at[size] == '[' || at[size] == '=') && lw_value_type(at, size);
}

/* Lists of values have commas, too. */
static const char *end_of_member(const char *at) {
    while (*at && !(*at == ',' && begins_member(at + 1)) && !(*at == '}' && !at[1])) at++;
    return at;
}

static bool parse_member(lw_arena *arena, lw_arg *arg, const char *at, const char *end, lw_arg *member) {
    const bool is_pointer = *at == '*';
    const char *text = lw_arena_text(arena, at + is_pointer, (size_t)(end - at - is_pointer));
    if (!begins_member(at))
        return lw_arg_wrong_shape(arg, at, (size_t)(end - at),
                                  "a member of a struct is written TYPE=VALUE, TYPE[COUNT]=SOURCE, "
                                  "or *TYPE[COUNT]=SOURCE, which is a pointer to a buffer");
    if (!lw_arg_parse(arena, text, arg->number, member)) return false;
    member->is_pointer = is_pointer;
    if (is_pointer && !member->is_array)
        return lw_arg_wrong_shape(arg, at, (size_t)(end - at), "a pointer points to a buffer: *TYPE[COUNT]=SOURCE");
    if (!is_pointer && (member->outputs.count || member->source == LW_ARG_SHARED))
        return lw_arg_wrong_shape(arg, at, (size_t)(end - at),
                                  "only the buffer of a pointer is shared or has outputs: *TYPE[COUNT]=SOURCE");
    return true;
}

bool lw_arg_parse_struct(lw_arena *arena, lw_arg *arg) {
    const size_t size = strlen(arg->text);
    if (arg->text[size - 1] != '}')
        return lw_arg_wrong_shape(arg, arg->text, size, "a struct ends with }, and only buffers in it have outputs");
    arg->members = LW_NEW_ARRAY(arena, lw_arg, size);
    for (const char *at = arg->text + 1; *at; at++) {
        const char *end = end_of_member(at);
        if (!parse_member(arena, arg, at, end, &arg->members[arg->member_count++])) return false;
        at = end;
    }
    return true;
}

/* ---- Against the parameter --------------------------------------------------------------------------------- */

bool lw_arg_lay_out(lw_arg *arg, const lw_param_info *param, const char *signature) {
    uint64_t at = 0, most = 1, before = 0;
    for (uint32_t i = 0; i < arg->member_count; i++) {
        lw_arg *member = &arg->members[i];
        const uint64_t align = member->is_pointer ? POINTER : lw_value_bytes(member->type);
        at = (at + align - 1) & ~(align - 1);
        member->offset = (uint32_t)at;
        member->before = before;
        at += member->is_pointer ? POINTER : align * member->count;
        before += member->count;
        if (align > most) most = align;
        if (at > param->size) break;
    }
    at = (at + most - 1) & ~(most - 1);
    if (at == param->size) return true;
    lw_arg_error(arg, arg->text, strlen(arg->text), signature, LW_D_arg_param_size, arg->number,
                 at > param->size ? "the struct, as far as it goes," : "the struct", (unsigned long long)at,
                 param->name, param->size);
    return false;
}

/* ---- Shared buffers ---------------------------------------------------------------------------------------- */

bool lw_arg_share(lw_arg *arg, const lw_arg *owner) {
    const char *at = strchr(arg->text, '&');
    if (!owner->is_array || owner->by_value || owner->image)
        return lw_arg_wrong_shape(arg, at, strlen(at), "the argument that it names has no buffer");
    const uint64_t bytes = owner->count * lw_value_bytes(owner->type), size = lw_value_bytes(arg->type);
    if (bytes % size || (arg->has_count && arg->count * size > bytes))
        return lw_arg_wrong_shape(arg, arg->text, (size_t)(at - arg->text),
                                  "the buffer that it shares is smaller, or no whole number of elements");
    if (!arg->has_count) arg->count = bytes / size;
    return true;
}
