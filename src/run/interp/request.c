/* request.c: what a request of a warp's lanes would be for a GPU: its pattern, the sectors of global memory and the
 * banks of shared memory. */
#include "run/interp/count.h"

const char *const lw_request_pattern_names[LW_REQUEST_PATTERNS] = {
    [LW_REQUEST_uniform] = "uniform", [LW_REQUEST_unit] = "unit",           [LW_REQUEST_stride] = "stride",
    [LW_REQUEST_strips] = "strips",   [LW_REQUEST_scattered] = "scattered",
};

#define FOR_BITS(lane, bits) \
    for (uint32_t left_ = (bits), lane; left_ && (lane = (uint32_t)__builtin_ctz(left_), 1); left_ &= left_ - 1)

/* ---- Pattern --------------------------------------------------------------------------------------------------- */

/* Whether these lanes, some of the request's, are `step` bytes apart from lane to lane. */
static bool are_linear(const lw_request *r, uint32_t lanes, uint64_t step) {
    const uint32_t first = (uint32_t)__builtin_ctz(lanes);
    FOR_BITS(lane, lanes) if (r->address[lane] != r->address[first] + (lane - first) * step) return false;
    return true;
}

/* The distance from lane to lane that the first two have. False: it is no whole number of bytes. */
static bool first_step(const lw_request *r, int64_t *step) {
    const uint32_t first = (uint32_t)__builtin_ctz(r->lanes),
                   second = (uint32_t)__builtin_ctz(r->lanes & (r->lanes - 1));
    const int64_t apart = (int64_t)(r->address[second] - r->address[first]), lanes = second - first;
    *step = apart / lanes;
    return apart % lanes == 0;
}

static bool are_strips(const lw_request *r, uint32_t width, uint64_t step) {
    bool any = false; /* one of more than a lane */
    for (uint32_t at = 0; at < LW_WARP_LANES; at += width) {
        const uint32_t lanes = r->lanes & (((1u << width) - 1) << at);
        if (lanes && !are_linear(r, lanes, step)) return false;
        any |= lanes & (lanes - 1);
    }
    return any;
}

lw_request_pattern lw_request_find_pattern(const lw_request *r, int64_t *width) {
    int64_t step;
    *width = 0;
    if (are_linear(r, r->lanes, 0)) return LW_REQUEST_uniform;
    if (are_linear(r, r->lanes, r->bytes)) return LW_REQUEST_unit;
    if (first_step(r, &step) && are_linear(r, r->lanes, (uint64_t)step)) return *width = step, LW_REQUEST_stride;
    for (uint32_t strip = 16; strip >= 4; strip /= 2)
        if (are_strips(r, strip, r->bytes) || are_strips(r, strip, 0)) return *width = strip, LW_REQUEST_strips;
    return LW_REQUEST_scattered;
}

/* ---- Sectors --------------------------------------------------------------------------------------------------- */

enum { LANE_SECTORS = 3 }; /* that 64 bytes lie in at most */

typedef struct sectors {
    uint32_t count;
    uint64_t number[LW_WARP_LANES * LANE_SECTORS];
    uint32_t bytes[LW_WARP_LANES * LANE_SECTORS]; /* a bit for each that is asked for */
} sectors;

static void add_bytes(sectors *s, uint64_t number, uint32_t bytes) {
    uint32_t at = s->count; /* neighbours come one behind the other: from the last one on */
    while (at && s->number[at - 1] != number) at--;
    if (!at) at = ++s->count, s->number[at - 1] = number, s->bytes[at - 1] = 0;
    s->bytes[at - 1] |= bytes;
}

uint32_t lw_request_sectors(const lw_request *r, uint32_t *bytes) {
    sectors s;
    s.count = 0;
    FOR_BITS(lane, r->lanes) {
        for (uint64_t at = r->address[lane], end = at + r->bytes; at < end;) {
            const uint32_t within = (uint32_t)(at % LW_SECTOR_BYTES), room = LW_SECTOR_BYTES - within;
            const uint32_t size = end - at < room ? (uint32_t)(end - at) : room;
            add_bytes(&s, at / LW_SECTOR_BYTES, (uint32_t)(((uint64_t)1 << size) - 1) << within);
            at += size;
        }
    }
    *bytes = 0;
    for (uint32_t i = 0; i < s.count; i++) *bytes += lw_bits_count(s.bytes[i]);
    return s.count;
}

/* ---- Banks ----------------------------------------------------------------------------------------------------- */

/* Words of a group of lanes, by their banks. */
typedef struct banks {
    uint32_t counts[LW_BANKS], most;
    uint64_t words[LW_BANKS][LW_WARP_LANES];
} banks;

static void add_word(banks *b, uint64_t word) {
    const uint32_t bank = (uint32_t)(word % LW_BANKS);
    for (uint32_t i = 0; i < b->counts[bank]; i++)
        if (b->words[bank][i] == word) return;
    b->words[bank][b->counts[bank]++] = word;
    if (b->counts[bank] > b->most) b->most = b->counts[bank];
}

uint32_t lw_request_rounds(const lw_request *r, uint32_t *least) {
    const uint32_t together = r->bytes <= LW_BANK_BYTES ? LW_WARP_LANES : LW_BANKS * LW_BANK_BYTES / r->bytes;
    const uint32_t group = together == LW_WARP_LANES ? UINT32_MAX : (1u << together) - 1;
    uint32_t rounds = 0;
    *least = 0;
    for (uint32_t at = 0; at < LW_WARP_LANES; at += together) {
        banks b;
        if (!(r->lanes & group << at)) continue;
        b.most = 0;
        memset(b.counts, 0, sizeof b.counts);
        FOR_BITS(lane, r->lanes & group << at)
        for (uint32_t byte = 0; byte < r->bytes; byte += LW_BANK_BYTES)
            add_word(&b, (r->address[lane] + byte) / LW_BANK_BYTES);
        rounds += b.most;
        ++*least;
    }
    return rounds;
}

/* ---- The same as before ------------------------------------------------------------------------------------------ */

bool lw_profile_are_apart_32(const uint32_t *slot, uint32_t add, const uint64_t *apart) {
    const uint64_t first = (uint32_t)(slot[0] + add);
    uint64_t differs = 0;
    for (uint32_t i = 0; i < LW_WARP_LANES; i++) differs |= ((uint64_t)(uint32_t)(slot[i] + add) - first) ^ apart[i];
    return !differs;
}

bool lw_profile_are_apart_64(const uint64_t *slot, const uint64_t *apart) {
    const uint64_t first = slot[0];
    uint64_t differs = 0;
    for (uint32_t i = 0; i < LW_WARP_LANES; i++) differs |= (slot[i] - first) ^ apart[i];
    return !differs;
}
