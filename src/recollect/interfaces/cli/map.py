"""The module map: which parts the project has, where they are, and how it is built and tested."""

from collections.abc import Sequence
from typing import Any

import click

import recollect.model as m
from recollect.code.modules.merge import Correction
from recollect.code.modules.module_map import SLOTS, Module, ModuleMap
from recollect.code.modules.task import ModuleMatch
from recollect.code.paths import FileRole
from recollect.interfaces.cli import output
from recollect.interfaces.cli.command import CliContext, open_engine, refuse_both, shared_options

_SOME = 12  # files shown of a module


@click.group(name="map", invoke_without_command=True, no_args_is_help=False)
@click.option("--task", metavar="TEXT", help="Only the modules that this task touches, best first.")
@click.option("--rescan", is_flag=True, help="Look at all files again; what was learnt and corrected stays.")
@shared_options
@click.pass_context
def map(ctx: click.Context, task: str | None, rescan: bool) -> None:
    """Show the project's modules and how it is built, tested and linted.

    \b
    recollect map
    recollect map --task "users are logged out after five minutes"
    """
    if ctx.invoked_subcommand:
        if task or rescan:
            raise click.UsageError(f"--task and --rescan do not go with `{ctx.invoked_subcommand}`.", ctx)
        return
    refuse_both(task=task, rescan=rescan)
    cli = ctx.ensure_object(CliContext)
    with open_engine(cli) as engine:
        maps = engine.maps
        found = maps.rescan() if rescan else maps.current()
        if task is not None:
            _say_touched(found, engine.modules_for(task), as_json=cli.json)
            return
    if cli.json:
        output.print_json(map_json(found))
        return
    _say_map(found)


@map.command()
@click.argument("module")
@shared_options
@click.pass_obj
def show(cli: CliContext, module: str) -> None:
    """Show all that is known of MODULE."""
    with open_engine(cli) as engine:
        found = engine.maps.current()
        wanted = found.find(module)
    _say_module(found, wanted, as_json=cli.json)


@map.command()
@click.argument("module")
@click.option("--name", help="Call it this.")
@click.option("--description", help="What it is for, in one line.")
@click.option(
    "--dependency", "dependencies", metavar="PACKAGE", multiple=True, help="What it needs; repeat for all."
)
@click.option("--add-file", "added", metavar="FILE", multiple=True, help="It belongs here; repeat for more.")
@click.option("--remove-file", "removed", metavar="FILE", multiple=True, help="It does not; repeat for more.")
@click.option("--merge-with", metavar="OTHER", help="OTHER goes up in it.")
@click.option("--split-off", metavar="NEW", help="The files of --add-file become a module NEW.")
@shared_options
@click.pass_obj
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
) -> None:
    """Correct what the map says of MODULE. No scan takes that back."""
    said = Correction(name, description, dependencies or None, added, removed, merge_with, split_off)
    with open_engine(cli) as engine:
        maps = engine.maps
        changed = maps.correct(module, said)
        found = maps.current()
    _say_module(found, changed, as_json=cli.json)


def map_json(found: ModuleMap) -> dict[str, Any]:
    return {
        "modules": [module_json(found, each) for each in found.modules],
        "build": m.as_json(found.tools),
        "updated_at": found.updated_at,
    }


def module_json(found: ModuleMap, module: Module) -> dict[str, Any]:
    told = m.as_json(module)
    related = [found.name_of(key) for key in told.pop("related")]
    return {**told, "related_modules": related}


def _say_map(found: ModuleMap) -> None:
    if not found.modules:
        click.echo("There is no code here to map.", err=True)
    code = [each for each in found.modules if each.kind is FileRole.CODE]
    beside = [each for each in found.modules if each.kind is not FileRole.CODE]
    rows = [(each.name, _size(each), each.confidence, output.one_line(each.description)) for each in code]
    _say_table(rows, "cyan", "bright_black", "green")
    if beside:
        click.echo()
    _say_table(
        [(each.name, _size(each), output.one_line(each.description)) for each in beside],
        "cyan",
        "bright_black",
    )
    for tools in found.tools:
        click.echo()
        click.echo(click.style(tools.path or "build", bold=True) + f"  {tools.tool}")
        told = {slot: tools.commands[slot] for slot in SLOTS if slot in tools.commands}
        if tools.test:
            told["framework"] = f"{tools.test.tool} ({tools.test.config_file})".removesuffix(" ()")
        if tools.linters:
            told["linters"] = ", ".join(tools.linters)
        _say_table([(f"  {label}", output.one_line(line)) for label, line in told.items()], "bright_black")


def _say_table(rows: Sequence[Sequence[str]], *colours: str) -> None:
    for line in output.table(rows, colours):
        click.echo(line.rstrip())


def _size(module: Module) -> str:
    if module.kind is not FileRole.CODE:
        return (
            module.core_files[0]
            if len(module.core_files) == 1
            else output.count(len(module.core_files), "place")
        )
    return output.count(len(module.core_files), "file")


def _say_touched(found: ModuleMap, touched: list[ModuleMatch], *, as_json: bool) -> None:
    if as_json:
        output.print_json(
            {
                "modules": [
                    {
                        "module": module_json(found, each.module),
                        "score": round(each.score, 3),
                        "why": each.why,
                    }
                    for each in touched
                ]
            }
        )
        return
    if not touched:
        click.echo("No module seems to be about that. `recollect map` lists them.", err=True)
    for each in touched:
        click.echo(
            click.style(each.module.name, fg="cyan", bold=True)
            + f"  {each.score:.1f}  {output.one_line(each.why)}"
        )
        for label, value in _facts(found, each.module, some=6):
            click.echo(click.style(f"  {label:<13}", fg="bright_black") + output.one_line(value))


def _say_module(found: ModuleMap, module: Module, *, as_json: bool) -> None:
    if as_json:
        output.print_json({"module": module_json(found, module)})
        return
    click.echo(
        click.style(output.one_line(module.name), fg="cyan", bold=True)
        + f"  {module.kind}, {module.confidence}"
    )
    for label, value in _facts(found, module, some=_SOME):
        click.echo(click.style(f"  {label:<13}", fg="bright_black") + output.one_line(value))


def _facts(found: ModuleMap, module: Module, some: int) -> list[tuple[str, str]]:
    by = ", ".join(f"{field} by {who}" for field, who in sorted(module.said.items()))
    told = (
        ("what", module.description),
        ("files", _some(module.core_files, some)),
        ("entry points", _some(module.entry_points, some)),
        ("tests", _some(module.test_files, some)),
        ("needs", ", ".join(module.dependencies)),
        ("related", ", ".join(found.name_of(key) for key in module.related)),
        ("corrected", by),
    )
    return [(label, value) for label, value in told if value]


def _some(items: tuple[str, ...], most: int) -> str:
    return ", ".join(items[:most]) + (f", +{len(items) - most}" if len(items) > most else "")
