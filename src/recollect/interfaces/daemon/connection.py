"""The chain from a host to memory, link by link: its configuration, the hook program, the spool, the daemon."""

import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from recollect.errors import RecollectError
from recollect.interfaces.daemon import client
from recollect.interfaces.install.change import read, text_of
from recollect.interfaces.install.ledger import Ledger, Record
from recollect.interfaces.install.pieces import OwnPiece, pieces
from recollect.interfaces.install.plan import carry_out, plan_install
from recollect.interfaces.install.table import HOSTS, Host, Machine
from recollect.memory.maintenance.doctor import Diagnosis

_PATIENCE = 10  # seconds for a program that should need a tenth of one
_STALE = 24  # hours that events may wait


@dataclass(frozen=True, slots=True)
class Installation:
    host: Host
    scope: str
    root: Path

    @property
    def name(self) -> str:
        where = "for you" if self.scope == "user" else f"in {self.root}"
        return f"{self.host.title} ({where})"

    @property
    def doing(self) -> str:
        return f"recollect install {self._words}"

    @property
    def undoing(self) -> str:
        return f"recollect uninstall {self._words}"

    @property
    def _words(self) -> str:
        return self.host.name + (f" --project {self.root}" if self.scope == "project" else "")


def installations(records: Iterable[Record]) -> list[Installation]:
    """What the ledger knows of, in the order of the table."""
    found = {(record.host, record.scope, record.root) for record in records if record.host in HOSTS}
    order = list(HOSTS)
    return [
        Installation(HOSTS[host], scope, Path(root))
        for host, scope, root in sorted(found, key=lambda each: (order.index(each[0]), *each[1:]))
    ]


def check_connection(home: Path, machine: Machine, now: datetime) -> tuple[Diagnosis, ...]:
    records = Ledger(home).records()
    found = installations(records)
    return (
        *(_host(each, machine, records) for each in found),
        *([_hook(found[0], machine)] if found else [_no_host()]),
        _spool(home, now),
        _daemon(home),
    )


def repair_hosts(home: Path, machine: Machine) -> list[str]:
    """Install again what is incomplete; what was done. Raises `Refused`."""
    ledger = Ledger(home)
    done = []
    for each in installations(ledger.records()):
        if each.scope == "project" and not each.root.is_dir():
            with ledger.alone():
                gone = [record for record in ledger.records() if record.root == str(each.root)]
                ledger.update([], [(record.path, record.host) for record in gone])
            done.append(f"{each.name}: the folder is gone, and forgotten.")
        elif not _host(each, machine, ledger.records()).ok:
            carry_out(plan_install(each.host, each.scope, each.root, machine, ledger), ledger)
            done.append(f"{each.name}: installed again.")
    return done


def _no_host() -> Diagnosis:
    return Diagnosis("host", True, "None is connected.", "`recollect install` shows which are here.")


def _host(installation: Installation, machine: Machine, records: Iterable[Record]) -> Diagnosis:
    def ill(finding: str) -> Diagnosis:
        return Diagnosis(
            "host", False, f"{installation.name}: {finding}", f"`{installation.doing}` mends it."
        )

    if installation.scope == "project" and not installation.root.is_dir():
        return ill("the folder is gone.")
    written = {record.path for record in records if record.host == installation.host.name}
    configured = [
        piece
        for piece in pieces(installation.host, installation.scope, installation.root, machine)
        if str(piece.path) in written and not isinstance(piece, OwnPiece)
    ]
    for piece in configured:
        try:
            data = read(piece.path)
            if data is None:
                return ill(f"{piece.path} is gone.")
            text = text_of(piece.path, data)
            programs = set(piece.programs(text))
            missing = sorted(each for each in programs if not Path(each).is_file())
            if missing:
                return ill(f"{piece.path} starts {missing[0]}, which is not there.")
            if not piece.is_in(text) and programs <= {
                machine.program[0]
            }:  # else another Recollect is at work
                return ill(f"{piece.path} is not as it would be installed now.")
        except (RecollectError, ValueError) as error:
            return ill(f"{piece.path} cannot be read: {error}")
    return Diagnosis("host", True, f"{installation.name}: connected.")


def _hook(installation: Installation, machine: Machine) -> Diagnosis:
    """Without an event it does nothing, but it does start."""
    words = [*machine.program, "hook", installation.host.name, installation.host.hooks[0].event]
    try:
        done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, timeout=_PATIENCE)
    except (OSError, subprocess.SubprocessError) as error:
        return Diagnosis("hook", False, f"{words[0]} does not run: {error}.", "Install Recollect again.")
    if done.returncode or done.stdout:
        said = (done.stderr or done.stdout).decode("utf-8", "replace").strip().splitlines()
        finding = (
            f"{words[0]} hook ends with code {done.returncode}: {said[-1] if said else 'without a word'}"
        )
        return Diagnosis("hook", False, finding, "Install Recollect again.")
    return Diagnosis("hook", True, f"{words[0]} runs.")


def waiting_files(home: Path) -> list[Path]:
    """Of events that nobody has taken in yet."""
    return [file for file in (home / "spool").rglob("*") if file.suffix in (".jsonl", ".draining")]


def _spool(home: Path, now: datetime) -> Diagnosis:
    waiting = waiting_files(home)
    if not waiting:
        return Diagnosis("spool", True, "Empty: no events wait.")
    oldest = min(datetime.fromtimestamp(file.stat().st_mtime, UTC) for file in waiting)
    hours = max((now - oldest).total_seconds() / 3600, 0.0)
    what = "The events of a session wait" if len(waiting) == 1 else f"{len(waiting)} files of events wait"
    hint = "The daemon takes them in; `recollect doctor --fix` starts it."
    return Diagnosis("spool", hours < _STALE, f"{what}, the oldest for {hours:.0f} hours.", hint)


def _daemon(home: Path) -> Diagnosis:
    status = client.status(home)
    if status is not None:
        return Diagnosis("daemon", True, f"Running, process {status.get('pid', 'unknown')}.")
    if client.is_running(home):
        hint = "Hooks go on without it. `recollect daemon stop` ends it; the next one starts by itself."
        return Diagnosis("daemon", False, "It runs and does not answer.", hint)
    return Diagnosis("daemon", True, "Not running: it starts when it is needed.")
