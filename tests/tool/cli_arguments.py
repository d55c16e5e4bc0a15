#!/usr/bin/env python3
"""Arguments of `lanewise run`: what each spelling means, and the message for each that means nothing. The kernels do nothing, so that
what is printed is what was passed."""

import ctypes
import fractions
import random
import struct

import cli

EMPTY = {n: cli.module(cli.kernel("k", *(f".u64 p{i}" for i in range(n)))) for n in (1, 2, 3, 4)}
LIMITS = {t: (0 if t[0] == "u" else -(1 << (int(t[1:]) - 1)), (1 << (int(t[1:]) - (t[0] == "s"))) - 1)
          for t in ("u8", "u16", "u32", "u64", "s8", "s16", "s32", "s64", "b8", "b16", "b32", "b64")}
FLOATS = {"f16": (5, 10), "bf16": (8, 7), "f32": (8, 23), "f64": (11, 52)}


def nearest(text, exponent, mantissa):
    """The bits of the number nearest to a decimal text, ties to even: exact, by fractions."""
    value = fractions.Fraction(text)
    sign, value = value < 0, abs(value)
    bias, least = (1 << (exponent - 1)) - 1, 2 - (1 << (exponent - 1))
    power = least
    while value >= fractions.Fraction(2) ** (power + 1):
        power += 1
    scaled = value / fractions.Fraction(2) ** (power - mantissa)
    whole = scaled.numerator // scaled.denominator
    rest = scaled - whole
    if rest > fractions.Fraction(1, 2) or (rest == fractions.Fraction(1, 2) and whole & 1):
        whole += 1
    bits = whole if power == least and whole < 1 << mantissa else ((power + bias - 1) << mantissa) + whole
    return bits | sign << (exponent + mantissa)


class Arguments(cli.Case):
    def printed(self, *args, code=0):
        """What the buffers print, one text a line."""
        self.file("k.ptx", EMPTY[len(args)])
        return self.lanewise("run", "k.ptx", *(f"--arg={a}" for a in args))

    def prints(self, arg, values, type_of=None):
        """One argument prints these values."""
        name = type_of or arg.split("[")[0]
        count = len(values.split())
        self.assertEqual(self.printed(arg), (0, f"arg 0 {name}[{count}]:{' ' if count else ''}{values}\n", ""), arg)

    def refused(self, arg, message, at, more="", code=2):
        """One argument ends in this message, with the caret below the text `at`."""
        shown = f"  {arg}\n  {' ' * at}^{'~' * (len(more) - 1)}\n"
        self.assertEqual(self.printed(arg), (code, "", f"lanewise: error[{message}\n{shown}"), arg)


