"""The kinds of work that a task involves, and the words that rules about such work use.

Who is asked to "add a column" needs what was written about migrations, whatever the column is for; who is asked for "0.13.4"
needs what was written about releases. Neither words nor meaning show that: the task and the rule are about different things.
The table is `data/activities.txt`; a line belongs there if it holds in nearly any codebase.
"""

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from recollect.memory.ranking import ACTIVITY_FIRST
from recollect.text.stem import stem

if TYPE_CHECKING:
    from recollect.memory.index.vocabulary import QueryWord  # reads NumPy, which a hook does without

LONGEST_TASK = 2000  # characters that are searched for activities
FIRST_WORDS = 5  # of a task, which most often say what is to be done
_GAP = 4  # words that a star stands for, at most

_WORD = re.compile(r"[a-z0-9][a-z0-9+#]*(?:['’][a-z]+)?")
_STAR = "*"

INITIALS = 2  # letters of a word that its stem has too

Phrase = tuple[str, ...]


class Activity(NamedTuple):
    """One kind of work."""

    name: str
    cues: Mapping[str, tuple[str, ...]]  # phrases by their first letters
    patterns: tuple[re.Pattern[str], ...]
    words: tuple[str, ...]  # of memories about it


def activity_words(task: str, known_terms: Callable[[str], Iterable[int]]) -> "list[QueryWord]":
    """Return for each activity in `task` what to look for in memories, weighted by how clearly the task names it."""
    from recollect.memory.index.vocabulary import QueryWord

    found = activities_in(task)
    length = math.sqrt(sum(strength**2 for strength in found.values()))
    words = []
    for activity in _activities():
        if strength := found.get(activity.name):
            terms = dict.fromkeys(term for word in activity.words for term in known_terms(word))
            if terms:
                also = tuple((term, 1.0) for term in terms)
                words.append(QueryWord(activity.name, (), also, strength / math.sqrt(length)))
    return words


def activities_in(task: str) -> dict[str, float]:
    """Return by name how clearly `task` names each activity; those that it does not name are left out."""
    text = task[:LONGEST_TASK]
    stems = _stems(text)
    places: dict[str, list[int]] = {}
    for place, word in enumerate(stems):
        places.setdefault(word, []).append(place)
    initials = {word[:INITIALS] for word in places}
    strengths = {}
    for activity in _activities():
        count, at_start = 0.0, False
        for cue in (cue for begin in initials for cue in activity.cues.get(begin, ())):
            phrase = _phrase(cue)
            if phrase[0] in places and _contains(stems, places[phrase[0]], phrase):
                count += 1.0 if len(phrase) == 1 else 1.5
                at_start |= places[phrase[0]][0] < FIRST_WORDS
        count += 1.5 * sum(pattern.search(text) is not None for pattern in activity.patterns)
        if count:
            strengths[activity.name] = math.log1p(count) + ACTIVITY_FIRST * at_start
    return strengths


def _contains(stems: Sequence[str], starts: Iterable[int], phrase: Phrase) -> bool:
    """Return whether `phrase` begins at one of `starts`."""
    return len(phrase) == 1 or any(_ends(stems, start, phrase[1:]) for start in starts)


def _ends(stems: Sequence[str], place: int, rest: Phrase) -> bool:
    gap = 0
    for word in rest:
        if word == _STAR:
            gap = _GAP
            continue
        following = stems[place + 1 : place + 2 + gap]
        if word not in following:
            return False
        place += 1 + following.index(word)
        gap = 0
    return True


@cache
def _activities() -> tuple[Activity, ...]:
    lines = (Path(__file__).parent / "data" / "activities.txt").read_text(encoding="utf-8").splitlines()
    return tuple(_activity(line) for line in lines if line and not line.startswith("#"))


def _activity(line: str) -> Activity:
    name, cues, words = line.split(" | ")
    patterns = []
    phrases: dict[str, tuple[str, ...]] = {}
    for cue in _split(cues):
        if cue.startswith("/"):
            body, _, flags = cue[1:].rpartition("/")
            patterns.append(re.compile(body, re.IGNORECASE if "i" in flags else 0))
        else:
            begin = _WORD.findall(cue.lower())[0][:INITIALS]
            phrases[begin] = (*phrases.get(begin, ()), cue)
    return Activity(name, phrases, tuple(patterns), tuple(words.split(", ")))


@cache
def _phrase(cue: str) -> Phrase:
    """Return the stems of a cue. There are a thousand, and making all takes longer than a search."""
    return tuple(part for word in cue.split() for part in _parts(word))


def _split(cues: str) -> Iterator[str]:
    """Yield the cues between commas; a pattern may contain commas."""
    for found in re.finditer(r"/.*?/i?(?=, |$)|[^,]+", cues):
        if cue := found[0].strip():
            yield cue


def _parts(word: str) -> Iterable[str]:
    return (_STAR,) if word == _STAR else _stems(word)


def _stems(text: str) -> list[str]:
    return [stem(word) for word in _WORD.findall(text.lower().replace("_", " "))]
