#!/usr/bin/env python3
"""CTAs of several gangs, whose turns follow each other without anybody looking (lw_grid_next, interp/runs.c): barriers that all pass, threads that leave in
between, and now and then lanes of one gang that part, find something out together, and are left to the interpreter; and kernels without barriers, of which
some CTAs begin a copy that ends with the thread, read what nobody has written, or end within a warp; and local memory, which begins with zeros; and
registers that are rows, kept over the barriers, which now and then somebody else than the compiler wants. Against a model of single threads, in blocks of one
to seven gangs; by both engines, one worker or two, with equal counts of instructions. And a trap in one of the last CTAs, with the same place in all, and runs
without end that stop.

    gang_to_gang.py --lanewise LANEWISE"""

import argparse
import itertools
import json
import os
import signal
import subprocess
import sys
import tempfile
import time

WORD = (1 << 32) - 1
ROUNDS, CTAS, GROUP = 9, 23, 7
KEPT_CODE = tempfile.TemporaryDirectory()  # compiled in this test alone
FEW = "LW_TEST_FEW" in os.environ  # another build has all of what this test tries


def some(all_of_them):
    return all_of_them[1::3] if FEW else all_of_them


TEXT = """.version 7.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out, .param .u32 leaves, .param .u32 whole, .param .u32 bad)
{
.shared .align 4 .b32 room[1024];
.reg .b64 %out, %a, %w; .reg .b32 %t, %n, %c, %g, %v, %u, %k, %x, %s, %z, %lane, %leaves, %whole, %bad; .reg .pred %p, %q;
ld.param.u64 %out, [out]; ld.param.u32 %leaves, [leaves]; ld.param.u32 %whole, [whole]; ld.param.u32 %bad, [bad];
mov.u32 %t, %tid.x; mov.u32 %n, %ntid.x; mov.u32 %c, %ctaid.x; mov.u32 %lane, %laneid; mad.lo.u32 %g, %c, %n, %t;
mul.wide.u32 %w, %g, 4; add.u64 %a, %out, %w; mad.lo.u32 %v, %g, 2654435769, 1; mov.u32 %k, 0;
shl.b32 %s, %t, 2; mov.u32 %x, room; add.u32 %s, %s, %x;
ROUND:
st.shared.u32 [%s], %v;
bar.sync 0;
add.u32 %u, %t, 1; rem.u32 %u, %u, %n; shl.b32 %u, %u, 2; add.u32 %u, %u, %x; ld.shared.u32 %u, [%u];
bar.sync 0;
mad.lo.u32 %v, %v, 31, %u; add.u32 %v, %v, %k;
// some lanes of one warp find each other
shr.u32 %u, %t, 5; add.u32 %u, %u, %c; add.u32 %u, %u, %k; rem.u32 %u, %u, 23; setp.ne.u32 %p, %u, 0; setp.ge.or.u32 %p, %lane, 7, %p; @%p bra ON;
add.u32 %u, %lane, 1; rem.u32 %u, %u, 7; shfl.sync.idx.b32 %u, %v, %u, 31, 127; xor.b32 %v, %v, %u;
ON:
// others leave: with the last of them nobody waits for them any more
mad.lo.u32 %u, %k, 64, %leaves; setp.ge.u32 %p, %t, %u; add.u32 %u, %u, 64; setp.lt.and.u32 %p, %t, %u, %p; setp.gt.and.u32 %p, %k, 2, %p; @%p bra DONE;
// all of one gang, in every fourth CTA
and.b32 %u, %c, 3; setp.eq.u32 %p, %u, 3; shr.u32 %u, %t, 7; setp.eq.and.u32 %p, %u, 1, %p; setp.eq.and.u32 %p, %k, %whole, %p; @%p bra DONE;
// what nobody has written is zero
add.u32 %v, %v, %z; rem.u32 %u, %c, 3; setp.eq.u32 %q, %u, 1; @%q add.u32 %z, %z, %t;
setp.eq.u32 %q, %g, %bad; @%q st.global.u32 [%a+1048576], %v;
add.u32 %k, %k, 1; setp.lt.u32 %p, %k, 9; @%p bra ROUND;
DONE:
st.global.u32 [%a], %v;
ret;
}
.visible .entry alone(.param .u64 out, .param .u64 in, .param .u32 count, .param .u32 odd)
{
.shared .align 16 .b32 room[512];
.reg .b64 %out, %in, %a, %b, %w; .reg .b32 %t, %n, %c, %y, %g, %v, %u, %s, %z, %count, %odd, %m; .reg .pred %p, %q;
ld.param.u64 %out, [out]; ld.param.u64 %in, [in]; ld.param.u32 %count, [count]; ld.param.u32 %odd, [odd];
mov.u32 %t, %tid.x; mov.u32 %n, %ntid.x; mov.u32 %c, %ctaid.x; mov.u32 %y, %ctaid.y; mov.u32 %m, %nctaid.x; mad.lo.u32 %c, %y, %m, %c;
mad.lo.u32 %g, %c, %n, %t; setp.ge.u32 %p, %g, %count; @%p bra DONE;
mul.wide.u32 %w, %g, 4; add.u64 %a, %out, %w; add.u64 %b, %in, %w; ld.global.u32 %v, [%b];
// what nobody has written is zero: a register, shared memory
setp.ne.u32 %q, %c, 2; shl.b32 %u, %t, 2; mov.u32 %s, room; add.u32 %s, %s, %u;
@!%q add.u32 %z, %t, 9;
add.u32 %v, %v, %z; ld.shared.u32 %u, [%s]; add.u32 %v, %v, %u; st.shared.u32 [%s], %g;
// some CTAs begin something that ends with the thread
rem.u32 %u, %c, 7; setp.ne.u32 %q, %u, %odd; @%q bra OVER;
cp.async.ca.shared.global [%s], [%b], 4; xor.b32 %v, %v, 1;
OVER:
mov.u32 %u, %ctaid.x; mad.lo.u32 %u, %y, 1000, %u; mad.lo.u32 %v, %v, 31, %u; st.global.u32 [%a], %v;
DONE:
ret;
}
.visible .entry mine(.param .u64 out)
{
.local .align 4 .b32 own[8];
.reg .b64 %out, %a, %w; .reg .b32 %t, %n, %c, %g, %v, %u, %i, %k, %s; .reg .pred %p, %q;
ld.param.u64 %out, [out]; mov.u32 %t, %tid.x; mov.u32 %n, %ntid.x; mov.u32 %c, %ctaid.x; mad.lo.u32 %g, %c, %n, %t;
mad.lo.u32 %v, %g, 2654435769, 1; mov.u32 %k, 0;
ROUND:
// in the first round a place that nobody has written, whatever the CTAs before have there
mad.lo.u32 %i, %t, 3, %c; add.u32 %i, %i, %k; and.b32 %i, %i, 7; shl.b32 %i, %i, 2; mov.u32 %s, own; add.u32 %s, %s, %i;
ld.local.u32 %u, [%s]; mad.lo.u32 %v, %v, 31, %u; st.local.u32 [%s], %v;
bar.sync 0;
add.u32 %k, %k, 1; setp.lt.u32 %p, %k, 2; @%p bra ROUND;
// in some CTAs every other lane writes one more
rem.u32 %u, %c, 5; setp.ne.u32 %p, %u, 2; and.b32 %u, %t, 1; setp.eq.or.u32 %p, %u, 0, %p; @%p bra LAST;
st.local.u32 [own+28], %t;
LAST:
add.u32 %i, %t, %c; and.b32 %i, %i, 7; shl.b32 %i, %i, 2; mov.u32 %s, own; add.u32 %s, %s, %i; ld.local.u32 %u, [%s]; xor.b32 %v, %v, %u;
mul.wide.u32 %w, %g, 4; add.u64 %a, %out, %w; st.global.u32 [%a], %v;
ret;
}
.visible .entry forever(.param .u64 out)
{
.reg .b64 %out; .reg .b32 %v; .reg .pred %p;
ld.param.u64 %out, [out];
AGAIN: bar.sync 0; ld.volatile.global.u32 %v, [%out]; setp.eq.u32 %p, %v, 0; @%p bra AGAIN;
ret;
}
"""
# The second gang comes to a barrier of the cluster, which is the CTA alone, while the first one has left.
ARRIVE = """.version 7.8
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out)
{
.reg .pred %p; .reg .b32 %t, %i; .reg .b64 %o, %w;
ld.param.u64 %o, [out]; mov.u32 %t, %tid.x; mov.u32 %i, 0;
L: add.u32 %i, %i, 1; setp.lt.u32 %p, %i, 4; @%p bra L;
setp.lt.u32 %p, %t, 128; @%p bra D;
barrier.cluster.arrive; barrier.cluster.wait;
mul.wide.u32 %w, %t, 4; add.u64 %o, %o, %w; st.global.u32 [%o], %t;
D: ret;
}
"""
# Of the second gang lanes 16 to 31 of each warp, which do not execute, are outside of shared memory: their warps are left to the interpreter, up to the end.
LEFT = """.version 7.0
.target sm_70
.address_size 64
.visible .entry k(.param .u64 out)
{
.shared .align 4 .b32 room[64];
.reg .pred %p; .reg .b32 %t, %l, %a, %x, %v; .reg .b64 %o, %w;
ld.param.u64 %o, [out]; mov.u32 %t, %tid.x; setp.lt.u32 %p, %t, 128; @%p bra D;
and.b32 %l, %t, 16; setp.ne.u32 %p, %l, 0; @%p bra D;
mov.u32 %a, %laneid; xor.b32 %a, %a, 1; shl.b32 %a, %a, 4; mov.u32 %x, room; add.u32 %a, %a, %x;
st.shared.u32 [%a], %t; ld.shared.u32 %v, [%a]; mul.wide.u32 %w, %t, 4; add.u64 %o, %o, %w; st.global.u32 [%o], %v;
D: ret;
}
"""
# Lanes come to A … D with values that are a row no more: their warps are left to the interpreter one by one, each in front of warps that have yet to come,
# of which lanes wait at LAST.
SPLIT = """.version 7.0
.target sm_70
.address_size 64
.visible .entry k(.param .u64 out)
{
.reg .pred %p, %q; .reg .b32 %t, %r, %v, %l, %i; .reg .b64 %o, %w;
ld.param.u64 %o, [out]; mov.u32 %t, %tid.x; mul.wide.u32 %w, %t, 4; add.u64 %o, %o, %w; and.b32 %l, %t, 3; setp.lt.u32 %p, %l, 2; mov.u32 %r, %t;
shr.u32 %i, %t, 2; and.b32 %i, %i, 3; LIST: .branchtargets A, B, C, D; brx.idx %i, LIST;
A: B: add.u32 %r, %r, 1;
C: D: bar.sync 0;
@!%p bra MORE; bra LAST;
MORE: mov.b32 %v, 5;
AGAIN: @%q bra AGAIN;
LAST: st.global.u32 [%o], %r;
ret;
}
"""
# Odd lanes use up some turns, while the others wait for them in front of E: not yet enough turns to go on apart.
PARTED = """.version 7.0
.target sm_70
.address_size 64
.visible .entry k(.param .u64 out)
{
.reg .pred %p; .reg .b32 %t, %i, %v; .reg .b64 %o, %w;
ld.param.u64 %o, [out]; mov.u32 %t, %tid.x; mov.u32 %i, 0; and.b32 %v, %t, 1; setp.eq.u32 %p, %v, 0; @%p bra E;
L: add.u32 %i, %i, 1; mad.lo.u32 %v, %v, 5, %i; setp.lt.u32 %p, %i, 80000; @%p bra L;
E: mad.lo.u32 %v, %v, 3, 1; xor.b32 %v, %v, %t; bar.sync 0;
mul.wide.u32 %w, %t, 4; add.u64 %o, %o, %w; st.global.u32 [%o], %v;
ret;
}
"""
# Rows of all kinds: some are read at the end alone, others change from round to round. In some warps a step reads them; in others
# lanes that do not execute are outside of shared memory, and the interpreter goes on.
KEPT = """.version 7.0
.target sm_70
.address_size 64
.visible .entry k(.param .u64 out)
{
.shared .align 4 .b32 room[1024]; .shared .align 4 .b32 few[64];
.reg .b64 %out, %a, %w, %q1, %q2; .reg .b16 %h1, %h2, %hk; .reg .b32 %t, %n, %m, %c, %g, %v, %u, %k, %x, %s, %lane, %warp, %e, %f, %i, %l, %j, %z, %o;
.reg .b32 %r1, %r2, %x1, %x2, %y1, %y2, %u1, %u2; .reg .b32 %d1, %d2, %d3, %d4, %w1, %w2, %w3, %w4; .reg .pred %p, %q;
ld.param.u64 %out, [out]; mov.u32 %x1, %tid.x; mov.u32 %y1, %tid.y; mov.u32 %m, %ntid.x; mov.u32 %n, %ntid.y; mad.lo.u32 %t, %y1, %m, %x1; mul.lo.u32 %n, %n, %m;
mov.u32 %c, %ctaid.x; mov.u32 %lane, %laneid; shr.u32 %warp, %t, 5; mad.lo.u32 %g, %c, %n, %t;
mul.wide.u32 %w, %g, 4; add.u64 %a, %out, %w; mad.lo.u32 %v, %g, 2654435769, 1; shl.b32 %s, %t, 2; mov.u32 %x, room; add.u32 %s, %s, %x;
mad.lo.u32 %r1, %t, 4, 7; mov.u32 %r2, %t; mul.wide.u32 %q2, %t, 8; add.u64 %q1, %q2, 1000; cvt.u16.u32 %h2, %t; mad.lo.u16 %h1, %h2, 2, 5;
mov.u32 %x2, %x1; mov.u32 %y2, %y1; mad.lo.u32 %u1, %c, 5, 1; mov.u32 %u2, %c; mul.lo.u32 %x1, %x1, 3; mov.u32 %k, 0; mov.u32 %f, few;
ROUND:
st.shared.u32 [%s], %v; bar.sync 0;
add.u32 %u, %t, 1; rem.u32 %u, %u, %n; shl.b32 %u, %u, 2; add.u32 %u, %u, %x; ld.shared.u32 %u, [%u];
mad.lo.u32 %d1, %t, 3, %k; add.u32 %d2, %x1, %k; sub.u32 %d3, %r2, %y2; shl.b32 %d4, %d1, 2;
// more
bar.sync 0;
mad.lo.u32 %v, %v, 31, %u; add.u32 %v, %v, %d1; xor.b32 %v, %v, %d2; add.u32 %v, %v, %d3; xor.b32 %v, %v, %d4;
mul.lo.u32 %w1, %v, 7; shr.u32 %w2, %v, 3; xor.b32 %w3, %w1, %w2; mul.lo.u32 %w4, %w3, 11;
add.u32 %r2, %r2, %k; add.u64 %q2, %q2, 24; cvt.u16.u32 %hk, %k; add.u16 %h2, %h2, %hk; add.u32 %x2, %x2, 5; add.u32 %y2, %y2, 2; mad.lo.u32 %u2, %u2, 3, 1;
mad.lo.u32 %e, %k, 7, %c; add.u32 %e, %e, %warp; rem.u32 %e, %e, 41; setp.gt.u32 %p, %e, 1; @%p bra ON;
cvt.u32.u64 %u, %q2; xor.b32 %i, %r2, %u; cvt.u32.u16 %u, %h2; xor.b32 %i, %i, %u; xor.b32 %i, %i, %x2; xor.b32 %i, %i, %y2; xor.b32 %i, %i, %u2;
setp.eq.u32 %p, %e, 1; @%p bra OUTSIDE;
ld.volatile.shared.u32 %u, [%s]; add.u32 %v, %v, %u; add.u32 %v, %v, %i; bra ON;
OUTSIDE:
and.b32 %u, %lane, 16; setp.ne.u32 %p, %u, 0; @%p bra ON;
xor.b32 %j, %lane, 1; mul.lo.u32 %l, %j, 7; shl.b32 %z, %j, 4; add.u32 %o, %z, %f; st.shared.u32 [%o], %l; ld.shared.u32 %u, [%o];
add.u32 %v, %v, %u; xor.b32 %v, %v, %i;
ON:
add.u32 %v, %v, %w1; xor.b32 %v, %v, %w2; add.u32 %v, %v, %w3; xor.b32 %v, %v, %w4;
// more
mad.lo.u32 %e, %k, 3, %c; add.u32 %e, %e, %warp; rem.u32 %e, %e, 23; and.b32 %u, %lane, 16; or.b32 %e, %e, %u; setp.ne.u32 %p, %e, 0; @%p bra NEXT;
xor.b32 %j, %lane, 1; mul.lo.u32 %l, %j, 7; shl.b32 %z, %j, 4; add.u32 %o, %z, %f; st.shared.u32 [%o], %l; ld.shared.u32 %u, [%o]; add.u32 %v, %v, %u;
NEXT:
add.u32 %k, %k, 1; setp.lt.u32 %q, %k, 9; @%q bra ROUND;
mad.lo.u32 %v, %v, 31, %r1; mad.lo.u32 %v, %v, 31, %r2; mad.lo.u32 %v, %v, 31, %x1; mad.lo.u32 %v, %v, 31, %x2; mad.lo.u32 %v, %v, 31, %y1; mad.lo.u32 %v, %v, 31, %y2;
mad.lo.u32 %v, %v, 31, %u1; mad.lo.u32 %v, %v, 31, %u2; cvt.u32.u64 %u, %q1; mad.lo.u32 %v, %v, 31, %u; cvt.u32.u64 %u, %q2; mad.lo.u32 %v, %v, 31, %u;
cvt.u32.u16 %u, %h1; mad.lo.u32 %v, %v, 31, %u; cvt.u32.u16 %u, %h2; mad.lo.u32 %v, %v, 31, %u; mad.lo.u32 %v, %v, 31, %k;
st.global.u32 [%a], %v;
ret;
}
"""
# Text so long that it is compiled in pieces, and a loop that goes from the last one to the first.
PARTS, MORE = 7, 40
PART = "\n".join(f"mad.lo.u32 %v, %v, 5, {i}; shr.u32 %l, %v, 7; xor.b32 %v, %v, %l;" for i in range(MORE)) + "\nbar.sync 0;\n"
LONG = KEPT.replace("// more", PARTS * PART)
# A loop over pieces of long text, in which one phase of an object is always over and another one never: nobody will come.
STUCK_PARTS = "\n".join("\n".join(f"add.u32 %v, %v, {i + 1}; xor.b32 %v, %v, %l; add.u32 %l, %l, %v;" for i in range(20)) + f"""
MIDDLE{k}: add.u32 %k, %k, 1; setp.eq.u32 %p, %k, 0; @%p bra MIDDLE{k};""" for k in range(30))
STUCK = f""".version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out)
{{
.shared .align 8 .b64 object;
.reg .pred %p, %q; .reg .b32 %v, %l, %t, %o, %k; .reg .b64 %a, %w;
ld.param.u64 %a, [out]; mov.u32 %t, %tid.x; mov.u32 %v, %t; mov.u32 %l, %t; mov.u32 %o, object; mov.u32 %k, 0;
setp.eq.u32 %q, %t, 0; @%q mbarrier.init.shared.b64 [%o], 2; bar.sync 0;
LOOP: mbarrier.try_wait.parity.shared.b64 %p, [%o], 1;
{STUCK_PARTS}
mbarrier.try_wait.parity.shared.b64 %p, [%o], 0; @!%p bra LOOP;
mul.wide.u32 %w, %t, 4; add.u64 %a, %a, %w; st.global.u32 [%a], %v;
ret;
}}
"""
FAR = WORD


