#!/usr/bin/env python3
"""vshl and vshr under both semantics, against two models: results and, where the models differ, how often the notes of a run say so.

The witness of `manual` is the first model below, a transcription of the manual's pseudo-code (sections 9.7.18.1 and 9.7.18.1.2) in whole
numbers that knows nothing of Lanewise's functions. `sm_90` was recorded on a GPU (run_vshl.ptx, run_vshr.ptx); the second
model says in whole numbers what that showed, so that more values can be compared and differences counted.

Every type, mode, saturation, second operation and destination is tried, with some of the selectors of a and b; --all tries
all of them. Instructions are plain, under a guard, with a constant for b, or with a source as destination."""

import argparse
import itertools
import json
import pathlib
import random
import struct
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent.parent
PARTS = {"": (0, 32), "b0": (0, 8), "b1": (8, 8), "b2": (16, 8), "b3": (24, 8), "h0": (0, 16), "h1": (16, 16)}
EDGES_A = [0, 1, 2, 0x7F, 0x80, 0xFF, 0x7FFF, 0x8000, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0x80000001, 0xFFFFFFFF, 0x40000000, 0x12345678, 0x89ABCDEF]
EDGES_B = [0, 1, 2, 7, 8, 15, 16, 30, 31, 32, 33, 63, 64, 0xFF, 0x20211F1E, 0x01020304, 0x8000001F, 0xFFFFFFFF, 0x00200001, 0x001F0020]
EDGES_C = [0, 1, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0x12345678]
KINDS = ("plain", "guard", "constant", "same")
CONSTANTS = (0, 5, 31, 32, 40)
CTAS = 3  # all do the same, so that notes must count each


# ---- whole numbers ---------------------------------------------------------------------------------------------------

def low(number, bits):
    return number & ((1 << bits) - 1)


def signed(number, bits):
    """The low bits of a number, as a signed one."""
    number = low(number, bits)
    return number - (1 << bits) if number >> (bits - 1) else number


def part(word, selector, is_signed):
    """partSelectSignExtend"""
    first, bits = PARTS[selector]
    field = low(word >> first, bits)
    return signed(field, bits) if is_signed else field


def clamp(number, bits, is_signed):
    least, most = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if is_signed else (0, (1 << bits) - 1)
    return min(max(number, least), most)


# ---- the models ------------------------------------------------------------------------------------------------------

class Form:
    def __init__(self, op, dtype, atype, sat, mode, tail, asel, bsel):
        self.op, self.dtype, self.atype, self.sat, self.mode, self.asel, self.bsel = op, dtype, atype, sat, mode, asel, bsel
        self.op2, self.dsel = (tail, "") if tail in ("add", "min", "max") else ("", tail)

    def mnemonic(self):
        return f"{self.op}.{self.dtype}.{self.atype}.u32{'.sat' if self.sat else ''}.{self.mode}{'.' + self.op2 if self.op2 else ''}"

    def text(self, d, a, b):
        operands = [f"{d}{'.' + self.dsel if self.dsel else ''}", f"{a}{'.' + self.asel if self.asel else ''}"]
        operands.append(b if b.isdigit() else f"{b}{'.' + self.bsel if self.bsel else ''}")
        return f"{self.mnemonic()} {', '.join(operands + (['%c'] if self.op2 or self.dsel else []))};"

    def shifted(self, a, b, bsel):
        ta, tb = part(a, self.asel, self.atype == "s32"), part(b, bsel, False)
        tb = min(tb, 32) if self.mode == "clamp" else tb & 0x1F
        return ta << tb if self.op == "vshl" else ta >> tb


def manual(form, a, b, c, bsel):
    is_signed = form.dtype == "s32"
    tmp = signed(form.shifted(a, b, bsel), 34)  # .s34
    tmp = clamp(tmp, PARTS[form.dsel][1], is_signed) if form.sat else signed(tmp, 33)  # optSaturate
    tc = signed(c, 32) if is_signed else c
    tmp = {"": tmp, "add": tmp + tc, "min": min(tmp, tc), "max": max(tmp, tc)}[form.op2]  # optSecondaryOp
    first, bits = PARTS[form.dsel]  # optMerge
    return low(tmp, bits) << first | c & ~(low(-1, bits) << first) if form.dsel else low(tmp, 32)


def sm_90(form, a, b, c, bsel):
    is_signed = form.dtype == "s32"
    wide = signed(form.shifted(a, b, bsel), 64)
    result = low(clamp(signed(wide, 34), 32, is_signed) if form.sat else wide, 32)
    left, right = signed(result, 32) if form.sat else wide, signed(c, 32) if is_signed else c
    if not is_signed:
        left, right = low(left, 64), low(right, 64)
    if form.op2 == "add":
        result = low(result + c, 32)
    elif form.op2:
        result = low({"min": min, "max": max}[form.op2](left, right), 32)
    if not form.dsel:
        return result
    first, bits = PARTS[form.dsel]
    field = result >> 16 if form.dsel == "h1" else low(result, bits)
    return field << first | c & ~(low(-1, bits) << first)


# ---- one module ------------------------------------------------------------------------------------------------------

HEAD = """.version 7.0
.target sm_70
.address_size 64
.visible .entry shifts(.param .u64 p, .param .u64 q, .param .u64 r, .param .u64 out) {
.reg .pred %odd;
.reg .b32 %a, %b, %c, %d, %t, %o;
.reg .b64 %p, %n, %out;
mov.u32 %t, %tid.x;
and.b32 %o, %t, 1;
setp.ne.u32 %odd, %o, 0;
mul.wide.u32 %n, %t, 4;
ld.param.u64 %p, [p];
add.u64 %p, %p, %n;
ld.global.b32 %a, [%p];
ld.param.u64 %p, [q];
add.u64 %p, %p, %n;
ld.global.b32 %b, [%p];
ld.param.u64 %p, [r];
add.u64 %p, %p, %n;
ld.global.b32 %c, [%p];
ld.param.u64 %out, [out];
add.u64 %out, %out, %n;
"""


