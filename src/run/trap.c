/* trap.c: what happened, in words: records of traps, their messages, their reports. */
#include "run/trap.h"

#include "base/special_id.h"
#include "run/crowd.h"
#include "run/interp/async.h"
#include "run/team.h"
#include "run/texture.h"

#include <stdio.h>

enum { LW_ASSERTION_MOST = 1000 }; /* bytes of each text of an assertion that are shown */
enum { LW_NULL_PAGE = 4096 };      /* what is reached through a null pointer and a small offset */

/* ---- Records --------------------------------------------------------------------------------------------- */

void lw_trap_locate(lw_trap_record *trap, const lw_gang *gang, const lw_code *code, const lw_op *op, uint32_t lane) {
    trap->place = lw_place_of(code, op);
    const lw_code *own = lw_program_code_at(gang->cta->program, trap->place); /* another one, where it was inlined */
    trap->code = own ? own : code;
    for (int i = 0; i < 3; i++) {
        trap->cta[i] = gang->cta->index[i];
        trap->thread[i] = gang->tid[i][lane];
    }
    trap->warp = (gang->first + lane) / LW_WARP_LANES;
    trap->lane = lane % LW_WARP_LANES;
}

/* ---- Deadlocks ------------------------------------------------------------------------------------------- */

/* Which of a gang's waits is to blame: one for a phase comes first, since who waits at barriers may wait for these;
 * last comes one at the barrier of the cluster, since others wait there for these threads. */
static uint32_t blame(const lw_wait *wait) {
    return wait->barrier == LW_OBJECT_WAIT ? 3 : wait->barrier == LW_CLUSTER_BARRIER ? 1 : 2;
}

static const lw_wait *find_deadlock(const lw_cluster *cluster, lw_gang **gang) {
    const lw_wait *found = NULL;
    for (uint32_t rank = 0; rank < cluster->count; rank++)
        for (uint32_t g = 0; g < cluster->ctas[rank]->gang_count; g++) {
            lw_gang *at = &cluster->ctas[rank]->gangs[g];
            for (uint32_t i = 0; i < at->waits.count; i++)
                if (!found || blame(&at->waits.at[i]) > blame(found)) found = &at->waits.at[i], *gang = at;
        }
    return found;
}

static lw_trap_lack find_lack(const lw_cta *cta, const lw_wait *wait) {
    lw_trap_lack lack = {.is_alone = cta->live == cta->threads};
    lw_mbarrier object;
    if (wait->barrier < LW_BARRIERS) {
        lack.came = lw_cta_came(cta, wait->barrier);
        lack.needed = cta->barriers[wait->barrier].expected;
    } else if (wait->barrier == LW_OBJECT_WAIT && lw_mbarrier_get(wait->object, &object)) {
        lack.came = object.expected - object.pending;
        lack.needed = object.expected;
        lack.transactions = object.transactions;
    }
    return lack;
}

/* All lanes that are left wait at barriers or for phases: for lanes of their warps nobody waits for ever (meet.c). */
void lw_trap_deadlock(lw_cluster *cluster) {
    lw_gang *gang = NULL;
    const lw_wait *wait = find_deadlock(cluster, &gang);
    if (!wait)
        lw_bug("cluster %llu of '%s' has %u threads left and none of them waits", (unsigned long long)cluster->number,
               cluster->ctas[0]->program->entry->name, cluster->live);
    lw_cta *cta = gang->cta;
    const bool at_cluster = wait->barrier == LW_CLUSTER_BARRIER;
    cta->trap = (lw_trap_record){.kind = LW_TRAP_deadlock,
                                 .access = "barrier",
                                 .detail = wait->barrier,
                                 .address = wait->address,
                                 .size = at_cluster                        ? cluster->live - cluster->arrived
                                         : wait->barrier == LW_OBJECT_WAIT ? cluster->live
                                                                           : cta->live,
                                 .lack = find_lack(cta, wait)};
    const bool is_wide = at_cluster || wait->barrier == LW_OBJECT_WAIT;
    for (uint32_t rank = 0; rank < cluster->count; rank++)
        if (is_wide || rank == cta->rank) lw_crowds_find(cta->trap.crowds, cluster->ctas[rank], wait);
    lw_trap_locate(&cta->trap, gang, wait->frame->code, wait->op, lw_mask_first(wait->lanes));
}

