#!/usr/bin/env python3
"""Requests to shared memory whose time on a GPU says how many rounds of its banks they take: tests/tool/banks.tsv.

    nvcc -arch=native -O3 -o banks tools/silicon/banks.cu
    banks.py --requests | ./banks | banks.py --table "NVIDIA H200, driver 580.159.04, nvcc 13.0, 2026-11-30" > tests/tool/banks.tsv

Strides, strips, lanes in other orders, some of the lanes, and places by chance, of 4, 8 and 16 bytes. Loads only: stores overlap, so that their time
does not say how many rounds there were."""

import argparse
import random
import sys

LANES, ROOM, BY_CHANCE = range(32), 60000, 20


def places(size):
    """(lanes that execute, place of each lane in units of its size)"""
    chance = random.Random(1 + size)
    full = 0xFFFFFFFF
    yield from ((full, [k * step % (ROOM // size) for k in LANES]) for step in range(41))
    yield from ((full, [k // width for k in LANES]) for width in (2, 4, 8, 16))
    yield from ((full, [k % width + k // width * 512 // size for k in LANES]) for width in (2, 4, 8, 16))
    yield from ((full, [k % width for k in LANES]) for width in (16, 8))
    yield full, [k % 16 * 4 for k in LANES]
    yield full, [k ^ 1 for k in LANES]
    yield full, [31 - k for k in LANES]
    yield 0xFFFF, list(LANES)
    yield 0x55555555, list(LANES)
    yield 0x55555555, [2 * k for k in LANES]
    yield 0x01010101, [k * 128 // size for k in LANES]
    yield from ((full, [chance.randrange(ROOM // size) for _ in LANES]) for _ in range(BY_CHANCE))
    yield from ((full, [chance.randrange(chance.choice((8, 16, 32, 64))) for _ in LANES]) for _ in range(BY_CHANCE))
    yield from ((chance.getrandbits(32) | 1, [chance.randrange(128) for _ in LANES]) for _ in range(BY_CHANCE))


def short(at):
    step = at[1] - at[0]
    return f"stride={step}" if at == [k * step for k in LANES] else ",".join(map(str, at))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--requests", action="store_true")
    parser.add_argument("--table", metavar="MACHINE")
    options = parser.parse_args()
    for size in (4, 8, 16):
        rows = list(places(size))
        if options.requests:
            print(size, len(rows), *(word for lanes, at in rows for word in (f"{lanes:x}", *(place * size for place in at))))
    if options.table:
        print("# What requests to shared memory take: one warp, 64 loads of the same 32 addresses one behind the other, clock cycles of all, the least of eight times.")
        print(f"# {options.table}; tools/silicon/banks.py")
        print("# bytes of a lane, lanes that execute, cycles, places: of each lane, in units of its bytes; or stride=N")
        for line in sys.stdin:
            size, *cycles = map(int, line.split())
            for (lanes, at), count in zip(places(size), cycles, strict=True):
                print(f"{size}\t{lanes:08x}\t{count}\t{short(at)}")


if __name__ == "__main__":
    main()
