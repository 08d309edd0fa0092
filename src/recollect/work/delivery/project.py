"""The project in five lines: its modules, and how to build, test, lint and format it."""

import re
from collections.abc import Sequence

import recollect.model as m
from recollect.code.modules.for_agents import BY_AGENT, for_agents, marks_of
from recollect.code.modules.module_map import ModuleMap, from_document
from recollect.code.paths import FileRole
from recollect.context.store import Store
from recollect.memory.briefing.briefing import ProjectCard
from recollect.memory.briefing.render import one_line
from recollect.policy import USER_SOURCES
from recollect.text.shapes import looks_like_command, looks_like_name

MOST_MODULES = 12
_NO_TOOLS = frozenset("run test tests build lint check format types exec all".split())
_COMMANDS = {"Build": ("build",), "Test": ("test",), "Lint": ("lint", "types"), "Format": ("format",)}
_TESTS = re.compile(r"\b(?:tests?|testing|test suite)\b", re.IGNORECASE)
_NAMED = re.compile(
    r"`([^`\n]{3,120})`|\b(?:with|using|by running|through|via)\s+([\w./:=-]+(?: [\w./:=-]+){0,5})"
)


def project_card(
    store: Store, project: m.Project, rules: Sequence[m.Memory] = (), *, trusted: bool = False
) -> ProjectCard | None:
    """Return the stored map of the project in five lines; None if nobody has scanned it yet.

    Commands that run a tool which one of the `rules` rules out are left out, so are those that test if a rule of the user
    names another one, and so is free text of a repository that is not `trusted`.
    """
    document = store.modules.get(project.id)
    known = from_document(document) if document else None
    if known is None:
        return None
    name = project.name if looks_like_name(project.name) else "this project"
    return ProjectCard(name, tuple(_lines(for_agents(known, trusted=trusted), rules)))


def _lines(known: ModuleMap, rules: Sequence[m.Memory]) -> list[str]:
    names = [
        f"{module.name} ({BY_AGENT})" if BY_AGENT in marks_of(module) else module.name
        for module in known.modules
        if module.kind is FileRole.CODE
    ]
    lines = []
    if names:
        more = [f"+{len(names) - MOST_MODULES}"] if len(names) > MOST_MODULES else []
        lines.append(one_line(f"Modules: {', '.join([*names[:MOST_MODULES], *more])}", 80))
    for label, slots in _COMMANDS.items():
        found = [tools.commands[slot] for tools in known.tools for slot in slots if slot in tools.commands]
        if label == "Test" and _names_other_tests(rules, found):
            continue
        commands = [command for command in found if not _is_ruled_out(command, rules)]
        if commands:
            lines.append(one_line(f"{label}: {'; '.join(dict.fromkeys(commands))}", 50))
    return lines


def _names_other_tests(rules: Sequence[m.Memory], known: Sequence[str]) -> bool:
    """Return whether the user says to test with a command that the map does not have: then that one counts."""
    for rule in rules:
        if rule.source in USER_SOURCES and _TESTS.search(rule.content):
            named = [part.strip(" .") for found in _NAMED.findall(rule.content) for part in found]
            named = [command for command in named if looks_like_command(command)]
            is_known = any(command in each for command in named for each in known)
            if not is_known and any(map(_may_test, named)):
                return True
    return False


def _may_test(command: str) -> bool:
    """Return whether a command may run the tests: it does nothing else that we know, and picks no single one."""
    from recollect.code.modules.commands import names_one_test, slot_of  # their table costs 30 ms

    slot = slot_of(command)
    return (slot is None or slot[1] == "test") and not names_one_test(command)


def _is_ruled_out(command: str, rules: Sequence[m.Memory]) -> bool:
    """Return whether a rule says that a tool which the command runs is not to be used: `npm test`, "Use pnpm, not npm"."""
    words = _words(command) - _NO_TOOLS
    texts = [rule.content for rule in rules if words & _words(rule.content)]
    if not texts:
        return False
    from recollect.memory.judgement.tools import banned_tools, tools_named  # their tables cost 60 ms

    return any(tools_named(command) & banned_tools(text) for text in texts)


def _words(text: str) -> set[str]:
    return set(re.findall(r"[\w-]+", text.lower()))
