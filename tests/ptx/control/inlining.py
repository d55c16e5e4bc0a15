#!/usr/bin/env python3
"""Calls by a function's name, which may be inlined, against calls of the same functions by their address, which never are.

Random functions of all kinds that the inliner must tell apart: small and long, with branches, early returns, loops, exchanges between lanes that are
named or just here, local memory and calls of their own, of themselves and of who called them, too; parameters and results in registers and in memory, bytes to structures, accessed in the same elements by both sides or
not; registers and results that are read before anybody wrote them. Each program is written three times: all calls by name; all by address; and by name,
with a call by address that nobody reaches, so that functions must keep their parameters in memory. The witness is the call by address: what the three print,
and where and in which function they trap, must be the same, and so must the counts of warp and lane instructions. The same seed gives the same
programs."""

import argparse
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

TIME_LIMIT = 120
TYPES = ("b8", "b16", "b32", "u32", "f32", "b64", "u64")
HEAD = ".version 7.0\n.target sm_80\n.address_size 64\n"
REGISTERS = ".reg .b16 %h<4>; .reg .b32 %r<8>; .reg .b64 %d<4>; .reg .pred %p<4>, %q; .reg .b32 %n, %t, %m, %e; .reg .b64 %w, %o;"


class Function:
    """A signature, and how much of what there is in it."""

    def __init__(self, chance, number, before):
        self.name = f"f{number}"
        self.in_registers = chance.random() < 0.3
        self.size = chance.choice((2, 4, 8, 8, 16, 60))
        self.loops = chance.random() < 0.15
        self.exchanges = chance.random() < 0.15
        self.meets = chance.random() < 0.3  # right at its beginning, all who call it together
        self.returns_to = None  # a function that it calls though it may have been called by it
        self.keeps = chance.random() < 0.2  # local memory with an address
        self.callees = [f for f in before if chance.random() < 0.4]
        if self.in_registers:
            self.params = [chance.choice(("b32", "b64")) for _ in range(chance.randrange(4))]
            self.returns = [chance.choice(("b32", "b64")) for _ in range(chance.randrange(3))]
        else:
            self.params = [chance.choice((*TYPES, "struct")) for _ in range(chance.randrange(4))]
            self.returns = [chance.choice((*TYPES, "struct"))] if chance.random() < 0.8 else []

    def formal(self, kind, name):
        if self.in_registers:
            return f".reg .{kind} {name}"
        return f".param .align 8 .b8 {name}[24]" if kind == "struct" else f".param .{kind} {name}"

    def signature(self, named):
        results = ", ".join(self.formal(kind, f"z{k}" if named else "_") for k, kind in enumerate(self.returns))
        hidden = [("b64", "out"), ("b32", "here"), ("b32", "deep")]
        params = ", ".join([*(self.formal(kind, name if named else "_") for kind, name in hidden), *(self.formal(kind, f"a{k}" if named else "_") for k, kind in enumerate(self.params))])
        return f"{'(' + results + ') ' if results else ''}{self.name if named else '_'} ({params})"


