/* address.h: from an operation's address operand to places on the host, and the faults on the way.
 *
 * These functions look at one lane at a time and know every window; the fast paths in level/memory.c settle what a
 * whole gang does in one window and come here for the rest, traps above all. */
#ifndef LW_ADDRESS_H
#define LW_ADDRESS_H

#include "run/interp/interp.h"

/* For functions that touch guest memory: the guest may race with itself, which is its own affair. */
#define LW_RACY __attribute__((no_sanitize("thread")))

/* What a lane that acquires sees after this, and what a lane that releases did before it: for accesses that carry an
 * order. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wtsan" /* gcc's thread sanitizer does not see fences; ours order guest memory only */
#endif
static inline void lw_memory_order(void) { __atomic_thread_fence(__ATOMIC_ACQ_REL); }

/* Guest memory and register slots have no type of their own. */
typedef uint8_t lw_any8;
typedef uint16_t __attribute__((may_alias)) lw_any16;
typedef uint32_t __attribute__((may_alias)) lw_any32;
typedef uint64_t __attribute__((may_alias)) lw_any64;

typedef enum lw_access { LW_ACCESS_load, LW_ACCESS_store, LW_ACCESS_atomic } lw_access;

static inline uint32_t lw_memory_bytes(lw_memory_form form) { return 1u << (form.size + form.vector); }

/* The allocation met last becomes the one of these bytes. False: there is none, and it stays what it was. */
static inline bool lw_hint_find(const lw_gang *gang, lw_range *hint, uint64_t address, uint64_t bytes) {
    if (LW_LIKELY(hint->size >= bytes && address - hint->base <= hint->size - bytes)) return true;
    const lw_range *range = lw_ranges_find(gang->cta->grid->ranges, address, bytes);
    if (range) *hint = *range;
    return range;
}

enum { LW_GRANULE = 16 }; /* bytes of local memory that lie together, as lw_local_at has it */

/* An access of the executing lanes' local memory that ends there: from now on it may hold something. */
static inline void lw_local_touch(lw_gang *gang, uint64_t end) {
    if (LW_UNLIKELY(end > gang->local_used)) gang->local_used = (uint32_t)((end + 15) & ~(uint64_t)15);
}

/* Rows (ops.def): the array, the element that a lane takes of it, two's complement, and how many it has. */
static inline uint64_t lw_row_base(const lw_gang *gang, const lw_op *op, uint32_t lane) {
    if (!(op->flags & LW_OP_IMM_A)) return LW_SLOT(gang, uint64_t, op->a)[lane];
    uint64_t base;
    memcpy(&base, gang->cta->grid->params + op->a, sizeof base);
    return base;
}
static inline uint64_t lw_row_element(const lw_gang *gang, const lw_op *op, uint32_t lane) {
    if (!(op->flags & LW_OP_IMM_B)) return LW_SLOT(gang, uint64_t, op->b)[lane] + gang->first + lane;
    return (uint64_t)gang->cta->index[0] * (op->b ? op->b : gang->cta->grid->block[0]) + gang->first + lane;
}
static inline uint64_t lw_row_length(const lw_op *op) {
    uint64_t length = (op->imm & (((uint64_t)1 << LW_ROW_HINT_SHIFT) - 1)) - 1;
    return length < LW_ROW_MOST ? length : LW_ROW_MOST;
}
/* The address that one lane gives: within the window, frame base included. */
uint64_t lw_address_of(const lw_gang *gang, const lw_op *op, uint32_t lane);

/* The window that a generic address lies in; LW_WINDOW_generic: there is none. */
lw_window lw_address_window(uint64_t address);

/* Host place of [address, address + bytes) for one lane, or NULL with the kind of fault. Alignment is not looked at,
 * but where bytes in global memory may end behind the allocation that they begin in. */
char *lw_address_host(lw_gang *gang, lw_window window, uint32_t lane, uint64_t address, uint32_t bytes,
                      bool may_end_behind, lw_trap_kind *fault);

/* Whether every active lane may make this access. Traps the first lane that may not. */
bool lw_address_check(lw_gang *gang, const lw_op *op, lw_access access);

/* For operations that have several addresses, or that mean more bytes than an element has: the host place of
 * [address, address + bytes) for one lane, where the address is a multiple of `align`. NULL: trapped. Of no bytes any
 * place will do. */
char *lw_address_place(lw_gang *gang, const lw_op *op, lw_access access, lw_window window, uint32_t lane,
                       uint64_t address, uint32_t bytes, uint32_t align);

/* atomic.c: each element of `bytes` at `to` becomes a function of itself and that at `from`; of global memory, where
 * other CTAs may be at work on them, or of shared memory. */
void lw_atom_reduce(char *to, const char *from, uint32_t bytes, lw_atom_op kind, lw_memory_form form);

/* After a check that passed: gang->address[lane] becomes the host place of element `element` of the access at
 * addresses[lane], for all active lanes. */
void lw_address_hosts(lw_gang *gang, const lw_op *op, const uint64_t *addresses, uint32_t element);

#endif
