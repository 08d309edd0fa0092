"""The module map as agents are shown it: what a repository or an agent calls something must not pass for an instruction."""

from dataclasses import replace

import recollect.model as m
from recollect.code.modules.module_map import Module, ModuleMap, ProjectTools
from recollect.text.shapes import looks_like_command, looks_like_name, looks_like_path, reads_like_instruction

BY_AGENT = "named by an agent"
DESCRIBED = "described by an agent"
MODEL = "model"  # the author of names that a language model gave, which has read the repository's words


def for_agents(found: ModuleMap, *, trusted: bool) -> ModuleMap:
    """Return the map without free text of a repository that is not `trusted`, and without names that read like sentences."""
    return replace(
        found,
        modules=tuple(shown for module in found.modules if (shown := _shown(module, trusted))),
        tools=tuple(_commands_only(tools) for tools in found.tools),
    )


def marks_of(module: Module) -> tuple[str, ...]:
    """Return what to say beside a module that an agent has named or described."""
    return (
        *((BY_AGENT,) if _is_agents(module, "name") or _is_agents(module, "split") else ()),
        *((DESCRIBED,) if _is_agents(module, "description") and module.description else ()),
    )


def _shown(module: Module, trusted: bool) -> Module | None:
    """Return the module as it is shown; None if not even its name can be."""
    name = next((name for name in (module.name, module.key) if looks_like_name(name)), None)
    if name is None:
        return None
    return replace(
        module,
        name=name,
        description=_description(module, trusted),
        core_files=tuple(filter(looks_like_path, module.core_files)),
        entry_points=tuple(filter(looks_like_path, module.entry_points)),
        test_files=tuple(filter(looks_like_path, module.test_files)),
        dependencies=tuple(filter(looks_like_name, module.dependencies)),
    )


def _description(module: Module, trusted: bool) -> str:
    author = module.said.get("description")
    if author is not None and not m.is_agent(author):
        return module.description
    if author in (None, MODEL) and not trusted:
        return ""
    return "" if reads_like_instruction(module.description) else module.description


def _commands_only(tools: ProjectTools) -> ProjectTools:
    commands = {slot: command for slot, command in tools.commands.items() if looks_like_command(command)}
    return replace(tools, commands=commands, path=tools.path if looks_like_path(tools.path) else "")


def _is_agents(module: Module, field: str) -> bool:
    author = module.said.get(field)
    return author is not None and author != MODEL and m.is_agent(author)
