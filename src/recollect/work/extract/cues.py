"""The cues of `data/cues.toml`, by which a user's sentences are recognised."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from recollect.frozen import frozen

_DATA = tomllib.loads(Path(__file__).with_name("data").joinpath("cues.toml").read_text("utf-8"))

_ANYTHING = ".{0,1000}"  # what `.*` means: a cue and its object stand in one sentence, and a longer one takes too long


@frozen
class Cue:
    """A way of saying something, and what kind of memory it makes."""

    kind: str
    pattern: re.Pattern[str]  # its group `rest`, if there is one, is the statement
    standing: bool = False  # meant for the future, not only for the current work
    after_work: bool = False  # counts only after the agent has done something
    about: bool = False  # understood only with the request it is about
    terse: bool = False  # the same if it is short
    follow: bool = False  # the next sentence may belong to it
    early: bool = False  # only in a short message, or as its first sentence
    reasoned: bool = False  # only with a reason
    asks: bool = False  # an order put as a question
    lasting: bool = False  # not if it tells how something is doing now
    states: bool = False  # what follows may be a fact about the project


def _pattern(source: str) -> re.Pattern[str]:
    for name, fragment in _DATA["fragments"].items():
        source = source.replace(f"<<{name}>>", fragment)
    return re.compile(source.replace(".*", _ANYTHING), re.IGNORECASE)


CUES = tuple(
    Cue(row["kind"], _pattern(row["pattern"]), **dict.fromkeys(row.get("flags", ()), True))
    for row in _DATA["cue"]
)
REFUSES = next(cue for cue, row in zip(CUES, _DATA["cue"], strict=True) if row.get("name") == "refuses")
PLAIN_FACT = Cue("correction", re.compile(""), standing=True, after_work=True, follow=True)  # after a refusal
OTHER_TOOL = Cue("correction", re.compile(""), after_work=True, terse=True)  # depends on the last command

PASSING = _pattern(_DATA["patterns"]["passing"])
POLITE = _pattern(_DATA["patterns"]["polite"])
PRAISE = _pattern(_DATA["patterns"]["praise"])
REASON = _pattern(_DATA["patterns"]["reason"])
REFUSAL = _pattern(_DATA["patterns"]["refusal"])
REMINDER = _pattern(_DATA["patterns"]["reminder"])
REMEMBER_LAST = _pattern(_DATA["patterns"]["remember_last"])
REPROACH = _pattern(_DATA["patterns"]["reproach"])
GOES_ON = _pattern(_DATA["patterns"]["goes_on"])
ORDER = _pattern(_DATA["patterns"]["order"])
MOMENTARY = _pattern(_DATA["patterns"]["momentary"])
CHOICE = _pattern(_DATA["patterns"]["choice"])
CHOICE_OF_TOOL = _pattern(_DATA["patterns"]["choice_of_tool"])
COMPLAINT = _pattern(_DATA["patterns"]["complaint"])
REPORT = _pattern(_DATA["patterns"]["report"])
DIFFERS = _pattern(_DATA["patterns"]["differs"])
TO_BE_CHANGED = _pattern(_DATA["patterns"]["to_be_changed"])
DANGLING = _pattern(_DATA["patterns"]["dangling"])
IN_GENERAL = _pattern(_DATA["patterns"]["in_general"])
OF_NOW = _pattern(_DATA["patterns"]["of_now"])
POINTING = _pattern(_DATA["patterns"]["pointing"])
REPORTED = _pattern(_DATA["patterns"]["reported"])
COURTESY = _pattern(_DATA["patterns"]["courtesy"])
OPEN_END = _pattern(_DATA["patterns"]["open_end"])
CONTRAST = _pattern(_DATA["patterns"]["contrast"])
PREDICATE = _pattern(_DATA["patterns"]["predicate"])
PROJECT_FACT = _pattern(_DATA["patterns"]["plain_fact"])
REJECTS = _pattern(_DATA["patterns"]["rejects"])
FILLER = frozenset(_DATA["filler"].split())
