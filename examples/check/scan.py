#!/usr/bin/env python3
"""Checks examples/scan with sums and maxima over Python's own integers."""

import itertools
import common


def make(directory, case):
    if case["block"] % 32 or case["block"] > 1024:
        raise SystemExit("scan: --block must be a multiple of 32, at most 1024")
    (directory / "values.bin").write_bytes(common.bytes_of(common.random_words(case["count"], 3)))


def args(directory, case):
    grid = common.blocks(case["count"], case["block"])
    return common.run_arguments("scan", grid, case["block"], [
        common.buffer_out(directory / "out.bin", case["count"]),
        common.buffer_out(directory / "maxima.bin", grid),
        common.buffer_in(directory / "values.bin"),
        common.scalar("u32", case["count"]),
        common.scalar("u32", case["rounds"]),
    ])


def block_scan(values, rounds):
    """The sums and the maximum of one block after `rounds` rounds."""
    for left in range(rounds, 0, -1):
        sums = list(itertools.accumulate(values, lambda a, b: a + b & common.MASK))
        top = max(values)
        if left > 1:
            values = [s ^ top for s in sums]
    return sums, top


def verify(directory, case):
    count, block, rounds = case["count"], case["block"], case["rounds"]
    values = common.words_of((directory / "values.bin").read_bytes())
    sums, maxima = [], []
    for start in range(0, count, block):
        part, top = block_scan(values[start:start + block], rounds)
        sums += part
        maxima.append(top)
    common.compare("out.bin", common.read_exactly(directory / "out.bin", count * 4), common.bytes_of(sums), 4, "sum")
    common.compare("maxima.bin", common.read_exactly(directory / "maxima.bin", len(maxima) * 4),
                   common.bytes_of(maxima), 4, "maximum")
    return f"{count} sums and {len(maxima)} maxima after {rounds} rounds, as Python's integers"


if __name__ == "__main__":
    raise SystemExit(common.main(__doc__, {"count": 262181, "rounds": 4, "block": 256}, make, args, verify))
