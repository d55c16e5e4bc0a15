#!/usr/bin/env python3
"""gcc_offload.py LANEWISE: OpenMP and OpenACC as Debian's GCC 12 offloads them (gcc-12-offload-nvptx): PTX of its own, with its own runtime and
newlib, linked by the driver. Its programs are in gcc_offload/. The engine that compiles needs some seconds for each of the 60 kernels, since
all of the runtime is in each, and most of it is left to the interpreter: it runs by --engine jit only."""

import os
import sys

import client

# -latomic has __atomic_fetch_add_1.
PROGRAMS = {
    "openmp": (["-fopenmp", "-foffload-options=-lm", "-foffload-options=-latomic"], {"OMP_TARGET_OFFLOAD": "mandatory"}),
    "openacc": (["-fopenacc", "-foffload-options=-lm"], {"ACC_DEVICE_TYPE": "nvidia"}),
}


def prepare(c):
    c.need_command("x86_64-linux-gnu-accel-nvptx-none-gcc-12", "gcc-12", "gcc-12-offload-nvptx")


def run(c):
    result = client.Result()
    # Its assembler asks ptxas, where there is one, whether it likes sm_35; newer ones do not know that.
    plain = dict(os.environ, PATH="/usr/bin:/bin")
    for name, (options, environment) in PROGRAMS.items():
        program = c.folder / name
        client.subprocess.run(["gcc-12", "-O2", "-w", "-foffload=nvptx-none", *options, client.HERE / "gcc_offload" / f"{name}.c", "-o", program,
                               "-lm", "-Wl,--no-warnings"], check=True, env=plain)
        done = c.run([program], 1200, **environment)
        failed = len(result.failed)
        for line in done.stdout.splitlines():
            said, _, check = line.partition(" ")
            if said in ("passed", "FAILED"):
                result.add(f"{name}: {check}", said == "passed")
        if done.returncode != (len(result.failed) > failed):  # libgomp, too, ends programs with 1
            result.add(f"{name} comes to its end", False, "\n".join(done.stdout.splitlines()[-12:]))
    return result


if __name__ == "__main__":
    sys.exit(client.main(prepare, run, engines=("interp", "auto")))
