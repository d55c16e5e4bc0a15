#!/usr/bin/env python3
"""The video instructions that do not shift, scalar and SIMD, under both semantics against models in whole numbers: results and, where the models
differ, how often the notes of a run say so. semantics.py does the same for vshl and vshr, and its kernel is used here.

`manual` is a transcription of the pseudo-code (sections 9.7.18.1 and 9.7.18.2); `sm_90` says what was recorded on a GPU.

--write makes run_numbers_manual.ptx and run_numbers_sm_90.ptx anew: some forms of every row, with the results of the models."""

import argparse
import pathlib
import random
import sys
import tempfile

import semantics
from semantics import CTAS, PARTS, clamp, low, part, signed

HERE = pathlib.Path(__file__).resolve().parent
SCALAR = ("vadd", "vsub", "vabsdiff", "vmin", "vmax", "vset", "vmad")
SIMD = ("vadd", "vsub", "vavrg", "vabsdiff", "vmin", "vmax", "vset")
RELATIONS = {"eq": lambda x, y: x == y, "ne": lambda x, y: x != y, "lt": lambda x, y: x < y,
             "le": lambda x, y: x <= y, "gt": lambda x, y: x > y, "ge": lambda x, y: x >= y}
EDGES = [0, 1, 0x7F, 0x80, 0xFF, 0x7FFF, 0x8000, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0x80000001, 0xFFFFFFFF, 0xFFFF8000, 0x80FF7F00, 0x12345678, 0x89ABCDEF]


class Form:
    """One spelling with its selectors, made up at random."""

    def __init__(self, noise, op, count):
        pick = noise.choice
        self.op, self.count, self.dtype, self.atype, self.btype = op, count, pick(("u32", "s32")), pick(("u32", "s32")), pick(("u32", "s32"))
        self.sat, self.relation, self.minus, self.op2, self.scale, self.po = pick(("", ".sat")), "", ["", "", ""], "", "", ""
        self.selectors = [""] * 3
        if op == "vset":
            self.dtype, self.sat, self.relation = "u32", "", pick(list(RELATIONS))
        if count:
            self.op2 = pick(("", "", "add"))
            self.sat = "" if self.op2 else self.sat
            letter, most = ("h", 3) if count == 2 else ("b", 7)
            masks = [m for m in range(1, 1 << count)]
            digits = lambda mask: letter + "".join(str(k) for k in reversed(range(count)) if mask >> k & 1)
            lanes = lambda: letter + "".join(str(noise.randint(4 * (count == 4 and k == 0), most)) for k in range(count))  # not .b1024, a type
            self.selectors = [pick(("", digits(pick(masks)))), pick(("", lanes())), pick(("", lanes()))]
        elif op == "vmad":
            self.selectors = ["", pick(list(PARTS)), pick(list(PARTS))]
            self.minus = pick((["", "", ""], ["-", "", ""], ["", "-", ""], ["", "", "-"]))
            self.po = "" if "-" in self.minus else pick(("", ".po"))
            self.scale = pick(("", ".shr7", ".shr15"))
        else:
            tail = pick((*PARTS, "add", "min", "max"))
            self.selectors = ["", pick(list(PARTS)), pick(list(PARTS))]
            if tail in ("add", "min", "max"):
                self.op2 = tail
            else:
                self.selectors[0] = tail

    def text(self, d="%d", a="%a"):
        types = f".{self.atype}.{self.btype}.{self.relation}" if self.relation else f".{self.dtype}.{self.atype}.{self.btype}{self.po}"
        scalar_op2 = f".{self.op2}" if self.op2 else ""
        into, one, two = (f".{s}" if s else "" for s in self.selectors)
        c = f", {self.minus[2]}%c" if self.count or self.op == "vmad" or self.op2 or into else ""
        name = f"{self.op}{self.count or ''}{types}{self.sat}{self.scale}{scalar_op2}"
        return f"{name} {d}{into}, {self.minus[0]}{a}{one}, {self.minus[1]}%b{two}{c};"


# ---- the models ------------------------------------------------------------------------------------------------------

def combined(form, x, y):
    if form.op == "vset":
        return int(RELATIONS[form.relation](x, y))
    if form.op == "vavrg":
        return (x + y + 1) // 2 if x + y >= 0 else (x + y) // 2
    return {"vadd": x + y, "vsub": x - y, "vabsdiff": abs(x - y), "vmin": min(x, y), "vmax": max(x, y)}[form.op]


