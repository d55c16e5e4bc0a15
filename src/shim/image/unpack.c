/* unpack.c: what nvcc packs a fatbin's entries with. Either library may be missing where this was built. */
#include "shim/image/image.h"

#include <stdlib.h>

#ifdef LW_HAS_LZ4
#include <lz4.h>
static bool unpack_lz4(char *to, size_t size, lw_bytes packed) {
    return packed.size <= INT32_MAX && size <= INT32_MAX &&
           LZ4_decompress_safe(packed.at, to, (int)packed.size, (int)size) == (int)size;
}
#else
#define unpack_lz4 NULL
#endif

#ifdef LW_HAS_ZSTD
#include <zstd.h>
static bool unpack_zstd(char *to, size_t size, lw_bytes packed) {
    return ZSTD_decompress(to, size, packed.at, packed.size) == size;
}
#else
#define unpack_zstd NULL
#endif

enum { MOST = 1 << 30 }; /* bytes of one entry */

char *lw_unpack(lw_packing packing, lw_bytes packed, uint64_t size, const char **why) {
    static const struct {
        bool (*unpack)(char *to, size_t size, lw_bytes packed);
        const char *missing;
    } rows[] = {
        [LW_PACKED_LZ4] = {unpack_lz4, "its PTX is packed with LZ4, and this Lanewise was built without liblz4"},
        [LW_PACKED_ZSTD] = {unpack_zstd, "its PTX is packed with zstd, and this Lanewise was built without libzstd"},
    };
    *why = !rows[packing].unpack ? rows[packing].missing
           : size > MOST         ? "an entry claims to be larger than 1 GiB"
                                 : NULL;
    char *text = *why ? NULL : malloc(size + 1);
    if (!text) return NULL;
    if (rows[packing].unpack(text, size, packed)) return text;
    *why = "an entry cannot be unpacked";
    free(text);
    return NULL;
}
