#!/usr/bin/env python3
"""ffmpeg.py LANEWISE: FFmpeg as Debian has it, whose filters for CUDA are PTX: pictures to the device and back, scale_cuda with each of its ways and
between all of its formats, yadif_cuda, overlay_cuda, chromakey_cuda and thumbnail_cuda. What comes is compared with models of the filters
(ffmpeg_models.py) and with FFmpeg's own filters for the CPU."""

import random
import subprocess
import sys

import client
from ffmpeg_models import (FORMATS, at_corners, bilinear, converted, convolved, cubic_weights, keyed, lanczos_weights, nearest, overlaid, packed, sizes, typical,
                           unpacked, yadif)

WIDTH, HEIGHT = 96, 64
SCALED = {"smaller": (60, 44), "larger": (144, 100)}
# What a way of scaling gives, and how far it may be from that, of 8 and of 16 bits. The model's places are not rounded as floats are: 256ths of an
# element may be one more or less, and what is cut off may be a whole.
WAYS = {
    "nearest": (nearest, 0, 0),
    "bilinear": (bilinear, 1, 257),
    "bicubic": (convolved(cubic_weights), 1.05, 1.05),
    "lanczos": (convolved(lanczos_weights), 1.1, 1.1),
}
# The filter for the CPU, where it has the same: options, and how many of 255 it may be away: it counts in 14 bits of each weight.
SWSCALE = {"bilinear": ("bilinear", 2), "bicubic": ("bicubic:param0=0:param1=0", 2), "lanczos": ("lanczos:param0=2", 4)}


def prepare(c):
    c.ffmpeg = c.need_command("ffmpeg", "ffmpeg")
    filters = subprocess.run([c.ffmpeg, "-hide_banner", "-filters"], capture_output=True, text=True).stdout
    if " scale_cuda " not in filters:
        raise client.Missing("this ffmpeg was built without filters for CUDA")


