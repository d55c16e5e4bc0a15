"""What the tests of PTO's operations share: the rows of isa/pto as the tool lists them, each form of one as text, masks by name, and runs whose
arrays are NumPy's."""

import argparse
import collections
import itertools
import pathlib
import re
import subprocess
import sys
import tempfile

try:
    import numpy
except ImportError:
    print("numpy is missing: nothing to compute with")
    sys.exit(77)

import model
from programs import tool_type

ISA = pathlib.Path(__file__).resolve().parents[2] / "isa/pto"
FORMS = ("assembly", "DPS", "SSA", "SSA bare")
LANES = 4096  # the most that a register has

Operand = collections.namedtuple("Operand", "name kind optional")
Row = collections.namedtuple("Row", "name family ins outs")
Done = collections.namedtuple("Done", "arrays notes status errors")


# ---- The tables ------------------------------------------------------------------------------------------------------


def operands(text):
    parts = (part.strip().partition(":") for part in text.split(",") if part.strip())
    return [Operand(name, kind.rstrip("?"), kind.endswith("?")) for name, _, kind in parts]


def rows(tool):
    """All operations, by name."""
    listed = subprocess.run([tool, "isa", "--language", "pto", "--tsv"], capture_output=True, text=True, check=True).stdout
    fields = (line.split("\t") for line in listed.splitlines())
    return {name: Row(name, family, operands(ins), operands(outs)) for family, _, name, ins, outs, *_ in fields}


def fields(file, macro):
    """The rows of a table, as lists of texts."""
    text = re.sub(r"/\*.*?\*/|^#.*?$", "", (ISA / file).read_text(), flags=re.S | re.M)
    return [[field.strip("\"' ") for field in row.split(",")] for row in re.findall(rf"\b{macro}\((.*?)\)", text)]


# ---- Text ------------------------------------------------------------------------------------------------------------


def group(texts):
    return texts[0] if len(texts) == 1 else f"({', '.join(texts)})"


def spell(row, form, word, outs, ins):
    """One operation in one form. `outs` and `ins` are pairs of text and type, `word` is what stands in front of them, or None."""
    words = [word] if word is not None else []
    names, types = [[text for text, _ in some] for some in (outs, ins)], [[kind for _, kind in some] for some in (outs, ins)]
    if form == "assembly":
        all_types = types[0] + types[1]
        kind = next((t for t in all_types if t.startswith("!pto.vreg")), all_types[0])
        return f"{row.name.removeprefix('pto.')} {', '.join(words + names[0] + names[1])} : {kind}"
    if form == "DPS":
        written = [bool(o.kind == "mem!") for o in row.ins] if len(ins) == len(row.ins) else [False] * len(ins)
        outs = outs + [i for i, out in zip(ins, written) if out]
        ins = [i for i, out in zip(ins, written) if not out]
        parts = [f"{what}({', '.join(t for t, _ in some)} : {', '.join(t for _, t in some)})" for what, some in (("ins", ins), ("outs", outs)) if some]
        return " ".join([row.name, *words, *parts])
    results = f"{', '.join(names[0])} = " if outs else ""
    head = f"{results}{row.name} {', '.join(words + names[1])}".rstrip()
    if form == "SSA":
        return f"{head} : ({', '.join(types[1])}) -> {group(types[0])}"
    arrow = " -> " if outs and ins else ""
    return f"{head} : {', '.join(types[1])}{arrow}{', '.join(types[0])}"


# ---- Masks -----------------------------------------------------------------------------------------------------------


def patterns(lanes, chance, firsts, noise):
    """Masks as rows of truth values: all, none, every second, one lane alone, the first k for `firsts` values of k, random ones."""
    lane = numpy.arange(lanes)
    made = [lane >= 0, lane < 0, lane % 2 == 0, lane % 2 == 1, lane == 0, lane == lanes - 1]
    made += [lane < k for k in sorted({round(i * lanes / max(firsts - 1, 1)) for i in range(firsts)})]
    made += [chance.random(lanes) < density for density in numpy.linspace(0.1, 0.9, noise)]
    return numpy.array(made)


def bits_of(mask):
    return int.from_bytes(numpy.packbits(mask, bitorder="little").tobytes(), "little")


# ---- Numbers ----------------------------------------------------------------------------------------------------------


def dtype(kind):
    return numpy.dtype(f"{kind[0]}{model.TYPES[kind][0] // 8}")


