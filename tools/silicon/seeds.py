"""The spellings that are compared with ptxas: logic, shifts, vshl and vshr, shuffles; valid ones and all kinds of faulty ones.

The lists are the same each time, so that recorded answers stay comparable."""

import itertools

from groups import Group, unique

FULL, OLD = ("9.0", "sm_90"), ("6.3", "sm_60")

COMMON = [("pred", "p"), ("b16", "h"), ("u16", "hu"), ("s16", "hs"), ("b32", "r"), ("u32", "u"), ("s32", "s"), ("f32", "f"), ("b64", "l"),
          ("u64", "lu"), ("s64", "ls"), ("f64", "d")]
NEWER = [("b8", "c"), ("u8", "cu"), ("s8", "cs"), ("f16", "hf"), ("f16x2", "g"), ("b128", "q")]
REGISTER = {kind: name for kind, name in COMMON + NEWER} | {"bf16": "h", "tf32": "r", "": "r"}
TYPES = ["", *(kind for kind, _ in COMMON + NEWER), "bf16", "tf32"]


def header(version, target):
    """The lines in front of the spellings. Types and registers that came later are declared in the newest setting only."""
    registers = COMMON + NEWER if (version, target) == FULL else COMMON
    lines = [f".version {version}", f".target {target}"]
    if float(version) >= 2.3:
        lines.append(".address_size 64")
    lines += [".global .b32 G;", ".visible .entry k(.param .b32 P)", "{"]
    lines += [f"    .reg .{kind} %{name}<5>;" for kind, name in registers]
    if (version, target) in (FULL, OLD):
        lines += ["    .reg .v2 .b32 %v<2>;", "    .reg .v4 .b16 %w<2>;", "    .shared .b32 S;"]
    return lines + ["L:"]


FOOTER = ["    ret;", "}"]

# ---- operands ------------------------------------------------------------------------------------------------------

IMMEDIATES = """0 1 7 -1 -0 +1 31 32 33 63 64 65 127 128 255 256 -128 -129 32767 32768 -32768 -32769 65535 65536 -65536 2147483647 2147483648
-2147483648 -2147483649 4294967295 4294967296 -4294967295 -4294967296 9223372036854775807 9223372036854775808 -9223372036854775808
-9223372036854775809 18446744073709551615 18446744073709551616 -18446744073709551615 0x0 0xff 0xFFFFFFFF 0x100000000 0xffffffffffffffff
0x10000000000000000 0X1f 0b101 0B1 017 08 1U 0xffU -1U 8192u 1L 0x 1.0 -1.0 .5 1. 1e3 1.5e-3 0f3f800000 0F3f800000 -0f3f800000 0f3f80
0f3f8000000 0d3ff0000000000000 -0d3ff0000000000000 0d3ff000 (1+2) 1+2 (1<<4) 1<<4 ~0 !0 !1 -(3) (-3) --1 3*5 7/0 7/2 (1.0+2.0) 1>0?2:3 (.s64)1
(.u64)-1 (.u32)1 WARP_SZ -WARP_SZ WARP_SZ-1 true 'a'""".split()

NAMES = """!%p1 !%r1 ~%r1 -%r1 +%r1 !!%p1 -%p1 %tid.x %tid %laneid %warpid %lanemask_eq %clock %clock64 %envreg0 %pm0 %tid.b0 _ !_ -_ {%r1} {%h1}
{%l1} {%p1} {%r1,%r2} {%h1,%h2} {1,2} {} {_,%r1} %r1.b0 %r1.b1 %r1.b2 %r1.b3 %r1.h0 %r1.h1 %r1.b4 %r1.h2 %r1.x %r1.y %r1.w %r1.q %r1.b0.b1
%h1.b0 %l1.b0 %p1.b0 %f1.b0 %s1.h1 %u1.b3 -%r1.b0 1.b0 %r1+1 %r1-1 %r1*2 (%r1) [%r1] [%r1+4] [G] [0] G S P k L G+4 &G undeclared %undeclared %r9
%r1|%p1 %r1|%r2 %r1|_ _|%p1 _|_ %p1|%p2 %p1|%r1 %l1|%p1 %h1|%p1 %f1|%p1 %r1|!%p1 !%r1|%p1 %r1|%p1|%p2 1|%p1 %r1|1 %u1|%p1 {%r1,%p1} %r1.b0|%p1
"text" @%p1 $r1 r1 *""".split()