def several(form, a, b, c):
    bits = 32 // form.count
    elements = [low(word >> k * bits, bits) for word in (a, b) for k in range(form.count)]
    chosen = [[int(digit) for digit in reversed(selector[1:])] if selector else [k + first for k in range(form.count)]
              for selector, first in ((form.selectors[1], 0), (form.selectors[2], form.count))]
    result = c
    for k in range(form.count):
        x, y = (signed(elements[at[k]], bits) if kind == "s32" else elements[at[k]] for at, kind in zip(chosen, (form.atype, form.btype)))
        t = combined(form, x, y)
        t = clamp(t, bits, form.dtype == "s32") if form.sat else t
        if form.selectors[0] and str(k) not in form.selectors[0][1:]:
            continue
        result = low(result + t, 32) if form.op2 else result & ~(low(-1, bits) << k * bits) | low(t, bits) << k * bits
    return result


def vmad(form, a, b, c, on_sm_90):
    x, y = part(a, form.selectors[1], form.atype == "s32"), part(b, form.selectors[2], form.btype == "s32")
    is_signed = "s32" in (form.atype, form.btype) or "-" in form.minus
    if on_sm_90:
        x, y = signed(x, 32), signed(y, 32)
    c = signed(c, 32) if is_signed or on_sm_90 else c
    total = (-1 if "-" in form.minus[:2] else 1) * x * y + (-c if form.minus[2] else c) + bool(form.po)
    scale = int(form.scale[4:] or 0)
    if on_sm_90 and scale and not is_signed:
        total = low(total, 64)
    total >>= scale
    return low(clamp(total, 32, is_signed) if form.sat else total, 32)


def merged(form, result, c, high):
    first, bits = PARTS[form.selectors[0]]
    field = low(result, 32) >> 16 if high and form.selectors[0] == "h1" else low(result, bits)
    return field << first | c & ~(low(-1, bits) << first)


def chosen(op2, left, right):
    return {"": left, "add": left + right, "min": min(left, right), "max": max(left, right)}[op2]


def manual(form, a, b, c):
    if form.count:
        return several(form, a, b, c)
    if form.op == "vmad":
        return vmad(form, a, b, c, False)
    is_signed = form.dtype == "s32"
    t = combined(form, part(a, form.selectors[1], form.atype == "s32"), part(b, form.selectors[2], form.btype == "s32"))
    t = clamp(t, PARTS[form.selectors[0]][1], is_signed) if form.sat else signed(t, 33)
    return merged(form, chosen(form.op2, t, signed(c, 32) if is_signed else c), c, False)


def needs_more_than_a_word(form):
    (a, p), (b, q) = ((-(1 << bits - 1), (1 << bits - 1) - 1) if kind == "s32" else (0, (1 << bits) - 1)
                      for bits, kind in ((PARTS[form.selectors[1]][1], form.atype), (PARTS[form.selectors[2]][1], form.btype)))
    least, most = (a + b, p + q) if form.op == "vadd" else (a - q, p - b)
    return most >= 1 << (31 if least < 0 else 32) or least < -(1 << 31)


def sm_90(form, a, b, c):
    if form.count:
        return several(form, a, b, c)
    if form.op == "vmad":
        return vmad(form, a, b, c, True)
    is_signed, is_sum = form.dtype == "s32", form.op in ("vadd", "vsub")
    t = combined(form, part(a, form.selectors[1], form.atype == "s32"), part(b, form.selectors[2], form.btype == "s32"))
    bits = PARTS[form.selectors[0]][1]
    if form.sat and bits < 32:
        t = min(low(t, 64), (1 << bits - is_signed) - 1)
    elif form.sat:
        t = clamp(t, 32, True) if is_signed else max(t, 0)
    left, right = t, signed(c, 32) if (form.atype == "s32" if form.op == "vset" else is_signed) else c
    if form.op2 in ("min", "max") and form.op != "vset":
        if is_sum and is_signed:
            left = signed(t, 32)
        elif is_sum and needs_more_than_a_word(form):
            left = low(t, 32)
            return left if (left >> 31 or left >= c) == (form.op2 == "max") else c
        elif not is_signed:
            left = low(t, 64)
    return merged(form, chosen(form.op2, left, right), c, True)


