/* arch.c: the devices that Lanewise can seem to be. */
#include "shim/image/image.h"

#include <stdio.h>

enum { DEFAULT = 90, RESERVED_SINCE = 80, CLUSTERS_SINCE = 90 };

static const lw_arch archs[] = {
#define ARCH(number, threads, blocks, shared, block) \
    {number, \
     threads, \
     blocks, \
     (shared) << 10, \
     (block) << 10, \
     (number) >= RESERVED_SINCE ? 1 << 10 : 0, \
     (number) >= CLUSTERS_SINCE},
#include "shim/image/archs.def"
#undef ARCH
};

static const lw_arch *find(unsigned number) {
    for (size_t i = 0; i < LW_COUNT(archs); i++)
        if (archs[i].number == number) return &archs[i];
    return NULL;
}

const lw_arch *lw_arch_default(void) { return find(DEFAULT); }

const lw_arch *lw_arch_find(const char *name) {
    unsigned number;
    int read = 0;
    if (sscanf(name, "sm_%3u%n", &number, &read) != 1 && sscanf(name, "compute_%3u%n", &number, &read) != 1)
        return NULL;
    if (name[read] == 'a' || name[read] == 'f') read++;
    return name[read] ? NULL : find(number);
}

void lw_arch_names(lw_text *out) {
    for (size_t i = 0; i < LW_COUNT(archs); i++) lw_text_printf(out, "%ssm_%u", i ? " " : "", archs[i].number);
}

/* sm_110 was called sm_101 before PTX 9.0. */
static unsigned renamed(unsigned number) { return number == 101 ? 110 : number; }

/* What has a suffix runs on its own device, or on later ones of its family, which share the first digits (manual
 * section 11.1.2). */
bool lw_arch_takes(const lw_arch *arch, unsigned target, char suffix) {
    const unsigned number = suffix ? renamed(target) : target;
    if (suffix == 'a') return number == arch->number;
    return number <= arch->number && (suffix != 'f' || number / 10 == arch->number / 10);
}

static bool check(const lw_arch *arch, const lw_module_ptx *text, lw_diags *diags) {
    if (lw_arch_takes(arch, text->target, text->target_suffix)) return true;
    const char suffix[] = {text->target_suffix, 0};
    lw_diag *diag = lw_diag_add(diags, LW_D_target_beyond, text->target_place, text->target, suffix, arch->number);
    const lw_arch *other = NULL;
    for (size_t i = 0; i < LW_COUNT(archs) && !other; i++)
        if (lw_arch_takes(&archs[i], text->target, text->target_suffix)) other = &archs[i];
    diag->fix = other ? lw_arena_printf(
                            diags->arena,
                            "compile it for compute_%u, or set LANEWISE_ARCH=sm_%u, which is a device that takes it",
                            arch->number, other->number)
                      : lw_arena_printf(diags->arena, "compile it for compute_%u", arch->number);
    return false;
}

bool lw_arch_check(const lw_arch *arch, const lw_module_ptx *module, lw_diags *diags) {
    bool fits = true;
    for (uint32_t i = 0; i < module->linked_count; i++) fits &= check(arch, module->linked[i], diags);
    return module->linked_count ? fits : check(arch, module, diags);
}
