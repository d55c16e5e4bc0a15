"""Small modules that are compared with ptxas: directives, declarations, names and linking, right and wrong.

Of the size of addresses only 64 bits are asked for: no ptxas of today makes code for 32.

`cases()` gives (group, what is special about it in one line, text of the module). The lists are the same each time, so that recorded
answers stay comparable; each line is unique in its group."""

import itertools

HEAD = ".version 9.0\n.target sm_90\n.address_size 64\n"
KERNEL = ".visible .entry k() { ret; }"

TYPES = "b8 b16 b32 b64 b128 u8 u16 u32 u64 s8 s16 s32 s64 f16 f16x2 f32 f64 bf16 bf16x2 tf32 e4m3 u16x2 s16x2 f32x2 pred texref samplerref surfref".split()
SPACES = "reg sreg const global local param shared tex".split()
LINKAGES = ["", ".extern", ".visible", ".weak", ".common"]
VERSIONS = """1.0 1.1 1.2 1.3 1.4 1.5 2.0 2.1 2.2 2.3 3.0 3.1 3.2 4.0 4.1 4.2 4.3 5.0 5.1 6.0 6.1 6.2 6.3 6.4 6.5 7.0 7.1 7.2 7.3 7.4 7.5 7.6 7.7 7.8
8.0 8.1 8.2 8.3 8.4 8.5 8.6 8.7 8.8 9.0""".split()


def head(version, target):
    size = ".address_size 64\n" if float(version) >= 2.3 else ""
    return f".version {version}\n.target {target}\n{size}"


def at_module(group, lines, start=HEAD, behind=KERNEL):
    for line in lines:
        yield group, line, f"{start}{line}\n{behind}\n"


def in_body(group, lines, start=HEAD, before="", registers=".reg .b32 r<4>; .reg .b64 l<4>; .reg .pred p<4>;"):
    for line in lines:
        yield group, line, f"{start}{before}\n.visible .entry k(.param .b64 P, .param .b32 Q)\n{{\n{registers}\n{line}\nret;\n}}\n"


def whole(group, lines, start=HEAD):
    for line in lines:
        yield group, line, f"{start}{line}\n"


# ---- the head ------------------------------------------------------------------------------------------------------

TARGETS = """10 11 12 13 20 21 30 32 35 37 50 52 53 60 61 62 70 72 75 80 86 87 88 89 90 90a 100 100a 100f 101 101a 101f 103 103a 103f 110 110a 110f
120 120a 120f 121 121a 121f""".split()
SINCE = dict(zip(TARGETS, """1.0 1.0 1.2 1.2 2.0 2.0 3.0 4.0 3.1 4.1 4.0 4.1 4.2 5.0 5.0 5.0 6.0 6.1 6.3 7.0 7.1 7.4 9.0 7.8 7.8 8.0 8.6 8.6 8.8 8.6 8.6 8.8
8.8 8.8 8.8 9.0 9.0 9.0 8.7 8.7 8.8 8.8 8.8 8.8""".split()))


def heads():
    lines = []
    for target in TARGETS:
        at = VERSIONS.index(SINCE[target])
        lines += [f".version {version} .target sm_{target}" for version in sorted({*VERSIONS[max(at - 2, 0):at + 2], "9.0"})]
    lines += [f".version {version} .target sm_{target}" for version in VERSIONS for target in ("20", "90", "10")]
    good = ".version 9.0 .target sm_90"
    lines += """.version 9 .target sm_90|.version 9.00 .target sm_90|.version 09.0 .target sm_90|.version 9.0.1 .target sm_90|.version 0.9 .target sm_90
.version 1.6 .target sm_10|.version 2.4 .target sm_20|.version 3.3 .target sm_30|.version 7.9 .target sm_80|.version 10.0 .target sm_90
.version .target sm_90|.version "9.0" .target sm_90|.version 9.0; .target sm_90|.version 9.0 .target sm_90;|.version 9.0 .target|.target sm_90
.version 9.0|.target sm_90 .version 9.0|.version 9.0 .version 9.0 .target sm_90|.version 9.0 .target sm_90 .version 9.0
.version 9.0 .target sm_90 .target sm_90|.version 9.0 .target sm_90 .target sm_80|.version 9.0e0 .target sm_90|.version 90 .target sm_90
.version -9.0 .target sm_90|.version 9 . 0 .target sm_90|.VERSION 9.0 .target sm_90|.version 9.0 .TARGET sm_90""".replace("\n", "|").split("|")
    lines += [f".version 9.0 .target {words}" for words in """sm_90, sm_80|sm_80, sm_90|sm_90, sm_90|sm_90 sm_80|sm_90,|compute_90|SM_90|sm90|sm_091|sm_90b
sm_90f|sm_80a|sm_0|sm_9|sm_999|90|.sm_90|"sm_90"|debug, sm_90|debug|sm_90, texmode_unified|sm_90, texmode_independent
sm_90, texmode_unified, texmode_independent|sm_90, texmode_unified, texmode_unified|texmode_unified, sm_90|texmode_unified
sm_90, map_f64_to_f32|sm_90, foo|foo|sm_90, DEBUG|sm_90, 80|sm_90, sm_90a|sm_75, sm_80, sm_90""".replace("\n", "|").split("|")]
    lines += [".version 1.4 .target sm_10, map_f64_to_f32", ".version 1.4 .target sm_12, map_f64_to_f32", ".version 1.4 .target sm_13, map_f64_to_f32",
              ".version 1.4 .target map_f64_to_f32, sm_10", ".version 1.2 .target sm_10, texmode_unified", ".version 1.5 .target sm_10, texmode_unified",
              ".version 1.4 .target sm_10, texmode_independent", ".version 1.5 .target sm_10, texmode_independent",
              ".version 3.0 .target sm_20, debug", ".version 2.9 .target sm_20"]
    lines += [f"{good} .address_size {size}" for size in """64 16 128 0 -64 64U 0x40 64.0 0100 (64) 32+32 "64" 64; sixtyfour""".split()]
    lines += [f"{good} .address_size", f"{good} .address_size 64 .address_size 64", f"{good} .address_size 64 .address_size 32",
              f".address_size 64 {good}", ".version 9.0 .address_size 64 .target sm_90", f"{good} .global .b32 a; .address_size 64",
              f"{good} .global .b32 a; .version 9.0", f"{good} .global .b32 a; .target sm_90", f"{good} .file 1 \"a\" .address_size 64",
              f"{good} .visible .func f() {{ .version 9.0 ret; }}",
              f"{good} .visible .func f() {{ .address_size 64 ret; }}"]
    for version, target in (("2.2", "sm_20"), ("2.3", "sm_20"), ("5.0", "sm_60"), ("6.0", "sm_70"), ("7.0", "sm_80"), ("7.8", "sm_89"), ("8.0", "sm_90a")):
        lines += [f".version {version} .target {target} .address_size {size}" for size in (64,)]
    for line in dict.fromkeys(lines):
        yield "head", line, f"{line}\n.entry k {{ exit; }}\n"
    for text in ("", "\n", "// nothing", ".version 9.0\n.target sm_90\n", HEAD, "/* open", HEAD + "/* open", HEAD + "// end", HEAD + "}", HEAD + "{",
                 HEAD + "{ }", HEAD + ";", HEAD + "ret;", HEAD + ".entry", HEAD + ".visible", HEAD + ".foo", HEAD + "L:", HEAD + "\"text\"", HEAD + "# 1 \"a.cu\"",
                 HEAD + "#define A", HEAD + " # 1", HEAD + "#", HEAD + "\t#line 3", HEAD + ".global .b32 a; # 1", HEAD + "\\", HEAD + "@", HEAD + "`",
                 "\ufeff" + HEAD, HEAD + "// \u00e9", HEAD + "/* */ */", HEAD + "/* /* */", HEAD + "//", HEAD + "/", HEAD + "\r\n.global .b32 a;\r\n",
                 HEAD + ".global .b32 a;\f\v", HEAD + ".global .b32 a;\r"):
        yield "text", repr(text), f"{text}\n"


# ---- prototypes, linkage -------------------------------------------------------------------------------------------

DIRECTIVES = ['.file 1 "a.c"', ".global .b32 g;", ".const .b32 g;", ".shared .b32 g;", ".section .debug_x { .b8 1 }", ".func o() { ret; }", ".func o();",
              ".entry o() { ret; }", ".extern .global .b32 g;", ".extern .func o();", ".weak .func o() { ret; }", ".weak .global .b32 g;",
              ".visible .func o() { ret; }", ".visible .entry o() { ret; }", ".visible .global .b32 g;", '.pragma "nounroll";', ".common .global .b32 g;",
              ".alias a, b;", ".loc 1 1 1", ".align 4 .global .b32 g;", ".local .b32 g;", ".reg .b32 g;", ".param .b32 g;", ".tex .u32 g;", ".version 9.0",
              ".target sm_90", ".address_size 64", ".maxntid 1", ".noreturn", ".noreturn;", ";", "", "}", "{ ret; }", "ret;", "@@DWARF x", ".attribute(.managed)",
              ".b32 x;", "L:", "# 1 \"a\""]


def prototypes():
    signatures = [".func f", ".func f()", ".func (.param .b32 r) f(.param .b32 a)", ".visible .func f()", ".extern .func f()", ".weak .func f()",
                  ".extern .func f() .noreturn", ".func (.reg .b32 r) f(.reg .b32 a)", ".entry f", ".entry f()", ".visible .entry f(.param .b32 a)",
                  ".extern .entry f()", ".weak .entry f()", ".entry f() .maxntid 1"]
    bodies = {".func f": ".visible .func f { ret; }", ".func f()": ".visible .func f() { ret; }"}
    for signature, then in itertools.product(signatures, DIRECTIVES):
        yield "prototype", f"{signature} {then}", f"{HEAD}{signature}\n{then}\n{KERNEL}\n"
    for signature, then in itertools.product((".func f", ".func f()", ".visible .func f()"), DIRECTIVES):
        body = bodies.get(signature, signature + " { ret; }").replace(".visible " if signature in bodies else "\0", "")
        yield "prototype_defined", f"{signature} {then}", f"{HEAD}{signature}\n{then}\n{body}\n{KERNEL}\n"
    for signature in (".func f()", ".func (.param .b32 r) f(.param .b32 a)", ".entry f()"):
        for others in (f"{signature} ", f"{signature} {signature}", f"{signature}; {signature};", f"{signature} {signature};", f"{signature}; {signature} {{ ret; }}"):
            yield "prototype_chain", f"{others}", f"{HEAD}{others}\n{KERNEL}\n"


