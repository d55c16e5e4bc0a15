#!/usr/bin/env python3
"""PTO text on the command line: check, format, dump, explain, isa."""

import json
import re

import cli

V, M = "!pto.vreg<64xi32>", "!pto.mask<b32>"
GOOD = f"""func.func @shift(%a: {V}, %n: {V}, %m: {M}) -> {V} {{
  %r = pto.vshr %a, %n, %m : ({V}, {V}, {M}) -> {V}
  return %r : {V}
}}
"""
UGLY = f"""// a comment
func.func @shift ( %a : !pto.vreg< 64xsi32 > ,
  %n : {V}, %m : {M} ) -> ({V}) {{ %r = pto.vshr %a , %n,
     %m : {V}, {V}, {M} -> {V}   return %r : {V} }}"""
LOOP = f"""func.func @loop(%a: {V}, %m: {M}) {{
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %ten = arith.constant 10 : index
  scf.for %i = %zero to %ten step %one {{
    vshr %a, %a, %a, %m : {V}
  }}
  return
}}
"""

# A faulty line, the text that the caret underlines, and what would be right. Its registers: %a, %w of 32 lanes, %m, %k of 16 bits.
MENDS = [
    (f"%r = pto.vsr %a, %a, %m : ({V}, {V}, {M}) -> {V}", "pto.vsr", "did you mean 'pto.vshr'?"),
    (f"vshrr %r, %a, %a, %m : {V}", "vshrr", "did you mean 'vshr'?"),
    ("%c = arith.adi %n, %n : index", "arith.adi", "did you mean 'arith.addi'?"),
    (f"vshr %r, %aa, %a, %m : {V}", "%aa", "did you mean '%a'?"),
    ("vshr %r, %a, %a, %m : !pto.vrex<64xi32>", "!pto.vrex", "did you mean '!pto.vreg'?"),
    (f"vshr %r, %a, %m : {V}", "vshr", "operands: the destination, lhs, rhs, mask"),
    (f"vaddc %r, %c, %a : {V}", "vaddc", "operands: the destinations, lhs, rhs, {carry_in}, mask"),
    (f"vshr %r, %a, %a, %k : {V}", "%k", f"{M} fits"),
    ("vshr %r, %w, %w, %m : !pto.vreg<32xi32>", "%m", "!pto.mask<32> fits"),
    ("%a = arith.constant 1 : i32", "%a", None),
]


