/* nvjitlink.c: libnvJitLink.so over our linker. What it calls a cubin is a bundle of PTX (shim/image), which our driver
 * loads. LTO-IR has no PTX in it, and is refused. */
#include "session/session.h"
#include "shim/image/image.h"
#include "shim/nvjitlink/abi.h"

#include <stdio.h>
#include <stdlib.h>

struct nvJitLink {
    lw_linker linker;
    bool lto, ptx, is_virtual; /* … is the architecture */
    bool is_complete;
    unsigned inputs; /* for those that have no name */
    lw_text bundle;
};

/* ---- Options --------------------------------------------------------------------------------------------------- */

static bool is_known(const char *option) {
    static const char *const known[] = {
#define OPTION(text) text,
#include "shim/nvjitlink/options.def"
#undef OPTION
    };
    for (size_t i = 0; i < LW_COUNT(known); i++) {
        const size_t size = strlen(known[i]);
        if (known[i][size - 1] == '=' ? !strncmp(option, known[i], size) : !strcmp(option, known[i])) return true;
    }
    return false;
}

static nvJitLinkResult refuse(nvJitLinkHandle link, nvJitLinkResult result, const char *says, const char *what) {
    lw_text_say(&link->linker.error, "error: %s%s%.200s\n", says, what ? ": " : "", what ? what : "");
    return result;
}

static nvJitLinkResult take_option(nvJitLinkHandle link, const char *option) {
    if (!option) return NVJITLINK_ERROR_NULL_INPUT;
    if (!is_known(option)) return refuse(link, NVJITLINK_ERROR_UNRECOGNIZED_OPTION, "unrecognized option", option);
    if (!strcmp(option, "-lto")) link->lto = true;
    if (!strcmp(option, "-ptx")) link->ptx = true;
    if (!strncmp(option, "-maxrregcount=", 14))
        link->linker.inputs.registers = (uint32_t)strtoul(option + 14, NULL, 10);
    if (strncmp(option, "-arch=", 6)) return NVJITLINK_SUCCESS;
    link->linker.inputs.arch = lw_arch_find(option + 6);
    link->is_virtual = !strncmp(option + 6, "compute_", 8);
    return link->linker.inputs.arch
               ? NVJITLINK_SUCCESS
               : refuse(link, NVJITLINK_ERROR_UNRECOGNIZED_ARCH, "unrecognized architecture", option);
}

/* The handle is there also where options are wrong, since its log says so. */
nvJitLinkResult nvJitLinkCreate(nvJitLinkHandle *handle, uint32_t count, const char *const *options) {
    if (!handle || !options) return NVJITLINK_ERROR_NULL_INPUT;
    nvJitLinkHandle link = *handle = calloc(1, sizeof *link);
    if (!link) return NVJITLINK_ERROR_INTERNAL;
    nvJitLinkResult result = NVJITLINK_SUCCESS;
    for (uint32_t i = 0; i < count && !result; i++) result = take_option(link, options[i]);
    if (result) return result;
    if (!link->linker.inputs.arch) return refuse(link, NVJITLINK_ERROR_MISSING_ARCH, "-arch=sm_NN is missing", NULL);
    if (link->ptx && !link->lto)
        return refuse(link, NVJITLINK_ERROR_INCOMPATIBLE_OPTIONS, "-ptx goes with -lto only", NULL);
    if (link->is_virtual && !link->ptx)
        return refuse(link, NVJITLINK_ERROR_INCOMPATIBLE_OPTIONS, "a virtual architecture goes with -ptx only", NULL);
    return NVJITLINK_SUCCESS;
}

nvJitLinkResult nvJitLinkDestroy(nvJitLinkHandle *handle) {
    if (!handle || !*handle) return NVJITLINK_ERROR_NULL_INPUT;
    lw_linker_free(&(*handle)->linker);
    lw_text_free(&(*handle)->bundle);
    free(*handle);
    *handle = NULL;
    return NVJITLINK_SUCCESS;
}

/* ---- Inputs ---------------------------------------------------------------------------------------------------- */

