"""Run `make test`, `pip install .` and `recollect demo` with every Python on this machine.

Each Python from 3.11 on runs them in fresh clones of the last commit. As root: in an open folder, in a private one (mode
0700), and as an ordinary user in a folder with a space in its name. Otherwise all rows run as you. The ordinary user is
created for the run and removed afterwards.

    make matrix                        all rows
    make matrix MATRIX="3.12 user"     rows that match these words
    make matrix MATRIX="--jobs 2"      two rows at a time
    make matrix MATRIX="--list"        print the rows and run none

The log of each row is in .matrix/. The exit code is 1 if a row failed or could not run.
"""

import argparse
import os
import pwd
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
LOGS = ROOT / ".matrix"
USER = f"recollect-matrix-{os.getpid()}"  # two runs at once do not share a user
OLDEST = (3, 11)
VERSION_FOLDERS = ["~/.pyenv/versions", "~/.local/share/uv/python", "/opt"]
SYSTEM_FOLDERS = ["/usr/local/bin", "/usr/bin"]
PROBE = (
    "import ensurepip, ssl, sys, venv;"
    "print(sys.version.split()[0], sys.executable, sys.base_prefix, sep='\\n')"
)
PASSED_ON = re.compile(r"PATH|LANG|LC_\w+|TERM|TMPDIR|PIP_\w+|SSL_\w+|\w+_(?:proxy|PROXY)")  # variables
# Run a command in a mount namespace of its own, where root's home is world-readable and holds only one interpreter.
MOUNT_PREFIX = """
set -e; home=$1; prefix=$2; shift 2
kept=$(mktemp -d); mount --bind "$prefix" "$kept"
mount -t tmpfs -o mode=755 tmpfs "$home"; mkdir -p "$prefix"; mount --bind "$kept" "$prefix"
umount "$kept"; rmdir "$kept"; exec "$@"
"""


class CannotRun(Exception):
    """Raised with the reason when a row cannot run on this machine."""


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
    who: str  # "root", "user" (created for the run) or "you"
    folder: str  # the clone's name

    @property
    def name(self) -> str:
        return f"{self.python.version} {self.who} '{self.folder}'"

    def matches(self, word: str) -> bool:
        return (
            word in (self.python.version, self.who)
            or self.python.version.startswith(f"{word}.")
            or word in self.folder
        )


@dataclass(frozen=True)
class Result:
    row: Row
    tests: str
    installed: str
    seconds: float

    @property
    def has_passed(self) -> bool:
        return self.tests.startswith("passed") and self.installed == "passed"


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("words", nargs="*", help="run the rows that match all of these words")
    parser.add_argument("--jobs", type=int, default=1, help="how many rows run at a time (default: 1)")
    parser.add_argument("--list", action="store_true", help="print the rows and run none")
    options = parser.parse_args()
    rows = [row for row in planned_rows(find_interpreters()) if all(map(row.matches, options.words))]
    if options.list or not rows:
        print("\n".join(row.name for row in rows) or "No Python on this machine fits.")
        return 0 if rows else 1
    if subprocess.run(["git", "-C", ROOT, "status", "--porcelain"], capture_output=True).stdout:
        print("Uncommitted changes are not tested: every row clones the last commit.")
    LOGS.mkdir(exist_ok=True)
    with Workspace() as workspace, ThreadPoolExecutor(options.jobs) as pool:
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda number, frame: workspace.stop())
        running = [pool.submit(run, row, workspace) for row in rows]
        while wait(running, timeout=1.0).not_done:
            pass  # Python handles a signal that arrives just before it waits only when it wakes up
        results = [each.result() for each in running]
    print("\n" + table(results))
    if workspace.is_stopping:
        return 130
    return 0 if all(result.has_passed for result in results) else 1


