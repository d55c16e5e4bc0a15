#!/usr/bin/env python3
"""Compiled code on disk: where it is kept, what says so, what is done with broken files, and that nobody is held up by any of it."""

import json
import os
import pathlib
import shutil
import subprocess

import cli

KERNEL = cli.HEADER + """.visible .entry k(.param .u64 p)
{
    .reg .u32 %r<6>; .reg .u64 %rd<3>; .reg .pred %q;
    mov.u32 %r1, %tid.x; mov.u32 %r2, 0; mov.u32 %r3, %r1;
L:  mad.lo.u32 %r3, %r3, 1664525, 1013904223; add.u32 %r2, %r2, 1; setp.lt.u32 %q, %r2, 100;
    @%q bra L;
    ld.param.u64 %rd1, [p];
    mad.wide.u32 %rd2, %r1, 4, %rd1;
    st.global.u32 [%rd2], %r3;
    ret;
}
"""


def after(x, rounds=100):
    for _ in range(rounds):
        x = (x * 1664525 + 1013904223) % 2**32
    return x


WANT = "arg 0 u32[8]: " + " ".join(str(after(t)) for t in range(8)) + "\n"


class Cache(cli.Case):
    def setUp(self):
        super().setUp()
        if not (pathlib.Path(self.tool).parents[1] / "lib" / "lanewise" / "jit.so").exists():
            self.skipTest("the compiler is not built")
        self.kept = self.folder / "home" / ".cache" / "lanewise"
        self.kept.parents[1].mkdir()
        self.environment = {"LANEWISE_CACHE": "", "XDG_CACHE_HOME": "", "HOME": str(self.kept.parents[1])}
        self.file("k.ptx", KERNEL)

    def run_kernel(self, *args, cached, want=WANT, **environment):
        """The kernel gives what it must, by the engine jit, from the cache or not."""
        code, out, err = self.lanewise("run", "k.ptx", "-b", "8", "-a", "u32[8]:print", "--engine", "jit", "--stats=json", *args,
                                       env=self.environment | environment)
        self.assertEqual((code, out), (0, want), err)
        self.assertEqual(json.loads(err)["engines"]["cached"], cached, err)

    def files(self, folder=None):
        return sorted(path.name for path in (folder or self.kept).iterdir()) if (folder or self.kept).exists() else []

    def test_a_second_process_has_it(self):
        self.run_kernel(cached=False)
        self.assertEqual(len(self.files()), 1)
        self.assertRegex(self.files()[0], r"^[0-9a-f]{40}\.code$")
        self.run_kernel(cached=True)
        code, out, err = self.lanewise("run", "k.ptx", "-b", "8", "-a", "u32[8]", "--engine", "jit", "--stats", env=self.environment)
        self.assertIn("engine         jit; the code came from the cache\n", err)
        self.file("k.ptx", "// Another place.\n\n" + KERNEL)
        self.run_kernel(cached=True)
        self.file("k.ptx", KERNEL.replace("100", "101"))
        self.run_kernel(cached=False, want="arg 0 u32[8]: " + " ".join(str(after(t, 101)) for t in range(8)) + "\n")
        self.assertEqual(len(self.files()), 2)
        self.run_kernel("--cpu", "portable", cached=self.lanewise("cpu", "-b")[1].split()[0] == "portable", want="arg 0 u32[8]: " + " ".join(str(after(t, 101)) for t in range(8)) + "\n")

    def test_blocks_of_another_layout(self):
        """Code that counts on how threads lie in a warp is for such blocks."""
        self.file("k.ptx", KERNEL.replace("mov.u32 %r1, %tid.x;", "mov.u32 %r1, %tid.x; mov.u32 %r4, %tid.y; mov.u32 %r5, %ntid.x; mad.lo.u32 %r1, %r4, %r5, %r1;"))
        for x, y, is_new in ((64, 1, True), (16, 4, True), (4, 16, True), (20, 3, True), (5, 13, False)):
            block, threads = f"{x},{y}", x * y
            for cached in (not is_new, True): # of the last two nothing is known but that they are no rows
                code, out, err = self.lanewise("run", "k.ptx", "-b", block, "-a", f"u32[{threads}]:print", "--engine", "jit", "--stats=json", env=self.environment)
                self.assertEqual((code, out), (0, f"arg 0 u32[{threads}]: " + " ".join(str(after(t)) for t in range(threads)) + "\n"), err)
                self.assertEqual(json.loads(err)["engines"]["cached"], cached, block)

    def test_traps_have_their_places(self):
        """The code is an earlier text's; the places are this one's."""
        for lines in (0, 3):
            self.file("k.ptx", "\n" * lines + KERNEL)
            code, _, err = self.lanewise("run", "k.ptx", "-b", "8", "-a", "u64=16", "--engine", "jit", env=self.environment)
            self.assertEqual(code, 3, err)
            self.assertIn(f"k.ptx:{12 + lines}:", err)
        self.assertEqual(len(self.files()), 1)

    def test_where(self):
        other = self.folder / "elsewhere"
        for environment, folder in (({"LANEWISE_CACHE": str(other)}, other), ({"XDG_CACHE_HOME": str(other)}, other / "lanewise"),
                                    ({"XDG_CACHE_HOME": "relative"}, self.kept)):
            self.run_kernel(cached=False, **environment)
            self.assertEqual(len(self.files(folder)), 1)
            self.run_kernel(cached=True, **environment)
            self.shows(["cache"], out=[f"folder    {folder}\n", "limit     268435456 bytes\n", "kept      1 program, "], env=self.environment | environment)
            shutil.rmtree(folder)
        self.assertFalse((self.folder / "relative").exists())
        for environment in ({"LANEWISE_CACHE": "off"}, {"HOME": ""}, {"HOME": "relative"}, {"LANEWISE_CACHE": "/dev/null"},
                            {"LANEWISE_CACHE": "/proc/1/there"}, {"HOME": "/proc"}):
            for _ in range(2):
                self.run_kernel(cached=False, **environment)
        self.assertEqual(self.files(), [])

    def test_the_command(self):
        self.gives(["cache"], out=f"folder    {self.kept}\nlimit     65536 bytes\nkept      nothing: it is not there yet\n",
                   env=self.environment | {"LANEWISE_CACHE_SIZE": "64K"})
        self.run_kernel(cached=False)
        size = next(self.kept.iterdir()).stat().st_size
        self.shows(["cache"], out=[f"kept      1 program, {size} bytes\n"], env=self.environment)
        self.gives(["cache", "--clear"], out=f"folder    {self.kept}\nlimit     1073741824 bytes\nremoved   1 program, {size} bytes\n",
                   env=self.environment | {"LANEWISE_CACHE_SIZE": "1G"})
        self.assertEqual(self.files(), [])
        self.gives(["cache"], out="off\n", env=self.environment | {"LANEWISE_CACHE": "off"})
        self.gives(["cache"], out="off: neither XDG_CACHE_HOME nor HOME names a folder\n", env=self.environment | {"HOME": ""})
        os.chmod(self.kept, 0o777)
        self.shows(["cache"], out=["kept      nothing: others may write to it\n"], env=self.environment)
        self.kept.rmdir()
        self.kept.symlink_to(self.folder)
        self.shows(["cache"], out=["kept      nothing: it is no folder\n"], env=self.environment)
        self.shows(["cache", "now"], code=2, err=["cache takes no arguments"])

    def test_faults(self):
        for value in ("here", "./x", "OFF"):
            self.gives(["cache"], 2, env={"LANEWISE_CACHE": value},
                       err=f"lanewise: error[LW6003]: LANEWISE_CACHE '{value}': it must be a folder, from the root on, or off\n")
        for value in ("many", "-1", "1T", "1MB", "18446744073709551616", "18446744073709551615K", "M"):
            self.gives(["cache"], 2, env={"LANEWISE_CACHE_SIZE": value},
                       err=f"lanewise: error[LW6003]: LANEWISE_CACHE_SIZE '{value}': it must be a number of bytes, or one with K, M or G behind it\n")

    def test_a_limit(self):
        self.run_kernel(cached=False, LANEWISE_CACHE_SIZE="100")
        self.assertEqual(self.files(), [])
        self.run_kernel(cached=False)
        size = next(self.kept.iterdir()).stat().st_size
        self.file("k.ptx", KERNEL.replace("100", "50"))
        self.run_kernel(cached=False, LANEWISE_CACHE_SIZE=str(size + 100), want="arg 0 u32[8]: " + " ".join(str(after(t, 50)) for t in range(8)) + "\n")
        self.assertEqual(len(self.files()), 1)
        self.file("k.ptx", KERNEL)
        self.run_kernel(cached=False)

    def test_broken_files(self):
        self.run_kernel(cached=False)
        path = next(self.kept.iterdir())
        whole = path.read_bytes()
        for at in (0, 9, 45, len(whole) // 3, len(whole) // 2, len(whole) - 1):
            path.write_bytes(whole[:at] + bytes([whole[at] ^ 0x10]) + whole[at + 1:])
            self.run_kernel(cached=False)
            self.run_kernel(cached=True)
        for end in (0, 10, len(whole) // 2, len(whole) - 1):
            path.write_bytes(whole[:end])
            self.run_kernel(cached=False)
            self.run_kernel(cached=True)
        path.unlink()
        path.symlink_to(self.folder / "copy")
        (self.folder / "copy").write_bytes(whole)
        self.run_kernel(cached=False)
        self.assertEqual((self.folder / "copy").read_bytes(), whole)
        os.chmod(path, 0o622)
        self.run_kernel(cached=False)
        self.run_kernel(cached=True)

    def test_another_compiler(self):
        """Code of another build of the compiler is not run: the build's name is in the file, and counts."""
        self.run_kernel(cached=False)
        path = next(self.kept.iterdir())
        self.assertIn(b"LLVM ", path.read_bytes()[:200])
        copy = self.folder / "tree"
        tree = pathlib.Path(self.tool).parents[1]
        (copy / "bin").mkdir(parents=True)
        (copy / "lib" / "lanewise").mkdir(parents=True)
        shutil.copy(self.tool, copy / "bin")
        bytes_ = (tree / "lib" / "lanewise" / "jit.so").read_bytes()
        note = bytes_.index(b"GNU\0", bytes_.index(b"\x04\0\0\0\x14\0\0\0\x03\0\0\0")) + 4 # the linker's id
        (copy / "lib" / "lanewise" / "jit.so").write_bytes(bytes_[:note] + bytes([bytes_[note] ^ 1]) + bytes_[note + 1:])
        self.tool, tool = str(copy / "bin" / "lanewise"), self.tool
        self.run_kernel(cached=False)
        self.run_kernel(cached=True)
        self.tool = tool
        self.run_kernel(cached=False)

    def test_several_at_once(self):
        command = [self.tool, "run", "k.ptx", "-b", "8", "-a", "u32[8]:print", "--engine", "jit"]
        environment = {k: v for k, v in os.environ.items() if k not in cli.DROPPED} | self.environment
        both = [subprocess.Popen(command, cwd=self.folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(4)]
        for process in both:
            self.assertEqual((*process.communicate(timeout=120), process.returncode), (WANT, "", 0))
        self.assertEqual(len(self.files()), 1)
        self.run_kernel(cached=True)

    def test_what_is_printed_is_made_anew(self):
        self.run_kernel(cached=False)
        path = next(self.kept.iterdir())
        os.utime(path, (1, 1))
        first = self.lanewise("dump", "--stage", "asm", "k.ptx", env=self.environment)
        self.assertEqual((first, path.stat().st_mtime), (self.lanewise("dump", "--stage", "asm", "k.ptx"), 1))
        self.assertIn("lw.ops.0", first[1])

    def test_names(self):
        """perf is told of code that comes from the cache as of any other."""
        maps = []
        for cached in (False, True):
            _, out, err, rows = self.mapped("run", "k.ptx", "-b", "8", "-a", "u32[8]:print", "--engine", "jit", "--stats=json",
                                            env=self.environment | {"LANEWISE_SYMBOLS": "all"})
            self.assertEqual((out, json.loads(err)["engines"]["cached"]), (WANT, cached))
            maps.append({row[1:] for row in rows})
        self.assertEqual(maps[0], maps[1])
        self.assertIn("k", {name for _, name in maps[0]})

    def test_a_program_with_more_rights(self):
        if os.geteuid() or self.has_sanitizer():
            self.skipTest("needs root, and a program that starts with such rights")
        copy = self.folder / "bin" / "lanewise"
        copy.parent.mkdir()
        shutil.copy(self.tool, copy)
        os.chmod(copy, 0o4755)
        os.chmod(self.folder, 0o755)
        done = subprocess.run([copy, "cache"], env=os.environ | self.environment, capture_output=True, text=True, user=65534, group=65534)
        if "not there yet" in done.stdout and os.statvfs(self.folder).f_flag & os.ST_NOSUID:
            self.skipTest("files here give no rights")
        self.assertIn("kept      nothing: this process has rights that its user does not have\n", done.stdout)


if __name__ == "__main__":
    cli.main()
