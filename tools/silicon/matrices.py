#!/usr/bin/env python3
"""Writes the run tests of matrix instructions, tests/ptx/matrix/run_{mma,wmma,ldmatrix}*.ptx.

    matrices.py [--check]          writes the files; --check only says which differ

Four warps, each with numbers of another sort: all bits, exponents near each other, far from each other, few values (zeros, powers of two, infinities).
What a form gives is one sum of hashes for each of them, worked out by model_matrix.py until record.py has put what a GPU gives into a file. A file that
has a record keeps it."""

import itertools
import pathlib
import re
import sys

import atomics
import model_matrix as model
import rows

TESTS = pathlib.Path(__file__).resolve().parent.parent.parent / "tests/ptx/matrix"
MADE = "// Made by tools/silicon/matrices.py."
LANES, WARPS, WORD = 32, 4, 0xFFFFFFFF
REGION = 512  # words of a matrix in memory

# Of each kind of elements, in words of 32 bits: (and, or) for each warp.
HALVES = lambda *pairs: [(x | x << 16, y | y << 16) for x, y in pairs]
BYTES = lambda *pairs: [(x * 0x01010101, y * 0x01010101) for x, y in pairs]
ALL = (WORD, 0)
MASKS = {"f16": [ALL] + HALVES((0x87FF, 0x3800), (0xBFFF, 0), (0xFC00, 0)),
         "bf16": [ALL] + HALVES((0x80FF, 0x3F00), (0x8FFF, 0x3000), (0xFF80, 0)),
         "f32": [ALL, (0x80FFFFFF, 0x3F000000), (0x87FFFFFF, 0x38000000), (0xFF800000, 0)],
         "f64": [ALL, (0x801FFFFF, 0x3FE00000), (0x83FFFFFF, 0x3C000000), (0xFFF00000, 0)],
         "e4m3": [ALL] + BYTES((0x8F, 0x30), (0xBF, 0), (0xF8, 0)), "e5m2": [ALL] + BYTES((0x87, 0x38), (0xBF, 0), (0xFC, 0)),
         "int": [ALL, (0x77777777, 0), (0x0F0F0F0F, 0x70707070), (0x88888888, 0)],
         "s32": [ALL, (0x80000FFF, 0), (0x7FFFFFFF, 0x7FFFF000), (0x80000FFF, 0x80000000)]}
MASKS["tf32"] = MASKS["f32"]
MASK_KINDS = list(MASKS)
SMALL = ("e3m2", "e2m3", "e2m1")
LATER_MASKS = {"small": [ALL] + BYTES((0x7C, 0), (0xB7, 4), (0x24, 0x10)), "ue8m0": [ALL] + BYTES((3, 0x7C), (0x1F, 0x60), (0x81, 0x7E)),
               "ue4m3": [ALL] + BYTES((0x0F, 0x30), (0x3F, 0), (0x78, 0))}  # only in files that have such elements
EVERY_MASK = [*MASK_KINDS, *LATER_MASKS]


def masks_of(kind):
    return "small" if kind in SMALL else kind if kind in MASKS or kind in LATER_MASKS else "int"


def masks_at(kind):
    return EVERY_MASK.index(masks_of(kind)) * 8 * WARPS


# ---- what the kernels compute, too ----------------------------------------------------------------------------------

def mixed(x):
    x = (x ^ x >> 16) * 0x85EBCA6B & WORD
    x = (x ^ x >> 13) * 0xC2B2AE35 & WORD
    return x ^ x >> 16


def word(who, key, kind, warp):
    taken, given = (MASKS | LATER_MASKS)[masks_of(kind)][warp]
    return mixed(who * 0x9E3779B1 + key * 0x7FEB352D & WORD) & taken | given


def folded(value, place):
    return mixed(value ^ place * 0x9E3779B1 & WORD)


