"""What lowering makes of every operation of PTO, for every type, under every choice of whoever runs it: a small function for each, and what its page or
isa/pto/ says of one lane, in the arithmetic of bit vectors, which SMT-LIB defines in whole numbers modulo 2^width."""

import collections
import pathlib
import re
import subprocess

import z3

import ir
import program

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
TRUE, FALSE = program.TRUE, program.FALSE
TYPES = {name: (int(bits), kind) for name, bits, kind in
         re.findall(r"^SCALAR\((\w+), (\d+), '(\w)'\)", (ROOT / "isa/pto/types.def").read_text(), re.MULTILINE)}  # fmt: skip
ELEMENTS = [name for name, (bits, kind) in TYPES.items() if kind in "SU" and name != "index"]
SCALARS = [name for name, (_, kind) in TYPES.items() if kind in "BSU"]
SIGNED = [name for name, (_, kind) in TYPES.items() if kind == "S"]
LANES = 64
MASK = f"!pto.mask<{LANES}>"
CHOICES, WORDS = ((ROOT / "isa/pto" / name).read_text() for name in ("choices.def", "words.def"))
INACTIVE = re.findall(r'^INACTIVE\(\w+, "(.*)"\)', CHOICES, re.MULTILINE)
OVERFLOW = re.findall(r'^OVERFLOW\(\w+, "(.*)"\)', CHOICES, re.MULTILINE)
VCMP, CMPI = (re.findall(rf"{name}\((\w+)\)", "".join(re.findall(r"^[A-Z].*", WORDS, re.MULTILINE))) for name in ("VCMP", "CMPI"))

# traps {reason: where}, again: where a loop goes on after its first round, stores as program.Outcome has them, inside: the lanes that the results have
Want = collections.namedtuple("Want", "results large traps again stores inside", defaults=(FALSE, {}, FALSE, (), TRUE))
# arguments and results: [(name, type)]; want(v): v.NAME is an argument of one lane, masks and truth values as one bit
Case = collections.namedtuple("Case", "group name arguments lines results want inactive overflow")


def case(group, form, arguments, lines, results, want, inactive="zero", overflow="saturate"):
    name = re.sub(r"\W", "_", f"{group} {form} {inactive} {overflow}")
    return Case(group, name, arguments, lines, results, want, inactive, overflow)


def vreg(kind, lanes=LANES):
    return f"!pto.vreg<{lanes}x{kind}>"


# ---- What one lane gets ----------------------------------------------------------------------------------------


def number(value, width):
    return z3.BitVecVal(value, width)


def shift(left, signed, a, count, overflow="saturate"):
    """bvshl, bvlshr and bvashr go on shifting where the count is the width or more."""
    n = a.size()
    if overflow == "modulo":
        count = count & number(n - 1, n)
    return a << count if left else a >> count if signed else z3.LShR(a, count)


def is_large(count):
    return z3.UGE(count, number(count.size(), count.size())) if count.size() > 1 else count == 1


def less(signed, a, b):
    return a < b if signed else z3.ULT(a, b)


BINARY = {
    "vand": lambda a, b, signed: a & b,
    "vor": lambda a, b, signed: a | b,
    "vxor": lambda a, b, signed: a ^ b,
    "vadd": lambda a, b, signed: a + b,
    "vsub": lambda a, b, signed: a - b,
    "vmul": lambda a, b, signed: a * b,
    "vmin": lambda a, b, signed: z3.If(less(signed, a, b), a, b),
    "vmax": lambda a, b, signed: z3.If(less(signed, b, a), a, b),
}
UNARY = {
    "vnot": lambda a, signed: ~a,
    "vneg": lambda a, signed: -a,
    "vabs": lambda a, signed: z3.If(a < 0, -a, a) if signed else a,
}
ORDER = {
    "eq": lambda signed, a, b: a == b,
    "ne": lambda signed, a, b: a != b,
    "lt": less,
    "le": lambda signed, a, b: z3.Not(less(signed, b, a)),
    "gt": lambda signed, a, b: less(signed, b, a),
    "ge": lambda signed, a, b: z3.Not(less(signed, a, b)),
}


def total(a, b, carry):
    """The whole sum, which takes one bit more."""
    return z3.ZeroExt(1, a) + z3.ZeroExt(1, b) + z3.ZeroExt(a.size(), carry)


def sum_of(a, b, carry):
    return z3.Extract(a.size() - 1, 0, total(a, b, carry))


def carry_of(a, b, carry):
    return z3.Extract(a.size(), a.size(), total(a, b, carry))


# ---- Vectors: each operation under a mask, in a named destination, under a full mask --------------------------------


