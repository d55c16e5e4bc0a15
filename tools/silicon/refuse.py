#!/usr/bin/env python3
"""Does ptxas refuse what reject_*.ptx files expect to be refused? Each instruction with an `// expect:` line is tried alone.

    refuse.py FILE|FOLDER…

The other instructions with expectations are blanked meanwhile, since ptxas ends at the first fault of the grammar. Targets that
ptxas no longer assembles for keep their gates: the text says .target, the option only a newer machine."""

import argparse
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

EXPECTED = re.compile(r"^//\s*expect:\s*(\d+):\d+ LW\d+\s*$", re.M)
TARGET = re.compile(r"^\.target\s+(sm_(\d+)\w*)", re.M)
OLDEST, NEWER = 75, "sm_90"


def refused(ptxas, text, target):
    with tempfile.NamedTemporaryFile("w", suffix=".ptx") as file:
        file.write(text)
        file.flush()
        done = subprocess.run([ptxas, f"-arch={target}", file.name, "-o", "/dev/null"], capture_output=True)
    return done.returncode != 0


def check(ptxas, path):
    """Lines that ptxas accepts, and the number of lines tried."""
    text = path.read_text()
    lines, target = text.splitlines(), TARGET.search(text)
    numbers = sorted({int(number) for number in EXPECTED.findall(text)})
    if not target or not numbers:
        return [], 0
    arch = target[1] if int(target[2]) >= OLDEST else NEWER
    if refused(ptxas, "\n".join("" if k + 1 in numbers else line for k, line in enumerate(lines)) + "\n", arch):
        return ["the file without these instructions"], len(numbers)
    accepted = []
    for number in numbers:
        alone = ["" if k + 1 in numbers and k + 1 != number else line for k, line in enumerate(lines)]
        if not refused(ptxas, "\n".join(alone) + "\n", arch):
            accepted.append(f"{number}: {lines[number - 1].strip()}")
    return accepted, len(numbers)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("places", nargs="+", type=pathlib.Path)
    parser.add_argument("--ptxas", default=shutil.which("ptxas") or "/usr/local/cuda/bin/ptxas")
    options = parser.parse_args()
    tried = wrong = 0
    for path in [path for place in options.places for path in (sorted(place.rglob("reject_*.ptx")) if place.is_dir() else [place])]:
        accepted, count = check(options.ptxas, path)
        tried, wrong = tried + count, wrong + len(accepted)
        for line in accepted:
            print(f"{path}: ptxas {'refuses' if line.startswith('the') else 'accepts'} {line}")
    print(f"{tried} lines, {wrong} not as expected")
    return 1 if wrong or not tried else 0


if __name__ == "__main__":
    sys.exit(main())