/* What has no PTX for this device is none of the things that the interface has a name for, but for fatbins. */
static nvJitLinkResult result_of(lw_image_result result, nvJitLinkInputType type) {
    switch (result) {
    case LW_IMAGE_OK: return NVJITLINK_SUCCESS;
    case LW_IMAGE_NO_BINARY:
        return type == NVJITLINK_INPUT_CUBIN ? NVJITLINK_ERROR_INVALID_INPUT : NVJITLINK_ERROR_MISSING_FATBIN;
    case LW_IMAGE_BAD_PTX:
    case LW_IMAGE_NEWER_PTX: return NVJITLINK_ERROR_PTX_COMPILE;
    case LW_IMAGE_UNKNOWN:
        return type == NVJITLINK_INPUT_PTX   ? NVJITLINK_ERROR_PTX_COMPILE
               : type == NVJITLINK_INPUT_ANY ? NVJITLINK_ERROR_UNRECOGNIZED_INPUT
                                             : NVJITLINK_ERROR_INVALID_INPUT;
    default: return NVJITLINK_ERROR_INTERNAL;
    }
}

static bool is_of(nvJitLinkInputType type, lw_bytes bytes) {
    switch (type) {
    case NVJITLINK_INPUT_CUBIN: return lw_bundle_is(bytes) || lw_elf_is(bytes);
    case NVJITLINK_INPUT_PTX: return !lw_image_is_binary(bytes);
    case NVJITLINK_INPUT_LTOIR: return true; /* whatever it looks like */
    case NVJITLINK_INPUT_FATBIN: return lw_fatbin_is(bytes);
    case NVJITLINK_INPUT_OBJECT: return lw_elf_is(bytes);
    case NVJITLINK_INPUT_LIBRARY: return lw_archive_is(bytes);
    case NVJITLINK_INPUT_ANY: return true;
    default: return false;
    }
}

static nvJitLinkResult add(nvJitLinkHandle link, nvJitLinkInputType type, const char *name, lw_bytes bytes) {
    LW_OWN_FLOAT_MODE(callers);
    if (!is_of(type, bytes)) return refuse(link, NVJITLINK_ERROR_INCORRECT_INPUT_TYPE, "not what its type says", name);
    if (type != NVJITLINK_INPUT_LTOIR) return result_of(lw_linker_add(&link->linker, name, bytes), type);
    lw_linker_refuse(&link->linker, name, "LTO-IR");
    return link->lto ? NVJITLINK_ERROR_NVVM_COMPILE : NVJITLINK_ERROR_LTO_NOT_ENABLED;
}

nvJitLinkResult nvJitLinkAddData(nvJitLinkHandle link, nvJitLinkInputType type, const void *data, size_t size,
                                 const char *name) {
    char numbered[32];
    if (!link || !data || !size) return NVJITLINK_ERROR_NULL_INPUT;
    if (link->is_complete || !link->linker.inputs.arch) return NVJITLINK_ERROR_INTERNAL;
    snprintf(numbered, sizeof numbered, "<input %u>", ++link->inputs);
    return add(link, type, name ? name : numbered, (lw_bytes){data, size});
}

nvJitLinkResult nvJitLinkAddFile(nvJitLinkHandle link, nvJitLinkInputType type, const char *path) {
    bool no_memory = false;
    size_t size;
    if (!link || !path) return NVJITLINK_ERROR_NULL_INPUT;
    if (link->is_complete || !link->linker.inputs.arch) return NVJITLINK_ERROR_INTERNAL;
    char *data = lw_image_file(path, &size, &no_memory);
    if (!data) return refuse(link, NVJITLINK_ERROR_INVALID_INPUT, no_memory ? "no memory for" : "cannot be read", path);
    nvJitLinkResult result = add(link, type, path, (lw_bytes){data, size});
    free(data);
    return result;
}

/* ---- What it gives --------------------------------------------------------------------------------------------- */

