#!/usr/bin/env python3
"""silicon.py MODE: tools/silicon's C program on Lanewise, against what it recorded on a GPU (silicon/FAMILY.txt).

    sm_90     every result of every form is the recorded one
    manual    the forms of decision 4 differ and no others: those for which the two models of ptx/video/semantics.py differ, and shifts of
              16 bits by wide immediate amounts
    faults    the comparison itself: what is wrong in a record, or does not belong to it, must be found"""

import argparse
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests/ptx/video"))
import semantics

SKIPPED = 77
FORM = re.compile(r"(vsh[lr])\.([us]32)\.([us]32)\.u32(\.sat)?\.(clamp|wrap)(?:\.(\w+))? "
                  r"%d(?:\.(\w+))?, %a(?:\.(\w+))?, (%b|\d+)(?:\.(\w+))?(?:, %c)?")


class Wrong(Exception):
    """What the test is there to find."""


class Silicon:
    """The program, on Lanewise."""

    def __init__(self, options, chosen):
        self.options = options
        self.environment = os.environ | {"LANEWISE_SEMANTICS": chosen, "LANEWISE_REPORT": "none"}

    def run(self, *words):
        """Exit code, output, errors."""
        done = subprocess.run([self.options.lanewise, "exec", "--", self.options.silicon, *words], capture_output=True, text=True,
                              env=self.environment)
        if done.returncode < 0 or "Sanitizer" in done.stderr:
            raise Wrong(f"ended by signal or sanitizer ({done.returncode}): {words}\n{done.stderr}")
        return done.returncode, done.stdout, done.stderr

    def must(self, *words):
        code, out, errors = self.run(*words)
        if code:
            raise Wrong(f"exit code {code}: {words}\n{out}{errors}")
        return out

    def families(self):
        return [line.split()[0] for line in self.must("--list").splitlines()]


def records(silicon):
    """The file of each family; leaves where they were not made yet."""
    found = {family: silicon.options.records / f"{family}.txt" for family in silicon.families()}
    absent = [path.name for path in found.values() if not path.exists()]
    if absent:
        print(f"skipped: no record of a GPU is there: {', '.join(absent)}; tools/silicon/README.md says how to make them")
        sys.exit(SKIPPED)
    for path in found.values():
        if "NVIDIA" not in path.read_text().splitlines()[1]:
            raise Wrong(f"{path} was not recorded on a GPU")
    strange = sorted({path for path in silicon.options.records.glob("*")} - set(found.values()))
    if strange:
        raise Wrong(f"records of no family: {', '.join(map(str, strange))}")
    return found


def differing(out):
    """The instructions that a comparison with --limit=0 named, and how many it counted."""
    named = {line.split(": ", 2)[2] for line in out.splitlines() if line.startswith("differs: ")}
    forms, count = map(int, re.search(r"^\w+: (\d+) forms, (\d+) differ$", out, re.M).groups())
    if len(named) != count:
        raise Wrong(f"{count} forms are said to differ, {len(named)} are named")
    return named, forms


# ---- sm_90 -----------------------------------------------------------------------------------------------------------

def test_sm_90(options):
    silicon = Silicon(options, "sm_90")
    code, out, errors = silicon.run("--compare", *records(silicon).values())
    print(out + errors)
    if code:
        raise Wrong("some results are not those of the hardware")
    counts = [int(count) for count in re.findall(r"(\d+) forms, 0 differ$", out, re.M)]
    if len(counts) != len(silicon.families()) or sum(counts) < 24000:
        raise Wrong(f"only {sum(counts)} forms were compared")


# ---- manual ----------------------------------------------------------------------------------------------------------

