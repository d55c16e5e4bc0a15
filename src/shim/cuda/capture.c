/* capture.c: what a captured stream is given becomes nodes, and what a capture forbids.
 *
 * A capture has a branch for each of its streams: the nodes that the next one comes after. An event that is recorded in
 * such a stream holds what they were then; a stream that waits for it joins the capture, or comes after them, too. */
#include "shim/cuda/capture.h"

#include <stdlib.h>

_Atomic uint32_t lw_cu_captures;
lw_cu_capturing *lw_cu_all_captures;
_Thread_local CUstreamCaptureMode lw_cu_capture_mode;

/* What an event stands for that was recorded in a capture. */
typedef struct lw_cu_captured {
    uint64_t capture;
    size_t count;
    lw_cu_edge ends[];
} captured;

typedef lw_cu_capturing capturing;
typedef lw_cu_branch branch;

#define WITH_LOCK \
    __attribute__((cleanup(lw_cu_graphs_unlock))) char this_lock; \
    lw_cu_graphs_lock(&this_lock)

uint64_t lw_cu_capture_thread(void) {
    static _Atomic uint64_t threads;
    static _Thread_local uint64_t own;
    if (!own) own = atomic_fetch_add(&threads, 1) + 1;
    return own;
}

static bool any(void) { return atomic_load(&lw_cu_captures); }

/* ---- Sides ------------------------------------------------------------------------------------------------------- */

lw_cu_branch *lw_cu_find_branch(CUstream stream) {
    branch **place = any() ? lw_cu_branch_of(stream) : NULL;
    return place ? *place : NULL;
}

lw_cu_branch *lw_cu_branch_new(capturing *of, CUstream stream) {
    branch **place = lw_cu_branch_of(stream), *made = place ? calloc(1, sizeof *made) : NULL;
    if (!made) return NULL;
    made->of = of;
    made->place = place;
    made->context = lw_cu_is_default(stream) ? lw_cu_current() : stream->object.owner;
    made->blocks = lw_cu_is_default(stream) || stream->flags != CU_STREAM_NON_BLOCKING;
    made->next = of->branches;
    of->branches = *place = made;
    return made;
}

static void branch_drop(branch *dropped) {
    branch **link = &dropped->of->branches;
    while (*link != dropped) link = &(*link)->next;
    *link = dropped->next;
    *dropped->place = NULL;
    free(dropped->ends.at);
    free(dropped->nodes);
    free(dropped->data);
    free(dropped);
}

void lw_cu_capture_end(capturing *ended, bool keep_graph) {
    capturing **link = &lw_cu_all_captures;
    while (*link != ended) link = &(*link)->next;
    *link = ended->next;
    while (ended->branches) branch_drop(ended->branches);
    if (ended->graph) {
        ended->graph->captures--;
        if (ended->owns_graph && !keep_graph) lw_cu_graph_drop(ended->graph);
    }
    free(ended);
    atomic_fetch_sub(&lw_cu_captures, 1);
}

bool lw_cu_branch_add(branch *to, CUgraphNode node, const CUgraphEdgeData *data) {
    for (size_t i = 0; i < to->ends.count; i++)
        if (to->ends.at[i].node == node) return true;
    return lw_cu_edges_add(&to->ends, node, data);
}

bool lw_cu_branch_arrays(branch *of) {
    const size_t count = of->ends.count ? of->ends.count : 1;
    CUgraphNode *nodes = realloc(of->nodes, count * sizeof *nodes);
    if (nodes) of->nodes = nodes;
    CUgraphEdgeData *data = realloc(of->data, count * sizeof *data);
    if (data) of->data = data;
    if (!nodes || !data) return false;
    for (size_t i = 0; i < of->ends.count; i++) {
        nodes[i] = of->ends.at[i].node;
        data[i] = of->ends.at[i].data;
    }
    return true;
}

bool lw_cu_mark_before(const lw_cu_branch *of, uint64_t mark) {
    size_t count = 0;
    CUgraphNode *stack = calloc(of->of->graph->count + 1, sizeof(CUgraphNode));
    if (!stack) return false;
    const lw_cu_edges *edges = &of->ends;
    for (;;) {
        for (size_t i = 0; i < edges->count; i++) {
            CUgraphNode node = edges->at[i].node;
            if (node->mark != mark) stack[count++] = node;
            node->mark = mark;
        }
        if (!count) break;
        edges = &stack[--count]->before;
    }
    free(stack);
    return true;
}

