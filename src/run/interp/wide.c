/* wide.c: up to 16 bytes at a time, for who must not see half of them. */
#include "run/interp/wide.h"

#include "run/interp/address.h"

/* ---- One place ---------------------------------------------------------------------------------------------- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static bool swap_locked(void *place, lw_wide *old, lw_wide new) {
    lw_any64 *at = place;
    pthread_mutex_lock(&lock);
    const lw_wide now = at[0] | (lw_wide)at[1] << 64;
    const bool equal = now == *old;
    if (equal) at[0] = (uint64_t) new, at[1] = (uint64_t)(new >> 64);
    *old = now;
    pthread_mutex_unlock(&lock);
    return equal;
}

#if defined(__x86_64__)

LW_RACY static bool swap(void *place, lw_wide *old, lw_wide new) {
    uint64_t low = (uint64_t)*old, high = (uint64_t)(*old >> 64);
    bool equal;
    __asm__ volatile("lock cmpxchg16b %1"
                     : "=@ccz"(equal), "+m"(*(lw_wide *)place), "+a"(low), "+d"(high)
                     : "b"((uint64_t) new), "c"((uint64_t)(new >> 64))
                     : "memory");
    *old = low | (lw_wide)high << 64;
    return equal;
}

#elif defined(__aarch64__)

/* What was read is of one moment only if the store succeeds, so that there is one in any case. */
LW_RACY static bool swap(void *place, lw_wide *old, lw_wide new) {
    uint64_t low, high;
    uint32_t failed;
    bool equal;
    do {
        __asm__ volatile("ldaxp %0, %1, [%2]" : "=&r"(low), "=&r"(high) : "r"(place) : "memory");
        equal = (low | (lw_wide)high << 64) == *old;
        const uint64_t new_low = equal ? (uint64_t) new : low, new_high = equal ? (uint64_t)(new >> 64) : high;
        __asm__ volatile("stlxp %w0, %1, %2, [%3]"
                         : "=&r"(failed)
                         : "r"(new_low), "r"(new_high), "r"(place)
                         : "memory");
    } while (failed);
    *old = low | (lw_wide)high << 64;
    return equal;
}

#else

static bool swap(void *place, lw_wide *old, lw_wide new) { return swap_locked(place, old, new); }

#endif

bool lw_wide_swap(void *place, lw_wide *old, lw_wide new) {
    static _Atomic uint32_t known; /* 1: the machine has it, 2: it has not */
    uint32_t is = atomic_load_explicit(&known, memory_order_relaxed);
    if (LW_UNLIKELY(!is)) atomic_store_explicit(&known, is = lw_cpu_has_wide() ? 1 : 2, memory_order_relaxed);
    return is == 1 ? swap(place, old, new) : swap_locked(place, old, new);
}

/* ---- The steps ---------------------------------------------------------------------------------------------- */

/* Up to 16 bytes, aligned to their number. */
LW_RACY static lw_wide load_piece(void *place, uint32_t bytes) {
    switch (bytes) {
    case 2: return __atomic_load_n((lw_any16 *)place, __ATOMIC_RELAXED);
    case 4: return __atomic_load_n((lw_any32 *)place, __ATOMIC_RELAXED);
    case 8: return __atomic_load_n((lw_any64 *)place, __ATOMIC_RELAXED);
    default: return lw_wide_load(place);
    }
}

LW_RACY static void store_piece(void *place, uint32_t bytes, lw_wide value) {
    switch (bytes) {
    case 2: __atomic_store_n((lw_any16 *)place, (uint16_t)value, __ATOMIC_RELAXED); break;
    case 4: __atomic_store_n((lw_any32 *)place, (uint32_t)value, __ATOMIC_RELAXED); break;
    case 8: __atomic_store_n((lw_any64 *)place, (uint64_t)value, __ATOMIC_RELAXED); break;
    default: lw_wide_store(place, value);
    }
}

/* An element of 1 to 8 bytes, extended to its register. */
static void put_element(const lw_gang *gang, lw_memory_form form, uint32_t slot, uint32_t lane, uint64_t value) {
    const uint32_t unused = 64 - (8u << form.size);
    value <<= unused;
    value = form.is_signed ? (uint64_t)((int64_t)value >> unused) : value >> unused;
    if (form.slot == 1) LW_SLOT(gang, lw_any16, slot)[lane] = (uint16_t)value;
    else if (form.slot == 2) LW_SLOT(gang, lw_any32, slot)[lane] = (uint32_t)value;
    else LW_SLOT(gang, lw_any64, slot)[lane] = value;
}

static uint64_t get_element(const lw_gang *gang, lw_memory_form form, uint32_t slot, uint32_t lane) {
    const uint64_t value = form.slot == 1   ? LW_SLOT(gang, lw_any16, slot)[lane]
                           : form.slot == 2 ? LW_SLOT(gang, lw_any32, slot)[lane]
                                            : LW_SLOT(gang, lw_any64, slot)[lane];
    return value & UINT64_MAX >> (64 - (8u << form.size));
}

/* For each lane and each piece of its vector: what is further apart may be so on the host. A load may write to the
 * register that the addresses come from. */
static const lw_op *access_each(lw_gang *gang, const lw_op *op, lw_access access) {
    const lw_memory_form form = lw_memory_unpack(op->c);
    const uint32_t all = 1u << (form.vector + form.size), bytes = all < 16 ? all : 16, count = bytes >> form.size;
    uint64_t addresses[LW_GANG_LANES];
    if (!lw_address_check(gang, op, access)) return NULL;
    LW_FOR_LANES(lane, gang->mask) addresses[lane] = lw_address_of(gang, op, lane);
    for (uint32_t k = 0; k < 1u << form.vector; k += count) {
        const uint32_t *slots = gang->frame->code->slots + op->d + k;
        lw_address_hosts(gang, op, addresses, k);
        LW_FOR_LANES(lane, gang->mask) {
            void *place = (void *)(uintptr_t)gang->address[lane];
            lw_wide value = access == LW_ACCESS_load ? load_piece(place, bytes) : 0;
            for (uint32_t e = 0; e < count; e++) {
                const uint32_t shift = e * (8u << form.size);
                if (access == LW_ACCESS_load) put_element(gang, form, slots[e], lane, (uint64_t)(value >> shift));
                else value |= (lw_wide)get_element(gang, form, slots[e], lane) << shift;
            }
            if (access != LW_ACCESS_load) store_piece(place, bytes, value);
        }
    }
    return op + 1;
}

const lw_op *lw_wide_ld(lw_gang *gang, const lw_op *op) { return access_each(gang, op, LW_ACCESS_load); }
const lw_op *lw_wide_st(lw_gang *gang, const lw_op *op) { return access_each(gang, op, LW_ACCESS_store); }
