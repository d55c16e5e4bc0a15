/* library.c: the state of the driver: cuInit, the objects that live, results, reports. */
#include "session/environment.h"
#include "shim/cuda/driver.h"

#include <stdio.h>
#include <stdlib.h>

lw_cu_library lw_cu = {.lock = PTHREAD_MUTEX_INITIALIZER, .report = LW_CU_REPORT_ERRORS};

void lw_cu_lock(void) { pthread_mutex_lock(&lw_cu.lock); }
void lw_cu_unlock(void) { pthread_mutex_unlock(&lw_cu.lock); }

uint64_t lw_cu_next_id(void) {
    lw_cu_lock();
    uint64_t id = ++lw_cu.last_id;
    lw_cu_unlock();
    return id;
}

/* ---- Reports --------------------------------------------------------------------------------------------------- */

void lw_cu_report(lw_cu_level level, const char *format, ...) {
    if (level > lw_cu.report) return;
    lw_text text = {0};
    va_list args;
    va_start(args, format);
    lw_text_vsay(&text, format, args);
    va_end(args);
    if (text.at) fprintf(stderr, "lanewise: %s%s", text.at, text.at[text.size - 1] == '\n' ? "" : "\n");
    lw_text_free(&text);
}

static void read_devices(void) {
    const char *devices = lw_environment(LW_ENV_devices);
    char *end = NULL;
    const long count = devices ? strtol(devices, &end, 10) : 1;
    const bool is_good = !devices || (end != devices && !*end && count >= 0 && count <= LW_CU_DEVICES_MOST);
    if (!is_good)
        lw_cu_report(LW_CU_REPORT_ERRORS, "LANEWISE_DEVICES is '%s', and must be a number from 0 to %d", devices,
                     LW_CU_DEVICES_MOST);
    lw_cu.devices = is_good ? (int)count : 1;
}

static bool is_set(lw_variable id) {
    const char *value = lw_environment(id);
    return value && !strcmp(value, "1");
}

void lw_cu_read_report(void) {
    const char *report = lw_environment(LW_ENV_report);
    if (!report || !strcmp(report, "errors")) lw_cu.report = LW_CU_REPORT_ERRORS;
    else if (!strcmp(report, "none")) lw_cu.report = LW_CU_REPORT_NONE;
    else if (!strcmp(report, "all")) lw_cu.report = LW_CU_REPORT_ALL;
    else lw_cu_report(LW_CU_REPORT_ERRORS, "LANEWISE_REPORT is '%s', and must be none, errors or all", report);
}

static void read_environment(void) {
    const char *log = lw_environment(LW_ENV_log);
    lw_cu.blocking = is_set(LW_ENV_blocking);
    lw_cu.counts = is_set(LW_ENV_stats);
    lw_cu.strict = is_set(LW_ENV_strict);
    lw_cu.log = log && !strcmp(log, "calls");
    if (log && *log && !lw_cu.log) lw_cu_report(LW_CU_REPORT_ERRORS, "LANEWISE_LOG is '%s', and must be calls", log);
    lw_cu_read_report();
    read_devices();
}

/* ---- Beginning ------------------------------------------------------------------------------------------------- */

/* The workers do not exist in a child, so that it could only hang. CUDA does not survive a fork either. */
static void after_fork(void) {
    pthread_mutex_init(&lw_cu.lock, NULL);
    lw_cu_queues_after_fork();
    lw_cu_graphs_after_fork();
    lw_cu.forked = lw_cu.ready;
}

static bool choose_arch(void) {
    const char *name = lw_environment(LW_ENV_arch);
    lw_cu.arch = name ? lw_arch_find(name) : lw_arch_default();
    if (lw_cu.arch) return true;
    lw_text known = {0};
    lw_arch_names(&known);
    lw_cu_report(LW_CU_REPORT_ERRORS, "cuInit: LANEWISE_ARCH is '%s', and must be one of %s", name,
                 known.at ? known.at : "");
    lw_text_free(&known);
    return false;
}

