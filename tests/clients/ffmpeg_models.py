"""ffmpeg_models.py: what FFmpeg's filters for CUDA make of a picture, an element at a time, in plain arithmetic: frames in, frames out.

A frame is a list of components, a component a list of rows of integers. Textures are read as the filters set them up: coordinates are clamped to
the picture, and unless said otherwise nothing is filtered."""

import math
import struct

# Planes of a format: components of an element, and whether the plane has half the width and height. Bytes of a component, and bits from its top.
FORMATS = {
    "yuv420p": ([(1, 0), (1, 1), (1, 1)], 1, 8),
    "nv12": ([(1, 0), (2, 1)], 1, 8),
    "yuv444p": ([(1, 0), (1, 0), (1, 0)], 1, 8),
    "p010le": ([(1, 0), (2, 1)], 2, 10),
    "p016le": ([(1, 0), (2, 1)], 2, 16),
    "yuv444p16le": ([(1, 0), (1, 0), (1, 0)], 2, 16),
    "bgr0": ([(4, 0)], 1, 8),
    "rgb0": ([(4, 0)], 1, 8),
    "yuva420p": ([(1, 0), (1, 1), (1, 1), (1, 0)], 1, 8),
}


def single(x):
    """The float that is nearest."""
    return struct.unpack("f", struct.pack("f", x))[0]


def sizes(form, width, height):
    """Of each component."""
    return [(width >> half, height >> half) for components, half in FORMATS[form][0] for _ in range(components)]


def packed(form, frame):
    """The bytes of a frame."""
    planes, size, _ = FORMATS[form]
    out, first = bytearray(), 0
    for components, _ in planes:
        for rows in zip(*frame[first:first + components]):
            for element in zip(*rows):
                for value in element:
                    out += value.to_bytes(size, "little")
        first += components
    return bytes(out)


def unpacked(form, width, height, data):
    """The frames that some bytes are."""
    planes, size, _ = FORMATS[form]
    values = list(data) if size == 1 else [value for value, in struct.iter_unpack("<H", data)]
    frames, at = [], 0
    while at < len(values):
        frame = []
        for components, half in planes:
            w, h = width >> half, height >> half
            plane = values[at:at + w * h * components]
            at += w * h * components
            frame += [[plane[y * w * components + c:(y + 1) * w * components:components] for y in range(h)] for c in range(components)]
        frames.append(frame)
    return frames


def clamped(x, length):
    return min(max(x, 0), length - 1)


# ---- scale_cuda

def place(x, to, of, less=0.0):
    """Where the centre of element x lies in the other picture, in floats as the kernel has them."""
    return single(single((x + 0.5) * single(of / to)) - less)


def nearest(rows, width, height):
    w, h = len(rows[0]), len(rows)
    xs = [clamped(math.floor(place(x, width, w)), w) for x in range(width)]
    return [[rows[clamped(math.floor(place(y, height, h)), h)][x] for x in xs] for y in range(height)]


def between(x, length):
    """The two texels that a linear lookup is between, and how far from the first, in 256ths."""
    at = math.floor((x - 0.5) * 256 + 0.5)
    first, part = at >> 8, at & 255
    return clamped(first, length), clamped(first + 1, length), part


def bilinear(rows, width, height):
    """Four linear lookups, at the distance that makes three taps of them where the picture becomes smaller. Their mean, halves up."""
    w, h = len(rows[0]), len(rows)

    def looks(x, to, of):
        wide = min(max(0.5 * (of / to - 1), 0.0), 1.0)
        d = wide / (0.5 + wide)
        return [between(place(x, to, of) + sign * d, of) for sign in (-1, 1)]

    def look(across, down):
        x0, x1, fx = across
        y0, y1, fy = down
        top = rows[y0][x0] * (256 - fx) + rows[y0][x1] * fx
        bottom = rows[y1][x0] * (256 - fx) + rows[y1][x1] * fx
        return (top * (256 - fy) + bottom * fy + (1 << 15)) >> 16

    xs = [looks(x, width, w) for x in range(width)]
    return [[(sum(look(across, down) for down in looks(y, height, h) for across in at) + 2) >> 2 for at in xs] for y in range(height)]


def cubic_weights(x, a=0.0):
    """Of the two elements before a place and of the two behind it, which is x behind the second: the cubic convolution with slope -a."""
    def weight(distance):
        d = abs(distance)
        return ((-a + 2) * d + a - 3) * d * d + 1 if d <= 1 else ((-a * d + 5 * a) * d - 8 * a) * d + 4 * a
    return [weight(x - i) for i in (-1, 0, 1, 2)]


def lanczos_weights(x):
    """Two lobes; all add up to one."""
    def weight(d):
        return 1.0 if d == 0 else math.sin(math.pi * d) * math.sin(math.pi * d / 2) / (math.pi * math.pi * d * d / 2)
    weights = [weight(x - i) for i in (-1, 0, 1, 2)]
    return [each / sum(weights) for each in weights]


def convolved(weights_of):
    """As a real number: the filter cuts the fraction off."""
    def scale(rows, width, height):
        def taps(x, to, of):
            at = place(x, to, of, 0.5)
            first = math.floor(at)
            return list(zip([clamped(first + i, of) for i in (-1, 0, 1, 2)], weights_of(at - first)))
        across = [taps(x, width, len(rows[0])) for x in range(width)]
        lines = [[sum(row[x] * weight for x, weight in each) for each in across] for row in rows]
        down = [taps(y, height, len(rows)) for y in range(height)]
        return [[sum(lines[y][x] * weight for y, weight in each) for x in range(width)] for each in down]
    return scale


