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
            self.shows(["dump", "--stage", stage, "-k", "g", "f.pto"], 2, err=["lanewise: error[LW4000]: the module has no function named 'g'\n"])

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

    def test_options_of_ptx(self):
        """What would change nothing is refused."""
        for option in (["--strict"], ["--semantics", "sm_90"], ["--stack", "1K"], ["--grid", "2"], ["--block", "2"], ["--smem", "16"], ["--cooperative"]):
            self.gives(["run", "loop.pto", "-a", "s64=9", *option], 2,
                       err=f"lanewise: error[LW6045]: {option[0]} is for kernels of PTX, and 'count' is a function of PTO\n")
        self.shows(["dump", "--stage", "program", "--semantics", "manual", "loop.pto"], 2, err=["--semantics is for PTX text, and 'loop.pto' is PTO"])
        self.file("k.ptx", cli.module(cli.kernel("k")))
        self.shows(["dump", "--stage", "module", "--target", "a5", "k.ptx"], 2, err=["--target is for PTO text, and 'k.ptx' is PTX"])
        self.gives(["equiv", "loop.pto", "loop.pto", "--block", "32"], 2,
                   err="lanewise: error[LW6048]: --block '32': both are functions of PTO, and a kernel of PTX alone has CTAs of a size that can be chosen\n")


if __name__ == "__main__":
    cli.main()
