#!/usr/bin/env python3
"""What the page of PTO leaves open: where `check --portable` says that a text depends on it, and what `equiv` and `--cost` say of it."""

import json
import re

import cli

V, M = "!pto.vreg<64xi32>", "!pto.mask<b32>"
BINARY = f"({V}, {V}, {M}) -> {V}"


def function(*lines, results=""):
    body = "".join(f"  {line}\n" for line in lines)
    arguments = f"%a: {V}, %n: {V}, %m: {M}, %k: {M}, %x: memref<?xi32>, %i: index, %s: i32, %t: i1"
    return f"func.func @f({arguments}){results} {{\n{body}}}\n"


class Portable(cli.Case):
    def places(self, *lines, results=""):
        """Line and number of what is warned of; the first line of the function is 1."""
        self.file("f.pto", function(*lines, results=results))
        code, out, err = self.lanewise("check", "--portable", "f.pto")
        self.assertEqual((code, out), (0, ""), err)
        return [(int(line) - 1, int(number)) for line, number in re.findall(r"^f\.pto:(\d+):\d+: warning\[LW(\d+)\]", err, re.M)]

    def test_counts(self):
        """A count that is known to stay below the width depends on nothing."""
        most = ["%c = arith.constant 31 : i32", f"%b = pto.vbroadcast %c : i32 -> {V}"]
        self.assertEqual(self.places(f"vshr %a, %a, %n, %m : {V}"), [(1, 7160)])
        self.assertEqual(self.places(f"vshl %a, %a, %n, %m : {V}"), [(1, 7160)])
        self.assertEqual(self.places(*most, f"vshr %a, %a, %b, %m : {V}"), [])
        self.assertEqual(self.places(*most, f"%w = pto.vand %n, %b, %m : {BINARY}", f"vshr %a, %a, %w, %m : {V}"), [])
        # What other lanes were limited does not help, nor what is written again.
        self.assertEqual(self.places(*most, f"%w = pto.vand %n, %b, %k : {BINARY}", f"vshr %a, %a, %w, %m : {V}"), [(3, 7161), (4, 7160)])
        self.assertEqual(self.places(*most, f"vand %w, %n, %b, %m : {V}", f"vadd %w, %n, %n, %m : {V}", f"vshr %a, %a, %w, %m : {V}"), [(5, 7160)])
        self.assertEqual(self.places(*most, f"vand %w, %n, %b, %m : {V}", f"vshr %a, %a, %w, %m : {V}"), [])
        for scalar in ("arith.andi %s, %c : i32", "arith.minui %s, %c : i32", "arith.remui %s, %c : i32"):
            self.assertEqual(self.places(*most, f"%d = {scalar}", f"%e = pto.vbroadcast %d : i32 -> {V}", f"vshr %a, %a, %e, %m : {V}"), [], scalar)
        self.assertEqual(self.places(*most, "%d = arith.minsi %s, %c : i32", f"%e = pto.vbroadcast %d : i32 -> {V}", f"vshr %a, %a, %e, %m : {V}"), [(5, 7160)])
        # A constant that is too large is warned of in any case.
        self.assertEqual(self.places("%c = arith.constant 32 : i32", f"%b = pto.vbroadcast %c : i32 -> {V}", f"vshr %a, %a, %b, %m : {V}"), [(3, 7132)])

    def test_inactive_lanes(self):
        ret = f" -> {V}"
        whole = f"%w = pto.mask.all : {M}"
        self.assertEqual(self.places(f"%r = pto.vadd %a, %n, %m : {BINARY}", f"return %r : {V}", results=ret), [(1, 7161)])
        self.assertEqual(self.places(f"vadd %r, %a, %n, %m : {V}", f"return %r : {V}", results=ret), [(1, 7161)])
        self.assertEqual(self.places(f"vadd %a, %a, %n, %m : {V}", f"return %a : {V}", results=ret), [])
        for mask in (whole, f"%c = arith.constant 64 : index", f"%w = pto.mask.bits 0x{'f' * 16} : {M}"):
            more = [f"%w = pto.mask.first %c : index -> {M}"] if "constant" in mask else []
            self.assertEqual(self.places(mask, *more, f"%r = pto.vadd %a, %n, %w : {BINARY}", f"return %r : {V}", results=ret), [])
        self.assertEqual(self.places("%c = arith.constant 63 : index", f"%w = pto.mask.first %c : index -> {M}", f"%r = pto.vadd %a, %n, %w : {BINARY}", f"return %r : {V}",
                                     results=ret), [(3, 7161)])
        # Used under the same mask only, or chosen by it.
        self.assertEqual(self.places(f"%r = pto.vadd %a, %n, %m : {BINARY}", f"pto.vstore %r, %x[%i], %m : {V}, memref<?xi32>, {M}"), [])
        self.assertEqual(self.places(f"%r = pto.vadd %a, %n, %m : {BINARY}", f"pto.vstore %r, %x[%i], %k : {V}, memref<?xi32>, {M}"), [(1, 7161)])
        self.assertEqual(self.places(f"%r = pto.vadd %a, %n, %m : {BINARY}", f"%q = pto.vsel %r, %a, %m : {BINARY}", f"return %q : {V}", results=ret), [])
        self.assertEqual(self.places(f"%r = pto.vadd %a, %n, %m : {BINARY}", f"%q = pto.vsel %a, %r, %m : {BINARY}", f"return %q : {V}", results=ret), [(1, 7161)])
        compared = f"%r = pto.vcmp lt, %a, %n, %m : ({V}, {V}, {M}) -> {M}"
        self.assertEqual(self.places(compared, f"%q = pto.mask.and %r, %m : ({M}, {M}) -> {M}", f"vadd %a, %a, %a, %q : {V}"), [])
        self.assertEqual(self.places(compared, f"vadd %a, %a, %a, %r : {V}"), [(1, 7161)])
        # A mask that is written again is not the same one any more.
        self.assertEqual(self.places(f"%r = pto.vadd %a, %n, %m : {BINARY}", f"vcmp lt, %m, %a, %n, %k : {V}", f"pto.vstore %r, %x[%i], %m : {V}, memref<?xi32>, {M}"), [(1, 7161)])
        # Into and out of regions.
        self.assertEqual(self.places(f"%r = pto.vadd %a, %n, %m : {BINARY}", "scf.if %t {", f"  pto.vstore %r, %x[%i], %k : {V}, memref<?xi32>, {M}", "}"), [(1, 7161)])
        self.assertEqual(self.places(f"%q = scf.if %t -> ({V}) {{", f"%r = pto.vadd %a, %n, %m : {BINARY}", f"scf.yield %r : {V}", "} else {", f"scf.yield %a : {V}", "}"), [(2, 7161)])

    def test_every_place(self):
        """None is left out, however many there are; and they cost no more than that."""
        shifts = [f"vshr %a, %a, %n, %m : {V}"] * 2000
        self.assertEqual(self.places(*shifts), [(i + 1, 7160) for i in range(2000)])

    def test_readings(self):
        """What the text says of itself comes behind it, once: operations that the page does not define, widths that it does not show."""
        self.file("f.pto", function(f"vadd %a, %a, %n, %m : {V}", f"vadd %a, %a, %n, %m : {V}", f"vaddc %r, %c, %a, %n, %m : {V}"))
        err = self.shows(["check", "--portable", "--werror", "f.pto"], 0, err=["note[LW7162]: 'pto.vadd' is not on the page: lines 2, 3\n"])[2]
        self.assertIn("note[LW7162]: 'pto.vaddc' is named by the page, which does not say what it does: line 4\n", err)
        self.assertIn("note[LW7163]: memref<?xi32> is not on the page\n", err)
        self.assertNotIn("LW716", self.lanewise("check", "f.pto")[2])
        self.gives(["check", "-q", "--portable", "f.pto"], err=re.search(r"(?s).*", err)[0].rpartition("f.pto: ")[0])

    def test_page_example(self):
        """The page's own example, with a mask: only what its result has in inactive lanes is open."""
        self.assertEqual(self.places("%c2 = arith.constant 2 : i32", f"%count = pto.vbroadcast %c2 : i32 -> {V}", f"%shifted = pto.vshr %a, %count, %m : {BINARY}",
                                     f"%shifted2 = pto.vshr %a, %n, %m : {BINARY}", f"return %shifted : {V}", results=f" -> {V}"), [(3, 7161), (4, 7160)])

    def test_report(self):
        self.file("f.pto", function(f"%r = pto.vadd %a, %n, %m : {BINARY}", f"return %r : {V}", results=f" -> {V}"))
        file, = json.loads(self.shows(["check", "--portable", "--format", "json", "f.pto"])[1])["files"]
        found = [(d["id"], d["severity"], d["line"], [(n["id"], n["line"]) for n in d["notes"]]) for d in file["diagnostics"]]
        self.assertEqual(found, [("LW7161", "warning", 2, [("LW7164", 3)]), ("LW7162", "note", 2, []), ("LW7163", "note", 1, [])])
        self.assertEqual((file["warnings"], self.lanewise("check", "--portable", "--werror", "f.pto")[0]), (1, 1))
        self.file("k.ptx", cli.module(cli.kernel("k")))
        self.shows(["check", "--portable", "k.ptx"], 2, err=["--portable are for PTO text"])


