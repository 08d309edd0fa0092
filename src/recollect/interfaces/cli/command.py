"""What commands share: options, the engine, the texts and times they read, the flags that exclude each other."""

import re
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, TypeVar

import click
from click.shell_completion import CompletionItem

import recollect.model as m
from recollect.errors import AmbiguousId, ContentRefused, MemoryNotFound, RecollectError, Refused

if TYPE_CHECKING:
    from recollect.engine import Engine

_F = TypeVar("_F", bound=Callable[..., Any])
MAX_LIMIT = 1_000_000  # results; SQLite would refuse a number that is no 64-bit one
MAX_INPUT = 32 * 1024 * 1024  # bytes of standard input; a statement has 2 KB


@dataclass(slots=True)
class CliContext:
    """How this command was called."""

    home: str | None = None  # None = RECOLLECT_HOME, or ~/.recollect
    project: str | None = None  # None = the current folder
    json: bool = False
    whole_project: bool = False  # `--project` without a folder, where that means all of it


def shared_options(command: _F) -> _F:
    """The options that every command has, before or after its name."""
    return _with_options(command, metavar="FOLDER", help="The project's folder [this one].")


def shared_options_with_whole_project(command: _F) -> _F:
    """The same, where `--project` without a folder means all that is remembered of this one."""
    return _with_options(
        command,
        metavar="[FOLDER]",
        is_flag=False,
        flag_value=_WHOLE,
        help="Without FOLDER: all of this project. With it: the project's folder [this one].",
    )


_WHOLE = "\0"  # no folder's name


def _with_options(command: _F, **project: Any) -> _F:
    for option in (
        click.option(
            "--no-color",
            is_flag=True,
            expose_value=False,
            callback=_no_color,
            help="No colours; NO_COLOR too.",
        ),
        click.option(
            "--json", is_flag=True, expose_value=False, callback=_keep, is_eager=True, help="Answer in JSON."
        ),
        click.option("--project", expose_value=False, callback=_keep, **project),
        click.option(
            "--home",
            metavar="FOLDER",
            expose_value=False,
            callback=_keep,
            help="Where memory is kept [RECOLLECT_HOME, or ~/.recollect].",
        ),
    ):
        command = option(command)
    return command


def limit_option(default: int) -> Callable[[_F], _F]:
    """The option that says how many."""
    return click.option(
        "-n",
        "--limit",
        type=click.IntRange(1, MAX_LIMIT),
        default=default,
        show_default=True,
        help="At most this many.",
    )


def _keep(ctx: click.Context, param: click.Parameter, value: str | bool | None) -> None:
    if value == "":  # an unset variable, most likely: never fall back to the default folder
        raise click.BadParameter("it is empty.", ctx, param)
    if value == _WHOLE:
        ctx.ensure_object(CliContext).whole_project = True
    elif value:
        setattr(ctx.ensure_object(CliContext), str(param.name), value)


def _no_color(ctx: click.Context, param: click.Parameter, value: bool) -> None:
    if value:
        ctx.color = False


@contextmanager
def open_engine(cli: CliContext) -> "Iterator[Engine]":
    from recollect.config import load_settings
    from recollect.engine import Engine
    from recollect.interfaces.cli.output import one_line, print_candidates
    from recollect.interfaces.daemon.embedder import from_daemon

    settings = load_settings(cli.home)
    engine = Engine.open(project=cli.project, settings=settings, embedder=from_daemon(settings))
    try:
        for notice in engine.notices:
            click.echo(one_line(notice), err=True)
        yield engine
    except AmbiguousId as error:
        if not cli.json:
            print_candidates([engine.get(name) for name in error.matches])
        if not _is_part_of_ids(error):
            error.hint = "Several memories have that word; give an id."
        raise
    finally:
        _close(engine)


def _is_part_of_ids(error: AmbiguousId) -> bool:
    """Whether an id was meant; else a keyword that several memories have."""
    part = error.prefix.strip().lstrip("#").lower()
    return any(each.startswith(part) or each.endswith(part) for each in error.matches)


def _close(engine: "Engine") -> None:
    """What was asked for has been done and said: the care that follows cannot take it back."""
    try:
        engine.close()
    except (RecollectError, OSError) as error:
        click.echo(f"Done, but the store could not be looked after: {error}", err=True)


def links_of(engine: "Engine", memory: m.Memory) -> list[tuple[m.Link, m.Memory]]:
    """Each with the memory at its other end; without those that lead to one that is gone, or is not ours to see."""
    found = []
    for link in engine.links(memory.id):
        with suppress(MemoryNotFound):
            found.append((link, engine.get(link.target if link.source == memory.id else link.source)))
    return found


