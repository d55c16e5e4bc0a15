/* picture.c: PNG, PPM and PGM files: samples as they are stored, without any notion of colour.
 *
 * Of PNG only what libpng is needed for is left to it; a build without libpng says so. Samples are kept as they are:
 * palettes and fewer than 8 bits are expanded, gamma and colour profiles do not count. */
#include "tool/picture.h"

#include <stdlib.h>

#ifdef LW_PNG
#include <png.h>
#endif

#define BYTES_MOST (UINT64_C(1) << 32)

static bool room(lw_picture *picture, const char **why) {
    uint64_t bytes = (uint64_t)picture->width * picture->height * picture->channels * picture->bytes;
    *why = "it has no pixels, or too many";
    if (!bytes || bytes > BYTES_MOST || picture->width > LW_PICTURE_SIDE_MOST || picture->height > LW_PICTURE_SIDE_MOST)
        return false;
    *why = NULL;
    picture->size = (size_t)bytes;
    picture->data = malloc(picture->size);
    return picture->data;
}

/* Samples of 16 bits are big-endian in all these files. */
static void swap(char *data, size_t size) {
    for (size_t i = 0; i + 1 < size; i += 2) {
        char first = data[i];
        data[i] = data[i + 1];
        data[i + 1] = first;
    }
}

/* ---- PPM and PGM, the binary ones ------------------------------------------------------------------------------- */

/* A number behind blanks and comments. */
static bool pnm_number(const char **at, const char *end, uint32_t *value) {
    const char *p = *at;
    for (; p < end && (strchr(" \t\r\n", *p) || *p == '#'); p++)
        if (*p == '#') p = memchr(p, '\n', (size_t)(end - p)) ? memchr(p, '\n', (size_t)(end - p)) : end - 1;
    const char *begin = p;
    for (*value = 0; p < end && *p >= '0' && *p <= '9' && *value < LW_PICTURE_SIDE_MOST * 10; p++)
        *value = *value * 10 + (uint32_t)(*p - '0');
    *at = p;
    return p > begin;
}

static bool read_pnm(const char *file, size_t size, lw_picture *picture, const char **why) {
    const char *at = file + 2, *end = file + size;
    uint32_t most;
    *why = "its first bytes are not P5 or P6";
    if (size < 2 || file[0] != 'P' || (file[1] != '5' && file[1] != '6')) return false;
    picture->channels = file[1] == '5' ? 1 : 3;
    *why = "its header is not the width, the height and the largest value";
    if (!pnm_number(&at, end, &picture->width) || !pnm_number(&at, end, &picture->height) ||
        !pnm_number(&at, end, &most) || at == end || !strchr(" \t\r\n", *at) || !*at)
        return false;
    at++;
    *why = "its largest value is not 255 or 65535";
    if (most != 255 && most != 65535) return false;
    picture->bytes = most == 255 ? 1 : 2;
    if (!room(picture, why)) return false;
    *why = (size_t)(end - at) < picture->size ? "it is truncated" : "something follows its pixels";
    if ((size_t)(end - at) != picture->size) return false;
    memcpy(picture->data, at, picture->size);
    if (picture->bytes == 2) swap(picture->data, picture->size);
    return true;
}

static bool write_pnm(lw_text *out, const lw_picture *picture) {
    const uint32_t kept = picture->channels == 1 ? 1 : 3, bytes = picture->bytes;
    lw_text_printf(out, "P%c\n%u %u\n%u\n", kept == 1 ? '5' : '6', picture->width, picture->height,
                   bytes == 1 ? 255u : 65535u);
    const size_t begin = out->size;
    for (size_t i = 0; i < picture->size; i += picture->channels * bytes)
        lw_text_add(out, picture->data + i, kept * bytes);
    if (bytes == 2 && !out->failed) swap(out->at + begin, out->size - begin);
    return !out->failed;
}

/* ---- PNG -------------------------------------------------------------------------------------------------------- */

#ifdef LW_PNG

typedef struct stream { /* what libpng's callbacks get */
    const char *at, *end;
    lw_text *out;
    const char *why;
    char text[128];
} stream;

static void on_error(png_structp png, png_const_charp message) {
    stream *s = png_get_error_ptr(png);
    snprintf(s->text, sizeof s->text, "%s", message);
    if (!s->why) s->why = s->text;
    png_longjmp(png, 1);
}
static void on_warning(png_structp png, png_const_charp message) { (void)png, (void)message; }

