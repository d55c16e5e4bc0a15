/* words.c: streams that wait for words of memory, and write some. */
#include "shim/cuda/driver.h"

#include <stdlib.h>

typedef struct word {
    CUdeviceptr at;
    uint64_t value;
    uint32_t size;
    unsigned flags;
} word;

static bool is_met(uint64_t now, const word *wanted) {
    const uint64_t value = wanted->value, top = 1ull << (wanted->size * 8 - 1);
    switch (wanted->flags) {
    case CU_STREAM_WAIT_VALUE_GEQ: return !((now - value) & top); /* around the end of the numbers, too */
    case CU_STREAM_WAIT_VALUE_EQ: return now == value;
    case CU_STREAM_WAIT_VALUE_AND: return now & value;
    default: return ~(now | value) << (64 - wanted->size * 8);
    }
}

/* Where the host sees it; NULL: it is no device memory any more. */
static void *place_of(const word *word) { return lw_cu_place(word->at, word->size); }

/* Others write it meanwhile. */
static CUresult wait_value(void *data) {
    const word *wanted = data;
    const void *place = place_of(wanted);
    if (!place) return CUDA_ERROR_ILLEGAL_ADDRESS;
    const uint64_t now = wanted->size == sizeof now ? __atomic_load_n((const uint64_t *)place, __ATOMIC_ACQUIRE)
                                                    : __atomic_load_n((const uint32_t *)place, __ATOMIC_ACQUIRE);
    return is_met(now, wanted) ? CUDA_SUCCESS : LW_CU_LATER;
}

static CUresult write_value(void *data) {
    const word *written = data;
    void *place = place_of(written);
    if (!place) return CUDA_ERROR_ILLEGAL_ADDRESS;
    if (written->size == sizeof written->value) __atomic_store_n((uint64_t *)place, written->value, __ATOMIC_RELEASE);
    else __atomic_store_n((uint32_t *)place, (uint32_t)written->value, __ATOMIC_RELEASE);
    return CUDA_SUCCESS;
}

