#!/usr/bin/env python3
"""Checks examples/blur with lookups and sums computed here.

A lookup halfway between texels of 8 bits is the mean of four of them on 16 bits, halves up, as a GPU filters; all else are single
operations of f32, which binary64 that is rounded once more gives exactly. How far that is from the filter itself is looked at, too."""

import array
import random
import struct
import common

BLOCK = (32, 8)


def header(case):
    return f"P6\n{case['width']} {case['height']}\n255\n".encode()


def make(directory, case):
    """A picture of noise and of stripes, where rounding is of every kind."""
    source = random.Random(1)
    pixels = array.array("B", (source.choice((0, 255, source.randrange(256), x // 3 % 256))
                               for x in range(3 * case["width"] * case["height"])))
    (directory / "in.ppm").write_bytes(header(case) + pixels.tobytes())


def args(directory, case):
    width, height = case["width"], case["height"]
    grid = (common.blocks(width, BLOCK[0]), common.blocks(height, BLOCK[1]))
    return common.run_arguments("blur", grid, BLOCK, [
        f"tex2d=@{directory}/in.ppm:linear,float,clamp",
        f"surf2d=u8[{height},{width},4]:out={directory}/out.ppm",
        common.scalar("u32", width),
        common.scalar("u32", height),
    ])


def f32(x):
    return struct.unpack("f", struct.pack("f", x))[0]


def blurred(pixels, case):
    """All bytes of the picture, and the largest error of any, in steps of 8 bits."""
    width, height = case["width"], case["height"]
    row_bytes = 3 * width
    # Between each two rows, and each two columns: one more than there are of them.
    rows = [(max(y - 1, 0), min(y, height - 1)) for y in range(height + 1)]
    columns = [(max(x - 1, 0), min(x, width - 1)) for x in range(width + 1)]
    sums = [[[pixels[a * row_bytes + 3 * l + c] + pixels[a * row_bytes + 3 * r + c] + pixels[b * row_bytes + 3 * l + c] +
              pixels[b * row_bytes + 3 * r + c] for c in range(3)] for l, r in columns] for a, b in rows]
    means = [f32((total * 257 + 2) // 4 / 65535) for total in range(4 * 255 + 1)]
    out, worst = bytearray(), 0
    for y in range(height):
        for x in range(width):
            for c in range(3):
                totals = [sums[y + i][x + j][c] for i in (0, 1) for j in (0, 1)]
                a, b, p, q = (means[total] for total in totals)
                byte = round(f32(f32(f32(a + b) + f32(p + q)) * 63.75))  # to nearest, halves to even
                worst = max(worst, abs(byte - sum(totals) / 16))
                out.append(byte)
    return bytes(out), worst


def verify(directory, case):
    width, height = case["width"], case["height"]
    start = header(case)
    pixels = common.read_exactly(directory / "in.ppm", len(start) + 3 * width * height)[len(start):]
    got = common.read_exactly(directory / "out.ppm", len(start) + 3 * width * height)
    want, worst = blurred(pixels, case)
    if worst > 0.51:
        raise common.Wrong(f"what is computed here is {worst} steps from the filter: the check itself cannot be trusted")
    if got[:len(start)] != start:
        raise common.Wrong("out.ppm is not a picture of this size")
    common.compare("out.ppm", got[len(start):], want, 3, "pixel")
    return f"{width}x{height} pixels, every byte; none is farther than {worst:.3f} from the exact filter"


if __name__ == "__main__":
    raise SystemExit(common.main(__doc__, {"width": 321, "height": 239}, make, args, verify))
