/* archive.c: device code within files for the host: objects that nvcc made, and archives of them. */
#include "shim/image/image.h"

#include <elf.h>
#include <stdlib.h>

static lw_image_result nothing(lw_code_image *image, const char *name, const char *what) {
    const unsigned arch = image->arch->number;
    lw_text_say(
        &image->why,
        "error: %.200s is %s; Lanewise runs PTX, which `nvcc -gencode arch=compute_%u,code=compute_%u` puts in\n", name,
        what, arch, arch);
    return LW_IMAGE_NO_BINARY;
}

/* ---- Objects --------------------------------------------------------------------------------------------------- */

enum { MACHINE_CUDA = 190 }; /* EM_CUDA */

bool lw_elf_is(lw_bytes bytes) { return lw_image_begins(bytes, ELFMAG, SELFMAG); }

/* `count` records of `size` bytes at `at`. */
static bool within(lw_bytes bytes, uint64_t at, uint64_t count, uint64_t size) {
    return at <= bytes.size && count <= (bytes.size - at) / size;
}

static bool section_at(lw_bytes file, const Elf64_Ehdr *head, unsigned index, Elf64_Shdr *section) {
    if (index >= head->e_shnum) return false;
    memcpy(section, file.at + head->e_shoff + index * sizeof *section, sizeof *section);
    return section->sh_type == SHT_NOBITS || within(file, section->sh_offset, section->sh_size, 1);
}

/* Sections that fatbinary_section.h names; the second is of code that is still to be linked. */
static bool holds_fatbins(lw_bytes names, uint32_t name) {
    static const char *const sections[] = {".nv_fatbin", "__nv_relfatbin"};
    for (size_t i = 0; i < LW_COUNT(sections); i++)
        if (name < names.size &&
            lw_image_begins((lw_bytes){names.at + name, names.size - name}, sections[i], strlen(sections[i]) + 1))
            return true;
    return false;
}

static lw_image_result read_sections(lw_code_image *image, const char *name, lw_bytes file, const Elf64_Ehdr *head) {
    static const char broken[] = "a section goes beyond its end";
    Elf64_Shdr names, section;
    if (!section_at(file, head, head->e_shstrndx, &names) || names.sh_type == SHT_NOBITS)
        return lw_image_damaged(image, name, broken);
    const lw_bytes texts = {file.at + names.sh_offset, names.sh_size};
    lw_image_result result = LW_IMAGE_OK;
    for (unsigned i = 0; !result && i < head->e_shnum; i++) {
        if (!section_at(file, head, i, &section)) return lw_image_damaged(image, name, broken);
        if (section.sh_type == SHT_NOBITS || !section.sh_size || !holds_fatbins(texts, section.sh_name)) continue;
        result = lw_image_leave_out(
            image, lw_fatbin_read(image, name, (lw_bytes){file.at + section.sh_offset, section.sh_size}));
    }
    return result;
}

lw_image_result lw_elf_read(lw_code_image *image, const char *name, lw_bytes bytes) {
    Elf64_Ehdr head;
    if (bytes.size < sizeof head) return lw_image_damaged(image, name, "it is shorter than its head");
    if (bytes.size == LW_IMAGE_UNBOUNDED) return nothing(image, name, "machine code of a GPU (a cubin)");
    memcpy(&head, bytes.at, sizeof head);
    if (head.e_machine == MACHINE_CUDA) return nothing(image, name, "machine code of a GPU (a cubin)");
    if (head.e_ident[EI_CLASS] != ELFCLASS64 || head.e_ident[EI_DATA] != ELFDATA2LSB ||
        head.e_shentsize != sizeof(Elf64_Shdr) || !within(bytes, head.e_shoff, head.e_shnum, sizeof(Elf64_Shdr)))
        return lw_image_damaged(image, name, "it is no object of this kind of host");
    const uint32_t before = image->count;
    lw_image_result result = read_sections(image, name, bytes, &head);
    return result || image->count > before ? result : nothing(image, name, "a host object without PTX for this device");
}

/* ---- Archives -------------------------------------------------------------------------------------------------- */

static const char ARCHIVE[] = "!<arch>\n";
enum { MARK = sizeof ARCHIVE - 1, NAME = 16, SIZE_AT = 48, SIZE = 10, HEAD = 60 }; /* of a member's head, in digits */

bool lw_archive_is(lw_bytes bytes) { return lw_image_begins(bytes, ARCHIVE, MARK); }

static bool read_size(const char *digits, uint64_t *size) {
    *size = 0;
    for (int i = 0; i < SIZE && digits[i] != ' '; i++) {
        if (digits[i] < '0' || digits[i] > '9') return false;
        *size = *size * 10 + (uint64_t)(digits[i] - '0');
    }
    return true;
}

static bool take_member(lw_bytes *rest, lw_bytes *name, lw_bytes *member) {
    uint64_t size;
    if (rest->size < HEAD || rest->at[HEAD - 2] != '`' || !read_size(rest->at + SIZE_AT, &size)) return false;
    if (size > rest->size - HEAD) return false;
    *name = (lw_bytes){rest->at, NAME};
    *member = (lw_bytes){rest->at + HEAD, size};
    size += size & 1 && size < rest->size - HEAD; /* the next begins at an even place */
    rest->at += HEAD + size;
    rest->size -= HEAD + size;
    return true;
}

/* "/123": the name lies there in the table of long ones; else it ends with a slash or with spaces. */
static lw_bytes full_name(lw_bytes name, lw_bytes long_names) {
    uint64_t at;
    if (name.at[0] == '/' && read_size(name.at + 1, &at) && at < long_names.size)
        name = (lw_bytes){long_names.at + at, long_names.size - at};
    size_t size = 0;
    while (size < name.size && name.at[size] != '/' && name.at[size] != '\n' && name.at[size] != ' ') size++;
    return (lw_bytes){name.at, size};
}

static lw_image_result read_member(lw_code_image *image, const char *archive, lw_bytes name, lw_bytes member) {
    lw_text called = {0};
    lw_text_printf(&called, "%s(%.*s)", archive, (int)(name.size > 200 ? 200 : name.size), name.at);
    lw_image_result result = called.failed ? LW_IMAGE_NO_MEMORY
                                           : lw_image_leave_out(image, lw_image_read(image, called.at, member));
    lw_text_free(&called);
    return result;
}

/* Programs name libraries in case that something of them is needed, so that one without PTX is no fault. */
lw_image_result lw_archive_read(lw_code_image *image, const char *name, lw_bytes bytes) {
    if (bytes.size == LW_IMAGE_UNBOUNDED) return nothing(image, name, "an archive");
    lw_bytes rest = {bytes.at + MARK, bytes.size - MARK}, long_names = {0}, member_name, member;
    lw_image_result result = LW_IMAGE_OK;
    while (!result && rest.size) {
        if (!take_member(&rest, &member_name, &member))
            return lw_image_damaged(image, name, "a member goes beyond its end");
        if (!memcmp(member_name.at, "// ", 3)) long_names = member;
        else if (member_name.at[0] == '/' && (member_name.at[1] == ' ' || member_name.at[1] == 'S'))
            continue; /* an index */
        else if (lw_archive_is(member)) result = lw_image_damaged(image, name, "it holds another archive");
        else result = read_member(image, name, full_name(member_name, long_names), member);
    }
    return result;
}
