#!/usr/bin/env python3
"""Files that are no PTX: one error, which says what they are and what to give."""

import gzip
import pathlib
import re
import sys
import zipfile

import cli

# How files of these kinds begin, as the toolkit of CUDA 13.0 and others wrote them; `file` names them so.
HEADS = {
    "k.cubin": ("7f454c460201014108000000000000000200be0001000000", "a cubin"),
    "k.fatbin": ("50ed55ba01001000880c000000000000020001014000000028", "a fatbin"),
    "k.o": ("7f454c4602010100000000000000000001003e0001000000", "an ELF file"),
    "k.a": ("213c617263683e0a2f20202020202020", "a library of object files"),
    "k.bc": ("4243c0de351400000500000062", "LLVM bitcode"),
    "k.png": ("89504e470d0a1a0a0000000d49484452", "a picture"),
    "k.npy": ("934e554d50590100760000007b2764", "a NumPy array"),
}
TEXTS = {
    "#include <cuda_runtime.h>\n__global__ void k(float *x) { x[threadIdx.x] = 1; }\nint main() { k<<<1, 1>>>(0); }\n": ("CUDA C++", "nvcc -ptx"),
    'extern "C" __global__ void k();\n': ("CUDA C++", "nvcc -ptx"),
    "// saxpy\n__kernel void k(__global float *x)\n{\n    x[get_global_id(0)] = 1;\n}\n": ("OpenCL C", "clang"),
    "/* a program */\n#include <stdio.h>\n\nint main(void)\n{\n    return 0;\n}\n": ("C or C++", "nvcc -ptx"),
    "; ModuleID = 'k.ll'\ntarget triple = \"nvptx64-nvidia-cuda\"\ndefine void @k() {\n  ret void\n}\n": ("LLVM IR", "llc"),
    "func.func @f() {\n}\n": ("PTO text", "--language pto"),
    "module {\n}\n": ("PTO text", "--language pto"),
    "\nFatbin ptx code:\n================\narch = sm_75\n\n.version 7.0\n.target sm_75\n.entry k() { ret; }\n": ("what cuobjdump prints", "-xptx all"),
    "version https:" "//git-lfs.github.com/spec/v1\nsize 5\n": ("a pointer to a file that Git LFS keeps", "git lfs pull"),
}


class Foreign(cli.Case):
    def one_error(self, args, number, *parts, **more):
        code, out, err = self.shows(args, 1, err=[f"error[{number}]: ", *parts], **more)
        self.assertEqual((out, len(re.findall(r"error\[", err))), ("", 1), err)
        self.assertLess(len(err), 600)
        self.assertNotRegex(err, r"[^\n\x20-\x7e]")

    def test_kinds(self):
        for name, (head, kind) in HEADS.items():
            with self.subTest(name):
                self.file(name, bytes.fromhex(head) + bytes(range(256)) * 20)
                self.one_error(["run", name], "LW1008", f"this is {kind}")
                self.one_error(["check", name], "LW1008", f"this is {kind}")
                self.one_error(["check", "--language", "pto", name], "LW1008", f"this is {kind}")

    def test_made_by_others(self):
        (self.folder / "k.ptx.gz").write_bytes(gzip.compress(b".version 7.0\n" * 100))
        self.one_error(["run", "k.ptx.gz"], "LW1008", "this is a gzip file", "gunzip")
        with zipfile.ZipFile(self.folder / "k.zip", "w") as archive:
            archive.writestr("k.ptx", ".version 7.0\n" * 100)
        self.one_error(["run", "k.zip"], "LW1008", "this is a zip archive")
        if pathlib.Path(sys.executable).read_bytes()[:4] == b"\x7fELF":
            self.one_error(["run", sys.executable], "LW1008", "this is an ELF file", "cuobjdump -xptx all", "nvcc -ptx")
        self.file("wide.ptx", ".version 7.0\n.target sm_70\n".encode("utf-16"))
        self.one_error(["check", "wide.ptx"], "LW1008", "this is text in UTF-16", "iconv")
        for data in (bytes(100), bytes(range(256)), b"\0\1\2\3\4\5\6\7" * 5000):
            self.file("data", data)
            self.one_error(["run", "data"], "LW1008", "this is binary data", "nvcc -ptx")

    def test_linked(self):
        """Each text is looked at, and only there is the fault."""
        self.file("good.ptx", cli.module(cli.kernel("k")))
        self.file("k.cubin", bytes.fromhex(HEADS["k.cubin"][0]) + bytes(100))
        self.one_error(["check", "--link", "good.ptx", "k.cubin"], "LW1008", "k.cubin:1:1: ", "this is a cubin")

    def test_languages(self):
        for text, (language, mend) in TEXTS.items():
            with self.subTest(text):
                self.one_error(["check", "-"], "LW1009", f"this is {language}", mend, stdin=text)
        self.one_error(["check", "-"], "LW1050", "nvcc -ptx", stdin="hello world\n")
        self.one_error(["check", "-"], "LW1050", stdin="")

    def test_ptx_with_faults_is_ptx(self):
        """Where directives stand, all faults are shown."""
        text = cli.module(cli.kernel("k", body="bogus;\n    ret;"))
        for head, number in (("#include \"more.h\"\n", "LW1007"), ("x\n", "LW1050"), ("// __global__ void k();\n", "LW2")):
            err = self.shows(["check", "-"], 1, stdin=head + text, err=[number])[2]
            self.assertNotIn("LW1009", err)
        self.assertNotIn("nvcc", self.shows(["check", "-"], 1, stdin=".target sm_80\n")[2])
        damaged = text.replace("bogus", "\1ret")
        self.shows(["check", "-"], 1, stdin=damaged, err=["LW1001", "'\\x01'"])

    def test_many_bytes(self):
        """Ten places are enough; a run of the same byte is one."""
        lines = "".join(f"// caf\u00e9 {i}\n" for i in range(200))
        code, out, err = self.lanewise("check", "-", stdin=cli.module(cli.kernel("k", body=lines + "add.u32 d;\n    ret;")))
        self.assertEqual((code, len(re.findall(r"LW1002", err)), len(re.findall(r"LW1036", err))), (1, 10, 1))
        self.assertIn("LW2", err)  # what is wrong besides
        for text, places in (("````````", 1), ("`\1`\1", 4), ("` ` `", 3)):
            err = self.lanewise("check", "-", stdin=cli.module(cli.kernel("k", body=text + "ret;")))[2]
            self.assertEqual(len(re.findall("LW1001", err)), places, text)


if __name__ == "__main__":
    cli.main()