def linkages():
    things = [".entry t() { ret; }", ".entry t();", ".entry t() ", ".func t() { ret; }", ".func t();", ".func (.param .b32 r) t(.param .b32 a) { ret; }",
              ".func (.param .b32 r) t(.param .b32 a);"]
    for space in SPACES:
        things += [f".{space} .b32 t;", f".{space} .b32 t = 1;", f".{space} .b32 t[4];", f".{space} .b32 t[];", f".{space} .b32 t[] = {{1, 2}};", f".{space} .b32 t[0];",
                   f".{space} .align 16 .b8 t[];", f".{space} .b32 t<2>;"]
    two = [f"{a} {b}" for a, b in itertools.product(LINKAGES[1:], LINKAGES[1:])]
    yield from at_module("linkage", [f"{linkage} {thing}" for linkage, thing in itertools.product(LINKAGES + two[:], things) if linkage not in two or "4" in thing or "{ ret" in thing])
    yield from in_body("linkage_in_body", [f"{linkage} {thing}" for linkage, thing in itertools.product(LINKAGES, things)])


def redeclarations():
    variables = [".global .b32 v;", ".global .b32 v = 1;", ".global .u32 v;", ".global .b32 v[4];", ".global .b32 v[];", ".global .align 8 .b32 v;", ".const .b32 v;",
                 ".shared .b32 v[];", ".global .v2 .b32 v;"]
    linked = [f"{linkage} {variable}".strip() for linkage, variable in itertools.product(LINKAGES, variables[:5])] + variables[5:] + \
             [f"{linkage} {variable}" for linkage, variable in itertools.product((".extern", ".visible"), variables[5:])]
    yield from at_module("redeclared_variable", [f"{a} {b}" for a, b in itertools.product(linked, linked)][::8])
    functions = [".func v();", ".func v() { ret; }", ".func v(.param .b32 a);", ".func v(.param .b32 a) { ret; }", ".func (.param .b32 r) v();", ".func v() .noreturn;",
                 ".entry v() { ret; }", ".entry v();", ".func v;", ".func v { ret; }"]
    linked = [f"{linkage} {function}".strip() for linkage, function in itertools.product(LINKAGES[:4], functions)]
    yield from at_module("redeclared_function", [f"{a} {b}" for a, b in itertools.product(linked, linked)][::3])
    yield from at_module("redeclared_mixed", [f"{a} {b}" for a, b in itertools.product(
        (".global .b32 v;", ".extern .global .b32 v;", ".func v() { ret; }", ".extern .func v();", ".entry v() { ret; }", ".alias v, w;", ".visible .func v();",
         '.file 1 "v"', ".section v { }", ".const .b32 k;", ".func k() { ret; }", ".entry k() { ret; }", ".entry k();", ".visible .entry k();", ".global .b32 k;",
         ".extern .entry k();", ".weak .entry k();"), repeat=2)][::2])
    signatures = ["(.param .b32 a)", "(.param .u32 a)", "(.param .s32 a)", "(.param .f32 a)", "(.param .b64 a)", "(.reg .b32 a)", "(.reg .u32 a)", "(.param .b8 a[4])",
                  "(.param .align 4 .b8 a[4])", "(.param .align 8 .b8 a[4])", "(.param .b8 a[8])", "(.param .b32 a[1])", "(.param .b32 a, .param .b32 b)", "()", "",
                  "(.param .b8 a[])", "(.param .b32 other)", "(.param .align 8 .b32 a)", "(.param .v2 .b32 a)"]
    for a, b in itertools.product(signatures, signatures):
        line = f".func f{a}; .func f{b} {{ ret; }}"
        yield "signature", line, f"{HEAD}{line}\n{KERNEL}\n"
    for a, b in itertools.product(signatures[:12] + ["()"], repeat=2):
        line = f".visible .func {a} f(); .visible .func {b} f() {{ ret; }}"
        yield "signature_result", line, f"{HEAD}{line}\n{KERNEL}\n"


# ---- variables -----------------------------------------------------------------------------------------------------

def variables():
    kinds = [f".{space} .{kind} v;" for space, kind in itertools.product(SPACES, TYPES)]
    kinds += [f".{space} .{vector} .{kind} v;" for space, vector, kind in itertools.product(("global", "reg"), ("v2", "v4", "v8"), TYPES)]
    kinds += [f".{space} .{vector} .{kind} v;" for space, vector, kind in itertools.product(("shared", "local", "param"), ("v1", "v2", "v3"), ("b8", "b32", "f64"))]
    kinds += [f".{space} .{kind} v[3];" for space, kind in itertools.product(("global", "reg", "local", "const"), TYPES)]
    yield from at_module("variable", kinds)
    yield from in_body("variable_in_body", kinds)
    shapes = """.b32 v|.b32 v[2]|.b32 v[2][3]|.b32 v[]|.b32 v[][2]|.b32 v[2][]|.b32 v[0]|.b32 v[2][0]|.b32 v[-1]|.b32 v[1+1]|.b32 v[(2)]|.b32 v[2U]|.b32 v[0x10]
.b32 v[010]|.b32 v[0b11]|.b32 v[2.0]|.b32 v[WARP_SZ]|.b32 v[x]|.b32 v[2,3]|.b32 v[2|.b32 v2]|.b32 v[1][1][1]|.b32 v[1][1][1][1][1]
.b32 v<2>|.b32 v<0>|.b32 v<1>|.b32 v<-1>|.b32 v<1+1>|.b32 v<2U>|.b32 v<0x2>|.b32 v<02>|.b32 v<2.0>|.b32 v<x>|.b32 v<>|.b32 v<2|.b32 v<2>[2]|.b32 v[2]<2>|.b32 v<2><2>
.b32 v<WARP_SZ>|.b32 v <2>|.b32 v< 2 >|.b32 v<2>, w<3>|.b32 v<2>, v1|.b32 v1, v<2>|.b32 v<2>, v<3>|.b32 v<2>, v2|.b32 v1<2>, v<12>|.b32 v01, v<2>|.b32 v<100000>
.b32 v<4294967296>|.b32 v, w|.b32 v, v|.b32 v,|.b32 ,v|.b32 v w|.b32 v; .b32 w|v|.b32 .v2 v|.v2 v|.v2 .b32 v[2]|.v2 .b32 v<2>|.v4 .b32 v<2>|.b32 v = 1|.b32 v[2] = {1, 2}
.b32 v<2> = 1|.b32 v = {1}|.b32 v, w[2], x<3>|.b32 %v|.b32 %v<3>|.b32 %v1<3>|.b32 _|.b32 $v|.b32 _v|.b32 %|.b32 v.x|.b32 1v|.b32 WARP_SZ|.b32 %tid|.b32 %laneid|.b32 add|.b32 b32
.b32 .v|.b32 "v"|.B32 v|.b 32 v|.b32 .b32 v|.b32v|.b32 v : 2|.b32 (v)|.b32 v()|.align 4 .b32 v|.align 3 .b32 v|.align 0 .b32 v|.align 2 .b32 v|.align 1 .b32 v|.align 16 .b32 v
.align 128 .b32 v|.align 256 .b32 v|.align 1024 .b32 v|.align 4096 .b32 v|.align 4294967296 .b32 v
.align -4 .b32 v|.align 4U .b32 v|.align 0x4 .b32 v|.align (4) .b32 v|.align 2+2 .b32 v|.align .b32 v|.align 4.0 .b32 v|.align 4 .align 8 .b32 v|.align 8 .align 4 .b32 v
.align 4 .align 4 .b32 v|.b32 .align 4 v|.b32 v .align 4|.align 4 .v2 .b32 v|.v2 .align 4 .b32 v|.align 8 .v2 .b32 v|.align 4 .b64 v|.align 8 .b8 v[8]|.align 4 .b8 v[3]|.align 8 .b32 v<2>
.align 4, .b32 v|.align 8 .f64 v|.align 4 .f64 v|.attribute(.managed) .b32 v|.attribute(.unified(1,2)) .b32 v|.ptr .b32 v|.b32 .ptr v|.u64 .ptr .global v|.u64 .ptr .global .align 8 v
.b32 .global v|.volatile .b32 v|.b32 v @ 4|.align 4 .attribute(.managed) .b32 v|.attribute(.managed) .align 4 .b32 v""".replace("\n", "|").split("|")
    for space in ("global", "const", "shared", "reg"):
        yield from at_module("shape", [f".{space} {shape};" for shape in shapes])
    for space in ("shared", "local", "reg", "param"):
        yield from in_body("shape_in_body", [f".{space} {shape};" for shape in shapes])
    yield from at_module("early_align", [f".align {n} .{space} .b32 v;" for n, space in itertools.product(("4", "8", "3", "0"), SPACES)] +
                         [".align 4 .align 8 .global .b32 v;", ".align 4 .global .align 8 .b32 v;", ".attribute(.managed) .global .b32 v;", ".align .global .b32 v;",
                          ".visible .align 4 .global .b32 v;", ".align 4 .visible .global .b32 v;", ".align 4 .func f() { ret; }"])
    yield from at_module("attribute", [f".global .attribute({what}) .b32 v;" for what in """.managed|.unified|.unified(1,2)|.unified(1)|.unified(1,2,3)|.unified(0x1,0x2)
.unified(-1,2)|.unified(18446744073709551615,1)|managed|.other|.managed,.managed|.managed,.unified(1,2)|.managed .managed||,.managed|.managed,|.MANAGED""".replace("\n", "|").split("|")])
    yield from at_module("attribute", [f"{linkage} .{space} .attribute(.managed) .b32 v;" for linkage, space in itertools.product(LINKAGES, SPACES)] +
                         [".func .attribute(.unified(1,2)) f() { ret; }", ".func .attribute(.managed) f() { ret; }", ".entry .attribute(.managed) f() { ret; }",
                          ".func f() .attribute(.unified(1,2)) { ret; }", ".visible .func .attribute(.unified(1,2)) (.param .b32 r) f() { ret; }",
                          ".visible .entry .attribute(.unified(1,2)) f() { ret; }", ".global .attribute (.managed) .b32 v;", ".global .attribute(.managed .b32 v;",
                          ".global .b32 .attribute(.managed) v;", ".global .b32 v .attribute(.managed);", ".global .attribute(.managed) .b32 v = 1;",
                          ".global .attribute(.managed) .texref v;", ".global .attribute(.managed) .b32 v[4];"])
    yield from in_body("attribute_in_body", [".global .attribute(.managed) .b32 v;", ".global .attribute(.unified(1,2)) .b32 v;"])


