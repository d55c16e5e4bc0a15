#!/usr/bin/env python3
"""Modules that are linked, and what the linker of CUDA's toolkit says of them.

CASES has for each: its name, the texts behind the header, whether nvlink links them, and which messages Lanewise gives.
Where both do not say the same, the row says why. `link_cases.py` runs ptxas and nvlink on all and compares; the test
(cli_link.py) holds Lanewise against what they said."""

import pathlib
import subprocess
import sys
import tempfile

HEADER = ".version 8.0\n.target sm_90\n.address_size 64\n"


def use(kernel, variable, space="global"):
    return (f".visible .entry {kernel}(.param .u64 p)\n{{ .reg .u64 %a; .reg .u32 %v; ld.param.u64 %a, [p]; "
            f"ld.{space}.u32 %v, [{variable}]; st.global.u32 [%a], %v; ret; }}\n")


def function(linkage, body, name="f", x=".u32 x", r="(.param .u32 r) "):
    return f"{linkage} .func {r}{name}(.param {x})\n{body}\n"


BODY = "{ .reg .b32 %v; ld.param.b32 %v, [x]; add.u32 %v, %v, 1; st.param.b32 [r], %v; ret; }"
EXTERN = function(".extern", ";")


def call(kernel="kc"):
    return (f".visible .entry {kernel}(.param .u64 p)\n{{ .reg .u64 %a; .reg .u32 %v; ld.param.u64 %a, [p];\n"
            "{ .param .u32 i; .param .u32 o; mov.u32 %v, 1; st.param.u32 [i], %v; call (o), f, (i); ld.param.u32 %v, [o]; }\n"
            "st.global.u32 [%a], %v; ret; }\n")


def pair(first, second, space="global"):
    return [first + "\n" + use("k", "g", space), second + "\n" + use("k2", "g", space)]


FLOAT_BODY = "{ .reg .f32 %f; ld.param.f32 %f, [x]; st.param.b32 [r], 0; ret; }"
SHARED = (".visible .entry {}(.param .u64 p)\n{{ .reg .u64 %a; .reg .u32 %v; ld.param.u64 %a, [p]; ld.shared.u32 %v, [s]; "
          "st.global.u32 [%a], %v; ret; }}\n")
INSIDE = (".visible .entry k(.param .u64 p)\n{{ .reg .u64 %a; .reg .u32 %v; .global .u64 q = f; ld.param.u64 %a, [p]; {} st.global.u32 [%a], %v; ret; }}\n")
ALIAS = function(".visible", BODY, "real") + function(".visible", ";") + ".alias f, real;\n"
OTHER = ".visible .global .u32 h = 7;\n" + use("k2", "h")

