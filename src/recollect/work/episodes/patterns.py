"""What is seen again and again in what was done: failures and what mended them, renames, ways of working. Pure."""

import hashlib
import re
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from recollect.store.episode_rows import Execution, Pattern, Sighting
from recollect.work.episodes.failures import ALIKE, Failure, as_data, failure_from, failure_of, likeness
from recollect.work.extract.commands import Command, parse, same_deed

CO_EDIT, ERROR_FIX, REFACTOR, WORKFLOW = "co-edit", "error-fix", "refactor", "workflow"
_OPEN = 16  # failures that wait for what mends them; older ones are given up
_NEAR = 8  # runs after which another form of the command is another matter
_STEPS = 5  # of a way of working
_MOST_FILES = 5
_CHECKS = re.compile(r"test|spec|lint|check|credo|tsc|mypy|clippy|vet|audit|curl|echo")
# Of the commands beside an edit, those that are likely to have mattered.
_PREPARES = re.compile(
    r"\b(?:install|add|get|sync|generate|codegen|migrate|format|fix|write|up|start|restart|update|upgrade|ci|tidy|restore|login|clean|prune|build|create|init|reset|fetch|pull|stash|rm|kill|export|chmod|chown|mkdir)\b"
)
_VERIFIES = re.compile(r"test|spec|lint|check|build|compile|tsc|mypy|ruff|clippy|vet|make|commit")


@dataclass(frozen=True, slots=True)
class Fix:
    """What mended a failure like this one."""

    error: str  # as it was seen
    command: str
    files: tuple[str, ...]  # changed
    commands: tuple[str, ...]  # run
    instead: str  # what was run in the place of `command`; "" = the same again
    confidence: float
    count: int
    last_seen: datetime

    @property
    def text(self) -> str:
        done = [f"`{each}`" for each in self.commands]
        if self.files:
            done.append(f"a change in {', '.join(f'`{path}`' for path in self.files)}")
        told = f"`{self.command}` failed with “{self.error}”"
        if done:
            told += f" and passed after {' and '.join(done)}"
        if self.instead:
            told += f"; what worked was `{self.instead}`"
        times = f" ({self.count} times)" if self.count > 1 else ""
        return f"{told}.{times}"


def sightings(executions: Sequence[Execution]) -> Iterator[Sighting]:
    """In the executions of one session, in their order."""
    yield from _mended(executions)
    yield from _renamed(executions)
    yield from _worked(executions)


def fixes_among(patterns: Iterable[Pattern], output: str, command: str, limit: int) -> list[Fix]:
    """What mended failures like this one, the surest first; none where none is alike."""
    failure = failure_of(output, command)
    if failure is None:
        return []
    found = []
    for pattern in patterns:
        alike = likeness(failure, failure_from(pattern.data["failure"]))
        if alike >= ALIKE:
            found.append(_fix_from(pattern, alike))
    return sorted(found, key=lambda fix: (-fix.confidence, -fix.count, fix.text))[:limit]


def _fix_from(pattern: Pattern, alike: float) -> Fix:
    data = pattern.data
    return Fix(
        str(data["error"]),
        str(data["command"]),
        tuple(data["files"]),
        tuple(data["commands"]),
        str(data["instead"]),
        round(alike * (0.9 + 0.1 * pattern.confidence), 3),
        pattern.count,
        pattern.last_seen,
    )


# error → fix


@dataclass(slots=True)
class _Open:
    """A failure that nothing has mended yet."""

    command: Command
    execution: Execution
    failure: Failure
    runs: int = 0  # seen since
    changed: dict[str, None] = field(default_factory=dict)
    did: dict[str, None] = field(default_factory=dict)
    closed: bool = False  # the same command has since failed in another way: what comes now mends that

    @property
    def acted(self) -> bool:
        return bool(self.changed or self.did)


def _mended(executions: Iterable[Execution]) -> Iterator[Sighting]:
    waiting: deque[_Open] = deque(maxlen=_OPEN)
    for each in executions:
        shape = each.result or {}
        if each.success and shape.get("files"):
            for failure in waiting:
                if not failure.closed:
                    failure.changed.update(dict.fromkeys(shape["files"]))
        line = command_line(each.parameters)
        if not line:
            continue
        command = parse(line)
        if command.is_lookup:
            continue
        if each.success:
            yield from _passed(waiting, command, each)
        elif "failure" in shape:
            _failed(waiting, command, each, failure_from(shape["failure"]))


