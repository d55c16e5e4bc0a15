#!/usr/bin/env python3
"""Textures and surfaces as arguments of `lanewise run`. The second witness is arithmetic on numbers that are exact: point
lookups are the array's elements, and linear ones between texels of small integers are their weighted mean."""

import struct
import zlib

import cli

HEADER = "{{'descr': '{}', 'fortran_order': False, 'shape': {}, }}"
LOOK = """.reg .u64 %rd<4>; .reg .u32 %r<4>; .reg .f32 %f<8>;
    ld.param.u64 %rd1, [t];
    ld.param.u64 %rd2, [out];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, %tid.y;
    cvt.rn.f32.u32 %f1, %r1;
    cvt.rn.f32.u32 %f2, %r2;
    fma.rn.f32 %f1, %f1, 0f3F000000, 0f3F000000; // 1/2, 1, 3/2 ...
    add.f32 %f2, %f2, 0f3F000000;
    LOOKUP
    mad.lo.u32 %r3, %r2, 4, %r1;
    mad.wide.u32 %rd3, %r3, 16, %rd2;
    st.global.v4.FORMAT [%rd3], {%f3, %f4, %f5, %f6};
    ret;"""
TEX = "tex.2d.v4.f32.f32 {%f3, %f4, %f5, %f6}, [%rd1, {%f1, %f2}];"
BODY = LOOK.replace("FORMAT", "f32")
STORE = """.reg .u64 %rd<2>; .reg .u32 %r<4>;
    ld.param.u64 %rd1, [s];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, %tid.y;
    suld.b.2d.b8.trap %r3, [%rd1, {%r1, %r2}];
    add.u32 %r3, %r3, %r1;
    sust.b.2d.b8.trap [%rd1, {%r1, %r2}], %r3;
    ret;"""
BLEND = "surf2d=u8[2,3]=10,20,30,40,50,60"
TEXT = cli.module(
    ".global .texref tex;\n.global .surfref surf;",
    cli.kernel("look", ".u64 t", ".u64 out", body=BODY.replace("LOOKUP", TEX)),
    cli.kernel("bound", ".u64 t", ".u64 out", body=BODY.replace("LOOKUP", TEX.replace("%rd1", "tex"))),
    cli.kernel("store", ".u64 s", body=STORE),
    cli.kernel("narrow", ".u16 s"))


def floats(line):
    return [float(word) for word in line.split(":")[1].split()]


class Image(cli.Case):
    def setUp(self):
        super().setUp()
        self.file("k.ptx", TEXT)

    def npy(self, dtype, shape, data):
        header = HEADER.format(dtype, shape).encode()
        return self.file("x.npy", b"\x93NUMPY\1\0" + struct.pack("<H", len(header)) + header + data)

    def look(self, image, block="4,1", *, bound=False):
        count = 16 * int(block.split(",")[1])
        first = ["-a", "u64=0", "--texture", f"tex={image}"] if bound else ["-a", image]
        name = "bound" if bound else "look"
        got = self.lanewise("run", "k.ptx", "-k", name, "-b", block, *first, "-a", f"f32[{count}]:print")
        self.assertEqual((got[0], got[2]), (0, ""), image)
        return floats(got[1])[::4]

    def refused(self, message, marked, *args, code=2, kernel="look"):
        got = self.lanewise("run", "k.ptx", "-k", kernel, *args)
        lines = got[2].splitlines()
        self.assertEqual((got[0], got[1], lines[0]), (code, "", f"lanewise: error[{message}"), args)
        if marked:
            self.assertEqual(lines[1][len(lines[2]) - len(lines[2].lstrip()):len(lines[2])], marked)


