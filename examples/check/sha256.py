#!/usr/bin/env python3
"""Checks examples/sha256 with sha256sum.

In a round, message = digest(message) + first 20 bytes of message. hashlib walks the chain; sha256sum then hashes every
message of the last round, and every round of the first few chains."""

import hashlib
import subprocess
import tempfile
import pathlib
import common

MESSAGE, DIGEST, BLOCK, WATCHED = 52, 32, 256, 16


def make(directory, case):
    (directory / "message.bin").write_bytes(common.bytes_of(common.random_words(case["count"] * MESSAGE // 4, 1)))


def args(directory, case):
    return common.run_arguments("sha256", common.blocks(case["count"], BLOCK), BLOCK, [
        common.buffer_out(directory / "out.bin", case["count"] * DIGEST // 4),
        common.buffer_in(directory / "message.bin"),
        common.scalar("u32", case["count"]),
        common.scalar("u32", case["rounds"]),
    ])


def sha256sum(messages):
    """The digests of all messages, by the program of that name."""
    with tempfile.TemporaryDirectory() as where:
        names = [str(i) for i in range(len(messages))]
        for name, message in zip(names, messages):
            pathlib.Path(where, name).write_bytes(message)
        digests = []
        for start in range(0, len(names), 4096):
            done = subprocess.run(["sha256sum", *names[start:start + 4096]], cwd=where, check=True, capture_output=True)
            digests += [bytes.fromhex(line.split()[0]) for line in done.stdout.decode().splitlines()]
    return digests


def verify(directory, case):
    count, rounds = case["count"], case["rounds"]
    got = common.read_exactly(directory / "out.bin", count * DIGEST)
    data = (directory / "message.bin").read_bytes()
    messages = [data[i:i + MESSAGE] for i in range(0, len(data), MESSAGE)]
    for _ in range(rounds - 1):
        digests = [hashlib.sha256(m).digest() for m in messages]
        if sha256sum(messages[:WATCHED]) != digests[:WATCHED]:
            raise common.Wrong("hashlib and sha256sum disagree: the check itself cannot be trusted here")
        messages = [d + m[:MESSAGE - DIGEST] for d, m in zip(digests, messages)]
    common.compare("out.bin", got, b"".join(sha256sum(messages)), DIGEST, "digest")
    return f"{count} digests after {rounds} rounds, as sha256sum"


if __name__ == "__main__":
    raise SystemExit(common.main(__doc__, {"count": 8199, "rounds": 16}, make, args, verify))
