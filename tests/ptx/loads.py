#!/usr/bin/env python3
"""Whatever `check` accepts of an executable form is lowered, or is refused with a reason that stays.

The cases are those that are compared with ptxas, tools/silicon/forms.py: operands of every kind in each place of every form."""

import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools/silicon"))

import forms
import parity

MANY = 80
NEVER = set(re.findall(r'^REFUSED\((\w+), ""', (ROOT / "isa/ptx/refused.def").read_text(), re.M))  # opcodes of which no form is executable
FAULT = re.compile(r"^(.*?):(\d+):\d+: error\[(LW\d+)\]: (.*)$", re.M)
# With a reason: isa/ptx/refused.def, or what ptxas takes and no text defines. A refusal without one is a fault of ours.
REFUSED = re.compile(r"LW3000 '[^']*' is a valid PTX instruction that Lanewise cannot execute: |LW3005 '[^']*' cannot be executed with this operand: |LW3013 ")


def kernels(group, cases):
    """Each in a kernel of its own: the first fault of one hides others. And the line of each."""
    first = next(at for at, line in enumerate(group.header) if ".entry" in line)
    lines, places = group.header[:first], {}
    for number, case in enumerate(cases):
        lines += [group.header[first].replace(" k", f" k{number}", 1), *group.header[first + 1:]]
        for line in case.split("\n"):
            lines.append(line)
            places[len(lines)] = case
        lines += group.footer
    return "\n".join(lines) + "\n", places


def some(groups, answers):
    """Those that `check` accepts, so few at a time that every fault is shown."""
    for group, letters in zip(groups, answers):
        cases = [case for case, letter in zip(group.cases, letters) if case and letter != parity.REFUSED]
        for at in range(0, len(cases), MANY):
            yield group, cases[at:at + MANY:4 if "LW_TEST_FEW" in os.environ else 1]


def faults_of(tool, group, cases):
    """[(case, number, message)] of lowering. Faults of other kinds are about what the case is not: a name that only the list's own module has."""
    text, places = kernels(group, cases)
    with tempfile.NamedTemporaryFile("w", suffix=".ptx") as file:
        file.write(text)
        file.flush()
        done = subprocess.run([tool, "dump", "--stage", "program", file.name], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if done.returncode not in (0, 1):
        sys.exit(f"{group.name}: dump ended with {done.returncode}\n{done.stderr[-2000:]}")
    found = [(places.get(int(line)), number, message) for _, line, number, message in FAULT.findall(done.stderr)]
    other = {case for case, number, _ in found if not number.startswith("LW3")}
    return faults_of(tool, group, [case for case in cases if case not in other]) if other else found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lanewise", required=True, type=pathlib.Path)
    parser.add_argument("--group", default="", help="only groups whose names have this in them")
    parser.add_argument("--sample", default="", help="another choice of cases")
    options = parser.parse_args()
    forms.sample = options.sample
    groups = [g for g in forms.groups() if options.group in g.name and g.name not in NEVER]
    accepted, wrong = 0, 0
    for group, cases in some(groups, parity.ask_lanewise(options.lanewise, groups)):
        accepted += len(cases)
        for case, number, message in faults_of(options.lanewise, group, cases):
            if not REFUSED.match(f"{number} {message}"):
                wrong += 1
                print(f"{group.version} {group.target} {group.name}: {case}   {number} {message}")
    print(f"{accepted} cases that are accepted, {wrong} of which are not lowered and have no reason")
    return wrong != 0 or not accepted


if __name__ == "__main__":
    sys.exit(main())
