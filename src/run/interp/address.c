/* address.c: addresses lane by lane: windows, bounds, alignment, and the trap that names what went wrong. */
#include "run/interp/address.h"

/* An address that is in no allocation stands for an element that the array does not have. */
static uint64_t row_address(const lw_gang *gang, const lw_op *op, uint32_t lane) {
    lw_memory_form form = lw_memory_unpack(op->c);
    uint64_t element = lw_row_element(gang, op, lane), base = lw_row_base(gang, op, lane);
    if (element >= lw_row_length(op)) return 0;
    uint64_t address = base + (element << form.size);
    const lw_range *range = lw_ranges_find(gang->cta->grid->ranges, address, 1u << form.size);
    return range && base - range->base > range->size ? 0 : address; /* that array has its own allocation */
}

uint64_t lw_address_of(const lw_gang *gang, const lw_op *op, uint32_t lane) {
    lw_memory_form form = lw_memory_unpack(op->c);
    uint64_t address = op->imm;
    if (form.address == LW_ADDRESS_ROW) return row_address(gang, op, lane);
    if (form.address == 1) address = (uint32_t)(LW_SLOT(gang, uint32_t, op->a)[lane] + op->imm);
    else if (form.address == 2) address += LW_SLOT(gang, uint64_t, op->a)[lane];
    return form.frame ? address + gang->frame->local_base : address;
}

static char *host_within(char *host, uint64_t size, uint64_t offset, uint32_t bytes) {
    return offset <= size && bytes <= size - offset ? host + offset : NULL;
}

lw_window lw_address_window(uint64_t address) {
    if (address >= LW_GLOBAL_BASE) return LW_WINDOW_global;
    switch (address & ~(LW_WINDOW_BYTES - 1)) {
    case LW_SHARED_WINDOW: return LW_WINDOW_shared;
    case LW_CLUSTER_WINDOW: return LW_WINDOW_cluster;
    case LW_LOCAL_WINDOW: return LW_WINDOW_local;
    case LW_PARAM_WINDOW: return LW_WINDOW_param;
    default: return LW_WINDOW_generic; /* nothing there */
    }
}

/* An allocation that an access may go to. Functions on strings load whole words, and so read past the end of what they
 * are given: no GPU can tell, as what it protects are pages. So a load of one element may begin in an allocation and
 * end behind it, where there is always some room. */
static const lw_range *find_range(const lw_grid *grid, uint64_t address, uint32_t bytes, bool may_end_behind) {
    const lw_range *range = lw_ranges_find(grid->ranges, address, bytes);
    if (range || !may_end_behind || address & (bytes - 1)) return range;
    range = lw_ranges_find(grid->ranges, address, 1);
    return range && address - range->base < range->size ? range : NULL;
}

char *lw_address_host(lw_gang *gang, lw_window window, uint32_t lane, uint64_t address, uint32_t bytes,
                      bool may_end_behind, lw_trap_kind *fault) {
    const lw_grid *grid = gang->cta->grid;
    if (window == LW_WINDOW_generic) {
        window = lw_address_window(address);
        if (window == LW_WINDOW_cluster) address -= LW_SHARED_WINDOW;
        else if (window != LW_WINDOW_global) address &= LW_WINDOW_BYTES - 1;
    }
    char *host = NULL;
    switch (window) {
    case LW_WINDOW_global:
    case LW_WINDOW_const: {
        const lw_range *range = find_range(grid, address, bytes, may_end_behind);
        if (range && (window == LW_WINDOW_global || range->constant)) host = range->host + (address - range->base);
        break;
    }
    case LW_WINDOW_shared:
    case LW_WINDOW_cluster: {
        uint64_t offset;
        const lw_cta *owner = lw_shared_owner(gang->cta, window, address, &offset);
        if (owner) host = host_within(owner->shared, owner->shared_bytes, offset, bytes);
        break;
    }
    case LW_WINDOW_param:
        host = host_within((char *)grid->params, gang->cta->program->param_bytes, address, bytes);
        break;
    case LW_WINDOW_local:
        if (address > gang->frame->local_end || bytes > gang->frame->local_end - address) break;
        lw_local_touch(gang, address + bytes);
        host = lw_local_at(gang, lane, (uint32_t)address);
        break;
    case LW_WINDOW_generic: break;
    }
    *fault = host ? LW_TRAP_none : LW_TRAP_bounds;
    return host;
}

