#!/usr/bin/env python3
"""Runs run_*.ptx test files on a GPU, through nothing but the CUDA driver (libcuda.so.1).

    record.py FILE|FOLDER…            prints the lines that `lanewise run` must print for the `// run:` orders of each file
    record.py --write FILE|FOLDER…    puts them into the files, as `// out:` lines behind one `// recorded:` line
    record.py --compare FILE|FOLDER…  fails where they are not those of the files: `lanewise exec -- record.py --compare tests/ptx`
                                      runs the same program on Lanewise

The driver's own compiler translates the text, so what comes out is what the hardware does: a second witness for the tests.
Of files that expect a trap it says whether the hardware faults too, and --compare fails where nothing does; files that expect an exit code or a
strict launch are passed over and named. Arguments are read as docs/cli.md says,
without files: a test is one file. Each test file has a process of its own, since a fault spoils the context."""

import argparse
import concurrent.futures
import ctypes
import datetime
import os
import pathlib
import re
import shlex
import struct
import subprocess
import sys
import tempfile

ORDER = re.compile(r"^//\s*run:(.*)$", re.M)
RECORDED = re.compile(r"^//\s*(out|recorded):")
TRAPS = re.compile(r"^//\s*trap:", re.M)
NO_RUN = re.compile(r"^//\s*exit:|^//\s*run:.*--(strict|semantics manual)", re.M)
TIME_LIMIT = 30


class Broken(Exception):
    """An order that cannot be carried out, or a driver call that failed."""


class Fault(Broken):
    """A kernel that faulted."""


# ---- values ---------------------------------------------------------------------------------------------------------

BITS = {kind + size: int(size) for kind in "usb" for size in ("8", "16", "32", "64")}
BITS |= {"f16": 16, "bf16": 16, "f32": 32, "f64": 64}
FLOAT_CODE = {"f16": "<e", "f32": "<f", "f64": "<d"}


def float_bits(kind, value):
    """The bits of a Python float in a type, rounded to nearest even."""
    if kind == "bf16":
        word = float_bits("f32", value)
        return (word + 0x7FFF + (word >> 16 & 1)) >> 16 & 0xFFFF
    try:
        return int.from_bytes(struct.pack(FLOAT_CODE[kind], value), "little")
    except OverflowError:
        infinity = {"f16": 0x7C00, "f32": 0x7F800000}[kind]
        return infinity | (1 << BITS[kind] - 1 if value < 0 else 0)


