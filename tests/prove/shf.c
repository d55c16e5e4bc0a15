/* shf, PTX ISA 9.7.8.7: the 64 bits [b,a] are shifted, then one half is taken. */
#include <lanewise/lane/shift.h>
#include "prove.h"

static inline uint64_t both(uint32_t a, uint32_t b) { return (uint64_t)b << 32 | a; }
static inline uint32_t clamped(uint32_t c) { return c < 32 ? c : 32; }
static inline uint32_t wrapped(uint32_t c) { return c & 0x1f; }
static inline uint32_t msbs(uint64_t d) { return (uint32_t)(d >> 32); }
static inline uint32_t lsbs(uint64_t d) { return (uint32_t)d; }

static inline uint32_t shf_l_clamp(uint32_t a, uint32_t b, uint32_t c) { return msbs(both(a, b) << clamped(c)); }
static inline uint32_t shf_l_wrap(uint32_t a, uint32_t b, uint32_t c) { return msbs(both(a, b) << wrapped(c)); }
static inline uint32_t shf_r_clamp(uint32_t a, uint32_t b, uint32_t c) { return lsbs(both(a, b) >> clamped(c)); }
static inline uint32_t shf_r_wrap(uint32_t a, uint32_t b, uint32_t c) { return lsbs(both(a, b) >> wrapped(c)); }
PROVE(lw_shf_l_clamp, shf_l_clamp, uint32_t, uint32_t, uint32_t, uint32_t)
PROVE(lw_shf_l_wrap, shf_l_wrap, uint32_t, uint32_t, uint32_t, uint32_t)
PROVE(lw_shf_r_clamp, shf_r_clamp, uint32_t, uint32_t, uint32_t, uint32_t)
PROVE(lw_shf_r_wrap, shf_r_wrap, uint32_t, uint32_t, uint32_t, uint32_t)