VALUES = """0 1 -1 +1 127 128 -128 -129 255 256 65535 65536 -32768 -32769 2147483647 2147483648 4294967295 4294967296 -2147483649 9223372036854775807
9223372036854775808 -9223372036854775808 18446744073709551615 0x0 0xff 0xFFFFFFFFFFFFFFFF 0x10000000000000000 0X1F 017
08 0b101 0B1 0b2 1U 1u 0xffU 1L 1.0 -1.0 .5 1. 1e3 1.5e-3 1e39 0f3f800000 0F3F800000 -0f3f800000 0f3f80 0f3f8000000 0d3ff0000000000000 0d3ff
-0d3ff0000000000000 inf nan (1+2) 1+2 1<<4 ~0 !0 -(3) 3*5 7/2 7/0 7%3 (1.0+2.0) 1.0+2 1>0?2:3 (.s64)1 (.u64)-1 (.u32)1 WARP_SZ -WARP_SZ WARP_SZ+1 a a+4 a+-4 a-4 a[1] &a
generic(a) generic(a)+4 generic(a+4) generic(s) s c generic(c) c+4 f k f+4 generic(f) undeclared later 0xff(a) 0xff00(a) 0x1ff(a) 255(a) 0xff(generic(a)) 0xff(a+4)
0xff(a)+1 0xff(f) 0xff(s) 0xFF00000000000000(a) mask(a) 'a' "abc" {1} {} {a} v _ %r1 - 1,2 {1,2} {{1}} true""".split()


def initials():
    before = HEAD + ".global .b32 a[4];\n.const .b32 c[4];\n.shared .b32 s;\n.func f() { ret; }\n.visible .entry k() { ret; }\n"
    kinds = [".global .b8 v", ".global .b32 v", ".global .u32 v", ".global .b64 v", ".global .u64 v", ".global .s8 v", ".global .f32 v", ".const .f64 v"]
    yield from whole("initial", [f"{kind} = {value};" for kind, value in itertools.product(kinds, VALUES)], before)
    yield from whole("initial_list", [f".global .u64 v[2] = {{{value}}};" for value in VALUES], before)
    yield from whole("initial_list", [f".global .u8 v[8] = {{{value}}};" for value in VALUES], before)
    yield from whole("initial_list", [f"{shape} = {value};" for shape, value in itertools.product(
        (".global .b32 v", ".global .b32 v[]", ".global .b32 v[2]", ".global .b32 v[2][2]", ".global .b32 v[][2]", ".global .v2 .b32 v", ".global .v2 .b32 v[2]",
         ".global .f32 v[2]", ".global .b32 v[0]", ".const .b32 v[2]", ".shared .b32 v[2]"),
        ("1", "{}", "{1}", "{1,2}", "{1,2,3}", "{1,2,}", "{,1}", "{1 2}", "{{1},{2}}", "{{1,2},{3,4}}", "{{1,2},3}", "{1,{2}}", "{{1,2,3}}", "{{},{}}", "{{1,2},{3,4},{5,6}}",
         "{{{1}}}", "{1.0,2.0}", "{1,2.0}", "{1", "1}", "(1)", "{(1),-2}", "", "{a,f}", "{0}, w", "1, w = 2", "{1}, w = {2}"))], before)
    yield from whole("initial_kind", [f".{space} .{kind} v = {value};" for space, kind, value in itertools.product(
        ("global", "const", "shared", "local", "param", "reg"), ("b8", "b32", "f32", "u64", "f16", "b128", "f16x2", "texref", "pred"), ("0", "1.0", "{}", "a"))], before)
    yield from in_body("initial_in_body", [f".{space} .{kind} v = {value};" for space, kind, value in itertools.product(
        ("global", "const", "shared", "local", "param", "reg"), ("b32", "f32", "u64"), ("0", "1.0", "{0}", "a", "P", "L", "k"))], before=".global .b32 a;")
    yield from whole("sampler", [f".global .samplerref v = {{{value}}};" for value in """addr_mode_0 = wrap|addr_mode_1 = mirror|addr_mode_2 = clamp_ogl
addr_mode_0 = clamp_to_edge|addr_mode_0 = clamp_to_border|addr_mode_0 = 1|addr_mode_3 = wrap|addr_mode_0 = nearest|filter_mode = nearest|filter_mode = linear|filter_mode = wrap
force_unnormalized_coords = 1|force_unnormalized_coords = 0|force_unnormalized_coords = 2|normalized_coords = 1|width = 4|addr_mode_0 = wrap, addr_mode_1 = wrap, filter_mode = linear
addr_mode_0 = wrap, addr_mode_0 = wrap|addr_mode_0|= wrap||1|addr_mode_0 = wrap,|channel_data_type = 1""".replace("\n", "|").split("|")],
                      ".version 9.0\n.target sm_90, texmode_independent\n.address_size 64\n")
    yield from whole("sampler", [f".global .{kind} {shape};" for kind, shape in itertools.product(("texref", "surfref", "samplerref"), (
        "v", "v[2]", "v = {}", "v = 1", "v = {width = 4}", "v = {normalized_coords = 1}", "v = {channel_data_type = 1}", "v, w", "v<2>", "v[]")) if kind[0] != "s" or "=" not in shape],
        ".version 9.0\n.target sm_90, texmode_independent\n.address_size 64\n")
    yield from whole("sampler_unified", [f".global .{kind} v;" for kind in ("texref", "surfref", "samplerref")] + [
        f".visible .entry k(.param .{kind} v) {{ ret; }}" for kind in ("texref", "surfref", "samplerref")] + [
        f".func f(.param .{kind} v) {{ ret; }}" for kind in ("texref", "surfref", "samplerref")] + [
        f".visible .entry k(.param .u64 .ptr .global .{kind} v) {{ ret; }}" for kind in ("texref", "surfref", "samplerref")])


def sizes():
    yield from at_module("size", [f".{space} .b8 v[{size}];" for space, size in itertools.product(("global", "const", "shared"), (
        49151, 49152, 49153, 65535, 65536, 65537, 98304, 98305, 232447, 232448, 232449, 233472, 262144, 1 << 20, (1 << 31) - 1, 1 << 31, (1 << 32) - 1, 1 << 32, 1 << 33,
        1 << 40, 1 << 48, 1 << 64))] + [f".global .b8 v[{size}];" for size in (1 << 62,)])
    yield from at_module("size", [".const .b8 a[65536]; .const .b8 b[1];", ".const .b8 a[32768]; .const .b8 b[32768];", ".const .b8 a[65533]; .const .b32 b;",
                                  ".const .b8 a[65532]; .const .b32 b;", ".const .b32 a[16384];", ".const .b32 a[16385];", ".const .b8 a[32768]; .const .b8 b[32769];",
                                  ".shared .b8 a[49152]; .shared .b8 b[49152];", ".global .b32 v[1073741824];", ".global .b32 v[65536][65536];",
                                  ".global .b32 v[4294967296][4294967296];", ".extern .const .b8 v[65537];",
                                  ".extern .shared .b8 v[65537];", ".extern .const .b8 v[65536]; .const .b8 w[65536];", ".const .align 256 .b8 a[65281]; .const .b8 b[256];"])
    yield from in_body("size_in_body", [f".{space} .b8 v[{size}];" for space, size in itertools.product(("local", "shared", "param", "const", "global"), (
        4096, 49153, 65536, 65537, 232448, 232449, 524287, 524288, 524289, 1 << 24, 1 << 31, 1 << 32, 1 << 40))])
    used = [".shared .b8 v[%d]; .reg .b8 q; ld.shared.b8 q, [v]; st.shared.b8 [v+1], q;", ".local .b8 v[%d]; .reg .b8 q; ld.volatile.local.b8 q, [v]; st.volatile.local.b8 [v+1], q;"]
    yield from in_body("size_used", [line % size for line, size in itertools.product(used, (49152, 49153, 65536, 98304, 232448, 232449, 262144, 524288, 524289, 1 << 24))])
    for size in (4, 255, 256, 4095, 4096, 4097, 4351, 4352, 4353, 32763, 32764, 32765, 65536):
        for version, target in (("9.0", "sm_90"), ("8.0", "sm_90"), ("8.1", "sm_70"), ("9.0", "sm_60"), ("1.4", "sm_10"), ("1.5", "sm_10"), ("2.0", "sm_20"), ("8.1", "sm_60")):
            yield "parameter_size", f"{version} {target} .entry {size}", head(version, target) + f".entry k(.param .b8 a[{size}]) {{ exit; }}\n"
        yield "parameter_size", f".func {size}", HEAD + f".visible .func f(.param .b8 a[{size}]) {{ ret; }}\n"
        yield "parameter_size", f".func result {size}", HEAD + f".visible .func (.param .b8 a[{size}]) f() {{ ret; }}\n"
    for count in (1, 2, 64, 255, 256, 1088, 1089, 8191, 8192):
        for kind, linked in (("entry", ".visible .entry"), ("func", ".visible .func")):
            yield "parameter_count", f"{kind} {count}", HEAD + f"{linked} f({', '.join(f'.param .b32 a{n}' for n in range(count))}) {{ ret; }}\n"
    for count in (255, 256, 257, 1023, 1024, 1025, 4096, 8000):
        for what in (".global .b32 {};", ".visible .entry {}() {{ ret; }}", ".visible .func {}() {{ ret; }}"):
            yield "name_length", f"{what} {count}", HEAD + what.format("n" * count) + "\n"
        yield from in_body("name_length_in_body", [what.format("n" * count) for what in (".reg .b32 {};", "{}: ", ".local .b32 {};")])
    for depth in (1, 8, 32, 64, 127, 128, 200):
        yield from in_body("nesting", ["{ " * depth + " }" * depth])
    for count in range(1, 9):
        yield from at_module("dimensions", [f".global .b8 v{'[2]' * count};"])
    for count in (9,):
        yield from at_module("dimensions", [f".global .b8 v{'[1]' * count};"])


# ---- functions -----------------------------------------------------------------------------------------------------