def may_differ(form):
    """What decision 4 says, from the ranges that values can have. Where it says no, no value is tried."""
    bits = semantics.PARTS[form.asel][1] if form.op == "vshr" else 64
    least, most = (-(1 << bits - 1), (1 << bits - 1) - 1) if form.atype == "s32" else (0, (1 << bits) - 1)
    is_signed, second = form.dtype == "s32", form.op2 in ("min", "max")
    if form.dsel == "h1":
        return True
    if form.sat and form.dsel:  # the ranges of .sat
        return any(semantics.clamp(value, semantics.PARTS[form.dsel][1], is_signed) != semantics.clamp(value, 32, is_signed)
                   for value in (least, most))
    if form.sat:  # the result counts as signed
        return second and not is_signed and most >= 1 << 31
    return second and (form.op == "vshl" or not is_signed and least < 0)  # 33 bits against 64


def models_differ(form, constant, lanes):
    """Whether some lane tells the models apart."""
    b_part = "" if constant is not None else form.bsel
    for a, b, c in lanes:
        b = b if constant is None else constant
        if semantics.manual(form, a, b, c, b_part) != semantics.sm_90(form, a, b, c, b_part):
            return True
    return False


def shift_16(op, is_signed, a, amount):
    """A shift of 16 bits by the manual."""
    value = a - (a >> 15 << 16) if is_signed else a
    return (value << min(amount, 16) if op == "shl" else value >> min(amount, 16)) & 0xFFFF


def wanted_shifts(silicon):
    """Of 16 bits by an immediate amount: the hardware has its low half."""
    values = [int(line.split()[1], 16) & 0xFFFF for line in silicon.must("--inputs", "shift").splitlines()]
    found, printed = set(), silicon.must("--print", "shift")
    for text in set(re.findall(r"^ *(sh[lr]\.[bus]16 .*);$", printed, re.M)):
        op, kind, amount = re.fullmatch(r"(sh[lr])\.([bus])16 %hd, \S+, (%b|\d+)", text).groups()
        if amount == "%b":
            continue
        amount = int(amount) & 0xFFFFFFFF
        if any(shift_16(op, kind == "s", a, amount) != shift_16(op, kind == "s", a, amount & 0xFFFF) for a in values):
            found.add(text)
    return found


def wanted(silicon, family):
    """The instructions of a family for which the models differ in some lane."""
    lanes = [[int(word, 16) & 0xFFFFFFFF for word in line.split()[1:4]] for line in silicon.must("--inputs", family).splitlines()]
    random.Random(1).shuffle(lanes)  # noise soon, which tells most forms apart
    found, texts = set(), set(re.findall(r"^ *(vsh[lr]\..*);$", silicon.must("--print", family), re.M))
    for text in texts:
        op, dtype, atype, sat, mode, second, dsel, asel, b, bsel = FORM.fullmatch(text).groups()
        form = semantics.Form(op, dtype, atype, bool(sat), mode, second or dsel or "", asel or "", bsel or "")
        if may_differ(form) and models_differ(form, None if b == "%b" else int(b), lanes):
            found.add(text)
    return found, len(texts)


def test_manual(options):
    silicon = Silicon(options, "manual")
    for family, path in records(silicon).items():
        code, out, errors = silicon.run("--compare", "--limit=0", path)
        named, forms = differing(out)
        expected, count = wanted(silicon, family) if family in ("vshl", "vshr") else (set(), forms)
        if family == "shift":
            expected = wanted_shifts(silicon)
        if code != bool(expected) or count != forms or errors:
            raise Wrong(f"{family}: exit code {code}, {forms} forms of {count}\n{errors}")
        for text in sorted(named ^ expected):
            print(f"{text}: {'differs' if text in named else 'does not differ'}, the models say otherwise")
        if named != expected:
            raise Wrong(f"{family}: {len(named)} forms differ from the hardware, {len(expected)} should")
        print(f"{family}: {len(named)} of {forms} forms differ from the hardware, as documented")


# ---- faults ----------------------------------------------------------------------------------------------------------

