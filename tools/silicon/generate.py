#!/usr/bin/env python3
"""Writes the run tests of instructions that compute each lane by itself: tests/ptx/FAMILY/run_NAME.ptx.

    generate.py [--check]      writes the files; --check only says which differ

Such tests differ in nothing but the mnemonic, so they are made from the lists below: each thread takes one pair of edge
values (and a third for c), and each spelling has a result buffer of its own that is named after it. Expectations are not made
here: record.py reads them off a GPU, but for what no card here has, where model.py works them out. What is written by hand has no line that names this program, and is left alone."""

import argparse
import pathlib
import re
import sys

import model
import model_half
import model_narrow

TESTS = pathlib.Path(__file__).resolve().parent.parent.parent / "tests/ptx"
MADE = "// Made by tools/silicon/generate.py."
BITS = {"pred": 1, "u16x2": 32, "s16x2": 32, "f32x2": 64, "f32": 32, "f64": 64, "f16": 16}
BITS |= {kind + size: int(size) for kind in "usb" for size in ("8", "16", "32", "64")}
INT, BIT = ["u16", "u32", "u64", "s16", "s32", "s64"], ["b16", "b32", "b64"]
NARROW, WIDE = ["u16", "u32", "s16", "s32"], {"u16": "u32", "u32": "u64", "s16": "s32", "s32": "s64"}

# ---- edge values: (a, b) by the operands' width ---------------------------------------------------------------------

INTEGERS = {
    16: ("0,1,2,0x7fff,0x8000,0xffff,0x1234,0xaaaa", "0,1,3,16,0x7fff,0x8000,0xffff,0x00ff"),
    32: ("0,1,2,0x7fffffff,0x80000000,0xffffffff,0x12345678,0xaaaaaaaa", "0,1,7,32,0x7fffffff,0x80000000,0xffffffff,0x0001ffff"),
    64: ("0,1,0x100000000,0x7fffffffffffffff,0x8000000000000000,-1,0x123456789abcdef0,0xffffffff",
         "0,1,10,64,0x7fffffffffffffff,0x8000000000000000,-1,0x0000000180000000"),
}
SHIFTS = {16: INTEGERS[16], 64: INTEGERS[64],
          32: (INTEGERS[32][0], "0,1,4,15,16,17,31,32,33,63,64,65,0x100,0x1010101,0x80000000,0xffffffff")}
FIELDS = {64: INTEGERS[64], 16: INTEGERS[16],
          32: ("0,0xffffffff,0x12345678,0x80000001,0x89abcdef", "0,1,5,8,31,32,33,63,64,65,255,256,0x101,0x80000000,0xffffffff")}
# signed zeros, ones, subnormals, largest, infinities, quiet NaN with payload, signalling NaN, and values that round
F32 = ("0,0x80000000,0x3f800000,0xbf800000,0x00000001,0x807fffff,0x7f7fffff,0x7f800000,0xff800000,0xffc12345,0x7f800001,"
       "0x3f800001,0x00800000,0x4b800001")
F32_B = ("0,0x80000000,0x3f800000,0xc0490fdb,0x00000001,0x80800000,0x7f7fffff,0xff7fffff,0x7f800000,0x7fc00000,0xff812345,"
         "0x3eaaaaab,0x33800000,0x3f7fffff")
F64 = ("0,0x8000000000000000,0x3ff0000000000000,0xbff0000000000000,1,0x800fffffffffffff,0x7fefffffffffffff,0x7ff0000000000000,"
       "0xfff0000000000000,0xfff8123456789abc,0x7ff0000000000001,0x3ff0000000000001")
F64_B = ("0,0x8000000000000000,0x3ff0000000000000,0xc00921fb54442d18,0x8010000000000000,0x7fefffffffffffff,0xffefffffffffffff,"
         "0x7ff0000000000000,0x7ff8000000000000,0xfff0123456789abc,0x3fd5555555555555,0x3ca0000000000000")
FLOATS = {32: (F32, F32_B), 64: (F64, F64_B), 16: INTEGERS[16]}
# two floats each, low and high: every pair of the lists above, turned differently
TWOS = {64: tuple(",".join(f"{int(high, 16):#010x}{int(low, 16):08x}" for low, high in zip(words, words[turn:] + words[:turn]))
                   for words, turn in ((F32.split(","), 3), (F32_B.split(","), 5)))}
# where rounding and clamping to integers show
TO_INTEGER = {
    32: ("0,0x80000000,0x3f000000,0xbf000000,0x3fc00000,0xbfc00000,0x40200000,0xc0200000,0x00000001,0x80000001,0x3effffff,0xbeffffff,"
         "0x42fe0000,0x43000000,0xc3010000,0x437f8000,0x477fff80,0x4effffff,0x4f000000,0xcf000001,0x4f7fffff,0x4f800000,0x5effffff,"
         "0x5f000000,0xdf000001,0x5f7fffff,0x5f800000,0x7f800000,0xff800000,0x7fc00000,0xff812345,0x4b000001", ""),
    64: ("0,0x8000000000000000,0x3fe0000000000000,0xbfe0000000000000,0x3ff8000000000000,0xbff8000000000000,0x4004000000000000,"
         "0xc004000000000000,1,0x8000000000000001,0x3fdfffffffffffff,0x405fe00000000000,0xc060200000000000,0x406ff00000000000,"
         "0x40effff000000000,0x41dfffffffe00000,0x41e0000000000000,0xc1e0000000200000,0x41efffffffe00000,0x41f0000000000000,"
         "0x43dfffffffffffff,0x43e0000000000000,0xc3e0000000000001,0x43efffffffffffff,0x43f0000000000000,0x7ff0000000000000,"
         "0xfff0000000000000,0x7ff8000000000000,0xfff0123456789abc,0x4330000000000001,0x3690000000000001,0x47efffffefffffff", ""),
}
FROM_INTEGER = {
    16: ("0,1,0x7fff,0x8000,0xffff,0x00ff,0x0080,0x1234,0,1,2,3,4,5,6,7", ""),
    32: ("0,1,0x7f,0x80,0xff,0x7fff,0x8000,0xffff,0x01000001,0x01000003,0x7fffffff,0x80000000,0xffffff7f,0xffffff80,0xffffffff,0x80000081", ""),
    64: ("0,1,0x80,0xff,0x8000,0x7fffffff,0x80000000,0x100000000,0x0020000000000001,0x0020000000000003,0x7fffffffffffffff,0x8000000000000000,"
         "0xffffff7fffffffff,-1,0x8000008000000001,0x7ffffffffffffdff", ""),
}


# ---- one spelling ---------------------------------------------------------------------------------------------------

class Op:
    """text: PTX with {d} {e} results, {a} {b} {c} operands, {p} {q} scratch predicates and {r} {s} scratch words.
    results: their types. operands: the widths of a, b and c. name: of the result buffer. mnemonic: for the model, where it is not the first word.
    value: a function of thread and operands, for the model, where there is more than one instruction."""

    def __init__(self, text, results, a=0, b=0, c=0, name=None, mnemonic=None, value=None):
        self.text, self.results, self.widths = text, results, {"a": a, "b": b, "c": c}
        self.mnemonic, self.value = mnemonic or text.split()[0], value
        self.name = re.sub(r"\W", "_", (name or text.split()[0]).replace("::", "_"))


def plain(mnemonic, result, *operands):
    """d, a, b, c of the given types."""
    names = "abc"[:len(operands)]
    return Op(f"{mnemonic} {', '.join('{' + name + '}' for name in 'd' + names)};", [result],
              **{name: BITS[kind] for name, kind in zip(names, operands)})


def shown(kind):
    """The type that a result is printed as."""
    return f"b{BITS[kind]}" if kind[0] == "f" or "x" in kind else kind


LETTER = {16: "h", 32: "r", 64: "l"}


