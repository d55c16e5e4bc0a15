#!/usr/bin/env python3
"""Laws that operations of PTO keep, which need no model: forms, spellings and widths of one computation are the same; masks divide a computation, and so do
places where an array is cut; operations agree with each other, shifts of 8 bits with each other for all values and pairs of counts."""

import argparse
import itertools
import os
import random
import re
import subprocess
import sys

import every_form
import kit
import model
from kit import numpy

MODES = [("zero", "saturate"), ("undef-poison", "modulo"), ("undef-poison", "saturate"), ("zero", "modulo")]


class Text:
    """The lines of a function that computes expressions: a name, a whole number in every lane, or a tuple of operation and operands, where the last
    operand is the mask if it is not %m. Each operation has another form than the one before."""

    def __init__(self, rows, kind, lanes, mask=None):
        self.rows, self.kind = rows, kind
        self.v, self.m = f"!pto.vreg<{lanes}x{kind}>", f"!pto.mask<{lanes if mask is None else mask}>"
        self.lines, self.known, self.types, self.uses = [], {}, {}, 0

    def line(self, text):
        self.lines.append(f"  {text}")

    def type_of(self, operand):
        return self.m if operand.kind == "m" else self.v

    def constant(self, value):
        name = f"%n{len(self.known)}"
        self.line(f"{name}_one = arith.constant {model.number(value, self.kind)} : {self.kind}")
        self.line(f"{name} = pto.vbroadcast {name}_one : {self.kind} -> {self.v}")
        return name

    def compute(self, expression, result=0):
        """The name of what the expression gives. Equal expressions are computed once."""
        if isinstance(expression, str):
            return expression
        if expression not in self.known:
            self.known[expression] = [self.constant(expression)] if isinstance(expression, int) else self.operation(*expression)
        return self.known[expression][result]

    def operation(self, name, *operands):
        name, _, word = name.partition(" ")
        row = self.rows[f"pto.{name}"]
        ins = [o for o in row.ins if not o.optional or len(operands) >= len(row.ins) - (row.ins[-1].name == "mask")]
        given = [self.compute(operand) for operand in operands] + ["%m"] * (len(ins) - len(operands))
        outs = [f"%t{len(self.known)}_{len(self.lines)}_{k}" for k in range(len(row.outs))]
        form = kit.FORMS[self.uses % len(kit.FORMS)]
        self.uses += 1
        pairs = [(text, self.type_of(o)) for text, o in zip(given, ins)]
        self.line(kit.spell(row, form, word or None, [(text, self.type_of(o)) for text, o in zip(outs, row.outs)], pairs))
        return outs

    def function(self, arguments, results, name="f"):
        types = ", ".join(kind for _, kind in results)
        lines = [f"func.func @{name}({', '.join(arguments)}) -> ({types}) {{", *self.lines, f"  return {', '.join(text for text, _ in results)} : {types}", "}"]
        return "\n".join(lines) + "\n"


def noise(chance, kind, length):
    """Elements of all sizes."""
    bits, _ = model.TYPES[kind]
    whole = chance.integers(0, 2**bits, length, f"u{bits // 8}")
    return (whole >> chance.integers(0, bits, length).astype(whole.dtype)).view(kit.dtype(kind)) * chance.choice([1, -1], length).astype(kit.dtype(kind))


# ---- One computation, several texts ----------------------------------------------------------------------------------


