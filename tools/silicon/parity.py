#!/usr/bin/env python3
"""Does `lanewise check` accept and refuse what ptxas does? The spellings are those of spellings.py.

    parity.py --lanewise TOOL --record FILE [--differences FILE]     compare with recorded answers; this is the test
    parity.py --lanewise TOOL --ptxas PTXAS [--differences FILE]     compare with ptxas itself
    parity.py --ptxas PTXAS --record FILE --write                    record the answers of ptxas

A record lists, for each version and target, the spellings that ptxas accepts, with `~` in front where it warns; it refuses all
others. An empty line, written `(module)`, stands for the module without any: where that is refused nothing else is tried.

The file of differences lists those that are meant, a line each: `accept`, `warn` or `refuse`, which is what Lanewise does; the
reason's letter in the decision record; a pattern such as `6.*/sm_*` for version/target; a regular expression for the whole spelling.
Each must match something."""

import argparse
import concurrent.futures
import datetime
import fnmatch
import hashlib
import pathlib
import re
import subprocess
import sys
import tempfile

import spellings

BATCH, OLDEST, NEWER, SHOWN = 32, 75, "sm_90", 60
ACCEPTED, WARNED, REFUSED = "accepted", "accepted with a warning", "refused"
PTXAS_LINE = re.compile(r"line (\d+); (error|fatal|warning)\s*:")
OUR_LINE = re.compile(r"^(.*?):(\d+):\d+: (error|warning)\[")


def module(version, target, lines):
    """The text, and the number of the line where the spellings begin."""
    head = spellings.header(version, target)
    return "\n".join([*head, *lines, *spellings.FOOTER]) + "\n", len(head) + 1


# ---- ptxas ---------------------------------------------------------------------------------------------------------

def assemble(ptxas, version, target, lines):
    """One run: ended well?, refused lines, warned lines; places below 0 are the header's, -1 stands for no place."""
    text, first = module(version, target, lines)
    number = int(re.search(r"\d+", target)[0])
    with tempfile.NamedTemporaryFile("w", suffix=".ptx") as file:
        file.write(text)
        file.flush()
        done = subprocess.run([ptxas, f"-arch={target if number >= OLDEST else NEWER}", "-O0", file.name, "-o", "/dev/null"], capture_output=True, text=True)
    refused, warned = set(), set()
    for place, severity in PTXAS_LINE.findall(done.stdout + done.stderr):
        (warned if severity == "warning" else refused).add(int(place) - first)
    if done.returncode and not refused:
        refused.add(-1)
    return done.returncode == 0, refused, warned


def ask_some(ptxas, version, target, lines):
    """The answers to one batch: what is refused is taken out until the rest assembles."""
    answers = dict.fromkeys(lines, REFUSED)
    rest = list(lines)
    while rest:
        well, refused, warned = assemble(ptxas, version, target, rest)
        if well:
            for at, line in enumerate(rest):
                answers[line] = WARNED if at in warned else ACCEPTED
            break
        inside = {at for at in refused if 0 <= at < len(rest)}
        if not inside:  # reported without a place of its own
            if len(rest) > 1:
                half = len(rest) // 2
                for part in (rest[:half], rest[half:]):
                    answers.update(ask_some(ptxas, version, target, part))
            break
        rest = [line for at, line in enumerate(rest) if at not in inside]
    return answers


def ask_ptxas(ptxas, version, target, lines, workers):
    if not assemble(ptxas, version, target, [""])[0]:
        return dict.fromkeys(lines, REFUSED)
    batches = [lines[at:at + BATCH] for at in range(0, len(lines), BATCH)]
    answers = {}
    with concurrent.futures.ThreadPoolExecutor(workers) as threads:
        for some in threads.map(lambda batch: ask_some(ptxas, version, target, batch), batches):
            answers.update(some)
    return answers


# ---- lanewise ------------------------------------------------------------------------------------------------------

def ask_lanewise(tool, settings):
    """All answers of one process: {(version, target): {line: answer}}."""
    answers, files = {}, {}
    with tempfile.TemporaryDirectory() as folder:
        for version, target, lines in settings:
            mine = answers.setdefault((version, target), {})
            for at in range(0, len(lines), BATCH):
                text, first = module(version, target, lines[at:at + BATCH])
                path = pathlib.Path(folder, f"{len(files)}.ptx")
                path.write_text(text)
                files[str(path)] = (mine, lines[at:at + BATCH], first)
                mine.update(dict.fromkeys(lines[at:at + BATCH], ACCEPTED))
        done = subprocess.run([tool, "check", *files], capture_output=True, text=True)
        if done.returncode not in (0, 1):
            sys.exit(f"lanewise check ended with {done.returncode}\n{done.stderr[-2000:]}")
        for text in done.stderr.splitlines():
            match = OUR_LINE.match(text)
            if not match or match[1] not in files:
                continue
            mine, lines, first = files[match[1]]
            at = int(match[2]) - first
            if match[3] == "warning":
                if 0 <= at < len(lines) and mine[lines[at]] == ACCEPTED:
                    mine[lines[at]] = WARNED
            elif 0 <= at < len(lines):
                mine[lines[at]] = REFUSED
            else:
                mine.update(dict.fromkeys(lines, REFUSED))
    return answers


