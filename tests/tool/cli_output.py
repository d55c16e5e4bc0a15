#!/usr/bin/env python3
"""Outputs that fail: a full disk, closed streams, a limit of file sizes. Each is an error, and leaves the files as they were."""

import os
import pathlib
import resource
import signal
import stat
import subprocess
import threading

import cli

EVERYTHING = ["--help", "--version", "version", "run --help", "help run", "check --usage", "isa", "isa --tsv", "isa --language pto", "explain shf",
              "explain LW5000", "explain pto.vshr", "dump -s tokens k.ptx", "dump -s module k.ptx", "dump -s program k.ptx", "format k.ptx", "format f.pto",
              "draw shfl.down.b32 --b 2", "check --format json k.ptx", "check --format sarif k.ptx", "check --list k.ptx", "check --cost a2a3 f.pto",
              "eval add.u32 1 2", "lut a&b", "cpu", "cpu --brief", "run k.ptx -a u32[4]:print", "run k.ptx -a u32[4]:out=-", "run f.pto -a s32[4]=range",
              "equiv f.pto:f f.pto:f"]


class Outputs(cli.Case):
    def setUp(self):
        super().setUp()
        self.file("k.ptx", cli.module(cli.kernel("k", ".u64 p")))
        self.file("f.pto", "func.func @f(%a: !pto.vreg<4xi32>) -> !pto.vreg<4xi32> {\n  return %a : !pto.vreg<4xi32>\n}\n")

    def ends(self, args, **streams):
        environment = {k: v for k, v in os.environ.items() if k not in cli.DROPPED}
        given = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | streams
        done = subprocess.run([self.tool, *args], cwd=self.folder, env=environment, text=True, timeout=120, stdin=subprocess.DEVNULL, **given)
        return done.returncode, done.stderr

    def test_full_disk(self):
        with open("/dev/full", "w") as full:
            for args in EVERYTHING:
                code, err = self.ends(args.split(), stdout=full)
                self.assertEqual(code, 5, args)
                self.assertIn("error[LW6001]: cannot write '-'", err, args)

    def test_closed_output(self):
        for args in EVERYTHING:
            code, err = self.ends(args.split(), preexec_fn=lambda: os.close(1))
            self.assertEqual(code, 5, args)
            self.assertIn("error[LW6001]: cannot write '-'", err, args)
        for args in ("check k.ptx", "run k.ptx -a u32[4]:out=a.bin", "format k.ptx -o b.ptx"): # these print nothing
            self.assertEqual(self.ends(args.split(), preexec_fn=lambda: os.close(1))[0], 0, args)

    def test_nothing_is_printed_into_files(self):
        """A file that is opened gets the lowest number that is free, which is that of a closed stream."""
        for closed in ((0,), (1,), (2,), (0, 1, 2)):
            self.ends(["run", "k.ptx", "-a", "u32[4]=1:print:out=a.bin:print", "--stats"], preexec_fn=lambda: [os.close(fd) for fd in closed])
            self.assertEqual((self.folder / "a.bin").read_bytes(), b"\1\0\0\0" * 4, closed)
            self.assertIn(".version 7.0", (self.folder / "k.ptx").read_text())
            (self.folder / "a.bin").unlink()

    def test_full_disk_behind_standard_error(self):
        with open("/dev/full", "w") as full:
            for args in ("run k.ptx -a u32[4] --stats", "run k.ptx -a u32[4] --stats=json", "check k.ptx", "run f.pto -a s32[4]=range --cost a2a3"):
                self.assertEqual(self.ends(args.split(), stderr=full)[0], 5, args)
            self.assertEqual(self.ends(["check", "missing.ptx"], stderr=full)[0], 5)
            self.assertEqual(self.ends(["run", "k.ptx", "--bogus"], stderr=full)[0], 2) # which it is in any case

    def limited(self, *args):
        """With files of 4096 bytes at most."""
        return self.ends(args, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096)))

    def test_failed_write_leaves_all_as_it_was(self):
        large = "u32[64K]=1:out="
        before = sorted(os.listdir(self.folder))
        code, err = self.limited("run", "k.ptx", "-a", large + "new.bin")
        self.assertEqual((code, err), (5, "lanewise: error[LW6001]: cannot write 'new.bin': File too large\n"))
        self.assertEqual(sorted(os.listdir(self.folder)), before)
        self.file("old.bin", "what was there")
        os.symlink("old.bin", self.folder / "link.bin")
        os.symlink("nowhere.bin", self.folder / "nowhere")
        os.link(self.folder / "old.bin", self.folder / "other.bin")
        before = sorted(os.listdir(self.folder))
        for name in ("old.bin", "link.bin", "nowhere", "other.bin", "new.npy"):
            self.assertEqual(self.limited("run", "k.ptx", "-a", large + name)[0], 5, name)
            self.assertEqual(sorted(os.listdir(self.folder)), before, name)
            self.assertEqual((self.folder / "old.bin").read_text(), "what was there", name)
        many = ".visible .entry k() { " + "bar.sync 0; " * 2000 + "ret; }\n"
        self.file("long.ptx", cli.HEADER + many)
        for args in (["format", "-i", "long.ptx"], ["format", "long.ptx", "-o", "old.bin"], ["draw", "shfl.down.b32", "--b", "2", "-o", "old.bin"]):
            self.assertEqual(self.limited(*args)[0], 5, args)
            self.assertEqual((self.folder / "long.ptx").read_text(), cli.HEADER + many)
            self.assertEqual((self.folder / "old.bin").read_text(), "what was there", args)

    def test_links_stay(self):
        self.file("old.bin", "what was there")
        os.symlink("old.bin", self.folder / "link.bin")
        os.symlink("made.bin", self.folder / "nowhere")
        for name, made in (("link.bin", "old.bin"), ("nowhere", "made.bin")):
            self.gives(["run", "k.ptx", "-a", f"u32[2]=7:out={name}"])
            self.assertTrue((self.folder / name).is_symlink())
            self.assertEqual((self.folder / made).read_bytes(), b"\7\0\0\0" * 2)

    def test_modes(self):
        """A new file is as the mask says, an old one as it was."""
        self.ends(["run", "k.ptx", "-a", "u32[1]:out=new.bin"], preexec_fn=lambda: os.umask(0o027))
        self.assertEqual(stat.S_IMODE(os.stat(self.folder / "new.bin").st_mode), 0o640)
        os.chmod(self.folder / "new.bin", 0o604)
        self.gives(["run", "k.ptx", "-a", "u32[2]:out=new.bin"])
        self.assertEqual(stat.S_IMODE(os.stat(self.folder / "new.bin").st_mode), 0o604)

    def test_no_files(self):
        """Devices, pipes and standard output under another name take what is written, and stay."""
        self.gives(["run", "k.ptx", "-a", "u32[2]=1:out=/dev/null"])
        self.assertTrue(stat.S_ISCHR(os.stat("/dev/null").st_mode))
        os.mkfifo(self.folder / "pipe")
        got = []
        reader = threading.Thread(target=lambda: got.append((self.folder / "pipe").read_bytes()))
        reader.start()
        self.gives(["run", "k.ptx", "-a", "u32[2]=1:out=pipe"])
        reader.join()
        self.assertEqual(got, [b"\1\0\0\0" * 2])
        with open(self.folder / "all.txt", "w+b") as out:
            self.assertEqual(self.ends(["run", "k.ptx", "-a", "u32[1]=65:print:out=/dev/stdout:print"], stdout=out), (0, ""))
            out.seek(0)
            self.assertEqual(out.read(), b"arg 0 u32[1]: 65\nA\0\0\0arg 0 u32[1]: 65\n")
        self.shows(["run", "k.ptx", "-a", "u32[2]:out=."], 5, err=["cannot write '.': Is a directory"])
        self.shows(["run", "k.ptx", "-a", "u32[2]:out=no/file"], 5, err=["cannot write 'no/file': No such file or directory"])

    def test_folder_that_takes_no_file(self):
        """A file that may be written in a folder that may not: it is written where it is, if there is room for all of it."""
        if os.geteuid():
            self.skipTest("only root can become somebody else")
        os.chmod(self.folder, 0o755)
        path = pathlib.Path(self.file("theirs.bin", "what was there"))
        os.chown(self.folder / path, 65534, 65534)
        try:
            subprocess.run([self.tool, "version"], user=65534, check=True, stdout=subprocess.DEVNULL)
        except (PermissionError, subprocess.CalledProcessError):
            self.skipTest("the build cannot be reached by others")
        self.assertEqual(self.ends(["run", "k.ptx", "-a", "u32[2]=7:out=theirs.bin"], user=65534), (0, ""))
        self.assertEqual((self.folder / path).read_bytes(), b"\7\0\0\0" * 2)
        limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
        self.assertEqual(self.ends(["run", "k.ptx", "-a", "u32[64K]=1:out=theirs.bin"], user=65534, preexec_fn=limit)[0], 5)
        self.assertEqual((self.folder / path).read_bytes(), b"\7\0\0\0" * 2)
        self.assertEqual(self.ends(["run", "k.ptx", "-a", "u32[2]=7:out=new.bin"], user=65534)[0], 5)
        os.chown(self.folder / path, 0, 0)
        self.assertEqual(self.ends(["run", "k.ptx", "-a", "u32[2]=9:out=theirs.bin"], user=65534)[0], 5)

    def test_programs_get_their_signals(self):
        """What the tool ignores for itself is not ignored in programs that it runs."""
        script = "import signal; print(signal.getsignal(signal.SIGXFSZ) == signal.SIG_DFL)"
        import sys
        code, out, _ = self.lanewise("exec", "--", sys.executable, "-c", script)
        if code == 5:
            self.skipTest("no driver is built")
        # Python ignores SIGXFSZ by itself: ask the kernel instead.
        code, out, _ = self.lanewise("exec", "--", "sh", "-c", "grep SigIgn /proc/self/status")
        self.assertEqual(int(out.split()[1], 16) >> (signal.SIGXFSZ - 1) & 1, 0)


if __name__ == "__main__":
    cli.main()