/* ---- Where and what, in words ---------------------------------------------------------------------------- */

static const char *plural(uint64_t count) { return count == 1 ? "" : "s"; }

/* A distance that an index of 32 bits may go wrong by, of elements of 16 bytes; from memory of the host's that was
 * lent, where all kinds of things lie beside it, much less. */
static bool is_near(lw_memory *memory, uint64_t address, uint64_t distance) {
    return distance < (lw_memory_is_device(memory, address) ? UINT64_C(1) << 36 : 1 << 20);
}

/* Hosts have what a program allocates up there, and the device nothing but what they share. */
static void put_far(lw_text *out, lw_memory *memory, uint64_t address) {
    lw_text_puts(out, "far from all that is allocated");
    if (!lw_memory_is_device(memory, address) && address >> 44 && !(address >> 48))
        lw_text_puts(out, "; it looks like a pointer of the host program, whose memory must be copied to the device "
                          "first");
}

/* The allocation that is nearest to an address that is in none; NULL: none is near. */
static const lw_range *find_nearest(const lw_ranges *ranges, lw_memory *memory, uint64_t address) {
    const lw_range *below, *next;
    lw_ranges_near(ranges, address, &below, &next);
    const uint64_t past = !below                                ? UINT64_MAX
                          : address - below->base < below->size ? 0
                                                                : address - below->base - below->size;
    const uint64_t before = next ? next->base - address : UINT64_MAX;
    const lw_range *nearest = past <= before ? below : next;
    return nearest && is_near(memory, address, past <= before ? past : before) ? nearest : NULL;
}

static void put_distance(lw_text *out, const lw_range *nearest, uint64_t address, uint64_t size) {
    const uint64_t at = address - nearest->base, over = size - (nearest->size - at);
    if (address < nearest->base) lw_text_printf(out, "%llu byte%s before", (unsigned long long)-at, plural(-at));
    else if (at < nearest->size)
        lw_text_printf(out, "the last %llu byte%s of it %s past the end of", (unsigned long long)over, plural(over),
                       over == 1 ? "is" : "are");
    else if (at == nearest->size) lw_text_puts(out, "just past the end of");
    else
        lw_text_printf(out, "%llu byte%s past the end of", (unsigned long long)(at - nearest->size),
                       plural(at - nearest->size));
}

/* Where an address is from what is allocated. */
void lw_ranges_describe(lw_text *out, const lw_ranges *ranges, lw_memory *memory, uint64_t address, uint64_t size) {
    const lw_range *around = lw_ranges_find(ranges, address, size);
    if (around) { /* there, but no constant */
        lw_text_printf(out, "but it is in the %llu-byte allocation at 0x%llx, which is global memory",
                       (unsigned long long)around->size, (unsigned long long)around->base);
        return;
    }
    const lw_range *nearest = find_nearest(ranges, memory, address);
    if (!nearest) {
        if (ranges->count || !lw_memory_is_device(memory, address)) put_far(out, memory, address);
        else lw_text_puts(out, "nothing is allocated");
        return;
    }
    put_distance(out, nearest, address, size);
    lw_text_printf(out, " the %llu-byte allocation at 0x%llx", (unsigned long long)nearest->size,
                   (unsigned long long)nearest->base);
}

/* The window that a generic address is in, and the address within it. */
static lw_window find_window(lw_window window, uint64_t *address) {
    if (window != LW_WINDOW_generic || *address >= LW_GLOBAL_BASE)
        return window == LW_WINDOW_generic ? LW_WINDOW_global : window;
    uint64_t base = *address & ~(LW_WINDOW_BYTES - 1);
    window = base == LW_SHARED_WINDOW    ? LW_WINDOW_shared
             : base == LW_LOCAL_WINDOW   ? LW_WINDOW_local
             : base == LW_PARAM_WINDOW   ? LW_WINDOW_param
             : base == LW_CLUSTER_WINDOW ? LW_WINDOW_cluster
                                         : LW_WINDOW_generic;
    if (window != LW_WINDOW_generic) *address -= window == LW_WINDOW_cluster ? LW_SHARED_WINDOW : base;
    return window;
}

