/* file.c: reading and writing whole files. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tool/tool.h"

/* ---- Reading ------------------------------------------------------------------------------------------ */

static int read_failed(const lw_input *input, const char *why) {
    lw_tool_error(LW_D_cannot_read, input->path, why);
    return LW_EXIT_FILE;
}

static int system_failed(const lw_input *input) {
    if (errno != ENOMEM) return read_failed(input, strerror(errno));
    lw_tool_error(LW_D_no_memory, input->path);
    return LW_EXIT_MACHINE;
}

int lw_input_open(lw_input *input, const char *path) {
    static bool standard_read;
    bool standard = !strcmp(path, "-");
    struct stat about;
    *input = (lw_input){.path = path, .whole = UINT64_MAX};
    if (standard && standard_read) return read_failed(input, "standard input can be read only once");
    standard_read = standard_read || standard;
    if (!(input->file = standard ? stdin : fopen(path, "rbe"))) return system_failed(input);
    /* Files that the system makes up while they are read say that they have no bytes; what standard input still has is
     * not known. */
    if (!standard && !fstat(fileno(input->file), &about) && S_ISREG(about.st_mode) && about.st_size > 0)
        input->whole = (uint64_t)about.st_size;
    return LW_EXIT_OK;
}

/* Room for `upto` bytes and a NUL is never needed at once: the file may be shorter. */
static bool grow(lw_input *input, uint64_t upto) {
    enum { FIRST = 1 << 16 };
    uint64_t room = input->room ? (uint64_t)input->room * 2 : FIRST, most = upto < input->whole ? upto : input->whole;
    if (most < UINT64_MAX - 2 && (room > most + 2 || input->whole != UINT64_MAX)) room = most + 2;
    char *grown = room <= SIZE_MAX / 2 ? realloc(input->data, (size_t)room) : NULL;
    if (!grown) {
        lw_tool_error(LW_D_no_memory, input->path);
        return false;
    }
    input->data = grown;
    input->room = (size_t)room;
    return true;
}

int lw_input_read(lw_input *input, uint64_t upto) {
    while (!input->ended && input->size < upto) {
        if (input->room - input->size < 2 && !grow(input, upto)) return LW_EXIT_MACHINE;
        uint64_t want = input->room - input->size - 1;
        if (want > upto - input->size) want = upto - input->size;
        size_t got = fread(input->data + input->size, 1, (size_t)want, input->file);
        input->size += got;
        if (ferror(input->file)) return system_failed(input);
        input->ended = !got;
    }
    if (!input->data && !grow(input, 0)) return LW_EXIT_MACHINE;
    input->data[input->size] = 0;
    return LW_EXIT_OK;
}

void lw_input_close(lw_input *input) {
    if (input->file && input->file != stdin) fclose(input->file);
    input->file = NULL;
}

int lw_tool_read(const char *path, uint64_t limit, char **data, size_t *size) {
    lw_input input;
    *data = NULL;
    int code = lw_input_open(&input, path);
    if (code) return code;
    code = input.whole != UINT64_MAX && input.whole > limit ? LW_EXIT_OK : lw_input_read(&input, limit + 1);
    if (!code && (!input.data || input.size > limit)) code = read_failed(&input, "the file is too large");
    lw_input_close(&input);
    if (code) free(input.data), input.data = NULL;
    *data = input.data;
    *size = input.size;
    return code;
}

/* ---- Writing ------------------------------------------------------------------------------------------ */

/* Two pieces of memory that are written one behind the other. */
typedef struct pieces {
    const char *at[2];
    size_t size[2];
} pieces;

static int write_fd(int fd, const pieces *p) {
    for (int i = 0; i < 2; i++)
        for (size_t done = 0; done < p->size[i];) {
            ssize_t put = write(fd, p->at[i] + done, p->size[i] - done);
            if (put < 0 && errno != EINTR) return errno;
            if (put > 0) done += (size_t)put;
        }
    return 0;
}

