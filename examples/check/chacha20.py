#!/usr/bin/env python3
"""Checks examples/chacha20 with `openssl enc -chacha20`.

With one round the whole keystream is one call of openssl. With more, where the first 32 bytes of a block are the next key,
openssl walks the chains of a sample of the blocks, first and last among them."""

import subprocess
import common

BLOCK, SAMPLE, COUNTER = 128, 12, 1
KEY = bytes(range(1, 33))
NONCE = bytes.fromhex("000000090000004a00000000")


def make(directory, case):
    (directory / "key.bin").write_bytes(KEY)
    (directory / "nonce.bin").write_bytes(NONCE)


def args(directory, case):
    return common.run_arguments("chacha20", common.blocks(case["count"], BLOCK), BLOCK, [
        common.buffer_out(directory / "out.bin", case["count"] * 16),
        common.buffer_in(directory / "key.bin"),
        common.buffer_in(directory / "nonce.bin"),
        common.scalar("u32", COUNTER),
        common.scalar("u32", case["count"]),
        common.scalar("u32", case["rounds"]),
    ])


def keystream(key, counter, count):
    """`count` blocks of keystream. openssl takes counter and nonce as one 16-byte IV."""
    iv = counter.to_bytes(4, "little") + NONCE
    command = ["openssl", "enc", "-chacha20", "-K", key.hex(), "-iv", iv.hex()]
    return subprocess.run(command, input=bytes(64 * count), check=True, capture_output=True).stdout


def verify(directory, case):
    count, rounds = case["count"], case["rounds"]
    got = common.read_exactly(directory / "out.bin", count * 64)
    if rounds == 1:
        common.compare("out.bin", got, keystream(KEY, COUNTER, count), 64, "block")
        return f"{count} blocks, as openssl"
    sample = sorted({i * (count - 1) // (SAMPLE - 1) for i in range(SAMPLE)})
    for i in sample:
        key = KEY
        for _ in range(rounds):
            block = keystream(key, COUNTER + i, 1)
            key = block[:32]
        if got[64 * i:64 * i + 64] != block:
            raise common.Wrong(f"out.bin: block {i} is {got[64 * i:64 * i + 64].hex()}, not {block.hex()}")
    return f"{len(sample)} of {count} blocks after {rounds} rounds, as openssl"


if __name__ == "__main__":
    raise SystemExit(common.main(__doc__, {"count": 131077, "rounds": 1}, make, args, verify))