def programs_of(tool, text):
    """By function, what it was lowered to, without the lines where it stands."""
    source = tool.file("forms.pto", text)
    done = subprocess.run([tool.path, "dump", "--stage", "interp", str(source)], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{source}: {done.stderr[:2000]}")
    parts = re.split(r"^kernel (\w+): ", re.sub(r"^( +line \d+|program: .*)\n", "", done.stdout, flags=re.M), flags=re.M)[1:]
    return dict(zip(parts[::2], parts[1::2]))


def operation_alone(variant, form, spelled, lanes, mask, name):
    """A function with one operation in one form, all operands of which are arguments."""
    row = variant.row
    v, m, memory = f"!pto.vreg<{lanes}x{spelled}>", f"!pto.mask<{mask}>", f"memref<?x{spelled}>"
    types = {"": v, "m": m, "t": spelled, "i": "index", "mem": memory, "mem!": memory}
    arguments = [f"%in{k}: {types[o.kind]}" for k, o in enumerate(variant.ins)] + ["%at: index"]
    ins = [(f"%in{k}[%at]" if o.kind.startswith("mem") else f"%in{k}", types[o.kind]) for k, o in enumerate(variant.ins)]
    outs = [(f"%out{k}", types[o.kind]) for k, o in enumerate(row.outs)]
    # A mask that assembly text defines beside registers has the type of the governing mask: it is the same here.
    line = kit.spell(row, form, "0x5" if variant.word == "bits" else variant.word, outs, ins)
    back = f" -> ({', '.join(kind for _, kind in outs)})" if outs else ""
    tail = f"  return {', '.join(text for text, _ in outs)} : {', '.join(kind for _, kind in outs)}" if outs else "  return"
    return f"func.func @{name}({', '.join(arguments)}){back} {{\n  {line}\n{tail}\n}}\n"


def same_forms(variant):
    """A value that is known is a constant; a register, which may be written again, is not."""
    known = variant.row.name in ("pto.mask.all", "pto.mask.none")
    return [kit.FORMS[:2], kit.FORMS[2:]] if known else [kit.FORMS]


def forms(tool, rows):
    """The forms of an operation, si32 for i32, and mask<64> for mask<b32> are lowered to the same program."""
    compared = 0
    for kind, (bits, _) in model.TYPES.items():
        full, other = 2048 // bits, next(spelled for spelled, same in kit.fields("types.def", "SPELLED") if same == kind)
        made = [*every_form.variants(rows, kind, False), *(every_form.Variant(rows[name]) for name in sorted(every_form.MEMORY))]
        groups = [[(v, form, *shape) for form in some for shape in ((kind, full, f"b{bits}"), (kind, full, full), (other, full, full))]
                  for v in made for some in same_forms(v)]  # fmt: skip
        text = "".join(operation_alone(*one, f"f{g}_{k}") for g, group in enumerate(groups) for k, one in enumerate(group))
        lowered = programs_of(tool, text)
        for g, group in enumerate(groups):
            for k, (variant, form, spelled, _, mask) in enumerate(group):
                if lowered[f"f{g}_{k}"] != lowered[f"f{g}_0"]:
                    sys.exit(f"{variant.key} of {spelled} under mask<{mask}>, {form}: another program than of the first form\n{lowered[f'f{g}_{k}']}")
                compared += 1
        if len({lowered[f"f{g}_0"] for g in range(len(groups))}) != len(groups):
            sys.exit(f"{kind}: different operations have the same program")
    return f"{compared} programs"


# ---- Masks divide a computation --------------------------------------------------------------------------------------


def complement(tool, rows):
    """An operation under a mask and then under its complement, into one register, is the operation under the full mask."""
    compared, chance = 0, numpy.random.default_rng(3)
    for number, (kind, (bits, _)) in enumerate(model.TYPES.items()):
        for lanes, mask in ((3, 3), (200, 200), (2048 // bits, f"b{bits}")):
            f = Text(rows, kind, lanes, mask)
            f.line(f"%all = pto.mask.all : {f.m}")
            f.line(f"%not = pto.mask.not %m : {f.m} -> {f.m}")
            results = []
            for k, variant in enumerate(v for v in every_form.variants(rows, kind, False) if v.governed):
                for form in ("assembly", "DPS"):
                    outs = [(f"%{form}{k}_{i}", f.type_of(o)) for i, o in enumerate(variant.row.outs)]
                    whole = [(f"%all_{form}{k}_{i}", kind) for i, (_, kind) in enumerate(outs)]
                    for to, some in ((outs, "%m"), (outs, "%not"), (whole, "%all")):
                        names = [some if o.name == "mask" else {"a": "%a", "b": "%b", "odd": "%c"}[every_form.ROLES[o[:2]]] for o in variant.ins]
                        f.line(kit.spell(variant.row, form, variant.word, to, [(n, f.type_of(o)) for n, o in zip(names, variant.ins)]))
                    results += [pair for both in zip(outs, whole) for pair in both]
            source = tool.file("complement.pto", f.function([f"%a: {f.v}", f"%b: {f.v}", f"%m: {f.m}", f"%c: {f.m}"], results))
            length = 3 * lanes + 1000 // lanes * lanes - 1
            arrays = [(kind, noise(chance, kind, length)) for _ in range(2)] + [("u8", chance.random(length) < 0.5) for _ in range(2)]
            wanted = [("u8" if t == f.m else kind, length) for _, t in results]
            for inactive, overflow in (MODES[number % 4], MODES[(number + 1) % 4]):
                got = tool.run(source, "f", arrays, wanted, "--inactive", inactive, "--shift-overflow", overflow).arrays
                for i in range(0, len(got), 2):
                    kit.equal(f"{lanes}x{kind} {overflow}: {results[i][0]} and {results[i + 1][0]}", got[i], got[i + 1], source)
                    compared += length
    return f"{compared} elements"


# ---- Operations agree with each other ----------------------------------------------------------------------------------

A, B, C = "%a", "%b", "%c"
ONE = ("vshl", 1, B)
LAWS = [
    (("vsub", ("vadd", A, B), B), A),
    (("vneg", A), ("vsub", 0, A)),
    (("vneg", A), ("vadd", ("vnot", A), 1)),
    (("vnot", ("vand", A, B)), ("vor", ("vnot", A), ("vnot", B))),
    (("vxor", A, B), ("vsub", ("vor", A, B), ("vand", A, B))),
    (("vadd", A, B), ("vadd", ("vxor", A, B), ("vshl", ("vand", A, B), 1))),
    (("vadd", ("vmin", A, B), ("vmax", A, B)), ("vadd", A, B)),
    (("vmin", A, B), ("vsel", A, B, ("vcmp lt", A, B))),
    (("vmax", A, B), ("vsel", A, B, ("vcmp ge", A, B))),
    (("vmin", A, B), ("vnot", ("vmax", ("vnot", A), ("vnot", B)))),
    (("vmul", ("vadd", A, B), C), ("vadd", ("vmul", A, C), ("vmul", B, C))),
    (("vsel", A, B, ("vcmp eq", A, B)), B),
    (("vsel", 1, 0, ("vcmp ne", A, B)), ("vsel", 1, 0, ("mask.not", ("vcmp eq", A, B)))),
    (("vsel", 1, 0, ("vcmp lt", A, B)), ("vsel", 1, 0, ("vcmp gt", B, A))),
    (("vsel", 1, 0, ("vcmp le", A, B)), ("vsel", 0, 1, ("vcmp gt", A, B))),
    (("vsel", 1, 0, ("mask.xor", ("vcmp lt", A, B), ("vcmp lt", B, C))),
     ("vxor", ("vsel", 1, 0, ("vcmp lt", A, B)), ("vsel", 1, 0, ("vcmp lt", B, C)))),
    (("vsel", 1, 0, ("mask.not", ("mask.and", ("vcmp lt", A, B), ("vcmp lt", B, C)))),
     ("vsel", 1, 0, ("mask.or", ("mask.not", ("vcmp lt", A, B)), ("mask.not", ("vcmp lt", B, C))))),
]  # fmt: skip
SATURATED = [  # with counts of the width and more
    (("vmul", A, ONE), ("vshl", A, B)),
    (("vor", ("vshl", ("vshr", A, B), B), ("vand", A, ("vsub", ONE, 1))), A),
]
SIGNED = [
    (("vabs", A), ("vmax", A, ("vneg", A))),
    (("vshr", A, B), ("vnot", ("vshr", ("vnot", A), B))),
    (("vshr", A, 255), ("vneg", ("vsel", 1, 0, ("vcmp lt", A, 0)))),
]
UNSIGNED = [(("vabs", A), A), (("vsub", A, ("vand", A, ("vsub", ONE, 1))), ("vshl", ("vshr", A, B), B))]


def algebra(tool, rows):
    compared, chance = 0, numpy.random.default_rng(4)
    for kind, (bits, signed) in model.TYPES.items():
        modulo = [((op, A, B), (op, A, ("vand", B, bits - 1))) for op in ("vshr", "vshl")]
        saturated = SATURATED + (SIGNED if signed else UNSIGNED)
        f = Text(rows, kind, 24)
        laws = LAWS + saturated + modulo
        results = [(f.compute(side), f.v) for law in laws for side in law]
        carry = f.compute(("vaddc", A, B), 1)
        results += [(carry, f.m), (f.compute(("vcmp lt", ("vaddc", A, B), A)), f.m)]
        source = tool.file("algebra.pto", f.function([*(f"{x}: {f.v}" for x in (A, B, C)), f"%m: {f.m}"], results))
        pairs = kit.edges(kind, random.Random(kind))
        a, b = (numpy.concatenate([numpy.array([pair[k] for pair in pairs], kit.dtype(kind)), noise(chance, kind, 2000)]) for k in (0, 1))
        mask = chance.random(len(a)) < 0.7
        arrays = [(kind, a), (kind, b), (kind, noise(chance, kind, len(a))), ("u8", mask)]
        for inactive, overflow in MODES:
            options = ["--inactive", inactive, "--shift-overflow", overflow]
            got = tool.run(source, "f", arrays, [("u8" if t == f.m else kind, len(a)) for _, t in results], *options).arrays
            for i, law in enumerate(laws):
                if (law in modulo and overflow != "modulo") or (law in saturated and overflow == "modulo"):
                    continue
                kit.equal(f"{kind}, {overflow}: {law[0]} and {law[1]}", got[2 * i][mask], got[2 * i + 1][mask], source)
                compared += len(a)
            if not signed:
                kit.equal(f"{kind}: a carry and a sum below a", got[-2][mask], got[-1][mask], source)
    return f"{compared} elements"


LIMBS = 4


def long_sums(tool, rows):
    """Sums of numbers of four elements each: vaddc hands on what does not fit."""
    chance = random.Random(5)
    for kind, (bits, _) in model.TYPES.items():
        f = Text(rows, kind, 24)
        sums = [("vaddc", "%a0", "%b0")]
        names = [f.compute(sums[0])]
        for k in range(1, LIMBS):
            sums.append(("vaddc", f"%a{k}", f"%b{k}", f.compute(sums[-1], 1)))
            names.append(f.compute(sums[-1]))
        arguments = [f"%{x}{k}: {f.v}" for x in "ab" for k in range(LIMBS)] + [f"%m: {f.m}"]
        source = tool.file("sums.pto", f.function(arguments, [*((name, f.v) for name in names), (f.compute(sums[-1], 1), f.m)]))
        numbers = [[chance.getrandbits(LIMBS * bits) >> chance.randrange(LIMBS * bits) for _ in range(300)] for _ in range(2)]
        numbers[1][:50] = [2 ** (LIMBS * bits) - 1 - a for a in numbers[0][:50]]
        numbers[1][50:100] = [2 ** (LIMBS * bits) - a for a in numbers[0][50:100] if a] + [0] * numbers[0][50:100].count(0)
        limbs = [(kind, numpy.array([model.number(x >> k * bits, kind) for x in some], kit.dtype(kind))) for some in numbers for k in range(LIMBS)]
        got = tool.run(source, "f", [*limbs, ("u8", numpy.ones(300))], [(kind, 300)] * LIMBS + [("u8", 300)]).arrays
        for i, (a, b) in enumerate(zip(*numbers)):
            total = sum(int(got[k][i]) % 2**bits << k * bits for k in range(LIMBS)) + (int(got[LIMBS][i]) << LIMBS * bits)
            if total != a + b:
                sys.exit(f"{kind}: {a:#x} + {b:#x} is {total:#x}, not {a + b:#x}")
    return "8 types"


def repeated_shifts(tool, rows):
    """x shifted by a and then by b is x shifted by a + b, or by the greatest count where that does not fit: all three of 8 bits, all b and edges of others."""
    compared = 0
    for kind, (bits, _) in model.TYPES.items():
        f = Text(rows, kind, 64)
        f.line(f"%by = pto.vbroadcast %b : {kind} -> {f.v}")
        total = ("vsel", 2**bits - 1, ("vaddc", A, "%by"), f.compute(("vaddc", A, "%by"), 1))
        for op in ("vshr", "vshl"):
            twice, once = f.compute((op, (op, "%x", A), "%by")), f.compute((op, "%x", total))
            f.line(f"%{op} = pto.vcmp ne, {twice}, {once}, %m : ({f.v}, {f.v}, {f.m}) -> {f.m}")
            f.line(f"mask.or %bad, %bad, %{op} : {f.m}")
        counts = [0, 256, 1] if bits == 8 else [0, 2 * bits + 2, 1]
        head = [f"  %m = pto.mask.all : {f.m}", f"  mask.none %bad : {f.m}"]
        head += [f"  %c{i} = arith.constant {value} : index" for i, value in enumerate(counts)]
        cast = f"  %b = arith.index_cast %i : index to {kind}"
        f.lines = [*head, "  scf.for %i = %c0 to %c1 step %c2 {", cast, *f.lines, "  }"]
        source = tool.file("twice.pto", f.function([f"%x: {f.v}", f"{A}: {f.v}"], [("%bad", f.m)]))
        pairs = [(p >> 8, p & 255) for p in range(65536)] if bits == 8 else kit.edges(kind, random.Random(kind))
        arrays = [(kind, numpy.array([model.number(pair[k], kind) for pair in pairs], kit.dtype(kind))) for k in (0, 1)]
        bad = tool.run(source, "f", arrays, [("u8", len(pairs))]).arrays[0]
        if bad.any():
            sys.exit(f"{kind}: {pairs[int(bad.argmax())]} shifted twice is not what it is shifted once\n{source.read_text()}")
        compared += len(pairs) * counts[1]
    return f"{compared} combinations"


# ---- Arrays may be cut -----------------------------------------------------------------------------------------------


def elementwise(rows, kind, lanes):
    f = Text(rows, kind, lanes)
    sides = [side for law in LAWS + SATURATED for side in law if side != A and side != B]
    results = [(f.compute(side), f.v) for side in sides] + [(f.compute(("vcmp lt", A, B)), f.m), (f.compute(("vaddc", A, B), 1), f.m)]
    return f.function([*(f"{x}: {f.v}" for x in (A, B, C)), f"%m: {f.m}"], results), ["u8" if t == f.m else kind for _, t in results]


def whole_and_run(tool, rows, length, *options):
    """For each type what a run of all elements gives, and what runs those of any source from one element to another."""
    chance = numpy.random.default_rng(6)
    for number, kind in enumerate(model.TYPES):
        inactive, overflow = MODES[number % 4]
        text, kinds = elementwise(rows, kind, 16)
        arrays = [(kind, noise(chance, kind, length)) for _ in range(3)] + [("u8", chance.random(length) < 0.6)]

        def run(source, first, last, *options, kinds=kinds, arrays=arrays, inactive=inactive, overflow=overflow):
            some, wanted = [(k, x[first:last]) for k, x in arrays], [(k, last - first) for k in kinds]
            return tool.run(source, "f", some, wanted, "--inactive", inactive, "--shift-overflow", overflow, *options).arrays

        source = tool.file("whole.pto", text)
        yield kind, source, run(source, 0, length, *options), run


def cuts(tool, rows):
    """An array that is cut at any place and computed in two runs is as computed in one."""
    compared, length = 0, 53
    for number, (kind, source, whole, run) in enumerate(whole_and_run(tool, rows, length)):
        for at in range(1 + number % 2, length, 2):
            for k, (left, right) in enumerate(zip(run(source, 0, at), run(source, at, length))):
                kit.equal(f"{kind}, result {k}: cut at {at}", numpy.concatenate([left, right]), whole[k], source)
                compared += length
    return f"{compared} elements"


def widths_and_threads(tool, rows):
    """How wide registers are does not matter, nor how many threads there are."""
    compared, length = 0, 20000
    for kind, _, whole, run in whole_and_run(tool, rows, length, "--threads=1"):
        for lanes, threads in itertools.product((1, 16, 45, kit.LANES), (1, 3)):
            source = tool.file("wide.pto", elementwise(rows, kind, lanes)[0])
            for k, got in enumerate(run(source, 0, length, f"--threads={threads}")):
                kit.equal(f"{kind}, result {k}: {lanes} lanes, {threads} threads", got, whole[k], source)
                compared += length
    return f"{compared} elements"


def cuts_of_loops(tool, _):
    """The same of loops over memory, whose last round has a mask of the lanes that are left: %y has a row for each place where they are cut."""
    chance = numpy.random.default_rng(7)
    for number, (kind, lanes) in enumerate(itertools.product(("i8", "u16", "i32", "u64"), (5, 16, 130))):
        v, m, memory = f"!pto.vreg<{lanes}x{kind}>", f"!pto.mask<{lanes}>", f"memref<?x{kind}>"
        length = 2 * lanes + 7
        loop = """
    scf.for %{name} = {first} to {last} step %lanes {{
      %left = arith.subi {last}, %{name} : index
      %m = pto.mask.first %left : index -> {m}
      %x = pto.vload %xs[%{name}], %m : ({memory}, {m}) -> {v}
      vload %n, %ns[%{name}], %m : {v}
      vshr %r, %x, %n, %m : {v}
      %at = arith.addi %row, %{name} : index
      pto.vstore ins(%r, %m : {v}, {m}) outs(%y[%at] : {memory})
    }}"""
        loops = [loop.format(name=name, first=first, last=last, m=m, v=v, memory=memory) for name, first, last in (("i", "%c0", "%k"), ("j", "%k", "%length"))]
        text = f"""func.func @f(%xs: {memory}, %ns: {memory}, %y: {memory}, %length: index) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %lanes = arith.constant {lanes} : index
  %end = arith.addi %length, %c1 : index
  scf.for %k = %c0 to %end step %c1 {{
    %row = arith.muli %k, %length : index{''.join(loops)}
  }}
  return
}}
"""
        source = tool.file("loops.pto", text)
        x, n, y = noise(chance, kind, length), noise(chance, kind, length), noise(chance, kind, length * (length + 1))
        options = ["--shift-overflow", ("saturate", "modulo")[number % 2]]
        got = tool.run(source, "f", [(kind, x), (kind, n), (kind, y, "back"), ("i64", length)], [(kind, len(y))], *options).arrays[0].reshape(-1, length)
        if not (got == got[0]).all() or len({*got[0].tolist()}) < 3:
            sys.exit(f"{kind}, {lanes} lanes: cut at {int((got != got[0]).any(axis=1).argmax())} is not the same as in one\n{text}")
    return "12 loops"


LAW_NAMES = {law.__name__: law for law in (forms, complement, algebra, long_sums, repeated_shifts, cuts, widths_and_threads, cuts_of_loops)}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lanewise", default="build/bin/lanewise")
    parser.add_argument("--without", action="append", default=[], choices=LAW_NAMES)
    options = parser.parse_args()
    tool = kit.Tool(options.lanewise)
    rows = kit.rows(tool.path)
    for name, law in LAW_NAMES.items():
        if name not in options.without:
            print(f"{name}: {law(tool, rows)} at level {os.environ.get('LANEWISE_CPU', 'best')}", flush=True)


if __name__ == "__main__":
    main()
