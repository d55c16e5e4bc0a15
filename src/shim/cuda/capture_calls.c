/* capture_calls.c: the calls that begin and end captures, and ask about them. */
#include "shim/cuda/capture.h"

#include <stdlib.h>

/* ---- Beginning --------------------------------------------------------------------------------------------------- */

/* graph: NULL: one of its own. */
static CUresult begin(CUstream stream, CUgraph graph, CUstreamCaptureMode mode, lw_cu_branch **out) {
    static uint64_t last;
    if (mode > CU_STREAM_CAPTURE_MODE_RELAXED) return CUDA_ERROR_INVALID_VALUE;
    struct lw_cu_branch **place = lw_cu_branch_of(stream);
    if (!place) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    if (*place) return CUDA_ERROR_ILLEGAL_STATE;
    lw_cu_capturing *made = calloc(1, sizeof *made);
    if (!made) return CUDA_ERROR_OUT_OF_MEMORY;
    made->id = ++last;
    made->thread = lw_cu_capture_thread();
    made->mode = mode;
    made->owns_graph = !graph;
    made->graph = graph ? graph : lw_cu_graph_new(true, NULL);
    if (made->graph) made->graph->captures++;
    made->next = lw_cu_all_captures;
    lw_cu_all_captures = made;
    atomic_fetch_add(&lw_cu_captures, 1);
    *out = made->graph ? lw_cu_branch_new(made, stream) : NULL;
    if (*out) {
        (*out)->is_origin = true;
        return CUDA_SUCCESS;
    }
    lw_cu_capture_end(made, false);
    return CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult cuStreamBeginCapture_v2(CUstream stream, CUstreamCaptureMode mode) {
    LW_CU_GRAPH_CALL;
    lw_cu_branch *branch;
    const CUresult result = lw_cu_enter_stream(stream);
    return result ? result : begin(stream, NULL, mode, &branch);
}

CUresult cuStreamBeginCapture(CUstream stream) {
    return cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_GLOBAL);
}

/* Nodes that a stream comes after. */
static CUresult add_ends(lw_cu_branch *to, const CUgraphNode *nodes, const CUgraphEdgeData *data, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (!lw_cu_branch_add(to, nodes[i], data ? &data[i] : NULL)) return CUDA_ERROR_OUT_OF_MEMORY;
    return CUDA_SUCCESS;
}

CUresult cuStreamBeginCaptureToGraph(CUstream stream, CUgraph graph, const CUgraphNode *before,
                                     const CUgraphEdgeData *data, size_t count, CUstreamCaptureMode mode) {
    LW_CU_GRAPH_CALL;
    lw_cu_branch *branch;
    CUresult result = lw_cu_enter_stream(stream);
    if (!result) result = lw_cu_check_graph(graph);
    if (!result) result = lw_cu_check_add(graph, before, data, count);
    if (!result) result = begin(stream, graph, mode, &branch);
    if (result) return result;
    if ((result = add_ends(branch, before, data, count))) lw_cu_capture_end(branch->of, false);
    return result;
}

/* ---- Ending ------------------------------------------------------------------------------------------------------ */

/* All streams were joined again. */
static CUresult check_joined(const lw_cu_branch *origin) {
    const uint64_t mark = lw_cu_next_mark();
    if (!lw_cu_mark_before(origin, mark)) return CUDA_ERROR_OUT_OF_MEMORY;
    for (const lw_cu_branch *branch = origin->of->branches; branch; branch = branch->next)
        if (!lw_cu_branch_is_marked(branch, mark)) return CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
    return CUDA_SUCCESS;
}

CUresult cuStreamEndCapture(CUstream stream, CUgraph *graph) {
    LW_CU_GRAPH_CALL;
    CUresult result = lw_cu_enter_stream(stream);
    if (result) return result;
    if (!graph) return CUDA_ERROR_INVALID_VALUE;
    lw_cu_branch *branch = lw_cu_find_branch(stream);
    *graph = NULL;
    if (!branch) return CUDA_ERROR_ILLEGAL_STATE;
    lw_cu_capturing *of = branch->of;
    if (!branch->is_origin) {
        of->is_void = true;
        return CUDA_ERROR_STREAM_CAPTURE_UNMATCHED;
    }
    const bool is_wrong = of->mode != CU_STREAM_CAPTURE_MODE_RELAXED && of->thread != lw_cu_capture_thread();
    result = is_wrong      ? CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD
             : of->is_void ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED
                           : check_joined(branch);
    if (!result) *graph = of->graph;
    lw_cu_capture_end(of, !result);
    return result;
}

/* ---- Questions --------------------------------------------------------------------------------------------------- */