def refuse_both(**given: Any) -> None:
    """Refuse two flags that cannot both be meant; `given` are flags by name, empty where not given."""
    names = [name.replace("_", "-") for name, value in given.items() if value]
    if len(names) > 1:
        raise click.UsageError(
            f"--{names[0]} and --{names[1]} exclude each other.", click.get_current_context()
        )


def read_text(words: Iterable[str]) -> str:
    """What was typed; standard input for a single `-`."""
    words = list(words)
    if words == ["-"]:
        return read_input()
    if "-" in words:
        raise click.UsageError("Give the text or -, not both.", click.get_current_context())
    return " ".join(words)


def read_input() -> str:
    """Standard input as text. What is not UTF-8 stays visible, so that the core can refuse it."""
    if sys.stdin is None:
        return ""
    data = sys.stdin.buffer.read(MAX_INPUT + 1)
    if len(data) > MAX_INPUT:
        raise ContentRefused(
            f"The text is more than {MAX_INPUT:,} bytes; a memory holds 2,048.",
            "Split it into statements that stand alone, or name the file where the rest is.",
        )
    return data.decode("utf-8", "surrogateescape").removeprefix("\ufeff")


_AGO = {
    "min": timedelta(minutes=1),
    "h": timedelta(hours=1),
    "d": timedelta(days=1),
    "w": timedelta(weeks=1),
    "mo": timedelta(days=30),
    "y": timedelta(days=365),
}


def parse_time(text: str) -> datetime:
    """A date (its first moment), a time, or how long ago: 30d. Without a zone it is local time. Raises `Refused`."""
    try:
        if ago := re.fullmatch(r"(\d{1,9})(min|h|d|w|mo|y)", text.strip(), re.ASCII):
            return (m.utc_now() - int(ago[1]) * _AGO[ago[2]]).astimezone()
        return datetime.fromisoformat(text.strip()).astimezone()
    except (ValueError, OverflowError, OSError):  # OSError: what some systems say before 1970
        raise Refused(
            f"{text[:60]!r} is no time.",
            "Give a date (2026-05-01), a time (2026-05-01T12:30), or how long ago (30d).",
        ) from None


class SpreadsFiles(click.Command):
    """Its --files takes all names up to the next option, as shells hand them over: `--files src/*.py`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        spread: list[str] = []
        taking = False
        for number, word in enumerate(args):
            if word == "--":
                spread += args[number:]
                break
            if word.startswith("-") and word != "-":
                taking = False
            if taking and spread[-1] != "--files":
                spread.append("--files")
            spread.append(word)
            taking = taking or word == "--files"
        return super().parse_args(ctx, spread)


class Name(click.types.StringParamType):
    """A name from a closed list. The shell completes it; the core decides whether it is one."""

    def __init__(self, name: str, known: Callable[[], Iterable[str]]) -> None:
        self.name = name
        self._known = known

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        return [CompletionItem(name) for name in self._known() if name.startswith(incomplete)]


def _kinds() -> Iterable[str]:
    from recollect.kinds import KINDS

    return KINDS


def _hosts() -> Iterable[str]:
    from recollect.memory.briefing.render import HOSTS

    return HOSTS


def _roles() -> Iterable[str]:
    from recollect.memory.briefing.material import ROLES

    return ROLES


def _recipes() -> Iterable[str]:
    from recollect.memory.search.recipes import RECIPES

    return RECIPES


KIND = Name("kind", _kinds)
HOST = Name("host", _hosts)
ROLE = Name("role", _roles)
RECIPE = Name("recipe", _recipes)
SCOPE = Name("scope", lambda: list(m.Scope))
STATE = Name("state", lambda: [*m.State, "all"])
RELATION = Name("relation", lambda: list(m.Relation))
VISIBILITY = Name("visibility", lambda: list(m.Visibility))


class _MemoryName(click.types.StringParamType):
    """An id, its beginning or its end. The shell offers the newest memories."""

    name = "id"

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        from recollect.interfaces.cli.output import one_line

        try:
            with open_engine(ctx.find_object(CliContext) or CliContext()) as engine:
                newest = engine.list(limit=50, state="all")
        except RecollectError:
            return []
        return [
            CompletionItem(each.id, help=one_line(each.summary))
            for each in newest
            if each.id.startswith(incomplete)
        ]


MEMORY = _MemoryName()
