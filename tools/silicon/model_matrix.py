"""Products of matrices as an H100 and an H200 compute them, in whole numbers: what one element of d is, and which lane holds which element. The layouts
are the manual's formulas (9.7.14), not the table of isa/ptx/fragments.def; those of wmma, which the manual leaves open, are what the cards showed."""

import functools
import struct

FORMATS = {"f16": (5, 10), "bf16": (8, 7), "tf32": (8, 10), "f32": (8, 23), "e5m2": (5, 2), "e3m2": (3, 2), "e2m3": (2, 3), "e2m1": (2, 1)}  # bits of exponent and fraction
ALL_NUMBERS = ("e3m2", "e2m3", "e2m1")  # neither NaN nor infinity
BITS = {"f16": 16, "bf16": 16, "tf32": 32, "f32": 32, "f64": 64, "e4m3": 8, "e5m2": 8, "s8": 8, "u8": 8, "s4": 4, "u4": 4, "b1": 1, "s32": 32, "e3m2": 6, "e2m3": 6, "e2m1": 4}
NAN = {"f16": 0x7FFF, "f32": 0x7FFFFFFF}
CUT = 25  # bits that are kept below the largest exponent of a block


# ---- numbers --------------------------------------------------------------------------------------------------------

def read(kind, bits):
    """(what, sign, exponent, places, unit): places * 2^unit; the exponent is that of the format, also of subnormal numbers."""
    if kind == "e4m3":
        sign, field, rest = bits >> 7 & 1, bits >> 3 & 15, bits & 7
        if field == 15 and rest == 7:
            return "nan", sign, 0, 0, 0
        exponent = max(field, 1) - 7
        return "number", sign, exponent, rest | (8 if field else 0), exponent - 3
    if kind == "tf32":
        bits >>= 13
    exponents, fraction = FORMATS[kind]
    sign, field, rest = bits >> exponents + fraction & 1, bits >> fraction & (1 << exponents) - 1, bits & (1 << fraction) - 1
    if field == (1 << exponents) - 1 and kind not in ALL_NUMBERS:
        return ("nan" if rest else "infinite"), sign, 0, 0, 0
    exponent = max(field, 1) - (1 << exponents - 1) + 1
    return "number", sign, exponent, rest | (1 << fraction if field else 0), exponent - fraction


def product(x, y):
    sign = x[1] ^ y[1]
    kinds = {x[0], y[0]}
    if "nan" in kinds:
        return "nan", sign, 0, 0, 0
    if "infinite" in kinds:
        zero = any(number[0] == "number" and not number[3] for number in (x, y))
        return ("nan" if zero else "infinite"), sign, 0, 0, 0
    return "number", sign, x[2] + y[2], x[3] * y[3], x[4] + y[4]


def shifted(value, by):
    return value << by if by >= 0 else value >> -by


def nearest(value, drop):
    """value / 2^drop, ties to even."""
    if drop <= 0:
        return value << -drop
    half, rest = 1 << drop - 1, value & (1 << drop) - 1
    whole = value >> drop
    return whole + (rest > half or (rest == half and whole & 1))


def encode(kind, negative, places, unit, to_nearest):
    """places * 2^unit: cut toward zero, or rounded to nearest; too large is infinite, zero is +0."""
    exponents, fraction = FORMATS[kind]
    bias = (1 << exponents - 1) - 1
    if not places:
        return 0
    exponent = max(unit + places.bit_length() - 1, 1 - bias)
    drop = exponent - fraction - unit
    code = nearest(places, drop) if to_nearest else shifted(places, -drop)
    code += exponent + bias - 1 << fraction if code else 0  # the leading one adds itself to the exponent
    code = min(code, (1 << exponents) - 1 << fraction)
    return code and code | negative << exponents + fraction


