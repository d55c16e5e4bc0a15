/* tensor.c: copies by tensor maps (manual sections 5.5 and 9.7.9.25.5), and what kernels do with maps (9.7.9.26,
 * 9.7.13.16).
 *
 * A box is taken apart into rows: what lies side by side in the array and in shared memory. Where they are is found out
 * when the copy begins, the bytes move when somebody waits for it. */
#include "base/tensor.h"
#include "run/interp/async.h"

#include <stdlib.h>

enum {
    UNIT = 16,          /* bytes: rows in shared memory are as many, and swizzles move so many together */
    LINE = 128,         /* what a box in shared memory is aligned to */
    ROW_MOST = 256 * 8, /* bytes: sides of a box are 256 at most */
    ROWS = 4,           /* of a box that has a coordinate for each */
    WIDE = 128,         /* pixels of im2col::w::128 … */
    WIDE_PARTS = 4,     /* … each so much of them with a halo of its own */
    HALO_MOST = 512,
    WIDE_OFFSET_MOST = 32,
};

typedef enum deed { LOADS, STORES, REDUCES } deed;

/* A row, of an interleaved array a slice of a pixel, is `inner` bytes of shared memory, those from `low` to `high` of
 * which are in the array; `pitch` from row to row. */
typedef struct lw_tensor_copy {
    uint8_t deed, type, kind; /* what is done; lw_tensor_type; lw_atom_op */
    uint32_t turn, above;     /* bits of an address that the swizzle turns, by those so many above them */
    bool fills_nan;
    bool whole;          /* stores: units of all rows are in the allocations that the rows are in */
    lw_memory_form form; /* of a reduction */
    uint32_t inner, low, high, pitch, rows;
    uint64_t at;  /* of the box in shared memory */
    char *shared; /* … where that begins */
    char *row[];  /* in the array, as if it began at byte 0; NULL: it is outside */
} lw_tensor_copy;

/* ---- The bytes --------------------------------------------------------------------------------------------------- */

/* Where a byte of the box is in shared memory: within its unit it stays where it is. */
static char *place_of(const lw_tensor_copy *c, uint32_t row, uint32_t byte) {
    const uint64_t at = c->at + (uint64_t)row * c->pitch + byte;
    return c->shared + (at ^ (at >> c->above & c->turn));
}

/* What elements outside of the array are: of a NaN each half, whatever the type. */
static void fill(const lw_tensor_copy *c, char *to, uint32_t bytes) {
    static const uint16_t half = 0x7ff7;
    memset(to, 0, bytes);
    if (!c->fills_nan) return;
    for (uint32_t i = 0; i + 2 <= bytes; i += 2) memcpy(to + i, &half, 2);
}

/* Those in it of tf32: to nearest. */
static uint32_t round_tf32(uint32_t x) {
    enum { DROPPED = 13 };
    const uint32_t half = 1u << (DROPPED - 1), exponent = 0x7f800000, magnitude = x & 0x7fffffff;
    if (magnitude > exponent) return 0x7fffe000;
    if (magnitude == exponent) return x;
    return (x + half - 1 + (x >> DROPPED & 1)) >> DROPPED << DROPPED;
}

static void round_row(const lw_tensor_copy *c, char *bytes, uint32_t low, uint32_t high) {
    if (c->type != LW_TENSOR_tf32 && c->type != LW_TENSOR_tf32_ftz) return;
    for (uint32_t at = low; at < high; at += 4) {
        uint32_t x;
        memcpy(&x, bytes + at, sizeof x);
        x = round_tf32(x);
        memcpy(bytes + at, &x, sizeof x);
    }
}

LW_RACY static void load_row(const lw_tensor_copy *c, uint32_t row) {
    char bytes[ROW_MOST];
    const uint32_t low = c->row[row] ? c->low : 0, high = c->row[row] ? c->high : 0;
    if (low || high < c->inner) fill(c, bytes, c->inner);
    if (low < high) memcpy(bytes + low, c->row[row] + low, high - low);
    round_row(c, bytes, low, high);
    for (uint32_t at = 0; at < c->inner; at += UNIT) memcpy(place_of(c, row, at), bytes + at, UNIT);
}

