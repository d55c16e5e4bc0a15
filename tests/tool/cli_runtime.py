#!/usr/bin/env python3
"""What a driver adds to every module: printf, malloc and free, assert. What is printed is worked out by Python's own formatting, or by hand."""

import subprocess

import cli

DECLARED = """
.extern .func (.param .b32 count) vprintf (.param .b64 format, .param .b64 values);
.extern .func (.param .b64 address) malloc (.param .b64 size);
.extern .func free (.param .b64 address);
.extern .func __assertfail (.param .b64 expression, .param .b64 file, .param .b32 line, .param .b64 function, .param .b64 size);
"""


def text(name, value):
    data = [*value.encode(), 0]
    return f".global .align 1 .b8 {name}[{len(data)}] = {{{', '.join(map(str, data))}}};\n"


def module(*parts):
    return cli.HEADER + DECLARED + "".join(parts)


# Each thread prints its CTA, its number and half of it; the count of arguments goes to memory.
PRINT = module(text("format", "%d.%u: %5.2f\n"), cli.kernel("k", ".u64 to", body="""
    .local .align 8 .b8 values[16];
    .reg .b64 %a, %v, %f;
    .reg .b32 %r<5>;
    .reg .f64 %d;
    mov.u32 %r0, %ctaid.x;
    mov.u32 %r1, %tid.x;
    st.local.u32 [values], %r0;
    st.local.u32 [values+4], %r1;
    cvt.rn.f64.u32 %d, %r1;
    mul.f64 %d, %d, 0d3FE0000000000000;
    st.local.f64 [values+8], %d;
    mov.u64 %v, values;
    cvta.local.u64 %v, %v;
    mov.u64 %f, format;
    cvta.global.u64 %f, %f;
    {
    .param .b64 p0;
    .param .b64 p1;
    .param .b32 p2;
    st.param.b64 [p0], %f;
    st.param.b64 [p1], %v;
    call.uni (p2), vprintf, (p0, p1);
    ld.param.b32 %r2, [p2];
    }
    mov.u32 %r3, %ntid.x;
    mad.lo.u32 %r0, %r0, %r3, %r1;
    ld.param.u64 %a, [to];
    mad.wide.u32 %a, %r0, 4, %a;
    st.global.u32 [%a], %r2;
    ret;"""))


def printed(ctas, threads):
    return "".join(f"{c}.{t}: {t / 2:5.2f}\n" for c in range(ctas) for t in range(threads))


