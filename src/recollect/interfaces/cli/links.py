"""Commands for relations between memories: link, links, tag, conflicts, resolve."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import click
from click.shell_completion import CompletionItem

import recollect.model as m
from recollect.interfaces.cli import output
from recollect.interfaces.cli.command import CliContext, CommandResult, rendered, shared_options
from recollect.interfaces.cli.memories import links_of
from recollect.interfaces.cli.options import MEMORY, RELATION, author_option, usage_error
from recollect.kinds import kind_of


def _print_link(link: m.Link) -> None:
    if link.verdict == m.PROPOSED:
        click.echo(f"Both stay, because {link.target} or {link.source} is the user's.")
        click.echo("The user is asked: `recollect review --kind contradiction`.")
        return
    if link.relation is m.Relation.SUPERSEDES:
        click.echo(f"{link.source} took the place of {link.target}")
        return
    click.echo(f"Linked {link.source} {output.glyph('→', '->')} {link.target} ({link.relation})")


@click.command()
@click.argument("source", metavar="A", type=MEMORY)
@click.argument("target", metavar="B", type=MEMORY)
@click.option(
    "--relation",
    type=RELATION,
    default="relates_to",
    show_default=True,
    help="The relation: relates_to, supersedes, contradicts, derived_from, depends_on or caused_by.",
)
@click.option(
    "--weight", type=float, default=1.0, show_default=True, help="The strength, greater than 0 and at most 1."
)
@author_option
@rendered(_print_link, key="link")
def link(cli: CliContext, source: str, target: str, relation: str, weight: float, author: str) -> m.Link:
    """Link memory A to memory B.

    With --relation supersedes, A replaces B.
    """
    cli.actor = author
    return cli.engine.memory.link(source, target, relation, weight)


class _LinksGroup(click.Group):
    """`links ID` beside `links export`: a word that is no subcommand is an id. Ids contain no o."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] in self.commands:
            return super().resolve_command(ctx, args)
        return "ID", _links_of_memory, args

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        ids = MEMORY.shell_complete(ctx, self.params[0], incomplete)
        return [*super().shell_complete(ctx, incomplete), *ids]


@click.group(cls=_LinksGroup, invoke_without_command=True, subcommand_metavar="ID | export [FILE]")
@shared_options
def links() -> None:
    """List the links of a memory, or export the memory graph.

    \b
    recollect links nvh933
    recollect links export graph.dot
    """
    if click.get_current_context().invoked_subcommand is None:
        raise usage_error("Give the id of a memory, or `export`.")


def _links_json(links: Sequence[tuple[m.Link, m.Memory]]) -> object:
    return {"links": [link for link, _ in links]}


@click.command(name="ID")
@click.argument("name", metavar="", type=MEMORY)  # the usage line has ID as the command's name
@rendered(output.print_links, json=_links_json, empty="No links found. Run `recollect link A B` to add one.")
def _links_of_memory(cli: CliContext, name: str) -> Sequence[tuple[m.Link, m.Memory]]:
    """List the links of a memory in both directions."""
    return links_of(cli.engine, cli.engine.memory.find(name))


@links.command(name="export")
@click.argument("file", default="-", type=click.Path(allow_dash=True))
@click.option(
    "--format",
    "form",
    type=click.Choice(["dot", "json"]),
    help="The format: dot for Graphviz, or json [dot; json with --json].",
)
@rendered()
def export_links(cli: CliContext, file: str, form: str | None) -> CommandResult | None:
    """Write the memory graph to a file or standard output.

    \b
    recollect links export | dot -Tsvg > graph.svg
    """
    if file == "-" and cli.json and form == "dot":
        raise usage_error("--json and --format dot cannot be used together.")
    memories, links = cli.engine.memory.graph()
    if (form or ("json" if file == "-" and cli.json else "dot")) == "dot":
        text = _as_dot(memories, links)
    else:
        value = {"memories": [output.memory_json(memory) for memory in memories], "links": links}
        text = m.visible_json(m.dumps(value)) + "\n"
    if file == "-":
        output.standard_output().write(text)
        return None
    with output.replacing(Path(file)) as out:
        out.write(text)
    return CommandResult(
        {"memories": len(memories), "links": len(links), "file": str(Path(file).absolute())},
        lambda: click.echo(f"Exported {output.count(len(links), 'link')} to {output.printable(file)}"),
    )


def _print_tags(memory: m.Memory) -> None:
    click.echo(output.one_line(f"Tags of {memory.id}: {', '.join(memory.tags) or 'none'}"))


@click.command()
@click.argument("name", metavar="ID|KEYWORD", type=MEMORY)
@click.argument("names", metavar="[NAME]...", nargs=-1)
@click.option("-r", "--remove", "removed", metavar="NAME", multiple=True, help="Remove this tag; repeatable.")
@rendered(_print_tags, key="memory")
def tag(cli: CliContext, name: str, names: tuple[str, ...], removed: tuple[str, ...]) -> m.Memory:
    """Add tags to a memory, or remove them.

    A KEYWORD works if only one memory contains it.
    """
    if not names and not removed:
        raise usage_error("Give a tag to add, or --remove NAME.")
    if both := set(names) & set(removed):
        raise usage_error(f"The tag {both.pop()!r} cannot be added and removed at once.")
    return cli.engine.memory.tag(cli.engine.memory.find(name).id, names, removed)


