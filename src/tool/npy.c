/* npy.c: the header of NumPy's .npy files, format versions 1, 2 and 3. A header is a Python dictionary as text; only
 * the shape that NumPy documents is taken: the keys descr, fortran_order and shape, each once, in any order. */
#include "tool/tool.h"

/* ---- Reading ------------------------------------------------------------------------------------------ */

typedef struct reader {
    const char *at, *end;
    const char *why; /* the first fault */
} reader;

static bool fail(reader *r, const char *why) {
    if (!r->why) r->why = why;
    return false;
}

static void skip_blanks(reader *r) {
    while (r->at < r->end && (*r->at == ' ' || *r->at == '\n' || *r->at == '\t' || *r->at == '\r')) r->at++;
}

/* Takes one character if it is next. */
static bool take(reader *r, char c) {
    skip_blanks(r);
    if (r->at == r->end || *r->at != c) return false;
    r->at++;
    return true;
}

/* A quoted text without escapes, cut to the room there is: false then. */
static bool read_string(reader *r, char *to, size_t room) {
    skip_blanks(r);
    if (r->at == r->end || (*r->at != '\'' && *r->at != '"'))
        return fail(r, "the header has no string where one must stand");
    char quote = *r->at++;
    const char *begin = r->at;
    while (r->at < r->end && *r->at != quote) {
        unsigned char c = (unsigned char)*r->at++;
        if (c < 0x20 || c > 0x7e || c == '\\')
            return fail(r, "a string of the header holds a character that does not belong there");
    }
    size_t size = (size_t)(r->at - begin);
    if (r->at == r->end) return fail(r, "a string of the header does not end");
    r->at++;
    if (size >= room) return fail(r, "a string of the header is too long");
    memcpy(to, begin, size);
    to[size] = 0;
    return true;
}

static bool read_word(reader *r, const char *word) {
    skip_blanks(r);
    size_t size = strlen(word);
    if ((size_t)(r->end - r->at) < size || memcmp(r->at, word, size)) return false;
    r->at += size;
    return true;
}

static bool read_number(reader *r, uint64_t *value) {
    skip_blanks(r);
    const char *begin = r->at;
    *value = 0;
    for (; r->at < r->end && *r->at >= '0' && *r->at <= '9'; r->at++)
        if (__builtin_mul_overflow(*value, (uint64_t)10, value) ||
            __builtin_add_overflow(*value, (uint64_t)(*r->at - '0'), value))
            return fail(r, "the shape is too large");
    if (r->at == begin) return fail(r, "the shape holds something that is not a number");
    if (r->at < r->end && *r->at == 'L') r->at++; /* as Python 2 wrote it */
    return true;
}

/* (), (3,), (2, 3) */
static bool read_shape(reader *r, lw_npy *npy) {
    if (!take(r, '(')) return fail(r, "the shape is not a tuple");
    npy->count = 1;
    while (!take(r, ')')) {
        if (npy->dimension_count == LW_NPY_DIMENSIONS_MAX) return fail(r, "the shape has too many dimensions");
        uint64_t *size = &npy->dimensions[npy->dimension_count++];
        if (!read_number(r, size)) return false;
        if (__builtin_mul_overflow(npy->count, *size, &npy->count) || npy->count > UINT64_C(1) << 48)
            return fail(r, "the shape is too large");
        if (!take(r, ',')) {
            if (npy->dimension_count == 1) return fail(r, "the shape is not a tuple");
            if (!take(r, ')')) return fail(r, "the shape does not end");
            break;
        }
    }
    return true;
}

enum { HAS_DESCR = 1, HAS_ORDER = 2, HAS_SHAPE = 4, HAS_ALL = 7 };

static bool read_entry(reader *r, lw_npy *npy, unsigned *seen) {
    char key[16];
    if (!read_string(r, key, sizeof key)) return false;
    if (!take(r, ':')) return fail(r, "the header lacks a colon");
    unsigned entry = !strcmp(key, "descr")           ? HAS_DESCR
                     : !strcmp(key, "fortran_order") ? HAS_ORDER
                     : !strcmp(key, "shape")         ? HAS_SHAPE
                                                     : 0;
    if (!entry) return fail(r, "the header has a key that does not belong there");
    if (*seen & entry) return fail(r, "the header has a key twice");
    *seen |= entry;
    if (entry == HAS_SHAPE) return read_shape(r, npy);
    if (entry == HAS_ORDER) {
        npy->fortran = read_word(r, "True");
        return npy->fortran || read_word(r, "False") || fail(r, "fortran_order is neither True nor False");
    }
    skip_blanks(r);
    if (r->at < r->end && *r->at == '[') return fail(r, "structured arrays are not supported");
    return read_string(r, npy->dtype, sizeof npy->dtype);
}