class Buffers(Arguments):
    def test_lists(self):
        self.prints("u32[]=1,2,3,4:print", "1 2 3 4")
        self.prints("u32[4]=1,2,3,4:print", "1 2 3 4")
        self.prints("u32[]=7:print", "7")
        self.prints("s8[]=-128,127,-0,+5:print", "-128 127 0 5")
        self.prints("u16[]=0xffff,0XaB,0b101,0B1,010:print", "65535 171 5 1 10")
        self.prints("b8[]=1,-1,0xab:print", "0x01 0xff 0xab")
        self.prints("b64[]=-1:print", "0xffffffffffffffff")

    def test_fill_and_zeros(self):
        self.prints("u32[3]=9:print", "9 9 9")
        self.prints("u32[3]:print", "0 0 0")
        self.prints("f64[2]=-1.5:print", "-1.5 -1.5")
        self.prints("u8[5]=255:print", "255 255 255 255 255")
        self.prints("u32[0]:print", "")
        self.prints("u32[0]=5:print", "")
        self.assertEqual(self.printed("u8[2K]=3:print")[1].count(" 3"), 2048)
        self.assertEqual(self.printed("u8[1M]=1:print")[1].count(" 1"), 1048576)
        self.assertEqual(self.printed("u8[0x10]=1:print")[1].count(" 1"), 16)

    def test_ranges(self):
        self.prints("u32[5]=range:print", "0 1 2 3 4")
        self.prints("u8[256]=range:print", " ".join(map(str, range(256))))
        self.prints("s32[4]=range:-2:print", "-2 -1 0 1")
        self.prints("s8[3]=range:-128:127:print", "-128 -1 126")
        self.prints("u32[3]=range:10:-5:print", "10 5 0")
        self.prints("b16[3]=range:0xfffd:print", "0xfffd 0xfffe 0xffff")
        self.prints("u64[2]=range:0xfffffffffffffffe:print", "18446744073709551614 18446744073709551615")
        self.prints("s64[2]=range:0x7ffffffffffffffe:print", "9223372036854775806 9223372036854775807")
        self.prints("f32[4]=range:print", "0 1 2 3")
        self.prints("f64[11]=range:0:0.1:print", " ".join(repr(i * 0.1).removesuffix(".0") for i in range(11)))
        self.prints("f32[3]=range:1e3:-.5:print", "1000 999.5 999")
        self.prints("u32[0]=range:print", "")

    def test_outputs(self):
        self.assertEqual(self.printed("u32[2]=1,0x3f800000:print:print=hex:print=f32:print=u8:out=a.bin:out=a.npy:out=b.bin"),
                         (0, "arg 0 u32[2]: 1 1065353216\narg 0 u32[2]: 0x00000001 0x3f800000\n"
                             f"arg 0 f32[2]: {2**-149:.6g} 1\narg 0 u8[8]: 1 0 0 0 0 0 128 63\n", ""))
        for name in ("a.bin", "b.bin"):
            self.assertEqual((self.folder / name).read_bytes(), struct.pack("<II", 1, 0x3f800000))
        self.assertTrue((self.folder / "a.npy").read_bytes().startswith(b"\x93NUMPY"))

    def test_files(self):
        data = bytes(range(32))
        self.file("in.bin", data)
        self.prints("u8[]=@in.bin:print", " ".join(map(str, data)))
        self.prints("u32[8]=@in.bin:print=hex", " ".join(f"0x{v:08x}" for v in struct.unpack("<8I", data)), "u32")
        self.assertEqual(self.printed("b64[]=@in.bin:out=copy.bin"), (0, "", ""))
        self.assertEqual((self.folder / "copy.bin").read_bytes(), data)
        self.file("empty", b"")
        self.prints("u32[]=@empty:print", "")

    def test_files_with_colons(self):
        self.file("a:b:printer:out", b"\1\2")
        self.prints("u8[]=@a:b:printer:out:print", "1 2")
        self.assertEqual(self.printed("u8[]=@a:b:printer:out:out=c:d:print=hex"), (0, "arg 0 u8[2]: 0x01 0x02\n", ""))
        self.assertEqual((self.folder / "c:d").read_bytes(), b"\1\2")

    def test_standard_streams(self):
        self.file("k.ptx", EMPTY[1])
        self.gives(["run", "k.ptx", "-a", "u8[]=@-:print:out=-"], stdin="abc", out="arg 0 u8[3]: 97 98 99\nabc")
        self.gives(["run", "-", "-a", "u8[]=@-"], 5, stdin=EMPTY[1],
                   err="lanewise: error[LW6000]: cannot read '-': standard input can be read only once\n")

    def test_input_is_output(self):
        self.file("x.bin", b"\1\2\3")
        self.assertEqual(self.printed("u8[]=@x.bin:out=x.bin"), (0, "", ""))
        self.assertEqual((self.folder / "x.bin").read_bytes(), b"\1\2\3")

    def test_mixes(self):
        self.file("in.bin", b"\1\0\2\0")
        self.assertEqual(self.printed("u16[]=@in.bin:print", "s32[]=1,-1:print", "f32[2]:print", "u8[3]=range:print=hex"),
                         (0, "arg 0 u16[2]: 1 2\narg 1 s32[2]: 1 -1\narg 2 f32[2]: 0 0\narg 3 u8[3]: 0x00 0x01 0x02\n", ""))

    def test_a_long_line(self):
        code, out, err = self.printed("u32[100000]=range:print")
        self.assertEqual((code, err), (0, ""))
        self.assertEqual(out, "arg 0 u32[100000]: " + " ".join(map(str, range(100000))) + "\n")


