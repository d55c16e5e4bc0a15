#!/usr/bin/env python3
"""`lanewise explain` and `lanewise isa`, against the tables as text."""

import pathlib
import re

import cli

ISA = pathlib.Path(__file__).resolve().parent.parent.parent / "isa"


def strings(text):
    """The C strings that stand one behind the other in a text, as one."""
    return "".join(bytes(s, "utf-8").decode("unicode_escape") for s in re.findall(r'"((?:[^"\\]|\\.)*)"', text))


def forms():
    """Family, pattern, operands and the rest of each FORM row, read without a preprocessor."""
    rows = []
    for family in re.findall(r'#include "ptx/(\w+)\.def"', (ISA / "ptx" / "forms.def").read_text()):
        text = (ISA / "ptx" / f"{family}.def").read_text()
        text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
        for pattern, operands, rest in re.findall(r'^FORM\(\w+,\s*"([^"]*)",\s*"([^"]*)"(.*?)\)$', text, flags=re.M | re.S):
            rows.append((family, pattern, operands, rest))
    return rows


def diagnostics():
    """Number, severity, format and explanation of each DIAG row."""
    rows = []
    for path in sorted((ISA / "diag").glob("*.def")):
        text = re.sub(r"/\*.*?\*/", "", path.read_text(), flags=re.S)
        for number, severity, rest in re.findall(r"^DIAG\((\d+), \w+, LW_(\w+),(.*?)\)$(?=\s*(?:DIAG|\Z))", text, flags=re.M | re.S):
            rows.append((int(number), severity.lower(), strings(rest)))
    return rows


class Diagnostics(cli.Case):
    def test_every_one(self):
        rows = diagnostics()
        self.assertGreater(len(rows), 40)
        out = self.lanewise("explain", *(f"LW{number:04}" for number, *_ in rows))
        self.assertEqual((out[0], out[2]), (0, ""))
        for number, severity, texts in rows:
            self.assertRegex(out[1], rf"(?m)^LW{number:04}, {severity}: ")

    def test_one(self):
        want = ("LW6000, error: cannot read '...': ...\n    The file is missing, unreadable or too large.\n")
        self.gives(["explain", "LW6000"], out=want)
        self.gives(["explain", "lw6000"], out=want)

    def test_lines_fit(self):
        out = self.lanewise("explain", *(f"LW{number:04}" for number, *_ in diagnostics()))[1]
        for line in out.splitlines():
            self.assertTrue(len(line) <= 78 or line.startswith("LW"), line)

    def test_unknown(self):
        for word in ("LW0000", "LW9999", "LW", "LW60000", "LW600", "LWabcd"):
            self.shows(["explain", word], 2, err=[f"error[LW6007]: '{word}' is no "])


class Instructions(cli.Case):
    def test_shf(self):
        code, out, err = self.lanewise("explain", "shf")
        self.assertEqual((code, err), (0, ""))
        self.assertTrue(out.startswith("".join(
            f"shf.{way}.(clamp|wrap).b32  d, a, b, c:u32\n    funnel shift {does}\n"
            "    PTX 3.1, sm_32; manual section 9.7.8.7; executable\n    registers of any type of the same size\n"
            for way, does in (("l", "left: high word of [b,a] << c"), ("r", "right: low word of [b,a] >> c"))) + "  semantics\n    n = "), out)

    def test_spelling(self):
        """A whole spelling chooses its form; words that spellings begin with choose all of these."""
        code, out, err = self.lanewise("explain", "shf.r.wrap.b32")
        self.assertEqual((code, err), (0, ""))
        self.assertEqual(out.splitlines()[0], "shf.r.(clamp|wrap).b32  d, a, b, c:u32")
        self.assertEqual(out.count("; manual section "), 1)
        out = self.lanewise("explain", "shfl.sync")[1]
        self.assertIn("shfl.sync.(up|down|bfly|idx).b32", out)
        self.assertNotIn("shfl.(up", out)
        self.assertEqual(self.lanewise("explain", "mul.wide")[1].count("; manual section "), 1)

    def test_wrong_spelling(self):
        code, out, err = self.lanewise("explain", "shf.l.b32")
        self.assertEqual((code, out), (2, self.lanewise("explain", "shf")[1]))
        self.assertTrue(err.startswith("lanewise: error[LW6008]: no form fits 'shf.l.b32'"), err)

    def test_classes_are_written_out(self):
        self.assertTrue(self.lanewise("explain", "shl")[1].startswith("shl.(b16|b32|b64)  d, a, b:u32\n"))

    def test_gates(self):
        self.shows(["explain", "shfl"], out=["deprecated since PTX 6.0", "removed in PTX 6.4 for sm_70 and higher"])

    def test_not_executable(self):
        self.shows(["explain", "tex"], out=["known, but not executable"])

    def test_every_opcode(self):
        opcodes = sorted({re.split(r"[.{]", pattern)[0] for _, pattern, *_ in forms()})
        self.assertGreater(len(opcodes), 100)
        code, out, err = self.lanewise("explain", *opcodes)
        self.assertEqual((code, err), (0, ""))
        self.assertEqual(out.count("\n    PTX "), len(forms()))

    def test_special_registers(self):
        self.gives(["explain", "%laneid"], out="%laneid  .u32\n    special register: lane within the warp\n    PTX 1.3\n")
        self.gives(["explain", "laneid"], out="%laneid  .u32\n    special register: lane within the warp\n    PTX 1.3\n")
        self.shows(["explain", "%tid"], out=["%tid.(x|y|z)"])

    def test_unknown(self):
        for word, near in (("shff", "shf"), ("adc", "add"), ("%landid", "%laneid")):
            self.gives(["explain", word], 2,
                       err=f"lanewise: error[LW6007]: '{word}' is no instruction, special register or diagnostic that Lanewise knows\n"
                           f"  did you mean '{near}'?\n")
        for word in ("", ".", "x.y.z", "a" * 1000, "%", "shf{.l}"):
            self.shows(["explain", word], 2, err=["error[LW6007]"])
        code, out, err = self.lanewise("explain", "nonsense", "shf")
        self.assertEqual(code, 2)
        self.assertIn("shf.l.", out)


