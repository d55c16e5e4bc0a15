#!/usr/bin/env python3
"""Lanes of a warp that meet from different places: random kernels, a model of what they compute, and records of what a GPU computed.

    meetings.py --count N [--first SEED]       runs kernels on the CUDA driver there is, and compares with the model
    meetings.py --record FILE [--count N]      on a GPU: keeps a digest of what each kernel gave
    meetings.py --compare FILE                 runs the recorded kernels: `lanewise exec -- meetings.py --compare FILE`
    meetings.py --print SEED                   one kernel as PTX

A kernel is a row of rendezvous: instructions with .sync by all lanes, halves, quarters, odd and even or random parts of a warp. Lanes come to each by ways of
their own: through branches, loops, functions that are called from several places, with the membermask as a constant or in a register; some leave for good. The
model runs one thread at a time. A thread that comes to such an instruction waits until all lanes that its membermask names, and that have not
left, wait at one with the same opcode, qualifiers and membermask; then each gets its result. It knows nothing of the text."""

import argparse
import ctypes
import datetime
import pathlib
import struct
import sys

import record

WARP = 32
WORD = 0xFFFFFFFF


class Dice:
    """splitmix64: the same kernels on every machine."""

    def __init__(self, seed):
        self.state = seed * 0x9E3779B97F4A7C15 + 0x1234567 & (1 << 64) - 1

    def word(self):
        self.state = self.state + 0x9E3779B97F4A7C15 & (1 << 64) - 1
        z = self.state
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & (1 << 64) - 1
        z = (z ^ z >> 27) * 0x94D049BB133111EB & (1 << 64) - 1
        return (z ^ z >> 31) >> 32

    def below(self, limit):
        return self.word() * limit >> 32

    def choice(self, items):
        return items[self.below(len(items))]

    def chance(self, percent):
        return self.below(100) < percent


def mix(x, a, b):
    """What kernels do between two rendezvous."""
    return ((x ^ a) * (b | 1) & WORD) ^ ((x ^ a) * (b | 1) & WORD) >> 15


# ---- kernels: a tree of nodes, which the writer writes as PTX and the model executes ---------------------------------------
#
# ("mix", a, b)                    x = mix(x, a, b)
# ("if", condition, yes, no)       condition: ("lanes", mask) | ("bit", n) of x | ("part", partition, numbers)
# ("delay", bits)                  a loop of x & bits rounds that changes x
# ("meet", spec, how)              a rendezvous; how: constants or registers, see Writer.meet
# ("loop", counts, partition, body)  lanes of part n do counts[n] rounds
# ("call", function)               a function is a body with a number
# ("leave", mask)                  lanes end here

KINDS = ["shfl.sync.up.b32", "shfl.sync.down.b32", "shfl.sync.bfly.b32", "shfl.sync.idx.b32", "vote.sync.all.pred", "vote.sync.any.pred",
         "vote.sync.uni.pred", "vote.sync.ballot.b32", "match.any.sync.b32", "match.any.sync.b64", "match.all.sync.b32", "match.all.sync.b64",
         "redux.sync.add.u32", "redux.sync.min.u32", "redux.sync.max.s32", "redux.sync.and.b32", "redux.sync.or.b32", "redux.sync.xor.b32",
         "bar.warp.sync", "elect.sync"]


def partitions(dice):
    """Lists of the membermasks of the parts of a warp; the first is the whole warp."""
    found = [[WORD], [0xFFFF, 0xFFFF0000], [0x55555555, 0xAAAAAAAA], [0xFF << 8 * k for k in range(4)]]
    first = dice.word()
    rest = ~first & WORD
    second = rest & dice.word()
    found.append([part for part in (first, second, rest & ~second) if part])
    return found