class Numbers(Arguments):
    def test_limits(self):
        for name, (least, most) in LIMITS.items():
            bits = int(name[1:])
            show = (lambda v: f"0x{v & (1 << bits) - 1:0{bits // 4}x}") if name[0] == "b" else str
            self.prints(f"{name}[]={least},{most},{most:#x}:print", f"{show(least)} {show(most)} {show(most)}")
            for wrong in (least - 1, most + 1, 10 ** 30, -10 ** 30):
                self.refused(f"{name}[]=0,{wrong}", f"LW6013]: argument 0: {wrong} does not fit {name} ({least} to {most})",
                             len(name) + 5, str(wrong))

    def test_no_numbers(self):
        for name in ("u32", "s8", "b64"):
            for wrong in ("x", "1.5", "-", "0x", "0b2", "1e3", "1 ", " 1", "1u", "@", "range", "nan", "٣"):
                self.assertEqual(self.printed(f"{name}[]=7,{wrong}")[2].splitlines()[0],
                                 f"lanewise: error[LW6012]: argument 0: '{wrong}' is no value of type {name}")
        for name in FLOATS:
            for wrong in ("x", "1.5x", "-", "nanx", "1e", "0f3F80000", "0d3FF000000000000", " 1", "1_0"):
                self.assertEqual(self.printed(f"{name}[]=7,{wrong}")[2].splitlines()[0],
                                 f"lanewise: error[LW6012]: argument 0: '{wrong}' is no value of type {name}")

    def test_floats_are_nearest(self):
        """Decimal texts against exact rational arithmetic, near ties above all."""
        source = random.Random(3)
        texts = ["0.1", "1", "65504", "3.0517578125e-05", "5.9604644775390625e-08", "2.98023223876953125e-08",
                 "2.980232238769531250000000000000000000001e-08", "1.00048828125", "1.0004882812500000000000000000000001",
                 "1.00146484375", "1.0014648437499999999999999999999999", "1.00390625", "1.01171875", "16777217",
                 "16777217.0000000000000000000000000001", "9007199254740993", "4.9e-324", "1e-45", "0"]
        texts += [f"{source.uniform(-1, 1) * 10 ** source.randint(-6, 4):.{source.randint(1, 20)}g}" for _ in range(60)]
        for name, (exponent, mantissa) in FLOATS.items():
            digits = (1 + exponent + mantissa) // 4
            fit = [t for t in texts if name != "f16" or abs(float(t)) < 65520]
            want = " ".join(f"0x{nearest(t, exponent, mantissa):0{digits}x}" for t in fit)
            self.prints(f"{name}[]={','.join(fit)}:print=hex", want)

    def test_floats_read_back(self):
        """What is printed reads back to the same bits, for every kind of number of each type."""
        source = random.Random(4)
        for name, (exponent, mantissa) in FLOATS.items():
            width = 1 + exponent + mantissa
            bits = [source.getrandbits(width) for _ in range(200)] + [0, 1, 1 << (width - 1), (1 << mantissa) - 1, 1 << mantissa]
            infinite = ((1 << exponent) - 1) << mantissa
            bits = [b for b in bits if b & infinite != infinite]
            shown = self.printed(f"b{width}[]={','.join(map(str, bits))}:print={name}")[1]
            values = shown.split(": ")[1].split()
            self.prints(f"{name}[]={','.join(values)}:print=hex", " ".join(f"0x{b:0{width // 4}x}" for b in bits))

    def test_special_floats(self):
        self.prints("f32[]=inf,-inf,nan,INFINITY,0x1.8p3,-0,0f7F800001,0f3F800000:print=hex",
                    "0x7f800000 0xff800000 0x7fc00000 0x7f800000 0x41400000 0x80000000 0x7f800001 0x3f800000")
        self.prints("f64[]=inf,0d7ff0000000000001,-nan:print=hex", "0x7ff0000000000000 0x7ff0000000000001 0xfff8000000000000")
        self.prints("f16[]=inf,-inf,nan:print=hex", "0x7c00 0xfc00 0x7e00")
        self.prints("bf16[]=inf,-inf,nan:print", "inf -inf nan")
        self.prints("f16[]=0.1,1,-2.5,65504:print", "0.1 1 -2.5 6.55e+04")

    def test_float_limits(self):
        for name, text in (("f32", "1e39"), ("f16", "65520"), ("bf16", "3.4e38"), ("f64", "1e400"), ("f64", "-1e400")):
            self.refused(f"{name}[]={text}", f"LW6013]: argument 0: {text} does not fit {name}", len(name) + 3, text)
        self.prints("f16[]=65519:print=hex", "0x7bff")
        self.prints("f32[]=3.4028235e38:print", "3.4028235e+38")


