#!/usr/bin/env python3
"""i8 and u8 exhaustively: pto.vshr and pto.vshl of all 65,536 pairs of value and count under all 256 masks of 8 lanes, each pair in each; under all
65,536 masks of 16 lanes, each pair in active and inactive lanes; with every --shift-overflow, and every --inactive. Where a large count traps, the first
one is named: of every mask and every large count. All pairs of the other operations, too, with NumPy's wrapping arithmetic as witness."""

import argparse
import itertools
import os
import random
import re
import sys

import kit
import model
from kit import numpy

KINDS, OPS = ("i8", "u8"), ("vshr", "vshl")
PAIRS = 65536
BYTES = [(numpy.arange(PAIRS) >> shift & 255).astype("u1") for shift in (0, 8)]  # count and value of each pair
MODES = [("zero", "saturate"), ("undef-poison", "modulo"), ("undef-poison", "saturate"), ("zero", "modulo"), ("zero", "trap"), ("undef-poison", "trap")]


def as_kind(kind, array):
    return array.astype("u1").view(kit.dtype(kind))


def table(kind, op, overflow):
    """What the operation makes of every pair."""
    return as_kind(kind, numpy.array([model.binary(op, kind, model.number(p >> 8, kind), model.number(p & 255, kind), overflow) % 256 for p in range(PAIRS)]))


class Shifts:
    """Both shifts for a type and a number of lanes, into a new destination and into a register that has values, in each form in turn."""

    def __init__(self, tool, kind, lanes, turn):
        v, m = f"!pto.vreg<{lanes}x{kind}>", f"!pto.mask<{lanes}>"
        lines, names = [f"  %all = pto.mask.all : {m}"], []
        for number, op in enumerate(OPS):
            old, new = f"%{op}_old", f"%{op}_new"
            forms = [f"{op} {{}}, %a, %b, %m : {v}", f"pto.{op} ins(%a, %b, %m : {v}, {v}, {m}) outs({{}} : {v})", f"{{}} = pto.{op} %a, %b, %m : ({v}, {v}, {m}) -> {v}"]
            lines += [f"  {forms[(number + turn) % 3].format(new)}", f"  vor {old}, %c, %c, %all : {v}", f"  {forms[(number + turn) % 2].format(old)}"]
            names += [new, old]
        head = f"func.func @f(%a: {v}, %b: {v}, %c: {v}, %m: {m}) -> ({', '.join([v] * len(names))}) {{"
        text = "\n".join([head, *lines, f"  return {', '.join(names)} : {', '.join([v] * len(names))}", "}", ""])
        self.tool, self.kind, self.source = tool, kind, tool.file("shifts.pto", text)

    def check(self, tables, pairs, mask, inactive, overflow):
        kind, (count, value) = self.kind, BYTES
        a, b = as_kind(kind, value[pairs]), as_kind(kind, count[pairs])
        c = as_kind(kind, (a.view("u1") ^ 0x5A) + b.view("u1"))
        arguments = [(kind, a), (kind, b), (kind, c), ("u8", mask)]
        options = ["--inactive", inactive, "--shift-overflow", overflow]
        done = self.tool.run(self.source, "f", arguments, 4 * [(kind, len(pairs))], *options)
        poison = a.dtype.type(0 if inactive == "zero" else model.poison(kind))
        for k, (op, otherwise) in enumerate(itertools.product(OPS, (poison, c))):
            kit.equal(f"{kind}, {op} {k % 2}, {options}", done.arrays[k], numpy.where(mask, tables[op][pairs], otherwise), self.source)
        large = int(numpy.count_nonzero((b.view("u1") >= 8) & mask))
        want = 4 * [("LW5106" if overflow == "modulo" else "LW5105", large)] if large else []
        if sorted(done.notes.values()) != want:
            sys.exit(f"{self.source}: {options} report {done.notes}, not {want[:1]} four times")
        return 4 * len(pairs)


