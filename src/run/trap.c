/* trap.c: what happened, in words: records of traps, their messages, their reports. */
#include "run/run.h"

#include <stdio.h>

enum { LW_ASSERTION_MOST = 1000 }; /* bytes of each text of an assertion that are shown */
enum { LW_NULL_PAGE = 4096 };      /* what is reached through a null pointer and a small offset */

/* ---- Deadlocks ------------------------------------------------------------------------------------------- */

/* All lanes that are left wait at barriers: for lanes of their warps nobody waits for ever (meet.c). */
void lw_trap_deadlock(lw_cta *cta) {
    lw_gang *gang = cta->gangs;
    while (gang < cta->gangs + cta->gang_count && !gang->waits.count) gang++;
    if (gang == cta->gangs + cta->gang_count)
        lw_bug("CTA %llu of '%s' has %u threads left and none of them waits", (unsigned long long)cta->number,
               cta->program->entry->name, cta->live);
    const lw_wait *wait = &gang->waits.at[0];
    const lw_code *code = wait->frame->code;
    const uint32_t lane = lw_mask_first(wait->lanes);
    lw_trap_record trap = {.kind = LW_TRAP_deadlock,
                           .code = code,
                           .place = code->places[wait->op - code->ops],
                           .access = "barrier",
                           .detail = wait->barrier,
                           .size = cta->live,
                           .warp = (gang->first + lane) / LW_WARP_LANES,
                           .lane = lane % LW_WARP_LANES};
    for (int i = 0; i < 3; i++) {
        trap.cta[i] = cta->index[i];
        trap.thread[i] = gang->tid[i][lane];
    }
    cta->trap = trap;
}

/* ---- Words ----------------------------------------------------------------------------------------------- */

static const char *plural(uint64_t count) { return count == 1 ? "" : "s"; }

/* Where an address is from what is allocated. */
void lw_ranges_describe(lw_text *out, const lw_ranges *ranges, uint64_t address, uint64_t size) {
    const lw_range *around = lw_ranges_find(ranges, address, size);
    if (around) { /* there, but no constant */
        lw_text_printf(out, "but it is in the %llu-byte allocation at 0x%llx, which is global memory",
                       (unsigned long long)around->size, (unsigned long long)around->base);
        return;
    }
    const lw_range *below, *next;
    lw_ranges_near(ranges, address, &below, &next);
    uint64_t past = below ? address - below->base : UINT64_MAX;
    if (below && past < below->size) {
        uint64_t over = size - (below->size - past);
        lw_text_printf(out, "the last %llu byte%s of it %s past the end of the %llu-byte allocation at 0x%llx",
                       (unsigned long long)over, plural(over), over == 1 ? "is" : "are",
                       (unsigned long long)below->size, (unsigned long long)below->base);
        return;
    }
    past = below ? past - below->size : UINT64_MAX;
    uint64_t before = next ? next->base - address : UINT64_MAX;
    const lw_range *nearest = past <= before ? below : next;
    if (!nearest) {
        lw_text_puts(out, "nothing is allocated");
        return;
    }
    uint64_t distance = past <= before ? past : before;
    if (nearest == below && !distance) lw_text_puts(out, "just past the end of");
    else
        lw_text_printf(out, "%llu byte%s %s", (unsigned long long)distance, plural(distance),
                       nearest == below ? "past the end of" : "before");
    lw_text_printf(out, " the %llu-byte allocation at 0x%llx", (unsigned long long)nearest->size,
                   (unsigned long long)nearest->base);
}

/* The window that a generic address is in, and the address within it. */
static lw_window find_window(lw_window window, uint64_t *address) {
    if (window != LW_WINDOW_generic || *address >= LW_GLOBAL_BASE)
        return window == LW_WINDOW_generic ? LW_WINDOW_global : window;
    uint64_t base = *address & ~(LW_WINDOW_BYTES - 1);
    window = base == LW_SHARED_WINDOW  ? LW_WINDOW_shared
             : base == LW_LOCAL_WINDOW ? LW_WINDOW_local
             : base == LW_PARAM_WINDOW ? LW_WINDOW_param
                                       : LW_WINDOW_generic;
    if (window != LW_WINDOW_generic) *address -= base;
    return window;
}

static const char *window_name(lw_window window) {
    static const char *const names[] = {"generic", "global", "shared", "local", "parameter", "constant"};
    return names[window];
}