def mixed(seed, number, index):
    """The 64-bit word of docs/cli.md."""
    mask = (1 << 64) - 1
    z = (seed * 0x9E3779B97F4A7C15 + (number + 1) * 0xD1342543DE82EF95 + (index + 1) * 0xA0761D6478BD642F) & mask
    z = ((z ^ z >> 30) * 0xBF58476D1CE4E5B9) & mask
    z = ((z ^ z >> 27) * 0x94D049BB133111EB) & mask
    return z ^ z >> 31


class Random(Arguments):
    def test_integers(self):
        for name, (least, most) in LIMITS.items():
            bits = int(name[1:])
            self.prints(f"{name}[50]=random:print=hex", " ".join(f"0x{mixed(0, 0, i) & (1 << bits) - 1:0{bits // 4}x}" for i in range(50)))
            low, high = max(least, -5) if name[0] == "s" else 3, 100
            want = [low + (mixed(0, 0, i) * (high - low + 1) >> 64) for i in range(300)]
            self.assertTrue(set(want) <= set(range(low, high + 1)) and len(set(want)) > 50)
            self.prints(f"{name}[300]=random:{low}:{high}:print=hex", " ".join(f"0x{v & (1 << bits) - 1:0{bits // 4}x}" for v in want))
        self.prints("u8[4]=random:9:9:print", "9 9 9 9")
        whole = " ".join(str(mixed(0, 0, i)) for i in range(20))
        self.prints("u64[20]=random:0:18446744073709551615:print", whole)
        self.prints(f"s64[20]=random:{-2**63}:{2**63 - 1}:print", " ".join(str(mixed(0, 0, i) - 2**63) for i in range(20)))

    def test_floats(self):
        def toward_zero(value):
            low = struct.unpack("<f", struct.pack("<f", value))[0]
            if abs(low) > abs(value):
                low = struct.unpack("<f", struct.pack("<I", struct.unpack("<I", struct.pack("<f", low))[0] - 1))[0]
            return low
        unit = [(mixed(0, 0, i) >> 11) * 2.0 ** -53 for i in range(500)]
        self.prints("f64[500]=random:print=hex", " ".join(f"0x{struct.unpack('<Q', struct.pack('<d', u))[0]:016x}" for u in unit))
        for low, high in ((0, 1), (-1, 1), (-3.5, -3.25), (1e10, 1e11)):
            want = [toward_zero(low + u * (high - low)) for u in unit]
            want = [w if w < high else low for w in want]
            spelling = "random" if (low, high) == (0, 1) else f"random:{low}:{high}"
            self.prints(f"f32[500]={spelling}:print=hex", " ".join(f"0x{struct.unpack('<I', struct.pack('<f', w))[0]:08x}" for w in want))
        for name in ("f16", "bf16"):
            values = [float(v) for v in self.printed(f"{name}[2000]=random:print")[1].split(": ")[1].split()]
            self.assertTrue(all(0 <= v < 1 for v in values))
            self.assertTrue(0.45 < sum(values) / len(values) < 0.55)

    def test_seed_and_position(self):
        self.file("k.ptx", EMPTY[2])
        args = ["run", "k.ptx", "-a", "u32[3]=random:print", "-a", "u32[3]=random:print"]
        for seed in (0, 1, 2 ** 64 - 1):
            want = "".join(f"arg {n} u32[3]: {' '.join(str(mixed(seed, n, i) & 0xffffffff) for i in range(3))}\n" for n in (0, 1))
            self.gives([*args, "--seed", str(seed)], out=want)
        self.assertEqual(self.lanewise(*args), self.lanewise(*args, "--seed", "0"))

    def test_pieces(self):
        """More elements than are made at once."""
        values = self.printed("u32[200000]=random:print")[1].split(": ")[1].split()
        self.assertEqual(len(values), 200000)
        for i in (0, 65535, 65536, 131071, 199999):
            self.assertEqual(int(values[i]), mixed(0, 0, i) & 0xffffffff)