def within(pairs, mask):
    """The same pairs, but active lanes have counts below the width: no trap."""
    return numpy.where(mask, pairs & ~0xF8, pairs)


def all_masks_of_8(chance):
    """In each part, all pairs under 16 masks, which lie next to others each time."""
    for first in range(0, 256, 16):
        pairs = numpy.concatenate([(numpy.arange(PAIRS) * (2 * int(k) + 1) + int(k)) % PAIRS for k in chance.integers(0, PAIRS, 16)])
        yield pairs, ((numpy.arange(first, first + 16)[:, None] >> numpy.arange(8)) & 1).astype(bool)[:, None, :].repeat(PAIRS // 8, 1).reshape(-1)


def all_masks_of_16():
    """Each pair 16 times: the low bits of a mask are turned over in every other one of them, the high bits count them."""
    number = numpy.arange(65536)
    masks = number ^ numpy.where(number >> 12 & 1, 0xFFF, 0)
    assert len(numpy.unique(masks)) == 65536
    pairs, mask = numpy.arange(16 * PAIRS) % PAIRS, ((masks[:, None] >> numpy.arange(16)) & 1).astype(bool).reshape(-1)
    for on in (mask, ~mask):
        assert len(numpy.unique(pairs[on])) == PAIRS
    return pairs, mask


def shifts(tool, kind):
    compared, chance = 0, numpy.random.default_rng(8)
    tables = {overflow: {op: table(kind, op, overflow) for op in OPS} for overflow in ("saturate", "modulo")}
    tables["trap"] = tables["saturate"]  # of what does not trap
    for part, (pairs, mask) in enumerate(all_masks_of_8(chance)):
        function = Shifts(tool, kind, 8, part)
        for turn, overflow in enumerate(tables):
            some = within(pairs, mask) if overflow == "trap" else pairs
            compared += function.check(tables[overflow], some, mask, ("zero", "undef-poison")[(part + turn) % 2], overflow)
    pairs, mask = all_masks_of_16()
    for turn, (inactive, overflow) in enumerate(MODES):
        some = within(pairs, mask) if overflow == "trap" else pairs
        compared += Shifts(tool, kind, 16, turn).check(tables[overflow], some, mask, inactive, overflow)
    return compared


# ---- The first trap --------------------------------------------------------------------------------------------------

FIRST = re.compile(r":(\d+):\d+: error\[LW5011\]: a shift by (\d+), where elements have 8 bits\n(?:.*\n){2} += function 'f', repeat (\d+), lane (\d+)")


def trapping(kind, op, number, constant):
    """One shift in the form that its number says, and the line where it is; by a constant or the counts of a register."""
    v, m = f"!pto.vreg<8x{kind}>", "!pto.mask<8>"
    count = f"  %one = arith.constant {model.number(constant, kind)} : {kind}\n  %n = pto.vbroadcast %one : {kind} -> {v}\n" if constant is not None else ""
    n = "%n" if count else "%b"
    forms = [f"%r = pto.{op} %a, {n}, %m : ({v}, {v}, {m}) -> {v}", f"{op} %r, %a, {n}, %m : {v}", f"pto.{op} ins(%a, {n}, %m : {v}, {v}, {m}) outs(%r : {v})"]
    head = f"func.func @f(%a: {v}, %b: {v}, %m: {m}) -> {v} {{\n{count}"
    return f"{head}  {forms[number % 3]}\n  return %r : {v}\n}}\n", head.count("\n") + 1


def traps(tool):
    """Small counts in active lanes and any in inactive ones, then a register whose mask is the number and whose counts are all large."""
    chance = random.Random(11)
    large = list(range(8, 256))
    chance.shuffle(large)
    for number in range(1, 256):
        kind, op = KINDS[number % 2], OPS[number // 2 % 2]
        clean = chance.randrange(40)
        mask = [chance.getrandbits(1) for _ in range(8 * clean)] + [number >> lane & 1 for lane in range(8)] + [1] * 100
        constant = large[number % 248] if number % 5 == 0 else None
        first = next(i for i, on in enumerate(mask) if on and (constant is not None or i >= 8 * clean))
        counts = [chance.randrange(8) if on and i < 8 * clean else chance.choice(large) for i, on in enumerate(mask)]
        counts[first] = large[number % 248]
        text, line = trapping(kind, op, number, constant)
        source = tool.file("trap.pto", text)
        values = numpy.array([chance.randrange(256) for _ in mask])
        arguments = [(kind, as_kind(kind, values)), (kind, as_kind(kind, numpy.array(counts))), ("u8", numpy.array(mask))]
        done = tool.run(source, "f", arguments, [0], "--shift-overflow", "trap", "--inactive", ("zero", "undef-poison")[number // 4 % 2], fails=True)
        found = FIRST.search(done.errors)
        want = (line, counts[first], first // 8, first % 8)
        if done.status != 3 or not found or tuple(map(int, found.groups())) != want:
            sys.exit(f"{text}mask {number:#x}: no trap at line, count, repeat, lane {want}\n{done.errors}")


# ---- Other operations ------------------------------------------------------------------------------------------------


def others(tool, kind):
    """All pairs under a random mask, in NumPy's words."""
    v, m = f"!pto.vreg<256x{kind}>", "!pto.mask<b8>"
    b, a = (as_kind(kind, some) for some in BYTES)
    ua, ub = (some.view("u1").astype("u4") for some in (a, b))
    chance = numpy.random.default_rng(256)
    mask, carry = chance.random(PAIRS) < 0.5, chance.random(PAIRS) < 0.5
    values = {"vand": a & b, "vor": a | b, "vxor": a ^ b, "vadd": a + b, "vsub": a - b, "vmul": a * b, "vmin": numpy.minimum(a, b), "vmax": numpy.maximum(a, b)}
    values |= {"vnot": ~a, "vneg": (0 - a.astype("i4")).astype(a.dtype), "vabs": numpy.abs(a)}
    masks = {"eq": a == b, "ne": a != b, "lt": a < b, "le": a <= b, "gt": a > b, "ge": a >= b}
    lines = [f"  {op} %{op}, %a, {'' if op in model.UNARY else '%b, '}%m : {v}" for op in values]
    lines += [f"  vcmp {word}, %{word}, %a, %b, %m : {v}" for word in masks]
    lines += [f"  vaddc %sum, %carry, %a, %b, %m : {v}", f"  vaddc %sum_in, %carry_in, %a, %b, %in, %m : {v}"]
    for name, total in (("", ua + ub), ("_in", ua + ub + carry)):
        values[f"sum{name}"], masks[f"carry{name}"] = as_kind(kind, total), total >= 256
    types = ", ".join([v] * len(values) + [m] * len(masks))
    head = f"func.func @f(%a: {v}, %b: {v}, %m: {m}, %in: {m}) -> ({types}) {{"
    text = "\n".join([head, *lines, f"  return {', '.join(f'%{name}' for name in (*values, *masks))} : {types}", "}", ""])
    source = tool.file(f"others{kind}.pto", text)
    for some in (mask, ~mask):
        results = [(kind, PAIRS)] * len(values) + [("u8", PAIRS)] * len(masks)
        done = tool.run(source, "f", [(kind, a), (kind, b), ("u8", some), ("u8", carry)], results)
        for (name, want), got in zip((*values.items(), *masks.items()), done.arrays):
            kit.equal(f"{kind}, {name}", got, numpy.where(some, want, 0), source)
    return 2 * PAIRS * (len(values) + len(masks))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lanewise", default="build/bin/lanewise")
    tool = kit.Tool(parser.parse_args().lanewise)
    compared = sum(shifts(tool, kind) + others(tool, kind) for kind in KINDS)
    traps(tool)
    print(f"{compared} elements compared at level {os.environ.get('LANEWISE_CPU', 'best')}")


if __name__ == "__main__":
    main()