def find_interpreters() -> list[Interpreter]:
    """Return one interpreter per version, oldest first."""
    folders = [Path(folder) for folder in os.get_exec_path()]
    for place in VERSION_FOLDERS:
        with suppress(OSError, RuntimeError):  # there is none, or no home
            folders += [version / "bin" for version in sorted(Path(place).expanduser().iterdir())]
    folders += map(Path, SYSTEM_FOLDERS)
    by_version: dict[str, Interpreter] = {}
    for folder in folders:
        programs: list[Path] = []
        with suppress(OSError):  # it does not exist, or we may not read it
            programs = sorted(
                file for file in folder.iterdir() if re.fullmatch(r"python3(\.\d+)?", file.name)
            )
        for program in programs:
            if python := probe(program):
                by_version.setdefault(python.version, python)
    return sorted(by_version.values(), key=lambda python: python.number)


def probe(program: Path, account: Account | None = None, mounted: Path | None = None) -> Interpreter | None:
    """Return None if the program is too old, broken, without venv, or in a virtual environment."""
    try:
        done = run_as(
            account, [program, "-I", "-c", PROBE], mounted=mounted, capture_output=True, text=True, cwd="/"
        )
    except OSError:
        return None
    version, executable, prefix = [*done.stdout.splitlines(), "", "", ""][:3]
    python = Interpreter(version, Path(executable), Path(prefix))
    is_in_environment = (python.program.parent.parent / "pyvenv.cfg").exists()
    return None if done.returncode or python.number < OLDEST or is_in_environment else python


def planned_rows(pythons: Sequence[Interpreter]) -> Iterator[Row]:
    is_root = os.getuid() == 0
    for python in pythons:
        yield Row(python, "root" if is_root else "you", "open")
        yield Row(python, "root" if is_root else "you", "private")
        yield Row(python, "user" if is_root else "you", "with a space")


class Workspace:
    """Temporary folders and, for root, a temporary user; both are removed on exit."""

    def __enter__(self) -> "Workspace":
        self.root = Path(tempfile.mkdtemp(prefix="recollect-matrix-"))
        self.root.chmod(0o755)
        self._lock = threading.Lock()
        self._user: Account | None = None
        self._processes: set[subprocess.Popen[bytes]] = set()
        self.is_stopping = False
        return self

    def __exit__(self, *failure: object) -> None:
        if self._user:
            # Tests may leave a daemon, and the folder of pytest belongs to a user id that somebody else may get.
            subprocess.run(["pkill", "-KILL", "-u", str(self._user.uid)], check=False)
            shutil.rmtree(Path(tempfile.gettempdir()) / f"pytest-of-{USER}", ignore_errors=True)
            if subprocess.run(["userdel", USER], capture_output=True).returncode:
                print(f"The user {USER} could not be removed. Run: userdel {USER}")
        shutil.rmtree(self.root, ignore_errors=True)

    def account(self, who: str) -> Account | None:
        """Return None for whoever runs this."""
        if who != "user":
            return None
        with self._lock:
            if self._user is None:
                useradd = subprocess.run(
                    ["useradd", "--no-create-home", USER], capture_output=True, text=True
                )
                if useradd.returncode:
                    raise CannotRun(f"no ordinary user could be created: {useradd.stderr.strip()}")
                entry = pwd.getpwnam(USER)
                self._user = Account(USER, entry.pw_uid, entry.pw_gid)
            return self._user

    def folder(self, name: str, account: Account | None) -> Path:
        """Return a folder of the account's, created when it is first asked for."""
        path = self.root / name
        path.mkdir(exist_ok=True)
        if account:
            os.chown(path, account.uid, account.gid)
        return path

    def clone(self, row: Row, account: Account | None) -> Path:
        clone = self.folder(re.sub(r"\W+", "-", row.name).strip("-"), account) / row.folder
        # Without hard links: the objects of this repository must not change their owner.
        subprocess.run(["git", "clone", "--quiet", "--no-hardlinks", ROOT, clone], check=True)
        if account:
            subprocess.run(["chown", "-R", f"{account.uid}:{account.gid}", clone], check=True)
        clone.chmod(0o700 if row.folder == "private" else 0o755)
        return clone

    def call(self, account: Account | None, command: Sequence[str | Path], **more: Any) -> bool:
        """Run a command and return whether it succeeded; after `stop`, run none."""
        with self._lock:
            if self.is_stopping:
                return False
            process = run_as(account, command, starter=subprocess.Popen, start_new_session=True, **more)
            self._processes.add(process)
        code = process.wait()
        with self._lock:
            self._processes.remove(process)
        return bool(code == 0)

    def stop(self) -> None:
        """End the commands that run, and start no others."""
        with self._lock:
            self.is_stopping = True
            for process in self._processes:
                with suppress(OSError):
                    os.killpg(process.pid, signal.SIGKILL)


