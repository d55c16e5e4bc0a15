"""Whole functions of PTO against the same computation in Python: loops, branches, carried values, registers that are written again, memory, scalars,
registers of several widths."""

import argparse
import itertools
import random
import subprocess
import sys
import tempfile

import model


class Tool:
    def __init__(self, path):
        self.path = path
        self.folder = tempfile.TemporaryDirectory()

    def start(self, text, function, arguments, *options):
        source = f"{self.folder.name}/program.pto"
        with open(source, "w") as file:
            file.write(text)
        command = [self.path, "run", source, "--func", function, *(f"--arg={a}" for a in arguments), *options]
        return subprocess.run(command, capture_output=True, text=True)

    def run(self, text, function, arguments, *options):
        """Returns what is printed, as lists of numbers by name."""
        done = self.start(text, function, arguments, *options)
        if done.returncode:
            sys.exit(f"{' '.join(done.args)}\n{text}\n{done.stderr}")
        lines = [line.split(": ", 1) for line in done.stdout.splitlines()]
        return {head.rsplit(" ", 1)[0]: [int(x) for x in values.split()] for head, values in lines}


def tool_type(kind):
    """A type as --arg has it."""
    return f"{'s' if kind[0] == 'i' else 'u'}{kind[1:]}"


def spell(kind, values):
    return f"{tool_type(kind)}[]={','.join(map(str, values))}"


def equal(what, got, want):
    if got != want:
        sys.exit(f"{what}: {got}, not {want}")


# ---- Loops over memory -----------------------------------------------------------------------------------------


def loops(tool, chance):
    """A loop from anywhere to anywhere with any step; the mask leaves out what is outside of the array."""
    text = """
func.func @f(%x: memref<?xi32>, %lower: index, %upper: index, %step: index) {
  %all = pto.mask.all : !pto.mask<16>
  scf.for %i = %lower to %upper step %step {
    %one = arith.constant 1 : i32
    %v = pto.vbroadcast %one : i32 -> !pto.vreg<16xi32>
    %old = pto.vload %x[%i], %all : (memref<?xi32>, !pto.mask<16>) -> !pto.vreg<16xi32>
    %new = pto.vadd %old, %v, %all : (!pto.vreg<16xi32>, !pto.vreg<16xi32>, !pto.mask<16>) -> !pto.vreg<16xi32>
    pto.vstore %new, %x[%i], %all : (!pto.vreg<16xi32>, memref<?xi32>, !pto.mask<16>)
  }
  return
}"""
    for _ in range(12):
        lower, upper, step = chance.randrange(0, 30), chance.randrange(0, 60), chance.randrange(1, 25)
        want = [0] * 96
        for i in range(lower, upper, step):
            for lane in range(16):
                want[i + lane] += 1
        got = tool.run(text, "f", ["s32[96]=0:print", f"s64={lower}", f"s64={upper}", f"s64={step}"])
        equal(f"loop {lower} {upper} {step}", got["arg 0"], want)


def overlap(tool, chance):
    """More lanes than run at a time: what one stores, another loads an operation later."""
    for lanes, shift in ((256, 1), (256, 127), (1024, 300), (130, 129)):
        text = f"""
func.func @f(%x: memref<?xi8>, %by: index, %rounds: index) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %all = pto.mask.all : !pto.mask<{lanes}>
  scf.for %i = %c0 to %rounds step %c1 {{
    %v = pto.vload %x[%c0], %all : (memref<?xi8>, !pto.mask<{lanes}>) -> !pto.vreg<{lanes}xi8>
    %w = pto.vload %x[%by], %all : (memref<?xi8>, !pto.mask<{lanes}>) -> !pto.vreg<{lanes}xi8>
    %s = pto.vadd %v, %w, %all : (!pto.vreg<{lanes}xi8>, !pto.vreg<{lanes}xi8>, !pto.mask<{lanes}>) -> !pto.vreg<{lanes}xi8>
    pto.vstore %s, %x[%c0], %all : (!pto.vreg<{lanes}xi8>, memref<?xi8>, !pto.mask<{lanes}>)
  }}
  return
}}"""
        x = [chance.randrange(-128, 128) for _ in range(lanes + shift)]
        got = tool.run(text, "f", [spell("i8", x) + ":print", f"s64={shift}", "s64=5"])
        for _ in range(5):
            x[:lanes] = [model.number(x[i] + x[i + shift], "i8") for i in range(lanes)]
        equal(f"overlap of {lanes} by {shift}", got["arg 0"], x)


