#!/usr/bin/env python3
"""Tests what tests: that run_files.py and tree.py fail where they must. A stand-in plays `lanewise`."""

import contextlib
import io
import pathlib
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.dont_write_bytecode = True
sys.path[:0] = [str(HERE), str(HERE.parent)]
import run_files
import tree

STAND_IN = r"""#!/bin/sh
# Answers as the first line of the PTX file says: "//stand-in CODE|STDOUT|STDERR".
command=$1
for word; do case $word in *.ptx | -) file=$word ;; esac done
if [ "$command" = format ]; then
    text=$(cat "$file")
    printf '%s\n' "$text"
    case $text in *unstable*) echo grows ;; esac
    exit 0
fi
line=$(head -n 1 "$file")
rest=${line#* }
code=${rest%%|*} rest=${rest#*|}
printf '%b' "${rest%%|*}"
printf '%b' "${rest#*|}" | sed "s#FILE#$file#" >&2
exit "$code"
"""


def call(module, *arguments):
    """Exit code and output of a script's main(), in this process."""
    shown, before = io.StringIO(), sys.argv
    sys.argv = [module.__name__, *(str(argument) for argument in arguments)]
    try:
        with contextlib.redirect_stdout(shown), contextlib.redirect_stderr(shown):
            code = module.main()
    except SystemExit as exit:
        code = exit.code if isinstance(exit.code, int) else print(exit.code, file=shown) or 1
    finally:
        sys.argv = before
    return code, shown.getvalue()


class RunFiles(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)
        self.tool = self.folder / "stand-in"
        self.tool.write_text(STAND_IN)
        self.tool.chmod(0o755)

    def result(self, name, text, *options):
        path = self.folder / name
        path.write_text(text)
        return call(run_files, "--lanewise", self.tool, *options, path)

    def passes(self, name, text):
        code, shown = self.result(name, text)
        self.assertEqual(code, 0, shown)

    def fails(self, name, text, why):
        code, shown = self.result(name, text)
        self.assertNotEqual(code, 0)
        self.assertIn(why, shown)

    def test_output(self):
        self.passes("run_a.ptx", "//stand-in 0|1 2\\n|\n// run: --grid 1\n// out: 1 2\n")
        self.fails("run_a.ptx", "//stand-in 0|1 2\\n|\n// run: --grid 1\n// out: 1 3\n", "+// out: 1 2")
        self.fails("run_a.ptx", "//stand-in 0|1 2\\n3\\n|\n// run: --grid 1\n// out: 1 2\n", "+// out: 3")
        self.fails("run_a.ptx", "//stand-in 0|1 2\\n|\n// run: --grid 1\n", "+// out: 1 2")

    def test_two_runs(self):
        self.passes("run_a.ptx", "//stand-in 0|1\\n|\n// run: a\n// run: b\n// out: 1\n// out: 1\n")
        self.fails("run_a.ptx", "//stand-in 0|1\\n|\n// run: a\n// run: b\n// out: 1\n", "+// out: 1")

    def test_a_run_that_shows_nothing_cannot_fail(self):
        self.fails("run_a.ptx", "//stand-in 0||\n// run: a\n", "cannot fail")
        self.fails("run_a.ptx", "//stand-in 0|1\\n|\n", "needs `// run:`")

    def test_trap(self):
        trap = "//stand-in 3||FILE:7:5: error[LW5000]: read\\n\n// run: a\n"
        self.passes("run_a.ptx", trap + "// trap: LW5000 7\n")
        self.fails("run_a.ptx", trap + "// trap: LW5000 8\n", "+// trap: LW5000 7")
        self.fails("run_a.ptx", trap + "// trap: LW5001 7\n", "+// trap: LW5000 7")

    def test_exit_code(self):
        self.passes("run_a.ptx", "//stand-in 2||error[LW6003]: no\\n\n// run: a\n// exit: 2 LW6003\n")
        self.fails("run_a.ptx", "//stand-in 4||error[LW6003]: no\\n\n// run: a\n// exit: 2 LW6003\n", "+// exit: 4 LW6003")

    def test_signal(self):
        self.fails("run_a.ptx", "//stand-in 1||ERROR: AddressSanitizer: x\n// run: a\n// exit: 1\n", "sanitizer")

    def test_reject(self):
        wrong = "//stand-in 1||FILE:3:9: error[LW2107]: bad\\n"
        self.passes("reject_a.ptx", wrong + "\n// expect: 3:9 LW2107\n")
        self.fails("reject_a.ptx", wrong + "\n// expect: 3:8 LW2107\n", "+// expect: 3:9 LW2107")
        self.fails("reject_a.ptx", wrong + "\n", "+// expect: 3:9 LW2107")
        self.fails("reject_a.ptx", "//stand-in 0||\n", "has no errors")
        self.fails("reject_a.ptx", wrong.replace("-in 1", "-in 0") + "\n// expect: 3:9 LW2107\n", "exits with 0")

    def test_accept_prefix(self):
        self.passes("accept_a.ptx", "//stand-in 0||\n")
        self.fails("accept_a.ptx", "//stand-in 0||FILE:3:9: warning[LW2200]: old\\n\n", "+// expect: 3:9 LW2200 warning")
        self.fails("accept_a.ptx", "//stand-in 1||FILE:3:9: error[LW2107]: bad\\n\n", "has errors")
        self.fails("accept_a.ptx", "//stand-in 0||\n// unstable\n", "formatting twice")

    def test_unknown_prefix(self):
        self.fails("other_a.ptx", "//stand-in 0||\n", "a name begins with")

    def test_accept_option(self):
        before = "//stand-in 0|5\\n|\n// run: a\n.version 7.0\n// out: 4\n"
        code, shown = self.result("run_a.ptx", before, "--accept")
        self.assertEqual(code, 0, shown)
        self.assertEqual((self.folder / "run_a.ptx").read_text(), before.replace("out: 4", "out: 5"))


