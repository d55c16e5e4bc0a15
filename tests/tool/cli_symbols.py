#!/usr/bin/env python3
"""What the compiler makes, as text, and the names of it that profilers and debuggers get."""

import pathlib
import re
import shutil
import subprocess

import cli

KEEP = ".local .align 4 .b8 kept[4]; .reg .u64 %a;\nmov.u64 %a, kept;\n"  # whose own memory has an address: not inlined
END = "st.local.u32 [%a], %o; ld.local.u32 %o, [%a];\n    ret;"
KERNEL = cli.HEADER + f""".func (.reg .u32 %o) twice(.reg .u32 %i)
{{
    {KEEP}
    add.u32 %o, %i, %i;
    xor.b32 %o, %o, 5;
    {END}
}}
""" + """
.visible .entry NAME(.param .u64 p)
{
    .reg .u32 %r<6>; .reg .u64 %rd<3>; .reg .f32 %f<3>;
    mov.u32 %r1, %tid.x;
    call (%r2), twice, (%r1);
    cvt.rn.f32.u32 %f1, %r2;
    fma.rn.f32 %f1, %f1, %f1, 0f3F800000;
    cvt.rzi.u32.f32 %r2, %f1;
    ld.param.u64 %rd1, [p];
    mad.wide.u32 %rd2, %r1, 4, %rd1;
    st.global.u32 [%rd2], %r2;
    ret;
}
"""
WANT = "arg 0 u32[8]: " + " ".join(str((2 * t ^ 5) ** 2 + 1) for t in range(8)) + "\n"


