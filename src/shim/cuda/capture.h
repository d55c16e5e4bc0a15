/* capture.h: streams that put what they are given into a graph; under the lock of graphs. */
#ifndef LW_SHIM_CUDA_CAPTURE_H
#define LW_SHIM_CUDA_CAPTURE_H

#include "shim/cuda/graph.h"

typedef struct lw_cu_capturing {
    struct lw_cu_capturing *next;
    uint64_t id, thread; /* thread: that began it */
    CUgraph graph;       /* NULL: it has ended meanwhile */
    bool owns_graph;
    bool is_void; /* what came then cannot be captured */
    CUstreamCaptureMode mode;
    struct lw_cu_branch *branches; /* of its streams */
} lw_cu_capturing;

typedef struct lw_cu_branch {
    lw_cu_capturing *of;
    struct lw_cu_branch *next, **place; /* place: where its stream's queue keeps it */
    CUcontext context;
    bool is_origin, blocks; /* blocks: the default stream would wait for it */
    lw_cu_edges ends;       /* what comes next comes after these */
    CUgraphNode *nodes;     /* the same in arrays, as calls take and give them */
    CUgraphEdgeData *data;
} lw_cu_branch;

extern lw_cu_capturing *lw_cu_all_captures;

lw_cu_branch *lw_cu_find_branch(CUstream stream); /* NULL: it is not captured */
lw_cu_branch *lw_cu_branch_new(lw_cu_capturing *of, CUstream stream);
void lw_cu_capture_end(lw_cu_capturing *ended, bool keep_graph);
bool lw_cu_branch_arrays(lw_cu_branch *branch); /* false: no memory */
/* Comes after a node, too, if it did not yet; false: no memory. */
bool lw_cu_branch_add(lw_cu_branch *branch, CUgraphNode node, const CUgraphEdgeData *data);
/* Marks what the ends of a stream come after, and them; false: no memory. */
bool lw_cu_mark_before(const lw_cu_branch *of, uint64_t mark);
bool lw_cu_branch_is_marked(const lw_cu_branch *branch, uint64_t mark); /* all of its ends */
/* A capture of a stream that the default stream would wait for; NULL: none, or `stream` is no such. */
lw_cu_capturing *lw_cu_blocked_by(CUstream stream);
uint64_t lw_cu_capture_thread(void);
extern _Thread_local CUstreamCaptureMode lw_cu_capture_mode; /* of this thread */

#endif
