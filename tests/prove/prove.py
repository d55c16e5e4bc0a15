"""Proves the lane functions equal to the transcriptions beside this file; script/prove runs it, docs/proofs.md says how."""

import argparse
import collections
import ctypes
import hashlib
import inspect
import multiprocessing
import multiprocessing.pool
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
try:
    import z3

    import ir
    import operations
    import program
except ImportError as error:
    print(f"script/prove: skipped: no module {error.name} (package python3-z3); script/bootstrap test installs it")
    sys.exit(77)

COMMON = ["-std=gnu17", "-Wall", "-Wextra", f"-I{ROOT}/include", f"-I{ROOT}/src", f"-I{ROOT}/isa"]
# What C leaves undefined becomes a trap, which must be out of reach; lookup tables would be memory. Checks of pointers would only keep
# the optimiser from dissolving local structures: the translator knows no memory, so none is left in what it takes.
TO_IR = ["-O2", "-S", "-emit-llvm", "-fno-discard-value-names", "-fsanitize=undefined", "-fsanitize-trap=undefined",
         "-fno-sanitize=alignment,null,object-size,pointer-overflow", "-fno-vectorize",
         "-fno-slp-vectorize", "-fno-jump-tables", "-mllvm", "-inline-threshold=100000"]  # fmt: skip
PROVED_HEADERS = ["convert_integer.h", "logic.h", "shift.h", "bits.h", "shuffle.h", "vector.h", "video.h", "video_scalar.h", "video_simd.h"]
# These have products of signed elements or of whole words, a loop that stays one, or 64 places that a solver takes a minute for; tests/lane/bits.c and video_numbers.c compare them.
UNPROVED = {"lw_fns", "lw_vmad_manual", "lw_vmad_sm_90", "lw_popc_b64", "lw_bfe_s64", "lw_bfi_b64"} | {f"lw_{dp}_{types}" for dp in ("dp4a", "dp2a_lo", "dp2a_hi") for types in ("u32_s32", "s32_u32", "s32_s32")}
TO_CODE = ["-O0", "-shared", "-fPIC"]

# file: where the lane function is paired with its transcription, or OPERATIONS. split: the bits that are fixed in the last operand, or None; of operations
# the name of the case. A file that begins with "wrong" has what must be refuted.
Goal = collections.namedtuple("Goal", "file function split")
Answer = collections.namedtuple("Answer", "kind text seconds")  # kind: proved, refuted, empty, unknown
RECORD = HERE / "proved.txt"  # functions that were proved, each with the digest of what was asked
AGAIN = 10  # every run with --recorded proves one in so many of them all the same


def compile_all(clang, folder, files, at_once):
    jobs = []
    for file in files:
        jobs.append([clang, *COMMON, *TO_IR, "-o", f"{folder}/{file.stem}.ll", file])
        jobs.append([clang, *COMMON, *TO_CODE, "-o", f"{folder}/{file.stem}.so", file])
    with multiprocessing.pool.ThreadPool(at_once) as pool:
        pool.map(lambda job: subprocess.run(job, check=True), jobs)


modules = {}


def module(folder, file):
    if file not in modules:
        modules[file] = ir.read_module((pathlib.Path(folder) / f"{file}.ll").read_text())
    return modules[file]


def fixed(width, mask, value):
    """A free word in which the bits of `mask` are those of `value`."""
    free = z3.BitVec("last", width)
    runs, i = [], 0
    while i < width:
        j = i
        while j < width and (mask >> j & 1) == (mask >> i & 1):
            j += 1
        runs.append(z3.BitVecVal(value >> i, j - i) if mask >> i & 1 else z3.Extract(j - 1, i, free))
        i = j
    return z3.Concat(*reversed(runs)) if len(runs) > 1 else runs[0]


translations = {}


def translated(folder, file, name):
    """(operands, result, where undefined) of one of the three functions, with free operands; None where there is no such function."""
    key = file, name
    if key not in translations:
        function = module(folder, file)[0].get(name)
        terms = [z3.BitVec("abcde"[i], width) for i, (width, _) in enumerate(function.parameters)] if function else []
        made = ir.Translation(function, terms) if function else None
        translations[key] = (terms, made.bits, made.undefined) if made else None
    return translations[key]