class Cost(cli.Case):
    """A5 7 cycles; A2/A3 14 + 2 for each 2048 bits + 17 (the page's figures)."""

    def test_json(self):
        self.file("f.pto", function("%z = arith.constant 0 : index", "%o = arith.constant 1 : index", "%e = arith.constant 8 : index",
                                    "scf.for %j = %z to %e step %o {", f"  vshr %a, %a, %n, %m : {V}", "}", f"vadd %a, %a, %n, %m : {V}", f"%w = pto.mask.all : {M}"))
        for profile, cycles in (("a5", 7), ("a2a3", 33)):
            file, = json.loads(self.shows(["check", "--cost", profile, "--format", "json", "f.pto"])[1])["files"]
            cost, = file["cost"]
            rows = [(o["line"], o["operation"], o["cycles"], o["times"], o["repeats"], o["taken_from_vshr"]) for o in cost["operations"]]
            self.assertEqual(rows, [(6, "pto.vshr", cycles, 8, 1, False), (8, "pto.vadd", cycles, 1, 1, True)])
            self.assertEqual((cost["function"], cost["profile"], cost["total"], cost["uncounted"], cost["per_round"]), ("f", profile, 9 * cycles, 1, False))
            self.assertEqual(cost["total_pipelined"], None if profile == "a5" else 8 * 18 + 33)
        self.file("bad.pto", "func.func @f(")
        file, = json.loads(self.shows(["check", "--cost", "a5", "--format", "json", "bad.pto"], 1)[1])["files"]
        self.assertNotIn("cost", file)
        self.shows(["check", "--cost", "a5", "--format", "sarif", "f.pto"], 2, err=["exclude each other"])

    def test_refused(self):
        """What a profile does not have costs nothing there: the figures are refused as --target refuses the text."""
        self.file("narrow.pto", "func.func @f(%a: !pto.vreg<16xi32>, %m: !pto.mask<16>) {\n  vshr %a, %a, %a, %m : !pto.vreg<16xi32>\n}\n")
        for command in (["check", "narrow.pto"], ["run", "narrow.pto", "-a", "s32[16]=1", "-a", "u8[16]=1"]):
            target = self.lanewise(*command, "--target", "a5")
            self.assertIn("LW7130", target[2])
            self.assertEqual(self.lanewise(*command, "--cost", "a5"), target)
            self.assertEqual(self.lanewise(*command, "--cost", "a2a3")[0], 0)
            self.assertEqual(self.lanewise(*command, "--cost", "a2a3", "--target", "a2a3")[0], 0)
            self.assertEqual(self.lanewise(*command, "--cost", "a2a3", "--target", "a5")[0], 2)

    def test_repeats_save(self):
        """One start and one end for four times 2048 bits in place of four."""
        wide = "!pto.vreg<256xi32>"
        self.file("wide.pto", f"func.func @f(%a: {wide}, %m: !pto.mask<256>) {{\n  vshr %a, %a, %a, %m : {wide}\n  vand %a, %a, %a, %m : {wide}\n}}\n")
        one, apart = 14 + 4 * 2 + 17, 4 * (14 + 2 + 17)
        self.shows(["check", "--cost", "a2a3", "wide.pto"], out=[f"  repeats save {2 * (apart - one)} cycles: an operation for each 2048 bits would take {2 * apart}\n"])
        run = ["run", "wide.pto", "-a", "s32[768]=1", "-a", "u8[768]=1", "--cost", "a2a3"]
        joined = 2 * (14 + 12 * 2 + 17)
        self.shows(run, err=[f"total {6 * one} cycles one after", f"  repeats would save {6 * one - joined} cycles: {joined} where an operation takes the registers of all 3 times"])
        self.file("f.pto", function(f"vshr %a, %a, %a, %m : {V}"))
        self.assertNotIn("repeats save", self.lanewise("check", "--cost", "a2a3", "f.pto")[1])
        cost = json.loads(self.shows(["check", "--cost", "a2a3", "--format", "json", "wide.pto"])[1])["files"][0]["cost"][0]
        self.assertEqual((cost["saved_by_repeats"], cost["repeats_would_save"]), (2 * (apart - one), 0))


