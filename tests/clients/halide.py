#!/usr/bin/env python3
"""halide.py LANEWISE: pipelines of Halide's, scheduled for CUDA, against the same pipelines scheduled for the CPU: every element equal, but where
sums of floats come in another order. By Debian's python3-halide, or with --newest by PyPI's."""

import sys

import client

RUN = ["-P", client.HERE / "halide_pipelines.py"]


def prepare(c):
    check = "import halide, numpy"
    if c.newest:
        c.need_python("halide", "numpy", check=check)
        return
    c.python = "/usr/bin/python3"
    if not client.succeeds([c.python, "-P", "-c", check]):
        if not c.install:
            raise client.Missing("there is no Python package halide (Debian: python3-halide)")
        client.apt(["python3-halide", "python3-numpy"])


def run(c):
    return client.calls(c, [c.python, *RUN])


if __name__ == "__main__":
    sys.exit(client.main(prepare, run))