static void on_read(png_structp png, png_bytep to, size_t size) {
    stream *s = png_get_io_ptr(png);
    if ((size_t)(s->end - s->at) < size) {
        s->why = "it is truncated";
        png_error(png, s->why);
    }
    memcpy(to, s->at, size);
    s->at += size;
}
static void on_write(png_structp png, png_bytep from, size_t size) {
    stream *s = png_get_io_ptr(png);
    lw_text_add(s->out, (const char *)from, size);
}
static void on_flush(png_structp png) { (void)png; }

static bool read_rows(png_structp png, png_infop info, lw_picture *picture, stream *s) {
    png_set_read_fn(png, s, on_read);
    png_read_info(png, info);
    png_set_expand(png);
    png_set_swap(png);
    const int passes = png_set_interlace_handling(png);
    png_read_update_info(png, info);
    picture->width = png_get_image_width(png, info);
    picture->height = png_get_image_height(png, info);
    picture->channels = png_get_channels(png, info);
    picture->bytes = png_get_bit_depth(png, info) / 8;
    if (!room(picture, &s->why)) return false;
    const size_t row = picture->size / picture->height;
    for (int pass = 0; pass < passes; pass++)
        for (uint32_t y = 0; y < picture->height; y++) png_read_row(png, (png_bytep)picture->data + y * row, NULL);
    png_read_end(png, NULL);
    return true;
}

static bool read_png(const char *file, size_t size, lw_picture *picture, const char **why) {
    static stream s; /* its text outlives the call */
    s = (stream){.at = file, .end = file + size};
    png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &s, on_error, on_warning);
    png_infop info = png ? png_create_info_struct(png) : NULL;
    const bool good = info && !setjmp(png_jmpbuf(png)) && read_rows(png, info, picture, &s);
    png_destroy_read_struct(&png, &info, NULL);
    *why = s.why;
    return good;
}

static void write_rows(png_structp png, png_infop info, const lw_picture *picture, stream *s) {
    static const int colours[] = {0, PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA, PNG_COLOR_TYPE_RGB,
                                  PNG_COLOR_TYPE_RGB_ALPHA};
    const size_t row = picture->size / picture->height;
    png_set_write_fn(png, s, on_write, on_flush);
    png_set_IHDR(png, info, picture->width, picture->height, (int)picture->bytes * 8, colours[picture->channels],
                 PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_write_info(png, info);
    png_set_swap(png);
    for (uint32_t y = 0; y < picture->height; y++) png_write_row(png, (png_const_bytep)picture->data + y * row);
    png_write_end(png, NULL);
}

static bool write_png(lw_text *out, const lw_picture *picture) {
    stream s = {.out = out};
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, &s, on_error, on_warning);
    png_infop info = png ? png_create_info_struct(png) : NULL;
    const bool good = info && !setjmp(png_jmpbuf(png)) && (write_rows(png, info, picture, &s), true);
    png_destroy_write_struct(&png, &info);
    return good && !out->failed;
}

#else

static bool read_png(const char *file, size_t size, lw_picture *picture, const char **why) {
    (void)file, (void)size, (void)picture;
    *why = "this build has no libpng";
    return false;
}
static bool write_png(lw_text *out, const lw_picture *picture) {
    (void)out, (void)picture;
    return false;
}

#endif

/* ---- By their names ---------------------------------------------------------------------------------------------- */

static bool is_png(const char *name) { return lw_tool_ends_with(name, ".png"); }
static bool is_pnm(const char *name) { return lw_tool_ends_with(name, ".ppm") || lw_tool_ends_with(name, ".pgm"); }

bool lw_picture_is_named(const char *name) { return is_png(name) || is_pnm(name); }

bool lw_picture_read(const char *name, const char *file, size_t size, lw_picture *picture, const char **why) {
    *picture = (lw_picture){0};
    *why = NULL;
    if ((is_png(name) ? read_png : read_pnm)(file, size, picture, why)) return true;
    free(picture->data);
    picture->data = NULL;
    return false;
}

const char *lw_picture_refuses(const char *name, uint32_t channels) {
#ifndef LW_PNG
    if (is_png(name)) return "this build has no libpng; .ppm and .pgm are written without it";
#endif
    if (is_png(name)) return NULL;
    if (channels == 2) return "PPM and PGM have no pixels of two channels";
    if (lw_tool_ends_with(name, channels == 1 ? ".ppm" : ".pgm"))
        return "one channel makes a .pgm, and three or four make a .ppm";
    return NULL;
}

bool lw_picture_write(const char *name, lw_text *out, const lw_picture *picture) {
    return (is_png(name) ? write_png : write_pnm)(out, picture);
}
