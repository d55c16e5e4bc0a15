/* sample.h: what one lane finds in a texture.   coordinates → taps → texels → result */
#ifndef LW_SAMPLE_H
#define LW_SAMPLE_H

#include "run/texture.h"

/* A texture as a launch looks at it: with a sampler, which may be another's, and where its memory is. */
typedef struct lw_sampled {
    const lw_texture *texture;
    const lw_sampler *sampler;
    const char *texels; /* host place of device address 0 */
} lw_sampled;

/* A lookup, of operands in the order of lw_texture_form, into form.results words. */
void lw_sample(const lw_sampled *sampled, lw_texture_form form, const uint32_t *operands, uint32_t *results);

/* ---- Coordinates: sample_place.c --------------------------------------------------------------------------------- */

enum { LW_TAPS = 16 };

/* Texels that a lookup takes of one level or two, and weights of them that add up to 256. */
typedef struct lw_taps {
    uint32_t count;
    uint32_t quads, ends[4]; /* up to four of a slice or level belong together: where those of each end */
    struct lw_tap {
        const char *texel; /* NULL: the border */
        int32_t weight;
    } at[LW_TAPS];
} lw_taps;

/* Where a lookup is, the words of a lane understood. */
typedef struct lw_spot {
    float c[3];
    int32_t i[3]; /* of integer coordinates */
    uint32_t layer, sample;
    int32_t offsets[3];
} lw_spot;

/* Adds those of a level, which has this weight. */
void lw_sample_taps(const lw_sampled *sampled, lw_texture_form form, const lw_spot *spot, uint32_t level,
                    uint32_t weight, lw_taps *taps);
/* The four texels of a gather, in the order of the result. */
typedef struct lw_gathered {
    const char *texels[4];
    uint32_t corner; /* the one that is none, at the corner of a cube, but the mean of the others; 4: all are there */
    lw_taps mean;
    bool is_filtered; /* each is read as a sum of one */
} lw_gathered;
void lw_sample_gather(const lw_sampled *sampled, lw_texture_form form, const lw_spot *spot, lw_gathered *gathered);
/* The face of a cube that a direction meets, and where: c[0] and c[1] become coordinates of it, from 0 to 1. */
uint32_t lw_sample_face(float c[3]);

/* ---- Levels: sample_level.c -------------------------------------------------------------------------------------- */

/* The level, in 256ths: of lw_texture_form.lookup by `lod`, or by derivatives (of x, then of y). */
uint32_t lw_sample_level(const lw_sampled *sampled, lw_texture_form form, const lw_spot *spot, const uint32_t *lod);

/* ---- Texels: texel.c --------------------------------------------------------------------------------------------- */

/* Four components of taps together, as words of the type that the texture is read as. */
void lw_texel_filter(const lw_sampled *sampled, const lw_taps *taps, uint32_t result[4]);
/* One component of each of four. */
void lw_texel_gather(const lw_sampled *sampled, const lw_gathered *gathered, uint32_t component, uint32_t result[4]);
/* One component of a texel, as it is read without a filter; texel NULL: of the border. */
uint32_t lw_texel_read(const lw_sampled *sampled, const char *texel, uint32_t component);

#endif
