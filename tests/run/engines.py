#!/usr/bin/env python3
"""Generated programs by both engines: what they print, store, trap and count must be the same.

Every third program the engine auto runs in the compiler's place, having compiled it first, so that CTAs of one launch run both codes.
The interpreter is the witness: it calls the same lane functions, but its loops, masks and branches are other code than the compiler's. The same seed
gives the same programs. A program that differs is kept in the folder that --keep names, with its command line in the first comment."""

import argparse
import collections
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

import engines_pto
import engines_ptx

SKIPPED = 77
TIME_LIMIT = 120


def usable_levels(options):
    """CPU levels at which this build has a compiler, and this machine the instructions."""
    probe = ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k() { ret; }\n"
    found = []
    for level in options.levels.split(","):
        command = [options.lanewise, "run", "--language", "ptx", "--engine", "jit", "--cpu", level, "-"]
        if subprocess.run(command, input=probe, capture_output=True, text=True).returncode == 0:
            found.append(level)
    return found


def outcome(options, level, engine, path, arguments):
    """Everything that a run shows but its time."""
    command = [options.lanewise, "run", "--engine", engine, "--cpu", level, "--stats=json", "--quiet", str(path), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=TIME_LIMIT, env=os.environ | {"LANEWISE_HOT": "0"})
    kept = []
    for line in done.stderr.splitlines():
        try:
            counted = json.loads(line)
        except ValueError:
            kept.append(line)
            continue
        for name in ("seconds", "lane_instructions_per_second", "engine", "engines"):
            counted.pop(name, None)
        kept.append(json.dumps(counted))
    return [f"exit {done.returncode}", *done.stdout.splitlines(), *kept]


def first_difference(a, b):
    for x, y in zip(a + ["(no more)"], b + ["(no more)"]):
        if x == y:
            continue
        p, q = re.split(r"(\s+)", x), re.split(r"(\s+)", y)
        at = next((i for i, (v, w) in enumerate(zip(p, q)) if v != w), 0)
        return f"  interp: {''.join(p[:3])} … word {at // 2}: {''.join(p[at:at + 9])[:200]}\n  other:  {''.join(q[:3])} … word {at // 2}: {''.join(q[at:at + 9])[:200]}"
    return "  no difference"


def keep(folder, path, runs):
    if not folder:
        return
    folder.mkdir(parents=True, exist_ok=True)
    head = "".join(f"// run: {' '.join(run)}\n" for run in runs)
    (folder / path.name).write_text(head + path.read_text())


def compare(options, level, engine, path, runs):
    """Returns how many runs differ, and what codes they ended with."""
    failed, codes = 0, []
    for run in runs:
        want, got = (outcome(options, level, one, path, run) for one in ("interp", engine))
        codes.append(want[0])
        if want == got and "exit -" not in want[0]:
            continue
        failed += 1
        print(f"{path.name} at {level} by {engine}: {' '.join(run)}\n{first_difference(want, got)}", flush=True)
    if failed:
        keep(options.keep, path, runs)
    return failed, codes


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lanewise", default="build/bin/lanewise")
    parser.add_argument("--seed", type=int, default=4)
    parser.add_argument("--count", type=int, default=20, help="programs of each kind, at one level or the other")
    parser.add_argument("--levels", default="v4,portable")
    parser.add_argument("--kinds", default="ptx,pto")
    parser.add_argument("--keep", type=pathlib.Path, help="folder for programs that differ")
    options = parser.parse_args()
    levels = usable_levels(options)
    if not levels:
        print("skipped: this build has no compiler")
        return SKIPPED
    failed, ends = 0, collections.Counter()
    with tempfile.TemporaryDirectory() as folder:
        for kind, makers in (("ptx", engines_ptx.programs), ("pto", engines_pto.programs)):
            if kind not in options.kinds.split(","):
                continue
            for n, (name, text, runs) in enumerate(makers(options.seed, options.count)):
                path = pathlib.Path(folder) / f"{name}.{kind}"
                path.write_text(text)
                bad, codes = compare(options, levels[n % len(levels)], "jit" if n % 3 else "auto", path, runs)
                failed += bad
                ends.update(codes)
    print(f"{sum(ends.values())} runs, {failed} differ; " + ", ".join(f"{code}: {count}" for code, count in sorted(ends.items())))
    if ends["exit 1"] or ends["exit 2"] or not ends["exit 0"]:
        print("programs are wrong that were to run")
        return 1
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