bool lw_cu_branch_is_marked(const branch *of, uint64_t mark) {
    for (size_t i = 0; i < of->ends.count; i++)
        if (of->ends.at[i].node->mark != mark) return false;
    return true;
}

/* ---- What is captured -------------------------------------------------------------------------------------------- */

static CUresult end_by(capturing *of, CUresult result) {
    of->is_void = true;
    return result;
}

/* A node behind the ends of a branch, and its end then. Takes the step. */
static CUresult add_node(branch *to, CUgraphNodeType type, lw_cu_step *step) {
    CUgraphNode node;
    if (!lw_cu_branch_arrays(to) || !lw_cu_grow(&to->ends.at, 0, &to->ends.room, sizeof *to->ends.at)) {
        lw_cu_step_drop(step);
        return end_by(to->of, CUDA_ERROR_OUT_OF_MEMORY);
    }
    const CUresult result = lw_cu_node_add(&node, to->of->graph, to->nodes, to->data, to->ends.count, type, step, NULL);
    if (result) return end_by(to->of, result);
    to->ends.count = 0;
    return lw_cu_branch_add(to, node, NULL) ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY; /* which there is room for */
}

static CUresult add_op(branch *to, lw_cu_op *op) {
    lw_cu_step *step = lw_cu_step_of(op);
    return step ? add_node(to, step->params.type, step) : end_by(to->of, CUDA_ERROR_OUT_OF_MEMORY);
}

lw_cu_capturing *lw_cu_blocked_by(CUstream stream) {
    if (!any() || lw_cu_branch_of(stream)) return NULL;
    CUcontext context = lw_cu_current();
    for (capturing *each = lw_cu_all_captures; each; each = each->next)
        for (const branch *branch = each->branches; branch && !each->is_void; branch = branch->next)
            if (branch->blocks && branch->context == context) return each;
    return NULL;
}

/* The default stream would wait for what is captured. */
static CUresult check_default(CUstream stream) {
    capturing *blocking = lw_cu_blocked_by(stream);
    return blocking ? end_by(blocking, CUDA_ERROR_STREAM_CAPTURE_IMPLICIT) : CUDA_SUCCESS;
}

/* *is_taken: the operation is the step's. */
static CUresult capture(branch *to, lw_cu_op *op, bool *is_taken) {
    const bool can = op->kind != LW_CU_OP_CALLBACK && op->kind != LW_CU_OP_GRAPH && op->kind != LW_CU_OP_NOTHING;
    if (to->of->is_void) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    if (!can) return end_by(to->of, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    *is_taken = true;
    return add_op(to, op);
}

/* False: it goes into the stream as ever. */
static bool capture_locked(CUstream stream, lw_cu_op *op, bool *is_taken, CUresult *result) {
    WITH_LOCK;
    branch *to = lw_cu_find_branch(stream);
    *result = to ? capture(to, op, is_taken) : check_default(stream);
    return to || *result;
}

bool lw_cu_capture(CUstream stream, lw_cu_op *op, CUresult *result) {
    bool is_taken = false;
    const bool is_done = capture_locked(stream, op, &is_taken, result);
    if (is_done && !is_taken) lw_cu_op_free(op);
    return is_done;
}

bool lw_cu_is_captured(CUstream stream) {
    if (!any()) return false;
    WITH_LOCK;
    return lw_cu_find_branch(stream);
}

CUresult lw_cu_capture_launch(CUgraphExec exec, CUstream stream) {
    WITH_LOCK;
    branch *to = lw_cu_find_branch(stream);
    const CUresult result = lw_cu_check_exec(exec);
    if (result || !to) return result ? result : CUDA_ERROR_STREAM_CAPTURE_INVALIDATED; /* which another thread ended */
    return to->of->is_void ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED
                           : end_by(to->of, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
}

/* ---- Memory ------------------------------------------------------------------------------------------------------ */

static CUresult capture_memory(branch *to, CUgraphNodeParams *params) {
    lw_cu_step *step;
    CUgraph graph = to->of->graph;
    const bool is_free = params->type == CU_GRAPH_NODE_TYPE_MEM_FREE;
    if (to->of->is_void) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    CUresult result = is_free ? lw_cu_graph_may_free(graph, params->free.dptr)
                              : lw_cu_graph_allocate(graph, &params->alloc);
    if (!result) result = lw_cu_step_make(&step, params);
    if (!result) result = add_node(to, params->type, step);
    if (!result && is_free) lw_cu_graph_will_free(graph, params->free.dptr);
    return result;
}

bool lw_cu_capture_allocate(CUstream stream, CUmemoryPool pool, CUdeviceptr *address, size_t bytes, CUresult *result) {
    if (!any()) return false;
    WITH_LOCK;
    CUgraphNodeParams params = {
        .type = CU_GRAPH_NODE_TYPE_MEM_ALLOC,
        .alloc = {.poolProps = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                                .location = {CU_MEM_LOCATION_TYPE_DEVICE, lw_cu_current()->device}},
                  .bytesize = bytes}};
    branch *to = lw_cu_find_branch(stream);
    if (!to) return false;
    if (pool && pool->is_managed) {
        lw_cu_report(LW_CU_REPORT_ALL, "memory pools: graphs allocate memory of devices, and no managed memory");
        *result = CUDA_ERROR_NOT_SUPPORTED;
        return true;
    }
    *result = address ? capture_memory(to, &params) : CUDA_ERROR_INVALID_VALUE;
    if (!*result) *address = params.alloc.dptr;
    return true;
}

bool lw_cu_capture_free(CUstream stream, CUdeviceptr address, CUresult *result) {
    if (!any()) return false;
    WITH_LOCK;
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_MEM_FREE, .free = {address}};
    branch *to = lw_cu_find_branch(stream);
    if (to) *result = capture_memory(to, &params);
    return to;
}

