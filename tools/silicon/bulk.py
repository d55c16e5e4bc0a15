#!/usr/bin/env python3
"""Writes the run tests of bulk copies and reductions and of asynchronous stores: tests/ptx/async/run_{bulk,store}_*.ptx.

    bulk.py [--check]          writes the files; --check only says which differ

Each instruction has a line of 64 bytes for what is there before, and one for what it brings. What is there then is worked out here, in exact numbers, until
record.py has put what a GPU gives into a file. A file that has a record keeps it."""

import pathlib
import struct
import sys

import atomics

TESTS = pathlib.Path(__file__).resolve().parent.parent.parent / "tests/ptx/async"
MADE = "// Made by tools/silicon/bulk.py."
WORDS = 16 # of a line
INTEGERS = [(0, 0), (1, 0xFFFFFFFF), (0x7FFFFFFF, 1), (0x80000000, 0x80000000), (0xFFFFFFFF, 7), (5, 3), (3, 5), (0x12345678, 0x9ABCDEF0)]
DOUBLES = [(1.5, 2.25), (-0.0, 0.0), (1e308, 1e308), (0.1, 0.2), (5e-324, 5e-324), (-1.0, 1.0), (1e16, 1.0), (float("inf"), 3.0)]
SIGN = {32: 1 << 31, 64: 1 << 63}


# ---- the model ------------------------------------------------------------------------------------------------------

def integer(op, kind, old, b):
    bits = int(kind[1:])
    top = SIGN[bits] if kind[0] == "s" else 0
    if op in ("min", "max"):
        return b if ((old ^ top) < (b ^ top)) == (op == "max") else old
    if op == "inc":
        return 0 if old >= b else old + 1
    if op == "dec":
        return b if old == 0 or old > b else old - 1
    return {"add": old + b & (1 << bits) - 1, "and": old & b, "or": old | b, "xor": old ^ b}[op]


def element(op, kind, old, b):
    if kind == "f32":
        return atomics.summed(old, b, kind, flushes=False)
    if kind in ("f16", "bf16"):
        return atomics.changed(op, kind, old, b, 0)
    if kind == "f64":
        x, y = (struct.unpack("<d", struct.pack("<Q", word))[0] for word in (old, b))
        return struct.unpack("<Q", struct.pack("<d", x + y))[0]
    return integer(op, kind, old, b)


def pool(kind):
    if kind == "f64":
        return [tuple(struct.unpack("<Q", struct.pack("<d", number))[0] for number in pair) for pair in DOUBLES]
    pairs = {"f16": atomics.HALVES, "bf16": atomics.BRAINS, "f32": atomics.SINGLES}.get(kind, INTEGERS)
    if kind[1:] == "64":
        return [(x | pairs[k - 1][0] << 32, y | pairs[k - 3][1] << 32) for k, (x, y) in enumerate(pairs)]
    return pairs


def width(kind):
    return {"bf16": 16}.get(kind) or int(kind[1:])