class File:
    def __init__(self, path, about, values, ops, version="7.0", target="sm_70", order="", model=None):
        self.path, self.about, self.values, self.ops, self.order, self.model = path, about, values, ops, order, model
        self.version, self.target = version, target
        self.widths = {name: sorted({op.widths[name] for op in ops} - {0}) for name in "abc"}
        lists = [[len(values[width][k].split(",")) if values[width][k] else 1 for width in self.widths["a"] + self.widths["b"]
                  + self.widths["c"]] for k in (0, 1)]
        self.rows = max(lists[0])
        self.columns = max(lists[1]) if self.widths["b"] + self.widths["c"] else 1
        self.count = self.rows * self.columns

    def inputs(self):
        """(parameter, width, how the thread picks its value, list)."""
        for name, pick in (("a", "row"), ("b", "column"), ("c", "third")):
            for width in self.widths[name]:
                values = self.values[width][1 if name == "b" and self.values[width][1] else 0].split(",")
                yield f"{name}{width}", name, width, pick, values

    def expected(self):
        """The lines of what is printed, by a model: result words of a mnemonic and operands."""
        inputs = {(name, width): [int(value, 0) & (1 << width) - 1 for value in values] for _, name, width, _, values in self.inputs()}
        for number, op in enumerate(self.ops, len(inputs)):
            words = []
            for thread in range(self.count):
                row, column = thread % self.rows, thread // self.rows
                picks = {"a": row, "b": column, "c": row + column}
                used = [inputs[name, width] for name, width in op.widths.items() if width]
                at = [picks[name] for name, width in op.widths.items() if width]
                operands = [values[k % len(values)] for values, k in zip(used, at)]
                words.append(op.value(thread, operands) if op.value else self.model(op.mnemonic, operands))
            size = BITS[op.results[0]]
            yield f"// out: arg {number} b{size}[{self.count}]: {' '.join(f'{word:#0{size // 4 + 2}x}' for word in words)}\n"

    def text(self):
        results = [(f"{op.name}" + ("_" + str(k) if len(op.results) > 1 else ""), kind)
                   for op in self.ops for k, kind in enumerate(op.results)]
        arguments = [f"-a b{width}[]={','.join(values)}" for _, _, width, _, values in self.inputs()]
        arguments += [f"-a {shown(kind)}[{self.count}]:print" for _, kind in results]
        parameters = [f".param .u64 in_{name}" for name, *_ in self.inputs()] + [f".param .u64 {name}" for name, _ in results]
        body = ["mov.u32 %thread, %tid.x;", f"rem.u32 %row, %thread, {self.rows};", f"div.u32 %column, %thread, {self.rows};",
                "add.u32 %third, %row, %column;"]
        for parameter, name, width, pick, values in self.inputs():
            body += [f"ld.param.u64 %at, [in_{parameter}];", f"rem.u32 %n, %{pick}, {len(values)};",
                     f"mad.wide.u32 %at, %n, {width // 8}, %at;", f"ld.global.b{width} %{name}{width}, [%at];"]
        body += ["and.b32 %n, %thread, 1;", "setp.ne.u32 %odd, %n, 0;"]
        for op in self.ops:
            names = {name: f"%{name}{width}" for name, width in op.widths.items()}
            places = {place: f"%{place}{max(BITS[kind], 16)}" for place, kind in zip("de", op.results * 2)}
            body += op.text.format(**(names | places), p="%p", q="%q", odd="%odd", r="%n", s="%s").split("\n")
            for k, kind in enumerate(op.results):
                name = op.name + ("_" + str(k) if len(op.results) > 1 else "")
                body += [f"ld.param.u64 %at, [{name}];", f"mad.wide.u32 %at, %thread, {BITS[kind] // 8}, %at;",
                         f"st.global.b{BITS[kind]} [%at], %{'de'[k]}{max(BITS[kind], 16)};"]
        registers = [f".reg .b{width} " + ", ".join(f"%{name}{width}" for name in "abcde") + ";" for width in (16, 32, 64)]
        lines = [MADE, f"// {self.about}", f"// run: {self.order}-b {self.count} {' '.join(arguments)}", f".version {self.version}",
                 f".target {self.target}", ".address_size 64", "",
                 f".visible .entry {self.path.stem[4:]}(", ",\n".join("    " + text for text in parameters), ")", "{",
                 "    .reg .pred %p, %q, %odd;", "    .reg .b32 %thread, %row, %column, %third, %n, %s;", "    .reg .b64 %at;",
                 *("    " + text for text in registers), "", *("    " + text.strip() for text in body), "    ret;", "}"]
        return "\n".join(lines) + "\n"


FILES = []


def file(name, about, values, ops, **gates):
    FILES.append(File(TESTS / f"{name.replace('/', '/run_')}.ptx", about, values, ops, **gates))


# ---- integer --------------------------------------------------------------------------------------------------------

file("integer/add_sub", "add, sub: wrap around; saturate at the s32 range", INTEGERS,
     [plain(f"{op}.{t}", t, t, t) for op in ("add", "sub") for t in INT] + [plain(f"{op}.sat.s32", "s32", "s32", "s32") for op in ("add", "sub")])
file("integer/mul", "mul: low, high and wide products", INTEGERS,
     [plain(f"mul.{half}.{t}", t, t, t) for half in ("lo", "hi") for t in INT] + [plain(f"mul.wide.{t}", WIDE[t], t, t) for t in NARROW])
file("integer/mad", "mad: low, high and wide products with a sum", INTEGERS,
     [plain(f"mad.{half}.{t}", t, t, t, t) for half in ("lo", "hi") for t in INT] + [plain(f"mad.wide.{t}", WIDE[t], t, t, WIDE[t]) for t in NARROW]
     + [plain("mad.hi.sat.s32", "s32", "s32", "s32", "s32")])
file("integer/mul24", "mul24, mad24: the low 24 bits of the operands", INTEGERS,
     [plain(f"mul24.{half}.{t}", t, t, t) for half in ("hi", "lo") for t in ("u32", "s32")]
     + [plain(f"mad24.{half}.{t}", t, t, t, t) for half in ("hi", "lo") for t in ("u32", "s32")]
     + [plain("mad24.hi.sat.s32", "s32", "s32", "s32", "s32")])
file("integer/sad", "sad: absolute difference and a sum", INTEGERS, [plain(f"sad.{t}", t, t, t, t) for t in INT])


def guarded(op, t):
    """A division by zero has no defined result: 1 instead."""
    bits = BITS[t]
    return Op(f"setp.eq.b{bits} {{p}}, {{b}}, 0;\nselp.b{bits} {{e}}, 1, {{b}}, {{p}};\n{op}.{t} {{d}}, {{a}}, {{e}};".replace("{e}", f"%e{bits}"),
              [t], bits, bits, name=f"{op}.{t}")


file("integer/div_rem", "div, rem: also the most negative number by -1", INTEGERS, [guarded(op, t) for op in ("div", "rem") for t in INT])
file("integer/div_rem_zero", "div, rem by zero: the manual leaves the result open; this is the hardware's", INTEGERS,
     [plain(f"{op}.{t}", t, t, t) for op in ("div", "rem") for t in ("u32", "s32", "u64", "s64")])
file("integer/abs_neg", "abs, neg: the most negative number stays", INTEGERS,
     [Op(f"{op}.{t} {{d}}, {{a}};", [t], BITS[t]) for op in ("abs", "neg") for t in ("s16", "s32", "s64")])
file("integer/min_max", "min, max", INTEGERS, [plain(f"{op}.{t}", t, t, t) for op in ("min", "max") for t in INT])
file("integer/halves", "add, min, max of half words; relu", INTEGERS,
     [plain(f"{op}.{t}", t, t, t) for op in ("add", "min", "max") for t in ("u16x2", "s16x2")]
     + [plain(f"{op}.relu.{t}", t, t, t) for op in ("min", "max") for t in ("s32", "s16x2")], version="8.0", target="sm_90")
file("integer/count", "popc, clz, bfind, brev", {w: (",".join([v[0], v[1]]), "") for w, v in INTEGERS.items()},
     [plain(f"{op}.{t}", "u32", t) for op in ("popc", "clz") for t in ("b32", "b64")]
     + [plain(f"bfind{amount}.{t}", "u32", t) for amount in ("", ".shiftamt") for t in ("u32", "u64", "s32", "s64")]
     + [plain(f"brev.{t}", t, t) for t in ("b32", "b64")])
file("integer/fns", "fns: the n-th set bit from a base, up or down; the base is below 32",
     {32: ("0,1,0x80000000,0xffffffff,0x12345678,0x0f0f0f0f,0x80000001", "0,1,2,5,31,-1,-2,-31,32,-32")},
     [Op("and.b32 {r}, {c}, 31;\nfns.b32 {d}, {a}, {r}, {b};", ["b32"], 32, 32, 32),
      Op("fns.b32 {d}, {a}, 7, {b};", ["b32"], 32, 32, name="fns_at_7"), Op("fns.b32 {d}, {a}, 31, {b};", ["b32"], 32, 32, name="fns_at_31")])
file("integer/bfe", "bfe: position and length are bytes; a field past the end", FIELDS,
     [Op(f"bfe.{t} {{d}}, {{a}}, {{b}}, {length};", [t], BITS[t], 32, name=f"bfe.{t}_{length}")
      for t in ("u32", "u64", "s32", "s64") for length in (0, 1, 8, 31, 32, 64, 255)]
     + [Op(f"bfe.{t} {{d}}, {{a}}, 4, {{b}};", [t], BITS[t], 32, name=f"bfe.{t}_from_4") for t in ("u32", "u64", "s32", "s64")])
file("integer/bfi", "bfi: position and length are bytes; a field past the end", FIELDS,
     [Op(f"bfi.{t} {{d}}, {{a}}, {{c}}, {{b}}, {length};", [t], BITS[t], 32, BITS[t], name=f"bfi.{t}_{length}")
      for t in ("b32", "b64") for length in (0, 1, 8, 31, 32, 64, 255)]
     + [Op(f"bfi.{t} {{d}}, {{a}}, {{c}}, 4, {{b}};", [t], BITS[t], 32, BITS[t], name=f"bfi.{t}_from_4") for t in ("b32", "b64")])
file("integer/szext_bmsk", "szext, bmsk: amounts clamped or wrapped", SHIFTS,
     [plain(f"szext.{mode}.{t}", t, t, "u32") for mode in ("clamp", "wrap") for t in ("u32", "s32")]
     + [Op(f"bmsk.{mode}.b32 {{d}}, {amount}, {{b}};", ["b32"], 0, 32, name=f"bmsk.{mode}_from_{amount}")
        for mode in ("clamp", "wrap") for amount in (0, 1, 5, 31, 32, 33)]
     + [Op(f"bmsk.{mode}.b32 {{d}}, {{b}}, {length};", ["b32"], 0, 32, name=f"bmsk.{mode}_of_{length}")
        for mode in ("clamp", "wrap") for length in (0, 1, 7, 31, 32, 33)], version="7.6")
file("integer/dp", "dp4a, dp2a: products of bytes", INTEGERS,
     [plain(f"dp4a.{t}.{u}", "s32" if "s32" in (t, u) else "u32", t, u, "s32") for t in ("u32", "s32") for u in ("u32", "s32")]
     + [plain(f"dp2a.{half}.{t}.{u}", "s32" if "s32" in (t, u) else "u32", t, u, "s32") for half in ("lo", "hi") for t in ("u32", "s32")
        for u in ("u32", "s32")])

