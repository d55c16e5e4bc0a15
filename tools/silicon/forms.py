"""The spellings of all instruction forms, right and wrong, made from the rows of isa/ptx/*.def: a new row gets its own by itself.

Of each row come: its spellings, each alternative and optional word at least once; operands of every kind in each place, immediates at and
beyond their ranges, vectors of wrong length, too few and too many; words dropped, put in, exchanged with others of the opcode; and the
versions and targets around its gates. What is a sample is chosen by digests of texts, so that a new row leaves the others' cases as they are;
`sample` is part of what is digested: another one chooses other cases, which nobody has looked at yet."""

import hashlib
import itertools
import re

import operands as made
import rows as table
from groups import Group, unique

SPELLINGS, MIXED = 12, 3
MANY = 16  # rows of an opcode, from which on each gets less
FOREIGN = "sat ftz rn rm wide lo u32 s32 b32 f32 b64 f16 bf16 pred sync cc relu global shared v2 v4 x2 approx volatile NaN aligned gpu L2::cache_hint".split()


sample = ""  # the recorded one


def digest(text):
    return hashlib.sha256(f"{sample}{text}".encode()).hexdigest()


def chosen(texts, count, salt):
    """At most `count` of the texts, the same ones each time."""
    texts = unique(texts)
    return sorted(sorted(texts, key=lambda text: digest(f"{salt} {text}"))[:count], key=texts.index)


# ---- spellings of a row --------------------------------------------------------------------------------------------

def spell(row, taken):
    """(mnemonic, texts of the groups) where element i has the word taken[i], or none."""
    parts = table.elements(row.pattern)
    groups = {number: word or "" for (_, number, _), word in zip(parts, taken) if number}
    return ".".join(word for word in taken if word), groups


