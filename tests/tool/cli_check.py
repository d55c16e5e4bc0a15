#!/usr/bin/env python3
"""`lanewise check`, `format` and `dump`."""

import os
import stat

import cli

GOOD = cli.module(cli.kernel("add", ".u64 .ptr .global .align 4 p", ".u32 n", ".align 8 .b8 s[16]",
                             body=".reg .b32 %r<2>;\n    ld.param.u32 %r1, [n];\n    ret;", directives=".reqntid 32, 2, 1"),
                  cli.kernel("empty"),
                  ".func helper()\n{\n    ret;\n}\n")
BAD = cli.HEADER + ".visible .entry k()\n{ .reg .b32 %r<2>;\n    bogus.u32 %r1;\n    ret;\n}\n"
UGLY = GOOD.replace("    ", "\t\t").replace(", ", "  ,").replace(";\n", " ; // a comment\n")


def old_instruction():
    """A file that is right but for a warning: shfl without .sync is deprecated from PTX 6.0 on."""
    return (".version 6.0\n.target sm_60\n.address_size 64\n" +
            cli.kernel("k", body=".reg .b32 %r<3>;\n    mov.u32 %r1, 0;\n    shfl.idx.b32 %r2, %r1, 0, 31;\n    ret;"))


# Version and target, a faulty instruction, the text that the caret underlines, and what would be right.
MENDS = [
    ("8.0 sm_80", "ad.u32 %r0, %r1, %r2;", "ad", "did you mean 'add'?"),
    ("8.0 sm_80", "sfh.l.wrap.b32 %r0, %r1, %r2, %r3;", "sfh", "did you mean 'shf'?"),
    ("8.0 sm_80", "shf.sync.bfly.b32 %r0, %r1, %r2, %r3;", ".sync", "`lanewise explain shf` shows its forms"),
    ("6.4 sm_70", "shfl.up.b32 %r0, %r1, 1, 0;", "shfl.up.b32", "use shfl.sync with a membermask"),
    ("9.0 sm_90", "shfl.sync.up.b32 %r0, %r1, 1, 0;", "shfl.sync.up.b32", "operands: d{|p}, a, b, c, membermask"),
    ("9.0 sm_90", "mov.u32 %r0;", "mov.u32", "operands: d, a"),
    ("9.0 sm_90", "cp.async.ca.shared.global [%l0], [%l1];", "cp.async.ca.shared.global", "operands: [d], [a], n{, s}{, cache-policy}"),
    ("9.0 sm_90", "mbarrier.arrive.shared::cluster.b64 _;", "mbarrier.arrive.shared::cluster.b64", "operands: _, [a]{, n}"),
    ("9.0 sm_90", "shfl.sync.b32 %r0, %r1, 1, 0, -1;", ".b32", "may stand here: .up .down .bfly .idx"),
    ("9.0 sm_90", "shf.clamp.l.b32 %r0, %r1, %r2, %r3;", ".clamp", "in this order: shf.l.clamp.b32"),
    ("9.0 sm_90", "shf.l.b32 %r0, %r1, %r2, %r3;", ".b32", "may stand here: .clamp .wrap"),
    ("9.0 sm_90", "and.b32.b32 %r0, %r1, %r2;", ".b32", "without it the spelling is valid"),
    ("9.0 sm_90", "shl.b64 %l0, %l1, %l2;", "%l2", "cvt.u32.u64 makes 32 bits of it"),
    ("9.0 sm_90", "and.b32 %r0, %r1, %p1;", "%p1", "selp makes a number of a predicate"),
    ("9.0 sm_90", "and.pred %p0, %p1, %r1;", "%r1", "setp makes a predicate of a number"),
    ("9.0 sm_90", "and.b32 %l0, %r1, %r2;", "%l0", "the result has 32 bits"),
    ("9.0 sm_90", "and.b32 %r0, %r1, -1.5;", "-1.5", "its bits as .f32 are 0xbfc00000"),
    ("9.0 sm_90", "or.b16 %h0, %h1, 1.0;", "1.0", "write its bits as an integer"),
    ("9.0 sm_90", "and.pred %p0, %p1, 1.0;", "1.0", "0 is false, any other integer true"),
    ("9.0 sm_90", "and.b32 %r0, %r1, %laneid;", "%laneid", "copy it into a register with mov first"),
    ("9.0 sm_90", "and.b32 %r0, %r1, !%r2;", "!%r2", "use not, or neg, first"),
    ("9.0 sm_90", "and.b32 %r0, %r1, [%r2];", "[%r2]", "load it with ld first"),
    ("9.0 sm_90", "and.b32 %r0, %r1, G;", "G", "take its address with mov first, or load it with ld"),
    ("9.0 sm_90", "and.b32 %r0, %r1, %r2+1;", "%r2+1", "add first"),
    ("9.0 sm_90", "and.b32 %r0, %r1.b0, %r2;", "%r1.b0", "bfe or prmt take a part of a register"),
    ("9.0 sm_90", "and.b32 %r0, %v0.z, %r2;", "%v0.z", "its elements are .x and .y"),
    ("9.0 sm_90", "vshl.u32.u32.u32.wrap.add %r0.b0, %r1, %r2, %r3;", "%r0.b0", "a merge and a second operation exclude each other"),
    ("9.0 sm_90", "vshl.u32.u32.u32.wrap %r0.b0, %r1, %r2;", "%r0.b0",
     "give the word to merge into as a fourth operand, or leave the selector away"),
]


