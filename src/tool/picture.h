/* picture.h: files of pictures, PNG where the build has libpng, PPM and PGM. */
#ifndef LW_TOOL_PICTURE_H
#define LW_TOOL_PICTURE_H

#include "tool/tool.h"

enum { LW_PICTURE_SIDE_MOST = 1000000 }; /* libpng's limit, too */

typedef struct lw_picture {
    uint32_t width, height, channels; /* 1 to 4: grey, grey and alpha, RGB, RGBA */
    uint32_t bytes;                   /* of a sample: 1 or 2, little-endian */
    size_t size;
    char *data; /* rows from the top, without gaps; of one that was read the caller's to free */
} lw_picture;

/* Whether a file's name ends as that of a picture. */
bool lw_picture_is_named(const char *name);
/* Reads one. False: *why says what is wrong, until the next call; NULL: there is no memory. */
bool lw_picture_read(const char *name, const char *file, size_t size, lw_picture *picture, const char **why);
/* Why a picture of so many channels cannot be written under a name; NULL: it can. */
const char *lw_picture_refuses(const char *name, uint32_t channels);
/* What of an argument's shape is a picture, `data` left out. Not NULL: why it is none, or not one under this name. */
const char *lw_arg_picture(const lw_arg *arg, const char *name, lw_picture *picture);
/* Adds the file's bytes. PPM keeps three of four channels. False: there is no memory. */
bool lw_picture_write(const char *name, lw_text *out, const lw_picture *picture);

#endif