def new_solver(seconds, conditions):
    # Products are multiplied out first (som): what is equal by algebra is a puzzle once it is bits.
    solver = z3.Then(z3.With("simplify", som=True), "propagate-values", "solve-eqs", "simplify", "bit-blast", "sat").solver()
    solver.set("timeout", seconds * 1000)
    solver.add(*conditions)
    return solver


def answer_of(solver, started, show):
    """What comes of a question whose every solution is a fault; show(model) describes one."""
    result = solver.check()
    seconds = time.monotonic() - started
    if result == z3.unsat:
        return Answer("proved", "", seconds)
    if result != z3.sat:
        return Answer("unknown", f"no answer: {solver.reason_unknown()}", seconds)
    return Answer("refuted", show(solver.model()), seconds)


def prove(folder, goal, timeout):
    """Asks for operands for which either side is undefined or both differ; that there are none is the proof."""
    started = time.monotonic()
    terms, ours, ours_undefined = translated(folder, goal.file, "prove_lane_" + goal.function)
    _, theirs, theirs_undefined = translated(folder, goal.file, "prove_text_" + goal.function)
    where = translated(folder, goal.file, "prove_where_" + goal.function)
    operands, pairs = list(terms), []
    if goal.split is not None:
        mask = module(folder, goal.file)[1]["prove_split_" + goal.function]
        operands[-1] = fixed(terms[-1].size(), mask, goal.split)
        pairs = [(terms[-1], operands[-1])]
    conditions = []
    if where:
        _, known, known_undefined = where
        conditions = [z3.simplify(z3.substitute(condition, *pairs)) for condition in (z3.Not(known_undefined), known == 1)]
        if any(z3.is_false(condition) for condition in conditions) or new_solver(timeout, conditions).check() != z3.sat:
            return goal, Answer("empty", "", time.monotonic() - started)
    question = ir.either(ours_undefined, theirs_undefined, ours != theirs)
    solver = new_solver(timeout, [*conditions, z3.substitute(question, *pairs)])

    def show(model):
        sides = [[z3.substitute(term, *pairs) for term in side] for side in ((ours, ours_undefined), (theirs, theirs_undefined))]
        return example(model, operands, *sides)

    return goal, answer_of(solver, started, show)


def number_in(model, term):
    return f"0x{model.eval(term, model_completion=True).as_long():x}"


def example(model, terms, ours, theirs):
    def result(side):
        return "undefined" if z3.is_true(model.eval(side[1], model_completion=True)) else number_in(model, side[0])

    inputs = ", ".join(f"{'abcde'[i]} {number_in(model, term)}" for i, term in enumerate(terms))
    return f"for {inputs} the function is {result(ours)}, the transcription {result(theirs)}"


# ---- What was proved before --------------------------------------------------------------------------------------


def digest(folder, goals):
    """Of all that an answer on a function depends on: its code and its transcription's, the cases, and what makes questions of them."""
    file, function = goals[0].file, goals[0].function
    text = (pathlib.Path(folder) / f"{file}.ll").read_text()
    asked = [(HERE / "ir.py").read_text(), asking(), repr(sorted(str(goal.split) for goal in goals))]
    for kind in ("lane", "text", "where"):
        code = re.search(rf"^define [^\n]*@prove_{kind}_{function}\(.*?^\}}$", text, re.MULTILINE | re.DOTALL)
        asked.append(re.sub(r" #\d+\b", "", code[0]) if code else "")  # attributes have numbers that depend on other functions
    return hashlib.sha256("\0".join(asked).encode()).hexdigest()[:32]


def asking():
    return "".join(inspect.getsource(part) for part in (fixed, translated, new_solver, answer_of, prove))


def digests(folder, goals):
    """{function: digest} of the lane functions."""
    cases = collections.defaultdict(list)
    for goal in goals:
        if goal.file != OPERATIONS and not is_wrong(goal):
            cases[goal.function].append(goal)
    return {function: digest(folder, cases[function]) for function in cases}


def write_record(found):
    RECORD.write_text("".join(f"{name} {found[name]}\n" for name in sorted(found)))


def known(found):
    """The functions that need no proof: what is asked is what was answered, and it is not their turn to be asked again."""
    text = RECORD.read_text()
    lines = dict(line.split() for line in text.splitlines())
    turn = int(hashlib.sha256(text.encode()).hexdigest(), 16)  # whoever changes the record has others proved
    return {name for name, value in found.items() if lines.get(name) == value and (int(value, 16) - turn) % AGAIN}


