"""The review inbox: questions that wait for a person, one key each."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import click

import recollect.model as m
from recollect.errors import RecollectError, Refused, ReviewNotFound
from recollect.interfaces.cli import output
from recollect.interfaces.cli.command import CliContext, Name, open_engine, shared_options

if TYPE_CHECKING:
    from recollect.engine import Engine
    from recollect.memory.maintenance.review import Decision, OpenReview


def _kinds() -> Sequence[str]:
    from recollect.memory.maintenance.review import KINDS

    return list(KINDS)


@click.command()
@click.option(
    "-k",
    "--kind",
    type=Name("kind", _kinds),
    help="Only these: merge, contradiction, seed, stale or derived.",
)
@click.option(
    "--accept", metavar="ID", multiple=True, help="Accept this one; repeat for more, or all with --kind."
)
@click.option(
    "--reject", metavar="ID", multiple=True, help="Reject this one; repeat for more, or all with --kind."
)
@click.option("--edit", metavar="ID TEXT", nargs=2, multiple=True, help="Give its first memory this text.")
@shared_options
@click.pass_obj
def review(
    cli: CliContext,
    kind: str | None,
    accept: tuple[str, ...],
    reject: tuple[str, ...],
    edit: tuple[tuple[str, str], ...],
) -> None:
    """Decide what was left to you: merges, contradictions, finds, stale facts.

    In a terminal each question takes one key: a accepts, r rejects, e edits, s skips, q ends. Every answer is a change
    that `recollect undo` takes back, and then the question is open again.

    \b
    recollect review --kind seed --accept all
    recollect review --json
    """
    with open_engine(cli) as engine:
        asked = engine.questions(kind)
        answers = [
            *((name, "accept", "") for name in _named(accept, kind, asked)),
            *((name, "reject", "") for name in _named(reject, kind, asked)),
            *((_id_of(name, asked), "edit", text) for name, text in edit),
        ]
        if answers:
            decided = list(_decide(engine, answers))
            _say_decided(cli, decided, len(engine.questions(kind)))
        elif cli.json:
            output.print_json({"questions": list(map(_as_json, asked)), "total": len(asked)})
        elif asked and sys.stdin.isatty() and sys.stdout.isatty():
            _ask_all(engine, asked)
        else:
            _list(asked)


def _named(names: Sequence[str], kind: str | None, asked: "Sequence[OpenReview]") -> Sequence[str]:
    """`all` is all of one kind, and of one only: nobody should agree to what they have not seen."""
    if "all" not in names:
        return [_id_of(name, asked) for name in names]
    if kind is None:
        raise click.UsageError("`all` needs --kind.", click.get_current_context())
    return [each.review.id for each in asked]


def _id_of(name: str, asked: "Sequence[OpenReview]") -> str:
    """So that nothing is decided if one of several names is no question. Raises `ReviewNotFound`."""
    wanted = name.strip().lstrip("#").lower()
    found = [each.review.id for each in asked if wanted and each.review.id.startswith(wanted)]
    found = found or [each.review.id for each in asked if wanted and each.review.id.endswith(wanted)]
    if len(found) != 1:
        raise ReviewNotFound(name)
    return found[0]


def _decide(engine: "Engine", answers: Sequence[tuple[str, str, str]]) -> "Iterator[Decision]":
    for name, answer, text in answers:
        with suppress(ReviewNotFound):  # an answer before has settled it too
            yield engine.decide(name, answer, text)


def _as_json(asked: "OpenReview") -> dict[str, Any]:
    return {
        **m.as_json(asked.review),
        "memories": list(map(output.memory_json, asked.memories)),
        "accept": asked.kind.accepting,
        "reject": asked.kind.rejecting,
    }


def _say_decided(cli: CliContext, decided: "Sequence[Decision]", left: int) -> None:
    if cli.json:
        output.print_json({"decided": decided, "left": left})
        return
    for each in decided:
        click.echo(f"{each.decision.capitalize()} {each.review[-output.SHORT_ID :]}; {_way_back(each)}")
        output.print_notes(each.notes)
    click.echo(f"{output.count(left, 'question')} left.")


def _way_back(decision: "Decision") -> str:
    return f"`recollect undo {decision.change}` takes it back."


def _list(asked: "Sequence[OpenReview]") -> None:
    from recollect.memory.maintenance.review import headline

    click.echo(headline(asked))
    names = output.short_ids([each.review.id for each in asked])
    for name, each in zip(names, asked, strict=True):
        click.echo(
            f"\n{click.style(name, fg='yellow')}  {each.review.kind}: {output.one_line(each.review.reason)}"
        )
        for line in output.memory_table(each.memories, lead=each.kind.about):
            click.echo(f"  {line}")
        click.echo(f"  accept: {each.kind.accepting}; reject: {each.kind.rejecting}")


def _ask_all(engine: "Engine", asked: "Sequence[OpenReview]") -> None:
    from recollect.memory.maintenance.review import headline

    click.echo(headline(asked))
    skipped = 0
    for number, each in enumerate(asked, start=1):
        click.echo(
            f"\n{click.style(f'{number}/{len(asked)}', bold=True)}  {output.one_line(each.review.reason)}"
        )
        for role, memory in zip(each.kind.about, each.memories, strict=True):
            _show(role, memory)
        answer = _answer(engine, each)
        if answer == "quit":
            skipped += len(asked) - number + 1
            break
        skipped += answer == "skip"
    click.echo(f"\n{output.count(len(asked) - skipped, 'question')} decided, {skipped:,} left.")


def _show(role: str, memory: m.Memory) -> None:
    facts = [
        memory.kind,
        output.age(memory.created_at, m.utc_now()),
        memory.provenance[0].source.replace("_", " "),
        f"said {output.count(memory.strength, 'time')}",
        *memory.file_paths,
    ]
    label = click.style(f"{role} {memory.id[-output.SHORT_ID :]}", fg="cyan")
    click.echo(f"  {label}  {click.style(output.one_line(', '.join(facts)), fg='bright_black')}")
    for line in output.printable(memory.content).split("\n"):
        click.echo(f"    {line}")


_KEYS = {"a": "accept", "r": "reject", "e": "edit", "s": "skip", "q": "quit"}


def _answer(engine: "Engine", asked: "OpenReview") -> str:
    """Until there is one that can be carried out."""
    means = {"accept": asked.kind.accepting, "reject": asked.kind.rejecting}
    offer = "  ".join(f"[{key}] {means.get(name, name)}" for key, name in _KEYS.items())
    while True:
        click.echo(f"  {offer}")
        answer = _KEYS.get(click.getchar().lower(), "")
        if answer in ("skip", "quit"):
            return answer
        if not answer:
            continue
        try:
            text = _new_text(engine, asked) if answer == "edit" else ""
            decision = engine.decide(asked.review.id, answer, text)
        except RecollectError as error:
            output.print_error(error, as_json=False)
            continue
        click.echo(f"  {decision.decision.capitalize()}; {_way_back(decision)}")
        output.print_notes(decision.notes)
        return answer


def _new_text(engine: "Engine", asked: "OpenReview") -> str:
    from recollect.interfaces.cli.memories import from_editor

    memory = asked.memories[0]
    text = from_editor(memory, encrypted=engine.store.info().encrypted)
    if text == memory.content:
        raise Refused("Nothing was changed: the text is the same.", "Accept, reject or skip it.")
    return text