def overlap_skipped(tool, chance):
    """The same where a region between store and load, with accesses of its own, is not entered."""
    lanes = 256
    text = f"""
func.func @f(%x: memref<?xi32>, %y: memref<?xi32>, %by: index, %odd: i1, %rounds: index, %k: i32, %m: !pto.mask<{lanes}>) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %all = pto.mask.all : !pto.mask<{lanes}>
  %v = pto.vbroadcast %k : i32 -> !pto.vreg<{lanes}xi32>
  pto.vstore %v, %x[%c0], %all : (!pto.vreg<{lanes}xi32>, memref<?xi32>, !pto.mask<{lanes}>)
  REGION
  return
}}"""
    load = f"%a = pto.vload %x[%by], %m : (memref<?xi32>, !pto.mask<{lanes}>) -> !pto.vreg<{lanes}xi32>"
    store = f"pto.vstore %a, %y[%c0], %m : (!pto.vreg<{lanes}xi32>, memref<?xi32>, !pto.mask<{lanes}>)"
    regions = {
        "loop": f"scf.for %i = %c0 to %rounds step %c1 {{\n    {load}\n  }}\n  {load}\n  {store}",
        "else": f"%r = scf.if %odd -> !pto.vreg<{lanes}xi32> {{\n    {load}\n    scf.yield %a : !pto.vreg<{lanes}xi32>\n  }} else {{\n"
        f"    {load}\n    scf.yield %a : !pto.vreg<{lanes}xi32>\n  }}\n  {store.replace('%a', '%r')}",
    }
    for what, region in regions.items():
        for by, first in ((128, 0), (-128, 128)):  # what the other half of the lanes stored
            mask = [int(first <= i < first + 128) for i in range(lanes)]
            for odd, rounds in ((0, 0), (1, 1)):
                arguments = ["s32[256]=1", "s32[256]=0:print", f"s64={by}", f"u8={odd}", f"s64={rounds}", "s32=7", spell("u8", mask)]
                got = tool.run(text.replace("REGION", region), "f", arguments)
                equal(f"{what} {by} {odd} {rounds}", got["arg 1"], [7 * on for on in mask])


def repeats_in_order(tool, chance):
    """What one repeat stores, the next ones load, whatever the threads."""
    text = """
func.func @f(%x: !pto.vreg<64xi32>, %sum: memref<?xi32>) {
  %c0 = arith.constant 0 : index
  %all = pto.mask.all : !pto.mask<b32>
  %old = pto.vload %sum[%c0], %all : (memref<?xi32>, !pto.mask<b32>) -> !pto.vreg<64xi32>
  %three = arith.constant 3 : i32
  %times = pto.vbroadcast %three : i32 -> !pto.vreg<64xi32>
  %more = pto.vmul %old, %times, %all : (!pto.vreg<64xi32>, !pto.vreg<64xi32>, !pto.mask<b32>) -> !pto.vreg<64xi32>
  %new = pto.vadd %more, %x, %all : (!pto.vreg<64xi32>, !pto.vreg<64xi32>, !pto.mask<b32>) -> !pto.vreg<64xi32>
  pto.vstore %new, %sum[%c0], %all : (!pto.vreg<64xi32>, memref<?xi32>, !pto.mask<b32>)
  return
}"""
    want, repeats = 0, 20000
    for n in range(repeats):
        want = (3 * want + 64 * n) % 2**32
    got = tool.run(text, "f", [f"u32[{64 * repeats}]=range", "u32[64]=0:print"], "--threads", "8")
    equal("the sum of all repeats", got["arg 1"][0], want)


