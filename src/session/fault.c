/* fault.c: why the last failed call of a thread failed, its last trap and the notes of its last launch: one entry a
 * thread, kept by the context. */
#include "session/session.h"

#include "base/cursor.h"
#include "run/trap.h"

#include <stdio.h>
#include <stdlib.h>

/* Numbers threads in the order in which they first fail. */
static uint64_t thread_number(void) {
    static _Atomic uint64_t last;
    static _Thread_local uint64_t number;
    if (!number) number = atomic_fetch_add(&last, 1) + 1;
    return number;
}

/* Threads come and go, and each that failed once has an entry: as many lists as entries. False: no memory. */
static bool make_room(lw_context *context) {
    if (context->fault_count < context->fault_room) return true;
    uint32_t room = context->fault_room ? 2 * context->fault_room : 8;
    lw_fault **lists = room ? calloc(room, sizeof *lists) : NULL;
    if (!lists) return false;
    for (uint32_t i = 0; i < context->fault_room; i++)
        for (lw_fault *next, *fault = context->faults[i]; fault; fault = next) {
            next = fault->next;
            fault->next = lists[fault->thread & (room - 1)];
            lists[fault->thread & (room - 1)] = fault;
        }
    free(context->faults);
    context->faults = lists;
    context->fault_room = room;
    return true;
}

/* With the lock held. */
static lw_fault *make_fault(lw_context *context, uint64_t thread) {
    lw_fault *fault = make_room(context) ? calloc(1, sizeof *fault) : NULL;
    if (!fault) return NULL;
    lw_fault **list = &context->faults[thread & (context->fault_room - 1)];
    fault->thread = thread;
    fault->next = *list;
    context->fault_count++;
    return *list = fault;
}

/* The entry of this thread; NULL where it has none yet, or with `make` where there is no memory. */
static lw_fault *find_fault(lw_context *context, bool make) {
    uint64_t thread = thread_number();
    pthread_mutex_lock(&context->lock);
    lw_fault *fault = context->fault_room ? context->faults[thread & (context->fault_room - 1)] : NULL;
    while (fault && fault->thread != thread) fault = fault->next;
    if (!fault && make) fault = make_fault(context, thread);
    pthread_mutex_unlock(&context->lock);
    return fault;
}

/* Their memory serves again. */
static void drop_notes(lw_fault *fault) {
    enum { KEPT = 1 << 16 };
    if (!fault->notes) return;
    fault->note_texts = (lw_arena){.spare = lw_arena_retire(&fault->note_texts, KEPT)};
    fault->notes = NULL;
    fault->note_places = NULL;
    fault->note_count = 0;
}

static void end_fault(lw_fault *fault) {
    lw_text_free(&fault->message);
    lw_text_free(&fault->stopped);
    lw_arena_free(&fault->texts);
    lw_arena_free(&fault->note_texts);
    free(fault);
}

void lw_faults_end(lw_context *context) {
    for (uint32_t i = 0; i < context->fault_room; i++)
        for (lw_fault *next, *fault = context->faults[i]; fault; fault = next) {
            next = fault->next;
            end_fault(fault);
        }
    free(context->faults);
    context->faults = NULL;
    context->fault_room = context->fault_count = 0;
}

static void put_message(lw_text *message, lw_diag_id id, va_list args) {
    lw_text_free(message);
    lw_text_vsay(message, lw_diag_rows[id].format, args);
    lw_text_printf(message, " [LW%04u]", lw_diag_rows[id].number);
}

/* Why this thread's last lw_context_new failed: there is no context to keep it, and nobody to free it. */
static _Thread_local char no_context[512];

static void keep_without_context(lw_diag_id id, va_list args) {
    lw_text message = {0};
    put_message(&message, id, args);
    snprintf(no_context, sizeof no_context, "%s", message.failed ? "the host is out of memory" : message.at);
    lw_text_free(&message);
}

lw_status lw_fail(lw_context *context, lw_status status, lw_diag_id id, ...) {
    lw_fault *fault = context ? find_fault(context, true) : NULL;
    va_list args;
    va_start(args, id);
    if (fault) put_message(&fault->message, id, args);
    else if (context) atomic_store(&context->lost_message, true);
    else keep_without_context(id, args);
    va_end(args);
    return status;
}