class Refused(Arguments):
    def test_types(self):
        for word in ("int", "", "u33", "pred", "b128", "f32x2", "U32", "tf32", ".u32"):
            got = self.printed(f"{word}=1")
            self.assertEqual((got[0], got[2].splitlines()[0]), (2, f"lanewise: error[LW6010]: argument 0: '{word}' is no type of an argument"))
            self.assertIn("  the types are u8 u16 ", got[2])

    def test_shapes(self):
        for arg, at, size, why in (
                ("u32", 3, 1, "a = and a value must follow the type"),
                ("u32:print", 3, 1, "a = and a value must follow the type"),
                ("u32[", 3, 1, "the ] is missing"),
                ("u32[4", 3, 1, "the ] is missing"),
                ("u32[]", 5, 1, "a count must stand in the [ ], or a source must follow"),
                ("u32[]:print", 5, 1, "a count must stand in the [ ], or a source must follow"),
                ("u32[x]", 4, 1, "the count in [ ] must be a number, which may end in K, M, G or T"),
                ("u32[4k]=1", 4, 2, "the count in [ ] must be a number, which may end in K, M, G or T"),
                ("u32[-1]=1", 4, 2, "the count in [ ] cannot be negative"),
                ("u32[99999999999999999999]", 4, 20, "the count in [ ] is too large"),
                ("u32[0x10000000000001]", 4, 16, "the count in [ ] is too large"),
                ("u32[262145G]", 4, 7, "the count in [ ] is too large"),
                ("u32[4]x", 6, 1, "a = must stand here"),
                ("u32[4]=", 7, 1, "a value must follow the ="),
                ("u32=", 4, 1, "a value must follow the ="),
                ("u32=@f", 4, 2, "only a buffer takes this: write TYPE[COUNT]=…"),
                ("u32=range", 4, 5, "only a buffer takes this: write TYPE[COUNT]=…"),
                ("u32=random", 4, 6, "only a buffer takes this: write TYPE[COUNT]=…"),
                ("u32=1,2", 4, 3, "a scalar takes one value; write TYPE[]= for a list"),
                ("u32[]=@", 6, 1, "the name of a file must follow the @"),
                ("u32[]=range", 0, 11, "a range needs a count: u32[64]=range"),
                ("u32[]=random", 0, 12, "random values need a count: u32[64]=random"),
                ("u32[2]=range:1:2:3", 16, 2, "a range is written range, range:START or range:START:STEP"),
                ("u32[2]=random:1", 15, 1, "random values are written random or random:LOW:HIGH"),
                ("u32[2]=random:1:2:3", 17, 2, "random values are written random or random:LOW:HIGH"),
                ("u32[2]=random:2:1", 14, 3, "LOW must be below HIGH, and both must fit the type"),
                ("f32[2]=random:1:1", 14, 3, "LOW must be below HIGH, and both must fit the type"),
                ("f32[2]=random:0:nan", 14, 5, "LOW must be below HIGH, and both must fit the type"),
                ("f32[2]=random:0:1e39", 14, 6, "LOW must be below HIGH, and both must fit the type"),
                ("f64[2]=random:-1e308:1e308", 14, 12, "LOW must be below HIGH, and both must fit the type"),
                ("u32[]=1,2:bogus", 9, 6, "only :out=FILE and :print may follow a source")):
            self.refused(arg, f"LW6011]: argument 0: {why}", at, "x" * size)

    def test_counts(self):
        self.refused("u32[3]=1,2", "LW6014]: argument 0: the list gives 2 elements, not the 3 that are asked for", 7, "1,2")
        self.file("in.bin", bytes(12))
        self.refused("u32[4]=@in.bin", "LW6014]: argument 0: the file gives 3 elements, not the 4 that are asked for", 4, "4", code=5)

    def test_ranges(self):
        self.refused("u8[257]=range", "LW6013]: argument 0: the range's last element does not fit u8 (0 to 255)", 8, "range")
        self.refused("u8[2]=range:0:-1", "LW6013]: argument 0: the range's last element does not fit u8 (0 to 255)", 6, "range:0:-1")
        self.refused("s8[2]=range:127", "LW6013]: argument 0: the range's last element does not fit s8 (-128 to 127)", 6, "range:127")
        self.refused("u8[2]=range:256", "LW6013]: argument 0: 256 does not fit u8 (0 to 255)", 12, "256")
        self.refused("f16[70000]=range", "LW6013]: argument 0: the range's last element 69999 does not fit f16", 11, "range")
        self.refused("f32[2]=range:inf", "LW6013]: argument 0: the range's last element inf does not fit f32", 7, "range:inf")
        self.refused("u32[2]=range:", "LW6012]: argument 0: '' is no value of type u32", 13, "x")
        self.refused("u32[2]=range:0:1.5", "LW6012]: argument 0: '1.5' is no value of type u32", 15, "1.5")
        self.refused("f16[2]=random:x:1", "LW6012]: argument 0: 'x' is no value of type f16", 14, "x")

    def test_unknown_sources(self):
        hint = "  a buffer takes values, @FILE, range or random\n"
        for arg, hinted in (("u32[2]=rnd", True), ("f32[]=zeros", True), ("u32[2]=1x", False), ("u32[]=1,rnd", False), ("u32=rnd", False)):
            got = self.printed(arg)
            self.assertIn("LW6012]", got[2])
            self.assertEqual(got[2].endswith(hint), hinted, arg)

    def test_outputs(self):
        self.refused("u32[1]:print=", "LW6015]: argument 0: print takes hex or a type", 13, "x")
        self.refused("u32[1]:print=int", "LW6015]: argument 0: print takes hex or a type", 13, "int")
        self.refused("u32[1]:out=", "LW6015]: argument 0: the name of a file must follow :out=", 6, "12345")
        self.refused("u32=1:print", "LW6015]: argument 0: a scalar has no output; only buffers do", 5, "123456")
        self.refused("u32[1]:bogus", "LW6015]: argument 0: this is no output; :out=FILE, :print, :print=hex and :print=TYPE are", 6, "123456")
        self.refused("u32[1]:print=u64", "LW6015]: argument 0: the buffer is no whole number of elements of this type", 13, "u64")

    def test_files(self):
        self.file("in.bin", bytes(13))
        self.assertEqual(self.printed("u32[]=@in.bin"), (5, "", "lanewise: error[LW6035]: 'in.bin' has 13 bytes, which is no whole number of u32\n"))
        self.assertEqual(self.printed("u32[]=@no"), (5, "", "lanewise: error[LW6000]: cannot read 'no': No such file or directory\n"))
        self.assertEqual(self.printed("u32[]=@."), (5, "", "lanewise: error[LW6000]: cannot read '.': Is a directory\n"))
        self.assertEqual(self.printed("u32[1]:out=no/file"),
                         (5, "", "lanewise: error[LW6001]: cannot write 'no/file': No such file or directory\n"))
        self.assertEqual(self.printed("u32[1]:out=."), (5, "", "lanewise: error[LW6001]: cannot write '.': Is a directory\n"))
        self.assertEqual(self.printed("u32[1]:out=/dev/full"),
                         (5, "", "lanewise: error[LW6001]: cannot write '/dev/full': No space left on device\n"))
        self.file("odd", bytes(4))
        got = self.printed("u32[]=@odd:print=u64")
        self.assertEqual((got[0], got[2].splitlines()[0]),
                         (5, "lanewise: error[LW6015]: argument 0: the buffer is no whole number of elements of this type"))

    def test_long_and_odd_text(self):
        got = self.printed("u32[]=" + "1," * 3000 + "x")
        self.assertEqual(got[0], 2)
        self.assertLess(max(map(len, got[2].splitlines())), 130)
        self.assertIn("argument 0: 'x' is no value of type u32", got[2])
        self.assertIn("?[31m", self.printed("\33[31m=1")[2])