class Printf(cli.Case):
    def test_in_order_of_ctas(self):
        self.file("k.ptx", PRINT)
        for threads in ("1", "4"):
            self.gives(["run", "k.ptx", "--grid", "40", "--block", "70", "--threads", threads, "-a", "u32[2800]"], out=printed(40, 70))

    def test_count_of_arguments(self):
        self.file("k.ptx", PRINT)
        self.gives(["run", "k.ptx", "--block", "2", "-a", "u32[2]:print"], out=printed(1, 2) + "arg 0 u32[2]: 3 3\n")

    def test_both_engines(self):
        self.file("k.ptx", PRINT)
        code, _, err = self.lanewise("run", "k.ptx", "--engine", "jit", "-a", "u32[1]")
        if code:
            self.assertIn("the engine 'jit' is not there", err)
            self.skipTest("no compiler in this build")
        self.gives(["run", "k.ptx", "--engine", "jit", "--grid", "3", "--block", "70", "-a", "u32[210]"], out=printed(3, 70))

    def test_limit(self):
        self.file("k.ptx", PRINT)
        line = len("0.0:  0.00\n")
        code, out, err = self.lanewise("run", "k.ptx", "--block", "10", "--print-limit", str(4 * line + 3), "--stats", "-a", "u32[10]")
        self.assertEqual((code, out), (0, printed(1, 4)))
        self.assertIn("printed was lost", err)
        self.assertIn("6", err[err.index("printed was lost") - 60:])

    def test_limit_is_said(self):
        """Whether or not statistics are asked for: six of ten lanes printed nothing."""
        self.file("k.ptx", PRINT)
        limit = ["--print-limit", str(4 * len("0.0:  0.00\n") + 3)]
        code, out, err = self.lanewise("run", "k.ptx", "--block", "10", *limit, "-a", "u32[10]")
        self.assertEqual((code, out), (0, printed(1, 4)))
        self.assertRegex(err, r"^k\.ptx:\d+:\d+: note\[LW5109\]: what printf printed was lost: .*: 6 lanes\n  --print-limit BYTES lets it print more\n$")
        self.gives(["run", "k.ptx", "--block", "10", *limit, "-q", "-a", "u32[10]"], out=printed(1, 4))

    def test_comes_before_a_trap(self):
        self.file("k.ptx", PRINT)
        code, out, err = self.lanewise("run", "k.ptx", "--block", "3", "-a", "u32[1]")
        self.assertEqual((code, out), (3, printed(1, 3)))
        self.assertIn("LW5000", err)

    def test_bad_format(self):
        self.file("k.ptx", module(cli.kernel("k", body="""
            .reg .b32 %r;
            call (%r), vprintf, (64, 64);
            ret;""")))
        code, _, err = self.lanewise("run", "k.ptx")
        self.assertEqual(code, 3)
        self.assertIn("printf's load of 1 byte at 0x40, through a null pointer", err)

    def test_full_disk(self):
        self.file("k.ptx", PRINT)
        with open("/dev/full", "w", encoding="utf-8") as full:
            done = subprocess.run([self.tool, "run", "k.ptx", "-a", "u32[1]"], cwd=self.folder, stdout=full, stderr=subprocess.PIPE, check=False)
        self.assertEqual(done.returncode, 5, done.stderr)


HEAP = module(cli.kernel("k", ".u64 to", ".u64 bytes", body="""
    .reg .b64 %a, %p, %q, %n;
    .reg .b32 %t, %x;
    .reg .pred %none;
    ld.param.u64 %n, [bytes];
    call (%p), malloc, (%n);
    setp.eq.u64 %none, %p, 0;
    @%none bra DONE;
    mov.u32 %t, %tid.x;
    st.u32 [%p], %t;
    bar.sync 0;
    ld.u32 %x, [%p];
    add.u32 %x, %x, 100;
    ld.param.u64 %a, [to];
    mad.wide.u32 %a, %t, 4, %a;
    st.global.u32 [%a], %x;
    call free, (%p);
DONE:
    ret;"""))


class Heap(cli.Case):
    def test_each_thread_its_own(self):
        self.file("k.ptx", HEAP)
        self.gives(["run", "k.ptx", "--block", "64", "-a", "u32[64]:print", "-a", "u64=24"],
                   out=f"arg 0 u32[64]: {' '.join(str(100 + t) for t in range(64))}\n")

    def test_nothing_left_is_null(self):
        self.file("k.ptx", HEAP)
        self.gives(["run", "k.ptx", "--heap", "64K", "-a", "u32[1]:print", "-a", "u64=65537"], out="arg 0 u32[1]: 0\n")
        self.gives(["run", "k.ptx", "--heap", "64K", "-a", "u32[1]:print", "-a", "u64=65536"], out="arg 0 u32[1]: 100\n")

    def test_size_of_the_heap(self):
        self.file("k.ptx", HEAP)
        self.shows(["run", "k.ptx", "--memory", "1M", "-a", "u32[1]", "-a", "u64=8"], code=6, err=["8388608 bytes of the heap"])
        self.shows(["run", "k.ptx", "--heap", "1", "-a", "u32[1]", "-a", "u64=8"], code=6, err=["1 bytes of the heap"])

    def test_wrong_free(self):
        for value in ("8", "p"):
            self.file("k.ptx", module(cli.kernel("k", ".u64 p", body=f"""
                .reg .b64 %p;
                ld.param.u64 %p, [p];
                call free, ({'%p' if value == 'p' else value});
                ret;""")))
            self.shows(["run", "k.ptx", "-a", "u32[1]"], code=3, err=["LW5015", "which malloc did not give"])

    def test_free_again(self):
        """Also where the piece has become a part of a larger one."""
        body = """
            .reg .b64 %p, %q;
            call (%p), malloc, (16);
            call (%q), malloc, (16);
            call free, (%p);
            call free, (%q);
            call free, (%p);
            ret;"""
        self.file("k.ptx", module(cli.kernel("k", body=body)))
        _, _, err = self.shows(["run", "k.ptx"], code=3, err=["LW5015", ", which was freed already\n"])
        self.assertIn(f"k.ptx:{err.split(':')[1]}:", err)


