"""The code graph: what a file holds, who calls whom, what depends on what, and what a text is about."""

import contextlib
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from recollect.code.codebase import Codebase
from recollect.code.graph.graph import CodeGraph, container_of, path_of
from recollect.code.graph.impact import ImpactHit
from recollect.code.nodes import OUTSIDE, CodeEdge, Symbol
from recollect.interfaces.cli import output
from recollect.interfaces.cli.command import CliContext, limit_option, open_engine, read_text, shared_options

if TYPE_CHECKING:
    from recollect.code.relevant.search import FileHit

_TELLING = 0.005  # a part that is less would be shown as nothing

possible = click.option(
    "--possible", is_flag=True, help="Also what is only possible: a name that fits, and nothing else known."
)


@click.group()
@shared_options
def graph() -> None:
    """Ask who calls what, what depends on what, and what a task touches.

    \b
    recollect graph callers App.run
    recollect graph impact src/app.py
    recollect graph relevant "login fails after a redirect"
    """


@graph.command()
@click.argument("path")
@shared_options
@click.pass_obj
def file(cli: CliContext, path: str) -> None:
    """Show what the file at PATH defines, and where."""
    with _asked(cli) as (code, found):
        path = _file(code, found, path)
    symbols = found.outline(path)
    if cli.json:
        told = {"path": path, "language": found.language(path), "doc": found.file_doc(path)}
        output.print_json({**told, "symbols": [_symbol_json(each) for each in symbols]})
        return
    click.echo(click.style(output.one_line(path), bold=True) + f"  {found.language(path)}")
    if found.file_doc(path):
        click.echo(output.one_line(found.file_doc(path)))
    for line in output.table([_outline_row(each) for each in symbols], ["bright_black"]):
        click.echo(line)


@graph.command()
@click.argument("name")
@shared_options
@click.pass_obj
def symbol(cli: CliContext, name: str) -> None:
    """Find where NAME is defined: a function, a class, a variable."""
    with _asked(cli) as (_, found):
        symbols = found.symbols_named(name)
    if cli.json:
        output.print_json({"symbols": [_symbol_json(each) for each in symbols]})
        return
    for each in symbols:
        click.echo(f"{click.style(_place(each), fg='cyan')}  {each.kind}  {_written(each)}")
        if each.doc:
            click.echo(f"    {output.one_line(each.doc)}")
        callers, callees = len(found.callers(each.id)), len(found.callees(each.id))
        click.echo(f"    {output.count(callers, 'caller')}, calls {output.count(callees, 'time')}")


@graph.command()
@click.argument("name")
@possible
@limit_option(50)
@shared_options
@click.pass_obj
def callers(cli: CliContext, name: str, possible: bool, limit: int) -> None:
    """List the calls of NAME, and how each was found."""
    _say_calls(
        cli,
        name,
        limit,
        lambda found, id: found.callers(id, possible),
        "Nobody calls it, as far as is known.",
    )


@graph.command()
@click.argument("name")
@possible
@limit_option(50)
@shared_options
@click.pass_obj
def callees(cli: CliContext, name: str, possible: bool, limit: int) -> None:
    """List what NAME calls, and how each was found."""
    _say_calls(
        cli,
        name,
        limit,
        lambda found, id: found.callees(id, possible),
        "It calls nothing, as far as is known.",
    )


@graph.command()
@click.argument("path", metavar="FILE")
@click.option("--reverse", is_flag=True, help="The files that depend on it instead.")
@possible
@limit_option(50)
@shared_options
@click.pass_obj
def deps(cli: CliContext, path: str, reverse: bool, possible: bool, limit: int) -> None:
    """List what FILE depends on: files of the project and what is outside."""
    with _asked(cli) as (code, found):
        path = _file(code, found, path)
        edges = found.dependents(path, possible) if reverse else found.dependencies(path, possible)
    _say_edges(cli, {"path": path, "reverse": reverse}, edges, limit, "Nothing, as far as is known.")


@graph.command()
@click.argument("path", metavar="FILE")
@possible
@limit_option(50)
@shared_options
@click.pass_obj
def impact(cli: CliContext, path: str, possible: bool, limit: int) -> None:
    """List what may break when FILE changes, the likeliest first."""
    with _asked(cli) as (code, found):
        path = _file(code, found, path)
        reached = found.impact(path, possible)
    if cli.json:
        told = [_reached_json(each) for each in reached[:limit]]
        output.print_json({"path": path, "reached": told, "left_off": max(len(reached) - limit, 0)})
        return
    if not reached:
        click.echo("Nothing, as far as is known.", err=True)
    rows = [
        (f"{each.weight:.2f}", str(each.distance), output.one_line(each.id), _because(each.because))
        for each in reached[:limit]
    ]
    for line in output.table(rows, ["blue", "bright_black", "cyan"]):
        click.echo(line)
    _say_left_off(len(reached), limit)


