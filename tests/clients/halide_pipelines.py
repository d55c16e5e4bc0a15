"""halide_pipelines.py: each pipeline is built twice from the same definition, once with a schedule for a GPU, and both must give the same."""

import sys
import traceback

import halide as hl
import numpy as np

x, y, c = (hl.Var(name) for name in "xyc")
xi, yi = hl.Var("xi"), hl.Var("yi")
GPU = hl.Target("host-cuda-cuda_capability_70")
CPU = hl.Target("host")
rng = np.random.default_rng(1)
WORDS = rng.integers(0, 1 << 32, (80, 96), dtype=np.uint32)
BYTES = rng.integers(0, 256, (80, 96), dtype=np.uint8)
SHORTS = rng.integers(-(1 << 15), 1 << 15, (80, 96), dtype=np.int16)
FLOATS = rng.standard_normal((80, 96)).astype(np.float32)
TURNED = np.ascontiguousarray(FLOATS.T)
DOUBLES = rng.standard_normal((80, 96))
WIDTH, HEIGHT = 96, 80
PIPELINES = []


def pipeline(size=(WIDTH, HEIGHT), tolerance=0):
    def note(make):
        PIPELINES.append((make.__name__, make, size, tolerance))
        return make
    return note


def image(array):
    return hl.Buffer(array)  # which does not keep the array


def at(array):
    """A function over the whole plane: the border goes on."""
    return hl.BoundaryConditions.repeat_edge(image(array))


def tiled(f, gpu, width=16, height=8):
    if gpu:
        f.gpu_tile(x, y, xi, yi, width, height)
    return f


@pipeline()
def gradient(gpu):
    f = hl.Func("gradient")
    f[x, y] = x * y + x - 3 * y
    return tiled(f, gpu)


@pipeline()
def integers(gpu):
    f, a = hl.Func("integers"), at(WORDS)
    f[x, y] = ((a[x, y] * hl.u32(2654435761)) ^ (a[x, y] >> 7)) + (a[x + 1, y] & 0xff00) + a[x, y + 1] % 1000 + a[x, y] / 77
    return tiled(f, gpu)


@pipeline()
def shorts(gpu):
    f, a = hl.Func("shorts"), at(SHORTS)
    wide = hl.cast(hl.Int(32), a[x, y]) * hl.cast(hl.Int(32), a[x + 1, y])
    f[x, y] = hl.cast(hl.Int(16), hl.clamp(wide >> 8, -32768, 32767)) + hl.abs(a[x, y - 1] / 3) % 7
    return tiled(f, gpu)


@pipeline()
def blur(gpu):
    f, across, a = hl.Func("blur"), hl.Func("across"), at(BYTES)
    wide = hl.Func("wide")
    wide[x, y] = hl.cast(hl.UInt(16), a[x, y])
    across[x, y] = (wide[x - 1, y] + wide[x, y] + wide[x + 1, y]) / 3
    f[x, y] = hl.cast(hl.UInt(8), (across[x, y - 1] + across[x, y] + across[x, y + 1]) / 3)
    tiled(f, gpu)
    if gpu:
        across.compute_at(f, x).gpu_threads(x, y)
    return f


@pipeline()
def stages(gpu):
    """Each stage is a kernel of its own."""
    f, g, h, a = hl.Func("stages"), hl.Func("g"), hl.Func("h"), at(WORDS)
    g[x, y] = a[x, y] ^ a[x + 2, y]
    h[x, y] = g[x, y] + g[x, y + 1]
    f[x, y] = h[x, y] - h[x + 1, y]
    for stage in (g, h):
        stage.compute_root()
        tiled(stage, gpu)
    return tiled(f, gpu)


@pipeline()
def sobel(gpu):
    f, a = hl.Func("sobel"), at(BYTES)

    def v(dx, dy):
        return hl.cast(hl.Int(32), a[x + dx, y + dy])
    across = v(1, -1) + 2 * v(1, 0) + v(1, 1) - v(-1, -1) - 2 * v(-1, 0) - v(-1, 1)
    down = v(-1, 1) + 2 * v(0, 1) + v(1, 1) - v(-1, -1) - 2 * v(0, -1) - v(1, -1)
    f[x, y] = hl.cast(hl.UInt(8), hl.min(255, hl.abs(across) + hl.abs(down)))
    return tiled(f, gpu)


@pipeline()
def median(gpu):
    f, a = hl.Func("median"), at(BYTES)

    def middle(p, q, r):
        return hl.max(hl.min(p, q), hl.min(hl.max(p, q), r))
    rows = [middle(a[x - 1, y + d], a[x, y + d], a[x + 1, y + d]) for d in (-1, 0, 1)]
    f[x, y] = middle(*rows)
    return tiled(f, gpu)


