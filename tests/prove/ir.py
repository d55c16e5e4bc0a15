"""Functions in LLVM's intermediate code, as text, turned into bit-vector terms of z3.

A value is a pair: its bits, and a condition under which it is poison (LLVM's mark of a result that C leaves undefined). Poison spreads
as LLVM's language reference has it: through every operation, but not from the arm of a select or phi that is not taken. To branch
on it, to return it, to divide by zero and to reach `unreachable` or a trap is undefined; the conditions are gathered. Only integers and
control flow without cycles are known. Whatever else occurs is an error: nothing is passed over.
"""

import re

import z3

TYPE = r"(?:i\d+|\{ i\d+, i1 \})"
NAME = r'%(?:[-\w.$]+|"[^"]*")'
TRUE, FALSE = z3.BoolVal(True), z3.BoolVal(False)


class Unknown(Exception):
    """Something in the code that this translator does not know."""


def either(*conditions):
    kept = [c for c in conditions if not z3.is_false(c)]
    if any(z3.is_true(c) for c in kept):
        return TRUE
    return z3.Or(*kept) if len(kept) > 1 else kept[0] if kept else FALSE


def both(*conditions):
    kept = [c for c in conditions if not z3.is_true(c)]
    if any(z3.is_false(c) for c in kept):
        return FALSE
    return z3.And(*kept) if len(kept) > 1 else kept[0] if kept else TRUE


def opposite(c):
    return FALSE if z3.is_true(c) else TRUE if z3.is_false(c) else z3.Not(c)


def choose(c, a, b):
    """c ? a : b, of bits or of conditions."""
    if z3.is_true(c) or a.eq(b):
        return a
    return b if z3.is_false(c) else z3.If(c, a, b)


def as_bit(c):
    return choose(c, z3.BitVecVal(1, 1), z3.BitVecVal(0, 1))


def width_of(text):
    if not re.fullmatch(r"i\d+", text):
        raise Unknown(f"type {text}")
    return int(text[1:])


# ---- Reading ---------------------------------------------------------------------------------------------


def split_commas(text):
    """At the commas outside of brackets."""
    parts, depth, at = [], 0, 0
    for i, ch in enumerate(text):
        depth += (ch in "([{<") - (ch in ")]}>")
        if ch == "," and depth == 0:
            parts.append(text[at:i].strip())
            at = i + 1
    return [part for part in parts + [text[at:].strip()] if part]


class Function:
    """Name, result type, parameters [(width, name)], blocks {label: [instruction]} of which the first is the entry."""

    def __init__(self, header):
        match = re.fullmatch(r"define (.*?)@([\w.]+)\((.*)\)[^()]*\{", header)
        if not match:
            raise Unknown(header)
        result = re.findall(rf"\b{TYPE}(?= $)", match[1])
        if not result:
            raise Unknown(header)
        self.name, self.width, self.parameters, self.blocks = match[2], width_of(result[0]), [], {}
        for text in split_commas(match[3]):
            words = text.split()
            self.parameters.append((width_of(words[0]), words[-1]))


def read_module(text):
    """(functions, 32-bit constants) by name."""
    functions, constants, function, block = {}, {}, None, None
    lines = iter(text.splitlines())
    for line in lines:
        line = re.sub(r"\s*;.*$", "", line)  # comments; no string has a semicolon here
        line = re.sub(r"(, !\S+ !\S+)+$", "", line).rstrip()  # metadata
        if function is None:
            if line.startswith("define "):
                function = Function(line)
                functions[function.name] = function
            elif match := re.match(r"@([\w.]+) = .*constant i32 (-?\d+)", line):
                constants[match[1]] = int(match[2]) & 0xFFFFFFFF
        elif line == "}":
            function = None
        elif match := re.fullmatch(r'([-\w.$]+|"[^"]*"):', line):
            block = function.blocks.setdefault("%" + match[1], [])
        elif line:
            while line.endswith("[") or (line.lstrip().startswith("switch") and not line.endswith("]")):
                line += " " + next(lines).strip()
            block.append(line.strip())
    return functions, constants


# ---- Meaning of the operations -----------------------------------------------------------------------------


def significant(a, signed):
    """Bits of a type, signed or not, that has all values of an extended term."""
    kind, inner = a.decl().kind(), a.arg(0).size() if a.num_args() and z3.is_bv(a.arg(0)) else 0
    if kind == z3.Z3_OP_SIGN_EXT and signed:
        return inner
    return inner + signed if kind == z3.Z3_OP_ZERO_EXT else a.size()