class Kernel:
    def __init__(self, seed):
        dice = self.dice = Dice(seed)
        self.seed = seed
        self.threads = dice.choice([32, 64, 64, 96, 128, 40])
        self.partitions = partitions(dice)
        self.functions = []
        self.body = [("mix", dice.word(), dice.word())]
        for number in range(2 + dice.below(3)):
            if number and dice.chance(15):
                self.body.append(("leave", 1 << dice.below(WARP) | (dice.word() & dice.word() & dice.word() & dice.word())))
            self.body += self.ways([self.spec() for _ in range(1 + dice.below(3))], 3, {})

    def spec(self):
        """What lanes execute together: kind, partition, and how often the lanes of each part do so."""
        dice = self.dice
        partition = self.partition()
        counts = [1 + dice.below(3) * dice.chance(25) for _ in self.partitions[partition]]
        return dice.choice(KINDS), partition, tuple(counts)

    def partition(self):
        return self.dice.choice([0, 0, 0, 1, 2, 3, 4])

    def condition(self):
        dice = self.dice
        kind = dice.below(4)
        if kind == 0:
            return ("bit", dice.below(32))
        if kind == 1:
            return ("part", 1 + dice.below(4), [0] if dice.chance(50) else [1])
        return ("lanes", dice.choice([0x55555555, 0xFFFF, 0xFF00FF00, dice.word(), 1 << dice.below(WARP)]))

    def ways(self, specs, depth, known):
        """Nodes by which every lane comes to each rendezvous in turn. known: the part of a partition in which all lanes here are."""
        dice = self.dice
        if not specs:
            return []
        if depth and dice.chance(55):
            condition = self.condition()
            yes, no = dict(known), dict(known)
            if condition[0] == "part":
                if len(condition[2]) == 1:
                    yes[condition[1]] = condition[2][0]
                if len(self.partitions[condition[1]]) == 2:
                    no[condition[1]] = 1 - condition[2][0]
            arms = [self.ways(specs, depth - 1, know) for know in (yes, no)]
            return [("if", condition, [("mix", dice.word(), dice.word()), *arms[0]], [*arms[1], ("mix", dice.word(), dice.word())])]
        if dice.chance(15):
            return [("delay", dice.choice([1, 3, 7])), *self.ways(specs, depth, known)]
        if depth and dice.chance(30):
            self.functions.append(None)
            number = len(self.functions) - 1
            self.functions[number] = self.ways(specs[:1], depth - 1, {})  # called from here, and from elsewhere
            return [("call", number), *self.ways(specs[1:], depth - 1, known)]
        same = [k for k, body in enumerate(self.functions) if body and self.single(body) == specs[0]]
        if same and dice.chance(60):
            return [("call", dice.choice(same)), *self.ways(specs[1:], depth, known)]
        return [*self.meet_often(specs[0], known), *self.ways(specs[1:], depth, known)]

    def meet_often(self, spec, known):
        """One rendezvous after the other, or a loop."""
        dice = self.dice
        kind, partition, counts = spec
        part = 0 if not partition else known.get(partition)
        if max(counts) == 1 or (part is not None and dice.chance(60)):
            return [self.meet(spec, known) for _ in range(counts[part or 0])]
        return [("loop", counts, partition, [self.meet(spec, known)])]

    def single(self, body):
        """The rendezvous of a body, where it is one for every lane."""
        meets = [node[1] for node in self.walk(body) if node[0] == "meet"]
        plain = all(node[0] in ("meet", "mix", "if") for node in self.walk(body))
        return meets[0] if plain and len(set(meets)) == 1 and len(body) == 1 and body[0][0] == "meet" else None

    def walk(self, body):
        for node in body:
            yield node
            for part in node[2:]:
                if isinstance(part, list) and part and isinstance(part[0], tuple):
                    yield from self.walk(part)

    def meet(self, spec, known):
        dice = self.dice
        partition = spec[1]
        part = 0 if not partition else known.get(partition)
        width = {0: 32, 1: 16, 2: 2, 3: 8}.get(partition)
        how = {"salt": dice.word(), "constant": part is not None and dice.chance(60), "part": part, "b_constant": dice.chance(50), "c_constant": dice.chance(50)}
        how["shift"] = dice.below(width if width else 32)
        return ("meet", spec, how)


def shuffle_operands(kernel, spec, how, mask):
    """b and c of a shuffle whose lanes read within their part: (b, c)."""
    kind, partition, _ = spec
    mode, shift = kind.split(".")[2], how["shift"]
    width = {0: 32, 1: 16, 3: 8}.get(partition)
    if width:
        return shift % width, (WARP - width) << 8 | (0 if mode == "up" else 31)
    if partition == 2 and mode != "idx":  # odd and even lanes: an even distance
        return shift * 2 % 32 if mode == "bfly" else 0, 0 if mode == "up" else 31
    if mode == "idx":
        return (mask & -mask).bit_length() - 1, 31  # its first lane
    return 0, 0 if mode == "up" else 31