class Assert(cli.Case):
    def test_as_cuda_says_it(self):
        self.file("k.ptx", module(text("that", "i < n"), text("file", "k.cu"), text("here", "void k(int)"), cli.kernel("k", body="""
            .reg .b32 %x, %y;
            .reg .b64 %a, %b, %c;
            .reg .pred %p;
            mov.u32 %x, %tid.x;
            mov.u32 %y, %ctaid.y;
            add.u32 %x, %x, %y;
            setp.lt.u32 %p, %x, 7;
            mov.u64 %a, that;
            mov.u64 %b, file;
            mov.u64 %c, here;
            @%p bra FINE;
            call __assertfail, (%a, %b, 33, %c, 1);
        FINE:
            ret;""")))
        self.gives(["run", "k.ptx", "--block", "7"])
        self.shows(["run", "k.ptx", "--block", "9", "--grid", "1,2"], code=3,
                   err=["LW5014", "k.cu:33: void k(int): block: [0,0,0], thread: [7,0,0] Assertion `i < n` failed."])

    def test_texts_that_are_nowhere(self):
        self.file("k.ptx", module(cli.kernel("k", body="call __assertfail, (1, 2, 3, 4, 1);\n    ret;")))
        self.shows(["run", "k.ptx"], code=3, err=["?:3: ?: block: [0,0,0], thread: [0,0,0] Assertion `?` failed."])


class Others(cli.Case):
    def test_refused_by_name(self):
        declared = ".extern .func (.param .b32 status) cudaDeviceSynchronize ();\n"
        self.file("k.ptx", cli.HEADER + declared + cli.kernel("k", body=".reg .b32 %r;\n    call (%r), cudaDeviceSynchronize;\n    ret;")
                  + cli.kernel("other"))
        self.shows(["run", "k.ptx", "-k", "k"], code=1, err=["LW3010", "cudaDeviceSynchronize"])
        self.gives(["run", "k.ptx", "-k", "other"])

    def test_other_parameters(self):
        for declared, called in ((".extern .func free (.param .b32 address);", "call free, (0);"),
                                 (".extern .func malloc (.param .b64 size);", "call malloc, (8);"),
                                 (".extern .func (.param .b32 address) malloc (.param .b64 size);", ".reg .b32 %r;\n    call (%r), malloc, (8);"),
                                 (".extern .func (.param .b64 a) malloc ();", ".reg .b64 %r;\n    call (%r), malloc;")):
            self.file("k.ptx", cli.HEADER + declared + "\n" + cli.kernel("k", body=called + "\n    ret;"))
            got = self.lanewise("run", "k.ptx")
            if "malloc (.param .b64 size)" in declared and "(.param .b32" not in declared:
                self.assertEqual(got[0], 0, got)  # nobody wants the address
            else:
                self.assertEqual(got[0], 1, got)
                self.assertIn("LW3011", got[2])

    def test_own_functions_of_these_names(self):
        self.file("k.ptx", cli.HEADER + ".func (.reg .b32 r) malloc (.reg .b32 a) { add.u32 r, a, 1; ret; }\n" + cli.kernel("k", ".u64 p", body="""
            .reg .b32 %r;
            .reg .b64 %a;
            ld.param.u64 %a, [p];
            call (%r), malloc, (41);
            st.global.u32 [%a], %r;
            ret;"""))
        self.gives(["run", "k.ptx", "-a", "u32[1]:print"], out="arg 0 u32[1]: 42\n")


if __name__ == "__main__":
    cli.main()
