#!/usr/bin/env python3
"""Runs the examples, checks their answers, and prints one table.

Each check of this folder makes its inputs, gives the arguments of the run, and compares the output with an independent
program. The numbers come from `lanewise run --stats=json`."""

import argparse
import json
import pathlib
import shlex
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
# The kernels, and the sizes of a run that is over at once; odd, so that the last block is partly empty.
KERNELS = {
    "sha256": "--count 333 --rounds 2",
    "chacha20": "--count 333 --rounds 2",
    "scan": "--count 1111 --rounds 3 --block 96",
    "bigshift": "--count 333 --rounds 3",
    "mandelbrot": "--width 67 --height 41 --limit 60",
    "blur": "--width 67 --height 41",
    "xorshift": "--count 777 --rounds 20",
}
COLUMNS = "{:<12} {:>10} {:>18} {:>9} {:>12}  {}"


class Failed(Exception):
    """One kernel did not run or gave a wrong answer; the text says why."""


def called(command):
    """A command that must succeed; the exception holds what it wrote otherwise."""
    words = [str(word) for word in command]
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode != 0:
        raise Failed(f"`{shlex.join(words)}` exits with {done.returncode}\n{done.stdout}{done.stderr}")
    return done


def stats_of(errors):
    """The statistics of one run: the one line of JSON on the error output."""
    for line in errors.splitlines():
        if line.startswith("{"):
            return json.loads(line)
    raise Failed(f"no statistics in: {errors}")


def one(lanewise, name, folder, small):
    """Runs and checks one kernel; returns the row of the table."""
    check = [sys.executable, HERE / f"{name}.py"]
    called([*check, "make", folder, *(KERNELS[name].split() if small else [])])
    arguments = shlex.split(called([*check, "args", folder]).stdout)
    stats = stats_of(called([lanewise, "run", *arguments, "--stats=json"]).stderr)
    verdict = called([*check, "verify", folder]).stdout.strip().removeprefix(f"{name}: ok: ")
    lanes, seconds = stats["lane_instructions"], stats["seconds"]
    return COLUMNS.format(name, f"{stats['threads']:,}", f"{lanes:,}", f"{seconds:.3f} s", f"{lanes / seconds / 1e9:.2f} G/s",
                          verdict)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kernels", nargs="*", metavar="KERNEL", help="of: " + " ".join(KERNELS))
    parser.add_argument("--lanewise", type=pathlib.Path, required=True, help="the tool")
    parser.add_argument("--small", action="store_true", help="small sizes: for a test, not for the rate")
    options = parser.parse_args()
    for name in options.kernels:
        if name not in KERNELS:
            parser.error(f"no kernel {name}; there are: {' '.join(KERNELS)}")

    problems = []
    print(COLUMNS.format("kernel", "threads", "lane-instructions", "time", "rate", "checked"), flush=True)
    with tempfile.TemporaryDirectory(prefix="lanewise-demo-") as work:
        for name in options.kernels or KERNELS:
            try:
                print(one(options.lanewise, name, pathlib.Path(work, name), options.small), flush=True)
            except Failed as problem:
                problems.append(f"{name}: {problem}")
                print(f"{name:<12} FAILED", flush=True)
    for problem in problems:
        print(f"\n{problem}", file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