def picture(form, width, height, seed, moved=0):
    """Areas that change slowly, edges, and noise; `moved` by so many elements for each line of the second field."""
    own = random.Random(seed)
    _, size, bits = FORMATS[form]
    most = 256 ** size - 1
    frame = []
    for c, (w, h) in enumerate(sizes(form, width, height)):
        rows = []
        for y in range(h):
            at = moved * (2 + y % 2)
            slow = [((x + at) * (3 + c) + y * (5 - c)) * most // (8 * max(w, h)) for x in range(w)]
            edge = [most // 3 if (x + at) // 7 + y // 9 & 1 else 0 for x in range(w)]
            noise = [own.randrange(most // (3 if (x // 16 + y // 16) % 3 else 40)) for x in range(w)]
            rows.append([(a + b + n if y < 3 * h // 4 else own.randrange(most + 1)) % (most + 1) >> 8 * size - bits << 8 * size - bits
                         for a, b, n in zip(slow, edge, noise)])
        frame.append(rows)
    return frame


class Graph:
    """One run of ffmpeg with many outputs of raw video, each of a filter's, from one or two inputs."""

    def __init__(self, c, result, *inputs):
        self.c, self.result, self.outputs, self.options = c, result, [], []
        for i, (form, width, height, frames) in enumerate(inputs):
            path = c.folder / f"in{i}.raw"
            path.write_bytes(b"".join(packed(form, frame) for frame in frames))
            self.options += ["-f", "rawvideo", "-pix_fmt", form, "-s", f"{width}x{height}", "-r", "5", "-i", path]

    def add(self, name, filters, form, size, check, on_device=True):
        """check(frames) says why they are wrong, or nothing."""
        self.outputs.append((name, filters, form, size, check, on_device))

    def run(self, second=None):
        """The first input goes through each output's filters, with the second, by the filters `second`, as their other one."""
        kinds = ["d" if each[5] else "h" for each in self.outputs]
        count = len(kinds)
        graph = [f"[0]split={count}" + "".join(f"[s{i}]" for i in range(count))]
        for i, (_, filters, form, _, _, on_device) in enumerate(self.outputs):
            other = ""
            if second:
                graph.append(f"[1]{second if on_device else 'null'}[t{i}]")
                other = f"[t{i}]"
            up, down = (f"hwupload_cuda[u{i}];[u{i}]{other}", f",hwdownload,format={form}") if on_device else (f"null[u{i}];[u{i}]{other}", "")
            graph.append(f"[s{i}]{up}{filters}{down}[o{i}]")
        command = [self.c.ffmpeg, "-hide_banner", "-nostdin", "-y", "-loglevel", "warning", "-init_hw_device", "cuda=c", "-filter_hw_device", "c",
                   *self.options, "-filter_complex", ";".join(graph)]
        paths = [self.c.folder / f"out{i}.raw" for i in range(count)]
        for i, path in enumerate(paths):
            path.unlink(missing_ok=True)
            command += ["-map", f"[o{i}]", "-fps_mode", "passthrough", "-pix_fmt", self.outputs[i][2], "-f", "rawvideo", path]
        done = self.c.run(command, 300)
        for path, (name, _, form, size, check, _) in zip(paths, self.outputs):
            data = path.read_bytes() if path.exists() else b""
            why = check(unpacked(form, *size, data)) if data and not done.returncode else "\n".join(done.stdout.splitlines()[-3:]) or "no output"
            self.result.add(name, not why, why or "")


def near(wanted, most, inside=0, highest=None):
    """A check: all frames are within `most` of these, but for so many of the outermost elements, and for what is wanted where it does not fit."""
    def check(frames):
        if len(frames) != len(wanted):
            return f"{len(frames)} frames, not {len(wanted)}"
        worst = 0.0
        for got, right in zip(frames, wanted):
            for a, b in zip(got, right):
                for row, line in list(zip(a, b))[inside:len(a) - inside]:
                    for x, y in list(zip(row, line))[inside:len(row) - inside]:
                        if highest is None or 0 <= y <= highest:
                            worst = max(worst, abs(x - y))
        return f"{worst:.3f} away" if worst > most else ""
    return check


def scaling(c, result):
    for form in [form for form in FORMATS if form != "yuva420p"]:
        frame, highest = picture(form, WIDTH, HEIGHT, form), 256 ** FORMATS[form][1] - 1
        if form == "yuv444p":  # so that no sum of the filter for the CPU is beyond its limits
            frame = [[[highest // 4 + value // 2 for value in row] for row in rows] for rows in frame]
        graph = Graph(c, result, (form, WIDTH, HEIGHT, [frame]))
        graph.add(f"hwupload_cuda of {form}", "null", form, (WIDTH, HEIGHT), near([frame], 0))
        for way, (model, *away) in WAYS.items():
            for what, size in SCALED.items():
                wanted = [[model(rows, *own) for rows, own in zip(frame, sizes(form, *size))]]
                graph.add(f"scale_cuda {way} of {form}, {what}", f"scale_cuda={size[0]}:{size[1]}:interp_algo={way}", form, size,
                          near(wanted, away[highest > 255], highest=highest))
                if form == "yuv444p" and what == "larger" and way in SWSCALE:
                    options, far = SWSCALE[way]
                    graph.add(f"scale {way} on the CPU, {what}", f"scale={size[0]}:{size[1]}:flags={options}", form, size,
                              near(wanted, far, highest=highest), False)
        for to in [to for to in FORMATS if to != "yuva420p" and (to[-1] == "0") == (form[-1] == "0") and to != form]:
            graph.add(f"scale_cuda from {form} to {to}", f"scale_cuda=format={to}:interp_algo=nearest", to, (WIDTH, HEIGHT),
                      near([converted(frame, form, to, WIDTH, HEIGHT)], 0))
        graph.run()


def deinterlacing(c, result):
    """The modes without the spatial check have it all the same: the filter hands over 2 for a truth value, of which its kernel takes the lowest bit."""
    size = 48, 32
    for form in ("yuv420p", "nv12", "yuv444p", "p010le", "p016le", "yuv444p16le"):
        frames = [picture(form, *size, 5, moved) for moved in (0, 3, 7)]
        graph = Graph(c, result, (form, *size, frames))
        for fields, mode in ((1, "send_frame"), (2, "send_field"), (2, "send_field_nospatial")):
            is_checked = not mode.endswith("nospatial")
            for bottom, parity in enumerate(("tff", "bff")):
                if bottom and form != "yuv420p":
                    continue
                options = f"mode={mode}:parity={parity}"
                graph.add(f"yadif_cuda of {form}, {options}", f"yadif_cuda={options}", form, size, near(yadif(frames, fields, bottom, True), 0))
                if form == "yuv420p":
                    graph.add(f"yadif on the CPU, {options}", f"yadif={options}", form, size,
                              near(yadif(frames, fields, bottom, is_checked, for_cpu=True), 0, inside=3), False)
        graph.run()


def overlaying(c, result):
    size, small, x, y = (WIDTH, HEIGHT), (40, 24), 22, 14
    for form, over in (("yuv420p", "yuv420p"), ("nv12", "nv12"), ("yuv420p", "yuva420p")):
        frame, other = picture(form, *size, 7), picture(over, *small, 8)
        alpha = other[3] if over == "yuva420p" else None
        places = [(x, y)] + 2 * [(x // 2, y // 2)]
        alphas = [alpha] + 2 * [alpha and [row[::2] for row in alpha[::2]]]
        wanted = [overlaid(rows, own, *at, part) for rows, own, at, part in zip(frame, other, places, alphas)]
        graph = Graph(c, result, (form, *size, [frame]), (over, *small, [other]))
        graph.add(f"overlay_cuda of {over} over {form}", f"overlay_cuda={x}:{y}", form, size, near([wanted], 0 if alpha is None else 1.01))
        if over == "yuv420p":
            graph.add("overlay on the CPU", f"overlay={x}:{y}", form, size, near([wanted], 0), False)
        graph.run(second="hwupload_cuda")


def keying(c, result):
    size, key, similarity, blend = (WIDTH, HEIGHT), (90, 150), 0.1, 0.2
    for form in ("yuv420p", "nv12"):
        frame = picture(form, *size, 9)
        wanted = [at_corners(rows) for rows in frame]
        wanted.append([[value for value in row for _ in "ab"] for row in keyed(*wanted[1:], key, similarity, blend) for _ in "ab"])
        options = f"color=0x00{key[0]:02x}{key[1]:02x}:similarity={similarity}:blend={blend}:yuv=1"
        graph = Graph(c, result, (form, *size, [frame]))
        graph.add(f"chromakey_cuda of {form}", f"chromakey_cuda={options}", "yuva420p", size, near([wanted], 1.01))
        graph.run()


def choosing(c, result):
    size = 48, 32
    for form in ("yuv420p", "nv12", "p016le"):
        frames = [picture(form, *size, seed, seed) for seed in (12, 14, 11, 13, 15)]
        graph = Graph(c, result, (form, *size, frames))
        graph.add(f"thumbnail_cuda of {form}", "thumbnail_cuda=n=5", form, size, near([frames[typical(form, frames)]], 0))
        graph.run()


def run(c):
    result = client.Result()
    for part in (scaling, deinterlacing, overlaying, keying, choosing):
        part(c, result)
    return result


if __name__ == "__main__":
    sys.exit(client.main(prepare, run))
