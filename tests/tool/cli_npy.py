#!/usr/bin/env python3
"""NumPy files of `lanewise run`, with NumPy as the second witness; headers that are damaged or hostile."""

import struct
import sys

try:
    import numpy
except ImportError:
    print("numpy is missing: nothing to compare with")
    sys.exit(77)

import cli

TYPES = {"u8": "u1", "u16": "u2", "u32": "u4", "u64": "u8", "s8": "i1", "s16": "i2", "s32": "i4", "s64": "i8",
         "b8": "u1", "b16": "u2", "b32": "u4", "b64": "u8", "f16": "f2", "bf16": "u2", "f32": "f4", "f64": "f8"}
KERNEL = cli.module(cli.kernel("k", ".u64 p"))


class Npy(cli.Case):
    def setUp(self):
        super().setUp()
        self.file("k.ptx", KERNEL)
        self.path = self.folder / "x.npy"

    def runs(self, arg):
        return self.lanewise("run", "k.ptx", "--arg", arg)

    def passes(self, arg):
        self.gives(["run", "k.ptx", "--arg", arg])

    def refused(self, arg, message, code=5):
        got = self.runs(arg)
        self.assertEqual((got[0], got[1], got[2].splitlines()[0]), (code, "", f"lanewise: error[{message}"), arg)

    def raw(self, header, data=b"", version=1, length=None):
        """A file with this header, as bytes; `length` is what it claims to have."""
        header = header.encode() if isinstance(header, str) else header
        size = len(header) if length is None else length
        self.path.write_bytes(b"\x93NUMPY" + bytes([version, 0]) + struct.pack("<H" if version == 1 else "<I", size) + header + data)


class RoundTrip(Npy):
    def test_types_and_shapes(self):
        source = numpy.random.default_rng(1)
        for name, code in TYPES.items():
            for shape in ((), (0,), (1,), (7,), (2, 3), (3, 0, 2), (2, 1, 2, 1, 3), (1,) * 32):
                count = int(numpy.prod(shape))
                data = numpy.frombuffer(source.bytes(count * int(code[1])), "<" + code).reshape(shape)
                numpy.save(self.path, data)
                self.passes(f"{name}[]=@x.npy:out=y.npy:out=y.bin")
                back = numpy.load(self.folder / "y.npy")
                self.assertEqual((back.dtype, back.shape, back.tobytes()), (data.dtype, data.shape, data.tobytes()))
                self.assertEqual((self.folder / "y.bin").read_bytes(), data.tobytes())

    def test_written_without_an_input(self):
        for name, code in TYPES.items():
            self.passes(f"{name}[5]=range:out=y.npy")
            back = numpy.load(self.folder / "y.npy")
            self.assertEqual((back.dtype, back.shape), (numpy.dtype("<" + code), (5,)))
            if name != "bf16":
                self.assertEqual(back.tolist(), [0, 1, 2, 3, 4])
        self.passes("u32[0]:out=y.npy")
        self.assertEqual(numpy.load(self.folder / "y.npy").shape, (0,))
        self.passes("u32[100K]=range:out=y.npy")
        self.assertTrue((numpy.load(self.folder / "y.npy") == numpy.arange(102400, dtype="u4")).all())

    def test_values_are_printed_right(self):
        numpy.save(self.path, numpy.array([[1.5, -2], [0.1, 3e10]], "f4"))
        self.gives(["run", "k.ptx", "-a", "f32[4]=@x.npy:print"], out="arg 0 f32[4]: 1.5 -2 0.1 3e+10\n")
        numpy.save(self.path, numpy.array([True, False]))
        self.gives(["run", "k.ptx", "-a", "u8[]=@x.npy:print"], out="arg 0 u8[2]: 1 0\n")

    def test_half_precision(self):
        values = numpy.array([0.1, 1 / 3, 65504, 6e-8, -2.5], "f2")
        numpy.save(self.path, values)
        shown = self.runs("f16[]=@x.npy:print")[1].split(": ")[1].split()
        self.assertEqual([numpy.float16(v) for v in shown], list(values))
        self.passes("f16[]=0.1,0.333333333333,65504,6e-8,-2.5:out=y.npy")
        self.assertEqual(numpy.load(self.folder / "y.npy").tolist(), values.tolist())

    def test_versions(self):
        data = numpy.arange(6, dtype="u4").reshape(2, 3)
        for version in ((1, 0), (2, 0), (3, 0)):
            with open(self.path, "wb") as file:
                numpy.lib.format.write_array(file, data, version=version)
            self.gives(["run", "k.ptx", "-a", "u32[]=@x.npy:print"], out="arg 0 u32[6]: 0 1 2 3 4 5\n")

    def test_bits_take_every_kind(self):
        for code in ("u4", "i4", "f4"):
            numpy.save(self.path, numpy.array([1], code))
            self.passes("b32[]=@x.npy")

    def test_one_dimension_has_no_order(self):
        """NumPy marks arrays that are both as C order, but a file may say otherwise."""
        self.raw("{'descr': '<u2', 'fortran_order': True, 'shape': (2,), }\n", b"\1\0\2\0")
        self.gives(["run", "k.ptx", "-a", "u16[]=@x.npy:print"], out="arg 0 u16[2]: 1 2\n")

    def test_other_spellings_of_the_header(self):
        """Whatever Python's literal_eval would read alike: order, blanks, quotes, the L of Python 2."""
        for header in ('{"shape":(2,),"fortran_order":False,"descr":"<u2"}', "{'shape' : ( 2 , ) ,'descr': '<u2', 'fortran_order' :False }   \n",
                       "{'descr': '<u2', 'fortran_order': False, 'shape': (2L,), }", "{'descr': '=u2', 'fortran_order': False, 'shape': (1, 2)}"):
            self.raw(header, b"\1\0\2\0")
            self.gives(["run", "k.ptx", "-a", "u16[]=@x.npy:print"], out="arg 0 u16[2]: 1 2\n")


