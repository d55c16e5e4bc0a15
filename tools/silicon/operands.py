"""Operands for the spellings of forms.py, by the notation of isa/ptx/forms.def: right ones, and others in their place."""

import dataclasses
import math
import re

import rows as table

# type: register prefix, since which version and target it can be declared
REGISTERS = {"pred": ("%p", 10, 10), "b8": ("%c", 10, 10), "u8": ("%cu", 10, 10), "s8": ("%cs", 10, 10), "b16": ("%h", 10, 10), "u16": ("%hu", 10, 10),
             "s16": ("%hs", 10, 10), "b32": ("%r", 10, 10), "u32": ("%ru", 10, 10), "s32": ("%rs", 10, 10), "f32": ("%f", 10, 10),
             "b64": ("%rd", 10, 10), "u64": ("%rdu", 10, 10), "s64": ("%rds", 10, 10), "f64": ("%fd", 10, 13), "f16": ("%hf", 42, 53),
             "f16x2": ("%g", 42, 53), "b128": ("%q", 83, 70)}
PLAIN = {"B": "b", "X": "b"}  # types without registers of their own take those of their size
BITS = {"e4m3x2": 16, "e5m2x2": 16, "e2m3x2": 16, "e3m2x2": 16, "e2m1x2": 8, "ue8m0x2": 16, "e4m3x4": 32, "e5m2x4": 32, "e2m3x4": 32, "e3m2x4": 32,
        "e2m1x4": 16, "e4m3": 8, "e5m2": 8, "b1": 32}
LEAST = 4  # what "n" is in ranges up to the operand before: its least value
COUNT = 140  # registers of each type: the largest vectors are made of them
FOOTER = ["    ret;", "}"]


def header(version, target):
    number = int(re.search(r"\d+", target)[0])
    lines = [f".version {version // 10}.{version % 10}", f".target {target}"]
    if version >= 23:
        lines.append(".address_size 64")
    lines += [".global .align 16 .b32 G[64];", ".const .align 16 .b32 C[64];"]
    if version >= 15:
        lines += [".global .texref T;", ".global .surfref W;"]
    lines += [".visible .entry k(.param .b32 P)" if version >= 14 else ".entry k", "{"]
    lines += [f"    .reg .{kind} {name}<{COUNT}>;" for kind, (name, isa, sm) in REGISTERS.items() if version >= isa and number >= sm]
    lines += ["    .reg .v2 .b32 %v2r;", "    .reg .v4 .b32 %v4r;", "    .reg .v2 .f32 %v2f;", "    .reg .v4 .f32 %v4f;", "    .reg .v2 .b64 %v2d;",
              "    .reg .v4 .b16 %v4h;", "    .reg .v2 .b16 %v2h;"]
    lines += ["    .shared .align 16 .b32 S[64];", "    .local .align 16 .b32 M[64];"]
    if version >= 60 and number >= 30:
        lines.append("    B: .branchtargets L;")
    return lines + ["L:"]


def register(kind, at):
    if kind in REGISTERS:
        return f"{REGISTERS[kind][0]}{at}"
    bits = table.TYPES[kind][0] if kind in table.TYPES else BITS.get(kind, 32)
    return f"{REGISTERS[f'b{bits}'][0]}{at}"


CONSTANTS = ["0", "1", "-1", "65536", "4294967296", "1.0", "0f3f800000", "0d3ff0000000000000"]
KINDS = [name + "1" for name, _, _ in REGISTERS.values()]
ODD = ["_", "!%p1", "!%r1", "-%r1", "{%r1}", "{%r1,%r2}", "%v2r", "%v4f", "%v4r.x", "%tid.x", "%tid", "[%rd1]", "G", "S", "L", "%r1|%p1", "%p1|%p2", "%r1.b0", "%r1.h1"]
LANES = {"2": "%r1.h0 %r1.h1 %r1.h10 %r1.h01 %r1.h20 %r1.h33 %r1.h44 %r1.b10 %r1.h000 %r1.b0".split(),
         "4": "%r1.b0 %r1.b3 %r1.b10 %r1.b310 %r1.b013 %r1.b3210 %r1.b7654 %r1.b4444 %r1.b8888 %r1.b321 %r1.h10 %r1.b4".split()}