static bool is_read_only(const lw_gang *gang, lw_memory_form form, uint64_t address) {
    if (form.is_const || form.window == LW_WINDOW_const || form.window == LW_WINDOW_param) return true;
    lw_window window = form.window == LW_WINDOW_generic ? lw_address_window(address) : form.window;
    if (window != LW_WINDOW_global) return window == LW_WINDOW_param;
    const lw_range *range = lw_ranges_find(gang->cta->grid->ranges, address, 1);
    return range && range->read_only;
}

static const char *const names[] = {"load", "store", "atomic"};

static bool row_trap(lw_gang *gang, const lw_op *op, lw_access access, uint32_t lane) {
    lw_trap_record details = {.access = names[access],
                              .size = lw_memory_bytes(lw_memory_unpack(op->c)),
                              .address = lw_row_element(gang, op, lane),
                              .base = lw_row_base(gang, op, lane),
                              .length = lw_row_length(op)};
    lw_gang_trap(gang, op, LW_TRAP_row, lane, details);
    return false;
}

/* Where in the cluster an address of shared memory is that is not to be reached: detail becomes 1 + what keeps it, base
 * the CTA's rank, length how many the cluster has. */
static void describe_cluster(const lw_gang *gang, lw_trap_record *details) {
    const lw_cta *cta = gang->cta;
    lw_window window = details->window == LW_WINDOW_generic ? lw_address_window(details->address) : details->window;
    const uint64_t address = details->address - (details->window == LW_WINDOW_generic ? LW_SHARED_WINDOW : 0);
    uint64_t offset;
    uint32_t rank;
    if (window != LW_WINDOW_shared && window != LW_WINDOW_cluster) return;
    if (!lw_shared_find(cta, address, &rank, &offset) || rank == cta->rank) return;
    details->base = rank, details->length = cta->cluster->count;
    details->detail = rank >= cta->cluster->count       ? LW_AWAY_nowhere
                      : !cta->cluster->ctas[rank]->live ? LW_AWAY_ended
                      : window == LW_WINDOW_shared      ? LW_AWAY_unsaid
                                                        : LW_AWAY_beyond;
}

bool lw_address_check(lw_gang *gang, const lw_op *op, lw_access access) {
    lw_memory_form form = lw_memory_unpack(op->c);
    uint32_t bytes = lw_memory_bytes(form);
    LW_FOR_LANES(lane, gang->mask) {
        uint64_t address = lw_address_of(gang, op, lane);
        lw_trap_kind fault;
        lw_address_host(gang, form.window, lane, address, bytes, access == LW_ACCESS_load && !form.vector, &fault);
        if (!fault && access != LW_ACCESS_load && is_read_only(gang, form, address)) fault = LW_TRAP_read_only;
        if (address & (bytes - 1)) fault = LW_TRAP_misaligned;
        if (fault == LW_TRAP_none) continue;
        if (form.address == LW_ADDRESS_ROW && fault == LW_TRAP_bounds) return row_trap(gang, op, access, lane);
        lw_trap_record details = {.access = names[access],
                                  .window = form.window,
                                  .size = bytes,
                                  .address = address,
                                  .length = gang->frame->local_end};
        if (fault == LW_TRAP_bounds) describe_cluster(gang, &details);
        lw_gang_trap(gang, op, fault, lane, details);
        return false;
    }
    return true;
}

char *lw_address_place(lw_gang *gang, const lw_op *op, lw_access access, lw_window window, uint32_t lane,
                       uint64_t address, uint32_t bytes, uint32_t align) {
    static char nowhere[1];
    if (!bytes) return nowhere;
    lw_trap_kind fault;
    char *host = lw_address_host(gang, window, lane, address, bytes, false, &fault);
    if (!fault && access != LW_ACCESS_load && is_read_only(gang, (lw_memory_form){.window = window}, address))
        fault = LW_TRAP_read_only;
    if (address & (align - 1)) fault = LW_TRAP_misaligned;
    if (!fault) return host;
    lw_trap_record details = {.access = names[access],
                              .window = window,
                              .size = fault == LW_TRAP_misaligned ? align : bytes,
                              .address = address,
                              .length = gang->frame->local_end};
    if (fault == LW_TRAP_bounds) describe_cluster(gang, &details);
    lw_gang_trap(gang, op, fault, lane, details);
    return NULL;
}

void lw_address_hosts(lw_gang *gang, const lw_op *op, const uint64_t *addresses, uint32_t element) {
    lw_memory_form form = lw_memory_unpack(op->c);
    LW_FOR_LANES(lane, gang->mask) {
        uint64_t address = addresses[lane] + ((uint64_t)element << form.size);
        lw_trap_kind fault;
        gang->address[lane] =
            (uintptr_t)lw_address_host(gang, form.window, lane, address, 1u << form.size, true, &fault);
    }
}