def rows_of(path, macro):
    """The string and number fields of each row of a table, in order; NULL is None."""
    text = re.sub(r"/\*.*?\*/", "", (ISA / path).read_text(), count=1, flags=re.S)
    starts = [m.end() for m in re.finditer(rf"^{macro}\(", text, flags=re.M)]
    for start in starts:
        fields, at = [""], start
        while text[at] != ")":
            string = re.compile(r'"((?:[^"\\]|\\.)*)"').match(text, at)
            if string:
                fields[-1] = (fields[-1] or "") + bytes(string[1], "utf-8").decode("unicode_escape")
                at = string.end()
            elif text[at] == ",":
                fields.append("")
                at += 1
            else:
                word = re.compile(r"\w+|\s+").match(text, at)
                if not word[0].isspace():
                    fields[-1] = None if word[0] == "NULL" else word[0]
                at = word.end()
        yield fields


class About(cli.Case):
    """Semantics, examples and differences."""

    SEED = "and or xor not cnot lop3 shf shl shr vshl vshr shfl shfl.sync".split()
    # What the examples must give, worked out by hand and with Python from the manual: the bits of each result.
    RESULTS = {
        "and": {"d": 0x0f000f00}, "or": {"d": 0xfff0fff0}, "xor": {"d": 0xf0f0f0f0}, "not": {"d": 0xff00}, "cnot": {"d": 1},
        "lop3": {"d": ((0xff00ff00 & 0x0f0f0f0f) | 0x33333333) ^ 0xff00ff00, "p": True}, "shf": {"d": 0xbcdef012},
        "shl": {"d": 0x10}, "shr": {"d": 0xf8000000}, "vshl": {"d": 0x810}, "vshr": {"d": 0xfffffff0},
        "shfl": {"d": [12, 13, 14, 15, 16, 17, 16, 17], "p": [True] * 6 + [False] * 2},
        "shfl.sync": {"d": [11, 10, 13, 12, 15, 14, 17, 16], "p": [True] * 8},
    }

    def test_complete(self):
        rows = {words: rest for words, *rest in rows_of("ptx/about.def", "ABOUT")}
        self.assertEqual(sorted(rows), sorted(self.SEED))
        for words, (semantics, example, differs) in rows.items():
            out = self.lanewise("explain", words)[1]
            self.assertIn("  semantics\n" + "".join(f"    {line}\n" for line in semantics.split("\n")), out)
            self.assertIn(f"  example\n    $ lanewise eval {example}\n", out)
            self.assertIn("  manual and hardware\n", out)
            self.assertEqual("They agree." in out, differs is None)
            self.assertTrue(all(len(line) <= 100 for line in out.split("  semantics\n")[1].splitlines()), words)

    def test_examples(self):
        """The example is what eval prints, and eval gives what the manual says."""
        for words, _, example, _ in rows_of("ptx/about.def", "ABOUT"):
            code, result, err = self.lanewise("eval", *example.split())
            if code == 1 and "LW3000" in err and words.startswith("vsh"):
                continue  # not executable yet: explain shows no result then
            self.assertEqual((code, err), (0, ""), example)
            self.assertIn("".join(f"    {line}\n" for line in result.splitlines()), self.lanewise("explain", words)[1])
            found = {}
            if result.startswith("lane"):
                rows = [line.split() for line in result.splitlines()[1:]]
                found = {"d": [int(r[1], 16) for r in rows], "p": [r[3] == "true" for r in rows]}
            else:
                for name, bits, truth in re.findall(r"^(\w+) +(?:hex +0x(\w+)|(true|false))$", result, flags=re.M):
                    found[name] = int(bits, 16) if bits else truth == "true"
            self.assertEqual(found, self.RESULTS[words], example)