def overflows(op, a, b, signed):
    """Whether add, sub or mul leaves the range of the type. A product has no more bits than both factors: else a solver would multiply."""
    width = a.size()
    if op == "mul" and significant(a, signed) + significant(b, signed) <= width:
        return FALSE
    extend = z3.SignExt if signed else z3.ZeroExt
    more = width if op == "mul" else 1
    x, y = extend(more, a), extend(more, b)
    wide = {"add": x + y, "sub": x - y, "mul": x * y}[op]
    return wide != extend(more, z3.Extract(width - 1, 0, wide))


def binary(op, flags, a, b):
    """(bits, poison, undefined)."""
    n = a.size()
    poison, undefined = [], FALSE
    if op in ("shl", "lshr", "ashr"):
        value = {"shl": lambda: a << b, "lshr": lambda: z3.LShR(a, b), "ashr": lambda: a >> b}[op]()
        poison.append(z3.UGE(b, z3.BitVecVal(n, n)))
        if "nuw" in flags:
            poison.append(z3.LShR(value, b) != a)
        if "nsw" in flags:
            poison.append((value >> b) != a)
        if "exact" in flags:
            poison.append((value << b) != a)
    elif op in ("add", "sub", "mul"):
        value = {"add": a + b, "sub": a - b, "mul": a * b}[op]
        poison += [overflows(op, a, b, False)] if "nuw" in flags else []
        poison += [overflows(op, a, b, True)] if "nsw" in flags else []
    elif op in ("and", "or", "xor"):
        value = {"and": a & b, "or": a | b, "xor": a ^ b}[op]
        poison += [(a & b) != 0] if "disjoint" in flags else []
    elif op in ("udiv", "urem"):
        value, undefined = (z3.UDiv(a, b) if op == "udiv" else z3.URem(a, b)), b == 0
        if "exact" in flags:
            poison.append(z3.URem(a, b) != 0)
    else:
        raise Unknown(op)
    return value, either(*poison), undefined


COMPARE = {
    "eq": lambda a, b: a == b, "ne": lambda a, b: a != b,
    "ult": z3.ULT, "ule": z3.ULE, "ugt": z3.UGT, "uge": z3.UGE,
    "slt": lambda a, b: a < b, "sle": lambda a, b: a <= b, "sgt": lambda a, b: a > b, "sge": lambda a, b: a >= b,
}  # fmt: skip


def bits_of(a):
    return [z3.Extract(i, i, a) for i in range(a.size())]


def zeros_before(a, order):
    """The number of zero bits before the first one in that order."""
    n = a.size()
    count = z3.BitVecVal(n, n)
    for place, i in reversed(list(enumerate(order))):
        count = z3.If(z3.Extract(i, i, a) == 1, z3.BitVecVal(place, n), count)
    return count


def intrinsic(name, args):
    """(bits, poison) of a call; with_overflow gives a pair as bits."""
    a = args[0]
    n = a.size()
    if name in ("fshl", "fshr"):
        amount = z3.ZeroExt(n, z3.URem(args[2], z3.BitVecVal(n, n)) if n & (n - 1) else args[2] & (n - 1))
        pair = z3.Concat(a, args[1])
        return (z3.Extract(2 * n - 1, n, pair << amount) if name == "fshl" else z3.Extract(n - 1, 0, z3.LShR(pair, amount))), FALSE
    if name in ("umin", "umax", "smin", "smax"):
        first = {"umin": z3.ULT, "umax": z3.UGT, "smin": COMPARE["slt"], "smax": COMPARE["sgt"]}[name](a, args[1])
        return z3.If(first, a, args[1]), FALSE
    if name == "ctpop":
        return sum((z3.ZeroExt(n - 1, bit) if n > 1 else bit for bit in bits_of(a)), z3.BitVecVal(0, n)), FALSE
    if name in ("ctlz", "cttz"):
        order = range(n - 1, -1, -1) if name == "ctlz" else range(n)
        return zeros_before(a, order), both(args[1] == 1, a == 0)
    if name == "abs":
        return z3.If(a < 0, -a, a), both(args[1] == 1, a == z3.BitVecVal(1 << (n - 1), n))
    if name == "usub.sat":
        return z3.If(z3.ULT(a, args[1]), z3.BitVecVal(0, n), a - args[1]), FALSE
    if name == "uadd.sat":
        return z3.If(overflows("add", a, args[1], False), z3.BitVecVal(-1, n), a + args[1]), FALSE
    if name in ("sadd.sat", "ssub.sat"):
        op = name[1:4]
        least = z3.BitVecVal(1 << (n - 1), n)
        limit = z3.If(a < 0, least, least - 1)  # what overflows has the sign of the first operand
        return z3.If(overflows(op, a, args[1], True), limit, binary(op, "", a, args[1])[0]), FALSE
    if name == "bswap":
        return z3.Concat(*[z3.Extract(i + 7, i, a) for i in range(0, n, 8)]), FALSE
    if name == "bitreverse":
        return z3.Concat(*bits_of(a)), FALSE
    if match := re.fullmatch(r"([su])(add|sub|mul)\.with\.overflow", name):
        value, _, _ = binary(match[2], "", a, args[1])
        return (value, as_bit(overflows(match[2], a, args[1], match[1] == "s"))), FALSE
    raise Unknown(f"intrinsic {name}")


