"""Random PTX programs for engines.py: straight text of all types, branches, loops with equal and different rounds, calls, tables, exits,
barriers, shuffles, votes, atomics, memory."""

import math
import random

# what an operation gives, and takes: h r d: registers of 16, 32, 64 bits; p a predicate; lower case u: an immediate of 32 bits may stand there
INTEGER = []
for t, c in (("u16", "h"), ("s16", "h"), ("u32", "r"), ("s32", "r"), ("u64", "d"), ("s64", "d")):
    for op in ("add", "sub", "mul.lo", "mul.hi", "div", "rem", "min", "max"):
        INTEGER.append((f"{op}.{t}", c, c + c))
    INTEGER += [(f"mad.lo.{t}", c, c * 3), (f"mad.hi.{t}", c, c * 3), (f"sad.{t}", c, c * 3), (f"shr.{t}", c, c + "r")]
    if t[0] == "s":
        INTEGER += [(f"abs.{t}", c, c), (f"neg.{t}", c, c)]
for b, c in (("b16", "h"), ("b32", "r"), ("b64", "d")):
    INTEGER += [(f"{op}.{b}", c, c + c) for op in ("and", "or", "xor")] * 2
    INTEGER += [(f"not.{b}", c, c), (f"shl.{b}", c, c + "r"), (f"mov.{b}", c, c), (f"selp.{b}", c, c + c + "p"), (f"cnot.{b}", c, c)]
for t in ("u32", "s32"):
    INTEGER += [(f"mul24.lo.{t}", "r", "rr"), (f"mad24.hi.{t}", "r", "rrr"), (f"bfe.{t}", "r", "rbb"), (f"bfind.{t}", "r", "r"),
                (f"mul.wide.{t}", "d", "rr"), (f"mad.wide.{t}", "d", "rrd"), (f"dp4a.{t}.{t}", "r", "rrr"), (f"slct.{t}.s32", "r", "rrr"),
                (f"vshl.{t}.{t}.u32.wrap", "r", "rr"), (f"vshr.{t}.{t}.u32.clamp", "r", "rr")]
INTEGER += [("popc.b32", "r", "r"), ("popc.b64", "r", "d"), ("clz.b64", "r", "d"), ("brev.b32", "r", "r"), ("bfi.b32", "r", "rrbb"), ("prmt.b32", "r", "rrr"),
            ("shf.l.wrap.b32", "r", "rrr"), ("shf.r.clamp.b32", "r", "rrr"), ("add.sat.s32", "r", "rr"), ("mul.wide.u16", "r", "hh"), ("fns.b32", "r", "rrr"),
            ("add.cc.u32", "r", "rr"), ("addc.cc.u32", "r", "rr"), ("addc.u64", "d", "dd"), ("sub.cc.u64", "d", "dd"), ("subc.u32", "r", "rr"),
            ("bfe.s64", "d", "dbb"), ("mad.lo.cc.u32", "r", "rrr"), ("madc.hi.u32", "r", "rrr")]
FLOAT = [(f"{op}.f32", "r", "rr") for op in ("add", "sub", "mul", "min", "max", "div.rn", "add.ftz", "mul.ftz.sat", "min.NaN", "copysign")]
FLOAT += [(f"{op}.f64", "d", "dd") for op in ("add", "sub", "mul", "min", "max", "div.rn", "copysign")]
FLOAT += [("fma.rn.f32", "r", "rrr"), ("fma.rn.ftz.f32", "r", "rrr"), ("fma.rn.f64", "d", "ddd"), ("sqrt.rn.f32", "r", "r"), ("sqrt.rn.f64", "d", "d"),
          ("abs.f32", "r", "r"), ("neg.f64", "d", "d"), ("rcp.rn.f32", "r", "r"), ("cvt.rn.f32.s32", "r", "r"), ("cvt.rzi.s32.f32", "r", "r"),
          ("cvt.rni.u64.f64", "d", "d"), ("cvt.f64.f32", "d", "r"), ("cvt.rn.f32.f64", "r", "d"), ("cvt.rn.f64.u64", "d", "d"), ("cvt.rn.f16.f32", "h", "r"),
          ("cvt.f32.f16", "r", "h"), ("cvt.rmi.f32.f32", "r", "r"), ("slct.f32.f32", "r", "rrr"), ("set.lt.f32.f32", "r", "rr"), ("set.ltu.u32.f64", "r", "dd")]
CONVERT = [(f"cvt.{a}.{b}", c, d) for a, c in (("u16", "h"), ("s32", "r"), ("u64", "d"), ("s64", "d"), ("u32", "r")) for b, d in
           (("s16", "h"), ("u16", "h"), ("s32", "r"), ("u32", "r"), ("s64", "d"))]