OPAQUE = {"texref": "T", "surfref": "W", "samplerref": "T"}  # where nothing says otherwise a texture is its sampler, too
VARIABLES = {"global": "G", "const": "C", "shared": "S", "local": "M", "param": "P"}


def space_of(word):
    return word.split("::")[0] if word else ""


@dataclasses.dataclass
class Form:
    """One operand of a spelling."""
    name: str
    kind: str             # the type, or one of: address imm label targets any
    at: int
    written: bool = False
    count: int = 1        # elements of a vector; 0: mov's packing
    pair: str = ""        # "" none, "may", "must"
    values: tuple = ()    # constants that it may be
    beyond: tuple = ()    # and those next to them, which it may not be
    only: bool = False    # constants only
    selectable: bool = False
    source: bool = False
    variable: bool = False
    space: str = ""
    opaque: str = ""      # of an address: the type of variable or register that it is
    braces: bool = False  # also where it has one element
    array: bool = False   # coordinates with an index in front
    inner: tuple = ()     # operands within the brackets of an address
    lanes: str = ""       # selectors of several parts: "2", "4"
    fixed: str = ""       # a text that is right whatever else

    def right(self, constant=False):
        if self.fixed:
            return self.fixed
        if self.kind == "address":
            base = VARIABLES.get(self.space, "G") if constant else f"%rd{self.at + 1}"
            if self.opaque:
                base = f"%r{self.at + 1}" if self.opaque == "b32" else OPAQUE[self.opaque]
            return f"[{', '.join([base, *(form.right(constant) for form in self.inner)])}]"
        if self.kind in ("label", "targets"):
            return {"label": "L", "targets": "B"}[self.kind]
        if self.only:
            return str(self.values[-1 if constant else 0]) if self.values else "4"
        if self.count > 1 or self.braces:
            return "{" + ",".join(self.element(k) for k in range(self.count)) + "}"
        text = register(self.kind, self.at)
        if self.pair == "must" or self.pair and constant:
            return f"{text}|%p{self.at + 5}"
        if constant and self.lanes:
            return text + {"2": ".h10", "4": ".b3210"}[self.lanes]
        if constant and not self.written and not self.variable:
            if self.values:
                return str(self.values[-1])
            if self.kind in table.TYPES and table.TYPES[self.kind][1] == "F":
                return "1.0"
            return "1"
        return text

    def element(self, k):
        return register("u32" if self.array and not k else self.kind, self.at * 8 + k if self.count <= 8 and self.at < 16 else k)

    def vectors(self):
        def braces(kind, count, first=8):
            return "{" + ",".join(register(kind, first + k) for k in range(count)) + "}"

        for count in (1, self.count - 1, self.count + 1, 2 * self.count, 4):
            if count >= 1:
                yield braces(self.kind, count)
        if self.array:
            yield braces(self.kind, self.count)
        same = braces(self.kind, self.count)[1:-1].split(",")
        yield "{" + ",".join([*same[:-1], "_"]) + "}"
        yield "{" + ",".join([*same[:-1], "1"]) + "}"
        yield "{" + ",".join([*same[:-1], "%h1"]) + "}"
        yield from (braces(kind, self.count) for kind in ("b16", "b32", "u32", "f32", "b64", "f64", "pred"))
        yield from ("%v2r", "%v4r", "%v2f", "%v4f", "%v2d", "%v4h", "%v2h", "%r1", "0", "[%rd1]")

    def others(self):
        if self.kind == "address":
            own = VARIABLES.get(self.space, "G")
            rest = "".join(", " + form.right() for form in self.inner)
            if self.opaque and not self.inner:
                return ["[T]", "[W]", "[%rd1]", "[%r1]", "[%f1]", "[%h1]", "[G]", "[T+4]", "%rd1", "T", "0", "_"]
            if self.inner:
                odd = [f"[%rd1, {text}]" for text in self.inner[-1].others()] + ["[%rd1]", f"[%rd1{rest}, %r1]", f"[%rd1{rest}{rest}]"]
                return odd + [f"[{text}{rest}]" for text in ("%rd1", "%r1", "%f1", "G", "S", "C", own, "%rd1+8", "L", "64")] + ["%rd1", "G"] + (
                    [f"[T{rest}]", f"[W{rest}]"] if self.opaque else [])
            return [f"[{text}]" for text in ("%rd1", "%r1", "%f1", "%h1", "%p1", "%rdu1", "%fd1", "G", "S", "M", "C", "P", "G+4", "%rd1+8", "%rd1+-8", "64",
                                                        "L", "k", own, f"{own}+8", "%v2d.x")] + ["%rd1", "%r1", "G", "0", "_"]
        if self.kind in ("label", "targets"):
            return ["k", "%r1", "0", "G", "_", "[L]", "B", "L"]
        if self.only:
            return ["%r1", "%ru1", "1.0", "_", "G", "WARP_SZ", "-1", "0", "1", "3", "4", "8", "16", "32", "100", "128", "255", "4294967295", "4294967296", "{%r1}", "(1+1)"]
        if self.count > 1 or self.braces:
            return list(self.vectors())
        extra = LANES[self.lanes] if self.lanes else [f"%r{self.at}.b1", f"%r{self.at}.h1", f"%r{self.at}.b4", f"%r{self.at}.h10", f"-%r{self.at}", f"-%r{self.at}.b0"] if self.selectable else []
        pair = ["%r1|%p1", "%r1|_", "_|%p1", "%r1|%r2", "%p1|%p2", "_|_", "%p1|_"] if self.pair else []
        packed = ["{%h1,%h2}", "{%r1,%r2}", "{%rd1,%rd2}", "{%h1,%h2,%h3,%h4}", "{%c1,%c2}", "%v2r", "%v4h", "%v2h", "{%r1,_}", "{1,2}", "{%v2r.x,%v2r.y}",
                  "{%f1,%f2}"] if self.count == 0 else []
        return KINDS + CONSTANTS + ODD + extra + pair + packed

    def edges(self):
        """Constants at the ends of the range, and beyond."""
        return [f"{{{value},{','.join(['0'] * (self.count - 1))}}}" if self.count > 1 else str(value) for value in self.values + self.beyond]


