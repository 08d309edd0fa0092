"""Commands that maintain the store: consolidate, changes, undo, backup, vacuum, encrypt, audit, doctor."""

import os
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import recollect.model as m
from recollect.interfaces.cli import output
from recollect.interfaces.cli.command import CliContext, CommandResult, rendered
from recollect.interfaces.cli.memories import print_skipped
from recollect.interfaces.cli.options import MEMORY, NameType, limit_option, refuse_both

if TYPE_CHECKING:
    from recollect.engine import Engine
    from recollect.memory.maintenance.consolidate.run import Consolidation

_NICE = 10  # the priority of a consolidation: foreground work goes first
_ID = re.compile(r"\b[0-9a-z]{18}\b")
_PLAN_LINES = 20  # printed for each operation of a dry run


@click.command()
@click.option("--dry-run", is_flag=True, help="Print the plan without changing anything.")
@click.option(
    "--only",
    multiple=True,
    type=NameType("operation", "recollect.memory.maintenance.consolidate.operations:OPERATIONS"),
    help="Only this operation: vectors, merge, contradictions, coaccess, links, ties, facts, prune, tags or clusters; "
    "repeatable.",
)
@click.option("--all-projects", is_flag=True, help="In all your projects.")
@rendered()
def consolidate(cli: CliContext, dry_run: bool, only: tuple[str, ...], all_projects: bool) -> CommandResult:
    """Merge duplicates, find contradictions, repair links and tags.

    Works on this project and your global memories, at low priority. Uncertain cases are added to `recollect review`. You can stop it at any time:
    the next run continues where it stopped. Use `recollect undo` to undo a whole run.
    """
    from recollect.memory.maintenance.consolidate.run import chosen

    if hasattr(os, "nice"):  # not on Windows
        os.nice(max(0, _NICE - os.nice(0)))
    try:
        with output.progress("Consolidating", 100 * len(chosen(only))) as advance:
            if not only and not dry_run:
                cli.engine.sessions.recover()
            done = cli.engine.care.consolidate(
                only, dry_run=dry_run, this_project=not all_projects, progress=advance
            )
    except KeyboardInterrupt:
        click.echo("Stopped. The next `recollect consolidate` continues from here.", err=True)
        raise
    return CommandResult(done, lambda: _print_consolidation(done, dry_run))


def _print_consolidation(done: "Consolidation", dry_run: bool) -> None:
    by_operation: dict[str, list[tuple[str, str, str, str]]] = {}
    for step in done.plan:
        ids = " ".join(id[-output.SHORT_ID :] for id in step.memories)
        row = (step.operation, step.counts_as, ids, output.one_line(step.why))
        by_operation.setdefault(step.operation, []).append(row)
    shown = [row for rows in by_operation.values() for row in rows[:_PLAN_LINES]]
    output.print_table(shown, ("green", "", "cyan"))
    if len(done.plan) > len(shown):
        click.echo(f"{len(done.plan) - len(shown):,} more; use --json to list all.")
    if dry_run:
        click.echo(f"Dry run: {done.summary[0].lower()}{done.summary[1:]}")
        return
    click.echo(f"{'Finished the interrupted run: ' if done.resumed else ''}{done.summary}")
    if done.change is not None:
        click.echo(f"Run `recollect undo {done.change[-output.SHORT_ID :]}` to undo this.")
    if any(done.counts.get(name) for name in ("proposed", "contradictions", "stale")):
        click.echo("Run `recollect review` to answer the open questions.")


def _print_changes(cli: CliContext, changes: Sequence[m.Change]) -> None:
    if not changes:
        click.echo("No changes found.")
    texts = _texts_named(cli, changes)
    rows = [
        (
            id,
            output.moment(change.at),
            _who(change),
            change.action,
            _with_texts(change, texts) + _status(change),
        )
        for id, change in zip(output.short_ids([change.id for change in changes]), changes, strict=True)
    ]
    output.print_table(rows, ("yellow", "", "", "cyan"), ("change", "time", "who", "action", "what"))


def _texts_named(cli: CliContext, changes: Sequence[m.Change]) -> dict[str, str]:
    """Return the texts of the memories that the summaries name, by id: people know them by their texts."""
    names = sorted({name for change in changes for name in _ID.findall(change.summary)})
    return {name: memory.summary for name, memory in cli.engine.memory.get_many(names).items()}


def _with_texts(change: m.Change, texts: Mapping[str, str]) -> str:
    """Return the summary with a text in the place of each id whose memory exists, and with short ids of what else it names."""
    return output.one_line(
        _ID.sub(
            lambda name: f"“{texts[name[0]]}”" if name[0] in texts else name[0][-output.SHORT_ID :],
            change.summary,
        )
    )


