"""A program, as `lanewise dump --stage interp` prints it, turned into terms of z3: what one lane of it gets. isa/ops.def says which fields an
operation has and how wide they are; this file, in its own words, what it does with them; what lane functions do is asked of whoever reads this. Whatever else
occurs is an error: nothing is passed over."""

import collections
import pathlib
import re

import z3

import ir

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
TRUE, FALSE = z3.BoolVal(True), z3.BoolVal(False)
SPECIALS = re.findall(r"^SPECIAL\((\w+),", (ROOT / "isa/special.def").read_text(), re.MULTILINE)

Op = collections.namedtuple("Op", "name fields words text")  # fields: of slots {"d": 64}, of numbers {"a": "#0"}
# How one way through a program ends. kind: done, again (another round of a loop) or the reason of a trap. results: by parameter, {offset: (value, where)}.
# stores: [(base, index, value, where)]. large: where a count of a shift was the width or more.
Outcome = collections.namedtuple("Outcome", "where kind results stores large")

ROWS = {}  # of operations: {field: what it holds}
for row in re.split(r"^OP\w*\(", re.sub(r"/\*.*?\*/", "", (ROOT / "isa/ops.def").read_text(), flags=re.DOTALL), flags=re.MULTILINE)[1:]:
    fields = dict(re.findall(r"\b(?:USE|DEF|IS)\((\w+), (\w+)\)", row))
    fields |= {"d": "data"} if re.search(r"LIST\((?:loaded|stored)\)", row) else {}
    fields |= {"imm": "known"} if re.search(r"\bOR\(", row) and "imm" not in fields else {}
    ROWS[re.match(r"\w+", row)[0]] = fields
WIDTHS = {"p": 1, "16": 16, "32": 32, "64": 64, "members": 32}  # of what holds the same in all operations


def read(text):
    """{name: (constants {slot: value}, [Op])} of a dump."""
    functions, ops = {}, None
    for line in text.splitlines():
        words = line.split()
        if words[0] in ("program:", "line"):
            continue
        if words[0] == "kernel":
            constants, ops = {}, []
            functions[words[1].rstrip(":")] = constants, ops
        elif words[0] == "constant":
            constants[int(words[2])] = int(words[4], 0)
        elif words[0] == "block":
            ops.append(Op("block", {"a": int(words[1])}, [], line))
        else:
            fields = dict(word.split("=") for word in words[1:] if "=" in word)
            fields = {name: int(value) if value.isdigit() else value for name, value in fields.items()}
            ops.append(Op(words[0], fields, [word for word in words[1:] if "=" not in word], line.strip()))
            expect_row(ops[-1])
    return functions


def expect_row(op):
    """No field that the row of an operation does not name. Those of lane functions are counted where they are called."""
    if op.name not in ROWS:
        return
    row = ROWS[op.name]
    named = {*row, *({"lane", "constant"} if {"lane", "constant", "constants"} & {*row.values()} else ())}
    if unnamed := {*op.fields} - named:
        raise ir.Unknown(f"{op.text}: its row names no {', '.join(sorted(unnamed))}")


def lane_of(op):
    """The lane function of an operation, None of those of ops.def."""
    return op.fields.get("lane") if op.name in OPERATIONS else op.name.split(".")[0]


def resized(value, width, signed=False):
    more = width - value.size()
    if more > 0:
        return z3.SignExt(more, value) if signed else z3.ZeroExt(more, value)
    return z3.Extract(width - 1, 0, value) if more else value


