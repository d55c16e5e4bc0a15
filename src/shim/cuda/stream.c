/* stream.c: the calls on streams. What is in them, and who does it, is queue.c's. */
#include "shim/cuda/driver.h"

#include <stdlib.h>

bool lw_cu_is_default(CUstream stream) {
    return !stream || stream == CU_STREAM_LEGACY || stream == CU_STREAM_PER_THREAD;
}

CUresult lw_cu_check_stream(CUstream stream) {
    return lw_cu_is_default(stream) || lw_cu_find(stream, LW_CU_STREAM) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

CUresult lw_cu_enter_stream(CUstream stream) {
    CUresult result = lw_cu_enter(NULL);
    return result ? result : lw_cu_check_stream(stream);
}

/* ---- Making and ending ----------------------------------------------------------------------------------------- */

CUresult cuStreamCreateWithPriority(CUstream *stream, unsigned flags, int priority) {
    LW_CU_CALL;
    CUcontext context;
    CUresult result = lw_cu_enter(&context);
    if (result) return result;
    if (!stream || flags > CU_STREAM_NON_BLOCKING) return CUDA_ERROR_INVALID_VALUE;
    struct lw_cu_queue *queue = lw_cu_queue_new(context, flags != CU_STREAM_NON_BLOCKING);
    if (!queue) return CUDA_ERROR_OUT_OF_MEMORY;
    CUstream made = lw_cu_new(sizeof *made, LW_CU_STREAM, context);
    if (!made) {
        lw_cu_queue_drop(queue);
        return lw_cu_not_made(context);
    }
    made->queue = queue;
    made->flags = flags;
    (void)priority; /* cut to the range, which is 0 to 0 */
    made->id = lw_cu_next_id();
    *stream = made;
    return CUDA_SUCCESS;
}

CUresult cuStreamCreate(CUstream *stream, unsigned flags) {
    LW_CU_CALL;
    return cuStreamCreateWithPriority(stream, flags, 0);
}

/* What is in it is done all the same. */
CUresult cuStreamDestroy_v2(CUstream stream) {
    LW_CU_CALL;
    CUresult result = lw_cu_enter_with(stream, LW_CU_STREAM);
    if (result) return result;
    lw_cu_free(&stream->object);
    return CUDA_SUCCESS;
}
LW_CU_SAME(cuStreamDestroy, cuStreamDestroy_v2);

/* ---- Waiting --------------------------------------------------------------------------------------------------- */

CUresult cuStreamSynchronize(CUstream stream) {
    LW_CU_CALL;
    CUresult result = lw_cu_enter_stream(stream);
    return result ? result : lw_cu_wait_stream(stream);
}

CUresult cuStreamQuery(CUstream stream) {
    LW_CU_CALL;
    CUresult result = lw_cu_enter_stream(stream);
    if (result) return result;
    return lw_cu_is_idle(stream) ? lw_cu_enter(NULL) : CUDA_ERROR_NOT_READY;
}

/* ---- Questions ------------------------------------------------------------------------------------------------- */

CUresult cuStreamGetFlags(CUstream stream, unsigned *flags) {
    LW_CU_CALL;
    CUresult result = lw_cu_enter_stream(stream);
    if (result) return result;
    if (!flags) return CUDA_ERROR_INVALID_VALUE;
    *flags = lw_cu_is_default(stream) ? 0 : stream->flags;
    return CUDA_SUCCESS;
}

CUresult cuStreamGetPriority(CUstream stream, int *priority) {
    LW_CU_CALL;
    CUresult result = lw_cu_enter_stream(stream);
    if (result) return result;
    if (!priority) return CUDA_ERROR_INVALID_VALUE;
    *priority = 0;
    return CUDA_SUCCESS;
}

CUresult cuStreamGetCtx(CUstream stream, CUcontext *context) {
    LW_CU_CALL;
    CUcontext current;
    CUresult result = lw_cu_enter(&current);
    if (!result) result = lw_cu_check_stream(stream);
    if (result) return result;
    if (!context) return CUDA_ERROR_INVALID_VALUE;
    *context = lw_cu_is_default(stream) ? current : stream->object.owner;
    return CUDA_SUCCESS;
}

CUresult cuStreamGetId(CUstream stream, unsigned long long *id) {
    LW_CU_CALL;
    CUresult result = lw_cu_enter_stream(stream);
    if (result) return result;
    if (!id) return CUDA_ERROR_INVALID_VALUE;
    if (!stream) stream = lw_cu_per_thread ? CU_STREAM_PER_THREAD : CU_STREAM_LEGACY; /* two names of one stream */
    *id = lw_cu_is_default(stream) ? (uintptr_t)stream : stream->id + (uintptr_t)CU_STREAM_PER_THREAD;
    return CUDA_SUCCESS;
}

CUresult cuStreamGetDevice(CUstream stream, CUdevice *device) {
    LW_CU_CALL;
    CUresult result = lw_cu_enter_stream(stream);
    if (result) return result;
    if (!device) return CUDA_ERROR_INVALID_VALUE;
    *device = (lw_cu_is_default(stream) ? lw_cu_current() : stream->object.owner)->device;
    return CUDA_SUCCESS;
}

/* ---- The program's functions ----------------------------------------------------------------------------------- */

CUresult cuStreamAddCallback(CUstream stream, CUstreamCallback callback, void *user, unsigned flags) {
    LW_CU_CALL;
    CUresult result = lw_cu_enter_stream(stream);
    if (result) return result;
    if (!callback || flags) return CUDA_ERROR_INVALID_VALUE;
    return lw_cu_submit(
        stream,
        &(lw_cu_op){.kind = LW_CU_OP_CALLBACK, .callback = {.function = callback, .stream = stream, .user = user}},
        NULL);
}

CUresult cuLaunchHostFunc(CUstream stream, CUhostFn function, void *user) {
    LW_CU_CALL;
    CUresult result = lw_cu_enter_stream(stream);
    if (result) return result;
    if (!function) return CUDA_ERROR_INVALID_VALUE;
    return lw_cu_submit(stream, &(lw_cu_op){.kind = LW_CU_OP_HOST, .host = {.function = function, .user = user}}, NULL);
}

/* ---- Memory that is waited for and written --------------------------------------------------------------------- */

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
static void *place_of(const word *word) {
    uint64_t base, size;
    const bool is_there = lw_memory_range(lw_cu.device, word->at, &base, &size) == LW_OK;
    return is_there && word->size <= size - (word->at - base) ? lw_cu_host_address(word->at) : NULL;
}

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