# ---- extended -------------------------------------------------------------------------------------------------------


def carried(first, middle, t):
    """An instruction that writes the carry, one that reads and writes it; then the carry of each."""
    bits = BITS[t]
    more = ", {c}" if first.startswith("mad") else ""
    again = ", {b}" if middle.startswith("mad") else ""
    begin, go_on = f"{first}.{t} {{d}}, {{a}}, {{b}}{more};", f"{middle}.{t} {{e}}, {{a}}, {{c}}{again};"
    return [Op(f"{begin}\n{go_on}", [t, t], bits, bits, bits, name=f"{first}_{middle}_{t}"),
            Op(f"{begin}\naddc.{t} {{e}}, 0, 0;", [t, t], bits, bits, bits, name=f"carry_{first}_before_{middle}_{t}"),
            Op(f"{begin}\n{go_on}\naddc.{t} {{d}}, 0, 0;", [t], bits, bits, bits, name=f"carry_{first}_{middle}_{t}")]


SMALL = {32: ("0,1,0x7fffffff,0x80000000,0xffffffff,0x12345678", "0,1,0x7fffffff,0x80000000,0xffffffff"),
         64: ("0,1,0xffffffff,0x8000000000000000,-1,0x123456789abcdef0", "0,1,0x7fffffffffffffff,0x8000000000000000,-1")}
for t in ("u32", "s32", "u64", "s64"):
    file(f"extended/add_sub_{t}", "add.cc, addc, sub.cc, subc: results, and the carry read back", SMALL,
         [op for first, middle in (("add.cc", "addc.cc"), ("sub.cc", "subc.cc"), ("add.cc", "subc.cc"), ("sub.cc", "addc.cc"))
          for op in carried(first, middle, t)]
         + [Op(f"{first}.{t} %e{BITS[t]}, {{a}}, {{b}};\n{last}.{t} {{d}}, {{a}}, {{c}};", [t], *[BITS[t]] * 3, name=f"{first}_{last}_{t}")
            for first in ("add.cc", "sub.cc") for last in ("addc", "subc")])
    file(f"extended/mad_{t}", "mad.cc, madc: results, and the carry read back", SMALL,
         [op for half in ("lo", "hi") for op in carried(f"mad.{half}.cc", f"madc.{half}.cc", t)]
         + [Op(f"{first}.{t} %e{BITS[t]}, {{a}}, {{b}};\nmadc.{half}.{t} {{d}}, {{a}}, {{c}}, {{b}};", [t], *[BITS[t]] * 3,
               name=f"{first}_madc.{half}_{t}") for first in ("add.cc", "sub.cc") for half in ("lo", "hi")])

# ---- float ----------------------------------------------------------------------------------------------------------

for op in ("add", "sub", "mul"):
    file(f"float/{op}", f"{op}: to nearest even; subnormals kept or flushed; clamped to [0, 1]", FLOATS,
         [plain(f"{op}{m}.f32", "f32", "f32", "f32") for m in ("", ".rn", ".ftz", ".sat", ".rn.ftz.sat")] + [plain(f"{op}.rn.f64", "f64", "f64", "f64")])
for op in ("fma", "mad"):
    file(f"float/{op}", f"{op}: rounded once", FLOATS,
         [plain(f"{op}.rn{m}.f32", "f32", "f32", "f32", "f32") for m in ("", ".ftz", ".sat", ".ftz.sat")] + [plain(f"{op}.rn.f64", "f64", "f64", "f64", "f64")])
file("float/div", "div.rn", FLOATS, [plain("div.rn.f32", "f32", "f32", "f32"), plain("div.rn.ftz.f32", "f32", "f32", "f32"), plain("div.rn.f64", "f64", "f64", "f64")])
file("float/unary", "abs, neg, rcp, sqrt", {w: (f"{v[0]},{v[1]}", "") for w, v in FLOATS.items()},
     [plain(f"{op}{m}.{t}", t, t) for op in ("abs", "neg", "rcp.rn", "sqrt.rn") for m, t in (("", "f32"), (".ftz", "f32"), ("", "f64"))])
file("float/min_max", "min, max: the number beside a NaN; -0 is below +0", FLOATS,
     [plain(f"{op}{m}.f32", "f32", "f32", "f32") for op in ("min", "max") for m in ("", ".ftz", ".NaN", ".ftz.NaN")]
     + [plain(f"{op}.f64", "f64", "f64", "f64") for op in ("min", "max")], target="sm_80")
file("float/min_max_xorsign", "min, max by magnitude, signs multiplied", FLOATS,
     [plain(f"{op}{m}.xorsign.abs.f32", "f32", "f32", "f32") for op in ("min", "max") for m in ("", ".ftz", ".NaN")], version="7.2", target="sm_86")
file("float/testp_copysign", "testp, copysign", FLOATS,
     [plain(f"copysign.{t}", t, t, t) for t in ("f32", "f64")]
     + [Op(f"testp.{kind}.{t} {{p}}, {{a}};\nselp.u32 {{d}}, 1, 0, {{p}};", ["u32"], BITS[t], name=f"testp.{kind}.{t}") for t in ("f32", "f64")
        for kind in ("finite", "infinite", "number", "notanumber", "normal", "subnormal")])

# Where the approximate functions have their edges: powers of 2 and neighbours, pi, bounds of ex2, lg2 near 1, tanh's ends, the largest divisors.
NEAR = ("0x3f7fffff,0x3f800001,0x3f000000,0x40000000,0x40800000,0x3effffff,0x3f3504f3,0x3fb504f3,0x3fc90fdb,0x40490fdb,0xc0490fdb,0x40c90fdb,"
        "0x42fe0000,0x42ffffff,0x43000000,0x43160000,0xc2fc0000,0xc2fc0001,0xc3000000,0xc3150000,0xc3150001,0xc3160000,0x3b7fffff,0x3b800000,"
        "0xbb800001,0x40ffffff,0x41000000,0xc1000001,0x4b000000,0x4f000000,0x7e000000,0x7dffffff,0x7e800000,0x7e800001,0xfe800000,0x7f000000,"
        "0x00000002,0x00400000,0x007fffff,0x807fffff,0x00800001,0x01000000,0x80800000,0x3eaaaaab,0xbeaaaaab,0x40a00000,0xbf000001,0x3dcccccd")
NEAR_64 = ("0x3fefffffffffffff,0x3ff00000ffffffff,0x3ff0000100000000,0x4000000000000000,0x4010000000000000,0x400fffffffffffff,0x4008000000000000,"
           "0xc008000000000000,0x000fffffffffffff,0x0010000000000000,0x001fffff12345678,0x7fdfffffffffffff,0x7fe0000000000000,0x7fd0000100000000,"
           "0x7ff00000ffffffff,0xfff0000000000001,0x3fe0000000000000,0x0000000100000000,0x0000000000000002,0x8000000000000001")
HALVES = ("0,0x8000,0x3c00,0xbc00,1,0x83ff,0x0400,0x7bff,0xfbff,0x7c00,0xfc00,0x7c01,0xfe00,0x3800,0x4248,0x4bff,0x4c00,0xcb80,0xcc00,0xce40,"
          "0xce41,0x4800,0x1c00,0x3f80,0xbf80,0x0080,0x007f,0x7f7f,0x7f80,0xff80,0x7f81,0xffc0,0x4300,0x42fe,0xc2fc,0xc315,0x3b80,0x4100")
PAIRS = ",".join(f"{int(a, 0) << 16 | int(b, 0):#010x}" for a, b in zip(HALVES.split(","), reversed(HALVES.split(","))))


def with_more(values, more):
    return f"{values[0]},{values[1]},{more}"


file("float/approx", "rcp, rsqrt, sqrt, ex2, lg2, sin, cos, tanh, approximate", {32: (with_more(FLOATS[32], NEAR), "")},
     [plain(f"{op}.approx{m}.f32", "f32", "f32") for op in ("rcp", "rsqrt", "sqrt", "ex2", "lg2", "sin", "cos") for m in ("", ".ftz")]
     + [plain("tanh.approx.f32", "f32", "f32")], target="sm_75")
file("float/approx_f64", "rcp, rsqrt of f64, approximate: the upper half of a number", {64: (with_more(FLOATS[64], NEAR_64), "")},
     [plain(f"{name}.f64", "f64", "f64") for name in ("rcp.approx.ftz", "rsqrt.approx.ftz", "rsqrt.approx")])
file("float/approx_div", "div.approx, div.full: divisors above 2^126", {32: (F32 + ",0x7e800000,0x00400000", F32_B + ",0x7e800000,0x7e800001,0xfe7fffff,0x00400000")},
     [plain(f"div.{kind}{m}.f32", "f32", "f32", "f32") for kind in ("approx", "full") for m in ("", ".ftz")])
file("half/approx", "tanh, ex2 of half precision, approximate", {16: (HALVES, ""), 32: (PAIRS, "")},
     [Op(f"{name}.{kind}{many} {{d}}, {{a}};", ["b32" if many else "b16"], 32 if many else 16, name=f"{name}.{kind}{many}")
      for name, kind in (("tanh.approx", "f16"), ("tanh.approx", "bf16"), ("ex2.approx", "f16"), ("ex2.approx.ftz", "bf16")) for many in ("", "x2")],
     version="7.8", target="sm_90")
