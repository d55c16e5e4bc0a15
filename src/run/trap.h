/* trap.h: records of traps, and where a launch was stopped, in words. */
#ifndef LW_RUN_TRAP_H
#define LW_RUN_TRAP_H

#include "run/run.h"

/* Whether the address of a record of that kind means something. */
bool lw_trap_has_address(lw_trap_kind kind);
lw_diag_id lw_trap_id(lw_trap_kind kind); /* its row of isa/diag/trap.def */
/* A trap in one line, by that row; with its place in the source, what that comes from, its thread and its number; and
 * that in several lines, with the instruction. */
void lw_trap_message(lw_text *out, const lw_trap_record *trap, const lw_grid *grid);
void lw_trap_line(lw_text *out, const lw_trap_record *trap, const lw_grid *grid, const lw_locs *locs,
                  const char *message);
void lw_trap_report(lw_text *out, const lw_trap_record *trap, const lw_grid *grid, const lw_locs *locs,
                    const char *message);
/* Of an access outside of all allocations, the one that its message names; NULL: it names none. */
const lw_range *lw_trap_range(const lw_trap_record *trap, const lw_grid *grid);
/* The places where most warps stood of a launch that was stopped, a line each. */
void lw_stops_report(lw_text *out, const lw_grid *grid, const lw_locs *locs);
/* "12 bytes past the end of the 4096-byte allocation at 0x…" */
void lw_ranges_describe(lw_text *out, const lw_ranges *ranges, lw_memory *memory, uint64_t address, uint64_t size);

#endif