FUNCTIONS = """.func (.reg .b32 d) mixed(.reg .b32 x)
{
    .reg .b32 %h;
    shr.u32 %h, x, 16;
    xor.b32 x, x, %h;
    mul.lo.u32 x, x, 0x85ebca6b;
    shr.u32 %h, x, 13;
    xor.b32 x, x, %h;
    mul.lo.u32 x, x, 0xc2b2ae35;
    shr.u32 %h, x, 16;
    xor.b32 d, x, %h;
    ret;
}

.func (.reg .b32 d) word(.reg .b32 who, .reg .b32 key, .reg .b32 and, .reg .b32 or)
{
    .reg .b32 %h;
    mul.lo.u32 %h, key, 0x7feb352d;
    mad.lo.u32 %h, who, 0x9e3779b1, %h;
    call (%h), mixed, (%h);
    and.b32 %h, %h, and;
    or.b32 d, %h, or;
    ret;
}

// Of register `number` of each lane.
.func (.reg .b32 d) fold(.reg .b32 sum, .reg .b32 value, .reg .b32 number)
{
    .reg .b32 %p, %h;
    mov.u32 %h, %laneid;
    mad.lo.u32 %p, number, 32, %h;
    mul.lo.u32 %p, %p, 0x9e3779b1;
    xor.b32 %h, value, %p;
    call (%h), mixed, (%h);
    add.u32 d, sum, %h;
    ret;
}
"""
MEMORY = """
// A region of memory gets numbers, and is folded.
.func fill(.reg .b64 to, .reg .b32 who, .reg .b32 key, .reg .b32 and, .reg .b32 or)
{
    .reg .pred %p;
    .reg .b32 %h, %n;
    .reg .b64 %at;
    mov.u32 %n, %laneid;
next:
    mul.wide.u32 %at, %n, 4;
    add.u64 %at, to, %at;
    mad.lo.u32 %h, who, 512, %n;
    call (%h), word, (%h, key, and, or);
    st.u32 [%at], %h;
    add.u32 %n, %n, 32;
    setp.lt.u32 %p, %n, 512;
    @%p bra next;
    bar.warp.sync 0xffffffff;
    ret;
}

.func (.reg .b32 d) fold_region(.reg .b32 sum, .reg .b64 from)
{
    .reg .pred %p;
    .reg .b32 %h, %n, %t;
    .reg .b64 %at;
    bar.warp.sync 0xffffffff;
    mov.u32 %n, 0;
    mov.u32 %t, %laneid;
    mul.wide.u32 %at, %t, 4;
    add.u64 %at, from, %at;
next:
    ld.u32 %h, [%at];
    call (sum), fold, (sum, %h, %n);
    add.u64 %at, %at, 128;
    add.u32 %n, %n, 1;
    setp.lt.u32 %p, %n, 16;
    @%p bra next;
    bar.warp.sync 0xffffffff;
    mov.b32 d, sum;
    ret;
}
"""


# ---- instructions of the table --------------------------------------------------------------------------------------

