#!/usr/bin/env python3
"""Every operation of isa/pto in every form, for every element type, at widths from 1 lane to the largest, under masks from every source, into new
destinations and such that have values, with every choice of --inactive and --shift-overflow, against model.py. What isa/pto lists and this
does not know makes it fail."""

import collections
import functools
import itertools
import os
import random
import sys

import kit
import model
import programs
from kit import numpy

MODES = list(itertools.product(("zero", "undef-poison"), ("saturate", "modulo", "trap")))
NEW, OLD, ALIAS = "new", "old", "alias"

# ---- What operations mean --------------------------------------------------------------------------------------------

# x has a, b, c: elements; on, odd: the lane's bits of the governing mask and of another one; lane; scalar; count; bits: of a pattern; overflow.
LANE = {"pto.mask.first", "pto.mask.bits"}  # those depend on the lane, the others on elements and masks alone
MEMORY = {"pto.vload", "pto.vstore"}
MEANINGS = {
    **{f"pto.{op}": lambda kind, x, op=op: [model.binary(op, kind, x.a, x.b, x.overflow)] for op in model.BINARY},
    **{f"pto.{op}": lambda kind, x, op=op: [model.unary(op, kind, x.a)] for op in model.UNARY},
    "pto.vcmp": lambda kind, x: [model.compare(x.word, x.a, x.b)],
    "pto.vaddc": lambda kind, x: model.sum_and_carry(kind, x.a, x.b, x.odd and x.carries),
    "pto.vsel": lambda kind, x: [x.a if x.on else x.b],
    "pto.vbroadcast": lambda kind, x: [x.scalar],
    "pto.mask.all": lambda kind, x: [1],
    "pto.mask.none": lambda kind, x: [0],
    "pto.mask.first": lambda kind, x: [x.lane < x.count],
    "pto.mask.bits": lambda kind, x: [x.bits >> x.lane & 1],
    "pto.mask.and": lambda kind, x: [x.on and x.odd],
    "pto.mask.or": lambda kind, x: [x.on or x.odd],
    "pto.mask.xor": lambda kind, x: [x.on != x.odd],
    "pto.mask.not": lambda kind, x: [not x.on],
}
WORDS = {"pto.vcmp": list(model.WORDS), "pto.mask.bits": ["bits"]}  # what stands in front of the operands
ROLES = {  # what an operand of isa/pto gets
    ("lhs", ""): "a", ("src", ""): "a", ("value", ""): "a", ("rhs", ""): "b", ("value", "t"): "scalar", ("count", "i"): "count",
    ("mask", "m"): "on", ("select", "m"): "on", ("lhs", "m"): "on", ("src", "m"): "on", ("rhs", "m"): "odd", ("carry_in", "m"): "odd",
}  # fmt: skip
SHIFTS = ("pto.vshr", "pto.vshl")


class Variant:
    """An operation with its word, with or without what may be left out, and with a constant as its right operand, or without."""

    def __init__(self, row, word=None, carries=True, constant=None):
        self.row, self.word, self.constant = row, word, constant
        self.ins = [o for o in row.ins if carries or not o.optional]
        self.carries = carries
        self.governed = any(o.name == "mask" for o in row.ins)
        self.reads_masks = any(o.kind == "m" and o.name != "mask" for o in self.ins)
        self.key = (row.name, word, carries, constant)
        self.shifts = row.name in SHIFTS

    def is_large(self, bits):
        return self.shifts and self.constant is not None and self.constant % 2**bits >= bits


def variants(rows, kind, constants):
    """`constants`: those of right operands, too."""
    bits, _ = model.TYPES[kind]
    for name in MEANINGS:
        row = rows[name]
        for word in WORDS.get(name, [None]):
            yield Variant(row, word)
            if any(o.optional for o in row.ins):
                yield Variant(row, word, carries=False)
        if constants and name.removeprefix("pto.") in model.BINARY:
            for constant in (0, 1, bits - 1, bits, 2 * bits + 1, 2**bits - 1) if name in SHIFTS else (2**bits - 3,):
                yield Variant(row, constant=model.number(constant, kind))


X = collections.namedtuple("X", "a b on odd scalar overflow word carries lane count bits", defaults=(None, None, None))


