"""The `graph` command: definitions, callers, dependencies and impact in the code, and files relevant to a task."""

import contextlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from recollect.code.decoding import read_source
from recollect.code.graph.graph import CodeGraph, container_of, path_of
from recollect.code.graph.impact import ImpactHit
from recollect.code.nodes import OUTSIDE, CodeEdge, Symbol
from recollect.interfaces.cli import output
from recollect.interfaces.cli.command import CliContext, CommandResult, rendered, shared_options
from recollect.interfaces.cli.options import MAX_LIMIT, limit_option, read_text

if TYPE_CHECKING:
    from recollect.code.relevant.search import FileHit, Relevant

_MIN_SHOWN = 0.005  # smaller parts of a score would be printed as 0.00

_ON_SCREEN = 20  # rows that people are shown
_IN_JSON = 50  # rows that programs are given

_ONE_PER_CALLER = "One row per caller, at its first call; `--sites` lists all calls."
_ONE_PER_CALL = "One row per line with a call that could be resolved."
_ONE_PER_CALLEE = "One row per callee, at its first call."

_possible = click.option(
    "--possible", is_flag=True, help="Include possible edges, for which only the name matches."
)
_code = click.option("--code", is_flag=True, help="Show the source line of each row.")
_limit = click.option(
    "-n",
    "--limit",
    type=click.IntRange(1, MAX_LIMIT),
    help=f"The maximum number of results.  [default: {_ON_SCREEN}, {_IN_JSON} in JSON]",
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


def _resolved(cli: CliContext) -> CodeGraph:
    """Return the graph with all edges: only those that begin in a file are quick to find."""
    graph = _refreshed(cli)
    with output.progress_of_total("Finding who uses what") as progress:
        graph.resolve(progress=progress)
    return graph


def _file_path(cli: CliContext, graph: CodeGraph, name: str) -> str:
    """Return the path in the graph for a name relative to the current folder or the root, or the end of a path."""
    with contextlib.suppress(ValueError, OSError, RuntimeError):
        path = (cli.current_folder / name).resolve().relative_to(cli.engine.code.root.resolve()).as_posix()
        if path in graph.nodes:
            return path
    return graph.file_named(name)


@graph.command()
@click.argument("path")
@_limit
@rendered()
def file(cli: CliContext, path: str, limit: int | None) -> CommandResult:
    """List the definitions in the file at PATH."""
    graph = _refreshed(cli)
    path = _file_path(cli, graph, path)
    symbols = graph.outline(path)

    def text() -> None:
        click.echo(click.style(output.one_line(path), bold=True) + f"  {graph.language(path)}")
        if doc := graph.file_doc(path):
            click.echo(output.one_line(doc))
        most = limit or _ON_SCREEN
        outermost = sorted(range(len(symbols)), key=lambda number: (_depth(symbols[number]), number))[:most]
        rows = [_outline_row(symbols[number]) for number in sorted(outermost)]
        _print_rows(("LINES", "DEFINITION"), rows, ["bright_black"])
        _print_left_off(len(symbols), most)

    value = {"path": path, "language": graph.language(path), "doc": graph.file_doc(path)}
    return CommandResult({**value, "symbols": [symbol._asdict() for symbol in symbols]}, text)


def _outline_row(symbol: Symbol) -> tuple[str, str]:
    keyword = {"class": "class ", "function": "def "}.get(symbol.kind, "")
    doc = f"  {output.one_line(symbol.doc)}" if symbol.doc else ""
    return f"{symbol.line}-{symbol.end}", f"{'  ' * _depth(symbol)}{keyword}{_signature(symbol)}{doc}"


def _depth(symbol: Symbol) -> int:
    depth, parent = 0, container_of(symbol.id)
    while parent != symbol.path:
        depth, parent = depth + 1, container_of(parent)
    return depth


def _signature(symbol: Symbol) -> str:
    return output.one_line(symbol.name + symbol.signature)


@graph.command()
@click.argument("name")
@_limit
@rendered()
def symbol(cli: CliContext, name: str, limit: int | None) -> CommandResult:
    """Find the definitions of NAME: functions, classes, variables."""
    graph = _resolved(cli)
    symbols = graph.symbols_named(name)

    def text() -> None:
        most = limit or _ON_SCREEN
        rows = [_symbol_row(graph, symbol) for symbol in symbols[:most]]
        headers = ("KIND", "AT", "CALLERS", "CALLEES", "DEFINITION")
        _print_rows(headers, rows, ["green", "cyan", "", ""])
        _print_left_off(len(symbols), most)

    return CommandResult({"symbols": [symbol._asdict() for symbol in symbols]}, text)


def _symbol_row(graph: CodeGraph, symbol: Symbol) -> tuple[str, ...]:
    callers, callees = len(graph.callers(symbol.id)), len(graph.callees(symbol.id))
    doc = f"  {output.one_line(symbol.doc)}" if symbol.doc else ""
    place = output.one_line(f"{symbol.path}:{symbol.line}")
    return symbol.kind, place, f"{callers:,}", f"{callees:,}", _signature(symbol) + doc


@graph.command()
@click.argument("name")
@click.option("--sites", is_flag=True, help="List every line with a call, not only the first of each caller.")
@_possible
@_code
@_limit
@rendered()
def callers(
    cli: CliContext, name: str, sites: bool, possible: bool, code: bool, limit: int | None
) -> CommandResult:
    """List what calls NAME; of a class, also what inherits or names it."""
    graph = _resolved(cli)
    symbols = graph.symbols_named(name)
    edges = [edge for symbol in symbols for edge in graph.callers(symbol.id, possible)]
    if sites:
        from recollect.code.graph.call_sites import (
            call_sites,
        )  # the parsers, which other questions do not need

        edges = call_sites(graph, cli.engine.code.root, edges)
    query = {"symbols": [symbol.id for symbol in symbols]}
    note = _ONE_PER_CALL if sites else _ONE_PER_CALLER
    return _edges(cli, query, edges, limit, code, "No callers found.", note)


@graph.command()
@click.argument("name")
@_possible
@_code
@_limit
@rendered()
def callees(cli: CliContext, name: str, possible: bool, code: bool, limit: int | None) -> CommandResult:
    """List what NAME calls, one row per function that is called."""
    graph = _refreshed(cli)
    symbols = graph.symbols_named(name)
    edges = [edge for symbol in symbols for edge in graph.callees(symbol.id, possible)]
    query = {"symbols": [symbol.id for symbol in symbols]}
    return _edges(cli, query, edges, limit, code, "No callees found.", _ONE_PER_CALLEE)


@graph.command()
@click.argument("path", metavar="FILE")
@click.option("--reverse", is_flag=True, help="List the files that depend on FILE instead.")
@_possible
@_code
@_limit
@rendered()
def deps(
    cli: CliContext, path: str, reverse: bool, possible: bool, code: bool, limit: int | None
) -> CommandResult:
    """List the files and packages that FILE depends on."""
    graph = _resolved(cli) if reverse else _refreshed(cli)
    path = _file_path(cli, graph, path)
    edges = graph.dependents(path, possible) if reverse else graph.dependencies(path, possible)
    empty = "No dependents found." if reverse else "No dependencies found."
    return _edges(cli, {"path": path, "reverse": reverse}, edges, limit, code, empty)


def _edges(
    cli: CliContext,
    query: dict[str, Any],
    edges: Sequence[CodeEdge],
    limit: int | None,
    code: bool,
    empty: str,
    note: str = "",
) -> CommandResult:
    lines = _SourceLines(cli.engine.code.root) if code else None

    def text() -> None:
        if not edges:
            click.echo(empty, err=True)
            return
        most = limit or _ON_SCREEN
        headers = ("FROM", "AT", "HOW", "TO", "CERTAINTY") + (("CODE",) if lines else ())
        rows = [_edge_row(edge) + ((lines.at(edge),) if lines else ()) for edge in edges[:most]]
        _print_rows(headers, rows, ["cyan", "", "green", "cyan", "bright_black"][: len(headers) - 1])
        _print_left_off(len(edges), most)
        if note:
            output.print_notes([note])

    most = limit or _IN_JSON
    shown = [_edge_json(edge) | ({"code": lines.at(edge)} if lines else {}) for edge in edges[:most]]
    return CommandResult({**query, "edges": shown, "left_off": max(len(edges) - most, 0)}, text)


class _SourceLines:
    """The lines of the project's files, read on request."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._files: dict[str, list[str]] = {}

    def at(self, edge: CodeEdge) -> str:
        """Return the line of an edge; nothing if it is gone."""
        path = path_of(edge.source)
        if path not in self._files:
            self._files[path] = read_source(self._root / path).splitlines()
        lines = self._files[path]
        return output.one_line(lines[edge.line - 1].strip()) if 0 < edge.line <= len(lines) else ""


def _edge_json(edge: CodeEdge) -> dict[str, Any]:
    return {**edge._asdict(), "confidence": edge.confidence}


def _edge_row(edge: CodeEdge) -> tuple[str, ...]:
    place = f"{path_of(edge.source)}:{edge.line}" if edge.line else path_of(edge.source)
    name = edge.source.partition("::")[2] or "(file)"
    target = edge.target.removeprefix(OUTSIDE) + (" (external)" if edge.target.startswith(OUTSIDE) else "")
    certainty = f"{edge.confidence:.2f} {edge.rule}"
    return (*map(output.one_line, (name, place, edge.kind, target)), certainty)


def _print_rows(headers: Sequence[str], rows: Sequence[Sequence[str]], colors: Sequence[str]) -> None:
    if rows:
        output.print_table([headers, *rows], colors)


def _print_left_off(number: int, limit: int) -> None:
    if number > limit:
        click.echo(f"{number - limit:,} more; use `-n {number}` to list all.", err=True)


@graph.command()
@click.argument("path", metavar="FILE")
@_possible
@_limit
@rendered()
def impact(cli: CliContext, path: str, possible: bool, limit: int | None) -> CommandResult:
    """List what may break when FILE changes, most likely first."""
    graph = _resolved(cli)
    path = _file_path(cli, graph, path)
    reached = graph.impact(path, possible)

    def text() -> None:
        if not reached:
            click.echo("Nothing depends on this file.", err=True)
        most = limit or _ON_SCREEN
        rows = [
            (f"{node.weight:.2f}", str(node.distance), output.one_line(node.id), _reason(node.because))
            for node in reached[:most]
        ]
        _print_rows(("WEIGHT", "STEPS", "WHAT", "BECAUSE IT"), rows, ["blue", "bright_black", "cyan"])
        _print_left_off(len(reached), most)

    most = limit or _IN_JSON
    shown = [_reached_json(node) for node in reached[:most]]
    return CommandResult({"path": path, "reached": shown, "left_off": max(len(reached) - most, 0)}, text)


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


def _print_relevant(found: "Relevant", code: bool) -> None:
    _print_rows(("SCORE", "FILE", "WHY"), [_file_row(hit) for hit in found.files], ["blue", "cyan"])
    for snippet in found.snippets if code else ():
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
@click.option("--code", is_flag=True, help="Print the lines to read, too.")
@limit_option(10)
@rendered()
def relevant(cli: CliContext, words: tuple[str, ...], budget: int, code: bool, limit: int) -> CommandResult:
    """Rank the files for TEXT (- for standard input), with `--code` the lines to read."""
    text = read_text(words)
    _refreshed(cli)
    found = cli.engine.relevant(text, limit=limit, budget=budget if code or cli.json else 0)
    if not found.files and not cli.json:
        click.echo("No relevant files found.", err=True)
    return CommandResult(_relevant_json(found), lambda: _print_relevant(found, code))