VECTORS = "%v1 %v1.x %v1.y %v1.z %v1.w %v1.r %w1.x %w1.w %w1 %v1.b0 %v1.x.b0".split()


def registers(setting):
    return [f"%{name}1" for _, name in (COMMON + NEWER if setting == FULL else COMMON)]


def pool(setting):
    return registers(setting) + IMMEDIATES + NAMES + (VECTORS if setting in (FULL, OLD) else [])


def short_pool(setting):
    return registers(setting) + ["0", "-1", "65536", "4294967296", "18446744073709551616", "1.0", "0f3f800000", "0d3ff0000000000000", "!%p1", "!%r1",
                                 "%tid.x", "_", "{%r1}", "{%r1,%r2}", "%r1.b0", "%r1.h1", "%r1|%p1", "_|%p1", "%r1|_", "[%r1]", "G"]


def line(mnemonic, operands):
    return f"{mnemonic} {', '.join(operands)};".replace(" ;", ";")


def by_operand(mnemonic, operands, texts):
    """Each operand replaced by each text; and too few or too many operands."""
    yield line(mnemonic, operands)
    for at, text in itertools.product(range(len(operands)), texts):
        yield line(mnemonic, [*operands[:at], text, *operands[at + 1:]])
    for count in range(len(operands)):
        yield line(mnemonic, operands[:count])
    for more in ("%r1", "0", "_", "%p1", "!%p1", "%h1"):
        yield line(mnemonic, [*operands, more])
    yield line(mnemonic, [*operands, "%r1", "%r2"])
    yield line(mnemonic, [*operands[:-1], ""])
    yield line(mnemonic, ["", *operands[1:]])
    yield line(f"@%p1 {mnemonic}", operands)
    yield line(f"@!%p1 {mnemonic}", operands)
    yield line(f"@%r1 {mnemonic}", operands)
    yield f"{mnemonic} {' '.join(operands)};"


# ---- mnemonics -----------------------------------------------------------------------------------------------------

FOREIGN = """sat wrap clamp l r lo hi wide ftz rn rz cc sync up down bfly idx all any add min max or and xor uni approx full global shared volatile
relaxed v2 to eq lt po abs NaN noftz aligned cta x b0 h1 u32 s32 b32 pred b16 B32 Wrap""".split()


def by_word(opcode, words, operands):
    """The words of a spelling: each dropped, doubled, replaced; others put in; all of them in any order."""
    def spell(changed):
        return line(".".join([opcode, *changed]), operands)

    yield spell(words)
    for order in itertools.islice(itertools.permutations(words), 1, 130):
        yield spell(order)
    for at in range(len(words)):
        yield spell([*words[:at], *words[at + 1:]])
        yield spell([*words[:at], words[at], *words[at:]])
    for at, word in itertools.product(range(len(words) + 1), FOREIGN):
        yield spell([*words[:at], word, *words[at:]])
        if at < len(words):
            yield spell([*words[:at], word, *words[at + 1:]])
    yield spell([])
    yield f"{opcode} .{' .'.join(words)} {', '.join(operands)};"
    yield f"{opcode}. {'.'.join(words)} {', '.join(operands)};"
    yield f"{opcode}{''.join('.' + word for word in words)}. {', '.join(operands)};"
    yield spell(words).upper().replace("%R", "%r").replace("%P", "%p")


def typed(kind, *numbers):
    return [f"%{REGISTER[kind]}{number}" for number in numbers]


def by_type(opcode, count, shifts):
    """Every type with registers of its own, and with registers of 32 bits."""
    for kind in TYPES:
        mnemonic = f"{opcode}.{kind}" if kind else opcode
        own = typed(kind, *range(count))
        yield line(mnemonic, [*own[:-1], "%r3"] if shifts else own)
        yield line(mnemonic, typed("b32", *range(count)))
        yield line(mnemonic, [own[0], *["1"] * (count - 1)])


