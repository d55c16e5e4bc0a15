"""What conversions to and from f16, bf16 and tf32 give, in exact fractions: the expectations of tests that no card recorded. `.satfinite` of f16, bf16 and
of .rn and .rz of tf32 is the manual's text; NaNs and .ftz are what an H200 does. Mixed precision is arithmetic of f32 on what halves are as f32."""

import fractions

import model

FORMATS = {"f16": (16, 10, -14), "bf16": (16, 7, -126), "tf32": (19, 10, -126), "f32": (32, 23, -126), "f64": (64, 52, -1022)}  # size, fraction, least normal exponent


def value(bits, kind):
    """A fraction, "nan" or "infinite"; without its sign."""
    size, places, least = FORMATS[kind]
    field, rest = bits >> places & (1 << size - 1 - places) - 1, bits & (1 << places) - 1
    if field == (1 << size - 1 - places) - 1:
        return "nan" if rest else "infinite"
    return fractions.Fraction(rest if not field else rest | 1 << places) * fractions.Fraction(2) ** (max(field, 1) - 1 + least - places)


def packed(number, negative, kind, rounding):
    """The bits of a magnitude, rounded once, without the sign."""
    size, places, least = FORMATS[kind]
    infinity = (1 << size - 1 - places) - 1 << places
    if number == "infinite":
        return infinity
    exponent = least
    while number >= fractions.Fraction(2) ** (exponent + 1):
        exponent += 1
    low, rest = divmod(number / fractions.Fraction(2) ** (exponent - places), 1)
    half = fractions.Fraction(1, 2)
    up = {"rn": rest > half or (rest == half and low % 2), "rz": False, "rm": negative and rest, "rp": not negative and rest}[rounding]
    bits = (exponent - least << places) + int(low) + bool(up)
    largest = rounding == "rz" or rounding == ("rp" if negative else "rm")
    return bits if bits < infinity else infinity - largest


def is_integer(kind):
    return kind[0] in "us"


def split(kind, bits):
    """(is it negative, its magnitude)."""
    if is_integer(kind):
        size = int(kind[1:])
        bits &= (1 << size) - 1
        negative = kind[0] == "s" and bits >> size - 1
        return negative, fractions.Fraction((1 << size) - bits if negative else bits)
    size = FORMATS[kind][0]
    return bits >> size - 1, value(bits & (1 << size - 1) - 1, kind)


def nan_of(words, kind, source, bits):
    """What a NaN becomes."""
    size, places, _ = FORMATS[kind]
    if "sat" in words:
        return 0
    if source == "bf16" and kind == "f32" and "ftz" not in words:
        return bits << 16
    if "f64" not in (kind, source):
        return (1 << size - 1) - 1
    width, room, _ = FORMATS[source]
    payload = bits & (1 << room) - 1
    payload = payload << places - room if places > room else payload >> room - places
    return (bits >> width - 1) << size - 1 | (1 << size - 1 - places) - 1 << places | 1 << places - 1 | payload


def one(words, kind, source, bits):
    size, places, _ = FORMATS[kind]
    negative, number = split(source, bits)
    if "ftz" in words and kind != "f16" and source != "f16" and number not in ("nan", "infinite") and number < fractions.Fraction(1, 1 << 126):
        number = fractions.Fraction(0)
    if number == "nan":
        return nan_of(words, kind, source, bits)
    integral = next((word[:2] for word in words if word in ("rni", "rzi", "rmi", "rpi")), None)
    if integral and number != "infinite":
        number = whole(number, negative, integral)
    rounding = next((word for word in words if word in ("rn", "rz", "rm", "rp")), "rn")
    d = packed(number, negative, kind, rounding)
    top = (1 << size - 1 - places) - 1 << places
    if "satfinite" in words and d == top:
        d -= 1
    if negative:
        return 0 if "sat" in words or "relu" in words else d | 1 << size - 1
    return min(d, packed(fractions.Fraction(1), 0, kind, "rn")) if "sat" in words else d


def whole(number, negative, rounding):
    """The integer beside a magnitude."""
    low, rest = divmod(number, 1)
    half = fractions.Fraction(1, 2)
    up = {"rn": rest > half or (rest == half and low % 2), "rz": False, "rm": negative and rest, "rp": not negative and rest}[rounding]
    return fractions.Fraction(int(low) + bool(up))


def integer(words, kind, source, bits):
    """Limited to the type; a NaN is 0, or of 64 bits the top one. As a register of 32 bits where it is shorter."""
    size = int(kind[1:])
    negative, number = split(source, bits)
    if number == "nan":
        return 1 << 63 if size == 64 else 0
    least, most = (-(1 << size - 1), (1 << size - 1) - 1) if kind[0] == "s" else (0, (1 << size) - 1)
    d = 1 << 64 if number == "infinite" else int(whole(number, negative, next(word[:2] for word in words if word in ("rni", "rzi", "rmi", "rpi"))))
    return min(max(-d if negative else d, least), most) % (1 << max(size, 32))


def away(words, bits):
    special = bits >> 23 & 255 == 255
    d = bits if special else bits + 0x1000
    d -= d % 0x2000
    return d - 0x2000 if "satfinite" in words and d >> 23 & 255 == 255 else d


def converted(mnemonic, operands):
    words = mnemonic.split(".")
    kind, source = words[-2:]
    if is_integer(kind):
        return integer(words, kind, source, operands[0])
    if kind == "tf32":
        return away(words, operands[0]) if "rna" in words else one(words, kind, source, operands[0]) << 13
    if kind.endswith("x2"):
        return one(words, kind[:-2], source, operands[0]) << 16 | one(words, kind[:-2], source, operands[1])
    return one(words, kind, source, operands[0])


def mixed(mnemonic, operands):
    """add, sub, fma of f32 whose first operands are halves."""
    words = mnemonic.split(".")
    wide = [one([], "f32", words[-1], bits) for bits in operands[:-1]]
    return model.single(words[:-1], [*wide, operands[-1]])