@graph.command()
@click.argument("words", metavar="TEXT", nargs=-1, required=True)
@click.option(
    "--budget",
    type=click.IntRange(0, 1_000_000),
    default=2000,
    show_default=True,
    help="Tokens that the lines to read may have.",
)
@limit_option(10)
@shared_options
@click.pass_obj
def relevant(cli: CliContext, words: tuple[str, ...], budget: int, limit: int) -> None:
    """Rank files and symbols for TEXT (- for input), with the lines to read."""
    text = read_text(words)
    with _asked(cli) as (code, _):
        found = code.relevant(text, limit=limit, budget=budget)
    if cli.json:
        output.print_json(
            {
                "files": found.files,
                "symbols": [{**_symbol_json(each.symbol), "score": each.score} for each in found.symbols],
                "snippets": found.snippets,
                "to_read": found.to_read,
            }
        )
        return
    if not found.files:
        click.echo("Nothing here seems to be about that.", err=True)
    for line in output.table([_file_row(each) for each in found.files], ["blue", "cyan"]):
        click.echo(line)
    for snippet in found.snippets:
        first, last = snippet.lines
        click.echo("\n" + click.style(output.one_line(f"{snippet.path}:{first}-{last}"), bold=True))
        click.echo(output.printable(snippet.text))


def _say_calls(
    cli: CliContext,
    name: str,
    limit: int,
    ask: Callable[[CodeGraph, str], Sequence[CodeEdge]],
    otherwise: str,
) -> None:
    with _asked(cli) as (_, found):
        symbols = found.symbols_named(name)
        edges = [edge for each in symbols for edge in ask(found, each.id)]
    _say_edges(cli, {"symbols": [each.id for each in symbols]}, edges, limit, otherwise)


# asking


@contextlib.contextmanager
def _asked(cli: CliContext) -> Iterator[tuple[Codebase, CodeGraph]]:
    """The graph as the files are now; who waits for it sees how far it is."""
    with open_engine(cli) as engine:
        with _shown_progress() as progress:
            done = engine.code.refresh(progress)
        if done.parsed and not cli.json:
            click.echo(f"Read {output.count(done.parsed, 'file')} in {done.seconds:.1f} s.", err=True)
        yield engine.code, engine.code.graph


@contextlib.contextmanager
def _shown_progress() -> Iterator[Any]:
    """None where nobody is watching."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("Reading the code", total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def _file(code: Codebase, found: CodeGraph, name: str) -> str:
    """The path in the graph that is meant: from here, from the project's root, or by its end."""
    with contextlib.suppress(ValueError, OSError, RuntimeError):
        here = Path(name).resolve().relative_to(code.root.resolve()).as_posix()
        if here in found.leaves:
            return here
    return found.file_named(name)


# showing


def _symbol_json(symbol: Symbol) -> dict[str, Any]:
    return symbol._asdict()


def _edge_json(edge: CodeEdge) -> dict[str, Any]:
    return {**edge._asdict(), "confidence": edge.confidence}


def _reached_json(reached: ImpactHit) -> dict[str, Any]:
    told = {"id": reached.id, "path": path_of(reached.id), "distance": reached.distance}
    return {**told, "weight": round(reached.weight, 4), "because": _edge_json(reached.because)}


def _file_row(hit: "FileHit") -> tuple[str, str, str]:
    why = sorted((item for item in hit.why.items() if item[1] >= _TELLING), key=lambda part: -part[1])
    return (
        f"{hit.score:.2f}",
        output.one_line(hit.path),
        ", ".join(f"{name} {part:.2f}" for name, part in why),
    )


def _outline_row(symbol: Symbol) -> tuple[str, str]:
    depth = 0
    inside = container_of(symbol.id)
    while inside != symbol.path:
        depth, inside = depth + 1, container_of(inside)
    mark = {"class": "class ", "function": "def "}.get(symbol.kind, "")
    doc = f"  {output.one_line(symbol.doc)}" if symbol.doc else ""
    return f"{symbol.line}-{symbol.end}", f"{'  ' * depth}{mark}{_written(symbol)}{doc}"


def _written(symbol: Symbol) -> str:
    return output.one_line(symbol.name + symbol.signature)


def _place(symbol: Symbol) -> str:
    return output.one_line(f"{symbol.path}:{symbol.line}")


def _say_edges(
    cli: CliContext, asked: dict[str, Any], edges: Sequence[CodeEdge], limit: int, otherwise: str
) -> None:
    if cli.json:
        told = [_edge_json(edge) for edge in edges[:limit]]
        output.print_json({**asked, "edges": told, "left_off": max(len(edges) - limit, 0)})
        return
    if not edges:
        click.echo(otherwise, err=True)
    rows = [(f"{edge.confidence:.2f}", edge.rule, *_ends(edge)) for edge in edges[:limit]]
    for line in output.table(rows, ["blue", "bright_black", "cyan"]):
        click.echo(line)
    _say_left_off(len(edges), limit)


def _ends(edge: CodeEdge) -> tuple[str, str]:
    source = f"{path_of(edge.source)}:{edge.line}" if edge.line else path_of(edge.source)
    name = edge.source.partition("::")[2]
    target = edge.target.removeprefix(OUTSIDE) + (" (outside)" if edge.target.startswith(OUTSIDE) else "")
    return output.one_line(f"{source} {name}"), output.one_line(f"{edge.kind} {target}")


def _because(edge: CodeEdge) -> str:
    return output.one_line(f"{edge.kind} {edge.target} ({edge.rule} {edge.confidence:.2f}, line {edge.line})")


def _say_left_off(count: int, limit: int) -> None:
    if count > limit:
        click.echo(f"and {count - limit:,} more; `-n {count}` shows all.", err=True)
