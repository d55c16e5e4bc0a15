#!/usr/bin/env python3
"""`lanewise lut`: all 256 tables both ways, and a brute force that knows how few operators each needs."""

import re

import cli

A, B, C = 0xf0, 0xcc, 0xaa


def fewest():
    """Operators that each table needs: all sets of tables that n operators reach, from n = 0 on."""
    need = {A: 0, B: 0, C: 0, 0: 0, 255: 0}
    level = [set(need)]
    while len(need) < 256:
        n = len(level)
        new = {~x & 255 for x in level[n - 1]}
        for i in range(n):
            for x in level[i]:
                for y in level[n - 1 - i]:
                    new |= {x & y, x | y, x ^ y}
        level.append({x for x in new if x not in need})
        need.update((x, n) for x in level[n])
    return need


def value(expression):
    """Python's operators have the precedence of C's here."""
    return eval(expression.replace("!", "~"), {"__builtins__": {}}, {"a": A, "b": B, "c": C}) & 255


class Lut(cli.Case):
    def test_all_tables(self):
        """Each table gives an expression that gives the table, by Python's word too, with no more operators than it needs."""
        code, out, err = self.lanewise("lut", *(f"0x{i:02x}" for i in range(256)))
        self.assertEqual((code, err), (0, ""))
        expressions = out.splitlines()
        need = fewest()
        for table, text in enumerate(expressions):
            self.assertEqual(value(re.sub(r"\b1\b", "255", text)), table, text)
            self.assertEqual(len(re.findall(r"[~&|^]", text)), need[table], text)
        self.gives(["lut", *expressions], out="".join(f"0x{i:02x}\n" for i in range(256)))
        self.assertEqual(self.lanewise("lut", *(f"0x{i:02x}" for i in range(256)))[1], out)
        self.assertGreater(max(need.values()), 4)

    def test_expressions(self):
        for text in ("(a & b | c) ^ a", "a", "~a", "!a", "a & b", "a|b&c", "a^b|c", "~a&b^c", "!!a", "~(a|b)&c", "((a))", " a ^\tb ",
                     "a & b & c", "a & b & ~c", "a | b | c", "~(a ^ b) & (b | c & ~a)"):
            self.gives(["lut", text], out=f"0x{value(text):02x}\n")
        self.gives(["lut", "(a & b | c) ^ a"], out="0x1a\n")
        self.gives(["lut", "0", "1", "0 | a & 1"], out="0x00\n0xff\n0xf0\n")

    def test_numbers(self):
        self.gives(["lut", "0x80", "128", "0b10000000", "0x0", "0xff"], out="a & b & c\na & b & c\na & b & c\n0\n1\n")

    def test_table(self):
        rows = "".join(f"  {i >> 2} {i >> 1 & 1} {i & 1}  {0x1a >> i & 1}\n" for i in range(8))
        self.gives(["lut", "--table", "(a & b | c) ^ a"], out="0x1a\n  a b c  result\n" + rows)
        self.assertTrue(self.lanewise("lut", "-t", "0x1a")[1].endswith(rows))

    def test_faults(self):
        for text, column, why in (
                ("a &", 3, "ends too early"), ("a & d", 4, "the names are a, b and c"), ("a b", 2, "an operator is expected"),
                ("(a | b", 6, "a ')' is missing"), ("a)", 1, "closes nothing"), ("", 0, "ends too early"), ("& a", 0, "is expected here"),
                ("ab", 0, "the names are"), ("a && b", 3, "is expected here"), ("(a b)", 3, "an operator or ')'"), ("a + b", 2, "an operator"),
                ("a & 2", 4, "the names are"), ("256", 0, "from 0 to 255"), ("0x1ff", 0, "from 0 to 255"), ("0xg", 0, "the names are"),
                ("1a", 1, "from 0 to 255"), ("()", 1, "is expected here")):
            code, out, err = self.lanewise("lut", text)
            self.assertEqual((code, out), (2, ""), text)
            self.assertIn("lanewise: error[LW6055]: ", err)
            self.assertIn(why, err.splitlines()[0], text)
            self.assertEqual(err.splitlines()[2], " " * (4 + column) + "^", err)
        self.shows(["lut", "(" * 100000], 2, err=["too deep"])
        self.shows(["lut", "(" * 150 + "a" + ")" * 150], 0)
        self.shows(["lut", "é & a"], 2, err=["LW6055"])
        self.shows(["lut"], 2, err=["is needed"])


if __name__ == "__main__":
    cli.main()
