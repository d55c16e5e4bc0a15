#!/usr/bin/env python3
"""linkers.py FOLDER PTXAS [TOOLKIT]: libnvJitLink.so in FOLDER, beside our libcuda.so.1, and lanewise-ptxas: results, logs, and that our
driver loads what they make. Where the toolkit's own are in TOOLKIT, they give the same results."""

import ctypes
import pathlib
import subprocess
import sys
import tempfile

HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"
CALLED = HEAD + ".visible .func f()\n{\nret;\n}\n"
CALLER = HEAD + ".extern .func f();\n.visible .entry k()\n{\ncall f;\nret;\n}\n"
ALONE = HEAD + ".visible .entry k()\n{\nret;\n}\n"
WRONG = HEAD + ".visible .entry k()\n{\nfrobnicate;\n}\n"
CUBIN, PTX, LTOIR, FATBIN, LIBRARY, ANY = 1, 2, 3, 4, 6, 10
IMAGES = pathlib.Path(__file__).parent / "images"
faults = []


def expect(is_so, *what):
    if not is_so:
        faults.append(" ".join(str(part) for part in what))


class Link:
    """A link through a library whose entries have the version of some header."""

    def __init__(self, library, *options, version="13_0"):
        self.library, self.version, self.handle = library, version, ctypes.c_void_p()
        given = (ctypes.c_char_p * max(len(options), 1))(*[option.encode() for option in options])
        self.made = self.call("Create", ctypes.byref(self.handle), len(options), given)

    def call(self, name, *arguments):
        return getattr(self.library, f"__nvJitLink{name}_{self.version}")(*arguments)

    def add(self, kind, data, name=b"input"):
        data = data.encode() if isinstance(data, str) else data
        return self.call("AddData", self.handle, kind, data, ctypes.c_size_t(len(data)), name)

    def complete(self):
        return self.call("Complete", self.handle)

    def text(self, what, get):
        size = ctypes.c_size_t()
        result = self.call(f"Get{what}Size", self.handle, ctypes.byref(size))
        buffer = ctypes.create_string_buffer(size.value + 1)
        return result or self.call(f"Get{get}", self.handle, buffer) or buffer.raw[:size.value]

    def log(self):
        return self.text("ErrorLog", "ErrorLog").rstrip(b"\0").decode()

    def end(self):
        return self.call("Destroy", ctypes.byref(self.handle)), self.handle.value


def results(library):
    """What calls return that do not depend on whether PTX or machine code comes out."""
    options = [["-arch=sm_90"], ["-arch=sm_85"], [], ["-arch=sm_90", "-frob"], ["-arch", "sm_90"], ["-arch=compute_90"], ["-arch=sm_90", "-ptx"],
               ["-arch=sm_90", "-lto", "-O3", "-g", "-lineinfo", "-maxrregcount=64", "-time", "-split-compile=0", "-kernels-used=k"],
               ["-arch=sm_90", "-ftz=1", "-prec-div=0", "-prec-sqrt=0", "-fma=1", "-no-cache", "-Xptxas=-v"], ["-arch=sm_90a"]]
    links = [Link(library, *given) for given in options]
    found = {"options": [link.made for link in links], "ends": [link.end() for link in links]}
    good = Link(library, "-arch=sm_90")
    early = good.text("LinkedCubin", "LinkedCubin")
    found["good"] = [early, good.add(PTX, CALLED), good.add(PTX, CALLER), good.complete(), good.log(), good.complete(), good.add(PTX, CALLED)]
    undefined = Link(library, "-arch=sm_90")
    found["undefined"] = [undefined.add(PTX, CALLER), undefined.complete(), "'f'" in undefined.log()]
    wrong = Link(library, "-arch=sm_90")
    found["wrong"] = [wrong.add(PTX, WRONG), "frobnicate" in wrong.log()]
    found["beyond"] = Link(library, "-arch=sm_75").add(PTX, CALLED)
    given = Link(library, "-arch=sm_90")
    caller = CALLER.replace(".func f", ".func (.param .b64 r) f").replace("call f", ".param .b64 o;\ncall (o), f")
    found["a result that is not given"] = [given.add(PTX, caller), given.add(PTX, CALLED), given.complete()]
    types = Link(library, "-arch=sm_90")
    found["types"] = [types.add(kind, data) for kind, data in
                      ((ANY, b"\x80\x81garbage"), (ANY, CALLED), (0, CALLED), (7, CALLED), (CUBIN, CALLED), (FATBIN, CALLED), (LIBRARY, CALLED))]
    found["file"] = [types.call("AddFile", types.handle, PTX, b"there-is-no-such-file"), "there-is-no-such-file" in types.log()]
    found["containers"] = [Link(library, "-arch=sm_90").add(FATBIN, (IMAGES / "none.fatbin").read_bytes())]
    return found


def driver(folder):
    cuda = ctypes.CDLL(str(folder / "libcuda.so.1"))
    context = ctypes.c_void_p()
    expect(cuda.cuInit(0) == 0 and cuda.cuCtxCreate_v2(ctypes.byref(context), 0, 0) == 0, "there is no context")
    return cuda


def loads(cuda, image, what):
    module, function = ctypes.c_void_p(), ctypes.c_void_p()
    result = cuda.cuModuleLoadData(ctypes.byref(module), image)
    expect(result == 0 and cuda.cuModuleGetFunction(ctypes.byref(function), module, b"k") == 0, what, "cannot be loaded:", result)


