/* texture.h: what steps of textures and of surfaces have in common. */
#ifndef LW_INTERP_TEXTURE_H
#define LW_INTERP_TEXTURE_H

#include "run/interp/address.h"
#include "run/sample.h"

/* The texture, sampler or surface behind a handle, bound. NULL: trapped. */
const lw_texture *lw_texture_of_lane(lw_gang *gang, const lw_op *op, uint32_t lane, uint64_t handle,
                                     lw_texture_kind kind);
/* Where device address 0 would be on the host, for all of its texels. NULL: its memory is not allocated; trapped. */
const char *lw_texture_memory(lw_gang *gang, const lw_op *op, uint32_t lane, uint64_t handle,
                              const lw_texture *texture);
/* Its kind of image is that of the instruction. False: trapped. */
bool lw_texture_fits(lw_gang *gang, const lw_op *op, uint32_t lane, uint64_t handle, const lw_texture *texture);
/* Those of `todo` that have the same in a slot of 64 bits as the first of them. */
lw_mask lw_texture_alike(const lw_gang *gang, uint32_t slot, lw_mask todo);

/* The texture and the sampler of a lane of an operation `texture`. False: trapped. */
bool lw_texture_find(lw_gang *gang, const lw_op *op, uint32_t lane, lw_sampled *sampled);
/* The step of an operation `texture`, whatever it is. */
const lw_op *lw_texture_any(lw_gang *gang, const lw_op *op);

#endif
