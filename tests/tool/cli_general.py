#!/usr/bin/env python3
"""The command line as a whole: choosing a command, help, versions, exit codes for usage and for outputs that fail."""

import pathlib
import re
import shlex

import cli

COMMANDS = ["check", "format", "dump", "run", "explain", "isa", "cpu", "version"]


class General(cli.Case):
    def test_no_arguments(self):
        code, out, err = self.lanewise()
        self.assertEqual((code, out), (2, ""))
        self.assertTrue(err.startswith("Usage: lanewise COMMAND"))
        for command in COMMANDS:
            self.assertRegex(err, rf"(?m)^  {command} ")

    def test_help(self):
        usage = self.lanewise()[2]
        for spelling in (["--help"], ["-h"], ["help"]):
            self.gives(spelling, out=usage)

    def test_readme(self):
        """The first command of README.md gives what stands below it."""
        root = pathlib.Path(__file__).resolve().parents[2]
        text = (root / "README.md").read_text().replace("\\\n", " ")
        command, out = re.search(r"(?m)^lanewise (run examples/.*)\n# (.*)$", text).groups()
        args = [str(root / word) if word.startswith("examples/") else word for word in shlex.split(command)]
        self.gives(args, out=out + "\n")

    def test_help_of_each(self):
        for command in COMMANDS:
            code, out, err = self.lanewise(command, "--help")
            self.assertEqual((code, err), (0, ""))
            self.assertTrue(out.startswith(f"Usage: lanewise {command}"), out)
            self.assertEqual(self.lanewise("help", command), (code, out, err))
            self.assertLess(max(map(len, out.splitlines())), 81, f"{command} --help is too wide")
            # A line of the text that is too long for argp leaves its last word alone on a line; so may a paragraph, at its end.
            alone = [b for a, b in zip(out.splitlines(), out.splitlines()[1:]) if a and re.fullmatch(r"\S*[^\s:.]", b)]
            self.assertEqual(alone, [], f"{command} --help has lines that are too long")

    def test_help_tells_exit_codes(self):
        for command in COMMANDS:
            if command == "version":
                continue
            self.assertRegex(self.lanewise(command, "--help")[1], r"(?m)^Exit codes:\n  0  ")

    def test_unknown_command(self):
        for word, near in (("chekc", "check"), ("rn", "run"), ("fromat", "format"), ("exlpain", "explain")):
            self.gives([word], 2, err=f"lanewise: error[LW6002]: '{word}' is not a command of lanewise\n"
                                      f"  did you mean `lanewise {near}`?\n  `lanewise --help` lists the commands\n")
        self.gives(["xyzzy"], 2, err="lanewise: error[LW6002]: 'xyzzy' is not a command of lanewise\n"
                                     "  `lanewise --help` lists the commands\n")

    def test_control_bytes_are_not_shown(self):
        self.shows(["\33[31m\n"], 2, err=["'?[31m?' is not a command"])

    def test_unknown_option(self):
        for command in COMMANDS:
            code, out, err = self.lanewise(command, "--bogus")
            self.assertEqual((code, out, " ".join(err.split())), (2, "",
                             f"lanewise {command}: unrecognized option '--bogus' Try `lanewise {command} --help' "
                             f"or `lanewise {command} --usage' for more information."))

    def test_missing_and_extra_arguments(self):
        for command, why in (("check", "a FILE is needed"), ("format", "a FILE is needed"), ("dump", "a FILE is needed"),
                             ("run", "a FILE is needed"), ("explain", "a WORD is needed")):
            code, out, err = self.lanewise(command)
            self.assertEqual((code, out, err.splitlines()[0]), (2, "", f"lanewise {command}: {why}"))
        for command in ("cpu", "version"):
            self.shows([command, "x"], 2, err=[f"lanewise {command}: {command} takes no arguments\n"])
        self.shows(["isa", "shf"], 2, err=["lanewise isa: isa takes no arguments; `lanewise explain shf' may be meant\n"])

    def test_version(self):
        code, out, err = self.lanewise("version")
        self.assertEqual((code, err), (0, ""))
        self.assertTrue(re.fullmatch(r"lanewise \d+\.\d+\.\d+\n", out), out)
        self.gives(["--version"], out=out)
        self.gives(["-V"], out=out)

    def test_full_disk(self):
        """/dev/full takes nothing: what was printed is lost, and that is an error."""
        import subprocess
        with open("/dev/full", "w") as full:
            done = subprocess.run([self.tool, "version"], stdout=full, stderr=subprocess.PIPE, text=True)
        self.assertEqual(done.returncode, 5)
        self.assertIn("error[LW6001]: cannot write '-'", done.stderr)


