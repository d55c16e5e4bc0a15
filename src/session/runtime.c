/* runtime.c: what a launch needs of the device's runtime: a place for what it prints, and the context's heap. */
#include "session/session.h"

#include <stdio.h>

static const uint64_t print_default = (uint64_t)64 << 20, heap_default = (uint64_t)8 << 20;

lw_status lw_runtime_begin(lw_context *context, const lw_launch_config *config, lw_grid *grid, lw_printer *printer) {
    const uint64_t bytes = config->heap_bytes ? config->heap_bytes : heap_default;
    if (grid->program->has_heap && !lw_heap_make(&context->heap, &context->memory, bytes))
        return lw_fail(context, LW_NO_MEMORY, LW_D_heap_size, (unsigned long long)bytes);
    grid->heap = &context->heap;
    if (!grid->program->prints) return LW_OK;
    if (!lw_printer_init(printer, config->print_limit ? config->print_limit : print_default))
        return lw_fail_memory(context);
    grid->printer = printer;
    return LW_OK;
}

static void print_to_output(void *user, const char *text, size_t size) {
    (void)user;
    fwrite(text, 1, size, stdout);
}

void lw_runtime_end(const lw_launch_config *config, lw_grid *grid, lw_float_mode *callers) {
    if (!grid->printer) return;
    lw_float_leave(callers);
    lw_printer_flush(grid->printer, config->print ? config->print : print_to_output, config->user);
    if (!config->print) fflush(stdout);
    lw_float_enter(callers);
    lw_printer_end(grid->printer);
}
