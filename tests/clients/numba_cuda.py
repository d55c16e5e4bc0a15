#!/usr/bin/env python3
"""numba_cuda.py LANEWISE: numba-cuda's own tests, those that its wheel has and that ask for a device, a process for each module. Kernels are linked by
our nvJitLink, which takes the place of the wheel's because it is loaded before; NVRTC and NVVM are those of the CUDA version that the driver has, as
with any driver. It takes ten minutes in each engine."""

import pathlib
import subprocess
import sys

import client

PACKAGES = ["numba-cuda[cu13]==0.30.4", "cuda-toolkit==13.0.2", "nvidia-nvjitlink==13.0.88", "numba==0.68.1", "cuda-core==1.2.2", "cuda-bindings==13.5.0",
            "ml_dtypes", "pytest", "psutil", "cffi", "filecheck"]
TESTS = ["cudadrv", "cudapy", "doc_examples", "nrt"]
BEYOND = "it goes beyond the end of its arrays, which ends the context of all tests after it"
EXCUSED = {
    "cudadrv.test_cuda_driver.test_device_arch_specific": BEYOND,  # of four bytes, which it takes for a tensor map
    "cudapy.test_dispatcher.test_dispatcher_cpointer_arguments": BEYOND,
    "cudapy.test_localmem.test_struct_model_type_arr": BEYOND,
}


def prepare(c):
    c.need_python(*PACKAGES, check="import numba_cuda, pytest, psutil, cffi, filecheck, ml_dtypes, nvidia.cu13")
    found = subprocess.run([c.python, "-P", "-c", "import numba_cuda; print(numba_cuda.__path__[0])"], check=True, capture_output=True, text=True)
    c.tests = pathlib.Path(found.stdout.strip()) / "numba/cuda/tests"


def run(c):
    result = client.Result()
    for folder in TESTS:
        for path in sorted((c.tests / folder).glob("test_*.py")):
            name = f"{folder}.{path.stem}"
            client.tests(c, result, name, [c.python, "-P", client.HERE / "numba_cuda_tests.py", "--import-mode=importlib", "--pyargs",
                                           f"numba.cuda.tests.{name}"], EXCUSED, LD_PRELOAD=str(c.libraries / "libnvJitLink.so.13"))
    return result


if __name__ == "__main__":
    sys.exit(client.main(prepare, run))
