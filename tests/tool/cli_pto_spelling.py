#!/usr/bin/env python3
"""How PTO text is spelled: names in quotes, memory spaces, names of types and numbers in `lanewise format`, and what messages say would be right."""

import re

import cli

V, M = "!pto.vreg<64xi32>", "!pto.mask<b32>"
ARGUMENTS = f"%a: {V}, %m: {M}"


def function(*lines, arguments=ARGUMENTS, name="@f"):
    return f"func.func {name}({arguments}) {{\n" + "".join(f"  {line}\n" for line in lines) + "  return\n}\n"


class Names(cli.Case):
    def test_one_name(self):
        """MLIR: a symbol that could stand without quotes is the same with them, whatever escapes it has."""
        for name in ('@"f"', r'@"\66"', "@f"):
            self.file("f.pto", function(name=name) + function())
            self.shows(["check", "f.pto"], 1, err=["error[LW7055]: function '@f' is defined twice"])
            self.file("g.pto", function("%c = arith.constant 1 : i32", name=name))
            for asked in ("f", "@f"):
                self.gives(["run", "g.pto", "--func", asked, "-a", "s32[64]", "-a", "u8[64]"])
            self.assertTrue(self.lanewise("format", "g.pto")[1].startswith("func.func @f("))

    def test_other_names(self):
        """Quotes stay where they are needed, with one spelling for each byte; and names that differ are others."""
        cases = {'@"a b"': '@"a b"', '@"a-b"': "@a-b", '@"a-"': '@"a-"', '@"x.y$z"': "@x.y$z", '@"größer"': '@"größer"', r'@"\22"': r'@"\""',
                 r'@"\\"': r'@"\\"', r'@"\0a"': r'@"\0A"', r'@"\n"': r'@"\0A"', '@"1"': "@1"}
        for written, want in cases.items():
            self.file("f.pto", function(name=written))
            out = self.lanewise("format", "f.pto")[1]
            self.assertTrue(out.startswith(f"func.func {want}("), (written, out))
            self.assertEqual(self.lanewise("format", "--language", "pto", "-", stdin=out)[1], out)
        self.file("all.pto", "".join(function(name=name) for name in dict.fromkeys(cases.values())))
        self.gives(["check", "-q", "all.pto"])


class Memory(cli.Case):
    def test_spaces(self):
        """A memory space is part of the type and changes nothing else; number 0 is the one that is not written."""
        spaces = {"1": "1", "0x2 : i64": "2", '"ub"': '"ub"', "#pto.space<a, [1]>": "#pto.space<a, [1]>", "#other": "#other"}
        for written, want in spaces.items():
            kind = f"memref<?xi32, {want}>"
            text = f"#other = 3\n" + function("%z = arith.constant 0 : index", f"%v = pto.vload %x[%z], %m : (memref<?xi32, {written}>, {M}) -> {V}",
                                              f"pto.vstore %v, %y[%z], %m : {V}, memref<?xi32>, {M}", arguments=f"%x: memref<?xi32, {written}>, %y: memref<?xi32>, %m: {M}")
            self.file("f.pto", text)
            self.assertEqual(self.lanewise("format", "f.pto")[1].count(kind), 2, written)
            self.shows(["run", "f.pto", "-a", "s32[64]=range:5", "-a", "s32[64]:print", "-a", "u8[64]=1"], out=["arg 1 s32[64]: 5 6 7 "])
        self.file("zero.pto", function("%z = arith.constant 0 : index", f"%v = pto.vload %x[%z], %m : (memref<?xi32>, {M}) -> {V}", arguments=f"%x: memref<?xi32, 0 : i32>, %m: {M}"))
        self.gives(["check", "-q", "zero.pto"])
        self.file("other.pto", function("%z = arith.constant 0 : index", f"%v = pto.vload %x[%z], %m : (memref<?xi32>, {M}) -> {V}", arguments=f"%x: memref<?xi32, 1>, %m: {M}"))
        self.shows(["check", "other.pto"], 1, err=["LW7100", "'%x' is memref<?xi32, 1>, not memref<?xi32>"])

    def test_layouts(self):
        for layout in ("strided<[2]>", "strided<[1], offset: ?>", "affine_map<(d0) -> (d0 * 2)>", "#map", "#unknown, 1"):
            self.file("f.pto", "#map = affine_map<(d0) -> (d0 + 1)>\n" + function(arguments=f"%x: memref<?xi32, {layout}>"))
            self.shows(["check", "f.pto"], 1, err=[f"error[LW7040]: the layout '{layout.removesuffix(', 1')}' of a memref is not read"])
        for wrong in ("", "space", "1.5", "{1}", "1 : odd", "18446744073709551616"):
            self.file("f.pto", function(arguments=f"%x: memref<?xi32, {wrong}>"))
            self.assertEqual(self.lanewise("check", "f.pto")[0], 1, wrong)