def is_wrong(goal):
    return goal.file.startswith("wrong")


def goals_of(folder, file):
    functions, constants = module(folder, file)
    for name in functions:
        if match := re.fullmatch(r"prove_lane_(\w+)", name):
            mask = constants.get("prove_split_" + match[1], 0)
            value, splits = mask, []  # all subsets of the mask, from the highest
            while mask:
                splits.append(value)
                if not value:
                    break
                value = (value - 1) & mask
            yield from (Goal(file, match[1], split) for split in splits or [None])


# ---- Operations of PTO -----------------------------------------------------------------------------------------

OPERATIONS = "operations"
# Division is in floating point, which the translator does not know: tests/lane/integer.c tests these. Here they are taken for what they are
# to be; by 0 they are never asked. {name: meaning}
ASSUMED = {f"{op}_{kind}{bits}": meaning for bits in (16, 32, 64) for op, kind, meaning in
           (("div", "u", z3.UDiv), ("div", "s", lambda a, b: a / b), ("rem", "u", z3.URem), ("rem", "s", z3.SRem))}  # fmt: skip


cases = {}  # {name: (operations.Case, its program)}


class Lanes:
    """The lane functions as they are proved: what clang made of them, where their proofs say that they may be asked."""

    def __init__(self, folder, goals):
        self.folder = folder
        self.files = {goal.function: goal.file for goal in goals if not is_wrong(goal)}

    def parts(self, name):
        function = "lw_" + name
        if function not in self.files:
            raise ir.Unknown(f"no proof names the lane function {name}")
        return [translated(self.folder, self.files[function], kind + function) for kind in ("prove_lane_", "prove_where_")]

    def widths(self, name):
        if name in ASSUMED:
            return [int(re.search(r"\d+", name)[0])] * 2
        return [term.size() for term in self.parts(name)[0][0]]

    def call(self, name, operands):
        if name in ASSUMED:
            return ASSUMED[name](*operands), operands[1] == 0
        (terms, value, undefined), where = self.parts(name)
        pairs = list(zip(terms, operands, strict=True))
        if where:
            undefined = ir.either(undefined, where[2], where[1] != 1)
        return z3.substitute(value, *pairs), z3.substitute(undefined, *pairs)


def prove_operation(lanes, goal, timeout):
    started = time.monotonic()
    case, code = cases[goal.split]
    asked, operands = operations.question(case, code, lanes)

    def show(model):
        inputs = ", ".join(f"{term} {number_in(model, term)}" for term in operands)
        return f"another result than wanted for {inputs or 'no operands'}:\n{operations.text_of(case)}"

    answer = answer_of(new_solver(timeout, [asked]), started, show)
    return goal, answer._replace(text=f"{case.name}: {answer.text}")


def goals_of_operations(tool):
    proved, refuted = operations.all_cases()
    programs = operations.programs_of(tool, proved + refuted)
    cases.update((made.name, (made, programs[made.name])) for made in proved + refuted)
    yield from (Goal(OPERATIONS, made.group, made.name) for made in proved)
    yield from (Goal("wrong " + OPERATIONS, made.group, made.name) for made in refuted)


def without_operations(tool, goals):
    """What PTO lowers to that no proof names, what it may lower to that no case here does, and operations without a case."""
    used = {program.lane_of(op) for _, (_, ops) in cases.values() for op in ops} - {None}
    named = {goal.function for goal in goals} | {"lw_" + name for name in ASSUMED}
    yield from (f"lane function {name}, which PTO is lowered to" for name in sorted(used) if "lw_" + name not in named)
    for file in sorted((ROOT / "src/middle").glob("pto*.c")):
        text = re.sub(r"#define (?:.*\\\n)*.*\n", "", file.read_text())
        tables = re.findall(r"\b(?:BOTH|EACH)\(([\w\s,]+)\)", text)
        lanes = {*re.findall(r"\bLW_LANE_(\w+)", text), *re.findall(r"\w+", " ".join(tables))} - {"none"}
        yield from (f"lane function {name} of {file.name}, which no case uses" for name in sorted(lanes - used))
    texts = "".join(operations.text_of(case) for case, _ in cases.values())
    listed = subprocess.run([tool, "isa", "--language", "pto"], capture_output=True, text=True, check=True).stdout
    names = re.findall(r"^(?:page|name|ours|mlir) (\S+)", listed, re.MULTILINE)
    yield from (f"operation {name}" for name in names or ["(none is listed)"] if not re.search(rf"(?<![\w.]){re.escape(name)}(?![\w.])", texts))


