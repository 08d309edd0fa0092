"""Check the connection from a host to memory, step by step: its configuration, the hook program, the spool, the daemon."""

import subprocess
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import recollect.model as m
from recollect.errors import NoHome, RecollectError, TeamError
from recollect.interfaces.daemon_client import control
from recollect.interfaces.daemon_client.stuck import read_stuck
from recollect.interfaces.install.change import read, text_of
from recollect.interfaces.install.edits import FileEdit, JsonEdit, OwnFile, edits_for
from recollect.interfaces.install.installations import Installation, installations
from recollect.interfaces.install.ledger import InstalledFile, Ledger
from recollect.interfaces.install.machine import Machine, this_machine
from recollect.interfaces.install.plan import carry_out, plan_install
from recollect.memory.maintenance.doctor import Diagnosis
from recollect.store.spool_files import count_refused
from recollect.text import jsonc

if TYPE_CHECKING:
    from recollect.engine import Engine

_HOOK_SECONDS = 10  # for a program that needs a tenth of a second
_STALE_HOURS = 24  # that events may wait
_ABANDONED_DAYS = 2  # for which abandoned work is named


def check_all(engine: "Engine") -> tuple[Diagnosis, ...]:
    """Return all checks of `recollect doctor`: the project, the team, the connected hosts, then the store and the model."""
    try:
        hosts = check_connection(engine.home, this_machine(), m.utc_now())
    except NoHome as error:
        hosts = (Diagnosis("host", False, error.message, error.hint),)
    project, *others = engine.doctor()
    return (project, *_check_team(engine), *hosts, *others)


def _check_team(engine: "Engine") -> tuple[Diagnosis, ...]:
    """Return whether the team server answers and what waits for it; nothing without a login."""
    if (remote := engine.remote) is None:
        return ()
    waits = " What agents learnt waits here until it is delivered." if remote.outbox.waiting() else ""
    try:
        me = remote.client.call("whoami", {})
    except TeamError as error:
        return (Diagnosis("team", False, f"{error.message}{waits}", error.hint),)
    return (
        Diagnosis("team", True, f"{me.name} ({me.role}) in {me.team}, on {remote.login.address}.{waits}"),
    )


def check_connection(home: Path, machine: Machine, now: datetime) -> tuple[Diagnosis, ...]:
    """Return a diagnosis for each installation and for what all of them share."""
    records = Ledger(home).records()
    connected = installations(records)
    return (
        *(_check_host(installation, machine, records) for installation in connected),
        *(check for installation in connected for check in _check_use(installation, connected, machine)),
        *([_check_hook(connected[0], machine)] if connected else [_no_host()]),
        *_check_refused(home),
        _check_spool(home, now),
        _check_daemon(home),
        *_check_abandoned(home, now),
    )


def repair_hosts(home: Path, machine: Machine) -> list[str]:
    """Install again what is incomplete, and return what was done. Raise `Refused` if a file cannot be changed."""
    ledger = Ledger(home)
    done = []
    for installation in installations(ledger.records()):
        if installation.scope == "project" and not installation.root.is_dir():
            with ledger.lock():
                gone = [record for record in ledger.records() if record.root == str(installation.root)]
                ledger.update([], [(record.path, record.host) for record in gone])
            done.append(f"{installation.name}: the folder no longer exists; its installation is forgotten.")
        elif not _check_host(installation, machine, ledger.records()).ok:
            plan = plan_install(installation.host, installation.scope, installation.root, machine, ledger)
            carry_out(plan, ledger)
            done.append(f"{installation.name}: installed again.")
    return done


def _no_host() -> Diagnosis:
    return Diagnosis(
        "host", True, "No agent is connected.", "Run `recollect install` to list the installed agents."
    )


