#!/usr/bin/env python3
"""Which loops may be waiting for what others write (src/middle/spin.c): whether they go on must depend on memory that they read meanwhile. What each of these
loops is follows from reading it. And loops that do not wait keep a warp together: how many warp instructions one takes is counted by hand.

    waits.py --lanewise LANEWISE"""

import argparse
import json
import os
import subprocess
import sys

HEAD = """.version 8.0
.target sm_90
.address_size 64
.func (.reg .u32 %r) ask(.reg .u64 %a) { .reg .u32 %i; .reg .pred %q; AGAIN: ld.volatile.global.u32 %r, [%a]; add.u32 %i, %i, 1; setp.lt.u32 %q, %i, 9; @%q bra AGAIN; ret; }
.func leave(.reg .u64 %a) { .reg .u32 %r; .reg .pred %q; ld.volatile.global.u32 %r, [%a]; setp.ne.u32 %q, %r, 0; @%q exit; ret; }
.visible .entry k(.param .u64 out, .param .u32 count)
{
.shared .align 8 .b64 room[16];
.reg .u64 %o, %s; .reg .u32 %x, %y, %k, %n; .reg .pred %p, %q;
ld.param.u64 %o, [out]; ld.param.u32 %n, [count]; mov.u32 %k, 0;
"""
COUNT = "add.u32 %k, %k, 1; setp.lt.u32 %p, %k, %n; @%p bra L;"

# Behind each text: of its branches back, in their order, whether it may wait.
LOOPS = (
    ("a flag", "L: ld.volatile.global.u32 %x, [%o]; setp.eq.u32 %p, %x, 0; @%p bra L;", "w"),
    ("a flag, by a weak load and a fence", "L: membar.gl; ld.global.u32 %x, [%o]; setp.eq.u32 %p, %x, 0; @%p bra L;", "w"),
    ("a lock", "L: atom.global.cas.b32 %x, [%o], 0, 1; setp.ne.u32 %p, %x, 0; @%p bra L;", "w"),
    ("a lock, left in between", "L: atom.global.exch.b32 %x, [%o], 1; setp.eq.u32 %p, %x, 0; @%p bra M; bra L; M:", "w"),
    ("a lock, left by the end", "L: atom.global.exch.b32 %x, [%o], 1; setp.eq.u32 %p, %x, 0; @%p ret; bra L;", "w"),
    ("a number of additions", f"L: red.global.add.u32 [%o], %k; {COUNT}", "."),
    ("a number of places", f"L: atom.global.add.u32 %x, [%o], 1; st.global.u32 [%o+8], %x; {COUNT}", "."),
    ("some of what is read", f"L: ld.global.u32 %x, [%o+4]; setp.eq.u32 %q, %x, 0; @%q bra M; atom.global.add.u32 %y, [%o], 1; st.global.u32 [%o+8], %y; M: {COUNT}", "."),
    ("a number that was read before", f"ld.volatile.global.u32 %n, [%o]; L: red.global.add.u32 [%o+4], %k; {COUNT}", "."),
    ("an end that a branch sets", f"L: ld.volatile.global.u32 %x, [%o]; setp.eq.u32 %q, %x, 0; @%q bra M; mov.u32 %k, %n; M: {COUNT}", "w"),
    ("… the other way", f"L: ld.volatile.global.u32 %x, [%o]; setp.eq.u32 %q, %x, 0; @%q bra M; st.global.u32 [%o+8], %x; bra N; M: sub.u32 %k, %k, 1; N: {COUNT}", "w"),
    ("an end that is selected", "L: ld.volatile.global.u32 %x, [%o]; setp.eq.u32 %q, %x, 0; selp.u32 %y, 1, %n, %q; setp.lt.u32 %p, %y, %n; @%p bra L;", "w"),
    ("an end under a guard", f"L: ld.volatile.global.u32 %x, [%o]; setp.ne.u32 %q, %x, 0; @%q mov.u32 %k, %n; {COUNT}", "w"),
    ("by way of shared memory", "L: ld.volatile.global.u32 %x, [%o]; st.shared.u32 [room], %x; ld.shared.u32 %y, [room]; setp.eq.u32 %p, %y, 0; @%p bra L;", "w"),
    ("by way of the round before", "L: setp.ne.u32 %p, %y, 0; @%p bra M; mov.u32 %y, %x; atom.global.exch.b32 %x, [%o], 1; bra L; M:", "w"),
    ("a lock for each", f"L: M: atom.global.cas.b32 %x, [%o], 0, 1; setp.ne.u32 %q, %x, 0; @%q bra M; atom.global.exch.b32 %x, [%o], 0; {COUNT}", "w."),
    ("rounds whose number is read each time", f"L: ld.volatile.global.u32 %x, [%o]; M: sub.u32 %x, %x, 1; red.global.add.u32 [%o], 1; setp.ne.u32 %q, %x, 0; @%q bra M; {COUNT}", ".."),
    ("rounds whose number is read and counted", "L: ld.volatile.global.u32 %x, [%o]; M: sub.u32 %x, %x, 1; add.u32 %y, %y, 1; setp.ne.u32 %q, %x, 0; @%q bra M; setp.lt.u32 %p, %y, %n; @%p bra L;", ".w"),
    ("one thing or the other", f"L: ld.volatile.global.u32 %x, [%o]; setp.eq.u32 %q, %x, 0; @%q bra M; st.global.u32 [%o+8], %x; bra N; M: st.global.u32 [%o+4], %x; N: {COUNT}", "."),
    ("a phase", "mov.u64 %s, room; L: mbarrier.test_wait.parity.shared.b64 %p, [%s], 1; @!%p bra L;", "w"),
    ("a table", "T: .branchtargets L, M; L: ld.volatile.global.u32 %x, [%o]; brx.idx %x, T; M:", "w"),
    ("what a function has read, which counts", "L: call (%x), ask, (%o); setp.eq.u32 %p, %x, 0; @%p bra L;", ".w"),
    ("a number of calls, in which lanes may leave for good", f"L: call leave, (%o); {COUNT}", "w"),
    ("a flag, behind the branch back", "bra L; M: bra L; L: setp.ne.u32 %p, %x, 0; @%p bra N; bra BODY; BODY: ld.volatile.global.u32 %x, [%o]; bra M; N:", "w"),
    ("a flag, in a loop of two parts", "L: setp.ne.u32 %p, %x, 0; @%p bra N; bra BODY; M: bra L; BODY: ld.volatile.global.u32 %x, [%o]; bra M; N:", ".w"),
    ("a flag, between other rounds", f"L: ld.volatile.global.u32 %x, [%o]; M: setp.eq.u32 %p, %x, 0; @%p bra L; add.u32 %k, %k, 1; setp.lt.u32 %q, %k, %n; @%q bra M;", "w."),
)

