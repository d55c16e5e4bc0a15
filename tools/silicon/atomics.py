#!/usr/bin/env python3
"""Writes the run tests of atomics on halves, vectors and 16 bytes: tests/ptx/atomic/run_{half,vector,wide}_*.ptx.

    atomics.py [--check]       writes the files; --check only says which differ

Each thread has a place of its own for each instruction: its words are edge values, and so is what it is changed by. What was there and what is
there then is worked out here, in exact fractions, until record.py has put what a GPU gives into a file. A file that has a record keeps it."""

import argparse
import fractions
import pathlib
import sys

import model_half

TESTS = pathlib.Path(__file__).resolve().parent.parent.parent / "tests/ptx/atomic"
MADE = "// Made by tools/silicon/atomics.py."
THREADS = 16
# zeros, subnormals that add up to normal numbers, ones, values that round, the largest, infinities, quiet and signalling NaNs; of each word both halves
HALVES = [(0x0000, 0x8000), (0x8000, 0x8000), (0x0001, 0x03ff), (0x83ff, 0x8001), (0x0400, 0x8001), (0x3c00, 0x1001), (0x3c01, 0x1000), (0xbc00, 0x3c00),
          (0x7bff, 0x4c00), (0xfbff, 0xfbff), (0x7c00, 0xfc00), (0xfc00, 0x3555), (0x7e00, 0x3c00), (0x0001, 0x7c01), (0x5640, 0xd63f), (0x2e66, 0x3266)]
BRAINS = [(0x0000, 0x8000), (0x8000, 0x8000), (0x0001, 0x007f), (0x807f, 0x8001), (0x0080, 0x8001), (0x3f80, 0x3b81), (0x3f81, 0x3b80), (0xbf80, 0x3f80),
          (0x7f7f, 0x7b00), (0xff7f, 0xff7f), (0x7f80, 0xff80), (0xff80, 0x3eab), (0x7fc0, 0x3f80), (0x0001, 0x7f81), (0x4640, 0xc63f), (0x3dcd, 0x3e4d)]
SINGLES = [(0x00000000, 0x80000000), (0x80000000, 0x80000000), (0x00000001, 0x007fffff), (0x00800000, 0x80000001), (0x00800001, 0x80800000),
           (0x3f800000, 0x33800001), (0x3f800001, 0x33800000), (0xbf800000, 0x3f800000), (0x7f7fffff, 0x73800000), (0xff7fffff, 0xff7fffff),
           (0x7f800000, 0xff800000), (0xff800000, 0x3eaaaaab), (0x7fc12345, 0x3f800000), (0x00000001, 0x7f800001), (0x47c80001, 0xc7c7ffff),
           (0x3dcccccd, 0x3e4ccccd)]
NAN = {"f16": 0x7FFF, "bf16": 0x7FFF, "f32": 0x7FFFFFFF}


# ---- the model -----------------------------------------------------------------------------------------------------

def number(bits, kind):
    """(negative, magnitude)"""
    top = 1 << model_half.FORMATS[kind][0] - 1
    return bool(bits & top), model_half.value(bits & top - 1, kind)


def flushed(bits, kind):
    magnitude = number(bits, kind)[1]
    top = 1 << model_half.FORMATS[kind][0] - 1
    return bits & top if not isinstance(magnitude, str) and magnitude < fractions.Fraction(2) ** model_half.FORMATS[kind][2] else bits


def summed(old, b, kind, flushes=True):
    """f32 in global memory takes and gives zeros for subnormals; halves do not, nor do bulk reductions."""
    flushes = flushes and kind == "f32"
    if flushes:
        old, b = flushed(old, kind), flushed(b, kind)
    top = 1 << model_half.FORMATS[kind][0] - 1
    (x_negative, x), (y_negative, y) = number(old, kind), number(b, kind)
    if "nan" in (x, y) or (x == y == "infinite" and x_negative != y_negative):
        return NAN[kind]
    if "infinite" in (x, y):
        return old if x == "infinite" else b
    total = (-x if x_negative else x) + (-y if y_negative else y)
    negative = total < 0 or (total == 0 and x_negative and y_negative)
    d = model_half.packed(abs(total), negative, kind, "rn") | (top if negative else 0)
    return flushed(d, kind) if flushes else d


