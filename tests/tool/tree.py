#!/usr/bin/env python3
"""Checks rules of the source tree that no compiler checks. tree.py includes|apart|words|names|places|sizes [ROOT]

includes  an #include may only point left in: base front middle run session tool/shim; isa/ and include/ are for everyone
apart     what knows nothing of what: programs and engines of front ends, PTO of PTX and the other way; only one file asks the environment
words     nobody compares the texts of an instruction's words, but for the files that make values of them
names     files and folders that README.md and docs/ name are there, and docs/decisions/README.md has the titles of all decisions
places    no file of the project names a place on some machine or a host other than those of the list below
sizes     no file of src/ or include/ has more than 800 lines"""

import fnmatch
import pathlib
import re
import shutil
import subprocess
import sys

STAGES = ["base", "front", "middle", "run", "session", "tool", "shim"]
LAST = STAGES.index("tool")  # tool and shim stand side by side
MOST_LINES = 800
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"')
CODE = (".c", ".h", ".def")

# Opcodes of PTX go on with .local and name no host.
# Folders that are somebody's own, written so that this file does not match itself.
PLACE = re.compile(r"(?<![\w.$}/-])/(?:home|root|work|mnt|media|opt|srv|Users|data)/\w|(?<![\w/.-])[s]hared/(?:spec|corpus|approx|hooks)")
URL = re.compile(r"\b(?:https?|ftp|git|ssh)://([\w.-]+)|(?<![\w.-])(?!(?:ld|ldu|st|cvta|isspacep|prefetch|atom|red)\.)([\w-]+(?:\.[\w-]+)*\.(?:internal|local|example|lan|corp))\b")
HOSTS = {"docs.nvidia.com", "developer.nvidia.com", "www.apache.org", "cmake.org", "llvm.org", "gcc.gnu.org", "sourceware.org",
         "json-schema.org", "docs.oasis-open.org", "www.w3.org", "cmocka.org"}