nvJitLinkResult nvJitLinkComplete(nvJitLinkHandle link) {
    LW_OWN_FLOAT_MODE(callers);
    if (!link) return NVJITLINK_ERROR_NULL_INPUT;
    if (link->is_complete || !link->linker.inputs.arch) return NVJITLINK_ERROR_INTERNAL;
    if (!link->linker.inputs.count)
        return refuse(link, NVJITLINK_ERROR_INVALID_INPUT, "there is nothing to link", NULL);
    if (link->ptx) return refuse(link, NVJITLINK_ERROR_INCORRECT_INPUT_TYPE, "-ptx is for inputs of LTO-IR only", NULL);
    link->is_complete = true;
    return result_of(lw_linker_complete(&link->linker, &link->bundle), NVJITLINK_INPUT_PTX);
}

nvJitLinkResult nvJitLinkGetLinkedCubinSize(nvJitLinkHandle link, size_t *size) {
    if (!link || !size) return NVJITLINK_ERROR_NULL_INPUT;
    if (!link->bundle.at) return NVJITLINK_ERROR_INTERNAL;
    *size = link->bundle.size;
    return NVJITLINK_SUCCESS;
}

nvJitLinkResult nvJitLinkGetLinkedCubin(nvJitLinkHandle link, void *cubin) {
    if (!link || !cubin) return NVJITLINK_ERROR_NULL_INPUT;
    if (!link->bundle.at) return NVJITLINK_ERROR_INTERNAL;
    memcpy(cubin, link->bundle.at, link->bundle.size);
    return NVJITLINK_SUCCESS;
}

/* Linked PTX is what LTO-IR becomes. */
nvJitLinkResult nvJitLinkGetLinkedPtxSize(nvJitLinkHandle link, size_t *size) {
    return link && size ? NVJITLINK_ERROR_INVALID_INPUT : NVJITLINK_ERROR_NULL_INPUT;
}

nvJitLinkResult nvJitLinkGetLinkedPtx(nvJitLinkHandle link, char *ptx) {
    return link && ptx ? NVJITLINK_ERROR_INVALID_INPUT : NVJITLINK_ERROR_NULL_INPUT;
}

/* ---- Logs ------------------------------------------------------------------------------------------------------ */

/* With its NUL; nothing where nothing was said. */
static nvJitLinkResult log_size(const lw_text *log, size_t *size) {
    if (!size) return NVJITLINK_ERROR_NULL_INPUT;
    *size = log->size ? log->size + 1 : 0;
    return NVJITLINK_SUCCESS;
}

static nvJitLinkResult get_log(const lw_text *log, char *to) {
    if (!to) return NVJITLINK_ERROR_NULL_INPUT;
    if (log->size) memcpy(to, log->at, log->size + 1);
    return NVJITLINK_SUCCESS;
}

nvJitLinkResult nvJitLinkGetErrorLogSize(nvJitLinkHandle link, size_t *size) {
    return link ? log_size(&link->linker.error, size) : NVJITLINK_ERROR_NULL_INPUT;
}

nvJitLinkResult nvJitLinkGetErrorLog(nvJitLinkHandle link, char *log) {
    return link ? get_log(&link->linker.error, log) : NVJITLINK_ERROR_NULL_INPUT;
}

nvJitLinkResult nvJitLinkGetInfoLogSize(nvJitLinkHandle link, size_t *size) {
    return link ? log_size(&link->linker.info, size) : NVJITLINK_ERROR_NULL_INPUT;
}

nvJitLinkResult nvJitLinkGetInfoLog(nvJitLinkHandle link, char *log) {
    return link ? get_log(&link->linker.info, log) : NVJITLINK_ERROR_NULL_INPUT;
}

/* The first, whatever the file is called: programs take LTO-IR from later ones for granted, and the driver's linker,
 * with PTX, where there is none. */
nvJitLinkResult nvJitLinkVersion(unsigned *major, unsigned *minor) {
    if (!major || !minor) return NVJITLINK_ERROR_NULL_INPUT;
    *major = 12;
    *minor = 0;
    return NVJITLINK_SUCCESS;
}

/* ---- The same under the names that headers give them ----------------------------------------------------------- */

#define SAME(name, version, parameters) \
    extern __typeof__(nvJitLink##name) __nvJitLink##name##_##version \
        __attribute__((alias("nvJitLink" #name), visibility("default")));
#define VERSION(version) ENTRIES(SAME, version)
#include "shim/nvjitlink/versions.def"