class Run:
    """All ways through a program. `arguments` {offset of a parameter: the element or scalar that this lane gets}. `lanes`: has
    call(name, operands) -> (bits, undefined), and widths(name) of a function's operands."""

    def __init__(self, program, arguments, lanes):
        self.constants, self.ops = program
        self.arguments, self.lanes = arguments, lanes
        self.blocks = {op.fields["a"]: i for i, op in enumerate(self.ops) if op.name == "block"}
        self.outcomes, self.undefined = [], []
        self.waiting = [(0, {}, TRUE, {}, [], FALSE)]
        while self.waiting:
            at, self.slots, self.where, self.results, self.stores, self.large = self.waiting.pop()
            while at is not None:
                op = self.ops[at]
                try:
                    at = self.step(at, op)
                except (KeyError, ir.Unknown, z3.Z3Exception) as error:
                    raise ir.Unknown(f"{op.text}: {type(error).__name__} {error}") from None

    def step(self, at, op):
        """Executes one operation; the number of the next one, or None."""
        if op.name in OPERATIONS:
            method = OPERATIONS[op.name]
            return method(self, at, op) if method in CONTROL else method(self, op) or at + 1  # the others return nothing
        self.lane(op)
        return at + 1

    # ---- Slots ----

    def slot(self, number, width):
        """Of just that width: elements of another one lie elsewhere in the slot. Those of 8 bits are the low half of 16."""
        if number in self.slots:
            value = self.slots[number]
            if value.size() != max(width, 16) and (value.size(), width) != (1, 1):
                raise ir.Unknown(f"slot {number} has {value.size()} bits")
            return resized(value, width)
        if number in self.constants:
            return z3.BitVecVal(self.constants[number], width)
        raise ir.Unknown(f"slot {number} is read before it is written")

    def get(self, op, field, width=None):
        """Of as many bits as its row says, where that is not for the operation to say."""
        return self.slot(op.fields[field], width or WIDTHS[ROWS[op.name][field]])

    def put(self, op, value, field="d"):
        self.slots[op.fields[field]] = value

    def predicate_of(self, op, field):
        """Whether a predicate is true, by the flag `not` the other way round; true where the field is left out."""
        if field not in op.fields:
            return TRUE
        return self.get(op, field) == (0 if "not" in op.words else 1)

    # ---- Lane functions ----

    def lane(self, op):
        name, _, variant = op.name.partition(".")
        widths = self.lanes.widths(name)
        fields = ["a", "b", "c", "e"][: len(widths)]
        imm = int(op.fields.get("imm", "0"), 0)
        if name == "lop3":
            given, variant = {"e": int(variant, 0)}, ""
        else:
            left = [field for field in fields if field not in op.fields]
            if len(left) != {"": 0, ".i": 1, ".ri": 1, ".ii": 2}["." + variant if variant else ""]:
                raise ir.Unknown("constants and fields do not fit")
            given = {left[0]: imm & 0xFFFFFFFF, left[1]: imm >> 32} if len(left) > 1 else dict.fromkeys(left, imm)
        operands = [z3.BitVecVal(given[field], width) if field in given else self.get(op, field, width)
                    for field, width in zip(fields, widths, strict=True)]  # fmt: skip
        self.put(op, self.call(name, operands))

    def call(self, name, operands):
        """Above an element of 8 bits its slot has anything."""
        value, undefined = self.lanes.call(name, operands)
        self.undefined.append(ir.both(self.where, undefined))
        return z3.Concat(z3.FreshConst(z3.BitVecSort(8), "above"), value) if value.size() == 8 else value

    # ---- Control flow: these return the number of the next operation ----

    def end(self, kind, where=TRUE):
        self.outcomes.append(Outcome(ir.both(self.where, where), kind, dict(self.results), list(self.stores), self.large))

    def branch(self, at, op):
        if "backward" in op.words:
            self.end("again")
            return None
        return self.blocks[op.fields["a"]]

    def branch_if(self, at, op):
        taken = self.predicate_of(op, "b")
        if "backward" in op.words:
            self.end("again", taken)
        elif not z3.is_false(z3.simplify(taken)):
            copies = dict(self.slots), ir.both(self.where, taken), dict(self.results), list(self.stores), self.large
            self.waiting.append((self.blocks[op.fields["a"]], *copies))
        self.where = ir.both(self.where, ir.opposite(taken))
        return at + 1

    def finish(self, at, op):
        self.end("done")

    def trap(self, at, op):
        self.end(op.words[0])  # lw_trap_reason

    # ---- Numbers, selection, masks ----

    def nothing(self, op):
        pass

    def beyond(self, op):
        self.put(op, z3.BitVecVal(0, 1))  # this lane has an element

    def special(self, op):
        if op.fields["b"] or op.fields["c"] != 4:
            raise ir.Unknown("special register")
        self.put(op, z3.BitVec(SPECIALS[op.fields["a"]], 32))

    def select(self, op):
        self.put(op, ir.choose(self.predicate_of(op, "c"), self.get(op, "a"), self.get(op, "b")))

    def predicate(self, op):
        index = z3.Concat(*(self.get(op, field) if field in op.fields else z3.BitVecVal(0, 1) for field in "abc"))
        table = z3.BitVecVal(int(op.fields.get("imm", "0"), 0), 8)
        self.put(op, z3.Extract(0, 0, z3.LShR(table, z3.ZeroExt(5, index))))

    def pattern(self, op):
        words = [int(word, 0) for word in op.fields["constant"].split(",")]
        lanes = op.fields["c"]
        if lanes & (lanes - 1):
            raise ir.Unknown("a width that is no power of two")
        bits = z3.BitVecVal(sum(word << 64 * i for i, word in enumerate(words)), lanes)
        self.put(op, z3.Extract(0, 0, z3.LShR(bits, resized(number_of_lane(lanes), lanes))))

    # ---- Shifts ----

    def check(self, op, counts, width, where):
        large = ir.both(where, z3.UGE(counts, z3.BitVecVal(width, counts.size())))
        if "traps" in op.words:
            self.end("shift", large)
            self.where = ir.both(self.where, ir.opposite(large))
        else:
            self.large = ir.either(self.large, large)

    def shift_check(self, op):
        width = int(op.fields["imm"], 0) & 0xFFFFFFFF
        if 8 * op.fields["c"] != width:
            raise ir.Unknown("counts of another width than the elements")
        self.check(op, self.get(op, "a", width), width, self.predicate_of(op, "b"))

    def vshift(self, op):
        lane = lane_of(op)
        operands = [self.get(op, field, width) for field, width in zip("ab", self.lanes.widths(lane), strict=True)]
        where = self.predicate_of(op, "e")
        self.check(op, operands[1], operands[1].size(), where)
        shifted = self.call(lane, operands)
        if "e" in op.fields:
            shifted = ir.choose(where, shifted, self.get(op, "c", shifted.size()))
        self.put(op, shifted)

    # ---- Memory: parameters, rows ----

    @staticmethod
    def form(op):
        """(window, whether elements are signed, their bits, those of the slot)."""
        window, _, element = op.words[0].partition(".")
        return window, element[0] == "s", int(element[1:]), int(op.words[1][1:])

    def load(self, op):
        window, signed, bits, slot = self.form(op)
        value = self.arguments[int(op.fields.get("imm", "0"), 0)]
        if window != "param" or value.size() != bits:
            raise ir.Unknown("parameter")
        self.put(op, resized(value, slot, signed))

    def store(self, op):
        """A scalar result, by the address that its parameter has."""
        window, _, bits, slot = self.form(op)
        address = self.get(op, "a", 64)
        parameter = [offset for offset, value in self.arguments.items() if value.eq(address)]
        if window != "global" or len(parameter) != 1 or "imm" in op.fields:
            raise ir.Unknown("address")
        value = z3.BitVecVal(int(op.fields["constant"], 0), bits) if "constant" in op.fields else resized(self.get(op, "d", slot), bits)
        self.results[parameter[0]] = value, TRUE

    @staticmethod
    def is_array(op):
        return str(op.fields["a"]).startswith("#")

    def load_row(self, op):
        _, signed, bits, slot = self.form(op)
        where = self.predicate_of(op, "e")
        if self.is_array(op):
            value = self.arguments[int(op.fields["a"][1:])]
        else:
            value = memory(self.get(op, "a"), self.get(op, "b"), bits)
        value = resized(value, slot, signed)
        if "e" not in op.fields:
            self.put(op, value)
            return
        before = z3.BitVecVal(0, slot) if "zero" in op.words else self.slots.get(op.fields["d"], z3.FreshConst(z3.BitVecSort(slot), "nothing"))
        self.put(op, ir.choose(where, value, before))

    def store_row(self, op):
        _, _, bits, slot = self.form(op)
        where, value = self.predicate_of(op, "e"), resized(self.get(op, "d", slot), bits)
        if self.is_array(op):
            self.results[int(op.fields["a"][1:])] = value, where
        else:
            self.stores.append((self.get(op, "a"), self.get(op, "b"), value, where))

    # ---- What lowering fuses ----

    def add4(self, op):
        terms = [self.get(op, field) for field in "abce" if field in op.fields]
        self.put(op, sum(terms, z3.BitVecVal(int(op.fields.get("imm", "0"), 0), 32)))

    def add_xor_rotl(self, op):
        total = self.get(op, "a") + self.get(op, "b")
        value = self.get(op, "c") ^ total
        self.put(op, total)
        self.put(op, z3.RotateLeft(value, int(op.fields.get("imm", "0"), 0)), "e")

    def add_setp(self, op):
        total = self.get(op, "a") + z3.BitVecVal(int(op.fields.get("imm", "0"), 0), 32)
        self.put(op, self.call(lane_of(op), [total, self.get(op, "b")]), "e")
        self.put(op, total)