class Check(cli.Case):
    def setUp(self):
        super().setUp()
        self.file("good.pto", GOOD)
        self.file("loop.pto", LOOP)

    def test_good(self):
        self.gives(["check", "good.pto"], err="good.pto: no errors; 1 function, 2 operations\n")
        self.gives(["check", "-q", "good.pto"])
        self.file("good.mlir", GOOD)
        self.gives(["check", "-q", "good.mlir"])
        self.file("odd.txt", GOOD)
        self.gives(["check", "-q", "--language", "pto", "odd.txt", "-"], stdin=GOOD)
        self.shows(["check", "odd.txt"], 1)
        self.gives(["check", "-q", "--list", "good.pto"], out=f"func.func @shift(%a: {V}, %n: {V}, %m: {M}) -> {V}\n")

    def test_mends(self):
        for wrong, marked, mend in MENDS:
            with self.subTest(wrong):
                self.file("m.pto", f"func.func @f(%a: {V}, %w: !pto.vreg<32xi32>, %m: {M}, %k: !pto.mask<b16>, %n: index) {{\n{wrong}\n}}\n")
                lines = self.shows(["check", "m.pto"], 1)[2].splitlines()
                self.assertEqual(lines[1], f"     2 | {wrong}")
                caret = lines[2].split("| ")[1]
                self.assertEqual(wrong[caret.index("^"):len(caret.rstrip())], marked)
                if mend:
                    self.assertEqual(lines[3], f"       = {mend}")
                self.assertEqual(lines[-1], "m.pto: 1 error, 0 warnings")

    def test_profiles(self):
        self.file("narrow.pto", GOOD.replace(V, "!pto.vreg<32xi32>").replace(M, "!pto.mask<32>"))
        for target in ("cpu", "a2a3"):
            self.gives(["check", "-q", "--target", target, "narrow.pto", "good.pto"])
        self.gives(["check", "-q", "--target", "a5", "good.pto"])
        self.shows(["check", "--target", "a5", "narrow.pto"], 1,
                   err=["narrow.pto:1:18: error[LW7130]: !pto.vreg<32xi32> has 1024 bits, and profile a5 has registers of 2048\n"])

    def test_usage(self):
        self.file("k.ptx", cli.module(cli.kernel("k")))
        self.shows(["check", "--target", "a4", "good.pto"], 2, err=["--target takes cpu, a2a3 or a5, not 'a4'"])
        self.shows(["check", "--cost", "cpu", "good.pto"], 2, err=["--cost takes a2a3 or a5, not 'cpu'"])
        self.shows(["check", "--language", "c", "good.pto"], 2, err=["--language takes ptx or pto, not 'c'"])
        self.shows(["check", "--target", "a5", "k.ptx"], 2, err=["--target, --cost and --portable are for PTO text, and 'k.ptx' is PTX"])

    def test_reports(self):
        self.file("bad.pto", GOOD.replace("vshr", "vsr"))
        code, out, _ = self.lanewise("check", "--format", "json", "bad.pto")
        self.assertEqual(code, 1)
        self.assertIn("LW7014", out)

    def test_cost(self):
        """The figures of the page: A5 7; A2/A3 14 + 2 + 17, a new one every 18."""
        out = self.shows(["check", "-q", "--cost", "a5", "loop.pto"])[1]
        self.assertRegex(out, r"6 +pto\.vshr +7 +x 10 +latency 7\n")
        self.assertIn("total 70 cycles one after the other\n", out)
        out = self.shows(["check", "-q", "--cost", "a2a3", "loop.pto"])[1]
        self.assertRegex(out, r"6 +pto\.vshr +33 +x 10 +startup 14 \+ 2 for each repeat, 1, \+ completion 17\n")
        self.assertIn("total 330 cycles one after the other\n", out)
        self.assertIn(f"total {9 * 18 + 33} cycles where none waits", out)
        self.file("open.pto", LOOP.replace("to %ten", "to %n").replace(f"%m: {M}", f"%m: {M}, %n: index"))
        out = self.shows(["check", "-q", "--cost", "a5", "open.pto"])[1]
        self.assertIn("for each round of its loop", out)
        self.assertIn("total 7 cycles one after the other, with one round of each loop", out)

    def test_cost_of_a_run(self):
        """Rounds are what happened; repeats of the function count, too, also where several share their threads (here: 64, 64 and 2 elements)."""
        text = LOOP.replace("to %ten", "to %n").replace(f"%m: {M}", f"%m: {M}, %n: index")
        self.file("open.pto", text)
        run = ["run", "open.pto", "-a", "s32[130]=1", "-a", "u8[130]=1"]
        self.gives([*run, "-a", "s64=4", "--cost", "a5"],
                   err="@loop on A5, as it ran, 3 times\n  line  operation  cycles  x times   formula\n"
                       "     6  pto.vshr        7  x 12      latency 7\n  total 84 cycles one after the other\n")
        self.shows([*run, "-a", "s64=4", "--cost", "a2a3"], err=[f"total {12 * 33} cycles one after", f"total {11 * 18 + 33} cycles where none"])
        self.shows([*run, "-a", "s64=0", "--cost", "a5"], err=["x 0 ", "total 0 cycles one after the other\n"])
        self.shows(["run", "-", "--language", "pto", *run[2:], "-a", "s64=1", "--cost", "a5"], stdin=text, err=["total 21 cycles one after"])
        self.assertNotIn("LW5107", self.shows([*run, "-a", "s64=1", "--cost", "a5", "--stats"], err=["total 21 cycles one after"])[2])
        stats = json.loads(self.shows([*run, "-a", "s64=1", "--cost", "a5", "--stats=json"])[2])
        self.assertEqual((stats["notes"], stats["cost"]["total"], stats["cost"]["ran"]), ([], 21, 3))
        self.assertEqual([stats[key] for key in ("elements", "repeats", "lanes", "last_lanes")], [130, 3, 64, 2])

    def test_cost_of_a_run_refused(self):
        self.file("k.ptx", cli.module(cli.kernel("k")))
        self.gives(["run", "good.pto", "--cost", "cpu"], 2, err="lanewise: error[LW6003]: --cost 'cpu': it must be a2a3 or a5\n")
        self.shows(["run", "k.ptx", "--cost", "a5"], 2, err=["LW6046", "--cost"])
        # What trapped half-way has no total.
        code, out, err = self.lanewise("run", "good.pto", "-a", "s32[64]=1", "-a", "s32[64]=32", "-a", "u8[64]=1", "--shift-overflow", "trap", "--cost", "a5")
        self.assertEqual((code, out), (3, ""))
        self.assertNotIn("total", err)

    def test_document(self):
        """The program that docs/pto.md shows is one, on every profile."""
        text = (cli.ROOT / "docs/pto.md").read_text()
        programs = re.findall(r"```mlir\n(.*?)```", text, re.S)
        self.assertEqual(len(programs), 1)
        self.file("doc.pto", programs[0])
        for target in ("cpu", "a2a3", "a5"):
            self.gives(["check", "-q", "--target", target, "doc.pto"])


