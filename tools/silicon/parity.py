#!/usr/bin/env python3
"""Does `lanewise check` accept and refuse what ptxas does? The spellings are those of the lists: seeds.py and forms.py.

    parity.py --lanewise TOOL --records FOLDER                  compare with recorded answers; this is the test
    parity.py --lanewise TOOL --ptxas PTXAS                     compare with ptxas itself
    parity.py --ptxas PTXAS --records FOLDER --write            record what is not recorded yet
    … --list NAME --group PATTERN                               only these
    parity.py --lanewise TOOL --ptxas PTXAS --list forms --sample NAME --part N    another choice of cases, every Nth: nobody has seen them

A record, NAME.txt, has a line for each group of a list: how many cases, a digest of their texts, and what ptxas said, in the order of the
cases: how many in a row it accepts (a), accepts with a warning (w) or refuses (r). A group whose texts have changed must be recorded again.

The file of differences, differences.txt, lists those that are meant, a line each: `accept`, `warn` or `refuse`, which is what Lanewise
does; the reason's letter in the decision record; a pattern such as `6.*/sm_*` for version/target; a regular expression for the whole
case. Each must match something. How many may differ at all, meant or not, is in LISTS. Versions that are newer than ptxas are counted
apart: Lanewise warns of them on purpose and goes on."""

import argparse
import collections
import concurrent.futures
import dataclasses
import fnmatch
import importlib
import itertools
import pathlib
import re
import subprocess
import sys
import tempfile

LISTS = {"seeds": 0.46, "forms": 0.15}  # how many of a hundred cases may differ, meant or not
BATCH, OLDEST, NEWER, SHOWN, WIDTH, PATIENCE = 32, 75, "sm_90", 60, 150, 30
ACCEPTED, WARNED, REFUSED = "a", "w", "r"
NEWEST = (9, 0)  # the version that the recording ptxas knows
WORDS = {ACCEPTED: "accepted", WARNED: "accepted with a warning", REFUSED: "refused"}
PTXAS_LINE = re.compile(r"line (\d+); (error|fatal|warning)\s*:")
NARROW = re.compile(r"uses 32-bit address on line '(\d+)'")  # a warning where 16-bit ones stand beside it, else an error without a place
OUR_LINE = re.compile(r"^(.*?):(\d+):\d+: (error|warning)\[")


# ---- ptxas ---------------------------------------------------------------------------------------------------------

def assemble(ptxas, group, cases):
    """One run: ended well?, refused cases, warned cases; whatever is reported elsewhere is -1."""
    places = group.places(cases)
    number = int(re.search(r"\d+", group.target)[0])
    with tempfile.NamedTemporaryFile("w", suffix=".ptx") as file:
        file.write(group.text(cases))
        file.flush()
        try:
            done = subprocess.run([ptxas, f"-arch={group.target if number >= OLDEST else NEWER}", "-O0", file.name, "-o", "/dev/null"],
                                  capture_output=True, text=True, errors="replace", timeout=PATIENCE)
        except subprocess.TimeoutExpired:  # it does not end on some: nobody gets these assembled
            return False, {-1}, set()
    refused, warned = set(), set()
    for place, severity in PTXAS_LINE.findall(done.stdout + done.stderr):
        (warned if severity == "warning" else refused).add(places.get(int(place), -1))
    refused |= {places.get(int(place), -1) for place in NARROW.findall(done.stdout + done.stderr)}
    if done.returncode and not refused:
        refused.add(-1)
    return done.returncode == 0 and not refused, refused, warned


def ask_some(ptxas, group, cases):
    """The answers to one batch: what is refused is taken out until the rest assembles."""
    answers = dict.fromkeys(cases, REFUSED)
    rest = list(cases)
    while rest:
        well, refused, warned = assemble(ptxas, group, rest)
        if well:
            for at, case in enumerate(rest):
                answers[case] = WARNED if at in warned else ACCEPTED
            break
        inside = refused - {-1}
        if not inside:  # reported without a place of its own
            if len(rest) > 1:
                half = len(rest) // 2
                for part in (rest[:half], rest[half:]):
                    answers.update(ask_some(ptxas, group, part))
            break
        rest = [case for at, case in enumerate(rest) if at not in inside]
    return answers