TUNINGS = "maxnreg maxntid reqntid minnctapersm maxnctapersm maxclusterrank reqnctapercluster explicitcluster blocksareclusters noreturn abi_preserve abi_preserve_control".split()
ARGUMENTS = ["", " 1", " 1, 2", " 1, 2, 3", " 1, 2, 3, 4", " 0", " -1", " 1U", " 0x10", " 1.0", " (1)", " 1+1", " x", " 1,", " 1 2", " 32, 1, 1", " 1024", " 1025", " 1024, 2",
             " 4294967295", " 4294967296", " 65536", " 255", " 256", " 1, 0", " 8", " 9", " 16", " 17", " 2, 2, 2", " 3, 3", " WARP_SZ", " 24", " 64", ";"]


def tunings():
    lines = [f".{name}{argument}" for name, argument in itertools.product(TUNINGS, ARGUMENTS)]
    for kind in (".visible .entry f()", ".visible .func f()", ".entry f(.param .b32 a)", ".func (.param .b32 r) f(.param .b32 a)"):
        take = lines if kind == ".visible .entry f()" else lines[::4]
        yield from at_module("tuning", [f"{kind} {line} {{ exit; }}" for line in take])
    yield from at_module("tuning_declared", [f"{kind} .{name}{argument};" for kind, name, argument in itertools.product(
        (".visible .func f()", ".extern .func f()", ".entry f()", ".extern .entry f()"), TUNINGS, ("", " 1", " 32"))])
    good = {"explicitcluster": "", "blocksareclusters": "", "noreturn": ""}
    spelled = [f".{name}{good.get(name, ' 8')}" for name in TUNINGS]
    yield from at_module("tuning_pair", [f".visible .{kind} f() {a} {b} {{ exit; }}" for kind, a, b in itertools.product(("entry",), spelled, spelled)])
    yield from at_module("tuning_pair", [f".visible .func f() {a} {b} {{ exit; }}" for a, b in itertools.product(spelled[9:], spelled[9:])])
    yield from at_module("tuning_three", [f".visible .entry f() {' '.join(some)} {{ exit; }}" for some in itertools.combinations(spelled[:9], 3)])
    yield from at_module("tuning_place", [f"{line}" for line in """.visible .entry .maxntid 1 f() { ret; }|.maxntid 1 .visible .entry f() { ret; }|.visible .entry f .maxntid 1 () { ret; }
.visible .entry f() { .maxntid 1 ret; }|.visible .entry f() .maxntid 1, { ret; }|.visible .entry f() .foo 1 { ret; }|.visible .entry f() .pragma "nounroll"; { ret; }
.visible .entry f() .pragma "nounroll" { ret; }|.visible .entry f() .pragma "a", "b"; .maxntid 1 { ret; }|.visible .entry f() .maxntid 1 .pragma "a"; .maxnreg 16 { ret; }
.visible .func f() .pragma "nounroll"; { ret; }|.visible .entry f .maxntid 1 { ret; }|.visible .entry f() .align 4 { ret; }|.visible .entry f() .maxntid 1 ; { ret; }
.visible .entry f() .maxntid 1; .visible .entry f() .maxntid 1 { ret; }|.visible .entry f() .maxntid 1; .visible .entry f() { ret; }
.visible .entry f(); .visible .entry f() .maxntid 1 { ret; }|.visible .entry f() .maxntid 1; .visible .entry f() .maxntid 2 { ret; }
.visible .func f() .noreturn; .visible .func f() .noreturn { exit; }|.visible .func f() .noreturn; .visible .func f() { exit; }
.visible .func f(); .visible .func f() .noreturn { exit; }|.visible .func f() .noreturn { ret; }|.visible .func (.param .b32 r) f() .noreturn { exit; }
.visible .func f() .abi_preserve 16; .visible .func f() .abi_preserve 17 { ret; }|.visible .func f() .abi_preserve 16 .noreturn { exit; }
.visible .entry f() .reqntid 8 .reqnctapercluster 2 .blocksareclusters { ret; }|.visible .entry f() .blocksareclusters .reqntid 8 .reqnctapercluster 2 { ret; }
.visible .entry f() .reqntid 8 .explicitcluster .blocksareclusters { ret; }|.visible .entry f() .reqnctapercluster 4, 4 { ret; }|.visible .entry f() .reqnctapercluster 4, 4, 4 { ret; }
.visible .entry f() .reqnctapercluster 2 .explicitcluster { ret; }|.visible .entry f() .reqnctapercluster 2 .maxclusterrank 4 { ret; }
.visible .entry f() .maxclusterrank 2 .explicitcluster { ret; }|.visible .entry f() .maxntid 8 .reqntid 8 { ret; }|.visible .entry f() .maxntid 8 .minnctapersm 2 .maxnreg 32 { ret; }
.visible .entry f() .minnctapersm 2 { ret; }""".replace("\n", "|").split("|")])


PARAMETERS = """.param .b32 a|.param .b32 a, .param .b32 b|.param .b32 a,|, .param .b32 a|.param .b32 a .param .b32 b|.param .b32|.param a|.b32 a|.param .b32 a, .b32 b|.reg .b32 a|.global .b32 a
.shared .b32 a|.local .b32 a|.param .b32 a[4]|.param .b32 a[]|.param .b32 a[0]|.param .b32 a[2][2]|.param .b32 a[][2]|.param .b32 a<2>|.reg .b32 a<2>|.reg .b32 a[2]|.param .b32 a = 1
.param .b32 _|.reg .b32 _|.param .b32 %a|.param .b32 $a|.param .b32 a.b|.param .b32 1|.param .pred a|.reg .pred a|.param .b128 a|.reg .b128 a|.param .f16 a|.param .bf16 a|.param .f16x2 a|.reg .f16x2 a
.param .v2 .b32 a|.reg .v2 .b32 a|.param .v4 .f32 a|.reg .v4 .f32 a|.param .align 8 .b32 a|.param .align 3 .b32 a|.param .align 0 .b32 a|.param .align 2 .b32 a|.param .b32 .align 8 a|.align 8 .param .b32 a
.param .align 8 .b8 a[12]|.param .align 16 .b8 a[12]|.param .align 128 .b8 a[4]|.param .align 256 .b8 a[4]|.param .align 512 .b8 a[4]|.param .b8 a|.param .u8 a|.reg .b8 a|.reg .u16 a
.param .u64 .ptr a|.param .u64 .ptr .global a|.param .u64 .ptr .shared a|.param .u64 .ptr .const a|.param .u64 .ptr .local a|.param .u64 .ptr .param a|.param .u64 .ptr .reg a
.param .u64 .ptr .generic a|.param .u64 .ptr .global .align 4 a|.param .u64 .ptr .align 4 a|.param .u64 .ptr .align 3 a|.param .u64 .ptr .align 0 a|.param .u64 .ptr .align 256 a|.param .u64 .ptr .align 1024 a
.param .u64 .ptr .align 4 .global a|.param .u64 .ptr .global .align a|.param .b64 .ptr .global a|.param .s64 .ptr .global a|.param .u32 .ptr .global a|.param .f64 .ptr .global a|.param .f32 .ptr a
.param .b32 .ptr a|.param .u8 .ptr a|.param .u64 .ptr .global a[2]|.param .ptr .u64 a|.param .u64 .ptr .ptr a|.param .u64 .global a|.param .align 8 .u64 .ptr .global .align 16 a
.param .b32 a, .param .b64 b, .param .b8 c|.param .b32 a, .param .u32 a|.param .b32 f|.param .b32 a, .reg .b32 b|.reg .b32 a, .param .b32 b|.reg .b32 a, .reg .b64 b|.param .b8 a[], .param .b32 b
.param .b32 b, .param .b8 a[]|.param .texref a|.param .samplerref a|.param .surfref a|.sreg .b32 a|.const .b32 a|.param .b32 a;|.param .b32 (a)|.param .b32 add|.param .b32 %tid|.param .b32 WARP_SZ
.param .attribute(.managed) .b32 a|.visible .param .b32 a|.extern .param .b32 a|.param .u64 .ptr.global a|.param.b32 a|.param .b32 a /* c */|.param .align 4 .align 8 .b32 a|.param .b32 a b||..|...
.param .b32 a, ...|.param .align 8 .b8 a[]|.param .b64 a, .param .align 8 .b8 b[]|.param .align 1 .b8 a[]""".replace("\n", "|").split("|")