/* *branch: NULL: it is not captured. */
static CUresult look(CUstream stream, CUstreamCaptureStatus *status, lw_cu_branch **branch) {
    const CUresult result = lw_cu_enter_stream(stream);
    if (result) return result;
    if (!status) return CUDA_ERROR_INVALID_VALUE;
    if (lw_cu_blocked_by(stream)) return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
    *branch = lw_cu_find_branch(stream);
    *status = !*branch                 ? CU_STREAM_CAPTURE_STATUS_NONE
              : (*branch)->of->is_void ? CU_STREAM_CAPTURE_STATUS_INVALIDATED
                                       : CU_STREAM_CAPTURE_STATUS_ACTIVE;
    return CUDA_SUCCESS;
}

CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus *status) {
    LW_CU_GRAPH_CALL;
    lw_cu_branch *branch;
    return look(stream, status, &branch);
}

static bool says_more(const lw_cu_branch *branch) {
    static const CUgraphEdgeData zero;
    for (size_t i = 0; i < branch->ends.count; i++)
        if (memcmp(&branch->ends.at[i].data, &zero, sizeof zero)) return true;
    return false;
}

static CUresult tell(CUstream stream, CUstreamCaptureStatus *status, uint64_t *id, CUgraph *graph,
                     const CUgraphNode **before, const CUgraphEdgeData **data, size_t *count) {
    lw_cu_branch *branch;
    const CUresult result = look(stream, status, &branch);
    if (result) return result;
    if (data && !before) return CUDA_ERROR_INVALID_VALUE;
    if (*status != CU_STREAM_CAPTURE_STATUS_ACTIVE) return CUDA_SUCCESS;
    if (before && !data && says_more(branch)) return CUDA_ERROR_LOSSY_QUERY;
    if (!lw_cu_branch_arrays(branch)) return CUDA_ERROR_OUT_OF_MEMORY;
    if (id) *id = branch->of->id;
    if (graph) *graph = branch->of->graph;
    if (before) *before = branch->nodes;
    if (data) *data = branch->data;
    if (count) *count = branch->ends.count;
    return CUDA_SUCCESS;
}

CUresult cuStreamGetCaptureInfo_v3(CUstream stream, CUstreamCaptureStatus *status, uint64_t *id, CUgraph *graph,
                                   const CUgraphNode **before, const CUgraphEdgeData **data, size_t *count) {
    LW_CU_GRAPH_CALL;
    return tell(stream, status, id, graph, before, data, count);
}

CUresult cuStreamGetCaptureInfo_v2(CUstream stream, CUstreamCaptureStatus *status, uint64_t *id, CUgraph *graph,
                                   const CUgraphNode **before, size_t *count) {
    LW_CU_GRAPH_CALL;
    return tell(stream, status, id, graph, before, NULL, count);
}

CUresult cuStreamGetCaptureInfo(CUstream stream, CUstreamCaptureStatus *status, uint64_t *id) {
    LW_CU_GRAPH_CALL;
    return tell(stream, status, id, NULL, NULL, NULL, NULL);
}

/* ---- Changes ----------------------------------------------------------------------------------------------------- */

static CUresult change(CUstream stream, const CUgraphNode *before, const CUgraphEdgeData *data, size_t count,
                       unsigned flags) {
    CUresult result = lw_cu_enter_stream(stream);
    if (result) return result;
    lw_cu_branch *branch = lw_cu_find_branch(stream);
    if (!branch) return CUDA_ERROR_ILLEGAL_STATE;
    if (branch->of->is_void) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    if (flags > CU_STREAM_SET_CAPTURE_DEPENDENCIES) return CUDA_ERROR_INVALID_VALUE;
    if ((result = lw_cu_check_add(branch->of->graph, before, data, count))) return result;
    if (flags == CU_STREAM_SET_CAPTURE_DEPENDENCIES) branch->ends.count = 0;
    return add_ends(branch, before, data, count);
}

CUresult cuStreamUpdateCaptureDependencies_v2(CUstream stream, CUgraphNode *before, const CUgraphEdgeData *data,
                                              size_t count, unsigned flags) {
    LW_CU_GRAPH_CALL;
    return change(stream, before, data, count, flags);
}

CUresult cuStreamUpdateCaptureDependencies(CUstream stream, CUgraphNode *before, size_t count, unsigned flags) {
    LW_CU_GRAPH_CALL;
    return change(stream, before, NULL, count, flags);
}

CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode) {
    LW_CU_CALL;
    const CUresult result = lw_cu_ready();
    if (result) return result;
    if (!mode || *mode > CU_STREAM_CAPTURE_MODE_RELAXED) return CUDA_ERROR_INVALID_VALUE;
    const CUstreamCaptureMode before = lw_cu_capture_mode;
    lw_cu_capture_mode = *mode;
    *mode = before;
    return CUDA_SUCCESS;
}
