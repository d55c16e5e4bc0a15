/* module.c: questions to modules and kernels: diagnostics, kernels, variables, parameters. */
#include "session/session.h"

/* ---- Diagnostics ----------------------------------------------------------------------------------------------- */

/* Asking does not change a module, but diagnostics may be added meanwhile. */
static void lock(const lw_module *module) { pthread_mutex_lock(&((lw_module *)module)->lock); }
static void unlock(const lw_module *module) { pthread_mutex_unlock(&((lw_module *)module)->lock); }

size_t lw_module_diagnostic_count(const lw_module *module) {
    size_t count = 0;
    if (!module) return 0;
    lock(module);
    for (const lw_diag *diag = module->diags.first; diag; diag = diag->next) count++;
    unlock(module);
    return count;
}

static const lw_diag *find(const lw_module *module, size_t index) {
    const lw_diag *diag = module->diags.first;
    while (diag && index--) diag = diag->next;
    return diag;
}

const char *lw_module_diagnostic_file(const lw_module *module, size_t index) {
    if (!module) return "";
    lock(module);
    const lw_diag *diag = find(module, index);
    const char *name = diag ? lw_source_part_of(module->diags.source, diag->place.at)->name : "";
    unlock(module);
    return name;
}

lw_diagnostic lw_module_diagnostic(const lw_module *module, size_t index) {
    lw_diagnostic result = {.message = ""};
    if (!module) return result;
    lock(module);
    const lw_diag *diag = find(module, index);
    if (diag) {
        result = (lw_diagnostic){.number = lw_diag_rows[diag->id].number,
                                 .severity = (int)diag->severity,
                                 .size = diag->place.size,
                                 .message = diag->message,
                                 .fix = diag->fix};
        lw_source_find(module->diags.source, diag->place.at, &result.line, &result.column);
    }
    unlock(module);
    return result;
}

static const char *keep_text(lw_module *module, const lw_text *text) {
    jmp_buf out;
    if (!LW_ARENA_TRY(&module->arena, out)) return NULL;
    return lw_arena_text(&module->arena, text->at, text->size);
}

static const char *render(lw_module *module, bool colour) {
    lw_text text = {0};
    for (const lw_diag *diag = module->diags.first; diag; diag = diag->next)
        lw_diag_render(&text, &module->source, diag, colour);
    const char *kept = text.failed ? NULL : text.size ? keep_text(module, &text) : "";
    module->arena.no_memory = NULL;
    lw_text_free(&text);
    return kept;
}

const char *lw_module_diagnostics(lw_module *module, bool colour) {
    if (!module) return "";
    lock(module);
    uint32_t errors = module->diags.errors, warnings = module->diags.warnings;
    if (!module->rendered[colour].text || module->rendered[colour].errors != errors ||
        module->rendered[colour].warnings != warnings) {
        const char *text = render(module, colour);
        if (text) {
            module->rendered[colour].text = text;
            module->rendered[colour].errors = errors;
            module->rendered[colour].warnings = warnings;
        }
    }
    const char *text = module->rendered[colour].text;
    unlock(module);
    return text ? text : "the host is out of memory\n";
}

/* ---- Kernels and variables ------------------------------------------------------------------------------------- */

size_t lw_module_kernel_count(const lw_module *module) { return module ? module->kernel_count : 0; }

const char *lw_module_kernel_name(const lw_module *module, size_t index) {
    return index < lw_module_kernel_count(module) ? module->kernels[index].info.name : NULL;
}

lw_status lw_module_global(lw_module *module, const char *name, uint64_t *address, uint64_t *size) {
    if (!module) return LW_BAD_ARGUMENT;
    if (!name) return lw_fail_null(module->context, "name");
    if (!module->good) return lw_fail(module->context, LW_NOT_FOUND, LW_D_bad_module);
    if (lw_variables_find(module, name, address, size)) return LW_OK;
    return lw_fail(module->context, LW_NOT_FOUND, LW_D_no_such_variable, name);
}

lw_kernel_info lw_kernel_get_info(const lw_kernel *kernel) {
    return kernel ? kernel->info : (lw_kernel_info){.name = ""};
}

lw_cluster_info lw_kernel_get_clusters(const lw_kernel *kernel) {
    return kernel ? kernel->clusters : (lw_cluster_info){0};
}

lw_param_info lw_kernel_param(const lw_kernel *kernel, uint32_t index) {
    if (!kernel || index >= kernel->info.param_count) return (lw_param_info){.name = "", .type = ""};
    return kernel->params[index];
}

/* ---- What a compiler made it of --------------------------------------------------------------------------------- */

static bool find_locs(lw_module *module) {
    jmp_buf out;
    if (!LW_ARENA_TRY(&module->arena, out)) return false;
    lw_locs found = {0};
    if (module->language->locs && module->checked) module->language->locs(&module->arena, module->checked, &found);
    module->locs = found;
    return true;
}

const lw_locs *lw_module_locs(lw_module *module) {
    lock(module);
    if (!module->has_locs) module->has_locs = find_locs(module);
    module->arena.no_memory = NULL;
    const bool found = module->has_locs;
    unlock(module);
    return found ? &module->locs : NULL;
}

/* ---- Tables ---------------------------------------------------------------------------------------------------- */

const char *lw_explain_diagnostic(uint32_t number, const char **title) {
    const lw_diag_row *row = lw_diag_find(number);
    if (title) *title = row ? row->format : NULL;
    return row ? row->explanation : NULL;
}

bool lw_cpu_has(const char *name) {
    for (const lw_level *const *level = lw_levels; name && *level; level++)
        if (!strcmp((*level)->name, name)) return lw_level_has(*level);
    return false;
}

const char *const *lw_cpu_levels(void) {
    static const char *const names[] = {
#define LEVEL(name, ...) LW_WHERE_BUILT(name, #name, )
#include "run/levels.def"
        NULL,
    };
    return names;
}
