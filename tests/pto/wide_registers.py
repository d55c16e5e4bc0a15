"""Registers of more lanes than a CTA of PTX has threads: masks, comparisons, carries, memory that other lanes wrote, repeats, notes and traps, against the
same in Python."""

import argparse
import itertools
import random
import re

import kit
import model
import programs
from kit import numpy
from programs import equal

WIDTHS = (1025, 1056, 2048, 3000, 4095, 4096)


def array(tool, name, kind, values, outputs=""):
    """An argument whose values come from a file, as they do not fit in a line."""
    path = f"{tool.folder.name}/{name}"
    numpy.array(values, kit.dtype(kind)).tofile(path)
    return f"{programs.tool_type(kind)}[{len(values)}]=@{path}{outputs}"


def noise(chance, kind, count):
    bits, _ = model.TYPES[kind]
    return [model.number(chance.choice([chance.getrandbits(bits), chance.randrange(bits + 2)]), kind) for _ in range(count)]


# ---- Operations and masks ----------------------------------------------------------------------------------------


def operations(tool, chance):
    """Two full repeats and a part of one; what lanes see of masks does not depend on who runs them. With and without memory: alone, a
    function whose registers are equally wide has no CTAs of its own for each repeat."""
    for (lanes, kind), memory in itertools.product(zip(WIDTHS, ("i32", "u8", "i64", "i16", "u32", "i8")), (False, True)):
        v, m = f"!pto.vreg<{lanes}x{kind}>", f"!pto.mask<{lanes}>"
        pattern, first, part = chance.getrandbits(lanes), chance.randrange(lanes), chance.randrange(1, lanes)
        store = f"pto.vstore %s, %x[%n], %m : {v}, memref<?x{kind}>, {m}" if memory else ""
        text = f"""
func.func @f(%a: {v}, %b: {v}, %m: {m}, %n: index, %x: memref<?x{kind}>) -> ({v}, {m}, {m}) {{
  %first = pto.mask.first %n : index -> {m}
  %bits = pto.mask.bits {pattern:#x} : {m}
  %both = pto.mask.xor %m, %bits : ({m}, {m}) -> {m}
  %less = pto.vcmp lt, %a, %b, %both : ({v}, {v}, {m}) -> {m}
  %s, %carry = pto.vaddc %a, %b, %less, %first : ({v}, {v}, {m}, {m}) -> ({v}, {m})
  vshr %r, %s, %b, %bits : {v}
  vsub %r, %r, %a, %m : {v}
  {store}
  return %r, %less, %carry : {v}, {m}, {m}
}}"""
        count = 2 * lanes + part
        a, b, on = noise(chance, kind, count), noise(chance, kind, count), [chance.randrange(2) for _ in range(count)]
        wide, x, got = [], [0] * (first + lanes), {}
        for i in range(count):
            lane, bits = i % lanes, model.TYPES[kind][0]
            less = int(on[i] ^ (pattern >> lane & 1) and a[i] < b[i])
            total, carry = model.sum_and_carry(kind, a[i], b[i], less) if lane < first else (0, 0)
            r = model.binary("vshr", kind, total, b[i]) if pattern >> lane & 1 else 0
            if pattern >> lane & 1 and b[i] % 2**bits >= bits:
                wide.append(i)
            if on[i]:
                r = model.number(r - a[i], kind)
                if memory:
                    x[first + lane] = total
            got.setdefault("result0", []).append(r)
            got.setdefault("result1", []).append(less)
            got.setdefault("result2", []).append(int(carry))
        arguments = [array(tool, "a", kind, a), array(tool, "b", kind, b), array(tool, "m", "u8", on), f"s64={first}",
                     array(tool, "x", kind, [0] * len(x), ":print")]
        done = tool.start(text, "f", arguments, "--threads=2")
        equal(f"{lanes} {kind} exit: {done.stderr}", done.returncode, 0)
        rows = dict(line.split(": ", 1) for line in done.stdout.splitlines())
        values = {head.rsplit(" ", 1)[0]: [int(n) for n in row.split()] for head, row in rows.items()}
        for name, want in {**got, "arg 4": x}.items():
            equal(f"{lanes} {kind} {name}", values[name], want)
        noted = re.search(r"LW5105.*: (\d+) lanes?\n", done.stderr)
        equal(f"{lanes} {kind} notes", int(noted[1]) if noted else 0, len(wide))


def inactive(tool, chance):
    """Poison and modulo, as narrow registers have them."""
    for lanes in (1025, 4096):
        v, m = f"!pto.vreg<{lanes}xu16>", f"!pto.mask<{lanes}>"
        text = f"""
func.func @f(%a: {v}, %m: {m}) -> {v} {{
  %r = pto.vshl %a, %a, %m : ({v}, {v}, {m}) -> {v}
  return %r : {v}
}}"""
        a, on = noise(chance, "u16", lanes), [chance.randrange(2) for _ in range(lanes)]
        got = tool.run(text, "f", [array(tool, "a", "u16", a), array(tool, "m", "u8", on)], "--inactive=undef-poison", "--shift-overflow=modulo")
        want = [model.masked(k, model.binary("vshl", "u16", x, x, "modulo"), model.poison("u16")) for x, k in zip(a, on)]
        equal(f"poison in {lanes}", got["result"], want)


