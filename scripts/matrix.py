"""Run `make test` and a plain installation as different people would.

Every Python on this machine (3.11 or newer) runs the suite in fresh clones: as root in an open folder and in one that only
root may enter, and as an ordinary user in a folder with a space in its name. If you are not root, all rows run as you. Then
`pip install .` and `recollect demo` run in a clean environment.

    make matrix                        everything
    make matrix MATRIX="3.12 user"     rows whose name contains these words
    make matrix MATRIX="--jobs 2"      two rows at a time
    make matrix MATRIX="--list"        what would run

The log of each row is in .matrix/; the exit code is 1 if any row failed.
"""

import argparse
import os
import pwd
import re
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
LOGS = ROOT / ".matrix"
USER = "recollect-matrix"
OLDEST = (3, 11)
PLACES = ["~/.pyenv/versions", "~/.local/share/uv/python", "/opt"]
SYSTEM = ["/usr/local/bin", "/usr/bin"]
PROBE = "import ensurepip, ssl, sys, venv; print(sys.version.split()[0], sys.executable, sys.base_prefix, sep='\\n')"
KEPT = re.compile(r"PATH|LANG|LC_\w+|TERM|TMPDIR|PIP_\w+|SSL_\w+|\w+_(?:proxy|PROXY)")  # of the environment
# For one process and its children, root's home holds nothing but an interpreter that is there, and anyone may enter it.
LEND = """
set -e; home=$1; prefix=$2; shift 2
kept=$(mktemp -d); mount --bind "$prefix" "$kept"
mount -t tmpfs -o mode=755 tmpfs "$home"; mkdir -p "$prefix"; mount --bind "$kept" "$prefix"
umount "$kept"; rmdir "$kept"; exec "$@"
"""


class NotPossible(Exception):
    """This row cannot run on this machine; says why."""


@dataclass(frozen=True)
class Interpreter:
    version: str
    program: Path
    prefix: Path

    @property
    def number(self) -> tuple[int, ...]:
        return tuple(int(part) for part in re.findall(r"\d+", self.version)[:3])


@dataclass(frozen=True)
class Account:
    name: str
    uid: int
    gid: int


@dataclass(frozen=True)
class Row:
    python: Interpreter
    who: str  # "root", "user" (an ordinary one, made for this) or "you"
    where: str  # the folder's name; one with "private" in it is closed to others

    @property
    def name(self) -> str:
        return f"{self.python.version} {self.who} '{self.where}'"


@dataclass(frozen=True)
class Result:
    row: Row
    tests: str
    installed: str
    seconds: float

    @property
    def passed(self) -> bool:
        return self.tests.startswith("passed") and self.installed == "passed"


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("only", nargs="*", help="words that a row's name must contain")
    parser.add_argument("--jobs", type=int, default=1, help="how many rows run at a time (default: 1)")
    parser.add_argument("--list", action="store_true", help="print the rows and run none")
    asked = parser.parse_args()
    rows = [row for row in planned(interpreters()) if all(word in row.name for word in asked.only)]
    if asked.list or not rows:
        print("\n".join(row.name for row in rows) or "No Python on this machine fits.")
        return 0 if rows else 1
    if subprocess.run(["git", "-C", ROOT, "diff", "--quiet", "HEAD"]).returncode:
        print("Uncommitted changes are not tested: every row clones the last commit.")
    LOGS.mkdir(exist_ok=True)
    with Folders() as folders, ThreadPoolExecutor(asked.jobs) as pool:
        results = list(pool.map(lambda row: run(row, folders), rows))
    print("\n" + table(results))
    return 0 if all(result.passed for result in results) else 1


def interpreters() -> list[Interpreter]:
    """Each version once, the oldest first."""
    folders = [Path(folder) for folder in os.get_exec_path()]
    for place in PLACES:
        with suppress(OSError):
            folders += [versioned / "bin" for versioned in sorted(Path(place).expanduser().iterdir())]
    folders += map(Path, SYSTEM)
    found: dict[str, Interpreter] = {}
    for folder in folders:
        programs: list[Path] = []
        with suppress(OSError):  # it is not there, or not ours to read
            programs = sorted(
                file for file in folder.iterdir() if re.fullmatch(r"python3(\.\d+)?", file.name)
            )
        for program in programs:
            if python := probe(program):
                found.setdefault(python.version, python)
    return sorted(found.values(), key=lambda python: python.number)


def probe(program: Path, account: Account | None = None, prefix: Path | None = None) -> Interpreter | None:
    """None for one that is too old, is broken, cannot make an environment or is itself inside one."""
    try:
        done = as_(
            account, [program, "-I", "-c", PROBE], lent=prefix, capture_output=True, text=True, cwd="/"
        )
    except OSError:
        return None
    version, executable, base = [*done.stdout.splitlines(), "", "", ""][:3]
    python = Interpreter(version, Path(executable), Path(base))
    inside_environment = (python.program.parent.parent / "pyvenv.cfg").exists()
    return None if done.returncode or python.number < OLDEST or inside_environment else python


def planned(pythons: list[Interpreter]) -> Iterator[Row]:
    is_root = os.getuid() == 0
    for python in pythons:
        yield Row(python, "root" if is_root else "you", "open")
        yield Row(python, "root" if is_root else "you", "private")
        yield Row(python, "user" if is_root else "you", "with a space")


