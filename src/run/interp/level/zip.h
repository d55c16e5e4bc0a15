/* zip.h: vectors of two, four or eight elements between memory, where a lane's elements are neighbours, and registers,
 * where each element has a slot of its own. For memory.c, once for each CPU level. */
#ifndef LW_ZIP_H
#define LW_ZIP_H

/* Places of two chunks of N elements each, for __builtin_shufflevector. */
#define EVEN_2             0, 2
#define ODD_2              1, 3
#define LOW_2              0, 2
#define HIGH_2             1, 3
#define EVEN_4             0, 2, 4, 6
#define ODD_4              1, 3, 5, 7
#define LOW_4              0, 4, 1, 5
#define HIGH_4             2, 6, 3, 7
#define EVEN_8             0, 2, 4, 6, 8, 10, 12, 14
#define ODD_8              1, 3, 5, 7, 9, 11, 13, 15
#define LOW_8              0, 8, 1, 9, 2, 10, 3, 11
#define HIGH_8             4, 12, 5, 13, 6, 14, 7, 15
#define EVEN_16            0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30
#define ODD_16             1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31
#define LOW_16             0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23
#define HIGH_16            8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31
#define PLACES__(which, n) which##_##n
#define PLACES_(which, n)  PLACES__(which, n)
#if CHUNK == 64
#define PLACES_32(which) PLACES_(which, 16)
#define PLACES_64(which) PLACES_(which, 8)
#elif CHUNK == 32
#define PLACES_32(which) PLACES_(which, 8)
#define PLACES_64(which) PLACES_(which, 4)
#else
#define PLACES_32(which) PLACES_(which, 4)
#define PLACES_64(which) PLACES_(which, 2)
#endif
#define PICK(bits, which, a, b) __builtin_shufflevector(a, b, PLACES_##bits(which))

/* unzip_N: c holds N chunks of memory, and then one chunk of each element. zip_N: the way back. */
#define DEFINE_ZIP(bits) \
    LW_INLINE void unzip_2_##bits(chunk##bits *c) { \
        chunk##bits even = PICK(bits, EVEN, c[0], c[1]), odd = PICK(bits, ODD, c[0], c[1]); \
        c[0] = even, c[1] = odd; \
    } \
    LW_INLINE void zip_2_##bits(chunk##bits *c) { \
        chunk##bits low = PICK(bits, LOW, c[0], c[1]), high = PICK(bits, HIGH, c[0], c[1]); \
        c[0] = low, c[1] = high; \
    } \
    LW_INLINE void unzip_4_##bits(chunk##bits *c) { \
        chunk##bits even[2] = {PICK(bits, EVEN, c[0], c[1]), PICK(bits, EVEN, c[2], c[3])}; \
        chunk##bits odd[2] = {PICK(bits, ODD, c[0], c[1]), PICK(bits, ODD, c[2], c[3])}; \
        unzip_2_##bits(even), unzip_2_##bits(odd); \
        c[0] = even[0], c[1] = odd[0], c[2] = even[1], c[3] = odd[1]; \
    } \
    LW_INLINE void zip_4_##bits(chunk##bits *c) { \
        chunk##bits even[2] = {c[0], c[2]}, odd[2] = {c[1], c[3]}; \
        zip_2_##bits(even), zip_2_##bits(odd); \
        c[0] = PICK(bits, LOW, even[0], odd[0]), c[1] = PICK(bits, HIGH, even[0], odd[0]); \
        c[2] = PICK(bits, LOW, even[1], odd[1]), c[3] = PICK(bits, HIGH, even[1], odd[1]); \
    } \
    LW_INLINE void unzip_8_##bits(chunk##bits *c) { \
        chunk##bits even[4], odd[4]; \
        for (int i = 0; i < 4; i++) { \
            even[i] = PICK(bits, EVEN, c[2 * i], c[2 * i + 1]); \
            odd[i] = PICK(bits, ODD, c[2 * i], c[2 * i + 1]); \
        } \
        unzip_4_##bits(even), unzip_4_##bits(odd); \
        for (int i = 0; i < 4; i++) c[2 * i] = even[i], c[2 * i + 1] = odd[i]; \
    } \
    LW_INLINE void zip_8_##bits(chunk##bits *c) { \
        chunk##bits even[4] = {c[0], c[2], c[4], c[6]}, odd[4] = {c[1], c[3], c[5], c[7]}; \
        zip_4_##bits(even), zip_4_##bits(odd); \
        for (int i = 0; i < 4; i++) { \
            c[2 * i] = PICK(bits, LOW, even[i], odd[i]); \
            c[2 * i + 1] = PICK(bits, HIGH, even[i], odd[i]); \
        } \
    } \
    /* `count` lanes of `vector` elements each, from or to neighbours in memory. */ \
    LW_RACY LW_INLINE void load_zipped_##bits(lw_any##bits *const *slots, const lw_any##bits *from, uint32_t count, \
                                              uint32_t vector, void (*unzip)(chunk##bits *)) { \
        uint32_t i = 0; \
        for (; i + IN_##bits <= count; i += IN_##bits) { \
            chunk##bits c[8]; \
            for (uint32_t k = 0; k < vector; k++) c[k] = *(const loose##bits *)(from + i * vector + k * IN_##bits); \
            unzip(c); \
            for (uint32_t k = 0; k < vector; k++) *(loose##bits *)(slots[k] + i) = c[k]; \
        } \
        for (; i < count; i++) \
            for (uint32_t k = 0; k < vector; k++) \
                slots[k][i] = __atomic_load_n(from + i * vector + k, __ATOMIC_RELAXED); \
    } \
    LW_RACY LW_INLINE void store_zipped_##bits(lw_any##bits *const *slots, lw_any##bits *to, uint32_t count, \
                                               uint32_t vector, void (*zip)(chunk##bits *)) { \
        uint32_t i = 0; \
        for (; i + IN_##bits <= count; i += IN_##bits) { \
            chunk##bits c[8]; \
            for (uint32_t k = 0; k < vector; k++) c[k] = *(const loose##bits *)(slots[k] + i); \
            zip(c); \
            for (uint32_t k = 0; k < vector; k++) *(loose##bits *)(to + i * vector + k * IN_##bits) = c[k]; \
        } \
        for (; i < count; i++) \
            for (uint32_t k = 0; k < vector; k++) \
                __atomic_store_n(to + i * vector + k, slots[k][i], __ATOMIC_RELAXED); \
    } \
    static void load_vectors_##bits(lw_any##bits *const *slots, const lw_any##bits *from, uint32_t count, \
                                    uint32_t vector) { \
        if (vector == 2) load_zipped_##bits(slots, from, count, 2, unzip_2_##bits); \
        else if (vector == 4) load_zipped_##bits(slots, from, count, 4, unzip_4_##bits); \
        else load_zipped_##bits(slots, from, count, 8, unzip_8_##bits); \
    } \
    static void store_vectors_##bits(lw_any##bits *const *slots, lw_any##bits *to, uint32_t count, uint32_t vector) { \
        if (vector == 2) store_zipped_##bits(slots, to, count, 2, zip_2_##bits); \
        else if (vector == 4) store_zipped_##bits(slots, to, count, 4, zip_4_##bits); \
        else store_zipped_##bits(slots, to, count, 8, zip_8_##bits); \
    }
DEFINE_ZIP(32)
DEFINE_ZIP(64)

#endif
