#!/usr/bin/env python3
"""Has each executable instruction form a run test and a reject test in ptx/FAMILY? Prints the forms that lack one.

A run test counts for the forms that `lanewise dump --stage module` names in it. A reject test names its form in a comment behind the
instruction, since a refused one has no form: `add.u32 %r0, %r1;   // ADD`."""

import argparse
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
ROW = re.compile(r'^FORM\((\w+),\s*"([^"]*)".*\.(?:lane|lower) = ', re.M)
NAMED = re.compile(r"^\s+\d+:\d+\s+([A-Z][A-Z0-9_]*)\s", re.M)
REFUSED = re.compile(r"//((?: [A-Z][A-Z0-9_]*)+)\s*$", re.M)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lanewise", type=pathlib.Path, default=ROOT / "build/bin/lanewise", help="the tool that names the forms")
    options = parser.parse_args()

    wanted, run, refused = {}, set(), set()
    for path in sorted((ROOT / "isa/ptx").glob("*.def")):
        wanted |= {name: (path.stem, pattern) for name, pattern in ROW.findall(path.read_text())}
    for path in (ROOT / "tests/ptx").glob("*/run_*.ptx"):
        done = subprocess.run([options.lanewise, "dump", "--stage", "module", path], capture_output=True, text=True)
        run |= set(NAMED.findall(done.stdout))
    for path in (ROOT / "tests/ptx").glob("*/reject_*.ptx"):
        refused |= {word for words in REFUSED.findall(path.read_text()) for word in words.split()}

    missing = 0
    for name, (family, pattern) in wanted.items():
        lacks = [what for what, have in (("run test", run), ("reject test", refused)) if name not in have]
        if lacks:
            missing += 1
            print(f"{family}: {name} ({pattern}) has no {' and no '.join(lacks)}")
    print(f"{len(wanted)} executable forms, {missing} not tested")
    return 1 if missing or not wanted else 0


if __name__ == "__main__":
    sys.exit(main())
