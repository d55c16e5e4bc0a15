/* register.c: what compilers make programs say when they begin: which images there are, and which of the program's
 * functions and variables stand for what in them. Nothing is loaded here. */
#include "shim/cudart/runtime.h"

#include <stdatomic.h>
#include <stdlib.h>

pthread_mutex_t lw_rt_lock = PTHREAD_MUTEX_INITIALIZER;

/* ---- Keys ------------------------------------------------------------------------------------------------------ */

enum { BITS = 10 };
static lw_rt_key *buckets[1 << BITS];

static lw_rt_key **bucket(const void *key) {
    return &buckets[((uintptr_t)key >> 2) * 0x9e3779b97f4a7c15ull >> (64 - BITS)];
}

void lw_rt_add_key(lw_rt_key *key, const void *at, lw_rt_entry *entry) {
    lw_rt_key **first = bucket(at);
    *key = (lw_rt_key){at, entry, *first};
    *first = key;
}

void lw_rt_remove_key(lw_rt_key *key) {
    lw_rt_key **at = bucket(key->key);
    while (*at && *at != key) at = &(*at)->next;
    if (*at) *at = key->next;
    key->key = NULL;
}

lw_rt_entry *lw_rt_find(const void *key) {
    for (lw_rt_key *found = key ? *bucket(key) : NULL; found; found = found->next)
        if (found->key == key) return found->entry;
    return NULL;
}

void *lw_rt_place_of(CUfunction function) {
    const void *place = function;
    pthread_mutex_lock(&lw_rt_lock);
    for (size_t i = 0; i < sizeof buckets / sizeof buckets[0]; i++)
        for (const lw_rt_key *key = buckets[i]; key; key = key->next)
            if (key == &key->entry->host && key->entry->function == function) place = key->key;
    pthread_mutex_unlock(&lw_rt_lock);
    return (void *)(uintptr_t)place;
}

/* ---- Images ---------------------------------------------------------------------------------------------------- */

/* The handle is ours to choose; that it points to pointers is all that programs know. */
void **__cudaRegisterFatBinary(void *data) {
    lw_rt_image *image = calloc(1, sizeof *image);
    if (image) image->data = data;
    return (void **)image;
}

void __cudaRegisterFatBinaryEnd(void **handle) { (void)handle; }

static atomic_bool process_ends;

static void note_end(void) { atomic_store(&process_ends, true); }

/* Programs ask to unregister an image when they end as they register it. What is asked for after that is done before.
 */
void lw_rt_watch_end(void) { (void)!atexit(note_end); }

/* Kernels that run when the process ends end with it, as on a GPU: they need not do so by themselves. */
void __cudaUnregisterFatBinary(void **handle) {
    lw_rt_image *image = (lw_rt_image *)handle;
    if (!image) return;
    pthread_mutex_lock(&lw_rt_lock);
    for (lw_rt_entry *next, *entry = image->entries; entry; entry = next) {
        next = entry->next;
        lw_rt_remove_key(&entry->host);
        if (entry->other.key) lw_rt_remove_key(&entry->other);
        free(entry);
    }
    pthread_mutex_unlock(&lw_rt_lock);
    if (image->library && !atomic_load(&process_ends))
        lw_driver.cuLibraryUnload(image->library); /* waits for kernels, which may wait for others */
    free(image);
}

/* ---- What is in them ------------------------------------------------------------------------------------------- */

/* NULL: no memory, so that it will not be found later. */
static lw_rt_entry *add(void **handle, const void *host, const char *name, lw_rt_kind kind) {
    lw_rt_image *image = (lw_rt_image *)handle;
    lw_rt_entry *entry = image && host && name ? calloc(1, sizeof *entry) : NULL;
    if (!entry) return NULL;
    entry->image = image;
    entry->kind = kind;
    entry->name = name;
    pthread_mutex_lock(&lw_rt_lock);
    entry->next = image->entries;
    image->entries = entry;
    lw_rt_add_key(&entry->host, host, entry);
    if (kind == LW_RT_FUNCTION) lw_rt_add_key(&entry->other, entry, entry);
    pthread_mutex_unlock(&lw_rt_lock);
    return entry;
}

void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name, int threads, void *tid,
                            void *bid, void *block, void *grid, int *warp) {
    (void)device, (void)threads, (void)tid, (void)bid, (void)block, (void)grid, (void)warp;
    add(handle, host, name, LW_RT_FUNCTION);
}

void __cudaRegisterVar(void **handle, char *host, char *device, const char *name, int ext, size_t size, int constant,
                       int global) {
    (void)device, (void)ext, (void)constant, (void)global;
    lw_rt_entry *entry = add(handle, host, name, LW_RT_VARIABLE);
    if (entry) entry->size = size;
}

void __cudaRegisterManagedVar(void **handle, void **host, char *device, const char *name, int ext, size_t size,
                              int constant, int global) {
    (void)device, (void)ext, (void)constant, (void)global;
    lw_rt_entry *entry = add(handle, host, name, LW_RT_MANAGED);
    if (!entry) return;
    entry->size = size;
    entry->managed = host;
}

/* References to textures and surfaces are gone from CUDA. */
void __cudaRegisterTexture(void **handle, const void *host, const void **device, const char *name, int dimensions,
                           int normalized, int ext) {
    (void)handle, (void)host, (void)device, (void)name, (void)dimensions, (void)normalized, (void)ext;
}

void __cudaRegisterSurface(void **handle, const void *host, const void **device, const char *name, int dimensions,
                           int ext) {
    (void)handle, (void)host, (void)device, (void)name, (void)dimensions, (void)ext;
}
