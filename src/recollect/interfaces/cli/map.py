"""The `map` command: the project's modules, and how it is built and tested."""

from collections.abc import Sequence
from typing import Any

import click

import recollect.model as m
from recollect.code.modules.merge import Correction
from recollect.code.modules.module_map import SLOTS, Module, ModuleMap, ProjectTools
from recollect.code.modules.task import ModuleMatch
from recollect.code.paths import FileRole
from recollect.interfaces.cli import output
from recollect.interfaces.cli.command import CliContext, CommandResult, rendered
from recollect.interfaces.cli.options import refuse_both, usage_error

_MODULE_FILES = 12  # shown of a module
_TASK_FILES = 6  # shown of each module that a task touches


@click.group(name="map", invoke_without_command=True, no_args_is_help=False)
@click.option("--task", metavar="TEXT", help="Only the modules that are relevant to this task, best first.")
@click.option("--rescan", is_flag=True, help="Scan all files again. Corrections are kept.")
@rendered()
def map(cli: CliContext, task: str | None, rescan: bool) -> CommandResult | None:
    """Show the project's modules, and its build, test and lint commands.

    \b
    recollect map
    recollect map --task "users are logged out after five minutes"
    """
    if subcommand := click.get_current_context().invoked_subcommand:
        if task or rescan:
            raise usage_error(f"--task and --rescan cannot be used with `{subcommand}`.")
        return None
    refuse_both(task=task, rescan=rescan)
    modules = cli.engine.maps.rescan() if rescan else cli.engine.maps.current()
    if task is None:
        return CommandResult(_map_json(modules), lambda: _print_map(modules))
    touched = cli.engine.modules_for(task)
    value = [
        {"module": _module_json(modules, hit.module), "score": round(hit.score, 3), "why": hit.why}
        for hit in touched
    ]
    return CommandResult({"modules": value}, lambda: _print_touched(modules, touched))


@map.command()
@click.argument("module")
@rendered()
def show(cli: CliContext, module: str) -> CommandResult:
    """Show everything that is known about MODULE."""
    modules = cli.engine.maps.current()
    return _module_result(modules, modules.find(module))


@map.command()
@click.argument("module")
@click.option("--name", help="The new name.")
@click.option("--description", help="Its purpose, in one line.")
@click.option(
    "--dependency", "dependencies", metavar="PACKAGE", multiple=True, help="A package it needs; repeatable."
)
@click.option("--add-file", "added", metavar="FILE", multiple=True, help="Add this file; repeatable.")
@click.option("--remove-file", "removed", metavar="FILE", multiple=True, help="Remove this file; repeatable.")
@click.option("--merge-with", metavar="OTHER", help="Merge the module OTHER into it.")
@click.option("--split-off", metavar="NEW", help="Move the files of --add-file to a new module NEW.")
@rendered()
def update(
    cli: CliContext,
    module: str,
    name: str | None,
    description: str | None,
    dependencies: tuple[str, ...],
    added: tuple[str, ...],
    removed: tuple[str, ...],
    merge_with: str | None,
    split_off: str | None,
) -> CommandResult:
    """Correct MODULE. Scans keep your corrections."""
    correction = Correction(name, description, dependencies or None, added, removed, merge_with, split_off)
    changed = cli.engine.maps.correct(module, correction)
    return _module_result(cli.engine.maps.current(), changed)


def _module_result(modules: ModuleMap, module: Module) -> CommandResult:
    def text() -> None:
        name = click.style(output.one_line(module.name), fg="cyan", bold=True)
        click.echo(f"{name}  {module.kind}, {module.confidence}")
        _print_fields(modules, module, _MODULE_FILES)

    return CommandResult({"module": _module_json(modules, module)}, text)


def _map_json(modules: ModuleMap) -> dict[str, Any]:
    return {
        "modules": [_module_json(modules, module) for module in modules.modules],
        "build": modules.tools,
        "updated_at": modules.updated_at,
    }


def _module_json(modules: ModuleMap, module: Module) -> dict[str, Any]:
    value = m.as_json(module)
    related = [modules.name_of(key) for key in value.pop("related")]
    return {**value, "related_modules": related}


def _print_map(modules: ModuleMap) -> None:
    if not modules.modules:
        click.echo("No code found in this project.", err=True)
    code = [module for module in modules.modules if module.kind is FileRole.CODE]
    other = [module for module in modules.modules if module.kind is not FileRole.CODE]
    output.print_table(
        [
            (module.name, _size(module), module.confidence, output.one_line(module.description))
            for module in code
        ],
        ("cyan", "bright_black", "green"),
    )
    if other:
        click.echo()
    output.print_table(
        [(module.name, _size(module), output.one_line(module.description)) for module in other],
        ("cyan", "bright_black"),
    )
    for tools in modules.tools:
        click.echo()
        click.echo(click.style(output.one_line(tools.path or "build"), bold=True) + f"  {tools.tool}")
        lines = {slot: _with_source(tools, slot) for slot in SLOTS if slot in tools.commands}
        if tools.test:
            lines["framework"] = f"{tools.test.tool} ({tools.test.config_file})".removesuffix(" ()")
        if tools.linters:
            lines["linters"] = ", ".join(tools.linters)
        rows = [(f"  {label}", output.one_line(line)) for label, line in lines.items()]
        output.print_table(rows, ("bright_black",))


def _with_source(tools: ProjectTools, slot: str) -> str:
    source = tools.sources.get(slot)
    return f"{tools.commands[slot]}  ({source})" if source else tools.commands[slot]


def _size(module: Module) -> str:
    files = module.core_files
    if module.kind is FileRole.CODE:
        return output.count(len(files), "file")
    folders = sum(path.endswith("/") for path in files)
    counts = [(folders, "folder"), (len(files) - folders, "file")]
    return files[0] if len(files) == 1 else ", ".join(output.count(*each) for each in counts if each[0])


def _print_touched(modules: ModuleMap, touched: Sequence[ModuleMatch]) -> None:
    if not touched:
        click.echo("No relevant modules found. Run `recollect map` to list all modules.", err=True)
    for hit in touched:
        name = click.style(output.one_line(hit.module.name), fg="cyan", bold=True)
        click.echo(f"{name}  {hit.score:.1f}  {output.one_line(hit.why)}")
        _print_fields(modules, hit.module, _TASK_FILES)


def _print_fields(modules: ModuleMap, module: Module, files: int) -> None:
    corrected = ", ".join(f"{field} by {author}" for field, author in sorted(module.said.items()))
    fields = {
        "description": module.description,
        "files": _first(module.core_files, files),
        "entry points": _first(module.entry_points, files),
        "tests": _first(module.test_files, files),
        "needs": ", ".join(module.dependencies),
        "related": ", ".join(modules.name_of(key) for key in module.related),
        "corrected": corrected,
    }
    for label, value in fields.items():
        if value:
            click.echo(click.style(f"  {label:<13}", fg="bright_black") + output.one_line(value))


def _first(items: Sequence[str], limit: int) -> str:
    more = f", +{len(items) - limit}" if len(items) > limit else ""
    return ", ".join(items[:limit]) + more
