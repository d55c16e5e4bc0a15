"""The rows of isa/ptx/*.def as data: patterns, operands, gates. The notation is that of isa/ptx/forms.def."""

import dataclasses
import pathlib
import re

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "isa" / "ptx"
ROW = re.compile(r'^FORM\((\w+), "([^"]*)", "([^"]*)"(.*)\)\s*$', re.M)


def read(name):
    return (FOLDER / name).read_text()


CLASSES = dict(re.findall(r'^CLASS\((\w+), "([^"]*)"\)', read("types.def"), re.M))
TYPES = {name: (int(bits), kind) for name, bits, kind in re.findall(r"^TYPE\((\w+), (\d+), (\w)\)", read("types.def"), re.M)}
TARGETS = [(int(number), suffix, int(major) * 10 + int(minor)) for number, suffix, major, minor in
           re.findall(r"^TARGET\((\d+), (?:0|'(\w)'), V\((\d+),(\d+)\)\)", read("targets.def"), re.M)]
GATES = re.findall(r'^GATE\("([^"]*)", "([^"]*)"', read("gates.def"), re.M)


def alternatives(text):
    """A group's words, classes expanded."""
    for word in text.split("|"):
        if word in CLASSES:
            yield from alternatives(CLASSES[word])
        else:
            yield word


def elements(pattern):
    """The pattern behind the opcode: (words, group number or 0, number of the { } that it stands in or None)."""
    found, groups, braces, inside = [], 0, 0, None
    for token in re.findall(r"\{|\}|\.\([^)]*\)|\.?[^.{}*( ]+|\.?\*", pattern):
        if token == "{":
            braces, inside = braces + 1, braces
        elif token == "}":
            inside = None
        elif token.startswith(".("):
            groups += 1
            found.append((list(alternatives(token[2:-1])), groups, inside))
        elif not token.endswith("*"):
            found.append(([token.lstrip(".")], 0, inside))
    return found


@dataclasses.dataclass(frozen=True)
class Row:
    id: str
    family: str
    pattern: str
    operands: str
    isa: int
    sm: int
    suffixed: bool  # needs a target with a suffix
    gone: int       # the version that took it away, for targets from `gone_sm` on; or 0
    gone_sm: int

    @property
    def opcode(self):
        return re.match(r"\w+", self.pattern)[0]

    @property
    def is_open(self):
        return self.pattern.endswith("*")


def version(text, field):
    match = re.search(rf"\.{field} = V\((\d+),\s*(\d+)\)", text)
    return int(match[1]) * 10 + int(match[2]) if match else 0


def rows():
    for name in re.findall(r'#include "ptx/(\w+)\.def"', read("forms.def")):
        for row_id, pattern, operands, rest in ROW.findall(read(f"{name}.def")):
            sm = re.search(r"\.sm = SM\((\d+)\)", rest)
            gone = re.search(r"\.gone = GONE\(V\((\d+),(\d+)\), (?:SM\((\d+)\)|(\d+))\)", rest)
            yield Row(row_id, name, pattern, operands, version(rest, "isa") or 10, int(sm[1]) if sm else 10, ".family = true" in rest,
                      int(gone[1]) * 10 + int(gone[2]) if gone else 0, int(gone[3] or gone[4]) if gone else 0)