def outside(tool, _):
    """A negative index is fine where the mask leaves the lanes in front of the array out."""
    text = """
func.func @f(%x: memref<10xu16>, %i: index, %m: !pto.mask<8>) -> !pto.vreg<8xu16> {
  %v = pto.vload %x[%i], %m : (memref<10xu16>, !pto.mask<8>) -> !pto.vreg<8xu16>
  return %v : !pto.vreg<8xu16>
}"""
    x = list(range(100, 110))
    for index in range(-7, 10):
        mask = [int(0 <= index + lane < 10) for lane in range(8)]
        got = tool.run(text, "f", [spell("u16", x), f"s64={index}", spell("u8", mask)])
        equal(f"load at {index}", got["result"], [x[index + lane] if mask[lane] else 0 for lane in range(8)])


# ---- Carried values, branches, registers written again -----------------------------------------------------------


def carried(tool, chance):
    text = """
func.func @f(%a: !pto.vreg<4xi32>, %b: !pto.vreg<4xi32>, %n: index) -> (!pto.vreg<4xi32>, !pto.vreg<4xi32>, index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %all = pto.mask.all : !pto.mask<4>
  %r:3 = scf.for %i = %c0 to %n step %c1 iter_args(%x = %a, %y = %b, %s = %c0) -> (!pto.vreg<4xi32>, !pto.vreg<4xi32>, index) {
    %z = pto.vadd %x, %y, %all : (!pto.vreg<4xi32>, !pto.vreg<4xi32>, !pto.mask<4>) -> !pto.vreg<4xi32>
    %t = arith.addi %s, %i : index
    scf.yield %y, %z, %t : !pto.vreg<4xi32>, !pto.vreg<4xi32>, index
  }
  return %r#0, %r#1, %r#2 : !pto.vreg<4xi32>, !pto.vreg<4xi32>, index
}"""
    for rounds in (0, 1, 2, 7, 50):
        x, y = ([chance.randrange(-100, 100) for _ in range(4)] for _ in range(2))
        got = tool.run(text, "f", [spell("i32", x), spell("i32", y), f"s64={rounds}"])
        for _ in range(rounds):
            x, y = y, [model.number(p + q, "i32") for p, q in zip(x, y)]
        equal(f"carried {rounds} times", (got["result0"], got["result1"], got["result2"]), (x, y, [sum(range(rounds))]))


def branches(tool, chance):
    text = """
func.func @f(%a: !pto.vreg<8xi16>, %m: !pto.mask<8>, %k: i32) -> (!pto.vreg<8xi16>, !pto.vreg<8xi16>, i32) {
  %c3 = arith.constant 3 : i32
  %c0 = arith.constant 0 : i32
  vadd %r, %a, %a, %m : !pto.vreg<8xi16>
  %small = arith.cmpi slt, %k, %c3 : i32
  %negative = arith.cmpi slt, %k, %c0 : i32
  %v, %s = scf.if %small -> (!pto.vreg<8xi16>, i32) {
    scf.if %negative {
      vneg %r, %a, %m : !pto.vreg<8xi16>
      vneg %a, %a, %m : !pto.vreg<8xi16>
    }
    scf.yield %r, %k : !pto.vreg<8xi16>, i32
  } else {
    %t = arith.muli %k, %c3 : i32
    scf.yield %a, %t : !pto.vreg<8xi16>, i32
  }
  return %v, %r, %s : !pto.vreg<8xi16>, !pto.vreg<8xi16>, i32
}"""
    for k in (-5, 0, 2, 3, 100):
        a = [chance.randrange(-100, 100) for _ in range(8)]
        mask = [chance.getrandbits(1) for _ in range(8)]
        r = [2 * x if on else 0 for x, on in zip(a, mask)]
        if k < 0:
            r = [-x if on else y for x, y, on in zip(a, r, mask)]
        got = tool.run(text, "f", [spell("i16", a), spell("u8", mask), f"s32={k}"])
        want = (r, r, [k]) if k < 3 else (a, r, [3 * k])
        equal(f"branch {k}", (got["result0"], got["result1"], got["result2"]), want)


