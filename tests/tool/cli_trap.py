#!/usr/bin/env python3
"""What a run says of a kernel that traps or is stopped: where that is in the text, and in what a compiler made it of. lines.ptx is what
nvcc made of lines.cu, whose lines are found here by the words of their comments."""

import json
import pathlib
import shutil

import cli

FOLDER = pathlib.Path(__file__).parent
CU = (FOLDER / "lines.cu").read_text().splitlines()


def line_of(words):
    """The number of the line of lines.cu that has the comment."""
    [number] = [n for n, line in enumerate(CU, 1) if f"/* {words} */" in line]
    return number


class Case(cli.Case):
    def setUp(self):
        super().setUp()
        shutil.copy(FOLDER / "lines.ptx", self.folder)

    def places(self, err):
        """Lines of a report that name lines of lines.cu, without their columns and what stands behind."""
        return [line.strip(" =").rsplit(":", 1)[0] for line in err.splitlines() if "lines.cu:" in line]


class Lines(Case):
    def test_chain(self):
        _, _, err = self.shows(["run", "lines.ptx", "-k", "inlined", "-b", "4", "-a", "f32[4]", "-a", "u32=4"], 3)
        self.assertEqual(self.places(err), [f"from lines.cu:{line_of('stores')}", f"inlined at lines.cu:{line_of('calls put')}",
                                            f"inlined at lines.cu:{line_of('calls next')}"])
        for name in ("in '_Z3putPfi'", "in '_Z4nextPfi'"): # as c++filt has them: put(float*, int), next(float*, int)
            self.assertIn(name, err)

    def test_function(self):
        _, _, err = self.shows(["run", "lines.ptx", "-k", "called", "-b", "4", "-a", "f32[4]", "-a", "u32=4"], 3)
        self.assertEqual(self.places(err), [f"from lines.cu:{line_of('loads')}"])

    def test_deadlock(self):
        _, _, err = self.shows(["run", "lines.ptx", "-k", "apart", "-b", "64", "-a", "f32[4]"], 3, err=["LW5005"])
        self.assertEqual(self.places(err)[0], f"from lines.cu:{line_of('waits')}")

    def test_notes(self):
        run = ["run", "lines.ptx", "-k", "parted", "-b", "8", "-a", "f32[8]"]
        _, _, err = self.shows([*run, "--stats"], 0)
        self.assertRegex(err, rf"note LW5101    line \d+ \(sm_30_intrinsics.hpp:\d+, inlined at lines.cu:{line_of('shuffles')}\): 8 of lanes")
        _, _, err = self.shows([*run, "--stats=json"], 0)
        [note] = json.loads(err)["notes"]
        self.assertEqual(note["origins"][1:], [{"file": "lines.cu", "line": line_of("shuffles")}])
        _, _, err = self.shows([*run, "--strict"], 3)
        self.assertEqual(self.places(err), [f"inlined at lines.cu:{line_of('shuffles')}"])

    def test_without_lines(self):
        text = "\n".join(line for line in (FOLDER / "lines.ptx").read_text().splitlines() if ".loc" not in line)
        self.file("bare.ptx", text)
        _, _, err = self.shows(["run", "bare.ptx", "-k", "called", "-b", "4", "-a", "f32[4]", "-a", "u32=4"], 3)
        self.assertNotIn("from ", err)
        _, _, err = self.shows(["run", "bare.ptx", "-k", "parted", "-b", "8", "-a", "f32[8]", "--stats=json"], 0)
        self.assertNotIn("origins", json.loads(err)["notes"][0])

    def test_linked(self):
        """Places of the second text are its own, and so are the numbers of its files."""
        self.file("a.ptx", cli.HEADER + ".extern .func f(.reg .u64 p);\n.visible .entry k(.param .u64 p) {\n.reg .u64 %p;\nld.param.u64 %p, [p];\n"
                                        ".loc 1 5 1\ncall f, (%p);\nret;\n}\n.file 1 \"a.cu\"\n")
        self.file("b.ptx", cli.HEADER + ".file 1 \"b.cu\"\n.visible .func f(.reg .u64 p) {\n.loc 1 77 3\nst.global.u32 [p+8], 1;\nret;\n}\n")
        _, _, err = self.shows(["run", "a.ptx", "b.ptx", "-a", "u32[2]"], 3)
        self.assertIn("b.ptx:7:1: error[LW5000]", err)
        self.assertIn("= from b.cu:77:3\n", err)

    def test_hostile(self):
        """Names that are none, chains that turn in circles, escape sequences."""
        body = (".loc 1 1 1, function_name nothing, inlined_at 1 1 1\n.loc 1 1 1, function_name odd+1, inlined_at 1 1 1\n"
                ".loc 2 1 1, function_name open, inlined_at 9 9 9\n.loc 1 2 0, function_name odd + 3, inlined_at 1 1 1\ntrap;\nret;")
        self.file("k.ptx", cli.module(cli.kernel("k", body=body)) + '.file 1 "a\033[31mb.cu"\n.file 2 "c.cu"\n'
                  ".section .debug_str\n{\nodd:\n.b8 97, 98, 99, 0x64, 0\nopen:\n.b8 65\n}\n")
        _, _, err = self.shows(["run", "k.ptx"], 3)
        self.assertNotIn("\033", err)
        self.assertIn("= from a [31mb.cu:2 in 'd'\n       = inlined at a [31mb.cu:1:1 in 'bcd'\n       = inlined at a [31mb.cu:1:1\n"
                      "       = inlined at a [31mb.cu:1:1\n", err)