class Check(cli.Case):
    def setUp(self):
        super().setUp()
        self.file("good.ptx", GOOD)
        self.file("bad.ptx", BAD)

    def test_good(self):
        self.gives(["check", "good.ptx"], err="good.ptx: no errors; 2 kernels, 1 function, 4 instructions\n")
        self.gives(["check", "-q", "good.ptx"])
        self.gives(["check", "-"], stdin=GOOD, err="<stdin>: no errors; 2 kernels, 1 function, 4 instructions\n")

    def test_bad(self):
        code, out, err = self.shows(["check", "bad.ptx"], 1)
        self.assertEqual(out, "")
        self.assertRegex(err, r"^bad\.ptx:6:5: error\[LW\d{4}\]: .*bogus.*\n     6 \|     bogus\.u32 %r1;\n       \|     \^")
        self.assertTrue(err.endswith("bad.ptx: 1 error, 0 warnings\n"), err)
        self.assertTrue(err.startswith(self.lanewise("check", "-q", "bad.ptx")[2]))

    def test_mends(self):
        registers = ".reg .pred %p<4>; .reg .b16 %h<4>; .reg .b32 %r<4>; .reg .b64 %l<4>; .reg .v2 .b32 %v<2>; .shared .b32 G;"
        for head, wrong, marked, mend in MENDS:
            with self.subTest(wrong):
                version, target = head.split()
                self.file("m.ptx", f".version {version}\n.target {target}\n.address_size 64\n.entry k()\n{{ {registers}\n{wrong}\nret;\n}}\n")
                lines = self.shows(["check", "m.ptx"], 1)[2].splitlines()
                self.assertEqual(lines[1], f"     6 | {wrong}")
                caret = lines[2].split("| ")[1]
                self.assertEqual(wrong[caret.index("^"):len(caret.rstrip())], marked)
                self.assertEqual(lines[3], f"       = {mend}")
                self.assertEqual(lines[4], "m.ptx: 1 error, 0 warnings")

    def test_targets(self):
        """Of a number all are listed, as the manual has them for .target; what looks like one is named."""
        for name, mend in (("sm_200", "known are sm_10 sm_11 sm_12 sm_13 sm_20 "), ("sm90", "did you mean 'sm_90'?\n"), ("sm_9a", "did you mean 'sm_90'?\n")):
            err = self.shows(["check", "-"], 1, stdin=f".version 9.0\n.target {name}\n.address_size 64\n", err=[mend])[2]
            self.assertEqual("known are" in err, name == "sm_200", err)
        self.assertRegex(self.lanewise("check", "-", stdin=".version 9.0\n.target sm_200\n")[2], r" sm_80 (sm_\d+ )+sm_90 sm_100 .*sm_121\n")

    def test_arrays_are_named_by_their_elements(self):
        self.file("call.ptx", cli.HEADER + ".func f(.param .b32 p[4])\n{ ret; }\n.entry k()\n{ .reg .b32 a;\n    call f, (a);\n    ret;\n}\n")
        self.shows(["check", "call.ptx"], 1, err=["argument 1 of 'f' is .b32[4]; 'a' does not fit it"])

    def test_several(self):
        code, out, err = self.shows(["check", "good.ptx", "bad.ptx", "good.ptx"], 1)
        self.assertTrue(err.endswith("3 files: 1 error, 0 warnings\n"), err)
        self.gives(["check", "good.ptx", "good.ptx"], err="2 files: 0 errors, 0 warnings\n")

    def test_missing_file(self):
        missing = "lanewise: error[LW6000]: cannot read 'no.ptx': No such file or directory\n"
        self.gives(["check", "no.ptx"], 5, err=missing)
        self.gives(["check", "no.ptx", "good.ptx"], 5, err=missing + "2 files: 0 errors, 0 warnings\n")
        self.shows(["check", "no.ptx", "bad.ptx"], 5)
        self.gives(["check", "."], 5, err="lanewise: error[LW6000]: cannot read '.': Is a directory\n")

    def test_list(self):
        lines = ["add(.u64 .ptr p, .u32 n, .b8[16] s) .reqntid 32,2,1", "empty()"]
        self.gives(["check", "-q", "--list", "good.ptx"], out="".join(f"{line}\n" for line in lines))
        self.gives(["check", "-ql", "good.ptx", "good.ptx"], out="".join(f"good.ptx: {line}\n" for line in lines) * 2)
        self.assertEqual(self.lanewise("check", "-l", "bad.ptx")[:2], (1, ""))

    def test_warnings(self):
        self.file("old.ptx", old_instruction())
        code, out, err = self.shows(["check", "old.ptx"], 0)
        self.assertRegex(err, r"^old\.ptx:8:5: warning\[LW\d{4}\]: ")
        self.assertTrue(err.endswith("old.ptx: 0 errors, 1 warning\n"), err)
        self.gives(["check", "old.ptx", "--werror"], 1, err=err)
        self.gives(["check", "-q", "old.ptx"])
        self.gives(["check", "-q", "--werror", "old.ptx"], 1)

    def test_any_bytes(self):
        for name, data in (("empty", b""), ("zeros", bytes(100)), ("high", bytes(range(256))), ("open", b"/*"), ("deep", b"{" * 5000)):
            self.file(name, data)
            code, out, err = self.lanewise("check", name)
            self.assertEqual((code, out), (1, ""), name)
            self.assertRegex(err, r"error\[LW\d{4}\]")


