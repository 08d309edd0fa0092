"""Options, parameter types and input that several commands share."""

import re
import sys
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from importlib import import_module
from typing import Any, TypeVar

import click
from click.shell_completion import CompletionItem

import recollect.model as m
from recollect.errors import ContentRefused, RecollectError, Refused
from recollect.interfaces.cli.command import CliContext
from recollect.interfaces.cli.output import one_line, short_ids

_F = TypeVar("_F", bound=Callable[..., Any])
MAX_LIMIT = 1_000_000  # results; SQLite refuses a number that does not fit 64 bits
_MAX_INPUT = 32 * 1024 * 1024  # bytes of standard input; a memory holds 2 KB


def limit_option(default: int) -> Callable[[_F], _F]:
    return click.option(
        "-n",
        "--limit",
        type=click.IntRange(1, MAX_LIMIT),
        default=default,
        show_default=True,
        help="The maximum number of results.",
    )


def author_option(command: _F) -> _F:
    """Add the option by which an agent acts in its own name, with no more rights than it has elsewhere."""
    return click.option(
        "--created-by",
        "author",
        metavar="AUTHOR",
        default="user",
        help="Who says so: user, or agent:NAME, which has the rights of an agent [user].",
    )(command)


def usage_error(message: str) -> click.UsageError:
    return click.UsageError(message, click.get_current_context())


def refuse_both(**options: Any) -> None:
    """Raise a usage error if more than one of these options, by name, has a value."""
    names = [name.replace("_", "-") for name, value in options.items() if value]
    if len(names) > 1:
        raise usage_error(f"--{names[0]} and --{names[1]} cannot be used together.")


def given(options: dict[str, Any]) -> dict[str, Any]:
    """Return the options that have a value."""
    return {name: value for name, value in options.items() if value not in (None, ())}


def read_text(words: Iterable[str]) -> str:
    """Return the words as one text, or standard input if the only word is `-`."""
    words = list(words)
    if words == ["-"]:
        if (text := read_input(_MAX_INPUT)) is None:
            raise ContentRefused(
                f"The text is longer than {_MAX_INPUT:,} bytes; a memory holds 2,048.",
                "Split it into statements that stand alone, or name the file that holds the rest.",
            )
        return text
    if "-" in words:
        raise usage_error("Give the text or -, not both.")
    return " ".join(words)


def read_input(most: int) -> str | None:
    """Return standard input as text, or None if it has more bytes than `most`.

    Bytes that are not UTF-8 are escaped, so that the engine can refuse them.
    """
    if sys.stdin is None:
        return ""
    data = sys.stdin.buffer.read(most + 1)
    if len(data) > most:
        return None
    return data.decode("utf-8", "surrogateescape").removeprefix("\ufeff")


_UNITS = {
    "min": timedelta(minutes=1),
    "h": timedelta(hours=1),
    "d": timedelta(days=1),
    "w": timedelta(weeks=1),
    "mo": timedelta(days=30),
    "y": timedelta(days=365),
}


def parse_time(text: str) -> datetime:
    """Parse a date (its first moment), a time or an age such as 30d; local time unless it has a zone.

    Raises `Refused`.
    """
    try:
        if ago := re.fullmatch(r"(\d{1,9})(min|h|d|w|mo|y)", text.strip(), re.ASCII):
            return (m.utc_now() - int(ago[1]) * _UNITS[ago[2]]).astimezone()
        return datetime.fromisoformat(text.strip()).astimezone()
    except (ValueError, OverflowError, OSError):  # OSError: some systems, for times before 1970
        raise Refused(
            f"{text[:60]!r} is not a time.",
            "Give a date (2026-05-01), a time (2026-05-01T12:30) or an age (30d).",
        ) from None


class SpreadsFiles(click.Command):
    """A command whose --files takes all names up to the next option, as in `--files src/*.py`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        spread: list[str] = []
        in_files = False
        for number, word in enumerate(args):
            if word == "--":
                spread += args[number:]
                break
            if word.startswith("-") and word != "-":
                in_files = False
            if in_files and spread[-1] != "--files":
                spread.append("--files")
            spread.append(word)
            in_files = in_files or word == "--files"
        return super().parse_args(ctx, spread)


class NameType(click.types.StringParamType):
    """A name from a closed list, which the shell completes. The engine refuses unknown names.

    The list is a value, or `module:NAME` for one that is imported only when it is needed.
    """

    def __init__(self, name: str, known: Iterable[str]) -> None:
        self.name = name
        self._known = known

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        names = self._known
        if isinstance(names, str):
            module, _, attribute = names.partition(":")
            names = getattr(import_module(module), attribute)
        return [CompletionItem(name) for name in names if name.startswith(incomplete)]


KIND = NameType("kind", "recollect.kinds:KINDS")
HOST = NameType("host", "recollect.work.hosts.registry:BRIEFING_FORMATS")
ROLE = NameType("role", "recollect.memory.briefing.content:ROLES")
RECIPE = NameType("recipe", "recollect.memory.search.recipes:RECIPES")
SCOPE = NameType("scope", list(m.Scope))
STATE = NameType("state", [*m.State, "all"])
RELATION = NameType("relation", list(m.Relation))
VISIBILITY = NameType("visibility", list(m.Visibility))


class _MemoryId(click.types.StringParamType):
    """An id, or the beginning or end of one. The shell completes the newest memories, by the ends that lists show."""

    name = "id"

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        try:
            with ctx.find_object(CliContext) or CliContext() as cli:
                newest = cli.engine.list(limit=50, state="all")
        except RecollectError:
            return []
        typed = incomplete.lower()
        shown = zip(newest, short_ids([memory.id for memory in newest]), strict=True)
        return [
            CompletionItem(
                memory.id if typed and memory.id.startswith(typed) else short, help=one_line(memory.summary)
            )
            for memory, short in shown
            if memory.id.startswith(typed) or short.startswith(typed)
        ]


class _TagName(click.types.StringParamType):
    """A tag. The shell completes those in use."""

    name = "tag"

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        try:
            with ctx.find_object(CliContext) or CliContext() as cli:
                tags = cli.engine.tags()
        except RecollectError:
            return []
        return [CompletionItem(tag.name) for tag in tags if tag.name.startswith(incomplete)]


MEMORY = _MemoryId()
TAG = _TagName()