def summed(kind, addends, c):
    """One block: products and c, cut at CUT bits below the largest exponent, added, cut (f32) or rounded to nearest (f16)."""
    numbers = addends + [read(kind, c)]
    kinds = {(number[0], number[1]) for number in numbers}
    if any(what == "nan" for what, _ in kinds) or {("infinite", 0), ("infinite", 1)} <= kinds:
        return NAN[kind]
    for what, sign in kinds:
        if what == "infinite":
            return {"f16": 0x7C00, "f32": 0x7F800000}[kind] | sign << BITS[kind] - 1
    exponents, fraction = FORMATS[kind]
    top = max([2 - (1 << exponents - 1) - 7] + [number[2] for number in numbers if number[3]])
    total = 0
    for _, sign, _, places, unit in numbers:
        cut = shifted(places, unit - top + CUT)
        total += -cut if sign else cut
    return encode(kind, total < 0, abs(total), top - CUT, kind == "f16")


def single(bits):
    return struct.unpack("<f", struct.pack("<I", bits))[0]


def to_single(value):
    """The nearest f32, as a number of Python."""
    if value != value or value in (float("inf"), float("-inf")):
        return value
    try:
        return struct.unpack("<f", struct.pack("<f", value))[0]
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")


def single_bits(value):
    return NAN["f32"] if value != value else struct.unpack("<I", struct.pack("<f", value))[0]


def half(bits):
    return struct.unpack("<e", struct.pack("<H", bits & 0xFFFF))[0]


def half_cut(bits):
    """An f32 as f16, toward zero: too large a number becomes the largest one."""
    what, sign, _, places, unit = read("f32", bits)
    if what != "number":
        return NAN["f16"] if what == "nan" else sign << 15 | 0x7C00
    code = encode("f16", 0, places, unit, False)
    return sign << 15 | min(code, 0x7BFF)


def half_bits(value):
    """The nearest f16 of a number that f32 has."""
    if value != value:
        return NAN["f16"]
    sign = 0x8000 if struct.pack(">f", value)[0] & 0x80 else 0
    if abs(value) >= 65520:
        return sign | 0x7C00
    return struct.unpack("<H", struct.pack("<e", value))[0]


# ---- one element of d -----------------------------------------------------------------------------------------------

def block(kind, a, b, c, to, of=0):
    """`of` products at a time; 0: all."""
    step = of or len(a)
    for k in range(0, len(a), step):
        c = summed(to, [product(read(kind, x), read(kind, y)) for x, y in zip(a[k:k + step], b[k:k + step])], c)
    return c


def scale(kind, bits):
    """A scale factor: no sign; ue8m0 is a power of two."""
    if kind == "ue4m3":
        return read("e4m3", bits & 0x7F)
    return ("nan", 0, 0, 0, 0) if bits == 0xFF else ("number", 0, bits - 127, 1, bits - 127)


