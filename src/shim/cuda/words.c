/* words.c: streams that wait for words of memory, and write some. */
#include "shim/cuda/driver.h"

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

static CUresult submit_word(CUstream stream, lw_cu_work *work, word word, unsigned flags_most) {
    CUresult result = lw_cu_enter_stream(stream);
    if (result) return result;
    if (!word.at || word.at % word.size || word.flags > flags_most) return CUDA_ERROR_INVALID_VALUE;
    if (!place_of(&word)) return CUDA_ERROR_INVALID_VALUE;
    return lw_cu_enqueue(stream, work, &word, sizeof word);
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

static CUresult submit_one(CUstream stream, const CUstreamBatchMemOpParams *op) {
    const CUdeviceptr at = op->word.address;
    const unsigned flags = op->word.flags;
    switch (op->operation) {
    case CU_STREAM_MEM_OP_WAIT_VALUE_32: return cuStreamWaitValue32_v2(stream, at, (uint32_t)op->word.value, flags);
    case CU_STREAM_MEM_OP_WAIT_VALUE_64: return cuStreamWaitValue64_v2(stream, at, op->word.value, flags);
    case CU_STREAM_MEM_OP_WRITE_VALUE_32: return cuStreamWriteValue32_v2(stream, at, (uint32_t)op->word.value, flags);
    case CU_STREAM_MEM_OP_WRITE_VALUE_64: return cuStreamWriteValue64_v2(stream, at, op->word.value, flags);
    case CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES:
    case CU_STREAM_MEM_OP_BARRIER: return CUDA_SUCCESS; /* what a stream does is in order anyway */
    default: return CUDA_ERROR_INVALID_VALUE;
    }
}

CUresult cuStreamBatchMemOp_v2(CUstream stream, unsigned count, CUstreamBatchMemOpParams *ops, unsigned flags) {
    LW_CU_CALL;
    enum { MOST = 256 };
    CUresult result = lw_cu_enter_stream(stream);
    if (result) return result;
    if (flags || count > MOST || (count && !ops)) return CUDA_ERROR_INVALID_VALUE;
    for (unsigned i = 0; i < count && !result; i++) result = submit_one(stream, &ops[i]);
    return result;
}
LW_CU_SAME(cuStreamBatchMemOp, cuStreamBatchMemOp_v2);
