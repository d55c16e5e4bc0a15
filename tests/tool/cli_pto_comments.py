#!/usr/bin/env python3
"""Comments of PTO text in `lanewise format`: each stays, in its order, in front of or behind what it belongs to, and changes nothing else."""

import random
import re

import cli

V, M = "!pto.vreg<64xi32>", "!pto.mask<b32>"
TEXT = f"""// file
#map = affine_map<(d0) -> (d0)> // the map

// module
module @m attributes {{note = "no // comment"}} {{ // opened
  // function
  func.func @f(%a: {V}, // first argument
               %m: {M}) -> {V} {{ // body
    // shift
    %r = pto.vshr %a, %a, // inside
      %m : {V}, {V}, {M} -> {V} loc("a//b":1:2) // behind
    scf.if %t {{ // then
      // empty
    }} else {{ // other
      vshr %a, %a, %a, %m : {V} //
    }} {{n = 1}} // if
    // last
  }} // end of f
  // end of m
}}
// end
""".replace(") -> " + V + " {", f", %t: i1) {{")
WANT = f"""// file
#map = affine_map<(d0) -> (d0)> // the map

// module
module @m attributes {{note = "no // comment"}} {{ // opened
  // function
  // first argument
  func.func @f(%a: {V}, %m: {M}, %t: i1) {{ // body
    // shift
    // inside
    %r = pto.vshr %a, %a, %m : ({V}, {V}, {M}) -> {V} loc("a//b":1:2) // behind
    scf.if %t {{ // then
      // empty
    }} else {{ // other
      vshr %a, %a, %a, %m : {V} //
    }} {{n = 1}} // if
    // last
    return
  }} // end of f
  // end of m
}}
// end
"""


def comments(text):
    return re.findall(r"//.*?(?=\s*$)", re.sub(r'"[^"\n]*"', "", text), re.M)


class Comments(cli.Case):
    def test_places(self):
        self.gives(["format", "--language", "pto", "-"], stdin=TEXT, out=WANT)
        self.gives(["format", "--language", "pto", "-"], stdin=WANT, out=WANT)

    def test_odd_ends(self):
        function = "func.func @f() {\n  return\n}"
        for text, want in (("// alone", "// alone\n"), (f"{function} // no end of line", f"{function} // no end of line\n"), (f"// a \r\n{function}\r\n", f"// a\n{function}\n"),
                           (f"{function}\n//", f"{function}\n//\n"), ("func.func @f() { return } // all", "func.func @f() { // all\n  return\n}\n")):
            self.gives(["format", "--language", "pto", "-"], stdin=text, out=want)

    def test_everywhere(self):
        """Put between words of the texts of the other tests, they come out as they went in, and the rest as it would without them."""
        chance = random.Random(1)
        for path in sorted((cli.ROOT / "tests/pto").rglob("accept_*.pto")):
            bare = self.lanewise("format", str(path))[1]
            lines = [line for line in bare.splitlines() if not line.lstrip().startswith("//")]
            plain = "\n".join(re.sub(r" // .*", "", line) for line in lines) + "\n"
            plain = self.lanewise("format", "--language", "pto", "-", stdin=plain)[1]
            for _ in range(3):
                made, count = [], 0
                for line in plain.splitlines():
                    while not chance.randrange(4):
                        made.append(f"{' ' * chance.randrange(4)}// {count} own \"line")
                        count += 1
                    if '"' not in line and line.lstrip().startswith("%") and not chance.randrange(3):
                        line = line.replace(", ", f", // {count} inside\n", 1)
                        count += line.count("// ")
                    if not chance.randrange(4):
                        line += f" // {count} behind"
                        count += 1
                    made.append(line)
                text = "\n".join(made) + "\n"
                code, out, err = self.lanewise("format", "--language", "pto", "-", stdin=text)
                self.assertEqual((code, err), (0, ""), text)
                self.assertEqual(comments(out), comments(text), path)
                self.gives(["format", "--language", "pto", "-"], stdin=out, out=out)
                rest = "\n".join(re.sub(r" // \d+ (inside|behind)$", "", line) for line in out.splitlines() if not line.lstrip().startswith("//")) + "\n"
                self.assertEqual(rest, plain, path)


if __name__ == "__main__":
    cli.main()