def logic():
    for opcode in ("and", "or", "xor"):
        yield from by_type(opcode, 3, False)
        yield from by_word(opcode, ["b32"], typed("b32", 0, 1, 2))
    for opcode in ("not", "cnot"):
        yield from by_type(opcode, 2, False)
        yield from by_word(opcode, ["b32"], typed("b32", 0, 1))
        for kind in ("pred", "b16", "b32", "b64"):
            yield from by_operand(f"{opcode}.{kind}", typed(kind, 0, 1), pool(FULL))
    yield from by_operand("and.b32", typed("b32", 0, 1, 2), pool(FULL))
    yield from by_operand("or.b16", typed("b16", 0, 1, 2), pool(FULL))
    yield from by_operand("xor.b64", typed("b64", 0, 1, 2), pool(FULL))
    yield from by_operand("and.pred", typed("pred", 0, 1, 2), pool(FULL))
    for opcode, kind in itertools.product(("and", "or", "xor"), ("pred", "b16", "b32", "b64")):
        yield from by_operand(f"{opcode}.{kind}", typed(kind, 0, 1, 2), short_pool(FULL))
    for opcode in ("nand", "nor", "xnor", "andn", "And", "and32", "lop", "lop2", "lop4", "shfr", "sh", "shll", "vsh", "vshl2", "vshr4", "shufl", "shfl_sync"):
        yield line(f"{opcode}.b32", typed("b32", 0, 1, 2))


def lop3():
    plain, both = ["%r0", "%r1", "%r2", "%r3", "0x40"], ["%r0|%p0", "%r1", "%r2", "%r3", "0x40", "%p1"]
    yield from by_type("lop3", 5, False)
    yield from by_word("lop3", ["b32"], plain)
    yield from by_word("lop3", ["or", "b32"], both)
    yield from by_operand("lop3.b32", plain, pool(FULL))
    yield from by_operand("lop3.or.b32", both, pool(FULL))
    yield from by_operand("lop3.and.b32", ["_|%p0", *both[1:]], short_pool(FULL))
    for opcode in ("or", "and", "xor", "nor", "eq"):
        yield line(f"lop3.{opcode}.b32", both)
        yield line(f"lop3.{opcode}.b32", plain)
        yield line(f"lop3.{opcode}.b64", ["%l0|%p0", "%l1", "%l2", "%l3", "0x40", "%p1"])
    yield line("lop3.b32", both)
    yield line("lop3.b32", ["%r0|%p0", *plain[1:]])


def shifts():
    for direction, mode in itertools.product("lr", ("clamp", "wrap")):
        yield from by_type(f"shf.{direction}.{mode}", 4, True)
        yield from by_operand(f"shf.{direction}.{mode}.b32", typed("b32", 0, 1, 2, 3), short_pool(FULL))
    yield from by_operand("shf.l.wrap.b32", typed("b32", 0, 1, 2, 3), pool(FULL))
    yield from by_word("shf", ["l", "clamp", "b32"], typed("b32", 0, 1, 2, 3))
    yield from by_word("shf", ["r", "wrap", "b32"], typed("b32", 0, 1, 2, 3))
    for opcode in ("shl", "shr"):
        yield from by_type(opcode, 3, True)
        yield from by_word(opcode, ["b32"], typed("b32", 0, 1, 2))
    yield from by_word("shr", ["s32"], typed("s32", 0, 1, 2))
    for kind in ("b16", "b32", "b64"):
        yield from by_operand(f"shl.{kind}", [*typed(kind, 0, 1), "%r2"], pool(FULL))
    yield from by_operand("shr.s32", ["%s0", "%s1", "%r2"], pool(FULL))
    for kind in ("b16", "b32", "b64", "u16", "u32", "u64", "s16", "s32", "s64"):
        yield from by_operand(f"shr.{kind}", [*typed(kind, 0, 1), "%r2"], short_pool(FULL))


SELECTORS = ("", ".b0", ".b3", ".h0", ".h1")


def video():
    plain, merge = ["%r0", "%r1", "%r2"], ["%r0.h1", "%r1.b0", "%r2.b3", "%r3"]
    for opcode in ("vshl", "vshr"):
        for d, a, sat, mode, op2 in itertools.product(("u32", "s32"), ("u32", "s32"), ("", ".sat"), (".clamp", ".wrap"), ("", ".add", ".min", ".max")):
            mnemonic = f"{opcode}.{d}.{a}.u32{sat}{mode}{op2}"
            for operands in (plain, [*plain, "%r3"], merge):
                yield line(mnemonic, operands)
        for selectors in itertools.product(SELECTORS, repeat=3):
            operands = [name + selector for name, selector in zip(plain, selectors)]
            yield line(f"{opcode}.u32.s32.u32.wrap", operands)
            yield line(f"{opcode}.s32.u32.u32.clamp", [*operands, "%r3"])
        for at, kind in itertools.product(range(3), TYPES):
            types = [kind if i == at else "u32" for i in range(3)]
            yield line(".".join([opcode, *filter(None, types), "clamp"]), plain)
        yield from by_operand(f"{opcode}.u32.u32.u32.clamp", plain, pool(FULL))
        yield from by_operand(f"{opcode}.s32.s32.u32.sat.wrap.min", [*plain, "%r3"], pool(FULL))
        yield from by_operand(f"{opcode}.u32.s32.u32.wrap", merge, pool(FULL))
        yield from by_word(opcode, ["s32", "u32", "u32", "sat", "wrap"], plain)
        yield from by_word(opcode, ["s32", "u32", "u32", "clamp", "add"], [*plain, "%r3"])


