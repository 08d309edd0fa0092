"""Triggers: warnings that are shown whenever a text contains their trigger.

A trigger is plain text that matches whole words, whatever the case and spacing: `print!` does not match `println!`, and `rm -rf`
matches `sudo rm  -RF /`. A trigger that begins or ends with punctuation needs no word boundary there: `.unwrap()` matches
`row.unwrap()`. Between slashes it is a regular expression, matched within a line, in any case.

Patterns come from people and agents, so none may take forever: a regular expression whose cost cannot be bounded in advance is
refused, and an invalid one is skipped with one line in the log.
"""

import logging
import re
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from time import thread_time

import recollect.model as m
from recollect.kinds import KINDS

logger = logging.getLogger(__name__)

WARNING_KINDS = frozenset(kind.name for kind in KINDS.values() if kind.warns)
LONGEST_CONTEXT = 20_000  # characters; of a longer text, its end counts, which is the latest
LONGEST_EXPRESSION = 200
_WINDOW = 160  # characters that an expression is tried on at once; a match of up to half that is always found
_MOST_WAYS = (
    2 * _WINDOW**2
)  # in which an expression may match from one position: two `.*` and a `?`, for example
_TIME_LIMIT = 0.1  # seconds of CPU that all expressions together may take, roughly

_FEWEST_CHARACTERS = 3  # letters and digits of an agent's trigger
_ORDINARY = """\
please fix the code in this file and add a new test, then run it and show me what you did
can you look at the project and explain how it works? make a change, update the docs, commit and push it
if there is an error, read the log and try again; use the function that is there and do not change the rest of it
import os from path; def main(self): return None; const x = 1; class User { get() {} } // TODO: check, build, test
ls -la && cd src && cat README.md | grep -n main && git status && git diff && git commit -m "Update" && npm test
edit write read bash src/app/main.py tests/test_app.py package.json 2026-01-02 12:30:45 user@host:~$ 0 1 2 3 42 100
"""

_Matcher = Callable[["TriggerText"], bool]