const lw_range *lw_trap_range(const lw_trap_record *trap, const lw_grid *grid) {
    uint64_t address = trap->address;
    if (trap->kind != LW_TRAP_bounds || find_window(trap->window, &address) != LW_WINDOW_global) return NULL;
    return address < LW_NULL_PAGE ? NULL : find_nearest(grid->ranges, grid->memory, address);
}

static const char *window_name(lw_window window) {
    static const char *const names[] = {"generic", "global", "shared", "local", "parameter", "constant", "shared"};
    return names[window];
}

/* The shared memory of another CTA of the cluster, and why it cannot be reached. */
static void put_away(lw_text *out, const lw_trap_record *trap, const lw_grid *grid) {
    const unsigned rank = (unsigned)trap->base, count = (unsigned)trap->length;
    switch ((lw_away)trap->detail) {
    case LW_AWAY_not: break;
    case LW_AWAY_nowhere:
        if (rank < LW_CLUSTER_MOST) lw_text_printf(out, " of CTA %u of the cluster, which has %u", rank, count);
        else lw_text_printf(out, " of a CTA that no cluster has: this one has %u", count);
        break;
    case LW_AWAY_ended: lw_text_printf(out, " of CTA %u of the cluster, which has ended", rank); break;
    case LW_AWAY_unsaid:
        lw_text_printf(out, " of CTA %u of the cluster, which only .shared::cluster and generic addresses reach", rank);
        break;
    case LW_AWAY_beyond:
        lw_text_printf(out, " of CTA %u of the cluster, of which it has %u bytes", rank, grid->shared_bytes);
        break;
    }
}

static void put_bounds(lw_text *out, const lw_trap_record *trap, const lw_grid *grid) {
    uint64_t address = trap->address;
    lw_window window = find_window(trap->window, &address);
    lw_team team;
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
    if (trap->detail) put_away(out, trap, grid);
    else if (window == LW_WINDOW_shared || window == LW_WINDOW_cluster)
        lw_text_printf(out, ", of which the CTA has %u bytes", grid->shared_bytes);
    else if (window == LW_WINDOW_local)
        lw_text_printf(out, ", of which a thread has %llu bytes", (unsigned long long)trap->length);
    else if (window == LW_WINDOW_param)
        lw_text_printf(out, ", of which the kernel has %u bytes", grid->program->param_bytes);
    else if (lw_team_find(grid->memory, address, 1, &team))
        lw_text_puts(out, ", which is that of several devices, and only multimem goes there");
    else {
        lw_text_puts(out, ", ");
        lw_ranges_describe(out, grid->ranges, grid->memory, address, trap->size);
    }
}

static void put_wild_branch(lw_text *out, const lw_trap_record *trap, const lw_grid *grid) {
    (void)grid;
    if (!strcmp(trap->access, "call"))
        lw_text_printf(out, "indirect call of 0x%llx, which is not the address of a function",
                       (unsigned long long)trap->address);
    else
        lw_text_printf(out, "brx.idx with index %u, where the list has %u target%s", trap->detail, trap->size,
                       plural(trap->size));
}

/* What they wait for: "at barrier 2" */
static void put_wait(lw_text *out, const lw_crowd *crowd) {
    if (crowd->barrier == LW_WARP_WAIT) lw_text_puts(out, "for other lanes of the warp");
    else if (crowd->barrier == LW_OBJECT_WAIT)
        lw_text_printf(out, "for the mbarrier at 0x%llx", (unsigned long long)crowd->address);
    else if (crowd->barrier == LW_CLUSTER_BARRIER) lw_text_puts(out, "at the barrier of the cluster");
    else if (crowd->barrier == LW_GROUP_WAIT) lw_text_puts(out, "for other warps of the warpgroup");
    else lw_text_printf(out, "at barrier %u", crowd->barrier);
}

/* "32 wait at barrier 2 (line 8)" */
static void put_crowd(lw_text *out, const lw_crowd *crowd, const lw_grid *grid) {
    uint32_t line;
    lw_source_find(grid->source, crowd->place.at, &line, NULL);
    lw_text_printf(out, "%u wait%s ", crowd->count, crowd->count == 1 ? "s" : "");
    put_wait(out, crowd);
    lw_text_printf(out, " (line %u)", line);
}

static void put_crowds(lw_text *out, const lw_trap_record *trap, const lw_grid *grid) {
    for (uint32_t i = 0; i < LW_CROWDS && trap->crowds[i].count; i++) {
        lw_text_puts(out, i ? ", " : "; ");
        put_crowd(out, &trap->crowds[i], grid);
    }
}

