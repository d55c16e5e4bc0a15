#!/usr/bin/env python3
"""Which accesses the interpreter looks at by their index, and which not (docs/decisions/0035): what `lanewise dump --stage interp` says of a kernel for
each rule. And of which accesses of shared memory the compiler leaves the check out (strand_bits.c). That results are right the files run_indexed and
run_shared_bits say; they would be if nothing of it was done.

    by_index.py LANEWISE"""

import os
import re
import subprocess
import sys

HEAD = """.version 8.2
.target sm_80
.address_size 64
"""
KERNEL = """.visible .entry k(.param .u64 out, .param .u64 in, .param .u32 n)
{{
.shared .align 4 .b32 s[128];
.reg .b64 %a, %b, %c, %w, %x; .reg .b32 %t, %i, %v, %n; .reg .pred %p;
ld.param.u64 %a, [out]; ld.param.u64 %b, [in]; ld.param.u32 %n, [n];
mov.u32 %t, %ctaid.x; mov.u32 %v, %ntid.x; mov.u32 %i, %tid.x; mad.lo.u32 %t, %t, %v, %i; setp.lt.u32 %p, %t, %n;
{0}
st.global.u32 [%a], %v;
ret;
}}
"""
# In each one load of %b; how it is written, and whether it is looked at by its index.
LOADS = {
    "mul.wide.u32 %w, %t, 4; add.s64 %c, %b, %w; ld.global.u32 %v, [%c];": True,
    "mul.wide.s32 %w, %t, 4; add.s64 %c, %w, %b; ld.u32 %v, [%c+8];": True,
    "mad.wide.u32 %c, %t, 4, %b; ld.global.u32 %v, [%c];": True,
    "mad.wide.s32 %c, %t, 4, %b; ld.global.u32 %v, [%c];": True,
    "cvt.u64.u32 %w, %t; shl.b64 %x, %w, 2; add.s64 %c, %b, %x; ld.global.u32 %v, [%c];": True,
    "cvt.s64.s32 %w, %t; add.s64 %c, %b, %w; ld.global.u8 %v, [%c];": True,
    "mul.wide.u32 %w, %t, 8; add.s64 %c, %b, %w; ld.global.v2.u32 {%v, %i}, [%c];": True,
    "mul.wide.u32 %w, %t, 4; add.s64 %c, %b, %w; @%p ld.global.u32 %v, [%c];": True,
    "mov.u32 %v, %ctaid.x; mul.wide.u32 %x, %v, 64; add.s64 %x, %b, %x; mul.wide.u32 %w, %t, 4; add.s64 %c, %x, %w; ld.global.u32 %v, [%c];": True,
    "mul.wide.u32 %w, %t, 4; cvt.u32.u64 %i, %w; add.s64 %c, %b, %w; ld.global.u32 %v, [%c]; add.u32 %v, %v, %i;": True,
    # the address is read elsewhere; it, or a part of it, is made for some lanes; the product is of another size
    "mul.wide.u32 %w, %t, 4; add.s64 %c, %b, %w; ld.global.u32 %v, [%c]; cvt.u32.u64 %i, %c; add.u32 %v, %v, %i;": False,
    "mov.u64 %c, %b; mul.wide.u32 %w, %t, 4; @%p add.s64 %c, %b, %w; ld.global.u32 %v, [%c];": False,
    "mov.u64 %w, 0; @%p mul.wide.u32 %w, %t, 4; add.s64 %c, %b, %w; ld.global.u32 %v, [%c];": False,
    "mul.wide.u32 %w, %t, 12; add.s64 %c, %b, %w; ld.global.u32 %v, [%c];": False,
    "mul.wide.u32 %w, %t, 8; add.s64 %c, %b, %w; ld.global.u32 %v, [%c];": False,
    # each thread has a number of its own; others may write what is read
    "mul.wide.u32 %x, %t, 64; add.s64 %x, %b, %x; mul.wide.u32 %w, %t, 4; add.s64 %c, %x, %w; ld.global.u32 %v, [%c];": False,
    "mul.wide.u32 %w, %t, 4; add.s64 %c, %b, %w; ld.volatile.global.u32 %v, [%c];": False,
    # some lanes write the index in front of the access
    "mul.wide.u32 %w, %t, 4; add.s64 %c, %b, %w; @%p add.u32 %t, %t, 1; ld.global.u32 %v, [%c]; add.u32 %v, %v, %t;": False,
}
# In each one load of shared memory by %v, which is anything; and whether it is known to be inside.
SHARED = {
    "and.b32 %i, %v, 127; shl.b32 %i, %i, 2;": True,
    "rem.u32 %i, %v, 128; shl.b32 %i, %i, 2;": True,
    "shr.u32 %i, %v, 25; shl.b32 %i, %i, 2;": True,
    "min.u32 %i, %v, 127; shl.b32 %i, %i, 2;": True,
    "and.b32 %i, %v, 255; shl.b32 %i, %i, 2;": False,
    "rem.u32 %i, %v, 129; shl.b32 %i, %i, 2;": False,
    "and.b32 %i, %v, 511;": False,
    "min.s32 %i, %v, 127; shl.b32 %i, %i, 2;": False,
}


def run(tool, stage, text):
    level = {"LANEWISE_CPU": "v4"} if stage == "llvm" else {}  # where lanes that go each their own way are code, not a call
    return subprocess.run([tool, "dump", "--stage", stage, "--language", "ptx", "-"], input=HEAD + text, capture_output=True, text=True,
                          env=os.environ | level)


def dump(tool, stage, text):
    done = run(tool, stage, text)
    if done.returncode:
        sys.exit(f"{stage}: {done.stderr}")
    return done.stdout


def main():
    tool, failed = sys.argv[1], 0
    for text, expected in LOADS.items():
        out = dump(tool, "interp", KERNEL.format(text))
        loads = [line for line in out.splitlines() if re.search(r"\bld (global|generic)", line)]
        if len(loads) != 1 or (".indexed" in loads[0]) != expected:
            failed += 1
            print(f"{'not ' if expected else ''}by its index: {text}\n{out}")
    compiles = run(tool, "llvm", KERNEL.format("")).returncode == 0
    for text, expected in SHARED.items() if compiles else ():
        load = f"ld.global.u32 %v, [%b]; {text} mov.u32 %n, s; add.u32 %i, %i, %n; ld.shared.u32 %v, [%i];"
        calls = len(re.findall(r"call i1 @lw\.warp\.load\(", dump(tool, "llvm", KERNEL.format("mad.wide.u32 %b, %t, 4, %b; " + load))))
        if (calls == 0) != expected:
            failed += 1
            print(f"{calls} calls for lanes outside: {text}")
    print(f"{len(LOADS)} accesses{f' and {len(SHARED)} of shared memory' if compiles else ''}, {failed} not as they should be")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
