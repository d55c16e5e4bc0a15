/* file.c: images in files. */
#include "shim/image/image.h"

#include <stdio.h>
#include <stdlib.h>

/* A text ends at its first NUL, and so does reading: what follows may be endless. Other images have NULs. */
static bool goes_on(const char *data, size_t seen, size_t used) {
    return !used || strlen(data + seen) == used - seen || lw_image_is_binary((lw_bytes){data, used});
}

char *lw_image_file(const char *path, size_t *size, bool *no_memory) {
    FILE *file = fopen(path, "rbe");
    char *data = NULL;
    size_t used = 0, room = 0, seen = 0;
    while (file && !feof(file) && !ferror(file) && used < UINT32_MAX && goes_on(data, seen, used)) {
        seen = used;
        if (used + 1 >= room) {
            char *grown = realloc(data, room = room ? room * 2 : 1 << 16);
            if (!grown) {
                *no_memory = true;
                break;
            }
            data = grown;
        }
        used += fread(data + used, 1, room - used - 1, file);
        data[used] = 0;
    }
    *size = used;
    bool failed = !file || ferror(file) || *no_memory;
    if (file) fclose(file);
    if (!failed) return data;
    free(data);
    return NULL;
}