def bits_changed(value, of, to):
    """A component of so many bits, from the top of its bytes, in so many others: narrower ones are cut, wider ones have the top again at their end."""
    if of == to:
        return value
    if to == 8:
        return value >> 8
    wide = value | value << 8 if of == 8 else value | value >> 10
    return wide & 0xffc0 if to == 10 else wide


def converted(frame, of, to, width, height):
    bits = FORMATS[of][2], FORMATS[to][2]
    swapped = [frame[2], frame[1], frame[0], frame[3]] if "0" in (of[-1], to[-1]) and of != to and len(frame) == 4 else frame
    return [[[bits_changed(value, *bits) for value in row] for row in nearest(rows, *size)]
            for rows, size in zip(swapped, sizes(to, width, height))]


# ---- yadif_cuda

def predicted(x, up, down, less):
    """From the lines above and below, along the direction in which they differ least: straight, or up to two elements aslant, on either side only as
    long as it gets better. `less` is taken from what the straight one has."""
    def score(slant):
        return sum(abs(up[clamped(x + i + slant, len(up))] - down[clamped(x + i - slant, len(up))]) for i in (-1, 0, 1))

    def mean(slant):
        return (up[clamped(x + slant, len(up))] + down[clamped(x - slant, len(up))]) // 2

    best, value = score(0) - less, mean(0)
    for side in (-1, 1):
        for slant in (side, 2 * side):
            now = score(slant)
            if now >= best:
                break
            best, value = now, mean(slant)
    return value


def deinterlaced(before, now, after, parity, tff, is_checked, for_cpu):
    """A component of a frame between two others. Lines of the parity stay; others are what their neighbours predict, as near to what the fields
    before and after have there as these and the neighbours differ in time."""
    height, width = len(now), len(now[0])
    first, last = (now, after) if parity == tff else (before, now)
    out = []
    for y in range(height):
        if y % 2 == parity:
            out.append(now[y])
            continue
        y0, y1, y2, y3 = (clamped(y + i, height) for i in (-2, -1, 1, 2))
        line = []
        for x in range(width):
            up, down = now[y1][x], now[y2][x]
            middle, moved = (first[y][x] + last[y][x]) // 2, abs(first[y][x] - last[y][x])
            change = max(moved // 2 if for_cpu else moved, (abs(before[y1][x] - up) + abs(before[y2][x] - down)) // 2,
                         (abs(after[y1][x] - up) + abs(after[y2][x] - down)) // 2)
            if is_checked:
                above, below = (first[y0][x] + last[y0][x]) // 2 - up, (first[y3][x] + last[y3][x]) // 2 - down
                high = max(middle - down, middle - up, min(above, below))
                low = min(middle - down, middle - up, max(above, below))
                change = max(change, low, -high)
            line.append(min(max(predicted(x, now[y1], now[y2], for_cpu), middle - change), middle + change))
        out.append(line)
    return out


def yadif(frames, fields, bottom, is_checked, for_cpu=False):
    """All frames, one or two of each; the first and the last are their own neighbours. bottom: 1: that field is first. The filter for the CPU differs
    in two things: straight is better than aslant by one, and what changes between two fields counts half."""
    out = []
    for i, now in enumerate(frames):
        before, after = frames[max(i - 1, 0)], frames[min(i + 1, len(frames) - 1)]
        for parity in (bottom, 1 - bottom)[:fields]:
            out.append([deinterlaced(b, n, a, parity, 1 - bottom, is_checked, for_cpu) for b, n, a in zip(before, now, after)])
    return out


# ---- Others

def overlaid(frame, over, x, y, alpha=None):
    """A component over another from (x,y) on, as real numbers: alpha is of 255 parts."""
    out = [list(row) for row in frame]
    for j, row in enumerate(over):
        for i, value in enumerate(row):
            share = 1.0 if alpha is None else alpha[j][i] / 255
            out[y + j][x + i] = share * value + (1 - share) * frame[y + j][x + i]
    return out


def at_corners(rows):
    """Linear lookups at (x,y) instead of at the middle of an element, as real numbers: the mean of the four around that corner."""
    lines = [[(row[max(x - 1, 0)] + row[x]) / 2 for x in range(len(row))] for row in rows]
    return [[(a + b) / 2 for a, b in zip(lines[max(y - 1, 0)], lines[y])] for y in range(len(rows))]


def keyed(u, v, key, similarity, blend):
    """The alpha of two components of color: how far those around an element are from the key on the average, as a real number."""
    height, width = len(u), len(u[0])
    out = []
    for y in range(height):
        line = []
        for x in range(width):
            near = [(i, j) for j in (y - 1, y, y + 1) for i in (x - 1, x, x + 1) if 0 <= i < width and 0 <= j < height]
            far = sum(math.hypot(u[j][i] - key[0], v[j][i] - key[1]) / (255 * math.sqrt(2)) for i, j in near) / len(near)
            line.append(255 * min(max((far - similarity) / blend, 0), 1))
        out.append(line)
    return out


def typical(form, frames):
    """The number of the frame whose histograms are nearest to the mean of all. They are of what is found at corners, rounded, of 16 bits the upper
    eight, rounded again; what is of half the width and height counts four times."""
    def counted(frame):
        counts, whole = [0] * (256 * len(frame) + 1), len(frame[0]) ** 2
        for c, rows in enumerate(frame):
            for row in at_corners(rows):
                for value in row:
                    found = int(value + 0.5)
                    counts[256 * c + (found if FORMATS[form][1] == 1 else (found + 128) >> 8)] += whole // len(rows) ** 2
        return counts

    counts = [counted(frame) for frame in frames]
    mean = [sum(column) / len(frames) for column in zip(*counts)]
    return min(range(len(frames)), key=lambda i: sum((a - b) ** 2 for a, b in zip(counts[i], mean)))