CONVERT += [("cvt.sat.s16.s32", "h", "r"), ("cvt.sat.u32.s64", "r", "d"), ("cvt.s32.s8", "r", "r"), ("cvt.u16.u8", "h", "h")]
COMPARE = [(t, c, op) for t, c in (("u16", "h"), ("s16", "h"), ("u32", "r"), ("s32", "r"), ("u64", "d"), ("s64", "d"), ("f32", "r"), ("f64", "d"))
           for op in ("eq", "ne", "lt", "le", "gt", "ge")]
COMPARE += [("f32", "r", op) for op in ("equ", "neu", "ltu", "num", "nan")] + [("b32", "r", "eq"), ("b64", "d", "ne"), ("u32", "r", "lo")]
SYNC = ("shfl", "vote", "match", "redux", "activemask", "atom", "shared", "bar", "elect")

COUNTS = {"h": 5, "r": 8, "d": 5, "p": 5}
BITS = {"h": 16, "r": 32, "d": 64}
INTERESTING = (0, 1, 2, 3, 7, 8, 31, 32, 33, 63, 64, 127, 128, 255, 0x7FFF, 0x8000, 0x7FFFFFFF, 0x80000000, 0x3F800000, 0x7FC00000, 0xFF800001, 2**63, 2**64 - 1, 2**32)