# ---- the model ---------------------------------------------------------------------------------------------------------------

class Left(Exception):
    pass


def thread(kernel, number, value):
    """One thread: yields what it waits with, is sent what it gets; returns its value."""
    lane = number % WARP
    state = [value]

    def run(body):
        for node in body:
            if node[0] == "mix":
                state[0] = mix(state[0], node[1], node[2])
            elif node[0] == "if":
                yield from run(node[2] if holds(node[1]) else node[3])
            elif node[0] == "delay":
                for _ in range(state[0] & node[1]):
                    state[0] = mix(state[0], 0x51ED270B, 0x2545F491)
            elif node[0] == "loop":
                for _ in range(node[1][part_of(node[2])]):
                    yield from run(node[3])
            elif node[0] == "call":
                yield from run(kernel.functions[node[1]])
            elif node[0] == "leave":
                if node[1] >> lane & 1:
                    raise Left
            else:
                yield from meet(node[1], node[2])

    def part_of(partition):
        return next(k for k, mask in enumerate(kernel.partitions[partition]) if mask >> lane & 1)

    def holds(condition):
        if condition[0] == "bit":
            return state[0] >> condition[1] & 1
        if condition[0] == "lanes":
            return condition[1] >> lane & 1
        return part_of(condition[1]) in condition[2]

    def meet(spec, how):
        mask = kernel.partitions[spec[1]][part_of(spec[1])]
        value = state[0] ^ how["salt"]
        operands = shuffle_operands(kernel, spec, how, mask) if spec[0].startswith("shfl") else None
        result = yield (spec[0], mask, value, operands)
        state[0] = mix(state[0], result, how["salt"])

    try:
        yield from run(kernel.body)
    except Left:
        state[0] = None
    return state[0]


def shuffle(mode, lane, b, c):
    """The lane that is read, and whether it is in range (manual 9.7.9.6)."""
    segment, clamp = c >> 8 & 31, c & 31
    least, most = lane & segment, (lane & segment) | (clamp & ~segment)
    if mode == "up":
        source, good = lane - b, lane - b >= most
    elif mode == "down":
        source, good = lane + b, lane + b <= most
    elif mode == "bfly":
        source, good = lane ^ b, (lane ^ b) <= most
    else:
        source = least | (b & ~segment)
        good = source <= most
    return (source if good else lane), good


def signed(x):
    return x - (x >> 31 << 32)


def exchange(kind, present):
    """present: lane to (value, operands). Returns lane to result."""
    words = kind.split(".")
    lanes = sorted(present)
    values = {lane: present[lane][0] for lane in lanes}
    if words[0] == "shfl":
        found = {}
        for lane in lanes:
            source, good = shuffle(words[2], lane, *present[lane][1])
            found[lane] = values.get(source, 0) ^ (0x80000001 if good else 0)
        return found
    if words[0] == "vote":
        yes = [lane for lane in lanes if values[lane] & 1]
        every, some = len(yes) == len(lanes), bool(yes)
        same = {"all": every, "any": some, "uni": every or not some}
        result = sum(1 << lane for lane in yes) if words[2] == "ballot" else int(same[words[2]])
        return dict.fromkeys(lanes, result)
    if words[0] == "match":
        # of few values, so that some are equal; the wide ones differ in their high halves only
        keys = {lane: values[lane] & 3 for lane in lanes}
        if words[1] == "any":
            return {lane: sum(1 << other for other in lanes if keys[other] == keys[lane]) for lane in lanes}
        every = len(set(keys.values())) == 1
        return dict.fromkeys(lanes, (sum(1 << lane for lane in lanes) if every else 0) ^ (0x40000000 if every else 0))
    if words[0] == "redux":
        result = values[lanes[0]]
        for lane in lanes[1:]:
            x = values[lane]
            result = {"add": result + x & WORD, "min": min(result, x), "max": x if signed(x) > signed(result) else result, "and": result & x,
                      "or": result | x, "xor": result ^ x}[words[2]]
        return dict.fromkeys(lanes, result)
    if words[0] == "elect":
        return {lane: lanes[0] ^ (0x100 if lane == lanes[0] else 0) for lane in lanes}
    return dict.fromkeys(lanes, 0)


