"""The lines of tests/cuda/interleaved.txt: tensor maps of interleaved arrays, and copies by them.

    python3 tools/silicon/interleaved.py > cases.txt
    test_cuda_tensor cases.txt record > interleaved.txt     with a GPU's driver

Dimension 0 counts pixels of 16 or 32 bytes, the last but one slices of channels, of which a box and pixels have one."""
import math
import random

U8, U16, U32, S32, U64, S64, F16, F32, F64, BF16 = range(10)
STRIDES = (256, 2048, 16384)
SEEN = set()


def line(mode, deed, **f):
    pixels, per = f.get("pixels", 0), 16 * f["interleave"]
    if deed == "load":
        counts = [math.ceil(b / s) for b, s in zip(f.get("box", ()), f.get("steps", (1,) * 5))]
        f["told"] = per * (pixels or math.prod(counts[:-2] + counts[-1:]))
    text = " ".join([mode, deed, *(f"{k}={','.join(map(str, v)) if isinstance(v, tuple) else v}" for k, v in f.items())])
    if text not in SEEN:
        print(text)
    SEEN.add(text)


def tile(deed="load", **f):
    line("tile", deed, **dict(type=U16, rank=4, sizes=(40, 7, 6, 3), strides=STRIDES, box=(16, 3, 2, 2), at=(0, 0, 0, 0), interleave=1) | f)


def pixels(deed="load", **f):
    line("im2col", deed, **dict(type=U16, rank=4, sizes=(40, 7, 6, 3), strides=STRIDES, lower=(-1, -1), upper=(-1, -1), channels=8, pixels=20, at=(0, 0, 0, 0), offsets=(0, 0),
                                interleave=1) | f)