def more(v, is_long):
    for i in PARTS * tuple(range(MORE)) if is_long else ():
        v = (v * 5 + i) & WORD
        v ^= v >> 7
    return v


def kept(width, height, ctas, is_long):
    threads, out = width * height, []
    for cta in range(ctas):
        v, room, steps, u2 = [((cta * threads + t) * 2654435769 + 1) & WORD for t in range(threads)], [0] * threads, 0, cta
        for k in range(ROUNDS):
            room, u2, steps = v, (u2 * 3 + 1) & WORD, steps + k
            v = [more(x, is_long) for x in v]
            after = [v[t] * 31 + room[(t + 1) % threads] + t * 3 + k & WORD for t in range(threads)]
            after = [((after[t] ^ t % width * 3 + k) + (t + steps - k) - (t // width + 2 * k) & WORD) ^ (t * 3 + k) * 4 for t in range(threads)]
            w1 = [x * 7 & WORD for x in after]
            w2 = [x >> 3 for x in after]
            rows = [(t + steps, t * 8 + 24 * (k + 1), (t + steps) & 65535, t % width + 5 * (k + 1), t // width + 2 * (k + 1), u2) for t in range(threads)]
            mixed = [r2 ^ q2 ^ h2 ^ x2 ^ y2 ^ u2 for r2, q2, h2, x2, y2, u2 in rows]
            v = after[:]
            for t in range(threads):
                lane, event = t % 32, (cta + k * 7 + t // 32) % 41
                if event == 0:
                    v[t] = (after[t] + room[t] + mixed[t]) & WORD
                elif event == 1 and lane < 16:
                    v[t] = (after[t] + (lane ^ 1) * 7 & WORD) ^ mixed[t]
                w3 = w1[t] ^ w2[t]
                v[t] = more(((v[t] + w1[t] & WORD ^ w2[t]) + w3 & WORD) ^ w3 * 11 & WORD, is_long)
                if lane < 16 and (cta + k * 3 + t // 32) % 23 == 0:
                    v[t] = v[t] + (lane ^ 1) * 7 & WORD
        for t in range(threads):
            r2, q2, h2, x2, y2, u2 = rows[t]
            for number in (t * 4 + 7, r2, t % width * 3, x2, t // width, y2, cta * 5 + 1, u2, t * 8 + 1000, q2, (t * 2 + 5) & 65535, h2, ROUNDS):
                v[t] = (v[t] * 31 + number) & WORD
        out += v
    return out


# Lanes go rounds of unlike number between barriers that one warp passes within its turn, which ends in between.
TRIPS = """.version 7.0
.target sm_70
.address_size 64
.visible .entry k(.param .u64 out, .param .u32 rounds)
{
.reg .b64 %o, %a, %w; .reg .b32 %t, %v, %j, %k, %n; .reg .pred %p, %q;
ld.param.u64 %o, [out]; ld.param.u32 %n, [rounds]; mov.u32 %t, %tid.x; mad.lo.u32 %v, %t, 2654435769, 1; mov.u32 %k, 0;
ROUND:
shr.u32 %j, %v, 28;
TRIP: setp.eq.u32 %q, %j, 0; @%q bra OVER; mad.lo.u32 %v, %v, 7, %j; sub.u32 %j, %j, 1; bra TRIP;
OVER: bar.sync 0;
mad.lo.u32 %v, %v, 1664525, 1013904223; add.u32 %k, %k, 1; setp.lt.u32 %p, %k, %n; @%p bra ROUND;
mul.wide.u32 %w, %t, 4; add.u64 %a, %o, %w; st.global.u32 [%a], %v;
ret;
}
"""
# Each CTA is done once, however often it is set aside for others on its way.
ASIDE = """.version 7.0
.target sm_70
.address_size 64
.visible .entry k(.param .u64 out, .param .u32 rounds)
{
.reg .b64 %o, %w; .reg .b32 %t, %c, %k, %n; .reg .pred %p;
ld.param.u64 %o, [out]; ld.param.u32 %n, [rounds]; mov.u32 %t, %tid.x; mov.u32 %c, %ctaid.x; mov.u32 %k, 0;
AGAIN: bar.sync 0; add.u32 %k, %k, 1; setp.lt.u32 %p, %k, %n; @%p bra AGAIN;
mul.wide.u32 %w, %c, 4; add.u64 %o, %o, %w; setp.ne.u32 %p, %t, 0; @!%p red.global.add.u32 [%o], 1;
ret;
}
"""
# All CTAs but the last one wait for that, by a load that nobody sees to be one for others, and barriers.
POLL = """.version 7.0
.target sm_70
.address_size 64
.visible .entry k(.param .u64 out)
{
.shared .align 4 .b32 word;
.reg .b32 %t, %x, %c, %g; .reg .pred %p, %q; .reg .b64 %o;
mov.u32 %t, %tid.x; mov.u32 %c, %ctaid.x; mov.u32 %g, %nctaid.x; sub.u32 %g, %g, 1; ld.param.u64 %o, [out];
setp.eq.u32 %q, %t, 0; setp.eq.u32 %p, %c, %g; @%p bra LAST;
AGAIN:
@%q ld.global.u32 %x, [%o];
@%q st.shared.u32 [word], %x;
bar.sync 0;
ld.shared.u32 %x, [word];
bar.sync 0;
setp.eq.u32 %p, %x, 0; @%p bra AGAIN;
@%q red.global.add.u32 [%o+4], %x;
ret;
LAST:
@%q st.volatile.global.u32 [%o], 7;
ret;
}
"""


def parted():
    odd = 1
    for i in range(1, 80001):
        odd = (odd * 5 + i) & WORD
    return [((odd if t & 1 else 0) * 3 + 1) & WORD ^ t for t in range(128)]



def model(threads, leaves, whole):
    out = []
    for cta in range(CTAS):
        v = [((cta * threads + t) * 2654435769 + 1) & WORD for t in range(threads)]
        room, here, z = [0] * threads, [True] * threads, [0] * threads
        for k in range(ROUNDS):
            for t in range(threads):
                if here[t]:
                    room[t] = v[t]
            before = v[:]
            for t in range(threads):
                if here[t]:
                    before[t] = (v[t] * 31 + room[(t + 1) % threads] + k) & WORD
            v = before[:]
            for t in range(threads):
                if here[t] and t % 32 < GROUP and (t // 32 + cta + k) % 23 == 0:
                    v[t] = before[t] ^ before[t // 32 * 32 + (t % 32 + 1) % GROUP]
            for t in range(threads):
                here[t] &= not (k > 2 and k * 64 + leaves <= t < k * 64 + leaves + 64)
                here[t] &= not (cta % 4 == 3 and t // 128 == 1 and k == whole)
                if here[t]:
                    v[t] = (v[t] + z[t]) & WORD
                    z[t] += t if cta % 3 == 1 else 0
        out += v
    return out


def alone(threads, count, odd):
    out = [0] * (threads * CTAS * 3)
    for g in range(count):
        cta, t = divmod(g, threads)
        v = (g * 3 + 5) + (t + 9 if cta == 2 else 0)
        out[g] = ((v ^ (cta % 7 == odd)) * 31 + cta // CTAS * 1000 + cta % CTAS) & WORD
    return out


def mine(threads):
    out = []
    for g in range(threads * CTAS):
        c, t = divmod(g, threads)
        v, own = (g * 2654435769 + 1) & WORD, [0] * 8
        for k in range(2):
            i = (t * 3 + c + k) % 8
            v = own[i] = (v * 31 + own[i]) & WORD
        if c % 5 == 2 and t % 2:
            own[7] = t
        out.append(v ^ own[(t + c) % 8])
    return out


def trips(threads, rounds):
    out = []
    for t in range(threads):
        v = (t * 2654435769 + 1) & WORD
        for _ in range(rounds):
            for j in range(v >> 28, 0, -1):
                v = (v * 7 + j) & WORD
            v = (v * 1664525 + 1013904223) & WORD
        out.append(v)
    return out


def stops(tool, engine):
    """A run without end is stopped by a signal, as by Ctrl-C."""
    command = [tool, "run", "-q", "--engine", engine, "--threads", "1", "-k", "forever", "-b", "256", "-g", "3", "-a", "u32[1]"]
    with tempfile.NamedTemporaryFile("w", suffix=".ptx") as file:
        file.write(TEXT)
        file.flush()
        process = subprocess.Popen([*command, file.name], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        time.sleep(1)
        early = process.poll()
        process.send_signal(signal.SIGINT)
        try:
            errors = process.communicate(timeout=60)[1]
        except subprocess.TimeoutExpired:
            process.kill()
            return False
    return early is None and process.returncode not in (0, 3) and "stop" in errors.lower()


def run(tool, engine, workers, kernel, *arguments, options=(), text=TEXT):
    command = [tool, "run", "-q", "--stats=json", "--engine", engine, "--threads", str(workers), "--language", "ptx", "-k", kernel, *options, *arguments, "-"]
    try:
        return subprocess.run(command, input=text, capture_output=True, text=True, timeout=120, env=os.environ | {"LANEWISE_CACHE": KEPT_CODE.name})
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, -1, "", "it does not end")


def launch(tool, engine, workers, threads, leaves, whole=FAR, bad=FAR):
    return run(tool, engine, workers, "k", "-b", str(threads), "-g", str(CTAS), "-a", f"u32[{threads * CTAS}]:print", "-a", f"u32={leaves}", "-a", f"u32={whole}", "-a",
               f"u32={bad}")


def counts(done):
    stats = json.loads(done.stderr)
    return stats["warp_instructions"], stats["lane_instructions"]


def made(tool, text):
    """Functions that the compiler makes, and lists of folded rows."""
    done = subprocess.run([tool, "dump", "--stage", "llvm", "-"], input=text, capture_output=True, text=True, timeout=120)
    return sum(line.startswith("define") for line in done.stdout.splitlines()), sum(line.startswith("@fold") for line in done.stdout.splitlines())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--lanewise", required=True)
    tool, failed, runs = parser.parse_args().lanewise, 0, 0
    engines = ("interp", "jit")  # this test is where the compiler is

    def check(good, *what):
        nonlocal failed, runs
        runs, failed = runs + 1, failed + (not good)
        if not good:
            print(*what)

    for threads, (leaves, whole) in itertools.product(some((64, 90, 128, 224, 256, 384, 800)), ((FAR // 2, FAR), (32, FAR), (FAR // 2, 4))):
        expected, seen = model(threads, leaves, whole), set()
        for engine, workers in itertools.product(engines, (1, 2)):
            done = launch(tool, engine, workers, threads, leaves, whole)
            words = [int(word) for word in done.stdout.partition(":")[2].split()]
            check(done.returncode == 0 and words == expected, engine, workers, threads, leaves, done.stderr)
            seen.add(counts(done) if done.returncode == 0 else None)
        check(len(seen) == 1, "counts of instructions differ:", threads, leaves, whole, seen)
    for threads, odd in itertools.product(some((32, 96, 100, 128, 192, 256, 512)), (3, 8)):
        words, seen = threads * CTAS * 3, {}
        for engine, (workers, count) in itertools.product(engines, ((1, words), (2, words), (1, words - 37), (2, words // 2 + 5))):
            done = run(tool, engine, workers, "alone", "-b", str(threads), "-g", f"{CTAS},3", "-a", f"u32[{words}]:print", "-a", f"u32[{words}]=range:5:3", "-a",
                       f"u32={count}", "-a", f"u32={odd}")
            check(done.returncode == 0 and [int(word) for word in done.stdout.partition(":")[2].split()] == alone(threads, count, odd), engine, workers, threads, count, done.stderr)
            check(done.returncode == 0 and json.loads(done.stderr)["ctas"] == CTAS * 3, engine, workers, threads, count, done.stderr)
            seen.setdefault(count, set()).add(counts(done) if done.returncode == 0 else None)
        check(all(len(each) == 1 for each in seen.values()), "counts of instructions differ:", threads, odd, seen)
    for threads in some((64, 90, 128, 192, 256, 320, 800)):
        words, seen = mine(threads), set()
        for engine, (workers, options) in itertools.product(engines, ((1, ()), (2, ("--timeout", "1000")))):
            done = run(tool, engine, workers, "mine", "-b", str(threads), "-g", str(CTAS), "-a", f"u32[{len(words)}]:print", options=options)
            check(done.returncode == 0 and [int(word) for word in done.stdout.partition(":")[2].split()] == words, "local", engine, workers, threads, options, done.stderr)
            seen.add(counts(done) if done.returncode == 0 else None)
        check(len(seen) == 1, "counts of instructions differ:", threads, seen)
    arrived, left = [t if t >= 128 else 0 for t in range(256)], [t if t >= 128 and not t & 16 else 0 for t in range(160)]
    split = [t + (t // 4 % 4 < 2) for t in range(224)]
    for text, threads, right in ((ARRIVE, 256, arrived), (LEFT, 160, left), (SPLIT, 224, split), (PARTED, 128, parted())):
        seen = set()
        for engine, workers, ctas in itertools.product(engines, (1, 2), (1, 7)):
            done = run(tool, engine, workers, "k", "-b", str(threads), "-g", str(ctas), "-a", f"u32[{threads}]:print", text=text)
            check(done.returncode == 0 and [int(word) for word in done.stdout.partition(":")[2].split()] == right, engine, workers, threads, ctas, done.stdout, done.stderr)
            seen.add((ctas, counts(done)) if done.returncode == 0 else None)
        check(len(seen) == 2, "counts of instructions differ:", threads, seen)
    check(made(tool, KEPT)[1] > 0, "no rows are folded")
    functions, lists = made(tool, LONG)
    check(functions == 1 or lists > 1, "no rows are folded in pieces:", functions, lists)  # chunks of 8 lanes are too many for a strand of that length
    shapes = ((16, 8), (16, 16), (32, 12), (8, 32), (64, 6), (1024, 1), (100, 2), (24, 16))
    for width, height, ctas, text in (*((*shape, CTAS, KEPT) for shape in some(shapes)), (16, 16, 5, LONG), (64, 6, 3, LONG), (20, 3, 5, LONG)):
        words, seen = kept(width, height, ctas, text == LONG), set()
        for engine, workers in itertools.product(engines, (1, 2)):
            done = run(tool, engine, workers, "k", "-b", f"{width},{height}", "-g", str(ctas), "-a", f"u32[{len(words)}]:print", text=text)
            check(done.returncode == 0 and [int(word) for word in done.stdout.partition(":")[2].split()] == words, "rows", engine, workers, width, height, done.stderr)
            seen.add(counts(done) if done.returncode == 0 else None)
        check(len(seen) == 1, "counts of instructions differ:", width, height, seen)
    for threads in (256, 384):
        bad = threads * 20 + 140
        for engine, workers in itertools.product(engines, (1, 2)):
            done = launch(tool, engine, workers, threads, FAR // 2, bad=bad)
            check(done.returncode == 3 and "LW5000" in done.stderr and "CTA (20,0,0), thread (140,0,0)" in done.stderr, engine, workers, threads, done.stderr)
    for threads in (32,) if FEW else (32, 160):
        words, seen = trips(threads, 3000), set()
        for engine, options in itertools.product(engines, ((), ("--timeout", "1000"))):
            done = run(tool, engine, 1, "k", "-b", str(threads), "-g", "3", "-a", f"u32[{threads}]:print", "-a", "u32=3000", text=TRIPS, options=options)
            check(done.returncode == 0 and [int(word) for word in done.stdout.partition(":")[2].split()] == words, "trips", engine, threads, options, done.stderr)
            seen.add(counts(done) if done.returncode == 0 else None)
        check(len(seen) == 1, "counts of instructions differ:", threads, seen)
    for engine, (threads, ctas) in itertools.product(engines, ((128, 16),) if FEW else ((128, 16), (256, 40))):
        done = run(tool, engine, 1, "k", "-b", str(threads), "-g", str(ctas), "-a", "u32[2]:print", text=POLL)
        check(done.returncode == 0 and done.stdout.split()[-2:] == ["7", str(7 * (ctas - 1))], "poll", engine, threads, ctas, done.stdout, done.stderr)
    for engine, threads, workers in itertools.product(engines, (256,) if FEW else (256, 32), (1, 2)):
        done = run(tool, engine, workers, "k", "-b", str(threads), "-g", "700", "-a", "u32[700]:print", "-a", "u32=1300", text=ASIDE)
        check(done.returncode == 0 and done.stdout.split()[-700:] == ["1"] * 700, "aside", engine, threads, workers, done.stdout, done.stderr)
    for engine, (threads, ctas) in itertools.product(engines, ((128, 1),) if FEW else ((128, 1), (32, 2))):
        done = run(tool, engine, 1, "k", "-b", str(threads), "-g", str(ctas), "-a", "u32[256]", text=STUCK)
        check(done.returncode == 3 and "LW5005" in done.stderr, "stuck", engine, threads, ctas, done.returncode, done.stderr)
    for engine, options in itertools.product(engines, (("--step-limit", "100000"), ("--timeout", "0.5"))):
        done = run(tool, engine, 1, "forever", "-b", "256", "-g", "3", "-a", "u32[1]", options=options)
        check(done.returncode not in (0, 3) and "stop" in done.stderr.lower(), engine, options, done.returncode, done.stderr)
        done = run(tool, engine, 1, "alone", "-b", "96", "-g", "2000000000", "-a", "u32[1]", "-a", "u32[1]", "-a", "u32=0", "-a", "u32=3", options=options)
        check(done.returncode not in (0, 3) and "stop" in done.stderr.lower(), engine, options, done.returncode, done.stderr)
    for engine in engines:
        check(stops(tool, engine), engine, "does not stop")
    print(f"{runs} checks of {', '.join(engines)}, {failed} not as they should be")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
