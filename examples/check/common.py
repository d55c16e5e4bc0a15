"""What the checks of the examples share: the command line, the files of a case, and the spelling of `lanewise run`.

A check is called as NAME.py make|args|verify DIR. `make` writes the inputs and case.json, which holds the sizes; `args` and
`verify` read case.json, so that the three always agree. All .bin files are raw little-endian words."""

import argparse
import array
import json
import pathlib
import random
import shlex
import sys

EXAMPLES = pathlib.Path(__file__).resolve().parent.parent
MASK = 0xFFFFFFFF


class Wrong(Exception):
    """The output is not what it must be; the text says where."""


# ---- the spelling of `lanewise run`: the only place that knows it -------------------------------------------------

def scalar(kind, value):
    """A scalar argument, such as u32=7."""
    return f"{kind}={value}"


def buffer_in(path, kind="u32"):
    """A buffer that the kernel only reads, with the contents of a raw file."""
    return f"{kind}[]=@{path}"


def buffer_out(path, words, kind="u32"):
    """A buffer of zeros that is written to a raw file after the run."""
    return f"{kind}[{words}]:out={path}"


def run_arguments(name, grid, block, arguments):
    """The arguments of `lanewise run` for one launch of the example `name`."""
    shape = lambda size: ",".join(str(n) for n in size) if isinstance(size, tuple) else str(size)
    line = [str(EXAMPLES / name / f"{name}.ptx"), "--grid", shape(grid), "--block", shape(block)]
    for argument in arguments:
        line += ["--arg", argument]
    return line


# ---- files --------------------------------------------------------------------------------------------------------

def words_of(data):
    """The little-endian 32-bit words of a byte string."""
    words = array.array("I")
    assert words.itemsize == 4
    words.frombytes(data)
    if sys.byteorder == "big":
        words.byteswap()
    return words


def bytes_of(words):
    """The opposite of words_of, for any iterable of numbers below 2**32."""
    out = array.array("I", words)
    if sys.byteorder == "big":
        out.byteswap()
    return out.tobytes()


def read_exactly(path, size):
    """The contents of an output file, which must have this size."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise Wrong(f"{path.name} is missing: the kernel has not been run") from None
    if len(data) != size:
        raise Wrong(f"{path.name} has {len(data)} bytes instead of {size}")
    return data


def random_words(count, seed):
    """`count` words from a fixed seed, with some edge values first."""
    edges = [0, 1, MASK, 0x80000000, 0x7FFFFFFF, 0x55555555, 0xAAAAAAAA]
    source = random.Random(seed)
    return array.array("I", (edges + [source.getrandbits(32) for _ in range(count)])[:count])


def compare(name, got, want, unit, what):
    """Compares two byte strings made of items of `unit` bytes; on a difference, names the first item that differs."""
    if got == want:
        return
    first = next(i for i in range(0, len(want), unit) if got[i:i + unit] != want[i:i + unit])
    bad = sum(got[i:i + unit] != want[i:i + unit] for i in range(0, len(want), unit))
    raise Wrong(f"{name}: {bad} of {len(want) // unit} {what}s differ; {what} {first // unit} is "
                f"{got[first:first + unit].hex()}, not {want[first:first + unit].hex()}")


def blocks(count, block):
    """How many blocks of `block` threads hold `count` threads."""
    return (count + block - 1) // block


# ---- the command line ---------------------------------------------------------------------------------------------

def main(document, sizes, make, args, verify):
    """Runs one check. `sizes` maps each size that `make` takes as an option to its default; make(dir, case) writes the
    inputs, args(dir, case) gives the arguments of the run, verify(dir, case) returns what was checked or raises Wrong."""
    parser = argparse.ArgumentParser(description=document.split("\n\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    for command in ("make", "args", "verify"):
        sub = commands.add_parser(command)
        sub.add_argument("dir", type=pathlib.Path)
        if command == "make":
            for size, default in sizes.items():
                sub.add_argument(f"--{size}", type=int, default=default)
    options = parser.parse_args()
    directory, case_file = options.dir, options.dir / "case.json"
    name = pathlib.Path(sys.argv[0]).stem

    if options.command == "make":
        case = {size: getattr(options, size) for size in sizes}
        for size, value in case.items():
            if not 0 < value <= MASK:
                parser.error(f"--{size} must be positive and below 2**32")
        directory.mkdir(parents=True, exist_ok=True)
        case_file.write_text(json.dumps(case))
        make(directory, case)
        return 0
    try:
        case = json.loads(case_file.read_text())
    except FileNotFoundError:
        print(f"{name}: no case in {directory}: run `{sys.argv[0]} make {directory}` first", file=sys.stderr)
        return 2
    if options.command == "args":
        print(shlex.join(args(directory, case)))
        return 0
    try:
        print(f"{name}: ok: {verify(directory, case)}")
        return 0
    except Wrong as wrong:
        print(f"{name}: WRONG: {wrong}")
        return 1