lw_status lw_fail_memory(lw_context *context) { return lw_fail(context, LW_NO_MEMORY, LW_D_host_memory); }
lw_status lw_fail_null(lw_context *context, const char *argument) {
    return lw_fail(context, LW_BAD_ARGUMENT, LW_D_null_pointer, argument);
}

const char *lw_context_message(lw_context *context) {
    if (!context) return no_context;
    const lw_fault *fault = find_fault(context, false);
    if (fault && fault->message.at && !fault->message.failed) return fault->message.at;
    bool lost = fault ? fault->message.failed : atomic_load(&context->lost_message);
    return lost ? "the host is out of memory" : "";
}

/* ---- Lines that instructions come from ---------------------------------------------------------------------- */

/* With copies of all texts: the module may go before them. */
static lw_origins copy_origins(lw_arena *arena, const lw_locs *locs, lw_place place) {
    lw_root roots[LW_ROOTS_MOST];
    lw_origins to = {.count = lw_loc_roots(locs, place.at, roots)};
    to.at = LW_NEW_ARRAY(arena, lw_origin, to.count);
    for (size_t i = 0; i < to.count; i++) {
        const lw_root *from = &roots[i];
        to.at[i] = (lw_origin){.line = from->line, .column = from->column};
        to.at[i].file = lw_arena_text(arena, from->file, strlen(from->file));
        if (from->function) to.at[i].function = lw_arena_text(arena, from->function, strlen(from->function));
    }
    return to;
}

static size_t give_origins(const lw_origins *from, const lw_origin **origins) {
    if (origins) *origins = from && from->count ? from->at : NULL;
    return from ? from->count : 0;
}

/* ---- Traps ------------------------------------------------------------------------------------------------ */

typedef struct trap_texts {
    lw_text message, report, line;
} trap_texts;

/* All texts are copies: the module may go before the record does. */
static void copy_trap(lw_fault *fault, const lw_locs *locs, const lw_grid *grid, const trap_texts *texts) {
    const lw_trap_record *from = &grid->trap;
    lw_trap_info *to = &fault->trap;
    *to = (lw_trap_info){.number = lw_diag_rows[lw_trap_id(from->kind)].number, .warp = from->warp, .lane = from->lane};
    for (int i = 0; i < 3; i++) {
        to->cta[i] = from->cta[i];
        to->thread[i] = from->thread[i];
    }
    if (lw_trap_has_address(from->kind)) to->address = from->address;
    lw_source_find(grid->source, from->place.at, &to->line, &to->column);
    to->message = lw_arena_text(&fault->texts, texts->message.at, texts->message.size);
    to->report = lw_arena_text(&fault->texts, texts->report.at, texts->report.size);
    to->kernel = lw_arena_text(&fault->texts, grid->program->entry->name, strlen(grid->program->entry->name));
    const char *file = lw_source_part_of(grid->source, from->place.at)->name;
    to->file = lw_arena_text(&fault->texts, file, strlen(file));
    fault->origins = copy_origins(&fault->texts, locs, from->place);
}

static bool try_copy(lw_fault *fault, const lw_locs *locs, const lw_grid *grid, const trap_texts *texts) {
    jmp_buf out;
    lw_arena_free(&fault->texts);
    if (!LW_ARENA_TRY(&fault->texts, out)) return false;
    copy_trap(fault, locs, grid, texts);
    return true;
}

/* The first parameter that points into an allocation: its number, or as many as there are. */
static uint32_t find_argument(const lw_kernel *kernel, const char *params, const lw_range *range) {
    uint32_t i = 0;
    for (; i < kernel->info.param_count; i++) {
        uint64_t value = 0;
        const lw_param_info *param = &kernel->params[i];
        if (param->size > sizeof value) continue;
        memcpy(&value, params + param->offset, param->size);
        if (value >= range->base && value - range->base < range->size) break;
    }
    return i;
}

/* Whose the allocation is that a trap's message names. */
static void put_owner(lw_text *out, const lw_kernel *kernel, const lw_grid *grid) {
    const lw_range *range = lw_trap_range(&grid->trap, grid);
    if (!range) return;
    const char *variable = lw_variables_at(kernel->module, range);
    const uint32_t number = variable ? 0 : find_argument(kernel, grid->params, range);
    if (variable) lw_text_say(out, "       = that allocation is the variable '%s'\n", variable);
    else if (number < kernel->info.param_count)
        lw_text_say(out, "       = that allocation is argument %u's, parameter '%s'\n", number,
                    kernel->params[number].name);
}

