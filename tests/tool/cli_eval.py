#!/usr/bin/env python3
"""`lanewise eval`: every form that it can take, results against Python's integers, values in every notation, faults."""

import os
import pathlib
import random
import re
import struct

import cli

ISA = pathlib.Path(__file__).resolve().parent.parent.parent / "isa"
CLASSES = dict(re.findall(r'^CLASS\((\w+), "([^"]*)"\)', (ISA / "ptx" / "types.def").read_text(), flags=re.M))


def expand(pattern):
    """Every spelling of a pattern."""
    if not pattern:
        return [""]
    if pattern[0] == "{":
        end = pattern.index("}")
        return [head + rest for head in expand(pattern[1:end]) + [""] for rest in expand(pattern[end + 1:])]
    if pattern.startswith(".("):
        end = pattern.index(")")
        words = [w for name in pattern[2:end].split("|") for w in CLASSES.get(name, name).split("|")]
        return [f".{w}{rest}" for w in words for rest in expand(pattern[end + 1:])]
    word = re.match(r"\.?[^.{(]+", pattern)[0]
    return [word + rest for rest in expand(pattern[len(word):])]


class Case(cli.Case):
    def results(self, *args):
        """Name and bits of each result; a list where the command prints lanes."""
        code, out, err = self.lanewise("eval", *(str(a) for a in args))
        self.assertEqual((code, err), (0, ""), args)
        lines = out.splitlines()
        if not out.startswith("lane"):
            found = re.findall(r"^(\S+) +(?:hex +0x(\w+)|(true|false))$", out, flags=re.M)
            return {name: int(bits, 16) if bits else truth == "true" for name, bits, truth in found}
        names = lines[0].split()[1:]
        found = {name: [] for name in names}
        for lane, line in enumerate(lines[1:]):
            cells = line.split()
            self.assertEqual(int(cells.pop(0)), lane)
            for name in names:
                cell = cells.pop(0)
                found[name].append(cell == "true" if cell in ("true", "false") else int(cell, 16))
                if cell.startswith("0x") and cells:
                    cells.pop(0)
        return found


class Semantics(Case):
    MERGE = ("vshl.u32.u32.u32.clamp d.h1, a, b, c", "0x12345678", "4", "0")
    MANUAL = "manual\nd  hex       0x67800000\n   decimal   1736441856\n   binary    0b01100111_10000000_00000000_00000000\n"
    SM_90 = "sm_90\nd  hex       0x23450000\n   decimal   591724544\n   binary    0b00100011_01000101_00000000_00000000\n"

    def test_both_where_they_differ(self):
        """The results of both, the chosen one first."""
        self.gives(["eval", *self.MERGE], out=self.MANUAL + self.SM_90)
        self.gives(["eval", "--semantics", "manual", *self.MERGE], out=self.MANUAL + self.SM_90)
        self.gives(["eval", "--semantics", "sm_90", *self.MERGE], out=self.SM_90 + self.MANUAL)
        self.gives(["eval", *self.MERGE], out=self.SM_90 + self.MANUAL, env={"LANEWISE_SEMANTICS": "sm_90"})

    def test_one_where_they_agree(self):
        """A form that can differ, on values for which it does not; and only one lane of four that does."""
        alike = self.lanewise("eval", self.MERGE[0], "0x12341234", "0", "0")
        self.assertEqual(alike, (0, "d  hex       0x12340000\n   decimal   305397760\n   binary    0b00010010_00110100_00000000_00000000\n", ""))
        out = self.lanewise("eval", self.MERGE[0], "0,0x10001,0x20002,0x30004", "0", "0")[1].splitlines()
        self.assertEqual((len(out), out[0], out[6]), (12, "manual", "sm_90"))
        self.assertEqual(out[1:5], out[7:11])
        self.assertEqual((out[5].split()[:2], out[11].split()[:2]), (["3", "0x00040000"], ["3", "0x00030000"]))

    def test_wrong(self):
        self.gives(["eval", "--semantics", "sm90", *self.MERGE], 2,
                   err="lanewise: error[LW6003]: --semantics 'sm90': the semantics are manual and sm_90\n")


