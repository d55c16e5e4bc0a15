/* home.h: the stretch of memory that an access lies in, by its first address: one check against it is enough for all
 * lanes that go there. */
#ifndef LW_LEVEL_HOME_H
#define LW_LEVEL_HOME_H

#include "run/interp/level/level.h"

/* Elements of lanes side by side. */
#define CHUNK LW_VECTOR_BYTES

typedef uint16_t chunk16 __attribute__((vector_size(CHUNK)));
typedef uint32_t chunk32 __attribute__((vector_size(CHUNK)));
typedef uint64_t chunk64 __attribute__((vector_size(CHUNK)));
/* The same at places aligned to an element only. */
typedef uint16_t loose16 __attribute__((vector_size(CHUNK), aligned(2), may_alias));
typedef uint32_t loose32 __attribute__((vector_size(CHUNK), aligned(4), may_alias));
typedef uint64_t loose64 __attribute__((vector_size(CHUNK), aligned(8), may_alias));
enum { IN_16 = CHUNK / 2, IN_32 = CHUNK / 4, IN_64 = CHUNK / 8 };

static const uint32_t count_32[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
static const uint64_t count_64[8] = {0, 1, 2, 3, 4, 5, 6, 7};

/* The stretch of addresses that the first lane's access lies in. */
typedef struct lw_home {
    uint64_t base, size;
    const char *host; /* of base; NULL: local memory, interleaved */
    bool read_only, constant;
} lw_home;

LW_INLINE bool find_global(lw_gang *gang, const lw_op *op, uint64_t address, uint32_t bytes, lw_home *home) {
    lw_range *hint = &gang->hints[op->e % LW_HINTS];
    if (!lw_hint_find(gang, hint, address, bytes)) return false;
    *home = (lw_home){hint->base, hint->size, hint->host, hint->read_only, hint->constant};
    return true;
}

/* Shared memory by an address that says whose it is. */
static bool find_shared(const lw_cta *cta, lw_window kind, uint64_t address, uint64_t window, uint32_t bytes,
                        lw_home *home) {
    uint64_t offset;
    const lw_cta *owner = lw_shared_owner(cta, kind, address - window, &offset);
    if (!owner) return false;
    *home = (lw_home){address - offset, owner->shared_bytes, owner->shared, false, false};
    return home->size >= bytes && offset <= home->size - bytes;
}

LW_INLINE bool find_home(lw_gang *gang, const lw_op *op, lw_memory_form form, uint64_t address, uint32_t bytes,
                         lw_home *home) {
    const lw_cta *cta = gang->cta;
    uint64_t window = 0;
    lw_window kind = form.window;
    if (kind == LW_WINDOW_generic) {
        window = address & ~(LW_WINDOW_BYTES - 1);
        kind = LW_LIKELY(address >= LW_GLOBAL_BASE) ? LW_WINDOW_global
               : window == LW_SHARED_WINDOW         ? LW_WINDOW_shared
               : window == LW_LOCAL_WINDOW          ? LW_WINDOW_local
               : window == LW_PARAM_WINDOW          ? LW_WINDOW_param
               : window == LW_CLUSTER_WINDOW        ? LW_WINDOW_cluster
                                                    : LW_WINDOW_generic;
    }
    switch (kind) {
    case LW_WINDOW_global: return find_global(gang, op, address, bytes, home);
    case LW_WINDOW_const: return find_global(gang, op, address, bytes, home) && home->constant;
    case LW_WINDOW_cluster:
        return find_shared(cta, kind, address, form.window == LW_WINDOW_generic ? LW_SHARED_WINDOW : 0, bytes, home);
    case LW_WINDOW_shared:
        if (LW_UNLIKELY(address - window >= LW_WINDOW_BYTES))
            return find_shared(cta, kind, address, window, bytes, home);
        *home = (lw_home){window, cta->shared_bytes, cta->shared, false, false};
        break;
    case LW_WINDOW_param: *home = (lw_home){window, cta->program->param_bytes, cta->grid->params, true, false}; break;
    case LW_WINDOW_local: *home = (lw_home){window, gang->frame->local_end, NULL, false, false}; break;
    case LW_WINDOW_generic: return false; /* no window there */
    }
    return home->size >= bytes && address - window <= home->size - bytes;
}

/* What to add to a lane's address for an element `offset` bytes on. Local memory keeps 16 bytes of a lane together; the
 * second half of a 32-byte access is in the next row of granules. */
LW_INLINE uintptr_t element_host(const lw_gang *gang, uintptr_t host, uint32_t offset) {
    if (offset >= 16 && host == (uintptr_t)gang->local) offset += 16 * (LW_GANG_LANES - 1);
    return host + offset;
}

#endif
