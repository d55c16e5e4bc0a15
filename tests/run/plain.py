#!/usr/bin/env python3
"""Kernels without loops, of which whole warps go a plain way (src/run/jit/strand_plain.c): rows of all widths up and down, far apart and near, rings and
swizzles, blocks of one to three dimensions, branches forward one in another, and what they leave behind; buffers that begin and end with what is accessed. They
are made at random; what comes out is a model's of single threads, by both engines, with equal counts of instructions. The same with a buffer that is too short
by an element at either end, or is not aligned: a trap, of a thread and in a line that the model has, of one thread if there is only one. And accesses by
addresses that are made of one parameter have a number in common (`e=`).

    plain.py --lanewise LANEWISE [--library LIBLANEWISE] [--first SEED] [--count KERNELS]"""

import argparse
import ctypes
import itertools
import json
import os
import random
import re
import subprocess
import sys
import tempfile

W32, W64 = (1 << 32) - 1, (1 << 64) - 1
FEW = "LW_TEST_FEW" in os.environ  # another build has all of what this test tries
NO_ARGUMENT = 2
FAR, MIDDLE = 40, 1 << 39  # an address of the model: the number of its buffer and 1, above the distance
PERIOD = 4093
PATTERN = random.Random(5).randbytes(PERIOD) * 3
BLOCKS = ((1,), (31,), (32,), (33,), (64,), (96,), (100,), (128,), (160,), (256,), (16, 16), (8, 8), (32, 8), (48, 3), (4, 4, 4), (64, 2), (32, 1, 3), (16, 4), (2, 64), (1024,))
GRIDS = ((1,), (3,), (4,), (6,), (2, 3), (3, 1, 2), (1, 2, 2))  # a worker's first CTA finds out where buffers are


class Refused(Exception):
    """Threads meet, or an address is nobody's: no kernel for this test."""


class Trap(Exception):
    pass


def signed(x, bits):
    return x - (1 << bits) if x >> (bits - 1) & 1 else x


def two(bits):
    full = (1 << bits) - 1
    return {"add": lambda a, b: a + b & full, "sub": lambda a, b: a - b & full, "mul.lo": lambda a, b: a * b & full, "xor": lambda a, b: a ^ b, "and": lambda a, b: a & b,
            "or": lambda a, b: a | b, "min": min, "max": max, "shl": lambda a, b: a << b & full if b < bits else 0, "shr": lambda a, b: a >> b if b < bits else 0,
            "mad.lo": lambda a, b, c: a * b + c & full}


COMPARE = {"lt": lambda a, b: a < b, "le": lambda a, b: a <= b, "gt": lambda a, b: a > b, "ge": lambda a, b: a >= b, "eq": lambda a, b: a == b, "ne": lambda a, b: a != b}
DOES = {f"{name}.{'b' if name in ('xor', 'and', 'or', 'shl') else 'u'}{bits}": does for bits in (16, 32, 64) for name, does in two(bits).items()}
DOES |= {"mul.wide.u32": lambda a, b: a * b, "mul.wide.s32": lambda a, b: signed(a, 32) * signed(b & W32, 32) & W64, "mad.wide.u32": lambda a, b, c: a * b + c & W64,
         "mad.wide.s32": lambda a, b, c: signed(a, 32) * signed(b & W32, 32) + c & W64, "cvt.u64.u32": lambda a: a, "cvt.s64.s32": lambda a: signed(a, 32) & W64,
         "cvt.u32.u64": lambda a: a & W32, "cvt.u32.u16": lambda a: a, "cvt.u16.u32": lambda a: a & 65535, "rem.u32": lambda a, b: a % b, "mov.u32": lambda a: a,
         "mov.u64": lambda a: a, "selp.b32": lambda a, b, p: a if p else b, "and.pred": lambda a, b: a & b, "or.pred": lambda a, b: a | b, "not.pred": lambda a: a ^ 1,
         "mad.lo.s64": lambda a, b, c: a * b + c & W64, "add.s64": lambda a, b: a + b & W64, "sub.s64": lambda a, b: a - b & W64}
for _name, _does in COMPARE.items():
    DOES[f"setp.{_name}.u32"] = _does
    DOES[f"setp.{_name}.s32"] = lambda a, b, does=_does: does(signed(a, 32), signed(b & W32, 32))
    DOES[f"setp.{_name}.and.u32"] = lambda a, b, p, does=_does: does(a, b) and p
WIDTHS = {"u8": 1, "s8": 1, "u16": 2, "s16": 2, "u32": 4, "u64": 8}
BITS = {"%v": 32, "%i": 32, "%w": 64, "%d": 64, "%h": 16}


