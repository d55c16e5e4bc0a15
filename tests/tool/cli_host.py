#!/usr/bin/env python3
"""What the host brings along changes no output: the floating-point mode of the process, and its locale."""

import os
import shutil
import subprocess

import cli

# As many as tests/host_modes.h may have; there is none behind the last.
MODES = range(12)

TEXT = cli.HEADER + """.visible .entry k(.param .u64 p, .param .f32 x, .param .f64 y)
{
    .reg .u64 %p; .reg .f32 %x, %a; .reg .f64 %y, %b;
    ld.param.u64 %p, [p]; ld.param.f32 %x, [x]; ld.param.f64 %y, [y];
    mul.rn.f32 %a, %x, 1e-41; st.global.f32 [%p], %a; div.rn.f32 %a, %x, 3.0; st.global.f32 [%p+4], %a;
    mul.rn.f64 %b, %y, 0d000012688b70e62b; st.global.f64 [%p+8], %b; mov.f64 %b, 0.1; st.global.f64 [%p+16], %b; div.rn.f64 %b, %y, 0.0; st.global.f64 [%p+24], %b;
    ret;
}
"""
COMMANDS = [["run", "k.ptx", "-a", "b32[8]:print:print=f64:print=f32:out=a.npy", "-a", "f32=0.1", "-a", "f64=1e-5"],
            ["run", "k.ptx", "-a", "f64[4]=range:0:0.1:print=hex", "-a", "f32=1e-44", "-a", "f64=0.3"],
            ["run", "k.ptx", "-a", "f32[8]=random:-1:1:print", "-a", "f32=3.4e38", "-a", "f64=5e-324"],
            ["run", "k.ptx", "-a", "f16[16]=range:0.1:0.3:print", "-a", "f32=1", "-a", "f64=1", "--timeout", "5.5"],
            ["run", "k.ptx", "-a", "bf16[16]=0.1:print", "-a", "f32=1", "-a", "f64=1"],
            ["eval", "fma.rn.f32", "0.1", "0.2", "0.7"], ["eval", "mul.rn.f64", "1e-300", "1e-20"], ["eval", "div.rn.f32", "1", "3"],
            ["eval", "cvt.rn.f16.f32", "0.1"], ["check", "--format", "json", "k.ptx"], ["format", "k.ptx"], ["dump", "-s", "tokens", "k.ptx"],
            ["dump", "-s", "program", "k.ptx"], ["explain", "fma"], ["equiv", "f.pto:f", "f.pto"],
            ["run", "spin.ptx", "--timeout", "0.01"], ["run", "k.ptx", "-a", "f32[4]=range:0:2e38", "-a", "f32=1", "-a", "f64=1"]]


class Host(cli.Case):
    def setUp(self):
        super().setUp()
        self.file("k.ptx", TEXT)
        self.file("spin.ptx", cli.module(cli.kernel("k", body="again: bra again;")))
        self.file("f.pto", "func.func @f(%a: !pto.vreg<4xi32>) -> !pto.vreg<4xi32> {\n  return %a : !pto.vreg<4xi32>\n}\n")

    def all(self, **environment):
        got = [self.lanewise(*command, env=environment) for command in COMMANDS]
        return got + [(self.folder / "a.npy").read_bytes()]

    def test_modes(self):
        environment = self.preload("preload_mode")
        wanted = self.all()
        self.assertIn("arg 0 f64[4]:", wanted[0][1])
        self.assertEqual([got[0] for got in wanted[:-1]], [0] * 15 + [4, 2])
        for mode in MODES:
            self.assertEqual(self.all(LW_TEST_MODE=str(mode), **environment), wanted, f"mode {mode}")
        self.assertIn("'k' was stopped: the time limit of 0.01 s is over", wanted[15][2])

    def test_engine(self):
        """The same by the compiler."""
        if "jit       available" not in self.lanewise("cpu")[1]:
            self.skipTest("the compiler is not built")
        environment = self.preload("preload_mode")
        wanted = self.lanewise(*COMMANDS[0])
        for mode in MODES:
            self.assertEqual(self.lanewise(*COMMANDS[0], "--engine", "jit", env={"LW_TEST_MODE": str(mode), **environment}), wanted, f"mode {mode}")

    def test_locale(self):
        """A decimal comma, in a process that asked for it and in one that did not."""
        environment = self.preload("preload_mode")
        if not shutil.which("localedef") or subprocess.run(["localedef", "-i", "de_DE", "-f", "UTF-8", str(self.folder / "de_DE.UTF-8")],
                                                           capture_output=True).returncode:
            self.skipTest("no locale with a decimal comma can be made")
        german = {"LOCPATH": str(self.folder), "LC_ALL": "de_DE.UTF-8"}
        wanted = self.all()
        self.assertEqual(self.all(**german), wanted)
        german["LW_TEST_LOCALE"] = ""
        stats = self.lanewise(*COMMANDS[4], "--stats=json", env=german | environment)[2]
        self.assertRegex(stats, r'"lanes_active": 1\.0')


if __name__ == "__main__":
    cli.main()