lw_status lw_fail_trap(lw_kernel *kernel, const lw_grid *grid) {
    lw_module *module = kernel->module;
    lw_context *context = module->context;
    lw_fault *fault = find_fault(context, true);
    const lw_locs *locs = lw_module_locs(module);
    if (!fault || !locs) return lw_fail_memory(context);
    trap_texts texts = {0};
    lw_trap_message(&texts.message, &grid->trap, grid);
    const char *message = texts.message.failed ? "" : texts.message.at;
    lw_trap_report(&texts.report, &grid->trap, grid, locs, message);
    put_owner(&texts.report, kernel, grid);
    lw_trap_line(&texts.line, &grid->trap, grid, locs, message);
    const bool failed = texts.message.failed || texts.report.failed || texts.line.failed;
    const bool kept = !failed && try_copy(fault, locs, grid, &texts);
    fault->has_trap = kept;
    fault->texts.no_memory = NULL;
    lw_text_free(&texts.message);
    lw_text_free(&texts.report);
    lw_text_free(&fault->message);
    fault->message = texts.line;
    return kept ? LW_TRAPPED : lw_fail_memory(context);
}

bool lw_trap(lw_context *context, lw_trap_info *trap) {
    const lw_fault *fault = context ? find_fault(context, false) : NULL;
    if (!fault || !fault->has_trap) return false;
    if (trap) *trap = fault->trap;
    return true;
}

size_t lw_trap_origins(lw_context *context, const lw_origin **origins) {
    const lw_fault *fault = context ? find_fault(context, false) : NULL;
    return give_origins(fault && fault->has_trap ? &fault->origins : NULL, origins);
}

/* ---- Stops ------------------------------------------------------------------------------------------------ */

/* In place of those before. */
static void keep_stops(lw_fault *fault, lw_module *module, const lw_grid *grid) {
    lw_text_free(&fault->stopped);
    const lw_locs *locs = grid->stood ? lw_module_locs(module) : NULL;
    if (locs) lw_stops_report(&fault->stopped, grid, locs);
}

const char *lw_stopped_at(lw_context *context) {
    const lw_fault *fault = context ? find_fault(context, false) : NULL;
    return fault && fault->stopped.at && !fault->stopped.failed ? fault->stopped.at : "";
}

/* ---- Notes of launches ------------------------------------------------------------------------------------ */

typedef struct placed_note {
    lw_launch_note note;
    uint32_t at;
} placed_note;

static int compare_places(const void *a, const void *b) {
    const placed_note *x = a, *y = b;
    if (x->at != y->at) return x->at < y->at ? -1 : 1;
    return x->note.number < y->note.number ? -1 : x->note.number > y->note.number;
}

/* How many lanes were counted for. */
static size_t count_notes(const lw_grid *grid) {
    size_t count = 0;
    for (uint32_t i = 0; i < grid->program->notes.count; i++)
        count += atomic_load_explicit(&grid->notes[i], memory_order_relaxed) != 0;
    return count;
}

/* Those; returns how many. */
static size_t place_notes(const lw_grid *grid, placed_note *to) {
    const lw_program *program = grid->program;
    lw_source_cursor cursor = {0};
    size_t count = 0;
    for (uint32_t i = 0; i < program->notes.count; i++) {
        uint64_t lanes = atomic_load_explicit(&grid->notes[i], memory_order_relaxed);
        if (!lanes) continue;
        const lw_diag_row *row = &lw_diag_rows[program->notes.at[i].id];
        placed_note *placed = &to[count++];
        placed->at = program->notes.at[i].place.at;
        placed->note = (lw_launch_note){.number = row->number, .message = row->format, .count = lanes};
        lw_source_follow(grid->source, &cursor, placed->at, &placed->note.line, &placed->note.column);
    }
    qsort(to, count, sizeof *to, compare_places);
    return count;
}