def _who(change: m.Change) -> str:
    """Return who made a change: "you", or the program in a word."""
    if change.actor == "user":
        return "you"
    if change.actor.startswith(m.SEEDS_OF):
        return "recollect"
    return output.one_line(change.actor.partition(":")[2] or change.actor)


def _status(change: m.Change) -> str:
    if change.undone_at is not None:
        return " (undone)"
    return "" if change.finished_at else " (interrupted)"


@click.command()
@limit_option(20)
@rendered()
def changes(cli: CliContext, limit: int) -> CommandResult:
    """List changes to memories that you can undo, newest first.

    Each command that changes memories is one change, and so is each statement of an agent, a consolidation, compaction or
    import. You can undo it for 30 days.
    """
    listed = cli.engine.care.changes(limit)
    return CommandResult(listed, lambda: _print_changes(cli, listed))


def _print_undone(undone: m.Undone, still_there: int) -> None:
    counts = {"removed": len(undone.restored) - still_there, "restored": still_there}
    done = [
        f"{output.count(number, 'memory', 'memories')} {what}" for what, number in counts.items() if number
    ]
    click.echo(f"Undone: {', '.join(done) or 'no memory was concerned'}.")
    print_skipped(undone.left_alone)


def _print_others(changes: Sequence[m.Change]) -> None:
    if changes:
        names = ", ".join(dict.fromkeys(map(_who, changes)))
        click.echo(
            f"{output.count(len(changes), 'later change')} by {names} will stay. List: `recollect changes`"
        )


@click.command()
@click.argument("change", metavar="[ID]", required=False)
@click.option("--yes", is_flag=True, help="Do not ask before undoing the last change.")
@rendered()
def undo(cli: CliContext, change: str | None, yes: bool) -> CommandResult:
    """Undo your last change, or the change with this id.

    Without an id, changes of agents stay. What was remembered is removed, what was forgotten or changed is restored. `recollect changes` lists the ids.
    Memories that have changed since are not restored, and are listed.
    """
    if change is None:
        last = cli.engine.care.last_change()
        if not cli.json:
            _print_changes(cli, [last])
            _print_others(cli.engine.care.changes_by_others(last))
            if not yes and sys.stdin.isatty():
                click.confirm("Undo this?", default=True, abort=True, err=True)
        change = last.id
    undone = cli.engine.care.undo(change)
    still_there = len(cli.engine.memory.get_many(undone.restored))
    return CommandResult(undone, lambda: _print_undone(undone, still_there))


def _print_backup(path: str) -> None:
    click.echo(f"Backed up to {output.printable(path)}")


@click.group(invoke_without_command=True, subcommand_metavar="[restore]")
@rendered(_print_backup, key="backup")
def backup(cli: CliContext) -> str | None:
    """Back up the store.

    The three newest backups are kept. Recollect also makes one every day.
    """
    if click.get_current_context().invoked_subcommand is not None:
        return None
    return cli.engine.backup()


@backup.command(name="restore")
@rendered(click.echo, key="restored")
def restore_backup(cli: CliContext) -> str:
    """Restore the newest intact backup when the store is gone.

    A damaged store needs no command: it is restored when it is opened.
    """
    from recollect.store import restore_missing_store
    from recollect.store.keys import find_key

    _stop_daemon(cli)
    database = cli.settings.database
    return restore_missing_store(database, find_key(database, os.environ))


def _print_vacuum(done: dict[str, Any]) -> None:
    size, free, saved = (f"{done[name] / 1e6:.1f} MB" for name in ("size", "free", "saved"))
    if done["done"]:
        click.echo(f"The file is now {size}, {saved} smaller.")
    else:
        click.echo(f"Not needed: {free} of {size} is unused. Use --force to do it anyway.")


@click.command()
@click.option("--force", is_flag=True, help="Run even if it frees little space.")
@rendered(_print_vacuum)
def vacuum(cli: CliContext, force: bool) -> dict[str, Any]:
    """Free the disk space of deleted memories.

    Recollect also does this once a quarter, and when a fifth of a file larger than 100 MB is unused.
    """
    _stop_daemon(cli)
    saved = cli.engine.care.vacuum(force=force)
    info = cli.engine.store.info()
    return {"done": saved is not None, "saved": saved or 0, "size": info.size, "free": info.free}


def _stop_daemon(cli: CliContext) -> None:
    """Stop the daemon, which has the store open. The next hook starts it again."""
    from recollect.interfaces.daemon_client import control

    control.stop(cli.settings.home)


def _print_encryption(done: dict[str, Any]) -> None:
    key = done["key"]
    if key is None:
        click.echo("The store and its backups are no longer encrypted.")
        return
    click.echo("The store and its backups are encrypted.")
    if key == "variable":
        click.echo("The key is the value of RECOLLECT_KEY, which must be set whenever Recollect runs.")
    elif key == "keychain":
        click.echo("The key is in the keychain of this machine, under recollect.")
    else:
        click.echo(f"The key is in {output.printable(key)}, where Recollect reads it.")
    click.echo("Keep a copy of the key in a safe place: without it, nobody can read the store, not even you.")