def shuffle_sync():
    operands = ["%r0", "%r1", "%r2", "%r3", "%r4"]
    yield from by_type("shfl.sync.up", 5, False)
    for mode in ("up", "down", "bfly", "idx"):
        yield line(f"shfl.sync.{mode}.b32", operands)
        yield line(f"shfl.sync.{mode}.b32", ["%r0|%p0", *operands[1:]])
        yield from by_operand(f"shfl.sync.{mode}.b32", operands, short_pool(FULL))
    yield from by_operand("shfl.sync.idx.b32", operands, pool(FULL))
    yield from by_operand("shfl.sync.bfly.b32", ["%r0|%p0", "%r1", "1", "31", "-1"], pool(FULL))
    yield from by_word("shfl", ["sync", "up", "b32"], operands)


def shuffle():
    operands = ["%r0", "%r1", "%r2", "%r3"]
    for kind in ("", "b32", "u32", "s32", "f32", "b64", "b16", "pred"):
        yield line(f"shfl.up.{kind}".rstrip("."), typed(kind, 0, 1, 2, 3))
    for mode in ("up", "down", "bfly", "idx"):
        yield from by_operand(f"shfl.{mode}.b32", operands, short_pool(OLD))
    yield from by_operand("shfl.idx.b32", operands, pool(OLD))
    yield from by_operand("shfl.down.b32", ["%r0|%p0", "%r1", "1", "31"], short_pool(OLD))
    yield from by_word("shfl", ["up", "b32"], operands)


# ---- gates ---------------------------------------------------------------------------------------------------------

VERSIONS = "1.0 1.3 1.4 1.5 2.0 2.3 3.0 3.1 3.2 4.0 4.2 4.3 5.0 5.9 6.0 6.2 6.3 6.4 7.0 7.8 8.1 8.2 8.3 9.0 9.1".split()
TARGETS = "sm_10 sm_13 sm_20 sm_21 sm_30 sm_32 sm_35 sm_50 sm_53 sm_60 sm_62 sm_70 sm_72 sm_75 sm_80 sm_86 sm_89 sm_90 sm_90a sm_100".split()

GATED = ["", "and.pred %p0, %p1, %p2;", "and.b32 %r0, %r1, %r2;", "xor.b64 %l0, %l1, %l2;", "not.b16 %h0, %h1;", "cnot.b32 %r0, %r1;",
         "shl.b32 %r0, %r1, %r2;", "shr.s64 %ls0, %ls1, %r2;", "shf.l.clamp.b32 %r0, %r1, %r2, %r3;", "shf.r.wrap.b32 %r0, %r1, %r2, 3;",
         "lop3.b32 %r0, %r1, %r2, %r3, 0x40;", "lop3.or.b32 %r0|%p0, %r1, %r2, %r3, 0x40, %p1;", "lop3.and.b32 _|%p0, %r1, %r2, %r3, 0x40, %p1;",
         "vshl.u32.u32.u32.clamp %r0, %r1, %r2;", "vshr.s32.s32.u32.sat.wrap.add %r0, %r1, %r2, %r3;", "vshr.s32.s32.u32.wrap %r0.h1, %r1, %r2, %r3;",
         "shfl.up.b32 %r0, %r1, 1, 0;", "shfl.idx.b32 %r0|%p0, %r1, %r2, %r3;", "shfl.sync.up.b32 %r0, %r1, 1, 0, -1;",
         "shfl.sync.bfly.b32 %r0|%p0, %r1, %r2, %r3, %r4;"]


def groups():
    def group(name, version, target, lines):
        return Group(name, version, target, unique(lines), header(version, target), FOOTER)

    for name, lines in (("logic", logic()), ("lop3", lop3()), ("shift", shifts()), ("video", video()), ("shfl.sync", shuffle_sync())):
        yield group(name, *FULL, lines)
    yield group("shfl", *OLD, shuffle())
    for version, target in itertools.product(VERSIONS, TARGETS):
        if (version, target) not in (FULL, OLD):
            yield group("gates", version, target, GATED)
