#!/usr/bin/env python3
"""Lanes that go equally far apart, up or down, of which some execute: the first and the last of these touch the first and the last byte of an array, so
that the lanes in front of them and behind them would be outside of it. Loads and stores of every width, one element and several, under a guard and behind
a branch, in device memory and in shared memory; and the same with a lane more at either end, which must trap. What comes out is a model's, element by
element.

    row_ends.py --lanewise LANEWISE"""

import argparse
import itertools
import os
import re
import subprocess
import sys

THREADS, FIRST, END = 64, 5, 59  # of two warps some lanes each
WORD = (1 << 32) - 1
FORMS = {"u8": 1, "u16": 2, "u32": 4, "u64": 8, "v2.u32": 8, "v4.u16": 8, "v2.u64": 16}
STEPS = (1, 2, 3, -1, -2)
OUTSIDE, NO_ARGUMENT = "LW5000", 2


def parts(form):
    """How many elements a lane has, and of how many bytes."""
    count = int(form[1]) if form[0] == "v" else 1
    return count, FORMS[form] // count


def index_of(lane, step):
    return (lane - FIRST) * step if step > 0 else (END - 1 - lane) * -step


def kernel(window, form, step, branches, lanes):
    count, each = parts(form)
    names = [f"%e{k}" for k in range(count)]
    suffix = f"{'.v%d' % count if count > 1 else ''}.u{8 * each}"
    operand = names[0] if count == 1 else "{" + ", ".join(names) + "}"
    wide = 64 if each == 8 else 32 if each == 4 else 16
    to_word = {64: "cvt.u32.u64 %v, {0};", 32: "mov.u32 %v, {0};", 16: "cvt.u32.u16 %v, {0};"}[wide]
    first, end = lanes
    guard = "" if branches else "@%p "
    address, kind = ("%s", "shared") if window == "shared" else ("%a", "global")
    copy = """mov.u32 %c, %tid.x; setp.lt.u32 %q, %c, {0}; @!%q bra COPIED;
COPY: cvt.u64.u32 %w, %c; add.u64 %w, %in, %w; {1}
add.u32 %c, %c, 64; setp.lt.u32 %q, %c, {0}; @%q bra COPY;
COPIED: bar.sync 0;
"""
    back = "ld.global.u8 %b, [%w]; mov.u32 %r, room; add.u32 %r, %r, %c; st.shared.u8 [%r], %b;"
    forth = "mov.u32 %r, room; add.u32 %r, %r, %c; ld.shared.u8 %b, [%r]; st.global.u8 [%w], %b;"
    size = bytes_of(form, step)
    away = abs(step) * FORMS[form]
    begin = -FIRST * away if step > 0 else (END - 1) * away
    add = "add" if step > 0 else "sub"
    where = f"mul.wide.u32 %o, %t, {away}; add.s64 %f, %in, {begin}; {add}.s64 %a, %f, %o;"
    if window == "shared":
        where = f"mul.lo.u32 %i, %t, {away}; mov.u32 %d, room; add.s32 %d, %d, {begin}; {add}.s32 %s, %d, %i;"
    inside = "\n".join(f"{to_word.format(e)} mad.lo.u32 %h, %h, 31, %v; not.b{wide} {e}, {e};" for e in names)
    return f""".version 7.0
.target sm_70
.address_size 64
{".extern .shared .align 16 .b8 room[];" if window == "shared" else ""}
.visible .entry k(.param .u64 out, .param .u64 in)
{{
.reg .b64 %a, %f, %o, %w, %in, %out; .reg .b32 %t, %c, %i, %d, %r, %s, %v, %h; .reg .b16 %b; .reg .b{wide} %e<4>; .reg .pred %p, %q;
ld.param.u64 %out, [out]; ld.param.u64 %in, [in]; mov.u32 %t, %tid.x; mov.u32 %h, 7;
{copy.format(size, back) if window == "shared" else ""}
{where}
setp.ge.u32 %p, %t, {first}; setp.lt.and.u32 %p, %t, {end}, %p;
{"@!%p bra OVER;" if branches else ""}
{guard}ld.{kind}{suffix} {operand}, [{address}]; // the access
{inside}
{guard}st.{kind}{suffix} [{address}], {operand};
OVER: {"bar.sync 0;" if window == "shared" else ""}
{"" if branches else "@!%p mov.u32 %h, 7;"}
mul.wide.u32 %w, %t, 4; add.s64 %w, %out, %w; st.global.u32 [%w], %h;
{copy.format(size, forth).replace("COP", "BACK") if window == "shared" else ""}
ret;
}}
"""


