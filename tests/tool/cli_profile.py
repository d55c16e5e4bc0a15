#!/usr/bin/env python3
"""lanewise profile: counts of lines that can be told from the text, patterns that follow from the addresses, and the page."""

import html.parser
import json
import pathlib
import random

import cli

HEADER = ".version 8.0\n.target sm_90\n.address_size 64\n"
LANES = 32
PATTERNS = ("uniform", "unit", "stride", "strips", "scattered")


# ---- A model of requests ------------------------------------------------------------------------------------------------

def pattern(lanes, size):
    """Name and width of the pattern of {lane: address}, by its definition in docs/cli.md."""
    def linear(some, step):
        first = min(some, default=0)
        return all(some[lane] == some[first] + (lane - first) * step for lane in some)

    if linear(lanes, 0):
        return "uniform", 0
    if linear(lanes, size):
        return "unit", 0
    a, b = sorted(lanes)[:2]
    step, rest = divmod(lanes[b] - lanes[a], b - a)
    if not rest and linear(lanes, step):
        return "stride", step
    for width in (16, 8, 4):
        strips = [{k: v for k, v in lanes.items() if k // width == strip} for strip in range(LANES // width)]
        for step in (size, 0):
            if all(linear(strip, step) for strip in strips) and any(len(strip) > 1 for strip in strips):
                return "strips", width
    return "scattered", 0


def sectors(lanes, size):
    touched = {byte for address in lanes.values() for byte in range(address, address + size)}
    return len({byte // 32 for byte in touched}), len(touched)


def rounds(lanes, size):
    """Each round a bank gives one word of 4 bytes; so many lanes go together as have 128 bytes."""
    together = LANES if size <= 4 else 128 // size
    all_rounds = least = 0
    for first in range(0, LANES, together):
        words = {word for lane, address in lanes.items() if first <= lane < first + together
                 for word in range(address // 4, (address + size - 1) // 4 + 1)}
        banks = [sum(word % 32 == bank for word in words) for bank in range(32)]
        all_rounds += max(banks)
        least += bool(words)
    return all_rounds, least


BANKS = pathlib.Path(__file__).with_name("banks.tsv")
LOADS = {4: (".u32", "%r"), 8: (".v2.u32", "{%r, %s}"), 16: (".v4.u32", "{%r, %s, %u, %v}")}
BEGIN, ROUND, SHOWS = 68, 128, {4: 440, 8: 570, 16: 960}  # cycles of 64 requests; fewer are spent on something else than rounds


def recorded():
    """Bytes of a lane, {lane: address}, and rounds of a request: what an H200 took says how many, or that there are no more than so many."""
    for line in BANKS.read_text().splitlines():
        if line.startswith("#"):
            continue
        size, mask, cycles, places = line.split("\t")
        size, mask, cycles = int(size), int(mask, 16), int(cycles)
        at = [int(places[7:]) * lane for lane in range(LANES)] if places.startswith("stride=") else [int(place) for place in places.split(",")]
        lanes = {lane: at[lane] * size for lane in range(LANES) if mask >> lane & 1}
        yield size, lanes, round((cycles - BEGIN) / ROUND), cycles >= SHOWS[size]


class Profile(cli.Case):
    def test_rounds_of_a_gpu(self):
        """Rounds of loads are what an H200 takes two cycles for each."""
        for size in LOADS:
            rows = [row[1:] for row in recorded() if row[0] == size]
            self.assertGreater(len(rows), 100)
            suffix, operand = LOADS[size]
            loads = [f"ld.global.u32 %a, [%in+{128 * k}]; setp.ne.u32 %p, %a, 0xffffffff; add.u32 %a, %a, %b; @%p ld.shared{suffix} {operand}, [%a]; // request {k}\n"
                     for k in range(len(rows))]
            text = HEADER + cli.kernel("k", ".u64 in", body=".shared .align 16 .b8 room[65536]; .reg .b64 %in, %w; .reg .b32 %a, %b, %r, %s, %u, %v; .reg .pred %p;\n"
                                       "ld.param.u64 %in, [in]; mov.u32 %r, %laneid; mul.wide.u32 %w, %r, 4; add.u64 %in, %in, %w; mov.u32 %b, room;\n" + "".join(loads) + "ret;")
            addresses = b"".join(lanes.get(lane, 0xffffffff).to_bytes(4, "little") for lanes, *_ in rows for lane in range(LANES))
            self.file("in.bin", addresses)
            result = self.profile("-", "-b", "32", "-a", "u32[]=@in.bin", stdin=text)
            found = {}
            for line in result["lines"]:
                for memory in line.get("memory", []):
                    if memory["space"] == "shared":
                        found[int(line["text"].rpartition("request ")[2])] = memory["rounds"]
            for k, (lanes, expected, shows) in enumerate(rows):
                if shows:
                    self.assertEqual(found[k], expected, (size, lanes))
                else:
                    self.assertLessEqual(found[k], expected, (size, lanes))

    def profile(self, name, *args, code=0, **more):
        done = self.lanewise("profile", name, "--json", *args, **more)
        self.assertEqual(done[0], code, done)
        return json.loads(done[1].splitlines()[-1])

    def counts(self, profile):
        return {line["line"]: (line["warp_instructions"], line["lane_instructions"]) for line in profile["lines"]
                if line["warp_instructions"]}

    def sums_agree(self, name, *args, code=0):
        """What the lines did is what launches count, in the same launch and in one that is not profiled."""
        done = self.lanewise("profile", name, "--json", "--stats=json", *args)
        self.assertEqual(done[0], code, done)
        profile = json.loads(done[1].splitlines()[-1])
        stats = json.loads(next(line for line in done[2].splitlines() if line.startswith("{")))
        for key in ("warp_instructions", "lane_instructions"):
            self.assertEqual(sum(line[key] for line in profile["lines"]), stats[key])
            self.assertEqual(profile[key], stats[key])
        self.assertGreater(stats["lane_instructions"], 0)
        return profile, stats

    # ---- Counts -------------------------------------------------------------------------------------------------------

    LOOP = HEADER + """.visible .entry k(.param .u64 p)
{
    .reg .u32 %r<6>; .reg .u64 %rd<3>; .reg .pred %p<3>;
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, 0;
    mov.u32 %r3, 7;
AGAIN:
    add.u32 %r2, %r2, 1;
    setp.lt.u32 %p1, %r2, %r1;
    @%p1 bra AGAIN;
    setp.lt.u32 %p2, %r1, 4;
    @%p2 add.u32 %r2, %r2, %r3; mov.u32 %r5, %r2;
    @!%p2 bra DONE;
    xor.b32 %r2, %r2, 1;
DONE:
    ld.param.u64 %rd1, [p];
    mad.wide.u32 %rd2, %r1, 4, %rd1;
    st.global.u32 [%rd2], %r2;
    ret;
}
"""

    def test_a_loop_that_lanes_leave_one_by_one(self):
        """Of 40 threads thread t goes round max(1, t) times: 1 + (1 + ... + 39); a warp as often as its last lane: 31, 39."""
        self.file("k.ptx", self.LOOP)
        for threads in ("1", "3"):
            with self.subTest(threads=threads):
                got = self.counts(self.profile("k.ptx", "-g", "5", "-b", "40", "-a", "u32[40]", "--threads", threads))
                ctas, all_lanes, warps = 5, 40, 2
                straight = (ctas * warps, ctas * all_lanes)
                loop = (ctas * (31 + 39), ctas * (1 + sum(range(40))))
                want = {line: straight for line in (7, 8, 9, 14, 16, 19, 20, 21, 22)}
                want[15] = (2 * straight[0], 2 * straight[1])  # two instructions; a guard that is false counts
                want.update({line: loop for line in (11, 12, 13)})
                want[17] = (ctas, ctas * 4)  # lanes 0 to 3 of the first warp
                self.assertEqual(got, want)

    CALLS = HEADER + """.func (.reg .u32 %o) twice(.reg .u32 %i)
{
    add.u32 %o, %i, %i;
    ret;
}
.func (.reg .u32 %o) down(.reg .u32 %i)
{
    .reg .pred %p; .reg .u32 %t;
    mov.u32 %o, %i;
    setp.eq.u32 %p, %i, 0;
    @%p bra END;
    sub.u32 %t, %i, 1;
    call (%o), down, (%t);
END:
    ret;
}
.visible .entry k(.param .u64 p)
{
    .reg .u32 %r<4>; .reg .u64 %rd<3>;
    mov.u32 %r1, %tid.x;
    call (%r2), twice, (%r1);
    call (%r3), twice, (%r2);
    call (%r3), down, (%r1);
    ld.param.u64 %rd1, [p];
    mad.wide.u32 %rd2, %r1, 4, %rd1;
    st.global.u32 [%rd2], %r2;
    ret;
}
"""

    def test_calls(self):
        """Thread t of 8 calls `down` t + 1 times, t of them from within."""
        self.file("k.ptx", self.CALLS)
        profile, _ = self.sums_agree("k.ptx", "-b", "8", "-a", "u32[8]")
        got = self.counts(profile)
        self.assertEqual(got[6], (2, 16))
        self.assertEqual(got[12], (8, 8 + sum(range(8))))  # one frame a depth
        self.assertEqual(got[15], (7, sum(range(8))))
        self.assertEqual(got[16], (7, sum(range(8))))
        self.assertEqual(got[18][1], 8 + sum(range(8)))  # who returns together is the engine's affair
        for line in (23, 24, 25, 26, 27, 28, 29, 30):
            self.assertEqual(got[line], (1, 8), line)

    def test_a_trap_ends_it_with_what_was_counted(self):
        self.file("k.ptx", self.LOOP)
        profile, _ = self.sums_agree("k.ptx", "-b", "32", "-a", "u32[31]", code=3)
        self.assertFalse(profile["ended"])
        self.assertEqual(self.counts(profile)[11], (31, 1 + sum(range(32))))
        self.assertEqual([line["memory"] for line in profile["lines"] if line["line"] == 21], [[]])  # it was not made

    def test_a_limit_ends_it_likewise(self):
        self.file("k.ptx", HEADER + ".visible .entry k()\n{\n    .reg .u32 %r;\nL:\n    add.u32 %r, %r, 1;\n    bra L;\n}\n")
        profile, _ = self.sums_agree("k.ptx", "-b", "32", "--step-limit", "20000", code=4)
        self.assertFalse(profile["ended"])
        got = self.counts(profile)
        self.assertEqual(set(got), {8, 9})
        self.assertEqual(got[8], got[9])
        self.assertGreaterEqual(got[8][0] + got[9][0], 20000)

    def test_time_is_of_instructions(self):
        """What entering a block takes, where the lanes meet, is not the label's, which executes nothing."""
        self.file("k.ptx", HEADER + """.visible .entry k(.param .u64 p)
{
    .reg .b32 a, b; .reg .pred q; .reg .b64 x;
    mov.u32 a, 0;
    mov.u32 b, %tid.x;
$L__BB0_1:
    mad.lo.u32 b, b, 3, 1;
    setp.lt.u32 q, b, 77;
    @q bra $L__BB0_2;
    add.u32 b, b, 5;
$L__BB0_2:
    add.u32 a, a, 1;
    setp.lt.u32 q, a, 3000;
    @q bra $L__BB0_1;
    ld.param.u64 x, [p];
    st.global.u32 [x], b;
    ret;
}
""")
        lines = json.loads(self.lanewise("profile", "k.ptx", "-b", "32", "-a", "u32[1]", "--json")[1].splitlines()[-1])["lines"]
        self.assertEqual(len(lines), 12)  # of those that are instructions; three have nothing of their own but a count
        for line in lines:
            self.assertNotIn("BB0_1:", line["text"])
            self.assertNotIn("BB0_2:", line["text"])
            self.assertGreater(line["warp_instructions"], 0, line)
        self.assertAlmostEqual(sum(line["share"] for line in lines), 1, 6)

    def test_sums_of_many_ctas_and_warps_that_meet(self):
        self.file("k.ptx", HEADER + """.visible .entry k(.param .u64 p)
{
    .reg .u32 %r<6>; .reg .u64 %rd<3>; .reg .pred %p<3>; .shared .align 4 .b8 s[4096];
    mov.u32 %r1, %tid.x;
    and.b32 %r2, %r1, 1;
    setp.eq.u32 %p1, %r2, 0;
    @%p1 bra EVEN;
    shfl.sync.bfly.b32 %r3, %r1, 1, 31, -1;
    bra MEET;
EVEN:
    shfl.sync.bfly.b32 %r3, %r1, 1, 31, -1;
MEET:
    shl.b32 %r4, %r1, 2;
    mov.u32 %r5, s;
    add.u32 %r4, %r4, %r5;
    st.shared.u32 [%r4], %r3;
    bar.sync 0;
    atom.shared.add.u32 %r3, [%r5], 1;
    ret;
}
""")
        for threads in ("1", "2", "5"):
            profile, stats = self.sums_agree("k.ptx", "-g", "37", "-b", "200", "-a", "u64=0", "--threads", threads)
            got = self.counts(profile)
            self.assertEqual(got[11], (37 * 7, 37 * 100))
            self.assertEqual(got[14], (37 * 7, 37 * 100))
            self.assertEqual(got[20][1], 37 * 200)
            self.assertEqual(stats["worker_threads"], int(threads))

    def test_a_function_of_pto(self):
        self.file("f.pto", '''func.func @f(%a: !pto.vreg<64xi32>, %m: !pto.mask<b32>) -> !pto.vreg<64xi32> {
  %b = pto.vadd %a, %a, %m : !pto.vreg<64xi32>, !pto.vreg<64xi32>, !pto.mask<b32> -> !pto.vreg<64xi32>
  return %b : !pto.vreg<64xi32>
}
''')
        profile, _ = self.sums_agree("f.pto", "-a", "s32[128]=range", "-a", "u8[128]=1")
        self.assertEqual(self.counts(profile)[2], (4, 128))

    # ---- Memory -------------------------------------------------------------------------------------------------------

    def access_kernel(self, space, size, lanes):
        """Lane t, where its bit of `lanes` is set, loads `size` bytes at offset idx[t] of a buffer or of shared memory."""
        load = {1: "u8 %x", 2: "u16 %x", 4: "u32 %x", 8: "u64 %y", 16: "v2.u64 {%y, %z}"}[size].split(" ", 1)
        base = "ld.param.u64 %b, [q];" if space == "global" else "mov.u64 %b, s;"
        return HEADER + f""".visible .entry k(.param .u64 p, .param .u64 q)
{{
    .reg .u32 %r<4>; .reg .u64 %a, %b, %c, %y, %z; .reg .u32 %x; .reg .pred %p; .shared .align 16 .b8 s[8192];
    mov.u32 %r1, %tid.x; ld.param.u64 %a, [p]; mad.wide.u32 %a, %r1, 4, %a;
    shr.u32 %r2, {lanes}, %r1; and.b32 %r2, %r2, 1; setp.ne.u32 %p, %r2, 0;
    ld.global.u32 %r3, [%a];
    {base} cvt.u64.u32 %c, %r3; add.u64 %b, %b, %c;
    @%p ld.{space}.{load[0]} {load[1]}, [%b];
    ret;
}}
"""

    def ask(self, space, size, addresses):
        lanes = sum(1 << lane for lane in addresses)
        self.file("k.ptx", self.access_kernel(space, size, lanes))
        values = ",".join(str(addresses.get(lane, 0)) for lane in range(LANES))
        profile = self.profile("k.ptx", "-b", "32", "-a", f"u32[]={values}", "-a", "u8[8192]")
        (line,) = [line for line in profile["lines"] if line["line"] == 11]
        (access,) = line["memory"]
        return access

    def test_requests_against_the_model(self):
        dice = random.Random(20)
        shapes = [lambda t, s, r: 0, lambda t, s, r: t * s, lambda t, s, r: t * s * 3, lambda t, s, r: (31 - t) * s,
                  lambda t, s, r: t // 16 * 1024 + t % 16 * s, lambda t, s, r: t // 8 * 512, lambda t, s, r: t // 4 * 640 + t % 4 * s,
                  lambda t, s, r: t * 128, lambda t, s, r: t % 2 * 128 * 7, lambda t, s, r: r.randrange(8192 // s) * s,
                  lambda t, s, r: r.randrange(8) * 128 + r.randrange(4) * s]
        seen = set()
        for size in (1, 2, 4, 8, 16):
            for shape in shapes:
                lanes = dice.choice(([*range(LANES)], [*range(LANES)], dice.sample(range(LANES), 20), [*range(3, 11)], [5], [2, 9]))
                addresses = {t: shape(t, size, dice) for t in sorted(lanes)}
                space = dice.choice(("global", "shared"))
                with self.subTest(space=space, size=size, addresses=addresses):
                    got = self.ask(space, size, addresses)
                    name, width = pattern(addresses, size)
                    seen.add(name)
                    self.assertEqual((got["space"], got["access"]), (space, "load"))
                    self.assertEqual((got["requests"], got["lanes"]), (1, len(addresses)))
                    self.assertEqual(got["patterns"], {known: int(known == name) for known in PATTERNS})
                    self.assertEqual(got.get("stride", got.get("strip", 0)), width)
                    if space == "global":
                        self.assertEqual((got["sectors"], got["bytes"]), sectors(addresses, size))
                    else:
                        self.assertEqual((got["rounds"], got["least_rounds"]), rounds(addresses, size))
        self.assertEqual(seen, set(PATTERNS))

    def repeated_kernel(self, load, rounds_made, threads):
        """In round r thread t loads at offset idx[r][t]; the lanes of `threads` beyond it go away first."""
        return HEADER + f""".visible .entry k(.param .u64 p, .param .u64 q)
{{
    .reg .u32 %t, %n, %o, %s, %x; .reg .u64 %a, %b, %c, %y; .reg .pred %p; .shared .align 16 .b8 s[16384];
    mov.u32 %t, %tid.x; mov.u32 %n, 0; ld.param.u64 %a, [p]; mad.wide.u32 %a, %t, 4, %a; ld.param.u64 %b, [q]; mov.u32 %s, s;
    setp.ge.u32 %p, %t, {threads}; @%p bra END;
AGAIN:
    ld.global.u32 %o, [%a]; add.u64 %a, %a, {4 * 128}; cvt.u64.u32 %c, %o; add.u64 %c, %b, %c; add.u32 %o, %o, %s;
    {load};
    add.u32 %n, %n, 1; setp.lt.u32 %p, %n, {rounds_made}; @%p bra AGAIN;
END:
    ret;
}}
"""

    def test_many_requests_of_one_instruction(self):
        """Most are as the one before, or as that of the next warp, but for where they begin; some are not."""
        dice = random.Random(21)
        made = 30
        for load, size in (("ld.shared.u32 %x, [%o]", 4), ("ld.shared.u64 %y, [%o+8]", 8), ("ld.global.u32 %x, [%c]", 4), ("ld.u16 %x, [%c+2]", 2),
                           ("ld.global.u8 %x, [%c]", 1), ("ld.shared.u8 %x, [%o]", 1)):
            for threads in (128, 64, 100):
                shape, table, want = None, [], {"requests": 0, "lanes": 0, "sectors": 0, "bytes": 0, "rounds": 0, "least_rounds": 0}
                patterns, widths = dict.fromkeys(PATTERNS, 0), {"stride": set(), "strip": set()}
                for _ in range(made):
                    for warp in range(4):
                        if shape is None or dice.random() < 0.3:
                            step, strip = dice.choice((0, size, 2 * size, -size, 64)), dice.choice((1, 4, 8, 16, 32))
                            jump, noise = dice.choice((0, 128, 256 + size)), dice.choice((0, 0, 0, 1))
                            shape = [t % strip * step + t // strip * jump + noise * size * dice.randrange(20) for t in range(LANES)]
                        start = -min(shape) + dice.choice((0, 32, 128, 4 * size, size * dice.randrange(64)))
                        offsets = [start + offset for offset in shape]
                        table += offsets
                        lanes = {t: at + (8 if size == 8 else 2 if size == 2 else 0) for t, at in enumerate(offsets) if 32 * warp + t < threads}
                        if not lanes:
                            continue
                        name, width = pattern(lanes, size)
                        patterns[name] += 1
                        if width:
                            widths["stride" if name == "stride" else "strip"].add(width)
                        for key, value in zip(("requests", "lanes", "sectors", "bytes", "rounds", "least_rounds"),
                                              (1, len(lanes), *sectors(lanes, size), *rounds(lanes, size))):
                            want[key] += value
                for key in ("rounds", "least_rounds") if ".shared" not in load else ("sectors", "bytes"):
                    del want[key]
                self.file("k.ptx", self.repeated_kernel(load, made, threads))
                self.file("idx.bin", b"".join(offset.to_bytes(4, "little") for offset in table))
                profile = self.profile("k.ptx", "-b", "128", "-a", "u32[]=@idx.bin", "-a", "u8[16384]")
                (line,) = [line for line in profile["lines"] if line["line"] == 11]
                (got,) = line["memory"]
                with self.subTest(load=load, threads=threads):
                    self.assertEqual({key: got.get(key) for key in want}, want)
                    self.assertEqual(got["patterns"], patterns)
                    for key, known in widths.items():
                        self.assertEqual(got.get(key), known.pop() if len(known) == 1 else None)

    def test_bank_conflicts_that_everybody_knows(self):
        """Columns of 32x32 floats meet in one bank; padded by one they do not, nor do doubles in a row."""
        for size, step, want in ((4, 4, (1, 1)), (4, 128, (32, 1)), (4, 132, (1, 1)), (4, 8, (2, 1)), (4, 0, (1, 1)),
                                 (8, 8, (2, 2)), (16, 16, (4, 4)), (8, 128, (32, 2))):
            got = self.ask("shared", size, {t: t * step for t in range(LANES)})
            self.assertEqual((got["rounds"], got["least_rounds"]), want, (size, step))

    def test_generic_addresses_count_where_they_lead(self):
        """Even lanes load from shared memory, odd ones from global memory, by one instruction."""
        self.file("k.ptx", HEADER + """.visible .entry k(.param .u64 q)
{
    .reg .u32 %r<4>; .reg .u64 %a, %b, %c; .reg .pred %p; .shared .align 16 .b8 s[128];
    mov.u32 %r1, %tid.x; and.b32 %r2, %r1, 1; setp.eq.u32 %p, %r2, 0;
    ld.param.u64 %a, [q]; mov.u64 %b, s; cvta.shared.u64 %b, %b; selp.b64 %c, %b, %a, %p;
    mad.wide.u32 %c, %r1, 4, %c;
    ld.u32 %r3, [%c];
    atom.add.u32 %r3, [%c], %r3;
    st.u32 [%c], %r3;
    ret;
}
""")
        profile = self.profile("k.ptx", "-b", "64", "-a", "u32[64]", code=3)  # the second warp is beyond the array in shared memory
        profile = self.profile("k.ptx", "-b", "32", "-a", "u32[32]")
        for number, kind in ((10, "load"), (11, "atomic"), (12, "store")):
            (line,) = [line for line in profile["lines"] if line["line"] == number]
            got = {access["space"]: access for access in line["memory"]}
            self.assertEqual(set(got), {"global", "shared"})
            for access in got.values():
                self.assertEqual((access["access"], access["requests"], access["lanes"]), (kind, 1, 16))
                self.assertEqual(access["patterns"]["unit"], 1)  # each lane has its place
            self.assertEqual((got["global"]["sectors"], got["global"]["bytes"]), (4, 64))

    def test_asynchronous_copies_have_two_sides(self):
        self.file("k.ptx", HEADER + """.visible .entry k(.param .u64 q)
{
    .reg .u32 %r<4>; .reg .u64 %a; .shared .align 16 .b8 s[4096];
    mov.u32 %r1, %tid.x; ld.param.u64 %a, [q]; mad.wide.u32 %a, %r1, 16, %a;
    mov.u32 %r2, s; shl.b32 %r3, %r1, 7; add.u32 %r2, %r2, %r3;
    cp.async.cg.shared.global [%r2], [%a], 16;
    cp.async.wait_all;
    ret;
}
""")
        (line,) = [line for line in self.profile("k.ptx", "-b", "32", "-a", "u8[512]")["lines"] if line["line"] == 9]
        store, load = sorted(line["memory"], key=lambda access: access["access"], reverse=True)
        self.assertEqual((store["space"], store["access"], store["stride"]), ("shared", "store", 128))
        self.assertEqual((store["rounds"], store["least_rounds"]), rounds({t: 128 * t for t in range(LANES)}, 16))
        self.assertEqual((load["space"], load["access"], load["patterns"]["unit"]), ("global", "load", 1))
        self.assertEqual((load["sectors"], load["bytes"]), (16, 512))

    # ---- Where it comes from ------------------------------------------------------------------------------------------

    ORIGINS = HEADER + """.file 1 "k.cu"
.file 2 "no/such<b>.h"
.visible .entry k(.param .u64 p)
{
    .reg .u32 %r<4>;
    mov.u32 %r1, 1;
    .loc 1 2 5
    mov.u32 %r2, %tid.x;
    add.u32 %r2, %r2, %r1;
    .loc 2 7 1
    add.u32 %r2, %r2, %r1;
    .loc 1 2 9
    add.u32 %r2, %r2, %r1;
    .loc 1 3 1
    ret;
}
.visible .entry other()
{
    ret;
}
"""

    def test_lines_of_the_source(self):
        self.file("k.ptx", self.ORIGINS)
        self.file("k.cu", "first\nsecond line\nthird\n")
        profile = self.profile("k.ptx", "-k", "k", "-b", "64", "-a", "u64=0")
        got = {(line["file"], line["line"]): (line["warp_instructions"], line["lane_instructions"], line.get("text"))
               for line in profile["origins"]}
        self.assertEqual(got, {("k.cu", 2): (6, 192, "second line"), ("no/such<b>.h", 7): (2, 64, None),
                               ("k.cu", 3): (2, 64, "third")})
        by_line = {line["line"]: line.get("origin") for line in profile["lines"]}
        self.assertEqual(by_line[12], {"file": "k.cu", "line": 2})
        self.assertNotIn("origin", [line for line in profile["lines"] if line["line"] == 9][0])
        other = self.profile("k.ptx", "-k", "other")
        self.assertEqual(other["origins"], [])  # no .loc counts beyond its function

    def test_several_files(self):
        self.file("a.ptx", HEADER + ".extern .func f();\n.visible .entry k()\n{\n    call f;\n    ret;\n}\n")
        self.file("b.ptx", HEADER + "\n.visible .func f()\n{\n    ret;\n}\n")
        code, out, _ = self.lanewise("profile", "a.ptx", "b.ptx", "--json")
        self.assertEqual(code, 0)
        got = {(line["file"], line["line"]): line["lane_instructions"] for line in json.loads(out)["lines"] if line["lane_instructions"]}
        self.assertEqual(got, {("a.ptx", 7): 1, ("a.ptx", 8): 1, ("b.ptx", 7): 1})
        self.shows(["profile", "a.ptx", "b.ptx"], out=["b.ptx:7  ret;"])

    # ---- The outputs --------------------------------------------------------------------------------------------------

    def test_the_table(self):
        self.file("k.ptx", self.LOOP)
        _, out, _ = self.shows(["profile", "k.ptx", "-b", "40", "-a", "u32[40]"],
                               out=["kernel         k\ninstructions   ", "measured around operations",
                                    "  21  st.global.u32 [%rd2], %r2;\n", "global store: unit; 2.5 sectors a request, 100 % of their bytes\n"])
        rows = [line for line in out.splitlines() if line[5:7] == " %"]
        shares = [float(row[:5]) for row in rows]
        self.assertEqual(shares, sorted(shares, reverse=True))
        self.assertAlmostEqual(sum(shares), 100, delta=0.06 * len(shares))
        _, out, _ = self.shows(["profile", "k.ptx", "-b", "40", "-a", "u32[40]", "--top", "2"])
        self.assertEqual(len([line for line in out.splitlines() if line[5:7] == " %"]), 2)
        self.assertIn(f"and {len(rows) - 2} lines more\n", out)

    def test_outputs_of_the_run_come_first(self):
        self.file("k.ptx", self.LOOP)
        code, out, err = self.lanewise("profile", "k.ptx", "-b", "4", "-a", "u32[4]:print", "--json")
        self.assertEqual((code, err), (0, ""))
        lines = out.splitlines()
        self.assertEqual(lines[0], "arg 0 u32[4]: 9 9 8 11")
        profile = json.loads(lines[1])
        self.assertEqual(len(lines), 2)
        shares = [line["seconds"] for line in profile["lines"]]
        self.assertEqual(shares, sorted(shares, reverse=True))
        self.assertEqual(len(self.profile("k.ptx", "-b", "4", "-a", "u32[4]", "--top", "3")["lines"]), 3)

    def test_the_interpreter_whatever_the_environment_says(self):
        self.file("k.ptx", self.LOOP)
        _, _, err = self.shows(["profile", "k.ptx", "-b", "4", "-a", "u32[4]", "--stats"], err=["engine         interp\n"],
                               env={"LANEWISE_ENGINE": "jit"})
        self.assertNotIn("jit", err)

    class Page(html.parser.HTMLParser):
        """Fails where a page is not well-formed; keeps the cells of its rows."""

        EMPTY = ("meta", "br")

        def __init__(self):
            super().__init__(convert_charrefs=True)
            self.open, self.rows, self.names, self.text = [], [], set(), ""

        def handle_starttag(self, tag, attributes):
            self.names.add(tag)
            if tag not in self.EMPTY:
                self.open.append(tag)
            if tag == "tr":
                self.rows.append([])
            if tag in ("td", "th"):
                self.rows[-1].append("")

        def handle_endtag(self, tag):
            if not self.open or self.open.pop() != tag:
                raise AssertionError(f"</{tag}> closes what is not open")

        def handle_data(self, data):
            self.text += data
            if self.open and self.open[-1] in ("td", "th"):
                self.rows[-1][-1] += data

    def page(self, name):
        page = self.Page()
        page.feed((self.folder / name).read_bytes().decode("utf-8"))  # all of it is UTF-8
        page.close()
        self.assertEqual(page.open, [])
        return page

    def test_the_page(self):
        evil = '// <script>alert("1")</script> &amp; \'"> </td>'
        self.file("k.ptx", self.ORIGINS.replace("mov.u32 %r1, 1;", "mov.u32 %r1, 1; " + evil))
        self.file("k.cu", b"first\nif (a < b && c > d) <script>\n\xff\xc0\xaf \x01 \xe2\x82\xac\n")
        self.shows(["profile", "k.ptx", "-k", "k", "-b", "64", "-a", "u64=0", "--html", "k.html"], out=["kernel         k\n"])
        page = self.page("k.html")
        self.assertNotIn("script", page.names)
        self.assertNotIn("b", page.names)
        texts = [row[5] for row in page.rows if len(row) > 5]
        self.assertIn("    mov.u32 %r1, 1; " + evil, texts)
        self.assertIn("if (a < b && c > d) <script>", texts)
        self.assertIn("\ufffd\ufffd\ufffd \ufffd \u20ac", texts)
        self.assertIn("no/such<b>.h", page.text)
        (row,) = [row for row in page.rows if row[5:6] == ["    mov.u32 %r2, %tid.x;"]]
        self.assertEqual(row[1:5], ["2", "64", "100.0 %", "11"])
        self.assertNotRegex((self.folder / "k.html").read_text(), r"(?:src|href)\s*=|@import|url\(")  # it needs no other file

    def test_a_page_of_several_files(self):
        self.file("a<i>.ptx", HEADER + ".extern .func f();\n.visible .entry k()\n{\n    call f;\n    ret;\n}\n")
        self.file("b.ptx", HEADER + "\n.visible .func f()\n{\n    ret;\n}\n")
        self.shows(["profile", "a<i>.ptx", "b.ptx", "--html", "k.html"])
        page = self.page("k.html")
        self.assertIn("a<i>.ptx", page.text)
        self.assertNotIn("i", page.names)
        self.assertEqual(sum(row[:1] == ["time"] for row in page.rows), 2)

    # ---- What is wrong ------------------------------------------------------------------------------------------------

    def test_faults(self):
        self.file("k.ptx", self.LOOP)
        run = ["profile", "k.ptx", "-b", "40", "-a", "u32[40]"]
        self.shows([*run, "--top", "0"], code=2, err=["error[LW6003]: --top '0': this must be above 0"])
        self.shows([*run, "--top", "x"], code=2, err=["error[LW6003]: --top 'x': this is no whole number"])
        self.shows([*run, "--top", "4294967296"], code=2, err=["error[LW6003]: --top"])
        self.shows([*run, "--engine", "jit"], code=2, err=["unrecognized option '--engine'"])
        self.shows([*run, "--html", "no/such/folder.html"], code=5, err=["error[LW6001]: cannot write 'no/such/folder.html'"])
        self.shows([*run, "--html"], code=2, err=["'--html' requires an argument"])
        self.shows(["profile", "k.ptx", "-b", "40"], code=2, err=["error[LW6020]"])
        self.shows(["profile", "none.ptx"], code=5, err=["error[LW6000]"])
        self.shows(["profile"], code=2, err=["a FILE is needed"])
        self.shows(["run", "k.ptx", "--top", "3"], code=2, err=["unrecognized option '--top'"])
        self.shows(["profile", "--help"], out=["--html=FILE", "--top=N", "--json", "TYPE[COUNT]=SOURCE"])


if __name__ == "__main__":
    cli.main()