def instructions(number, form):
    """Lines, the last but one of which is the instruction; and what it does to the lanes."""
    kind = KINDS[number % len(KINDS)]
    if kind == "guard":
        return kind, ["mov.b32 %d, 7;", "@%odd " + form.text("%d", "%a", "%b")]
    if kind == "same":
        return kind, ["mov.b32 %d, %a;", form.text("%d", "%d", "%b")]
    return kind, ["", form.text("%d", "%a", str(CONSTANTS[number % len(CONSTANTS)]) if kind == "constant" else "%b")]


def wanted(number, form, lanes, model):
    """The results of all lanes; None where the lane does not execute."""
    kind = KINDS[number % len(KINDS)]
    constant = CONSTANTS[number % len(CONSTANTS)]
    return [None if kind == "guard" and not lane & 1 else model(form, a, constant if kind == "constant" else b, c, "" if kind == "constant" else form.bsel)
            for lane, (a, b, c) in enumerate(lanes)]


def run(options, folder, semantics, text, lanes, count):
    path = folder / "shifts.ptx"
    path.write_text(text)
    for name, column in zip("abc", zip(*lanes)):
        (folder / name).write_bytes(struct.pack(f"<{len(column)}I", *column))
    command = [options.lanewise, "run", path, "-g", str(CTAS), "-b", str(len(lanes)), "--stats=json", "--semantics", semantics]
    for name in "abc":
        command += ["-a", f"b32[]=@{folder / name}"]
    command += ["-a", f"b32[{count * len(lanes)}]:out={folder / 'out'}"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"lanewise run exits with {done.returncode}\n{done.stderr[:2000]}")
    words = struct.unpack(f"<{count * len(lanes)}I", (folder / "out").read_bytes())
    notes = json.loads(done.stderr.splitlines()[-1])["notes"]
    return [words[k * len(lanes):(k + 1) * len(lanes)] for k in range(count)], {note["line"]: note["count"] for note in notes if note["id"] == "LW5100"}


def test(options, folder, forms, lanes):
    lines, places = HEAD.splitlines(), []
    for number, form in enumerate(forms):
        before, instruction = instructions(number, form)[1]
        lines += [before, instruction, f"st.global.b32 [%out], %d;", f"add.u64 %out, %out, {4 * len(lanes)};"]
        places.append(len(lines) - 2)
    text = "\n".join(lines + ["ret;", "}"]) + "\n"
    models = {"manual": manual, "sm_90": sm_90}
    results = {name: [wanted(number, form, lanes, model) for number, form in enumerate(forms)] for name, model in models.items()}
    differ = {place: CTAS * count for place, one, two in zip(places, results["manual"], results["sm_90"])
              if (count := sum(x != y for x, y in zip(one, two)))}
    faults = 0
    for name in models:
        got, notes = run(options, folder, name, text, lanes, len(forms))
        for number, form in enumerate(forms):
            want = [7 if word is None else word for word in results[name][number]]
            if tuple(want) == got[number]:
                continue
            faults += 1
            lane = next(k for k in range(len(lanes)) if want[k] != got[number][k])
            print(f"{name}: {instructions(number, form)[1][1]} of {', '.join(map(hex, lanes[lane]))} gives {got[number][lane]:#x}, not {want[lane]:#x}")
        for place in sorted(differ.keys() | notes.keys()):
            if differ.get(place, 0) != notes.get(place, 0):
                faults += 1
                print(f"{name}: {lines[place - 1]} differs for {differ.get(place, 0)} lanes, not for {notes.get(place, 0)}")
    return faults, len(differ), sum(differ.values())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lanewise", type=pathlib.Path, default=ROOT / "build/bin/lanewise")
    parser.add_argument("--all", action="store_true", help="every selector of a with every one of b")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()

    noise = random.Random(options.seed)
    lanes = list(itertools.product(EDGES_A, EDGES_B[:8]))[:64] + [(noise.choice(EDGES_A), noise.choice(EDGES_B)) for _ in range(64)]
    lanes += [(noise.getrandbits(32), noise.getrandbits(32) if noise.random() < 0.4 else noise.randrange(36)) for _ in range(64)]
    lanes = [(a, b, noise.choice(EDGES_C + [noise.getrandbits(32), a])) for a, b in lanes]
    shapes = list(itertools.product(("vshl", "vshr"), ("u32", "s32"), ("u32", "s32"), (False, True), ("clamp", "wrap"),
                                    ("", "b0", "b1", "b2", "b3", "h0", "h1", "add", "min", "max")))
    selectors = list(itertools.product(PARTS, PARTS))
    forms = [Form(*shape, *pair) for shape in shapes for pair in (selectors if options.all else [("", ""), *noise.sample(selectors[1:], 3)])]
    noise.shuffle(forms)
    faults = differing = lanes_differing = 0
    with tempfile.TemporaryDirectory() as folder:
        for at in range(0, len(forms), 1000):
            more = test(options, pathlib.Path(folder), forms[at:at + 1000], lanes)
            faults, differing, lanes_differing = faults + more[0], differing + more[1], lanes_differing + more[2]
    print(f"{len(forms)} instructions on {len(lanes)} lanes, {faults} faults; the semantics differ in {differing} instructions on {lanes_differing} lanes")
    return 1 if faults or not differing else 0


if __name__ == "__main__":
    sys.exit(main())