static void put_lack(lw_text *out, const lw_trap_record *trap) {
    const lw_trap_lack *lack = &trap->lack;
    if (!lack->needed) {
        lw_text_printf(out, ", where %u of the %u threads that are left have come", lack->came, trap->size);
        return;
    }
    lw_text_printf(out, ", which needs %u threads: %u ha%s come", lack->needed, lack->came,
                   lack->came == 1 ? "s" : "ve");
    if (!trap->crowds->count)
        lw_text_puts(out, lack->is_alone ? ", and the CTA has no others" : ", and the others have exited");
}

static void put_object_lack(lw_text *out, const lw_trap_record *trap) {
    const lw_trap_lack *lack = &trap->lack;
    if (!lack->needed) return;
    lw_text_printf(out, ", to which %u of %u arrivals have come", lack->came, lack->needed);
    if (lack->transactions) lw_text_printf(out, " and %d bytes are still to come", lack->transactions);
}

static void put_deadlock(lw_text *out, const lw_trap_record *trap, const lw_grid *grid) {
    switch (trap->detail) {
    case LW_OBJECT_WAIT:
        lw_text_printf(out, "the thread waits for a phase of the mbarrier at 0x%llx",
                       (unsigned long long)trap->address);
        put_object_lack(out, trap);
        lw_text_printf(out, ", and none of the %u threads that are left can complete it", trap->size);
        break;
    case LW_CLUSTER_BARRIER:
        lw_text_printf(out,
                       "the thread waits at the barrier of the cluster, and none of the %u threads that have not come "
                       "can arrive there",
                       trap->size);
        break;
    case LW_GROUP_WAIT:
        lw_text_puts(out, "the thread waits for other warps of its warpgroup, and these cannot arrive there");
        break;
    default: lw_text_printf(out, "the thread waits at barrier %u", trap->detail); put_lack(out, trap);
    }
    put_crowds(out, trap, grid);
}

/* As in C's %lld: an index is signed. */
static void put_row(lw_text *out, const lw_trap_record *trap, const lw_grid *grid) {
    const lw_range *range = lw_ranges_find(grid->ranges, trap->base, 1);
    if (trap->length < LW_ROW_MOST) lw_text_printf(out, " of an array of %llu", (unsigned long long)trap->length);
    else if (range)
        lw_text_printf(out, " of an array of %llu",
                       (unsigned long long)((range->base + range->size - trap->base) / trap->size));
    else lw_text_printf(out, " of an array at 0x%llx, where nothing is allocated", (unsigned long long)trap->base);
}

static void put_reason(lw_text *out, const lw_trap_record *trap, const lw_grid *grid) {
    (void)grid;
    static const char *const words[] = {
#define REASON(name, text) text,
#include "op_modes.def"
    };
    if (trap->detail >= LW_COUNT(words) || !words[trap->detail]) lw_bug("no words for reason %u", trap->detail);
    lw_text_puts(out, words[trap->detail]);
}

static void put_mbarrier(lw_text *out, const lw_trap_record *trap, const lw_grid *grid) {
    (void)grid;
    static const char *const words[LW_MBARRIER_FAULTS] = {
        [LW_MBARRIER_absent] = "there is none: it was not made by mbarrier.init, or is no more",
        [LW_MBARRIER_elsewhere] = "the address is not in shared memory",
        [LW_MBARRIER_count] = "a count is 1 to 1048575",
        [LW_MBARRIER_arrivals] = "more arrive than are pending",
        [LW_MBARRIER_drops] = "more leave than are expected",
        [LW_MBARRIER_completes] = ".noComplete completes the phase",
        [LW_MBARRIER_transactions] = "more transactions than it can count: 1048575 either way",
    };
    lw_text_puts(out, words[trap->detail]);
}