MODELS = {"manual": manual, "sm_90": sm_90}


# ---- one module ------------------------------------------------------------------------------------------------------

def module(forms, lanes):
    """Every second instruction has its first source as its destination, every third is under a guard; and where they stand."""
    lines, places = semantics.HEAD.splitlines(), []
    for number, form in enumerate(forms):
        before = "mov.b32 %d, %a;" if number % 2 else "mov.b32 %d, 7;"
        lines += [before, ("@%odd " if number % 3 == 2 else "") + form.text(a="%d" if number % 2 else "%a")]
        places.append(len(lines))
        lines += ["st.global.b32 [%out], %d;", f"add.u64 %out, %out, {4 * len(lanes)};"]
    return "\n".join(lines + ["ret;", "}"]) + "\n", places


def wanted(number, form, lanes, model):
    return [a if number % 2 and skipped else 7 if skipped else model(form, a, b, c)
            for lane, (a, b, c) in enumerate(lanes) for skipped in [number % 3 == 2 and not lane & 1]]


def test(options, folder, forms, lanes):
    text, places = module(forms, lanes)
    results = {name: [wanted(number, form, lanes, model) for number, form in enumerate(forms)] for name, model in MODELS.items()}
    differ = {place: CTAS * count for place, one, two in zip(places, results["manual"], results["sm_90"]) if (count := sum(x != y for x, y in zip(one, two)))}
    faults = 0
    for name in MODELS:
        got, notes = semantics.run(options, folder, name, text, lanes, len(forms))
        for form, want, words in zip(forms, results[name], got):
            if tuple(want) != words:
                faults += 1
                lane = next(k for k in range(len(lanes)) if want[k] != words[k])
                print(f"{name}: {form.text()} of {', '.join(map(hex, lanes[lane]))} gives {words[lane]:#x}, not {want[lane]:#x}")
        if differ != notes:
            faults += 1
            print(f"{name}: notes are not as the models differ: {sorted(differ.items() ^ notes.items())[:4]}")
    return faults, len(differ)


def forms_of(noise, each):
    return [Form(noise, op, count) for _ in range(each) for count, ops in ((0, SCALAR), (2, SIMD), (4, SIMD)) for op in ops]


def lanes_of(noise, count):
    word = lambda: noise.choice(EDGES) if noise.random() < 0.5 else noise.getrandbits(32)
    return [(a, b, noise.choice((word(), low(a + b, 32), a))) for a, b in ((word(), word()) for _ in range(count))]


def write(noise):
    forms, lanes = forms_of(noise, 9), lanes_of(noise, 16)
    for name, model in MODELS.items():
        columns = ["-a b32[]=" + ",".join(map(hex, column)) for column in zip(*lanes)]
        words = [word for number, form in enumerate(forms) for word in wanted(number, form, lanes, model)]
        head = [f"// video instructions but for the shifts, parts, modes and second operations by the {'manual' if name == 'manual' else 'hardware'}: made by arithmetic.py",
                f"// run: --semantics {name} -b {len(lanes)} {' '.join(columns)} -a b32[{len(words)}]:print"]
        tail = f"// out: arg 3 b32[{len(words)}]: {' '.join(f'0x{word:08x}' for word in words)}"
        (HERE / f"run_numbers_{name}.ptx").write_text("\n".join(head) + "\n" + module(forms, lanes)[0] + tail + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lanewise", type=pathlib.Path, default=semantics.ROOT / "build/bin/lanewise")
    parser.add_argument("--each", type=int, default=15, help="forms of each opcode")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--write", action="store_true", help="make the run files")
    options = parser.parse_args()
    noise = random.Random(options.seed)
    if options.write:
        return write(noise)
    faults = differing = count = 0
    with tempfile.TemporaryDirectory() as folder:
        while count < options.each:
            forms, lanes = forms_of(noise, min(options.each - count, 40)), lanes_of(noise, 192)
            more = test(options, pathlib.Path(folder), forms, lanes)
            count, faults, differing = count + len(forms) // 21, faults + more[0], differing + more[1]
    print(f"{count * 21} instructions on 192 lanes, {faults} faults; the semantics differ in {differing} instructions")
    return 1 if faults or not differing else 0


if __name__ == "__main__":
    sys.exit(main())
