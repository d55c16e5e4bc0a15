#!/usr/bin/env python3
"""Does `lanewise check` take and refuse the modules that ptxas does? The modules are those of modules.py.

    module_parity.py --lanewise TOOL --record FILE [--differences FILE]     compare with recorded answers; this is the test
    module_parity.py --ptxas PTXAS --record FILE --write [--jobs N]         record the answers of ptxas

A record has for each group its name, a digest of its modules, and what ptxas said of each in turn: `+` taken, `~` taken with a warning,
`-` refused, `!` it crashed, which is no answer.
Warnings are not compared: they are about what the text does, not about its grammar.

The file of differences lists those that are meant, a line each: `accept` or `refuse`, which is what Lanewise does; the reason's letter in
the decision record; a pattern for the group; a regular expression for the whole line that names the module. Each must match something."""

import argparse
import concurrent.futures
import fnmatch
import hashlib
import pathlib
import re
import subprocess
import sys
import tempfile

import modules
import parity

OLDEST, NEWER, LINKED, SHOWN, ROW, PATIENCE = 75, "sm_90", 3.1, 60, 140, 60
RENAMED = {101: 110}


def groups():
    made = {}
    for group, line, text in modules.cases():
        if line in made.setdefault(group, {}):
            sys.exit(f"modules.py: {group} has twice: {line}")
        made[group][line] = text
    return made


def digest(texts):
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()[:12]


# ---- ptxas ---------------------------------------------------------------------------------------------------------

def options(text):
    """What ptxas is told to make: code for the module's own target where it can, to be linked where the version has that."""
    start = "\n".join(text.split("\n")[:2])
    named = [(int(number), suffix) for number, suffix in re.findall(r"\bsm_(\d+)([af]?)\b", start)]
    number, suffix = max([name for name in named if "%d%s" % name in modules.TARGETS], default=(0, ""))
    version = re.search(r"\.version\s+(\d+\.\d+)\b", text)
    link = ["-c"] if not version or float(version[1]) >= LINKED else []
    return [f"-arch=sm_{RENAMED.get(number, number)}{suffix}" if number >= OLDEST else f"-arch={NEWER}", "-O0", *link]


def ask(ptxas, text):
    with tempfile.NamedTemporaryFile("wb", suffix=".ptx") as file:
        file.write(text.encode())
        file.flush()
        done = subprocess.run([ptxas, *options(text), file.name, "-o", "/dev/null"], capture_output=True, timeout=PATIENCE)
    said = done.stdout + done.stderr
    if done.returncode < 0:
        return "!"
    return "-" if done.returncode else "~" if b"warning" in said else "+"


def ask_ptxas(ptxas, made, workers):
    with concurrent.futures.ThreadPoolExecutor(workers) as threads:
        for group, some in made.items():
            yield group, "".join(threads.map(lambda text: ask(ptxas, text), some.values()))


def write_record(path, ptxas, made, workers):
    release = re.search(r"V([\d.]+)", subprocess.run([ptxas, "--version"], capture_output=True, text=True).stdout)[1]
    old = read_record(path) if path.exists() else {}
    with path.open("w") as out:
        out.write(f"# ptxas {release} -c on the modules of tools/silicon/modules.py: + taken, ~ taken with a warning, - refused.\n")
        new = {group: some for group, some in made.items() if old.get(group, ("",))[0] != digest(some.values())}
        asked = dict(ask_ptxas(ptxas, new, workers))
        for group, some in made.items():
            answers = asked.get(group) or old[group][1]
            out.write(f"[{group} {digest(some.values())}]\n" + "".join(answers[at:at + ROW] + "\n" for at in range(0, len(answers), ROW)))


def read_record(path):
    """{group: (digest, answers)}"""
    record, group = {}, None
    for row in path.read_text().splitlines():
        head = re.fullmatch(r"\[(\w+) (\w+)\]", row)
        if head:
            group = head[1]
            record[group] = [head[2], ""]
        elif not row.startswith("#"):
            record[group][1] += row
    return record


# ---- lanewise ------------------------------------------------------------------------------------------------------

def ask_lanewise(tool, made):
    """{group: {line: what was found fault with first, or None}}"""
    found, files = {}, {}
    with tempfile.TemporaryDirectory() as folder:
        for group, some in made.items():
            found[group] = dict.fromkeys(some)
            for line, text in some.items():
                path = pathlib.Path(folder, f"{len(files)}.ptx")
                path.write_bytes(text.encode())
                files[str(path)] = (group, line)
        done = subprocess.run([tool, "check", *files], capture_output=True, text=True, errors="replace")
    if done.returncode not in (0, 1):
        sys.exit(f"lanewise check ended with {done.returncode}\n{done.stderr[-2000:]}")
    for row in done.stderr.splitlines():
        name, _, rest = row.partition(":")
        if name in files and ": error[" in f":{rest}":
            group, line = files[name]
            found[group][line] = found[group][line] or rest
    return found


# ---- the comparison ------------------------------------------------------------------------------------------------

def is_meant(rules, verdict, group, line):
    for rule in rules:
        if rule[0] == verdict and fnmatch.fnmatchcase(group, rule[2]) and rule[3].fullmatch(line):
            rule[5] += 1
            return True
    return False


def compare(made, record, found, rules, shown):
    wrong = meant = total = 0
    for group, some in made.items():
        if record.get(group, ("",))[0] != digest(some.values()):
            sys.exit(f"{group}: recorded for other modules than modules.py makes now; record again with ptxas")
        for line, theirs in zip(some, record[group][1], strict=True):
            total += 1
            fault = found[group][line]
            if theirs == "!" or (theirs == "-") == bool(fault):
                continue
            if is_meant(rules, parity.REFUSED if fault else parity.ACCEPTED, group, line):
                meant += 1
                continue
            wrong += 1
            if wrong <= shown:
                print(f"{group}: {f'refused ({fault})' if fault else 'accepted'}, not so by ptxas: {line}")
    idle = [rule for rule in rules if not rule[5]]
    for rule in idle:
        print(f"difference {rule[4]} matches nothing: {rule[3].pattern}")
    print(f"{total} modules, {meant} meant to differ, {wrong} differ")
    return 1 if wrong or idle or not total else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lanewise")
    parser.add_argument("--ptxas")
    parser.add_argument("--record", type=pathlib.Path, required=True)
    parser.add_argument("--differences", type=pathlib.Path)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--jobs", type=int, default=1, help="runs of ptxas at a time")
    parser.add_argument("--shown", type=int, default=SHOWN, help="how many differences are shown")
    parser.add_argument("--group", help="only the groups that this pattern names")
    options = parser.parse_args()
    made = {group: some for group, some in groups().items() if not options.group or fnmatch.fnmatchcase(group, options.group)}
    if options.write:
        write_record(options.record, options.ptxas, made, options.jobs)
    if not options.lanewise:
        return 0
    rules = parity.read_differences(options.differences)
    return compare(made, read_record(options.record), ask_lanewise(options.lanewise, made), rules, options.shown)


if __name__ == "__main__":
    sys.exit(main())