static int close_fd(int fd, int error) { return close(fd) && !error ? errno : error; }

/* A new file beside it takes the place of the old one, if there is one, so that a fault in the middle leaves what was
 * there. */
static int replace(const char *path, const pieces *p, mode_t mode) {
    const char *slash = strrchr(path, '/');
    lw_text other = {0};
    lw_text_add(&other, path, slash ? (size_t)(slash + 1 - path) : 0);
    lw_text_puts(&other, ".lanewise-XXXXXX");
    if (other.failed) return ENOMEM;
    int fd = mkostemp(other.at, O_CLOEXEC), error = fd < 0 ? errno : write_fd(fd, p);
    if (!error && fchmod(fd, mode)) error = errno;
    if (fd >= 0) error = close_fd(fd, error);
    if (!error && rename(other.at, path)) error = errno;
    if (error && fd >= 0) unlink(other.at);
    lw_text_free(&other);
    return error;
}

/* In a folder that takes no new file. Room for all of it is got before anything is lost. */
static int overwrite(const char *path, const pieces *p, off_t before) {
    off_t size = (off_t)(p->size[0] + p->size[1]);
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0) return errno;
    int error = size > before ? posix_fallocate(fd, 0, size) : 0;
    if (error && error != EOPNOTSUPP && error != EINVAL) {
        if (ftruncate(fd, before)) error = errno;
        return close_fd(fd, error);
    }
    error = write_fd(fd, p);
    if (!error && ftruncate(fd, size)) error = errno;
    return close_fd(fd, error);
}

/* Devices and pipes as they are; a link that leads nowhere yet makes a file, which goes again where it cannot be
 * written. */
static int write_into(const char *path, const pieces *p) {
    struct stat about;
    bool is_new = stat(path, &about), is_file = is_new || S_ISREG(about.st_mode);
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666), error = fd < 0 ? errno : write_fd(fd, p);
    if (!error && is_file && ftruncate(fd, (off_t)(p->size[0] + p->size[1]))) error = errno;
    if (fd >= 0) error = close_fd(fd, error);
    char *made = error && fd >= 0 && is_new ? realpath(path, NULL) : NULL;
    if (made) unlink(made);
    free(made);
    return error;
}

static mode_t mode_of_new(void) {
    mode_t mask = umask(0);
    umask(mask);
    return 0666 & ~mask;
}

/* /dev/stdout where standard output is a file: another one in its place would miss what is printed. */
static bool is_output(const struct stat *about) {
    struct stat output;
    return !fstat(STDOUT_FILENO, &output) && output.st_dev == about->st_dev && output.st_ino == about->st_ino;
}

static int write_pieces(const char *path, const pieces *p) {
    struct stat about;
    bool is_standard = !strcmp(path, "-");
    if (!is_standard && lstat(path, &about)) return errno == ENOENT ? replace(path, p, mode_of_new()) : errno;
    if (!is_standard && stat(path, &about)) return write_into(path, p);
    if (is_standard || is_output(&about)) return fflush(stdout) ? errno : write_fd(STDOUT_FILENO, p);
    char *real = S_ISREG(about.st_mode) ? realpath(path, NULL)
                                        : NULL; /* the link stays; /dev/fd may lead to what has no name any more */
    if (!real) return write_into(path, p);
    int error = access(real, W_OK) ? errno : replace(real, p, about.st_mode & 07777);
    if (error == EACCES && !access(real, W_OK)) error = overwrite(real, p, about.st_size);
    free(real);
    return error;
}

bool lw_tool_write_two(const char *path, const char *head, size_t head_size, const char *data, size_t size) {
    int error = write_pieces(path, &(pieces){{head, data}, {head_size, size}});
    if (error == ENOMEM) lw_tool_error(LW_D_no_memory, path);
    else if (error) lw_tool_error(LW_D_cannot_write, path, strerror(error));
    return !error;
}

bool lw_tool_write(const char *path, const char *data, size_t size) {
    return lw_tool_write_two(path, NULL, 0, data, size);
}
