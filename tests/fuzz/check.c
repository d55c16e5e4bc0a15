/* Any bytes given as PTX end in a module or in diagnostics that point into the text. */
#include "lanewise/lanewise.h"
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MUST(condition) \
    do { \
        if (!(condition)) fprintf(stderr, "line %d: not so: %s\n", __LINE__, #condition), abort(); \
    } while (0)

static uint32_t lines_of(const uint8_t *data, size_t size) {
    uint32_t lines = 1;
    for (size_t i = 0; i < size; i++) lines += data[i] == '\n';
    return lines;
}

static size_t errors_of(lw_module *module, uint32_t lines) {
    size_t errors = 0;
    for (size_t i = 0; i < lw_module_diagnostic_count(module); i++) {
        lw_diagnostic diagnostic = lw_module_diagnostic(module, i);
        const char *title;
        errors += diagnostic.severity == 2;
        MUST(diagnostic.line >= 1 && diagnostic.line <= lines && diagnostic.column >= 1);
        MUST(diagnostic.message[0] && !strchr(diagnostic.message, '\n'));
        MUST(lw_explain_diagnostic(diagnostic.number, &title));
    }
    return errors;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    lw_context *context;
    lw_module *module;
    MUST(lw_context_new(&(lw_options){.threads = 1, .memory_limit = 64u << 20}, &context) == LW_OK);
    lw_status status = lw_module_new(context, "input.ptx", (const char *)data, size, &module);
    MUST(status == LW_OK || status == LW_BAD_SOURCE || status == LW_NO_MEMORY);
    if (status != LW_NO_MEMORY) {
        uint32_t lines = lines_of(data, size);
        MUST((errors_of(module, lines) != 0) == (status == LW_BAD_SOURCE));
        MUST(lw_module_diagnostics(module, true));
        for (size_t i = 0; status == LW_OK && i < lw_module_kernel_count(module); i++) {
            lw_kernel *kernel;
            lw_status made = lw_module_kernel(module, lw_module_kernel_name(module, i), &kernel);
            MUST(made == LW_OK || made == LW_BAD_SOURCE || made == LW_NO_MEMORY);
            if (made == LW_BAD_SOURCE) MUST(errors_of(module, lines) != 0);
        }
    }
    lw_context_free(context);
    return 0;
}
