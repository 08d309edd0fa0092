"""The `graph` command: definitions, callers, dependencies and impact in the code, and files relevant to a task."""

import contextlib
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import click

from recollect.code.graph.graph import CodeGraph, container_of, path_of
from recollect.code.graph.impact import ImpactHit
from recollect.code.nodes import OUTSIDE, CodeEdge, Symbol
from recollect.interfaces.cli import output
from recollect.interfaces.cli.command import CliContext, CommandResult, rendered, shared_options
from recollect.interfaces.cli.options import limit_option, read_text

if TYPE_CHECKING:
    from recollect.code.relevant.search import FileHit, Relevant

_MIN_SHOWN = 0.005  # smaller parts of a score would be printed as 0.00

_possible = click.option(
    "--possible", is_flag=True, help="Include possible edges, for which only the name matches."
)


@click.group()
@shared_options
def graph() -> None:
    """Query the code graph: callers, dependencies, impact, relevant files.

    \b
    recollect graph callers App.run
    recollect graph impact src/app.py
    recollect graph relevant "login fails after a redirect"
    """


def _refreshed(cli: CliContext) -> CodeGraph:
    """Return the graph after reading the files that have changed."""
    with output.progress_of_total("Reading the code") as progress:
        done = cli.engine.code.refresh(progress)
    if done.parsed and not cli.json:
        click.echo(f"Read {output.count(done.parsed, 'file')} in {done.seconds:.1f} s.", err=True)
    return cli.engine.code.graph


def _file_path(cli: CliContext, graph: CodeGraph, name: str) -> str:
    """Return the path in the graph for a name relative to the current folder or the root, or the end of a path."""
    with contextlib.suppress(ValueError, OSError, RuntimeError):
        path = (cli.current_folder / name).resolve().relative_to(cli.engine.code.root.resolve()).as_posix()
        if path in graph.nodes:
            return path
    return graph.file_named(name)


def _print_file(file: dict[str, Any]) -> None:
    click.echo(click.style(output.one_line(file["path"]), bold=True) + f"  {file['language']}")
    if file["doc"]:
        click.echo(output.one_line(file["doc"]))
    output.print_table([_outline_row(Symbol(**symbol)) for symbol in file["symbols"]], ["bright_black"])


@graph.command()
@click.argument("path")
@rendered(_print_file)
def file(cli: CliContext, path: str) -> dict[str, Any]:
    """List the definitions in the file at PATH."""
    graph = _refreshed(cli)
    path = _file_path(cli, graph, path)
    symbols = [symbol._asdict() for symbol in graph.outline(path)]
    return {
        "path": path,
        "language": graph.language(path),
        "doc": graph.file_doc(path),
        "symbols": symbols,
    }


def _outline_row(symbol: Symbol) -> tuple[str, str]:
    depth = 0
    parent = container_of(symbol.id)
    while parent != symbol.path:
        depth, parent = depth + 1, container_of(parent)
    keyword = {"class": "class ", "function": "def "}.get(symbol.kind, "")
    doc = f"  {output.one_line(symbol.doc)}" if symbol.doc else ""
    return f"{symbol.line}-{symbol.end}", f"{'  ' * depth}{keyword}{_signature(symbol)}{doc}"


def _signature(symbol: Symbol) -> str:
    return output.one_line(symbol.name + symbol.signature)


@graph.command()
@click.argument("name")
@rendered()
def symbol(cli: CliContext, name: str) -> CommandResult:
    """Find the definitions of NAME: functions, classes, variables."""
    graph = _refreshed(cli)
    symbols = graph.symbols_named(name)

    def text() -> None:
        for symbol in symbols:
            place = output.one_line(f"{symbol.path}:{symbol.line}")
            click.echo(f"{click.style(place, fg='cyan')}  {symbol.kind}  {_signature(symbol)}")
            if symbol.doc:
                click.echo(f"    {output.one_line(symbol.doc)}")
            callers, callees = len(graph.callers(symbol.id)), len(graph.callees(symbol.id))
            click.echo(f"    {output.count(callers, 'caller')}, {output.count(callees, 'callee')}")

    return CommandResult({"symbols": [symbol._asdict() for symbol in symbols]}, text)


@graph.command()
@click.argument("name")
@_possible
@limit_option(50)
@rendered()
def callers(cli: CliContext, name: str, possible: bool, limit: int) -> CommandResult:
    """List the calls of NAME and how each was resolved."""
    graph = _refreshed(cli)
    return _calls(graph, name, limit, lambda id: graph.callers(id, possible), "No callers found.")


@graph.command()
@click.argument("name")
@_possible
@limit_option(50)
@rendered()
def callees(cli: CliContext, name: str, possible: bool, limit: int) -> CommandResult:
    """List what NAME calls and how each call was resolved."""
    graph = _refreshed(cli)
    return _calls(graph, name, limit, lambda id: graph.callees(id, possible), "No callees found.")


def _calls(
    graph: CodeGraph, name: str, limit: int, edges_of: Callable[[str], Sequence[CodeEdge]], empty: str
) -> CommandResult:
    symbols = graph.symbols_named(name)
    edges = [edge for symbol in symbols for edge in edges_of(symbol.id)]
    return _edges({"symbols": [symbol.id for symbol in symbols]}, edges, limit, empty)


