"""Errors and their fixes: a command failed, something was changed, and it passed."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from recollect.frozen import frozen
from recollect.model import Source
from recollect.text.redact import redact
from recollect.text.sentences import clip, statement
from recollect.work.extract.agent_statements import cause_in, explanation_in
from recollect.work.extract.commands import Command, checks_something_else, is_same_command, parse
from recollect.work.extract.objections import Deed, deed_of, forbids, objects_to_last
from recollect.work.extract.observation import RESOLVED_ERROR, Observation, relative, relative_in
from recollect.work.extract.outcomes import error_line, failed
from recollect.work.transcripts.event import ASSISTANT, USER, Event
from recollect.work.transcripts.tools import EDIT, WRITE, command_of, family_of, paths_of

_MAX_OPEN = 16  # failures waiting for their fix; older ones are dropped
_PENDING = 64  # calls waiting for their answer
_NEAR = 8  # commands after which another form of the command is unrelated
_REFUSED = re.compile(
    r"No replacement was performed|introduced new syntax error|^ERROR:|String to replace not found"
)
_CHECKS = re.compile(r"test|spec|lint|check|credo|tsc|mypy|clippy|vet|audit|curl|echo")
# Of the commands run between an edit and the pass, those that may have fixed it.
_PREPARES = re.compile(
    r"\b(?:install|add|get|sync|generate|codegen|migrate|prepare|setup|init|bootstrap|restore|seed|create|reset|clean|login|link|import|fetch|pull"
    r"|format|fix|write|up|start|restart|update|upgrade)\b"
)
# Looks at something: the version of a tool, its environment, its help.
_LOOKS = re.compile(
    r"(?:^|\s)(?:-v|-V|--?version|version|--help|doctor|(?:go|npm|conda|mix) (?:env|config))(?:\s|$)|^env\b"
)
# True only for a while: a port or a lock that somebody else holds, a network that is down.
_OF_TODAY = re.compile(
    r"already in use|EADDRINUSE|state lock|index\.lock|Could not resolve host|Temporary failure|No space left|rate limit|timed? ?out|already exists",
    re.IGNORECASE,
)
# Somebody wrote a name that is not there (yet).
_SLIP = re.compile(
    r"\bundefined(?: (?:method|function|variable|name|reference))?\b|\bis not defined\b|SyntaxError|\bunexpected token\b|NameError",
    re.IGNORECASE,
)
_NAMED_COMMAND = re.compile(r"""["'`]([a-z][\w.-]*(?: [\w./=-]+){1,4})["'`]""")
# Changes what a command prints or how much it runs, not whether it works.
_COSMETIC = re.compile(r"-[qvsx]+|--(?:quiet|verbose|silent|no-color|color\S*|tb=\S+|maxfail\S*)")
_OPTION = re.compile(r"-{1,2}[A-Za-z]|[A-Z_][A-Z0-9_]*=\S")
_MENDS = re.compile(r"--(?:fix|write|autofix|autocorrect|apply|auto-correct-all)|-A|-w")
_MAX_MADE = 32  # fixes that a user may still object to
_SHOWN = 90  # characters of a command in a finding


@dataclass(slots=True)
class _Failure:
    command: Command
    order: int
    error: str
    runs: int = 0  # seen since
    changed: list[str] = field(default_factory=list)  # files edited since
    commands: list[str] = field(default_factory=list)  # that succeeded since
    cause: str = ""  # in the agent's words
    replaced: bool = False  # the same command has since failed in another way

    @property
    def acted(self) -> bool:
        return bool(self.changed or self.commands)


@frozen
class _Fix:
    """A failure, and the command that passed after it."""

    failure: _Failure
    passed: Command
    last: int
    cwd: str
    passed_since: bool


class ErrorFixes:
    """Remembers failed commands until they pass."""

    def __init__(self) -> None:
        self._calls: dict[str, Event] = {}
        self._open: deque[_Failure] = deque(maxlen=_MAX_OPEN)
        self._made: deque[tuple[Observation, Deed]] = deque(maxlen=_MAX_MADE)
        self._since_user = 0  # fixes made since the user's last message
        self._unexplained: _Fix | None = None  # the last one, until the agent says something

    def read(self, event: Event) -> Iterator[Observation]:
        if event.is_call:
            self._calls[event.call] = event
            if len(self._calls) > _PENDING:
                del self._calls[next(iter(self._calls))]
        elif event.is_answer:
            call = self._calls.pop(event.call, None)
            if call is not None:
                yield from self._answered(call, event)
        elif event.is_message and event.author == USER and not event.injected:
            yield from self._objected(event.text)
        elif event.author == ASSISTANT:
            self._explained(event.text)
            if event.is_message and not event.injected:
                yield from self._explained_after(event.text)

    def _answered(self, call: Event, answer: Event) -> Iterator[Observation]:
        if family_of(call) in (EDIT, WRITE):
            if not answer.failed and not _REFUSED.search(answer.text[:300]):
                self._edited([relative(path, call.cwd or answer.cwd) for path in paths_of(call)])
            return
        line = command_of(call)
        if not line:
            return
        command = parse(line)
        bad = failed(answer, command)
        if bad is False and command.writes:
            self._edited([relative(path, call.cwd or answer.cwd) for path in command.writes])
        if bad is None or command.is_lookup:
            return
        if bad:
            yield from self._failed(command, call, answer)
        else:
            yield from self._passed(command, answer, call.cwd or answer.cwd)

    def _objected(self, message: str) -> Iterator[Observation]:
        """Withdraw the fixes that the user forbids, or the last one if they object to what was done."""
        self._unexplained = None
        new = len(self._made) - self._since_user
        withdrawn = [
            made for at, made in enumerate(self._made) if forbids(message, made[1], just_done=at >= new)
        ]
        if not withdrawn and self._since_user and objects_to_last(message):
            withdrawn = [self._made[-1]]
        self._since_user = 0
        for made in withdrawn:
            self._made.remove(made)
            yield replace(made[0], withdrawn=True)

    def _fixed(
        self, failure: _Failure, passed: Command, last: int, cwd: str, *, passed_since: bool = True
    ) -> Iterator[Observation]:
        observation = _observation(failure, passed, last, cwd, passed_since=passed_since)
        if observation is not None:
            done = deed_of((passed.shell, *failure.commands), tuple(failure.changed), failure.command.shell)
            self._made.append((observation, done))
            self._since_user += 1
            self._unexplained = None if failure.cause else _Fix(failure, passed, last, cwd, passed_since)
            yield observation

    def _explained_after(self, text: str) -> Iterator[Observation]:
        """Tell the last fix again with its reason, if the agent gives one once it has worked."""
        fix, self._unexplained = self._unexplained, None
        if fix is None or not (cause := explanation_in(text)):
            return
        failure = replace(fix.failure, cause=cause)
        explained = _observation(failure, fix.passed, fix.last, fix.cwd, passed_since=fix.passed_since)
        if explained is not None:
            made, done = self._made[-1]
            self._made[-1] = explained, done
            yield replace(made, withdrawn=True)
            yield explained

    def _edited(self, paths: list[str]) -> None:
        for failure in self._open:
            if not failure.replaced:
                failure.changed += [path for path in paths if path not in failure.changed]

    def _explained(self, text: str) -> None:
        for failure in self._open:
            if not failure.replaced and not failure.cause and not failure.acted:
                failure.cause = cause_in(text)

    def _failed(self, command: Command, call: Event, answer: Event) -> Iterator[Observation]:
        cwd = call.cwd or answer.cwd
        error = relative_in(error_line(answer.text), cwd).rstrip(".: ")
        if not error:
            return
        first = call.order
        prepared: list[str] = []
        for failure in list(self._open):
            failure.runs += 1
            if failure.replaced or not is_same_command(failure.command, command):
                continue
            if _is_same_error(failure.error, error):  # not fixed yet: the change did not help by itself
                first = min(first, failure.order)
                prepared += [step for step in failure.commands if _PREPARES.search(step)]
                self._open.remove(failure)
            elif not failure.changed and _extends(failure.command, command):
                # Another form of the command has got further: that is how it has to be run.
                self._open.remove(failure)
                yield from self._fixed(failure, command, answer.order, cwd, passed_since=False)
            elif failure.acted:
                failure.replaced = True
        self._open.append(_Failure(command, first, error, commands=prepared))

    def _passed(self, command: Command, answer: Event, cwd: str) -> Iterator[Observation]:
        for failure in list(self._open):
            failure.runs += 1
            if not is_same_command(failure.command, command):
                if not failure.replaced and _may_fix(command):
                    failure.commands.append(command.shell)
                continue
            self._open.remove(failure)
            near = failure.runs <= _NEAR or failure.command.text == command.text
            if near:
                yield from self._fixed(failure, command, answer.order, cwd)


def _observation(
    failure: _Failure, passed: Command, last: int, cwd: str, *, passed_since: bool = True
) -> Observation | None:
    if (
        _OF_TODAY.search(failure.error)
        or _is_mended_by_tool(failure, passed)
        or (passed_since and checks_something_else(failure.command, passed))
    ):
        return None
    other = "" if failure.replaced else _other_form(failure, passed, cwd)
    files = failure.changed[:3]
    commands = [
        step for step in failure.commands if not redact(step)[1] and (not files or _PREPARES.search(step))
    ]
    if other and len(passed.heads) > len(failure.command.heads):
        commands = []  # what was run before did not help: the last run brings its own
    steps = [_shown(step, cwd) for step in commands[-2:]]
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
        parts.append(f"What worked: {other}." if passed_since else f"Without that error: {other}.")
    explained = bool(failure.cause or steps or other) and not _is_obvious(
        failure.error, (*commands, passed.shell)
    )
    return Observation(
        kind="error_pattern",
        content=" ".join(parts),
        source=Source.OBSERVED,
        first=failure.order,
        last=last,
        importance=0.7 if explained else 0.45,  # that it passed after an edit is seldom useful a month later
        confidence=0.7,
        signals=frozenset({RESOLVED_ERROR}),
        file_paths=tuple(files),
    )


def _is_mended_by_tool(failure: _Failure, passed: Command) -> bool:
    """Return whether a tool has mended what it complained about: `ruff check --fix`."""
    added = set(passed.text.split()) - set(failure.command.text.split())
    return bool(added) and all(map(_MENDS.fullmatch, added))


def _may_fix(command: Command) -> bool:
    """Return whether a command may fix a failure; another check, a look or a commit cannot."""
    if command.is_git or command.writes or _LOOKS.search(command.text):
        return False
    return not all(_CHECKS.search(head) and not _PREPARES.search(head) for head in command.heads)


def _is_obvious(error: str, commands: Sequence[str]) -> bool:
    """Return whether the error itself says what to run, or names a slip in what was just written."""
    named = [found for found in _NAMED_COMMAND.findall(error) if len(found.split()) >= 2]
    slip = bool(_SLIP.search(error)) and not any(map(_PREPARES.search, commands))
    return slip or any(name in command for name in named for command in commands)


def _other_form(failure: _Failure, passed: Command, cwd: str) -> str:
    """Return the command that worked, or how it differs, if the command itself was part of the fix."""
    tried = failure.command
    if tried.shell == passed.shell or redact(passed.shell)[1]:
        return ""
    if difference := _difference(tried.shell, passed.shell):
        return difference
    adds_a_step = len(passed.heads) > len(tried.heads) and not failure.changed
    if failure.acted and tried.heads[-1] in passed.heads and not adds_a_step:
        return ""
    if len(passed.shell) > _SHOWN:
        removed = [
            word
            for word in tried.text.split()
            if _is_named_in(word, failure.error) and word not in passed.text
        ]
        if removed and tried.heads[-1] in passed.heads and not _is_named_in(passed.text, failure.error):
            return "the same without " + ", ".join(f"`{relative_in(word, cwd)}`" for word in removed)
    return _shown(passed.shell, cwd, failure.error)


def _extends(tried: Command, other: Command) -> bool:
    """Return whether the other command is the same with more words: options, variables, the place to run it."""
    return tried.shell != other.shell and set(tried.text.split()) <= set(other.shell.split())


def _difference(tried: str, passed: str) -> str:
    """Return the words that only the command that worked has, if they are all options or variables; else ""."""
    before, after = tried.split(), passed.split()
    added = [word for word in after if word not in before and not _COSMETIC.fullmatch(word)]
    options = [word for word in added if _OPTION.match(word)]
    if not added or added != options or [word for word in after if word in before] != before:
        return ""
    return "the same with " + " ".join(f"`{word}`" for word in added)


def _is_same_error(one: str, other: str) -> bool:
    """Return whether two errors differ only in numbers and addresses."""
    return re.sub(r"[\d'\"`]+|0x\w+", "", one) == re.sub(r"[\d'\"`]+|0x\w+", "", other)


def _shown(command: str, cwd: str, error: str = "") -> str:
    """Return a short form of the command: the program, its options, and what the error names."""
    command = relative_in(command, cwd)
    if len(command) > _SHOWN:
        words = [
            word
            if at < 2 or word.startswith("-") or word == "&&" or "/" not in word or _is_named_in(word, error)
            else "…"
            for at, word in enumerate(command.split())
        ]
        command = re.sub(r"…(?: …)+", "…", " ".join(words))
    return f"`{clip(command, _SHOWN + 60)}`"


def _is_named_in(words: str, error: str) -> bool:
    """Return whether the error names a file among `words`, or its folder."""
    named = {
        piece.rstrip("/").rpartition("/")[2] for piece in re.findall(r"(?<![\w.-])[\w.-]*/[\w./-]+", error)
    }
    return any(name and name in word.split("/") for word in words.split() for name in named)