def parameters():
    yield from at_module("parameter_entry", [f".visible .entry f({p}) {{ ret; }}" for p in PARAMETERS])
    yield from at_module("parameter_func", [f".visible .func f({p}) {{ ret; }}" for p in PARAMETERS])
    yield from at_module("parameter_declared", [f".extern .func f({p});" for p in PARAMETERS])
    yield from at_module("result", [f".visible .func ({p}) f() {{ ret; }}" for p in PARAMETERS])
    yield from at_module("result_declared", [f".extern .func ({p}) f();" for p in PARAMETERS[::3]])
    yield from in_body("parameter_prototype", [f"q: .callprototype _ ({p});" for p in PARAMETERS] + [f"q: .callprototype ({p}) _ ();" for p in PARAMETERS])
    yield from at_module("function", """.entry f() { ret; }|.entry f { ret; }|.entry { ret; }|.entry () { ret; }|.entry f()|.entry f() {|.entry f() { ret; };|.entry f() ; { ret; }|.entry f() { } |.func f() { }
.func f() { { } }|.func f { ret; }|.func { ret; }|.func () f() { ret; }|.func () f { ret; }|.func (.param .b32 r) f { ret; }|.func (.param .b32 r) { ret; }|.func f() (.param .b32 r) { ret; }
.entry (.param .b32 r) f() { ret; }|.entry f() () { ret; }|.func f() { ret }|.func f() { ret; ret; }|.func f() { ret;; }|.func f() { ; }|.func f() { nop; }|.func f() { ret; } ;
.func f(.param .b32 a) { .reg .b32 a; ret; }|.func f(.reg .b32 a) { .reg .b32 a; ret; }|.func f(.param .b32 a) { { .reg .b32 a; } ret; }|.func (.param .b32 a) f(.param .b32 a) { ret; }
.func f(.param .b32 f) { ret; }|.func f(.param .b32 a) { a: ret; }|.func f(.param .b32 a) { { a: ret; } }|.func f() { .func g() { ret; } ret; }|.entry f() { .entry g() { ret; } ret; }
.func main() { ret; }|.func $f() { ret; }|.func %f() { ret; }|.func _f() { ret; }|.func _() { ret; }|.func f$1() { ret; }|.func f.1() { ret; }|.func 1f() { ret; }
.func add() { ret; }|.func ret() { ret; }|.func WARP_SZ() { ret; }|.func %tid() { ret; }|.func _ZN1aIiE3fooEv() { ret; }|.func f@1() { ret; }|.func "f"() { ret; }|.func .f() { ret; }
.entry $f() { ret; }|.entry %f() { ret; }|.entry _() { ret; }|.entry 1f() { ret; }|.entry WARP_SZ() { ret; }|.entry add() { ret; }|.entry %tid() { ret; }|.entry f, g() { ret; }
.func f(); .func g() { call f; ret; }|.func g() { call f; ret; }|.func g() { call f; ret; } .func f() { ret; }|.func f() { ret; } .func g() { call f; ret; }|.extern .func f(); .func g() { call f; ret; }
.weak .func f(); .func g() { call f; ret; }|.visible .func f(); .func g() { call f; ret; }|.func f(); .func g() { call f; ret; } .func f() { ret; }|.func g() { call g; ret; }
.extern .global .b32 x; .func g() { .reg .b32 r; ld.global.b32 r, [x]; ret; }|.extern .shared .b32 x; .func g() { .reg .b32 r; ld.shared.b32 r, [x]; ret; }
.extern .const .b32 x; .func g() { .reg .b32 r; ld.const.b32 r, [x]; ret; }|.func g() { .reg .b64 r; mov.b64 r, f; ret; }|.func f(); .func g() { .reg .b64 r; mov.b64 r, f; ret; }
.extern .func f(); .func g() { .reg .b64 r; mov.b64 r, f; ret; }|.extern .func f(); .global .u64 x = f;|.func f(); .global .u64 x = f;|.weak .func f() { ret; } .func g() { call f; ret; }
.func g() { .reg .b32 r; ld.global.b32 r, [x]; ret; } .global .b32 x;|.func g() { .reg .b32 r; ld.shared.b32 r, [x]; ret; } .shared .b32 x;|.weak .entry f() { ret; }|.extern .entry f();
.visible .entry f();|.entry f();|.extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);|.extern .func (.param .b32 r) vprintf(.param .b64 a);|.extern .func vprintf();
.func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b) { ret; }|.extern .func malloc();|.extern .func (.param .b64 r) malloc(.param .b64 a);|.extern .func (.param .b32 r) malloc(.param .b32 a);
.extern .func free(.param .b64 a);|.extern .func __assertfail(.param .b64 a, .param .b64 b, .param .b32 c, .param .b64 d, .param .b64 e);|.extern .func __assertfail(.param .b32 a);
.extern .func __nanosleep(.param .b32 a);|.extern .func (.param .b32 r) cudaDeviceSynchronize();|.func __foo() { ret; }|.extern .func __cuda_syscall_foo();""".replace("\n", "|").split("|"))


def gates():
    """Directives in front of the version, and below the target, that brought them."""
    lines = """.weak .global .b32 v;|.weak .func f() { ret; }|.common .global .b32 v;|.global .attribute(.managed) .b32 v;|.global .attribute(.unified(1,2)) .b32 v;|.global .b128 v;|.global .texref v;
.global .surfref v;|.global .b32 a; .global .u32 v = a;|.global .b32 a; .global .u32 v = generic(a);|.global .b32 a; .global .u8 v = 0xff(a);|.func f() { ret; } .global .u32 v = f;
.func f() .noreturn { exit; }|.func f() .abi_preserve 4 { ret; }|.func f() .abi_preserve_control 4 { ret; }|.entry f(.param .u32 .ptr .global p) { exit; }|.entry f(.param .u32 p) { exit; }|.entry f() .maxntid 32 { exit; }
.entry f() .reqntid 32 { exit; }|.entry f() .maxntid 32 .minnctapersm 2 { exit; }|.entry f() .maxntid 32 .maxnctapersm 2 { exit; }|.entry f() .maxnreg 32 { exit; }|.entry f() .maxclusterrank 2 { exit; }
.entry f() .reqnctapercluster 2 { exit; }|.entry f() .explicitcluster { exit; }|.entry f() .reqntid 8 .reqnctapercluster 2 .blocksareclusters { exit; }|.entry f() { .pragma "nounroll"; exit; }|.pragma "nounroll";
.section .debug_x { .b8 1 }|.file 1 "a"|.file 1 "a", 1, 2|.entry f() { .loc 1 1 1 exit; }|.section .debug_x { L: .b8 1 }|.section .debug_x { .b64 L }|.reg .b32 v;|.reg .b32 v<4>;
.local .b32 v;|.param .b32 v;|.tex .u32 v;|.tex .b32 v;|.tex .f32 v;|.shared .b32 v;|.const .b32 v;|.const[1] .b32 v;|.const[0] .b32 v;|.const[10] .b32 v;|.const[11] .b32 v;|.global .f64 v;|.global .b64 v;
.func (.reg .u32 r) f(.reg .u32 a) { ret; }|.func (.param .u32 r) f(.param .u32 a) { ret; }|.func f(.param .b8 a[4]) { ret; }|.func f(.param .b8 a[]) { ret; }|.func (.param .b8 r[4]) f() { ret; }
.func f() { ret; }|.extern .func f();|.visible .func f() { ret; }|.extern .global .b32 v;|.visible .global .b32 v;|.extern .shared .b32 v[];|.entry f() { .reg .f16 v; exit; }|.entry f() { .reg .f16x2 v; exit; }
.entry f() { .reg .b128 v; exit; }|.entry f() { .reg .b8 v; exit; }|.entry f() { .reg .v2 .u32 v; exit; }|.entry f() { .reg .v4 .u32 v; exit; }|.entry f() { L: .branchtargets M; M: exit; }
.func f() { ret; } .entry g() { L: .calltargets f; exit; }|.entry f() { L: .callprototype _ (.param .b32 a); exit; }|.entry f() { L: .callprototype _ () .noreturn; exit; }|.func f(); .func f() { ret; }
.visible .func f(); .visible .func f() { ret; } .visible .func g(); .alias g, f;|.entry f() { .param .b32 a; exit; }|.entry f() { .local .b32 a; exit; }|.entry f() { .shared .b32 a; exit; }|.entry f() { { .reg .b32 a; } exit; }
.entry f() { .global .b32 a; exit; }|.entry f() { .const .b32 a; exit; }|.entry f() { .reg .u32 %r; mov.u32 %r, %tid.x; exit; }|.entry f() { .reg .u16 %r; mov.u16 %r, %tid.x; exit; }|.global .b32 v = 0b11;|.global .b32 v = 1U;
.global .u32 v[2][2];|.global .v4 .f32 v;|.global .f32 v = 0f3f800000;|.global .f64 v = 0d3ff0000000000000;|.global .align 8 .b32 v;|.extern .func f() .noreturn;|.shared .align 16 .b8 v[32];|.extern .entry f();
.entry f() { .reg .u32 r; mov.u32 r, WARP_SZ; exit; }|.global .u32 v[] = {1,2};|.weak .entry f() { exit; }|.entry f() { exit; } .entry f2();|.func f() { call g; ret; } .func g() { ret; }""".replace("\n", "|").split("|")
    settings = [("1.0", "sm_10"), ("1.2", "sm_10"), ("1.3", "sm_13"), ("1.4", "sm_13"), ("1.5", "sm_13"), ("2.0", "sm_20"), ("2.1", "sm_20"), ("2.1", "sm_13"), ("2.2", "sm_20"), ("2.3", "sm_20"), ("3.0", "sm_30"),
                ("3.1", "sm_35"), ("3.2", "sm_30"), ("4.0", "sm_30"), ("4.0", "sm_20"), ("4.1", "sm_30"), ("4.2", "sm_53"), ("5.0", "sm_60"), ("6.0", "sm_60"), ("6.2", "sm_70"), ("6.3", "sm_70"), ("6.4", "sm_70"), ("6.5", "sm_75"), ("7.0", "sm_80"),
                ("7.1", "sm_80"), ("7.5", "sm_80"), ("7.7", "sm_86"), ("7.8", "sm_89"), ("7.8", "sm_90"), ("8.0", "sm_80"), ("8.0", "sm_90"), ("8.3", "sm_70"), ("8.3", "sm_90"), ("9.0", "sm_60"), ("9.0", "sm_75"), ("9.0", "sm_100a")]
    for version, target in settings:
        for line in lines[settings.index((version, target)) % 2::2]:
            yield "gate", f"{version} {target}: {line}", f"{head(version, target)}{line}\n.entry k {{ exit; }}\n"


# ---- bodies --------------------------------------------------------------------------------------------------------

