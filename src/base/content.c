/* content.c: what a file that is no text may be, by how it begins. */
#include "base/base.h"

typedef struct magic {
    const char *bytes;
    size_t size;
    lw_content content;
} magic;

#define BEGINS(bytes) bytes, sizeof(bytes) - 1
#define EXTRACT \
    "`cuobjdump -xptx all FILE` takes out the PTX that it carries, if any; `nvcc -ptx` makes PTX of CUDA C++"
#define UNPACK(program) "`" program "` unpacks it"

/* The first that fits. */
static const magic magics[] = {
    {BEGINS("\x50\xed\x55\xba"), {"a fatbin of CUDA", EXTRACT}},
    {BEGINS("!<arch>\n"), {"a library of object files", EXTRACT}},
    {BEGINS("MZ"), {"a program or library of Windows", EXTRACT}},
    {BEGINS("BC\xc0\xde"), {"LLVM bitcode", "`llc -march=nvptx64` makes PTX of bitcode for NVPTX"}},
    {BEGINS("\xed\x43\x4e\x7f"), {"LTO-IR of nvcc", "`nvcc -ptx` makes PTX of CUDA C++"}},
    {BEGINS("\x03\x02\x23\x07"), {"SPIR-V", NULL}},
    {BEGINS("\x1f\x8b"), {"a gzip file", UNPACK("gunzip")}},
    {BEGINS("BZh"), {"a bzip2 file", UNPACK("bunzip2")}},
    {BEGINS("\xfd"
            "7zXZ"),
     {"an xz file", UNPACK("unxz")}},
    {BEGINS("\x28\xb5\x2f\xfd"), {"a zstd file", UNPACK("unzstd")}},
    {BEGINS("PK\3\4"), {"a zip archive", UNPACK("unzip")}},
    {BEGINS("\x93NUMPY"), {"a NumPy array", "an argument of `lanewise run` takes it: --arg f32[]=@FILE"}},
    {BEGINS("\x89PNG"), {"a picture", "an argument of `lanewise run` takes it: --arg tex2d=@FILE"}},
    {BEGINS("\xff\xd8\xff"), {"a picture", NULL}},
    {BEGINS("GIF8"), {"a picture", NULL}},
    {BEGINS("%PDF"), {"a PDF document", NULL}},
    {BEGINS("\xff\xfe"), {"text in UTF-16", "`iconv -f UTF-16 -t ASCII` converts it"}},
    {BEGINS("\xfe\xff"), {"text in UTF-16", "`iconv -f UTF-16 -t ASCII` converts it"}},
};

enum { EM_CUDA = 190, MACHINE_AT = 18 }; /* e_machine of an ELF header */

static const lw_content cubin = {"a cubin, machine code of a GPU", EXTRACT},
                        elf = {"an ELF file: a program, a library or an object file", EXTRACT},
                        unknown = {"binary data", "PTX is text: `nvcc -ptx` makes it of CUDA C++"};

static bool begins(const char *data, size_t size, const char *with, size_t length) {
    return size >= length && !memcmp(data, with, length);
}

enum { LOOKED_AT = 4096 };

/* Control characters that no text has, of the first bytes. */
static size_t odd_bytes(const char *data, size_t size) {
    size_t odd = 0;
    for (size_t i = 0; i < size && i < LOOKED_AT; i++) {
        const unsigned char c = (unsigned char)data[i];
        odd += c == 0x7f || (c < 0x20 && !(c >= '\t' && c <= '\r') && c != 0x1b);
    }
    return odd;
}

/* Where there are many of them; a text may be damaged. */
static bool is_binary(size_t odd, size_t size) {
    enum { FEW = 8, SHARE = 16 };
    return odd >= FEW && odd >= (size < LOOKED_AT ? size : LOOKED_AT) / SHARE;
}

const lw_content *lw_content_of(const char *data, size_t size) {
    if (begins(data, size,
               BEGINS("\x7f"
                      "ELF")))
        return size > MACHINE_AT && (unsigned char)data[MACHINE_AT] == EM_CUDA ? &cubin : &elf;
    const size_t odd = odd_bytes(data, size);
    for (size_t i = 0; i < LW_COUNT(magics); i++) {
        /* a word could begin with a letter */
        const bool letter = *magics[i].bytes >= 'A' && *magics[i].bytes <= 'Z';
        if ((odd || !letter) && begins(data, size, magics[i].bytes, magics[i].size)) return &magics[i].content;
    }
    return is_binary(odd, size) ? &unknown : NULL;
}