LW_RACY static void store_row(const lw_tensor_copy *c, uint32_t row) {
    char bytes[ROW_MOST];
    if (!c->row[row]) return;
    for (uint32_t at = 0; at < c->inner; at += UNIT) memcpy(bytes + at, place_of(c, row, at), UNIT);
    char *to = c->row[row] + c->low;
    if (c->deed == REDUCES) lw_atom_reduce(to, bytes + c->low, c->high - c->low, (lw_atom_op)c->kind, c->form);
    else memcpy(to, bytes + c->low, c->high - c->low);
}

void lw_tensor_perform(const lw_tensor_copy *copy) {
    for (uint32_t row = 0; row < copy->rows; row++)
        if (copy->deed == LOADS) load_row(copy, row);
        else store_row(copy, row);
}

void lw_tensor_drop(lw_tensor_copy *copy) { free(copy); }

/* ---- What an instruction asks for -------------------------------------------------------------------------------- */

typedef struct request {
    lw_gang *gang;
    const lw_op *op;
    uint32_t lane;
    lw_tensor_form form;
    deed deed;
    lw_tensor map;
    uint64_t place;
    int64_t at[LW_TENSOR_RANK], offsets[LW_TENSOR_RANK]; /* by dimension; `at` of four rows: the first element, rows */
    uint32_t halo;                                       /* wide: pixels behind others that come again */
} request;

static bool trap(const request *r, lw_async_fault fault, uint64_t value, uint32_t size, const char *why) {
    static const char *const deeds[] = {"tensor load", "tensor store", "tensor reduction"};
    const lw_trap_record details = {
        .access = deeds[r->deed], .address = value, .detail = fault, .size = size, .why = why};
    lw_gang_trap(r->gang, r->op, LW_TRAP_async, r->lane, details);
    return false;
}

static bool is_wide(const request *r) { return r->form.mode == LW_TENSOR_wide || r->form.mode == LW_TENSOR_wide_128; }

/* Of what the operation lists. */
static uint64_t value_of(const request *r, uint32_t number) {
    return LW_SLOT(r->gang, uint64_t, r->gang->frame->code->slots[r->op->d + number])[r->lane];
}

static bool read_map(request *r) {
    const uint64_t address = value_of(r, LW_TENSOR_MAP);
    const lw_window window = lw_address_window(address);
    if (window != LW_WINDOW_global && window != LW_WINDOW_param) return trap(r, LW_ASYNC_map, address, 0, NULL);
    const char *map = lw_address_place(r->gang, r->op, LW_ACCESS_load, LW_WINDOW_generic, r->lane, address,
                                       LW_TENSOR_BYTES, LW_TENSOR_ALIGN);
    if (!map) return false;
    if (!lw_tensor_get(map, &r->map, NULL)) return trap(r, LW_ASYNC_map, address, 0, NULL);
    const char *why = lw_tensor_fault(&r->map);
    if (why) return trap(r, LW_ASYNC_broken, address, 0, why);
    if (r->map.rank != r->form.rank) return trap(r, LW_ASYNC_rank, r->map.rank, r->form.rank, NULL);
    if (r->map.mode != r->form.mode) return trap(r, LW_ASYNC_mode, address, 0, NULL);
    if (r->form.rows && r->map.box[1] != 1)
        return trap(r, LW_ASYNC_broken, address, 0, "the box has more than one row, and four of them are asked for");
    return true;
}

static void read_values(request *r) {
    r->place = value_of(r, LW_TENSOR_PLACE);
    const uint32_t offsets = LW_TENSOR_FIRST + r->form.coordinates;
    for (uint32_t i = 0; i < r->form.coordinates; i++) r->at[i] = (int64_t)value_of(r, LW_TENSOR_FIRST + i);
    for (uint32_t i = 0; i < r->form.offsets; i++) r->offsets[1 + i] = (int64_t)value_of(r, offsets + i);
    if (!is_wide(r)) return;
    r->halo = (uint32_t)r->offsets[1];
    r->offsets[1] = r->offsets[2], r->offsets[2] = 0;
}

/* ---- Its rows ---------------------------------------------------------------------------------------------------- */

/* How many elements a box takes along a dimension: every so many; of an interleaved array it is one slice. */
static uint32_t count_of(const lw_tensor *map, uint32_t i) {
    return map->interleave && i == map->rank - 2 ? 1 : (map->box[i] + map->steps[i] - 1) / map->steps[i];
}

/* Wide pixels come in parts: these, and behind each of them its halo. */
static uint32_t part_of(const lw_tensor *map) {
    return map->mode == LW_TENSOR_wide_128 ? WIDE / WIDE_PARTS : map->pixels;
}

