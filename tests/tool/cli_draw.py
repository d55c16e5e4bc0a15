#!/usr/bin/env python3
"""`lanewise draw`: every arrow of both pictures against the manual's pseudo-code, written down here once more."""

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
        self.shows(["draw", "--b", "1"], 2, err=["a SHUFFLE is needed"])
        self.shows(["draw", "shfl.up.b32", "--b", "1", "-o", "no/x.svg"], 5, err=["LW6001"])


if __name__ == "__main__":
    cli.main()
