"""Error → fix: a command failed, something was changed, and it passed."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field

from recollect.model import Source
from recollect.text.redact import redact
from recollect.text.sentences import clip, statement
from recollect.work.extract.commands import Command, parse, same_deed
from recollect.work.extract.explained import cause_in
from recollect.work.extract.note import RESOLVED_ERROR, Note
from recollect.work.extract.outcomes import failed, telling_line
from recollect.work.extract.places import within, within_text
from recollect.work.transcripts.event import ASSISTANT, Event
from recollect.work.transcripts.tools import EDIT, WRITE, command_of, family_of, paths_of

_OPEN = 16  # failures waiting for their fix; older ones are given up
_PENDING = 64  # calls waiting for their answer
_NEAR = 8  # runs after which another form of the command is another matter
_REFUSED = re.compile(
    r"No replacement was performed|introduced new syntax error|^ERROR:|String to replace not found"
)
_CHECKS = re.compile(r"test|spec|lint|check|credo|tsc|mypy|clippy|vet|audit|curl|echo")
# Of the commands beside an edit, those that are likely to have mattered.
_PREPARES = re.compile(
    r"\b(?:install|add|get|sync|generate|codegen|migrate|format|fix|write|up|start|restart|update|upgrade)\b"
)
_SHOWN = 90  # characters of a command in a finding


@dataclass(slots=True)
class _Failure:
    command: Command
    order: int
    error: str
    runs: int = 0  # seen since
    changed: list[str] = field(default_factory=list)  # files edited since
    did: list[str] = field(default_factory=list)  # commands that worked since
    cause: str = ""  # what the agent said it was
    mended: bool = False  # the same command has since failed in another way

    @property
    def acted(self) -> bool:
        return bool(self.changed or self.did)


class Fixes:
    """Remembers what failed until it passes."""

    def __init__(self) -> None:
        self._calls: dict[str, Event] = {}
        self._open: deque[_Failure] = deque(maxlen=_OPEN)

    def see(self, event: Event) -> Iterator[Note]:
        if event.is_call:
            self._calls[event.call] = event
            if len(self._calls) > _PENDING:
                del self._calls[next(iter(self._calls))]
        elif event.is_answer:
            call = self._calls.pop(event.call, None)
            if call is not None:
                yield from self._answered(call, event)
        elif event.author == ASSISTANT:
            self._explained(event.text)

    def _answered(self, call: Event, answer: Event) -> Iterator[Note]:
        if family_of(call) in (EDIT, WRITE):
            if not answer.failed and not _REFUSED.search(answer.text[:300]):
                self._edited([within(path, call.cwd or answer.cwd) for path in paths_of(call)])
            return
        line = command_of(call)
        if not line:
            return
        command = parse(line)
        bad = failed(answer, command)
        if bad is False and command.writes:
            self._edited([within(path, call.cwd or answer.cwd) for path in command.writes])
        if bad is None or command.is_lookup:
            return
        if bad:
            self._failed(command, call, answer)
        else:
            yield from self._passed(command, answer, call.cwd or answer.cwd)

    def _edited(self, paths: list[str]) -> None:
        for failure in self._open:
            if not failure.mended:
                failure.changed += [path for path in paths if path not in failure.changed]

    def _explained(self, text: str) -> None:
        for failure in self._open:
            if not failure.mended and not failure.cause and not failure.acted:
                failure.cause = cause_in(text)

    def _failed(self, command: Command, call: Event, answer: Event) -> None:
        error = within_text(telling_line(answer.text), call.cwd or answer.cwd).rstrip(".: ")
        if not error:
            return
        first = call.order
        for failure in list(self._open):
            failure.runs += 1
            if failure.mended or not same_deed(failure.command, command):
                continue
            if _alike(failure.error, error):  # not mended yet: what was tried did not help
                first = min(first, failure.order)
                self._open.remove(failure)
            elif failure.acted:
                failure.mended = True
        self._open.append(_Failure(command, first, error))

    def _passed(self, command: Command, answer: Event, cwd: str) -> Iterator[Note]:
        for failure in list(self._open):
            failure.runs += 1
            if not same_deed(failure.command, command):
                if not failure.mended and _may_mend(command):
                    failure.did.append(command.shell)
                continue
            self._open.remove(failure)
            near = failure.runs <= _NEAR or failure.command.text == command.text
            note = _note(failure, command, answer.order, cwd) if near else None
            if note is not None:
                yield note


def _note(failure: _Failure, passed: Command, last: int, cwd: str) -> Note | None:
    other = "" if failure.mended else _other_form(failure, passed, cwd)
    files = failure.changed[:3]
    did = [step for step in failure.did if not redact(step)[1] and (not files or _PREPARES.search(step))]
    steps = [_shown(step, cwd) for step in did[-2:]]
    if not (other or steps or files):
        return None
    tried = failure.command.shell if other else failure.command.text
    parts = [f"{_shown(tried, cwd, failure.error)} failed: “{failure.error}”."]
    if failure.cause:
        parts.append(statement(failure.cause))
    done = steps + ([f"a change in {', '.join(f'`{path}`' for path in files)}"] if files else [])
    if done:
        parts.append(f"It passed after {' and '.join(done)}.")
    if other:
        parts.append(f"What worked: {other}.")
    explained = bool(failure.cause or steps or other)
    return Note(
        kind="error_pattern",
        content=" ".join(parts),
        source=Source.OBSERVED,
        first=failure.order,
        last=last,
        importance=0.7 if explained else 0.45,  # that it passed after an edit is seldom news next month
        confidence=0.7,
        signals=frozenset({RESOLVED_ERROR}),
        file_paths=tuple(files),
    )


def _may_mend(command: Command) -> bool:
    """Whether it could have changed what failed; another check or a commit could not."""
    return not (command.is_git or command.writes) and not all(_CHECKS.search(head) for head in command.heads)


def _other_form(failure: _Failure, passed: Command, cwd: str) -> str:
    """The command that worked, or how it differs, where the command itself was part of the fix."""
    tried = failure.command
    if tried.shell == passed.shell or redact(passed.shell)[1]:
        return ""
    if failure.acted and tried.heads[-1] in passed.heads:
        return ""
    if len(passed.shell) > _SHOWN:
        gone = [
            word for word in tried.text.split() if _bears_on(word, failure.error) and word not in passed.text
        ]
        if gone and tried.heads[-1] in passed.heads and not _bears_on(passed.text, failure.error):
            return "the same without " + ", ".join(f"`{within_text(word, cwd)}`" for word in gone)
    return _shown(passed.shell, cwd, failure.error)


def _alike(one: str, other: str) -> bool:
    """The same error but for numbers and addresses."""
    return re.sub(r"[\d'\"`]+|0x\w+", "", one) == re.sub(r"[\d'\"`]+|0x\w+", "", other)


def _shown(command: str, cwd: str, error: str = "") -> str:
    """The command, short: of a long one the program, its options, and what the error speaks of."""
    command = within_text(command, cwd)
    if len(command) > _SHOWN:
        words = [
            word
            if at < 2 or word.startswith("-") or word == "&&" or "/" not in word or _bears_on(word, error)
            else "…"
            for at, word in enumerate(command.split())
        ]
        command = re.sub(r"…(?: …)+", "…", " ".join(words))
    return f"`{clip(command, _SHOWN + 60)}`"


def _bears_on(words: str, error: str) -> bool:
    """Whether the error names a file among `words`, or the folder it is in."""
    named = {piece.rstrip("/").rpartition("/")[2] for piece in re.findall(r"[\w.-]*/[\w./-]+", error)}
    return any(name and name in word.split("/") for word in words.split() for name in named)
