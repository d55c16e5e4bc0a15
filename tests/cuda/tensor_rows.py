#!/usr/bin/env python3
"""Copies by tensor maps that sm_100 is the first to have, four rows and pixels along one dimension, and its swizzles: a model of the manual's text (5.5.3.4, 5.5.5, 5.5.7) makes what
test_cuda_tensor is to find. Element by element, with the swizzles as the tables of the manual draw them."""

import subprocess
import sys
import tempfile

AREA, IMAGE, MASK = 1 << 15, 1 << 14, 0xFFFFFFFF
U8, U16, U32, F16, F32 = 0, 1, 2, 6, 7
SIZE = {U8: 1, U16: 2, U32: 4, F16: 2, F32: 4}
# lines of 128 bytes: which 16 bytes are where
TABLES = {
    0: [[0, 1, 2, 3, 4, 5, 6, 7]],
    1: [[0, 1, 2, 3, 4, 5, 6, 7], [1, 0, 3, 2, 5, 4, 7, 6]],
    2: [[0, 1, 2, 3, 4, 5, 6, 7], [1, 0, 3, 2, 5, 4, 7, 6], [2, 3, 0, 1, 6, 7, 4, 5], [3, 2, 1, 0, 7, 6, 5, 4]],
    3: [[0, 1, 2, 3, 4, 5, 6, 7], [1, 0, 3, 2, 5, 4, 7, 6], [2, 3, 0, 1, 6, 7, 4, 5], [3, 2, 1, 0, 7, 6, 5, 4],
        [4, 5, 6, 7, 0, 1, 2, 3], [5, 4, 7, 6, 1, 0, 3, 2], [6, 7, 4, 5, 2, 3, 0, 1], [7, 6, 5, 4, 3, 2, 1, 0]],
    4: [[0, 1, 2, 3, 4, 5, 6, 7], [2, 3, 0, 1, 6, 7, 4, 5], [4, 5, 6, 7, 0, 1, 2, 3], [6, 7, 4, 5, 2, 3, 0, 1]],
    6: [[0, 1, 2, 3, 4, 5, 6, 7], [4, 5, 6, 7, 0, 1, 2, 3]],
}
SPAN = {0: 16, 1: 32, 2: 64, 3: 128, 4: 128, 6: 128}