@pipeline()
def select(gpu):
    f, a = hl.Func("select"), at(FLOATS)
    f[x, y] = hl.select(a[x, y] > 0.5, a[x + 1, y], a[x, y] < -0.5, -a[x, y + 1], (x + y) % 3 == 0, 7.0, a[x, y] * 2)
    return tiled(f, gpu)


@pipeline()
def floats(gpu):
    f, a = hl.Func("floats"), at(FLOATS)
    f[x, y] = hl.sqrt(hl.abs(a[x, y])) + hl.floor(a[x, y] * 8) - hl.max(a[x + 1, y], a[x, y + 1])
    return tiled(f, gpu)


@pipeline(tolerance=1e-12)
def doubles(gpu):
    f, a = hl.Func("doubles"), at(DOUBLES)
    f[x, y] = a[x, y] * a[x + 1, y] + hl.sqrt(hl.abs(a[x, y])) / (a[x, y + 1] * a[x, y + 1] + 1.0)
    return tiled(f, gpu)


@pipeline(tolerance=1e-5)
def functions(gpu):
    """Of libdevice, on a GPU."""
    f, a = hl.Func("functions"), at(FLOATS)
    f[x, y] = hl.sin(a[x, y]) + hl.exp(a[x, y]) + hl.log(hl.abs(a[x, y]) + 1) + hl.pow(hl.abs(a[x, y]), 1.5) + hl.atan2(a[x, y], a[x + 1, y])
    return tiled(f, gpu)


@pipeline((64, 48), tolerance=1e-5)
def matrices(gpu):
    f, a, b = hl.Func("matrices"), at(FLOATS), at(TURNED)
    r = hl.RDom([(0, 70)])
    f[x, y] = 0.0
    f[x, y] += a[r, y] * b[x, r]
    if gpu:
        f.gpu_tile(x, y, xi, yi, 8, 8)
        f.update().gpu_tile(x, y, xi, yi, 8, 8)
    return f


@pipeline((48,))
def sums(gpu):
    f, a = hl.Func("sums"), at(WORDS)
    r = hl.RDom([(0, 77)])
    f[x] = hl.u32(5)
    f[x] += a[x + r, r]
    if gpu:
        f.gpu_tile(x, xi, 16)
        f.update().gpu_tile(x, xi, 16)
    return f


@pipeline((256,))
def histogram(gpu):
    f, a = hl.Func("histogram"), image(BYTES)
    r = hl.RDom([(0, HEIGHT), (0, WIDTH)])  # the first dimension is that of the array
    f[x] = 0
    f[hl.cast(hl.Int(32), a[r.x, r.y])] += 1
    if gpu:
        f.gpu_tile(x, xi, 64)
        f.update().atomic().gpu_tile(r.x, r.y, hl.RVar("rxi"), hl.RVar("ryi"), 16, 8)
    return f


@pipeline((WIDTH,))
def scan(gpu):
    """In a kernel of one lane."""
    f, a = hl.Func("scan"), at(WORDS)
    r = hl.RDom([(1, WIDTH - 1)])
    f[x] = a[x, 3]
    f[r] = f[r] + f[r - 1]
    if gpu:
        f.gpu_tile(x, xi, 32)
        f.update().gpu_single_thread()
    return f


@pipeline((32, 24, 3))
def channels(gpu):
    f, a = hl.Func("channels"), at(WORDS)
    f[x, y, c] = hl.select(c == 0, a[x, y], c == 1, a[y, x] * 3, a[x + y, y] >> 5)
    if gpu:
        f.reorder(c, x, y).unroll(c, 3).gpu_tile(x, y, xi, yi, 8, 8)
        f.bound(c, 0, 3)
    return f


@pipeline()
def vectors(gpu):
    """Four elements of a thread at once."""
    f, a = hl.Func("vectors"), at(WORDS)
    f[x, y] = a[x, y] * 5 + y
    if gpu:
        v = hl.Var("v")
        f.split(x, x, v, 4).vectorize(v).gpu_tile(x, y, xi, yi, 8, 8)
    return f


def value_of(make, gpu, size):
    out = make(gpu).realize(list(size), GPU if gpu else CPU)
    if gpu:
        out.copy_to_host()
    return np.array(out)


def main():
    failures = 0
    for name, make, size, tolerance in PIPELINES:
        try:
            wanted, got = value_of(make, False, size), value_of(make, True, size)
            same = np.allclose(got, wanted, rtol=tolerance, atol=tolerance) if tolerance else got.tobytes() == wanted.tobytes()
            why = "" if same else f": {int((got != wanted).sum())} elements differ, by {np.abs(got.astype(float) - wanted).max()}"
        except Exception as fault:  # of any kind that Halide has
            same, why = False, f": {type(fault).__name__} {str(fault).strip().splitlines()[-1:]}"
            if "-v" in sys.argv:
                traceback.print_exc()
        print("passed" if same else "FAILED", name + why, flush=True)
        failures += not same
    return 0


if __name__ == "__main__":
    sys.exit(main())
