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