static void describe_bounds(lw_text *out, const lw_trap_record *trap, const lw_grid *grid) {
    uint64_t address = trap->address;
    lw_window window = find_window(trap->window, &address);
    if (address < LW_NULL_PAGE && (window == LW_WINDOW_generic || window == LW_WINDOW_global)) {
        lw_text_puts(out, ", through a null pointer");
        return;
    }
    if (window == LW_WINDOW_generic) {
        lw_text_puts(out, ", where there is no memory");
        return;
    }
    lw_text_printf(out, " in %s memory", window_name(window));
    if (trap->window == LW_WINDOW_generic && window != LW_WINDOW_global)
        lw_text_printf(out, " (offset 0x%llx)", (unsigned long long)address);
    if (window == LW_WINDOW_shared) lw_text_printf(out, ", of which the CTA has %u bytes", grid->shared_bytes);
    else if (window == LW_WINDOW_local)
        lw_text_printf(out, ", of which a thread has %llu bytes", (unsigned long long)trap->length);
    else if (window == LW_WINDOW_param)
        lw_text_printf(out, ", of which the kernel has %u bytes", grid->program->param_bytes);
    else {
        lw_text_puts(out, ", ");
        lw_ranges_describe(out, grid->ranges, address, trap->size);
    }
}

static void describe_wild(lw_text *out, const lw_trap_record *trap) {
    if (!strcmp(trap->access, "call"))
        lw_text_printf(out, "indirect call of 0x%llx, which is not the address of a function",
                       (unsigned long long)trap->address);
    else
        lw_text_printf(out, "brx.idx with index %u, where the list has %u target%s", trap->detail, trap->size,
                       plural(trap->size));
}

static void describe_deadlock(lw_text *out, const lw_trap_record *trap) {
    lw_text_printf(out, "the thread waits at barrier %u, and none of the %u threads that are left can arrive there",
                   trap->detail, trap->size);
}

/* As in C's %lld: an index is signed. */
static void describe_row(lw_text *out, const lw_trap_record *trap, const lw_grid *grid) {
    const lw_range *range = lw_ranges_find(grid->ranges, trap->base, 1);
    if (trap->length < LW_ROW_MOST) lw_text_printf(out, " of an array of %llu", (unsigned long long)trap->length);
    else if (range)
        lw_text_printf(out, " of an array of %llu",
                       (unsigned long long)((range->base + range->size - trap->base) / trap->size));
    else lw_text_printf(out, " of an array at 0x%llx, where nothing is allocated", (unsigned long long)trap->base);
}

static const char *reason_words(uint32_t reason) {
    static const char *const words[] = {
#define REASON(name, text) text,
#include "op_modes.def"
    };
    if (reason >= LW_COUNT(words) || !words[reason]) lw_bug("no words for reason %u", reason);
    return words[reason];
}

static void describe_barrier(lw_text *out, const lw_trap_record *trap) {
    if (trap->detail >= LW_BARRIERS) lw_text_printf(out, "there are barriers 0 to %d", LW_BARRIERS - 1);
    else if (trap->size % LW_WARP_LANES) lw_text_printf(out, "a count is a multiple of %d", LW_WARP_LANES);
    else lw_text_puts(out, trap->size ? "other threads use it with another count" : "the instruction needs a count");
}

/* The memory that a store was refused in: in global memory that is a constant. */
static const char *read_only_name(const lw_trap_record *trap) {
    uint64_t address = trap->address;
    lw_window window = find_window(trap->window, &address);
    return window_name(window == LW_WINDOW_global ? LW_WINDOW_const : window);
}

/* A text of the kernel's in global memory, where compilers put those of assertions. */
static void put_guest(lw_text *out, const lw_grid *grid, uint64_t address) {
    const lw_range *range = lw_ranges_find(grid->ranges, address, 1);
    const uint64_t room = range ? range->base + range->size - address : 0;
    const char *text = range ? range->host + (address - range->base) : "?";
    lw_text_add(out, text, range ? strnlen(text, room < LW_ASSERTION_MOST ? room : LW_ASSERTION_MOST) : 1);
}

/* As CUDA prints it. */
static void describe_assertion(lw_text *out, const lw_trap_record *trap, const lw_grid *grid) {
    put_guest(out, grid, trap->texts[1]);
    lw_text_printf(out, ":%u: ", trap->detail);
    put_guest(out, grid, trap->texts[2]);
    lw_text_printf(out, ": block: [%u,%u,%u], thread: [%u,%u,%u] Assertion `", trap->cta[0], trap->cta[1], trap->cta[2],
                   trap->thread[0], trap->thread[1], trap->thread[2]);
    put_guest(out, grid, trap->texts[0]);
    lw_text_puts(out, "` failed.");
}

