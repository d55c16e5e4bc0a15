#!/usr/bin/env python3
"""`lanewise explain` and `lanewise isa`, against the tables as text."""

import pathlib
import re
import shlex

import cli

ISA = pathlib.Path(__file__).resolve().parent.parent.parent / "isa"


def strings(text):
    """The C strings that stand one behind the other in a text, as one."""
    return "".join(bytes(s, "utf-8").decode("unicode_escape").encode("latin-1").decode("utf-8") for s in re.findall(r'"((?:[^"\\]|\\.)*)"', text))


def forms():
    """Family, pattern, operands and the rest of each FORM row, read without a preprocessor."""
    rows = []
    for family in re.findall(r'#include "ptx/(\w+)\.def"', (ISA / "ptx" / "forms.def").read_text()):
        text = (ISA / "ptx" / f"{family}.def").read_text()
        text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
        for pattern, operands, rest in re.findall(r'^FORM\(\w+,\s*"([^"]*)",\s*"([^"]*)"(.*?)\)$', text, flags=re.M | re.S):
            rows.append((family, pattern, operands, rest))
    return rows


def shown(operands):
    """Operands of a row as the manual writes them."""
    operands = re.sub(r"vec\((\w+)\)", r"\1", operands)
    operands = re.sub(r"[\w-]+:sink", "_", operands)
    return re.sub(r"[:;][\w$/*-]+(\([^)]*\))?|\.sel\d?|\?", "", operands)


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
        want = ("LW6000, error: cannot read '...': ...\n    The file is missing, unreadable or too large.\n"
                "  example\n    $ lanewise run missing.ptx -a u32[4]\n  right\n    $ lanewise run k.ptx -a u32[4]\n")
        self.gives(["explain", "LW6000"], out=want)
        self.gives(["explain", "lw6000"], out=want)

    def test_titles_have_words(self):
        out = self.lanewise("explain", *(f"LW{number:04}" for number, *_ in diagnostics()))[1]
        for line in re.findall(r"(?m)^LW\d{4}, \w+: (.*)$", out):
            self.assertRegex(line, r"[A-Za-z]{2}")
        self.shows(["explain", "LW6026"], 0, out=["LW6026, error: kernel choice\n"])

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
            f"shf.{way}.(clamp|wrap).b32  d, a, b, c\n    funnel shift {does}\n"
            "    PTX 3.1, sm_32; manual section 9.7.8.7; executable\n    registers of any type of the same size\n    c .u32\n"
            for way, does in (("l", "left: high word of [b,a] << c"), ("r", "right: low word of [b,a] >> c"))) + "  semantics\n    n = "), out)

    def test_spelling(self):
        """A whole spelling chooses its form; words that spellings begin with choose all of these."""
        code, out, err = self.lanewise("explain", "shf.r.wrap.b32")
        self.assertEqual((code, err), (0, ""))
        self.assertEqual(out.splitlines()[0], "shf.r.(clamp|wrap).b32  d, a, b, c")
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
        self.assertTrue(self.lanewise("explain", "shl")[1].startswith("shl.(b16|b32|b64)  d, a, b\n"))

    def test_gates(self):
        self.shows(["explain", "shfl"], out=["deprecated since PTX 6.0", "removed in PTX 6.4 for sm_70 and higher"])

    def test_not_executable(self):
        self.shows(["explain", "tcgen05"], out=["known, but not executable\n    there are no tensor cores, and they have no memory\n"])

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
        for word, near in (("shff", "shf"), ("adc", "add"), ("%landid", "%laneid"), ("SHF", "shf"),
                           ("Shfl.Sync", "shfl.sync"), ("SHF.L.Wrap.B32", "shf.l.wrap.b32"), ("%LaneId", "%laneid")):
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
                fields[-1] = (fields[-1] or "") + bytes(string[1], "utf-8").decode("unicode_escape").encode("latin-1").decode("utf-8")
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


    # What the manual's pseudo-code gives for the examples of differences, worked out by hand; None: it leaves that open.
    BY_MANUAL = {
        "vshl.u32.u32.u32.sat.clamp": 0xff,         # 0x810 is more than 8 bits hold
        "vshl.u32.u32.u32.clamp.min": 0,            # 2^34 is 0 in 34 bits
        "vshl.u32.u32.u32.clamp": 0x67800000,       # the low half of 0x23456780
        "vshr.s32.s32.u32.sat.clamp": 0x7f,         # 0x123 is more than 8 signed bits hold
        "vshr.u32.s32.u32.clamp.min": 0xfffffff0,   # -16 is less than 0xfffffff8
        "vshr.u32.u32.u32.clamp": 0x45670000,       # the low half of 0x01234567
        "shl.b16": 0, "shr.s16": 0xffff,            # 65537 is clamped to 16
        "shfl.down.b32": None, "shfl.sync.down.b32": None,
    }

    def recorded(self):
        """The values of each example as the file of the recorded run has them, and what the hardware gave: one list for each result."""
        text = (ISA.parent / "tests" / "ptx" / "video" / "run_differs.ptx").read_text()
        self.assertIn("// recorded: NVIDIA", text)
        given = [int(word, 16) for word in re.search(r"^// out: arg 0 b32\[\d+\]: (.*)$", text, flags=re.M)[1].split()]
        values, found = {}, {}
        for line in text.splitlines():
            value = re.fullmatch(r"    add\.u32 %([abc]), %(zero|t), (\w+);", line)
            instruction = re.fullmatch(r"    (\w[\w.]* %h?d.*);", line)
            store = re.fullmatch(r"    st\.global\.b32 \[%o\+(\d+)\], %d;", line)
            if value:
                values[value[1]] = value[3] if value[2] == "zero" else f"{value[3]}..{int(value[3]) + 7}"
            elif instruction and not line.startswith(("    selp", "    cvt")):
                key = (re.sub(r"%h?(?=[abcdp]\b)", "", instruction[1]), " ".join(values.values()))
                values = {}
            elif store:
                at = int(store[1]) // 4
                found.setdefault(key, []).append(given[at:at + 8])
        return found

    def results(self, lines):
        """The bits of each result that these lines of eval show, for each lane."""
        if lines[0].startswith("lane"):
            rows = [line.split() for line in lines[1:]]
            return [[int(row[1], 16) for row in rows], [int(row[3] == "true") for row in rows]]
        return [[int(bits, 16)] for line in lines for bits in re.findall(r"^\w+ +hex +(0x\w+)$", line)]

    def test_differences(self):
        """Each text on differences has examples; they show what the manual says and what the hardware gave, as it was recorded."""
        differ = {words: text for words, _, _, text in rows_of("ptx/about.def", "ABOUT") if text}
        rows = list(rows_of("ptx/about.def", "DIFFERS"))
        self.assertEqual({words for words, *_ in rows}, set(differ))
        recorded = self.recorded()
        self.assertEqual({(instruction, values) for _, instruction, values in rows}, set(recorded))
        for words, instruction, values in rows:
            out = self.lanewise("explain", words)[1].split("\nPTO has an operation")[0]
            command = f"    $ lanewise eval '{instruction}' {values}\n"
            self.assertEqual(out.count(command), 1)
            shown = [line[4:] for line in out.split(command)[1].split("\n    $ ")[0].splitlines()]
            self.assertEqual("\n".join(shown).rstrip() + "\n", self.lanewise("eval", instruction, *values.split())[1])
            by_manual = self.BY_MANUAL[instruction.split()[0]]
            hardware = recorded[instruction, values]
            if by_manual is None:
                self.assertEqual(self.results(shown), hardware, instruction)
                continue
            at = shown.index("sm_90")
            self.assertEqual(shown[0], "manual")
            self.assertEqual(self.results(shown[1:at]), [[by_manual]], instruction)
            self.assertEqual([lanes * 8 for lanes in self.results(shown[at + 1:])], hardware, instruction)
            self.assertNotEqual(by_manual, hardware[0][0])


