"""What float instructions give, in exact fractions: a witness for those that no card at hand has. It is told from what cards that have its
relatives recorded: `model.py` compares itself with the recorded tests of add, sub, mul, fma, min and max."""

import fractions
import pathlib
import re
import sys

NAN, SIGN, INFINITY, LEAST = 0x7FFFFFFF, 1 << 31, 0x7F800000, fractions.Fraction(1, 1 << 126)


def is_nan(bits):
    return bits & NAN > INFINITY


def flushed(bits):
    return bits if bits & INFINITY else bits & SIGN


def value(bits):
    """A number as a fraction; not of infinities."""
    field, fraction = bits >> 23 & 255, bits & 0x7FFFFF
    size = fractions.Fraction(fraction if not field else fraction | 1 << 23) * fractions.Fraction(2) ** (max(field, 1) - 150)
    return -size if bits & SIGN else size


def whole(number, rounding, negative):
    """A fraction as an integer; `number` is its size."""
    low, rest = divmod(number, 1)
    up = {"rn": rest > fractions.Fraction(1, 2) or (rest == fractions.Fraction(1, 2) and low % 2), "rz": False, "rm": negative and rest, "rp": not negative and rest}
    return int(low) + bool(up[rounding])


def rounded(number, rounding, flushes):
    """The bits of a fraction that is not zero."""
    negative, size = number < 0, abs(number)
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    exponent -= size < fractions.Fraction(2) ** exponent
    if flushes and whole(size / fractions.Fraction(2) ** (exponent - 23), rounding, negative) * fractions.Fraction(2) ** (exponent - 23) < LEAST:
        return SIGN * negative
    exponent = max(exponent, -126)
    bits = (exponent + 126 << 23) + whole(size / fractions.Fraction(2) ** (exponent - 23), rounding, negative)
    if bits >= INFINITY:
        bits = INFINITY - (rounding == "rz" or rounding == ("rp" if negative else "rm"))
    return bits | SIGN * negative


def sum_of(a, b, rounding, flushes, exact=None):
    """a + b, where a stands for the exact number if there is one."""
    infinite = [bits for bits in (a, b) if bits & NAN == INFINITY]
    if infinite:
        return NAN if len(set(infinite)) > 1 else infinite[0]
    total = (value(a) if exact is None else exact) + value(b)
    if total:
        return rounded(total, rounding, flushes)
    return a & SIGN if not (a ^ b) & SIGN else SIGN * (rounding == "rm")


def product_of(a, b):
    """(bits with the right sign, infinity or zero, and the exact product); None for a NaN."""
    sign, sizes = (a ^ b) & SIGN, sorted((a & NAN, b & NAN))
    if sizes[1] == INFINITY:
        return None if not sizes[0] else (sign | INFINITY, None)
    return (sign, value(a) * value(b))


def arithmetic(opcode, rounding, flushes, operands):
    operands = [flushed(bits) if flushes else bits for bits in operands]
    if any(map(is_nan, operands)):
        return NAN
    if opcode in ("add", "sub"):
        return sum_of(operands[0], operands[1] ^ (SIGN if opcode == "sub" else 0), rounding, flushes)
    product = product_of(*operands[:2])
    if not product:
        return NAN
    if opcode in ("fma", "mad"):
        return sum_of(product[0], operands[2], rounding, flushes, product[1])
    return rounded(product[1], rounding, flushes) if product[1] else product[0]


def extreme(larger, words, operands):
    operands = [flushed(bits) if "ftz" in words else bits for bits in operands]
    sign = operands[0] & SIGN ^ operands[1] & SIGN if "xorsign" in words else 0
    operands = [bits & NAN if "abs" in words else bits for bits in operands]
    numbers = [bits for bits in operands if not is_nan(bits)]
    if not numbers or ("NaN" in words and len(numbers) < len(operands)):
        return NAN
    return (max if larger else min)(numbers, key=lambda bits: -1 - (bits & NAN) if bits & SIGN else bits) | sign


def single(words, operands):
    if words[0] in ("min", "max"):
        return extreme(words[0] == "max", words, operands)
    rounding = next((word for word in words if word in ("rz", "rm", "rp")), "rn")
    bits = arithmetic(words[0], rounding, "ftz" in words, operands)
    if "sat" in words:
        bits = 0 if bits == NAN or bits & SIGN else min(bits, 0x3F800000)
    return bits


def floats(mnemonic, operands):
    """The result's bits."""
    words = mnemonic.split(".")
    if words[-1] != "f32x2":
        return single(words, operands)
    low, high = ([bits >> shift & 0xFFFFFFFF for bits in operands] for shift in (0, 32))
    return single(words, high) << 32 | single(words, low)


# ---- Half precision: (bits of the exponent, of the mantissa); what comes in and goes out is 16 bits -----------------------

SHAPES = {"f16": (5, 10), "bf16": (8, 7)}


def half_number(bits, shape):
    """A fraction, "inf" or "nan"."""
    exponent, mantissa = shape
    field, fraction = bits >> mantissa & (1 << exponent) - 1, bits & (1 << mantissa) - 1
    if field == (1 << exponent) - 1:
        return "nan" if fraction else "inf"
    bias = (1 << exponent - 1) - 1
    return fractions.Fraction(fraction | (bool(field) << mantissa)) * fractions.Fraction(2) ** (max(field, 1) - bias - mantissa) * (-1) ** (bits >> 15)


