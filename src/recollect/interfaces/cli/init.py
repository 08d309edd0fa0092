"""The `init` command: identify the project, read its code, and offer its conventions for review."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import perf_counter
from typing import TYPE_CHECKING, Any

import click

import recollect.model as m
from recollect.errors import EmbedderUnavailable, RecollectError
from recollect.interfaces.cli import output
from recollect.interfaces.cli.command import CliContext, CommandResult, rendered
from recollect.interfaces.cli.trust import print_proposals, proposals_json

if TYPE_CHECKING:
    from recollect.code.modules.module_map import ModuleMap, ProjectTools
    from recollect.engine import Engine

_LANGUAGES_SHOWN = 4
_MODULES_SHOWN = 6
_PROPOSALS_SHOWN = 5


@click.command()
@click.option(
    "--subproject", is_flag=True, help="Make this folder of a larger repository a project of its own."
)
@click.option(
    "--agree", metavar="URL", help="Agree that texts of memories are sent to this embedding server."
)
@click.option("--no-seeds", is_flag=True, help="Do not look for conventions in the project's files.")
@click.option(
    "--all-seeds", is_flag=True, help="Offer all conventions that were found, not only the best 15."
)
@rendered()
def init(
    cli: CliContext, subproject: bool, agree: str | None, no_seeds: bool, all_seeds: bool
) -> CommandResult:
    """Set up memory for a project: read its code and conventions.

    Prints which project this folder belongs to and why, reads the code, and offers conventions from the README,
    manifests, tool settings, agent instructions and git history for review. Makes missing vectors. You can run it again:
    it adds only what is new.
    """
    if agree:
        cli.engine.preferences.agree(agree)
    if subproject:
        cli.engine.preferences.declare_subproject()
    if agree or subproject:
        cli.close_engine()  # so that it opens again with the new project or embedder
    engine = cli.engine
    engine.context.register_project()
    report = _InitReport()
    with report.step("code"):
        report.add("code", *_read_code(engine))
    tools: Sequence[ProjectTools] = ()
    with report.step("map"):
        modules = engine.maps.rescan()
        tools = modules.tools
        report.add("map", *_describe_map(modules))
    with report.step("stale"):
        report.add("stale", *_check_anchors(engine))
    if not no_seeds:
        with report.step("seeds"):
            report.add("seeds", *_find_seeds(engine, tools, all_seeds))
    made = 0
    with report.step("vectors"):
        made, note = make_vectors(engine)
        report.add("vectors", {"made": made}, f"{made:,} made" if made else "")
        report.notes += [note] if note else []
    project, total = engine.project, engine.memory.count()

    def text() -> None:
        if project:
            name = click.style(output.one_line(project.name), bold=True)
            click.echo(f"Project {name} ({output.one_line(project.why)}).")
        output.print_table(report.rows, ["green", "bright_black"])
        click.echo(f"{output.count(total, 'memory', 'memories')} available.")
        output.print_notes(report.notes)
        seeds = report.values.get("seeds") or {}
        if seeds.get("new"):
            print_proposals(engine.questions("seed"), _PROPOSALS_SHOWN)
        click.echo(_next_step(total, seeds))

    value = {"project": project, "memories": total, "vectors_made": made, "notes": report.notes}
    steps = {name: report.values.get(name) for name in ("code", "map", "stale", "seeds")}
    return CommandResult(value | steps, text)


def make_vectors(engine: "Engine") -> tuple[int, str]:
    """Make the missing vectors; return how many were made, and a note if that failed."""
    try:
        missing = engine.care.count_missing()
        if not missing:
            return 0, ""
        with output.progress("Making vectors", missing) as advance:
            return engine.embed_missing(advance), ""
    except EmbedderUnavailable as error:
        return 0, f"Cannot make vectors: {error.message} {error.hint}".strip()


@dataclass(slots=True)
class _InitReport:
    """The result of each step. A step that fails leaves a note, and the next ones continue."""

    values: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    rows: list[tuple[str, str, str]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    _lines: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def add(self, name: str, value: Mapping[str, Any], *lines: str) -> None:
        self.values[name] = value
        self._lines[name] = lines

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        begin = perf_counter()
        try:
            yield
        except RecollectError as error:
            self.notes.append(f"{name}: {error.message} {error.hint}".strip())
            return
        seconds = perf_counter() - begin
        self.values[name] = {**self.values[name], "seconds": round(seconds, 3)}
        first = (name, f"{seconds:.1f} s")
        for line in filter(None, self._lines[name]):
            self.rows.append((*first, output.one_line(line)))
            first = ("", "")


def _read_code(engine: "Engine") -> tuple[dict[str, Any], str, str]:
    with output.progress_of_total("Reading the code") as progress:
        done = engine.code.refresh(progress)
    graph = engine.code.graph
    with output.progress_of_total("Finding who uses what") as progress:
        graph.resolve(progress=progress)
    engine.code.read_history()
    languages = Counter(graph.language(path) for path in graph.paths)
    symbols = sum(len(graph.outline(path)) for path in graph.paths)
    edges = sum(len(graph.edges_of(path)) for path in graph.paths)
    value = {
        "files": done.files,
        "parsed": done.parsed,
        "languages": dict(languages.most_common()),
        "left_out": done.left_out,
        "symbols": symbols,
        "edges": edges,
    }
    common = ", ".join(f"{number:,} {name}" for name, number in languages.most_common(_LANGUAGES_SHOWN))
    files = f"{output.count(done.files, 'file')}{f' ({common})' if common else ''}"
    counts = f"; {output.count(symbols, 'symbol')}, {output.count(edges, 'edge')}" if symbols else ""
    left_out = ", ".join(f"{number:,} {_reason(why, number)}" for why, number in done.left_out.items())
    return value, f"{files}{counts}", f"skipped: {left_out}" if left_out else ""


def _reason(why: str, number: int) -> str:
    """Return why files are left out, in the plural where it names what they are: "7 lock files", but "7 generated"."""
    plurals = {"folder": "folders", "repository": "repositories", "file": "files", "link": "links"}
    before, _, last = why.rpartition(" ")
    return f"{before} {plurals[last]}" if number > 1 and last in plurals else why


def _describe_map(modules: "ModuleMap") -> tuple[dict[str, Any], str]:
    commands = modules.tools[0].commands if modules.tools else {}
    names = [module.name for module in modules.modules if module.kind == "code"]
    value = {"modules": names, "commands": commands}
    if not names:
        return value, ""
    more = ", …" if len(names) > _MODULES_SHOWN else ""
    tests = f"; test command: `{commands['test']}`" if "test" in commands else ""
    return value, f"{output.count(len(names), 'module')}: {', '.join(names[:_MODULES_SHOWN])}{more}{tests}"


def _check_anchors(engine: "Engine") -> tuple[dict[str, Any], str]:
    stale = engine.care.check_code()
    memories = output.count(len(stale), "memory", "memories")
    return {"memories": list(stale)}, f"{memories} about code that has changed" if stale else ""


def _find_seeds(
    engine: "Engine", tools: "Sequence[ProjectTools]", all_seeds: bool
) -> tuple[dict[str, Any], str]:
    from recollect.memory.seeds.find import FIRST_SEEDS, WORTH, find_seeds
    from recollect.memory.seeds.offer import offer_seeds

    if engine.project is None:
        return {"found": 0, "left_off": 0, "new": [], "waiting": 0, "trusted": False, "proposals": []}, ""
    graph = engine.code.graph
    symbols = {symbol.name for path in graph.paths for symbol in graph.outline(path)}
    seeds = find_seeds(engine.code.root, tools, symbols)
    shown = seeds if all_seeds else [seed for seed in seeds[:FIRST_SEEDS] if seed.confidence >= WORTH]
    offered = offer_seeds(
        engine.store, engine.remember, shown, engine.settings.user, engine.project.id, m.utc_now()
    )
    left_off = len(seeds) - len(shown)
    proposals = proposals_json(engine)
    value = {
        "found": offered.found,
        "left_off": left_off,
        "new": list(offered.new),
        "waiting": len(proposals),
        "trusted": engine.context.is_trusted,
        "proposals": proposals,
    }
    more = f"; {left_off} more with `recollect init --all-seeds`" if left_off else ""
    return value, f"{output.count(offered.found, 'convention')} found, {len(offered.new):,} new{more}"


def _next_step(total: int, seeds: Mapping[str, Any]) -> str:
    if waiting := seeds.get("waiting"):
        conventions = output.count(waiting, "convention")
        if seeds.get("trusted"):
            return f"Found {conventions} in your project, which agents see. Run `recollect review --kind seed` to review them."
        return (
            f"Found {conventions} in your project. Agents see them after you review them (`recollect review --kind seed`)"
            " or trust the repository (`recollect trust`)."
        )
    if not total:
        return 'Next: recollect remember "Tests need a running Redis" --kind gotcha'
    return 'Next: recollect search "why do the tests fail"'
