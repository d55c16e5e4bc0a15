"""The lines of tests/cuda/wgmma.txt: products of a warpgroup.

    python3 tools/silicon/wgmmas.py > cases.txt
    test_cuda_wgmma cases.txt record > wgmma.txt     with a GPU's driver
"""
BITS = {"f16": 16, "bf16": 16, "tf32": 32, "e4m3": 8, "e5m2": 8, "s8": 8, "u8": 8, "b1": 1}
MASK = {"f16": 0xbfffbfff, "bf16": 0xbfffbfff, "tf32": 0xbfffffff, "e4m3": 0xbfbfbfbf, "e5m2": 0xbfbfbfbf, "s8": 0xffffffff, "u8": 0xffffffff, "b1": 0xffffffff}
ROW = {0: 16, 1: 128, 2: 64, 3: 32}  # bytes of what a swizzle turns, by its number in a descriptor


def layout(swizzle, transposed, at, base=0, side=64):
    """A descriptor's numbers, for matrices that lie close together."""
    if not swizzle:
        return f"{swizzle},{128 if transposed else 128},{256 if transposed else 256},{at},{base}"
    row = ROW[swizzle]
    if transposed:
        return f"{swizzle},{8 * row * 2},{8 * row},{at},{base}"
    return f"{swizzle},16,{8 * row},{at},{base}"


def line(d, a, b, n, swizzle=0, swizzle_b=None, registers=0, at_a=0, at_b=32768, base_a=0, base_b=0, **more):
    sparse = more.get("sparse", 0)
    k = 256 // BITS[a] * (2 if sparse else 1)
    mask = MASK[a] & MASK[b]
    ta, tb = more.get("transposed_a", 0), more.get("transposed_b", 0)
    swizzle_b = swizzle if swizzle_b is None else swizzle_b
    words = dict(d=d, type_a=a, type_b=b, n=n, k=k, mask=hex(mask), a=layout(swizzle, ta, at_a, base_a), b=layout(swizzle_b, tb, at_b, base_b), registers=registers, **more)
    print(*(f"{name}={value}" for name, value in words.items() if value != 0 or name == "scale"))


print("# types, and where a is")
TYPES = [("f32", "f16", "f16"), ("f16", "f16", "f16"), ("f32", "bf16", "bf16"), ("f32", "tf32", "tf32"), ("s32", "b1", "b1")]
TYPES += [(d, a, b) for d in ("f32", "f16") for a in ("e4m3", "e5m2") for b in ("e4m3", "e5m2")]
TYPES += [("s32", a, b) for a in ("s8", "u8") for b in ("s8", "u8")]
for d, a, b in TYPES:
    for registers in (0, 1):
        line(d, a, b, 16, swizzle=1, registers=registers)
    line(d, a, b, 64, swizzle=0)
print("# sizes")
for n in range(8, 257, 8):
    line("f32", "f16", "f16", n, swizzle=3, registers=1)
for n in (8, 24, 48, 256):
    line("s32", "s8", "u8", n, swizzle=2)
line("f16", "e4m3", "e5m2", 256, swizzle=3)
print("# layouts")
for swizzle in range(4):
    for ta in (0, 1):
        for tb in (0, 1):
            line("f32", "f16", "f16", 128, swizzle=swizzle, transposed_a=ta, transposed_b=tb)
    line("f32", "bf16", "bf16", 64, swizzle=swizzle, transposed_b=1, registers=1)
    line("f32", "tf32", "tf32", 32, swizzle=swizzle)
    line("s32", "u8", "s8", 32, swizzle=swizzle)
    line("s32", "b1", "b1", 32, swizzle=swizzle)
    line("f32", "f16", "f16", 32, swizzle=swizzle, swizzle_b=(swizzle + 1) % 4)
print("# steps along k")
line("f32", "f16", "f16", 32, swizzle=1, chain=4, step_a=32, step_b=32)
line("f32", "f16", "f16", 32, swizzle=2, chain=2, step_a=32, step_b=32)
line("f32", "tf32", "tf32", 32, swizzle=1, chain=4, step_a=32, step_b=32)
line("f32", "e4m3", "e4m3", 32, swizzle=1, chain=4, step_a=32, step_b=32)
line("s32", "s8", "s8", 32, swizzle=1, chain=4, step_a=32, step_b=32)
line("f32", "f16", "f16", 32, swizzle=1, transposed_a=1, transposed_b=1, chain=4, step_a=2048, step_b=2048)
print("# signs, no c, clamps")
for d, a in (("f32", "f16"), ("f16", "f16"), ("f32", "tf32"), ("f32", "e4m3"), ("f16", "e5m2")):
    line(d, a, a, 16, swizzle=1, sign_a=-1)
    line(d, a, a, 16, swizzle=1, sign_b=-1)
    line(d, a, a, 16, swizzle=1, sign_a=-1, sign_b=-1, scale=0)
line("s32", "s8", "s8", 16, swizzle=1, scale=0)
line("s32", "s8", "s8", 16, swizzle=1, saturates=1)
line("s32", "u8", "s8", 16, swizzle=1, saturates=1)
line("s32", "b1", "b1", 16, swizzle=1, scale=0)
print("# sparse")
for d, a, b in TYPES:
    if a == "b1":
        continue
    for registers in (0, 1):
        for selector in (0, 1) if BITS[a] > 8 else (0,):
            line(d, a, b, 16, swizzle=1, sparse=1, selector=selector, registers=registers)
    line(d, a, b, 24 if d != "s32" else 32, swizzle=0, sparse=1)
line("f32", "f16", "f16", 64, swizzle=1, sparse=1, transposed_a=1, transposed_b=1)
line("f32", "f16", "f16", 64, swizzle=3, sparse=1)
line("f32", "f16", "f16", 64, swizzle=2, sparse=1, sign_b=-1, scale=0)
print("# where patterns begin")
for swizzle in (1, 2, 3):
    for at in (128, 256, 512):
        line("f32", "f16", "f16", 32, swizzle=swizzle, at_b=32768 + at)
        line("f32", "f16", "f16", 32, swizzle=swizzle, at_b=32768 + at, base_b=at // 128)
        line("f32", "f16", "f16", 32, swizzle=swizzle, at_a=at, transposed_a=1, base_a=at // 128)
    line("f32", "f16", "f16", 32, swizzle=swizzle, at_b=32768 + 16)
line("f32", "f16", "f16", 32, swizzle=0, at_b=32768 + 16)
line("f32", "f16", "f16", 32, swizzle=0, at_b=32768 + 48, base_b=3)
