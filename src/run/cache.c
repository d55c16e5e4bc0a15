/* cache.c: the folder that compiled code is kept in.
 *
 * A file is written under another name and takes its own when it is whole, so that processes need no locks: who reads
 * has the old one or the new one. Files are opened in the folder that was looked at, never by their path. */
#define _GNU_SOURCE
#include "run/cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

struct lw_cache {
    char *folder;
    bool in_home;
    uint64_t limit;
};

lw_cache *lw_cache_new(const char *folder, bool in_home, uint64_t limit) {
    lw_cache *cache = getauxval(AT_SECURE) ? NULL : calloc(1, sizeof *cache);
    if (!cache) return NULL;
    *cache = (lw_cache){strdup(folder), in_home, limit};
    if (cache->folder) return cache;
    free(cache);
    return NULL;
}

void lw_cache_free(lw_cache *cache) {
    if (!cache) return;
    free(cache->folder);
    free(cache);
}

/* ---- The folder -------------------------------------------------------------------------------------------------- */

/* The user's, and nobody else may write to it. */
static bool is_own(const struct stat *of) { return of->st_uid == geteuid() && !(of->st_mode & (S_IWGRP | S_IWOTH)); }

/* -1: there is none, or none that can be used: `why`. */
static int open_folder(const lw_cache *cache, const char **why) {
    struct stat is = {0};
    const int folder = open(cache->folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (folder < 0) {
        *why = errno == ENOENT ? "" : errno == ELOOP || errno == ENOTDIR ? "it is no folder" : "it cannot be opened";
        return -1;
    }
    if (fstat(folder, &is)) *why = "it cannot be looked at";
    else if (is_own(&is)) return folder;
    else *why = is.st_uid != geteuid() ? "it belongs to somebody else" : "others may write to it";
    close(folder);
    return -1;
}

/* The part of a path in front of its last name; false where there is none. */
static bool cut(char *path) {
    char *slash = strrchr(path, '/');
    if (!slash || slash == path) return false;
    *slash = 0;
    return true;
}

/* In the user's own folder nothing is made that is not the user's, as by a process of root that was left the user's
 * environment. */
static void make_in(const lw_cache *cache, const char *above, const char *path) {
    struct stat is;
    if (!cache->in_home || (!stat(above, &is) && is.st_uid == geteuid())) (void)!mkdir(path, 0700);
}

static void make_folder(const lw_cache *cache) {
    char *above = strdup(cache->folder), *home = strdup(cache->folder);
    if (above && home && cut(above)) {
        if (cut(home) && cut(home)) make_in(cache, home, above);
        make_in(cache, above, cache->folder);
    }
    free(above), free(home);
}

/* ---- A file ------------------------------------------------------------------------------------------------------ */

/* In front of the build, the key's bytes, and what is kept. The digest is of everything behind it. */
typedef struct lw_head {
    char magic[8];
    uint8_t digest[LW_DIGEST_BYTES];
    uint64_t build, key, kept; /* bytes */
} lw_head;
static const char magic[8] = {'l', 'w', 'c', 'o', 'd', 'e', '0', '1'};
enum { FILE_MOST = 1 << 30 };

static void find_digest(uint8_t digest[LW_DIGEST_BYTES], const lw_head *head, const lw_span parts[3]) {
    const size_t from = offsetof(lw_head, build);
    const lw_span all[] = {{(const char *)head + from, sizeof *head - from}, parts[0], parts[1], parts[2]};
    lw_digest(digest, all, LW_COUNT(all));
}

static bool read_all(int file, char *to, size_t size) {
    for (size_t at = 0; at < size;) {
        const ssize_t got = read(file, to + at, size - at);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return false;
        at += (size_t)got;
    }
    return true;
}

/* All of a file of this name that may be used. It is used now, which its time says from then on. */
static char *read_file(int folder, const char *name, size_t *size) {
    struct stat is;
    char *all = NULL;
    const int file = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    if (file < 0) return NULL;
    if (!fstat(file, &is) && S_ISREG(is.st_mode) && is_own(&is) && is.st_size > (off_t)sizeof(lw_head) &&
        is.st_size <= FILE_MOST && (all = malloc((size_t)is.st_size))) {
        *size = (size_t)is.st_size;
        if (!read_all(file, all, *size)) free(all), all = NULL;
        else (void)!futimens(file, NULL);
    }
    close(file);
    return all;
}

/* Where the parts of a file lie; false: it is not whole, or not what it should be. */
static bool understand(const char *file, size_t size, lw_span parts[3]) {
    lw_head head;
    uint8_t digest[LW_DIGEST_BYTES];
    memcpy(&head, file, sizeof head);
    const uint64_t sizes[] = {head.build, head.key, head.kept};
    const char *at = file + sizeof head;
    size_t left = size - sizeof head;
    if (memcmp(head.magic, magic, sizeof magic)) return false;
    for (int k = 0; k < 3; k++) {
        if (sizes[k] > left) return false;
        parts[k] = (lw_span){at, (size_t)sizes[k]};
        at += sizes[k], left -= (size_t)sizes[k];
    }
    if (left) return false;
    find_digest(digest, &head, parts);
    return !memcmp(digest, head.digest, sizeof digest);
}

static bool is_same(lw_span a, const void *b, size_t size) { return a.size == size && !memcmp(a.at, b, size); }

bool lw_cache_fetch(lw_cache *cache, const lw_cache_key *key, const char *build, lw_cache_entry *kept) {
    const char *why;
    const int folder = open_folder(cache, &why);
    lw_span parts[3];
    size_t size = 0;
    *kept = (lw_cache_entry){0};
    if (folder < 0) return false;
    char *file = read_file(folder, key->name, &size);
    close(folder);
    if (file && understand(file, size, parts) && is_same(parts[0], build, strlen(build)) &&
        is_same(parts[1], key->at, key->size)) {
        *kept = (lw_cache_entry){file, parts[2].at, parts[2].size};
        return true;
    }
    free(file);
    return false;
}

void lw_cache_release(lw_cache_entry *kept) {
    free(kept->file);
    *kept = (lw_cache_entry){0};
}

bool lw_cache_has(lw_cache *cache, const lw_program *program, const lw_level *level, lw_layout layout) {
    const char *why;
    struct stat is;
    lw_cache_key key;
    const int folder = open_folder(cache, &why);
    if (folder < 0) return false;
    bool has = false;
    if (lw_cache_key_make(&key, program, level, layout)) {
        has = !fstatat(folder, key.name, &is, AT_SYMLINK_NOFOLLOW) && S_ISREG(is.st_mode) && is_own(&is);
        lw_cache_key_free(&key);
    }
    close(folder);
    return has;
}

/* ---- How much there is ------------------------------------------------------------------------------------------- */

typedef struct lw_file {
    char name[LW_CACHE_NAME];
    uint64_t size;
    struct timespec used;
} lw_file;
typedef struct lw_files {
    lw_file *at;
    size_t count, room;
    uint64_t bytes;
    bool failed; /* not all are there: no memory */
} lw_files;

#define NEW_FILE ".new-"
static bool is_name(const char *name) {
    const size_t digits = strspn(name, "0123456789abcdef");
    return digits == LW_CACHE_NAME - 8 && !strcmp(name + digits, ".code");
}

/* What a process left that ended while it wrote. */
static void remove_left(int folder, const char *name, const struct stat *is) {
    enum { SECONDS = 3600 };
    if (!strncmp(name, NEW_FILE, sizeof NEW_FILE - 1) && time(NULL) - is->st_mtime > SECONDS) unlinkat(folder, name, 0);
}

static void add_file(lw_files *files, const char *name, const struct stat *is) {
    if (files->count == files->room) {
        const size_t room = 2 * files->room + 64;
        lw_file *at = realloc(files->at, room * sizeof *at);
        if (!at) {
            files->failed = true;
            return;
        }
        files->at = at, files->room = room;
    }
    lw_file *file = &files->at[files->count++];
    *file = (lw_file){.size = (uint64_t)is->st_size, .used = is->st_mtim};
    memcpy(file->name, name, strlen(name) + 1);
    files->bytes += file->size;
}

static lw_files list_files(int folder) {
    lw_files files = {0};
    struct stat is;
    const int again = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *list = again < 0 ? NULL : fdopendir(again);
    if (!list && again >= 0) close(again);
    for (struct dirent *entry; list && (entry = readdir(list));) {
        if (*entry->d_name == '.' && strncmp(entry->d_name, NEW_FILE, sizeof NEW_FILE - 1)) continue;
        if (fstatat(folder, entry->d_name, &is, AT_SYMLINK_NOFOLLOW) || !S_ISREG(is.st_mode)) continue;
        if (is_name(entry->d_name)) add_file(&files, entry->d_name, &is);
        else remove_left(folder, entry->d_name, &is);
    }
    files.failed |= !list;
    if (list) closedir(list);
    return files;
}

static int compare_used(const void *a, const void *b) {
    const struct timespec x = ((const lw_file *)a)->used, y = ((const lw_file *)b)->used;
    if (x.tv_sec != y.tv_sec) return x.tv_sec < y.tv_sec ? -1 : 1;
    return (x.tv_nsec > y.tv_nsec) - (x.tv_nsec < y.tv_nsec);
}

/* What was not used for longest, until no more is left than the limit; the file that was just written is the last. */
static void make_room(const lw_cache *cache, int folder, const char *latest) {
    lw_files files = list_files(folder);
    if (files.bytes > cache->limit) {
        qsort(files.at, files.count, sizeof *files.at, compare_used);
        for (size_t k = 0; k < files.count && files.bytes > cache->limit; k++) {
            if (!strcmp(files.at[k].name, latest)) continue;
            unlinkat(folder, files.at[k].name, 0);
            files.bytes -= files.at[k].size;
        }
    }
    free(files.at);
}

/* ---- Keeping ----------------------------------------------------------------------------------------------------- */

static bool write_all(int file, const char *from, size_t size) {
    for (size_t at = 0; at < size;) {
        const ssize_t put = write(file, from + at, size - at);
        if (put < 0 && errno == EINTR) continue;
        if (put <= 0) return false;
        at += (size_t)put;
    }
    return true;
}

/* To write more than that would be the end of a process that takes no signal for it. */
static bool may_write(uint64_t size) {
    struct rlimit most;
    return !getrlimit(RLIMIT_FSIZE, &most) && (most.rlim_cur == RLIM_INFINITY || size <= most.rlim_cur);
}

static int make_file(int folder, char name[64]) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    snprintf(name, 64, NEW_FILE "%ld-%lld-%ld", (long)getpid(), (long long)now.tv_sec, now.tv_nsec);
    return openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
}

