/* The folder that compiled code is kept in: what is read is what was written, whole, by this user, for this key; all
 * else is as if it were not there, and nothing fails. Digests are those of RFC 7693 and of another program of it. */
#define _GNU_SOURCE
#include "run/cache.h"

#include <dirent.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- A folder for each test -------------------------------------------------------------------------------------- */

static char home[64], folder[96];

static int begin(void **state) {
    (void)state;
    strcpy(home, "/tmp/lanewise-cache-XXXXXX");
    if (!mkdtemp(home)) return -1;
    snprintf(folder, sizeof folder, "%s/kept", home);
    return 0;
}

static int end(void **state) {
    (void)state;
    char command[160];
    snprintf(command, sizeof command, "chmod -R u+rwx %s && rm -rf %s", home, home);
    return system(command);
}

static lw_cache *open_cache(uint64_t limit) {
    lw_cache *cache = lw_cache_new(folder, false, limit);
    assert_non_null(cache);
    return cache;
}

enum { MUCH = 1 << 20 };
static const char BUILD[] = "build 1";
static char key_bytes[] = "everything of a program";

/* A file's name is made of the key's bytes; here it is told apart by a digit. */
static lw_cache_key key_of(char digit) {
    lw_cache_key key = {.at = key_bytes, .size = sizeof key_bytes};
    memset(key.name, digit, LW_CACHE_NAME - 8);
    strcpy(key.name + LW_CACHE_NAME - 8, ".code");
    return key;
}

static const char *path_of(const lw_cache_key *key) {
    static char path[200];
    snprintf(path, sizeof path, "%s/%s", folder, key->name);
    return path;
}

static void store(lw_cache *cache, char digit, const char *text) {
    const lw_cache_key key = key_of(digit);
    lw_cache_store(cache, &key, BUILD, text, strlen(text));
}

/* What is there is this text; NULL: nothing is. */
static bool has(lw_cache *cache, char digit, const char *text) {
    const lw_cache_key key = key_of(digit);
    lw_cache_entry entry;
    if (!lw_cache_fetch(cache, &key, BUILD, &entry)) return !text;
    const bool same = text && entry.size == strlen(text) && !memcmp(entry.at, text, entry.size);
    lw_cache_release(&entry);
    return same;
}

/* ---- Digests ----------------------------------------------------------------------------------------------------- */

static void assert_digest(const lw_span *spans, size_t count, const char *want) {
    uint8_t digest[LW_DIGEST_BYTES];
    char text[2 * LW_DIGEST_BYTES + 1];
    lw_digest(digest, spans, count);
    for (size_t i = 0; i < sizeof digest; i++) snprintf(text + 2 * i, 3, "%02x", digest[i]);
    assert_string_equal(text, want);
}

