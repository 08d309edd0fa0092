"""The project in five lines: its modules, and how to build, test and lint it."""

import recollect.model as m
from recollect.code.modules.module_map import ModuleMap, from_document
from recollect.code.paths import FileRole
from recollect.context.store import Store
from recollect.memory.briefing.briefing import ProjectCard
from recollect.memory.briefing.render import one_line

MOST_MODULES = 12
_COMMANDS = {"Build": ("build",), "Test": ("test",), "Lint": ("lint", "types", "format")}


def project_card(store: Store, project: m.Project) -> ProjectCard | None:
    """Return the stored map of the project in five lines; None if nobody has scanned it yet."""
    document = store.modules.get(project.id)
    known = from_document(document) if document else None
    return ProjectCard(project.name, tuple(_lines(known))) if known else None


def _lines(known: ModuleMap) -> list[str]:
    names = [module.name for module in known.modules if module.kind is FileRole.CODE]
    lines = []
    if names:
        more = [f"+{len(names) - MOST_MODULES}"] if len(names) > MOST_MODULES else []
        lines.append(one_line(f"Modules: {', '.join([*names[:MOST_MODULES], *more])}", 80))
    for label, slots in _COMMANDS.items():
        commands = [tools.commands[slot] for tools in known.tools for slot in slots if slot in tools.commands]
        if commands:
            lines.append(one_line(f"{label}: {'; '.join(dict.fromkeys(commands))}", 50))
    return lines
