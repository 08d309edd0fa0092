"""Recurring patterns in past work: failures and their fixes, renames, workflows. Pure functions."""

import hashlib
import re
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from recollect.frozen import frozen
from recollect.model import ERROR_FIX, REFACTOR, WORKFLOW, Pattern, PatternSighting, ToolExecution
from recollect.work.episodes.failures import SIMILAR, Failure, as_data, failure_from, failure_of, similarity
from recollect.work.extract.commands import Command, is_same_command, parse

_MAX_OPEN = 16  # failures that wait for a fix; older ones are dropped
_NEAR = 8  # runs after which another form of the command no longer counts as its fix
_STEPS = 5  # of a workflow
_MOST_FILES = 5
_CHECKS = re.compile(r"test|spec|lint|check|credo|tsc|mypy|clippy|vet|audit|curl|echo")
# Commands that are likely to have been part of a fix when a file was edited too.
_PREPARES = re.compile(
    r"\b(?:install|add|get|sync|generate|codegen|migrate|format|fix|write|up|start|restart|update|upgrade|ci|tidy|restore|login|clean|prune|build|create|init|reset|fetch|pull|stash|rm|kill|export|chmod|chown|mkdir)\b"
)
_VERIFIES = re.compile(r"test|spec|lint|check|build|compile|tsc|mypy|ruff|clippy|vet|make|commit")


@frozen
class Fix:
    """What fixed a similar failure before."""

    error: str  # as it was printed then
    command: str
    files: tuple[str, ...]  # that were changed
    commands: tuple[str, ...]  # that were run
    instead: str  # the command that worked in place of `command`; "" = the same command
    confidence: float
    count: int
    last_seen: datetime

    @property
    def text(self) -> str:
        steps = [f"`{command}`" for command in self.commands]
        if self.files:
            steps.append(f"a change in {', '.join(f'`{path}`' for path in self.files)}")
        text = f"`{self.command}` failed with “{self.error}”"
        if steps:
            text += f" and passed after {' and '.join(steps)}"
        if self.instead:
            text += f"; what worked was `{self.instead}`"
        times = f" ({self.count} times)" if self.count > 1 else ""
        return f"{text}.{times}"


def sightings(executions: Sequence[ToolExecution]) -> Iterator[PatternSighting]:
    """Yield the patterns in the executions of one session, which must be in order."""
    yield from _fixes(executions)
    yield from _renames(executions)
    yield from _workflows(executions)


def fixes_among(patterns: Iterable[Pattern], output: str, command: str, limit: int) -> list[Fix]:
    """Return the fixes of similar failures, most confident first."""
    failure = failure_of(output, command)
    if failure is None:
        return []
    fixes = []
    for pattern in patterns:
        score = similarity(failure, failure_from(pattern.data["failure"]))
        if score >= SIMILAR:
            fixes.append(fix_from(pattern, score))
    return sorted(fixes, key=lambda fix: (-fix.confidence, -fix.count, fix.text))[:limit]


def fix_from(pattern: Pattern, score: float = 1.0) -> Fix:
    """Return the fix that a pattern tells of; `score` is how similar its failure is to the one at hand."""
    data = pattern.data
    return Fix(
        str(data["error"]),
        str(data["command"]),
        tuple(data["files"]),
        tuple(data["commands"]),
        str(data["instead"]),
        round(score * (0.9 + 0.1 * pattern.confidence), 3),
        pattern.count,
        pattern.last_seen,
    )


# error → fix


@dataclass(slots=True)
class _OpenFailure:
    """A failure without a fix so far."""

    command: Command
    execution: ToolExecution
    failure: Failure
    runs: int = 0  # of any command since
    changed: dict[str, None] = field(default_factory=dict)  # files edited since
    commands: dict[str, None] = field(default_factory=dict)  # that may have helped
    superseded: bool = False  # the command has failed in another way since: later steps fix that one

    @property
    def attempted(self) -> bool:
        return bool(self.changed or self.commands)


def _fixes(executions: Iterable[ToolExecution]) -> Iterator[PatternSighting]:
    """Follow each failing command until it passes, and report what was done in between."""
    open_failures: deque[_OpenFailure] = deque(maxlen=_MAX_OPEN)
    for execution in executions:
        shape = execution.result or {}
        if execution.success and shape.get("files"):
            for failure in open_failures:
                if not failure.superseded:
                    failure.changed.update(dict.fromkeys(shape["files"]))
        line = command_line(execution.parameters)
        if not line:
            continue
        command = parse(line)
        if command.is_lookup:
            continue
        if execution.success:
            yield from _passed(open_failures, command, execution)
        elif "failure" in shape:
            _failed(open_failures, command, execution, failure_from(shape["failure"]))