static void digests(void **state) {
    (void)state;
    static uint8_t bytes[1000];
    for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (uint8_t)(i * 7 + 3);
    /* hashlib.blake2b(…, digest_size=32) */
    static const struct {
        size_t size;
        const char *want;
    } cases[] = {
        {0, "0e5751c026e543b2e8ab2eb06099daa1d1e5df47778f7787faab45cdf12fe3a8"},
        {1, "e88bd757ad5b9bedf372d8d3f0cf6c962a469db61a265f6418e1ffed86da29ec"},
        {127, "c9ae3859964b35f04c54b36d33cf299d7290ee621005d28e51598a943560aaaa"},
        {128, "f0501d06597880592bc49234eef100ec1ff349058d0e9d9b753504e24af86dd6"},
        {129, "a34a4e1e03c541dfbf3099c4b6c143c022ced65c28bd7e8a10e0a098461aecf0"},
        {256, "d93ebb9c802f5630ab22516fd82b6c21bc8bd551d531349b715f046ed11ed871"},
        {257, "4ce481b24d387422d2bc2baa03d1afd55a1327939ff537c71eb9b38709268649"},
        {1000, "d62b6c768ce1afc8367e0498ab2f8e3f7c178c35b1429f14c4604b545d200f52"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        for (size_t cut = 0; cut <= cases[k].size; cut += 1 + cases[k].size / 5)
            assert_digest((lw_span[]){{bytes, cut}, {bytes + cut, cases[k].size - cut}}, 2, cases[k].want);
}

/* ---- Files ------------------------------------------------------------------------------------------------------- */

static void what_was_kept_is_there(void **state) {
    (void)state;
    lw_cache *cache = open_cache(MUCH);
    assert_true(has(cache, '1', NULL));
    store(cache, '1', "some code");
    store(cache, '2', "");
    assert_true(has(cache, '1', "some code"));
    assert_true(has(cache, '2', ""));
    assert_true(has(cache, '3', NULL));
    store(cache, '1', "other code");
    assert_true(has(cache, '1', "other code"));
    struct stat is;
    assert_int_equal(stat(folder, &is), 0);
    assert_int_equal(is.st_mode & 07777, 0700);
    const lw_cache_key key = key_of('1');
    assert_int_equal(stat(path_of(&key), &is), 0);
    assert_int_equal(is.st_mode & 07777, 0600);
    lw_cache_free(cache);
}

/* Of another build, or of another program whose name would be the same. */
static void only_for_the_same(void **state) {
    (void)state;
    lw_cache *cache = open_cache(MUCH);
    lw_cache_entry entry;
    lw_cache_key key = key_of('1');
    store(cache, '1', "some code");
    assert_false(lw_cache_fetch(cache, &key, "build 2", &entry));
    assert_false(lw_cache_fetch(cache, &key, "build 11", &entry));
    assert_false(lw_cache_fetch(cache, &key, "build ", &entry));
    key.size--;
    assert_false(lw_cache_fetch(cache, &key, BUILD, &entry));
    char other[] = "everything of a programm";
    key.at = other, key.size = sizeof other;
    assert_false(lw_cache_fetch(cache, &key, BUILD, &entry));
    key.size = sizeof key_bytes, other[0] ^= 1;
    assert_false(lw_cache_fetch(cache, &key, BUILD, &entry));
    assert_true(has(cache, '1', "some code"));
    lw_cache_free(cache);
}

static void write_file(const char *path, const char *bytes, size_t size) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(chmod(path, 0600), 0);
}

static size_t read_file(const char *path, char *bytes, size_t room) {
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    const size_t size = fread(bytes, 1, room, file);
    fclose(file);
    return size;
}

/* Every bit of it, every end in front of its own, and more behind it. */
static void broken_files(void **state) {
    (void)state;
    lw_cache *cache = open_cache(MUCH);
    const lw_cache_key key = key_of('1');
    char bytes[400];
    store(cache, '1', "some code");
    const size_t size = read_file(path_of(&key), bytes, sizeof bytes);
    assert_true(size > 64 && size < sizeof bytes - 1);
    for (size_t bit = 0; bit < 8 * size; bit++) {
        bytes[bit / 8] = (char)(bytes[bit / 8] ^ 1 << bit % 8);
        write_file(path_of(&key), bytes, size);
        if (!has(cache, '1', NULL)) fail_msg("bit %zu of byte %zu", bit % 8, bit / 8);
        bytes[bit / 8] = (char)(bytes[bit / 8] ^ 1 << bit % 8);
    }
    for (size_t k = 0; k <= size + 1; k++) {
        bytes[size] = 0;
        write_file(path_of(&key), bytes, k);
        assert_true(has(cache, '1', k == size ? "some code" : NULL));
    }
    store(cache, '1', "new code");
    assert_true(has(cache, '1', "new code"));
    lw_cache_free(cache);
}

/* ---- Whose it is ------------------------------------------------------------------------------------------------- */

static void others_may_write(void **state) {
    (void)state;
    lw_cache *cache = open_cache(MUCH);
    const lw_cache_key key = key_of('1');
    store(cache, '1', "some code");
    static const mode_t open[] = {0620, 0602, 0666, 0660};
    for (size_t k = 0; k < sizeof open / sizeof *open; k++) {
        assert_int_equal(chmod(path_of(&key), open[k]), 0);
        assert_true(has(cache, '1', NULL));
    }
    assert_int_equal(chmod(path_of(&key), 0644), 0);
    assert_true(has(cache, '1', "some code"));
    for (size_t k = 0; k < 2; k++) {
        assert_int_equal(chmod(folder, k ? 0702 : 0720), 0);
        assert_true(has(cache, '1', NULL));
        store(cache, '2', "more");
    }
    assert_int_equal(chmod(folder, 0755), 0);
    assert_true(has(cache, '1', "some code"));
    assert_true(has(cache, '2', NULL)); /* and nothing was written there */
    lw_cache_free(cache);
}

static void links(void **state) {
    (void)state;
    lw_cache *cache = open_cache(MUCH);
    const lw_cache_key key = key_of('1');
    char other[200];
    store(cache, '1', "some code");
    snprintf(other, sizeof other, "%s/elsewhere", home);
    assert_int_equal(rename(path_of(&key), other), 0);
    assert_int_equal(symlink(other, path_of(&key)), 0);
    assert_true(has(cache, '1', NULL));
    store(cache, '1', "new code"); /* takes the link's place, and leaves alone where it went */
    assert_true(has(cache, '1', "new code"));
    struct stat is;
    assert_int_equal(lstat(path_of(&key), &is), 0);
    assert_true(S_ISREG(is.st_mode));
    snprintf(other, sizeof other, "%s/real", home);
    assert_int_equal(rename(folder, other), 0);
    assert_int_equal(symlink(other, folder), 0);
    assert_true(has(cache, '1', NULL));
    lw_cache_free(cache);
}

static void no_files(void **state) {
    (void)state;
    lw_cache *cache = open_cache(MUCH);
    const lw_cache_key pipe = key_of('1'), subfolder = key_of('2');
    assert_int_equal(mkdir(folder, 0700), 0);
    assert_int_equal(mkfifo(path_of(&pipe), 0600), 0);
    assert_true(has(cache, '1', NULL)); /* nobody waits for a writer */
    assert_int_equal(mkdir(path_of(&subfolder), 0700), 0);
    assert_true(has(cache, '2', NULL));
    store(cache, '2', "some code");
    assert_true(has(cache, '2', NULL));
    lw_cache_free(cache);
    assert_int_equal(rmdir(path_of(&subfolder)), 0);
    assert_int_equal(unlink(path_of(&pipe)), 0);
    assert_int_equal(rmdir(folder), 0); /* nothing is left of what could not be kept */
    write_file(folder, "", 0);
    cache = open_cache(MUCH);
    store(cache, '1', "some code");
    assert_true(has(cache, '1', NULL));
    lw_cache_free(cache);
}

static void of_somebody_else(void **state) {
    (void)state;
    if (geteuid()) skip(); /* who else is nobody here */
    lw_cache *cache = open_cache(MUCH);
    const lw_cache_key key = key_of('1');
    store(cache, '1', "some code");
    assert_int_equal(chown(path_of(&key), 1, (gid_t)-1), 0);
    assert_true(has(cache, '1', NULL));
    assert_int_equal(chown(path_of(&key), 0, (gid_t)-1), 0);
    assert_true(has(cache, '1', "some code"));
    assert_int_equal(chown(folder, 1, (gid_t)-1), 0);
    assert_true(has(cache, '1', NULL));
    store(cache, '2', "some code");
    assert_int_equal(chown(folder, 0, (gid_t)-1), 0);
    assert_true(has(cache, '2', NULL));
    lw_cache_free(cache);
}

/* In a process without root's rights. */
static int as_somebody(int (*what)(lw_cache *)) {
    const pid_t child = fork();
    if (!child) {
        if (!geteuid() && (setgid(65534) || setuid(65534))) _exit(99);
        lw_cache *cache = lw_cache_new(folder, false, MUCH);
        const int code = cache ? what(cache) : 98;
        _exit(code);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 97;
}

static int reads_only(lw_cache *cache) {
    store(cache, '2', "more");
    return has(cache, '1', "some code") && has(cache, '2', NULL) ? 0 : 1;
}
static int finds_nothing(lw_cache *cache) {
    store(cache, '1', "some code");
    return has(cache, '1', NULL) ? 0 : 1;
}

static void where_nothing_may_be_written(void **state) {
    (void)state;
    lw_cache *cache = open_cache(MUCH);
    const lw_cache_key key = key_of('1');
    store(cache, '1', "some code");
    lw_cache_free(cache);
    assert_int_equal(chmod(home, 0755), 0);
    if (!geteuid()) {
        assert_int_equal(chown(path_of(&key), 65534, 65534), 0);
        assert_int_equal(chown(folder, 65534, 65534), 0);
    }
    assert_int_equal(chmod(folder, 0500), 0);
    assert_int_equal(as_somebody(reads_only), 0);
    assert_int_equal(chmod(folder, 0000), 0);
    assert_int_equal(as_somebody(finds_nothing), 0);
    snprintf(folder, sizeof folder, "%s/not/there/at/all", home);
    assert_int_equal(as_somebody(finds_nothing), 0);
    snprintf(folder, sizeof folder, "/proc/kept");
    assert_int_equal(as_somebody(finds_nothing), 0);
}

/* Of the user's own home, which belongs to somebody else: as for a program of root in somebody's environment. */
static void in_the_home_of_somebody_else(void **state) {
    (void)state;
    struct stat is;
    snprintf(folder, sizeof folder, "%s/.cache/lanewise", home);
    if (!geteuid()) {
        assert_int_equal(chown(home, 1, (gid_t)-1), 0);
        lw_cache *cache = lw_cache_new(folder, true, MUCH);
        store(cache, '1', "some code");
        assert_true(has(cache, '1', NULL));
        lw_cache_free(cache);
        snprintf(folder, sizeof folder, "%s/.cache", home);
        assert_int_not_equal(stat(folder, &is), 0);
        assert_int_equal(chown(home, 0, (gid_t)-1), 0);
        snprintf(folder, sizeof folder, "%s/.cache/lanewise", home);
    }
    lw_cache *cache = lw_cache_new(folder, true, MUCH);
    store(cache, '1', "some code");
    assert_true(has(cache, '1', "some code"));
    lw_cache_free(cache);
}

/* ---- How much ---------------------------------------------------------------------------------------------------- */

static void set_age(char digit, time_t seconds) {
    const lw_cache_key key = key_of(digit);
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    now.tv_sec -= seconds;
    assert_int_equal(utimensat(AT_FDCWD, path_of(&key), (struct timespec[]){now, now}, 0), 0);
}

static void what_was_not_used_for_longest_leaves(void **state) {
    (void)state;
    char text[1001];
    memset(text, 'x', 1000), text[1000] = 0;
    lw_cache *cache = open_cache(MUCH);
    for (char digit = '1'; digit <= '4'; digit++) store(cache, digit, text), set_age(digit, 100 - (digit - '0'));
    lw_cache_sum sum;
    const char *why;
    assert_true(lw_cache_look(cache, &sum, &why));
    assert_int_equal(sum.count, 4);
    assert_true(sum.bytes > 4000 && sum.bytes < 4800);
    lw_cache_free(cache);
    cache = open_cache(sum.bytes);      /* room for four of them */
    assert_true(has(cache, '1', text)); /* it is used: the second one is the oldest now */
    store(cache, '5', text);
    assert_true(has(cache, '2', NULL));
    for (char digit = '3'; digit <= '5'; digit++) assert_true(has(cache, digit, text));
    assert_true(has(cache, '1', text));
    lw_cache_free(cache);
    cache = open_cache(sum.bytes / 4 - 1); /* for none */
    store(cache, '6', text);
    assert_true(has(cache, '6', NULL));
    assert_true(has(cache, '1', text)); /* what cannot be kept makes no room */
    lw_cache_free(cache);
}

static void put_file(const char *name, time_t age) {
    char path[200];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    write_file(path, "x", 1);
    const struct timespec then = {.tv_sec = time(NULL) - age};
    assert_int_equal(utimensat(AT_FDCWD, path, (struct timespec[]){then, then}, 0), 0);
}
static bool is_there(const char *name) {
    char path[200];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return !access(path, F_OK);
}

static void only_its_own_files_are_removed(void **state) {
    (void)state;
    lw_cache *cache = open_cache(MUCH);
    lw_cache_sum sum;
    const char *why;
    assert_false(lw_cache_look(cache, &sum, &why));
    assert_string_equal(why, "");
    store(cache, '1', "some code");
    put_file("letter.txt", 1 << 20), put_file(".hidden", 1 << 20);
    put_file("11111111111111111111.code", 1 << 20);
    put_file(".new-1-2-3", 1 << 20), put_file(".new-4-5-6", 0); /* left long ago, and being written */
    store(cache, '2', "some code");
    assert_false(is_there(".new-1-2-3"));
    assert_true(is_there(".new-4-5-6"));
    assert_true(lw_cache_clear(cache, &sum, &why));
    assert_int_equal(sum.count, 2);
    assert_true(has(cache, '1', NULL) && has(cache, '2', NULL));
    assert_true(is_there("letter.txt") && is_there(".hidden") && is_there("11111111111111111111.code"));
    assert_true(lw_cache_look(cache, &sum, &why));
    assert_int_equal(sum.count, 0);
    lw_cache_free(cache);
}

/* A limit of file sizes would end the process by a signal. */
static int with_small_files(lw_cache *cache) {
    setrlimit(RLIMIT_FSIZE, &(struct rlimit){100, 100});
    return finds_nothing(cache);
}
static void files_may_be_small_only(void **state) {
    (void)state;
    assert_int_equal(chmod(home, 0777), 0);
    assert_int_equal(as_somebody(with_small_files), 0);
}

/* ---- Several at once --------------------------------------------------------------------------------------------- */

enum { PROCESSES = 4, ROUNDS = 100 };

/* What each writes is one letter, of a length that goes with it. */
static int writes_and_reads(char letter) {
    static char text[30001];
    lw_cache *cache = lw_cache_new(folder, false, 3 * 30000);
    const size_t mine = 5000 + 1000 * (size_t)(letter - 'a');
    int found = 0;
    for (int round = 0; cache && round < ROUNDS; round++) {
        const char digit = (char)('1' + (round * 7 + letter) % 5);
        memset(text, letter, mine), text[mine] = 0;
        store(cache, digit, text);
        const lw_cache_key key = key_of((char)('1' + round % 5));
        lw_cache_entry entry;
        if (!lw_cache_fetch(cache, &key, BUILD, &entry)) continue;
        const char first = *entry.at;
        bool whole = entry.size == 5000 + 1000 * (size_t)(first - 'a');
        for (size_t i = 0; i < entry.size; i++) whole &= entry.at[i] == first;
        lw_cache_release(&entry);
        if (!whole) return 1;
        found++;
    }
    return found ? 0 : 2;
}

static void several_processes(void **state) {
    (void)state;
    pid_t children[PROCESSES];
    for (int k = 0; k < PROCESSES; k++) {
        children[k] = fork();
        if (!children[k]) _exit(writes_and_reads((char)('a' + k)));
    }
    for (int k = 0; k < PROCESSES; k++) {
        int status = -1;
        assert_int_equal(waitpid(children[k], &status, 0), children[k]);
        assert_int_equal(status, 0);
    }
    DIR *list = opendir(folder);
    assert_non_null(list);
    for (struct dirent *entry; (entry = readdir(list));) assert_int_not_equal(strncmp(entry->d_name, ".new", 4), 0);
    closedir(list);
}

#define IN_FOLDER(name) cmocka_unit_test_setup_teardown(name, begin, end)
int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(digests),
        IN_FOLDER(what_was_kept_is_there),
        IN_FOLDER(only_for_the_same),
        IN_FOLDER(broken_files),
        IN_FOLDER(others_may_write),
        IN_FOLDER(links),
        IN_FOLDER(no_files),
        IN_FOLDER(of_somebody_else),
        IN_FOLDER(where_nothing_may_be_written),
        IN_FOLDER(in_the_home_of_somebody_else),
        IN_FOLDER(what_was_not_used_for_longest_leaves),
        IN_FOLDER(only_its_own_files_are_removed),
        IN_FOLDER(files_may_be_small_only),
        IN_FOLDER(several_processes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
