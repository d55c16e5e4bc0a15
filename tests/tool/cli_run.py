#!/usr/bin/env python3
"""`lanewise run`: choosing the kernel, the launch, limits, traps, statistics, progress. The kernels are small enough to be worked out
by hand."""

import re
import json
import os
import pty
import select
import signal
import struct
import subprocess
import time

import cli

NOOP = cli.kernel("noop", ".u64 p")

# out[i] = in[i] * n + tid of the grid, for u32
SCALE = cli.kernel("scale", ".u64 from", ".u64 to", ".u32 n", body="""
    .reg .b64 %rd<4>;
    .reg .b32 %r<8>;
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, %ntid.x;
    mov.u32 %r3, %ctaid.x;
    mad.lo.u32 %r4, %r3, %r2, %r1;
    ld.param.u64 %rd1, [from];
    ld.param.u64 %rd2, [to];
    ld.param.u32 %r5, [n];
    mul.wide.u32 %rd3, %r4, 4;
    add.u64 %rd1, %rd1, %rd3;
    add.u64 %rd2, %rd2, %rd3;
    ld.global.u32 %r6, [%rd1];
    mad.lo.u32 %r7, %r6, %r5, %r4;
    st.global.u32 [%rd2], %r7;
    ret;""")

# Stores each parameter's bytes behind one another, where p points to.
STORE = cli.kernel("store", ".u64 p", ".u8 a", ".s16 b", ".b32 c", ".f32 d", ".f64 e", ".align 8 .b8 s[16]", body="""
    .reg .b64 %rd<5>;
    .reg .b32 %r<3>;
    .reg .b16 %h<3>;
    ld.param.u64 %rd1, [p];
    ld.param.u8 %h1, [a];
    st.global.u8 [%rd1], %h1;
    ld.param.u16 %h2, [b];
    st.global.u16 [%rd1+2], %h2;
    ld.param.u32 %r1, [c];
    st.global.u32 [%rd1+4], %r1;
    ld.param.b32 %r2, [d];
    st.global.b32 [%rd1+8], %r2;
    ld.param.b64 %rd2, [e];
    st.global.b64 [%rd1+16], %rd2;
    ld.param.b64 %rd3, [s];
    st.global.b64 [%rd1+24], %rd3;
    ld.param.b64 %rd4, [s+8];
    st.global.b64 [%rd1+32], %rd4;
    ret;""")

# Stores the launch's shape.
SHAPE = """
    .reg .b64 %rd1;
    .reg .b32 %r<7>;
    ld.param.u64 %rd1, [p];
    mov.u32 %r1, %nctaid.x;
    mov.u32 %r2, %nctaid.y;
    mov.u32 %r3, %nctaid.z;
    mov.u32 %r4, %ntid.x;
    mov.u32 %r5, %ntid.y;
    mov.u32 %r6, %ntid.z;
    st.global.u32 [%rd1], %r1;
    st.global.u32 [%rd1+4], %r2;
    st.global.u32 [%rd1+8], %r3;
    st.global.u32 [%rd1+12], %r4;
    st.global.u32 [%rd1+16], %r5;
    st.global.u32 [%rd1+20], %r6;
    ret;"""

LOOP = cli.kernel("loop", body="again:\n    bra again;")
TRAP = cli.kernel("trap_store", ".u64 p", body="""
    .reg .b64 %rd1;
    .reg .b32 %r1;
    ld.param.u64 %rd1, [p];
    mov.u32 %r1, 7;
    st.global.u32 [%rd1+64], %r1;
    ret;""")


