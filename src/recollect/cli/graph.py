"""What is between memories: links, tags, conflicts."""

import click

from recollect.cli import show as look
from recollect.cli.door import MEMORY, RELATION, Door, open_engine, shared


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
@shared
@click.pass_obj
def link(door: Door, source: str, target: str, relation: str, weight: float) -> None:
    """Link memory A to memory B."""
    with open_engine(door) as engine:
        made = engine.link(source, target, relation, weight)
    if door.json:
        look.say_json({"link": made})
        return
    click.echo(f"Linked {made.source} {look.glyph('→', '->')} {made.target} ({made.relation})")


@click.command()
@click.argument("memory_id", metavar="ID", type=MEMORY)
@shared
@click.pass_obj
def links(door: Door, memory_id: str) -> None:
    """List what a memory is linked to, either way."""
    with open_engine(door) as engine:
        memory = engine.get(memory_id)
        found = engine.links(memory.id)
        if door.json:
            look.say_json({"links": found})
            return
        if not found:
            click.echo("It has no links. `recollect link A B` makes one.", err=True)
        look.say_links(found, memory, lambda other: engine.get(other).content)


@click.command()
@click.argument("memory_id", metavar="ID", type=MEMORY)
@click.argument("names", metavar="[NAME]...", nargs=-1)
@click.option(
    "-r", "--remove", "removed", metavar="NAME", multiple=True, help="Take this tag off; repeat for more."
)
@shared
@click.pass_obj
def tag(door: Door, memory_id: str, names: tuple[str, ...], removed: tuple[str, ...]) -> None:
    """Add tags to a memory, or take them off."""
    ctx = click.get_current_context()
    if not names and not removed:
        raise click.UsageError("Give a tag to add, or --remove NAME.", ctx)
    if both := set(names) & set(removed):
        raise click.UsageError(f"{both.pop()!r} cannot be both added and --remove'd.", ctx)
    with open_engine(door) as engine:
        memory = engine.tag(memory_id, add=names, remove=removed)
    if door.json:
        look.say_json({"memory": look.memory_json(memory)})
        return
    click.echo(f"Tags of {memory.id}: {', '.join(memory.tags) or 'none'}")


@click.command()
@shared
@click.pass_obj
def conflicts(door: Door) -> None:
    """List contradictions that wait for you to settle them."""
    with open_engine(door) as engine:
        found = engine.conflicts()
    if door.json:
        pairs = [
            {"link": link, "a": look.memory_json(first), "b": look.memory_json(second)}
            for link, first, second in found
        ]
        look.say_json({"conflicts": pairs})
        return
    if not found:
        click.echo("No contradictions are open.", err=True)
    for link, first, second in found:
        for letter, line in zip("AB", look.memory_table([first, second]), strict=True):
            click.echo(f"{letter}  {line}")
        click.echo(
            f"   {look.one_line(link.reason)}; `recollect resolve {first.id} {second.id} --keep A|B|both`\n"
        )


@click.command()
@click.argument("first", metavar="A", type=MEMORY)
@click.argument("second", metavar="B", type=MEMORY)
@click.option("--keep", metavar="A|B|both", required=True, help="Which is true: A, B (or its id), or both.")
@shared
@click.pass_obj
def resolve(door: Door, first: str, second: str, keep: str) -> None:
    """Settle a contradiction between memories A and B. The loser stays on record as superseded."""
    keep = keep.upper() if keep in ("a", "b") else keep
    with open_engine(door) as engine:
        engine.resolve(first, second, keep)
        a, b = engine.get(first), engine.get(second)
    if door.json:
        look.say_json({"a": look.memory_json(a), "b": look.memory_json(b)})
        return
    for name, memory in (("A", a), ("B", b)):
        click.echo(f"{name}  {memory.id} is {memory.state}: {look.cut(look.one_line(memory.content), 60)}")