class Textures(Image):
    def test_filters(self):
        self.assertEqual(self.look("tex2d=f32[1,4]=0,1,2,3"), [0, 1, 1, 2])
        self.assertEqual(self.look("tex2d=f32[1,4]=0,1,2,3:linear"), [0, 0.5, 1, 1.5])
        self.assertEqual(self.look("tex2d=f32[1,4]=range:0:1:linear"), [0, 0.5, 1, 1.5])
        self.assertEqual(self.look("tex2d=f32[1,4]=range:0:1:linear", bound=True), [0, 0.5, 1, 1.5])

    def test_addresses(self):
        """Normalised, 1/2, 1, 3/2 and 2 of an image of two texels: 0, the next one's first, then from the beginning."""
        for option, want in (("wrap", [7, 5, 7, 5]), ("clamp", [7, 7, 7, 7]), ("mirror", [7, 7, 5, 5]), ("border", [7, 0, 0, 0]),
                             ("border=2.5", [7, 2.5, 2.5, 2.5]), ("border=3/0/0/1", [7, 3, 3, 3]), ("x=wrap,y=clamp", [7, 5, 7, 5])):
            self.assertEqual(self.look(f"tex2d=f32[1,2]=5,7:normalized,{option}"), want, option)

    def test_read_as_floats(self):
        self.assertEqual(self.look("tex2d=u8[1,4]=0,255,51,0:float"), [0, 1, 1, 0.2])

    def test_npy(self):
        """Rows are the first dimension; where there are channels, they are the last."""
        self.npy("<f4", "(2, 3)", struct.pack("<6f", *range(6)))
        self.assertEqual(self.look("tex2d=@x.npy", "4,2"), [0, 1, 1, 2, 3, 4, 4, 5])
        self.npy("<f4", "(3, 2, 2)", struct.pack("<12f", *range(12)))
        self.assertEqual(self.look("tex2d=@x.npy", "4,2"), [0, 2, 2, 2, 4, 6, 6, 6])
        self.file("x.bin", struct.pack("<6f", *range(6)))
        self.assertEqual(self.look("tex2d=f32[2,3]=@x.bin:linear", "4,2"), [0, 0.5, 1, 1.5, 3, 3.5, 4, 4.5])


# At (x + 1/2) / 4 and 1/2 of level y / 2: rows of four are level by level.
MIPMAP = """.reg .u64 %rd<4>; .reg .u32 %r<4>; .reg .f32 %f<8>;
    ld.param.u64 %rd1, [t];
    ld.param.u64 %rd2, [out];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, %tid.y;
    cvt.rn.f32.u32 %f1, %r1;
    fma.rn.f32 %f1, %f1, 0f3E800000, 0f3E000000;
    cvt.rn.f32.u32 %f2, %r2;
    mul.f32 %f2, %f2, 0f3F000000;
    LOOKUP
    mad.lo.u32 %r3, %r2, 4, %r1;
    mad.wide.u32 %rd3, %r3, 4, %rd2;
    st.global.f32 [%rd3], %f3;
    ret;"""
LEVEL = "tex.level.2d.v4.f32.f32 {%f3, %f4, %f5, %f6}, [%rd1, {%f1, 0f3F000000}], %f2;"