class Kernels(cli.Case):
    def test_one_kernel_needs_no_name(self):
        self.file("k.ptx", cli.module(NOOP))
        self.gives(["run", "k.ptx", "-a", "u32[1]"])
        self.gives(["run", "k.ptx", "--kernel", "noop", "-a", "u32[1]"])
        self.gives(["run", "-", "-a", "u32[1]"], stdin=cli.module(NOOP))

    def test_choice(self):
        self.file("k.ptx", cli.module(NOOP, cli.kernel("other")))
        self.gives(["run", "k.ptx", "-k", "other"])
        kernels = "  choose one with --kernel\n  kernel: noop\n  kernel: other\n"
        self.gives(["run", "k.ptx"], 2, err=f"lanewise: error[LW6026]: 'k.ptx': the module has 2 kernels; one must be named\n{kernels}")
        self.gives(["run", "k.ptx", "-k", "othre"], 2,
                   err=f"lanewise: error[LW6026]: 'k.ptx': the module has no kernel named 'othre'; did you mean 'other'?\n{kernels}")
        self.file("none.ptx", cli.HEADER)
        self.gives(["run", "none.ptx"], 2, err="lanewise: error[LW6026]: 'none.ptx': the module has no kernel\n")

    def test_a_kernel_in_place_of_a_file(self):
        self.file("k.ptx", cli.module(NOOP, cli.kernel("other")))
        missing = "lanewise: error[LW6000]: cannot read '{}': No such file or directory\n"
        self.gives(["run", "k.ptx", "other"], 5, err=missing.format("other") + "  kernel 'other' is in 'k.ptx': --kernel other\n")
        self.gives(["run", "k.ptx", "nix"], 5, err=missing.format("nix"))
        self.gives(["run", "nix", "k.ptx"], 5, err=missing.format("nix"))

    def test_names_of_cpp(self):
        """As nvcc names them: fill<float>, fill<double> and ns::go(int*)."""
        one, two, go = "_Z4fillIfEvPT_S0_i", "_Z4fillIdEvPT_S0_i", "_ZN2ns2goEPi"
        self.file("k.ptx", cli.module(*(cli.kernel(name, ".u64 p", body=f"st.global.u32 [x], {i};".join((".reg .b64 x; ld.param.u64 x, [p]; ", " ret;")))
                                        for i, name in enumerate((one, two, go)))))
        for name, i in ((one, 0), ("fill<double>", 1), ("void fill<float>(float*, float, int)", 0), ("ns::go", 2), ("go", 2), ("ns::go(int*)", 2)):
            self.gives(["run", "k.ptx", "-k", name, "-a", "u32[1]=9:print"], out=f"arg 0 u32[1]: {i}\n")
        floats = f"  kernel: {one}  void fill<float>(float*, float, int)\n  kernel: {two}  void fill<double>(double*, double, int)\n"
        choose = "  choose one with --kernel\n" + floats
        self.gives(["run", "k.ptx", "-k", "fill"], 2, err=f"lanewise: error[LW6026]: 'k.ptx': 2 kernels are meant by 'fill'\n{choose}")
        self.gives(["run", "k.ptx", "-k", "gone"], 2,
                   err=f"lanewise: error[LW6026]: 'k.ptx': the module has no kernel named 'gone'\n{choose}  kernel: {go}  ns::go(int*)\n")
        self.assertIn(go, self.shows(["dump", "-s", "module", "-k", "go", "k.ptx"])[1])

    def test_one_thread(self):
        """It is said where arrays are given, the kernel tells its threads apart, and nobody said how many there are."""
        which = ".reg .b32 a; .reg .b64 x; mov.u32 a, %tid.x; ld.param.u64 x, [p]; st.global.u32 [x], a; ret;"
        for name, body in (("tid", which), ("cta", which.replace("tid", "ctaid")), ("none", "ret;"), ("size", which.replace("tid", "ntid"))):
            self.file(f"{name}.ptx", cli.module(cli.kernel("k", ".u64 p", ".u32 n", body=body)))
        self.file("req.ptx", cli.module(cli.kernel("k", ".u64 p", ".u32 n", body=which, directives=".reqntid 32")))
        note = "lanewise: note[LW6029]: one thread ran, and kernel 'k' reads which one it is: --grid and --block say how many\n"
        many, one = ["-a", "u32[2]", "-a", "u32=2"], ["-a", "u32[1]", "-a", "u32=2"]
        for file, args, said in (("tid", many, note), ("cta", many, note), ("none", many, ""), ("size", many, ""), ("req", many, ""), ("tid", one, ""),
                                 ("tid", [*many, "-b", "1"], ""), ("tid", [*many, "-g", "1"], ""), ("tid", [*many, "-q"], "")):
            self.gives(["run", f"{file}.ptx", *args], err=said)

    def test_choice_of_functions(self):
        two = "func.func @one() {\n  return\n}\nfunc.func @other(%a: i32) {\n  return\n}\n"
        self.file("f.pto", two)
        functions = "  function: one\n  function: other\n"
        choose = "  choose one with --func\n" + functions
        self.gives(["run", "f.pto"], 2, err=f"lanewise: error[LW6026]: 'f.pto': the module has 2 functions; one must be named\n{choose}")
        self.gives(["run", "f.pto", "-f", "onne"], 2,
                   err=f"lanewise: error[LW6026]: 'f.pto': the module has no function named 'onne'; did you mean 'one'?\n{choose}")
        self.shows(["run", "f.pto", "-f", "other"], 2, err=["LW6020]: number of arguments for function 'other': 1 needed, 0 given\n  function: other("])
        self.file("k.ptx", cli.module(cli.kernel("k", ".u32 n")))
        self.file("v.pto", "func.func @v(%a: !pto.vreg<4xi32>) {\n  return\n}\n")
        self.shows(["equiv", "k.ptx", "v.pto"], 2, err=["parameter 'n' of the kernel is to be a pointer of 64 bits: the array 'a' of the function\n"])
        self.gives(["equiv", "f.pto:one", "f.pto"], 2,
                   err=f"lanewise: error[LW6026]: 'f.pto': the module has 2 functions; one must be named\n  choose one with FILE:NAME\n{functions}")

    def test_files(self):
        self.gives(["run", "no.ptx"], 5, err="lanewise: error[LW6000]: cannot read 'no.ptx': No such file or directory\n")
        self.gives(["run", "."], 5, err="lanewise: error[LW6000]: cannot read '.': Is a directory\n")
        self.file("bad.ptx", cli.HEADER + ".visible .entry k() {\n    bogus.u32 %r1;\n}\n")
        code, out, err = self.shows(["run", "bad.ptx"], 1)
        self.assertRegex(err, r"^bad\.ptx:5:\d+: error\[LW\d{4}\]: ")
        self.assertEqual(out, "")

    def test_a_bad_argument_is_told_before_the_file_is_read(self):
        self.shows(["run", "no.ptx", "-a", "x"], 2, err=["LW6010"])

    MODULE = ".version 8.7\n.target sm_100a\n.address_size 64\n"

    def test_not_executable(self):
        """A known instruction without an implementation refuses the kernel, and names its line."""
        self.file("k.ptx", self.MODULE + cli.kernel("k", body=".reg .b64 %a;\n    tcgen05.wait::ld.sync.aligned;\n    ret;"))
        code, out, err = self.shows(["run", "k.ptx"], 1, err=["LW3000"])
        self.assertRegex(err, r"^k\.ptx:7:\d+: error\[LW3000\]: 'tcgen05\.wait::ld\.sync\.aligned'")

    def test_not_executable_is_said_once(self):
        """In all functions that the kernel reaches, with the number of places and the first of them."""
        one, other = "    tcgen05.wait::ld.sync.aligned;\n", "    tcgen05.wait::st.sync.aligned;\n"
        function = "\n.func f() {\n    .reg .b64 %a;\n" + 3 * one + "    ret;\n}\n"
        self.file("k.ptx", self.MODULE + function + cli.kernel("k", body=".reg .b64 %a;\n" + one + other + one + "    call f;\n    ret;"))
        code, out, err = self.lanewise("run", "k.ptx")
        self.assertEqual(code, 1)
        self.assertEqual(err.count("LW3000"), 2, err)
        why = "is a valid PTX instruction that Lanewise cannot execute: there are no tensor cores, and they have no memory"
        self.assertIn(f"'tcgen05.wait::ld.sync.aligned' {why}; it is at 5 places, of which this is the first", err)
        self.assertIn(f"'tcgen05.wait::st.sync.aligned' {why}\n", err)

    def test_refused_families(self):
        """Each family is refused by name and with its reason, when its kernel is loaded; other kernels of the module run."""
        refused = [
            (100, "tcgen05.wait::ld.sync.aligned;", "no tensor cores"),
        ]
        for target, instruction, why in refused:
            with self.subTest(instruction):
                head = f".version 8.7\n.target sm_{target}a\n.address_size 64\n.global .texref t;\n.global .surfref s;\n"
                body = f".reg .b32 %r; .reg .b64 %a; .reg .f32 %f; .reg .f64 %d;\n    {instruction}\n    {instruction}\n    ret;"
                self.file("k.ptx", head + cli.kernel("bad", body=body) + cli.kernel("good"))
                code, out, err = self.shows(["run", "k.ptx", "--kernel", "bad"], 1, err=[why, "; it is at 2 places, of which this is the first"])
                self.assertEqual(re.findall(r"(?m)^k\.ptx:(\d+):\d+: error\[LW(\d+)\]: '([^']*)'", err), [("9", "3000", instruction.split()[0].rstrip(";"))])
                self.gives(["run", "k.ptx", "--kernel", "good"])
                self.shows(["check", "k.ptx"])


