"""What is between memories: links, tags, conflicts."""

from pathlib import Path

import click
from click.shell_completion import CompletionItem

import recollect.model as m
from recollect.interfaces.cli import output
from recollect.interfaces.cli.command import (
    MEMORY,
    RELATION,
    CliContext,
    links_of,
    open_engine,
    shared_options,
)
from recollect.interfaces.cli.dot import as_dot
from recollect.interfaces.cli.files import replacing, standard_output


@click.command()
@click.argument("source", metavar="A", type=MEMORY)
@click.argument("target", metavar="B", type=MEMORY)
@click.option(
    "--relation",
    type=RELATION,
    default="relates_to",
    show_default=True,
    help="relates_to, supersedes, contradicts, derived_from, depends_on or caused_by.",
)
@click.option("--weight", type=float, default=1.0, show_default=True, help="How strong, above 0 and up to 1.")
@shared_options
@click.pass_obj
def link(cli: CliContext, source: str, target: str, relation: str, weight: float) -> None:
    """Link memory A to memory B."""
    with open_engine(cli) as engine:
        made = engine.link(source, target, relation, weight)
    if cli.json:
        output.print_json({"link": made})
        return
    click.echo(f"Linked {made.source} {output.glyph('→', '->')} {made.target} ({made.relation})")


class _Links(click.Group):
    """`links ID` beside `links export`: what names no subcommand is an id. No id that we make has an o in it."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] in self.commands:
            return super().resolve_command(ctx, args)
        return "ID", _links_of, args

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        ids = MEMORY.shell_complete(ctx, self.params[0], incomplete)
        return [*super().shell_complete(ctx, incomplete), *ids]


@click.group(cls=_Links, no_args_is_help=False, subcommand_metavar="ID | export [FILE]")
@shared_options
def links() -> None:
    """List what a memory is linked to, or export the graph.

    \b
    recollect links nvh933
    recollect links export graph.dot
    """


@click.command(name="ID")
@click.argument("memory_id", metavar="", type=MEMORY)  # the usage has ID for a name already
@shared_options
@click.pass_obj
def _links_of(cli: CliContext, memory_id: str) -> None:
    """List what a memory is linked to, either way."""
    with open_engine(cli) as engine:
        found = links_of(engine, engine.get(memory_id))
    if cli.json:
        output.print_json({"links": [link for link, _ in found]})
        return
    if not found:
        click.echo("It has no links. `recollect link A B` makes one.", err=True)
    output.print_links(found)


@links.command(name="export")
@click.argument("file", default="-", type=click.Path(allow_dash=True))
@click.option(
    "--format",
    "form",
    type=click.Choice(["dot", "json"]),
    help="dot for Graphviz, json for programs [dot; json with --json].",
)
@shared_options
@click.pass_obj
def export_links(cli: CliContext, file: str, form: str | None) -> None:
    """Write the memory graph to a file or standard output.

    \b
    recollect links export | dot -Tsvg > graph.svg
    """
    if file == "-" and cli.json and form == "dot":
        raise click.UsageError("--json and --format dot exclude each other.", click.get_current_context())
    with open_engine(cli) as engine:
        memories, found = engine.memory_graph()
    if (form or ("json" if file == "-" and cli.json else "dot")) == "dot":
        text = as_dot(memories, found)
    else:
        text = m.dumps({"memories": [output.memory_json(each) for each in memories], "links": found}) + "\n"
    if file == "-":
        standard_output().write(text)
        return
    with replacing(Path(file)) as out:
        out.write(text)
    if cli.json:
        output.print_json(
            {"memories": len(memories), "links": len(found), "file": str(Path(file).absolute())}
        )
        return
    click.echo(f"Exported {output.count(len(found), 'link')} to {output.printable(file)}")


@click.command()
@click.argument("memory_id", metavar="ID", type=MEMORY)
@click.argument("names", metavar="[NAME]...", nargs=-1)
@click.option(
    "-r", "--remove", "removed", metavar="NAME", multiple=True, help="Take this tag off; repeat for more."
)
@shared_options
@click.pass_obj
def tag(cli: CliContext, memory_id: str, names: tuple[str, ...], removed: tuple[str, ...]) -> None:
    """Add tags to a memory, or take them off."""
    ctx = click.get_current_context()
    if not names and not removed:
        raise click.UsageError("Give a tag to add, or --remove NAME.", ctx)
    if both := set(names) & set(removed):
        raise click.UsageError(f"{both.pop()!r} cannot be both added and --remove'd.", ctx)
    with open_engine(cli) as engine:
        memory = engine.tag(memory_id, add=names, remove=removed)
    if cli.json:
        output.print_json({"memory": output.memory_json(memory)})
        return
    click.echo(output.one_line(f"Tags of {memory.id}: {', '.join(memory.tags) or 'none'}"))


@click.command()
@shared_options
@click.pass_obj
def conflicts(cli: CliContext) -> None:
    """List contradictions that wait for you to settle them."""
    with open_engine(cli) as engine:
        found = engine.conflicts()
    if cli.json:
        pairs = [
            {"link": link, "a": output.memory_json(first), "b": output.memory_json(second)}
            for link, first, second in found
        ]
        output.print_json({"conflicts": pairs})
        return
    if not found:
        click.echo("No contradictions are open.", err=True)
    for link, first, second in found:
        for letter, line in zip("AB", output.memory_table([first, second]), strict=True):
            click.echo(f"{letter}  {line}")
        click.echo(
            f"   {output.one_line(link.reason)}; `recollect resolve {first.id} {second.id} --keep A|B|both`\n"
        )


@click.command()
@click.argument("first", metavar="A", type=MEMORY)
@click.argument("second", metavar="B", type=MEMORY)
@click.option("--keep", metavar="A|B|both", required=True, help="Which is true: A, B (or its id), or both.")
@shared_options
@click.pass_obj
def resolve(cli: CliContext, first: str, second: str, keep: str) -> None:
    """Settle a contradiction between memories A and B. The loser stays on record as superseded."""
    keep = keep.upper() if keep in ("a", "b") else keep
    with open_engine(cli) as engine:
        engine.resolve(first, second, keep)
        a, b = engine.get(first), engine.get(second)
    if cli.json:
        output.print_json({"a": output.memory_json(a), "b": output.memory_json(b)})
        return
    for name, memory in (("A", a), ("B", b)):
        click.echo(
            f"{name}  {memory.id} is {memory.state}: {output.cut(output.one_line(memory.content), 60)}"
        )
