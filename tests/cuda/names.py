#!/usr/bin/env python3
"""names.py TABLE LIBRARY [INCLUDE [STUB]]: the library exports the table's names and nothing else; the table has every name and version of
the cuda*Typedefs.h in INCLUDE, and every symbol of the toolkit's STUB."""

import pathlib
import re
import subprocess
import sys

ROW = re.compile(r"^(HERE|MISSING)\((\w+), (\d+), (_|_ptds|_ptsz), (\w+)\)$")
TYPE = re.compile(r"\*\s*PFN_(cu\w+?)_v(\d+)(_ptds|_ptsz|)\)")


def symbols(library):
    lines = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, check=True, text=True).stdout.splitlines()
    return {line.split()[-1].split("@")[0] for line in lines}


def main():
    table, library, *more = sys.argv[1:]
    lines = [line for line in pathlib.Path(table).read_text().splitlines() if line[:4] in ("HERE", "MISS")]
    rows = [ROW.match(line).groups() for line in lines]
    faults = []

    def differ(what, left, right):
        faults.extend(f"{what}: {name}" for name in sorted(left - right))

    names = {row[4] for row in rows}
    if len(names) != len(rows):
        faults.append("a symbol has two rows")
    if [row[1:4] for row in rows] != sorted((row[1:4] for row in rows), key=lambda row: (row[0], int(row[1]), row[2] != "_", row[2])):
        faults.append("the table is not sorted")
    differ("exported, but not in the table", symbols(library), names)
    differ("in the table, but not exported", names, symbols(library))
    if more:
        headers = sorted(pathlib.Path(more[0]).glob("cuda*Typedefs.h"))
        declared = {(name, version, thread or "_") for header in headers for name, version, thread in TYPE.findall(header.read_text())}
        if not declared:
            faults.append(f"no PFN_ types found in {more[0]}")
        differ("declared by the toolkit, but not in the table", declared, {row[1:4] for row in rows})
    if len(more) > 1:
        stub = {name for name in symbols(more[1]) if not name.startswith("cudbg")}  # of the debugger's own interface, which no program calls
        differ("in the toolkit's stub, but not in the table", stub, names)
    print("\n".join(faults) or f"{len(rows)} names, as they must be" + ("" if more else "; no toolkit to compare them with"))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
