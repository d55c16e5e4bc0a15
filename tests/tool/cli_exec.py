#!/usr/bin/env python3
"""cli_exec.py BUILD: lanewise exec: the library path, the program's arguments, exit codes."""

import os
import subprocess
import sys

build = os.path.abspath(sys.argv[1])
lanewise = os.path.join(build, "bin", "lanewise")
folder = os.path.join(build, "lib", "cuda")


def run(*args, **environment):
    base = {name: value for name, value in os.environ.items() if name != "LD_LIBRARY_PATH"}
    done = subprocess.run([lanewise, "exec", *args], capture_output=True, text=True, env=dict(base, **environment))
    return done.returncode, done.stdout, done.stderr


def expect(got, wanted):
    assert got == wanted, f"{got!r}, not {wanted!r}"


show = ("sh", "-c", 'printf "%s\\n" "$LD_LIBRARY_PATH" "$@"; exit 5', "name")
expect(run("--folder"), (0, folder + "\n", ""))
expect(run("--", *show, "a", "--folder"), (5, f"{folder}\na\n--folder\n", ""))
expect(run(*show, "-x"), (5, f"{folder}\n-x\n", ""))  # without --, what follows the name is the program's too
expect(run(*show, LD_LIBRARY_PATH="/other"), (5, f"{folder}:/other\n", ""))
code, out, err = run("there-is-no-such-program")
expect((code, out), (127, ""))
assert "error[LW6040]" in err and "there-is-no-such-program" in err, err
code, out, err = run("/")
expect((code, out), (126, ""))
code, out, err = run()
expect((code, out), (2, ""))
code, out, err = run("--help")
assert code == 0 and "LD_LIBRARY_PATH" in out and "LANEWISE_REPORT" in out, out
