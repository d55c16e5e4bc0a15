#!/usr/bin/env python3
"""pto.vload and pto.vstore in every form, for every element type, width and source of a mask, with results in memory: a loop goes over rows of arrays,
each under another mask. pto.mask.first takes every count on the way."""

import itertools
import os

import kit
import model
from kit import numpy

WAYS = [("SSA", False), ("SSA bare", False)] + [(form, old) for form in ("assembly", "DPS") for old in (False, True)]


class Case:
    """One function. Each of its slots is as many elements of %y in every round as a register has; a slot has an array of all rounds that says
    what must be there."""

    def __init__(self, rows, spelled, kind, lanes, mask, inactive):
        self.rows, self.kind, self.lanes, self.element = rows, kind, lanes, spelled
        self.v, self.m, self.memory = f"!pto.vreg<{lanes}x{spelled}>", f"!pto.mask<{mask}>", f"memref<?x{spelled}>"
        self.what = f"{lanes}x{spelled} under mask<{mask}>, --inactive {inactive}"
        self.chance = numpy.random.default_rng(lanes)
        self.otherwise = 0 if inactive == "zero" else model.poison(kind)
        self.masks = kit.patterns(lanes, self.chance, max(2, min(lanes, 2048 // lanes)) + 1, 4)
        self.rounds = max(len(self.masks), lanes + 3 if lanes <= 64 else 0)
        self.masks = numpy.resize(self.masks, (self.rounds, lanes))
        self.step = -(-(lanes + 3) // self.rounds)
        self.x, self.z, self.old = (self.noise() for _ in range(3))
        self.lines, self.slots = [], []

    def noise(self):
        bits, _ = model.TYPES[self.kind]
        return self.chance.integers(0, 2**bits, (self.rounds, self.lanes), f"u{bits // 8}").astype(kit.dtype(self.kind))

    def line(self, text):
        self.lines.append(f"    {text}")

    def spell(self, name, form, outs, ins, word=None):
        self.line(kit.spell(self.rows[name], form, word, outs, ins))

    def next_slot(self, want):
        """`want`: rows, or a function that makes them of what was in %y. Returns where the slot is."""
        number = len(self.slots)
        self.slots.append(want)
        self.line(f"%at{number + 1} = arith.addi %at{number}, %lanes : index")
        return f"%y[%at{number}]"

    def keep(self, value, want):
        self.line(f"vstore {value}, {self.next_slot(want)}, %all : {self.v}")

    def loads(self, source, mask):
        for form, old in WAYS:
            name = f"%l{len(self.slots)}"
            if old:
                self.line(f"vor {name}, %old, %old, %all : {self.v}")
            self.spell("pto.vload", form, [(name, self.v)], [("%x[%o]", f"memref<{self.x.size}x{self.element}>"), (source, self.m)])
            self.keep(name, numpy.where(mask, self.x, self.old if old else numpy.full_like(self.x, self.otherwise)))

    def stores(self, source, mask):
        for form in kit.FORMS:
            target = self.next_slot(lambda before: numpy.where(mask, self.z, before))
            self.spell("pto.vstore", form, [], [("%z", self.v), (target, self.memory), (source, self.m)])

    def counts(self):
        """Row r has count r * step - 1."""
        self.line("%steps = arith.muli %r, %step : index")
        self.line("%count = arith.subi %steps, %c1 : index")
        mask = numpy.arange(self.lanes) < (numpy.arange(self.rounds) * self.step - 1)[:, None]
        for form, old in WAYS:
            name = f"%f{len(self.slots)}"
            if old:
                self.line(f"mask.not {name}, %all : {self.m}")
            self.spell("pto.mask.first", form, [(name, self.m)], [("%count", "index")])
            self.line(f"vsel %s{name[1:]}, %z, %old, {name} : {self.v}")
            self.keep(f"%s{name[1:]}", numpy.where(mask, self.z, self.old))

    def text(self):
        some = self.masks[-1]
        sources = {"%m": self.masks, "%all": True, "%none": False, "%half": numpy.arange(self.lanes) < self.lanes // 2, "%bits": some}
        for source, mask in sources.items():
            mask = numpy.broadcast_to(mask, self.x.shape)
            self.loads(source, mask)
            self.stores(source, mask)
        self.counts()
        names = {"c0": 0, "c1": 1, "lanes": self.lanes, "stride": self.lanes * len(self.slots), "step": self.step, "middle": self.lanes // 2}
        head = [f"  %{name} = arith.constant {value} : index" for name, value in names.items()]
        full = f"({self.memory}, {self.m}) -> {self.v}"
        head += [
            f"  %zero_one = arith.constant 0 : {self.element}", f"  %zero = pto.vbroadcast %zero_one : {self.element} -> {self.v}",
            f"  %all = pto.mask.all : {self.m}", f"  %none = pto.mask.none : {self.m}", f"  %half = pto.mask.first %middle : index -> {self.m}",
            f"  %bits = pto.mask.bits {kit.bits_of(some):#x} : {self.m}", "  scf.for %r = %c0 to %rounds step %c1 {",
            "    %o = arith.muli %r, %lanes : index", "    %at0 = arith.muli %r, %stride : index",
            *(f"    %{name} = pto.vload %{where}[%o], %all : {full}" for name, where in (("chooses", "c"), ("z", "w"), ("old", "u"))),
            f"    %m = pto.vcmp ne, %chooses, %zero, %all : ({self.v}, {self.v}, {self.m}) -> {self.m}",
        ]  # fmt: skip
        arguments = [f"%x: memref<{self.x.size}x{self.element}>", *(f"%{name}: {self.memory}" for name in "ywuc"), "%rounds: index"]
        return "\n".join([f"func.func @f({', '.join(arguments)}) {{", *head, *self.lines, "  }", "  return", "}", ""])

    def check(self, tool, inactive):
        source = tool.file("memory.pto", self.text())
        before = numpy.stack([self.noise() for _ in self.slots], axis=1)
        chooses = numpy.where(self.masks, 7, 0)
        arguments = [(self.kind, self.x), (self.kind, before, "back"), *((self.kind, some) for some in (self.z, self.old, chooses)), ("i64", self.rounds)]
        got = tool.run(source, "f", arguments, [(self.kind, before.size)], "--inactive", inactive).arrays[0].reshape(before.shape)
        for number, want in enumerate(self.slots):
            want = want(before[:, number]) if callable(want) else want
            kit.equal(f"{self.what}: slot {number}, row by row", got[:, number].reshape(-1), want.reshape(-1), source)
        return got.size


def main():
    options = kit.parser_of_shapes(__doc__).parse_args()
    tool = kit.Tool(options.lanewise)
    rows, compared = kit.rows(tool.path), 0
    for shape, inactive in itertools.product(kit.shapes(options.part), ("zero", "undef-poison")):
        compared += Case(rows, *shape, inactive).check(tool, inactive)
    print(f"{compared} elements compared at level {os.environ.get('LANEWISE_CPU', 'best')}")


if __name__ == "__main__":
    main()
