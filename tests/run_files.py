#!/usr/bin/env python3
"""Runs the tests that are PTX and PTO files: run_*, reject_* and accept_*, with the suffix .ptx or .pto.

The first comment lines of a file are its orders, the last ones what must come of them:

    run_*.ptx     // run: --grid 2 --block 32 --arg u32[64]:print     arguments of `lanewise run`; several such lines run in turn
                  // out: arg 0 u32[64]: 1 2 3 …                      every line of the output
                  // trap: LW5000 17                                  the run ended in this trap, at this line of the file
                  // exit: 4 LW4007                                   … or with this exit code and these messages
    reject_*.ptx  // expect: 12:5 LW2107                              every error of `lanewise check`, by line and column;
                  // expect: 12:5 LW2107 warning                      every warning
                  // check: --OPTION                                  options for `lanewise check`, where it needs any
    accept_*.ptx  the same without any error; with no expect line, without any warning either

What is expected of several runs stands in the order of the runs. The text of run_ and accept_ files must also survive
`lanewise format`, which must give itself when applied twice, whichever engine runs. Where the compiling engine runs in another build than the first
one (LW_TEST_FEW), a tenth of the files is enough. --accept writes what came as the new expectation: read the diff."""

import argparse
import difflib
import os
import pathlib
import re
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
ORDER = re.compile(r"^//\s*(run|check):(.*)$")
EXPECTED = re.compile(r"^//\s*(out|trap|exit|expect):(.*)$")
DIAGNOSTIC = re.compile(r"^.*?:(\d+):(\d+): (error|warning)\[(LW\d+)\]")
TRAP = re.compile(r"\b(LW5\d\d\d)\b")
MESSAGE = re.compile(r"\b(LW\d{4})\b")
COMPILES = os.environ.get("LANEWISE_ENGINE") == "jit"
FEW = COMPILES and "LW_TEST_FEW" in os.environ
EXIT_TRAPPED, EXIT_BAD_SOURCE, TIME_LIMIT = 3, 1, 120


class Broken(Exception):
    """The test file or the tool does not do its part; the text says what."""


def tool(options, arguments, text=None):
    """Runs lanewise; returns exit code, output, errors."""
    command = [str(options.lanewise), *arguments]
    try:
        done = subprocess.run(command, input=text, capture_output=True, timeout=TIME_LIMIT, encoding="utf-8", errors="replace",
                              stdin=subprocess.DEVNULL if text is None else None)
    except subprocess.TimeoutExpired:
        raise Broken(f"no end after {TIME_LIMIT} s: {shlex.join(command)}") from None
    if done.returncode < 0 or "Sanitizer" in done.stderr:
        raise Broken(f"ended by signal or sanitizer ({done.returncode}): {shlex.join(command)}\n{done.stderr}")
    return done.returncode, done.stdout, done.stderr


def diagnostics(errors):
    """(line, column, severity, id) of each diagnostic."""
    return [match.groups() for match in map(DIAGNOSTIC.match, errors.splitlines()) if match]


# ---- what came ----------------------------------------------------------------------------------------------------

def trap_line(path, errors):
    """`trap: ID LINE` of a trap report."""
    number = TRAP.search(errors)
    place = re.search(re.escape(path.name) + r":(\d+):\d+: error\[LW5", errors) # warnings of the text may stand before it
    return f"// trap: {number[1] if number else '?'}{' ' + place[1] if place else ''}"


def run_one(options, path, arguments):
    code, output, errors = tool(options, ["run", str(path), *shlex.split(arguments)])
    lines = [f"// out: {line}".rstrip() for line in output.splitlines()]
    if code == EXIT_TRAPPED:
        lines.append(trap_line(path, errors))
    elif code != 0:
        lines.append(" ".join([f"// exit: {code}", *dict.fromkeys(MESSAGE.findall(errors))]))
    return lines, f"{errors}"


def check_one(options, path, arguments):
    code, output, errors = tool(options, ["check", *shlex.split(arguments), str(path)])
    found = diagnostics(output + errors)
    wrong = any(severity == "error" for _, _, severity, _ in found)
    if code != (EXIT_BAD_SOURCE if wrong else 0):
        raise Broken(f"`lanewise check` shows {'errors' if wrong else 'no error'} but exits with {code}\n{output}{errors}")
    lines = [f"// expect: {line}:{column} {number}{' warning' if severity == 'warning' else ''}"
             for line, column, severity, number in found]
    return lines, wrong, errors


