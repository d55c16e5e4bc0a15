/* virtual.h: memory without addresses, where it is mapped, and what is bound to multicast objects: virtual.c,
 * multicast.c. */
#ifndef LW_CU_VIRTUAL_H
#define LW_CU_VIRTUAL_H

#include "shim/cuda/driver.h"

#define LW_CU_GRANULE (2ull << 20) /* as on GPUs */

/* Memory without addresses, or a multicast object, which has that of its devices. Its handle is its address. */
typedef struct lw_cu_physical {
    lw_cu_object object;
    CUmemAllocationProp props;
    uint64_t size, number;
    char *host;                     /* where it always is; what is mapped is the same memory in another place */
    uint32_t handles, maps;         /* that hold it, and what it is bound to */
    int file;                       /* -1: it is of this process alone */
    bool is_foreign;                /* it came as a file, and is charged to whoever made that; or it is none itself */
    struct lw_cu_multicast *shared; /* of a multicast object; else NULL */
} lw_cu_physical;

typedef struct lw_cu_mapping {
    struct lw_cu_mapping *next, *next_shared; /* of the reservation, and of the multicast object */
    uint64_t from, size, offset;              /* offset: of a multicast object, where in it that begins */
    lw_cu_physical *memory;
    unsigned char asked[LW_CU_DEVICES_MOST]; /* access, by device … */
    unsigned access;                         /* … and that of all: the most of them */
} lw_cu_mapping;

extern pthread_mutex_t lw_cu_virtual_lock; /* guards all of it; what follows wants it held */

static inline bool lw_cu_is_granular(uint64_t number) { return number % LW_CU_GRANULE == 0; }
/* Of memory or of a multicast object; NULL: it is no handle. */
lw_cu_physical *lw_cu_physical_find(CUmemGenericAllocationHandle handle);
/* What is mapped to an address, or NULL. */
lw_cu_mapping *lw_cu_mapping_find(uint64_t address);
/* Ends it where nothing holds it any more. */
void lw_cu_physical_let_go(lw_cu_physical *memory);
/* A handle for what was made, without the lock. */
CUresult lw_cu_physical_give(lw_cu_physical *made, CUmemGenericAllocationHandle *handle);
/* Kernels of the context end, without the lock: they may still look at what they should not. */
void lw_cu_virtual_drain(void);

/* A multicast object is mapped there and can be used, or no more. False: no memory. */
bool lw_cu_multicast_show(lw_cu_mapping *map);
void lw_cu_multicast_hide(lw_cu_mapping *map);
/* Of its mappings one more, one less. */
void lw_cu_multicast_add(lw_cu_mapping *map);
void lw_cu_multicast_take(lw_cu_mapping *map);
/* It is gone: what was bound to it is held no more. */
void lw_cu_multicast_end(struct lw_cu_multicast *shared);

#endif