def number_of_lane(lanes):
    """This lane's number within a register, of 64 bits: threads of the grid go through the registers one behind the other."""
    tid, ntid, ctaid = (z3.BitVec(name, 32) for name in ("tid", "ntid", "ctaid"))
    return z3.ZeroExt(32, z3.URem(ctaid * ntid + tid, z3.BitVecVal(lanes, 32)))


def memory(base, index, bits):
    """What this lane's element of an array is, from its base and the index of lane 0's."""
    word = z3.BitVecSort(64)
    return z3.Function(f"memory{bits}", word, word, z3.BitVecSort(bits))(base, index)


OPERATIONS = {
    "block": Run.nothing, "bra": Run.branch, "bra_if": Run.branch_if, "ret": Run.finish, "trap": Run.trap, "beyond": Run.beyond, "special": Run.special,
    "select_16": Run.select, "select_32": Run.select, "select_64": Run.select, "predicate": Run.predicate, "pattern": Run.pattern,
    "shift_check": Run.shift_check, "vshift": Run.vshift, "ld": Run.load, "st": Run.store, "ld_row": Run.load_row, "st_row": Run.store_row,
    "add4": Run.add4, "add_xor_rotl": Run.add_xor_rotl, "add_setp": Run.add_setp,
}  # fmt: skip
assert {*OPERATIONS} <= {*ROWS}, "an operation that there is no row of"
CONTROL = {Run.branch, Run.branch_if, Run.finish, Run.trap}