class Samples(cli.Case):
    BODY = (".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 buffer)\n{\n.reg .b16 h;\n.reg .b32 a, b, c, d;\n"
            ".reg .b64 x, y;\n.reg .f32 f, g;\n.reg .pred p, q;\n{}\nret;\n}\n")

    PTO = ("func.func @f(%a: !pto.vreg<64xi32>, %b: !pto.vreg<64xi32>, %u: !pto.vreg<64xu32>, %n: !pto.vreg<32xi32>, %m: !pto.mask<b32>, "
           "%x: memref<?xi32>, %i: index, %j: index, %c: i32, %t: i1) {\n{}\n}\n")

    VECTORS = ("func.func @f(%a: !pto.vreg<4xi32>, %x: memref<?xi32>, %i: index) -> !pto.vreg<4xi32> {\n  %m = pto.mask.all : !pto.mask<4>\n"
               "  vload %v, %x[%i], %m : !pto.vreg<4xi32>\n  vshr %d, %v, %a, %m : !pto.vreg<4xi32>\n  return %d : !pto.vreg<4xi32>\n}\n")

    def ids(self, number, text):
        """The diagnostics that a text gets: from what has this one, which is lowering, a launch, or `check`."""
        if number >= 7000 or "func.func" in text:
            whole = text if "func.func" in text else self.PTO.replace("{}", text)
            order = re.match(r"// lanewise (.*)\n", text)
            command = shlex.split(order[1]) if order else ["check" if number >= 7000 else "run"]
            return re.findall(r"\[LW(\d{4})\]", self.lanewise(*command, "--language", "pto", "-", stdin=whole)[2])
        whole = text if text.startswith((".version", ".target")) else self.BODY.replace("{}", text)
        command = (["check", "-"] if number < 3000 else ["dump", "--stage", "program", "-"] if number < 4000 else
                   ["run", "-", "-b", "32", "-a", "u32[32]", "--strict" if number == 5010 else "--stats"])
        return re.findall(r"(?:\[|^note )LW(\d{4})", self.lanewise(*command, stdin=whole)[2], flags=re.M)

    def shows_sample(self, number, wrong, right, indent):
        if cli.FEW:
            return
        shown = "".join(f"  {title}\n" + "".join(f"{indent}{line}\n" if line else "\n" for line in text.split("\n"))
                        for title, text in (("example", wrong), ("right", right)))
        self.assertTrue(self.lanewise("explain", f"LW{number}")[1].endswith(shown), number)

    def test_texts(self):
        """Each wrong text gets its diagnostic, each right one gets none, and explain shows both."""
        for number, wrong, right in list(rows_of("diag/samples.def", "SAMPLE"))[:: 5 if cli.FEW else 1]:
            self.assertIn(number, self.ids(int(number), wrong), wrong)
            self.assertEqual(self.ids(int(number), right), [], right)
            self.shows_sample(number, wrong, right, "    ")

    def test_commands(self):
        """Each wrong command line ends with its diagnostic alone, each right one well."""
        self.file("k.ptx", self.BODY.replace("{}", ""))
        self.file("f.pto", self.VECTORS)
        self.file("odd.bin", "12345")
        self.file("bad.npy", "no array")
        for number, wrong, right in rows_of("diag/samples.def", "COMMAND"):
            code, _, err = self.lanewise(*shlex.split(wrong))
            self.assertNotEqual(code, 0, wrong)
            self.assertEqual(re.findall(r"\[LW(\d{4})\]", err), [number], wrong)
            self.assertEqual(self.lanewise(*shlex.split(right))[0], 0, right)
            self.shows_sample(number, wrong, right, "    $ lanewise ")

    def test_each_has_one(self):
        """Every diagnostic has a sample, or the reason why it has none: once."""
        numbers = [int(row[0]) for macro in ("SAMPLE", "COMMAND") for row in rows_of("diag/samples.def", macro)]
        known = [int(number) for number, *_ in diagnostics()]
        for first, last, why in rows_of("diag/samples.def", "WITHOUT"):
            found = [number for number in known if int(first) <= number <= int(last)]
            self.assertTrue(found and why, first)
            numbers += found
        self.assertEqual(sorted(numbers), sorted(known))


