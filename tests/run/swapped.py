#!/usr/bin/env python3
"""CTAs that run long by the engine auto, which has them go on by one code of the program and the other in turns (interp/swap.c): with barriers, lanes that part,
registers that are the same in every CTA, accesses by an index, and local memory. What N rounds of the kernel give is known without them.

    swapped.py --lanewise LANEWISE"""

import argparse
import json
import os
import subprocess
import sys

WORD = (1 << 32) - 1
CTAS, ROUNDS = 3, 40000 if "LW_TEST_FEW" in os.environ else 200000
TEXT = """.version 7.0
.target sm_70
.address_size 64
.visible .entry k(.param .u64 out, .param .u64 sums, .param .u32 rounds)
{
.shared .align 4 .b32 room[1024];
.local .align 4 .b32 own[8];
.reg .b64 %out, %sums, %a, %w, %l; .reg .b32 %t, %n, %c, %g, %v, %u, %k, %x, %s, %next, %rounds, %same, %all; .reg .pred %p, %q;
ld.param.u64 %out, [out]; ld.param.u64 %sums, [sums]; ld.param.u32 %rounds, [rounds];
mov.u32 %t, %tid.x; mov.u32 %n, %ntid.x; mov.u32 %c, %ctaid.x; mad.lo.u32 %g, %c, %n, %t;
mov.u32 %v, %g; mov.u32 %k, 0; mov.u32 %all, 0; mov.u32 %x, room;
shl.b32 %s, %t, 2; add.u32 %s, %s, %x; st.shared.u32 [%s], %t;
add.u32 %next, %t, 1; rem.u32 %next, %next, %n; shl.b32 %next, %next, 2; add.u32 %next, %next, %x;
bar.sync 0;
ROUND:
// what goes round the block
ld.shared.u32 %u, [%next]; bar.sync 0; add.u32 %u, %u, %k; st.shared.u32 [%s], %u;
// odd threads go another way
and.b32 %u, %t, 1; setp.eq.u32 %q, %u, 0; @%q bra EVEN;
mad.lo.u32 %v, %v, 22695477, 1;
bra ON;
EVEN:
mad.lo.u32 %v, %v, 1664525, 1013904223;
ON:
// the same in every CTA
mad.lo.u32 %same, %t, 3, 5; mad.lo.u32 %same, %n, %same, %rounds;
add.u32 %all, %all, %same;
// by an index, in device memory
mul.wide.u32 %w, %g, 4; add.u64 %a, %sums, %w; ld.global.u32 %u, [%a]; add.u32 %u, %u, %k; st.global.u32 [%a], %u;
and.b32 %u, %k, 7; mul.wide.u32 %w, %u, 4; mov.u64 %l, own; add.u64 %l, %l, %w; ld.local.u32 %u, [%l]; add.u32 %u, %u, %t; st.local.u32 [%l], %u;
bar.sync 0;
add.u32 %k, %k, 1; setp.lt.u32 %p, %k, %rounds; @%p bra ROUND;
ld.shared.u32 %u, [%s]; ld.local.u32 %x, [own+12];
mul.wide.u32 %w, %g, 16; add.u64 %a, %out, %w; st.global.v4.u32 [%a], {%v, %u, %all, %x};
ret;
}
"""


def after(x, multiplier, more, rounds):
    """The number that `rounds` steps of x = x * multiplier + more lead to, by squaring."""
    a, b = 1, 0
    while rounds:
        if rounds & 1:
            a, b = a * multiplier & WORD, (b * multiplier + more) & WORD
        multiplier, more = multiplier * multiplier & WORD, (more * multiplier + more) & WORD
        rounds >>= 1
    return (a * x + b) & WORD


def model(threads, rounds):
    out, total = [], rounds * (rounds - 1) // 2 & WORD
    for g in range(threads * CTAS):
        t = g % threads
        v = after(g, *((22695477, 1) if t & 1 else (1664525, 1013904223)), rounds)
        same = threads * (t * 3 + 5) + rounds
        out += [v, ((t + rounds) % threads + total) & WORD, same * rounds & WORD, t * ((rounds + 4) // 8) & WORD]
    return out, [total] * (threads * CTAS)


def run(tool, engine, workers, threads, rounds):
    command = [tool, "run", "-q", "--stats=json", "--engine", engine, "--threads", str(workers), "--language", "ptx", "-b", str(threads), "-g", str(CTAS),
               "-a", f"u32[{threads * CTAS * 4}]:print", "-a", f"u32[{threads * CTAS}]:print", "-a", f"u32={rounds}", "-"]
    done = subprocess.run(command, input=TEXT, capture_output=True, text=True, timeout=300, env=os.environ | {"LANEWISE_HOT": "0", "LANEWISE_CACHE": "off"})
    if done.returncode:
        return None, None, done.stderr
    stats = json.loads(done.stderr)
    return [[int(word) for word in line.partition(":")[2].split()] for line in done.stdout.splitlines()], (stats["warp_instructions"], stats["lane_instructions"]), ""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--lanewise", required=True)
    tool, failed, runs = parser.parse_args().lanewise, 0, 0
    for threads in (64, 200, 320):
        expected, seen = list(model(threads, ROUNDS)), set()
        for engine, workers in (("auto", 1), ("auto", 2), ("interp", 2), ("jit", 2)):
            words, counts, errors = run(tool, engine, workers, threads, ROUNDS)
            runs += 1
            seen.add(counts)
            if words != expected:
                failed += 1
                print(f"{engine}, {workers} workers, {threads} threads: not what the model has", errors)
        if len(seen) > 1:
            failed += 1
            print(f"{threads} threads: counts of instructions differ: {seen}")
    print(f"{runs} runs, {failed} faults")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
