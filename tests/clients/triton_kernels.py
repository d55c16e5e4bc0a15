"""triton_kernels.py: what triton.py runs. Each kernel is launched on arrays that lie in the driver's memory and compared with numpy: what numpy computes
in the same order or exactly must be equal bit for bit; sums of floats and functions that PTX approximates have a tolerance."""

import ctypes
import sys
import traceback

import numpy as np
import triton
import triton.language as tl

cuda = ctypes.CDLL("libcuda.so.1")


def call(name, *arguments):
    error = getattr(cuda, name)(*arguments)
    if error:
        raise RuntimeError(f"{name}: {error}")


class Array:
    """An array of numpy's in the driver's memory: what Triton asks of an argument is its type and its address."""

    def __init__(self, host):
        self.host = np.ascontiguousarray(host)
        self.dtype = {"bool": "i1"}.get(str(self.host.dtype), str(self.host.dtype))
        self.address = ctypes.c_uint64()
        call("cuMemAlloc_v2", ctypes.byref(self.address), ctypes.c_size_t(self.host.nbytes))
        call("cuMemcpyHtoD_v2", self.address, ctypes.c_void_p(self.host.ctypes.data), ctypes.c_size_t(self.host.nbytes))

    def data_ptr(self):
        return self.address.value

    def get(self):
        out = np.empty_like(self.host)
        call("cuMemcpyDtoH_v2", ctypes.c_void_p(out.ctypes.data), self.address, ctypes.c_size_t(out.nbytes))
        call("cuMemFree_v2", self.address)
        return out