# ---- The translator against the processor -------------------------------------------------------------------


def edge_or_random(chance, width):
    kind = chance.randrange(4)
    if kind == 0:
        return chance.choice([0, 1, 31, 32, 33, 63, 64, (1 << width) - 1, 1 << (width - 1)]) & ((1 << width) - 1)
    return chance.getrandbits(width) if kind > 1 or width < 6 else chance.getrandbits(5)


def compare_with_code(folder, file, samples):
    """What the translator makes of each function against what the compiler's code, unoptimised, answers. Returns the differences."""
    functions, _ = module(folder, file)
    library = ctypes.CDLL(f"{folder}/{file}.so")
    chance = random.Random(1)
    wrong = []
    tried = 0
    for name, function in functions.items():
        if not name.startswith("prove_"):
            continue
        c_type = {1: ctypes.c_bool, 8: ctypes.c_uint8, 16: ctypes.c_uint16, 32: ctypes.c_uint32, 64: ctypes.c_uint64}
        call = library[name]
        call.restype = c_type[function.width]
        call.argtypes = [c_type[width] for width, _ in function.parameters]
        terms, bits, undefined = translated(folder, file, name)
        for _ in range(samples):
            values = [edge_or_random(chance, width) for width, _ in function.parameters]
            pairs = [(term, z3.BitVecVal(value, term.size())) for term, value in zip(terms, values)]
            if not z3.is_false(z3.simplify(z3.substitute(undefined, *pairs))):
                continue  # the code may answer anything
            tried += 1
            ours = z3.simplify(z3.substitute(bits, *pairs)).as_long()
            code = int(call(*values))
            if ours != code:
                wrong.append(f"{file}: {name}{tuple(map(hex, values))}: the code gives {code:#x}, the translation {ours:#x}")
    return tried, wrong


# ---- The command ------------------------------------------------------------------------------------------------


def work(job):
    kind, *rest = job
    try:
        return kind, {"prove": prove, "operation": prove_operation, "compare": compare_with_code}[kind](*rest)
    except ir.Unknown as error:
        return "error", f"{rest[1]}: {error}"


def summary(name, answers):
    """One line for all cases of a function, and whether it is proved, or refuted."""
    seconds = sum(answer.seconds for answer in answers)
    cases = [answer for answer in answers if answer.kind != "empty"]
    bad = [answer for answer in cases if answer.kind != "proved"]
    kind = "proved" if cases and not bad else "refuted" if any(a.kind == "refuted" for a in bad) else "unknown"
    many = f", {len(cases)} cases" if len(answers) > 1 else ""
    text = f"{name:40} {'proved' if kind == 'proved' else 'FAILED':7}{seconds:7.2f} s{many}"
    if kind == "proved":
        return kind, text
    first = next((a for a in bad if a.kind == kind), None)
    return kind, text + "\n    " + (first.text if first else "nothing to prove: no operands are allowed")


def without_proof(goals):
    """Functions of the headers whose functions are all to be proved that nothing is said of. A name that ends in _ is part of others."""
    proved = {goal.function for goal in goals}
    for header in PROVED_HEADERS:
        names = re.findall(r"^static inline \w+ (lw_\w*[a-z0-9])\(", (ROOT / "include/lanewise/lane" / header).read_text(), re.MULTILINE)
        yield from (f"{name} of lane/{header}" for name in names or ["no function"] if name not in proved | UNPROVED)


