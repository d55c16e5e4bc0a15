#!/usr/bin/env python3
"""python.py LANEWISE: the driver found by name from a program that `lanewise exec` starts, as Python's clients find it; and the comparison with
recorded results, which is such a program, finds what is wrong."""

import ctypes
import os
import pathlib
import subprocess
import sys
import tempfile

RECORD = pathlib.Path(__file__).resolve().parent.parent.parent / "tools/silicon/record.py"

PTX = b""".version 7.0
.target sm_70
.address_size 64
.visible .entry square(.param .u64 at)
{
    .reg .b32 %r<2>;
    .reg .b64 %d<3>;
    ld.param.u64 %d0, [at];
    mov.u32 %r0, %tid.x;
    mul.wide.u32 %d1, %r0, 4;
    add.u64 %d1, %d0, %d1;
    mul.lo.u32 %r1, %r0, %r0;
    st.global.u32 [%d1], %r1;
    ret;
}
"""


def inside():
    cuda = ctypes.CDLL("libcuda.so.1")
    context, module, function, at = (ctypes.c_void_p() for _ in range(4))
    words = (ctypes.c_uint32 * 32)()

    def call(name, *args):
        result = getattr(cuda, name)(*args)
        assert result == 0, f"{name} gives {result}"

    call("cuInit", 0)
    call("cuCtxCreate_v2", ctypes.byref(context), 0, 0)
    call("cuModuleLoadData", ctypes.byref(module), PTX)
    call("cuModuleGetFunction", ctypes.byref(function), module, b"square")
    call("cuMemAlloc_v2", ctypes.byref(at), ctypes.c_size_t(128))
    call("cuLaunchKernel", function, 1, 1, 1, 32, 1, 1, 0, None, (ctypes.c_void_p * 1)(ctypes.addressof(at)), None)
    call("cuMemcpyDtoH_v2", words, at, ctypes.c_size_t(128))
    assert list(words) == [i * i for i in range(32)]
    maps = open("/proc/self/maps").read()
    assert "/libcuda.so.1" in maps and "liblanewise" not in maps
    print("squares are right")


TEST = """// run: --block 4 --arg u32[4]:print
// out: arg 0 u32[4]: 0 1 4 9
""" + PTX.decode().replace("square", "k")

# What is changed in that file, and what is said of it; nothing: it is as recorded.
CHANGES = [
    ("", "", ""),
    ("0 1 4 9", "0 1 4 8", "output 1 differs at its word 7"),
    ("// out: arg 0 u32[4]: 0 1 4 9\n", "", "1 outputs, recorded are 0"),
    ("// out: arg 0 u32[4]: 0 1 4 9", "// trap: LW5000", "no kernel faults, and the file expects a trap"),
    ("// out: arg 0 u32[4]: 0 1 4 9", "// trap: LW5000\n// run: --kernel absent", "cuModuleGetFunction: "),
    ("    st.global.u32 [%d1], %r1;", "    trap;", "cuCtxSynchronize: "),
]


def recorded(lanewise):
    environment = os.environ | {"LANEWISE_REPORT": "none"}
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "run_k.ptx"
        for old, new, says in CHANGES:
            path.write_text(TEST.replace(old, new))
            done = subprocess.run([lanewise, "exec", "--", sys.executable, RECORD, "--compare", path], capture_output=True, text=True, env=environment)
            assert done.returncode == bool(says) and says in done.stdout, (new, done.stdout, done.stderr)
        path.write_text(TEST)
        done = subprocess.run([lanewise, "exec", "--", sys.executable, RECORD, "--write", path], capture_output=True, text=True, env=environment)
        assert done.returncode == 1 and "needs a GPU" in done.stdout and path.read_text() == TEST, (done.stdout, done.stderr)


def main():
    if sys.argv[1:] == ["--inside"]:
        return inside()
    lanewise = sys.argv[1]
    done = subprocess.run([lanewise, "exec", "--", sys.executable, __file__, "--inside"], capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout == "squares are right\n", (done.stdout, done.stderr)
    recorded(lanewise)


if __name__ == "__main__":
    main()
