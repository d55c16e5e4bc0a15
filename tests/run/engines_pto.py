"""Random PTO functions for engines.py: registers of all types and several widths, masks, shifts by counts beyond the width, memory at both ends of
an array and beyond, rows that overlap, loops with bounds of run time, branches, values that are carried, registers written again."""

import random

BINARY = ("vadd", "vsub", "vmul", "vmin", "vmax", "vand", "vor", "vxor")
SHIFTS = ("vshl", "vshr")
UNARY = ("vneg", "vabs", "vnot")
WORDS = ("eq", "ne", "lt", "le", "gt", "ge")
TYPES = ("i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64")
WIDTHS = (1, 3, 4, 16, 32, 48, 64, 64, 64, 100, 128, 128, 200, 256, 1024)


class Function:
    def __init__(self, chance, size):
        self.chance, self.lines, self.names, self.depth, self.left = chance, [], 0, 0, size
        self.type = chance.choice(TYPES)
        self.bits = int(self.type[1:])
        self.widths = [chance.choice(WIDTHS)]
        if chance.random() < 0.2:
            self.widths.append(chance.choice(WIDTHS))
        self.widths = list(dict.fromkeys(self.widths))
        self.repeats = chance.random() < 0.6
        self.stores = chance.random() < (0.5 if self.repeats else 0.9)
        self.wild = chance.random() < 0.15  # counts of any size
        self.offsets = chance.choice(("mod", "mod", "none"))
        self.scope = {"index": ["%n", "%o", "%c0", "%c1", "%c3"], "scalar": ["%k"]}
        for w in self.widths:
            self.scope["v", w], self.scope["m", w] = [], []
        self.fixed = {}  # names that every region sees and that may be written again

    def v(self, w):
        return f"!pto.vreg<{w}x{self.type}>"

    def m(self, w):
        return f"!pto.mask<{w}>"

    def memory(self):
        return f"memref<?x{self.type}>"

    def put(self, text):
        self.lines.append("  " * (self.depth + 1) + text)

    def new(self, key):
        self.names += 1
        return f"%x{self.names}", key

    def add(self, made):
        self.scope[made[1]].append(made[0])

    def get(self, key):
        return self.chance.choice(self.scope[key][-8:] if self.chance.random() < 0.7 else self.scope[key])

    def width(self):
        return self.chance.choice(self.widths)

    # ---- operations

    def lanes(self):
        w = self.width()
        v, m = self.v(w), self.m(w)
        kind = self.chance.randrange(10)
        mask = self.get(("m", w))
        again = self.chance.random() < 0.3
        target = self.chance.choice(self.fixed[w]) if again else None
        op = self.chance.choice(SHIFTS if kind < 3 else BINARY)
        if kind < 7:
            a, b = self.get(("v", w)), self.get(("v", w))
            if op in SHIFTS and not self.wild:
                b = self.chance.choice(self.small[w])
            if again:
                self.put(f"{op} {target}, {a}, {b}, {mask} : {v}")
                return
            made = self.new(("v", w))
            self.put(f"{made[0]} = pto.{op} {a}, {b}, {mask} : ({v}, {v}, {m}) -> {v}")
        elif kind == 7:
            op = self.chance.choice(UNARY)
            made = self.new(("v", w))
            self.put(f"{made[0]} = pto.{op} {self.get(('v', w))}, {mask} : ({v}, {m}) -> {v}")
        elif kind == 8:
            made = self.new(("v", w))
            self.put(f"{made[0]} = pto.vsel {self.get(('v', w))}, {self.get(('v', w))}, {mask} : ({v}, {v}, {m}) -> {v}")
        else:
            made, carry = self.new(("v", w)), self.new(("m", w))
            self.put(f"{made[0]}, {carry[0]} = pto.vaddc {self.get(('v', w))}, {self.get(('v', w))}, {self.get(('m', w))}, {mask} : ({v}, {v}, {m}, {m}) -> ({v}, {m})")
            self.add(carry)
        self.add(made)

    def mask(self):
        w = self.width()
        v, m, made = self.v(w), self.m(w), self.new(("m", w))
        kind = self.chance.randrange(5)
        if kind == 0:
            self.put(f"{made[0]} = pto.mask.first {self.get('index')} : index -> {m}")
        elif kind == 1:
            self.put(f"{made[0]} = pto.mask.bits {self.chance.getrandbits(w):#x} : {m}")
        elif kind == 2:
            self.put(f"{made[0]} = pto.mask.{self.chance.choice(('and', 'or', 'xor'))} {self.get(('m', w))}, {self.get(('m', w))} : ({m}, {m}) -> {m}")
        elif kind == 3:
            self.put(f"{made[0]} = pto.mask.not {self.get(('m', w))} : ({m}) -> {m}")
        else:
            self.put(f"{made[0]} = pto.vcmp {self.chance.choice(WORDS)}, {self.get(('v', w))}, {self.get(('v', w))}, {self.get(('m', w))} : ({v}, {v}, {m}) -> {m}")
        self.add(made)

    def place(self):
        """An index within the arrays, nearly always."""
        name = self.get("index")
        if self.offsets == "none" and self.chance.random() < 0.1:
            return name
        made = self.new("index")
        self.put(f"{made[0]} = arith.remui {name}, %room : index")
        return made[0]

    def row(self):
        w = self.width()
        v, m = self.v(w), self.m(w)
        at, array, mask = self.place(), self.chance.choice(("%x", "%x", "%y")), self.get(("m", w))
        if self.chance.random() < 0.5:
            mask = f"%all{w}"
        if self.stores and self.chance.random() < 0.5:
            self.put(f"pto.vstore {self.get(('v', w))}, {array}[{at}], {mask} : ({v}, {self.memory()}, {m})")
        elif self.chance.random() < 0.35:
            self.put(f"vload {self.chance.choice(self.fixed[w])}, {array}[{at}], {mask} : {v}")
        else:
            made = self.new(("v", w))
            self.put(f"{made[0]} = pto.vload {array}[{at}], {mask} : ({self.memory()}, {m}) -> {v}")
            self.add(made)

    def neighbours(self):
        """x[i + d] = f(x[i])."""
        if not self.stores:
            return
        w = self.width()
        v, m, at = self.v(w), self.m(w), self.place()
        a, b, there = self.new(("v", w)), self.new(("v", w)), self.new("index")
        self.put(f"{there[0]} = arith.addi {at}, {self.chance.choice(('%c1', '%c3'))} : index")
        self.put(f"{a[0]} = pto.vload %x[{at}], %all{w} : ({self.memory()}, {m}) -> {v}")
        self.put(f"{b[0]} = pto.vadd {a[0]}, {self.get(('v', w))}, %all{w} : ({v}, {v}, {m}) -> {v}")
        self.put(f"pto.vstore {b[0]}, %x[{there[0]}], {self.get(('m', w))} : ({v}, {self.memory()}, {m})")

    def scalar(self):
        kind = self.chance.randrange(4)
        if kind == 0:
            made = self.new("index")
            self.put(f"{made[0]} = arith.{self.chance.choice(('addi', 'subi', 'muli', 'andi', 'maxsi', 'shrui'))} {self.get('index')}, {self.get('index')} : index")
        elif kind == 1:
            made = self.new("scalar")
            self.put(f"{made[0]} = arith.{self.chance.choice(('addi', 'muli', 'xori', 'minsi', 'shrsi', 'shli'))} {self.get('scalar')}, {self.get('scalar')} : {self.type}")
        elif kind == 2:
            made = self.new("scalar")
            self.put(f"{made[0]} = arith.index_cast {self.get('index')} : index to {self.type}")
        else:
            w = self.width()
            made = self.new(("v", w))
            self.put(f"{made[0]} = pto.vbroadcast {self.get('scalar')} : {self.type} -> {self.v(w)}")
        self.add(made)

    # ---- regions

    def region(self, most):
        kept = {k: list(names) for k, names in self.scope.items()}
        self.depth += 1
        self.some(most)
        self.depth -= 1
        inner, self.scope = self.scope, kept
        return inner

    def loop(self):
        w = self.width()
        carried = [("v", w), "index"][: self.chance.randrange(3)]
        types = [self.v(w), "index"][: len(carried)]
        start = [self.get(k) for k in carried]
        inner = [self.new(k) for k in carried]
        made = [self.new(k) for k in carried]
        i = self.new("index")
        upper = self.chance.choice(("%n", "%n", "%c3", "%o"))
        head = f"scf.for {i[0]} = {self.chance.choice(('%c0', '%c0', '%c1'))} to {upper} step {self.chance.choice(('%c1', '%c1', '%c3'))}"
        if carried:
            pairs = ", ".join(f"{a[0]} = {b}" for a, b in zip(inner, start))
            head = f"{', '.join(x[0] for x in made)} = {head} iter_args({pairs}) -> ({', '.join(types)})"
        self.put(head + " {")
        kept = {k: list(names) for k, names in self.scope.items()}
        for x in (*inner, i):
            self.add(x)
        scope = self.region(8)
        if carried:
            self.depth += 1
            self.put(f"scf.yield {', '.join(scope[k][-1] if scope[k] else s for k, s in zip(carried, start))} : {', '.join(types)}")
            self.depth -= 1
        self.scope = kept
        self.put("}")
        for x in made:
            self.add(x)

    def branch(self):
        condition = self.new("index")[0]
        self.put(f"{condition} = arith.cmpi {self.chance.choice(('slt', 'eq', 'ne', 'uge'))}, {self.get('index')}, {self.get('index')} : index")
        w = self.width()
        gives = [("v", w), "scalar"][: self.chance.randrange(3)]
        types = [self.v(w), self.type][: len(gives)]
        made = [self.new(k) for k in gives]
        head = f"scf.if {condition}"
        if gives:
            head = f"{', '.join(x[0] for x in made)} = {head} -> ({', '.join(types)})"
        self.put(head + " {")
        for part in range(2 if gives or self.chance.random() < 0.5 else 1):
            if part:
                self.put("} else {")
            scope = self.region(5)
            if gives:
                self.depth += 1
                self.put(f"scf.yield {', '.join(scope[k][-1] for k in gives)} : {', '.join(types)}")
                self.depth -= 1
        self.put("}")
        for x in made:
            self.add(x)

    def some(self, most):
        for _ in range(self.chance.randrange(1, most)):
            if self.left <= 0:
                return
            self.left -= 1
            kinds = [self.lanes] * 10 + [self.mask] * 3 + [self.row] * 4 + [self.scalar] * 3 + [self.neighbours]
            if self.depth < 3:
                kinds += [self.loop, self.loop, self.branch]
            self.chance.choice(kinds)()

    def text(self):
        arguments = [f"%x: {self.memory()}", f"%y: {self.memory()}", "%n: index", "%o: index", f"%k: {self.type}"]
        self.small = {}
        start = ["%c0 = arith.constant 0 : index", "%c1 = arith.constant 1 : index", "%c3 = arith.constant 3 : index", "%room = arith.constant 40 : index"]
        for w in self.widths:
            v, m = self.v(w), self.m(w)
            start += [f"%all{w} = pto.mask.all : {m}", f"%s{w} = arith.constant {self.chance.randrange(self.bits)} : {self.type}",
                      f"%small{w} = pto.vbroadcast %s{w} : {self.type} -> {v}", f"%b{w} = pto.vbroadcast %k : {self.type} -> {v}",
                      f"%some{w} = pto.mask.first %n : index -> {m}", f"%old{w} = pto.vload %y[%c0], %all{w} : ({self.memory()}, {m}) -> {v}",
                      f"%seven{w} = arith.constant {self.bits - 1} : {self.type}", f"%most{w} = pto.vbroadcast %seven{w} : {self.type} -> {v}",
                      f"%less{w} = pto.vand %old{w}, %most{w}, %all{w} : ({v}, {v}, {m}) -> {v}"]
            for k in range(2):
                start.append(self.chance.choice((f"vadd %f{k}_{w}, %b{w}, %old{w}, %some{w} : {v}", f"vbroadcast %f{k}_{w}, %k : {v}")))
            self.fixed[w] = [f"%f0_{w}", f"%f1_{w}"]
            self.small[w] = [f"%small{w}", f"%less{w}"]
            self.scope["v", w] += [f"%b{w}", f"%old{w}", *self.fixed[w]]
            self.scope["m", w] += [f"%all{w}", f"%all{w}", f"%some{w}"]
            if self.repeats:
                arguments += [f"%a{w}: {v}", f"%m{w}: {m}"]
                self.scope["v", w].append(f"%a{w}")
                self.scope["m", w].append(f"%m{w}")
        while self.left > 0:
            self.some(8)
        results = [(self.scope["v", w][-1], self.v(w)) for w in self.widths] + [(self.scope["m", w][-1], self.m(w)) for w in self.widths]
        results += [(name, self.v(w)) for w in self.widths for name in self.fixed[w]]
        if not self.repeats:
            w = self.widths[0]
            tail = [f"pto.vstore {self.fixed[w][0]}, %y[%c0], %all{w} : ({self.v(w)}, {self.memory()}, {self.m(w)})"]
            results = []
        else:
            tail = []
        given = f" -> ({', '.join(t for _, t in results)})" if results else ""
        lines = [f"func.func @f({', '.join(arguments)}){given} {{", *("  " + s for s in start), *self.lines, *("  " + s for s in tail)]
        lines.append("  return" + (f" {', '.join(n for n, _ in results)} : {', '.join(t for _, t in results)}" if results else ""))
        return "\n".join([*lines, "}", ""])

    def run(self):
        chance, spelled = self.chance, ("s" if self.type[0] == "i" else "u") + self.type[1:]
        size = max(self.widths) + 48
        n, o = chance.choice((0, 1, 2, 5, 5, max(self.widths), -1)), chance.choice((0, 0, 1, 2, 7, 39))
        memory = f"{spelled}[{size}]=random:print"
        values = [memory, memory, f"s64={n}", f"s64={o}", f"{spelled}={chance.choice((0, 1, 3, self.bits - 1, self.bits, 100))}"]
        if self.repeats:
            count = chance.choice((1, 2, 3, 4, 7, 40)) if max(self.widths) > 8 else chance.choice((1, 50, 333, 5000))
            for w in self.widths:
                total = count * w - (chance.choice((0, 0, w // 3)) if len(self.widths) == 1 else 0)
                values += [f"{spelled}[{max(1, total)}]=random", f"u8[{max(1, total)}]=random:0:2"]
        extra = chance.choice(([], [], ["--inactive", "undef-poison"], ["--shift-overflow", "modulo"], ["--shift-overflow", "trap"], ["--step-limit", "500"]))
        return ["--func", "f", *(x for v in values for x in ("-a", v)), "--threads", "1", "--timeout", "20", *extra]


def programs(seed, count):
    for n in range(count):
        chance = random.Random(f"pto {seed} {n}")
        function = Function(chance, chance.choice((6, 15, 30, 60)))
        text = function.text()
        yield f"{seed}_{n}", text, [function.run() for _ in range(2)]