class Format(cli.Case):
    def setUp(self):
        super().setUp()
        self.file("good.ptx", GOOD)
        self.file("ugly.ptx", UGLY)
        self.file("bad.ptx", cli.HEADER + ".visible .entry k(\n")

    def test_canonical(self):
        code, out, err = self.lanewise("format", "good.ptx")
        self.assertEqual((code, err), (0, ""))
        self.gives(["format", "ugly.ptx"], out=out)
        self.gives(["format", "-"], stdin=out, out=out)
        self.assertNotIn("comment", out)

    def test_output(self):
        want = self.lanewise("format", "good.ptx")[1]
        self.gives(["format", "ugly.ptx", "-o", "out.ptx"])
        self.assertEqual((self.folder / "out.ptx").read_text(), want)
        self.gives(["format", "ugly.ptx", "-o", "no/out.ptx"], 5,
                   err="lanewise: error[LW6001]: cannot write 'no/out.ptx': No such file or directory\n")

    def test_in_place(self):
        want = self.lanewise("format", "good.ptx")[1]
        os.chmod(self.folder / "ugly.ptx", 0o640)
        self.gives(["format", "-i", "ugly.ptx", "good.ptx"])
        for name in ("ugly.ptx", "good.ptx"):
            self.assertEqual((self.folder / name).read_text(), want)
        self.assertEqual(stat.S_IMODE(os.stat(self.folder / "ugly.ptx").st_mode), 0o640)
        self.assertEqual(sorted(os.listdir(self.folder)), ["bad.ptx", "good.ptx", "ugly.ptx"])

    def test_errors_write_nothing(self):
        before = (self.folder / "bad.ptx").read_text()
        for options in (["-i"], ["-o", "out.ptx"], []):
            code, out, err = self.lanewise("format", "bad.ptx", *options)
            self.assertEqual((code, out), (1, ""))
            self.assertRegex(err, r"^bad\.ptx:\d+:\d+: error\[LW\d{4}\]: ")
        self.assertEqual((self.folder / "bad.ptx").read_text(), before)
        self.assertFalse((self.folder / "out.ptx").exists())

    def test_unknown_instructions_are_kept(self):
        self.shows(["format", "-"], stdin=BAD, out=["bogus.u32"])

    def test_usage(self):
        self.shows(["format", "-i", "-o", "x", "good.ptx"], 2, err=["lanewise format: -i and -o exclude each other\n"])
        self.shows(["format", "good.ptx", "ugly.ptx"], 2, err=["lanewise format: several files can only be formatted in place: -i\n"])
        self.gives(["format", "no.ptx"], 5, err="lanewise: error[LW6000]: cannot read 'no.ptx': No such file or directory\n")