class FormatAndDump(cli.Case):
    def test_format(self):
        tidy = "// a comment\n" + GOOD
        self.file("ugly.pto", UGLY)
        self.gives(["format", "ugly.pto"], out=tidy)
        self.gives(["format", "--language", "pto", "-"], stdin=UGLY, out=tidy)
        self.gives(["format", "-i", "ugly.pto"])
        self.assertEqual((self.folder / "ugly.pto").read_text(), tidy)
        self.file("bad.pto", "func.func @f( {")
        self.shows(["format", "-i", "bad.pto"], 1, err=["error[LW70"])
        self.assertEqual((self.folder / "bad.pto").read_text(), "func.func @f( {")

    def test_dump(self):
        self.file("loop.pto", LOOP)
        out = self.shows(["dump", "--stage", "tokens", "loop.pto"])[1]
        self.assertIn("    1:1   word   func.func\n    1:11  symbol @loop\n", out)
        self.assertIn("type   !pto.vreg\n", out)
        out = self.shows(["dump", "--stage", "module", "loop.pto"])[1]
        self.assertRegex(out, r"    6:5 +pto\.vshr +assembly +merges +vshr %a, %a, %a, %m")
        self.shows(["dump", "--stage", "module", "--kernel", "loop", "loop.pto"], out=["@loop"])
        self.shows(["dump", "--stage", "module", "--kernel", "nix", "loop.pto"], 2, err=["LW6026"])