# in the other roundings: beside a number, at the ends of the range, and sums that are zero
TIGHT = {32: ("0,0x80000000,0x3f800000,0xbf800001,0x00000001,0x807fffff,0x7f7fffff,0xff800000,0xffc12345,0x3f7fffff,0x00800000,0x80800001,0x33800001,0x1fffffff",
              "0,0x80000000,0x3f800000,0xbf800000,0x00000001,0x807fffff,0x7f7fffff,0xff7fffff,0x7f800001,0x3eaaaaab,0x3f7fffff,0xb3800000,0x9f800001,0x00800000"),
         64: ("0,0x8000000000000000,0x3ff0000000000000,0xbff0000000000001,1,0x800fffffffffffff,0x7fefffffffffffff,0xfff0000000000000,0xfff8123456789abc,"
              "0x3fefffffffffffff,0x0010000000000000,0x8010000000000001,0x3ca0000000000001,0x1fffffffffffffff",
              "0,0x8000000000000000,0x3ff0000000000000,0xbff0000000000000,1,0x800fffffffffffff,0x7fefffffffffffff,0xffefffffffffffff,0x7ff0000000000001,"
              "0x3fd5555555555555,0x3fefffffffffffff,0xbca0000000000000,0x9ff0000000000001,0x0010000000000000")}
DIRECTED = ("rz", "rm", "rp")
for op in ("add", "sub", "mul"):
    file(f"float/{op}_rounding", f"{op}: towards zero, down, up; subnormals kept or flushed; clamped to [0, 1]", TIGHT,
         [plain(f"{op}.{r}{m}.f32", "f32", "f32", "f32") for r in DIRECTED for m in ("", ".ftz", ".sat", ".ftz.sat")]
         + [plain(f"{op}.{r}.f64", "f64", "f64", "f64") for r in DIRECTED])
for op in ("fma", "mad"):
    file(f"float/{op}_rounding", f"{op}: rounded once, towards zero, down, up", TIGHT,
         [plain(f"{op}.{r}{m}.f32", "f32", "f32", "f32", "f32") for r in DIRECTED for m in ("", ".ftz", ".sat", ".ftz.sat")]
         + [plain(f"{op}.{r}.f64", "f64", "f64", "f64", "f64") for r in DIRECTED])
file("float/div_rounding", "div: towards zero, down, up", TIGHT,
     [plain(f"div.{r}{m}.f32", "f32", "f32", "f32") for r in DIRECTED for m in ("", ".ftz")] + [plain(f"div.{r}.f64", "f64", "f64", "f64") for r in DIRECTED])
file("float/unary_rounding", "rcp, sqrt: towards zero, down, up", {w: (",".join(v + FLOATS[w]), "") for w, v in TIGHT.items()},
     [plain(f"{op}.{r}{m}.{t}", t, t) for op in ("rcp", "sqrt") for r in DIRECTED for m, t in (("", "f32"), (".ftz", "f32"), ("", "f64"))])
file("float/mad_old", "mad of sm_1x: on later hardware fma.rn.ftz", FLOATS,
     [plain(f"mad{m}.f32", "f32", "f32", "f32", "f32") for m in ("", ".ftz", ".sat", ".ftz.sat")], version="3.0", target="sm_13")
# newer than the cards that record: the words are those of model.py
file("float/halves", "add, sub, mul, fma of two f32 in 64 bits", TWOS,
     [plain(f"{op}{r}{m}.f32x2", *["f32x2"] * (4 if op == "fma" else 3)) for op in ("add", "sub", "mul", "fma") for r in (".rn", ".rz", ".rm", ".rp", "")
      for m in ("", ".ftz") if r or op != "fma"], version="8.6", target="sm_100", model=model.floats)
file("float/min_max_three", "min, max of three, and by magnitude", FLOATS,
     [plain(f"{op}{m}.f32", "f32", "f32", "f32", "f32") for op in ("min", "max") for m in ("", ".ftz", ".NaN", ".ftz.NaN", ".abs", ".ftz.NaN.abs")],
     version="8.8", target="sm_100", model=model.floats)

# edges of f16 and bf16 alike: zeros, ones, subnormals, bounds, NaNs (one of them out of bounds), and what rounds
HALF = ("0,0x8000,0x3c00,0xbc00,0x0001,0x83ff,0x0400,0x7bff,0xfc00,0xfe00,0x7c01,0x7ff7,0x3f80,0xbf80,0x0080,0x7f7f,0xff80,0x3c01,0x1401",
        "0,0x8000,0x3c00,0xbe00,0x0001,0x807f,0x0401,0xfbff,0x7c00,0x7fff,0xfff7,0x3bff,0x3f81,0x3555,0x8080,0xff7f,0x7f80,0x0c00,0xb3ff")
HALF_TWO = tuple(",".join(f"{int(high, 16) << 16 | int(low, 16):#010x}" for low, high in zip(words, words[turn:] + words[:turn]))
                 for words, turn in ((HALF[0].split(","), 3), (HALF[1].split(","), 5)))
HALF_VALUES = {16: HALF, 32: HALF_TWO}


def half(mnemonic, t, count):
    """An instruction of so many operands of f16, bf16 or two of them."""
    width = 32 if t.endswith("x2") else 16
    return Op(f"{mnemonic}.{t} {', '.join('{' + name + '}' for name in 'dabc'[:count + 1])};", [f"b{width}"], *[width] * count,
              name=f"{mnemonic}.{t}")


F16S, BF16S = ("f16", "f16x2"), ("bf16", "bf16x2")
for op in ("add", "sub", "mul"):
    file(f"half/{op}", f"{op} of half precision: subnormals kept or flushed; clamped to [0, 1]", HALF_VALUES,
         [half(f"{op}{m}", t, 2) for m in ("", ".rn", ".ftz", ".sat", ".rn.ftz.sat") for t in F16S]
         + [half(f"{op}{m}", t, 2) for m in ("", ".rn") for t in BF16S], version="7.8", target="sm_90", model=model.halves)
file("half/fma", "fma of half precision: rounded once; negative results 0; out of bounds", HALF_VALUES,
     [half(f"fma.rn{m}", t, 3) for m in ("", ".ftz", ".sat", ".ftz.sat", ".relu", ".ftz.relu", ".oob", ".oob.relu") for t in F16S]
     + [half(f"fma.rn{m}", t, 3) for m in ("", ".relu", ".oob", ".oob.relu") for t in BF16S], version="8.1", target="sm_90", model=model.halves)
file("half/min_max", "min, max of half precision", HALF_VALUES,
     [half(f"{op}{m}", t, 2) for op in ("min", "max") for m in ("", ".ftz", ".NaN", ".ftz.NaN", ".xorsign.abs", ".ftz.NaN.xorsign.abs") for t in F16S]
     + [half(f"{op}{m}", t, 2) for op in ("min", "max") for m in ("", ".NaN", ".xorsign.abs", ".NaN.xorsign.abs") for t in BF16S],
     version="7.8", target="sm_90", model=model.halves)
file("half/abs_neg", "abs, neg of half precision: a NaN is 0x7fff", {w: (",".join(v), "") for w, v in HALF_VALUES.items()},
     [half(f"{op}{m}", t, 1) for op in ("abs", "neg") for m in ("", ".ftz") for t in F16S] + [half(op, t, 1) for op in ("abs", "neg") for t in BF16S],
     version="7.8", target="sm_90", model=model.halves)

# ---- compare --------------------------------------------------------------------------------------------------------

FCMP = ["eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"]


def comparisons(t):
    if t[0] == "b":
        return ["eq", "ne"]
    if t[0] == "f":
        return FCMP
    return ["eq", "ne", "lt", "le", "gt", "ge"] + (["lo", "ls", "hi", "hs"] if t[0] == "u" else [])


def setp_bits(t, tail="", middle="", wide=False):
    """One word for a type: the bits are the comparisons in order, p of each (and q behind it)."""
    text, bit = "mov.b32 %d32, 0;", 0
    for cmp in comparisons(t):
        two = "|{q}" if wide else ""
        text += f"\nsetp.{cmp}{middle}.{t} {{p}}{two}, {{a}}, {{b}}{tail};\n@{{p}} or.b32 {{d}}, {{d}}, {1 << bit};"
        bit += 1
        if wide:
            text += f"\n@{{q}} or.b32 {{d}}, {{d}}, {1 << bit};"
            bit += 1
    return text


def setp_file(name, types, about, values):
    file(name, about, values,
         [Op(setp_bits(t, wide=True), ["b32"], BITS[t], BITS[t], name=f"setp_{t}") for t in types]
         + [Op(setp_bits(t, ", {odd}", f".{b}"), ["b32"], BITS[t], BITS[t], name=f"setp_{b}_{t}") for t in types for b in ("and", "or", "xor")]
         + [Op(setp_bits(t, ", !{odd}", f".{b}", True), ["b32"], BITS[t], BITS[t], name=f"setp_{b}_q_not_{t}") for t in types for b in ("and", "or", "xor")])


BITWISE = "the bits of a result are the comparisons in the order of the text, p and then q of each"
file("float/sm_1x", "modules for targets before sm_20: f32 is flushed, whatever the text says", FLOATS,
     [plain(f"{op}.f32", "f32", "f32", "f32") for op in ("add", "sub", "mul", "min", "max", "add.sat")] + [plain(f"{op}.f32", "f32", "f32") for op in ("abs", "neg")]
     + [Op(setp_bits("f32"), ["b32"], 32, 32, name="setp")], version="3.0", target="sm_13")