def scopes():
    yield from in_body("scope", """.reg .b32 a; .reg .b32 a;|.reg .b32 a; { .reg .b32 a; }|.reg .b32 a; { .reg .b64 a; mov.b64 a, 1; } mov.b32 a, 1;|{ .reg .b32 a; } mov.b32 a, 1;|{ .reg .b32 a; } { .reg .b64 a; }
.reg .b32 a; .reg .b64 a;|.reg .b32 a; .local .b32 a;|.reg .b32 a; a: |a: .reg .b32 a;|a: a: |a: { a: }|{ a: } a:|{ a: } { a: }|{ a: } bra a;|{ bra a; } a:|a: { bra a; }|{ a: } { bra a; }|{ bra a; a: }|bra a; { a: }
.reg .b32 P;|.reg .b32 Q;|{ .reg .b32 P; }|P: |{ P: }|.reg .b32 k;|k: |{ .reg .b32 k; }|mov.b32 x, 1; .reg .b32 x;|{ .reg .b32 x; { mov.b32 x, 1; } }|.reg .b32 %x<4>; .reg .b32 %x2;|.reg .b32 %x2; .reg .b32 %x<4>;
.reg .b32 %x<4>; .reg .b32 %x4;|.reg .b32 %x<4>; { .reg .b32 %x2; }|.reg .b32 %x2; { .reg .b32 %x<4>; }|.reg .b32 %x<4>; .reg .b32 %x<8>;|.reg .b32 %x<4>; { .reg .b64 %x<8>; mov.b64 %x2, 1; } mov.b32 %x2, 1;
.reg .b32 %x<4>; { .reg .b64 %x<2>; mov.b32 %x3, 1; }|.reg .b32 %x<4>; mov.b32 %x4, 1;|.reg .b32 %x<4>; mov.b32 %x04, 1;|.reg .b32 %x<4>; mov.b32 %x01, 1;|.reg .b32 %x<4>; mov.b32 %x, 1;|.reg .b32 %x<4>; .reg .b32 %x; mov.b32 %x, 1;
.reg .b32 %x1<4>; mov.b32 %x13, 1;|.reg .b32 %x1<4>; .reg .b32 %x<12>;|.reg .b32 %x1<4>; .reg .b32 %x<20>;|.reg .b32 %x<12>; .reg .b32 %x1<4>;|.reg .b32 x<0>; mov.b32 x0, 1;|.reg .b32 x<1>; mov.b32 x0, 1;
.local .b32 a; .local .b32 a;|.local .b32 a; { .local .b32 a; }|.shared .b32 a; { .shared .b32 a; }|.shared .b32 a; .shared .b32 a;|.global .b32 a; .global .b32 a;|.param .b32 a; .param .b32 a;|.param .b32 a; { .param .b32 a; }
{ .param .b32 a; st.param.b32 [a], 1; }|.param .b32 a; st.param.b32 [a], 1;|.global .b32 g; .reg .b32 g;|.reg .b32 g;|{ .reg .b32 g; }|g: |.reg .b32 f;|f: |.local .b32 g;|.shared .b32 g;|.global .b32 g;
{ { { } } }|{ } { }|{ ; }|{ ret; } |} {|{|}|{ ret; |.reg .b32 a; { { .reg .b32 a; } { .reg .b32 a; } .reg .b64 a; mov.b64 a, 1; }|{ bra L; } { L: } L:|{ L: { L: bra L; } bra L; } |L1: L2: bra L1;|L: M: bra M; bra L;
.reg .b32 tid; mov.u32 tid, %tid.x;|.reg .b32 %tid; mov.u32 %tid, 1;|.reg .v4 .b32 %tid; mov.b32 r0, %tid.x;|.reg .b32 %laneid; mov.b32 %laneid, 1;|.reg .b32 %tid<4>; mov.b32 %tid2, 1;|.reg .b32 %clock6<5>; mov.b64 l0, %clock64;|.reg .b32 %r0, %r1; .reg .b32 %r<2>;
.reg .b32 WARP_SZ;|.reg .b32 _;|.reg .b32 add; mov.b32 add, 1;|add: bra add;|ret: bra ret;|.reg .b32 ret; mov.b32 ret, 1;|.reg .pred p; .reg .b32 p;|.reg .b32 x, x;|.reg .b32 x; .reg .b32 X; mov.b32 X, x;|mov.b32 R0, r1;|MOV.b32 r0, r1;|.REG .b32 q;
.reg .b32 a, b; { .reg .b32 b, c; mov.b32 a, c; mov.b32 b, a; } mov.b32 b, a;|.reg .b32 %r<4>; .reg .b32 %rd<4>; .reg .b32 %r1d<4>; mov.b32 %r1d2, %rd1;""".replace("\n", "|").split("|"),
                        before=".global .b32 g; .func f() { ret; }")
    yield from in_body("label", """L:|L: L2:|L:;|L :|:|L: ret;|L: { }|{ L: }|1: |1L: |%L: |$L: |_L: |_: |L.1: |L$1: |L%1: |.L: |$L__BB0_1: bra $L__BB0_1;|BB0_1: bra BB0_1;|bra L;|bra.uni L; L:|bra L L:|bra; L:|bra L, M; L: M:|bra r0;|bra g;|bra k;|bra f;|bra P;|bra 1;|bra [L]; L:|bra L+1; L:
@p0 bra L; L:|@!p0 bra L; L:|@p0 L: ret;|L: @p0 ret;|L: .reg .b32 q;|L: .loc 1 1 1|L: .pragma "nounroll";|L: .local .b32 q;|"L": |L:: ret;|mov.b32 r0, L; L:|mov.b64 l0, L; L:|mov.b64 l0, f;|mov.b64 l0, k;|ld.global.b32 r0, [L]; L:|bra {L}; L:|bra (L); L:|bra L!; L:|bra l0;""".replace("\n", "|").split("|"),
                        before=".global .b32 g; .func f() { ret; }")
    yield from in_body("targets", """T: .branchtargets L; L: brx.idx r0, T;|L: T: .branchtargets L; brx.idx r0, T;|brx.idx r0, T; L: T: .branchtargets L;|T: .branchtargets L, M; L: M: brx.idx r0, T;|T: .branchtargets; brx.idx r0, T;|T: .branchtargets L, L; L: brx.idx r0, T;|T: .branchtargets M; L: brx.idx r0, T;|T: .branchtargets f; brx.idx r0, T;
T: .branchtargets L<4>; L0: L1: L2: L3: brx.idx r0, T;|T: .branchtargets L L; L: brx.idx r0, T;|T: .branchtargets L, ; L: brx.idx r0, T;|T: .branchtargets L L: brx.idx r0, T;|.branchtargets L; L:|{ T: .branchtargets L; brx.idx r0, T; } L:|T: .branchtargets L; { L: } brx.idx r0, T;|T: .branchtargets L; { L: brx.idx r0, T; }|{ T: .branchtargets L; L: } brx.idx r0, T;
T: .branchtargets T; brx.idx r0, T;|T: .branchtargets r0; brx.idx r0, T;|T: .branchtargets L; L: brx.idx l0, T;|T: .branchtargets L; L: brx.idx p0, T;|T: .branchtargets L; L: brx.idx 0, T;|T: .branchtargets L; L: brx.idx r0, L;|T: .branchtargets L; L: brx.idx r0, {L};|T: .branchtargets L; L: brx.idx.uni r0, T;|T: .branchtargets L; L: brx r0, T;|T: .branchtargets L; L: bra T;
T: .branchtargets (L); L: brx.idx r0, T;|T: .branchtargets {L}; L: brx.idx r0, T;|T: .branchtargets "L"; L: brx.idx r0, T;|T: .branchtargets L:; L: brx.idx r0, T;|T: T2: .branchtargets L; L: brx.idx r0, T;|@p0 T: .branchtargets L; L: brx.idx r0, T;|T: .calltargets f; call l0, T;|T: .calltargets f; call (r0), l0, (r1), T;|T: .calltargets f, h; call (r0), l0, (r1), T;
T: .calltargets f, w; call (r0), l0, (r1), T;|T: .calltargets k; call l0, T;|T: .calltargets L; L: call l0, T;|T: .calltargets; call l0, T;|T: .calltargets f, f; call (r0), l0, (r1), T;|T: .calltargets none; call (r0), l0, (r1), T;|.calltargets f;|T: .calltargets f f;|T: .calltargets f<2>;|T: .calltargets g;|T: .calltargets f; brx.idx r0, T;|call (r0), l0, (r1), T; T: .calltargets f;
T: .callprototype (.param .b32 _) _ (.param .b32 _); call (r0), l0, (r1), T;|T: .callprototype _; call l0, T;|T: .callprototype _ (); call l0, T;|T: .callprototype () _ (); call l0, T;|T: .callprototype _ (.param .b32 _); call l0, (r1), T;|T: .callprototype _ (.param .b32 a); call l0, (r1), T;|T: .callprototype _ (.param .b32 r0); call l0, (r1), T;|T: .callprototype _ (.param .b32 _, .param .b32 _); call l0, (r1, r2), T;
T: .callprototype _ (.reg .b32 _); call l0, (r1), T;|T: .callprototype f (.param .b32 _); call l0, (r1), T;|T: .callprototype (.param .b32 _) (.param .b32 _);|T: .callprototype (.param .b32 _) _;|T: .callprototype (.param .b32 _, .param .b32 _) _ ();|T: .callprototype (.reg .b32 _, .reg .b32 _) _ (); call (r0, r1), l0, T;|T: .callprototype _ () .noreturn; call l0, T;|T: .callprototype _ () .noreturn .noreturn; call l0, T;
T: .callprototype _ () .abi_preserve 16; call l0, T;|T: .callprototype _ () .abi_preserve_control 2; call l0, T;|T: .callprototype _ () .maxntid 1; call l0, T;|T: .callprototype _ () .noreturn 1; call l0, T;|.callprototype _ ();|T: .callprototype _ () call l0, T;|T: .callprototype;|T: .callprototype ();|T: .callprototype _ (.param .b32);|T: .callprototype _ .noreturn; call l0, T;|T: .callprototype .func _ ();|T: .callprototype _ () { }|call l0, T; T: .callprototype _ ();
{ T: .callprototype _ (); } call l0, T;|T: .callprototype _ (); { call l0, T; }|T: .callprototype _ (); T: .callprototype _ ();|T: .callprototype _ (.param .align 8 .b8 _[16]); .param .align 8 .b8 q[16]; call l0, (q), T;|T: .callprototype _ (.param .align 8 .b8 _[16]); .param .align 4 .b8 q[16]; call l0, (q), T;|T: .callprototype _ (.param .b8 _[]); .param .b8 q[16]; call l0, (q), T;""".replace("\n", "|").split("|"),
                        before=".global .b32 g; .func (.param .b32 r) f(.param .b32 a) { ret; } .func (.param .b32 r) h(.param .b32 a) { ret; } .func w() { ret; }")
    yield from in_body("declaration", """.reg .b32 a|.reg .b32 a;;|.reg .b32 a .reg .b32 b;|reg .b32 a;|. reg .b32 a;|.reg.b32 a;|.reg .b32a;|.reg b32 a;|.reg .b32 a, .b32 b;|.reg .b32 a, b, c; mov.b32 a, b;|.reg .b32 (a, b);|.reg .b32 {a, b};|.reg .b32 "a";|.reg .b32 a:b;|.foo .b32 a;|.reg .foo a;|.b32 a;|.reg .b32;|.reg;|.reg a;|.;|..reg .b32 a;|.reg .b32 a\\;
@p0 .reg .b32 a;|.loc 1 2 3 .reg .b32 a;|mov.b32 r0, 1; .reg .b32 a; mov.b32 a, r0;|.shared .b32 a; mov.b32 r0, a;|.local .b32 a; mov.b64 l0, a;|.param .b32 a; mov.b64 l0, a;|.global .b32 a; mov.b64 l0, a;|.const .b32 a; mov.b64 l0, a;|mov.b64 l0, P;|mov.b32 r0, Q;|.extern .shared .b32 a[];|.visible .shared .b32 a;|.extern .global .b32 a;|.weak .global .b32 a;|.entry z;
.func z;|.file 1 "a"|.section .debug_x { }|.alias a, b;|.align 4 .reg .b32 a;|.align 4 .local .b32 a;|.maxntid 1|.noreturn;|.attribute(.managed)|.target sm_90|.ptr|.v2 .b32 a;|.reg .v2 a;|.reg .v2 .b32 a; mov.b32 r0, a.x;|.reg .v2 .b32 a; mov.b32 r0, a.z;|.reg .v4 .b32 a; mov.b32 r0, a.w;|.reg .v4 .b32 a; mov.b32 r0, a.r;|.reg .v4 .b32 a; mov.v4.b32 a, {r0, r1, r2, r3};""".replace("\n", "|").split("|"))