# ---- the record ----------------------------------------------------------------------------------------------------

def fingerprint(settings):
    modules = "".join(module(version, target, lines)[0] for version, target, lines in settings)
    return hashlib.sha256(modules.encode()).hexdigest()[:16]


def write_record(path, ptxas, settings, answers):
    release = re.search(r"release ([\d.]+), V([\d.]+)", subprocess.run([ptxas, "--version"], capture_output=True, text=True).stdout)
    total = sum(len(lines) for _, _, lines in settings)
    out = [f"# ptxas {release[2]}, {datetime.date.today()}: what it accepts of {total} spellings; it refuses the others.",
           "# Written by tools/silicon/parity.py --write; ~ stands in front of what it warns of.", f"# spellings: {fingerprint(settings)}"]
    alike = {}
    for version, target, lines in settings:
        taken = tuple(("~" if answers[version, target][line] == WARNED else "") + (line or "(module)") for line in lines
                      if answers[version, target][line] != REFUSED)
        if taken:
            alike.setdefault(taken, []).append(f"[{version} {target}]")
    for taken, heads in alike.items():
        out += [*heads, *taken]
    path.write_text("\n".join(out) + "\n")


def read_record(path, settings):
    rows = path.read_text().splitlines()
    if f"# spellings: {fingerprint(settings)}" not in rows:
        sys.exit(f"{path}: recorded for other spellings than spellings.py makes now; record again with ptxas")
    answers = {(version, target): dict.fromkeys(lines, REFUSED) for version, target, lines in settings}
    heads, fresh = [], True
    for row in rows:
        head = re.fullmatch(r"\[([\d.]+) (sm_\w+)\]", row)
        if head:
            heads, fresh = [head.groups()] if fresh else [*heads, head.groups()], False
        elif not row.startswith("#"):
            fresh = True
            line = row.removeprefix("~").replace("(module)", "")
            for setting in heads:
                if line not in answers[setting]:
                    sys.exit(f"{path}: no such spelling: {row}")
                answers[setting][line] = WARNED if row.startswith("~") else ACCEPTED
    return answers


# ---- the comparison ------------------------------------------------------------------------------------------------

def read_differences(path):
    rules = []
    for number, row in enumerate(path.read_text().splitlines() if path else [], 1):
        if row.strip() and not row.startswith("#"):
            verdict, reason, setting, pattern = row.split(None, 3)
            if verdict not in ("accept", "refuse", "warn"):
                sys.exit(f"{path}:{number}: {verdict}?")
            rules.append([verdict, reason, setting, re.compile(pattern), number, 0])
    return rules


def is_meant(rules, ours, version, target, line):
    verdict = {ACCEPTED: "accept", WARNED: "warn", REFUSED: "refuse"}[ours]
    for rule in rules:
        if rule[0] == verdict and fnmatch.fnmatchcase(f"{version}/{target}", rule[2]) and rule[3].fullmatch(line):
            rule[5] += 1
            return True
    return False


def compare(settings, theirs, ours, rules, shown):
    wrong = meant = total = 0
    for version, target, lines in settings:
        for line in lines:
            total += 1
            he, we = theirs[version, target][line], ours[version, target][line]
            if he == we:
                continue
            if is_meant(rules, we, version, target, line):
                meant += 1
                continue
            wrong += 1
            if wrong <= shown:
                print(f"{version} {target}: ptxas: {he}, lanewise: {we}: {line or 'the module'}")
    idle = [rule for rule in rules if not rule[5]]
    for rule in idle:
        print(f"difference {rule[4]} matches nothing: {rule[3].pattern}")
    print(f"{total} spellings, {meant} meant to differ, {wrong} differ")
    return 1 if wrong or idle or not total else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lanewise")
    parser.add_argument("--ptxas")
    parser.add_argument("--record", type=pathlib.Path)
    parser.add_argument("--differences", type=pathlib.Path)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--jobs", type=int, default=1, help="runs of ptxas at a time")
    parser.add_argument("--shown", type=int, default=SHOWN, help="how many differences are shown")
    options = parser.parse_args()
    if not options.record and not options.ptxas or options.write and not (options.record and options.ptxas):
        parser.error("--record FILE, --ptxas PTXAS or both with --write are needed")
    settings = list(spellings.settings())
    if options.ptxas:
        theirs = {(version, target): ask_ptxas(options.ptxas, version, target, lines, options.jobs) for version, target, lines in settings}
        if options.write:
            write_record(options.record, options.ptxas, settings, theirs)
    else:
        theirs = read_record(options.record, settings)
    if not options.lanewise:
        return 0
    return compare(settings, theirs, ask_lanewise(options.lanewise, settings), read_differences(options.differences), options.shown)


if __name__ == "__main__":
    sys.exit(main())
