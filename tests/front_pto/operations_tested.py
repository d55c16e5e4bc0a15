#!/usr/bin/env python3
"""Does each operation of PTO text stand in an accept file and in a line of a reject file that is refused? Prints those that do not."""

import argparse
import pathlib
import re
import subprocess
import sys

TESTS = pathlib.Path(__file__).resolve().parent.parent / "pto"
NAME = re.compile(r"(?<![\w.%@])(?:pto\.)?([a-z]\w*(?:\.\w+)*)(?=[\s{,(]|$)")


def names(text):
    return set(NAME.findall(text))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lanewise", required=True, help="the tool that lists the operations")
    options = parser.parse_args()
    listed = subprocess.run([options.lanewise, "isa", "--language", "pto", "--tsv"], capture_output=True, text=True, check=True)
    wanted = [line.split("\t")[2].removeprefix("pto.") for line in listed.stdout.splitlines()]
    accepted, refused = set(), set()
    for path in TESTS.glob("*/accept_*.pto"):
        accepted |= names(path.read_text())
    for path in TESTS.glob("*/reject_*.pto"):
        lines = path.read_text().splitlines()
        for line in re.findall(r"^// expect: (\d+):", "\n".join(lines), re.M):
            refused |= names(lines[int(line) - 1])
    for found in (accepted, refused):
        found |= {"func.return"} if "return" in found else set()
    missing = 0
    for name in wanted:
        lacks = [what for what, have in (("accept test", accepted), ("reject test", refused)) if name not in have]
        if lacks:
            missing += 1
            print(f"{name} has no {' and no '.join(lacks)}")
    print(f"{len(wanted)} operations, {missing} not tested")
    return 1 if missing or not wanted else 0


if __name__ == "__main__":
    sys.exit(main())