static bool write_file(int folder, const char *name, const lw_head *head, const lw_span parts[3]) {
    char made[64];
    const int file = make_file(folder, made);
    if (file < 0) return false;
    bool good = write_all(file, (const char *)head, sizeof *head);
    for (int k = 0; k < 3; k++) good = good && write_all(file, parts[k].at, parts[k].size);
    good &= !close(file); /* some file systems know only then that they are full */
    good = good && !renameat(folder, made, folder, name);
    if (!good) unlinkat(folder, made, 0);
    return good;
}

void lw_cache_store(lw_cache *cache, const lw_cache_key *key, const char *build, const char *bytes, size_t size) {
    const char *why = NULL;
    const lw_span parts[] = {{build, strlen(build)}, {key->at, key->size}, {bytes, size}};
    lw_head head = {.build = parts[0].size, .key = parts[1].size, .kept = parts[2].size};
    const uint64_t all = sizeof head + head.build + head.key + head.kept;
    if (all > cache->limit || all > FILE_MOST || !may_write(all)) return;
    int folder = open_folder(cache, &why);
    if (folder < 0 && !*why) {
        make_folder(cache);
        folder = open_folder(cache, &why);
    }
    if (folder < 0) return;
    memcpy(head.magic, magic, sizeof magic);
    find_digest(head.digest, &head, parts);
    if (write_file(folder, key->name, &head, parts)) make_room(cache, folder, key->name);
    close(folder);
}

/* ---- For who asks ------------------------------------------------------------------------------------------------ */

/* All of them, and the folder; -1: `why`. */
static int open_files(const lw_cache *cache, lw_files *files, const char **why) {
    const int folder = open_folder(cache, why);
    *files = folder < 0 ? (lw_files){0} : list_files(folder);
    if (folder < 0 || !files->failed) return folder;
    *why = NULL;
    free(files->at);
    close(folder);
    return -1;
}

bool lw_cache_look(lw_cache *cache, lw_cache_sum *sum, const char **why) {
    lw_files files;
    const int folder = open_files(cache, &files, why);
    *sum = (lw_cache_sum){files.count, files.bytes};
    if (folder < 0) return false;
    free(files.at);
    close(folder);
    return true;
}

bool lw_cache_clear(lw_cache *cache, lw_cache_sum *removed, const char **why) {
    lw_files files;
    const int folder = open_files(cache, &files, why);
    *removed = (lw_cache_sum){0};
    if (folder < 0) return false;
    for (size_t k = 0; k < files.count; k++) {
        if (unlinkat(folder, files.at[k].name, 0)) continue;
        removed->count++, removed->bytes += files.at[k].size;
    }
    free(files.at);
    close(folder);
    return true;
}
