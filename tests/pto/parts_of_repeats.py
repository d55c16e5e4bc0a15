"""Functions with registers of several widths whose last repeat is a part: its first lanes run and the others do nothing, in registers of any width and in
memory. Which arrays go together is computed here once more, for every length."""

import argparse
import random

import programs
from programs import equal, spell


def lengths(widths, count):
    """What all arrays hold where that of the widest registers holds `count` elements."""
    widest = max(widths)
    whole, rest = divmod(count, widest)
    return [whole * n + min(rest, n) for n in widths]


def together(tool, chance):
    """Arguments and results of three widths, and arrays of each other length refused."""
    widths = [24, 64, 9]
    types = [f"!pto.vreg<{n}xi32>" for n in widths]
    lines = [f"  %m{n} = pto.mask.all : !pto.mask<{n}>\n  vadd %r{n}, %a{n}, %a{n}, %m{n} : !pto.vreg<{n}xi32>" for n in widths]
    arguments = ", ".join(f"%a{n}: {t}" for n, t in zip(widths, types))
    text = f"func.func @f({arguments}) -> ({', '.join(types)}) {{\n" + "\n".join(lines) + f"\n  return {', '.join(f'%r{n}' for n in widths)} : {', '.join(types)}\n}}"
    for count in (1, 8, 9, 10, 23, 24, 25, 63, 64, 65, 128, 140, 191):
        right = lengths(widths, count)
        values = [[chance.randrange(-99, 99) for _ in range(n)] for n in right]
        got = tool.run(text, "f", [spell("i32", v) for v in values])
        equal(f"{count} elements", [got[f"result{k}"] for k in range(3)], [[2 * x for x in v] for v in values])
        for wrong in (0, 2):
            for by in (-1, 1):
                counts = [n + by * (k == wrong) for k, n in enumerate(right)]
                done = tool.start(text, "f", [f"s32[{n}]" for n in counts])
                what = f"{counts} elements: {done.stderr}"
                equal(what, (done.returncode, "LW6043" in done.stderr), (2, True))
                equal(what, f"it must have {right[wrong]} elements for its registers of {widths[wrong]}, not {counts[wrong]}," in done.stderr, True)


def memory(tool, chance):
    """A register wider than those of the arrays, and a narrower one: what lanes behind the last element would store is not stored."""
    for wide, arrays, narrow in ((300, 128, 5), (64, 32, 31), (256, 200, 150)):
        text = f"""
func.func @f(%a: !pto.vreg<{arrays}xi16>, %sums: memref<?xi32>, %seen: memref<?xi16>) -> !pto.vreg<{arrays}xi16> {{
  %c0 = arith.constant 0 : index
  %one = arith.constant 1 : i32
  %all = pto.mask.all : !pto.mask<{wide}>
  %some = pto.mask.all : !pto.mask<{arrays}>
  %few = pto.mask.all : !pto.mask<{narrow}>
  %ones = pto.vbroadcast %one : i32 -> !pto.vreg<{wide}xi32>
  %old = pto.vload %sums[%c0], %all : (memref<?xi32>, !pto.mask<{wide}>) -> !pto.vreg<{wide}xi32>
  vadd %new, %old, %ones, %all : !pto.vreg<{wide}xi32>
  pto.vstore %new, %sums[%c0], %all : !pto.vreg<{wide}xi32>, memref<?xi32>, !pto.mask<{wide}>
  pto.vstore %a, %seen[%c0], %some : !pto.vreg<{arrays}xi16>, memref<?xi16>, !pto.mask<{arrays}>
  %back = pto.vload %seen[%c0], %few : (memref<?xi16>, !pto.mask<{narrow}>) -> !pto.vreg<{narrow}xi16>
  vadd %b, %back, %back, %few : !pto.vreg<{narrow}xi16>
  pto.vstore %b, %seen[%c0], %few : !pto.vreg<{narrow}xi16>, memref<?xi16>, !pto.mask<{narrow}>
  %r = pto.vload %seen[%c0], %some : (memref<?xi16>, !pto.mask<{arrays}>) -> !pto.vreg<{arrays}xi16>
  return %r : !pto.vreg<{arrays}xi16>
}}"""
        for count in (1, narrow, narrow + 1, arrays - 1, arrays, arrays + 1, 2 * arrays + narrow):
            a = [chance.randrange(-999, 999) for _ in range(count)]
            sums, seen, result = [0] * wide, [0] * arrays, []
            for at in range(0, count, arrays):
                part = a[at : at + arrays]
                ran = len(part) if len(part) < arrays else wide
                for i in range(ran):
                    sums[i] += 1
                seen[: len(part)] = part
                for i in range(min(narrow, ran)):
                    seen[i] *= 2
                result += seen[: len(part)]
            got = tool.run(text, "f", [spell("i16", a), f"s32[{wide}]:print", f"s16[{arrays}]:print"])
            equal(f"{count} elements of {arrays} beside {wide} and {narrow}", (got["arg 1"], got["arg 2"], got["result"]), (sums, seen, result))


def patterns(tool, chance):
    """Masks of a register that is not the widest, in the part as in the whole repeats."""
    pattern = chance.getrandbits(11)
    text = f"""
func.func @f(%a: !pto.vreg<11xu8>) -> (!pto.vreg<40xu8>, !pto.vreg<11xu8>) {{
  %m = pto.mask.bits {pattern:#x} : !pto.mask<11>
  %wide = pto.mask.all : !pto.mask<40>
  %seven = arith.constant 7 : u8
  %s = pto.vbroadcast %seven : u8 -> !pto.vreg<40xu8>
  %n = pto.vnot %a, %m : (!pto.vreg<11xu8>, !pto.mask<11>) -> !pto.vreg<11xu8>
  return %s, %n : !pto.vreg<40xu8>, !pto.vreg<11xu8>
}}"""
    for count in (3, 11, 14, 22):
        got = tool.run(text, "f", [f"u8[{count}]=1"])
        want = [254 if pattern >> i % 11 & 1 else 0 for i in range(count)]
        equal(f"{count} of 11 lanes", (got["result0"], got["result1"]), ([7] * (count // 11 * 40 + count % 11), want))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lanewise", default="build/bin/lanewise")
    tool, chance = programs.Tool(parser.parse_args().lanewise), random.Random(5)
    for test in (together, memory, patterns):
        test(tool, chance)
        print(test.__name__, flush=True)


if __name__ == "__main__":
    main()
