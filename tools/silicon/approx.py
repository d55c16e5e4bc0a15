#!/usr/bin/env python3
"""Results of the approximate instructions over all their inputs, as sums of hashes: what tests/lane/approx.c holds the lane functions against.

    approx.py --record FILE          on a GPU, some seconds: writes tests/lane/approx_record.def
    approx.py --compare FILE [--slices N]    compares the first N of 256 slices; `lanewise exec -- approx.py …` has Lanewise compute them
    approx.py --print NAME           the PTX of one

Input i of 2^32 is made of i * 0x9e3779b1, which goes through all words, so that each slice of 2^24 has operands of all magnitudes; how, `KINDS`
says. A slice's sum of 64 bits goes over mix(result + (i + 1) * 0x9e3779b97f4a7c15), mix being the steps of splitmix64, and its halves are folded.
A record begins with the same sum over the first 2^21 inputs alone, for quick tests."""

import argparse
import ctypes
import datetime
import pathlib
import re
import sys

from record import Broken, Driver, driver_version

SLICES, BLOCKS, FIRST_BLOCKS = 256, 1024, 128
STEP, GOLDEN = 0x9E3779B1, 0x9E3779B97F4A7C15

# From %x, the word, and %r, its hash: the operands %a and %b. Of 64 bits the upper half is the word and the lower one is often zero. A pair
# has its exponents from the word, and from the hash its signs and mantissas, each of which the word makes 0, the largest, at most 7 or leaves.
MANTISSA = """
    and.b32 %m, %m, 0x7fffff;
    shr.u32 %s, %x, {at};
    and.b32 %s, %s, 3;
    setp.eq.u32 %p, %s, 0;
    selp.b32 %m, 0, %m, %p;
    setp.eq.u32 %p, %s, 1;
    selp.b32 %m, 0x7fffff, %m, %p;
    setp.eq.u32 %p, %s, 2;
    and.b32 %n, %m, 7;
    selp.b32 %m, %n, %m, %p;
    shr.u32 %s, %x, {exponent};
    bfi.b32 %m, %s, %m, 23, 8;
    shr.u64 %t, %r, {sign};
    cvt.u32.u64 %s, %t;
    bfi.b32 {operand}, %s, %m, 31, 1;
"""
PAIR = ("    cvt.u32.u64 %m, %r;" + MANTISSA.format(at=0, exponent=24, sign=62, operand="%a")
        + "    shr.u64 %t, %r, 23;\n    cvt.u32.u64 %m, %t;" + MANTISSA.format(at=2, exponent=16, sign=63, operand="%b"))
WIDE = """    and.b64 %t, %r, 1;
    setp.ne.u64 %p, %t, 0;
    shr.u64 %t, %r, 32;
    selp.b64 %t, %t, 0, %p;
    cvt.u64.u32 %da, %x;
    shl.b64 %da, %da, 32;
    or.b64 %da, %da, %t;
"""
KINDS = {
    "word": ("    mov.b32 %a, %x;\n", "%d, %a", "cvt.u64.u32 %z, %d;"),
    "pair": (PAIR, "%d, %a, %b", "cvt.u64.u32 %z, %d;"),
    "wide": (WIDE, "%dd, %da", "mov.b64 %z, %dd;"),
    "half": ("    cvt.u16.u32 %ha, %x;\n", "%hd, %ha", "cvt.u64.u16 %z, %hd;"),
}

# (instruction, kind, slices). All 16-bit numbers are in one slice.
FUNCTIONS = [(f"{name}.approx{ftz}.f32", "word", SLICES) for name in ("rcp", "rsqrt", "sqrt", "ex2", "lg2", "sin", "cos") for ftz in ("", ".ftz")]
FUNCTIONS += [("tanh.approx.f32", "word", SLICES)]
FUNCTIONS += [(f"div.{kind}{ftz}.f32", "pair", SLICES) for kind in ("approx", "full") for ftz in ("", ".ftz")]
FUNCTIONS += [(f"{name}.{kind}{many}", "word" if many else "half", SLICES if many else 1)
              for name, kind in (("tanh.approx", "f16"), ("tanh.approx", "bf16"), ("ex2.approx", "f16"), ("ex2.approx.ftz", "bf16"))
              for many in ("", "x2")]
FUNCTIONS += [(name, "wide", SLICES) for name in ("rcp.approx.ftz.f64", "rsqrt.approx.ftz.f64", "rsqrt.approx.f64")]

MIX = """    shr.u64 %t, {z}, 30;
    xor.b64 {z}, {z}, %t;
    mul.lo.u64 {z}, {z}, 0xbf58476d1ce4e5b9;
    shr.u64 %t, {z}, 27;
    xor.b64 {z}, {z}, %t;
    mul.lo.u64 {z}, {z}, 0x94d049bb133111eb;
    shr.u64 %t, {z}, 31;
    xor.b64 {z}, {z}, %t;
"""


def lane(instruction):
    return instruction.replace(".", "_")