class Broken(Case):
    """An instruction on several lines is shown on one: as somebody would write it there."""

    LINES = ["@%p call", "(r0),  // the result", "\t%f,", "(", "a0", ",", "a1 /* the last; */ ),", "P", ";"]
    WHOLE = "@%p call (r0), %f, (a0, a1), P;"

    def text(self, call):
        return cli.module(cli.kernel("k", body=f""".reg .b64 %f;
    .reg .pred %p;
    P: .callprototype (.param .b32 _) _ (.param .b64 _, .param .b64 _);
    .param .b64 a0, a1;
    .param .b32 r0;
    mov.u64 %f, 77;
    setp.eq.u64 %p, %f, 77;
    {call}
    ret;"""))

    def test_trap(self):
        self.file("one.ptx", self.text(self.WHOLE))
        self.file("many.ptx", self.text("\r\n".join(self.LINES)))
        _, _, one = self.shows(["run", "one.ptx"], 3, err=[" |     " + self.WHOLE + "\n"])
        _, _, many = self.shows(["run", "many.ptx"], 3)
        self.assertEqual(many, one.replace("one.ptx", "many.ptx"))

    def test_profile(self):
        run = ["profile", "lines.ptx", "-k", "called", "-b", "4", "-a", "f32[4]", "-a", "u32=1"]
        whole = "call.uni (retval0), _Z4awayPKfi, (param0, param1);"
        self.shows(run, 0, out=["  " + whole + "\n"])
        _, out, _ = self.shows([*run, "--json"], 0)
        self.assertEqual(sum(line["text"] == whole for line in json.loads(out)["lines"]), 1)