class Mipmaps(Image):
    def levels(self, image, rows, lookup=LEVEL):
        self.file("m.ptx", cli.module(cli.kernel("k", ".u64 t", ".u64 out", body=MIPMAP.replace("LOOKUP", lookup))))
        got = self.lanewise("run", "m.ptx", "-b", f"4,{rows}", "-a", image, "-a", f"f32[{4 * rows}]:print")
        self.assertEqual((got[0], got[2]), (0, ""), image)
        values = floats(got[1])
        return [values[4 * i:4 * i + 4] for i in range(rows)]

    def test_levels(self):
        """Rows of 0 1 2 3 and 10 11 12 13: their means, and those of these."""
        first, second, third = [10, 11, 12, 13], [5.5, 5.5, 7.5, 7.5], [6.5] * 4
        image = "tex2d=f32[2,4]=0,1,2,3,10,11,12,13:normalized,"
        self.assertEqual(self.levels(image + "levels=full", 7)[::2], [first, second, third, third])
        self.assertEqual(self.levels(image + "levels=2", 5)[::2], [first, second, second])
        self.assertEqual(self.levels(image + "levels=1", 3)[::2], [first, first])
        half = [(a + b) / 2 for a, b in zip(first, second)]
        self.assertEqual(self.levels(image + "levels=full,mip=linear", 2), [first, half])
        self.assertEqual(self.levels(image + "levels=full,mip=point", 2), [first, second])

    def test_formats(self):
        """Halves go up, also those of negative numbers; the third column of three is in no other level."""
        for image, want in (("u8[2,2]=1,2,2,1:float", 2 / 255), ("s8[2,2]=-1,-2,-2,-1:float", -1 / 127), ("u16[1,3]=7,10,900:float", 9 / 65535),
                            ("f16[2,2]=1,2,3,4", 2.5)):
            row, = self.levels(f"tex2d={image}{',' if ':' in image else ':'}normalized,levels=2", 3)[2:]
            self.assertEqual(struct.pack("4f", *row), struct.pack("4f", *[want] * 4), image)
        slices = LEVEL.replace("2d", "3d").replace("0f3F000000}", "0f3F000000, 0f3F000000, 0f3F000000}")
        self.assertEqual(self.levels("tex3d=f32[2,1,2]=1,2,5,8:normalized,levels=2", 3, slices)[2], [4] * 4)
        layers = LEVEL.replace("2d", "a2d").replace("{%f1", "{%r2, %f1").replace("0f3F000000}", "0f3F000000, 0f3F000000}")
        self.assertEqual(self.levels("tex2darray=f32[3,1,2]=1,2,3,4,5,8:normalized,levels=2", 3, layers)[2], [6.5] * 4)

    def test_sampler(self):
        text = cli.module(".global .samplerref s;", cli.kernel("k", ".u64 t", ".u64 out", body=BODY.replace(
            "LOOKUP", TEX.replace("%rd1,", "%rd1, s,"))), cli.kernel("p", ".u64 t", ".u64 out", ".u64 s", body=BODY.replace(
                "LOOKUP", "ld.param.u64 %rd3, [s];\n" + TEX.replace("%rd1,", "%rd1, %rd3,"))))
        self.file("k.ptx", text.replace("sm_70", "sm_70, texmode_independent"))
        for sampler, want in (("linear", [0, 0.5, 1, 1.5]), ("point", [0, 1, 1, 2]), ("normalized,wrap", [2, 0, 2, 0])):
            out, image = "f32[16]:print", "tex2d=f32[1,4]=0,1,2,3"
            for args in (["-k", "k", "-a", image, "-a", out, "--texture", f"s=sampler={sampler}"],
                         ["-k", "p", "-a", image, "-a", out, "-a", f"sampler={sampler}"]):
                got = self.lanewise("run", "k.ptx", "-b", "4", *args)
                self.assertEqual((got[0], got[2], floats(got[1])[::4]), (0, "", want), args)


class Surfaces(Image):
    WANT = [10, 21, 32, 40, 51, 62]

    def test_outputs(self):
        shown = "arg 0 u8[6]: " + " ".join(map(str, self.WANT)) + "\n"
        self.gives(["run", "k.ptx", "-k", "store", "-b", "3,2", "-a", BLEND + ":print:out=y.npy:out=y.bin"], out=shown)
        self.assertEqual((self.folder / "y.bin").read_bytes(), bytes(self.WANT))
        made = (self.folder / "y.npy").read_bytes()
        self.assertIn(b"'|u1', 'fortran_order': False, 'shape': (2, 3), }", made)
        self.assertEqual(made[-6:], bytes(self.WANT))

    def test_file(self):
        """What is printed has the type of the file."""
        self.npy("<i2", "(1, 2, 2)", struct.pack("<4h", -1, 2, -3, 4))
        self.file("k.ptx", cli.module(cli.kernel("k", ".u64 s")))
        self.gives(["run", "k.ptx", "-a", "surf2d=@x.npy:print:print=hex"],
                   out="arg 0 s16[4]: -1 2 -3 4\narg 0 s16[4]: 0xffff 0x0002 0xfffd 0x0004\n")

    def test_reference(self):
        text = TEXT.replace("[%rd1, {%r1, %r2}]", "[surf, {%r1, %r2}]")
        self.file("k.ptx", text)
        self.gives(["run", "k.ptx", "-k", "store", "-b", "3,2", "-a", "u64=0", "--texture", "surf=" + BLEND + ":print"],
                   out="arg 1 u8[6]: " + " ".join(map(str, self.WANT)) + "\n")