static uint32_t rows_of(const request *r) {
    const lw_tensor *map = &r->map;
    uint64_t rows = 1;
    if (r->form.rows) return ROWS;
    if (map->mode == LW_TENSOR_im2col) return map->pixels;
    if (is_wide(r)) return (part_of(map) + r->halo) * (map->mode == LW_TENSOR_wide_128 ? WIDE_PARTS : 1);
    for (uint32_t i = lw_tensor_first(map); i < map->rank; i++) rows *= count_of(map, i);
    return rows > UINT32_MAX ? UINT32_MAX : (uint32_t)rows;
}

/* The place of wide pixels in the array. They go along dimension 1, and from its end to the next image's beginning; a
 * halo is what follows, and comes again in the part behind it. */
static void find_pixel(const request *r, uint32_t row, int64_t *at) {
    const lw_tensor *map = &r->map;
    const uint32_t part = part_of(map), together = part + r->halo;
    const int64_t step = map->steps[1], last = (int64_t)map->sizes[1] - 1 + map->upper[1],
                  here = (last - r->at[1]) / step + 1, each = (last - map->lower[1]) / step + 1;
    int64_t pixel = (int64_t)(row / together) * part + row % together;
    at[1] = r->at[1] + pixel * step;
    if (pixel < here) return;
    pixel -= here;
    at[1] = map->lower[1] + pixel % each * step;
    at[map->rank - 1] = r->at[map->rank - 1] + 1 + pixel / each;
}

/* The next row's place in the array: of a box and of pixels. */
static void go_on_in_box(const request *r, int64_t *at, uint32_t *done) {
    for (uint32_t i = lw_tensor_first(&r->map); i < r->map.rank; i++) {
        at[i] += r->map.steps[i];
        if (++done[i] < count_of(&r->map, i)) return;
        at[i] = r->at[i], done[i] = 0;
    }
}

static void go_on_in_pixels(const request *r, int64_t *at) {
    const uint32_t last = r->map.rank - 1, first = lw_tensor_first(&r->map);
    for (uint32_t k = 1, i = first; k < last; k++, i++) {
        at[i] += r->map.steps[i];
        if (at[i] < (int64_t)r->map.sizes[i] + r->map.upper[k]) return;
        at[i] = r->map.lower[k];
    }
    at[last] += r->map.steps[last];
}

/* A unit that begins in the array is written as a whole. */
static uint32_t end_of_units(const lw_tensor_copy *c) { return (c->high + UNIT - 1) / UNIT * UNIT; }

/* Where a row is on the host, as if all of it were inside; *outside: no element is. NULL: that, or trapped. */
static char *find_row(const request *r, lw_tensor_copy *c, const int64_t *at, bool *outside) {
    const uint32_t first = lw_tensor_first(&r->map), slice = lw_tensor_slice(&r->map);
    uint64_t address = r->map.address + (first ? (uint64_t)r->at[0] * r->map.strides[0] : 0);
    *outside = c->low >= c->high;
    for (uint32_t i = first; i < r->map.rank; i++) {
        const uint32_t k = i + 1 - first; /* 1: the first that has an offset */
        const int64_t here = at[i] + (k < r->map.rank ? r->offsets[k] : 0);
        *outside |= here < 0 || (uint64_t)here >= r->map.sizes[i];
        address += (uint64_t)here * (i ? r->map.strides[i] : slice);
    }
    if (*outside) return NULL;
    const lw_access access = r->deed == LOADS ? LW_ACCESS_load : LW_ACCESS_store;
    char *host =
        lw_address_place(r->gang, r->op, access, LW_WINDOW_global, r->lane, address + c->low, c->high - c->low, 1);
    c->whole &= host && lw_ranges_find(r->gang->cta->grid->ranges, address + c->low, end_of_units(c) - c->low);
    return host ? host - c->low : NULL;
}

static bool find_rows(const request *r, lw_tensor_copy *c) {
    int64_t at[LW_TENSOR_RANK];
    uint32_t done[LW_TENSOR_RANK] = {0};
    memcpy(at, r->at, sizeof at);
    for (uint32_t row = 0; row < c->rows; row++) {
        bool outside;
        if (r->form.rows) at[1] = r->at[1 + row];
        if (is_wide(r)) memcpy(at, r->at, sizeof at), find_pixel(r, row, at);
        c->row[row] = find_row(r, c, at, &outside);
        if (!c->row[row] && !outside) return false;
        if (r->map.mode == LW_TENSOR_im2col) go_on_in_pixels(r, at);
        if (r->map.mode == LW_TENSOR_tile && !r->form.rows) go_on_in_box(r, at, done);
    }
    if (c->whole) c->high = end_of_units(c);
    return true;
}