# Threads 0 to 28 go 0 to 7 rounds, three more wait at the end.
APART = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out)
{
.reg .u64 %o; .reg .u32 %t, %k, %x; .reg .pred %p, %q;
ld.param.u64 %o, [out]; mov.u32 %t, %tid.x; mov.u32 %x, 1; mov.u32 %k, 0; xor.b32 %k, %k, %x; setp.gt.u32 %p, %t, 28; @%p bra END;
and.b32 %k, %t, 7;
L: setp.eq.u32 %q, %k, 0; @%q bra M;
red.global.add.u32 [%o], %x; sub.u32 %k, %k, 1; bra L;
M: mov.u32 %x, 2;
END: setp.eq.u32 %p, %x, 0; @%p bra OUT;
OUT: ret;
}
"""
TURNS = [t % 8 for t in range(29)]
COUNTS = 7 + 1 + 2 * 8 + 3 * 7 + 1 + 2 + 1, 7 * 32 + 29 + sum(2 * (k + 1) + 3 * k for k in TURNS) + 29 + 2 * 32 + 32


def dump(tool, text):
    command = [tool, "dump", "--stage", "interp", "-k", "k", "-"]
    done = subprocess.run(command, input=HEAD + text + "\nret;\n}\n", capture_output=True, text=True, timeout=60)
    return "".join("w" if "spin" in line.split() else "." for line in done.stdout.splitlines() if "backward" in line.split()), done.stderr


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--lanewise", required=True)
    tool, failed = parser.parse_args().lanewise, 0
    for name, text, expected in LOOPS:
        got, errors = dump(tool, text)
        if got != expected:
            failed += 1
            print(f"{name}: {got or 'nothing'}, not {expected} {errors}")
    for engine in ("interp", "auto"):  # hot at once, auto is the compiler where there is one
        command = [tool, "run", "-q", "--stats=json", "--engine", engine, "--language", "ptx", "-b", "32", "-a", "u32[1]:print", "-"]
        done = subprocess.run(command, input=APART, capture_output=True, text=True, timeout=60, env=os.environ | {"LANEWISE_HOT": "0"})
        stats = json.loads(done.stderr) if done.returncode == 0 else {}
        got, want = ((stats.get("warp_instructions"), stats.get("lane_instructions")), done.stdout.split()[-1:]), (COUNTS, [str(sum(TURNS))])
        if got != want:
            failed += 1
            print(f"{engine}: {got}, not {want} {done.stderr}")
    print(f"{len(LOOPS)} loops, {failed} not as they should be")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