def edges(kind, chance):
    """Pairs of what is interesting, as whole numbers of the type."""
    bits, _ = model.TYPES[kind]
    near = [0, 1, bits - 1, bits, bits + 1, 2 * bits, 2 ** (bits - 1), 2 ** (bits - 1) - 1, 2**bits - 1, 2**bits - bits]
    near += [2 ** (bits // 2), 2 ** (bits // 2) + 1, 2**32 % 2**bits, (2**32 + 1) % 2**bits]
    values = [model.number(x, kind) for x in near + [chance.getrandbits(bits) for _ in range(3)]]
    pairs = {(a, b) for a in values for b in values}
    pairs |= {(model.number(chance.getrandbits(bits), kind), model.number(chance.randrange(bits), kind)) for _ in range(80)}
    return sorted(pairs)


def all_shapes():
    spellings = {kind: [other for other, same in fields("types.def", "SPELLED") if same == kind] for kind in model.TYPES}
    for kind, (bits, _) in model.TYPES.items():
        for lanes in sorted({1, 3, 16, 45, 200, 2048 // bits, LANES}):
            yield kind, kind, lanes, lanes
        yield kind, kind, 2048 // bits, f"b{bits}"
        for other in spellings[kind]:
            yield other, kind, 16, 16


def shapes(part):
    """Every spelling of an element type, its type, lanes and the G of its mask: at all widths for the usual spelling, at one for others. Of them the
    first and each `part`-th one behind it, which is another width of each type."""
    return itertools.islice(all_shapes(), 0, None, part)


def parser_of_shapes(what):
    parser = argparse.ArgumentParser(description=what)
    parser.add_argument("--lanewise", default="build/bin/lanewise")
    parser.add_argument("--part", type=int, default=1, metavar="N", help="only every N-th width, another one of each type")
    return parser


def equal(what, got, want, source):
    """Elements of two arrays."""
    if not numpy.array_equal(got, want):
        i = int(numpy.flatnonzero(got != want)[0])
        sys.exit(f"{what}: element {i} is {got[i]}, not {want[i]}\n{source.read_text()[:4000]}")


# ---- Runs ------------------------------------------------------------------------------------------------------------


class Tool:
    def __init__(self, path):
        self.path = path
        self.folder = tempfile.TemporaryDirectory()

    def file(self, name, content):
        path = pathlib.Path(self.folder.name, name)
        path.unlink(missing_ok=True)  # faster than to write it again
        path.write_bytes(content) if isinstance(content, bytes) else path.write_text(content)
        return path

    def argument(self, number, value):
        """A pair of type and array or number; of a triple the array is wanted back, too."""
        kind, value, *back = value
        if isinstance(value, int):
            return f"--arg={tool_type(kind)}={value}"
        content = numpy.ascontiguousarray(value, dtype(kind)).tobytes()
        return f"--arg={tool_type(kind)}[]=@{self.file(f'argument{number}', content)}{':out=/dev/stdout' if back else ''}"

    def run(self, source, function, arguments, results, *options, fails=False):
        """`results` are types and numbers of elements, in the order in which they come. Everything comes through one pipe."""
        command = [self.path, "run", str(source), "--func", function, *(self.argument(i, a) for i, a in enumerate(arguments)), *options]
        command += ["--result=out=/dev/stdout"] * (len(results) - sum(len(a) == 3 for a in arguments))
        done = subprocess.run(command, capture_output=True)
        errors = done.stderr.decode()
        if fails:
            return Done([], {}, done.returncode, errors)
        if done.returncode:
            sys.exit(f"{source}: {' '.join(command[4:])[:2000]}\n{errors[:2000]}")
        sizes = [dtype(kind).itemsize * count for kind, count in results]
        if len(done.stdout) != sum(sizes):
            sys.exit(f"{source}: {len(done.stdout)} bytes of results, not {sum(sizes)}")
        ends = numpy.cumsum([0, *sizes])
        arrays = [numpy.frombuffer(done.stdout[at : at + size], dtype(kind)) for (kind, _), at, size in zip(results, ends, sizes)]
        return Done(arrays, notes_of(errors), 0, errors)


def notes_of(errors):
    """How often each line had a shift count that was too large, and what was made of it."""
    found = re.findall(r":(\d+):\d+: note\[(LW\d+)\].*: (\d+) lanes?$", errors, re.M)
    return {int(line): (code, int(count)) for line, code, count in found}
