"""The `review` command: questions that a person decides, with one key each."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import click

import recollect.model as m
from recollect.errors import RecollectError, Refused, ReviewNotFound
from recollect.interfaces.cli import output
from recollect.interfaces.cli.command import CliContext, CommandResult, rendered
from recollect.interfaces.cli.options import NameType, usage_error

if TYPE_CHECKING:
    from recollect.engine import Engine
    from recollect.memory.maintenance.review import OpenReview, ReviewDecision


@click.command()
@click.option(
    "-k",
    "--kind",
    type=NameType("kind", "recollect.memory.maintenance.review:KINDS"),
    help="Only questions of this kind: forget, merge, contradiction, seed, stale or derived.",
)
@click.option(
    "--accept", metavar="ID", multiple=True, help="Accept this question; repeatable; `all` with --kind."
)
@click.option(
    "--reject", metavar="ID", multiple=True, help="Reject this question; repeatable; `all` with --kind."
)
@click.option(
    "--edit", metavar="ID TEXT", nargs=2, multiple=True, help="Replace the text of its first memory."
)
@rendered()
def review(
    cli: CliContext,
    kind: str | None,
    accept: tuple[str, ...],
    reject: tuple[str, ...],
    edit: tuple[tuple[str, str], ...],
) -> CommandResult | None:
    """Answer open questions: merges, contradictions, seeds, stale memories.

    In a terminal each question takes one key: a accepts, r rejects, e edits, s skips, q quits. Use `recollect undo`
    to undo an answer and reopen the question.

    \b
    recollect review --kind seed --accept all
    recollect review --json
    """
    engine = cli.engine
    questions = engine.questions(kind)
    answers = [
        *((id, "accept", "") for id in _ids_of(accept, kind, questions)),
        *((id, "reject", "") for id in _ids_of(reject, kind, questions)),
        *((_id_of(name, questions), "edit", text) for name, text in edit),
    ]
    if answers:
        decisions = list(_decide(engine, answers))
        left = len(engine.questions(kind))
        return CommandResult({"decided": decisions, "left": left}, lambda: _print_decisions(decisions, left))

    if questions and not cli.json and sys.stdin.isatty() and sys.stdout.isatty():
        _ask_all(engine, questions)
        return None
    value = {"questions": list(map(_question_json, questions)), "total": len(questions)}
    return CommandResult(value, lambda: _print_questions(questions))


def _ids_of(names: Sequence[str], kind: str | None, questions: "Sequence[OpenReview]") -> Sequence[str]:
    """Return the ids of the named questions. `all` needs a kind, so that you accept only what you have seen."""
    if "all" not in names:
        return [_id_of(name, questions) for name in names]
    if kind is None:
        raise usage_error("`all` needs --kind.")
    return [question.review.id for question in questions]


def _id_of(name: str, questions: "Sequence[OpenReview]") -> str:
    """Return the id that begins or ends with `name`. Raises `ReviewNotFound`."""
    part = name.strip().lstrip("#").lower()
    ids = [question.review.id for question in questions] if part else []
    matches = [id for id in ids if id.startswith(part)] or [id for id in ids if id.endswith(part)]
    if len(matches) != 1:
        raise ReviewNotFound(name)
    return matches[0]


def _decide(engine: "Engine", answers: Sequence[tuple[str, str, str]]) -> "Iterator[ReviewDecision]":
    for id, answer, text in answers:
        with suppress(ReviewNotFound):  # an earlier answer has settled it too
            yield engine.decide(id, answer, text)


def _question_json(question: "OpenReview") -> dict[str, Any]:
    return {
        **m.as_json(question.review),
        "memories": question.memories,
        "accept": question.kind.accepting,
        "reject": question.kind.rejecting,
    }


def _print_decisions(decisions: "Sequence[ReviewDecision]", left: int) -> None:
    for decision in decisions:
        click.echo(
            f"{decision.decision.capitalize()} {decision.review[-output.SHORT_ID :]}. {_undo_hint(decision)}"
        )
        output.print_notes(decision.notes)
    click.echo(f"{output.count(left, 'question')} left.")


def _undo_hint(decision: "ReviewDecision") -> str:
    return f"Run `recollect undo {decision.change}` to undo this."


def _print_questions(questions: "Sequence[OpenReview]") -> None:
    from recollect.memory.maintenance.review import headline

    click.echo(headline(questions))
    names = output.short_ids([question.review.id for question in questions])
    for name, question in zip(names, questions, strict=True):
        reason = output.one_line(question.review.reason)
        click.echo(f"\n{click.style(name, fg='yellow')}  {question.review.kind}: {reason}")
        for line in output.memory_table(question.memories, lead=question.kind.about):
            click.echo(f"  {line}")
        click.echo(f"  accept: {question.kind.accepting}; reject: {question.kind.rejecting}")


def _ask_all(engine: "Engine", questions: "Sequence[OpenReview]") -> None:
    from recollect.memory.maintenance.review import headline

    click.echo(headline(questions))
    skipped = 0
    for number, question in enumerate(questions, start=1):
        position = click.style(f"{number}/{len(questions)}", bold=True)
        click.echo(f"\n{position}  {output.one_line(question.review.reason)}")
        for role, memory in zip(question.kind.about, question.memories, strict=True):
            _print_memory(role, memory)
        answer = _ask(engine, question)
        if answer == "quit":
            skipped += len(questions) - number + 1
            break
        skipped += answer == "skip"
    click.echo(f"\n{output.count(len(questions) - skipped, 'question')} decided, {skipped:,} left.")


def _print_memory(role: str, memory: m.Memory) -> None:
    facts = [
        memory.kind,
        output.age(memory.created_at, m.utc_now()),
        memory.provenance[0].source.replace("_", " "),
        f"stated {output.count(memory.strength, 'time')}",
        *memory.file_paths,
    ]
    label = click.style(f"{role} {memory.id[-output.SHORT_ID :]}", fg="cyan")
    click.echo(f"  {label}  {click.style(output.one_line(', '.join(facts)), fg='bright_black')}")
    for line in output.printable(memory.content).split("\n"):
        click.echo(f"    {line}")


_KEYS = {"a": "accept", "r": "reject", "e": "edit", "s": "skip", "q": "quit"}


def _ask(engine: "Engine", question: "OpenReview") -> str:
    """Ask until an answer can be carried out, and return it."""
    meanings = {"accept": question.kind.accepting, "reject": question.kind.rejecting}
    choices = "  ".join(f"[{key}] {meanings.get(name, name)}" for key, name in _KEYS.items())
    while True:
        click.echo(f"  {choices}")
        answer = _KEYS.get(click.getchar().lower(), "")
        if answer in ("skip", "quit"):
            return answer
        if not answer:
            continue
        try:
            text = _new_text(engine, question) if answer == "edit" else ""
            decision = engine.decide(question.review.id, answer, text)
        except RecollectError as error:
            output.print_error(error, as_json=False)
            continue
        click.echo(f"  {decision.decision.capitalize()}. {_undo_hint(decision)}")
        output.print_notes(decision.notes)
        return answer


def _new_text(engine: "Engine", question: "OpenReview") -> str:
    from recollect.interfaces.cli.memories import from_editor

    memory = question.memories[0]
    text = from_editor(memory, encrypted=engine.store.info().encrypted)
    if text == memory.content:
        raise Refused("The text is unchanged.", "Accept, reject or skip the question.")
    return text
