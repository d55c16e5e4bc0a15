/* Every element function of Lanewise: what one instruction computes on one lane.
 *
 * Header-only and usable alone, from C11 or C++17. Each function is pure, total (no input is undefined) and
 * written so that a loop over it vectorises:
 *
 *     #include <lanewise/lane.h>
 *     for (int i = 0; i < 32; i++) d[i] = lw_shf_l_wrap(a[i], b[i], c[i]);
 *
 * A name is the mnemonic with its dots as underscores and the operand type last: setp.lt.s32 is
 * lw_setp_lt_s32. Where the sign makes no difference there is one function with b16, b32 or b64; where an
 * instruction has a single type the name has none. isa/lane/ lists every function of one lane with its types. Names
 * that end in an underscore are parts of others.
 */
#ifndef LANEWISE_LANE_H
#define LANEWISE_LANE_H

#include "lane/logic.h"
#include "lane/shift.h"
#include "lane/shuffle.h"
#include "lane/integer.h"
#include "lane/bits.h"
#include "lane/float.h"
#include "lane/rounding.h"
#include "lane/compare.h"
#include "lane/convert_integer.h"
#include "lane/convert.h"
#include "lane/convert_half.h"
#include "lane/convert_narrow.h"
#include "lane/approx.h"
#include "lane/half.h"
#include "lane/video.h"
#include "lane/video_scalar.h"
#include "lane/video_simd.h"
#include "lane/vector.h"

#endif /* LANEWISE_LANE_H */
