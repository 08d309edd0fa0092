"""Looking after the store: backup, encrypt, audit, doctor."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

import recollect.model as m
from recollect.errors import NoHome
from recollect.interfaces.cli import output
from recollect.interfaces.cli.command import (
    MEMORY,
    CliContext,
    limit_option,
    open_engine,
    refuse_both,
    shared_options,
)
from recollect.interfaces.daemon import client
from recollect.interfaces.daemon.connection import check_connection, repair_hosts, waiting_files
from recollect.interfaces.install.table import this_machine
from recollect.memory.maintenance.doctor import Diagnosis, close_to_others

if TYPE_CHECKING:
    from recollect.engine import Engine


@click.command()
@shared_options
@click.pass_obj
def backup(cli: CliContext) -> None:
    """Back up now. The three newest are kept; one is also made by itself every day."""
    with open_engine(cli) as engine:
        where = engine.backup()
    if cli.json:
        output.print_json({"backup": where})
        return
    click.echo(f"Backed up to {output.printable(where)}")


@click.command()
@click.option("--force", is_flag=True, help="Also if it hardly pays.")
@shared_options
@click.pass_obj
def vacuum(cli: CliContext, force: bool) -> None:
    """Give back the space that forgotten memories took, when it pays.

    It also happens by itself: once a quarter, and when a fifth of a file over 100 MB is empty.
    """
    _stop_daemon(cli)
    with open_engine(cli) as engine:
        saved = engine.care.vacuum(force=force)
        free, size = engine.store.info().free, engine.store.info().size
    if cli.json:
        output.print_json({"done": saved is not None, "saved": saved or 0, "size": size, "free": free})
        return
    if saved is None:
        click.echo(
            f"It does not pay yet: {free / 1e6:.1f} of {size / 1e6:.1f} MB are empty. --force does it anyway."
        )
    else:
        click.echo(f"The file has {size / 1e6:.1f} MB now, {saved / 1e6:.1f} MB less.")


@click.command()
@click.option("--key-file", type=click.Path(path_type=Path), help="Keep the key in this file [the keychain].")
@click.option("--off", is_flag=True, help="Decrypt the store and its backups.")
@shared_options
@click.pass_obj
def encrypt(cli: CliContext, key_file: Path | None, off: bool) -> None:
    """Encrypt the store and its backups. The key goes to the keychain, to a file, or comes from RECOLLECT_KEY."""
    refuse_both(off=off, key_file=key_file)
    _stop_daemon(cli)
    with open_engine(cli) as engine:
        where = None if off else engine.encrypt(key_file)
        if off:
            engine.decrypt()
    if cli.json:
        output.print_json({"encrypted": not off, "key": where})
        return
    if where is None:
        click.echo("The store and its backups are no longer encrypted.")
        return
    click.echo("The store and its backups are encrypted.")
    click.echo(_about_key(where))
    click.echo("Without the key nobody can read them, you included: keep a copy of it somewhere safe.")


def _stop_daemon(cli: CliContext) -> None:
    """It has the store open, and comes back with the next hook."""
    from recollect.config import load_settings
    from recollect.interfaces.daemon import client

    client.stop(load_settings(cli.home).home)


def _about_key(where: str) -> str:
    if where == "variable":
        return "Its key is what RECOLLECT_KEY holds now: it must be set whenever Recollect runs."
    if where == "keychain":
        return "Its key is in this machine's keychain, under recollect."
    return f"Its key is in {output.printable(where)}: Recollect reads it there."


@click.group(invoke_without_command=True, subcommand_metavar="[verify]")
@limit_option(20)
@click.option("--memory", metavar="ID", type=MEMORY, help="Only what happened to this memory.")
@shared_options
@click.pass_context
def audit(ctx: click.Context, limit: int, memory: str | None) -> None:
    """Show who changed what, newest first. The log holds no text of memories."""
    if ctx.invoked_subcommand is not None:
        return
    cli: CliContext = ctx.obj
    with open_engine(cli) as engine:
        lines = engine.audit(limit, memory)
    if cli.json:
        output.print_json({"lines": lines})
        return
    output.print_audit(lines)


@audit.command()
@shared_options
@click.pass_obj
def verify(cli: CliContext) -> None:
    """Check that no line of the log was altered, archived ones included.

    Each line carries the hash of the one before. Exit code 1 if one does not follow.
    """
    with open_engine(cli) as engine:
        checked = engine.care.verify_audit()
    problem = checked.problem
    if cli.json:
        output.print_json(
            {
                "ok": problem is None,
                "lines": checked.lines,
                "archived": checked.archived,
                "problem": problem.what if problem else None,
            }
        )
    else:
        held = f"{output.count(checked.lines, 'line')} checked, {checked.archived:,} of them archived"
        click.echo(
            f"{held}: {'each follows from the one before.' if problem is None else 'up to there all is well.'}"
        )
        if problem is not None:
            click.echo(f"{problem.what} {problem.hint}", err=True)
    if problem is not None:
        click.get_current_context().exit(1)


@click.command()
@click.option("--fix", is_flag=True, help="Mend what can be mended, then check again.")
@shared_options
@click.pass_obj
def doctor(cli: CliContext, fix: bool) -> None:
    """Check the whole chain, from the agents to the store; say what is wrong.

    Which project this is and why, whether agents are connected, the hook, the spool, the daemon, the store, the
    model: a line each, and what to do. Exit code 1 if something is not well.
    """
    with open_engine(cli) as engine:
        done = _mend(engine) if fix else []
        project, *rest = engine.doctor()
        checks = (project, *_examine_hosts(engine.settings.home), *rest)
    well = all(check.ok for check in checks)
    if cli.json:
        output.print_json({"ok": well, "checks": checks} | ({"done": done} if fix else {}))
    else:
        output.print_notes(done)
        tick, cross = output.glyph("✓", "ok"), output.glyph("✗", "!!")
        for check in checks:
            mark = click.style(tick, fg="green") if check.ok else click.style(cross, fg="red")
            click.echo(f"{mark} {check.part:<10} {output.one_line(check.finding)}")
            if check.hint:
                click.echo(f"  {'':<10} {output.one_line(check.hint)}")
    if not well:
        click.get_current_context().exit(1)


def _examine_hosts(home: Path) -> Sequence[Diagnosis]:
    try:
        return check_connection(home, this_machine(), m.utc_now())
    except NoHome as error:
        return [Diagnosis("host", False, error.message, error.hint)]


def _mend(engine: "Engine") -> list[str]:
    """What was done."""
    from recollect.interfaces.cli.init import make_vectors

    home = engine.settings.home
    done = [*close_to_others(home), *repair_hosts(home, this_machine())]
    if taken := engine.sessions.take_in(engine.spool):
        done.append(f"{output.count(taken, 'event')} taken in from the spool.")
    if waiting_files(home) and client.ensure(home):
        done.append("The daemon runs now, and takes in what waits.")
    made, _ = make_vectors(engine)
    if made:
        done.append(f"{output.count(made, 'vector')} made.")
    return done
