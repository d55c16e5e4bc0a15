/* runtime.c: what a driver adds to every module: printf, the heap, assertions. Lane by lane, in lane order. */
#include "run/interp/address.h"

/* ---- printf ---------------------------------------------------------------------------------------------------- */

typedef struct lw_reader {
    lw_gang *gang;
    uint32_t lane;
} lw_reader;

/* Byte by byte: a value may cross granules of local memory. */
LW_RACY static bool read_guest(void *user, uint64_t address, void *to, uint32_t bytes) {
    const lw_reader *reader = user;
    for (uint32_t i = 0; i < bytes; i++) {
        lw_trap_kind fault;
        const char *host =
            lw_address_host(reader->gang, LW_WINDOW_generic, reader->lane, address + i, 1, false, &fault);
        if (!host) return false;
        ((char *)to)[i] = *host;
    }
    return true;
}

static void lose(lw_gang *gang, const lw_op *op) {
    const lw_code *code = gang->frame->code;
    lw_gang_note(gang, lw_program_find_note(gang->cta->program, LW_D_note_print_lost, lw_place_of(code, op)), 1);
}

/* What the lane prints, to the launch's text. False: trapped. */
static bool keep(lw_gang *gang, const lw_op *op, uint32_t lane, const lw_text *text, bool full) {
    const lw_kept kept = full           ? LW_KEPT_not
                         : text->failed ? LW_KEPT_no_memory
                                        : lw_printer_add(gang->cta->grid->printer, gang->cta->number, text);
    if (kept == LW_KEPT_not) lose(gang, op);
    if (kept == LW_KEPT_no_memory) lw_gang_trap(gang, op, LW_TRAP_memory, lane, (lw_trap_record){0});
    return kept != LW_KEPT_no_memory;
}

static bool print_lane(lw_gang *gang, const lw_op *op, uint32_t lane, lw_text *text) {
    const uint64_t format = LW_SLOT(gang, uint64_t, op->a)[lane], arguments = LW_SLOT(gang, uint64_t, op->b)[lane];
    lw_reader reader = {gang, lane};
    int32_t count;
    bool full;
    text->size = 0;
    const uint64_t fault =
        lw_print_format(text, read_guest, &reader, format, arguments, gang->cta->grid->printer->limit, &count, &full);
    if (fault) {
        lw_trap_record details = {.access = "printf's load",
                                  .window = LW_WINDOW_generic,
                                  .size = 1,
                                  .address = fault,
                                  .length = gang->frame->local_end};
        lw_gang_trap(gang, op, LW_TRAP_bounds, lane, details);
        return false;
    }
    LW_SLOT(gang, uint32_t, op->d)[lane] = (uint32_t)count;
    return keep(gang, op, lane, text, full);
}

const lw_op *lw_step_print(lw_gang *gang, const lw_op *op) {
    lw_text text = {0};
    bool good = true;
    for (lw_mask todo = gang->mask; good && todo; todo &= todo - 1)
        good = print_lane(gang, op, lw_mask_first(todo), &text);
    lw_text_free(&text);
    return good ? op + 1 : NULL;
}

/* ---- The heap -------------------------------------------------------------------------------------------------- */

const lw_op *lw_step_heap_take(lw_gang *gang, const lw_op *op) {
    lw_grid *grid = gang->cta->grid;
    LW_FOR_LANES(lane, gang->mask) {
        const uint64_t address = lw_heap_take(grid->heap, LW_SLOT(gang, uint64_t, op->a)[lane]);
        if (!address) atomic_store_explicit(&grid->heap_lacked, true, memory_order_relaxed);
        LW_SLOT(gang, uint64_t, op->d)[lane] = address;
    }
    return op + 1;
}

const lw_op *lw_step_heap_give(lw_gang *gang, const lw_op *op) {
    LW_FOR_LANES(lane, gang->mask) {
        const uint64_t address = LW_SLOT(gang, uint64_t, op->a)[lane];
        const lw_heap_given given = address ? lw_heap_give(gang->cta->grid->heap, address) : LW_HEAP_GIVEN;
        if (given == LW_HEAP_GIVEN) continue;
        return lw_gang_trap(gang, op, LW_TRAP_heap, lane, (lw_trap_record){.address = address, .detail = given});
    }
    return op + 1;
}

/* ---- Assertions ------------------------------------------------------------------------------------------------ */

const lw_op *lw_step_assertion(lw_gang *gang, const lw_op *op) {
    const uint32_t lane = lw_mask_first(gang->mask);
    const lw_trap_record details = {.texts = {LW_SLOT(gang, uint64_t, op->a)[lane],
                                              LW_SLOT(gang, uint64_t, op->b)[lane],
                                              LW_SLOT(gang, uint64_t, op->e)[lane]},
                                    .detail = LW_SLOT(gang, uint32_t, op->c)[lane]};
    return lw_gang_trap(gang, op, LW_TRAP_assertion, lane, details);
}
