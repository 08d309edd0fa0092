"""Beginning in a project: what it is, what its code is made of, and what it says of itself."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import perf_counter
from typing import TYPE_CHECKING, Any

import click

import recollect.model as m
from recollect.errors import EmbedderUnavailable, RecollectError
from recollect.interfaces.cli import output
from recollect.interfaces.cli.command import CliContext, open_engine, shared_options

if TYPE_CHECKING:
    from recollect.code.modules.module_map import ModuleMap, ProjectTools
    from recollect.engine import Engine

_MOST_LANGUAGES = 4
_MOST_MODULES = 6


@click.command()
@click.option(
    "--subproject", is_flag=True, help="Make this folder of a larger repository a project of its own."
)
@click.option(
    "--agree", metavar="URL", help="Agree that texts of memories are sent to this embedding server."
)
@click.option("--no-seeds", is_flag=True, help="Do not look for conventions in the project's files.")
@shared_options
@click.pass_obj
def init(cli: CliContext, subproject: bool, agree: str | None, no_seeds: bool) -> None:
    """Begin here: get to know the project, its code and its conventions.

    It says which project this folder belongs to and why, reads the code, and offers what the project says of itself
    (README, manifests, settings of tools, instructions for agents, history) for review. Memories without a vector get
    theirs. Safe to repeat: only what is new is added.
    """
    if subproject or agree:
        with open_engine(cli) as engine:
            if agree:
                engine.agree(agree)
            if subproject:
                engine.declare_subproject()
    with open_engine(cli) as engine:
        engine.register()
        begun = _Begun()
        with begun.step("code"):
            begun.say("code", *_read_code(engine))
        tools: Sequence[ProjectTools] = ()
        with begun.step("map"):
            found = engine.maps.rescan()
            tools = found.tools
            begun.say("map", *_about_map(found))
        with begun.step("stale"):
            begun.say("stale", *_look_at_anchors(engine))
        if not no_seeds:
            with begun.step("seeds"):
                begun.say("seeds", *_find_seeds(engine, tools))
        with begun.step("vectors"):
            made, note = make_vectors(engine)
            begun.say("vectors", {"made": made}, f"{made:,} made" if made else "")
            begun.notes += [note] if note else []
        project, total = engine.project, engine.count()
    if cli.json:
        said = {"project": project, "memories": total, "vectors_made": made, "notes": begun.notes}
        output.print_json(said | {name: begun.found.get(name) for name in ("code", "map", "stale", "seeds")})
        return
    if project:
        name = click.style(output.one_line(project.name), bold=True)
        click.echo(f"Project {name} ({output.one_line(project.why)}).")
    for line in output.table(begun.rows, ["green", "bright_black"]):
        click.echo(line)
    click.echo(f"{output.count(total, 'memory', 'memories')} in reach.")
    output.print_notes(begun.notes)
    click.echo(_next(total, begun.found.get("seeds") or {}))


def make_vectors(engine: "Engine") -> tuple[int, str]:
    """How many were made, and what to tell if they could not be."""
    try:
        missing = engine.count_missing()
        if not missing:
            return 0, ""
        with output.progress("Making vectors", missing) as advance:
            return engine.embed_missing(advance), ""
    except EmbedderUnavailable as error:
        return 0, f"No vectors for now: {error.message} {error.hint}".strip()


@dataclass(slots=True)
class _Begun:
    """What was found, step by step. A step that cannot be done leaves a note, and the others go on."""

    found: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    rows: list[tuple[str, str, str]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    _told: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def say(self, name: str, found: Mapping[str, Any], *told: str) -> None:
        self.found[name] = found
        self._told[name] = told

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        begin = perf_counter()
        try:
            yield
        except RecollectError as error:
            self.notes.append(f"{name}: {error.message} {error.hint}".strip())
            return
        seconds = perf_counter() - begin
        self.found[name] = {**self.found[name], "seconds": round(seconds, 3)}
        for number, line in enumerate(filter(None, self._told[name])):
            self.rows.append(
                ("" if number else name, "" if number else f"{seconds:.1f} s", output.one_line(line))
            )


def _read_code(engine: "Engine") -> tuple[dict[str, Any], str, str]:
    with output.progress("Reading the code", 100) as advance:
        done = engine.code.refresh(_hundredths(advance))
    engine.code.read_history()
    graph = engine.code.graph
    languages = Counter(graph.language(path) for path in graph.paths)
    symbols = sum(len(graph.outline(path)) for path in graph.paths)
    edges = sum(len(leaf.edges) for leaf in graph.leaves.values())
    found = {
        "files": done.files,
        "parsed": done.parsed,
        "languages": dict(languages.most_common()),
        "left_out": done.left_out,
        "symbols": symbols,
        "edges": edges,
    }
    common = ", ".join(f"{number:,} {name}" for name, number in languages.most_common(_MOST_LANGUAGES))
    read = f"{output.count(done.files, 'file')}{f' ({common})' if common else ''}"
    told = (
        f"{read}; {output.count(symbols, 'symbol')}, {output.count(edges, 'link')} between them"
        if symbols
        else read
    )
    left_out = ", ".join(f"{number:,} {why}" for why, number in done.left_out.items())
    return found, told, f"left out: {left_out}" if left_out else ""


def _hundredths(advance: Callable[[int], None] | None) -> Callable[[int, int], None] | None:
    if advance is None:
        return None
    shown = 0

    def progress(done: int, total: int) -> None:
        nonlocal shown
        now = 100 * done // max(total, 1)
        advance(max(now - shown, 0))
        shown = max(now, shown)

    return progress


def _about_map(found: "ModuleMap") -> tuple[dict[str, Any], str]:
    commands = found.tools[0].commands if found.tools else {}
    modules = [module.name for module in found.modules if module.kind == "code"]
    told = output.count(len(modules), "module") + (
        f": {', '.join(modules[:_MOST_MODULES])}" if modules else ""
    )
    more = ", …" if len(modules) > _MOST_MODULES else ""
    tested = f"; tests with `{commands['test']}`" if "test" in commands else ""
    return {"modules": modules, "commands": commands}, f"{told}{more}{tested}" if modules else ""


def _look_at_anchors(engine: "Engine") -> tuple[dict[str, Any], str]:
    stale = engine.check_code()
    told = (
        f"{output.count(len(stale), 'memory', 'memories')} about code that has changed since" if stale else ""
    )
    return {"memories": list(stale)}, told


def _find_seeds(engine: "Engine", tools: "Sequence[ProjectTools]") -> tuple[dict[str, Any], str]:
    from recollect.memory.seeds.find import find_seeds
    from recollect.memory.seeds.offer import offer_seeds

    if engine.project is None:
        return {"found": 0, "new": [], "waiting": 0}, ""
    seeds = find_seeds(engine.code.root, tools)
    planted = offer_seeds(
        engine.store, engine.remember, seeds, engine.settings.user, engine.project.id, m.utc_now()
    )
    waiting = len(engine.questions("seed"))
    return {"found": planted.found, "new": list(planted.new), "waiting": waiting}, (
        f"{output.count(planted.found, 'statement')} found, {len(planted.new):,} of them new"
    )


def _next(total: int, seeds: Mapping[str, Any]) -> str:
    if waiting := seeds.get("waiting"):
        return f"I found {output.count(waiting, 'convention')} in your project. Review? `recollect review --kind seed`"
    if not total:
        return 'Next: recollect remember "Tests need a running Redis" --kind gotcha'
    return 'Next: recollect search "why do the tests fail"'