class Program:
    def __init__(self, chance, size):
        self.chance, self.lines, self.labels, self.depth, self.left = chance, [], 0, 0, size
        self.same = True  # all threads are here: a barrier may stand here
        self.divided = chance.random() < 0.3  # uses exits of some threads
        self.weird = chance.random() < 0.3  # masks that name lanes which are elsewhere
        self.tables = []
        self.asked = 0

    def reg(self, kind):
        kind = "r" if kind == "b" else kind
        return f"%{kind}{self.chance.randrange(COUNTS[kind])}"

    def operand(self, kind):
        """`b` is a place or a length in bits: as a constant up to 255."""
        if kind == "b":
            return str(self.chance.randrange(256)) if self.chance.random() < 0.2 else self.reg(kind)
        if kind != "p" and self.chance.random() < 0.2:
            value = self.chance.choice(INTERESTING) if self.chance.random() < 0.6 else self.chance.getrandbits(64)
            return str(value % 2 ** BITS[kind])
        return self.reg(kind)

    def guard(self):
        return f"@{self.chance.choice(('', '!'))}{self.reg('p')} " if self.chance.random() < 0.12 else ""

    def put(self, text):
        self.lines.append("  " * (self.depth + 1) + text)

    def label(self):
        self.labels += 1
        return f"L{self.labels}"

    def operation(self):
        table = self.chance.choice((INTEGER, INTEGER, INTEGER, FLOAT, CONVERT))
        name, to, kinds = self.chance.choice(table)
        operands = [self.operand(k) for k in kinds]
        if not any(o[0] == "%" for o in operands) or table is not INTEGER:
            operands = [self.reg(k) for k in kinds]
        self.put(f"{self.guard()}{name} {self.reg(to)}, {', '.join(operands)};")

    def predicate(self):
        if self.chance.random() < 0.25:
            op = self.chance.choice(("and", "or", "xor", "not", "mov"))
            operands = ", ".join(self.reg("p") for _ in range(2 if op in ("and", "or", "xor") else 1))
            self.put(f"{self.guard()}{op}.pred {self.reg('p')}, {operands};")
            return
        t, c, op = self.chance.choice(COMPARE)
        to, more = self.reg("p"), ""
        combine = self.chance.choice(("", "", "", ".and", ".or", ".xor"))
        if combine:
            more = f", {self.chance.choice(('', '!'))}{self.reg('p')}"
        if self.chance.random() < 0.2:
            other = self.reg("p")
            to += f"|{other}" if other != to else ""
        second = self.operand(c) if t[0] != "f" else self.reg(c)
        self.put(f"{self.guard()}setp.{op}{combine}.{t} {to}, {self.reg(c)}, {second}{more};")

    def atomic(self):
        """What was there depends on who came first, which warps do not promise each other: it is asked for once of a place that nobody else changes. Others have a place
        for each operation, which may be joined in any order."""
        space, place, apart = self.chance.choice((("global", "%sum+{}", 4), ("shared", "%cells+{}", 4), ("shared", "%bins+{}", 32)))
        if self.depth == 0 and self.asked < 5:
            op = self.chance.choice(("add.u32", "max.s32", "min.u32", "xor.b32", "exch.b32", "and.b32", "or.b32", "inc.u32", "dec.u32", "cas.b32"))
            more = f", {self.reg('r')}" if op[:3] == "cas" else ""
            self.put(f"{self.guard()}atom.{space}.{op} {self.reg('r')}, [{place.format((3 + self.asked) * apart)}], {self.reg('r')}{more};")
            self.asked += 1
        else:
            k = self.chance.randrange(3)
            self.put(f"{self.guard()}red.{space}.{('add.u32', 'max.s32', 'xor.b32')[k]} [{place.format(k * apart)}], {self.reg('r')};")

    def between(self):
        what = self.chance.choice(SYNC)
        mask = self.chance.choice(("%all", "%all", "0xffffffff" if self.weird else "%all"))
        if what == "shfl":
            mode = self.chance.choice(("idx", "up", "down", "bfly"))
            clamp = 0 if mode == "up" else 31
            self.put(f"shfl.sync.{mode}.b32 {self.reg('r')}, {self.reg('r')}, {self.chance.randrange(32)}, {clamp}, {mask};")
        elif what == "vote":
            how = self.chance.choice(("all.pred", "any.pred", "uni.pred", "ballot.b32"))
            self.put(f"vote.sync.{how} {self.reg('r' if 'ballot' in how else 'p')}, {self.chance.choice(('', '!'))}{self.reg('p')}, {mask};")
        elif what == "match":
            self.put(f"match.any.sync.b32 {self.reg('r')}, {self.reg('r')}, {mask};")
        elif what == "redux":
            self.put(f"redux.sync.{self.chance.choice(('add.u32', 'min.s32', 'xor.b32'))} {self.reg('r')}, {self.reg('r')}, {mask};")
        elif what == "elect":
            self.put(f"elect.sync _|{self.reg('p')}, {mask};")
        elif what == "activemask":
            self.put(f"activemask.b32 {self.reg('r')};")
        elif what == "atom":
            self.atomic()
        elif what == "shared":
            self.put(f"st.shared.b32 [%mine], {self.reg('r')};")
            if self.chance.random() < 0.5 and self.same and not self.divided:
                self.put("bar.sync 0;")
            self.put(f"ld.shared.b32 {self.reg('r')}, [%theirs];")
        elif self.same and not self.divided:
            self.put(self.chance.choice(("bar.sync 0;", f"barrier.sync.aligned 1;", f"bar.red.popc.u32 {self.reg('r')}, 2, {self.reg('p')};")))

    def memory(self):
        kind = self.chance.choice("hrd")
        bits = {"h": 16, "r": 32, "d": 64}[kind]
        if self.chance.random() < 0.5:
            t = self.chance.choice({"h": ("u16", "s8", "u8"), "r": ("u32", "s16", "s8", "b32"), "d": ("u64", "s32", "u8")}[kind])
            self.put(f"{self.guard()}ld.global.{t} {self.reg(kind)}, [%in + {self.chance.randrange(32) * 8}];")
        else:
            self.put(f"{self.guard()}st.global.b{bits} [%out + {self.chance.randrange(4) * 8 + 256}], {self.reg(kind)};")

    def parameter(self):
        t, kind = self.chance.choice((("u8", "h"), ("s8", "r"), ("u16", "r"), ("s16", "d"), ("u32", "r"), ("s32", "d"), ("u64", "d"), ("f32", "r"), ("f64", "d"), ("u8", "d")))
        self.put(f"ld.param.{t.replace('f', 'b')} {self.reg(kind)}, [p_{t}];")

    def branch(self):
        end, same = self.label(), self.same
        self.same = False
        two = self.chance.random() < 0.5
        other = self.label() if two else end
        self.put(f"@{self.chance.choice(('', '!'))}{self.reg('p')} bra {other};")
        self.depth += 1
        self.some()
        if two:
            self.put(f"bra {end};")
            self.lines.append(f"{other}:")
            self.some()
        self.depth -= 1
        self.lines.append(f"{end}:")
        self.same = same

    def loop(self):
        if self.depth >= 3:
            return
        top, n, same = self.label(), self.depth, self.same
        how = self.chance.randrange(3)
        if how == 0:
            self.put(f"mov.u32 %n{n}, %count;")
        elif how == 1:
            self.put(f"mov.u32 %n{n}, {self.chance.randrange(1, 5)};")
        else:
            self.same = False
            self.put(f"and.b32 %n{n}, {self.reg('r')}, {self.chance.choice((1, 3, 7))};")
        self.lines.append(f"{top}:")
        self.depth += 1
        self.some()
        if self.chance.random() < 0.2:
            self.same, out = False, self.label()
            self.put(f"@{self.reg('p')} bra {out};")
        else:
            out = None
        self.put(f"sub.u32 %n{n}, %n{n}, 1;")
        self.put(f"setp.gt.s32 %q{n}, %n{n}, 0;")
        self.depth -= 1
        self.put(f"@%q{n} bra {top};")
        if out:
            self.lines.append(f"{out}:")
        self.same = same

    def table(self):
        count, end, same = self.chance.randrange(2, 5), self.label(), self.same
        labels = [self.label() for _ in range(count)]
        name = f"T{self.labels}"
        self.put(f"{name}: .branchtargets {', '.join(labels)};")
        self.put(f"rem.u32 %index, {self.reg('r')}, {count};")
        self.same = False
        self.put(f"brx.idx %index, {name};")
        for label in labels:
            self.lines.append(f"{label}:")
            self.depth += 1
            self.some(3)
            self.depth -= 1
            self.put(f"bra {end};")
        self.lines.append(f"{end}:")
        self.same = same

    def call(self):
        self.put("{ .param .b32 a; .param .b64 b; .param .b32 c;")
        self.put(f"st.param.b32 [a], {self.reg('r')}; st.param.b64 [b], {self.reg('d')};")
        self.put(f"{self.guard()}call (c), {self.chance.choice(('mix', 'turn'))}, (a, b);")
        self.put(f"ld.param.b32 {self.reg('r')}, [c]; }}")

    def leave(self):
        if not self.divided:
            return
        self.put(f"and.b32 %index, {self.reg('r')}, {self.chance.choice((1, 3, 15))};")
        self.put(f"setp.eq.u32 %q3, %index, 0;")
        self.put(f"@%q3 {self.chance.choice(('exit', 'ret'))};")

    def some(self, most=8):
        for _ in range(self.chance.randrange(1, most)):
            if self.left <= 0:
                return
            self.left -= 1
            kinds = [self.operation] * 14 + [self.predicate] * 4 + [self.memory] * 2 + [self.parameter, self.between]
            if self.depth < 3:
                kinds += [self.branch, self.loop, self.call, self.leave, self.table]
            self.chance.choice(kinds)()

    def text(self):
        while self.left > 0:
            self.some()
        return "\n".join(self.lines)


