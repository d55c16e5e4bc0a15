"""What the tests of the command line share. A script cli_NAME.py BUILD_DIR tests one part of it."""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
# What would change outputs where it is set.
DROPPED = ("NO_COLOR", "ARGP_HELP_FMT", "COLUMNS", "LANEWISE_CPU", "LANEWISE_ENGINE", "LANEWISE_HOT", "LANEWISE_THREADS", "LANEWISE_SEMANTICS",
           "LANEWISE_SYMBOLS")
FEW = "LW_TEST_FEW" in os.environ # another build has all of what these tests try
HEADER = ".version 7.0\n.target sm_70\n.address_size 64\n"


def kernel(name, *params, body="ret;", directives=""):
    """A kernel with the given parameters: ".u64 p"."""
    declared = ", ".join(f".param {p}" for p in params)
    return f".visible .entry {name}({declared}) {directives}\n{{\n    {body}\n}}\n"


def has_sanitizer(build):
    cache = pathlib.Path(build) / "CMakeCache.txt"
    return any(line.startswith("LANEWISE_SANITIZE:") and line.strip().partition("=")[2] for line in cache.read_text().splitlines())


def module(*kernels):
    return HEADER + "\n".join(kernels)


class Case(unittest.TestCase):
    """Each test has a folder of its own, which is the working folder of the commands it runs."""

    tool = None

    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)

    def file(self, name, content):
        path = self.folder / name
        if isinstance(content, str):
            path.write_text(content)
        else:
            path.write_bytes(content)
        return name

    def lanewise(self, *args, stdin="", env=None):
        """Exit code, standard output and standard error."""
        environment = {k: v for k, v in os.environ.items() if k not in DROPPED}
        environment.update(env or {})
        done = subprocess.run([self.tool, *args], cwd=self.folder, env=environment, capture_output=True,
                              input=stdin.encode(), timeout=120)
        return done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")

    def mapped(self, *args, env):
        """As `lanewise`, and the rows that perf would read of that process: (address, size, name), or None. What an earlier
        process of the same number left there is gone."""
        environment = {k: v for k, v in os.environ.items() if k not in DROPPED} | env
        process = subprocess.Popen(["sh", "-c", 'rm -f /tmp/perf-$$.map; exec "$@"', "sh", self.tool, *args], cwd=self.folder,
                                   env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        out, err = process.communicate(timeout=120)
        path = pathlib.Path(f"/tmp/perf-{process.pid}.map")
        self.addCleanup(path.unlink, missing_ok=True)
        lines = path.read_text().splitlines() if path.exists() else None
        rows = lines and [re.fullmatch(r"([0-9a-f]+) ([0-9a-f]+) (\S+)", line).groups() for line in lines]
        return process.returncode, out, err, rows

    def gives(self, args, code=0, out="", err="", **more):
        """The command ends in exactly this way."""
        got = self.lanewise(*args, **more)
        self.assertEqual(got, (code, out, err), f"lanewise {' '.join(args)}")

    def shows(self, args, code=0, out=(), err=(), **more):
        """The command ends with this code, and its outputs contain these texts."""
        got = self.lanewise(*args, **more)
        self.assertEqual(got[0], code, f"lanewise {' '.join(args)}: {got}")
        for text in out:
            self.assertIn(text, got[1], f"lanewise {' '.join(args)}")
        for text in err:
            self.assertIn(text, got[2], f"lanewise {' '.join(args)}")
        return got


    def has_sanitizer(self):
        return has_sanitizer(pathlib.Path(self.tool).parents[1])

    def preload(self, name):
        """The environment that puts a library of the tests in front."""
        library = pathlib.Path(self.tool).parents[1] / "lib" / "tests" / f"{name}.so"
        if not library.exists():
            self.skipTest(f"{name}.so is not built: the build has a sanitizer")
        return {"LD_PRELOAD": str(library)}


def main():
    if len(sys.argv) < 2:
        raise SystemExit(f"usage: {sys.argv[0]} BUILD_DIR [TEST…]")
    Case.tool = str(pathlib.Path(sys.argv.pop(1)).resolve() / "bin" / "lanewise")
    unittest.main()