static void put_async(lw_text *out, const lw_trap_record *trap, const lw_grid *grid) {
    (void)grid;
    unsigned long long value = trap->address;
    switch ((lw_async_fault)trap->detail) {
    case LW_ASYNC_elsewhere: lw_text_printf(out, "the address 0x%llx is not in shared memory", value); break;
    case LW_ASYNC_ctas: lw_text_printf(out, "the mask 0x%llx names CTAs that the cluster does not have", value); break;
    case LW_ASYNC_map: lw_text_printf(out, "there is no tensor map at 0x%llx", value); break;
    case LW_ASYNC_broken: lw_text_printf(out, "of the tensor map at 0x%llx %s", value, trap->why); break;
    case LW_ASYNC_rank: lw_text_printf(out, "the tensor map has %llu dimensions, not %u", value, trap->size); break;
    case LW_ASYNC_mode: lw_text_printf(out, "the tensor map at 0x%llx is for another mode", value); break;
    case LW_ASYNC_coordinates:
    case LW_ASYNC_pair: lw_text_puts(out, trap->why); break;
    case LW_ASYNC_reduction: lw_text_puts(out, "the tensor map's elements have no such operation"); break;
    case LW_ASYNC_field: lw_text_printf(out, "no tensor map can have the value %llu there", value); break;
    case LW_ASYNC_size:
    case LW_ASYNC_FAULTS: lw_text_printf(out, "%llu bytes are no multiple of %u", value, trap->size);
    }
}

/* A texture, sampler or surface: a reference by its name, an object by its handle. */
static void put_object(lw_text *out, const lw_trap_record *trap) {
    if (trap->access) lw_text_say(out, "'%s'", trap->access);
    else lw_text_printf(out, "the object of handle 0x%llx", (unsigned long long)trap->address);
}

static void put_spot(lw_text *out, const lw_trap_record *trap) {
    const long long x = (long long)trap->texts[0], y = (long long)trap->texts[1], z = (long long)trap->texts[2];
    lw_text_printf(out, "at (%lld, %lld, %lld), layer %u", x, y, z, trap->size);
}

static void put_texture(lw_text *out, const lw_trap_record *trap, const lw_grid *grid) {
    (void)grid;
    if (trap->detail == LW_TEXTURE_FAULT_handle) {
        lw_text_printf(out, "0x%llx is no handle of a texture, sampler or surface", (unsigned long long)trap->address);
        return;
    }
    put_object(out, trap);
    if (trap->detail < LW_TEXTURE_FAULT_unbound)
        lw_text_printf(out, " is no %s, which the instruction needs",
                       lw_texture_kind_names[trap->detail - LW_TEXTURE_FAULT_kind]);
    else if (trap->detail == LW_TEXTURE_FAULT_unbound) lw_text_puts(out, " is not bound to anything");
    else if (trap->detail == LW_TEXTURE_FAULT_memory) lw_text_puts(out, " is over memory that is not allocated");
    else if (trap->detail == LW_TEXTURE_FAULT_geometry)
        lw_text_puts(out, " has an image of another geometry than the instruction's");
    else {
        lw_text_puts(out, " has nothing ");
        put_spot(out, trap);
    }
}

static void put_surface(lw_text *out, const lw_trap_record *trap, const lw_grid *grid) {
    (void)grid;
    put_object(out, trap);
    lw_text_puts(out, " is accessed ");
    put_spot(out, trap);
    lw_text_printf(out, ": x is no multiple of the %u bytes of the access", trap->detail);
}

static void put_warp(lw_text *out, const lw_trap_record *trap, const lw_grid *grid) {
    (void)grid;
    lw_text_printf(out, "%u of the %d lanes of the warp execute an instruction that needs all of them", trap->detail,
                   LW_WARP_LANES);
}

static void put_selectors(lw_text *out, const lw_trap_record *trap, const lw_grid *grid) {
    (void)grid;
    lw_text_printf(out, "scale factors are selected by {%u, %u} and {%u, %u}", trap->detail & 0xff,
                   trap->detail >> 8 & 0xff, trap->detail >> 16 & 0xff, trap->detail >> 24);
    lw_text_puts(out, trap->size ? ", and lanes of the warp differ" : ", which name none");
}

static void put_warpgroup(lw_text *out, const lw_trap_record *trap, const lw_grid *grid) {
    (void)grid;
    lw_text_printf(out, "%u of the %d threads of the warpgroup execute an instruction that needs all of them",
                   trap->detail, LW_GANG_LANES);
}

