"""What every command is built from: the context it is called in, and the decorator that prints what it returns."""

import functools
from collections.abc import Callable
from dataclasses import dataclass, field
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar, overload

import click

from recollect.errors import AmbiguousId, RecollectError, UnknownName
from recollect.frozen import frozen
from recollect.interfaces.cli import output

if TYPE_CHECKING:
    from pathlib import Path

    from recollect.config import Settings
    from recollect.engine import Engine

_T = TypeVar("_T")
_F = TypeVar("_F", bound=Callable[..., Any])


@dataclass(slots=True)
class CliContext:
    """The shared options of one call, and its engine, which is opened on first use and closed on exit."""

    home: str | None = None  # None = RECOLLECT_HOME, or ~/.recollect
    project: str | None = None  # None = the current folder
    json: bool = False
    actor: str = "user"  # who acts; a command that lets an agent act sets it first
    whole_project: bool = False  # `--project` without a folder, where a command accepts that
    folder: "Path | None" = None  # where the command was typed; None = our own folder
    _engine: "Engine | None" = field(default=None, init=False)
    _warned: bool = field(default=False, init=False)  # of variables without effect

    def __enter__(self) -> "CliContext":
        return self

    def __exit__(
        self, type: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close_engine()

    @property
    def current_folder(self) -> "Path":
        """The folder that relative paths are relative to."""
        from pathlib import Path

        return self.folder or Path.cwd()

    @property
    def settings(self) -> "Settings":
        from recollect.config import load_settings, unknown_variables

        settings = load_settings(self.home)
        if not self._warned:
            self._warned = True
            output.print_notes(unknown_variables())
        return settings

    @property
    def engine(self) -> "Engine":
        if self._engine is None:
            from recollect.engine import Engine
            from recollect.interfaces.daemon_client.embedder import from_daemon

            settings = self.settings
            self._engine = Engine.open(
                project=self.project,
                settings=settings,
                actor=self.actor,
                embedder=from_daemon(settings),
                has_deadlines=False,  # who typed the command would rather wait than be told that nothing is known
            )
            for notice in self._engine.store.notices:
                click.echo(output.one_line(notice), err=True)
            if notice := self._engine.context.clock_notice():
                click.echo(notice, err=True)
        return self._engine

    def close_engine(self) -> None:
        """Close the engine. The command has succeeded by now, so a failure of the upkeep is only a message."""
        engine, self._engine = self._engine, None
        try:
            if engine is not None:
                engine.close()
        except (RecollectError, OSError) as error:
            click.echo(f"The command succeeded, but maintenance of the store failed: {error}", err=True)


@frozen
class CommandResult:
    """A value that brings its own text, for commands whose options choose between several kinds of value."""

    value: Any
    text: Callable[[], None]


# What is unknown, and the command that lists what there is, where that is too much for a hint.
_LISTED_BY = {"kind": "recollect kinds"}

_Decorator = Callable[[Callable[..., _T | None]], Callable[..., None]]


@overload
def rendered(
    text: Callable[[_T], None],
    *,
    key: str = "",
    json: Callable[[_T], Any] | None = None,
    empty: str = "",
    failed: Callable[[_T], bool] | None = None,
) -> _Decorator[_T]: ...


@overload
def rendered(
    *, failed: Callable[[CommandResult], bool] | None = None, whole_project: bool = False
) -> _Decorator[CommandResult]: ...


def rendered(
    text: Callable[[Any], None] | None = None,
    *,
    key: str = "",
    json: Callable[[Any], Any] | None = None,
    empty: str = "",
    failed: Callable[[Any], bool] | None = None,
    whole_project: bool = False,
) -> _Decorator[Any]:
    """Make a function a command that returns its value: printed as JSON with `--json`, else by `text`.

    The JSON is the value itself, `{key: value}`, or what `json` makes of it. `empty` goes to standard error when
    the value is empty. The exit code is 1 if `failed` says so. A command that returns an `CommandResult` needs no `text`;
    one that returns None has printed everything itself. The shared options are added; with `whole_project`,
    `--project` may stand without a folder.
    """

    def decorate(command: Callable[..., Any]) -> Callable[..., None]:
        @functools.wraps(command)
        def run(*args: Any, **kwargs: Any) -> None:
            context = click.get_current_context()
            cli = context.ensure_object(CliContext)
            try:
                value = command(cli, *args, **kwargs)
            except AmbiguousId as error:
                _show_candidates(cli, error)
                raise
            except UnknownName as error:
                if error.what in _LISTED_BY and not error.has_similar:
                    error.hint = f"Run `{_LISTED_BY[error.what]}` to list them."
                raise
            if isinstance(value, CommandResult):
                output.print_json(value.value) if cli.json else output.paged(value.text)
            elif value is not None and cli.json:
                output.print_json(json(value) if json else {key: value} if key else value)
            elif value is not None:
                if empty and not value:
                    click.echo(empty, err=True)
                if text is not None:
                    output.paged(functools.partial(text, value))
            if failed is not None and failed(value):
                context.exit(1)

        return with_shared_options(run, whole_project=whole_project)

    return decorate


def _show_candidates(cli: CliContext, error: AmbiguousId) -> None:
    """Print the memories that match, and adjust the hint if a keyword was given instead of an id."""
    if not cli.json:
        for line in output.memory_table([cli.engine.get(id) for id in error.matches]):
            click.echo(line, err=True)
    part = error.prefix.strip().lstrip("#").lower()
    if not any(id.startswith(part) or id.endswith(part) for id in error.matches):
        error.hint = "Give an id instead."
        if not cli.json:
            error.message = f"Several memories contain {error.prefix[:60]!r}."


def show_state(command: click.Command) -> None:
    """Run `command`, which shows the state of the current group, if no subcommand was given."""
    context = click.get_current_context()
    if context.invoked_subcommand is None:
        context.invoke(command)


def shared_options(group: _F) -> _F:
    """Add the options that every command and group has, before or after its name."""
    return with_shared_options(group)


_WHOLE_PROJECT = "\0"  # cannot be the name of a folder


def with_shared_options(command: _F, *, whole_project: bool = False) -> _F:
    project: dict[str, Any] = (
        {
            "metavar": "[FOLDER]",
            "is_flag": False,
            "flag_value": _WHOLE_PROJECT,
            "help": "Without FOLDER: for the whole current project. With FOLDER: use the project in that folder.",
        }
        if whole_project
        else {"metavar": "FOLDER", "help": "The project's folder [the current folder]."}
    )
    for option in (
        click.option(
            "--no-color",
            is_flag=True,
            expose_value=False,
            callback=_no_color,
            help="Disable colours, as NO_COLOR does.",
        ),
        click.option(
            "--json", is_flag=True, expose_value=False, callback=_store, is_eager=True, help="Print JSON."
        ),
        click.option("--project", expose_value=False, callback=_store, **project),
        click.option(
            "--home",
            metavar="FOLDER",
            expose_value=False,
            callback=_store,
            help="Where memories are stored [RECOLLECT_HOME, or ~/.recollect].",
        ),
    ):
        command = option(command)
    return command


def _store(ctx: click.Context, param: click.Parameter, value: str | bool | None) -> None:
    if value == "":  # an unset variable, most likely: never fall back to the default folder
        raise click.BadParameter("the value is empty.", ctx, param)
    if value == _WHOLE_PROJECT:
        ctx.ensure_object(CliContext).whole_project = True
    elif value:
        setattr(ctx.ensure_object(CliContext), str(param.name), value)


def _no_color(ctx: click.Context, param: click.Parameter, value: bool) -> None:
    if value:
        ctx.color = False