class Options(cli.Case):
    def setUp(self):
        super().setUp()
        self.file("k.ptx", cli.module(cli.kernel("k")))

    def test_bad_values(self):
        for option, value, why in (
                ("--grid", "0", "each number of a shape must be from 1 to 4294967295"),
                ("--grid", "4294967296", "each number of a shape must be from 1 to 4294967295"),
                ("--grid", "-1", "each number of a shape must be from 1 to 4294967295"),
                ("--grid", "", "a shape is written X, X,Y or X,Y,Z"),
                ("--grid", "1x2", "a shape is written X, X,Y or X,Y,Z"),
                ("--grid", "1,", "a shape is written X, X,Y or X,Y,Z"),
                ("--block", "1,2,3,4", "a shape has at most three numbers"),
                ("--block", "1,2,3,", "a shape has at most three numbers"),
                ("--smem", "x", "this is no whole number"),
                ("--smem", "1k", "this is no whole number"),
                ("--smem", "4G", "this is too large, or negative"),
                ("--smem", "-1", "this is too large, or negative"),
                ("--seed", "1K", "this is no whole number"),
                ("--seed", "18446744073709551616", "this is too large, or negative"),
                ("--threads", "0", "this must be above 0"),
                ("--threads", "4097", "this is too large, or negative"),
                ("--timeout", "0", "this must be above 0 and below 1e9"),
                ("--timeout", "-1", "this must be above 0 and below 1e9"),
                ("--timeout", "nan", "this must be above 0 and below 1e9"),
                ("--timeout", "1s", "this is no number of seconds"),
                ("--step-limit", "0", "this must be above 0"),
                ("--step-limit", "1.5", "this is no whole number"),
                ("--memory", "x", "this is no whole number"),
                ("--stack", "x", "this is no whole number")):
            self.gives(["run", "k.ptx", option, value], 2, err=f"lanewise: error[LW6003]: {option} '{value}': {why}\n")
        self.gives(["run", "k.ptx", "--stats=xml"], 2,
                   err="lanewise: error[LW6003]: --stats 'xml': only --stats and --stats=json are known\n")
        for command in (["run", "k.ptx"], ["dump", "--stage", "program", "k.ptx"]):
            for name in ("", "sm_80"):
                self.gives([*command, "--semantics", name], 2,
                           err=f"lanewise: error[LW6003]: --semantics '{name}': the semantics are manual and sm_90\n")
            self.gives(command, 2, err="lanewise: error[LW6003]: LANEWISE_SEMANTICS 'sm90': the semantics are manual and sm_90\n",
                       env={"LANEWISE_SEMANTICS": "sm90"})
        self.shows(["run", "k.ptx", "--cpu", "v9"], 2, err=["LW6003]: --cpu 'v9': the levels are "])

    def test_good_values(self):
        self.gives(["run", "k.ptx", "--grid", "2,3", "--block", "0x10", "--smem", "1K", "--threads", "1", "--timeout", "1e3",
                    "--step-limit", "1M", "--cpu", "portable", "--memory", "64M", "--stack", "4K", "-q", "--seed", "7"])

    def test_options_after_the_file(self):
        self.gives(["run", "--grid", "1", "k.ptx", "--block=2"])
        os.rename(self.folder / "k.ptx", self.folder / "-k.ptx")
        self.gives(["run", "--grid", "1", "--", "-k.ptx"])

    def test_block_too_large(self):
        self.gives(["run", "k.ptx", "--block", "1025"], 2,
                   err="lanewise: error[LW6027]: the launch was refused: a CTA of 1025x1x1 is 1025 threads: 1024 are the most\n")

    def test_breakpoint(self):
        for word in ("trap", "brkpt"):
            self.file(f"{word}.ptx", cli.module(cli.kernel("k", body=f"{word};")))
            self.shows(["run", f"{word}.ptx"], 3, err=[f"error[LW5007]: the kernel executed {word}\n"])

    def test_memory_limit(self):
        self.file("p.ptx", cli.module(NOOP))
        self.file("p2.ptx", cli.module(cli.kernel("k", ".u64 p", ".u64 q")))
        self.gives(["run", "p2.ptx", "--memory", "64K", "-a", "u8[4K]", "-a", "u32[1M]=1"], 6,
                   err="lanewise: error[LW6005]: out of memory: argument 1: 4194304 bytes of device memory: 4096 of 65536 are in use\n"
                       "  u32[1M]=1\n  ^~~~~~~\n  the limit is that of --memory, 65536 bytes\n")
        self.file("v.ptx", cli.HEADER + ".global .align 4 .b8 big[400000];\n" + NOOP)
        self.gives(["run", "v.ptx", "--memory", "64K", "-a", "u8[1]"], 6,
                   err="lanewise: error[LW6005]: out of memory: 'v.ptx': variable 'big' takes 400000 bytes of device memory: 0 of 65536 are in use\n"
                       "  the limit is that of --memory, 65536 bytes\n")
        self.shows(["run", "p.ptx", "--memory", "64K", "-a", "u8[]=@/dev/zero"], 6, err=["argument 0: '/dev/zero' has more than 65536 bytes, the limit that --memory sets\n"])
        self.shows(["run", "p.ptx", "-a", "u64[256G]"], 6, err=["out of memory: argument 0: 2199023255552 bytes of device memory: ", "--memory sets another one\n"])


