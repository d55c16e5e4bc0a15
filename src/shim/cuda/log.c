/* log.c: the logs that programs give room for when they load and link modules, and what goes into them. */
#include "shim/cuda/driver.h"

void lw_cu_read_options(lw_cu_logs *to, unsigned count, const CUjit_option *options, void **values) {
    for (unsigned i = 0; i < count; i++) switch (options[i]) {
        case CU_JIT_ERROR_LOG_BUFFER: to->error.buffer = values[i]; break;
        case CU_JIT_INFO_LOG_BUFFER: to->info.buffer = values[i]; break;
        case CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES:
            to->error.room = (unsigned)(uintptr_t)values[i];
            to->error.written = &values[i];
            break;
        case CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES:
            to->info.room = (unsigned)(uintptr_t)values[i];
            to->info.written = &values[i];
            break;
        case CU_JIT_MAX_REGISTERS: to->registers = (unsigned)(uintptr_t)values[i]; break;
        case CU_JIT_WALL_TIME: to->seconds = &values[i]; break;
        default: break; /* the others steer machine code that is never made */
        }
}

/* As much as fits, with a NUL behind it. */
void lw_cu_write_log(const lw_cu_log *to, const char *text) {
    size_t size = strlen(text);
    if (!to->buffer || !to->room) {
        if (to->written) *to->written = NULL;
        return;
    }
    if (size >= to->room) size = to->room - 1;
    memcpy(to->buffer, text, size);
    to->buffer[size] = 0;
    if (to->written) *to->written = (void *)(uintptr_t)size;
}

void lw_cu_write_seconds(const lw_cu_logs *to, double seconds) {
    float value = (float)seconds * 1000;
    if (to->seconds) memcpy(to->seconds, &value, sizeof value);
}