class Refused(Npy):
    def test_dtype(self):
        for name, code in (("u32", "i4"), ("s32", "u4"), ("f32", "u4"), ("u32", "f4"), ("u32", "u2"), ("f32", "f8"), ("bf16", "f2"),
                           ("b32", "u8"), ("s8", "?"), ("f64", "c16"), ("b64", "c8"), ("b64", "M8[s]"), ("u32", "S4"), ("b32", "U1")):
            data = numpy.zeros(2, code)
            numpy.save(self.path, data)
            self.refused(f"{name}[]=@x.npy", f"LW6032]: 'x.npy' has dtype {data.dtype.str}, which is not {name}")

    def test_big_endian(self):
        numpy.save(self.path, numpy.zeros(2, ">u4"))
        self.refused("u32[]=@x.npy", "LW6033]: 'x.npy' has dtype >u4, which is big-endian")

    def test_fortran_order(self):
        numpy.save(self.path, numpy.zeros((2, 3), "u4", order="F"))
        self.refused("u32[]=@x.npy", "LW6031]: 'x.npy' holds its array in Fortran order")

    def test_structured_and_objects(self):
        numpy.save(self.path, numpy.zeros(2, [("a", "u4"), ("b", "u4")]))
        self.refused("u32[]=@x.npy", "LW6030]: 'x.npy' is no NumPy file that can be read: structured arrays are not supported")
        numpy.save(self.path, numpy.array([None]), allow_pickle=True)
        self.refused("b64[]=@x.npy", "LW6032]: 'x.npy' has dtype |O, which is not b64")

    def test_count(self):
        numpy.save(self.path, numpy.zeros((2, 3), "u4"))
        self.refused("u32[5]=@x.npy", "LW6014]: argument 0: the file gives 6 elements, not the 5 that are asked for")
        self.passes("u32[6]=@x.npy")

    def test_data_size(self):
        numpy.save(self.path, numpy.zeros(3, "u4"))
        whole = self.path.read_bytes()
        for cut, have in ((whole[:-1], 11), (whole[:-12], 0), (whole + b"x", 13)):
            self.path.write_bytes(cut)
            self.refused("u32[]=@x.npy", f"LW6034]: 'x.npy' should have 12 bytes of data behind its header, and has {have}")

    def bad(self, why):
        self.refused("u32[]=@x.npy", f"LW6030]: 'x.npy' is no NumPy file that can be read: {why}")

    def test_every_truncation(self):
        """Cut anywhere in the header, it is refused with a message and nothing else."""
        numpy.save(self.path, numpy.zeros(3, "u4"))
        whole = self.path.read_bytes()
        for size in list(range(0, 12)) + [20, 60, 127]:
            self.path.write_bytes(whole[:size])
            self.bad("it does not begin with NumPy's signature" if size < 8 else "it ends within the header")

    def test_signature(self):
        for start in (b"", b"\x93NUMPX\1\0", b"PK\3\4" + bytes(20), b"\x93numpy\1\0" + bytes(20)):
            self.path.write_bytes(start)
            self.bad("it does not begin with NumPy's signature")
        for version in (b"\0\0", b"\4\0", b"\1\1", b"\xff\xff"):
            self.path.write_bytes(b"\x93NUMPY" + version + bytes(64))
            self.bad("its format version is not 1.0, 2.0 or 3.0")

    def test_lengths(self):
        self.raw("{}", length=0xffff)
        self.bad("it ends within the header")
        self.raw("{}", version=2, length=0xffffffff)
        self.bad("it ends within the header")
        self.raw("", length=0)
        self.bad("the header is not a dictionary")

    def test_headers(self):
        good = "{'descr': '<u4', 'fortran_order': False, 'shape': (3,), }"
        lacks = "the header lacks descr, fortran_order or shape"
        for header, why in (
                ("", "the header is not a dictionary"),
                ("[]", "the header is not a dictionary"),
                ("{}", lacks),
                ("{", "the header has no string where one must stand"),
                (good[:-1], "the header has no string where one must stand"),
                (good + "x", "something follows the dictionary of the header"),
                (good + "\0", "something follows the dictionary of the header"),
                ("{'descr': '<u4', 'fortran_order': False}", lacks),
                ("{'descr': '<u4', 'shape': (3,)}", lacks),
                ("{'fortran_order': False, 'shape': (3,)}", lacks),
                ("{'descr': '<u4', 'descr': '<u4', 'fortran_order': False, 'shape': (3,)}", "the header has a key twice"),
                ("{'extra': 1, 'descr': '<u4'}", "the header has a key that does not belong there"),
                ("{'a key that is much too long': 1}", "a string of the header is too long"),
                ("{'descr' '<u4'}", "the header lacks a colon"),
                ("{'descr", "a string of the header does not end"),
                ("{'descr': '<u4\n'}", "a string of the header holds a character that does not belong there"),
                ("{'descr': '\\x3cu4'}", "a string of the header holds a character that does not belong there"),
                ("{'descr': 4}", "the header has no string where one must stand"),
                ("{'descr': '" + "<" * 40 + "'}", "a string of the header is too long"),
                ("{'descr': [('a', '<u4')], 'shape': (3,)}", "structured arrays are not supported"),
                ("{'fortran_order': 0}", "fortran_order is neither True nor False"),
                ("{'fortran_order': true}", "fortran_order is neither True nor False"),
                ("{'shape': 3}", "the shape is not a tuple"),
                ("{'shape': (3)}", "the shape is not a tuple"),
                ("{'shape': [3]}", "the shape is not a tuple"),
                ("{'shape': (-1,)}", "the shape holds something that is not a number"),
                ("{'shape': (,)}", "the shape holds something that is not a number"),
                ("{'shape': (1.5,)}", "the shape is not a tuple"),
                ("{'shape': (1, 2}", "the shape does not end"),
                ("{'shape': (1, 2", "the shape does not end"),
                ("{'shape': (1,", "the shape holds something that is not a number"),
                ("{'shape': (281474976710657,)}", "the shape is too large"),
                ("{'shape': (18446744073709551616,)}", "the shape is too large"),
                ("{'shape': (4294967296, 4294967296)}", "the shape is too large"),
                ("{'shape': (4294967296, 0, 4294967296, 4294967296, 4294967296)}", lacks),
                ("{'shape': (" + "1, " * 33 + ")}", "the shape has too many dimensions"),
                ("{'descr': '<u4' 'shape': (3,)}", "the dictionary of the header does not end")):
            self.raw(header, bytes(12))
            self.bad(why)

    def test_odd_dtypes(self):
        for dtype in ("", "<", "<u", "u4", "<u4x", "<u99", "<u4294967300", "<u-4", "< u4", "*u4", "<u 4", "<u+4", "<u04"):
            self.raw(f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': (3,), }}", bytes(12))
            self.refused("u32[]=@x.npy", f"LW6032]: 'x.npy' has dtype {dtype}, which is not u32")

    def test_random_damage(self):
        """Bytes changed at random end in a message or in a run, never in a crash."""
        numpy.save(self.path, numpy.zeros((2, 3), "u4"))
        whole = self.path.read_bytes()
        source = numpy.random.default_rng(2)
        for _ in range(150):
            damaged = bytearray(whole)
            for _ in range(int(source.integers(1, 4))):
                damaged[int(source.integers(0, 80))] = int(source.integers(0, 256))
            self.path.write_bytes(damaged)
            code, out, err = self.runs("u32[]=@x.npy")
            self.assertIn(code, (0, 5), err)
            self.assertEqual(code == 0, err == "")


if __name__ == "__main__":
    cli.main()
