"""PTX loops over shr.s32 and shr.u32 equal pto.vshr for counts below the width, and beyond it where both saturate; they part where PTO's target takes
counts modulo the width, first at the width itself. What is shown of a difference must be one: its values are computed again here."""

import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

import model

HERE = pathlib.Path(__file__).resolve().parent
PTX, PTO = HERE.parent / "ptx/shift/accept_loops.ptx", HERE / "shift/accept_loops.pto"
PAIRS = [("shr_s32", "shr_i32", "i32"), ("shr_u32", "shr_u32", "u32"), ("shr_s8", "shr_i8", "i8")]


def equiv(tool, ptx, pto, *options):
    sides = [f"{PTX}:{ptx}", f"{PTO}:{pto}"]
    done = subprocess.run([tool, "equiv", *sides, *options], capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def want(condition, output, what):
    if not condition:
        sys.exit(f"{what}\n{output}")


def check_difference(output, kind):
    """Returns the count that was shown."""
    bits, _ = model.TYPES[kind]
    shown = {name: int(value, 16) for name, value in re.findall(r"^  (\w+) +\S+  0x(\w+)$", output, re.MULTILINE)}
    lines = re.findall(r"^    \S+:(\d+): (.*)$", output, re.MULTILINE)
    a, n = model.number(shown["a"], kind), model.number(shown["n"], kind)
    for side, overflow in (("first", "saturate"), ("second", "modulo")):
        computed = model.binary("vshr", kind, a, n, overflow)
        want(model.number(shown[side], kind) == computed, output, f"{side} is not {computed} for {a} >> {n} of {kind}")
    want(shown["first"] != shown["second"] and len(lines) == 2, output, "no difference is shown, or not both lines")
    for file, (line, text) in zip((PTX, PTO), lines):
        want(file.read_text().splitlines()[int(line) - 1].strip() == text, output, f"line {line} of {file} is another one")
    want("vshr" in lines[1][1], output, "the line of PTO is not the shift")
    return shown["n"] % 2**bits


SHAPES = """
func.func @noise(%x: !pto.vreg<8xi8>, %s: i8) -> !pto.vreg<8xi8> {
  %m = pto.mask.all : !pto.mask<8>
  %b = pto.vbroadcast %s : i8 -> !pto.vreg<8xi8>
  %r = pto.vadd %x, %b, %m : (!pto.vreg<8xi8>, !pto.vreg<8xi8>, !pto.mask<8>) -> !pto.vreg<8xi8>
  return %r : !pto.vreg<8xi8>
}
func.func @short(%x: memref<16xi8>, %y: memref<16xi8>) {
  return
}
func.func @narrow(%x: !pto.vreg<8xi8>, %y: !pto.vreg<16xi8>) {
  return
}
"""
KERNEL = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry noise(.param .u64 x, .param .u32 s, .param .u64 r) { ret; }
"""


def check_shapes(tool):
    """Not all combinations come where a scalar is noise or an array is shorter than they are many, and scalars are equally wide."""
    with tempfile.TemporaryDirectory() as folder:
        pto, ptx = pathlib.Path(folder, "shapes.pto"), pathlib.Path(folder, "shapes.ptx")
        pto.write_text(SHAPES)
        ptx.write_text(KERNEL)
        for name, options, all_come in (("noise", [], False), ("noise", ["--set", "1=3"], True), ("short", [], False), ("narrow", [], False)):
            done = subprocess.run([tool, "equiv", f"{pto}:{name}", f"{pto}:{name}", *options], capture_output=True, text=True)
            want(done.returncode == 0, done.stderr, f"{name} differs from itself")
            want(("all combinations" in done.stdout) == all_come, done.stdout, f"{name} {options}: all combinations are tried, or not")
        done = subprocess.run([tool, "equiv", f"{ptx}:noise", f"{pto}:noise"], capture_output=True, text=True)
        want(done.returncode == 2 and "LW6047" in done.stderr, done.stdout + done.stderr, "scalars of different width are compared")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lanewise", default="build/bin/lanewise")
    tool = parser.parse_args().lanewise
    for ptx, pto, kind in PAIRS:
        bits, _ = model.TYPES[kind]
        within = ["--range", f"1=0:{bits - 1}"]
        for options in (within, [*within, "--shift-overflow", "modulo"], []):
            code, output = equiv(tool, ptx, pto, *options)
            want(code == 0 and output.startswith("equal:"), output, f"{ptx} and {pto} differ with {options}")
            want(("all combinations" in output) == (kind == "i8"), output, f"{kind}: all combinations are tried, or not")
        for count, code in ((bits - 1, 0), (bits, 7)):  # the first count where they part
            got, output = equiv(tool, ptx, pto, "--range", f"1={count}:{count}", "--shift-overflow", "modulo")
            want(got == code, output, f"{ptx} and {pto} by {count}, modulo")
            if code:
                want(check_difference(output, kind) == count, output, "another count is shown")
        code, output = equiv(tool, ptx, pto, "--shift-overflow", "modulo")
        want(code == 7 and check_difference(output, kind) >= bits, output, f"{ptx} and {pto} do not part beyond the width")
        code, output = equiv(tool, ptx, pto, "--shift-overflow", "trap")
        want(code == 3 and "LW5011" in output, output, "the launch does not stop at a large count")
        want(equiv(tool, ptx, pto, *within, "--shift-overflow", "trap")[0] == 0, "", "the launch stops at a small count")
    code, output = equiv(tool, "loop_u32", "loop_u32", "--elements", "1000")
    want(code == 0 and "of 1000 elements" in output, output, "the loops over memrefs differ")
    code, output = equiv(tool, "shr_s32", "shr_i8")
    want(code == 2 and "LW6047" in output, output, "programs of different shape are compared")
    for options in (["--range", "7=0:1"], ["--range", "0=5"], ["--range", "0=5:4"], ["--set", "0=1"], ["--elements", "0"]):
        code, output = equiv(tool, "shr_s32", "shr_i32", *options)
        want(code == 2 and "LW6048" in output, output, f"{options} is accepted")
    check_shapes(tool)
    print("equal within the width, apart beyond")


if __name__ == "__main__":
    main()