def bounds(text):
    """ "0..255", "4|8|16", "24..256/8": values at the ends, and values outside."""
    values, beyond = [], []
    for part in text.split("|"):
        match = re.fullmatch(r"(-?\d+)\.\.(-?\d+)(?:/(\d+))?", part.replace("..n", f"..{LEAST}"))
        if match:
            low, high, step = int(match[1]), int(match[2]), int(match[3] or 1)
            values += [low, low + step, high]
            beyond += [low - step, high + step] + ([low + 1] if step > 1 else [])
        else:
            values.append(int(part))
            beyond += [int(part) + 1, int(part) * 2]
    return tuple(values), tuple(value for value in dict.fromkeys(beyond) if value not in values)


def is_open(row):
    return row.is_open or "\u2026" in row.operands


def split(text):
    """The operands: (text, optional)."""
    found, depth, start, optional = [], 0, 0, False
    for at, letter in enumerate(text + ","):
        if letter == "{" and depth == 0 and re.match(r"\{\s*,", text[at:]):
            found.append((text[start:at].strip(), optional))
            start, optional = at + 1, True
        elif letter == "}" and depth == 0:
            found.append((text[start:at].strip(), optional))
            start, optional = at + 1, False
        elif letter in "[{(":
            depth += 1
        elif letter in "]})":
            depth -= 1
        elif letter == "," and depth == 0:
            found.append((text[start:at].strip(), optional))
            start = at + 1
    return [(part, opt) for part, opt in found if part]


def type_of(text, default, groups):
    if text.startswith("$"):
        return groups.get(int(text[1:]), "") or default
    if text == "wide":
        return default[0] + str(2 * int(default[1:]))
    return text


def count_of(text, groups):
    """ "4", "$2", "mk$1/64", "$1*2": see count_of in match.c."""
    if text.isdigit():
        return int(text)
    letters, group, sign, by = re.fullmatch(r"([mnk]*)\$(\d)(?:([/*-])(\d+))?", text).groups()
    words = groups.get(int(group), "")
    numbers = [int(re.search(rf"{letter}(\d+)", words)[1]) for letter in letters] or [int(re.search(r"\d+", words)[0]) if words else 1]
    count = math.prod(numbers)
    return count // int(by) if sign == "/" else count * int(by) if sign == "*" else count - int(by) if sign == "-" else count