static CUresult check(const word *word, unsigned flags_most) {
    if (!word->at || word->at % word->size || word->flags > flags_most) return CUDA_ERROR_INVALID_VALUE;
    return place_of(word) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static CUresult submit_word(CUstream stream, lw_cu_work *work, word word, unsigned flags_most) {
    CUresult result = lw_cu_enter_stream(stream);
    if (!result) result = check(&word, flags_most);
    return result ? result : lw_cu_enqueue(stream, work, &word, sizeof word);
}

enum { WAIT_MOST = CU_STREAM_WAIT_VALUE_NOR, WRITE_MOST = CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER };

CUresult cuStreamWaitValue32_v2(CUstream stream, CUdeviceptr at, uint32_t value, unsigned flags) {
    LW_CU_CALL;
    return submit_word(stream, wait_value, (word){at, value, sizeof value, flags & ~CU_STREAM_WAIT_VALUE_FLUSH},
                       WAIT_MOST);
}

CUresult cuStreamWaitValue64_v2(CUstream stream, CUdeviceptr at, uint64_t value, unsigned flags) {
    LW_CU_CALL;
    return submit_word(stream, wait_value, (word){at, value, sizeof value, flags & ~CU_STREAM_WAIT_VALUE_FLUSH},
                       WAIT_MOST);
}

CUresult cuStreamWriteValue32_v2(CUstream stream, CUdeviceptr at, uint32_t value, unsigned flags) {
    LW_CU_CALL;
    return submit_word(stream, write_value, (word){at, value, sizeof value, flags}, WRITE_MOST);
}

CUresult cuStreamWriteValue64_v2(CUstream stream, CUdeviceptr at, uint64_t value, unsigned flags) {
    LW_CU_CALL;
    return submit_word(stream, write_value, (word){at, value, sizeof value, flags}, WRITE_MOST);
}

/* The calls of old have other numbers for the same. */
LW_CU_SAME(cuStreamWaitValue32, cuStreamWaitValue32_v2);
LW_CU_SAME(cuStreamWaitValue64, cuStreamWaitValue64_v2);
LW_CU_SAME(cuStreamWriteValue32, cuStreamWriteValue32_v2);
LW_CU_SAME(cuStreamWriteValue64, cuStreamWriteValue64_v2);

/* ---- Many at once ---------------------------------------------------------------------------------------------- */

enum { BATCH_MOST = 256 };

/* What it does with which word; *work NULL: nothing, since what a stream does is in order anyway. */
static CUresult read_op(const CUstreamBatchMemOpParams *op, word *word, lw_cu_work **work) {
    const bool is_wait = op->operation == CU_STREAM_MEM_OP_WAIT_VALUE_32 ||
                         op->operation == CU_STREAM_MEM_OP_WAIT_VALUE_64;
    *work = NULL;
    switch (op->operation) {
    case CU_STREAM_MEM_OP_WAIT_VALUE_32:
    case CU_STREAM_MEM_OP_WRITE_VALUE_32: word->size = 4; break;
    case CU_STREAM_MEM_OP_WAIT_VALUE_64:
    case CU_STREAM_MEM_OP_WRITE_VALUE_64: word->size = 8; break;
    case CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES:
    case CU_STREAM_MEM_OP_BARRIER: return CUDA_SUCCESS;
    default: return CUDA_ERROR_INVALID_VALUE;
    }
    *work = is_wait ? wait_value : write_value;
    word->at = op->word.address;
    word->value = word->size == 4 ? (uint32_t)op->word.value : op->word.value;
    word->flags = is_wait ? op->word.flags & ~(unsigned)CU_STREAM_WAIT_VALUE_FLUSH : op->word.flags;
    return check(word, is_wait ? WAIT_MOST : WRITE_MOST);
}

static CUresult submit_one(CUstream stream, const CUstreamBatchMemOpParams *op) {
    word word;
    lw_cu_work *work;
    const CUresult result = read_op(op, &word, &work);
    return result || !work ? result : lw_cu_enqueue(stream, work, &word, sizeof word);
}

CUresult cuStreamBatchMemOp_v2(CUstream stream, unsigned count, CUstreamBatchMemOpParams *ops, unsigned flags) {
    LW_CU_CALL;
    CUresult result = lw_cu_enter_stream(stream);
    if (result) return result;
    if (flags || count > BATCH_MOST || (count && !ops)) return CUDA_ERROR_INVALID_VALUE;
    for (unsigned i = 0; i < count && !result; i++) result = submit_one(stream, &ops[i]);
    return result;
}
LW_CU_SAME(cuStreamBatchMemOp, cuStreamBatchMemOp_v2);

/* ---- Many at once, by graphs ------------------------------------------------------------------------------------- */

CUresult lw_cu_words_make(lw_cu_op *op, const CUDA_BATCH_MEM_OP_NODE_PARAMS *params) {
    const size_t size = params->count * sizeof *params->paramArray;
    CUresult result = CUDA_SUCCESS;
    word word;
    lw_cu_work *work;
    if (params->flags || params->count > BATCH_MOST || (size && !params->paramArray)) return CUDA_ERROR_INVALID_VALUE;
    if (!lw_cu_find(params->ctx, LW_CU_CONTEXT)) return CUDA_ERROR_INVALID_VALUE;
    for (unsigned i = 0; i < params->count && !result; i++) result = read_op(&params->paramArray[i], &word, &work);
    if (result) return result;
    *op = (lw_cu_op){.kind = LW_CU_OP_WORDS, .owned = malloc(size ? size : 1), .words = params->count};
    if (!op->owned) return CUDA_ERROR_OUT_OF_MEMORY;
    if (size) memcpy(op->owned, params->paramArray, size);
    return CUDA_SUCCESS;
}

bool lw_cu_words_alike(const lw_cu_op *a, const lw_cu_op *b) {
    const CUstreamBatchMemOpParams *of_a = a->owned, *of_b = b->owned;
    if (a->kind != LW_CU_OP_WORDS || b->kind != LW_CU_OP_WORDS) return a->kind == b->kind; /* of captures */
    bool alike = a->words == b->words;
    for (uint32_t i = 0; alike && i < a->words; i++) alike = of_a[i].operation == of_b[i].operation;
    return alike;
}

CUresult lw_cu_word_run(const lw_cu_op *op, uint32_t index) {
    word word;
    lw_cu_work *work;
    if (read_op((const CUstreamBatchMemOpParams *)op->owned + index, &word, &work)) return CUDA_ERROR_ILLEGAL_ADDRESS;
    return work ? work(&word) : CUDA_SUCCESS;
}