# name, texts, nvlink links them, messages of Lanewise
CASES = [
    ("function", [EXTERN + call(), function(".visible", BODY)], True, []),
    ("function, definition first", [function(".visible", BODY), EXTERN + call()], True, []),
    ("undefined function", [EXTERN + call(), OTHER], False, ["LW3004"]),
    ("undefined function that nobody calls", [EXTERN + use("k", "q") .replace(".visible", ".global .u32 q;\n.visible", 1), OTHER], True, []),
    ("two definitions", [function(".visible", BODY) + call(), function(".visible", BODY)], False, ["LW2300"]),
    ("weak and strong", [function(".weak", BODY) + call(), function(".visible", BODY)], True, []),
    ("weak and weak", [function(".weak", BODY) + call(), function(".weak", BODY)], True, []),
    ("weak with other parameters", [function(".weak", BODY) + call(), function(".weak", "{ ret; }", x=".u64 x")], False, ["LW2303"]),
    ("private does not count", [EXTERN + call(), function("", BODY) + OTHER], False, ["LW3004"]),
    ("private in both", [function("", BODY) + call(), function("", BODY) + call("kd")], True, []),
    ("private beside visible", [function("", BODY) + call(), function(".visible", BODY)], True, []),
    ("wider parameter", [EXTERN + call(), function(".visible", "{ ret; }", x=".u64 x")], False, ["LW2303"]),
    ("one parameter more", [EXTERN + call(), function(".visible", "{ ret; }", x=".u32 x, .param .u32 y")], False, ["LW2303"]),
    ("a result that is not declared", [function(".extern", ";", r="") + call().replace("(o), ", "").replace("ld.param.u32 %v, [o]; ", ""), function(".visible", BODY)], False, ["LW2303"]),
    ("another result", [EXTERN + call(), function(".visible", "{ ret; }", r="(.param .u64 r) ")], False, ["LW2303"]),
    ("no result of a weak one", [function(".weak", BODY) + call(), function(".visible", "{ ret; }", r="")], False, ["LW2303"]),
    ("signed parameter", [EXTERN + call(), function(".visible", BODY, x=".s32 x")], True, []),
    ("untyped parameter", [EXTERN + call(), function(".visible", BODY, x=".b32 x")], True, []),
    ("float parameter", [EXTERN + call(), function(".visible", FLOAT_BODY, x=".f32 x")], False, ["LW2303"]),
    ("bytes for a word", [EXTERN + call(), function(".visible", "{ ret; }", x=".align 4 .b8 x[4]")], False, ["LW2303"]),
    ("parameter in a register", [EXTERN + call(), function(".visible", "{ add.u32 %x, %x, 1; st.param.u32 [r], %x; ret; }").replace(
        ".param .u32 x", ".reg .u32 %x")], True, []),
    ("declarations differ", [EXTERN + call(), function(".extern", ";", x=".u64 x") + call("kd").replace("u32 i", "u64 i").replace(
        "st.param.u32 [i], %v", "st.param.u64 [i], %a"), function(".visible", BODY)], False, ["LW2303"]),
    ("function and variable", [EXTERN + call(), ".visible .global .u32 f;\n" + use("k2", "f")], False, ["LW2302"]),
    ("alias", [EXTERN + call(), ALIAS], True, []),
    ("alias and definition", [function(".visible", BODY) + call(), ALIAS], False, ["LW2300"]),
    ("weak alias and definition", [EXTERN + call(), ALIAS.replace(".visible .func (.param .u32 r) f", ".weak .func (.param .u32 r) f"),
                                   function(".visible", BODY)], False, ["LW2300"]),
    ("variable", pair(".extern .global .u32 g;", ".visible .global .u32 g = 7;"), True, []),
    ("undefined variable", [".extern .global .u32 g;\n" + use("k", "g"), OTHER], False, ["LW4004"]),
    ("undefined variable that nobody reads", [".extern .global .u32 g;\n.global .u32 q;\n" + use("k", "q"), OTHER], False, ["LW4004"]),
    ("private variable does not count", pair(".extern .global .u32 g;", ".global .u32 g = 7;"), False, ["LW4004"]),
    ("private variables", pair(".global .u32 g = 1;", ".global .u32 g = 7;"), True, []),
    ("private variable beside visible", pair(".global .u32 g = 1;", ".visible .global .u32 g = 7;"), True, []),
    ("variable of another type", pair(".extern .global .u32 g;", ".visible .global .f32 g = 7.0;"), True, []),
    ("variable of another shape", pair(".extern .global .b8 g[8];", ".visible .global .u64 g = 7;"), True, []),
    ("larger variable", pair(".extern .global .u32 g[4];", ".visible .global .u32 g[8];"), False, ["LW2305"]),
    ("smaller variable", pair(".extern .global .u32 g[8];", ".visible .global .u32 g[4];"), False, ["LW2305"]),
    ("open array", pair(".extern .global .u32 g[];", ".visible .global .u32 g[4];"), True, []),
    ("stricter alignment", pair(".extern .global .align 16 .u32 g;", ".visible .global .u32 g;"), True, []),
    ("other space", [".extern .global .u32 g;\n" + use("k", "g"), ".visible .const .u32 g;\n" + use("k2", "g", "const")], False, ["LW2304"]),
    ("constant", pair(".extern .const .u32 g;", ".visible .const .u32 g = 5;", "const"), True, []),
    ("variable twice", pair(".visible .global .u32 g = 1;", ".visible .global .u32 g = 7;"), False, ["LW2300"]),
    ("variable twice, no values", pair(".visible .global .u32 g;", ".visible .global .u32 g;"), False, ["LW2300"]),
    ("weak and strong variable", pair(".weak .global .u32 g = 1;", ".visible .global .u32 g = 7;"), True, []),
    ("weak variables", pair(".weak .global .u32 g = 1;", ".weak .global .u32 g = 7;"), True, []),
    ("weak variables of two sizes", pair(".weak .global .u32 g = 1;", ".weak .global .u32 g[2] = {7};"), False, ["LW2305"]),
    ("weak and strong of two sizes", pair(".weak .global .u32 g = 1;", ".visible .global .u32 g[2] = {7};"), False, ["LW2305"]),
    ("common variables", pair(".common .global .u32 g;", ".common .global .u32 g;"), True, []),
    ("common variables of two sizes", pair(".common .global .u32 g;", ".common .global .u32 g[4];"), True, []),
    ("common variables of two types", pair(".common .global .u32 g;", ".common .global .f32 g;"), True, []),
    ("common and strong", pair(".common .global .u32 g;", ".visible .global .u32 g = 4;"), True, []),
    ("larger common", pair(".common .global .u32 g[4];", ".visible .global .u32 g = 4;"), False, ["LW2305"]),
    ("smaller common", pair(".common .global .u32 g;", ".visible .global .u32 g[4];"), False, ["LW2305"]),
    ("common with a value", pair(".common .global .u32 g = 3;", ".common .global .u32 g;"), True, []),
    ("common with two values", pair(".common .global .u32 g = 3;", ".common .global .u32 g = 4;"), False, ["LW2300"]),
    ("common with a value and strong", pair(".common .global .u32 g = 3;", ".visible .global .u32 g = 4;"), False, ["LW2300"]),
    ("common with a value, larger common", pair(".common .global .u32 g = 3;", ".common .global .u32 g[2];"), False, ["LW2305"]),
    ("smaller common and strong with a value", pair(".common .global .u32 g;", ".visible .global .u32 g[4] = {1, 2};"), True, []),
    ("extern and common", pair(".extern .global .u32 g;", ".common .global .u32 g;"), True, []),
    ("kernel twice", [".visible .entry k() { ret; }\n", ".visible .entry k() { ret; }\n"], False, ["LW2300"]),
    # nvlink makes a module with two kernels of a name, of which a program can only find one.
    ("private kernel twice", [".entry k() { ret; }\n", ".entry k() { ret; }\n"], True, ["LW2300"]),
    ("weak kernel", [".weak .entry k() { ret; }\n", ".visible .entry k() { ret; }\n"], True, []),
    ("weak kernels of two shapes", [".weak .entry k() { ret; }\n", ".weak .entry k(.param .u32 a) { ret; }\n"], False, ["LW2303"]),
    ("kernel and variable", [".visible .entry g() { ret; }\n", ".visible .global .u32 g;\n"], False, ["LW2302"]),
    ("dynamic shared memory", [".extern .shared .u32 s[];\n" + SHARED.format("k"), ".extern .shared .u32 s[];\n" + SHARED.format("k2")], True, []),
    ("shared variable", [".extern .shared .u32 s[4];\n" + SHARED.format("k"), ".visible .shared .u32 s[4];\n"], True, []),
    ("shared variable, open", [".extern .shared .u32 s[];\n" + SHARED.format("k"), ".visible .shared .u32 s[4];\n"], True, []),
    ("shared variable twice", [".visible .shared .u32 s[4];\n" + SHARED.format("k"), ".visible .shared .u32 s[4];\n"], False, ["LW2300"]),
    ("address of an external variable", [".extern .global .u32 g;\n.visible .global .u64 q = g;\n" + use("k", "q"), ".visible .global .u32 g;\n"],
     True, []),
    # A value that names a function which is defined nowhere: whatever the variable is, and whoever reads it.
    ("address of an undefined function", [EXTERN + ".visible .global .u64 q = f;\n" + use("k", "q"), OTHER], False, ["LW3004"]),
    ("undefined function in a private variable", [EXTERN + ".global .u64 q = f;\n.global .u32 z;\n" + use("k", "z"), OTHER], False, ["LW3004"]),
    ("undefined function in a constant table", [EXTERN + ".const .u64 q[2] = {0, f};\n.global .u32 z;\n" + use("k", "z"), OTHER], False, ["LW3004"]),
    ("byte of an undefined function", [EXTERN + ".visible .global .u8 q[] = {0xff(f)};\n.global .u32 z;\n" + use("k", "z"), OTHER], False, ["LW3004"]),
    ("undefined function in a weak variable that is replaced", [EXTERN + ".weak .global .u64 q = f;\n" + use("k", "q"), ".visible .global .u64 q = 7;\n" + use(
        "k2", "q")], False, ["LW3004"]),
    ("undefined function in a variable of a function", [EXTERN + INSIDE.format("ld.global.u32 %v, [q];"), OTHER], False, ["LW3004"]),
    ("undefined function in a variable that its function does not read", [EXTERN + INSIDE.format(""), OTHER], True, []),
    ("undefined function in the only text", [EXTERN + ".visible .global .u64 q = f;\n" + use("k", "q")], False, ["LW3004"]),
    ("managed", pair(".extern .global .attribute(.managed) .u32 g;", ".visible .global .attribute(.managed) .u32 g = 7;"), True, []),
    ("managed where it is declared", pair(".extern .global .attribute(.managed) .u32 g;", ".visible .global .u32 g = 7;"), False, ["LW2307"]),
    ("managed where it is defined", pair(".extern .global .u32 g;", ".visible .global .attribute(.managed) .u32 g = 7;"), False, ["LW2307"]),
    ("managed weak", pair(".weak .global .attribute(.managed) .u32 g;", ".weak .global .attribute(.managed) .u32 g;"), True, []),
    ("managed weak and strong", pair(".weak .global .attribute(.managed) .u32 g;", ".visible .global .u32 g;"), False, ["LW2307"]),
    ("managed common", pair(".common .global .attribute(.managed) .u32 g;", ".common .global .u32 g;"), False, ["LW2307"]),
    ("managed, undefined", [".extern .global .attribute(.managed) .u32 g;\n" + use("k", "g"), OTHER], False, ["LW4004"]),
    ("managed and private", pair(".global .attribute(.managed) .u32 g;", ".visible .global .u32 g = 7;"), True, []),
    ("address of an external function", [EXTERN + ".visible .global .u64 q = f;\n" + use("k", "q"), function(".visible", BODY)], True, []),
]


def nvlink(folder, texts):
    """What ptxas and nvlink say; "" where they link."""
    objects = []
    for i, text in enumerate(texts):
        source, made = folder / f"{i}.ptx", folder / f"{i}.o"
        source.write_text(HEADER + text)
        done = subprocess.run(["ptxas", "-c", "-arch", "sm_90", source, "-o", made], capture_output=True, text=True)
        if done.returncode:
            return "ptxas: " + done.stdout + done.stderr
        objects.append(made)
    done = subprocess.run(["nvlink", "-arch", "sm_90", *objects, "-o", folder / "o"], capture_output=True, text=True)
    return done.stdout + done.stderr if done.returncode else ""


def main():
    wrong = 0
    for name, texts, linked, _ in CASES:
        with tempfile.TemporaryDirectory() as folder:
            said = nvlink(pathlib.Path(folder), texts)
        if (said == "") != linked or said.startswith("ptxas"):
            wrong += 1
            print(f"{name}: {said.strip() or 'linked'}")
    print(f"{len(CASES)} cases, {wrong} of which nvlink sees in another way")
    return wrong != 0


if __name__ == "__main__":
    sys.exit(main())
