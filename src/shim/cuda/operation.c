/* operation.c: what a stream does: each kind of operation, from its making to its end. */
#include "shim/cuda/array.h"

#include <stdlib.h>

static _Atomic CUresult fault;

CUresult lw_cu_fault(void) { return atomic_load(&fault); }

void lw_cu_spoil(CUresult error) {
    CUresult none = CUDA_SUCCESS; /* the first one stays */
    atomic_compare_exchange_strong(&fault, &none, error);
}

bool lw_cu_op_is_host(const lw_cu_op *op) {
    return op->kind == LW_CU_OP_HOST || op->kind == LW_CU_OP_CALLBACK ||
           (op->kind == LW_CU_OP_GRAPH && lw_cu_run_is_host(op->graph));
}

CUresult lw_cu_op_run(const lw_cu_op *op, CUresult error) {
    if (op->kind == LW_CU_OP_CALLBACK) op->callback.function(op->callback.stream, error, op->callback.user);
    if (error) return CUDA_SUCCESS; /* nothing else is done any more */
    switch (op->kind) {
    case LW_CU_OP_KERNEL: return lw_cu_run_kernel(op);
    case LW_CU_OP_COPY: return lw_cu_run_copy(op);
    case LW_CU_OP_FILL: return lw_cu_run_fill(op);
    case LW_CU_OP_HOST: op->host.function(op->host.user); break;
    case LW_CU_OP_RECORD: lw_cu_note_record(op->record.event, op->record.record); break;
    case LW_CU_OP_OTHER: return op->work(op->owned);
    case LW_CU_OP_GRAPH: return lw_cu_run_graph(op->graph);
    case LW_CU_OP_CALLBACK:
    case LW_CU_OP_WORDS:
    case LW_CU_OP_WAIT:
    case LW_CU_OP_NOTHING: break;
    }
    return CUDA_SUCCESS;
}

void lw_cu_op_free(lw_cu_op *op) {
    if (op->kind == LW_CU_OP_KERNEL) lw_cu_let_go(&op->kernel.function->object);
    if (op->kind == LW_CU_OP_RECORD || op->kind == LW_CU_OP_WAIT) lw_cu_let_go(&op->record.event->object);
    if (op->kind == LW_CU_OP_COPY && op->copy.to.array) lw_cu_let_go(&op->copy.to.array->object);
    if (op->kind == LW_CU_OP_COPY && op->copy.from.array) lw_cu_let_go(&op->copy.from.array->object);
    if (op->kind == LW_CU_OP_GRAPH) lw_cu_run_drop(op->graph);
    free(op->owned);
    op->owned = NULL;
}