class TriggerText:
    """A text prepared to be matched against many triggers."""

    def __init__(self, text: str) -> None:
        text = text[-LONGEST_CONTEXT:]
        self.words = " ".join(text.lower().split())
        self._lines = [line for line in text.splitlines() if line.strip()]
        self._until: float | None = None  # None until the first expression is tried

    def contains(self, expression: re.Pattern[str]) -> bool:
        """Whether the expression matches within a line. Past the time limit, nothing matches any more."""
        if self._until is None:
            self._until = thread_time() + _TIME_LIMIT
        for line in self._lines:
            for start in range(0, max(len(line) - _WINDOW // 2, 1), _WINDOW // 2):
                if expression.search(line, start, start + _WINDOW):
                    return True
                if thread_time() > self._until:
                    logger.warning("Some triggers were skipped: their regular expressions took too long.")
                    return False
        return False


def matching(memories: Iterable[m.Memory], context: str) -> list[tuple[m.Memory, str]]:
    """Return the warnings among `memories` whose trigger `context` contains, in order, with their first such trigger."""
    text = TriggerText(context)
    if not text.words:
        return []
    fired = []
    for memory in memories:
        if memory.kind in WARNING_KINDS:
            first = next((trigger for trigger in _triggers(memory) if _fires(trigger, text)), None)
            if first is not None:
                fired.append((memory, first))
    return fired


def warning_view(view: m.View) -> m.View:
    """Return `view` narrowed to the kinds that are shown by trigger, for `Store.with_triggers`."""
    return replace(view, kinds=WARNING_KINDS if view.kinds is None else view.kinds & WARNING_KINDS)


def problem_with(trigger: str) -> str | None:
    """Return why `trigger` can never match, for its author; None if it can."""
    if not trigger.strip():
        return "it is empty"
    if not _is_expression(trigger):
        return None
    if len(trigger) > LONGEST_EXPRESSION:
        return f"it has {len(trigger)} characters; a regular expression at most {LONGEST_EXPRESSION}"
    try:
        _compiled(trigger)
    except (re.error, OverflowError, RecursionError) as error:
        return f"it is not a valid regular expression: {error}"
    return _danger(trigger[1:-1])


def is_specific(trigger: str) -> bool:
    """Return whether ordinary texts do not contain `trigger`: agents may give no others."""
    if not _is_expression(trigger) and sum(char.isalnum() for char in trigger) < _FEWEST_CHARACTERS:
        return False
    return problem_with(trigger) is None and not _fires(trigger, TriggerText(_ORDINARY))


def _triggers(memory: m.Memory) -> Iterable[str]:
    yield from memory.triggers
    if memory.procedure and memory.procedure.trigger and memory.procedure.trigger not in memory.triggers:
        yield memory.procedure.trigger


def _fires(trigger: str, text: TriggerText) -> bool:
    matcher = _matcher(trigger)
    return matcher is not None and matcher(text)


@lru_cache(maxsize=2048)
def _matcher(trigger: str) -> _Matcher | None:
    """Return a function that matches `trigger`; None, and one line in the log, for an invalid one."""
    problem = problem_with(trigger)
    if problem is not None:
        logger.warning("A trigger is skipped: %s.", problem)
        return None
    if _is_expression(trigger):
        expression = _compiled(trigger)
        return lambda text: text.contains(expression)
    words = " ".join(trigger.lower().split())
    return lambda text: _contains_word(words, text.words)


def _is_expression(trigger: str) -> bool:
    return len(trigger) > 2 and trigger[0] == trigger[-1] == "/"


def _compiled(trigger: str) -> re.Pattern[str]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # about what `[[` may mean in the future
        return re.compile(trigger[1:-1], re.IGNORECASE)


def _contains_word(text: str, words: str) -> bool:
    at = words.find(text)
    while at >= 0:
        end = at + len(text)
        begins = at == 0 or not (_in_word(text[0]) and _in_word(words[at - 1]))
        ends = end == len(words) or not (_in_word(text[-1]) and _in_word(words[end]))
        if begins and ends:
            return True
        at = words.find(text, at + 1)
    return False


def _in_word(character: str) -> bool:
    return character.isalnum() or character == "_"


_ATOM = re.compile(
    r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]", re.DOTALL
)  # an escape or a character class, whose characters have no special meaning
_REPEAT = re.compile(r"(?:(\?)|([*+])|\{(\d*+)(,?)(\d*+)\})[?+]?")
_BACKWARD = re.compile(r"\\[1-9]|\(\?P=|\(\?\(")


def _danger(pattern: str) -> str | None:
    """Return why matching may take too long; None if the ways to match, counted generously, are few."""
    if _BACKWARD.search(pattern):
        return "it refers back to a group"
    ways, at = 1, 0
    groups = [_Group()]  # the open ones, the whole pattern first
    closed = False  # whether the last item is a group that can match in several ways
    while at < len(pattern):
        atom = _ATOM.match(pattern, at)
        repeat = None if atom else _REPEAT.match(pattern, at)
        if atom:
            closed, at = False, atom.end()
        elif repeat and (repeat[1] or repeat[2] or repeat[3] or repeat[5]):
            if closed and not repeat[1]:
                return "it repeats a group that can itself match in several ways"
            ways *= _options(repeat)
            groups[-1].loose |= _options(repeat) > 1
            closed, at = False, repeat.end()
        else:
            closed = False
            if pattern[at] == "(":
                groups.append(_Group())
                at += pattern.startswith("(?", at)  # this question mark is no repeat
            elif pattern[at] == "|":
                groups[-1].branches += 1
            elif pattern[at] == ")" and len(groups) > 1:
                group = groups.pop()
                ways *= group.branches
                closed = group.loose or group.branches > 1
                groups[-1].loose |= closed
            at += 1
    return "it can match in too many ways" if ways > _MOST_WAYS else None


@dataclass
class _Group:
    branches: int = 1
    loose: bool = False  # can match in several ways


def _options(repeat: re.Match[str]) -> int:
    """Return the number of ways in which a repeat can match."""
    if repeat[1]:
        return 2
    if repeat[2]:
        return _WINDOW
    least = int(repeat[3] or 0)
    most = int(repeat[5]) if repeat[5] else _WINDOW if repeat[4] else least
    return min(max(most - least, 0), _WINDOW) + 1
