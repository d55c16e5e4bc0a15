/* wide.c: 16 bytes at a time, for who must not see half of them. */
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

/* For each lane and each of its elements, which may be far apart on the host. A load may write to the register that the
 * addresses come from. */
static const lw_op *access_each(lw_gang *gang, const lw_op *op, lw_access access) {
    const lw_memory_form form = lw_memory_unpack(op->c);
    uint64_t addresses[LW_GANG_LANES];
    if (!lw_address_check(gang, op, access)) return NULL;
    LW_FOR_LANES(lane, gang->mask) addresses[lane] = lw_address_of(gang, op, lane);
    for (uint32_t k = 0; k < 1u << form.vector; k += 2) {
        const uint32_t *slots = gang->frame->code->slots + op->d + k;
        lw_address_hosts(gang, op, addresses, k);
        LW_FOR_LANES(lane, gang->mask) {
            void *place = (void *)(uintptr_t)gang->address[lane];
            if (access == LW_ACCESS_load) lw_wide_put(gang, slots, lane, lw_wide_load(place));
            else lw_wide_store(place, lw_wide_get(gang, slots, lane));
        }
    }
    return op + 1;
}

const lw_op *lw_wide_ld(lw_gang *gang, const lw_op *op) { return access_each(gang, op, LW_ACCESS_load); }
const lw_op *lw_wide_st(lw_gang *gang, const lw_op *op) { return access_each(gang, op, LW_ACCESS_store); }