def format_twice(options, path):
    """The layout of `lanewise format` must be text that checks, and its own layout."""
    code, once, errors = tool(options, ["format", str(path)])
    if code != 0:
        raise Broken(f"`lanewise format` exits with {code}\n{errors}")
    code, again, errors = tool(options, ["format", "--language", path.suffix[1:], "-"], once)
    if code != 0:
        raise Broken(f"`lanewise format` does not accept its own output ({code})\n{errors}")
    if once != again:
        raise Broken("formatting twice changes the text again:\n" + difference(once.splitlines(), again.splitlines(), "once", "twice"))


# ---- one file -----------------------------------------------------------------------------------------------------

def difference(want, got, want_name="expected", got_name="came"):
    return "\n".join(difflib.unified_diff(want, got, want_name, got_name, lineterm="", n=2))


def accept(path, lines, got):
    """Puts `got` at the end of the file in place of the old expectation."""
    kept = [line for line in lines if not EXPECTED.match(line)]
    while kept and not kept[-1].strip():
        kept.pop()
    path.write_text("\n".join(kept + got) + "\n")


def test_file(options, path):
    """Returns whether the file was rewritten. Raises Broken."""
    lines = path.read_text().splitlines()
    orders = [(match[1], match[2].strip()) for match in map(ORDER.match, lines) if match]
    want = [re.sub(r"^//\s*(\w+):\s*", r"// \1: ", line).rstrip() for line in lines if EXPECTED.match(line)]
    runs = [text for kind, text in orders if kind == "run"]
    checks = " ".join(text for kind, text in orders if kind == "check")
    prefix = path.name.split("_")[0]

    got, log, wrong = [], "", False
    if prefix == "run":
        if not runs or checks:
            raise Broken("a run_ file needs `// run:` lines and no `// check:`")
        for arguments in runs:
            more, errors = run_one(options, path, arguments)
            got, log = got + more, log + errors
        if not got:
            raise Broken("the runs show nothing, so this test cannot fail: print a buffer")
    else:
        if runs:
            raise Broken(f"`// run:` in a {prefix}_ file")
        got, wrong, log = check_one(options, path, checks)
        if wrong != (prefix == "reject"):
            raise Broken(f"{'has' if wrong else 'has no'} errors\n{log}")
    if prefix == "accept" or (prefix == "run" and not COMPILES and not any(line.startswith("// exit: 1") for line in got)):
        format_twice(options, path)

    if got == want:
        return False
    if options.accept:
        accept(path, lines, got)
        return True
    raise Broken(f"{difference(want, got)}\n{log}".rstrip())


def wanted_files(options):
    """The files to test; a PTX or PTO file in a folder of tests that is no test is an error."""
    found = []
    for place in options.places:
        if place.is_dir():
            found += sorted([*place.glob("*.ptx"), *place.glob("*.pto")])
        elif place.is_file():
            found.append(place)
        else:
            raise SystemExit(f"run_files: no such file or folder: {place}")
    for path in found:
        if path.name.split("_")[0] not in ("run", "reject", "accept"):
            raise SystemExit(f"run_files: {path}: a name begins with run_, reject_ or accept_")
    return [path for path in found if path.name.split("_")[0] in options.kinds][:: 10 if FEW else 1]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("places", nargs="+", type=pathlib.Path, help="files, or folders whose files are tests")
    parser.add_argument("--lanewise", type=pathlib.Path, default=ROOT / "build/bin/lanewise", help="the tool to test")
    parser.add_argument("--kinds", type=lambda text: text.split(","), default=["run", "reject", "accept"],
                        help="run, reject, accept, with commas; all by default")
    parser.add_argument("--accept", action="store_true", help="rewrite the expectations")
    options = parser.parse_args()

    failed = rewritten = 0
    files = wanted_files(options)
    for path in files:
        try:
            if test_file(options, path):
                rewritten += 1
                print(f"accepted {path}")
        except (Broken, ValueError, OSError) as problem:
            failed += 1
            level = os.environ.get("LANEWISE_CPU")
            print(f"FAILED {path}{' at CPU level ' + level if level else ''}: {problem}\n")
    print(f"{len(files)} files, {failed} failed" + (f", {rewritten} rewritten" if options.accept else ""))
    return 1 if failed or not files else 0


if __name__ == "__main__":
    sys.exit(main())
