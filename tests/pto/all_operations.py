"""Every operation of vectors, every element type, several widths, masks and forms, against model.py: all pairs of 8-bit elements, edges and noise
of the others, arrays that fill registers and such that do not."""

import argparse
import array
import os
import pathlib
import random
import subprocess
import sys
import tempfile

import model

CODES = {"i8": "b", "u8": "B", "i16": "h", "u16": "H", "i32": "i", "u32": "I", "i64": "q", "u64": "Q"}
MODES = [("zero", "saturate"), ("undef-poison", "modulo")]


def mask_type(lanes):
    return f"!pto.mask<{lanes}>"


class Function:
    """A function with every operation of one type and one width. Each result has a name and a model."""

    def __init__(self, kind, lanes, shifts_only=False):
        self.shifts_only = shifts_only
        self.kind, self.lanes = kind, lanes
        self.v, self.m = f"!pto.vreg<{lanes}x{kind}>", mask_type(lanes)
        self.lines, self.results = [], []

    def add(self, name, is_mask, value):
        """value(a, b, c, m, x): the result's element from the elements of the arguments, and how the run is made."""
        self.results.append((name, is_mask, value))

    def line(self, text):
        self.lines.append("  " + text)

    def binary(self, op):
        v, m, kind = self.v, self.m, self.kind
        self.line(f"%{op} = pto.{op} %a, %b, %m : ({v}, {v}, {m}) -> {v}")
        self.add(op, False, lambda a, b, c, on, x: model.masked(on, model.binary(op, kind, a, b, x.overflow), x.otherwise(kind)))
        # A named destination that had a value keeps it where the mask leaves it out: it was c.
        self.line(f"vand %{op}_kept, %c, %c, %all : {v}")
        self.line(f"{op} %{op}_kept, %a, %b, %m : {v}")
        self.add(f"{op}_kept", False, lambda a, b, c, on, x: model.masked(on, model.binary(op, kind, a, b, x.overflow), c))
        self.line(f"pto.{op} ins(%a, %b, %m : {v}, {v}, {m}) outs(%{op}_dps : {v})")
        self.add(f"{op}_dps", False, lambda a, b, c, on, x: model.masked(on, model.binary(op, kind, a, b, x.overflow), x.otherwise(kind)))
        self.line(f"%{op}_full = pto.{op} %a, %b, %all : {v}, {v}, {m} -> {v}")
        self.add(f"{op}_full", False, lambda a, b, c, on, x: model.binary(op, kind, a, b, x.overflow))

    def unary(self, op):
        v, m, kind = self.v, self.m, self.kind
        self.line(f"%{op} = pto.{op} %a, %m : ({v}, {m}) -> {v}")
        self.add(op, False, lambda a, b, c, on, x: model.masked(on, model.unary(op, kind, a), x.otherwise(kind)))
        self.line(f"vand %{op}_kept, %c, %c, %all : {v}")
        self.line(f"{op} %{op}_kept, %a, %m : {v}")
        self.add(f"{op}_kept", False, lambda a, b, c, on, x: model.masked(on, model.unary(op, kind, a), c))

    def compare(self, word):
        v, m = self.v, self.m
        self.line(f"%{word} = pto.vcmp {word}, %a, %b, %m : ({v}, {v}, {m}) -> {m}")
        self.add(word, True, lambda a, b, c, on, x: model.masked(on, model.compare(word, a, b), x.mask_otherwise))

    def others(self):
        v, m, kind = self.v, self.m, self.kind
        self.line(f"%sel = pto.vsel %a, %b, %m : ({v}, {v}, {m}) -> {v}")
        self.add("sel", False, lambda a, b, c, on, x: a if on else b)
        self.line(f"%sum, %carry = pto.vaddc %a, %b, %m : ({v}, {v}, {m}) -> ({v}, {m})")
        self.add("sum", False, lambda a, b, c, on, x: model.masked(on, model.sum_and_carry(kind, a, b, 0)[0], x.otherwise(kind)))
        self.add("carry", True, lambda a, b, c, on, x: model.masked(on, model.sum_and_carry(kind, a, b, 0)[1], x.mask_otherwise))
        self.line(f"%odd = pto.vcmp lt, %b, %c, %all : ({v}, {v}, {m}) -> {m}")
        self.line(f"%sum_in, %carry_out = pto.vaddc %a, %b, %odd, %m : ({v}, {v}, {m}, {m}) -> ({v}, {m})")
        self.add("sum_in", False, lambda a, b, c, on, x: model.masked(on, model.sum_and_carry(kind, a, b, b < c)[0], x.otherwise(kind)))
        self.add("carry_out", True, lambda a, b, c, on, x: model.masked(on, model.sum_and_carry(kind, a, b, b < c)[1], x.mask_otherwise))
        for op, value in (("and", lambda p, q: p and q), ("or", lambda p, q: p or q), ("xor", lambda p, q: p != q)):
            self.line(f"%m_{op} = pto.mask.{op} %m, %odd : {m}, {m} -> {m}")
            self.add(f"m_{op}", True, lambda a, b, c, on, x, value=value: value(bool(on), b < c))
        self.line(f"%m_not = pto.mask.not %m : {m} -> {m}")
        self.add("m_not", True, lambda a, b, c, on, x: not on)

    def masks(self):
        """Masks that are given in the text: by lane, so that a model needs the number of the lane."""
        m, lanes = self.m, self.lanes
        chance = random.Random(lanes)
        pattern = chance.getrandbits(lanes)
        self.line(f"%bits = pto.mask.bits 0x{pattern:x} : {m}")
        self.add("bits", True, lambda a, b, c, on, x: pattern >> x.lane & 1)
        for count in sorted({0, 1, lanes // 2, lanes - 1, lanes, lanes + 1}):
            self.line(f"%n{count} = arith.constant {count} : index")
            self.line(f"%first{count} = pto.mask.first %n{count} : index -> {m}")
            self.add(f"first{count}", True, lambda a, b, c, on, x, count=count: x.lane < count)

    def text(self):
        for op in model.BINARY[:2] if self.shifts_only else model.BINARY:
            self.binary(op)
        if not self.shifts_only:
            for op in model.UNARY:
                self.unary(op)
            for word in model.WORDS:
                self.compare(word)
            self.others()
            self.masks()
        types = ", ".join(self.m if is_mask else self.v for _, is_mask, _ in self.results)
        names = ", ".join("%" + name for name, _, _ in self.results)
        head = f"func.func @f(%a: {self.v}, %b: {self.v}, %c: {self.v}, %m: {self.m}) -> ({types}) {{"
        return "\n".join([head, f"  %all = pto.mask.all : {self.m}", *self.lines, f"  return {names} : {types}", "}", ""])


class Run:
    def __init__(self, inactive, overflow):
        self.inactive, self.overflow = inactive, overflow
        self.mask_otherwise = inactive != "zero"
        self.lane = 0

    def otherwise(self, kind):
        return 0 if self.inactive == "zero" else model.poison(kind)


def edges(kind, chance):
    bits, _ = model.TYPES[kind]
    near = [0, 1, bits - 1, bits, bits + 1, 2 * bits, 2 ** (bits - 1), 2 ** (bits - 1) - 1, 2**bits - 1, 2**bits - bits]
    near += [2 ** (bits // 2), 2 ** (bits // 2) + 1, 2**32 % 2**bits, (2**32 + 1) % 2**bits]
    return [model.number(x, kind) for x in near + [chance.getrandbits(bits) for _ in range(4)]]


def operands(kind, length, chance):
    """All pairs of what is interesting, as long as the arrays are, then noise."""
    bits, _ = model.TYPES[kind]
    values = [model.number(x, kind) for x in range(256)] if bits == 8 and length >= 65536 else edges(kind, chance)
    pairs = [(x, y) for x in values for y in values][:length]
    pairs += [(model.number(chance.getrandbits(bits), kind), model.number(chance.choice([chance.getrandbits(bits), chance.randrange(bits)]), kind))
              for _ in range(length - len(pairs))]  # fmt: skip
    return pairs


def fill(path, code, values):
    path.write_bytes(array.array(code, values).tobytes())


def over(kind, pairs, mask):
    bits, _ = model.TYPES[kind]
    return sum(1 for (_, b), on in zip(pairs, mask) if on and b % 2**bits >= bits)


def check(tool, folder, kind, lanes, length, mode, mask, shifts_only=False):
    """Runs the function once and compares all of its results. Returns how many elements were compared."""
    chance = random.Random(f"{kind}{lanes}{length}")
    function = Function(kind, lanes, shifts_only)
    text = function.text()
    source = folder / "f.pto"
    source.write_text(text)
    pairs = operands(kind, length, chance)
    kept = [model.number(chance.getrandbits(model.TYPES[kind][0]), kind) for _ in range(length)]
    code, spelled = CODES[kind], ("s" if kind[0] == "i" else "u") + kind[1:]
    fill(folder / "a", code, [a for a, _ in pairs])
    fill(folder / "b", code, [b for _, b in pairs])
    fill(folder / "c", code, kept)
    fill(folder / "m", "B", mask)
    command = [tool, "run", str(source), "--func", "f", "--inactive", mode[0], "--shift-overflow", mode[1]]
    command += [f"--arg={spelled}[{length}]=@{folder}/{name}" for name in "abc"] + [f"--arg=u8[]=@{folder}/m"]
    for name, _, _ in function.results:
        command += ["--result", f"out={folder}/{name}.out"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(command)}\n{done.stderr}")
    run = Run(*mode)
    for name, is_mask, value in function.results:
        got = array.array("B" if is_mask else code)
        got.frombytes((folder / f"{name}.out").read_bytes())
        if len(got) != length:
            sys.exit(f"{kind} x {lanes}, {name}: {len(got)} elements of {length}")
        for i, ((a, b), c, on) in enumerate(zip(pairs, kept, mask)):
            run.lane = i % lanes
            want = value(a, b, c, on, run)
            if got[i] != want:
                sys.exit(f"{kind} x {lanes}, {length} elements, {mode}: {name}[{i}] is {got[i]}, not {want}, of a {a}, b {b}, c {c}, mask {on}")
    # Each shift says how often its count was too large: four a shift, of which one runs under a full mask.
    reported = [int(line.split(":")[-1].split()[0]) for line in done.stderr.splitlines() if "note[" in line]
    masked, full = over(kind, pairs, mask), over(kind, pairs, [1] * length)
    want = [count for count in 2 * [masked, masked, masked, full] if count]
    if sorted(reported) != sorted(want):
        sys.exit(f"{kind} x {lanes}, {length} elements, {mode}: large counts reported {reported}, not {want}")
    return length * len(function.results)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lanewise", default="build/bin/lanewise")
    options = parser.parse_args()
    compared = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for number, (kind, (bits, _)) in enumerate(model.TYPES.items()):
            chance = random.Random(kind)
            for k, lanes in enumerate((2048 // bits, (1, 5, 24, 100)[number % 4], 1024)):
                for length in {lanes, 3 * lanes - 1, 400} if k else {300}:
                    mask = [chance.getrandbits(1) for _ in range(length)]
                    compared += check(options.lanewise, folder, kind, lanes, length, MODES[(number + k) % 2], mask)
        for kind, mode in zip(("i8", "u8", "i8"), (*MODES, MODES[1])):  # all values with all counts, under masks of every density
            chance = random.Random(kind + mode[0])
            mask = [chance.random() < i / 65536 for i in range(65536)]
            compared += check(options.lanewise, folder, kind, 256, 65536, mode, mask, shifts_only=True)
    print(f"{compared} elements compared at level {os.environ.get('LANEWISE_CPU', 'best')}")


if __name__ == "__main__":
    main()