def calls():
    before = """.func (.param .b32 r) f(.param .b32 a) { ret; }
.func n() { ret; }
.func (.reg .b32 r) x(.reg .b32 a) { ret; }
.func (.param .align 8 .b8 r[16]) s(.param .align 8 .b8 a[16]) { ret; }
.func o(.param .b64 a, .param .b8 b[]) { ret; }
.func (.param .f32 r) e(.param .f32 a) { ret; }
.func (.param .b64 r) w(.param .b64 a) { ret; }
.func (.param .u32 r) c(.param .u32 a) { ret; }
.extern .func two(.reg .b32 a, .reg .f32 b);
.extern .func vr(.reg .v4 .f32 a);
.extern .func ext(.param .b32 a);
.global .b32 g;"""
    registers = """.reg .b32 r<4>; .reg .b64 l<4>; .reg .pred p<4>; .reg .f32 t<4>; .reg .b16 h<4>; .reg .b8 b<4>; .reg .v4 .f32 q; .reg .v2 .b32 d; .reg .u32 u;
.reg .s32 i; .reg .u16 hu; .reg .f64 td; .param .b32 pb; .param .b64 pl; .param .align 8 .b8 pa[16]; .param .align 4 .b8 p4[16]; .param .align 16 .b8 p16[16];
.param .b8 pn[16]; .param .align 8 .b8 p8[8]; .param .b32 pw[4]; .param .u8 pc; .param .align 8 .b32 p48[4]; .local .b32 lo; .shared .b32 sh; .param .f32 pf;
.param .u32 pu; .param .b16 ph; .param .align 8 .b8 q16[32];"""
    results = "r0 l0 p0 t0 h0 b0 q q.x d.x u i hu td pb pl pa p4 p16 pn p8 pw pc p48 lo sh pf pu ph q16 g f P Q _ %tid.x {r0} {r0,r1} [r0] !p0 r0+1 undeclared (r0) L".split()
    sources = "r0 l0 p0 t0 h0 b0 q q.x d.x u i hu td pb pl pa p4 p16 pn p8 pw pc p48 lo sh pf pu ph q16 g f P Q 1 -1 1.0 0f3f800000 0d3ff0000000000000 0x100000000 _ WARP_SZ %tid.x {r0} {r0,r1} {r0,r1,r2,r3} {t0,t1,t2,t3} [r0] !p0 -r0 r0+1 pa+4 undeclared (r0) L".split()
    lines = []
    for name, result, argument in (("f", "pb", "pb"), ("x", "r0", "r0"), ("s", "pa", "pa"), ("e", "pf", "pf"), ("w", "pl", "pl"), ("c", "pu", "pu")):
        lines += [f"call ({result}), {name}, ({source});" for source in sources]
        lines += [f"call ({source}), {name}, ({argument});" for source in results]
    lines += [f"call vr, ({source});" for source in sources]
    lines += [f"call o, (pl, {source});" for source in sources]
    lines += [f"call two, ({a}, {b});" for a, b in itertools.product(("p0", "1", "r0", "!p0", "0"), ("t0", "1.0", "r0", "1"))]
    lines += """call n;|call n, ();|call (), n, ();|call (), n;|call n();|call n, (r0);|call (r0), n;|call (r0), n, ();|call f;|call f, (r0);|call (r0), f;|call (r0), f, ();|call (r0), f, (r0, r1);|call (r0, r1), f, (r0);|call (r0) f (r0);|call r0, f, (r0);|call (r0), f, r0;|call.uni (r0), f, (r0);
call.uni n;|call.foo n;|call k;|call undeclared;|call L; L:|call g;|call r0;|call l0;|call 1;|call [n];|call n, n;|@p0 call n;|@!p0 call.uni (r0), f, (r0);|call;|call (r0);|call (r0), (r0);|call n;;|call (_), f, (r0);|call (r0), f, (_);|call ext, (r0);|call ext, (pb);|call (two), f, (r0);|call (r0, l0), two, (p0, t0);
call (r0), two, (p0, t0);|call (l0, r0), two, (p0, t0);|call (_, l0), two, (p0, t0);|call (_, _), two, (p0, t0);|call o, (pl, pa);|call o, (pl);|call o, (pl, pa, pb);|call (r0), f, (r0),;|call (r0,), f, (r0);|call (r0), f, (r0,);|call ((r0)), f, (r0);|call (r0), f, ((r0));|call ({r0}), f, ({r0});|call (r0), f, (r0), T; T: .calltargets f;
st.param.b32 [pb], r0; call (pb), f, (pb); ld.param.b32 r1, [pb];|ld.param.b32 r0, [pa+4];|st.param.b32 [pa+4], r0;|st.param.v4.f32 [p16], {t0,t1,t2,t3};|st.param.b32 [P], r0;|st.param.b32 [pa+16], r0;|st.param.b64 [pb], l0;|ld.param.b64 l0, [pb];|st.param.b32 [l0], r0;""".replace("\n", "|").split("|")
    yield from in_body("call", dict.fromkeys(lines), before=before, registers=registers)


def ranges():
    lines = [f".{space} {shape}; {use}" for space, shape, use in itertools.product(("param", "local", "shared", "global", "const"), (".b32 %P<2>", ".u64 %P<2>", ".align 8 .b32 %P<2>", ".b32 P<2>", ".b32 %P<2>, %Q<3>", ".b8 %P<2>[4]"), (
        "", "ld.{}.b32 r0, [%P0];", "ld.{}.b32 r0, [%P1];", "ld.{}.b32 r0, [%P2];", "ld.{}.b32 r0, [%P];", "ld.{}.b32 r0, [%P1+4];", "mov.b64 l0, %P1;"))]
    lines = [line.format(line.split()[0][1:]) for line in lines]
    lines += [".param .u64 %P<2>; st.param.u64 [%P0], l0; st.param.u64 [%P1], l1; call f, (%P0, %P1);", "{ .param .u64 %P<2>; st.param.u64 [%P0], l0; } { .param .u64 %P<3>; st.param.u64 [%P2], l0; }",
              ".param .u64 %P<2>; .param .u64 %P<3>;", ".param .u64 %P<2>; .param .u64 %P1;", ".param .u64 %P<2>; .reg .u64 %P<2>;", ".param .u64 %P<2>; .reg .u64 %P1;"]
    yield from in_body("range", lines, before=".func f(.param .u64 a, .param .u64 b) { ret; }")
    yield from at_module("range_at_module", [f".{space} {shape}; {use}" for space, shape, use in itertools.product(("global", "const", "shared"), (".b32 %P<2>", ".b32 P<2>"), (
        "", ".func f() { .reg .b32 r; ld.{}.b32 r, [P1]; ret; }", ".func f() { .reg .b32 r; ld.{}.b32 r, [%P1]; ret; }"))])


# ---- the rest ------------------------------------------------------------------------------------------------------

