/* fatbin.c: containers of device code, as nvcc's `fatbinary` writes them, and which of their entries the device gets.
 *
 * Nothing documents the layout; what is here was found by making containers with the toolkit and looking at them. All
 * numbers are little endian; all that a container says of itself is checked against what is there. */
#include "shim/image/image.h"

#include <stdlib.h>

/* ---- Layout ---------------------------------------------------------------------------------------------------- */

/* A program has a fatbin as a wrapper (fatbinary_section.h), which points to its container. */
static const char WRAPPER[] = {'\xb1', '\x43', '\x62', '\x46'}, CONTAINER[] = {'\x50', '\xed', '\x55', '\xba'};
enum { LINKED = 2 }; /* a version */
typedef struct wrapper {
    uint32_t magic, version;
    const char *data;
    const char *const *parts; /* containers, with NULL behind the last; where the version is LINKED */
} wrapper;

typedef struct container {
    uint32_t magic;
    uint16_t version, header_size;
    uint64_t size; /* of what follows the header: entries */
} container;

typedef struct entry {
    uint16_t kind, unknown;
    uint32_t header_size;
    uint64_t size;   /* of what follows the header */
    uint32_t packed; /* bytes of that which are packed; 0: it is not packed */
    uint32_t unknown_too;
    uint16_t minor, major; /* of PTX: its version */
    uint32_t arch;
    uint32_t name_at, name_size;
    uint64_t flags;
    uint64_t unknown_as_well;
    uint64_t unpacked;
} entry;
_Static_assert(sizeof(container) == 16 && sizeof(entry) == 64, "as they lie in a file");

enum { PTX = 1, MACHINE_CODE = 2, LTO = 8 };
enum { FLAG_LZ4 = 0x2000, FLAG_ZSTD = 0x8000, FLAG_OWN = 0x100000, FLAG_FAMILY = 0x200000 };

static char suffix_of(const entry *e) { return e->flags & FLAG_OWN ? 'a' : e->flags & FLAG_FAMILY ? 'f' : 0; }

bool lw_fatbin_is(lw_bytes bytes) {
    return lw_image_begins(bytes, CONTAINER, sizeof CONTAINER) || lw_image_begins(bytes, WRAPPER, sizeof WRAPPER);
}

/* ---- Entries --------------------------------------------------------------------------------------------------- */

typedef struct found {
    entry head;
    lw_bytes payload;
} found;

/* The next of the entries, which end with the container. False: it is damaged. */
static bool take_entry(lw_bytes *rest, found *f) {
    if (rest->size < sizeof f->head) return false;
    memcpy(&f->head, rest->at, sizeof f->head);
    const entry *e = &f->head;
    if (e->header_size < sizeof *e || e->header_size > rest->size) return false;
    if (e->size > rest->size - e->header_size || e->packed > e->size) return false;
    f->payload = (lw_bytes){rest->at + e->header_size, e->packed ? e->packed : e->size};
    rest->at += e->header_size + e->size;
    rest->size -= e->header_size + e->size;
    return true;
}

/* Of what fits the newest device, and of that what is made for it alone. */
static bool is_better(const entry *e, const entry *than) {
    return e->arch != than->arch ? e->arch > than->arch : suffix_of(e) > suffix_of(than);
}

static void list_entry(lw_text *list, const entry *e) {
    const char suffix[] = {suffix_of(e), 0};
    const char *kind = e->kind == PTX            ? "PTX"
                       : e->kind == MACHINE_CODE ? "machine code"
                       : e->kind == LTO          ? "LTO-IR"
                                                 : NULL;
    if (!kind) return;
    lw_text_printf(list, "%s%s for sm_%u%s", list->size ? ", " : "", kind, e->arch, suffix);
}

/* *best: what the device gets; its kind is 0 where there is nothing. */
static bool choose(const lw_arch *arch, lw_bytes entries, found *best, lw_text *list) {
    *best = (found){0};
    while (entries.size) {
        found f;
        if (!take_entry(&entries, &f)) return false;
        list_entry(list, &f.head);
        if (f.head.kind != PTX || !lw_arch_takes(arch, f.head.arch, suffix_of(&f.head))) continue;
        if (!best->head.kind || is_better(&f.head, &best->head)) *best = f;
    }
    return true;
}

/* ---- Texts ----------------------------------------------------------------------------------------------------- */

