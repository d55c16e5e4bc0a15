#!/usr/bin/env python3
"""Checks examples/bigshift with shifts of Python's own integers."""

import common

BLOCK, BITS, BYTES = 128, 512, 64
FULL = (1 << BITS) - 1
EDGES = [0, 1, 31, 32, 33, 63, 64, 65, 255, 256, 257, 480, 481, 511, 512, 513, 543, 544, 1023, 1024, 1 << 31, common.MASK]


def make(directory, case):
    amounts = EDGES + [a % 520 for a in common.random_words(case["count"], 4)]
    (directory / "amount.bin").write_bytes(common.bytes_of(amounts[:case["count"]]))
    (directory / "number.bin").write_bytes(common.bytes_of(common.random_words(case["count"] * BYTES // 4, 5)))


def args(directory, case):
    return common.run_arguments("bigshift", common.blocks(case["count"], BLOCK), BLOCK, [
        common.buffer_out(directory / "out.bin", case["count"] * 2 * BYTES // 4),
        common.buffer_in(directory / "number.bin"),
        common.buffer_in(directory / "amount.bin"),
        common.scalar("u32", case["count"]),
        common.scalar("u32", case["rounds"]),
    ])


def shift(x, n, rounds):
    """x << n and x >> n of the last round, as bytes."""
    for left_rounds in range(rounds, 0, -1):
        # An amount of 512 or more gives 0; the test spares Python numbers of 2**32 bits.
        left, right = ((x << n) & FULL, x >> n) if n < BITS else (0, 0)
        if left_rounds > 1:
            x ^= left ^ right
            n = (n + x) & 511
    return left.to_bytes(BYTES, "little") + right.to_bytes(BYTES, "little")


def verify(directory, case):
    count, rounds = case["count"], case["rounds"]
    numbers = (directory / "number.bin").read_bytes()
    amounts = common.words_of((directory / "amount.bin").read_bytes())
    want = b"".join(shift(int.from_bytes(numbers[BYTES * i:BYTES * (i + 1)], "little"), amounts[i], rounds)
                    for i in range(count))
    common.compare("out.bin", common.read_exactly(directory / "out.bin", len(want)), want, 2 * BYTES, "result")
    return f"{count} numbers after {rounds} rounds, as Python's integers"


if __name__ == "__main__":
    raise SystemExit(common.main(__doc__, {"count": 16411, "rounds": 16}, make, args, verify))