class Results(cli.Case):
    def test_arguments_arrive(self):
        self.file("k.ptx", cli.module(STORE))
        self.gives(["run", "k.ptx", "-a", "b8[40]:out=o.bin", "-a", "u8=200", "-a", "s16=-2", "-a", "b32=0xdeadbeef",
                    "-a", "f32=1.5", "-a", "f64=-0.1", "-a", "u64[2]=1,0x8000000000000000"])
        self.assertEqual((self.folder / "o.bin").read_bytes(),
                         struct.pack("<BxhIf4xdQQ", 200, -2, 0xdeadbeef, 1.5, -0.1, 1, 1 << 63))

    def test_buffers_in_and_out(self):
        self.file("k.ptx", cli.module(SCALE))
        data = [(i * 2654435761) & 0xffffffff for i in range(1000)]
        self.file("in.bin", struct.pack("<1000I", *data))
        self.gives(["run", "k.ptx", "-g", "10", "-b", "100", "-a", "u32[]=@in.bin", "-a", "u32[1000]:out=out.bin", "-a", "u32=3"])
        self.assertEqual((self.folder / "out.bin").read_bytes(), struct.pack("<1000I", *((v * 3 + i) & 0xffffffff for i, v in enumerate(data))))
        self.gives(["run", "k.ptx", "-b", "4", "-a", "s32[]=-1,0,1,2:print", "-a", "s32[4]:print", "-a", "s32=-10"],
                   out="arg 0 s32[4]: -1 0 1 2\narg 1 s32[4]: 10 1 -8 -17\n")

    def test_shapes(self):
        self.file("k.ptx", cli.module(cli.kernel("k", ".u64 p", body=SHAPE)))
        for options, want in (([], "1 1 1 1 1 1"), (["-g", "2,3,4", "-b", "5,6,7"], "2 3 4 5 6 7"), (["--block", "33"], "1 1 1 33 1 1"),
                              (["--grid=1,9"], "1 9 1 1 1 1")):
            self.gives(["run", "k.ptx", *options, "-a", "u32[6]:print"], out=f"arg 0 u32[6]: {want}\n")

    def test_block_by_reqntid(self):
        self.file("k.ptx", cli.module(cli.kernel("k", ".u64 p", body=SHAPE, directives=".reqntid 8, 4, 2")))
        self.gives(["run", "k.ptx", "-a", "u32[6]:print"], out="arg 0 u32[6]: 1 1 1 8 4 2\n")
        self.shows(["run", "k.ptx", "-b", "8", "-a", "u32[6]:print"], 2, err=["LW6027"])