class Symbols(cli.Case):
    def setUp(self):
        super().setUp()
        if not (pathlib.Path(self.tool).parents[1] / "lib" / "lanewise" / "jit.so").exists():
            self.skipTest("the compiler is not built")
        if self.has_sanitizer():
            self.skipTest("the compiler's code is not sanitized")

    def run_told(self, name, told, *args):
        """Runs a kernel; the map that perf would read, or None."""
        *done, rows = self.mapped("run", "k.ptx", "-k", name, "-b", "8", "-a", "u32[8]:print", "--engine", "jit", *args,
                                  env={"LANEWISE_SYMBOLS": told} if told is not None else {})
        self.assertEqual(done, [0, WANT, ""])
        return None if rows is None else {symbol: (int(at, 16), int(size, 16)) for at, size, symbol in rows}

    def assembled(self, *args):
        """Sizes of the functions in what `dump` prints, by another assembler."""
        if not shutil.which("as") or not shutil.which("nm"):
            self.skipTest("there is no assembler")
        code, out, err = self.lanewise("dump", "--stage", "asm", "k.ptx", *args)
        self.assertEqual((code, err), (0, ""))
        self.file("k.s", out)
        subprocess.run(["as", "k.s", "-o", "k.o"], cwd=self.folder, check=True)
        rows = subprocess.run(["nm", "-S", "k.o"], cwd=self.folder, check=True, capture_output=True, text=True).stdout.splitlines()
        found = [re.fullmatch(r"[0-9a-f]+ ([0-9a-f]+) [tT] (\S+)", row) for row in rows]
        return {match[2]: int(match[1], 16) for match in found if match}

    def test_what_the_compiler_makes_is_what_an_assembler_takes(self):
        self.file("k.ptx", KERNEL.replace("NAME", "square"))
        self.assertLessEqual({"square", "twice"}, set(self.assembled()))

    def test_a_map_for_perf(self):
        self.file("k.ptx", KERNEL.replace("NAME", "square"))
        for told in ("perf", "all"):
            got = self.run_told("square", told)
            self.assertEqual({name: size for name, (_, size) in got.items()}, self.assembled())
            places = sorted(got.values())
            for (at, size), (next_at, _) in zip(places, places[1:]):
                self.assertLessEqual(at + size, next_at)

    def test_nobody_is_told_who_does_not_ask(self):
        self.file("k.ptx", KERNEL.replace("NAME", "square"))
        for told in (None, "", "gdb"):
            self.assertIsNone(self.run_told("square", told))

    def test_names_that_mean_something_else(self):
        """Compiled code calls `fma` where the level has no instruction for it; it is not the kernel of that name."""
        for name in ("fma", "memcpy", "memset", "__kernel", "lanewise_jit", "malloc"):
            self.file("k.ptx", KERNEL.replace("NAME", name))
            got = self.run_told(name, "perf", "--cpu", "portable")
            self.assertNotIn(name, got)
            self.assertIn("twice", got)
            self.assertTrue([symbol for symbol in got if symbol.startswith("lw_code_")], got)

    def test_functions_of_one_name(self):
        """Of several files each may have its own."""
        self.file("k.ptx", KERNEL.replace("NAME", "square"))
        self.file("a.ptx", cli.HEADER + ".func (.reg .u32 %o) inner(.reg .u32 %i)\n{\n" + KEEP + "    add.u32 %o, %i, %i;\n" + END + "}\n"
                  ".extern .func (.reg .u32 %o) once(.reg .u32 %i);\n.visible .func (.reg .u32 %o) twice(.reg .u32 %i)\n{\n" + KEEP +
                  "    call (%o), inner, (%i);\n    call (%o), once, (%o);\n" + END + "}\n")
        self.file("b.ptx", cli.HEADER + ".func (.reg .u32 %o) inner(.reg .u32 %i)\n{\n" + KEEP + "    xor.b32 %o, %i, 5;\n" + END + "}\n"
                  ".visible .func (.reg .u32 %o) once(.reg .u32 %i)\n{\n" + KEEP + "    call (%o), inner, (%i);\n" + END + "}\n")
        text = KERNEL.replace("NAME", "square")
        head, body = text.index(".func"), text.index(".visible")
        self.file("k.ptx", text[:head] + ".extern .func (.reg .u32 %o) twice(.reg .u32 %i);\n" + text[body:])
        got = self.run_told("square", "perf", "a.ptx", "b.ptx")
        self.assertLessEqual({"square", "twice", "once", "inner"}, set(got))
        self.assertEqual(len([name for name in got if name.startswith("inner") and not name.endswith(("_rows", "_any"))]), 2)

    def test_a_debugger_stops_in_a_kernel(self):
        if not shutil.which("gdb"):
            self.skipTest("gdb is not there")
        self.file("k.ptx", KERNEL.replace("NAME", "square"))
        done = subprocess.run(["gdb", "-nx", "-batch", "-ex", "set breakpoint pending on", "-ex", "set environment LANEWISE_SYMBOLS all",
                               "-ex", "break square", "-ex", "run", "-ex", "print/x $pc", "-ex", "info inferiors", "-ex", "kill", "--args",
                               self.tool, "run", "k.ptx", "-b", "8", "-a", "u32[8]", "--engine", "jit", "--threads", "1"],
                              cwd=self.folder, capture_output=True, text=True, timeout=120)
        if "ptrace" in done.stderr or "Cannot" in done.stderr or "not permitted" in done.stderr:
            self.skipTest("gdb may not trace here")
        stop = re.search(r"Breakpoint 1, .*\bsquare\b", done.stdout)
        self.assertIsNotNone(stop, done.stdout + done.stderr)
        pid = re.search(r"^\* 1 +process (\d+)", done.stdout, re.M)[1]
        path = pathlib.Path(f"/tmp/perf-{pid}.map")
        self.addCleanup(lambda: path.unlink(missing_ok=True))
        at, size = next((int(row[0], 16), int(row[1], 16)) for row in map(str.split, path.read_text().splitlines()) if row[2] == "square")
        pc = int(re.search(r"\$1 = (0x[0-9a-f]+)", done.stdout)[1], 16)
        self.assertTrue(at <= pc < at + size, done.stdout)

    def test_faults(self):
        self.file("k.ptx", KERNEL.replace("NAME", "square"))
        self.shows(["run", "k.ptx", "-a", "u32[8]"], code=2, err=["error[LW6003]: LANEWISE_SYMBOLS 'pref': it must be perf, gdb or all"],
                   env={"LANEWISE_SYMBOLS": "pref"})
        self.shows(["dump", "--stage", "asn", "k.ptx"], code=2, err=["'asn' is no stage; tokens, module, program, interp, llvm and asm are"])
        self.shows(["dump", "--stage", "asm", "-k", "cube", "k.ptx"], code=2, err=["cube"])


if __name__ == "__main__":
    cli.main()
