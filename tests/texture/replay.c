/* replay.c: textures and surfaces as a GPU has them: kernels of cases.h through the library, against what record.c
 * recorded.
 *
 *     replay FILE [STEP]    prints the cases that differ; exits with 1 if there are any. One of STEP is looked at
 *     replay FILE shorten   prints the file anew
 *
 * Shortened, a piece that is equal has no digits of its lanes, and another one has the number of those that are. */
#include "cases.h"
#include "lanewise/texture.h"

#include <stdlib.h>

enum { TEXT = 16384, TEXELS = 1 << 22 };

typedef struct player {
    lw_context *context;
    char text[TEXT];
    lw_module *module; /* of the text */
    lw_kernel *kernel;
    FILE *recorded;
    bool shortens;
    unsigned number, step, played, pieces, unequal, known;
} player;

static _Noreturn void give_up(const player *p, const char *what) {
    fprintf(stderr, "case %u: %s: %s\n", p->number, what, lw_context_message(p->context));
    exit(2);
}
static void need(const player *p, lw_status status, const char *what) {
    if (status != LW_OK) give_up(p, what);
}

/* ---- One case --------------------------------------------------------------------------------------------- */

static void make_kernel(player *p, const tx_case *c) {
    static char text[TEXT];
    tx_kernel(c, text, sizeof text);
    if (p->module && !strcmp(text, p->text)) return;
    lw_module_free(p->module);
    memcpy(p->text, text, sizeof text);
    if (lw_module_new(p->context, "case.ptx", text, strlen(text), &p->module) != LW_OK)
        give_up(p, p->module ? lw_module_diagnostics(p->module, false) : "module");
    if (lw_module_kernel(p->module, NULL, &p->kernel) != LW_OK) give_up(p, lw_module_diagnostics(p->module, false));
}

/* Level by level lies what both sides fill; rows of pitched memory are apart. */
static lw_image make_image(player *p, const tx_case *c) {
    static uint8_t texels[TEXELS];
    lw_image image = {.kind = (lw_image_kind)c->kind,
                      .type = (lw_texel_type)c->type,
                      .channels = c->channels,
                      .width = c->width,
                      .height = c->height,
                      .depth = c->deep,
                      .layers = c->layers,
                      .levels = c->levels};
    const uint64_t row = (uint64_t)c->width * tx_bytes(c) * c->channels;
    if (c->kind == K_PITCHED) image.pitch = (row + 511) / 512 * 512;
    if (lw_image_bytes(&image) != (image.pitch ? image.pitch * c->height : tx_image_bytes(c))) give_up(p, "image");
    need(p, lw_memory_new(p->context, lw_image_bytes(&image), &image.address), "memory");
    tx_fill(c, texels);
    if (!image.pitch) need(p, lw_memory_write(p->context, image.address, texels, tx_image_bytes(c)), "texels");
    for (uint32_t y = 0; image.pitch && y < c->height; y++)
        need(p, lw_memory_write(p->context, image.address + y * image.pitch, texels + y * row, row), "texels");
    return image;
}

static uint64_t make_object(player *p, const tx_case *c, const lw_image *image) {
    lw_sampler sampler = {.filter = (lw_filter)c->filter,
                          .mip_filter = (lw_filter)c->mip,
                          .normalized_coords = c->norm,
                          .normalized_floats = c->nfloat,
                          .srgb = c->srgb,
                          .seamless_cube = c->seamless,
                          .level_bias = c->bias,
                          .level_min = c->min,
                          .level_max = c->max};
    uint64_t handle;
    for (uint32_t k = 0; k < 3; k++) sampler.address[k] = (lw_address_mode)c->address[k];
    memcpy(sampler.border, c->border, sizeof sampler.border);
    if (c->op >= O_SULD) need(p, lw_surface_new(p->context, image, &handle), "surface");
    else need(p, lw_texture_new(p->context, image, NULL, &sampler, &handle), "texture");
    return handle;
}

static uint32_t play(player *p, const tx_case *c, uint32_t *words) {
    static uint32_t in[TX_WORDS << 13];
    uint64_t from, to;
    make_kernel(p, c);
    const lw_image image = make_image(p, c);
    uint64_t handle = make_object(p, c, &image);
    for (uint32_t lane = 0; lane < c->lanes; lane++) tx_lane(c, lane, in + TX_WORDS * lane);
    const uint32_t results = c->lanes * TX_RESULTS;
    need(p, lw_memory_new(p->context, 4ull * TX_WORDS * c->lanes, &from), "memory");
    need(p, lw_memory_new(p->context, 4ull * results, &to), "memory");
    need(p, lw_memory_write(p->context, from, in, 4ull * TX_WORDS * c->lanes), "coordinates");
    uint32_t lanes = c->lanes;
    const lw_launch_config config = {.grid = {(lanes + 127) / 128, 1, 1}, .block = {128, 1, 1}};
    need(p, lw_launch(p->kernel, &config, (void *[]){&handle, &from, &to, &lanes}, NULL), "launch");
    const uint32_t count = tx_writes(c) ? (uint32_t)(tx_level_bytes(c, 0) + 3) / 4 : results;
    words[count - 1] = 0;
    if (tx_writes(c)) need(p, lw_memory_read(p->context, image.address, words, tx_level_bytes(c, 0)), "image");
    else need(p, lw_memory_read(p->context, to, words, 4ull * count), "results");
    need(p, lw_texture_free(p->context, handle), "handle");
    for (uint32_t k = 0; k < 3; k++)
        need(p, lw_memory_free(p->context, k == 0 ? from : k == 1 ? to : image.address), "memory");
    return count;
}

