"""tinygrad_operations.py: what tinygrad.py runs on tinygrad with Lanewise as its CUDA driver (DEV=CUDA:PTX).

Each operation below runs in tinygrad's CPU backend and through PTX, and both must give the same bits; sums of floats may be taken in
another order and get a tolerance. What does not run is listed with the instruction that stops it: one that is not executable yet, or one
that is no valid PTX, as tinygrad writes for some operations on float64 (ptxas refuses it, too). Any other failure is a fault."""

import collections
import os
import re
import sys

SHAPES = [(1,), (7,), (3, 5), (2, 3, 4), (129,), (4, 33, 5), (64, 65)]
SOME = [(3, 5), (129,)]
# Opcodes that tinygrad writes for .f64 with .approx, which no PTX version has.
INVALID = re.compile(r"\b(rcp|sqrt|ex2|lg2|sin)\.approx\.f64\b")
INTEGERS = ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"]
FLOATS = ["float32", "float64", "float16"]


def operations(np):
    """Yields name, function of tensors, arrays, relative tolerance."""
    rng = np.random.default_rng(1)

    def ints(kind, shape, low=None, high=None):
        about = np.iinfo(kind)
        return rng.integers(about.min if low is None else low, about.max if high is None else high, shape, dtype=kind, endpoint=True)

    def floats(kind, shape):
        return rng.standard_normal(shape).astype(kind)

    for kind in INTEGERS:
        bits = np.iinfo(kind).bits
        for shape in SHAPES if kind == "int32" else SOME:
            a, b = ints(kind, shape), ints(kind, shape)
            for name, call in [("add", lambda x, y: x + y), ("sub", lambda x, y: x - y), ("mul", lambda x, y: x * y),
                               ("and", lambda x, y: x & y), ("or", lambda x, y: x | y), ("xor", lambda x, y: x ^ y),
                               ("max", lambda x, y: x.maximum(y)), ("less", lambda x, y: x < y), ("equal", lambda x, y: x == y),
                               ("where", lambda x, y: (x < y).where(x, y))]:
                yield f"{name} {kind} {shape}", call, [a, b], 0
            yield f"not {kind} {shape}", lambda x: x.bitwise_not(), [a], 0
            for n in (1, bits // 2, bits - 1):
                if kind.startswith("u"):
                    yield f"shift left {n} {kind} {shape}", lambda x, n=n: x.lshift(n), [a], 0
                    yield f"shift right {n} {kind} {shape}", lambda x, n=n: x.rshift(n), [a], 0
            divisor = ints(kind, shape, 1, 100)
            yield f"divide {kind} {shape}", lambda x, y: x // y, [a, divisor], 0
            yield f"modulo {kind} {shape}", lambda x, y: x % y, [a, divisor], 0
            yield f"sum {kind} {shape}", lambda x: x.sum(), [a], 0
            yield f"max of {kind} {shape}", lambda x: x.max(), [a], 0
            yield f"reverse {kind} {shape}", lambda x: x.flip(0), [a], 0
            yield f"pad {kind} {shape}", lambda x: x.flatten().pad(((2, 3),)), [a], 0
    for kind in FLOATS:
        for shape in SHAPES if kind == "float32" else SOME:
            a, b = floats(kind, shape), floats(kind, shape)
            for name, call in [("add", lambda x, y: x + y), ("sub", lambda x, y: x - y), ("mul", lambda x, y: x * y),
                               ("max", lambda x, y: x.maximum(y)), ("less", lambda x, y: x < y), ("relu", lambda x, y: (x - y).relu())]:
                yield f"{name} {kind} {shape}", call, [a, b], 0
            loose = 2e-2 if kind == "float16" else 1e-5
            yield f"divide {kind} {shape}", lambda x, y: x / y, [a, b + 10], loose
            yield f"reciprocal {kind} {shape}", lambda x: x.reciprocal(), [a + 10], loose
            yield f"sqrt {kind} {shape}", lambda x: x.sqrt(), [abs(a)], loose
            yield f"exp2 {kind} {shape}", lambda x: x.exp2(), [a], loose
            yield f"log2 {kind} {shape}", lambda x: x.log2(), [abs(a) + 1], loose
            yield f"sin {kind} {shape}", lambda x: x.sin(), [a], loose
            yield f"sum {kind} {shape}", lambda x: x.sum(), [a], loose
            yield f"max of {kind} {shape}", lambda x: x.max(), [a], 0
            yield f"softmax {kind} {shape}", lambda x: x.softmax(), [a], loose
    for source in INTEGERS + ["float32", "float64", "float16", "bool"]:
        for target in INTEGERS + ["float32", "float64", "float16", "bool"]:
            a = ints("int8", (67,), 0, 100)
            a = (a > 50) if source == "bool" else a.astype(source)
            yield f"cast {source} {target}", lambda x, target=target: x.cast(target), [a], 0
    word = ints("uint32", (5, 13))
    yield "bitcast uint32 int32", lambda x: x.bitcast("int32"), [word], 0
    yield "bitcast uint32 float32", lambda x: x.bitcast("float32"), [word & np.uint32(0x3fffffff)], 0
    for shape in [(6, 4), (2, 3, 4), (5, 1, 3)]:
        a = ints("int32", shape, -1000, 1000)
        yield f"transpose {shape}", lambda x: x.transpose(0, 1).contiguous(), [a], 0
        yield f"reshape {shape}", lambda x: (x.reshape(-1) + 1).reshape(1, -1), [a], 0
        yield f"expand {shape}", lambda x: x.unsqueeze(0).expand(3, *x.shape).contiguous(), [a], 0
        yield f"concatenate {shape}", lambda x: x.cat(x, dim=0), [a], 0
        for axis in range(len(shape)):
            yield f"sum over {axis} {shape}", lambda x, axis=axis: x.sum(axis), [a], 0
            yield f"cumulative sum over {axis} {shape}", lambda x, axis=axis: x.cumsum(axis), [a], 0
            yield f"argmax over {axis} {shape}", lambda x, axis=axis: x.argmax(axis), [a], 0
    for n in (4, 16, 33):
        yield f"product of matrices int32 {n}", lambda x, y: x @ y, [ints("int32", (n, n), -99, 99), ints("int32", (n, n), -99, 99)], 0
        yield f"product of matrices float32 {n}", lambda x, y: x @ y, [floats("float32", (n, n)), floats("float32", (n, n))], 1e-4


def randoms(Tensor):
    for shape in SHAPES:
        yield f"rand {shape}", lambda device, shape=shape: Tensor.rand(*shape, device=device), 0
        yield f"randint {shape}", lambda device, shape=shape: Tensor.randint(*shape, low=-50, high=50, device=device), 0
        yield f"randn {shape}", lambda device, shape=shape: Tensor.randn(*shape, device=device), 1e-4


def train(Tensor, TinyJit, np, device):
    """The losses of a small network that learns, its steps being replayed by TinyJit."""
    from tinygrad.helpers import Context
    from tinygrad.nn.optim import SGD

    rng = np.random.default_rng(7)
    points = rng.standard_normal((64, 8)).astype("float32")
    wanted = Tensor((points[:, :1] * points[:, 1:2] > 0).astype("float32"), device=device).realize()
    points = Tensor(points, device=device).realize()
    first, second = (Tensor((rng.standard_normal(shape) * 0.5).astype("float32"), device=device).realize()
                     for shape in [(8, 16), (16, 1)])
    by = SGD([first, second], lr=0.1)

    @TinyJit
    def step():
        by.zero_grad()
        loss = ((points @ first).tanh() @ second).sub(wanted).square().mean().backward()
        return loss.realize(*by.schedule_step())

    with Context(TRAINING=1):
        return np.array([step().numpy() for _ in range(30)])


def same(np, a, b, tolerance):
    if a.shape != b.shape or a.dtype != b.dtype:
        return False
    if not tolerance:
        return a.tobytes() == b.tobytes() or bool(np.array_equal(a, b, equal_nan=a.dtype.kind == "f"))
    return bool(np.allclose(a.astype("float64"), b.astype("float64"), rtol=tolerance, atol=tolerance, equal_nan=True))


class Errors:
    """What the driver prints to stderr while an operation runs."""

    def __enter__(self):
        self.kept = os.dup(2)
        self.read, write = os.pipe()
        os.set_blocking(write, False)
        os.set_blocking(self.read, False)
        os.dup2(write, 2)
        os.close(write)
        return self

    def __exit__(self, *fault):
        os.dup2(self.kept, 2)
        os.close(self.kept)
        try:
            self.text = os.read(self.read, 1 << 16).decode(errors="replace")
        except BlockingIOError:
            self.text = ""
        os.close(self.read)
        return False


def reason(text):
    """Why the driver refused a module: the first diagnostic, and the instruction that stands below it."""
    lines = text.splitlines()
    for i, line in enumerate(lines):
        if "error[LW" in line:
            source = next((row.split("|", 1)[1].strip() for row in lines[i + 1:i + 4] if re.match(r"\s*\d+ \|", row)), "")
            return line.split("]: ", 1)[-1], source
    return "", ""


def inside():
    import numpy as np
    from tinygrad import Device, Tensor, TinyJit

    assert Device.DEFAULT.startswith("CUDA"), Device.DEFAULT
    assert type(Device["CUDA"].renderer).__name__ == "PTXRenderer", "tinygrad did not choose PTX"
    passed, wrong, missing = 0, [], collections.defaultdict(list)

    def attempt(name, run, tolerance):
        nonlocal passed
        try:
            wanted = run("CPU")
        except Exception as fault:  # the CPU backend cannot do it either: nothing to compare with
            missing[f"tinygrad's CPU backend: {type(fault).__name__}"].append(name)
            return
        errors, fault, got = Errors(), None, None
        with errors:
            try:
                got = run("CUDA")
            except Exception as raised:
                fault = raised
        if fault is not None:
            why, source = reason(errors.text)
            if "that Lanewise cannot execute" in why:
                missing[f"{source.split()[0]} is not executable"].append(name)
            elif INVALID.search(source):
                missing[f"tinygrad writes {source.split()[0]}, which is not valid PTX"].append(name)
            else:
                wrong.append(f"{name}: {type(fault).__name__}: {fault}\n{errors.text}")
        elif same(np, got, wanted, tolerance):
            passed += 1
        else:
            wrong.append(f"{name}: differs from the CPU backend\n  got    {got.ravel()[:8]}\n  wanted {wanted.ravel()[:8]}")

    for name, call, arrays, tolerance in operations(np):
        attempt(name, lambda device: call(*[Tensor(a, device=device) for a in arrays]).numpy(), tolerance)
    for name, call, tolerance in randoms(Tensor):
        def run(device, call=call):
            Tensor.manual_seed(42)
            return call(device).numpy()
        attempt(name, run, tolerance)

    attempt("training", lambda device: train(Tensor, TinyJit, np, device), 1e-3)
    print(f"{passed} operations equal the CPU backend")
    for why, names in sorted(missing.items(), key=lambda item: -len(item[1])):
        print(f"{len(names):4} operations do not run: {why}   (for example {names[0]})")
    for line in wrong:
        print(f"WRONG {line}")
    return 1 if wrong or not passed else 0


if __name__ == "__main__":
    sys.exit(inside())
