#!/usr/bin/env python3
"""Files of arguments: read no further than it takes to know that they are too large, whatever they are; and large sizes."""

import os
import resource
import struct
import subprocess
import threading

import cli


def npy(shape, data=b"", version=1, length=None, padding=0):
    header = ("{'descr': '<u4', 'fortran_order': False, 'shape': %s, }" % shape).encode() + b" " * padding + b"\n"
    size = len(header) if length is None else length
    return b"\x93NUMPY" + bytes([version, 0]) + struct.pack("<H" if version == 1 else "<I", size) + header + data


class Inputs(cli.Case):
    def setUp(self):
        super().setUp()
        self.file("k.ptx", cli.module(cli.kernel("k", ".u64 p")))
        self.file("array.ptx", cli.module(cli.kernel("k", ".align 4 .b8 p[16]")))

    def small(self, *args, feed=None):
        """Whoever reads on takes much memory."""
        environment = {k: v for k, v in os.environ.items() if k not in cli.DROPPED}
        done = subprocess.run([self.tool, *args], cwd=self.folder, env=environment, capture_output=True, text=True, timeout=60, stdin=feed)
        self.assertLess(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, 1 << 20, "a gigabyte was read")
        return done.returncode, done.stderr

    def refused(self, code, part, *args, **more):
        got = self.small("run", *args, **more)
        self.assertEqual(got[0], code, got)
        self.assertIn(part, got[1])

    def test_endless(self):
        part = "the beginning of the file gives 5 elements, not the 4 that are asked for"
        self.refused(5, part, "k.ptx", "-a", "u32[4]=@/dev/zero")
        with open("/dev/zero") as zero:
            self.refused(5, part, "k.ptx", "-a", "u32[4]=@-", feed=zero)
        self.refused(6, "more than 1048576 bytes", "k.ptx", "--memory", "1M", "-a", "u32[]=@/dev/zero")
        self.refused(6, "more than 1048576 bytes", "k.ptx", "--memory", "1M", "-a", "u32[1G]=@/dev/zero")
        self.refused(5, "the array has 17 bytes, and parameter 'p' has 16", "array.ptx", "-a", "u8[]=@/dev/zero")
        os.symlink("/dev/zero", self.folder / "zero.npy")
        self.refused(5, "it does not begin with NumPy's signature", "k.ptx", "-a", "u32[4]=@zero.npy")

    def feed(self, name, head):
        """A pipe that gives `head` and then goes on for ever."""
        path = self.folder / name
        os.mkfifo(path)

        def write():
            try:
                with open(path, "wb") as pipe:
                    pipe.write(head)
                    while True:
                        pipe.write(b"\0" * 65536)
            except BrokenPipeError:
                pass
        threading.Thread(target=write, daemon=True).start()

    def test_pipes(self):
        self.feed("raw", b"")
        self.refused(5, "the beginning of the file gives 5 elements", "k.ptx", "-a", "u32[4]=@raw")
        self.feed("a.npy", npy("(4,)"))
        self.refused(5, "should have 16 bytes of data behind its header", "k.ptx", "-a", "u32[]=@a.npy")
        self.feed("b.npy", npy("(1099511627776,)"))
        self.refused(6, "'b.npy' has more than", "k.ptx", "-a", "u32[]=@b.npy")
        self.feed("c.npy", npy("(4,)", version=2, length=0xffffffff))
        self.refused(5, "its header is too long", "k.ptx", "-a", "u32[]=@c.npy")
        os.mkfifo(self.folder / "good")
        threading.Thread(target=lambda: (self.folder / "good").write_bytes(b"\7\0\0\0" * 3), daemon=True).start()
        self.gives(["run", "k.ptx", "-a", "u32[]=@good:print"], out="arg 0 u32[3]: 7 7 7\n")

    def test_hostile_arrays(self):
        for text, part in ((npy("(281474976710657,)"), "the shape is too large"), (npy("(18446744073709551616,)"), "the shape is too large"),
                           (npy("(4294967296, 4294967296, 4294967296)"), "the shape is too large"), (npy("(1099511627776,)"), "has 0"),
                           (npy("(4,)", b"\0" * 15), "has 15"), (npy("(4,)", b"\0" * 17), "has 17"),
                           (npy("(4,)", length=65535), "it ends within the header"), (npy("(4,)", b"\0" * 16, 2, padding=2 << 20), "its header is too long")):
            self.file("x.npy", text)
            self.refused(5, part, "k.ptx", "-a", "u32[]=@x.npy")
        self.file("x.npy", npy("(4,)", b"\1\0\0\0" * 4, 2, padding=100000))
        self.gives(["run", "k.ptx", "-a", "u32[]=@x.npy:print"], out="arg 0 u32[4]: 1 1 1 1\n")

    def test_large_files(self):
        """Of which nothing needs to be read."""
        with open(self.folder / "large.bin", "wb") as large:
            try:
                large.truncate(1 << 40)
            except OSError:
                self.skipTest("the file system has no files of a terabyte")
        self.refused(5, "the file gives 274877906944 elements, not the 4", "k.ptx", "-a", "u32[4]=@large.bin")
        self.refused(6, "'large.bin' has more than", "k.ptx", "-a", "u32[]=@large.bin")
        self.refused(5, "the file is too large", "large.bin")
        self.refused(5, "the array has 1099511627776 bytes", "array.ptx", "-a", "u8[]=@large.bin")

    def test_folders(self):
        os.mkdir(self.folder / "d")
        for args in (["run", "k.ptx", "-a", "u32[4]=@d"], ["run", "d"], ["check", "d"], ["format", "d"]):
            self.gives(args, 5, err=self.lanewise(*args)[2])
            self.shows(args, 5, err=["error[LW6000]: cannot read 'd': Is a directory"])

    def test_sizes(self):
        self.gives(["run", "k.ptx", "--memory", "1T", "-a", "u32[4]:print"], out="arg 0 u32[4]: 0 0 0 0\n")
        self.gives(["run", "k.ptx", "--memory", "16M", "-a", "u32[4]:print"], out="arg 0 u32[4]: 0 0 0 0\n")
        self.shows(["run", "k.ptx", "--memory", "16M", "-a", "u32[8M]"], 6, err=["33554432 bytes of device memory: 0 of 16777216 are in use"])
        self.shows(["run", "k.ptx", "--memory", "16777216T", "-a", "u32[4]"], 2, err=["--memory '16777216T': this is too large, or negative"])
        self.shows(["run", "k.ptx", "--memory", "1M", "-a", "u32[2T]"], 6, err=["8796093022208 bytes of device memory"])


if __name__ == "__main__":
    cli.main()