def kernel(instruction, kind):
    """A block of 256 threads has 2^14 inputs, a row of 1024 blocks one slice."""
    inputs, operands, result = KINDS[kind]
    return f""".version 7.8
.target sm_90
.address_size 64

.visible .entry {lane(instruction)}(.param .u64 sums, .param .u32 first)
{{
    .reg .pred %p;
    .reg .b16 %ha, %hd;
    .reg .b32 %i, %x, %a, %b, %d, %m, %n, %s, %turn, %slice;
    .reg .b64 %r, %t, %z, %sum, %key, %at, %da, %dd;
    mov.u32 %slice, %ctaid.y;
    mov.u32 %i, %ctaid.x;
    shl.b32 %i, %i, 14;
    mov.u32 %turn, %tid.x;
    add.u32 %i, %i, %turn;
    ld.param.u32 %turn, [first];
    add.u32 %turn, %turn, %slice;
    shl.b32 %turn, %turn, 24;
    add.u32 %i, %i, %turn;
    mov.b64 %sum, 0;
    mov.u32 %turn, 0;
again:
    mul.lo.u32 %x, %i, {STEP:#x};
    cvt.u64.u32 %key, %i;
    add.u64 %key, %key, 1;
    mul.lo.u64 %key, %key, {GOLDEN:#x};
    mov.b64 %r, %key;
{MIX.format(z="%r")}{inputs}    {instruction} {operands};
    {result}
    add.u64 %z, %z, %key;
{MIX.format(z="%z")}    add.u64 %sum, %sum, %z;
    add.u32 %i, %i, 256;
    add.u32 %turn, %turn, 1;
    setp.lt.u32 %p, %turn, 64;
    @%p bra again;
    ld.param.u64 %at, [sums];
    mad.wide.u32 %at, %slice, 8, %at;
    red.global.add.u64 [%at], %sum;
    ret;
}}
"""


def sums(driver, instruction, kind, slices, blocks=BLOCKS):
    function, module = ctypes.c_void_p(), driver.load(kernel(instruction, kind))
    driver.call("cuModuleGetFunction", ctypes.byref(function), module, lane(instruction).encode())
    held = driver.allocate(bytes(8 * slices))
    first = ctypes.c_uint32(0)
    pointers = (ctypes.c_void_p * 2)(ctypes.addressof(held), ctypes.addressof(first))
    driver.call("cuLaunchKernel", function, blocks, slices, 1, 256, 1, 1, 0, None, pointers, None)
    driver.call("cuCtxSynchronize")
    data = driver.read(held, 8 * slices)
    driver.call("cuMemFree_v2", held)
    found = [int.from_bytes(data[k:k + 8], "little") for k in range(0, len(data), 8)]
    return [(word ^ word >> 32) & 0xFFFFFFFF for word in found]


def text(driver):
    yield "/* Sums over the results of a GPU for all inputs, by slices: made by tools/silicon/approx.py, which says what they are. Read by approx.c."
    yield f" * card: {driver.name()}"
    yield f" * driver: {driver_version()}"
    yield f" * date: {datetime.date.today()} */"
    for instruction, kind, slices in FUNCTIONS:
        first, = sums(driver, instruction, kind, 1, FIRST_BLOCKS)
        found = [f"0x{word:08x}," for word in sums(driver, instruction, kind, slices)]
        yield f"RECORD({lane(instruction)}, {kind}, 0x{first:08x},"
        for at in range(0, slices, 12):
            line = "       " + " ".join(found[at:at + 12])
            yield line if at + 12 < slices else line[:-1] + ")"


def compare(driver, path, slices):
    held = {name: words.replace(",", " ").split() for name, words in re.findall(r"RECORD\((\w+), \w+, \w+,\s([^)]*)\)", path.read_text())}
    failed = 0
    for instruction, kind, count in FUNCTIONS:
        count = min(count, slices)
        found = [f"0x{word:08x}" for word in sums(driver, instruction, kind, count)]
        differ = sum(one != other for one, other in zip(found, held.get(lane(instruction), ["none"] * count)))
        print(f"{instruction}: {differ} of {count} slices differ", flush=True)
        failed += differ
    return 1 if failed else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--record", type=pathlib.Path)
    parser.add_argument("--compare", type=pathlib.Path)
    parser.add_argument("--slices", type=int, default=SLICES)
    parser.add_argument("--print", choices=[lane(instruction) for instruction, *_ in FUNCTIONS])
    options = parser.parse_args()
    if options.print:
        print(next(kernel(instruction, kind) for instruction, kind, _ in FUNCTIONS if lane(instruction) == options.print), end="")
        return 0
    try:
        driver = Driver()
        if options.record:
            options.record.write_text("\n".join(text(driver)) + "\n")
            return 0
        return compare(driver, options.compare, options.slices) if options.compare else parser.error("one of --record, --compare, --print")
    except (Broken, OSError) as problem:
        print(problem, file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