def chunk(name, data):
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def png(width, height, depth, colour, rows):
    """A file of rows without filters."""
    head = struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, 0)
    lines = b"".join(b"\0" + row for row in rows)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(lines)) + chunk(b"IEND", b"")


def paeth(a, b, c):
    nearest = min((abs(b - c), 0), (abs(a - c), 1), (abs(a + b - 2 * c), 2))[1]
    return (a, b, c)[nearest]


def unpng(data, step):
    """The pixels' bytes of a PNG file whose pixels have so many, by the specification's filters."""
    at, packed = 8, b""
    while at < len(data):
        size, = struct.unpack_from(">I", data, at)
        name, body = data[at + 4:at + 8], data[at + 8:at + 8 + size]
        if name == b"IHDR":
            width, height, depth, colour = struct.unpack_from(">IIBB", body)
        packed += body if name == b"IDAT" else b""
        at += size + 12
    lines, above, pixels = zlib.decompress(packed), bytes(width * step), b""
    for y in range(height):
        line = lines[y * (width * step + 1):(y + 1) * (width * step + 1)]
        row = bytearray()
        for x, byte in enumerate(line[1:]):
            left, corner = (row[x - step], above[x - step]) if x >= step else (0, 0)
            row.append((byte + (0, left, above[x], (left + above[x]) // 2, paeth(left, above[x], corner))[line[0]]) & 255)
        above = bytes(row)
        pixels += above
    return (width, height, depth, colour), pixels


class Pictures(Image):
    ROUND = ["run", "k.ptx", "-k", "nothing", "-a"]

    def setUp(self):
        super().setUp()
        self.file("k.ptx", TEXT + cli.kernel("nothing", ".u64 s"))
        self.file("probe.png", png(1, 1, 8, 0, [b"\7"]))
        if "no libpng" in self.lanewise(*self.ROUND, "surf2d=@probe.png")[2]:
            self.skipTest("the build has no libpng")

    def test_read(self):
        """Grey, 16 bits, RGB with its fourth channel, and a palette, whose colours come instead."""
        for depth, colour, rows, more, want in (
                (8, 0, [b"\1\2", b"\3\4"], b"", "u8[4]: 1 2 3 4"), (16, 0, [b"\1\2\3\4"] * 2, b"", "u16[4]: 258 772 258 772"),
                (8, 2, [b"\1\2\3\4\5\6"] * 2, b"", "u8[16]: 1 2 3 255 4 5 6 255 1 2 3 255 4 5 6 255"),
                (1, 3, [b"\x40", b"\x80"], chunk(b"PLTE", b"\1\2\3\7\x08\x09"), "u8[16]: 1 2 3 255 7 8 9 255 7 8 9 255 1 2 3 255")):
            data = png(2, 2, depth, colour, rows)
            self.file("x.png", data[:33] + more + data[33:])
            self.gives([*self.ROUND, "surf2d=@x.png:print"], out=f"arg 0 {want}\n")

    def test_written(self):
        for shape, type, step, head in (("5,7", "u8", 1, (7, 5, 8, 0)), ("5,7,2", "u8", 2, (7, 5, 8, 4)), ("5,7,3", "u8", 3, (7, 5, 8, 2)),
                                        ("5,7,4", "u16", 8, (7, 5, 16, 6))):
            self.gives([*self.ROUND, f"{type}[{shape}]=random:out=x.png:out=x.bin"])
            got, pixels = unpng((self.folder / "x.png").read_bytes(), step)
            raw = (self.folder / "x.bin").read_bytes()
            swapped = bytes(raw[i ^ 1] for i in range(len(raw))) if type == "u16" else raw
            self.assertEqual((got, pixels), (head, swapped))

    def test_damage(self):
        whole = png(2, 2, 8, 0, [b"\1\2", b"\3\4"])
        for size in (0, 7, 20, 33, 40, len(whole) - 1):
            self.file("x.png", whole[:size])
            got = self.lanewise(*self.ROUND, "surf2d=@x.png")
            self.assertEqual((got[0], got[1], got[2].split(":")[:2]), (5, "", ["lanewise", " error[LW6036]"]), size)
        self.file("x.png", whole[:45] + b"\x55" + whole[46:])
        self.shows([*self.ROUND, "surf2d=@x.png"], 5, err=["error[LW6036]: 'x.png' is no image that can be read: "])

    def test_pnm(self):
        self.file("x.ppm", b"P6 # two pixels\n2 1\n255\n" + bytes(range(6)))
        self.gives([*self.ROUND, "surf2d=@x.ppm:print:out=y.ppm"], out="arg 0 u8[8]: 0 1 2 255 3 4 5 255\n")
        self.assertEqual((self.folder / "y.ppm").read_bytes(), b"P6\n2 1\n255\n" + bytes(range(6)))
        self.file("x.pgm", b"P5\n1 2\n65535\n\1\2\3\4")
        self.gives([*self.ROUND, "surf2d=@x.pgm:print:out=y.pgm"], out="arg 0 u16[2]: 258 772\n")
        self.assertEqual((self.folder / "y.pgm").read_bytes(), b"P5\n1 2\n65535\n\1\2\3\4")
        for data, why in ((b"P6\n2 1\n255\n12345", "it is truncated"), (b"P6\n2 1\n255\n1234567", "something follows its pixels"),
                          (b"P3\n2 1\n255\n", "its first bytes are not P5 or P6"), (b"P6\n2 1\n99\n", "its largest value is not 255 or 65535"),
                          (b"P6\n0 1\n255\n", "it has no pixels, or too many"), (b"P6 #", "its header is not the width, the height and the largest value"),
                          (b"P6\n9999999 9999999\n255\n", "it has no pixels, or too many")):
            self.file("x.ppm", data)
            self.gives([*self.ROUND, "surf2d=@x.ppm"], 5, err=f"lanewise: error[LW6036]: 'x.ppm' is no image that can be read: {why}\n")

    def test_no_picture(self):
        for arg, why, marked in (
                ("u8[4]:out=x.png", "a picture has a shape of rows, columns and 1 to 4 channels: u8[480,640,4]", "x.png"),
                ("f32[4,4]:out=x.png", "a picture is made of elements of type u8 or u16", "x.png"),
                ("u8[4,4,5]:out=x.png", "a picture has a shape of rows, columns and 1 to 4 channels: u8[480,640,4]", "x.png"),
                ("u8[4,4,2]:out=x.ppm", "PPM and PGM have no pixels of two channels", "x.ppm"),
                ("u8[4,4]:out=x.ppm", "one channel makes a .pgm, and three or four make a .ppm", "x.ppm")):
            self.refused(f"LW6015]: argument 0: {why}", marked, "-a", arg, kernel="nothing")
        self.refused("LW6011]: argument 0: tex3d has the dimensions (slices, rows, columns, channels), the last of which may be missing, and this has 3",
                     "@probe.png", "-a", "tex3d=@probe.png", kernel="nothing", code=5)


class Refused(Image):
    def test_spelling(self):
        options = ("the options of a texture are point linear wrap clamp mirror border x= y= z= border= texels normalized element float "
                   "srgb seamless levels= mip=point mip=linear")
        for image, message, marked in (
                ("tex2d=f32[2,2]:linaer", options, "linaer"),
                ("tex2d=@x.npy:linear,", options, ""),
                ("tex2d=@x.npy:linear,point", "this was said already", "point"),
                ("tex2d=@x.npy:clamp,x=wrap", "this was said already", "x=wrap"),
                ("tex2d=@x.npy:x=up", "address modes are wrap, clamp, mirror and border", "up"),
                ("tex2d=@x.npy:border=1/2", "a border is one number, or four with / between: border=1/0/0/1", "border=1/2"),
                ("tex2d=@x.npy:levels=0", "levels are full, or a number of them from 1", "levels=0"),
                ("tex2d=@x.npy:levels=fuller", "levels are full, or a number of them from 1", "levels=fuller"),
                ("tex2d=@x.npy:levels=2,levels=full", "this was said already", "levels=full"),
                ("tex2d=f32[2,2]:levels=3", "it has fewer levels than that: each halves the extents, down to one texel", "f32[2,2]"),
                ("texlinear=f32[2]:levels=2", "it has fewer levels than that: each halves the extents, down to one texel", "f32[2]"),
                ("sampler=levels=2", "a sampler has no texels, and so no levels", "levels=2"),
                ("sampler=@x.npy", options, "@x.npy"),
                ("sampler", "a = must stand here, then options as linear,wrap", ""),
                ("tex2d", "a = must stand here, then @FILE or TYPE[SHAPE]", ""),
                ("tex2d=@", "the name of a file must follow the @", "@"),
                ("tex2d=f32[]=1,2", "an image needs a shape: u8[480,640,4] has rows, columns, channels", "f32[]"),
                ("surf2d=f32[2,2]:linear", "a surface has no options, as it is not sampled", ":linear")):
            self.refused(f"LW6011]: argument 0: {message}", marked, "-a", image, "-a", "u64=0")
        self.refused("LW6015]: argument 0: a texture has no output; only surfaces and buffers do", ":out=y.npy", "-a", "tex2d=f32[2,2]:out=y.npy")

    def test_shapes(self):
        for image, message in (
                ("tex3d=f32[2]", "tex3d has the dimensions (slices, rows, columns, channels), the last of which may be missing, and this has 1"),
                ("tex2d=f32[2,2,2,1]", "tex2d has the dimensions (rows, columns, channels), the last of which may be missing, and this has 4"),
                ("tex2d=f32[2,2,3]", "texels have 1, 2 or 4 channels"), ("tex2d=f64[2,2]", "texels are of type u8 s8 u16 s16 u32 s32 f16 or f32"),
                ("tex2d=f32[2,3000000000]", "an image has at most 2147483647 texels in each dimension"),
                ("tex2d=f32[0,2]", "an image has at least one texel"),
                ("texcube=f32[6,2,3]", "there is no image of this shape; a cube is square and has 6 layers")):
            self.refused(f"LW6011]: argument 0: {message}", image.split("=")[1].split(":")[0], "-a", image, "-a", "f32[64]")

    def test_files(self):
        self.refused("LW6000]: cannot read 'no.npy': No such file or directory", "", "-a", "tex2d=@no.npy", "-a", "u64=0", code=5)
        self.npy("<f8", "(2, 2)", bytes(32))
        self.refused("LW6032]: 'x.npy' has dtype <f8, which is not a type of texels", "", "-a", "tex2d=@x.npy", "-a", "u64=0", code=5)
        self.npy(">f4", "(2, 2)", bytes(16))
        self.refused("LW6033]: 'x.npy' has dtype >f4, which is big-endian", "", "-a", "tex2d=@x.npy", "-a", "u64=0", code=5)
        self.npy("<f4", "(2, 2)", bytes(15))
        self.refused("LW6034]: 'x.npy' should have 16 bytes of data behind its header, and has 15", "", "-a", "tex2d=@x.npy", "-a", "u64=0", code=5)
        self.file("x.jpg", b"")
        self.refused("LW6036]: 'x.jpg' is no image that can be read: its name ends in none of .npy .png .ppm .pgm, and raw texels need TYPE[SHAPE]=@FILE", "",
                     "-a", "tex2d=@x.jpg", "-a", "u64=0", code=5)

    def test_places(self):
        self.refused("LW6011]: argument 0: its parameter cannot hold a handle, which has 64 bits", "tex2d", "-a", "tex2d=f32[2,2]", kernel="narrow")
        both = ("-a", "u64=0", "-a", "f32[64]")
        self.refused("LW6011]: argument 2: the module has no such variable", "f32[2,2]", *both, "--texture", "tux=tex2d=f32[2,2]")
        self.refused("LW6011]: argument 2: the variable is of another kind", "f32[2,2]", *both, "--texture", "surf=tex2d=f32[2,2]")
        self.refused("LW6011]: argument 2: the variable is of another kind", "linear", *both, "--texture", "tex=sampler=linear")
        self.refused("LW6015]: argument 2: a texture has no output; only surfaces and buffers do", ":print", *both, "--texture",
                     "tex=sampler=linear:print")
        for wrong, why in (("tex", "this is written NAME=IMAGE"), ("tex=f32[2]", "no texture, sampler or surface, as tex2d=@FILE, follows the name")):
            self.refused(f"LW6003]: --texture '{wrong}': {why}", "", *both, "--texture", wrong)


if __name__ == "__main__":
    cli.main()