def batches(group):
    size = 1 if group.alone else BATCH
    return [group.cases[at:at + size] for at in range(0, len(group.cases), size)]


def ask_ptxas(ptxas, groups, workers):
    """The answers for each group, as a text of one letter a case."""
    with concurrent.futures.ThreadPoolExecutor(workers) as threads:
        usable = list(threads.map(lambda group: group.alone or assemble(ptxas, group, [""])[0], groups))
        work = [(at, batch) for at, group in enumerate(groups) if usable[at] for batch in batches(group)]
        answers = [dict.fromkeys(group.cases, REFUSED) for group in groups]
        for (at, _), some in zip(work, threads.map(lambda item: ask_some(ptxas, groups[item[0]], item[1]), work)):
            answers[at].update(some)
    return ["".join(answers[at][case] for case in group.cases) for at, group in enumerate(groups)]


# ---- lanewise ------------------------------------------------------------------------------------------------------

def ask_lanewise(tool, groups):
    """The same, all answers of one process."""
    answers, files = [], {}
    with tempfile.TemporaryDirectory() as folder:
        for group in groups:
            mine = dict.fromkeys(group.cases, ACCEPTED)
            answers.append(mine)
            for batch in batches(group):
                path = pathlib.Path(folder, f"{len(files)}.ptx")
                path.write_text(group.text(batch))
                files[str(path)] = (mine, batch, group.places(batch))
        done = subprocess.run([tool, "check", *files], capture_output=True, text=True, errors="replace")
        if done.returncode not in (0, 1):
            sys.exit(f"lanewise check ended with {done.returncode}\n{done.stderr[-2000:]}")
        for text in done.stderr.splitlines():
            match = OUR_LINE.match(text)
            if not match or match[1] not in files:
                continue
            mine, batch, places = files[match[1]]
            at = places.get(int(match[2]))
            if match[3] == "warning":
                if at is not None and mine[batch[at]] == ACCEPTED:
                    mine[batch[at]] = WARNED
            elif at is not None:
                mine[batch[at]] = REFUSED
            else:
                mine.update(dict.fromkeys(batch, REFUSED))
    return ["".join(mine[case] for case in group.cases) for group, mine in zip(groups, answers)]


# ---- the record ----------------------------------------------------------------------------------------------------

def key(group):
    return f"{group.version} {group.target} {group.name}"


def packed(answers):
    return "".join(f"{len(list(run))}{letter}" for letter, run in itertools.groupby(answers))


def unpacked(text):
    return "".join(letter * int(count) for count, letter in re.findall(r"(\d+)(.)", text))


def read_record(path):
    """{group: (digest, answers)}"""
    found, head = {}, None
    for row in path.read_text().splitlines() if path.exists() else []:
        match = re.fullmatch(r"\[(.*)\] (\w+)", row)
        if match:
            head = match[1]
            found[head] = (match[2], "")
        elif head and not row.startswith("#"):
            found[head] = (found[head][0], found[head][1] + row)
    return {head: (digest, unpacked(text)) for head, (digest, text) in found.items()}


def write_record(path, ptxas, groups, record):
    release = re.search(r"V([\d.]+)", subprocess.run([ptxas, "--version"], capture_output=True, text=True).stdout)[1]
    out = [f"# What ptxas {release} says to the cases of tools/silicon/{path.stem}.py: a accepted, w accepted with a warning, r refused.",
           "# Written by tools/silicon/parity.py --write."]
    for group in groups:
        digest, answers = record[key(group)]
        text = packed(answers)
        out += [f"[{key(group)}] {digest}", *(text[at:at + WIDTH] for at in range(0, len(text), WIDTH))]
    path.write_text("\n".join(out) + "\n")


def fresh(record, group):
    return record.get(key(group), ("", ""))[0] == group.digest()


def recorded(path, groups):
    record = read_record(path)
    for group in groups:
        if not fresh(record, group):
            sys.exit(f"{path}: [{key(group)}] was recorded for other cases, or never; record again with --ptxas PTXAS --write")
    return [record[key(group)][1] for group in groups]


# ---- the comparison ------------------------------------------------------------------------------------------------

