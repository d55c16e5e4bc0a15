#!/usr/bin/env python3
"""names.py TABLE LIBRARY12 LIBRARY13 [--call] [INCLUDE]: the libraries export the table's names under their own version and nothing else;
what is missing says so when it is called (--call); the table has every name that the toolkit's headers in INCLUDE declare."""

import ctypes
import pathlib
import re
import subprocess
import sys

ROW = re.compile(r"^(HERE|MISSING)(12|)\((\w+)\)$", re.MULTILINE)
HEADERS = ["cuda_runtime_api.h", "cuda_profiler_api.h", "cuda_gl_interop.h", "cuda_egl_interop.h", "cuda_vdpau_interop.h",
           "crt/host_runtime.h", "crt/device_functions.h"]
NOT_SUPPORTED = 801


def exported(library):
    """Names and versions of a library's functions."""
    lines = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, check=True, text=True).stdout.splitlines()
    return {line.split()[-1].replace("@@", "@") for line in lines if line.split()[-2] == "T"}


def declared(include):
    names = set()
    for header in HEADERS:
        text = re.sub(r"/\*.*?\*/", "", (include / header).read_text(), flags=re.DOTALL)
        names |= set(re.findall(r"\bCUDARTAPI\s+(\w+)\s*\(", text))
        # A call with another one for one default stream per thread.
        names |= {f"{name}_{kind.lower()}" for kind, name in re.findall(r"#\s*define\s+\w+\s+__CUDART_API_(PTDS|PTSZ)\((\w+)\)", text)}
    return names


def main():
    table, *libraries = sys.argv[1:4]
    more = sys.argv[4:]
    rows = ROW.findall(pathlib.Path(table).read_text())
    faults = []
    if [row[2] for row in rows] != sorted({row[2] for row in rows}):
        faults.append("the table is not sorted, or has a name twice")
    for version, library in zip(("12", "13"), libraries):
        names = {f"{name}@libcudart.so.{version}" for _, only, name in rows if only in ("", version)}
        there = exported(library)
        faults += [f"exported, but not in the table: {name}" for name in sorted(there - names)]
        faults += [f"in the table, but not exported: {name}" for name in sorted(names - there)]
    if "--call" in more:
        library = ctypes.CDLL(libraries[1])
        faults += [f"{name} does not say that it is missing" for kind, only, name in rows
                   if kind == "MISSING" and not only and (getattr(library, name)() != NOT_SUPPORTED or library.cudaGetLastError() != NOT_SUPPORTED)]
        more.remove("--call")
    if more:
        names = declared(pathlib.Path(more[0]))
        faults += [f"declared by the toolkit, but not in the table: {name}" for name in sorted(names - {row[2] for row in rows})]
    print("\n".join(faults) or f"{len(rows)} names, as they must be" + ("" if more else "; no toolkit to compare them with"))
    return 1 if faults or not rows else 0


if __name__ == "__main__":
    sys.exit(main())
