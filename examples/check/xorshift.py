#!/usr/bin/env python3
"""Checks examples/xorshift by linear algebra.

A step is linear over GF(2), so what `rounds` steps do to any seed follows from what they do to the 32 powers of two."""

import common

BLOCK = 256


def make(directory, case):
    (directory / "seed.bin").write_bytes(common.bytes_of(common.random_words(case["count"], 6)))


def args(directory, case):
    return common.run_arguments("xorshift", common.blocks(case["count"], BLOCK), BLOCK, [
        common.buffer_out(directory / "out.bin", case["count"]),
        common.buffer_in(directory / "seed.bin"),
        common.scalar("u32", case["count"]),
        common.scalar("u32", case["rounds"]),
    ])


def image(bit, rounds):
    """What becomes of 1 << bit."""
    x = 1 << bit
    for _ in range(rounds):
        x ^= x << 13 & common.MASK
        x ^= x >> 17
        x ^= x << 5 & common.MASK
    return x


def verify(directory, case):
    count, rounds = case["count"], case["rounds"]
    columns = [image(bit, rounds) for bit in range(32)]
    tables = []
    for byte in range(4):
        table = [0] * 256
        for value in range(1, 256):
            low = value & -value
            table[value] = table[value ^ low] ^ columns[8 * byte + low.bit_length() - 1]
        tables.append(table)
    t0, t1, t2, t3 = tables
    want = [t0[s & 255] ^ t1[s >> 8 & 255] ^ t2[s >> 16 & 255] ^ t3[s >> 24]
            for s in common.words_of((directory / "seed.bin").read_bytes())]
    common.compare("out.bin", common.read_exactly(directory / "out.bin", count * 4), common.bytes_of(want), 4, "word")
    return f"{count} words after {rounds} rounds, as the power of the step's matrix"


if __name__ == "__main__":
    raise SystemExit(common.main(__doc__, {"count": 65573, "rounds": 4001}, make, args, verify))