class Isa(cli.Case):
    def rows(self, *options):
        code, out, err = self.lanewise("isa", "--tsv", *options)
        self.assertEqual((code, err), (0, ""))
        return [line.split("\t") for line in out.splitlines()]

    def test_all_rows(self):
        """Every row of the tables, in order, with its family."""
        self.assertEqual([tuple(r[0:1] + r[2:4]) for r in self.rows()], [(f, p, shown(o)) for f, p, o, _ in forms()])
        self.assertTrue(all(len(r) == 7 for r in self.rows()))

    def test_no_notation(self):
        """What the table marks its operands with is not shown: names, brackets, commas, and { } around what is optional."""
        plain = re.compile(r"(?:\{?, ?|\{\||[\w-]+|[][|}]|\u2026)*")
        for row in self.rows():
            self.assertTrue(plain.fullmatch(row[3]), row)
        words = sorted({re.split(r"[.{]", pattern)[0] for _, pattern, *_ in forms()})
        out = self.lanewise("explain", *words)[1]
        for _, pattern, operands, _ in forms():
            self.assertIn(f"  {shown(operands)}\n" if operands else "\n", out)
        self.assertNotRegex(out, r"\$[^ ]|\bvec\(|:[vVWgG](?:[mnk$]|\d)|;s32|:(?:imm|sink|var|source)\b")

    def test_status(self):
        """A row without lane function and lowering is never executable; whether a lane function exists for each spelling is for the
        matcher to know."""
        rows = self.rows()
        for row, (*_, rest) in zip(rows, forms()):
            has = re.search(r"\.lane\s*=|\.lower\s*=", rest)
            self.assertIn(row[1], ("yes", "part", "no") if has else ("no",), row)
            if re.search(r"\.lower\s*=", rest):
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
