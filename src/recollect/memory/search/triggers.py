"""Warnings that come up by themselves: what a trigger says, whenever the context has it.

A trigger is plain text, found in whatever case and spacing where it stands as a word of its own: `print!` is not in
`println!`, and `rm -rf` is in `sudo rm  -RF /`. Where it begins or ends with a sign there is no word to end: `.unwrap()`
is in `row.unwrap()`. Written between slashes it is a regular expression, found within a line, in any case.

Patterns come from people and agents, so none may hang us: a regular expression whose cost cannot be bounded by
looking at it is refused, and a bad one is passed over with one line in the log.
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
LONGEST_CONTEXT = 20_000  # characters; of a longer one its end, which is what is happening now
LONGEST_EXPRESSION = 200
_WINDOW = 160  # characters that an expression is tried on at once; a match of half that is always found
_MOST_WAYS = 2 * _WINDOW**2  # in which an expression may match from one place: two `.*` and a `?`, say
_PATIENCE = 0.1  # seconds of our time that all expressions together may take, by and large

_Finder = Callable[["TriggerText"], bool]


class TriggerText:
    """What is going on, made ready to be searched by many triggers."""

    def __init__(self, text: str) -> None:
        text = text[-LONGEST_CONTEXT:]
        self.words = " ".join(text.lower().split())
        self._lines = [line for line in text.splitlines() if line.strip()]
        self._until: float | None = None  # None until the first expression is tried

    def has(self, expression: re.Pattern[str]) -> bool:
        """Within a line. What is not found by the time patience ends is not there."""
        if self._until is None:
            self._until = thread_time() + _PATIENCE
        for line in self._lines:
            for start in range(0, max(len(line) - _WINDOW // 2, 1), _WINDOW // 2):
                if expression.search(line, start, start + _WINDOW):
                    return True
                if thread_time() > self._until:
                    logger.warning(
                        "Triggers that are regular expressions took too long, and some were left out."
                    )
                    return False
        return False


def matching(memories: Iterable[m.Memory], context: str) -> list[tuple[m.Memory, str]]:
    """Those of `memories` that warn, with the first of their triggers that `context` has. In the order given."""
    where = TriggerText(context)
    if not where.words:
        return []
    found = []
    for memory in memories:
        if memory.kind in WARNING_KINDS:
            fired = next((trigger for trigger in _triggers(memory) if _fires(trigger, where)), None)
            if fired is not None:
                found.append((memory, fired))
    return found


def warners(view: m.View) -> m.View:
    """`view` narrowed to the kinds that surface by trigger: for `Store.with_triggers`."""
    return replace(view, kinds=WARNING_KINDS if view.kinds is None else view.kinds & WARNING_KINDS)


def problem_with(trigger: str) -> str | None:
    """Why `trigger` can never fire, for who writes it; None if it can."""
    if not trigger.strip():
        return "it is empty"
    if not _is_expression(trigger):
        return None
    if len(trigger) > LONGEST_EXPRESSION:
        return f"it has {len(trigger)} characters; a regular expression at most {LONGEST_EXPRESSION}"
    try:
        _compiled(trigger)
    except (re.error, OverflowError, RecursionError) as error:
        return f"it is no regular expression: {error}"
    return _danger(trigger[1:-1])


def _triggers(memory: m.Memory) -> Iterable[str]:
    yield from memory.triggers
    if memory.procedure and memory.procedure.trigger and memory.procedure.trigger not in memory.triggers:
        yield memory.procedure.trigger


def _fires(trigger: str, context: TriggerText) -> bool:
    finder = _finder(trigger)
    return finder is not None and finder(context)


@lru_cache(maxsize=2048)
def _finder(trigger: str) -> _Finder | None:
    """None for a pattern that cannot be used, which is said once."""
    problem = problem_with(trigger)
    if problem is not None:
        logger.warning("A trigger is passed over: %s.", problem)
        return None
    if _is_expression(trigger):
        expression = _compiled(trigger)
        return lambda context: context.has(expression)
    text = " ".join(trigger.lower().split())
    return lambda context: _as_word(text, context.words)


def _is_expression(trigger: str) -> bool:
    return len(trigger) > 2 and trigger[0] == trigger[-1] == "/"


def _compiled(trigger: str) -> re.Pattern[str]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # of what `[[` may mean one day
        return re.compile(trigger[1:-1], re.IGNORECASE)


def _as_word(text: str, words: str) -> bool:
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


_ATOM = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]", re.DOTALL)  # what hides its signs: an escape, a class
_REPEAT = re.compile(r"(?:(\?)|([*+])|\{(\d*)(,?)(\d*)\})[?+]?")
_BACKWARD = re.compile(r"\\[1-9]|\(\?P=|\(\?\(")


def _danger(pattern: str) -> str | None:
    """Why matching may take for ever; None if the ways to match, counted generously, are few."""
    if _BACKWARD.search(pattern):
        return "it refers back to a group"
    ways, at = 1, 0
    groups = [_Group()]  # those that are open, the whole pattern first
    closed = False  # whether what stands before is a group that can match in several ways
    while at < len(pattern):
        atom = _ATOM.match(pattern, at)
        repeat = None if atom else _REPEAT.match(pattern, at)
        if atom:
            closed, at = False, atom.end()
        elif repeat and (repeat[1] or repeat[2] or repeat[3] or repeat[5]):
            if closed and not repeat[1]:
                return "it repeats what can itself match in several ways"
            ways *= _options(repeat)
            groups[-1].loose |= _options(repeat) > 1
            closed, at = False, repeat.end()
        else:
            closed = False
            if pattern[at] == "(":
                groups.append(_Group())
                at += pattern.startswith("(?", at)  # that question mark repeats nothing
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
    """How often a repeat may go round, in how many ways."""
    if repeat[1]:
        return 2
    if repeat[2]:
        return _WINDOW
    least = int(repeat[3] or 0)
    most = int(repeat[5]) if repeat[5] else _WINDOW if repeat[4] else least
    return min(max(most - least, 0), _WINDOW) + 1