static CUresult begin(void) {
    if (lw_cu.forked) return CUDA_ERROR_NOT_INITIALIZED;
    if (lw_cu.ready) return CUDA_SUCCESS;
    read_environment();
    if (lw_cu.log) fprintf(stderr, "lanewise: cuInit\n"); /* the call that it began with */
    if (!lw_cu.devices || !choose_arch()) return CUDA_ERROR_NO_DEVICE;
    /* All comes from the environment: LANEWISE_THREADS, LANEWISE_CPU and LANEWISE_SEMANTICS. */
    lw_options options = {0};
    lw_status status = lw_context_new(&options, &lw_cu.device);
    if (status == LW_NO_MEMORY) return CUDA_ERROR_OUT_OF_MEMORY;
    if (status != LW_OK) {
        lw_cu_report(LW_CU_REPORT_ERRORS, "cuInit: %s", lw_context_message(NULL));
        return CUDA_ERROR_NO_DEVICE;
    }
    if (!lw_cu_queues_begin() || pthread_atfork(NULL, NULL, after_fork)) {
        lw_context_free(lw_cu.device);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    if (lw_cu.counts) lw_cu.counts = lw_cu_stats_begin();
    lw_cu.ready = true;
    return CUDA_SUCCESS;
}

CUresult cuInit(unsigned flags) {
    LW_CU_CALL;
    if (flags) return CUDA_ERROR_INVALID_VALUE;
    lw_cu_lock();
    CUresult result = begin();
    lw_cu_unlock();
    return result;
}

CUresult lw_cu_ready(void) {
    if (!lw_cu.ready || lw_cu.forked) return CUDA_ERROR_NOT_INITIALIZED;
    return lw_cu_in_host_function() ? CUDA_ERROR_NOT_PERMITTED : CUDA_SUCCESS;
}

/* ---- Objects --------------------------------------------------------------------------------------------------- */

bool lw_cu_link(lw_cu_object *object, uint64_t key, lw_cu_kind kind, CUcontext owner) {
    object->key = key;
    object->kind = kind;
    object->owner = owner;
    object->next = object->previous = NULL;
    if (owner && lw_cu_table_find(&lw_cu.table, owner->object.key) != &owner->object) return false;
    if (!lw_cu_table_add(&lw_cu.table, object)) return false;
    if (!owner) return true;
    object->next = owner->objects[kind];
    if (object->next) object->next->previous = object;
    owner->objects[kind] = object;
    return true;
}

void lw_cu_unlink(lw_cu_object *object) {
    lw_cu_table_remove(&lw_cu.table, object);
    if (object->next) object->next->previous = object->previous;
    if (object->previous) object->previous->next = object->next;
    else if (object->owner) object->owner->objects[object->kind] = object->next;
}

void *lw_cu_new(size_t size, lw_cu_kind kind, CUcontext owner) {
    lw_cu_object *object = calloc(1, size);
    if (!object) return NULL;
    lw_cu_lock();
    bool known = lw_cu_link(object, (uintptr_t)object, kind, owner);
    lw_cu_unlock();
    if (known) return object;
    free(object);
    return NULL;
}

void *lw_cu_find(const void *handle, lw_cu_kind kind) {
    lw_cu_lock();
    lw_cu_object *object = handle ? lw_cu_table_find(&lw_cu.table, (uintptr_t)handle) : NULL;
    if (object && object->kind != kind) object = NULL;
    lw_cu_unlock();
    return object;
}

CUresult lw_cu_not_made(CUcontext owner) {
    return lw_cu_find(owner, LW_CU_CONTEXT) == owner ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_ERROR_CONTEXT_IS_DESTROYED;
}

static bool forget(lw_cu_object *object) {
    bool known = lw_cu_table_find(&lw_cu.table, object->key) == object;
    if (known) lw_cu_unlink(object);
    return known;
}

bool lw_cu_forget(lw_cu_object *object) {
    lw_cu_lock();
    bool known = forget(object);
    lw_cu_unlock();
    return known;
}

bool lw_cu_free(lw_cu_object *object) {
    lw_cu_lock();
    bool known = forget(object);
    if (known) lw_cu_bury(object);
    lw_cu_unlock();
    return known;
}

/* ---- Results --------------------------------------------------------------------------------------------------- */

CUresult lw_cu_result(lw_status status) {
    switch (status) {
    case LW_OK: return CUDA_SUCCESS;
    case LW_BAD_SOURCE: return CUDA_ERROR_INVALID_PTX;
    case LW_TRAPPED: return CUDA_ERROR_LAUNCH_FAILED;
    case LW_STOPPED: return CUDA_ERROR_LAUNCH_TIMEOUT;
    case LW_BAD_ARGUMENT: return CUDA_ERROR_INVALID_VALUE;
    case LW_NOT_FOUND: return CUDA_ERROR_NOT_FOUND;
    case LW_NO_MEMORY: return CUDA_ERROR_OUT_OF_MEMORY;
    case LW_UNSUPPORTED: return CUDA_ERROR_NOT_SUPPORTED;
    }
    return CUDA_ERROR_UNKNOWN;
}

CUresult lw_cu_fail(const char *call, lw_status status) {
    if (status != LW_OK) lw_cu_report(LW_CU_REPORT_ALL, "%s: %s", call, lw_context_message(lw_cu.device));
    return lw_cu_result(status);
}
