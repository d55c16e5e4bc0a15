#!/usr/bin/env python3
"""CTAs of a cluster: random kernels that write and read each other's shared memory, a model of what they compute, and records of what a GPU computed.

    clusters.py --count N [--first SEED]       runs kernels on the CUDA driver there is, and compares with the model
    clusters.py --record FILE [--count N]      on a GPU: keeps a digest of what each kernel gave
    clusters.py --compare FILE                 runs the recorded kernels: `lanewise exec -- clusters.py --compare FILE`
    clusters.py --print SEED                   one kernel as PTX

Each thread has words of its own in the shared memory of its CTA. A kernel is a row of steps with a barrier of the cluster behind each: every thread
stores to, adds to or exchanges a word of a thread of another CTA, by an address of the shared space (mapa.shared::cluster), a generic one (mapa, cvta) or
one that a CTA was told by another; or it reads such a word. Nobody else touches that word in that step, or all do what can be done in any order. Some
threads leave between steps, never all of a CTA. The model does each step for one thread after the other."""

import argparse
import ctypes
import pathlib
import random
import struct
import sys

import record
from meetings import HEAD, WORD, Digests

WORDS = 4  # of a thread
SHAPES = [(1, 1, 1), (2, 1, 1), (1, 2, 1), (1, 1, 2), (4, 1, 1), (2, 2, 1), (3, 1, 1), (1, 5, 1), (2, 3, 1), (8, 1, 1), (2, 2, 2), (7, 1, 1), (16, 1, 1)]


class Kernel:
    def __init__(self, seed):
        pick = random.Random(seed)
        self.seed, self.cluster = seed, pick.choice(SHAPES)
        self.count = self.cluster[0] * self.cluster[1] * self.cluster[2]
        self.threads = pick.choice([1, 7, 32, 33, 64, 96, 160])
        self.clusters = tuple(pick.choice([1, 1, 2, 3]) if k < 2 else 1 for k in range(3))
        self.grid = tuple(a * b for a, b in zip(self.cluster, self.clusters))
        self.required = self.count <= 8 and pick.random() < 0.3  # the kernel says the shape, not the launch
        self.steps = [self.step(pick) for _ in range(pick.randrange(2, 8))]
        self.total = self.grid[0] * self.grid[1] * self.grid[2]

    def step(self, pick):
        kind = pick.choice(["store", "add", "exchange", "max", "load", "load", "leave", "rank", "told"])
        return dict(kind=kind, far=pick.randrange(self.count), turn=pick.randrange(self.threads), word=pick.randrange(WORDS - 1), way=pick.choice(["space", "wide", "generic"]),
                    wait=pick.choice(["", ".acquire"]), arrive=pick.choice(["", ".release"]), aligned=pick.choice(["", ".aligned"]), late=pick.random() < 0.4,
                    modulus=pick.choice([2, 3, 5]))


# ---- the model -----------------------------------------------------------------------------------------------------------------

def mixed(x):
    x = x * 0x9E3779B1 & WORD
    return x ^ x >> 15


def coordinates(number, shape):
    return number % shape[0], number // shape[0] % shape[1], number // shape[0] // shape[1]


