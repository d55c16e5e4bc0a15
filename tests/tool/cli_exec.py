#!/usr/bin/env python3
"""cli_exec.py BUILD: lanewise exec: the library path, the program's arguments, exit codes."""

import os
import subprocess
import sys

import cli

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

# A launch that is refused: the program gets a number, and the first one is told in words, once.
LAUNCH = r"""
import ctypes
driver = ctypes.CDLL("libcuda.so.1")
context, module, function = (ctypes.c_void_p() for _ in range(3))
text = b".version 7.0\n.target sm_%d\n.address_size 64\n.visible .entry big()\n{\nret;\n}\n"
def ok(result): assert result == 0, result
ok(driver.cuInit(0)), ok(driver.cuCtxCreate_v2(ctypes.byref(context), 0, 0))
"""
REFUSED = LAUNCH + r"""
ok(driver.cuModuleLoadData(ctypes.byref(module), text % 70)), ok(driver.cuModuleGetFunction(ctypes.byref(function), module, b"big"))
for block in (2048, 4096): assert driver.cuLaunchKernel(function, 1, 1, 1, block, 1, 1, 0, None, None, None) == 1
"""
if os.path.exists(os.path.join(folder, "libcuda.so.1")) and not cli.has_sanitizer(build):  # Python cannot load one with a sanitizer
    for report, times in ("errors", 1), ("all", 2), ("none", 0):
        code, out, err = run("--", sys.executable, "-c", REFUSED, LANEWISE_REPORT=report)
        assert (code, out, err.count("a launch of kernel 'big' was refused: a CTA of ")) == (0, "", times), (code, out, err)
        assert times == 0 or "2048 threads: 1024 are the most [LW4022]" in err, err
    # PTX for a newer device than the one that the driver seems to be, as the manual's section on .target has it.
    load = LAUNCH + "text = text.replace(b'7.0', b'9.0')\nprint(driver.cuModuleLoadData(ctypes.byref(module), text % 100))"
    code, out, err = run("--", sys.executable, "-c", load)
    assert (code, out) == (0, "218\n") and "compute_90, or set LANEWISE_ARCH=sm_100" in err, (code, out, err)
    assert run("--", sys.executable, "-c", load, LANEWISE_ARCH="sm_100") == (0, "0\n", ""), "LANEWISE_ARCH does what is said of it"
