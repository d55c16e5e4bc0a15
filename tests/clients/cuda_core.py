#!/usr/bin/env python3
"""cuda_core.py LANEWISE: CUDA Python, cuda.core and cuda.bindings.driver: modules of PTX and of C++ by NVRTC, streams, events, memory, graphs, linking
(cuda_core_calls.py). What the runtime's half of cuda.bindings does is not asked: it has the vendor's runtime inside."""

import sys

import client

PACKAGES = ["cuda-core==1.2.2", "cuda-bindings==13.5.0", "nvidia-cuda-nvrtc==13.0.88", "numpy"]


def prepare(c):
    c.need_python(*PACKAGES, check="import cuda.core, cuda.bindings.driver, numpy, nvidia.cu13")


def run(c):
    return client.calls(c, [c.python, "-P", client.HERE / "cuda_core_calls.py"])


if __name__ == "__main__":
    sys.exit(client.main(prepare, run))