class Parameters(cli.Case):
    def fails(self, params, args, message, kernel="k", code=2):
        self.file("k.ptx", cli.module(cli.kernel(kernel, *params)))
        got = self.lanewise("run", "k.ptx", *(f"--arg={a}" for a in args))
        self.assertEqual((got[0], got[1]), (code, ""), got)
        self.assertEqual(got[2].splitlines()[0], f"lanewise: error[{message}")
        return got[2]

    def accepts(self, params, args):
        self.file("k.ptx", cli.module(cli.kernel("k", *params)))
        self.gives(["run", "k.ptx", *(f"--arg={a}" for a in args)])

    def test_scalars(self):
        params = [".u8 a", ".s16 b", ".b32 c", ".f32 d", ".u64 e", ".f64 f", ".b64 g", ".b16 h"]
        self.accepts(params, ["u8=1", "u16=2", "f32=1.5", "b32=7", "u64=0", "f64=2", "s64=-1", "f16=1.5"])
        self.accepts(params, ["s8=-1", "b16=2", "s32=-1", "f32=0f3F800000", "b64=1", "b64=2", "f64=1", "bf16=1"])

    def test_count(self):
        params, shown = [".u64 p", ".u32 n"], "  kernel: k(.u64 p, .u32 n)\n"
        for args in ([], ["u64=0"], ["u64=0", "u32=1", "u32=2"]):
            err = self.fails(params, args, f"LW6020]: number of arguments for kernel 'k': 2 needed, {len(args)} given")
            self.assertTrue(err.endswith("\n" + shown), err)

    def test_size(self):
        err = self.fails([".u64 p", ".u32 n"], ["u64=0", "u64=7"], "LW6021]: argument 1: u64 has 8 bytes, and parameter 'n' has 4")
        self.assertEqual(err.splitlines()[1:], ["  u64=7", "  ^~~", "  kernel: k(.u64 p, .u32 n)"])
        hint = "  if the kernel takes an address here, pass a buffer: TYPE[COUNT]=…"
        for type_, arg, bytes_, hinted in (("u64", "f32=1", 8, True), ("b64", "u16=1", 8, True), ("f64", "f32=1", 8, False),
                                           ("u32", "u16=1", 4, False), ("u32", "u64=1", 4, False)):
            word = arg.split("=")[0]
            err = self.fails([f".{type_} p"], [arg],
                             f"LW6021]: argument 0: {word} has {int(word[1:]) // 8} bytes, and parameter 'p' has {bytes_}")
            self.assertEqual(hint in err.splitlines(), hinted, arg)
        self.fails([".u32 n"], ["f64=7"], "LW6021]: argument 0: f64 has 8 bytes, and parameter 'n' has 4")

    def test_kind(self):
        self.fails([".u32 n"], ["f32=7"], "LW6022]: argument 0: f32 cannot go to parameter 'n', which is .u32")
        self.fails([".f64 x"], ["s64=7"], "LW6022]: argument 0: s64 cannot go to parameter 'x', which is .f64")

    def test_buffers(self):
        self.accepts([".u64 .ptr .global .align 4 p"], ["u32[4]"])
        self.accepts([".b64 p"], ["u32[4]"])
        self.fails([".f64 p"], ["u32[4]"], "LW6023]: argument 0: parameter 'p' is .f64 and cannot hold the address of a buffer")
        self.fails([".u16 p"], ["u32[4]"], "LW6023]: argument 0: parameter 'p' is .u16 and cannot hold the address of a buffer")

    def test_arrays_by_value(self):
        params = [".align 8 .b8 s[16]"]
        self.file("s.bin", bytes(16))
        self.file("short.bin", bytes(15))
        for arg in ("b8[16]=range", "u64[2]=1,2", "b8[]=@s.bin", "b8[16]", "f32[4]=1.5", "u32[4]=random"):
            self.accepts(params, [arg])
        err = self.fails(params, ["u32[5]"], "LW6021]: argument 0: the array has 20 bytes, and parameter 's' has 16")
        self.assertIn("  kernel: k(.b8[16] s)\n", err)
        self.fails(params, ["b8[]=@short.bin"], "LW6021]: argument 0: the array has 15 bytes, and parameter 's' has 16", code=5)
        self.fails(params, ["u64=1"], "LW6024]: argument 0: parameter 's' is an array of 16 bytes and takes no scalar of another size")
        self.fails(params, ["u8[16]=1:print"], "LW6025]: argument 0: parameter 's' is an array that is passed by value, "
                                               "so that it has no output")