setp_file("compare/setp_integer", INT + BIT, f"setp of integers: {BITWISE}", INTEGERS)
setp_file("compare/setp_float", ["f32", "f64"], f"setp of floats: {BITWISE}", FLOATS)
file("compare/setp_ftz", f"setp.ftz: {BITWISE}", FLOATS,
     [Op(setp_bits("f32", middle=".ftz", wide=True), ["b32"], 32, 32, name="setp_ftz_f32")]
     + [Op(setp_bits("f32", ", {odd}", f".{b}.ftz"), ["b32"], 32, 32, name=f"setp_{b}_ftz_f32") for b in ("and", "or", "xor")])


def set_bits(d, t, tail="", middle=""):
    """One word for a type: for each comparison the lowest bit of the result, and of its top byte (all ones, or 1.0)."""
    text = "mov.b32 %d32, 0;"
    for cmp in comparisons(t):
        text += f"\nset.{cmp}{middle}.{d}.{t} {{s}}, {{a}}, {{b}}{tail};\nshf.l.wrap.b32 {{d}}, {{d}}, {{d}}, 2;\nand.b32 {{r}}, {{s}}, {0x3f800001:#x};" \
                "\nxor.b32 {d}, {d}, {r};"
    return text


SET_WORD = "a result mixes the comparisons in the order of the text, so that it shows both the mask and 1.0"
file("compare/set_integer", f"set of integers: {SET_WORD}", INTEGERS,
     [Op(set_bits(d, t), ["b32"], BITS[t], BITS[t], name=f"set_{d}_{t}") for t in INT + BIT for d in ("u32", "s32", "f32")]
     + [Op(set_bits(d, t, ", {odd}", f".{b}"), ["b32"], BITS[t], BITS[t], name=f"set_{b}_{d}_{t}") for t, d in
        (("u16", "u32"), ("s16", "s32"), ("u32", "f32"), ("s32", "u32"), ("u64", "s32"), ("s64", "f32"), ("b64", "u32")) for b in ("and", "or", "xor")])
file("compare/set_float", f"set of floats: {SET_WORD}", FLOATS,
     [Op(set_bits(d, t), ["b32"], BITS[t], BITS[t], name=f"set_{d}_{t}") for t in ("f32", "f64") for d in ("u32", "s32", "f32")]
     + [Op(set_bits(d, t, ", !{odd}", f".{b}"), ["b32"], BITS[t], BITS[t], name=f"set_{b}_{d}_{t}") for t, d in (("f32", "u32"), ("f64", "f32"))
        for b in ("and", "or", "xor")])
file("compare/set_ftz", f"set.ftz: {SET_WORD}", FLOATS,
     [Op(set_bits(d, "f32", middle=".ftz"), ["b32"], 32, 32, name=f"set_ftz_{d}_f32") for d in ("u32", "s32", "f32")]
     + [Op(set_bits("u32", "f32", ", {odd}", f".{b}.ftz"), ["b32"], 32, 32, name=f"set_{b}_ftz_u32_f32") for b in ("and", "or", "xor")])
ANY = BIT + INT + ["f32", "f64"]
file("compare/selp", "selp: also by a negated predicate", INTEGERS,
     [Op(f"selp.{t} {{d}}, {{a}}, {{b}}, {bang}{{odd}};", [t], BITS[t], BITS[t], name=f"selp{'_not' if bang else ''}.{t}") for t in ANY for bang in ("", "!")])
file("compare/slct_s32", "slct by the sign of an integer", {w: (v[0], v[1]) for w, v in INTEGERS.items()},
     [plain(f"slct.{t}.s32", t, t, t, "s32") for t in ANY])
SIGNS = {16: INTEGERS[16], 64: INTEGERS[64], 32: (F32, INTEGERS[32][1])}
file("compare/slct_f32", "slct by the sign of a float: -0 counts as 0, a NaN selects b", SIGNS, [plain(f"slct.{t}.f32", t, t, t, "f32") for t in ANY])

# ---- logic and shift ------------------------------------------------------------------------------------------------

file("logic/bitwise", "and, or, xor, not, cnot", INTEGERS,
     [plain(f"{op}.{t}", t, t, t) for op in ("and", "or", "xor") for t in BIT] + [plain(f"{op}.{t}", t, t) for op in ("not", "cnot") for t in BIT])
file("logic/pred", "and, or, xor, not of predicates: the bits are the instructions in order", INTEGERS,
     [Op("setp.lt.s32 {p}, {a}, 5;\nsetp.gt.u32 {q}, {b}, 8;\nmov.b32 {d}, 0;\n" + "\n".join(
         f"{text}\n@%t or.b32 {{d}}, {{d}}, {1 << k};" for k, text in enumerate(
             [f"{op}.pred %t, {x}{{p}}, {y}{{q}};" for op in ("and", "or", "xor") for x in ("", "!") for y in ("", "!")]
             + ["not.pred %t, {p};", "not.pred %t, !{q};", "mov.pred %t, {p};", "mov.pred %t, !{p};", "mov.pred %t, 1;", "mov.pred %t, 0;"])
     ).replace("%t", "%odd"), ["b32"], 32, 32, name="predicates")])
LUTS = (0x00, 0x1b, 0x96, 0xca, 0xe8)
file("logic/lop3", "lop3: tables of two and three operands", INTEGERS,
     [Op(f"lop3.b32 {{d}}, {{a}}, {{b}}, {{c}}, {lut:#04x};", ["b32"], 32, 32, 32, name=f"lop3_{lut:02x}") for lut in LUTS])
file("logic/lop3_bool", "lop3 with a predicate result: the result is not 0, combined with q", INTEGERS,
     [Op(f"lop3.{op}.b32 {d}|{{p}}, {{a}}, {{b}}, {{c}}, {lut:#04x}, {bang}{{odd}};\nselp.b32 {{e}}, 1, 0, {{p}};" + ("\nmov.b32 {d}, 0;" if d == "_" else ""),
         ["b32", "u32"], 32, 32, 32, name=f"lop3_{op}_{lut:02x}{'_not' if bang else ''}{'_none' if d == '_' else ''}")
      for op in ("or", "and") for lut, bang, d in ((0x80, "", "{d}"), (0xc0, "!", "{d}"), (0x96, "", "_"), (0x00, "", "{d}"), (0xff, "!", "_"))],
     version="8.2")
file("shift/shl_shr", "shl, shr: amounts clamped to the width", SHIFTS,
     [plain(f"{op}.{t}", t, t, "u32") for op, types in (("shl", BIT), ("shr", INT + BIT)) for t in types]
     + [Op(f"{op}.{t} {{d}}, {{a}}, {n};", [t], BITS[t], name=f"{op}.{t}_{n & 0xffffffff}") for op, types in (("shl", BIT), ("shr", ["s16", "u32", "s32", "s64"])) for t in types
        for n in (3, 64)])
file("shift/shf", "shf: amounts clamped or wrapped", SHIFTS,
     [Op(f"shf.{way}.{mode}.b32 {{d}}, {{a}}, {{c}}, {{b}};", ["b32"], 32, 32, 32) for way in "lr" for mode in ("clamp", "wrap")])
file("move/prmt", "prmt: selectors with sign replication, and the modes", {32: ("0x03020100,0x89abcdef,0x80ff7f00", "0x3210,0x7654,0xfedc,0x0123,0x8f19,0x55aa,0xffff3276,1,2,3,7")},
     [Op(f"prmt.b32{mode} {{d}}, {{a}}, {{c}}, {{b}};", ["b32"], 32, 32, 32) for mode in ("", ".f4e", ".b4e", ".rc8", ".ecl", ".ecr", ".rc16")])

# ---- convert --------------------------------------------------------------------------------------------------------

INT8 = ["u8", "u16", "u32", "u64", "s8", "s16", "s32", "s64"]


def register_width(t):
    return max(BITS[t], 16)


def convert(mnemonic, d, a, wide=False):
    """Results narrower than a word go to a word, to show how they are extended."""
    result = "b32" if BITS[d] < 32 else d
    if wide:
        result = "b64"
    source = 32 if BITS[a] == 8 else BITS[a]
    return Op(f"{mnemonic} {{d}}, {{a}};", [result], source, name=mnemonic + ("_wide" if wide else ""))


SATURATES = {"u8": "u16 u32 u64 s8 s16 s32 s64", "u16": "u32 u64 s8 s16 s32 s64", "u32": "u64 s8 s16 s32 s64", "u64": "s8 s16 s32 s64",
             "s8": "u8 u16 u32 u64 s16 s32 s64", "s16": "u16 u32 u64 s32 s64", "s32": "u32 u64 s64", "s64": "u64"}
file("move/cvt_integer", "cvt between integers: the low bits, extended to the register", FROM_INTEGER,
     [convert(f"cvt.{d}.{a}", d, a) for d in INT8 for a in INT8]
     + [convert(f"cvt.{d}.{a}", d, a, True) for d in ("u8", "s8", "u16", "s16", "u32", "s32") for a in ("u8", "s16", "s32", "u64")])
file("move/cvt_integer_sat", "cvt.sat between integers: clamped", FROM_INTEGER,
     [convert(f"cvt.sat.{d}.{a}", d, a) for d in INT8 for a in SATURATES[d].split()])
for t in ("f32", "f64"):
    file(f"move/cvt_from_{t}", f"cvt of {t} to integers: rounded, clamped, a NaN", TO_INTEGER,
         [convert(f"cvt.{r}.{d}.{t}", d, t) for r in ("rni", "rzi", "rmi", "rpi") for d in INT8]
         + [convert(f"cvt.rzi.sat.{d}.{t}", d, t) for d in ("u8", "s16", "u32", "s64")]
         + ([convert(f"cvt.{r}.ftz.{d}.f32", d, t) for r in ("rni", "rpi", "rmi") for d in ("u8", "s32", "u64")] if t == "f32" else []))
    file(f"move/cvt_to_{t}", f"cvt of integers to {t}", FROM_INTEGER,
         [convert(f"cvt.{r}.{t}.{a}", t, a) for r in ("rn", "rz", "rm", "rp") for a in INT8])