def narrow_beside_wide(tool, chance):
    """Registers of several widths: what a narrow one stores, a wide one loads."""
    for wide, narrow in ((2048, 64), (4096, 1025), (1500, 130)):
        w, n = f"!pto.vreg<{wide}xi32>", f"!pto.vreg<{narrow}xi32>"
        text = f"""
func.func @f(%a: {w}, %b: {n}, %x: memref<?xi32>) -> ({w}, {n}) {{
  %c0 = arith.constant 0 : index
  %last = arith.constant {wide - narrow} : index
  %all = pto.mask.all : !pto.mask<{wide}>
  %some = pto.mask.all : !pto.mask<{narrow}>
  pto.vstore %a, %x[%c0], %all : {w}, memref<?xi32>, !pto.mask<{wide}>
  pto.vstore %b, %x[%last], %some : {n}, memref<?xi32>, !pto.mask<{narrow}>
  %c = pto.vload %x[%c0], %all : (memref<?xi32>, !pto.mask<{wide}>) -> {w}
  %d = pto.vload %x[%last], %some : (memref<?xi32>, !pto.mask<{narrow}>) -> {n}
  return %c, %d : {w}, {n}
}}"""
        a, b = noise(chance, "i32", 2 * wide), noise(chance, "i32", 2 * narrow)
        got = tool.run(text, "f", [array(tool, "a", "i32", a), array(tool, "b", "i32", b), f"s32[{wide}]"])
        want = [a[i] if i % wide < wide - narrow else b[i // wide * narrow + i % wide - (wide - narrow)] for i in range(2 * wide)]
        equal(f"{narrow} beside {wide}", (got["result0"], got["result1"]), (want, b))


# ---- Memory -------------------------------------------------------------------------------------------------------


def overlap(tool, chance):
    """What one lane stores, another loads an operation later, in loops and behind branches that are not taken."""
    for lanes, shift in ((1025, 1024), (2048, 1), (4096, 3000), (4096, 127)):
        v, m, x = f"!pto.vreg<{lanes}xi16>", f"!pto.mask<{lanes}>", "memref<?xi16>"
        text = f"""
func.func @f(%x: {x}, %by: index, %rounds: index) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %all = pto.mask.all : {m}
  scf.for %i = %c0 to %rounds step %c1 {{
    %low = pto.vload %x[%c0], %all : ({x}, {m}) -> {v}
    %high = pto.vload %x[%by], %all : ({x}, {m}) -> {v}
    %sum = pto.vadd %low, %high, %all : ({v}, {v}, {m}) -> {v}
    %odd = arith.remui %i, %c2 : index
    %taken = arith.cmpi eq, %odd, %c1 : index
    scf.if %taken {{
      pto.vstore %sum, %x[%by], %all : {v}, {x}, {m}
    }} else {{
      pto.vstore %sum, %x[%c0], %all : {v}, {x}, {m}
    }}
  }}
  return
}}"""
        values = noise(chance, "i16", lanes + shift)
        got = tool.run(text, "f", [array(tool, "x", "i16", values, ":print"), f"s64={shift}", "s64=5"])
        for i in range(5):
            sums = [model.number(values[k] + values[k + shift], "i16") for k in range(lanes)]
            at = shift if i % 2 else 0
            values[at : at + lanes] = sums
        equal(f"overlap of {lanes} by {shift}", got["arg 0"], values)


# ---- Traps ---------------------------------------------------------------------------------------------------------


def traps(tool, _):
    """They name repeat and lane."""
    for lanes, lane, repeat in ((1025, 1024, 0), (2048, 1500, 1), (4096, 4095, 2)):
        v, m = f"!pto.vreg<{lanes}xi32>", f"!pto.mask<{lanes}>"
        shift = f"""
func.func @f(%a: {v}, %m: {m}) -> {v} {{
  %r = pto.vshr %a, %a, %m : ({v}, {v}, {m}) -> {v}
  return %r : {v}
}}"""
        values = [0] * (3 * lanes)
        values[repeat * lanes + lane] = 32
        arguments = [array(tool, "a", "i32", values), f"u8[{3 * lanes}]=1"]
        done = tool.start(shift, "f", arguments, "--shift-overflow=trap")
        equal(f"exit of a shift in {lanes}", (done.returncode, "LW5011" in done.stderr), (3, True))
        equal(f"place of a shift in {lanes}: {done.stderr}", f"function 'f', repeat {repeat}, lane {lane}\n" in done.stderr, True)
        load = f"""
func.func @f(%x: memref<?xi32>, %i: index) {{
  %one = pto.mask.bits {1 << lane:#x} : {m}
  %r = pto.vload %x[%i], %one : (memref<?xi32>, {m}) -> {v}
  pto.vstore %r, %x[%i], %one : {v}, memref<?xi32>, {m}
  return
}}"""
        done = tool.start(load, "f", [f"s32[{lane}]=1:print", "s64=0"])
        what = f"row in {lanes}: {done.stderr}"
        equal(what, (done.returncode, done.stdout, f"load of element {lane} of an array of {lane}" in done.stderr), (3, "", True))
        equal(what, f"function 'f', lane {lane}\n" in done.stderr, True)
        equal(f"lanes outside in {lanes}", tool.run(load, "f", [f"s32[{lane}]=1:print", "s64=-1"])["arg 0"], [1] * lane)
    text = """
func.func @f(%a: !pto.vreg<4096xi8>, %n: i32) -> i32 {
  %one = arith.constant 1 : i32
  %q = arith.divsi %one, %n : i32
  return %q : i32
}"""
    done = tool.start(text, "f", ["s8[4096]=1", "s32=0"])
    equal("division", (done.returncode, "LW5013" in done.stderr, "repeat 0, lane 0\n" in done.stderr), (3, True, True))
    equal("quotient", tool.run(text, "f", ["s8[4096]=1", "s32=-1"])["result"], [-1])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lanewise", default="build/bin/lanewise")
    tool, chance = programs.Tool(parser.parse_args().lanewise), random.Random(3)
    for test in (operations, inactive, narrow_beside_wide, overlap, traps):
        test(tool, chance)
        print(test.__name__, flush=True)


if __name__ == "__main__":
    main()