/* ---- Pieces: [~LEAST:]HASH[:DIGITS] ------------------------------------------------------------------------------ */

typedef struct piece {
    uint32_t least; /* lanes that must be as recorded: all where nothing else is said */
    uint32_t hash;
    char digits[TX_LANES + 1]; /* empty: none are there */
} piece;

static piece read_piece(const player *p, char **at) {
    piece read = {.least = TX_LANES};
    *at += strspn(*at, " ");
    const bool differs = **at == '~';
    if (differs) read.least = (uint32_t)strtoul(*at + 1, at, 10);
    if (differs && *(*at)++ != ':') give_up(p, "a piece is not as it is written");
    read.hash = (uint32_t)strtoul(*at, at, 16);
    if (**at != ':') return read;
    const size_t size = strspn(++*at, "0123456789abcdef");
    if (size > TX_LANES) give_up(p, "a piece has too many lanes");
    memcpy(read.digits, *at, size);
    *at += size;
    return read;
}

static uint32_t equal_lanes(const piece *recorded, const uint32_t *words, uint32_t count) {
    char digits[TX_LANES + 1];
    uint32_t equal = 0;
    tx_digits_of(words, count, digits);
    for (uint32_t lane = 0; digits[lane] && recorded->digits[lane]; lane++)
        equal += digits[lane] == recorded->digits[lane];
    return equal;
}

static void describe(const player *p, const tx_case *c, uint32_t first, uint32_t equal, uint32_t least) {
    printf("case %u, from lane %u: family %c, operation %u, kind %u, type %u x %u, filter %u, mode %u, result %u",
           p->number, first / TX_LANE, c->family, c->op, c->kind, c->type, c->channels, c->filter, c->address[0],
           c->dtype);
    if (least < TX_LANES) printf(": %u lanes are as recorded, and were %u", equal, least);
    putchar('\n');
}

static void compare(player *p, const tx_case *c, const piece *recorded, const uint32_t *words, uint32_t first,
                    uint32_t count) {
    const bool same = tx_hash_of(words, count) == recorded->hash;
    const uint32_t equal = equal_lanes(recorded, words, count);
    p->pieces++, p->known += recorded->least < TX_LANES;
    if (p->shortens && same) printf(" %08x", recorded->hash);
    else if (p->shortens) /* digits may be equal by chance */
        printf(" ~%u:%08x:%s", equal < TX_LANES ? equal : TX_LANES - 1, recorded->hash, recorded->digits);
    else if (!same && (recorded->least == TX_LANES || equal < recorded->least))
        p->unequal++, describe(p, c, first, equal, recorded->least);
}

/* ---- All of them -------------------------------------------------------------------------------------------- */

/* A line for each case: its seed; what the driver said; its pieces. */
static void visit(void *user, const tx_case *c) {
    static uint32_t words[TX_RESULTS << 13];
    player *p = user;
    static char line[1 << 16];
    do {
        if (!fgets(line, sizeof line, p->recorded)) give_up(p, "the record is too short");
        if (p->shortens && *line == '#') fputs(line, stdout);
    } while (*line == '#');
    char *at = line;
    if (strtoul(at, &at, 16) != tx_seed(c)) give_up(p, "the record is of other cases");
    const bool refused = strtoul(at, &at, 10) != 0 || p->number % p->step;
    if (p->shortens) printf("%.*s", (int)(at - line), line);
    const uint32_t count = refused ? 0 : play(p, c, words);
    for (uint32_t first = 0; first < count; first += TX_PIECE) {
        const piece recorded = read_piece(p, &at);
        compare(p, c, &recorded, words + first, first, count - first < TX_PIECE ? count - first : TX_PIECE);
    }
    if (p->shortens) putchar('\n');
    p->number++, p->played += !refused;
}

int main(int argc, char **argv) {
    player p = {0};
    p.shortens = argc > 2 && !strcmp(argv[2], "shorten");
    p.step = argc > 2 && !p.shortens ? (unsigned)atoi(argv[2]) : 1;
    if (argc < 2 || !p.step || !(p.recorded = fopen(argv[1], "r"))) return 2;
    if (lw_context_new(&(lw_options){.threads = 1, .memory_limit = 256u << 20}, &p.context) != LW_OK) return 2;
    tx_each(visit, &p);
    if (!p.shortens)
        printf("%u cases of %u, %u pieces of 64 lanes: %u differ, besides lanes of %u that are known to\n", p.played,
               p.number, p.pieces, p.unequal, p.known);
    lw_context_free(p.context);
    fclose(p.recorded);
    return p.unequal != 0 || p.played < 1000 / p.step;
}
