#!/usr/bin/env python3
"""Long straight text, which the compiler cuts in pieces, against a model of single threads.

Two kernels, each of more text than one piece may have: sorting stages with a barrier each; and sums in memory behind branches that lanes take or not, in a loop around all of it that lanes leave one by
one. The model is Python, thread by thread. By the engines interp, jit, and auto, which has compiled before it runs: what is stored; by the first two where a late access traps, and that a run without end stops at its
limits of time and of steps. Counts of instructions are equal in all engines. Code is kept from run to run, so pieces are read from the cache as well. The same seed gives the same programs."""

import argparse
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

TIME_LIMIT = 120
WORD = 0xFFFFFFFF
HEAD = ".version 7.0\n.target sm_70\n.address_size 64\n"


def stages_text(stages):
    """Compare and exchange with the thread whose number has one bit more or less, in shared memory."""
    lines = [
        HEAD + ".visible .entry stages(.param .u64 out)\n{\n    .shared .align 4 .b8 room[512];",
        "    .reg .b64 %a, %w; .reg .b32 %t, %m, %o, %v, %u; .reg .pred %p, %q, %e;",
        "    ld.param.u64 %a, [out]; mov.u32 %t, %tid.x; mul.wide.u32 %w, %t, 4; add.u64 %a, %a, %w;",
        "    ld.global.u32 %v, [%a]; shl.b32 %m, %t, 2; mov.u32 %o, room; add.u32 %m, %m, %o; st.shared.u32 [%m], %v;",
    ]
    for number, (mask, ascending, extra) in enumerate(stages):
        lines.append(
            f"    bar.sync 0; xor.b32 %o, %t, {mask}; setp.lt.u32 %e, %o, %t; shl.b32 %o, %o, 2; mov.u32 %u, room; add.u32 %o, %o, %u; and.b32 %u, %t, {ascending}; setp.ne.u32 %q, %u, 0;\n"
            f"    ld.shared.u32 %v, [%m]; ld.shared.u32 %u, [%o]; setp.gt.xor.u32 %p, %v, %u, %q; or.pred %p, %e, %p; @%p bra S{number};\n"
            f"    add.u32 %v, %v, {extra}; st.shared.u32 [%m], %u; st.shared.u32 [%o], %v;\nS{number}:"
        )
    lines.append("    bar.sync 0; ld.shared.u32 %v, [%m]; st.global.u32 [%a], %v; ret;\n}\n")
    return "\n".join(lines)


def stages_model(stages, words):
    room = list(words)
    for mask, ascending, extra in stages:
        for t in range(len(room)):
            o = t ^ mask
            if o >= t and (room[t] > room[o]) == bool(t & ascending):
                room[t], room[o] = room[o], room[t] + extra & WORD
    return room


def ways_text(ways):
    """Each stretch adds a word of the thread's own to another; lanes for which the sum has few bits in a mask go on farther behind."""
    lines = [
        HEAD + ".visible .entry ways(.param .u64 out, .param .u64 table, .param .u32 bad, .param .u32 more)\n{",
        "    .reg .b64 %a, %w, %b; .reg .b32 %t, %v, %u, %s, %r, %bad, %more; .reg .pred %p;",
        "    ld.param.u64 %a, [out]; ld.param.u64 %b, [table]; ld.param.u32 %bad, [bad]; ld.param.u32 %more, [more]; mov.u32 %t, %tid.x; mul.wide.u32 %w, %t, 4; add.u64 %a, %a, %w;",
        "    mul.wide.u32 %w, %t, 32; add.u64 %b, %b, %w; mov.u32 %s, %t; mov.u32 %r, 0;\nROUND:",
    ]
    for number, (source, to, factor, mask, far) in enumerate(ways):
        lines.append(
            f"W{number}:\n    ld.global.u32 %v, [%b+{4 * source}]; mad.lo.u32 %s, %s, {factor}, %v; st.global.u32 [%b+{4 * to}], %s; and.b32 %u, %s, {mask}; setp.eq.u32 %p, %u, 0; @%p bra W{number + far};"
        )
    last = len(ways)
    lines.append(f"W{last}:")
    lines.append("    setp.ge.u32 %p, %t, %bad; selp.u32 %u, 0x1000000, 0, %p; mul.wide.u32 %w, %u, 16; add.u64 %w, %w, %a;")
    lines.append("    st.global.u32 [%w], %s;  // here")
    lines.append("    add.u32 %r, %r, 1; and.b32 %u, %t, 3; or.b32 %u, %u, %more; setp.le.u32 %p, %r, %u; @%p bra ROUND;\n    ret;\n}\n")
    return "\n".join(lines)


