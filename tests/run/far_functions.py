#!/usr/bin/env python3
"""A program of more operations than the compiler takes of one: a chain of functions, each of which calls the next, but for one that is called by its address. Those that are nearest to the kernel are
compiled, the address counted as a call; what is farther away the interpreter executes. The results of both engines are the model's."""

import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

FUNCTIONS, STEPS, FAR = 70, 125, 40  # a step is two operations
WORD = 0xFFFFFFFF


def text():
    declarations, bodies = [], []
    for number in range(FUNCTIONS):
        head = f".func (.param .b32 r) f{number}(.param .b32 x)"
        steps = "".join(f"xor.b32 %v, %v, {number * 7919 + k};\nmad.lo.u32 %v, %v, %v, %v;\n" for k in range(STEPS))
        call = f"{{\n.param .b32 a;\n.param .b32 b;\nst.param.b32 [a], %v;\ncall (b), f{number + 1}, (a);\nld.param.b32 %v, [b];\n}}\n" if number + 1 < FUNCTIONS else ""
        declarations.append(f"{head};\n")
        bodies.append(f"{head}\n{{\n.reg .b32 %v;\nld.param.b32 %v, [x];\n{steps}{call}st.param.b32 [r], %v;\nret;\n}}\n")
    calls = "".join(f"st.param.b32 [a], %v;\ncall (b), {how};\nld.param.b32 %v, [b];\n" for how in ("f0, (a)", "%f, (a), T"))
    kernel = (f".visible .entry chain(.param .u64 out)\n{{\n.reg .b32 %v;\n.reg .b64 %a, %w, %f;\n.param .b32 a;\n.param .b32 b;\nT: .callprototype (.param .b32 _) _ (.param .b32 _);\n"
              f"mov.u32 %v, %tid.x;\nmov.u64 %f, f{FAR};\nld.param.u64 %a, [out];\nmul.wide.u32 %w, %v, 4;\nadd.u64 %a, %a, %w;\n{calls}st.global.u32 [%a], %v;\nret;\n}}\n")
    return ".version 7.0\n.target sm_70\n.address_size 64\n" + "".join(declarations + bodies) + kernel


def model(value):
    for first in (0, FAR):
        for number in range(first, FUNCTIONS):
            for k in range(STEPS):
                value ^= number * 7919 + k
                value = value * value + value & WORD
    return value


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lanewise", required=True)
    lanewise, failed = parser.parse_args().lanewise, 0
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "chain.ptx"
        path.write_text(text())
        code = subprocess.run([lanewise, "dump", "--stage", "llvm", path], capture_output=True, text=True).stdout
        compiled = {name for name in re.findall(r"^define .*@(chain|f\d+)\b", code, re.M)}
        if not compiled >= {"chain", "f0", "f1", f"f{FAR}"} or f"f{FAR - 1}" in compiled or f"f{FUNCTIONS - 1}" in compiled:
            failed += 1
            print(f"far_functions.py: compiled are {sorted(compiled)}")
        for engine in ("interp", "jit"):
            done = subprocess.run([lanewise, "run", "--engine", engine, "--quiet", "--stats", path, "-b", "40", "-a", "u32[40]:print"], capture_output=True, text=True, env=os.environ | {"LANEWISE_CACHE": "off"})
            got = [int(word) for line in done.stdout.splitlines() for word in re.findall(r" (\d+)", line.split(":", 1)[1])]
            says = "functions that would take too long to compile are left to the interpreter" in done.stderr
            if done.returncode or says != (engine == "jit") or got != [model(lane) for lane in range(40)]:
                failed += 1
                print(f"far_functions.py: {engine} ends with {done.returncode}: {got[:4]}\n{done.stderr[:400]}")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