def read_differences(path):
    rules = []
    for number, row in enumerate(path.read_text().splitlines() if path.exists() else [], 1):
        if row.strip() and not row.startswith("#"):
            verdict, reason, setting, pattern = row.split(None, 3)
            if verdict not in ("accept", "refuse", "warn"):
                sys.exit(f"{path}:{number}: {verdict}?")
            rules.append([verdict[0], reason, setting, re.compile(pattern, re.S), number, 0])
    return rules


def is_meant(rules, ours, group, case):
    for rule in rules:
        if rule[0] == ours and fnmatch.fnmatchcase(f"{group.version}/{group.target}", rule[2]) and rule[3].fullmatch(case):
            rule[5] += 1
            return True
    return False


def compare(name, groups, theirs, ours, rules, shown):
    """The number of faults."""
    total, meant, apart, wrong = 0, 0, 0, collections.Counter()
    for group, he, we in zip(groups, theirs, ours):
        newer = tuple(map(int, group.version.split("."))) > NEWEST
        apart += newer and len(group.cases)
        total += not newer and len(group.cases)
        for case, his, mine in zip(group.cases, he, we):
            if his == mine:
                continue
            if is_meant(rules, mine, group, case):
                meant += not newer
                continue
            wrong[group.name] += 1
            if sum(wrong.values()) <= shown:
                print(f"{group.version} {group.target}: ptxas: {WORDS[his]}, lanewise: {WORDS[mine]}: {case or 'the module'}")
    differ = meant + sum(wrong.values())
    print(f"{name}: {total} cases, {meant} meant to differ, {sum(wrong.values())} differ; agreement {100 - 100 * differ / max(total, 1):.2f} %"
          + (f"; apart: {apart} of versions that ptxas does not know" if apart else ""))
    if wrong:
        print("  by group:", ", ".join(f"{group} {count}" for group, count in wrong.most_common()))
    return sum(wrong.values()) + (100 * differ > LISTS[name] * total) + (not total)


def groups_of(name, options):
    module = importlib.import_module(name)
    if options.sample:
        module.sample = options.sample
    for group in module.groups():
        if fnmatch.fnmatchcase(group.name, options.group):
            yield dataclasses.replace(group, cases=group.cases[::options.part])


def run_list(name, options, rules):
    groups = list(groups_of(name, options))
    path = options.records / f"{name}.txt" if options.records else None
    if options.write:
        record = read_record(path)
        if options.group != "*":
            groups = list(importlib.import_module(name).groups())
        stale = [group for group in groups if not fresh(record, group) or fnmatch.fnmatchcase(group.name, options.group) and options.again]
        for group, answers in zip(stale, ask_ptxas(options.ptxas, stale, options.jobs)):
            record[key(group)] = (group.digest(), answers)
        write_record(path, options.ptxas, groups, record)
        theirs = [record[key(group)][1] for group in groups]
    else:
        theirs = ask_ptxas(options.ptxas, groups, options.jobs) if options.ptxas else recorded(path, groups)
    return compare(name, groups, theirs, ask_lanewise(options.lanewise, groups), rules, options.shown) if options.lanewise else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lanewise")
    parser.add_argument("--ptxas")
    parser.add_argument("--records", type=pathlib.Path, help="the folder of the records and of differences.txt")
    parser.add_argument("--write", action="store_true", help="record what has changed")
    parser.add_argument("--again", action="store_true", help="with --write: also what has not")
    parser.add_argument("--list", action="append", choices=list(LISTS), help="only this list")
    parser.add_argument("--group", default="*", help="only groups with such a name")
    parser.add_argument("--sample", default="", help="with --ptxas: choose other cases")
    parser.add_argument("--part", type=int, default=1, help="with --ptxas: only every so manieth case of a group")
    parser.add_argument("--jobs", type=int, default=1, help="runs of ptxas at a time")
    parser.add_argument("--shown", type=int, default=SHOWN, help="how many differences are shown of each list")
    options = parser.parse_args()
    if not options.records and not options.ptxas or options.write and not (options.records and options.ptxas):
        parser.error("--records FOLDER, --ptxas PTXAS or both with --write are needed")
    rules = read_differences(options.records / "differences.txt") if options.records else []
    faults = sum(run_list(name, options, rules) for name in options.list or list(LISTS))
    if options.lanewise and not options.list and options.group == "*":
        for rule in rules:
            if not rule[5]:
                print(f"difference {rule[4]} matches nothing: {rule[3].pattern}")
                faults += 1
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