def _failed(
    open_failures: deque[_OpenFailure], command: Command, execution: ToolExecution, failure: Failure
) -> None:
    for known in list(open_failures):
        known.runs += 1
        if known.superseded or not is_same_command(known.command, command):
            continue
        if known.failure.lines[0].words == failure.lines[0].words:  # the attempt did not help
            open_failures.remove(known)
        elif known.attempted:
            known.superseded = True
    open_failures.append(_OpenFailure(command, execution, failure))


def _passed(
    open_failures: deque[_OpenFailure], command: Command, execution: ToolExecution
) -> Iterator[PatternSighting]:
    for known in list(open_failures):
        known.runs += 1
        if not is_same_command(known.command, command):
            if not known.superseded and _may_fix(command):
                known.commands.setdefault(command.shell)
            continue
        open_failures.remove(known)
        if known.runs <= _NEAR or known.command.text == command.text:
            sighting = _fix_sighting(known, command, execution)
            if sighting is not None:
                yield sighting


def _fix_sighting(known: _OpenFailure, passed: Command, execution: ToolExecution) -> PatternSighting | None:
    files = list(known.changed)[:_MOST_FILES]
    commands = [step for step in known.commands if not files or _PREPARES.search(step)][-2:]
    untouched = not known.superseded and not known.attempted
    other = passed.shell if passed.shell != known.command.shell and untouched else ""
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
    name = _digest(known.failure.name, *files, *commands, other)
    return PatternSighting(ERROR_FIX, name, data, known.execution.key, execution.at)


def _may_fix(command: Command) -> bool:
    """Return whether a command can have changed what failed; another check cannot."""
    return not command.writes and not all(
        _CHECKS.search(head) and not _PREPARES.search(head) for head in command.heads
    )


# renames


def _renames(executions: Iterable[ToolExecution]) -> Iterator[PatternSighting]:
    """Report an identifier that was replaced by another one in several files."""
    last: dict[tuple[str, str], ToolExecution] = {}
    files: dict[tuple[str, str], dict[str, None]] = {}
    for execution in executions:
        shape = execution.result or {}
        if execution.success and "rename" in shape:
            names = (str(shape["rename"][0]), str(shape["rename"][1]))
            files.setdefault(names, {}).update(dict.fromkeys(shape.get("files", ())))
            last[names] = execution
    for (old, new), changed in files.items():
        if len(changed) >= 2:
            newest = last[old, new]
            data = {"rename": [old, new], "files": list(changed)}
            yield PatternSighting(
                REFACTOR, f"{old} → {new}", data, f"{newest.session} {old} {new}", newest.at
            )


# workflows


def _workflows(executions: Iterable[ToolExecution]) -> Iterator[PatternSighting]:
    """Report the steps, with an edit among them, that led to a passing check or a commit."""
    steps: deque[str] = deque(maxlen=_STEPS)
    for execution in executions:
        step, verifies = _step(execution)
        if not step or (steps and steps[-1] == step):
            continue
        steps.append(step)
        if verifies and execution.success and "edit" in steps and len(steps) >= 3:
            data = {"steps": list(steps)}
            yield PatternSighting(WORKFLOW, " → ".join(steps), data, execution.key, execution.at)
        if not execution.success:
            steps.append(steps.pop() + " ✗")


def _step(execution: ToolExecution) -> tuple[str, bool]:
    line = command_line(execution.parameters)
    if line:
        heads = parse(line).heads
        if not heads or parse(line).is_lookup:
            return "look", False
        return heads[-1], bool(_VERIFIES.search(heads[-1]))
    if (execution.result or {}).get("files"):
        return "edit", False
    is_lookup = re.search(r"(?i)read|view|grep|glob|search|list|find|open|ls", execution.tool)
    return ("look" if is_lookup else ""), False


def command_line(parameters: Mapping[str, Any]) -> str:
    """Return the shell command a tool ran; "" if it ran none. An editor's `command` is a verb of its own."""
    given = parameters.get("command") or parameters.get("cmd")
    if not isinstance(given, str) or parameters.get("path"):
        return ""
    return given


def _digest(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode("utf-8", "replace")).hexdigest()[:24]