def counters(tool, _):
    """Induction variables of every width end where the next value would leave the type."""
    for kind, cases in {
        "i8": [(100, 127, 20), (-128, 127, 127), (127, -128, 1), (0, 127, 1), (120, 127, 127)],
        "i32": [(2**31 - 100, 2**31 - 1, 60), (-(2**31), -(2**31) + 3, 1), (5, 5, 1)],
        "index": [(2**63 - 10, 2**63 - 1, 4), (-3, 3, 2)],
    }.items():
        text = f"""
func.func @f(%lower: {kind}, %upper: {kind}, %step: {kind}) -> (i64, {kind}) {{
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %z = arith.constant 0 : {kind}
  %r:2 = scf.for %i = %lower to %upper step %step iter_args(%n = %c0, %last = %z) -> (i64, {kind}) {"" if kind == "index" else ": " + kind} {{
    %m = arith.addi %n, %c1 : i64
    scf.yield %m, %i : i64, {kind}
  }}
  return %r#0, %r#1 : i64, {kind}
}}"""
        spelled = {"i8": "s8", "i32": "s32", "index": "s64"}[kind]
        for lower, upper, step in cases:
            values = range(lower, upper, step)
            got = tool.run(text, "f", [f"{spelled}={x}" for x in (lower, upper, step)])
            equal(f"{kind} from {lower} to {upper} by {step}", (got["result0"], got["result1"]), ([len(values)], [values[-1] if values else 0]))


# ---- Scalars -------------------------------------------------------------------------------------------------------