def line(kind, second):
    """16 words of elements."""
    values, bits = pool(kind), width(kind)
    total = sum(values[k % len(values)][second] << bits * k for k in range(32 * WORDS // bits))
    return [total >> 32 * k & 0xFFFFFFFF for k in range(WORDS)]


def by_element(kind, first, second, function):
    bits = width(kind)
    joined = [sum(word << 32 * k for k, word in enumerate(words)) for words in (first, second)]
    mask = (1 << bits) - 1
    total = sum(function(*(j >> bits * k & mask for j in joined)) << bits * k for k in range(32 * WORDS // bits))
    return [total >> 32 * k & 0xFFFFFFFF for k in range(WORDS)]


# ---- instructions ---------------------------------------------------------------------------------------------------

class Case:
    """text: with {target} {source} {bytes} {object}; gives: the line behind it, of the two before it."""

    def __init__(self, text, kind, gives, told=64):
        self.text, self.old, self.brought = text, line(kind, 0), line(kind, 1)
        self.result, self.told = gives(self.old, self.brought), told


def reduction(space, op, kind):
    noftz = ".noftz" if op == "add" and kind in ("f16", "bf16") else ""
    shared = "shared::cluster.shared::cta.mbarrier::complete_tx::bytes"
    hint = op == "max" # in some of them
    where = shared if space == "shared" else f"global.shared::cta.bulk_group{'.L2::cache_hint' if hint else ''}"
    last = ", [{object}]" if space == "shared" else ", %policy" if hint else ""
    return Case(f"cp.reduce.async.bulk.{where}.{op}{noftz}.{kind} [{{target}}], [{{source}}], {{bytes}}{last};", kind,
                lambda old, b: by_element(kind, old, b, lambda x, y: element(op, kind, x, y)))


def masked(mask):
    def gives(old, b):
        byte = lambda words, i: words[i // 4] >> 8 * (i % 4) & 255
        both = [byte(b if mask >> i % 16 & 1 else old, i) for i in range(4 * WORDS)]
        return [int.from_bytes(bytes(both[k:k + 4]), "little") for k in range(0, 4 * WORDS, 4)]
    return gives


BROUGHT = lambda old, b: b
FIRST_HALF = lambda old, b: b[:8] + old[8:]
COPIES = [Case("cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [{target}], [{far}], {bytes}, [{object}];", "u32", BROUGHT),
          Case("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [{target}], [{far}], {bytes}, [{object}], %policy;", "f32", BROUGHT),
          Case("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [{target}], [{far}], {bytes}, [{object}], %one;", "f16", BROUGHT),
          Case("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [{target}], [{source}], {bytes}, [{object}];", "bf16", BROUGHT),
          Case("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [{target}], [{source}], 32, [{object}];", "b64", FIRST_HALF, 32)]
OUTWARD = [Case("cp.async.bulk.global.shared::cta.bulk_group [{target}], [{source}], {bytes};", "u32", BROUGHT),
           Case("cp.async.bulk.global.shared::cta.bulk_group.L2::cache_hint [{target}], [{source}], 32, %policy;", "f32", FIRST_HALF),
           Case("cp.async.bulk.prefetch.L2.global [{target}], {bytes};", "f16", lambda old, b: old),
           Case("cp.async.bulk.prefetch.L2.global.L2::cache_hint [{target}], 32, %policy;", "f16", lambda old, b: old)]
MASKS = [Case("cp.async.bulk.global.shared::cta.bulk_group.cp_mask [{target}], [{source}], {bytes}, %mask;", "b32", masked(0x5A3C)),
         Case("cp.async.bulk.global.shared::cta.bulk_group.L2::cache_hint.cp_mask [{target}], [{source}], {bytes}, %policy, %mask;", "f32", masked(0x5A3C))]
SHARED = [("inc", "u32"), ("dec", "u32"), ("min", "u32"), ("min", "s32"), ("max", "u32"), ("max", "s32"), ("add", "u32"), ("add", "s32"), ("add", "u64"),
          ("and", "b32"), ("or", "b32"), ("xor", "b32")]
GLOBAL = SHARED + [(op, kind) for op in ("min", "max") for kind in ("u64", "s64", "f16", "bf16")] + [("add", kind) for kind in ("f32", "f64", "f16", "bf16")] + \
    [("and", "b64"), ("or", "b64"), ("xor", "b64")]


def value(mnemonic, kind, count, op=None):
    """A store or reduction of one value or vector; the rest of the line stays."""
    bits = width(kind)
    names = [f"%v{k}" if bits == 32 else f"%w{k}" for k in range(count)]
    operand = names[0] if count == 1 else f"{{{{{', '.join(names)}}}}}"
    load = f"ld.shared{'' if count == 1 else f'.v{count}'}.b{bits} {operand}, [{{source}}];"
    def gives(old, b):
        words = count * bits // 32
        whole = b if op is None else by_element(kind, old, b, lambda x, y: element(op, kind, x, y))
        return whole[:words] + old[words:]
    return Case(f"{load}\n    {mnemonic} [{{target}}], {operand}, [{{object}}];", kind, gives, count * bits // 8)


def store(kind, count=1, weak="", space=".shared::cluster"):
    return value(f"st.async{weak}{space}.mbarrier::complete_tx::bytes{'' if count == 1 else f'.v{count}'}.{kind}", kind, count)


def reduced(op, kind):
    return value(f"red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.{op}.{kind}", kind, 1, op)


STORES = [store("b32"), store("u32", 2), store("s32", 4, ".weak"), store("b64"), store("u64", 2, ".weak"), store("s64", 2), store("b32", 4)]
REDUCTIONS = [reduced(op, kind) for op, kind in SHARED if kind != "u64"] + [reduced("add", "u64"), reduced("add", "s64")]
FILES = {"bulk_copy": ("bulk copies to shared memory", COPIES, "shared", 90), "bulk_out": ("bulk copies to global memory, and prefetches", OUTWARD, "global", 90),
         "bulk_mask": ("bulk copies of chosen bytes to global memory: by the manual, no card at hand has them", MASKS, "global", 100),
         "bulk_reduce_shared": ("bulk reductions into shared memory", [reduction("shared", *pair) for pair in SHARED], "shared", 90),
         "bulk_reduce_global": ("bulk reductions into global memory", [reduction("global", *pair) for pair in GLOBAL], "global", 90),
         "store_async": ("st.async of words and vectors", STORES, "shared", 90), "store_reduce": ("red.async", REDUCTIONS, "shared", 90)}


# ---- files ----------------------------------------------------------------------------------------------------------

def body(cases, space):
    """Thread 0 begins all of them; then all threads wait, and copy the lines out that are in shared memory."""
    lines = []
    for k, case in enumerate(cases):
        target = f"%out+{64 * k}" if space == "global" else f"%target+{64 * k}"
        fields = {"target": target, "source": f"%source+{64 * k}", "far": f"%in+{64 * k + 64 * len(cases)}", "bytes": "%bytes" if k % 2 else "64", "object": "%object"}
        lines.append("    " + case.text.format(**fields).replace("+0]", "]"))
    return "\n".join(lines)


def written(name):
    about, cases, space, sm = FILES[name]
    start = [word for part in ("old", "brought") for case in cases for word in getattr(case, part)]
    end = [word for case in cases for word in case.result]
    size, told = 64 * len(cases), sum(case.told for case in cases)
    cluster = "" if space == "global" else " --cluster 1"  # a launch without one is an illegal instruction to an H200
    wait = "    cp.async.bulk.commit_group;\n    cp.async.bulk.wait_group.read 0;\n    cp.async.bulk.wait_group 0;" if space == "global" else \
        f"    mbarrier.arrive.expect_tx.shared::cta.b64 _, [%object], {told};"
    ask = "" if space == "global" else "again:\n    mbarrier.try_wait.parity.shared::cta.b64 %p, [%object], 0;\n    @!%p bra again;\n"
    back = "" if space == "global" else "    ld.shared.b32 %r, [%to];\n    st.global.b32 [%far], %r;\n"
    return (f"// {about}\n{MADE}\n// run:{cluster} -b 32 -a b32[{len(start)}]={','.join(f'{word:#x}' for word in start)} -a b32[{len(end)}]:print\n"
            f".version 8.6\n.target sm_{sm}\n.address_size 64\n\n.visible .entry {name}(.param .u64 in, .param .u64 out)\n{{\n"
            f"    .reg .pred %p;\n    .reg .b16 %one, %mask;\n    .reg .b32 %t, %n, %r, %target, %source, %object, %bytes, %at, %to, %v<4>;\n"
            f"    .reg .b64 %in, %out, %far, %near, %policy, %w<2>;\n"
            f"    .shared .align 16 .b8 targets[{size}];\n    .shared .align 16 .b8 sources[{size}];\n    .shared .align 8 .b64 object;\n\n"
            f"    ld.param.u64 %in, [in];\n    ld.param.u64 %out, [out];\n    mov.u32 %t, %tid.x;\n    mov.u32 %target, targets;\n    mov.u32 %source, sources;\n"
            f"    mov.u32 %object, object;\n    mov.b32 %bytes, 64;\n    mov.b16 %one, 1;\n    mov.b16 %mask, 0x5a3c;\n    mov.b64 %policy, 0x14f0000000000000;\n"
            f"    setp.eq.u32 %p, %t, 0;\n    @%p mbarrier.init.shared::cta.b64 [%object], 1;\n    fence.mbarrier_init.release.cluster;\n\n"
            f"    // what is there, and what is brought\n    mov.b32 %n, %t;\nnext:\n    shl.b32 %at, %n, 2;\n    cvt.u64.u32 %near, %at;\n    add.u64 %far, %in, %near;\n"
            f"    ld.global.b32 %r, [%far];\n    add.u32 %to, %target, %at;\n    st.shared.b32 [%to], %r;\n    add.u64 %near, %out, %near;\n    st.global.b32 [%near], %r;\n"
            f"    ld.global.b32 %r, [%far+{size}];\n    add.u32 %to, %source, %at;\n    st.shared.b32 [%to], %r;\n    add.u32 %n, %n, 32;\n"
            f"    setp.lt.u32 %p, %n, {size // 4};\n    @%p bra next;\n    fence.proxy.async;\n    bar.sync 0;\n    setp.ne.u32 %p, %t, 0;\n    @%p bra begun;\n"
            f"{body(cases, space)}\n{wait}\nbegun:\n{ask}    bar.sync 0;\n"
            + (f"    mov.b32 %n, %t;\nback:\n    shl.b32 %at, %n, 2;\n    cvt.u64.u32 %near, %at;\n    add.u64 %far, %out, %near;\n    add.u32 %to, %target, %at;\n{back}"
               f"    add.u32 %n, %n, 32;\n    setp.lt.u32 %p, %n, {size // 4};\n    @%p bra back;\n" if back else "") + "    ret;\n}\n",
            f"// out: arg 1 b32[{len(end)}]: {' '.join(f'{word:#010x}' for word in end)}\n")


if __name__ == "__main__":
    sys.exit(atomics.write_files(__doc__, TESTS, FILES, written))