def check_nvjitlink(folder, cuda, toolkit):
    for major in (12, 13):
        library = ctypes.CDLL(str(folder / f"libnvJitLink.so.{major}"))
        version = ctypes.c_uint(), ctypes.c_uint()
        expect(library.nvJitLinkVersion(ctypes.byref(version[0]), ctypes.byref(version[1])) == 0 and (version[0].value, version[1].value) == (12, 0), "version", version)
        link = Link(library, "-arch=sm_90", version="12_0")
        expect((link.made, link.add(PTX, CALLED), link.add(PTX, CALLER), link.complete()) == (0, 0, 0, 0), "nvJitLink", major, link.log())
        linked = link.text("LinkedCubin", "LinkedCubin")
        loads(cuda, linked, "what nvJitLink made")
        again = Link(library, "-arch=sm_90")
        expect((again.add(CUBIN, linked), again.complete()) == (0, 0), "nvJitLink does not take what it made:", again.log())
    for options, result in ((["-lto"], 5), ([], 18)):
        link = Link(library, "-arch=sm_90", *options)
        expect(link.add(LTOIR, b"BC\xc0\xde") == result and "LTO-IR" in link.log() and "nvcc" in link.log(), "LTO-IR", options, link.log())
    link = Link(library, "-arch=sm_90")
    expect(link.add(FATBIN, (IMAGES / "other.fatbin").read_bytes()) == 15 and "sm_120" in link.log(), "a fatbin without PTX", link.log())
    for name in ("Complete", "Destroy"):
        expect(getattr(library, "nvJitLink" + name)(None) == 10, name, "of nothing")
    ours = results(library)
    print("nvJitLink:", ours)
    if toolkit and (toolkit / "lib64/libnvJitLink.so.13").exists():
        theirs = results(ctypes.CDLL(str(toolkit / "lib64/libnvJitLink.so.13")))
        for name, value in ours.items():
            expect(theirs[name] == value, name, "is", value, "and of the toolkit's own", theirs[name])


def check_ptxas(ptxas, cuda, toolkit):
    """Command lines, their exit codes, what is written and said."""
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for name, text in (("alone", ALONE), ("wrong", WRONG), ("caller", CALLER)):
            (folder / f"{name}.ptx").write_text(text)
        (folder / "newer.ptx").write_text(ALONE.replace("8.0", "9.5"))
        lines = [
            ("--gpu-name=sm_90a -v -lineinfo alone.ptx -o elf.o", 0, True, ""), ("-arch sm_90 -O3 -m64 alone.ptx", 0, True, ""),
            ("--fmad=false -maxrregcount 32 -dlcm=ca -arch=sm_80 --opt-level 2 alone.ptx -w", 0, True, ""),
            ("-arch=compute_90 alone.ptx", 0, False, ""), ("-arch=sm_90 wrong.ptx", 255, False, "ptxas wrong.ptx, line 6; error   : "),
            ("alone.ptx", 255, False, "ptxas "), ("-arch=sm_85 alone.ptx", 255, False, "ptxas fatal   : Value 'sm_85' is not defined for option 'gpu-name'"),
            ("-arch=sm_90 absent.ptx", 255, False, "ptxas fatal   : Input file 'absent.ptx' could not be opened"),
            ("-arch=sm_90 --frob alone.ptx", 255, False, "ptxas fatal   : Unknown option "), ("-arch=sm_90 caller.ptx", 255, False, "'f'"),
            ("-arch=sm_90 -c caller.ptx", 0, True, ""), ("alone.ptx -arch", 255, False, "ptxas fatal   : argument expected after '-arch'"),
            ("-arch=sm_90 alone.ptx -o nowhere/x", 255, False, "ptxas fatal   : Output file 'nowhere/x' could not be opened")]
        real = toolkit / "bin/ptxas" if toolkit else None
        for program in (ptxas, real):
            for line, code, makes, says in lines if program and program.exists() else ():
                (folder / "elf.o").unlink(missing_ok=True)
                done = subprocess.run([program, *line.split()], cwd=folder, capture_output=True, text=True, timeout=60)
                made = (folder / "elf.o").exists()
                expect((done.returncode, made) == (code, makes) and says in done.stderr, program.name, line, done.returncode, made, done.stderr)
                if made and program == ptxas and "caller" not in line:
                    loads(cuda, (folder / "elf.o").read_bytes(), line)
        for flag in ("--version", "-V"):
            version = subprocess.run([ptxas, flag], capture_output=True, text=True, timeout=60)
            expect(version.returncode == 0 and "release 13.0" in version.stdout, version)
        newer = subprocess.run([ptxas, "-arch=sm_90", "newer.ptx"], cwd=folder, capture_output=True, text=True, timeout=60)
        expect(newer.returncode == 0 and "warning : PTX 9.5" in newer.stderr, newer)
        strict = subprocess.run([ptxas, "-arch=sm_90", "-Werror", "newer.ptx"], cwd=folder, capture_output=True, text=True, timeout=60)
        expect(strict.returncode == 255, strict)
        later = subprocess.run([ptxas, "-arch=sm_90", "--an-option-of-later=2", "alone.ptx"], cwd=folder, capture_output=True, text=True, timeout=60)
        expect(later.returncode == 0 and "'--an-option-of-later=2' is ignored" in later.stderr, later)
        text = subprocess.run([ptxas, "-arch=sm_90", "-ias", ALONE], cwd=folder, capture_output=True, text=True, timeout=60)
        expect(text.returncode == 0, text)


def main():
    folder, ptxas, *more = [pathlib.Path(argument).resolve() for argument in sys.argv[1:]]
    toolkit = more[0] if more else None
    cuda = driver(folder)
    check_nvjitlink(folder, cuda, toolkit)
    check_ptxas(ptxas, cuda, toolkit)
    print("\n".join(faults) or "as they must be" + ("" if toolkit else "; no toolkit to compare with"))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