/* ---- Events ------------------------------------------------------------------------------------------------------ */

static void set_captured(CUevent event, captured *now) { free(atomic_exchange(&event->captured, now)); }

void lw_cu_end_captured(CUevent event) { set_captured(event, NULL); }

static CUresult record_in(branch *in, CUevent event) {
    captured *made = malloc(sizeof *made + in->ends.count * sizeof made->ends[0]);
    if (!made) return end_by(in->of, CUDA_ERROR_OUT_OF_MEMORY);
    made->capture = in->of->id;
    made->count = in->ends.count;
    if (made->count) memcpy(made->ends, in->ends.at, made->count * sizeof made->ends[0]);
    set_captured(event, made);
    return CUDA_SUCCESS;
}

static CUresult event_node(branch *to, lw_cu_op_kind kind, CUevent event) {
    lw_cu_op op = {.kind = kind, .record = {.event = event}};
    lw_cu_hold(&event->object);
    return add_op(to, &op);
}

CUresult lw_cu_capture_record(CUevent event, CUstream stream, bool is_external, bool *is_done) {
    *is_done = any() || is_external;
    if (!*is_done && !atomic_load(&event->captured)) return CUDA_SUCCESS;
    WITH_LOCK;
    branch *in = lw_cu_find_branch(stream);
    *is_done = in;
    if (!in && is_external) return CUDA_ERROR_ILLEGAL_STATE;
    if (!in) {
        set_captured(event, NULL);
        return check_default(stream);
    }
    if (in->of->is_void) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    return is_external ? event_node(in, LW_CU_OP_RECORD, event) : record_in(in, event);
}

static capturing *find_capture(uint64_t id) {
    capturing *each = lw_cu_all_captures;
    while (each && each->id != id) each = each->next;
    return each;
}

