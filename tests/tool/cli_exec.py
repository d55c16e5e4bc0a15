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

# The vendor's static runtime asks for a private table, and can only say that something failed.
program = os.path.join(build, "bin", "test_cuda_names")
if os.path.exists(program):
    for report, times in ("errors", 1), ("all", 1), ("none", 0):
        code, out, err = run("--", program, os.path.join(folder, "libcuda.so.1"), LANEWISE_REPORT=report)
        assert code == 0 and err.count("-cudart shared") == times, (code, out, err)

# What the driver says at the end, and of each call: a program of this build's tests launches three kernels of one name.
program = os.path.join(build, "bin", "test_cuda_float_mode")
if os.path.exists(program):
    code, out, err = run("--stats", "--", program)
    assert code == 0 and "% jit" in err.splitlines()[1], err
    launches, *_, name = err.splitlines()[2].split()
    assert int(launches) % 3 == 0 and name == "k" and len(err.splitlines()) == 3, err
    code, out, err = run("--", program, LANEWISE_LOG="calls")
    calls = [line.removeprefix("lanewise: ") for line in err.splitlines()]
    assert code == 0 and calls[0] == "cuInit" and calls.count("cuLaunchKernel") == int(launches), calls[:5]
    assert run("--", program, LANEWISE_LOG="all")[2].startswith("lanewise: LANEWISE_LOG is 'all'")
    code, out, err = run("--", program, LANEWISE_DEVICES="17")
    assert code == 0 and "LANEWISE_DEVICES is '17'" in err, err
    code, out, err = run("--", program, LANEWISE_DEVICES="0")
    assert code != 0, "a driver without devices"
