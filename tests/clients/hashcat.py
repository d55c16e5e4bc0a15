#!/usr/bin/env python3
"""hashcat.py LANEWISE: hashcat as Debian has it, with CUDA alone. Of each mode the self-test, which it makes of itself before it begins, and a mask
attack that finds a word whose hash is known. It compiles its kernels by NVRTC, which runs on any CPU and is part of NVIDIA's wheel; of the
CUDA version that the driver has, as with any driver."""

import base64
import ctypes
import hashlib
import os
import pathlib
import re
import sys

import client

WORD = "zap7"
MASK = "?lap?d"


def md4(data):
    """By RFC 1320; Python's hashlib has none where OpenSSL has not."""
    def rotate(x, n):
        return (x << n | (x & 0xffffffff) >> (32 - n)) & 0xffffffff

    bits = 8 * len(data)
    data += b"\x80" + bytes(-(len(data) + 9) % 64) + bits.to_bytes(8, "little")
    state = [0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476]
    for at in range(0, len(data), 64):
        x = [int.from_bytes(data[at + 4 * i:at + 4 * i + 4], "little") for i in range(16)]
        a, b, c, d = state
        for n in range(48):
            if n < 16:
                mixed, i, shift, plus = (b & c) | (~b & d), n, (3, 7, 11, 19)[n % 4], 0
            elif n < 32:
                mixed, i, shift, plus = (b & c) | (b & d) | (c & d), n % 4 * 4 + (n - 16) // 4, (3, 5, 9, 13)[n % 4], 0x5a827999
            else:
                mixed, i, shift, plus = b ^ c ^ d, int(f"{n - 32:04b}"[::-1], 2), (3, 9, 11, 15)[n % 4], 0x6ed9eba1
            a, b, c, d = d, rotate((a + mixed + x[i] + plus) & 0xffffffff, shift), b, c
        state = [(s + t) & 0xffffffff for s, t in zip(state, (a, b, c, d))]
    return b"".join(s.to_bytes(4, "little") for s in state)


def scrypt(word):
    """SCRYPT:N:r:p:salt:hash, in base 64."""
    key = hashlib.scrypt(word.encode(), salt=b"0123456789abc", n=1024, r=1, p=1, dklen=32)
    return f"SCRYPT:1024:1:1:{base64.b64encode(b'0123456789abc').decode()}:{base64.b64encode(key).decode()}"


# What hashcat calls the mode, a hash of the word, and the mask; the slow ones have few candidates. The hash of bcrypt, of cost 4, is from OpenBSD's
# crypt() as Debian's libcrypt has it: crypt("zap7", "$2b$04$abcdefghijklmnopqrstuu").
MODES = {
    0: (lambda: hashlib.md5(WORD.encode()).hexdigest(), MASK),
    100: (lambda: hashlib.sha1(WORD.encode()).hexdigest(), MASK),
    1000: (lambda: md4(WORD.encode("utf-16-le")).hex(), MASK),
    1400: (lambda: hashlib.sha256(WORD.encode()).hexdigest(), MASK),
    1700: (lambda: hashlib.sha512(WORD.encode()).hexdigest(), MASK),
    3200: (lambda: bcrypt(WORD), "zap?d"),
    8900: (lambda: scrypt(WORD), "zap?d"),
}
NO_SELF_TEST = [8900]


def bcrypt(word):
    crypt = ctypes.CDLL("libcrypt.so.1").crypt
    crypt.restype = ctypes.c_char_p
    return crypt(word.encode(), b"$2b$04$abcdefghijklmnopqrstuu").decode()


def prepare(c):
    c.need_command("hashcat", "hashcat")
    c.need_python("nvidia-cuda-nvrtc==13.0.88", check="import nvidia.cu13")
    # hashcat looks for libnvrtc.so.
    place = next(pathlib.Path(c.folder, "venv").glob("lib/python*/site-packages/nvidia/cu13/lib"))
    link = place / "libnvrtc.so"
    if not link.exists():
        link.symlink_to("libnvrtc.so.13")
    c.nvrtc = place


def run(c):
    result = client.Result()
    for mode, (hash_of, mask) in MODES.items():
        done = c.run(["hashcat", "--backend-ignore-opencl", "-m", mode, "-a", "3", "--potfile-disable", "--force", "--outfile-autohex-disable",
                      "-o", "found", hash_of(), mask], 900, LD_LIBRARY_PATH=f"{c.nvrtc}:{os.environ.get('LD_LIBRARY_PATH', '')}",
                     XDG_CACHE_HOME=str(c.folder / c.engine), XDG_DATA_HOME=str(c.folder / c.engine), HOME=str(c.folder / c.engine))
        found = c.folder / "found"
        said = "" if re.search(r"Speed\.#1", done.stdout) else "\n".join(done.stdout.splitlines()[-8:])
        if mode in NO_SELF_TEST:
            result.skip(f"self-test of mode {mode}", "hashcat makes none")
        else:
            result.add(f"self-test of mode {mode}", "self-test failure" not in done.stdout and "Finished self-test" in done.stdout, said)
        result.add(f"attack of mode {mode}", found.exists() and found.read_text().strip().endswith(":" + WORD), said)
        found.unlink(missing_ok=True)
    return result


if __name__ == "__main__":
    sys.exit(client.main(prepare, run))