def spellings(row, most):
    """At most so many of a row's mnemonics, among them each word of each group; all of them where they are no more."""
    groups = [(words if inside is None else [""] + words) for words, _, inside in rows.elements(row.pattern)]
    total = 1
    for words in groups:
        total *= len(words)
    if total <= most:
        chosen = itertools.product(*groups)
    else:
        chosen = [[words[(k * (1 if g % 2 else 1 + k // 2) + k // len(words) * g) % len(words)] for g, words in enumerate(groups)] for k in range(most)]
    found = dict.fromkeys(".".join(word for word in words if word) for words in chosen)
    return list(found)


def shape_of(mnemonic):
    return tuple(map(int, re.search(r"\bm(\d+)n(\d+)k(\d+)\b", mnemonic).groups()))


def count_of(row, mnemonic, operand):
    """Registers of operand d, a, b or c."""
    text = re.search(rf"(?:^|, ){operand}:[^,]*?[VW]([mnk]*)(?:\$\d+/)?(\d+)", row.operands)
    if not text[1]:
        return int(text[2])
    sizes = dict(zip("mnk", shape_of(mnemonic)))
    total = 1
    for letter in text[1]:
        total *= sizes[letter]
    return total // int(text[2])


def kinds_of(mnemonic):
    """d, a, b, c"""
    found = [word for word in mnemonic.split(".") if word in model.BITS]
    return found if len(found) == 4 else [found[0], "f16", "f16", found[1]] if len(found) == 2 else found


def bits_of(mnemonic, kind):
    """That an element has in its register."""
    return 8 if kind in SMALL and "f8f6f4" in mnemonic else model.BITS[kind]


def number_of(mnemonic, kind, bits):
    """The element of what has its room: e2m1 is in the middle of a byte."""
    return bits >> 2 & 15 if kind == "e2m1" and bits_of(mnemonic, kind) == 8 else bits & 63 if kind in SMALL else bits


def lanes_of(registers, bits):
    """Elements of a lane from its registers."""
    if bits >= 32:
        return registers
    return [register >> bits * e & (1 << bits) - 1 for register in registers for e in range(32 // bits)]


def matrix(registers, bits, place, height, width):
    """registers[lane][r] as rows; every element is written, by whom is the layout's affair."""
    found = {}
    for lane in range(LANES):
        for index, value in enumerate(lanes_of(registers[lane], bits)):
            found[place(lane, index)] = value
    return [[found[(i, k)] for k in range(width)] for i in range(height)]


def fragments(matrix_of, bits, count, place):
    """The other way: count registers of each lane."""
    each = model.elements(bits)
    def register(lane, r):
        total = 0
        for e in range(each):
            i, k = place(lane, r * each + e)
            total |= matrix_of[i][k] << bits * e
        return total
    return [[register(lane, r) for r in range(count)] for lane in range(LANES)]


def function_of(mnemonic, kinds):
    """What makes an element of d of a row of a, a column of b and an element of c."""
    d, a, b, c = kinds
    clamps = "satfinite" in mnemonic.split(".")
    if a == "f64":
        rounding = next((word for word in mnemonic.split(".") if word in ("rz", "rm", "rp")), "rn")
        return lambda x, y, z: model.doubles(x, y, z, rounding)
    if a == "b1":
        xor = ".xor." in mnemonic
        return lambda x, y, z: z + sum(p ^ q if xor else p & q for p, q in zip(x, y)) & WORD
    if a[0] in "su":
        return lambda x, y, z: model.integers((a, b), x, y, z, clamps)
    if ".kind::" in mnemonic:
        numbers = lambda kind, elements: [number_of(mnemonic, kind, x) for x in elements]
        return lambda x, y, z, *scales: model.scaled((a, b), numbers(a, x), numbers(b, y), z, d, *scales)
    if a in ("e4m3", "e5m2"):
        return lambda x, y, z: model.bytewise((a, b), x, y, z, d)
    if mnemonic.startswith("wmma") and a == "f16":
        return lambda x, y, z: model.wmma(x, y, z, c, d, clamps)
    if mnemonic.startswith("wmma") and a == "tf32":
        return lambda x, y, z: model.block("tf32", x, y, z, d, 4)
    return lambda x, y, z: model.block(a, x, y, z, d)


# ---- mma ------------------------------------------------------------------------------------------------------------

class Registers:
    """Operands of one lane and more: names by kind, filled with numbers that the model knows."""

    def __init__(self, name, kind, count, key):
        self.kind, self.wide, self.key = kind, kind == "f64", key
        self.names = [f"%{name}{'x' if self.wide else ''}{r}" for r in range(count)]

    def text(self):
        lines = [f"ld.const.v2.b32 {{%and, %or}}, [%masks+{masks_at(self.kind)}];"]
        for r, name in enumerate(self.names):
            if self.wide:
                lines += [f"call (%lo), word, (%t, {self.key + 2 * r}, %and, %or);", f"call (%hi), word, (%t, {self.key + 2 * r + 1}, %and, %or);",
                          f"mov.b64 {name}, {{%lo, %hi}};"]
            else:
                lines.append(f"call ({name}), word, (%t, {self.key + r}, %and, %or);")
        return lines

    def values(self, warp, count):
        def one(thread, r):
            if self.wide:
                return word(thread, self.key + 2 * r, self.kind, warp) | word(thread, self.key + 2 * r + 1, self.kind, warp) << 32
            return word(thread, self.key + r, self.kind, warp)
        return [[one(LANES * warp + lane, r) for r in range(count)] for lane in range(LANES)]


def fold_text(names, wide, first=0):
    lines = []
    for r, name in enumerate(names):
        if wide:
            lines += [f"mov.b64 {{%lo, %hi}}, {name};", f"call (%sum), fold, (%sum, %lo, {first + 2 * r});", f"call (%sum), fold, (%sum, %hi, {first + 2 * r + 1});"]
        else:
            lines.append(f"call (%sum), fold, (%sum, {name}, {first + r});")
    return lines


def fold_values(registers, wide, first=0):
    total = 0
    for lane in range(LANES):
        for r, value in enumerate(registers[lane]):
            words = [value & WORD, value >> 32] if wide else [value]
            total += sum(folded(part, (first + len(words) * r + k) * LANES + lane) for k, part in enumerate(words))
    return total & WORD


def dense(mnemonic, kinds, counts, values, scales):
    """d of one warp, by lanes, of operands by lanes."""
    m, n, k = shape_of(mnemonic)
    bits = [bits_of(mnemonic, kind) for kind in kinds]
    element = function_of(mnemonic, kinds)
    if (m, kinds[1]) == (8, "f16"):
        return quads(mnemonic, kinds, counts, values)
    place = lambda operand, size: lambda lane, index: model.place_mma(operand, size, lane, index)
    a, b, c = (matrix(values[o], bits[o], place("abc"[o - 1], bits[o]), *((m, k), (k, n), (m, n))[o - 1]) for o in (1, 2, 3))
    d = [[element(a[i], [row[j] for row in b], c[i][j], *scales(i, j)) for j in range(n)] for i in range(m)]
    return fragments(d, bits[0], counts[0], place("c", bits[0]))


def quads(mnemonic, kinds, counts, values):
    layouts = [word for word in mnemonic.split(".") if word in ("row", "col")]
    result = [[0] * counts[0] for _ in range(LANES)]
    for part in range(4):
        found = [{}, {}, {}]
        for o in (1, 2, 3):
            for lane in range(LANES):
                for index, value in enumerate(lanes_of(values[o][lane], model.BITS[kinds[o]])):
                    where, i, j = model.place_quad("abc"[o - 1], kinds[o], layouts[o - 1] if o < 3 else "", lane, index)
                    if where == part:
                        found[o - 1][i, j] = value
        bits = model.BITS[kinds[0]]
        for lane in range(LANES):
            for index in range(8):
                where, i, j = model.place_quad("c", kinds[0], "", lane, index)
                if where == part:
                    value = model.quad([found[0][i, x] for x in range(4)], [found[1][x, j] for x in range(4)], found[2][i, j], kinds[3], kinds[0])
                    result[lane][index * bits // 32] |= value << index * bits % 32
    return result


def sparse(mnemonic, kinds, counts, values, scales, metadata, selector):
    m, n, k = shape_of(mnemonic)
    bits = [bits_of(mnemonic, kind) for kind in kinds]
    element = function_of(mnemonic, kinds)
    place = lambda operand, size: lambda lane, index: model.place_mma(operand, size, lane, index)
    a, b, c = (matrix(values[o], bits[o], place("abc"[o - 1], bits[o]), *((m, k // 2), (k, n), (m, n))[o - 1]) for o in (1, 2, 3))
    columns = [[row[j] for row in b] for j in range(n)]
    def row(i):
        places = [model.metadata_place(bits[1], k, i, q, selector) for q in range(model.nibbles(bits[1], k))]
        chosen = [metadata[lane][0] >> at & 15 for lane, at in places]
        return [element(a[i], model.select(bits[1], chosen, columns[j]), c[i][j], *scales(i, j)) for j in range(n)]
    return fragments([row(i) for i in range(m)], bits[0], counts[0], place("c", bits[0]))


def mma_cases(ids, most):
    """Lines and sums of all forms, by the types of their operands, which are made once."""
    groups = {}
    for row in rows.rows():
        if ids(row):
            for mnemonic in spellings(row, most(row)):
                kinds = kinds_of(mnemonic)
                groups.setdefault((masks_of(kinds[1]), masks_of(kinds[2]), masks_of(kinds[3])), []).append((row, mnemonic, kinds))
    key, number = 1, 0
    for (a, b, c), members in groups.items():
        counts = [max(count_of(row, mnemonic, operand) for row, mnemonic, _ in members) for operand in "abc"]
        operands = [Registers(name, kind, count, key + 32 * k) for k, (name, kind, count) in enumerate(zip("abc", (a, b, c), counts))]
        key += 100
        yield [line for operand in operands for line in operand.text()], None
        for row, mnemonic, kinds in members:
            yield mma_case(row, mnemonic, kinds, operands, number)
            number += 1


def selectors(mnemonic, kind):
    """How many lanes of four, or pairs of them, can have the metadata."""
    return {4: 4, 8: 2, 16: 1}[model.nibbles(bits_of(mnemonic, kind), shape_of(mnemonic)[2])]


class Scales:
    """Scale factors of an instruction, if it has any: those of a are in %row, those of b in %mine; who has them, and in which bytes."""

    def __init__(self, mnemonic, number):
        self.kind = next((word for word in mnemonic.split(".") if word.startswith("ue")), None)
        said = re.search(r"scale_vec::(\d)X", mnemonic)
        self.count = int(said[1]) if said else 1 if "mxf8f6f4" in mnemonic else 2
        self.key = {operand: 5000 + 2 * number + k for k, operand in enumerate("ab")}
        byte = {1: (0, 1, 2, 3), 2: (0, 2, 2, 0), 4: (0, 0, 0, 0)}[self.count]
        self.chosen = {"a": (byte[number % 4], (number // 2 + 1) % 2), "b": (byte[(number // 3 + 2) % 4], (number + 1) % 4)}
        self.in_registers = number % 2 == 1

    def text(self):
        if not self.kind:
            return [], "", []
        before = [f"ld.const.v2.b32 {{%and, %or}}, [%masks+{masks_at(self.kind)}];", f"call (%row), word, (%t, {self.key['a']}, %and, %or);",
                  f"call (%mine), word, (%t, {self.key['b']}, %and, %or);"]
        values = [str(value) for operand in "ab" for value in self.chosen[operand]]
        if not self.in_registers:
            return before, f", %row, {{{values[0]}, {values[1]}}}, %mine, {{{values[2]}, {values[3]}}}", []
        moves = [f"mov.b16 %y{k}, {value};" for k, value in enumerate(values)]
        return before + ["{", ".reg .b16 %y<4>;"] + moves, ", %row, {%y0, %y1}, %mine, {%y2, %y3}", ["}"]

    def of(self, warp):
        """What an element of d needs of them."""
        if not self.kind:
            return lambda i, j: ()
        def factors(operand, line):
            byte, thread = self.chosen[operand]
            data = word(LANES * warp + model.scale_place(operand, line, thread), self.key[operand], self.kind, warp)
            return [data >> 8 * (byte + k) & 0xFF for k in range(self.count)]
        return lambda i, j: (self.kind, factors("a", i), factors("b", j))


def mma_case(row, mnemonic, kinds, operands, number):
    counts = [count_of(row, mnemonic, operand) for operand in "dabc"]
    wide = kinds[0] == "f64"
    d = [f"%d{'x' if wide else ''}{r}" for r in range(counts[0])]
    lists = [d] + [operand.names[:count] for operand, count in zip(operands, counts[1:])]
    chosen = re.search(r"f:imm\(0(?:\.\.(\d))?\)", row.operands)
    selector = number % selectors(mnemonic, kinds[1]) if chosen else 0
    last = f", %e, {selector}" if chosen else ""
    scales = Scales(mnemonic, number)
    before, behind, after = scales.text()
    lines = before + [f"{mnemonic} {', '.join('{' + ', '.join(names) + '}' for names in lists)}{last}{behind};"] + after + ["mov.b32 %sum, 0;"] + fold_text(d, wide)
    def sums():
        for warp in range(WARPS):
            values = [None] + [operand.values(warp, count) for operand, count in zip(operands, counts[1:])]
            if chosen:
                metadata = [[mixed((LANES * warp + lane) * 0x9E3779B1 & WORD)] for lane in range(LANES)]
                yield fold_values(sparse(mnemonic, kinds, counts, values, scales.of(warp), metadata, selector), wide)
            else:
                yield fold_values(dense(mnemonic, kinds, counts, values, scales.of(warp)), wide)
    return lines, sums


# ---- wmma -----------------------------------------------------------------------------------------------------------

SPACES = {"": "%near", ".shared": "%place", ".shared::cta": "%place", ".global": "%far"}


class Tile:
    """A matrix in memory: with its elements in lines of `stride`."""

    def __init__(self, kind, height, width, layout, stride, key):
        self.kind, self.bits, self.size, self.layout, self.key = kind, model.BITS[kind], (height, width), layout, key
        self.stride = stride or (width if layout == "row" else height)

    def where(self, i, k):
        line, along = (i, k) if self.layout == "row" else (k, i)
        return (line * self.stride + along) * self.bits

    def read(self, memory):
        total = sum(value << 32 * k for k, value in enumerate(memory))
        return [[total >> self.where(i, k) & (1 << self.bits) - 1 for k in range(self.size[1])] for i in range(self.size[0])]

    def written(self, memory, values):
        total = sum(value << 32 * k for k, value in enumerate(memory))
        for i, k in itertools.product(*map(range, self.size)):
            at, mask = self.where(i, k), (1 << self.bits) - 1
            total = total & ~(mask << at) | values[i][k] << at
        return [total >> 32 * k & WORD for k in range(len(memory))]


def region(key, kind, warp):
    return [word(REGION * warp + k, key, kind, warp) for k in range(REGION)]


def wmma_cases(ids, most):
    table = [row for row in rows.rows() if row.id.startswith("WMMA_") and ids(row)]
    loads = {mnemonic: row for row in table if "LOAD" in row.id or "STORE" in row.id for mnemonic in spellings(row, 10**6)}
    number = 0
    for row in table:
        if "_MMA_" in row.id:
            for mnemonic in spellings(row, most(row)):
                yield wmma_case(row, mnemonic, loads, number)
                number += 1


def moved(verb, operand, layout, shape, space, kind, loads):
    """The mnemonic of a load or store, and its row."""
    for aligned in (".aligned", ""):
        name = f"wmma.{verb}.{operand}.sync{aligned}.{layout}.{shape}{space}.{kind}"
        if name in loads:
            return name, loads[name]
    raise SystemExit(f"matrices.py: there is no {name}")


def wmma_case(row, mnemonic, loads, number):
    (m, n, k), kinds = shape_of(mnemonic), kinds_of(mnemonic)
    shape, layouts = f"m{m}n{n}k{k}", [word for word in mnemonic.split(".") if word in ("row", "col")]
    spaces, both = [space for space in SPACES if "::" not in space or not row.gone], ["row", "col"]
    sizes = {"a": (m, k), "b": (k, n), "c": (m, n), "d": (m, n)}
    kind_of = dict(zip("dabc", kinds))
    layout_of = {"a": layouts[0], "b": layouts[1], "c": both[number % 2], "d": both[number // 2 % 2]}
    lines, tiles, names = ["mov.b32 %sum, 0;"], {}, {}
    for o, operand in enumerate("abcd"):
        kind, (height, width), space = kind_of[operand], sizes[operand], spaces[(number + o) % len(spaces)]
        along = width if layout_of[operand] == "row" else height
        stride = along + 128 // model.BITS[kind] if (number + o) % 3 else 0
        tile = tiles[operand] = Tile(kind, height, width, layout_of[operand], stride, 4 * number + o)
        base = SPACES[space]
        lines += [f"ld.const.v2.b32 {{%and, %or}}, [%masks+{masks_at(kind)}];",
                  f"call fill, ({'%far' if space == '.global' else '%near'}, %warp, {tile.key}, %and, %or);"]
        name, other = moved("store" if operand == "d" else "load", operand, layout_of[operand], shape, space, kind, loads)
        count = count_of(row, mnemonic, operand)
        names[operand] = [f"%{operand}{'x' if kind == 'f64' else ''}{r}" for r in range(count)]
        registers = "{" + ", ".join(names[operand]) + "}"
        if operand == "d":
            lines.append(f"{mnemonic} {', '.join('{' + ', '.join(names[x]) + '}' for x in 'dabc')};")
        tail = "" if not stride else f", {stride}" if (number + o) % 3 == 1 else ", %stride"
        if tail == ", %stride":
            lines.append(f"mov.b32 %stride, {stride};")
        lines.append(f"{name} [{base}], {registers}{tail};" if operand == "d" else f"{name} {registers}, [{base}]{tail};")
        if operand == "d":
            lines.append(f"call (%sum), fold_region, (%sum, {'%far' if space == '.global' else '%near'});")
        else:
            lines += fold_text(names[operand], kind == "f64", 32 * (1 + o))
    def sums():
        for warp in range(WARPS):
            total, values = 0, {}
            for o, operand in enumerate("abc"):
                kind = kind_of[operand]
                values[operand] = tiles[operand].read(region(tiles[operand].key, kind, warp))
                place = lambda lane, index: model.place_wmma(operand, (m, n, k), model.BITS[kind], lane, index)
                registers = fragments(values[operand], model.BITS[kind], len(names[operand]), place)
                total += fold_values(registers, kind == "f64", 32 * (1 + o))
            element = function_of(mnemonic, kinds)
            columns = [[row_of[j] for row_of in values["b"]] for j in range(n)]
            d = [[element(values["a"][i], columns[j], values["c"][i][j]) for j in range(n)] for i in range(m)]
            memory = tiles["d"].written(region(tiles["d"].key, kinds[0], warp), d)
            total += sum(folded(value, at) for at, value in enumerate(memory))
            yield total & WORD
    return lines, sums


# ---- ldmatrix, stmatrix, movmatrix ----------------------------------------------------------------------------------

def row_places(key):
    """Where each lane's row of 16 bytes begins, in words."""
    return [4 * ((37 * lane + 11 * key) % 128) for lane in range(LANES)]


def move_cases(ids, most):
    number = 0
    for row in rows.rows():
        if ids(row):
            for mnemonic in spellings(row, most(row)):
                yield move_case(mnemonic, number)
                number += 1


def move_case(mnemonic, number):
    words, key = mnemonic.split("."), 8 * number + 1
    count = int(next((w[1:] for w in words if re.fullmatch(r"x\d", w)), 1)) * (2 if "m16n16" in words else 1)
    turned, bytewise = "trans" in words, "m8n8" not in words
    address = "%mine" if ".shared" in mnemonic else "%mine_near"
    names = ["{" + ", ".join(f"%d{r}" for r in range(count)) + "}", "{" + ", ".join(f"%a{r}" for r in range(count)) + "}"]
    fill = [f"call fill, (%near, %warp, {key}, -1, 0);"]
    own = [f"call (%a{r}), word, (%t, {key + 1 + r}, -1, 0);" for r in range(count)]
    # Rows of the lanes that the instruction asks; the others have nowhere to go.
    at = [f"mad.lo.u32 %row, %lane, 37, {11 * key};", "and.b32 %row, %row, 127;", "shl.b32 %row, %row, 4;", f"setp.lt.u32 %p, %lane, {8 * count};",
          "selp.b32 %row, %row, 0x40000000, %p;", "add.u32 %mine, %place, %row;", "cvt.u64.u32 %wide, %row;", "add.u64 %mine_near, %near, %wide;"]
    begin, fold = ["mov.b32 %sum, 0;"], fold_text([f"%d{r}" for r in range(count)], False)
    if words[0] == "movmatrix":
        lines = own + begin + [f"{mnemonic} %d0, %a0;"] + fold
    elif words[0] == "ldmatrix":
        lines = fill + at + begin + [f"{mnemonic} {names[0]}, [{address}];"] + fold
    else:
        lines = fill + own + at + begin + [f"{mnemonic} [{address}], {names[1]};", "call (%sum), fold_region, (%sum, %near);"]
    bits = 6 if "b6x16_p32" in words else 4 if "b4x16_p64" in words else 8
    def byte_of(lane, r, b):
        """Line and element of byte b of register r of a lane, of matrices of bytes."""
        g, t = lane // 4, lane % 4
        if "m16n16" in words:
            return 16 * (r // 2) + 4 * t + b, g + 8 * (r % 2)
        return (8 * r + g, 4 * t + b) if "m8n16" in words else (8 * r + 2 * t + b % 2, g + 8 * (b // 2))
    def half_of(lane, part):
        """Row and column of a matrix, of half `part` of a lane's register."""
        i, k = lane // 4, 2 * (lane % 4) + part
        return (k, i) if turned else (i, k)
    def sums():
        for warp in range(WARPS):
            memory = [mixed((REGION * warp + k) * 0x9E3779B1 + key * 0x7FEB352D & WORD) for k in range(REGION)]
            have = [[mixed((LANES * warp + lane) * 0x9E3779B1 + (key + 1 + r) * 0x7FEB352D & WORD) for r in range(count)] for lane in range(LANES)]
            places, result = row_places(key), [[0] * count for _ in range(LANES)]
            for lane, r, b in itertools.product(range(LANES), range(count), range(4) if bytewise else ()):
                line, k = byte_of(lane, r, b)
                at, shift = places[line] + k // 4, 8 * (k % 4)
                if words[0] == "ldmatrix":
                    whole = sum(memory[places[line] + w] << 32 * w for w in range(4))
                    result[lane][r] |= (whole >> bits * k & (1 << bits) - 1) << 8 * b
                else:
                    memory[at] = memory[at] & ~(0xFF << shift) | (have[lane][r] >> 8 * b & 0xFF) << shift
            for lane, r, part in itertools.product(range(LANES), range(count), () if bytewise else (0, 1)):
                i, k = half_of(lane, part)
                at, shift = places[8 * r + i] + k // 2, 16 * (k % 2)
                if words[0] == "movmatrix":
                    result[lane][r] |= (have[4 * i + k // 2][r] >> shift & 0xFFFF) << 16 * part
                elif words[0] == "ldmatrix":
                    result[lane][r] |= (memory[at] >> shift & 0xFFFF) << 16 * part
                else:
                    memory[at] = memory[at] & ~(0xFFFF << shift) | (have[lane][r] >> 16 * part & 0xFFFF) << shift
            if words[0] == "stmatrix":
                yield sum(folded(value, place) for place, value in enumerate(memory)) & WORD
            else:
                yield fold_values(result, False)
    return lines, sums


# ---- files ----------------------------------------------------------------------------------------------------------

def executable(row):
    return row.sm <= 90


def is_dense(row):
    return re.match(r"MMA_(?!SP_)", row.id) and executable(row)


FLOATS = ("F16", "F32", "BF16", "TF32")
first_kind = lambda row: row.id.split("_")[1]
FILES = {
    "mma_float": ("mma of f16, bf16 and tf32", mma_cases, lambda row: is_dense(row) and first_kind(row) in FLOATS, lambda row: 8, (87, 90), False),
    "mma_byte": ("mma of e4m3 and e5m2", mma_cases, lambda row: is_dense(row) and first_kind(row) == "F8", lambda row: 16, (87, 90), False),
    "mma_double": ("mma of f64", mma_cases, lambda row: is_dense(row) and first_kind(row) == "F64", lambda row: 16, (87, 90), False),
    "mma_integer": ("mma of integers and bits", mma_cases, lambda row: is_dense(row) and first_kind(row) in ("INT", "SUB", "XOR", "AND"), lambda row: 16, (87, 90), False),
    "mma_sparse": ("mma.sp", mma_cases, lambda row: row.id.startswith("MMA_SP_") and executable(row), lambda row: 3 if "ORDERED" in row.id else 8, (87, 90), False),
    "mma_sparse_120": ("mma.sp of e4m3 and e5m2 with f16: by the rules of its like, no card at hand has it", mma_cases,
                       lambda row: row.id == "MMA_SP_F8_F16_ORDERED", lambda row: 4, (87, "120a"), False),
    "mma_kinds": ("mma of .kind::f8f6f4 and with scale factors: by the rules of decision 30, no card at hand has it", mma_cases,
                  lambda row: re.match(r"MMA_(F8F6F4|MX)", row.id), lambda row: 6, (87, "120a"), False),
    "mma_sparse_kinds": ("mma.sp of .kind::f8f6f4 and with scale factors: likewise", mma_cases,
                         lambda row: re.match(r"MMA_SP_(F8F6F4|MX)", row.id), lambda row: 6, (87, "120a"), False),
    "wmma": ("wmma", wmma_cases, lambda row: not row.gone, lambda row: 8, (87, 90), True),
    "wmma_63": ("wmma.mma of f16 with .satfinite, as it was until PTX 6.5", wmma_cases, lambda row: re.match(r"WMMA_(LOAD|STORE)_(C_)?F16|WMMA_MMA_F16_SAT", row.id) and "UNALIGNED" not in row.id, lambda row: 2, (63, 70), True),
    "wmma_62": ("wmma without .aligned, as it was until PTX 6.3", wmma_cases, lambda row: "UNALIGNED" in row.id, lambda row: 2, (62, 70), True),
    "ldmatrix": ("ldmatrix, stmatrix, movmatrix", move_cases, lambda row: row.id in ("LDMATRIX", "STMATRIX", "MOVMATRIX"), lambda row: 18, (87, 90), True),
}


FILES["ldmatrix_bytes"] = ("ldmatrix and stmatrix of bytes, and of less: by the manual, no card at hand has them", move_cases,
                           lambda row: re.match(r"(LDMATRIX|STMATRIX)_", row.id), lambda row: 8, (87, "120a"), True)


def written(name):
    about, cases, ids, most, (version, target), moves = FILES[name]
    body, sums, number = [], [], 0
    for lines, results in cases(ids, most):
        body += [""] + lines
        if results:
            body.append(f"red.global.add.u32 [%out+{4 * WARPS * number}], %sum;")
            sums.append(results)
            number += 1
    used = max([len(MASK_KINDS)] + [int(at) // (8 * WARPS) + 1 for at in re.findall(r"%masks\+(\d+)", "\n".join(body))])
    masks = [value for kind in EVERY_MASK[:used] for pair in (MASKS | LATER_MASKS)[kind] for value in pair]
    scratch = f" -a b32[{REGION * WARPS}]" if moves else ""
    places = (f"    .shared .align 128 .b8 pool[{4 * REGION * WARPS}];\n", ", .param .u64 scratch",
              f"    mov.u32 %place, pool;\n    mad.lo.u32 %place, %warp, {4 * REGION}, %place;\n    cvt.u64.u32 %near, %place;\n    cvta.shared.u64 %near, %near;\n"
              f"    ld.param.u64 %far, [scratch];\n    mul.wide.u32 %wide, %warp, {4 * REGION};\n    add.u64 %far, %far, %wide;\n") if moves else ("", "", "")
    text = (f"// {about}\n{MADE}\n// run: -b {LANES * WARPS} -a b32[{WARPS * number}]:print{scratch}\n"
            f".version {version // 10}.{version % 10}\n.target sm_{target}\n.address_size 64\n\n"
            f".const .align 8 .b32 masks[{len(masks)}] = {{{', '.join(f'{value:#x}' for value in masks)}}};\n\n{FUNCTIONS}{MEMORY if moves else ''}\n"
            f".visible .entry {name}(.param .u64 out{places[1]})\n{{\n    .reg .pred %p;\n"
            f"    .reg .b32 %t, %lane, %warp, %e, %and, %or, %sum, %lo, %hi, %m, %a<16>, %b<16>, %c<16>, %d<16>;\n"
            f"    .reg .b32 %place, %stride, %row, %mine;\n    .reg .b64 %out, %wide, %masks, %near, %far, %mine_near;\n"
            f"    .reg .f64 %ax<16>, %bx<16>, %cx<16>, %dx<16>;\n{places[0]}\n"
            f"    mov.u32 %t, %tid.x;\n    mov.u32 %lane, %laneid;\n    shr.u32 %warp, %t, 5;\n    ld.param.u64 %out, [out];\n    mul.wide.u32 %wide, %warp, 4;\n"
            f"    add.u64 %out, %out, %wide;\n    mov.u64 %masks, masks;\n    mul.wide.u32 %wide, %warp, 8;\n    add.u64 %masks, %masks, %wide;\n"
            f"    mul.lo.u32 %m, %t, 0x9e3779b1;\n    call (%e), mixed, (%m);\n{places[2]}"
            + "\n".join("    " + line if line else "" for line in body) + "\n    ret;\n}\n")
    path = TESTS / f"run_{name}.ptx"
    recorded = path.exists() and path.read_text().startswith(text + "// recorded:")  # to work it out takes seconds
    expected = [] if recorded else [value for results in sums for value in results()]
    return text, f"// out: arg 0 b32[{WARPS * number}]: {' '.join(f'{value:#010x}' for value in expected)}\n"


if __name__ == "__main__":
    sys.exit(atomics.write_files(__doc__, TESTS, FILES, written))
