/* digest.h: a short name for any content, which no other content has. */
#ifndef LW_DIGEST_H
#define LW_DIGEST_H

#include <stddef.h>
#include <stdint.h>

/* BLAKE2b of some bytes behind each other. */
enum { LW_DIGEST_BYTES = 32 };
typedef struct lw_span {
    const void *at;
    size_t size;
} lw_span;
void lw_digest(uint8_t digest[LW_DIGEST_BYTES], const lw_span *spans, size_t count);

#endif