class Format(cli.Case):
    def same(self, text):
        """A text in the one layout stays as it is."""
        self.gives(["format", "--language", "pto", "-"], stdin=text, out=text)

    def test_names_of_types(self):
        """Each type is spelled as it was: two names of one type, and the type in full beside them."""
        self.same(f"""!vec = {V}
!count = {V}
!again = !vec
!m = {M}
#space = "ub"

func.func @f(%a: !vec, %n: !count, %b: {V}, %m: !m, %t: i1, %x: memref<?xi32, 1>) -> (!again, {V}, !count) {{
  %z = arith.constant 0 : index
  %one = arith.constant true
  %two = arith.constant 1 : i1
  %r = pto.vshr %a, %n, %m : (!vec, !count, !m) -> {V}
  %s, %c = pto.vaddc %a, %b, %m : ({V}, {V}, {M}) -> (!again, !m)
  vadd %d, %r, %s, %m : !count
  pto.vadd ins(%a, %b, %m : !vec, {V}, !m) outs(%d : !count)
  %l = pto.vload %x[%z], %m : (memref<?xi32, 1>, !m) -> !vec
  %i = scf.for %k = %z to %z step %z iter_args(%v = %a, %w = %b) -> (!vec, {V}) {{
    %u = pto.vadd %v, %w, %m : ({V}, !vec, !m) -> !again
    scf.yield %u, %w : !count, !vec
  }}
  %h = scf.if %t -> (!vec) {{
    scf.yield %a : {V}
  }} else {{
    scf.yield %b : !vec
  }}
  return %d, %r, %s : {V}, !vec, !count
}}
""".replace("  %i = scf.for", "  %i:2 = scf.for"))
        # Elsewhere messages and lists have the type, not its name.
        self.file("f.pto", f"!vec = {V}\n" + function(arguments="%a: !vec"))
        self.gives(["check", "-q", "--list", "f.pto"], out=f"func.func @f(%a: {V})\n")

    def test_numbers(self):
        numbers = ["0xffffffff : i32", "-0x10 : i32", "-1 : i64", "007 : u8", "0xFF : u8", "18446744073709551615 : u64", "1 : i1"]
        self.same(function(*(f"%c{i} = arith.constant {number}" for i, number in enumerate(numbers)), "%t = arith.constant true",
                           f"%m1 = pto.mask.bits 0x00ff : {M}", f"%m2 = pto.mask.bits 255 : {M}", f"mask.bits 0xF0, %m3 : {M}"))

    def test_numbers_of_ptx(self):
        """A constant stays as it was spelled, an address, an element and an initial value, too; a comment in the middle of one is where its value stands."""
        lines = ["mov.b32 r1, 0xffffffff;", "mov.b32 r1, 0b101U;", "mov.b32 r1, 1 << 4;", "mov.b32 r1, -3;", "mov.f32 f, 1.5;", "mov.f32 f, 0f3F800000;",
                 "st.global.b32 [a+0x10], r1;", "st.global.b32 [a+-0x10], r1;", "st.global.b32 [0x10], r1;", "st.shared.b32 s[0x1], 0xAB;", "mov.b64 {r1, r2}, a;",
                 "frobnicate.u32 {r1, 0x5}, [a], missing, 0x00;"]
        text = cli.HEADER + "\n.global .u32 t[3] = {0xff, 0x10 + 1, 1U << 4};\n.global .f32 g = 1.5;\n\n.visible .entry k()\n{\n" + "".join(
            f"\t{line}\n" for line in (".reg .b32 r<4>;", ".reg .b64 a;", ".reg .f32 f;", ".shared .b32 s[4];", *lines, "ret;")) + "}\n"
        self.gives(["format", "-"], stdin=text, out=text)
        self.assertIn("mov.b32 r1, 16;", self.lanewise("format", "-", stdin=text.replace("1 << 4;", "1 << /* four */ 4;", 1))[1])
        self.assertIn("[a+0x10]", self.lanewise("format", "-", stdin=text.replace("[a+0x10]", "[ a + 0x10 ]"))[1])

    def test_faults(self):
        """What does not parse is left alone; other faults leave all of the text where it is."""
        wrong = {"f.pto": function(f"%r = pto.vadd %a, %m, %m : ({V}, {M}, {M}) -> {V}", f"vshr %a, %a, %m, %m : {V}"),
                 "f.ptx": cli.HEADER + "\n.visible .entry k()\n{\n\tfrobnicate.u32 %r1, nowhere, 0x7;\n\tadd.f32 %r2, %r3;\n\tld.param.u32 [nix], x;\n\tret;\n}\n"}
        for name, text in wrong.items():
            self.file(name, re.sub(r"(?m)^\s+", "", text))
            self.assertEqual(self.lanewise("check", "-q", name)[0], 1)
            self.gives(["format", "-i", name])
            self.assertEqual((self.folder / name).read_text(), text)
            self.file(name, text + "}")
            self.assertEqual(self.lanewise("format", "-i", name)[0], 1)
            self.assertEqual((self.folder / name).read_text(), text + "}")