class Dump(cli.Case):
    def setUp(self):
        super().setUp()
        self.file("good.ptx", GOOD)
        self.file("bad.ptx", BAD)

    def test_tokens(self):
        self.gives(["dump", "--stage", "tokens", "-"], stdin="add.u32 %r1, 0x1F; // no token\n\"a\" 0f3F800000\n",
                   out="    1:1   name   add\n    1:4   dot    .u32\n    1:9   name   %r1\n    1:12  punct  ,\n"
                       "    1:14  int    0x1F  0x1f\n    1:18  punct  ;\n    2:1   string \"a\"\n"
                       "    2:5   float  0f3F800000  0x3f800000\n    3:1   end    \n")

    def test_tokens_hold_the_text(self):
        """Every byte but blanks and comments is in some token, in order."""
        out = self.lanewise("dump", "-s", "tokens", "good.ptx")[1]
        self.assertEqual(out.splitlines()[0], "    1:1   dot    .version")
        self.assertTrue(out.splitlines()[-1].split()[1] == "end")
        words = [line[17:].split("  ")[0] for line in out.splitlines()[:-1]]
        self.assertEqual("".join(words), "".join(GOOD.split()))

    def test_module(self):
        self.shows(["dump", "-s", "module", "good.ptx"],
                   out=["version 7.0, target sm_70, address size 64, 4 instructions\n", "entry add: 2 instructions",
                        "param  .param .u64 p  size 8 align 8 pointer global align 4\n", "size 16 align 8\n", ".reqntid 32, 2, 1\n",
                        "ld.param.u32 %r1, [n];\n", "func helper: 1 instructions"])
        code, out, err = self.lanewise("dump", "-s", "module", "-k", "empty", "good.ptx")
        self.assertIn("entry empty:", out)
        self.assertNotIn("entry add:", out)

    def test_program(self):
        code, out, err = self.lanewise("dump", "-s", "program", "good.ptx")
        self.assertEqual((code, err), (0, ""))
        for text in ("kernel add: ", "kernel empty: ", " ld param.b32 ", " ret\n"):
            self.assertIn(text, out)
        code, out, err = self.lanewise("dump", "-s", "program", "-k", "empty", "good.ptx")
        self.assertEqual((code, err), (0, ""))
        self.assertNotIn("kernel add: ", out)

    def test_registers_and_slots(self):
        """The program has typed virtual registers, known values in their place and the blocks behind each; the interpreter's code has slots."""
        text = (".version 7.0\n.target sm_70\n.address_size 64\n.entry k(.param .u32 n) {\n.reg .b32 %r<4>; .reg .pred %p;\nld.param.u32 %r1, [n];\n"
                "L: add.u32 %r1, %r1, 7;\nsetp.lt.u32 %p, %r1, 100;\n@%p bra L;\nret;\n}\n")  # fmt: skip
        code, program, err = self.lanewise("dump", "-s", "program", "-", stdin=text)
        self.assertEqual((code, err), (0, ""))
        self.assertRegex(program, r"ld param\.b32 r32 d=%(\d+):b32(?s:.*) add_b32 d=%\1:b32 a=%\1:b32 b=0x7:b32\n")
        self.assertRegex(program, r"  block 1 \(3 instructions\), then 1 2\n")
        self.assertNotIn("frame", program)
        code, interp, err = self.lanewise("dump", "-s", "interp", "-", stdin=text)
        self.assertEqual((code, err), (0, ""))
        self.assertRegex(interp, r", frame \d+ bytes, ")
        self.assertRegex(interp, r" ld param\.b32 r32 d=\d+ e=0\n")
        self.assertNotIn("%", interp)

    def test_choices_of_pto(self):
        """What whoever runs the program chooses is in it: a fault of large counts, poison in lanes that are not active."""
        text = ("func.func @f(%a: !pto.vreg<64xi32>, %m: !pto.mask<b32>) -> !pto.vreg<64xi32> {\n"
                "  %r = pto.vshr %a, %a, %m : !pto.vreg<64xi32>, !pto.vreg<64xi32>, !pto.mask<b32> -> !pto.vreg<64xi32>\n"
                "  return %r : !pto.vreg<64xi32>\n}\n")  # fmt: skip
        dump = ["dump", "-s", "interp", "-L", "pto", "-"]
        for more, there, absent in ((["--shift-overflow", "saturate", "--inactive", "zero"], ["vshift", "lane=shr_s32", "= 0x0\n"], ["traps", "and_b32"]),
                                    (["--shift-overflow", "trap"], ["vshift", " traps"], ["and_b32"]),
                                    (["--shift-overflow", "modulo"], ["shift_check", "and_b32.i", "shr_s32", "imm=0x1f"], ["traps", "vshift"]),
                                    (["--inactive", "undef-poison"], ["= 0xa5a5a5a5\n"], ["= 0x0\n"])):  # fmt: skip
            code, out, err = self.lanewise(*dump, *more, stdin=text)
            self.assertEqual((code, err), (0, ""))
            for word in there:
                self.assertIn(word, out)
            for word in absent:
                self.assertNotIn(word, out)
        self.shows([*dump, "--shift-overflow", "wrap"], 2, err=["--shift-overflow 'wrap': it must be saturate, modulo or trap"])

    def test_errors(self):
        for stage in ("module", "program", "interp"):
            code, out, err = self.lanewise("dump", "-s", stage, "bad.ptx")
            self.assertEqual(code, 1)
            self.assertRegex(err, r"^bad\.ptx:6:5: error\[LW\d{4}\]: .*bogus")
            kernels = "  choose one with --kernel\n  kernel: add\n  kernel: empty\n"
            for name, near in (("nix", ""), ("ad", "; did you mean 'add'?")):  # in the words that run has for it
                for command in (["run", "-k", name], ["dump", "-s", stage, "-k", name]):
                    self.gives([*command, "good.ptx"], 2,
                               err=f"lanewise: error[LW6026]: 'good.ptx': the module has no kernel named '{name}'{near}\n{kernels}")

    def test_usage(self):
        self.shows(["dump", "good.ptx"], 2, err=["lanewise dump: --stage is needed\n"])
        self.shows(["dump", "-s", "llvm2", "good.ptx"], 2, err=["lanewise dump: 'llvm2' is no stage; tokens, module, program, interp, llvm and asm are\n"])
        if "jit       available" in self.lanewise("cpu")[1]:
            self.shows(["dump", "-s", "llvm", "good.ptx"], out=["define i8* @add(", "target datalayout"])
        else:
            self.shows(["dump", "-s", "llvm", "good.ptx"], 6, err=["lanewise: error[LW6006]: the engine 'jit' is not there"])
        self.shows(["dump", "-s", "tokens", "a", "b"], 2, err=["lanewise dump: several files can be dumped where they are linked: PTX, and no tokens\n"])
        self.gives(["dump", "-s", "tokens", "no.ptx"], 5, err="lanewise: error[LW6000]: cannot read 'no.ptx': No such file or directory\n")


if __name__ == "__main__":
    cli.main()
