#!/usr/bin/env python3
"""The lane headers in somebody else's project: alone.py INCLUDE. A program that has only a copy of lane.h and lane/ compiles without a
warning as C11 and as C++17, with gcc and clang where they are, and computes what the manual says. Its FMA contraction is off, as
lane.h asks for."""

import pathlib
import shutil
import subprocess
import sys
import tempfile

PROGRAM = r"""
#include <lanewise/lane.h>
#include <stdio.h>

static int faults;
static void is(const char *what, unsigned long long got, unsigned long long want) {
    if (got == want) return;
    printf("%s is 0x%llx and not 0x%llx\n", what, got, want);
    faults++;
}
#define IS(call, want) is(#call, (unsigned long long)(call), (unsigned long long)(want))

int main(void) {
    const uint32_t a = 0x12345678, b = 0x9abcdef0;
    const uint64_t ba = (uint64_t)b << 32 | a;
    for (uint32_t c = 0; c < 70; c++) { /* the 64-bit value [b,a], shifted */
        uint32_t wrap = c & 31, clamp = c < 32 ? c : 32;
        IS(lw_shf_l_wrap(a, b, c), (uint32_t)(ba << wrap >> 32));
        IS(lw_shf_l_clamp(a, b, c), (uint32_t)(ba << clamp >> 32));
        IS(lw_shf_r_wrap(a, b, c), (uint32_t)(ba >> wrap));
        IS(lw_shf_r_clamp(a, b, c), (uint32_t)(ba >> clamp));
    }
    for (unsigned lut = 0; lut < 256; lut++) /* F(0xF0, 0xCC, 0xAA) is the table itself */
        IS(lw_lop3(0xf0, 0xcc, 0xaa, (uint8_t)lut) & 0xff, lut);
    IS(lw_lop3(a, b, 5, 0x1a), ((a & b) | 5) ^ a);
    IS(lw_shl_b16(0xffff, 16), 0);
    IS(lw_shl_b32(1, 31), 0x80000000);
    IS(lw_shr_s32(-8, 1) + 4, 0);
    IS(lw_shr_s64(-1, 1000) + 1, 0);
    IS(lw_cnot_b32(0), 1);
    IS(lw_and_pred(true, false), 0);
    IS(lw_popc_b32(a), 13);
    IS(lw_mul_hi_u32(a, b), (uint64_t)a * b >> 32);
    return faults != 0;
}
"""

LANGUAGES = (("C11", ".c", "-std=c11", ("gcc", "clang", "cc")), ("C++17", ".cpp", "-std=c++17", ("g++", "clang++", "c++")))


def main():
    include = pathlib.Path(sys.argv[1])
    tried, failed = 0, 0
    with tempfile.TemporaryDirectory() as folder:
        copy = pathlib.Path(folder) / "include" / "lanewise"
        copy.mkdir(parents=True)
        shutil.copy(include / "lanewise" / "lane.h", copy)
        shutil.copytree(include / "lanewise" / "lane", copy / "lane")
        for language, suffix, standard, compilers in LANGUAGES:
            source = pathlib.Path(folder) / f"user{suffix}"
            source.write_text(PROGRAM)
            found = [c for c in compilers[:2] if shutil.which(c)] or [c for c in compilers[2:] if shutil.which(c)]
            if not found:
                print(f"no compiler for {language}: {', '.join(compilers)}")
                failed += 1
            for compiler in found:
                for level in ("-O0", "-O2"):
                    tried += 1
                    program = pathlib.Path(folder) / "user"
                    done = subprocess.run([compiler, standard, level, "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-ffp-contract=off",
                                           f"-I{copy.parent}", str(source), "-o", str(program), "-lm"], capture_output=True, text=True)
                    if done.returncode == 0:
                        done = subprocess.run([str(program)], capture_output=True, text=True)
                    print(f"{compiler} {standard} {level}: {'fails' if done.returncode else 'as it must be'}\n{done.stdout}{done.stderr}", end="")
                    failed += done.returncode != 0
    return 1 if failed or not tried else 0


if __name__ == "__main__":
    sys.exit(main())