/* ---- Where a GPU ends the launch ------------------------------------------------------------------------------- */

/* Pixels begin between the corners; what is stored lies nowhere else than in the array. */
static const char *fault_of_pixels(const request *r) {
    for (uint32_t k = 1, i = lw_tensor_first(&r->map); k + 1 < r->map.rank; k++, i++) {
        if (r->at[i] < r->map.lower[k] || r->at[i] >= (int64_t)r->map.sizes[i] + r->map.upper[k])
            return "pixels begin outside of the corners";
        if (r->deed != LOADS && (r->map.lower[k] < 0 || r->map.upper[k] > 0))
            return "pixels to be stored lie outside of the array";
    }
    return NULL;
}

/* Whatever the map is. */
static const char *fault_of_halo(const request *r) {
    if (r->halo >= (r->form.mode == LW_TENSOR_wide_128 ? WIDE / WIDE_PARTS : HALO_MOST))
        return "a halo is below 512 pixels, or below 32 where it comes behind each 32";
    return is_wide(r) && r->offsets[1] >= WIDE_OFFSET_MOST ? "an offset along dimension 1 is below 32" : NULL;
}

/* The first may be before the lower corner. */
static const char *fault_of_wide(const request *r) {
    return r->at[1] >= (int64_t)r->map.sizes[1] + r->map.upper[1] ? "pixels begin behind the upper corner" : NULL;
}

static const char *fault_of_place(const request *r) {
    if (!r->map.interleave && r->at[0] * (int64_t)r->map.strides[0] % UNIT)
        return "the first coordinate is no multiple of 16 bytes";
    for (uint32_t i = 0; i < r->form.coordinates; i++)
        if (r->deed != LOADS && r->at[i] < 0) return "a coordinate to store at is below 0";
    if (is_wide(r)) return fault_of_wide(r);
    return r->form.mode == LW_TENSOR_im2col ? fault_of_pixels(r) : NULL;
}

/* ---- Beginning --------------------------------------------------------------------------------------------------- */

/* Elements of a row from which, and up to which, it is in the array. */
static void cut_row(const request *r, lw_tensor_copy *c) {
    c->inner = c->high = lw_tensor_slice(&r->map);
    if (c->inner) return;
    const int64_t first = -r->at[0], behind = (int64_t)r->map.sizes[0] - r->at[0], all = r->map.box[0];
    const uint32_t element = (uint32_t)r->map.strides[0];
    c->low = element * (uint32_t)(first < 0 ? 0 : first > all ? all : first);
    c->high = element * (uint32_t)(behind < 0 ? 0 : behind > all ? all : behind);
    c->inner = element * (uint32_t)all;
}

/* A reduction of this map's elements. False: there is none. */
static bool reduction_of(const request *r, lw_tensor_copy *c) {
    const lw_tensor_type type = (lw_tensor_type)r->map.type;
    const bool is_half = type == LW_TENSOR_f16 || type == LW_TENSOR_bf16, is_float = lw_tensor_is_float(type),
               is_signed = type == LW_TENSOR_s32 || type == LW_TENSOR_s64;
    lw_atom_op kind = (lw_atom_op)r->op->mode;
    const bool is_order = kind == LW_ATOM_min_u || kind == LW_ATOM_max_u;
    const bool is_bits = kind == LW_ATOM_and || kind == LW_ATOM_or || kind == LW_ATOM_xor;
    if (r->map.strides[0] < 4 && !is_half) return false;
    if (type == LW_TENSOR_s64 && (is_bits || kind == LW_ATOM_add)) return false;
    if (is_float && kind != LW_ATOM_add && !(is_half && is_order)) return false;
    if ((kind == LW_ATOM_inc || kind == LW_ATOM_dec) && type != LW_TENSOR_u32) return false;
    if (kind == LW_ATOM_add && is_float) kind = is_half ? LW_ATOM_add_half : LW_ATOM_add_float;
    if (kind == LW_ATOM_min_u) kind = is_half ? LW_ATOM_min_half : is_signed ? LW_ATOM_min_s : kind;
    if (kind == LW_ATOM_max_u) kind = is_half ? LW_ATOM_max_half : is_signed ? LW_ATOM_max_s : kind;
    c->kind = (uint8_t)kind;
    c->form = (lw_memory_form){.window = LW_WINDOW_global,
                               .flushes = type == LW_TENSOR_f32_ftz,
                               .size = (uint32_t)__builtin_ctz((uint32_t)r->map.strides[0]),
                               .is_brain = type == LW_TENSOR_bf16};
    return true;
}