def run(options, folder, files):
    goals = [goal for file in files for goal in goals_of(folder, file.stem)]
    lanes = Lanes(folder, goals)
    missing = list(without_proof(goals))
    if options.lanewise:
        goals += goals_of_operations(options.lanewise)
        missing += without_operations(options.lanewise, goals)
    if missing:
        print("without a proof: " + ", ".join(missing), file=sys.stderr)
        return 1
    chosen = [g for g in goals if is_wrong(g) or not options.names or any(name in g.function for name in options.names)]
    if all(map(is_wrong, chosen)):
        print(f"no function has {' or '.join(options.names)} in its name", file=sys.stderr)
        return 2
    if options.list:
        for file, function in dict.fromkeys((g.file, g.function) for g in chosen if not is_wrong(g)):
            print(f"{file}.{'py' if file == OPERATIONS else 'c'}: {function}")
        return 0
    found = digests(folder, chosen) if options.recorded or options.record else {}
    skipped = known(found) if options.recorded else set()
    chosen = [g for g in chosen if is_wrong(g) or g.function not in skipped]
    started = time.monotonic()
    samples = [("compare", folder, file.stem, 4) for file in files if any(g.file == file.stem for g in chosen)]
    jobs = [*samples, *(("operation", lanes, g, options.timeout) if g.split in cases else ("prove", folder, g, options.timeout) for g in chosen)]
    left = collections.Counter((g.file, g.function) for g in chosen)
    answers = collections.defaultdict(list)
    count = collections.Counter()
    failed = False
    with multiprocessing.get_context("fork").Pool(options.jobs) as pool:
        for kind, result in pool.imap_unordered(work, jobs):
            if kind == "error":
                failed = True
                print(f"ERROR {result}", flush=True)
            elif kind == "compare":
                count["samples"] += result[0]
                for line in result[1]:
                    failed = True
                    print(f"TRANSLATION WRONG {line}", flush=True)
            else:
                goal, answer = result
                key = goal.file, goal.function
                answers[key].append(answer)
                if len(answers[key]) < left[key]:
                    continue
                verdict, line = summary(goal.function, answers[key])
                if is_wrong(goal):
                    count["caught"] += verdict == "refuted"
                    if verdict != "refuted":
                        print(f"NOT REFUTED: {goal.file}: {line}", flush=True)
                else:
                    what = "operations" if goal.file == OPERATIONS else "functions"
                    count["cases"] += sum(a.kind == "proved" for a in answers[key])
                    count[what] += verdict == "proved"
                    failed |= verdict != "proved"
                    print(line, flush=True)
    if skipped:
        print(f"{len(skipped)} functions are what they were when all were proved ({RECORD.name})")
    wrong = sum(1 for file, _ in left if file.startswith("wrong"))
    total = collections.Counter("wrong" if file.startswith("wrong") else OPERATIONS if file == OPERATIONS else "functions" for file, _ in left)
    proved = [f"{count[what]} of {total[what]} {name}" for what, name in (("functions", "functions"), (OPERATIONS, "operations of a type")) if total[what]]
    print(f"{' and '.join(proved)} proved ({count['cases']} proofs), {count['caught']} of {wrong} wrong ones refuted, "
          f"{count['samples']} results of the translation equal the compiled code's; {time.monotonic() - started:.0f} s")  # fmt: skip
    if failed or any(count[what] != total[what] for what in ("functions", OPERATIONS)) or count["caught"] != wrong or not wrong or not count["samples"]:
        return 1
    if options.record:
        write_record(found)
    return 0


def main():
    parser = argparse.ArgumentParser(prog="script/prove", description="Prove lane functions equal to the manual's text for all operands.")
    parser.add_argument("names", nargs="*", metavar="NAME", help="only functions whose name has NAME in it")
    parser.add_argument("--list", action="store_true", help="list the functions")
    parser.add_argument("--recorded", action="store_true", help=f"leave out most of the functions whose code is what {RECORD.name} has")
    parser.add_argument("--record", action="store_true", help=f"prove all functions, and write {RECORD.name}")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)), help="processes, one per core by default")
    parser.add_argument("--timeout", type=int, default=300, help="seconds for one proof (300)")
    parser.add_argument("--lanewise", metavar="PROGRAM", help="whose programs of PTO are proved, too (build/bin/lanewise, where it is built)")
    options = parser.parse_args()
    if options.record and (options.names or options.recorded):
        parser.error("--record is of all functions")
    built = ROOT / "build/bin/lanewise"
    options.lanewise = options.lanewise or (str(built) if built.exists() else None)
    clang = os.environ.get("LANEWISE_CLANG") or shutil.which("clang")
    if not clang:
        print("script/prove: skipped: no clang; script/bootstrap test installs it")
        return 77
    sys.setrecursionlimit(10000)
    files = sorted(file for file in HERE.glob("*.c") if not file.name.startswith(("once_", "unit_")))
    with tempfile.TemporaryDirectory() as folder:
        compile_all(clang, folder, files, options.jobs)
        code = run(options, folder, files)
    if options.lanewise or code:
        return code
    print("script/prove: operations of PTO skipped: no build/bin/lanewise, and no --lanewise")
    return 77


if __name__ == "__main__":
    sys.exit(main())