def pattern(size, seed):
    """As test_cuda_tensor fills memory."""
    words = bytearray()
    for i in range(size // 4):
        x = (i + seed) * 0x9E3779B1 & MASK
        x = (x ^ x >> 15) * 0x85EBCA77 & MASK
        x ^= x >> 13
        if i % 5 == 1:
            x &= 0x807FFFFF
        if i % 7 == 2:
            x |= 0x7F800000
        if i % 11 == 3:
            x = x & ~0x1FFF | 0x1000
        if i % 31 == 4:
            x = (x | 0x7F7FF000) & 0xFF7FFFFF
        if i % 37 == 5:
            x = x & 0x80000000 | 0x7F800000
        words += x.to_bytes(4, "little")
    return words


def hash_of(data):
    h = 0xCBF29CE484222325
    for byte in data:
        h = (h ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return h


def place(at, swizzle):
    """Of a byte of shared memory that has no swizzle."""
    table = TABLES[swizzle]
    line = table[at // 128 % len(table)]
    return at // 128 * 128 + line.index(at // 16 % 8) * 16 + at % 16


class Case:
    def __init__(self, mode, deed, type, sizes, row, at, swizzle=0, fill=0, base=0, steps=None, **more):
        self.mode, self.deed, self.type, self.sizes, self.at, self.swizzle, self.fill, self.base, self.more = mode, deed, type, sizes, at, swizzle, fill, base, more
        self.row, self.steps = row, steps or [1] * len(sizes)
        self.strides, size = [SIZE[type]], sizes[0] * SIZE[type]
        for n in sizes[1:]:
            self.strides.append((size + 15) // 16 * 16)
            size = self.strides[-1] * n

    def rows(self):
        """Where rows of elements begin, in the order of shared memory."""
        if self.mode in ("tile", "rows"):
            rows = self.at[1:] if self.mode == "rows" else range(self.at[1], self.at[1] + self.more["lines"])
            return [(self.at[0], y) for y in rows]
        halo, offset = self.more["offsets"]
        lower, upper = self.more["lower"] + offset, self.sizes[1] - 1 + self.more["upper"] + offset
        c, w, *same, n = self.at
        w += offset
        wanted, walk = (128 if self.mode == "w128" else self.more["pixels"]), []
        while len(walk) < wanted + halo:
            walk.append((c, w, *same, n))
            w += self.steps[1]
            if w > upper:
                w, n = lower, n + 1
        if self.mode == "w":
            return walk
        return [pixel for i in range(0, 128, 32) for pixel in walk[i:i + 32 + halo]]

    def line(self):
        size, rows = SIZE[self.type], self.rows()
        pitch = max(self.row * size, SPAN[self.swizzle] if self.swizzle else 0)
        area, image = pattern(AREA, 1), pattern(IMAGE, 77777)
        for number, start in enumerate(rows):
            begins = start[0] + self.row > 0
            for k in range(self.row):
                where = (start[0] + k, *start[1:])
                to = place(self.base + number * pitch + k * size, self.swizzle)
                inside = begins and all(0 <= i < n for i, n in zip(where, self.sizes))
                at = sum(i * s for i, s in zip(where, self.strides)) if inside else 0
                nothing = b"\xf7\x7f" * 2 if self.fill else bytes(4)
                if self.deed == "load":
                    image[to:to + size] = area[at:at + size] if inside else nothing[:size]
                elif inside:
                    area[at:at + size] = image[to:to + size]
        fields = dict(type=self.type, rank=len(self.sizes), sizes=self.sizes, strides=self.strides[1:], at=self.at, swizzle=self.swizzle, fill=self.fill, base=self.base, steps=self.steps)
        if self.mode in ("tile", "rows"):
            fields["box"] = [self.row, self.more.get("lines", 1)]
        else:
            fields |= dict(channels=self.row, **self.more)
        told = len(rows) * self.row * size if self.deed == "load" else 0
        text = " ".join(f"{k}={','.join(map(str, v)) if isinstance(v, list) else v}" for k, v in fields.items())
        return f"{self.mode} {self.deed} {text} told={told} = 0 {told} {hash_of(image if self.deed == 'load' else area):016x}"


def cases():
    for swizzle, row in ((0, 16), (1, 16), (2, 24), (3, 64), (4, 64), (6, 40)):
        yield Case("rows", "load", U16, [100, 40], row, [8, 7, 3, 39, 3], swizzle)
        yield Case("rows", "store", U16, [100, 40], row, [24, 30, 0, 39, 8], swizzle, base=256)
    yield Case("rows", "load", F16, [40, 20], 16, [-8, 5, -1, 20, 19], fill=1)
    yield Case("rows", "load", U32, [12, 20], 8, [8, 2147483647, 0, -2147483648, 1], base=128)
    yield Case("rows", "store", U8, [32, 20], 32, [16, 25, 2, 19, 100])
    for swizzle, row in ((4, 64), (4, 8), (6, 64), (6, 24)):
        yield Case("tile", "load", U16, [72, 30], row, [8, 5], swizzle, lines=20)
        yield Case("tile", "store", U16, [72, 30], row, [8, 5], swizzle, lines=20, base=384)
    for swizzle, c in ((2, 16), (3, 32), (4, 64), (6, 8)):
        yield Case("w", "load", U16, [64, 7, 4, 8], c, [0, 3, 2, 1], swizzle, lower=0, upper=0, pixels=21, offsets=[2, 0])
        yield Case("w", "load", U16, [64, 7, 9, 4], c, [8, -1, 2, 2], swizzle, lower=-1, upper=1, pixels=40, offsets=[0, 1])
    yield Case("w", "load", F16, [24, 17, 3, 6], 32, [8, -1, 1, 4], 2, 1, lower=-1, upper=0, pixels=50, offsets=[1, 0], steps=[1, 2, 1, 1])
    yield Case("w", "load", U8, [64, 7, 4, 3, 2], 64, [0, -3, 3, -1, 0], 2, lower=-1, upper=-1, pixels=12, offsets=[5, 2], steps=[1, 3, 2, 2, 1])
    yield Case("w", "load", F32, [16, 250, 2], 16, [0, -70, 0], 2, lower=-64, upper=30, pixels=150, offsets=[9, 31])
    yield Case("w128", "load", U16, [16, 7, 3, 40], 16, [8, 3, 2, 1], 2, lower=0, upper=0, offsets=[2, 0])
    yield Case("w128", "load", U8, [64, 67, 3], 64, [0, -1, 1], 3, lower=-1, upper=0, offsets=[0, 1], steps=[1, 2, 1])


def main():
    lines = [case.line() for case in cases()]
    wide = "type=1 rank=3 sizes=64,8,4 strides=128,1024 channels=32 pixels=8 lower=0 upper=0"
    for what in ("swizzle=0", "swizzle=1", "swizzle=2 interleave=1", "swizzle=3 lower=-32769", "swizzle=3 lower=8", "swizzle=3 pixels=0", "swizzle=3 channels=264", "swizzle=3 steps=1,9,1"):
        lines.append(f"w none {wide} {what} = 1")  # no map can be so
    lines.append(f"w128 none {wide} swizzle=3 pixels=0 lower=-32768 upper=32767 = 0")
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
        file.write("\n".join(lines) + "\n")
        file.flush()
        sys.exit(subprocess.run([sys.argv[1], file.name]).returncode)


main()
