"""What conversions to and from formats of 8, 6 and 4 bits and comparisons of halves give, in exact fractions. e4m3 and e5m2 to nearest are what an H200
does; the others are the manual's text: no card at hand has them."""

import fractions

import model_half

FORMATS = {"e4m3": (8, 3, 7, 0x7E, 0x7F), "e5m2": (8, 2, 15, 0x7B, 0x7F), "e2m3": (6, 3, 1, 0x1F, 0x1F), "e3m2": (6, 2, 3, 0x1F, 0x1F),
           "e2m1": (4, 1, 1, 7, 7)}  # bits, fraction, bias, largest magnitude, NaN
HOLDS = {"eq": "=", "ne": "<>", "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "equ": "=?", "neu": "<>?", "ltu": "<?", "leu": "<=?", "gtu": ">?", "geu": ">=?",
         "num": "<=>", "nan": "?"}


def number(code, kind):
    _, places, bias, _, _ = FORMATS[kind]
    field, rest = divmod(code, 1 << places)
    return fractions.Fraction(rest if not field else rest + (1 << places)) * fractions.Fraction(2) ** (max(field, 1) - bias - places)


def narrowed(words, kind, bits, source, random=None):
    """One number; `random`: 16 bits, or None for the nearest."""
    size, _, _, most, nan = FORMATS[kind]
    negative, magnitude = bits >> model_half.FORMATS[source][0] - 1, model_half.value(bits & (1 << model_half.FORMATS[source][0] - 1) - 1, source)
    if magnitude == "nan":
        return nan
    code = most if magnitude == "infinite" else max(k for k in range(most + 1) if number(k, kind) <= magnitude)
    if code < most:
        way = (magnitude - number(code, kind)) / (number(code + 1, kind) - number(code, kind))
        half = fractions.Fraction(1, 2)
        code += (way > half or (way == half and code % 2)) if random is None else int(way * 65536) + random >= 65536
    return (0 if "relu" in words else code | 1 << size - 1) if negative else code


def widened(words, kind, code):
    size, _, _, most, _ = FORMATS[kind]
    negative, magnitude = code >> size - 1 & 1, code & (1 << size - 1) - 1
    if size == 8 and magnitude > most and (kind == "e4m3" or magnitude > 0x7C):
        return 0x7FFF
    bits = 0x7C00 if size == 8 and magnitude > most else model_half.packed(number(magnitude, kind), False, "f16", "rn")
    return (0 if "relu" in words else bits | 0x8000) if negative else bits


def exponent(words, bits):
    """ue8m0 of an f32."""
    magnitude = model_half.value(bits & 0x7FFFFFFF, "f32")
    if magnitude == "nan":
        return 255
    code = 255
    if magnitude != "infinite":
        two = fractions.Fraction(2)
        fits = [k for k in range(255) if two ** (k - 127) >= magnitude] if "rp" in words else [k for k in range(255) if magnitude < two ** (k - 126)]
        code = min(fits, default=255)
    return 254 if code == 255 and "satfinite" in words else code


def random_half(words, kind, bits, random):
    size, places, least = model_half.FORMATS[kind]
    negative, magnitude = bits >> 31, model_half.value(bits & 0x7FFFFFFF, "f32")
    if magnitude == "nan":
        return 0x7FFF
    count, top = (13, 0x7C00) if kind == "f16" else (16, 0x7F80)
    code = model_half.packed(magnitude, False, kind, "rz")
    if code < top:
        low = model_half.value(code, kind)
        way = (magnitude - low) / fractions.Fraction(2) ** (max(code >> places, 1) - 1 + least - places)
        code = top if way >= 1 else code + (int(way * (1 << count)) + random % (1 << count) >= 1 << count)
    code = min(code, top - ("satfinite" in words))
    return (0 if "relu" in words else code | 0x8000) if negative else code


def converted(mnemonic, operands):
    words = mnemonic.split(".")
    kind, source = words[-2:]
    if kind == "ue8m0x2":
        wide = operands if source == "f32" else [operands[0] & 0xFFFF0000, operands[0] << 16 & 0xFFFFFFFF]
        return exponent(words, wide[0]) << 8 | exponent(words, wide[1])
    if source == "ue8m0x2":
        return sum((0x7FFF if code == 255 else code << 7 or 0x40) << place for code, place in ((operands[0] >> 8 & 255, 16), (operands[0] & 255, 0)))
    if source[:-2] in FORMATS:
        apart = 4 if source == "e2m1x2" else 8
        mask = (1 << FORMATS[source[:-2]][0]) - 1
        return widened(words, source[:-2], operands[0] >> apart & mask) << 16 | widened(words, source[:-2], operands[0] & mask)
    if "rs" in words and kind in ("f16x2", "bf16x2"):
        return random_half(words, kind[:-2], operands[0], operands[2] >> 16) << 16 | random_half(words, kind[:-2], operands[1], operands[2] & 0xFFFF)
    apart = 4 if kind[:-2] == "e2m1" else 8
    if "rs" in words:
        a, b, random = operands
        upper, lower = (random >> 16, random & 0xFFFF) if apart == 8 else (random >> 16 & 0xFF00 | random >> 8 & 255, random >> 8 & 0xFF00 | random & 255)
        d = 0
        for bits, use in ((a, upper), (b, upper), (b, lower), (a, lower)):
            d = d << apart | narrowed(words, kind[:-2], bits, "f32", use)
        return d
    if source == "f16x2":
        return narrowed(words, kind[:-2], operands[0] >> 16, "f16") << apart | narrowed(words, kind[:-2], operands[0] & 0xFFFF, "f16")
    return narrowed(words, kind[:-2], operands[0], source) << apart | narrowed(words, kind[:-2], operands[1], source)


# ---- Comparisons ---------------------------------------------------------------------------------------------------


def ordered(bits, kind, flushes):
    """What compares like the number; None for a NaN."""
    if kind[1:].isdigit() and kind[0] in "usb":
        size = int(kind[1:])
        return bits - (1 << size if kind[0] == "s" and bits >> size - 1 else 0)
    size, places, _ = model_half.FORMATS[kind]
    magnitude = bits & (1 << size - 1) - 1
    if flushes and not magnitude >> places:
        magnitude = 0
    if model_half.value(magnitude, kind) == "nan":
        return None
    return -magnitude if bits >> size - 1 else magnitude


def holds(compare, kind, a, b, flushes=False):
    a, b = ordered(a, kind, flushes), ordered(b, kind, flushes)
    compare = {"lo": "lt", "ls": "le", "hi": "gt", "hs": "ge"}.get(compare, compare)
    return ("?" if a is None or b is None else "<" if a < b else ">" if a > b else "=") in HOLDS[compare]


def joined(p, word, c):
    return {"": p, "and": p and c, "or": p or c, "xor": p != c}[word]
