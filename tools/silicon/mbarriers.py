#!/usr/bin/env python3
"""Sequences of operations on an mbarrier object by many warps, against a model of the manual's section 9.7.13.15.

    mbarriers.py --lanewise TOOL [--count N] [--seed N]   random kernels; each answer must be the model's
    mbarriers.py --write | --check                        tests/ptx/async/run_mbarrier_*.ptx, which record.py can run on a GPU: there one thread acts at a
                                                          time where the order of threads would show
    mbarriers.py --self                                   the model finds what is wrong in a record

A kernel is a list of steps with a barrier of the CTA behind each. In a step some threads do one operation, in any of its spellings; then all of them ask
for both parities, for the state that they got last, and for what was pending there. The model does the same for one thread behind the other: that is the
order of threads in Lanewise."""

import argparse
import pathlib
import random
import re
import subprocess
import sys

TESTS = pathlib.Path(__file__).resolve().parents[2] / "tests/ptx/async"
MADE = "// Made by tools/silicon/mbarriers.py."
MOST = (1 << 20) - 1
GANG = 128  # threads that Lanewise executes one behind the other; of more their warps come in any order


class Fault(Exception):
    """What the manual leaves undefined."""


class Object:
    """Phase, pending and expected arrivals, tx-count: exact, as the manual has them."""

    def __init__(self, count):
        if not 1 <= count <= MOST:
            raise Fault("count")
        self.phase, self.pending, self.expected, self.tx = 0, count, count, 0

    def settle(self):
        if self.pending == 0 and self.tx == 0:
            self.phase, self.pending = self.phase + 1, self.expected
            return True
        return False

    def expect(self, n):
        if abs(self.tx + n) > MOST:
            raise Fault("tx-count")
        self.tx += n
        self.settle()

    def arrive(self, n=1, drop=False, complete=True, tx=0):
        if tx:
            self.expect(tx)
        state = (self.phase, self.pending)
        if not 1 <= n <= min(MOST, self.pending) or (drop and n > self.expected):
            raise Fault("arrivals")
        self.pending -= n
        self.expected -= n if drop else 0
        if self.settle() and not complete:
            raise Fault("noComplete")
        return state

    def has_ended(self, phase):
        return self.phase % 2 != phase % 2


# ---- spellings ------------------------------------------------------------------------------------------------------

CTA = ["", ".shared", ".shared::cta"]
ANY = CTA + [".shared::cluster"]


def spellings(sm):
    """By what is done: mnemonics up to .b64, and whether they give a state."""
    found = {"expect": [(f"mbarrier.expect_tx{sem}{space}", None) for sem in ("", ".relaxed.cta", ".relaxed.cluster") for space in ANY],
             "complete": [(f"mbarrier.complete_tx{sem}{space}", None) for sem in ("", ".relaxed.cta", ".relaxed.cluster") for space in ANY]}
    orders = ["", ".release.cta", ".release.cluster", ".relaxed.cta", ".relaxed.cluster"]
    for opcode, key in (("arrive", "arrive"), ("arrive_drop", "drop")):
        for tx in ("", ".expect_tx"):
            found[key + tx] = [(f"mbarrier.{opcode}{tx}{sem}{space}", space != ".shared::cluster") for sem in orders for space in ANY]
        found[key + ".noComplete"] = [(f"mbarrier.{opcode}.noComplete{sem}{space}", True) for sem in ("", ".release.cta") for space in CTA]
    for opcode in ("test_wait", "try_wait"):
        for parity in ("", ".parity"):
            found[opcode + parity] = [(f"mbarrier.{opcode}{parity}{sem}{space}", None)
                                      for sem in ("", ".acquire.cta", ".acquire.cluster", ".relaxed.cta", ".relaxed.cluster") for space in CTA]
    return found


def address(spelling):
    return "%generic" if ".shared" not in spelling else "%object"