class Folders:
    """A temporary place for clones and homes, and the ordinary user: removed at the end."""

    def __enter__(self) -> "Folders":
        self.root = Path(subprocess.check_output(["mktemp", "-d"], text=True).strip())
        self.root.chmod(0o755)
        self._lock = threading.Lock()
        self._user: Account | None = None
        self._is_ours = False  # the user was made here, and goes with the folders
        return self

    def __exit__(self, *failure: object) -> None:
        shutil.rmtree(self.root, ignore_errors=True)
        if self._is_ours:
            subprocess.run(["userdel", USER], capture_output=True)

    def account(self, who: str) -> Account | None:
        """None = whoever runs this."""
        if who != "user":
            return None
        with self._lock:
            if self._user is None:
                made = subprocess.run(["useradd", "--no-create-home", USER], capture_output=True, text=True)
                if made.returncode not in (0, 9):  # 9 = it is there
                    raise NotPossible(f"no ordinary user could be made: {made.stderr.strip()}")
                self._is_ours = made.returncode == 0
                entry = pwd.getpwnam(USER)
                self._user = Account(USER, entry.pw_uid, entry.pw_gid)
            return self._user

    def folder(self, name: str, account: Account | None) -> Path:
        """A folder for an account; made once."""
        path = self.root / name
        path.mkdir(exist_ok=True, parents=True)
        if account:
            os.chown(path, account.uid, account.gid)
        return path


def to_lend(python: Interpreter, account: Account | None) -> Path | None:
    """The folder in root's home that an account needs to run an interpreter. None if it can run it already."""
    if account is None or probe(python.program, account):
        return None
    if Path.home() not in python.prefix.parents:
        raise NotPossible(f"{account.name} may not run {python.program}")
    if not probe(python.program, account, python.prefix):
        raise NotPossible(f"{python.prefix} could not be lent to {account.name}")
    return python.prefix


def run(row: Row, folders: Folders) -> Result:
    print(f"{row.name} …", flush=True)
    result = measured(row, folders)
    print(f"{row.name}: {result.tests}; install and demo: {result.installed}", flush=True)
    return result


def measured(row: Row, folders: Folders) -> Result:
    started = time.monotonic()
    log = LOGS / (re.sub(r"\W+", "-", row.name).strip("-") + ".log")
    try:
        account = folders.account(row.who)
        prefix = to_lend(row.python, account)
        clone = fresh_clone(row, folders, account)
    except NotPossible as reason:
        return Result(row, f"not possible: {reason}", "–", 0.0)
    home = folders.folder(f"home of {row.who}", account)
    with log.open("wb") as output:

        def step(*command: str | Path) -> bool:
            output.write(f"\n$ {' '.join(map(str, command))}\n".encode())
            output.flush()
            streams = {"stdin": subprocess.DEVNULL, "stdout": output, "stderr": output}
            return as_(account, command, home, prefix, cwd=clone, **streams).returncode == 0

        tests = step("make", "test", f"PYTHON={row.python.program}")
        clean = clone / "clean environment"
        installed = (
            step(row.python.program, "-m", "venv", clean)
            and step(clean / "bin" / "python", "-m", "pip", "install", "--quiet", ".")
            and step(clean / "bin" / "recollect", "demo")
        )
    shutil.rmtree(clone, ignore_errors=True)
    counts = re.findall(rb"^\d+ .*(?:passed|failed|error).*$", log.read_bytes(), re.MULTILINE)
    said = f" ({counts[-1].decode()})" if counts else f" (see {log.relative_to(ROOT)})"
    return Result(
        row,
        ("passed" if tests else "failed") + said,
        "passed" if installed else "failed",
        time.monotonic() - started,
    )


def fresh_clone(row: Row, folders: Folders, account: Account | None) -> Path:
    clone = folders.folder(re.sub(r"\W+", "-", f"{row.python.version} {row.who}"), account) / row.where
    subprocess.run(["git", "clone", "--quiet", ROOT, clone], check=True)
    if account:
        subprocess.run(["chown", "-R", f"{account.uid}:{account.gid}", clone], check=True)
    clone.chmod(0o700 if "private" in row.where else 0o755)
    return clone


def as_(
    account: Account | None,
    command: Sequence[str | Path],
    home: Path | None = None,
    lent: Path | None = None,
    **more: Any,
) -> Any:
    """Run a command as an account, with its home and little else of this environment; with a folder lent to it."""
    environment = {name: value for name, value in os.environ.items() if KEPT.fullmatch(name)}
    environment["HOME"] = str(home or "/")
    if account is None:
        return subprocess.run(command, env=environment, check=False, **more)
    environment |= {"USER": account.name, "LOGNAME": account.name}
    if lent:
        become = ["setpriv", f"--reuid={account.uid}", f"--regid={account.gid}", "--clear-groups"]
        command = ["unshare", "--mount", "sh", "-c", LEND, "sh", Path.home(), lent, *become, *command]
        return subprocess.run(command, env=environment, check=False, **more)
    identity = {"user": account.uid, "group": account.gid, "extra_groups": []}
    return subprocess.run(command, env=environment, check=False, **identity, **more)


def table(results: list[Result]) -> str:
    head = "| Python | who | folder | `make test` | install and demo | minutes |\n| --- | --- | --- | --- | --- | --- |"
    return "\n".join(
        [
            head,
            *(
                f"| {result.row.python.version} | {result.row.who} | {result.row.where} | {result.tests}"
                f" | {result.installed} | {result.seconds / 60:.1f} |"
                for result in results
            ),
        ]
    )


if __name__ == "__main__":
    sys.exit(main())