def debug():
    yield from in_body("loc", [f".loc {rest}" for rest in """1 1 1|1 1|1|1 1 1 1||0 0 0|2 1 1|99 1 1|-1 1 1|1 -1 1|1 1 -1|1U 1 1|0x1 1 1|1.0 1 1|1, 1, 1|1 1 1;|a 1 1|(1) 1 1|4294967295 1 1|4294967296 1 1|1 4294967296 1|1 1 4294967296|1 1 1, function_name L, inlined_at 1 1 1|1 1 1, function_name L|1 1 1, inlined_at 1 1 1
1 1 1, function_name L inlined_at 1 1 1|1 1 1, function_name $L, inlined_at 1 1 1|1 1 1, function_name .L, inlined_at 1 1 1|1 1 1, function_name L+4, inlined_at 1 1 1|1 1 1, function_name L + 4, inlined_at 1 1 1|1 1 1, function_name L-4, inlined_at 1 1 1|1 1 1, function_name "L", inlined_at 1 1 1|1 1 1, function_name L, inlined_at 1 1
1 1 1, function_name L, inlined_at 1 1 1 1|1 1 1, function_name L, inlined_at 1, 1, 1|1 1 1, inlined_at 1 1 1, function_name L|1 1 1, function_name $L__info_string0, inlined_at 1 2 3|1 1 1 is_stmt 0|1 1 1 prologue_end|1 1 1, is_stmt 0|1 1 1, foo|1 1 1,|"a" 1 1|1 "a" 1""".replace("\n", "|").split("|")],
        start=HEAD + '.file 1 "a.cu"\n.section .debug_str { L: $L: $L__info_string0: .b8 0 }\n', registers=".loc 1 1 1")
    yield from at_module("loc_place", [".loc 1 1 1", '.file 1 "a"\n.loc 1 1 1', ".visible .entry f() .loc 1 1 1 { ret; }", ".visible .entry f() { ret; .loc 1 1 1 }", ".visible .entry f() { .loc 1 1 1 .loc 1 2 1 ret; }",
                                       ".visible .func f() .loc 1 1 1 { ret; }", ".visible .entry f() { @p .loc 1 1 1 ret; }", ".visible .func .loc 1 1 1 f() { ret; }"])
    yield from at_module("file", [f".file {rest}" for rest in """1 "a"|1 "a";|1 "a", 1, 2|1 "a", 1|1 "a", 1, 2, 3|1|"a"|0 "a"|-1 "a"|1 a|1 'a'|1 ""|1U "a"|0x1 "a"|1.0 "a"|(1) "a"|4294967295 "a"|4294967296 "a"|1 "a" "b"|1, "a"|1 "a" 1, 2|1 "a", -1, 2|1 "a", 1, -2|1 "a", 0x1, 0x2|1 "a", "b", 1|1 "a|1 "a\\"b"|1 "a\\\\b"|1 "a\\n"|x "a"
1 "a", 18446744073709551615, 1|1 "a", 1.5, 1|1 "a" .file 2 "b"|1 "a" .file 1 "b"|1 "a" .file 1 "a"|2 "b" .file 1 "a"|1 "d" "a.c"|1 "a", 1U, 2U""".replace("\n", "|").split("|")])
    yield from at_module("section", [f".section {rest}" for rest in """.debug_x { .b8 1 }|.debug_x { }|.debug_x {.b8 1,2,3}|.debug_x { .b8 1 .b8 2 }|.debug_x { .b8 1; }|.debug_x { .b8 1, }|.debug_x { .b8 }|.debug_x { .b16 1 .b32 2 .b64 3 }|.debug_x { .u8 1 }|.debug_x { .u32 1 }|.debug_x { .s32 1 }|.debug_x { .f32 1.0 }|.debug_x { .b128 1 }|.debug_x { .b8 256 }|.debug_x { .b8 -1 }|.debug_x { .b8 -129 }
.debug_x { .b8 0xff }|.debug_x { .b8 1U }|.debug_x { .b16 65536 }|.debug_x { .b32 4294967296 }|.debug_x { .b32 -1 }|.debug_x { .b64 18446744073709551615 }|.debug_x { .b8 1.0 }|.debug_x { .b8 1+1 }|.debug_x { .b8 (1) }|.debug_x { .b32 L }|.debug_x { L: .b32 L }|.debug_x { L: .b32 L+4 }|.debug_x { L: .b32 L + 4 }|.debug_x { L: .b32 L-4 }|.debug_x { L: M: .b32 L-M }
.debug_x { L: .b64 L-M M: }|.debug_x { .b32 .debug_x }|.debug_x { .b32 .debug_y }|.debug_x { .b32 .debug_str }|.debug_x { .b32 .debug_str+4 }|.debug_x { .b64 k }|.debug_x { .b64 $L }|.debug_x { L: }|.debug_x { L: .b8 1 L: }|.debug_x { L .b8 1 }|.debug_x { "abc" }|.debug_x { .b8 "abc" }|.debug_x { ret; }|.debug_x { .b8 1 |.debug_x .b8 1|.debug_x|{ .b8 1 }|debug_x { .b8 1 }|"debug_x" { .b8 1 }|. debug_x { .b8 1 }
.x { .b8 1 }|.debug_info { .b32 1 }|.debug_abbrev { .b8 1 }|.debug_line { .b8 1 }|.debug_str { .b8 1 }|.debug_loc { .b8 1 }|.debug_ranges { .b8 1 }|.debug_macinfo { .b8 1 }|.debug_frame { .b8 1 }|.text { .b8 1 }|.nv.info { .b8 1 }|.foo.bar { .b8 1 }|.global { .b8 1 }|.b8 { .b8 1 }|.debug_x { .b8 1 } .section .debug_x { .b8 1 }|.debug_x { .b8 1 };|.debug_x, { .b8 1 }|.debug_x { .loc 1 1 1 }|.debug_x { .b8 1 { .b8 2 } }
.debug_info { .b32 1 .b8 2 .b8 0 .b32 .debug_abbrev .b8 8 }|.debug_x { .b32 L-1 L: }|.debug_x { .b32 1-L L: }|.debug_x { .align 4 .b8 1 }|.debug_x { .b8 1 2 }|.debug_x { .b8 a.b }|.debug_x { .b64 k+4 }|.debug_x { .b64 undeclared }|.debug_x { L: .b64 L,L+1,2 }|.debug_x { .b8 ~1 }|.debug_x { .b8 --1 }|.debug_x { .b8 +1 }|.debug_x { .b8 WARP_SZ }|.debug_x { $L__a: .b64 $L__a }|.debug_x { %L: .b64 1 }""".replace("\n", "|").split("|")])
    yield from at_module("section_place", [".visible .func f() { .section .debug_x { .b8 1 } ret; }", ".visible .func f() { L: ret; } .section .debug_x { .b64 L }", ".visible .section .debug_x { .b8 1 }", ".visible .func f() { $L: ret; } .section .debug_x { .b64 $L }",
                                           ".global .b32 g; .section .debug_x { .b64 g }", ".section .debug_x { .b64 g } .global .b32 g;"])
    yield from at_module("dwarf", [f"@@{rest}" for rest in ("DWARF .section .debug_x", "dwarf .byte 1", "DWARF", "DWARF foo bar ;;{{", "Dwarf x", "foo", "DWARF\t.byte 1, 2", "DWARF .section .debug_info, \"\",@progbits")])
    yield from at_module("pragma", [f".pragma {rest}" for rest in """"nounroll";|"nounroll"|"a", "b";|;|nounroll;|"a" "b";|"a",;|'a';|"unknown thing";|("a");|"a";;|.a;|1;""".replace("\n", "|").split("|")])
    yield from in_body("pragma_in_body", [f".pragma {rest}" for rest in """"nounroll";|"nounroll"|"a", "b";|;|nounroll;|"a" "b";|"";|"used_bytes_mask 0xff";|"used_bytes_mask 0xffff"; |"frequency 1";|"unknown thing";|1;|"enable_smem_spilling";|"nounroll"; .pragma "nounroll";""".replace("\n", "|").split("|")])


def aliases():
    before = ".visible .func (.param .b32 r) f(.param .b32 a) { ret; }\n.func n() { ret; }\n.visible .func v() { ret; }\n.weak .func w() { ret; }\n.global .b32 g;\n.extern .func x();\n"
    lines = []
    for linkage, target in itertools.product(LINKAGES[:4], ("n", "v", "w", "f", "x", "g", "k", "undeclared", "a")):
        lines += [f"{linkage} .func a(); .alias a, {target};", f".alias a, {target}; {linkage} .func a();"]
    lines += """.alias a, v;|.visible .func a() { ret; } .alias a, v;|.visible .func (.param .b32 r) a(.param .b32 x); .alias a, f;|.visible .func (.param .u32 r) a(.param .b32 x); .alias a, f;|.visible .func a(); .alias a v;|.visible .func a(); .alias a, v|.visible .func a(); .alias a;|.visible .func a(); .alias a, v, n;
.visible .func a(); .alias a, v; .alias a, v;|.visible .func a(); .alias a, v; .alias a, w;|.visible .func a(); .visible .func b(); .alias a, v; .alias b, a;|.visible .func a(); .alias v, a;|.visible .entry a(); .alias a, k;|.visible .func a(); .alias a, v; .func u() { call a; ret; }|.visible .func a(); .func u() { call a; ret; } .alias a, v;
.visible .func a(); .alias a, v; .global .u64 t = a;|.visible .func a(); .global .u64 t = a; .alias a, v;|.alias g, g;|.visible .alias a, v;|.visible .func a(); .alias (a), v;|.visible .func a(); .alias "a", v;|.visible .func a; .alias a, v;|.visible .func a(); .alias a, v; .visible .func a() { ret; }|.extern .global .b32 a; .alias a, g;
.visible .func a() .noreturn; .alias a, v;|.visible .func a(); .alias a, v; .visible .func a();|.visible .func a(); .alias a, a;|.visible .func a(.param .b32 x); .alias a, v;|.visible .func a(); .alias a, later; .visible .func later() { ret; }|.visible .func a(); .visible .func later(); .alias a, later; .visible .func later() { ret; }""".replace("\n", "|").split("|")
    yield from whole("alias", dict.fromkeys(lines), HEAD + before + KERNEL + "\n")
    yield from in_body("alias_in_body", [".alias a, f;"], before=before + ".visible .func a();")


SPECIALS = """tid ntid laneid warpid nwarpid ctaid nctaid smid nsmid gridid is_explicit_cluster clusterid nclusterid cluster_ctaid cluster_nctaid cluster_ctarank cluster_nctarank lanemask_eq lanemask_le lanemask_lt lanemask_ge lanemask_gt
clock clock_hi clock64 pm0 pm7 pm8 pm0_64 pm7_64 envreg0 envreg31 envreg32 globaltimer globaltimer_lo globaltimer_hi reserved_smem_offset_begin reserved_smem_offset_end reserved_smem_offset_cap reserved_smem_offset_0
reserved_smem_offset_1 total_smem_size aggr_smem_size dynamic_smem_size current_graph_exec foo""".split()


def specials():
    kinds = {"b16": "h", "u16": "h", "s16": "h", "b32": "r", "u32": "r", "s32": "r", "f32": "f", "b64": "l", "u64": "l", "s64": "l", "f64": "d", "pred": "p"}
    registers = ".reg .b16 h; .reg .b32 r; .reg .f32 f; .reg .b64 l; .reg .f64 d; .reg .pred p; .reg .v4 .b32 v; .reg .b32 q<4>;"
    lines = [f"mov.{kind} {register}, %{name}{part};" for name, part, (kind, register) in itertools.product(SPECIALS, ("", ".x"), kinds.items())][::5]
    lines += [f"mov.{kind} {register}, %{name}.{part};" for name, part, (kind, register) in itertools.product(("tid", "ctaid", "clusterid", "laneid"), ("y", "z", "w", "r", "b0"), (("u32", "r"), ("u16", "h"), ("u64", "l")))]
    lines += [f"mov.v4.u32 v, %{name};" for name in ("tid", "ntid", "ctaid", "nctaid", "clusterid")]
    lines += [f"mov.v4.u32 {{q0,q1,q2,q3}}, %{name};" for name in ("tid", "ntid", "ctaid")]
    lines += [line for name in ("tid.x", "laneid", "clock64", "tid", "is_explicit_cluster") for line in (f"add.u32 r, r, %{name};", f"cvt.u64.u32 l, %{name};", f"cvt.u32.u64 r, %{name};", f"cvt.u16.u32 h, %{name};", f"mov.u32 %{name}, r;", f"@%{name} ret;",
              f"st.global.u32 [l], %{name};", f"setp.eq.u32 p, %{name}, 0;", f"selp.u32 r, r, r, %{name};", f"mov.u32 r, -%{name};", f"mov.u32 r, %{name}+1;", f"call f, (%{name});")]
    yield from in_body("special", dict.fromkeys(lines), registers=registers, before=".func f(.param .u32 a) { ret; }")


# Of the products that are large every so many is taken.
STEPS = dict.fromkeys("""prototype redeclared_variable redeclared_function signature signature_result tuning tuning_pair tuning_declared variable variable_in_body
linkage linkage_in_body initial initial_kind""".split(), 3) | dict.fromkeys("gate range initial_list initial_in_body special redeclared_mixed parameter_prototype".split(), 2)


def cases():
    seen = {}
    for part in (heads, prototypes, linkages, redeclarations, variables, initials, sizes, tunings, parameters, gates, scopes, calls, ranges, debug, aliases, specials):
        for group, line, text in part():
            seen[group] = seen.get(group, -1) + 1
            if seen[group] % STEPS.get(group, 1) == 0:
                yield group, line, text
