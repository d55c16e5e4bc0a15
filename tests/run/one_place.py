#!/usr/bin/env python3
"""Stores of a warp whose lanes all go to one place: some of them execute, under a guard or behind a branch, or all do; what they store is one number or a
number of each lane. Elements of every width, one and several; device memory, shared memory by a register or without one, generic addresses of either. One number must
be there afterwards, nothing beside it may have changed; of several one of those that execute (manual 8.5: which is not said), by all engines the same. A
place outside of the array, and one that is not aligned, trap, unless nobody executes.

    one_place.py --lanewise LANEWISE"""

import argparse
import itertools
import os
import subprocess
import sys
import tempfile

FORMS = {"u8": (1, 1), "u16": (1, 2), "u32": (1, 4), "u64": (1, 8), "v2.u32": (2, 4), "v4.u16": (4, 2), "v4.u32": (4, 4), "v2.u64": (2, 8)}
CELL = 16
PLACES = {form: CELL * k for k, form in enumerate(FORMS)}  # the last one ends with the array
WINDOWS = ("global", "generic", "shared", "generic shared", "absolute")
MASKS = (0xFFFFFFFF, 1 << 31, 0x00F00800, 0)
KEPT_CODE = tempfile.TemporaryDirectory()  # compiled in this test alone
FEW = "LW_TEST_FEW" in os.environ  # another build has all of what this test tries
SIZE, OUTSIDE, MISALIGNED, NO_ARGUMENT = CELL * len(FORMS), "LW5000", "LW5001", 2
LEVELS = (("jit", "v4"), ("interp", "v4"), ("jit", "v3"), ("jit", "neon"), ("interp", "portable"), ("jit", "portable"))


def store(window, form, branches, at, k):
    count, each = FORMS[form]
    bits = max(16, 8 * each)
    names = [f"%e{bits}_{i}" for i in range(count)]
    operand = names[0] if count == 1 else "{" + ", ".join(names) + "}"
    what = f"{'.v%d' % count if count > 1 else ''}.u{8 * each}"
    where = {"global": f"st.global{what} [%a+{at}]", "generic": f"st{what} [%a+{at}]", "shared": f"st.shared{what} [%s+{at}]", "generic shared": f"st{what} [%g+{at}]", "absolute": f"st.shared{what} [room+{at}]"}
    convert = {16: "cvt.u16.u32", 32: "mov.u32", 64: "cvt.u64.u32"}[bits]
    values = " ".join(f"add.u32 %w, %v, {i}; {convert} {name}, %w;" for i, name in enumerate(names))
    return f"{values}\n{f'@!%p bra OVER{k};' if branches else '@%p'} {where[window]}, {operand};\nOVER{k}:\n"


def kernel(window, uniform, branches, places):
    in_shared = window in ("shared", "generic shared", "absolute")
    copy = "\n".join(f"ld.shared.u32 %w, [room+{k}]; st.global.u32 [%a+{k}], %w;" for k in range(0, SIZE, 4)) if in_shared else ""
    stores = "".join(store(window, form, branches, at, k) for k, (form, at) in enumerate(places.items()))
    return f""".version 7.0
.target sm_70
.address_size 64
.visible .entry k(.param .u64 out, .param .u32 mask, .param .u32 zero)
{{
.shared .align 16 .b8 room[{SIZE}];
.reg .b64 %a, %g, %e64_<2>; .reg .b32 %t, %m, %v, %w, %s, %z, %e32_<4>; .reg .b16 %e16_<4>; .reg .pred %p, %q;
ld.param.u64 %a, [out]; ld.param.u32 %m, [mask]; ld.param.u32 %z, [zero]; mov.u32 %t, %tid.x; mov.u32 %s, room; cvt.u64.u32 %g, %s; cvta.shared.u64 %g, %g;
shr.u32 %w, %m, %t; and.b32 %w, %w, 1; setp.ne.u32 %p, %w, 0; {"add.u32 %v, %z, 100;" if uniform else "add.u32 %v, %t, 100;"}
{stores}
bar.sync 0;
setp.eq.u32 %q, %t, 0; @!%q bra DONE;
{copy}
DONE: ret;
}}
"""


def run(tool, level, text, mask):
    engine, cpu = level
    command = [tool, "run", "-q", "--engine", engine, "--cpu", cpu, "--language", "ptx", "-b", "32", "-a", f"u8[{SIZE}]:print", "-a", f"u32={mask}", "-a", "u32=0", "-"]
    return subprocess.run(command, input=text, capture_output=True, text=True, env=os.environ | {"LANEWISE_CACHE": KEPT_CODE.name})


def may_be(form, uniform, mask):
    """All that may be in the form's cell."""
    count, each = FORMS[form]
    lanes = [lane for lane in range(32) if mask >> lane & 1]
    cells = [b"".join(((100 + k + (0 if uniform else lane)) & (1 << 8 * each) - 1).to_bytes(each, "little") for k in range(count)) for lane in lanes]
    return [list(cell.ljust(CELL, b"\0")) for cell in cells] or [[0] * CELL]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--lanewise", required=True)
    tool, failed, runs = parser.parse_args().lanewise, 0, 0
    there = [level for level in LEVELS if run(tool, level, kernel("global", True, False, PLACES), 1).returncode != NO_ARGUMENT]
    assert there[0][0] == "jit"  # this test is where the compiler is

    def check(good, *what):
        nonlocal failed, runs
        runs, failed = runs + 1, failed + (not good)
        if not good:
            print(*what)

    for k, (window, uniform) in enumerate(itertools.product(WINDOWS, (True, False))):
        if FEW and k % 3 != 1:
            continue
        for m, mask in enumerate(MASKS):
            branches, seen = (k // 2 + k + m) % 2 == 0, set()
            text = kernel(window, uniform, branches, PLACES)
            for n, level in enumerate(there):
                if n > 1 and (k + m + n) % 4:
                    continue  # of the others a part is enough
                done = run(tool, level, text, mask)
                array = [int(word) for word in done.stdout.partition(":")[2].split()]
                good = done.returncode == 0 and all(array[at:at + CELL] in may_be(form, uniform, mask) for form, at in PLACES.items())
                check(good, level, window, "one" if uniform else "each", branches, hex(mask), array, done.stderr)
                seen.add(tuple(array))
            check(len(seen) == 1, "engines differ:", window, uniform, hex(mask), seen)
    for k, (form, window, what) in enumerate(itertools.product(FORMS, WINDOWS, (OUTSIDE, MISALIGNED))):
        if (k // 2 + k) % 2 or FEW and k % 3:
            continue  # a part is enough: one of both, the other one in the next window
        each = FORMS[form][0] * FORMS[form][1]
        at = each // 2 if what == MISALIGNED else SIZE if window in ("global", "generic") else 1 << 12
        level = there[k % len(there)] if k % 3 else there[0]
        for mask in (0x10100, 0) if what == OUTSIDE or each > 1 else ():
            done = run(tool, level, kernel(window, k % 2 == 0, False, {form: at}), mask)
            check(what in done.stderr and "thread (8," in done.stderr if mask else done.returncode == 0, level, window, form, at, hex(mask), done.returncode, done.stderr)
    print(f"{runs} checks of {', '.join(' '.join(level) for level in there)}, {failed} not as they should be")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
