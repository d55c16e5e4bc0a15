#!/usr/bin/env python3
"""Checks examples/mandelbrot with the scalar C of mandelbrot.c.

Because a C compiler might fuse or widen operations, a sample of the pixels is also computed here, in exact rational arithmetic
that is rounded to f32 after every operation."""

import fractions
import os
import pathlib
import struct
import subprocess
import tempfile
import common

BLOCK, SAMPLE = (32, 4), 24
LEFT, TOP, WIDE = -2.25, -1.25, 3.0  # the part of the plane, whatever its pixels


def step(case):
    """The distance of two pixels, as an f32."""
    return round_f32(fractions.Fraction(WIDE) / case["width"])


def make(directory, case):
    pass  # all inputs are scalars


def args(directory, case):
    grid = tuple(common.blocks(case[size], block) for size, block in zip(("width", "height"), BLOCK))
    return common.run_arguments("mandelbrot", grid, BLOCK, [
        common.buffer_out(directory / "out.bin", case["width"] * case["height"]),
        common.scalar("u32", case["width"]),
        common.scalar("u32", case["height"]),
        common.scalar("f32", float(LEFT)),
        common.scalar("f32", float(TOP)),
        common.scalar("f32", repr(float(step(case)))),
        common.scalar("u32", case["limit"]),
    ])


def round_f32(x):
    """A rational number rounded to the nearest f32, ties to even. Overflow does not occur here and is not handled."""
    if x == 0:
        return fractions.Fraction(0)
    magnitude = abs(x)
    exponent = magnitude.numerator.bit_length() - magnitude.denominator.bit_length()
    if magnitude < fractions.Fraction(2) ** exponent:
        exponent -= 1
    unit = fractions.Fraction(2) ** (max(exponent, -126) - 23)
    return round(x / unit) * unit  # round() on a Fraction is half to even


def exact_pixel(column, row, case):
    """The iteration count of one pixel."""
    cx = round_f32(column * step(case) + fractions.Fraction(LEFT))
    cy = round_f32(row * step(case) + fractions.Fraction(TOP))
    x = y = fractions.Fraction(0)
    for n in range(case["limit"]):
        xx, yy = round_f32(x * x), round_f32(y * y)
        if round_f32(xx + yy) > 4:
            return n
        y = round_f32(round_f32(x + x) * y + cy)
        x = round_f32(round_f32(xx - yy) + cx)
    return case["limit"]


def c_reference(case):
    """All iteration counts, by mandelbrot.c."""
    source = pathlib.Path(__file__).with_suffix(".c")
    with tempfile.TemporaryDirectory() as where:
        program = str(pathlib.Path(where, "mandelbrot"))
        compiler = os.environ.get("CC", "cc").split()
        subprocess.run([*compiler, "-O2", "-ffp-contract=off", "-o", program, str(source), "-lm"], check=True)
        sizes = [case["width"], case["height"], LEFT, TOP, float(step(case)), case["limit"]]
        return subprocess.run([program, *(repr(size) for size in sizes)], check=True, capture_output=True).stdout


def verify(directory, case):
    width, height = case["width"], case["height"]
    got = common.read_exactly(directory / "out.bin", width * height * 4)
    want = c_reference(case)
    counts = common.words_of(want)
    for i in range(SAMPLE):
        column, row = i * 7919 % width, i * height // SAMPLE
        if counts[row * width + column] != exact_pixel(column, row, case):
            raise common.Wrong("mandelbrot.c and exact arithmetic disagree: the check itself cannot be trusted here")
    common.compare("out.bin", got, want, 4, "pixel")
    return f"{width}x{height} pixels of at most {case['limit']} iterations, as scalar C"


if __name__ == "__main__":
    raise SystemExit(common.main(__doc__, {"width": 641, "height": 479, "limit": 500}, make, args, verify))
