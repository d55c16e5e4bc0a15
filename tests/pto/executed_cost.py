"""The cycles that `lanewise run --cost` reports: made-up functions of loops and branches, whose operations are counted here by walking through
them, with the figures of the page written down once more."""

import argparse
import collections
import random
import re
import sys

import programs

WIDTHS = {"vshr": 64, "vadd": 64, "vshl": 200, "vxor": 64, "vmax": 640}  # lanes of 32 bits: 1, 1, 4, 1 and 10 times 2048 bits
NAMES = {64: "a", 200: "b", 640: "d"}


def wide(op):
    return -(-WIDTHS[op] * 32 // 2048)


def cycles(op, profile):
    return 7 if profile == "a5" else 14 + 2 * wide(op) + 17


def interval(op):
    return max(18, 2 * wide(op))


class Function:
    """Its text, and what it does when it runs: `execute` gives the operations in their order, by line."""

    def __init__(self, chance, repeats, profile):
        self.chance, self.lines, self.loops, self.repeats = chance, [], 0, repeats
        self.lanes = {n: 64 if profile == "a5" else n for n in NAMES}  # a5 has registers of 2048 bits and no others
        arguments = [f"%{NAMES[n]}: !pto.vreg<{self.lanes[n]}xi32>" for n in NAMES] if repeats else []
        self.add("func.func @f(" + ", ".join(arguments + ["%n: index", "%odd: i1"]) + ") {")
        self.add("%c0 = arith.constant 0 : index")
        self.add("%c1 = arith.constant 1 : index")
        self.add("%c3 = arith.constant 3 : index")
        self.uncounted = 0
        for n, name in NAMES.items():
            self.add(f"%m{name} = pto.mask.first %n : index -> !pto.mask<{self.lanes[n]}>")
            if not repeats:
                self.add("%z{0} = arith.constant 7 : i32".format(name))
                self.add(f"pto.vbroadcast ins(%z{name} : i32) outs(%{name} : !pto.vreg<{self.lanes[n]}xi32>)")
            self.uncounted += 1 if repeats else 2
        self.body = self.region(0, [])
        self.add("}")

    def add(self, line):
        self.lines.append(line)
        return len(self.lines)

    def region(self, depth, counters):
        return [self.step(depth, counters) for _ in range(self.chance.randrange(1, 4))]

    def step(self, depth, counters):
        kind = self.chance.randrange(5) if depth < 3 else 4
        if kind <= 1:
            return self.loop(depth, counters)
        if kind == 2:
            return self.branch(depth, counters)
        op = self.chance.choice(list(WIDTHS))
        name = NAMES[WIDTHS[op]]
        return "op", self.add(f"{op} %{name}, %{name}, %{name}, %m{name} : !pto.vreg<{self.lanes[WIDTHS[op]]}xi32>"), op

    def loop(self, depth, counters):
        counter = f"%i{self.loops}"
        self.loops += 1
        upper = self.chance.choice(["%n", "%c3", *counters])
        step = self.chance.choice(["%c1", "%c3"])
        self.add(f"scf.for {counter} = %c0 to {upper} step {step} {{")
        body = self.region(depth + 1, [*counters, counter])
        self.add("}")
        return "for", counter, upper, step, body

    def branch(self, depth, counters):
        condition = "%odd"
        if counters:
            condition = f"%t{len(self.lines)}"
            self.add(f"{condition} = arith.cmpi slt, {counters[-1]}, %c1 : index")
        self.add(f"scf.if {condition} {{")
        ways = [self.region(depth + 1, counters)]
        if self.chance.randrange(2):
            self.add("} else {")
            ways.append(self.region(depth + 1, counters))
        self.add("}")
        return "if", counters[-1:], ways

    def execute(self, n, odd):
        values = {"%n": n, "%c3": 3, "%c1": 1}

        def walk(steps):
            for kind, *rest in steps:
                if kind == "op":
                    yield tuple(rest)
                elif kind == "for":
                    counter, upper, step, body = rest
                    for i in range(0, values[upper], values[step]):
                        values[counter] = i
                        yield from walk(body)
                else:
                    counters, ways = rest
                    taken = values[counters[0]] < 1 if counters else odd
                    if taken or len(ways) > 1:
                        yield from walk(ways[0 if taken else 1])

        return list(walk(self.body))


def check(tool, chance, repeats, profile):
    function = Function(chance, repeats, profile)
    n, odd = chance.randrange(7), chance.randrange(2)
    text = "\n".join(function.lines) + "\n"
    arguments = [f"s32[{width * repeats}]=1" for width in function.lanes.values()] if repeats else []
    done = tool.start(text, "f", [*arguments, f"s64={n}", f"u8={odd}"], "--cost", profile, "--threads", "2")
    what = f"{text}n {n}, odd {odd}, {repeats} repeats, {profile}\n{done.stderr}"
    if done.returncode:
        sys.exit(what)
    ran = function.execute(n, odd) * max(repeats, 1)
    count = max(repeats, 1)
    programs.equal(f"{what}how often", re.search(r"as it ran, (\d+) times?\n", done.stderr)[1], str(count))
    rows = re.findall(r"^ *(\d+)  pto\.(\w+) +(\d+)  x (\d+) ", done.stderr, re.M)
    lines = [(i, line.split()[0]) for i, line in enumerate(function.lines, 1) if line.split()[0] in WIDTHS]
    want = [(str(i), op, str(cycles(op, profile)), str(sum(i == at for at, _ in ran))) for i, op in lines]
    programs.equal(f"{what}rows", rows, want)
    serial = sum(cycles(op, profile) for _, op in ran)
    programs.equal(f"{what}total", f"total {serial} cycles one after" in done.stderr, True)
    programs.equal(f"{what}not counted", f"not counted: {function.uncounted * count} operations" in done.stderr, True)
    said = {what: tuple(map(int, numbers)) for what, *numbers in re.findall(r"^  repeats (save|would save) (\d+) cycles: (?:\D*2048 bits would take )?(\d+)", done.stderr, re.M)}
    if profile == "a5" or not ran:
        programs.equal(f"{what}repeats", said, {})
        return
    # An operation for each 2048 bits starts and completes as often; one for all runs of the function once for each place and round.
    apart = sum(wide(op) * 33 for _, op in ran)
    joined = sum((14 + 17) * -(-rounds // count) + 2 * wide(op) * rounds for (at, op), rounds in collections.Counter(ran).items())
    saved = {"save": (apart - serial, apart), "would save": (serial - joined, joined)}
    programs.equal(f"{what}repeats", said, {name: numbers for name, numbers in saved.items() if numbers[0]})
    tails = {cycles(op, profile) - interval(op) for op in WIDTHS}
    piped = int(re.search(r"total (\d+) cycles where none", done.stderr)[1])
    programs.equal(f"{what}piped", piped - sum(interval(op) for _, op in ran) in tails, True)
    if [op for _, op in ran if op == ran[-1][1]] == [op for _, op in ran]:
        programs.equal(f"{what}piped", piped, sum(interval(op) for _, op in ran) + cycles(ran[-1][1], profile) - interval(ran[-1][1]))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lanewise", default="build/bin/lanewise")
    tool, chance = programs.Tool(parser.parse_args().lanewise), random.Random(1)
    for number in range(40):
        check(tool, chance, number % 4, ("a5", "a2a3")[number % 3 == 0])


if __name__ == "__main__":
    main()
