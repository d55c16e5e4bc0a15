"""client.py: what the scripts of this folder share. Each runs a program of others, unmodified, on Lanewise's CUDA driver:

    python3 tests/clients/NAME.py LANEWISE [--install] [--newest] [--engine ENGINE …] [--folder FOLDER]

LANEWISE is the command line tool of a build. Without --install nothing is installed: a client that is not there is skipped (exit code 77).
Python packages go to a virtual environment below the build's folder, in the versions that the script names, or with --newest in those that
are newest; Debian's packages are installed by apt-get. The last lines say of each engine how many checks passed, failed and were skipped, and
whether that reaches the floor, which floors.txt has."""

import argparse
import collections
import os
import pathlib
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as xml

HERE = pathlib.Path(__file__).resolve().parent
SKIPPED = 77


class Missing(Exception):
    """Something that the client needs is not installed, or cannot be."""


class Result:
    """Checks by name, and why they did not pass."""

    def __init__(self):
        self.passed, self.failed, self.skipped = [], {}, {}

    def add(self, name, right, why=""):
        if right:
            self.passed.append(name)
        else:
            self.failed[name] = why

    def skip(self, name, why):
        self.skipped[name] = why


class Client:
    def __init__(self, options):
        self.name = pathlib.Path(sys.argv[0]).stem
        self.lanewise = pathlib.Path(options.lanewise).resolve()
        self.folder = pathlib.Path(options.folder or self.lanewise.parent.parent / "clients").resolve() / self.name
        self.folder.mkdir(parents=True, exist_ok=True)
        self.install, self.newest = options.install, options.newest
        self.engine = None
        self.python = sys.executable
        self.libraries = pathlib.Path(subprocess.run([self.lanewise, "exec", "--folder"], check=True, capture_output=True, text=True).stdout.strip())

    def need_command(self, command, *packages):
        """The command is there, or comes from packages of Debian's."""
        found = shutil.which(command)
        if not found and self.install:
            apt(packages)
            found = shutil.which(command)
        if not found:
            raise Missing(f"there is no {command} (Debian: {' '.join(packages)})")
        return found

    def need_python(self, *packages, check):
        """self.python becomes that of an environment with these packages ("name==version"), in which `check`, some code, succeeds."""
        place = self.folder / "venv"
        self.python = str(place / "bin" / "python")
        works = [self.python, "-P", "-c", check]
        if self.install and (self.newest or not succeeds(works)):
            if not succeeds([sys.executable, "-c", "import ensurepip"]):
                apt([f"python3-venv"])
            subprocess.run([sys.executable, "-m", "venv", "--clear", place], check=True)
            names = [name.split("==")[0] if self.newest else name for name in packages]
            subprocess.run([self.python, "-m", "pip", "install", "-q", "--disable-pip-version-check", *names], check=True)
        if not succeeds(works):
            raise Missing(f"it is not installed below {self.folder}")

    def run(self, command, timeout=600, **environment):
        """A program on Lanewise's driver. Its output and errors are one text."""
        full = dict(os.environ, LANEWISE_REPORT="errors", **environment)
        if self.engine:
            full["LANEWISE_ENGINE"] = self.engine
        try:
            done = subprocess.run([self.lanewise, "exec", "--", *map(str, command)], env=full, cwd=self.folder, timeout=timeout, text=True,
                                  errors="replace", stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        except subprocess.TimeoutExpired as late:
            return subprocess.CompletedProcess(command, 124, (late.stdout or b"").decode(errors="replace") + f"\nno end after {timeout} s\n")
        return done


def calls(client, command, timeout=600, **environment):
    """The Result of a program that says of each check, in a line of its own, "passed NAME" or "FAILED NAME: WHY". What does not pass because Lanewise
    cannot execute an instruction, as the driver says before, is skipped."""
    result, cannot = Result(), None
    done = client.run(command, timeout, **environment)
    for line in done.stdout.splitlines():
        cannot = re.search(r"'([^'.]*)[^']*' is a valid PTX instruction that Lanewise cannot execute", line) or cannot
        said, _, check = line.partition(" ")
        name, _, why = check.partition(":")
        if said not in ("passed", "FAILED"):
            continue
        if said == "FAILED" and cannot:
            result.skip(name, f"{cannot.group(1)} is not executable")
        else:
            result.add(name, said == "passed", why)
        cannot = None
    if done.returncode:
        result.add("all checks come to their end", False, "\n".join(done.stdout.splitlines()[-12:]))
    return result


def tests(client, result, name, command, excused, timeout=900, **environment):
    """Runs pytest, and adds what it says of each test, as NAME.TEST. Tests in `excused` are not run, but skipped for the reason there. Where the process
    ends before the tests do, that is one failure."""
    report = client.folder / "report.xml"
    report.unlink(missing_ok=True)
    mine = {test: why for test, why in excused.items() if test.startswith(name + ".")}
    without = ["-k", "not (" + " or ".join(test.rpartition(".")[2] for test in mine) + ")"] if mine else []
    done = client.run([*command, *without, "-q", "-p", "no:cacheprovider", f"--junitxml={report}"], timeout, **environment)
    for test, why in mine.items():
        result.skip(test, why)
    if not report.exists():
        result.add(name, False, "\n".join(done.stdout.splitlines()[-4:]))
        return
    for case in xml.parse(report).iter("testcase"):
        fault = [part for part in case if part.tag in ("failure", "error")]
        skip = case.find("skipped")
        said = re.findall(r"^E +(\S.*)$", fault[0].text or "", re.M) if fault else []
        if skip is not None and not fault:
            result.skip(f"{name}.{case.get('name')}", skip.get("message", ""))
        else:
            result.add(f"{name}.{case.get('name')}", not fault, (said or [""])[0][:160])


def succeeds(command):
    try:
        return not subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode
    except FileNotFoundError:
        return False


def apt(packages):
    install = [*([] if os.getuid() == 0 else ["sudo", "-n"]), "env", "DEBIAN_FRONTEND=noninteractive", "apt-get"]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    command = [*install, "install", "-y", "-q", "--no-install-recommends", *packages]
    if subprocess.run(command, **quiet).returncode:
        subprocess.run([*install, "update", "-q"], **quiet)
        if subprocess.run(command, **quiet).returncode:
            raise Missing(f"apt-get cannot install {' '.join(packages)}")


def floor_of(name):
    for line in (HERE / "floors.txt").read_text().splitlines():
        words = line.split("#")[0].split()
        if words and words[0] == name:
            return int(words[1])
    raise SystemExit(f"floors.txt has no line for {name}")


def listed(what, checks):
    """Checks by why: one line for each reason."""
    by_reason = collections.defaultdict(list)
    for name, why in checks.items():
        by_reason[why].append(name)
    for why, names in sorted(by_reason.items(), key=lambda item: -len(item[1])):
        print(f"  {what} {len(names):4}  {why.rstrip()}{': ' if why else ''}{', '.join(names[:4])}{' …' if len(names) > 4 else ''}")


def main(prepare, run, engines=("interp", "jit")):
    """prepare(client) finds or installs what is needed; run(client) gives the Result of client.engine."""
    parser = argparse.ArgumentParser(usage="%(prog)s LANEWISE [--install] [--newest] [--engine ENGINE …] [--folder FOLDER]")
    parser.add_argument("lanewise")
    parser.add_argument("--install", action="store_true")
    parser.add_argument("--newest", action="store_true")
    parser.add_argument("--engine", action="append", choices=["interp", "jit", "auto"])
    parser.add_argument("--folder")
    options = parser.parse_args()
    client = Client(options)
    try:
        prepare(client)
    except Missing as missing:
        print(f"skipped: {client.name}: {missing}")
        return SKIPPED
    floor, low = floor_of(client.name), False
    for client.engine in options.engine or engines:
        result = run(client)
        listed("failed", result.failed)
        listed("skipped", result.skipped)
        low |= len(result.passed) < floor
        print(f"{client.name} ({client.engine}): {len(result.passed)} passed, {len(result.failed)} failed, {len(result.skipped)} skipped; "
              f"{'FEWER THAN' if len(result.passed) < floor else 'at least'} {floor} must pass", flush=True)
    return 1 if low else 0