# ---- kernels --------------------------------------------------------------------------------------------------------

class Kernel:
    """Its text and what each thread gets, step by step."""

    def __init__(self, rng, threads, steps, one_by_one):
        self.rng, self.threads, self.one_by_one = rng, threads, one_by_one
        self.queue = {key: rng.sample(words, len(words)) for key, words in spellings(90).items()}
        self.lines, self.words, self.turn = [], [], 0
        count = rng.choice([200, 300] if one_by_one else [1, 2, 7, threads, 2 * threads, MOST])
        self.object = Object(count)
        self.states = [None] * threads        # phase and pending, of the last arrival
        self.precise = [False] * threads      # of one that may be asked how many are pending
        self.lines += ["    setp.eq.u32 %p, %t, 0;", f"    @%p mbarrier.init.shared.b64 [%object], {count};", "    bar.sync 0;"]
        for _ in range(steps):
            self.step()

    def pick(self, key):
        """Each spelling in turn."""
        words = self.queue[key]
        words.append(words.pop(0))
        return words[-1]

    def members(self):
        """Which threads act: a condition on %t, and the threads."""
        rng, all_threads = self.rng, range(self.threads)
        if self.one_by_one or rng.random() < 0.3:
            one = rng.randrange(self.threads)
            return f"setp.eq.u32 %p, %t, {one};", [one]
        if rng.random() < 0.5:
            limit = rng.randrange(1, self.threads + 1)
            return f"setp.lt.u32 %p, %t, {limit};", [t for t in all_threads if t < limit]
        modulus = rng.choice([2, 3, 5])
        rest = rng.randrange(modulus)
        chosen = [t for t in all_threads if t % modulus == rest]
        return f"rem.u32 %r, %t, {modulus};\n    setp.eq.u32 %p, %r, {rest};", chosen

    def step(self):
        """One operation that is defined for all who do it; others are tried again. Often it is what the phase still lacks."""
        for _ in range(50):
            condition, chosen = self.members()
            keys = [key for key in self.queue if "wait" not in key]
            key = keys[self.turn % len(keys)] if self.one_by_one else self.rng.choice(keys)
            self.turn += 1
            count = self.rng.choice([1, 1, 2, 3])
            amount = self.rng.choice([0, 1, 4, 16, 1024, MOST])
            if len(chosen) == 1 and self.rng.random() < (0.25 if self.one_by_one else 0.6):
                if self.object.tx:
                    key, amount = "complete" if self.object.tx > 0 else "expect", abs(self.object.tx)
                else:
                    key, count = "arrive", max(self.object.pending, 1)
            spelling, gives = self.pick(key)
            saved = vars(self.object).copy(), list(self.states), list(self.precise)
            try:
                text = self.act(key, spelling, gives, count, amount, chosen)
            except Fault:
                vars(self.object).update(saved[0])
                self.states, self.precise = saved[1], saved[2]
                continue
            if self.object.expected == 0:  # nobody could come any more
                vars(self.object).update(saved[0])
                self.states, self.precise = saved[1], saved[2]
                continue
            self.lines += [f"    {condition}", f"    @%p {text}", "    bar.sync 0;"]
            self.ask()
            return

    def act(self, key, spelling, gives, count, amount, chosen):
        where, constant = address(spelling), self.rng.random() < 0.5
        if key in ("expect", "complete"):
            for _ in chosen:
                self.object.expect(amount if key == "expect" else -amount)
            if not constant:
                self.lines.append(f"    mov.b32 %n, {amount};")
            return f"{spelling}.b64 [{where}], {amount if constant else '%n'};"
        drop, kind = key.startswith("drop"), key.partition(".")[2]
        tx, complete = amount if kind == "expect_tx" else 0, kind != "noComplete"
        bare = kind == "" and count == 1 and self.rng.random() < 0.5
        n = 1 if bare or kind == "expect_tx" else count
        phase, ordered = self.object.phase, self.threads <= GANG or chosen[0] // 32 == chosen[-1] // 32
        for t in chosen:
            state = self.object.arrive(n, drop, complete, tx)
            if gives:
                self.states[t], self.precise[t] = state, not complete and ordered
        if self.object.phase - phase > ordered:
            raise Fault("no state may be older than the phase before, nor depend on which warp comes first")
        number = tx if kind == "expect_tx" else n
        if not constant:
            self.lines.append(f"    mov.b32 %n, {number};")
        last = "" if bare else f", {number if constant else '%n'}"
        return f"{spelling}.b64 {'%state' if gives else '_'}, [{where}]{last};"

    def ask(self):
        """What every thread finds now: bits 0 and 1 both parities, bit 2 its state, then what was pending there."""
        parity, state = (self.pick("test_wait.parity")[0], self.pick("test_wait")[0])
        self.lines += [f"    {parity}.b64 %q, [{address(parity)}], 0;", "    selp.b32 %r, 1, 0, %q;",
                       f"    {parity}.b64 %q, [{address(parity)}], %one;", "    @%q or.b32 %r, %r, 2;"]
        old = [s is not None and self.object.phase - s[0] > 1 for s in self.states]
        for t, late in enumerate(old):
            if late:
                self.states[t] = None
        valid = [s is not None for s in self.states]
        if any(valid):
            self.guard(valid)
            waits = self.pick("try_wait")[0]
            done = all(self.object.has_ended(s[0]) for s in self.states if s)
            word = waits if done else state  # a wait for what has ended is over at once
            self.lines += [f"    @%p {word}.b64 %q, [{address(word)}], %state;", "    not.pred %u, %p;", "    @%u setp.ne.u32 %q, 0, 0;", "    @%q or.b32 %r, %r, 4;"]
            if any(self.precise[t] and valid[t] for t in range(self.threads)):
                self.guard([self.precise[t] and valid[t] for t in range(self.threads)])
                self.lines += ["    mov.b32 %n, 0;", "    @%p mbarrier.pending_count.b64 %n, %state;", "    shl.b32 %n, %n, 3;", "    or.b32 %r, %r, %n;"]
        ended = self.object.phase % 2
        self.lines += [f"    {self.pick('try_wait.parity')[0]}.b64 %q, [%generic], {1 - ended}, 1000;".replace("[%generic]", f"[{self.last_address()}]"),
                       "    @!%q or.b32 %r, %r, 0x80000000;", "    st.global.u32 [%out], %r;", f"    add.u64 %out, %out, {4 * self.threads};", "    bar.sync 0;"]
        for t in range(self.threads):
            word = (1 if self.object.has_ended(0) else 0) | (2 if self.object.has_ended(1) else 0)
            s = self.states[t]
            word |= 4 if s and self.object.has_ended(s[0]) else 0
            word |= s[1] << 3 if s and self.precise[t] else 0
            self.words.append(word & 0xFFFFFFFF)

    def last_address(self):
        return address(self.queue["try_wait.parity"][-1][0])

    def guard(self, chosen):
        """%p: these threads, by a table in constant memory of 32 bits each."""
        bits = [sum(1 << t % 32 for t in range(w, min(w + 32, self.threads)) if chosen[t]) for w in range(0, self.threads, 32)]
        self.lines.append(f"    mov.b32 %n, {bits[0]};")
        for w, word in enumerate(bits[1:], 1):
            self.lines += [f"    setp.eq.u32 %p, %w, {w};", f"    @%p mov.b32 %n, {word};"]
        self.lines += ["    shr.b32 %n, %n, %l;", "    and.b32 %n, %n, 1;", "    setp.ne.u32 %p, %n, 0;"]

    def text(self, version="8.6"):
        body = "\n".join(self.lines)
        return f"""// run: -b {self.threads} -a u32[{len(self.words)}]:print
.version {version}
.target sm_90
.address_size 64

.visible .entry objects(
    .param .u64 out
)
{{
    .reg .pred %p, %q, %u;
    .reg .b32 %t, %w, %l, %r, %n, %one, %object;
    .reg .b64 %out, %generic, %state;
    .shared .align 8 .b64 object;

    mov.u32 %t, %tid.x;
    shr.u32 %w, %t, 5;
    and.b32 %l, %t, 31;
    mov.b32 %one, 1;
    mov.b64 %state, 0;
    mov.u32 %object, object;
    cvt.u64.u32 %generic, %object;
    cvta.shared.u64 %generic, %generic;
    ld.param.u64 %out, [out];
    mad.wide.u32 %out, %t, 4, %out;
{body}
    setp.eq.u32 %p, %t, 0;
    @%p mbarrier.inval.shared.b64 [%object];
    ret;
}}
"""

    def expectation(self):
        return f"// out: arg 0 u32[{len(self.words)}]: {' '.join(map(str, self.words))}\n"