def spellings(row):
    """Each alternative and each optional part once, and some mixtures."""
    parts = table.elements(row.pattern)
    base = [None if brace is not None else words[0] for words, _, brace in parts]
    found = [tuple(base)]
    for at, (words, _, brace) in enumerate(parts):
        whole = [w if w or parts[k][2] != brace or brace is None else parts[k][0][0] for k, w in enumerate(base)]
        for word in chosen(words, SPELLINGS, row.id):
            found.append((*whole[:at], word, *whole[at + 1:]))
    found = [found[0], *chosen(found[1:], SPELLINGS, row.id)]
    for mix in range(MIXED):
        taken = []
        for at, (words, _, brace) in enumerate(parts):
            number = int(digest(f"{row.id} {mix} {at if brace is None else 'brace'} {brace}")[:8], 16)
            present = brace is None or number % 2
            taken.append(words[(number // 2 + at) % len(words)] if present else None)
        found.append(tuple(taken))
    return unique(found)


def line(mnemonic, texts):
    return f"{mnemonic} {', '.join(texts)};".replace(" ;", ";")


# ---- wrong ones ----------------------------------------------------------------------------------------------------

def by_operand(row, mnemonic, forms, amount):
    """Each operand replaced by others; too few and too many."""
    right = [form.right() for form in forms]
    for at, form in enumerate(forms):
        for text in chosen(form.others(), amount, f"{mnemonic} {at}") + form.edges():
            yield line(mnemonic, [*right[:at], text, *right[at + 1:]])
    for more in chosen(["%r1", "0", "_", "%p1", "%rd1", "{%r1,%r2}", "[%rd1]"], 2, mnemonic):
        yield line(mnemonic, [*right, more])
    if right:
        yield line(mnemonic, right[:-1])
        yield line(mnemonic, right[1:])
        yield line(f"@!%p1 {mnemonic}", right)


def by_word(row, taken, words, texts, amount):
    """Words dropped, doubled, exchanged, put in, in another order."""
    present = [word for word in taken if word]
    for at in range(1, len(present)):
        yield line(".".join([*present[:at], *present[at + 1:]]), texts)
        for word in chosen(words, amount, f"{row.id} {at}"):
            yield line(".".join([*present[:at], word, *present[at + 1:]]), texts)
    for at in chosen(range(1, len(present) + 1), 3, row.id):
        for word in chosen(words, 2, f"{row.id} put {at}"):
            yield line(".".join([*present[:at], word, *present[at:]]), texts)
    if len(present) > 2:
        yield line(".".join([present[0], *reversed(present[1:])]), texts)
        yield line(".".join([*present[:-2], present[-1], present[-2]]), texts)
        yield line(".".join([*present, present[-1]]), texts)


def cases(row, words, alone):
    """All cases of a row at its newest setting; rows that are alone, or nearly, in their opcode get more."""
    if made.is_open(row):
        return
    amount = 2 if alone > MANY else 4 if alone > 3 else 6
    varied = (0,) if alone > MANY else (0, 2) if alone > 3 else (0, 2, 4, 6)
    for at, taken in enumerate(spellings(row)[:6 if alone > MANY else 99]):
        mnemonic, groups = spell(row, taken)
        for count, forms in enumerate(made.forms(row, mnemonic, groups)):
            right = [form.right() for form in forms]
            yield line(mnemonic, right)
            if count or at in varied:
                yield line(mnemonic, [form.right(constant=True) for form in forms])
            if at in varied and (at == 0 or not count):
                yield from by_operand(row, mnemonic, forms, amount)
            if at == 0 and not count or at == 3 and alone <= MANY:
                yield from by_word(row, taken, words, right, amount)


# ---- gates ---------------------------------------------------------------------------------------------------------

VERSIONS = sorted({since for _, _, since in table.TARGETS} | {14, 15, 21, 22, 23, 43, 62, 64, 65, 70, 72, 75, 76, 77, 78, 81, 82, 83, 84, 85, 90})
UNKNOWN = (101, 103)  # what ptxas knows by another name


def newest_target(version):
    """The newest target without a suffix of a version, and the oldest that ptxas still knows."""
    return max(number for number, suffix, since in table.TARGETS if not suffix and since <= version and number not in UNKNOWN)


def settings(isa, sm, suffixed):
    """The versions and targets around a gate."""
    suffix = "a" if suffixed else ""
    known = [(number, since) for number, own, since in table.TARGETS if own == suffix and number not in UNKNOWN]
    targets = sorted(number for number, _ in known)
    since = dict(known)
    above = [number for number in targets if number >= sm]
    if not above:
        return
    least = above[0]
    yield max(isa, since[least]), f"sm_{least}{suffix}"
    before = [version for version in VERSIONS if version < isa]
    if before:
        fits = [number for number in targets if since[number] <= before[-1]]
        if fits:
            yield before[-1], f"sm_{fits[-1]}{suffix}"
            if least in fits:
                yield before[-1], f"sm_{least}{suffix}"
        fits = [number for number in targets if since[number] <= isa]
        if fits:
            yield isa, f"sm_{fits[-1]}{suffix}"
    below = [number for number, own, _ in table.TARGETS if not own and number < sm and number not in UNKNOWN]
    if below:
        yield 90, f"sm_{max(below)}"
    if suffixed:
        yield 90, f"sm_{least}"
        yield 90, f"sm_{targets[-1]}a"


def gated(row, word):
    """A spelling with the word, and its operands."""
    for taken in spellings(row):
        if not word or word in taken[1:]:
            mnemonic, groups = spell(row, taken)
            for forms in made.forms(row, mnemonic, groups):
                return line(mnemonic, [form.right() for form in forms])
    return None


def plain(text, version, target):
    """For modules that are too old for registers of half precision: untyped ones; None where there are no such registers at all."""
    number = int(re.search(r"\d+", target)[0])
    if version < 42 or number < 53:
        text = re.sub(r"%hf(?=\d)", "%h", re.sub(r"%g(?=\d)", "%r", text))
    return None if "%q" in text and (version < 83 or number < 70) else text


def gate_cases(all_rows):
    """{(version, target): lines}"""
    found = {}
    for row in all_rows:
        if made.is_open(row):
            continue
        text = gated(row, None)
        for setting in settings(row.isa, row.sm, row.suffixed):
            found.setdefault(setting, []).append(text)
        if row.gone:
            for setting in ((row.gone, newest_target(row.gone)), (row.gone - 1, newest_target(row.gone)), (row.gone, row.gone_sm - 1)):
                if setting[0] >= 10 and setting[1] > 10 and any(number == setting[1] for number, _, _ in table.TARGETS):
                    found.setdefault((setting[0], f"sm_{setting[1]}"), []).append(text)
    for opcode, word, isa, sm in re.findall(r'^GATE\("([^"]*)", "([^"]*)", (\S+), (\S+)\)', table.read("gates.def").replace("V(", "").replace("SM(", ""), re.M):
        isa = int(isa.strip("()").replace(",", "")) if isa != "0" else 10
        sm = int(sm.strip("()")) if sm.strip("()") != "0" else 10
        with_word = [row for row in all_rows if (opcode == "*" or row.opcode == opcode) and not made.is_open(row)]
        texts = [text for text in (gated(row, word) for row in with_word) if text]
        for text in chosen(texts, 4, word):
            for setting in settings(isa, sm, False):
                found.setdefault(setting, []).append(text)
    return found


# ---- groups --------------------------------------------------------------------------------------------------------

def setting_of(row):
    """Where a row is tried: on sm_90a, or on the first newer target that has it."""
    for number, suffix, _ in sorted(target for target in table.TARGETS if target[1] == "a"):
        if number >= max(row.sm, 90) and number not in UNKNOWN:
            return 90, f"sm_{number}{suffix}"
    return None


def groups():
    def group(name, version, target, lines):
        return Group(name, f"{version // 10}.{version % 10}", target, unique(lines), made.header(version, target), made.FOOTER)

    all_rows = list(table.rows())
    by_opcode, words = {}, {}
    for row in all_rows:
        by_opcode.setdefault((setting_of(row), row.opcode), []).append(row)
        words.setdefault(row.opcode, []).extend(word for part in table.elements(row.pattern)[1:] for word in part[0])
    for (setting, opcode), members in by_opcode.items():
        if setting:
            lines = list(itertools.chain.from_iterable(cases(row, unique(words[opcode] + FOREIGN), len(members)) for row in members))
            if lines:
                yield group(opcode, *setting, lines)
    for (version, target), lines in sorted(gate_cases(all_rows).items()):
        lines = [plain(line, version, target) for line in lines if line]
        yield group("gates", version, target, ["", *filter(None, lines)])
