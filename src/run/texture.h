/* texture.h: what kernels find behind handles of textures, samplers and surfaces.   image → texture → table */
#ifndef LW_TEXTURE_H
#define LW_TEXTURE_H

#include "lanewise/texture.h"
#include "run/run.h"

/* ---- Images: image.c --------------------------------------------------------------------------------------------- */

enum { LW_LEVELS_MOST = 31 };

typedef struct lw_texel_row {
    uint8_t bytes; /* of a channel */
    bool is_float, is_signed;
    const char *name;
} lw_texel_row;
extern const lw_texel_row lw_texels[]; /* by lw_texel_type */

bool lw_image_is_good(const lw_image *image); /* all members of it are known */
bool lw_image_is_layered(const lw_image *image);
bool lw_image_is_cube(const lw_image *image);
bool lw_image_is_multisample(const lw_image *image);

/* ---- Textures: immutable once they are in the table -------------------------------------------------------------- */

extern const char *const lw_texture_kind_names[]; /* by lw_texture_kind */

typedef struct lw_texture {
    lw_texture_kind kind;
    bool bound;        /* has an image, or is a sampler that was set */
    const char *label; /* name of a reference, else NULL */
    lw_image image;
    lw_image_view view;
    lw_sampler sampler;
    /* Of the view: how texels are read, and levels from its first on, at its first layer. */
    lw_texel_type type;
    uint32_t channels, texel_bytes, levels, layers;
    uint64_t image_bytes;
    lw_image_plane planes[LW_LEVELS_MOST];
    struct lw_texture *retired; /* the next one that was replaced in the same turn */
} lw_texture;

/* Whether image, view and sampler make one; NULL: yes, else what is wrong. Fills all that follows from them. */
const char *lw_texture_complete(lw_texture *texture);

/* ---- The table: handles are 20 bits of index and 12 that tell one from those that had the index before ----------- */

enum { LW_TEXTURE_CHUNK = 1024, LW_TEXTURE_CHUNKS = 1024 };

typedef struct lw_texture_slot {
    _Atomic(lw_texture *) texture; /* NULL: free */
    atomic_uint generation;
    uint32_t next; /* free one */
    bool reference;
} lw_texture_slot;

typedef struct lw_textures {
    pthread_mutex_t lock;
    _Atomic(lw_texture_slot *) chunks[LW_TEXTURE_CHUNKS];
    uint32_t count;           /* slots ever given out */
    uint32_t free, last_free; /* of the free ones the first, 0: none, and the last */
    /* Launches begin in one turn or the other: what was replaced in a turn is freed when no launch is left that began
     * in it or before. The other one is over when its launches are, and then its turn comes. */
    uint32_t turn, launches[2];
    lw_texture *retired[2];
} lw_textures;

bool lw_textures_init(lw_textures *textures);
void lw_textures_end(lw_textures *textures);
/* Takes over `texture`, which was allocated by malloc. 0: no memory, or all handles are in use. */
uint64_t lw_textures_add(lw_textures *textures, lw_texture *texture, bool reference);
/* Likewise; false: there is no such handle, and `texture` stays the caller's. */
bool lw_textures_replace(lw_textures *textures, uint64_t handle, lw_texture *texture);
/* False: there is no such handle, or only the module may end it (`reference` says that it does). */
bool lw_textures_remove(lw_textures *textures, uint64_t handle, bool reference);
/* Between these, what lw_textures_find gives stays. Returns the turn, for lw_textures_drop. */
uint32_t lw_textures_hold(lw_textures *textures);
void lw_textures_drop(lw_textures *textures, uint32_t turn);
const lw_texture *lw_textures_find(const lw_textures *textures, uint64_t handle); /* NULL: none */

#endif