def ways_model(ways, threads, words):
    table, out = list(words), []
    for t in range(threads):
        s, own = t, table[8 * t : 8 * t + 8]
        for _ in range((t & 3) + 1):
            at = 0
            while at < len(ways):
                source, to, factor, mask, far = ways[at]
                s = own[to] = (s * factor + own[source]) & WORD
                at += far if s & mask == 0 else 1
        out.append(s)
        table[8 * t : 8 * t + 8] = own
    return out + table


class Runs:
    """A text by each engine; what is not as it should be."""

    def __init__(self, options, folder):
        self.options, self.folder, self.failed = options, folder, 0

    def fail(self, what):
        self.failed += 1
        print(f"long_text.py: {what}")

    def run(self, name, text, engine, *arguments):
        path = self.folder / f"{name}.ptx"
        path.write_text(text)
        command = [self.options.lanewise, "run", "--engine", engine, "--stats=json", "--quiet", "--threads", "1", str(path), *arguments]
        return subprocess.run(command, capture_output=True, text=True, timeout=TIME_LIMIT, env=os.environ | {"LANEWISE_HOT": "0", "LANEWISE_CACHE": str(self.folder / "kept")})

    def expect_pieces(self, name, text):
        path = self.folder / f"{name}.ptx"
        path.write_text(text)
        code = subprocess.run([self.options.lanewise, "dump", "--stage", "llvm", str(path)], capture_output=True, text=True, timeout=TIME_LIMIT).stdout
        if len(re.findall(rf"^define .*@{name}\b", code, re.M)) < 2:
            self.fail(f"{name} is not cut, so nothing is tested")

    def expect(self, name, text, words, *arguments):
        counts = {}
        for engine in self.options.engines.split(","):
            done = self.run(name, text, engine, *arguments)
            got = [int(word) for line in done.stdout.splitlines() for word in re.findall(r" (\d+)", line.split(":", 1)[1])]
            if done.returncode or got != words:
                self.fail(f"{name}, {engine}: ends with {done.returncode}; {sum(a != b for a, b in zip(got, words))} of {len(words)} words differ\n{done.stderr[:400]}")
                continue
            stats = json.loads(next(line for line in done.stderr.splitlines() if line.startswith("{")))
            counts[engine] = stats["warp_instructions"], stats["lane_instructions"]
        if len(set(counts.values())) > 1:
            self.fail(f"{name}: counts differ: {counts}")

    def expect_end(self, name, text, code, says, *arguments):
        for engine in ("interp", "jit"):
            done = self.run(name, text, engine, *arguments)
            if done.returncode != code or says not in done.stderr:
                self.fail(f"{name}, {engine}: ends with {done.returncode}, not {code} and '{says}'\n{done.stderr[:400]}")


def words_of(words):
    return ",".join(str(word) for word in words)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lanewise", required=True)
    parser.add_argument("--engines", default="interp,jit,auto")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    chance = random.Random(options.seed)
    with tempfile.TemporaryDirectory() as folder:
        runs = Runs(options, pathlib.Path(folder))
        words = [chance.getrandbits(32) for _ in range(128)]
        stages = [(1 << chance.randrange(7), 1 << chance.randrange(7), chance.randrange(9)) for _ in range(14)]
        text = stages_text(stages)
        runs.expect_pieces("stages", text)
        runs.expect("stages", text, stages_model(stages, words), "-b", "128", "-a", f"u32[128]={words_of(words)}:print")
        ways = [(chance.randrange(8), chance.randrange(8), chance.getrandbits(32) | 1, 1 << chance.randrange(32) | 1 << chance.randrange(32), chance.randrange(2, 9)) for _ in range(110)]
        ways = [(*way[:4], min(way[4], len(ways) - k)) for k, way in enumerate(ways)]
        threads, words = 96, [chance.getrandbits(32) for _ in range(8 * 96)]
        arguments = ("-b", str(threads), "-a", f"u32[{threads}]:print", "-a", f"u32[{len(words)}]={words_of(words)}:print")
        text, once, forever = ways_text(ways), ("-a", "u32=0"), ("-a", f"u32={WORD}")
        runs.expect_pieces("ways", text)
        runs.expect("ways", text, ways_model(ways, threads, words), *arguments, "-a", "u32=1000", *once)
        place = next(k for k, line in enumerate(text.splitlines(), 1) if "// here" in line)
        runs.expect_end("ways", text, 3, f"ways.ptx:{place}:", *arguments, "-a", "u32=77", *once)
        runs.expect_end("ways", text, 4, "", *arguments, "-a", "u32=1000", *forever, "--timeout", "0.3")
        runs.expect_end("ways", text, 4, "", *arguments, "-a", "u32=1000", *forever, "--step-limit", "1000000")
    sys.exit(1 if runs.failed else 0)


if __name__ == "__main__":
    main()