class Hints(Case):
    """What of the launch may be the reason, and whose memory it is."""

    def hints(self, *run):
        _, _, err = self.shows(["run", "k.ptx", *run], 3)
        return err.splitlines()[4:] # behind the line of the thread

    def test_argument(self):
        body = (".reg .b64 %p, %q;\nld.param.u64 %p, [p];\nld.param.u64 %q, [q];\nst.global.u32 [%p], 1;\nst.global.u32 [%q+16], 1;\nret;")
        self.file("k.ptx", cli.module(cli.kernel("k", ".u64 p", ".u32 n", ".u64 q", body=body)))
        self.assertEqual(self.hints("-a", "f32[64]", "-a", "u32=5", "-a", "f32[4]"), ["       = that allocation is argument 2's, parameter 'q'"])
        self.assertEqual(self.hints("-a", "f32[64]", "-a", "u32=5", "-a", "u64=0"), []) # a null pointer

    def test_variable(self):
        self.file("k.ptx", cli.HEADER + ".global .u32 other[8];\n.global .u32 table[8];\n"
                  + cli.kernel("k", body=".reg .b32 %r;\nld.global.u32 %r, [table+32];\nst.global.u32 [other], %r;\nret;"))
        self.assertEqual(self.hints(), ["       = that allocation is the variable 'table'"])

    def test_cooperative(self):
        body = ".reg .b32 %r<2>;\n.reg .pred %p;\nmov.u32 %r0, %envreg1;\nmov.u32 %r1, %envreg2;\nor.b32 %r0, %r0, %r1;\nsetp.ne.u32 %p, %r0, 0;\n@!%p trap;\nret;"
        self.file("k.ptx", cli.module(cli.kernel("k", body=body)))
        [hint] = self.hints()
        self.assertIn("--cooperative", hint)
        self.gives(["run", "k.ptx", "--cooperative"])
        self.file("k.ptx", cli.module(cli.kernel("k", body="trap;")))
        self.assertEqual(self.hints(), [])

    def test_shared(self):
        self.file("k.ptx", cli.HEADER + ".extern .shared .b32 s[];\n" + cli.kernel("k", body=".reg .b32 %r;\nld.shared.u32 %r, [s+8];\nst.shared.u32 [s], %r;\nret;"))
        [hint] = self.hints()
        self.assertIn("--smem", hint)
        self.assertEqual(self.hints("--smem", "8"), [])
        self.gives(["run", "k.ptx", "--smem", "12"])

    def test_heap(self):
        call = "{\n.param .b64 n; .param .b64 r;\nst.param.b64 [n], %p;\ncall (r), malloc, (n);\nld.param.b64 %p, [r];\n}\n"
        text = cli.HEADER + ".extern .func (.param .b64 r) malloc (.param .b64 n);\n" + cli.kernel(
            "k", ".u64 n", body=f".reg .b64 %p;\nld.param.u64 %p, [n];\n{call}st.u32 [%p], 1;\nmov.u64 %p, 0;\nst.u32 [%p], 1;\nret;")
        self.file("k.ptx", text)
        [hint] = self.hints("--heap", "64K", "-a", "u64=100000")
        self.assertIn("malloc returned 0", hint)
        self.assertEqual(self.hints("--heap", "64K", "-a", "u64=1000"), [])


class Deadlocks(Case):
    """Who waits where is worked out by hand: warps of 32, and the barriers that the text has."""

    SPLIT = ".reg .b32 %t;\n.reg .pred %p;\nmov.u32 %t, %tid.x;\nsetp.lt.u32 %p, %t, 32;\n"

    def deadlock(self, body, block, message, *report):
        self.file("k.ptx", cli.HEADER.replace("7.0", "8.0").replace("70", "90") + f".visible .entry k()\n{{\n{body}\n}}\n")
        _, _, err = self.shows(["run", "k.ptx", "-b", str(block)], 3)
        self.assertEqual(err.splitlines()[0].split("deadlock: ")[1], message)
        self.assertEqual([line.strip(" =") for line in err.splitlines() if "others: " in line], list(report))

    def test_more_than_there_are(self):
        self.deadlock("bar.sync 1, 128;\nret;", 64, "the thread waits at barrier 1, which needs 128 threads: 64 have come, and the CTA has no others")

    def test_others_have_exited(self):
        self.deadlock(self.SPLIT + "@%p ret;\nbar.sync 1, 96;\nret;", 96,
                      "the thread waits at barrier 1, which needs 96 threads: 64 have come, and the others have exited")

    def test_others_wait_elsewhere(self):
        body = self.SPLIT + "@%p bra A;\nbar.sync 2;\nret;\nA:\nbar.sync 1;\nret;"
        self.deadlock(body, 96, "the thread waits at barrier 2, where 64 of the 96 threads that are left have come; 32 wait at barrier 1 (line 14)",
                      "32 of the others: k.ptx:14:1")

    def test_several_places(self):
        """Of a barrier with a count, a warp counts as a whole: 33 threads are 64. More than three places are not told."""
        branches = "".join(f"setp.lt.u32 %p, %t, {32 * (n + 1)};\n@%p bra L{n};\n" for n in range(1, 5))
        ends = "".join(f"L{n}: bar.sync {n + 8}; ret;\n" for n in range(1, 5))
        self.deadlock(self.SPLIT + "@!%p bra NEXT;\nbar.sync 3, 512;\nret;\nNEXT:\n" + branches + "bar.sync 3, 512;\nret;\n" + ends, 161 + 32,
                      "the thread waits at barrier 3, which needs 512 threads: 96 have come; "
                      "32 wait at barrier 9 (line 24), 32 wait at barrier 10 (line 25), 32 wait at barrier 11 (line 26)",
                      *(f"32 of the others: k.ptx:{n}:5" for n in (24, 25, 26)))

    def test_object(self):
        """Of three arrivals that are expected one comes; 31 bytes are told and never copied."""
        body = (".shared .align 8 .b64 m;\n.reg .b64 %s;\n.reg .pred %w;\n" + self.SPLIT + "setp.eq.u32 %w, %t, 0;\n"
                "@%w mbarrier.init.shared.b64 [m], 3;\nbar.sync 0;\n@%w mbarrier.arrive.expect_tx.shared.b64 %s, [m], 31;\n"
                "@%p bra W;\nbar.sync 4, 128;\nW:\nmbarrier.try_wait.parity.shared.b64 %w, [m], 0;\n@!%w bra W;\nret;")
        self.deadlock(body, 64, "the thread waits for a phase of the mbarrier at 0x0, to which 1 of 3 arrivals have come and 31 bytes are still to come, "
                                "and none of the 64 threads that are left can complete it; 32 wait at barrier 4 (line 18)", "32 of the others: k.ptx:18:1")

    def test_lines(self):
        _, _, err = self.shows(["run", "lines.ptx", "-k", "apart", "-b", "64", "-a", "f32[4]"], 3)
        self.assertRegex(err, rf"32 of the others: lines.ptx:\d+:2, from lines.cu:{line_of('waits elsewhere')}:")