/* What the last %s of the row stands for. */
static void describe(lw_text *out, const lw_trap_record *trap, const lw_grid *grid) {
    switch (trap->kind) {
    case LW_TRAP_bounds: describe_bounds(out, trap, grid); break;
    case LW_TRAP_read_only: lw_text_puts(out, read_only_name(trap)); break;
    case LW_TRAP_wild_branch: describe_wild(out, trap); break;
    case LW_TRAP_deadlock: describe_deadlock(out, trap); break;
    case LW_TRAP_barrier: describe_barrier(out, trap); break;
    case LW_TRAP_row: describe_row(out, trap, grid); break;
    case LW_TRAP_assertion: describe_assertion(out, trap, grid); break;
    case LW_TRAP_scalar: lw_text_puts(out, reason_words(trap->detail)); break;
    case LW_TRAP_undefined:
        lw_text_printf(out, "undefined: %s, in lanes 0x%08x of the warp", trap->access, trap->detail);
        break;
    default: break;
    }
}

static void put_row(lw_text *out, lw_diag_id id, ...) {
    va_list args;
    va_start(args, id);
    lw_text_vsay(out, lw_diag_rows[id].format, args);
    va_end(args);
}

lw_diag_id lw_trap_message(lw_text *out, const lw_trap_record *trap, const lw_grid *grid) {
    lw_diag_id id = (lw_diag_id)(LW_D_trap_bounds + (trap->kind - LW_TRAP_bounds));
    char size[32];
    snprintf(size, sizeof size, "%u byte%s", trap->size, plural(trap->size));
    lw_text detail = {0};
    describe(&detail, trap, grid);
    const char *words = detail.at ? detail.at : "";
    unsigned long long address = trap->address;
    switch (trap->kind) {
    case LW_TRAP_bounds: put_row(out, id, trap->access, size, address, words); break;
    case LW_TRAP_misaligned: put_row(out, id, trap->access, size, address, trap->size); break;
    case LW_TRAP_read_only: put_row(out, id, trap->access, size, address, words); break;
    case LW_TRAP_stack: put_row(out, id, trap->detail, grid->local_limit); break;
    case LW_TRAP_shift: put_row(out, id, address, trap->size); break;
    case LW_TRAP_row: put_row(out, id, trap->access, (long long)address, words); break;
    case LW_TRAP_heap: put_row(out, id, address); break;
    case LW_TRAP_assertion:
    case LW_TRAP_undefined:
    case LW_TRAP_scalar:
    case LW_TRAP_wild_branch:
    case LW_TRAP_deadlock: put_row(out, id, words); break;
    case LW_TRAP_barrier: put_row(out, id, trap->detail, trap->size, words); break;
    case LW_TRAP_signature: put_row(out, id, trap->access); break;
    case LW_TRAP_instruction: put_row(out, id, trap->access); break;
    case LW_TRAP_memory: put_row(out, id); break;
    case LW_TRAP_none:
    case LW_TRAP_stopped:
    case LW_TRAP_kinds: lw_bug("no message for trap kind %d", (int)trap->kind);
    }
    if (detail.failed) out->failed = true;
    lw_text_free(&detail);
    return id;
}

/* Where in a program of vector registers. */
static void put_lane(lw_text *out, const lw_trap_record *trap, const lw_grid *grid) {
    const lw_program_vector *vector = &grid->program->vector;
    uint64_t element = (uint64_t)trap->cta[0] * grid->block[0] + trap->thread[0];
    lw_text_say(out, "function '%s'", grid->program->entry->name);
    if (vector->repeats) lw_text_printf(out, ", repeat %llu", (unsigned long long)(element / vector->lanes));
    lw_text_printf(out, ", lane %llu\n", (unsigned long long)(element % vector->lanes));
}

void lw_trap_report(lw_text *out, const lw_trap_record *trap, const lw_grid *grid, lw_diag_id id, const char *message) {
    lw_diag diag = {.id = id, .severity = LW_ERROR, .place = trap->place, .message = message};
    lw_diag_render(out, grid->source, &diag, false);
    const lw_code *entry = grid->program->entry;
    lw_text_puts(out, "       = ");
    if (grid->program->vector.lanes) {
        put_lane(out, trap, grid);
        return;
    }
    if (trap->code && trap->code != entry) lw_text_say(out, "function '%s' of ", trap->code->name);
    lw_text_say(out, "kernel '%s', CTA (%u,%u,%u), thread (%u,%u,%u): warp %u, lane %u\n", entry->name, trap->cta[0],
                trap->cta[1], trap->cta[2], trap->thread[0], trap->thread[1], trap->thread[2], trap->warp, trap->lane);
}