class Members(ctypes.Structure):
    """What C makes of it is the witness."""
    _fields_ = [("a", ctypes.c_int8), ("b", ctypes.c_double), ("c", ctypes.c_int16 * 3), ("d", ctypes.c_float), ("e", ctypes.c_uint8)]


def copy(params, *moves):
    """A kernel that stores bytes of its parameters: (parameter, offset, count) one after the other into the buffer of the last one."""
    body, at = [".reg .b64 x; .reg .b32 a; ld.param.u64 x, [out];"], 0
    for name, offset, count in moves:
        for i in range(count):
            body.append(f"ld.param.u8 a, [{name}+{offset + i}]; st.global.u8 [x+{at}], a;")
            at += 1
    return cli.module(cli.kernel("k", *params, ".u64 out", body="\n".join([*body, "ret;"])))


class Structs(cli.Case):
    def test_laid_out_as_c_does(self):
        size = ctypes.sizeof(Members)
        self.file("k.ptx", copy([f".align 8 .b8 s[{size}]"], ("s", 0, size)))
        value = bytes(Members(-5, 2.5, (ctypes.c_int16 * 3)(1, -2, 3), 0.5, 200))
        struct = "{s8=-5,f64=2.5,s16[3]=1,-2,3,f32=0.5,u8=200}"
        code, out, err = self.lanewise("run", "k.ptx", "-a", struct, "-a", f"u8[{size}]:print")
        self.assertEqual((code, err), (0, ""))
        self.assertEqual(bytes(map(int, out.split(": ")[1].split())), value)

    def test_pointers_and_shared_buffers(self):
        body = """.reg .b64 x, y, z; .reg .b32 a, b;
            ld.param.u32 a, [s]; ld.param.u64 x, [s+8]; ld.param.u64 y, [s+16]; ld.param.u64 z, [p];
            ld.global.u32 b, [x+4]; add.u32 a, a, b; st.global.u32 [y+4], a; st.global.u32 [x], 9; ret;"""
        self.file("k.ptx", cli.module(cli.kernel("k", ".u64 p", ".align 8 .b8 s[24]", body=body)))
        self.gives(["run", "k.ptx", "-a", "u32[2]:print:print=u16", "-a", "{u32=30,*u32[3]=range:5:print,*u32[]=&0}"],
                   out="arg 0 u32[2]: 0 36\narg 0 u16[4]: 0 0 36 0\narg 1+8 u32[3]: 9 6 7\n")
        self.file("two.ptx", cli.module(cli.kernel("k", ".u64 p", ".u64 q", body="""
            .reg .b64 x, y; ld.param.u64 x, [p]; ld.param.u64 y, [q]; sub.u64 y, y, x; st.global.u64 [x], y; ret;""")))
        self.gives(["run", "two.ptx", "-a", "u64[2]=7", "-a", "u32[]=&0:print"], out="arg 1 u32[4]: 0 0 7 0\n")

    def test_scalars_for_arrays(self):
        self.file("k.ptx", copy([".align 2 .b8 h[2]", ".align 4 .b8 w[4]"], ("h", 0, 2), ("w", 0, 4)))
        value = struct.pack("<ei", 1.75, -2)
        self.gives(["run", "k.ptx", "-a", "f16=1.75", "-a", "s32=-2", "-a", "u8[6]:print"], out=f"arg 2 u8[6]: {' '.join(map(str, value))}\n")

    def test_refused(self):
        self.file("k.ptx", cli.module(cli.kernel("k", ".u64 p", ".align 4 .b8 s[8]")))
        for first, second, part in (("u64[1]", "{u32=1}", "LW6021]: argument 1: the struct has 4 bytes, and parameter 's' has 8"),
                                    ("u64[1]", "{u32=1,u64=2}", "LW6021]: argument 1: the struct, as far as it goes, has 16 bytes"),
                                    ("{u64=1}", "{u64=1}", "LW6011]: argument 0: a struct goes to a parameter that is an array"),
                                    ("u64[1]", "{u32=1", "LW6011]: argument 1: a struct ends with }"), ("u64[1]", "{}", "LW6011]: argument 1: a member"),
                                    ("u64[1]", "{u32=x}", "LW6012]: argument 1: 'x' is no value of type u32"),
                                    ("u64[1]", "{*u32=1,u32=2}", "LW6011]: argument 1: a pointer points to a buffer"),
                                    ("u64[1]", "{u32[2]=1:print}", "only the buffer of a pointer is shared or has outputs"),
                                    ("u64[1]", "{u32[]=&0}", "only the buffer of a pointer is shared or has outputs"),
                                    ("u64[]=&0", "u64=1", "LW6011]: argument 0: & and the number of an argument in front"),
                                    ("u64[]=&7", "u64=1", "LW6011]: argument 0: & and the number of an argument in front"),
                                    ("u64=0", "{*u64[]=&0}", "the argument that it names has no buffer"),
                                    ("u32[1]", "{*u64[]=&0}", "the buffer that it shares is smaller, or no whole number")):
            self.shows(["run", "k.ptx", "-a", first, "-a", second], 2, err=[part])
        self.file("f.pto", "func.func @f(%n: i64) {\n  return\n}\n")
        self.shows(["run", "f.pto", "-a", "{u32=1}"], 2, err=["structs and shared buffers are for kernels of PTX"])
        self.shows(["run", "k.ptx", "-a", "tex2d=u8[2,2]=&0", "-a", "u64=1"], 2, err=["LW6011"])


if __name__ == "__main__":
    cli.main()
