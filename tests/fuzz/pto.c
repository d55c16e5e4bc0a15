/* Any bytes given as PTO text end in diagnostics that point into the text, or in a module whose print is a module with
 * the same print. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "front/pto/pto.h"

#define MUST(condition) \
    do { \
        if (!(condition)) fprintf(stderr, "line %d: not so: %s\n", __LINE__, #condition), abort(); \
    } while (0)

typedef struct reading {
    lw_arena arena;
    lw_source source;
    lw_diags diags;
    lw_pto_module *module;
} reading;

/* False where memory ran out. */
static bool read_text(reading *r, const char *text, size_t size, lw_pto_profile profile) {
    jmp_buf out;
    memset(r, 0, sizeof *r);
    lw_arena_init(&r->arena);
    r->arena.limit = 256u << 20;
    if (!LW_ARENA_TRY(&r->arena, out)) return false;
    MUST(lw_source_init(&r->source, &r->arena, "input.pto", text, size));
    lw_diags_init(&r->diags, &r->arena, &r->source);
    bool good = lw_pto_check(&r->arena, &r->source, &r->diags, profile, &r->module);
    MUST(good == !r->diags.errors);
    return true;
}

static void check_diagnostics(reading *r, size_t size) {
    lw_text out = {0};
    for (const lw_diag *d = r->diags.first; d; d = d->next) {
        MUST(d->place.at <= size && d->message[0]);
        lw_diag_render(&out, &r->source, d, false);
    }
    lw_text_free(&out);
}

static void check_print(reading *r) {
    reading again;
    lw_text once = {0}, twice = {0};
    lw_pto_print(&once, r->module);
    if (read_text(&again, once.at ? once.at : "", once.size, r->module->profile)) {
        MUST(!again.diags.errors);
        lw_pto_print(&twice, again.module);
        MUST(once.size == twice.size && (!once.size || !memcmp(once.at, twice.at, once.size)));
    }
    lw_arena_free(&again.arena);
    lw_text_free(&once);
    lw_text_free(&twice);
}

static void check_cost(reading *r) {
    jmp_buf out;
    if (!LW_ARENA_TRY(&r->arena, out)) return;
    for (uint32_t i = 0; i < r->module->functions.count; i++) {
        const lw_pto_cost *cost =
            lw_pto_cost_of(&r->arena, r->module->functions.at[i], LW_PTO_PROFILE_a2a3, NULL, NULL);
        MUST(cost->serial >= cost->piped);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    for (int profile = 0; profile < LW_PTO_PROFILE_COUNT; profile++) {
        reading r;
        if (read_text(&r, (const char *)data, size, (lw_pto_profile)profile)) {
            check_diagnostics(&r, size);
            if (!r.diags.errors) check_print(&r);
            if (!r.diags.errors) check_cost(&r);
        }
        lw_arena_free(&r.arena);
    }
    return 0;
}