static void put_barrier(lw_text *out, const lw_trap_record *trap, const lw_grid *grid) {
    (void)grid;
    if (trap->detail >= LW_BARRIERS) lw_text_printf(out, "there are barriers 0 to %d", LW_BARRIERS - 1);
    else if (trap->size % LW_WARP_LANES) lw_text_printf(out, "a count is a multiple of %d", LW_WARP_LANES);
    else lw_text_puts(out, trap->size ? "other threads use it with another count" : "the instruction needs a count");
}

/* The memory that a store was refused in: in global memory that is a constant. */
static void put_read_only(lw_text *out, const lw_trap_record *trap, const lw_grid *grid) {
    uint64_t address = trap->address;
    lw_window window = find_window(trap->window, &address);
    (void)grid;
    lw_text_puts(out, window_name(window == LW_WINDOW_global ? LW_WINDOW_const : window));
}

static void put_alignment(lw_text *out, const lw_trap_record *trap, const lw_grid *grid) {
    (void)grid;
    lw_text_printf(out, "%u", trap->size);
}

static void put_instruction(lw_text *out, const lw_trap_record *trap, const lw_grid *grid) {
    (void)grid;
    lw_text_puts(out, trap->access);
}

static void put_undefined(lw_text *out, const lw_trap_record *trap, const lw_grid *grid) {
    (void)grid;
    lw_text_printf(out, "undefined: %s, in lanes 0x%08x of the warp", trap->access, trap->detail);
}

static void put_nothing(lw_text *out, const lw_trap_record *trap, const lw_grid *grid) {
    (void)out, (void)trap, (void)grid;
}

/* A text of the kernel's in global memory, where compilers put those of assertions. */
static void put_guest(lw_text *out, const lw_grid *grid, uint64_t address) {
    const lw_range *range = lw_ranges_find(grid->ranges, address, 1);
    const uint64_t room = range ? range->base + range->size - address : 0;
    const char *text = range ? range->host + (address - range->base) : "?";
    lw_text_add(out, text, range ? strnlen(text, room < LW_ASSERTION_MOST ? room : LW_ASSERTION_MOST) : 1);
}

/* As CUDA prints it. */
static void put_assertion(lw_text *out, const lw_trap_record *trap, const lw_grid *grid) {
    put_guest(out, grid, trap->texts[1]);
    lw_text_printf(out, ":%u: ", trap->detail);
    put_guest(out, grid, trap->texts[2]);
    lw_text_printf(out, ": block: [%u,%u,%u], thread: [%u,%u,%u] Assertion `", trap->cta[0], trap->cta[1], trap->cta[2],
                   trap->thread[0], trap->thread[1], trap->thread[2]);
    put_guest(out, grid, trap->texts[0]);
    lw_text_puts(out, "` failed.");
}

/* ---- Messages -------------------------------------------------------------------------------------------- */

/* A message whose row of diag/trap.def is `format`, on its way. */
typedef struct lw_trap_said {
    lw_text *out;
    const char *format, *words; /* where it was */
    const lw_trap_record *trap;
    const lw_grid *grid;
} lw_trap_said;

static void fill(const lw_trap_said *s, ...) {
    va_list args;
    va_start(args, s);
    lw_text_vsay(s->out, s->format, args);
    va_end(args);
}

static unsigned long long address_of(const lw_trap_said *s) { return s->trap->address; }

static void say_words(const lw_trap_said *s) { fill(s, s->words); }
static void say_heap(const lw_trap_said *s) {
    fill(s, address_of(s), s->trap->detail == LW_HEAP_GIVEN_before ? "was freed already" : "malloc did not give");
}
static void say_shift(const lw_trap_said *s) { fill(s, address_of(s), s->trap->size); }
static void say_stack(const lw_trap_said *s) { fill(s, s->trap->detail, s->grid->local_limit); }
static void say_alloca(const lw_trap_said *s) { fill(s, (unsigned long long)s->trap->length, s->grid->local_limit); }
static void say_barrier(const lw_trap_said *s) { fill(s, s->trap->detail, s->trap->size, s->words); }
static void say_mbarrier(const lw_trap_said *s) { fill(s, s->trap->access, address_of(s), s->words); }
static void say_async(const lw_trap_said *s) { fill(s, s->trap->access, s->words); }
static void say_multimem(const lw_trap_said *s) { fill(s, s->trap->access, address_of(s)); }
static void say_element(const lw_trap_said *s) { fill(s, s->trap->access, (long long)address_of(s), s->words); }