@triton.jit
def k_add(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    tl.store(out + at, tl.load(x + at, mask=inside) + tl.load(y + at, mask=inside), mask=inside)


@triton.jit
def k_softmax(x, out, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    value = tl.load(x + row * columns + at, mask=at < columns, other=-float("inf"))
    power = tl.exp(value - tl.max(value, axis=0))
    tl.store(out + row * columns + at, power / tl.sum(power, axis=0), mask=at < columns)


@triton.jit
def k_layer_norm(x, weight, bias, out, columns, epsilon, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    inside = at < columns
    value = tl.load(x + row * columns + at, mask=inside, other=0.0)
    mean = tl.sum(value, axis=0) / columns
    centred = tl.where(inside, value - mean, 0.0)
    scale = 1 / tl.sqrt(tl.sum(centred * centred, axis=0) / columns + epsilon)
    tl.store(out + row * columns + at, centred * scale * tl.load(weight + at, mask=inside) + tl.load(bias + at, mask=inside), mask=inside)


@triton.jit
def k_reduce(x, out, OPERATION: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr, AXIS: tl.constexpr):
    value = tl.load(x + tl.arange(0, ROWS)[:, None] * COLUMNS + tl.arange(0, COLUMNS)[None, :])
    if OPERATION == "sum":
        result = tl.sum(value, axis=AXIS)
    elif OPERATION == "max":
        result = tl.max(value, axis=AXIS)
    elif OPERATION == "min":
        result = tl.min(value, axis=AXIS)
    elif OPERATION == "argmax":
        result = tl.argmax(value, axis=AXIS)
    elif OPERATION == "argmin":
        result = tl.argmin(value, axis=AXIS)
    else:
        result = tl.xor_sum(value, axis=AXIS)
    tl.store(out + tl.arange(0, COLUMNS if AXIS == 0 else ROWS), result)


@triton.jit
def affine(a, b, c, d):
    return a * c, b * c + d


@triton.jit
def k_scan(x, y, out, OPERATION: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr, AXIS: tl.constexpr, REVERSE: tl.constexpr):
    at = tl.arange(0, ROWS)[:, None] * COLUMNS + tl.arange(0, COLUMNS)[None, :]
    value = tl.load(x + at)
    if OPERATION == "cumsum":
        result = tl.cumsum(value, axis=AXIS, reverse=REVERSE)
    elif OPERATION == "cumprod":
        result = tl.cumprod(value, axis=AXIS, reverse=REVERSE)
    else:
        _, result = tl.associative_scan((value, tl.load(y + at)), AXIS, affine, reverse=REVERSE)
    tl.store(out + at, result)


@triton.jit
def k_math(x, out, OPERATION: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + at)
    if OPERATION == "exp":
        result = tl.exp(value)
    elif OPERATION == "log":
        result = tl.log(value)
    elif OPERATION == "sin":
        result = tl.sin(value)
    elif OPERATION == "cos":
        result = tl.cos(value)
    elif OPERATION == "rsqrt":
        result = tl.rsqrt(value)
    elif OPERATION == "erf":
        result = tl.erf(value)
    elif OPERATION == "sqrt_rn":
        result = tl.sqrt_rn(value)
    elif OPERATION == "div_rn":
        result = tl.div_rn(value, value + 3)
    elif OPERATION == "floor":
        result = tl.floor(value)
    else:
        result = tl.fma(value, value, value)
    tl.store(out + at, result)


@triton.jit
def k_convert(x, out, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at).to(out.dtype.element_ty))


@triton.jit
def k_histogram(x, out, n, BLOCK: tl.constexpr, BINS: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    counts = tl.histogram(tl.load(x + at), BINS)
    tl.atomic_add(out + tl.arange(0, BINS), counts)


@triton.jit
def k_atomic(x, out, OPERATION: tl.constexpr, BLOCK: tl.constexpr):
    value = tl.load(x + tl.program_id(0) * BLOCK + tl.arange(0, BLOCK))
    place = out + tl.arange(0, BLOCK) % 4
    if OPERATION == "add":
        tl.atomic_add(place, value)
    elif OPERATION == "max":
        tl.atomic_max(place, value)
    elif OPERATION == "min":
        tl.atomic_min(place, value)
    elif OPERATION == "and":
        tl.atomic_and(place, value)
    else:
        tl.atomic_xor(place, value)


@triton.jit
def k_lock(lock, out, ROUNDS: tl.constexpr):
    for _ in range(ROUNDS):
        while tl.atomic_cas(lock, 0, 1) == 1:
            pass
        tl.store(out, tl.load(out, volatile=True) + 1)
        tl.debug_barrier()
        tl.atomic_xchg(lock, 0)


@triton.jit
def k_sort(x, out, BLOCK: tl.constexpr, DESCENDING: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(out + at, tl.sort(tl.load(x + at), descending=DESCENDING))


@triton.jit
def k_transpose(x, out, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    value = tl.load(x + tl.arange(0, ROWS)[:, None] * COLUMNS + tl.arange(0, COLUMNS)[None, :])
    tl.store(out + tl.arange(0, COLUMNS)[:, None] * ROWS + tl.arange(0, ROWS)[None, :], tl.trans(value))


@triton.jit
def k_gather(x, index, out, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(out + at, tl.gather(tl.load(x + at), tl.load(index + at), 0))


@triton.jit
def k_collatz(x, out, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + at)
    steps = tl.zeros_like(value)
    while tl.max(value, axis=0) > 1:
        going = value > 1
        value = tl.where(going, tl.where(value % 2 == 0, value // 2, 3 * value + 1), value)
        steps += going.to(tl.int64)
    tl.store(out + at, steps)


@triton.jit
def k_random(out, seed, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.randint(seed, at))


@triton.jit
def k_matmul(a, b, c, M, N, K, PRECISION: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    columns = tl.program_id(1) * BN + tl.arange(0, BN)
    total = tl.zeros((BM, BN), dtype=c.dtype.element_ty)
    for k in range(0, K, BK):
        inner = k + tl.arange(0, BK)
        left = tl.load(a + rows[:, None] * K + inner[None, :], mask=(rows[:, None] < M) & (inner[None, :] < K), other=0)
        right = tl.load(b + inner[:, None] * N + columns[None, :], mask=(inner[:, None] < K) & (columns[None, :] < N), other=0)
        total = tl.dot(left, right, total, input_precision=PRECISION, out_dtype=c.dtype.element_ty)
    tl.store(c + rows[:, None] * N + columns[None, :], total, mask=(rows[:, None] < M) & (columns[None, :] < N))


def philox(key, counter):
    """The first word of Philox-4x32-10 (Salmon et al., 2011), which is what randint gives."""
    low = np.uint64(0xffffffff)
    c = [counter.astype(np.uint64), *(np.zeros_like(counter, np.uint64) for _ in range(3))]
    k = [np.uint64(key & 0xffffffff), np.uint64(key >> 32)]
    for _ in range(10):
        first, second = np.uint64(0xD2511F53) * c[0], np.uint64(0xCD9E8D57) * c[2]
        c = [(second >> np.uint64(32)) ^ c[1] ^ k[0], second & low, (first >> np.uint64(32)) ^ c[3] ^ k[1], first & low]
        k = [(k[0] + np.uint64(0x9E3779B9)) & low, (k[1] + np.uint64(0xBB67AE85)) & low]
    return c[0].astype(np.uint32)


def collatz(n):
    steps = 0
    while n > 1:
        n, steps = (n // 2 if n % 2 == 0 else 3 * n + 1), steps + 1
    return steps


def erf(x):
    import math
    return np.array([math.erf(v) for v in x.tolist()])


def launch(kernel, grid, inputs, like, *arguments, start=0, **options):
    out = Array(np.full(like.shape, start, like.dtype))
    kernel[grid](*map(Array, inputs), out, *arguments, **options)
    return out.get()


def checks():
    """Yields name, function that gives what came and what should have come, and the tolerance (0: the same bits)."""
    rng = np.random.default_rng(14)

    def some(kind, *shape):
        if np.dtype(kind).kind == "f":
            return rng.standard_normal(shape).astype(kind)
        about = np.iinfo(kind)
        return rng.integers(about.min, about.max, shape, dtype=kind, endpoint=True)

    for kind in ("int8", "int16", "int32", "int64", "uint8", "uint32", "uint64", "float16", "float32", "float64"):
        for n in (1, 1000, 4099):
            x, y = some(kind, n), some(kind, n)
            yield f"add {kind} {n}", lambda x=x, y=y, n=n: (launch(k_add, (-(-n // 256),), [x, y], x, n, BLOCK=256), x + y), 0
    for warps in (1, 2, 8):
        x = some("float32", 2000)
        yield f"add {warps} warps", lambda x=x, w=warps: (launch(k_add, (4,), [x, x], x, 2000, BLOCK=512, num_warps=w), x + x), 0

    for rows, columns in ((3, 5), (16, 128), (7, 781), (2, 4096)):
        x, w, b = some("float32", rows, columns), some("float32", columns), some("float32", columns)
        block = triton.next_power_of_2(columns)
        e = np.exp(x.astype("float64") - x.max(1, keepdims=True))
        soft = e / e.sum(1, keepdims=True)
        yield f"softmax {rows} {columns}", lambda x=x, s=soft, r=rows, c=columns, k=block: (launch(k_softmax, (r,), [x], x, c, BLOCK=k), s), 1e-5
        d = x.astype("float64") - x.mean(1, keepdims=True, dtype="float64")
        norm = d / np.sqrt((d * d).mean(1, keepdims=True) + 1e-5) * w + b
        yield (f"layer norm {rows} {columns}",
               lambda x=x, w=w, b=b, s=norm, r=rows, c=columns, k=block: (launch(k_layer_norm, (r,), [x, w, b], x, c, 1e-5, BLOCK=k), s), 1e-4)

    for axis in (0, 1):
        for kind in ("int32", "int64", "float32", "float64", "int8"):
            x = some(kind, 32, 64)
            for name, by in (("sum", np.sum), ("max", np.max), ("min", np.min), ("argmax", np.argmax), ("argmin", np.argmin),
                             ("xor", np.bitwise_xor.reduce)):
                if (name == "xor" and kind[0] == "f") or (name == "sum" and kind == "int8"):
                    continue
                right = by(x, axis=axis)
                right = right.astype(kind if not name.startswith("arg") else "int32")
                yield (f"{name} {kind} axis {axis}", lambda x=x, s=right, n=name, a=axis: (launch(k_reduce, (1,), [x], s, n, 32, 64, a), s),
                       {"float32": 1e-4, "float64": 1e-12}.get(kind, 0) if name == "sum" else 0)
        for kind in ("int32", "int64", "float32"):
            x, y = some(kind, 16, 64), some(kind, 16, 64)
            for reverse in (False, True):
                turned = (lambda v, a=axis: np.flip(v, a)) if reverse else (lambda v: v)
                for name, by in (("cumsum", np.cumsum), ("cumprod", np.cumprod)):
                    right = turned(by(turned(x), axis=axis, dtype=kind))
                    yield (f"{name} {kind} axis {axis}{' reverse' if reverse else ''}",
                           lambda x=x, y=y, s=right, n=name, a=axis, r=reverse: (launch(k_scan, (1,), [x, y], s, n, 16, 64, a, r), s),
                           1e-4 if kind[0] == "f" else 0)
        a, b = some("int32", 16, 64), some("int32", 16, 64)
        right = np.moveaxis(b.copy(), axis, 0)
        for n in range(1, len(right)):
            right[n] += right[n - 1] * np.moveaxis(a, axis, 0)[n]
        right = np.moveaxis(right, 0, axis)
        yield f"scan of affine maps axis {axis}", lambda a=a, b=b, s=right, x=axis: (launch(k_scan, (1,), [a, b], s, "affine", 16, 64, x, False), s), 0

    x = np.abs(some("float32", 1024)) + np.float32(0.1)
    wide = x.astype("float64")
    for name, right, tolerance in (("exp", np.exp(wide), 1e-6), ("log", np.log(wide), 1e-5), ("sin", np.sin(wide), 1e-5), ("cos", np.cos(wide), 1e-5),
                                   ("rsqrt", 1 / np.sqrt(wide), 1e-6), ("erf", erf(x), 1e-6), ("sqrt_rn", np.sqrt(x), 0),
                                   ("div_rn", x / (x + np.float32(3)), 0), ("floor", np.floor(x), 0)):
        yield f"{name} float32", lambda s=right, n=name: (launch(k_math, (4,), [x], x, n, 256), s), tolerance
    # The exact x·x + x has at most 48 + 24 bits: two float64 operations round once more than fma at most where the sum is a tie, so integers are taken.
    small = rng.integers(-2000, 2000, 1024).astype("float32")
    yield "fma float32", lambda: (launch(k_math, (4,), [small], small, "fma", 256), (small.astype("float64") ** 2 + small).astype("float32")), 0

    for source, target in (("float32", "float16"), ("float16", "float32"), ("float64", "float32"), ("int32", "float32"), ("int64", "float64"),
                           ("int8", "int32"), ("uint8", "float16"), ("int64", "int16"), ("float32", "int32")):
        x = some(source, 256)
        yield f"convert {source} to {target}", lambda x=x, t=target: (launch(k_convert, (1,), [x], x.astype(t), 256), x.astype(t)), 0

    x = rng.integers(0, 32, 2048).astype("int32")
    counted = np.bincount(x, minlength=32).astype("int32")
    yield "histogram", lambda x=x: (launch(k_histogram, (4,), [x], counted, 2048, 512, 32), counted), 0
    for kind in ("int32", "uint32", "int64", "uint64"):
        x = some(kind, 512)
        for name, by, first in (("add", np.add, 0), ("max", np.maximum, np.iinfo(kind).min), ("min", np.minimum, np.iinfo(kind).max),
                                ("and", np.bitwise_and, np.iinfo(kind).max), ("xor", np.bitwise_xor, 0)):
            right = by(by.reduce(x.reshape(-1, 4), axis=0, dtype=kind), np.array(first, kind))
            yield f"atomic {name} {kind}", lambda x=x, s=right, n=name, f=first: (launch(k_atomic, (4,), [x], s, n, 128, start=f), s), 0
    x = rng.integers(-50, 50, 512).astype("float32")
    added = x.reshape(-1, 4).sum(0)
    yield "atomic add float32", lambda x=x: (launch(k_atomic, (4,), [x], added, "add", 128), added), 0
    yield "a lock", lambda: (launch(k_lock, (16,), [np.zeros(1, "int32")], np.zeros(1, "int32"), 5), np.array([80], "int32")), 0

    for kind in ("int32", "float32", "int16"):
        x = some(kind, 256)
        for down in (False, True):
            yield f"sort {kind}{' down' if down else ''}", lambda x=x, d=down: (launch(k_sort, (1,), [x], x, 256, d), np.sort(x)[::-1 if d else 1]), 0
    for kind in ("int8", "float16", "int32", "float64"):
        x = some(kind, 32, 64)
        yield f"transpose {kind}", lambda x=x: (launch(k_transpose, (1,), [x], x.T.copy(), 32, 64), x.T), 0
    x, index = some("float32", 256), rng.integers(0, 256, 256).astype("int32")
    yield "gather", lambda x=x: (launch(k_gather, (1,), [x, index], x, 256), x[index]), 0
    x = rng.integers(1, 10000, 512).astype("int64")
    yield "a loop for each element", lambda x=x: (launch(k_collatz, (4,), [x], x, 128), np.array([collatz(n) for n in x.tolist()])), 0
    yield "random integers", lambda: (launch(k_random, (4,), [], np.zeros(1024, "int32"), 1234567, 256),
                                      philox(1234567, np.arange(1024)).view("int32")), 0

    for kind, precision, into, tolerance in (("float16", "ieee", "float32", 1e-2), ("float32", "ieee", "float32", 1e-4), ("float32", "tf32", "float32", 2e-2),
                                             ("float64", "ieee", "float64", 1e-9), ("int8", "ieee", "int32", 0)):
        for m, n, k in ((16, 16, 16), (64, 64, 64), (50, 70, 90)):
            a, b = some(kind, m, k), some(kind, k, n)
            exact = into if tolerance == 0 else "float64"
            right = (a.astype(exact) @ b.astype(exact)).astype(into)
            yield (f"matmul {kind}{' tf32' if precision == 'tf32' else ''} {m} {n} {k}",
                   lambda a=a, b=b, s=right, m=m, n=n, k=k, p=precision: (launch(k_matmul, (-(-m // 32), -(-n // 32)), [a, b], s, m, n, k, p, 32, 32, 32), s),
                   tolerance)


def main():
    triton.runtime.driver.active.get_current_device()  # makes the device's context current
    for name, run, tolerance in checks():
        try:
            came, right = run()
            equal = np.array_equal(came, right) if tolerance == 0 else np.allclose(came, right, tolerance, tolerance)
            print("passed" if equal else "FAILED", name + ("" if equal else f": {np.count_nonzero(came != right)} of {came.size} elements differ"), flush=True)
        except Exception as fault:
            print("FAILED", f"{name}: {type(fault).__name__} {str(fault).splitlines()[0] if str(fault) else traceback.format_exc(limit=-1)}"[:300], flush=True)


if __name__ == "__main__":
    sys.exit(main())