def half_rounded(number, shape, flushes):
    """The bits of a fraction that is not zero: the nearest of the numbers there are, found by its neighbours."""
    exponent, mantissa = shape
    top, least = (1 << exponent - 1) - 1, 2 - (1 << exponent - 1)
    size, sign = abs(number), 0x8000 * (number < 0)
    place = size.numerator.bit_length() - size.denominator.bit_length()
    place -= size < fractions.Fraction(2) ** place
    unbounded = round(size / fractions.Fraction(2) ** (place - mantissa)) * fractions.Fraction(2) ** (place - mantissa)
    if flushes and unbounded < fractions.Fraction(2) ** least:
        return sign
    last = max(place, least) - mantissa
    units = round(size / fractions.Fraction(2) ** last)
    return sign | min(units + (last + mantissa - least << mantissa), (2 * top + 1) << mantissa)


def half_sum(a, b, shape, flushes):
    """Of (number, sign): the sign tells zeros and infinities apart."""
    if "nan" in (a[0], b[0]) or (a[0] == b[0] == "inf" and a[1] != b[1]):
        return None
    for number, sign in (a, b):
        if number == "inf":
            return sign | ((1 << shape[0]) - 1) << shape[1]
    total = a[0] + b[0]
    return half_rounded(total, shape, flushes) if total else a[1] & b[1]


def half_arithmetic(words, operands, shape):
    if "oob" in words and any(bits & 0x7FFF == 0x7FF7 for bits in operands[:2]):
        return 0
    flushes = "ftz" in words
    numbers = [(half_number(bits, shape), bits & 0x8000) for bits in operands]
    if flushes:
        numbers = [(number, sign) if operand & 0x7C00 else (0, sign) for (number, sign), operand in zip(numbers, operands)]
    if words[0] == "sub":
        number, sign = numbers[1]
        numbers[1] = (number if isinstance(number, str) else -number, sign ^ 0x8000)
    if words[0] in ("add", "sub"):
        return half_sum(*numbers, shape, flushes)
    (a, sign_a), (b, sign_b) = numbers[:2]
    if "nan" in (a, b) or ("inf" in (a, b) and 0 in (a, b)):
        return None
    product = ("inf" if "inf" in (a, b) else a * b, sign_a ^ sign_b)
    if words[0] == "fma":
        return half_sum(product, numbers[2], shape, flushes)
    return half_sum(product, (fractions.Fraction(0), product[1]), shape, flushes)


def half_chosen(words, operands, shape):
    """min, max, abs, neg."""
    nan = [half_number(bits, shape) == "nan" for bits in operands]
    if "ftz" in words:
        operands = [bits if bits & 0x7C00 else bits & 0x8000 for bits in operands]
    if len(operands) == 1:
        return None if nan[0] else operands[0] & 0x7FFF if words[0] == "abs" else operands[0] ^ 0x8000
    sign = (operands[0] ^ operands[1]) & 0x8000 if "xorsign" in words else 0
    left = [bits & 0x7FFF if "abs" in words else bits for bits, is_nan_ in zip(operands, nan) if not is_nan_]
    if not left or ("NaN" in words and any(nan)):
        return None
    return (min if words[0] == "min" else max)(left, key=lambda bits: -1 - (bits & 0x7FFF) if bits & 0x8000 else bits) | sign


def half(words, operands, shape):
    bits = (half_chosen if words[0] in ("min", "max", "abs", "neg") else half_arithmetic)(words, operands, shape)
    if bits is None:
        return 0 if "sat" in words else 0x7FFF
    if bits & 0x8000 and ("sat" in words or "relu" in words):
        return 0
    return min(bits, 0x3C00 if shape[0] == 5 else 0x3F80) if "sat" in words else bits


def halves(mnemonic, operands):
    """The result's bits of an instruction of f16, bf16 or two of them."""
    words = mnemonic.split(".")
    shape = SHAPES[words[-1].removesuffix("x2")]
    low = half(words, [bits & 0xFFFF for bits in operands], shape)
    return low | half(words, [bits >> 16 for bits in operands], shape) << 16 if words[-1].endswith("x2") else low


def main():
    import generate
    differ = count = 0
    for made in generate.FILES:
        if not re.match(r"run_(add|sub|mul|fma|mad|min_max)", made.path.name) or made.path.parent.name != "float" or made.model:
            continue
        made.model = floats
        recorded = dict(re.findall(r"^// out: arg (\d+) b32\[\d+\]: (.*)$", made.path.read_text(), re.M))
        made.ops, first = [op for op in made.ops if op.results == ["f32"]], made.ops
        inputs = len(list(made.inputs()))
        expected = [line.split(": ", 2)[2].strip() for line in made.expected()]
        for op, words in zip(made.ops, expected):
            count += 1
            if recorded.get(str(inputs + first.index(op))) != words:
                differ += 1
                print(f"{made.path.name}: {op.name} differs")
    print(f"{count} recorded results, {differ} differ")
    return 1 if differ or not count else 0


if __name__ == "__main__":
    sys.exit(main())
