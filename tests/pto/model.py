"""What operations of PTO compute, lane by lane, in plain numbers: a second formulation, which knows nothing of Lanewise.

vshr is as its page has it; isa/pto/ says how the other operations are read. A lane that the mask leaves out keeps what a named destination
had, and is zero (or poison: bytes of 0xa5, and 1 in a mask) in a result of SSA form."""

TYPES = {f"{sign}{bits}": (bits, sign == "i") for sign in "iu" for bits in (8, 16, 32, 64)}
WORDS = ("eq", "ne", "lt", "le", "gt", "ge")
BINARY = ("vshr", "vshl", "vand", "vor", "vxor", "vadd", "vsub", "vmul", "vmin", "vmax")
UNARY = ("vnot", "vneg", "vabs")


def number(bits_of_value, kind):
    """The value of an element from its bits."""
    bits, signed = TYPES[kind]
    value = bits_of_value % 2**bits
    return value - 2**bits if signed and value >= 2 ** (bits - 1) else value


def shift_right(value, count):
    while count and value not in (0, -1):
        value, count = value // 2, count - 1
    return value


def binary(op, kind, a, b, overflow="saturate"):
    """One element of a binary operation; a and b are values of the type."""
    bits, _ = TYPES[kind]
    count = b % 2**bits  # unsigned
    if overflow == "modulo":
        count %= bits
    result = {
        "vshr": lambda: shift_right(a, count),
        "vshl": lambda: a * 2 ** min(count, bits),
        "vand": lambda: a & b,
        "vor": lambda: a | b,
        "vxor": lambda: a ^ b,
        "vadd": lambda: a + b,
        "vsub": lambda: a - b,
        "vmul": lambda: a * b,
        "vmin": lambda: min(a, b),
        "vmax": lambda: max(a, b),
    }[op]()
    return number(result, kind)


def unary(op, kind, a):
    return number({"vnot": -1 - a, "vneg": -a, "vabs": abs(a)}[op], kind)


def compare(word, a, b):
    return {"eq": a == b, "ne": a != b, "lt": a < b, "le": a <= b, "gt": a > b, "ge": a >= b}[word]


def sum_and_carry(kind, a, b, carry):
    """Both taken as unsigned."""
    bits, _ = TYPES[kind]
    total = a % 2**bits + b % 2**bits + carry
    return number(total, kind), total >= 2**bits


def masked(active, value, otherwise):
    return value if active else otherwise


def poison(kind):
    return number(int("a5" * (TYPES[kind][0] // 8), 16), kind)
