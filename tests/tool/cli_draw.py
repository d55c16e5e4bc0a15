#!/usr/bin/env python3
"""`lanewise draw`: every arrow of both pictures against the manual's pseudo-code, written down here once more; every field of
matrices against the manual's formulas."""

import random
import re
import xml.etree.ElementTree

import cli

MODES = ("up", "down", "bfly", "idx")
SVG = "{http://www.w3.org/2000/svg}"


def sources(mode, b, c):
    """(source lane, in range) of each lane; b one value for each lane."""
    result = []
    for lane in range(32):
        mask, by = c >> 8 & 31, b[lane] & 31
        bound = lane & mask | c & ~mask & 31
        j = {"up": lane - by, "down": lane + by, "bfly": lane ^ by, "idx": lane & mask | by & ~mask & 31}[mode]
        inside = j >= bound if mode == "up" else j <= bound
        result.append((j if inside else lane, inside))
    return result


class Draw(cli.Case):
    def rows(self, *args, utf8=False):
        """The lines of the lanes: source, remark, and the picture behind them."""
        code, out, err = self.lanewise("draw", *args, env={"LC_ALL": "C.UTF-8" if utf8 else "C"})
        self.assertEqual((code, err), (0, ""), args)
        lines = out.splitlines()
        self.assertTrue(all(len(line) <= 80 for line in lines[1:]))
        self.assertEqual(out.isascii(), not utf8)
        arrow = "←" if utf8 else "<-"
        rows = []
        for line in lines[4:36]:
            match = re.match(rf" *(\d+) (?:{arrow} +(\d+)  (out|\?)?|   --)", line)
            self.assertTrue(match and int(match[1]) == len(rows), line)
            rows.append((match[2] and int(match[2]), match[3], line[13:]))
        return rows, lines

    def check(self, mode, b, c, utf8):
        text = b if isinstance(b, str) else ",".join(map(str, b))
        lanes = [int(x) for x in text.split(",")] * (1 if "," in text else 32)
        rows, lines = self.rows(f"shfl.sync.{mode}.b32", "--b", text, "--c", hex(c), utf8=utf8)
        want = sources(mode, lanes, c)
        self.assertEqual([(source, remark != "out") for source, remark, _ in rows], want, (mode, b, c))
        own, source_sign, left, right = "○●◄►" if utf8 else "xo<>"
        for lane, (source, _, picture) in enumerate(rows):
            signs = {i // 2: x for i, x in enumerate(picture) if x in own + source_sign + left + right}
            if not want[lane][1]:
                self.assertEqual(signs, {lane: own})
            elif source == lane:
                self.assertEqual(signs, {lane: source_sign})
            else:
                self.assertEqual(signs, {source: source_sign, lane: left if lane < source else right})
        inside = sum(x for _, x in want)
        self.assertIn(f"{inside} lane{'s' if inside != 1 else ''} in range, {32 - inside} out of range", lines[37])

    def test_against_the_manual(self):
        for utf8 in (False, True):
            for mode in MODES:
                for b in ("0", "1", "2", "16", "31"):
                    for c in (0, 0x1f, 0x181f, 0x1e1f, 0x1c03, 0x0a05):
                        self.check(mode, b, c, utf8)

    def test_lists(self):
        numbers = random.Random(1)
        for mode in MODES:
            self.check(mode, [numbers.randrange(64) for _ in range(32)], 0x101f, True)
        rows, _ = self.rows("shfl.idx.b32", "--b", "31..0")
        self.assertEqual([row[0] for row in rows], list(range(31, -1, -1)))

    def test_segments(self):
        _, lines = self.rows("shfl.down.b32", "--b", "2", "--c", "0x181f")
        self.assertEqual(lines[0], "shfl.down.b32  b = 2  c = 0x181f")
        self.assertEqual(lines[3], "             0 1 2 3 4 5 6 7|8 9 0 1 2 3 4 5|6 7 8 9 0 1 2 3|4 5 6 7 8 9 0 1")
        self.assertEqual(lines[37:], ["24 lanes in range, 8 out of range (own value)", "4 segments of 8 lanes"])
        self.assertIn("no neighbours", self.rows("shfl.idx.b32", "--b", "0", "--c", "0x11f")[1][-1])

    def test_default_c(self):
        self.assertEqual(self.rows("shfl.up.b32", "--b", "1")[0], self.rows("shfl.up.b32", "--b", "1", "--c", "0")[0])
        self.assertEqual(self.rows("shfl.down.b32", "--b", "1")[0], self.rows("shfl.down.b32", "--b", "1", "--c", "31")[0])

    def test_members(self):
        rows, lines = self.rows("shfl.sync.bfly.b32", "--b", "16", "-m", "0x1ffff")
        self.assertEqual([row[:2] for row in rows[:3]], [(16, None), (17, "?"), (18, "?")])
        self.assertEqual([row[0] for row in rows[16:18]], [0, None])
        self.assertEqual(lines[37:], ["17 lanes in range, 0 out of range (own value)", "15 not taking part, which 15 read (undefined)"])

    def test_svg(self):
        self.gives(["draw", "shfl.sync.down.b32", "--b", "2", "--c", "0x181f", "-o", "s.svg"])
        root = xml.etree.ElementTree.parse(self.folder / "s.svg").getroot()
        self.assertEqual(root.tag, SVG + "svg")
        self.assertEqual(root.get("viewBox"), f"0 0 {root.get('width')} {root.get('height')}")
        self.assertEqual(root.find(SVG + "title").text, "shfl.sync.down.b32  b = 2  c = 0x181f")
        self.assertNotIn("href", (self.folder / "s.svg").read_text())
        lanes = {}
        places = [float(c.get("cx")) for c in root.iter(SVG + "circle")]
        self.assertEqual(len(places), 64)
        self.assertEqual(places[:32], places[32:])
        for line in root.iter(SVG + "line"):
            self.assertRegex(line.find(SVG + "title").text, r"^lane \d+ reads lane \d+")
            lanes[places.index(float(line.get("x2")))] = (places.index(float(line.get("x1"))), line.get("class") == "read")
        self.assertEqual([lanes[i] for i in range(32)], sources("down", [2] * 32, 0x181f))
        self.assertEqual(len([r for r in root.iter(SVG + "rect") if r.get("class") == "segment"]), 4)
        self.assertEqual(self.lanewise("draw", "shfl.sync.down.b32", "--b", "2", "--c", "0x181f", "-o", "-")[1], (self.folder / "s.svg").read_text())

    def test_faults(self):
        self.shows(["draw", "shl.b32", "--b", "1"], 2, err=["error[LW6056]: 'shl.b32' is no shuffle"])
        self.shows(["draw", "", "--b", "1"], 2, err=["LW6056"])
        self.shows(["draw", "shfl.foo.b32", "--b", "1"], 1, err=["<instruction>:1:5: error[LW2100]"])
        self.shows(["draw", "shfl.up.b32", "--b", "x"], 2, err=["error[LW6053]"])
        self.shows(["draw", "shfl.up.b32", "--b", "1,2"], 2, err=["error[LW6054]"])
        self.shows(["draw", "shfl.up.b32", "--b", "1", "-m", "3"], 2, err=["only shfl.sync has a membermask"])
        self.shows(["draw", "shfl.sync.up.b32", "--b", "1", "-m", "q"], 2, err=["LW6003"])
        self.shows(["draw", "shfl.up.b32"], 2, err=["--b is needed"])
        self.shows(["draw", "--b", "1"], 2, err=["an INSTRUCTION is needed"])
        self.shows(["draw", "shfl.up.b32", "--b", "1", "-o", "no/x.svg"], 5, err=["LW6001"])


def mma16(lane, i, operand):
    """mma.m16n8k16 of f16: section 9.7.14.5.8."""
    group, thread = lane >> 2, lane % 4
    if operand == "a":
        return group + (0 if i < 2 or 4 <= i < 6 else 8), thread * 2 + (i & 1) + (8 if i >= 4 else 0)
    if operand == "b":
        return thread * 2 + (i & 1) + (8 if i >= 2 else 0), group
    return group + (8 if i >= 2 else 0), thread * 2 + (i & 1)


def mma_s8(lane, i, operand):
    """mma.m16n8k32 of bytes: section 9.7.14.5.10."""
    group, thread = lane >> 2, lane % 4
    if operand == "a":
        return group + (0 if i < 4 or 8 <= i < 12 else 8), thread * 4 + (i & 3) + (16 if i >= 8 else 0)
    if operand == "b":
        return thread * 4 + (i & 3) + (16 if i >= 4 else 0), group
    return mma16(lane, i, operand)


def mma8(lane, i, operand):
    """mma.m8n8k4 of f16, a by rows and b by columns, f32 results: section 9.7.14.5.1. The product is that of lanes lane / 4 % 4."""
    high = 4 if lane >= 16 else 0
    if operand == "a":
        return lane % 4 + high, i
    if operand == "b":
        return i, lane % 4 + high
    return (lane & 1) + (i & 2) + high, (i & 4) + (lane & 2) + (i & 1)


def warpgroup(lane, i, operand):
    """wgmma.m64nNk16 of f16, section 9.7.15.5.1.1: four warps of 16 rows; of d the columns of lanes come again every 8."""
    if operand == "a":
        row, column = mma16(lane % 32, i, "a")
    else:
        row, column = mma16(lane % 32, i % 4, "d")
        column += i // 4 * 8
    return row + lane // 32 * 16, column


def eights(lane, i, operand):
    """ldmatrix: section 9.7.14.5.15."""
    return lane // 4, 2 * (lane % 4) + i % 2


class Matrices(cli.Case):
    def boards(self, spelling):
        """Of each picture: name, rows, columns, and who holds the first element of each field."""
        code, out, err = self.lanewise("draw", spelling)
        self.assertEqual((code, err), (0, ""), spelling)
        self.assertTrue(all(len(line) <= 80 for line in out.splitlines()[1:]))
        boards = []
        for line in out.splitlines()[3:]:
            title = re.match(r"(\w+): (\d+) x (\d+) of [^,]*(?:, (?:matrix|selector) (\d+) of \d+)?$", line)
            if title:
                boards.append((title[1], int(title[4] or 0), int(title[2]), int(title[3]), {}))
            elif re.match(r"    \d", line):
                columns = [int(word) for word in line.split()]
            elif re.match(r" *\d+ ", line):
                row, *fields = line.split()
                self.assertEqual(len(fields), len(columns), line)
                for column, field in zip(columns, fields):
                    lane, first, last = re.fullmatch(r"(\d+):[a-e](\d+)(?:(?:,[a-e]|-)(\d+))?", field).groups()
                    boards[-1][4][int(row), column] = int(lane), range(int(first), int(last or first) + 1)
        return boards

    def check(self, spelling, place, product=lambda lane, i: 0):
        """All elements of all pictures stand where the manual has them."""
        for name, which, rows, columns, fields in self.boards(spelling):
            seen = set()
            for (row, column), (lane, elements) in fields.items():
                places = [place(lane, i, name) for i in elements]
                self.assertEqual(places[0], (row, column), (spelling, name, lane))
                self.assertTrue(all(product(lane, i) == which for i in elements), (spelling, name, lane))
                self.assertFalse(seen & set(places))
                seen |= set(places)
            self.assertEqual(seen, {(r, c) for r in range(rows) for c in range(columns)}, (spelling, name))

    def test_against_the_manual(self):
        self.check("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", mma16)
        self.check("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32", mma_s8)
        self.check("mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32", mma8, lambda lane, i: lane // 4 % 4)
        self.check("wgmma.mma_async.sync.aligned.m64n24k16.f32.f16.f16", warpgroup)
        self.check("wgmma.mma_async.sync.aligned.m64n8k16.f16.f16.f16", warpgroup)
        self.check("ldmatrix.sync.aligned.m8n8.x4.shared.b16", eights, lambda lane, i: i // 2)
        self.check("stmatrix.sync.aligned.m8n8.x1.trans.shared.b16", lambda *at: eights(*at)[::-1])
        self.check("movmatrix.sync.aligned.m8n8.trans.b16", lambda lane, i, name: eights(lane, i, name)[::-1 if name == "d" else 1])

    def test_repeats(self):
        out = self.lanewise("draw", "wmma.load.a.sync.aligned.row.m16n16k16.f16")[1]
        self.assertIn("d8 to d15 hold the same again", out)  # 256 elements, 32 lanes of 16

    def test_explain(self):
        out = self.lanewise("explain", "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32")[1]
        for line in re.findall(r"^    ([a-d])  (\d+) x (\d+) of f\d\d, i to (\d+): row = (.*), column = (.*)$", out, re.M):
            name, _, _, last, *formulas = line
            python = [re.sub(r"([li])\[(\d)(?::(\d))?\]", lambda m: f"({m[1]} >> {m[3] or m[2]} & {2 ** (int(m[2]) - int(m[3] or m[2]) + 1) - 1})", f)
                      for f in formulas]
            for lane in range(32):
                for i in range(int(last) + 1):
                    self.assertEqual(tuple(eval(f, {"l": lane, "i": i}) for f in python), mma16(lane, i, name), line)
        self.assertEqual(re.findall(r"^    (\w)  .*, i to (\d+):", out, re.M), [("d", "3"), ("a", "7"), ("b", "3"), ("c", "3")])

    def test_svg(self):
        text = self.lanewise("draw", "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", "-o", "-")[1]
        root = xml.etree.ElementTree.fromstring(text)
        fields = [r for r in root.iter(SVG + "rect") if r.get("class") == "field"]
        self.assertEqual(len(fields), 64 + 128 + 64 + 64)
        texts = [t.text for t in root.iter(SVG + "text")]
        self.assertEqual(len([t for t in texts if re.fullmatch(r"\d+:[a-d]\d,[a-d]\d", t)]), len(fields))

    def test_scale_factors(self):
        """Manual, section 9.7.14.3: of a row of A one thread of a pair has them, of a column of B one of four; of bytes, loaded by columns, four lines are a word."""
        text = self.shows(["draw", "mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.f32.e2m1.e4m3.f32.ue8m0"])[1]
        self.assertIn("scale-a-data: 16 x 4 of ue8m0, thread-id 1 of 2\n    0\n  0 2:scale-a-data0-3\n  1 6:scale-a-data0-3\n", text)
        self.assertRegex(text, r"scale-b-data: 4 x 8 of ue8m0, thread-id 3 of 4\n.*\n  0 3:scale-b-data0-3 +7:scale-b-data0-3 ")
        self.assertIn("\na: 16 x 32 of e2m1 in bits 2 to 5 of bytes\n", text)
        text = self.shows(["draw", "ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8"])[1]
        self.assertRegex(text, r"d: 16 x 16 of b8\n(.*\n)\s+0 0:d0-3 +4:d0-3 ")
        self.assertIn(" 12 3:d0-3 ", text)

    def test_faults(self):
        mma = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"
        self.shows(["draw", mma, "--b", "1"], 2, err=["error[LW6003]", "only a shuffle has it"])
        self.shows(["draw", mma, "-m", "1"], 2, err=["--membermask", "only a shuffle has it"])
        self.shows(["draw", mma, "-o", "no/x.svg"], 5, err=["LW6001"])
        self.shows(["draw", "mma.sync"], 1, err=["<instruction>:1:4: error[LW2101]"])
        self.shows(["draw", "tcgen05.wait::ld.sync.aligned"], 2, err=["LW6056", "no matrices"])


if __name__ == "__main__":
    cli.main()
