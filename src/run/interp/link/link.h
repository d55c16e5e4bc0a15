/* link.h: what the interpreter makes of a program.   a copy of its code → fuse → steady → index → allocate → trail
 *
 * Until slots are given, register fields hold virtual register numbers, as in the program; then offsets in the
 * frame. */
#ifndef LW_LINK_H
#define LW_LINK_H

#include "middle/facts.h"

/* A virtual register, on its way to a slot. */
typedef struct lw_vreg {
    lw_class class : 8;
    bool is_const;
    bool across, lone; /* of regions: see lw_across */
    bool is_float;     /* a floating-point number, to some operation */
    bool steady;       /* the same in all CTAs of a launch */
    bool alike;        /* the same in all lanes of a CTA, wherever one has it */
    uint64_t value;
    uint32_t defs, uses;
    uint32_t from, to; /* first and last point where it is live */
    uint32_t slot;
} lw_vreg;

typedef struct lw_link {
    lw_arena *arena;
    lw_diags *diags;
    lw_code *code;
    bool failed; /* there is a diagnostic */
    LW_LIST(lw_vreg) vregs;
    LW_LIST(uint64_t) constants;
} lw_link;

/* Bytes of a frame's register slots: 256 K registers of 64 bits at a time. A GPU has 512 KiB of local memory a thread
 * to keep what its registers do not hold, a quarter of that. */
enum { LW_FRAME_MOST = 256 << 20 };

uint32_t lw_link_const(lw_link *l, lw_class class, uint64_t value);
void lw_link_fuse(lw_link *l);                              /* lop3, add3, rotates … */
void lw_link_steady(lw_link *l, const lw_program *program); /* what is done once for all CTAs */
void lw_link_index(lw_link *l);                             /* accesses that are looked at by their index */
void lw_link_allocate(lw_link *l);                          /* live ranges, slots, variants for constants */
void lw_link_trails(lw_code *code);                         /* accesses that go where others went */

#endif