def model(kernel):
    """What each thread of the grid stores: its value, then its words."""
    threads, count = kernel.threads, kernel.count
    results = [0] * (kernel.total * threads * (WORDS + 1))
    for number in range(kernel.total // count):
        cluster = coordinates(number, kernel.clusters)
        where = []
        for rank in range(count):
            at = [c * n + i for c, n, i in zip(cluster, kernel.cluster, coordinates(rank, kernel.cluster))]
            where.append((at[2] * kernel.grid[1] + at[1]) * kernel.grid[0] + at[0])
        values = [[mixed(where[rank] * threads + t ^ kernel.seed & WORD) for t in range(threads)] for rank in range(count)]
        memory = [[[mixed(values[rank][t] + w & WORD) for w in range(WORDS)] for t in range(threads)] for rank in range(count)]
        alive = [[True] * threads for _ in range(count)]
        for step in kernel.steps:
            for rank in range(count):
                for t in range(threads):
                    if alive[rank][t]:
                        one_step(step, kernel, rank, t, values, memory, alive)
            for rank in range(count):
                for t in range(threads):
                    if alive[rank][t]:
                        values[rank][t] = mixed(values[rank][t] + 1 & WORD)
        for rank in range(count):
            for t in range(threads):
                at = (where[rank] * threads + t) * (WORDS + 1)
                results[at:at + WORDS + 1] = [values[rank][t], *memory[rank][t]]
    return results


def one_step(step, kernel, rank, t, values, memory, alive):
    far, other = (rank + step["far"]) % kernel.count, (t + step["turn"]) % kernel.threads
    word, kind = step["word"], step["kind"]
    cell, value = memory[far][other], values[rank][t]
    if kind == "store":
        cell[word] = value
    elif kind == "add":
        memory[far][0][word] = memory[far][0][word] + value & WORD
    elif kind == "max":
        memory[far][other // 2][word] = max(memory[far][other // 2][word], value)
    elif kind == "exchange":
        values[rank][t], cell[word] = value ^ cell[word], value
    elif kind == "rank":
        values[rank][t] = value + far * 0x10001 & WORD
    elif kind in ("load", "told"):
        values[rank][t] = value ^ cell[word]
    elif kind == "leave" and t % step["modulus"] and t != kernel.threads - 1:
        alive[rank][t] = False


# ---- as PTX --------------------------------------------------------------------------------------------------------------------

class Writer:
    def __init__(self, kernel):
        self.kernel, self.lines = kernel, []

    def put(self, *lines):
        self.lines += [f"    {line}" for line in lines]

    def mix(self, register):
        self.put(f"mul.lo.u32 {register}, {register}, 0x9e3779b1;", f"shr.u32 %s, {register}, 15;", f"xor.b32 {register}, {register}, %s;")

    def place(self, step):
        """The word's address; returns the space that goes with it, and the operand."""
        kernel, way = self.kernel, step["way"]
        self.put(f"add.u32 %f, %rank, {step['far']};", f"rem.u32 %f, %f, {kernel.count};", f"add.u32 %o, %t, {step['turn']};",
                 f"rem.u32 %o, %o, {kernel.threads};")
        if step["kind"] == "add":
            self.put("mov.u32 %o, 0;")
        elif step["kind"] == "max":
            self.put("shr.u32 %o, %o, 1;")
        self.put(f"mad.lo.u32 %o, %o, {4 * WORDS}, {4 * step['word']};")
        if way == "space":
            self.put("mov.u32 %a, room;", "add.u32 %a, %a, %o;", "mapa.shared::cluster.u32 %a, %a, %f;")
            return ".shared::cluster", "[%a]"
        if way == "wide":
            self.put("cvt.u64.u32 %w, %o;", "mapa.shared::cluster.u64 %x, room, %f;", "add.u64 %w, %w, %x;")
            return ".shared::cluster", "[%w]"
        self.put("cvt.u64.u32 %w, %o;", "mov.u64 %x, room;", "cvta.shared.u64 %x, %x;", "mapa.u64 %x, %x, %f;", "add.u64 %w, %w, %x;")
        return "", "[%w]"

    def barrier(self, step):
        self.put(f"barrier.cluster.arrive{step['arrive']}{step['aligned']};")
        if step["late"]:
            self.put("add.u32 %v, %v, 1;", "bar.warp.sync 0xffffffff;" if step["aligned"] and not self.left else "xor.b32 %s, %s, %s;")
        self.put(f"barrier.cluster.wait{step['wait']}{step['aligned']};")
        if not step["late"]:
            self.put("add.u32 %v, %v, 1;")
        self.mix("%v")

    def step(self, step):
        kind = step["kind"]
        if kind == "leave":
            self.put(f"rem.u32 %s, %t, {step['modulus']};", "setp.ne.u32 %p, %s, 0;", f"setp.ne.and.u32 %p, %t, {self.kernel.threads - 1}, %p;",
                     "@%p bra OUT;")
            self.left = True
        elif kind == "told":
            self.told(step)
        else:
            space, at = self.place(step)
            if kind == "store":
                self.put(f"st{space}.u32 {at}, %v;")
            elif kind == "add":
                self.put(f"red.relaxed.cluster{space}.add.u32 {at}, %v;")
            elif kind == "max":
                self.put(f"atom{space}.max.u32 _, {at}, %v;")
            elif kind == "exchange":
                self.put(f"atom.acq_rel.cluster{space}.exch.b32 %s, {at}, %v;", "xor.b32 %v, %v, %s;")
            elif kind == "load":
                self.put(f"ld{space}.u32 %s, {at};", "xor.b32 %v, %v, %s;")
            else:
                register = {"[%a]": "u32 %s, %a", "[%w]": "u64 %s, %w"}[at]
                self.put(f"getctarank{space}.{register};", "mad.lo.u32 %v, %s, 0x10001, %v;")
        step = dict(step, aligned="") if self.left else step  # lanes have parted
        self.barrier(step)

    def told(self, step):
        """Each CTA writes where its memory is, as it sees it itself, to all others; they go there."""
        kernel = self.kernel
        self.put("mov.u64 %x, room;", "cvta.shared.u64 %x, %x;", f"setp.ne.u32 %p, %t, {kernel.threads - 1};",
                 "mov.u32 %a, inbox;", "mad.lo.u32 %a, %rank, 8, %a;")
        for far in range(kernel.count):
            self.put(f"mapa.shared::cluster.u32 %s, %a, {far};", "@!%p st.shared::cluster.u64 [%s], %x;")
        self.put("barrier.cluster.arrive;", "barrier.cluster.wait;", f"add.u32 %f, %rank, {step['far']};", f"rem.u32 %f, %f, {kernel.count};",
                 "mov.u32 %a, inbox;", "mad.lo.u32 %a, %f, 8, %a;", "ld.shared.u64 %w, [%a];", f"add.u32 %o, %t, {step['turn']};",
                 f"rem.u32 %o, %o, {kernel.threads};", f"mad.lo.u32 %o, %o, {4 * WORDS}, {4 * step['word']};", "cvt.u64.u32 %x, %o;",
                 "add.u64 %w, %w, %x;", "ld.u32 %s, [%w];", "xor.b32 %v, %v, %s;")

    def write(self):
        kernel, self.left = self.kernel, False
        shape = f" .reqnctapercluster {', '.join(map(str, kernel.cluster))} .explicitcluster" if kernel.required else ""
        shape = shape.replace(" .explicitcluster", "")
        self.put(".reg .pred %p, %left;", ".reg .b32 %v, %t, %s, %a, %f, %o, %rank, %n, %y, %z;", ".reg .b64 %w, %x, %out;",
                 f".shared .align 16 .b32 room[{WORDS * kernel.threads}];", f".shared .align 8 .b64 inbox[{kernel.count}];",
                 "ld.param.u64 %out, [out];", "mov.u32 %t, %tid.x;", "mov.u32 %rank, %cluster_ctarank;", "mov.u32 %n, %ctaid.x;",
                 "mov.u32 %y, %ctaid.y;", "mov.u32 %z, %ctaid.z;", f"mad.lo.u32 %z, %z, {kernel.grid[1]}, %y;",
                 f"mad.lo.u32 %n, %z, {kernel.grid[0]}, %n;", f"mad.lo.u32 %n, %n, {kernel.threads}, %t;",
                 f"mad.wide.u32 %out, %n, {4 * (WORDS + 1)}, %out;", f"xor.b32 %v, %n, {kernel.seed & WORD:#x};")
        self.mix("%v")
        self.put("mov.u32 %a, room;", f"mad.lo.u32 %a, %t, {4 * WORDS}, %a;")
        for word in range(WORDS):
            self.put(f"add.u32 %f, %v, {word};")
            self.mix("%f")
            self.put(f"st.shared.u32 [%a+{4 * word}], %f;")
        self.put("barrier.cluster.arrive;", "barrier.cluster.wait;")
        for step in kernel.steps:
            self.step(step)
        # who left stores its value, and the last thread, which never leaves, the words of those who did
        self.put("OUT:", "st.global.u32 [%out], %v;", f"setp.ne.u32 %p, %t, {kernel.threads - 1};", "@%p ret;", "mov.u32 %o, 0;",
                 f"sub.u64 %out, %out, {4 * (WORDS + 1) * (kernel.threads - 1)};", "mov.u32 %a, room;", "MORE:")
        for word in range(WORDS):
            self.put(f"ld.shared.u32 %s, [%a+{4 * word}];", f"st.global.u32 [%out+{4 * word + 4}], %s;")
        self.put(f"add.u32 %a, %a, {4 * WORDS};", f"add.u64 %out, %out, {4 * (WORDS + 1)};", "add.u32 %o, %o, 1;",
                 f"setp.lt.u32 %p, %o, {kernel.threads};", "@%p bra MORE;", "ret;")
        return "\n".join([f".visible .entry k{kernel.seed} (.param .u64 out){shape}", "{", *self.lines, "}", ""])


# ---- running -------------------------------------------------------------------------------------------------------------------

def run(driver, module, kernel):
    size = 4 * kernel.total * kernel.threads * (WORDS + 1)
    function, address = ctypes.c_void_p(), driver.allocate(bytes(size))
    driver.call("cuModuleGetFunction", ctypes.byref(function), module, f"k{kernel.seed}".encode())
    pointers = (ctypes.c_void_p * 1)(ctypes.addressof(address))
    driver.launch(function, kernel.grid, (kernel.threads, 1, 1), pointers, 0, None if kernel.required else kernel.cluster)
    driver.call("cuCtxSynchronize")
    words = list(struct.unpack(f"<{size // 4}I", driver.read(address, size)))
    driver.call("cuMemFree_v2", address)
    return words


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--record", type=pathlib.Path)
    parser.add_argument("--compare", type=pathlib.Path)
    parser.add_argument("--print", type=int)
    options = parser.parse_args()
    if options.print is not None:
        print(HEAD + Writer(Kernel(options.print)).write())
        return 0
    if options.compare and not options.compare.exists():
        print(f"skipped: {options.compare} is not recorded yet")
        return 77
    driver, digests, wrong = record.Driver(), Digests(options.compare), 0
    for seed in digests.known or range(options.first, options.first + options.count):
        kernel = Kernel(seed)
        text = Writer(kernel).write()
        module = driver.load(HEAD + text)
        got, want = run(driver, module, kernel), model(kernel)
        driver.call("cuModuleUnload", module)
        if got != want:
            at = next(k for k, pair in enumerate(zip(want, got)) if pair[0] != pair[1])
            thread, word = divmod(at, WORDS + 1)
            print(f"seed {seed}, clusters of {kernel.cluster}: word {word} of thread {thread} is {got[at]:#x}, expected {want[at]:#x}; "
                  f"{sum(a != b for a, b in zip(want, got))} of {len(want)} differ")
            wrong += 1
        wrong += not digests.keep(seed, text, got) and got == want
    if options.record:
        digests.write(options.record, "CTAs of a cluster and each other's shared memory", "clusters.py", driver)
    print(f"{len(digests.kept)} kernels, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