@click.command()
@click.option(
    "--key-file", type=click.Path(path_type=Path), help="Store the key in this file [the keychain]."
)
@click.option("--off", is_flag=True, help="Decrypt the store and its backups.")
@rendered(_print_encryption)
def encrypt(cli: CliContext, key_file: Path | None, off: bool) -> dict[str, Any]:
    """Encrypt the store and its backups.

    The key is stored in the keychain or a file, or taken from RECOLLECT_KEY.
    """
    refuse_both(off=off, key_file=key_file)
    _stop_daemon(cli)
    if off:
        cli.engine.decrypt()
        return {"encrypted": False, "key": None}
    return {"encrypted": True, "key": cli.engine.encrypt(key_file)}


@click.group(invoke_without_command=True, subcommand_metavar="[verify]")
@limit_option(20)
@click.option("--memory", metavar="ID", type=MEMORY, help="Only entries about this memory.")
@rendered(output.print_audit, key="lines", empty="No changes recorded yet.")
def audit(cli: CliContext, limit: int, memory: str | None) -> Sequence[m.AuditLine] | None:
    """Show who changed what, newest first.

    The log contains no text of memories.
    """
    if click.get_current_context().invoked_subcommand is not None:
        return None
    return cli.engine.audit(limit, memory)


def _print_verification(checked: m.AuditCheck) -> None:
    entries = output.count(checked.lines, "entry", "entries")
    result = "no entry was altered." if checked.problem is None else "found a problem."
    click.echo(f"Checked {entries}, {checked.archived:,} of them archived: {result}")
    if checked.problem is not None:
        click.echo(f"{checked.problem.what} {checked.problem.hint}", err=True)


def _verification_json(checked: m.AuditCheck) -> dict[str, Any]:
    return {
        "ok": checked.problem is None,
        "lines": checked.lines,
        "archived": checked.archived,
        "problem": checked.problem.what if checked.problem else None,
    }


@audit.command()
@rendered(_print_verification, json=_verification_json, failed=lambda checked: checked.problem is not None)
def verify(cli: CliContext) -> m.AuditCheck:
    """Check that no log entry was altered, including archived ones.

    Each entry contains the hash of the previous one. The exit code is 1 if a hash does not match.
    """
    return cli.engine.care.verify_audit()


def _print_checks(result: dict[str, Any]) -> None:
    output.print_notes(result.get("done", ()))
    passed = click.style(output.glyph("✓", "ok"), fg="green")
    failed = click.style(output.glyph("✗", "!!"), fg="red")
    for check in result["checks"]:
        click.echo(f"{passed if check.ok else failed} {check.part:<10} {output.one_line(check.finding)}")
        if check.hint:
            click.echo(f"  {'':<10} {output.one_line(check.hint)}")


@click.command()
@click.option("--fix", is_flag=True, help="Repair what can be repaired, then check again.")
@rendered(_print_checks, failed=lambda result: not result["ok"])
def doctor(cli: CliContext, fix: bool) -> dict[str, Any]:
    """Check the installation, from the agents to the store.

    Prints one line for each check, and what to do if it fails: the project, connected agents, the hook, waiting events,
    the daemon, the store and the model. The exit code is 1 if a check fails.
    """
    from recollect.interfaces.install.connection import check_all

    engine = cli.engine
    done = _repair(engine) if fix else []
    checks = check_all(engine)
    return {"ok": all(check.ok for check in checks), "checks": checks} | ({"done": done} if fix else {})


def _repair(engine: "Engine") -> list[str]:
    """Repair what can be repaired, and return a sentence for each repair."""
    from recollect.interfaces.cli.init import make_vectors
    from recollect.interfaces.daemon_client import control
    from recollect.interfaces.install.connection import repair_hosts, waiting_files
    from recollect.interfaces.install.machine import this_machine
    from recollect.memory.maintenance.doctor import close_to_others
    from recollect.store.spool_files import count_refused, reset_refused

    home = engine.home
    done = [*close_to_others(home), *repair_hosts(home, this_machine())]
    if events := engine.sessions.drain_spool():
        done.append(f"Read {output.count(events, 'event')} from the spool.")
    if refused := count_refused(home):
        reset_refused(home)
        done.append(f"Reset the count of {output.count(refused, 'refused event')}.")
    if waiting_files(home) and control.ensure(home):
        done.append("Started the daemon, which reads the waiting events.")
    made, _ = make_vectors(engine)
    if made:
        done.append(f"Made {output.count(made, 'vector')}.")
    return done