def bits_float(kind, bits):
    if kind == "bf16":
        return bits_float("f32", bits << 16)
    return struct.unpack(FLOAT_CODE[kind], bits.to_bytes(BITS[kind] // 8, "little"))[0]


def read_number(kind, text):
    """One value as an integer or a Python float."""
    if kind in FLOAT_CODE or kind == "bf16":
        return float.fromhex(text) if "0x" in text.lower() else float(text)
    return int(text, 0)


def read_value(kind, text):
    """The bits of one value."""
    exact = re.fullmatch(r"0[fF]([0-9a-fA-F]{8})|0[dD]([0-9a-fA-F]{16})", text)
    if exact:
        return int(exact[1] or exact[2], 16)
    number = read_number(kind, text)
    if isinstance(number, float):
        return float_bits(kind, number)
    size = BITS[kind]
    low, high = (-(1 << size - 1) if kind[0] != "u" else 0), ((1 << size - (kind[0] == "s")) - 1)
    if not low <= number <= high:
        raise Broken(f"{text} does not fit {kind}")
    return number & (1 << size) - 1


def show(kind, bits):
    if kind[0] == "u":
        return str(bits)
    if kind[0] == "s":
        return str(bits - (bits >> BITS[kind] - 1 << BITS[kind]))
    if kind in FLOAT_CODE:
        return show_float(kind, bits)
    return show_hex(kind, bits)


def show_hex(kind, bits):
    return f"0x{bits:0{BITS[kind] // 4}x}"


def show_float(kind, bits):
    value = bits_float(kind, bits)
    if value != value:
        raise Broken("a NaN has no one spelling: print floats as bits (print=hex)")
    for digits in range(1, 18):
        text = f"{value:.{digits}g}"
        if float_bits(kind, float(text)) == bits:
            return text
    raise Broken(f"no spelling of {kind} {bits:#x}")


# ---- arguments ------------------------------------------------------------------------------------------------------

def read_count(text):
    return int(text.rstrip("KMG")) << {"K": 10, "M": 20, "G": 30}.get(text[-1], 0)


def elements(kind, count, source):
    """The bits of each element of a buffer."""
    if source is None:
        return [0] * count
    words = source.split(":")
    if words[0] == "range":
        start = read_number(kind, words[1]) if len(words) > 1 else 0
        step = read_number(kind, words[2]) if len(words) > 2 else 1
        if kind in FLOAT_CODE:
            return [float_bits(kind, float(start + i * step)) for i in range(count)]
        return [start + i * step & (1 << BITS[kind]) - 1 for i in range(count)]
    if words[0] in ("random",) or source.startswith("@"):
        raise Broken("files and random values have no place in a recorded test")
    values = [read_value(kind, text) for text in source.split(",")]
    if len(values) == 1 and count is not None:
        return values * count
    if count not in (None, len(values)):
        raise Broken(f"{len(values)} values for {count} elements")
    return values


class Argument:
    def __init__(self, number, text):
        match = re.fullmatch(r"(\w+)(\[\w*\])?(?:=(.*?))?((?::print(?:=\w+)?)*)", text)
        if not match or match[1] not in BITS:
            raise Broken(f"cannot read the argument {text}")
        self.number, self.kind, self.is_buffer = number, match[1], bool(match[2])
        self.outputs = match[4].split(":")[1:]
        if self.is_buffer:
            count = read_count(match[2][1:-1]) if match[2] != "[]" else None
            self.values = elements(self.kind, count, match[3])
        else:
            self.values = [read_value(self.kind, match[3])]
        self.size = BITS[self.kind] // 8
        self.data = b"".join(value.to_bytes(self.size, "little") for value in self.values)

    def lines(self, data):
        for output in self.outputs:
            kind = output[6:] if output[6:] in BITS else self.kind
            form = show_hex if output == "print=hex" else show
            size = BITS[kind] // 8
            bits = [int.from_bytes(data[i:i + size], "little") for i in range(0, len(data), size)]
            yield " ".join([f"arg {self.number} {kind}[{len(bits)}]:", *(form(kind, value) for value in bits)])


def parameters(text, kernel):
    """The declarations of a kernel's parameters; an array there is passed by value."""
    match = re.search(rf"\.entry\s+{re.escape(kernel)}\s*\(([^)]*)\)", text)
    return match[1].split(",") if match else []


def read_order(text, order):
    """The parts of one `// run:` line."""
    parser = argparse.ArgumentParser(add_help=False, exit_on_error=False)
    parser.add_argument("-k", "--kernel")
    parser.add_argument("-g", "--grid", default="1")
    parser.add_argument("-b", "--block")
    parser.add_argument("-a", "--arg", action="append", default=[])
    parser.add_argument("--smem", default="0")
    parser.add_argument("--step-limit")  # a GPU has none
    parser.add_argument("--semantics")  # the card has but one
    parser.add_argument("--cooperative", action="store_true")
    parser.add_argument("--cluster")
    parser.add_argument("--strict", action="store_true")  # a launch through the driver never is
    found = parser.parse_args(shlex.split(order))
    entries = re.findall(r"\.entry\s+([\w$%]+)", text)
    found.kernel = found.kernel or (entries[0] if len(entries) == 1 else None)
    if not found.kernel:
        raise Broken(f"which kernel? {order}")
    required = re.search(r"\.reqntid\s+([\d, ]+)", text)
    found.block = found.block or (required[1].replace(" ", "") if required else "1")
    found.grid, found.block = ([*map(int, size.split(",")), 1, 1][:3] for size in (found.grid, found.block))
    found.cluster = [*map(int, found.cluster.split(",")), 1, 1][:3] if found.cluster else None
    found.smem = read_count(found.smem)
    found.arg = [Argument(number, word) for number, word in enumerate(found.arg)]
    for arg, parameter in zip(found.arg, parameters(text, found.kernel)):
        arg.is_buffer &= "[" not in parameter
    return found


# ---- the driver -----------------------------------------------------------------------------------------------------

class Attribute(ctypes.Structure):
    """CUlaunchAttribute, of one that is three numbers."""
    _fields_ = [("id", ctypes.c_uint), ("pad", ctypes.c_uint), ("value", ctypes.c_uint * 16)]


class Config(ctypes.Structure):
    """CUlaunchConfig"""
    _fields_ = [("grid", ctypes.c_uint * 3), ("block", ctypes.c_uint * 3), ("smem", ctypes.c_uint), ("stream", ctypes.c_void_p),
                ("attributes", ctypes.POINTER(Attribute)), ("count", ctypes.c_uint)]


class Driver:
    CLUSTER_DIMENSION, COOPERATIVE, NON_PORTABLE_CLUSTERS = 4, 2, 14
    JIT_ERROR_LOG, JIT_ERROR_LOG_SIZE = 5, 6

    def __init__(self):
        self.cuda = ctypes.CDLL("libcuda.so.1")
        self.call("cuInit", 0)
        device, context = ctypes.c_int(), ctypes.c_void_p()
        self.call("cuDeviceGet", ctypes.byref(device), 0)
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        self.call("cuCtxSetCurrent", context)
        self.device = device

    def call(self, name, *arguments):
        code = getattr(self.cuda, name)(*arguments)
        if code:
            text = ctypes.c_char_p()
            self.cuda.cuGetErrorString(code, ctypes.byref(text))
            raise Broken(f"{name}: {(text.value or b'?').decode()} ({code})")

    def name(self):
        buffer = ctypes.create_string_buffer(128)
        self.call("cuDeviceGetName", buffer, len(buffer), self.device)
        return buffer.value.decode()

    def load(self, text):
        log = ctypes.create_string_buffer(1 << 16)
        options = (ctypes.c_int * 2)(self.JIT_ERROR_LOG, self.JIT_ERROR_LOG_SIZE)
        values = (ctypes.c_void_p * 2)(ctypes.cast(log, ctypes.c_void_p), len(log))
        module = ctypes.c_void_p()
        try:
            self.call("cuModuleLoadDataEx", ctypes.byref(module), text.encode() + b"\0", 2, options, values)
        except Broken as problem:
            raise Broken(f"{problem}\n{log.value.decode(errors='replace')}") from None
        return module

    def allocate(self, data):
        address = ctypes.c_uint64()
        if data:
            self.call("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(len(data)))
            self.call("cuMemcpyHtoD_v2", address, data, ctypes.c_size_t(len(data)))
        return address

    def read(self, address, size):
        data = ctypes.create_string_buffer(size)
        if size:
            self.call("cuMemcpyDtoH_v2", data, address, ctypes.c_size_t(size))
        return data.raw

    def launch(self, function, grid, block, pointers, smem=0, cluster=None, cooperative=False):
        """cluster: CTAs of one, or None: what the kernel asks for."""
        if not cluster and not cooperative:
            self.call("cuLaunchKernel", function, *grid, *block, smem, None, pointers, None)
            return
        wanted = [(self.COOPERATIVE, (1,))] if cooperative else []
        if cluster:
            wanted.append((self.CLUSTER_DIMENSION, cluster))
            if cluster[0] * cluster[1] * cluster[2] > 8:
                self.call("cuFuncSetAttribute", function, self.NON_PORTABLE_CLUSTERS, 1)
        attributes = (Attribute * len(wanted))(*(Attribute(number, 0, (ctypes.c_uint * 16)(*value)) for number, value in wanted))
        config = Config((ctypes.c_uint * 3)(*grid), (ctypes.c_uint * 3)(*block), smem, None, attributes, len(wanted))
        self.call("cuLaunchKernelEx", ctypes.byref(config), function, pointers, None)

    def run(self, module, order):
        """Launches a kernel; returns the printed lines."""
        function = ctypes.c_void_p()
        self.call("cuModuleGetFunction", ctypes.byref(function), module, order.kernel.encode())
        held = [self.allocate(arg.data) if arg.is_buffer else ctypes.create_string_buffer(arg.data, len(arg.data))
                for arg in order.arg]
        pointers = (ctypes.c_void_p * (len(held) + 1))(*(ctypes.addressof(value) for value in held), None)
        self.launch(function, order.grid, order.block, pointers, order.smem, order.cluster, order.cooperative)
        try:
            self.call("cuCtxSynchronize")
        except Broken as problem:
            raise Fault(problem) from None
        lines = []
        for arg, value in zip(order.arg, held):
            if arg.is_buffer:
                lines += arg.lines(self.read(value, len(arg.data)))
                if arg.data:
                    self.call("cuMemFree_v2", value)
        return lines


def driver_version():
    try:
        done = subprocess.run(["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"], capture_output=True, text=True)
        return done.stdout.split()[0]
    except (OSError, IndexError):
        return "unknown"


# ---- files ----------------------------------------------------------------------------------------------------------

def compare(path, lines, text):
    want = [line[8:] for line in text.splitlines() if line.startswith("// out: ")]
    for number, (one, other) in enumerate(zip(want, lines)):
        if one != other:
            at = next((k for k, (a, b) in enumerate(zip(one.split(), other.split())) if a != b), min(len(one.split()), len(other.split())))
            raise Broken(f"output {number + 1} differs at its word {at + 1}: recorded {' '.join(one.split()[at:at + 4])} ..., "
                         f"came {' '.join(other.split()[at:at + 4])} ...")
    if len(want) != len(lines):
        raise Broken(f"{len(lines)} outputs, recorded are {len(want)}")


def run_order(driver, module, order):
    """The lines of a run: what the kernel printed, which the driver writes to standard output, then the outputs."""
    with tempfile.TemporaryFile() as printed:
        sys.stdout.flush()
        ours = os.dup(1)
        os.dup2(printed.fileno(), 1)
        try:
            lines = driver.run(module, order)
        finally:
            ctypes.CDLL(None).fflush(None)
            os.dup2(ours, 1)
            os.close(ours)
        printed.seek(0)
        return printed.read().decode(errors="replace").splitlines() + lines


def record(path, write, against):
    """One file, in the process that holds the context."""
    text = path.read_text()
    driver = Driver()
    if write and driver.name().startswith("Lanewise"):
        raise Broken("a record is what hardware did: --write needs a GPU's driver")
    orders = [read_order(text, order) for order in ORDER.findall(text)]
    if not orders:
        raise Broken("no `// run:` line")
    module = driver.load(text)
    if TRAPS.search(text):
        for order in orders:
            try:
                print(f"no fault: {order.kernel}", *driver.run(module, order))
            except Fault as problem:
                print(f"as expected, {order.kernel} faults: {problem}")
                return
        if against:
            raise Broken("no kernel faults, and the file expects a trap")
        return
    lines = [line for order in orders for line in run_order(driver, module, order)]
    if against:
        compare(path, lines, text)
        return
    if not write:
        print("\n".join(lines))
        return
    kept = [line for line in text.splitlines() if not RECORDED.match(line)]
    while kept and not kept[-1].strip():
        kept.pop()
    today = datetime.date.today().isoformat()
    kept.append(f"// recorded: {driver.name()}, driver {driver_version()}, {today}")
    path.write_text("\n".join(kept + [f"// out: {line}" for line in lines]) + "\n")


def for_device(path):
    """The environment in which Lanewise is the device that a file is written for, where that is a newer one or alone of its kind. A GPU is what it is."""
    target = re.search(r"^\.target\s+(sm_(\d+))(a?)", path.read_text(), re.M)
    newer = target and (int(target[2]) > 90 or target[3])
    return {**os.environ, **({"LANEWISE_ARCH": target[1]} if newer else {})}


def record_apart(path, options):
    """The same in a process of its own; returns what went wrong, or None."""
    command = [sys.executable, __file__, "--alone", *(["--write"] if options.write else []),
               *(["--compare"] if options.compare else []), str(path)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIME_LIMIT, env=for_device(path))
    except subprocess.TimeoutExpired:
        return "", f"no end after {TIME_LIMIT} s"
    return done.stdout, done.stderr.strip() or f"exit code {done.returncode}" if done.returncode else None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("places", nargs="+", type=pathlib.Path)
    parser.add_argument("--write", action="store_true", help="put the lines into the files")
    parser.add_argument("--compare", action="store_true", help="fail where the lines are not those of the files")
    parser.add_argument("--jobs", type=int, default=4, help="processes at a time")
    parser.add_argument("--alone", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.alone:
        try:
            record(options.places[0], options.write, options.compare)
        except (Broken, ValueError, argparse.ArgumentError) as problem:
            sys.exit(str(problem))
        return 0

    files = [path for place in options.places for path in (sorted(place.rglob("run_*.ptx")) if place.is_dir() else [place])]
    passed_over = [path for path in files if NO_RUN.search(path.read_text())]
    for path in passed_over:
        print(f"passed over {path}: expects an exit code, a strict launch or the manual's results")
    files = [path for path in files if path not in passed_over]
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for path, (output, problem) in zip(files, pool.map(lambda path: record_apart(path, options), files)):
            if problem:
                failed += 1
                print(f"FAILED {path}: {problem}")
            elif output:
                print(f"{path}\n{output}", end="")
    print(f"{len(files)} files, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
