"""The tools about the code: its modules, and who calls what."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from recollect.errors import Refused
from recollect.interfaces.mcp.answers import CodeLine, CodeList, ModuleEntry, ModuleMapAnswer
from recollect.interfaces.mcp.requests import ToolContext
from recollect.interfaces.mcp.toolbox import CHANGES, READS, UNLISTED, Answer, Toolbox

if TYPE_CHECKING:
    from recollect.code.graph.graph import CodeGraph
    from recollect.code.modules.module_map import ModuleMap
    from recollect.code.nodes import CodeEdge

MOST_FILES = 12  # of a module
MOST = 50  # results per call
TOKENS = 2_000  # of code shown

Question = Literal["relevant", "file", "symbol", "callers", "callees", "deps", "dependents", "impact"]
Limit = Annotated[int, Field(ge=1, le=MOST)]


def add_code_tools(box: Toolbox) -> None:
    @box.tool("Module map", READS)
    async def module_map(
        task: Annotated[str, Field(description="Only modules relevant to this task.")] = "",
        module: Annotated[str, Field(description="Only this module, with all details.")] = "",
    ) -> Annotated[Answer, ModuleMapAnswer]:
        """List the modules of this codebase with their files and tests, and the commands that build, test and lint it.
        Use it before you explore with glob or grep."""
        return await box.answer(lambda context: show_map(context, task, module))

    @box.tool("Correct the module map", CHANGES, files="add_files")
    async def update_module_map(
        module: Annotated[str, Field(description="The module, as module_map names it.")],
        name: Annotated[str, Field(description="A better name.")] = "",
        description: Annotated[str, Field(description="Its purpose, in one line.")] = "",
        add_files: Annotated[tuple[str, ...], Field(description="Files that belong to it.")] = (),
        remove_files: Annotated[tuple[str, ...], Field(description="Files that do not belong to it.")] = (),
        dependencies: Annotated[tuple[str, ...], Field(description="All packages it needs.")] = (),
    ) -> Annotated[Answer, ModuleMapAnswer]:
        """Correct a module in the map. Use it when a file belongs to another module, or a name or description misleads.
        You cannot override the user's corrections."""
        return await box.answer(
            lambda context: correct_map(
                context, module, name, description, add_files, remove_files, dependencies
            )
        )

    @box.tool(
        "Code graph", READS, **dict.fromkeys(("query", "task", "text", "file", "symbol", "path"), "about")
    )
    async def code_graph(
        question: Annotated[
            Question,
            Field(
                description="relevant: files and lines for a task. file: what it defines. symbol: where it is defined."
                " callers, callees: of a symbol. deps, dependents, impact: of a file."
            ),
        ],
        about: Annotated[str, Field(description="The task in words, a path, or a name.")],
        possible: Annotated[
            bool,
            Field(description="Include edges for which only the name matches.", json_schema_extra=UNLISTED),
        ] = False,
        limit: Limit = 10,
    ) -> Annotated[Answer, CodeList]:
        """Ask which files and lines a task is about, who calls what, and what depends on what. Use it before you search
        or open files (`relevant`, with the user's request), and before you change a shared one (`impact`)."""
        return await box.answer(lambda context: ask_graph(context, question, about, possible, limit))


def show_map(context: ToolContext, task: str, name: str) -> tuple[ModuleMapAnswer, str]:
    found = context.engine.maps.current()
    if name:
        keys = [found.find(name).key]
    elif task:
        keys = [each.module.key for each in context.engine.modules_for(task)]
    else:
        keys = [module.key for module in found.modules]
    return _shown(context, found, keys)


def correct_map(
    context: ToolContext,
    module: str,
    name: str,
    description: str,
    added: Sequence[str],
    removed: Sequence[str],
    dependencies: Sequence[str],
) -> tuple[ModuleMapAnswer, str]:
    from recollect.code.modules.merge import Correction

    correction = Correction(
        name or None, description or None, tuple(dependencies) or None, tuple(added), tuple(removed)
    )
    maps = context.engine.maps
    changed = maps.correct(module, correction)
    return _shown(context, maps.current(), [changed.key])


def _shown(context: ToolContext, found: "ModuleMap", keys: Sequence[str]) -> tuple[ModuleMapAnswer, str]:
    from recollect.code.modules.for_agents import for_agents, marks_of
    from recollect.memory.briefing.render import clean

    found = for_agents(found, trusted=context.engine.context.is_trusted)
    by_key = {module.key: module for module in found.modules}
    modules = [by_key[key] for key in keys if key in by_key]
    parts = [
        ModuleEntry(
            each.name,
            each.description,
            list(each.core_files[:MOST_FILES]),
            list(each.entry_points),
            list(each.test_files[:MOST_FILES]),
            list(each.dependencies),
            [by_key[key].name for key in each.related if key in by_key],
            each.confidence,
            list(marks_of(each)),
        )
        for each in modules
    ]
    commands = {
        f"{slot} ({tools.path})" if tools.path else slot: command
        for tools in found.tools
        for slot, command in tools.commands.items()
    }
    lines = [_line(part) for part in parts]
    lines += [f"{slot}: {command}" for slot, command in commands.items()]
    return ModuleMapAnswer(parts, commands), "\n".join(map(clean, lines)) or "No code to map in this project."