PARAMS = ("u8", "s8", "u16", "s16", "u32", "s32", "u64", "f32", "f64")
CALLED = """
.func (.param .b32 c) mix(.param .b32 a, .param .b64 b)
{
  .reg .b32 %r<4>; .reg .b64 %d<2>; .reg .pred %p;
  ld.param.b32 %r0, [a];
  ld.param.b64 %d0, [b];
  cvt.u32.u64 %r1, %d0;
  setp.lt.u32 %p, %r0, %r1;
  @%p bra LESS;
  mad.lo.u32 %r0, %r0, 3, %r1;
  xor.b32 %r0, %r0, 0x5a5a;
LESS:
  add.u32 %r0, %r0, 7;
  st.param.b32 [c], %r0;
  ret;
}
.func (.param .b32 c) turn(.param .b32 a, .param .b64 b)
{
  .reg .b32 %r<4>; .reg .b64 %d<2>; .reg .pred %p;
  ld.param.b32 %r0, [a];
  ld.param.b64 %d0, [b];
  and.b32 %r1, %r0, 3;
AGAIN:
  mad.lo.u64 %d0, %d0, 5, 1;
  sub.u32 %r1, %r1, 1;
  setp.ge.s32 %p, %r1, 0;
  @%p bra AGAIN;
  cvt.u32.u64 %r0, %d0;
  st.param.b32 [c], %r0;
  ret;
}
"""