/* The box in shared memory, all of which there must be. False: trapped. */
static bool find_box(const request *r, lw_tensor_copy *c, uint64_t place) {
    const lw_access access = r->deed == LOADS ? LW_ACCESS_store : LW_ACCESS_load;
    const uint64_t bytes = (uint64_t)c->pitch * c->rows;
    char *host = lw_address_place(r->gang, r->op, access, (lw_window)lw_memory_unpack(r->op->c).window, r->lane, place,
                                  bytes > UINT32_MAX ? UINT32_MAX : (uint32_t)bytes, LINE);
    uint32_t rank;
    if (!host) return false;
    lw_shared_find(r->gang->cta, place, &rank, &c->at);
    c->shared = host - c->at;
    return true;
}

/* What is to be done, or NULL: trapped. */
static lw_tensor_copy *plan(const request *r, uint64_t place) {
    const uint32_t rows = rows_of(r), turns = lw_tensor_turns(&r->map);
    lw_tensor_copy copy = {
        .deed = r->deed, .type = r->map.type, .fills_nan = r->map.fills_nan, .rows = rows, .whole = r->deed != LOADS};
    cut_row(r, &copy);
    copy.turn = lw_tensor_turned(&r->map, &copy.above);
    copy.pitch = copy.inner > turns || r->map.interleave ? copy.inner : turns;
    if (r->deed == REDUCES && !reduction_of(r, &copy)) return trap(r, LW_ASYNC_reduction, r->map.type, 0, NULL), NULL;
    if (!find_box(r, &copy, place)) return NULL; /* so rows are not too many */
    lw_tensor_copy *c = malloc(sizeof *c + rows * sizeof c->row[0]);
    if (!c) return lw_gang_trap(r->gang, r->op, LW_TRAP_memory, r->lane, (lw_trap_record){0}), NULL;
    *c = copy;
    if (find_rows(r, c)) return c;
    lw_tensor_drop(c);
    return NULL;
}

/* One that is told at an object of the CTA that gets it, or that is in a group. False: trapped. */
static bool begin(const request *r, uint64_t place, uint64_t object) {
    lw_tensor_copy *c = plan(r, place);
    lw_pending *p = c ? lw_async_add(r->gang, r->op, r->lane, r->deed == LOADS ? LW_CHAIN_told : LW_CHAIN_bulk) : NULL;
    if (!p) return lw_tensor_drop(c), false;
    p->tensor = c;
    p->bytes = p->given = c->inner * c->rows;
    p->form.window = lw_memory_unpack(r->op->c).window;
    lw_async_count(r->gang, p);
    return r->deed != LOADS || lw_async_tell_at(r->gang, r->op, r->lane, p, object);
}

/* The object that is told of what comes to a CTA: the same one there, or in the other CTA of the pair that it is in,
 * where the instruction names one of such. */
static uint64_t object_of(const request *r, uint64_t object, uint32_t rank) {
    uint64_t offset;
    uint32_t own;
    if (r->form.group == 2 && lw_shared_find(r->gang->cta, object, &own, &offset)) rank = (rank & ~1u) | (own & 1);
    return lw_shared_of(r->gang->cta, object, rank);
}

/* False: trapped. */
static bool check_pair(const request *r, uint64_t object) {
    uint64_t offset;
    uint32_t place = 0, told = 0;
    if (!r->form.group || !lw_shared_find(r->gang->cta, r->place, &place, &offset) ||
        !lw_shared_find(r->gang->cta, object, &told, &offset))
        return true;
    if (r->form.group == 1 && place != told)
        return trap(r, LW_ASYNC_pair, object, 0, "the object to tell is not in the CTA that gets the copy");
    if (place >> 1 != told >> 1)
        return trap(r, LW_ASYNC_pair, object, 0, "the object to tell is not in the pair of CTAs that gets the copy");
    return true;
}

