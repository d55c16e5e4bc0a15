/* sample.c: a lookup of one lane (manual section 9.7.10.3), as an H200 makes it. What is known of that is in
 * docs/decisions/0029-textures-as-recorded.md. */
#include "run/sample.h"

#include "lanewise/lane/convert_half.h"

/* ---- Operands ---------------------------------------------------------------------------------------------------- */

typedef struct lookup {
    lw_spot spot;
    uint32_t lod[6];
    uint32_t compare;
} lookup;

static uint32_t lods_of(lw_texture_form form) {
    return form.lookup == LW_LOOKUP_level ? 1 : form.lookup == LW_LOOKUP_grad ? 2 * form.dimensions : 0;
}

/* Of offsets only so many bits count, which are signed. */
static int32_t offset_of(uint32_t word, uint32_t bits) { return (int32_t)(word << (32 - bits)) >> (32 - bits); }

static lookup understand(lw_texture_form form, const uint32_t *operands) {
    lookup l = {0};
    const uint32_t *at = operands, lods = lods_of(form);
    if (form.is_array) l.spot.layer = *at++;
    for (uint32_t k = 0; k < form.dimensions; k++, at++) {
        l.spot.i[k] = (int32_t)*at;
        l.spot.c[k] = lw_from_bits_f32_(*at);
    }
    if (form.has_sample) l.spot.sample = *at++;
    for (uint32_t k = 0; k < lods; k++) l.lod[k] = *at++;
    if (form.has_offsets && form.dimensions == 1 && !form.is_array) l.spot.offsets[1] = offset_of(*at >> 4, 4);
    for (uint32_t k = 0; form.has_offsets && k < form.dimensions; k++)
        l.spot.offsets[k] = offset_of(*at++, form.lookup == LW_LOOKUP_gather ? 6 : 4);
    if (form.has_compare) l.compare = *at++;
    return l;
}

/* ---- Results ----------------------------------------------------------------------------------------------------- */

static void give(lw_texture_form form, const uint32_t values[4], uint32_t *results) {
    if (form.result < LW_RESULT_f16) {
        memcpy(results, values, 4 * sizeof *values);
        return;
    }
    uint32_t halves[4];
    for (uint32_t k = 0; k < 4; k++) halves[k] = lw_cvt_f16_f32(lw_from_bits_f32_(values[k]), 0);
    for (uint32_t k = 0; k < form.results; k++)
        results[k] = form.results == 4 ? halves[k] : halves[2 * k] | halves[2 * k + 1] << 16;
}

void lw_sample(const lw_sampled *sampled, lw_texture_form form, const uint32_t *operands, uint32_t *results) {
    lookup l = understand(form, operands);
    lw_taps taps = {0};
    uint32_t values[4];
    if (form.lookup == LW_LOOKUP_gather) {
        lw_gathered gathered;
        lw_sample_gather(sampled, form, &l.spot, &gathered);
        lw_texel_gather(sampled, &gathered, form.component, values);
    } else {
        const uint32_t level = lw_sample_level(sampled, form, &l.spot, l.lod), upper = level & 255;
        lw_sample_taps(sampled, form, &l.spot, level >> 8, 256 - upper, &taps);
        if (upper) lw_sample_taps(sampled, form, &l.spot, (level >> 8) + 1, upper, &taps);
        lw_texel_filter(sampled, &taps, values);
    }
    give(form, values, results);
}
