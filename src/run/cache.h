/* cache.h: compiled code on disk, shared by processes: a folder of files, one for each program, CPU level, and layout
 * of a block's threads.
 *
 * Nobody waits for it, and nothing is said where it cannot be used: a folder that is somebody else's, a full disk or a
 * broken file mean that code is compiled. What is read is run, so only what the user wrote, and whole, is taken. */
#ifndef LW_CACHE_H
#define LW_CACHE_H

#include "base/digest.h"
#include "run/run.h"

#define LW_CACHE_FOLDER "lanewise" /* in the user's folder for caches */
enum { LW_CACHE_LIMIT = 256 << 20 };

typedef struct lw_cache lw_cache;
/* `folder` is made when something is to be kept, with the one that it is in; where `in_home`, only in what belongs to
 * the user. limit: bytes of all files. NULL: no memory, or the process has rights that its user does not have.
 * Threads: any; a cache has no state but its files'. */
lw_cache *lw_cache_new(const char *folder, bool in_home, uint64_t limit);
void lw_cache_free(lw_cache *cache);

/* ---- What code is made of ---------------------------------------------------------------------------------------- */

/* Of a program that is linked, for blocks of a layout: everything that a compiler may read, in bytes, and the name that
 * follows from it. */
enum { LW_CACHE_NAME = 48 };
typedef struct lw_cache_key {
    char *at;
    size_t size;
    char name[LW_CACHE_NAME]; /* of a file */
} lw_cache_key;
bool lw_cache_key_make(lw_cache_key *key, const lw_program *program, const lw_level *level,
                       lw_layout layout); /* false: no memory */
void lw_cache_key_free(lw_cache_key *key);

/* ---- What is kept ------------------------------------------------------------------------------------------------ */

/* There seems to be something. */
bool lw_cache_has(lw_cache *cache, const lw_program *program, const lw_level *level, lw_layout layout);

/* What was kept for this key by the same build of the compiler. */
typedef struct lw_cache_entry {
    char *file;
    const char *at;
    size_t size;
} lw_cache_entry;
bool lw_cache_fetch(lw_cache *cache, const lw_cache_key *key, const char *build, lw_cache_entry *kept);
void lw_cache_release(lw_cache_entry *kept);
/* Takes the place of what was there; what was not used for longest leaves where there is too much. */
void lw_cache_store(lw_cache *cache, const lw_cache_key *key, const char *build, const char *bytes, size_t size);

/* Puts compiled code in place of a linked program's steps, for blocks of this layout; *bound: for no others. It is what
 * the cache has (*was_kept; NULL: there is no cache), or new, and kept there. False: it cannot be, and `why` says so if
 * there was memory; the program runs as before. engine.c */
bool lw_program_get_code(lw_program *program, const lw_level *level, lw_layout layout, lw_cache *cache, bool *bound,
                         bool *was_kept, lw_text *why);

/* Counts what is there, or removes it. False: the folder cannot be used; `why`, a fixed text, says so: "" where there
 * is none yet, NULL where there is no memory. */
typedef struct lw_cache_sum {
    uint64_t count, bytes;
} lw_cache_sum;
bool lw_cache_look(lw_cache *cache, lw_cache_sum *sum, const char **why);
bool lw_cache_clear(lw_cache *cache, lw_cache_sum *removed, const char **why);

#endif