def otherwise(width, inactive):
    """Of lanes that a mask leaves out of a result that had nothing before."""
    return number(0 if inactive == "zero" else 1 if width == 1 else int("a5" * (width // 8), 16), width)


def masked(v, value, rest):
    return z3.If(v.m == 1, value, rest)


def forms(group, name, operands, types, result, value, **choices):
    """One operation with one result in every form. operands: their names; types: theirs and the mask's; value(v): of an active lane. The
    operation's name may have a word behind it."""
    op, _, word = name.partition(" ")
    word = word and word + ", "
    given = ", ".join("%" + operand for operand in operands)
    arguments = [(operand, kind) for operand, kind in zip([*operands, "m", "c"], [*types, MASK, result])]
    listed = ", ".join([*types, MASK])
    for inactive in INACTIVE:
        yield case(group, f"{name} masked", arguments, [f"%r = pto.{op} {word}{given}, %m : ({listed}) -> {result}"], [("r", result)],
                   lambda v, inactive=inactive: [masked(v, value(v), otherwise(v.c.size(), inactive))], inactive, **choices)  # fmt: skip
    yield case(group, f"{name} kept", arguments, [f"{op} {word}%c, {given}, %m : {types[0]}"] if result == types[0] else
               [f"pto.{op} {word}ins({given}, %m : {listed}) outs(%c : {result})"], [("c", result)],
               lambda v: [masked(v, value(v), v.c)], **choices)  # fmt: skip
    yield case(group, f"{name} full", arguments, [f"%all = pto.mask.all : {MASK}", f"%r = pto.{op} {word}{given}, %all : ({listed}) -> {result}"],
               [("r", result)], lambda v: [value(v)], **choices)  # fmt: skip


def with_count(cases, value, overflow, counts="b"):
    """The same cases with what is said of counts that are the width or more: `value` of active lanes, a note or a trap."""
    for made in cases:

        def want(v, made=made):
            large = ir.both(TRUE if made.name.find("_full_") > 0 else v.m == 1, is_large(getattr(v, counts)))
            trapped = {"shift": large} if overflow == "trap" else {}
            return Want(made.want(v), FALSE if trapped else large, trapped)

        yield made._replace(want=want)


def shifts(kind):
    signed, t = kind in SIGNED, vreg(kind)
    width = TYPES[kind][0]
    for op in ("vshr", "vshl"):
        for overflow in OVERFLOW:
            value = lambda v, op=op, overflow=overflow: shift(op == "vshl", signed, v.a, v.b, overflow)  # noqa: E731
            yield from with_count(forms(f"pto.{op} {kind}", op, "ab", [t, t], t, value, overflow=overflow), value, overflow)
            yield from narrow_shift(op, kind, value, overflow)
            for count in (0, 1, width - 1, width, width + 1, 2**width - 1):
                yield from constant_shift(op, kind, count, overflow)


def constant_shift(op, kind, count, overflow):
    """A count that the text has: what is checked while lowering."""
    t, width = vreg(kind), TYPES[kind][0]
    written = count if kind not in SIGNED or count < 2 ** (width - 1) else count - 2**width
    lines = [f"%n = arith.constant {written} : {kind}", f"%b = pto.vbroadcast %n : {kind} -> {t}", f"%r = pto.{op} %a, %b, %m : ({t}, {t}, {MASK}) -> {t}"]

    def want(v):
        large = ir.both(v.m == 1, TRUE if count >= width else FALSE)
        trapped = {"shift": large} if overflow == "trap" else {}
        value = shift(op == "vshl", kind in SIGNED, v.a, number(count, width), overflow)
        return Want([masked(v, value, number(0, width))], FALSE if trapped else large, trapped)

    yield case(f"pto.{op} {kind}", f"{op} by {count}", [("a", t), ("m", MASK)], lines, [("r", t)], want, overflow=overflow)


def narrow_shift(op, kind, value, overflow):
    """Beside a wider register: lanes that the narrow one has not neither trap nor are counted."""
    t, mask = vreg(kind, LANES // 2), f"!pto.mask<{LANES // 2}>"
    arguments = [("wide", vreg("i32")), ("a", t), ("b", t), ("m", mask)]

    def want(v):
        inside = z3.ULT(v.tid, LANES // 2)
        large = ir.both(inside, v.m == 1, is_large(v.b))
        trapped = {"shift": large} if overflow == "trap" else {}
        return Want([masked(v, value(v), number(0, v.a.size()))], FALSE if trapped else large, trapped, inside=inside)

    yield case(f"pto.{op} {kind}", f"{op} narrow", arguments, [f"%r = pto.{op} %a, %b, %m : ({t}, {t}, {mask}) -> {t}"], [("r", t)], want,
               overflow=overflow)  # fmt: skip


def computed(kind):
    signed, t = kind in SIGNED, vreg(kind)
    for op, value in BINARY.items():
        yield from forms(f"pto.{op} {kind}", op, "ab", [t, t], t, lambda v, value=value: value(v.a, v.b, signed))
    for op, value in UNARY.items():
        yield from forms(f"pto.{op} {kind}", op, "a", [t], t, lambda v, value=value: value(v.a, signed))
    for word in VCMP:
        yield from forms(f"pto.vcmp {kind}", f"vcmp {word}", "ab", [t, t], MASK, lambda v, word=word: ir.as_bit(ORDER[word](signed, v.a, v.b)))


def carries(kind):
    t, group = vreg(kind), f"pto.vaddc {kind}"
    arguments = [("a", t), ("b", t), ("x", MASK), ("m", MASK), ("c", t), ("d", MASK)]
    for given, listed in (("", ""), (", %x", f", {MASK}")):
        into = lambda v, given=given: v.x if given else number(0, 1)  # noqa: E731
        for inactive in INACTIVE:
            yield case(group, f"vaddc {given}", arguments, [f"%r, %o = pto.vaddc %a, %b{given}, %m : ({t}, {t}{listed}, {MASK}) -> ({t}, {MASK})"],
                       [("r", t), ("o", MASK)], lambda v, into=into, inactive=inactive:
                       [masked(v, sum_of(v.a, v.b, into(v)), otherwise(v.a.size(), inactive)),
                        masked(v, carry_of(v.a, v.b, into(v)), otherwise(1, inactive))], inactive)  # fmt: skip
        yield case(group, f"vaddc kept {given}", arguments, [f"vaddc %c, %d, %a, %b{given}, %m : {t}"], [("c", t), ("d", MASK)], lambda v, into=into:
                   [masked(v, sum_of(v.a, v.b, into(v)), v.c), masked(v, carry_of(v.a, v.b, into(v)), v.d)])  # fmt: skip
        yield case(group, f"vaddc in place {given}", arguments, [f"vaddc %a, %m, %a, %b{given}, %m : {t}"], [("a", t), ("m", MASK)], lambda v, into=into:
                   [masked(v, sum_of(v.a, v.b, into(v)), v.a), masked(v, carry_of(v.a, v.b, into(v)), v.m)])  # fmt: skip
        yield case(group, f"vaddc full {given}", arguments,
                   [f"%all = pto.mask.all : {MASK}", f"%r, %o = pto.vaddc %a, %b{given}, %all : ({t}, {t}{listed}, {MASK}) -> ({t}, {MASK})"],
                   [("r", t), ("o", MASK)], lambda v, into=into: [sum_of(v.a, v.b, into(v)), carry_of(v.a, v.b, into(v))])  # fmt: skip


def moves(kind):
    t, group = vreg(kind), f"pto.vsel {kind}"
    arguments = [("a", t), ("b", t), ("m", MASK)]
    line = f"({t}, {t}, {MASK}) -> {t}"
    yield case(group, "vsel", arguments, [f"%r = pto.vsel %a, %b, %m : {line}"], [("r", t)], lambda v: [masked(v, v.a, v.b)])
    yield case(group, "vsel in place", arguments, [f"vsel %b, %a, %b, %m : {t}"], [("b", t)], lambda v: [masked(v, v.a, v.b)])
    for word, chosen in (("all", "a"), ("none", "b")):
        yield case(group, f"vsel {word}", arguments, [f"%s = pto.mask.{word} : {MASK}", f"%r = pto.vsel %a, %b, %s : {line}"], [("r", t)],
                   lambda v, chosen=chosen: [getattr(v, chosen)])  # fmt: skip
    width = TYPES[kind][0]
    yield case(f"pto.vbroadcast {kind}", "vbroadcast", [("s", kind)], [f"%r = pto.vbroadcast %s : {kind} -> {t}"], [("r", t)], lambda v: [v.s])
    yield case(f"pto.vbroadcast {kind}", "vbroadcast of a constant", [], [f"%s = arith.constant 93 : {kind}", f"%r = pto.vbroadcast %s : {kind} -> {t}"],
               [("r", t)], lambda v: [number(93, width)])  # fmt: skip


def accesses(kind):
    t, width, array = vreg(kind), TYPES[kind][0], f"memref<?x{kind}>"
    arguments = [("x", array), ("i", "index"), ("m", MASK), ("c", t)]
    line = f"({array}, {MASK}) -> {t}"
    element = lambda v: program.memory(v.x, v.i, width)  # noqa: E731
    for inactive in INACTIVE:
        yield case(f"pto.vload {kind}", "vload", arguments, [f"%r = pto.vload %x[%i], %m : {line}"], [("r", t)],
                   lambda v, inactive=inactive: [masked(v, element(v), otherwise(width, inactive))], inactive)  # fmt: skip
    yield case(f"pto.vload {kind}", "vload kept", arguments, [f"pto.vload ins(%x[%i], %m : {array}, {MASK}) outs(%c : {t})"], [("c", t)],
               lambda v: [masked(v, element(v), v.c)])  # fmt: skip
    yield case(f"pto.vload {kind}", "vload full", arguments, [f"%all = pto.mask.all : {MASK}", f"%r = pto.vload %x[%i], %all : {line}"], [("r", t)],
               lambda v: [element(v)])  # fmt: skip
    yield case(f"pto.vstore {kind}", "vstore", arguments, [f"pto.vstore %c, %x[%i], %m : {t}, {array}, {MASK}"], [],
               lambda v: Want([], stores=[(v.x, v.i, v.c, v.m == 1)]))  # fmt: skip


def masks():
    for word, value in (("all", 1), ("none", 0)):
        yield case(f"pto.mask.{word}", word, [], [f"%r = pto.mask.{word} : {MASK}"], [("r", MASK)], lambda v, value=value: [number(value, 1)])
    in_64 = lambda v, count: [ir.as_bit(v.lane < count)]  # noqa: E731
    yield case("pto.mask.first", "first", [("n", "index")], [f"%r = pto.mask.first %n : index -> {MASK}"], [("r", MASK)], lambda v: in_64(v, v.n))
    for count in (-(2**63), -1, 0, 1, LANES - 1, LANES, LANES + 1, 2**32, 2**63 - 1):
        lines = [f"%n = arith.constant {count} : index", f"%r = pto.mask.first %n : index -> {MASK}"]
        yield case("pto.mask.first", f"first {count}", [], lines, [("r", MASK)],
                   lambda v, count=count: in_64(v, number(count, 64)))  # fmt: skip
    for bits in (0, 1, 0x8000000000000001, 0x123456789ABCDEF0, 2**64 - 1):
        yield case("pto.mask.bits", f"bits {bits}", [], [f"%r = pto.mask.bits 0x{bits:x} : {MASK}"], [("r", MASK)],
                   lambda v, bits=bits: [z3.Extract(0, 0, z3.LShR(number(bits, 64), v.lane))])  # fmt: skip
    for op, value in (("and", lambda v: v.m & v.n), ("or", lambda v: v.m | v.n), ("xor", lambda v: v.m ^ v.n)):
        yield case(f"pto.mask.{op}", op, [("m", MASK), ("n", MASK)], [f"%r = pto.mask.{op} %m, %n : {MASK}, {MASK} -> {MASK}"], [("r", MASK)],
                   lambda v, value=value: [value(v)])  # fmt: skip
    yield case("pto.mask.not", "not", [("m", MASK)], [f"%r = pto.mask.not %m : {MASK} -> {MASK}"], [("r", MASK)], lambda v: [~v.m])


# ---- Scalars ------------------------------------------------------------------------------------------------------------


def quotient(signed, a, b):
    return a / b if signed else z3.UDiv(a, b)


def rounded_up(a, b):
    return z3.UDiv(a, b) + z3.If(z3.URem(a, b) == 0, number(0, a.size()), number(1, a.size()))


def least(width):
    return number(1 << (width - 1), width)


def divided(signed, value, overflows):
    def want(a, b):
        by_zero = b == 0
        over = ir.both(a == least(a.size()), b == number(-1, a.size())) if overflows else FALSE
        return Want([value(signed, a, b)], traps={"division": by_zero, "overflow": over})

    return want


ARITHMETIC = {
    "addi": lambda a, b: a + b, "subi": lambda a, b: a - b, "muli": lambda a, b: a * b, "andi": lambda a, b: a & b, "ori": lambda a, b: a | b,
    "xori": lambda a, b: a ^ b, "shli": lambda a, b: shift(True, False, a, b), "shrsi": lambda a, b: shift(False, True, a, b),
    "shrui": lambda a, b: shift(False, False, a, b), "minsi": lambda a, b: z3.If(a < b, a, b), "minui": lambda a, b: z3.If(z3.ULT(a, b), a, b),
    "maxsi": lambda a, b: z3.If(a > b, a, b), "maxui": lambda a, b: z3.If(z3.UGT(a, b), a, b),
    "divsi": divided(True, quotient, True), "divui": divided(False, quotient, False),
    "ceildivui": divided(False, lambda signed, a, b: rounded_up(a, b), False),
    "remsi": divided(True, lambda signed, a, b: z3.SRem(a, b), False), "remui": divided(False, lambda signed, a, b: z3.URem(a, b), False),
}  # fmt: skip


def scalars(kind):
    width = TYPES[kind][0]
    both = [("a", kind), ("b", kind)]
    for op, value in ARITHMETIC.items():
        group = f"arith.{op} {kind}"
        result = lambda v, value=value: made if isinstance(made := value(v.a, v.b), Want) else Want([made])  # noqa: E731
        yield case(group, op, both, [f"%r = arith.{op} %a, %b : {kind}"], [("r", kind)], result)
    for word in CMPI:
        yield case(f"arith.cmpi {kind}", word, both, [f"%r = arith.cmpi {word}, %a, %b : {kind}"], [("r", "i1")],
                   lambda v, word=word: [ir.as_bit(ORDER[word[-2:]](word[0] == "s", v.a, v.b))])  # fmt: skip
    for value in {1, 0} if width == 1 else {0, 5, 2 ** (width - 1) - 1} | ({-1, -(2 ** (width - 1))} if kind in SIGNED else {2**width - 1}):
        word = ("true" if value else "false") + " : i1" if width == 1 else f"{value} : {kind}"
        yield case(f"arith.constant {kind}", f"{value}", [], [f"%r = arith.constant {word}"], [("r", kind)], lambda v, value=value: [number(value, width)])
    for op, value in ARITHMETIC.items() if width > 1 else ():  # with a constant on either side
        for known in (1, 5) if op in ("divsi", "divui", "ceildivui", "remsi", "remui") else (0, 1, width):
            for side in "ab":
                want = lambda v, side=side, known=known, value=value: (  # noqa: E731
                    value(*((number(known, width), v.b) if side == "a" else (v.a, number(known, width)))))
                yield case(f"arith.{op} {kind}", f"{op} {side} is {known}", [pair for pair in both if pair[0] != side],
                           [f"%{side} = arith.constant {known} : {kind}", f"%r = arith.{op} %a, %b : {kind}"], [("r", kind)],
                           lambda v, want=want: made if isinstance(made := want(v), Want) else Want([made]))  # fmt: skip


def selections():
    for t in [*SCALARS, *map(vreg, ELEMENTS), MASK]:
        yield case(f"arith.select {t}", "select", [("s", "i1"), ("a", t), ("b", t)], [f"%r = arith.select %s, %a, %b : {t}"], [("r", t)],
                   lambda v: [z3.If(v.s == 1, v.a, v.b)])  # fmt: skip


def casts():
    for source in SCALARS:
        for to in SCALARS:
            n, m = TYPES[source][0], TYPES[to][0]
            if "index" in (source, to):
                names = {"index_cast": True, "index_castui": False} if (source == "index") != (to == "index") else {}
            else:
                names = {"extsi": True, "extui": False} if n < m else {"trunci": False} if n > m else {}
            for op, signed in names.items():
                resize = lambda v, signed=signed, m=m: [program.resized(v.x, m, signed)]  # noqa: E731
                yield case(f"arith.{op} {source}", f"{op} to {to}", [("x", source)], [f"%r = arith.{op} %x : {source} to {to}"], [("r", to)], resize)
                value = -3 if source in SIGNED else 1 if n == 1 else 2**n - 3
                word = ("true" if value else "false") + " : i1" if n == 1 else f"{value} : {source}"
                known = lambda v, signed=signed, m=m, n=n, value=value: [program.resized(number(value, n), m, signed)]  # noqa: E731
                yield case(f"arith.{op} {source}", f"{op} to {to} known", [], [f"%x = arith.constant {word}", f"%r = arith.{op} %x : {source} to {to}"],
                           [("r", to)], known)  # fmt: skip


# ---- Control flow ---------------------------------------------------------------------------------------------------------


def controls():
    for t in ("i32", vreg("i8"), MASK):
        yield case("scf.if", f"if {t}", [("s", "i1"), ("a", t), ("b", t)],
                   [f"%r = scf.if %s -> ({t}) {{", f"scf.yield %a : {t}", "} else {", f"scf.yield %b : {t}", "}"], [("r", t)],
                   lambda v: [z3.If(v.s == 1, v.a, v.b)])  # fmt: skip
    for kind in SIGNED:
        yield from loops(kind)


def loops(kind):
    """The first round of a loop and whether another one follows. The lower bound is any number, so that the first round is as good as any later one: no
    other value changes from round to round."""
    width = TYPES[kind][0]
    least_but_one = 1 - 2 ** (width - 1)
    given = {"free": [], "hi": [("hi", 100)], "step": [("step", 3)], "both": [("hi", 100), ("step", 3)], "least": [("hi", least_but_one), ("step", 2)]}
    for form, known in given.items():
        names = [name for name in ("lo", "hi", "step", "init") if name not in dict(known)]
        lines = [f"%{name} = arith.constant {value} : {kind}" for name, value in known]
        spelled = "" if kind == "index" else f" : {kind}"
        lines += [f"%r = scf.for %i = %lo to %hi step %step iter_args(%x = %init) -> ({kind}){spelled} {{", f"scf.yield %i : {kind}", "}"]

        def want(v, known=known):
            hi, step = (number(dict(known)[name], width) if name in dict(known) else getattr(v, name) for name in ("hi", "step"))
            trapped, runs = step < 1, v.lo < hi
            again = z3.SignExt(1, v.lo) + z3.SignExt(1, step) < z3.SignExt(1, hi)
            return Want([z3.If(runs, v.lo, v.init)], traps={"step": trapped}, again=ir.both(z3.Not(trapped), runs, again))

        yield case(f"scf.for {kind}", f"for {form}", [(name, kind) for name in names], lines, [("r", kind)], want)


# ---- Several operations: what lowering fuses ---------------------------------------------------------------------------------


def fused():
    """Of 32 bits. Operands are arguments, numbers of steps from 1, and constants behind #."""
    signed = {
        "three terms": (["vadd a b", "vadd 1 c"], lambda v: v.a + v.b + v.c),
        "four terms": (["vadd a b", "vadd 1 c", "vadd 2 m"], lambda v: v.a + v.b + v.c + v.m),
        "a shift and a sum": (["vshl a #3", "vadd 1 b"], lambda v: (v.a << 3) + v.b),
        "logic": (["vand a b", "vxor 1 c", "vnot 2"], lambda v: ~(v.a & v.b ^ v.c)),
        "a choice": (["vxor b c", "vand a 1", "vxor c 2"], lambda v: v.c ^ (v.a & (v.b ^ v.c))),
        "an and and a sum": (["vand a b", "vadd 1 c"], lambda v: (v.a & v.b) + v.c),
        "a left shift and an xor": (["vshl a #13", "vxor 1 a"], lambda v: v.a << 13 ^ v.a),
        "two shifts and xors": (["vshl a #13", "vxor 1 a", "vshl 2 #5", "vxor 2 3"], lambda v: (v.a << 13 ^ v.a) << 5 ^ v.a << 13 ^ v.a),
        "an arithmetic shift": (["vshr a #5", "vshl a #27", "vor 1 2"], lambda v: v.a >> 5 | v.a << 27),
    }
    unsigned = {
        "a rotation": (["vshr a #5", "vshl a #27", "vor 1 2"], lambda v: z3.RotateRight(v.a, 5)),
        "a rotation of an xor": (["vxor a b", "vshr 1 #5", "vshl 1 #27", "vor 2 3"], lambda v: z3.RotateRight(v.a ^ v.b, 5)),
        "a rotation of a sum": (["vadd a b", "vshr 1 #5", "vshl 1 #27", "vor 2 3"], lambda v: z3.RotateRight(v.a + v.b, 5)),
        "a quarter of chacha": (
            ["vadd a b", "vxor c 1", "vshl 2 #16", "vshr 2 #16", "vor 3 4", "vadd 5 1"],
            lambda v: z3.RotateLeft(v.c ^ v.a + v.b, 16) + v.a + v.b,
        ),
        "a sigma": (
            ["vshr a #6", "vshl a #26", "vor 1 2", "vshr a #11", "vshl a #21", "vor 4 5", "vshr a #25", "vshl a #7", "vor 7 8", "vxor 3 6", "vxor 10 9"],
            lambda v: z3.RotateRight(v.a, 6) ^ z3.RotateRight(v.a, 11) ^ z3.RotateRight(v.a, 25),
        ),
        "another sigma": (
            ["vshr a #7", "vshl a #25", "vor 1 2", "vshr a #18", "vshl a #14", "vor 4 5", "vshr a #3", "vxor 3 6", "vxor 8 7"],
            lambda v: z3.RotateRight(v.a, 7) ^ z3.RotateRight(v.a, 18) ^ z3.LShR(v.a, 3),
        ),
        "a right shift and an xor": (["vshr a #17", "vxor 1 a"], lambda v: z3.LShR(v.a, 17) ^ v.a),
        "shifts both ways and xors": (["vshl a #13", "vxor 1 a", "vshr 2 #17", "vxor 2 3"], lambda v: z3.LShR(v.a << 13 ^ v.a, 17) ^ v.a << 13 ^ v.a),
    }
    for kind, programs in (("i32", signed), ("u32", unsigned)):
        t = vreg(kind)
        for name, (steps, value) in programs.items():
            lines = [f"%all = pto.mask.all : {MASK}"]
            for i, step in enumerate(steps, 1):
                op, *operands = step.split()
                for operand in operands:
                    if operand[0] == "#":
                        lines += [f"%n{i} = arith.constant {operand[1:]} : {kind}", f"%k{i} = pto.vbroadcast %n{i} : {kind} -> {t}"]
                spelled = ", ".join(f"%k{i}" if x[0] == "#" else f"%t{x}" if x.isdigit() else f"%{x}" for x in operands)
                lines.append(f"%t{i} = pto.{op} {spelled}, %all : ({', '.join([t] * len(operands))}, {MASK}) -> {t}")
            yield case(f"fused {kind}", name, [(x, t) for x in "abcm"], lines, [(f"t{len(steps)}", t)], lambda v, value=value: [value(v)])
    yield case("fused scalars", "a step and a comparison", [("a", "i32"), ("b", "i32")],
               ["%k = arith.constant 3 : i32", "%r = arith.addi %a, %k : i32", "%p = arith.cmpi slt, %r, %b : i32"], [("r", "i32"), ("p", "i1")],
               lambda v: [v.a + 3, ir.as_bit(v.a + 3 < v.b)])  # fmt: skip


# ---- What must be refuted -------------------------------------------------------------------------------------------------------


def wrong():
    """Faults that others have had, each said of a function that is right."""
    t, u = vreg("i8"), vreg("u16")
    args, line = [("a", t), ("b", t), ("m", MASK), ("c", t)], f"({t}, {t}, {MASK}) -> {t}"
    right = [f"%r = pto.vshr %a, %b, %m : {line}"]
    noted = lambda v, value: Want([masked(v, value, number(0, 8))], ir.both(v.m == 1, is_large(v.b)))  # noqa: E731
    yield case("vshr of a signed type without its sign", "w", args, right, [("r", t)], lambda v: noted(v, shift(False, False, v.a, v.b)))
    yield case("vshr modulo the width where it saturates", "w", args, right, [("r", t)], lambda v: noted(v, shift(False, True, v.a, v.b, "modulo")))
    yield case("vshr that saturates where it is modulo", "w", args, right, [("r", t)], lambda v: noted(v, shift(False, True, v.a, v.b)), overflow="modulo")
    yield case("vshr of large counts in lanes that the mask leaves out", "w", args, right, [("r", t)],
               lambda v: noted(v, shift(False, True, v.a, v.b))._replace(large=is_large(v.b)))  # fmt: skip
    yield case("vshr whose count of the width is no large one", "w", args, right, [("r", t)],
               lambda v: noted(v, shift(False, True, v.a, v.b))._replace(large=ir.both(v.m == 1, z3.UGT(v.b, 8))))  # fmt: skip
    yield case("vshr that does not trap", "w", args, right, [("r", t)], lambda v: noted(v, shift(False, True, v.a, v.b)), overflow="trap")
    added = [f"%r = pto.vadd %a, %b, %m : {line}"]
    yield case("vadd whose inactive lanes keep a destination that there is not", "w", args, added, [("r", t)], lambda v: [masked(v, v.a + v.b, v.c)])
    yield case("vadd whose inactive lanes are zero instead of poison", "w", args, added, [("r", t)], lambda v: [masked(v, v.a + v.b, number(0, 8))],
               "undef-poison")  # fmt: skip
    yield case("vadd of lanes that are not active", "w", args, added, [("r", t)], lambda v: [v.a + v.b])
    yield case("vadd that loses its destination", "w", args, [f"vadd %c, %a, %b, %m : {t}"], [("c", t)], lambda v: [masked(v, v.a + v.b, number(0, 8))])
    yield case("vmin of an unsigned type as if it were signed", "w", [("a", u), ("b", u)],
               [f"%all = pto.mask.all : {MASK}", f"%r = pto.vmin %a, %b, %all : ({u}, {u}, {MASK}) -> {u}"], [("r", u)],
               lambda v: [z3.If(v.a < v.b, v.a, v.b)])  # fmt: skip
    yield case("vsel the other way round", "w", args, [f"%r = pto.vsel %a, %b, %m : {line}"], [("r", t)], lambda v: [masked(v, v.b, v.a)])
    yield case("vaddc without its carry in", "w", args, [f"%r, %o = pto.vaddc %a, %b, %m, %m : ({t}, {t}, {MASK}, {MASK}) -> ({t}, {MASK})"], [("r", t)],
               lambda v: [masked(v, v.a + v.b, number(0, 8))])  # fmt: skip
    yield case("vstore of all lanes", "w", [("x", "memref<?xi8>"), ("i", "index"), *args], [f"pto.vstore %c, %x[%i], %m : {t}, memref<?xi8>, {MASK}"], [],
               lambda v: Want([], stores=[(v.x, v.i, v.c, TRUE)]))  # fmt: skip
    yield case("mask.first of an unsigned count", "w", [("n", "index")], [f"%r = pto.mask.first %n : index -> {MASK}"], [("r", MASK)],
               lambda v: [ir.as_bit(z3.ULT(v.lane, v.n))])  # fmt: skip
    yield case("divsi that does not trap at the least value", "w", [("a", "i8"), ("b", "i8")], ["%r = arith.divsi %a, %b : i8"], [("r", "i8")],
               lambda v: Want([v.a / v.b], traps={"division": v.b == 0}))  # fmt: skip
    loop = next(loops("i8"))
    yield loop._replace(group="a loop that runs at its upper bound", want=lambda v: loop.want(v)._replace(
        again=ir.both(v.step >= 1, v.lo < v.hi, z3.SignExt(1, v.lo) + z3.SignExt(1, v.step) <= z3.SignExt(1, v.hi))))  # fmt: skip
    yield loop._replace(group="a loop whose counter wraps around", want=lambda v: loop.want(v)._replace(
        again=ir.both(v.step >= 1, v.lo < v.hi, v.lo + v.step < v.hi)))  # fmt: skip


def all_cases():
    """[Case] of everything, and [Case] of what is wrong."""
    cases = []
    for kind in ELEMENTS:
        for family in (shifts, computed, carries, moves, accesses):
            cases += family(kind)
    for kind in SCALARS:
        cases += scalars(kind)
    for family in (masks, selections, casts, controls, fused):
        cases += family()
    refuted = list(wrong())
    cases = [made._replace(name=f"f{i}_{made.name}") for i, made in enumerate(cases)]
    return cases, [made._replace(name=f"w{i}_{made.name}") for i, made in enumerate(refuted)]


# ---- Texts and programs ------------------------------------------------------------------------------------------------------


def text_of(made):
    head = ", ".join(f"%{name}: {kind}" for name, kind in made.arguments)
    types = ", ".join(kind for _, kind in made.results)
    names = ", ".join("%" + name for name, _ in made.results)
    lines = [f"func.func @{made.name}({head}){f' -> ({types})' if types else ''} {{", *("  " + line for line in made.lines)]
    return "\n".join([*lines, f"  func.return {names} : {types}" if types else "  func.return", "}", ""])


def programs_of(tool, cases):
    """{name of a case: program}, from one dump for each choice of whoever runs it."""
    found = {}
    for choice in {(made.inactive, made.overflow) for made in cases}:
        chosen = [made for made in cases if (made.inactive, made.overflow) == choice]
        command = [tool, "dump", "--stage", "interp", "--language", "pto", "--inactive", choice[0], "--shift-overflow", choice[1], "-"]
        done = subprocess.run(command, input="".join(map(text_of, chosen)), capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(f"{' '.join(command)}\n{done.stderr}")
        found |= program.read(done.stdout)
    return found


def bits_of(kind):
    """Of an element, as parameters and arrays have it: truth values are bytes."""
    scalar = re.sub(r"!pto.vreg<\d+x(\w+)>", r"\1", kind)
    return 64 if kind.startswith("memref") else 8 if kind.startswith("!pto.mask") or TYPES[scalar][0] == 1 else TYPES[scalar][0]


def layout(made):
    """[offset] of the parameters: the arguments, then the results."""
    at, offsets = 0, []
    sizes = [8 if kind[0] == "!" or kind.startswith("memref") else bits_of(kind) // 8 for _, kind in made.arguments] + [8] * len(made.results)
    for size in sizes:
        at = (at + size - 1) // size * size
        offsets.append(at)
        at += size
    return offsets


class Lane:
    """What the arguments are in this lane."""


def is_truth(kind):
    return kind.startswith("!pto.mask") or kind == "i1"


def question(made, code, lanes):
    """(whether the program does anything but what is wanted, the free operands)."""
    v, arguments, operands = Lane(), {}, []
    offsets = layout(made)
    v.lane, v.tid = program.number_of_lane(LANES), z3.BitVec("tid", 32)
    for (name, kind), offset in zip(made.arguments, offsets):
        value = z3.BitVec(name, bits_of(kind))
        arguments[offset] = value
        operands.append(value)
        setattr(v, name, ir.as_bit(value != 0) if is_truth(kind) else value)
    returned = offsets[len(made.arguments) :]
    for offset in returned:
        arguments[offset] = z3.BitVec(f"result_at_{offset}", 64)
    run = program.Run(code, arguments, lanes)
    want = made.want(v)
    want = want if isinstance(want, Want) else Want(want)
    wanted = [z3.ZeroExt(7, value) if is_truth(kind) else value for value, (_, kind) in zip(want.results, made.results, strict=True)]
    faults = [undefined for undefined in run.undefined]
    for outcome in run.outcomes:
        if outcome.kind == "done":
            wrong = [want.again, *want.traps.values(), outcome.large != want.large]
            wrong += differences(outcome, dict(zip(returned, wanted)), want)
        elif outcome.kind == "again":
            wrong = [z3.Not(want.again)]
        else:
            wrong = [z3.Not(want.traps.get(outcome.kind, FALSE))]
        faults.append(ir.both(outcome.where, ir.either(*wrong)))
    return ir.either(*faults), operands


def differences(outcome, wanted, want):
    if outcome.results.keys() != wanted.keys() or len(outcome.stores) != len(want.stores):
        return [TRUE]
    wrong = []
    for offset, (value, where) in outcome.results.items():
        wrong += [where != want.inside, ir.both(where, value != wanted[offset])]
    for (base, index, value, where), (to, at, stored, active) in zip(outcome.stores, want.stores):
        wrong += [where != active, ir.both(where, z3.Or(base != to, index != at, value != stored))]
    return wrong
