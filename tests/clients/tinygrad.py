#!/usr/bin/env python3
"""tinygrad.py LANEWISE: tinygrad, as it comes from its packages, with Lanewise as its CUDA driver (DEV=CUDA:PTX): operations in its CPU backend and
through PTX (tinygrad_operations.py), and those of its own tests that its source package has. What needs an instruction that Lanewise cannot execute
or that no PTX has is skipped, and named."""

import re
import subprocess
import sys
import tarfile

import client

VERSION = "0.14.0"


def prepare(c):
    c.need_python(f"tinygrad=={VERSION}", "numpy", "pytest", check="import tinygrad, numpy, pytest")
    c.tests = next(c.folder.glob("tinygrad-*/test/test_tiny.py"), None)
    if c.tests or not c.install:
        return
    version = subprocess.run([c.python, "-P", "-c", "import importlib.metadata; print(importlib.metadata.version('tinygrad'))"], check=True,
                             capture_output=True, text=True).stdout.strip()
    subprocess.run([c.python, "-m", "pip", "download", "-q", "--no-deps", "--no-binary", ":all:", "-d", c.folder, f"tinygrad=={version}"], check=True)
    with tarfile.open(next(c.folder.glob("tinygrad-*.tar.gz"))) as source:
        source.extractall(c.folder, [member for member in source if "/test/" in member.name and member.isfile()])
    c.tests = next(c.folder.glob("tinygrad-*/test/test_tiny.py"))


def operations(c, result, environment):
    done = c.run([c.python, "-P", client.HERE / "tinygrad_operations.py"], 1800, **environment)
    count = re.search(r"^(\d+) operations equal", done.stdout, re.M)
    result.passed += [f"operation {n}" for n in range(int(count.group(1)) if count else 0)]
    for many, why in re.findall(r"^ *(\d+) operations do not run: (.*?)   \(", done.stdout, re.M):
        for n in range(int(many)):
            result.skip(f"{why} {n}", why)
    for wrong in re.findall(r"^WRONG (.*)$", done.stdout, re.M):
        result.add(wrong, False)
    if not count:
        result.add("the operations come to their end", False, "\n".join(done.stdout.splitlines()[-12:]))


def own_tests(c, result, environment):
    if not c.tests:
        result.skip("its own tests", "its source package is not there")
        return
    done = c.run([c.python, "-P", "-m", "pytest", "-q", "-rA", "--no-header", "--tb=short", "-p", "no:cacheprovider", c.tests], 1800, **environment)
    faults = re.split(r"^_{3,} (?:\w+\.)?(\w+) _{3,}$", done.stdout, flags=re.M)
    by_test = dict(zip(faults[1::2], faults[2::2]))
    for said, test in re.findall(r"^(PASSED|FAILED|ERROR|SKIPPED) (?:\[\d+\] )?(\S+)", done.stdout, re.M):
        name = test.rpartition("::")[2]
        cannot = re.search(r"'([^']*)' is a valid PTX instruction that Lanewise cannot execute", by_test.get(name, ""))
        if said == "SKIPPED" or (said == "FAILED" and cannot):
            result.skip(test, f"{cannot.group(1).split('.')[0]} is not executable" if cannot else "it skips itself")
        else:
            result.add(test, said == "PASSED")


def run(c):
    result = client.Result()
    environment = {"DEV": "CUDA:PTX", "CACHELEVEL": "0"}
    operations(c, result, environment)
    own_tests(c, result, environment)
    return result


if __name__ == "__main__":
    sys.exit(client.main(prepare, run))
