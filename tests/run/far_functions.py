#!/usr/bin/env python3
"""A program of more operations than the compiler takes of one: a chain of functions, each of which calls the next, but for one that is called by its address. Those that are nearest to the kernel are
compiled, the address counted as a call; what is farther away the interpreter executes. A kernel that is too large by itself takes nothing of the room: what it calls is compiled. The results of both engines are the model's."""

import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

FUNCTIONS, STEPS, FAR, LARGE = 70, 125, 40, 8300  # a step is two operations
WORD = 0xFFFFFFFF


def steps_of(first, count):
    return "".join(f"xor.b32 %v, %v, {first + k};\nmad.lo.u32 %v, %v, %v, %v;\n" for k in range(count))


def text(functions, own):
    """The kernel has so many steps of its own in front of its calls."""
    declarations, bodies = [], []
    for number in range(functions):
        head = f".func (.param .b32 r) f{number}(.param .b32 x)"
        steps = steps_of(number * 7919, STEPS)
        call = f"{{\n.param .b32 a;\n.param .b32 b;\nst.param.b32 [a], %v;\ncall (b), f{number + 1}, (a);\nld.param.b32 %v, [b];\n}}\n" if number + 1 < functions else ""
        declarations.append(f"{head};\n")
        bodies.append(f"{head}\n{{\n.reg .b32 %v;\nld.param.b32 %v, [x];\n{steps}{call}st.param.b32 [r], %v;\nret;\n}}\n")
    calls = "".join(f"st.param.b32 [a], %v;\ncall (b), {how};\nld.param.b32 %v, [b];\n" for how in ("f0, (a)", "%f, (a), T")[:1 + (functions > FAR)])
    kernel = (f".visible .entry chain(.param .u64 out)\n{{\n.reg .b32 %v;\n.reg .b64 %a, %w, %f;\n.param .b32 a;\n.param .b32 b;\nT: .callprototype (.param .b32 _) _ (.param .b32 _);\n"
              f"mov.u32 %v, %tid.x;\nmov.u64 %f, f{min(FAR, functions - 1)};\nld.param.u64 %a, [out];\nmul.wide.u32 %w, %v, 4;\nadd.u64 %a, %a, %w;\n{steps_of(3, own)}{calls}st.global.u32 [%a], %v;\nret;\n}}\n")
    return ".version 7.0\n.target sm_70\n.address_size 64\n" + "".join(declarations + bodies) + kernel


def model(value, functions, own):
    parts = [(3, own)] + [(number * 7919, STEPS) for first in (0, FAR) for number in range(first, functions)]
    for first, count in parts:
        for k in range(count):
            value ^= first + k
            value = value * value + value & WORD
    return value


def fault_of(lanewise, path, shape, compiles, leaves):
    """What is wrong with a program of this shape, of which some functions must be compiled and others not."""
    path.write_text(text(*shape))
    code = subprocess.run([lanewise, "dump", "--stage", "llvm", path], capture_output=True, text=True).stdout
    compiled = {name for name in re.findall(r"^define .*@(chain|f\d+)\b", code, re.M)}
    if not compiled >= compiles or compiled & leaves:
        return f"compiled are {sorted(compiled)}"
    for engine in ("interp", "jit"):
        done = subprocess.run([lanewise, "run", "--engine", engine, "--quiet", "--stats", path, "-b", "40", "-a", "u32[40]:print"], capture_output=True, text=True, env=os.environ | {"LANEWISE_CACHE": "off"})
        got = [int(word) for line in done.stdout.splitlines() for word in re.findall(r" (\d+)", line.split(":", 1)[1])]
        says = "functions that would take too long to compile are left to the interpreter" in done.stderr
        if done.returncode or says != (engine == "jit") or got != [model(lane, *shape) for lane in range(40)]:
            return f"{engine} ends with {done.returncode}: {got[:4]}\n{done.stderr[:400]}"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lanewise", required=True)
    lanewise = parser.parse_args().lanewise
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "chain.ptx"
        faults = [fault_of(lanewise, path, (FUNCTIONS, 0), {"chain", "f0", "f1", f"f{FAR}"}, {f"f{FAR - 1}", f"f{FUNCTIONS - 1}"}), fault_of(lanewise, path, (2, LARGE), {"f0", "f1"}, {"chain"})]
    for fault in filter(None, faults):
        print(f"far_functions.py: {fault}")
    sys.exit(1 if any(faults) else 0)


if __name__ == "__main__":
    main()