class Kernel:
    """Its text and, for the model, its code: made at once."""

    def __init__(self, rng):
        self.rng, self.lines, self.code, self.labels = rng, [], [], 0
        self.count = {"%v": 8, "%i": 0, "%w": 0, "%d": 3, "%h": 3, "%p": 6}
        self.unit, self.written, self.same, self.leaks = [], [], [], []
        self.block = list(rng.choice(BLOCKS)) + [1, 1]
        self.block, self.grid = self.block[:3], (list(rng.choice(GRIDS)) + [1, 1])[:3]
        if self.block == [1024, 1, 1]:
            self.grid = [1, 1, 1]
        self.threads = self.block[0] * self.block[1] * self.block[2]
        self.all = self.threads * self.grid[0] * self.grid[1] * self.grid[2]
        self.n = max(1, self.all - rng.choice((0, 0, 1, 7, 13, 33, 40, self.all // 3, self.all - 1)))
        self.guards, self.gathers, self.leaves = rng.random() < 0.1, rng.random() < 0.06, rng.random() < 0.05
        self.tame = rng.random() < 0.8  # addresses are rows, and what is stored lies close
        self.make()

    # ---- text and code

    def new(self, kind):
        self.count[kind] += 1
        return f"{kind}{self.count[kind] - 1}"

    def op(self, name, d, *read, guard=None):
        self.lines.append(f"{self.guard(guard)}{name} {', '.join(map(str, (d, *read)))};")
        self.code.append(("op", len(self.lines), guard, DOES[name], d, read))
        return d

    def guard(self, guard):
        return f"@{'!' if guard[1] else ''}{guard[0]} " if guard else ""

    def special(self, d, name):
        self.lines.append(f"mov.u32 {d}, {name};")
        self.code.append(("op", len(self.lines), None, DOES["mov.u32"], d, (name,)))
        return d

    def label(self):
        self.labels += 1
        return f"L{self.labels}"

    def put(self, label):
        self.lines.append(f"{label}:")
        self.code.append(("label", label))

    def jump(self, label, guard=None):
        self.lines.append(f"{self.guard(guard)}bra {label};")
        self.code.append(("bra", len(self.lines), guard, label))

    def buffer(self, unit, written=False, same=None):
        """A parameter; the same buffer as another one has, or one of its own."""
        k = len(self.unit)
        self.unit.append(unit), self.written.append(written), self.same.append(k if same is None else same)
        if same is not None:
            self.unit[same], self.written[same] = max(unit, self.unit[same]), self.written[same] or written
        return k

    # ---- addresses

    def index(self, inject):
        """A register with a number of the thread; in which each thread has its own."""
        rng, base = self.rng, self.rng.choice(("%g", "%g", "%g", "%x") if not inject else ("%g",))
        if not inject and rng.random() < 0.4:
            base = rng.choice(("%t", "%tx", "%ty", "%lane", "%t"))
        i, kind = self.new("%i"), rng.randrange(9 if inject or self.tame and rng.random() < 0.7 else 19)
        most = self.all + rng.choice((-1, 0, 3))
        if self.tame and inject and kind in (2, 4, 6) or self.tame and kind == 16:
            return base
        if kind <= 1:
            return base
        if kind == 2:
            return self.op("mul.lo.u32", i, base, rng.choice((2, 3, 4, 5, 8, 16)))
        if kind == 3:
            return self.op("sub.u32", i, most, base)
        if kind == 4:
            self.op("mul.lo.u32", i, base, rng.choice((2, 3, 4)))
            return self.op("sub.u32", self.new("%i"), 4 * most, i)
        if kind == 5:
            return self.op("xor.b32", i, base, rng.choice((1, 3, 7, 16, 31, 5)))
        if kind == 6:
            return self.op("shl.b32", i, base, rng.choice((1, 2, 3)))
        if kind == 7 and inject:
            self.op("mul.lo.u32", i, "%gy", self.block[0] * self.grid[0] + rng.choice((0, 1, 3, 16)))
            return self.op("add.u32", self.new("%i"), i, "%x")
        if kind in (7, 8):
            return self.op("add.u32", i, base, rng.choice((1, 5, 64)))
        if kind == 9:
            return self.op("and.b32", i, base, rng.choice((1, 3, 7, 15, 31, 63, 12, 24)))
        if kind == 10:
            self.op("add.u32", i, base, rng.choice((1, 3, 16, 17)))
            return self.op("and.b32", self.new("%i"), i, rng.choice((7, 15, 31, 63)))
        if kind == 11:
            return self.op("shr.u32", i, base, rng.choice((1, 2, 3, 4, 5)))
        if kind == 12:
            return self.op("or.b32", i, base, rng.choice((1, 8, 3, 32)))
        if kind == 13:
            return self.op("rem.u32", i, base, rng.choice((3, 7, 8, 32)))
        if kind == 14:
            self.op("shr.u32", i, base, 3)
            self.op("and.b32", self.new("%i"), base, 7)
            return self.op("xor.b32", self.new("%i"), i, f"%i{self.count['%i'] - 2}")
        if kind == 15:
            return rng.choice(("%cx", "%one"))
        if kind == 16:
            self.op("and.b32", i, base, 7)
            self.op("shl.b32", self.new("%i"), i, 3)
            return self.op("or.b32", self.new("%i"), f"%i{self.count['%i'] - 2}", "%ty")
        if kind == 17:
            return self.op("mad.lo.u32", i, "%ty", rng.choice((16, 17, 33, 64)), "%tx")
        if self.gathers:
            return self.op("and.b32", i, f"%v{rng.randrange(8)}", 63)
        return self.op("mad.lo.u32", i, "%cx", rng.choice((8, 32)), "%tx")

    def address(self, buffer, each, inject, index=None):
        rng, at = self.rng, f"%b{buffer}"
        index = index or self.index(inject)
        steps = ((1,) if each < 4 else (1, 1, 2, 4)) if self.tame and inject else (1, 1, 1, 1, 2, 2, 3, 4, 4, 8, 16)
        step, w, a = each * rng.choice(steps), self.new("%w"), self.new("%w")
        if rng.random() < 0.15:
            return self.op("add.s64", a, self.op("mul.wide.s32", w, index, -step), at)
        kind = rng.randrange(9)
        if kind == 0:
            return self.op(rng.choice(("mad.wide.u32", "mad.wide.s32")), a, index, step, at)
        if kind == 1:
            w = self.op("shl.b64", self.new("%w"), self.op("cvt.u64.u32", w, index), step.bit_length() - 1)
        elif kind == 2:
            w = self.op("cvt.u64.u32", w, self.op("mul.lo.u32", self.new("%i"), index, step))
        elif kind == 3:
            return self.op("mad.lo.s64", a, self.op("cvt.s64.s32", w, index), step, at)
        elif kind == 4:
            return self.op("sub.s64", a, at, self.op("mul.wide.u32", w, index, step))
        elif kind == 5 and buffer:
            w = self.op("add.s64", self.new("%w"), self.op("mul.wide.u32", w, index, step), "%b0")
            return self.op("sub.s64", a, self.op("add.s64", self.new("%w"), w, at), "%b0")
        elif kind == 6 and buffer:
            w = self.op("add.s64", self.new("%w"), self.op("mul.wide.u32", w, index, step), self.op("sub.s64", self.new("%w"), at, "%b0"))
            at = "%b0"
        else:
            self.op(rng.choice(("mul.wide.u32", "mul.wide.s32")), w, index, step)
        return self.op("add.s64", a, *((at, w) if rng.random() < 0.5 else (w, at)))

    def access(self, load, form, parts, address, offset, registers, guard=None):
        text = "{" + ", ".join(registers) + "}" if parts > 1 else registers[0]
        vector, place = f".v{parts}" if parts > 1 else "", f"[{address}{f'+{offset}' if offset else ''}]"
        first, second = (text, place) if load else (place, text)
        self.lines.append(f"{self.guard(guard)}{'ld' if load else 'st'}.global{vector}.{form} {first}, {second};")
        self.code.append(("ld" if load else "st", len(self.lines), guard, address, offset, WIDTHS[form], form[0] == "s", registers))

    def shape(self):
        form, parts = self.rng.choice(tuple(WIDTHS)), self.rng.choice((1, 1, 1, 1, 2, 4))
        return form, 1 if form == "u64" and parts == 4 else parts

    def results(self, form, parts):
        kind = "%d" if form == "u64" else "%h" if form in ("u8", "u16", "s8") and self.rng.random() < 0.3 else "%v"
        if parts > self.count[kind]:
            kind = "%v"
        return kind, self.rng.sample([f"{kind}{k}" for k in range(self.count[kind])], parts)

    # ---- statements

    def predicate(self):
        rng, p = self.rng, f"%p{self.rng.randrange(6)}"
        kind, compare = rng.randrange(9), rng.choice(tuple(COMPARE))
        if kind <= 1:
            self.op(f"setp.{compare}.u32", p, "%g", rng.choice(("%n", rng.randrange(self.all + 1))))
        elif kind == 2:
            self.op(f"setp.{compare}.{rng.choice('us')}32", p, rng.choice(("%t", "%x", "%tx", "%ty", "%lane")), rng.choice((0, 1, 5, 16, 31, 32, 63)))
        elif kind <= 4:
            self.op("setp." + compare + ".u32", p, self.op("and.b32", self.new("%i"), f"%v{rng.randrange(8)}", rng.choice((1, 3, 7))), rng.choice((0, 1, 2)))
        elif kind == 5:
            self.op("setp." + compare + ".u32", p, rng.choice(("%cx", "%one")), rng.choice((0, 1, 2)))
        elif kind == 6:
            self.op(f"setp.{compare}.and.u32", p, "%g", rng.randrange(self.all + 1), f"%p{rng.randrange(6)}")
        elif kind == 7:
            self.op(rng.choice(("and.pred", "or.pred")), p, f"%p{rng.randrange(6)}", f"%p{rng.randrange(6)}")
        else:
            self.op("setp." + compare + ".u32", p, self.op("and.b32", self.new("%i"), "%t", rng.choice((1, 6, 16, 3))), 0)
        return p, rng.random() < 0.5

    def compute(self):
        rng = self.rng
        v = [f"%v{k}" for k in range(8)]
        guard = self.predicate() if self.guards and rng.random() < 0.4 else None
        kind = rng.randrange(9)
        if kind <= 3:
            name = rng.choice(("add.u32", "sub.u32", "mul.lo.u32", "xor.b32", "and.b32", "or.b32", "min.u32", "max.u32"))
            self.op(name, rng.choice(v), rng.choice(v), rng.choice((*v, 3, 77, "%g", "%tx", "%cx", "%n")), guard=guard)
        elif kind == 4:
            self.op(rng.choice(("shl.b32", "shr.u32")), rng.choice(v), rng.choice(v), rng.randrange(32), guard=guard)
        elif kind == 5:
            self.op("mov.u32", rng.choice(v), rng.choice(("%n", "%cx", "%g", 9, "%t", "%one")), guard=guard)
        elif kind == 8:  # wide in some lanes, where the number goes below 0 or above the highest one
            i = self.op("sub.u32", self.new("%i"), rng.choice(("%g", "%t", "%x")), rng.choice((1, 5, 17, 40, 0x7ffffff0)))
            wide, read = rng.choice((("cvt.u64.u32", (i,)), ("cvt.s64.s32", (i,)), ("mul.wide.u32", (i, 4)), ("mul.wide.s32", (i, 8)), ("mad.wide.u32", (i, 2, "%b0"))))
            x, w = self.op(wide, self.new("%w"), *read), self.new("%w")
            x = self.op("sub.s64", w, x, "%b0") if len(read) == 3 else x
            x = self.op("shr.u64", self.new("%w"), x, rng.choice((1, 30, 32)))
            self.op("mad.lo.u32", rng.choice(v), rng.choice(v), 31, self.op("cvt.u32.u64", self.new("%i"), x))
        elif kind == 6:
            self.op("selp.b32", rng.choice(v), rng.choice(v), rng.choice(v), self.predicate()[0], guard=guard)
        else:
            i = self.new("%i")
            self.op(rng.choice(("mad.lo.u32",)), i, rng.choice(("%t", "%cx", "%n", "%x")), rng.choice((1, 3, 4)), rng.choice((0, 7, "%one")), guard=guard)
            self.leaks.append(i)

    def load(self, seen):
        rng, guard = self.rng, self.predicate() if self.guards and self.rng.random() < 0.4 else None
        if seen and rng.random() < 0.4:  # by an address that is there
            address, form, parts = rng.choice(seen)
        else:
            form, parts = self.shape()
            each = WIDTHS[form] * parts
            mine = [k for k, unit in enumerate(self.unit) if not self.written[self.same[k]]]
            buffer = rng.choice(mine) if len(self.unit) > 6 and mine else self.buffer(each)
            self.unit[self.same[buffer]] = max(self.unit[self.same[buffer]], each)
            address = self.address(buffer, each, False)
            seen.append((address, form, parts))
        offset = WIDTHS[form] * parts * rng.choice((0, 0, 0, 1, 2, 3, -1, -4))
        kind, registers = self.results(form, parts)
        self.access(True, form, parts, address, offset, registers, guard)
        for r in registers if kind != "%v" else ():
            self.op("mad.lo.u32", f"%v{rng.randrange(8)}", f"%v{rng.randrange(8)}", 31, self.op(f"cvt.u32.u{BITS[kind]}", self.new("%i"), r))

    def store(self, own):
        """To what is the thread's own: it may have read it before, and read it again."""
        rng, guard = self.rng, self.predicate() if self.guards and self.rng.random() < 0.4 else None
        if not own or rng.random() < 0.5:
            form, parts = self.shape()
            each = WIDTHS[form] * parts
            buffer = self.buffer(each, True)
            address = self.address(buffer, each, True)
            own.append((address, form, parts, each * rng.choice((0, 0, 1, -3))))
            if rng.random() < 0.3:  # by another parameter, for the same places
                other = self.buffer(each, True, buffer)
                again = self.op("sub.s64", self.new("%w"), address, f"%b{buffer}")
                own.append((self.op("add.s64", self.new("%w"), again, f"%b{other}"), *own[-1][1:]))
        address, form, parts, offset = rng.choice(own)
        for load in rng.choice(((False,), (True, False), (False, True), (True, False, True))):
            kind, registers = self.results(form, parts)
            if load:
                self.access(True, form, parts, address, offset, registers, guard)
                continue
            for r in registers if kind != "%v" else ():
                if kind == "%d":
                    self.op("mad.lo.s64", r, self.op("cvt.u64.u32", self.new("%w"), f"%v{rng.randrange(8)}"), 1234567891011, r)
                else:
                    self.op("cvt.u16.u32", r, f"%v{rng.randrange(8)}")
            self.access(False, form, parts, address, offset, registers, guard)

    def region(self, depth, ends, seen, own):
        rng, seen, own = self.rng, seen[:], own[:]
        for _ in range(rng.randrange(1, 5 if depth > 1 else 4)):
            kind = rng.randrange(12)
            if kind <= 3:
                self.load(seen)
            elif kind <= 5:
                self.store(own)
            elif kind <= 8 or not depth:
                self.compute()
            elif kind == 9:
                self.jump(rng.choice(ends), self.predicate())
            elif kind == 10:
                end = self.label()
                self.jump(end, self.predicate())
                self.region(depth - 1, [*ends, end], seen, own)
                self.put(end)
            else:
                other, end = self.label(), self.label()
                self.jump(other, self.predicate())
                self.region(depth - 1, [*ends, end], seen, own)
                self.jump(end)
                self.put(other)
                self.region(depth - 1, [*ends, end], seen, own)
                self.put(end)
            if self.leaves and rng.random() < 0.2:
                self.jump("GONE", self.predicate())

    def wrapped(self):
        """An index that goes below 0 in lanes that do not execute the access."""
        rng, end, less = self.rng, self.label(), self.rng.choice((1, 5, 17, 40))
        i = self.op("sub.u32", self.new("%i"), "%g", less)
        buffer = self.buffer(4)
        address = self.address(buffer, 4, False, i)
        self.op("setp.lt.u32", "%p0", "%g", less)
        self.jump(end, ("%p0", False))
        self.access(True, "u32", 1, address, 0, ["%v1"])
        self.put(end)

    def make(self):
        rng = self.rng
        for register, name in (("%tx", "%tid.x"), ("%ty", "%tid.y"), ("%tz", "%tid.z"), ("%nx", "%ntid.x"), ("%ny", "%ntid.y"), ("%nz", "%ntid.z"), ("%cx", "%ctaid.x"),
                               ("%cy", "%ctaid.y"), ("%cz", "%ctaid.z"), ("%mx", "%nctaid.x"), ("%my", "%nctaid.y"), ("%lane", "%laneid")):
            self.special(register, name)
        mad = "mad.lo.u32"
        self.op(mad, "%s0", "%tz", "%ny", "%ty"), self.op(mad, "%t", "%s0", "%nx", "%tx"), self.op(mad, "%x", "%cx", "%nx", "%tx")
        self.op(mad, "%s1", "%cz", "%my", "%cy")
        if self.block[1] * self.block[2] * self.grid[1] * self.grid[2] == 1 and rng.random() < 0.7:
            self.op("mov.u32", "%g", "%x"), self.op("mov.u32", "%gy", 0)
        else:
            self.op(mad, "%s2", "%s1", "%mx", "%cx"), self.op("mul.lo.u32", "%s3", "%nx", "%ny"), self.op("mul.lo.u32", "%s4", "%s3", "%nz"), self.op(mad, "%g", "%s2", "%s4", "%t")
            self.op(mad, "%s5", "%s1", "%nz", "%tz"), self.op(mad, "%gy", "%s5", "%ny", "%ty")
        for k in range(8):  # what is never written is nobody's: a register with one number has it everywhere
            self.op("mov.u32", f"%v{k}", rng.choice((k, k, "%g", "%t", "%n", "%cx")))
        for k in range(6):
            self.op("setp.ne.u32", f"%p{k}", "%one", 1)
        out, seen, own = self.buffer(4, True), [], []
        self.address(out, 4, True, "%g")
        self.written[out] = True
        to = f"%w{self.count['%w'] - 1}"
        if rng.random() < 0.6:
            self.op("setp.ge.u32", "%p1", "%g", "%n")
            self.jump("DONE", ("%p1", False))
        if rng.random() < 0.15:
            self.wrapped()
        if rng.random() < 0.05:
            for _ in range(40):
                self.load([])
        self.region(2, ["DONE"], seen, own)
        if rng.random() < 0.3:
            self.region(1, ["DONE"], seen, own)
        if rng.random() < 0.5:
            self.put("DONE")
        for k in range(8):
            self.op(mad, "%sum", "%sum", 31, f"%v{k}")
        for i in rng.sample(self.leaks, min(4, len(self.leaks))):
            self.op(mad, "%sum", "%sum", 31, i)
        self.access(False, "u32", 1, to, 0, ["%sum"])
        if ("label", "DONE") not in self.code:
            self.put("DONE")
        self.put("GONE")

    # ---- what comes out

    def threads_of(self):
        """Registers that each begins with, in the order of the threads."""
        (nx, ny, nz), (mx, my, mz) = self.block, self.grid
        for c in range(mx * my * mz):
            for t in range(nx * ny * nz):
                yield {"%tid.x": t % nx, "%tid.y": t // nx % ny, "%tid.z": t // nx // ny, "%ntid.x": nx, "%ntid.y": ny, "%ntid.z": nz, "%ctaid.x": c % mx,
                       "%ctaid.y": c // mx % my, "%ctaid.z": c // mx // my, "%nctaid.x": mx, "%nctaid.y": my, "%laneid": t % 32}

    def model(self, bounds=None):
        """Bounds: from there to there each buffer goes. What is written, and of a trap of each thread: its line."""
        labels = {item[1]: k for k, item in enumerate(self.code) if item[0] == "label"}
        self.low, self.high, self.stored, owner, traps = {}, {}, {}, {}, []
        names = (((item[4], *item[5]) if item[0] == "op" else (item[3], *item[7])) for item in self.code if item[0] in ("op", "ld", "st"))
        used = sorted({name for each in names for name in each if str(name)[0] == "%"})
        zero = dict.fromkeys(used, 0) | {"%one": 1, "%n": self.n}
        zero |= {f"%p{k}": 0 for k in range(6)} | {f"%b{k}": (self.same[k] + 1 << FAR) + MIDDLE for k in range(len(self.unit))}
        for number, own in enumerate(self.threads_of()):
            r, at = zero | own, 0
            try:
                while at < len(self.code):
                    item = self.code[at]
                    at += 1
                    if item[0] == "label" or (item[2] and bool(r[item[2][0]]) == item[2][1]):
                        continue
                    if item[0] == "op":
                        r[item[4]] = int(item[3](*[r[x] if type(x) is str else x for x in item[5]]))
                    elif item[0] == "bra":
                        at = labels[item[3]]
                    else:
                        self.go(r, item, number, owner, bounds)
            except Trap:
                traps.append((self.place(own), item[1]))
        return traps

    def place(self, own):
        return tuple(own[f"%ctaid.{c}"] for c in "xyz"), tuple(own[f"%tid.{c}"] for c in "xyz")

    def go(self, r, item, number, owner, bounds):
        kind, _, _, address, offset, each, is_signed, registers = item
        at = r[address] + offset
        buffer, away, size = (at >> FAR) - 1, (at & (1 << FAR) - 1) - MIDDLE, each * len(registers)
        if not 0 <= buffer < len(self.unit) or self.same[buffer] != buffer or abs(away) > 1 << 22:
            raise Refused
        if bounds and (away < bounds[buffer][0] or away + size > bounds[buffer][1] or (away - bounds[buffer][0]) % size):
            if kind == "ld" and bounds[buffer][0] <= away < bounds[buffer][1] and not (away - bounds[buffer][0]) % size:
                raise Refused  # it may read what is behind the end, up to a multiple of its size
            raise Trap
        if away < self.low.get(buffer, 1 << FAR):
            self.low[buffer] = away
        if away + size > self.high.get(buffer, -1 << FAR):
            self.high[buffer] = away + size
        if kind == "st" and not self.written[buffer]:
            raise Refused
        if self.written[buffer]:
            for k in range(away, away + size):
                if owner.setdefault((buffer, k), number) != number:
                    raise Refused
        for k, register in enumerate(registers):
            to = away + k * each
            if kind == "st":
                for byte in range(each):
                    self.stored[buffer, to + byte] = r[register] >> 8 * byte & 255
                continue
            if self.written[buffer]:
                value = int.from_bytes(bytes(self.stored.get((buffer, to + b), self.content(buffer, to + b, 1)[0]) for b in range(each)), "little")
            else:
                value = int.from_bytes(self.content(buffer, to, each), "little")
            full = (1 << BITS[register[:2]]) - 1
            r[register] = signed(value, 8 * each) & full if is_signed else value

    @staticmethod
    def content(buffer, at, size):
        first = (at + buffer * 997) % PERIOD
        return PATTERN[first:first + size] if size <= PERIOD else (PATTERN[first:first + PERIOD] * (size // PERIOD + 1))[:size]

    def bounds(self):
        """What is accessed, from a multiple of the largest access on."""
        return {k: (self.low.get(k, 0) // self.unit[k] * self.unit[k], self.high.get(k, 1)) for k in range(len(self.unit)) if self.same[k] == k}

    def image(self, buffer, bounds):
        low, high = bounds[buffer]
        image = bytearray(self.content(buffer, low, high - low))
        for (of, at), byte in self.stored.items():
            if of == buffer:
                image[at - low] = byte
        return bytes(image)

    def text(self, bounds):
        buffers = range(len(self.unit))
        lines = [".version 7.0", ".target sm_70", ".address_size 64", f".visible .entry k({', '.join(f'.param .u64 a{k}' for k in buffers)}, .param .u32 n, .param .u32 one)", "{"]
        many = ", ".join(f"{kind}<{count + 1}>" for kind, count in self.count.items() if kind in ("%v", "%i"))
        lines.append(f".reg .b32 {many}, %s<6>, %sum, %n, %one, %t, %x, %g, %gy, %tx, %ty, %tz, %nx, %ny, %nz, %cx, %cy, %cz, %mx, %my, %lane; .reg .pred %p<6>;")
        lines.append(f".reg .b64 %w<{self.count['%w'] + 1}>, %d<3>, %a<{len(buffers)}>, %b<{len(buffers)}>; .reg .b16 %h<3>;")
        for k in buffers:
            less = bounds[self.same[k]][0]
            lines.append(f"ld.param.u64 %a{k}, [a{k}]; add.s64 %b{k}, %a{k}, {-less};" if less else f"ld.param.u64 %b{k}, [a{k}];")
        lines.append("ld.param.u32 %n, [n]; ld.param.u32 %one, [one];")
        self.before = len(lines)
        return "\n".join([*lines, *self.lines, "ret;", "}", ""])


# ---- Runs


def run(tool, level, kernel, bounds, folder, workers=1):
    text = kernel.text(bounds)
    engine, cpu = level
    command = [tool, "run", "-q", "--stats=json", "--engine", engine, "--cpu", cpu, "--threads", str(workers), "--language", "ptx", "-g", ",".join(map(str, kernel.grid)),
               "-b", ",".join(map(str, kernel.block))]
    for k, same in enumerate(kernel.same):
        if same != k:
            command += ["-a", f"u8[]=&{same}"]
            continue
        low, high = bounds[k]
        if high <= low:
            return None, text
        with open(os.path.join(folder, f"in{k}"), "wb") as file:
            file.write(Kernel.content(k, low, high - low))
        command += ["-a", f"u8[]=@{folder}/in{k}" + (f":out={folder}/out{k}" if kernel.written[k] else "")]
    return execute([*command, "-a", f"u32={kernel.n}", "-a", "u32=1", "-"], text), text


def is_right(done, kernel, bounds, folder):
    if done.returncode:
        return False
    for k in bounds:
        if kernel.written[k]:
            with open(f"{folder}/out{k}", "rb") as file:
                if file.read() != kernel.image(k, bounds):
                    return False
    return True


def counts(done):
    stats = json.loads(done.stderr.splitlines()[0])
    return stats["warp_instructions"], stats["lane_instructions"]


def trap_of(done, kernel):
    """Its CTA, thread and line of the kernel's own."""
    found = re.search(r":(\d+):\d+: error\[LW500[01]\]", done.stderr)
    thread = re.search(r"CTA \((\d+),(\d+),(\d+)\), thread \((\d+),(\d+),(\d+)\)", done.stderr)
    if done.returncode != 3 or not found or not thread:
        return None
    place = tuple(map(int, thread.groups()))
    return (place[:3], place[3:]), int(found[1]) - kernel.before


class Test:
    def __init__(self, tool, folder, levels):
        self.tool, self.folder, self.levels, self.runs, self.failed = tool, folder, levels, 0, 0

    def some(self, number):
        """The interpreter, and the best level's compiled code or, one time in three, another level's."""
        compiled = self.levels[1:]
        return (self.levels[0], compiled[len(compiled) - 1 if number % 3 == 2 else 0])

    def check(self, good, text, *what):
        self.runs, self.failed = self.runs + 1, self.failed + (not good)
        if not good:
            print(*what)
            print(text)

    def result(self, seed, kernel):
        bounds, seen = kernel.bounds(), set()
        for level in self.some(seed):
            done, text = run(self.tool, level, kernel, bounds, self.folder, 1 + (seed % 4 == 0))
            self.check(is_right(done, kernel, bounds, self.folder), text, seed, level, kernel.grid, kernel.block, kernel.n, done.returncode, done.stderr)
            seen.add(counts(done) if done.returncode == 0 else None)
        self.check(len(seen) == 1, text, seed, "counts of instructions differ:", seen)

    def trap(self, seed, kernel):
        """One buffer is shorter by an element at its end or its beginning, or begins one byte too late."""
        bounds, rng = kernel.bounds(), random.Random(seed)
        accessed = [k for k in bounds if k in kernel.low]
        if not accessed:
            return
        k = rng.choice(accessed)
        unit, (low, high) = kernel.unit[k], bounds[k]
        bounds[k] = rng.choice(((low, high - 1), (low + unit, high), (low - 1, high + 8 if unit > 1 else high - 1)))
        if bounds[k][0] >= bounds[k][1]:
            return
        try:
            traps, found = kernel.model(bounds), set()
        except Refused:
            return
        if not traps:
            return
        for level in self.some(seed):
            done, text = run(self.tool, level, kernel, bounds, self.folder)
            trap = trap_of(done, kernel)
            self.check(trap in traps, text, seed, level, kernel.grid, kernel.block, trap, traps[:5], done.returncode, done.stderr)
            found.add(trap)
        self.check(len(found) == 1 or len(traps) > 1, text, seed, kernel.grid, kernel.block, "traps differ:", found)


HEAD = ".version 7.0\n.target sm_70\n.address_size 64\n"
# A CTA's number and those of its threads, in a grid of three dimensions of which workers take some CTAs at a time: each CTA once.
GRID = HEAD + """.visible .entry k(.param .u64 out, .param .u64 in, .param .u32 n)
{
.reg .b64 %o, %i, %a, %b, %w, %x; .reg .b32 %t, %c, %y, %z, %m, %l, %g, %v, %n, %k; .reg .pred %p;
ld.param.u64 %o, [out]; ld.param.u64 %i, [in]; ld.param.u32 %n, [n]; mov.u32 %t, %tid.x; mov.u32 %c, %ctaid.x; mov.u32 %y, %ctaid.y; mov.u32 %z, %ctaid.z;
mov.u32 %m, %nctaid.x; mov.u32 %l, %nctaid.y; mad.lo.u32 %g, %z, %l, %y; mad.lo.u32 %g, %g, %m, %c; mov.u32 %k, %ntid.x; mad.lo.u32 %v, %g, %k, %t;
setp.ge.u32 %p, %v, %n; @%p bra DONE;
mul.wide.u32 %w, %v, 4; add.s64 %a, %o, %w; sub.s64 %b, %i, %w; ld.global.u32 %l, [%b]; ld.global.u32 %n, [%a]; mad.lo.u32 %m, %y, 1000, %c; mad.lo.u32 %m, %z, 100000, %m;
xor.b32 %l, %l, %m; mad.lo.u32 %n, %n, 3, %l; st.global.u32 [%a], %n;
DONE: ret;
}
"""
# Rings and swizzles of a thread's number in the grid, whose lowest bits are those of its lane in blocks of whole warps alone.
RINGS = HEAD + """.visible .entry k(.param .u64 out, .param .u64 in)
{
.reg .b64 %o, %i, %a, %w, %b<6>, %w<6>, %x0, %x1; .reg .b32 %t, %c, %k, %g, %v<6>, %j<6>, %s, %z0, %z1;
ld.param.u64 %o, [out]; ld.param.u64 %i, [in]; mov.u32 %t, %tid.x; mov.u32 %c, %ctaid.x; mov.u32 %k, %ntid.x; mad.lo.u32 %g, %c, %k, %t;
and.b32 %j0, %g, 31; mul.wide.u32 %w0, %j0, 4; add.s64 %b0, %i, %w0; ld.global.u32 %v0, [%b0];
xor.b32 %j1, %g, 21; mul.wide.u32 %w1, %j1, 4; add.s64 %b1, %i, %w1; ld.global.u32 %v1, [%b1];
add.u32 %s, %g, 3; and.b32 %j2, %s, 15; mul.wide.u32 %w2, %j2, 4; add.s64 %b2, %i, %w2; ld.global.u32 %v2, [%b2];
shr.u32 %j3, %g, 3; mul.wide.u32 %w3, %j3, 4; add.s64 %b3, %i, %w3; ld.global.u32 %v3, [%b3];
or.b32 %j4, %g, 16; mul.wide.u32 %w4, %j4, 4; add.s64 %b4, %i, %w4; ld.global.u32 %v4, [%b4];
and.b32 %j5, %g, -32; mul.wide.u32 %w5, %j5, 4; add.s64 %b5, %i, %w5; ld.global.u32 %v5, [%b5];
mad.lo.u32 %v0, %v0, 31, %v1; mad.lo.u32 %v0, %v0, 31, %v2; mad.lo.u32 %v0, %v0, 31, %v3; mad.lo.u32 %v0, %v0, 31, %v4; mad.lo.u32 %v0, %v0, 31, %v5;
sub.u32 %z0, %g, 101; mul.wide.u32 %x0, %z0, 4; shr.u64 %x1, %x0, 30; cvt.u32.u64 %z1, %x1; mad.lo.u32 %v0, %v0, 31, %z1; // wide: below 0 in some lanes
mul.wide.u32 %w, %g, 4; add.s64 %a, %o, %w; st.global.u32 [%a], %v0;
ret;
}
"""
# A register that only threads of some CTAs write, all alike, is zero in the others.
UNWRITTEN = HEAD + """.visible .entry k(.param .u64 out)
{
.reg .b64 %o, %w; .reg .b32 %t, %n, %c, %g, %x; .reg .pred %p;
ld.param.u64 %o, [out]; mov.u32 %t, %tid.x; mov.u32 %n, %ntid.x; mov.u32 %c, %ctaid.x; mad.lo.u32 %g, %c, %n, %t; mul.wide.u32 %w, %g, 4; add.u64 %o, %o, %w;
setp.ne.u32 %p, %c, 2; @%p bra ON;
add.u32 %x, %c, 9;
ON: st.global.u32 [%o], %x;
ret;
}
"""
# A thread goes outside, or all go where they are not aligned; each stores in front of it and behind it.
OUTSIDE = HEAD + """.visible .entry k(.param .u64 first, .param .u64 in, .param .u64 last, .param .u32 n)
{{
.reg .b64 %f, %i, %l, %w, %x, %a, %b, %c; .reg .b32 %t, %v, %n, %s; .reg .pred %p;
ld.param.u64 %f, [first]; ld.param.u64 %i, [in]; ld.param.u64 %l, [last]; ld.param.u32 %n, [n]; mov.u32 %t, %tid.x;
mul.wide.u32 %w, %t, 4; add.s64 %a, %f, %w; add.s64 %c, %l, %w; mul.wide.u32 %x, %t, {step}; {add}.s64 %b, %i, %x; mov.u32 %s, 7;
setp.ge.u32 %p, %t, %n; @%p bra DONE;
st.global.u32 [%a], %s;
{access} // the access
add.u32 %s, %s, %v;
st.global.u32 [%c], %s;
DONE: ret;
}}
"""
ACCESS = {"u8": "ld.global.u8 %v, [%b+{0}];", "u16": "ld.global.u16 %v, [%b+{0}];", "u32": "ld.global.u32 %v, [%b+{0}];", "v2": "ld.global.v2.u32 {{%v, %s}}, [%b+{0}];",
          "s32": "st.global.u32 [%b+{0}], %t;", "s16": "st.global.u16 [%b+{0}], %t;",
          "s8": "st.global.u8 [%b+{0}], %t;"}
BYTES = {"u8": 1, "u16": 2, "u32": 4, "v2": 8, "s32": 4, "s16": 2, "s8": 1}
# Accesses by addresses that are made of the first or the second parameter; and what is made of both.
MADE = {"a": ("add.s64 %c, %a, %w;", "add.s64 %c, %w, %a;", "mad.wide.u32 %c, %t, 4, %a;", "mad.wide.s32 %c, %t, 4, %a;", "sub.s64 %c, %a, %w;", "mov.u64 %c, %a;",
              "mad.lo.s64 %c, %w, 8, %a;",
              "add.s64 %c, %a, %w; add.s64 %d, %c, 64; mad.wide.u32 %c, %t, 8, %d;", "sub.s64 %d, %a, %w; mov.u64 %c, %d;", "mov.u64 %c, %a; add.s64 %c, %c, %w;"),
        "b": ("add.s64 %c, %b, %w;", "mad.wide.u32 %c, %t, 4, %b;", "sub.s64 %c, %b, %w;", "mov.u64 %c, %b;", "add.s64 %d, %w, 16; add.s64 %c, %d, %b;")}


def made_of():
    """By each access of the first parameter and of the second one: its number."""
    lines, kinds = [], []
    for k, (of, texts) in enumerate((of, text) for of, texts in MADE.items() for text in texts):
        texts = re.sub("%([cd])", rf"%\g<1>{k}", texts)
        lines.append(f"{texts} ld.global.u32 %v, [%c{k}]; add.u32 %s, %s, %v; st.global.u32 [%c{k}+4], %s;")
        kinds += [of, of]
    body = "\n".join(lines)
    text = HEAD + f""".visible .entry k(.param .u64 a, .param .u64 b)
{{
.reg .b64 %a, %b, %w, %c<{len(lines)}>, %d<{len(lines)}>; .reg .b32 %t, %v, %s;
ld.param.u64 %a, [a]; ld.param.u64 %b, [b]; mov.u32 %t, %tid.x; mul.wide.u32 %w, %t, 4;
{body}
ret;
}}
"""
    return text, kinds


def comb(form, step):
    """Elements that are so many of their size apart, loaded."""
    each = WIDTHS[form]
    register = "%d" if each == 8 else "%v"
    return HEAD + f""".visible .entry k(.param .u64 out, .param .u64 in)
{{
.reg .b64 %o, %i, %a, %b, %w, %x, %d; .reg .b32 %t, %v, %c, %k, %l;
ld.param.u64 %o, [out]; ld.param.u64 %i, [in]; mov.u32 %l, %tid.x; mov.u32 %c, %ctaid.x; mov.u32 %k, %ntid.x; mad.lo.u32 %t, %c, %k, %l; mul.wide.u32 %w, %t, {step * each}; add.s64 %a, %i, %w; cvt.u64.u32 %x, %t; add.s64 %b, %o, %x;
ld.global.{form} {register}, [%a]; st.global.u8 [%b], {register};
ret;
}}
"""


def dump(tool, stage, text):
    return subprocess.run([tool, "dump", "--stage", stage, "--language", "ptx", "-"], input=text, capture_output=True, text=True, timeout=120).stdout


def check_numbers(test):
    text, kinds = made_of()
    numbers = re.findall(r"^ *(?:ld|st) global.* e=(\d+)", dump(test.tool, "program", text), re.M)
    of = {kind: {number for number, k in zip(numbers, kinds) if k == kind} for kind in MADE}
    test.check(len(numbers) == len(kinds) and all(len(one) == 1 for one in of.values()) and of["a"] != of["b"], text, "numbers of accesses:", of)


def check_combs(test):
    """What is read for nothing is asked for, too: from the first element to the end of the last one's step. And the elements are the right ones, up to the last
    byte of the array."""
    cases = (("u8", 2), ("u8", 4), ("u8", 8), ("s8", 2), ("u16", 2), ("u16", 4), ("u32", 2), ("u32", 4), ("u64", 2))
    for k, (form, step) in enumerate(cases[1::3] if FEW else cases):
        text, each, threads = comb(form, step), WIDTHS[form], 128
        out = dump(test.tool, "llvm", text)
        asked = {int(number) + 1 for number in re.findall(r"icmp ugt i64 %\w+, (\d+)$", out, re.M)}
        test.check(32 * step * each in asked, text, form, step, "bytes that are asked for:", asked)
        size, seen = ((threads - 1) * step + 1) * each, set()
        with open(f"{test.folder}/comb", "wb") as file:
            file.write(PATTERN[:size])
        for level in test.some(k):
            done = execute(command_of(test.tool, level, "32", "4", f"u8[{threads}]:print", f"u8[]=@{test.folder}/comb"), text)
            good = done.returncode == 0 and [int(byte) for byte in done.stdout.partition(":")[2].split()] == list(PATTERN[:size:step * each])
            test.check(good, text, form, step, level, done.stdout, done.stderr)
            seen.add(counts(done) if good else None)
        test.check(len(seen) == 1, text, form, step, "counts of instructions differ:", seen)


def command_of(tool, level, block, grid, *arguments, workers=1):
    words = [tool, "run", "-q", "--stats=json", "--threads", str(workers), "--engine", level[0], "--cpu", level[1], "--language", "ptx", "-b", block, "-g", grid]
    return [*words, *(word for argument in arguments for word in ("-a", argument)), "-"]


def execute(command, text):
    try:
        return subprocess.run(command, input=text, capture_output=True, text=True, timeout=120, env=os.environ | {"LANEWISE_CACHE": "off"})
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, -1, "", "it does not end")


def check_grids(test):
    for threads, shape, less in ((32, (700, 2, 2), 0), (64, (133, 3, 1), 5), (100, (37, 2, 3), 40), (128, (1, 40, 2), 0), (256, (65, 1, 1), 129)):
        total, seen = threads * shape[0] * shape[1] * shape[2], set()
        n = total - less
        ctas = ((g, g // threads % shape[0], g // threads // shape[0] % shape[1], g // threads // shape[0] // shape[1]) for g in range(n))
        right = [3 * g + (5 + total - 1 - g ^ x + 1000 * y + 100000 * z) & W32 for g, x, y, z in ctas] + list(range(n, total))
        # the last word of `in` is the first thread's
        text = GRID.replace("ld.param.u64 %i, [in];", f"ld.param.u64 %i, [in]; add.s64 %i, %i, {4 * (total - 1)};")
        for level in test.some(threads // 32):
            done = execute(command_of(test.tool, level, str(threads), ",".join(map(str, shape)), f"u32[{total}]=range:print", f"u32[{total}]=range:5", f"u32={n}", workers=2), text)
            words = [int(word) for word in done.stdout.partition(":")[2].split()]
            test.check(done.returncode == 0 and words == right, text, level, threads, shape, done.stderr)
            seen.add(counts(done) if done.returncode == 0 else None)
        test.check(len(seen) == 1, text, threads, shape, "counts of instructions differ:", seen)


def check_rings(test):
    for threads, ctas in ((40, 9), (100, 5), (48, 6), (33, 5), (96, 4), (256, 2))[:2 if FEW else 6]:
        total, right, seen = threads * ctas, [], set()
        for g in range(total):
            value = 0
            for index in (g & 31, g ^ 21, g + 3 & 15, g >> 3, g | 16, g & -32):
                value = value * 31 + index * 7 + 1 & W32
            right.append(value * 31 + ((g - 101 & W32) * 4 >> 30) & W32)
        for level in test.some(threads // 32):
            done = execute(command_of(test.tool, level, str(threads), str(ctas), f"u32[{total}]:print", f"u32[{total + 32}]=range:1:7"), RINGS)
            good = done.returncode == 0 and [int(word) for word in done.stdout.partition(":")[2].split()] == right
            test.check(good, RINGS, level, threads, ctas, done.stderr)
            seen.add(counts(done) if good else None)
        test.check(len(seen) == 1, RINGS, threads, "counts of instructions differ:", seen)


def check_unwritten(test):
    for threads in (32, 64, 160):
        right = [11 if g // threads == 2 else 0 for g in range(5 * threads)]
        for level in test.some(threads // 32):
            done = execute(command_of(test.tool, level, str(threads), "5", f"u32[{5 * threads}]:print"), UNWRITTEN)
            test.check(done.returncode == 0 and [int(word) for word in done.stdout.partition(":")[2].split()] == right, UNWRITTEN, level, threads, done.stderr)


def check_outside(test):
    """Lanes that are outside and do not execute are fine, and so they are inside; the first one outside that does traps."""
    cases = (("u8", 1, False), ("u8", 4, False), ("s8", 2, False), ("u16", 2, True), ("u32", 2, False), ("v2", 1, False), ("s32", 1, True), ("s32", 2, False), ("s16", 4, True))
    n, threads = 77, 128
    for k, (form, step, down) in enumerate(cases[1::3] if FEW else cases):
        each, seen = BYTES[form], {}
        size, ones = ((n - 1) * step + 1) * each, int("01" * each, 16)
        last = 7 if form[0] == "s" else 0x02020202 if form == "v2" else 7 + ones
        for bad in ("none", "room", "last", "aligned")[:4 if k % 3 == 2 and each > 1 else 3]:
            first = (n - 1) * step * each if down else 0
            room = {"none": 0, "room": threads * step * each, "last": 0, "aligned": 1}[bad]
            first += room if bad == "aligned" or down else 0  # up to the first byte
            text = OUTSIDE.format(step=step * each, add="sub" if down else "add", access=ACCESS[form].format(first))
            image = [1] * (size + room)
            for t in range(n if form[0] == "s" else 0):
                at = first + (-t if down else t) * step * each
                image[at:at + each] = t.to_bytes(each, "little")
            line = 1 + next(k for k, row in enumerate(text.splitlines()) if row.endswith("// the access"))
            place = f"thread ({0 if bad == 'aligned' else n},0,0)"
            for level in test.some(k):
                arguments = f"u32[{threads}]:print", f"u8[{size + room}]=1:print", f"u32[{threads}]:print", f"u32={n + (bad == 'last')}"
                done = execute(command_of(test.tool, level, str(threads), "3", *arguments), text)
                if bad in ("none", "room"):
                    words = [int(word) for row in done.stdout.splitlines() for word in row.partition(":")[2].split()]
                    good = done.returncode == 0 and words == [7] * n + [0] * (threads - n) + image + [last] * n + [0] * (threads - n)
                    seen.setdefault(bad, set()).add(counts(done) if good else None)
                else:
                    kind = "LW5001" if bad == "aligned" else "LW5000"
                    good = done.returncode == 3 and all(part in done.stderr for part in (kind, f":{line}:", place))
                test.check(good, text, form, step, down, bad, level, done.returncode, done.stdout, done.stderr)
        test.check(all(len(each) == 1 for each in seen.values()), text, form, step, "counts of instructions differ:", seen)


class Launch(ctypes.Structure):  # lw_launch_config
    _fields_ = [("size", ctypes.c_size_t), ("grid", ctypes.c_uint32 * 3), ("block", ctypes.c_uint32 * 3), ("rest", ctypes.c_uint8 * 512)]


class Options(ctypes.Structure):  # lw_options
    _fields_ = [("size", ctypes.c_size_t), ("threads", ctypes.c_uint32), ("cpu", ctypes.c_char_p), ("memory", ctypes.c_uint64), ("stack", ctypes.c_uint64),
                ("semantics", ctypes.c_char_p), ("engine", ctypes.c_char_p)]


def check_behind(test, library):
    """What a thread that traps has done, and what it has not."""
    lib, n, threads = ctypes.CDLL(library), 77, 128
    for engine, form in itertools.product(("interp", "jit"), ("u32", "s16")):
        text = OUTSIDE.format(step=BYTES[form], add="add", access=ACCESS[form].format(0))
        context, module, kernel = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
        good = not lib.lw_context_new(ctypes.byref(Options(0, 1, None, 0, 0, None, engine.encode())), ctypes.byref(context))
        good = good and not lib.lw_module_new(context, b"k.ptx", text.encode(), ctypes.c_size_t(len(text)), ctypes.byref(module))
        good = good and not lib.lw_module_kernel(module, b"k", ctypes.byref(kernel))
        places = [ctypes.c_uint64() for _ in range(3)]
        for place, size in zip(places, (4 * threads, BYTES[form] * n, 4 * threads)):
            good = good and not lib.lw_memory_new(context, ctypes.c_uint64(size), ctypes.byref(place))
        values = [*places, ctypes.c_uint32(n + 1)]
        params = (ctypes.c_void_p * 4)(*(ctypes.addressof(value) for value in values))
        launch = Launch(0, (1, 1, 1), (threads, 1, 1))
        status = lib.lw_launch(kernel, ctypes.byref(launch), params, None) if good else None
        words = [(ctypes.c_uint32 * threads)() for _ in range(2)]
        for word, place in zip(words, places[::2]):
            good = good and not lib.lw_memory_read(context, place, word, ctypes.c_uint64(4 * threads))
        first, last = words
        test.check(good and status == 2 and first[n] == 7 and last[n] == 0 and first[n + 1] == last[n + 1] == 0, text, engine, form, "behind a trap:", good, status, first[:], last[:])
        lib.lw_context_free(context)


def levels(tool):
    """Engines with CPU levels that are there; another one is no argument of `lanewise run`."""
    found = []
    for engine, cpu in (("interp", "v4"), ("jit", "v4"), ("jit", "v3"), ("jit", "neon"), ("interp", "portable")):
        command = [tool, "run", "-q", "--engine", engine, "--cpu", cpu, "--language", "ptx", "-"]
        text = ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k()\n{\nret;\n}\n"
        if subprocess.run(command, input=text, capture_output=True, text=True, timeout=60).returncode != NO_ARGUMENT:
            found.append((engine, cpu))
    return found


def kernel_of(seed):
    try:
        kernel = Kernel(random.Random(seed))
        kernel.model()
        return kernel
    except Refused:
        return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--lanewise", required=True)
    parser.add_argument("--library", help="liblanewise, to look at memory behind a trap")
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=4 if FEW else 8)
    options = parser.parse_args()
    made = 0
    with tempfile.TemporaryDirectory() as folder:
        there = levels(options.lanewise)
        test = Test(options.lanewise, folder, there[:1] + [level for level in there if level[0] == "jit"])
        for check in (check_numbers, check_combs, check_grids, check_rings, check_unwritten, check_outside):
            check(test)
        if options.library:
            check_behind(test, options.library)
        for seed in range(options.first, options.first + options.count):
            kernel = kernel_of(seed)
            if not kernel:
                continue
            made += 1
            test.result(seed, kernel)
            if seed % 3 == 0:
                test.trap(seed, kernel)
    print(f"{made} kernels, {test.runs} checks by {', '.join(' '.join(level) for level in there)}, {test.failed} not as they should be")
    return 1 if test.failed else 0


if __name__ == "__main__":
    sys.exit(main())