def extreme(old, b, kind, larger):
    (x_negative, x), (y_negative, y) = number(old, kind), number(b, kind)
    if "nan" in (x, y):
        return NAN[kind] if x == y else b if x == "nan" else old
    order = [(-1 if negative else 1) * (fractions.Fraction(10) ** 60 if size == "infinite" else size) for negative, size in ((x_negative, x), (y_negative, y))]
    old_is_less = (order[0], not x_negative) < (order[1], not y_negative)
    return b if old_is_less == larger else old


def changed(op, kind, old, b, new):
    """One element. kind: of a number, or bNN."""
    if op == "add":
        return summed(old, b, kind)
    if op in ("min", "max"):
        return extreme(old, b, kind, op == "max")
    if op == "exch":
        return b
    return new if old == b else old


# ---- one instruction -----------------------------------------------------------------------------------------------

class Op:
    """mnemonic: without its space. count: elements of `bits`, `kind` what each is."""

    def __init__(self, mnemonic, space):
        words = mnemonic.split(".")
        self.op = next(word for word in words if word in ("add", "min", "max", "exch", "cas"))
        self.type = words[-1]
        self.kind = self.type.removesuffix("x2")
        self.count = next((int(word[1:]) for word in words if word in ("v2", "v4", "v8")), 1)
        self.bits = {"f16": 16, "bf16": 16, "b16": 16, "b128": 128}.get(self.type, 32)
        self.has_result = words[0] == "atom"
        self.hint = "cache_hint" in mnemonic
        at = words.index(self.op)
        self.mnemonic = ".".join([*words[:at], *([space] if space else []), *words[at:]])
        self.words = max(1, self.bits * self.count // 32)

    def pool(self):
        return {"f16": HALVES, "bf16": BRAINS, "f32": SINGLES}.get(self.kind, HALVES)

    def elements(self, thread, second):
        """Of the whole place, in the width of a model's number: what is there, or what it is changed by."""
        pool, width = self.pool(), 16 if self.type.endswith("x2") else min(self.bits, 32)
        amount = self.bits * self.count // width
        chosen = [pool[(thread + 3 * k) % len(pool)][second] for k in range(amount)]
        if width == 32 and self.kind not in ("f32",):
            chosen = [value | chosen[k - 1] << 16 for k, value in enumerate(chosen)]
        return chosen, width

    def start(self, thread):
        return self.elements(thread, 0)

    def operand(self, thread):
        """cas finds what it looks for in every other thread; there it differs in its last element alone."""
        if self.op != "cas":
            return self.elements(thread, 1)
        there, width = self.elements(thread, 0)
        if thread % 2:
            there[-1] ^= 1
        return there, width

    def third(self, thread):
        there, width = self.elements(thread, 1)
        return [value ^ 0x55 for value in there], width

    def result(self, thread):
        old, width = self.start(thread)
        b, new = self.operand(thread)[0], self.third(thread)[0]
        if self.op in ("exch", "cas"):
            return (b if self.op == "exch" else new if old == b else old), width
        return [changed(self.op, self.kind, x, y, z) for x, y, z in zip(old, b, new)], width

    def as_words(self, elements):
        values, width = elements
        total = sum(value << width * k for k, value in enumerate(values))
        return [total >> 32 * k & 0xFFFFFFFF for k in range(self.words)]

    def register(self, letter):
        if self.bits == 128:
            return f"%{letter}q"
        names = [f"%{letter}{'h' if self.bits == 16 else 'r'}{k}" for k in range(self.count)]
        return names[0] if self.count == 1 else f"{{{', '.join(names)}}}"

    def load(self, letter, place):
        """Words of global memory into the registers."""
        lines = []
        if self.bits == 16:
            for k in range(self.count):
                lines.append(f"ld.global.b16 %{letter}h{k}, [{place} + {2 * k}];")
        elif self.bits == 128:
            lines.append(f"ld.global.v2.b64 {{%x0, %x1}}, [{place}];")
            lines.append(f"mov.b128 %{letter}q, {{%x0, %x1}};")
        else:
            for k in range(self.count):
                lines.append(f"ld.global.b32 %{letter}r{k}, [{place} + {4 * k}];")
        return lines

    def store(self, letter, place):
        if self.bits == 16:
            return [f"st.global.b16 [{place} + {2 * k}], %{letter}h{k};" for k in range(self.count)]
        if self.bits == 128:
            return [f"mov.b128 {{%x0, %x1}}, %{letter}q;", f"st.global.v2.b64 [{place}], {{%x0, %x1}};"]
        return [f"st.global.b32 [{place} + {4 * k}], %{letter}r{k};" for k in range(self.count)]

    def text(self, space, at):
        """The place is filled from %in, changed by what is behind that, and copied to %out; what was there goes behind that."""
        size, cell = 4 * self.words, "%cell"
        begin = f"%in + {at}"
        lines = [f"// {self.mnemonic}", f"mad.wide.u32 %in, %n, {size}, %input;", f"mad.wide.u32 %out, %n, {size}, %output;"]
        if space == "global" or not space:
            cell = "%out"
            place, where = f"%out + {at}", "global"
        else:
            place, where = "%cell", "shared"
        for k in range(self.words):
            lines += [f"ld.global.b32 %w, [{begin} + {4 * k}];", f"st.{where}.b32 [{place} + {4 * k}], %w;"]
        lines += self.load("b", f"{begin} + {size * THREADS}")
        operands = [self.register("b")]
        if self.op == "cas":
            lines += self.load("c", f"{begin} + {2 * size * THREADS}")
            operands.append(self.register("c"))
        if self.hint:
            operands.append("%policy")
        result = [self.register("d")] if self.has_result else []
        lines.append(f"{self.mnemonic} {', '.join([*result, f'[{place}]', *operands])};")
        if self.has_result:
            lines += self.store("d", f"%out + {at + size * THREADS}")
        if where == "shared":
            for k in range(self.words):
                lines += [f"ld.shared.b32 %w, [{place} + {4 * k}];", f"st.global.b32 [%out + {at} + {4 * k}], %w;"]
        return [line.replace("+ 0]", "]") for line in lines]


# ---- files ---------------------------------------------------------------------------------------------------------

FILES = {}


def file(name, about, mnemonics, space, version="8.3"):
    FILES[name] = (about, [Op(mnemonic, space) for mnemonic in mnemonics], space, version)


ADDS = ["atom.add.noftz.f16", "atom.relaxed.cta.add.noftz.f16x2", "atom.acquire.cluster.add.noftz.bf16", "atom.acq_rel.gpu.add.noftz.bf16x2",
        "atom.release.sys.add.noftz.f16", "red.add.noftz.f16", "red.relaxed.gpu.add.noftz.f16x2", "red.release.cta.add.noftz.bf16",
        "red.relaxed.sys.add.noftz.bf16x2"]
for kind, space in (("global", "global"), ("shared", "shared::cta"), ("generic", "")):
    file(f"half_{kind}", f"atom and red .add.noftz of f16, bf16 and pairs of them, {kind}", ADDS, space)
file("vector_float", "atom and red on vectors of f32", ["atom.add.v2.f32", "atom.relaxed.gpu.add.v4.f32", "red.add.v2.f32", "red.relaxed.sys.add.L2::cache_hint.v4.f32"],
     "global")
for op in ("add", "min", "max"):
    file(f"vector_{op}", f"atom and red .{op} on vectors of halves",
         [f"atom.{op}.noftz.v2.f16", f"atom.relaxed.cta.{op}.noftz.v4.bf16", f"atom.{op}.noftz.v8.f16", f"red.{op}.noftz.v8.bf16", f"red.release.gpu.{op}.noftz.v4.f16",
          f"atom.{op}.noftz.v2.f16x2", f"atom.acq_rel.sys.{op}.noftz.L2::cache_hint.v4.bf16x2", f"red.{op}.noftz.v2.bf16x2", f"red.{op}.noftz.v4.f16x2"], "global")
WIDE = ["atom.cas.b16", "atom.acq_rel.gpu.cas.b16", "atom.exch.b128", "atom.relaxed.cta.exch.b128", "atom.cas.b128", "atom.acquire.sys.cas.b128"]
for kind, space in (("global", "global"), ("shared", "shared::cta"), ("generic", "")):
    file(f"wide_{kind}", f"atom.cas on 16 bits, and atom.exch and cas on 128, {kind}", WIDE, space, "8.4")

REGISTERS = """    .reg .b16 %bh<8>, %ch<8>, %dh<8>;
    .reg .b32 %n, %w, %br<8>, %cr<8>, %dr<8>;
    .reg .b64 %input, %output, %in, %out, %policy, %x<2>;
    .reg .b128 %bq, %cq, %dq;
"""


def placed(ops):
    """(op, offset of its input, offset of its output); words of each."""
    at, found = 0, []
    for op in ops:
        found.append((op, at))
        at += 3 * 4 * op.words * THREADS
    return found, at // 4


def written(name):
    about, ops, space, version = FILES[name]
    places, words = placed(ops)
    start, end = [0] * words, [0] * words
    for op, at in places:
        for thread in range(THREADS):
            for part, values in enumerate((op.start(thread), op.operand(thread), op.third(thread))):
                where = at // 4 + part * op.words * THREADS + thread * op.words
                start[where:where + op.words] = op.as_words(values)
            where = at // 4 + thread * op.words
            end[where:where + op.words] = op.as_words(op.result(thread))
            if op.has_result:
                where += op.words * THREADS
                end[where:where + op.words] = op.as_words(op.start(thread))
    body = "\n".join(f"    {line}" for op, at in places for line in op.text(space, at))
    shared = "" if space in ("global", "") else f"    .shared .align 16 .b8 room[{THREADS * 16}];\n    .reg .b32 %cell;\n"
    cell = "" if not shared else "    mov.u32 %cell, room;\n    mad.lo.u32 %cell, %n, 16, %cell;\n"
    return (f"// {about}\n{MADE}\n// run: -b {THREADS} -a b32[{words}]={','.join(f'{word:#x}' for word in start)} -a b32[{words}]:print\n"
            f".version {version}\n.target sm_90\n.address_size 64\n\n.visible .entry {name}(.param .u64 in, .param .u64 out)\n{{\n{REGISTERS}{shared}"
            f"    ld.param.u64 %input, [in];\n    ld.param.u64 %output, [out];\n    mov.u32 %n, %tid.x;\n{cell}"
            f"    mov.b64 %policy, 0x1000000000000000;\n{body}\n    ret;\n}}\n",
            f"// out: arg 1 b32[{words}]: {' '.join(f'{word:#010x}' for word in end)}\n")


def write_files(about, folder, names, written):
    """The command line of a program that makes run_NAME.ptx files: written(NAME) gives the text and what comes of it, which a record stands in for."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing")
    options = parser.parse_args()
    differ = 0
    for name in names:
        path = folder / f"run_{name}.ptx"
        text, expected = written(name)
        before = path.read_text() if path.exists() else ""
        start, _, tail = before.partition("// recorded:")
        wanted = text + (f"// recorded:{tail}" if tail and start == text else expected)
        if wanted == before:
            continue
        differ += 1
        print(("differs: " if options.check else "wrote ") + str(path))
        if not options.check:
            path.write_text(wanted)
    return 1 if differ and options.check else 0


if __name__ == "__main__":
    sys.exit(write_files(__doc__, TESTS, FILES, written))