for at in ((0, 0, 0, 0), (8, 0, 0, 0), (1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (-8, 0, 0, 0), (0, -1, 0, 0), (0, 0, -1, 0), (0, 0, 0, -1), (32, 0, 0, 0), (40, 0, 0, 0), (3, 5, 0, 0), (0, 6, 0, 0),
           (0, 0, 5, 0), (-1, 0, 0, 0), (-4, -2, -1, -1)):
    tile(at=at)
for box in ((8, 1, 1, 1), (24, 2, 1, 1), (40, 2, 1, 2), (64, 1, 1, 1)):
    tile(box=box)
    tile(box=box, at=(2, 1, 1, 0))
for size in (1, 5, 36):
    tile(sizes=(size, 7, 6, 3))
    tile(sizes=(size, 7, 6, 3), box=(8, 2, 2, 1), at=(1, 0, 0, 0))
for steps in ((2, 1, 1, 1), (8, 1, 1, 1), (1, 2, 1, 1), (1, 1, 2, 1), (1, 1, 1, 2), (2, 3, 2, 2)):
    tile(steps=steps, box=(32, 3, 2, 2))
    tile(steps=steps, box=(16, 4, 4, 2), at=(1, 0, 1, 0))
for swizzle in (1, 2, 3):
    for box in ((8, 3, 2, 2), (16, 3, 2, 1)):
        tile(swizzle=swizzle, box=box)
        tile(swizzle=swizzle, box=box, base=384, at=(8, -1, 1, 0))
for type, n in ((U8, 16), (U32, 4), (U64, 2), (F16, 8), (F32, 4)):
    tile(type=type, sizes=(n * 5, 7, 6, 3), box=(3 * n, 3, 2, 2), at=(n, 1, 0, 0))
tile(type=F16, fill=1, sizes=(36, 7, 6, 3), at=(-8, -1, 0, 0))
for swizzle in (0, 1):
    for at in ((0, 0, 0, 0), (1, 0, 0, 0), (0, 0, 1, 0), (-1, -1, 0, 0), (0, 5, 0, 0)):
        tile(interleave=2, swizzle=swizzle, sizes=(80, 7, 6, 3), box=(32, 3, 2, 2), at=at)
for interleave, swizzle, n in ((1, 0, 8), (1, 2, 8), (2, 1, 16)):
    for at in ((0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)):
        line("tile", "load", type=U16, rank=3, sizes=(n * 5, 10, 6), strides=(1024, 8192), box=(2 * n, 3, 2), at=at, interleave=interleave, swizzle=swizzle)
    for deed in ("store",):
        for at in ((0, 0, 0, 0), (1, 0, 0, 0), (8, 1, 1, 0), (36, 0, 0, 0)):
            tile(deed, interleave=interleave, swizzle=swizzle if swizzle != 2 else 3, sizes=(n * 5 - 4, 7, 6, 3), box=(2 * n, 3, 2, 2), at=at)
for channels in (8, 16, 40):
    pixels(channels=channels)
    pixels(channels=channels, at=(8, -1, -1, 0))
    pixels(channels=channels, swizzle=2, at=(0, 1, 0, 1))
    pixels(channels=2 * channels, interleave=2, swizzle=1, sizes=(80, 7, 6, 3), at=(0, 1, 0, 1))
    pixels(channels=2 * channels, interleave=2, swizzle=1, sizes=(80, 7, 6, 3), at=(1, 3, 0, 1), offsets=(2, 1))
pixels(steps=(2, 1, 1, 1), channels=16)
pixels("store", swizzle=3, lower=(0, 0), upper=(-1, -1), channels=16, at=(0, 1, 1, 0))
pixels("store", interleave=2, swizzle=1, lower=(0, 0), upper=(0, 0), channels=16, sizes=(77, 7, 6, 3), at=(1, 1, 1, 0))
# one slice, whatever the box says; pixels from one line to the next and to the next image
for interleave, swizzle in ((1, 0), (1, 3), (2, 1)):
    small = dict(sizes=(4, 7, 12, 3), strides=(128, 1024, 16384), interleave=interleave, swizzle=swizzle)
    for count in (1, 8 * interleave, 8 * interleave + 1, 64, 256):
        tile(box=(16, 1, count, 1), at=(0, 1, 1, 1), **small)
    tile(box=(16, 1, 32, 1), steps=(1, 1, 2, 1), **small)
    tile(box=(16, 1, 32, 2), at=(0, 0, 11, 0), **small)
    tile("store", box=(16, 1, 32, 2), at=(0, 0, 10, 0), **small)
    for at, offsets in (((0, 0, 0, 0), (0, 0)), ((-1, -1, 2, 0), (0, 2))):
        pixels(sizes=(9, 7, 12, 3), strides=(256, 2048, 24576), channels=16 * interleave, pixels=12, at=at, offsets=offsets, interleave=interleave, swizzle=swizzle)
# what the calls take
R = random.Random(15)
for _ in range(150):
    rank, interleave, type = R.choice((3, 3, 4, 5)), R.choice((1, 1, 2)), R.choice((U8, U16, U32, S32, U64, F16, F32, F64))
    sizes = [R.choice((1, 2, 8, 16, 64, 100)), *(R.choice((1, 3, 8, 20)) for _ in range(rank - 1))]
    strides = [R.choice((16, 32, 48, 64, 128, 256, 1024))]
    for _ in range(rank - 2):
        strides.append(R.choice((strides[-1] * R.choice((1, 2, 8)), 32, 4096, 1 << 20)))
    f = dict(type=type, rank=rank, sizes=tuple(sizes), strides=tuple(strides), interleave=interleave, swizzle=R.choice((0, 1, 1, 1, 2, 3)),
             steps=tuple(R.choice((1, 1, 1, 2, 8)) for _ in range(rank)), fill=R.choice((0, 0, 0, 1)))
    if R.random() < 0.3:
        corners = [[R.choice((-9, -2, -1, 0, 0, 1)) for _ in range(rank - 2)] for _ in range(2)]
        line("im2col", "none", **f, lower=tuple(corners[0]), upper=tuple(corners[1]), channels=R.choice((1, 2, 8, 16, 32, 64, 128, 256, 257)), pixels=R.choice((1, 8, 64, 512, 1024, 1025)))
    else:
        line("tile", "none", **f, box=(R.choice((1, 2, 4, 8, 16, 32, 64, 128, 256)), *(R.choice((1, 2, 4, 32, 64, 256)) for _ in range(rank - 1))))
