/* row.c: ld_row and st_row: neighbouring elements of an array for neighbouring lanes; compiled once for each CPU level.
 *
 * The base and the index are the same for all lanes, so the first and the last active lane tell whether all accesses
 * are good. What is not goes lane by lane through address.c, which finds whom to blame. */
#include "run/interp/level/level.h"

/* The host's place of the element that lane 0 would take. NULL: some lane's is not there. */
static inline char *find_row(lw_gang *gang, const lw_op *op, uint32_t size, lw_mask lanes, lw_access access) {
    const uint32_t first = lw_mask_first(lanes), count = lw_mask_last(lanes) - first + 1;
    const uint64_t element = lw_row_element(gang, op, first), length = lw_row_length(op);
    if (LW_UNLIKELY(element > length || length - element < count)) return NULL;
    const uint64_t base = lw_row_base(gang, op, first), address = base + (element << size),
                   span = (uint64_t)count << size;
    if (LW_UNLIKELY(address & ((1u << size) - 1))) return NULL;
    lw_range *hint = &gang->hints[(op->imm >> LW_ROW_HINT_SHIFT) % LW_HINTS];
    if (!lw_hint_find(gang, hint, address, span)) return NULL;
    if (LW_UNLIKELY(base - hint->base > hint->size)) return NULL; /* another allocation than that of the array */
    if (access != LW_ACCESS_load && LW_UNLIKELY(hint->read_only)) return NULL;
    return hint->host + (address - hint->base) - ((uint64_t)first << size);
}

static inline lw_mask lanes_of(const lw_gang *gang, const lw_op *op) {
    return op->e == LW_NO_SLOT ? gang->mask : gang->mask & lw_get_mask(gang, op->e);
}

/* ---- The steps ------------------------------------------------------------------------------------------------- */

/* Somebody is to blame: the check stops the gang with a trap of the first such lane. */
__attribute__((noinline)) static const lw_op *blame(lw_gang *gang, const lw_op *op, lw_access access, lw_mask lanes) {
    const lw_mask mask = gang->mask;
    gang->mask = lanes;
    if (lw_address_check(gang, op, access)) lw_bug("nobody is to blame for a row");
    gang->mask = mask;
    return NULL;
}

/* With nobody in the mask a row is not looked at. */
static void clear_all(lw_gang *gang, const lw_op *op, uint32_t slot) {
    for (uint32_t i = gang->begin; i < gang->lanes; i++) {
        if (!(gang->mask >> i & 1)) continue;
        if (slot == LW_SLOT_16 / LW_GANG_LANES) LW_SLOT(gang, uint16_t, op->d)[i] = 0;
        else if (slot == LW_SLOT_32 / LW_GANG_LANES) LW_SLOT(gang, uint32_t, op->d)[i] = 0;
        else LW_SLOT(gang, uint64_t, op->d)[i] = 0;
    }
}

const lw_op *LW_AT_LEVEL(lw_step_ld_row)(lw_gang *gang, const lw_op *op) {
    const lw_memory_form form = lw_memory_unpack(op->c);
    const lw_mask lanes = lanes_of(gang, op);
    const bool zero = (op->flags & LW_OP_ZERO) != 0;
    if (LW_UNLIKELY(!lanes)) {
        if (zero) clear_all(gang, op, 1u << (form.size ? form.size : 1));
        return op + 1;
    }
    const char *from = find_row(gang, op, form.size, lanes, LW_ACCESS_load);
    if (LW_UNLIKELY(!from)) return blame(gang, op, LW_ACCESS_load, lanes);
    char *to = gang->regs + op->d;
    switch (form.size) {
    case 0: lw_row_load_8(gang, (lw_any16 *)to, (const lw_any8 *)from, lanes, zero, form.is_signed); break;
    case 1: lw_row_load_16(gang, (lw_any16 *)to, (const lw_any16 *)from, lanes, zero); break;
    case 2: lw_row_load_32(gang, (lw_any32 *)to, (const lw_any32 *)from, lanes, zero); break;
    default: lw_row_load_64(gang, (lw_any64 *)to, (const lw_any64 *)from, lanes, zero); break;
    }
    return op + 1;
}

const lw_op *LW_AT_LEVEL(lw_step_st_row)(lw_gang *gang, const lw_op *op) {
    const lw_memory_form form = lw_memory_unpack(op->c);
    const lw_mask lanes = lanes_of(gang, op);
    if (LW_UNLIKELY(!lanes)) return op + 1;
    char *to = find_row(gang, op, form.size, lanes, LW_ACCESS_store);
    if (LW_UNLIKELY(!to)) return blame(gang, op, LW_ACCESS_store, lanes);
    const char *from = gang->regs + op->d;
    switch (form.size) {
    case 0: lw_row_store_8(gang, (lw_any8 *)to, (const lw_any16 *)from, lanes); break;
    case 1: lw_row_store_16(gang, (lw_any16 *)to, (const lw_any16 *)from, lanes); break;
    case 2: lw_row_store_32(gang, (lw_any32 *)to, (const lw_any32 *)from, lanes); break;
    default: lw_row_store_64(gang, (lw_any64 *)to, (const lw_any64 *)from, lanes); break;
    }
    return op + 1;
}