class Body:
    """Text of one function, or of the kernel."""

    def __init__(self, chance, how, size, callees, loops=False, exchanges=False):
        self.chance, self.how, self.left, self.callees, self.loops, self.exchanges = chance, how, size, callees, loops, exchanges
        self.lines, self.labels, self.depth = [], 0, 0

    def put(self, line):
        self.lines.append(line)

    def label(self):
        self.labels += 1
        return f"L{self.labels}"

    def reg(self, kind):
        counts = {"h": 4, "r": 8, "d": 4, "p": 4}
        return f"%{kind}{self.chance.randrange(counts[kind])}"

    def guard(self):
        return f"@{self.chance.choice(('', '!'))}{self.reg('p')} " if self.chance.random() < 0.25 else ""

    def value(self, kind):
        if self.chance.random() < 0.25:
            return str(self.chance.randrange(1 << 15))
        return self.reg(kind)

    # ---- memory of parameters: the elements in which a structure is read and written ----

    def pieces(self):
        return self.chance.choice(([(0, "b64"), (8, "v2.b32"), (16, "v4.b16")], [(0, "b64"), (8, "v2.b32"), (16, "v4.b16")],
                                   [(0, "v2.b32"), (8, "b64"), (16, "b64")], [(3, "b8"), (8, "b16"), (20, "b32")], [(0, "v4.b8"), (16, "v2.b16")]))

    def element(self, kind):
        return self.reg("h") if kind in ("b8", "b16", "u16", "s16", "u8", "s8") else self.reg("d") if kind in ("b64", "u64") else self.reg("r")

    def access(self, what, name, offset, kind, fresh=False):
        count = int(kind[1]) if kind.startswith("v") else 1
        base = kind.split(".")[-1]
        if what == "ld":
            base = {"b8": self.chance.choice(("u8", "s8", "b8"))}.get(base, base)
            names = {"h": [f"%h{k}" for k in range(4)], "r": [f"%r{k}" for k in range(8)]}
            regs = self.chance.sample(names["h" if base[1:] in ("8", "16") else "r"], count) if count > 1 else [self.element(base)]
        else:
            regs = [self.element(base) for _ in range(count)]
        listed = "{" + ", ".join(regs) + "}" if count > 1 else regs[0]
        vector = kind.split(".")[0] + "." if count > 1 else ""
        at = f"[{name}+{offset}]"
        self.put(f"ld.param.{vector}{base} {listed}, {at};" if what == "ld" else f"st.param.{vector}{base} {at}, {listed};")

    def all_of(self, what, name, kind):
        if kind != "struct":
            self.access(what, name, 0, kind)
            return
        for offset, piece in self.pieces():
            if self.chance.random() < 0.9:
                self.access(what, name, offset, piece)

    # ---- statements ----

    def operation(self):
        c = self.chance
        kind = c.choice("rrrrdh")
        bits = {"r": 32, "d": 64, "h": 16}[kind]
        op = c.choice((f"add.u{bits}", f"sub.u{bits}", f"mul.lo.u{bits}", f"xor.b{bits}", f"and.b{bits}", f"min.u{bits}", f"max.s{bits}"))
        self.put(f"{self.guard()}{op} {self.reg(kind)}, {self.reg(kind)}, {self.value(kind)};")

    def convert(self):
        self.put(self.chance.choice((f"cvt.u64.u32 {self.reg('d')}, {self.reg('r')};", f"cvt.u32.u64 {self.reg('r')}, {self.reg('d')};",
                                     f"cvt.s32.s16 {self.reg('r')}, {self.reg('h')};", f"cvt.u16.u32 {self.reg('h')}, {self.reg('r')};",
                                     f"add.rn.f32 {self.reg('r')}, {self.reg('r')}, {self.reg('r')};")))

    def predicate(self):
        self.put(f"{self.guard()}setp.{self.chance.choice(('lt', 'ge', 'eq', 'ne'))}.u32 {self.reg('p')}, {self.reg('r')}, {self.value('r')};")

    def memory(self):
        if self.chance.random() < 0.1:
            self.put(f"{self.guard()}ld.global.u32 {self.reg('r')}, [{self.reg('d')}];")  # is no address, as a rule
        elif self.chance.random() < 0.5:
            self.put(f"{self.guard()}ld.global.u32 {self.reg('r')}, [%o+{4 * self.chance.randrange(8)}];")
        else:
            self.put(f"{self.guard()}st.global.u32 [%o+{4 * self.chance.randrange(8)}], {self.reg('r')};")

    def branch(self):
        label = self.label()
        self.put(f"@{self.reg('p')} bra {label};")
        self.some(4)
        if self.chance.random() < 0.4:
            other = self.label()
            self.put(f"bra {other};")
            self.put(f"{label}:")
            self.some(4)
            label = other
        self.put(f"{label}:")

    def table(self):
        labels = [self.label() for _ in range(3)]
        end, name = self.label(), f"T{self.labels}"
        self.put(f"{name}: .branchtargets {', '.join(labels)};")
        self.put(f"rem.u32 %t, {self.reg('r')}, 3;")
        self.put(f"brx.idx %t, {name};")
        for label in labels:
            self.put(f"{label}:")
            self.some(3)
            self.put(f"bra {end};")
        self.put(f"{end}:")

    def loop(self):
        top = self.label()
        self.put(f"and.b32 %n, {self.reg('r')}, 3;")
        self.put(f"{top}:")
        self.loops = False
        self.some(5)
        self.loops = True
        self.put("sub.u32 %n, %n, 1;")
        self.put("setp.gt.s32 %p3, %n, 0;")
        self.put(f"@%p3 bra {top};")

    def exchange(self):
        self.put(f"activemask.b32 {self.reg('r')};")
        if self.chance.random() < 0.5:
            self.put(f"activemask.b32 %t; vote.sync.ballot.b32 {self.reg('r')}, {self.reg('p')}, %t;")

    def early(self):
        if self.depth < 3:
            self.put(f"@{self.reg('p')} ret;")

    def call(self):
        if self.callees:
            self.call_of(self.chance.choice(self.callees), self.guard())

    def call_of(self, f, guard):
        if f.meets:
            self.put(f"{guard}activemask.b32 %m;")
        self.put("{")
        arguments, results = ["%o", "%m", "%e"] if f.in_registers else ["io", "im", "ie"], []
        if not f.in_registers:
            self.put(".param .b64 io; st.param.b64 [io], %o; .param .b32 im; st.param.b32 [im], %m; .param .b32 ie; st.param.b32 [ie], %e;")
        for k, kind in enumerate(f.params):
            if f.in_registers:
                arguments.append(self.value("r" if kind == "b32" else "d"))
                continue
            self.put(f"{f.formal(kind, f'x{k}')};")
            if self.chance.random() < 0.95:
                self.all_of("st", f"x{k}", kind)
            arguments.append(f"x{k}")
        for k, kind in enumerate(f.returns):
            if not f.in_registers:
                self.put(f"{f.formal(kind, f'y{k}')};")
            results.append(self.element(kind) if f.in_registers else f"y{k}")
        if len(set(results)) < len(results):
            results = ["%r0" if kind == "b32" else "%d0" for kind in f.returns[:1]] + ["%r1" if kind == "b32" else "%d1" for kind in f.returns[1:]]
        head = f"({', '.join(results)}), " if results else ""
        self.put(f"mov.u64 %w, {f.name};")
        self.labels += 1
        if self.how == "address":
            self.put(f"P{self.labels}: .callprototype {f.signature(False)}; {guard}call {head}%w, ({', '.join(arguments)}), P{self.labels};")
        else:
            self.put(f"{guard}call {head}{f.name}, ({', '.join(arguments)});")
        for k, kind in enumerate(f.returns):
            if not f.in_registers and self.chance.random() < 0.9:
                self.all_of("ld", f"y{k}", kind)
        self.put("}")

    def some(self, most):
        if self.depth > 3:
            return
        self.depth += 1
        for _ in range(self.chance.randrange(1, most + 1)):
            if self.left <= 0:
                break
            self.left -= 1
            kinds = [self.operation] * 8 + [self.convert] * 2 + [self.predicate] * 3 + [self.memory] * 2 + [self.branch, self.call, self.call, self.early]
            kinds += [self.table] * (self.chance.random() < 0.3) + [self.loop] * self.loops + [self.exchange] * self.exchanges
            self.chance.choice(kinds)()
        self.depth -= 1

    def text(self):
        while self.left > 0:
            self.some(8)
        return "\n  ".join(self.lines)