static bool read_dictionary(reader *r, lw_npy *npy) {
    unsigned seen = 0;
    if (!take(r, '{')) return fail(r, "the header is not a dictionary");
    while (!take(r, '}')) {
        if (!read_entry(r, npy, &seen)) return false;
        if (!take(r, ',')) {
            if (!take(r, '}')) return fail(r, "the dictionary of the header does not end");
            break;
        }
    }
    skip_blanks(r);
    if (r->at != r->end) return fail(r, "something follows the dictionary of the header");
    return seen == HAS_ALL || fail(r, "the header lacks descr, fortran_order or shape");
}

bool lw_npy_read(const char *file, size_t size, lw_npy *npy, const char **why) {
    const unsigned char *bytes = (const unsigned char *)file;
    *npy = (lw_npy){0};
    *why = "it does not begin with NumPy's signature";
    if (size < 8 || memcmp(bytes, "\x93NUMPY", 6)) return false;
    *why = "its format version is not 1.0, 2.0 or 3.0";
    if (bytes[6] < 1 || bytes[6] > 3 || bytes[7] != 0) return false;
    size_t begin = bytes[6] == 1 ? 10 : 12;
    *why = "it ends within the header";
    if (size < begin) return false;
    size_t length = bytes[8] | (size_t)bytes[9] << 8;
    if (bytes[6] > 1) length |= (size_t)bytes[10] << 16 | (size_t)bytes[11] << 24;
    if (size >= LW_NPY_HEADER_MOST) *why = "its header is too long"; /* if it goes on behind what there is of it */
    if (length > size - begin) return false;
    npy->data = begin + length;
    reader r = {.at = file + begin, .end = file + begin + length};
    bool good = read_dictionary(&r, npy);
    *why = r.why;
    return good;
}

/* ---- Types -------------------------------------------------------------------------------------------- */

bool lw_npy_fits(const char *dtype, lw_type type, bool *big) {
    char order = dtype[0], kind = order ? dtype[1] : 0;
    unsigned size = lw_value_bytes(type); /* one digit */
    *big = false;
    if (!kind || !strchr("<>|=", order) || dtype[2] != (char)('0' + size) || dtype[3]) return false;
    char want = lw_types[type].kind;
    bool fits = type == LW_T_bf16 ? kind == 'u'
                : want == 'F'     ? kind == 'f'
                : want == 'S'     ? kind == 'i'
                : want == 'U'     ? kind == 'u' || (kind == 'b' && size == 1)
                                  : strchr("iufb", kind) != NULL;
    *big = fits && order == '>' && size > 1;
    return fits && !*big;
}

/* ---- Writing ------------------------------------------------------------------------------------------ */

void lw_npy_write(lw_text *out, lw_type type, const uint64_t *dimensions, uint32_t count) {
    unsigned bytes = lw_value_bytes(type);
    char kind = lw_types[type].kind, letter = kind == 'F' ? 'f' : kind == 'S' ? 'i' : 'u';
    lw_text header = {0};
    lw_text_printf(&header, "{'descr': '%c%c%u', 'fortran_order': False, 'shape': (", bytes == 1 ? '|' : '<', letter,
                   bytes);
    for (uint32_t i = 0; i < count; i++)
        lw_text_printf(&header, "%s%llu%s", i ? ", " : "", (unsigned long long)dimensions[i], count == 1 ? "," : "");
    lw_text_puts(&header, "), }");
    while (!header.failed && (10 + header.size + 1) % 64)
        lw_text_puts(&header, " "); /* the data is aligned to 64 bytes */
    lw_text_puts(&header, "\n");
    char begin[10] = {'\x93', 'N', 'U', 'M', 'P', 'Y', 1, 0, (char)(header.size & 0xff), (char)(header.size >> 8)};
    lw_text_add(out, begin, sizeof begin);
    if (header.failed) out->failed = true;
    else lw_text_add(out, header.at, header.size);
    lw_text_free(&header);
}