def _check_host(installation: Installation, machine: Machine, records: Iterable[InstalledFile]) -> Diagnosis:
    def problem(finding: str) -> Diagnosis:
        hint = f"`{installation.install_command}` fixes it."
        return Diagnosis("host", False, f"{installation.name}: {finding}", hint)

    if installation.scope == "project" and not installation.root.is_dir():
        return problem("the folder no longer exists.")
    written = {record.path for record in records if record.host == installation.host.name}
    configured = [
        edit
        for edit in edits_for(installation.host, installation.scope, installation.root, machine)
        if str(edit.path) in written and not isinstance(edit, OwnFile)
    ]
    known = {
        str(edit.path)
        for edit in edits_for(installation.host, installation.scope, installation.root, machine)
    }
    for path in sorted(_paths_of(installation, records) - known):
        if Path(path).exists():
            return problem(f"{path} is left of an older version.")
    for edit in configured:
        try:
            data = read(edit.path)
            if data is None:
                return problem(f"{edit.path} no longer exists.")
            text = text_of(edit.path, data)
            programs = set(edit.programs(text))
            missing = sorted(program for program in programs if not Path(program).is_file())
            if missing:
                return problem(f"{edit.path} starts {missing[0]}, which does not exist.")
            # Entries that start another program belong to another Recollect, and are as that one wants them.
            if not edit.is_applied(text) and programs <= {machine.program[0], *machine.hook_program}:
                return problem(f"{edit.path} differs from what would be installed now.")
        except (RecollectError, ValueError) as error:
            return problem(f"{edit.path} cannot be read: {error}")
    return Diagnosis("host", True, f"{installation.name}: connected.")


def _paths_of(installation: Installation, records: Iterable[InstalledFile]) -> set[str]:
    root = str(installation.root) if installation.scope == "project" else ""
    wanted = (installation.host.name, installation.scope, root)
    return {record.path for record in records if (record.host, record.scope, record.root) == wanted}


def _check_use(
    installation: Installation, connected: Sequence[Installation], machine: Machine
) -> Iterator[Diagnosis]:
    """Yield what a new installation cannot fix: hooks that are not trusted, other variables, things that are there twice."""
    host = installation.host
    for edit in edits_for(host, installation.scope, installation.root, machine):
        try:
            data = read(edit.path)
            text = text_of(edit.path, data) if data is not None else ""
            findings = [
                *_untrusted(installation, edit, text, machine),
                *_other_variables(edit, text, machine),
                *_twice(installation, edit, text, connected, machine),
            ]
        except (RecollectError, ValueError):
            continue  # it is named by `_check_host`
        for finding, hint in findings:
            yield Diagnosis("host", False, f"{installation.name}: {finding}", hint)


def _untrusted(
    installation: Installation, edit: FileEdit, text: str, machine: Machine
) -> Iterator[tuple[str, str]]:
    trust = installation.host.hook_trust
    if trust is None or not isinstance(edit, JsonEdit) or not edit.hooks:
        return
    data = read(machine.path(installation.host, trust.file, installation.root))
    states: Any = tomllib.loads(data.decode("utf-8", "replace")) if data else {}
    for key in trust.keys:
        states = states.get(key, {}) if isinstance(states, dict) else {}
    events = []
    for event, place, index, entry in edit.our_hooks(text):
        state = states.get(trust.key(str(edit.path), event, place, index), {})
        is_trusted = state.get("trusted_hash") == trust.digest(event, entry)
        if not is_trusted or state.get("enabled") is False:
            events.append(event)
    if events:
        yield f"it does not run hooks that you have not trusted: {', '.join(events)}.", trust.hint


def _other_variables(edit: FileEdit, text: str, machine: Machine) -> Iterator[tuple[str, str]]:
    for name, value in sorted(edit.variables(text).items()):
        if name.startswith("RECOLLECT_") and value != machine.environment.get(name, ""):
            ours = machine.environment.get(name)
            yield (
                f"{edit.path} gives the MCP server another {name} than hooks have: {value}, not {ours or 'none'}.",
                f"Set {name} in your shell's profile, or remove it from {edit.path}.",
            )


def _twice(
    installation: Installation, edit: FileEdit, text: str, connected: Sequence[Installation], machine: Machine
) -> Iterator[tuple[str, str]]:
    host = installation.host
    if not isinstance(edit, JsonEdit) or not edit.hooks or not edit.our_hooks(text):
        return
    if installation.scope == "project" and any(
        other.host == host and other.scope == "user" for other in connected
    ):
        yield (
            "each event is recorded twice: it is connected for you too.",
            _run(installation.uninstall_command),
        )
    if host.bundle_folder and machine.path(host, host.bundle_folder, machine.user).is_dir():
        yield "it is there twice: as an extension too.", _run(installation.uninstall_command)
    plugins = jsonc.load(text).get(host.bundle_keys, {}) if host.bundle_keys else {}
    if any(name.startswith("recollect@") and plugins[name] for name in plugins):
        yield "it is there twice: as a plugin too.", _run(installation.uninstall_command)


