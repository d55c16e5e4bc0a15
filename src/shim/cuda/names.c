/* names.c: every exported name: those that are not implemented, and how cuGetProcAddress finds them all. */
#include "shim/cuda/driver.h"

/* ---- What is not implemented ----------------------------------------------------------------------------------- */

static CUresult missing(const char *name) {
    lw_cu_report(lw_cu.log ? LW_CU_REPORT_NONE : LW_CU_REPORT_ALL, "%s is not supported", name);
    return CUDA_ERROR_NOT_SUPPORTED;
}

/* Callers pass arguments that nobody reads: on all our platforms it is the caller who cleans them up. */
#define HERE(name, version, thread, symbol)
#define MISSING(name, version, thread, symbol) \
    CUresult symbol(void) __attribute__((visibility("default"))); \
    CUresult symbol(void) { return missing(#symbol); }
#include "shim/cuda/names.def"
#undef HERE
#undef MISSING

/* ---- cuGetProcAddress ------------------------------------------------------------------------------------------ */

typedef void function(void);
typedef struct row {
    const char *name, *thread;
    int version;
    function *symbol;
} row;

static const row rows[] = {
#define HERE(name, version, thread, symbol) {#name, #thread, version, (function *)symbol},
#define MISSING                             HERE
#include "shim/cuda/names.def"
#undef HERE
#undef MISSING
};

/* The newest variant that is not newer than `version`. *known: the name exists in some version. */
static const row *find(const char *name, int version, bool thread, bool *known) {
    const row *best = NULL;
    for (size_t i = 0; i < LW_COUNT(rows); i++) {
        const row *row = &rows[i];
        if (strcmp(row->name, name) || (row->thread[1] && !thread)) continue;
        *known = true;
        if (row->version <= version && (!best || row->version >= best->version || row->thread[1])) best = row;
    }
    return best;
}

static CUresult look_up(const char *name, void **function, int version, uint64_t flags,
                        CUdriverProcAddressQueryResult *why) {
    bool known = false;
    if (!name || !*name || !function || (flags & ~3ull) || flags == 3) return CUDA_ERROR_INVALID_VALUE;
    const row *found = find(name, version, flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, &known);
    *function = found ? (void *)found->symbol : NULL;
    if (why)
        *why = found   ? CU_GET_PROC_ADDRESS_SUCCESS
               : known ? CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT
                       : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    if (!found) lw_cu_report(LW_CU_REPORT_ALL, "cuGetProcAddress: there is no %s for version %d", name, version);
    return found || why ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

CUresult cuGetProcAddress(const char *name, void **function, int version, uint64_t flags) {
    LW_CU_CALL;
    return look_up(name, function, version, flags, NULL);
}

CUresult cuGetProcAddress_v2(const char *name, void **function, int version, uint64_t flags,
                             CUdriverProcAddressQueryResult *why) {
    LW_CU_CALL;
    return look_up(name, function, version, flags, why);
}

/* Private tables are nothing that a program may rely on, so there is none. Who asks for one is the vendor's runtime
 * inside of a program, which then says no more than that something failed. */
CUresult cuGetExportTable(const void **table, const CUuuid *id) {
    static bool said;
    LW_CU_CALL;
    if (!table || !id) return CUDA_ERROR_INVALID_VALUE;
    *table = NULL;
    lw_cu_lock();
    const bool is_first = !said;
    said = true;
    if (is_first && !lw_cu.ready) lw_cu_read_report(); /* it is asked before all else */
    lw_cu_unlock();
    if (is_first)
        lw_cu_report(LW_CU_REPORT_ERRORS,
                     "the program has the vendor's static runtime inside, which takes private tables "
                     "of its driver: link it with `-cudart shared`, and it takes Lanewise's");
    return CUDA_ERROR_NOT_FOUND;
}