class Mends(cli.Case):
    def mend(self, line):
        self.file("f.pto", function(line))
        return re.findall(r"^ +\| *\^.*\n +=(.*)$", self.lanewise("check", "f.pto")[2], re.M)

    def test_assembly(self):
        for line, want in (("pto.vshr %r, %a, %a, %m", "vshr %r, …"), ("pto.vnot %r, %a, %m", "vnot %r, …"), ("pto.vcmp lt, %k, %a, %a, %m", "vcmp lt, %k, …"),
                           ("pto.vaddc %r, %c, %a, %a, %m", "vaddc %r, …"), ("pto.vaddc %r, %c, %a, %a, %m, %m", "vaddc %r, …")):
            self.assertEqual(self.mend(f"{line} : {V}"), [f" {want}"], line)
        self.assertEqual(self.mend(f"pto.mask.all %k : {M}"), [" mask.all %k, …"])
        self.assertEqual(self.mend(f"pto.mask.bits 0x0f, %k : {M}"), [" mask.bits 0x0f, %k, …"])
        self.shows(["check", "f.pto"], 1, err=["error[LW7027]: 'pto.mask.bits' with its destination as first operand is spelled mask.bits\n"])

    def test_arity(self):
        """Of names that are equally near the one that takes as many operands is meant: mask.not and mask.or are one letter from mask.nor."""
        for line, want in ((f"mask.nor %k, %m, %m : {M}", "mask.or"), (f"mask.nor %k, %m : {M}", "mask.not"),
                           (f"%k = pto.mask.nor %m : {M} -> {M}", "pto.mask.not"), (f"%k = pto.mask.nor %m, %m : ({M}, {M}) -> {M}", "pto.mask.or"),
                           (f"pto.mask.nor ins(%m : {M}) outs(%k : {M})", "pto.mask.not"), (f"pto.mask.nor ins(%m, %m : {M}, {M}) outs(%k : {M})", "pto.mask.or"),
                           (f"vabd %r, %a, %m : {V}", "vabs"), (f"vabd %r, %a, %a, %m : {V}", "vand"),
                           (f"%r = pto.vloat %x[%i], %m : (memref<?xi32>, {M}) -> {V}", "pto.vload")):
            self.assertEqual(self.mend(line)[:1], [f" did you mean '{want}'?"], line)


if __name__ == "__main__":
    cli.main()
