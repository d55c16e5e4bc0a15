/* Feeds files to a fuzzer's entry without libFuzzer: fuzz_NAME FILE-OR-FOLDER… */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { PATH_ROOM = 4096, WRONG = 2 };
static unsigned replayed;

static int replay_file(const char *path, size_t size) {
    FILE *file = fopen(path, "rb");
    uint8_t *data = malloc(size ? size : 1);
    if (!file || !data || fread(data, 1, size, file) != size) return perror(path), WRONG;
    fclose(file);
    printf("%s\n", path);
    fflush(stdout); /* the last line names what crashed */
    LLVMFuzzerTestOneInput(data, size);
    free(data);
    replayed++;
    return 0;
}

static int replay(const char *path) {
    struct stat about;
    if (stat(path, &about) != 0) return perror(path), WRONG;
    if (!S_ISDIR(about.st_mode)) return replay_file(path, (size_t)about.st_size);
    DIR *folder = opendir(path);
    if (!folder) return perror(path), WRONG;
    int result = 0;
    for (struct dirent *entry; result == 0 && (entry = readdir(folder));) {
        char inner[PATH_ROOM];
        if (entry->d_name[0] == '.') continue;
        if (snprintf(inner, sizeof inner, "%s/%s", path, entry->d_name) >= PATH_ROOM) result = WRONG;
        else result = replay(inner);
    }
    closedir(folder);
    return result;
}

int main(int argc, char **argv) {
    int result = 0;
    for (int i = 1; i < argc && result == 0; i++) result = replay(argv[i]);
    printf("%u inputs replayed\n", replayed);
    return result ? result : replayed == 0;
}
