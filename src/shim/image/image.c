/* image.c: what an image is by its first bytes, and the texts that were found in images. */
#include "shim/image/image.h"

#include <stdlib.h>

/* ---- Texts ----------------------------------------------------------------------------------------------------- */

static bool grow(lw_code_image *image) {
    const uint32_t room = image->room ? image->room * 2 : 4;
    lw_module_text *grown = realloc(image->texts, room * sizeof *grown);
    if (!grown) return false;
    image->texts = grown;
    image->room = room;
    return true;
}

/* A text ends at its first NUL; `size` is no more than a bound. */
lw_image_result lw_image_add(lw_code_image *image, const char *name, lw_bytes text) {
    const size_t size = text.size == LW_IMAGE_UNBOUNDED ? strlen(text.at) : strnlen(text.at, text.size);
    const size_t name_size = strlen(name) + 1;
    if (image->count == image->room && !grow(image)) return LW_IMAGE_NO_MEMORY;
    char *copy = malloc(size + 1 + name_size);
    if (!copy) return LW_IMAGE_NO_MEMORY;
    memcpy(copy, text.at, size);
    copy[size] = 0;
    image->texts[image->count++] = (lw_module_text){memcpy(copy + size + 1, name, name_size), copy, size};
    return LW_IMAGE_OK;
}

void lw_image_keep(lw_code_image *image, uint32_t count) {
    while (image->count > count) free((char *)image->texts[--image->count].text);
}

void lw_image_free(lw_code_image *image) {
    lw_image_keep(image, 0);
    free(image->texts);
    lw_text_free(&image->why);
    lw_text_free(&image->notes);
    image->texts = NULL;
    image->room = 0;
}

/* ---- Kinds ----------------------------------------------------------------------------------------------------- */

bool lw_image_begins(lw_bytes bytes, const char *magic, size_t size) {
    for (size_t i = 0; i < size; i++)
        if (i >= bytes.size || bytes.at[i] != magic[i]) return false;
    return true;
}

lw_image_result lw_image_damaged(lw_code_image *image, const char *name, const char *what) {
    lw_text_say(&image->why, "error: %.200s is damaged: %s\n", name, what);
    return LW_IMAGE_UNKNOWN;
}

lw_image_result lw_image_leave_out(lw_code_image *image, lw_image_result result) {
    if (result != LW_IMAGE_NO_BINARY) return result;
    const char *why = image->why.at ? image->why.at : "";
    if (!strncmp(why, "error: ", 7)) why += 7;
    lw_text_printf(&image->notes, "note: left out: %s", why);
    lw_text_free(&image->why);
    return LW_IMAGE_OK;
}

static bool is_text(lw_bytes bytes) {
    const unsigned char c = bytes.size ? (unsigned char)bytes.at[0] : 0;
    return (c >= 0x20 && c < 0x7f) || (c >= 0x09 && c <= 0x0d) || !c;
}

static lw_image_result read_garbage(lw_code_image *image, const char *name, lw_bytes bytes) {
    (void)bytes;
    lw_text_say(&image->why, "error: %.200s is neither PTX text nor anything that holds some\n", name);
    return LW_IMAGE_UNKNOWN;
}

/* The first that it is. Whatever is text goes to the PTX front end, which says best what is wrong with it. */
static const struct kind {
    bool (*is)(lw_bytes bytes);
    lw_image_result (*read)(lw_code_image *image, const char *name, lw_bytes bytes);
} kinds[] = {
    {lw_bundle_is, lw_bundle_read},   {lw_fatbin_is, lw_fatbin_read}, {lw_elf_is, lw_elf_read},
    {lw_archive_is, lw_archive_read}, {is_text, lw_image_add},
};

bool lw_image_is_binary(lw_bytes bytes) {
    for (const struct kind *kind = kinds; kind->is != is_text; kind++)
        if (kind->is(bytes)) return true;
    return false;
}

lw_image_result lw_image_read(lw_code_image *image, const char *name, lw_bytes bytes) {
    for (size_t i = 0; i < LW_COUNT(kinds); i++)
        if (kinds[i].is(bytes)) return kinds[i].read(image, name, bytes);
    return read_garbage(image, name, bytes);
}

/* ---- Faults ---------------------------------------------------------------------------------------------------- */

/* A text that does not begin as PTX is no image at all; a target beyond the device is a fault whatever the version is;
 * other faults in a version that is newer than what we know are most likely what that version brought. */
lw_image_result lw_image_faults(const lw_diags *diags) {
    lw_image_result result = LW_IMAGE_BAD_PTX;
    for (const lw_diag *diag = diags->first; diag; diag = diag->next) {
        if (diag->id == LW_D_no_version) return LW_IMAGE_UNKNOWN;
        if (diag->id == LW_D_target_beyond) return LW_IMAGE_BAD_PTX;
        if (diag->id == LW_D_newer_version) result = LW_IMAGE_NEWER_PTX;
    }
    return result;
}