def project_files(root):
    """Every file that is part of the project: what git would carry, else everything but build trees."""
    git = shutil.which("git")
    if git and (root / ".git").exists():
        listed = subprocess.run([git, "-C", str(root), "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                                capture_output=True, check=True)
        return [root / name for name in listed.stdout.decode().split("\0") if name and (root / name).is_file()]
    return [path for path in root.rglob("*") if path.is_file() and not path.relative_to(root).parts[0].startswith((".git", "build"))]


def stage_of(path, root):
    """The position of a file of src/ in the flow; None for other files."""
    parts = path.relative_to(root).parts
    if len(parts) < 3 or parts[0] != "src":
        return None
    if parts[1] not in STAGES:
        raise SystemExit(f"{path}: src/{parts[1]} is not a stage: {' '.join(STAGES)}")
    return min(STAGES.index(parts[1]), LAST)


def resolve(root, source, name):
    """The file that a quoted include means, or None."""
    for folder in (source.parent, root / "src", root / "isa", root / "include"):
        if (folder / name).is_file():
            return (folder / name).resolve()
    return None


def check_includes(root, files):
    seen = 0
    for path in files:
        top = path.relative_to(root).parts[0]
        if path.suffix not in CODE or top not in ("src", "include", "isa"):
            continue
        here = stage_of(path, root)
        for number, line in enumerate(path.read_text().splitlines(), 1):
            match = INCLUDE.match(line)
            if not match:
                continue
            seen += 1
            target = resolve(root, path, match[1])
            if target is None:
                yield f"{path.relative_to(root)}:{number}: no such file in this folder, src, isa or include: {match[1]}"
                continue
            where = target.relative_to(root).parts
            there = stage_of(target, root)
            same = where[:2] == path.relative_to(root).parts[:2]
            if there is not None and (here is None or there > here or (there == here and not same)):
                yield f"{path.relative_to(root)}:{number}: {'/'.join(where)} is further right"
            elif there is None and where[0] not in ("isa", "include"):
                yield f"{path.relative_to(root)}:{number}: {'/'.join(where)} is in no stage"
    if not seen:
        yield "no #include found: is this the root of the project?"


# Files, and what none of their lines may have.
APART = [
    ("src/run/**/*.[ch]", r'#include "front/', "an engine knows no front end"),
    ("src/middle/program.h", r'#include "front/|lw_(ptx|pto)_', "a program knows no front end"),
    ("src/**/pto*.[ch]", r'#include "(front/ptx|middle/ptx|ptx)/?', "PTO knows no PTX"),
    ("src/front/pto/*.[ch]", r'#include "(front/)?ptx/', "PTO knows no PTX"),
    ("src/**/ptx*.[ch]", r'#include "(front|middle)/pto', "PTX knows no PTO"),
    ("src/front/ptx/*.[ch]", r'#include "(front/)?pto/', "PTX knows no PTO"),
    ("src/**/*.[ch]", r"\bgetenv\(", "session/environment.c asks the environment"),
]


def check_apart(root, files):
    for pattern, wrong, why in APART:
        found = [path for path in root.glob(pattern) if path in files and path != root / "src/session/environment.c"]
        if not found:
            yield f"no file is {pattern}: is this the root of the project?"
        for path in found:
            for number, line in enumerate(path.read_text().splitlines(), 1):
                if re.search(wrong, line):
                    yield f"{path.relative_to(root)}:{number}: {why}: {line.strip()[:100]}"


# An instruction's words, the mnemonic, what groups of a pattern took, the pattern, the name of a directive: values are made of them once.
TEXTS = re.compile(r"\b(?:str(?:n?cmp|n?casecmp|str|chr|rchr)|memcmp|memmem)\s*\([^;]*?(?:\bwords\[[^]]+\]->|mnemonic->|\bgroup\[|->pattern\b|form->operands|(?:directive|\bd)->name->)")
MAY_COMPARE = ["src/front/ptx/lex.c", "src/front/ptx/parse*.c", "src/front/ptx/forms.c", "src/front/ptx/modifiers.c", "src/front/ptx/spellings.c", "src/tool/forms.c"]
OF_WORDS = ["src/front/ptx/*.c", "src/middle/*.c", "src/run/**/*.c", "src/session/*.c", "src/tool/*.c"]


def check_words(root, files):
    free = {path for pattern in MAY_COMPARE for path in root.glob(pattern)}
    found = {path for pattern in OF_WORDS for path in root.glob(pattern)} & set(files) - free
    if not found:
        yield "no file below the parser: is this the root of the project?"
    for path in sorted(found):
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if TEXTS.search(line):
                yield f"{path.relative_to(root)}:{number}: a word's text is compared; modifiers.def makes a value of it: {line.strip()[:100]}"


# What a document calls a file: a path below one of the folders, or the bare name of a source, a table or a document.
FOLDERS = "src|isa|include|tests|docs|script|tools|bench|examples|cmake"
NAMED = re.compile(rf"(?<![\w./*-])((?:{FOLDERS})/[\w./*-]*[\w*]|[\w*-]+(?:/[\w*-]+)*\.(?:c|h|def|py|md)|middle/[\w./*-]+)(?![\w/*(-])")
FREE = {"immintrin.h", "arm_neon.h"}  # headers of compilers
LINK = re.compile(r"\]\(([^)#:]+)(?:#[^)]*)?\)")


def is_there(name, here, root, known):
    """As it is written from the root or from the document, or as the end of some file's path. A word in capitals stands for some name."""
    name = re.sub(r"\b[A-Z]{3,}\b|(?<=_)[A-Z]{3,}\b", "*", name) if not (root / name).exists() else name
    if (root / name).exists() or (here / name).exists():
        return True
    return any(fnmatch.fnmatchcase(path, f"*/{name.rstrip('/')}") or fnmatch.fnmatchcase(path, f"*/{name.rstrip('/')}/*") for path in known)


def check_names(root, files):
    known = ["/" + path.relative_to(root).as_posix() for path in files]
    seen = 0
    for path in files:
        where = path.relative_to(root)
        if path.suffix != ".md" or (where.parts[0] != "docs" and where.name != "README.md"):
            continue
        for number, line in enumerate(path.read_text().splitlines(), 1):
            names = {name.rstrip(".") for name in NAMED.findall(line)} | {name for name in LINK.findall(line) if not name.startswith("http")}
            seen += len(names)
            for name in sorted(names - FREE):
                if not is_there(name, path.parent, root, known):
                    yield f"{where}:{number}: there is no {name}"
    if not seen:
        yield "no document names a file: is this the root of the project?"
    if (root / "docs/decisions").is_dir():
        yield from check_index(root / "docs/decisions")


def check_index(folder):
    index = (folder / "README.md").read_text().splitlines()
    for path in sorted(folder.glob("0*.md")):
        number, title = path.read_text().splitlines()[0].removeprefix("# ").split(". ", 1)
        if f"{number}. [{title}]({path.name})" not in index:
            yield f"docs/decisions/README.md: {path.name} is not in it as {number}. [{title}]"


def check_places(root, files):
    for path in files:
        try:
            text = path.read_text()
        except UnicodeDecodeError:
            continue  # data
        for number, line in enumerate(text.splitlines(), 1):
            place = PLACE.search(line)
            if place:
                yield f"{path.relative_to(root)}:{number}: a place on some machine: {line.strip()[:100]}"
            for match in URL.finditer(line):
                if (match[1] or match[2]) not in HOSTS:
                    yield f"{path.relative_to(root)}:{number}: host {match[1] or match[2]} is not in the list of tests/tool/tree.py"


def check_sizes(root, files):
    for path in files:
        if path.suffix in (".c", ".h") and path.relative_to(root).parts[0] in ("src", "include"):
            lines = len(path.read_text().splitlines())
            if lines > MOST_LINES:
                yield f"{path.relative_to(root)}: {lines} lines; split at {MOST_LINES}"


def main():
    checks = {"includes": check_includes, "apart": check_apart, "words": check_words, "names": check_names, "places": check_places, "sizes": check_sizes}
    if len(sys.argv) not in (2, 3) or sys.argv[1] not in checks:
        raise SystemExit(__doc__)
    root = pathlib.Path(sys.argv[2] if len(sys.argv) == 3 else __file__).resolve()
    root = root if root.is_dir() else root.parents[2]
    faults = list(checks[sys.argv[1]](root, project_files(root)))
    print("\n".join(faults) or f"{sys.argv[1]}: as it must be")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