/* The names are copies, one for all notes of a text that follow each other: the module may go before the notes do. */
static void keep_places(lw_fault *fault, const lw_locs *locs, const lw_grid *grid, size_t room) {
    lw_arena *arena = &fault->note_texts;
    placed_note *notes = LW_NEW_ARRAY(arena, placed_note, room);
    const size_t count = place_notes(grid, notes);
    const char *last = NULL, *kept = "";
    fault->notes = LW_NEW_ARRAY(arena, lw_launch_note, count);
    fault->note_places = LW_NEW_ARRAY(arena, lw_note_place, count);
    for (size_t i = 0; i < count; i++) {
        const char *name = lw_source_part_of(grid->source, notes[i].at)->name;
        if (name != last) kept = lw_arena_text(arena, name, strlen(name));
        last = name;
        fault->notes[i] = notes[i].note;
        fault->note_places[i] =
            (lw_note_place){.file = kept, .origins = copy_origins(arena, locs, (lw_place){.at = notes[i].at})};
    }
    fault->note_count = count;
}

static bool try_keep(lw_fault *fault, const lw_locs *locs, const lw_grid *grid, size_t room) {
    jmp_buf out;
    if (!LW_ARENA_TRY(&fault->note_texts, out)) return false;
    keep_places(fault, locs, grid, room);
    return true;
}

/* Most threads and launches have none: then nothing is made. */
bool lw_keep_notes(lw_module *module, const lw_grid *grid) {
    const size_t room = count_notes(grid);
    lw_fault *fault = find_fault(module->context, room != 0);
    if (!fault) return !room;
    drop_notes(fault);
    if (!room) return true;
    const lw_locs *locs = lw_module_locs(module);
    const bool kept = locs && try_keep(fault, locs, grid, room);
    fault->note_texts.no_memory = NULL;
    return kept;
}

static const lw_note_place *note_place(lw_context *context, size_t index) {
    const lw_fault *fault = context ? find_fault(context, false) : NULL;
    return fault && index < fault->note_count ? &fault->note_places[index] : NULL;
}

const char *lw_launch_note_file(lw_context *context, size_t index) {
    const lw_note_place *place = note_place(context, index);
    return place ? place->file : "";
}

size_t lw_launch_note_origins(lw_context *context, size_t index, const lw_origin **origins) {
    const lw_note_place *place = note_place(context, index);
    return give_origins(place ? &place->origins : NULL, origins);
}

size_t lw_launch_notes(lw_context *context, const lw_launch_note **notes) {
    const lw_fault *fault = context ? find_fault(context, false) : NULL;
    size_t count = fault ? fault->note_count : 0;
    if (notes) *notes = count ? fault->notes : NULL;
    return count;
}

/* ---- Engines of launches ----------------------------------------------------------------------------------- */

bool lw_keep_end(lw_module *module, const lw_grid *grid) {
    lw_fault *fault = find_fault(module->context, true);
    if (!fault) return false;
    keep_stops(fault, module, grid);
    const uint64_t done = atomic_load(&grid->done_ctas);
    const uint64_t compiled = atomic_load(&grid->compiled_ctas);
    fault->engines = (lw_launch_engines){
        .interp_ctas = done - compiled, .jit_ctas = compiled, .why = grid->tier ? lw_tier_why(grid->tier) : ""};
    fault->was_kept = grid->tier && lw_tier_was_kept(grid->tier);
    return true;
}

lw_launch_engines lw_launch_engine(lw_context *context) {
    const lw_fault *fault = context ? find_fault(context, false) : NULL;
    return fault && fault->engines.why ? fault->engines : (lw_launch_engines){.why = ""};
}

bool lw_launch_cached(lw_context *context) {
    const lw_fault *fault = context ? find_fault(context, false) : NULL;
    return fault && fault->was_kept;
}

/* ---- Structs of callers ---------------------------------------------------------------------------------------- */

bool lw_take(void *all, size_t room, const void *given, size_t first) {
    size_t size = 0;
    memset(all, 0, room);
    if (given) memcpy(&size, given, sizeof size); /* the first member of each */
    if (given && !size) size = first;
    if (given && size < sizeof size) return false;
    for (size_t i = room; i < size; i++)
        if (((const char *)given)[i]) return false;
    if (given) memcpy(all, given, size < room ? size : room);
    return true;
}