def bytes_of(form, step):
    return ((END - FIRST - 1) * abs(step) + 1) * FORMS[form]


def start(size):
    return [(17 * k + 5) % 251 for k in range(size)]


def model(form, step):
    count, each = parts(form)
    array, out = start(bytes_of(form, step)), [7] * THREADS
    for lane in range(FIRST, END):
        for k in range(count):
            at = index_of(lane, step) * FORMS[form] + k * each
            value = int.from_bytes(bytes(array[at:at + each]), "little")
            out[lane] = (out[lane] * 31 + value) & WORD
            array[at:at + each] = [byte ^ 255 for byte in array[at:at + each]]
    return out, array


def run(tool, level, window, form, step, branches, lanes=(FIRST, END)):
    size = bytes_of(form, step)
    words = ",".join(map(str, start(size)))
    engine, cpu = level
    command = [tool, "run", "-q", "--engine", engine, "--cpu", cpu, "--language", "ptx", "-b", str(THREADS), "-a", f"u32[{THREADS}]:print", "-a", f"u8[]={words}:print"]
    if window == "shared":
        command += ["--smem", str(size)]
    text = kernel(window, form, step, branches, lanes)
    done = subprocess.run([*command, "-"], input=text, capture_output=True, text=True, env=os.environ | {"LANEWISE_CACHE": "off"})
    return done, text


def numbers(line):
    return [int(word) for word in line.split(":", 1)[1].split()]


def is_right(done, form, step):
    lines = done.stdout.splitlines()
    return done.returncode == 0 and len(lines) == 2 and tuple(map(numbers, lines)) == model(form, step)


def traps(done, text, lane):
    """At the access, in this lane."""
    line = 1 + next(k for k, row in enumerate(text.splitlines()) if row.endswith("// the access"))
    return done.returncode == 3 and OUTSIDE in done.stderr and re.search(rf":{line}:", done.stderr) and re.search(rf"thread \(?{lane}\b", done.stderr)


def levels(tool):
    """Engines with CPU levels that are there; another one is no argument of `lanewise run`."""
    found = []
    for engine, cpu in (("interp", "v4"), ("jit", "v4"), ("jit", "v3"), ("jit", "neon"), ("interp", "portable")):
        done = run(tool, (engine, cpu), "global", "u32", 1, False)[0]
        if done.returncode != NO_ARGUMENT:
            found.append((engine, cpu))
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--lanewise", required=True)
    tool, failed, count = parser.parse_args().lanewise, 0, 0
    there = levels(tool)
    whole = next(level for level in there if level[0] == "jit")  # this test is where the compiler is
    for level, window, (k, form), (m, step) in itertools.product(there, ("global", "shared"), enumerate(FORMS), enumerate(STEPS)):
        if level != whole and m != k % len(STEPS):
            continue  # of the others a part is enough
        branches = (k + m) % 2 == 1
        done, text = run(tool, level, window, form, step, branches)
        count += 1
        if not is_right(done, form, step):
            failed += 1
            print(f"{level} {window} {form} step {step} {'branch' if branches else 'guard'}:\n{done.stdout}{done.stderr}")
        if m != k % len(STEPS):
            continue
        for lanes, lane in (((FIRST - 1, END), FIRST - 1), ((FIRST, END + 1), END)):
            done, text = run(tool, level, window, form, step, branches, lanes)
            count += 1
            if not traps(done, text, lane):
                failed += 1
                print(f"{level} {window} {form} step {step}: lane {lane} is outside\n{done.stdout}{done.stderr}")
    print(f"{count} runs by {', '.join(' '.join(level) for level in there)}, {failed} not as they should be")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
