#!/usr/bin/env python3
"""pycuda.py LANEWISE: PyCUDA's own tests, of its driver, arrays and functions. It has no wheel: it is built, against the CUDA toolkit and our libcuda, and
compiles its kernels by nvcc. What it asks of nvcc is machine code, so that a script called nvcc (pycuda_nvcc) makes PTX of it."""

import os
import pathlib
import shutil
import subprocess
import sys
import tarfile

import client

VERSION = "2026.1"
NESTED = "kernels that launch kernels need libcudadevrt, which is machine code"
LARGE = "it takes many gigabytes"
EXCUSED = {
    "test_driver.test_recursive_launch": NESTED,
    "test_driver.test_jit_link_module": NESTED,
    "test_gpuarray.test_curand_wrappers_8gb": LARGE,
    "test_gpuarray.test_curand_wrappers_16gb": LARGE,
    "test_gpuarray.test_big_array_elementwise": LARGE,
    "test_gpuarray.test_big_array_reduction": LARGE,
    "test_gpuarray.test_big_array_scan": LARGE,
}


def prepare(c):
    found = shutil.which("nvcc") or shutil.which("/usr/local/cuda/bin/nvcc")
    if not found:
        raise client.Missing("there is no nvcc, of NVIDIA's CUDA toolkit")
    c.nvcc = pathlib.Path(found).resolve()
    toolkit = c.nvcc.parent.parent
    # Where pycuda looks for what it links is beside the folder of nvcc.
    c.bin = c.folder / "toolkit/bin"
    c.bin.mkdir(parents=True, exist_ok=True)
    for link, to in ((c.bin / "nvcc", client.HERE / "pycuda_nvcc"), (c.bin.parent / "lib64", toolkit / "lib64")):
        link.unlink(missing_ok=True)
        link.symlink_to(to)
    os.environ.update(CUDA_ROOT=str(toolkit), LIBRARY_PATH=f"{c.libraries}:{toolkit / 'lib64'}:{os.environ.get('LIBRARY_PATH', '')}")
    c.need_python(f"pycuda=={VERSION}", "numpy", "pytest", check="import importlib.metadata, numpy, pytest; importlib.metadata.version('pycuda')")
    c.tests = c.folder / f"pycuda-{VERSION}/test"
    if not c.tests.exists() and c.install:
        subprocess.run([c.python, "-m", "pip", "download", "-q", "--no-deps", "--no-binary", "pycuda", "-d", c.folder, f"pycuda=={VERSION}"], check=True)
        with tarfile.open(c.folder / f"pycuda-{VERSION}.tar.gz") as source:
            source.extractall(c.folder, [member for member in source if "/test/" in member.name and member.isfile()])
    if not c.tests.exists():
        raise client.Missing(f"its tests are not below {c.folder}")


def run(c):
    result = client.Result()
    for path in sorted(c.tests.glob("test_*.py")):
        client.tests(c, result, path.stem, [c.python, "-P", "-m", "pytest", path], EXCUSED, LANEWISE_NVCC=str(c.nvcc),
                     PATH=f"{c.bin}:{os.environ['PATH']}", XDG_CACHE_HOME=str(c.folder / "cache"))
    return result


if __name__ == "__main__":
    sys.exit(client.main(prepare, run))
