"""The lines of tests/cuda/tensor.txt: tensor maps, and copies by them.

    python3 tools/silicon/tensors.py > cases.txt
    test_cuda_tensor cases.txt record > tensor.txt     with a GPU's driver
"""
import itertools
import random

random.seed(9)
U8, U16, U32, S32, U64, S64, F16, F32, F64, BF16, F32_FTZ, TF32, TF32_FTZ, U4_8, U4_16, U6_16 = range(16)
SIZE = [1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4]


def listed(values):
    return ",".join(str(v) for v in values)


def line(mode, deed, **fields):
    print(mode, deed, *(f"{k}={listed(v) if isinstance(v, (list, tuple)) else v}" for k, v in fields.items() if v not in (0, [])))


def strides_of(size, sizes, pad=0):
    strides, at = [], sizes[0] * size
    for n in sizes[1:]:
        at = (at + 15) // 16 * 16 + pad
        strides.append(at)
        at *= n
    return strides


def whole_units(size, at):
    """The first coordinate a multiple of 16 bytes, as it must be."""
    unit = max(1, 16 // size)
    return [at[0] // unit * unit, *at[1:]]


def tile(deed, type, sizes, box, at, pad=0, raw=False, **more):
    at = at if raw else whole_units(SIZE[type], at)
    if deed != "load" and not raw:  # a GPU ends the launch
        at = [max(0, i) for i in at]
    line("tile", deed, type=type, rank=len(sizes), sizes=sizes, strides=strides_of(SIZE[type], sizes, pad), box=box, at=at, **more)


def im2col(deed, type, sizes, lower, upper, channels, pixels, at, **more):
    at = whole_units(SIZE[type], at)
    if deed != "load" and (any(lower) or any(upper)) and not more.pop("raw", False):
        lower, upper, at = [0] * len(lower), [0] * len(upper), [max(0, i) for i in at]
    line("im2col", deed, type=type, rank=len(sizes), sizes=sizes, strides=strides_of(SIZE[type], sizes), lower=lower, upper=upper,
         channels=channels, pixels=pixels, at=at, **more)


print("# ranks, coordinates outside")
for deed in ("load", "store"):
    tile(deed, U8, [200], [64], [16])
    tile(deed, U16, [100], [64], [-7])
    tile(deed, F32, [60], [32], [45])
    tile(deed, U16, [50, 20], [24, 6], [30, 16], pad=16)
    tile(deed, U16, [50, 20], [24, 6], [-5, -2], pad=16)
    tile(deed, F64, [20, 6, 5], [8, 3, 2], [15, -1, 4])
    tile(deed, U32, [12, 6, 5, 4], [8, 3, 2, 2], [7, 4, -1, 3])
    tile(deed, U8, [48, 5, 4, 3, 2], [32, 3, 2, 2, 2], [-9, 3, 1, 2, -1])
    tile(deed, U8, [48, 5, 4, 3, 2], [32, 3, 2, 2, 2], [100, 3, 1, 2, -1])
    if deed == "load":
        tile(deed, S32, [30, 9], [16, 4], [-2147483648, 2147483647])
print("# types, and what is outside")
for type in range(13):
    for fill in (0, 1):
        tile("load", type, [40, 9], [128 // SIZE[type], 7], [-3, 4], fill=fill)
    tile("store", type, [40, 9], [128 // SIZE[type], 7], [-3, 4])
tile("store", F16, [40, 9], [64, 7], [-3, 4], fill=1)
print("# swizzles: rows as long as they turn, and shorter; the place of the box")
for swizzle in range(7):
    turns = [256, 32, 64, 128, 128, 128, 128][swizzle]
    for inner in sorted({turns, turns // 2, 16, 48} & {16, 32, 48, 64, 128, 256}):
        if inner > turns:
            continue
        for deed in ("load", "store"):
            tile(deed, U16, [200, 30], [inner // 2, 20], [3, 5], swizzle=swizzle)
    for base in (128, 384, 1152):
        tile("load", U8, [250, 30], [min(turns, 128), 9], [3, 5], swizzle=swizzle, base=base)
        tile("store", U8, [250, 30], [min(turns, 128), 9], [3, 5], swizzle=swizzle, base=base)
    tile("load", F32, [20, 6, 5], [8, 3, 4], [7, -1, 2], swizzle=swizzle, fill=1)
    tile("load", F64, [20, 6, 5], [4, 3, 4], [7, -1, 2], swizzle=swizzle)
print("# steps")
for deed in ("load", "store"):
    for steps in ([1, 2], [1, 3], [2, 1], [3, 2], [1, 8]):
        tile(deed, U16, [60, 40], [32, 9], [3, -4], steps=steps)
    tile(deed, U16, [60, 10, 9], [16, 8, 6], [3, -1, 2], steps=[1, 2, 3], swizzle=1)
    tile(deed, U16, [60, 10, 9], [16, 8, 6], [3, 7, 2], steps=[1, 4, 5])
print("# im2col")
for deed in ("load", "store"):
    for sizes, lower, upper, at, offsets in (
            ([16, 9, 4], [0], [0], [0, 0, 0], [0]), ([16, 9, 4], [-1], [-1], [0, -1, 0], [0]), ([16, 9, 4], [-1], [-1], [0, -1, 0], [1]),
            ([16, 9, 4], [-1], [-1], [3, 5, 1], [2]), ([16, 9, 4], [2], [1], [-3, 3, 2], [3]), ([16, 9, 4], [2], [1], [-3, 4, 2], [65535]),
            ([16, 7, 5, 3], [0, 0], [0, 0], [0, 0, 0, 0], [0, 0]), ([16, 7, 5, 3], [-1, -1], [-1, -1], [0, -1, -1, 0], [0, 0]),
            ([16, 7, 5, 3], [-1, -1], [-1, -1], [0, 3, 2, 1], [2, 1]), ([16, 7, 5, 3], [-1, -2], [-1, 0], [4, 5, 3, 2], [1, 2]),
            ([16, 7, 5, 3], [1, 2], [3, -1], [4, 2, 3, 0], [255, 3]), ([16, 7, 5, 3], [-1, -1], [-1, -1], [0, 5, 3, 1], [2, 1]),
            ([16, 5, 4, 3, 2], [0, 0, 0], [0, 0, 0], [0, 0, 0, 0, 0], [0, 0, 0]), ([16, 5, 4, 3, 2], [-1, -1, -1], [-1, -1, -1], [0, -1, -1, -1, 0], [2, 1, 0]),
            ([16, 5, 4, 3, 2], [-1, 0, 1], [0, 1, -1], [2, 3, 2, 1, 1], [1, 31, 2])):
        for channels, pixels in ((8, 20), (16, 40)):
            im2col(deed, U16, sizes, lower, upper, channels, pixels, at, **({"offsets": offsets} if deed == "load" else {}))
    for steps in ([1, 2, 1, 1], [1, 1, 2, 1], [1, 2, 3, 1], [1, 1, 1, 2], [2, 1, 1, 1]):
        im2col(deed, F16, [16, 7, 5, 3], [-1, -1], [-1, -1], 8, 30, [0, -1, -1, 0], steps=steps, **({"offsets": [1, 2], "fill": 1} if deed == "load" else {}))
        im2col(deed, F16, [16, 7, 5, 3], [-1, -1], [-1, -1], 8, 30, [0, 2, 1, 0], steps=steps)
    im2col(deed, F16, [64, 7, 5, 3], [-1, -1], [-1, -1], 64, 30, [0, -1, -1, 0], swizzle=3)
    im2col(deed, F16, [64, 7, 5, 3], [-1, -1], [-1, -1], 16, 30, [0, -1, -1, 0], swizzle=1)
    im2col(deed, F16, [64, 7, 5, 3], [-1, -1], [-1, -1], 8, 30, [0, -1, -1, 0], swizzle=3)
    line("im2col", deed, type=F16, rank=4, sizes=[32, 7, 5, 3], strides=[16, 112, 560], lower=[-1, -1], upper=[-1, -1], channels=8, pixels=30, at=[8, -1, -1, 0], interleave=1)
    line("im2col", deed, type=F16, rank=4, sizes=[4, 7, 5, 3], strides=[16, 112, 560], lower=[-1, -1], upper=[-1, -1], channels=1, pixels=30, at=[1, -1, -1, 0], interleave=1)
print("# reductions")
for type in range(13):
    for deed in ("add", "min", "max", "inc", "dec", "and", "or", "xor"):
        # The others end the launch.
        sensible = {"add": type in (U32, S32, U64, F16, F32, BF16), "min": type in (U32, S32, U64, S64, F16, BF16), "inc": type == U32, "and": type in (U32, S32, U64, S64)}
        if sensible[{"max": "min", "dec": "inc", "or": "and", "xor": "and"}.get(deed, deed)]:
            tile(deed, type, [40, 9], [128 // SIZE[type], 7], [-3, 4], swizzle=random.choice([0, 3]))
im2col("add", F16, [16, 7, 5, 3], [-1, -1], [-1, -1], 8, 30, [0, -1, -1, 0])
im2col("xor", U32, [16, 7, 5, 3], [-1, -1], [-1, -1], 8, 30, [0, 2, 1, 0], steps=[1, 2, 1, 1])
print("# what kernels replace")
plain = dict(type=U16, rank=2, sizes=[64, 8], strides=[256], box=[32, 4], at=[-8, 5])


def sets(told, *fields, **more):
    merged = {**plain, **more}
    words = " ".join(f"set={field}:{number}:{value}" for field, number, value in fields)
    print("tile load", *(f"{k}={listed(v) if isinstance(v, (list, tuple)) else v}" for k, v in merged.items() if v not in (0, [])), f"told={told}", words)


sets(256, ("global_address", "-", 512))
sets(256, ("global_dim", 0, 70))
sets(256, ("global_dim", 1, 7))
sets(256, ("global_stride", 0, 128))
sets(256, ("box_dim", 1, 4))
sets(384, ("box_dim", 1, 6))
sets(192, ("box_dim", 0, 24))
sets(256, ("element_stride", 1, 1))
sets(128, ("element_stride", 1, 2))
sets(256, ("fill_mode", "-", 1), type=F16)
sets(256, ("fill_mode", "-", 0), type=F16, fill=1)
sets(256, ("swizzle_mode", "-", 2))
sets(256, ("swizzle_mode", "-", 3))
sets(256, ("swizzle_mode", "-", 1), box=[16, 8], sizes=[64, 20])
sets(256, ("interleave_layout", "-", 0))
for number in range(13):
    size = [1, 2, 4, 4, 8, 8, 2, 4, 4, 8, 2, 4, 4][number]
    sets(128 * size, ("elemtype", "-", number), strides=[1024], at=[16, 5])
    if number >= 6:
        sets(128 * size, ("elemtype", "-", number), ("fill_mode", "-", 1), strides=[1024], at=[48, 5])
whole = [("global_address", "-", 256), ("rank", "-", 1), ("box_dim", 0, 16), ("box_dim", 1, 5), ("global_dim", 0, 40), ("global_dim", 1, 9), ("global_stride", 0, 160), ("element_stride", 0, 1), ("element_stride", 1, 1),
         ("elemtype", "-", 7), ("interleave_layout", "-", 0), ("swizzle_mode", "-", 0), ("fill_mode", "-", 0)]
sets(320, *whole, zero=1)
sets(320, *(("swizzle_mode", "-", 2) if field == "swizzle_mode" else (field, number, value) for field, number, value in whole), zero=1)
sets(2 * 320, *(("rank", "-", 2) if field == "rank" else (field, number, value) for field, number, value in whole), ("box_dim", 2, 2), ("global_dim", 2, 4), ("global_stride", 1, 1600), ("element_stride", 2, 1), zero=1, becomes=3, at=[-4, 5, -1])
sets(2 * 320, ("rank", "-", 2), ("box_dim", 2, 2), ("global_dim", 2, 4), ("global_stride", 1, 1600), ("element_stride", 2, 1), type=F32, box=[16, 5], strides=[160], sizes=[40, 9], becomes=3, at=[-4, 5, -1])
print("# what can be encoded")
good = dict(type=U16, rank=3, sizes=[64, 8, 8], strides=[128, 1024], box=[32, 4, 2])


def check(**more):
    line("tile", "none", **{**good, **more})


for type in range(18):
    check(type=type, sizes=[128, 8, 8], strides=[1024, 8192], box=[128 if type > 13 else 32, 4, 2])
    check(type=type, fill=1)
    check(type=type, box=[8, 4, 2], fill=1)
check(type=U4_8, sizes=[127, 8, 8], box=[32, 4, 2])
check(type=U4_16, sizes=[192, 8, 8], box=[128, 4, 2])
check(type=U4_16, sizes=[128, 8, 8], box=[64, 4, 2])
check(type=U4_16, sizes=[128, 8, 8], strides=[80, 1024], box=[128, 4, 2])
for rank in range(7):
    line("tile", "none", **{**good, "rank": rank, "sizes": [64, 8, 8, 8, 8], "strides": [128, 1024, 8192, 65536], "box": [32, 4, 2, 1, 1]})
    line("im2col", "none", type=U16, rank=rank, sizes=[64, 8, 8, 8, 8], strides=[128, 1024, 8192, 65536], lower=[0, 0, 0], upper=[0, 0, 0], channels=8, pixels=8)
for shift in (1, 8, 16, 32, 64):
    for interleave in (0, 1, 2):
        check(shift=shift, interleave=interleave, swizzle=int(interleave == 2))
for sizes in ([0, 8, 8], [64, 0, 8], [64, 8, 0], [1 << 32, 8, 8], [(1 << 32) + 1, 8, 8], [64, 1 << 32, 8], [64, (1 << 32) + 1, 8], [1, 8, 8], [65, 8, 8], [4096, 8, 8]):
    check(sizes=sizes)
for strides in ([0, 1024], [8, 1024], [16, 1024], [120, 1024], [128, 0], [128, 16], [128, 64], [136, 1024], [128, 1032], [1 << 40, 1 << 40], [(1 << 40) - 16, (1 << 40) - 16], [144, 1040], [128, (1 << 40)],
                [1 << 39, (1 << 40) - 16]):
    check(strides=strides)
    check(strides=strides, interleave=2, swizzle=1)
for box in ([0, 4, 2], [32, 0, 2], [32, 4, 0], [4, 4, 2], [7, 4, 2], [8, 4, 2], [12, 4, 2], [256, 4, 2], [257, 4, 2], [264, 4, 2], [32, 256, 2], [32, 257, 2], [256, 256, 2], [256, 256, 256], [32, 4, 9], [128, 4, 2], [64, 4, 2], [136, 4, 2]):
    for swizzle in range(4):
        check(box=box, swizzle=swizzle)
    check(box=box, interleave=1)
    check(box=box, interleave=2, swizzle=1)
for steps in ([0, 1, 1], [1, 0, 1], [1, 1, 0], [8, 8, 8], [9, 1, 1], [1, 9, 1], [1, 1, 9], [2, 1, 1]):
    check(steps=steps)
    check(steps=steps, interleave=1)
for interleave, swizzle in itertools.product(range(4), range(8)):
    check(interleave=interleave, swizzle=swizzle, box=[16, 4, 2])
for promotion in range(5):
    check(promotion=promotion)
for fill in range(3):
    check(fill=fill, type=F16)
pixel = dict(type=F16, rank=4, sizes=[64, 8, 8, 8], strides=[128, 1024, 8192], lower=[0, 0], upper=[0, 0], channels=8, pixels=8)


def check_pixels(**more):
    line("im2col", "none", **{**pixel, **more})


check_pixels()
for lower in ([-128, 0], [-129, 0], [0, 127], [0, 128], [7, 0], [8, 0], [9, 0], [0, 8]):
    check_pixels(lower=lower)
    check_pixels(upper=lower)
    check_pixels(lower=lower, upper=lower)
for upper in ([-7, 0], [-8, 0], [-9, 0], [0, -8]):
    check_pixels(upper=upper)
for channels in (0, 1, 4, 7, 16, 64, 65, 128, 256, 257, 264):
    for swizzle in (0, 1, 3):
        check_pixels(channels=channels, swizzle=swizzle)
    check_pixels(channels=channels, interleave=1)
for pixels in (0, 1, 256, 257, 1023, 1024, 1025):
    check_pixels(pixels=pixels)
for rank, edge in ((3, 32768), (5, 16)):
    for x in (edge - 1, edge, -edge, -edge - 1):
        line("im2col", "none", type=F16, rank=rank, sizes=[64, 70000 if rank == 3 else 40, 8, 8, 8], strides=[128, 1 << 24, 1 << 28, 1 << 32], lower=[x], channels=8, pixels=8)
        line("im2col", "none", type=F16, rank=rank, sizes=[64, 70000 if rank == 3 else 40, 8, 8, 8], strides=[128, 1 << 24, 1 << 28, 1 << 32], upper=[x], channels=8, pixels=8)
print("# interleaved")
for deed in ("load", "store"):
    for interleave, unit in ((1, 8), (2, 16)):
        swizzle = interleave - 1
        for sizes, box, at in (([unit * 4, 10, 6], [unit, 5, 3], [0, 2, 1]), ([unit * 4, 10, 6], [unit, 5, 3], [unit, 2, 1]),
                               ([unit * 4, 10, 6], [unit, 5, 3], [1, 2, 1]), ([unit * 4, 10, 6], [unit, 5, 3], [-1, 8, 4]),
                               ([unit * 4, 10, 6], [unit * 2, 5, 3], [0, 2, 1]), ([unit * 4, 10, 6], [2, 5, 3], [1, 2, 1]),
                               ([4, 10, 6], [1, 5, 3], [1, 2, 1]), ([4, 10, 6], [2, 5, 3], [3, 2, 1]),
                               ([4, 7, 5, 3], [2, 5, 3, 2], [1, -1, 3, 1]), ([unit * 3, 7, 5, 3], [unit, 5, 3, 2], [unit, -1, 3, 1]),
                               ([unit * 2, 5, 4, 3, 2], [unit, 3, 2, 2, 2], [0, 1, 1, 1, 0]), ([2, 5, 4, 3, 2], [1, 3, 2, 2, 2], [1, 1, 1, 1, 0])):
            if deed == "store" and min(at) < 0:
                continue
            strides, step = [], 2 * unit
            for n in sizes[1:]:
                strides.append(step)
                step *= n
            line("tile", deed, type=U16, rank=len(sizes), sizes=sizes, strides=strides, box=box, at=at, interleave=interleave, swizzle=swizzle)
            if sizes[0] == unit * 4:
                line("tile", deed, type=U16, rank=len(sizes), sizes=sizes, strides=[3 * s for s in strides], box=box, at=at, interleave=interleave, swizzle=swizzle,
                     steps=[2, 1, 1])
    line("tile", deed, type=U8, rank=3, sizes=[64, 10, 6], strides=[16, 160], box=[16, 5, 3], at=[16, 2, 1], interleave=1)
    line("tile", deed, type=U8, rank=3, sizes=[64, 10, 6], strides=[16, 160], box=[16, 20, 3], at=[0, 0, 1], interleave=1, swizzle=2)
    line("tile", deed, type=U8, rank=3, sizes=[64, 10, 6], strides=[16, 160], box=[16, 20, 3], at=[0, 0, 1], interleave=1, swizzle=3)
print("# what no map allows: a GPU ends the launch")
for deed in ("load", "store"):
    tile(deed, U16, [100], [64], [-7], raw=True)
    tile(deed, U8, [200], [64], [8], raw=True)
    tile(deed, F32, [60, 9], [32, 4], [1, 0], raw=True)
    tile(deed, U8, [200], [64], [0], base=64)
tile("store", S32, [30, 9], [16, 4], [-4, 0], raw=True)
tile("store", S32, [30, 9], [16, 4], [0, -1], raw=True)
tile("store", S32, [30, 9], [16, 4], [0, 2147483647])
tile("store", S32, [30, 9], [16, 4], [2147483644, 0])
im2col("load", U16, [16, 9, 4], [2], [1], 8, 20, [0, 1, 2])
im2col("load", U16, [16, 9, 4], [-1], [-1], 8, 20, [0, 8, 2])
im2col("load", U16, [16, 9, 4], [-1], [-1], 8, 20, [0, 7, -1])
im2col("store", U16, [16, 9, 4], [-1], [0], 8, 20, [0, 3, 1], raw=True)
im2col("store", U16, [16, 9, 4], [0], [1], 8, 20, [0, 3, 1], raw=True)
im2col("store", U16, [16, 9, 4], [1], [0], 8, 20, [0, 3, 1], raw=True)
im2col("store", U16, [16, 9, 4], [0], [-1], 8, 20, [0, 3, 1], raw=True)
im2col("store", U16, [16, 9, 4], [0], [-1], 8, 4, [0, 3, 1], raw=True)
im2col("store", U16, [16, 9, 4], [0], [0], 8, 20, [8, 3, 1], raw=True)
im2col("store", U16, [16, 9, 4], [0], [0], 16, 20, [8, 3, 1], raw=True)
for type, deed in ((F32_FTZ, "add"), (S64, "add"), (F64, "add"), (TF32, "add"), (U16, "add"), (F32, "min"), (S32, "inc"), (F32, "xor"), (U8, "or"), (F16, "xor")):
    tile(deed, type, [40, 9], [128 // SIZE[type], 7], [-8, 4])