TWO = {32: (TO_INTEGER[32][0] + "," + F32, ""), 16: ("0,0x8000,0x3c00,0xbc00,0x0001,0x83ff,0x0400,0x7bff,0x7c00,0xfc00,0x7e00,0xfd01,0x7c01,0x3555", ""),
       64: (TO_INTEGER[64][0] + ",0x36a0000000000000,0x36a0000000000001,0x380fffffffffffff,0x3810000000000000,0x47efffffe0000000,0x3ff0000010000000,"
            "0x3ff0000030000000,0xbff0000010000001,0xc7f0000000000000,0x3fefffffffffffff,0x3fc999999999999a", "")}
file("move/cvt_float", "cvt between f32 and f64, and to integral values", TWO,
     [convert("cvt.f64.f32", "f64", "f32")] + [convert(f"cvt.{r}.f32.f64", "f32", "f64") for r in ("rn", "rz", "rm", "rp")]
     + [convert(f"cvt.{r}.{t}.{t}", t, t) for r in ("rni", "rzi", "rmi", "rpi") for t in ("f32", "f64")]
     + [convert(f"cvt.{t}.{t}", t, t) for t in ("f32", "f64")])
file("move/cvt_float_mode", "cvt between floats with ftz and sat", TWO,
     [convert(f"cvt{m}.f64.f32", "f64", "f32") for m in (".ftz", ".sat", ".ftz.sat")]
     + [convert(f"cvt.{r}{m}.f32.f64", "f32", "f64") for r in ("rn", "rz", "rm", "rp") for m in (".ftz", ".sat", ".ftz.sat")]
     + [convert(f"cvt.{r}{m}.f32.f32", "f32", "f32") for r in ("rni", "rzi", "rmi", "rpi") for m in (".ftz", ".sat", ".ftz.sat")]
     + [convert(f"cvt.{r}.sat.f64.f64", "f64", "f64") for r in ("rni", "rzi", "rmi", "rpi")]
     + [convert(f"cvt{m}.f32.f32", "f32", "f32") for m in (".ftz", ".sat", ".ftz.sat")] + [convert("cvt.sat.f64.f64", "f64", "f64")])
file("move/cvt_half", "cvt between f16 and f32", TWO,
     [convert("cvt.f32.f16", "f32", "f16")]
     + [Op(f"cvt.{r}.f16.f32 {{d}}, {{a}};", ["f16"], 32) for r in ("rn", "rz")])
# what lies at the middle of two numbers and beside it, at the ends, below the normal numbers and beyond the largest
TO_HALF = ("0x3f801000,0xbf801000,0x3f803000,0x3f808000,0xbf818000,0x3f818001,0x3f807fff,0x33000000,0xb3000001,0x33c00000,0x387ff000,0xb87fefff,0x477fe000,"
           "0x477ff000,0xc77fefff,0x7f7f8000,0xff7fffff,0x00008000,0x80018000,0x000000ff,0x7f7ff000,0x3f7ff000,0x3f7fffff")
HALVES = {16: ("0,0x8000,0x3c00,0xbc00,0x3f80,0x0001,0x8001,0x007f,0x807f,0x0080,0x03ff,0x0400,0x7bff,0x7c00,0xfc00,0x7e00,0xfd01,0x7c01,0x7f80,0xff80,0x7f81,0xffc1,0x3555", ""),
          32: (F32 + "," + TO_HALF, "")}
PACKED = {32: (F32 + "," + TO_HALF, "0x3f801000,0xff7fffff,0x7fc00000,0x80000001,0x477ff000")}
file("move/cvt_half_mode", "cvt between f16 and f32 in all roundings, saturated or not", HALVES,
     [Op(f"cvt.{r}{m}.f16.f32 {{d}}, {{a}};", ["f16"], 32) for r in ("rm", "rp") for m in ("", ".ftz", ".sat", ".ftz.sat")]
     + [Op(f"cvt.{r}{m}.f16.f32 {{d}}, {{a}};", ["f16"], 32) for r in ("rn", "rz") for m in (".ftz", ".sat", ".ftz.sat", ".relu", ".satfinite", ".relu.satfinite")]
     + [convert(f"cvt{m}.f32.f16", "f32", "f16") for m in (".ftz", ".sat", ".ftz.sat")], version="8.1", target="sm_80", model=model_half.converted)
file("move/cvt_half_pairs", "cvt of two f32 to f16x2, bf16x2", PACKED,
     [Op(f"cvt.{r}{m}.{t}.f32 {{d}}, {{a}}, {{b}};", ["b32"], 32, 32)
      for t in ("f16x2", "bf16x2") for r in ("rn", "rz") for m in ("", ".relu", ".satfinite", ".relu.satfinite")],
     version="8.1", target="sm_80", model=model_half.converted)
file("move/cvt_bf16", "cvt between bf16 and f32", HALVES,
     [Op(f"cvt.{r}{m}.bf16.f32 {{d}}, {{a}};", ["b16"], 32) for r in ("rn", "rz") for m in ("", ".ftz", ".relu", ".satfinite", ".relu.satfinite")]
     + [Op(f"cvt.{r}{m}.bf16.f32 {{d}}, {{a}};", ["b16"], 32) for r in ("rm", "rp") for m in ("", ".ftz")]
     + [convert(f"cvt{m}.f32.bf16", "f32", "b16") for m in ("", ".rn", ".rz", ".rm", ".rp", ".ftz", ".rn.ftz")],
     version="8.1", target="sm_90", model=model_half.converted)
file("move/cvt_tf32", "cvt of f32 to tf32", HALVES,
     [convert(f"cvt.{m}.tf32.f32", "b32", "f32") for m in ("rna", "rna.satfinite", "rn", "rz", "rn.relu", "rz.relu", "rn.satfinite", "rz.satfinite", "rn.relu.satfinite")],
     version="8.6", target="sm_100", model=model_half.converted)
SHORT = {"f16": "f16", "bf16": "b16"}
TO_SHORT = {w: (f"{FROM_INTEGER[w][0]},{more}", "") for w, more in
            ((16, "0x0801,0x0802,0x0803,0x0101,0x0103,0x8001,0xf7ff"), (32, "0x00000801,0x00001002,0x00001006,0xfffff7ff,65504,65519,65520,65535,0x00010100,0xffff0010,0x01010000,0x01010001"),
             (64, "0x0000000000000801,0x0000000000001003,65519,65520,0xffffffffffff0010,0x0101000000000000,0x0101000000000001,0x8080000000000001,0xfeff000000000000"))}


def from_byte(mnemonic, t):
    """bf16 of 8 bits: ptxas wants a register of 8 bits there."""
    return Op(f"{{{{\n.reg .b8 %c;\ncvt.u8.u32 %c, {{a}};\n{mnemonic} {{d}}, %c;\n}}}}", ["b16"], 32, mnemonic=mnemonic, name=mnemonic)


def to_byte(mnemonic, t):
    return Op(f"{{{{\n.reg .b8 %c;\n{mnemonic} %c, {{a}};\ncvt.{t[0]}32.{t} {{d}}, %c;\n}}}}", ["b32"], 16, mnemonic=mnemonic, name=mnemonic)


def to_half(mnemonic, kind, a):
    if kind == "bf16" and BITS[a] == 8:
        return from_byte(mnemonic, a)
    return Op(f"{mnemonic} {{d}}, {{a}};", ["b16"], 32 if BITS[a] == 8 else BITS[a], mnemonic=mnemonic)


def from_half(mnemonic, kind, d):
    """Of bf16 the register has the size of the type, so that what is shorter than a word goes on to one."""
    if kind == "f16" or BITS[d] > 16:
        return Op(f"{mnemonic} {{d}}, {{a}};", ["b64" if BITS[d] == 64 else "b32"], 16)
    return to_byte(mnemonic, d) if BITS[d] == 8 else Op(f"{mnemonic} %e16, {{a}};\ncvt.{d[0]}32.{d} {{d}}, %e16;", ["b32"], 16)