def _run(command: str) -> str:
    return f"Run `{command}`, or remove the other one."


def _check_hook(installation: Installation, machine: Machine) -> Diagnosis:
    """Start the hook program without an event: it does nothing, but shows that it runs."""
    words = machine.hook_words(installation.host, installation.host.hooks[0].event)
    try:
        done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, timeout=_HOOK_SECONDS)
    except (OSError, subprocess.SubprocessError) as error:
        return Diagnosis("hook", False, f"{words[0]} does not run: {error}.", "Install Recollect again.")
    if done.returncode or done.stdout:
        lines = (done.stderr or done.stdout).decode("utf-8", "replace").strip().splitlines()
        finding = f"{words[0]} ends with code {done.returncode}: {lines[-1] if lines else 'no message'}"
        return Diagnosis("hook", False, finding, "Install Recollect again.")
    return Diagnosis("hook", True, f"{words[0]} runs.")


def waiting_files(home: Path) -> list[Path]:
    """Return the files of events that wait for the daemon."""
    return [file for file in (home / "spool").rglob("*") if file.suffix in (".jsonl", ".draining")]


def _check_refused(home: Path) -> tuple[Diagnosis, ...]:
    if not (count := count_refused(home)):
        return ()
    finding = f"{count:,} {'event was' if count == 1 else 'events were'} refused: the spool was full, or the store is encrypted"
    hint = "Run any command with the key at hand, then `recollect doctor --fix`, which reads what waits and resets the count."
    return (Diagnosis("spool", False, f"{finding} and its note is of an older version.", hint),)


def _check_spool(home: Path, now: datetime) -> Diagnosis:
    waiting = waiting_files(home)
    if not waiting:
        return Diagnosis("spool", True, "Empty: no events are waiting.")
    oldest = min(datetime.fromtimestamp(file.stat().st_mtime, UTC) for file in waiting)
    hours = max((now - oldest).total_seconds() / 3600, 0.0)
    what = (
        "Events of one session are waiting"
        if len(waiting) == 1
        else f"{len(waiting)} files of events are waiting"
    )
    hint = "The daemon processes them. Run `recollect doctor --fix` to start it."
    return Diagnosis("spool", hours < _STALE_HOURS, f"{what}, the oldest for {hours:.0f} hours.", hint)


def _check_abandoned(home: Path, now: datetime) -> tuple[Diagnosis, ...]:
    """Name the projects whose work the daemon has given up lately."""
    since = now.timestamp() - _ABANDONED_DAYS * 86_400
    entries = [each for each in read_stuck(home) if each["at"] >= since]
    works = {str(each.get("project")): str(each.get("work")) for each in entries}
    hint = "Look for unusual files there (a pipe, a file of gigabytes). `recollect daemon logs` has more."
    return tuple(
        Diagnosis("daemon", False, f"Work for {project} took too long and was abandoned ({work}).", hint)
        for project, work in works.items()
    )


def _check_daemon(home: Path) -> Diagnosis:
    status = control.status(home)
    if status is not None and status.get("stuck"):
        stuck = "; ".join(f"{each['project']} ({each['work']})" for each in status["stuck"])
        hint = "Its events wait in the spool. Run `recollect daemon stop`; the next hook starts a new one."
        return Diagnosis("daemon", False, f"Running, but work for a project does not end: {stuck}.", hint)
    if status is not None:
        return Diagnosis("daemon", True, f"Running, process {status.get('pid', 'unknown')}.")
    if control.is_running(home):
        hint = "Hooks work without it. Run `recollect daemon stop`; the next hook starts a new one."
        return Diagnosis("daemon", False, "Running, but not answering.", hint)
    return Diagnosis("daemon", True, "Not running: it starts when needed.")
