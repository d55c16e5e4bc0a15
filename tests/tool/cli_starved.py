#!/usr/bin/env python3
"""No memory: wherever an allocation fails, the tool says so and ends with 6, or does without and gives the same. It never crashes, and never passes
off a part as the whole."""

import re

import cli

COMMANDS = ["--help", "version", "isa --tsv", "isa --family nix", "explain shf", "explain LW5000", "explain pto.vshr", "dump -s tokens k.ptx",
            "dump -s module k.ptx", "dump -s program k.ptx", "format k.ptx", "format f.pto -o out.pto", "draw shfl.down.b32 --b 2 -o out.svg",
            "check k.ptx f.pto", "check bad.ptx", "check --format json bad.ptx", "check --format sarif bad.ptx", "check --list --cost a2a3 f.pto",
            "eval add.u32 0..31 2", "lut (a&b)^c", "exec --folder", "run k.ptx -a u32[4]=1,2,3,4:print --stats", "run k.ptx -a u32[]=@raw:out=a.npy",
            "run k.ptx -k nix", "profile k.ptx -a u32[4]", "profile k.ptx -a u32[4] --json --html k.html", "run trap.ptx -a u32[4]", "run f.pto -a s32[4]=range --cost a2a3",
            "run f.pto -a s32[4]=range --cost a2a3 --stats=json", "equiv f.pto:f f.pto", "cache"]


class Starved(cli.Case):
    def setUp(self):
        super().setUp()
        self.environment = self.preload("preload_failing") | {"LANEWISE_THREADS": "2", "LANEWISE_CACHE": str(self.folder / "kept")}
        (self.folder / "kept").mkdir(mode=0o700)
        self.file("kept/" + 40 * "0" + ".code", "something")
        self.file("k.ptx", cli.module(cli.kernel("k", ".u64 p")))
        self.file("trap.ptx", cli.module(cli.kernel("k", ".u64 p", body="trap;")))
        self.file("bad.ptx", cli.module(cli.kernel("k", ".u64 p", body=".reg .u32 a; add.u32 a, b, 1; mov.foo a, a; ret;")))
        self.file("f.pto", "func.func @f(%a: !pto.vreg<4xi32>) -> !pto.vreg<4xi32> {\n  return %a : !pto.vreg<4xi32>\n}\n")
        self.file("raw", b"\1\0\0\0" * 4)

    def ends(self, command, **more):
        code, out, err = self.lanewise(*command.split(), env=self.environment | more)
        err = re.sub(r'"(seconds|lane_instructions_per_second)": *[^,}]*', "", err)
        if command.startswith("profile"):  # by times, which differ
            out = "\n".join(sorted(re.split(r"(?<=[}\n]),? *", re.sub(r"\d+\.\d+(e-\d+)?|\b0\b", "", out))))
        return code, out, re.sub(r"(?m)^(time|rate) .*\n", "", err)

    def allocations(self, command):
        """How many it makes; how it ends where none fails."""
        count = self.folder / "count"
        right = self.ends(command, LW_TEST_COUNT=str(count))
        lines = count.read_text().splitlines()
        count.unlink()
        return int(lines[0]), right

    def test_every_command(self):
        for command in COMMANDS:
            many, right = self.allocations(command)
            self.assertNotEqual(right[0], 6, right)
            self.assertGreater(many, 0, command)
            places = sorted({*range(1, min(many, 12)), *range(1, many + 1, max(1, many // 12))})
            for at in places:
                for once in ({}, {"LW_TEST_ONCE": "1"}):
                    got = self.ends(command, LW_TEST_FAIL=str(at), **once)
                    where = f"{command}, allocation {at} of {many} {once}: {got}"
                    if got[0] == 6:
                        self.assertIn("error[LW", got[2], where)
                        continue
                    self.assertEqual(got[:2], right[:2], where)
                    # A hint such as "did you mean" may be missing.
                    self.assertLessEqual(set(got[2].splitlines()), set(right[2].splitlines()), where)


if __name__ == "__main__":
    cli.main()