class Stats(cli.Case):
    def test_words(self):
        """A function has repeats over lanes, and no grid of threads."""
        self.file("f.pto", f"func.func @f(%a: {V}) {{\n  %m = pto.mask.all : {M}\n  vadd %a, %a, %a, %m : {V}\n}}\n")
        for count, want in ((64, "1 repeat of 64 lanes\n"), (128, "2 repeats of 64 lanes\n"), (40, "1 repeat of 64 lanes, of which 40 run\n"),
                            (200, "4 repeats of 64 lanes, of which 8 run the last time\n")):
            err = self.shows(["run", "f.pto", "-a", f"s32[{count}]=1", "--stats"], err=[f"launch         {want}"])[2]
            for word in ("grid", "block", "warp", "CTA", "semantics", "instruction"):
                self.assertNotIn(word, err)
            stats = json.loads(self.shows(["run", "f.pto", "-a", f"s32[{count}]=1", "--stats=json"])[2])
            self.assertEqual((stats["elements"], stats["repeats"], stats["lanes"], stats["last_lanes"]), (count, -(-count // 64), 64, count % 64 or 64))

    def test_trapped(self):
        """A launch has as many threads as it was made with, whatever came of them."""
        self.file("k.ptx", cli.module(cli.kernel("k", body=".reg .b64 a; mov.u64 a, 64; st.global.u32 [a], 1; ret;")))
        err = self.shows(["run", "k.ptx", "-b", "32", "-g", "3", "--threads", "1", "--stats"], 3, err=["launch         grid 3,1,1  block 32,1,1  96 threads\n"])[2]
        self.assertRegex(err, r"\nended          [012] of 3 CTAs\n")
        self.file("good.ptx", cli.module(cli.kernel("k")))
        self.assertNotIn("ended", self.lanewise("run", "good.ptx", "--stats")[2])


class Equiv(cli.Case):
    SHIFT = (f"func.func @f(%a: {V}, %n: {V}) -> {V} {{\n  %m = pto.mask.all : {M}\n  %r = pto.vshr %a, %n, %m : {BINARY}\n  return %r : {V}\n}}\n")

    def test_target(self):
        """Shift counts that the target defines are counted on each side, also where both happen to give the same."""
        self.file("a.pto", self.SHIFT)
        self.file("b.pto", "\n" + self.SHIFT)
        err = self.shows(["equiv", "a.pto", "b.pto"], out=["equal: 4 cases of 65536 elements\n"])[2]
        counted = re.findall(r"^(\w)\.pto:(\d):3: note\[LW5105\].*: (\d+) lanes$", err, re.M)
        self.assertEqual([(file, line) for file, line, _ in counted], [("a", "3"), ("b", "4")])
        self.assertEqual(counted[0][2], counted[1][2])
        self.assertGreater(int(counted[0][2]), 1000)
        self.gives(["equiv", "a.pto", "b.pto", "--range", "1=0:31"], out="equal: 4 cases of 65536 elements\n")

    def test_inactive(self):
        text = f"func.func @f(%a: {V}, %m: {M}) -> {V} {{\n  %r = pto.vnot %a, %m : ({V}, {M}) -> {V}\n  return %r : {V}\n}}\n"
        self.file("a.pto", text)
        self.file("b.pto", text)
        line = "2:3: note[LW7161]: lanes of '%r' that '%m' leaves out are used, and the page does not say what they hold\n"
        self.gives(["equiv", "a.pto", "b.pto"], out="equal: 4 cases of 65536 elements\n", err=f"a.pto:{line}b.pto:{line}")

    def test_count(self):
        """Memrefs of their own length are compared as far as they go."""
        text = "func.func @f(%x: memref<24xi32>) {\n  %z = arith.constant 0 : index\n  %m = pto.mask.all : !pto.mask<24>\n  vload %v, %x[%z], %m : !pto.vreg<24xi32>\n" \
               "  vnot %v, %v, %m : !pto.vreg<24xi32>\n  pto.vstore %v, %x[%z], %m : !pto.vreg<24xi32>, memref<24xi32>, !pto.mask<24>\n}\n"
        self.file("a.pto", text)
        self.gives(["equiv", "a.pto", "a.pto"], out="equal: 4 cases of 24 elements\n")
        kernel = cli.kernel("f", ".u64 x", body=".reg .b64 p, q; .reg .b32 i, v; ld.param.u64 p, [x]; cvta.to.global.u64 p, p; mov.u32 i, %tid.x; mad.wide.u32 q, i, 4, p;"
                                                " ld.global.b32 v, [q]; not.b32 v, v; st.global.b32 [q], v; ret;", directives=".maxntid 1024")
        self.file("k.ptx", cli.module(kernel))
        self.gives(["equiv", "k.ptx", "a.pto", "--block", "24"], out="equal: 4 cases of 24 elements\n")

    def test_constants(self):
        """A value that only one of the texts looks for is among the inputs."""
        whole = f"  %m = pto.mask.all : {M}\n"
        identity = f"func.func @f(%a: {V}) -> {V} {{\n  return %a : {V}\n}}\n"
        odd = (f"func.func @f(%a: {V}) -> {V} {{\n{whole}  %c = arith.constant 0x5eed1e55 : i32\n  %b = pto.vbroadcast %c : i32 -> {V}\n"
               f"  %e = pto.vcmp eq, %a, %b, %m : ({V}, {V}, {M}) -> {M}\n  vnot %a, %a, %e : {V}\n  return %a : {V}\n}}\n")
        self.file("a.pto", identity)
        self.file("b.pto", odd)
        for sides in (["a.pto", "b.pto"], ["b.pto", "a.pto"]):
            self.shows(["equiv", *sides], 7, out=["0x5eed1e55"])
        kernel = cli.kernel("f", ".u64 x", ".u64 y", ".u64 n", directives=".maxntid 128", body=".reg .b64 p, q, o; .reg .b32 i, v, t; .reg .pred e; ld.param.u64 p, [x]; ld.param.u64 q, [y];"
                            " cvta.to.global.u64 p, p; cvta.to.global.u64 q, q; mov.u32 i, %ctaid.x; mov.u32 t, %tid.x; mad.lo.u32 i, i, 128, t; mul.wide.u32 o, i, 4; add.u64 p, p, o;"
                            " add.u64 q, q, o; ld.global.b32 v, [p]; setp.eq.u32 e, v, 0x5eed1e55; @e not.b32 v, v; st.global.b32 [q], v; ret;")
        self.file("k.ptx", cli.module(kernel))
        self.shows(["equiv", "k.ptx", "a.pto"], 7, out=["0x5eed1e55"])
        self.shows(["equiv", "k.ptx", "b.pto"], out=["equal: 4 cases of 65536 elements\n"])


if __name__ == "__main__":
    cli.main()