class Ends(cli.Case):
    def test_trap(self):
        self.file("k.ptx", cli.module(TRAP))
        code, out, err = self.shows(["run", "k.ptx", "-a", "u32[4]=5:print:out=o.bin"], 3)
        self.assertEqual(out, "")
        self.assertFalse((self.folder / "o.bin").exists())
        for word in ("k.ptx:11:5: error[LW5000]: store of 4 bytes", "kernel 'trap_store', CTA (0,0,0), thread (0,0,0)"):
            self.assertIn(word, err)

    def test_timeout(self):
        self.file("k.ptx", cli.module(LOOP))
        self.gives(["run", "k.ptx", "--timeout", "0.2"], 4,
                   err="lanewise: error[LW6028]: kernel 'loop' was stopped: the time limit of 0.2 s is over\n  1 warp at k.ptx:7:5\n")

    def test_step_limit(self):
        self.file("k.ptx", cli.module(LOOP))
        self.shows(["run", "k.ptx", "--step-limit", "100K"], 4, err=["lanewise: error[LW6028]: kernel 'loop' was stopped: "])

    def test_interrupt(self):
        self.file("k.ptx", cli.module(LOOP))
        process = subprocess.Popen([self.tool, "run", "k.ptx"], cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        time.sleep(1)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
        self.assertEqual((process.returncode, out, err), (130, "", "lanewise: error[LW6028]: kernel 'loop' was stopped: interrupted\n  1 warp at k.ptx:7:5\n"))


class Statistics(cli.Case):
    def test_text(self):
        self.file("k.ptx", cli.module(SCALE))
        code, out, err = self.lanewise("run", "k.ptx", "-g", "2", "-b", "48", "-a", "u32[96]", "-a", "u32[96]", "-a", "u32=1", "--stats",
                                       "--threads", "1")
        self.assertEqual((code, out), (0, ""))
        # 14 instructions; 2 CTAs of one whole warp and one half warp
        self.assertRegex(err, r"(?s)^kernel +scale\nlaunch +grid 2,1,1  block 48,1,1  96 threads\n"
                              r"instructions +56 of warps, 1,344 of lanes\nlanes active +24\.0 of 32 \(75\.0 %\)\n"
                              r"time +\d+\.\d{6} s\nrate +\S+( [kMGT])? lane-instructions/s\ncpu +\w+, 1 thread\nengine +auto: 2 CTAs by interp, 0 by jit; it has not executed enough\nsemantics +manual\n$")

    def test_json(self):
        self.file("k.ptx", cli.module(SCALE))
        code, out, err = self.lanewise("run", "k.ptx", "-g", "2,2", "-b", "32", "-a", "u32[64]", "-a", "u32[64]:print", "-a", "u32=1",
                                       "--stats=json", "--cpu", "portable")
        self.assertEqual(code, 0)
        self.assertTrue(out.startswith("arg 1 u32[64]: 0 1 2"))
        stats = json.loads(err)
        self.assertEqual({k: v for k, v in stats.items() if "second" not in k and k != "worker_threads"},
                         {"kernel": "scale", "grid": [2, 2, 1], "block": [32, 1, 1], "ctas": 4, "threads": 128,
                          "warp_instructions": 56, "lane_instructions": 1792, "lanes_active": 32, "cpu": "portable",
                          "engine": "auto", "engines": {"interp_ctas": 4, "jit_ctas": 0, "why": "it has not executed enough", "cached": False},
                          "semantics": "manual", "notes": []})
        self.assertGreater(stats["seconds"], 0)
        self.assertGreater(stats["worker_threads"], 0)

    def test_clusters(self):
        """Grids of CTAs, however --grid counts; what the kernel finds in %nctaid and counts itself is the second opinion."""
        body = (".reg .b32 %n, %m; .reg .b64 %p; ld.param.u64 %p, [p]; red.global.add.u32 [%p], 1;"
                " mov.u32 %n, %nctaid.x; mov.u32 %m, %nctaid.y; mul.lo.u32 %n, %n, %m; st.global.u32 [%p+4], %n; ret;")
        head = ".version 9.0\n.target sm_90\n.address_size 64\n"
        self.file("k.ptx", head + cli.kernel("blocks", ".u64 p", body=body, directives=".reqntid 32 .reqnctapercluster 2 .blocksareclusters") +
                  cli.kernel("asks", ".u64 p", body=body, directives=".reqnctapercluster 2") + cli.kernel("plain", ".u64 p", body=body))
        for options, grid, cluster in ((["-k", "blocks", "-g", "3,5"], [6, 5, 1], [2, 1, 1]), (["-k", "asks", "-g", "4,3"], [4, 3, 1], [2, 1, 1]),
                                       (["-k", "plain", "-g", "4,3", "--cluster", "1,3"], [4, 3, 1], [1, 3, 1]), (["-k", "plain", "-g", "4,3"], [4, 3, 1], None)):
            with self.subTest(options=options):
                run = ["run", "k.ptx", *options, "-b", "32", "-a", "u32[2]:print"]
                ctas = grid[0] * grid[1]
                out, err = self.shows([*run, "--stats"], out=[f"arg 0 u32[2]: {32 * ctas} {ctas}\n"])[1:]
                told = "" if not cluster else f"cluster {cluster[0]},{cluster[1]},1  "
                self.assertIn(f"launch         grid {grid[0]},{grid[1]},1  {told}block 32,1,1  {32 * ctas} threads\ninstructions ", err)
                stats = json.loads(self.shows([*run, "--stats=json"])[2])
                self.assertEqual((stats["grid"], stats.get("cluster"), stats["ctas"], stats["threads"]), (grid, cluster, ctas, 32 * ctas))

    def test_cancelled_clusters(self):
        """CTAs whose work others took over did not run; the kernel counts those that did."""
        path = str(cli.ROOT / "tests/ptx/cluster/run_cancel.ptx")
        for threads in ("1", "2"):
            out, err = self.shows(["run", path, "-k", "alone", "-g", "40,3,2", "-b", "32", "-a", "u32[240]", "-a", "u32[1]", "-a", "u32[1]:print", "--threads", threads,
                                   "--stats=json"])[1:]
            stats = json.loads(err)
            self.assertEqual((stats["grid"], stats["ctas"]), ([40, 3, 2], int(out.split()[-1])))
            self.assertLess(stats["ctas"], 240)
            self.assertEqual(stats["threads"], 32 * stats["ctas"])
        err = self.shows(["run", path, "-k", "alone", "-g", "40,3,2", "-b", "32", "-a", "u32[240]", "-a", "u32[1]", "-a", "u32[1]", "--threads", "1", "--stats"])[2]
        self.assertRegex(err, r"7,680 threads\ncancelled      \d+ of 240 CTAs\ninstructions ")
        self.assertNotIn("ended", err)
        self.assertNotIn("cancelled", self.lanewise("run", path, "-k", "nobody", "-a", "u32[4]", "--stats")[2])

    def test_notes(self):
        """0x12345678 shifted right by 4 into the high half of 0xaaaa: the manual takes 0x4567, sm_90 0x0123."""
        body = """.reg .b64 %p; .reg .b32 %r, %t;
    ld.param.u64 %p, [p];
    mov.b32 %r, 0x12345678;
    vshr.u32.u32.u32.clamp %t.h1, %r, 4, 0xaaaa;
    st.global.b32 [%p], %t;
    ret;"""
        self.file("k.ptx", cli.module(cli.kernel("k", ".u64 p", body=body)))
        run = ["run", "k.ptx", "-g", "2", "-b", "24", "-a", "b32[1]:print"]
        for options, env, semantics, word in (([], {}, "manual", "0x4567aaaa"), (["--semantics", "sm_90"], {}, "sm_90", "0x0123aaaa"),
                                              ([], {"LANEWISE_SEMANTICS": "sm_90"}, "sm_90", "0x0123aaaa"),
                                              (["--semantics=manual"], {"LANEWISE_SEMANTICS": "sm_90"}, "manual", "0x4567aaaa")):
            code, out, err = self.lanewise(*run, "--stats=json", *options, env=env)
            stats = json.loads(err)
            self.assertEqual((code, out, stats["semantics"]), (0, f"arg 0 b32[1]: {word}\n", semantics))
            self.assertEqual(stats["notes"], [{"id": "LW5100", "line": 9, "column": 5, "count": 48}])
            err = self.lanewise(*run, "--stats", *options, env=env)[2]
            self.assertTrue(err.endswith(f"semantics      {semantics}\nnote LW5100    line 9: 48 of lanes: the manual and sm_90 give different "
                                         "results\n"), err)

    def test_undefined(self):
        """What stops a strict launch is counted otherwise, for each lane that does it."""
        kernels = str(cli.ROOT / "tests/ptx/shuffle/run_strict.ptx")
        # Lane 3 of `each` names others than itself; those that name it wait until it has left.
        for kernel, threads, notes in (("inside", 40, []), ("exited", 32, [("LW5101", 41, 1)]), ("partial", 40, [("LW5101", 49, 8)]),
                                       ("stranger", 32, [("LW5102", 56, 1)]), ("each", 32, [("LW5102", 70, 1)]),
                                       ("never", 32, [("LW5103", 84, 16)]), ("parted", 32, [("LW5104", 95, 16)])):
            code, _, err = self.lanewise("run", kernels, "-q", "-k", kernel, "-g", "3", "-b", str(threads), "-a", "b32[40]", "--stats=json")
            found = [(n["id"], n["line"], n["count"]) for n in json.loads(err)["notes"]]
            self.assertEqual((code, found), (0, [(note, line, 3 * lanes) for note, line, lanes in notes]), kernel)

    def test_deep_registers(self):
        """What registers of calls take has an end before the host's memory has: here 2 MB a call of the 4096 that the stack alone would allow."""
        names = range(4000)
        body = ".reg .b64 x<4000>; .reg .b32 e; ld.param.u32 e, [d]; add.u32 e, e, 1; " + "".join(f"mov.u64 x{i}, %clock64; " for i in names)
        body += "call r, (e); " + "".join(f"st.local.u64 [x{i}], x{(i + 1) % 4000}; " for i in names)
        self.file("k.ptx", f".version 8.0\n.target sm_90\n.address_size 64\n.func r(.param .b32 d) {{ {body} ret; }}\n"
                           ".visible .entry k() { .reg .b32 z; mov.b32 z, 0; call r, (z); ret; }\n")
        code, _, err = self.lanewise("run", "k.ptx", "--threads", "1")
        self.assertEqual(code, 3, err)
        self.assertIn("error[LW5003]: the stack is full", err)

    def test_none_by_default(self):
        self.file("k.ptx", cli.module(cli.kernel("k")))
        self.gives(["run", "k.ptx"])


class Progress(cli.Case):
    def on_terminal(self, *args, env=None):
        """Exit code, and what a terminal at standard error gets."""
        ours, theirs = pty.openpty()
        process = subprocess.Popen([self.tool, *args], cwd=self.folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                   stderr=theirs, env={**os.environ, "TERM": "xterm", **(env or {})})
        os.close(theirs)
        seen = b""
        while True:
            try:
                if select.select([ours], [], [], 60)[0]:
                    piece = os.read(ours, 65536)
                    if piece:
                        seen += piece
                        continue
            except OSError:  # the other end is closed
                pass
            break
        os.close(ours)
        return process.wait(timeout=60), seen.decode()

    def test_bar(self):
        self.file("k.ptx", cli.module(LOOP))
        code, seen = self.on_terminal("run", "k.ptx", "--timeout", "1.5")
        self.assertEqual(code, 4)
        self.assertRegex(seen, r"\r\[[#.]{24}\] +\d+%  \S+( [kMGTP])? lane-instructions/s  \d\.\d s")
        self.assertIn("\r\33[K", seen)

    def test_quiet_places(self):
        self.file("k.ptx", cli.module(LOOP))
        for args, env in ((["--quiet"], {}), ([], {"TERM": "dumb"})):
            self.assertNotIn("lane-instructions", self.on_terminal("run", "k.ptx", "--timeout", "1.2", *args, env=env)[1])
        self.assertNotIn("lane-instructions", self.lanewise("run", "k.ptx", "--timeout", "1.2")[2])

    def test_short_runs_show_none(self):
        self.file("k.ptx", cli.module(cli.kernel("k")))
        self.assertEqual(self.on_terminal("run", "k.ptx"), (0, ""))

    def test_colours(self):
        self.assertIn("\33[1;31merror", self.on_terminal("run", "no.ptx", env={"NO_COLOR": ""})[1])
        self.assertNotIn("\33", self.on_terminal("run", "no.ptx", env={"NO_COLOR": "1"})[1])


if __name__ == "__main__":
    cli.main()
