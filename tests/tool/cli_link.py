#!/usr/bin/env python3
"""Several modules that are linked: `lanewise run a.ptx b.ptx`, `check --link`, `dump`."""

import json
import re

import cli
import link_cases

HERE = cli.ROOT / "tests" / "tool" / "link"


def collatz(n):
    steps = 0
    while n != 1:
        n, steps = 3 * n + 1 if n & 1 else n // 2, steps + 1
    return steps


def both(i):
    """What the kernel of main.cu computes: local() of its own unit, the tables and functions of the other one."""
    operation = i * i if i & 1 else i * 5 * 2
    return i * 3 + (7, 11, 13, 17)[i & 3] + 100 + operation + (i ^ 0x55) * 1000 + collatz(i + 1) * 1000000


def getter(kernel, name, linkage=""):
    return cli.HEADER + linkage + link_cases.use(kernel, name)


class Link(cli.Case):
    def texts(self, *texts):
        return [self.file(f"{i}.ptx", text) for i, text in enumerate(texts)]

    def value(self, files, kernel, type_="u32"):
        out = self.shows(["run", *files, "--kernel", kernel, "--arg", f"{type_}[1]:print"])[1]
        return out.split(": ")[1].strip()

    def test_compiled_units(self):
        files = [str(HERE / "main.ptx"), str(HERE / "other.ptx")]
        wanted = "arg 0 u32[32]: " + " ".join(str(both(i)) for i in range(32)) + "\n"
        for order in (files, files[::-1]):
            self.gives(["run", *order, "--kernel", "both", "--block", "32", "--arg", "u32[32]:print"], out=wanted)
        self.gives(["run", *files, "--kernel", "counts", "--arg", "u32[1]=9:print"], out="arg 0 u32[1]: 0\n")
        self.shows(["run", files[0], "--kernel", "both", "--arg", "u32[1]"], 1,
                   err=["main.ptx:24:", "LW4004", "'weights' is declared .extern", "LW3004", "'_Z5countv' is called but has no body"])

    def test_as_nvlink(self):
        """Lanewise links what nvlink links, but where the row says why not."""
        for name, texts, linked, messages in link_cases.CASES:
            with self.subTest(name):
                files = self.texts(*(link_cases.HEADER + text for text in texts))
                code, out, err = self.lanewise("check", "--link", *files)
                self.assertEqual(list(dict.fromkeys(re.findall(r"error\[(LW\d+)\]", err))), messages, err)
                self.assertEqual((code, out), (1 if messages else 0, ""))
                if not linked:
                    self.assertTrue(messages, name)
                if messages and messages[0].startswith("LW23"):
                    self.assertRegex(err, r"(?m)^[12]\.ptx:\d+:\d+: error|^0\.ptx:\d+:\d+: error")
                    self.assertIn("note[LW2301]", err)

    def test_a_result_that_is_not_given(self):
        """nvlink refuses it, nvJitLink does not (tests/cuda/linkers.py)."""
        given = link_cases.function(".visible", "{ .reg .u64 %a; ld.param.u64 %a, [x]; st.global.u32 [%a], 7; ret; }", x=".u64 x", r="")
        caller = (link_cases.function(".extern", ";", x=".u64 x") + ".visible .entry k(.param .u64 p)\n{ .reg .u64 %a; ld.param.u64 %a, [p];\n"
                  "{ .param .u64 i; .param .u32 o; st.param.u64 [i], %a; call (o), f, (i); } ret; }\n")
        files = self.texts(link_cases.HEADER + caller, link_cases.HEADER + given)
        for order in (files, files[::-1]):
            self.shows(["run", *order, "--arg", "u32[1]:print"], 0, out=["arg 0 u32[1]: 7\n"], err=["warning[LW2308]: 'f'", "note[LW2301]"])

    def test_the_definition_that_counts(self):
        define = ".{} .global .u32 g{};\n"
        for first, second, wanted in ((("weak", " = 1"), ("visible", " = 7"), "7"), (("visible", " = 7"), ("weak", " = 1"), "7"),
                                      (("weak", " = 1"), ("weak", " = 7"), "1"), (("common", ""), ("visible", " = 4"), "4"),
                                      (("common", ""), ("common", " = 3"), "3"), (("common", " = 3"), ("common", ""), "3")):
            with self.subTest(first=first, second=second):
                files = self.texts(cli.HEADER + define.format(*first) + link_cases.use("k", "g"),
                                   cli.HEADER + define.format(*second) + link_cases.use("k2", "g"))
                self.assertEqual(self.value(files, "k"), wanted)
                self.assertEqual(self.value(files, "k2"), wanted)

    def test_common_is_as_large_as_the_largest(self):
        store = (".visible .entry put()\n{ st.global.u32 [g+12], 5; ret; }\n")
        files = self.texts(cli.HEADER + ".common .global .u32 g;\n" + store, cli.HEADER + ".common .global .u32 g[4];\n" + link_cases.use("k", "g+12"))
        self.gives(["run", *files, "--kernel", "put"])
        self.shows(["run", files[0], "--kernel", "put"], 3, err=["LW5000"])

    def test_names_without_linkage_are_private(self):
        def unit(kernel, add):
            text = link_cases.function("", link_cases.BODY.replace("%v, 1;", f"%v, {add};"))
            return cli.HEADER + text + link_cases.call(kernel)
        files = self.texts(unit("k", 10), unit("l", 20))
        self.assertEqual((self.value(files, "k"), self.value(files, "l")), ("11", "21"))

    def test_first_weak_function_counts(self):
        def unit(kernel, add, linkage):
            return cli.HEADER + link_cases.function(linkage, link_cases.BODY.replace("%v, 1;", f"%v, {add};")) + link_cases.call(kernel)
        for linkages, wanted in (((".weak", ".weak"), "11"), ((".weak", ".visible"), "21"), ((".visible", ".weak"), "11")):
            files = self.texts(unit("k", 10, linkages[0]), unit("l", 20, linkages[1]))
            with self.subTest(linkages):
                self.assertEqual((self.value(files, "k"), self.value(files, "l")), (wanted, wanted))

    def test_alias(self):
        files = self.texts(link_cases.HEADER + link_cases.EXTERN + link_cases.call(), link_cases.HEADER + link_cases.ALIAS)
        self.assertEqual(self.value(files, "kc"), "2")

    def test_shared_variables(self):
        head = cli.HEADER
        put = ".extern .shared .u32 s[];\n.visible .func put() { st.shared.u32 [s+8], 77; ret; }\n"
        get = (".extern .func put();\n.shared .u32 before[3];\n.visible .shared .u32 s[4];\n.visible .entry k(.param .u64 p)\n"
               "{ .reg .u64 %a; .reg .u32 %v; ld.param.u64 %a, [p]; st.shared.u32 [before], 1; call put; ld.shared.u32 %v, [s+8];"
               " st.global.u32 [%a], %v; ret; }\n")
        self.assertEqual(self.value(self.texts(head + put, head + get), "k"), "77")

    def test_each_text_keeps_its_version_and_target(self):
        old = (".version 6.0\n.target sm_30\n.address_size 64\n.visible .func (.reg .u32 r) f(.reg .u32 x)\n"
               "{ .reg .pred p; setp.eq.u32 p, x, x; vote.ballot.b32 r, p; ret; }\n")
        new = (".version 8.0\n.target sm_90\n.address_size 64\n.extern .func (.reg .u32 r) f(.reg .u32 x);\n.visible .entry k(.param .u64 p)\n"
               "{ .reg .u64 %a; .reg .u32 %v; ld.param.u64 %a, [p]; mov.u32 %v, 1; call (%v), f, (%v); st.global.u32 [%a], %v; ret; }\n")
        self.assertEqual(self.value(self.texts(old, new), "k"), "1") # a vote that sm_90 does not have
        self.shows(["check", "--link", *self.texts(new.replace("call (%v), f, (%v)", "vote.ballot.b32 %v, 1"), old)], 1, err=["0.ptx:6:", "LW2"])
        narrow = ".version 6.0\n.target sm_30\n.address_size 32\n.visible .func g() { ret; }\n"
        for other in (narrow, narrow.replace("size 32", "size\n\n  32")):
            line, column = other[:other.index("32\n.visible")].count("\n") + 1, 15 if other == narrow else 3
            self.shows(["check", "--link", *self.texts(old, other)], 1,
                       err=[f"1.ptx:{line}:{column}: error[LW2306]", "0.ptx:3:15: note[LW2301]: '.address_size' of the other module is here"])
        # where it is not written it is 64, and what says so is the target
        silent = old.replace(".address_size 64\n", "").replace(" f(", " h(")
        self.shows(["check", "--link", *self.texts(narrow, silent)], 1, err=["1.ptx:2:9: error[LW2306]: addresses have 64 bits here, and 32"])
        self.gives(["check", "--link", "-q", *self.texts(old, silent)])

    def test_places(self):
        trap = cli.HEADER + "\n\n.visible .func f()\n{ .reg .u64 a; mov.u64 a, 16; st.global.u32 [a], 1; ret; }\n"
        main = cli.HEADER + ".extern .func f();\n.visible .entry k()\n{ call f; ret; }\n"
        self.shows(["run", *self.texts(main, trap)], 3, err=["1.ptx:7:", "{ .reg .u64 a; mov.u64 a, 16;"])
        self.shows(["run", *self.texts(trap, main)], 3, err=["0.ptx:7:"])
        note = cli.HEADER + ".visible .func f()\n{ .reg .b32 a; mov.u32 a, 1; shfl.sync.idx.b32 a, a, 5, 31, 1; ret; }\n"
        err = self.shows(["run", *self.texts(main, note), "--block", "1", "--stats"])[2]
        self.assertIn("note LW5101    1.ptx line 5:", err)
        err = self.shows(["run", *self.texts(main, note), "--block", "1", "--stats=json"])[2]
        self.assertEqual([(n["file"], n["line"]) for n in json.loads(err)["notes"]], [("1.ptx", 5)])

    def test_faults_of_each_text(self):
        bad = cli.HEADER + ".visible .entry k()\n{ bogus.u32; ret; }\n"
        err = self.shows(["run", *self.texts(cli.module(cli.kernel("l")), bad, bad)], 1)[2]
        self.assertEqual(re.findall(r"(?m)^(\d\.ptx:\d+:\d+)", err), ["1.ptx:5:3", "2.ptx:5:3"])
        out = self.shows(["check", "--link", "--format", "json", *self.texts(cli.module(cli.kernel("l")), bad)], 1)[1]
        found = json.loads(out)["files"][0]["diagnostics"][0]
        self.assertEqual((found["file"], found["line"], found["offset"]), ("1.ptx", 5, bad.index("bogus")))
        out = self.shows(["check", "--link", "--format", "sarif", *self.texts(cli.module(cli.kernel("l")), bad)], 1)[1]
        run = json.loads(out)["runs"][0]
        place = run["results"][0]["locations"][0]["physicalLocation"]
        self.assertEqual((place["artifactLocation"]["uri"], place["artifactLocation"]["index"], place["region"]["startLine"]), ("1.ptx", 1, 5))
        self.assertEqual([a["location"]["uri"] for a in run["artifacts"]], ["0.ptx", "1.ptx"])

    def test_check_and_dump(self):
        files = [str(HERE / "main.ptx"), str(HERE / "other.ptx")]
        self.gives(["check", "--link", *files], err=f"{files[0]}, {files[1]}: no errors; 2 kernels, 8 functions, 132 instructions\n")
        self.shows(["check", *files], err=["2 files: 0 errors"])
        self.shows(["dump", "--stage", "module", *files], out=[f"{files[1]}: version 9.0, target sm_75", f"{files[1]}:  "])
        self.shows(["dump", "--stage", "program", *files, "--kernel", "both"], out=[f"    {files[1]} line "])
        self.shows(["dump", "--stage", "tokens", *files], 2, err=["several files can be dumped where they are linked"])

    def test_value_of_an_undefined_function(self):
        """Alone a text is loaded as drivers load it, with 0 there. Functions of the runtime have no address: ptxas says the same."""
        declare, read = link_cases.EXTERN, getter("k", "q+8")[len(cli.HEADER):]
        alone = self.texts(cli.HEADER.replace("7.0", "7.1") + declare + ".global .u64 q[3] = {7, f, 9};\n.global .u8 w[] = {0xff(f)};\n" + read)
        self.assertEqual(self.value(alone, "k"), "0")
        self.gives(["check", "-q", *alone])
        self.assertEqual(self.value(self.texts(cli.HEADER + declare + ".global .u64 q[3] = {7, f, 9};\n" + read.replace("q+8", "q+16")), "k"), "9")
        free = ".extern .func free (.param .b64 a);\n"
        for text in (".global .u64 q[2] = {0, free};\n" + read, cli.kernel("k", ".u64 p", body=".reg .u64 a; mov.u64 a, free; ret;")):
            self.shows(["run", *self.texts(cli.HEADER + free + text), "--kernel", "k", "--arg", "u64[1]"], 1, err=["LW3012", "'free' is a function of the"])
        taken = cli.kernel("k", ".u64 p", body=".reg .u64 a; mov.u64 a, f; ret;")
        self.shows(["run", *self.texts(cli.HEADER + declare + taken), "--kernel", "k", "--arg", "u64[1]"], 1, err=["LW3004", "'f' is named but has no body"])

    def test_files_that_cannot_be_read(self):
        """A report names the one that could not be read, and no other; what was read is not called unread."""
        files = self.texts(cli.module(cli.kernel("k")), cli.module(cli.kernel("l")))
        for given, missing in ((["no.ptx", *files], "no.ptx"), ([files[0], "no.ptx", files[1]], "no.ptx"), ([*files, "no"], "no")):
            out = self.shows(["check", "--link", "--format", "json", *given], 5, err=[missing])[1]
            self.assertEqual([(f["file"], f["read"]) for f in json.loads(out)["files"]], [(missing, False)])
            out = self.shows(["check", "--link", "--format", "sarif", *given], 5, err=[missing])[1]
            told = json.loads(out)["runs"][0]["invocations"][0]["toolExecutionNotifications"]
            self.assertEqual([n["message"]["text"] for n in told], [f"'{missing}' could not be checked"])
        out = self.shows(["check", "--format", "json", "no.ptx", *files], 5, err=["no.ptx"])[1]
        self.assertEqual([f["read"] for f in json.loads(out)["files"]], [False, True, True])

    def test_most_files(self):
        """As many as modules of the library, in all that links."""
        files = self.texts(cli.module(cli.kernel("k"))) * 4097
        for command in (["check", "--link"], ["check", "--link", "--format", "json"], ["dump", "--stage", "module"], ["run"]):
            self.shows([*command, *files], 2, err=["4097", "cannot be linked: 4096 are the most"])
        self.shows(["check", "--link", *files[1:]], 1, err=["LW2300"]) # one kernel of so many modules
        self.shows(["check", "-q", *files[:3]])

    def test_other_languages_are_not_linked(self):
        self.file("f.pto", "func.func @f() {\n}\n")
        self.file("k.ptx", cli.module(cli.kernel("k")))
        self.shows(["run", "k.ptx", "f.pto"], 2, err=["'f.pto' is PTO text, which is not linked with others"])
        self.shows(["check", "--link", "k.ptx", "f.pto"], 2, err=["--link is for PTX text"])
        self.shows(["run", "k.ptx", "missing.ptx"], 5, err=["missing.ptx"])


if __name__ == "__main__":
    cli.main()