class Cpu(cli.Case):
    def test_levels(self):
        code, out, err = self.lanewise("cpu")
        self.assertEqual((code, err), (0, ""))
        self.assertRegex(out, r"(?m)^portable  available")
        self.assertRegex(out, r"(?m)^threads   \d+$")
        levels, engines = out.split("interp    ")
        self.assertEqual([len(re.findall(r"(?m), in use$", part)) for part in (levels, engines)], [1, 1])

    def test_choice(self):
        self.shows(["cpu", "--cpu", "portable"], out=["portable  available, in use\n"])
        self.shows(["cpu"], out=["portable  available, in use\n"], env={"LANEWISE_CPU": "portable"})
        self.shows(["cpu"], out=["threads   3\n"], env={"LANEWISE_THREADS": "3"})
        self.gives(["cpu"], 2, env={"LANEWISE_ENGINE": "x"},
                   err="lanewise: error[LW6003]: LANEWISE_ENGINE 'x': it must be auto, interp or jit\n")
        code, out, err = self.lanewise("cpu", env={"LANEWISE_ENGINE": "jit"})
        if "jit       available" in self.lanewise("cpu", env={"LANEWISE_ENGINE": "interp"})[1]:
            self.assertEqual((code, err), (0, ""))
            self.assertIn("interp    available\njit       available, in use\nauto      available\n", out)
        else:
            self.assertEqual((code, out), (6, ""))
            self.assertIn("error[LW6006]: the engine 'jit' is not there", err)
        for hot in ("x", "-1", "1e9", "18446744073709551616"):
            self.gives(["cpu"], 2, env={"LANEWISE_HOT": hot}, err=f"lanewise: error[LW6003]: LANEWISE_HOT '{hot}': this is no number of warp instructions\n")
        self.shows(["cpu"], out=["auto      available, in use\n"], env={"LANEWISE_HOT": "0"})
        self.gives(["cpu"], 2, env={"LANEWISE_THREADS": "x"},
                   err="lanewise: error[LW6003]: LANEWISE_THREADS 'x': this is no number of threads\n")

    def test_every_level_that_the_machine_has(self):
        code, out, err = self.lanewise("cpu", "--brief")
        self.assertEqual((code, err), (0, ""))
        levels = out.split()
        self.assertIn("portable", levels)
        for level in levels:
            self.assertRegex(self.lanewise("cpu", "--cpu", level)[1], rf"(?m)^{level} +available, in use$")
        for level in set(re.findall(r"(?m)^(\S+) +missing", self.lanewise("cpu")[1])) - {"jit"}:
            self.gives(["cpu", "--cpu", level], 6,
                       err=f"lanewise: error[LW6006]: this machine lacks the CPU level '{level}'\n")

    def test_unknown_level(self):
        self.shows(["cpu", "--cpu", "v9"], 2, err=["error[LW6003]: --cpu 'v9': the levels are ", " portable\n"])
        self.shows(["cpu"], 2, err=["error[LW6003]: LANEWISE_CPU 'v9': the levels are "], env={"LANEWISE_CPU": "v9"})


if __name__ == "__main__":
    cli.main()