def _failed(waiting: deque[_Open], command: Command, each: Execution, failure: Failure) -> None:
    for known in list(waiting):
        known.runs += 1
        if known.closed or not same_deed(known.command, command):
            continue
        if known.failure.lines[0].words == failure.lines[0].words:  # what was tried did not help
            waiting.remove(known)
        elif known.acted:
            known.closed = True
    waiting.append(_Open(command, each, failure))


def _passed(waiting: deque[_Open], command: Command, each: Execution) -> Iterator[Sighting]:
    for known in list(waiting):
        known.runs += 1
        if not same_deed(known.command, command):
            if not known.closed and _may_mend(command):
                known.did.setdefault(command.shell)
            continue
        waiting.remove(known)
        if known.runs <= _NEAR or known.command.text == command.text:
            sighting = _fixed(known, command, each)
            if sighting is not None:
                yield sighting


def _fixed(known: _Open, passed: Command, each: Execution) -> Sighting | None:
    files = list(known.changed)[:_MOST_FILES]
    commands = [step for step in known.did if not files or _PREPARES.search(step)][-2:]
    other = (
        passed.shell if passed.shell != known.command.shell and not known.closed and not known.acted else ""
    )
    if not (files or commands or other):
        return None
    data = {
        "failure": as_data(known.failure),
        "error": known.execution.error or known.failure.lines[0].words,
        "command": known.command.shell,
        "files": files,
        "commands": commands,
        "instead": other,
    }
    name = _mark(known.failure.name, *files, *commands, other)
    return Sighting(ERROR_FIX, name, data, known.execution.key, each.at)


def _may_mend(command: Command) -> bool:
    """Whether it could have changed what failed; another check could not."""
    return not command.writes and not all(
        _CHECKS.search(head) and not _PREPARES.search(head) for head in command.heads
    )


# renames


def _renamed(executions: Iterable[Execution]) -> Iterator[Sighting]:
    """One identifier replaced by another in several files."""
    last: dict[tuple[str, str], Execution] = {}
    files: dict[tuple[str, str], dict[str, None]] = {}
    for each in executions:
        shape = each.result or {}
        if each.success and "rename" in shape:
            names = (str(shape["rename"][0]), str(shape["rename"][1]))
            files.setdefault(names, {}).update(dict.fromkeys(shape.get("files", ())))
            last[names] = each
    for (old, new), changed in files.items():
        if len(changed) >= 2:
            seen = last[old, new]
            data = {"rename": [old, new], "files": list(changed)}
            yield Sighting(REFACTOR, f"{old} → {new}", data, f"{seen.session} {old} {new}", seen.at)


# ways of working


def _worked(executions: Iterable[Execution]) -> Iterator[Sighting]:
    """The steps that led to a check that passed, or a commit, with a change among them."""
    steps: deque[str] = deque(maxlen=_STEPS)
    for each in executions:
        step, verifies = _step(each)
        if not step or (steps and steps[-1] == step):
            continue
        steps.append(step)
        if verifies and each.success and "edit" in steps and len(steps) >= 3:
            data = {"steps": list(steps)}
            yield Sighting(WORKFLOW, " → ".join(steps), data, each.key, each.at)
        if not each.success:
            steps.append(steps.pop() + " ✗")


def _step(each: Execution) -> tuple[str, bool]:
    line = command_line(each.parameters)
    if line:
        heads = parse(line).heads
        if not heads or parse(line).is_lookup:
            return "look", False
        return heads[-1], bool(_VERIFIES.search(heads[-1]))
    if (each.result or {}).get("files"):
        return "edit", False
    return (
        "look" if re.search(r"(?i)read|view|grep|glob|search|list|find|open|ls", each.tool) else ""
    ), False


def command_line(parameters: Mapping[str, Any]) -> str:
    """ "" where the tool runs no commands, or an editor's command is one of its own verbs."""
    given = parameters.get("command") or parameters.get("cmd")
    if not isinstance(given, str) or parameters.get("path"):
        return ""
    return given


def _mark(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode("utf-8", "replace")).hexdigest()[:24]