_Conflicts = Sequence[tuple[m.Link, m.Memory, m.Memory]]


def _print_conflicts(conflicts: _Conflicts, names: Mapping[str, str]) -> None:
    for link, first, second in conflicts:
        sides = zip("AB", (first, second), output.memory_table([first, second]), strict=True)
        for letter, memory, line in sides:
            click.echo(f"{letter}  {line}")
            if memory.user_id in names:
                click.echo(f"   by {output.one_line(names[memory.user_id])}")
        command = f"recollect resolve {' '.join(output.short_ids([first.id, second.id]))} --keep A|B|both"
        click.echo(f"   {output.one_line(link.reason)}; `{command}`\n")


@click.command()
@rendered()
def conflicts(cli: CliContext) -> CommandResult:
    """List unresolved contradictions between memories."""
    found = cli.engine.conflicts()
    names = cli.engine.memory.people() if found else {}

    def text() -> None:
        if not found:
            click.echo("No open contradictions.", err=True)
        _print_conflicts(found, names)

    pairs = [{"link": link, "a": first, "b": second} for link, first, second in found]
    return CommandResult({"conflicts": pairs} | ({"people": names} if names else {}), text)


def _print_resolved(pair: dict[str, m.Memory]) -> None:
    for name, memory in pair.items():
        text = output.cut(output.one_line(memory.content), 60)
        click.echo(f"{name.upper()}  {memory.id} is {memory.state}: {text}")


@click.command()
@click.argument("first", metavar="A", type=MEMORY)
@click.argument("second", metavar="B", type=MEMORY)
@click.option(
    "--keep", metavar="A|B|both", required=True, help="Which memory is true: A, B, the id of one, or both."
)
@rendered(_print_resolved)
def resolve(cli: CliContext, first: str, second: str, keep: str) -> dict[str, m.Memory]:
    """Resolve a contradiction between memories A and B.

    The memory that you do not keep becomes superseded.
    """
    cli.engine.resolve(first, second, keep.upper() if keep in ("a", "b") else keep)
    return {"a": cli.engine.get(first), "b": cli.engine.get(second)}


_COLORS = {  # by family of kinds
    "user": "#d9ead3",
    "knowledge": "#dbe8f8",
    "how-to": "#e6dff3",
    "warning": "#fbe0dc",
    "session": "#eeeeee",
    "review": "#fdf0cc",
}
_LABEL_WIDTH = 40  # columns; the tooltip has the whole text


def _as_dot(memories: Sequence[m.Memory], links: Sequence[m.Link]) -> str:
    """Return the links and the linked memories in Graphviz' language. Memories without links are left out."""
    linked = {end for link in links for end in (link.source, link.target)}
    drawn = [memory for memory in memories if memory.id in linked]
    ids = {memory.id for memory in drawn}
    lines = [
        "digraph memories {",
        f"  // {len(memories) - len(drawn)} memories without links are left out",
        '  node [shape=box, style="rounded,filled", fontname="sans-serif"]',
        '  edge [fontname="sans-serif", fontsize=10]',
        *_nodes(drawn),
        *(_edge(link) for link in links if link.source in ids and link.target in ids),
        "}",
    ]
    return "\n".join(lines) + "\n"


def _nodes(memories: Sequence[m.Memory]) -> Iterator[str]:
    for memory, name in zip(memories, output.short_ids([memory.id for memory in memories]), strict=True):
        label = f"{_escaped(name)}\\n{_escaped(output.cut(output.one_line(memory.content), _LABEL_WIDTH))}"
        color = _COLORS.get(kind_of(memory.kind).family, "white")
        tip = _escaped(f"{memory.kind}: {output.one_line(memory.content)}")
        yield f'  "{_escaped(memory.id)}" [label="{label}", fillcolor="{color}", tooltip="{tip}"]'


def _edge(link: m.Link) -> str:
    is_resolved = link.relation is m.Relation.CONTRADICTS and link.resolved_at is not None
    attributes = (
        f'label="{_escaped(link.relation)}{" (resolved)" if is_resolved else ""}"',
        f"penwidth={0.5 + 1.5 * link.weight:.2f}",
        *_EDGE_STYLES.get(link.relation, ()),
    )
    return f'  "{_escaped(link.source)}" -> "{_escaped(link.target)}" [{", ".join(attributes)}]'


_EDGE_STYLES = {
    m.Relation.CONTRADICTS: ('color="#c0392b"', "dir=both"),
    m.Relation.RELATES_TO: ('color="#888888"', "dir=none"),
    m.Relation.SUPERSEDES: ("style=dashed",),
}


def _escaped(text: str) -> str:
    """Escape a text for a quoted string: quotes, \\N and HTML entities have a meaning in Graphviz."""
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("&", "&amp;")