def kernel(chance, size):
    program = Program(chance, size)
    text = program.text()
    head = ", ".join(["  .param .u64 in", ".param .u64 out", ".param .u64 sum", ".param .u32 count", *(f".param .{t} p_{t}" for t in PARAMS)])
    registers = "".join(f"  .reg .b{BITS[k]} %{k}<{COUNTS[k]}>;\n" for k in "hrd")
    start = """  .reg .pred %p<5>, %q<4>;
  .reg .b32 %n<4>, %thread, %number, %count, %index, %all, %mine, %theirs, %bins, %cells, %x<3>, %x, %y;
  .reg .b64 %in, %out, %sum, %w;
  .shared .b32 room[1024];
  mov.u32 %x1, %ntid.y; mov.u32 %x2, %tid.z; mov.u32 %y, %tid.y;
  mad.lo.u32 %thread, %x2, %x1, %y;
  mov.u32 %x0, %ntid.x; mov.u32 %x, %tid.x;
  mad.lo.u32 %thread, %thread, %x0, %x;
  mul.lo.u32 %x1, %x0, %x1; mov.u32 %x0, %ntid.z; mul.lo.u32 %x1, %x0, %x1;
  mov.u32 %x0, %ctaid.x;
  mad.lo.u32 %number, %x0, %x1, %thread;
  ld.param.u64 %in, [in]; ld.param.u64 %out, [out]; ld.param.u64 %sum, [sum]; ld.param.u32 %count, [count];
  and.b32 %x2, %number, 31;
  mad.wide.u32 %in, %x2, 8, %in;
  mad.wide.u32 %out, %number, 512, %out;
  activemask.b32 %all;
  mov.u32 %mine, room;
  and.b32 %bins, %thread, 7;
  mad.lo.u32 %bins, %bins, 4, %mine;
  add.u32 %bins, %bins, 3072; add.u32 %cells, %mine, 2048;
  mad.lo.u32 %theirs, %thread, 4, %mine;
  xor.b32 %x0, %thread, 5;
  min.u32 %x0, %x0, 1023;
  mad.lo.u32 %x0, %x0, 4, %mine;
  mov.u32 %mine, %theirs;
  mov.u32 %theirs, %x0;
"""
    for k in "hrd":
        for i in range(COUNTS[k]):
            choice = chance.randrange(4)
            if choice == 0:
                start += f"  mov.b{BITS[k]} %{k}{i}, {chance.choice(INTERESTING) % 2 ** BITS[k]};\n"
            elif choice == 1:
                start += f"  ld.global.b{BITS[k]} %{k}{i}, [%in + {8 * chance.randrange(64)}];\n"
            else:
                of = chance.choice(("%thread", "%number", "%x", "%y"))
                source = {"h": "cvt.u16.u32 %h{}, OF;", "r": "mov.b32 %r{}, OF;", "d": "cvt.u64.u32 %d{}, OF;"}[k].replace("OF", of)
                start += "  " + source.format(i) + "\n"
    for i in range(5):
        start += f"  setp.{chance.choice(('lt', 'gt', 'ne'))}.u32 %p{i}, %r{chance.randrange(8)}, {chance.choice((0, 5, 40, 10**9))};\n"
    end, at = "", 0
    for k in "hrd":
        for i in range(COUNTS[k]):
            end += f"  st.global.b{BITS[k]} [%out + {at}], %{k}{i};\n"
            at += 8
    for i in range(5):
        end += f"  selp.b32 %x0, 1, 2, %p{i};\n  st.global.b32 [%out + {at}], %x0;\n"
        at += 8
    return (f".version 8.0\n.target sm_90\n.address_size 64\n{CALLED}\n.visible .entry k({head})\n{{\n{registers}{start}{text}\n{end}  ret;\n}}\n")


# Rows of whole warps, of one thread, that share warps, that end within them.
BLOCKS = ("1", "31", "32", "33", "64", "96", "100", "128", "129", "160", "256", "300", "16,16", "8,8", "16,3", "24,4", "4,4,4", "32,4", "2,3,11", "1,64", "8,3,2", "12,5")


def arguments(chance, grid, block, count):
    threads = grid * math.prod(int(n) for n in block.split(","))
    values = {"u8": 200, "s8": -100, "u16": 65000, "s16": -30000, "u32": chance.getrandbits(32), "s32": -chance.getrandbits(31), "u64": chance.getrandbits(64)}
    return ["-k", "k", "-g", str(grid), "-b", block, "-a", "u64[128]=random", "-a", f"u64[{64 * threads}]:print=hex", "-a", "u32[8]:print=hex", "-a", f"u32={count}",
            *(x for t in PARAMS for x in ("-a", f"{t}={values.get(t, -1.5)}"))]


def programs(seed, count):
    for n in range(count):
        chance = random.Random(f"ptx {seed} {n}")
        text = kernel(chance, chance.choice((8, 20, 40, 80)))
        runs = []
        for block in chance.sample(BLOCKS, 2):
            extra = chance.choice(([], [], ["--step-limit", str(chance.choice((100, 1000, 20000)))], ["--strict"], ["--threads", "1"]))
            grid = chance.choice((1, 1, 2, 3))
            runs.append([*arguments(chance, grid, block, chance.choice((0, 1, 2, 9))), "--threads", "1", "--timeout", "20", *extra])
        yield f"{seed}_{n}", text, runs