static bool begin_lane(lw_gang *gang, const lw_op *op, uint32_t lane, deed deed) {
    request r = {.gang = gang, .op = op, .lane = lane, .deed = deed, .form = lw_tensor_unpack(op->imm)};
    read_values(&r);
    const char *why = fault_of_halo(&r);
    if (!why && !read_map(&r)) return false;
    if (!why) why = fault_of_place(&r);
    if (why) return trap(&r, LW_ASYNC_coordinates, 0, 0, why);
    if (deed != LOADS) return begin(&r, r.place, 0);
    const uint64_t object = value_of(&r, LW_TENSOR_OBJECT);
    if (op->e == LW_NO_SLOT) return check_pair(&r, object) && begin(&r, r.place, object);
    const uint16_t ctas = LW_SLOT(gang, uint16_t, op->e)[lane];
    const lw_cluster *cluster = gang->cta->cluster;
    if (ctas >> cluster->count) return trap(&r, LW_ASYNC_ctas, ctas, 0, NULL);
    for (uint32_t rank = 0; rank < cluster->count; rank++)
        if (ctas >> rank & 1 && !begin(&r, lw_shared_of(gang->cta, r.place, rank), object_of(&r, object, rank)))
            return false;
    return true;
}

static const lw_op *begin_all(lw_gang *gang, const lw_op *op, deed deed) {
    LW_FOR_LANES(lane, gang->mask) if (!begin_lane(gang, op, lane, deed)) return NULL;
    return op + 1;
}

const lw_op *lw_step_tensor_load(lw_gang *gang, const lw_op *op) { return begin_all(gang, op, LOADS); }
const lw_op *lw_step_tensor_store(lw_gang *gang, const lw_op *op) { return begin_all(gang, op, STORES); }
const lw_op *lw_step_tensor_reduce(lw_gang *gang, const lw_op *op) { return begin_all(gang, op, REDUCES); }

/* ---- Maps -------------------------------------------------------------------------------------------------------- */

static const lw_op *trap_map(lw_gang *gang, const lw_op *op, uint32_t lane, lw_async_fault fault, uint64_t value) {
    const lw_trap_record details = {.access = "tensormap.replace", .address = value, .detail = fault};
    return lw_gang_trap(gang, op, LW_TRAP_async, lane, details);
}

/* Bytes that are all 0 become a map by it. */
LW_RACY static bool replace(lw_gang *gang, const lw_op *op, uint32_t lane) {
    const lw_window window = (lw_window)lw_memory_unpack(op->c).window;
    const uint64_t address = lw_address_of(gang, op, lane), value = LW_SLOT(gang, uint64_t, op->b)[lane];
    const lw_tensor_field field = (lw_tensor_field)(op->e & ((1u << LW_TENSOR_FIELD_BITS) - 1));
    char *map = lw_address_place(gang, op, LW_ACCESS_store, window, lane, address, LW_TENSOR_BYTES, LW_TENSOR_ALIGN);
    lw_tensor tensor;
    bool new;
    if (!map) return false;
    if (!lw_tensor_get(map, &tensor, &new)) return trap_map(gang, op, lane, LW_ASYNC_map, address), false;
    if (!lw_tensor_replace(&tensor, field, op->e >> LW_TENSOR_FIELD_BITS, value))
        return trap_map(gang, op, lane, LW_ASYNC_field, value), false;
    lw_tensor_put(map, &tensor);
    return true;
}

const lw_op *lw_step_tensor_replace(lw_gang *gang, const lw_op *op) {
    LW_FOR_LANES(lane, gang->mask) if (!replace(gang, op, lane)) return NULL;
    return op + 1;
}

/* All lanes of a warp bring the same. */
LW_RACY const lw_op *lw_step_tensor_publish(lw_gang *gang, const lw_op *op) {
    LW_FOR_LANES(lane, gang->mask) {
        const uint64_t to = LW_SLOT(gang, uint64_t, op->d)[lane], from = LW_SLOT(gang, uint64_t, op->a)[lane];
        const char *source =
            lw_address_place(gang, op, LW_ACCESS_load, LW_WINDOW_shared, lane, from, LW_TENSOR_BYTES, LW_TENSOR_ALIGN);
        char *target = source ? lw_address_place(gang, op, LW_ACCESS_store, LW_WINDOW_global, lane, to, LW_TENSOR_BYTES,
                                                 LW_TENSOR_ALIGN)
                              : NULL;
        if (!target) return NULL;
        memcpy(target, source, LW_TENSOR_BYTES);
    }
    lw_memory_order();
    return op + 1;
}