@functools.lru_cache(maxsize=64)
def factored(kind, elements, factor, factors):
    """Elements of a row, each with the factor of its run: of kind `factor`."""
    found = [read(kind, x) for x in elements]
    return [product(x, scale(factor, factors[i * len(factors) // len(found)])) for i, x in enumerate(found)] if factors else found


def scaled(kinds, a, b, c, to, factor=None, a_factors=(), b_factors=()):
    """.kind::…: one block. No GPU was asked."""
    pairs = zip(factored(kinds[0], tuple(a), factor, tuple(a_factors)), factored(kinds[1], tuple(b), factor, tuple(b_factors)))
    return summed(to, [product(x, y) for x, y in pairs], c)


def bytewise(kinds, a, b, c, to):
    """e4m3, e5m2: products 0 and 1 of each four are a block, 2 and 3 one on top of it; c is added to nearest."""
    total = 0
    for group in (0, 2):
        # as numbers of f16, which are normalised where f16 has them so
        pairs = [(as_half(kinds[0], a[k]), as_half(kinds[1], b[k])) for k in range(len(a)) if k & 2 == group]
        total = summed(to, [product(read("f16", x), read("f16", y)) for x, y in pairs], total)
    if to == "f16":
        return summed("f16", [product(read("f16", total), read("f16", 0x3C00))], c)
    return single_bits(to_single(single(total) + single(c)))


def as_half(kind, bits):
    what, sign, _, places, unit = read(kind, bits)
    return 0x7FFF if what == "nan" else 0x7C00 | sign << 15 if what == "infinite" else sign << 15 | encode("f16", 0, places, unit, True)


def quad(a, b, c, c_kind, to):
    """m8n8k4: arithmetic of f32."""
    p = [half(x) * half(y) for x, y in zip(a, b)]
    start = half(c) if c_kind == "f16" else single(c)
    add = lambda x, y: to_single(x + y)
    if to == "f16":
        return half_bits(add(add(start, add(p[0], p[1])), add(p[2], p[3])))
    total = 0.0
    for x in p:
        total = add(total, x)
    return single_bits(add(total, start))


def exact(bits):
    """A finite f64: (places, unit), with the sign in the places."""
    field, rest = bits >> 52 & 2047, bits & (1 << 52) - 1
    places = rest | (1 << 52 if field else 0)
    return (-places if bits >> 63 else places), max(field, 1) - 1075


def fused(x, y, c, rounding):
    """x * y + c, rounded once."""
    infinity, magnitude = 0x7FF << 52, (1 << 63) - 1
    sign = x >> 63 ^ y >> 63
    for number in (y, c, x):
        if number & magnitude > infinity:
            return number | 1 << 51
    if infinity in (x & magnitude, y & magnitude):
        if not x & magnitude or not y & magnitude or (c & magnitude == infinity and c >> 63 != sign):
            return 0xFFF8 << 48
        return sign << 63 | infinity
    if c & magnitude == infinity:
        return c
    (p, p_unit), (q, q_unit), (r, r_unit) = exact(x), exact(y), exact(c)
    unit = min(p_unit + q_unit, r_unit)
    total = (p * q << p_unit + q_unit - unit) + (r << r_unit - unit)
    if not total:
        both = sign == c >> 63
        return (sign if both else rounding == "rm") << 63
    negative, places = total < 0, abs(total)
    exponent = max(unit + places.bit_length() - 1, -1022)
    drop = exponent - 52 - unit
    up = {"rp": not negative, "rm": negative}.get(rounding, False)
    code = nearest(places, drop) if rounding == "rn" else -shifted(-places, -drop) if up else shifted(places, -drop)
    code += exponent + 1022 << 52
    if code >= infinity:
        code = infinity if rounding == "rn" or up else infinity - 1
    return negative << 63 | code


def doubles(a, b, c, rounding):
    for x, y in zip(a, b):
        c = fused(x, y, c, rounding)
    return c


def signed(value, bits):
    return value - (value >> bits - 1 << bits)


def integers(kinds, a, b, c, clamps):
    values = [[signed(v, BITS[kind]) if kind[0] == "s" else v for v in operand] for kind, operand in zip(kinds, (a, b))]
    total = signed(c, 32) + sum(x * y for x, y in zip(*values))
    if clamps:
        total = max(-1 << 31, min(total, (1 << 31) - 1))
    return total & 0xFFFFFFFF


def wmma(a, b, c, c_kind, to, clamps):
    """`clamps`: .satfinite, which is seen only where an f32 c goes with an f16 d."""
    if c_kind == "f16" and to == "f32":
        return block("f16", a, b, single_bits(half(c)), "f32")
    if c_kind == "f32" and to == "f16":
        result = block("f16", a, b, c, "f32")
        return half_cut(result) if clamps else half_bits(single(result))
    return block("f16", a, b, c, to)


# ---- layouts --------------------------------------------------------------------------------------------------------

def elements(bits):
    return max(1, 32 // bits)


def place_mma(operand, bits, lane, index):
    """Row and column of element `index` of a lane; mma, every shape but m8n8k4 with f16."""
    g, t, each = lane // 4, lane % 4, elements(bits)
    chunk, e = divmod(index, each)
    if operand == "a":
        return g + 8 * (chunk % 2), each * t + e + 4 * each * (chunk // 2)
    if operand == "b":
        return each * t + e + 4 * each * chunk, g
    return g + 8 * (index // 2), 2 * t + index % 2


def place_quad(operand, kind, layout, lane, index):
    """m8n8k4 with f16: (product, row, column)."""
    upper, part = 4 * (lane // 16), lane // 4 % 4
    if operand == "a":
        return (part, lane % 4 + upper, index) if layout == "row" else (part, index + upper, lane % 4)
    if operand == "b":
        return (part, lane % 4, index + upper) if layout == "row" else (part, index, lane % 4 + upper)
    if kind == "f16":
        return part, lane % 4 + upper, index
    return part, (lane & 1) + (index & 2) + upper, (index & 4) + (lane & 2) + (index & 1)


def place_wmma(operand, shape, bits, lane, index):
    m, n, _ = shape
    g, t, each = lane // 4, lane % 4, elements(bits)
    r, e = divmod(index, each)
    if operand == "c":
        pair, q = (e, r) if bits == 16 else (r % 2, r // 2)
        square, lies = m == n == 16, m == 8 and n == 32
        side, along = g + 8 * (q % 2) + (0 if square else 16 * (q // 2)), 2 * t + pair + (8 * (q // 2) if square else 0)
        return (along, side) if lies else (side, along)
    side, along, size = g, t * each + e, m if operand == "a" else n
    if bits == 16 and size == 8:
        along += 8 * (r % 2)
    elif bits == 16 and (operand == "a" or size == 32):
        side, along = side + 8 * (r % 2) + (16 * (r // 4) if size == 32 else 0), along + 8 * (r // 2 % 2)
    elif bits == 16:
        side, along = side + 8 * (r // 2 % 2), along + 8 * (r % 2)
    elif bits == 32:
        low, high = (r // 2, r % 2) if operand == "a" else (r % 2, r // 2)
        side, along = side + 8 * high, along + 4 * low
    else:
        side += 8 * r
    return (side, along) if operand == "a" else (along, side)


def nibbles(bits, k):
    """Of metadata, for a row."""
    return k // 2 if bits == 32 else k // 8 if bits == 4 else k // 4


def metadata_place(bits, k, row, nibble, selector):
    """Lane and first bit of a nibble of metadata."""
    g, upper, count = row % 8, row // 8, nibbles(bits, k)
    if count == 4:
        return 4 * g + selector, 16 * upper + 4 * nibble
    if count == 8 and bits >= 16:
        return 4 * g + 2 * selector + nibble // 4, 16 * upper + 4 * (nibble % 4)
    if count == 8:
        return 4 * g + 2 * selector + upper, 4 * nibble
    return 4 * g + upper + 2 * (nibble // 8), 4 * (nibble % 8)


def scale_place(operand, line, thread):
    """The lane that has the scale factors of a row of A, or of a column of B."""
    return 4 * (line % 8) + 2 * thread + line // 8 if operand == "a" else 4 * line + thread


def select(bits, chosen, column):
    """The elements of a column of B that a row's stored elements go with."""
    if bits == 32:
        halves = [word >> 16 * part & 0xFFFF for word in column for part in (0, 1)]
        return [halves[4 * k + (nibble & 3)] | halves[4 * k + (nibble >> 2)] << 16 for k, nibble in enumerate(chosen)]
    if bits == 4:
        return [column[8 * q + 2 * (nibble >> 2 * pair & 3) + e] for q, nibble in enumerate(chosen) for pair in (0, 1) for e in (0, 1)]
    return [column[4 * q + (nibble >> 2 * e & 3)] for q, nibble in enumerate(chosen) for e in (0, 1)]