ROUNDINGS, INTEGRAL = ("rn", "rz", "rm", "rp"), ("rni", "rzi", "rmi", "rpi")
HALF_ONLY = {16: (HALVES[16][0] + ",0x3800,0xb800,0x3e00,0xbe00,0x4100,0xc100,0x3f00,0xbf00,0x3fc0,0xbfc0,0x4020,0xc020,0x5bf8,0x5c04,0xd808,0x42ff,0x437f,0x6bff,0x77ff,0x4f00,0xcf01,0x5f80", "")}
for kind, sats in (("f16", ("", ".sat")), ("bf16", ("",))):
    file(f"move/cvt_to_{kind}", f"cvt of integers to {kind}", TO_SHORT,
         [to_half(f"cvt.{r}{m}.{kind}.{a}", kind, a) for r in ROUNDINGS for m in sats for a in INT8 if not m or r == "rn"], version="7.8", target="sm_90", model=model_half.converted)
    file(f"move/cvt_from_{kind}", f"cvt of {kind} to integers: rounded, clamped, a NaN", HALF_ONLY,
         [from_half(f"cvt.{r}{m}.{d}.{kind}", kind, d) for r in INTEGRAL for m in sats for d in INT8 if not m or r == "rzi"], version="7.8", target="sm_90", model=model_half.converted)
    file(f"move/cvt_{kind}_f64", f"cvt between {kind} and f64, between f16 and bf16, and to integral numbers", {16: HALF_ONLY[16], 64: (
        TWO[64][0] + ",0x3ff0020000000000,0x3ff0020000000001,0xbff0060000000000,0x3ff0100000000000,0x3ff0100000000001,0xbff0300000000000,0x3e60000000000000,0x3e60000000000001,"
        "0xbe70000000000000,0x3f0ffbffffffffff,0x40effc0000000000,0x40effe0000000000,0x40effdffffffffff,0x47efefffffffffff,0x47eff00000000000,0x36f8000000000000,0x3710000000000001", "")},
         [Op(f"cvt.{r}{m}.{kind}.f64 {{d}}, {{a}};", ["b16"], 64) for r in ROUNDINGS for m in sats]
         + [Op(f"cvt{r}{m}.{kind}.{kind} {{d}}, {{a}};", ["b16"], 16) for r in ("", *("." + r for r in INTEGRAL)) for m in sats]
         + [Op(f"cvt{m}.f64.{kind} {{d}}, {{a}};", ["f64"], 16) for m in (sats if kind == "f16" else ("", *("." + r for r in ROUNDINGS)))]
         + [Op(f"cvt{r}.{kind}.{'bf16' if kind == 'f16' else 'f16'} {{d}}, {{a}};", ["b16"], 16) for r in ("", *("." + r for r in ROUNDINGS))],
         version="7.8", target="sm_90", model=model_half.converted)
file("move/cvt_int_sat", "cvt.sat of integers to f32 and f64: 0 or 1", FROM_INTEGER,
     [convert(f"cvt.{r}{m}.sat.{t}.{a}", t, a) for t, r, m in (("f32", "rn", ""), ("f32", "rm", ".ftz"), ("f32", "rp", ""), ("f64", "rn", ""), ("f64", "rz", "")) for a in INT8],
     model=model_half.converted)

# what lies at the numbers of small formats, at their middles and beside them; and words with bits to take at random
SMALL = ("0,0x80000000,0x3f800000,0xbfa00000,0x3fc00000,0xc0000000,0x3e800000,0x3e7fffff,0x3e800001,0x3f400000,0xbf400001,0x40a00000,0x40c00000,0xc0c00001,0x40f00000,0x40efffff,"
         "0x41e00000,0xc1e00001,0x41f00000,0x43e00000,0x43e80000,0x43e80001,0xc3e7ffff,0x43f00000,0x47600000,0x47680000,0xc7700000,0x477fffff,0x3a800000,0x3a7fffff,0x3b000001,"
         "0x3c800000,0x37000000,0x36ffffff,0xb7000001,0x37c00000,0x387fffff,0x3d000000,0x3d800000,0xbdc00000,0x7f800000,0xff800000,0x7fc00000,0xffc12345,0x7f7fffff,0x00000001,"
         "0x00400000,0x00400001,0x007fffff,0x00800000,0x7f000001,0x12345678,0xdeadbeef,0x89abcdef,0xffff0000,0x0000ffff,0x3f9a5aa5,0x40a55a5a")
NARROW_VALUES = {32: (SMALL, "0x3f9a5aa5,0xc0d00000,0x7fc00000,0x43d00000,0x12345678"), 16: (
    ",".join(f"{k << 8 | (k * 37 + 11) & 255:#06x}" for k in range(0, 256)), "")}
PAIRS_OF_HALVES = {32: (",".join(f"{(k * 0x9e37 + 0x3c00 & 0xffff) << 16 | (k * 0x1f3 + 0x3800 & 0xffff):#010x}" for k in range(128)) + ",0x7c00fc00,0x7e01fd00,0x5f005f40,0x7b007bff,0x80000001,0x00018001", "")}


def small(mnemonic, d, *operands):
    """d, a, b, c; of 8 bits through a register of that size."""
    names = "abc"[:len(operands)]
    return Op(f"{mnemonic} {{d}}, {', '.join('{' + name + '}' for name in names)};", [d], **dict(zip(names, operands)))


def nibbles(mnemonic, *operands):
    names = "abc"[:len(operands)]
    return Op(f"{{{{\n.reg .b8 %c;\n{mnemonic} %c, {', '.join('{' + name + '}' for name in names)};\ncvt.u16.u8 {{d}}, %c;\n}}}}", ["b16"],
              **dict(zip(names, operands)), mnemonic=mnemonic, name=mnemonic)


def of_nibbles(mnemonic):
    return Op(f"{{{{\n.reg .b8 %c;\ncvt.u8.u16 %c, {{a}};\n{mnemonic} {{d}}, %c;\n}}}}", ["b32"], 16, mnemonic=mnemonic, name=mnemonic)


def four(mnemonic, d):
    """a b b a."""
    return Op(f"{mnemonic} {{d}}, {{{{{{a}}, {{b}}, {{b}}, {{a}}}}}}, {{c}};", [d], 32, 32, 32)


RELU = ("", ".relu")
file("move/cvt_f8", "cvt of floats to e4m3 and e5m2", NARROW_VALUES, [small(f"cvt.rn.satfinite{m}.{t}.f32", "b16", 32, 32) for t in ("e4m3x2", "e5m2x2") for m in RELU],
     version="8.1", target="sm_90", model=model_narrow.converted)
file("move/cvt_f8_halves", "cvt of halves to e4m3 and e5m2", PAIRS_OF_HALVES, [small(f"cvt.rn.satfinite{m}.{t}.f16x2", "b16", 32) for t in ("e4m3x2", "e5m2x2") for m in RELU],
     version="8.1", target="sm_90", model=model_narrow.converted)
file("move/cvt_of_f8", "cvt of e4m3 and e5m2 to halves", NARROW_VALUES, [small(f"cvt.rn{m}.f16x2.{t}", "b32", 16) for t in ("e4m3x2", "e5m2x2") for m in RELU],
     version="8.1", target="sm_90", model=model_narrow.converted)
file("move/cvt_narrow", "cvt of floats to 6 and 4 bits, and to powers of two: the manual's text", NARROW_VALUES,
     [small(f"cvt.rn.satfinite{m}.{t}.f32", "b16", 32, 32) for t in ("e2m3x2", "e3m2x2") for m in RELU] + [nibbles(f"cvt.rn.satfinite{m}.e2m1x2.f32", 32, 32) for m in RELU]
     + [small(f"cvt.{r}{m}.ue8m0x2.f32", "b16", 32, 32) for r in ("rz", "rp") for m in ("", ".satfinite")]
     + [small(f"cvt.{r}{m}.ue8m0x2.bf16x2", "b16", 32) for r in ("rz", "rp") for m in ("", ".satfinite")], version="8.6", target="sm_100a", model=model_narrow.converted)
file("move/cvt_of_narrow", "cvt of 6 and 4 bits and of powers of two to halves: the manual's text", NARROW_VALUES,
     [small(f"cvt.rn{m}.f16x2.{t}", "b32", 16) for t in ("e2m3x2", "e3m2x2") for m in RELU] + [of_nibbles(f"cvt.rn{m}.f16x2.e2m1x2") for m in RELU]
     + [small("cvt.rn.bf16x2.ue8m0x2", "b32", 16)], version="8.6", target="sm_100a", model=model_narrow.converted)
file("move/cvt_random", "cvt with random bits: the manual's text", NARROW_VALUES,
     [small(f"cvt.rs{m}.{t}.f32", "b32", 32, 32, 32) for t in ("f16x2", "bf16x2") for m in ("", ".relu", ".satfinite", ".relu.satfinite")]
     + [four(f"cvt.rs{m}.satfinite.{t}.f32", "b32") for t in ("e4m3x4", "e5m2x4", "e2m3x4", "e3m2x4") for m in RELU]
     + [four(f"cvt.rs{m}.satfinite.e2m1x4.f32", "b16") for m in RELU], version="8.7", target="sm_100a", model=model_narrow.converted)

# ---- mixed precision and comparisons of halves -----------------------------------------------------------------------

MIXED = {16: (HALF[0], HALF[1]), 32: (F32_B + ",0x7effffff,0x33800001,0xbf800000", F32_B)}
file("half/mixed", "add, sub, fma of halves with f32: f32 arithmetic of what they are", MIXED,
     [Op(f"{op}{r}{m}.f32.{t} {{d}}, {{a}}, {{c}};", ["f32"], 16, 0, 32) for op in ("add", "sub") for t in F16S[:1] + BF16S[:1] for r, m in
      (("", ""), (".rn", ".sat"), (".rz", ""), (".rm", ""), (".rp", ".sat"))]
     + [Op(f"fma{r}{m}.f32.{t} {{d}}, {{a}}, {{b}}, {{c}};", ["f32"], 16, 16, 32) for t in F16S[:1] + BF16S[:1] for r, m in
        ((".rn", ""), (".rn", ".sat"), (".rz", ""), (".rm", ".sat"), (".rp", ""))], version="8.6", target="sm_100", model=model_half.mixed)


def halves_of(t, words):
    """(type of one, operands of each half)."""
    return (t[:-2], [[word & 0xFFFF for word in words], [word >> 16 for word in words]]) if t.endswith("x2") else (t, [words])