def with_word(lines, number, word, change):
    """The text with one word of a line changed."""
    words = lines[number].split(" ")
    words[word] = change(words[word])
    return "\n".join(lines[:number] + [" ".join(words)] + lines[number + 1:]) + "\n"


def other_digit(word):
    return f"{int(word[0], 16) ^ 1:x}{word[1:]}"


def broken_records(text):
    """Name, text, exit code, what the output must say."""
    lines = text.splitlines()
    form = 1 + next(number for number, line in enumerate(lines) if line.startswith("shf_l_clamp: "))
    named = "differs: shf_l_clamp: shf.l.clamp.b32 %d, %a, %c, %b\n"
    yield "untouched", text, 0, "0 differ"
    yield "digest", with_word(lines, form, 0, other_digit), 1, named
    yield "kept lane", with_word(lines, form, 1, other_digit), 1, named
    yield "last form", with_word(lines, len(lines) - 3, 0, other_digit), 1, "1 differ"
    yield "no digits", with_word(lines, form, 0, lambda word: "g" + word[1:]), 5, f":{form + 1}: a number is missing"
    yield "too few", with_word(lines, form, 1, lambda word: ""), 5, f":{form + 1}: "
    yield "too many", with_word(lines, form, 1, lambda word: word + " 0"), 5, "more than its form"
    yield "too wide", with_word(lines, form, 1, lambda word: "123456789"), 5, "a number is missing or wrong"
    yield "cut", "\n".join(lines[:form]) + "\n", 5, "the record ends here"
    yield "no end", "\n".join(lines[:-1]) + "\n", 5, "the record ends here"
    yield "other module", text.replace("module: ", "module: 0", 1), 5, "record again"
    yield "other group", text.replace("shf_l_clamp: ", "shf_l_clamp: 9", 1), 5, "record again"
    yield "other family", text.replace("record: shift", "record: shiftless", 1), 5, 'no family "shiftless"'
    yield "two records", text + text, 5, "there is more behind the end"
    yield "empty", "", 5, "the record ends here"
    yield "no record", "\0\xff\n" * 5, 5, "is missing here"


def test_faults(options):
    silicon = Silicon(options, "sm_90")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        silicon.must("--record", folder, "--date", "2000-01-01", "shift", "vshr", "logic")
        path, text = folder / "broken.txt", (folder / "shift.txt").read_text()
        for what, broken, code, says in broken_records(text):
            path.write_text(broken)
            came, out, errors = silicon.run("--compare", path)
            if came != code or says not in out + errors or (code == 5) != errors.startswith("silicon: "):
                raise Wrong(f"{what}: exit code {came}, not {code}, or it does not say {says!r}\n{out}{errors}")
        code, out, _ = Silicon(options, "manual").run("--compare", "--limit=1", folder / "vshr.txt", folder / "logic.txt")
        if code != 1 or out.count("differs: ") != 1 or "logic: 299 forms, 0 differ" not in out:
            raise Wrong(f"one of two records, under the other semantics: exit code {code}\n{out}")
        for words, code in ((("--compare", folder / "absent.txt"), 5), (("--record", "/dev/null"), 5), (("--record", folder, "nothing"), 2),
                            (("--compare",), 2), ((), 2), (("--list", "--print"), 2), (("--compare", "--limit=x", path), 2)):
            if silicon.run(*words)[0] != code:
                raise Wrong(f"{words}: the exit code is not {code}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mode", choices=("sm_90", "manual", "faults"))
    parser.add_argument("--lanewise", type=pathlib.Path, default=ROOT / "build/bin/lanewise")
    parser.add_argument("--silicon", type=pathlib.Path, default=ROOT / "build/bin/silicon")
    parser.add_argument("--records", type=pathlib.Path, default=ROOT / "tests/cuda/silicon")
    options = parser.parse_args()
    try:
        globals()[f"test_{options.mode}"](options)
    except Wrong as problem:
        print(f"{options.mode}: {problem}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
