#!/usr/bin/env python3
"""Where the compiler is looked for, what is said where it cannot be opened, and --timeout, which counts what it does."""

import json
import os
import pathlib
import random
import resource
import shutil
import subprocess
import sys

import cli


def large():
    """A kernel that takes LLVM many seconds."""
    pick = random.Random(1)
    lines = [f"add.u32 %r{i}, %r{i - 1}, {i};" for i in range(1, 64)]
    for i in range(7000):
        a, b, c = (pick.randrange(64) for _ in range(3))
        branch = not i % 16
        lines.append(f"setp.lt.u32 %q, %r{a}, %r{b}; @%q bra L{i};" if branch else "")
        lines.append(f"mad.lo.u32 %r{a}, %r{b}, %r{c}, {pick.randrange(1 << 31)};")
        lines.append(f"L{i}:" if branch else "")
    return cli.module(cli.kernel("k", ".u64 p", body=".reg .b32 %r<64>; .reg .b64 %d; .reg .pred %q; ld.param.u64 %d, [p]; mov.u32 %r0, %tid.x;\n" +
                                 "\n".join(lines) + "\nst.global.u32 [%d], %r5; ret;"))


class Engine(cli.Case):
    def setUp(self):
        super().setUp()
        self.build = pathlib.Path(self.tool).parents[1]
        self.library = self.build / "lib" / "lanewise" / "jit.so"
        if not self.library.exists():
            self.skipTest("the compiler is not built")
        self.file("k.ptx", cli.module(cli.kernel("k", ".u64 p")))

    def run_by(self, name, *args, folder=None, **environment):
        """The tool under the name that a caller gives it."""
        env = {k: v for k, v in os.environ.items() if k not in cli.DROPPED} | environment
        done = subprocess.run([name, *args], cwd=folder or self.folder, env=env, capture_output=True, text=True, timeout=120)
        return done.returncode, done.stdout + done.stderr

    def plant(self, folder):
        """A jit.so that leaves a trace when somebody opens it."""
        source = self.folder / "planted.c"
        source.write_text('#include <fcntl.h>\n__attribute__((constructor)) static void run(void) { open("%s", O_CREAT | O_WRONLY, 0666); }\n'
                          % (self.folder / "trace"))
        folder.mkdir(parents=True, exist_ok=True)
        compiler = shutil.which("cc")
        if not compiler:
            self.skipTest("no compiler makes the library that must not be opened")
        subprocess.run([compiler, "-shared", "-fPIC", str(source), "-o", str(folder / "jit.so")], check=True)

    def untouched(self, got, code=0):
        self.assertFalse((self.folder / "trace").exists(), got)
        self.assertEqual(got[0], code, got)

    def test_place(self):
        """By whatever name the tool is called, it is the library beside its own file, and nothing in the current folder."""
        arguments = ["run", "k.ptx", "--engine", "jit", "-a", "u32[1]"]
        for place in ("lanewise", "lib/lanewise", ".", "bin/../lib/lanewise"):
            self.plant(self.folder / place)
        self.plant(self.folder.parent / (self.folder.name + "_") / "lanewise")
        self.addCleanup(shutil.rmtree, self.folder.parent / (self.folder.name + "_"))
        self.untouched(self.run_by("lanewise", *arguments, PATH=f"{self.build}/bin:{os.environ['PATH']}"))
        self.untouched(self.run_by(self.tool, *arguments))
        self.untouched(self.run_by(os.path.relpath(self.tool, self.folder), *arguments))
        os.symlink(self.tool, self.folder / "linked")
        self.untouched(self.run_by("./linked", *arguments))
        self.untouched(self.run_by("linked", *arguments, PATH=f".:{os.environ['PATH']}"))
        # And by a name that is not its own at all.
        env = {k: v for k, v in os.environ.items() if k not in cli.DROPPED}
        done = subprocess.run(["lanewise", *arguments], executable=self.tool, cwd=self.folder, env=env, capture_output=True, text=True, timeout=120)
        self.untouched((done.returncode, done.stderr))
        self.assertIn("jit       available", self.run_by("linked", "cpu", PATH=f".:{os.environ['PATH']}")[1])

    def test_library(self):
        """A program that has the library from a relative path, and then goes elsewhere."""
        library = next((self.build / "lib" / "cuda").glob("libcuda.so.1"))
        self.plant(self.folder / "elsewhere" / "lanewise")
        self.plant(self.folder / "lanewise")
        script = ("import ctypes, os, sys\nlib = ctypes.CDLL(sys.argv[1])\nos.chdir('elsewhere')\nassert lib.cuInit(0) == 0\n")
        name = os.path.relpath(library, self.folder)
        if self.has_sanitizer():
            self.skipTest("Python cannot load a library with a sanitizer")
        self.untouched(self.run_by(sys.executable, "-c", script, name, LANEWISE_ENGINE="jit", LANEWISE_CPU="portable"))

    def copy(self, jit):
        """A copy of the tool with what `jit` gives for a compiler."""
        (self.folder / "bin").mkdir()
        (self.folder / "lib" / "lanewise").mkdir(parents=True)
        shutil.copy(self.tool, self.folder / "bin" / "lanewise")
        if jit:
            (self.folder / "lib" / "lanewise" / "jit.so").write_bytes(jit)
        return str(self.folder / "bin" / "lanewise")

    def test_why(self):
        """It is said as the loader said it."""
        tool = self.copy(b"\x7fELF, or so it seems")
        for args in (["run", "k.ptx", "--engine", "jit", "-a", "u32[1]"], ["dump", "-s", "llvm", "k.ptx"]):
            code, text = self.run_by(tool, *args)
            self.assertEqual(code, 6, text)
            self.assertRegex(text, r"error\[LW6006\]: the engine 'jit' is not there: .*lib/lanewise/jit\.so: (file too short|invalid ELF header)")
        self.assertIn("jit       missing: /", self.run_by(tool, "cpu")[1])
        # A library that it needs is not there.
        (self.folder / "lib" / "lanewise" / "jit.so").write_bytes(self.library.read_bytes().replace(b"libLLVM", b"libLLVX"))
        code, text = self.run_by(tool, "run", "k.ptx", "--engine", "jit", "-a", "u32[1]")
        self.assertEqual(code, 6, text)
        self.assertRegex(text, r"is not there: libLLVX[\w.+-]*: cannot open shared object file: No such file or directory")

    def test_another_version(self):
        self.plant(self.folder / "lib" / "lanewise")
        made = (self.folder / "lib" / "lanewise" / "jit.so").read_bytes()
        shutil.rmtree(self.folder / "lib")
        code, text = self.run_by(self.copy(made), "run", "k.ptx", "--engine", "jit", "-a", "u32[1]")
        self.assertEqual(code, 6, text)
        self.assertIn("jit.so is of another version of Lanewise", text)

    def test_missing(self):
        tool = self.copy(None)
        code, text = self.run_by(tool, "run", "k.ptx", "--engine", "jit", "-a", "u32[1]")
        self.assertEqual(code, 6, text)
        self.assertIn(f"its file lanewise/jit.so is missing beside '{os.path.realpath(self.folder)}/bin'", text)

    def test_timeout_counts_compiling(self):
        self.file("large.ptx", large())
        self.gives(["run", "large.ptx", "--engine", "jit", "--timeout", "0.25", "-a", "u32[1]:out=a.bin"], 4,
                   err="lanewise: error[LW6028]: kernel 'k' was stopped: the time limit of 0.25 s is over\n")
        self.assertFalse((self.folder / "a.bin").exists())
        self.shows(["run", "k.ptx", "--engine", "jit", "--timeout", "100", "-a", "u32[1]:print"], out=["arg 0 u32[1]: 0\n"])

    def test_no_memory(self):
        """Where LLVM gets none it ends the process: with the code for that, and a word."""
        if self.has_sanitizer():
            self.skipTest("a sanitizer takes all address space")
        self.file("large.ptx", large())
        env = {k: v for k, v in os.environ.items() if k not in cli.DROPPED}
        codes = set()
        for megabytes in (60, 120, 180, 240, 300):
            limit = megabytes << 20
            done = subprocess.run([self.tool, "run", "large.ptx", "--engine", "jit", "--timeout", "2", "--threads", "1", "-a", "u32[1]"], cwd=self.folder, env=env,
                                  capture_output=True, text=True, timeout=120, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))
            self.assertIn(done.returncode, (0, 4, 6), done)
            self.assertEqual("error[LW" in done.stderr, done.returncode != 0, done)
            codes.add(done.returncode)
        self.assertIn(6, codes)

    def run_steps(self, tool, engine=None, limit=None, lines=4):
        """A launch of 64 CTAs that each do so many lines 20 times: what it prints and says of engines. Compiled first, where it can be."""
        body = (".reg .u32 %i, %j, %t; .reg .u64 %p, %o; .reg .pred %q; ld.param.u64 %p, [p]; mov.u32 %i, %ctaid.x; mov.u32 %j, 0; mov.u32 %t, %i;\n"
                "L:\n" + lines * "mad.lo.u32 %t, %t, 1664525, 1013904223;\n" + "add.u32 %j, %j, 1; setp.lt.u32 %q, %j, 20; @%q bra L;\n"
                "mul.wide.u32 %o, %i, 4; add.u64 %p, %p, %o; st.global.u32 [%p], %t; ret;")
        self.file("steps.ptx", cli.module(cli.kernel("k", ".u64 p", body=body)))
        wanted = []
        for value in range(64):
            for _ in range(20 * lines):
                value = (value * 1664525 + 1013904223) % 2 ** 32
            wanted.append(str(value))
        env = {k: v for k, v in os.environ.items() if k not in cli.DROPPED} | {"LANEWISE_HOT": "1" if lines > 100 else "0"}
        done = subprocess.run([tool, "run", "steps.ptx", "-g", "64", "-a", "u32[64]:print", "--threads", "1", "--stats=json"] + (["--engine", engine] if engine else []),
                              cwd=self.folder, env=env, capture_output=True, text=True, timeout=120,
                              preexec_fn=lambda: limit and resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))
        if done.returncode == 0:
            self.assertEqual(done.stdout, f"arg 0 u32[64]: {' '.join(wanted)}\n")
        return done.returncode, json.loads(done.stderr)["engines"] if done.returncode == 0 else done.stderr

    def test_auto(self):
        self.assertEqual(self.run_steps(self.tool), (0, {"interp_ctas": 0, "jit_ctas": 64, "why": "", "cached": False}))
        self.assertEqual(self.run_steps(self.tool, "jit"), (0, {"interp_ctas": 0, "jit_ctas": 64, "why": "", "cached": False}))
        self.assertEqual(self.run_steps(self.tool, "interp"), (0, {"interp_ctas": 64, "jit_ctas": 0, "why": "", "cached": False}))

    def test_auto_without_compiler(self):
        self.assertEqual(self.run_steps(self.copy(None)), (0, {"interp_ctas": 64, "jit_ctas": 0, "why": "the compiler is not there: the engine jit says why", "cached": False}))

    def test_auto_with_a_broken_compiler(self):
        self.assertEqual(self.run_steps(self.copy(b"\x7fELF, or so it seems"))[1]["interp_ctas"], 64)

    def test_auto_starved(self):
        """Wherever the interpreter has enough memory, auto gives its results."""
        if self.has_sanitizer():
            self.skipTest("a sanitizer takes all address space")
        compiled = set()
        for megabytes in (60, 100, 180, 260, 340, 420, 600):
            codes = [self.run_steps(self.tool, engine, megabytes << 20) for engine in ("interp", "auto")]
            self.assertEqual(codes[0][0], codes[1][0], codes)
            if codes[1][0] == 0:
                compiled.add(codes[1][1]["why"])
        self.assertIn("there was no memory to compile it", compiled)

    def test_auto_ends_while_compiling(self):
        """The launch is over long before LLVM is: nobody waits, and all that was printed is there."""
        code, by = self.run_steps(self.tool, lines=3000)
        self.assertEqual(code, 0, by)
        self.assertEqual(by["interp_ctas"] + by["jit_ctas"], 64)

    def test_timeout_of_both(self):
        """What is left of the time is the kernel's; the message names all of it."""
        self.file("spin.ptx", cli.module(cli.kernel("k", body="again: bra again;")))
        for engine in ("interp", "jit", "auto"):
            self.shows(["run", "spin.ptx", "--engine", engine, "--timeout", "1.5", "--stats"], 4,
                       err=["lanewise: error[LW6028]: kernel 'k' was stopped: the time limit of 1.5 s is over\n", f"engine         {engine}"])

    def test_traps(self):
        """Whose code it was does not show: the kernel's own is its own in any copy of it."""
        self.file("trap.ptx", cli.module(cli.kernel("k", body=".reg .b64 %a; .reg .b32 %v; mov.b64 %a, 8; ld.global.u32 %v, [%a];")))
        for engine in ("interp", "jit", "auto"):
            self.shows(["run", "trap.ptx", "--engine", engine], 3, err=["       = kernel 'k', CTA (0,0,0), thread (0,0,0): warp 0, lane 0\n"], env={**os.environ, "LANEWISE_HOT": "0"})


if __name__ == "__main__":
    cli.main()