def model(kernel):
    """What the kernel stores for each thread."""
    results = [0] * kernel.threads
    for first in range(0, kernel.threads, WARP):
        threads, waiting = {}, {}
        for lane in range(min(WARP, kernel.threads - first)):
            threads[lane] = thread(kernel, first + lane, mix(first + lane, kernel.seed & WORD, 0x9E3779B1))
        todo = dict.fromkeys(threads)
        while threads:
            for lane, got in todo.items():
                try:
                    waiting[lane] = threads[lane].send(got)
                except StopIteration as end:
                    results[first + lane] = end.value or 0
                    del threads[lane]
            todo = {}
            for lane, (kind, mask, _, _) in list(waiting.items()):
                group = {other for other, wait in waiting.items() if wait[:2] == (kind, mask)}
                if lane in todo or any(mask >> other & 1 and other not in group for other in threads):
                    continue
                todo.update(exchange(kind, {other: waiting[other][2:] for other in group}))
            if threads and not todo:
                raise AssertionError(f"seed {kernel.seed}: the threads wait for ever")
            for lane in todo:
                del waiting[lane]
    return results


# ---- PTX -----------------------------------------------------------------------------------------------------------------------

class Writer:
    """Everything is in %x; the masks of the parts in which a lane is are in %m0 and so on."""

    def __init__(self, kernel):
        self.kernel, self.lines, self.temporaries, self.labels, self.name = kernel, [], 0, 0, ""

    def put(self, text):
        self.lines.append("    " + text)

    def new(self):
        self.temporaries += 1
        return f"%t{self.temporaries}"

    def label(self):
        self.labels += 1
        return f"{self.name}_{self.labels}"

    def mix(self, a, b):
        t = self.new()
        self.put(f"xor.b32 %x, %x, {a}; mul.lo.u32 %x, %x, {b}; shr.u32 {t}, %x, 15; xor.b32 %x, %x, {t};")

    def condition(self, condition):
        """A predicate's number."""
        p, t = self.new(), self.new()
        if condition[0] == "bit":
            self.put(f"shr.u32 {t}, %x, {condition[1]};")
        else:
            mask = condition[1] if condition[0] == "lanes" else sum(self.kernel.partitions[condition[1]][k] for k in condition[2])
            self.put(f"mov.u32 {t}, {mask:#x}; shr.u32 {t}, {t}, %lane;")
        self.put(f"and.b32 {t}, {t}, 1; setp.ne.u32 %p{p[2:]}, {t}, 0;")
        return "%p" + p[2:]

    def body(self, nodes):
        for node in nodes:
            getattr(self, "put_" + node[0])(*node[1:])

    def put_mix(self, a, b):
        self.mix(f"{a:#x}", f"{b | 1:#x}")

    def put_if(self, condition, yes, no):
        p, other, end = self.condition(condition), self.label(), self.label()
        self.put(f"@!{p} bra {other};")
        self.body(yes)
        self.put(f"bra {end};")
        self.lines.append(f"{other}:")
        self.body(no)
        self.lines.append(f"{end}:")

    def rounds(self, count, body):
        k, p, again, end = self.new(), self.new(), self.label(), self.label()
        self.put(f"mov.u32 {k}, {count};")
        self.lines.append(f"{again}:")
        self.put(f"setp.eq.u32 %p{p[2:]}, {k}, 0; @%p{p[2:]} bra {end};")
        body()
        self.put(f"sub.u32 {k}, {k}, 1; bra {again};")
        self.lines.append(f"{end}:")

    def put_delay(self, bits):
        t = self.new()
        self.put(f"and.b32 {t}, %x, {bits};")
        self.rounds(t, lambda: self.mix("0x51ed270b", "0x2545f491"))

    def put_loop(self, counts, partition, nodes):
        t = self.new()
        self.put(f"mov.u32 {t}, {counts[0]};")
        for mask, count in list(zip(self.kernel.partitions[partition], counts))[1:]:
            p = self.condition(("lanes", mask))
            self.put(f"@{p} mov.u32 {t}, {count};")
        self.rounds(t, lambda: self.body(nodes))

    def put_call(self, number):
        self.put(f"call.uni (%x), k{self.kernel.seed}_f{number}, (%x, %lane);")

    def put_leave(self, mask):
        self.put(f"@{self.condition(('lanes', mask))} exit;")

    def put_meet(self, spec, how):
        kind, partition, _ = spec
        words = kind.split(".")
        value, result, p, q = self.new(), self.new(), self.new(), self.new()
        p, q = "%p" + p[2:], "%p" + q[2:]
        mask = f"{self.kernel.partitions[partition][how['part']]:#x}" if how["constant"] else self.mask_register(partition)
        self.put(f"xor.b32 {value}, %x, {how['salt']:#x};")
        if words[0] == "shfl":
            b, c = self.shuffle_operands(spec, how)
            self.put(f"{kind} {result}|{p}, {value}, {b}, {c}, {mask}; @{p} xor.b32 {result}, {result}, 0x80000001;")
        elif words[0] == "vote":
            self.put(f"and.b32 {value}, {value}, 1; setp.ne.u32 {p}, {value}, 0;")
            if words[2] == "ballot":
                self.put(f"{kind} {result}, {p}, {mask};")
            else:
                self.put(f"{kind} {q}, {p}, {mask}; selp.u32 {result}, 1, 0, {q};")
        elif words[0] == "match":
            self.put(f"and.b32 {value}, {value}, 3;")
            if words[3] == "b64":
                self.put(f"mov.b64 %w, {{%zero, {value}}};")
                value = "%w"
            destination = f"{result}|{p}" if words[1] == "all" else result
            self.put(f"{kind} {destination}, {value}, {mask};")
            if words[1] == "all":
                self.put(f"@{p} xor.b32 {result}, {result}, 0x40000000;")
        elif words[0] == "redux":
            self.put(f"{kind} {result}, {value}, {mask};")
        elif words[0] == "elect":
            self.put(f"{kind} {result}|{p}, {mask}; @{p} xor.b32 {result}, {result}, 0x100;")
        else:
            self.put(f"{kind} {mask}; mov.u32 {result}, 0;")
        self.mix(result, f"{how['salt'] | 1:#x}")

    def mask_register(self, partition):
        parts = self.kernel.partitions[partition]
        m = self.new()
        self.put(f"mov.u32 {m}, {parts[0]:#x};")
        for part in parts[1:]:
            self.put(f"@{self.condition(('lanes', part))} mov.u32 {m}, {part:#x};")
        return m

    def shuffle_operands(self, spec, how):
        parts = self.kernel.partitions[spec[1]]
        sources = [shuffle_operands(self.kernel, spec, how, mask) for mask in parts]
        b = f"{sources[0][0]}"
        if len(set(sources)) > 1 or not how["b_constant"]:
            b = self.new()
            self.put(f"mov.u32 {b}, {sources[0][0]};")
            for part, source in list(zip(parts, sources))[1:]:
                self.put(f"@{self.condition(('lanes', part))} mov.u32 {b}, {source[0]};")
        c = f"{sources[0][1]}"
        if not how["c_constant"]:
            c = self.new()
            self.put(f"add.u32 {c}, %zero, {sources[0][1]};")
        return b, c

    def function(self, head, nodes, end):
        self.lines, self.temporaries = [], 0
        self.body(nodes)
        count = self.temporaries + 1
        registers = [f"    .reg .b32 %t<{count}>; .reg .pred %p<{count}>; .reg .b64 %w, %a; .reg .b32 %zero; mov.u32 %zero, 0;"]
        return [*head, "{", *registers, *self.lines, *end, "}"]

    def write(self):
        kernel = self.kernel
        text, bodies = [], []
        for number, body in enumerate(kernel.functions):
            self.name = f"K{kernel.seed}_F{number}"
            head = f".func (.reg .b32 %x) k{kernel.seed}_f{number} (.reg .b32 %x_in, .reg .b32 %lane)"
            text.append(head + ";")
            bodies += self.function([head], body, ["    ret;"])
            at = bodies.index("{", len(bodies) - len(self.lines) - 4)
            bodies.insert(at + 2, "    mov.u32 %x, %x_in;")
        self.name = f"K{kernel.seed}"
        begin = [f".visible .entry k{kernel.seed} (.param .u64 out)"]
        lines = self.function(begin, kernel.body, ["    st.global.u32 [%a], %x;", "    ret;"])
        lines[3:3] = ["    .reg .b32 %x, %number, %lane;", "    mov.u32 %number, %tid.x; and.b32 %lane, %number, 31; ld.param.u64 %a, [out];",
                      "    mul.wide.u32 %w, %number, 4; add.u64 %a, %a, %w; mov.u32 %x, %number;"]
        self.lines = []
        self.temporaries = 10**6  # a name of its own
        t = "%zero"
        lines[6:6] = [f"    xor.b32 %x, %x, {kernel.seed & WORD:#x}; mul.lo.u32 %x, %x, 0x9e3779b1; shr.u32 {t}, %x, 15; xor.b32 %x, %x, {t}; mov.u32 {t}, 0;"]
        return "\n".join([*text, *bodies, *lines, ""])