def scalar(op, bits, a, b):
    """Operands and results as unsigned numbers; None where the operation traps."""
    def signed(x):
        return x - 2**bits if x >= 2 ** (bits - 1) else x

    p, q = signed(a), signed(b)
    if op in ("divsi", "divui", "ceildivui", "remsi", "remui") and not b:
        return None
    toward_zero = (abs(p) // abs(q)) * (1 if (p < 0) == (q < 0) else -1) if q else 0
    if op == "divsi" and toward_zero == 2 ** (bits - 1):
        return None
    results = {
        "addi": lambda: a + b, "subi": lambda: a - b, "muli": lambda: a * b, "divsi": lambda: toward_zero, "divui": lambda: a // b,
        "ceildivui": lambda: -(-a // b), "remsi": lambda: p - q * toward_zero, "remui": lambda: a % b, "andi": lambda: a & b, "ori": lambda: a | b,
        "xori": lambda: a ^ b, "shli": lambda: a * 2 ** min(b, bits), "shrsi": lambda: model.shift_right(p, b), "shrui": lambda: model.shift_right(a, b),
        "minsi": lambda: min(p, q), "minui": lambda: min(a, b), "maxsi": lambda: max(p, q), "maxui": lambda: max(a, b),
    }  # fmt: skip
    return results[op]() % 2**bits


OPS = "addi subi muli divsi divui ceildivui remsi remui andi ori xori shli shrsi shrui minsi minui maxsi maxui".split()
OTHERS = ("constant", "cmpi", "select", "index_cast", "index_castui", "extsi", "extui", "trunci")
CONTROL = ("scf.for", "scf.if", "scf.yield", "func.return")
WORDS = {"eq": "==", "ne": "!=", "slt": "<", "sle": "<=", "sgt": ">", "sge": ">=", "ult": "<", "ule": "<=", "ugt": ">", "uge": ">="}


def scalars(tool, chance):
    for kind, bits in (("i1", 1), ("i8", 8), ("i16", 16), ("i32", 32), ("i64", 64), ("u8", 8), ("u16", 16), ("u32", 32), ("u64", 64), ("index", 64)):
        lines = [f"  %{op} = arith.{op} %a, %b : {kind}" for op in OPS]
        lines += [f"  %c_{word} = arith.cmpi {word}, %a, %b : {kind}" for word in WORDS]
        names = [f"%{op}" for op in OPS] + [f"%c_{word}" for word in WORDS]
        types = ", ".join([kind] * len(OPS) + ["i1"] * len(WORDS))
        text = "\n".join([f"func.func @f(%a: {kind}, %b: {kind}) -> ({types}) {{", *lines, f"  return {', '.join(names)} : {types}", "}"])
        least, spelled = (2 ** (bits - 1), "u8" if bits == 1 else f"u{bits}")
        near = sorted({x % 2**bits for x in (0, 1, 2, 3, 7, bits, least - 1, least, least + 1, -1, -2, -7, chance.getrandbits(64))})
        pairs = list(itertools.product(near, near)) if bits == 1 else [(chance.choice(near), chance.choice(near)) for _ in range(14)]
        if bits == 8:
            pairs += [(0x80, 0xFF), (0x80, 1), (0x7F, 0x81)]
        for a, b in pairs:
            want = [scalar(op, bits, a, b) for op in OPS]
            if None in want:
                continue
            got = tool.run(text, "f", [f"{spelled}={a}", f"{spelled}={b}"])
            p, q = (x - 2**bits if x >= least else x for x in (a, b))
            want += [int(eval(f"{a if w[0] == 'u' else p} {WORDS[w]} {b if w[0] == 'u' else q}")) for w in WORDS]
            for i, name in enumerate(names):
                value = got[f"result{i}"][0] % (2**bits if i < len(OPS) else 2)
                equal(f"{name} {a}, {b} of {kind}", value, want[i])


def conversions(tool, chance):
    kinds = {"i1": 1, "i8": 8, "i16": 16, "i32": 32, "i64": 64}
    lines, want = [], []
    for (small, n), (large, m) in itertools.permutations(kinds.items(), 2):
        name = f"{small}_{large}"
        if n < m:
            lines += [f"  %s_{name} = arith.extsi %{small} : {small} to {large}", f"  %u_{name} = arith.extui %{small} : {small} to {large}"]
            want += [(f"%s_{name}", small, large, True), (f"%u_{name}", small, large, False)]
        else:
            lines.append(f"  %t_{name} = arith.trunci %{small} : {small} to {large}")
            want.append((f"%t_{name}", small, large, False))
    types = ", ".join(large for _, _, large, _ in want)
    head = ", ".join(f"%{kind}: {kind}" for kind in kinds)
    text = f"func.func @f({head}) -> ({types}) {{\n" + "\n".join(lines) + f"\n  return {', '.join(name for name, *_ in want)} : {types}\n}}"
    for _ in range(4):
        values = {kind: chance.getrandbits(bits) for kind, bits in kinds.items()}
        got = tool.run(text, "f", [f"u{max(bits, 8)}={values[kind]}" for kind, bits in kinds.items()])
        for i, (name, small, large, signed) in enumerate(want):
            value = values[small] - (2 ** kinds[small] if signed and values[small] >> (kinds[small] - 1) else 0)
            equal(f"{name} of {values[small]}", got[f"result{i}"][0] % 2 ** kinds[large], value % 2 ** kinds[large])


def index_casts(tool, chance):
    """From every integer type to index and back; what is narrower is extended by its sign, or with zeros."""
    kinds = {"i8": 8, "i16": 16, "i32": 32, "i64": 64, "u8": 8, "u16": 16, "u32": 32, "u64": 64}
    lines, want = [], []
    for kind, bits in kinds.items():
        for op in ("index_cast", "index_castui"):
            lines += [f"  %{op}_{kind} = arith.{op} %{kind} : {kind} to index", f"  %{kind}_{op} = arith.{op} %x : index to {kind}"]
            want += [(f"%{op}_{kind}", kind, "index", bits), (f"%{kind}_{op}", "x", kind, bits)]
    head = ", ".join(["%x: index", *(f"%{kind}: {kind}" for kind in kinds)])
    names, types = ", ".join(name for name, *_ in want), ", ".join(to for _, _, to, _ in want)
    text = f"func.func @f({head}) -> ({types}) {{\n" + "\n".join(lines) + f"\n  return {names} : {types}\n}}"
    for _ in range(4):
        values = {"x": chance.getrandbits(64), **{kind: chance.getrandbits(bits) for kind, bits in kinds.items()}}
        got = tool.run(text, "f", [f"u64={values['x']}", *(f"u{bits}={values[kind]}" for kind, bits in kinds.items())])
        for i, (name, source, to, bits) in enumerate(want):
            value = values[source]
            if to == "index" and "castui" not in name and value >> (bits - 1):
                value -= 2**bits
            width = 64 if to == "index" else bits
            equal(f"{name} of {values[source]}", got[f"result{i}"][0] % 2**width, value % 2**width)


def selects(tool, chance):
    """arith.select of everything that it takes: scalars, index, registers, masks; by a condition that is known and one that is not."""
    kinds = {**{kind: spell(kind, [chance.randrange(100)]).replace("[]", "") for kind in model.TYPES}, "index": "s64=7", "i1": "u8=1"}
    kinds |= {"!pto.vreg<5xi16>": "s16[]=1,-2,3,-4,5", "!pto.mask<5>": "u8[]=1,0,1,1,0", "!pto.vreg<5xu64>": "u64[]=9,8,7,6,5"}
    other = {kind: "u8=0" if kind == "i1" else "u8[]=0,0,1,0,1" if "mask" in kind else value.split("=")[0] + "=" + ",".join("2" * value.count(",") + "2")
             for kind, value in kinds.items()}  # fmt: skip
    arguments = ", ".join(f"%a{i}: {kind}, %b{i}: {kind}" for i, kind in enumerate(kinds))
    lines = [f"  %{name} = arith.constant {name} : i1" for name in ("true", "false")]
    lines += [f"  %{c}{i} = arith.select %{c}, %a{i}, %b{i} : {kind}" for i, kind in enumerate(kinds) for c in ("true", "false", "way")]
    names = ", ".join(f"%{c}{i}" for i in range(len(kinds)) for c in ("true", "false", "way"))
    types = ", ".join(kind for kind in kinds for _ in range(3))
    text = "\n".join([f"func.func @f({arguments}, %way: i1) -> ({types}) {{", *lines, f"  return {names} : {types}", "}"])
    numbers = {kind: [[int(x) for x in some[kind].split("=")[1].split(",")] for some in (kinds, other)] for kind in kinds}
    for way in (0, 1):
        got = tool.run(text, "f", [some[kind] for kind in kinds for some in (kinds, other)] + [f"u8={way}"])
        for i, (kind, (a, b)) in enumerate(numbers.items()):
            three = [[x % 2 if kind == "i1" else x for x in got[f"result{3 * i + k}"]] for k in range(3)]
            equal(f"select of {kind}, way {way}", three, [a, b, a if way else b])


# ---- Several widths --------------------------------------------------------------------------------------------------


def widths(tool, chance):
    text = """
func.func @f(%a: !pto.vreg<64xi32>, %b: !pto.vreg<128xu16>, %m: !pto.mask<b32>, %by: u16) -> (!pto.vreg<64xi32>, !pto.vreg<128xu16>) {
  %all = pto.mask.all : !pto.mask<128>
  %n = pto.vbroadcast %by : u16 -> !pto.vreg<128xu16>
  %x = pto.vneg %a, %m : (!pto.vreg<64xi32>, !pto.mask<b32>) -> !pto.vreg<64xi32>
  %y = pto.vshl %b, %n, %all : (!pto.vreg<128xu16>, !pto.vreg<128xu16>, !pto.mask<128>) -> !pto.vreg<128xu16>
  return %x, %y : !pto.vreg<64xi32>, !pto.vreg<128xu16>
}"""
    for repeats in (1, 3):
        a = [chance.randrange(-1000, 1000) for _ in range(64 * repeats)]
        b = [chance.getrandbits(16) for _ in range(128 * repeats)]
        mask = [chance.getrandbits(1) for _ in a]
        got = tool.run(text, "f", [spell("i32", a), spell("u16", b), spell("u8", mask), "u16=3"])
        want = ([-x if on else 0 for x, on in zip(a, mask)], [(x << 3) % 65536 for x in b])
        equal(f"two widths, {repeats} times", (got["result0"], got["result1"]), want)


def masks_of_widths(tool, chance):
    """Masks of a narrow register begin with lane 0 in each repeat, whatever the widest register has."""
    patterns = {64: chance.getrandbits(64), 100: chance.getrandbits(100), 7: chance.getrandbits(7)}
    arguments = ", ".join(f"%a{n}: !pto.vreg<{n}xi32>" for n in patterns)
    types, lines = ", ".join(f"!pto.vreg<{n}xi32>" for n in patterns), []
    for n, bits in patterns.items():
        lines += [f"  %m{n} = pto.mask.bits 0x{bits:x} : !pto.mask<{n}>"]
        lines += [f"  %r{n} = pto.vneg %a{n}, %m{n} : (!pto.vreg<{n}xi32>, !pto.mask<{n}>) -> !pto.vreg<{n}xi32>"]
    text = "\n".join([f"func.func @f({arguments}) -> ({types}) {{", *lines, f"  return {', '.join(f'%r{n}' for n in patterns)} : {types}", "}"])
    got = tool.run(text, "f", [f"s32[{5 * n}]=1" for n in patterns])
    for number, (n, bits) in enumerate(patterns.items()):
        equal(f"mask of {n} lanes, 5 times", got[f"result{number}"], [-(bits >> lane & 1) for lane in range(n)] * 5)


def overlap_behind(tool, chance):
    """The same across branches and loops: what is stored in front of them is loaded in the way that is taken, and behind a loop of no rounds."""
    for lanes, shift in ((256, 1), (1024, 512)):
        vreg, mask = f"!pto.vreg<{lanes}xi8>", f"!pto.mask<{lanes}>"
        load = f"%v = pto.vload %x[%by], %all : (memref<?xi8>, {mask}) -> {vreg}"
        text = f"""
func.func @f(%x: memref<?xi8>, %by: index, %way: i1, %rounds: index) -> {vreg} {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %all = pto.mask.all : {mask}
  %seven = arith.constant 7 : i8
  %new = pto.vbroadcast %seven : i8 -> {vreg}
  pto.vstore %new, %x[%c0], %all : ({vreg}, memref<?xi8>, {mask})
  %r = scf.if %way -> ({vreg}) {{
    {load}
    scf.yield %v : {vreg}
  }} else {{
    {load}
    scf.yield %v : {vreg}
  }}
  pto.vstore %r, %x[%c0], %all : ({vreg}, memref<?xi8>, {mask})
  scf.for %i = %c0 to %rounds step %c1 {{
    {load}
  }}
  {load}
  return %v : {vreg}
}}"""
        for way, rounds in itertools.product((0, 1), (0, 1)):
            x = [chance.randrange(-128, 128) for _ in range(lanes + shift)]
            got = tool.run(text, "f", [spell("i8", x), f"s64={shift}", f"u8={way}", f"s64={rounds}"])
            x[:lanes] = [7] * lanes
            x[:lanes] = x[shift:]
            equal(f"way {way}, {rounds} rounds, {lanes} by {shift}", got["result"], x[shift:])


def repeats(tool, _):
    """Repeats that store to the same elements: each sees what the one before it stored."""
    text = """
func.func @f(%v: !pto.vreg<8xu32>, %x: memref<?xu32>) -> !pto.vreg<8xu32> {
  %c0 = arith.constant 0 : index
  %all = pto.mask.all : !pto.mask<8>
  %old = pto.vload %x[%c0], %all : (memref<?xu32>, !pto.mask<8>) -> !pto.vreg<8xu32>
  %new = pto.vadd %old, %v, %all : (!pto.vreg<8xu32>, !pto.vreg<8xu32>, !pto.mask<8>) -> !pto.vreg<8xu32>
  pto.vstore %new, %x[%c0], %all : (!pto.vreg<8xu32>, memref<?xu32>, !pto.mask<8>)
  return %new : !pto.vreg<8xu32>
}"""
    count = 4000
    got = tool.run(text, "f", [f"u32[{8 * count}]=1", "u32[8]=0:print"], "--threads=8")
    equal("sum of all repeats", got["arg 1"], [count] * 8)
    equal("sums on the way", got["result"], [1 + n for n in range(count) for _ in range(8)])


def neighbours(tool, _):
    """What lies behind an array is another one, which is not to be had by an index of the first, wherever both lie."""
    text = """
func.func @f(%x: memref<?xi64>, %y: memref<?xi64>, %i: index) {
  %c7 = arith.constant 7 : i64
  %v = pto.vbroadcast %c7 : i64 -> !pto.vreg<1xi64>
  %all = pto.mask.all : !pto.mask<1>
  pto.vstore %v, %x[%i], %all : !pto.vreg<1xi64>, memref<?xi64>, !pto.mask<1>
  return
}"""
    for index in range(1, 140):
        done = tool.start(text, "f", ["s64[1]=1", "s64[32]=range:print", f"s64={index}"])
        equal(f"trap at {index}", (done.returncode, done.stdout, "LW5012" in done.stderr), (3, "", True))


# ---- Carried values, branches, registers written again -----------------------------------------------------------


def narrow_patterns(tool, chance):
    """A pattern of a register whose width does not divide that of the widest one, in every repeat."""
    for wide, narrow in ((65, 2), (129, 100), (16, 16)):
        pattern = chance.getrandbits(narrow) | 1
        text = f"""
func.func @f(%a: !pto.vreg<{narrow}xu16>, %w: !pto.vreg<{wide}xi32>) -> !pto.vreg<{narrow}xu16> {{
  %m = pto.mask.bits {pattern:#x} : !pto.mask<{narrow}>
  %r = pto.vnot %a, %m : (!pto.vreg<{narrow}xu16>, !pto.mask<{narrow}>) -> !pto.vreg<{narrow}xu16>
  return %r : !pto.vreg<{narrow}xu16>
}}"""
        a = [chance.getrandbits(16) for _ in range(3 * narrow)]
        got = tool.run(text, "f", [spell("u16", a), f"s32[{3 * wide}]=0"])
        want = [65535 - x if pattern >> i % narrow & 1 else 0 for i, x in enumerate(a)]
        equal(f"pattern of {narrow} beside {wide}", got["result"], want)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lanewise", default="build/bin/lanewise")
    tool, chance = Tool(parser.parse_args().lanewise), random.Random(1)
    for test in (loops, overlap, overlap_skipped, repeats_in_order, outside, carried, branches, counters, scalars, conversions, index_casts, selects, widths,
                 masks_of_widths, overlap_behind, repeats, neighbours, narrow_patterns):
        test(tool, chance)
        print(test.__name__, flush=True)


if __name__ == "__main__":
    main()
