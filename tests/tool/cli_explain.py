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
        self.gives(["explain", "shf"], out="".join(
            f"shf.{way}.(clamp|wrap).b32  d, a, b, c:u32\n    funnel shift {does}\n"
            "    PTX 3.1, sm_32; manual section 9.7.8.7; executable\n"
            for way, does in (("l", "left: high word of [b,a] << c"), ("r", "right: low word of [b,a] >> c"))))

    def test_spelling(self):
        """A whole spelling chooses its form."""
        code, out, err = self.lanewise("explain", "shf.r.wrap.b32")
        self.assertEqual((code, err), (0, ""))
        self.assertEqual(out.splitlines()[0], "shf.r.(clamp|wrap).b32  d, a, b, c:u32")
        self.assertEqual(len(out.splitlines()), 3)

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