class Tree(unittest.TestCase):
    def faults(self, check, **files):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in files.items():
                path = pathlib.Path(folder, name.replace("__", "/") + ".c")
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            return call(tree, check, folder)

    def faults_in(self, check, files):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in files.items():
                path = pathlib.Path(folder, name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            return call(tree, check, folder)

    def test_names(self):
        files = {"src/base/a.c": "", "isa/ptx/b.def": "", "tests/ptx/shift/run_x.ptx": "", "docs/more.md": "nothing\n"}
        good = "`src/base/a.c`, `base/a.c`, a.c, `isa/ptx/*.def`, `isa/ptx`, tests/ptx/FAMILY/run_NAME.ptx, [more](more.md#part), k.ptx, https://docs.nvidia.com/x.c\n"
        self.assertEqual(self.faults_in("names", files | {"docs/a.md": good}), (0, "names: as it must be\n"))
        for wrong in ("`src/base/b.c`", "c.def", "isa/pto", "[more](less.md)", "tests/ptx/FAMILY/reject_NAME.ptx", "`middle/spin.c`"):
            code, shown = self.faults_in("names", files | {"docs/a.md": good + wrong + "\n"})
            self.assertEqual((code, shown.count("there is no")), (1, 1), shown)
            self.assertIn("docs/a.md:2: ", shown)
        self.assertEqual(self.faults_in("names", {"docs/a.md": "no name\n"})[0], 1)

    def test_apart(self):
        files = {"src/run/a.c": "", "src/middle/program.h": "", "src/middle/pto.c": "", "src/middle/ptx.c": "", "src/front/pto/lex.c": "", "src/front/ptx/lex.c": "",
                 "src/session/environment.c": 'getenv("X");\n'}
        self.assertEqual(self.faults_in("apart", files), (0, "apart: as it must be\n"))
        for name, line in (("src/run/a.c", '#include "front/ptx/ptx.h"'), ("src/middle/program.h", "struct lw_pto_module;"), ("src/middle/pto.c", '#include "front/ptx/ptx.h"'),
                           ("src/front/pto/lex.c", '#include "front/ptx/ptx.h"'), ("src/front/ptx/lex.c", '#include "front/pto/pto.h"'), ("src/run/a.c", 'getenv("Y");')):
            code, shown = self.faults_in("apart", files | {name: line + "\n"})
            self.assertEqual((code, name in shown), (1, True), shown)
        self.assertEqual(self.faults_in("apart", {"src/run/a.c": ""})[0], 1)

    def test_words(self):
        files = {"src/front/ptx/forms.c": "if (!strcmp(w->words[0]->text, name)) return;\n", "src/middle/data.c": "return i->match->mode.sat;\n"}
        self.assertEqual(self.faults_in("words", files), (0, "words: as it must be\n"))
        for name, line in (("src/middle/data.c", 'if (!strcmp(i->words[w]->text, "sat")) return;'), ("src/front/ptx/verify.c", 'x = strncmp(m->form->pattern, "cp.", 3);'),
                           ("src/tool/draw.c", 'c = !strcmp(match->group[1], "up");'), ("src/session/ptx.c", "if (strcmp(directive->name->text, name)) continue;"),
                           ("src/run/interp/atomic.c", 'strstr(i->mnemonic->text, ".add")')):
            code, shown = self.faults_in("words", files | {name: line + "\n"})
            self.assertEqual((code, shown.count(f"{name}:1: ")), (1, 1), shown)
        self.assertEqual(self.faults_in("words", {"src/base/a.c": ""})[0], 1)

    def test_includes(self):
        base, run = "int base;\n", '#include "base/a.c"\n'
        self.assertEqual(self.faults("includes", src__base__a=base, src__run__b=run)[0], 0)
        for wrong in ({"src__base__a": '#include "run/b.c"\n', "src__run__b": run},
                      {"src__base__a": '#include "none.h"\n'},
                      {"src__tool__a": '#include "shim/b.c"\n', "src__shim__b": base},
                      {"include__a": '#include "base/b.c"\n', "src__base__b": base},
                      {"src__base__a": '#include "../../tests/b.c"\n', "tests__b": base}):
            code, shown = self.faults("includes", **wrong)
            self.assertEqual(code, 1, f"{wrong}: {shown}")

    def test_places(self):
        self.assertEqual(self.faults("places", a="see https://docs.nvidia.com/cuda, /tmp/x and a/home/b\n")[0], 0)
        for wrong in ("/ho" "me/me/x", "in /wo" "rk/main", "htt" "ps://packages.invalid/simple", "mirror.some.inter" "nal"):
            self.assertEqual(self.faults("places", a=wrong + "\n")[0], 1, wrong)

    def test_sizes(self):
        self.assertEqual(self.faults("sizes", src__base__a="\n" * 800)[0], 0)
        self.assertEqual(self.faults("sizes", src__base__a="\n" * 801)[0], 1)


if __name__ == "__main__":
    unittest.main()