class Explain(cli.Case):
    def rows(self):
        out = self.shows(["isa", "--language", "pto", "--tsv"])[1]
        return [line.split("\t") for line in out.splitlines()]

    def test_isa(self):
        rows = self.rows()
        marks = {name: mark for _, mark, name, *_ in rows}
        self.assertEqual(marks["pto.vshr"], "page")
        # The page names these and says no more of them.
        self.assertEqual({name for name, mark in marks.items() if mark == "name"}, {"pto.vshl", "pto.vaddc", "pto.vbroadcast"})
        self.assertTrue(all((mark == "mlir") != name.startswith("pto.") for name, mark in marks.items()))
        out = self.shows(["isa", "--language", "pto"])[1]
        self.assertTrue(out.endswith(f"1 from the page, 3 that it names, {sum(m == 'mlir' for m in marks.values())} of MLIR, "
                                     f"{sum(m == 'ours' for m in marks.values())} ours\n"), out[-100:])
        self.shows(["isa", "--language", "pto", "--family", "shift"], out=["pto.vshl", "1 from the page, 1 that it names"])
        self.shows(["isa", "--language", "pto", "--family", "shuffle"], 2)

    def test_vshr(self):
        """Syntax, semantics, constraints, profiles and constants of the page."""
        out = self.shows(["explain", "pto.vshr"])[1]
        vv, mm = "!pto.vreg<NxT>", "!pto.mask<G>"
        self.assertIn(f"vshr %result, %lhs, %rhs, %mask : {vv}\n", out)
        self.assertIn(f"%result = pto.vshr %lhs, %rhs, %mask : ({vv}, {vv}, {mm}) -> {vv}\n", out)
        self.assertIn(f"pto.vshr ins(%lhs, %rhs, %mask : {vv}, {vv}, {mm}) outs(%result : {vv})\n", out)
        for value, constant in ((7, "RV_VSHR"), (14, "A2A3_STARTUP_BINARY"), (17, "A2A3_COMPL_INT_BINOP"), (2, "A2A3_RPT_2"), (18, "A2A3_INTERVAL")):
            self.assertRegex(out, rf" {value}  {constant}\n")
        for profile, title, status in (("cpu", "CPU simulator", "simulated"), ("a2a3", "A2/A3", "simulated"), ("a5", "A5", "supported")):
            self.assertRegex(out, rf"    {profile} +{title}: {status}, ")

    def test_forms_are_text(self):
        """What explain shows of each operation is text that checks, with and without what may be left out."""
        for _, mark, name, *_ in self.rows():
            if mark == "mlir":
                self.shows(["explain", name], out=[name])
                continue
            out = self.shows(["explain", name])[1]
            forms = dict(re.findall(r"^  (assembly|SSA|DPS) +(.*)$", out, re.M))
            self.assertEqual(set(forms), {"assembly", "SSA", "DPS"}, name)
            for kind, form in forms.items():
                for optional in ("", r"\1"):
                    with self.subTest(form=form, optional=optional):
                        ssa = self.written(forms["SSA"], optional)
                        self.file("f.pto", f"func.func @f({self.arguments(ssa)}) {{\n  {self.written(form, optional)}\n}}\n")
                        self.gives(["check", "-q", "--target", "a5", "f.pto"])

    @staticmethod
    def written(form, optional):
        form = re.sub(r"\{([^}]*)\}(, )?", (optional + r"\2") if optional else "", form)
        form = form.replace("NxT", "64xi32").replace("?xT", "?xi32").replace("<G>", "<b32>").replace(" WORD", " lt").replace("0xBITS", "0x3")
        return re.sub(r"\bT\b", "i32", form)

    @staticmethod
    def arguments(ssa):
        """What the operands of an SSA text must be declared as."""
        operands, types = ssa.split("=")[-1].split(" : ")
        names = re.findall(r"%\w+(?!\w*\])", operands.replace("[%index]", ""))
        types = re.findall(r"!pto\.\w+<\w+>|memref<[^>]*>|\w+", types.split("->")[0] if names else "")
        return ", ".join([f"{name}: {kind}" for name, kind in zip(names, types, strict=True)] + ["%index: index"])

    def test_words(self):
        self.shows(["explain", "pto"], out=["pto.vshr", "pto.mask.first"])
        self.shows(["explain", "pto.mask"], out=["pto.mask.all"])
        self.shows(["explain", "pto.vsr"], 2, err=["did you mean 'pto.vshr'?"])
        self.shows(["explain", "LW7113"], out=["LW7113, error"])
        # PTX has one of this name, and not of the others.
        self.assertTrue(self.shows(["explain", "vshr"], out=["vshr.("])[1].endswith("\nPTO has an operation of that name: lanewise explain pto.vshr\n"))
        self.assertNotIn("PTO", self.shows(["explain", "shf"])[1])
        for short, name in (("vand", "pto.vand"), ("mask.first", "pto.mask.first"), ("return", "func.return"), ("mask", "pto.mask")):
            self.assertEqual(self.lanewise("explain", short), self.lanewise("explain", name))
        self.shows(["explain", "vandd"], 2)


if __name__ == "__main__":
    cli.main()
