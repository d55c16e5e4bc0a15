#!/usr/bin/env python3
"""What `lanewise run` and `dump` say of functions of PTO: that they are functions, and what their arguments take."""

import cli

SCALARS = "func.func @f(%n: index, %k: i32, %b: i1) -> index {\n  return %n : index\n}\n"
LOOP = """func.func @count(%n: index) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  scf.for %i = %zero to %n step %one {
  }
  return
}
"""
SIGNATURE = "  function: f(s64 n, s32 k, u8 b, result s64)\n"


class Words(cli.Case):
    def setUp(self):
        super().setUp()
        self.file("f.pto", SCALARS)
        self.file("loop.pto", LOOP)

    def test_names(self):
        for stage in ("module", "program"):
            self.shows(["dump", "--stage", stage, "-k", "g", "f.pto"], 2,
                       err=["lanewise: error[LW6026]: 'f.pto': the module has no function named 'g'\n  choose one with --func\n  function: f\n"])

    def test_at(self):
        """The @ of a function's name may be written."""
        self.gives(["run", "f.pto", "--func", "@f", "-a", "s64=3", "-a", "s32=4", "-a", "u8=1"], out="result s64[1]: 3\n")
        for stage in ("module", "program"):
            self.assertEqual(self.lanewise("dump", "--stage", stage, "-k", "@f", "f.pto"), self.lanewise("dump", "--stage", stage, "-k", "f", "f.pto"))
        self.shows(["equiv", "loop.pto:@count", "loop.pto:count", "--set", "0=3"], out=["equal"])
        self.shows(["run", "f.pto", "--func", "@@f"], 2, err=["the module has no function named '@@f'"])

    def test_stopped(self):
        self.gives(["run", "loop.pto", "-a", "s64=9000000000000", "--timeout", "0.2"], 4,
                   err="lanewise: error[LW6028]: function 'count' was stopped: the time limit of 0.2 s is over\n")

    def test_stats(self):
        err = self.shows(["run", "loop.pto", "-a", "s64=9", "--stats"])[2]
        self.assertEqual(err.splitlines()[0], "function       count")

    def test_scalars(self):
        """No integer of a function takes the address of a buffer, whatever its width."""
        self.gives(["run", "f.pto", "-a", "s64=3", "-a", "s32=4", "-a", "u8=1"], out="result s64[1]: 3\n")
        for number, name, wrong in ((0, "n", "s64[1]=3"), (0, "n", "s32[]=3,4"), (1, "k", "s32[4]"), (2, "b", "u8[1]=1")):
            arguments = ["s64=3", "s32=4", "u8=1"]
            arguments[number] = wrong
            shape = wrong.split("=")[0]
            self.gives(["run", "f.pto", *(f"--arg={a}" for a in arguments)], 2,
                       err=f"lanewise: error[LW6043]: argument {number}: parameter '{name}': it takes one value: TYPE=VALUE\n"
                           f"  {wrong}\n  {'^' + '~' * (len(shape) - 1)}\n{SIGNATURE}")
        self.gives(["run", "f.pto", "-a", "s32=3", "-a", "s32=4", "-a", "u8=1"], 2,
                   err=f"lanewise: error[LW6021]: argument 0: s32 has 4 bytes, and parameter 'n' has 8\n  s32=3\n  ^~~\n{SIGNATURE}")
        self.shows(["run", "f.pto", "-a", "s64=3", "-a", "f32=4", "-a", "u8=1"], 2, err=["LW6022", SIGNATURE])

    def test_results(self):
        self.file("two.pto", "func.func @f(%a: !pto.vreg<4xi16>, %b: i8) -> (!pto.vreg<4xi16>, i8) {\n  return %a, %b : !pto.vreg<4xi16>, i8\n}\n")
        run = ["run", "two.pto", "-a", "s16[]=1,-2,3", "-a", "s8=-4"]
        self.gives(run, out="result0 s16[3]: 1 -2 3\nresult1 s8[1]: -4\n")
        self.gives([*run, "--result", "print=hex:out=r.bin", "--result", "print=u8"], out="result0 s16[3]: 0x0001 0xfffe 0x0003\nresult1 u8[1]: 252\n")
        self.assertEqual((self.folder / "r.bin").read_bytes(), bytes([1, 0, 0xfe, 0xff, 3, 0]))
        for result, name, why, caret in ((["nonsense"], "result0", "this is no output; :out=FILE, :print, :print=hex and :print=TYPE are", (0, 9)),
                                         ([""], "result0", "this is no output; :out=FILE, :print, :print=hex and :print=TYPE are", (0, 1)),
                                         (["print", "print=u16"], "result1", "the buffer is no whole number of elements of this type", (7, 3)),
                                         (["print:out="], "result0", "the name of a file must follow :out=", (6, 5))):
            below = f"  :{result[-1]}\n  {' ' * caret[0]}^{'~' * (caret[1] - 1)}\n"
            self.gives([*run, *(f"--result={r}" for r in result)], 2, err=f"lanewise: error[LW6015]: --result for '{name}': {why}\n{below}")
        self.shows(["run", "two.pto", "-a", "f16[]=1,2", "-a", "s8=1"], 2, err=["LW6043", "parameter 'a': its elements are integers, not f16\n"])
        self.shows(["run", "two.pto", "-a", "b16[]=1,2", "-a", "b8=1"], out=["result0 s16[2]: 1 2\n"])

    def test_options_of_ptx(self):
        """What would change nothing is refused."""
        for option in (["--strict"], ["--semantics", "sm_90"], ["--stack", "1K"], ["--grid", "2"], ["--block", "2"], ["--smem", "16"], ["--cooperative"]):
            self.gives(["run", "loop.pto", "-a", "s64=9", *option], 2,
                       err=f"lanewise: error[LW6045]: {option[0]} is for kernels of PTX, and 'count' is a function of PTO\n")
        self.shows(["dump", "--stage", "program", "--semantics", "manual", "loop.pto"], 2, err=["--semantics is for PTX text, and 'loop.pto' is PTO"])
        self.file("k.ptx", cli.module(cli.kernel("k")))
        for option, value in (("--target", "a5"), ("--inactive", "zero"), ("--shift-overflow", "trap")):
            self.shows(["dump", "--stage", "program", option, value, "k.ptx"], 2, err=[f"{option} is for PTO text, and 'k.ptx' is PTX"])
        self.gives(["equiv", "loop.pto", "loop.pto", "--block", "32"], 2,
                   err="lanewise: error[LW6048]: --block '32': both are functions of PTO, and a kernel of PTX alone has CTAs of a size that can be chosen\n")


if __name__ == "__main__":
    cli.main()