class Forms(Case):
    def test_every_executable_form(self):
        """Spellings of every executable row give results, or the row is refused because of memory, flow, or no result."""
        rows = [line.split("\t") for line in self.lanewise("isa", "--tsv", "-e")[1].splitlines()]
        self.assertGreater(len(rows), 150)
        evaluated = refused = 0
        part = 6 if cli.FEW else 1
        for row in rows[::part]:
            status, pattern, operands = row[1:4]
            spellings = expand(pattern)
            random.Random(pattern).shuffle(spellings)
            reads = re.sub(r"\{\|\w\}|\{, \w\}", "", operands)
            count = len(reads.split(",")) - 1
            for spelling in spellings[: 1 if cli.FEW else 3]:
                value = "0x1" if "b128" in spelling else "1"
                code, out, err = self.lanewise("eval", spelling, *[value] * count)
                if code == 0:
                    evaluated += 1
                    self.assertRegex(out, r"0x|true|false", spelling)
                    self.assertEqual(err, "", spelling)
                elif "LW3000" in err:
                    self.assertEqual(status, "part", spelling)
                elif re.match(r"mov\.v|cvt\.rs.*x4|.*get_first_ctaid\.v4|w?mma\.|wgmma\.mma", spelling) and "[" not in operands:
                    self.assertRegex(err, r"error\[LW6051\].*it takes a list in braces\n(.*\n)+.*write its operands", spelling)
                elif spelling.startswith("cvta.") and spelling.endswith("u32"):
                    self.assertIn("error[LW2158]", err, spelling)  # of modules with 32-bit addresses
                else:
                    refused += 1
                    self.assertIn("error[LW6051]", err, f"{spelling} {operands}")
                    self.assertTrue("[" in operands or not re.match(r"[dfp]\b", operands), f"{spelling} {operands}: {err}")
        self.assertGreater(evaluated, 250 // part)
        self.assertGreater(refused, 50 // part)

    def test_removed_form(self):
        """shfl without .sync is run as the last version that has it."""
        self.assertEqual(self.results("shfl.idx.b32", "0..31", 5, 31)["d"], [5] * 32)


class Logic(Case):
    def setUp(self):
        super().setUp()
        self.random = random.Random(3)

    def values(self, bits, count):
        edges = (0, 1, 2 ** bits - 1, 2 ** (bits - 1))
        return [self.random.choice(edges) if i % 4 == 0 else self.random.getrandbits(bits) for i in range(count)]

    def both(self, spelling, bits, amounts, what, columns):
        """32 lanes at once, against what(a, b…)."""
        lists = [self.values(bits, 32) for _ in range(columns)] + amounts
        got = self.results(spelling, *(",".join(map(hex, lane)) for lane in lists))["d"]
        self.assertEqual(got, [what(*lane) & (2 ** bits - 1) for lane in zip(*lists)], spelling)

    def test_bitwise(self):
        for bits in (16, 32, 64):
            self.both(f"and.b{bits}", bits, [], lambda a, b: a & b, 2)
            self.both(f"or.b{bits}", bits, [], lambda a, b: a | b, 2)
            self.both(f"xor.b{bits}", bits, [], lambda a, b: a ^ b, 2)
            self.both(f"not.b{bits}", bits, [], lambda a: ~a, 1)
            self.both(f"cnot.b{bits}", bits, [], lambda a: int(a == 0), 1)

    def test_predicates(self):
        for name, what in (("and", lambda a, b: a & b), ("or", lambda a, b: a | b), ("xor", lambda a, b: a ^ b)):
            for a in (0, 1):
                for b in (0, 1):
                    self.assertEqual(self.results(f"{name}.pred", "false true".split()[a], b), {"d": bool(what(a, b))})
        self.assertEqual(self.results("not.pred", "0,1"), {"d": [True, False]})

    def test_shifts(self):
        amounts = [0, 1, 15, 16, 17, 31, 32, 33, 63, 64, 65, 2 ** 31, 2 ** 32 - 1] + [self.random.randrange(70) for _ in range(19)]
        for bits in (16, 32, 64):
            self.both(f"shl.b{bits}", bits, [amounts], lambda a, n: a << min(n, bits), 1)
            for kind in "bu":
                self.both(f"shr.{kind}{bits}", bits, [amounts], lambda a, n: a >> min(n, bits), 1)
            self.both(f"shr.s{bits}", bits, [amounts], lambda a, n: (a - (a >> (bits - 1) << bits)) >> min(n, bits), 1)
        for mode, n_of in (("wrap", lambda c: c & 31), ("clamp", lambda c: min(c, 32))):
            self.both(f"shf.l.{mode}.b32", 32, [amounts], lambda a, b, c: (b << 32 | a) << n_of(c) >> 32, 2)
            self.both(f"shf.r.{mode}.b32", 32, [amounts], lambda a, b, c: (b << 32 | a) >> n_of(c), 2)

    def test_lop3(self):
        a, b, c = self.values(32, 3)
        for table in range(0, 256, 5):
            want = sum((table >> ((a >> i & 1) * 4 + (b >> i & 1) * 2 + (c >> i & 1)) & 1) << i for i in range(32))
            self.assertEqual(self.results("lop3.b32", a, b, c, table), {"d": want})
            for q in (0, 1):
                self.assertEqual(self.results("lop3.or.b32", a, b, c, table, q), {"d": want, "p": bool(want != 0 or q)})
                self.assertEqual(self.results("lop3.and.b32", a, b, c, table, q), {"d": want, "p": bool(want != 0 and q)})

    def test_shuffles(self):
        for mode in ("up", "down", "bfly", "idx"):
            a, b, c = self.values(32, 32), self.values(32, 32), self.values(13, 32)
            want_d, want_p = [], []
            for lane in range(32):
                mask, clamp, by = c[lane] >> 8 & 31, c[lane] & 31, b[lane] & 31
                most = lane & mask | clamp & ~mask & 31
                j = {"up": lane - by, "down": lane + by, "bfly": lane ^ by, "idx": lane & mask | by & ~mask & 31}[mode]
                inside = j >= most if mode == "up" else j <= most
                want_d.append(a[j if inside else lane])
                want_p.append(inside)
            lists = [",".join(map(str, x)) for x in (a, b, c)]
            self.assertEqual(self.results(f"shfl.sync.{mode}.b32", *lists), {"d": want_d, "p": want_p})
            self.assertEqual(self.results(f"shfl.sync.{mode}.b32", *lists, -1), {"d": want_d, "p": want_p})
            self.assertEqual(self.results(f"shfl.{mode}.b32", *lists), {"d": want_d, "p": want_p})


class Values(Case):
    def test_the_example(self):
        self.gives(["eval", "shf.l.wrap.b32", "0x12345678", "0x9abcdef0", "8"],
                   out="d  hex       0xbcdef012\n   unsigned  3168727058\n   signed    -1126240238\n"
                       "   binary    0b10111100_11011110_11110000_00010010\n")

    def test_notations(self):
        for text, want in (("255", 255), ("0xFF", 255), ("0b1111_1111", 255), ("-1", 2 ** 32 - 1), ("0f3F800000", 0x3f800000),
                           ("1.5", struct.unpack("<I", struct.pack("<f", 1.5))[0]), ("-inf", 0xff800000), ("1_000", 1000)):
            self.assertEqual(self.results("mov.b32", text), {"d": want}, text)
        self.assertEqual(self.results("mov.b64", "0d3FF0000000000000"), {"d": 0x3ff0000000000000})
        self.assertEqual(self.results("mov.b64", "-0.1"), {"d": struct.unpack("<Q", struct.pack("<d", -0.1))[0]})
        self.assertEqual(self.results("mov.b128", "0x123456789abcdef00fedcba987654321"), {"d": 0x123456789abcdef00fedcba987654321})

    def test_floats(self):
        self.gives(["eval", "add.f32", "1.5", "0f3F800000"],
                   out="d  hex       0x40200000\n   float     2.5\n   binary    0b01000000_00100000_00000000_00000000\n")
        self.assertEqual(self.results("add.f64", "0x3ff0000000000000", "1"), {"d": 0x4000000000000000})  # 0x… are bits
        self.shows(["eval", "cvt.rn.f16.f32", "1.5"], out=["0x3e00", "float     1.5\n"])

    def test_lists(self):
        self.assertEqual(self.results("mov.u32", "3..0,7,10..20..5"), {"d": [3, 2, 1, 0, 7, 10, 15, 20]})
        self.assertEqual(self.results("mov.s16", "-2..2"), {"d": [65534, 65535, 0, 1, 2]})
        self.assertEqual(self.results("mov.u32", "1..-2"), {"d": [1, 0, 2 ** 32 - 1, 2 ** 32 - 2]})
        for bits in (16, 32, 64):  # numbers above the signed range are what they are written as
            half = 2 ** (bits - 1)
            for kind in "bu":
                self.assertEqual(self.results(f"mov.{kind}{bits}", f"{half - 1}..{half + 1}"), {"d": [half - 1, half, half + 1]})
                self.assertEqual(self.results(f"mov.{kind}{bits}", f"{half}..{half - 2}"), {"d": [half, half - 1, half - 2]})
                for value in (f"0..{2 * half - 1}", f"{2 * half - 1}..0", f"-1..{2 * half - 1}", f"{2 * half - 1}..-{half}"):
                    self.assertIn("32 values at most", self.lanewise("eval", f"mov.{kind}{bits}", value)[2], value)
        self.assertEqual(self.results("add.u32", "1,2,3", 10), {"d": [11, 12, 13]})
        self.gives(["eval", "add.s32", "-1,0", "0"], out="lane  d\n   0  0xffffffff  -1\n   1  0x00000000  0\n")

    def test_across_lanes(self):
        self.assertEqual(self.results("vote.sync.ballot.b32", "0,1,1"), {"d": [6] * 3})
        self.assertEqual(self.results("activemask.b32"), {"d": 2 ** 32 - 1})
        self.assertEqual(self.results("activemask.b32", "--lanes", 5), {"d": 31})
        self.assertEqual(self.results("redux.sync.add.u32", 3), {"d": 96})

    def test_carry(self):
        for a, b, carry in ((2 ** 32 - 1, 0, 1), (5, 6, 1), (2 ** 31, 2 ** 31, 0)):
            total = a + b + carry
            self.assertEqual(self.results("addc.cc.u32", a, b, "--carry", carry), {"d": total % 2 ** 32, "carry": total >= 2 ** 32})
        self.assertEqual(self.results("add.cc.u32", -1, 1), {"d": 0, "carry": True})
        self.assertEqual(self.results("addc.u32", 1, 1, "-c", 1), {"d": 3})

    def test_whole_instructions(self):
        self.assertEqual(self.results("mov.b32 d, {low, high};", "0x1234", "0xabcd"), {"d": 0xabcd1234})
        self.assertEqual(self.results("mov.b32 {%lo, %hi}, a", "0xabcd1234"), {"%lo": 0x1234, "%hi": 0xabcd})
        self.assertEqual(self.results("shf.l.wrap.b32 d, a, a, 4", "0x12345678"), {"d": 0x23456781})
        self.assertEqual(self.results("and.pred d, !p, q", 0, 1), {"d": True})
        self.assertEqual(self.results("add.u32 x, x, 1", 41), {"x": 42})
        self.assertEqual(self.results("mov.u32 d, %laneid", "--lanes", 3), {"d": [0, 1, 2]})
        self.assertEqual(self.results("@!p mov.u32 d, 7", "0,1"), {"d": [7, 0]})
        self.assertEqual(self.results("lop3.and.b32 _|p, a, b, c, 0x80, true_", 1, 1, 1, 1), {"p": True})


class Faults(Case):
    def fault(self, args, code, place, number, *texts):
        got, out, err = self.lanewise("eval", *args)
        self.assertEqual((got, out), (code, ""), args)
        self.assertTrue(err.startswith(f"<instruction>:1:{place}: error[LW{number}]: "), err)
        for text in texts:
            self.assertIn(text, err)

    def test_braces(self):
        """Lists in braces are given element by element; e4m3 has 4 bits of exponent with bias 7 and 3 of mantissa, the first element on top."""
        e4m3 = {1.0: 0x38, 2.0: 0x40, 3.0: 0x44, -4.0: 0xc8}
        self.assertEqual(self.results("cvt.rs.satfinite.e4m3x4.f32 d, {a, b, c, e}, r", *e4m3, 0)["d"], int.from_bytes(bytes(e4m3.values()), "big"))
        whole = "clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 {x, y, z, w}, q"
        self.assertEqual(self.results(whole, "0x00000004000000030000000200000001"), {"x": 2, "y": 3, "z": 4, "w": 0})
        self.assertEqual(self.results("mov.b128 d, {a, b, c, e}", 1, 2, 3, 4)["d"], 4 << 96 | 3 << 64 | 2 << 32 | 1)
        for text, values, code, why in (("cvt.rs.satfinite.e4m3x4.f32 d, {a, b, c}, r", (1, 2, 3, 0), 1, "must be a vector of 4 elements; 3 are given"),
                                        ("cvt.rs.satfinite.e4m3x4.f32 d, {a, b, c}, r", (), 1, "must be a vector of 4 elements; 3 are given"),
                                        ("mov.b64 d, {a, b, c}", (1, 2, 3), 1, "1:12: error[LW6057]: operand 2 of 'mov.b64' cannot be a list of 3: its 64 bits"),
                                        ("mov.b64 d, {a, b, c}", (), 1, "LW6057"), ("mov.b16 {a, b, c, e}, d", (1,), 1, "operand 1 of 'mov.b16' cannot"),
                                        ("mov.b64 d, {a, b, c, e, f, g, h, i}", (1,), 1, "a list of 8"),
                                        ("add.bf16x2 d, {a, b}, c", (1, 2, 3), 1, "no text says what several registers are in the place of one"),
                                        ("mov.v2.b32", (1,), 2, "write its operands, lists in braces: 'mov.v2.b32 {d, e}, {a, b}'")):
            self.shows(["eval", text, *map(str, values)], code, err=[why])

    def test_spelling(self):
        """The diagnostics of check, with places in the text that was typed."""
        self.fault(["shf.l.b32", "1", "2", "3"], 1, 6, 2101, "     1 | shf.l.b32\n       |      ^~~~\n", ".clamp .wrap")
        self.fault(["and.u32", "1", "2"], 1, 4, 2100)
        self.fault(["nand.b32", "1", "2"], 1, 1, 2000)
        self.fault(["  nand.b32 x, y, z ;", "1"], 1, 3, 2000)
        self.fault(["and.b32 d, a, 1.5", "1"], 1, 15, 2151)
        self.fault(["lop3.b32 d, a, b", "1", "2"], 1, 1, 2140)
        self.fault(["and.b32 d, a,, b", "1", "2"], 1, 14, 1010)
        self.fault(["and.b32 d, §, b", "1", "2"], 1, 12, 1002)

    def test_kind(self):
        self.fault(["ld.global.u32", "1"], 2, 1, 6051, "memory")
        self.fault(["atom.global.add.u32", "1", "2"], 2, 1, 6051, "memory")
        self.fault(["bra", "1"], 2, 1, 6051, "flow")
        self.fault(["membar.gl"], 2, 1, 6051, "no result")
        self.fault(["multimem.ld_reduce.global.add.u32 d, [a]", "1"], 2, 1, 6051, "memory")

    def test_newest_targets(self):
        """32 products of 1 by 1 and a c of 1; a scale factor of 2 for all of them, in byte 2."""
        small = "mma.sync.aligned.m16n8k32.row.col.kind::{}.f32.e3m2.e3m2.f32{} {{d0, d1, d2, d3}}, {{a0, a1, a2, a3}}, {{b0, b1}}, {{c0, c1, c2, c3}}"
        values = ["0x0c0c0c0c"] * 6 + ["0x3f800000"] * 4
        out = self.shows(["eval", small.format("f8f6f4", ""), *values])[1]
        self.assertEqual(re.findall(r"d\d +hex +(\w+)", out), ["0x42040000"] * 4)
        scaled = small.format("mxf8f6f4.block_scale", ".ue8m0") + ", s, {2, 1}, t, {0, 3}"
        out = self.shows(["eval", scaled, *values, "0x800000", "0x7f"])[1]
        self.assertEqual(re.findall(r"d\d +hex +(\w+)", out), ["0x42820000"] * 4)

    def test_texts(self):
        for text in ("", " ;", "x:", "{ }", ".reg .b32 %r1", "and.b32 d, a, b; or.b32 d, a, b", "} }", "/*", "\"", "\n\n", "x" * 5000):
            code, out, err = self.lanewise("eval", text)
            self.assertIn(code, (1, 2), text)
            self.assertRegex(err, r"^<instruction>:\d+:\d+: error\[LW\d{4}\]: ", text)

    def test_values(self):
        self.fault(["and.b32", "1"], 2, 1, 6052, "takes 2 values, and 1 is given", "a, b")
        self.fault(["and.b32", "1", "2", "3"], 2, 1, 6052)
        self.fault(["and.b32 d, a, a", "1", "2"], 2, 1, 6052)
        for value in ("x", "1.5", "", "1,", "1 2", "0x", "4294967296", "-2147483649", "0..", "1..2..0", "true", "1;2", "0..99"):
            self.fault(["add.u32", value, "1"], 2, 1, 6053, "operand a, which is .u32")
        self.fault(["not.pred", "2"], 2, 1, 6053, "true, false")
        self.fault(["lop3.b32", "1", "2", "3", "x"], 2, 1, 6053, "lut")
        self.fault(["add.u32", "1,2", "1,2,3"], 2, 1, 6054)
        self.fault(["add.u32", "1,2", "1", "-n", "3"], 2, 1, 6054)

    def test_usage(self):
        self.shows(["eval"], 2, err=["an INSTRUCTION is needed"])
        self.shows(["eval", "and.b32", "1", "2", "-n", "33"], 2, err=["--lanes takes a number from 1 to 32, not '33'"])
        self.shows(["eval", "and.b32", "1", "2", "--cpu", "v9"], 2, err=["LW6003"])
        self.shows(["eval", "--help"], out=["Exit codes:"])


if __name__ == "__main__":
    cli.main()