def run(row: Row, workspace: Workspace) -> Result:
    print(f"{row.name} …", flush=True)
    started = time.monotonic()
    try:
        tests, installed = run_steps(row, workspace)
    except (CannotRun, OSError, subprocess.CalledProcessError) as reason:
        tests, installed = f"could not run: {reason}", "–"
    if workspace.is_stopping:
        tests, installed = "interrupted", "–"
    print(f"{row.name}: {tests}; install and demo: {installed}", flush=True)
    return Result(row, tests, installed, time.monotonic() - started)


def run_steps(row: Row, workspace: Workspace) -> tuple[str, str]:
    if workspace.is_stopping:
        return "interrupted", "–"
    account = workspace.account(row.who)
    mounted = prefix_to_mount(row.python, account)
    clone = workspace.clone(row, account)
    home = workspace.folder(f"home of {row.who}", account)
    log = LOGS / (re.sub(r"\W+", "-", row.name).strip("-") + ".log")
    with log.open("wb") as output:

        def step(*command: str | Path) -> bool:
            output.write(f"\n$ {' '.join(map(str, command))}\n".encode())
            output.flush()
            streams = {"stdin": subprocess.DEVNULL, "stdout": output, "stderr": output}
            return workspace.call(account, command, home=home, mounted=mounted, cwd=clone, **streams)

        has_passed = step("make", "test", f"PYTHON={row.python.program}")
        counts = re.findall(rb"^\d+ .*(?:passed|failed|error).*$", log.read_bytes(), re.MULTILINE)
        clean = clone / "clean environment"
        is_installed = (
            step(row.python.program, "-m", "venv", clean)
            and step(clean / "bin" / "python", "-m", "pip", "install", "--quiet", ".")
            and step(clean / "bin" / "recollect", "demo")
        )
    shutil.rmtree(clone, ignore_errors=True)
    summary = counts[-1].decode() if counts else f"see {log.relative_to(ROOT)}"
    return f"{'passed' if has_passed else 'failed'} ({summary})", "passed" if is_installed else "failed"


def prefix_to_mount(python: Interpreter, account: Account | None) -> Path | None:
    """Return the folder to mount for the account, or None if it can already run the interpreter."""
    if account is None or probe(python.program, account):
        return None
    if Path.home() not in python.prefix.parents:
        raise CannotRun(f"{account.name} may not run {python.program}")
    if not probe(python.program, account, python.prefix):
        raise CannotRun(f"{python.prefix} could not be mounted for {account.name}")
    return python.prefix


def run_as(
    account: Account | None,
    command: Sequence[str | Path],
    *,
    home: Path | None = None,
    mounted: Path | None = None,
    starter: Any = subprocess.run,
    **more: Any,
) -> Any:
    """Run a command as an account, with its home and few variables of this environment."""
    environment = {name: value for name, value in os.environ.items() if PASSED_ON.fullmatch(name)}
    environment["HOME"] = str(home or "/")
    if account is None:
        return starter(command, env=environment, **more)
    environment |= {"USER": account.name, "LOGNAME": account.name}
    if mounted:
        become = ["setpriv", f"--reuid={account.uid}", f"--regid={account.gid}", "--clear-groups"]
        mount = ["unshare", "--mount", "sh", "-c", MOUNT_PREFIX, "sh", Path.home(), mounted]
        return starter([*mount, *become, *command], env=environment, **more)
    identity = {"user": account.uid, "group": account.gid, "extra_groups": []}
    return starter(command, env=environment, **identity, **more)


def table(results: Sequence[Result]) -> str:
    lines = [
        "| Python | who | folder | `make test` | install and demo | minutes |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    lines += [
        f"| {result.row.python.version} | {result.row.who} | {result.row.folder} | {result.tests}"
        f" | {result.installed} | {result.seconds / 60:.1f} |"
        for result in results
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
