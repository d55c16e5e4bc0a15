#!/usr/bin/env python3
"""Test files whose code comes from the cache give what they give otherwise: each run twice by the engine jit, over a cache of their own, which
the second run adds nothing to and takes everything from."""

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent


def run(options, cache):
    environment = os.environ | {"LANEWISE_ENGINE": "jit", "LANEWISE_CACHE": cache}
    done = subprocess.run([sys.executable, HERE.parent / "run_files.py", "--lanewise", options.lanewise, "--kinds", "run", *options.places],
                          env=environment, capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stdout + done.stderr)


def used(cache):
    """When each file was used last; that is set back, so that the next use shows."""
    found = {}
    for path in sorted(pathlib.Path(cache).iterdir()):
        found[path.name] = path.stat().st_mtime_ns
        os.utime(path, (1, 1))
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lanewise", required=True)
    parser.add_argument("places", nargs="+")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        cache = os.path.join(folder, "kept")
        run(options, cache)
        first = used(cache)
        run(options, cache)
        second = used(cache)
    if not first or first.keys() != second.keys():
        sys.exit(f"the first run kept {len(first)} programs, the second one had {len(second)}")
    unused = [name for name, when in second.items() if when == 10**9]
    if unused:
        sys.exit(f"the second run did not use {len(unused)} of {len(first)} programs")
    print(f"{len(first)} programs, compiled once and run twice")


if __name__ == "__main__":
    main()