def setp_half(t, ftz="", word="", tail=""):
    """The bits are the comparisons in order; of two halves p of the low one and q of the high one."""
    two, width = t.endswith("x2"), 32 if t.endswith("x2") else 16
    middle = (f".{word}" if word else "") + ftz
    text = "mov.b32 %d32, 0;"
    for k, cmp in enumerate(FCMP):
        text += f"\nsetp.{cmp}{middle}.{t} {{p}}{'|{q}' if two else ''}, {{a}}, {{b}}{tail};\n@{{p}} or.b32 {{d}}, {{d}}, {1 << (1 + two) * k};"
        if two:
            text += f"\n@{{q}} or.b32 {{d}}, {{d}}, {2 << 2 * k};"

    def value(thread, words):
        one, sides = halves_of(t, words)
        c = bool(thread & 1) != tail.startswith(", !")
        return sum(model_narrow.joined(model_narrow.holds(cmp, one, *side, bool(ftz)), word, c) << (1 + two) * k + s for k, cmp in enumerate(FCMP) for s, side in enumerate(sides))
    return Op(text, ["b32"], width, width, name=f"setp_{word}{'_not' if '!' in tail else ''}{ftz}_{t}", value=value)


TRUE = {"f16": 0x3C00, "bf16": 0x3F80, "u16": 0xFFFF, "s16": 0xFFFF, "u32": 0xFFFFFFFF, "s32": 0xFFFFFFFF, "f16x2": 0x3C00, "bf16x2": 0x3F80}


def set_half(d, t, ftz="", word="", tail=""):
    """The results of the comparisons in order, mixed: each is xor-ed to what the others gave, rotated by 2."""
    two, middle = t.endswith("x2"), (f".{word}" if word else "") + ftz
    short = not two and BITS.get(d, 16) == 16
    # ptxas 13.0 takes the upper half of what set of halves gives for zero, which it is not: only memory tells them apart.
    apart = d in ("f16", "bf16") and t in ("f16", "bf16")
    text = "mov.b32 %d32, 0;"
    names = comparisons(t) if t[0] in "usbf" and t not in ("f16", "f16x2") else FCMP
    names = FCMP if t.startswith("bf16") else names
    for cmp in names:
        text += f"\nset.{cmp}{middle}.{d}.{t} {'%e16' if short else '{s}'}, {{a}}, {{b}}{tail};" + ("\nst.volatile.shared.b16 [%place], %e16;\nld.volatile.shared.u16 {s}, [%place];" if apart else "\ncvt.u32.u16 {s}, %e16;" if short else "") \
                + "\nshf.l.wrap.b32 {d}, {d}, {d}, 2;\nxor.b32 {d}, {d}, {s};"

    if apart:
        text = f"{{{{\n.shared .align 2 .b8 places[1024];\n.reg .b32 %place;\nmov.u32 %place, places;\nmad.lo.u32 %place, %thread, 2, %place;\n{text}\n}}}}"

    def value(thread, words):
        one, sides = halves_of(t, words)
        c, mixed = bool(thread & 1) != tail.startswith(", !"), 0
        for cmp in names:
            result = sum((TRUE[d] & (0xFFFF if two else TRUE[d])) * model_narrow.joined(model_narrow.holds(cmp, one, *side, bool(ftz)), word, c) << 16 * s
                         for s, side in enumerate(sides))
            mixed = (mixed << 2 | mixed >> 30) & 0xFFFFFFFF ^ result
        return mixed
    width = 32 if two else {"f16": 16, "bf16": 16}.get(t) or BITS[t]
    return Op(text, ["b32"], width, width, name=f"set_{word}{'_not' if '!' in tail else ''}{ftz}_{d}_{t}", value=value)


BOOL = ("and", "or", "xor")
file("half/setp", f"setp of half precision: {BITWISE}", HALF_VALUES,
     [setp_half(t, ftz) for t, modes in (("f16", ("", ".ftz")), ("f16x2", ("", ".ftz")), ("bf16", ("",)), ("bf16x2", ("",))) for ftz in modes]
     + [setp_half(t, "", word, tail) for t in F16S + BF16S for word, tail in (("and", ", {odd}"), ("or", ", !{odd}"), ("xor", ", {odd}"))]
     + [setp_half(t, ".ftz", word, ", {odd}") for t in F16S for word in BOOL], version="7.8", target="sm_90", model=model_narrow.holds)
MIXED_SET = "the results of the comparisons in order, each xor-ed to the others, which are rotated by 2"
file("half/set", f"set of half precision: {MIXED_SET}", HALF_VALUES,
     [set_half(d, "f16", ftz) for d in ("f16", "u16", "s16", "u32", "s32") for ftz in ("", ".ftz")] + [set_half(d, "bf16") for d in ("bf16", "u16", "s16", "u32", "s32")]
     + [set_half("bf16", "f16")]
     + [set_half(d, "f16x2", ftz) for d in ("f16x2", "u32", "s32") for ftz in ("", ".ftz")] + [set_half(d, "bf16x2") for d in ("bf16x2", "u32", "s32")]
     + [set_half(d, t, "", word, tail) for d, t in (("f16", "f16"), ("u16", "f16"), ("s32", "f16"), ("bf16", "bf16"), ("s16", "bf16"), ("bf16", "f16"), ("f16x2", "f16x2"), ("u32", "f16x2"),
                                                   ("bf16x2", "bf16x2"), ("s32", "bf16x2")) for word, tail in (("and", ", {odd}"), ("or", ", !{odd}"), ("xor", ", {odd}"))],
     version="7.8", target="sm_90", model=model_narrow.holds)
file("half/set_of_others", f"set of f32, f64 and integers to half precision: {MIXED_SET}", {**INTEGERS, 32: (INTEGERS[32][0] + "," + F32, INTEGERS[32][1] + "," + F32_B),
                                                                                          64: (INTEGERS[64][0] + "," + F64, INTEGERS[64][1] + "," + F64_B)},
     [set_half(d, t) for d in ("f16", "bf16") for t in [*INT, *BIT, "f32", "f64"]] + [set_half("f16", "f32", ".ftz")]
     + [set_half(d, t, "", word, tail) for d in ("f16", "bf16") for t, word, tail in (("s32", "and", ", {odd}"), ("u16", "or", ", !{odd}"), ("b64", "xor", ", {odd}"), ("f32", "and", ", !{odd}"),
                                                                                   ("f64", "or", ", {odd}"), ("u64", "xor", ", !{odd}"))]
     + [set_half("f16", "f32", ".ftz", "xor", ", {odd}")], version="7.8", target="sm_90", model=model_narrow.holds)


# ---- video ----------------------------------------------------------------------------------------------------------

SELECT = {32: ("0,0x12345678,0x89abcdef,0x80ff7f00,0xffffffff,0x80000000", "0,1,0x8040201f,0x20211f07,31,32,0x00210020,0xff")}
SHIFT_TYPES = [(d, a) for d in ("u32", "s32") for a in ("u32", "s32")]
for op in ("vshl", "vshr"):
    file(f"video/{op}", f"{op}: parts of a and b, clamped or wrapped amounts, saturation, merge and second operations", SELECT,
         [Op(f"{op}.{d}.{a}.u32{sat}.{mode} {{d}}, {{a}}{part}, {{b}}{amount};", ["b32"], 32, 32, name=f"{op}_{d}_{a}{sat}_{mode}{part}{amount}")
          for (d, a), sat, mode, (part, amount) in zip(SHIFT_TYPES * 4, [*[""] * 8, *[".sat"] * 8], ["clamp", "wrap"] * 2 + ["wrap", "clamp"] * 2
                                                      + ["clamp", "wrap"] * 2 + ["wrap", "clamp"] * 2,
                                                      [("", ""), (".h1", ".b0"), (".b3", ".h1"), (".b1", ".b2"), (".h0", "")] * 4)]
         + [Op(f"{op}.{d}.{a}.u32{sat}.clamp {{d}}{into}, {{a}}, {{b}}{amount}, {{c}};", ["b32"], 32, 32, 32,
               name=f"{op}_{d}_{a}{sat}_into{into}{amount}") for (d, a), (into, amount), sat in
            zip(SHIFT_TYPES * 3, [(".b0", ".b0"), (".b1", ".b1"), (".b2", ".b2"), (".b3", ".b3"), (".h0", ".h0"), (".h1", ".b0")] * 2,
                ["", "", "", "", "", "", ".sat", ".sat", ".sat", ".sat", ".sat", ".sat"])]
         + [Op(f"{op}.{d}.{a}.u32{sat}.{mode}.{second} {{d}}, {{a}}{part}, {{b}}.b0, {{c}};", ["b32"], 32, 32, 32,
               name=f"{op}_{d}_{a}{sat}_{mode}_{second}{part}") for (d, a), sat in zip(SHIFT_TYPES[1:3], ("", ".sat")) for second, part, mode in
            (("add", "", "clamp"), ("min", ".h1", "wrap"), ("max", ".b3", "clamp"))], order="--semantics sm_90 ")


# ---- writing --------------------------------------------------------------------------------------------------------

def tail_of(path):
    """The recorded lines of a file."""
    if not path.exists():
        return ""
    return "".join(line for line in path.read_text().splitlines(True) if re.match(r"// (out|recorded):", line))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; say which files differ")
    options = parser.parse_args()
    differ = 0
    for made in FILES:
        text = made.text() + ("".join(made.expected()) if made.model else tail_of(made.path))
        if made.path.exists() and re.sub(r"(?m)^// recorded:.*\n", "", made.path.read_text()) == re.sub(r"(?m)^// recorded:.*\n", "", text):
            continue  # that a card has recorded what a model says is kept
        differ += 1
        print(f"{'differs' if options.check else 'wrote'} {made.path.relative_to(TESTS)}")
        if not options.check:
            made.path.parent.mkdir(parents=True, exist_ok=True)
            made.path.write_text(text)
    return 1 if options.check and differ else 0


if __name__ == "__main__":
    sys.exit(main())