# ---- what is done ---------------------------------------------------------------------------------------------------

def run_random(options):
    wrong = phases = 0
    for k in range(options.count):
        rng = random.Random(options.seed + k)
        kernel = Kernel(rng, rng.choice([1, 32, 33, 64, 128, 160, 257]), 24, False)
        done = subprocess.run([options.lanewise, "run", "-", "-q", "-L", "ptx", *kernel.text().split("\n")[0][len("// run: "):].split()], input=kernel.text(),
                              capture_output=True, text=True)
        phases += kernel.object.phase
        line = re.search(r": (.*)", done.stdout)
        got = [int(word) for word in line[1].split()] if line else None
        if got != kernel.words:
            wrong += 1
            print(f"seed {options.seed + k}: exit code {done.returncode}\n{done.stderr}")
            for i, (a, b) in enumerate(zip(got or [], kernel.words)):
                if a != b:
                    print(f"step {i // kernel.threads}, thread {i % kernel.threads}: {a:#x}, but by the manual {b:#x}")
                    break
    print(f"{options.count} kernels, {phases} phases, {wrong} wrong")
    return 1 if wrong or phases < options.count else 0


def files():
    """Enough of them that each spelling is there."""
    for k in range(3):
        kernel = Kernel(random.Random(403 + k), 33, 48, True)
        what = f"// mbarrier: {len(kernel.words) // kernel.threads} steps of operations in many spellings, one thread at a time, against the manual's counts\n"
        yield TESTS / f"run_mbarrier_{'abc'[k]}.ptx", MADE + "\n" + what + kernel.text(), kernel.expectation()


def write(check):
    differing = 0
    for path, text, expectation in files():
        old = path.read_text() if path.exists() else ""
        recorded = re.search(r"^// recorded: .*\n(// out: .*\n)", old, re.M)
        if recorded and old.startswith(text):
            if recorded[1] != expectation:
                differing += 1
                print(f"{path.name}: the record is not what the model says")
            continue
        if old != text + expectation:
            differing += 1
            print(f"{path.name} differs")
            if not check:
                path.write_text(text + expectation)
    return 1 if check and differing else 0


def self_test():
    """A wrong count must not pass."""
    kernel = Kernel(random.Random(5), 64, 24, False)
    Object.settle, right = (lambda self: False), Object.settle
    other = Kernel(random.Random(5), 64, 24, False)
    Object.settle = right
    same = kernel.words == other.words
    print("a model without phases gives the same" if same else "a model without phases gives something else")
    return same


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lanewise", type=pathlib.Path, help="the tool")
    parser.add_argument("--count", type=int, default=60, help="kernels")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--self", action="store_true", dest="test")
    options = parser.parse_args()
    if options.test:
        return self_test()
    return write(options.check) if options.write or options.check else run_random(options)


if __name__ == "__main__":
    sys.exit(main())