def _line(part: ModuleEntry) -> str:
    marks = f" ({', '.join(part.marks)})" if part.marks else ""
    fields = [f"{part.name}{marks}: {part.description}".rstrip(": "), f"Files: {', '.join(part.files)}"]
    fields += [f"Tests: {', '.join(part.tests)}"] if part.tests else []
    fields += [f"Deps: {', '.join(part.dependencies)}"] if part.dependencies else []
    return " | ".join(fields)


def ask_graph(
    context: ToolContext, question: str, about: str, possible: bool, limit: int
) -> tuple[CodeList, str]:
    if not about.strip():
        raise Refused("`about` is empty.", "Name a task, a file or a symbol.")
    if question == "relevant":
        return _relevant(context, about, limit)
    graph = context.engine.code.graph
    lines = _QUESTIONS[question](graph, about, possible)
    shown = lines[:limit]
    rows = [f"{line.place}  {line.name}  {line.says}".rstrip() for line in shown]
    if rows and question in _ONE_EACH:
        rows.append(f"One line per {_ONE_EACH[question]}, at its first call.")
    text = "\n".join(rows)
    return CodeList(shown, len(lines) - len(shown)), text or "None found."


def _relevant(context: ToolContext, text: str, limit: int) -> tuple[CodeList, str]:
    from recollect.text.shapes import looks_like_path  # a name that is a sentence is not repeated

    found = context.engine.relevant(text, limit=limit, budget=TOKENS, patient=False)
    by_path = {hit.path: hit for hit in found.files if looks_like_path(hit.path)}
    hits = [by_path[path] for path in found.to_read if path in by_path]  # an agent opens them in this order
    lines = [CodeLine(hit.path, "", ", ".join(hit.why), hit.score) for hit in hits]
    lines += [
        CodeLine(
            f"{each.symbol.path}:{each.symbol.line}",
            each.symbol.name,
            each.symbol.signature,
            round(each.score, 3),
        )
        for each in found.symbols
        if looks_like_path(each.symbol.path)
    ]
    files = [f"{hit.path} ({', '.join(hit.why)})" for hit in hits]
    snippets = [
        f"--- {each.path}:{each.lines[0]}-{each.lines[1]}\n{each.text}"
        for each in found.snippets
        if looks_like_path(each.path)
    ]
    return CodeList(lines, 0), "\n".join([*files, *snippets]) or "No code matches that."


def _outline(graph: "CodeGraph", name: str, possible: bool) -> list[CodeLine]:
    return [
        CodeLine(f"{each.path}:{each.line}-{each.end}", each.name, each.signature or each.kind, 1.0)
        for each in graph.outline(graph.file_named(name))
    ]


def _symbol(graph: "CodeGraph", name: str, possible: bool) -> list[CodeLine]:
    return [
        CodeLine(
            f"{each.path}:{each.line}-{each.end}",
            each.id.partition("::")[2],
            each.signature or each.kind,
            1.0,
        )
        for each in graph.symbols_named(name)
    ]


def _edges(graph: "CodeGraph", edges: "Sequence[CodeEdge]") -> list[CodeLine]:
    return [
        CodeLine(
            f"{edge.source.partition('::')[0]}:{edge.line}",
            edge.source.partition("::")[2],
            f"{edge.kind} {edge.target} ({edge.rule})",
            edge.confidence,
        )
        for edge in edges
    ]


def _callers(graph: "CodeGraph", name: str, possible: bool) -> list[CodeLine]:
    found = graph.symbols_named(name)
    return _edges(graph, [edge for each in found for edge in graph.callers(each.id, possible)])


def _callees(graph: "CodeGraph", name: str, possible: bool) -> list[CodeLine]:
    found = graph.symbols_named(name)
    return _edges(graph, [edge for each in found for edge in graph.callees(each.id, possible)])


def _deps(graph: "CodeGraph", name: str, possible: bool) -> list[CodeLine]:
    return _edges(graph, graph.dependencies(graph.file_named(name), possible))


def _dependents(graph: "CodeGraph", name: str, possible: bool) -> list[CodeLine]:
    return _edges(graph, graph.dependents(graph.file_named(name), possible))


def _impact(graph: "CodeGraph", name: str, possible: bool) -> list[CodeLine]:
    return [
        CodeLine(
            each.id.partition("::")[0],
            each.id.partition("::")[2],
            f"{each.because.kind} {each.because.target}, {each.distance} away",
            round(each.weight, 3),
        )
        for each in graph.impact(graph.file_named(name), possible)
    ]


_ONE_EACH = {"callers": "caller", "callees": "callee"}

_QUESTIONS: "dict[str, Callable[[CodeGraph, str, bool], list[CodeLine]]]" = {
    "file": _outline,
    "symbol": _symbol,
    "callers": _callers,
    "callees": _callees,
    "deps": _deps,
    "dependents": _dependents,
    "impact": _impact,
}
