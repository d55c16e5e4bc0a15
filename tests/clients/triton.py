#!/usr/bin/env python3
"""triton.py LANEWISE: Triton, as it comes from its package and without PyTorch: it compiles kernels (triton_kernels.py), hands their PTX to lanewise-ptxas
in the place of its ptxas, and launches what comes back by its own driver. That one it compiles when it starts: a C compiler and the headers of
Python are needed. Nothing of it is skipped."""

import sys

import client

VERSION = "3.9.0"


def prepare(c):
    c.need_command("cc", "gcc", "libc6-dev")
    headers = "import pathlib, sysconfig; (pathlib.Path(sysconfig.get_path('include')) / 'Python.h').stat()"
    if not client.succeeds([sys.executable, "-c", headers]):
        if not c.install:
            raise client.Missing("there are no headers of Python (Debian: python3-dev)")
        client.apt(["python3-dev"])
    c.need_python(f"triton=={VERSION}", "numpy", check="import triton, numpy; " + headers)


def run(c):
    ptxas = str(c.lanewise.with_name("lanewise-ptxas"))
    return client.calls(c, [c.python, "-P", client.HERE / "triton_kernels.py"], 1800, TRITON_PTXAS_PATH=ptxas, TRITON_PTXAS_BLACKWELL_PATH=ptxas,
                        TRITON_CACHE_DIR=str(c.folder / "cache"), TRITON_ALWAYS_COMPILE="1", TRITON_DEFAULT_FP_FUSION="1")


if __name__ == "__main__":
    sys.exit(client.main(prepare, run))