@graph.command()
@click.argument("path", metavar="FILE")
@click.option("--reverse", is_flag=True, help="List the files that depend on FILE instead.")
@_possible
@limit_option(50)
@rendered()
def deps(cli: CliContext, path: str, reverse: bool, possible: bool, limit: int) -> CommandResult:
    """List the files and packages that FILE depends on."""
    graph = _refreshed(cli)
    path = _file_path(cli, graph, path)
    edges = graph.dependents(path, possible) if reverse else graph.dependencies(path, possible)
    empty = "No dependents found." if reverse else "No dependencies found."
    return _edges({"path": path, "reverse": reverse}, edges, limit, empty)


def _edges(query: dict[str, Any], edges: Sequence[CodeEdge], limit: int, empty: str) -> CommandResult:
    def text() -> None:
        if not edges:
            click.echo(empty, err=True)
        rows = [(f"{edge.confidence:.2f}", edge.rule, *_ends(edge)) for edge in edges[:limit]]
        output.print_table(rows, ["blue", "bright_black", "cyan"])
        _print_left_off(len(edges), limit)

    shown = [_edge_json(edge) for edge in edges[:limit]]
    return CommandResult({**query, "edges": shown, "left_off": max(len(edges) - limit, 0)}, text)


def _edge_json(edge: CodeEdge) -> dict[str, Any]:
    return {**edge._asdict(), "confidence": edge.confidence}


def _ends(edge: CodeEdge) -> tuple[str, str]:
    source = f"{path_of(edge.source)}:{edge.line}" if edge.line else path_of(edge.source)
    name = edge.source.partition("::")[2]
    target = edge.target.removeprefix(OUTSIDE) + (" (external)" if edge.target.startswith(OUTSIDE) else "")
    return output.one_line(f"{source} {name}"), output.one_line(f"{edge.kind} {target}")


def _print_left_off(number: int, limit: int) -> None:
    if number > limit:
        click.echo(f"{number - limit:,} more; use `-n {number}` to list all.", err=True)


@graph.command()
@click.argument("path", metavar="FILE")
@_possible
@limit_option(50)
@rendered()
def impact(cli: CliContext, path: str, possible: bool, limit: int) -> CommandResult:
    """List what may break when FILE changes, most likely first."""
    graph = _refreshed(cli)
    path = _file_path(cli, graph, path)
    reached = graph.impact(path, possible)

    def text() -> None:
        if not reached:
            click.echo("Nothing depends on this file.", err=True)
        rows = [
            (f"{node.weight:.2f}", str(node.distance), output.one_line(node.id), _reason(node.because))
            for node in reached[:limit]
        ]
        output.print_table(rows, ["blue", "bright_black", "cyan"])
        _print_left_off(len(reached), limit)

    shown = [_reached_json(node) for node in reached[:limit]]
    return CommandResult({"path": path, "reached": shown, "left_off": max(len(reached) - limit, 0)}, text)


def _reached_json(node: ImpactHit) -> dict[str, Any]:
    return {
        "id": node.id,
        "path": path_of(node.id),
        "distance": node.distance,
        "weight": round(node.weight, 4),
        "because": _edge_json(node.because),
    }


def _reason(edge: CodeEdge) -> str:
    return output.one_line(f"{edge.kind} {edge.target} ({edge.rule} {edge.confidence:.2f}, line {edge.line})")


def _print_relevant(found: "Relevant") -> None:
    output.print_table([_file_row(hit) for hit in found.files], ["blue", "cyan"])
    for snippet in found.snippets:
        first, last = snippet.lines
        click.echo("\n" + click.style(output.one_line(f"{snippet.path}:{first}-{last}"), bold=True))
        click.echo(output.printable(snippet.text))


def _file_row(hit: "FileHit") -> tuple[str, str, str]:
    parts = sorted((part for part in hit.why.items() if part[1] >= _MIN_SHOWN), key=lambda part: -part[1])
    why = ", ".join(f"{name} {value:.2f}" for name, value in parts)
    return f"{hit.score:.2f}", output.one_line(hit.path), why


def _relevant_json(found: "Relevant") -> dict[str, Any]:
    return {
        "files": found.files,
        "symbols": [{**hit.symbol._asdict(), "score": hit.score} for hit in found.symbols],
        "snippets": found.snippets,
        "to_read": found.to_read,
    }


@graph.command()
@click.argument("words", metavar="TEXT", nargs=-1, required=True)
@click.option(
    "--budget",
    type=click.IntRange(0, 1_000_000),
    default=2000,
    show_default=True,
    help="The maximum number of tokens of source lines to print.",
)
@limit_option(10)
@rendered(_print_relevant, json=_relevant_json)
def relevant(cli: CliContext, words: tuple[str, ...], budget: int, limit: int) -> "Relevant":
    """Rank the files for TEXT (- for standard input), with the lines to read."""
    text = read_text(words)
    _refreshed(cli)
    found = cli.engine.relevant(text, limit=limit, budget=budget)
    if not found.files and not cli.json:
        click.echo("No relevant files found.", err=True)
    return found