# ---- A function ----------------------------------------------------------------------------------------------


def in_order(function):
    """The labels, each after all blocks that lead to it."""
    after, done, open_ = [], set(), set()

    def visit(label):
        if label in open_:
            raise Unknown(f"{function.name}: a loop that was not unrolled, at {label}")
        if label in done:
            return
        open_.add(label)
        for target in re.findall(rf"label ({NAME})", function.blocks[label][-1]):
            visit(target)
        open_.remove(label)
        done.add(label)
        after.append(label)

    visit(next(iter(function.blocks)))
    return after[::-1]


class Translation:
    """bits: the result. undefined: the condition under which the function does what C leaves undefined."""

    def __init__(self, function, arguments):
        self.function, self.values, self.reached, self.edges = function, {}, {}, {}
        self.faults, self.returned = [], []
        for (width, name), term in zip(function.parameters, arguments, strict=True):
            assert term.size() == width
            self.values[name] = (term, FALSE)
        entry = next(iter(function.blocks))
        for label in in_order(function):
            into = [condition for (_, to), condition in self.edges.items() if to == label]
            self.here = TRUE if label == entry else either(*into)
            self.label = label
            for line in function.blocks[label]:
                try:
                    self.step(line)
                except Unknown as error:
                    raise Unknown(f"{function.name}: {error}: {line}") from None
        if not self.returned:
            raise Unknown(f"{function.name} never returns")
        self.bits = self.returned[-1][1]
        for condition, bits in self.returned[-2::-1]:
            self.bits = choose(condition, bits, self.bits)
        self.undefined = either(*self.faults)

    def operand(self, width, text):
        if text.startswith("%"):
            return self.values[text]
        if text in ("undef", "poison"):  # undef is weaker than poison: to take it for that is on the safe side
            return z3.BitVecVal(0, width), TRUE
        text = {"true": "1", "false": "0"}.get(text, text)
        if not re.fullmatch(r"-?\d+", text):
            raise Unknown(f"operand {text}")
        return z3.BitVecVal(int(text), width), FALSE

    def fault(self, condition):
        self.faults.append(both(self.here, condition))

    def edge(self, target, condition):
        key = (self.label, target)
        self.edges[key] = either(self.edges.get(key, FALSE), both(self.here, condition))

    def step(self, line):
        if match := re.fullmatch(rf"({NAME}) = (.*)", line):
            self.values[match[1]] = self.value(match[2])
        elif match := re.fullmatch(rf"br label ({NAME})", line):
            self.edge(match[1], TRUE)
        elif match := re.fullmatch(rf"br i1 (\S+), label ({NAME}), label ({NAME})", line):
            bit, poison = self.operand(1, match[1])
            self.fault(poison)
            self.edge(match[2], bit == 1)
            self.edge(match[3], opposite(bit == 1))
        elif match := re.fullmatch(rf"switch (i\d+) (\S+), label ({NAME}) \[(.*)\]", line):
            self.switch(width_of(match[1]), match[2], match[3], match[4])
        elif match := re.fullmatch(r"ret (i\d+) (\S+)", line):
            bits, poison = self.operand(width_of(match[1]), match[2])
            self.fault(poison)
            self.returned.append((self.here, bits))
        elif line == "unreachable" or re.match(r"(tail )?call void @llvm\.(ubsantrap|trap)\(", line):
            self.fault(TRUE)
        else:
            raise Unknown("instruction")

    def switch(self, width, value, default, cases):
        bits, poison = self.operand(width, value)
        self.fault(poison)
        pairs = re.findall(rf"i\d+ (-?\d+|true|false), label ({NAME})", cases)
        if len(pairs) != cases.count("label"):
            raise Unknown("switch")
        for number, target in pairs:
            self.edge(target, bits == self.operand(width, number)[0])
        self.edge(default, both(*[bits != self.operand(width, number)[0] for number, _ in pairs]))

    def value(self, text):
        op, _, rest = text.partition(" ")
        if op in ("tail", "notail", "call"):
            return self.call(text)
        if match := re.fullmatch(rf"phi (i\d+) (\[.*\])", text):
            arms = re.findall(rf"\[ (\S+), ({NAME}) \]", match[2])
            if len(arms) != match[2].count("["):
                raise Unknown("phi")
            bits, poison = self.operand(width_of(match[1]), arms[-1][0])
            for value, label in arms[-2::-1]:
                other, its_poison = self.operand(width_of(match[1]), value)
                taken = self.edges.get((label, self.label), FALSE)
                bits, poison = choose(taken, other, bits), choose(taken, its_poison, poison)
            return bits, poison
        if match := re.fullmatch(r"select i1 (\S+), (i\d+) (\S+), \2 (\S+)", text):
            c, c_poison = self.operand(1, match[1])
            (a, a_poison), (b, b_poison) = (self.operand(width_of(match[2]), match[i]) for i in (3, 4))
            return choose(c == 1, a, b), either(c_poison, choose(c == 1, a_poison, b_poison))
        if match := re.fullmatch(r"icmp (samesign )?(\w+) (i\d+) (\S+), (\S+)", text):
            (a, a_poison), (b, b_poison) = (self.operand(width_of(match[3]), match[i]) for i in (4, 5))
            signs = z3.Extract(a.size() - 1, a.size() - 1, a ^ b) == 1 if match[1] else FALSE
            return as_bit(COMPARE[match[2]](a, b)), either(a_poison, b_poison, signs)
        if match := re.fullmatch(r"(zext|sext|trunc) ((?:nneg |nuw |nsw )*)(i\d+) (\S+) to (i\d+)", text):
            return self.convert(match[1], match[2], width_of(match[5]), *self.operand(width_of(match[3]), match[4]))
        if match := re.fullmatch(r"freeze (i\d+) (\S+)", text):
            bits, poison = self.operand(width_of(match[1]), match[2])
            return choose(poison, z3.FreshConst(bits.sort(), "frozen"), bits), FALSE
        if match := re.fullmatch(r"extractvalue \{ i\d+, i1 \} (\S+), ([01])", text):
            bits, poison = self.values[match[1]]
            return bits[int(match[2])], poison
        if match := re.fullmatch(r"\w+ ((?:nuw |nsw |exact |disjoint )*)(i\d+) (\S+), (\S+)", text):
            (a, a_poison), (b, b_poison) = (self.operand(width_of(match[2]), match[i]) for i in (3, 4))
            bits, poison, undefined = binary(op, match[1], a, b)
            self.fault(either(undefined, b_poison) if op in ("udiv", "urem") else FALSE)
            return bits, either(a_poison, b_poison, poison)
        raise Unknown("instruction")

    def convert(self, op, flags, width, bits, poison):
        more = width - bits.size()
        if op == "zext":
            return z3.ZeroExt(more, bits), either(poison, bits < 0 if "nneg" in flags else FALSE)
        if op == "sext":
            return z3.SignExt(more, bits), poison
        low = z3.Extract(width - 1, 0, bits)
        wraps = [z3.ZeroExt(-more, low) != bits] if "nuw" in flags else []
        wraps += [z3.SignExt(-more, low) != bits] if "nsw" in flags else []
        return low, either(poison, *wraps)

    def call(self, text):
        match = re.fullmatch(rf"(?:tail |notail )?call (.*?)@llvm\.([\w.]+?)\.i\d+\((.*)\)(?: #\d+)?", text)
        if not match or not re.search(rf"{TYPE} $", match[1]):
            raise Unknown("call")
        args = [self.operand(width_of(arg.split()[0]), arg.split()[-1]) for arg in split_commas(match[3])]
        bits, poison = intrinsic(match[2], [bits for bits, _ in args])
        return bits, either(poison, *[its_poison for _, its_poison in args])
