/* runtime.c: what a launch needs of the device's runtime: a place for what it prints, the context's heap, and memory by
 * which all CTAs of a grid can wait for each other. */
#include "session/session.h"

#include <stdio.h>

static const uint64_t print_default = (uint64_t)64 << 20, heap_default = (uint64_t)8 << 20;

/* Two words, as the headers of cooperative groups declare them, a size and a barrier that begins with 0; and two for
 * functions that do the same (shim/image/device_runtime.c). */
enum { WORKSPACE_BYTES = 16 };

lw_status lw_runtime_begin(lw_context *context, const lw_launch_config *config, lw_grid *grid, lw_printer *printer) {
    const uint64_t bytes = config->heap_bytes ? config->heap_bytes : heap_default;
    if (grid->program->has_heap && !lw_heap_make(&context->heap, &context->memory, bytes))
        return lw_fail(context, LW_NO_MEMORY, LW_D_heap_size, (unsigned long long)bytes);
    grid->heap = &context->heap;
    if (grid->cooperative && !lw_memory_take(&context->memory, WORKSPACE_BYTES, &grid->workspace))
        return lw_fail_memory(context);
    if (!grid->program->prints) return LW_OK;
    if (lw_printer_init(printer, config->print_limit ? config->print_limit : print_default)) {
        grid->printer = printer;
        return LW_OK;
    }
    if (grid->workspace) lw_memory_give(&context->memory, grid->workspace);
    return lw_fail_memory(context);
}

static void print_to_output(void *user, const char *text, size_t size) {
    (void)user;
    fwrite(text, 1, size, stdout);
}

static void end_printer(const lw_launch_config *config, lw_grid *grid, lw_float_mode *callers) {
    lw_float_leave(callers);
    lw_printer_flush(grid->printer, config->print ? config->print : print_to_output, config->user);
    if (!config->print) fflush(stdout);
    lw_float_enter(callers);
    lw_printer_end(grid->printer);
}

void lw_runtime_end(lw_context *context, const lw_launch_config *config, lw_grid *grid, lw_float_mode *callers) {
    if (grid->workspace) lw_memory_give(&context->memory, grid->workspace);
    if (grid->printer) end_printer(config, grid, callers);
}
