/* image.h: device code as programs hand it over, and the linker behind cuLink…, nvJitLink and ptxas.
 *
 *   arch    which device, and which PTX it takes
 *   image   bytes of any kind → PTX texts:   a text, a bundle, a fatbin, an archive or an object with fatbins
 *   linker  images → a bundle: texts that were checked together
 *   bundle  PTX texts as bytes that a program may keep in a file */
#ifndef LW_SHIM_IMAGE_H
#define LW_SHIM_IMAGE_H

#include "base/base.h"
#include "front/ptx/ptx.h"
#include "lanewise/lanewise.h"

/* ---- arch.c ---------------------------------------------------------------------------------------------------- */

typedef struct lw_arch {
    unsigned number;                              /* 90 for sm_90 */
    unsigned threads, blocks, shared, block_most; /* archs.def, in bytes */
    unsigned shared_reserved;                     /* bytes of shared memory that each CTA has for the system */
    bool clusters;
} lw_arch;

const lw_arch *lw_arch_default(void);
/* Of a name: "sm_90", "compute_90a". NULL: there is no such device. */
const lw_arch *lw_arch_find(const char *name);
void lw_arch_names(lw_text *out); /* "sm_60 sm_61 …" */
/* Whether PTX for that target runs on the device. Suffix: 0, 'a' or 'f'. */
bool lw_arch_takes(const lw_arch *arch, unsigned target, char suffix);
/* Says of each text of a module whose target is beyond the device that it is. False: there was one. */
bool lw_arch_check(const lw_arch *arch, const lw_module_ptx *module, lw_diags *diags);

/* ---- Results --------------------------------------------------------------------------------------------------- */

typedef enum lw_image_result {
    LW_IMAGE_OK,
    LW_IMAGE_NO_MEMORY,
    LW_IMAGE_UNKNOWN,   /* it is no image, or a damaged one */
    LW_IMAGE_NO_BINARY, /* it is one, and has nothing that this device can run */
    LW_IMAGE_BAD_PTX,
    LW_IMAGE_NEWER_PTX, /* faults in a text of a version that is newer than those that are known */
    LW_IMAGE_UNLINKED,  /* texts do not fit together: something is defined twice or nowhere */
    LW_IMAGE_TOO_MANY,
} lw_image_result;

/* What diagnostics of a module mean. */
lw_image_result lw_image_faults(const lw_diags *diags);

/* ---- image.c --------------------------------------------------------------------------------------------------- */

typedef struct lw_bytes {
    const char *at;
    size_t size;
} lw_bytes;

typedef struct lw_code_image {
    const lw_arch *arch;
    lw_module_text *texts; /* each with its name behind it, in one piece of memory */
    uint32_t count, room;
    lw_text why;        /* "error: …": of a result that is none of OK and NO_MEMORY */
    lw_text notes;      /* what was left out */
    uint32_t registers; /* no more than so many a thread, as a linker was asked for; 0: as many as it takes */
} lw_code_image;

/* Bytes of which only the caller knows the end: a text ends with its NUL, all else says how large it is. */
#define LW_IMAGE_UNBOUNDED SIZE_MAX

/* Adds the PTX of an image: of a fatbin that which suits the device best. `name` is what diagnostics will call it. */
lw_image_result lw_image_read(lw_code_image *image, const char *name, lw_bytes bytes);
void lw_image_keep(lw_code_image *image, uint32_t count); /* the first ones only */
void lw_image_free(lw_code_image *image);
/* Whether the bytes, the first of a file, are no text, so that the first NUL is not their end. */
bool lw_image_is_binary(lw_bytes bytes);
/* file.c: a file with a NUL behind it, which the caller frees; NULL where it cannot be read. */
char *lw_image_file(const char *path, size_t *size, bool *no_memory);

/* device_runtime.c: adds what the texts name of CUDA's device runtime, unless a linker has. */
lw_image_result lw_image_add_runtime(lw_code_image *image);

/* For readers of containers. */
bool lw_image_begins(lw_bytes bytes, const char *magic, size_t size); /* reads no byte behind the first that differs */
lw_image_result lw_image_add(lw_code_image *image, const char *name, lw_bytes text);
/* Makes a note of a part that has no PTX for this device: it does not matter as long as nobody misses it. */
lw_image_result lw_image_leave_out(lw_code_image *image, lw_image_result result);
lw_image_result lw_image_damaged(lw_code_image *image, const char *name, const char *what);

/* ---- fatbin.c, archive.c, unpack.c ------------------------------------------------------------------------------- */

bool lw_fatbin_is(lw_bytes bytes);
/* All containers, one behind the other; of unbounded bytes the first. */
lw_image_result lw_fatbin_read(lw_code_image *image, const char *name, lw_bytes bytes);
bool lw_archive_is(lw_bytes bytes);
lw_image_result lw_archive_read(lw_code_image *image, const char *name, lw_bytes bytes);
bool lw_elf_is(lw_bytes bytes); /* an ELF file, of whatever machine */
lw_image_result lw_elf_read(lw_code_image *image, const char *name, lw_bytes bytes);

typedef enum lw_packing { LW_PACKED_LZ4, LW_PACKED_ZSTD } lw_packing;
/* What was packed, `size` bytes, which the caller frees; NULL: *why says why not, or is NULL where there is no memory.
 */
char *lw_unpack(lw_packing packing, lw_bytes packed, uint64_t size, const char **why);

/* ---- bundle.c -------------------------------------------------------------------------------------------------- */

bool lw_bundle_is(lw_bytes bytes);
void lw_bundle_begin(lw_text *bundle, uint32_t count, uint32_t registers);
void lw_bundle_add(lw_text *bundle, const char *name, lw_bytes text);
lw_image_result lw_bundle_read(lw_code_image *image, const char *name, lw_bytes bytes);

/* ---- linker.c -------------------------------------------------------------------------------------------------- */

typedef struct lw_linker {
    lw_code_image inputs; /* all that were taken; `arch` and `registers` are the caller's to set */
    lw_text error, info;  /* all that was said so far */
    void (*render)(lw_text *out, lw_source *source, const lw_diag *diag); /* NULL: as `lanewise check` has it */
} lw_linker;

/* Checks each text of an image by itself, and takes them if all are right. */
lw_image_result lw_linker_add(lw_linker *linker, const char *name, lw_bytes bytes);
/* Says why an input of that kind is not even looked at. */
lw_image_result lw_linker_refuse(lw_linker *linker, const char *name, const char *kind);
/* What was taken as a bundle, which is the caller's; complete: if all that is used in it is defined in it. */
lw_image_result lw_linker_bundle(const lw_linker *linker, lw_text *bundle);
lw_image_result lw_linker_complete(lw_linker *linker, lw_text *bundle);
void lw_linker_free(lw_linker *linker);

#endif