class Samples(cli.Case):
    BODY = (".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 buffer)\n{\n.reg .b16 h;\n.reg .b32 a, b, c, d;\n"
            ".reg .b64 x, y;\n.reg .f32 f, g;\n.reg .pred p, q;\n{}\nret;\n}\n")

    PTO = ("func.func @f(%a: !pto.vreg<64xi32>, %b: !pto.vreg<64xi32>, %u: !pto.vreg<64xu32>, %n: !pto.vreg<32xi32>, %m: !pto.mask<b32>, "
           "%x: memref<?xi32>, %i: index, %j: index, %c: i32, %t: i1) {\n{}\n}\n")

    def check(self, text, pto=False):
        if pto:
            whole = text if text.startswith("func.func") else self.PTO.replace("{}", text)
            return re.findall(r"(?:error|warning)\[LW(\d{4})\]", self.lanewise("check", "--language", "pto", "-", stdin=whole)[2])
        whole = text if text.startswith((".version", ".target")) else self.BODY.replace("{}", text)
        return re.findall(r"\[LW(\d{4})\]", self.lanewise("check", "-", stdin=whole)[2])

    def test_all(self):
        """Each wrong text gets its diagnostic, each right one gets none, and explain shows both."""
        rows = list(rows_of("diag/samples.def", "SAMPLE"))
        self.assertGreater(len(rows), 50)
        known = {number for number, *_ in diagnostics()}
        self.assertEqual(len({number for number, *_ in rows}), len(rows))
        for number, wrong, right in rows:
            self.assertIn(int(number), known)
            pto = int(number) >= 7000
            self.assertIn(number, self.check(wrong, pto), wrong)
            self.assertEqual(self.check(right, pto), [], right)
            shown = "".join(f"  {title}\n" + "".join(f"    {line}\n" for line in text.split("\n")) for title, text in (("example", wrong), ("right", right)))
            self.assertTrue(self.lanewise("explain", f"LW{number}")[1].endswith(shown), number)


class Isa(cli.Case):
    def rows(self, *options):
        code, out, err = self.lanewise("isa", "--tsv", *options)
        self.assertEqual((code, err), (0, ""))
        return [line.split("\t") for line in out.splitlines()]

    def test_all_rows(self):
        """Every row of the tables, in order, with its family."""
        self.assertEqual([tuple(r[0:1] + r[2:4]) for r in self.rows()], [(f, p, o) for f, p, o, _ in forms()])
        self.assertTrue(all(len(r) == 7 for r in self.rows()))

    def test_status(self):
        """A row without lane function and step is never executable; whether a lane function exists for each spelling is for the
        matcher to know."""
        rows = self.rows()
        for row, (*_, rest) in zip(rows, forms()):
            has = re.search(r"\.lane\s*=|\.step\s*=", rest)
            self.assertIn(row[1], ("yes", "part", "no") if has else ("no",), row)
            if re.search(r"\.step\s*=", rest):
                self.assertEqual(row[1], "yes", row)
        self.assertEqual(self.rows("--executable"), [r for r in rows if r[1] != "no"])
        self.assertEqual(self.rows("--missing"), [r for r in rows if r[1] != "yes"])

    def test_family(self):
        for family in sorted({f for f, *_ in forms()}):
            self.assertEqual(self.rows("--family", family), [r for r in self.rows() if r[0] == family])
        self.gives(["isa", "-f", "shift"], out=self.lanewise("isa", "--family=shift")[1])

    def test_families_in_help(self):
        text = " ".join(self.lanewise("isa", "--help")[1].split())
        families = re.findall(r'#include "ptx/(\w+)\.def"', (ISA / "ptx" / "forms.def").read_text())
        self.assertIn("Families: " + " ".join(families), text)

    def test_summary(self):
        code, out, err = self.lanewise("isa")
        runs = sum(r[1] == "yes" for r in self.rows())
        self.assertEqual(out.splitlines()[-1], f"{len(forms())} forms, {runs} executable")
        self.assertEqual(len(out.splitlines()), len(forms()) + 1)

    def test_usage(self):
        self.shows(["isa", "-e", "-m"], 2, err=["lanewise isa: --executable and --missing exclude each other\n"])
        families = " ".join(dict.fromkeys(f for f, *_ in forms()))
        self.gives(["isa", "-f", "shiftt"], 2, err="lanewise: error[LW6009]: no family of instructions is named 'shiftt'\n"
                                                   f"  families: {families}\n  did you mean 'shift'?\n")


if __name__ == "__main__":
    cli.main()