def function_text(chance, f, how):
    body = Body(chance, how, f.size, f.callees, f.loops, f.exchanges)
    keeps = ".local .align 8 .b32 kept[4];" if f.keeps else ""
    body.put("mov.b64 %o, out; mov.b32 %m, here; mov.b32 %e, deep;" if f.in_registers
             else "ld.param.b64 %o, [out]; ld.param.b32 %m, [here]; ld.param.b32 %e, [deep];")
    if f.meets:
        body.put(chance.choice(("bar.warp.sync %m;", "shfl.sync.bfly.b32 %r1, %m, 1, 31, %m;", "vote.sync.ballot.b32 %r2, %p0, %m;", "redux.sync.xor.b32 %r3, %m, %m;")))
    for k, kind in enumerate(f.params):
        if not f.in_registers:
            if chance.random() < 0.9:
                body.all_of("ld", f"a{k}", kind)
        else:
            body.put(f"mov.{kind} {body.element(kind)}, a{k};")
    if f.keeps:
        body.put(f"mov.u64 %d1, kept; add.u64 %d2, %d1, 4; ld.local.u32 %r1, [%d2]; st.local.u32 [%d2], {body.reg('r')}; ld.local.u32 %r2, [kept+4];")
    if f.returns_to:
        body.put("setp.ne.u32 %q, %e, 0; @%q sub.u32 %e, %e, 1;")
        body.some(4)
        body.call_of(f.returns_to, "@%q ")
    text = body.text()
    body.lines = []
    for k, kind in enumerate(f.returns):
        if not f.in_registers:
            if chance.random() < 0.95:
                body.all_of("st", f"z{k}", kind)
        elif chance.random() < 0.95:
            body.put(f"{chance.choice(('', '', '@%p1 '))}mov.{kind} z{k}, {chance.choice((body.element(kind), chance.randrange(100)))};")
    end = "\n  ".join(body.lines)
    return f".func {f.signature(True)}\n{{\n  {REGISTERS} {keeps}\n  {text}\n  {end}\n  ret;\n}}\n"