static void say_access(const lw_trap_said *s) {
    char size[32];
    snprintf(size, sizeof size, "%u byte%s", s->trap->size, plural(s->trap->size));
    fill(s, s->trap->access, size, address_of(s), s->words);
}

static const struct {
    lw_diag_id id;
    bool address;
    void (*where)(lw_text *out, const lw_trap_record *trap, const lw_grid *grid);
    void (*say)(const lw_trap_said *said);
} rows[] = {
#define TRAP(name, where, says, address, result) \
    [LW_TRAP_##name] = {LW_D_trap_##name, address, put_##where, say_##says},
#include "traps.def"
};

bool lw_trap_has_address(lw_trap_kind kind) { return kind < LW_COUNT(rows) && rows[kind].address; }

lw_diag_id lw_trap_id(lw_trap_kind kind) {
    if (kind >= LW_COUNT(rows) || !rows[kind].say) lw_bug("no message for trap kind %d", (int)kind);
    return rows[kind].id;
}

void lw_trap_message(lw_text *out, const lw_trap_record *trap, const lw_grid *grid) {
    const lw_diag_id id = lw_trap_id(trap->kind);
    lw_text words = {0};
    rows[trap->kind].where(&words, trap, grid);
    rows[trap->kind].say(&(lw_trap_said){out, lw_diag_rows[id].format, words.at ? words.at : "", trap, grid});
    if (words.failed) out->failed = true;
    lw_text_free(&words);
}

/* Where in a program of vector registers. */
static void put_lane(lw_text *out, const lw_trap_record *trap, const lw_grid *grid) {
    const lw_program_vector *vector = &grid->program->vector;
    uint64_t element = (uint64_t)trap->cta[0] * grid->block[0] + trap->thread[0];
    lw_text_say(out, "function '%s'", grid->program->entry->name);
    if (vector->repeats) lw_text_printf(out, ", repeat %llu", (unsigned long long)(element / vector->lanes));
    lw_text_printf(out, ", lane %llu", (unsigned long long)(element % vector->lanes));
}

static void put_thread(lw_text *out, const lw_trap_record *trap, const lw_grid *grid) {
    const lw_code *entry = grid->program->entry;
    if (grid->program->vector.lanes) {
        put_lane(out, trap, grid);
        return;
    }
    if (trap->code && trap->code->index != entry->index) lw_text_say(out, "function '%s' of ", trap->code->name);
    lw_text_say(out, "kernel '%s', CTA (%u,%u,%u), thread (%u,%u,%u): warp %u, lane %u", entry->name, trap->cta[0],
                trap->cta[1], trap->cta[2], trap->thread[0], trap->thread[1], trap->thread[2], trap->warp, trap->lane);
}

/* "k.ptx:8:2" */
static void put_place(lw_text *out, const lw_grid *grid, uint32_t at) {
    uint32_t line, column;
    lw_source_find(grid->source, at, &line, &column);
    lw_root_put(out, &(lw_root){.file = lw_source_part_of(grid->source, at)->name, .line = line, .column = column});
}

/* What a compiler made it of, on the same line. */
static void put_made(lw_text *out, const lw_locs *locs, uint32_t at, const char *from) {
    lw_root roots[LW_ROOTS_MOST];
    const uint32_t count = lw_loc_roots(locs, at, roots);
    for (uint32_t i = 0; i < count; i++) {
        lw_text_puts(out, i ? ", inlined at " : from);
        lw_root_put(out, &roots[i]);
    }
}

/* "2 warps at k.ptx:8:2, from k.cu:4:9", "1 warp waits at barrier 0: k.ptx:9:2" */
static void put_stop(lw_text *out, const lw_crowd *crowd, const lw_grid *grid, const lw_locs *locs) {
    const bool waits = crowd->barrier != LW_GOES_ON;
    lw_text_printf(out, "  %u warp%s %s", crowd->count, plural(crowd->count),
                   !waits              ? "at "
                   : crowd->count == 1 ? "waits "
                                       : "wait ");
    if (waits) put_wait(out, crowd), lw_text_puts(out, ": ");
    put_place(out, grid, crowd->place.at);
    put_made(out, locs, crowd->place.at, ", from ");
    lw_text_puts(out, "\n");
}

void lw_stops_report(lw_text *out, const lw_grid *grid, const lw_locs *locs) {
    enum { SHOWN = 3 };
    const lw_crowd *crowds;
    const uint32_t count = grid->program->vector.lanes ? 0 : lw_stops_sort(grid->stood, &crowds);
    for (uint32_t i = 0; i < count && i < SHOWN; i++) put_stop(out, &crowds[i], grid, locs);
    if (count > SHOWN) lw_text_printf(out, "  and others at %u place%s more\n", count - SHOWN, plural(count - SHOWN));
}

void lw_trap_line(lw_text *out, const lw_trap_record *trap, const lw_grid *grid, const lw_locs *locs,
                  const char *message) {
    put_place(out, grid, trap->place.at);
    lw_text_puts(out, ": ");
    lw_text_clean(out, message, (uint32_t)strlen(message));
    put_made(out, locs, trap->place.at, "; from ");
    lw_text_puts(out, "; ");
    put_thread(out, trap, grid);
    lw_text_printf(out, " [LW%04u]", lw_diag_rows[lw_trap_id(trap->kind)].number);
}

/* Where those stand that wait for something else. */
static void put_places(lw_text *out, const lw_trap_record *trap, const lw_grid *grid, const lw_locs *locs) {
    for (uint32_t i = 0; i < LW_CROWDS && trap->crowds[i].count; i++) {
        const uint32_t at = trap->crowds[i].place.at;
        lw_text_printf(out, "       = %u of the others: ", trap->crowds[i].count);
        put_place(out, grid, at);
        put_made(out, locs, at, ", from ");
        lw_text_puts(out, "\n");
    }
}

/* What a compiler made the instruction of, a line each. */
static void put_roots(lw_text *out, const lw_locs *locs, uint32_t at) {
    lw_root roots[LW_ROOTS_MOST];
    const uint32_t count = lw_loc_roots(locs, at, roots);
    for (uint32_t i = 0; i < count; i++) {
        lw_text_puts(out, i ? "       = inlined at " : "       = from ");
        lw_root_put(out, &roots[i]);
        if (roots[i].function) lw_text_say(out, " in '%s'", roots[i].function);
        lw_text_puts(out, "\n");
    }
}

/* ---- Hints: what of the launch may be the reason ----------------------------------------------------------- */

/* CUDA's grid.sync executes trap where it gets no workspace. */
static bool asks_for_workspace(const lw_program *program) {
    return lw_program_asks(program, LW_SPECIAL_envreg1) || lw_program_asks(program, LW_SPECIAL_envreg2);
}

static const char *find_hint(const lw_trap_record *trap, const lw_grid *grid) {
    uint64_t address = trap->address;
    if (trap->kind == LW_TRAP_instruction && !grid->cooperative && asks_for_workspace(grid->program))
        return "the kernel asks for what only a cooperative launch has: --cooperative, lw_launch_config.cooperative, "
               "cuLaunchCooperativeKernel";
    if (trap->kind != LW_TRAP_bounds) return NULL;
    const lw_window window = find_window(trap->window, &address);
    if (window == LW_WINDOW_shared && !trap->detail && !grid->dynamic_shared)
        return "the launch gives no dynamic shared memory: --smem, lw_launch_config.shared_bytes, sharedMemBytes of "
               "cuLaunchKernel";
    const bool is_null = address < LW_NULL_PAGE && (window == LW_WINDOW_generic || window == LW_WINDOW_global);
    if (is_null && atomic_load(&grid->heap_lacked))
        return "malloc returned 0 in this launch: the heap had no room for what was asked for (--heap, "
               "lw_launch_config.heap_bytes, cuCtxSetLimit)";
    return NULL;
}

void lw_trap_report(lw_text *out, const lw_trap_record *trap, const lw_grid *grid, const lw_locs *locs,
                    const char *message) {
    lw_diag diag = {.id = lw_trap_id(trap->kind),
                    .severity = LW_ERROR,
                    .place = trap->place,
                    .message = message,
                    .joined = !grid->program->vector.lanes};
    lw_diag_render(out, grid->source, &diag, false);
    put_roots(out, locs, trap->place.at);
    put_places(out, trap, grid, locs);
    lw_text_puts(out, "       = ");
    put_thread(out, trap, grid);
    lw_text_puts(out, "\n");
    const char *hint = find_hint(trap, grid);
    if (hint) lw_text_printf(out, "       = %s\n", hint);
}