class Elements:
    """Elements of one type: tuples a, b, c of whole numbers, and what each operation makes of each."""

    def __init__(self, kind):
        chance = random.Random(kind)
        self.kind = kind
        self.bits, _ = model.TYPES[kind]
        self.pairs = kit.edges(kind, chance)
        self.old = [model.number(chance.getrandbits(self.bits), kind) for _ in self.pairs]
        self.scalar = model.number(chance.getrandbits(self.bits), kind)
        self.tables = {}

    def columns(self, within):
        """Arrays of a, b, c; within: counts below the width alone."""
        numbers = [[a for a, _ in self.pairs], [b % self.bits if within else b for _, b in self.pairs], self.old]
        return [numpy.array(column, kit.dtype(self.kind)) for column in numbers]

    def results(self, variant, overflow):
        """For each result an array, by pair * 4 + bit of `odd` * 2 + bit of the governing mask."""
        if not variant.shifts and overflow != "trap":
            overflow = "any"
        key = (variant.key, overflow)
        if key not in self.tables:
            self.tables[key] = self.compute(variant, overflow)
        return self.tables[key]

    def compute(self, variant, overflow):
        meaning, values = MEANINGS[variant.row.name], []
        lanes = list(itertools.product((0, 1), (0, 1))) if variant.reads_masks else [(0, 0)]
        for a, b in self.pairs:
            b = variant.constant if variant.constant is not None else b % self.bits if overflow == "trap" else b
            made = [meaning(self.kind, X(a, b, on, odd, self.scalar, overflow, variant.word, variant.carries)) for odd, on in lanes]
            values += made * (4 // len(lanes))
        kinds = ["u1" if out.kind == "m" else kit.dtype(self.kind) for out in variant.row.outs]
        return [numpy.array(column, kind) for column, kind in zip(zip(*values), kinds)]


def constant_name(value):
    return f"%k{value}" if value >= 0 else f"%k_{-value}"


# ---- Functions -------------------------------------------------------------------------------------------------------


class Function:
    """The text of a function, and what each of its results is: variant, number of the result, source of the mask, destination."""

    def __init__(self, name, spelled, kind, lanes, mask):
        self.name, self.kind, self.lanes = name, kind, lanes
        self.element = spelled
        self.v, self.m = f"!pto.vreg<{lanes}x{spelled}>", f"!pto.mask<{mask}>"
        self.lines, self.results, self.shifts = [], [], []
        self.line(f"%all = pto.mask.all : {self.m}")

    def line(self, text):
        self.lines.append(f"  {text}")
        return len(self.lines) + 1  # the head is line 1

    def constant(self, name, value):
        self.line(f"{name}_one = arith.constant {value} : {self.element}")
        self.line(f"{name} = pto.vbroadcast {name}_one : {self.element} -> {self.v}")

    def copy(self, to, what, is_mask):
        self.line(f"mask.or {to}, {what}, {what} : {self.m}" if is_mask else f"vor {to}, {what}, {what}, %all : {self.v}")

    def type_of(self, kind):
        return {"": self.v, "m": self.m, "t": self.element, "i": "index", "mem": f"memref<?x{self.element}>"}[kind]

    def operand(self, variant, operand, mask):
        role = ROLES.get((operand.name, operand.kind))
        if role is None:
            sys.exit(f"{variant.row.name}: this test does not know what '{operand.name}:{operand.kind}' is")
        if role == "b" and variant.constant is not None:
            return constant_name(variant.constant)
        return {"on": mask}.get(role, f"%{role}")

    def destinations(self, variant, ins, way, number):
        """Prepares destinations that have values; returns their names, and the operands that are read where one of them is one."""
        names = []
        for k, out in enumerate(variant.row.outs):
            is_mask, name = out.kind == "m", f"%r{number}_{k}"
            if way == OLD and number % 2:  # an argument of the function is written
                name = "%old_mask" if is_mask else "%old"
            if way == OLD:
                self.copy(name, "%odd" if is_mask else "%c", is_mask)
            if way == ALIAS:
                same = [i for i, o in enumerate(variant.ins) if o.kind == out.kind]
                at = same[number % len(same)]
                self.copy(name, ins[at], is_mask)
                ins[at] = name
            names.append(name)
        return names

    def add(self, variant, form, way, source, mask, bits):
        number = len(self.results)
        word = f"{bits:#x}" if variant.word == "bits" else variant.word
        before = [self.operand(variant, o, mask) for o in variant.ins]
        ins = list(before)
        outs = self.destinations(variant, ins, way, number)
        kinds = [[self.type_of(o.kind) for o in some] for some in (variant.row.outs, variant.ins)]
        line = self.line(kit.spell(variant.row, form, word, list(zip(outs, kinds[0])), list(zip(ins, kinds[1]))))
        if variant.shifts:
            self.shifts.append((line, variant, source))
        for k, (name, out) in enumerate(zip(outs, variant.row.outs)):
            if name.startswith("%old"):
                self.copy(f"%r{number}_{k}", name, out.kind == "m")
            aliased = next((b for a, b in zip(ins, before) if a == name and way == ALIAS), None)
            self.results.append((f"%r{number}_{k}", variant, k, source, way, aliased, f"{form}, {way}"))

    def text(self, arguments):
        types = [self.m if variant.row.outs[k].kind == "m" else self.v for _, variant, k, *_ in self.results]
        head = f"func.func @{self.name}({', '.join(arguments)}) -> ({', '.join(types)}) {{"
        return "\n".join([head, *self.lines, f"  return {', '.join(name for name, *_ in self.results)} : {', '.join(types)}", "}", ""])


WAYS = [("SSA", NEW), ("SSA bare", NEW)] + [(form, way) for form in ("assembly", "DPS") for way in (NEW, OLD, ALIAS)]


def can_alias(variant):
    return all(any(o.kind == out.kind for o in variant.ins) for out in variant.row.outs)


class Case:
    """Functions for one spelling of an element type and one of a width: `dynamic` under masks that are arguments or computed, `constant` under
    masks that the text gives. `within` is `dynamic` without constant counts that trap."""

    def __init__(self, rows, elements, spelled, lanes, mask):
        self.elements, self.kind, self.lanes = elements, elements.kind, lanes
        self.what = f"{lanes}x{spelled} under mask<{mask}>"
        self.chance = numpy.random.default_rng(lanes)
        self.pattern = kit.patterns(lanes, self.chance, 3, 1)
        self.count = lanes // 2
        self.make = functools.partial(Function, spelled=spelled, kind=self.kind, lanes=lanes, mask=mask)
        self.rows = rows
        self.function = functools.lru_cache(None)(self.build)

    def build(self, name):
        f = self.make(name)
        self.constant(f) if name == "constant" else self.dynamic(f, name == "within")
        arguments = [f"%{a}: {f.v}" for a in ("a", "b", "c", "old", "chooses")] + [f"%{a}: {f.m}" for a in ("on", "odd", "old_mask")]
        return f, f.text([*arguments, f"%scalar: {f.element}", "%count: index"])

    def dynamic(self, f, within):
        made = [v for v in variants(self.rows, self.kind, True) if not (within and v.is_large(self.elements.bits))]
        for constant in sorted({v.constant for v in made if v.constant is not None}):
            f.constant(constant_name(constant), constant)
        f.constant("%zero", 0)
        f.line(f"%computed = pto.vcmp ne, %chooses, %zero, %all : ({f.v}, {f.v}, {f.m}) -> {f.m}")
        for variant, (form, way), (source, mask) in itertools.product(made, WAYS, (("on", "%on"), ("computed", "%computed"))):
            if form == "SSA bare" and source == "computed":
                continue
            if way != ALIAS or can_alias(variant):
                f.add(variant, form, way, source, mask, kit.bits_of(self.pattern[-1]))

    def constant(self, f):
        f.line(f"%none = pto.mask.none : {f.m}")
        for k in sorted({1, self.count}):
            f.line(f"%n{k} = arith.constant {k} : index")
            f.line(f"%first{k} = pto.mask.first %n{k} : index -> {f.m}")
        sources = {"%all": self.pattern[0], "%none": self.pattern[1]}
        sources |= {f"%first{k}": numpy.arange(self.lanes) < k for k in (1, self.count)}
        for i, pattern in enumerate(self.pattern):
            f.line(f"%bits{i} = pto.mask.bits {kit.bits_of(pattern):#x} : {f.m}")
            if i in (0, 2, 5, len(self.pattern) - 1):
                sources[f"%bits{i}"] = pattern
        self.sources = sources
        made = [v for v in variants(self.rows, self.kind, False) if any(ROLES[o[:2]] == "on" for o in v.ins)]
        for variant, (form, way), source in itertools.product(made, [("SSA", NEW), ("assembly", NEW), ("assembly", OLD), ("DPS", NEW), ("DPS", OLD)], sources):
            f.add(variant, form, way, source, source, 0)

    # ---- What a run must give

    def masks(self, name, length):
        """By source: what governs, over the whole array."""
        repeats = -(-length // self.lanes)
        if name == "constant":
            return {source: numpy.tile(pattern, repeats)[:length] for source, pattern in self.sources.items()}
        rows = kit.patterns(self.lanes, self.chance, max(4, min(self.lanes, 4096 // self.lanes)) + 1, 6)
        more = self.chance.random((max(repeats - len(rows), 0), self.lanes)) < 0.5
        rows = self.chance.permutation(numpy.concatenate([rows, more]))[:repeats]
        return {"on": rows.reshape(-1)[:length], "computed": numpy.roll(rows, 1, axis=0).reshape(-1)[:length]}

    def length(self, name):
        """More than all pairs, and a last register that is not full."""
        least = -(-2 * len(self.elements.pairs) // self.lanes)
        registers = max(least, 2 if name == "constant" else 28 if self.lanes < 512 else 3 + 8192 // self.lanes)
        return registers * self.lanes - self.lanes // 3

    def check(self, tool, name, inactive, overflow):
        elements, kind = self.elements, self.kind
        function, text = self.function(name)
        source = tool.file(f"{name}.pto", text)
        length = self.length(name)
        masks = self.masks(name, length)
        index = numpy.concatenate([self.chance.permutation(len(elements.pairs)) for _ in range(-(-length // len(elements.pairs)))])[:length]
        a, b, c = (column[index] for column in elements.columns(overflow == "trap"))
        odd = self.chance.random(length) < 0.5
        on = masks.get("on", odd)
        chooses = numpy.where(masks.get("computed", odd), self.chance.integers(1, 100, length), 0)
        arrays = [(kind, x) for x in (a, b, c, c, chooses)] + [("u8", x) for x in (on * self.chance.integers(1, 255, length), odd, odd)]
        wanted = [("u8" if v.row.outs[k].kind == "m" else kind, length) for _, v, k, *_ in function.results]
        options = ["--inactive", inactive, "--shift-overflow", overflow, *(["--target", "a5"] if self.lanes * elements.bits == 2048 else [])]
        done = tool.run(source, name, [*arrays, (kind, elements.scalar), ("i64", self.count)], wanted, *options)
        values = {"%a": a, "%b": b, "%c": c, "%odd": odd, "%on": on, "%computed": masks.get("computed")}
        constants = {variant.constant for _, variant, *_ in function.results} - {None}
        values |= {constant_name(k): numpy.full(length, k, kit.dtype(kind)) for k in constants}
        run = Run(self, masks, values, index, odd, inactive, overflow)
        for got, result in zip(done.arrays, function.results):
            run.compare(got, *result)
        run.compare_notes(done.notes, function.shifts, b)
        return length * len(function.results)


class Run:
    def __init__(self, case, masks, values, index, odd, inactive, overflow):
        self.case, self.masks, self.values, self.index, self.odd = case, masks, values, index, odd
        self.inactive, self.overflow = inactive, overflow
        self.places = {source: 4 * index + 2 * odd + mask for source, mask in masks.items()}
        self.known = {}

    def active(self, variant, k, source):
        """What the operation computes, for the whole array."""
        key = (variant.key, k, source)
        if key not in self.known:
            self.known[key] = self.lanes_of(variant) if variant.row.name in LANE else self.elements_of(variant, k, source)
        return self.known[key]

    def lanes_of(self, variant):
        case, bits = self.case, kit.bits_of(self.case.pattern[-1])
        made = [MEANINGS[variant.row.name](case.kind, X(*8 * [None], lane, case.count, bits))[0] for lane in range(case.lanes)]
        return numpy.resize(numpy.array(made, "u1"), len(self.index))

    def elements_of(self, variant, k, source):
        return self.case.elements.results(variant, self.overflow)[k][self.places[source]]

    def otherwise(self, way, is_mask, aliased):
        if way == OLD:
            return self.values["%odd" if is_mask else "%c"]
        if way == ALIAS:
            return self.values[aliased]
        return 0 if self.inactive == "zero" else 1 if is_mask else model.poison(self.case.kind)

    def compare(self, got, name, variant, k, source, way, aliased, spelled):
        want = self.active(variant, k, source)
        if variant.governed:
            want = numpy.where(self.masks[source], want, numpy.array(self.otherwise(way, variant.row.outs[k].kind == "m", aliased)).astype(got.dtype))
        if not numpy.array_equal(got, want):
            i = int(numpy.flatnonzero(got != want)[0])
            lane = {what.lstrip("%"): int(column[i]) for what, column in self.values.items() if what in ("%a", "%b", "%c", "%odd")}
            sys.exit(f"{self.case.what}, --inactive {self.inactive}, --shift-overflow {self.overflow}: {variant.key}, {spelled}, mask {source}: result {k} "
                     f"({name}), element {i} is {got[i]}, not {want[i]}: {lane}, mask {int(self.masks[source][i])}")  # fmt: skip

    def compare_notes(self, notes, shifts, b):
        bits, want = self.case.elements.bits, {}
        for line, variant, source in shifts if self.overflow != "trap" else ():
            counts = b if variant.constant is None else numpy.full(len(b), variant.constant, b.dtype)
            large = int(numpy.count_nonzero((counts.view(f"u{b.itemsize}") >= bits) & self.masks[source]))
            if large:
                want[line] = ("LW5105" if self.overflow == "saturate" else "LW5106", large)
        if notes != want:
            line = next(line for line in sorted({*notes, *want}) if notes.get(line) != want.get(line))
            sys.exit(f"{self.case.what}, --shift-overflow {self.overflow}: line {line} reports {notes.get(line)}, not {want.get(line)}")


# ---- Coverage ----------------------------------------------------------------------------------------------------------


def column(file, macro, number=0):
    return {row[number] for row in kit.fields(file, macro)}


def check_tables(rows):
    """Nothing that isa/pto lists is left out here."""
    scalars = {f"arith.{op}" for op in (*programs.OPS, *programs.OTHERS)} | set(programs.CONTROL)
    differences = {
        "operations": set(rows) ^ {*MEANINGS, *MEMORY, *scalars},
        "words of vcmp": column("words.def", "VCMP") ^ {*model.WORDS},
        "words of cmpi": column("words.def", "CMPI") ^ {*programs.WORDS},
        "element types": column("types.def", "SCALAR") ^ {*model.TYPES, "i1", "index", "f16", "bf16", "f32", "f64"},
        "--inactive": column("choices.def", "INACTIVE", 1) ^ {inactive for inactive, _ in MODES},
        "--shift-overflow": column("choices.def", "OVERFLOW", 1) ^ {overflow for _, overflow in MODES},
    }
    for what, difference in differences.items():
        if difference:
            sys.exit(f"{what}: isa/pto and this test differ in {', '.join(sorted(difference))}")


def main():
    options = kit.parser_of_shapes(__doc__).parse_args()
    tool = kit.Tool(options.lanewise)
    rows = kit.rows(tool.path)
    check_tables(rows)
    compared, elements = 0, {kind: Elements(kind) for kind in model.TYPES}
    for number, (spelled, kind, lanes, mask) in enumerate(kit.shapes(options.part)):
        case = Case(rows, elements[kind], spelled, lanes, mask)
        turn = MODES[number % 6 :] + MODES[: number % 6]
        for name, modes in (("dynamic", [turn[0], turn[4]]), ("constant", [turn[2]])):
            for inactive, overflow in MODES if lanes == 16 else modes:
                compared += case.check(tool, "within" if name == "dynamic" and overflow == "trap" else name, inactive, overflow)
    print(f"{compared} elements compared at level {os.environ.get('LANEWISE_CPU', 'best')}")


if __name__ == "__main__":
    main()