/* A stream comes after what was recorded in a capture: it joins it, if it does not belong to it yet. */
static CUresult follow(branch *by, CUstream stream, const captured *what) {
    capturing *of = find_capture(what->capture);
    if (!of) return by ? end_by(by->of, CUDA_ERROR_CAPTURED_EVENT) : CUDA_ERROR_CAPTURED_EVENT;
    if (of->is_void) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    if (by && by->of != of) {
        by->of->is_void = true;
        return end_by(of, CUDA_ERROR_STREAM_CAPTURE_MERGE);
    }
    if (!by && !lw_cu_branch_of(stream)) return end_by(of, CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
    if (!by) by = lw_cu_branch_new(of, stream);
    bool is_added = by;
    for (size_t i = 0; i < what->count && is_added; i++)
        is_added = lw_cu_branch_add(by, what->ends[i].node, &what->ends[i].data);
    return is_added ? CUDA_SUCCESS : end_by(of, CUDA_ERROR_OUT_OF_MEMORY);
}

CUresult lw_cu_capture_wait(CUstream stream, CUevent event, bool is_external, bool *is_done) {
    *is_done = any() || is_external || atomic_load(&event->captured);
    if (!*is_done) return CUDA_SUCCESS;
    WITH_LOCK;
    branch *by = lw_cu_find_branch(stream);
    const captured *what = atomic_load(&event->captured);
    *is_done = by || (what && !is_external);
    if (by && by->of->is_void) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    if (is_external) return by ? event_node(by, LW_CU_OP_WAIT, event) : CUDA_ERROR_ILLEGAL_STATE;
    if (what) return follow(by, stream, what);
    return by ? end_by(by->of, CUDA_ERROR_STREAM_CAPTURE_ISOLATION) : check_default(stream);
}

/* ---- What is forbidden ------------------------------------------------------------------------------------------- */

CUresult lw_cu_may_wait(CUstream stream) {
    if (!any()) return CUDA_SUCCESS;
    WITH_LOCK;
    branch *in = lw_cu_find_branch(stream);
    if (!in) return check_default(stream);
    return in->of->is_void ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED
                           : end_by(in->of, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
}

CUresult lw_cu_may_wait_all(CUcontext context) {
    if (!any()) return CUDA_SUCCESS;
    WITH_LOCK;
    CUresult result = CUDA_SUCCESS;
    for (capturing *each = lw_cu_all_captures; each; each = each->next)
        for (const branch *branch = each->branches; branch; branch = branch->next)
            if (branch->context == context) result = end_by(each, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    return result;
}

CUresult lw_cu_may_ask(CUevent event) {
    if (!atomic_load(&event->captured)) return CUDA_SUCCESS;
    WITH_LOCK;
    const captured *what = atomic_load(&event->captured);
    capturing *of = what ? find_capture(what->capture) : NULL;
    if (of) of->is_void = true;
    return what ? CUDA_ERROR_CAPTURED_EVENT : CUDA_SUCCESS;
}

CUresult lw_cu_may_act(void) {
    if (!any() || lw_cu_capture_mode == CU_STREAM_CAPTURE_MODE_RELAXED) return CUDA_SUCCESS;
    WITH_LOCK;
    CUresult result = CUDA_SUCCESS;
    for (capturing *each = lw_cu_all_captures; each; each = each->next) {
        const bool is_own = each->thread == lw_cu_capture_thread() && each->mode != CU_STREAM_CAPTURE_MODE_RELAXED;
        const bool is_global = each->mode == CU_STREAM_CAPTURE_MODE_GLOBAL &&
                               lw_cu_capture_mode == CU_STREAM_CAPTURE_MODE_GLOBAL;
        if (is_own || is_global) result = end_by(each, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    }
    return result;
}

/* ---- What ends meanwhile ----------------------------------------------------------------------------------------- */

/* What it was given belongs to the capture as far as the stream that began it has come after it. */
static bool is_joined(const branch *in) {
    const uint64_t mark = lw_cu_next_mark();
    const branch *origin = in->of->branches;
    while (!origin->is_origin) origin = origin->next;
    return in->of->graph && in->ends.count && lw_cu_mark_before(origin, mark) && lw_cu_branch_is_marked(in, mark);
}

void lw_cu_leave_capture(CUstream stream) {
    WITH_LOCK;
    branch *in = lw_cu_find_branch(stream);
    if (!in) return;
    if (in->is_origin) lw_cu_capture_end(in->of, false);
    else {
        if (!is_joined(in)) in->of->is_void = true;
        branch_drop(in);
    }
}

static capturing *capture_in(CUcontext context) {
    for (capturing *each = lw_cu_all_captures; each; each = each->next)
        for (const branch *branch = each->branches; branch; branch = branch->next)
            if (branch->context == context) return each;
    return NULL;
}

void lw_cu_end_captures(CUcontext context) {
    WITH_LOCK;
    capturing *each;
    while ((each = capture_in(context))) lw_cu_capture_end(each, false);
}

void lw_cu_capture_lost(CUgraph graph) {
    for (capturing *each = lw_cu_all_captures; each; each = each->next)
        if (each->graph == graph) {
            each->graph = NULL;
            each->is_void = true;
        }
}
