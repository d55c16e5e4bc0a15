/* memory.c: the calls on device memory. Copies hold the list of allocations, not the lock, so they run beside each
 * other. */
#include "run/trap.h"
#include "session/session.h"

static lw_status bad_range(lw_context *context, const lw_ranges *ranges, uint64_t address, uint64_t size) {
    lw_text where = {0};
    lw_ranges_describe(&where, ranges, &context->memory, address, size);
    lw_status status = lw_fail(context, LW_BAD_ARGUMENT, LW_D_memory_range, (unsigned long long)size,
                               (unsigned long long)address, where.at ? where.at : "");
    lw_text_free(&where);
    return status;
}

/* Host place of a stretch that is inside of one allocation. It stays mapped whatever is freed meanwhile. */
static lw_status find_host(lw_context *context, uint64_t address, uint64_t size, char **host) {
    lw_ranges *ranges = lw_memory_hold(&context->memory);
    const lw_range *range = lw_ranges_find(ranges, address, size);
    lw_status status = LW_OK;
    if (range) *host = range->host + (address - range->base);
    else status = bad_range(context, ranges, address, size);
    lw_ranges_drop(ranges);
    return status;
}

lw_status lw_fail_full(lw_context *context, const char *variable, uint64_t size) {
    pthread_mutex_lock(&context->memory.lock);
    const unsigned long long used = context->memory.used, limit = context->memory.limit, bytes = size;
    pthread_mutex_unlock(&context->memory.lock);
    return variable ? lw_fail(context, LW_NO_MEMORY, LW_D_variable_full, variable, bytes, used, limit)
                    : lw_fail(context, LW_NO_MEMORY, LW_D_memory_full, bytes, used, limit);
}

lw_status lw_memory_new(lw_context *context, uint64_t size, uint64_t *address) {
    if (!context) return LW_BAD_ARGUMENT;
    if (!address) return lw_fail_null(context, "address");
    if (!size) return lw_fail(context, LW_BAD_ARGUMENT, LW_D_memory_zero);
    if (lw_memory_take(&context->memory, size, address)) return LW_OK;
    return lw_fail_full(context, NULL, size);
}

static bool is_variable(lw_context *context, uint64_t address) {
    pthread_mutex_lock(&context->memory.lock);
    const lw_range *range = lw_ranges_find(context->memory.ranges, address, 1);
    bool found = range && range->base == address && range->owned;
    pthread_mutex_unlock(&context->memory.lock);
    return found;
}

lw_status lw_memory_free(lw_context *context, uint64_t address) {
    if (!context) return LW_BAD_ARGUMENT;
    if (is_variable(context, address))
        return lw_fail(context, LW_BAD_ARGUMENT, LW_D_memory_owned, (unsigned long long)address);
    if (lw_memory_give(&context->memory, address)) return LW_OK;
    uint64_t base, size;
    if (lw_memory_range(context, address, &base, &size) == LW_OK && base == address) return lw_fail_memory(context);
    return lw_fail(context, LW_BAD_ARGUMENT, LW_D_memory_base, (unsigned long long)address);
}

lw_status lw_memory_write(lw_context *context, uint64_t address, const void *from, uint64_t size) {
    char *host;
    if (!context) return LW_BAD_ARGUMENT;
    if (!size) return LW_OK;
    if (!from) return lw_fail_null(context, "from");
    lw_status status = find_host(context, address, size, &host);
    if (status == LW_OK) memmove(host, from, size); /* the host may see device memory, too */
    return status;
}

lw_status lw_memory_read(lw_context *context, uint64_t address, void *to, uint64_t size) {
    char *host;
    if (!context) return LW_BAD_ARGUMENT;
    if (!size) return LW_OK;
    if (!to) return lw_fail_null(context, "to");
    lw_status status = find_host(context, address, size, &host);
    if (status == LW_OK) memmove(to, host, size);
    return status;
}

lw_status lw_memory_copy(lw_context *context, uint64_t to, uint64_t from, uint64_t size) {
    char *host_to, *host_from;
    if (!context) return LW_BAD_ARGUMENT;
    if (!size) return LW_OK;
    lw_status status = find_host(context, from, size, &host_from);
    if (status == LW_OK) status = find_host(context, to, size, &host_to);
    if (status == LW_OK) memmove(host_to, host_from, size);
    return status;
}

lw_status lw_memory_fill(lw_context *context, uint64_t address, uint64_t value, uint32_t width, uint64_t count) {
    char *host;
    uint64_t size;
    if (!context) return LW_BAD_ARGUMENT;
    if (width != 1 && width != 2 && width != 4 && width != 8)
        return lw_fail(context, LW_BAD_ARGUMENT, LW_D_memory_width, width);
    if (!count) return LW_OK;
    if (__builtin_mul_overflow(count, width, &size)) size = UINT64_MAX; /* in no allocation */
    lw_status status = find_host(context, address, size, &host);
    if (status != LW_OK) return status;
    if (width == 1) memset(host, (int)(value & 0xff), size);
    else
        for (uint64_t i = 0; i < count; i++) memcpy(host + i * width, &value, width); /* the low bytes come first */
    return LW_OK;
}

lw_status lw_memory_range(lw_context *context, uint64_t address, uint64_t *base, uint64_t *size) {
    if (!context) return LW_BAD_ARGUMENT;
    lw_ranges *ranges = lw_memory_hold(&context->memory);
    const lw_range *range = lw_ranges_find(ranges, address, 1);
    if (range && base) *base = range->base;
    if (range && size) *size = range->size;
    lw_ranges_drop(ranges);
    return range ? LW_OK : lw_fail(context, LW_NOT_FOUND, LW_D_memory_none, (unsigned long long)address);
}