def coordinates(geometry):
    """How many, and whether an index stands in front."""
    array = geometry.startswith("a")
    digits = re.search(r"\d", geometry)
    count = int(digits[0]) + array if digits else 4
    return (4 if "m" in geometry or count > 2 or "cube" in geometry else count), array


def operand(text, at, default, groups, space, first):
    text = text.replace(":bare-", ":")
    if text.startswith("["):
        base, *rest = [part for part, optional in split(text[1:-1]) if not optional]
        own = re.match(r"[\w-]+:([\w$]+)", base)
        inner = tuple(operand(part, at + 1, default, groups, space, False) for part in rest)
        if own and own[1] in table.TYPES:
            return Form(base, "address", at, opaque=own[1], inner=inner)
        where = own[1] if own else space
        if where.startswith("$"):
            where = groups.get(int(where[1:]), "")
        return Form(base, "address", at, space=space_of(where), inner=inner)
    vector = re.fullmatch(r"vec\((\w+)\)(.*)", text)
    if vector:
        text = vector[1] + vector[2]
    name = re.match(r"[\w-]+", text)[0]
    text, _, listed = text.partition(";")
    if listed and first is None:  # the first of two optional operands
        text = f"{name}:{listed}"
    form = Form(name, default, at, count=0 if vector else 1)
    form.written = first and (name in "dfpr" or "|" in re.sub(r"\([^)]*\)", "", text))
    if re.search(r"\{\|", text):
        form.pair = "may"
    elif "|" in re.sub(r"\([^)]*\)", "", text):
        form.pair = "must"
    form.selectable = ".sel" in text
    form.lanes = "".join(re.findall(r"\.sel(\d)", text))
    for attribute, _ in re.findall(r":((?:[\w$/*-]+)(\([^)]*\))?)", text):
        word, _, inside = attribute.partition("(")
        if inside:
            form.values, form.beyond = bounds(inside.rstrip(")").split(",")[0])  # of a vector those of its first element
        if word == "imm":
            form.only = True
        elif word in ("label", "targets"):
            form.kind = word
        elif word == "any":
            form.kind = "u32"
        elif word == "shared":
            form.space = "shared"
        elif word in ("var", "bits"):
            form.variable = True
        elif word == "neg":
            form.selectable = True
        elif word == "sink":
            form.fixed = "_"
        elif word in ("source", "special"):
            form.source = True
        elif word == "address":
            form.kind = "u64"
        elif word == "reg":
            form.kind = "b32"
        elif re.fullmatch(r"[vVW][mnk]*\$?\d+([/*-]\d+)?", word):
            form.count, form.braces = count_of(word[1:], groups), word[0] in "VW"
        elif re.fullmatch(r"[gGO]\$\d", word):
            form.count, form.array = coordinates(groups.get(int(word[2:]), ""))
            if word[0] == "G":
                form.count, form.array, form.braces = coordinates(groups.get(int(word[2:]), "").lstrip("a"))[0], False, True
            form.variable = True
        elif word not in ("in", "or-pred", "or-address", "lists", "low", "same", "raw", "all", "consts"):
            form.kind = type_of(word, default, groups)
    return form


def default_type(mnemonic):
    kinds = [word for word in mnemonic.split(".")[1:] if word in table.TYPES]
    return kinds[-1] if kinds else "b32"


def default_space(mnemonic):
    for word in mnemonic.split(".")[1:]:
        if space_of(word) in VARIABLES:
            return space_of(word)
    return ""


def forms(row, mnemonic, groups):
    """The operands with none and with all of the optional ones."""
    parts = split(row.operands)
    bound = {"cache-policy": ".L2::cache_hint" in mnemonic, "cta-mask": ".multicast::cluster" in mnemonic}
    parts = [(text, optional and text.split(":")[0] not in bound) for text, optional in parts if bound.get(text.split(":")[0], True)]
    default, space = default_type(mnemonic), default_space(mnemonic)
    choices = [False, True] if any(optional for _, optional in parts) else [True]
    for all_of_them in choices:
        taken = [text for text, optional in parts if not optional or all_of_them]
        both = all_of_them and len(choices) > 1 and len([text for text, optional in parts if optional]) > 1
        yield [operand(text, at, default, groups, space, None if both and ";" in text else at == 0) for at, text in enumerate(taken)]