static lw_image_result add_packed(lw_code_image *image, const char *name, const found *f) {
    const bool zstd = f->head.flags & FLAG_ZSTD;
    if (!zstd && !(f->head.flags & FLAG_LZ4))
        return lw_image_damaged(image, name, "an entry is packed in some unknown way");
    const char *why;
    char *text = lw_unpack(zstd ? LW_PACKED_ZSTD : LW_PACKED_LZ4, f->payload, f->head.unpacked, &why);
    if (!text && !why) return LW_IMAGE_NO_MEMORY;
    if (!text) return lw_image_damaged(image, name, why);
    lw_image_result result = lw_image_add(image, name, (lw_bytes){text, f->head.unpacked});
    free(text);
    return result;
}

static lw_image_result refuse(lw_code_image *image, const char *name, const lw_text *list) {
    const unsigned arch = image->arch->number;
    lw_text_say(&image->why,
                "error: the fatbin %.200s has no PTX that sm_%u takes, which is what Lanewise runs; it has %s\n"
                "note: `nvcc -gencode arch=compute_%u,code=compute_%u` puts PTX in\n",
                name, arch, list->size ? list->at : "nothing", arch, arch);
    return LW_IMAGE_NO_BINARY;
}

static lw_image_result read_entries(lw_code_image *image, const char *name, lw_bytes entries) {
    lw_text list = {0};
    found best;
    lw_image_result result;
    if (!choose(image->arch, entries, &best, &list))
        result = lw_image_damaged(image, name, "an entry goes beyond its end");
    else if (!best.head.kind) result = refuse(image, name, &list);
    else if (best.head.packed) result = add_packed(image, name, &best);
    else result = lw_image_add(image, name, best.payload);
    lw_text_free(&list);
    return result;
}

/* ---- Containers ------------------------------------------------------------------------------------------------ */

/* Linkers fill the space between containers with zeros. */
static void skip_zeros(lw_bytes *rest) {
    while (rest->size && !*rest->at) rest->at++, rest->size--;
}

static bool take_container(lw_bytes *rest, lw_bytes *entries) {
    container head;
    if (rest->size < sizeof head) return false;
    memcpy(&head, rest->at, sizeof head);
    if (!lw_image_begins(*rest, CONTAINER, sizeof CONTAINER) || head.header_size < sizeof head) return false;
    if (head.header_size > rest->size || head.size > rest->size - head.header_size) return false;
    *entries = (lw_bytes){rest->at + head.header_size, head.size};
    rest->at += head.header_size + head.size;
    if (rest->size != LW_IMAGE_UNBOUNDED) rest->size -= head.header_size + head.size;
    return true;
}

static lw_image_result read_container(lw_code_image *image, const char *name, lw_bytes *rest) {
    lw_bytes entries;
    if (!take_container(rest, &entries)) return lw_image_damaged(image, name, "it goes beyond its end");
    return read_entries(image, name, entries);
}

/* ---- Wrappers -------------------------------------------------------------------------------------------------- */

/* The parts of a program that was compiled in parts, which the driver links where they were not linked before. */
static lw_image_result read_parts(lw_code_image *image, const char *name, const char *const *parts) {
    const uint32_t before = image->count;
    lw_image_result result = LW_IMAGE_OK;
    for (; !result && *parts; parts++) {
        lw_bytes rest = {*parts, LW_IMAGE_UNBOUNDED};
        result = lw_image_leave_out(image, read_container(image, name, &rest));
    }
    if (result || image->count > before) return result;
    lw_text_say(&image->why, "error: no part of %.200s has PTX for this device\n%s", name,
                image->notes.at ? image->notes.at : "");
    return LW_IMAGE_NO_BINARY;
}

static lw_image_result read_wrapper(lw_code_image *image, const char *name, lw_bytes bytes) {
    wrapper w;
    if (bytes.size != LW_IMAGE_UNBOUNDED)
        return lw_image_damaged(image, name, "pointers of some program are all it has");
    memcpy(&w, bytes.at, sizeof w);
    if (!w.data) return lw_image_damaged(image, name, "it points to nothing");
    lw_bytes rest = {w.data, LW_IMAGE_UNBOUNDED};
    lw_image_result result = read_container(image, name, &rest);
    if (result != LW_IMAGE_NO_BINARY || w.version != LINKED || !w.parts) return result;
    return lw_image_leave_out(image, result) ? result : read_parts(image, name, w.parts);
}

lw_image_result lw_fatbin_read(lw_code_image *image, const char *name, lw_bytes bytes) {
    if (lw_image_begins(bytes, WRAPPER, sizeof WRAPPER)) return read_wrapper(image, name, bytes);
    lw_image_result result = read_container(image, name, &bytes);
    if (bytes.size == LW_IMAGE_UNBOUNDED) return result;
    for (skip_zeros(&bytes); !result && bytes.size; skip_zeros(&bytes)) result = read_container(image, name, &bytes);
    return result;
}