def program(seed, how):
    """`how`: name, address or both. The random choices do not depend on it."""
    chance = random.Random(seed)
    functions = []
    for number in range(chance.randrange(1, 6)):
        functions.append(Function(chance, number, functions))
    for f in functions:
        if chance.random() < 0.15:
            f.returns_to = chance.choice(functions)
    texts = [f".func {f.signature(True)};\n" for f in functions] + [function_text(chance, f, how) for f in functions]
    kernel = Body(chance, how, 24, functions, True, True)
    for k in range(8):
        kernel.put(f"mad.lo.u32 %r{k}, %t, {chance.randrange(1, 9)}, {chance.randrange(1000)};")
    kernel.put(f"mov.u32 %m, 0; mov.u32 %e, {chance.randrange(4)};")
    kernel.put("cvt.u64.u32 %d0, %t; cvt.u16.u32 %h0, %t; setp.lt.u32 %p0, %t, 20; setp.ne.u32 %p1, %r2, 7;")
    body = kernel.text()
    stores = "\n  ".join([f"st.global.u32 [%o+{32 + 4 * k}], %r{k};" for k in range(8)] + [f"st.global.u64 [%o+{64 + 8 * k}], %d{k};" for k in range(4)])
    beside = "proto: .callprototype _ ();\n  call %w, proto;\n  ret;" if how == "both" else ""
    return HEAD + "".join(texts) + (f".visible .entry k(.param .u64 to)\n{{\n  {REGISTERS}\n  ld.param.u64 %o, [to];\n  mov.u32 %t, %tid.x;\n"
                                    f"  mad.wide.u32 %o, %t, 96, %o;\n  {body}\n  {stores}\n  ret;\n  {beside}\n}}\n")


def outcome(options, folder, text, engine, warps):
    path = pathlib.Path(folder) / "program.ptx"
    path.write_text(text)
    command = [str(options.lanewise), "run", "--engine", engine, "--stats=json", "-b", str(32 * warps), "-a", f"u32[{24 * 32 * warps}]=1:print", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=TIME_LIMIT, env=os.environ | {"LANEWISE_HOT": "0"})
    kept = [f"exit {done.returncode}"]
    if engine == "jit" and done.returncode == 3:
        return kept  # which of several warps traps first is the compiler's affair: decision 19
    for line in (done.stdout + done.stderr).splitlines():
        if line.startswith('{"kernel'):
            counted = json.loads(line)
            names = ("warp_instructions", "lane_instructions", "notes")
            line = str([counted[name] for name in names])
        kept.append(line)
    return kept


def compare(options, seed, folder):
    """The three of one seed. False: they differ."""
    warps = 1 + seed % 5
    engines = ["interp"] + (["jit"] if options.jit_every and seed % options.jit_every == 0 else [])
    for engine in engines:
        want = outcome(options, folder, program(seed, "address"), engine, warps)
        if want[0] not in ("exit 0", "exit 3"):
            print(f"seed {seed}: the program does not run:\n" + "\n".join(want[:12]))
            return None
        for how in ("name", "both"):
            came = outcome(options, folder, program(seed, how), engine, warps)
            if came != want:
                at = next((k for k, (a, b) in enumerate(zip(want, came)) if a != b), min(len(want), len(came)))
                print(f"seed {seed}, {engine}, {how}: differs\n  by address: {want[at:at + 1]}\n  by name:    {came[at:at + 1]}"[:1500])
                return None
    return want[0]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lanewise", required=True)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--jit-every", type=int, default=0, help="every so many programs in the compiler, too")
    parser.add_argument("--print", choices=("name", "address", "both"), help="the text of the first program")
    options = parser.parse_args()
    if options.print:
        print(program(options.first, options.print))
        return 0
    wrong, ends = 0, {}
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(options.first, options.first + options.count):
            end = compare(options, seed, folder)
            wrong += end is None
            ends[end] = ends.get(end, 0) + 1
    print(f"{options.count} programs: {ends.get('exit 0', 0)} ended, {ends.get('exit 3', 0)} trapped, {wrong} wrong")
    if not wrong and options.count >= 50 and min(ends.get("exit 0", 0), ends.get("exit 3", 0)) == 0:
        print("they end all in the same way: this shows little")
        return 1
    return wrong != 0


if __name__ == "__main__":
    sys.exit(main())