HEAD = ".version 8.0\n.target sm_90\n.address_size 64\n"


# ---- running --------------------------------------------------------------------------------------------------------------------

def digest(data):
    """FNV-1a, 64 bits."""
    value = 0xCBF29CE484222325
    for byte in data:
        value = (value ^ byte) * 0x100000001B3 & (1 << 64) - 1
    return value


class Digests:
    """What a card gave for random kernels, by seed: FNV-1a of the text (32 bits), and of the words that it stored (64 bits)."""

    def __init__(self, path=None):
        lines = [line.split() for line in path.read_text().splitlines() if not line.startswith("#")] if path else []
        self.known = {int(seed): (text, words) for seed, text, words in lines}
        self.kept = []

    def keep(self, seed, text, got):
        """Whether it is what was recorded, if anything was."""
        line = f"{digest(text.encode()) & WORD:08x}", f"{digest(struct.pack(f'<{len(got)}I', *got)):016x}"
        self.kept.append(f"{seed} {' '.join(line)}")
        if self.known and self.known[seed][0] != line[0]:
            sys.exit(f"seed {seed}: the record is of another text; record again")
        same = not self.known or self.known[seed][1] == line[1]
        if not same:
            print(f"seed {seed}: not what the GPU stored")
        return same

    def write(self, path, about, program, driver):
        if driver.name().startswith("Lanewise"):
            sys.exit("a record is what hardware did")
        head = [f"# {about}: {driver.name()}, driver {record.driver_version()}, {datetime.date.today().isoformat()}.",
                f"# Written by tools/silicon/{program} --record: seed of a kernel, FNV-1a of its text (32 bits), of the words that it stored (64 bits)."]
        path.write_text("\n".join(head + self.kept) + "\n")


