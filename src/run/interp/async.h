/* async.h: what a thread has begun and not done yet, and the objects that are told (manual sections 9.7.9.25 and
 * 9.7.13.15).   async.c: when it is done; mbarrier.c: objects; copy.c, bulk.c: what is begun
 *
 * Everything is done as late as the program can know of it (docs/decisions/0016): at the thread's own wait, at a wait
 * for the phase of the object that is told, when the thread exits, when nothing else can go on. Who reads too early
 * gets what was there before. */
#ifndef LW_ASYNC_H
#define LW_ASYNC_H

#include "run/interp/address.h"

/* ---- mbarrier objects: 64 bits of shared memory, whose content is nobody else's affair ----------------------- */

enum { LW_MBARRIER_MOST = (1 << 20) - 1 }; /* arrivals, and transactions either way */

typedef struct lw_mbarrier {
    uint32_t pending, expected;
    int32_t transactions;
    bool phase; /* its parity */
} lw_mbarrier;

/* Where somebody looks for one, and what for: "arrival". */
typedef struct lw_mbarrier_at {
    lw_window window;
    uint64_t address;
    const char *access;
} lw_mbarrier_at;

/* Whether an address of this window can be in shared memory. */
static inline bool lw_may_be_shared(lw_window window, uint64_t address) {
    const uint64_t base = address & ~(LW_WINDOW_BYTES - 1);
    return window != LW_WINDOW_generic || base == LW_SHARED_WINDOW || base == LW_CLUSTER_WINDOW;
}

/* False: there is none. */
bool lw_mbarrier_get(const char *object, lw_mbarrier *to);
void lw_mbarrier_put(char *object, const lw_mbarrier *from);
/* `transactions` are expected, or done where they are negative. Sets *ends where that completes the phase. */
lw_mbarrier_fault lw_mbarrier_expect(lw_mbarrier *object, int64_t transactions, bool *ends);
/* `count` arrive, and do not come again where they drop out. */
lw_mbarrier_fault lw_mbarrier_arrive(lw_mbarrier *object, uint32_t count, bool drops, bool *ends);
/* The host's place of an object, and what it holds. NULL: trapped, there is none. */
char *lw_mbarrier_find(lw_gang *gang, const lw_op *op, uint32_t lane, lw_mbarrier_at at, lw_mbarrier *object);
const lw_op *lw_mbarrier_trap(lw_gang *gang, const lw_op *op, uint32_t lane, lw_mbarrier_at at,
                              lw_mbarrier_fault fault);

/* ---- What is pending -------------------------------------------------------------------------------------------- */

typedef struct lw_pending {
    lw_mask lanes, due; /* by whom it was begun and is not done yet; of these, for whom it is done next */
    const lw_op *op;    /* where it was begun */
    const lw_code *code;
    char *to;              /* of the lane `first`; lanes behind it, a run of them at first, have theirs `bytes` apart */
    const char *from;      /* likewise; NULL: `value` */
    uint32_t bytes, given; /* how many are written; the source has so many of them, then come zeros */
    uint16_t mask;         /* of each 16 bytes those that are copied */
    uint8_t first, chain;
    bool reduces;   /* into the target, by `form` and … */
    uint8_t kind;   /* … this lw_atom_op */
    bool counts;    /* its bytes are in those that are pending */
    bool arrives;   /* at the object, instead of telling it bytes */
    uint32_t group; /* of its chain: how many its lanes had made before */
    lw_memory_form form;
    char *object;     /* that is told, or NULL … */
    uint64_t address; /* … where the lane has it */
    uint64_t value;
    struct lw_tensor_copy *tensor; /* or all of this is there, and `to` NULL: tensor.c */
} lw_pending;

/* A copy by a tensor map: of one lane. */
void lw_tensor_perform(const struct lw_tensor_copy *copy);
void lw_tensor_drop(struct lw_tensor_copy *copy);

/* One more, of one lane. NULL: trapped, there is no memory. The rest is the caller's to fill in. */
lw_pending *lw_async_add(lw_gang *gang, const lw_op *op, uint32_t lane, lw_chain chain);
/* It is of many bytes: they count against the turn, and against what may be pending. */
void lw_async_count(lw_gang *gang, lw_pending *p);
/* How many groups each lane has made. */
const uint32_t *lw_async_groups(const lw_gang *gang, lw_chain chain);
/* The object at this address is told when that is done. */
void lw_async_told(lw_gang *gang, lw_pending *p, char *object, uint64_t address);
/* The same for an operation that has its object's address: there must be one. False: trapped. */
bool lw_async_tell_at(lw_gang *gang, const lw_op *op, uint32_t lane, lw_pending *p, uint64_t address);
/* The same place in the shared memory of another CTA of the cluster. What is in none stays what it is. */
uint64_t lw_shared_of(const lw_cta *cta, uint64_t address, uint32_t rank);
/* The CTA's lanes have begun what tells this object: that is done now. False: trapped, and so is `gang`. */
bool lw_async_tell(lw_gang *gang, const char *object);

#endif