class Stops(Case):
    """Of a launch that is stopped: CTAs and warps counted by hand."""

    def stopped(self, *run, engine="interp"):
        _, _, err = self.shows(["run", *run, "--step-limit", "30M", "--engine", engine], 4)
        return err.splitlines()[1:]

    def test_lines(self):
        """Of 5 CTAs of three warps two turn, and one waits for these; all of them have begun."""
        run = ("lines.ptx", "-k", "endless", "-g", "5", "-b", "96", "-a", "f32[4]")
        for engine in ("interp", "jit", "auto") if self.has_jit() and not cli.FEW else ("interp",):
            turns, waits = self.stopped(*run, engine=engine)
            self.assertRegex(turns, rf"^  10 warps at lines.ptx:\d+:2, from lines.cu:{line_of('turns')}:\d+$")
            self.assertRegex(waits, rf"^  5 warps wait at barrier 0: lines.ptx:\d+:2, from lines.cu:{line_of('waits for those')}:\d+$")

    def has_jit(self):
        return self.lanewise("run", "lines.ptx", "-k", "parted", "-b", "8", "-a", "f32[8]", "--engine", "jit")[0] == 0

    def test_parted_warp(self):
        """Lanes of one warp wait in a shuffle for one that turns; a warp counts at each place."""
        self.file("k.ptx", cli.HEADER + """.visible .entry k() {
.reg .b32 %t, %v;
.reg .pred %p;
mov.u32 %t, %tid.x;
setp.eq.u32 %p, %t, 3;
@%p bra LOOP;
shfl.sync.idx.b32 %v, %t, 3, 31, 0xffffffff;
ret;
LOOP:
bra LOOP;
}""")
        self.assertEqual(self.stopped("k.ptx", "-b", "32"), ["  1 warp waits for other lanes of the warp: k.ptx:10:1", "  1 warp at k.ptx:13:1"])

    def test_many_places(self):
        """Four loops of one warp more than the next each, in a function that is called."""
        loops = "".join(f"setp.lt.u32 %p, %t, {32 * end};\n@%p bra L{end};\n" for end in (1, 3, 6)) + "bra L10;\n"
        loops += "".join(f"L{end}: add.u32 %t, %t, 1;\nbra L{end};\n" for end in (1, 3, 6, 10))
        self.file("k.ptx", cli.HEADER + ".func f() {\n.reg .b32 %t;\n.reg .pred %p;\nmov.u32 %t, %tid.x;\n" + loops + "ret;\n}\n"
                  ".visible .entry k() {\ncall f;\nret;\n}\n")
        self.assertEqual(self.stopped("k.ptx", "-b", "320"), ["  4 warps at k.ptx:21:6", "  3 warps at k.ptx:19:5", "  2 warps at k.ptx:17:5",
                                                            "  and others at 1 place more"])


if __name__ == "__main__":
    cli.main()