def run(driver, module, kernel):
    function, address = ctypes.c_void_p(), driver.allocate(bytes(4 * kernel.threads))
    driver.call("cuModuleGetFunction", ctypes.byref(function), module, f"k{kernel.seed}".encode())
    pointers = (ctypes.c_void_p * 1)(ctypes.addressof(address))
    driver.call("cuLaunchKernel", function, 1, 1, 1, kernel.threads, 1, 1, 0, None, pointers, None)
    driver.call("cuCtxSynchronize")
    words = list(struct.unpack(f"<{kernel.threads}I", driver.read(address, 4 * kernel.threads)))
    driver.call("cuMemFree_v2", address)
    return words


def run_all(driver, seeds, batch=25):
    """(kernel, its text, what it stored) for each seed."""
    for at in range(0, len(seeds), batch):
        kernels = [Kernel(seed) for seed in seeds[at:at + batch]]
        texts = [Writer(kernel).write() for kernel in kernels]
        module = driver.load(HEAD + "".join(texts))
        for kernel, text in zip(kernels, texts):
            yield kernel, text, run(driver, module, kernel)
        driver.call("cuModuleUnload", module)


def tell(kernel, want, got):
    lane = next(k for k, pair in enumerate(zip(want, got)) if pair[0] != pair[1])
    print(f"seed {kernel.seed}: thread {lane} stored {got[lane]:#x}, expected {want[lane]:#x}; {sum(a != b for a, b in zip(want, got))} of {len(want)} differ")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--record", type=pathlib.Path)
    parser.add_argument("--compare", type=pathlib.Path)
    parser.add_argument("--print", type=int)
    options = parser.parse_args()
    if options.print is not None:
        print(HEAD + Writer(Kernel(options.print)).write())
        return 0
    driver = record.Driver()
    digests, wrong = Digests(options.compare), 0
    for kernel, text, got in run_all(driver, list(digests.known or range(options.first, options.first + options.count))):
        want = model(kernel)
        if want != got:
            tell(kernel, want, got)
            wrong += 1
        wrong += not digests.keep(kernel.seed, text, got) and want == got
    if options.record:
        digests.write(options.record, "Lanes of a warp that meet from different places", "meetings.py", driver)
    print(f"{len(digests.kept)} kernels, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
